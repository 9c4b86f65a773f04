"""Critical values of the F-test for splits, by degrees of freedom."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

__all__ = [
    "clus_critical_values",
    "critical_values",
]


# Beyond this many degrees of freedom, the critical value is constant to four digits.
_LARGEST = 10_000

# The table of CLUS: values for 1, 2, ... degrees of freedom, then steps of (largest degrees of
# freedom, value), then the value for all larger degrees of freedom.
_CLUS_TABLE: dict[float, tuple[str, tuple[tuple[int, float], ...], float]] = {
    0.1: (
        "39.8161 8.5264 5.5225 4.5369 4.0804 3.7636 3.61 3.4596 3.3489 3.2761 3.24 3.1684 3.1329 "
        "3.0976 3.0625 3.0625 3.0276 2.9929 2.9929 2.9584",
        ((30, 2.9), (40, 2.86), (120, 2.79)),
        2.7,
    ),
    0.05: (
        "161.0 18.5 10.1 7.71 6.61 5.99 5.59 5.32 5.12 4.96 4.84 4.75 4.67 4.6 4.54 4.49 4.45 "
        "4.41 4.38 4.35 4.32 4.3 4.28 4.26 4.24 4.23 4.21 4.2 4.18 4.17",
        ((40, 4.08), (60, 4.00), (120, 3.92)),
        3.84,
    ),
    0.01: (
        "4052 98.5 34.1 21.2 16.3 13.7 12.2 11.3 10.6 10.0 9.65 9.33 9.07 8.86 8.68 8.53 8.40 "
        "8.29 8.18 8.1 8.02 7.95 7.88 7.82 7.77 7.72 7.68 7.64 7.6 7.56",
        ((40, 7.31), (60, 7.08), (120, 6.85)),
        6.63,
    ),
    0.005: (
        "15876 198.81 55.5025 31.36 22.7529 18.6624 16.2409 14.6689 13.6161 12.8164 12.25 11.7649 "
        "11.2896 11.0889 10.8241 10.5625 10.3684 10.24 10.0489 9.9225 9.8596 9.7344 9.61 9.5481 "
        "9.4864 9.4249 9.3636 9.3025 9.2416 9.1809",
        ((40, 8.82), (60, 8.47), (120, 8.18)),
        7.90,
    ),
    0.001: (
        "405769 998.56 166.41 74.1321 47.0596 35.5216 29.16 25.4016 22.8484 21.0681 19.7136 "
        "18.6624 17.8084 17.1396 16.5649 16.0801 15.6025 15.3664 15.0544 14.8225 14.5924 14.3641 "
        "14.2129 13.9876 13.8384 13.7641 13.6161 13.4689 13.3956 13.3225",
        ((40, 12.60), (60, 11.98), (120, 11.36)),
        10.82,
    ),
}


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
    largest = int(min(max(weight, 2), _LARGEST))
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


def clus_critical_values(level: float) -> NDArray[np.float64]:
    """Return the critical values used by CLUS.

    Examples
    --------
    >>> clus_critical_values(0.01)[[1, 35, -1]].tolist()
    [4052.0, 7.31, 6.63]
    """
    if abs(level - 1.0) < 0.01:
        return np.empty(0)
    for known, (listed, steps, beyond) in _CLUS_TABLE.items():
        if abs(level - known) / known < 0.01:
            values = [np.inf, *map(float, listed.split())]
            for largest, value in steps:
                values.extend([value] * (largest + 1 - len(values)))
            return np.array([*values, beyond])
    limit = float(special.stdtrit(1e5, 1 - level / 2) ** 2)
    quantiles = special.stdtrit(np.arange(3, _LARGEST), 1 - level / 2) ** 2
    close = int(np.argmax(quantiles <= 1.05 * limit)) + 1
    return np.concatenate([[np.inf, 0.0, 0.0], quantiles[:close], [limit]])
