"""Measures of protein function prediction: F-max, S-min and information content."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from ramify._validation import check_choice
from ramify.data.rows import indicator
from ramify.labels.hierarchy import Hierarchy
from ramify.metrics.inputs import (
    LabelChoice,
    Truth,
    check_same_rows,
    choose_labels,
    read_label_matrix,
    read_scores,
    read_truth,
    read_weights,
    unknown_cells,
    width,
)
from ramify.metrics.protein_curves import ProteinCurve, ThresholdAverages
from ramify.metrics.ranking import warn_undefined

Vector: TypeAlias = NDArray[np.float64]


def information_content(
    y: Any, *, hierarchy: Hierarchy | None = None, smoothing: float = 0.0
) -> NDArray[np.float64]:
    r"""Information content (information accretion) of every label given its parents, in bits.

    .. math:: ic(c) = -\log_2 P(c \mid \text{all parents of } c)
            = -\log_2 \frac{n_c + s}{n_{pa(c)} + s}

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
        Added to both counts; 1 gives the information accretion of the later CAFA challenges.

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
    truth, partial = read_truth(y, hierarchy, width(y, hierarchy), "y")
    counts = np.bincount(truth.indices, minlength=truth.shape[1]).astype(np.float64)
    above = _rows_with_all_parents(truth, hierarchy, unknown_cells(partial))
    probability = np.ones(len(counts))
    known = counts + smoothing > 0
    np.divide(counts + smoothing, above + smoothing, out=probability, where=known)
    return np.maximum(0.0, -np.log2(probability))


def _rows_with_all_parents(
    truth: Truth, hierarchy: Hierarchy | None, unknown: Truth | None
) -> Vector:
    """Return the number of rows that have all parents of each label, and know the label."""
    n_rows, n_labels = truth.shape
    top = np.full(n_labels, float(n_rows))
    if unknown is not None:
        top -= unknown.sum(axis=0)
    if hierarchy is None:
        return top
    parents = indicator(hierarchy.parent_rows, n_labels)
    n_parents = np.diff(parents.indptr)
    having = sparse.coo_array(truth @ parents.T)
    complete = having.data == n_parents[having.col]
    if unknown is not None:
        not_known = sparse.csr_array(unknown.multiply(having.tocsr())).tocoo()
        lacking = not_known.data == n_parents[not_known.col]
        gone = np.bincount(not_known.col[lacking], minlength=n_labels).astype(np.float64)
    else:
        gone = np.zeros(n_labels)
    above = np.bincount(having.col[complete], minlength=n_labels).astype(np.float64)
    return np.where(n_parents == 0, top, above - gone)


