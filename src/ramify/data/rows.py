"""Hand X of any layout to the core."""

from __future__ import annotations

from typing import Any

import numpy as np

from ramify import _core

__all__ = ["as_rows", "canonical"]


def as_rows(X: Any) -> _core.Rows:
    """Return a view of X, floats or a sparse matrix, for the core; the core checks it only here.

    Arrays are copied only where their types differ from those of the core.
    """
    if isinstance(X, np.ndarray):
        return _core.Rows(X)
    rows = canonical(X.tocsr())
    return _core.Rows(
        np.ascontiguousarray(rows.indptr, dtype=np.int64),
        np.ascontiguousarray(rows.indices, dtype=np.int32),
        np.ascontiguousarray(rows.data, dtype=np.float64),
        rows.shape[1],
    )


def canonical(X: Any) -> Any:
    """Return a sparse matrix with sorted indices and without duplicates; a copy if it has not."""
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X
