"""Recognise columns of dates in tables."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from datetime import date, datetime, timezone
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify._messages import import_extra, shorten

__all__ = [
    "is_date",
    "is_foreign_date",
    "is_time",
    "moment_of",
    "seconds_of_times",
    "with_dates",
]


_ISO = re.compile(
    r"(?P<day>\d{4}-\d{2}-\d{2})(?:[T ](?P<time>\d{2}:\d{2}(?::\d{2})?)(?:\.(?P<part>\d{1,9}))?"
    r"(?P<zone>Z|[+-]\d{2}:?\d{2})?)?"
)
_FOREIGN = re.compile(r"\d{1,4}([./-])\d{1,2}\1\d{1,4}(?:[T ,].*)?")


def is_date(text: str) -> bool:
    """Return whether a text is a date in ISO 8601 format, with or without a time."""
    return moment_of(text) is not None


def is_foreign_date(text: str) -> bool:
    """Return whether a text looks like a date in another notation, such as 31.01.2024."""
    return _FOREIGN.fullmatch(text) is not None and not is_date(text)


def is_time(column: Any) -> bool:
    """Return whether a column has a data type for dates or durations."""
    return getattr(column.dtype, "kind", "") in ("m", "M")


def seconds_of_times(column: Any) -> NDArray[np.float64]:
    """Return the dates or durations of a column in seconds; NaN if missing."""
    if getattr(column.dtype, "tz", None) is not None:
        column = column.dt.tz_convert("UTC").dt.tz_localize(None)
    ticks = column.to_numpy().astype(f"{column.dtype.kind}8[us]")
    return np.where(np.isnat(ticks), np.nan, ticks.astype(np.int64) / 1e6)


def with_dates(frame: Any, exempt: Collection[str | None]) -> tuple[Any, list[str]]:
    """Convert the columns whose cells are all dates in ISO 8601 format or missing."""
    changed = {}
    for name in frame.columns:
        if name not in exempt and getattr(frame[name].dtype, "kind", "O") == "O":
            dates = _dates_of(frame[name])
            if dates is not None:
                changed[name] = dates
    if not changed:
        return frame, []
    columns = "column" if len(changed) == 1 else "columns"
    return frame.assign(**changed), [f"{columns} {shorten(changed)}: read as dates"]


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
