"""Training data of classifiers: X, converted once for the core, labels and weights."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core
from ramify.data.features import FeatureSchema, given_features, make_dataset
from ramify.trees.plan import GrowthPlan, prepare_labels

__all__ = [
    "TrainingData",
    "ValidationRows",
    "count_rows_drawn",
]


class ValidationRows(NamedTuple):
    """Rows that a tree is not grown on, converted like the training rows."""

    X: Any
    Y: sparse.csr_array[np.int32]  # labels, including all ancestors
    weights: NDArray[np.float64] | None  # None if the user passed none


@dataclass(frozen=True)
class TrainingData:
    """Validated training data of trees, forests and local classifiers.

    X is converted for the core once, on first use, and the result is shared with all copies
    returned by `with_labels`. A copy sent to another process converts X again.
    """

    X: Any  # the features, as returned by `read_training_features`
    schema: FeatureSchema  # the schema of the features
    Y: sparse.csr_array[np.int32]  # labels of all rows, including all ancestors
    weights: NDArray[np.float64]  # sample weights
    # The weight of each label in the criterion, 1 by default.
    label_weights: NDArray[np.float64] | None = None
    # Indices of the rows to learn from, in increasing order; all rows by default.
    rows: NDArray[np.int64] | None = None
    # Whether the user passed sample weights. If so, every estimator has to use them.
    weighted: bool = True
    # X for classifiers of other libraries; see `ramify.data.features.given_features`.
    given: Any = None
    feature_names: NDArray[Any] | None = None  # the column names, if X was a data frame
    # Whether many trees learn from these labels. If so, work that they share is done once.
    many: bool = False
    clus: bool = False  # whether trees follow the conventions of CLUS
    # Whether rows without labels are used even under the conventions of CLUS. The negative rows of
    # local problems have no labels.
    unlabelled_count: bool = False
    n_jobs: int | None = None  # number of threads for converting X
    _prepared: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def n_rows(self) -> int:
        """The number of rows of X."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """The number of columns of X."""
        return int(self.X.shape[1])

    @property
    def dataset(self) -> _core.Dataset:
        """X in the format of the core."""
        if "dataset" not in self._prepared:
            self._prepared["dataset"] = make_dataset(
                self.X, self.schema, clus=self.clus, n_jobs=self.n_jobs
            )
        return cast("_core.Dataset", self._prepared["dataset"])

    @property
    def by_rows(self) -> Any:
        """X in a layout that supports selecting rows."""
        if not sparse.issparse(self.X):
            return self.X
        if "by_rows" not in self._prepared:
            self._prepared["by_rows"] = cast("Any", self.X).tocsr()
        return self._prepared["by_rows"]

    @cached_property
    def labels(self) -> _core.Labels:
        """The labels in the format of the core."""
        return prepare_labels(self.Y, self._weights_of_labels(), many=self.many)

    def _weights_of_labels(self) -> NDArray[np.float64]:
        return np.ones(self.Y.shape[1]) if self.label_weights is None else self.label_weights

    def with_labels(
        self,
        Y: sparse.csr_array[np.int32],
        label_weights: NDArray[np.float64],
        rows: NDArray[np.int64] | None = None,
    ) -> TrainingData:
        """Return a copy with other labels, possibly restricted to some rows.

        `rows`: indices of the rows to learn from, in increasing order; all rows by default.
        """
        return replace(self, Y=Y, label_weights=label_weights, rows=rows)

    def with_features(self, X: Any, schema: FeatureSchema) -> TrainingData:
        """Return a copy with other features, which have no names."""
        given = given_features(X, X)
        return replace(self, X=X, schema=schema, given=given, feature_names=None, _prepared={})

    def with_weights(self, weights: NDArray[np.float64]) -> TrainingData:
        """Return a copy with other sample weights, which every estimator has to use."""
        return replace(self, weights=weights, weighted=True)

    def with_rows(self, rows: ValidationRows) -> TrainingData:
        """Return a copy with rows appended."""
        weights = np.ones(rows.Y.shape[0]) if rows.weights is None else rows.weights
        return replace(
            self,
            X=_stacked(self.X, rows.X),
            Y=_stacked(self.Y, rows.Y),
            weights=np.concatenate([self.weights, weights]),
            _prepared={},
        )

    def grow(
        self,
        plan: GrowthPlan,
        rows: NDArray[np.int64] | None = None,
        counts: NDArray[np.int32] | None = None,
    ) -> _core.Tree:
        """Grow a tree.

        `rows`: indices of the rows to learn from, in increasing order, instead of `self.rows`.
        """
        rows, weights = self.rows if rows is None else rows, self.weights
        if counts is not None:
            rows = np.arange(self.n_rows, dtype=np.int64) if rows is None else rows
            rows, weights = count_rows_drawn(rows, self.weights, counts)
        return plan.grow(
            self.dataset,
            self.Y,
            self._weights_of_labels(),
            weights,
            rows,
            labels=self.labels,
            unlabelled_count=self.unlabelled_count,
        )

    def prepare(self) -> None:
        """Convert X and the labels for the core, if this has not been done."""
        _ = self.dataset, self.labels

    def find_sets(self, plan: GrowthPlan) -> GrowthPlan:
        """Return the plan with the distinct label sets of Y, if its trees need them."""
        return plan.with_sets(self.Y, self._weights_of_labels())

    def describe(self, estimator: Any) -> None:
        """Set the fitted attributes of an estimator that describe its features."""
        estimator.schema_ = self.schema
        estimator.n_features_in_ = self.n_features
        if self.feature_names is not None:
            estimator.feature_names_in_ = np.array(self.feature_names, dtype=object)

    def __getstate__(self) -> dict[str, Any]:
        not_sent = ("_prepared", "labels")
        return {k: v for k, v in self.__dict__.items() if k not in not_sent}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _prepared={})


def count_rows_drawn(
    rows: NDArray[np.int64], weights: NDArray[np.float64], counts: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the rows that were drawn, and the weights of all rows times their counts.

    Examples
    --------
    >>> count_rows_drawn(np.array([0, 2]), np.array([1.0, 1.0, 0.5]), np.array([0, 3]))
    (array([2]), array([0. , 0. , 1.5]))
    """
    drawn = np.zeros_like(weights)
    drawn[rows] = weights[rows] * counts
    return rows[counts > 0], drawn


def _stacked(first: Any, second: Any) -> Any:
    stack: Any = sparse.vstack if sparse.issparse(first) else np.vstack
    return stack([first, second])
