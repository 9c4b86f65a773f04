"""How well a model predicts: measures, counts for every label, and its answers by errors."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import UndefinedMetricWarning

from ramify._messages import counted
from ramify.decision.best_sets import Answers
from ramify.decision.guarantees import climb
from ramify.decision.paths import find_ends
from ramify.labels.hierarchy import Hierarchy
from ramify.meta.selective import SelectiveClassifier
from ramify.metrics import hierarchical_f1, mean_auprc, pooled_auprc
from ramify.metrics.answers import answer_curve, has_one_path

MEASURES = ("pooled_auprc", "mean_auprc", "hierarchical_f1")
_MOST_ROWS = 2**53  # whole numbers that JSON keeps
TITLES = {
    "pooled_auprc": "pooled AU(PRC)",
    "mean_auprc": "mean AUPRC",
    "hierarchical_f1": "hierarchical F1",
}
COUNTS = ("rows", "predicted", "right")


@dataclass(frozen=True)
class LabelCounts:
    """Numbers of rows for every label, over test rows."""

    rows: NDArray[np.int64]  # rows with the label
    predicted: NDArray[np.int64]  # rows for which it is predicted
    right: NDArray[np.int64]  # rows with the label for which it is predicted

    @classmethod
    def of(cls, truth: Any, predicted: Any) -> LabelCounts:
        """Count the labels of two label matrices."""
        given, chosen = (sparse.csr_array(Y, dtype=np.int64) for Y in (truth, predicted))
        both = given.multiply(chosen)
        return cls(*(np.asarray(Y.sum(axis=0)).ravel() for Y in (given, chosen, both)))

    def __add__(self, other: LabelCounts) -> LabelCounts:
        return LabelCounts(*(getattr(self, n) + getattr(other, n) for n in COUNTS))


@dataclass(frozen=True)
class Performance:
    """The performance of a model on rows that it was not trained on, if `n_folds` is not 0."""

    n_rows: int
    n_folds: int  # 0 without cross-validation
    # By the names in `MEASURES`: the values of the model and of the baseline, which predicts the
    # frequencies of the labels in the training rows. NaN if undefined, none without test rows.
    values: Mapping[str, float]
    baseline: Mapping[str, float]
    label_rows: NDArray[np.int64]  # number of rows with each label
    counts: LabelCounts | None  # None if the label sets of test rows were not kept

    def is_of(self, n_rows: int, label_rows: NDArray[np.int64]) -> bool:
        """Return whether rows have the number and the labels of the rows measured."""
        return n_rows == self.n_rows and bool((label_rows == self.label_rows).all())

    def words(self) -> str:
        """Return the scores of the cross-validation in words."""
        values = (f"{TITLES[name]} {value:.3f}" for name, value in self.values.items())
        return f"{self.n_folds}-fold cross-validation: {', '.join(values)}"

    def to_dict(self) -> dict[str, Any]:
        """Return the content as JSON."""
        return {
            "rows": self.n_rows,
            "folds": self.n_folds,
            "values": {name: _defined(value) for name, value in self.values.items()},
            "baseline": {name: _defined(value) for name, value in self.baseline.items()},
            "label_rows": self.label_rows.tolist(),
            "counts": None
            if self.counts is None
            else {name: getattr(self.counts, name).tolist() for name in COUNTS},
        }

    @classmethod
    def from_dict(cls, values: Any, n_labels: int) -> Performance:
        """Read the result of `to_dict`; raise ValueError if it is anything else."""
        names = ["rows", "folds", "values", "baseline", "label_rows", "counts"]
        _check_names("performance", values, names)
        n_rows = int(_whole("rows", [values["rows"]], 1, _MOST_ROWS)[0])
        n_folds = int(_whole("folds", [values["folds"]], 1, n_rows)[0])
        scores = {name: _shares(name, values[name]) for name in ("values", "baseline")}
        if scores["values"].keys() != scores["baseline"].keys():
            raise ValueError("values and baseline must have the same measures.")
        counts = values["counts"]
        if counts is not None:
            _check_names("counts", counts, list(COUNTS))
            found = LabelCounts(*(_whole(n, counts[n], n_labels, n_rows) for n in COUNTS))
            if (found.right > np.minimum(found.rows, found.predicted)).any():
                raise ValueError("right must not exceed rows and predicted.")
            counts = found
        label_rows = _whole("label_rows", values["label_rows"], n_labels, n_rows)
        return cls(n_rows, n_folds, scores["values"], scores["baseline"], label_rows, counts)


def _check_names(what: str, values: Any, names: list[str]) -> None:
    if not isinstance(values, dict) or sorted(values) != sorted(names):
        raise ValueError(f"{what} must have {', '.join(names)}, got {str(values)[:100]!r}.")


def _whole(name: str, values: Any, size: int, most: int) -> NDArray[np.int64]:
    is_list = isinstance(values, list) and len(values) == size
    if not is_list or not all(type(value) is int and 0 <= value <= most for value in values):
        raise ValueError(f"{name} must be whole numbers from 0 to {most}, one each.")
    return np.array(values, dtype=np.int64)


def _shares(name: str, values: Any) -> dict[str, float]:
    if not isinstance(values, dict) or not set(values) <= set(MEASURES):
        raise ValueError(f"{name} must have values of {', '.join(MEASURES)}.")
    for value in values.values():
        if value is not None and not (type(value) in (int, float) and 0 <= value <= 1):
            raise ValueError(f"{name} must be numbers from 0 to 1 or null.")
    return {k: math.nan if value is None else float(value) for k, value in values.items()}


def _defined(value: float) -> float | None:
    return None if math.isnan(value) else value


def measure(
    truth: Any, scores: NDArray[np.float64], chosen: Any, hierarchy: Hierarchy | None
) -> dict[str, float]:
    """Return the values of `MEASURES` for some rows; NaN where they are undefined."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        return {
            "pooled_auprc": float(pooled_auprc(truth, scores)),
            "mean_auprc": float(mean_auprc(truth, scores)),
            "hierarchical_f1": float(hierarchical_f1(truth, chosen, hierarchy=hierarchy)),
        }


