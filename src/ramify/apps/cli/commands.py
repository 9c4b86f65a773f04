"""The command ``ramify`` and the files of its subcommands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Annotated, Any

from ramify import __version__

__all__ = ["app"]


try:
    import typer
    from typer.core import TyperGroup
except ImportError:  # pragma: no cover - the base installation has no command line
    raise SystemExit("The command line requires: pip install 'ramify[cli]'") from None


# The file of each command, in the order of the help.
_FILES = {
    "look": "look",
    "train": "train",
    "predict": "predict",
    "evaluate": "evaluate",
    "datasets": "examples",
    "study": "study",
    "explain": "models",
    "explore": "models",
    "tree": "models",
    "rules": "models",
    "export": "models",
    "taxonomy": "taxonomy",
    "serve": "models",
    "demo": "examples",
    "clus": "clus",
}


class _Commands(Mapping[str, Any]):
    """Commands by name, in the order of the help: a lookup imports the file of the command."""

    def __getitem__(self, name: str) -> Any:
        module = import_module(f"ramify.apps.cli.{_FILES[name]}")
        if hasattr(module, "app"):  # a group of commands
            group = typer.main.get_command(module.app)
            group.name = name
            return group
        single = typer.Typer(rich_markup_mode="markdown", add_completion=False)
        single.command(cls=getattr(module, "COMMAND_CLASS", None))(getattr(module, name))
        return typer.main.get_command(single)

    def __iter__(self) -> Iterator[str]:
        return iter(_FILES)

    def __len__(self) -> int:
        return len(_FILES)


class _Group(TyperGroup):
    """The command ``ramify``, which imports a subcommand when it is invoked."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings | {"commands": _Commands()})

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names; typer would import every command."""
        return list(_FILES)


app = typer.Typer(
    cls=_Group,
    help="Hierarchical multi-label classification. Start with ramify look TABLE, or, without a "
    "table, with ramify demo.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ramify {__version__}")
        raise typer.Exit


@app.callback()
def _callback(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Hierarchical multi-label classification."""
