"""Growing a tree from histograms that are summed over partitions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify import _core

Counting = Callable[["BinnedTree", list[int]], NDArray[np.int64]]


@dataclass(frozen=True)
class Growth:
    """What limits the growth of a tree, and how histograms are read."""

    edges: _core.BinEdges  # the bins of all features
    bits: tuple[int, int, int]  # the bits after the point of sketches, weights and sums in leaves
    max_depth: int  # as in `GradientBoostingOptions` of the core
    max_leaf_nodes: int
    min_samples_leaf: int
    l2_regularization: float
    n_threads: int  # number of threads of the search


@dataclass
class BinnedTree:
    """A tree over bins, in the order in which its nodes were made: children after parents."""

    # The tested feature of each node; -1 in leaves.
    feature: list[int] = field(default_factory=list)
    # The bins that take the first branch, one bit each.
    words: list[NDArray[np.uint64]] = field(default_factory=list)
    # The last bin of the first branch, for numeric features.
    cut: list[int] = field(default_factory=list)
    gain: list[float] = field(default_factory=list)  # gains of the tests
    # The first child of each node, followed by the second; -1 in leaves.
    yes: list[int] = field(default_factory=list)

    def add_leaf(self) -> int:
        """Add a leaf and return its number."""
        self.feature.append(-1)
        self.words.append(np.zeros(4, dtype=np.uint64))
        self.cut.append(0)
        self.gain.append(0.0)
        self.yes.append(-1)
        return len(self.feature) - 1

    @property
    def leaves(self) -> NDArray[np.int64]:
        """The nodes without a test."""
        return np.flatnonzero(np.array(self.feature) < 0)

    def divisions(self) -> dict[str, NDArray[Any]]:
        """Return the tests so far, in the order in which nodes were divided."""
        nodes = [node for node in range(len(self.feature)) if self.feature[node] >= 0]
        nodes.sort(key=lambda node: self.yes[node])
        return {
            "node": np.array(nodes, dtype=np.int64),
            "feature": np.array([self.feature[node] for node in nodes], dtype=np.int32),
            "words": np.array([self.words[node] for node in nodes], np.uint64).reshape(-1, 4),
            "yes": np.array([self.yes[node] for node in nodes], dtype=np.int64),
        }

    def record(self, values: NDArray[np.float32]) -> dict[str, NDArray[Any]]:
        """Return the tree in the form that partitions need to add `values`, by leaf and output."""
        leaf = np.full(len(self.feature), -1, dtype=np.int32)
        leaf[self.leaves] = np.arange(len(self.leaves))
        return {
            "feature": np.array(self.feature, dtype=np.int32),
            "words": np.array(self.words, dtype=np.uint64),
            "yes": np.array(self.yes, dtype=np.int32),
            "leaf": leaf,
            "value": values,
        }


@dataclass(eq=False)
class _Open:
    """A node that may be divided."""

    number: int
    depth: int
    n_rows: int
    histogram: NDArray[np.int64] | None = None
    split: dict[str, Any] | None = None


def grow_tree(growth: Growth, features: NDArray[np.int32], count: Counting) -> BinnedTree:
    """Grow one tree that tests some features, in increasing order."""
    tree = BinnedTree()
    root = _Open(tree.add_leaf(), 0, 2 * growth.min_samples_leaf)
    if not len(features) or not _may_be_divided(root, growth):
        return tree
    root.histogram = count(tree, [0])[0]
    _search(root, growth, features)
    waiting = [root] if root.split else []
    n_leaves = 1
    best_first = growth.max_leaf_nodes > 0
    while waiting and not (best_first and n_leaves >= growth.max_leaf_nodes):
        chosen = waiting
        if best_first:  # the largest gain; of equal ones, the node that was made first
            chosen = [max(waiting, key=lambda node: (_gain(node), -node.number))]
        waiting = [node for node in waiting if node not in chosen]
        families = [(node, _divide(tree, node)) for node in chosen]
        n_leaves += len(families)
        _count_children(tree, families, growth, count)
        for _, children in families:
            for child in children:
                if child.histogram is not None and _may_be_divided(child, growth):
                    _search(child, growth, features)
                if child.split:
                    waiting.append(child)
                else:
                    child.histogram = None
    return tree


def _gain(node: _Open) -> float:
    return 0.0 if node.split is None else float(node.split["gain"])


def _may_be_divided(node: _Open, growth: Growth) -> bool:
    return node.depth < growth.max_depth and node.n_rows >= 2 * growth.min_samples_leaf


def _search(node: _Open, growth: Growth, features: NDArray[np.int32]) -> None:
    assert node.histogram is not None  # noqa: S101 (for the type checker)
    found: Any = _core.find_exact_splits(
        growth.edges,
        features,
        node.histogram[None],
        growth.bits,
        growth.min_samples_leaf,
        growth.l2_regularization,
        growth.n_threads,
    )
    node.n_rows = int(found["rows"][0])
    if found["feature"][0] >= 0:
        node.split = {
            "feature": int(found["feature"][0]),
            "words": found["words"],
            "cut": int(found["cut"][0]),
            "gain": float(found["gain"][0]),
            "rows_yes": int(found["rows_yes"][0]),
        }


def _divide(tree: BinnedTree, node: _Open) -> list[_Open]:
    """Add the children of a node to the tree; return the one with fewer rows first."""
    split = node.split
    assert split is not None  # noqa: S101 (for the type checker)
    yes, no = tree.add_leaf(), tree.add_leaf()
    tree.feature[node.number] = split["feature"]
    tree.words[node.number] = split["words"]
    tree.cut[node.number] = split["cut"]
    tree.gain[node.number] = split["gain"]
    tree.yes[node.number] = yes
    rows_no = node.n_rows - split["rows_yes"]
    children = [
        _Open(yes, node.depth + 1, split["rows_yes"]),
        _Open(no, node.depth + 1, rows_no),
    ]
    return sorted(children, key=lambda child: child.n_rows)


def _count_children(
    tree: BinnedTree, families: list[tuple[_Open, list[_Open]]], growth: Growth, count: Counting
) -> None:
    """Count the smaller child of each node, and subtract it from the parent to get the other."""
    wanted = [
        (parent, children)
        for parent, children in families
        if any(_may_be_divided(child, growth) for child in children)
    ]
    if not wanted:
        return
    counted = count(tree, [children[0].number for _, children in wanted])
    for histogram, (parent, (smaller, larger)) in zip(counted, wanted, strict=True):
        smaller.histogram = histogram
        if _may_be_divided(larger, growth):
            assert parent.histogram is not None  # noqa: S101 (for the type checker)
            larger.histogram = parent.histogram - histogram
        parent.histogram = None


def describe_tree(
    tree: BinnedTree,
    edges: _core.BinEdges,
    values: NDArray[np.float32],
    leaf_weights: NDArray[np.float64],
) -> dict[str, Any]:
    """Return a tree as the arrays of `BoostedTrees`, with nodes in depth-first order."""
    n_nodes = len(tree.feature)
    weights = np.zeros(n_nodes)
    weights[tree.leaves] = leaf_weights
    for node in reversed(range(n_nodes)):
        if tree.feature[node] >= 0:
            weights[node] = weights[tree.yes[node]] + weights[tree.yes[node] + 1]
    order, stack = [], [0]
    while stack:
        node = stack.pop()
        order.append(node)
        if tree.feature[node] >= 0:
            stack += [tree.yes[node] + 1, tree.yes[node]]
    place = np.empty(n_nodes, dtype=np.int32)
    place[order] = np.arange(n_nodes)
    tests = [_describe_test(tree, node, edges) for node in order]
    is_leaf = np.array([tree.feature[node] < 0 for node in order])
    yes = np.array([tree.yes[node] for node in order])
    number = np.zeros(n_nodes, dtype=np.int64)
    number[tree.leaves] = np.arange(len(tree.leaves))
    categories = [codes for _, _, codes in tests]
    return {
        "feature": np.array([tree.feature[node] for node in order], dtype=np.int32),
        "threshold": np.array([threshold for threshold, _, _ in tests], dtype=np.float64),
        "missing_yes": np.array([missing for _, missing, _ in tests], dtype=np.uint8),
        "yes": np.where(is_leaf, -1, place[yes]).astype(np.int32),
        "no": np.where(is_leaf, -1, place[np.where(is_leaf, 0, yes + 1)]).astype(np.int32),
        "gain": np.array([tree.gain[node] for node in order], dtype=np.float64),
        "weight": weights[order],
        "category_indptr": np.cumsum([0, *map(len, categories)], dtype=np.int64),
        "category_yes": np.concatenate(categories).astype(np.uint8),
        "leaf": np.where(is_leaf, np.cumsum(is_leaf) - 1, -1).astype(np.int32),
        "value": values[number[np.array(order)[is_leaf]]].ravel(),
    }


def _describe_test(
    tree: BinnedTree, node: int, edges: _core.BinEdges
) -> tuple[float, bool, NDArray[np.uint8]]:
    """Return the threshold of a node, and the branches of missing values and of each category."""
    nothing = np.zeros(0, dtype=np.uint8)
    if tree.feature[node] < 0:
        return 0.0, False, nothing
    state: Any = edges.state(tree.feature[node])
    nominal, n_bins, thresholds, bin_of_code = state
    takes_yes = np.unpackbits(tree.words[node].view(np.uint8), bitorder="little")
    missing = bool(takes_yes[n_bins])
    if nominal:
        return 0.0, missing, takes_yes[bin_of_code]
    cut = tree.cut[node]
    # The last cut separates all values from missing ones.
    return float(thresholds[cut]) if cut < len(thresholds) else -np.inf, missing, nothing
