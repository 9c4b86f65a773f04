"""The command ``ramify demo``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ramify.apps.cli.running import command


@command
def demo(
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="Report to write.")] = Path(
        "results/demo.md"
    ),
) -> None:
    """Train models on the bundled animals data set and show a report."""
    if out.is_dir():
        raise ValueError(f"--out must be a file, got the folder {out}. Pass another name.")
    from ramify.apps.cli.showing import write_demo

    write_demo(out)
