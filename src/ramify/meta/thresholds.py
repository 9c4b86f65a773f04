"""A classifier whose thresholds are chosen by a goal."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify._validation import check_choice
from ramify.decision import apply_threshold, confident_path
from ramify.decision.choice import SHARING, search_thresholds
from ramify.decision.goals import GOALS, make_goal
from ramify.hierarchy.hierarchy import Hierarchy
from ramify.meta.held_out import HeldOut, HeldOutClassifier

__all__ = ["TunedThresholdClassifier"]


class TunedThresholdClassifier(HeldOutClassifier):
    """Predict labels from thresholds that reach a goal best on rows held out.

    Any classifier of label sets is fitted in cross-validation, thresholds are chosen on its
    scores of the rows left out, and it is fitted again on all rows. No label gets a smaller
    threshold than its parents, so that predictions obey the hierarchy.

    Parameters
    ----------
    estimator : classifier
        One of ours, a pipeline with one of ours, or any other with `predict_proba` for label
        matrices. A fitted one in scikit-learn's FrozenEstimator is used as it is.
    hierarchy : Hierarchy, optional
        The labels. None takes the estimator's, or infers them from y.
    goal : {"micro_f1", "macro_f1", "hierarchical_f1", "precision", "cost"}
        What to reach; see `ramify.decision.choose_thresholds`.
    per : {"all", "level", "label"}
        What has a threshold of its own.
    min_precision : float
        For the goal "precision": the least precision of the cells that share a threshold.
    alpha, beta : float
        For the goal "cost": what a missed and what a wrongly predicted label weigh.
    costs : {"shared", "uniform"} or array-like of shape (n_labels,)
        For the goal "cost": what labels weigh, as in `ramify.metrics.hmc_loss`.
    cv : int, splitter or iterable of (train, test)
        The number of folds, drawn at random, or how to split the rows.
    coherence : {"isotonic", "max", "min"}
        How scores are repaired that break the hierarchy; see `ramify.decision.make_coherent`.
    n_jobs : int, optional
        The number of folds to fit at a time, -1 for all cores.
    random_state : int, RandomState instance or None
        Draws the folds if `cv` is a number.

    Attributes
    ----------
    thresholds_ : ndarray of shape (n_labels,)
        The thresholds; infinity for labels that are never predicted.
    best_score_ : float
        What they reach on the rows they were chosen on, larger is better: F1, the recall for the
        goal "precision", minus the mean cost of a row for the goal "cost".
    estimator_ : classifier
        The classifier fitted on all rows.
    hierarchy_ : Hierarchy
        The hierarchy given or inferred.
    classes_ : ndarray of shape (n_labels,)
        The labels, in the order of the columns of `predict_proba`.
    n_features_in_ : int
        The number of features, if the estimator tells.
    feature_names_in_ : ndarray of str
        Their names, if the estimator knows them.

    See Also
    --------
    ramify.decision.choose_thresholds : The choice itself, for scores that are there already.

    Notes
    -----
    If y has one label or path per row, the prediction has one, too: the path of the most probable
    labels, cut where the threshold is not reached, but never empty.

    Examples
    --------
    >>> from ramify import PCTClassifier, TunedThresholdClassifier, load_animals
    >>> from ramify.metrics import micro_f1
    >>> data = load_animals()
    >>> X, y, X_test, y_test = data.X[::2], data.y[::2], data.X[1::2], data.y[1::2]
    >>> tree = PCTClassifier(data.hierarchy, min_samples_leaf=10, random_state=0)
    >>> tuned = TunedThresholdClassifier(tree, random_state=0).fit(X, y)
    >>> tuned.thresholds_[0].round(3)
    np.float64(0.352)
    >>> round(micro_f1(y_test, tuned.predict(X_test)), 3)
    0.619
    >>> round(micro_f1(y_test, tuned.predict(X_test, threshold=0.5)), 3)
    0.599
    """

    thresholds_: NDArray[np.float64]
    best_score_: float

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

    def predict(self, X: Any, threshold: Any = None) -> Any:
        """Return label sets in the format that `fit` was given.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows with the columns of `fit`.
        threshold : float, array-like of shape (n_labels,) or dict of label to float, optional
            Use these in place of `thresholds_`; not if y had one label per row.

        Returns
        -------
        array or list
            n label sets, paths or classes, as y came to `fit`.
        """
        return super().predict(X, threshold)

    def _decide(self, scores: NDArray[np.float64], threshold: Any) -> sparse.csr_array[np.int32]:
        chosen = self.thresholds_ if threshold is None else threshold
        if self.format_.single_label:
            return confident_path(scores, self.hierarchy_, chosen, allow_empty=False)
        return apply_threshold(scores, chosen, self.hierarchy_)
