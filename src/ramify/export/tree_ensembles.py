"""Models as a tree ensemble operator of ONNX, with one tree per tree of the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify import _core
from ramify.export.onnx_graph import INPUT, GraphBuilder


def add_ensemble(
    graph: GraphBuilder,
    trees: Sequence[TreeNodes],
    n_outputs: int,
    *,
    mean: bool = False,
    base: NDArray[np.float32] | None = None,
) -> str:
    """Add trees whose values are summed, or averaged if `mean`, and return the result."""
    trees = [_with_a_value_per_leaf(tree) for tree in trees]
    sizes = [len(tree.is_leaf) for tree in trees]
    is_leaf = np.concatenate([tree.is_leaf for tree in trees])
    tracks = np.concatenate([tree.missing_below for tree in trees])
    values = np.concatenate([tree.value for tree in trees])
    attributes: dict[str, Any] = {
        "n_targets": n_outputs,
        "aggregate_function": "AVERAGE" if mean and len(trees) > 1 else "SUM",
        "nodes_treeids": np.repeat(np.arange(len(trees)), sizes),
        "nodes_nodeids": np.concatenate([np.arange(size) for size in sizes]),
        "nodes_featureids": np.concatenate([tree.feature for tree in trees]),
        "nodes_values": np.concatenate([tree.limit for tree in trees]),
        "nodes_modes": np.where(is_leaf, b"LEAF", b"BRANCH_LEQ"),
        "nodes_truenodeids": np.concatenate([tree.below for tree in trees]),
        "nodes_falsenodeids": np.concatenate([tree.above for tree in trees]),
        "target_treeids": np.repeat(np.arange(len(trees)), [len(tree.value) for tree in trees]),
        "target_nodeids": np.concatenate([tree.value_node for tree in trees]),
        "target_ids": np.concatenate([tree.value_output for tree in trees]),
        "target_weights": values.astype(graph.dtype),
    }
    if tracks.any():
        attributes["nodes_missing_value_tracks_true"] = tracks.astype(np.int64)
    if base is not None:
        attributes["base_values"] = base.astype(graph.dtype)
    return graph.add_tree_ensemble(INPUT, attributes)


def _with_a_value_per_leaf(tree: TreeNodes) -> TreeNodes:
    """Give leaves that predict nothing the value 0 for the first output."""
    is_empty = tree.is_leaf.copy()
    is_empty[tree.value_node] = False
    if not is_empty.any():
        return tree
    empty = np.flatnonzero(is_empty)
    zeros = np.zeros(len(empty))
    return replace(
        tree,
        value_node=np.concatenate([tree.value_node, empty]),
        value_output=np.concatenate([tree.value_output, zeros.astype(np.int64)]),
        value=np.concatenate([tree.value, zeros]),
    )


def add_mean_or_nan(
    graph: GraphBuilder, trees: Sequence[_core.Tree], n_labels: int, *, has_nominal: bool
) -> str:
    """Add the mean of predictive clustering trees; NaN for rows with missing values.

    That is, of any numeric feature that the model tests, or at a nominal test that a row reaches.
    """
    nodes = [tree_nodes(tree, n_labels, graph.dtype) for tree in trees]
    scores = add_ensemble(graph, nodes, n_labels + has_nominal, mean=True)
    numeric = [
        tree.feature[(tree.feature >= 0) & (np.diff(tree.category_indptr) == 0)] for tree in trees
    ]
    is_nan = None
    tested = np.unique(np.concatenate(numeric))
    if tested.size:
        values = graph.add("Gather", INPUT, graph.constant(tested, np.int64), axis=1)
        counted = graph.cast(graph.add("IsNaN", values), np.float32)
        n_missing = graph.add("ReduceSum", counted, graph.constant([1], np.int64), keepdims=1)
        is_nan = graph.add("Greater", n_missing, graph.constant(0.0, np.float32))
    if has_nominal:
        bounds = [graph.constant([n], np.int64) for n in (0, n_labels, n_labels + 1)]
        one = graph.constant([1], np.int64)
        unknown = graph.add("Slice", scores, bounds[1], bounds[2], one)
        scores = graph.add("Slice", scores, bounds[0], bounds[1], one)
        is_unknown = graph.add("Greater", unknown, graph.constant(0.0, np.float32))
        is_nan = is_unknown if is_nan is None else graph.add("Or", is_nan, is_unknown)
    if is_nan is None:
        return scores
    return graph.add("Where", is_nan, graph.constant(np.nan, np.float32), scores)


# ---- trees as ONNX's tree ensembles ---------------------------------------------------------


@dataclass(frozen=True)
class TreeNodes:
    """A tree of tests ``x <= limit``; several tests may share a child."""

    # The feature of a test and the nodes that follow; a leaf has 0 everywhere.
    feature: NDArray[np.int64]
    below: NDArray[np.int64]
    above: NDArray[np.int64]
    limit: NDArray[Any]  # the limits, in the type of the features
    is_leaf: NDArray[np.bool_]  # whether a node is a leaf
    # Whether missing values continue like values below the limit instead of above it.
    missing_below: NDArray[np.bool_]
    # The leaves and outputs of the values; only values other than 0 are listed.
    value_node: NDArray[np.int64]
    value_output: NDArray[np.int64]
    value: NDArray[np.float64]  # the values


def round_down(thresholds: NDArray[np.float64], dtype: Any) -> NDArray[Any]:
    """Return the largest numbers of a type that are at most some thresholds.

    A number of this type is above the result if and only if it is above the threshold.

    >>> down = round_down(np.array([0.1]), np.float32)
    >>> float(down[0]) <= 0.1 < float(np.nextafter(down[0], np.float32(1)))
    True
    """
    with np.errstate(over="ignore"):
        rounded = np.asarray(thresholds, dtype=np.float64).astype(dtype)
    is_above = rounded.astype(np.float64) > thresholds
    return np.where(is_above, np.nextafter(rounded, np.array(-np.inf, dtype=dtype)), rounded)


def tree_nodes(
    tree: _core.Tree,
    n_outputs: int,
    dtype: Any,
    missing_branch: NDArray[np.int64] | None = None,
) -> TreeNodes:
    """Convert a tree.

    `missing_branch`: where missing values go in each node. If None, those of nominal tests go to a
    leaf of their own, which predicts 1 for one more output.
    """
    feature = tree.feature
    is_test = feature >= 0
    nodes = _NodeList(is_test, feature, tree.threshold, dtype)
    numeric = is_test & (np.diff(tree.category_indptr) == 0)
    first = tree.child_indptr[:-1][numeric]
    nodes.above[numeric] = tree.child[first]
    nodes.below[numeric] = tree.child[first + 1]
    if missing_branch is not None:
        nodes.missing_below[numeric] = missing_branch[numeric] == 1
    unknown: list[int] = []
    for node in np.flatnonzero(is_test & ~numeric).tolist():
        codes = tree.category_branch[tree.category_indptr[node] : tree.category_indptr[node + 1]]
        children = tree.child[tree.child_indptr[node] : tree.child_indptr[node + 1]]
        if missing_branch is None:
            unknown.append(nodes.add_leaf())
            otherwise = unknown[-1]
        else:
            otherwise = int(children[missing_branch[node]])
        next_nodes = [int(children[b]) if b >= 0 else otherwise for b in codes.tolist()]
        nodes.chain(node, next_nodes, otherwise)
    value = tree.value
    kept = value != 0
    value_node = np.repeat(np.arange(len(is_test)), np.diff(tree.value_indptr))
    return nodes.finish(
        np.append(value_node[kept], np.array(unknown, dtype=np.int64)),
        np.append(tree.value_label[kept].astype(np.int64), np.full(len(unknown), n_outputs)),
        np.append(value[kept], np.ones(len(unknown))),
    )


class _NodeList:
    """Nodes of a tree, to which nodes for nominal tests are added."""

    def __init__(
        self,
        is_test: NDArray[np.bool_],
        feature: NDArray[Any],
        threshold: NDArray[np.float64],
        dtype: Any,
    ) -> None:
        self.dtype = dtype
        self.is_leaf = ~is_test
        self.feature = np.where(is_test, feature, 0).astype(np.int64)
        self.limit = round_down(np.where(is_test, threshold, 0.0), dtype)
        self.above = np.zeros(len(is_test), dtype=np.int64)
        self.below = np.zeros(len(is_test), dtype=np.int64)
        self.missing_below = np.zeros(len(is_test), dtype=bool)
        # The feature, the nodes below and above, the limit, is_leaf and missing_below of a node.
        self._added: list[tuple[int, int, int, Any, bool, bool]] = []

    def add_leaf(self) -> int:
        self._added.append((0, 0, 0, 0.0, True, False))
        return len(self.is_leaf) + len(self._added) - 1

    def chain(self, node: int, next_nodes: Sequence[int], otherwise: int) -> None:
        """Replace a nominal test with tests of increasing limits.

        Codes from c to c + 1 continue at ``next_nodes[c]``; everything else, including missing
        values, which are above every limit, continues at `otherwise`. A child that several tests
        share is above the limit of the last of them only, as onnxruntime requires.
        """
        steps: list[tuple[int, int]] = []  # a node, and the first code that does not go there
        for code, target in enumerate([otherwise, *next_nodes]):
            if steps and steps[-1][0] == target:
                steps[-1] = (target, code)
            else:
                steps.append((target, code))
        if len(steps) > 1 and steps[-1][0] == otherwise:
            steps.pop()
        feature = int(self.feature[node])
        zero = np.array(-np.inf, dtype=self.dtype)
        for k, (target, end) in enumerate(steps):
            limit = np.nextafter(np.array(end, dtype=self.dtype), zero)
            is_last = k == len(steps) - 1
            following = otherwise if is_last else len(self.is_leaf) + len(self._added) + (k > 0)
            if k == 0:
                self.limit[node], self.below[node], self.above[node] = limit, target, following
            else:
                self._added.append((feature, target, following, limit, False, False))

    def finish(
        self,
        value_node: NDArray[np.int64],
        value_output: NDArray[np.int64],
        value: NDArray[np.float64],
    ) -> TreeNodes:
        found = TreeNodes(
            self.feature,
            self.below,
            self.above,
            self.limit,
            self.is_leaf,
            self.missing_below,
            value_node,
            value_output,
            value,
        )
        if not self._added:
            return found
        names = ("feature", "below", "above", "limit", "is_leaf", "missing_below")
        longer: dict[str, Any] = {}
        for name, added in zip(names, zip(*self._added, strict=True), strict=True):
            array = getattr(found, name)
            longer[name] = np.append(array, np.array(added, dtype=array.dtype))
        return replace(found, **longer)
