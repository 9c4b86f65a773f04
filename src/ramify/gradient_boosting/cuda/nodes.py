"""The nodes of a tree that is grown on the GPU."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["GrownTree", "Node", "Split"]


@dataclass(frozen=True)
class Split:
    """A test: rows whose bin of a feature is in a set take the first branch."""

    feature: int
    gain: float
    cut: int  # numeric features: the last bin of the first branch
    bins: NDArray[np.uint64]  # the set, as four words


@dataclass
class Node:
    """A node, and the range of its rows."""

    begin: int
    end: int
    depth: int
    weight: float = 0.0
    split: Split | None = None  # the best one, also for leaves that are not split
    yes: int = -1  # children; -1 in leaves
    no: int = -1

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.end - self.begin

    @property
    def gain(self) -> float:
        """The gain of the best test; 0 if there is none."""
        return self.split.gain if self.split else 0.0


@dataclass
class GrownTree:
    """The nodes of a tree, children after their parents, and its rows, leaf by leaf."""

    nodes: list[Node]
    rows: Any

    @property
    def leaves(self) -> list[int]:
        """The numbers of the leaves."""
        return [i for i, node in enumerate(self.nodes) if node.yes < 0]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the parts of the nodes as arrays, as `BoostingPlan.append_grown` expects them."""
        nodes = self.nodes
        leaf = np.full(len(nodes), -1, dtype=np.int32)
        leaf[self.leaves] = np.arange(len(self.leaves))
        splits = [node.split if node.yes >= 0 else None for node in nodes]
        no_bins = np.zeros(4, dtype=np.uint64)
        return {
            "feature": np.array([s.feature if s else -1 for s in splits], dtype=np.int32),
            "gain": np.array([s.gain if s else 0.0 for s in splits]),
            "cut": np.array([s.cut if s else 0 for s in splits], dtype=np.int32),
            "sets": np.array([s.bins if s else no_bins for s in splits]),
            "yes": np.array([node.yes for node in nodes], dtype=np.int32),
            "no": np.array([node.no for node in nodes], dtype=np.int32),
            "weight": np.array([node.weight for node in nodes]),
            "leaf": leaf,
        }
