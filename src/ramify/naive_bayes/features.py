"""How features are distributed given a label: normal for numbers, tables for categories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify._savable import savable

__all__ = ["CategoryTables", "Gaussians"]

Matrix = NDArray[np.float64]


def _column(X: Any, feature: int) -> Matrix:
    if sparse.issparse(X):
        return np.asarray(cast("Any", X)[:, [feature]].toarray(), dtype=np.float64)[:, 0]
    return np.asarray(X[:, feature], dtype=np.float64)


@savable
@dataclass(frozen=True)
class Gaussians:
    """Mean and variance of every numeric feature in every group of rows.

    Attributes
    ----------
    features : ndarray of int
        The numeric columns.
    mean, variance : ndarrays of shape (n_groups, n_numeric)
        Variance 0 marks a feature that is not known in any row of the group and says nothing.
    """

    features: NDArray[np.int64]
    mean: Matrix
    variance: Matrix

    @classmethod
    def learn(
        cls, X: Any, shares: Any, is_numeric: NDArray[np.bool_], var_smoothing: float
    ) -> Gaussians:
        """Estimate all of them.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n, n_features)
            Rows, NaN where unknown.
        shares : csr_array of shape (n_groups, n)
            The weight of every row in every group.
        is_numeric : ndarray of bool
            Which columns to look at.
        var_smoothing : float
            The part of the largest variance that is added to all.

        Returns
        -------
        Gaussians
            With one row per group.
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
            # All groups overlap; the spread of all rows is one of rows, once each.
            largest = max(largest, float(_moments(values, (all_rows > 0).astype(float))[1][0]))
        known = variance >= 0
        # Where nothing varies a width of 0 would make the one value infinitely likely.
        added = var_smoothing * largest if var_smoothing * largest > 0 else 1e-300
        variance = np.where(known, variance + added, 0.0)
        return cls(features, np.where(known, mean, 0.0), variance)

    def add_log_densities(self, X: Any, out: Matrix) -> None:
        """Add log P(x_f | group) of all numeric features.

        Parameters
        ----------
        X : ndarray or sparse matrix
            Rows; unknown values add nothing.
        out : ndarray of shape (n, n_groups)
            Receives the sums.
        """
        if sparse.issparse(X):
            self._add_sparse(X, out)
            return
        for k, feature in enumerate(self.features):
            values = _column(X, int(feature))
            known = ~np.isnan(values)
            out += np.where(known[:, None], self._density(np.where(known, values, 0.0), k), 0.0)

    def _density(self, values: Matrix, k: int) -> Matrix:
        """Return log P(value | group), 0 where the group says nothing."""
        mean, variance = self.mean[:, k], self.variance[:, k]
        width = np.where(variance > 0, variance, 1.0)
        density = -0.5 * (np.log(2 * np.pi * width) + (values[:, None] - mean) ** 2 / width)
        return np.asarray(np.where(variance > 0, density, 0.0))

    def _add_sparse(self, X: Any, out: Matrix) -> None:
        """Add what rows of zeros have, and then what the other cells change."""
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
            np.add.at(out, row[part], change)  # in the order of the cells

    def check(self, n_groups: int, n_features: int) -> None:
        """Refuse arrays, e.g. of a file, that do not fit each other."""
        shape = (n_groups, len(self.features))
        within = (self.features >= 0) & (self.features < n_features)
        if self.mean.shape != shape or self.variance.shape != shape or not within.all():
            raise ValueError("means, variances and features do not fit together")


def _moments(values: Matrix, shares: Any) -> tuple[Matrix, Matrix]:
    """Return mean and variance of known values in every group; variance -1: there is none."""
    known = ~np.isnan(values)
    centre = float(values[known].mean()) if known.any() else 0.0
    centred = np.where(known, values - centre, 0.0)
    weight = shares @ known.astype(np.float64)
    width = np.where(weight > 0, weight, 1.0)
    mean = (shares @ centred) / width
    # Squares of differences from each group's own mean would be one pass per group; around the
    # common mean little is lost.
    variance = np.maximum((shares @ centred**2) / width - mean**2, 0.0)
    return mean + centre, np.where(weight > 0, variance, -1.0)


@savable
@dataclass(frozen=True)
class CategoryTables:
    """The logarithm of the frequency of every category in every group of rows.

    Attributes
    ----------
    tables : dict of int to ndarray of shape (n_groups, n_categories)
        By column of X.
    """

    tables: dict[int, Matrix]

    @classmethod
    def learn(
        cls, X: Any, shares: Any, n_categories: NDArray[np.int32], smoothing: float
    ) -> CategoryTables:
        """Count the categories.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n, n_features)
            Rows; cells of nominal columns are codes, NaN where unknown.
        shares : csr_array of shape (n_groups, n)
            The weight of every row in every group.
        n_categories : ndarray of int
            0 for numeric columns.
        smoothing : float
            Added to every count.

        Returns
        -------
        CategoryTables
            With one table per nominal column.
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
        """Add log P(x_f | group) of all nominal features.

        Parameters
        ----------
        X : ndarray or sparse matrix
            Rows; unknown values and categories without a table add nothing.
        out : ndarray of shape (n, n_groups)
            Receives the sums.
        """
        for feature, table in self.tables.items():
            values = _column(X, feature)
            known = (values >= 0) & (values < table.shape[1])  # NaN is neither
            codes = np.where(known, values, 0.0).astype(np.intp)
            out += np.where(known[:, None], table[:, codes].T, 0.0)

    def check(self, n_groups: int, n_categories: NDArray[np.int32]) -> None:
        """Refuse tables, e.g. of a file, that do not fit the features."""
        expected = {int(f): (n_groups, int(n_categories[f])) for f in np.flatnonzero(n_categories)}
        if {feature: table.shape for feature, table in self.tables.items()} != expected:
            raise ValueError("tables and nominal features do not fit together")
