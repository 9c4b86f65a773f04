"""Weights of targets in the criterion, which make targets of different scales count equally."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify._messages import did_you_mean

__all__ = [
    "check_target_weight",
    "divide",
    "read_target_weight",
    "weigh_classes",
    "weigh_numbers",
]


# A standard deviation below this fraction of the mean is the rounding error of a constant.
_CONSTANT = 1e-13


def check_target_weight(target_weight: Any) -> None:
    """Raise an error unless `target_weight` is None, numbers or a mapping of names to numbers."""
    if target_weight is None:
        return
    values = target_weight.values() if isinstance(target_weight, Mapping) else target_weight
    try:
        weights = np.array(list(values), dtype=np.float64)
    except (TypeError, ValueError):
        weights = np.array([np.nan])
    if weights.ndim != 1 or not ((weights >= 0) & (weights < np.inf)).all():
        raise ValueError(
            "target_weight must be None, one number >= 0 per target, or a dict of target names to "
            f"numbers, got {target_weight!r}."
        )
    if len(weights) and not isinstance(target_weight, Mapping) and not weights.any():
        raise ValueError(
            f"target_weight must not be zero for all targets, got {target_weight!r}. Give at "
            "least one target a positive weight."
        )


def read_target_weight(
    target_weight: Any, n_targets: int, names: NDArray[Any] | None
) -> NDArray[np.float64]:
    """Return one factor per target.

    Examples
    --------
    >>> read_target_weight({"height": 2.0}, 2, np.array(["height", "width"]))
    array([2., 1.])
    """
    if target_weight is None:
        return np.ones(n_targets)
    if not isinstance(target_weight, Mapping):
        factors = np.array(list(target_weight), dtype=np.float64)
        if len(factors) != n_targets:
            raise ValueError(
                f"target_weight must have one number per target, got {len(factors)} numbers for "
                f"{n_targets} targets."
            )
        return factors
    known = [] if names is None else [str(name) for name in names]
    factors = np.ones(n_targets)
    for name, factor in target_weight.items():
        if str(name) not in known:
            where = "y has no column names" if names is None else "not a column of y"
            raise ValueError(
                f"target_weight has the unknown target {name!r}: {where}."
                f"{did_you_mean(name, known)} Pass a data frame as y, or a list of numbers."
            )
        factors[known.index(str(name))] = float(factor)
    if not factors.any():
        raise ValueError(
            f"target_weight must not be zero for all targets, got {target_weight!r}. Give at "
            "least one target a positive weight."
        )
    return factors


def weigh_numbers(
    values: NDArray[np.float64], sample_weight: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the reciprocal of the variance of each target, and the origin of its sums.

    `values`: numbers, with NaN for missing values.
    """
    known = ~np.isnan(values)
    weight = np.where(known, sample_weight[:, None], 0.0)
    filled = np.where(known, values, 0.0)
    n_known = weight.cumsum(axis=0)[-1]
    n_known = np.where(n_known > 0, n_known, 1.0)
    origin = (weight * filled).cumsum(axis=0)[-1] / n_known
    spread = (weight * (filled - origin) ** 2).sum(axis=0)
    scale = np.abs(filled).max(axis=0)
    spread = np.where(spread <= n_known * (_CONSTANT * scale) ** 2, 0.0, spread)
    return divide(n_known, spread), origin


def weigh_classes(
    codes: NDArray[np.float64], sample_weight: NDArray[np.float64], n_classes: list[int]
) -> NDArray[np.float64]:
    """Return the reciprocal of the Gini index of each target, 1 for constant targets."""
    gini = np.empty(len(n_classes))
    for i, n in enumerate(n_classes):
        known = ~np.isnan(codes[:, i])
        counts = np.bincount(
            codes[known, i].astype(np.int64), weights=sample_weight[known], minlength=n
        )
        share = counts / max(counts.sum(), np.finfo(float).tiny)
        gini[i] = 1.0 - float(np.sum(share * share))
    return divide(1.0, np.where(gini > _CONSTANT, gini, 0.0))


def divide(numerator: Any, denominator: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return quotients; 1 where the denominator is not positive."""
    positive = denominator > 0
    quotient = numerator / np.where(positive, denominator, 1.0)
    return np.where(positive, quotient, 1.0)
