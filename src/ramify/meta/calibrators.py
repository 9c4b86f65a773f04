"""Calibration curves of single labels: from scores to probabilities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit
from sklearn.isotonic import IsotonicRegression

from ramify._savable import savable
from ramify._schema import Array, Increasing, Number, Schema

__all__ = ["Calibrator", "IsotonicCurve", "SigmoidCurve", "fit_isotonic", "fit_sigmoid"]

Calibrator: TypeAlias = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""Non-decreasing function from scores to probabilities."""

_NEWTON_STEPS = 100
# Smaller differences between scores and smaller slopes are rounding errors.
_NO_SPREAD = 1e-12
_NO_SLOPE = 1e-9


@savable
@dataclass(frozen=True)
class IsotonicCurve:
    """Piecewise linear, non-decreasing curve; constant outside its points.

    Attributes
    ----------
    score, probability : ndarray of shape (k,)
        Coordinates of the points, both in increasing order.
    """

    score: NDArray[np.float64]
    probability: NDArray[np.float64]

    _saved_schema: ClassVar[Schema] = {
        "score": Increasing("n_points"),
        "probability": Array(("n_points",), low=0, high=1),
    }

    def __call__(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probabilities of scores."""
        return np.interp(scores, self.score, self.probability)


@savable
@dataclass(frozen=True)
class SigmoidCurve:
    """Sigmoid of a linear function of the score.

    Attributes
    ----------
    slope : float
        Slope of the linear function; positive.
    intercept : float
        Value of the linear function at score 0.
    """

    slope: float
    intercept: float

    _saved_schema: ClassVar[Schema] = {
        "slope": Number(),
        "intercept": Number(),
    }

    def __call__(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probabilities of scores."""
        return np.asarray(expit(self.slope * scores + self.intercept))


def fit_isotonic(
    scores: NDArray[np.float64], truth: NDArray[np.float64], weights: NDArray[np.float64]
) -> IsotonicCurve:
    """Fit the non-decreasing curve with the smallest squared error.

    Parameters
    ----------
    scores, truth, weights : ndarray of shape (n,)
        Scores, true labels (0 or 1) and sample weights.

    Returns
    -------
    IsotonicCurve
        The curve.

    Examples
    --------
    >>> scores, truth = np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.0, 1.0, 0.0, 1.0])
    >>> fit_isotonic(scores, truth, np.ones(4))(np.array([0.0, 0.15, 0.25, 0.4]))
    array([0.  , 0.25, 0.5 , 1.  ])
    """
    fitted = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    fitted.fit(scores, truth, sample_weight=weights)
    return IsotonicCurve(fitted.X_thresholds_, fitted.y_thresholds_)


def fit_sigmoid(
    scores: NDArray[np.float64], truth: NDArray[np.float64], weights: NDArray[np.float64]
) -> SigmoidCurve | None:
    r"""Fit Platt's sigmoid by maximum likelihood.

    The targets of positive and negative rows are (n₊ + 1)/(n₊ + 2) and 1/(n₋ + 2) instead of 1
    and 0, where n₊ and n₋ are the sums of their weights (Platt, 1999). The likelihood is
    maximised by Newton's method with step halving (Lin, Lin and Weng, 2007).

    Parameters
    ----------
    scores, truth, weights : ndarray of shape (n,)
        Scores, true labels (0 or 1) and sample weights.

    Returns
    -------
    SigmoidCurve or None
        None if the sigmoid would not increase, or all scores are equal.

    Examples
    --------
    >>> scores, truth = np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.0, 1.0, 0.0, 1.0])
    >>> fit_sigmoid(scores, truth, np.ones(4))(np.array([0.25]))
    array([0.5])
    >>> fit_sigmoid(-scores, truth, np.ones(4)) is None
    True
    """
    positive, negative = weights @ truth, weights @ (1 - truth)
    targets = np.where(truth > 0, (positive + 1) / (positive + 2), 1 / (negative + 2))
    # Scores are standardised to make the problem well conditioned for any scale.
    centre = np.average(scores, weights=weights)
    spread = np.sqrt(np.average((scores - centre) ** 2, weights=weights))
    if spread <= _NO_SPREAD * max(1.0, abs(centre)):
        return None
    line = np.column_stack([(scores - centre) / spread, np.ones(len(scores))])

    start = np.array([0.0, np.log((positive + 1) / (negative + 1))])
    at = _most_likely(line, targets, weights, start)
    if at[0] <= _NO_SLOPE:
        return None
    slope = float(at[0] / spread)
    return SigmoidCurve(slope, float(at[1] - slope * centre))


def _most_likely(
    line: NDArray[np.float64],
    targets: NDArray[np.float64],
    weights: NDArray[np.float64],
    at: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the maximum likelihood coefficients of `line`, by Newton's method."""

    def loss(at: NDArray[np.float64]) -> float:
        z = line @ at
        return float(-weights @ (targets * log_expit(z) + (1 - targets) * log_expit(-z)))

    here = loss(at)
    for _ in range(_NEWTON_STEPS):
        p = expit(line @ at)
        gradient = line.T @ (weights * (p - targets))
        curvature = (line.T * (weights * p * (1 - p))) @ line + 1e-12 * np.eye(2)
        step = np.linalg.solve(curvature, gradient)
        size = 1.0
        while loss(at - size * step) > here and size > 1e-10:
            size /= 2
        at = at - size * step
        gained, here = here - loss(at), loss(at)
        if gained <= 1e-12 * max(1.0, here):
            break
    return at
