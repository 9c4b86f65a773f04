"""Measures of protein function prediction: F-max, S-min and information content."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from ramify.hierarchy.hierarchy import Hierarchy
from ramify.metrics.inputs import (
    LabelChoice,
    Ranking,
    Truth,
    read_label_matrix,
    read_ranking,
    width,
)
from ramify.metrics.ranking import warn_undefined

Vector: TypeAlias = NDArray[np.float64]


def information_content(
    y: Any, *, hierarchy: Hierarchy | None = None, smoothing: float = 0.0
) -> NDArray[np.float64]:
    r"""Information content of every label given its parents, in bits.

    .. math:: ic(c) = -\log_2 P(c \mid \text{all parents of } c)
            = -\log_2 \frac{n_c + s}{n_{pa(c)} + 2s}

    where n is the number of rows that have the label or all its parents (all rows for a label at
    the top), and s is the smoothing.

    Parameters
    ----------
    y : label matrix or labels in any format
        Labels to count, usually those of the training set. A label matrix must include the
        ancestors of every label.
    hierarchy : Hierarchy, optional
        If None, the labels have no parents.
    smoothing : float
        Added to the number of rows with and without the label.

    Returns
    -------
    ndarray of shape (n_labels,)
        0 for labels that never occur, unless `smoothing` is positive.

    Examples
    --------
    >>> from ramify import Hierarchy
    >>> from ramify.metrics import information_content
    >>> animals = Hierarchy.from_paths(["bird", "mammal/cat", "mammal/dog"])
    >>> y = animals.encode([["mammal/cat"], ["mammal/dog"], ["mammal/dog"], ["bird"]])
    >>> information_content(y, hierarchy=animals).round(3)
    array([2.   , 0.415, 1.585, 0.585])
    """
    if not 0 <= smoothing < np.inf:
        raise ValueError(f"smoothing must be a number >= 0, got {smoothing!r}.")
    truth = read_label_matrix(y, hierarchy, width(y, hierarchy), "y")
    counts = np.bincount(truth.indices, minlength=truth.shape[1]).astype(np.float64)
    above = _rows_with_all_parents(truth, hierarchy)
    probability = np.ones(len(counts))
    known = counts + smoothing > 0
    np.divide(counts + smoothing, above + 2 * smoothing, out=probability, where=known)
    return np.maximum(0.0, -np.log2(probability))


def _rows_with_all_parents(truth: Truth, hierarchy: Hierarchy | None) -> Vector:
    n_rows, n_labels = truth.shape
    if hierarchy is None:
        return np.full(n_labels, float(n_rows))
    indptr, indices = hierarchy.parent_rows
    ones = np.ones(len(indices), dtype=np.int32)
    parents = sparse.csr_array((ones, indices, indptr), shape=(n_labels, n_labels))
    n_parents = np.diff(indptr)
    having = sparse.coo_array(truth @ parents.T)
    complete = having.data == n_parents[having.col]
    above = np.bincount(having.col[complete], minlength=n_labels).astype(np.float64)
    return np.where(n_parents == 0, float(n_rows), above)


@dataclass(frozen=True)
class ProteinCurve:
    """Averages over rows at every threshold, as defined by the CAFA challenges.

    Attributes
    ----------
    thresholds : ndarray
        Increasing thresholds. A label is predicted if its score is at least the threshold.
    precision : ndarray
        Mean over the rows with a prediction; NaN if there is none.
    recall : ndarray
        Mean over all rows that have labels.
    remaining_uncertainty, misinformation : ndarray
        Mean information content of the missed and of the wrongly predicted labels.
    """

    thresholds: Vector
    precision: Vector
    recall: Vector
    remaining_uncertainty: Vector
    misinformation: Vector

    @property
    def f1(self) -> Vector:
        """Harmonic mean of precision and recall; 0 if nothing is predicted."""
        precision = np.nan_to_num(self.precision)
        total = precision + self.recall
        f1 = np.where(np.isnan(total), np.nan, 0.0)
        np.divide(2 * precision * self.recall, total, out=f1, where=total > 0)
        return f1

    @property
    def semantic_distance(self) -> Vector:
        """Euclidean length of (remaining uncertainty, misinformation)."""
        return np.hypot(self.remaining_uncertainty, self.misinformation)


def protein_curve(
    y_true: Any,
    y_score: Any,
    *,
    hierarchy: Hierarchy | None = None,
    labels: LabelChoice = "all",
    thresholds: ArrayLike | None = None,
    information: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> ProteinCurve:
    """Precision, recall, remaining uncertainty and misinformation at every threshold.

    Parameters
    ----------
    y_true : label matrix or labels in any format
        True labels including ancestors. Rows without labels are left out.
    y_score : array-like of shape (n, n_labels)
        Scores; no label should have a higher score than its parents.
    hierarchy : Hierarchy, optional
        Names the columns.
    labels : {"all", "leaves"}, int or sequence of labels
        The labels to evaluate; an int is a level, counted from 1 at the top.
    thresholds : array-like, optional
        By default, 0.01, 0.02, …, 1.
    information : array-like of shape (n_labels,), optional
        Information content of the labels. By default, it is computed from `y_true`.
    sample_weight : array-like of shape (n,), optional
        Sample weights.

    Returns
    -------
    ProteinCurve
        The averages, one entry per threshold; NaN (with an UndefinedMetricWarning) if no row has
        a chosen label.

    Examples
    --------
    >>> from ramify.metrics import protein_curve
    >>> curve = protein_curve([[1, 1], [1, 0]], [[0.9, 0.4], [0.8, 0.5]], thresholds=[0.3, 0.6])
    >>> curve.precision, curve.recall
    (array([0.75, 1.  ]), array([1.  , 0.75]))
    """
    ranking = read_ranking(y_true, y_score, hierarchy, labels, sample_weight)
    grid = np.arange(1, 101) / 100 if thresholds is None else np.unique(thresholds)
    bits = _information_of(information, ranking, hierarchy)[ranking.labels]
    true = ranking.truth[:, ranking.labels]
    sizes = np.asarray(true.sum(axis=1), dtype=np.float64)
    row_weight = np.ones(len(sizes)) if ranking.weight is None else ranking.weight.copy()
    row_weight[sizes == 0] = 0.0
    if not row_weight.any():
        warn_undefined("The average over rows", stacklevel=4)
    sums = _sums(true, ranking, grid, bits)
    covered = row_weight @ (sums.predicted > 0)
    share = np.divide(
        sums.shared, sums.predicted, out=np.zeros_like(sums.shared), where=sums.predicted > 0
    )
    missed = np.asarray(true @ bits)[:, None] - sums.shared_bits
    with np.errstate(invalid="ignore"):
        precision = row_weight @ share / covered
    return ProteinCurve(
        thresholds=grid,
        precision=precision,
        recall=_mean(sums.shared / np.maximum(sizes, 1)[:, None], row_weight),
        remaining_uncertainty=_mean(np.maximum(0.0, missed), row_weight),
        misinformation=_mean(np.maximum(0.0, sums.predicted_bits - sums.shared_bits), row_weight),
    )


def f_max(
    y_true: Any,
    y_score: Any,
    *,
    hierarchy: Hierarchy | None = None,
    labels: LabelChoice = "all",
    thresholds: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""F-max of the CAFA challenges: the best F1 over all thresholds.

    .. math:: F_{max} = \max_t \frac{2\,pr(t)\,rc(t)}{pr(t) + rc(t)}

    where pr is the mean precision of the rows with a prediction at threshold t, and rc is the
    mean recall of all rows. Rows without labels are left out; predictions of labels without
    positive rows count as false positives.

    Parameters
    ----------
    y_true, y_score, hierarchy, labels, thresholds, sample_weight
        As in `protein_curve`.

    Returns
    -------
    float
        1 is best.

    Examples
    --------
    >>> from ramify.metrics import f_max
    >>> round(f_max([[1, 1], [1, 0]], [[0.9, 0.4], [0.8, 0.5]]), 4)
    0.8571
    """
    curve = protein_curve(
        y_true,
        y_score,
        hierarchy=hierarchy,
        labels=labels,
        thresholds=thresholds,
        sample_weight=sample_weight,
    )
    return float(curve.f1.max())


