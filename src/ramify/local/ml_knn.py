"""ML-kNN: multi-label classification based on the labels of the nearest rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.neighbors import VALID_METRICS, NearestNeighbors

from ramify._base.classifier import ArrayClassifier, share_classes
from ramify._schema import AnyOf, Array, IfPresent, Schema, Sparse, Text, Whole
from ramify._validation import check_number
from ramify.data.features import FeatureSchema
from ramify.data.rows import dense, indicator
from ramify.decision import make_coherent
from ramify.labels.encoding import EncodedLabels
from ramify.labels.hierarchy import Hierarchy

_METRICS = tuple(sorted({name for names in VALID_METRICS.values() for name in names}))
_LARGEST = 1e150
"""Largest magnitude of a number whose square is finite, with room for sums."""


class MLkNN(ArrayClassifier):
    """Multi-label k-nearest-neighbours classifier (ML-kNN).

    The probability of a label depends on how many of the k nearest training rows have it. It is
    computed by Bayes' rule from the distributions of this number over the training rows with and
    without the label.

    Parameters
    ----------
    hierarchy : Hierarchy, optional
        The label hierarchy. If None, a tree is inferred from path labels; all other labels are
        treated as flat.
    n_neighbors : int
        Number of neighbours, k; limited to the number of training rows minus 1.
    smoothing : float
        Smoothing parameter, s, which is added to every count.
    metric : str or callable
        The distance, as in scikit-learn's NearestNeighbors. If values are missing, only
        "euclidean" is supported: it is computed from the features that are present in both rows
        and scaled up to all features.
    categorical_features : array-like of bool, int or str, optional
        The nominal features, as a boolean mask, indices or column names; see `PCTClassifier`.
    n_jobs : int, optional
        Number of parallel jobs of the neighbour search; -1 means all cores. The result does not
        depend on it.

    Attributes
    ----------
    posterior_ : ndarray of shape (n_labels, n_neighbors_ + 1)
        The probability of each label for each number of neighbours that have it.
    n_neighbors_ : int
        Number of neighbours that are used.
    X_ : ndarray or csr_array
        The training rows, with one column per category of nominal features.
    Y_ : csr_array of shape (n, n_labels)
        Label matrix of the training rows.
    unknown_ : csr_array of shape (n, n_labels)
        The labels that training rows do not know, as an indicator matrix. Defined only if there
        are any.
    hierarchy_ : Hierarchy
        The label hierarchy, as passed or as inferred from y.
    classes_ : ndarray of shape (n_labels,)
        The labels, in the order of the columns of `predict_proba`.

    Notes
    -----
    In training, a row is not its own neighbour. Features are not scaled, so standardise them
    if necessary; two different categories of a nominal feature are at Euclidean distance 1.
    Among training rows at the same distance, the first are the nearest. In a hierarchy, the
    probability of a label is limited, from the top down, to the probabilities of its parents. If
    some neighbours do not know a label, the number is scaled up from those that do.

    Examples
    --------
    >>> from ramify import MLkNN
    >>> X = [[1.0], [1.1], [1.2], [4.0], [4.1], [4.2]]
    >>> y = [["cat", "pet"]] * 3 + [["dog", "pet"]] * 3
    >>> model = MLkNN(n_neighbors=2).fit(X, y)
    >>> model.predict([[1.05], [3.9]])
    [['cat', 'pet'], ['dog', 'pet']]
    >>> model.predict_proba([[1.05]]).round(2)
    array([[0.8 , 0.2 , 0.94]])
    """

    posterior_: NDArray[np.float64]
    n_neighbors_: int
    X_: Any
    Y_: sparse.csr_array[np.int32]
    unknown_: sparse.csr_array[np.int32]

    _saved_parameters: ClassVar[Schema] = {"metric": Text(_METRICS)}
    _saved_schema: ClassVar[Schema] = {
        "X_": AnyOf(
            Array(("n_rows", "n_columns"), "f4 f8", missing=True),
            Sparse(("n_rows", "n_columns"), "f4 f8", "csr csc", canonical=False),
        ),
        "Y_": Sparse(("n_rows", "n_labels"), "i4 i8", low=1, high=1),
        "unknown_": IfPresent(Sparse(("n_rows", "n_labels"), "i4 i8", low=1, high=1)),
        "n_neighbors_": Whole(0, "n_rows"),
        "posterior_": Array(("n_labels", "n_neighbors_+1"), low=0, high=1),
    }

    def __init__(
        self,
        hierarchy: Hierarchy | None = None,
        *,
        n_neighbors: int = 10,
        smoothing: float = 1.0,
        metric: Any = "euclidean",
        categorical_features: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.hierarchy = hierarchy
        self.n_neighbors = n_neighbors
        self.smoothing = smoothing
        self.metric = metric
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> MLkNN:  # type: ignore[override] # no sample weights
        """Fit the classifier.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Training rows, or texts. NaN marks missing values; string and categorical columns of a
            data frame are nominal, unless they are texts.
        y : array-like
            Labels of the n rows, in any format accepted by `ramify.labels.read_labels`.

        Returns
        -------
        MLkNN
            The fitted classifier.
        """
        super().fit(X, y)
        return self

    def _check_parameters(self) -> None:
        check_number("n_neighbors", self.n_neighbors, 1, whole=True)
        check_number("smoothing", self.smoothing, np.finfo(float).tiny, 1e9)

    def _learn(self, X: Any, encoded: EncodedLabels, weights: NDArray[np.float64]) -> None:
        _check_range(X)
        self.X_, self.Y_ = spread_nominal(X, self.schema_), encoded.Y
        if encoded.unknown is not None:
            self.unknown_ = encoded.unknown.as_rows()
        self.n_neighbors_ = min(int(self.n_neighbors), X.shape[0] - 1)
        counts = self._count_labels(None)
        unknown = getattr(self, "unknown_", None)
        table = count_evidence(counts, self.Y_, self.n_neighbors_, unknown)
        self.posterior_ = find_posterior(table, float(self.smoothing))

    def _why_not_unknown(self) -> str | None:
        return None

    def _count_labels(self, X: Any) -> NDArray[np.int64]:
        """Return how many neighbours of each row have each label, of shape (n, n_labels)."""
        n_rows = self.X_.shape[0] if X is None else X.shape[0]
        if self.n_neighbors_ == 0:
            return np.zeros((n_rows, self.Y_.shape[1]), dtype=np.int64)
        found = self._find_neighbors(X)
        indptr = np.arange(0, found.size + 1, self.n_neighbors_)
        near = indicator((indptr, found.ravel()), self.X_.shape[0], np.int64)
        having: Any = near @ self.Y_
        counts = np.asarray(having.toarray(), dtype=np.int64)
        if hasattr(self, "unknown_"):
            not_known: Any = near @ self.unknown_
            counts = self._scale_up(counts, self.n_neighbors_ - not_known.toarray())
        return counts

    def _scale_up(
        self, counts: NDArray[np.int64], n_knowing: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return counts among all neighbours from those that know the label, or from its share."""
        n_known: Any = self.Y_.shape[0] - self.unknown_.sum(axis=0)
        share = self.Y_.sum(axis=0) / np.maximum(n_known, 1)
        shares = np.where(n_knowing > 0, counts / np.maximum(n_knowing, 1), share)
        return np.asarray(np.rint(self.n_neighbors_ * shares), dtype=np.int64)

    def _find_neighbors(self, X: Any) -> NDArray[np.intp]:
        """Return the nearest training rows of each row, or of each training row without itself."""
        queries = self.X_ if X is None else X
        incomplete = _rows_with_missing(queries)
        if _rows_with_missing(self.X_).any():
            incomplete[:] = True
        found = np.empty((queries.shape[0], self.n_neighbors_), dtype=np.intp)
        # Chosen for each row, so the result of a row does not depend on the others.
        complete = np.flatnonzero(~incomplete)
        if len(complete):
            found[complete] = find_nearest(
                queries if len(complete) == queries.shape[0] else queries[complete],
                self.X_,
                k=self.n_neighbors_,
                metric=self.metric,
                itself=X is None,
                n_jobs=self.n_jobs,
            )
        if incomplete.any():
            self._check_missing()
            rows = np.flatnonzero(incomplete)
            found[rows] = find_by_present_cells(
                dense(queries[rows]),
                self.X_,
                column_owners(self.schema_),
                k=self.n_neighbors_,
                itself=rows if X is None else None,
            )
        return found

    def _check_missing(self) -> None:
        if sparse.issparse(self.X_) or self.metric != "euclidean":
            raise ValueError(
                "Input X contains NaN, which requires dense X and metric='euclidean', got "
                f"{'sparse' if sparse.issparse(self.X_) else 'dense'} X and "
                f"metric={self.metric!r}. Impute missing values first, or pass dense rows and "
                "metric='euclidean'."
            )

    def _predict_scores(self, X: Any) -> NDArray[np.float64]:
        _check_range(X)
        queries = spread_nominal(X, self.schema_)
        # The search depends on the layout of the training rows; rows are converted to it.
        queries = sparse.csr_array(queries) if sparse.issparse(self.X_) else dense(queries)
        counts = self._count_labels(queries)
        scores = self.posterior_[np.arange(counts.shape[1])[:, None], counts.T]
        return share_classes(make_coherent(scores.T, self.hierarchy_, "min"), self.format_)

    def _set_saved_state(self, state: Mapping[str, Any]) -> None:
        super()._set_saved_state(state)
        if "posterior_" not in state:
            return
        n_labels = self.hierarchy_.n_labels
        if (
            self.posterior_.shape != (n_labels, self.n_neighbors_ + 1)
            or self.Y_.shape != (self.X_.shape[0], n_labels)
            or not 0 <= self.n_neighbors_ < self.X_.shape[0]
            or self.X_.shape[1] != len(column_owners(self.schema_))
        ):
            raise ValueError("X_, Y_, n_neighbors_ and posterior_ do not fit together")


