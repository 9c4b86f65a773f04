"""Check the parameters of a tree, and derive its plan and label weights from them."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify._validation import check_choice, check_folds, check_number
from ramify.labels.hierarchy import Hierarchy
from ramify.trees.criteria import (
    balanced_factors,
    check_criterion,
    check_label_weight,
    clus_multilabel_weights,
    find_label_weights,
    name_criterion,
    read_distance,
)
from ramify.trees.plan import GrowthPlan, count_features
from ramify.trees.pruning import check_measure

__all__ = [
    "TreeParameters",
    "check_labelled",
    "check_min_samples",
    "check_random_tests",
    "check_tree",
    "is_list",
    "plan_growth",
    "weigh_labels",
]


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
    """Return the growth plan for a tree with these parameters."""
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
    """Return the weight of each label in the criterion."""
    if tree.clus_compat and not _is_variance(tree):  # CLUS's multi-label mode
        by_gini = tree.criterion == "gini"
        return clus_multilabel_weights(Y, weights) if by_gini else np.ones(Y.shape[1])
    factors = tree.label_weight if tree.class_weight is None else tree.class_weight
    if isinstance(factors, str):
        factors = balanced_factors(Y, weights)
    return find_label_weights(hierarchy, tree.w0, tree.weighting, factors)


def _is_variance(tree: TreeParameters) -> bool:
    return isinstance(tree.criterion, str) and tree.criterion == "variance"


# ---- checks of parameters -------------------------------------------------------------------


# Parameters without a counterpart in CLUS: name, the value that CLUS implies, and the reason.
_NOT_IN_CLUS = (
    ("prototype", "mean", "trees of CLUS predict means"),
    ("redraw", False, "CLUS draws the features of a node only once"),
    ("splitter", "best", "CLUS draws random thresholds with a different generator"),
)


def check_tree(tree: TreeParameters) -> None:
    """Raise an error if a parameter of a tree is invalid."""
    check_criterion(
        tree.criterion, tree.f_test, squared=tree.squared_distances, clus=tree.clus_compat
    )
    check_choice("prototype", tree.prototype, ("mean", "medoid"))
    check_choice("pruning", tree.pruning, (None, "pessimistic", "reduced_error"))
    check_choice("weighting", tree.weighting, ("avg", "sum", "min", "max"))
    check_choice("splitter", tree.splitter, ("best", "random"))
    check_choice("threshold_at", tree.threshold_at, (None, "midpoint", "observed"))
    check_choice("nominal_tests", tree.nominal_tests, ("subset", "single", "nary"))
    check_measure(tree.pruning_measure)
    check_number("pruning_confidence", tree.pruning_confidence, 1e-6, 0.5)
    check_number("w0", tree.w0, 0)
    check_number("smoothing", tree.smoothing, 0, 1e12)
    if tree.smoothing > 0 and tree.prototype != "mean":
        raise ValueError(
            f"smoothing must be 0 with prototype={tree.prototype!r}, got {tree.smoothing!r}: only "
            "means are smoothed. Use smoothing=0, or prototype='mean'."
        )
    if tree.max_depth is not None:
        check_number("max_depth", tree.max_depth, 0, whole=True)
    check_min_samples("min_samples_split", tree.min_samples_split, 2)
    check_min_samples("min_samples_leaf", tree.min_samples_leaf, 1)
    for name in ("min_weight", "min_impurity_decrease"):
        check_number(name, getattr(tree, name), 0)
    check_folds(tree.cv)
    check_label_weight(tree.label_weight, tree.class_weight)
    _check_levels(tree.f_test)
    if tree.splitter == "random":
        check_random_tests(tree.threshold_at, tree.nominal_tests)
    if tree.clus_compat:
        _check_clus(tree)


def check_labelled(
    plan: GrowthPlan, Y: sparse.csr_array[np.int32], weights: NDArray[np.float64]
) -> None:
    """Raise an error if CLUS would have no row to learn from."""
    labelled = np.diff(Y.indptr) > 0
    if plan.clus == "hierarchical" and not weights[labelled].any():
        raise ValueError(
            f"y must have a row with a label and a positive weight with clus_compat=True, got "
            f"none in {Y.shape[0]} row(s): CLUS ignores rows without labels. Use "
            "clus_compat=False to learn from them."
        )


def check_min_samples(name: str, value: Any, at_least: int) -> None:
    """Raise an error unless a value is a number of rows or a fraction strictly between 0 and 1."""
    kinds = (int, float, np.integer, np.floating)
    if isinstance(value, kinds) and not isinstance(value, bool):
        is_fraction = 0 < value < 1
        is_count = at_least <= value < np.inf and value == np.floor(value)
        if is_fraction or is_count:
            return
    raise ValueError(
        f"{name} must be an integer >= {at_least} or a fraction of the rows between 0 and 1, got "
        f"{value!r}."
    )


def _check_levels(f_test: Any) -> None:
    levels = f_test if is_list(f_test) else [f_test]
    if len(levels) == 0:
        raise ValueError(
            f"f_test must be a level or a non-empty list of levels, got {f_test!r}. Pass at least "
            "one level."
        )
    for level in levels:
        if level is not None:
            check_number("f_test", level, 1e-12, 1)


def check_random_tests(threshold_at: str | None, nominal_tests: str) -> None:
    """Raise an error if a parameter has no effect on random tests."""
    if threshold_at is not None:
        raise ValueError(
            f"threshold_at must be None with splitter='random', got {threshold_at!r}: "
            "thresholds are drawn between the smallest and the largest value of a node."
        )
    if nominal_tests == "single":
        raise ValueError(
            "nominal_tests must be 'subset' or 'nary' with splitter='random', got 'single': "
            "random tests of nominal features draw a set of categories."
        )


def _check_clus(tree: TreeParameters) -> None:
    by_variance = isinstance(tree.criterion, str) and tree.criterion == "variance"
    if tree.pruning is not None and (by_variance or tree.pruning != "pessimistic"):
        raise ValueError(
            f"pruning must be None with clus_compat=True, or 'pessimistic' with a criterion other "
            f"than 'variance', got {tree.pruning!r} with criterion={tree.criterion!r}: CLUS does "
            "not prune trees for a hierarchy. Use pruning=None, or clus_compat=False."
        )
    if tree.smoothing not in ((0, 1) if by_variance else (0,)):
        raise ValueError(
            f"smoothing must be 0 with clus_compat=True, or 1 with criterion='variance' "
            f"(MEstimate in CLUS), got {tree.smoothing!r} with criterion={tree.criterion!r}. Use "
            "smoothing=0, or clus_compat=False."
        )
    for name, value, why in _NOT_IN_CLUS:
        found = getattr(tree, name)
        if found != value:
            raise ValueError(
                f"{name} must be {value!r} with clus_compat=True, got {found!r}: {why}. Use "
                f"{name}={value!r}, or clus_compat=False."
            )
