"""Criteria and label weights of trees: validate them and convert them for the core."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify._validation import check_choice
from ramify.hierarchy.hierarchy import Hierarchy
from ramify.tree.distances import DISTANCES, Distance, check_distance

__all__ = [
    "balanced_factors",
    "check_criterion",
    "check_label_weight",
    "clus_multilabel_weights",
    "find_label_weights",
    "name_criterion",
    "read_distance",
]

_MAX_WEIGHT = 1e100
_BY_LABEL = ("variance", "gini", "entropy", "gain_ratio")


def name_criterion(criterion: Any) -> str:
    """Return the name of a criterion in GrowthPlan: "distance" for all distances."""
    by_label = isinstance(criterion, str) and criterion in _BY_LABEL
    return criterion if by_label else "distance"


def check_criterion(criterion: Any, f_test: Any, *, squared: bool, clus: bool) -> None:
    """Raise an error if a criterion is invalid, or not supported by the other parameters."""
    if isinstance(criterion, np.ndarray | list | tuple):
        check_distance(criterion)
    elif not callable(criterion):
        check_choice("criterion", criterion, _BY_LABEL + DISTANCES)
    name = name_criterion(criterion)
    if f_test is not None and name in ("entropy", "gain_ratio"):
        raise ValueError(
            f"f_test must be None with criterion={criterion!r}, got {f_test!r}: the F-test "
            "compares variances. Use f_test=None, or another criterion, such as 'variance'."
        )
    if not squared and name != "distance":
        raise ValueError(
            f"squared_distances must be True with criterion={criterion!r}, got False: it is not "
            "a distance between label sets. Use squared_distances=True, or another criterion, "
            "such as 'euclidean'."
        )
    if clus and name == "distance":
        raise ValueError(
            "criterion must be 'variance', 'gini', 'entropy' or 'gain_ratio' with "
            f"clus_compat=True, got {criterion!r}. Set clus_compat=False to use distances."
        )


def read_distance(
    criterion: Any, hierarchy: Hierarchy, *, squared: bool = True
) -> Distance | None:
    """Return the distance of a validated criterion, or None if it is not a distance."""
    if name_criterion(criterion) != "distance":
        return None
    if isinstance(criterion, str) or callable(criterion):
        return Distance(criterion, hierarchy.labels, 2 if squared else 1)
    return Distance(check_distance(criterion))


def check_label_weight(label_weight: Any, class_weight: Any) -> None:
    """Raise an error if label weights are invalid or passed under both names."""
    if label_weight is not None and class_weight is not None:
        raise ValueError(
            "label_weight and class_weight must not both be set: they are aliases. Pass only one "
            "of them."
        )
    for name, value in (("label_weight", label_weight), ("class_weight", class_weight)):
        if isinstance(value, str) and value != "balanced":
            raise ValueError(
                f"{name} must be 'balanced', a dict of label to float or None, got {value!r}."
            )
    if class_weight is not None and not isinstance(class_weight, str | dict):
        raise ValueError(
            f"class_weight must be 'balanced', a dict of label to float or None, got "
            f"{class_weight!r}. Pass an array as label_weight."
        )


def find_label_weights(
    hierarchy: Hierarchy, w0: float, weighting: str, label_weight: Any
) -> NDArray[np.float64]:
    """Return the weight of each label: its weight in the hierarchy times its factor.

    Parameters
    ----------
    hierarchy : Hierarchy
        The label hierarchy.
    w0, weighting, label_weight
        As in `PCTClassifier`, except that "balanced" is not accepted; see `balanced_factors`.

    Returns
    -------
    ndarray of shape (n_labels,)
        Label weights. A top-level label has weight 1 times its factor.
    """
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

    Parameters
    ----------
    Y : csr_array of shape (n, n_labels)
        Labels, including all ancestors.
    weights : ndarray of shape (n,)
        Sample weights.

    Returns
    -------
    ndarray of shape (n_labels,)
        n / (n_labels * n_c) for a label c, where n is the sum of all sample weights and n_c the
        sum over the rows with the label; 0 for labels without rows.

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


def clus_multilabel_weights(
    Y: sparse.csr_array[np.int32], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the weights of flat labels in CLUS: 2 divided by the Gini index at the root."""
    positive = np.asarray(Y.T @ weights).ravel() / weights.sum()
    gini = 2 * positive * (1 - positive)
    return 2 / np.where(gini > 0, gini, 1.0)
