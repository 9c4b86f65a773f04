"""Messages of whole numbers that are added up, and their sizes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Message", "add_messages"]

_TYPES = (np.int8, np.int16, np.int32)


@dataclass(frozen=True)
class Message:
    """A sum over partitions, in the smallest integer type that holds it.

    Attributes
    ----------
    numbers : ndarray of integers
        The sums.
    n_bytes : int
        The total size of this message and of all messages that were added up in it.
    """

    numbers: NDArray[Any]
    n_bytes: int

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.numbers.nbytes  # dask asks before it moves results

    @classmethod
    def of(cls, numbers: NDArray[np.int64], n_bytes: int = 0) -> Message:
        """Return a message.

        Parameters
        ----------
        numbers : ndarray of int64
            The numbers.
        n_bytes : int
            The size of the previous messages.

        Returns
        -------
        Message
            The numbers in the smallest type.

        Examples
        --------
        >>> import numpy as np
        >>> message = Message.of(np.array([3, -200], dtype=np.int64))
        >>> message.numbers.dtype, message.n_bytes
        (dtype('int16'), 4)
        """
        low, high = (int(numbers.min()), int(numbers.max())) if numbers.size else (0, 0)
        for dtype in _TYPES:
            limits = np.iinfo(dtype)
            if limits.min <= low and high <= limits.max:
                small = numbers.astype(dtype)
                return cls(small, n_bytes + small.nbytes)
        return cls(numbers, n_bytes + numbers.nbytes)


def add_messages(one: Message, other: Message) -> Message:
    """Add up the numbers of two messages of the same shape."""
    total = one.numbers.astype(np.int64)
    total += other.numbers
    return Message.of(total, one.n_bytes + other.n_bytes)
