"""Logistic regression of several labels with a multitask lasso.

With n rows of weights v, features x and labels y in {0, 1}, the objective is minimised over
coefficients B and intercepts b:

    (1 / Σ v) Σ_i v_i Σ_t log(1 + exp(z_it)) - y_it z_it  +  penalty Σ_j ‖B_j‖,  z = x B + b,

where the row B_j has the coefficients of feature j for all labels. A feature is therefore used for
all labels of a group or for none. The duality gap of a solution bounds its distance from the
minimum: residuals, scaled down until no feature's gradient exceeds the penalty, are a feasible
point of the dual problem.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import entr, expit

_FloatArray = NDArray[np.float64]

_STEPS_BETWEEN_LOOKS = 10
"""Number of steps between computations of the duality gap."""

_MOST_INTERCEPT = 14.0
"""Largest absolute intercept, so that labels of all rows have a finite one: expit is 1 - 1e-6."""


@dataclass(frozen=True)
class LassoFit:
    """Coefficients of the selected features."""

    used: NDArray[np.intp]  # features with non-zero coefficients
    coef: _FloatArray  # coefficients of these features
    intercept: _FloatArray  # intercepts

    def decide(self, X: Any) -> _FloatArray:
        """Return z for each row and label."""
        return np.asarray(X[:, self.used] @ self.coef + self.intercept)


def deviance(z: _FloatArray, Y: _FloatArray, weights: _FloatArray) -> float:
    """Return the mean over rows of the loss summed over labels."""
    losses = (np.logaddexp(0, z) - Y * z).sum(axis=1)
    return float(np.average(losses, weights=weights))


class LassoProblem:
    """The data of one group of labels and the solver of its path of solutions."""

    def __init__(
        self, X: Any, Y: _FloatArray, weights: _FloatArray, *, tol: float, max_iter: int
    ) -> None:
        is_sparse = sparse.issparse(X)
        # Stored by column, because columns are selected often.
        self._X: Any = X.tocsc() if is_sparse else np.asfortranarray(X)
        self._Y = Y
        self._weights = weights / weights.sum()
        self._max_iter = max_iter
        self._step = 1.0
        self.n_iter = 0  # largest number of steps for one penalty
        self.converged = True  # whether all penalties reached the tolerance
        shares = np.clip(self._weights @ Y, expit(-_MOST_INTERCEPT), expit(_MOST_INTERCEPT))
        base = np.log(shares / (1 - shares))
        self._none = LassoFit(np.empty(0, dtype=np.intp), np.empty((0, Y.shape[1])), base)
        self._aim = tol * float((entr(shares) + entr(1 - shares)).sum())
        slope = self._residuals(self._none.decide(self._X))
        self.largest_penalty = float(_lengths(self._X.T @ slope).max(initial=0.0))
        """The smallest penalty at which no feature is used."""

    def path(self, penalties: Iterable[float]) -> Iterator[LassoFit]:
        """Solve for decreasing penalties, each starting from the previous solution."""
        fit = self._none
        for penalty in penalties:
            fit = self._solve(fit, penalty)
            yield fit

    def _solve(self, fit: LassoFit, penalty: float) -> LassoFit:
        """Solve for one penalty with an active set, which grows until the duality gap is small.

        Leaving out features whose gradient is below the penalty makes steps fast.
        """
        steps = 0
        while True:
            z, intercept = self._with_best_intercepts(fit.decide(self._X), fit.intercept)
            fit = LassoFit(fit.used, fit.coef, intercept)
            norms = _lengths(self._X.T @ self._residuals(z))
            gap = self._gap(z, fit.coef, float(norms.max(initial=0.0)), penalty)
            if gap <= self._aim or steps >= self._max_iter:
                break
            kept = _features_to_solve(fit.used, norms, penalty)
            aim = max(0.3 * self._aim, 0.1 * gap)
            fit, taken = self._descend(fit, kept, penalty, aim, self._max_iter - steps)
            steps += taken
        self.converged &= gap <= self._aim
        self.n_iter = max(self.n_iter, steps)
        return fit

    def _residuals(self, z: _FloatArray) -> _FloatArray:
        slope: _FloatArray = (expit(z) - self._Y) * self._weights[:, None]
        return slope

    def _with_best_intercepts(
        self, z: _FloatArray, intercept: _FloatArray
    ) -> tuple[_FloatArray, _FloatArray]:
        """Return z and the optimal intercepts for given coefficients, by Newton's method."""
        start = intercept
        for _ in range(25):
            chances = expit(z + (intercept - start))
            slope = self._weights @ (chances - self._Y)
            curvature = np.maximum(self._weights @ (chances * (1 - chances)), 1e-12)
            move = np.clip(slope / curvature, -1.0, 1.0)
            intercept = np.clip(intercept - move, -_MOST_INTERCEPT, _MOST_INTERCEPT)
            if np.abs(slope).max(initial=0.0) < 1e-12:
                break
        return z + (intercept - start), intercept

    def _gap(self, z: _FloatArray, coef: _FloatArray, largest: float, penalty: float) -> float:
        """Return the duality gap; `largest` is the largest gradient norm of a feature."""
        shrink = min(1.0, penalty / max(largest, 1e-300))
        chances = (1 - shrink) * self._Y + shrink * expit(z)
        dual = float(self._weights @ (entr(chances) + entr(1 - chances)).sum(axis=1))
        return deviance(z, self._Y, self._weights) + penalty * float(_lengths(coef).sum()) - dual

    def _descend(
        self, start: LassoFit, kept: NDArray[np.intp], penalty: float, aim: float, most: int
    ) -> tuple[LassoFit, int]:
        """Take accelerated proximal steps on the kept features until their gap is below `aim`."""
        X: Any = self._X[:, kept]
        is_sparse = sparse.issparse(X)
        steps = _Steps(X.tocsr() if is_sparse else X, self._residuals, penalty, self._step)
        coef = np.zeros((len(kept), self._Y.shape[1]))
        coef[np.searchsorted(kept, start.used)] = start.coef
        steps.begin(coef, start.intercept)
        taken = 0
        while taken < most:
            for _ in range(min(_STEPS_BETWEEN_LOOKS, most - taken)):
                steps.take()
                taken += 1
            coef, z = steps.coef, steps.z
            z, intercept = self._with_best_intercepts(z, steps.intercept)
            norms = _lengths(steps.X_turned @ self._residuals(z))
            if self._gap(z, coef, float(norms.max(initial=0.0)), penalty) <= aim:
                break
            steps.move_intercept(intercept)
        self._step = steps.size
        used = np.flatnonzero(coef.any(axis=1))
        return LassoFit(kept[used], coef[used], intercept), taken


