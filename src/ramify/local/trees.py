"""Learners for our own classifiers: trees and forests on ranks of X that are computed once."""

from __future__ import annotations

from copy import copy, deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import has_fit_parameter

from ramify import _core
from ramify.forest.ensemble import PCTEnsemble
from ramify.hierarchy.hierarchy import Hierarchy
from ramify.labels.formats import IndicatorFormat
from ramify.local.models import Learner
from ramify.local.problems import LocalProblem
from ramify.tree.classifier import PCTClassifier
from ramify.tree.f_test_choice import FTestFound, TreeRows, choose_level, draw_folds
from ramify.tree.plan import GrowthPlan

__all__ = ["label_columns", "name_tree", "own_learner"]

_MAX_SEED = np.iinfo(np.int32).max


def own_learner(estimator: Any) -> type[Learner]:
    """Return the kind of learner that suits one of our classifiers."""
    if type(estimator) is PCTClassifier and not np.iterable(estimator.f_test):
        return TreeLearner
    if type(estimator) is PCTClassifier and not estimator.clus_compat:
        return TuningLearner
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
    if len(positives) == 1:  # thousands of these are made, so the short way
        counts = np.zeros(n_rows + 1, dtype=np.int64)
        counts[positives[0] + 1] = 1
        zeros = np.zeros(len(positives[0]), dtype=np.int64)
        parts = (zeros.astype(np.int32) + 1, zeros, np.cumsum(counts))
        return sparse.csr_array(parts, shape=(n_rows, 1))
    indices = np.concatenate(positives)
    indptr = np.cumsum([0, *map(len, positives)])
    ones = np.ones(len(indices), dtype=np.int32)
    columns = sparse.csc_array((ones, indices, indptr), shape=(n_rows, len(positives)))
    rows: sparse.csr_array[np.int32] = columns.tocsr()
    return rows


class OwnLearner(Learner):
    """Fits any classifier of ours per problem, on the rows of the problem."""

    prefer = "threads"

    def _fit(self, problem: LocalProblem, seed: int | None) -> tuple[Any, str]:
        settings: dict[str, Any] = {
            "hierarchy": Hierarchy.from_labels(_names(self.hierarchy, problem))
        }
        if self.features.schema.has_nominal:
            settings["categorical_features"] = self.features.schema.n_categories > 0
        levels = getattr(self.estimator, "f_test", None)
        if np.iterable(levels) and len(problem.rows) < self.estimator.f_test_folds:
            # Too few rows for folds to choose by: the level that lets the smallest tree grow.
            settings["f_test"] = min(levels)
        Y = label_columns(problem.positives, self.features.X.shape[0])[problem.rows]
        estimator = self._make(seed).set_params(**settings)
        given = {}
        if has_fit_parameter(estimator, "sample_weight"):
            given["sample_weight"] = self.weights[problem.rows]
        estimator.fit(self.features.by_rows[problem.rows], Y, **given)
        return estimator, "columns"


class SharingLearner(Learner):
    """Base of the learners that grow trees on shared ranks instead of calling `fit`."""

    prefer = "threads"

    def prepare(self) -> None:
        """Compute the ranks here, once, rather than in every worker."""
        _ = self.features.dataset
        self.estimator._check_parameters()
        if getattr(self.estimator, "pruning", None) == "reduced_error":
            raise ValueError(
                "estimator has pruning='reduced_error', but local models have no validation rows. "
                "Use pruning='pessimistic', an f_test, or None."
            )

    def _make_growth(self, tree: PCTClassifier, plan: GrowthPlan, problem: LocalProblem) -> Growth:
        Y = label_columns(problem.positives, self.features.X.shape[0])
        return Growth(self, problem, Y, tree._label_weights(Y, self.weights, plan))


class TreeLearner(SharingLearner):
    """Grows the tree of a PCTClassifier per problem; `name_tree` makes a PCTClassifier of it."""

    def prepare(self) -> None:
        """Also find the plan, which is the same for all problems but for the seed."""
        super().prepare()
        self._tree = clone(self.estimator)
        name_labels(self._tree, ["any"])
        self._plan = self._tree._plan(self.features.X.shape[1], 0)

    def _fit(self, problem: LocalProblem, seed: int | None) -> tuple[Any, str]:
        if seed is None:
            seed = int(_copied_random(self.estimator.random_state).randint(_MAX_SEED))
        plan = replace(self._plan, seed=seed, exclusive=problem.complete, hidden=problem.hidden)
        tree = self._tree
        if self.estimator.label_weight is not None or len(problem.labels) > 1:
            tree = name_labels(copy(tree), _names(self.hierarchy, problem))
        return self._make_growth(tree, plan, problem).grow(plan, problem.counts), "columns"


