"""Base class of classifiers that learn from the scores of another one on held-out rows."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from joblib import delayed
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from ramify._base.classifier import USUAL, Asked
from ramify._parallel import in_parallel
from ramify._schema import Array, Number, Schema
from ramify._validation import (
    check_choice,
    check_folds,
    check_same_length,
    check_sample_weight,
    has_validation,
)
from ramify.decision import apply_threshold, confident_path
from ramify.decision.goals import GOALS, make_goal
from ramify.decision.thresholds import SHARING, check_threshold, search_thresholds
from ramify.labels.encoding import EncodedLabels, read_labels
from ramify.labels.hierarchy import Hierarchy
from ramify.meta.base import WrappingClassifier, fit_wrapped, label_scores


@dataclass(frozen=True)
class HeldOut:
    """Labels, scores and weights of rows that a classifier was not fitted on."""

    labels: EncodedLabels
    scores: NDArray[np.float64]
    weights: NDArray[np.float64]


class HeldOutClassifier(WrappingClassifier):
    """Base class of classifiers that learn from the scores of another one on held-out rows.

    Subclasses have the parameters `estimator`, `hierarchy`, `cv`, `coherence`, `n_jobs` and
    `random_state`, and learn from the scores in `_learn_from`.
    """

    cv: Any
    n_jobs: int | None
    random_state: Any

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> HeldOutClassifier:
        """Fit the classifier and learn from its scores on held-out rows.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Training rows in a form that the estimator accepts.
        y : array-like
            Labels of the n rows, in any format accepted by `ramify.labels.read_labels`.
        sample_weight : array-like of shape (n,), optional
            Sample weights, also passed to the estimator's `fit`.
        X_val : like X, optional
            Validation rows to use instead of cross-validation. The estimator is not fitted on
            them.
        y_val : array-like, optional
            Labels of the validation rows.
        sample_weight_val : array-like, optional
            Weights of the validation rows.

        Returns
        -------
        HeldOutClassifier
            The fitted classifier.
        """
        X, encoded, weights = self._read_wrapped(X, y, sample_weight)
        given = None if sample_weight is None else weights
        validated = has_validation(X_val, y_val, sample_weight_val)
        if not validated:
            held_out = self._cross_validate(X, y, encoded, weights, given)
        self._fit_estimator(X, encoded, given)
        if validated:
            held_out = self._validate(X_val, y_val, sample_weight_val)
        self._learn_from(held_out)
        return self

    def _why_not_unknown(self) -> str | None:
        return self._why_foreign_not_unknown()

    @abstractmethod
    def _learn_from(self, held_out: HeldOut) -> None:
        """Learn from scores on held-out rows."""

    def _validate(self, X: Any, y: Any, sample_weight: Any) -> HeldOut:
        labels, weights = read_validation(X, y, sample_weight, self.hierarchy_)
        scores = self._coherent(label_scores(self.estimator_, X, self.format_))
        return HeldOut(labels, scores, weights)

    def _cross_validate(
        self,
        X: Any,
        y: Any,
        encoded: EncodedLabels,
        weights: NDArray[np.float64],
        given: NDArray[np.float64] | None,
    ) -> HeldOut:
        """Return the scores of each row by a classifier that was fitted without its fold."""
        splits = make_splits(self.cv, X, y, encoded.Y.shape[0], self.random_state)
        scores, rows = score_folds(self.estimator, X, encoded, given, splits, n_jobs=self.n_jobs)
        return HeldOut(encoded.take(rows), self._coherent(scores), weights[rows])


def read_validation(
    X: Any, y: Any, sample_weight: Any, hierarchy: Hierarchy
) -> tuple[EncodedLabels, NDArray[np.float64]]:
    """Return the labels, of which some may be unknown, and weights of validation rows."""
    labels = read_labels(y, hierarchy, allow_unknown=True)
    n_rows = labels.Y.shape[0]
    check_same_length(_num_samples(X), n_rows, "_val")
    return labels, check_sample_weight(sample_weight, n_rows, "_val")


def make_splits(
    cv: Any,
    X: Any,
    y: Any,
    n_rows: int,
    random_state: Any,
    *,
    groups: Any = None,
    name: str = "cv",
) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Return the training and the test rows of every fold."""
    from sklearn.model_selection import (  # noqa: PLC0415 (slow, seldom used)
        GroupKFold,
        KFold,
        check_cv,
    )

    check_folds(cv, name)
    if not isinstance(cv, int | np.integer):
        return list(check_cv(cv).split(X, y, groups))
    if n_rows < cv:
        raise ValueError(
            f"{name} must not exceed the number of rows, got {name}={cv} and n_samples={n_rows}. "
            "Use fewer folds, or pass validation rows to fit."
        )
    if groups is None:
        folds = KFold(int(cv), shuffle=True, random_state=random_state)
        return list(folds.split(np.empty((n_rows, 1))))
    if len(groups) != n_rows:
        raise ValueError(
            f"groups must have one entry per row, got {len(groups)} for {n_rows} rows."
        )
    n_groups = len(set(np.asarray(groups).tolist()))
    if n_groups < cv:
        raise ValueError(
            f"{name} must not exceed the number of groups, got {name}={cv} and {n_groups} "
            "group(s). Use fewer folds."
        )
    grouped = GroupKFold(int(cv), shuffle=True, random_state=random_state)
    return list(grouped.split(np.empty((n_rows, 1)), groups=groups))


