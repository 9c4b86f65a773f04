"""Grow the trees and forests of a settings file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import delayed
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core
from ramify._parallel import in_parallel
from ramify.apps.clus.data import Rows
from ramify.apps.clus.trees import node_rows, sign_zeros
from ramify.data.features import FeatureSchema
from ramify.trees.clus import clus_folds
from ramify.trees.growing import grow, grow_member, grow_members
from ramify.trees.java_random import JavaRandom
from ramify.trees.options import TreeOptions
from ramify.trees.sampling import Sampling
from ramify.trees.target_regressors import prune_m5
from ramify.trees.tree_data import LabelTargets, TableTargets, TreeData
from ramify.trees.views import change_tree

__all__ = [
    "ForestPlan",
    "Learner",
    "fold_splits",
]


Measure = Callable[[sparse.csr_array, NDArray[np.float64]], float]
Predict = Callable[[_core.Tree, object], NDArray[np.float64]]


@dataclass(frozen=True)
class ForestPlan:
    """How to grow a forest."""

    n_trees: int  # number of trees
    seed: int  # randomSeed
    # Number of rows to draw for each tree; 0 means as many as there are, and None means all rows.
    n_draws: int | None
    max_features: int  # number of features to draw; 0 means all
    # Whether to draw the features once for each tree instead of at each node.
    per_tree: bool = False


def grow_forest(
    data: TreeData,
    options: TreeOptions,
    sampling: Sampling,
    seeds: list[int],
    wanted: ForestPlan,
) -> list[_core.Tree]:
    """Grow the trees of a forest."""
    if wanted.per_tree:
        tasks = (
            delayed(_grow_in_subspace)(data, options, sampling, seed, wanted.max_features)
            for seed in seeds
        )
        trees = list(in_parallel(tasks, n_jobs=options.n_jobs, prefer="threads", shared=[data]))
    else:
        chosen = replace(options, max_features=wanted.max_features or None)
        trees = grow_members(data, chosen, sampling, seeds, n_jobs=options.n_jobs)

    def rows_of(at: int) -> NDArray[np.int64]:
        counts, _ = sampling.draw(seeds[at])
        return np.arange(len(data.X)) if counts is None else np.flatnonzero(counts)

    return sign_zeros(trees, data.X, rows_of)


def _grow_in_subspace(
    data: TreeData, options: TreeOptions, sampling: Sampling, seed: int, n_features: int
) -> _core.Tree:
    """Grow a tree on features that the generator of the bootstrap draws next."""
    _, state = sampling.draw(seed)
    features = draw_features(state, data.X.shape[1], n_features)
    schema = FeatureSchema(data.schema.n_categories[features], {})
    tree = grow_member(data.with_features(data.X[:, features], schema), options, sampling, seed)
    feature = np.where(tree.feature < 0, tree.feature, features[tree.feature])
    return change_tree(tree, feature=feature.astype(np.int32))


def draw_features(state: int, n_features: int, n_wanted: int) -> NDArray[np.int64]:
    """Draw distinct features.

    Returns: the features, in increasing order.

    Examples
    --------
    >>> from ramify.trees.java_random import JavaRandom
    >>> draw_features(JavaRandom(0).state, 10, 4)
    array([0, 7, 8, 9])
    """
    random = JavaRandom.from_state(state)
    drawn: set[int] = set()
    while len(drawn) < n_wanted:
        drawn.add(random.next_int(n_features))
    return np.array(sorted(drawn), dtype=np.int64)


@dataclass(frozen=True)
class Learner:
    """Grows the trees of a run."""

    options: TreeOptions  # how to grow a tree
    schema: FeatureSchema  # which features are nominal
    describe: Callable[[Rows], LabelTargets | TableTargets]  # returns the targets of rows
    pruning: str | None = None  # the method for the pruned tree
    prune_factor: float = 0.0  # the factor of method "m5"

    def data(self, rows: Rows) -> TreeData:
        """Return the training data."""
        return TreeData(rows.X, self.schema, self.describe(rows), rows.weights, clus=True)

    def grow(self, rows: Rows, f_test: float) -> _core.Tree:
        """Grow a tree."""
        tree = grow(self.data(rows), replace(self.options, f_test=f_test))
        return sign_zeros([tree], rows.X)[0]

    def grow_pruned(self, rows: Rows, f_test: float) -> _core.Tree | None:
        """Grow a tree and prune it; None without pruning."""
        if self.pruning is None:
            return None
        tree = grow(self.data(rows), replace(self.options, f_test=f_test, pruning=self.pruning))
        if self.pruning == "m5":
            tree = prune_m5(tree, self.prune_factor)
        return sign_zeros([tree], rows.X)[0]

    def root(self, rows: Rows) -> _core.Tree:
        """Return the tree that consists of the root, the model Default."""
        return grow(self.data(rows), replace(self.options, max_depth=0, f_test=None))

    def forest(self, rows: Rows, wanted: ForestPlan) -> tuple[list[_core.Tree], NDArray[np.uint8]]:
        """Grow a forest; return the trees and which rows each tree did not draw."""
        data = self.data(rows)
        sampling, seeds = self._sampling(data, wanted)
        return grow_forest(data, self.options, sampling, seeds, wanted), sampling.left_out(seeds)

    def _sampling(self, data: TreeData, wanted: ForestPlan) -> tuple[Sampling, list[int]]:
        n_draws = wanted.n_draws if wanted.n_draws != 0 else data.n_rows
        sampling = self.options.conventions.sampling(n_draws, data.targets.known)
        return sampling, sampling.seeds(wanted.seed, wanted.n_trees)

    def squares(
        self, rows: Rows, wanted: ForestPlan, trees: list[_core.Tree]
    ) -> list[NDArray[np.float64]]:
        """Return the sum of squares of the labels at every node, summed in the order of CLUS."""
        data = self.data(rows)
        sampling, seeds = self._sampling(data, wanted)
        weights: Any = data.targets.weights
        found = []
        for grown, seed in zip(trees, seeds, strict=True):
            counts, _ = sampling.draw(seed)
            drawn = np.ones(len(rows)) if counts is None else counts.astype(np.float64)
            drawn = np.where(data.targets.known, drawn * rows.weights, 0.0)
            inside = np.flatnonzero(drawn > 0).astype(np.int64)
            own = np.zeros(len(grown.feature))
            for node, some, weight in node_rows(grown, rows.X, drawn[inside], inside):
                own[node] = _sum_of_squares(rows.y[some], weight, weights)
            found.append(own)
        return found

    def choose_f_test(
        self,
        levels: tuple[float, ...],
        splits: list[tuple[Rows, Rows]],
        predict: Predict,
        measure: Measure,
    ) -> float:
        """Choose the level of the F-test with the best measure on held-out rows."""
        truth = sparse.csr_array(sparse.vstack([unseen.y for _, unseen in splits]))
        best, best_score = levels[0], -np.inf
        for level in levels:
            parts = [predict(self.grow(seen, level), unseen.X) for seen, unseen in splits]
            score = measure(truth, np.concatenate(parts))
            if score > best_score + 1e-16:
                best, best_score = level, score
        return best


def _sum_of_squares(
    Y: sparse.csr_array[np.int32], weight: NDArray[np.float64], label_weights: NDArray[np.float64]
) -> float:
    repeated = np.repeat(weight, np.diff(Y.indptr))
    sums = np.bincount(Y.indices, weights=repeated, minlength=len(label_weights))
    total = np.cumsum(weight)[-1]
    return float(np.cumsum(label_weights * (sums - sums * sums / total))[-1]) / len(label_weights)


def fold_splits(n_rows: int, n_folds: int) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return the training and test rows of each fold, as CLUS draws them.

    Examples
    --------
    >>> [len(train) for train, _ in fold_splits(10, 3)]
    [7, 7, 6]
    """
    rows = np.arange(n_rows, dtype=np.int64)
    return [(np.setdiff1d(rows, test), test) for test in clus_folds(n_rows, n_folds)]