class TuningLearner(SharingLearner):
    """Grows a PCTClassifier per problem, whose F-test takes the best of several levels there."""

    def _fit(self, problem: LocalProblem, seed: int | None) -> tuple[Any, str]:
        tree = name_labels(self._make(seed), _names(self.hierarchy, problem))
        self.features.describe(tree)
        random = check_random_state(tree.random_state)
        plan = tree._plan(self.features.X.shape[1], int(random.randint(_MAX_SEED)))
        plan = replace(plan, exclusive=problem.complete)
        Y = label_columns(problem.positives, self.features.X.shape[0])
        data = TreeRows(
            self.features.dataset,
            self.features.by_rows,
            Y,
            tree._label_weights(Y, self.weights, plan),
            self.weights,
            problem.rows,
            self.features.stop,
        )
        found = _choose(tree, plan, random, data)
        tree.f_test_, tree.f_test_scores_ = found.level, found.scores
        tree.tree_ = data.grow(found.plan)
        return tree, "columns"


def _choose(
    tree: PCTClassifier, plan: GrowthPlan, random: np.random.RandomState, data: TreeRows
) -> FTestFound:
    levels, n_rows = tuple(map(float, tree.f_test)), len(data.rows)
    if n_rows < tree.f_test_folds:
        # Too few rows for folds to choose by: the level that lets the smallest tree grow.
        return FTestFound(plan.with_f_test(min(levels)), min(levels), {}, data)
    folds = draw_folds(n_rows, tree.f_test_folds, plan, random)
    return choose_level(plan, levels, [data.rows[fold] for fold in folds], data)


class ForestLearner(SharingLearner):
    """Grows an ensemble of PCTs per problem."""

    def _fit(self, problem: LocalProblem, seed: int | None) -> tuple[Any, str]:
        estimator = name_labels(self._make(seed), _names(self.hierarchy, problem))
        self.features.describe(estimator)
        tree = estimator._with_attributes(estimator._make_tree())
        plan = replace(tree._plan(self.features.X.shape[1], 0), exclusive=problem.complete)
        growth = self._make_growth(tree, plan, problem)
        n_rows = len(problem.rows)
        sampling = estimator._sampling(np.ones(n_rows, dtype=bool))
        estimator._seed = estimator._read_seed()
        estimator.trees_ = []
        for member_seed in sampling.seeds(estimator._seed, estimator.n_estimators):
            counts, drawn_seed = sampling.draw(member_seed)
            estimator.trees_.append(growth.grow(plan.for_member(drawn_seed), counts))
        return estimator, "columns"


def name_labels(estimator: Any, names: list[Any]) -> Any:
    """Set what `fit` would have set for a label matrix of these columns."""
    estimator.hierarchy_ = Hierarchy.from_labels(names)
    estimator.format_ = IndicatorFormat(estimator.hierarchy_, "int64", "dense")
    estimator.classes_ = estimator.format_.classes
    return estimator


def name_tree(estimator: PCTClassifier, tree: _core.Tree, names: list[Any]) -> PCTClassifier:
    """Return a fitted PCTClassifier of a local tree, but for what it knows of the features."""
    fitted: PCTClassifier = name_labels(clone(estimator), names)
    fitted.tree_, fitted.f_test_ = tree, estimator.f_test
    return fitted


def _names(hierarchy: Hierarchy, problem: LocalProblem) -> list[Any]:
    return [hierarchy.labels[c] for c in problem.labels]


def _copied_random(random_state: Any) -> np.random.RandomState:
    """Return a generator of a problem's own, as if the estimator had been cloned."""
    given = isinstance(random_state, np.random.RandomState)
    random: np.random.RandomState = check_random_state(
        deepcopy(random_state) if given else random_state
    )
    return random


class Growth:
    """One local problem as the core takes it.

    Parameters
    ----------
    learner : Learner
        Holds X and the weights.
    problem : LocalProblem
        The rows.
    Y : csr_array of shape (n, n_labels)
        The problem's labels for all rows of X.
    label_weights : ndarray of shape (n_labels,)
        What each label's impurity counts.
    """

    def __init__(
        self,
        learner: Learner,
        problem: LocalProblem,
        Y: sparse.csr_array[np.int32],
        label_weights: NDArray[np.float64],
    ) -> None:
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