def s_min(
    y_true: Any,
    y_score: Any,
    *,
    hierarchy: Hierarchy | None = None,
    labels: LabelChoice = "all",
    thresholds: ArrayLike | None = None,
    information: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""S-min of the CAFA challenges: the smallest semantic distance over all thresholds.

    .. math:: S_{min} = \min_t \sqrt{ru(t)^2 + mi(t)^2}

    where ru is the mean information content of the labels missed at threshold t, and mi that of
    the labels predicted wrongly. Rows without labels are left out.

    Parameters
    ----------
    y_true, y_score, hierarchy, labels, thresholds, information, sample_weight
        As in `protein_curve`. Pass the `information_content` of the training labels as
        `information`.

    Returns
    -------
    float
        The distance in bits; 0 is best.

    Examples
    --------
    >>> from ramify.metrics import s_min
    >>> s_min([[1, 1], [1, 0]], [[0.9, 0.4], [0.8, 0.5]], information=[0.0, 1.0])
    0.5
    """
    curve = protein_curve(
        y_true,
        y_score,
        hierarchy=hierarchy,
        labels=labels,
        thresholds=thresholds,
        information=information,
        sample_weight=sample_weight,
    )
    return float(curve.semantic_distance.min())


def _information_of(
    information: ArrayLike | None, ranking: Ranking, hierarchy: Hierarchy | None
) -> Vector:
    if information is None:
        return information_content(ranking.truth, hierarchy=hierarchy)
    bits = np.asarray(information, dtype=np.float64)
    if bits.shape != (ranking.truth.shape[1],):
        raise ValueError(
            f"information must have shape ({ranking.truth.shape[1]},), one value per label, got "
            f"{bits.shape}. Compute it with information_content."
        )
    return bits


_CELLS_AT_A_TIME = 1_000_000


@dataclass(frozen=True)
class _Sums:
    """Number and bits of predicted and of correctly predicted labels: rows × thresholds."""

    predicted: Vector
    shared: Vector
    predicted_bits: Vector
    shared_bits: Vector


def _sums(true: Truth, ranking: Ranking, grid: Vector, bits: Vector) -> _Sums:
    """Sum over the chosen labels, in blocks of rows to bound the memory."""
    n_rows, n_chosen = true.shape
    sums = _Sums(*(np.zeros((n_rows, len(grid))) for _ in range(4)))
    step = max(1, _CELLS_AT_A_TIME // n_chosen)
    for start in range(0, n_rows, step):
        rows = slice(start, start + step)
        reached = np.searchsorted(grid, ranking.scores[rows][:, ranking.labels], side="right")
        row, column = np.nonzero(reached)
        shape = (len(reached), len(grid))
        last = reached[row, column]
        sums.predicted[rows] = _sums_from_right(None, row, last, shape)
        sums.predicted_bits[rows] = _sums_from_right(bits[column], row, last, shape)
        truth = sparse.coo_array(true[rows])
        last = reached[truth.row, truth.col]
        sums.shared[rows] = _sums_from_right(None, truth.row, last, shape)
        sums.shared_bits[rows] = _sums_from_right(bits[truth.col], truth.row, last, shape)
    return sums


def _sums_from_right(
    weights: Vector | None, rows: NDArray[Any], last: NDArray[Any], shape: tuple[int, int]
) -> Vector:
    """Count each cell at the last threshold it reaches, then sum from the right."""
    n_rows, n_columns = shape[0], shape[1] + 1
    cells = rows * n_columns + last
    flat = np.bincount(cells, weights=weights, minlength=n_rows * n_columns).astype(np.float64)
    table = flat.reshape(n_rows, n_columns)[:, 1:]
    sums: Vector = np.cumsum(table[:, ::-1], axis=1)[:, ::-1]
    return sums


def _mean(values: Vector, weights: Vector) -> Vector:
    with np.errstate(invalid="ignore"):
        return np.asarray(weights @ values / weights.sum())
