"""Ensembles of predictive clustering trees: random forests, bagging and extra trees."""

from __future__ import annotations

from typing import Any

from ramify.forest.ensemble import PCTEnsemble
from ramify.hierarchy.hierarchy import Hierarchy

__all__ = ["PCTBaggingClassifier", "PCTExtraTreesClassifier", "PCTForestClassifier"]


class PCTForestClassifier(PCTEnsemble):
    """A random forest of predictive clustering trees for labels that form a hierarchy.

    Every tree predicts all labels. It grows on a bootstrap sample of the rows, and each of its
    nodes looks at a random subset of the features. The forest predicts the mean of its trees'
    label shares, so that no label is ever more probable than its parents.

    Parameters
    ----------
    hierarchy : Hierarchy, optional
        The labels. None infers a tree from path labels, and takes other labels as flat.
    n_estimators : int
        The number of trees.
    criterion : str, callable or array-like
        What a test reduces: "variance" or any other criterion of `PCTClassifier`.
    w0 : float
        Weight of a label relative to its parent: a label at depth d counts w0 ** d.
    weighting : {"avg", "sum", "min", "max"}
        How the weights of several parents are combined, in a DAG.
    max_depth : int, optional
        The largest number of tests on a path. None: no limit.
    min_samples_split : int or float
        A node with fewer rows is not split. A float strictly between 0 and 1 is a share of all
        training rows, rounded up, and stands for at least 2. A row that was drawn several times
        is one row here and below; a row that went down several branches for an unknown value
        counts its share. Without effect with `clus_compat`.
    min_samples_leaf : int or float
        The least number of rows on each side of a test, or a share of all training rows, rounded
        up. Without effect with `clus_compat`.
    min_weight : float
        The least weight on each side of a test, where a row that was drawn twice counts twice.
    min_impurity_decrease : float
        A test must reduce the impurity by this much, weighted by the node's share of all rows.
    max_features : int, float, {"sqrt", "log2"}, optional
        How many of D features, or which share of them, a node looks at, drawn anew in every
        node: "sqrt" is ⌊√D⌋ + 1, "log2" is ⌊log2 D⌋ + 1, None is all.
    redraw : bool
        What a node does in which none of the features it drew makes a test: become a leaf, as in
        CLUS, or go on drawing until one does. The latter gives larger trees, for the better where
        most columns are constant in most nodes, as with bags of words.
    f_test : float, optional
        Significance level of an F-test that every test must pass; None: no such test. One level
        only: a list to choose from is for a single `PCTClassifier`.
    threshold_at : {"midpoint", "observed"}, optional
        Whether thresholds lie halfway between two neighbouring values, or at the lower one. None
        is "midpoint", and "observed" with `clus_compat`.
    nominal_tests : {"subset", "single", "nary"}
        Tests of nominal features; see `PCTClassifier`.
    bootstrap : bool
        Whether each tree grows on a sample drawn with replacement, or on all rows.
    max_samples : int or float, optional
        The number of draws, or their number as a share of the rows. None: as many as rows.
    oob_score : bool, str or callable
        Whether to predict each row by the trees that did not draw it, and with which measure to
        judge these predictions: True for `ramify.metrics.pooled_auprc`, the name of another
        measure there, or a function of (truth, scores). A measure with an argument `y_pred` is
        given label sets instead of scores.
    categorical_features : array-like of bool, int or str, optional
        Nominal columns of X as a mask, positions or names. Text and categorical columns of a
        data frame are nominal anyway; in an array cells of nominal columns are codes 0, 1, ….
    label_weight : {"balanced"}, array-like of shape (n_labels,) or dict of label to float, \
            optional
        Factors on the labels' weights in `criterion`; see `PCTClassifier`. "balanced" counts all
        training rows, not those that a tree has drawn.
    class_weight : {"balanced"} or dict of label to float, optional
        scikit-learn's name of `label_weight`. Only one of them may be given.
    warm_start : bool
        Whether `fit` keeps the trees of an earlier fit and adds those that are missing to
        `n_estimators`. With the same data this gives the same forest as growing it at once.
    n_jobs : int, optional
        The number of threads, -1 for all cores. Trees and predictions do not depend on it.
    random_state : int, RandomState instance or None
        Decides the samples and the subsets of features.
    verbose : bool
        Whether to show a progress bar (needs the package rich).
    clus_compat : bool
        Whether to grow CLUS's own forest, tree by tree: see `PCTClassifier`, and with
        `random_state` as its RandomSeed. "sqrt", "log2" and shares are then rounded up.

    Attributes
    ----------
    trees_ : list of ramify._core.Tree
        The trees as flat arrays.
    estimators_ : list of PCTClassifier
        The same trees as classifiers.
    hierarchy_ : Hierarchy
        The hierarchy given or inferred.
    classes_ : ndarray of shape (n_labels,)
        The labels, in the order of the columns of `predict_proba`.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of str
        Their names, if X was a data frame with string names.
    feature_importances_ : ndarray of shape (n_features,)
        Each feature's part of the impurity that the trees remove, the mean over trees.
    oob_score_ : float
        The measure of `oob_score` for the out-of-bag predictions: for True the area under the
        pooled precision-recall curve, `ramify.metrics.pooled_auprc`. It is not the accuracy that
        `score` returns, nor scikit-learn's `oob_score_`.
    oob_decision_function_ : ndarray of shape (n, n_labels)
        Those predictions, NaN for a row that every tree has drawn.

    See Also
    --------
    PCTBaggingClassifier : The same with all features in every node.
    PCTExtraTreesClassifier : Random thresholds, no bootstrap.

    Examples
    --------
    >>> from ramify import PCTForestClassifier, load_animals
    >>> animals = load_animals()
    >>> forest = PCTForestClassifier(animals.hierarchy, n_estimators=50, random_state=0)
    >>> forest = forest.fit(animals.X, animals.y)
    >>> forest.predict_proba(animals.X).shape == animals.y.shape
    True
    >>> len(forest.trees_)
    50
    """

    def __init__(
        self,
        hierarchy: Hierarchy | None = None,
        *,
        n_estimators: int = 100,
        criterion: Any = "variance",
        w0: float = 0.75,
        weighting: str = "avg",
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
        bootstrap: bool = True,
        max_samples: int | float | None = None,
        oob_score: Any = False,
        categorical_features: Any = None,
        label_weight: Any = None,
        class_weight: Any = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
        clus_compat: bool = False,
    ) -> None:
        self.hierarchy = hierarchy
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.w0 = w0
        self.weighting = weighting
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
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.oob_score = oob_score
        self.categorical_features = categorical_features
        self.label_weight = label_weight
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.clus_compat = clus_compat


