"""Validate the parameters of trees and forests for several targets."""

from __future__ import annotations

from typing import Any

from ramify._validation import check_choice, check_number
from ramify.forest.members import check_max_samples
from ramify.multi_target.weights import check_target_weight
from ramify.tree.checks import check_min_samples, check_random_tests
from ramify.tree.parameters import is_list

__all__ = ["check_criterion", "check_forest", "check_tree"]


def check_tree(tree: Any) -> None:
    """Raise an error if a parameter of a tree, or of the trees of a forest, is invalid."""
    check_choice("splitter", tree.splitter, ("best", "random"))
    check_choice("threshold_at", tree.threshold_at, (None, "midpoint", "observed"))
    check_choice("nominal_tests", tree.nominal_tests, ("subset", "single", "nary"))
    if tree.max_depth is not None:
        check_number("max_depth", tree.max_depth, 0, whole=True)
    check_min_samples("min_samples_split", tree.min_samples_split, 2)
    check_min_samples("min_samples_leaf", tree.min_samples_leaf, 1)
    for name in ("min_weight", "min_impurity_decrease"):
        check_number(name, getattr(tree, name), 0)
    check_target_weight(tree.target_weight)
    _check_level(tree.f_test)
    if tree.splitter == "random":
        check_random_tests(tree.threshold_at, tree.nominal_tests)
    if tree.clus_compat:
        _check_clus(tree)


def check_forest(forest: Any) -> None:
    """Raise an error if a parameter that only forests have is invalid."""
    check_number("n_estimators", forest.n_estimators, 1, whole=True)
    check_max_samples(forest.max_samples)
    for name, off in (("max_samples", None), ("oob_score", False)):
        value = getattr(forest, name)
        if value not in (None, False) and not forest.bootstrap:
            raise ValueError(
                f"{name} must be {off} with bootstrap=False, got {value!r}: all trees use all "
                "rows. Set bootstrap=True to draw rows."
            )


def check_criterion(criterion: Any, f_test: Any) -> None:
    """Raise an error if a criterion for nominal targets is invalid."""
    check_choice("criterion", criterion, ("gini", "entropy", "gain_ratio"))
    if criterion != "gini" and f_test is not None:
        raise ValueError(
            f"f_test must be None with criterion={criterion!r}, got {f_test!r}: the F-test "
            "compares variances. Use criterion='gini', or omit f_test."
        )


def _check_level(f_test: Any) -> None:
    if is_list(f_test):
        raise ValueError(
            f"f_test must be a single level, got {f_test!r}. Pass one level, or choose it with "
            "scikit-learn's GridSearchCV."
        )
    if f_test is not None:
        check_number("f_test", f_test, 1e-12, 1)


def _check_clus(tree: Any) -> None:
    for name, value, why in (
        ("redraw", False, "CLUS draws the features of a node only once"),
        ("splitter", "best", "CLUS draws random thresholds with a different generator"),
    ):
        found = getattr(tree, name)
        if found != value:
            raise ValueError(
                f"{name} must be {value!r} with clus_compat=True, got {found!r}: {why}. Use "
                f"{name}={value!r}, or clus_compat=False."
            )
