"""The command ``ramify look``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ramify.apps.cli.options import (
    AsJson,
    FileOptions,
    IdColumns,
    LabelOptions,
    ListCommand,
    TrainingColumns,
    only_id,
)
from ramify.apps.cli.running import check_output, command, print_json, say_where
from ramify.apps.cli.wording import as_options
from ramify.io.errors import check_exists

if TYPE_CHECKING:
    from ramify.inspection import TableSummary


COMMAND_CLASS = ListCommand
"""The class that parses the arguments of the command."""


@command
def look(
    data: Annotated[
        Path,
        typer.Argument(
            help="Table of any format, or a model, which shows its training data.",
            metavar="TABLE",
        ),
    ],
    *,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="HTML page to write.")] = None,
    hierarchy: Annotated[
        Path | None, typer.Option("--hierarchy", "-H", help="Label hierarchy, as for train.")
    ] = None,
    labels: LabelOptions,
    files: FileOptions,
    columns: TrainingColumns,
    ids: IdColumns = None,
    as_json: AsJson = False,
) -> None:
    """Look at a table as train would read it: columns, labels, and what to check.

    ``ramify look species.csv --target taxon -o species.html``
    """
    if out is not None:
        check_output(out, data)
    check_exists(data, hierarchy)
    settings = replace(columns.settings(labels.settings(files)), id_column=only_id(ids))
    from ramify.apps.predicting import remembered_table
    from ramify.apps.reading.any_file import look_at

    is_model = data.suffix == ".ramify"
    if is_model:
        summary = remembered_table(data)
    else:
        options = settings.options(files.limits())
        summary = look_at(data, hierarchy, options, columns.keep or ())
    if out is not None:
        summary.to_html(out)
    if as_json:
        print_json(summary.to_dict())
        return
    typer.echo(_text(summary), nl=False)
    if out is not None:
        say_where("Wrote the page to", out)


def _text(summary: TableSummary) -> str:
    from ramify.inspection.tables.text import write_summary

    return write_summary(summary, as_options)
