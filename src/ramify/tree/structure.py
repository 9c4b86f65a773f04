"""The structure of a grown tree: parents, depth, paths, leaves of rows, feature importances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core
from ramify._base.features import csr_parts

__all__ = [
    "change_tree",
    "find_leaves",
    "find_parents",
    "find_paths",
    "measure_depth",
    "sum_gains",
]

_ARRAYS = (
    *("feature", "threshold", "weight", "n_samples", "impurity", "gain", "child_indptr", "child"),
    *("share", "category_indptr", "category_branch", "value_indptr", "value_label", "value"),
)


def change_tree(tree: _core.Tree, **changed: NDArray[Any]) -> _core.Tree:
    """Return a copy of a tree with other arrays, named like the attributes of the tree."""
    return _core.Tree({name: getattr(tree, name) for name in _ARRAYS} | changed)


def find_parents(tree: _core.Tree) -> NDArray[np.int64]:
    """Return the parent of each node; -1 for the root."""
    parent = np.full(len(tree.feature), -1, dtype=np.int64)
    n_branches = np.diff(tree.child_indptr)
    parent[tree.child] = np.repeat(np.arange(len(n_branches)), n_branches)
    return parent


def measure_depth(tree: _core.Tree) -> int:
    """Return the number of tests on the longest path."""
    parent = find_parents(tree)
    depth = np.zeros(len(parent), dtype=np.int64)
    # Parents come before their children.
    for node in range(1, len(parent)):
        depth[node] = depth[parent[node]] + 1
    return int(depth.max())


def find_leaves(trees: Sequence[_core.Tree], X: Any) -> NDArray[np.int32]:
    """Return the leaf of each row of X, as returned by `read_features`, in each tree.

    A row with a missing value follows the largest branch.
    """
    parts = csr_parts(X) if sparse.issparse(X) else None
    leaves = np.empty((X.shape[0], len(trees)), dtype=np.int32)
    for k, tree in enumerate(trees):
        leaves[:, k] = tree.apply(X) if parts is None else tree.apply_csr(*parts)
    return leaves


def find_paths(tree: _core.Tree, leaves: NDArray[np.int32]) -> sparse.csr_array[np.int8]:
    """Return an indicator matrix of the nodes on the paths to some leaves, one row per leaf."""
    parent = find_parents(tree)
    paths: dict[int, list[int]] = {}
    for leaf in np.unique(leaves).tolist():
        path = [leaf]
        while parent[path[-1]] >= 0:
            path.append(int(parent[path[-1]]))
        paths[leaf] = path[::-1]
    lengths = [len(paths[leaf]) for leaf in leaves.tolist()]
    indices = np.concatenate([paths[leaf] for leaf in leaves.tolist()])
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    ones = np.ones(len(indices), dtype=np.int8)
    return sparse.csr_array((ones, indices, indptr), shape=(len(leaves), len(parent)))


def sum_gains(tree: _core.Tree, n_features: int) -> NDArray[np.float64]:
    """Return the fraction of the total gain due to each feature; all zeros without tests."""
    inner = tree.feature >= 0
    total = np.bincount(tree.feature[inner], weights=tree.gain[inner], minlength=n_features)
    return np.asarray(total / max(total.sum(), np.finfo(float).tiny), dtype=np.float64)
