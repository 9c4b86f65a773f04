"""The one matrix form behind every measure: checked truth, predictions, scores, chosen labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify._validation import Label, check_label_matrix, shorten
from ramify.hierarchy.hierarchy import Hierarchy
from ramify.labels.encoding import read_labels

LabelChoice: TypeAlias = str | int | Sequence[Label] | NDArray[Any]
"""Which labels a measure looks at: "all", "leaves", a level counted from 1, or names."""

Truth: TypeAlias = "sparse.csr_array[np.int32]"
Weights: TypeAlias = "NDArray[np.float64] | None"


@dataclass(frozen=True)
class Ranking:
    """Truth and scores over all labels, and the labels that count."""

    truth: Truth
    scores: NDArray[np.float64]
    labels: NDArray[np.int32]
    weight: Weights

    @property
    def truth_rows(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The true labels as the native functions take them."""
        indptr = self.truth.indptr.astype(np.int64, copy=False)
        return indptr, self.truth.indices.astype(np.int32, copy=False)

    def positives(self) -> NDArray[np.float64]:
        """Weight of the rows that have each of the chosen labels."""
        weight = np.ones(self.truth.shape[0]) if self.weight is None else self.weight
        return np.asarray(self.truth.T @ weight, dtype=np.float64)[self.labels]

    def weighing_rows(self) -> Ranking:
        """Return the same without rows of weight 0, which would leave steps without height."""
        if self.weight is None or self.weight.all():
            return self
        keep = self.weight > 0
        return Ranking(self.truth[keep], self.scores[keep], self.labels, self.weight[keep])

    def only(self, keep: NDArray[np.bool_]) -> Ranking:
        """Return the same with fewer labels; `keep` has one entry for each of the chosen ones."""
        return Ranking(self.truth, self.scores, self.labels[keep], self.weight)


def read_ranking(
    y_true: Any,
    y_score: Any,
    hierarchy: Hierarchy | None,
    labels: LabelChoice,
    sample_weight: Any,
) -> Ranking:
    """Check the arguments of a measure of scores and bring them into one form."""
    scores = read_scores(y_score)
    truth = read_label_matrix(y_true, hierarchy, scores.shape[1], "y_true")
    check_same_rows(truth, scores, "y_score")
    chosen = choose_labels(labels, hierarchy, scores.shape[1])
    return Ranking(truth, scores, chosen, read_weights(sample_weight, truth.shape[0]))


