"""Calibration curves of single labels: from scores to probabilities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit
from sklearn.isotonic import IsotonicRegression

from ramify._savable import savable
from ramify._schema import AnyOf, Array, Increasing, Maybe, Number, Part, Schema, TupleOf
from ramify._validation import Label, check_choice, check_number
from ramify.labels.hierarchy import Hierarchy
from ramify.meta.thresholds import HeldOut, HeldOutClassifier

Calibrator: TypeAlias = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""Non-decreasing function from scores to probabilities."""

_NEWTON_STEPS = 100
# Smaller differences between scores and smaller slopes are rounding errors.
_NO_SPREAD = 1e-12
_NO_SLOPE = 1e-9


@savable
@dataclass(frozen=True)
class IsotonicCurve:
    """Piecewise linear, non-decreasing curve; constant outside its points."""

    score: NDArray[np.float64]  # coordinates of the points, both in increasing order
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
    """Sigmoid of a linear function of the score."""

    slope: float  # slope of the linear function; positive
    intercept: float  # value of the linear function at score 0

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
    """Fit the non-decreasing curve with the smallest squared error."""
    fitted = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    fitted.fit(scores, truth, sample_weight=weights)
    return IsotonicCurve(fitted.X_thresholds_, fitted.y_thresholds_)


def fit_sigmoid(
    scores: NDArray[np.float64], truth: NDArray[np.float64], weights: NDArray[np.float64]
) -> SigmoidCurve | None:
    r"""Fit Platt's sigmoid by maximum likelihood; None if it would not increase.

    The targets of positive and negative rows are (n₊ + 1)/(n₊ + 2) and 1/(n₋ + 2) instead of 1
    and 0, where n₊ and n₋ are the sums of their weights (Platt, 1999). The likelihood is
    maximised by Newton's method with step halving (Lin, Lin and Weng, 2007).
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


# ---- the classifier -------------------------------------------------------------------------


class CalibratedHierarchicalClassifier(HeldOutClassifier):
    """Calibrate the probabilities of a hierarchical classifier.

    For each label, an increasing curve from scores to probabilities is fitted on the
    cross-validated scores of a classifier, which is then fitted on all rows. Predicted scores are
    mapped by the curves of their labels and made coherent: no label is more probable than its
    parents.

    Parameters
    ----------
    estimator : classifier
        A classifier of ramify, a pipeline that ends in one, or any classifier with `predict_proba`
        that accepts label matrices. A fitted classifier in scikit-learn's FrozenEstimator is not
        fitted again.
    hierarchy : Hierarchy, optional
        The label hierarchy. If None, the hierarchy of `estimator` is used, or one is inferred from
        y.
    method : {"isotonic", "sigmoid"}
        The kind of curve: isotonic regression, or Platt's sigmoid, which requires fewer rows.
    min_positives : int
        Labels with fewer positive or fewer negative rows are not calibrated. Neither are labels
        whose sigmoid would decrease.
    cv : int, splitter or iterable of (train, test)
        Number of random folds, or how to split the rows.
    coherence : {"isotonic", "max", "min"}
        How to repair calibrated scores that are inconsistent with the hierarchy; see
        `ramify.decision.make_coherent`.
    n_jobs : int, optional
        Number of folds to fit in parallel; -1 means all cores. The result does not depend
        on it.
    random_state : int, RandomState instance or None
        Controls the folds if `cv` is an integer. Pass an int for reproducible results.

    Attributes
    ----------
    calibrators_ : tuple of n_labels calibrators
        The curves, callables that map scores to probabilities; None for labels that are not
        calibrated.
    calibrated_labels_ : tuple of labels
        The calibrated labels.
    estimator_ : classifier
        The classifier fitted on all rows.
    hierarchy_ : Hierarchy
        The label hierarchy, as passed or as inferred from y.
    classes_ : ndarray of shape (n_labels,)
        The labels, in the order of the columns of `predict_proba`.
    n_features_in_ : int
        Number of features, if `estimator_` has this attribute.
    feature_names_in_ : ndarray of str
        Names of the features, if `estimator_` has this attribute.

    Notes
    -----
    If y has one label or path per row and the hierarchy is a tree, probabilities are normalised:
    those of the top-level labels sum to 1.

    Examples
    --------
    >>> from ramify import CalibratedHierarchicalClassifier, PCTClassifier, load_animals
    >>> data = load_animals()
    >>> X, y, X_test, y_test = data.X[::2], data.y[::2], data.X[1::2], data.y[1::2]
    >>> tree = PCTClassifier(data.hierarchy, random_state=0)
    >>> calibrated = CalibratedHierarchicalClassifier(tree, method="sigmoid", random_state=0)
    >>> scores = calibrated.fit(X, y).predict_proba(X_test)
    >>> errors = (calibrated.estimator_.predict_proba(X_test) - y_test) ** 2
    >>> bool(((scores - y_test) ** 2).mean() < errors.mean())
    True
    """

    calibrators_: tuple[Calibrator | None, ...]

    _saved_schema: ClassVar[Schema] = {
        "calibrators_": TupleOf(Maybe(AnyOf(Part(IsotonicCurve), Part(SigmoidCurve))), "n_labels"),
    }

    def __init__(
        self,
        estimator: Any,
        *,
        hierarchy: Hierarchy | None = None,
        method: str = "isotonic",
        min_positives: int = 10,
        cv: Any = 5,
        coherence: str = "isotonic",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.hierarchy = hierarchy
        self.method = method
        self.min_positives = min_positives
        self.cv = cv
        self.coherence = coherence
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_choice("method", self.method, ("isotonic", "sigmoid"))
        check_number("min_positives", self.min_positives, 1, whole=True)

    def _learn_from(self, held_out: HeldOut) -> None:
        counted = held_out.weights > 0
        labels, scores = held_out.labels.take(counted), held_out.scores[counted]
        columns = labels.Y.tocsc()
        fit = fit_isotonic if self.method == "isotonic" else fit_sigmoid
        found: list[Calibrator | None] = []
        for label in range(len(self.hierarchy_.labels)):
            truth = np.zeros(len(scores))
            truth[columns.indices[columns.indptr[label] : columns.indptr[label + 1]]] = 1.0
            weights = held_out.weights[counted]
            if labels.unknown is not None:
                weights = labels.unknown.standing_in(label, columns, self.hierarchy_, weights)
            known = weights > 0
            n_positive = int(truth[known].sum())
            if min(n_positive, int(known.sum()) - n_positive) < self.min_positives:
                found.append(None)
                continue
            found.append(fit(scores[known, label], truth[known], weights[known]))
        self.calibrators_ = tuple(found)

    @property
    def calibrated_labels_(self) -> tuple[Label, ...]:
        """The calibrated labels."""
        pairs = zip(self.hierarchy_.labels, self.calibrators_, strict=True)
        return tuple(label for label, calibrator in pairs if calibrator is not None)

    def _predict_scores(self, X: Any) -> NDArray[np.float64]:
        scores = super()._predict_scores(X)
        for label, calibrator in enumerate(self.calibrators_):
            if calibrator is not None:
                scores[:, label] = calibrator(scores[:, label])
        scores = self._coherent(scores)
        if self.format_.single_label and self.hierarchy_.is_tree:
            return _with_top_sum_one(scores, self.hierarchy_)
        return scores


def _with_top_sum_one(scores: NDArray[np.float64], hierarchy: Hierarchy) -> NDArray[np.float64]:
    """Divide each row by the sum of its top-level labels; these are uniform if the sum is 0."""
    top = hierarchy.indices(hierarchy.levels[0])
    sums = scores[:, top].sum(axis=1)
    empty = sums == 0
    divided = scores / np.where(empty, 1.0, sums)[:, None]
    divided[np.ix_(empty, top)] = 1 / len(top)
    return np.minimum(divided, 1.0)
