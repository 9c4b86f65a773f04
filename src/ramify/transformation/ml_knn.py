"""ML-kNN: nearest neighbours for many labels, by the counts of labels among them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from ramify._base.classifier import ArrayClassifier
from ramify._base.features import FeatureSchema
from ramify._validation import check_number
from ramify.decision import make_coherent
from ramify.hierarchy.hierarchy import Hierarchy

__all__ = ["MLkNN"]


_CELLS = 1 << 22
"""Distances, or differences of cells, that are computed at a time where cells are unknown."""
_SPARE = 16
"""Rows beside the k nearest by rounded distances that are compared exactly."""


class MLkNN(ArrayClassifier):
    """Nearest neighbours for many labels (ML-kNN).

    For every label, the number of the k nearest training rows that have it is evidence for the
    label: how often rows with it, and rows without it, have so many neighbours with it is counted
    in training, and Bayes' rule makes a probability of that.

    Parameters
    ----------
    hierarchy : Hierarchy, optional
        The labels. None infers a tree from path labels, and takes other labels as flat.
    n_neighbors : int
        How many neighbours are asked, k; all others if there are fewer.
    smoothing : float
        What is added to every count, s.
    metric : str or callable
        The distance, as for scikit-learn's NearestNeighbors. Where rows have unknown values,
        "euclidean" compares the features that both know, scaled up to all of them.
    categorical_features : array-like of bool, int or str, optional
        Nominal columns as a mask, positions or names; as for `PCTClassifier`.
    n_jobs : int, optional
        How many rows' neighbours are sought at the same time, -1 for as many as there are cores.
        Nothing depends on it but the time.

    Attributes
    ----------
    posterior_ : ndarray of shape (n_labels, n_neighbors_ + 1)
        The probability of each label for each number of neighbours that have it.
    n_neighbors_ : int
        How many neighbours are asked.
    X_ : ndarray or csr_array
        The training rows as distances see them.
    Y_ : csr_array of shape (n, n_labels)
        Their labels.
    hierarchy_ : Hierarchy
        The hierarchy given or inferred.
    classes_ : ndarray of shape (n_labels,)
        The labels, in the order of the columns of `predict_proba`.

    Notes
    -----
    In training a row is not its own neighbour. Columns count as they are, so scale them first;
    two different categories of a nominal column are at distance 1. Which of several rows at the
    same distance is the last of k neighbours is scikit-learn's choice, and the first of them if
    values are unknown. In a hierarchy a label's
    probability is cut, from the top, to those of its parents.

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

    def fit(self, X: Any, y: Any) -> MLkNN:  # type: ignore[override] # neighbours have no weights
        """Count labels among the neighbours of the training rows.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Numbers, NaN where unknown; categorical and text columns of a data frame are nominal.
        y : array-like
            n label sets in any format of `ramify.labels.read_labels`.

        Returns
        -------
        MLkNN
            Itself.
        """
        super().fit(X, y)
        return self

    def _check_parameters(self) -> None:
        check_number("n_neighbors", self.n_neighbors, 1, whole=True)
        check_number("smoothing", self.smoothing, np.finfo(float).tiny, 1e9)

    def _learn(self, X: Any, Y: sparse.csr_array[np.int32], weights: NDArray[np.float64]) -> None:
        self.X_, self.Y_ = spread_nominal(X, self.schema_), Y
        self.n_neighbors_ = min(int(self.n_neighbors), X.shape[0] - 1)
        counts = self._count_labels(None)
        table = count_evidence(counts, Y, self.n_neighbors_)
        self.posterior_ = find_posterior(table, float(self.smoothing))

    def _count_labels(self, X: Any) -> NDArray[np.int64]:
        """Return how many neighbours have each label, n × n_labels; of training rows for None."""
        n_rows = self.X_.shape[0] if X is None else X.shape[0]
        if self.n_neighbors_ == 0:
            return np.zeros((n_rows, self.Y_.shape[1]), dtype=np.int64)
        found = self._find_neighbors(X)
        indptr = np.arange(0, found.size + 1, self.n_neighbors_)
        ones = np.ones(found.size, dtype=np.int64)
        shape = (n_rows, self.X_.shape[0])
        near = sparse.csr_array((ones, found.ravel(), indptr), shape=shape)
        counts: Any = near @ self.Y_
        return np.asarray(counts.toarray(), dtype=np.int64)

    def _find_neighbors(self, X: Any) -> NDArray[np.intp]:
        """Return the nearest training rows, n × n_neighbors_; of training rows others for None."""
        asked = self.X_ if X is None else X
        unknown = _rows_with_unknown(asked)
        if _rows_with_unknown(self.X_).any():
            unknown[:] = True
        found = np.empty((asked.shape[0], self.n_neighbors_), dtype=np.intp)
        # Row by row, not for all if there is one: no row's answer depends on the others.
        known = np.flatnonzero(~unknown)
        if len(known):
            search = NearestNeighbors(
                n_neighbors=self.n_neighbors_, metric=self.metric, n_jobs=self.n_jobs
            ).fit(self.X_)
            rows = None if X is None else X if len(known) == X.shape[0] else X[known]
            found[known] = search.kneighbors(rows, return_distance=False)
        if unknown.any():
            self._check_unknown()
            rows = np.flatnonzero(unknown)
            found[rows] = find_by_known_cells(
                _dense(asked[rows]),
                self.X_,
                column_owners(self.schema_),
                k=self.n_neighbors_,
                itself=rows if X is None else None,
            )
        return found

    def _check_unknown(self) -> None:
        if sparse.issparse(self.X_) or self.metric != "euclidean":
            raise ValueError(
                f"Input X contains NaN, for which neighbours by metric={self.metric!r} in a "
                f"{'sparse' if sparse.issparse(self.X_) else 'dense'} X are not known. Fill "
                "unknown values first, or give dense rows and metric='euclidean'."
            )

    def _predict_scores(self, X: Any) -> NDArray[np.float64]:
        counts = self._count_labels(spread_nominal(X, self.schema_))
        scores = self.posterior_[np.arange(counts.shape[1])[:, None], counts.T]
        return make_coherent(scores.T, self.hierarchy_, "min")

    def _set_saved_state(self, state: Mapping[str, Any]) -> None:
        super()._set_saved_state(state)
        if "posterior_" not in state:
            return
        n_labels = self.hierarchy_.n_labels
        if (
            self.posterior_.shape != (n_labels, self.n_neighbors_ + 1)
            or self.Y_.shape != (self.X_.shape[0], n_labels)
            or not 0 <= self.n_neighbors_ < self.X_.shape[0]
            or self.X_.shape[1] != _count_columns(self.schema_)
        ):
            raise ValueError("the neighbours, their labels and the probabilities do not fit")


