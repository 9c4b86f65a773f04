"""Validate the arguments of the measures and convert them to matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify._messages import shorten
from ramify._validation import Label, UnknownLabelsError, canonical_scores, check_label_matrix
from ramify.data.frames import in_memory, is_frame
from ramify.labels.encoding import PartialLabels, read_labels, read_more_labels, read_partial
from ramify.labels.hierarchy import Hierarchy
from ramify.labels.readers import order_columns

LabelChoice: TypeAlias = str | int | Sequence[Label] | NDArray[Any]
"""The labels that a measure evaluates: "all", "leaves", a level counted from 1, or names."""

Truth: TypeAlias = "sparse.csr_array[np.int32]"
Scores: TypeAlias = "NDArray[np.float64] | sparse.csr_array[np.float64]"
"""Scores of all rows and labels; those that a sparse matrix does not store are 0."""
Weights: TypeAlias = "NDArray[np.float64] | None"


@dataclass(frozen=True)
class Ranking:
    """True labels and scores for all labels, and the labels to evaluate."""

    truth: Truth
    scores: Scores
    labels: NDArray[np.int32]
    weight: Weights
    unknown: Truth | None = None
    """The cells that are not known, which are 0 in the truth; None if there are none."""

    @property
    def row_weights(self) -> NDArray[np.float64]:
        """The weight of each row, 1 if there are no weights."""
        return np.ones(self.truth.shape[0]) if self.weight is None else self.weight

    def require_known(self) -> Ranking:
        """Return this object, or raise an error if some of the truth is not known."""
        if self.unknown is not None:
            raise unknown_truth_error()
        return self

    def positives(self) -> NDArray[np.float64]:
        """Total weight of the positive rows of each chosen label."""
        return np.asarray(self.truth.T @ self.row_weights, dtype=np.float64)[self.labels]

    def weighing_rows(self) -> Ranking:
        """Return a copy without rows of weight 0, which would add steps of height 0."""
        if self.weight is None or self.weight.all():
            return self
        keep = self.weight > 0
        unknown = None if self.unknown is None else self.unknown[keep]
        weight = self.weight[keep]
        return Ranking(self.truth[keep], self.scores[keep], self.labels, weight, unknown)

    def only(self, keep: NDArray[np.bool_]) -> Ranking:
        """Return a copy with fewer labels; `keep` has one entry per chosen label."""
        return replace(self, labels=self.labels[keep])

    def with_unknown_last(self) -> tuple[Ranking, NDArray[np.float64]]:
        """Return a copy in which unknown cells rank below all others, and their weight per label.

        As negative cells below all positives, they change no curve but by their number.
        """
        if self.unknown is None:
            return self, np.zeros(len(self.labels))
        counts = np.asarray(self.unknown.T @ self.row_weights, dtype=np.float64)[self.labels]
        least = min(float(self.scores.min()), 0.0) if self.scores.shape[1] else 0.0
        least = min(least - 1.0, float(np.nextafter(least, -np.inf)))
        scores, cells = cast("Any", self.scores), cast("Any", self.unknown)
        if sparse.issparse(self.scores):
            scores = sparse.csr_array(scores - scores.multiply(cells) + least * cells)
            scores.sort_indices()
        else:
            scores = np.where(self.unknown.toarray() != 0, least, scores)
        return replace(self, scores=scores), counts


def read_ranking(
    y_true: Any,
    y_score: Any,
    hierarchy: Hierarchy | None,
    labels: LabelChoice,
    sample_weight: Any,
) -> Ranking:
    """Validate the arguments of a measure that takes scores."""
    scores = read_scores(_in_order(y_score, hierarchy, "y_score"))
    truth, partial = read_truth(y_true, hierarchy, scores.shape[1])
    check_same_rows(truth, scores, "y_score")
    chosen = choose_labels(labels, hierarchy, scores.shape[1])
    weight = read_weights(sample_weight, truth.shape[0])
    return Ranking(truth, scores, chosen, weight, unknown_cells(partial))


@dataclass(frozen=True)
class LabelSets:
    """True and predicted label sets of every row, restricted to the chosen labels."""

    truth: Truth
    predicted: Truth
    weight: NDArray[np.float64]  # 0 for rows that know none of the labels
    n_known: NDArray[np.float64]
    """The number of chosen labels that each row knows; the others are in neither set."""

    def row_sizes(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Sizes of the true set, the predicted set and their intersection, for every row."""
        shared = sparse.csr_array(self.truth.multiply(self.predicted))
        return tuple(  # type: ignore[return-value]
            np.diff(_without_zeros(matrix).indptr).astype(np.float64)
            for matrix in (self.truth, self.predicted, shared)
        )

    def label_counts(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Total weight of the true, the predicted and the correctly predicted rows per label."""
        shared = sparse.csr_array(self.truth.multiply(self.predicted))
        return tuple(  # type: ignore[return-value]
            np.asarray(matrix.T @ self.weight, dtype=np.float64)
            for matrix in (self.truth, self.predicted, shared)
        )

    def mean(self, values: NDArray[np.float64]) -> float:
        """Weighted mean of one value per row; NaN if no row knows any label."""
        if not self.weight.any():
            return np.nan
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
    """Validate the arguments of a measure that takes label sets; `closed` adds ancestors."""
    pair = read_label_matrices(y_true, y_pred, hierarchy)
    truth, predicted, unknown = pair.truth, pair.predicted, pair.unknown
    if closed and hierarchy is not None:
        truth, predicted = hierarchy.close(truth), hierarchy.close(predicted)
    predicted = without_cells(predicted, unknown)
    n_labels = truth.shape[1]
    chosen = choose_labels(labels, hierarchy, n_labels)
    if len(chosen) < n_labels:
        truth, predicted = truth[:, chosen], predicted[:, chosen]
    return LabelSets(truth, predicted, *pair.row_weights(sample_weight, chosen))


@dataclass(frozen=True)
class LabelMatrices:
    """True and predicted labels of all rows, of the same shape."""

    truth: Truth
    predicted: Truth
    partial: PartialLabels | None = None  # the truth, if some of it is not known

    @property
    def unknown(self) -> Truth | None:
        """The cells that are not known."""
        return unknown_cells(self.partial)

    def row_weights(
        self, sample_weight: Any, chosen: NDArray[np.int32]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the weight of each row, and how many of the chosen labels it knows."""
        n_rows = self.truth.shape[0]
        weights = read_weights(sample_weight, n_rows)
        weights = np.ones(n_rows) if weights is None else weights
        n_known = np.full(n_rows, float(len(chosen)))
        unknown = self.unknown
        if unknown is not None:
            n_known = n_known - unknown[:, chosen].sum(axis=1)
            weights = np.where(n_known > 0, weights, 0.0)
        return weights, n_known


def unknown_truth_error() -> ValueError:
    """Build the error of a measure of whole rows for labels that are not known."""
    return ValueError(
        "y_true must not have unknown labels, got some: this measure compares whole paths or "
        "rows. Drop these rows, or use the measures of ramify.metrics.evaluate."
    )


def without_cells(Y: Any, cells: Truth | None) -> Any:
    """Return a matrix with 0 where another one is not 0."""
    if cells is None:
        return Y
    found = sparse.csr_array(Y - Y.multiply(cells))
    found.eliminate_zeros()
    return found


def unknown_cells(partial: PartialLabels | None) -> Truth | None:
    """Return an indicator matrix of the labels that are not known, or None."""
    return None if partial is None or partial.unknown is None else partial.unknown.as_rows()


def read_truth(
    y: Any, hierarchy: Hierarchy | None, n_labels: int, name: str = "y_true"
) -> tuple[Truth, PartialLabels | None]:
    """Read true labels as `read_label_matrix` does, some of which may be unknown."""
    y = in_memory(y, name)
    flat = hierarchy
    if flat is None and not is_frame(y) and not isinstance(y, PartialLabels):
        flat = Hierarchy.from_labels(range(n_labels))
    partial = read_partial(y, flat)
    if partial is not None and partial.Y.shape[1] == n_labels:
        return partial.Y, partial
    return read_label_matrix(y, hierarchy, n_labels, name), None


def read_label_matrices(y_true: Any, y_pred: Any, hierarchy: Hierarchy | None) -> LabelMatrices:
    """Return true and predicted labels as matrices of the same shape."""
    y_true, y_pred = in_memory(y_true, "y_true"), in_memory(y_pred, "y_pred")
    if hierarchy is None and isinstance(y_true, PartialLabels):
        hierarchy = y_true.hierarchy
    partial = None
    if hierarchy is None and not (is_matrix(y_true) and is_matrix(y_pred)):
        truth, predicted = _read_together(y_true, y_pred)
    else:
        if hierarchy is None:
            y_pred = _like(y_pred, y_true)
        n_labels = width(y_pred, hierarchy)
        predicted = read_label_matrix(y_pred, hierarchy, n_labels, "y_pred")
        truth, partial = read_truth(y_true, hierarchy, n_labels)
    check_same_rows(truth, predicted, "y_pred")
    return LabelMatrices(truth, predicted, partial)


def _read_together(y_true: Any, y_pred: Any) -> tuple[Truth, Truth]:
    """Read both as `fit` does, with the labels that occur in either of them."""
    # Nested lists may be levels or label sets; next to an array of levels, they are levels.
    if _are_levels(y_pred) and not _are_levels(y_true):
        predicted, truth = _read_one_after_the_other(y_pred, y_true)
        return truth, predicted
    try:
        return _read_one_after_the_other(y_true, y_pred)
    except UnknownLabelsError:
        raise
    except ValueError:  # such as no labels at all in y_true
        predicted, truth = _read_one_after_the_other(y_pred, y_true)
        return truth, predicted


def _read_one_after_the_other(first: Any, second: Any) -> tuple[Truth, Truth]:
    """Read labels, then others with the hierarchy of the first ones, extended as needed."""
    known = read_labels(first)
    more = read_more_labels(second, known.hierarchy)
    Y = known.Y.copy()
    Y.resize(Y.shape[0], more.hierarchy.n_labels)
    return Y, more.Y


def _are_levels(y: Any) -> bool:
    return getattr(y, "ndim", 0) == 2 and not is_matrix(y)


def _like(y: Any, other: Any) -> Any:
    """Return the columns of a data frame in the order of the columns of another one."""
    if not (is_frame(y) and is_frame(other)) or set(y.columns) != set(other.columns):
        return y
    return y[list(other.columns)]


def _in_order(y: Any, hierarchy: Hierarchy | None, name: str) -> Any:
    """Return the columns of a data frame in the order of the labels."""
    y = in_memory(y, name)
    if hierarchy is None or not is_frame(y) or len(y.columns) != hierarchy.n_labels:
        return y
    return order_columns(y, list(y.columns), hierarchy, name)


def is_matrix(y: Any) -> bool:
    """Return whether y is a matrix of numbers with one column per label."""
    if sparse.issparse(y):
        return True
    if isinstance(y, PartialLabels):
        return False
    try:
        array = np.asarray(y)
    except ValueError:
        return False
    return array.ndim == 2 and array.dtype.kind in "biuf"


def width(y: Any, hierarchy: Hierarchy | None) -> int:
    """Return the number of labels."""
    if hierarchy is not None:
        return hierarchy.n_labels
    if isinstance(y, PartialLabels):
        return y.hierarchy.n_labels
    shape: Any = getattr(y, "shape", None) or np.shape(y)
    return int(shape[1]) if len(shape) == 2 else 0


def read_scores(y_score: Any) -> Scores:
    """Return scores as a matrix of finite numbers, without a copy if possible.

    A sparse matrix stays sparse, with sorted columns in every row.
    """
    scores: Any = y_score if sparse.issparse(y_score) else np.asarray(y_score)
    if scores.dtype.kind not in "biuf":
        raise TypeError(
            f"y_score must be numeric, got values of type {scores.dtype}. Pass the result of "
            "predict_proba."
        )
    if scores.ndim != 2:
        raise ValueError(
            f"y_score must be a 2-D array with one column per label, got {scores.ndim} "
            "dimension(s). Stack a list of arrays, one per label, into one array first."
        )
    if sparse.issparse(scores):
        rows, bad = canonical_scores(scores)
        if bad is not None:
            row, column, value = bad
            raise _not_finite(value, row, column)
        return rows
    scores = scores.astype(np.float64, copy=False)
    if not np.isfinite(scores).all():
        row, column = np.argwhere(~np.isfinite(scores))[0].tolist()
        raise _not_finite(scores[row, column], row, column)
    return scores  # type: ignore[no-any-return]


def _not_finite(value: float, row: int, column: int) -> ValueError:
    return ValueError(
        f"y_score must be finite, got {value} at row {row}, column {column}. Replace NaN and "
        "infinity."
    )


def predicted_at(scores: Scores, threshold: float) -> Any:
    """Return the cells whose score is at least a threshold, as a matrix of flags."""
    if not sparse.issparse(scores):
        return scores >= threshold
    if not threshold > 0:
        raise ValueError(
            f"threshold must be positive for sparse scores, got {threshold!r}. Pass y_score as a "
            "dense matrix to predict labels with a score of 0."
        )
    rows: Any = scores
    cells = (rows.data >= threshold, rows.indices, rows.indptr)
    chosen = sparse.csr_array(cells, shape=rows.shape, copy=True)
    chosen.eliminate_zeros()
    return chosen


def read_label_matrix(
    y: Any, hierarchy: Hierarchy | None, n_labels: int, name: str
) -> sparse.csr_array[np.int32]:
    """Return labels in any format, and the ancestors of sets and paths, as a clean csr_array."""
    if hierarchy is not None and hierarchy.n_labels != n_labels:
        raise ValueError(
            f"y_score has {n_labels} columns, but the hierarchy has {hierarchy.n_labels} labels. "
            "Pass one column per label, in the order of hierarchy.labels."
        )
    y = in_memory(y, name)
    if is_matrix(y):
        y = _in_order(y, hierarchy, name)
        return check_label_matrix(y, n_labels if hierarchy is None else hierarchy.labels, name)
    if hierarchy is None:
        raise ValueError(
            f"{name} must be a label matrix if hierarchy is None, got a {type(y).__name__}. Pass "
            "hierarchy."
        )
    return read_labels(y, hierarchy).Y


def check_same_rows(truth: Truth, other: Any, name: str) -> None:
    """Raise an error if there are no rows or the numbers of rows differ."""
    if truth.shape[0] == 0:
        raise ValueError("y_true has no rows. Pass at least one row.")
    if other.shape[0] != truth.shape[0]:
        raise ValueError(
            f"y_true has {truth.shape[0]} rows, but {name} has {other.shape[0]}. Pass both for "
            "the same rows."
        )


def read_weights(sample_weight: Any, n_rows: int) -> Weights:
    """Return sample weights as a validated array, or None for equal weights."""
    if sample_weight is None:
        return None
    weights = np.ascontiguousarray(sample_weight, dtype=np.float64)
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight must have shape ({n_rows},), got {weights.shape}. Pass one weight per "
            "row."
        )
    if not np.isfinite(weights).all() or weights.min(initial=0.0) < 0:
        raise ValueError(
            "sample_weight must be finite and non-negative, got negative or infinite values or "
            "NaN. Replace them."
        )
    if not weights.any():
        raise ValueError(
            "sample_weight is zero for every row. Pass a positive weight for at least one row."
        )
    return weights


