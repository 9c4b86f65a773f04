"""Tell what a column of a data frame contains; read its numbers, and its times in seconds."""

from __future__ import annotations

import datetime as dt
import itertools
import re
from collections.abc import Hashable, Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify._validation import is_missing

TIMES = ("date", "date with time zone", "duration", "time of day")
"""The kinds of times. All are read as seconds: since 1970-01-01 (UTC for dates with a time zone),
of the duration, since midnight."""

TEXT = "text"
"""The kind of a column of strings whose words are features; see `tell_texts`."""

VECTOR = "vector"
"""The kind of a column whose cells are lists or arrays of numbers."""

_FEW_ROWS = 20  # in which strings may differ by chance
_FEW_VALUES = 100  # which are names rather than texts if they have two words
_MANY_VALUES = 1_000  # which are texts if they have three words
_CELLS_READ = 2_000  # distinct values whose words are counted
_LONG = 40  # letters of a string without spaces that is no word: a sequence, a sentence
# Words have two or more letters. Parts of codes are not words: a code is a piece with a digit.
_WORD = re.compile(r"\b[^\W\d_]{2,}\b")
_CODE = re.compile(r"\S*\d\S*")
# Letters of scripts without spaces (Thai, Lao, Khmer, Japanese, Chinese); about two make a word.
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")

_EPOCH = dt.datetime(1970, 1, 1)  # the wall clock of dates without a time zone
_EPOCH_UTC = _EPOCH.replace(tzinfo=dt.timezone.utc)
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9, "ps": 10**12, "fs": 10**15}
_SECONDS_PER = {"W": 604_800, "D": 86_400, "h": 3_600, "m": 60}
_UNREAD = ("Period", "Interval")  # neither numbers nor names
_NUMBERS = (bool, int, float, Decimal, Fraction, np.number, np.bool_)


def kind_of_column(column: Any, counts: Sequence[int] | None = None) -> str:
    """Return "number", "category", `TEXT`, `VECTOR` or one of `TIMES`: what a column contains."""
    return kind_and_reason(column, counts)[0]


def text_columns(X: Any) -> list[Any]:
    """Return the names of the columns of a data frame that contain texts; none of other X."""
    return [name for name in getattr(X, "columns", ()) if kind_of_column(X[name]) == TEXT]


def kind_and_reason(column: Any, counts: Sequence[int] | None = None) -> tuple[str, str]:
    """Return what the values of a column of a data frame are, and why, in a few words."""
    kind = _declared_kind(column)
    if kind is not None:
        return kind, f"the data type of the column is {column.dtype}"
    values = column.to_list()
    kind = kind_of_values(values, getattr(column, "name", ""), str(column.dtype).lower())
    if kind != "category":
        return kind, f"every value is a {kind}"
    is_text, reason = tell_texts(values, counts)
    return (TEXT if is_text else kind), reason


def _declared_kind(column: Any) -> str | None:
    """Return what the data type of a column says its values are; None if it does not say."""
    dtype = column.dtype
    name = str(dtype).lower()
    if name.startswith(("category", "categorical", "enum")):
        return "category"
    kind = getattr(dtype, "kind", None)
    if kind is None and getattr(dtype, "is_numeric", bool)():
        kind = "f"
    if (kind is not None and kind in "biuf") or name == "boolean":
        return "number"
    if kind == "M" or name.startswith("datetime"):
        zone = getattr(dtype, "tz", None) or getattr(dtype, "time_zone", None)
        arrow = getattr(dtype, "pyarrow_dtype", None)
        return TIMES[1] if zone or getattr(arrow, "tz", None) else TIMES[0]
    return TIMES[2] if kind == "m" or name.startswith("duration") else None


def tell_texts(values: Iterable[Any], counts: Sequence[int] | None = None) -> tuple[bool, str]:
    """Return whether the values of a column are texts, and why, in a few words.

    Categories are a few names that repeat, identifiers have no words, and texts share words: the
    more words, the more often a text may repeat, as titles of products do in a table of sales.
    """
    times = itertools.repeat(1) if counts is None else counts
    known = [(value, n) for value, n in zip(values, times, strict=False) if not is_missing(value)]
    strings = [(value, n) for value, n in known if isinstance(value, str)]
    distinct = list(dict.fromkeys(value for value, _ in strings))
    n_known, n_strings = (sum(n for _, n in cells) for cells in (known, strings))
    if 10 * n_strings < 9 * n_known or not distinct:
        return False, f"{len({str(value) for value, _ in known}):,} distinct values"
    share = len(distinct) / n_strings
    n_words = _words_per_value(distinct)
    found = (
        f"{len(distinct):,} of {n_strings:,} values differ, "
        f"{n_words:.1f} word{'' if f'{n_words:.1f}' == '1.0' else 's'} each on average"
    )
    if n_strings <= _FEW_ROWS:
        return n_words >= 5 and share > 0.5, found
    # Two words suffice where hardly a value repeats, six where a value has ten rows on average.
    is_text = (
        (n_words >= 2 and share >= 0.9 and len(distinct) > _FEW_VALUES)
        or (n_words >= 3 and (share >= 0.5 or len(distinct) >= _MANY_VALUES))
        or (n_words >= 6 and share >= 0.1 and len(distinct) > 2 * _FEW_ROWS)
    )
    return is_text, found


