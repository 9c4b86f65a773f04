"""Convert values to JSON and back: plain values inline, objects in a table of references.

Numbers, strings, None and lists are written as they are. ``{"$tuple": […]}``, ``{"$set": […]}``,
``{"$dict": [[key, value], …]}`` and ``{"$float": "nan"}`` represent values that JSON does not
have. Everything else is an entry of the table of objects, ``{"kind": …, …}``, and is referred to
as ``{"$ref": number}`` wherever it is used. Shared objects therefore stay shared, and because an
entry may only refer to earlier entries, a file cannot contain cycles or deeply nested objects.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ramify.saving.container import DamageError
from ramify.saving.limits import LoadLimits
from ramify.saving.pools import ArrayPools, PoolReader

__all__ = ["Decoder", "Encoder", "Kind"]

_BACK: dict[str, Callable[[list[Any]], Any]] = {
    "$tuple": tuple,
    "$set": set,
    "$frozenset": frozenset,
}


@dataclass(frozen=True)
class Kind:
    """How to write and read objects of one kind.

    Attributes
    ----------
    name : str
        Name of the kind in files.
    matches : callable
        Returns whether an object is of this kind.
    encode : callable
        Takes the encoder, the object and its place in the model; returns the entry.
    decode : callable
        Takes the decoder and an entry; returns the object.
    """

    name: str
    matches: Callable[[Any], bool]
    encode: Callable[[Encoder, Any, str], dict[str, Any]]
    decode: Callable[[Decoder, dict[str, Any]], Any]


class Encoder:
    """Converts values to JSON and collects arrays in pools.

    Parameters
    ----------
    kinds : sequence of Kind
        The kinds of objects that can be saved; the first that matches an object is used.

    Attributes
    ----------
    entries : list of dict
        The table of objects.
    pools : ArrayPools
        The arrays.
    wrapped : list
        Objects of other libraries.
    """

    def __init__(self, kinds: Sequence[Kind]) -> None:
        self.entries: list[dict[str, Any]] = []
        self.pools = ArrayPools()
        self.wrapped: list[Any] = []
        self._kinds = kinds
        self._numbers: dict[int, int] = {}
        self._alive: list[Any] = []  # an id is unique only as long as its object exists
        self._open: set[int] = set()

    def value(self, value: Any, where: str) -> Any:
        """Return a value as JSON.

        Parameters
        ----------
        value : object
            The value to encode.
        where : str
            Its place in the model, for error messages.

        Returns
        -------
        object
            A value for `json.dumps`.
        """
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
    """Creates the objects of a table, in order.

    Parameters
    ----------
    kinds : sequence of Kind
        The kinds of objects that can be loaded.
    pools : PoolReader
        The arrays.
    wrapped : sequence
        The objects of other libraries.
    limits : LoadLimits
        Limits on the number of objects and their nesting.
    """

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

    def add(self, entry: dict[str, Any]) -> None:
        """Create the object of the next entry.

        Parameters
        ----------
        entry : dict
            The entry.
        """
        self.limits.check("max_objects", len(self._objects) + 1, "the number of objects")
        kind = self._kinds.get(entry["kind"])
        if kind is None:
            raise DamageError(f"it contains an object of unknown kind {entry['kind']!r}")
        self._objects.append(kind.decode(self, entry))

    def value(self, node: Any, depth: int = 0) -> Any:
        """Convert JSON to a value.

        Parameters
        ----------
        node : object
            The result of `Encoder.value`.
        depth : int
            Number of lists and dicts that contain it.

        Returns
        -------
        object
            The value.
        """
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
            return {self.value(key, depth): self.value(item, depth) for key, item in content}
        if tag == "$float":
            return float(content)
        if tag in _BACK and isinstance(content, list):
            return _BACK[tag]([self.value(item, depth) for item in content])
        raise DamageError(f"it contains a value of unknown type {tag!r}")

    def _object(self, number: Any) -> Any:
        if type(number) is not int or not 0 <= number < len(self._objects):
            raise DamageError(f"it refers to object {number!r} before its definition")
        return self._objects[number]
