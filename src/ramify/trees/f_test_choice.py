"""Choose the level of the F-test by internal cross-validation or on validation rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy import sparse

from ramify.metrics import pooled_auprc
from ramify.trees.growing import grow
from ramify.trees.options import TreeOptions
from ramify.trees.tree_data import TreeData, ValidationRows
from ramify.trees.views import predict_tree

Split = tuple[NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True)
class FTestChoice:
    """The levels to choose from, and the rows to choose on."""

    # The levels, in the order in which they are tried. The first of several best levels wins.
    levels: tuple[float, ...]
    cv: Any  # the cross-validation to use without validation rows
    validation: ValidationRows | None


@dataclass(frozen=True)
class FTestFound:
    """The chosen level, the score of every level, and the options and data of the final tree."""

    level: float
    scores: dict[float, float]
    options: TreeOptions
    data: TreeData


def choose_f_test(
    options: TreeOptions,
    choice: FTestChoice,
    random: RandomState,
    data: TreeData,
) -> FTestFound:
    """Choose the level with the highest pooled AU(PRC) on held-out rows."""
    n_rows = data.n_rows
    if choice.validation is not None:
        data = data.with_rows(choice.validation)
        splits = [(np.arange(n_rows), np.arange(n_rows, data.n_rows))]
        return choose_level(options, choice.levels, splits, data, choice.validation.weights)
    splits = draw_splits(np.arange(n_rows), choice.cv, options, random, data.Y)
    return choose_level(options, choice.levels, splits, data)


def choose_level(
    options: TreeOptions,
    levels: tuple[float, ...],
    splits: list[Split],
    data: TreeData,
    weights: NDArray[np.float64] | None = None,
) -> FTestFound:
    """Choose the level whose trees have the highest pooled AU(PRC) on held-out rows.

    `weights`: those of the held-out rows, in the order of the splits.
    """
    unseen = [data.by_rows[test] for _, test in splits]
    truth = data.Y[np.concatenate([test for _, test in splits])]
    scores: dict[float, float] = {}
    best = levels[0]
    for level in levels:
        predicted = np.zeros(truth.shape)
        start = 0
        for (train, _), X in zip(splits, unseen, strict=True):
            tree = grow(data, replace(options, f_test=level), train)
            part = predicted[start : start + X.shape[0]]
            predict_tree(tree, X, part, clus=options.conventions.clus)
            start += X.shape[0]
        scores[level] = float(pooled_auprc(truth, predicted, sample_weight=weights))
        if scores[level] > scores[best] + 1e-16:
            best = level
    return FTestFound(best, scores, replace(options, f_test=best), data)


def count_folds(cv: Any) -> int:
    """Return the minimum number of rows for a cross-validation: its number of folds, or 2."""
    return int(cv) if isinstance(cv, int | np.integer) else int(getattr(cv, "n_splits", 2))


def draw_splits(
    rows: NDArray[np.int64],
    cv: Any,
    options: TreeOptions,
    random: RandomState,
    Y: sparse.csr_array[np.int32],
) -> list[Split]:
    """Split rows into training and test rows for internal cross-validation.

    `rows`: the row indices, in increasing order.
    Returns: row indices, in increasing order.
    """
    from sklearn.model_selection import check_cv  # noqa: PLC0415 (slow, seldom used)

    n_rows = len(rows)
    if not isinstance(cv, int | np.integer):
        found = check_cv(cv).split(np.empty((n_rows, 1)), Y[rows])
        return [(np.sort(rows[train]), np.sort(rows[test])) for train, test in found]
    if n_rows < cv:
        raise ValueError(
            f"cv must be at most the number of rows, {n_rows}, got {cv}. Use fewer folds, or a "
            "single value instead of a list to choose from."
        )
    tests = [rows[fold] for fold in options.conventions.folds(n_rows, int(cv), random)]
    return [(np.setdiff1d(rows, test, assume_unique=True), test) for test in tests]
