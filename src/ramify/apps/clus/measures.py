"""Measures with the operations of CLUS in the order of CLUS.

`ramify.metrics` computes the same curves; here, every sum runs from left to right, and areas
therefore equal those of CLUS in all digits.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify._cached import cached_property
from ramify.apps.clus.values import number
from ramify.metrics import clus_multilabel_measures

# ---- precision-recall and ROC curves --------------------------------------------------------


Vector = NDArray[np.float64]

_SAME = 1e-15  # coordinates that differ by less are equal in CLUS


@dataclass(frozen=True)
class Counts:
    """True and false positives after each group of equal scores, from the highest score down.

    >>> import numpy as np
    >>> counts = count_steps(np.array([True, False, True]), np.array([0.9, 0.5, 0.5]))
    >>> counts.hits.tolist(), counts.false_alarms.tolist()
    ([1, 2], [0, 1])
    >>> recall, precision = counts.precision_recall()
    >>> recall.tolist()
    [0.0, 0.5, 1.0]
    """

    hits: NDArray[np.int64]  # counts after each group; the last group ends with all rows
    false_alarms: NDArray[np.int64]

    @property
    def n_positive(self) -> int:
        """Number of positives."""
        return int(self.hits[-1])

    @property
    def n_negative(self) -> int:
        """Number of negatives."""
        return int(self.false_alarms[-1])

    def precision_recall(self) -> tuple[Vector, Vector]:
        """Return recall and precision, with one point for each additional true positive.

        Interpolated linearly within a group of equal scores; at recall 0 as in the first group.
        """
        hits, false_alarms = self.hits, self.false_alarms
        added = np.diff(hits)
        repeats = np.maximum(added, 1)
        ends = np.cumsum(repeats)
        step = np.repeat(np.arange(len(added)), repeats)
        inside = np.arange(len(step)) - np.repeat(ends - repeats, repeats) + 1
        inside = np.where(added[step] > 0, inside, 0)
        slope = np.diff(false_alarms) / np.maximum(added, 1)
        between_hits = hits[step] + inside
        between_false = false_alarms[step] + slope[step] * inside
        last = ends - 1  # the end of a group is known exactly
        between_hits[last], between_false[last] = hits[1:], false_alarms[1:]
        first = hits[0] / (hits[0] + false_alarms[0])
        recall = between_hits / self.n_positive
        precision = between_hits / (between_hits + between_false)
        x = np.concatenate([[0.0, hits[0] / self.n_positive], recall])
        return simplify(x, np.concatenate([[first, first], precision]))

    def roc(self) -> tuple[Vector, Vector]:
        """Return the rates of false (NaN without negatives) and true positives, from (0, 0)."""
        with np.errstate(invalid="ignore"):
            false_rate = np.append(0, self.false_alarms) / self.n_negative
        return false_rate, np.append(0, self.hits) / self.n_positive

    def auprc(self) -> float:
        """Return the area under the precision-recall curve; 0 without positives."""
        return area(*self.precision_recall()) if self.n_positive else 0.0

    def auroc(self) -> float:
        """Return the area under the ROC curve; 0.5 without positives or negatives."""
        return area(*self.roc()) if self.n_positive and self.n_negative else 0.5


def count_steps(truth: NDArray[np.bool_], scores: Vector) -> Counts:
    """Count true and false positives in decreasing order of the scores."""
    order = np.argsort(scores)[::-1]
    ranked = scores[order]
    ends = np.append(np.flatnonzero(ranked[1:] != ranked[:-1]), len(ranked) - 1)
    hits = np.cumsum(truth[order], dtype=np.int64)[ends]
    return Counts(hits, ends + 1 - hits)


def area(x: Vector, y: Vector) -> float:
    """Return the area below the points by the trapezoidal rule, summed from left to right."""
    return float(np.cumsum(0.5 * (y[:-1] + y[1:]) * np.diff(x))[-1])


def precision_at(recall: Vector, precision: Vector, at: float) -> float:
    """Return the precision at a recall: the mean of the points there, else interpolated."""
    if at > recall[-1]:
        return float(precision[-1])
    right, end = (int(np.searchsorted(recall, at, side=side)) for side in ("left", "right"))
    if end > right:
        return float(np.cumsum(precision[right:end])[-1] / (end - right))
    left = right - 1
    part = (at - recall[left]) / (recall[right] - recall[left])
    return float(part * (precision[right] - precision[left]) + precision[left])


def simplify(x: Vector, y: Vector) -> tuple[Vector, Vector]:
    """Remove points inside horizontal and vertical parts of a curve, as CLUS does.

    A point that continues a horizontal part replaces the end of that part, but keeps its height,
    and likewise for vertical parts. This affects the last digits of areas.
    """
    again = (np.diff(x) == 0) & (np.diff(y) == 0)
    if not (again.any() or _goes_on(x).any() or _goes_on(y).any()):
        return x, y
    kept_x, kept_y = x[:1].tolist(), y[:1].tolist()
    for a, b in zip(x[1:].tolist(), y[1:].tolist(), strict=True):
        if kept_x[-1] == a and kept_y[-1] == b:
            continue
        several = len(kept_x) > 1
        if several and abs(kept_y[-1] - b) < _SAME and abs(kept_y[-2] - b) < _SAME:
            kept_x[-1] = a
        elif several and abs(kept_x[-1] - a) < _SAME and abs(kept_x[-2] - a) < _SAME:
            kept_y[-1] = b
        else:
            kept_x.append(a)
            kept_y.append(b)
    return np.array(kept_x), np.array(kept_y)


def _goes_on(values: Vector) -> NDArray[np.bool_]:
    """Return which points have the coordinate of the two points before them."""
    last = values[2:]
    return (np.abs(values[1:-1] - last) < _SAME) & (np.abs(values[:-2] - last) < _SAME)


# ---- multi-label errors, which CLUS also computes for hierarchical targets ------------------


# The order in which CLUS lists the errors of hierarchical targets.
_HIERARCHICAL = (
    "HammingLoss",
    "AveragePrecision",
    "Coverage",
    "MacroFOne",
    "MacroPrecision",
    "MacroRecall",
    "MicroFOne",
    "MicroPrecision",
    "MicroRecall",
    "MLAccuracy",
    "MLFOneMeasure",
    "MLPrecision",
    "MLRecall",
    "OneError",
    "RankingLoss",
    "SubsetAccuracy",
    "averageAUPRC",
    "averageAUROC",
    "pooledAUPRC",
    "weightedAUPRC",
)


_OF_SCORES = ("averageAUPRC", "averageAUROC", "pooledAUPRC", "weightedAUPRC")
_OF_NO_ROW = {"averageAUPRC": 0.0, "averageAUROC": 0.5, "pooledAUPRC": 0.0}


@dataclass(frozen=True)
class LabelErrors:
    """The multi-label errors of one model."""

    truth: NDArray[np.bool_]  # true labels
    scores: NDArray[np.float64]  # predictions
    # Numbers of rows of the folds of a cross-validation; one number for a single set of rows.
    folds: Sequence[int]
    threshold: float = 0.5  # A label is predicted if its score is at least the threshold
    # For multi-label targets, the scores by which CLUS ranks the labels of a row.
    ranking: NDArray[np.float64] | None = None
    # The predicted labels, if they are not those at the threshold.
    predicted: NDArray[np.bool_] | None = None
    # Which labels of a row are known, if not all; an unknown label counts nowhere.
    known: NDArray[np.bool_] | None = None

    @cached_property
    def values(self) -> dict[str, float]:
        """All errors by name."""
        if not len(self.truth):  # CLUS reports errors of no row with -ssl
            return dict.fromkeys(_HIERARCHICAL, np.nan) | _OF_NO_ROW
        if self.ranking is not None:
            return self._of_labels(self.ranking)
        found = self._measure(self.scores)
        # CLUS divides the correct rows of all folds by the number of rows of the last one.
        last = self.folds[-1]
        found["SubsetAccuracy"] *= len(self.truth) / last if last else np.nan
        return found

    @property
    def _chosen(self) -> NDArray[np.bool_]:
        """The predicted labels."""
        return self.scores >= self.threshold if self.predicted is None else self.predicted

    def _measure(self, scores: NDArray[np.float64]) -> dict[str, float]:
        """Return all errors of some scores; CLUS also reports NaN for undefined ones."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            truth = self.truth.astype(np.int32)
            return clus_multilabel_measures(truth, scores, threshold=self.threshold)

    def _of_labels(self, ranking: NDArray[np.float64]) -> dict[str, float]:
        """All errors of multi-label targets by name, summed in the order of CLUS."""
        known = np.ones_like(self.truth) if self.known is None else self.known
        whole = self._measure(self.scores) if self.known is None else {}
        with np.errstate(divide="ignore", invalid="ignore"):
            areas = _area_figures(self.truth, self.scores, known) if not whole else {}
            return {
                **{name: whole[name] for name in _OF_SCORES if name in whole},
                **_set_figures(self.truth, self._chosen & known, known),
                **_rank_figures(self.truth, self._chosen, ranking, known),
                **areas,
            }

    @cached_property
    def macro(self) -> dict[str, NDArray[np.float64]]:
        """The errors of each label."""
        chosen = self._chosen if self.known is None else self._chosen & self.known
        hits = (self.truth & chosen).sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            precision = hits / chosen.sum(axis=0)
            recall = hits / self.truth.sum(axis=0)
            f1 = 2 * precision * recall / (precision + recall)
        return {"MacroPrecision": precision, "MacroRecall": recall, "MacroFOne": f1}

    def text(self, name: str, digits: int) -> str:
        """Return an error as text; those of each label in brackets, followed by the mean."""
        if name in self.macro:
            values = self.macro[name]
            shown = ", ".join(number(float(value), digits) for value in values)
            return f"[{shown}]: {number(float(np.mean(values)), digits)}"
        return number(self.values[name], digits)

    def hierarchical_lines(self) -> list[str]:
        """Return the lines of a model of a hierarchical target."""
        return [f"      {name + ':':<26}{self.text(name, 6)}" for name in _HIERARCHICAL]