class _Steps:
    """Accelerated proximal gradient steps (Beck and Teboulle, 2009) with adaptive step sizes.

    Step sizes follow the observed curvature (Becker, Candès and Grant, 2011), which is far smaller
    than its bound for rare labels. As z follows the coefficients, a step takes one product with X
    and one with its transpose.
    """

    def __init__(self, X: Any, residuals: Any, penalty: float, size: float) -> None:
        self.X = X
        is_sparse = sparse.issparse(X)
        self.X_turned = X.T.tocsr() if is_sparse else X.T
        self.size = size
        self._residuals = residuals
        self._penalty = penalty

    def begin(self, coef: _FloatArray, intercept: _FloatArray) -> None:
        """Start from these coefficients, without momentum."""
        self.coef, self.intercept = coef, intercept
        self.z = np.asarray(self.X @ coef) + intercept
        self._ahead = self.coef, self.intercept, self.z
        self._momentum = 1.0

    def move_intercept(self, intercept: _FloatArray) -> None:
        """Continue with other intercepts, keeping the momentum."""
        move = intercept - self.intercept
        coef, ahead, z = self._ahead
        self._ahead = coef, ahead + move, z + move
        self.intercept, self.z = intercept, self.z + move

    def take(self) -> None:
        """Take one step."""
        coef, intercept, z = self._ahead
        slope = self._residuals(z)
        gradient = np.asarray(self.X_turned @ slope)
        lean = slope.sum(axis=0)
        while True:
            new = _shrunk(coef - self.size * gradient, self.size * self._penalty)
            new_intercept = intercept - self.size * lean
            new_z = np.asarray(self.X @ new) + new_intercept
            length = ((new - coef) ** 2).sum() + ((new_intercept - intercept) ** 2).sum()
            bend = ((self._residuals(new_z) - slope) * (new_z - z)).sum()
            if bend * self.size <= length * (1 + 1e-9):
                break
            self.size = min(0.5 * self.size, 0.9 * length / bend)
        uphill = ((coef - new) * (new - self.coef)).sum() > 0
        if uphill:
            self._momentum = 1.0  # restart without momentum (O'Donoghue and Candès, 2015)
        faster = (1 + np.sqrt(1 + 4 * self._momentum**2)) / 2
        pace = (self._momentum - 1) / faster
        self._momentum = faster
        self._ahead = (
            new + pace * (new - self.coef),
            new_intercept + pace * (new_intercept - self.intercept),
            new_z + pace * (new_z - self.z),
        )
        self.coef, self.intercept, self.z = new, new_intercept, new_z
        self.size *= 1.05


def _features_to_solve(
    used: NDArray[np.intp], norms: _FloatArray, penalty: float
) -> NDArray[np.intp]:
    """Return the active set: the used features and those with the largest violations."""
    missed = np.setdiff1d(np.flatnonzero(norms > penalty), used)
    most = max(50, 2 * len(used))
    worst = missed[np.argsort(-norms[missed], kind="stable")[:most]]
    return np.union1d(used, worst).astype(np.intp)


def _lengths(rows: Any) -> _FloatArray:
    return np.asarray(np.sqrt((np.asarray(rows) ** 2).sum(axis=1)))


def _shrunk(coef: _FloatArray, by: float) -> _FloatArray:
    """Shrink the norm of each row by `by`; shorter rows become 0."""
    keep = np.maximum(0, 1 - by / np.maximum(_lengths(coef), 1e-300))
    return np.asarray(coef * keep[:, None])
