"""Learners for our own classifiers: trees and forests on ranks of X that are computed once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state

from ramify import _core
from ramify._ensemble import PCTEnsemble
from ramify._growing import GrowthPlan
from ramify._label_formats import IndicatorFormat
from ramify._local_models import Learner
from ramify._local_problems import LocalProblem
from ramify.hierarchy import Hierarchy
from ramify.tree import PCTClassifier

__all__ = ["label_columns", "own_learner"]


def own_learner(estimator: Any) -> type[Learner]:
    """Return the kind of learner that suits one of our classifiers."""
    if type(estimator) is PCTClassifier and not np.iterable(estimator.f_test):
        return TreeLearner
    if isinstance(estimator, PCTEnsemble) and not estimator.oob_score:
        return ForestLearner
    return OwnLearner


def label_columns(
    positives: tuple[NDArray[np.int64], ...], n_rows: int
) -> sparse.csr_array[np.int32]:
    """Return the label matrix whose columns have these rows.

    Examples
    --------
    >>> import numpy as np
    >>> label_columns((np.array([0, 2]), np.array([1])), 3).toarray().tolist()
    [[1, 0], [0, 1], [1, 0]]
    """
    indices = np.concatenate(positives)
    indptr = np.cumsum([0, *map(len, positives)])
    ones = np.ones(len(indices), dtype=np.int32)
    columns = sparse.csc_array((ones, indices, indptr), shape=(n_rows, len(positives)))
    rows: sparse.csr_array[np.int32] = columns.tocsr()
    return rows


def local_hierarchy(hierarchy: Hierarchy, problem: LocalProblem) -> Hierarchy:
    """Return a problem's labels side by side."""
    return Hierarchy.from_labels([hierarchy.labels[c] for c in problem.labels])


class OwnLearner(Learner):
    """Fits any classifier of ours per problem, on the rows of the problem."""

    prefer = "threads"

    def _fit(self, estimator: Any, problem: LocalProblem) -> str:
        settings: dict[str, Any] = {"hierarchy": local_hierarchy(self.hierarchy, problem)}
        if self.features.schema.has_nominal:
            settings["categorical_features"] = self.features.schema.n_categories > 0
        Y = label_columns(problem.positives, self.features.X.shape[0])[problem.rows]
        estimator.set_params(**settings).fit(
            self.features.by_rows[problem.rows], Y, sample_weight=self.weights[problem.rows]
        )
        return "columns"


class SharingLearner(Learner):
    """Base of the learners that grow trees on shared ranks instead of calling `fit`."""

    prefer = "threads"

    def prepare(self) -> None:
        """Compute the ranks here, once, rather than in every worker."""
        _ = self.features.dataset

    def _describe(self, estimator: Any, problem: LocalProblem) -> None:
        """Set what `fit` would have set before growing."""
        estimator._check_parameters()
        self.features.describe(estimator)
        estimator.hierarchy_ = local_hierarchy(self.hierarchy, problem)
        estimator.format_ = IndicatorFormat(estimator.hierarchy_, "int64", "dense")
        estimator.classes_ = estimator.format_.classes

    def _make_growth(self, tree: PCTClassifier, problem: LocalProblem, seed: int) -> Growth:
        plan = tree._plan(self.features.X.shape[1], seed)
        Y = label_columns(problem.positives, self.features.X.shape[0])
        return Growth(self, problem, plan, Y, tree._label_weights(Y, self.weights, plan))


class TreeLearner(SharingLearner):
    """Grows a PCTClassifier per problem."""

    def _fit(self, estimator: Any, problem: LocalProblem) -> str:
        self._describe(estimator, problem)
        seed = check_random_state(estimator.random_state).randint(np.iinfo(np.int32).max)
        growth = self._make_growth(estimator, problem, int(seed))
        estimator.tree_ = growth.grow(growth.plan, None)
        estimator.f_test_ = growth.plan.f_test
        return "columns"


class ForestLearner(SharingLearner):
    """Grows an ensemble of PCTs per problem."""

    def _fit(self, estimator: Any, problem: LocalProblem) -> str:
        self._describe(estimator, problem)
        tree = estimator._with_attributes(estimator._make_tree())
        growth = self._make_growth(tree, problem, 0)
        n_rows = len(problem.rows)
        sampling = estimator._sampling(np.ones(n_rows, dtype=bool))
        estimator._seed = estimator._read_seed()
        estimator.trees_ = []
        for seed in sampling.seeds(estimator._seed, estimator.n_estimators):
            counts, drawn_seed = sampling.draw(seed)
            estimator.trees_.append(growth.grow(growth.plan.for_member(drawn_seed), counts))
        return "columns"


class Growth:
    """One local problem as the core takes it.

    Parameters
    ----------
    learner : Learner
        Holds X and the weights.
    problem : LocalProblem
        The rows.
    plan : GrowthPlan
        How trees grow.
    Y : csr_array of shape (n, n_labels)
        The problem's labels for all rows of X.
    label_weights : ndarray of shape (n_labels,)
        What each label's impurity counts.
    """

    def __init__(
        self,
        learner: Learner,
        problem: LocalProblem,
        plan: GrowthPlan,
        Y: sparse.csr_array[np.int32],
        label_weights: NDArray[np.float64],
    ) -> None:
        self.plan = plan
        self._learner = learner
        self._rows = problem.rows
        self._Y = Y
        self._label_weights = label_weights

    def grow(self, plan: GrowthPlan, counts: NDArray[np.int32] | None) -> _core.Tree:
        """Grow a tree on the problem's rows, each as often as `counts` says, once by default."""
        rows, weights = self._rows, self._learner.weights
        if counts is not None:
            drawn = np.zeros_like(weights)
            drawn[rows] = weights[rows] * counts
            rows, weights = rows[counts > 0], drawn
        features = self._learner.features
        return plan.grow(
            features.dataset,
            self._Y,
            self._label_weights,
            weights,
            rows,
            stop=features.stop,
            unlabelled_count=True,
        )
