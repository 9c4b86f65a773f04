"""Ensembles of predictive clustering trees: random forests, bagging and extra trees."""

from __future__ import annotations

from typing import Any

from ramify.labels.hierarchy import Hierarchy
from ramify.trees.ensemble import PCTEnsemble

__all__ = [
    "PCTBaggingClassifier",
    "PCTExtraTreesClassifier",
    "PCTForestClassifier",
]


class PCTForestClassifier(PCTEnsemble):
    """A random forest of predictive clustering trees for hierarchical multi-label classification.

    Every tree predicts all labels. It is grown on a bootstrap sample of the rows, and considers a
    random subset of the features at each node. The predicted probabilities are the mean over the
    trees; a label is never more probable than any of its parents.

    Parameters
    ----------
    hierarchy : Hierarchy, optional
        The label hierarchy. If None, a tree is inferred from path labels; all other labels are
        treated as flat.
    n_estimators : int
        Number of trees.
    criterion : str, callable or array-like
        The impurity that a test reduces: "variance" or any other criterion of `PCTClassifier`.
    w0 : float, optional
        Weight of a label relative to its parent: the weight of a label at depth d is proportional
        to w0 ** d. With 1, all labels have the same weight. Values below 1 favour tests that
        separate labels near the top, and values above 1, tests that separate the ends of paths.
        None means 4 if at least 95 % of the rows have one path, which is then predicted, and 0.75
        otherwise and with `clus_compat`.
    weighting : {"avg", "sum", "min", "max"}
        How to combine the weights derived from several parents if the hierarchy is a DAG.
    max_depth : int, optional
        Maximum depth of the trees: the largest number of tests on a path. None means no limit.
    min_samples_split : int or float
        Minimum number of rows required to split a node. A float strictly between 0 and 1 is a
        fraction of all training rows, rounded up, but at least 2. For this and the next
        parameter, a row drawn several times is counted once, and a row that is sent to several
        branches because of a missing value is counted fractionally in each of them. Ignored with
        `clus_compat`.
    min_samples_leaf : int or float
        Minimum number of rows in each branch of a test. A float strictly between 0 and 1 is a
        fraction of all training rows, rounded up. With criterion "gain_ratio", two such branches
        are sufficient, as in C4.5. Ignored with `clus_compat`.
    min_weight : float
        Minimum sum of sample weights in each branch of a test; a row drawn twice counts twice.
    min_impurity_decrease : float
        A node is split only if the test reduces the impurity by at least this value, weighted by
        the node's fraction of all rows.
    max_features : int, float, {"sqrt", "log2"}, optional
        Number of features, or fraction of all D features, to consider at a node. New features are
        drawn for every node. "sqrt" means ⌊√D⌋ + 1, "log2" means ⌊log2 D⌋ + 1, and None means all.
    redraw : bool
        Whether to draw more features if none of those drawn for a node gives a valid test. If
        False, the node becomes a leaf, as in CLUS. True gives larger trees. This helps if trees
        stay too small because most features are constant in most nodes, as in bag-of-words data
        with few rows; with thousands of texts, it makes trees larger but not better.
    f_test : float, optional
        Significance level of an F-test that every split must pass; None means no test. Unlike
        `PCTClassifier`, ensembles do not accept a list of levels.
    threshold_at : {"midpoint", "observed"}, optional
        Whether a threshold is halfway between two neighbouring values or equal to the lower one.
        None means "midpoint", or "observed" with `clus_compat`.
    nominal_tests : {"subset", "single", "nary"}
        Tests of nominal features; see `PCTClassifier`.
    missing : {"learn", "branch", "divide"}, optional
        Where a row goes whose value is missing at a test; see `PCTClassifier`.
    smoothing : float
        Strength of the smoothing of leaves towards the label frequencies in the sample of the
        tree; see `PCTClassifier`. Averaging many trees smooths too, so that ensembles rarely
        need it.
    bootstrap : bool
        Whether to grow each tree on a sample of the rows drawn with replacement, or on all rows.
    max_samples : int or float, optional
        Number of rows to draw for each tree, or this number as a fraction of all rows. None draws
        as many rows as X has.
    oob_score : bool, str or callable
        Whether to evaluate out-of-bag predictions, i.e. those for each row by the trees that did
        not draw it, and the measure to use. True means `ramify.metrics.pooled_auprc`, a string is
        the name of a measure in `ramify.metrics`, and a callable is a function of (truth, scores).
        A function with an argument `y_pred` is called with label sets instead of scores.
    categorical_features : array-like of bool, int or str, optional
        The nominal features, as a boolean mask, indices or column names. String and categorical
        columns of a data frame are always nominal. Nominal columns of an array must contain
        integer codes 0, 1, ….
    label_weight : {"balanced"}, array-like of shape (n_labels,) or dict of label to float, \
            optional
        Factors by which to multiply the label weights in `criterion`; see `PCTClassifier`.
        "balanced" is computed from all training rows, not from the sample of a tree.
    class_weight : {"balanced"} or dict of label to float, optional
        Weights of the classes if y has one label or path per row; see `PCTClassifier`. As in
        scikit-learn, they decide how often the rows of a class are drawn: with "balanced", as
        often for each class. Without `bootstrap` or with `clus_compat`, they multiply the weights
        of the rows.
    supervision : float or list of float
        How much the labels count in the impurity, from 0 to 1, and the features for the rest; see
        `PCTClassifier`. Each tree draws from rows with labels and from rows without, apart. The
        value is chosen from a list by cross-validation with three folds and at most 20 trees.
    warm_start : bool
        Whether to keep the trees of the previous call to `fit` and only add trees until there are
        `n_estimators`. With the same data, the result equals a forest grown at once.
    n_jobs : int, optional
        Number of threads; -1 means all cores. The result does not depend on it.
    random_state : int, RandomState instance or None
        Controls the bootstrap samples and the features drawn at each node. Pass an int for
        reproducible results.
    verbose : bool
        Whether to show a progress bar (requires rich).
    clus_compat : bool
        Whether to reproduce the forests of CLUS exactly, tree by tree; see `PCTClassifier`.
        `random_state` is then RandomSeed in CLUS, and "sqrt", "log2" and fractions of
        `max_features` are rounded up.

    Attributes
    ----------
    trees_ : list of ramify._core.Tree
        The trees as flat arrays.
    estimators_ : list of PCTClassifier
        The trees as fitted classifiers, made anew when the attribute is read. ``forest[k]`` makes
        one of them; ``len(forest)`` is their number.
    w0_ : float
        The value of `w0` that was used.
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
        Impurity-based feature importances: the mean of the importances in the trees.
    oob_score_ : float
        Out-of-bag score by the measure in `oob_score`. With True, it is the area under the pooled
        precision-recall curve, `ramify.metrics.pooled_auprc`, and not the accuracy as in `score`
        and in scikit-learn. Defined only if `oob_score` is set.
    oob_decision_function_ : ndarray of shape (n, n_labels)
        Out-of-bag predictions: the mean over the trees that did not draw the row, NaN for a row
        drawn by every tree. Defined only if `oob_score` is set.
    supervision_ : float
        The value chosen from `supervision`. Defined only if that is a list.
    supervision_scores_ : dict of float to float
        Pooled AU(PRC) of each value of `supervision`. Defined only if it is a list.

    See Also
    --------
    PCTClassifier : A single predictive clustering tree.
    PCTBaggingClassifier : The same, but all features are considered at every node.
    PCTExtraTreesClassifier : Random thresholds, without bootstrap samples by default.

    References
    ----------
    D. Kocev, C. Vens, J. Struyf and S. Džeroski. Tree ensembles for predicting structured outputs.
    Pattern Recognition 46, 2013.

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
        w0: float | None = None,
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
        missing: str | None = None,
        smoothing: float = 0.0,
        bootstrap: bool = True,
        max_samples: int | float | None = None,
        oob_score: Any = False,
        categorical_features: Any = None,
        label_weight: Any = None,
        class_weight: Any = None,
        supervision: Any = 1.0,
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
        self.missing = missing
        self.smoothing = smoothing
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.oob_score = oob_score
        self.categorical_features = categorical_features
        self.label_weight = label_weight
        self.class_weight = class_weight
        self.supervision = supervision
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.clus_compat = clus_compat


class PCTBaggingClassifier(PCTEnsemble):
    """Bagged predictive clustering trees for hierarchical multi-label classification.

    Every tree predicts all labels. It is grown on a bootstrap sample of the rows, and considers
    all features at each node. The predicted probabilities are the mean over the trees; a label is
    never more probable than any of its parents.

    Parameters
    ----------
    hierarchy : Hierarchy, optional
        The label hierarchy. If None, a tree is inferred from path labels; all other labels are
        treated as flat.
    n_estimators : int
        Number of trees.
    criterion, w0, weighting, max_depth, min_samples_split, min_samples_leaf, min_weight, \
    min_impurity_decrease, f_test, threshold_at, nominal_tests, missing, smoothing
        As in `PCTForestClassifier`.
    max_samples : int or float, optional
        Number of rows to draw for each tree, or this number as a fraction of all rows. None draws
        as many rows as X has.
    oob_score : bool, str or callable
        Whether to evaluate out-of-bag predictions, and the measure to use; see
        `PCTForestClassifier`.
    categorical_features, label_weight, class_weight, supervision, warm_start, n_jobs, \
    random_state, verbose, clus_compat
        As in `PCTForestClassifier`.

    Attributes
    ----------
    trees_, estimators_, w0_, hierarchy_, classes_, n_features_in_, feature_names_in_, \
    feature_importances_, oob_score_, oob_decision_function_, supervision_, supervision_scores_
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
        w0: float | None = None,
        weighting: str = "avg",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight: float = 0.0,
        min_impurity_decrease: float = 0.0,
        f_test: float | None = None,
        threshold_at: str | None = None,
        nominal_tests: str = "subset",
        missing: str | None = None,
        smoothing: float = 0.0,
        max_samples: int | float | None = None,
        oob_score: Any = False,
        categorical_features: Any = None,
        label_weight: Any = None,
        class_weight: Any = None,
        supervision: Any = 1.0,
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
        self.missing = missing
        self.smoothing = smoothing
        self.max_samples = max_samples
        self.oob_score = oob_score
        self.categorical_features = categorical_features
        self.label_weight = label_weight
        self.class_weight = class_weight
        self.supervision = supervision
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.clus_compat = clus_compat


