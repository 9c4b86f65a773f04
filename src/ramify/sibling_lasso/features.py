"""Features for linear models: missing values imputed, categories encoded, columns scaled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify._base.features import FeatureSchema
from ramify._savable import savable
from ramify._schema import Array, Flag, Schema

__all__ = ["LinearFeatures", "learn_features"]

_MOST_CELLS = 20_000_000
"""Largest size of encoded nominal features that are stored as a dense matrix and centred."""


@savable
@dataclass(frozen=True)
class LinearFeatures:
    """Transformation of X to columns of the same scale.

    Attributes
    ----------
    n_categories : ndarray of int32, shape (n_features,)
        Number of categories of each feature; 0 if it is numeric.
    fill : ndarray of shape (n_features,)
        Replacement for missing numbers: the mean.
    shift, scale : ndarray of shape (n_columns,)
        A column x becomes (x - shift) / scale. Columns of a sparse matrix are not shifted.
    is_sparse : bool
        Whether the columns are a sparse matrix.
    """

    n_categories: NDArray[np.int32]
    fill: NDArray[np.float64]
    shift: NDArray[np.float64]
    scale: NDArray[np.float64]
    is_sparse: bool

    _saved_schema: ClassVar[Schema] = {
        "n_categories": Array(("n_features",), "i4", low=0, high=2**16),
        "fill": Array(("n_features",)),
        "shift": Array(("n_columns",)),
        "scale": Array(("n_columns",), low=np.finfo(np.float64).tiny),
        "is_sparse": Flag(),
    }

    def transform(self, X: Any) -> Any:
        """Return an ndarray, or a csr_array if the columns are stored as a sparse matrix."""
        if not self.is_sparse or self.n_categories.any():
            X = _dense(X)
        columns = _spread(X, self.n_categories, self.fill)
        if self.is_sparse:
            return sparse.csr_array(columns) @ sparse.diags_array(1 / self.scale)
        return np.ascontiguousarray((_dense(columns) - self.shift) / self.scale)


def learn_features(X: Any, schema: FeatureSchema, weights: NDArray[np.float64]) -> LinearFeatures:
    """Compute means and standard deviations.

    Parameters
    ----------
    X : ndarray or sparse matrix
        The result of `read_training_features`.
    schema : FeatureSchema
        The types of the features.
    weights : ndarray of shape (n,)
        Sample weights.

    Returns
    -------
    LinearFeatures
        The transformation.
    """
    share = weights / weights.sum()
    n_categories = schema.n_categories
    fill: NDArray[np.float64]
    # Small sparse matrices are handled as dense ones, with the same results.
    is_large = X.shape[0] * X.shape[1] > _MOST_CELLS
    if sparse.issparse(X) and is_large and not n_categories.any():
        fill = _sparse_means(X, share)
    else:
        X = np.ascontiguousarray(_dense(X), dtype=np.float64)  # sums depend on the memory layout
        present = ~np.isnan(X)
        total = share @ present
        sums = share @ np.where(present, X, 0.0)
        fill = np.asarray(sums / np.where(total > 0, total, 1.0))
    columns: Any = _spread(X, n_categories, fill)
    mean = np.asarray(share @ columns).ravel()
    is_large = len(mean) * len(weights) > _MOST_CELLS
    is_sparse = sparse.issparse(columns) and is_large
    columns = columns if is_sparse else _dense(columns)
    squares = columns.multiply(columns) if is_sparse else columns**2
    mean_square = np.asarray(share @ squares).ravel()
    # Sparse columns are not centred. The intercepts, which are not penalised, make up for it.
    shift = np.zeros_like(mean) if is_sparse else mean
    spread = np.maximum(0, mean_square - mean**2)
    constant = spread <= 1e-12 * np.maximum(1e-300, mean_square)
    scale = np.where(constant, 1.0, np.sqrt(np.where(constant, 1.0, spread)))
    return LinearFeatures(n_categories, fill, shift, scale, is_sparse)


def _sparse_means(X: Any, share: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean of each column; missing values are ignored, cells not stored are 0."""
    rows = sparse.csr_array(X, dtype=np.float64)
    missing = np.isnan(rows.data)
    known = rows.copy()
    known.data[missing] = 0.0
    absent = rows.copy()
    absent.data = missing.astype(np.float64)
    total = share.sum() - np.asarray(share @ absent)
    return np.asarray(share @ known) / np.where(total > 0, total, 1.0)


def _dense(columns: Any) -> NDArray[np.float64]:
    is_sparse = sparse.issparse(columns)
    return np.asarray(columns.toarray() if is_sparse else columns)


def _spread(X: Any, n_categories: NDArray[np.int32], fill: NDArray[np.float64]) -> Any:
    """Return imputed numeric features, followed by 0/1 columns of the categories."""
    nominal = np.flatnonzero(n_categories)
    is_sparse = sparse.issparse(X)
    if is_sparse:
        rows = sparse.csr_array(X, dtype=np.float64)
        missing = np.isnan(rows.data)
        if missing.any():
            rows = rows.copy()
            rows.data[missing] = fill[rows.indices[missing]]
        return rows
    X = np.ascontiguousarray(X, dtype=np.float64)
    if not nominal.size:
        return np.where(np.isnan(X), fill, X)
    marks = _mark_categories(X[:, nominal], n_categories[nominal])
    if len(nominal) == X.shape[1]:
        return marks
    numeric = np.flatnonzero(n_categories == 0)
    numbers = np.where(np.isnan(X[:, numeric]), fill[numeric], X[:, numeric])
    return np.hstack([numbers, marks.toarray()])


def _mark_categories(codes: NDArray[np.float64], counts: NDArray[np.int32]) -> Any:
    """Return one 0/1 column per category, or one for a feature with two; all 0 if missing."""
    widths = np.where(counts == 2, 1, counts)
    starts = np.concatenate([[0], np.cumsum(widths)])
    # Only cells with a mark are listed: most features with two categories are mostly 0.
    rows, features = np.nonzero(np.where(counts == 2, codes == 1, codes < counts))
    values = codes[rows, features].astype(np.int64)
    columns = starts[features] + np.where(counts[features] == 2, 0, values)
    shape = (len(codes), int(starts[-1]))
    return sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)
