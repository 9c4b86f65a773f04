"""What trees and forests for several targets have in common."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from ramify import _core
from ramify._base.classifier import MAX_JOBS
from ramify._fitting import all_or_nothing, is_all_or_nothing
from ramify._savable import get_fitted, savable, set_fitted
from ramify._schema import (
    AnyOf,
    Array,
    Flag,
    IfPresent,
    ListOf,
    Maybe,
    Number,
    Part,
    Schema,
    TreeOf,
    Whole,
)
from ramify._validation import check_choice, check_number, check_same_length, check_sample_weight
from ramify.data.features import FeatureSchema, read_training_features
from ramify.trees.members import check_max_samples, keep_trees
from ramify.trees.parameters import check_min_samples, check_random_tests, is_list
from ramify.trees.plan import check_tree_fits, count_features, predict_tree
from ramify.trees.target_data import TargetData, TargetPlan, check_target_weight
from ramify.trees.targets import Columns, read_columns
from ramify.trees.tree_ensemble import TreeEnsemble
from ramify.trees.views import TreeViews

__all__ = [
    "TargetEstimator",
    "TargetForest",
    "TargetTree",
    "check_criterion",
    "check_forest",
    "check_tree",
]


class TargetEstimator(BaseEstimator, metaclass=ABCMeta):  # type: ignore[misc]
    """Base class of trees and forests for several targets.

    A leaf stores one column per numeric target, or one per class of every nominal target. A
    subclass defines how to read y (`_read_targets`) and how to use these columns.
    """

    splitter: str
    max_depth: int | None
    min_samples_split: float
    min_samples_leaf: float
    min_weight: float
    min_impurity_decrease: float
    max_features: Any
    redraw: bool
    f_test: float | None
    threshold_at: str | None
    nominal_tests: str
    categorical_features: Any
    target_weight: Any
    n_jobs: int | None
    random_state: Any
    clus_compat: bool

    schema_: FeatureSchema
    n_features_in_: int
    n_outputs_: int
    n_columns_: int
    flat_output_: bool
    target_names_: NDArray[Any]

    _saved_schema: ClassVar[Schema] = {
        "n_features_in_": Whole(1),
        "n_outputs_": Whole(1),
        "n_columns_": Whole(1),
        "flat_output_": Flag(),
        "schema_": Part(FeatureSchema, n_features="n_features_in_"),
        "feature_names_in_": IfPresent(Array(("n_features_in_",), "O U")),
        "target_names_": IfPresent(Array(("n_outputs_",), "O U")),
    }
    _saved_parameters: ClassVar[Schema] = {
        "n_jobs": Maybe(AnyOf(Whole(-MAX_JOBS, 0), Whole(1, MAX_JOBS + 1))),
        "verbose": AnyOf(Flag(), Whole()),
        "clus_compat": Flag(),
    }

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        savable(cls)
        if not is_all_or_nothing(cls.fit):
            cls.fit = all_or_nothing(cls.fit)  # type: ignore[method-assign]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        return tags

    @abstractmethod
    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> TargetEstimator:
        """Fit the estimator."""

    @abstractmethod
    def _read_targets(self, columns: Columns, weights: NDArray[np.float64]) -> dict[str, Any]:
        """Set what prediction needs, and return the fields of `TargetData` that describe y."""

    def _check_parameters(self) -> None:
        """Raise an error if a parameter is invalid."""
        check_tree(self)

    @abstractmethod
    def _predict_columns(self, X: Any) -> NDArray[np.float64]:
        """Return the predicted columns, n × n_columns_, for X as returned by `read_features`."""

    def _read_training(self, X: Any, y: Any, sample_weight: Any) -> TargetData:
        """Validate all input before any long computation, and set what prediction needs."""
        self._check_parameters()
        X, self.schema_ = read_training_features(
            self, X, self.categorical_features, clus_order=self.clus_compat
        )
        columns = read_columns(y)
        check_same_length(X.shape[0], len(columns.columns[0]))
        weights = check_sample_weight(sample_weight, X.shape[0])
        self.n_outputs_ = len(columns.columns)
        self.flat_output_ = columns.is_flat
        if columns.names is not None:
            self.target_names_ = columns.names
        targets = self._read_targets(columns, weights)
        return TargetData(X, self.schema_, weights=weights, clus=self.clus_compat, **targets)

    def _plan(self, n_features: int, seed: int = 0) -> TargetPlan:
        wanted = count_features(self.max_features, n_features, clus=self.clus_compat)
        default = "observed" if self.clus_compat else "midpoint"
        return TargetPlan(
            max_depth=self.max_depth,
            min_samples_split=self.min_samples_split,
            min_samples_leaf=self.min_samples_leaf,
            min_weight=self.min_weight,
            min_impurity_decrease=self.min_impurity_decrease,
            max_features=0 if wanted == n_features else wanted,
            redraw=bool(self.redraw),
            random_thresholds=self.splitter == "random",
            midpoint=(self.threshold_at or default) == "midpoint",
            nominal_tests=self.nominal_tests,
            f_test=self.f_test,
            seed=seed,
            n_jobs=self.n_jobs,
            **self._plan_targets(),
        )

    @abstractmethod
    def _plan_targets(self) -> dict[str, Any]:
        """Return the fields of the growth plan that depend on the kind of the targets."""

    def _get_saved_state(self) -> dict[str, Any]:
        """Return the fitted attributes that `ramify.save` stores in addition to the parameters."""
        return get_fitted(self)

    def _set_saved_state(self, state: Mapping[str, Any]) -> None:
        """Restore the output of `_get_saved_state`, which may come from a damaged file."""
        set_fitted(self, state)
        if "schema_" not in state:
            return
        if self.schema_.n_categories.shape != (self.n_features_in_,):
            raise ValueError("schema_ and n_features_in_ do not fit together")
        if self.flat_output_ and self.n_outputs_ != 1:
            raise ValueError("flat_output_ and n_outputs_ do not fit together")


class TargetTree(TreeViews, TargetEstimator):
    """Base class of single trees for several targets."""

    tree_: _core.Tree

    _saved_schema: ClassVar[Schema] = {
        "tree_": TreeOf("n_features_in_", "n_columns_", shares=False),
    }

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> TargetTree:
        """Grow the tree.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Training rows. NaN marks missing values; string and categorical columns of a data
            frame are nominal.
        y : array-like or data frame of shape (n,) or (n, n_targets)
            The targets. Missing values are allowed; a row is not used for the targets that it
            lacks.
        sample_weight : array-like of shape (n,), optional
            Sample weights.

        Returns
        -------
        TargetTree
            The fitted estimator.
        """
        data = self._read_training(X, y, sample_weight)
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        self.tree_ = self._prune(data.grow(self._plan(self.n_features_in_, seed)))
        return self

    def _prune(self, tree: _core.Tree) -> _core.Tree:
        return tree

    def _predict_columns(self, X: Any) -> NDArray[np.float64]:
        columns = np.zeros((X.shape[0], self.n_columns_))
        predict_tree(self.tree_, X, columns, clus=self.clus_compat)
        return columns

    def _set_saved_state(self, state: Mapping[str, Any]) -> None:
        super()._set_saved_state(state)
        if "tree_" in state:
            check_tree_fits(self.tree_, self.n_features_in_, self.n_columns_)


_DESCRIBE_DATA = (
    *("schema_", "n_features_in_", "feature_names_in_", "n_outputs_", "n_columns_"),
    *("flat_output_", "target_names_", "target_classes_", "classes_"),
)
"""Fitted attributes that describe X and y."""


class TargetForest(TreeEnsemble, TargetEstimator):
    """Base class of forests for several targets."""

    _member: ClassVar[type[TargetTree]]
    """The class of a single tree."""

    oob_score: bool
    warm_start: bool
    oob_score_: float

    _saved_schema: ClassVar[Schema] = {
        "trees_": ListOf(TreeOf("n_features_in_", "n_columns_", shares=False)),
        "_seed": Whole(-(2**63)),
        "oob_score_": IfPresent(Number(finite=False)),
    }

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> TargetForest:
        """Grow the trees.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Training rows. NaN marks missing values; string and categorical columns of a data
            frame are nominal.
        y : array-like or data frame of shape (n,) or (n, n_targets)
            The targets. Missing values are allowed; a row is not used for the targets that it
            lacks.
        sample_weight : array-like of shape (n,), optional
            Sample weights. They do not affect which rows are drawn; a row drawn twice has twice
            its weight.

        Returns
        -------
        TargetForest
            The fitted estimator.
        """
        kept = keep_trees(self)
        before = self._describe_output() if kept else None
        data = self._read_training(X, y, sample_weight)
        if before is not None and before != self._describe_output():
            raise ValueError(
                "X and y must have the same features and targets as in the previous fit with "
                "warm_start=True. Pass the same data, or set warm_start=False."
            )
        self._grow(data, kept)
        return self

    def _describe_output(self) -> tuple[Any, ...]:
        """Return what must not change between two fits with `warm_start`."""
        return self.n_features_in_, self.n_outputs_, self.n_columns_

    def _grow(self, data: TargetData, kept: list[_core.Tree]) -> None:
        # As in scikit-learn, fractions refer to all rows, not to the sample of a tree.
        n_rows = int(np.count_nonzero(data.learnt_weights > 0))
        plan = self._plan(self.n_features_in_).for_rows(n_rows)
        sampling = self._sampling(data.labelled)
        seeds = self._grow_trees(data, plan, sampling, kept)
        if self.oob_score:
            self._score_out_of_bag(data, sampling.left_out(seeds))

    @property
    def _n_values(self) -> int:
        return self.n_columns_

    def _as_estimator(self, tree: _core.Tree) -> TargetTree:
        shared = set(self._member._get_param_names()) & set(self._get_param_names())
        names = shared - {"n_jobs", "random_state"}
        member = self._member(**{name: getattr(self, name) for name in names})
        for name in _DESCRIBE_DATA:
            if hasattr(self, name):
                setattr(member, name, getattr(self, name))
        member.tree_ = tree
        return member

    def _score_out_of_bag(self, data: TargetData, left_out: NDArray[np.uint8]) -> None:
        columns, _ = self._vote_out_of_bag(data.X, left_out)
        self._set_out_of_bag(data.values, columns)

    @abstractmethod
    def _set_out_of_bag(self, values: NDArray[np.float64], columns: NDArray[np.float64]) -> None:
        """Set the out-of-bag attributes; rows of NaN have no prediction."""

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_forest(self)

    def _predict_columns(self, X: Any) -> NDArray[np.float64]:
        columns = np.empty((X.shape[0], self.n_columns_))
        self._vote(X, columns)
        return columns


# ---- checks of parameters -------------------------------------------------------------------


def check_tree(tree: Any) -> None:
    """Raise an error if a parameter of a tree, or of the trees of a forest, is invalid."""
    check_choice("splitter", tree.splitter, ("best", "random"))
    check_choice("threshold_at", tree.threshold_at, (None, "midpoint", "observed"))
    check_choice("nominal_tests", tree.nominal_tests, ("subset", "single", "nary"))
    if tree.max_depth is not None:
        check_number("max_depth", tree.max_depth, 0, whole=True)
    check_min_samples("min_samples_split", tree.min_samples_split, 2)
    check_min_samples("min_samples_leaf", tree.min_samples_leaf, 1)
    for name in ("min_weight", "min_impurity_decrease"):
        check_number(name, getattr(tree, name), 0)
    check_target_weight(tree.target_weight)
    _check_level(tree.f_test)
    if tree.splitter == "random":
        check_random_tests(tree.threshold_at, tree.nominal_tests)
    if tree.clus_compat:
        _check_clus(tree)


def check_forest(forest: Any) -> None:
    """Raise an error if a parameter that only forests have is invalid."""
    check_number("n_estimators", forest.n_estimators, 1, whole=True)
    check_max_samples(forest.max_samples)
    for name, off in (("max_samples", None), ("oob_score", False)):
        value = getattr(forest, name)
        if value not in (None, False) and not forest.bootstrap:
            raise ValueError(
                f"{name} must be {off} with bootstrap=False, got {value!r}: all trees use all "
                "rows. Set bootstrap=True to draw rows."
            )


def check_criterion(criterion: Any, f_test: Any) -> None:
    """Raise an error if a criterion for nominal targets is invalid."""
    check_choice("criterion", criterion, ("gini", "entropy", "gain_ratio"))
    if criterion != "gini" and f_test is not None:
        raise ValueError(
            f"f_test must be None with criterion={criterion!r}, got {f_test!r}: the F-test "
            "compares variances. Use criterion='gini', or omit f_test."
        )


def _check_level(f_test: Any) -> None:
    if is_list(f_test):
        raise ValueError(
            f"f_test must be a single level, got {f_test!r}. Pass one level, or choose it with "
            "scikit-learn's GridSearchCV."
        )
    if f_test is not None:
        check_number("f_test", f_test, 1e-12, 1)


def _check_clus(tree: Any) -> None:
    for name, value, why in (
        ("redraw", False, "CLUS draws the features of a node only once"),
        ("splitter", "best", "CLUS draws random thresholds with a different generator"),
    ):
        found = getattr(tree, name)
        if found != value:
            raise ValueError(
                f"{name} must be {value!r} with clus_compat=True, got {found!r}: {why}. Use "
                f"{name}={value!r}, or clus_compat=False."
            )
