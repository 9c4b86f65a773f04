"""Bagging of any hierarchical classifier, e.g. of whole local architectures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from joblib import delayed
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import check_is_fitted

from ramify._base.classifier import HierarchicalClassifier, share_classes
from ramify._base.foreign import (
    check_takes_weights,
    clone_seeded,
    copy_input_tags,
    takes_labels,
    takes_weights,
)
from ramify._parallel import count_threads, in_parallel
from ramify._progress import track
from ramify._schema import Fitted, ListOf, Schema
from ramify._validation import check_classifier, check_number
from ramify.data.features import given_features
from ramify.labels.hierarchy import Hierarchy
from ramify.local.classifiers import PerEdgeClassifier
from ramify.trees.classifier import PCTClassifier
from ramify.trees.sampling import check_max_samples, count_draws

_MAX_SEED = np.iinfo(np.int32).max


class HierarchicalBaggingClassifier(HierarchicalClassifier):
    """Bagging of any classifier of ramify.

    Clones of a classifier are fitted on bootstrap samples, and their probabilities are averaged.
    Bagging a local architecture gives an ensemble of whole architectures. For an ensemble at each
    edge instead, pass an ensemble to the architecture:
    ``PerEdgeClassifier(PCTBaggingClassifier())``.

    Parameters
    ----------
    estimator : estimator, optional
        A classifier of ramify. If None, ``PerEdgeClassifier(PCTClassifier())`` is used.
    hierarchy : Hierarchy, optional
        The label hierarchy. If None, a tree is inferred from path labels; all other labels are
        treated as flat.
    n_estimators : int
        Number of members.
    max_samples : int or float, optional
        Number of rows to draw for each member, or this number as a fraction of all rows. None
        draws as many rows as X has.
    categorical_features : array-like of bool, int or str, optional
        The nominal features, as a boolean mask, indices or column names; see `PCTClassifier`.
    n_jobs : int, optional
        Number of members to fit or predict with in parallel; -1 means all cores. The result
        does not depend on it.
    random_state : int, RandomState instance or None
        Controls the bootstrap samples and the seeds of the members. Pass an int for reproducible
        results.
    verbose : bool
        Whether to show a progress bar (requires rich).

    Attributes
    ----------
    estimators_ : list of estimators
        The fitted members.
    hierarchy_ : Hierarchy
        The label hierarchy, as passed or as inferred from y.
    classes_ : ndarray of shape (n_labels,)
        The labels, in the order of the columns of `predict_proba`.

    See Also
    --------
    PCTBaggingClassifier : Faster bagging of trees for all labels.

    Notes
    -----
    A row that is drawn twice has twice the weight. If the estimator, or a classifier inside it,
    does not accept sample weights, drawn rows are repeated instead.

    Examples
    --------
    >>> from ramify import HierarchicalBaggingClassifier, PCTClassifier, PerEdgeClassifier
    >>> X = [[1.0, 0.0], [2.0, 0.0], [3.0, 1.0], [4.0, 1.0]]
    >>> y = ["animal/cat", "animal/cat", "animal/dog", "plant"]
    >>> model = HierarchicalBaggingClassifier(
    ...     PerEdgeClassifier(PCTClassifier()), n_estimators=20, random_state=0
    ... ).fit(X, y)
    >>> model.predict([[1.5, 0.0], [4.0, 1.0]])
    array(['animal/cat', 'plant'], dtype='<U10')
    """

    estimators_: list[Any]

    _saved_schema: ClassVar[Schema] = {
        "estimators_": ListOf(Fitted("n_features_in_", "n_labels")),
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        hierarchy: Hierarchy | None = None,
        n_estimators: int = 50,
        max_samples: float | None = None,
        categorical_features: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.estimator = estimator
        self.hierarchy = hierarchy
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if isinstance(self.estimator, HierarchicalClassifier):
            copy_input_tags(tags, self.estimator)
            tags.classifier_tags.multi_label = takes_labels(self.estimator)
        return tags

    def _check_parameters(self) -> None:
        check_number("n_estimators", self.n_estimators, 1, whole=True)
        check_max_samples(self.max_samples)
        check_classifier(self._member())
        if not isinstance(self._member(), HierarchicalClassifier):
            raise TypeError(
                f"estimator must be a classifier of ramify, got {self.estimator!r}. Wrap it in a "
                "local architecture, e.g. PerEdgeClassifier(estimator=...)."
            )

    def _text_form(self) -> str:
        return "passed"

    def _member(self) -> Any:
        return PerEdgeClassifier(PCTClassifier()) if self.estimator is None else self.estimator

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> HierarchicalBaggingClassifier:
        """Fit the members.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Training rows in a form that the members accept.
        y : array-like
            Labels of the n rows, in any format accepted by `ramify.labels.read_labels`.
        sample_weight : array-like of shape (n,), optional
            Sample weights.

        Returns
        -------
        HierarchicalBaggingClassifier
            The fitted classifier.
        """
        given = X
        X, _, weights = self._read_training(X, y, sample_weight)
        data = _Data(given_features(given, X), y, None if sample_weight is None else weights)
        settings = {"hierarchy": self.hierarchy_}
        if self.categorical_features is not None:
            settings["categorical_features"] = self.categorical_features
        template = clone(self._member()).set_params(**settings)
        if sample_weight is not None:
            check_takes_weights(template)
        random = check_random_state(self.random_state)
        seeds = [int(seed) for seed in random.randint(_MAX_SEED, size=self.n_estimators)]
        n_draws = count_draws(self.max_samples, X.shape[0])
        tasks = (delayed(_fit_member)(template, data, n_draws, seed) for seed in seeds)
        shared = [template, data]
        running = in_parallel(tasks, n_jobs=self.n_jobs, prefer="threads", shared=shared)
        with closing(running) as found:
            tracked = track(found, self.n_estimators, "Fitting members", shown=bool(self.verbose))
            self.estimators_ = list(tracked)
        return self

    def __len__(self) -> int:
        """Return the number of members."""
        check_is_fitted(self)
        return len(self.estimators_)

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the fitted members."""
        check_is_fitted(self)
        return iter(self.estimators_)

    def __getitem__(self, index: Any) -> Any:
        """Return a fitted member, or a list of them for a slice."""
        check_is_fitted(self)
        return self.estimators_[index]

    def _score_given(self, given: Any, X: Any) -> NDArray[np.float64]:
        return self._predict_scores(given_features(given, X))

    def _predict_scores(self, X: Any) -> NDArray[np.float64]:
        n_threads = count_threads(self.n_jobs)
        tasks = (delayed(_ask_member)(member, X) for member in self.estimators_)
        with closing(in_parallel(tasks, n_jobs=n_threads, require="sharedmem")) as found:
            # Sum in the order of the members: sums of coherent scores are then coherent.
            total = sum(found, start=np.float64(0.0))
        mean = np.asarray(total / len(self.estimators_), dtype=np.float64)
        return share_classes(mean, self.format_)


@dataclass(frozen=True)
class _Data:
    """Training data of all members; `weights` is None if no sample weights were passed."""

    X: Any
    y: Any
    weights: NDArray[np.float64] | None


def _fit_member(template: Any, data: _Data, n_draws: int, seed: int) -> Any:
    """Fit a clone on rows drawn with replacement."""
    random = check_random_state(seed)
    member = clone_seeded(template, int(random.randint(_MAX_SEED)))
    n_rows = data.X.shape[0]
    drawn = random.randint(n_rows, size=n_draws)
    if not takes_weights(template):
        return member.fit(_safe_indexing(data.X, drawn), _safe_indexing(data.y, drawn))
    counts = np.bincount(drawn, minlength=n_rows).astype(np.float64)
    weights = counts if data.weights is None else counts * data.weights
    return member.fit(data.X, data.y, sample_weight=weights)


def _ask_member(member: Any, X: Any) -> NDArray[np.float64]:
    scores: NDArray[np.float64] = np.asarray(member.predict_proba(X))
    return scores
