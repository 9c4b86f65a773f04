"""Logistic regressions of several labels that share their features: the multitask lasso.

With n rows of weight v, features x and labels y in {0, 1}, minimise over coefficients B and
intercepts b

    (1 / Σ v) Σ_i v_i Σ_t log(1 + exp(z_it)) - y_it z_it  +  penalty Σ_j ‖B_j‖,  z = x B + b,

where the row B_j has the coefficients of feature j for all labels: a feature is used for all
labels of a group or for none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit

__all__ = ["LassoFit", "LassoProblem", "deviance"]

_FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class LassoFit:
    """Coefficients of the features that are used.

    Attributes
    ----------
    used : ndarray of int
        The features whose coefficients are not 0.
    coef : ndarray of shape (n_used, n_labels)
        Their coefficients.
    intercept : ndarray of shape (n_labels,)
        The intercepts.
    """

    used: NDArray[np.intp]
    coef: _FloatArray
    intercept: _FloatArray

    def decide(self, X: Any) -> _FloatArray:
        """Return z of every row and label."""
        return np.asarray(X[:, self.used] @ self.coef + self.intercept)


def deviance(z: _FloatArray, Y: _FloatArray, weights: _FloatArray) -> float:
    """Return the mean over rows of the loss summed over labels."""
    losses = (np.logaddexp(0, z) - Y * z).sum(axis=1)
    return float(np.average(losses, weights=weights))


class LassoProblem:
    """The data of one group of labels, and the path of its solutions.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n, n_features)
        Features of one scale.
    Y : ndarray of shape (n, n_labels)
        0 and 1.
    weights : ndarray of shape (n,)
        Weights of the rows; not all 0.
    tol : float
        Steps end when all coefficients together move less than this share of their length.
    max_iter : int
        The most steps for one penalty.
    """

    def __init__(
        self, X: Any, Y: _FloatArray, weights: _FloatArray, *, tol: float, max_iter: int
    ) -> None:
        self._X = X
        self._Y = Y
        self._weights = weights / weights.sum()
        self._tol = tol
        self._max_iter = max_iter
        self.n_iter = 0  # the most steps that a penalty has taken
        shares = np.clip(self._weights @ Y, 1e-6, 1 - 1e-6)
        self._base = np.log(shares / (1 - shares))
        none = LassoFit(np.empty(0, dtype=np.intp), np.empty((0, Y.shape[1])), self._base)
        self._none = none
        self._first_norms = self._gradient_norms(none)

    @property
    def largest_penalty(self) -> float:
        """The smallest penalty at which no feature is used."""
        return float(self._first_norms.max(initial=0.0))

    def path(self, penalties: Iterable[float]) -> Iterator[LassoFit]:
        """Solve for falling penalties, each from the solution before.

        Features are screened by the sequential strong rule (Tibshirani et al., 2012): those
        whose gradient was below 2 penalty - last penalty are left out, and taken in again where
        the solution turns out to need them.
        """
        fit, last, norms = self._none, self.largest_penalty, self._first_norms
        for penalty in penalties:
            kept = np.union1d(np.flatnonzero(norms >= 2 * penalty - last), fit.used)
            while True:
                fit = self._solve(fit, kept.astype(np.intp), penalty)
                norms = self._gradient_norms(fit)
                missed = np.setdiff1d(np.flatnonzero(norms > penalty * (1 + 1e-3)), kept)
                if not missed.size:
                    break
                kept = np.union1d(kept, missed)
            last = penalty
            yield fit

    def _residuals(self, z: _FloatArray) -> _FloatArray:
        slope: _FloatArray = (expit(z) - self._Y) * self._weights[:, None]
        return slope

    def _gradient_norms(self, fit: LassoFit) -> _FloatArray:
        gradient = self._X.T @ self._residuals(fit.decide(self._X))
        return np.asarray(np.sqrt((np.asarray(gradient) ** 2).sum(axis=1)))

    def _solve(self, start: LassoFit, kept: NDArray[np.intp], penalty: float) -> LassoFit:
        """Take accelerated proximal steps (Beck and Teboulle, 2009) on the kept features."""
        X = self._X[:, kept]
        is_sparse = sparse.issparse(X)
        X_turned = X.T.tocsr() if is_sparse else X.T
        step = 1 / _largest_curvature(X, X_turned, self._weights)
        coef = np.zeros((len(kept) + 1, self._Y.shape[1]))  # the last row: the intercepts
        coef[np.searchsorted(kept, start.used)] = start.coef
        coef[-1] = start.intercept
        ahead, momentum, n_steps = coef, 1.0, 0
        while n_steps < self._max_iter:
            n_steps += 1
            slope = self._residuals(np.asarray(X @ ahead[:-1]) + ahead[-1])
            moved = ahead - step * np.vstack([np.asarray(X_turned @ slope), slope.sum(axis=0)])
            _shrink(moved[:-1], step * penalty)
            change = moved - coef
            if (change * (ahead - moved)).sum() > 0:
                momentum = 1.0  # uphill: start again without the momentum (O'Donoghue and Candès)
            faster = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
            ahead = moved + (momentum - 1) / faster * change
            coef, momentum = moved, faster
            if (change**2).sum() <= self._tol**2 * (1e-4 + (coef**2).sum()):
                break
        self.n_iter = max(self.n_iter, n_steps)
        used = np.flatnonzero(coef[:-1].any(axis=1))
        return LassoFit(kept[used], coef[used], coef[-1])


def _shrink(coef: _FloatArray, by: float) -> None:
    """Shorten every row by so much, in place; short rows become 0."""
    norms = np.sqrt((coef**2).sum(axis=1))
    coef *= np.maximum(0, 1 - by / np.maximum(norms, 1e-300))[:, None]


def _largest_curvature(X: Any, X_turned: Any, weights: _FloatArray) -> float:
    """Bound the curvature of the loss: a quarter of the largest eigenvalue of (X 1)ᵀ V (X 1)."""
    direction = np.full(X.shape[1] + 1, 1.0)
    # Not all equal, so as not to be orthogonal to the eigenvector.
    direction += 0.1 * np.cos(np.arange(len(direction)))
    largest = 1.0
    for _ in range(20):
        direction /= np.linalg.norm(direction)
        z = (np.asarray(X @ direction[:-1]) + direction[-1]) * weights
        direction = np.append(np.asarray(X_turned @ z), z.sum())
        largest = float(np.linalg.norm(direction))
    return 0.25 * 1.1 * largest + 1e-12
