"""Read CSV files and spreadsheets as data frames of cells, based on pandas."""

from __future__ import annotations

import codecs
import csv
import os
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, time
from io import BytesIO, StringIO
from itertools import islice
from os import fspath
from pathlib import Path
from typing import IO, Any

from ramify._messages import counted, did_you_mean, import_extra, shorten
from ramify.data.dates import DATE_ORDERS
from ramify.io.errors import FormatError, parsing
from ramify.io.files import FilePath, encoding_of, read_bytes, read_utf8
from ramify.io.formats import TextForm, format_of, usual_delimiter
from ramify.io.limits import ReadLimits
from ramify.io.tables.layout import BLANKS, Layout, find_layout

MISSING_WORDS = ("", "?", "NA", "N/A", "NaN", "nan", "null", "None")
"""The texts that mark a missing feature value in a CSV file."""

# Spreadsheets write such a line before the column names.
_DECLARED = re.compile(rb'\A(?:\xef\xbb\xbf)?"?sep=([^\r\n])"?(?:\r\n|\r|\n)')


_TOO_LONG = re.compile(r"Expected (\d+) fields in line (\d+), saw (\d+)")


def check_marks(form: TextForm) -> None:
    """Raise an error if a mark that a user has given cannot be one."""
    marks = {name: getattr(form, name) for name in ("delimiter", "decimal", "thousands")}
    for name, mark in marks.items():
        if mark is not None and not _is_mark(mark):
            raise ValueError(
                f"{name} must be a single punctuation character, got {mark!r}. Pass, for example, "
                "';'."
            )
    # They may be the delimiter, too: of numbers in quotes.
    if form.thousands is not None and form.thousands == form.decimal:
        raise ValueError(
            f"thousands must differ from the decimal, got {form.thousands!r} for both. Pass the "
            "decimal of the file, for example ','."
        )
    if form.dates not in (None, *DATE_ORDERS):
        raise ValueError(f"dates must be one of {list(DATE_ORDERS)}, got {form.dates!r}.")


def _is_mark(text: str) -> bool:
    """Return whether a text can separate cells or parts of numbers."""
    return len(text) == 1 and not text.isalnum() and text not in '"+-\r\n'


def pandas_marks(layout: Layout, form: TextForm, *, is_sheet: bool = False) -> dict[str, str]:
    """Return the delimiter and the decimal mark as options of pandas."""
    decimal = "." if is_sheet else form.decimal or layout.decimal or "."
    if decimal == layout.delimiter:
        decimal = "."  # of the numbers in quotes
    return {"sep": r"\s+" if layout.delimiter == BLANKS else layout.delimiter, "decimal": decimal}


def declared_delimiter(content: bytes) -> tuple[str | None, int]:
    """Return the delimiter that a first line such as ``sep=;`` declares, and the line's length."""
    found = _DECLARED.match(content)
    return (found[1].decode("latin-1"), found.end()) if found else (None, 0)


def check_size(n_rows: int, n_columns: int, limits: ReadLimits, path: FilePath) -> None:
    """Check the number of columns and cells of a table before it is read."""
    limits.check("max_columns", n_columns, "the number of columns", fspath(path))
    what = "the number of rows times the number of columns"
    limits.check("max_cells", n_rows * n_columns, what, fspath(path))


@dataclass
class CsvCells:
    """The cells of a CSV file or spreadsheet, and how they were found to be written."""

    frame: Any  # missing cells are NaN
    layout: Layout
    encoding: str | None
    notes: list[str]


