"""The command ``ramify explore``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ramify.apps.cli.options import FileOptions, IgnoreUnknown, LabelOptions, ModelFile
from ramify.apps.cli.output import check_output, say_where
from ramify.apps.cli.running import command
from ramify.io.errors import check_exists


@command
def explore(
    model: ModelFile,
    data: Annotated[Path | None, typer.Argument(help="Data with rows to show.")] = None,
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="HTML page to write.")] = Path(
        "page.html"
    ),
    labels: LabelOptions,
    files: FileOptions,
    ignore_unknown: IgnoreUnknown = False,
    title: Annotated[str | None, typer.Option(help="Title of the page.")] = None,
    trees: Annotated[
        int, typer.Option(min=1, help="Maximum number of trees of a forest to show.")
    ] = 10,
) -> None:
    """Write an HTML page to explore a model: its trees, labels, rows and features.

    ``ramify explore species.ramify test.csv --target taxon -o species.html``
    """
    check_output(out, model, data)
    check_exists(model, data)
    from ramify.apps.cli.evaluating import read_known_labels
    from ramify.apps.cli.predicting import features_for, load_classifier, remembered_settings
    from ramify.inspection import explore as write_page

    fitted = load_classifier(model)
    rows: dict[str, Any] = {}
    if data is not None:
        settings = labels.settings(files).over(remembered_settings(model))
        options = settings.labelled(files.limits())
        table = read_known_labels(
            fitted, data, options, ignore_unknown=ignore_unknown, labelled=False
        )
        X = features_for(fitted, table)
        # A data frame defines its categories; an array does not.
        categories = None if hasattr(X, "columns") else table.categories
        rows = {"X": X, "y": table.y, "categories": categories}
    write_page(fitted, path=out, title=title, max_trees=trees, **rows)
    say_where("Wrote the page to", out)
