"""The summary of a table, which is shown as text and as a page, and kept in model files."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from ramify.inspection.tables.facts import TableFacts
from ramify.inspection.tables.page import embedded_page, write_page
from ramify.inspection.tables.text import write_summary
from ramify.io.files import FilePath, replacing

__all__ = ["TableSummary"]

_MOST_ITEMS = 100_000
_MOST_CHARACTERS = 10_000


@dataclass(frozen=True)
class TableSummary(TableFacts):
    """What a table has, as it is read for training.

    Attributes
    ----------
    name : str
        Name of the table.
    n_rows : int
        Number of rows.
    columns : list of ColumnFacts
        What each column is taken for and why, and what it has.
    labels : LabelFacts or None
        The labels and how often they occur; None if no label column is known.
    proposals : list of Proposal
        Columns that may be the labels, the likeliest first, if none was named.
    leaks : list of str
        Features that name or determine the labels.
    n_repeated : int
        Number of rows with the same features as another row.
    n_contradicting : int
        Number of those whose labels differ from the labels of the other row.
    notes : list of str
        What was found or changed when the table was read.
    problems : list of str
        Columns that cannot be read for certain; `read_table` refuses them.
    command, python : str
        What reads the table again in the same way and trains a model.
    """

    def __str__(self) -> str:
        return write_summary(self)

    def _repr_html_(self) -> str:
        return embedded_page(self)

    def to_html(self, path: FilePath) -> Path:
        """Write a self-contained HTML page.

        Parameters
        ----------
        path : path
            The file to write.

        Returns
        -------
        Path
            The file.
        """
        with replacing(path) as temporary:
            temporary.write_text(write_page(self), encoding="utf-8")
        return Path(path)

    def to_dict(self) -> dict[str, Any]:
        """Return the content as JSON.

        Returns
        -------
        dict
            Lists, texts and numbers.
        """
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> TableSummary:
        """Read the result of `to_dict`; raise ValueError if it is anything else.

        Parameters
        ----------
        values : mapping
            The content, for example from a model file.

        Returns
        -------
        TableSummary
            The summary.
        """
        found: TableSummary = _read(cls, values, "table")
        return found


def _read(kind: Any, value: Any, where: str) -> Any:
    """Return a value of JSON as a value of a type; raise ValueError if it is none."""
    if is_dataclass(kind):
        return _read_class(kind, value, where)
    origin, inner = get_origin(kind), get_args(kind)
    if origin is not None and type(None) in inner:
        return None if value is None else _read(inner[0], value, where)
    if origin is list and isinstance(value, list) and len(value) <= _MOST_ITEMS:
        return [_read(inner[0], one, where) for one in value]
    if origin is tuple and isinstance(value, list | tuple) and len(value) == len(inner):
        return tuple(_read(one, item, where) for one, item in zip(inner, value, strict=True))
    is_fit = (
        (kind is str and isinstance(value, str) and len(value) <= _MOST_CHARACTERS)
        or (kind is int and type(value) is int and 0 <= value < 2**53)
        or (kind is float and type(value) in (int, float) and math.isfinite(value))
    )
    if not is_fit:
        raise ValueError(f"{where} has a value that does not belong there: {str(value)[:60]!r}.")
    return value


def _read_class(kind: Any, values: Any, where: str) -> Any:
    if not isinstance(values, Mapping):
        raise ValueError(f"{where} must be an object, got {str(values)[:60]!r}.")
    types = get_type_hints(kind)
    if set(values) != {entry.name for entry in fields(kind)}:
        raise ValueError(
            f"{where} must have the fields {sorted(types)}, got {sorted(values)[:20]}."
        )
    return kind(**{name: _read(types[name], value, name) for name, value in values.items()})
