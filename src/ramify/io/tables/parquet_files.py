"""Read parquet files as data frames of cells."""

from __future__ import annotations

from collections.abc import Sequence
from os import fspath
from typing import Any

from ramify._messages import import_extra
from ramify.io.errors import FormatError, parsing
from ramify.io.files import FilePath
from ramify.io.formats import format_of
from ramify.io.limits import ReadLimits
from ramify.io.tables.csv_files import check_size

_WANTED = "a parquet file"


def read_parquet(
    path: FilePath,
    limits: ReadLimits,
    kept: Sequence[str],
    targets: Sequence[str],
    drop: Sequence[str],
) -> Any:
    """Return the columns of a file; those in `kept` as Python values, so 7 stays 7."""
    pandas = import_extra("pandas", "tables")
    parquet = import_extra("pyarrow.parquet", "tables")
    with parsing(path, _WANTED):
        facts = parquet.read_metadata(path)
        n_bytes = sum(facts.row_group(i).total_byte_size for i in range(facts.num_row_groups))
        limits.check_bytes(n_bytes, None, fspath(path))
        check_size(facts.num_rows, facts.num_columns, limits, path)
        schema = facts.schema.to_arrow_schema()
        lists = _check_nested(schema, targets, drop, path)
        needed = [name for name in schema.names if name not in drop or name in (*kept, *targets)]
        table = parquet.read_table(path, columns=needed)
        table.validate(full=True)  # texts of damaged files need not be UTF-8
        frame = table.to_pandas()
        if not isinstance(frame.index, pandas.RangeIndex):
            # The index of a data frame is a column of the file, but only of use if it is named.
            index = frame.index.names
            frame = frame.reset_index()[[*(n for n in index if n in kept), *frame.columns]]
        values = {
            name: pandas.Series(table[name].to_pylist(), dtype=object)
            for name in (*kept, *lists)
            if name in table.column_names
        }
        return frame.assign(**values) if values else frame


def nested_columns(path: FilePath) -> list[str]:
    """Return the columns of a parquet file whose cells are lists or the like; else none."""
    if format_of(path) != "parquet":
        return []
    parquet = import_extra("pyarrow.parquet", "tables")
    from pyarrow import types  # noqa: PLC0415 (optional)

    with parsing(path, _WANTED):
        schema = parquet.read_schema(path)
    return [field.name for field in schema if types.is_nested(field.type)]


def _check_nested(
    schema: Any, targets: Sequence[str], drop: Sequence[str], path: FilePath
) -> list[str]:
    """Return the label columns of lists; refuse other nested columns but lists of numbers."""
    from pyarrow import types  # noqa: PLC0415 (optional)

    nested = {field.name: field.type for field in schema if types.is_nested(field.type)}
    found = [name for name in nested if name in targets]
    for name in found:
        if _depth_of_lists(nested[name]) not in (1, 2):
            raise FormatError(
                f"{fspath(path)}, column {name!r}: expected texts, lists of labels, or lists of "
                f"paths that are lists of names, found {nested[name]}."
            )
    others = [
        name
        for name, kind in nested.items()
        if name not in (*found, *drop) and not _is_vector(kind)
    ]
    if others:
        columns = ", ".join(f"{name!r} ({nested[name]})" for name in others)
        raise FormatError(
            f"{fspath(path)}: features must be numbers, texts, dates or lists of numbers, but the "
            f"file has other lists or the like in {columns}. Write one column per value, or leave "
            f"the columns out: drop={others}. If one holds the labels, pass it with target=."
        )
    return found


def _is_vector(kind: Any) -> bool:
    """Return whether a type is that of lists of numbers."""
    from pyarrow import types  # noqa: PLC0415 (optional)

    number = getattr(kind, "value_type", None)
    return _depth_of_lists(kind) == 1 and (types.is_floating(number) or types.is_integer(number))


def _depth_of_lists(kind: Any) -> int:
    """Return how deeply plain values are nested in lists; 0 for other nested types."""
    from pyarrow import types  # noqa: PLC0415 (optional)

    depth = 0
    while types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        kind, depth = kind.value_type, depth + 1
    return 0 if types.is_nested(kind) or types.is_binary(kind) else depth
