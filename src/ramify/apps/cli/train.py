"""The command ``ramify train``."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ramify.apps.cli.options import (
    AnnotationOptions,
    AsJson,
    DataFile,
    FileOptions,
    LabelOptions,
    ListCommand,
    TrainingColumns,
)
from ramify.apps.cli.running import check_output, command, open_console, print_json, say
from ramify.apps.named_estimators import (
    DEFAULT,
    MODELS,
    check_model,
    make_model,
)
from ramify.io.errors import check_exists

if TYPE_CHECKING:
    from ramify.apps.reading.settings import DataOptions
    from ramify.inspection.tables.summary import TableSummary
    from ramify.io.tables.table import Table


TIME_LIMIT = 300.0  # seconds for --model auto


COMMAND_CLASS = ListCommand
"""The class that parses the arguments of the command."""


@command
def train(
    data: DataFile,
    *,
    hierarchy: Annotated[
        Path | None,
        typer.Option(
            "--hierarchy",
            "-H",
            help="Label hierarchy, if the data do not define it: .obo, edges (.csv: "
            "parent,child), paths or an outline (.txt), .json, or Mulan's .xml.",
        ),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Model file to write.")] = Path(
        "model.ramify"
    ),
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            help=f"One of: {', '.join(MODELS)}; or auto, which compares a tree, extra trees, a "
            "forest, gradient boosting, a vote and, on texts, linear models, and saves the best. "
            "By default, forest, gradient-boosting or linear, whichever is best on some of the "
            "rows, and for texts linear or per-parent.",
        ),
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(
            min=0.0, help=f"Limit in seconds of --model auto (default: {TIME_LIMIT:.0f})."
        ),
    ] = None,
    parameters: Annotated[
        list[str] | None,
        typer.Option("--set", "-s", help="Parameter, e.g. n_estimators=50; repeatable."),
    ] = None,
    labels: LabelOptions,
    files: FileOptions,
    columns: TrainingColumns,
    ends: Annotated[
        str,
        typer.Option(
            help="What is known below the most specific labels of a row: known (it has none of "
            "their children) or unknown_below (nothing; without labels, nothing at all)."
        ),
    ] = "known",
    annotations: AnnotationOptions,
    min_count: Annotated[
        int, typer.Option(min=1, help="Least number of rows of a label of --annotations.")
    ] = 1,
    max_error: Annotated[
        float | None,
        typer.Option(
            min=0.001,
            max=0.999,
            help="Promise that at most this share of answers is wrong: answers are as specific as "
            "it allows. A quarter of the rows is held out to keep it.",
        ),
    ] = None,
    folds: Annotated[
        int, typer.Option(min=0, help="Number of cross-validation folds; 0 for none.")
    ] = 5,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", help="Number of threads; -1 for all cores.")
    ] = -1,
    as_json: AsJson = False,
) -> None:
    """Train, cross-validate and save a model.

    ``ramify train species.csv --target taxon -o species.ramify``
    """
    check_output(out, data, hierarchy)
    model = model or (DEFAULT if parameters else None)
    _check_columns(columns, annotations)
    _check_folds(model or DEFAULT, folds, parameters, time_limit)
    _check_promise(model, max_error)
    _check_ends(ends, model, annotations)
    check_exists(data, hierarchy, annotations.annotations, annotations.ontology)
    if model is not None and model != "auto":
        check_model(model, parameters or ())
    from ramify.apps.cli.describing import print_training, training_facts
    from ramify.apps.cli.training import train as train_model
    from ramify.apps.cli.training import train_best
    from ramify.apps.reading.any_file import check_has_ids, summary_of
    from ramify.meta.selective import SelectiveClassifier
    from ramify.saving.model import save_with_settings

    settings = columns.settings(labels.settings(files))
    settings = replace(
        settings, id_column=annotations.id_column, ends=None if ends == "known" else ends
    )
    table = _read(data, hierarchy, settings.options(files.limits()), annotations, min_count)
    check_has_ids(table, settings.id_column)
    looked = summary_of(data, table, columns.keep or (), hierarchy)
    table, left_out = _select(table, columns, settings.id_column)
    _say_notes(table, looked, divided=folds > 0 and columns.groups is None)
    progress = sys.stderr.isatty() and not as_json
    model = model or _say_default(table, may_compare=max_error is None)
    if model == "auto":
        seconds = TIME_LIMIT if time_limit is None else time_limit
        summary = train_best(
            table, folds=folds, time_limit=seconds, seed=seed, n_jobs=jobs, progress=progress
        )
    else:
        made = make_model(model, table.hierarchy, parameters or (), seed=seed, n_jobs=jobs)
        if max_error is not None:
            made = SelectiveClassifier(made, max_error=max_error, random_state=seed)
        summary = train_model(table, made, folds=folds, seed=seed, progress=progress)
    remembered = settings.with_found(table).to_dict()
    found = {"performance": summary.performance.to_dict(), "table": looked.to_dict()}
    save_with_settings(summary.model, out, remembered, **found)
    if as_json:
        print_json(training_facts(summary, out, left_out))
    else:
        print_training(open_console(), summary, out, left_out)


def _check_columns(columns: TrainingColumns, annotations: AnnotationOptions) -> None:
    """Refuse identifiers as features."""
    if annotations.id_column in (columns.keep or ()):
        raise ValueError(
            f"--keep {annotations.id_column} cannot be combined with --id "
            f"{annotations.id_column}: identifiers are not features. Omit one of them."
        )


def _check_promise(model: str | None, max_error: float | None) -> None:
    """Refuse a promise of a model that is not known yet."""
    if model == "auto" and max_error is not None:
        raise ValueError(
            f"--max-error {max_error:g} cannot be combined with --model auto. Name the model, "
            "e.g. the one that auto chose."
        )


def _check_ends(ends: str, model: str | None, annotations: AnnotationOptions) -> None:
    """Refuse what cannot learn from labels that are not known."""
    if ends == "known":
        return
    from ramify._validation import check_choice
    from ramify.labels.unknown import ENDS

    check_choice("--ends", ends, ENDS)
    others = {
        "--model auto": model == "auto",
        "--annotations": annotations.annotations is not None,
    }
    for other, given in others.items():
        if given:
            raise ValueError(f"--ends {ends} cannot be combined with {other}. Omit one.")


def _read(
    data: Path,
    hierarchy: Path | None,
    reading: DataOptions,
    annotations: AnnotationOptions,
    min_count: int,
) -> Table:
    """Read features and labels, the labels from annotations if there are any."""
    from ramify.apps.cli.annotations import annotate
    from ramify.apps.reading.any_file import read_data

    annotations.check()
    if annotations.annotations is None:
        return read_data(data, hierarchy, reading)
    unlabelled = read_data(data, None, replace(reading, target=()), labelled=False)
    table, lines = annotate(unlabelled, annotations, reading.limits, min_count)
    typer.echo("\n".join(lines), err=True)
    return table


def _select(
    table: Table, columns: TrainingColumns, id_column: str | None
) -> tuple[Table, dict[str, str]]:
    """Return a table without columns that are no features, and why they are left out."""
    from ramify.apps.reading.any_file import split_identifiers

    table, left_out = split_identifiers(table, columns.keep or ())
    left_out |= dict.fromkeys(columns.drop or (), "--drop")
    named = {id_column: "--id", columns.groups: "--groups"}
    return table, left_out | {name: why for name, why in named.items() if name is not None}


def _say_notes(table: Table, looked: TableSummary, *, divided: bool) -> None:
    """Say what was found in a table; `divided`: its rows into folds, whichever repeat others."""
    from ramify.apps.cli.training import repeats_note

    repeats = repeats_note(looked.n_repeated, looked.n_rows) if divided else None
    for note in (*table.notes, *looked.leaks, *filter(None, [repeats])):
        say(f"Note: {note}")


def _say_default(table: Table, *, may_compare: bool) -> str:
    """Return the model that suits a table, and say which it is if it is not the usual one."""
    from ramify.apps.default_model import default_model

    model, reason = default_model(table, may_compare=may_compare)
    if reason:
        say(f"Note: the model is {model}: {reason}. Name another with --model.")
    return model


def _check_folds(
    model: str, folds: int, parameters: list[str] | None, time_limit: float | None
) -> None:
    """Refuse a single fold, and options that have no effect with, or only with, --model auto."""
    if folds == 1:
        raise ValueError("--folds must be 0 or at least 2, got 1. Pass 0 for no cross-validation.")
    if model != "auto" and time_limit is not None:
        raise ValueError(f"--time-limit {time_limit:g} requires --model auto, got {model}.")
    if model == "auto" and parameters:
        raise ValueError(
            f"--set {parameters[0]} cannot be combined with --model auto. Name the model to set "
            "parameters, e.g. --model forest."
        )
    if model == "auto" and folds == 0:
        raise ValueError("--folds must be at least 2 with --model auto, got 0.")
