"""Counts of the values of a column, which can be added up over partitions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["ValueCounts"]

_MAGNITUDE = np.int64(2**63 - 1)  # all bits but the sign


def _flip(bits: NDArray[np.int64]) -> NDArray[np.int64]:
    """Convert the bits of floats to integers in the same order, and back."""
    return np.asarray(bits ^ ((bits >> np.int64(63)) & _MAGNITUDE), dtype=np.int64)


@dataclass(frozen=True)
class ValueCounts:
    """How often each value of a numeric column occurs, or each interval of values.

    If the bits of floats are read as integers, these have the same order. An interval consists of
    the integers that agree in all but the last `level` bits. `level` is the smallest number that
    leaves at most `limit` intervals. It depends only on the set of all values: adding up
    partitions gives the same counts in any order and for any division of the rows. With at most
    `limit` distinct values, the counts are exact.

    Attributes
    ----------
    keys : ndarray of int64
        The intervals with rows, in increasing order.
    counts : ndarray of int64
        The number of rows in each interval.
    level : int
        Number of bits that are dropped from the keys.
    n_missing : int
        Number of rows whose value is missing.
    limit : int
        Maximum number of intervals.
    """

    keys: NDArray[np.int64]
    counts: NDArray[np.int64]
    level: int
    n_missing: int
    limit: int

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.keys.nbytes + self.counts.nbytes

    @classmethod
    def of(cls, values: Any, limit: int, n_zeros: int = 0) -> ValueCounts:
        """Count values.

        Parameters
        ----------
        values : array-like of shape (n,)
            Values, NaN where missing.
        limit : int
            Maximum number of intervals.
        n_zeros : int
            Number of additional rows with the value 0, for sparse columns.

        Returns
        -------
        ValueCounts
            The counts.

        Examples
        --------
        >>> counted = ValueCounts.of([0.5, 2.0, 0.5, float("nan")], 100)
        >>> counted.intervals()[0].tolist(), counted.counts.tolist(), counted.n_missing
        ([0.5, 2.0], [2, 1], 1)
        """
        cells = np.asarray(values, dtype=np.float64)
        present = cells[~np.isnan(cells)] + 0.0  # -0.0 becomes 0.0
        keys, counts = np.unique(_flip(present.view(np.int64)), return_counts=True)
        counted = cls(keys, counts.astype(np.int64), 0, len(cells) - len(present), limit)
        if n_zeros:
            zero = cls(np.zeros(1, np.int64), np.array([n_zeros], np.int64), 0, 0, limit)
            return counted + zero
        return counted._within_limit()

    def __add__(self, other: ValueCounts) -> ValueCounts:
        level = max(self.level, other.level)
        keys = np.concatenate(
            [part.keys >> np.int64(level - part.level) for part in (self, other)]
        )
        merged, place = np.unique(keys, return_inverse=True)
        counts = np.zeros(len(merged), dtype=np.int64)
        np.add.at(counts, place, np.concatenate([self.counts, other.counts]))
        n_missing = self.n_missing + other.n_missing
        return ValueCounts(merged, counts, level, n_missing, self.limit)._within_limit()

    def _within_limit(self) -> ValueCounts:
        if len(self.keys) <= self.limit:
            return self
        # Neighbours stay distinct as long as a bit in which they differ is left.
        differ = (self.keys[1:] ^ self.keys[:-1]).view(np.uint64)
        shift = 0
        while np.count_nonzero(differ >> np.uint64(shift)) >= self.limit:
            shift += 1
        keys = self.keys >> np.int64(shift)
        first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
        counts = np.add.reduceat(self.counts, first)
        return ValueCounts(keys[first], counts, self.level + shift, self.n_missing, self.limit)

    def intervals(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the smallest and the largest number of each interval, in increasing order."""
        low = self.keys << np.int64(self.level)
        high = low | np.int64((1 << self.level) - 1)
        high[high == -1] = -2  # -0.0, which is equal to the next key, does not occur
        return _flip(low).view(np.float64), _flip(high).view(np.float64)
