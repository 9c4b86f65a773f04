"""Critical values of the F-test for splits, by degrees of freedom."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

__all__ = [
    "MOST_FREEDOM",
    "critical_values",
]


# Beyond this many degrees of freedom, the critical value is constant to four digits.
MOST_FREEDOM = 10_000


def critical_values(level: float, weight: float) -> NDArray[np.float64]:
    """Return the critical values that F(1, df) exceeds with probability `level`.

    Returns: empty for level 1.

    Examples
    --------
    >>> print(critical_values(0.05, 12)[10].round(3))
    4.965
    """
    if level >= 1:
        return np.empty(0)
    largest = int(min(max(weight, 2), MOST_FREEDOM))
    # Round the length up to let thousands of small trees share one cached table.
    return _table(level, 1 << largest.bit_length())[: largest + 1]


@lru_cache(maxsize=64)
def _table(level: float, length: int) -> NDArray[np.float64]:
    """Return the critical values for fewer than `length` degrees of freedom."""
    freedom = np.arange(1, length)
    # The square of Student's t with df degrees of freedom has this F distribution.
    exact = special.stdtrit(freedom, 1 - level / 2) ** 2
    values = np.concatenate([[np.inf], exact])
    values.flags.writeable = False
    return values
