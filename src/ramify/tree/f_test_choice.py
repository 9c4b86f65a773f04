"""Choosing the level of a tree's F-test, by internal cross-validation or on validation rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import KFold, check_cv

from ramify.metrics import pooled_auprc
from ramify.tree.java_random import clus_folds
from ramify.tree.plan import GrowthPlan, predict_tree
from ramify.tree.training_data import TrainingData

__all__ = [
    "FTestChoice",
    "FTestFound",
    "choose_f_test",
    "choose_level",
    "count_folds",
    "draw_splits",
]

Split = tuple[NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True)
class FTestChoice:
    """Levels to choose from, and how.

    Attributes
    ----------
    levels : tuple of float
        In the order in which they are tried; a later one wins only if it is better.
    cv : int, splitter or iterable of (train, test)
        Folds of the cross-validation without validation rows.
    validation : tuple (X, Y), optional
        Rows to choose on.
    """

    levels: tuple[float, ...]
    cv: Any
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
        splits = [(np.arange(n_rows), np.arange(n_rows, data.n_rows))]
    else:
        splits = draw_splits(np.arange(n_rows), choice.cv, plan, random, data.Y)
    return choose_level(plan, choice.levels, splits, data)


def choose_level(
    plan: GrowthPlan,
    levels: tuple[float, ...],
    splits: list[Split],
    data: TrainingData,
) -> FTestFound:
    """Score every level on held-out rows, by trees that grow on the others.

    Parameters
    ----------
    plan : GrowthPlan
        How trees grow, but for the level.
    levels : tuple of float
        In the order in which they are tried; a later one wins only if it is better.
    splits : list of (train, test)
        Row numbers: for each tree those that it learns from, and those that it is scored on.
    data : TrainingData
        What to learn from.

    Returns
    -------
    FTestFound
        The best level.
    """
    plan = data.find_sets(plan)
    unseen = [data.by_rows[test] for _, test in splits]
    truth = data.Y[np.concatenate([test for _, test in splits])]
    scores: dict[float, float] = {}
    best = levels[0]
    for level in levels:
        predicted = np.zeros(truth.shape)
        start = 0
        for (train, _), X in zip(splits, unseen, strict=True):
            tree = data.grow(plan.with_f_test(level), train)
            part = predicted[start : start + X.shape[0]]
            predict_tree(tree, X, part, clus=plan.clus is not None)
            start += X.shape[0]
        scores[level] = float(pooled_auprc(truth, predicted))
        if scores[level] > scores[best] + 1e-16:
            best = level
    return FTestFound(plan.with_f_test(best), best, scores, data)


def count_folds(cv: Any) -> int:
    """Return how many rows a cross-validation needs at least: its number of folds, if known."""
    return int(cv) if isinstance(cv, int | np.integer) else int(getattr(cv, "n_splits", 2))


def draw_splits(
    rows: NDArray[np.int64],
    cv: Any,
    plan: GrowthPlan,
    random: RandomState,
    Y: sparse.csr_array[np.int32],
) -> list[Split]:
    """Divide rows into the training and test rows of an internal cross-validation.

    Parameters
    ----------
    rows : ndarray of int
        The rows, increasing.
    cv : int, splitter or iterable of (train, test)
        The number of folds, or how to split the rows.
    plan : GrowthPlan
        Whether CLUS's folds are wanted.
    random : RandomState
        Draws the folds if `cv` is a number.
    Y : csr_array of shape (n, n_labels)
        The labels of all rows.

    Returns
    -------
    list of (train, test)
        Row numbers, increasing.
    """
    n_rows = len(rows)
    if not isinstance(cv, int | np.integer):
        found = check_cv(cv).split(np.empty((n_rows, 1)), Y[rows])
        return [(np.sort(rows[train]), np.sort(rows[test])) for train, test in found]
    if n_rows < cv:
        raise ValueError(
            f"cv is {cv}, but there are {n_rows} rows. Take fewer folds, or one "
            "level for f_test instead of a list."
        )
    if plan.clus is not None:
        folds = clus_folds(n_rows, int(cv))
    else:
        drawn = KFold(int(cv), shuffle=True, random_state=random).split(np.empty((n_rows, 1)))
        folds = [test for _, test in drawn]
    tests = [rows[fold] for fold in folds]
    return [(np.setdiff1d(rows, test, assume_unique=True), test) for test in tests]
