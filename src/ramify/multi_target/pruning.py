"""M5 pruning of trees for numeric targets, without validation rows."""

from __future__ import annotations

import numpy as np

from ramify import _core

__all__ = ["prune_m5"]

# A node is not worth splitting if its error is below this fraction of the error of the root.
_NEGLIGIBLE = 1e-5
_TOO_MANY_NODES = 10.0


def prune_m5(tree: _core.Tree, factor: float) -> _core.Tree:
    """Replace subtrees with leaves, bottom-up, if this does not increase the estimated error.

    The estimated error of a subtree is the root of its mean squared error on the training rows,
    with targets weighted as in the criterion, times (n + factor * k) / (n - k), where n is the
    weight of the rows and k the number of nodes of the subtree.

    Parameters
    ----------
    tree : Tree
        A tree that stores predictions in its inner nodes too.
    factor : float
        How much a node of the tree costs; larger values prune more.

    Returns
    -------
    Tree
        The pruned tree.
    """
    is_leaf = tree.feature < 0
    own = np.maximum(tree.impurity * tree.weight, 0.0)
    below = own.copy()
    size = np.ones(len(is_leaf), dtype=np.int64)
    negligible = _NEGLIGIBLE * np.sqrt(own[0] / tree.weight[0])
    # Children have larger indices than their parents.
    for node in np.flatnonzero(~is_leaf).tolist()[::-1]:
        children = tree.child[tree.child_indptr[node] : tree.child_indptr[node + 1]]
        size[node] = 1 + size[children].sum()
        below[node] = below[children].sum()
        weight = float(tree.weight[node])
        as_leaf = _estimate(own[node], weight, 1, factor)
        as_tree = _estimate(below[node], weight, int(size[node]), factor)
        if as_tree > as_leaf or as_leaf < negligible:
            is_leaf[node], below[node], size[node] = True, own[node], 1
    return tree.cut(is_leaf)


def _estimate(squares: float, weight: float, n_nodes: int, factor: float) -> float:
    """Return the estimated error of a subtree from its sum of squared errors."""
    many = weight <= n_nodes
    penalty = _TOO_MANY_NODES if many else (weight + factor * n_nodes) / (weight - n_nodes)
    return float(np.sqrt(squares / weight) * penalty)
