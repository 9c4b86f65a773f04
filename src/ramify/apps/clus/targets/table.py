"""Code shared by nominal and numeric targets, which have one column of the data per target."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ramify import _core
from ramify.apps.clus.data import Rows
from ramify.apps.clus.learning import ForestPlan, grow_forest
from ramify.apps.clus.trees import sign_zeros
from ramify.apps.clus.values import numbers
from ramify.data.features import FeatureSchema
from ramify.trees.growing import grow
from ramify.trees.options import TreeOptions
from ramify.trees.target_regressors import prune_m5
from ramify.trees.tree_data import TableTargets, TreeData

__all__ = [
    "TableLearner",
]


_MOST_WEIGHTS = 10  # CLUS lists 6 weights, but not 14

Describe = Callable[[Rows], TableTargets]


@dataclass(frozen=True)
class TableLearner:
    """Grows trees for nominal or numeric targets."""

    options: TreeOptions  # how to grow a tree
    schema: FeatureSchema  # which features are nominal
    describe: Describe  # returns the targets of rows
    pruning: str | None = None  # the method for the pruned tree
    prune_factor: float = 0.0  # the factor of method "m5"

    def data(self, rows: Rows) -> TreeData:
        """Return the training data of the core."""
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
        return grow(self.data(rows), replace(self.options, max_depth=0))

    def forest(self, rows: Rows, wanted: ForestPlan) -> tuple[list[_core.Tree], NDArray[np.uint8]]:
        """Grow a forest; return the trees and which rows each tree did not draw."""
        data = self.data(rows)
        n_draws = wanted.n_draws if wanted.n_draws != 0 else len(rows)
        sampling = self.options.conventions.sampling(n_draws, data.targets.known)
        seeds = sampling.seeds(wanted.seed, wanted.n_trees)
        return grow_forest(data, self.options, sampling, seeds, wanted), sampling.left_out(seeds)


def error_line(name: str, text: str) -> str:
    """Return the line of a model in an error section."""
    return f"   {name:<14} : {text}"


def weights_text(weights: NDArray[np.float64]) -> str:
    """Return the weights of the targets, or only their number if there are many."""
    return numbers(weights, 3) if len(weights) <= _MOST_WEIGHTS else f"({len(weights)})"


def in_order(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum columns from the first row to the last, as a loop does."""
    return np.asarray(np.cumsum(values, axis=0)[-1])


def column_names(names: Sequence[str], values: Sequence[tuple[str, ...]]) -> list[str]:
    """Return a name for each value of each target."""
    return [f"{name}-{value}" for name, own in zip(names, values, strict=True) for value in own]
