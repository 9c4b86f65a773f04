"""Numbers of mean 0 and variance 1, and their principal components."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.extmath import randomized_svd

from ramify._savable import savable
from ramify._schema import Array, Schema

_FARTHEST = 1e6
"""Standard deviations from the mean at which numbers end, so that squares and sums are finite."""


@savable
@dataclass(frozen=True)
class Scaling:
    """Means and standard deviations of columns; missing numbers are replaced with the mean."""

    mean: NDArray[np.float64]
    scale: NDArray[np.float64]  # 1 for constant columns

    _saved_schema: ClassVar[Schema] = {
        "mean": Array(("n_columns",)),
        "scale": Array(("n_columns",), low=np.finfo(float).tiny),
    }

    @classmethod
    def learn(cls, X: NDArray[Any], weights: NDArray[np.float64]) -> Scaling:
        """Learn from weighted rows, some of whose numbers may be missing."""
        # Sums along the rows of an array in this order are the same on every processor.
        X = np.ascontiguousarray(X, dtype=np.float64)
        known = ~np.isnan(X)
        largest = np.max(np.abs(X), axis=0, where=known, initial=0.0)
        unit = np.where(largest > 0, largest, 1.0)  # squares of the largest numbers overflow
        share = known * (weights / weights.max())[:, None]
        total = np.maximum(share.sum(axis=0), np.finfo(float).tiny)
        numbers = np.where(known, X, 0.0) / unit
        mean = (share * numbers).sum(axis=0) / total
        deviation = np.sqrt((share * (numbers - mean) ** 2).sum(axis=0) / total)
        varies = deviation > 8 * np.finfo(float).eps
        scale = np.where(varies, deviation, 1.0) * unit
        return cls(mean * unit, np.maximum(scale, np.finfo(float).tiny))

    def apply(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Return numbers of mean 0 and variance 1, without missing ones."""
        with np.errstate(over="ignore"):
            found = X / self.scale - self.mean / self.scale
        return np.clip(
            np.nan_to_num(found, posinf=_FARTHEST, neginf=-_FARTHEST), -_FARTHEST, _FARTHEST
        )


@savable
@dataclass(frozen=True)
class Components:
    """Principal components of columns of mean 0."""

    axes: NDArray[np.float32]  # n_columns × n_components

    _saved_schema: ClassVar[Schema] = {"axes": Array(("n_columns", "n_components"), "f4")}

    @classmethod
    def learn(
        cls, columns: NDArray[np.float64], weights: NDArray[np.float64], n_components: int
    ) -> Components:
        """Learn from weighted rows."""
        weighted = columns * np.sqrt(weights / weights.max())[:, None]
        n_components = min(n_components, *weighted.shape)
        _, _, axes = randomized_svd(weighted, n_components, random_state=0)
        return cls(np.ascontiguousarray(axes.T, dtype=np.float32))

    def apply(self, columns: NDArray[np.float64]) -> NDArray[np.float32]:
        """Return the components of rows; a row's do not depend on the other rows."""
        # A dense product by BLAS would make the last digits of a row depend on the other rows.
        product: Any = sparse.csr_array(columns) @ self.axes.astype(np.float64)
        return np.asarray(product, dtype=np.float32)

    def spread(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Divide values of components, such as importances, among columns by squared loadings."""
        squares = self.axes.astype(np.float64) ** 2
        return np.asarray(squares @ (values / np.maximum(squares.sum(axis=0), 1e-300)))
