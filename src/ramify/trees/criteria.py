"""Criteria and label weights of trees: validate them and convert them for the core."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify._validation import check_choice
from ramify.labels.encoding import read_labels
from ramify.labels.hierarchy import Hierarchy

_MAX_WEIGHT = 1e100
_FOR_LABEL_SETS = 0.75  # as in CLUS
_FOR_PATHS = 4.0
_LARGEST_SPREAD = 1e30


@dataclass(frozen=True)
class Criterion:
    """A criterion in terms of the core."""

    core: str  # the criterion of the core
    core_of_classes: str  # the same if every row has one class of several
    # The factor of scores for labels. The Gini index of a label is twice its variance; that of a
    # class variable is the sum of the variances of its classes.
    factor: float = 1.0
    c45: bool = False  # whether tests are chosen as in C4.5

    def core_options(self, *, exclusive: bool = False, table: bool = False) -> dict[str, Any]:
        """Return the options of the core for labels, exclusive classes, or a table of targets."""
        return {
            "criterion": self.core_of_classes if exclusive else self.core,
            "c45": self.c45,
            "score_factor": 1.0 if exclusive or table else self.factor,
            "exclusive": exclusive,
        }

    @property
    def is_entropy(self) -> bool:
        """Whether the impurity is an entropy; all others are variances, which F-tests compare."""
        return self.core == "entropy"


_CRITERIA = {
    "variance": Criterion("variance", "variance"),
    "gini": Criterion("variance", "variance", factor=2.0),
    "entropy": Criterion("entropy", "class_entropy"),
    "gain_ratio": Criterion("entropy", "class_entropy", c45=True),
}
_DISTANCE = Criterion("distance", "distance")


def find_criterion(criterion: Any) -> Criterion:
    """Return a criterion by its name; all others are distances."""
    return _CRITERIA.get(criterion, _DISTANCE) if isinstance(criterion, str) else _DISTANCE


def check_criterion(tree: Any) -> None:
    """Raise an error if the criterion of a tree for labels is invalid or not supported."""
    criterion, squared = tree.criterion, getattr(tree, "squared_distances", True)
    if isinstance(criterion, np.ndarray | list | tuple):
        check_distance(criterion)
    elif not callable(criterion):
        check_choice("criterion", criterion, (*_CRITERIA, *DISTANCES))
    if not squared and find_criterion(criterion) is not _DISTANCE:
        raise ValueError(
            f"squared_distances must be True with criterion={criterion!r}, got False: it is not "
            "a distance between label sets. Use squared_distances=True, or another criterion, "
            "such as 'euclidean'."
        )


def read_distance(
    criterion: Any, hierarchy: Hierarchy, *, squared: bool = True
) -> Distance | None:
    """Return the distance of a validated criterion, or None if it is not a distance."""
    if find_criterion(criterion) is not _DISTANCE:
        return None
    if isinstance(criterion, str) or callable(criterion):
        return Distance(criterion, hierarchy.labels, 2 if squared else 1)
    return Distance(check_distance(criterion))


def check_label_weight(label_weight: Any) -> None:
    """Raise an error if label weights are an unknown name."""
    if isinstance(label_weight, str) and label_weight != "balanced":
        raise ValueError(
            "label_weight must be 'balanced', an array, a dict of label to float or None, got "
            f"{label_weight!r}."
        )


def weight_of_children(tree: Any) -> float:
    """Return the weight of a label relative to its parent, as passed or as found from the rows."""
    return float(getattr(tree, "w0_", _FOR_LABEL_SETS) if tree.w0 is None else tree.w0)


def usual_w0(hierarchy: Hierarchy, row_kind: str) -> float:
    """Return the weight of a label relative to its parent that is meant by w0=None.

    >>> hierarchy = Hierarchy.from_paths(["animal/cat", "plant"])
    >>> usual_w0(hierarchy, "path"), usual_w0(hierarchy, "labels")
    (4.0, 0.75)
    """
    if row_kind != "path":
        return _FOR_LABEL_SETS
    # Sums of weights of hundreds of levels would not be exact.
    return float(min(_FOR_PATHS, _LARGEST_SPREAD ** (1 / max(hierarchy.depth, 1))))


def find_label_weights(
    hierarchy: Hierarchy, w0: float, weighting: str, label_weight: Any
) -> NDArray[np.float64]:
    """Return the weight of each label: its weight in the hierarchy times its factor."""
    # A common factor changes the impurities stored in a tree, but not its tests.
    label_weights = np.asarray(hierarchy.weights(w0, weighting))
    if w0 > 0:
        label_weights = label_weights / w0
    if label_weight is None:
        return _checked_weights(label_weights, hierarchy)
    if isinstance(label_weight, dict):
        factors = np.ones(hierarchy.n_labels)
        for label, factor in label_weight.items():
            factors[hierarchy.index(label)] = factor
    else:
        factors = np.asarray(label_weight, dtype=np.float64)
    if factors.shape != label_weights.shape:
        raise ValueError(
            f"label_weight must have shape {label_weights.shape}, got {factors.shape}. Pass one "
            "factor per label, or a dict."
        )
    bad = factors[~(np.isfinite(factors) & (factors >= 0))]
    if bad.size:
        raise ValueError(f"label_weight must be finite and non-negative, got {bad[0]}.")
    return _checked_weights(label_weights * factors, hierarchy)


def _checked_weights(
    label_weights: NDArray[np.float64], hierarchy: Hierarchy
) -> NDArray[np.float64]:
    """Refuse weights so large that sums over the rows overflow and no test can be found."""
    if label_weights.max() > _MAX_WEIGHT:
        largest = int(np.argmax(label_weights))
        raise ValueError(
            f"w0 and label_weight must give label weights of at most {_MAX_WEIGHT:g}, got "
            f"{label_weights[largest]:g} for label {hierarchy.labels[largest]!r} on level "
            f"{hierarchy.label_levels[largest]}. Pass smaller values, e.g. w0=0.75."
        )
    return label_weights


def balanced_factors(
    Y: sparse.csr_array[np.int32], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the factors of "balanced" label weights.

    `Y`: labels, including all ancestors.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> Y = sparse.csr_array([[1, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    >>> balanced_factors(Y, np.ones(4)).round(3)
    array([0.444, 0.667, 0.   ])
    """
    weight_with = np.asarray(Y.T @ weights, dtype=np.float64).ravel()
    factors = weights.sum() / (Y.shape[1] * np.where(weight_with > 0, weight_with, 1.0))
    return np.where(weight_with > 0, factors, 0.0)


# ---- distances between label sets -----------------------------------------------------------


DISTANCES = ("euclidean", "hamming", "jaccard", "matching")

# The distances between all pairs of this many sets take 3 GiB.
_MOST_SETS = 20_000


@dataclass(frozen=True)
class Distance:
    """A distance between label sets."""

    # One of `DISTANCES`, a function of two label sets, or a matrix over all distinct sets, which
    # is used as is.
    measure: str | Callable[[Any, Any], float] | NDArray[np.float64]
    labels: tuple[Any, ...] = ()  # the names of the labels, used if `measure` is a function
    power: int = 2  # whether the criterion averages distances or squared distances

    def between(
        self, sets: sparse.csr_array[np.int32], label_weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the distances, to the power of `power`, between all rows of `sets`.

        Returns: a symmetric, non-negative matrix with zeros on the diagonal.
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
    """The distinct label sets of the rows."""

    # The index of the label set of each row; sets are numbered in order of appearance.
    of_row: NDArray[np.uint32]
    # The values that the criterion averages; see `Distance.between`. Empty if not needed.
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
    >>> from ramify.trees import distinct_label_sets
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
