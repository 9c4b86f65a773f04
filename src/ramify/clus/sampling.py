"""Draw the rows of test and validation sets that are fractions, and the folds of CLUS."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ramify.tree.java_random import JavaRandom

__all__ = ["draw_folds", "draw_fraction"]


def draw_fraction(n_rows: int, share: float, most: int | None = None) -> NDArray[np.int64]:
    """Return the rows that CLUS draws for a set that is a fraction of the rows.

    The draws do not depend on RandomSeed.

    Parameters
    ----------
    n_rows : int
        Number of rows to draw from.
    share : float
        The fraction.
    most : int, optional
        Maximum number of rows to draw.

    Returns
    -------
    ndarray of int
        The rows, in increasing order.

    Examples
    --------
    >>> draw_fraction(10, 0.3)
    array([0, 2, 8])
    """
    random = JavaRandom(0)
    free = list(range(n_rows))
    wanted = math.floor(n_rows * share + 0.5)
    wanted = wanted if most is None else min(wanted, most)
    chosen = [free.pop(random.next_int(len(free))) for _ in range(min(wanted, n_rows))]
    return np.array(sorted(chosen), dtype=np.int64)


def draw_folds(n_rows: int, n_folds: int, seed: int) -> list[NDArray[np.int64]]:
    """Return the rows of each fold of a cross-validation.

    A fold is drawn for each row; if it is full, the row goes to the next fold that is not. Once
    all folds have n_rows // n_folds rows, each may take one more of the remaining rows.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    n_folds : int
        Number of folds.
    seed : int
        RandomSeed.

    Returns
    -------
    list of ndarray of int
        The rows of each fold, in increasing order.

    Examples
    --------
    >>> [len(fold) for fold in draw_folds(10, 3, 0)]
    [3, 3, 4]
    """
    random = JavaRandom(seed)
    folds: list[list[int]] = [[] for _ in range(n_folds)]
    room = n_rows // n_folds
    for row in range(n_rows):
        fold = random.next_int(n_folds)
        if room == n_rows // n_folds and all(len(rows) >= room for rows in folds):
            # The first row for which all folds are full uses up one extra draw.
            room += 1
            fold = random.next_int(n_folds)
        while len(folds[fold]) >= room:
            fold = (fold + 1) % n_folds
        folds[fold].append(row)
    return [np.array(rows, dtype=np.int64) for rows in folds]