def measure_rows(
    truth: Any,
    scores: NDArray[np.float64],
    chosen: Any,
    hierarchy: Hierarchy,
    shares: Sequence[float] | NDArray[np.float64],
) -> Performance:
    """Measure a model on rows."""
    n_rows = truth.shape[0]
    plain = np.tile(np.asarray(shares, dtype=np.float64), (n_rows, 1))
    like = Answers.like(truth, hierarchy, np.ones(n_rows), is_path=False)
    same = like.decide(plain[:1], hierarchy, is_path=False)  # for all rows
    likely = same[np.zeros(n_rows, dtype=np.intp)]
    counts = LabelCounts.of(truth, chosen)
    return Performance(
        n_rows,
        0,
        measure(truth, scores, chosen, hierarchy),
        measure(truth, plain, likely, hierarchy),
        counts.rows,
        counts,
    )


# ---- the answers for every share of errors --------------------------------------------------


SHARES = (0.001, 0.002, 0.005, *(k / 100 for k in range(1, 51)))
"""The shares of errors of the slider."""
_DIGITS = 4


def describe_certainty(
    model: Any, scores: NDArray[np.float64] | None, truth: Any, shown: NDArray[np.intp]
) -> dict[str, Any] | None:
    """Return how many rows have an answer on each level, for many shares of errors.

    Without a promise, thresholds are chosen on labelled rows. None if there are neither, or if
    rows have several paths.
    """
    hierarchy = model.hierarchy_
    promised = isinstance(model, SelectiveClassifier) and model.errors_ == "wrong"
    if promised and scores is None:
        n_rows = len(model.confidences_)
        reached = model.answer_depths(max_errors=SHARES)
        return _described(f"{counted(n_rows, 'row')} of the calibration", promised, reached)
    has_truth = truth is not None and has_one_path(truth, hierarchy)
    if scores is None or not (promised or has_truth):
        return None
    answers = (
        model._answers_for(scores, SHARES)
        if promised
        else _answers_without_promise(model, scores, truth)
    )
    levels, n_levels = np.append(hierarchy.label_levels, 0), hierarchy.depth + 1
    rows = np.arange(len(scores))
    reached, wrong, of_shown = [], [], []
    for each in answers:
        ends = np.bincount(levels[each], minlength=n_levels)
        reached.append(ends[::-1].cumsum()[::-1][1:] / len(scores))
        of_shown.append(each[shown])
        if has_truth:
            is_true = np.asarray(truth[rows, np.maximum(each, 0)]).ravel() > 0
            wrong.append(((each >= 0) & ~is_true).mean())
    found = _described(counted(len(scores), "row"), promised, reached, wrong or None)
    return found | {"rows": [_changes(row) for row in np.stack(of_shown, axis=1)]}


def _answers_without_promise(
    model: Any, scores: NDArray[np.float64], truth: Any
) -> Iterator[NDArray[np.intp]]:
    hierarchy, ends = model.hierarchy_, getattr(model, "ends_", None)
    ends = find_ends(truth, hierarchy) if ends is None else ends
    table = answer_curve(truth, scores, hierarchy, candidates=ends).at_errors(SHARES)
    chains = climb(scores, ends, hierarchy)
    return (chains.answers(limit) for limit in table.columns["threshold"])


def _described(
    about: str, promised: bool, reached: Any, wrong: list[float] | None = None
) -> dict[str, Any]:
    return {
        "about": about,
        "promised": promised,
        "shares": list(SHARES),
        "reached": np.round(reached, _DIGITS).tolist(),
        "wrong": None if wrong is None else np.round(wrong, _DIGITS).tolist(),
        "start": SHARES.index(0.05),
    }


def _changes(answers: NDArray[np.intp]) -> list[list[int]]:
    """Return the positions at which the answer of a row changes, and the answers."""
    first = np.flatnonzero(np.diff(answers, prepend=-2))
    return [[int(k), int(answers[k])] for k in first]
