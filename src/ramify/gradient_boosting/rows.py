"""The rows of gradient boosting: those to learn from, and those held out to score rounds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify._base.features import FeatureSchema

__all__ = ["BoostingRows"]


@dataclass(frozen=True)
class BoostingRows:
    """Rows with positive weights, and their roles.

    Attributes
    ----------
    X : ndarray or csr_array
        Features, as returned by `read_training_features`.
    Y : csr_array of shape (n, n_labels)
        Labels, including all ancestors.
    weights : ndarray of shape (n,)
        Sample weights.
    learning, held_out : ndarrays of int64
        The rows to learn from and those held out, both in increasing order.
    """

    X: Any
    Y: sparse.csr_array[np.int32]
    weights: NDArray[np.float64]
    learning: NDArray[np.int64]
    held_out: NDArray[np.int64]

    @classmethod
    def of(
        cls, X: Any, Y: sparse.csr_array[np.int32], weights: NDArray[np.float64]
    ) -> BoostingRows:
        """Return the rows with positive weights, all of them to learn from."""
        X = cast("Any", X).tocsr() if sparse.issparse(X) else X
        rows = np.flatnonzero(weights > 0)
        if len(rows) < len(weights):
            X, Y, weights = X[rows], Y[rows], weights[rows]
        everything = np.arange(len(rows), dtype=np.int64)
        return cls(X, Y, weights, everything, everything[:0])

    def hold_out(self, fraction: float, random: np.random.RandomState) -> BoostingRows:
        """Hold out a random fraction of the rows.

        Parameters
        ----------
        fraction : float
            The parameter `validation_fraction`.
        random : RandomState
            Draws the rows.

        Returns
        -------
        BoostingRows
            The same rows with other roles.
        """
        n_rows = len(self.weights)
        n_held = round(fraction * n_rows)
        if not 0 < n_held < n_rows:
            raise ValueError(
                "validation_fraction must leave rows for both training and validation, got "
                f"{fraction!r}, which selects {n_held} of {n_rows} rows. Pass another fraction, "
                "pass validation rows to fit, or set early_stopping=False."
            )
        drawn = random.permutation(n_rows).astype(np.int64)
        return replace(self, learning=np.sort(drawn[n_held:]), held_out=np.sort(drawn[:n_held]))

    def with_validation(self, other: BoostingRows, schema: FeatureSchema) -> BoostingRows:
        """Add held-out rows.

        Parameters
        ----------
        other : BoostingRows
            The held-out rows, with features as returned by `read_features`.
        schema : FeatureSchema
            The schema of X; categories that are not in it become missing values.

        Returns
        -------
        BoostingRows
            The rows of both, with their roles.
        """
        n_rows, n_held = len(self.weights), len(other.weights)
        return BoostingRows(
            _stack(self.X, without_new_categories(other.X, schema)),
            sparse.csr_array(sparse.vstack([self.Y, other.Y], format="csr")),
            np.concatenate([self.weights, other.weights]),
            self.learning,
            np.arange(n_rows, n_rows + n_held, dtype=np.int64),
        )

    def all_learning(self) -> BoostingRows:
        """Return the same rows, all of them to learn from."""
        everything = np.arange(len(self.weights), dtype=np.int64)
        return replace(self, learning=everything, held_out=everything[:0])


def _stack(X: Any, other: Any) -> Any:
    if sparse.issparse(X):
        both: Any = [X, sparse.csr_array(other)]
        return sparse.vstack(both, format="csr")
    return np.concatenate([X, cast("Any", other).toarray() if sparse.issparse(other) else other])


def without_new_categories(X: Any, schema: FeatureSchema) -> Any:
    """Replace codes of an array that are not in the schema with missing values."""
    nominal = np.flatnonzero(schema.n_categories)
    if not nominal.size:
        return X
    n_categories = schema.n_categories.astype(np.float64)
    if sparse.issparse(X):
        rows: Any = cast("Any", X).copy()
        codes, limit = rows.data, n_categories[rows.indices]
        rows.data = np.where((limit > 0) & ~_is_code(codes, limit), np.nan, codes)
        return rows
    X = X.copy()
    codes = X[:, nominal]
    X[:, nominal] = np.where(_is_code(codes, n_categories[nominal]), codes, np.nan)
    return X


def _is_code(values: NDArray[Any], n_categories: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.asarray((values >= 0) & (values < n_categories) & (values == np.floor(values)))