# ---- errors of multi-label targets, some of which may be unknown ----------------------------


Bits = NDArray[np.bool_]


def _set_figures(truth: Bits, chosen: Bits, known: Bits) -> dict[str, float]:
    """Return the errors of label sets over the rows with a known label."""
    rows = known.any(axis=1)
    both, either = (truth & chosen).sum(axis=1)[rows], (truth | chosen).sum(axis=1)[rows]
    n_true, n_chosen = truth.sum(axis=1)[rows], chosen.sum(axis=1)[rows]
    none = (n_true == 0) & (n_chosen == 0)
    hits, wrong = int(both.sum()), (truth != chosen).sum(axis=1)[rows]
    precision, recall = (np.float64(hits) / n.sum() for n in (n_chosen, n_true))
    found = {
        "HammingLoss": wrong.sum() / truth.shape[1] / rows.sum(),
        "MLAccuracy": _mean(np.where(either > 0, both / either, 1.0)),
        "MLPrecision": _mean(np.where(n_chosen > 0, both / n_chosen, none)),
        "MLRecall": _mean(np.where(n_true > 0, both / n_true, none)),
        "MLFOneMeasure": _mean(np.where(none, 1.0, 2.0 * both / (n_true + n_chosen))),
        "SubsetAccuracy": _mean(wrong == 0),
        "MicroPrecision": precision,
        "MicroRecall": recall,
        "MicroFOne": 2 * precision * recall / (precision + recall),
    }
    return {name: float(value) for name, value in found.items()}


