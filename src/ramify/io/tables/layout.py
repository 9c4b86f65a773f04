"""Find how a CSV file is laid out: delimiter, column names, decimal mark, totals and footnotes.

Everything is found from the first rows. A mark counts only if the rows agree on it, and what a
user has given is never doubted.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice
from os import fspath
from typing import Any

from ramify._validation import is_missing
from ramify.io.errors import FormatError
from ramify.io.files import FilePath
from ramify.io.formats import TextForm
from ramify.io.tables.numbers import decimals_of, is_code, is_marker, is_number, written

BLANKS = " "
"""The delimiter that means runs of blanks and tabs."""

_DELIMITERS = (",", ";", "\t", "|")
_N_BYTES = 1 << 16  # of the file from which the layout is found
_N_ROWS = 200
_N_LINES = 5
_DOUBTFUL = 0.4  # regularity below which blanks are tried as delimiters
_RUN_OF_BLANKS = re.compile(r"[ \t]+")
_MARKS = re.compile(r"[,;|]|[ \t]+")
_HEADER = re.compile(r"([1-9]\d{0,5})(?:-([1-9]\d{0,5}))?")


@dataclass
class Layout:
    """How a CSV file is laid out."""

    delimiter: str
    names: list[str]  # the column names, not yet unique
    n_lines: int  # the number of lines up to the last one with column names
    n_names: int = 1  # the number of rows of column names
    decimal: str | None = None  # the decimal mark, if it is certain
    is_open: bool = False  # whether numbers with a point may have groups of digits instead
    # Positions of columns whose first cells must be seen as they are written: codes such as 007,
    # and numbers such as 1.234, which may be 1234.
    verbatim: frozenset[int] = frozenset()
    notes: list[str] = field(default_factory=list)


def find_layout(
    path: FilePath,
    content: bytes,
    form: TextForm,
    usual: str,
    *,
    is_sheet: bool = False,
    has_merged: bool = False,
) -> Layout:
    """Return the layout of a text in UTF-8 whose lines end in line feeds."""
    lines = _first_lines(content)
    n_comments = 0 if form.header is not None else _count_comments(lines)
    title = lines[0]
    lines = [*([""] * n_comments), *lines[n_comments:]]
    hint = form.hint.delimiter if form.hint else None
    delimiter, rows = form.delimiter, None
    if delimiter is None:
        delimiter, rows = _find_delimiter(lines, usual, hint, form.decimal)
    rows = _rows(path, lines, delimiter) if rows is None else rows
    layout = _find_names(path, rows, form, delimiter, fill=not has_merged)
    if n_comments and not layout.notes:
        line = layout.n_lines - layout.n_names + 1
        layout.notes.append(_told_above(n_comments, line, title))
    body = [cells for line, cells in rows if line > layout.n_lines and any(cells)]
    _drop_surplus(layout, body)
    _find_decimal(layout, body, form, is_sheet=is_sheet)
    if delimiter != usual and form.delimiter is None:
        what = "runs of blanks" if delimiter == BLANKS else repr(delimiter)
        layout.notes.insert(0, f"cells are separated by {what} (delimiter={delimiter!r})")
    return layout


def _first_lines(content: bytes) -> list[str]:
    """Return the first lines: as many as fit into some bytes, and some even if they do not."""
    start = 0
    for _ in range(_N_LINES):
        start = content.find(b"\n", start) + 1 or len(content)
    head = content[: max(start, _N_BYTES)]
    if len(head) < len(content):
        head = head[: head.rfind(b"\n") + 1]
    return head.decode("utf-8", "ignore").split("\n")


def _count_comments(lines: Sequence[str]) -> int:
    """Return the number of comments above the table, which begin with #.

    The last of such lines has the column names if numbers follow, in as many cells.
    """
    count = next((k for k, line in enumerate(lines) if not line.startswith("#")), 0)
    if count == 0:
        return 0
    last, first = (_MARKS.split(line.strip("# \t")) for line in lines[count - 1 : count + 1])
    is_header = (
        len(last) == len(first) and any(map(is_number, first)) and not any(map(is_number, last))
    )
    return count - is_header


# ---- the delimiter --------------------------------------------------------------------------


def _find_delimiter(
    lines: Sequence[str], usual: str, hint: str | None, decimal: str | None
) -> tuple[str, list[tuple[int, list[str]]] | None]:
    """Return the delimiter by which the first rows make the most regular table, and the rows."""
    first = dict.fromkeys([hint or usual, usual, *_DELIMITERS])
    scores = {mark: _regularity(lines, mark) for mark in first if mark != BLANKS}
    # The earlier one if they are equal, and rather none that a user has called the decimal mark.
    best = max(scores, key=lambda mark: scores[mark][0] / (2 if mark == decimal else 1))
    if scores[best][0] > _DOUBTFUL:
        return best, scores[best][1]
    _, rows = _regularity(lines, BLANKS)
    widths = [len(cells) for _, cells in rows if any(cells)]
    # Any text has blanks, so all rows must agree, apart from texts above them.
    while len(widths) > 3 and widths[0] != widths[1]:
        widths.pop(0)
    if len(widths) > 1 and len(set(widths)) == 1 and widths[0] > 1:
        return BLANKS, rows
    return (best, scores[best][1]) if scores[best][0] > 0 else (usual, None)


def _regularity(lines: Sequence[str], mark: str) -> tuple[float, list[tuple[int, list[str]]]]:
    """Return how regular the rows are with a delimiter, 0 to 1: 0 if there is one column."""
    try:
        rows = _read_rows(lines, mark)
    except csv.Error:
        return 0.0, []
    kept = [cells for _, cells in rows if any(map(str.strip, cells))]
    widths = Counter(map(len, kept))
    if not widths:
        return 0.0, rows
    width, n_rows = max(widths.items(), key=lambda item: (item[1], item[0]))
    if width < 2:
        return 0.0, rows
    tidy = [_is_tidy(cell, mark) for cells in kept if len(cells) == width for cell in cells]
    # A table begins with the names of its columns; texts above them are the exception.
    begins = 1.0 if len(kept[0]) == width else 0.8
    return begins * n_rows / len(kept) * (0.25 + 0.75 * sum(tidy) / len(tidy)), rows


def _is_tidy(cell: str, mark: str) -> bool:
    """Return whether a cell does not look as if it had to be divided at another mark."""
    others = [other for other in _DELIMITERS if other != mark and other in cell]
    if not others or mark == BLANKS:
        return True
    return written(cell.strip()) is not None or (others == [","] and ", " in cell)


def _read_rows(lines: Sequence[str], mark: str) -> list[tuple[int, list[str]]]:
    """Return the first rows with the number of the last line of each, from 1."""
    if mark == BLANKS:
        lines = [_RUN_OF_BLANKS.sub(" ", line).strip() for line in lines]
    reader = csv.reader((f"{line}\n" for line in lines), delimiter=mark)
    return [(reader.line_num, cells) for cells in islice(reader, _N_ROWS)]


def _rows(path: FilePath, lines: Sequence[str], mark: str) -> list[tuple[int, list[str]]]:
    try:
        return _read_rows(lines, mark)
    except csv.Error as error:
        raise FormatError(
            f"{fspath(path)}, line 1: cannot read the column names: {error}."
        ) from None


# ---- the column names -----------------------------------------------------------------------


def _find_names(
    path: FilePath,
    rows: list[tuple[int, list[str]]],
    form: TextForm,
    delimiter: str,
    *,
    fill: bool,
) -> Layout:
    """Return the column names; `fill`: whether empty cells continue the name on the left."""
    filled = [(line, _stripped(cells)) for line, cells in rows if any(map(str.strip, cells))]
    if not filled:
        raise FormatError(
            f"{fspath(path)} is not a table: it is empty. Put the column names in the first line."
        )
    if form.header is not None:
        return _given_names(path, filled, form.header, delimiter, fill=fill)
    may_have_two = delimiter != BLANKS  # texts above the names have blanks, too
    start = _first_of_table([cells for _, cells in filled], whole=not may_have_two)
    if (
        may_have_two and start and sum(map(bool, filled[start - 1][1])) > 1
    ):  # names of groups, which are fewer
        tops, second, *rest = (cells for _, cells in filled[start - 1 :])
        start -= _are_names(tops, second, rest)
    line, names = filled[start]
    below = [cells for _, cells in filled[start + 1 :]]
    layout = Layout(delimiter, names, line)
    if start:
        title = " ".join(dict.fromkeys(filter(None, filled[0][1])))
        layout.notes.append(_told_above(filled[start - 1][0], line, title))
    if may_have_two and len(below) > 2 and _are_names(names, below[0], below[1:]):
        layout.n_lines, layout.n_names = filled[start + 1][0], 2
        layout.names = _joined(names, below[0], fill=fill)
        layout.notes.append(
            f"the column names are in lines {line} and {layout.n_lines}, such as "
            f"{next(name for name in layout.names if ' ' in name or name)!r} "
            f"(header={line} reads line {line} alone)"
        )
    return layout


def _told_above(n_lines: int, line: int, title: str) -> str:
    """Return the note that some lines above the column names are not read."""
    lines = "line 1 is" if n_lines == 1 else f"lines 1 to {n_lines} are"
    return (
        f"{lines} not part of the table, whose column names are in line {line}: {title[:60]!r} "
        "(header=1 reads line 1 as names)"
    )


def _given_names(
    path: FilePath,
    filled: list[tuple[int, list[str]]],
    header: str,
    delimiter: str,
    *,
    fill: bool,
) -> Layout:
    found = _HEADER.fullmatch(str(header))
    if found is None or (found[2] and int(found[2]) <= int(found[1])):
        raise ValueError(
            f"header must be a line, counted from 1, or two lines such as '3-4', got {header!r}."
        )
    by_line = dict(filled)
    lines = [int(number) for number in found.groups() if number]
    missing = [line for line in lines if line not in by_line]
    if missing:
        raise FormatError(
            f"{fspath(path)}, line {missing[0]}: expected column names, found none within the "
            f"first {filled[-1][0]} lines. Pass the line of the names as header."
        )
    names = by_line[lines[0]]
    if len(lines) == 2:
        names = _joined(names, by_line[lines[1]], fill=fill)
    return Layout(delimiter, names, lines[-1], len(lines))


def _stripped(cells: list[str]) -> list[str]:
    return [cell.strip() for cell in cells]


def _first_of_table(rows: Sequence[list[str]], *, whole: bool = False) -> int:
    """Return the position of the column names: 0 unless few cells stand above a wider table."""
    # A title that is merged has the same text in several cells, which count once.
    counts = [sum(map(bool, cells)) if len(set(cells) - {""}) > 1 else 1 for cells in rows]
    usual = sorted(counts)[len(counts) // 2]
    # The rows may have missing cells, but not half of them in more than half of the rows.
    fits = (n == usual if whole else 2 * n > usual and n > 1 for n in counts)
    first = next((k for k, fit in enumerate(fits) if fit), 0)
    names = [cell for cell, _ in groupby(rows[first]) if cell]  # merged cells count once
    is_header = len(set(names)) == len(names) and not any(map(is_number, names))
    return first if is_header and len(rows) > first + 1 else 0


def _are_names(names: list[str], second: list[str], below: Sequence[list[str]]) -> bool:
    """Return whether a second row has names, too: words above columns of numbers."""
    width = max(len(names), len(second))
    cells = second + [""] * (width - len(second))
    if not below or any(map(is_number, cells)) or sum(map(bool, cells)) < 2:
        return False
    columns = [[row[j] for row in below if j < len(row) and row[j]] for j in range(width)]
    numeric = [
        j
        for j in range(width)
        if columns[j] and all(is_marker(cell) or written(cell) for cell in columns[j])
    ]
    words = [j for j in numeric if cells[j]]
    # A single word above numbers may be a mistake in the first row of data.
    return (
        len(words) >= 2
        and 2 * len(words) > len(numeric)
        and not any(cells[j] in columns[j] for j in range(width) if cells[j])
        and not any(is_marker(cells[j]) for j in words)
    )


def _joined(tops: list[str], names: list[str], *, fill: bool) -> list[str]:
    """Join two rows of names; a merged cell stands above several names, but is written once."""
    width = max(len(tops), len(names))
    above, joined = "", []
    for top, name in zip(
        tops + [""] * (width - len(tops)), names + [""] * (width - len(names)), strict=True
    ):
        above = top or (above if name and fill else "")
        joined.append(" ".join(dict.fromkeys(part for part in (above, name) if part)))
    return joined


def _drop_surplus(layout: Layout, body: Sequence[list[str]]) -> None:
    """Name the cells after the last name if all rows end in a delimiter."""
    n_names = len(layout.names)
    width = max(map(len, body), default=0)
    if width == n_names + 1 and not any(cell for cells in body for cell in cells[n_names:]):
        layout.names = [*layout.names, ""]


# ---- the decimal mark -----------------------------------------------------------------------


def _find_decimal(
    layout: Layout, body: Sequence[list[str]], form: TextForm, *, is_sheet: bool
) -> None:
    """Find the decimal mark, and the columns whose cells must be seen as they are written.

    In a sheet, cells that are numbers are no evidence: they have been written with a point here.
    """
    found: Counter[str] = Counter()
    codes, doubtful = set(), set()
    for j in range(len(layout.names)):
        cells = [cell for cells in body if j < len(cells) and (cell := cells[j].strip())]
        parts = [part.body for cell in cells if (part := written(cell))]
        if 2 * len(parts) <= len(cells):
            continue
        if any(map(is_code, cells)):
            codes.add(j)
        decimals = decimals_of(parts)
        if len(decimals) == 1:
            found.update(decimals)
        elif decimals:  # such as 1.234 in all cells, which is 1.234 or 1234
            doubtful.add(j)
    decimal = form.decimal
    if decimal is None and form.thousands in (".", ","):
        decimal = "," if form.thousands == "." else "."
    if decimal is None and found and not is_sheet:
        decimal = found.most_common(1)[0][0]
    if decimal is None and form.hint is not None:
        decimal = form.hint.decimal
    layout.decimal = decimal
    # Programs that write commas or tabs between cells write points in numbers, as do spreadsheets.
    may_be_point = is_sheet or layout.delimiter in ",\t"
    layout.is_open = decimal is None and not may_be_point
    layout.verbatim = frozenset(codes | doubtful if layout.is_open else codes)


# ---- below the rows -------------------------------------------------------------------------


_MOST_ROWS = 10
_TOTAL = re.compile(
    r"(?:(?:grand|sub|over)[ -]?)?totals?|all|sum|sums|summe|summen|gesamt|gesamtsumme|insgesamt"
    r"|mean|average|avg\.?|mittelwert|mittel|durchschnitt|median|total général|totale|suma|[∑Σ]",
    re.IGNORECASE,
)


def without_footer(frame: Any, targets: Sequence[str]) -> tuple[Any, list[str]]:
    """Leave out totals and footnotes at the end, and say so.

    Totals have a word such as "Total" that occurs in no other row, and no label; a footnote is a
    text of several words alone in its row. Other rows without labels are data.
    """
    n_rows = len(frame)
    dropped: list[str] = []
    last = n_rows
    for place in range(n_rows - 1, max(n_rows - _MOST_ROWS, 1) - 1, -1):
        cells = {
            name: str(value).strip()
            for name, value in frame.iloc[place].items()
            if not is_missing(value) and str(value).strip()
        }
        if not cells:
            continue
        word = _word_of_footer(frame, place, cells, targets)
        if word is None:
            break
        last = place
        dropped.insert(0, word)
    if not dropped:
        return frame, []
    rows = "row was" if len(dropped) == 1 else "rows were"
    listed = ", ".join(repr(word[:60]) for word in dropped)
    note = f"{len(dropped)} {rows} left out below the data: {listed} (footer='keep')"
    return frame.iloc[:last], [note]


def _word_of_footer(
    frame: Any, place: int, cells: dict[str, str], targets: Sequence[str]
) -> str | None:
    """Return the text that shows that a row is none of the data; None if it is a row of data."""
    first, text = next(iter(cells.items()))
    labels = [cells[name] for name in targets if name in cells]
    plain = text.rstrip(": ")
    if _TOTAL.fullmatch(plain) and labels in ([], [text]):
        above = frame[first].iloc[:place].astype(str).str.strip()
        return None if (above == text).any() else text
    is_note = len(cells) == 1 and len(frame.columns) > 2 and (first == frame.columns[0])
    is_prose = len(text.split()) > 2 or text.startswith(("*", "†", "1)")) or ": " in text
    return text if is_note and is_prose and first not in targets else None
