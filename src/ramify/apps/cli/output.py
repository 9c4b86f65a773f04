"""Print the results of commands, and check the files that they will write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer

__all__ = [
    "check_output",
    "print_json",
    "say",
    "say_where",
]


def check_output(path: Path, *inputs: Path | None) -> None:
    """Check that a file can be written and is not an input, before any work is done."""
    from tempfile import TemporaryFile

    folder = path.resolve().parent
    for given in inputs:
        if given is not None and given.exists() and path.resolve() == given.resolve():
            raise ValueError(f"--out must not be an input file, got {path}. Pass another name.")
    if not folder.is_dir():
        raise ValueError(
            f"--out must be in an existing folder, got {path}. Create the folder {folder} first."
        )
    if path.is_dir():
        raise ValueError(f"--out must be a file, got the folder {path}. Pass another name.")
    try:
        with TemporaryFile(dir=folder):
            pass
    except OSError:
        raise ValueError(
            f"--out must be in a writable folder, got {path}. Choose a folder other than {folder}."
        ) from None


def say(text: str, *, soft_wrap: bool = False) -> None:
    """Print a note to the error stream, apart from the results."""
    from rich.console import Console
    from rich.markup import escape

    Console(stderr=True).print(escape(text), highlight=False, soft_wrap=soft_wrap)


def say_where(text: str, path: Path) -> None:
    """Print a line that ends in the name of a file."""
    from rich.console import Console
    from rich.markup import escape

    Console().print(f"{text} [bold]{escape(str(path))}[/bold]", highlight=False, soft_wrap=True)


def print_json(facts: Any) -> None:
    """Print a result as JSON."""
    typer.echo(json.dumps(facts, indent=1, ensure_ascii=False, default=str))
