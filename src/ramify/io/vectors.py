"""Vectors of the rows of a table, such as embeddings, in a file beside it."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from dataclasses import replace
from os import fspath
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify._messages import shorten
from ramify.data.columns import text_columns
from ramify.data.embedding import TextEmbedder
from ramify.data.texts import texts_of
from ramify.data.vectors import is_vector, length_of_vectors, vectors_of
from ramify.io.errors import FormatError
from ramify.io.files import FilePath
from ramify.io.formats import format_of
from ramify.io.limits import ReadLimits
from ramify.io.tables.parquet_files import read_parquet
from ramify.io.tables.roles import named_columns
from ramify.io.tables.table import Table

VECTORS = "embedding"
"""The column of the vectors that a file holds."""
_MATRIX, _IDS = "vectors", "ids"


def with_vectors(
    table: Table, path: FilePath, limits: ReadLimits, id_column: str | None = None
) -> Table:
    """Add the vectors of a file to a table: by their identifiers, or in the order of the rows.

    `id_column`: the column of the identifiers of the table, of which a parquet file may have one.
    """
    matrix, ids = _read(Path(path), limits, id_column)
    table = named_columns(table)
    _check_has_room(table)
    rows = (
        _rows_in_order(table, path, len(matrix)) if ids is None else _rows_by_id(table, path, ids)
    )
    note = (
        f"{fspath(path)}: vectors of {matrix.shape[1]} numbers, joined "
        f"{'in the order of the rows' if ids is None else 'by identifier'}"
    )
    return _with_column(table, matrix[rows], note)


def with_embeddings(table: Table, model: str, names: Sequence[str] | None = None) -> Table:
    """Add the vectors of the texts of a table, joined row by row.

    `names`: the columns of texts of a trained model; None if they are to be found.
    """
    table = named_columns(table)
    _check_has_room(table)
    names = text_columns(table.X) if names is None else [n for n in names if n in table.X]
    if not names:
        raise ValueError(
            f"{table.name} must have a column of texts to embed, got "
            f"{shorten(table.feature_names)}. Omit --embed, or name a column with --kind "
            "COLUMN=text."
        )
    rows = zip(*(texts_of(table.X[name], name) for name in names), strict=True)
    joined = [". ".join(text for text in row if text) or None for row in rows]
    embedder = TextEmbedder(model).fit([text for text in joined if text] or [""])
    matrix = embedder.transform(np.array(joined, dtype=object))
    note = f"{', '.join(names)}: texts embedded as {matrix.shape[1]} numbers by {model}"
    return _with_column(table, matrix, note)


def _check_has_room(table: Table) -> None:
    if not hasattr(table.X, "columns"):
        raise ValueError(
            f"vectors must be beside a table with named columns, got {table.name}, whose features "
            "are a sparse matrix. Join them in Python."
        )
    if VECTORS in table.feature_names:
        raise ValueError(
            f"{table.name} must not have a column {VECTORS!r} if vectors are given. Rename it."
        )


def _with_column(table: Table, matrix: NDArray[np.float64], note: str) -> Table:
    return replace(
        table,
        X=table.X.assign(**{VECTORS: list(matrix)}),
        feature_names=(*table.feature_names, VECTORS),
        notes=(*table.notes, note),
    )


def _rows_in_order(table: Table, path: FilePath, n_vectors: int) -> NDArray[np.intp]:
    n_rows = int(table.X.shape[0])
    if n_vectors != n_rows:
        raise FormatError(
            f"{fspath(path)} has {n_vectors} vectors, but {table.name} has {n_rows} rows. Give a "
            f"vector for each row, or --id and a .npz file with {_MATRIX!r} and {_IDS!r} or a "
            "parquet file with a column of identifiers."
        )
    return np.arange(n_rows)


def _rows_by_id(table: Table, path: FilePath, ids: list[str]) -> NDArray[np.intp]:
    if table.ids is None:
        raise ValueError(
            f"the rows of {table.name} must have identifiers, because {fspath(path)} has them. "
            "Name their column with --id."
        )
    place = {name: k for k, name in enumerate(ids)}
    if len(place) < len(ids):
        raise FormatError(f"{fspath(path)}: {_IDS!r} must be distinct, but some are repeated.")
    wanted = [str(name) for name in table.ids]
    missing = [name for name in wanted if name not in place]
    if missing:
        raise FormatError(
            f"{fspath(path)} has no vectors of {len(missing)} of {len(wanted)} rows, e.g. "
            f"{shorten(missing)}. Add them, or leave the rows out."
        )
    return np.array([place[name] for name in wanted], dtype=np.intp)


def _read(
    path: Path, limits: ReadLimits, id_column: str | None
) -> tuple[NDArray[Any], list[str] | None]:
    """Return a matrix, and the identifiers of its rows if the file has them."""
    if format_of(path) == "parquet":
        return _of_parquet(path, limits, id_column)
    try:
        if path.suffix != ".npz":
            # A mapped file must be as large as its header says.
            matrix = np.load(path, mmap_mode="r", allow_pickle=False)
            ids = None
        else:
            _check_archive(path, limits)
            with np.load(path, allow_pickle=False) as archive:
                matrix, ids = _of_archive(dict(archive), path)
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        if isinstance(error, FormatError):
            raise
        objects = (
            " Save identifiers as strings, e.g. numpy.asarray(ids, dtype=str)."
            if path.suffix == ".npz" and "Object arrays" in str(error)
            else ""
        )
        raise FormatError(
            f"{fspath(path)}: expected a .npy, .npz or .parquet file: {error}{objects}"
        ) from None
    if getattr(matrix, "ndim", 0) != 2 or matrix.dtype.kind not in "fiu" or not matrix.shape[1]:
        raise FormatError(
            f"{fspath(path)}: expected a matrix of numbers with a row per vector, found shape "
            f"{getattr(matrix, 'shape', ())} and type {getattr(matrix, 'dtype', '')}."
        )
    limits.check_bytes(8 * matrix.size, None, fspath(path))
    return np.asarray(matrix, dtype=np.float64), ids


def _check_archive(path: Path, limits: ReadLimits) -> None:
    with zipfile.ZipFile(path) as archive:
        n_bytes = sum(member.file_size for member in archive.infolist())
    limits.check_bytes(n_bytes, path.stat().st_size, fspath(path))


def _of_archive(arrays: dict[str, Any], path: Path) -> tuple[Any, list[str] | None]:
    ids = arrays.pop(_IDS, None)
    if _MATRIX not in arrays and len(arrays) != 1:
        raise FormatError(
            f"{fspath(path)}: expected an array {_MATRIX!r}, found {shorten(arrays)}."
        )
    matrix = arrays.get(_MATRIX, next(iter(arrays.values())))
    if ids is not None and (ids.ndim != 1 or len(ids) != len(matrix)):
        raise FormatError(f"{fspath(path)}: {_IDS!r} must have one identifier per vector.")
    return matrix, None if ids is None else [str(name) for name in ids.tolist()]


def _of_parquet(
    path: Path, limits: ReadLimits, id_column: str | None
) -> tuple[NDArray[np.float64], list[str] | None]:
    """Return a column of lists, or columns of numbers, and the column of identifiers if any."""
    frame = read_parquet(path, limits, [], [], [])
    known = [name for name in (id_column, _IDS) if name in frame.columns]
    ids = None
    if known:
        ids = [str(name) for name in frame.pop(known[0]).tolist()]
    lists = [name for name in frame.columns if is_vector(frame[name])]
    others = [n for n in frame.columns if n not in lists and frame[n].dtype.kind not in "biuf"]
    if others or len(lists) > 1 or (lists and len(frame.columns) > 1) or not len(frame.columns):
        raise FormatError(
            f"{fspath(path)}: expected one column of lists of numbers, or columns of numbers, "
            f"beside a column of identifiers, found {shorten(list(frame.columns)) or 'nothing'}. "
            f"Name that of the identifiers like that of the table, or {_IDS!r}."
        )
    if not lists:
        return frame.to_numpy(np.float64), ids
    column = frame[lists[0]]
    return vectors_of(column, lists[0], length_of_vectors(column, lists[0])), ids
