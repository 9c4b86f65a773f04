"""Schemas of saved objects: what each attribute of a class may hold in a model file.

A class declares `_saved_schema`, a dict from the names of its fitted attributes (the fields of a
dataclass) to kinds. `ramify.load` refuses a file whose content does not fit, before any native
code sees it. Sizes are named: a name stands for the same number wherever it occurs in one object.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from ramify import _core

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
    ramify._schema.SchemaError: Y_: n_labels must be 3, got 5
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


# ---- arrays ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Array(Kind):
    """A dense array."""

    shape: Sequence[Size]  # its lengths
    # The data types it may have, e.g. "f4 f8"; "O" and "U" for objects and strings of any length.
    dtypes: str = "f8"
    # Bounds of its elements; `below` is exclusive and may be a size. NaN is not within bounds.
    low: float | None = None
    high: float | None = None
    below: Size | None = None
    finite: bool = True  # whether NaN and infinity are refused
    missing: bool = False  # whether NaN is allowed although `finite` is true

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        if type(value) is not np.ndarray or value.ndim != len(self.shape):
            raise wrong(where, f"an array of {len(self.shape)} dimensions", value)
        _check_dtype(value, self.dtypes, where)
        for size, found in zip(self.shape, value.shape, strict=True):
            sizes.match(size, found, where)
        finite = self.finite and not self.missing
        _check_elements(value, where, self.low, self.high, finite=finite)
        if self.missing and np.isinf(value).any():
            raise SchemaError(f"{where}: elements must be finite or NaN")
        if self.below is not None and value.size and value.max() >= sizes.get(self.below):
            raise SchemaError(f"{where}: elements must be below {sizes.get(self.below)}")


@dataclass(frozen=True)
class Increasing(Kind):
    """An array of one dimension whose elements never decrease."""

    length: Size  # its length
    dtypes: str = "f8"  # the data types it may have
    first: Size | None = None  # its first and last element
    last: Size | None = None
    strictly: bool = False  # whether elements must differ

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        Array((self.length,), self.dtypes).check(value, where, sizes)
        below, above = value[:-1], value[1:]
        if not (below < above if self.strictly else below <= above).all():
            raise SchemaError(f"{where}: elements must increase")
        for size, at in ((self.first, 0), (self.last, -1)):
            if size is not None and (not value.size or value[at] != sizes.get(size)):
                raise SchemaError(f"{where}: element {at} must be {sizes.get(size)}")


@dataclass(frozen=True)
class Sparse(Kind):
    """A sparse matrix whose indices are within range."""

    shape: Sequence[Size]  # its lengths
    dtypes: str = "f8"  # the data types that its elements may have
    formats: str = "csr"  # the formats it may have, "csr" and "csc"
    low: float | None = None  # bounds of its elements
    high: float | None = None
    finite: bool = True  # whether NaN and infinity are refused
    canonical: bool = True  # whether indices must be sorted and distinct

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        matrix: Any = value
        if not sparse.issparse(value) or matrix.format not in self.formats.split():
            raise wrong(where, f"a sparse matrix ({self.formats})", value)
        _check_dtype(matrix.data, self.dtypes, where)
        for size, found in zip(self.shape, matrix.shape, strict=True):
            sizes.match(size, found, where)
        check_sparse(matrix, where, canonical=self.canonical)
        _check_elements(matrix.data, where, self.low, self.high, finite=self.finite)


def check_sparse(matrix: Any, where: str, *, canonical: bool = False) -> None:
    """Check the arrays of a csr or csc matrix, which scipy's native code uses without checks.

    scipy's own check_format skips the indices if the last element of indptr is not positive.
    """
    n_major, n_minor = matrix.shape if matrix.format == "csr" else matrix.shape[::-1]
    parts = (matrix.data, matrix.indices, matrix.indptr)
    check_compressed(parts, n_major, n_minor, where, canonical=canonical)


def check_compressed(
    parts: Sequence[Any], n_major: int, n_minor: int, where: str, *, canonical: bool = False
) -> None:
    """Check data, indices and indptr of a matrix before it is created from them."""
    data, indices, indptr = parts
    for name, part in (("data", data), ("indices", indices), ("indptr", indptr)):
        if type(part) is not np.ndarray or part.ndim != 1:
            raise SchemaError(f"{where}: {name} must be an array of one dimension")
    if data.dtype.kind not in "biuf":
        raise SchemaError(f"{where}: data must be numbers, got {data.dtype}")
    if any(part.dtype not in (np.int32, np.int64) for part in (indices, indptr)):
        raise SchemaError(f"{where}: indices and indptr must be int32 or int64")
    if len(data) != len(indices) or len(indptr) != n_major + 1:
        raise SchemaError(f"{where}: data, indices and indptr differ in length")
    # Compared, not subtracted: differences of int64 may overflow.
    if indptr[0] != 0 or indptr[-1] != len(indices) or (indptr[:-1] > indptr[1:]).any():
        raise SchemaError(f"{where}: indptr must increase from 0 to {len(indices)}")
    if len(indices) and (indices.min() < 0 or indices.max() >= n_minor):
        raise SchemaError(f"{where}: indices must be from 0 to {n_minor - 1}")
    if canonical and len(indices) > 1:
        rises = indices[:-1] < indices[1:]
        starts = indptr[1:-1]
        rises[starts[(starts > 0) & (starts < len(indices))] - 1] = True
        if not rises.all():
            raise SchemaError(f"{where}: indices of a row must be sorted and distinct")


def _check_dtype(array: Any, dtypes: str, where: str) -> None:
    dtype = array.dtype
    names = (f"{dtype.kind}{dtype.itemsize}", dtype.kind if dtype.kind in "OU" else "")
    if not set(names) & set(dtypes.split()):
        raise SchemaError(f"{where}: the data type must be {dtypes}, got {dtype}")


def _check_elements(
    array: Any, where: str, low: float | None, high: float | None, *, finite: bool
) -> None:
    if not array.size or array.dtype.kind not in "biuf":
        return
    if array.dtype.kind == "f" and finite and not np.isfinite(array).all():
        raise SchemaError(f"{where}: elements must be finite")
    if low is not None and not (array >= low).all():
        raise SchemaError(f"{where}: elements must be at least {low}")
    if high is not None and not (array <= high).all():
        raise SchemaError(f"{where}: elements must be at most {high}")


# ---- objects --------------------------------------------------------------------------------


Schema: TypeAlias = Mapping[str, Kind | None]
"""Kinds by attribute. None removes an attribute that a base class declares."""


def schema_of(cls: type, declared_in: str = "_saved_schema") -> dict[str, Kind]:
    """Return the kinds of a class's attributes, those of its base classes first."""
    merged: dict[str, Kind | None] = {}
    for base in reversed(cls.__mro__):
        for name, kind in vars(base).get(declared_in, {}).items():
            merged.pop(name, None)  # what a class declares again comes after what it refers to
            merged[name] = kind
    return {name: kind for name, kind in merged.items() if kind is not None}


