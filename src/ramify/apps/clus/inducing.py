"""Learn the models of a run: a tree, its pruned form, or a forest."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core
from ramify.apps.clus.data import Rows, take_rows
from ramify.apps.clus.estimator import (
    UNCOUNTED_METHODS,
    bootstraps,
    f_test_levels,
    forest_parameters,
    forest_sizes,
    tree_parameters,
)
from ramify.apps.clus.learning import ForestPlan, Learner, fold_splits
from ramify.apps.clus.models import Learned, Model
from ramify.apps.clus.problem import Problem, features_drawn
from ramify.apps.clus.targets.hierarchical import HierarchicalTarget
from ramify.apps.clus.values import java_double
from ramify.trees import PCTClassifier
from ramify.trees.clus import ClusNominal, ClusNumeric
from ramify.trees.options import TreeOptions
from ramify.trees.tree_data import LabelTargets, label_targets

__all__ = [
    "learn",
]


_PER_TREE = ("RSubspaces", "BagSubspaces")  # methods whose trees draw features once


def learn(problem: Problem, train: Rows, prune: Rows | None) -> Learned:
    """Learn the models of a run."""
    learner = _make_learner(problem)
    if problem.switches.forest:
        return _learn_forest(problem, learner, train)
    return _learn_tree(problem, learner, train, prune)


def _make_learner(problem: Problem) -> Learner:
    target = problem.target
    parameters = tree_parameters(problem.settings, target.kind, forest=problem.switches.forest)
    schema = problem.attributes.schema
    if isinstance(target, HierarchicalTarget):
        hierarchy = target.labels.hierarchy
        tree = PCTClassifier(hierarchy, **parameters)

        def describe(rows: Rows) -> LabelTargets:
            return label_targets(tree, hierarchy, rows.y, rows.weights, many=True)

        return Learner(TreeOptions.of(tree), schema, describe)
    del parameters["clus_compat"]
    pruning = parameters.pop("pruning", None), parameters.pop("pruning_factor", 0.0)
    conventions = ClusNumeric() if target.kind == "numeric" else ClusNominal()
    options = TreeOptions(conventions=conventions, **parameters)
    return Learner(options, schema, target.describe, *pruning)


def shown_models(problem: Problem, models: list[Model]) -> list[Model]:
    """Return the models that the settings ask to print."""
    wanted = problem.settings.names("Output", "ShowModels")
    return [
        model
        for model in models
        if model.name in wanted or ("Others" in wanted and model.name not in ("Default", "Pruned"))
    ]


def _learn_tree(problem: Problem, learner: Learner, train: Rows, prune: Rows | None) -> Learned:
    target, levels = problem.target, f_test_levels(problem.settings)
    level = levels[0]
    begin = time.perf_counter()
    if len(levels) > 1 and isinstance(target, HierarchicalTarget):
        splits = _tuning_splits(problem, train, prune)
        predict = partial(_predict_tree, target)
        measure = target.tuning_measure(problem.settings)
        level = learner.choose_f_test(levels, splits, predict, measure)
        if prune is not None:
            train, prune = join_rows(train, prune), None
    tree = learner.grow(train, level)
    seconds = time.perf_counter() - begin
    # CLUS does not prune the trees of hierarchical targets, but reports them twice.
    pruned = learner.grow_pruned(train, level) if prune is None else tree
    models = [Model("Default", [learner.root(train)]), Model("Original", [tree])]
    if pruned is not None:
        models.append(Model("Pruned", [pruned]))
    models += [
        Model(f"T({java_double(threshold)})", [tree], threshold=threshold)
        for threshold in target.thresholds
    ]
    return Learned(models, shown_models(problem, models), train, prune, level, seconds)


def _predict_tree(target: HierarchicalTarget, tree: _core.Tree, X: object) -> NDArray[np.float64]:
    return target.predict([tree], X, is_forest=False)


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


def _learn_forest(problem: Problem, learner: Learner, train: Rows) -> Learned:
    begin = time.perf_counter()
    wanted = plan_forest(problem)
    trees, left_out = learner.forest(train, wanted)
    seconds = time.perf_counter() - begin
    squares = None
    ranked = "Genie3" in problem.settings.names("Ensemble", "FeatureRanking")
    if ranked and isinstance(problem.target, HierarchicalTarget):
        squares = learner.squares(train, wanted, trees)
    models = [Model("Default", [learner.root(train)]), *_forests(problem, trees)]
    level = f_test_levels(problem.settings)[0]
    shown = shown_models(problem, models) if problem.target.section != "Multilabel" else models
    return Learned(models, shown, train, None, level, seconds, left_out=left_out, squares=squares)


def plan_forest(problem: Problem) -> ForestPlan:
    """Return how to grow the forest of a run."""
    parameters = forest_parameters(problem.settings)
    drawn = parameters["max_features"] is not None
    return ForestPlan(
        parameters["n_estimators"],
        parameters["random_state"],
        (parameters["max_samples"] or 0) if bootstraps(problem.settings) else None,
        features_drawn(problem) if drawn else 0,
        problem.settings.text("Ensemble", "EnsembleMethod") in _PER_TREE,
    )


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
