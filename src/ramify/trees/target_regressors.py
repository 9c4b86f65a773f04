"""Regression trees and forests for several numeric targets."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from ramify import _core
from ramify._schema import AnyOf, Array, IfPresent, Schema
from ramify._validation import check_choice
from ramify.data.features import read_features
from ramify.trees.clus import ClusNumeric
from ramify.trees.conventions import OURS, Conventions
from ramify.trees.target_base import TargetEstimator, TargetForest, TargetTree
from ramify.trees.targets import Columns, read_numbers, read_target_weight
from ramify.trees.tree_data import TableTargets, TreeData

__all__ = [
    "PCTForestRegressor",
    "PCTRegressor",
    "prune_m5",
]


class _Regressor(RegressorMixin, TargetEstimator):  # type: ignore[misc]
    """Methods common to trees and forests for numeric targets."""

    normalize: bool

    @property
    def _conventions(self) -> Conventions:
        return ClusNumeric() if self.clus_compat else OURS

    def _read_targets(self, columns: Columns, weights: NDArray[np.float64]) -> TableTargets:
        values = read_numbers(columns)
        self.n_columns_ = self.n_outputs_
        names = getattr(self, "target_names_", None)
        factors = read_target_weight(self.target_weight, self.n_outputs_, names)
        scale, origin = self._conventions.weigh_numbers(values, weights)
        target_weights = factors * scale if self.normalize else factors
        return TableTargets(values, target_weights, origin=origin, clus=self.clus_compat)

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predict the targets.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows with the same features as in `fit`.

        Returns
        -------
        ndarray of shape (n,) or (n, n_targets)
            The predictions; one-dimensional if y was one-dimensional in `fit`.
        """
        check_is_fitted(self)
        columns = self._predict_columns(read_features(self, X, self.schema_))
        return columns[:, 0] if self.flat_output_ else columns


