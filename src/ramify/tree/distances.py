"""Distinct label sets and the distances between them, computed once per fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify.hierarchy.hierarchy import Hierarchy
from ramify.labels.encoding import read_labels

__all__ = ["DISTANCES", "Distance", "LabelSets", "check_distance", "distinct_label_sets"]

DISTANCES = ("euclidean", "hamming", "jaccard", "matching")

# The distances between all pairs of this many sets take 3 GiB.
_MOST_SETS = 20_000


@dataclass(frozen=True)
class Distance:
    """A distance between label sets.

    Attributes
    ----------
    measure : str, callable or ndarray
        One of `DISTANCES`, a function of two label sets, or a matrix over all distinct sets,
        which is used as is.
    labels : tuple
        The names of the labels, used if `measure` is a function.
    power : {1, 2}
        Whether the criterion averages distances or squared distances.
    """

    measure: str | Callable[[Any, Any], float] | NDArray[np.float64]
    labels: tuple[Any, ...] = ()
    power: int = 2

    def between(
        self, sets: sparse.csr_array[np.int32], label_weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the distances, to the power of `power`, between all rows of `sets`.

        Parameters
        ----------
        sets : csr_array of shape (n_sets, n_labels)
            Distinct label sets.
        label_weights : ndarray of shape (n_labels,)
            Label weights; the size of a set is the sum of the weights of its labels.

        Returns
        -------
        ndarray of shape (n_sets, n_sets)
            A symmetric, non-negative matrix with zeros on the diagonal.
        """
        n_sets = sets.shape[0]
        if n_sets > _MOST_SETS:
            raise ValueError(
                f"y must have at most {_MOST_SETS} distinct label sets with "
                f"criterion={self.measure!r}, got {n_sets}: the matrix of all distances would "
                "take too much memory. Use criterion='variance'."
            )
        if isinstance(self.measure, str):
            return _by_name(self.measure, sets, label_weights, self.power)
        if callable(self.measure):
            return self._by_function(self.measure, sets)
        return _check_size(self.measure, n_sets)

    def _by_function(
        self, function: Callable[[Any, Any], float], sets: sparse.csr_array[np.int32]
    ) -> NDArray[np.float64]:
        bounds = sets.indptr.tolist()
        members = [
            frozenset(self.labels[c] for c in sets.indices[begin:end].tolist())
            for begin, end in pairwise(bounds)
        ]
        found = np.zeros((len(members), len(members)))
        for i, first in enumerate(members):
            for j in range(i):
                distance = float(function(members[j], first))
                if not (np.isfinite(distance) and distance >= 0):
                    raise ValueError(
                        f"criterion must return a finite, non-negative distance, got {distance!r} "
                        f"for {set(members[j])!r} and {set(first)!r}."
                    )
                found[i, j] = found[j, i] = distance**self.power
        return found


def _by_name(
    name: str,
    sets: sparse.csr_array[np.int32],
    label_weights: NDArray[np.float64],
    power: int,
) -> NDArray[np.float64]:
    weighted = sets.astype(np.float64) @ sparse.diags_array(label_weights)
    size = np.asarray(sets @ label_weights, dtype=np.float64)
    common: NDArray[np.float64] = (weighted @ sets.T).toarray()
    if name == "matching":
        distance = np.maximum.outer(size, size) - common
    else:
        distance = np.add.outer(size, size) - 2 * common
    # `size` and `common` are summed in different orders and may differ by a rounding error.
    distance = np.maximum(distance, 0.0)
    np.fill_diagonal(distance, 0.0)
    if name == "euclidean":  # the square root of the Hamming distance
        return distance if power == 2 else np.sqrt(distance)
    if name == "jaccard":
        union = np.add.outer(size, size) - common
        distance = np.divide(distance, union, out=np.zeros_like(distance), where=union > 0)
    return np.asarray(distance**power)


