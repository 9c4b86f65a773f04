"""Read the dates of ARFF files, whose formats are written in the notation of Java."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timezone

import numpy as np
from numpy.typing import NDArray

from ramify.io.errors import FormatError

__all__ = ["seconds_of_dates"]

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_PARTS = {
    "yyyy": "%Y", "yy": "%y", "y": "%Y", "MMMM": "%B", "MMM": "%b", "MM": "%m", "M": "%m",
    "dd": "%d", "d": "%d", "D": "%j", "DDD": "%j", "EEEE": "%A", "EEE": "%a", "E": "%a",
    "HH": "%H", "H": "%H", "hh": "%I", "h": "%I", "a": "%p", "mm": "%M", "m": "%M",
    "ss": "%S", "s": "%S", "SSS": "%f", "Z": "%z", "X": "%z", "XX": "%z", "XXX": "%z",
}  # fmt: skip
"""The parts of a format of Java, and what Python calls them."""
_TOKEN = re.compile(r"(?P<quoted>'(?:[^']|'')*')|(?P<part>([A-Za-z])\3*)|(?P<other>.)", re.DOTALL)


def seconds_of_dates(
    path: str, name: str, cells: Sequence[str | None], form: str
) -> NDArray[np.float64]:
    """Return dates as seconds since the start of 1970, in UTC unless they name a time zone.

    Parameters
    ----------
    path : str
        The file, for error messages.
    name : str
        The attribute.
    cells : sequence of str or None
        The dates; None is missing.
    form : str
        Their format, such as yyyy-MM-dd HH:mm:ss.

    Returns
    -------
    ndarray of float
        NaN where a date is missing.

    Examples
    --------
    >>> seconds_of_dates("a.arff", "day", ["02.01.1970", None], "dd.MM.yyyy")
    array([86400.,    nan])
    """
    pattern = _pattern(path, name, form)
    known: dict[str | None, float] = {None: float("nan")}
    for row, cell in enumerate(cells):
        if cell in known:
            continue
        try:
            found = datetime.strptime(str(cell), pattern)
        except (ValueError, re.error):
            raise FormatError(
                f"{path}: expected a date {form!r} for attribute {name!r}, found {cell!r} in data "
                f"row {row + 1}."
            ) from None
        aware = found if found.tzinfo else found.replace(tzinfo=timezone.utc)
        known[cell] = (aware - _EPOCH).total_seconds()
    return np.array([known[cell] for cell in cells], dtype=np.float64)


def _pattern(path: str, name: str, form: str) -> str:
    """Translate a format of Java to that of Python's strptime."""
    words = []
    for token in _TOKEN.finditer(form):
        if token["quoted"]:
            literal = token["quoted"][1:-1].replace("''", "'") or "'"
            words.append(literal.replace("%", "%%"))
        elif token["part"] and token["part"] in _PARTS:
            words.append(_PARTS[token["part"]])
        elif token["part"]:
            raise FormatError(
                f"{path}: the date format {form[:100]!r} of attribute {name!r} has the part "
                f"{token['part'][:20]!r}, which is not supported. Convert the dates to numbers "
                "first."
            )
        else:
            words.append(token["other"].replace("%", "%%"))
    return "".join(words)
