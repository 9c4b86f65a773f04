"""The random number generator of Java, and the folds that CLUS draws with it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "JavaRandom",
    "clus_folds",
]


class JavaRandom:
    """The linear congruential generator java.util.Random.

    Parameters
    ----------
    seed : int
        The seed.

    Examples
    --------
    >>> random = JavaRandom(0)
    >>> [random.next_int(10) for _ in range(5)]
    [0, 8, 9, 7, 5]
    """

    _MASK = (1 << 48) - 1

    def __init__(self, seed: int) -> None:
        self._state = (seed ^ 0x5DEECE66D) & self._MASK

    @classmethod
    def from_state(cls, state: int) -> JavaRandom:
        """Return a generator that continues from a state."""
        random = cls(0)
        random._state = state
        return random

    @property
    def state(self) -> int:
        """The 48-bit state, which determines all further numbers."""
        return self._state

    def _next(self, bits: int) -> int:
        self._state = (self._state * 0x5DEECE66D + 0xB) & self._MASK
        value = self._state >> (48 - bits)
        return value - (1 << bits) if value >> (bits - 1) and bits == 32 else value

    def next_int(self, bound: int | None = None) -> int:
        """Return an integer in [0, bound), or any signed 32-bit integer if `bound` is None."""
        if bound is None:
            return self._next(32)
        if bound & -bound == bound:
            return (bound * self._next(31)) >> 31
        while True:
            bits = self._next(31)
            value = bits % bound
            # Java detects an overflow of this sum, to reject draws that would not be uniform.
            if bits - value + (bound - 1) < 1 << 31:
                return value


def clus_folds(n_rows: int, n_folds: int) -> list[NDArray[np.int64]]:
    """Return the rows of each fold as CLUS draws them to choose an F-test level.

    A fold is drawn for each row; if it is full, the row goes to the next fold that is not. Once
    all folds have n_rows // n_folds rows, each may take one more of the remaining rows.

    Returns: the rows of each fold, in increasing order.

    Examples
    --------
    >>> [len(fold) for fold in clus_folds(10, 3)]
    [3, 3, 4]
    """
    random = JavaRandom(0)
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
