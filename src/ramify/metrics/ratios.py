"""Ratios of counts and their means, with a defined value for 0/0."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

ZeroDivision: TypeAlias = float | Literal["agree"]
Vector: TypeAlias = NDArray[np.float64]


def ratio(
    numerator: Vector, denominator: Vector, other: Vector, zero_division: ZeroDivision
) -> Vector:
    """Divide; if the denominator is 0, "agree" gives 1 if `other` is 0 as well and 0 otherwise."""
    filled: Vector
    if isinstance(zero_division, str):
        if zero_division != "agree":
            raise ValueError(f"zero_division must be 'agree' or a number, got {zero_division!r}.")
        filled = (other == 0).astype(np.float64)
    else:
        filled = np.full(len(numerator), float(zero_division))
    np.divide(numerator, denominator, out=filled, where=denominator > 0)
    return filled


def precision_recall_f1(
    true: Vector, predicted: Vector, shared: Vector, zero_division: float
) -> tuple[Vector, Vector, Vector]:
    """Precision, recall and F1 from the counts of true, predicted and shared labels."""
    return (
        ratio(shared, predicted, true, zero_division),
        ratio(shared, true, predicted, zero_division),
        ratio(2 * shared, true + predicted, true, zero_division),
    )


def mean_defined(values: Vector, weights: Vector | None = None) -> float:
    """Weighted mean of the values that are not NaN; NaN if there are none."""
    weights = np.ones(len(values)) if weights is None else weights
    defined = ~np.isnan(values) & (weights > 0)
    if not defined.any():
        return np.nan
    return float(np.average(values[defined], weights=weights[defined]))
