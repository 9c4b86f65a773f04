"""Derive the growth plan and the label weights from the parameters of a tree."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify.hierarchy.hierarchy import Hierarchy
from ramify.tree.criteria import (
    balanced_factors,
    clus_multilabel_weights,
    find_label_weights,
    name_criterion,
    read_distance,
)
from ramify.tree.plan import GrowthPlan, count_features

__all__ = ["TreeParameters", "is_list", "plan_growth", "weigh_labels"]


class TreeParameters(Protocol):
    """The parameters of `PCTClassifier` that determine how the tree is grown."""

    criterion: Any
    w0: float
    weighting: str
    squared_distances: bool
    prototype: str
    smoothing: float
    splitter: str
    max_depth: int | None
    min_samples_split: float
    min_samples_leaf: float
    min_weight: float
    min_impurity_decrease: float
    max_features: Any
    redraw: bool
    f_test: Any
    cv: Any
    pruning: str | None
    pruning_confidence: float
    pruning_measure: Any
    threshold_at: str | None
    nominal_tests: str
    label_weight: Any
    class_weight: Any
    n_jobs: int | None
    clus_compat: bool


def is_list(value: Any) -> bool:
    """Return whether a parameter is a list of values to choose from."""
    return isinstance(value, list | tuple | np.ndarray)


def plan_growth(
    tree: TreeParameters,
    hierarchy: Hierarchy,
    n_features: int,
    *,
    single_label: bool,
    seed: int = 0,
) -> GrowthPlan:
    """Return the growth plan for a tree with these parameters.

    Parameters
    ----------
    tree : TreeParameters
        Parameters validated by `ramify.tree.checks.check_tree`.
    hierarchy : Hierarchy
        The label hierarchy.
    n_features : int
        Number of features.
    single_label : bool
        Whether every row has one label. Without a hierarchy, the labels are then the classes of
        one variable.
    seed : int
        Seed for drawing features and thresholds.

    Returns
    -------
    GrowthPlan
        The plan; its `f_test` is None if a level has to be chosen from a list.
    """
    clus = None
    if tree.clus_compat:
        clus = "hierarchical" if _is_variance(tree) else "multilabel"
    wanted = count_features(tree.max_features, n_features, clus=tree.clus_compat)
    observed = "observed" if tree.clus_compat else "midpoint"
    return GrowthPlan(
        criterion=name_criterion(tree.criterion),
        exclusive=hierarchy.depth <= 1 and single_label,
        max_depth=tree.max_depth,
        min_samples_split=tree.min_samples_split,
        min_samples_leaf=tree.min_samples_leaf,
        min_weight=tree.min_weight,
        min_impurity_decrease=tree.min_impurity_decrease,
        max_features=0 if wanted == n_features else wanted,
        redraw=bool(tree.redraw),
        random_thresholds=tree.splitter == "random",
        midpoint=(tree.threshold_at or observed) == "midpoint",
        nominal_tests=tree.nominal_tests,
        f_test=tree.f_test if isinstance(tree.f_test, float | int) else None,
        seed=seed,
        n_jobs=tree.n_jobs,
        clus=clus,
        distance=read_distance(tree.criterion, hierarchy, squared=tree.squared_distances),
        prototype=tree.prototype,
        smoothing=float(tree.smoothing),
        inner_values=tree.pruning == "reduced_error",
        confidence=tree.pruning_confidence if tree.pruning == "pessimistic" else None,
    )


def weigh_labels(
    tree: TreeParameters,
    hierarchy: Hierarchy,
    Y: sparse.csr_array[np.int32],
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the weight of each label in the criterion.

    Parameters
    ----------
    tree : TreeParameters
        Parameters validated by `ramify.tree.checks.check_tree`.
    hierarchy : Hierarchy
        The label hierarchy.
    Y : csr_array of shape (n, n_labels)
        Labels of the training rows.
    weights : ndarray of shape (n,)
        Sample weights.

    Returns
    -------
    ndarray of shape (n_labels,)
        Label weights.
    """
    if tree.clus_compat and not _is_variance(tree):  # CLUS's multi-label mode
        by_gini = tree.criterion == "gini"
        return clus_multilabel_weights(Y, weights) if by_gini else np.ones(Y.shape[1])
    factors = tree.label_weight if tree.class_weight is None else tree.class_weight
    if isinstance(factors, str):
        factors = balanced_factors(Y, weights)
    return find_label_weights(hierarchy, tree.w0, tree.weighting, factors)


def _is_variance(tree: TreeParameters) -> bool:
    return isinstance(tree.criterion, str) and tree.criterion == "variance"
