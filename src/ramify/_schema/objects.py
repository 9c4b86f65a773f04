"""Kinds of saved objects: trees, instances of classes, fitted estimators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

import numpy as np

from ramify import _core
from ramify._schema.values import Kind, SchemaError, Size, Sizes, Whole, wrong

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
