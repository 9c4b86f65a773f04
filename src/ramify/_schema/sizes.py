"""Named sizes: numbers that must agree wherever they occur in a saved object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

Size: TypeAlias = int | str
"""A number, a name, or a sum of them such as "n_labels+1"; "?" is any number."""


class SchemaError(ValueError):
    """A value of a model file does not fit the schema of its class."""


class Sizes:
    """The sizes known so far while the attributes of one object are checked.

    Parameters
    ----------
    known : mapping of str to int, optional
        Sizes known from outside.

    Examples
    --------
    >>> sizes = Sizes({"n_labels": 3})
    >>> sizes.match("n_rows", 7, "X_")
    >>> sizes.get("n_labels+1"), sizes.get("n_rows")
    (4, 7)
    >>> sizes.match("n_labels", 5, "Y_")
    Traceback (most recent call last):
        ...
    ramify._schema.sizes.SchemaError: Y_: n_labels must be 3, got 5
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
