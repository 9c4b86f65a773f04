"""Draw the rows of test and validation sets that are fractions of the training set."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ramify.tree.java_random import JavaRandom

__all__ = ["draw_fraction"]


def draw_fraction(n_rows: int, share: float, seed: int) -> NDArray[np.int64]:
    """Return the rows that CLUS draws for a set that is a fraction of the rows.

    Examples
    --------
    >>> len(draw_fraction(10, 0.3, 0))
    3
    """
    random = JavaRandom(seed)
    wanted = round(n_rows * share)
    chosen: set[int] = set()
    while len(chosen) < wanted:
        chosen.add(random.next_int(n_rows))
    return np.array(sorted(chosen), dtype=np.int64)
