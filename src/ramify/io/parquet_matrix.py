"""Convert a Parquet file to a matrix on disk, a few rows at a time."""

from __future__ import annotations

from collections.abc import Sequence
from os import fspath
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ramify._messages import did_you_mean, import_extra, shorten
from ramify.io.errors import parsing
from ramify.io.files import FilePath, replacing

_ROWS_AT_ONCE = 65_536
_EXACT_IN_FLOAT32 = ("bool", "int8", "int16", "uint8", "uint16", "halffloat", "float")


def parquet_to_npy(
    source: FilePath,
    target: FilePath,
    *,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    dtype: DTypeLike | None = None,
) -> NDArray[Any]:
    """Write the numeric columns of a Parquet file as a matrix, and return it memory-mapped.

    The file is read by row groups, at most 65,536 rows at a time; it can therefore be larger than
    the available memory. Estimators read the matrix in the same way.

    Parameters
    ----------
    source : path
        A Parquet file.
    target : path
        The file to write, in the format of `numpy.save`.
    columns : sequence of str, optional
        The columns of the matrix, in this order; all columns by default. They must be numeric or
        Boolean. Missing values become NaN.
    drop : sequence of str
        Columns to leave out, such as the labels.
    dtype : data type, optional
        The type of the matrix, float32 or float64. By default, float32 if it holds all values of
        the columns exactly, judged by their types, and float64 otherwise.

    Returns
    -------
    memmap of shape (n, n_columns)
        The matrix, read-only.

    Examples
    --------
    >>> import pandas
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> frame = pandas.DataFrame({"size": [1, 2], "mass": [0.5, None], "labels": ["a", "b"]})
    >>> with TemporaryDirectory() as folder:
    ...     frame.to_parquet(Path(folder, "rows.parquet"))
    ...     X = parquet_to_npy(
    ...         Path(folder, "rows.parquet"), Path(folder, "X.npy"), drop=["labels"]
    ...     )
    ...     print(X, X.dtype)
    [[1.  0.5]
     [2.  nan]] float64
    """
    parquet = import_extra("pyarrow.parquet", "tables")
    with parsing(source, "a parquet file"):
        schema = parquet.read_schema(source)
    names = _chosen(schema, columns, drop, source)
    kind = _matrix_type([str(schema.field(name).type) for name in names], dtype)
    with parsing(source, "a parquet file"), parquet.ParquetFile(source) as file:
        _write(file, names, kind, target)
    return np.asanyarray(np.load(target, mmap_mode="r"))


def _chosen(
    schema: Any, columns: Sequence[str] | None, drop: Sequence[str], source: FilePath
) -> list[str]:
    """Return the names of the columns of the matrix."""
    known = list(schema.names)
    for argument, given in (("columns", columns or ()), ("drop", drop)):
        unknown = [name for name in given if name not in known]
        if unknown:
            raise ValueError(
                f"{argument} must name columns of {fspath(source)}, got {unknown[0]!r}."
                f"{did_you_mean(unknown[0], known)} The columns are {shorten(known)}."
            )
    names = [name for name in (known if columns is None else columns) if name not in drop]
    if not names:
        raise ValueError(f"columns must name at least one column of {fspath(source)}, got none.")
    others = [name for name in names if not _is_number(str(schema.field(name).type))]
    if others:
        raise ValueError(
            f"columns must be numeric, got {others[0]!r}, which has type "
            f"{schema.field(others[0]).type}. Leave out such columns with "
            f"drop={others!r}, or convert them to numbers."
        )
    return names


def _is_number(kind: str) -> bool:
    return kind.startswith(("int", "uint", "decimal")) or kind in (
        *("bool", "halffloat", "float", "double"),
    )


def _matrix_type(types: Sequence[str], dtype: DTypeLike | None) -> np.dtype[Any]:
    if dtype is None:
        exact = all(kind in _EXACT_IN_FLOAT32 for kind in types)
        return np.dtype(np.float32 if exact else np.float64)
    kind = np.dtype(dtype)
    if kind not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise ValueError(f"dtype must be float32 or float64, got {kind.name}.")
    return kind


def _write(file: Any, names: Sequence[str], kind: np.dtype[Any], target: FilePath) -> None:
    shape = (file.metadata.num_rows, len(names))
    header = {"descr": kind.str, "fortran_order": False, "shape": shape}
    with replacing(target) as temporary, temporary.open("wb") as out:
        np.lib.format.write_array_header_1_0(out, header)
        for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE, columns=list(names)):
            block = np.empty((batch.num_rows, len(names)), dtype=kind)
            for j, name in enumerate(names):
                numbers = batch.column(name).cast("float64")
                block[:, j] = numbers.to_numpy(zero_copy_only=False)
            out.write(block.data)