class PCTRegressor(_Regressor, TargetTree):
    """A predictive clustering tree (PCT) for regression with one or several targets.

    A single decision tree predicts all targets. Each node uses the test that most reduces the
    variance of the targets, averaged over the targets. A leaf predicts the mean of its training
    rows.

    Parameters
    ----------
    splitter : {"best", "random"}
        Whether a node evaluates every threshold and category set of a feature, or only one drawn
        at random.
    max_depth : int, optional
        Maximum depth of the tree: the largest number of tests on a path. None means no limit.
    min_samples_split : int or float
        Minimum number of rows required to split a node. A float strictly between 0 and 1 is a
        fraction of the training rows, rounded up, but at least 2. For this and the next
        parameter, a row that is sent to several branches because of a missing value is counted
        fractionally in each of them. Ignored with `clus_compat`.
    min_samples_leaf : int or float
        Minimum number of rows in each branch of a test. A float strictly between 0 and 1 is a
        fraction of the training rows, rounded up. Ignored with `clus_compat`.
    min_weight : float
        Minimum sum of sample weights in each branch of a test.
    min_impurity_decrease : float
        A node is split only if the test reduces the impurity by at least this value, weighted by
        the node's fraction of all rows. With `normalize`, the impurity of all rows is 1.
    max_features : int, float, {"sqrt", "log2"}, optional
        Number of features, or fraction of all D features, to consider at a node. New features are
        drawn for every node. "sqrt" means ⌊√D⌋ + 1, "log2" means ⌊log2 D⌋ + 1, and None means all.
    redraw : bool
        Whether to draw more features if none of those drawn for a node gives a valid test.
    f_test : float, optional
        Significance level of an F-test that every split must pass; smaller levels give smaller
        trees.
    pruning : {"m5"}, optional
        How to prune the tree after growing it. "m5": the method of M5. A node is replaced with a
        leaf if this does not increase the estimated error, which is the training error times a
        factor that increases with the number of nodes.
    pruning_factor : float
        The cost of a node in M5 pruning; larger values prune more. Called M5PruningMult in CLUS.
    threshold_at : {"midpoint", "observed"}, optional
        Whether a threshold is halfway between two neighbouring values or equal to the lower one.
        None means "midpoint", or "observed" with `clus_compat`.
    nominal_tests : {"subset", "single", "nary"}
        Tests of nominal features. "subset": whether the value is in a set of categories, which is
        found by greedy search. "single": whether the value is a given category. "nary": one
        branch per category.
    missing : {"learn", "branch", "divide"}, optional
        Where a row goes whose value is missing at a test. "divide": down all branches, in parts
        proportional to the rows with a value, as in C4.5 and CLUS. "branch": down one branch, the
        one with the larger gain, as in scikit-learn; whether the value is missing may also be the
        test itself. If no training row of the node has a missing value, down the larger branch.
        "learn": as "branch" if the rows of the node with a missing value differ from the others,
        else as "divide". This uses values that are missing for a reason, and is as accurate as
        "divide" if they are missing by chance. None means "learn", or "divide" with
        `clus_compat`.
    categorical_features : array-like of bool, int or str, optional
        The nominal features, as a boolean mask, indices or column names. String and categorical
        columns of a data frame are always nominal. Nominal columns of an array must contain
        integer codes 0, 1, ….
    target_weight : array-like of shape (n_targets,) or dict of str to float, optional
        Factors by which to multiply the weights of the targets in the choice of tests; targets not
        in a dict have factor 1. Called ClusteringWeights in CLUS.
    normalize : bool
        Whether to divide targets by their standard deviation in the choice of tests, which makes
        their scales irrelevant.
    n_jobs : int, optional
        Number of threads; -1 means all cores. The result does not depend on it.
    random_state : int, RandomState instance or None
        Controls the tests drawn with ``splitter="random"`` and the features drawn with
        `max_features`. Pass an int for reproducible results.
    clus_compat : bool
        Whether to reproduce the results of CLUS exactly: its tolerances, order of search and
        summation, table of critical values, merging of equal leaves and treatment of missing
        targets. `min_weight` is MinimalWeight in CLUS; with ``pruning="m5"``, the tree is the one
        that CLUS calls Pruned.

    Attributes
    ----------
    tree_ : ramify._core.Tree
        The tree as flat arrays; see its docstring for how to traverse it.
    n_outputs_ : int
        Number of targets.
    target_names_ : ndarray of shape (n_outputs_,)
        Names of the targets. Defined only if y was a data frame.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features seen during `fit`. Defined only if X was a data frame with string
        column names.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Impurity-based feature importances: the fraction of the total reduction of the impurity
        that is due to each feature.

    See Also
    --------
    PCTForestRegressor : Random forest of these trees.
    PCTMultiTargetClassifier : The same for nominal targets.

    Notes
    -----
    A row with a missing target is used for the other targets only. The impurity of a node is the
    mean over the targets with a known value there. A leaf without a known value of a target
    predicts the mean of the nearest node above it that has one. With `clus_compat`, it predicts 0,
    and a forest with such a leaf predicts NaN, as in CLUS.

    References
    ----------
    H. Blockeel, L. De Raedt and J. Ramon. Top-down induction of clustering trees. International
    Conference on Machine Learning, 1998.

    Examples
    --------
    >>> from ramify import PCTRegressor
    >>> X = [[1.0], [2.0], [3.0], [4.0]]
    >>> y = [[0.5, 100.0], [0.5, 100.0], [0.7, 300.0], [0.9, 300.0]]
    >>> tree = PCTRegressor(max_depth=1).fit(X, y)
    >>> tree.predict([[1.5], [4.0]])
    array([[  0.5, 100. ],
           [  0.8, 300. ]])
    """

    def __init__(
        self,
        *,
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight: float = 0.0,
        min_impurity_decrease: float = 0.0,
        max_features: Any = None,
        redraw: bool = False,
        f_test: float | None = None,
        pruning: str | None = None,
        pruning_factor: float = 2.0,
        threshold_at: str | None = None,
        nominal_tests: str = "subset",
        missing: str | None = None,
        categorical_features: Any = None,
        target_weight: Any = None,
        normalize: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
        clus_compat: bool = False,
    ) -> None:
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight = min_weight
        self.min_impurity_decrease = min_impurity_decrease
        self.max_features = max_features
        self.redraw = redraw
        self.f_test = f_test
        self.pruning = pruning
        self.pruning_factor = pruning_factor
        self.threshold_at = threshold_at
        self.nominal_tests = nominal_tests
        self.missing = missing
        self.categorical_features = categorical_features
        self.target_weight = target_weight
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.clus_compat = clus_compat

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("pruning", self.pruning, (None, "m5"))

    def _prune(self, tree: _core.Tree) -> _core.Tree:
        return prune_m5(tree, self.pruning_factor) if self.pruning == "m5" else tree


