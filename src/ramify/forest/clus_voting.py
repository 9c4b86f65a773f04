"""Voting in the forests of CLUS on flat labels, with separate sums for and against a label."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify import _core
from ramify.tree.plan import predict_tree
from ramify.tree.structure import find_leaves

__all__ = ["multilabel_votes"]


def multilabel_votes(trees: list[_core.Tree], X: Any, n_labels: int) -> NDArray[np.float64]:
    """Return the votes of the multi-label mode of CLUS, equal to the last digit.

    The votes equal the mean prediction of the trees, except for rounding, which determines which
    scores are tied and therefore affects areas under curves. CLUS sums c / W and (W - c) / W over
    the trees, where c of the W rows in a leaf have the label, and divides the first sum by the
    total of both.

    Parameters
    ----------
    trees : list of Tree
        The trees of the forest.
    X : ndarray or sparse matrix
        Rows, as returned by `read_features`.
    n_labels : int
        Number of labels.

    Returns
    -------
    ndarray of shape (n, n_labels)
        The votes.
    """
    votes_for = np.zeros((X.shape[0], n_labels))
    votes_against = np.zeros_like(votes_for)
    for tree, leaf in zip(trees, find_leaves(trees, X).T, strict=True):
        share = np.zeros_like(votes_for)
        predict_tree(tree, X, share, clus=True)
        total = tree.weight[leaf][:, None]
        count = share * total
        # Counts are integers if all rows have weight 1; undo the rounding error of the product.
        whole = np.rint(count)
        count = np.where(np.isclose(count, whole, rtol=1e-12, atol=1e-12), whole, count)
        votes_for += share
        votes_against += (total - count) / total
    return np.asarray(votes_for / (votes_for + votes_against))
