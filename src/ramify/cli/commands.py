"""The command ``ramify``: its subcommands are in the files of the same names."""

from __future__ import annotations

from typing import Annotated

try:
    import typer
except ImportError:  # pragma: no cover - the base installation has no command line
    raise SystemExit("The command line requires: pip install 'ramify[cli]'") from None

from ramify import __version__
from ramify.cli.clus import SwitchCommand, clus
from ramify.cli.datasets import datasets
from ramify.cli.demo import demo
from ramify.cli.evaluate import evaluate
from ramify.cli.explore import explore
from ramify.cli.export import export
from ramify.cli.predict import predict
from ramify.cli.rules import rules
from ramify.cli.serve import serve
from ramify.cli.study import study
from ramify.cli.train import train
from ramify.cli.tree import tree

__all__ = ["app", "main"]

app = typer.Typer(
    help="Hierarchical multi-label classification. Start with: ramify demo",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)
for command in (
    train,
    predict,
    evaluate,
    datasets,
    study,
    explore,
    tree,
    rules,
    export,
    serve,
    demo,
):
    app.command()(command)
app.command(cls=SwitchCommand)(clus)


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


def main() -> None:
    """Run the command line."""
    app()


if __name__ == "__main__":
    main()
