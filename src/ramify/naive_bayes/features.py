"""Distributions of features given a label: normal for numeric, tables for nominal features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify._savable import savable
from ramify._schema import Array, MapOf, Schema, Whole

__all__ = ["CategoryTables", "Gaussians"]

Matrix = NDArray[np.float64]

_MANY_CELLS = 1_000_000
_CELLS_AT_A_TIME = 4_000_000


def _column(X: Any, feature: int) -> Matrix:
    if sparse.issparse(X):
        return np.asarray(cast("Any", X)[:, [feature]].toarray(), dtype=np.float64)[:, 0]
    return np.asarray(X[:, feature], dtype=np.float64)


@savable
@dataclass(frozen=True)
class Gaussians:
    """Mean and variance of each numeric feature in each group of rows.

    Attributes
    ----------
    features : ndarray of int
        Indices of the numeric features.
    mean, variance : ndarrays of shape (n_groups, n_numeric)
        Means and variances. A variance of 0 means that the feature is missing in all rows of the
        group; it is then ignored.
    """

    features: NDArray[np.int64]
    mean: Matrix
    variance: Matrix

    _saved_schema: ClassVar[Schema] = {
        "features": Array(("n_numeric",), "i8", low=0, below="n_features"),
        "mean": Array(("n_groups", "n_numeric")),
        "variance": Array(("n_groups", "n_numeric"), low=0),
    }

    @classmethod
    def learn(
        cls, X: Any, shares: Any, is_numeric: NDArray[np.bool_], var_smoothing: float
    ) -> Gaussians:
        """Estimate the means and variances.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n, n_features)
            Training rows; NaN marks missing values.
        shares : csr_array of shape (n_groups, n)
            The weight of each row in each group.
        is_numeric : ndarray of bool
            Mask of the numeric features.
        var_smoothing : float
            Fraction of the largest variance that is added to all variances.

        Returns
        -------
        Gaussians
            Means and variances, with one row per group.
        """
        features = np.flatnonzero(is_numeric)
        mean = np.zeros((shares.shape[0], len(features)))
        variance = np.zeros_like(mean)
        X = cast("Any", X).tocsc() if sparse.issparse(X) else X
        all_rows = shares.sum(axis=0)[None, :]
        largest = 0.0
        for k, feature in enumerate(features):
            values = _column(X, int(feature))
            mean[:, k], variance[:, k] = _moments(values, shares)
            # The groups overlap, so the variance over all rows counts every row once.
            largest = max(largest, float(_moments(values, (all_rows > 0).astype(float))[1][0]))
        known = variance >= 0
        # Avoid a variance of 0, with which the density would be infinite.
        added = var_smoothing * largest if var_smoothing * largest > 0 else 1e-300
        variance = np.where(known, variance + added, 0.0)
        return cls(features, np.where(known, mean, 0.0), variance)

    def add_log_densities(self, X: Any, out: Matrix) -> None:
        """Add log P(x_f | group) of all numeric features to `out`.

        Parameters
        ----------
        X : ndarray or sparse matrix
            Rows; missing values are ignored.
        out : ndarray of shape (n, n_groups)
            Receives the sums.
        """
        if sparse.issparse(X):
            # Small models sum in the order of dense rows, with the same results. The choice does
            # not depend on the number of rows, so a row has the same result in any batch.
            if self.mean.size > _MANY_CELLS:
                self._add_sparse(X, out)
                return
            rows = cast("Any", X).tocsr()
            step = max(1, _CELLS_AT_A_TIME // max(1, rows.shape[1]))
            for first in range(0, rows.shape[0], step):
                part = slice(first, first + step)
                self.add_log_densities(rows[part].toarray(), out[part])
            return
        for k, feature in enumerate(self.features):
            values = _column(X, int(feature))
            known = ~np.isnan(values)
            out += np.where(known[:, None], self._density(np.where(known, values, 0.0), k), 0.0)

    def _density(self, values: Matrix, k: int) -> Matrix:
        """Return log P(value | group), 0 if the feature is missing in all rows of the group."""
        mean, variance = self.mean[:, k], self.variance[:, k]
        width = np.where(variance > 0, variance, 1.0)
        density = -0.5 * (np.log(2 * np.pi * width) + (values[:, None] - mean) ** 2 / width)
        return np.asarray(np.where(variance > 0, density, 0.0))

    def _add_sparse(self, X: Any, out: Matrix) -> None:
        """Add the log densities of rows of zeros, then the differences due to stored cells."""
        zeros = np.zeros(1)
        at_zero = np.zeros((len(self.features), out.shape[1]))
        for k in range(len(self.features)):
            at_zero[k] = self._density(zeros, k)[0]
        out += at_zero.sum(axis=0)
        cells = X.tocsc()[:, self.features].tocsr().tocoo()
        order = np.lexsort((cells.col, cells.row))
        row, col, value = cells.row[order], cells.col[order], cells.data[order]
        step = max(1, 2_000_000 // max(1, out.shape[1]))
        for first in range(0, len(row), step):
            part = slice(first, first + step)
            mean, variance = self.mean[:, col[part]], self.variance[:, col[part]]
            width = np.where(variance > 0, variance, 1.0)
            x = value[part]
            density = -0.5 * (np.log(2 * np.pi * width) + (x - mean) ** 2 / width)
            change = np.where(variance > 0, density, 0.0).T - at_zero[col[part]]
            change = np.where(np.isnan(x)[:, None], -at_zero[col[part]], change)
            np.add.at(out, row[part], change)  # sums in the order of the cells

    def check(self, n_groups: int, n_features: int) -> None:
        """Raise an error if loaded arrays are inconsistent."""
        shape = (n_groups, len(self.features))
        within = (self.features >= 0) & (self.features < n_features)
        if self.mean.shape != shape or self.variance.shape != shape or not within.all():
            raise ValueError("mean, variance and features do not fit together")


def _moments(values: Matrix, shares: Any) -> tuple[Matrix, Matrix]:
    """Return mean and variance in each group; variance -1 if all values are missing."""
    known = ~np.isnan(values)
    centre = float(values[known].mean()) if known.any() else 0.0
    centred = np.where(known, values - centre, 0.0)
    weight = shares @ known.astype(np.float64)
    width = np.where(weight > 0, weight, 1.0)
    mean = (shares @ centred) / width
    # Differences from the mean of each group would require one pass per group. With differences
    # from the common mean, little precision is lost.
    variance = np.maximum((shares @ centred**2) / width - mean**2, 0.0)
    return mean + centre, np.where(weight > 0, variance, -1.0)


@savable
@dataclass(frozen=True)
class CategoryTables:
    """Log frequencies of the categories of nominal features in each group of rows.

    Attributes
    ----------
    tables : dict of int to ndarray of shape (n_groups, n_categories)
        Log frequencies, by the index of the feature.
    """

    tables: dict[int, Matrix]

    _saved_schema: ClassVar[Schema] = {
        "tables": MapOf(Whole(0, "n_features"), Array(("n_groups", "?"))),
    }

    @classmethod
    def learn(
        cls, X: Any, shares: Any, n_categories: NDArray[np.int32], smoothing: float
    ) -> CategoryTables:
        """Estimate the log frequencies.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n, n_features)
            Training rows. Nominal columns contain codes; NaN marks missing values.
        shares : csr_array of shape (n_groups, n)
            The weight of each row in each group.
        n_categories : ndarray of int
            The number of categories of each feature, 0 for numeric features.
        smoothing : float
            Added to every count.

        Returns
        -------
        CategoryTables
            One table per nominal feature.
        """
        X = cast("Any", X).tocsc() if sparse.issparse(X) else X
        tables = {}
        for feature in np.flatnonzero(n_categories):
            values = _column(X, int(feature))
            size = int(n_categories[feature])
            one_hot = (values[:, None] == np.arange(size)).astype(np.float64)
            counts = np.asarray(shares @ one_hot) + max(smoothing, 1e-300)
            tables[int(feature)] = np.log(counts / counts.sum(axis=1, keepdims=True))
        return cls(tables)

    def add_log_frequencies(self, X: Any, out: Matrix) -> None:
        """Add log P(x_f | group) of all nominal features to `out`.

        Parameters
        ----------
        X : ndarray or sparse matrix
            Rows; missing values and categories not seen in training are ignored.
        out : ndarray of shape (n, n_groups)
            Receives the sums.
        """
        for feature, table in self.tables.items():
            values = _column(X, feature)
            known = (values >= 0) & (values < table.shape[1])  # False for NaN
            codes = np.where(known, values, 0.0).astype(np.intp)
            out += np.where(known[:, None], table[:, codes].T, 0.0)

    def check(self, n_groups: int, n_categories: NDArray[np.int32]) -> None:
        """Raise an error if loaded tables do not match the features."""
        expected = {int(f): (n_groups, int(n_categories[f])) for f in np.flatnonzero(n_categories)}
        if {feature: table.shape for feature, table in self.tables.items()} != expected:
            raise ValueError("tables and n_categories do not fit together")
