"""Choosing the level of a tree's F-test, by internal cross-validation or on validation rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import KFold

from ramify._features import FeatureSchema, make_dataset
from ramify._growing import GrowthPlan, predict_tree
from ramify._java_random import clus_folds
from ramify.metrics import pooled_auprc

__all__ = ["FTestChoice", "FTestFound", "choose_f_test"]


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
    X: Any
    Y: sparse.csr_array[np.int32]
    weights: NDArray[np.float64]


def choose_f_test(
    plan: GrowthPlan,
    choice: FTestChoice,
    random: RandomState,
    *,
    X: Any,
    schema: FeatureSchema,
    Y: sparse.csr_array[np.int32],
    label_weights: NDArray[np.float64],
    weights: NDArray[np.float64],
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
    X, schema, Y, label_weights, weights
        The training data as `GrowthPlan.grow` takes it.

    Returns
    -------
    FTestFound
        The best level; with validation rows, the data of the final tree includes them.
    """
    if choice.validation is not None:
        X_valid, Y_valid = choice.validation
        held_out = [np.arange(X.shape[0], X.shape[0] + Y_valid.shape[0])]
        X = _stacked(X, X_valid)
        Y = _stacked(Y, Y_valid)
        weights = np.concatenate([weights, np.ones(Y_valid.shape[0])])
    else:
        held_out = _folds(X.shape[0], choice.n_folds, plan, random)
    plan = plan.with_sets(Y, label_weights)
    dataset = make_dataset(X, schema, clus=plan.clus is not None)
    rows_of_X = _by_rows(X)
    order = np.concatenate(held_out)
    scores: dict[float, float] = {}
    best = choice.levels[0]
    for level in choice.levels:
        predicted = np.zeros((len(order), Y.shape[1]))
        start = 0
        for test in held_out:
            rows = np.setdiff1d(np.arange(X.shape[0]), test)
            tree = plan.with_f_test(level).grow(dataset, Y, label_weights, weights, rows)
            part = predicted[start : start + len(test)]
            predict_tree(tree, rows_of_X[test], part, clus=plan.clus is not None)
            start += len(test)
        scores[level] = float(pooled_auprc(Y[order], predicted))
        if scores[level] > scores[best] + 1e-16:
            best = level
    return FTestFound(plan.with_f_test(best), best, scores, X, Y, weights)


def _folds(
    n_rows: int, n_folds: int, plan: GrowthPlan, random: RandomState
) -> list[NDArray[np.int64]]:
    if n_rows < n_folds:
        raise ValueError(
            f"f_test_folds is {n_folds}, but there are {n_rows} rows. Take fewer folds, or one "
            "level for f_test instead of a list."
        )
    if plan.clus is not None:
        return clus_folds(n_rows, n_folds)
    folds = KFold(n_folds, shuffle=True, random_state=random)
    return [test for _, test in folds.split(np.empty((n_rows, 1)))]


def _by_rows(X: Any) -> Any:
    """Return X in a layout whose rows can be picked."""
    return cast("Any", X).tocsr() if sparse.issparse(X) else X


def _stacked(first: Any, second: Any) -> Any:
    stack: Any = sparse.vstack if sparse.issparse(first) else np.vstack
    return stack([first, second])
