"""The command ``ramify evaluate``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ramify.apps.cli.options import (
    AnnotationOptions,
    AsJson,
    CafaOptions,
    DataFile,
    Decide,
    FileOptions,
    IgnoreUnknown,
    LabelOptions,
    MaxError,
    ModelFile,
    PredictionThreshold,
)
from ramify.apps.cli.running import command, open_console, print_json, say, say_where
from ramify.io.errors import check_exists

if TYPE_CHECKING:
    from ramify.apps.reading.settings import DataOptions
    from ramify.inspection.page.performance import Performance


@command
def evaluate(
    model: ModelFile,
    data: DataFile,
    *,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder for measures and curves.")
    ] = None,
    labels: LabelOptions,
    files: FileOptions,
    threshold: PredictionThreshold = None,
    max_error: MaxError = None,
    decide: Decide = None,
    ignore_unknown: IgnoreUnknown = False,
    annotations: AnnotationOptions,
    cafa: CafaOptions,
    as_json: AsJson = False,
) -> None:
    """Evaluate a model on labelled rows.

    ``ramify evaluate species.ramify test.csv --target taxon -o results``
    """
    if out is not None and out.is_file():
        raise ValueError(f"--out must be a folder, got the file {out}. Pass another name.")
    check_exists(model, data, annotations.annotations, annotations.ontology)
    check_exists(cafa.information, cafa.known, cafa.terms)
    from zipfile import is_zipfile

    from ramify.apps.cli.describing import evaluation_facts, print_evaluation
    from ramify.apps.cli.evaluating import (
        compare_with_training,
        count_rows,
        evaluate_model,
        read_known_labels,
        write_evaluation,
    )
    from ramify.apps.predicting import (
        keep_promise,
        load_classifier,
        remembered_performance,
        remembered_settings,
    )
    from ramify.apps.reading.any_file import check_has_ids
    from ramify.meta.selective import SelectiveClassifier

    has_model = is_zipfile(model)
    _check_files(model, data, annotations, has_model=has_model)
    if cafa.cafa or annotations.annotations or annotations.ontology:
        if not cafa.cafa:
            say("Note: annotations are evaluated with the measures of CAFA, as with --cafa")
        given = replace(files.settings(), id_column=annotations.id_column)
        if has_model:
            given = given.over(remembered_settings(model))
        reading = given.unlabelled(files.limits())
        _evaluate_cafa(model, data, annotations, cafa, reading, out=out, as_json=as_json)
        return
    fitted = keep_promise(load_classifier(model), max_error, threshold)
    given = replace(labels.settings(files), id_column=annotations.id_column)
    settings = given.over(remembered_settings(model))
    options = settings.labelled(files.limits())
    table = read_known_labels(fitted, data, options, ignore_unknown=ignore_unknown)
    check_has_ids(table, annotations.id_column)
    for note in table.notes:
        say(f"Note: {note}")
    known = remembered_performance(model, fitted.hierarchy_)
    of_training = known is not None and known.is_of(*count_rows(table))
    if known is not None and of_training:
        _say_of_training(known)
    summary = evaluate_model(fitted, table, threshold=threshold, decide=decide)
    if known is not None and not of_training:
        chosen = threshold, decide, max_error
        # A promise has other answers with the fewer rows of a fold.
        same = chosen == (None, None, None) and not isinstance(fitted, SelectiveClassifier)
        summary = compare_with_training(summary, known, as_predicted=same)
    written = [] if out is None else write_evaluation(out, fitted, summary)
    if as_json:
        print_json(evaluation_facts(summary, written, of_training=of_training))
    else:
        print_evaluation(open_console(), summary, written)


def _say_of_training(known: Performance) -> None:
    """Say that the figures are those of the training rows, and what others have."""
    tested = f" In {known.words()}." if known.n_folds else ""
    say(
        "Note: these are the rows that the model was trained on, so that the figures are too good "
        f"for others.{tested}"
    )


def _check_files(
    model: Path, data: Path, annotations: AnnotationOptions, *, has_model: bool
) -> None:
    """Refuse files in the wrong place, which would be read as something else."""
    if not has_model and annotations.ontology is None and _lists_scores(_first_line(model)):
        raise ValueError(
            f"{model} lists predicted terms, not a model. To compare it with the annotations "
            f"{data}, pass the terms with --ontology, an OBO file."
        )
    declares = _first_line(data).startswith(("!gaf-version", "!gpa-version", "!gpad-version"))
    if has_model and annotations.annotations is None and declares:
        raise ValueError(
            f"{data} is a file of annotations. Pass it with --annotations, its terms with "
            "--ontology, and a table with the features of the rows as DATA."
        )


def _lists_scores(line: str) -> bool:
    """Return whether a line has a target, a term and a score."""
    cells = line.split()
    try:
        return len(cells) == 3 and 0 <= float(cells[2]) <= 1
    except ValueError:
        return False


def _first_line(path: Path) -> str:
    """Return the first line of a text file; empty if it is not one."""
    from ramify.io.errors import FormatError
    from ramify.io.files import numbered_lines

    try:
        return next((line for _, line in numbered_lines(path)), "")
    except FormatError:
        return ""


def _evaluate_cafa(
    model: Path,
    data: Path,
    annotations: AnnotationOptions,
    options: CafaOptions,
    reading: DataOptions,
    *,
    out: Path | None,
    as_json: bool,
) -> None:
    from ramify.apps.cli.annotations import (
        evaluate_cafa,
        figure_lines,
        figures,
        write_cafa_evaluation,
    )

    curves, lines = evaluate_cafa(model, data, annotations, options, reading)
    written = [] if out is None else write_cafa_evaluation(out, curves)
    if as_json:
        print_json({"figures": figures(curves), "files": [str(file) for file in written]})
        return
    typer.echo("\n".join([*lines, "", *figure_lines(curves)]))
    for file in written:
        say_where("Wrote", file)