@dataclass(frozen=True)
class LabelSets:
    """True and predicted label sets of every row, over the chosen labels only."""

    truth: Truth
    predicted: Truth
    weight: NDArray[np.float64]

    @property
    def n_labels(self) -> int:
        """The number of chosen labels."""
        return int(self.truth.shape[1])

    def row_sizes(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Sizes of the true set, the predicted set and what they share, for every row."""
        shared = sparse.csr_array(self.truth.multiply(self.predicted))
        return tuple(  # type: ignore[return-value]
            np.diff(_without_zeros(matrix).indptr).astype(np.float64)
            for matrix in (self.truth, self.predicted, shared)
        )

    def label_counts(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Weight of the rows that have, get, and rightly get every label."""
        shared = sparse.csr_array(self.truth.multiply(self.predicted))
        return tuple(  # type: ignore[return-value]
            np.asarray(matrix.T @ self.weight, dtype=np.float64)
            for matrix in (self.truth, self.predicted, shared)
        )

    def mean(self, values: NDArray[np.float64]) -> float:
        """Weighted mean of one value per row."""
        return float(np.average(values, weights=self.weight))


def _without_zeros(matrix: Truth) -> Truth:
    matrix.eliminate_zeros()
    return matrix


def read_sets(
    y_true: Any,
    y_pred: Any,
    hierarchy: Hierarchy | None,
    labels: LabelChoice,
    sample_weight: Any,
    *,
    closed: bool = False,
) -> LabelSets:
    """Check the arguments of a measure of label sets; `closed` adds the ancestors first."""
    truth, predicted = read_label_matrices(y_true, y_pred, hierarchy)
    if closed and hierarchy is not None:
        truth, predicted = hierarchy.close(truth), hierarchy.close(predicted)
    n_rows, n_labels = truth.shape
    chosen = choose_labels(labels, hierarchy, n_labels)
    if len(chosen) < n_labels:
        truth, predicted = truth[:, chosen], predicted[:, chosen]
    weights = read_weights(sample_weight, n_rows)
    return LabelSets(truth, predicted, np.ones(n_rows) if weights is None else weights)


def read_label_matrices(
    y_true: Any, y_pred: Any, hierarchy: Hierarchy | None
) -> tuple[Truth, Truth]:
    """Return true and predicted labels as matrices of one shape."""
    if hierarchy is None and not (is_matrix(y_true) and is_matrix(y_pred)):
        truth, predicted = _read_together(y_true, y_pred)
    else:
        n_labels = width(y_pred, hierarchy)
        predicted = read_label_matrix(y_pred, hierarchy, n_labels, "y_pred")
        truth = read_label_matrix(y_true, hierarchy, n_labels, "y_true")
    check_same_rows(truth, predicted, "y_pred")
    return truth, predicted


def _read_together(y_true: Any, y_pred: Any) -> tuple[Truth, Truth]:
    """Encode both over the labels that occur in either."""
    rows = [*y_true, *y_pred]
    matrix = read_labels(rows).Y
    n_true = len(rows) - len(y_pred)
    return matrix[:n_true], matrix[n_true:]


def is_matrix(y: Any) -> bool:
    """Tell whether labels are a matrix of numbers, one column per label."""
    if sparse.issparse(y):
        return True
    try:
        array = np.asarray(y)
    except ValueError:
        return False
    return array.ndim == 2 and array.dtype.kind in "biuf"


def width(y: Any, hierarchy: Hierarchy | None) -> int:
    """Return how many labels there are."""
    if hierarchy is not None:
        return hierarchy.n_labels
    shape: Any = getattr(y, "shape", None) or np.shape(y)
    return int(shape[1]) if len(shape) == 2 else 0


def read_scores(y_score: Any) -> NDArray[np.float64]:
    """Return scores as a dense matrix of finite numbers, without a copy where possible."""
    matrix: Any = y_score
    scores = np.asarray(matrix.toarray() if sparse.issparse(y_score) else y_score)
    if scores.dtype.kind not in "biuf":
        raise TypeError(
            f"y_score holds values of type {scores.dtype}, but scores are numbers. Give the "
            "result of predict_proba."
        )
    if scores.ndim != 2:
        raise ValueError(
            f"y_score has {scores.ndim} dimension(s), but scores have 2: one row per example and "
            "one column per label. A list of arrays, one per label, must be stacked first."
        )
    scores = scores.astype(np.float64, copy=False)
    if not np.isfinite(scores).all():
        row, column = np.argwhere(~np.isfinite(scores))[0].tolist()
        raise ValueError(
            f"y_score holds {scores[row, column]} in row {row}, column {column}, but scores must "
            "be finite. Replace NaN and infinity."
        )
    return scores


def read_label_matrix(
    y: Any, hierarchy: Hierarchy | None, n_labels: int, name: str
) -> sparse.csr_array[np.int32]:
    """Return labels in any format as a clean csr_array with a column per label.

    A matrix is taken as it is; label sets, paths and the like are closed upwards.
    """
    if hierarchy is not None and hierarchy.n_labels != n_labels:
        raise ValueError(
            f"y_score has {n_labels} columns, but the hierarchy has {hierarchy.n_labels} labels. "
            "Give one column per label, in the order of hierarchy.labels."
        )
    if is_matrix(y):
        return check_label_matrix(y, n_labels if hierarchy is None else hierarchy.labels, name)
    if hierarchy is None:
        raise ValueError(
            f"{name} is no label matrix, and without a hierarchy its labels have no columns. Give "
            "hierarchy=."
        )
    return read_labels(y, hierarchy).Y


def check_same_rows(truth: Truth, other: Any, name: str) -> None:
    """Refuse predictions for another number of examples, and none at all."""
    if truth.shape[0] == 0:
        raise ValueError("y_true has no rows. Give at least one example.")
    if other.shape[0] != truth.shape[0]:
        raise ValueError(
            f"y_true has {truth.shape[0]} rows, but {name} has {other.shape[0]}. Give both for "
            "the same examples."
        )


def read_weights(sample_weight: Any, n_rows: int) -> Weights:
    """Return row weights as a checked array, or None when every row counts once."""
    if sample_weight is None:
        return None
    weights = np.ascontiguousarray(sample_weight, dtype=np.float64)
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight has shape {weights.shape}, but one weight for each of the {n_rows} "
            "rows is needed."
        )
    if not np.isfinite(weights).all() or weights.min(initial=0.0) < 0:
        raise ValueError("sample_weight holds negative or infinite values or NaN. Remove them.")
    if not weights.any():
        raise ValueError("sample_weight is 0 for every row. Give at least one row a weight.")
    return weights


