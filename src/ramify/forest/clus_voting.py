"""How CLUS's forests vote on flat labels: shares for and against a label are summed apart."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core
from ramify._base.features import csr_parts
from ramify.tree.plan import predict_tree

__all__ = ["multilabel_votes"]


def multilabel_votes(trees: list[_core.Tree], X: Any, n_labels: int) -> NDArray[np.float64]:
    """Return the votes of CLUS's multi-label mode, equal to the last digit.

    The mean share of a label would do but for rounding, which decides which scores are equal and
    so moves areas under curves. CLUS adds up c / W and (W - c) / W, where c of W rows of a leaf
    have the label, and divides the first sum by both.

    Parameters
    ----------
    trees : list of Tree
        The members.
    X : ndarray or sparse matrix
        Rows as `read_features` returns them.
    n_labels : int
        The number of labels.

    Returns
    -------
    ndarray of shape (n, n_labels)
        The votes.
    """
    votes_for = np.zeros((X.shape[0], n_labels))
    votes_against = np.zeros_like(votes_for)
    for tree in trees:
        share = np.zeros_like(votes_for)
        predict_tree(tree, X, share, clus=True)
        leaf = tree.apply_csr(*csr_parts(X)) if sparse.issparse(X) else tree.apply(X)
        total = tree.weight[leaf][:, None]
        count = share * total
        # Rows of weight 1 give whole counts, which the product may miss by a rounding.
        whole = np.rint(count)
        count = np.where(np.isclose(count, whole, rtol=1e-12, atol=1e-12), whole, count)
        votes_for += share
        votes_against += (total - count) / total
    return np.asarray(votes_for / (votes_for + votes_against))