def check_state(cls: type, state: Mapping[str, Any], where: str, sizes: Sizes) -> None:
    """Raise SchemaError unless the attributes of an object fit the schema of its class."""
    schema = schema_of(cls)
    unknown = [name for name in state if name not in schema]
    if unknown and cls.__module__.partition(".")[0] == "ramify":
        raise SchemaError(f"{where} has no fitted attribute {unknown[0]!r}")
    for name, kind in schema.items():
        if name in state:
            kind.check(state[name], f"{where}.{name}", sizes)
            if isinstance(getattr(kind, "kind", kind), Whole):
                sizes.match(name, int(state[name]), f"{where}.{name}")
        elif kind.required:
            raise SchemaError(f"{where} lacks {name}")


# ---- objects --------------------------------------------------------------------------------


_ROUNDING = 1e-9


@dataclass(frozen=True)
class TreeOf(Kind):
    """A tree whose features and labels exist; its arrays have been checked by the core."""

    n_features: Size
    n_labels: Size
    shares: bool = True  # whether the values of leaves are shares, from 0 to 1, or any numbers

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        if not isinstance(value, _core.Tree):
            raise wrong(where, "a tree", value)
        n_features, n_labels = sizes.get(self.n_features), sizes.get(self.n_labels)
        if (
            value.feature.max() >= n_features
            or value.value_label.max(initial=-1) >= n_labels
            or value.value_label.min(initial=0) < 0
        ):
            raise SchemaError(f"{where} does not fit {n_features} features and {n_labels} labels")
        if not self.shares and not np.isfinite(value.value).all():
            raise SchemaError(f"{where}: value must be finite")
        for name in ("value", "share") if self.shares else ("share",):
            numbers = getattr(value, name)
            if not ((numbers >= -_ROUNDING) & (numbers <= 1 + _ROUNDING)).all():  # nor NaN
                raise SchemaError(f"{where}: {name} must be between 0 and 1")


