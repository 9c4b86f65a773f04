"""Predictive clustering trees: one readable tree for all labels of a hierarchy."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ramify import _core
from ramify._base.classifier import HierarchicalClassifier
from ramify._base.features import csr_parts, read_features
from ramify._validation import check_same_length
from ramify.hierarchy.hierarchy import Hierarchy
from ramify.labels.encoding import read_labels
from ramify.tree.checks import check_tree
from ramify.tree.f_test_choice import FTestChoice, choose_f_test
from ramify.tree.parameters import is_list, plan_growth, weigh_labels
from ramify.tree.plan import check_tree_fits, predict_tree
from ramify.tree.pruning import make_loss, prune_by_error
from ramify.tree.training_data import TrainingData

__all__ = ["PCTClassifier"]


class PCTClassifier(HierarchicalClassifier):
    """A predictive clustering tree for labels that form a hierarchy.

    One tree predicts all labels. Every test is chosen so that the label sets on its two sides
    differ as much as possible; a leaf predicts for each label the share of its training rows
    that have it, so that no label is ever more probable than its parents.

    Parameters
    ----------
    hierarchy : Hierarchy, optional
        The labels. None infers a tree from path labels, and takes other labels as flat.
    criterion : {"variance", "gini", "entropy", "gain_ratio", "hamming", "jaccard", "matching", \
"euclidean"}, callable or array-like of shape (n_sets, n_sets)
        What a test reduces, summed over the labels with their weights: the variance p(1 - p)
        (the criterion of Clus-HMC), the Gini index (twice that), or the entropy; "gain_ratio"
        divides the gain in entropy by that of the split itself, as C4.5 does: a feature's test is
        the one with the largest gain, and features whose gain is not below the mean compete. For
        y with one class per row and no hierarchy, the entropies are those of the class variable.
        Or half the mean squared distance between two rows' label sets A and B, |A| being the sum
        of their labels' weights: Hamming |A∪B| - |A∩B|, Jaccard that over |A∪B|, matching
        max(|A|, |B|) - |A∩B|; with "euclidean", the root of Hamming, this is the variance again.
        A callable is a distance of your own: it takes two sets of labels, ancestors included,
        and is called once for each two distinct sets. A matrix has the squared distances between
        the distinct label sets in the order of `ramify.distinct_label_sets`.
    w0 : float
        Weight of a label relative to its parent: a label at depth d counts w0 ** d. 1 gives all
        labels the same weight.
    weighting : {"avg", "sum", "min", "max"}
        How the weights of several parents are combined, in a DAG.
    prototype : {"mean", "medoid"}
        What a leaf predicts: for each label the share of the leaf's rows that have it, or the
        label set of one of its rows: the one with the least sum of squared distances to all of
        them, the most frequent and then the first of several. Distances are those of
        `criterion`, and Euclidean where it is none. `predict_proba` is then 0 or 1, except
        where an unknown value leads to several leaves.
    splitter : {"best", "random"}
        Whether a node tries every threshold and category set, or one at random per feature.
    max_depth : int, optional
        The largest number of tests on a path. None: no limit.
    min_samples_split : int or float
        A node with fewer rows is not split. A float strictly between 0 and 1 is a share of the
        training rows, rounded up, and stands for at least 2. Rows count in parts here and below:
        one that went down several branches for an unknown value counts its share in each.
        Without effect with `clus_compat`.
    min_samples_leaf : int or float
        The least number of rows on each side of a test, or a share of the training rows, rounded
        up. Without effect with `clus_compat`.
    min_weight : float
        The least sum of sample weights on each side of a test.
    min_impurity_decrease : float
        A test must reduce the impurity by this much, weighted by the node's share of all rows.
    max_features : int, float, {"sqrt", "log2"}, optional
        How many of D features, or which share of them, a node looks at, drawn anew in every
        node; "sqrt" is ⌊√D⌋ + 1, "log2" is ⌊log2 D⌋ + 1. None: all.
    redraw : bool
        What a node does in which none of the features it drew makes a test: become a leaf, as in
        CLUS, or go on drawing until one does. The latter gives larger trees, for the better where
        most columns are constant in most nodes, as with bags of words.
    f_test : float or list of float, optional
        Significance level of an F-test that every test must pass: smaller levels give smaller
        trees. A list lets `fit` choose the level with the best pooled AU(PRC) by internal
        cross-validation, or on validation data. Not for "entropy" and "gain_ratio".
    cv : int, splitter or iterable of (train, test)
        The folds by which a level is chosen from a list in `f_test`: their number, or how to
        split the rows.
    pruning : {"pessimistic", "reduced_error"}, optional
        How the grown tree is made smaller. "pessimistic": C4.5's way, for one label or one class
        per row; a node becomes a leaf, or its largest branch takes its place, where no more
        errors are to be expected from the upper limits of their rates. Settings for a C4.5 tree
        are in the examples. "reduced_error": a node becomes a leaf where this does not make
        `pruning_measure` worse on the validation rows of `fit`.
    pruning_confidence : float
        The probability that a rate of errors lies above its limit, of pessimistic pruning;
        smaller ones prune more.
    pruning_measure : str or callable
        What reduced-error pruning minimises: a loss in `ramify.metrics` by name, another measure
        there, which it maximises, or a loss of your own, a function of (truth, scores). One
        with an argument `y_pred` is given label sets instead of scores.
    threshold_at : {"midpoint", "observed"}, optional
        Whether thresholds lie halfway between two neighbouring values, or at the lower one. None
        is "midpoint", and "observed" with `clus_compat`.
    nominal_tests : {"subset", "single", "nary"}
        Tests of nominal features: is the value in a set of categories (found greedily), is it
        one category, or one branch per category.
    categorical_features : array-like of bool, int or str, optional
        Nominal columns of X as a mask, positions or names. Text and categorical columns of a
        data frame are nominal anyway; in an array cells of nominal columns are codes 0, 1, ….
    label_weight : {"balanced"}, array-like of shape (n_labels,) or dict of label to float, \
            optional
        Factors on the labels' weights in `criterion`; labels that a dict lacks have 1. "balanced"
        is n / (n_labels * n_c) for a label c, where n is the sum of all sample weights and n_c
        that of the rows with the label (0 for labels without rows). The factors decide which
        tests are chosen; leaves still predict shares of rows.
    class_weight : {"balanced"} or dict of label to float, optional
        scikit-learn's name of `label_weight`. Only one of them may be given.
    n_jobs : int, optional
        The number of threads, -1 for all cores. The tree does not depend on it.
    random_state : int, RandomState instance or None
        Decides the draws of `splitter="random"` and `max_features`, and the folds of `f_test`.
    clus_compat : bool
        Whether to follow CLUS to the last digit: its tolerances, order of search and sums, table
        of critical values, merging of equal leaves and treatment of rows without labels.
        `min_weight` is its MinimalWeight; criterion "variance" is its hierarchical mode, the
        others its multi-label mode ("gini" its VarianceReduction, "entropy" its Gain).

    Attributes
    ----------
    tree_ : ramify._core.Tree
        The tree as flat arrays; its docstring says how to walk it.
    hierarchy_ : Hierarchy
        The hierarchy given or inferred.
    classes_ : ndarray of shape (n_labels,)
        The labels, in the order of the columns of `predict_proba`.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of str
        Their names, if X was a data frame with string names.
    feature_importances_ : ndarray of shape (n_features,)
        Each feature's part of the impurity that the tree removes.
    f_test_ : float or None
        The level given or chosen.
    f_test_scores_ : dict of float to float
        Pooled AU(PRC) of each level of a list.

    Examples
    --------
    >>> from ramify import PCTClassifier
    >>> X = [[1.0, 0.0], [2.0, 0.0], [3.0, 1.0], [4.0, 1.0]]
    >>> y = ["animal/cat", "animal/cat", "animal/dog", "plant"]
    >>> tree = PCTClassifier().fit(X, y)
    >>> tree.predict([[1.5, 0.0], [4.0, 1.0]])
    array(['animal/cat', 'plant'], dtype='<U10')
    >>> tree.classes_
    array(['animal', 'animal/cat', 'animal/dog', 'plant'], dtype='<U10')
    >>> tree.get_depth(), tree.get_n_leaves()
    (2, 3)

    A tree like those of C4.5:

    >>> tree = PCTClassifier(
    ...     criterion="gain_ratio", min_samples_leaf=2, nominal_tests="nary", pruning="pessimistic"
    ... )
    >>> tree.fit([[1], [2], [3], [4]], ["cat", "cat", "dog", "dog"]).predict([[2], [3]])
    array(['cat', 'dog'], dtype='<U3')
    """

    tree_: _core.Tree
    f_test_: float | None
    f_test_scores_: dict[float, float]

    _renamed: ClassVar[dict[str, str]] = {"f_test_folds": "cv"}

    def __init__(
        self,
        hierarchy: Hierarchy | None = None,
        *,
        criterion: Any = "variance",
        w0: float = 0.75,
        weighting: str = "avg",
        prototype: str = "mean",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight: float = 0.0,
        min_impurity_decrease: float = 0.0,
        max_features: Any = None,
        redraw: bool = False,
        f_test: Any = None,
        cv: Any = 3,
        pruning: str | None = None,
        pruning_confidence: float = 0.25,
        pruning_measure: Any = "hamming_loss",
        threshold_at: str | None = None,
        nominal_tests: str = "subset",
        categorical_features: Any = None,
        label_weight: Any = None,
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        clus_compat: bool = False,
    ) -> None:
        self.hierarchy = hierarchy
        self.criterion = criterion
        self.w0 = w0
        self.weighting = weighting
        self.prototype = prototype
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight = min_weight
        self.min_impurity_decrease = min_impurity_decrease
        self.max_features = max_features
        self.redraw = redraw
        self.f_test = f_test
        self.cv = cv
        self.pruning = pruning
        self.pruning_confidence = pruning_confidence
        self.pruning_measure = pruning_measure
        self.threshold_at = threshold_at
        self.nominal_tests = nominal_tests
        self.categorical_features = categorical_features
        self.label_weight = label_weight
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.clus_compat = clus_compat

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, validation: Any = None
    ) -> PCTClassifier:
        """Grow the tree.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Numbers, NaN where unknown; categorical and text columns of a data frame are nominal.
        y : array-like
            n label sets in any format of `ramify.labels.read_labels`.
        sample_weight : array-like of shape (n,), optional
            The weights of the rows.
        validation : tuple (X, y), optional
            With `pruning="reduced_error"`: the rows to prune on. Otherwise, with a list of levels
            in `f_test`: rows to choose the level on; the final tree is grown on both.

        Returns
        -------
        PCTClassifier
            Itself.
        """
        X, encoded, weights = self._read_training(X, y, sample_weight, clus_order=self.clus_compat)
        self._grow(X, encoded.Y, weights, self._read_validation(validation))
        return self

    def _grow(
        self,
        X: Any,
        Y: sparse.csr_array[np.int32],
        weights: NDArray[np.float64],
        validation: tuple[Any, sparse.csr_array[np.int32]] | None,
    ) -> None:
        random = check_random_state(self.random_state)
        plan = plan_growth(
            self,
            self.hierarchy_,
            X.shape[1],
            single_label=self.format_.single_label,
            seed=int(random.randint(np.iinfo(np.int32).max)),
        )
        label_weights = weigh_labels(self, self.hierarchy_, Y, weights)
        data = TrainingData(X, self.schema_, Y, weights, label_weights, clus=self.clus_compat)
        by_error = self.pruning == "reduced_error"
        if is_list(self.f_test):
            levels = tuple(map(float, self.f_test))
            choice = FTestChoice(levels, self.cv, None if by_error else validation)
            found = choose_f_test(plan, choice, random, data)
            self.f_test_, self.f_test_scores_ = found.level, found.scores
            self.tree_ = found.data.grow(found.plan)
        else:
            self.f_test_ = plan.f_test
            self.tree_ = data.grow(plan)
        if by_error and validation is not None:
            self._prune(*validation)

    def _prune(self, X: Any, Y: sparse.csr_array[np.int32]) -> None:
        """Turn nodes into leaves where this does not increase the loss on validation rows."""
        decide = partial(self._decide, threshold=None)
        loss = make_loss(self.pruning_measure, Y, self.hierarchy_, decide)
        self.tree_ = prune_by_error(self.tree_, X, Y.shape[1], loss)

    def _read_validation(self, validation: Any) -> tuple[Any, sparse.csr_array[np.int32]] | None:
        """Return the validation rows as the training rows are kept, or None if there are none."""
        by_error = self.pruning == "reduced_error"
        if validation is None:
            if by_error:
                raise ValueError(
                    "pruning is 'reduced_error', but fit was given no validation rows to prune "
                    "on. Give validation=(X, y), or use another pruning."
                )
            return None
        if not by_error and not is_list(self.f_test):
            raise ValueError(
                f"validation is given, but f_test is {self.f_test!r}: there is nothing to "
                "choose. Give f_test a list of levels, or leave validation out."
            )
        X = read_features(self, validation[0], self.schema_)
        Y = read_labels(validation[1], self.hierarchy_).Y
        check_same_length(X.shape[0], Y.shape[0])
        return X, Y

    def _check_parameters(self) -> None:
        check_tree(self)

    def _predict_scores(self, X: Any) -> NDArray[np.float64]:
        scores = np.zeros((X.shape[0], self.hierarchy_.n_labels))
        predict_tree(self.tree_, X, scores, clus=self.clus_compat)
        return np.minimum(scores, 1.0, out=scores)

    def apply(self, X: Any) -> NDArray[np.int32]:
        """Return the number of the leaf that each row reaches.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        ndarray of int32, shape (n,)
            Node numbers. Where a value is unknown the row follows the larger branch here, though
            its prediction mixes both.
        """
        check_is_fitted(self)
        X = read_features(self, X, self.schema_)
        if sparse.issparse(X):
            return self.tree_.apply_csr(*csr_parts(X))
        return self.tree_.apply(X)

    def decision_path(self, X: Any) -> sparse.csr_array[np.int8]:
        """Return which nodes each row passes on its way to its leaf.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        csr_array of shape (n, n_nodes)
            1 where the row passes the node; unknown values as in `apply`.
        """
        leaves = self.apply(X)
        parent = _parents(self.tree_)
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

    def get_depth(self) -> int:
        """Return the number of tests on the longest path."""
        check_is_fitted(self)
        parent = _parents(self.tree_)
        depth = np.zeros(len(parent), dtype=np.int64)
        # Parents come before their children.
        for node in range(1, len(parent)):
            depth[node] = depth[parent[node]] + 1
        return int(depth.max())

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        check_is_fitted(self)
        return int((self.tree_.feature < 0).sum())

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Each feature's part of the impurity that the tree removes; zeros for a single leaf."""
        check_is_fitted(self)
        inner = self.tree_.feature >= 0
        total = np.bincount(
            self.tree_.feature[inner],
            weights=self.tree_.gain[inner],
            minlength=self.n_features_in_,
        )
        return np.asarray(total / max(total.sum(), np.finfo(float).tiny), dtype=np.float64)

    def _set_saved_state(self, state: Mapping[str, Any]) -> None:
        super()._set_saved_state(state)
        if "tree_" in state:
            check_tree_fits(self.tree_, self.n_features_in_, self.hierarchy_.n_labels)


def _parents(tree: _core.Tree) -> NDArray[np.int64]:
    """Return each node's parent, -1 for the root."""
    parent = np.full(len(tree.feature), -1, dtype=np.int64)
    n_branches = np.diff(tree.child_indptr)
    parent[tree.child] = np.repeat(np.arange(len(n_branches)), n_branches)
    return parent
