"""Read the cells of columns of text as numbers, dates or names, and say what was done.

A column is read as something else than text only if all of its cells agree, apart from marks of
missing values. Where nearly all agree, or where the cells have two meanings, the column is a
problem: all problems of a table are reported together, each with its remedy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify._messages import counted, import_extra, shorten
from ramify.data.dates import Dates, is_time, read_clock, read_dates
from ramify.io.formats import TextForm
from ramify.io.tables.numbers import (
    NumberForm,
    Written,
    forms_of,
    is_code,
    is_known_unit,
    is_marker,
    is_unmistakable,
    on_compass,
    written,
)

__all__ = ["CellReading", "read_cells"]

_SAMPLE = 300  # distinct values by which most columns of names are told
_NEARLY_ALL = 0.9  # the share of numbers in a column that was probably meant to have only numbers
_MEANT = {
    "number": "a number",
    "date": "a date such as 2024-01-31",
    "time": "a time of day such as 09:30",
}
_MISSING_NUMBERS = frozenset(
    sign * (10**digits - 1) for sign in (1, -1) for digits in range(2, 7)
) | {-1, -9, -8888, -7777, -32768, 32767, 65535}  # that often mean missing values
_NO_MEASUREMENT = 1e30  # the size of numbers that mean missing values in grids of maps
_CIRCLE = 360  # degrees
_FEW = 10  # distinct numbers that may be codes


@dataclass
class CellReading:
    """What was found in the cells of a table."""

    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)  # what must be told before the table is used
    reasons: dict[str, str] = field(default_factory=dict)  # why columns are what they are
    missing: list[str] = field(default_factory=list)  # texts that were taken for missing values
    decimal: str | None = None  # the decimal mark that the columns are sure about
    units: dict[str, str] = field(default_factory=dict)  # the unit of the numbers of a column
    dates: str | None = None  # the order of day and month
    trained: bool = False  # whether the kinds of columns are those of a model
    plain_dates: list[str] = field(default_factory=list)  # columns of dates in ISO 8601 format


@dataclass
class _Column:
    """A column of text: its distinct cells, and which of them every row has."""

    given: Any
    codes: NDArray[np.intp]  # the position of each cell in `texts`, -1 if it is missing
    texts: list[str | None]  # without blanks at their ends; None if missing
    counts: dict[str, int]  # how often the texts occur
    parts: Mapping[str, Written] = field(default_factory=dict)  # of the cells that have numbers
    is_bare: bool = False  # whether no cell has blanks at its ends

    @property
    def name(self) -> str:
        """The name of the column."""
        return str(self.given.name)

    @property
    def cells(self) -> Any:
        """The cells as they are written, without blanks at their ends."""
        if self.is_bare:
            return self.given
        return self.taken([*self.texts, None], object)

    @property
    def others(self) -> list[str]:
        """The cells without numbers that do not mean missing values."""
        return [text for text in self.counts if text not in self.parts and not is_marker(text)]

    def taken(self, values: Any, dtype: Any) -> Any:
        """Return a column of values for each text, and a last one for missing cells."""
        pandas = import_extra("pandas", "tables")
        found = np.empty(len(values), dtype)
        found[:] = values
        return pandas.Series(found[self.codes], index=self.given.index, name=self.given.name)

    def first_row(self, texts: Collection[str]) -> tuple[int, str]:
        """Return the first row, from 1, with one of some cells, and the cell."""
        wanted = [k for k, text in enumerate(self.texts) if text in set(texts)]
        row = int(np.argmax(np.isin(self.codes, wanted)))
        return row + 1, str(self.texts[self.codes[row]])


def read_cells(
    frame: Any,
    form: TextForm,
    kinds: Mapping[str, str],
    exempt: Collection[str | None],
    decimal: str | None = None,
    *,
    trained: bool = False,
) -> tuple[Any, CellReading]:
    """Convert the columns of text of a table."""
    found = CellReading(decimal=decimal, trained=trained)
    changed: dict[str, Any] = {}
    waiting: list[_Column] = []  # numbers with two meanings
    dated: list[_Column] = []
    for name in frame.columns:
        if name in exempt:
            continue
        kind = kinds.get(name)
        if getattr(frame[name].dtype, "kind", "O") != "O":
            _check_kind(frame[name], kind, found)
            continue
        column = _text_column(frame[name], form)
        if column is None:  # Python objects, such as dates of a parquet file
            continue
        if kind in ("category", "text"):
            changed[name] = column.cells
        elif kind not in ("date", "time") and _may_be_numbers(column, certain=kind == "number"):
            column.parts = on_compass(column.parts, _unit_of_training(column.name, form))
            numbers = _read_numbers(column, form, found, certain=kind == "number")
            if numbers is None:
                waiting.append(column)
            changed[name] = column.cells if numbers is None else numbers
        else:
            dated.append(column)
    for column in waiting:
        changed[column.name] = _settle_numbers(column, form, found, kinds)
    changed |= _read_dates(dated, form, found, kinds)
    if not trained:
        found.notes += [
            note
            for name in frame.columns
            if name not in exempt
            and (note := _odd_number_note(name, changed.get(name, frame[name])))
        ]
    return (frame.assign(**changed) if changed else frame), found


def _check_kind(column: Any, kind: str | None, found: CellReading) -> None:
    """Report a column of numbers that must be dates, or the other way round."""
    if kind not in ("date", "number") or not column.notna().any():
        return
    if is_time(column) != (kind == "date"):
        known = column.notna().to_numpy()
        first = column[known].iloc[0]
        text = str(first) if is_time(column) else f"{first:.15g}"
        shown = _Column(column, np.where(known, 0, -1), [text], {text: int(known.sum())})
        found.problems.append(_problem_of_cell(shown, [text], kind, found))


def _text_column(column: Any, form: TextForm) -> _Column | None:
    """Return a column without blanks at the ends of its cells; None if some are not texts."""
    pandas = import_extra("pandas", "tables")
    codes, uniques = pandas.factorize(column)
    distinct = list(uniques)
    if not all(isinstance(value, str) for value in distinct):
        return None
    marks = ("", *form.missing, *(form.hint.missing if form.hint else ()))
    texts = [None if (text := value.strip()) in marks else text for value in distinct]
    counts: Counter[str] = Counter()
    for text, n_cells in zip(
        texts, np.bincount(codes[codes >= 0], minlength=len(texts)), strict=True
    ):
        if text is not None:
            counts[text] += int(n_cells)
    return _Column(column, codes, texts, dict(counts), is_bare=texts == distinct)


# ---- numbers --------------------------------------------------------------------------------


def _may_be_numbers(column: _Column, *, certain: bool) -> bool:
    """Return whether most cells have numbers, which are then in `parts`."""
    texts = list(column.counts)
    some = texts[:: max(1, len(texts) // _SAMPLE)]
    known = [text for text in some if not is_marker(text)]
    n_numbers = sum(written(text) is not None for text in known)
    if not certain and (n_numbers == 0 or 2 * n_numbers < len(known)):
        return False
    column.parts = {text: part for text in texts if (part := written(text))}
    return True


def _read_numbers(
    column: _Column, form: TextForm, found: CellReading, *, certain: bool
) -> Any | None:
    """Return the numbers of a column, its cells if they are names; None if it is not clear."""
    name, others = column.name, column.others
    if not column.parts or others:
        if certain or _looks_numeric(column, others):
            found.problems.append(_problem_of_cell(column, others, "number", found))
        return column.cells if not column.parts or others else None
    if not certain and (reason := _no_numbers(column, form, found)):
        if reason != "category":
            found.reasons[name] = reason
        return column.cells
    forms = _forms(column, form)
    if not forms:
        if _looks_numeric(column, others, strict=True):
            bad = [text for text, part in column.parts.items() if not forms_of([part.body])]
            told = _problem_of_cell(column, bad or list(column.parts), "number", found)
            found.problems.append(told)
        return column.cells
    if len(forms) > 1:
        return None
    return _numbers(column, form, found, *next(iter(forms.items())))


def _forms(column: _Column, form: TextForm) -> dict[NumberForm, list[float]]:
    bodies = [part.body for part in column.parts.values()]
    forms = forms_of(bodies, form.decimal, form.thousands)
    if len(forms) > 1 and all(part.unit == "°" for part in column.parts.values()):
        forms = {one: values for one, values in forms.items() if max(map(abs, values)) <= _CIRCLE}
    return forms


def _no_numbers(column: _Column, form: TextForm, found: CellReading) -> str:
    """Return why a column of numbers is read as names; empty if it is read as numbers."""
    parts = column.parts
    plain = [text for text in column.counts if is_code(text)]
    if plain and len({len(text) for text in parts}) == 1:
        digits = len(plain[0])
        found.notes.append(
            f"column {column.name!r}: read as codes of {digits} digits, since some begin with 0, "
            f"such as {plain[0]} (kinds={{{column.name!r}: 'number'}})"
        )
        return f"codes of {digits} digits, some of which begin with 0"
    counts: Counter[str] = Counter()
    for text, part in parts.items():
        counts[part.unit] += column.counts[text]
    units = [unit for unit in counts if unit]
    if len(units) > 1:
        if all(map(is_known_unit, units)):
            listed = ", ".join(f"{unit} in {counts[unit]:,} cells" for unit in units[:4])
            found.problems.append(
                f"column {column.name!r} has numbers in several units: {listed}. Write one unit, "
                f"or read them as names: kinds={{{column.name!r}: 'category'}}"
            )
        return "category"
    if units:
        unit, n_cells = units[0], sum(counts.values())
        is_unit = (
            is_known_unit(unit)
            or len(unit) > 1
            or all(part.has_gap for part in parts.values() if part.unit)
        )
        if counts[unit] < _NEARLY_ALL * n_cells:
            # Half of the cells with %: 0.5 and 50 % may mean the same.
            if is_known_unit(unit) and len(parts) > _FEW:
                found.problems.append(
                    f"column {column.name!r} has numbers with {unit} in {counts[unit]:,} cells, "
                    f"without in {n_cells - counts[unit]:,}. Write all in one way, or read them "
                    f"as names: kinds={{{column.name!r}: 'category'}}"
                )
            return "category"
        if not is_unit:
            return "category"
    marked = sum(column.counts[text] for text, part in parts.items() if part.bound)
    # Classes such as <18 and >65 are names; a few limits among measurements are numbers.
    return "category" if 2 * marked > sum(column.counts[text] for text in parts) else ""


def _looks_numeric(column: _Column, others: Sequence[str], *, strict: bool = False) -> bool:
    """Return whether a column with other texts was probably meant to have only numbers."""
    if strict:
        return len(column.parts) > _FEW and _share_of_forms(column) >= _NEARLY_ALL
    plain = [
        text for text, part in column.parts.items() if not part.unit or is_known_unit(part.unit)
    ]
    n_numbers = sum(column.counts[text] for text in plain)
    n_known = sum(n for text, n in column.counts.items() if not is_marker(text))
    is_most = n_numbers >= _NEARLY_ALL * n_known or (
        len(plain) > 2 * _FEW and 2 * len(others) < len(column.counts)
    )
    return len(plain) > _FEW and is_most


def _share_of_forms(column: _Column) -> float:
    numbers = sum(bool(forms_of([part.body])) for part in column.parts.values())
    return numbers / len(column.parts)


def _settle_numbers(
    column: _Column, form: TextForm, found: CellReading, kinds: Mapping[str, str]
) -> Any:
    """Read numbers with two meanings by the decimal mark of the other columns."""
    forms = _forms(column, form)
    decimal = found.decimal or (form.hint.decimal if form.hint else None)
    fitting = [one for one in forms if one.decimal == decimal]
    if len(fitting) == 1:
        return _numbers(column, form, found, fitting[0], forms[fitting[0]])
    text = next(text for text, part in column.parts.items() if len(forms_of([part.body])) > 1)
    one, other = list(forms)[:2]
    point = one if one.thousands is None else other
    body = column.parts[text].body
    values = f"{forms_of([body], point.decimal)[point][0]:g}"
    mark = (other if point is one else one).thousands
    found.problems.append(
        f"column {column.name!r}: {text!r} can be {values} or {values.replace('.', '')}. If it is "
        f"the former, pass decimal={point.decimal!r}, otherwise thousands={mark!r}"
    )
    return column.cells


def _numbers(
    column: _Column, form: TextForm, found: CellReading, how: NumberForm, values: list[float]
) -> Any:
    """Return the numbers of a column, and note what was read and left out."""
    texts = list(column.parts)
    told, lead = [], "numbers"
    if any(how.decimal in column.parts[text].body for text in texts):
        found.decimal = found.decimal or how.decimal
    if how.thousands is not None:
        text = next(text for text in texts if how.thousands in column.parts[text].body)
        told.append(f"{text!r} as {values[texts.index(text)]:g}")
    units = {part.unit for part in column.parts.values() if part.unit}
    if units:
        unit = next(iter(units))
        found.units[column.name] = unit
        expected = _unit_of_training(column.name, form)
        if expected not in ("", unit):
            found.problems.append(
                f"column {column.name!r} has numbers in {unit}, but the model was trained on "
                f"numbers in {expected}. Convert them"
            )
        lead = f"numbers in {unit}"
        n_without = sum(column.counts[text] for text in texts if not column.parts[text].unit)
        if n_without:
            told.append(f"also {n_without:,} without the unit")
    for what, marked in (
        ("about", [text for text in texts if column.parts[text].about]),
        ("a limit", [text for text in texts if column.parts[text].bound]),
    ):
        if marked:
            n_cells = sum(column.counts[text] for text in marked)
            number = values[texts.index(marked[0])]
            told.append(f"{marked[0]!r} as {number:g} ({what}; {counted(n_cells, 'cell')})")
    told += _told_missing(column, found)
    if told or units:
        found.reasons[column.name] = ", ".join([lead, *told])
        found.notes.append(
            f"column {column.name!r}: read as {found.reasons[column.name]} "
            f"(kinds={{{column.name!r}: 'category'}})"
        )
    meant = dict(zip(texts, values, strict=True))
    numbers = [meant.get(text or "", np.nan) for text in column.texts]
    return column.taken([*numbers, np.nan], np.float64)


def _unit_of_training(name: str, form: TextForm) -> str:
    units = form.hint.units if form.hint else ()
    return next((one.removeprefix(f"{name}=") for one in units if one.startswith(f"{name}=")), "")


def _told_missing(column: _Column, found: CellReading) -> list[str]:
    """Return what to say of the marks of missing values of a column of numbers or dates."""
    marks = [text for text in column.counts if is_marker(text)]
    found.missing += [mark for mark in marks if mark not in found.missing]
    return [f"{mark!r} as missing ({counted(column.counts[mark], 'cell')})" for mark in marks[:3]]


def _problem_of_cell(column: _Column, others: Sequence[str], kind: str, found: CellReading) -> str:
    row, text = column.first_row(others)
    n_cells = sum(column.counts[other] for other in others)
    more = f" (and {n_cells - 1:,} more such cells)" if n_cells > 1 else ""
    what = _MEANT[kind]
    why = f"the model was trained on {kind}s" if found.trained else "most cells of the column are"
    told = (
        f"column {column.name!r}, row {row} below the column names: {text!r} is not {what}, "
        f"although {why}{more}. If it means that the value is missing, pass missing=[{text!r}]"
    )
    if found.trained:
        return told
    return (
        f"{told}. To leave the column out, pass drop=[{column.name!r}], and to read its cells as "
        f"names, kinds={{{column.name!r}: 'category'}}"
    )


def _odd_number_note(name: str, column: Any) -> str:
    """Return a note on a number such as -999 that probably means missing values; empty if none."""
    if getattr(column.dtype, "kind", "O") not in "if":
        return ""
    values = np.asarray(column, dtype=np.float64)
    for mark in (np.nanmin(values, initial=0), np.nanmax(values, initial=0)):
        if mark not in _MISSING_NUMBERS and abs(mark) < _NO_MEASUREMENT:
            continue
        others = values[~np.isnan(values) & (values != mark)]
        n_cells = int((values == mark).sum())
        # Far from all others, which are no marks themselves.
        if n_cells < 2 or len(others) <= _FEW or np.ptp(others) == 0:
            continue
        distance = max(others.min() - mark, mark - others.max())
        if distance > 2 * np.ptp(others):
            return (
                f"column {name!r}: {mark:.15g} in {counted(n_cells, 'cell')} is far from all "
                f"other numbers, {others.min():.4g} to {others.max():.4g}; if it means that the "
                f"value is missing, pass missing=['{mark:.15g}']"
            )
    return ""


# ---- dates and names ------------------------------------------------------------------------


def _read_dates(
    columns: Sequence[_Column], form: TextForm, found: CellReading, kinds: Mapping[str, str]
) -> dict[str, Any]:
    """Read columns of dates; other columns have names."""
    changed: dict[str, Any] = {}
    ambiguous: list[_Column] = []
    for column in columns:
        texts = [text for text in column.counts if not is_marker(text)]
        dates = read_dates(texts, form.dates)
        clock = read_clock(texts) if dates is None else None
        if clock is not None:
            changed[column.name] = _clock(column, clock, found)
        elif dates is None:
            changed[column.name] = _names(column, found, kinds)
        elif dates.order == "":
            ambiguous.append(column)
        else:
            found.dates = found.dates or (dates.order if dates.order != "ymd" else None)
            changed[column.name] = _dates(column, dates, found)
    order = found.dates or (form.hint.dates if form.hint else None)
    for column in ambiguous:
        dates = read_dates([text for text in column.counts if not is_marker(text)], order)
        if order is None or dates is None or dates.order == "":
            text = next(iter(column.counts))
            found.notes.append(
                f"column {column.name!r}: dates such as {text!r} can begin with the day or the "
                "month and were read as text; pass dates='dmy' or dates='mdy'"
            )
            changed[column.name] = column.cells
        else:
            changed[column.name] = _dates(column, dates, found)
    return changed


def _dates(column: _Column, dates: Dates, found: CellReading) -> Any:
    told = _told_missing(column, found)
    if dates.told:
        told.insert(0, dates.told)
    if not told:
        found.plain_dates.append(column.name)
    else:
        found.reasons[column.name] = ", ".join(["dates", *told])
        found.notes.append(
            f"column {column.name!r}: read as {found.reasons[column.name]} "
            f"(kinds={{{column.name!r}: 'category'}})"
        )
    moments = [dates.moments.get(text or "") for text in column.texts]
    series = column.taken(np.array([*moments, None], dtype="M8[us]"), "M8[us]")
    return series.dt.tz_localize("UTC") if dates.has_zone else series


def _clock(column: _Column, clock: Mapping[str, time], found: CellReading) -> Any:
    """Return a column of times of day."""
    text = max(clock, key=len)
    told = [f"times of day, {text!r} as {clock[text]}", *_told_missing(column, found)]
    found.reasons[column.name] = ", ".join(told)
    found.notes.append(
        f"column {column.name!r}: read as {found.reasons[column.name]} "
        f"(kinds={{{column.name!r}: 'category'}})"
    )
    return column.taken([*(clock.get(text or "") for text in column.texts), None], object)


def _names(column: _Column, found: CellReading, kinds: Mapping[str, str]) -> Any:
    """Return the cells of a column of names; report dates with other cells among them."""
    texts = [text for text in column.counts if not is_marker(text)]
    kind = kinds.get(column.name, "")
    certain = kind in ("date", "time")
    some = texts[:: max(1, len(texts) // _SAMPLE)]
    if certain or 3 * sum(map(_is_date, some)) > len(some) > 0:
        others = [text for text in texts if not _is_date(text)]
        n_others = sum(column.counts[text] for text in others)
        if others and (certain or 2 * n_others < sum(column.counts[text] for text in texts)):
            kind = "time" if read_clock([text for text in texts if _is_date(text)]) else "date"
            found.problems.append(_problem_of_cell(column, others, kind, found))
        elif texts and not others:
            found.problems.append(
                f"column {column.name!r} has dates in several notations, such as {texts[0]!r} and "
                f"{texts[-1]!r}. Write them in one, such as 2024-01-31, or read them as names: "
                f"kinds={{{column.name!r}: 'category'}}"
            )
    marks = [text for text in column.counts if is_unmistakable(text)]
    if not marks:
        return column.cells
    n_cells = sum(column.counts[mark] for mark in marks)
    found.missing += [mark for mark in marks if mark not in found.missing]
    found.notes.append(
        f"column {column.name!r}: {shorten(marks)} read as missing in {counted(n_cells, 'cell')} "
        f"(kinds={{{column.name!r}: 'category'}})"
    )
    return column.taken(
        [None if text in marks else text for text in [*column.texts, None]], object
    )


def _is_date(text: str) -> bool:
    return read_dates([text]) is not None or read_clock([text]) is not None
