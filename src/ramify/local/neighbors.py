"""Find the nearest rows: the same rows on every machine, at equal distances the first ones.

The distances of a fast search are rounded differently by each processor, number of threads and
block of rows. They settle which rows are nearest unless candidates are closer to each other than
the rounding; the distances of those are computed again, one column after the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

_EUCLIDEAN = ("euclidean", "l2", "minkowski", "sqeuclidean")
_CELLS = 1 << 20
"""Number of distances, or differences, to compute at a time."""
_SPARE = 16
"""Number of candidates in addition to k at first."""
_GROWTH = 8
"""How many times more candidates to search for if they may not include all nearest rows."""

_Rows = NDArray[np.intp]
_Distances = NDArray[np.float64]


def find_nearest(
    queries: Any,
    among: Any,
    *,
    k: int,
    metric: Any = "euclidean",
    itself: bool = False,
    n_jobs: int | None = None,
) -> _Rows:
    """Find the nearest rows of data without missing values."""
    queries, among = _as_float64(queries), _as_float64(among)
    metric = "euclidean" if metric in _EUCLIDEAN else metric
    measure = _MEASURES.get(metric, _Searched)(queries, among)
    found = np.empty((queries.shape[0], k), dtype=np.intp)
    remaining, places, n_near = np.arange(queries.shape[0]), np.arange(among.shape[0]), 0
    n_first = k + itself + _SPARE
    while len(remaining):
        if n_near == n_first and metric != "precomputed":  # the second search
            places = _first_copies(among, k + itself)
        n_near = min(len(places), max(_GROWTH * n_near, n_first))
        search = NearestNeighbors(n_neighbors=n_near, metric=metric, n_jobs=n_jobs)
        search.fit(among if len(places) == among.shape[0] else among[places])
        undecided = []
        for rows in _blocks(remaining, n_near):
            distances, near = search.kneighbors(queries[rows])
            near = places[near]
            own = (near == rows[:, None]) if itself else np.zeros(near.shape, dtype=bool)
            kth = distances[np.arange(len(rows)), k - 1 + own[:, :k].any(axis=1)]
            possible = distances <= measure.limit(rows, kth)[:, None]
            complete = ~possible[:, -1] | (n_near == len(places))  # no other row is possible
            possible &= ~own
            settled = possible.sum(axis=1) == k
            found[rows[settled]] = near[settled][possible[settled]].reshape(-1, k)
            which, place = np.nonzero(possible & (complete & ~settled)[:, None])
            pairs = rows[which], near[which, place]
            _write_nearest(found, *pairs, measure.of_pairs(*pairs, distances[which, place]))
            undecided.append(rows[~settled & ~complete])
        remaining = np.concatenate(undecided)
    return np.sort(found, axis=1)


def find_by_present_cells(
    queries: NDArray[np.float64],
    among: NDArray[np.float64],
    owner: _Rows,
    *,
    k: int,
    itself: _Rows | None = None,
) -> _Rows:
    """Find the nearest rows by the features present in both rows, scaled up to all features."""
    queries, among = _as_float64(queries), _as_float64(among)
    first = np.unique(owner, return_index=True)[1]
    present, filled = (~np.isnan(among)).astype(np.float64), np.nan_to_num(among)
    squared = filled**2
    found = np.empty((len(queries), k), dtype=np.intp)
    for rows in _blocks(np.arange(len(queries)), len(among)):
        here, values = (~np.isnan(queries[rows])).astype(np.float64), np.nan_to_num(queries[rows])
        shared = here[:, first] @ present[:, first].T
        scale = len(first) / np.maximum(shared, 1)
        norms = values**2 @ present.T + here @ squared.T
        squares = (norms - 2 * values @ filled.T) * scale
        margin = _margin(norms, among.shape[1]) * scale
        lowest = np.where(shared > 0, squares - margin, np.inf)
        highest = np.where(shared > 0, squares + margin, np.inf)
        if itself is not None:
            own = np.arange(len(rows)), itself[rows]
            lowest[own], highest[own] = np.nan, np.inf  # NaN: never a candidate
        limit = np.partition(highest, k - 1, axis=1)[:, k - 1]
        which, others = np.nonzero(lowest <= limit[:, None])
        exact = _compare_pairs(_squares_of_present, queries, among, rows[which], others)
        exact = np.where(shared[which, others] > 0, exact * scale[which, others], np.inf)
        _write_nearest(found, rows[which], others, exact)
    return np.sort(found, axis=1)


class _Searched:
    """Distances as the search computes them."""

    def __init__(self, queries: Any, among: Any) -> None:
        self._queries, self._among = queries, among

    def limit(self, rows: _Rows, kth: _Distances) -> _Distances:
        """Return the largest distance that may be exactly the k-th one or less."""
        return kth

    def of_pairs(self, rows: _Rows, others: _Rows, searched: _Distances) -> _Distances:
        """Return the distances, or an increasing function of them, to compare pairs by."""
        return searched


class _Euclidean(_Searched):
    """Squared distances."""

    def __init__(self, queries: Any, among: Any) -> None:
        super().__init__(queries, among)
        norms = _squared_lengths(queries) + _squared_lengths(among).max()
        self._margin = 2 * _margin(norms, among.shape[1])

    def limit(self, rows: _Rows, kth: _Distances) -> _Distances:
        return np.asarray(np.sqrt(kth**2 + self._margin[rows]))

    def of_pairs(self, rows: _Rows, others: _Rows, searched: _Distances) -> _Distances:
        matrices = _prefer_sparse(self._queries, self._among, len(rows))
        return _compare_pairs(_squares, *matrices, rows, others)


class _Cosine(_Searched):
    """One minus the sum of the products of rows of length 1."""

    def __init__(self, queries: Any, among: Any) -> None:
        super().__init__(_normalize(queries), _normalize(among))

    def limit(self, rows: _Rows, kth: _Distances) -> _Distances:
        return np.asarray(kth + 2 * _margin(2.0, self._among.shape[1]))

    def of_pairs(self, rows: _Rows, others: _Rows, searched: _Distances) -> _Distances:
        matrices = _prefer_sparse(self._queries, self._among, len(rows))
        return 1 - _compare_pairs(_products, *matrices, rows, others)


_MEASURES: dict[Any, type[_Searched]] = {"euclidean": _Euclidean, "cosine": _Cosine}


def _prefer_sparse(queries: Any, among: Any, n_pairs: int) -> tuple[Any, Any]:
    """Convert dense rows if sparse ones are faster: for many pairs and mostly zeros."""
    is_sparse: bool = sparse.issparse(among)
    if is_sparse or n_pairs < among.shape[0] or np.count_nonzero(among) > among.size // 8:
        return queries, among
    return sparse.csr_array(queries), sparse.csr_array(among)


def _squares(one: Any, other: Any) -> _Distances:
    apart = one - other
    return _sum_columns(apart * apart)


def _squares_of_present(one: NDArray[np.float64], other: NDArray[np.float64]) -> _Distances:
    return _sum_columns(np.nan_to_num(one - other) ** 2)


def _products(one: Any, other: Any) -> _Distances:
    return _sum_columns(one * other)


def _compare_pairs(
    compare: Callable[[Any, Any], _Distances], queries: Any, among: Any, rows: _Rows, others: _Rows
) -> _Distances:
    """Apply a function of two matrices to rows of the queries and of the other rows, in parts."""
    is_sparse: bool = sparse.issparse(among)
    width = 1 + (queries.nnz + among.nnz) // among.shape[0] if is_sparse else among.shape[1]
    parts = [
        compare(queries[rows[part]], among[others[part]])
        for part in _blocks(np.arange(len(rows)), width)
    ]
    return np.concatenate([np.empty(0), *parts])


def _sum_columns(values: Any) -> _Distances:
    """Sum the columns from left to right, so dense and sparse rows are rounded in the same way."""
    is_sparse: bool = sparse.issparse(values)
    if not is_sparse:
        return np.asarray(np.cumsum(values, axis=1)[:, -1])
    values.sort_indices()
    owner = np.repeat(np.arange(values.shape[0]), np.diff(values.indptr))
    return np.bincount(owner, values.data, values.shape[0]).astype(np.float64)


def _squared_lengths(X: Any) -> _Distances:
    is_sparse: bool = sparse.issparse(X)
    return _sum_columns(X * X) if is_sparse else np.asarray(np.einsum("ij,ij->i", X, X))


def _margin(norms: Any, n_columns: int) -> Any:
    """Return a bound on how much two ways to compute a squared distance can differ."""
    machine = np.finfo(np.float64)
    return 4 * (n_columns + 8) * (machine.eps * norms + machine.tiny)


def _normalize(X: Any) -> Any:
    """Scale rows to length 1, except rows of zeros."""
    lengths = np.sqrt(_sum_columns(X * X))
    lengths[lengths == 0] = 1.0
    return _as_float64(X * (1 / lengths)[:, None])


def _first_copies(X: Any, n: int) -> _Rows:
    """Return the positions of the rows with fewer than n equal rows before them."""
    is_sparse: bool = sparse.issparse(X)
    seen: Counter[bytes] = Counter()
    kept = []
    for position in range(X.shape[0]):
        if is_sparse:
            cells = slice(X.indptr[position], X.indptr[position + 1])
            row = X.indices[cells].tobytes() + X.data[cells].tobytes()
        else:
            row = X[position].tobytes()
        seen[row] += 1
        if seen[row] <= n:
            kept.append(position)
    return np.array(kept, dtype=np.intp)


def _write_nearest(found: _Rows, rows: _Rows, others: _Rows, distances: _Distances) -> None:
    """Write the nearest candidates of each row into `found`."""
    order = np.lexsort((others, distances, rows))
    written, starts = np.unique(rows[order], return_index=True)
    found[written] = others[order][starts[:, None] + np.arange(found.shape[1])]


def _blocks(rows: _Rows, width: int) -> Iterator[_Rows]:
    """Split rows into blocks with a limited number of cells."""
    size = max(1, _CELLS // max(1, width))
    return (rows[start : start + size] for start in range(0, len(rows), size))


def _as_float64(X: Any) -> Any:
    is_sparse: bool = sparse.issparse(X)
    return sparse.csr_array(X, dtype=np.float64) if is_sparse else np.asarray(X, np.float64)
