"""Reports: tables of values that print as aligned text and convert to data frames."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from ramify._messages import import_extra

_SHOWN_ROWS = 60


@dataclass(frozen=True)
class Report:
    """A table of values with named columns.

    Attributes
    ----------
    columns : dict of str to list
        Columns of equal length.
    """

    columns: dict[str, list[Any]]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), []))

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the rows as dictionaries."""
        for values in zip(*self.columns.values(), strict=True):
            yield dict(zip(self.columns, values, strict=True))

    def to_frame(self) -> Any:
        """Return the report as a pandas data frame, one row per value or label."""
        return import_extra("pandas", "tables").DataFrame(self.columns)

    def _cells(self) -> tuple[list[str], list[list[Any]]]:
        """Return the header and the rows as displayed."""
        return list(self.columns), [list(row.values()) for row in self.rows()]

    def __str__(self) -> str:
        header, rows = self._cells()
        lines = aligned([header, *rows[:_SHOWN_ROWS]])
        hidden = len(rows) - _SHOWN_ROWS
        return "\n".join([*lines, f"… and {hidden} more rows"] if hidden > 0 else lines)

    def _repr_html_(self) -> str:
        header, rows = self._cells()
        head = "".join(f"<th>{escape(name)}</th>" for name in header)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(shown(cell))}</td>" for cell in row) + "</tr>"
            for row in rows
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def shown(cell: Any) -> str:
    """Format a cell: four decimals for numbers, a dash for undefined values."""
    if isinstance(cell, float | np.floating):
        if np.isnan(cell):
            return "-"
        return f"{cell:.0f}" if float(cell).is_integer() and abs(cell) >= 2 else f"{cell:.4f}"
    return str(cell)


def aligned(rows: Sequence[Sequence[Any]]) -> list[str]:
    """Format rows as aligned columns: text to the left, numbers to the right."""
    texts = [[shown(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    left = [all(isinstance(row[j], str) for row in rows) for j in range(len(widths))]
    return [
        "  ".join(
            f"{cell:<{width}}" if is_text else f"{cell:>{width}}"
            for cell, width, is_text in zip(row, widths, left, strict=True)
        ).rstrip()
        for row in texts
    ]
