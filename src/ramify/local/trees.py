"""The classifiers that learn local problems: trees of ramify, and any others."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_random_state

from ramify import _core
from ramify._base.classifier import HierarchicalClassifier
from ramify._base.foreign import (
    Question,
    check_takes_weights,
    clone_seeded,
    takes_labels,
    takes_weights,
)
from ramify._messages import shorten
from ramify._validation import check_classifier
from ramify.labels.formats import IndicatorFormat
from ramify.labels.hierarchy import Hierarchy
from ramify.labels.unknown import close_unknown
from ramify.local.learning import Learner, LocalModel, ModelLearner, label_columns
from ramify.local.linear import LinearColumns, LinearModel
from ramify.local.linear_classifier import LinearClassifier, LinearLearner
from ramify.local.problems import LocalProblem
from ramify.trees.classifier import PCTClassifier
from ramify.trees.ensemble import PCTEnsemble, grow_in_turn
from ramify.trees.f_test_choice import FTestFound, choose_level, count_folds, draw_splits
from ramify.trees.growing import grow
from ramify.trees.options import TreeOptions
from ramify.trees.parameters import is_list, mixes_features, why_not_unknown
from ramify.trees.tree_data import TreeData, label_targets

_MAX_SEED = np.iinfo(np.int32).max


def own_learner(estimator: Any) -> type[ModelLearner]:
    """Return the kind of learner that suits a classifier of ramify."""
    if type(estimator) is PCTClassifier:
        return TuningLearner if is_list(estimator.f_test) else TreeLearner
    if isinstance(estimator, PCTEnsemble) and not estimator.oob_score:
        return ForestLearner
    if type(estimator) is LinearClassifier:
        return LinearLearner
    return OwnLearner


class OwnLearner(ModelLearner):
    """Fits any classifier of ramify for each problem, on the rows of the problem."""

    prefer = "threads"

    def prepare(self) -> None:
        """Reject ensembles that would ignore negative rows, because they have no labels."""
        own = self.estimator
        if getattr(own, "clus_compat", False) and own.criterion == "variance":
            raise ValueError(
                f"oob_score of estimator must be False with clus_compat=True, got "
                f"{getattr(own, 'oob_score', None)!r}: CLUS ignores rows without labels, and the "
                "negative rows of a local model have none."
            )

    def _fit(self, problem: LocalProblem, seed: int | None) -> tuple[Any, str]:
        data = self.data
        settings: dict[str, Any] = {"hierarchy": Hierarchy.from_labels(self._names(problem))}
        if data.schema.has_nominal:
            settings["categorical_features"] = data.schema.n_categories > 0
        levels: Any = getattr(self.estimator, "f_test", None)
        if is_list(levels) and len(problem.rows) < count_folds(self.estimator.cv):
            # Too few rows for cross-validation: use the level with the smallest tree.
            settings["f_test"] = min(levels)
        Y = label_columns(problem.positives, data.n_rows)[problem.rows]
        estimator = clone_seeded(self.estimator, seed).set_params(**settings)
        options = {}
        if takes_weights(estimator):
            options["sample_weight"] = data.weights[problem.rows]
        estimator.fit(data.by_rows[problem.rows], Y, **options)
        return estimator, "columns"


class SharingLearner(ModelLearner):
    """Base class of learners that grow trees on shared ranks instead of calling `fit`."""

    prefer = "threads"

    def __init__(self, estimator: Any, data: TreeData, hierarchy: Hierarchy) -> None:
        super().__init__(estimator, data, hierarchy)
        self.takes_unknown = why_not_unknown(estimator) is None

    def prepare(self) -> None:
        """Compute the ranks once, before problems are sent to workers."""
        _ = self.data.dataset
        if mixes_features(self.estimator):
            raise ValueError(
                f"supervision of estimator must be 1, got {self.estimator.supervision!r}: local "
                "models learn from rows with labels. Use the estimator itself for all labels."
            )
        if getattr(self.estimator, "pruning", None) == "reduced_error":
            raise ValueError(
                "pruning of estimator must be 'pessimistic' or None, got 'reduced_error'. Use "
                "pruning='pessimistic' or f_test: local models have no validation rows."
            )

    def _problem_data(
        self, tree: Any, hierarchy: Hierarchy, problem: LocalProblem, *, draws: bool = False
    ) -> TreeData:
        """Return the rows and labels of a problem.

        `draws`: whether class weights decide how often rows are drawn.
        """
        Y = label_columns(problem.positives, self.data.n_rows)
        weights, single = self.data.weights, problem.complete
        unknown = None
        if problem.unknown is not None:
            marked = label_columns(problem.unknown, self.data.n_rows)
            unknown = close_unknown(hierarchy, Y, marked)
        targets = label_targets(tree, hierarchy, Y, weights, single_label=single, unknown=unknown)
        data = self.data.with_targets(targets, problem.rows)
        if tree.class_weight is None:
            return data
        factors = self._class_factors(tree.class_weight, Y, problem)
        return data.with_factors(factors, draws=draws)


class TreeLearner(SharingLearner):
    """Grows a tree for each problem; `name_tree` turns it into a PCTClassifier."""

    def prepare(self) -> None:
        """Also make the options, which are the same for all problems except for the seed."""
        self.estimator._check_parameters()
        super().prepare()
        self._any_label = Hierarchy.from_labels(["any"])
        self._options = local_options(self.estimator)

    def _fit(self, problem: LocalProblem, seed: int | None) -> tuple[Any, str]:
        tree, hierarchy = self.estimator, self._any_label
        if seed is None:
            seed = int(_copied_random(tree.random_state).randint(_MAX_SEED))
        options = replace(self._options, seed=seed, hidden_feature=problem.hidden)
        weighted = tree.label_weight is not None or tree.class_weight is not None
        if weighted or callable(tree.criterion) or len(problem.labels) > 1:
            hierarchy = Hierarchy.from_labels(self._names(problem))
        data = self._problem_data(tree, hierarchy, problem)
        return grow(data, options, counts=problem.counts), "columns"


class TuningLearner(SharingLearner):
    """Grows a PCTClassifier for each problem and chooses the level of its F-test."""

    def prepare(self) -> None:
        """Also check the parameters."""
        self.estimator._check_parameters()
        cv = self.estimator.cv
        if not isinstance(cv, int | np.integer) and not hasattr(cv, "split"):
            raise ValueError(
                f"cv of estimator must be an integer or a splitter, got {cv!r}. Local models are "
                "fitted on different rows: pass a number of folds or a splitter."
            )
        super().prepare()

    def _fit(self, problem: LocalProblem, seed: int | None) -> tuple[Any, str]:
        tree = name_labels(clone_seeded(self.estimator, seed), self._names(problem))
        self.data.describe(tree)
        random = check_random_state(tree.random_state)
        options = local_options(tree, seed=int(random.randint(_MAX_SEED)))
        data = self._problem_data(tree, tree.hierarchy_, problem)
        found = _choose(tree, options, random, data, problem)
        tree.f_test_, tree.f_test_scores_ = found.level, found.scores
        tree.tree_ = grow(data, found.options)
        return tree, "columns"


def _choose(
    tree: PCTClassifier,
    options: TreeOptions,
    random: np.random.RandomState,
    data: TreeData,
    problem: LocalProblem,
) -> FTestFound:
    levels = tuple(map(float, tree.f_test))
    if len(problem.rows) < count_folds(tree.cv):
        # Too few rows for cross-validation: use the level with the smallest tree.
        return FTestFound(min(levels), {}, replace(options, f_test=min(levels)), data)
    splits = draw_splits(problem.rows, tree.cv, options, random, data.Y)
    return choose_level(options, levels, splits, data)


def local_options(estimator: Any, **others: Any) -> TreeOptions:
    """Return the options of the trees of local problems, whose negative rows have no labels."""
    return TreeOptions.of(estimator, conventions=estimator._conventions.for_local(), **others)


class ForestLearner(SharingLearner):
    """Grows an ensemble of PCTs for each problem."""

    def prepare(self) -> None:
        """Also check the parameters."""
        self.estimator._check_parameters()
        super().prepare()

    def _fit(self, problem: LocalProblem, seed: int | None) -> tuple[Any, str]:
        estimator = name_labels(clone_seeded(self.estimator, seed), self._names(problem))
        self.data.describe(estimator)
        draws = estimator._draws_by_class
        data = self._problem_data(estimator, estimator.hierarchy_, problem, draws=draws)
        grow_in_turn(estimator, data, local_options(estimator))
        return estimator, "columns"


def name_labels(estimator: Any, names: list[Any]) -> Any:
    """Set the label attributes that `fit` would set for a label matrix with these columns."""
    estimator.hierarchy_ = Hierarchy.from_labels(names)
    estimator.format_ = IndicatorFormat(estimator.hierarchy_, "int64", "dense")
    estimator.classes_ = estimator.format_.classes
    estimator.row_kind_ = "labels or none"
    return estimator


def name_tree(estimator: PCTClassifier, tree: _core.Tree, names: list[Any]) -> PCTClassifier:
    """Return a PCTClassifier with a local tree, fitted except for its feature attributes."""
    fitted: PCTClassifier = name_labels(clone(estimator), names)
    fitted.tree_, fitted.f_test_ = tree, estimator.f_test
    return fitted


def name_linear(
    estimator: LinearClassifier, model: LinearModel, columns: LinearColumns, names: list[Any]
) -> LinearClassifier:
    """Return a LinearClassifier with a local model, fitted except for its feature attributes."""
    fitted: LinearClassifier = name_labels(clone(estimator), names)
    fitted.model_, fitted.columns_, fitted.exclusive_ = model, columns, False
    return fitted


def _copied_random(random_state: Any) -> np.random.RandomState:
    """Return a separate generator for a problem, as if the estimator had been cloned."""
    given = isinstance(random_state, np.random.RandomState)
    random: np.random.RandomState = check_random_state(
        deepcopy(random_state) if given else random_state
    )
    return random


# ---- choice of the learner for an estimator, and the learner for classifiers of other libraries


def make_learner(estimator: Any, data: TreeData, hierarchy: Hierarchy) -> Learner:
    """Return a learner that suits an estimator."""
    is_ours = isinstance(estimator, HierarchicalClassifier)
    if is_ours and estimator.hierarchy is not None:
        raise ValueError(
            f"the hierarchy of estimator must be None, got {estimator.hierarchy!r}. Local models "
            "predict one label or siblings only; pass the hierarchy to the outer classifier."
        )
    check_classifier(estimator)
    if data.weighted:
        check_takes_weights(estimator)
    kind = own_learner(estimator) if is_ours else ForeignLearner
    return kind(estimator, data, hierarchy)


class LevelLearner(Learner):
    """Learns the problems of each level with an estimator of its own."""

    takes_unknown = True

    def __init__(self, estimators: list[Any], data: TreeData, hierarchy: Hierarchy) -> None:
        super().__init__(estimators, data, hierarchy)
        if len(estimators) != hierarchy.depth:
            raise ValueError(
                f"estimator must be a classifier or a list of one per level, {hierarchy.depth}, "
                f"got a list of {len(estimators)}. None in the list is the default."
            )
        if len({bool(getattr(one, "clus_compat", False)) for one in estimators}) > 1:
            raise ValueError(
                "estimator must be a list of classifiers with the same clus_compat, got "
                f"{estimators!r}. Set it in all of them, or in none."
            )
        self._learners = [make_learner(one, data, hierarchy) for one in estimators]
        kinds = {learner.prefer for learner in self._learners}
        self.prefer = kinds.pop() if len(kinds) == 1 else None

    def prepare(self) -> None:
        """Prepare the learner of each level; linear ones learn from the same columns."""
        for learner in self._learners:
            learner.columns = self.columns
            learner.prepare()
            self.columns = learner.columns or self.columns

    def learn(self, problem: LocalProblem, seed: int | None) -> LocalModel:
        """Learn one problem with the learner of the level of its labels."""
        levels = self.hierarchy.label_levels[list(problem.labels)]
        learner = self._learners[int(levels.min()) - 1]
        return learner.learn(problem if learner.takes_unknown else problem.without_unknown(), seed)


class ForeignLearner(ModelLearner):
    """Fits a classifier of another library for each problem."""

    def _fit(self, problem: LocalProblem, seed: int | None) -> tuple[Any, str]:
        names = self._names(problem)
        question = Question.about(names, exclusive=problem.exclusive)
        if question.answer == "indicator" and not takes_labels(self.estimator):
            raise ValueError(
                "estimator must support multi-label targets, because rows may have several of the "
                f"labels {shorten(names)}, got {type(self.estimator).__name__}. Use "
                "PerEdgeClassifier, or wrap the estimator in "
                "sklearn.multioutput.MultiOutputClassifier. If every row is one path, with a name "
                "per level, pass ramify.as_levels(y)."
            )
        estimator, data = clone_seeded(self.estimator, seed), self.data
        y = question.write(label_columns(problem.positives, data.n_rows)[problem.rows])
        whole = len(problem.rows) == data.n_rows
        X = data.given if whole else _safe_indexing(data.given, problem.rows)
        options = {"sample_weight": data.weights[problem.rows]} if data.weighted else {}
        estimator.fit(X, y, **options)
        return estimator, question.answer
