"""Methods of estimators with a single tree that describe the tree."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from ramify import _core
from ramify._base.features import FeatureSchema, read_features
from ramify.tree.structure import find_leaves, find_paths, measure_depth, sum_gains

__all__ = ["TreeViews"]


class TreeViews:
    """Methods of estimators with a fitted tree, `tree_`, that describe it."""

    tree_: _core.Tree
    schema_: FeatureSchema
    n_features_in_: int

    def apply(self, X: Any) -> NDArray[np.int32]:
        """Return the index of the leaf that each row reaches.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows with the same features as in `fit`.

        Returns
        -------
        ndarray of int32, shape (n,)
            Node indices. A row with a missing value follows the largest branch here, whereas its
            prediction combines all branches.
        """
        check_is_fitted(self)
        return find_leaves([self.tree_], read_features(self, X, self.schema_))[:, 0]

    def decision_path(self, X: Any) -> sparse.csr_array[np.int8]:
        """Return the nodes on the path of each row.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows with the same features as in `fit`.

        Returns
        -------
        csr_array of shape (n, n_nodes)
            Indicator matrix: 1 if the row passes through the node. Missing values are treated as
            in `apply`.
        """
        return find_paths(self.tree_, self.apply(X))

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
        return sum_gains(self.tree_, self.n_features_in_)
