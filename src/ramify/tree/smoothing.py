"""Smooth the probabilities of leaves towards those of the root."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core
from ramify.tree.structure import change_tree

__all__ = ["smooth_leaves"]


def smooth_leaves(
    tree: _core.Tree, prior: NDArray[np.float64], strength: float, *, sums: bool = False
) -> _core.Tree:
    """Return the same tree with the m-estimates of probabilities as its values.

    A leaf of weight W in which the rows with a label have weight S predicts (S + m p) / (W + m)
    instead of S / W, where p is the prior probability of the label.

    Parameters
    ----------
    tree : Tree
        A grown tree. If its inner nodes have values, these are smoothed too.
    prior : ndarray of shape (n_labels,)
        Prior probability of each label.
    strength : float
        The number m, the weight of the prior in units of sample weight.
    sums : bool
        Whether the values of the tree are S instead of S / W. Results are then equal to those of
        CLUS to the last digit.

    Returns
    -------
    Tree
        Its leaves store the values of all labels with a positive prior.
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
