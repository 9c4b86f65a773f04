"""Learn the models of a run: a tree, its pruned form, or a forest."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core
from ramify.apps.clus.data import Rows, take_rows
from ramify.apps.clus.estimator import f_test_levels, forest_sizes
from ramify.apps.clus.learning import LabelLearner, fold_splits
from ramify.apps.clus.models import Learned, Model
from ramify.apps.clus.plan import (
    UNCOUNTED_METHODS,
    hierarchical_learner,
    plan_forest,
    table_learner,
)
from ramify.apps.clus.problem import Problem
from ramify.apps.clus.targets.hierarchical import HierarchicalTarget
from ramify.apps.clus.targets.nominal import NominalTarget
from ramify.apps.clus.targets.numeric import NumericTarget
from ramify.apps.clus.targets.table import TableLearner
from ramify.apps.clus.values import java_double

__all__ = [
    "learn",
]


def learn(problem: Problem, train: Rows, prune: Rows | None) -> Learned:
    """Learn the models of a run."""
    if problem.switches.forest:
        return _learn_forest(problem, train)
    if isinstance(problem.target, HierarchicalTarget):
        return _learn_tree(problem, problem.target, train, prune)
    return _learn_table_tree(problem, problem.target, train)


def _learn_table_tree(
    problem: Problem, target: NominalTarget | NumericTarget, train: Rows
) -> Learned:
    """Learn a tree for nominal or numeric targets, and its pruned form."""
    learner = table_learner(problem, target)
    level = f_test_levels(problem.settings)[0]
    begin = time.perf_counter()
    tree = learner.grow(train, level)
    seconds = time.perf_counter() - begin
    pruned = learner.grow_pruned(train, level)
    models = [Model("Default", [learner.root(train)]), Model("Original", [tree])]
    if pruned is not None:
        models.append(Model("Pruned", [pruned]))
    return Learned(models, shown_models(problem, models), train, None, level, seconds)


def shown_models(problem: Problem, models: list[Model]) -> list[Model]:
    """Return the models that the settings ask to print."""
    wanted = problem.settings.names("Output", "ShowModels")
    return [
        model
        for model in models
        if model.name in wanted or ("Others" in wanted and model.name not in ("Default", "Pruned"))
    ]


def _learn_tree(
    problem: Problem, target: HierarchicalTarget, train: Rows, prune: Rows | None
) -> Learned:
    learner = hierarchical_learner(problem, target)
    levels = f_test_levels(problem.settings)
    level = levels[0]
    begin = time.perf_counter()
    if len(levels) > 1:
        splits = _tuning_splits(problem, train, prune)

        def predict(tree: _core.Tree, X: object) -> NDArray[np.float64]:
            return target.predict([tree], X, is_forest=False)

        measure = target.tuning_measure(problem.settings)
        level = learner.choose_f_test(levels, splits, predict, measure)
        if prune is not None:
            train, prune = join_rows(train, prune), None
    tree = learner.grow(train, level)
    seconds = time.perf_counter() - begin
    models = [Model("Default", [learner.root(train)]), Model("Original", [tree])]
    if prune is not None:
        models.append(Model("Pruned", [tree]))
    models += [
        Model(f"T({java_double(threshold)})", [tree], threshold=threshold)
        for threshold in target.thresholds
    ]
    return Learned(models, shown_models(problem, models), train, prune, level, seconds)


def _tuning_splits(problem: Problem, train: Rows, prune: Rows | None) -> list[tuple[Rows, Rows]]:
    """Return the rows to learn from and to evaluate, for choosing a level of the F-test."""
    if prune is not None:
        return [(train, prune)]
    n_folds = problem.settings.integer("Model", "ParamTuneNumberFolds")
    return [
        (take_rows(train, seen), take_rows(train, unseen))
        for seen, unseen in fold_splits(len(train), n_folds)
    ]


def join_rows(one: Rows, other: Rows) -> Rows:
    """Append rows."""
    return Rows(
        _stack(one.X, other.X),
        _stack(one.y, other.y),
        np.concatenate([one.weights, other.weights]),
        one.keys + other.keys,
        np.concatenate([one.numbers, other.numbers]),
    )


def _stack(one: Any, other: Any) -> Any:
    parts: list[Any] = [one, other]
    return (
        sparse.csr_array(sparse.vstack(parts)) if sparse.issparse(one) else np.concatenate(parts)
    )


def _learn_forest(problem: Problem, train: Rows) -> Learned:
    learner: LabelLearner | TableLearner
    if isinstance(problem.target, HierarchicalTarget):
        learner = hierarchical_learner(problem, problem.target)
    else:
        learner = table_learner(problem, problem.target)
    begin = time.perf_counter()
    wanted = plan_forest(problem)
    trees, left_out = learner.forest(train, wanted)
    seconds = time.perf_counter() - begin
    squares = None
    ranked = "Genie3" in problem.settings.names("Ensemble", "FeatureRanking")
    if ranked and isinstance(learner, LabelLearner):
        squares = learner.squares(train, wanted, trees)
    models = [Model("Default", [learner.root(train)]), *_forests(problem, trees)]
    level = f_test_levels(problem.settings)[0]
    shown = shown_models(problem, models) if problem.target.section != "Multilabel" else models
    return Learned(models, shown, train, None, level, seconds, left_out=left_out, squares=squares)


def _forests(problem: Problem, trees: list[_core.Tree]) -> list[Model]:
    """Return a model for each number of trees to evaluate."""
    method = problem.settings.text("Ensemble", "EnsembleMethod")
    counted = method not in UNCOUNTED_METHODS
    return [
        Model(
            f"Forest with {size if counted else 0} trees",
            trees[:size],
            is_forest=True,
            is_counted=counted,
            in_subspaces=method == "RSubspaces",
        )
        for size in forest_sizes(problem.settings)
    ]