def count_evidence(
    counts: NDArray[np.int64],
    Y: sparse.csr_array[np.int32],
    k: int,
    unknown: sparse.csr_array[np.int32] | None = None,
) -> NDArray[np.int64]:
    """Count the rows without and with each label that have j neighbours with the label.

    >>> count_evidence(np.array([[1], [0], [1]]), sparse.csr_array([[1], [0], [1]]), 1).tolist()
    [[[1, 0]], [[0, 2]]]
    """
    n_labels = counts.shape[1]
    cells = counts + np.arange(n_labels) * (k + 1)
    size = n_labels * (k + 1)
    rows = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
    having = np.bincount(cells[rows, Y.indices], minlength=size)
    everyone = np.bincount(cells.ravel(), minlength=size)
    if unknown is not None:
        rows = np.repeat(np.arange(Y.shape[0]), np.diff(unknown.indptr))
        everyone = everyone - np.bincount(cells[rows, unknown.indices], minlength=size)
    return np.stack([everyone - having, having]).reshape(2, n_labels, k + 1)


def find_posterior(table: NDArray[np.int64], smoothing: float) -> NDArray[np.float64]:
    """Return P(label | j neighbours have it) by Bayes' rule with smoothed counts.

    >>> find_posterior(np.array([[[1, 0]], [[0, 2]]]), 1.0).round(2).tolist()
    [[0.36, 0.77]]
    """
    n_with = table.sum(axis=2)
    prior = (smoothing + n_with) / (2 * smoothing + n_with.sum(axis=0))
    likelihood = (smoothing + table) / (smoothing * table.shape[2] + n_with)[:, :, None]
    joint = prior[:, :, None] * likelihood
    posterior: NDArray[np.float64] = joint[1] / joint.sum(axis=0)
    return posterior


