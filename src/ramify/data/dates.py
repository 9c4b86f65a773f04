"""Recognise columns of dates in tables, in ISO 8601 and other notations."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timezone
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify._messages import import_extra, shorten

_ISO = re.compile(
    r"(?P<day>\d{4}-\d{2}-\d{2})(?:[T ](?P<time>\d{2}:\d{2}(?::\d{2})?)(?:\.(?P<part>\d{1,9}))?"
    r"(?P<zone>Z|[+-]\d{2}:?\d{2})?)?"
)
DATE_ORDERS = ("dmy", "mdy")
"""The orders of day, month and year of dates that do not begin with the year."""

_WRITTEN = re.compile(
    r"(?P<first>\d{1,4})(?P<mark>[./-]) ?(?P<second>\d{1,2})(?P=mark) ?(?P<third>\d{4}|\d{1,2})"
    r"(?:[T ,] ?(?P<time>\d{1,2}:\d{2}(?::\d{2})?)(?: ?(?P<half>[ap])\.?m\.?)?"
    r"(?: (?:GMT|UTC)(?:[+-]\d{1,2}(?::?\d{2})?)?)?)?",  # time of the place
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"(?:(?P<day>\d{1,2})(?:\.|er|º)?[ -]?(?:de )?(?P<month>[^\W\d_]{3,10})\.?,?"
    r"|(?P<month2>[^\W\d_]{3,10})\.? (?P<day2>\d{1,2}),?)[ -](?:de )?(?P<year>\d{4})"
)
_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january januar janvier enero gennaio janeiro januari",
            "february februar février febrero febbraio fevereiro februari",
            "march märz mrz mars marzo março maart mrt",
            "april avril abril aprile",
            "may mai mayo maggio maio mei",
            "june juni juin junio giugno junho",
            "july juli juillet julio luglio julho",
            "august août agosto augustus",
            "september septembre septiembre settembre setembro",
            "october oktober octobre octubre ottobre outubro",
            "november novembre noviembre novembro",
            "december dezember décembre diciembre dicembre dezembro",
        ),
        1,
    )
    for name in names.split()
}  # in English, German, French, Spanish, Italian, Portuguese and Dutch
_CLOCK = re.compile(
    r"(?P<time>\d{1,2}:[0-5]\d(?::[0-5]\d)?)(?: ?(?P<half>[ap])\.?m\.?| ?(?:h|Uhr))?",
    re.IGNORECASE,
)


def is_date(text: str) -> bool:
    """Return whether a text is a date in ISO 8601 format, with or without a time."""
    return moment_of(text) is not None


def is_time(column: Any) -> bool:
    """Return whether a column has a data type for dates or durations."""
    return getattr(column.dtype, "kind", "") in ("m", "M")


def is_clock(column: Any) -> bool:
    """Return whether a column of objects has times of day, some of which may be missing."""
    if getattr(column.dtype, "kind", "") != "O" or hasattr(column, "cat"):
        return False
    known = column[column.notna()]
    return len(known) > 0 and all(isinstance(cell, time) for cell in known)


def seconds_of_times(column: Any) -> NDArray[np.float64]:
    """Return the dates or durations of a column in seconds; NaN if missing."""
    if getattr(column.dtype, "tz", None) is not None:
        column = column.dt.tz_convert("UTC").dt.tz_localize(None)
    ticks = column.to_numpy().astype(f"{column.dtype.kind}8[us]")
    return np.where(np.isnat(ticks), np.nan, ticks.astype(np.int64) / 1e6)


def with_dates(
    frame: Any, exempt: Collection[str | None], known: Sequence[str] = ()
) -> tuple[Any, list[str]]:
    """Convert the columns whose cells are all dates in ISO 8601 format or missing."""
    changed: dict[str, Any] = {}
    for name in frame.columns:
        if name not in exempt and getattr(frame[name].dtype, "kind", "O") == "O":
            dates = _dates_of(frame[name])
            if dates is not None:
                changed[name] = dates
    names = [name for name in frame.columns if name in changed or name in known]
    if not names:
        return frame, []
    columns = "column" if len(names) == 1 else "columns"
    note = f"{columns} {shorten(names)}: read as dates"
    return (frame.assign(**changed) if changed else frame), [note]


def _dates_of(column: Any) -> Any:
    """Return a column of dates, or None if a cell is something else."""
    known = column[column.notna()]
    moments = _moments(dict.fromkeys(known.tolist()))
    if not moments:
        return None
    pandas = import_extra("pandas", "tables")
    cells = np.array([moments[cell] for cell in known], dtype="M8[us]")
    dates = pandas.Series(cells, index=known.index).reindex(column.index)
    return dates.dt.tz_localize("UTC") if _has_zone(known.iloc[0]) else dates


def _moments(cells: Iterable[Any]) -> dict[Any, datetime]:
    """Return the dates of some cells; empty unless all are dates, with or without time zones."""
    found = {}
    for cell in cells:
        moment = moment_of(cell) if isinstance(cell, str | date) else None
        if moment is None:
            return {}
        found[cell] = moment
    return found if len({_has_zone(cell) for cell in found}) == 1 else {}


def _has_zone(cell: Any) -> bool:
    if not isinstance(cell, str):
        return getattr(cell, "tzinfo", None) is not None
    found = _ISO.fullmatch(cell.strip())
    return found is not None and found["zone"] is not None


def moment_of(cell: str | date) -> datetime | None:
    """Return a date and time without time zone, in UTC if it had one; None if it is not a date."""
    if isinstance(cell, datetime):
        return _in_utc(cell)
    if isinstance(cell, date):
        return datetime(cell.year, cell.month, cell.day)
    found = _ISO.fullmatch(cell.strip())
    if found is None:
        return None
    part = ((found["part"] or "") + "000000")[:6]
    zone = (found["zone"] or "").replace("Z", "+00:00")
    if len(zone) == 5:
        zone = f"{zone[:3]}:{zone[3:]}"
    time = f"{found['time'] or '00:00'}:00"[:8]
    try:
        return _in_utc(datetime.fromisoformat(f"{found['day']}T{time}.{part}{zone}"))
    except (ValueError, OverflowError):
        return None


def _in_utc(moment: datetime) -> datetime:
    return (
        moment if moment.tzinfo is None else moment.astimezone(timezone.utc).replace(tzinfo=None)
    )


# ---- dates in other notations ---------------------------------------------------------------


@dataclass(frozen=True)
class Dates:
    """The dates that the cells of a column are."""

    # "ymd", one of `DATE_ORDERS`, or "" if the cells do not tell the day from the month.
    order: str
    moments: dict[str, datetime]  # by cell, in UTC if they have a time zone
    told: str = ""  # how the cells were read, unless they follow ISO 8601
    has_zone: bool = False


def read_dates(texts: Sequence[str], order: str | None = None) -> Dates | None:
    """Return the dates that texts are, all in one notation; None if some are something else.

    >>> read_dates(["31.12.2024", "1.2.2024"]).moments["1.2.2024"]
    datetime.datetime(2024, 2, 1, 0, 0)
    >>> read_dates(["03/04/2024"]).order, read_dates(["03/14/2024"]).order
    ('', 'mdy')
    """
    if not texts or not texts[0][:1].isalnum():
        return None
    if _ISO.fullmatch(texts[0]):
        dates = _moments(texts)
        return Dates("ymd", dates, has_zone=_has_zone(texts[0])) if dates else None
    return _read_named(texts) or _read_ordered(texts, order)


def _read_ordered(texts: Sequence[str], order: str | None) -> Dates | None:
    """Return dates of three numbers, such as 31.12.2024 and 12/31/2024 9:30 am."""
    found = []
    for text in texts:  # most columns end here, at their first cell
        one = _WRITTEN.fullmatch(text)
        if one is None:
            return None
        found.append(one)
    if len({(one["mark"], _width_of_year(one)) for one in found}) > 1:
        return None
    orders: tuple[str, ...] = ("ymd",) if len(found[0]["first"]) == 4 else DATE_ORDERS
    if order is not None and order in orders:
        orders = (order,)
    readings = {one: moments for one in orders if (moments := _ordered(found, one))}
    if not readings:
        return None
    first, moments = next(iter(readings.items()))
    is_clear = len(readings) == 1 or found[0]["mark"] == "."  # with points, the day is first
    if not is_clear and len({tuple(one.values()) for one in readings.values()}) > 1:
        return Dates("", {})
    text = max(texts, key=lambda one: moments[one].day)
    told = f"{text!r} as {moments[text]:%Y-%m-%d}"
    if _width_of_year(found[0]) == 2:
        told += ", years of two digits as 1969 to 2068"
    return Dates(first, moments, told)


def _width_of_year(found: re.Match[str]) -> int:
    return max(len(found["first"]) if len(found["first"]) > 2 else 0, len(found["third"]))


def _ordered(found: Sequence[re.Match[str]], order: str) -> dict[str, datetime] | None:
    """Return the dates of some texts if all are dates with day, month and year in this order."""
    moments = {}
    for one in found:
        numbers = (one["first"], one["second"], one["third"])
        parts = dict(zip(order, numbers, strict=True))
        year = int(parts["y"])
        if len(parts["y"]) == 2:
            # Two digits for all: a number such as 1.2.10 is rather a version.
            if not all(len(number) == 2 for number in numbers):
                return None
            year += 2000 if year < 69 else 1900
        elif len(parts["y"]) != 4:
            return None
        moment = _at(year, int(parts["m"]), int(parts["d"]), one["time"], one["half"])
        if moment is None:
            return None
        moments[one.string] = moment
    return moments


def _read_named(texts: Sequence[str]) -> Dates | None:
    """Return dates with names of months, such as 31 Dec 2024 and 3. März 2024."""
    moments = {}
    for text in texts:
        found = _NAMED.fullmatch(text)
        name = (found["month"] or found["month2"]).casefold() if found else ""
        months = {k for full, k in _MONTHS.items() if full.startswith(name)} if name else set()
        if found is None or len(months) != 1:  # "jui" is June or July
            return None
        month = months.pop()
        day = int(found["day"] or found["day2"])
        moment = _at(int(found["year"]), month, day, None, None)
        if moment is None:
            return None
        moments[text] = moment
    return Dates("ymd", moments, f"{texts[0]!r} as {moments[texts[0]]:%Y-%m-%d}")


def _at(year: int, month: int, day: int, time: str | None, half: str | None) -> datetime | None:
    hour, minute, second, *_ = (*map(int, (time or "0").split(":")), 0, 0)
    if half is not None:
        hour = hour % 12 + (12 if half.lower() == "p" else 0) if 1 <= hour <= 12 else 99
    try:
        return datetime(year, month, day, hour, minute, second)
    except ValueError:
        return None


def read_clock(texts: Sequence[str]) -> dict[str, time] | None:
    """Return the times of day that texts are; None if some are something else.

    >>> read_clock(["7:05", "9:30 pm", "12:00:59"])["9:30 pm"]
    datetime.time(21, 30)
    >>> read_clock(["7:05", "27:05"]) is None
    True
    """
    moments = {}
    for text in texts:
        found = _CLOCK.fullmatch(text)
        moment = None if found is None else _at(1970, 1, 1, found["time"], found["half"])
        if moment is None:
            return None
        moments[text] = moment.time()
    return moments or None
