"""Scaling of numeric features to [0, 1], for models that use distances between rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["ScaledModel"]


class ScaledModel:
    """A model whose numeric features are scaled by the ranges of the training rows.

    Parameters
    ----------
    estimator : estimator
        Fitted to the scaled rows.
    nominal : list of bool or None
        Columns of an array that are not scaled; None for data frames.

    Notes
    -----
    Missing values stay missing. Constant columns are only shifted. Sparse columns are divided by
    their largest absolute value; zeros stay zero.

    Examples
    --------
    >>> from ramify import MLkNN
    >>> model = ScaledModel(MLkNN(n_neighbors=1), [False, False])
    >>> model.fit([[0.0, 100.0], [1.0, 900.0]], [["cat"], ["dog"]]).scaled([[0.5, 300.0]])
    array([[0.5 , 0.25]])
    """

    def __init__(self, estimator: Any, nominal: list[bool] | None) -> None:
        self.estimator_ = estimator
        self.nominal = nominal

    def fit(self, X: Any, y: Any) -> ScaledModel:
        """Compute the ranges, then fit the estimator."""
        self._learn_ranges(X)
        self.estimator_.fit(self.scaled(X), y)
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probabilities for the scaled rows."""
        return np.asarray(self.estimator_.predict_proba(self.scaled(X)))

    def predict(self, X: Any) -> Any:
        """Return the label sets for the scaled rows."""
        return self.estimator_.predict(self.scaled(X))

    def _learn_ranges(self, X: Any) -> None:
        self._names = None
        if hasattr(X, "iloc"):
            self._names = list(X.select_dtypes("number").columns)
            X = X[self._names]
        low, high = _sizes(X) if sparse.issparse(X) else _ranges(np.asarray(X, dtype=np.float64))
        low[~np.isfinite(low)] = 0.0
        width = np.where(high > low, high - low, 1.0)
        if self.nominal is not None and self._names is None:
            low[self.nominal], width[self.nominal] = 0.0, 1.0
        self.low_, self.width_ = low, width

    def scaled(self, X: Any) -> Any:
        """Return rows with their numeric columns scaled.

        Parameters
        ----------
        X : ndarray, csr_array or data frame
            Rows.

        Returns
        -------
        ndarray, csr_array or data frame
            The scaled rows, of the same type.
        """
        if self._names is not None:
            return X.assign(
                **{
                    name: (X[name] - low) / width
                    for name, low, width in zip(self._names, self.low_, self.width_, strict=True)
                }
            )
        if sparse.issparse(X):
            factors: Any = sparse.diags_array(1 / self.width_)
            return (X @ factors).tocsr()
        return (np.asarray(X, dtype=np.float64) - self.low_) / self.width_


def _ranges(X: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    missing = np.isnan(X)
    return np.where(missing, np.inf, X).min(axis=0), np.where(missing, -np.inf, X).max(axis=0)


def _sizes(X: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return np.zeros(X.shape[1]), np.asarray(abs(X).max(axis=0).todense()).ravel()
