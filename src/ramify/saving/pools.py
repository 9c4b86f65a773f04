"""Arrays end to end: all that share a name and a type in one member, taken out in order.

A forest has thousands of small arrays. Joined by their role they cost no header each and compress
well; a reader takes them out in the order in which they were put in, so that no byte can be
claimed twice.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify.saving.container import DamageError

__all__ = ["ArrayPools", "PoolReader", "is_plain", "read_npy"]

_SUFFIX = ".npy"
# What numpy writes for plain arrays, and nothing else: a stricter reader than numpy's, which
# evaluates a Python literal and allocates the shape it finds.
_HEADER = re.compile(
    rb"\{'descr': '([<|][biufUS]\d{1,9})', 'fortran_order': (False|True), "
    rb"'shape': \(((?:\d{1,18}, ?)*\d{0,18})\), \} *\n"
)
_MAX_CODE_POINT = 0x10FFFF


def is_plain(dtype: np.dtype[Any]) -> bool:
    """Tell whether arrays of a type are bytes and nothing else: numbers, bools, fixed strings."""
    return dtype.kind in "biuUS" or (dtype.kind == "f" and dtype.itemsize <= 8)


class ArrayPools:
    """Collects arrays to be saved."""

    def __init__(self) -> None:
        self._parts: dict[str, list[NDArray[Any]]] = {}

    def put(self, name: str, array: NDArray[Any]) -> None:
        """Append the elements of a plain array to the pool of a name, in C order.

        Parameters
        ----------
        name : str
            The pool; arrays of several types are joined in one that holds them all.
        array : ndarray
            The array.
        """
        flat = np.ascontiguousarray(array).reshape(-1)
        self._parts.setdefault(name, []).append(flat.astype(flat.dtype.newbyteorder("<")))

    def members(self) -> dict[str, bytes]:
        """Return the pools as the content of .npy files, by file name."""
        found = {}
        for name, parts in self._parts.items():
            buffer = io.BytesIO()
            joined = np.concatenate(parts)
            np.lib.format.write_array(buffer, joined, version=(1, 0), allow_pickle=False)
            found[name + _SUFFIX] = buffer.getvalue()
        return found


class PoolReader:
    """Hands out the arrays of the pools in the order in which they were put in.

    Parameters
    ----------
    members : mapping of str to bytes
        The members of a container; those that are no .npy files are left alone.
    """

    def __init__(self, members: Mapping[str, bytes]) -> None:
        self._pools = {
            name.removesuffix(_SUFFIX): read_npy(data)
            for name, data in members.items()
            if name.endswith(_SUFFIX)
        }
        self._taken = dict.fromkeys(self._pools, 0)

    def take(self, name: str, size: int) -> NDArray[Any]:
        """Return the next `size` elements of a pool, as an array of their own.

        Parameters
        ----------
        name : str
            The pool.
        size : int
            How many elements.

        Returns
        -------
        ndarray of shape (size,)
            A copy that may be written to.
        """
        if type(size) is not int or size < 0 or name not in self._pools:
            raise DamageError(f"it asks for {size!r} elements of {name!r}")
        start = self._taken[name]
        part = self._pools[name][start : start + size]
        if len(part) != size:
            raise DamageError(f"it asks for more elements of {name!r} than there are")
        self._taken[name] = start + size
        return part.astype(part.dtype.newbyteorder("="))

    def check_spent(self) -> None:
        """Refuse a file with elements that belong to nothing."""
        for name, pool in self._pools.items():
            if self._taken[name] != len(pool):
                raise DamageError(f"it has elements of {name!r} that nothing uses")


def read_npy(data: bytes) -> NDArray[Any]:
    """Read an array of plain elements without trusting the shape that its header claims.

    Parameters
    ----------
    data : bytes
        A .npy file of version 1.0.

    Returns
    -------
    ndarray
        A read-only view of `data`.

    Examples
    --------
    >>> import io
    >>> import numpy as np
    >>> buffer = io.BytesIO()
    >>> np.save(buffer, [1.0, 2.0])
    >>> read_npy(buffer.getvalue())
    array([1., 2.])
    >>> read_npy(buffer.getvalue().replace(b"(2,)", b"(9,)"))
    Traceback (most recent call last):
        ...
    ramify.saving.container.DamageError: an array claims 72 bytes and has 16
    """
    if data[:8] != b"\x93NUMPY\x01\x00":
        raise DamageError("an array is not in numpy's format 1.0")
    start = 10 + int.from_bytes(data[8:10], "little")
    header = _HEADER.fullmatch(data[10:start])
    if header is None:
        raise DamageError("an array has no plain header")
    dtype = np.dtype(header[1].decode())
    shape = tuple(int(length) for length in header[3].split(b",") if length.strip())
    # Python's integers do not overflow, so a huge shape is only a huge number here.
    claimed = math.prod(shape) * dtype.itemsize
    if not is_plain(dtype) or dtype.itemsize == 0 or claimed != len(data) - start:
        raise DamageError(f"an array claims {claimed} bytes and has {len(data) - start}")
    array = np.frombuffer(data, dtype=dtype, offset=start)
    if dtype.kind == "b" and (array.view(np.uint8) > 1).any():
        raise DamageError("an array of truth values holds others")
    if dtype.kind == "U" and (array.view("<u4") > _MAX_CODE_POINT).any():
        raise DamageError("an array of strings holds what is no character")
    return array.reshape(shape, order="F" if header[2] == b"True" else "C")