@dataclass(frozen=True)
class BoostedTreesOf(Kind):
    """The trees of a model of gradient boosting, whose arrays the core has checked."""

    n_features: Size
    n_outputs: Size

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        if not isinstance(value, _core.BoostedTrees):
            raise wrong(where, "boosted trees", value)
        sizes.match(self.n_features, value.n_features, where)
        sizes.match(self.n_outputs, value.n_outputs, where)
        for number in range(len(value)):
            arrays: Any = value.arrays(number)
            for name in ("value", "gain", "weight"):
                if not np.isfinite(arrays[name]).all():
                    raise SchemaError(f"{where}: {name} must be finite")
            if np.isnan(arrays["threshold"]).any():
                raise SchemaError(f"{where}: threshold must not be NaN")
            if (arrays["gain"] < 0).any() or (arrays["weight"] < 0).any():
                raise SchemaError(f"{where}: gain and weight must not be negative")


class Instance(Kind):
    """An instance of one of some classes, which checks itself when it is created."""

    def __init__(self, *classes: type, binds: Mapping[str, str] | None = None) -> None:
        self.classes = classes
        self.binds = dict(binds or {})  # sizes that follow from attributes, with their names

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        if not isinstance(value, self.classes):
            names = " or ".join(cls.__name__ for cls in self.classes)
            raise wrong(where, f"a {names}", value)
        for size, attribute in self.binds.items():
            sizes.match(size, getattr(value, attribute), where)


class Part(Kind):
    """A dataclass with a schema of its own, part of a larger object."""

    def __init__(
        self, cls: type, *, binds: Mapping[str, str] | None = None, **sizes: Size
    ) -> None:
        self.cls = cls
        self.sizes = sizes  # those that its schema takes from the larger object
        self.binds = dict(binds or {})  # sizes of the larger object, as in `Instance`

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        if type(value) is not self.cls:
            raise wrong(where, f"a {self.cls.__name__}", value)
        state = {field.name: getattr(value, field.name) for field in fields(self.cls)}
        check_state(self.cls, state, where, sizes.inside(self.sizes))
        for size, attribute in self.binds.items():
            sizes.match(size, getattr(value, attribute), where)


class Estimator(Kind):
    """An estimator, fitted or not, of ramify or another library."""

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        is_estimator = hasattr(value, "get_params") and hasattr(value, "set_params")
        if isinstance(value, type) or not is_estimator:
            raise wrong(where, "an estimator", value)


class NamedEstimators(Kind):
    """Pairs of a name and an estimator, or "drop" in its place."""

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        if type(value) not in (list, tuple):
            raise wrong(where, "a list of names and estimators", value)
        for i, pair in enumerate(value):
            if type(pair) not in (list, tuple) or len(pair) != 2 or type(pair[0]) is not str:
                raise wrong(f"{where}[{i}]", "a name and an estimator", pair)
            if not (type(pair[1]) is str and pair[1] == "drop"):
                Estimator().check(pair[1], f"{where}[{i}]", sizes)


@dataclass(frozen=True)
class Fitted(Kind):
    """A fitted estimator of ramify or another library, with predictions for given labels."""

    # The numbers that it must have been fitted to, if it stores them.
    n_features: Size | None = None
    n_labels: Size | None = None
    method: str | None = "predict_proba"  # a method that it must have
    # The number of variables of a classifier of ramify that gets variables instead of features;
    # one of another library has been fitted to features or to variables.
    n_variables: Size | None = None

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        Estimator().check(value, where, sizes)
        if self.method is not None and not callable(getattr(value, self.method, None)):
            raise wrong(where, f"an estimator with {self.method}", value)
        is_ours = type(value).__module__.partition(".")[0] == "ramify"
        if is_ours and not hasattr(value, "hierarchy_") and hasattr(value, "hierarchy"):
            raise SchemaError(f"{where} must be fitted")
        n_features = getattr(value, "n_features_in_", None)
        if self.n_variables is not None and hasattr(value, "schema_"):
            sizes.match(self.n_variables, value.schema_.n_variables, where)
        elif self.n_variables is not None and n_features == sizes.get(self.n_variables):
            pass
        elif self.n_features is not None and n_features is not None:
            sizes.match(self.n_features, n_features, where)
        hierarchy = getattr(value, "hierarchy_", None)
        if self.n_labels is not None and hierarchy is not None:
            sizes.match(self.n_labels, hierarchy.n_labels, where)
