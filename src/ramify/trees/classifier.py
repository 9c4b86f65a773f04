"""Predictive clustering trees: a single decision tree for all labels of a hierarchy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from ramify import _core
from ramify._base.classifier import HierarchicalClassifier
from ramify._base.relearning import Relearning
from ramify._base.streaming import VotingTrees
from ramify._base.tree_models import TreeModel
from ramify._parallel import count_threads
from ramify._schema import IfPresent, MapOf, Maybe, Number, Schema, TreeOf
from ramify._validation import (
    check_choice,
    check_same_length,
    check_sample_weight,
    has_validation,
)
from ramify.data.features import read_features
from ramify.labels.class_weight import check_class_weight
from ramify.labels.encoding import EncodedLabels, read_labels
from ramify.labels.hierarchy import Hierarchy
from ramify.trees.clus import label_conventions
from ramify.trees.conventions import Conventions
from ramify.trees.criteria import check_criterion, check_label_weight
from ramify.trees.f_test_choice import FTestChoice, choose_f_test
from ramify.trees.growing import grow
from ramify.trees.options import TreeOptions
from ramify.trees.parameters import check_parameters, is_list, mixes_features, why_not_unknown
from ramify.trees.pruning import make_loss, prune_by_error
from ramify.trees.relearning import check_relearns, relearn_leaves
from ramify.trees.supervision import SUPERVISION_SCHEMA, supervise
from ramify.trees.tree_data import TreeData, ValidationRows, label_data
from ramify.trees.views import TreeViews, check_tree_fits

__all__ = [
    "PCTClassifier",
]


class PCTClassifier(TreeViews, HierarchicalClassifier):
    """A predictive clustering tree (PCT) for hierarchical multi-label classification.

    A single decision tree predicts all labels of the hierarchy. Each node uses the test that most
    reduces the impurity of the label sets, as measured by `criterion`. A leaf predicts the
    probability of each label as the fraction of its training rows with the label; therefore, a
    label is never more probable than any of its parents.

    Parameters
    ----------
    hierarchy : Hierarchy, optional
        The label hierarchy. If None, a tree is inferred from path labels; all other labels are
        treated as flat.
    criterion : {"variance", "gini", "entropy", "gain_ratio", "hamming", "jaccard", "matching", \
"euclidean"}, callable or array-like of shape (n_sets, n_sets)
        The impurity that a test reduces.

        These are sums over the labels, weighted by the label weights; p is the fraction of rows
        with a label:

        - "variance": the variance p(1 - p), the criterion of Clus-HMC.
        - "gini": the Gini index, which is twice the variance.
        - "entropy": the entropy of the label. If y has one class per row and there is no
          hierarchy, the entropy of the class variable.
        - "gain_ratio": as "entropy", but the gain is divided by the entropy of the split itself,
          as in C4.5. For each feature, only the test with the largest gain is considered, and only
          features whose gain is at least the mean compete.

        These are half the mean squared distance between the label sets A and B of two rows, where
        ``|A|`` is the sum of the weights of the labels in A:

        - "hamming": ``|A∪B| - |A∩B|``.
        - "jaccard": the Hamming distance divided by ``|A∪B|``.
        - "matching": ``max(|A|, |B|) - |A∩B|``.
        - "euclidean": the square root of the Hamming distance. This is equivalent to "variance".
        - callable: a distance function of two sets of labels, which include all ancestors. It is
          called once for each pair of distinct label sets.
        - array-like: the squared distances between the distinct label sets, in the order of
          `ramify.trees.distinct_label_sets`.
    w0 : float
        Weight of a label relative to its parent: the weight of a label at depth d is proportional
        to w0 ** d. With 1, all labels have the same weight.
    weighting : {"avg", "sum", "min", "max"}
        How to combine the weights derived from several parents if the hierarchy is a DAG.
    squared_distances : bool
        Whether distances between label sets are squared, in the impurity and for medoids. If
        False, the impurity is half the mean distance, and a criterion that is a matrix contains
        distances. Large distances then have less influence, and "euclidean" is not equivalent to
        "variance". Only for criteria that are distances.
    prototype : {"mean", "medoid"}
        The prediction of a leaf. "mean": for each label, the fraction of rows with the label.
        "medoid": the label set with the smallest sum of squared distances (or of distances, see
        `squared_distances`) to the label sets of all rows in the leaf; ties are resolved in favour
        of the most frequent set, then of the set that comes first. The distance is that of
        `criterion`, or Euclidean if `criterion` is not a distance. With "medoid", `predict_proba`
        returns 0 or 1, except for rows that reach several leaves because of missing values.
    smoothing : float
        Strength m of the smoothing of leaves. A leaf of weight W in which the rows with a label
        have weight S predicts (S + m p) / (W + m) instead of S / W, where p is the fraction of
        all training rows with the label. Leaves with few rows then predict less extreme
        probabilities, which often improves the ranking of rows by a single tree. All leaves
        store all labels, so that trees with many labels need much more memory.
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
        fraction of the training rows, rounded up. With criterion "gain_ratio", two such branches
        are sufficient, as in C4.5. Ignored with `clus_compat`.
    min_weight : float
        Minimum sum of sample weights in each branch of a test.
    min_impurity_decrease : float
        A node is split only if the test reduces the impurity by at least this value, weighted by
        the node's fraction of all rows.
    max_features : int, float, {"sqrt", "log2"}, optional
        Number of features, or fraction of all D features, to consider at a node. New features are
        drawn for every node. "sqrt" means ⌊√D⌋ + 1, "log2" means ⌊log2 D⌋ + 1, and None means all.
    redraw : bool
        Whether to draw more features if none of those drawn for a node gives a valid test. If
        False, the node becomes a leaf, as in CLUS. True gives larger trees, and helps if most
        features are constant in most nodes, as in bag-of-words data.
    f_test : float or list of float, optional
        Significance level of an F-test that every split must pass; smaller levels give smaller
        trees. If a list, `fit` chooses the level with the highest pooled AU(PRC), by internal
        cross-validation or on validation rows. Not supported with the criteria "entropy" and
        "gain_ratio".
    cv : int, splitter or iterable of (train, test)
        The cross-validation used to choose from a list, `f_test` or `supervision`: the number of
        folds, or how to split the rows.
    pruning : {"pessimistic", "reduced_error"}, optional
        How to prune the tree after growing it. "pessimistic": the method of C4.5. A node is
        replaced with a leaf or with its largest branch if this does not increase the expected
        number of errors, computed from upper confidence limits of the error rates. If rows may
        have several labels, the number of errors is the mean over the labels, as in CLUS; since
        most labels are rare, this often leaves a single leaf. "reduced_error": a node is replaced
        with a leaf if this does not worsen `pruning_measure` on the validation rows passed to
        `fit`.
    pruning_confidence : float
        Confidence factor of pessimistic pruning: the probability that an error rate exceeds its
        upper limit. Smaller values prune more.
    pruning_measure : str or callable
        The measure for reduced-error pruning: the name of a measure in `ramify.metrics`, or a
        function of (truth, scores). Losses and user-defined functions are minimised; all other
        measures are maximised. A function with an argument `y_pred` is called with label sets
        instead of scores.
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
    label_weight : {"balanced"}, array-like of shape (n_labels,) or dict of label to float, \
            optional
        Factors by which to multiply the label weights in `criterion`; labels not in a dict have
        factor 1. "balanced" means n / (n_labels * n_c) for a label c, where n is the sum of all
        sample weights and n_c the sum over the rows with the label (0 for labels without rows).
        The factors affect only the choice of tests, not the predictions of the leaves.
    class_weight : {"balanced"} or dict of label to float, optional
        Weights of the classes if y has one label or path per row, as in scikit-learn: the weight
        of a row is multiplied by the factors of all labels on its path; labels not in a dict have
        factor 1. "balanced" means n / (n_ends * n_c) for the rows that end at a label c, where n
        is the sum of all sample weights, n_c the sum over these rows, and n_ends the number of
        such labels. Unlike `label_weight`, this changes the predictions of the leaves. Not
        supported if rows may have several labels.
    supervision : float or list of float
        How much the labels count in the impurity, from 0 to 1; features count for the rest. Below
        1, rows without any label help, and are not left out: tests reduce `supervision` times the
        variance of the labels, over the rows that know them, plus the rest times the mean
        variance of the features, over the rows that have a value. All variances are divided by
        those of all rows. A node in which labels do not differ is a leaf. From a list and 1, the
        value is chosen by cross-validation on the rows with labels; it is 1 unless another value
        is better by 1 %.
    n_jobs : int, optional
        Number of threads; -1 means all cores. The result does not depend on it.
    random_state : int, RandomState instance or None
        Controls the tests drawn with ``splitter="random"``, the features drawn with
        `max_features`, and the folds used to choose a level of `f_test`. Pass an int for
        reproducible results.
    clus_compat : bool
        Whether to reproduce the results of CLUS exactly: its tolerances, order of search and
        summation, table of critical values, merging of equal leaves and treatment of rows without
        labels. `min_weight` is MinimalWeight in CLUS. Criterion "variance" corresponds to its
        hierarchical mode, all others to its multi-label mode ("gini" is VarianceReduction,
        "entropy" is Gain). With ``pruning="pessimistic"``, the tree is the one that CLUS calls
        Pruned.

    Attributes
    ----------
    tree_ : ramify._core.Tree
        The tree as flat arrays; see its docstring for how to traverse it.
    hierarchy_ : Hierarchy
        The label hierarchy, as passed or as inferred from y.
    classes_ : ndarray of shape (n_labels,)
        The labels, in the order of the columns of `predict_proba`.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features seen during `fit`. Defined only if X was a data frame with string
        column names.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Impurity-based feature importances: the fraction of the total reduction of the impurity
        that is due to each feature.
    f_test_ : float or None
        The level of the F-test, as passed or as chosen from a list.
    f_test_scores_ : dict of float to float
        Pooled AU(PRC) of each level. Defined only if `f_test` is a list.
    supervision_ : float
        The value chosen from `supervision`. Defined only if that is a list.
    supervision_scores_ : dict of float to float
        Pooled AU(PRC) of each value of `supervision`. Defined only if it is a list.

    See Also
    --------
    PCTForestClassifier : Random forest of predictive clustering trees.
    PCTBaggingClassifier : Bagged predictive clustering trees.
    PCTExtraTreesClassifier : Extremely randomised predictive clustering trees.

    References
    ----------
    C. Vens, J. Struyf, L. Schietgat, S. Džeroski and H. Blockeel. Decision trees for hierarchical
    multi-label classification. Machine Learning 73, 2008.

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

    The settings of a C4.5 tree:

    >>> tree = PCTClassifier(
    ...     criterion="gain_ratio", min_samples_leaf=2, nominal_tests="nary", pruning="pessimistic"
    ... )
    >>> tree.fit([[1], [2], [3], [4]], ["cat", "cat", "dog", "dog"]).predict([[2], [3]])
    array(['cat', 'dog'], dtype='<U3')
    """

    tree_: _core.Tree
    f_test_: float | None
    f_test_scores_: dict[float, float]
    supervision_: float
    supervision_scores_: dict[float, float]

    _saved_schema: ClassVar[Schema] = {
        "tree_": TreeOf("n_variables", "n_labels"),
        "f_test_": Maybe(Number(0, 1)),
        "f_test_scores_": IfPresent(MapOf(Maybe(Number(0, 1)), Number(finite=False))),
        **SUPERVISION_SCHEMA,
    }

    def __init__(
        self,
        hierarchy: Hierarchy | None = None,
        *,
        criterion: Any = "variance",
        w0: float = 0.75,
        weighting: str = "avg",
        squared_distances: bool = True,
        prototype: str = "mean",
        smoothing: float = 0.0,
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
        missing: str | None = None,
        categorical_features: Any = None,
        label_weight: Any = None,
        class_weight: Any = None,
        supervision: Any = 1.0,
        n_jobs: int | None = None,
        random_state: Any = None,
        clus_compat: bool = False,
    ) -> None:
        self.hierarchy = hierarchy
        self.criterion = criterion
        self.w0 = w0
        self.weighting = weighting
        self.squared_distances = squared_distances
        self.prototype = prototype
        self.smoothing = smoothing
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
        self.missing = missing
        self.categorical_features = categorical_features
        self.label_weight = label_weight
        self.class_weight = class_weight
        self.supervision = supervision
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.clus_compat = clus_compat

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> PCTClassifier:
        """Grow the tree.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Training rows, or texts. NaN marks missing values; string and categorical columns of a
            data frame are nominal, unless they are texts.
        y : array-like
            Labels of the n rows, in any format accepted by `ramify.labels.read_labels`.
        sample_weight : array-like of shape (n,), optional
            Sample weights.
        X_val : like X, optional
            Validation rows. With ``pruning="reduced_error"``, the tree is pruned on them.
            Otherwise, if `f_test` is a list, the level is chosen on them, and the final tree is
            grown on the training and validation rows together.
        y_val : array-like, optional
            Labels of the validation rows.
        sample_weight_val : array-like, optional
            Weights of the validation rows.

        Returns
        -------
        PCTClassifier
            The fitted classifier.
        """
        X, encoded, weights = self._read_training(X, y, sample_weight, clus_order=self.clus_compat)
        validation = self._read_validation(X_val, y_val, sample_weight_val)
        self._grow(X, encoded, weights, validation)
        return self

    def _grow(
        self,
        X: Any,
        encoded: EncodedLabels,
        weights: NDArray[np.float64],
        validation: ValidationRows | None,
    ) -> None:
        random = check_random_state(self.random_state)
        options = TreeOptions.of(self, seed=int(random.randint(np.iinfo(np.int32).max)))
        data = label_data(self, X, encoded.Y, weights, unknown=encoded.unknown)
        data = supervise(self, data, self.cv, random)
        by_error = self.pruning == "reduced_error"
        if is_list(self.f_test):
            levels = tuple(map(float, self.f_test))
            choice = FTestChoice(levels, self.cv, None if by_error else validation)
            found = choose_f_test(options, choice, random, data)
            self.f_test_, self.f_test_scores_ = found.level, found.scores
            options, data = found.options, found.data
        else:
            self.f_test_ = options.f_test
        self.tree_ = grow(data, options)
        if by_error and validation is not None:
            self._prune(validation)

    def _score_held_out(self, data: TreeData, X: Any) -> NDArray[np.float64]:
        """Return the predictions for other rows after growing on `data.rows`."""
        tree = grow(data, TreeOptions.of(self))
        scores = np.zeros((X.shape[0], self.hierarchy_.n_labels))
        self._conventions.predict(tree, X, scores)
        return scores

    def _prune(self, rows: ValidationRows) -> None:
        """Replace nodes with leaves if this does not increase the loss on the validation rows."""
        loss = make_loss(self.pruning_measure, rows.Y, self.hierarchy_, self._decide, rows.weights)
        self.tree_ = prune_by_error(self.tree_, rows.X, rows.Y.shape[1], loss)

    def _read_validation(
        self, X_val: Any, y_val: Any, sample_weight_val: Any
    ) -> ValidationRows | None:
        """Convert the validation rows like the training rows; return None if there are none."""
        by_error = self.pruning == "reduced_error"
        if not has_validation(X_val, y_val, sample_weight_val):
            if by_error:
                raise ValueError(
                    "X_val and y_val must be given with pruning='reduced_error', got None. Pass "
                    "validation rows to fit, or use another pruning method."
                )
            return None
        if not by_error and not is_list(self.f_test):
            raise ValueError(
                "X_val must be None unless f_test is a list or pruning is 'reduced_error', got "
                f"rows with f_test={self.f_test!r}. Omit X_val, or pass a list as f_test."
            )
        X = read_features(self, X_val, self.schema_)
        Y = read_labels(y_val, self.hierarchy_).Y
        check_same_length(X.shape[0], Y.shape[0], "_val")
        if sample_weight_val is None:
            return ValidationRows(X, Y, None)
        return ValidationRows(X, Y, check_sample_weight(sample_weight_val, X.shape[0], "_val"))

    def _text_form(self) -> str:
        return "presence"

    @property
    def _learns_from_features(self) -> bool:
        return mixes_features(self)

    def _why_not_unknown(self) -> str | None:
        return why_not_unknown(self)

    @property
    def _conventions(self) -> Conventions:
        return label_conventions(self)

    def _check_parameters(self) -> None:
        check_criterion(self)
        check_label_weight(self.label_weight)
        check_class_weight(self.class_weight)
        check_choice("pruning", self.pruning, (None, "pessimistic", "reduced_error"))
        check_parameters(self)
        if self.smoothing > 0 and self.prototype != "mean":
            raise ValueError(
                f"smoothing must be 0 with prototype={self.prototype!r}, got {self.smoothing!r}: "
                "only means are smoothed. Use smoothing=0, or prototype='mean'."
            )

    def _predict_scores(self, X: Any) -> NDArray[np.float64]:
        scores = np.zeros((X.shape[0], self.hierarchy_.n_labels))
        self._conventions.predict(self.tree_, X, scores)
        return np.minimum(scores, 1.0, out=scores)

    def _as_trees(self) -> TreeModel:
        trees = self._named_trees(np.arange(self.hierarchy_.n_labels))
        return TreeModel(trees, self.hierarchy_, self._predict_scores)

    def _relearn(self, old: Any, task: Relearning) -> NDArray[np.str_]:
        check_relearns(old)
        self.tree_, self.f_test_ = relearn_leaves(old.tree_, task), old.f_test_
        return task.statuses_after(task.changed)

    def _voting_trees(self) -> VotingTrees:
        n_labels, n_threads = self.hierarchy_.n_labels, count_threads(self.n_jobs)
        return VotingTrees([self.tree_], n_labels, self.clus_compat, n_threads)

    def _set_saved_state(self, state: Mapping[str, Any]) -> None:
        super()._set_saved_state(state)
        if "tree_" in state:
            check_tree_fits(self.tree_, self.schema_.n_variables, self.hierarchy_.n_labels)