def _rank_figures(truth: Bits, chosen: Bits, ranks: Vector, known: Bits) -> dict[str, float]:
    """Return the errors of the ranked known labels of each row."""
    order = np.argsort(np.where(known, -ranks, np.inf), axis=1, kind="stable")
    held = np.take_along_axis(truth & known, order, axis=1)
    hits = np.cumsum(held, axis=1)
    place = np.arange(1, truth.shape[1] + 1)
    n_true, n_known = held.sum(axis=1), known.sum(axis=1)
    pairs = n_true * (n_known - n_true)
    misordered = (held * (place - hits)).sum(axis=1)
    precision = np.cumsum(held * hits / place, axis=1)[:, -1] / n_true
    worst = np.where(truth & known, ranks, np.inf).min(axis=1)[:, None]
    covered = ((ranks >= worst) & known).sum(axis=1)[n_true > 0]
    first = order[:, :1]
    wrong = np.take_along_axis(truth != chosen, first, axis=1)[n_known > 0]
    return {
        "OneError": _mean(wrong),
        "Coverage": _mean(covered),
        "RankingLoss": _mean(np.where(pairs > 0, misordered / np.maximum(pairs, 1), 0.0)),
        "AveragePrecision": _mean(precision[n_known > 0]),
    }


def _area_figures(truth: Bits, scores: Vector, known: Bits) -> dict[str, float]:
    """Return the areas under the curves of the labels, each over the rows that know it."""
    curves = [
        count_steps(one[rows], own[rows]) if rows.any() else Counts(*np.zeros((2, 1), np.int64))
        for one, own, rows in zip(truth.T, scores.T, known.T, strict=True)
    ]
    auprc = np.array([curve.auprc() for curve in curves])
    share = np.array([c.n_positive / np.float64(c.n_positive + c.n_negative) for c in curves])
    return {
        "averageAUPRC": _mean(auprc),
        "averageAUROC": _mean(np.array([curve.auroc() for curve in curves])),
        "weightedAUPRC": float(np.cumsum(auprc * share)[-1] / np.cumsum(share)[-1]),
        "pooledAUPRC": count_steps(truth[known], scores[known]).auprc() if known.any() else 0.0,
    }


def _mean(values: NDArray[Any]) -> float:
    """Return the mean, summed from the first to the last; NaN of nothing."""
    return float(np.cumsum(values, dtype=np.float64)[-1] / len(values)) if len(values) else np.nan
