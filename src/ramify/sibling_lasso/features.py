"""X as linear models take it: unknown values filled, categories in columns, one scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify._base.features import FeatureSchema
from ramify._savable import savable

__all__ = ["LinearFeatures", "learn_features"]

_MOST_CELLS = 20_000_000
"""Categories become a dense matrix, whose columns can be centred, up to this size."""


@savable
@dataclass(frozen=True)
class LinearFeatures:
    """How the columns of X become columns of one scale.

    Attributes
    ----------
    n_categories : ndarray of int32, shape (n_features,)
        0 for numbers.
    fill : ndarray of shape (n_features,)
        What stands for an unknown number: the mean.
    shift, scale : ndarray of shape (n_columns,)
        Columns lose the one and are divided by the other; nothing is shifted in sparse X.
    is_sparse : bool
        Whether columns are a sparse matrix.
    """

    n_categories: NDArray[np.int32]
    fill: NDArray[np.float64]
    shift: NDArray[np.float64]
    scale: NDArray[np.float64]
    is_sparse: bool

    def transform(self, X: Any) -> Any:
        """Return an ndarray, or a csr_array where X is sparse or very many categories."""
        columns = _spread(X, self.n_categories, self.fill)
        if self.is_sparse:
            return sparse.csr_array(columns) @ sparse.diags_array(1 / self.scale)
        return (_dense(columns) - self.shift) / self.scale


def learn_features(X: Any, schema: FeatureSchema, weights: NDArray[np.float64]) -> LinearFeatures:
    """Learn means and standard deviations.

    Parameters
    ----------
    X : ndarray or sparse matrix
        What `read_training_features` returned.
    schema : FeatureSchema
        Which columns are nominal.
    weights : ndarray of shape (n,)
        The weights of the rows.

    Returns
    -------
    LinearFeatures
        What turns X, or other rows, into columns.
    """
    share = weights / weights.sum()
    n_categories = schema.n_categories
    fill: NDArray[np.float64]
    if sparse.issparse(X):
        fill = np.zeros(len(n_categories))
    else:
        known = ~np.isnan(X)
        total = share @ known
        sums = share @ np.where(known, X, 0.0)
        fill = np.asarray(sums / np.where(total > 0, total, 1.0))
    columns: Any = _spread(X, n_categories, fill)
    mean = np.asarray(share @ columns).ravel()
    is_large = len(mean) * len(weights) > _MOST_CELLS
    is_sparse = sparse.issparse(X) or (sparse.issparse(columns) and is_large)
    columns = columns if is_sparse else _dense(columns)
    squares = columns.multiply(columns) if is_sparse else columns**2
    mean_square = np.asarray(share @ squares).ravel()
    # Columns that cannot be shifted have no mean of 0: their length counts, not their spread.
    shift = np.zeros_like(mean) if is_sparse else mean
    spread = np.maximum(0, mean_square - shift**2)
    constant = spread <= 1e-12 * np.maximum(1e-300, mean_square)
    scale = np.where(constant, 1.0, np.sqrt(np.where(constant, 1.0, spread)))
    return LinearFeatures(n_categories, fill, shift, scale, is_sparse)


def _dense(columns: Any) -> NDArray[np.float64]:
    is_sparse = sparse.issparse(columns)
    return np.asarray(columns.toarray() if is_sparse else columns)


def _spread(X: Any, n_categories: NDArray[np.int32], fill: NDArray[np.float64]) -> Any:
    """Return numbers with unknown ones filled, then 0/1 columns of the categories."""
    nominal = np.flatnonzero(n_categories)
    is_sparse = sparse.issparse(X)
    if is_sparse:
        rows = sparse.csr_array(X, dtype=np.float64)
        if np.isnan(rows.data).any():
            rows = rows.copy()
            rows.data[np.isnan(rows.data)] = 0.0
        return rows
    X = np.asarray(X, dtype=np.float64)
    if not nominal.size:
        return np.where(np.isnan(X), fill, X)
    marks = _mark_categories(X[:, nominal], n_categories[nominal])
    if len(nominal) == X.shape[1]:
        return marks
    numeric = np.flatnonzero(n_categories == 0)
    numbers = np.where(np.isnan(X[:, numeric]), fill[numeric], X[:, numeric])
    return np.hstack([numbers, marks.toarray()])


def _mark_categories(codes: NDArray[np.float64], counts: NDArray[np.int32]) -> Any:
    """Return a column per category, one for a feature with two; none is set where unknown."""
    widths = np.where(counts == 2, 1, counts)
    starts = np.concatenate([[0], np.cumsum(widths)])
    known = ~np.isnan(codes)
    rows, features = np.nonzero(known)
    values = codes[rows, features].astype(np.int64)
    is_two = counts[features] == 2
    kept = (~is_two | (values == 1)) & (values < counts[features])
    columns = starts[features] + np.where(is_two, 0, values)
    shape = (len(codes), int(starts[-1]))
    ones = np.ones(int(kept.sum()))
    return sparse.csr_array((ones, (rows[kept], columns[kept])), shape=shape)
