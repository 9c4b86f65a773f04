"""Learn the models of a run: a tree, its pruned form, or a forest."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from scipy import sparse

from ramify import _core
from ramify.clus.data import Rows, take_rows
from ramify.clus.learned import Learned
from ramify.clus.learning import LabelLearner, fold_splits
from ramify.clus.models import Model
from ramify.clus.numbers import java_double
from ramify.clus.plan import f_test_levels, forest_sizes, hierarchical_learner, plan_forest
from ramify.clus.problem import Problem

__all__ = ["learn"]


def learn(problem: Problem, train: Rows, prune: Rows | None) -> Learned:
    """Learn the models of a run.

    Parameters
    ----------
    problem : Problem
        The settings and the target.
    train : Rows
        Training rows.
    prune : Rows or None
        Validation rows.

    Returns
    -------
    Learned
        The models.
    """
    learner = hierarchical_learner(problem)
    if problem.switches.forest:
        return _learn_forest(problem, learner, train)
    return _learn_tree(problem, learner, train, prune)


def _learn_tree(
    problem: Problem, learner: LabelLearner, train: Rows, prune: Rows | None
) -> Learned:
    levels = f_test_levels(problem.settings)
    level = levels[0]
    begin = time.perf_counter()
    if len(levels) > 1:
        level = _choose_level(problem, learner, levels, train, prune)
        if prune is not None:
            train, prune = join_rows(train, prune), None
    tree = learner.grow(train, level)
    seconds = time.perf_counter() - begin
    models = [Model("Default", [learner.root(train)]), Model("Original", [tree])]
    if prune is not None:
        models.append(Model("Pruned", [tree]))
    models += [
        Model(f"T({java_double(threshold)})", [tree], threshold=threshold)
        for threshold in problem.target.thresholds
    ]
    return Learned(models, models, train, prune, level, seconds)


def _choose_level(
    problem: Problem,
    learner: LabelLearner,
    levels: tuple[float, ...],
    train: Rows,
    prune: Rows | None,
) -> float:
    target = problem.target
    if prune is not None:
        splits = [(train, prune)]
    else:
        n_folds = problem.settings.integer("Model", "ParamTuneNumberFolds")
        splits = [
            (take_rows(train, seen), take_rows(train, unseen))
            for seen, unseen in fold_splits(len(train), n_folds)
        ]

    def predict(tree: _core.Tree, X: object) -> np.ndarray:
        return target.predict([tree], X, is_forest=False)

    return learner.choose_f_test(levels, splits, predict, target.tuning_measure(problem.settings))


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


def _learn_forest(problem: Problem, learner: LabelLearner, train: Rows) -> Learned:
    begin = time.perf_counter()
    trees, left_out = learner.forest(train, plan_forest(problem))
    seconds = time.perf_counter() - begin
    models = [
        Model("Default", [learner.root(train)]),
        *(
            Model(f"Forest with {size} trees", trees[:size], is_forest=True)
            for size in forest_sizes(problem.settings)
        ),
    ]
    level = f_test_levels(problem.settings)[0]
    return Learned(models, models, train, None, level, seconds, left_out=left_out)