class PCTExtraTreesClassifier(PCTEnsemble):
    """Extremely randomised predictive clustering trees (extra trees).

    An ensemble for hierarchical multi-label classification in which every tree predicts all
    labels. Each node draws a subset of the features and one random test per feature, and uses the
    best of these tests. The threshold for a numeric feature is uniform between its smallest and
    largest value in the node; for a nominal feature, a random set of categories is drawn. By
    default, trees are grown on all rows. The predicted probabilities are the mean over the trees;
    a label is never more probable than any of its parents.

    Parameters
    ----------
    hierarchy : Hierarchy, optional
        The label hierarchy. If None, a tree is inferred from path labels; all other labels are
        treated as flat.
    n_estimators : int
        Number of trees.
    criterion, w0, weighting, max_depth, min_samples_split, min_samples_leaf, min_weight, \
    min_impurity_decrease, max_features, redraw, f_test, nominal_tests, missing, \
    smoothing
        As in `PCTForestClassifier`.
    bootstrap : bool
        Whether to grow each tree on a sample of the rows drawn with replacement, or on all rows.
    max_samples, oob_score, categorical_features, label_weight, class_weight, supervision, \
    warm_start, n_jobs, random_state, verbose
        As in `PCTForestClassifier`.

    Attributes
    ----------
    trees_, estimators_, w0_, hierarchy_, classes_, n_features_in_, feature_names_in_, \
    feature_importances_, oob_score_, oob_decision_function_, supervision_, supervision_scores_
        As in `PCTForestClassifier`.

    Notes
    -----
    Two parameters of `PCTForestClassifier` are not available. `threshold_at` does not apply to
    thresholds that are drawn at random, and `clus_compat` is not possible because the extra trees
    of CLUS use a different random number generator. `nominal_tests` must be "subset" or "nary",
    because a random test of a nominal feature draws a set of categories.

    Examples
    --------
    >>> from ramify import PCTExtraTreesClassifier
    >>> X = [[1.0], [2.0], [3.0], [4.0]]
    >>> y = ["animal/cat", "animal/cat", "animal/dog", "plant"]
    >>> trees = PCTExtraTreesClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> trees.predict([[1.0], [4.0]])
    array(['animal/cat', 'plant'], dtype='<U10')
    """

    splitter = "random"

    def __init__(
        self,
        hierarchy: Hierarchy | None = None,
        *,
        n_estimators: int = 100,
        criterion: Any = "variance",
        w0: float | None = None,
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
        missing: str | None = None,
        smoothing: float = 0.0,
        bootstrap: bool = False,
        max_samples: int | float | None = None,
        oob_score: Any = False,
        categorical_features: Any = None,
        label_weight: Any = None,
        class_weight: Any = None,
        supervision: Any = 1.0,
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
        self.missing = missing
        self.smoothing = smoothing
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.oob_score = oob_score
        self.categorical_features = categorical_features
        self.label_weight = label_weight
        self.class_weight = class_weight
        self.supervision = supervision
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