def protein_curve(
    y_true: Any,
    y_score: Any,
    *,
    hierarchy: Hierarchy | None = None,
    labels: LabelChoice = "all",
    thresholds: ArrayLike | None = None,
    information: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    propagation: str | None = None,
    normalization: str = "cafa",
    roots: bool = True,
    known: Any = None,
) -> ProteinCurve:
    """Precision, recall, remaining uncertainty and misinformation at every threshold.

    The figures are those of CAFA's evaluator. For an ontology with several namespaces, compute
    one curve per namespace with `labels`.

    Parameters
    ----------
    y_true : label matrix or labels in any format
        True labels including ancestors. Rows without labels are left out.
    y_score : array-like or sparse matrix of shape (n, n_labels)
        Scores. Labels whose score a sparse matrix does not store are not predicted at any
        threshold.
    hierarchy : Hierarchy, optional
        Names the columns.
    labels : {"all", "leaves"}, int or sequence of labels
        The labels to evaluate (terms of interest); an int is a level, counted from 1 at the top.
        Rows without any of these labels are left out.
    thresholds : float or array-like, optional
        The thresholds, or the step between them. By default, 0.01, 0.02, …, 0.99.
    information : array-like of shape (n_labels,), optional
        Information content of the labels. By default, it is computed from `y_true`.
    sample_weight : array-like of shape (n,), optional
        Sample weights.
    propagation : {"max", "fill"}, optional
        How to add ancestors to the true labels and give them scores, as in `Hierarchy.propagate`.
        By default, nothing is added, and no label should have a higher score than its parents.
    normalization : {"cafa", "gt", "pred"}
        The divisor of averages: the number of rows ("gt"), the number of rows with a prediction
        ("pred"), or the latter for precision and the former for everything else ("cafa").
    roots : bool
        Whether labels without parents count. Rows that have no other labels are not left out.
        Weighted averages count all labels with information, including roots.
    known : label matrix or labels in any format, optional
        Labels that were known beforehand, which count neither as true nor as predicted. Rows
        without other labels are left out.

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
    check_choice("normalization", normalization, ("cafa", "gt", "pred"))
    scores: Any = read_scores(y_score)
    n_rows, n_labels = scores.shape
    truth, partial = read_truth(y_true, hierarchy, n_labels)
    check_same_rows(truth, scores, "y_score")
    before = None if known is None else read_label_matrix(known, hierarchy, n_labels, "known")
    if before is not None:
        check_same_rows(truth, before, "known")
    if propagation is not None:
        tree = _required(hierarchy, "propagation", propagation)
        truth, scores = tree.close(truth), tree.propagate(scores, propagation)
        before = None if before is None else tree.close(before)
    grid = _read_thresholds(thresholds, sparse.issparse(scores))
    bits = _information_of(information, truth if partial is None else partial, hierarchy)
    unknown = unknown_cells(partial)
    if unknown is not None:  # neither true nor predicted
        before = unknown if before is None else before + unknown - before.multiply(unknown)
    counted = np.zeros(n_labels)
    counted[choose_labels(labels, hierarchy, n_labels)] = 1.0
    weight = read_weights(sample_weight, n_rows)
    row_weight = np.ones(n_rows) if weight is None else weight.copy()
    row_weight[_evaluated(truth, before) @ counted == 0] = 0.0
    if not row_weight.any():
        warn_undefined("The average over rows", stacklevel=4)
    bits = bits * counted
    if not roots:
        counted[np.diff(_required(hierarchy, "roots", roots).parent_rows[0]) == 0] = 0.0
    plain, weighted = threshold_sums(
        truth, scores, grid, row_weight, (counted, bits), known=before
    )
    total = float(row_weight.sum())
    return ProteinCurve(
        thresholds=grid,
        plain=_averages(plain, total, normalization),
        weighted=_averages(weighted, total, normalization),
    )


def f_max(
    y_true: Any,
    y_score: Any,
    *,
    hierarchy: Hierarchy | None = None,
    labels: LabelChoice = "all",
    thresholds: ArrayLike | None = None,
    information: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    weighted: bool = False,
    average: str = "samples",
    **options: Any,
) -> float:
    r"""F-max of the CAFA challenges: the best F1 over all thresholds.

    .. math:: F_{max} = \max_t \frac{2\,pr(t)\,rc(t)}{pr(t) + rc(t)}

    where pr is the mean precision of the rows with a prediction at threshold t, and rc is the
    mean recall of all rows. Rows without labels are left out; predictions of labels without
    positive rows count as false positives.

    Parameters
    ----------
    y_true, y_score, hierarchy, labels, thresholds, information, sample_weight
        As in `protein_curve`.
    weighted : bool
        Whether labels are weighted by their information content (weighted F-max) instead of
        equally.
    average : {"samples", "micro"}
        "samples" averages over rows; "micro" uses the precision and recall of all rows together.
    **options
        Further parameters of `protein_curve`: propagation, normalization, roots, known.

    Returns
    -------
    float
        1 is best.

    Notes
    -----
    If scores below some m are left out, as in ``predict_proba_sparse(X, min_proba=m)``, the curve
    is unchanged at all thresholds of at least m, and its values at smaller thresholds equal those
    at m. The result is the best F1 over the thresholds from m on.

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
        information=information,
        sample_weight=sample_weight,
        **options,
    )
    return curve.f_max(weighted=weighted, average=average)


