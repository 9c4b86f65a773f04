"""What a tree reduces: its criterion read and checked, and what each label counts in it."""

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

_BY_LABEL = ("variance", "gini", "entropy", "gain_ratio")


def name_criterion(criterion: Any) -> str:
    """Return the criterion's name in a GrowthPlan: "distance" for all that compare sets."""
    by_label = isinstance(criterion, str) and criterion in _BY_LABEL
    return criterion if by_label else "distance"


def check_criterion(criterion: Any, f_test: Any, *, clus: bool) -> None:
    """Refuse what is no criterion, or none for an F-test or for CLUS's conventions."""
    if isinstance(criterion, np.ndarray | list | tuple):
        check_distance(criterion)
    elif not callable(criterion):
        check_choice("criterion", criterion, _BY_LABEL + DISTANCES)
    name = name_criterion(criterion)
    if f_test is not None and name in ("entropy", "gain_ratio"):
        raise ValueError(
            f"f_test is {f_test!r}, but the F-test compares variances and criterion is "
            f"{criterion!r}. Use another criterion, such as 'variance', or f_test=None."
        )
    if clus and name == "distance":
        raise ValueError(
            f"criterion is {criterion!r}, but CLUS has no such trees to compare with. Set "
            "clus_compat=False, or use 'variance', 'gini', 'entropy' or 'gain_ratio'."
        )


def read_distance(criterion: Any, hierarchy: Hierarchy) -> Distance | None:
    """Return the distance that a checked criterion compares label sets by, if it does."""
    if name_criterion(criterion) != "distance":
        return None
    if isinstance(criterion, str) or callable(criterion):
        return Distance(criterion, hierarchy.labels)
    return Distance(check_distance(criterion))


def check_label_weight(label_weight: Any, class_weight: Any) -> None:
    """Refuse two sets of factors at once, and names of factors that do not exist."""
    if label_weight is not None and class_weight is not None:
        raise ValueError(
            "label_weight and class_weight must not be given together, got both: they are two "
            "names of one parameter. Pass one of them."
        )
    for name, value in (("label_weight", label_weight), ("class_weight", class_weight)):
        if isinstance(value, str) and value != "balanced":
            raise ValueError(
                f"{name} must be 'balanced', a dict of label to factor or None, got {value!r}."
            )
    if class_weight is not None and not isinstance(class_weight, str | dict):
        raise ValueError(
            f"class_weight must be 'balanced', a dict of label to factor or None, got "
            f"{class_weight!r}. Pass an array as label_weight."
        )


def find_label_weights(
    hierarchy: Hierarchy, w0: float, weighting: str, label_weight: Any
) -> NDArray[np.float64]:
    """Return the weight of each label: its weight by depth, times a factor of the user's.

    Parameters
    ----------
    hierarchy : Hierarchy
        The labels.
    w0, weighting, label_weight
        As in `PCTClassifier`, but for "balanced"; see `balanced_factors`.

    Returns
    -------
    ndarray of shape (n_labels,)
        1 for a label at the top, times its factor.
    """
    # A common factor changes no tree, but the figures in it.
    label_weights = np.asarray(hierarchy.weights(w0, weighting))
    if w0 > 0:
        label_weights = label_weights / w0
    if label_weight is None:
        return label_weights
    if isinstance(label_weight, dict):
        factors = np.ones(hierarchy.n_labels)
        for label, factor in label_weight.items():
            factors[hierarchy.index(label)] = factor
    else:
        factors = np.asarray(label_weight, dtype=np.float64)
    if factors.shape != label_weights.shape or not (
        np.isfinite(factors).all() and (factors >= 0).all()
    ):
        raise ValueError(
            f"label_weight has shape {factors.shape} or a value that is negative or not "
            f"finite. Give {len(label_weights)} numbers of 0 or more, one per "
            "label, or a dict."
        )
    return label_weights * factors


def balanced_factors(
    Y: sparse.csr_array[np.int32], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the factors of "balanced" label weights.

    Parameters
    ----------
    Y : csr_array of shape (n, n_labels)
        Labels, closed upwards.
    weights : ndarray of shape (n,)
        Sample weights.

    Returns
    -------
    ndarray of shape (n_labels,)
        n / (n_labels * n_c) for a label c that rows of the weight n_c have, n being the weight of
        all rows; 0 for labels without rows.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> Y = sparse.csr_array([[1, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    >>> balanced_factors(Y, np.ones(4)).round(3)
    array([0.444, 0.667, 0.   ])
    """
    having = np.asarray(Y.T @ weights, dtype=np.float64).ravel()
    factors = weights.sum() / (Y.shape[1] * np.where(having > 0, having, 1.0))
    return np.where(having > 0, factors, 0.0)


def clus_multilabel_weights(
    Y: sparse.csr_array[np.int32], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return CLUS's weights of flat labels: a label's Gini reduction over its Gini at the root."""
    positive = np.asarray(Y.T @ weights).ravel() / weights.sum()
    gini = 2 * positive * (1 - positive)
    return 2 / np.where(gini > 0, gini, 1.0)
