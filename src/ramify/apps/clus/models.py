"""The models of a settings file, and what was learned with them."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify import _core
from ramify.apps.clus.trees import TreeSize, measure_tree

__all__ = [
    "Learned",
    "Model",
    "describe",
]


# CLUS draws no targets for RSubspaces, but reports on them.
_NO_TARGETS = (
    "\t\tTarget coverage: null",
    "\t\tTarget coverage normalized: null",
    "\t\tAverage number of targets used per tree: 0.0 | "
    "Average percentage of targets used per tree: 0.0%",
)


@dataclass(frozen=True)
class Model:
    """A model of a run."""

    name: str  # default, Original, Pruned, ``T(30.0)`` or ``Forest with 50 trees``
    trees: list[_core.Tree] = field(repr=False)  # its trees
    is_forest: bool = False  # whether it is an ensemble
    threshold: float | None = None  # threshold in percent of a model that predicts label sets
    # Whether CLUS reports the number and the sizes of the trees of a forest. It reports 0 trees
    # for the methods RSubspaces and RFeatSelection.
    is_counted: bool = True
    in_subspaces: bool = False  # whether the method is RSubspaces

    @property
    def n_reported(self) -> int:
        """The number of trees that CLUS reports."""
        return len(self.trees) if self.is_counted else 0

    @property
    def sizes(self) -> list[TreeSize]:
        """The sizes of its trees."""
        return [measure_tree(tree) for tree in self.trees]


def describe(model: Model, *, members: bool) -> list[str]:
    """Return the lines about the size of a model."""
    sizes = model.sizes
    if not model.is_forest:
        return [f"     {model.name}: {sizes[0]}"]
    sizes = sizes[: model.n_reported]
    nodes, leaves = sum(s.nodes for s in sizes), sum(s.leaves for s in sizes)
    depth = _mean_depth([s.depth for s in sizes])
    lines = [
        f"     {model.name}: FOREST with {len(sizes)} models (Total nodes: {nodes}; "
        f"leaves: {leaves}; average tree depth: {depth})"
    ]
    if members:
        lines += [f"\t\tModel {at}: {size}" for at, size in enumerate(sizes, 1)]
    return lines + (list(_NO_TARGETS) if model.in_subspaces else [])


def _mean_depth(depths: list[int]) -> str:
    """Return the mean with one decimal, halves rounded up as in Java.

    Examples
    --------
    >>> _mean_depth([6, 6, 6, 7]), _mean_depth([])
    ('6.3', 'NaN')
    """
    if not depths:
        return "NaN"
    mean = Decimal(sum(depths) / len(depths))
    return str(mean.quantize(Decimal("0.1"), rounding=ROUND_HALF_UP))


# ---- what a run has learned -----------------------------------------------------------------


@dataclass(frozen=True)
class Learned:
    """The models of one run."""

    models: list[Model]  # the models, in the order in which they are reported
    shown: list[Model]  # those that are printed
    train: Any  # the rows that the models were grown on
    prune: Any  # validation rows that the models were not grown on
    f_test: float  # level of the F-test
    seconds: float  # times of growing and pruning
    pruning_seconds: float = 0.0
    left_out: NDArray[np.uint8] | None = None  # for a forest, which rows each tree did not draw
    # For a ranked forest, the sum of squares of every node of each tree.
    squares: list[NDArray[np.float64]] | None = None