def spread_nominal(X: Any, schema: FeatureSchema) -> Any:
    """Replace nominal features with columns; two categories are at Euclidean distance 1."""
    numeric = np.flatnonzero(schema.n_categories == 0)
    is_sparse = sparse.issparse(X)
    rows: Any = cast("Any", X).tocsr() if is_sparse else X
    if len(numeric) == len(schema.n_categories):
        return rows
    parts = [rows[:, numeric]]
    for column in np.flatnonzero(schema.n_categories).tolist():
        cell = rows[:, [column]].toarray().ravel() if is_sparse else rows[:, column]
        codes = np.arange(schema.n_categories[column])
        spread = (cell[:, None] == codes) * np.sqrt(0.5)
        spread[np.isnan(cell)] = np.nan
        parts.append(sparse.csr_array(spread) if is_sparse else spread)
    return sparse.hstack(parts, format="csr") if is_sparse else np.hstack(parts)


def column_owners(schema: FeatureSchema) -> NDArray[np.intp]:
    """Return the feature of each column of `spread_nominal`."""
    n_numeric = int((schema.n_categories == 0).sum())
    sizes = schema.n_categories[schema.n_categories > 0]
    return np.concatenate(
        [np.arange(n_numeric), n_numeric + np.repeat(np.arange(len(sizes)), sizes)]
    )


def _check_range(X: Any) -> None:
    """Refuse numbers whose squared differences overflow or vanish."""
    cells = np.abs(cast("Any", X).data if sparse.issparse(X) else X)
    largest = np.nanmax(cells, initial=0.0)
    if largest > _LARGEST:
        raise ValueError(
            f"the numbers in X must be between -{_LARGEST:g} and {_LARGEST:g}, because distances "
            f"square them, got a number of magnitude {largest:g}. Scale the columns."
        )


def _rows_with_missing(X: Any) -> NDArray[np.bool_]:
    if not sparse.issparse(X):
        return np.asarray(np.isnan(X).any(axis=1))
    rows: Any = cast("Any", X).tocsr()
    found = np.zeros(rows.shape[0], dtype=bool)
    found[np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))[np.isnan(rows.data)]] = True
    return found


# ---- nearest rows ---------------------------------------------------------------------------
#
# They are the same rows on every machine, at equal distances the first ones. The distances of a
# fast search are rounded differently by each processor, number of threads and block of rows. They
# settle which rows are nearest unless candidates are closer to each other than the rounding; the
# distances of those are computed again, one column after the other.


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
