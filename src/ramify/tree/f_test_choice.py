"""Choosing the level of a tree's F-test, by internal cross-validation or on validation rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import KFold

from ramify.metrics import pooled_auprc
from ramify.tree.java_random import clus_folds
from ramify.tree.plan import GrowthPlan, predict_tree
from ramify.tree.training_data import TrainingData

__all__ = [
    "FTestChoice",
    "FTestFound",
    "choose_f_test",
    "choose_level",
    "draw_folds",
]


@dataclass(frozen=True)
class FTestChoice:
    """Levels to choose from, and how.

    Attributes
    ----------
    levels : tuple of float
        In the order in which they are tried; a later one wins only if it is better.
    n_folds : int
        Folds of the cross-validation without validation rows.
    validation : tuple (X, Y), optional
        Rows to choose on.
    """

    levels: tuple[float, ...]
    n_folds: int
    validation: tuple[Any, sparse.csr_array[np.int32]] | None


@dataclass(frozen=True)
class FTestFound:
    """The chosen level, every level's score, and the plan and the rows for the final tree."""

    plan: GrowthPlan
    level: float
    scores: dict[float, float]
    data: TrainingData


def choose_f_test(
    plan: GrowthPlan,
    choice: FTestChoice,
    random: RandomState,
    data: TrainingData,
) -> FTestFound:
    """Score every level by pooled AU(PRC) on rows that its trees have not seen.

    Parameters
    ----------
    plan : GrowthPlan
        How trees grow, but for the level.
    choice : FTestChoice
        The levels, and on which rows to choose.
    random : RandomState
        Draws the folds.
    data : TrainingData
        What to learn from.

    Returns
    -------
    FTestFound
        The best level; with validation rows, the data of the final tree includes them.
    """
    n_rows = data.n_rows
    if choice.validation is not None:
        data = data.with_rows(*choice.validation)
        held_out = [np.arange(n_rows, data.n_rows)]
    else:
        held_out = draw_folds(n_rows, choice.n_folds, plan, random)
    return choose_level(plan, choice.levels, held_out, data)


def choose_level(
    plan: GrowthPlan,
    levels: tuple[float, ...],
    held_out: list[NDArray[np.int64]],
    data: TrainingData,
) -> FTestFound:
    """Score every level on held-out rows, by trees that grow on the others.

    Parameters
    ----------
    plan : GrowthPlan
        How trees grow, but for the level.
    levels : tuple of float
        In the order in which they are tried; a later one wins only if it is better.
    held_out : list of ndarray of int
        Row numbers, for each tree those that it does not see.
    data : TrainingData
        What to learn from.

    Returns
    -------
    FTestFound
        The best level.
    """
    plan = data.find_sets(plan)
    known = np.arange(data.n_rows) if data.rows is None else data.rows
    seen = [np.setdiff1d(known, test, assume_unique=True) for test in held_out]
    unseen = [data.by_rows[test] for test in held_out]
    truth = data.Y[np.concatenate(held_out)]
    scores: dict[float, float] = {}
    best = levels[0]
    for level in levels:
        predicted = np.zeros(truth.shape)
        start = 0
        for rows, X in zip(seen, unseen, strict=True):
            tree = data.grow(plan.with_f_test(level), rows)
            part = predicted[start : start + X.shape[0]]
            predict_tree(tree, X, part, clus=plan.clus is not None)
            start += X.shape[0]
        scores[level] = float(pooled_auprc(truth, predicted))
        if scores[level] > scores[best] + 1e-16:
            best = level
    return FTestFound(plan.with_f_test(best), best, scores, data)


def draw_folds(
    n_rows: int, n_folds: int, plan: GrowthPlan, random: RandomState
) -> list[NDArray[np.int64]]:
    """Divide rows into the folds of an internal cross-validation.

    Parameters
    ----------
    n_rows : int
        How many there are.
    n_folds : int
        Into how many parts.
    plan : GrowthPlan
        Whether CLUS's folds are wanted.
    random : RandomState
        Draws the folds otherwise.

    Returns
    -------
    list of ndarray of int
        Each part's rows.
    """
    if n_rows < n_folds:
        raise ValueError(
            f"cv is {n_folds}, but there are {n_rows} rows. Take fewer folds, or one "
            "level for f_test instead of a list."
        )
    if plan.clus is not None:
        return clus_folds(n_rows, n_folds)
    folds = KFold(n_folds, shuffle=True, random_state=random)
    return [test for _, test in folds.split(np.empty((n_rows, 1)))]
