"""Code shared by nominal and numeric targets, which have one column of the data per target."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify import _core
from ramify.apps.clus.data import Rows
from ramify.apps.clus.learning import ForestPlan, grow_forest
from ramify.apps.clus.tracing import sign_zeros
from ramify.apps.clus.values import numbers
from ramify.data.features import FeatureSchema
from ramify.trees.members import ClusSampling
from ramify.trees.target_data import TargetData, TargetPlan

__all__ = [
    "TableLearner",
]


_MOST_WEIGHTS = 10  # CLUS lists 6 weights, but not 14

Describe = Callable[[Rows], dict[str, Any]]


@dataclass(frozen=True)
class TableLearner:
    """Grows trees for nominal or numeric targets."""

    plan: TargetPlan  # how to grow a tree
    schema: FeatureSchema  # which features are nominal
    describe: Describe  # returns the fields of `TargetData` that describe the targets of rows
    # Prunes a tree grown with `inner_values`; None if growing prunes, or nothing does.
    prune: Callable[[_core.Tree], _core.Tree] | None = None
    confidence: float | None = None  # confidence of pessimistic pruning

    def data(self, rows: Rows) -> TargetData:
        """Return the training data of the core."""
        targets = self.describe(rows)
        return TargetData(rows.X, self.schema, weights=rows.weights, clus=True, **targets)

    def grow(self, rows: Rows, f_test: float) -> _core.Tree:
        """Grow a tree."""
        return sign_zeros([self.data(rows).grow(self._with_level(f_test))], rows.X)[0]

    def grow_pruned(self, rows: Rows, f_test: float) -> _core.Tree | None:
        """Grow a tree and prune it; None without pruning."""
        plan = self._with_level(f_test)
        if self.prune is not None:
            tree = self.prune(self.data(rows).grow(replace(plan, inner_values=True)))
        elif self.confidence is not None:
            tree = self.data(rows).grow(replace(plan, confidence=self.confidence))
        else:
            return None
        return sign_zeros([tree], rows.X)[0]

    def root(self, rows: Rows) -> _core.Tree:
        """Return the tree that consists of the root, the model Default."""
        return self.data(rows).grow(replace(self.plan, max_depth=0))

    def forest(self, rows: Rows, wanted: ForestPlan) -> tuple[list[_core.Tree], NDArray[np.uint8]]:
        """Grow a forest; return the trees and which rows each tree did not draw."""
        data = self.data(rows)
        n_draws = wanted.n_draws if wanted.n_draws != 0 else len(rows)
        sampling = ClusSampling(len(rows), n_draws, data.labelled)
        seeds = sampling.seeds(wanted.seed, wanted.n_trees)
        return grow_forest(data, self.plan, sampling, seeds, wanted), sampling.left_out(seeds)

    def _with_level(self, f_test: float) -> TargetPlan:
        return replace(self.plan, f_test=f_test)


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