def s_min(
    y_true: Any,
    y_score: Any,
    *,
    hierarchy: Hierarchy | None = None,
    labels: LabelChoice = "all",
    thresholds: ArrayLike | None = None,
    information: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    **options: Any,
) -> float:
    r"""S-min of the CAFA challenges: the smallest semantic distance over all thresholds.

    .. math:: S_{min} = \min_t \sqrt{ru(t)^2 + mi(t)^2}

    where ru is the mean information content of the labels missed at threshold t, and mi that of
    the labels predicted wrongly. Rows without labels are left out, as are thresholds at which
    nothing is predicted, unless nothing is predicted at all.

    Parameters
    ----------
    y_true, y_score, hierarchy, labels, thresholds, information, sample_weight
        As in `protein_curve`. Pass the `information_content` of the training labels as
        `information`.
    **options
        Further parameters of `protein_curve`: propagation, normalization, roots, known.

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
        **options,
    )
    return curve.s_min()


def _required(hierarchy: Hierarchy | None, name: str, value: object) -> Hierarchy:
    if hierarchy is None:
        raise ValueError(f"{name}={value!r} requires a hierarchy. Pass hierarchy.")
    return hierarchy


def _read_thresholds(thresholds: ArrayLike | None, is_sparse: bool) -> Vector:
    given = np.asarray(0.01 if thresholds is None else thresholds, dtype=np.float64)
    if given.ndim == 0:
        step = float(given)
        if not 1e-6 <= step < 1:
            raise ValueError(
                f"thresholds must be a step from 1e-06 to below 1, or an array, got {step!r}."
            )
        return np.arange(step, 1, step)
    grid = np.unique(given)
    if not len(grid) or not np.isfinite(grid).all():
        raise ValueError(f"thresholds must be finite numbers, got {thresholds!r}.")
    if is_sparse and grid[0] <= 0:
        raise ValueError(
            f"thresholds must be positive for sparse scores, got {grid[0]}. Pass y_score as a "
            "dense matrix to evaluate scores of 0."
        )
    return grid


def _information_of(
    information: ArrayLike | None, truth: Any, hierarchy: Hierarchy | None
) -> Vector:
    if information is None:
        return information_content(truth, hierarchy=hierarchy)
    bits = np.asarray(information, dtype=np.float64)
    n_labels = width(truth, hierarchy)
    if bits.shape != (n_labels,):
        raise ValueError(
            f"information must have shape ({n_labels},), one value per label, got "
            f"{bits.shape}. Compute it with information_content."
        )
    if not np.isfinite(bits).all() or bits.min(initial=0.0) < 0:
        bad = bits[~((bits >= 0) & (bits < np.inf))][0]
        raise ValueError(
            f"information must be finite and non-negative, got {bad}. Compute it with "
            "information_content."
        )
    return bits


def _evaluated(truth: Truth, known: Truth | None) -> Truth:
    """Return the true labels that were not known beforehand."""
    return truth if known is None else sparse.csr_array(truth - truth.multiply(known))


def _averages(sums: ThresholdSums, total: float, normalization: str) -> ThresholdAverages:
    rows = np.full(len(sums.n), total)
    of_precision = rows if normalization == "gt" else sums.n
    of_others = sums.n if normalization == "pred" else rows
    wrong = np.maximum(0.0, sums.predicted - sums.shared)
    missed = np.maximum(0.0, sums.true - sums.shared)
    return ThresholdAverages(
        n=sums.n,
        coverage=_divided(sums.n, rows),
        tp=_divided(sums.shared, of_others),
        fp=_divided(wrong, of_others),
        fn=_divided(missed, of_others),
        precision=_divided(sums.precision, of_precision),
        recall=_divided(sums.recall, of_others),
    )


def _divided(sums: Vector, rows: Vector) -> Vector:
    """Divide by the number of rows; NaN if there are none."""
    means: Vector = np.full(len(sums), np.nan)
    np.divide(sums, rows, out=means, where=rows > 0)
    return means


# ---- sums at every threshold, without rows × labels matrices --------------------------------


_CELLS_AT_A_TIME = 2_000_000


@dataclass(frozen=True)
class ThresholdSums:
    """Weighted sums over the rows, one entry per threshold."""

    n: Vector  # the rows with a prediction
    predicted: Vector  # the weights of the predicted and of the correctly predicted labels
    shared: Vector
    precision: Vector  # the precision and recall of the rows
    recall: Vector
    true: Vector  # the weights of the true labels, the same at every threshold


@dataclass(frozen=True)
class Cells:
    """Cells of some rows: their row, counted from 0, and column."""

    row: NDArray[np.int64]
    column: NDArray[np.int32]

    def only(self, keep: NDArray[np.bool_]) -> Cells:
        """Return some of the cells."""
        return Cells(self.row[keep], self.column[keep])


def threshold_sums(
    truth: Truth,
    scores: Any,
    grid: Vector,
    row_weight: Vector,
    label_weights: tuple[Vector, ...],
    *,
    known: Truth | None = None,
) -> list[ThresholdSums]:
    """Sum over blocks of rows, once for every vector of label weights; `grid` increases."""
    totals = [[np.zeros(len(grid)) for _ in range(6)] for _ in label_weights]
    for rows in _blocks(truth.shape[1], len(grid), row_weight):
        block = _Block(rows, truth, scores, grid, known)
        weight = row_weight[rows]
        for sums, label_weight in zip(totals, label_weights, strict=True):
            for total, part in zip(sums, block.sums(label_weight, weight), strict=True):
                np.add(total, part, out=total)
    return [ThresholdSums(*sums) for sums in totals]


def _blocks(n_labels: int, n_thresholds: int, row_weight: Vector) -> Iterator[NDArray[np.intp]]:
    rows = np.flatnonzero(row_weight)
    step = max(1, _CELLS_AT_A_TIME // max(n_labels, 4 * n_thresholds))
    for start in range(0, len(rows), step):
        yield rows[start : start + step]


class _Block:
    """The true and the predicted cells of some rows."""

    def __init__(
        self, rows: NDArray[np.intp], truth: Truth, scores: Any, grid: Vector, known: Truth | None
    ) -> None:
        self.shape = (len(rows), len(grid))
        true = _cells(truth[rows])
        predicted, score = _scored_cells(scores[rows], float(grid[0]))
        kind = np.zeros((len(rows), truth.shape[1]), dtype=np.int8)
        kind[true.row, true.column] = 1
        if known is not None:
            out = _cells(known[rows])
            kind[out.row, out.column] = 2
            true = true.only(kind[true.row, true.column] == 1)
            keep = kind[predicted.row, predicted.column] != 2
            predicted, score = predicted.only(keep), score[keep]
        self.true = true
        self.predicted = predicted
        # A cell is counted at the last threshold that it reaches.
        last = np.searchsorted(grid, score, side="right") - 1
        self.places = predicted.row * self.shape[1] + last
        self.is_true = kind[predicted.row, predicted.column] == 1

    def sums(self, label_weight: Vector, weight: Vector) -> Iterator[Vector]:
        """Yield the weighted sums over the rows, in the order of `ThresholdSums`."""
        cell_weight = label_weight[self.predicted.column]
        predicted = self._from_right(self.places, cell_weight)
        shared = self._from_right(self.places[self.is_true], cell_weight[self.is_true])
        sizes = np.bincount(
            self.true.row, weights=label_weight[self.true.column], minlength=self.shape[0]
        )
        yield weight @ (predicted > 0)
        yield weight @ predicted
        yield weight @ shared
        yield weight @ _share(shared, predicted)
        yield weight @ _share(shared, np.broadcast_to(sizes[:, None], self.shape))
        yield np.full(self.shape[1], weight @ sizes)

    def _from_right(self, places: NDArray[np.int64], weights: Vector) -> Vector:
        """Sum over the cells that reach a threshold, for every row and threshold."""
        flat = np.bincount(places, weights=weights, minlength=self.shape[0] * self.shape[1])
        table: Vector = flat.astype(np.float64, copy=False).reshape(self.shape)
        return np.cumsum(table[:, ::-1], axis=1)[:, ::-1]


def _share(part: Vector, whole: Vector) -> Vector:
    return np.divide(part, whole, out=np.zeros(part.shape), where=whole > 0)


def _cells(matrix: Truth) -> Cells:
    counts = np.diff(matrix.indptr)
    return Cells(np.repeat(np.arange(len(counts), dtype=np.int64), counts), matrix.indices)


def _scored_cells(scores: Any, least: float) -> tuple[Cells, Vector]:
    """Return the cells whose score is at least `least`, and their scores."""
    if sparse.issparse(scores):
        rows: Any = scores
        keep = rows.data >= least
        return _cells(rows).only(keep), rows.data[keep]
    row, column = np.nonzero(scores >= least)
    return Cells(row.astype(np.int64), column.astype(np.int32)), scores[row, column]