def read_csv(
    path: FilePath,
    form: TextForm,
    texts: Sequence[str],
    targets: Sequence[str],
    *,
    rename: bool,
    limits: ReadLimits,
) -> CsvCells:
    """Read a CSV file or spreadsheet. Labels and codes stay text: 01 stays 01."""
    pandas = import_extra("pandas", "tables")
    is_sheet = format_of(path) == "sheet"
    if Path(path).suffix.lower() in _OTHER_SHEETS:
        raise FormatError(
            f"{fspath(path)} is a spreadsheet in another format. Save it as .xlsx or .csv."
        )
    declared, start, encoding, has_merged = None, 0, None, False
    notes: list[str] = []
    if is_sheet:
        wanted = [part.strip() for name in targets for part in (name, *name.split(","))]
        content, notes, has_merged = sheet_as_csv(path, form.sheet, wanted, limits)
    else:
        content, encoding, notes = read_text(path, form.encoding, limits)
        declared, start = declared_delimiter(content)
        if declared is not None and not _is_mark(declared):
            raise FormatError(
                f"{fspath(path)}: the first line declares the delimiter {declared!r}, which must "
                "be a punctuation character. Correct the line, or remove it."
            )
    content = b"".join(with_line_feeds([content[start:]]))
    usual = "," if is_sheet else declared or usual_delimiter(path)
    if is_sheet or declared:
        form = replace(form, delimiter=form.delimiter if declared and form.delimiter else usual)
    check_marks(form)
    layout = find_layout(path, content, form, usual, is_sheet=is_sheet, has_merged=has_merged)
    names, renamed = _unique(path, layout, rename=rename)
    start = end_of_line(content, layout.n_lines)
    head = content[end_of_line(content, layout.n_lines - 1) : start]
    content, repeated = _without_lines(content[start:], head)
    notes += repeated
    check_size(content.count(b"\n"), len(names), limits, path)
    verbatim = [*texts, *(names[j] for j in layout.verbatim)]
    marks = pandas_marks(layout, form, is_sheet=is_sheet)
    options = pandas_options(names, form, marks, verbatim, targets)
    n_before = layout.n_lines + (declared is not None)
    if names and not content.lstrip():  # copies nothing if the first cell is not blank
        raise FormatError(f"{fspath(path)} has column names, but no rows below them.")
    try:
        frame = pandas.read_csv(BytesIO(content), **options)
        if layout.is_open and (doubtful := _with_points(frame)):
            options = pandas_options(names, form, marks, [*verbatim, *doubtful], targets)
            frame = pandas.read_csv(BytesIO(content), **options)
    except (pandas.errors.ParserError, pandas.errors.EmptyDataError) as error:
        raise _parser_error(path, str(error), n_before) from None
    if not isinstance(frame.index, pandas.RangeIndex):
        raise FormatError(
            f"{fspath(path)}: expected {len(names)} cells in every row, as in line "
            f"{n_before or 1}, found a row with more."
        )
    empty = [
        name
        for name, given in zip(names, layout.names, strict=True)
        if not given and name not in texts and frame[name].isna().all()
    ]
    return CsvCells(frame.drop(columns=empty), layout, encoding, [*notes, *layout.notes, *renamed])


def _without_lines(content: bytes, head: bytes) -> tuple[bytes, list[str]]:
    """Leave out lines that repeat the column names, as in files that were joined."""
    if len(head) < 2 or not (content.startswith(head) or b"\n" + head in content):
        return content, []
    lines = content.splitlines(keepends=True)
    kept = [line for line in lines if line != head]
    n_lines = len(lines) - len(kept)
    told = f"{counted(n_lines, 'line')} with the column names below the first were left out"
    return b"".join(kept), [told.replace("were", "was") if n_lines == 1 else told]


def _with_points(frame: Any) -> list[str]:
    """Return the columns of numbers with at most three decimals, which may be thousands."""
    columns = frame.select_dtypes("floating")
    thousands = columns * 1000
    is_group = (thousands.round(6) % 1 == 0) | columns.isna()
    return [name for name in columns if is_group[name].all() and (columns[name] % 1 > 0).any()]


def end_of_line(content: bytes, n_lines: int) -> int:
    """Return the position after some lines of a text."""
    end = 0
    for _ in range(n_lines):
        end = content.find(b"\n", end) + 1 or len(content)
    return end


def read_text(
    path: FilePath, encoding: str | None, limits: ReadLimits
) -> tuple[bytes, str, list[str]]:
    """Return a text in UTF-8, its encoding, and a note if it had to be found."""
    if encoding is not None:
        return read_utf8(path, encoding, limits), encoding, []
    content = read_bytes(path, limits)
    found, word = encoding_of(path, content)
    if found == "utf-8":
        return content.removeprefix(codecs.BOM_UTF8), found, []
    try:
        content = content.decode(found).removeprefix("\ufeff").encode()
    except UnicodeDecodeError as error:
        raise FormatError(f"{fspath(path)}: expected text in {found}: {error}.") from None
    example = f", as in {word!r}" if word else ""
    return content, found, [f"the text is encoded in {found}{example} (encoding={found!r})"]


def with_line_feeds(chunks: Iterable[bytes]) -> Iterator[bytes]:
    r"""Yield a text with line feeds at the ends of all lines.

    Some versions of pandas, such as 2.3, use up all memory if a carriage return alone ends a line
    of a file whose other lines end in a line feed.

    >>> list(with_line_feeds([b"a\rb\r", b"\nc\r"]))
    [b'a\nb', b'\nc', b'\n']
    """
    held = b""
    for chunk in chunks:
        text = held + chunk
        held = b"\r" if text.endswith(b"\r") else b""
        text = text.removesuffix(held)
        has_returns = b"\r" in text  # copied only if so
        yield text.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if has_returns else text
    if held:
        yield b"\n"


