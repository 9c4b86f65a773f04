"""Pools of arrays: arrays with the same name are concatenated into one member.

A forest has thousands of small arrays. Concatenated by role, they need no separate headers and
compress well. They are read in the order in which they were written, so no byte can be used twice.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify.saving.container import DamageError, LoadLimits

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
        """Append the elements of a plain array to a pool, in C order."""
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
    """Returns the arrays of the pools in the order in which they were added."""

    def __init__(self, members: Mapping[str, bytes]) -> None:
        self._pools = {
            name.removesuffix(_SUFFIX): read_npy(data)
            for name, data in members.items()
            if name.endswith(_SUFFIX)
        }
        self._taken = dict.fromkeys(self._pools, 0)

    def take(self, name: str, size: int) -> NDArray[Any]:
        """Return the next `size` elements of a pool as a new array."""
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

    >>> import io
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


# ---- values as JSON and back ----------------------------------------------------------------


_BACK: dict[str, Callable[[list[Any]], Any]] = {
    "$tuple": tuple,
    "$set": set,
    "$frozenset": frozenset,
}
_NOT_FINITE = ("nan", "inf", "-inf")


@dataclass(frozen=True)
class Kind:
    """How to write and read objects of one kind."""

    name: str  # name of the kind in files
    matches: Callable[[Any], bool]  # returns whether an object is of this kind
    # Takes the encoder, the object and its place in the model; returns the entry.
    encode: Callable[[Encoder, Any, str], dict[str, Any]]
    # Takes the decoder and an entry; returns the object.
    decode: Callable[[Decoder, dict[str, Any]], Any]
    fields: Mapping[str, type]  # the fields of an entry and their types in JSON


class Encoder:
    """Converts values to JSON and collects arrays in pools."""

    def __init__(self, kinds: Sequence[Kind]) -> None:
        self.entries: list[dict[str, Any]] = []  # the table of objects
        self.pools = ArrayPools()
        self.wrapped: list[Any] = []  # objects of other libraries
        self.needs: dict[str, int] = {}  # the largest sizes by the names of limits of `load`
        self._kinds = kinds  # the first that matches an object is used
        self._numbers: dict[int, int] = {}
        self._alive: list[Any] = []  # an id is unique only as long as its object exists
        self._open: set[int] = set()

    def need(self, limit: str, size: int) -> None:
        """Note a size of which `load` has a limit."""
        self.needs[limit] = max(size, self.needs.get(limit, 0))

    def value(self, value: Any, where: str) -> Any:
        """Return a value as JSON."""
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"$float": repr(value)}
        if type(value) in (list, tuple, set, frozenset, dict):
            return self._collection(value, where)
        return {"$ref": self._number(value, where)}

    def _collection(self, values: Any, where: str) -> Any:
        if type(values) is dict:
            pairs = [
                [self.value(key, where), self.value(item, f"{where}[{key!r}]")]
                for key, item in values.items()
            ]
            return {"$dict": pairs}
        # The order of a set differs between runs, but the file should not.
        ordered = sorted(values, key=repr) if type(values) in (set, frozenset) else values
        items = [self.value(item, f"{where}[{i}]") for i, item in enumerate(ordered)]
        return items if type(values) is list else {f"${type(values).__name__}": items}

    def _number(self, value: Any, where: str) -> int:
        """Return the position of an object in the table; add it if it is new."""
        known = self._numbers.get(id(value))
        if known is not None:
            return known
        if id(value) in self._open:
            raise ValueError(f"cannot save {where}: it contains itself.")
        kind = next((kind for kind in self._kinds if kind.matches(value)), None)
        if kind is None:
            raise TypeError(
                f"cannot save {where} of type {type(value).__module__}."
                f"{type(value).__qualname__}. Use a number, a string, an array or an estimator "
                "instead, or save the model with pickle."
            )
        self._open.add(id(value))
        entry = {"kind": kind.name, **kind.encode(self, value, where)}
        self._open.discard(id(value))
        self.entries.append(entry)
        self._alive.append(value)
        self._numbers[id(value)] = len(self.entries) - 1
        return len(self.entries) - 1


class Decoder:
    """Creates the objects of a table, in order."""

    def __init__(
        self,
        kinds: Sequence[Kind],
        pools: PoolReader,
        wrapped: Sequence[Any],
        limits: LoadLimits,
    ) -> None:
        self.pools = pools
        self.wrapped = wrapped
        self.limits = limits
        self._kinds = {kind.name: kind for kind in kinds}
        self._objects: list[Any] = []

    def add(self, entry: Any) -> None:
        """Create the object of the next entry."""
        number = len(self._objects)
        self.limits.check("max_objects", number + 1, "the number of objects")
        name = entry.get("kind") if isinstance(entry, dict) else None
        kind = self._kinds.get(name) if isinstance(name, str) else None
        if kind is None:
            raise DamageError(f"it contains an object of unknown kind {name!r}")
        for field, wanted in kind.fields.items():
            if field not in entry or not isinstance(entry[field], wanted):
                raise DamageError(f"object {number}, of kind {name!r}, has no valid {field!r}")
        try:
            self._objects.append(kind.decode(self, entry))
        except (TypeError, AttributeError, LookupError) as error:
            raise DamageError(f"object {number}, of kind {name!r}, is not valid") from error

    def value(self, node: Any, depth: int = 0) -> Any:
        """Convert JSON to a value."""
        if not isinstance(node, list | dict):
            return node
        depth += 1
        self.limits.check("max_depth", depth, "the nesting of values")
        if isinstance(node, list):
            return [self.value(item, depth) for item in node]
        if len(node) != 1:
            raise DamageError(f"it contains a value with the invalid fields {sorted(node)[:3]}")
        tag, content = next(iter(node.items()))
        if tag == "$ref":
            return self._object(content)
        if tag == "$dict":
            return self._dict(content, depth)
        if tag == "$float" and content in _NOT_FINITE:
            return float(content)
        if tag in _BACK and isinstance(content, list):
            return self._hashed(_BACK[tag], [self.value(item, depth) for item in content])
        raise DamageError(f"it contains a value of unknown type {tag!r}")

    def _dict(self, pairs: Any, depth: int) -> Any:
        if not isinstance(pairs, list) or not all(
            isinstance(pair, list) and len(pair) == 2 for pair in pairs
        ):
            raise DamageError("a dict must be a list of pairs")
        values = [(self.value(key, depth), self.value(item, depth)) for key, item in pairs]
        return self._hashed(dict, values)

    def _hashed(self, make: Callable[[list[Any]], Any], values: list[Any]) -> Any:
        try:
            return make(values)
        except TypeError:
            raise DamageError("a dict or set has a key that can change") from None

    def _object(self, number: Any) -> Any:
        if type(number) is not int or not 0 <= number < len(self._objects):
            raise DamageError(f"it refers to object {number!r} before its definition")
        return self._objects[number]
