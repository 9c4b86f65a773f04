"""Read the first sheet of a spreadsheet (.xlsx) as CSV text, within limits."""

from __future__ import annotations

import csv
import os
import zipfile
import zlib
from collections.abc import Iterator
from datetime import date, time
from io import StringIO
from itertools import islice
from os import fspath
from pathlib import Path
from typing import Any

from ramify._messages import import_extra
from ramify.io.errors import FormatError
from ramify.io.files import FilePath
from ramify.io.limits import ReadLimits

__all__ = ["sheet_as_csv"]

_CHUNK = 1 << 20


def sheet_as_csv(
    path: FilePath, limits: ReadLimits, *, most_rows: int | None = None
) -> tuple[bytes, list[str]]:
    """Return the cells of the first sheet as CSV text in UTF-8, with commas and decimal points.

    The sheet is read row by row: a file of a few bytes may have a cell in the last column of the
    last row, and a table of all cells up to it would need more memory than there is.

    `most_rows`: read only this many rows that are not empty.
    Returns: empty rows and columns at the end are left out.
    """
    openpyxl = import_extra("openpyxl", "excel")
    _check_archive(path, limits)
    try:
        # openpyxl does not close a damaged file that it has opened.
        with Path(path).open("rb") as file:
            book = openpyxl.load_workbook(file, read_only=True, data_only=True, keep_links=False)
            sheets = book.worksheets
            if not sheets:
                raise FormatError(f"{fspath(path)} has no sheet with cells.")
            sheets[0].reset_dimensions()  # what the file declares need not be true
            rows = list(islice(_rows(sheets[0], limits, fspath(path)), most_rows))
            title, n_sheets = str(sheets[0].title), len(sheets)
    except (FormatError, MemoryError):
        raise
    except Exception as error:  # openpyxl raises errors of many kinds for damaged files
        reason = f"{type(error).__name__}: {error}"
        raise FormatError(f"{fspath(path)}: expected a spreadsheet (.xlsx): {reason}") from None
    notes = [f"the first of {n_sheets} sheets was read: {title!r}"] if n_sheets > 1 else []
    return _as_csv(rows), notes


def _check_archive(path: FilePath, limits: ReadLimits) -> None:
    """Check the size of the parts of a file, and that they define no entities."""
    try:
        with Path(path).open("rb") as file, zipfile.ZipFile(file) as archive:
            infos = archive.infolist()
            packed = os.fstat(file.fileno()).st_size
            limits.check_bytes(sum(info.file_size for info in infos), packed, fspath(path))
            for info in infos:
                if info.filename.lower().endswith((".xml", ".rels")):
                    _check_part(archive, info, path)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise FormatError(f"{fspath(path)}: expected a spreadsheet (.xlsx): {error}") from None


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


def _rows(sheet: Any, limits: ReadLimits, path: str) -> Iterator[list[str]]:
    """Yield the cells of a sheet as text, without empty rows at both ends and cells at the end."""
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
        for _ in range(n_empty if started else 0):
            yield []
        n_empty, started = 0, True
        yield cells


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