def choose_labels(
    labels: LabelChoice, hierarchy: Hierarchy | None, n_labels: int
) -> NDArray[np.int32]:
    """Return the columns of the chosen labels, in increasing order.

    Parameters
    ----------
    labels : {"all", "leaves"}, int, or sequence of labels
        An int is a level, counted from 1 at the top.
    hierarchy : Hierarchy or None
        Without one all labels are on level 1 and are named by their column.
    n_labels : int
        The number of columns.

    Returns
    -------
    ndarray of int32
        Columns, sorted.

    Examples
    --------
    >>> animals = Hierarchy.from_paths(["bird", "mammal/cat", "mammal/dog"])
    >>> choose_labels("leaves", animals, 4)
    array([0, 2, 3], dtype=int32)
    >>> choose_labels(1, animals, 4)
    array([0, 1], dtype=int32)
    >>> choose_labels(["mammal/dog"], animals, 4)
    array([3], dtype=int32)
    """
    if isinstance(labels, str):
        return _named_choice(labels, hierarchy, n_labels)
    if isinstance(labels, int | np.integer):
        return _level(int(labels), hierarchy, n_labels)
    if hierarchy is not None:
        columns = hierarchy.indices(labels)
    else:
        columns = _column_numbers(labels, n_labels)
    unique: NDArray[np.int32] = np.unique(columns).astype(np.int32)
    if unique.size == 0:
        raise ValueError("labels is empty. Name at least one label, or use labels='all'.")
    return unique


def _named_choice(labels: str, hierarchy: Hierarchy | None, n_labels: int) -> NDArray[np.int32]:
    if labels == "all" or (labels == "leaves" and hierarchy is None):
        return np.arange(n_labels, dtype=np.int32)
    if labels == "leaves" and hierarchy is not None:
        return np.sort(hierarchy.indices(hierarchy.leaves))
    raise ValueError(
        f"labels is {labels!r}, but it must be 'all', 'leaves', a level counted from 1, or a "
        f"list of labels. For a single label write [{labels!r}]."
    )


def _level(level: int, hierarchy: Hierarchy | None, n_labels: int) -> NDArray[np.int32]:
    depth = 1 if hierarchy is None else hierarchy.depth
    if not 1 <= level <= depth:
        raise ValueError(
            f"labels is level {level}, but the hierarchy has the levels 1 to {depth}. For a "
            f"single label write [{level}]."
        )
    if hierarchy is None:
        return np.arange(n_labels, dtype=np.int32)
    return np.sort(hierarchy.indices(hierarchy.levels[level - 1]))


def _column_numbers(labels: Sequence[Label] | NDArray[Any], n_labels: int) -> NDArray[Any]:
    columns = np.asarray(labels)
    if columns.size and columns.dtype.kind not in "iu":
        raise ValueError(
            f"labels names {shorten(columns.ravel().tolist())}, but names need a hierarchy. Give "
            "hierarchy=, or column numbers."
        )
    if columns.ndim != 1 or (columns.size and not 0 <= columns.min() <= columns.max() < n_labels):
        raise ValueError(
            f"labels holds {shorten(columns.ravel().tolist())}, but columns are numbered from 0 "
            f"to {n_labels - 1}."
        )
    return columns