class PCTForestRegressor(_Regressor, TargetForest):
    """A random forest of predictive clustering trees for regression with one or several targets.

    Every tree predicts all targets. It is grown on a bootstrap sample of the rows, and considers a
    random subset of the features at each node. The prediction is the mean over the trees. With
    ``max_features=None``, this is bagging; with ``splitter="random", bootstrap=False``, extremely
    randomised trees.

    Parameters
    ----------
    n_estimators : int
        Number of trees.
    splitter, max_depth, min_samples_split, min_samples_leaf, min_weight, min_impurity_decrease, \
    redraw, f_test, threshold_at, nominal_tests, missing
        As in `PCTRegressor`. Fractions of rows refer to all training rows, and a row drawn twice
        has twice its weight.
    max_features : int, float, {"sqrt", "log2"}, optional
        Number of features, or fraction of all D features, to consider at a node. New features are
        drawn for every node. "sqrt" means ⌊√D⌋ + 1, "log2" means ⌊log2 D⌋ + 1, and None means all.
    bootstrap : bool
        Whether to grow each tree on a sample of the rows drawn with replacement, or on all rows.
    max_samples : int or float, optional
        Number of rows to draw for each tree, or this number as a fraction of all rows. None draws
        as many rows as X has.
    oob_score : bool
        Whether to compute out-of-bag predictions and their coefficient of determination R²,
        averaged over the targets.
    categorical_features, target_weight, normalize
        As in `PCTRegressor`.
    warm_start : bool
        Whether to keep the trees of the previous call to `fit` and only add trees until there are
        `n_estimators`.
    n_jobs : int, optional
        Number of threads; -1 means all cores. The result does not depend on it.
    random_state : int, RandomState instance or None
        Controls the rows and features that are drawn. Pass an int for reproducible results.
    verbose : bool
        Whether to show a progress bar (requires rich).
    clus_compat : bool
        Whether to reproduce the forests of CLUS exactly, including its random numbers;
        `random_state` is RandomSeed in CLUS.

    Attributes
    ----------
    trees_ : list of ramify._core.Tree
        The trees as flat arrays.
    estimators_ : list of PCTRegressor
        The trees as fitted regressors, made anew when the attribute is read.
    n_outputs_, target_names_, n_features_in_, feature_names_in_, feature_importances_
        As in `PCTRegressor`.
    oob_score_ : float
        R² of the out-of-bag predictions. Defined only if `oob_score` is True.
    oob_prediction_ : ndarray of shape (n,) or (n, n_targets)
        Out-of-bag predictions, NaN for rows drawn by every tree. Defined only if `oob_score` is
        True.

    See Also
    --------
    PCTRegressor : A single tree.

    Examples
    --------
    >>> from ramify import PCTForestRegressor
    >>> X = [[1.0], [2.0], [3.0], [4.0]]
    >>> forest = PCTForestRegressor(n_estimators=10, random_state=0)
    >>> forest.fit(X, [10.0, 10.0, 20.0, 20.0]).predict([[1.0], [4.0]])
    array([11., 19.])
    """

    oob_prediction_: NDArray[np.float64]

    _member = PCTRegressor

    _saved_schema: ClassVar[Schema] = {
        "oob_prediction_": IfPresent(
            AnyOf(
                Array(("n_rows",), finite=False),
                Array(("n_rows", "n_outputs_"), finite=False),
            )
        ),
    }

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight: float = 0.0,
        min_impurity_decrease: float = 0.0,
        max_features: Any = "sqrt",
        redraw: bool = False,
        f_test: float | None = None,
        threshold_at: str | None = None,
        nominal_tests: str = "subset",
        missing: str | None = None,
        bootstrap: bool = True,
        max_samples: int | float | None = None,
        oob_score: bool = False,
        categorical_features: Any = None,
        target_weight: Any = None,
        normalize: bool = True,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
        clus_compat: bool = False,
    ) -> None:
        self.n_estimators = n_estimators
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight = min_weight
        self.min_impurity_decrease = min_impurity_decrease
        self.max_features = max_features
        self.redraw = redraw
        self.f_test = f_test
        self.threshold_at = threshold_at
        self.nominal_tests = nominal_tests
        self.missing = missing
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.oob_score = oob_score
        self.categorical_features = categorical_features
        self.target_weight = target_weight
        self.normalize = normalize
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.clus_compat = clus_compat

    def _score_out_of_bag(
        self, data: TreeData, columns: NDArray[np.float64], has_votes: NDArray[np.bool_]
    ) -> None:
        from sklearn.metrics import r2_score  # noqa: PLC0415 (slow)

        self.oob_prediction_ = columns[:, 0] if self.flat_output_ else columns
        scores = []
        for truth, predicted in zip(data.values.T, columns.T, strict=True):
            both = ~np.isnan(truth) & ~np.isnan(predicted)
            scores.append(r2_score(truth[both], predicted[both]) if both.sum() > 1 else np.nan)
        self.oob_score_ = float(np.mean(scores))


# ---- M5 pruning -----------------------------------------------------------------------------


# A node is not worth splitting if its error is below this fraction of the error of the root.
_NEGLIGIBLE = 1e-5
_TOO_MANY_NODES = 10.0


def prune_m5(tree: _core.Tree, factor: float) -> _core.Tree:
    """Replace subtrees with leaves, bottom-up, if this does not increase the estimated error.

    The estimated error of a subtree is the root of its mean squared error on the training rows,
    with targets weighted as in the criterion, times (n + factor * k) / (n - k), where n is the
    weight of the rows and k the number of nodes of the subtree.
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
