"""The random number generator of Java, with which CLUS draws."""

from __future__ import annotations

__all__ = [
    "JavaRandom",
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
