"""Find text in columns that were meant to be numbers or dates, and report its cell."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ramify.data.dates import is_date, is_foreign_date, is_time
from ramify.io.errors import FormatError
from ramify.io.formats import TextForm

__all__ = [
    "check_date_features",
    "check_numeric_features",
    "check_suspicious_columns",
    "foreign_date_notes",
    "has_texts",
    "names_rows",
]


_DATE = "a date such as 2024-01-31"
_GROUPED = re.compile(r"[+-]?\d{1,3}(?:(?P<mark>[.,' \u00a0\u202f])\d{3})+(?P<rest>[.,]\d+)?")
_POINTED = re.compile(r"[+-]?\d+(?P<point>[.,])\d+")
_MARKERS = frozenset(
    (
        *("-", "--", ".", "..", "*", "x", "n.a.", "n. a.", "n/a", "n/v", "n.v.", "na", "nan"),
        *("k.a.", "k. a.", "k.a", "ka", "n.d.", "nd", "n.b.", "missing", "unknown", "unbekannt"),
        *("none", "null", "nil", "leer", "fehlt", "empty", "(blank)"),
    )
)
"""Texts that people write for missing numbers, besides the error values of spreadsheets (#NV)."""


def check_suspicious_columns(
    path: Path, frame: Any, form: TextForm, exempt: Sequence[str] = ()
) -> None:
    """Raise an error for text columns whose cells are mostly numbers or dates."""
    for name in frame.columns:
        column = frame[name]
        if name not in exempt and hasattr(column, "cat"):
            text = _suspect(column, form)
            if text is not None:
                raise _cell_error(path, column, text, "the column looks numeric", name)
            text = _suspect_date(column)
            if text is not None:
                why = "most cells of the column are dates"
                raise _cell_error(path, column, text, why, name, what=_DATE)


def check_numeric_features(path: Path, frame: Any, form: TextForm, numeric: Sequence[str]) -> None:
    """Raise an error for text in columns that are numeric for a model."""
    for name in numeric:
        if name not in frame.columns:
            continue
        column = frame[name]
        if is_time(column) and column.notna().any():
            first = str(column[column.notna()].iloc[0])
            raise _cell_error(path, column, first, "the model was trained on numbers", None)
        if not hasattr(column, "cat"):
            continue
        number = _number_pattern(form)
        texts = [str(v) for v in column.cat.categories if not number.fullmatch(str(v))]
        if texts:
            first = min(texts, key=lambda text: _first_row(column, text))
            raise _cell_error(path, column, first, "the model was trained on numbers", None)


def check_date_features(path: Path, frame: Any, dates: Sequence[str]) -> None:
    """Raise an error for text and numbers in columns that are dates for a model."""
    why = "the model was trained on dates"
    for name in dates:
        if name not in frame.columns or is_time(frame[name]):
            continue
        column = frame[name]
        if not hasattr(column, "cat"):
            column = column.map("{:.15g}".format, na_action="ignore")
        known = column[column.notna()].astype(str)
        texts = [text for text in dict.fromkeys(known) if not is_date(text)]
        if texts:
            raise _cell_error(path, column, texts[0], why, None, what=_DATE)


def foreign_date_notes(frame: Any) -> list[str]:
    """Return notes on text columns whose cells look like dates in another notation."""
    return [
        f"column {name!r}: read as text, because its dates are not written as 2024-01-31"
        for name in frame.columns
        if hasattr(frame[name], "cat")
        and len(frame[name].cat.categories)
        and all(is_foreign_date(str(value)) for value in frame[name].cat.categories)
    ]


def _suspect_date(column: Any) -> str | None:
    """Return the first text of a column whose cells are mostly dates, or None."""
    values = [str(value) for value in column.cat.categories]
    are_dates = np.array([is_date(value) for value in values], dtype=bool)
    if not are_dates.any() or are_dates.all():
        return None
    counts = np.bincount(np.asarray(column.cat.codes) + 1, minlength=len(values) + 1)[1:]
    if 2 * counts[are_dates].sum() <= counts.sum():
        return None
    others = [value for value, found in zip(values, are_dates, strict=True) if not found]
    return min(others, key=lambda text: _first_row(column, text))


def _suspect(column: Any, form: TextForm) -> str | None:
    """Return the first text of a column that was probably meant to be numeric, or None."""
    values = [str(value) for value in column.cat.categories]
    counts = np.bincount(np.asarray(column.cat.codes) + 1, minlength=len(values) + 1)[1:]
    number = _number_pattern(form)
    is_number = [number.fullmatch(value) is not None for value in values]
    others = [value for value, plain in zip(values, is_number, strict=True) if not plain]
    if not others:
        return None
    n_numbers = int(sum(n for n, plain in zip(counts.tolist(), is_number, strict=True) if plain))
    n_others = int(counts.sum()) - n_numbers
    first = min(others, key=lambda text: _first_row(column, text))
    foreign = [value for value in others if _GROUPED.fullmatch(value) or _POINTED.fullmatch(value)]
    if 2 * len(foreign) > len(values) or (foreign and len(foreign) == len(others)):
        return foreign[0] if n_numbers == 0 else first
    if n_numbers > n_others and all(map(_is_marker, others)):
        return first
    if 2 * len(others) < len(values) and names_rows(column):
        return first
    return None


def _is_marker(text: str) -> bool:
    return text.strip().lower() in _MARKERS or text.startswith("#")


def _number_pattern(form: TextForm) -> re.Pattern[str]:
    point = re.escape(form.decimal)
    return re.compile(rf"\s*[+-]?(?:\d+(?:{point}\d*)?|{point}\d+)(?:[eE][+-]?\d+)?\s*")


def _first_row(column: Any, text: str) -> int:
    return int(np.argmax(np.asarray(column.astype(str) == text)))


def _cell_error(
    path: Path, column: Any, text: str, why: str, drop: str | None, *, what: str = "a number"
) -> FormatError:
    advice = (what == "a number" and _number_advice(text)) or (
        f"If it means that the value is missing, pass --missing {_quoted(text)}."
    )
    if drop is not None:
        advice += f" To leave the column out, pass --drop {_quoted(drop)}."
    return FormatError(
        f"{path}, column {column.name!r}, row {_first_row(column, text) + 1} below the column "
        f"names: {text!r} is not {what}, although {why}. {advice}"
    )


def _number_advice(text: str) -> str:
    grouped = _GROUPED.fullmatch(text)
    if grouped and grouped["rest"] and grouped["rest"][0] != grouped["mark"]:
        mark, point = grouped["mark"], grouped["rest"][0]
        return f"If it is a number, pass --thousands {_quoted(mark)} --decimal {_quoted(point)}."
    if grouped and grouped["mark"] != "." and not grouped["rest"]:
        return f"If it is a number, pass --thousands {_quoted(grouped['mark'])}."
    if grouped and not grouped["rest"]:
        return "If it is a number, pass --thousands '.' --decimal ','."
    pointed = _POINTED.fullmatch(text)
    return f"If it is a number, pass --decimal {_quoted(pointed['point'])}." if pointed else ""


def _quoted(text: str) -> str:
    return repr(text) if "'" not in text else f'"{text}"'


def names_rows(column: Any) -> bool:
    """Return whether a text column names rows: most of its cells are distinct."""
    if not hasattr(column, "cat"):
        return False
    codes = np.asarray(column.cat.codes)
    known = codes[codes >= 0]
    return len(known) > 20 and 2 * len(np.unique(known)) > len(known)


def has_texts(column: Any) -> bool:
    """Return whether the cells of a text column have three or more words on average."""
    values = column.cat.categories[:1000]
    return len(values) > 0 and sum(len(str(v).split()) for v in values) >= 3 * len(values)
