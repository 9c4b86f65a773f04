"""Read JSON files of records as data frames: one object per line, or a list of objects."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import chain
from os import fspath
from typing import Any

from ramify._messages import import_extra
from ramify.io.errors import FormatError
from ramify.io.files import FilePath
from ramify.io.limits import ReadLimits
from ramify.io.tables.csv_files import check_size, read_text


def read_records(
    path: FilePath,
    encoding: str | None,
    limits: ReadLimits,
    targets: Sequence[str],
    left_out: Sequence[str],
) -> Any:
    """Return the objects of a file as rows; a name that an object lacks is missing.

    Label columns may have lists, and features vectors of numbers. Values of objects in objects are
    columns with names such as "size.length".
    """
    pandas = import_extra("pandas", "tables")
    content, _, _ = read_text(path, encoding, limits)
    records = _records(content.decode(), path)
    rows = [_flat(_checked(row, record, path), left_out) for row, record in records]
    names = list(dict.fromkeys(chain.from_iterable(rows)))
    check_size(len(rows), len(names), limits, path)
    columns = {}
    for name in names:
        cells = [record.get(name) for record in rows]
        column = pandas.Series(cells, dtype=object)
        if not any(isinstance(cell, list | dict) for cell in cells):
            types = {type(cell) for cell in cells if cell is not None}
            # Whole numbers of any size, some of which may be missing, are numbers.
            column = column.astype(float) if types <= {int, float} else column.infer_objects()
        elif name not in (*targets, *left_out) and not all(map(_is_vector, cells)):
            odd = next(cell for cell in cells if not _is_vector(cell))
            raise FormatError(
                f"{fspath(path)}, column {name!r}: expected numbers, texts or lists of numbers, "
                f"found {str(odd)[:60]}. Leave it out with drop=[{name!r}], or pass "
                f"target={name!r} if it has the labels."
            )
        columns[name] = column
    return pandas.DataFrame(columns, index=pandas.RangeIndex(len(rows)))


def _is_vector(cell: Any) -> bool:
    """Return whether a cell may be one of a column of vectors, some of which may be missing."""
    if not isinstance(cell, list):
        return cell is None
    return all(number is None or isinstance(number, int | float) for number in cell)


def _records(text: str, path: FilePath) -> Iterator[tuple[int, Any]]:
    """Yield the number of each record, from 1, and what it is."""
    if text.lstrip()[:1] == "[":
        yield from enumerate(_parsed(text, "", path), 1)
        return
    if (records := _records_within(text)) is not None:
        yield from enumerate(records, 1)
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield number, _parsed(line, f", line {number}", path)


def _records_within(text: str) -> list[Any] | None:
    """Return the records of a file that is one object: its only list of objects, or columns."""
    try:
        whole = json.loads(text)  # fails after the first of several lines
    except (ValueError, RecursionError):
        return None
    if not isinstance(whole, dict) or not whole:
        return None
    lists = [one for one in whole.values() if isinstance(one, list) and one]
    records = [one for one in lists if all(isinstance(record, dict) for record in one)]
    if len(records) == 1:
        return records[0]
    columns = list(whole.values())
    if not all(
        isinstance(column, dict) and column.keys() == columns[0].keys() for column in columns
    ):
        return None
    if not columns[0] or not all(map(str.isdecimal, columns[0])):
        return None
    return [{name: column[row] for name, column in whole.items()} for row in columns[0]]


def _flat(record: dict[str, Any], left_out: Sequence[str]) -> dict[str, Any]:
    """Return the values of an object and of those within it, by the names that lead to them."""
    flat = {}
    waiting = list(record.items())[::-1]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, dict) and name not in left_out:
            waiting += [(f"{name}.{key}", one) for key, one in value.items()][::-1]
        else:
            flat[name] = value
    return flat


def _parsed(text: str, where: str, path: FilePath) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise FormatError(
            f"{fspath(path)}{where}: expected JSON, one object per line or a list of objects: "
            f"{reason[:200]}."
        ) from None


def _checked(number: int, record: Any, path: FilePath) -> dict[str, Any]:
    if not isinstance(record, dict):
        raise FormatError(
            f'{fspath(path)}: expected an object such as {{"size": 3.5}} in record {number}, '
            f"found {str(record)[:60]}."
        )
    return record
