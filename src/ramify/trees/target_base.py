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
from ramify._base.tree_models import ModelTree, TreeModel
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
from ramify._validation import check_same_length, check_sample_weight
from ramify.data.features import FeatureSchema, read_training_features
from ramify.labels.hierarchy import Hierarchy
from ramify.trees.conventions import Conventions
from ramify.trees.ensemble import TreeEnsemble
from ramify.trees.growing import grow
from ramify.trees.options import TreeOptions
from ramify.trees.parameters import check_parameters
from ramify.trees.targets import Columns, read_columns
from ramify.trees.tree_data import TableTargets, TreeData
from ramify.trees.views import TreeViews, check_tree_fits


class TargetEstimator(BaseEstimator, metaclass=ABCMeta):  # type: ignore[misc]
    """Base class of trees and forests for several targets.

    A leaf stores one column per numeric target, or one per class of every nominal target. A
    subclass defines how to read y (`_read_targets`) and how to use these columns.
    """

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
        "schema_": Part(
            FeatureSchema, binds={"n_variables": "n_variables"}, n_features="n_features_in_"
        ),
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

    @property
    @abstractmethod
    def _conventions(self) -> Conventions:
        """The conventions for targets of this kind."""

    @abstractmethod
    def _read_targets(self, columns: Columns, weights: NDArray[np.float64]) -> TableTargets:
        """Set what prediction needs, and return the targets."""

    def _check_parameters(self) -> None:
        """Raise an error if a parameter is invalid."""
        check_parameters(self)

    @abstractmethod
    def _predict_columns(self, X: Any) -> NDArray[np.float64]:
        """Return the predicted columns, n × n_columns_, for X as returned by `read_features`."""

    @abstractmethod
    def _named_trees(self, outputs: NDArray[np.int64]) -> tuple[ModelTree, ...]:
        """Return the fitted trees."""

    def _as_trees(self) -> TreeModel:
        names = self._column_names()
        hierarchy = Hierarchy.from_labels(names)
        trees = self._named_trees(hierarchy.indices(names).astype(np.int64))
        shares = hasattr(self, "target_classes_") and not self.clus_compat
        return TreeModel(
            trees,
            hierarchy,
            self._predict_columns,
            unit="probability" if shares else "value",
            outputs="targets",
        )

    def _column_names(self) -> list[str]:
        """Return a name for every column that leaves store."""
        names = getattr(self, "target_names_", None)
        if names is None:
            names = ["y"] if self.flat_output_ else [f"y{i}" for i in range(self.n_outputs_)]
        classes = getattr(self, "target_classes_", None)
        if classes is None:
            return [str(name) for name in names]
        pairs = zip(names, classes, strict=True)
        return [f"{name}={value}" for name, values in pairs for value in values.tolist()]

    def _read_training(self, X: Any, y: Any, sample_weight: Any) -> TreeData:
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
        return TreeData(X, self.schema_, targets, weights, clus=self.clus_compat)

    def _get_saved_state(self) -> dict[str, Any]:
        """Return the fitted attributes that `ramify.save` stores in addition to the parameters."""
        return get_fitted(self)

    def _set_saved_state(self, state: Mapping[str, Any]) -> None:
        """Restore the output of `_get_saved_state`, which may come from a damaged file."""
        set_fitted(self, state)
        if "schema_" not in state:
            return
        self.schema_.check(self.n_features_in_)
        if self.flat_output_ and self.n_outputs_ != 1:
            raise ValueError("flat_output_ and n_outputs_ do not fit together")


class TargetTree(TreeViews, TargetEstimator):
    """Base class of single trees for several targets."""

    tree_: _core.Tree

    _saved_schema: ClassVar[Schema] = {
        "tree_": TreeOf("n_variables", "n_columns_", shares=False),
    }

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> TargetTree:
        """Grow the tree.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Training rows, or texts. NaN marks missing values; string and categorical columns of a
            data frame are nominal, unless they are texts.
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
        self.tree_ = self._prune(grow(data, TreeOptions.of(self, seed=seed)))
        return self

    def _prune(self, tree: _core.Tree) -> _core.Tree:
        return tree

    def _predict_columns(self, X: Any) -> NDArray[np.float64]:
        columns = np.zeros((X.shape[0], self.n_columns_))
        self._conventions.predict(self.tree_, X, columns)
        return columns

    def _set_saved_state(self, state: Mapping[str, Any]) -> None:
        super()._set_saved_state(state)
        if "tree_" in state:
            check_tree_fits(self.tree_, self.schema_.n_variables, self.n_columns_)


class TargetForest(TreeEnsemble, TargetEstimator):
    """Base class of forests for several targets."""

    _outputs = "targets"
    _describing = (
        *("schema_", "n_features_in_", "feature_names_in_", "n_outputs_", "n_columns_"),
        *("flat_output_", "target_names_", "target_classes_", "classes_"),
    )

    oob_score: bool
    oob_score_: float

    _saved_schema: ClassVar[Schema] = {
        "trees_": ListOf(TreeOf("n_variables", "n_columns_", shares=False)),
        "_seed": Whole(-(2**63)),
        "oob_score_": IfPresent(Number(finite=False)),
    }

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> TargetForest:
        """Grow the trees.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Training rows, or texts. NaN marks missing values; string and categorical columns of a
            data frame are nominal, unless they are texts.
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
        self._fit_trees(X, y, sample_weight)
        return self

    def _read_data(self, X: Any, y: Any, sample_weight: Any) -> TreeData:
        return self._read_training(X, y, sample_weight)

    def _describe_output(self) -> tuple[Any, ...]:
        return self.schema_.variables, self.n_outputs_, self.n_columns_

    @property
    def _n_values(self) -> int:
        return self.n_columns_

    def _predict_columns(self, X: Any) -> NDArray[np.float64]:
        columns = np.empty((X.shape[0], self.n_columns_))
        self._vote(X, columns)
        return columns
