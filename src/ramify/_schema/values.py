"""Kinds of saved values: numbers, strings, labels and collections, and the sizes they agree on."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

Size: TypeAlias = int | str
"""A number, a name, or a sum of them such as "n_labels+1"; "?" is any number."""


class SchemaError(ValueError):
    """A value of a model file does not fit the schema of its class."""


class Sizes:
    """The sizes known so far while the attributes of one object are checked.

    >>> sizes = Sizes({"n_labels": 3})
    >>> sizes.match("n_rows", 7, "X_")
    >>> sizes.get("n_labels+1"), sizes.get("n_rows")
    (4, 7)
    >>> sizes.match("n_labels", 5, "Y_")
    Traceback (most recent call last):
    ...
    ramify._schema.values.SchemaError: Y_: n_labels must be 3, got 5
    """

    def __init__(self, known: Mapping[str, int] | None = None) -> None:
        self._known = dict(known or {})

    def get(self, size: Size) -> int:
        """Return the number that a size stands for; its names must be known."""
        if isinstance(size, int):
            return size
        total = 0
        for term in size.split("+"):
            if not term.isdigit() and term not in self._known:
                raise SchemaError(f"{term} is missing")
            total += int(term) if term.isdigit() else self._known[term]
        return total

    def match(self, size: Size, found: int, where: str) -> None:
        """Check a number against a size; a name not known yet stands for it from now on."""
        if size == "?":
            return
        if isinstance(size, str) and size.isidentifier() and size not in self._known:
            self._known[size] = found
            return
        wanted = self.get(size)
        if found != wanted:
            raise SchemaError(f"{where}: {size} must be {wanted}, got {found}")

    def inside(self, names: Mapping[str, Size]) -> Sizes:
        """Return the sizes of a part, which knows some of them under its own names."""
        return Sizes({name: self.get(size) for name, size in names.items()})


# ---- kinds of values ------------------------------------------------------------------------


_TYPE_NAME = re.compile(
    r"[<>|=]?([b?]1?|[iuf][1248]|O8?|[US][0-4]?)|bool|u?int(8|16|32|64)|float(16|32|64)|object"
)


class Kind(ABC):
    """What a saved value must be."""

    required = True
    """Whether a fitted object must have the attribute."""

    @abstractmethod
    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        """Raise SchemaError unless `value` fits."""


def wrong(where: str, wanted: str, found: Any) -> SchemaError:
    """Return the error of a value that is not what it must be."""
    text = repr(found)
    shown = text if len(text) <= 60 else f"{text[:57]}..."
    return SchemaError(f"{where} must be {wanted}, got {shown}")


@dataclass(frozen=True)
class Whole(Kind):
    """An integer from `low` to below `below`; as an attribute, it is a size of its name."""

    low: int = 0
    below: Size | None = None

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
            raise wrong(where, "an integer", value)
        if value < self.low or (self.below is not None and value >= sizes.get(self.below)):
            limit = "" if self.below is None else f" and below {sizes.get(self.below)}"
            raise wrong(where, f"at least {self.low}{limit}", value)


@dataclass(frozen=True)
class Number(Kind):
    """A finite number from `low` to `high`; if `finite` is false, also NaN and infinity."""

    low: float = -math.inf
    high: float = math.inf
    finite: bool = True

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        if isinstance(value, bool) or not isinstance(
            value, int | float | np.integer | np.floating
        ):
            raise wrong(where, "a number", value)
        if not self.finite and not math.isfinite(value):
            return
        if not (math.isfinite(value) and self.low <= value <= self.high):
            raise wrong(where, f"a number from {self.low} to {self.high}", value)


@dataclass(frozen=True)
class Flag(Kind):
    """True or False."""

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        if not isinstance(value, bool | np.bool_):
            raise wrong(where, "True or False", value)


@dataclass(frozen=True)
class Text(Kind):
    """A string, one of `choices` if there are any."""

    choices: tuple[str, ...] = ()

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        if not isinstance(value, str) or (self.choices and value not in self.choices):
            wanted = f"one of {', '.join(map(repr, self.choices))}" if self.choices else "a string"
            raise wrong(where, wanted, value)


@dataclass(frozen=True)
class TypeName(Kind):
    """The name of a numpy data type of one of some kinds; strings are short."""

    kinds: str

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        if not isinstance(value, str) or not _TYPE_NAME.fullmatch(value):
            raise wrong(where, "the name of a data type", value)
        if np.dtype(value).kind not in self.kinds:
            raise wrong(where, f"a data type of a kind in {self.kinds!r}", value)


@dataclass(frozen=True)
class Label(Kind):
    """A label's name: a string or a number."""

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        if not isinstance(value, str | int | float | np.integer | np.floating):
            raise wrong(where, "a label", value)


@dataclass(frozen=True)
class Anything(Kind):
    """Any value that no native code reads and that is checked when it is used."""

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        return


@dataclass(frozen=True)
class Maybe(Kind):
    """None, or a value of another kind."""

    kind: Kind

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        if value is not None:
            self.kind.check(value, where, sizes)


@dataclass(frozen=True)
class IfPresent(Kind):
    """An attribute that a fitted object may lack."""

    kind: Kind
    required = False

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        self.kind.check(value, where, sizes)


class AnyOf(Kind):
    """A value of one of several kinds."""

    def __init__(self, *kinds: Kind) -> None:
        self.kinds = kinds

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        errors = [_error_of(kind, value, where, sizes) for kind in self.kinds]
        if all(errors):
            raise SchemaError("; or ".join(map(str, errors)))


def _error_of(kind: Kind, value: Any, where: str, sizes: Sizes) -> SchemaError | None:
    try:
        kind.check(value, where, sizes)
    except SchemaError as error:
        return error
    return None


@dataclass(frozen=True)
class _Sequence(Kind):
    item: Kind
    length: Size | None = None

    _type: type = list

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        if type(value) is not self._type:
            raise wrong(where, f"a {self._type.__name__}", value)
        items: Any = value
        if self.length is not None:
            sizes.match(self.length, len(items), where)
        for i, item in enumerate(items):
            self.item.check(item, f"{where}[{i}]", sizes)


@dataclass(frozen=True)
class ListOf(_Sequence):
    """A list of values of one kind."""

    _type: type = list


@dataclass(frozen=True)
class TupleOf(_Sequence):
    """A tuple of values of one kind."""

    _type: type = tuple


@dataclass(frozen=True)
class MapOf(Kind):
    """A dict."""

    key: Kind
    value: Kind
    length: Size | None = None

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        if type(value) is not dict:
            raise wrong(where, "a dict", value)
        if self.length is not None:
            sizes.match(self.length, len(value), where)
        for key, item in value.items():
            self.key.check(key, f"a key of {where}", sizes)
            self.value.check(item, f"{where}[{key!r}]", sizes)
