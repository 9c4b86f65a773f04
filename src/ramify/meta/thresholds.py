"""Choice of decision thresholds by cross-validation."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify._schema import Array, Number, Schema
from ramify._validation import check_choice
from ramify.decision import apply_threshold, confident_path
from ramify.decision.choice import SHARING, search_thresholds
from ramify.decision.goals import GOALS, make_goal
from ramify.decision.thresholds import check_threshold
from ramify.hierarchy.hierarchy import Hierarchy
from ramify.meta.held_out import HeldOut, HeldOutClassifier

__all__ = ["TunedThresholdClassifier"]


class TunedThresholdClassifier(HeldOutClassifier):
    """Tune the decision thresholds of a hierarchical classifier by cross-validation.

    Thresholds are chosen to optimise a measure on the cross-validated scores of a classifier,
    which is then fitted on all rows. No label gets a smaller threshold than its parents, so
    predictions are consistent with the hierarchy.

    Parameters
    ----------
    estimator : classifier
        A classifier of ramify, a pipeline that ends in one, or any classifier with `predict_proba`
        that accepts label matrices. A fitted classifier in scikit-learn's FrozenEstimator is not
        fitted again.
    hierarchy : Hierarchy, optional
        The label hierarchy. If None, the hierarchy of `estimator` is used, or one is inferred from
        y.
    goal : {"micro_f1", "macro_f1", "hierarchical_f1", "precision", "cost"}
        The measure to optimise; see `ramify.decision.choose_thresholds`.
    per : {"all", "level", "label"}
        Whether all labels share one threshold, or each level or label has its own.
    min_precision : float
        For the goal "precision": minimum precision over the labels that share a threshold.
    alpha, beta : float
        For the goal "cost": weights of false negatives and of false positives.
    costs : {"shared", "uniform"} or array-like of shape (n_labels,)
        For the goal "cost": costs of the labels, as in `ramify.metrics.hmc_loss`.
    cv : int, splitter or iterable of (train, test)
        Number of random folds, or how to split the rows.
    coherence : {"isotonic", "max", "min"}
        How to repair scores that are inconsistent with the hierarchy; see
        `ramify.decision.make_coherent`.
    n_jobs : int, optional
        Number of folds to fit in parallel; -1 means all cores. The result does not depend
        on it.
    random_state : int, RandomState instance or None
        Controls the folds if `cv` is an integer. Pass an int for reproducible results.

    Attributes
    ----------
    thresholds_ : ndarray of shape (n_labels,)
        The threshold of each label; infinity for labels that are never predicted.
    best_score_ : float
        Score on the rows on which the thresholds were chosen; larger is better. It is the recall
        for the goal "precision", the negative mean cost per row for the goal "cost", and F1
        otherwise.
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

    See Also
    --------
    ramify.decision.choose_thresholds : The same choice for given scores.

    Notes
    -----
    If y has one label or path per row, so do the predictions: the path of the most probable
    labels, truncated before the first label below its threshold, but never empty.

    Examples
    --------
    >>> from ramify import PCTClassifier, TunedThresholdClassifier, load_animals
    >>> from ramify.metrics import micro_f1
    >>> data = load_animals()
    >>> X, y, X_test, y_test = data.X[::2], data.y[::2], data.X[1::2], data.y[1::2]
    >>> tree = PCTClassifier(data.hierarchy, min_samples_leaf=10, random_state=0)
    >>> tuned = TunedThresholdClassifier(tree, random_state=0).fit(X, y)
    >>> print(tuned.thresholds_[0].round(3))
    0.352
    >>> round(micro_f1(y_test, tuned.predict(X_test)), 3)
    0.619
    >>> round(micro_f1(y_test, tuned.predict(X_test, threshold=0.5)), 3)
    0.599
    """

    thresholds_: NDArray[np.float64]
    best_score_: float

    _saved_schema: ClassVar[Schema] = {
        "thresholds_": Array(("n_labels",), low=-math.inf, finite=False),
        "best_score_": Number(finite=False),
    }

    def __init__(
        self,
        estimator: Any,
        *,
        hierarchy: Hierarchy | None = None,
        goal: str = "micro_f1",
        per: str = "all",
        min_precision: float = 0.9,
        alpha: float = 1.0,
        beta: float = 1.0,
        costs: Any = "shared",
        cv: Any = 5,
        coherence: str = "isotonic",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.hierarchy = hierarchy
        self.goal = goal
        self.per = per
        self.min_precision = min_precision
        self.alpha = alpha
        self.beta = beta
        self.costs = costs
        self.cv = cv
        self.coherence = coherence
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_choice("goal", self.goal, GOALS)
        check_choice("per", self.per, SHARING)

    def _learn_from(self, held_out: HeldOut) -> None:
        goal = make_goal(
            self.goal,
            self.hierarchy_,
            min_precision=self.min_precision,
            alpha=self.alpha,
            beta=self.beta,
            costs=self.costs,
        )
        found = search_thresholds(
            held_out.Y,
            held_out.scores,
            self.hierarchy_,
            goal=goal,
            per=self.per,
            sample_weight=held_out.weights,
        )
        self.thresholds_, self.best_score_ = found.thresholds, found.score

    def predict(self, X: Any, threshold: Any = None, *, candidates: str = "specific") -> Any:
        """Predict label sets in the format of y in `fit`.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows with the same features as in `fit`.
        threshold : float, array-like of shape (n_labels,) or dict of label to float, optional
            Thresholds to use instead of `thresholds_`. Must be None if y had one label per row in
            `fit`.
        candidates : {"specific", "all"}
            Has no effect: if y had one label or path per row in `fit`, a path ends before the
            first label that does not reach its threshold.

        Returns
        -------
        array or list
            n label sets, paths or classes, in the format of y in `fit`.
        """
        return super().predict(X, threshold, candidates=candidates)

    def _set_saved_state(self, state: Mapping[str, Any]) -> None:
        super()._set_saved_state(state)
        if "thresholds_" in state:
            check_threshold(self.thresholds_, self.hierarchy_)

    def _decide(
        self, scores: NDArray[np.float64], threshold: Any, candidates: str = "specific"
    ) -> sparse.csr_array[np.int32]:
        chosen = self.thresholds_ if threshold is None else threshold
        if self.format_.single_label:
            return confident_path(scores, self.hierarchy_, chosen, allow_empty=False)
        return apply_threshold(scores, chosen, self.hierarchy_)
