"""Check the parameters of trees and forests, which mean the same in all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ramify._base.measuring import read_measure
from ramify._validation import check_choice, check_folds, check_number
from ramify.trees.criteria import find_criterion
from ramify.trees.sampling import check_max_samples
from ramify.trees.targets import check_target_weight

__all__ = [
    "check_min_samples",
    "check_parameters",
    "is_list",
    "mixes_features",
]


Check = Callable[[str, Any], None]


def is_list(value: Any) -> bool:
    """Return whether a parameter is a list of values to choose from."""
    return isinstance(value, list | tuple | np.ndarray)


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


def _one_of(*choices: str | None) -> Check:
    return lambda name, value: check_choice(name, value, choices)


def _number(low: float, high: float = np.inf, *, whole: bool = False) -> Check:
    return lambda name, value: check_number(name, value, low, high, whole=whole)


def _rows(at_least: int) -> Check:
    return lambda name, value: check_min_samples(name, value, at_least)


def _measure(name: str, value: Any) -> None:
    read_measure(value, name)


def _optional(check: Check) -> Check:
    return lambda name, value: None if value is None else check(name, value)


_CHECKS: dict[str, Check] = {
    "n_estimators": _number(1, whole=True),
    "prototype": _one_of("mean", "medoid"),
    "weighting": _one_of("avg", "sum", "min", "max"),
    "splitter": _one_of("best", "random"),
    "threshold_at": _one_of(None, "midpoint", "observed"),
    "nominal_tests": _one_of("subset", "single", "nary"),
    "missing": _one_of(None, "learn", "branch", "divide"),
    "pruning_measure": _measure,
    "pruning_confidence": _number(1e-6, 0.5),
    "pruning_factor": _number(0),
    "w0": _optional(_number(0)),
    "smoothing": _number(0, 1e12),
    "max_depth": _optional(_number(0, whole=True)),
    "min_samples_split": _rows(2),
    "min_samples_leaf": _rows(1),
    "min_weight": _number(0),
    "min_impurity_decrease": _number(0),
    "cv": lambda _, value: check_folds(value),
    "target_weight": lambda _, value: check_target_weight(value),
    "max_samples": lambda _, value: check_max_samples(value),
}


def check_parameters(estimator: Any) -> None:
    """Raise an error if a parameter is invalid; estimators lack some of the parameters."""
    for name, check in _CHECKS.items():
        if hasattr(estimator, name):
            check(name, getattr(estimator, name))
    _check_f_test(estimator)
    _check_supervision(estimator)
    if estimator.splitter == "random":
        _check_random_tests(getattr(estimator, "threshold_at", None), estimator.nominal_tests)
    if not getattr(estimator, "bootstrap", True):
        _check_no_bootstrap(estimator)
    estimator._conventions.check(estimator)


def why_not_unknown(estimator: Any) -> str | None:
    """Return which parameter of a tree or ensemble requires that all labels are known, or None."""
    core, criterion = find_criterion(estimator.criterion).core, estimator.criterion
    unsupported = {
        f"criterion={criterion!r} requires all labels. Use criterion='variance'": (
            core == "variance"
        ),
        "prototype='medoid' requires all labels. Use prototype='mean'": (
            getattr(estimator, "prototype", "mean") == "mean"
        ),
        "smoothing requires all labels. Use smoothing=0": estimator.smoothing == 0,
        "pruning='pessimistic' requires all labels. Use pruning=None": (
            getattr(estimator, "pruning", None) != "pessimistic"
        ),
        "a list of levels of f_test requires all labels. Use one level": (
            not is_list(estimator.f_test)
        ),
        "label_weight='balanced' requires all labels. Use label_weight=None": (
            not isinstance(estimator.label_weight, str)
        ),
        "class_weight requires all labels. Use class_weight=None": estimator.class_weight is None,
        "oob_score requires all labels. Use oob_score=False": (
            not getattr(estimator, "oob_score", False)
        ),
        "CLUS does not support it. Use clus_compat=False": (
            not estimator._conventions.clus
            or (criterion == "variance" and mixes_features(estimator))
        ),
    }
    return next((why for why, fits in unsupported.items() if not fits), None)


def _check_f_test(estimator: Any) -> None:
    f_test, criterion = estimator.f_test, getattr(estimator, "criterion", "variance")
    if is_list(f_test) and not hasattr(estimator, "cv"):
        raise ValueError(
            f"f_test must be a single level, got {f_test!r}: only PCTClassifier accepts a list. "
            "Pass one level, or choose it with scikit-learn's GridSearchCV."
        )
    levels = f_test if is_list(f_test) else [f_test]
    if len(levels) == 0:
        raise ValueError(
            f"f_test must be a level or a non-empty list of levels, got {f_test!r}. Pass at least "
            "one level."
        )
    for level in levels:
        if level is not None:
            check_number("f_test", level, 1e-12, 1)
    if f_test is not None and find_criterion(criterion).is_entropy:
        raise ValueError(
            f"f_test must be None with criterion={criterion!r}, got {f_test!r}: the F-test "
            "compares variances. Use f_test=None, or another criterion, such as 'gini'."
        )


def mixes_features(estimator: Any) -> bool:
    """Return whether features count in the impurity of a tree or ensemble, or may."""
    supervision = getattr(estimator, "supervision", 1.0)
    return is_list(supervision) or bool(supervision != 1)


def _check_supervision(estimator: Any) -> None:
    given: Any = getattr(estimator, "supervision", 1.0)
    parts: list[Any] = list(given) if is_list(given) else [given]
    if not parts:
        raise ValueError(
            f"supervision must be a number or a non-empty list of numbers, got {given!r}. Pass "
            "at least one."
        )
    for part in parts:
        check_number("supervision", part, 0, 1)
    if mixes_features(estimator) and estimator._conventions.clus:
        if is_list(given):
            raise ValueError(
                f"supervision must be one number with clus_compat=True, got {given!r}: CLUS "
                "chooses it on other folds. Pass one number, or use clus_compat=False."
            )
        if hasattr(estimator, "n_estimators"):
            raise ValueError(
                f"supervision must be 1 in ensembles with clus_compat=True, got {given!r}: only "
                "single trees equal those of CLUS. Use PCTClassifier, or clus_compat=False."
            )
    why = why_not_unknown(estimator) if any(part != 1 for part in parts) else None
    if why is not None:
        raise ValueError(
            f"supervision must be 1 with parameters that require all labels, got {given!r}: {why}."
        )


def _check_random_tests(threshold_at: str | None, nominal_tests: str) -> None:
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


def _check_no_bootstrap(forest: Any) -> None:
    for name, off in (("max_samples", None), ("oob_score", False)):
        value = getattr(forest, name)
        if value not in (None, False):
            raise ValueError(
                f"{name} must be {off} with bootstrap=False, got {value!r}: all trees use all "
                "rows. Set bootstrap=True to draw rows."
            )
