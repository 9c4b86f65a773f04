"""Propagation of sparse scores to the ancestors of their labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ramify import _core
from ramify._validation import check_choice
from ramify.hierarchy.building import Rows


def propagate_scores(parent_rows: Rows, scores: Any, how: str) -> sparse.csr_array[np.float64]:
    """Return scores for labels and their ancestors; see `Hierarchy.propagate`."""
    check_choice("how", how, ("max", "fill"))
    rows = sparse.csr_array(scores)
    n_labels = len(parent_rows[0]) - 1
    if rows.ndim != 2 or rows.shape[1] != n_labels:
        raise ValueError(
            f"scores must have one column per label, {n_labels}, got the shape {rows.shape}. Pass "
            "columns in the order of hierarchy.labels."
        )
    if rows.dtype.kind not in "biuf" or not np.isfinite(rows.data).all():
        raise ValueError("scores must be finite numbers, got others. Replace NaN and infinity.")
    if rows.nnz and rows.data.min() < 0:
        raise ValueError(
            f"scores must not be negative, got {rows.data.min()}. Labels without a score are 0."
        )
    indptr, indices, data = _core.propagate(
        rows.indptr.astype(np.int64, copy=False),
        rows.indices.astype(np.int32, copy=False),
        np.ascontiguousarray(rows.data, dtype=np.float64),
        *parent_rows,
        how,
    )
    # scipy converts both index arrays to the wider type; 32 bits take half the memory.
    if len(indices) <= np.iinfo(np.int32).max:
        indptr = indptr.astype(np.int32)
    return sparse.csr_array((data, indices, indptr), shape=rows.shape)
