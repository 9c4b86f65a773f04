"""Pools of arrays: arrays with the same name are concatenated into one member.

A forest has thousands of small arrays. Concatenated by role, they need no separate headers and
compress well. They are read in the order in which they were written, so no byte can be used twice.
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
# Matches only what numpy writes for plain arrays. This is stricter than numpy's reader, which
# evaluates a Python literal and allocates an array of the declared shape.
_HEADER = re.compile(
    rb"\{'descr': '([<|][biufUS]\d{1,9})', 'fortran_order': (False|True), "
    rb"'shape': \(((?:\d{1,18}, ?)*\d{0,18})\), \} *\n"
)
_MAX_CODE_POINT = 0x10FFFF


def is_plain(dtype: np.dtype[Any]) -> bool:
    """Return whether a dtype is plain data: numbers, booleans or fixed-width strings."""
    return dtype.kind in "biuUS" or (dtype.kind == "f" and dtype.itemsize <= 8)


class ArrayPools:
    """Collects arrays to save."""

    def __init__(self) -> None:
        self._parts: dict[str, list[NDArray[Any]]] = {}

    def put(self, name: str, array: NDArray[Any]) -> None:
        """Append the elements of a plain array to a pool, in C order.

        Parameters
        ----------
        name : str
            Name of the pool. Arrays of different dtypes are converted to a common dtype.
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
    """Returns the arrays of the pools in the order in which they were added.

    Parameters
    ----------
    members : mapping of str to bytes
        The members of a container; members other than .npy files are ignored.
    """

    def __init__(self, members: Mapping[str, bytes]) -> None:
        self._pools = {
            name.removesuffix(_SUFFIX): read_npy(data)
            for name, data in members.items()
            if name.endswith(_SUFFIX)
        }
        self._taken = dict.fromkeys(self._pools, 0)

    def take(self, name: str, size: int) -> NDArray[Any]:
        """Return the next `size` elements of a pool as a new array.

        Parameters
        ----------
        name : str
            Name of the pool.
        size : int
            Number of elements.

        Returns
        -------
        ndarray of shape (size,)
            A writable copy.
        """
        if type(size) is not int or size < 0 or name not in self._pools:
            raise DamageError(f"it refers to {size!r} elements of {name!r}, which do not exist")
        start = self._taken[name]
        part = self._pools[name][start : start + size]
        if len(part) != size:
            raise DamageError(f"it refers to more elements of {name!r} than there are")
        self._taken[name] = start + size
        return part.astype(part.dtype.newbyteorder("="))

    def check_spent(self) -> None:
        """Raise an error if the file has unused elements."""
        for name, pool in self._pools.items():
            if self._taken[name] != len(pool):
                raise DamageError(f"it has unused elements of {name!r}")


def read_npy(data: bytes) -> NDArray[Any]:
    """Read an array of plain elements without trusting the shape declared in its header.

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
    ramify.saving.container.DamageError: an array declares 72 bytes, but has 16
    """
    if data[:8] != b"\x93NUMPY\x01\x00":
        raise DamageError("an array is not in numpy's format 1.0")
    start = 10 + int.from_bytes(data[8:10], "little")
    header = _HEADER.fullmatch(data[10:start])
    if header is None:
        raise DamageError("an array has an invalid header")
    dtype = np.dtype(header[1].decode())
    shape = tuple(int(length) for length in header[3].split(b",") if length.strip())
    # Python's integers do not overflow, so a huge shape gives a huge product.
    claimed = math.prod(shape) * dtype.itemsize
    if not is_plain(dtype) or dtype.itemsize == 0 or claimed != len(data) - start:
        raise DamageError(f"an array declares {claimed} bytes, but has {len(data) - start}")
    array = np.frombuffer(data, dtype=dtype, offset=start)
    if dtype.kind == "b" and (array.view(np.uint8) > 1).any():
        raise DamageError("a boolean array contains values other than 0 and 1")
    if dtype.kind == "U" and (array.view("<u4") > _MAX_CODE_POINT).any():
        raise DamageError("a string array contains invalid characters")
    return array.reshape(shape, order="F" if header[2] == b"True" else "C")