def _words_per_value(values: Sequence[str]) -> float:
    """Return the mean number of words of some strings, all counted or evenly spaced ones."""
    some = values[:: -(-len(values) // _CELLS_READ)]
    return sum(map(_count_words, some)) / len(some)


def _count_words(value: str) -> float:
    value = value[:2_000]
    n_unspaced = len(_UNSPACED.findall(value))
    if n_unspaced:
        return n_unspaced / 2 + len(_WORD.findall(_UNSPACED.sub(" ", value)))
    words = _WORD.findall(_CODE.sub(" ", value))
    # A sequence, e.g. of a protein, counts as a sentence: its parts are what others share.
    return len(words) + sum(len(word) // _LONG * 6 for word in words)


def kind_of_values(values: Iterable[Any], name: Any, dtype: str = "object") -> str:
    """Return what the values of a column of Python objects are; "category" for all strings."""
    types = {
        (type(value), getattr(value, "tzinfo", None) is None): value
        for value in values
        if not is_missing(value)
    }
    kinds = {_kind_of_value(value) for value in types.values()}
    if not kinds:
        return "category"
    if "" in kinds:
        odd = next(value for value in types.values() if not _kind_of_value(value))
        raise ValueError(
            f"column {name!r} of X must contain numbers, dates, strings or vectors of numbers, "
            f"got values of type {type(odd).__name__} (dtype {dtype}). Convert or drop the column."
        )
    if len(kinds) > 1 and kinds & {*TIMES, VECTOR}:
        raise ValueError(
            f"column {name!r} of X must contain values of one kind, got {sorted(kinds)}. Convert "
            "all dates to one type, with or without a time zone, e.g. with pandas.to_datetime."
        )
    return kinds.pop() if len(kinds) == 1 else "category"


def _kind_of_value(value: Any) -> str:
    """Return the kind of a value that is not missing; "" for values that cannot be read."""
    if isinstance(value, np.timedelta64 | dt.timedelta):
        return TIMES[2]
    if isinstance(value, np.datetime64 | dt.date):
        return TIMES[0] if getattr(value, "tzinfo", None) is None else TIMES[1]
    if isinstance(value, dt.time):
        return TIMES[3]
    if isinstance(value, list | np.ndarray):
        numbers = all(isinstance(number, _NUMBERS) or is_missing(number) for number in value)
        return VECTOR if numbers and np.ndim(value) == 1 else ""
    if isinstance(value, _NUMBERS) and not isinstance(value, np.complexfloating):
        return "number"
    is_odd = isinstance(value, complex | np.complexfloating) or type(value).__name__ in _UNREAD
    return "category" if isinstance(value, Hashable) and not is_odd else ""


def seconds_of(values: Any, name: Any) -> NDArray[np.float64]:
    """Return times as seconds; the same number whatever their resolution, NaN for missing ones."""
    array = np.asarray(values.to_numpy() if hasattr(values, "to_numpy") else values)
    if array.dtype.kind not in "mM":
        cells = [np.nan if is_missing(value) else _seconds(value, name) for value in array.ravel()]
        return np.array(cells, dtype=np.float64).reshape(array.shape)
    unit, step = np.datetime_data(array.dtype)
    if unit in ("Y", "M") and array.dtype.kind == "M":
        array, unit, step = array.astype("datetime64[D]"), "D", 1
    ticks = array.astype(np.int64)
    if unit in _SECONDS_PER:
        seconds = ticks * float(_SECONDS_PER[unit] * step)
    elif unit in _PER_SECOND:
        # Whole seconds are kept apart from the rest. With a single rounding, every resolution
        # gives the same number.
        whole, rest = np.divmod(ticks * step, _PER_SECOND[unit])
        seconds = whole + rest / _PER_SECOND[unit]
    else:
        raise ValueError(
            f"column {name!r} of X must have times in weeks, days, hours, minutes, seconds or "
            f"parts of seconds, got the unit {unit!r}. Convert it, e.g. with "
            "astype('timedelta64[s]')."
        )
    return np.where(np.isnat(array), np.nan, seconds)


def _seconds(value: Any, name: Any) -> float:
    if isinstance(value, np.generic):
        return float(seconds_of(np.asarray(value), name))
    for convert in ("to_datetime64", "to_timedelta64"):  # pandas, with nanoseconds
        if hasattr(value, convert):
            return float(seconds_of(np.asarray(getattr(value, convert)()), name))
    if isinstance(value, dt.datetime):
        return _of_timedelta(value - (_EPOCH if value.tzinfo is None else _EPOCH_UTC))
    if isinstance(value, dt.date):
        return 86_400.0 * (value - _EPOCH.date()).days
    if isinstance(value, dt.timedelta):
        return _of_timedelta(value)
    if isinstance(value, dt.time):
        since = 3_600 * value.hour + 60 * value.minute + value.second
        return since + value.microsecond / 10**6
    raise ValueError(
        f"column {name!r} of X must contain dates and times, as in fit, got {value!r}. Convert "
        "it, e.g. with pandas.to_datetime."
    )


def _of_timedelta(value: dt.timedelta) -> float:
    return 86_400 * value.days + value.seconds + value.microseconds / 10**6


def numbers_of(column: Any, name: Any) -> NDArray[np.float64]:
    """Return the values of a numeric column, finite or NaN."""
    try:
        values = np.asarray(column.to_numpy())
        if values.dtype.kind == "O":
            values = np.array(
                [np.nan if is_missing(value) else value for value in values], dtype=np.float64
            )
        if values.dtype.kind in "mM":
            raise TypeError
        values = values.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"column {name!r} of X must be numeric, as in fit. Pass numbers, and NaN for missing "
            "values."
        ) from None
    if np.isinf(values).any():
        raise ValueError(
            f"column {name!r} of X contains infinity. Replace it with a finite number, or with "
            "NaN for a missing value."
        )
    return values
