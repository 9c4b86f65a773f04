"""Models as a tree ensemble operator of ONNX, with one tree per tree of the model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify import _core
from ramify.export.onnx_graph import INPUT, GraphBuilder
from ramify.export.tree_nodes import TreeNodes, tree_nodes

__all__ = ["add_ensemble", "add_mean_or_nan"]


def add_ensemble(
    graph: GraphBuilder,
    trees: Sequence[TreeNodes],
    n_outputs: int,
    *,
    mean: bool = False,
    base: NDArray[np.float32] | None = None,
) -> str:
    """Add trees whose values are summed, or averaged if `mean`, and return the result.

    Parameters
    ----------
    graph : GraphBuilder
        Receives the operator.
    trees : sequence of TreeNodes
        The trees.
    n_outputs : int
        Number of outputs.
    mean : bool
        Whether to divide the sum by the number of trees.
    base : ndarray of shape (n_outputs,), optional
        Values to add to the sum.

    Returns
    -------
    str
        The name of a tensor of shape (n, n_outputs).
    """
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
    empty = np.setdiff1d(np.flatnonzero(tree.is_leaf), tree.value_node)
    if not empty.size:
        return tree
    zeros = np.zeros(len(empty))
    return TreeNodes(
        tree.feature,
        tree.below,
        tree.above,
        tree.limit,
        tree.is_leaf,
        tree.missing_below,
        np.concatenate([tree.value_node, empty]),
        np.concatenate([tree.value_output, zeros.astype(np.int64)]),
        np.concatenate([tree.value, zeros]),
    )


def add_mean_or_nan(
    graph: GraphBuilder, trees: Sequence[_core.Tree], n_labels: int, *, has_nominal: bool
) -> str:
    """Add the mean of predictive clustering trees; NaN for rows with missing values.

    Parameters
    ----------
    graph : GraphBuilder
        Receives the operators.
    trees : sequence of Tree
        The trees.
    n_labels : int
        Number of labels.
    has_nominal : bool
        Whether any test is nominal.

    Returns
    -------
    str
        The name of a tensor of shape (n, n_labels). A row is NaN if the value of any numeric
        feature that the model tests is missing, or if it reaches a nominal test with a missing or
        unknown category.
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
