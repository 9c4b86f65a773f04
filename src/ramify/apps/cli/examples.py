"""The commands ``ramify datasets`` and ``ramify demo``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ramify.apps.cli.options import AsJson
from ramify.apps.cli.running import command, print_json

COLUMNS = ("name", "domain", "rows", "features", "labels", "hierarchy", "depth")


@command
def datasets(
    name: Annotated[str | None, typer.Argument(help="Data set to describe.")] = None,
    *,
    download: Annotated[
        bool, typer.Option("--download", help="Download the files of NAME and print their paths.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List the public data sets, or describe one.

    ``ramify datasets cellcycle_FUN --download``
    """
    from ramify.datasets.registry import find_entry, list_datasets

    if download and name is None:
        raise ValueError("--download requires the name of a data set. Run ramify datasets.")
    found = [entry._asdict() for entry in list_datasets()]
    if name is not None:
        entry = find_entry(name)
        from ramify.datasets.fetching import describe, locate

        paths = [str(locate(file)) for file in entry.needed] if download else []
        if as_json:
            (facts,) = (one for one in found if one["name"] == name)
            print_json({**facts, "description": describe(entry), "files": paths})
        else:
            typer.echo("\n".join([describe(entry), *paths]))
        return
    if as_json:
        print_json(found)
        return
    from ramify.metrics.reports import aligned

    shown = [[entry[column] for column in COLUMNS] for entry in found]
    typer.echo("\n".join(aligned([list(COLUMNS), *shown])))


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
