"""Trees as arrays: leaves, paths, importances and smoothed values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from ramify import _core
from ramify._base.tree_models import ModelTree
from ramify.data.features import FeatureSchema, read_features
from ramify.data.rows import as_rows

__all__ = [
    "TreeViews",
    "as_model_tree",
    "change_tree",
    "check_tree_fits",
    "find_leaves",
    "find_parents",
    "find_paths",
    "measure_depth",
    "predict_tree",
    "send_missing",
    "smooth_leaves",
    "sum_gains",
]


class TreeViews:
    """Methods of estimators with a fitted tree, `tree_`, that describe it."""

    tree_: _core.Tree
    schema_: FeatureSchema

    def _named_trees(self, outputs: NDArray[np.int64]) -> tuple[ModelTree, ...]:
        return (as_model_tree("", self.tree_, outputs),)

    def apply(self, X: Any) -> NDArray[np.int32]:
        """Return the index of the leaf that each row reaches.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows with the same features as in `fit`.

        Returns
        -------
        ndarray of int32, shape (n,)
            Node indices. A row that a test divides among its branches, because of a missing value,
            follows the largest here, whereas its prediction combines all branches.
        """
        check_is_fitted(self)
        return find_leaves([self.tree_], read_features(self, X, self.schema_))[:, 0]

    def decision_path(self, X: Any) -> sparse.csr_array[np.int8]:
        """Return the nodes that each row passes through.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows with the same features as in `fit`.

        Returns
        -------
        csr_array of shape (n, n_nodes)
            Indicator matrix: 1 if the row passes through the node. A row that a test divides among
            its branches, because of a missing value, passes through all that its prediction
            combines; unlike `apply`, which follows the largest one.
        """
        check_is_fitted(self)
        return find_paths(self.tree_, read_features(self, X, self.schema_))

    def get_depth(self) -> int:
        """Return the depth of the tree: the number of tests on the longest path."""
        check_is_fitted(self)
        return measure_depth(self.tree_)

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        check_is_fitted(self)
        return int((self.tree_.feature < 0).sum())

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Impurity-based feature importances; all zeros if the tree is a single leaf."""
        check_is_fitted(self)
        return self.schema_.sum_by_feature(sum_gains(self.tree_, self.schema_.n_variables))


# ---- the structure of a grown tree ----------------------------------------------------------


_ARRAYS = (
    *("feature", "threshold", "weight", "n_samples", "impurity", "gain", "child_indptr", "child"),
    *("share", "category_indptr", "category_branch", "value_indptr", "value_label", "value"),
)


def change_tree(tree: _core.Tree, **changed: NDArray[Any]) -> _core.Tree:
    """Return a copy of a tree with other arrays, named like the attributes of the tree."""
    return _core.Tree({name: getattr(tree, name) for name in _ARRAYS} | changed)


def as_model_tree(name: str, tree: _core.Tree, outputs: NDArray[np.int64]) -> ModelTree:
    """Return a tree in the form in which models are shown.

    The shares of a test that sends missing values down one branch are 1 and 0. Here they are those
    of its training rows, and the branch is told apart.
    """
    n_nodes = len(tree.feature)
    owner = np.repeat(np.arange(n_nodes), np.diff(tree.child_indptr))
    whole = tree.share == 1
    if not whole.any():
        return ModelTree(name, tree, outputs)
    missing = np.full(n_nodes, -1, dtype=np.int64)
    missing[owner[whole]] = np.flatnonzero(whole) - tree.child_indptr[owner[whole]]
    below = tree.weight[tree.child]
    total = np.bincount(owner, weights=below, minlength=n_nodes)
    share = np.where(missing[owner] >= 0, below / total[owner], tree.share)
    return ModelTree(name, change_tree(tree, share=share), outputs, missing)


def send_missing(model: ModelTree) -> _core.Tree:
    """Return the tree from which `as_model_tree` made this one."""
    if model.missing_branch is None:
        return model.tree
    tree, missing = model.tree, model.missing_branch
    owner = np.repeat(np.arange(len(missing)), np.diff(tree.child_indptr))
    branch = np.arange(len(owner)) - tree.child_indptr[owner]
    share = np.where(missing[owner] >= 0, missing[owner] == branch, tree.share)
    return change_tree(tree, share=share)


def predict_tree(
    tree: _core.Tree, X: Any, out: NDArray[np.float64], *, divisor: float = 1.0, clus: bool = False
) -> None:
    """Add the predictions of a tree, divided by `divisor`, to `out`.

    `out`: receives the predictions.
    """
    tree.predict(as_rows(X), out, divisor, clus)


