"""The command ``ramify predict``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ramify.apps.cli.options import (
    AsJson,
    DataFile,
    Decide,
    FileOptions,
    IdColumns,
    MaxError,
    ModelFile,
    PredictionThreshold,
    only_id,
)
from ramify.apps.cli.running import check_output, command, print_json, say, say_where
from ramify.io.errors import check_exists

if TYPE_CHECKING:
    from ramify.apps.cli.prediction_files import Answer, Written
    from ramify.apps.reading.settings import ReadingSettings
    from ramify.io.tables.table import Table
    from ramify.labels.hierarchy import Hierarchy


def _read_share(text: str) -> float:
    """Read the value of --probabilities."""
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise typer.BadParameter(
            f"it must be followed by a number from 0 to 1, got {text!r}. Pass, for example, "
            "--probabilities 0.1, or 0 for all labels."
        )
    return share


@command
def predict(
    model: ModelFile,
    data: DataFile,
    *,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="File to write: .csv, .tsv, .parquet or .arff (default: print)."
        ),
    ] = None,
    threshold: PredictionThreshold = None,
    decide: Decide = None,
    max_error: MaxError = None,
    probabilities: Annotated[
        float | None,
        typer.Option(
            parser=_read_share,
            metavar="NUMBER",
            help="Write probabilities of at least this value instead of label sets, e.g. 0.1; "
            "0 for all.",
        ),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Write the probabilities of this number of labels instead of label sets, the "
            "most probable first.",
        ),
    ] = None,
    among: Annotated[
        str,
        typer.Option(help="Labels to choose --top from: leaves, all, or a level, e.g. 2."),
    ] = "leaves",
    form: Annotated[
        str | None,
        typer.Option("--format", help="cafa: write lines of target, term and score to --out."),
    ] = None,
    ids: IdColumns = None,
    files: FileOptions,
    as_json: AsJson = False,
) -> None:
    """Predict the labels of the rows of a file.

    ``ramify predict species.ramify new.csv -o predicted.csv``
    """
    if out is not None:
        check_output(out, model, data)
    _check_form(form, out, threshold, probabilities, top)
    id_column = only_id(ids)
    check_exists(model, data)
    from ramify.apps.cli.prediction_files import (
        Answer,
        Written,
        row_names,
        stream_predictions,
        write_predictions,
    )
    from ramify.apps.predicting import (
        keep_promise,
        load_classifier,
        read_for,
        remembered_notes,
        remembered_settings,
    )
    from ramify.apps.reading.any_file import check_has_ids

    fitted = keep_promise(load_classifier(model), max_error, threshold)
    careful = threshold is None and hasattr(fitted, "with_max_error")
    settings = replace(files.settings(), id_column=id_column).over(remembered_settings(model))
    options = settings.unlabelled(files.limits())
    answer = Answer(
        threshold,
        probabilities,
        top,
        _read_choice(among),
        settings.label_separator or ";",
        _columns(settings, fitted.hierarchy_),
        decide,
    )
    if out is not None and form is None:
        found = stream_predictions(out, fitted, data, options, answer=answer)
        if found is not None:
            _say_written(out, found, as_json=as_json, careful=careful)
            return
    table = read_for(fitted, data, options, labelled=False)
    check_has_ids(table, id_column)
    if settings.id_column is not None and table.ids is None:
        say(f"Note: {table.name} has no column {settings.id_column!r} of identifiers")
    known = remembered_notes(model)
    _say_notes([note for note in table.notes if note not in known])
    if out is None:
        _print_labels(fitted, table, answer, as_json=as_json)
        return
    if form == "cafa":
        from ramify.apps.cli.annotations import write_targets

        written = Written(table.X.shape[0], write_targets(out, fitted, table, id_column))
    else:
        names = row_names(fitted, data, options, table)
        written = write_predictions(out, fitted, table, answer=answer, names=names)
    _say_written(out, written, as_json=as_json, careful=careful)


def _print_labels(fitted: Any, table: Table, answer: Answer, *, as_json: bool) -> None:
    """Print the labels of every row."""
    from ramify.apps.predicting import UnfamiliarRows, features_for, label_cells, label_sets

    X = features_for(fitted, table)
    unfamiliar = UnfamiliarRows(fitted)
    unfamiliar.count(X)
    _say_notes(unfamiliar.notes())
    sets = label_sets(fitted, X, answer.threshold, answer.decide)
    if as_json:
        print_json([[str(x) for x in row] for row in fitted.hierarchy_.decode(sets)])
    else:
        typer.echo("\n".join(label_cells(fitted, sets, answer.label_separator)))


def _say_notes(notes: Sequence[str]) -> None:
    for note in notes:
        say(f"Note: {note}")


def _say_written(out: Path, written: Written, *, as_json: bool, careful: bool) -> None:
    _say_notes(written.notes)
    if as_json:
        counts = {"rows": written.rows, "lines": written.lines}
        print_json({"file": str(out), **counts, "rows_without_labels": written.empty})
        return
    say_where(f"Wrote {written.lines:,} lines to", out)
    if written.empty and careful:
        say(
            f"{written.empty:,} of {written.rows:,} rows have no label: none keeps the promise of "
            "the model. Pass a larger --max-error to allow more errors."
        )
    elif written.empty:
        say(
            f"{written.empty:,} of {written.rows:,} rows have no label: the model finds none "
            "probable enough. To get an answer for every row, pass --top 1 for its best label or "
            "--threshold with a probability below that of the model, such as 0.2."
        )


def _columns(settings: ReadingSettings, hierarchy: Hierarchy) -> tuple[str, ...]:
    """Return the columns of predicted labels: those of the training data, if it had levels."""
    target = tuple(settings.target or ())
    are_labels = len(target) > 1 and set(target) <= set(map(str, hierarchy.labels))
    is_usual = not target or are_labels or not hierarchy.is_tree or hierarchy.depth < len(target)
    taken = {"row", settings.id_column}
    return ("labels",) if is_usual or taken & set(target) else target


def _read_choice(among: str) -> str | int:
    """Read the value of --among."""
    if among in ("leaves", "all"):
        return among
    if among.isdecimal() and int(among) > 0:
        return int(among)
    raise ValueError(f"--among must be leaves, all or a level counted from 1, got {among!r}.")


def _check_form(
    form: str | None,
    out: Path | None,
    threshold: float | None,
    probabilities: float | None,
    top: int | None,
) -> None:
    """Refuse options that have no effect together."""
    for name, value in (("--probabilities", probabilities), ("--top", top)):
        if out is None and value is not None:
            raise ValueError(f"{name} {value} requires --out. Pass the file to write with --out.")
    if form not in (None, "cafa") or (form and out is None):
        raise ValueError(f"--format must be cafa, with a file in --out, got {form!r}.")
    if form and any(value is not None for value in (threshold, probabilities, top)):
        raise ValueError(
            "--format cafa writes the scores of the best terms. Omit --threshold, --top and "
            "--probabilities."
        )
    if threshold is not None and top is not None:
        raise ValueError(
            f"--threshold {threshold} chooses label sets, which --top replaces. Pass one of them, "
            "or a minimum with --probabilities."
        )
