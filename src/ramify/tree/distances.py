"""Distinct label sets and the distances between them, made once a fit."""

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

# All pairs of so many sets take 3 GiB.
_MOST_SETS = 20_000


@dataclass(frozen=True)
class Distance:
    """How far two label sets are apart.

    Attributes
    ----------
    measure : str, callable or ndarray
        One of `DISTANCES`, a function of two label sets, or squared distances between all
        distinct sets.
    labels : tuple
        The names of the labels, for a function.
    """

    measure: str | Callable[[Any, Any], float] | NDArray[np.float64]
    labels: tuple[Any, ...] = ()

    def squared(
        self, sets: sparse.csr_array[np.int32], label_weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the squared distances between all rows of `sets`.

        Parameters
        ----------
        sets : csr_array of shape (n_sets, n_labels)
            Distinct label sets.
        label_weights : ndarray of shape (n_labels,)
            What each label adds to the size of a set.

        Returns
        -------
        ndarray of shape (n_sets, n_sets)
            Symmetric, not negative, zeros on the diagonal.
        """
        n_sets = sets.shape[0]
        if n_sets > _MOST_SETS:
            raise ValueError(
                f"criterion is {self.measure!r}, but y has {n_sets} distinct label sets, and "
                f"pairs of more than {_MOST_SETS} take too much memory. Use criterion='variance'."
            )
        if isinstance(self.measure, str):
            return _squared_by_name(self.measure, sets, label_weights)
        if callable(self.measure):
            return self._squared_by_function(self.measure, sets)
        return _check_squared(self.measure, n_sets)

    def _squared_by_function(
        self, function: Callable[[Any, Any], float], sets: sparse.csr_array[np.int32]
    ) -> NDArray[np.float64]:
        bounds = sets.indptr.tolist()
        members = [
            frozenset(self.labels[c] for c in sets.indices[begin:end].tolist())
            for begin, end in pairwise(bounds)
        ]
        squared = np.zeros((len(members), len(members)))
        for i, first in enumerate(members):
            for j in range(i):
                distance = float(function(members[j], first))
                if not (np.isfinite(distance) and distance >= 0):
                    raise ValueError(
                        f"criterion returned {distance!r} as the distance of {set(members[j])!r} "
                        f"and {set(first)!r}. Return a finite number of 0 or more."
                    )
                squared[i, j] = squared[j, i] = distance**2
        return squared


def _squared_by_name(
    name: str, sets: sparse.csr_array[np.int32], label_weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    weighted = sets.astype(np.float64) @ sparse.diags_array(label_weights)
    size = np.asarray(sets @ label_weights, dtype=np.float64)
    common: NDArray[np.float64] = (weighted @ sets.T).toarray()
    if name == "matching":
        distance = np.maximum.outer(size, size) - common
    else:
        distance = np.add.outer(size, size) - 2 * common
    # A set's sizes are added up in two ways, which may differ in the last digit.
    distance = np.maximum(distance, 0.0)
    np.fill_diagonal(distance, 0.0)
    if name == "euclidean":
        return distance
    if name == "jaccard":
        union = np.add.outer(size, size) - common
        distance = np.divide(distance, union, out=np.zeros_like(distance), where=union > 0)
    return np.asarray(distance**2)


def check_distance(squared: Any) -> NDArray[np.float64]:
    """Return squared distances given by a user as an array, checked but for their number."""
    matrix = np.asarray(squared, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"criterion is an array of shape {matrix.shape}. Give a square matrix of squared "
            "distances between the distinct label sets of y, as distinct_label_sets lists them."
        )
    if not (np.isfinite(matrix).all() and (matrix >= 0).all()):
        raise ValueError(
            "criterion is a matrix with a value that is negative or not finite. Give squared "
            "distances of 0 or more."
        )
    if not np.array_equal(matrix, matrix.T) or np.diagonal(matrix).any():
        raise ValueError(
            "criterion is a matrix that is not symmetric, or not zero on its diagonal. Give "
            "squared distances: the same in both directions, and 0 from a set to itself."
        )
    return matrix


def _check_squared(squared: NDArray[np.float64], n_sets: int) -> NDArray[np.float64]:
    if len(squared) != n_sets:
        raise ValueError(
            f"criterion is a matrix of {len(squared)} rows, but y has {n_sets} distinct label "
            "sets. Give a row and a column to each set that distinct_label_sets lists."
        )
    return squared


@dataclass(frozen=True)
class LabelSets:
    """Rows told apart by their label sets.

    Attributes
    ----------
    of_row : ndarray of uint32, shape (n,)
        The number of each row's set; sets are numbered as they appear.
    squared : ndarray of shape (n_sets, n_sets)
        Their squared distances; without rows if nobody needs them.
    """

    of_row: NDArray[np.uint32]
    squared: NDArray[np.float64]

    @classmethod
    def none(cls) -> LabelSets:
        """Return what a tree needs that compares no sets."""
        return cls(np.empty(0, dtype=np.uint32), np.empty((0, 0)))

    @classmethod
    def of(
        cls,
        Y: sparse.csr_array[np.int32],
        label_weights: NDArray[np.float64],
        distance: Distance | None,
    ) -> LabelSets:
        """Return the sets of Y, numbered, and their distances unless `distance` is None."""
        of_row, first = number_sets(Y)
        if distance is None:
            return cls(of_row, np.empty((0, 0)))
        squared = distance.squared(Y[first], label_weights)
        return cls(of_row, np.ascontiguousarray(squared))


def number_sets(
    Y: sparse.csr_array[np.int32],
) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Return each row's set number, sets numbered as they appear, and each set's first row."""
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
    """Return the distinct label sets of y in the order in which they appear.

    This is the order of rows and columns that a matrix given as `criterion` of `PCTClassifier`
    must have. Sets include the ancestors of their labels.

    Parameters
    ----------
    y : array-like
        Label sets in any format of `ramify.labels.read_labels`.
    hierarchy : Hierarchy, optional
        The labels; None infers them as `PCTClassifier` does.

    Returns
    -------
    list of frozenset
        Every set once.

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
