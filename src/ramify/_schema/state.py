"""Check the attributes of a saved object against the schema of its class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from ramify._schema.sizes import SchemaError, Sizes
from ramify._schema.values import Kind, Whole

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
