"""What trees learn from: X, converted once for the core, targets of any kind, and weights."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core
from ramify._cached import cached_property
from ramify.data.features import FeatureSchema, given_features, make_dataset
from ramify.data.rows import as_label_rows
from ramify.labels.hierarchy import Hierarchy
from ramify.labels.unknown import UnknownLabels
from ramify.trees.criteria import Criterion, Distance, LabelSets, read_distance


class _Prepared:
    """Converts targets for the core once; a copy sent to another process converts them again."""

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k != "core"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


@dataclass(frozen=True)
class LabelTargets(_Prepared):
    """Sets of labels."""

    Y: sparse.csr_array[np.int32]  # labels of all rows, including all ancestors
    weights: NDArray[np.float64] | None = None  # of labels, in the criterion; 1 by default
    exclusive: bool = False  # whether every row has one class of several
    distance: Distance | None = None  # the distance between label sets that the criterion reduces
    medoids: bool = False  # whether leaves predict one of the label sets of their rows
    # Whether many trees learn from these labels. If so, work that they share is done once.
    many: bool = False
    unknown: UnknownLabels | None = None  # labels that are not known, which are 0 in Y
    hierarchy: Hierarchy | None = None  # of the labels; required if some are unknown
    features: Any = None  # `FeatureTargets` that count in the impurity; then `unknown` is set

    @property
    def n_columns(self) -> int:
        """The number of labels."""
        return int(self.Y.shape[1])

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which rows have labels."""
        return np.asarray(np.diff(self.Y.indptr) > 0)

    def learnt_weights(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return all sample weights: a row without labels is negative for all labels."""
        return weights

    def core_options(self, criterion: Criterion) -> dict[str, Any]:
        """Return the options of the core for a criterion."""
        return criterion.core_options(exclusive=self.exclusive)

    @cached_property
    def sets(self) -> LabelSets | None:
        """The distinct label sets, if trees need them."""
        if self.distance is None and not self.medoids:
            return None
        return LabelSets.of(self.Y, self._weights, self.distance)

    @cached_property
    def core(self) -> _core.Labels:
        """The labels in the format of the core."""
        sets = self.sets
        return _core.Labels(
            as_label_rows(self.Y),
            np.ascontiguousarray(self._weights),
            None if sets is None else sets.of_row,
            None if sets is None or not sets.distances.size else sets.distances,
            self.many,
            *self._unknown,
            *self._features,
        )

    @property
    def _unknown(self) -> tuple[Any, ...]:
        if self.unknown is None:
            return ()
        parents = cast("Hierarchy", self.hierarchy)._parents
        return self.unknown.of_row, as_label_rows(self.unknown.patterns), parents

    @property
    def _features(self) -> tuple[Any, ...]:
        if self.features is None:
            return ()
        own = self.features
        cells, missing = as_label_rows(own.cells), as_label_rows(own.missing)
        return cells, own.cells.data, missing

    @property
    def _weights(self) -> NDArray[np.float64]:
        return np.ones(self.n_columns) if self.weights is None else self.weights


def label_targets(
    tree: Any,
    hierarchy: Hierarchy,
    Y: sparse.csr_array[np.int32],
    weights: NDArray[np.float64],
    *,
    single_label: bool = False,
    many: bool = False,
    unknown: UnknownLabels | None = None,
) -> LabelTargets:
    """Return the labels with the weights and distances that the parameters of a tree imply."""
    squared = getattr(tree, "squared_distances", True)
    return LabelTargets(
        Y,
        tree._conventions.weigh_labels(tree, hierarchy, Y, weights),
        exclusive=hierarchy.depth <= 1 and single_label,
        distance=read_distance(tree.criterion, hierarchy, squared=squared),
        medoids=getattr(tree, "prototype", "mean") == "medoid",
        many=many,
        unknown=unknown,
        hierarchy=hierarchy,
    )


@dataclass(frozen=True)
class TableTargets(_Prepared):
    """Several numeric or several nominal targets."""

    values: NDArray[np.float64]  # numbers, or codes of classes; NaN marks missing values
    weights: NDArray[np.float64]  # the weight of each target in the criterion
    origin: NDArray[np.float64] | None = None  # the origin of each numeric target
    n_classes: NDArray[np.int32] | None = None  # the number of classes of each nominal target
    clus: bool = False  # whether leaves are as in CLUS

    @property
    def n_columns(self) -> int:
        """The number of numeric targets, or of classes of all nominal targets."""
        return self.core.n_columns

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """Which rows have at least one known target."""
        return np.asarray(~np.isnan(self.values).all(axis=1))

    def learnt_weights(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return sample weights; 0 for rows without a known target."""
        return np.where(self.known, weights, 0.0)

    def core_options(self, criterion: Criterion) -> dict[str, Any]:
        """Return the options of the core for a criterion."""
        return criterion.core_options(table=True)

    @cached_property
    def core(self) -> _core.TargetTable:
        """The targets in the format of the core."""
        if self.origin is not None:
            # CLUS predicts 0 in leaves without a known value.
            return _core.TargetTable.numeric(self.values, self.weights, self.origin, self.clus)
        if self.n_classes is None:
            raise ValueError("either origin or n_classes is required")
        # CLUS combines the branches of a missing value by their counts.
        return _core.TargetTable.nominal(self.values, self.weights, self.n_classes, self.clus)


class ValidationRows(NamedTuple):
    """Rows that a tree is not grown on, converted like the training rows."""

    X: Any
    Y: sparse.csr_array[np.int32]  # labels, including all ancestors
    weights: NDArray[np.float64] | None  # None if the user passed none


@dataclass(frozen=True)
class TreeData:
    """Validated training data of trees, forests and local classifiers.

    X is converted for the core once, on first use, and the result is shared with all copies that
    have the same X. A copy sent to another process converts X again.
    """

    X: Any  # the features, as returned by `read_training_features`
    schema: FeatureSchema  # the schema of the features
    targets: LabelTargets | TableTargets
    weights: NDArray[np.float64]  # sample weights
    # Indices of the rows to learn from, in increasing order; all rows by default.
    rows: NDArray[np.int64] | None = None
    # How often rows are drawn, relative to each other; equally often by default.
    chances: NDArray[np.float64] | None = None
    # Whether the user passed sample weights. If so, every estimator has to use them.
    weighted: bool = True
    # X for classifiers of other libraries; see `ramify.data.features.given_features`.
    given: Any = None
    feature_names: NDArray[Any] | None = None  # the column names, if X was a data frame
    clus: bool = False  # whether trees follow the conventions of CLUS
    n_jobs: int | None = None  # number of threads for converting X
    _prepared: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def n_rows(self) -> int:
        """The number of rows of X."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """The number of columns of X, which are variables."""
        return int(self.X.shape[1])

    @property
    def Y(self) -> sparse.csr_array[np.int32]:  # noqa: N802 (as everywhere)
        """The labels of all rows, if the targets are labels."""
        return cast("LabelTargets", self.targets).Y

    @property
    def values(self) -> NDArray[np.float64]:
        """The targets of all rows, if they are a table."""
        return cast("TableTargets", self.targets).values

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

    def prepare(self) -> None:
        """Convert X and the targets for the core, if this has not been done."""
        _ = self.dataset, self.targets.core

    def with_targets(
        self, targets: LabelTargets, rows: NDArray[np.int64] | None = None
    ) -> TreeData:
        """Return a copy with other targets, possibly restricted to some rows.

        `rows`: indices of the rows to learn from, in increasing order; all rows by default.
        """
        return replace(self, targets=targets, rows=rows)

    def with_features(self, X: Any, schema: FeatureSchema) -> TreeData:
        """Return a copy with other features, which have no names."""
        given = given_features(X, X)
        return replace(self, X=X, schema=schema, given=given, feature_names=None, _prepared={})

    def with_weights(self, weights: NDArray[np.float64]) -> TreeData:
        """Return a copy with other sample weights, which every estimator has to use."""
        return replace(self, weights=weights, weighted=True)

    def with_factors(self, factors: NDArray[np.float64], *, draws: bool) -> TreeData:
        """Return a copy in which rows weigh, or are drawn, as often as factors say."""
        if draws:
            return replace(self, weights=np.where(factors > 0, self.weights, 0.0), chances=factors)
        return replace(self, weights=self.weights * factors)

    def with_rows(self, rows: ValidationRows) -> TreeData:
        """Return a copy with rows appended."""
        weights = np.ones(rows.Y.shape[0]) if rows.weights is None else rows.weights
        return replace(
            self,
            X=_stacked(self.X, rows.X),
            targets=replace(cast("LabelTargets", self.targets), Y=_stacked(self.Y, rows.Y)),
            weights=np.concatenate([self.weights, weights]),
            _prepared={},
        )

    def describe(self, estimator: Any) -> None:
        """Set the fitted attributes of an estimator that describe its features."""
        estimator.schema_ = self.schema
        estimator.n_features_in_ = self.schema.n_features
        if self.feature_names is not None:
            estimator.feature_names_in_ = np.array(self.feature_names, dtype=object)

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k != "_prepared"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _prepared={})


def label_data(
    estimator: Any,
    X: Any,
    Y: sparse.csr_array[np.int32],
    weights: NDArray[np.float64],
    *,
    many: bool = False,
    unknown: UnknownLabels | None = None,
) -> TreeData:
    """Return the training data of an estimator for labels that has read X and y."""
    own, single_label = estimator._conventions, estimator.format_.single_label
    targets = label_targets(
        estimator,
        estimator.hierarchy_,
        Y,
        weights,
        single_label=single_label,
        many=many,
        unknown=unknown,
    )
    own.check_known(targets.known, weights)
    return TreeData(X, estimator.schema_, targets, weights, clus=own.clus, n_jobs=estimator.n_jobs)


def _stacked(first: Any, second: Any) -> Any:
    stack: Any = sparse.vstack if sparse.issparse(first) else np.vstack
    return stack([first, second])