def pandas_options(
    names: Sequence[str],
    form: TextForm,
    marks: Mapping[str, str],
    texts: Sequence[str],
    targets: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the options of ``pandas.read_csv`` for a file with a header."""
    pandas = import_extra("pandas", "tables")
    words = {name: [*form.missing, *(() if name in targets else MISSING_WORDS)] for name in names}
    options: dict[str, Any] = {**marks, "keep_default_na": False, "low_memory": False}
    if tuple(map(int, pandas.__version__.split(".")[:2])) < (3, 1):
        options["float_precision"] = "round_trip"  # the default in later versions is exact
    return {
        **options,
        "header": None,
        "names": list(names),
        "na_values": {name: listed for name, listed in words.items() if listed},
        "dtype": dict.fromkeys((name for name in texts if name in names), str),
    }


def _parser_error(path: FilePath, message: str, n_before: int) -> FormatError:
    """Return an error for a message of the parser, which does not count earlier lines."""
    found = _TOO_LONG.search(message)
    if found is None:
        reason = message.removeprefix("Error tokenizing data. C error: ")
        return FormatError(f"{fspath(path)}: expected a CSV file: {reason}")
    expected, line, n_cells = map(int, found.groups())
    return FormatError(
        f"{fspath(path)}, line {line + n_before}: expected {expected} cells, as many as there are "
        f"column names, found {n_cells}. Write cells that contain the delimiter in quotes."
    )


def _unique(path: FilePath, layout: Layout, *, rename: bool) -> tuple[list[str], list[str]]:
    """Return the column names, made unique if requested, and notes on those that were renamed."""
    names, notes = unique_names(layout.names)
    if notes and not rename:
        counts = Counter(layout.names)
        repeated = next(name for name, count in counts.items() if count > 1)
        raise FormatError(
            f"{fspath(path)}, line {layout.n_lines}: expected unique column names, found "
            f"{repeated!r} more than once."
        )
    return names, notes


def unique_names(cells: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return column names without repetitions or empty ones, and notes on those that were renamed.

    >>> unique_names(["size", "size", "mass"])[0]
    ['size', 'size-1', 'mass']
    """
    names = [name or f"Unnamed: {at}" for at, name in enumerate(cells)]
    taken, seen = set(names), set[str]()
    last: Counter[str] = Counter()
    found, notes = [], []
    for at, name in enumerate(names):
        new = name
        while new in seen or (new != name and new in taken):
            last[name] += 1
            new = f"{name}-{last[name]}"
        seen.add(new)
        found.append(new)
        if new != name:
            notes.append(f"column {at + 1} was renamed to {new!r}: {name!r} occurs more than once")
    return found, notes


# ---- a sheet of a spreadsheet (.xlsx) as CSV text, within limits --------------------


_OTHER_SHEETS = (".xls", ".xlsb", ".ods", ".numbers")
_CHUNK = 1 << 20
_ROWS_JUDGED = 50  # of a sheet, from which it is told whether it has a table
_WIDEST_MERGED = 1_000  # columns that are filled, to limit memory
_MERGED = re.compile(rb'<mergeCell ref="([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})"')


def sheet_as_csv(
    path: FilePath, name: str | None, wanted: Sequence[str], limits: ReadLimits
) -> tuple[bytes, list[str], bool]:
    """Return a sheet as CSV text in UTF-8, notes, and whether cells of a row are merged.

    Without a name, the first with a column in `wanted`, or else the first with a table. It is read
    row by row: the last cell of a sheet may be used, and all cells up to it need too much memory.
    """
    openpyxl = import_extra("openpyxl", "excel")
    # openpyxl does not close a damaged file that it has opened.
    with parsing(path, "a spreadsheet (.xlsx)"), Path(path).open("rb") as file:
        _check_archive(file, limits, path)
        book = openpyxl.load_workbook(file, read_only=True, data_only=True, keep_links=False)
        sheets = book.worksheets
        if not sheets:
            raise FormatError(f"{fspath(path)} has no sheet with cells.")
        titles = [str(sheet.title) for sheet in sheets]
        if name is not None and name not in titles:
            raise FormatError(
                f"{fspath(path)} has no sheet {name!r}.{did_you_mean(name, titles)} The sheets "
                f"are {shorten(titles)}."
            )
        chosen, *others = _tables(sheets, wanted) if name is None else [titles.index(name)]
        sheets[chosen].reset_dimensions()  # what the file declares need not be true
        rows = list(_rows(sheets[chosen], limits, fspath(path)))
        ranges = _merged_ranges(path, sheets[chosen])
        n_filled = _fill_merged(rows, ranges)
    notes = []
    if name is None and len(titles) > 1:
        other = titles[next(iter(others), 0 if chosen else 1)]
        told = f"sheet {chosen + 1} of {len(titles)} was read: {titles[chosen]!r}"
        notes.append(f"{told} (sheet={other!r} reads another)")
    if n_filled:
        notes.append(
            f"{counted(n_filled, 'empty cell')} of merged cells got the value of the first"
        )
    has_wide = any(left < right for left, _, right, _ in ranges)
    return _as_csv([cells for _, cells in rows]), notes, has_wide


def _tables(sheets: Sequence[Any], wanted: Sequence[str]) -> list[int]:
    """Return the positions of sheets with tables, judged by their first rows, the best first."""
    tables = []
    for number, sheet in enumerate(sheets if len(sheets) > 1 else ()):
        sheet.reset_dimensions()
        some = islice(sheet.iter_rows(values_only=True, max_col=_WIDEST_MERGED), _ROWS_JUDGED)
        rows = [[_text(cell).strip() for cell in row] for row in some]
        if sum(sum(map(bool, cells)) > 1 for cells in rows) > 2:  # names and two rows
            tables.append((not any(name in cells for name in wanted for cells in rows), number))
    return [number for _, number in sorted(tables)] or [0]


def _merged_ranges(path: FilePath, sheet: Any) -> list[tuple[int, int, int, int]]:
    """Return the first and last columns and rows of merged cells, found in the sheet's text."""
    part = str(getattr(sheet, "_worksheet_path", ""))
    found = []
    with Path(path).open("rb") as file, zipfile.ZipFile(file) as archive:
        if part not in archive.namelist():
            return []
        rest = b""
        with archive.open(part) as stream:
            while chunk := stream.read(_CHUNK):
                text = rest + chunk
                found += _MERGED.findall(text)
                cut = text.rfind(b"<")
                rest = text[cut:] if cut >= 0 and len(text) - cut < 100 else b""
    return [
        (_column_number(left), int(top), _column_number(right), int(bottom))
        for left, top, right, bottom in dict.fromkeys(found)
    ]


def _column_number(letters: bytes) -> int:
    """Return the position of a column from its letters, from 0."""
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number - 1


def _fill_merged(
    rows: list[tuple[int, list[str]]], ranges: Sequence[tuple[int, int, int, int]]
) -> int:
    """Give all merged cells the value of the first; return how many below the first rows."""
    places = dict(rows)
    n_filled = 0
    for left, top, right, bottom in ranges:
        first = places.get(top, [])
        value = first[left] if left < len(first) else ""
        if not value or right - left > _WIDEST_MERGED:
            continue
        for number in range(top, bottom + 1):
            cells = places.get(number)
            if cells is None:
                break
            cells += [""] * (right + 1 - len(cells))
            empty = [k for k in range(left, right + 1) if not cells[k]]
            n_filled += len(empty) if number > top else 0
            for k in empty:
                cells[k] = value
    return n_filled


def _check_archive(file: IO[bytes], limits: ReadLimits, path: FilePath) -> None:
    """Check the size of the parts of a file, and that they define no entities."""
    with zipfile.ZipFile(file) as archive:
        infos = archive.infolist()
        packed = os.fstat(file.fileno()).st_size
        limits.check_bytes(sum(info.file_size for info in infos), packed, fspath(path))
        for info in infos:
            if info.filename.lower().endswith((".xml", ".rels")):
                _check_part(archive, info, path)


def _check_part(archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: FilePath) -> None:
    rest = b""
    with archive.open(info) as stream:
        while chunk := stream.read(_CHUNK):
            if b"<!DOCTYPE" in rest + chunk:
                raise FormatError(
                    f"{fspath(path)}: {info.filename} must not define a document type. Save the "
                    "file again with a spreadsheet program."
                )
            rest = chunk[-16:]


def _rows(sheet: Any, limits: ReadLimits, path: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of rows as text, without empty ones at the ends."""
    n_rows = width = n_empty = 0
    started = False
    for row in sheet.iter_rows(values_only=True):
        n_rows += 1
        cells = [_text(value) for value in row]
        while cells and not cells[-1]:
            cells.pop()
        if not cells:
            n_empty += 1
            continue
        width = max(width, len(cells))
        limits.check("max_columns", width, "the number of columns", path)
        what = "the number of rows times the number of columns"
        limits.check("max_cells", n_rows * width, what, path)
        for before in range(n_empty if started else 0, 0, -1):
            yield n_rows - before, []
        n_empty, started = 0, True
        yield n_rows, cells


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return value.isoformat() if isinstance(value, date | time) else str(value)


def _as_csv(rows: list[list[str]]) -> bytes:
    width = max(map(len, rows), default=0)
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([*row, *[""] * (width - len(row))] for row in rows)
    return text.getvalue().encode("utf-8", "replace")