def count_evidence(
    counts: NDArray[np.int64], Y: sparse.csr_array[np.int32], k: int
) -> NDArray[np.int64]:
    """Return how many rows without and with each label have j neighbours with it.

    Parameters
    ----------
    counts : ndarray of shape (n, n_labels)
        How many neighbours have each label.
    Y : csr_array of shape (n, n_labels)
        The labels.
    k : int
        The number of neighbours.

    Returns
    -------
    ndarray of shape (2, n_labels, k + 1)
        Numbers of rows: without the label, and with it.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> count_evidence(np.array([[1], [0], [1]]), sparse.csr_array([[1], [0], [1]]), 1).tolist()
    [[[1, 0]], [[0, 2]]]
    """
    n_labels = counts.shape[1]
    cells = counts + np.arange(n_labels) * (k + 1)
    size = n_labels * (k + 1)
    rows = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
    having = np.bincount(cells[rows, Y.indices], minlength=size)
    everyone = np.bincount(cells.ravel(), minlength=size)
    return np.stack([everyone - having, having]).reshape(2, n_labels, k + 1)


def find_posterior(table: NDArray[np.int64], smoothing: float) -> NDArray[np.float64]:
    """Return P(label | j neighbours have it) by Bayes' rule, all counts smoothed.

    Parameters
    ----------
    table : ndarray of shape (2, n_labels, k + 1)
        What `count_evidence` returned.
    smoothing : float
        Added to every count.

    Returns
    -------
    ndarray of shape (n_labels, k + 1)
        Probabilities.

    Examples
    --------
    >>> import numpy as np
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
    """Return X with a column for every category, such that two categories are at distance 1.

    Parameters
    ----------
    X : ndarray or sparse matrix
        Numbers and codes, as `read_features` returns them.
    schema : FeatureSchema
        Which columns are nominal.

    Returns
    -------
    ndarray or csr_array
        Numeric columns first; all columns of an unknown category are NaN.
    """
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
    """Return for every column of `spread_nominal` which feature it is of, numbered in its order.

    Parameters
    ----------
    schema : FeatureSchema
        Which columns are nominal.

    Returns
    -------
    ndarray of int
        Several columns of one nominal feature have the same number.
    """
    n_numeric = int((schema.n_categories == 0).sum())
    sizes = schema.n_categories[schema.n_categories > 0]
    return np.concatenate(
        [np.arange(n_numeric), n_numeric + np.repeat(np.arange(len(sizes)), sizes)]
    )


def find_by_known_cells(
    asked: NDArray[np.float64],
    among: NDArray[np.float64],
    owner: NDArray[np.intp],
    *,
    k: int,
    itself: NDArray[np.intp] | None = None,
) -> NDArray[np.intp]:
    """Return the nearest rows by the features that both rows know, scaled up to all features.

    Parameters
    ----------
    asked, among : ndarray of shape (n, n_columns) and (m, n_columns)
        What `spread_nominal` returned, NaN where unknown.
    owner : ndarray of shape (n_columns,)
        The feature of each column.
    k : int
        How many rows to find; at equal distances the first.
    itself : ndarray of shape (n,), optional
        Which row of `among` each of `asked` is: no row is its own neighbour.

    Returns
    -------
    ndarray of shape (n, k)
        Places in `among`. Rows that share no known feature are farthest.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[0.0, np.nan], [3.0, 0.0], [1.0, 2.0]])
    >>> find_by_known_cells(np.array([[0.0, 0.0]]), rows, np.arange(2), k=2).tolist()
    [[0, 2]]
    """
    first = np.unique(owner, return_index=True)[1]
    known, filled = (~np.isnan(among)).astype(np.float64), np.nan_to_num(among)
    squared = filled**2
    n_near = min(len(among), k + _SPARE)
    found = np.empty((len(asked), k), dtype=np.intp)
    size = max(1, _CELLS // max(1, len(among), n_near * among.shape[1]))
    for start in range(0, len(asked), size):
        block = asked[start : start + size]
        here, values = (~np.isnan(block)).astype(np.float64), np.nan_to_num(block)
        squares = values**2 @ known.T + here @ squared.T - 2 * values @ filled.T
        shared = here[:, first] @ known[:, first].T
        squares = _scale_up(squares, shared, len(first))
        if itself is not None:
            own = itself[start : start + size]
            squares[np.arange(len(own)), own] = np.nan  # sorted behind everything
        near = np.sort(np.argsort(squares, axis=1, kind="stable")[:, :n_near], axis=1)
        # Matrix products round by the shape of the block; these differences do not.
        apart = np.nan_to_num(among[near] - block[:, None])
        exact = _scale_up((apart**2).sum(axis=2), np.take_along_axis(shared, near, 1), len(first))
        exact[np.isnan(np.take_along_axis(squares, near, 1))] = np.nan
        order = np.argsort(exact, axis=1, kind="stable")[:, :k]
        found[start : start + size] = np.take_along_axis(near, order, 1)
    return found


def _scale_up(
    squares: NDArray[np.float64], shared: NDArray[np.float64], n_features: int
) -> NDArray[np.float64]:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(shared > 0, np.maximum(squares, 0) * (n_features / shared), np.inf)


def _count_columns(schema: FeatureSchema) -> int:
    return len(column_owners(schema))


def _dense(X: Any) -> NDArray[np.float64]:
    dense: NDArray[np.float64] = cast("Any", X).toarray() if sparse.issparse(X) else X
    return dense


def _rows_with_unknown(X: Any) -> NDArray[np.bool_]:
    if not sparse.issparse(X):
        return np.asarray(np.isnan(X).any(axis=1))
    rows: Any = cast("Any", X).tocsr()
    found = np.zeros(rows.shape[0], dtype=bool)
    found[np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))[np.isnan(rows.data)]] = True
    return found
