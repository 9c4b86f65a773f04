"""Evaluate a saved model on labelled data: measures and curves."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify._validation import Label
from ramify.apps.cli.running import say
from ramify.apps.cli.training import known_labels, labels_of
from ramify.apps.predicting import features_for, label_sets, read_for
from ramify.apps.reading.settings import DataOptions
from ramify.inspection.page.performance import LabelCounts, Performance
from ramify.io.errors import UnknownLabelError
from ramify.io.files import replacing, writing_text
from ramify.io.tables.table import Table
from ramify.labels.encoding import PartialLabels
from ramify.labels.hierarchy import Hierarchy
from ramify.meta.selective import SelectiveClassifier
from ramify.metrics import (
    AnswerCurve,
    Evaluation,
    PrecisionRecallDisplay,
    Report,
    answer_curve,
    answer_report,
    evaluate,
    hierarchical_risk,
    per_label_report,
    plot_answer_curves,
    plot_level_calibration,
)
from ramify.metrics.answers import has_one_path
from ramify.metrics.drift import DriftCounts, compare_counts


@dataclass(frozen=True)
class EvaluationSummary:
    """The result of evaluating a model on a file."""

    data: Table  # the data, with the features of the model
    scores: NDArray[np.float64]  # the predicted probabilities
    predicted: sparse.csr_array[np.int32]  # the predicted label sets
    threshold: float | None  # as in `evaluate_model`
    figures: Evaluation  # the values of all measures
    answers: Report | None = None  # how specific answers are, if rows have one path each
    notes: tuple[str, ...] = ()  # about the promise of the model
    drift: Report | None = None  # labels that differ from the training rows, if these are known


def evaluate_model(
    model: Any, data: Table, *, threshold: float | None = None, decide: str | None = None
) -> EvaluationSummary:
    """Evaluate a model on labelled rows, with the label sets that ``ramify predict`` writes."""
    truth = known_labels(data)
    X = features_for(model, data)
    if hasattr(X, "columns"):
        names = tuple(X.columns)
        nominal = {name: data.categories[name] for name in names if name in data.categories}
        data = replace(data, X=X, feature_names=names, categories=nominal)
    scores = model.predict_proba(X)
    predicted = label_sets(model, X, threshold, decide)
    hierarchy = model.hierarchy_
    figures = evaluate(truth, scores, hierarchy, y_pred=predicted)
    notes: tuple[str, ...] = ()
    if isinstance(model, SelectiveClassifier):
        shift = model.shift_of(model._confidence_of(scores))
        notes = (str(shift),) if shift.is_likely else ()
    answers = None
    if data.unknown is None and has_one_path(truth, hierarchy):
        if isinstance(model, SelectiveClassifier) and model.errors_ == "wrong":
            answers = _promised_answers(model, scores, truth)
        else:
            answers = _answer_curve(model, truth, scores).at_errors(SHARES)
    return EvaluationSummary(data, scores, predicted, threshold, figures, answers, notes)


def _answer_curve(model: Any, truth: Any, scores: NDArray[np.float64]) -> AnswerCurve:
    """Return the curve of answers that end where rows of the training ended."""
    ends = getattr(model, "ends_", None)
    return answer_curve(truth, scores, model.hierarchy_, candidates=ends)


SHARES = (0.01, 0.05, 0.1)
"""Shares of errors for which answers are described."""


def _promised_answers(
    model: SelectiveClassifier, scores: NDArray[np.float64], truth: Any
) -> Report:
    """Return how often the answers of several promises are wrong, and how specific they are."""
    hierarchy, shares = model.hierarchy_, sorted({*SHARES, model.max_error})
    answers = [model._closed(each) for each in model._answers_for(scores, shares)]
    wrong = [hierarchical_risk(truth, each, hierarchy=hierarchy) for each in answers]
    tables = (answer_report(truth, each, hierarchy).columns["reached"] for each in answers)
    columns: dict[str, list[Any]] = {"promise": shares, "wrong": wrong}
    levels = list(zip(*tables, strict=True))[1:]
    return Report(columns | {f"level {k}": list(share) for k, share in enumerate(levels, 1)})


def json_rows(report: Report) -> list[dict[str, Any]]:
    """Return the rows of a report with None for NaN and infinity, which JSON does not have."""
    return [
        {
            name: None if isinstance(value, float) and not np.isfinite(value) else value
            for name, value in row.items()
        }
        for row in report.rows()
    ]


def compare_with_training(
    summary: EvaluationSummary, known: Performance, *, as_predicted: bool
) -> EvaluationSummary:
    """Add the labels that are more or less frequent than in training, or predicted otherwise."""
    hierarchy = summary.data.hierarchy
    if hierarchy is None or summary.data.unknown is not None:  # training counted them as negative
        return summary
    here, there = LabelCounts.of(labels_of(summary.data), summary.predicted), known.counts
    n_rows = np.full((2, hierarchy.n_labels), [[known.n_rows], [len(summary.scores)]])
    before, after = DriftCounts(n_rows[0], known.label_rows), DriftCounts(n_rows[1], here.rows)
    if there is not None and as_predicted:
        before = replace(before, predicted=there.predicted, right=there.right)
        after = replace(after, predicted=here.predicted, right=here.right)
    return replace(summary, drift=compare_counts(before, after, hierarchy.labels, FALSE_NAMES))


FALSE_NAMES = 0.05
"""The expected share of labels that do not differ among those named, at most."""


def count_rows(data: Table) -> tuple[int, NDArray[np.int64]]:
    """Return the number of labelled rows, and of rows with each label."""
    Y = labels_of(data)
    return Y.shape[0], np.bincount(Y.indices, minlength=Y.shape[1])


def keep_known_labels(data: Table, hierarchy: Hierarchy) -> tuple[Table, list[Label]]:
    """Drop labels that are not known to a model; their known ancestors are kept."""
    own = data.hierarchy.labels if data.hierarchy is not None else ()
    known = set(hierarchy.labels)
    columns = [k for k, label in enumerate(own) if label in known]
    places = [hierarchy.index(own[k]) for k in columns]
    part = sparse.coo_array(sparse.csc_array(labels_of(data))[:, columns])
    rows, found = part.coords
    moved = sparse.csr_array(
        (part.data, (rows, np.array(places, dtype=np.intp)[found])),
        shape=(part.shape[0], hierarchy.n_labels),
    )
    unknown = [label for label in own if label not in known]
    y = hierarchy.close(moved)
    ends = "known" if data.unknown is None else "unknown_below"
    open_ = PartialLabels(y, hierarchy, ends=ends).unknown
    return replace(data, y=y, hierarchy=hierarchy, unknown=open_), unknown


def read_known_labels(
    model: Any, path: Path, options: DataOptions, *, ignore_unknown: bool, labelled: bool = True
) -> Table:
    """Read rows whose labels are those of a model."""
    unknown: list[Label] = []
    try:
        # With or without unknown labels: the labels of the model decide what a list of 0 and 1 is.
        table = read_for(model, path, options, model.hierarchy_, labelled=labelled)
    except UnknownLabelError as error:
        if not ignore_unknown:
            raise ValueError(f"{error} To leave them out, pass --ignore-unknown.") from None
        table = read_for(model, path, options, labelled=labelled)
        table, unknown = keep_known_labels(table, model.hierarchy_)
    if ignore_unknown and table.y is not None:
        say(f"Labels that the model does not know, ignored: {len(unknown):,}")
    return table


def write_evaluation(folder: Path, model: Any, summary: EvaluationSummary) -> list[Path]:
    """Write the measures, a table of labels and, if matplotlib is installed, curves."""
    folder.mkdir(parents=True, exist_ok=True)
    measures = folder / "measures.json"
    with writing_text(measures) as file:
        json.dump(json_rows(summary.figures), file, indent=1)
    labels = folder / "labels.csv"
    report = per_label_report(
        known_labels(summary.data), summary.scores, model.hierarchy_, y_pred=summary.predicted
    )
    _write_table(labels, report)
    written = [measures, labels]
    if summary.drift is not None:
        written.append(folder / "drift.csv")
        _write_table(written[-1], summary.drift)
    return [*written, *_draw_curves(folder, model, summary)]


def _write_table(path: Path, report: Report) -> None:
    with writing_text(path) as file:
        writer = csv.writer(file)
        writer.writerow(report.columns)
        writer.writerows(row.values() for row in report.rows())


def _draw_curves(folder: Path, model: Any, summary: EvaluationSummary) -> list[Path]:
    truth, scores, hierarchy = known_labels(summary.data), summary.scores, model.hierarchy_

    def draw(figure: Any) -> None:
        PrecisionRecallDisplay.from_predictions(
            truth, scores, hierarchy=hierarchy, ax=figure.add_subplot()
        )

    def draw_answers(figure: Any) -> None:
        curve = _answer_curve(model, truth, scores)
        left, right = figure.subplots(1, 2)
        plot_answer_curves(curve, kind="levels", ax=left)
        plot_answer_curves(curve, kind="coverage", ax=right)

    def draw_calibration(figure: Any) -> None:
        plot_level_calibration(truth, scores, hierarchy=hierarchy, ax=figure.add_subplot())

    written = write_figure(folder / "precision-recall.png", (6, 5), draw)
    if summary.answers is not None:
        written += write_figure(folder / "answers.png", (10, 4.5), draw_answers)
        written += write_figure(folder / "calibration.png", (6, 5), draw_calibration)
    return written


def write_figure(path: Path, size: tuple[float, float], draw: Callable[[Any], None]) -> list[Path]:
    """Write a figure and return its path; write and return nothing without matplotlib."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        return []
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    draw(figure)
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=150, format="png")
    return [path]
