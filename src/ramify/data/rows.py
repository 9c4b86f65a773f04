"""Hand X of any layout, and label matrices, to the core."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core


def as_rows(X: Any) -> _core.Rows:
    """Return a view of X, floats or a sparse matrix, to predict; the core checks it only here.

    Arrays are copied only where their types differ from those of the core.
    """
    if isinstance(X, np.ndarray):
        return _core.Rows(X)
    return _core.Rows(*_parts(X.tocsr()), X.shape[1])


def as_columns(X: Any) -> _core.Columns:
    """Return the same view of X to learn from."""
    if isinstance(X, np.ndarray):
        return _core.Columns(X)
    return _core.Columns(*_parts(X.tocsc()), X.shape[0])


def as_label_rows(Y: Any) -> _core.LabelRows:
    """Return a view of a label matrix by rows; cells that are stored are labels."""
    return _core.LabelRows(
        Y.indptr.astype(np.int64, copy=False), Y.indices.astype(np.int32, copy=False), Y.shape[1]
    )


def indicator(
    rows: tuple[NDArray[Any], NDArray[Any]], n_columns: int, dtype: Any = np.int32
) -> sparse.csr_array[Any]:
    """Return a matrix of ones; row i has them in ``columns[ends[i] : ends[i + 1]]``."""
    ends, columns = rows
    ones = np.ones(len(columns), dtype=dtype)
    return sparse.csr_array((ones, columns, ends), shape=(len(ends) - 1, n_columns))


def indicator_of_lists(lists: Sequence[Any], n_columns: int) -> sparse.csr_array[Any]:
    """Return a matrix of ones in the listed columns of each row."""
    ends = np.concatenate([[0], np.cumsum([len(columns) for columns in lists])])
    empty = np.zeros(0, dtype=np.int32)
    return indicator((ends, np.concatenate([empty, *lists]).astype(np.int32)), n_columns)


def indicator_of_cells(
    rows: Any, columns: Any, shape: tuple[int, int], dtype: Any = np.int32
) -> sparse.csr_array[Any]:
    """Return a matrix that counts how often cells are named."""
    return sparse.csr_array((np.ones(len(rows), dtype=dtype), (rows, columns)), shape=shape)


def by_rows(X: Any) -> Any:
    """Return X; if it is sparse, in the layout from which rows can be taken."""
    return X.tocsr() if sparse.issparse(X) else X  # type: ignore[attr-defined]


def take_rows(X: Any, rows: NDArray[np.intp]) -> Any:
    """Return some rows of X, in the layout of X."""
    if not sparse.issparse(X):
        return X[rows]
    return X.tocsr()[rows].asformat(X.format)  # type: ignore[attr-defined]


def by_columns(X: Any) -> Any:
    """Return X; if it is sparse, in the layout from which columns can be taken."""
    return X.tocsc() if sparse.issparse(X) else X  # type: ignore[attr-defined]


def compact(X: Any) -> Any:
    """Return a csr matrix with indices of 32 bits if they suffice; many estimators need that."""
    if X.indices.dtype == np.int32 or max(X.nnz, *X.shape) > np.iinfo(np.int32).max:
        return X
    parts = (X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32))
    return sparse.csr_array(parts, X.shape)


def dense(X: Any) -> Any:
    """Return X; if it is sparse, as an array."""
    return X.toarray() if sparse.issparse(X) else X  # type: ignore[attr-defined]


def _parts(X: Any) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return (
        np.ascontiguousarray(X.indptr, dtype=np.int64),
        np.ascontiguousarray(X.indices, dtype=np.int32),
        np.ascontiguousarray(X.data, dtype=np.float64),
    )
