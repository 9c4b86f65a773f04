"""Ranking measures: areas under precision-recall and ROC curves."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.exceptions import UndefinedMetricWarning

from ramify import _core
from ramify.data.rows import as_label_rows, as_rows
from ramify.labels.hierarchy import Hierarchy
from ramify.metrics.inputs import LabelChoice, Ranking, read_ranking

Interpolation: TypeAlias = Literal["davis-goadrich", "continuous", "linear", "step"]
AbsentLabels: TypeAlias = Literal["drop", "keep"]
Vector: TypeAlias = NDArray[np.float64]


def pooled_auprc(
    y_true: Any,
    y_score: Any,
    *,
    hierarchy: Hierarchy | None = None,
    labels: LabelChoice = "all",
    interpolation: Interpolation = "davis-goadrich",
    thresholds: ArrayLike | None = None,
    absent_labels: AbsentLabels = "drop",
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Area under the pooled (micro-averaged) precision-recall curve, AU(PRC).

    All (row, label) cells form one ranking. At every distinct score s, the cells with a score of
    at least s are predicted positive, and

    .. math:: P(s) = \frac{\sum_c TP_c}{\sum_c TP_c + \sum_c FP_c}, \quad
              R(s) = \frac{\sum_c TP_c}{\sum_c TP_c + \sum_c FN_c}.

    Parameters
    ----------
    y_true : label matrix or labels in any format
        True labels, one label set per row. Cells that are unknown are left out.
    y_score : array-like or sparse matrix of shape (n, n_labels)
        Scores, as returned by `predict_proba` or `predict_proba_sparse`; scores that a sparse
        matrix does not store are 0.
    hierarchy : Hierarchy, optional
        Names the columns; required to select labels by name, level or "leaves".
    labels : {"all", "leaves"}, int or sequence of labels
        The labels to evaluate; an int is a level, counted from 1 at the top.
    interpolation : {"davis-goadrich", "continuous", "linear", "step"}
        How to interpolate precision between two points of the curve; see Notes.
    thresholds : array-like, optional
        Use only these thresholds instead of every distinct score.
        ``np.arange(51) / 50`` is the grid 0, 0.02, …, 1.
    absent_labels : {"drop", "keep"}
        How to treat labels without positive rows: "drop" leaves out all their cells, as CLUS
        does; "keep" counts their false positives.
    sample_weight : array-like of shape (n,), optional
        Sample weights. A row with weight 2 counts as two rows.

    Returns
    -------
    float
        Between 0 and 1; NaN (with an UndefinedMetricWarning) without any positive.

    See Also
    --------
    mean_auprc : The mean of the areas of the labels.
    weighted_auprc : The mean weighted by label frequency.

    Notes
    -----
    The default reproduces CLUS up to rounding. Equal scores form one step; the first point is
    extended horizontally to recall 0; between two points, false positives grow linearly with
    true positives, with one point per whole true positive, joined by straight lines (Davis and
    Goadrich, 2006). "continuous" integrates that interpolation exactly. "linear" joins the
    points themselves, which overestimates the area. "step" is average precision, as in
    scikit-learn's ``average_precision_score(average="micro")``.

    Rows without labels are included: all their cells are negative.

    If scores below some m are left out, as in ``predict_proba_sparse(X, min_proba=m)``, the curve
    is unchanged up to R, the recall at threshold m, and all cells below m form one step. The area
    changes by at most (1 - R) N / (N + FP), with N positive cells and FP false positives at m; a
    mean over labels changes by at most the mean of this bound over the labels.

    Examples
    --------
    >>> from ramify.metrics import pooled_auprc
    >>> y_true = [[1, 1, 0], [1, 0, 0]]
    >>> y_score = [[0.9, 0.4, 0.6], [0.8, 0.5, 0.1]]
    >>> round(pooled_auprc(y_true, y_score), 4)
    0.9028
    >>> round(pooled_auprc(y_true, y_score, absent_labels="keep"), 4)
    0.85
    """
    ranking = read_ranking(y_true, y_score, hierarchy, labels, sample_weight)
    ranking = _present(ranking, absent_labels)
    return _pooled_areas(on_grid(ranking, thresholds), interpolation)[0]