def score_folds(
    estimator: Any,
    X: Any,
    encoded: EncodedLabels,
    weights: NDArray[np.float64] | None,
    splits: Sequence[tuple[NDArray[np.intp], NDArray[np.intp]]],
    *,
    n_jobs: int | None,
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return the scores of test rows by copies fitted without their fold, and their numbers."""
    tasks = (delayed(fit_and_score)(estimator, X, encoded, weights, split) for split in splits)
    with closing(in_parallel(tasks, n_jobs=n_jobs)) as scored:
        parts = list(scored)
    return np.concatenate(parts), np.concatenate([test for _, test in splits])


def fit_and_score(
    estimator: Any,
    X: Any,
    encoded: EncodedLabels,
    weights: NDArray[np.float64] | None,
    split: tuple[NDArray[np.intp], NDArray[np.intp]],
) -> NDArray[np.float64]:
    """Fit a copy of a classifier on the training rows of a split and score the test rows."""
    train, test = split
    model = fit_wrapped(estimator, X, encoded, weights, train)
    return label_scores(model, _safe_indexing(X, test), encoded.format)


# ---- the classifier -------------------------------------------------------------------------


class TunedThresholdClassifierCV(HeldOutClassifier):
    """Tune the decision thresholds of a hierarchical classifier by cross-validation.

    Thresholds are chosen to optimise a measure on the cross-validated scores of a classifier,
    which is then fitted on all rows. No label gets a smaller threshold than its parents, so
    predictions are consistent with the hierarchy.

    Parameters
    ----------
    estimator, hierarchy
        As in `CalibratedHierarchicalClassifier`.
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
    n_jobs, random_state
        As in `CalibratedHierarchicalClassifier`.

    Attributes
    ----------
    thresholds_ : ndarray of shape (n_labels,)
        The threshold of each label; infinity for labels that are never predicted.
    best_score_ : float
        Score on the rows on which the thresholds were chosen; larger is better. It is the recall
        for the goal "precision", the negative mean cost per row for the goal "cost", and F1
        otherwise.
    estimator_, hierarchy_, classes_, n_features_in_, feature_names_in_
        As in `CalibratedHierarchicalClassifier`.

    See Also
    --------
    ramify.decision.choose_thresholds : The same choice for given scores.

    Notes
    -----
    If y has one label or path per row, so do the predictions: the path of the most probable
    labels, truncated before the first label below its threshold, but never empty.

    Examples
    --------
    >>> from ramify import PCTClassifier, TunedThresholdClassifierCV, load_animals
    >>> from ramify.metrics import micro_f1
    >>> data = load_animals()
    >>> X, y, X_test, y_test = data.X[::2], data.y[::2], data.X[1::2], data.y[1::2]
    >>> tree = PCTClassifier(data.hierarchy, min_samples_leaf=10, random_state=0)
    >>> tuned = TunedThresholdClassifierCV(tree, random_state=0).fit(X, y)
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
            held_out.labels,
            held_out.scores,
            self.hierarchy_,
            goal=goal,
            per=self.per,
            sample_weight=held_out.weights,
        )
        self.thresholds_, self.best_score_ = found.thresholds, found.score

    def predict(
        self,
        X: Any,
        threshold: Any = None,
        *,
        candidates: str = "specific",
        decide: str = "jointly",
    ) -> Any:
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
        decide : {"jointly", "separately"}
            Has no effect, because thresholds decide.

        Returns
        -------
        array or list
            n label sets, paths or classes, in the format of y in `fit`.
        """
        return super().predict(X, threshold, candidates=candidates, decide=decide)

    def _set_saved_state(self, state: Mapping[str, Any]) -> None:
        super()._set_saved_state(state)
        if "thresholds_" in state:
            check_threshold(self.thresholds_, self.hierarchy_)

    def _decide(
        self, scores: NDArray[np.float64], asked: Asked = USUAL
    ) -> sparse.csr_array[np.int32]:
        chosen = self.thresholds_ if asked.threshold is None else asked.threshold
        if self.format_.single_label:
            return confident_path(scores, self.hierarchy_, chosen, allow_empty=False)
        return apply_threshold(scores, chosen, self.hierarchy_)
