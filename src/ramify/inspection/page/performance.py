"""How well a model predicts: measures beside a baseline, and counts for every label."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import UndefinedMetricWarning

from ramify.decision.best_sets import Answers
from ramify.labels.hierarchy import Hierarchy
from ramify.metrics import hierarchical_f1, mean_auprc, pooled_auprc

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
