"""Gradient boosting of trees that predict all labels at once."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ramify import _core
from ramify._base.classifier import StagedClassifier, share_classes
from ramify._base.relearning import Relearning
from ramify._base.tree_models import Margins, TreeModel
from ramify._parallel import count_threads
from ramify._schema import Array, BoostedTreesOf, IfPresent, Schema, Sparse, Text, Whole
from ramify._validation import (
    check_choice,
    check_number,
    check_same_length,
    check_sample_weight,
    has_validation,
)
from ramify.boosting.cuda.device import load_cupy
from ramify.boosting.outputs import (
    choose_loss,
    find_outputs,
    find_start,
    label_probabilities,
    to_probabilities,
    weigh_outputs,
)
from ramify.boosting.partitions import (
    find_partitions,
    fit_partitions,
    is_partitioned,
)
from ramify.boosting.rounds import (
    Booster,
    BoostingRows,
    add_margins,
    learn_rounds,
    make_booster,
    total_gains,
)
from ramify.boosting.stopping import (
    Course,
    HeldOutModel,
    labels_for,
    read_scoring,
    score_held_out,
)
from ramify.boosting.trees import name_label_sets, read_boosted, relearn_rounds
from ramify.data.features import read_features
from ramify.decision import make_coherent
from ramify.decision.coherence import REPAIRS
from ramify.labels.class_weight import check_class_weight
from ramify.labels.encoding import read_labels
from ramify.labels.hierarchy import Hierarchy
from ramify.trees.criteria import balanced_factors, check_label_weight, find_label_weights
from ramify.trees.options import count_features, count_rows
from ramify.trees.parameters import check_min_samples

_MAX_BINS = 255
_NO_LIMIT = 2**31  # on sizes; larger ones would not fit the integers of the core
_MANY_ROWS = 10_000  # with more, early_stopping="auto" holds out rows, as in scikit-learn


class PCTGradientBoostingClassifier(StagedClassifier):
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
    max_features : int, float, {"auto", "sqrt", "log2"}, optional
        Number of features, or fraction of all D features, to consider in a tree. New features are
        drawn for every tree, from the features that are not constant. "auto" means 30 % of the
        features, but at least 3, so that trees can combine features if there are few. "sqrt" means
        ⌊√D⌋ + 1, "log2" means ⌊log2 D⌋ + 1, and None means all.
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

    trees_: _core.BoostedTrees
    loss_: str
    baseline_: NDArray[np.float32]
    label_sets_: sparse.csr_array[np.int32]
    validation_score_: NDArray[np.float64]

    _saved_schema: ClassVar[Schema] = {
        "loss_": Text(("logistic", "softmax")),
        "baseline_": Array(("n_outputs",), "f4"),
        "label_sets_": IfPresent(Sparse(("n_outputs", "n_labels"), "i4", low=1, high=1)),
        "trees_": BoostedTreesOf("n_variables", "n_outputs"),
        "validation_score_": Array(("n_scores",), finite=False),
        "_seed": Whole(),
    }

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
        max_features: Any = "auto",
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

    def _check_parameters(self) -> None:
        check_choice("loss", self.loss, ("auto", "logistic", "softmax"))
        check_number("learning_rate", self.learning_rate, np.finfo(np.float32).tiny, 1e6)
        check_number("max_iter", self.max_iter, 1, whole=True)
        if self.max_depth is not None:
            check_number("max_depth", self.max_depth, 1, whole=True)
        if self.max_leaf_nodes is not None:
            check_number("max_leaf_nodes", self.max_leaf_nodes, 2, whole=True)
        check_min_samples("min_samples_leaf", self.min_samples_leaf, 1)
        check_number("l2_regularization", self.l2_regularization, 0, 1e12)
        self._count_features(1)
        check_number("subsample", self.subsample, 1e-12, 1)
        check_number("max_bins", self.max_bins, 2, _MAX_BINS, whole=True)
        check_number("sketch_size", self.sketch_size, 1, whole=True)
        check_number("w0", self.w0, 0)
        check_choice("weighting", self.weighting, ("avg", "sum", "min", "max"))
        check_label_weight(self.label_weight)
        check_class_weight(self.class_weight)
        check_choice("coherence", self.coherence, REPAIRS)
        if self.early_stopping not in (True, False, "auto"):
            raise ValueError(
                f"early_stopping must be True, False or 'auto', got {self.early_stopping!r}."
            )
        check_number("validation_fraction", self.validation_fraction, 0, 1)
        check_number("n_iter_no_change", self.n_iter_no_change, 1, whole=True)
        check_number("tol", self.tol, 0)
        read_scoring(self.scoring)
        check_number("score_every", self.score_every, 1, whole=True)
        check_choice("device", self.device, ("cpu", "cuda"))
        if self.refit and self.warm_start:
            raise ValueError(
                "refit must be False with warm_start=True, got True: learning again does not keep "
                "earlier trees. Set one of the two to False."
            )

    def _why_not_unknown(self) -> str | None:
        unsupported = {
            "loss='softmax' requires all labels. Use loss='logistic'": self.loss != "softmax",
            "label_weight='balanced' requires all labels. Use label_weight=None": (
                not isinstance(self.label_weight, str)
            ),
            "class_weight requires all labels. Use class_weight=None": self.class_weight is None,
            "device='cuda' requires all labels. Use device='cpu'": self.device == "cpu",
            "a score of held-out rows requires all labels. Use scoring='loss'": (
                not self.early_stopping or read_scoring(self.scoring) is None
            ),
        }
        return next((why for why, fits in unsupported.items() if not fits), None)

    # ---- learning --------------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> PCTGradientBoostingClassifier:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Training rows, or texts. NaN marks missing values; string and categorical columns of a
            data frame are nominal, unless they are texts. Partitions of a dask array or data frame
            stay on the workers of the current dask client; y and `sample_weight` must then have
            the same partitions.
        y : array-like
            Labels of the n rows, in any format accepted by `ramify.labels.read_labels`.
        sample_weight : array-like of shape (n,), optional
            Sample weights. They do not affect which rows are drawn.
        X_val : like X, optional
            Validation rows for early stopping, instead of a fraction of X.
        y_val : array-like, optional
            Labels of the validation rows.
        sample_weight_val : array-like, optional
            Weights of the validation rows.

        Returns
        -------
        PCTGradientBoostingClassifier
            The fitted classifier.
        """
        self._check_parameters()
        if is_partitioned(X) or is_partitioned(y):
            return self._fit_collections(X, y, sample_weight, X_val, y_val, sample_weight_val)
        if self.device == "cuda":
            load_cupy()
        previous = self._previous() if self.warm_start and hasattr(self, "trees_") else None
        known = None if previous is None else (self.schema_.variables, self.hierarchy_)
        X, encoded, weights = self._read_training(X, y, sample_weight)
        if known is not None and known != (self.schema_.variables, encoded.hierarchy):
            raise ValueError(
                "X and y must have the same features and labels as in the previous fit with "
                "warm_start=True. Pass the same data, or set warm_start=False."
            )
        random = check_random_state(self.random_state)
        self._seed = int(random.randint(np.iinfo(np.int32).max))
        if previous is not None:
            self._seed = previous._seed
        rows = BoostingRows.of(X, encoded.Y, weights, encoded.unknown)
        rows = self._hold_out(rows, X_val, y_val, sample_weight_val)
        self._boost(rows, int(self.max_iter), previous)
        if self.refit and len(rows.held_out):
            scores = self.validation_score_
            self._boost(rows.all_learning(), self.n_iter_, None)
            self.validation_score_ = scores
        return self

    def _fit_collections(
        self, X: Any, y: Any, sample_weight: Any, *validation: Any
    ) -> PCTGradientBoostingClassifier:
        """Fit to dask collections, whose partitions stay where they are."""
        if any(given is not None for given in validation):
            raise ValueError(
                "X_val, y_val and sample_weight_val must not be passed if X is a dask collection. "
                "Set validation_fraction instead."
            )
        if self.class_weight is not None:
            raise ValueError(
                f"class_weight must be None if X is a dask collection, got {self.class_weight!r}. "
                "Pass sample_weight, in the same partitions as X."
            )
        if self.device != "cpu":
            raise ValueError(
                f"device must be 'cpu' if X is a dask collection, got {self.device!r}. Set "
                "device='cpu', or pass X in the memory of one machine."
            )
        self._seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        with find_partitions(X, y, sample_weight) as partitions:
            fit_partitions(self, partitions)
        return self

    def _previous(self) -> PCTGradientBoostingClassifier:
        """Return the state from which a fit with `warm_start` continues."""
        if self.max_iter < self.n_iter_:
            raise ValueError(
                f"max_iter must be at least {self.n_iter_} with warm_start=True, the number of "
                f"rounds of the previous fit, got {self.max_iter}. Increase max_iter, or set "
                "warm_start=False."
            )
        if self.max_iter == self.n_iter_:
            warnings.warn(
                f"warm_start=True adds no trees: there are {self.n_iter_} trees already. Increase "
                "max_iter to learn more.",
                UserWarning,
                stacklevel=4,
            )
        if self.loss not in ("auto", self.loss_):
            raise ValueError(
                f"loss must be {self.loss_!r} as in the previous fit with warm_start=True, got "
                f"{self.loss!r}. Keep the loss, or set warm_start=False."
            )
        return copy(self)

    def _hold_out(
        self, rows: BoostingRows, X_val: Any, y_val: Any, sample_weight_val: Any
    ) -> BoostingRows:
        """Set aside rows for early stopping, if it is used."""
        if has_validation(X_val, y_val, sample_weight_val):
            if not self.early_stopping:
                raise ValueError(
                    "early_stopping must be True or 'auto' if X_val is passed to fit, got False. "
                    "Change early_stopping, or do not pass validation rows."
                )
            X = read_features(self, X_val, self.schema_)
            Y = read_labels(y_val, self.hierarchy_).Y
            check_same_length(X.shape[0], Y.shape[0], "_val")
            weights = check_sample_weight(sample_weight_val, X.shape[0], "_val")
            return rows.with_validation(BoostingRows.of(X, Y, weights), self.schema_)
        if not self._holds_out(len(rows.weights)):
            return rows
        return rows.hold_out(self.validation_fraction, np.random.RandomState(self._seed))

    def _holds_out(self, n_rows: int) -> bool:
        """Return whether to hold out some of the training rows."""
        if self.early_stopping == "auto":
            return n_rows > _MANY_ROWS
        return bool(self.early_stopping)

    def _boost(
        self, rows: BoostingRows, n_rounds: int, previous: PCTGradientBoostingClassifier | None
    ) -> None:
        """Learn until there are `n_rounds` trees, and set the attributes."""
        outputs = self._find_outputs(rows, previous)
        learning = rows.learning
        if previous is None:
            trees = _core.BoostedTrees(outputs.shape[1], rows.X.shape[1])
            known = None if rows.unknown is None else rows.unknown.take(learning)
            self.baseline_ = find_start(
                self.loss_, outputs[learning], rows.weights[learning], known
            )
            margins = self.baseline_
        else:
            trees = previous.trees_.copy()
            self.baseline_ = previous.baseline_
            margins = self._margins(rows.X, trees)
        n_kept = len(trees)
        booster = make_booster(
            rows,
            self.schema_,
            outputs,
            margins,
            weigh_outputs(self._label_weights(rows), getattr(self, "label_sets_", None)),
            max_bins=int(self.max_bins),
            options=self._options(len(learning), n_kept),
            device=self.device,
        )
        course = self._course(booster, rows) if len(rows.held_out) else None
        if course is not None:
            course.record()
        learn_rounds(booster, trees, n_rounds - n_kept, course, verbose=bool(self.verbose))
        earlier = np.zeros(0) if previous is None else previous.validation_score_[:n_kept]
        if course is not None:
            trees.truncate(n_kept + course.rounds_to_keep())
            complete = len(earlier) == n_kept
            scores = [*earlier, *course.scores] if complete else course.scores
            self.validation_score_ = np.array(scores, dtype=np.float64)
        else:
            self.validation_score_ = np.zeros(0)
        self.trees_ = trees

    def _relearn(self, old: Any, task: Relearning) -> NDArray[np.str_]:
        self.loss_, self._seed, self.validation_score_ = old.loss_, old._seed, np.zeros(0)
        rows = BoostingRows.of(task.X, task.Y, task.weights)
        outputs, sets = find_outputs(self.loss_, rows.Y)
        if sets is not None:
            self.label_sets_ = sets
        # Label sets depend on each other, labels do not.
        copied = task.copied if sets is None else np.full(sets.shape[0], -1, dtype=np.int64)
        new, same = np.flatnonzero(copied < 0), np.flatnonzero(copied >= 0)
        start = np.empty(len(copied), dtype=np.float32)
        start[same] = old.baseline_[copied[same]]
        start[new] = find_start(self.loss_, outputs, rows.weights)[new]
        self.trees_ = relearn_rounds(
            old.trees_,
            replace(rows, Y=outputs),
            copied,
            start,
            self._options(len(rows.weights), 0),
        )
        self.baseline_ = start
        return task.statuses_after(task.changed | (sets is not None), forgets=True)

    def _find_outputs(
        self, rows: BoostingRows, previous: PCTGradientBoostingClassifier | None
    ) -> sparse.csr_array[np.int32]:
        """Set the loss and its label sets; return the outputs of the rows."""
        if previous is not None:
            self.loss_ = previous.loss_
        elif not hasattr(self, "loss_"):  # already set if `fit` learns again from all rows
            self.loss_ = choose_loss(
                self.loss if rows.unknown is None else "logistic",
                rows.Y,
                self.hierarchy_,
                single_label=self.format_.single_label,
            )
        outputs, label_sets = find_outputs(self.loss_, rows.Y)
        if label_sets is None:
            return outputs
        if previous is not None and not _are_equal(label_sets, previous.label_sets_):
            raise ValueError(
                "y must have the same label sets as in the previous fit with warm_start=True and "
                "loss='softmax'. Pass the same data, or set warm_start=False."
            )
        self.label_sets_ = label_sets
        return outputs

    def _label_weights(self, rows: BoostingRows) -> NDArray[np.float64]:
        factors = self.label_weight
        if isinstance(factors, str):
            factors = balanced_factors(rows.Y[rows.learning], rows.weights[rows.learning])
        return find_label_weights(self.hierarchy_, self.w0, self.weighting, factors)

    def _options(self, n_learning: int, n_kept: int) -> _core.GradientBoostingOptions:
        n_drawn = max(1, round(self.subsample * n_learning))
        options = _core.GradientBoostingOptions()
        options.loss = self.loss_
        options.learning_rate = float(self.learning_rate)
        options.max_depth = min(_NO_LIMIT, self.max_depth or _NO_LIMIT)
        options.max_leaf_nodes = min(_NO_LIMIT, self.max_leaf_nodes or 0)
        options.min_samples_leaf = int(
            min(_NO_LIMIT, count_rows(self.min_samples_leaf, n_drawn, 1))
        )
        options.l2_regularization = float(self.l2_regularization)
        options.n_sampled_rows = n_drawn
        options.n_sampled_features = self._count_features(self.schema_.n_variables)
        options.sketch_size = min(_NO_LIMIT, int(self.sketch_size))
        options.seed = self._seed
        options.first_round = n_kept
        options.n_threads = count_threads(self.n_jobs)
        return options

    def _count_features(self, n_features: int) -> int:
        """Return the number of features that are drawn for a tree."""
        if isinstance(self.max_features, str) and self.max_features == "auto":
            return max(count_features(0.3, n_features), min(3, n_features))
        return count_features(self.max_features, n_features)

    def _course(self, booster: Booster, rows: BoostingRows) -> Course:
        scorer = read_scoring(self.scoring)
        X = None if scorer is None else rows.X[rows.held_out]
        truth = rows.Y[rows.held_out]
        weights = rows.weights[rows.held_out]
        weighted = {} if (weights == weights[0]).all() else {"sample_weight": weights}
        write = labels_for(scorer, self.format_)

        def score() -> float:
            if scorer is None:
                return -booster.loss(True)
            margins = np.empty((len(rows.held_out), len(self.baseline_)), dtype=np.float32)
            booster.copy_margins(rows.held_out, margins)
            model = HeldOutModel(
                self._link(margins), self.hierarchy_, self.classes_, self._decide, write
            )
            return score_held_out(scorer, model, X, write(truth), **weighted)

        return Course(score, int(self.n_iter_no_change), float(self.tol), int(self.score_every))

    # ---- predicting ------------------------------------------------------------------------

    @property
    def n_iter_(self) -> int:
        """The number of rounds of the model, equal to the number of its trees."""
        check_is_fitted(self)
        return len(self.trees_)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The fraction of the total gain of all tests that is due to each feature."""
        check_is_fitted(self)
        return self.schema_.sum_by_feature(self._variable_importances())

    def _variable_importances(self) -> NDArray[np.float64]:
        """Return the fraction of the total gain that is due to each variable."""
        gains = total_gains(self.trees_)
        return np.asarray(gains / max(gains.sum(), np.finfo(float).tiny))

    def _text_form(self) -> str:
        return "presence"

    def _start(self, n_rows: int) -> NDArray[np.float32]:
        return np.tile(self.baseline_, (n_rows, 1))

    def _margins(self, X: Any, trees: _core.BoostedTrees) -> NDArray[np.float32]:
        margins = self._start(X.shape[0])
        n_threads = count_threads(self.n_jobs)
        add_margins(trees, X, margins, n_threads=n_threads, device=self.device)
        return margins

    def _link(self, margins: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the coherent probabilities of all labels."""
        probabilities = to_probabilities(self.loss_, margins, count_threads(self.n_jobs))
        if self.loss_ == "softmax":
            # Probabilities of single precision do not sum to 1 exactly.
            scores = label_probabilities(probabilities, self.label_sets_)
            return share_classes(scores, self.format_)
        return make_coherent(probabilities, self.hierarchy_, self.coherence, n_jobs=self.n_jobs)

    def _predict_scores(self, X: Any) -> NDArray[np.float64]:
        return self._link(self._margins(X, self.trees_))

    def _staged_scores(self, X: Any) -> Iterator[NDArray[np.float64]]:
        check_is_fitted(self)
        X = read_features(self, X, self.schema_)
        margins = self._start(X.shape[0])
        n_threads = count_threads(self.n_jobs)
        for first in range(self.n_iter_):
            add_margins(self.trees_, X, margins, first=first, last=first + 1, n_threads=n_threads)
            yield self._link(margins)

    def _as_trees(self) -> TreeModel:
        sets = self.label_sets_ if self.loss_ == "softmax" else None
        hierarchy = self.hierarchy_
        return TreeModel(
            tuple(read_boosted(self.trees_)),
            hierarchy if sets is None else name_label_sets(sets, hierarchy),
            lambda X: self._margins(X, self.trees_),
            "sum",
            unit="margin",
            outputs="labels" if sets is None else "label sets",
            margins=Margins(self.baseline_, sets, self.coherence),
        )

    # ---- saving ----------------------------------------------------------------------------

    def _get_saved_state(self) -> dict[str, Any]:
        state = super()._get_saved_state()
        return {**state, "_seed": self._seed} if "trees_" in state else state

    def _set_saved_state(self, state: Mapping[str, Any]) -> None:
        fitted = dict(state)
        seed = fitted.pop("_seed", None)
        super()._set_saved_state(fitted)
        if "trees_" not in fitted:
            return
        has_sets = "label_sets_" in fitted
        n_outputs = len(self.baseline_)
        if has_sets != (self.loss_ == "softmax") or (
            not has_sets and n_outputs != self.hierarchy_.n_labels
        ):
            raise ValueError("loss_, label_sets_ and baseline_ do not fit together")
        self._seed = int(seed)  # required by warm_start


def _are_equal(sets: sparse.csr_array[np.int32], others: sparse.csr_array[np.int32]) -> bool:
    return (
        sets.shape == others.shape
        and np.array_equal(sets.indptr, others.indptr)
        and np.array_equal(sets.indices, others.indices)
    )
