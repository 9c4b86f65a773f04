"""Turn functions into commands: groups of options, results, and errors as messages."""

from __future__ import annotations

import inspect
import json
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, cast, get_type_hints

import typer

from ramify import __version__
from ramify.apps.cli.entry import INTERRUPTED
from ramify.apps.cli.wording import as_options

MISTAKE = 2  # exit status for user errors, as for an invalid option
BUG = 70  # exit status for internal errors, as in sysexits.h
PIPE_CLOSED = 141  # exit status if nobody reads the output, as in shells

# Newer versions of typer contain click instead of requiring it, so it cannot be imported.
_UsageError = cast(
    "type[Exception]",
    next(cls for cls in typer.BadParameter.__mro__ if cls.__name__ == "ClickException"),
)

Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show the traceback of errors.")]


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Turn a function into a command that typer understands."""
    groups, parameters = _expand(function)

    @wraps(function)
    def run(*, verbose: bool = False, **values: Any) -> None:
        made = {
            name: group(**{field.name: values.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        with _plain_errors(verbose):
            function(**values, **made)

    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters.append(inspect.Parameter("verbose", keyword, default=False, annotation=Verbose))
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _expand(
    function: Callable[..., None],
) -> tuple[dict[str, type[Any]], list[inspect.Parameter]]:
    """Return the groups of a function by name, and its parameters with the fields of groups."""
    groups: dict[str, type[Any]] = {}
    parameters = []
    for parameter in inspect.signature(function, eval_str=True).parameters.values():
        hint = parameter.annotation
        if not is_dataclass(hint):
            parameters.append(parameter)
            continue
        groups[parameter.name] = cast("type[Any]", hint)
        types = get_type_hints(hint, include_extras=True)
        parameters += [
            inspect.Parameter(
                field.name, parameter.kind, default=field.default, annotation=types[field.name]
            )
            for field in fields(hint)
        ]
    return groups, parameters


@contextmanager
def _plain_errors(verbose: bool) -> Iterator[None]:
    """Print user errors as one message and exit; show the traceback only if verbose.

    Other errors are bugs: they show the traceback, ask for a report and exit with `BUG`.
    """
    try:
        yield
    except (typer.Exit, typer.Abort, _UsageError):
        raise
    except BrokenPipeError:
        # The reader has seen enough, as in `ramify tree MODEL | head`. Nothing may be printed, not
        # even by Python at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(PIPE_CLOSED) from None
    except MemoryError as error:
        _print_error(f"not enough memory. {str(error) or 'Use fewer rows, trees or threads.'}")
        raise typer.Exit(MISTAKE) from None
    except (ValueError, TypeError, OSError, ImportError, KeyError) as error:
        if verbose:
            traceback.print_exc()
        else:
            _print_error(_message_of(error))
        raise typer.Exit(MISTAKE) from None
    except KeyboardInterrupt:
        open_console(stderr=True).print("[bold]interrupted[/bold]")
        raise typer.Exit(INTERRUPTED) from None
    except Exception as error:
        traceback.print_exc()
        _print_error(
            f"internal error ({type(error).__name__}). This is a bug in ramify {__version__}: "
            "please report it with the command and the traceback above."
        )
        raise typer.Exit(BUG) from None


def _message_of(error: Exception) -> str:
    if isinstance(error, KeyError) and error.args:
        return str(error.args[0])
    if isinstance(error, PermissionError) and error.filename is not None:
        return f"{error.filename}: permission denied. Choose another file or folder."
    return str(error)


def _print_error(text: str) -> None:
    from rich.markup import escape

    open_console(stderr=True).print(
        f"[bold red]ramify:[/bold red] {escape(as_options(text))}", highlight=False, soft_wrap=True
    )


# ---- what commands print and write ----------------------------------------------------------


def open_console(*, stderr: bool = False) -> Any:
    """Return a console that prints user text with colons, such as ``a:x:b``, as it is."""
    from rich.console import Console

    return Console(stderr=stderr, emoji=False)


def check_output(path: Path, *inputs: Path | None, option: str = "--out") -> None:
    """Check that a file can be written and is not an input, before any work is done."""
    from tempfile import TemporaryFile

    folder = path.resolve().parent
    for given in inputs:
        if given is not None and given.exists() and path.resolve() == given.resolve():
            raise ValueError(f"{option} must not be an input file, got {path}. Pass another name.")
    if not folder.is_dir():
        raise ValueError(
            f"{option} must be in an existing folder, got {path}. Create the folder {folder} "
            "first."
        )
    if path.is_dir():
        raise ValueError(f"{option} must be a file, got the folder {path}. Pass another name.")
    try:
        with TemporaryFile(dir=folder):
            pass
    except OSError:
        raise ValueError(
            f"{option} must be in a writable folder, got {path}. Choose a folder other than "
            f"{folder}."
        ) from None


def say(text: str, *, soft_wrap: bool = False) -> None:
    """Print a note to the error stream, apart from the results."""
    from rich.markup import escape

    open_console(stderr=True).print(escape(as_options(text)), highlight=False, soft_wrap=soft_wrap)


def say_where(text: str, path: Path) -> None:
    """Print a line that ends in the name of a file."""
    from rich.markup import escape

    open_console().print(
        f"{text} [bold]{escape(str(path))}[/bold]", highlight=False, soft_wrap=True
    )


def print_json(facts: Any) -> None:
    """Print a result as JSON."""
    typer.echo(json.dumps(facts, indent=1, ensure_ascii=False, default=str))