def pooled_auroc(
    y_true: Any,
    y_score: Any,
    *,
    hierarchy: Hierarchy | None = None,
    labels: LabelChoice = "all",
    absent_labels: AbsentLabels = "drop",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Area under the ROC curve of all (row, label) cells as one ranking.

    This is the probability that a positive cell is ranked above a negative one; ties count half.

    Parameters
    ----------
    y_true, y_score, hierarchy, labels, absent_labels, sample_weight
        As in `pooled_auprc`.

    Returns
    -------
    float
        0.5 without negative cells; NaN (with an UndefinedMetricWarning) without positive cells.

    Examples
    --------
    >>> from ramify.metrics import pooled_auroc
    >>> pooled_auroc([[1, 1], [1, 0]], [[0.9, 0.4], [0.8, 0.5]])
    0.6666666666666667
    """
    ranking = read_ranking(y_true, y_score, hierarchy, labels, sample_weight)
    return _pooled_areas(_present(ranking, absent_labels), "step")[1]


def mean_auprc(
    y_true: Any,
    y_score: Any,
    *,
    hierarchy: Hierarchy | None = None,
    labels: LabelChoice = "all",
    interpolation: Interpolation = "davis-goadrich",
    thresholds: ArrayLike | None = None,
    absent_labels: AbsentLabels = "drop",
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Mean over the labels of the area under their precision-recall curves.

    .. math:: \frac{1}{|C|} \sum_{c \in C} AUPRC_c

    Parameters
    ----------
    y_true, y_score, hierarchy, labels, interpolation, thresholds, sample_weight
        As in `pooled_auprc`.
    absent_labels : {"drop", "keep"}
        How to treat labels without positive rows: "drop" leaves them out of the mean, as the
        hierarchical measures of CLUS do; "keep" counts them as 0, as the multi-label measures of
        CLUS do.

    Returns
    -------
    float
        Between 0 and 1; NaN (with an UndefinedMetricWarning) if no label is left.

    Examples
    --------
    >>> from ramify.metrics import mean_auprc
    >>> y_true = [[1, 1, 0], [1, 0, 0]]
    >>> y_score = [[0.9, 0.4, 0.6], [0.8, 0.5, 0.1]]
    >>> mean_auprc(y_true, y_score)
    0.625
    """
    areas, counts = _label_precision_recall(
        read_ranking(y_true, y_score, hierarchy, labels, sample_weight), interpolation, thresholds
    )
    areas, _ = _absent(areas, counts, absent_labels, value=0.0)
    return _mean(areas, np.ones(len(areas)), "mean_auprc")


def weighted_auprc(
    y_true: Any,
    y_score: Any,
    *,
    hierarchy: Hierarchy | None = None,
    labels: LabelChoice = "all",
    interpolation: Interpolation = "davis-goadrich",
    thresholds: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Mean over the labels of the area under their precision-recall curves, by frequency.

    .. math:: \sum_c f_c \, AUPRC_c \big/ \sum_c f_c

    where f is the fraction of the evaluated rows that have the label. A label without positive
    rows has weight 0.

    Parameters
    ----------
    y_true, y_score, hierarchy, labels, interpolation, thresholds, sample_weight
        As in `pooled_auprc`.

    Returns
    -------
    float
        Between 0 and 1; NaN (with an UndefinedMetricWarning) without any positive.

    Examples
    --------
    >>> from ramify.metrics import weighted_auprc
    >>> y_true = [[1, 1, 0], [1, 0, 0]]
    >>> y_score = [[0.9, 0.4, 0.6], [0.8, 0.5, 0.1]]
    >>> weighted_auprc(y_true, y_score)
    0.75
    """
    areas, counts = _label_precision_recall(
        read_ranking(y_true, y_score, hierarchy, labels, sample_weight), interpolation, thresholds
    )
    return _mean(*_absent(areas, counts, "drop", value=0.0), "weighted_auprc")


def mean_auroc(
    y_true: Any,
    y_score: Any,
    *,
    hierarchy: Hierarchy | None = None,
    labels: LabelChoice = "all",
    absent_labels: AbsentLabels = "drop",
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Mean over the labels of the area under their ROC curves.

    Parameters
    ----------
    y_true, y_score, hierarchy, labels, sample_weight
        As in `pooled_auprc`.
    absent_labels : {"drop", "keep"}
        How to treat labels without positive rows: "drop" leaves them out of the mean, "keep"
        counts them as 0.5. A label that all rows have counts as 0.5 in both cases.

    Returns
    -------
    float
        Between 0 and 1; NaN (with an UndefinedMetricWarning) if no label is left.

    Examples
    --------
    >>> from ramify.metrics import mean_auroc
    >>> mean_auroc([[1, 0], [0, 0], [1, 0]], [[0.9, 0.4], [0.8, 0.5], [0.8, 0.1]])
    0.75
    """
    ranking = read_ranking(y_true, y_score, hierarchy, labels, sample_weight)
    _, areas, counts = areas_of_labels(ranking)
    areas, _ = _absent(areas, counts, absent_labels, value=0.5)
    return _mean(areas, np.ones(len(areas)), "mean_auroc")


def on_grid(ranking: Ranking, thresholds: ArrayLike | None) -> Ranking:
    """Lower every score to the largest threshold it reaches.

    The curve of the lowered scores is the curve on the grid. All scores below the grid become
    equal, so the point where everything is predicted is always on the curve.
    """
    if thresholds is None:
        return ranking
    given = np.asarray(thresholds, dtype=np.float64)
    grid = np.unique(given)
    if given.ndim == 0 or grid.size == 0 or not np.isfinite(grid).all():
        raise ValueError(
            f"thresholds must be a non-empty list of finite numbers, got {thresholds!r}. Pass, "
            "for example, np.arange(51) / 50."
        )
    lowered: Any
    if sparse.issparse(ranking.scores):
        # Only the order matters: the number of thresholds reached, minus that of a score of 0.
        lowered = ranking.scores.copy()
        reached = np.searchsorted(grid, lowered.data, side="right")
        lowered.data = (reached - np.searchsorted(grid, 0.0, side="right")).astype(np.float64)
    else:
        below = np.append(grid[0] - 1.0, grid)
        lowered = below[np.searchsorted(grid, ranking.scores, side="right")]
    return replace(ranking, scores=lowered)


def _present(ranking: Ranking, absent_labels: AbsentLabels) -> Ranking:
    _check_absent(absent_labels)
    return ranking if absent_labels == "keep" else ranking.only(ranking.positives() > 0)


def curve_steps(
    ranking: Ranking,
) -> tuple[Vector, Vector, Vector, Vector, float, float]:
    """Return (score, positives, negatives above, tied negatives) of each step, and the totals."""
    ranking, unknown = ranking.weighing_rows().with_unknown_last()
    scores, truth = as_rows(ranking.scores), as_label_rows(ranking.truth)
    *steps, n_negative = _core.curve_steps(scores, truth, ranking.labels, ranking.weight)
    return *steps, max(0.0, n_negative - float(unknown.sum()))  # type: ignore[return-value]


def areas_of_labels(
    ranking: Ranking, interpolation: Interpolation = "davis-goadrich"
) -> tuple[Vector, Vector, Vector]:
    """Return the AUPRC, the AUROC and the weight of the positive rows of every label."""
    ranking, unknown = ranking.weighing_rows().with_unknown_last()
    scores, truth = as_rows(ranking.scores), as_label_rows(ranking.truth)
    auprc, auroc, positives = _core.label_areas(
        scores, truth, ranking.labels, ranking.weight, interpolation
    )
    if ranking.unknown is None:
        return auprc, auroc, positives
    # Unknown cells count as negatives below all positives, of which each is in the right order.
    n = ranking.truth.shape[0] if ranking.weight is None else float(ranking.weight.sum())
    negatives = n - positives - unknown
    some = negatives > 1e-9 * n
    found = (auroc * (negatives + unknown) - unknown) / np.where(some, negatives, 1.0)
    return auprc, np.where(some & (positives > 0), np.clip(found, 0.0, 1.0), 0.5), positives


def _pooled_areas(ranking: Ranking, interpolation: Interpolation) -> tuple[float, float]:
    _check_interpolation(interpolation)
    _, positives, above, tied, n_positive, n_negative = curve_steps(ranking)
    if not n_positive > 0:
        warn_undefined("The pooled area")
        return np.nan, np.nan
    return _core.step_areas(positives, above, tied, n_positive, n_negative, interpolation)


def _label_precision_recall(
    ranking: Ranking, interpolation: Interpolation, thresholds: ArrayLike | None
) -> tuple[Vector, Vector]:
    _check_interpolation(interpolation)
    lowered = on_grid(ranking, thresholds)
    areas, _, counts = areas_of_labels(lowered, interpolation)
    return areas, counts


def _absent(
    areas: Vector,
    counts: Vector,
    absent_labels: AbsentLabels,
    value: float,
) -> tuple[Vector, Vector]:
    """Drop labels without positive rows, or set their area to a value."""
    _check_absent(absent_labels)
    present = counts > 0
    if absent_labels == "keep":
        return np.where(present, areas, value), counts
    return areas[present], counts[present]


def _mean(areas: Vector, weights: Vector, name: str) -> float:
    if not weights.sum() > 0:
        warn_undefined(name)
        return np.nan
    return float(np.average(areas, weights=weights))


def warn_undefined(what: str, stacklevel: int = 4) -> None:
    """Warn that NaN is returned because no chosen label has a positive row."""
    warnings.warn(
        f"{what} is undefined because no chosen label has a positive row; returning NaN.",
        UndefinedMetricWarning,
        stacklevel=stacklevel,
    )


def _check_interpolation(interpolation: str) -> None:
    known = ("davis-goadrich", "continuous", "linear", "step")
    if interpolation not in known:
        raise ValueError(f"interpolation must be one of {known}, got {interpolation!r}.")


def _check_absent(absent_labels: str) -> None:
    if absent_labels not in ("drop", "keep"):
        raise ValueError(f"absent_labels must be 'drop' or 'keep', got {absent_labels!r}.")
