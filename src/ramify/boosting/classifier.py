"""Gradient boosting of trees that predict all labels at once."""

from __future__ import annotations

from typing import Any

from ramify.boosting.base import GradientBoostingBase
from ramify.labels.hierarchy import Hierarchy

__all__ = [
    "PCTGradientBoostingClassifier",
]


class PCTGradientBoostingClassifier(GradientBoostingBase):
    r"""Gradient-boosted predictive clustering trees.

    Every round adds a tree whose leaves hold one value per label, which means that all labels are
    learnt at once. The tests of a tree are chosen on a random sketch of the gradients, with
    `sketch_size` numbers per row; the values of its leaves are computed from the gradients of all
    labels. The time per round therefore depends little on the number of labels.

    Parameters
    ----------
    hierarchy : Hierarchy, optional
        The label hierarchy. If None, a tree is inferred from path labels; all other labels are
        treated as flat.
    loss : {"auto", "logistic", "softmax"}
        "logistic" learns the probability of each label. "softmax" learns the probability of each
        label set of the training rows; the probability of a label is the sum over the sets that
        contain it. "auto" selects "softmax" if every row has one label and its ancestors, i.e. one
        path in a tree, and there are at least three rows per label set on average; otherwise, it
        selects "logistic".
    learning_rate : float
        Factor by which the values of the leaves are multiplied.
    max_iter : int
        Number of rounds, each of which adds one tree. With early stopping, the maximum number.
    max_depth : int, optional
        Maximum depth of the trees: the largest number of tests on a path. None means no limit.
    max_leaf_nodes : int, optional
        Maximum number of leaves of a tree. Nodes are then split in decreasing order of gain. None
        means no limit.
    min_samples_leaf : int or float
        Minimum number of rows in each branch of a test. A float strictly between 0 and 1 is a
        fraction of the rows that a tree is learnt from, rounded up.
    l2_regularization : float
        Added to the sum of second derivatives in a leaf; larger values give smaller steps.
    max_features : int, float, {"sqrt", "log2"}, optional
        Number of features, or fraction of all D features, to consider in a tree. New features are
        drawn for every tree, from the features that are not constant. "sqrt" means ⌊√D⌋ + 1,
        "log2" means ⌊log2 D⌋ + 1, and None means all.
    subsample : float
        Fraction of the rows to draw for each tree, without replacement.
    max_bins : int
        Maximum number of bins for the values of a numeric feature, from 2 to 255.
        Missing values have a bin of their own. If a nominal feature has more categories, the
        rarest ones share a bin.
    sketch_size : int
        Number of values per row that summarise the gradients in the choice of tests. If there are
        at most this many labels (label sets for "softmax"), the gradients are used as they are.
    w0 : float
        Weight of a label relative to its parent in the choice of tests: the weight of a label at
        depth d is proportional to w0 ** d. With 1, all labels have the same weight.
    weighting : {"avg", "sum", "min", "max"}
        How to combine the weights derived from several parents if the hierarchy is a DAG.
    label_weight : {"balanced"}, array-like of shape (n_labels,) or dict, optional
        Factors by which to multiply the label weights in the choice of tests; see
        `PCTClassifier`. The values of the leaves do not depend on label weights.
    class_weight : {"balanced"} or dict of label to float, optional
        Weights of the classes if y has one label or path per row; see `PCTClassifier`. They also
        weigh held-out rows, unless these are passed to `fit`.
    coherence : {"max", "min", "isotonic"}
        How to make the probabilities of "logistic" coherent; see
        `ramify.decision.make_coherent`. Those of "softmax" are already coherent.
    early_stopping : bool or "auto"
        Whether to score held-out rows after each round, to stop when the score has not improved
        for `n_iter_no_change` rounds, and to keep the rounds up to the best score. "auto" does so
        if validation rows are passed to `fit`, or if there are more than 10,000 rows.
    validation_fraction : float
        Fraction of the rows to hold out for early stopping if none are passed to `fit`.
    n_iter_no_change : int
        Number of rounds without improvement after which to stop.
    tol : float
        Smallest increase of the score that counts as an improvement.
    scoring : str or callable
        The score of the held-out rows: "loss", which is the negative of the loss that is
        minimised, a name in `ramify.metrics.get_scorer_names`, or a scorer, i.e. a function of
        (estimator, X, y).
    score_every : int
        Number of rounds from one score of the held-out rows to the next. Use larger values if
        computing the score takes longer than a round, as it does for areas under curves.
    refit : bool
        Whether to learn again from all rows, including the held-out ones, after early stopping
        has chosen the number of rounds. This takes about twice as long.
    warm_start : bool
        Whether to keep the trees of the previous call to `fit` and only add trees until there are
        `max_iter`. With the same data, the result equals a model learnt at once.
    categorical_features : array-like of bool, int or str, optional
        The nominal features, as a boolean mask, indices or column names. String and categorical
        columns of a data frame are always nominal. Nominal columns of an array must contain
        integer codes 0, 1, ….
    device : {"cpu", "cuda"}
        Where to learn. "cuda" uses an NVIDIA GPU and requires CuPy
        (``pip install 'ramify[cuda12]'``). The trees are the same on both devices; see
        :doc:`/gradient-boosting`. Predictions for dense X use the GPU as well if there is one.
    n_jobs : int, optional
        Number of threads; -1 means all cores. The result does not depend on it.
    random_state : int, RandomState instance or None
        Controls the rows and features of each tree, the sketches of the gradients and the held-out
        rows. Pass an int for reproducible results.
    verbose : bool
        Whether to show a progress bar, with the score of the held-out rows (requires rich).

    Attributes
    ----------
    trees_ : ramify._core.BoostedTrees
        The trees.
    n_iter_ : int
        Number of rounds of the model, equal to the number of its trees.
    loss_ : {"logistic", "softmax"}
        The loss that was minimised.
    baseline_ : ndarray of float32, shape (n_outputs,)
        The margins before the first round. The outputs are the labels or, for "softmax", the
        label sets.
    label_sets_ : csr_array of shape (n_outputs, n_labels)
        The label sets of "softmax". Defined only for this loss.
    validation_score_ : ndarray
        The score of the held-out rows before the first round and after every round, including
        those after the best one, `n_iter_`; NaN after rounds that are skipped because of
        `score_every`. Empty without early stopping.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The fraction of the total gain of all tests that is due to each feature.
    hierarchy_ : Hierarchy
        The label hierarchy, as passed or as inferred from y.
    classes_ : ndarray of shape (n_labels,)
        The labels, in the order of the columns of `predict_proba`.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features seen during `fit`. Defined only if X was a data frame with string
        column names.

    See Also
    --------
    PCTForestClassifier : Independent trees whose predictions are averaged.
    HierarchicalAdaBoostMHClassifier : Boosting of decision stumps.

    Notes
    -----
    For sketches :math:`R g_i` of the gradients of the loss and sample weights w, a node is split
    by the test that divides its rows into parts P such that
    :math:`\sum_P |\sum_{i \in P} w_i R g_i|^2 / (\sum_{i \in P} w_i + 4 \lambda)` is largest,
    where λ is `l2_regularization`. The value of a leaf for label j is
    :math:`-\eta G_j / (H_j + \lambda)`, with the sums of first and second derivatives
    :math:`G_j, H_j` and the learning rate η.

    If `fit` is interrupted, the estimator keeps its previous state.

    References
    ----------
    J. H. Friedman. Greedy function approximation: a gradient boosting machine. Annals of
    Statistics 29, 2001.

    L. Iosipoi and A. Vakhrushev. SketchBoost: fast gradient boosted decision tree for multioutput
    problems. NeurIPS, 2022.

    Examples
    --------
    >>> from ramify import PCTGradientBoostingClassifier, make_hierarchical_classification
    >>> data = make_hierarchical_classification(300, 8, n_labels=12, random_state=0)
    >>> model = PCTGradientBoostingClassifier(data.hierarchy, max_iter=50, random_state=0)
    >>> model = model.fit(data.X, data.y)
    >>> model.predict_proba(data.X).shape == data.y.shape
    True
    >>> model.n_iter_, model.loss_
    (50, 'logistic')
    """

    def __init__(
        self,
        hierarchy: Hierarchy | None = None,
        *,
        loss: str = "auto",
        learning_rate: float = 0.05,
        max_iter: int = 400,
        max_depth: int | None = 5,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: float = 5,
        l2_regularization: float = 1.0,
        max_features: Any = 0.3,
        subsample: float = 1.0,
        max_bins: int = 64,
        sketch_size: int = 64,
        w0: float = 1.0,
        weighting: str = "avg",
        label_weight: Any = None,
        class_weight: Any = None,
        coherence: str = "max",
        early_stopping: Any = "auto",
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        scoring: Any = "loss",
        score_every: int = 1,
        refit: bool = False,
        warm_start: bool = False,
        categorical_features: Any = None,
        device: str = "cpu",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.hierarchy = hierarchy
        self.loss = loss
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.subsample = subsample
        self.max_bins = max_bins
        self.sketch_size = sketch_size
        self.w0 = w0
        self.weighting = weighting
        self.label_weight = label_weight
        self.class_weight = class_weight
        self.coherence = coherence
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.scoring = scoring
        self.score_every = score_every
        self.refit = refit
        self.warm_start = warm_start
        self.categorical_features = categorical_features
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
