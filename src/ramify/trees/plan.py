"""Growth plans: the options of the core, and the call that grows a tree."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special

from ramify import _core
from ramify._parallel import count_threads
from ramify._validation import check_choice, check_number
from ramify.data.rows import as_rows
from ramify.trees.criteria import Distance, LabelSets
from ramify.trees.f_test import clus_critical_values, critical_values
from ramify.trees.views import smooth_leaves

__all__ = [
    "GrowthPlan",
    "check_tree_fits",
    "count_features",
    "count_rows",
    "predict_tree",
    "prepare_labels",
]


def count_features(max_features: Any, n_features: int, *, clus: bool = False) -> int:
    """Return the number of features to consider at a node.

    Examples
    --------
    >>> count_features("sqrt", 80), count_features(0.5, 80), count_features(None, 80)
    (9, 40, 80)
    >>> count_features("sqrt", 81), count_features("sqrt", 81, clus=True)
    (10, 9)
    """
    if max_features is None:
        return n_features
    if isinstance(max_features, str):
        check_choice("max_features", max_features, ("sqrt", "log2"))
        root = math.sqrt(n_features) if max_features == "sqrt" else math.log2(n_features)
        return min(n_features, max(1, math.ceil(root) if clus else math.floor(root) + 1))
    if isinstance(max_features, int | np.integer) and not isinstance(max_features, bool):
        check_number("max_features", max_features, 1, whole=True)
        return min(int(max_features), n_features)
    check_number("max_features", max_features, 0, 1)
    wanted = max_features * n_features
    return max(1, math.ceil(wanted) if clus else int(wanted))


def count_rows(min_samples: float, n_rows: int, at_least: int) -> float:
    """Convert a minimum number of rows, given as a number or as a fraction, to a number.

    `min_samples`: A number of rows, or a fraction of them strictly between 0 and 1.

    Examples
    --------
    >>> count_rows(5, 30, 1), count_rows(0.25, 30, 1), count_rows(0.01, 30, 2)
    (5, 8, 2)
    """
    if 0 < min_samples < 1:
        return max(at_least, math.ceil(min_samples * n_rows))
    return min_samples


# The defaults of the core; see core/growing/options.hpp.
_DEFAULTS = _core.GrowOptions()


@dataclass(frozen=True)
class GrowthPlan:
    """All settings that determine the tree grown on given data.

    The fields are those of `GrowOptions` in core/growing/options.hpp, which also defines their
    defaults, except for the following:

    - `f_test` is the level of the F-test; None means no test.
    - `clus`, "hierarchical" or "multilabel", selects the conventions of CLUS for such targets.
    - `distance` is the distance between label sets that the criterion "distance" reduces.
    - `sets` contains the distinct label sets of one label matrix. They are computed for each tree
      unless they have been set by `with_sets`.
    - `confidence` is the confidence factor of pessimistic pruning; None means no pruning.
    - `smoothing` is the strength of the smoothing of leaves.
    - `hidden` is a feature that is never tested.
    - `min_samples_split` and `min_samples_leaf` below 1 are fractions of the rows passed to
      `grow`, unless `for_rows` has converted them to numbers.
    - `engine` forces one of the implementations, all of which grow the same tree.
    """

    criterion: str = "variance"
    exclusive: bool = False
    max_depth: int | None = None
    min_samples_split: float = _DEFAULTS.min_samples_split
    min_samples_leaf: float = _DEFAULTS.rules.min_samples_leaf
    min_weight: float = _DEFAULTS.rules.min_weight
    min_impurity_decrease: float = _DEFAULTS.min_gain
    max_features: int = _DEFAULTS.max_features
    redraw: bool = _DEFAULTS.redraw
    random_thresholds: bool = _DEFAULTS.rules.random_thresholds
    midpoint: bool = _DEFAULTS.rules.midpoint
    nominal_tests: str = _DEFAULTS.rules.nominal_tests.name
    f_test: float | None = None
    seed: int = _DEFAULTS.seed
    n_jobs: int | None = None
    clus: str | None = None
    distance: Distance | None = None
    prototype: str = _DEFAULTS.prototype.name
    smoothing: float = 0.0
    inner_values: bool = _DEFAULTS.inner_values
    confidence: float | None = None
    hidden: int | None = None
    sets: LabelSets | None = None
    engine: str = _DEFAULTS.engine.name

    def with_sets(
        self, Y: sparse.csr_array[np.int32], label_weights: NDArray[np.float64]
    ) -> GrowthPlan:
        """Return the same plan with the distinct label sets of Y, if trees need them."""
        return replace(self, sets=self._find_sets(Y, label_weights))

    def grow(
        self,
        dataset: _core.Dataset,
        Y: sparse.csr_array[np.int32],
        label_weights: NDArray[np.float64],
        sample_weight: NDArray[np.float64],
        rows: NDArray[np.int64] | None = None,
        *,
        labels: _core.Labels | None = None,
        unlabelled_count: bool = False,
    ) -> _core.Tree:
        """Grow a tree on some rows of a data set.

        `Y`: labels of all rows of the data set, including all ancestors.
        `rows`: indices of the training rows, in increasing order; all rows by default.
        `unlabelled_count`: the negative rows of local problems have no labels.
        """
        if rows is None:
            rows = np.arange(Y.shape[0], dtype=np.int64)
        if self.clus == "hierarchical" and not unlabelled_count:
            # In CLUS, rows without labels have no weight, but their values still give thresholds.
            labelled = np.diff(Y.indptr) > 0
            sample_weight = np.where(labelled, sample_weight, 0.0)
        else:
            rows = rows[sample_weight[rows] > 0]
        total = float(sample_weight[rows].sum())
        sets = self.sets or self._find_sets(Y, label_weights)
        weights = np.ascontiguousarray(sample_weight[rows])
        options = self.for_rows(len(rows))._options(Y.shape[1], total)
        tree = _core.grow(
            dataset,
            labels or prepare_labels(Y, label_weights),
            rows,
            weights,
            sets.of_row,
            sets.distances,
            options,
        )
        if self.smoothing > 0:
            prior = weights @ Y[rows] / total
            tree = smooth_leaves(tree, prior, self.smoothing, sums=options.sums)
        return tree

    def for_rows(self, n_rows: int) -> GrowthPlan:
        """Return the same plan with fractions of rows converted to numbers of rows."""
        return replace(
            self,
            min_samples_split=count_rows(self.min_samples_split, n_rows, 2),
            min_samples_leaf=count_rows(self.min_samples_leaf, n_rows, 1),
        )

    def for_member(self, seed: int) -> GrowthPlan:
        """Return the same plan for one tree of an ensemble, with its own seed and one thread.

        Under the conventions of CLUS, the seed is the state of java.util.Random.
        """
        return replace(self, seed=seed, n_jobs=1)

    def with_f_test(self, level: float) -> GrowthPlan:
        """Return the same plan with another level of the F-test."""
        return replace(self, f_test=level)

    def _find_sets(
        self, Y: sparse.csr_array[np.int32], label_weights: NDArray[np.float64]
    ) -> LabelSets:
        if self.criterion != "distance" and self.prototype == "mean":
            return LabelSets.none()
        return LabelSets.of(Y, label_weights, self.distance)

    @property
    def _by_entropy(self) -> bool:
        return self.criterion in ("entropy", "gain_ratio")

    def _core_criterion(self) -> _core.Criterion:
        if self._by_entropy:
            return _core.Criterion.class_entropy if self.exclusive else _core.Criterion.entropy
        by_distance = self.criterion == "distance"
        return _core.Criterion.distance if by_distance else _core.Criterion.variance

    def _options(self, n_labels: int, total: float) -> _core.GrowOptions:
        """Return the options of the core, given the total weight of the rows."""
        options = _core.GrowOptions()
        options.criterion = self._core_criterion()
        options.engine = _core.Engine[self.engine]
        if self.max_depth is not None:
            options.max_depth = self.max_depth
        options.min_samples_split = self.min_samples_split
        options.min_gain = self.min_impurity_decrease * total
        options.max_features = self.max_features
        options.redraw = self.redraw
        if self.hidden is not None:
            options.hidden_feature = self.hidden
        options.prototype = _core.Prototype[self.prototype]
        options.inner_values = self.inner_values
        if self.confidence is not None:
            options.pessimism.confidence = self.confidence
            options.pessimism.z = float(special.ndtri(1 - self.confidence))
            options.pessimism.exclusive = self.exclusive
        options.seed = self.seed
        options.n_threads = count_threads(self.n_jobs)
        self._set_rules(options.rules, total)
        if self.clus is not None:
            self._follow_clus(options, n_labels)
        return options

    def _set_rules(self, rules: _core.SplitRules, total: float) -> None:
        """Set the rules for which tests are allowed and how they are scored."""
        rules.min_samples_leaf = self.min_samples_leaf
        rules.min_weight = self.min_weight
        rules.midpoint = self.midpoint
        rules.random_thresholds = self.random_thresholds
        rules.nominal_tests = _core.NominalTests[self.nominal_tests]
        rules.gain_ratio = self.criterion == "gain_ratio" and self.clus is not None
        rules.c45 = self.criterion == "gain_ratio" and self.clus is None
        # The Gini index of a label is twice its variance; that of a class variable is the sum of
        # the variances of its classes.
        rules.score_factor = 2.0 if self.criterion == "gini" and not self.exclusive else 1.0
        if not self._by_entropy:
            level = 1.0 if self.f_test is None else self.f_test
            rules.f_critical = critical_values(level, total).tolist()

    def _follow_clus(self, options: _core.GrowOptions, n_labels: int) -> None:
        """Set the options that differ under the conventions of CLUS."""
        hierarchical = self.clus == "hierarchical"
        options.merging = (
            _core.LeafMerging.equal if hierarchical else _core.LeafMerging.same_labels
        )
        options.min_samples_split = 0.0
        options.java_random = True
        options.redraw = False
        options.sums = hierarchical and self.smoothing > 0
        rules = options.rules
        rules.min_samples_leaf = 0.0
        rules.mean_score = self._by_entropy
        rules.clus = True
        if self._by_entropy:
            rules.score_factor = 1.0
            rules.clus_floor = 1e-6
        else:
            level = 1.0 if self.f_test is None else self.f_test
            rules.score_factor = 1.0 / n_labels
            rules.f_critical = clus_critical_values(level).tolist()


def prepare_labels(
    Y: sparse.csr_array[np.int32], label_weights: NDArray[np.float64], *, many: bool = False
) -> _core.Labels:
    """Convert labels to the format of the core.

    `Y`: labels, including all ancestors.
    """
    return _core.Labels(
        Y.indptr.astype(np.int64, copy=False),
        Y.indices.astype(np.int32, copy=False),
        np.ascontiguousarray(label_weights),
        many,
    )


def predict_tree(
    tree: _core.Tree, X: Any, out: NDArray[np.float64], *, divisor: float = 1.0, clus: bool = False
) -> None:
    """Add the predictions of a tree, divided by `divisor`, to `out`.

    `out`: receives the predictions.
    """
    tree.predict(as_rows(X), out, divisor, clus)


def check_tree_fits(tree: Any, n_features: int, n_labels: int) -> None:
    """Raise an error if a loaded tree does not match the number of features and labels."""
    if (
        not isinstance(tree, _core.Tree)
        or tree.feature.max() >= n_features
        or tree.value_label.max(initial=-1) >= n_labels
    ):
        raise ValueError(f"a tree does not fit {n_features} features and {n_labels} labels")
