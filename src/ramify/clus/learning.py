"""Grow the trees and forests of targets that are sets of labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core
from ramify._base.features import FeatureSchema
from ramify.clus.data import Rows
from ramify.clus.forest_plan import ForestPlan, grow_forest
from ramify.clus.tracing import node_rows, sign_zeros
from ramify.forest.members import ClusSampling
from ramify.hierarchy.hierarchy import Hierarchy
from ramify.tree import PCTClassifier
from ramify.tree.java_random import clus_folds
from ramify.tree.parameters import plan_growth, weigh_labels
from ramify.tree.plan import GrowthPlan
from ramify.tree.training_data import TrainingData

__all__ = ["LabelLearner"]

Measure = Callable[[sparse.csr_array, NDArray[np.float64]], float]
Predict = Callable[[_core.Tree, object], NDArray[np.float64]]


@dataclass(frozen=True)
class LabelLearner:
    """Grows trees that predict sets of labels.

    Attributes
    ----------
    tree : PCTClassifier
        The parameters.
    hierarchy : Hierarchy
        The labels.
    schema : FeatureSchema
        Which features are nominal.
    """

    tree: PCTClassifier
    hierarchy: Hierarchy
    schema: FeatureSchema

    def data(self, rows: Rows) -> TrainingData:
        """Return the training data of the core."""
        label_weights = weigh_labels(self.tree, self.hierarchy, rows.y, rows.weights)
        return TrainingData(
            rows.X, self.schema, rows.y, rows.weights, label_weights, many=True, clus=True
        )

    def plan(self) -> GrowthPlan:
        """Return how to grow a tree."""
        n_features = len(self.schema.n_categories)
        return plan_growth(self.tree, self.hierarchy, n_features, single_label=False)

    def grow(self, rows: Rows, f_test: float) -> _core.Tree:
        """Grow a tree."""
        tree = self.data(rows).grow(self.plan().with_f_test(f_test))
        return sign_zeros([tree], rows.X)[0]

    def root(self, rows: Rows) -> _core.Tree:
        """Return the tree that consists of the root, the model Default."""
        return self.data(rows).grow(replace(self.plan(), max_depth=0, confidence=None))

    def forest(self, rows: Rows, wanted: ForestPlan) -> tuple[list[_core.Tree], NDArray[np.uint8]]:
        """Grow a forest.

        Returns
        -------
        trees : list of Tree
            The trees.
        left_out : ndarray of uint8, shape (n_trees, n)
            Which rows a tree did not draw.
        """
        sampling, seeds = self._sampling(rows, wanted)
        data = self.data(rows)
        plan = replace(data.find_sets(self.plan()), n_jobs=self.tree.n_jobs)
        return grow_forest(data, plan, sampling, seeds, wanted), sampling.left_out(seeds)

    def _sampling(self, rows: Rows, wanted: ForestPlan) -> tuple[ClusSampling, list[int]]:
        labelled = np.diff(rows.y.indptr) > 0
        n_draws = wanted.n_draws if wanted.n_draws != 0 else len(rows)
        sampling = ClusSampling(len(rows), n_draws, labelled)
        return sampling, sampling.seeds(wanted.seed, wanted.n_trees)

    def squares(
        self, rows: Rows, wanted: ForestPlan, trees: list[_core.Tree]
    ) -> list[NDArray[np.float64]]:
        """Return the sum of squares of every node of the trees, summed in the order of CLUS."""
        sampling, seeds = self._sampling(rows, wanted)
        weights = weigh_labels(self.tree, self.hierarchy, rows.y, rows.weights)
        found = []
        for tree, seed in zip(trees, seeds, strict=True):
            counts, _ = sampling.draw(seed)
            drawn = np.ones(len(rows)) if counts is None else counts.astype(np.float64)
            drawn = np.where(np.diff(rows.y.indptr) > 0, drawn * rows.weights, 0.0)
            inside = np.flatnonzero(drawn > 0).astype(np.int64)
            own = np.zeros(len(tree.feature))
            for node, some, weight in node_rows(tree, rows.X, drawn[inside], inside):
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
        """Choose the level of the F-test with the best measure on held-out rows.

        Parameters
        ----------
        levels : tuple of float
            The levels; the first of several best levels wins.
        splits : list of (Rows, Rows)
            Rows to learn from, and rows to evaluate.
        predict : callable
            Predicts rows with a tree.
        measure : callable
            Evaluates predictions for all held-out rows; higher is better.

        Returns
        -------
        float
            The best level.
        """
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
