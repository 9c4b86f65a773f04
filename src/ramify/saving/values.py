"""Values as JSON and back: plain ones in place, objects in a table that refers only backwards.

Numbers, strings, None and lists are themselves. ``{"$tuple": […]}``, ``{"$set": […]}``,
``{"$dict": [[key, value], …]}`` and ``{"$float": "nan"}`` are what JSON lacks. Everything else is
an entry of the table of objects, ``{"kind": …, …}``, and stands as ``{"$ref": number}`` wherever
it is used: shared objects stay shared, and as an entry may refer only to earlier ones, a file can
hold no cycle and no deep nesting of objects.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ramify.saving.container import DamageError
from ramify.saving.pools import ArrayPools, PoolReader

__all__ = ["Decoder", "Encoder", "Kind"]

_BACK: dict[str, Callable[[list[Any]], Any]] = {
    "$tuple": tuple,
    "$set": set,
    "$frozenset": frozenset,
}


@dataclass(frozen=True)
class Kind:
    """How the objects of one kind are written and read.

    Attributes
    ----------
    name : str
        Its name in files.
    matches : callable
        Whether an object is of this kind.
    encode : callable
        From the encoder, the object and its place in the model to the entry's content.
    decode : callable
        From the decoder and an entry to the object.
    """

    name: str
    matches: Callable[[Any], bool]
    encode: Callable[[Encoder, Any, str], dict[str, Any]]
    decode: Callable[[Decoder, dict[str, Any]], Any]


class Encoder:
    """Turns values into JSON, arrays into pools.

    Parameters
    ----------
    kinds : sequence of Kind
        What can be saved; the first that matches an object is used.

    Attributes
    ----------
    entries : list of dict
        The table of objects so far.
    pools : ArrayPools
        The arrays so far.
    wrapped : list
        Objects of other libraries so far.
    """

    def __init__(self, kinds: Sequence[Kind]) -> None:
        self.entries: list[dict[str, Any]] = []
        self.pools = ArrayPools()
        self.wrapped: list[Any] = []
        self._kinds = kinds
        self._numbers: dict[int, int] = {}
        self._alive: list[Any] = []  # an id names an object only as long as it lives
        self._open: set[int] = set()

    def value(self, value: Any, where: str) -> Any:
        """Return a value as JSON.

        Parameters
        ----------
        value : object
            What to encode.
        where : str
            Its place in the model, for messages.

        Returns
        -------
        object
            What `json.dumps` takes.
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
        # The order of a set changes from run to run; files should not.
        ordered = sorted(values, key=repr) if type(values) in (set, frozenset) else values
        items = [self.value(item, f"{where}[{i}]") for i, item in enumerate(ordered)]
        return items if type(values) is list else {f"${type(values).__name__}": items}

    def _number(self, value: Any, where: str) -> int:
        """Return the place of an object in the table, after adding it if it is new."""
        known = self._numbers.get(id(value))
        if known is not None:
            return known
        if id(value) in self._open:
            raise ValueError(f"cannot save {where}: it contains itself.")
        kind = next((kind for kind in self._kinds if kind.matches(value)), None)
        if kind is None:
            raise TypeError(
                f"cannot save {where}, which is of type {type(value).__module__}."
                f"{type(value).__qualname__}. Use a number, a string, an array or an estimator "
                "there, or keep the model with pickle."
            )
        self._open.add(id(value))
        entry = {"kind": kind.name, **kind.encode(self, value, where)}
        self._open.discard(id(value))
        self.entries.append(entry)
        self._alive.append(value)
        self._numbers[id(value)] = len(self.entries) - 1
        return len(self.entries) - 1


class Decoder:
    """Builds the objects of a table, in order.

    Parameters
    ----------
    kinds : sequence of Kind
        What can be loaded.
    pools : PoolReader
        The arrays.
    wrapped : sequence
        The objects of other libraries.
    """

    def __init__(self, kinds: Sequence[Kind], pools: PoolReader, wrapped: Sequence[Any]) -> None:
        self.pools = pools
        self.wrapped = wrapped
        self._kinds = {kind.name: kind for kind in kinds}
        self._objects: list[Any] = []

    def add(self, entry: dict[str, Any]) -> None:
        """Build the object of the next entry.

        Parameters
        ----------
        entry : dict
            The entry.
        """
        kind = self._kinds.get(entry["kind"])
        if kind is None:
            raise DamageError(f"it holds an object of the unknown kind {entry['kind']!r}")
        self._objects.append(kind.decode(self, entry))

    def value(self, node: Any) -> Any:
        """Return the value of a piece of JSON.

        Parameters
        ----------
        node : object
            What `Encoder.value` returned.

        Returns
        -------
        object
            The value.
        """
        if isinstance(node, list):
            return [self.value(item) for item in node]
        if not isinstance(node, dict):
            return node
        if len(node) != 1:
            raise DamageError(f"it holds a value with the fields {sorted(node)[:3]}")
        tag, content = next(iter(node.items()))
        if tag == "$ref":
            return self._object(content)
        if tag == "$dict":
            return {self.value(key): self.value(item) for key, item in content}
        if tag == "$float":
            return float(content)
        if tag in _BACK and isinstance(content, list):
            return _BACK[tag]([self.value(item) for item in content])
        raise DamageError(f"it holds a value of the unknown form {tag!r}")

    def _object(self, number: Any) -> Any:
        if type(number) is not int or not 0 <= number < len(self._objects):
            raise DamageError(f"it refers to object {number!r} before that is known")
        return self._objects[number]