def check_distance(criterion: Any) -> NDArray[np.float64]:
    """Validate a user's matrix of squared distances, except for the number of rows."""
    matrix = np.asarray(criterion, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"criterion must be a square matrix of squared distances, got shape {matrix.shape}. "
            "Pass one row and one column per label set, in the order of distinct_label_sets."
        )
    bad = matrix[~(np.isfinite(matrix) & (matrix >= 0))]
    if bad.size:
        raise ValueError(
            f"criterion must be a matrix of finite, non-negative numbers, got {bad[0]}. Pass "
            "squared distances."
        )
    if not np.array_equal(matrix, matrix.T) or np.diagonal(matrix).any():
        raise ValueError(
            "criterion must be a symmetric matrix with zeros on the diagonal. Pass squared "
            "distances."
        )
    return matrix


def _check_size(matrix: NDArray[np.float64], n_sets: int) -> NDArray[np.float64]:
    if len(matrix) != n_sets:
        raise ValueError(
            f"criterion must be a matrix of shape ({n_sets}, {n_sets}), got {matrix.shape}: y "
            f"has {n_sets} distinct label sets. Pass one row and one column per label set, in the "
            "order of distinct_label_sets."
        )
    return matrix


@dataclass(frozen=True)
class LabelSets:
    """The distinct label sets of the rows.

    Attributes
    ----------
    of_row : ndarray of uint32, shape (n,)
        The index of the label set of each row; sets are numbered in order of appearance.
    distances : ndarray of shape (n_sets, n_sets)
        The values that the criterion averages; see `Distance.between`. Empty if not needed.
    """

    of_row: NDArray[np.uint32]
    distances: NDArray[np.float64]

    @classmethod
    def none(cls) -> LabelSets:
        """Return an empty instance, for trees that do not use label sets."""
        return cls(np.empty(0, dtype=np.uint32), np.empty((0, 0)))

    @classmethod
    def of(
        cls,
        Y: sparse.csr_array[np.int32],
        label_weights: NDArray[np.float64],
        distance: Distance | None,
    ) -> LabelSets:
        """Return the distinct sets of Y, with their distances unless `distance` is None."""
        of_row, first = number_sets(Y)
        if distance is None:
            return cls(of_row, np.empty((0, 0)))
        return cls(of_row, np.ascontiguousarray(distance.between(Y[first], label_weights)))


def number_sets(
    Y: sparse.csr_array[np.int32],
) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Return the set index of each row, in order of appearance, and the first row of each set."""
    bounds = Y.indptr.tolist()
    indices = Y.indices.astype(np.int32)
    numbers: dict[bytes, int] = {}
    of_row = np.empty(Y.shape[0], dtype=np.uint32)
    first: list[int] = []
    for row, (begin, end) in enumerate(pairwise(bounds)):
        number = numbers.setdefault(indices[begin:end].tobytes(), len(numbers))
        of_row[row] = number
        if number == len(first):
            first.append(row)
    return of_row, np.array(first, dtype=np.int64)


def distinct_label_sets(y: Any, hierarchy: Hierarchy | None = None) -> list[frozenset[Any]]:
    """Return the distinct label sets of y in order of appearance.

    If a matrix is passed as `criterion` of `PCTClassifier`, its rows and columns must be in this
    order.

    Parameters
    ----------
    y : array-like
        Labels in any format accepted by `ramify.labels.read_labels`.
    hierarchy : Hierarchy, optional
        The label hierarchy. If None, it is inferred as in `PCTClassifier`.

    Returns
    -------
    list of frozenset
        The distinct label sets, which include the ancestors of their labels.

    Examples
    --------
    >>> from ramify import distinct_label_sets
    >>> sets = distinct_label_sets(["animal/cat", "plant", "animal/cat"])
    >>> [sorted(labels) for labels in sets]
    [['animal', 'animal/cat'], ['plant']]
    """
    encoded = read_labels(y, hierarchy)
    _, first = number_sets(encoded.Y)
    labels = encoded.hierarchy.labels
    return [
        frozenset(labels[c] for c in encoded.Y[[row]].indices.tolist()) for row in first.tolist()
    ]
