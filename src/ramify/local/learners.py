"""Learning all local problems, and the learner for classifiers of other libraries."""

from __future__ import annotations

from typing import Any

import numpy as np
from joblib import delayed, effective_n_jobs
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing, check_random_state, get_tags
from sklearn.utils.validation import has_fit_parameter

from ramify._base.classifier import HierarchicalClassifier
from ramify._parallel import in_parallel
from ramify._progress import track
from ramify._validation import check_classifier
from ramify.hierarchy.hierarchy import Hierarchy
from ramify.labels.formats import label_array
from ramify.local.features import SharedFeatures
from ramify.local.models import NO_CLASS, Learner, LocalModel
from ramify.local.problems import LocalProblem
from ramify.local.trees import label_columns, own_learner

__all__ = ["learn_all", "make_learner", "takes_labels", "takes_weights"]


def make_learner(
    estimator: Any,
    features: SharedFeatures,
    weights: NDArray[np.float64],
    hierarchy: Hierarchy,
    *,
    weighted: bool,
) -> Learner:
    """Return the learner for a kind of estimator.

    Parameters
    ----------
    estimator : estimator
        Unfitted.
    features : SharedFeatures
        X.
    weights : ndarray of shape (n,)
        The weights of the rows.
    hierarchy : Hierarchy
        The labels.
    weighted : bool
        Whether the weights were given, so that the estimator must heed them.

    Returns
    -------
    Learner
        Learns local problems.
    """
    if isinstance(estimator, HierarchicalClassifier):
        if estimator.hierarchy is not None:
            raise ValueError(
                f"estimator has the hierarchy {estimator.hierarchy!r}, but a local model predicts "
                "one label or a few that lie side by side. Leave its hierarchy None."
            )
        _check_weights(estimator, weighted=weighted)
        kind = own_learner(estimator)
        return kind(estimator, features, weights, hierarchy)
    check_classifier(estimator)
    _check_weights(estimator, weighted=weighted)
    return OtherLearner(estimator, features, weights, hierarchy, weighted=weighted)


def _check_weights(estimator: Any, *, weighted: bool) -> None:
    if weighted and not takes_weights(estimator):
        raise TypeError(
            f"sample_weight is given, but {type(estimator).__name__}.fit takes none. Leave it "
            "out, or choose an estimator that weighs rows."
        )


def takes_weights(estimator: Any) -> bool:
    """Tell whether an estimator's fit takes sample_weight, by its signature or by routing."""
    if has_fit_parameter(estimator, "sample_weight"):
        return True
    from sklearn.utils.metadata_routing import get_routing_for_object  # noqa: PLC0415

    routing = get_routing_for_object(estimator)
    return bool(routing.consumes("fit", ["sample_weight"]))


def takes_labels(estimator: Any) -> bool:
    """Tell whether an estimator may predict several labels per row."""
    tags = get_tags(estimator)
    return bool(tags.classifier_tags.multi_label or tags.target_tags.multi_output)


def learn_all(
    learner: Learner,
    problems: list[LocalProblem],
    *,
    random_state: Any,
    n_jobs: int | None,
    verbose: bool,
) -> list[LocalModel]:
    """Learn all problems, in parallel; the models do not depend on `n_jobs`.

    Parameters
    ----------
    learner : Learner
        Learns one.
    problems : list of LocalProblem
        What to learn.
    random_state : int, RandomState instance or None
        Draws a seed per problem; None leaves the estimator's own random_state.
    n_jobs : int, optional
        Workers.
    verbose : bool
        Whether to show a progress bar.

    Returns
    -------
    list of LocalModel
        In the order of the problems.
    """
    seeds: list[int | None] = [None] * len(problems)
    if random_state is not None:
        draws = check_random_state(random_state).randint(np.iinfo(np.int32).max, size=len(seeds))
        seeds = [int(seed) for seed in draws]
    learner.prepare()
    # A tree may take less time than its way to a worker: problems travel in bundles.
    n_bundles = min(len(problems), 16 * effective_n_jobs(n_jobs))
    bundles = [range(k, len(problems), n_bundles) for k in range(n_bundles)]
    tasks = (
        delayed(_learn_bundle)(learner, [(problems[i], seeds[i]) for i in bundle])
        for bundle in bundles
    )
    learnt = in_parallel(tasks, n_jobs=n_jobs, prefer=learner.prefer, shared=[learner])
    try:
        found = list(track(learnt, n_bundles, "Fitting local models", shown=verbose))
    except BaseException:
        # Ctrl-C reaches the main thread only.
        learner.features.stop.set()
        raise
    models: list[Any] = [None] * len(problems)
    for bundle, answers in zip(bundles, found, strict=True):
        for i, model in zip(bundle, answers, strict=True):
            models[i] = model
    return models


def _learn_bundle(
    learner: Learner, bundle: list[tuple[LocalProblem, int | None]]
) -> list[LocalModel]:
    return [learner.learn(problem, seed) for problem, seed in bundle]


class OtherLearner(Learner):
    """Fits a classifier of another library per problem.

    Parameters
    ----------
    estimator, features, weights, hierarchy
        As for `Learner`.
    weighted : bool
        Whether the weights were given.
    """

    def __init__(
        self,
        estimator: Any,
        features: SharedFeatures,
        weights: NDArray[np.float64],
        hierarchy: Hierarchy,
        *,
        weighted: bool,
    ) -> None:
        super().__init__(estimator, features, weights, hierarchy)
        self.weighted = weighted

    def _fit(self, problem: LocalProblem, seed: int | None) -> tuple[Any, str]:
        estimator = self._make(seed)
        y, answer = self._target(problem)
        whole = len(problem.rows) == len(self.weights)
        X = self.features.given if whole else _safe_indexing(self.features.given, problem.rows)
        if self.weighted:
            estimator.fit(X, y, sample_weight=self.weights[problem.rows])
        else:
            estimator.fit(X, y)
        return estimator, answer

    def _target(self, problem: LocalProblem) -> tuple[NDArray[Any], str]:
        """Return y as the estimator takes it, and how it will answer."""
        columns = label_columns(problem.positives, len(self.weights))[problem.rows].toarray()
        if problem.exclusive:
            return self._classes(columns, problem), "classes"
        if columns.shape[1] == 1:
            return columns[:, 0], "positive"
        if not takes_labels(self.estimator):
            raise ValueError(
                f"estimator {type(self.estimator).__name__} predicts one class per row, but rows "
                f"may have several of the labels below {problem.key!r}. Use PerEdgeClassifier, "
                "or sklearn.multioutput.MultiOutputClassifier around the estimator."
            )
        return columns, "indicator"

    def _classes(self, columns: NDArray[Any], problem: LocalProblem) -> NDArray[Any]:
        names = [self.hierarchy.labels[c] for c in problem.labels]
        none = columns.sum(axis=1) == 0
        classes = label_array((*names, NO_CLASS) if none.any() else tuple(names))
        y: NDArray[Any] = classes[np.where(none, len(names), columns.argmax(axis=1))]
        return y