class PCTBaggingClassifier(PCTEnsemble):
    """Bagged predictive clustering trees for labels that form a hierarchy.

    Every tree grows on a bootstrap sample of the rows and looks at all features. The prediction
    is the mean of the trees' label shares, so that no label is more probable than its parents.

    Parameters
    ----------
    hierarchy : Hierarchy, optional
        The labels. None infers a tree from path labels, and takes other labels as flat.
    n_estimators : int
        The number of trees.
    criterion, w0, weighting, max_depth, min_samples_split, min_samples_leaf, min_weight, \
    min_impurity_decrease, f_test, threshold_at, nominal_tests
        As in `PCTForestClassifier`.
    max_samples : int or float, optional
        The number of draws, or their number as a share of the rows. None: as many as rows.
    oob_score : bool, str or callable
        Whether to predict each row by the trees that did not draw it, and how to judge that; see
        `PCTForestClassifier`.
    categorical_features, label_weight, class_weight, warm_start, n_jobs, random_state, verbose, \
    clus_compat
        As in `PCTForestClassifier`.

    Attributes
    ----------
    trees_, estimators_, hierarchy_, classes_, n_features_in_, feature_names_in_, \
    feature_importances_, oob_score_, oob_decision_function_
        As in `PCTForestClassifier`.

    Examples
    --------
    >>> from ramify import PCTBaggingClassifier
    >>> X = [[1.0], [2.0], [3.0], [4.0]]
    >>> y = ["animal/cat", "animal/cat", "animal/dog", "plant"]
    >>> bagged = PCTBaggingClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> bagged.predict([[1.0], [4.0]])
    array(['animal/cat', 'plant'], dtype='<U10')
    """

    bootstrap = True

    def __init__(
        self,
        hierarchy: Hierarchy | None = None,
        *,
        n_estimators: int = 100,
        criterion: Any = "variance",
        w0: float = 0.75,
        weighting: str = "avg",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight: float = 0.0,
        min_impurity_decrease: float = 0.0,
        f_test: float | None = None,
        threshold_at: str | None = None,
        nominal_tests: str = "subset",
        max_samples: int | float | None = None,
        oob_score: Any = False,
        categorical_features: Any = None,
        label_weight: Any = None,
        class_weight: Any = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
        clus_compat: bool = False,
    ) -> None:
        self.hierarchy = hierarchy
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.w0 = w0
        self.weighting = weighting
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight = min_weight
        self.min_impurity_decrease = min_impurity_decrease
        self.f_test = f_test
        self.threshold_at = threshold_at
        self.nominal_tests = nominal_tests
        self.max_samples = max_samples
        self.oob_score = oob_score
        self.categorical_features = categorical_features
        self.label_weight = label_weight
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.clus_compat = clus_compat


