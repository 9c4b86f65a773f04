"""Read JSON files of records as data frames: one object per line, or a list of objects."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import chain
from os import fspath
from typing import Any

from ramify._messages import import_extra
from ramify.data.vectors import is_vector
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

    Label columns may have lists, and features vectors of numbers.
    """
    pandas = import_extra("pandas", "tables")
    content, _, _ = read_text(path, encoding, limits)
    rows = [_checked(row, record, path) for row, record in _records(content.decode(), path)]
    names = list(dict.fromkeys(chain.from_iterable(rows)))
    check_size(len(rows), len(names), limits, path)
    columns = {}
    for name in names:
        cells = [record.get(name) for record in rows]
        column = pandas.Series(cells, dtype=object)
        nested = next((cell for cell in cells if isinstance(cell, list | dict)), None)
        if nested is None:
            types = {type(cell) for cell in cells if cell is not None}
            # Whole numbers of any size, some of which may be missing, are numbers.
            column = column.astype(float) if types <= {int, float} else column.infer_objects()
        elif name not in (*targets, *left_out) and not is_vector(column):
            raise FormatError(
                f"{fspath(path)}, column {name!r}: expected numbers, texts or lists of numbers, "
                f"found {str(nested)[:60]}. Leave it out with drop=[{name!r}]."
            )
        columns[name] = column
    return pandas.DataFrame(columns, index=pandas.RangeIndex(len(rows)))


def _records(text: str, path: FilePath) -> Iterator[tuple[int, Any]]:
    """Yield the number of each record, from 1, and what it is."""
    if text.lstrip()[:1] == "[":
        yield from enumerate(_parsed(text, "", path), 1)
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield number, _parsed(line, f", line {number}", path)


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
