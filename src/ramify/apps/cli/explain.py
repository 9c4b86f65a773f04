"""The command ``ramify explain``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ramify._messages import did_you_mean
from ramify.apps.cli.options import DataFile, FileOptions, IdColumns, ModelFile, only_id
from ramify.apps.cli.running import command
from ramify.io.errors import check_exists

if TYPE_CHECKING:
    from ramify.io.tables import Table

_LIKELY = 10  # labels of a row that are printed with their probabilities


@command
def explain(
    model: ModelFile,
    data: DataFile,
    *,
    row: Annotated[
        str,
        typer.Option("--row", "-r", help="The row: its identifier, or its number, from 0."),
    ] = "0",
    files: FileOptions,
    ids: IdColumns = None,
) -> None:
    """Explain the prediction for one row of a table.

    ``ramify explain species.ramify new.csv --row 17``
    """
    id_column = only_id(ids)
    check_exists(model, data)
    from ramify.apps.cli.predicting import (
        features_for,
        label_cells,
        label_sets,
        load_classifier,
        read_for,
        remembered_settings,
    )
    from ramify.apps.cli.prediction_files import row_names
    from ramify.apps.reading.any_file import check_has_ids
    from ramify.inspection import explain as explain_row

    fitted = load_classifier(model)
    settings = replace(files.settings(), id_column=id_column).over(remembered_settings(model))
    options = settings.unlabelled(files.limits())
    table = read_for(fitted, data, options, labelled=False)
    check_has_ids(table, id_column)
    place = _find_row(row, row_names(fitted, data, options, table), table, data)
    X = features_for(fitted, table)
    x = X.iloc[[place]] if hasattr(X, "iloc") else X[[place]]
    # A data frame defines its categories; an array does not.
    categories = None if hasattr(X, "columns") else table.categories
    found = explain_row(fitted, x, categories=categories)
    (labels,) = label_cells(fitted, label_sets(fitted, x, None), "; ")
    typer.echo(f"row {row}: {labels or 'no label'}")
    names, scores = fitted.predict_top(x, min(_LIKELY, fitted.hierarchy_.n_labels), labels="all")
    for name, score in zip(names[0], scores[0], strict=True):
        if score > 0:
            typer.echo(f"  {score:.3f}  {name}")
    typer.echo(f"\n{found.to_text()}", nl=False)


def _find_row(row: str, names: Any, table: Table, data: Path) -> int:
    """Return the position of a row, given by its identifier or its number."""
    n_rows = int(table.X.shape[0])
    known = [] if names is None else [str(name) for name in names]
    if known.count(row) == 1:
        return known.index(row)
    if known.count(row) > 1:
        raise ValueError(
            f"--row must name one row of {data}, got {row!r}, which {known.count(row)} rows have. "
            f"Pass another --id column, or the number of the row, such as {known.index(row)}."
        )
    if row.isdecimal() and int(row) < n_rows:
        return int(row)
    raise ValueError(
        f"--row must be the identifier of a row of {data} or a number below {n_rows}, got "
        f"{row!r}.{did_you_mean(row, known)}"
    )