def choose_labels(
    labels: LabelChoice, hierarchy: Hierarchy | None, n_labels: int
) -> NDArray[np.int32]:
    """Return the columns of the chosen labels, in increasing order.

    >>> animals = Hierarchy.from_paths(["bird", "mammal/cat", "mammal/dog"])
    >>> [choose_labels(which, animals, 4).tolist() for which in ("leaves", 1, ["mammal/dog"])]
    [[0, 2, 3], [0, 1], [3]]
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
        raise ValueError("labels is empty. Pass at least one label, or use labels='all'.")
    return unique


def _named_choice(labels: str, hierarchy: Hierarchy | None, n_labels: int) -> NDArray[np.int32]:
    if labels == "all" or (labels == "leaves" and hierarchy is None):
        return np.arange(n_labels, dtype=np.int32)
    if labels == "leaves" and hierarchy is not None:
        return np.sort(hierarchy.indices(hierarchy.leaves))
    raise ValueError(
        f"labels must be 'all', 'leaves', a level counted from 1, or a list of labels, got "
        f"{labels!r}. Pass [{labels!r}] for a single label."
    )


def _level(level: int, hierarchy: Hierarchy | None, n_labels: int) -> NDArray[np.int32]:
    depth = 1 if hierarchy is None else hierarchy.depth
    if not 1 <= level <= depth:
        raise ValueError(
            f"labels must be a level from 1 to {depth}, got {level}. Pass [{level}] for a single "
            "label."
        )
    if hierarchy is None:
        return np.arange(n_labels, dtype=np.int32)
    return np.sort(hierarchy.indices(hierarchy.levels[level - 1]))


def _column_numbers(labels: Sequence[Label] | NDArray[Any], n_labels: int) -> NDArray[Any]:
    columns = np.asarray(labels)
    if columns.size and columns.dtype.kind not in "iu":
        raise ValueError(
            "labels must be column numbers if hierarchy is None, got "
            f"{shorten(columns.ravel().tolist())}. Pass hierarchy to select labels by name."
        )
    if columns.ndim != 1 or (columns.size and not 0 <= columns.min() <= columns.max() < n_labels):
        raise ValueError(
            f"labels must be column numbers from 0 to {n_labels - 1}, got "
            f"{shorten(columns.ravel().tolist())}."
        )
    return columns
