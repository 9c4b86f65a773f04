"""Compute precision-recall and ROC curves: pooled, per label or per level."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ramify import _core
from ramify._validation import Label
from ramify.labels.hierarchy import Hierarchy
from ramify.metrics.inputs import LabelChoice, Ranking, choose_labels, read_ranking
from ramify.metrics.ranking import curve_steps

Vector: TypeAlias = NDArray[np.float64]
By: TypeAlias = Literal["pooled", "label", "level"]
Curve = TypeVar("Curve")

_MOST_INSERTED = 1000  # points inserted within one step of tied scores


@dataclass(frozen=True)
class PrecisionRecallCurve:
    """A precision-recall curve with correct interpolation between its points.

    Attributes
    ----------
    name : str
        What the curve was computed from: "pooled", a label, or a level such as "level 2".
    recall, precision : ndarray
        The points, by increasing recall; linear interpolation between them is accurate.
    thresholds : ndarray
        The score at each point; NaN at interpolated points.
    area : float
        Area under the curve (Davis and Goadrich).
    prevalence : float
        Fraction of positive cells: the precision of a random ranking.
    """

    name: str
    recall: Vector
    precision: Vector
    thresholds: Vector
    area: float
    prevalence: float

    def precision_at(self, recall: float) -> float:
        """Return the precision at a recall, the highest where the curve drops vertically.

        Parameters
        ----------
        recall : float
            Between 0 and 1.

        Returns
        -------
        float
            Interpolated linearly between the points of the curve.
        """
        if not 0 <= recall <= 1:
            raise ValueError(f"recall must be a number from 0 to 1, got {recall!r}.")
        right = int(np.searchsorted(self.recall, recall, side="left"))
        if right == 0 or self.recall[right] == recall:
            return float(self.precision[right])
        begin, end = self.recall[right - 1], self.recall[right]
        share = (recall - begin) / (end - begin)
        return float((1 - share) * self.precision[right - 1] + share * self.precision[right])


@dataclass(frozen=True)
class RocCurve:
    """A ROC curve.

    Attributes
    ----------
    name : str
        What the curve was computed from: "pooled", a label, or a level such as "level 2".
    false_positive_rate, true_positive_rate : ndarray
        The points, from (0, 0) to (1, 1).
    thresholds : ndarray
        The score at each point; NaN where only negatives lie between two scores of positives.
    area : float
        Area under the curve.
    """

    name: str
    false_positive_rate: Vector
    true_positive_rate: Vector
    thresholds: Vector
    area: float


def precision_recall_curves(
    y_true: Any,
    y_score: Any,
    *,
    hierarchy: Hierarchy | None = None,
    labels: LabelChoice = "all",
    by: By = "pooled",
    sample_weight: ArrayLike | None = None,
) -> list[PrecisionRecallCurve]:
    """Compute precision-recall curves: one for all labels, or one per label or level.

    Parameters
    ----------
    y_true : label matrix or labels in any format
        True labels, one label set per row.
    y_score : array-like or sparse matrix of shape (n, n_labels)
        Scores, as returned by `predict_proba` or `predict_proba_sparse`; scores that a sparse
        matrix does not store are 0.
    hierarchy : Hierarchy, optional
        Names the columns; required for levels.
    labels : {"all", "leaves"}, int or sequence of labels
        The labels to evaluate; an int is a level, counted from 1 at the top.
    by : {"pooled", "label", "level"}
        "pooled": one curve for all chosen labels as one ranking; "label": one curve per label;
        "level": one curve per level.
    sample_weight : array-like of shape (n,), optional
        Sample weights. A row with weight 2 counts as two rows.

    Returns
    -------
    list of PrecisionRecallCurve
        The curves, in the order of the labels or levels. Labels without positive rows have no
        curve and are left out of pooled curves.

    Examples
    --------
    >>> from ramify.metrics import precision_recall_curves
    >>> (curve,) = precision_recall_curves([[1, 1], [1, 0]], [[0.9, 0.4], [0.8, 0.5]])
    >>> curve.recall.round(3), curve.precision.round(3)
    (array([0.   , 0.333, 0.667, 0.667, 1.   ]), array([1.   , 1.   , 1.   , 0.667, 0.75 ]))
    """
    ranking = read_ranking(y_true, y_score, hierarchy, labels, sample_weight)
    return _curves(ranking, hierarchy, by, _precision_recall_curve)


def roc_curves(
    y_true: Any,
    y_score: Any,
    *,
    hierarchy: Hierarchy | None = None,
    labels: LabelChoice = "all",
    by: By = "pooled",
    sample_weight: ArrayLike | None = None,
) -> list[RocCurve]:
    """Compute ROC curves: one for all labels, or one per label or level.

    Parameters
    ----------
    y_true, y_score, hierarchy, labels, by, sample_weight
        As in `precision_recall_curves`.

    Returns
    -------
    list of RocCurve
        The curves, in the order of the labels or levels. Labels without positive rows have no
        curve and are left out of pooled curves.

    Examples
    --------
    >>> from ramify.metrics import roc_curves
    >>> (curve,) = roc_curves([[1], [0], [1]], [[0.9], [0.5], [0.4]])
    >>> curve.false_positive_rate, curve.true_positive_rate
    (array([0., 0., 1., 1.]), array([0. , 0.5, 0.5, 1. ]))
    """
    ranking = read_ranking(y_true, y_score, hierarchy, labels, sample_weight)
    return _curves(ranking, hierarchy, by, _roc_curve)


def precision_at_recall(
    y_true: Any,
    y_score: Any,
    recall: float,
    *,
    hierarchy: Hierarchy | None = None,
    labels: LabelChoice = "all",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Mean over the labels of the precision at a given recall.

    Parameters
    ----------
    y_true, y_score, hierarchy, labels, sample_weight
        As in `precision_recall_curves`. Labels without positive rows are left out.
    recall : float
        Between 0 and 1.

    Returns
    -------
    float
        NaN if no chosen label has a positive row.

    Examples
    --------
    >>> from ramify.metrics import precision_at_recall
    >>> precision_at_recall([[1], [0], [1]], [[0.9], [0.5], [0.4]], recall=1.0)
    0.6666666666666666
    """
    curves = precision_recall_curves(
        y_true,
        y_score,
        hierarchy=hierarchy,
        labels=labels,
        by="label",
        sample_weight=sample_weight,
    )
    return float(np.mean([c.precision_at(recall) for c in curves])) if curves else np.nan