class PCTExtraTreesClassifier(PCTEnsemble):
    """Extremely randomised predictive clustering trees for labels that form a hierarchy.

    Every node draws a subset of the features and one threshold for each, uniform between the
    smallest and the largest value in the node (for a nominal feature, a random set of
    categories), and takes the best of these tests. Trees grow on all rows by default.

    Parameters
    ----------
    hierarchy : Hierarchy, optional
        The labels. None infers a tree from path labels, and takes other labels as flat.
    n_estimators : int
        The number of trees.
    criterion, w0, weighting, max_depth, min_samples_split, min_samples_leaf, min_weight, \
    min_impurity_decrease, max_features, redraw, f_test, nominal_tests
        As in `PCTForestClassifier`.
    bootstrap : bool
        Whether each tree grows on a sample drawn with replacement, or on all rows.
    max_samples, oob_score, categorical_features, label_weight, class_weight, warm_start, \
    n_jobs, random_state, verbose
        As in `PCTForestClassifier`.

    Attributes
    ----------
    trees_, estimators_, hierarchy_, classes_, n_features_in_, feature_names_in_, \
    feature_importances_, oob_score_, oob_decision_function_
        As in `PCTForestClassifier`.

    Notes
    -----
    Of the parameters of `PCTForestClassifier` two are missing. `threshold_at` chooses between
    positions of a threshold between two neighbouring values, but thresholds are drawn here.
    `clus_compat` reproduces trees of CLUS, whose extra trees draw from other random numbers.
    `nominal_tests` must be "subset" or "nary", since a random test of a nominal feature draws a
    set of categories.

    Examples
    --------
    >>> from ramify import PCTExtraTreesClassifier
    >>> X = [[1.0], [2.0], [3.0], [4.0]]
    >>> y = ["animal/cat", "animal/cat", "animal/dog", "plant"]
    >>> trees = PCTExtraTreesClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> trees.predict([[1.0], [4.0]])
    array(['animal/cat', 'plant'], dtype='<U10')
    """

    _splitter = "random"

    def __init__(
        self,
        hierarchy: Hierarchy | None = None,
        *,
        n_estimators: int = 100,
        criterion: Any = "variance",
        w0: float = 0.75,
        weighting: str = "avg",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight: float = 0.0,
        min_impurity_decrease: float = 0.0,
        max_features: Any = "sqrt",
        redraw: bool = False,
        f_test: float | None = None,
        nominal_tests: str = "subset",
        bootstrap: bool = False,
        max_samples: int | float | None = None,
        oob_score: Any = False,
        categorical_features: Any = None,
        label_weight: Any = None,
        class_weight: Any = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.hierarchy = hierarchy
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.w0 = w0
        self.weighting = weighting
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight = min_weight
        self.min_impurity_decrease = min_impurity_decrease
        self.max_features = max_features
        self.redraw = redraw
        self.f_test = f_test
        self.nominal_tests = nominal_tests
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.oob_score = oob_score
        self.categorical_features = categorical_features
        self.label_weight = label_weight
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