def check_tree_fits(tree: Any, n_features: int, n_labels: int) -> None:
    """Raise an error if a loaded tree does not match the number of features and labels."""
    if (
        not isinstance(tree, _core.Tree)
        or tree.feature.max() >= n_features
        or tree.value_label.max(initial=-1) >= n_labels
    ):
        raise ValueError(f"a tree does not fit {n_features} features and {n_labels} labels")


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

    A row that a test divides among its branches follows the largest.
    """
    rows = as_rows(X)
    leaves = np.empty((X.shape[0], len(trees)), dtype=np.int32)
    for k, tree in enumerate(trees):
        leaves[:, k] = tree.apply(rows)
    return leaves


def find_paths(tree: _core.Tree, X: Any) -> sparse.csr_array[np.int8]:
    """Return an indicator matrix of the nodes that the rows of X pass through.

    A row with a missing value passes through all branches that have a share of it.
    """
    X = cast("Any", sparse.csr_matrix)(X) if sparse.issparse(X) else X
    rows, nodes = np.arange(X.shape[0]), np.zeros(X.shape[0], dtype=np.int64)
    passed = [(rows, nodes)]
    while (inner := tree.feature[nodes] >= 0).any():
        rows, nodes = rows[inner], nodes[inner]
        branch = _branches(tree, nodes, np.asarray(X[rows, tree.feature[nodes]]).ravel())
        known, first = branch >= 0, tree.child_indptr[nodes]
        n_edges = np.where(known, 1, tree.child_indptr[nodes + 1] - first)
        rows = np.repeat(rows, n_edges)
        # The edges of a node are consecutive: count from the first of them.
        begin = first + np.where(known, branch, 0) - (np.cumsum(n_edges) - n_edges)
        edges = np.repeat(begin, n_edges) + np.arange(len(rows))
        taken = np.repeat(known, n_edges) | (tree.share[edges] > 0)
        rows, nodes = rows[taken], tree.child[edges[taken]].astype(np.int64)
        passed.append((rows, nodes))
    row, node = (np.concatenate(parts) for parts in zip(*passed, strict=True))
    ones = np.ones(len(row), dtype=np.int8)
    return sparse.csr_array((ones, (row, node)), shape=(X.shape[0], len(tree.feature)))


def _branches(
    tree: _core.Tree, nodes: NDArray[np.int64], cells: NDArray[Any]
) -> NDArray[np.int64]:
    """Return the branch of a value at each of some inner nodes, or -1 if the value is missing."""
    cells = np.asarray(cells, dtype=np.float64)
    by_threshold = np.where(cells > tree.threshold[nodes], 0, 1)
    first = tree.category_indptr[nodes]
    n_categories = tree.category_indptr[nodes + 1] - first
    missing = np.isnan(cells)
    valid = (cells >= 0) & (cells < n_categories)
    found = np.where(missing, -1, by_threshold)
    found[n_categories > 0] = -1
    found[valid] = tree.category_branch[first[valid] + cells[valid].astype(np.int64)]
    return found


def sum_gains(tree: _core.Tree, n_features: int) -> NDArray[np.float64]:
    """Return the fraction of the total gain due to each feature; all zeros without tests."""
    inner = tree.feature >= 0
    total = np.bincount(tree.feature[inner], weights=tree.gain[inner], minlength=n_features)
    return np.asarray(total / max(total.sum(), np.finfo(float).tiny), dtype=np.float64)


# ---- smoothed leaves ------------------------------------------------------------------------


def smooth_leaves(
    tree: _core.Tree, prior: NDArray[np.float64], strength: float, *, sums: bool = False
) -> _core.Tree:
    """Return the same tree with the m-estimates of probabilities as its values.

    A leaf of weight W in which the rows with a label have weight S predicts (S + m p) / (W + m)
    instead of S / W, where p is the prior probability of the label.
    """
    parts = tree.value, tree.value_label, tree.value_indptr
    values = sparse.csr_array(parts, shape=(len(tree.feature), len(prior)))
    is_inner, is_empty = tree.feature >= 0, np.diff(tree.value_indptr) == 0
    has_values = ~is_inner if is_empty[is_inner].all() else np.ones_like(is_inner)
    nodes, labels = np.flatnonzero(has_values), np.flatnonzero(prior)
    weight = tree.weight[nodes, None]
    total = values[nodes][:, labels].toarray() * (1.0 if sums else weight)
    smooth = (total + strength * prior[labels]) / (weight + strength)
    n_values = np.where(has_values, len(labels), 0)
    return change_tree(
        tree,
        value=smooth.ravel(),
        value_label=np.tile(labels, len(nodes)).astype(tree.value_label.dtype),
        value_indptr=np.concatenate([[0], np.cumsum(n_values)]).astype(tree.value_indptr.dtype),
    )