def _curves(
    ranking: Ranking,
    hierarchy: Hierarchy | None,
    by: By,
    build: Callable[[str, Ranking], Curve],
) -> list[Curve]:
    present = ranking.only(ranking.positives() > 0)
    return [build(str(name), part) for name, part in _parts(present, hierarchy, by)]


def _parts(
    ranking: Ranking, hierarchy: Hierarchy | None, by: By
) -> Iterator[tuple[Label, Ranking]]:
    """Yield the name and the ranking of each curve."""
    if by == "pooled":
        if len(ranking.labels):
            yield "pooled", ranking
    elif by == "label":
        for column in ranking.labels.tolist():
            name = column if hierarchy is None else hierarchy.labels[column]
            yield name, ranking.only(ranking.labels == column)
    elif by == "level":
        for level in range(1, (1 if hierarchy is None else hierarchy.depth) + 1):
            columns = choose_labels(level, hierarchy, ranking.truth.shape[1])
            part = ranking.only(np.isin(ranking.labels, columns))
            if len(part.labels):
                yield f"level {level}", part
    else:
        raise ValueError(f"by must be 'pooled', 'label' or 'level', got {by!r}.")


def _precision_recall_curve(name: str, ranking: Ranking) -> PrecisionRecallCurve:
    score, gained, above, tied, n_positive, n_negative = curve_steps(ranking)
    tp_end = np.cumsum(gained)
    fp_end = np.cumsum(above + tied)
    tp_begin, fp_begin = tp_end - gained, fp_end - tied
    # A step of g tied positives gets g - 1 inserted points, one per whole true positive.
    parts = np.clip(np.ceil(gained), 1, _MOST_INSERTED).astype(np.int64)
    step = np.repeat(np.arange(len(score)), parts + 1)
    inside = np.arange(len(step)) - np.repeat(np.cumsum(parts + 1) - (parts + 1), parts + 1)
    share = inside / parts[step]
    tp = tp_begin[step] + share * gained[step]
    fp = fp_begin[step] + share * tied[step]
    thresholds = np.where(inside == parts[step], score[step], np.nan)
    # At the last point, everything is predicted.
    tp, fp = np.append(tp, n_positive), np.append(fp, n_negative)
    thresholds = np.append(thresholds, np.nan)
    predicted = tp + fp
    # Before the first point, nothing is predicted: its precision is extended to recall 0.
    first = tp_end[0] / (tp_end[0] + fp_end[0])
    precision = np.divide(tp, predicted, out=np.full(len(tp), first), where=predicted > 0)
    if fp_begin[0] == 0:
        precision[: parts[0]] = first
    recall = tp / n_positive
    keep = np.append(True, (np.diff(recall) > 0) | (np.diff(precision) != 0))
    area, _ = _core.step_areas(gained, above, tied, n_positive, n_negative)
    return PrecisionRecallCurve(
        name,
        recall[keep],
        precision[keep],
        thresholds[keep],
        area,
        n_positive / (n_positive + n_negative),
    )


def _roc_curve(name: str, ranking: Ranking) -> RocCurve:
    score, gained, above, tied, n_positive, n_negative = curve_steps(ranking)
    tp, fp = np.cumsum(gained), np.cumsum(above + tied)
    # Two points per step: one before it (after the negatives above) and one after it.
    true = np.column_stack([tp - gained, tp]).ravel() / n_positive
    false = np.column_stack([fp - tied, fp]).ravel() / max(n_negative, 1.0)
    thresholds = np.column_stack([np.full(len(score), np.nan), score]).ravel()
    true, false = np.append(true, 1.0), np.append(false, 1.0)
    true, false = np.insert(true, 0, 0.0), np.insert(false, 0, 0.0)
    thresholds = np.insert(np.append(thresholds, np.nan), 0, np.inf)
    keep = np.append(True, (np.diff(true) > 0) | (np.diff(false) > 0))
    _, area = _core.step_areas(gained, above, tied, n_positive, n_negative)
    return RocCurve(name, false[keep], true[keep], thresholds[keep], area)
