"""Closed label sets: encoding, decoding, and scores of all rows at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core
from ramify._validation import (
    Label,
    check_choice,
    check_label_matrix,
    check_label_name,
    unknown_labels_error,
)
from ramify.data.rows import as_label_rows
from ramify.labels.graph import LabelGraph

_MAX_CLOSED = 500_000_000

_COMBINE: dict[str, Callable[[list[float]], float]] = {
    "avg": lambda weights: sum(weights) / len(weights),
    "sum": sum,
    "min": min,
    "max": max,
}


def encode_label_sets(graph: LabelGraph, label_sets: Iterable[Any]) -> sparse.csr_array[np.int32]:
    """Return the label matrix of label sets, with ancestors; see `Hierarchy.encode`."""
    if isinstance(label_sets, str):
        raise TypeError(
            f"label_sets must be a list of label sets, got the string {label_sets!r}. Pass "
            f"[[{label_sets!r}]]."
        )
    rows = [
        (row,) if isinstance(row, str) or row is None or np.isscalar(row) else tuple(row)
        for row in label_sets
    ]
    indptr = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, rows), np.int64, count=len(rows)), out=indptr[1:])
    lookup = graph.lookup.__getitem__
    try:
        indices = np.fromiter(
            map(lookup, chain.from_iterable(rows)), np.int32, count=int(indptr[-1])
        )
    except (KeyError, TypeError):
        raise _encoding_error(graph, rows) from None
    return _closed(graph, _core.LabelRows(indptr, indices, graph.n_labels))


def _encoding_error(graph: LabelGraph, rows: Sequence[tuple[Any, ...]]) -> Exception:
    """Find the label that could not be encoded; slow, so only done after a failure."""
    unknown = []
    for i, row in enumerate(rows):
        for label in row:
            try:
                check_label_name(label, f"a label of row {i}", (str, int, float))
            except (TypeError, ValueError) as error:
                return error
            if label not in graph.lookup:
                unknown.append(label)
    return unknown_labels_error(unknown, graph.labels)


def close_matrix(graph: LabelGraph, Y: Any) -> sparse.csr_array[np.int32]:
    """Return a label matrix with the ancestors of its labels; see `Hierarchy.close`."""
    return _closed(graph, as_label_rows(check_label_matrix(Y, graph.labels)))


def _closed(graph: LabelGraph, rows: _core.LabelRows) -> sparse.csr_array[np.int32]:
    try:
        indptr, indices = _core.close_upwards(rows, graph.parents, _MAX_CLOSED)
    except ValueError:
        raise MemoryError(
            f"the {rows.n_rows} rows have more than {_MAX_CLOSED} labels together with their "
            f"ancestors, in {graph.depth} levels. Use a hierarchy with fewer levels, or fewer "
            "rows at a time."
        ) from None
    shape = (len(indptr) - 1, graph.n_labels)
    # scipy converts both index arrays to the wider type; 32 bits take half the memory.
    if len(indices) <= np.iinfo(np.int32).max:
        indptr = indptr.astype(np.int32)
    return sparse.csr_array((np.ones(len(indices), np.int32), indices, indptr), shape=shape)


def decode_matrix(graph: LabelGraph, Y: Any, most_specific: bool) -> list[tuple[Label, ...]]:
    """Return the label sets of a label matrix; see `Hierarchy.decode`."""
    matrix = check_label_matrix(Y, graph.labels)
    indptr: Any = matrix.indptr
    indices: Any = matrix.indices
    if most_specific:
        indptr, indices = _core.most_specific(as_label_rows(matrix), graph.parents)
    labels = graph.labels
    names = [labels[i] for i in indices.tolist()]
    bounds = indptr.tolist()
    return [tuple(names[a:b]) for a, b in pairwise(bounds)]


def label_weights(graph: LabelGraph, w0: float, combine: str) -> NDArray[np.float64]:
    """Return the weight of every label; see `Hierarchy.weights`."""
    if not np.isscalar(w0) or isinstance(w0, str) or not 0 < w0 < np.inf:
        raise ValueError(f"w0 must be a positive number, got {w0!r}. Pass e.g. w0=0.75.")
    if combine not in _COMBINE:
        raise ValueError(f"combine must be one of {list(_COMBINE)}, got {combine!r}.")
    reduce = _COMBINE[combine]
    indptr, indices = (rows.tolist() for rows in graph.parent_rows)
    weights: list[float] = []
    for start, stop in pairwise(indptr):
        if start == stop:
            weights.append(float(w0))
        elif stop - start == 1:
            weights.append(w0 * weights[indices[start]])
        else:
            weights.append(w0 * reduce([weights[p] for p in indices[start:stop]]))
    if not np.isfinite(weights).all():
        raise ValueError(
            f"w0 must give finite weights, got {w0!r}, whose powers over the {graph.depth} levels "
            "of the hierarchy do not. Pass a smaller number, e.g. w0=0.75."
        )
    return np.array(weights)


def label_costs(graph: LabelGraph) -> NDArray[np.float64]:
    """Return the cost of every label; see `Hierarchy.costs`."""
    indptr, indices = (rows.tolist() for rows in graph.parent_rows)
    n_children = np.diff(graph.child_rows[0]).tolist()
    n_top = sum(start == stop for start, stop in pairwise(indptr))
    costs: list[float] = []
    for start, stop in pairwise(indptr):
        shares = [costs[p] / n_children[p] for p in indices[start:stop]]
        costs.append(sum(shares) if shares else 1.0 / n_top)
    return np.array(costs, dtype=np.float64)


# ---- sparse scores of ancestors -------------------------------------------------------------


def propagate_scores(graph: LabelGraph, scores: Any, how: str) -> sparse.csr_array[np.float64]:
    """Return scores for labels and their ancestors; see `Hierarchy.propagate`."""
    check_choice("how", how, ("max", "fill"))
    rows = sparse.csr_array(scores)
    n_labels = graph.n_labels
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
        as_label_rows(rows), np.ascontiguousarray(rows.data, dtype=np.float64), graph.parents, how
    )
    # scipy converts both index arrays to the wider type; 32 bits take half the memory.
    if len(indices) <= np.iinfo(np.int32).max:
        indptr = indptr.astype(np.int32)
    return sparse.csr_array((data, indices, indptr), shape=rows.shape)
