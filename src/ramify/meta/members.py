"""The members of a blend: which classifiers, what they get of a row, and in how much time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from ramify._base.classifier import HierarchicalClassifier, copy_input_attributes
from ramify._base.tree_models import TreeModel
from ramify._savable import savable
from ramify._schema import Fitted, Maybe, Part, Schema, SchemaError, Text
from ramify.boosting.classifier import PCTGradientBoostingClassifier
from ramify.data.features import FeatureSchema
from ramify.data.rows import by_rows
from ramify.data.scaling import Components, Scaling
from ramify.labels.hierarchy import Hierarchy
from ramify.local.linear import LinearColumns
from ramify.local.linear_classifier import LinearClassifier
from ramify.local.ml_knn import MLkNN, spread_nominal
from ramify.trees.forests import PCTExtraTreesClassifier

BOOSTING, EXTRA_TREES, NEIGHBOURS, LINEAR = "boosting", "extra trees", "neighbours", "linear"

SMALL_LEAVES = "extra trees with small leaves"  # an alternative to extra trees
NAMES = (BOOSTING, EXTRA_TREES, NEIGHBOURS, LINEAR)

_N_COMPONENTS = 20
_MOST_NEIGHBOURS = 20_000  # rows; the time of the search grows with their square
_LEAST_ROUNDS, _LEAST_TREES = 25, 10  # of members that are made smaller to save time


@savable
@dataclass(frozen=True)
class MemberInputs:
    """What members get of a row: trees, its numbers and components; others, scaled numbers.

    Trees get sparse X as it is; the others, the columns of linear models, without missing cells.
    """

    scaling: Scaling | None  # None if X is sparse
    components: Components | None
    # If X is sparse.
    columns: LinearColumns | None = field(default=None, metadata={"saved_if_any": True})

    _saved_schema: ClassVar[Schema] = {
        "scaling": Maybe(Part(Scaling)),
        "components": Maybe(Part(Components)),
        "columns": Maybe(Part(LinearColumns, n_features="n_variables")),
    }

    @classmethod
    def learn(cls, X: Any, schema: FeatureSchema, weights: NDArray[np.float64]) -> MemberInputs:
        """Learn from weighted rows."""
        if sparse.issparse(X):
            return cls(None, None, LinearColumns.learn(X, schema, weights))
        columns = spread_nominal(X, schema)
        scaling = Scaling.learn(columns, weights)
        n_numeric = _count_numeric(schema)
        if n_numeric < 2:
            return cls(scaling, None)
        scaled = scaling.apply(columns)
        return cls(scaling, Components.learn(scaled[:, :n_numeric], weights, _N_COMPONENTS))

    def read(self, X: Any, schema: FeatureSchema) -> dict[str, Any]:
        """Return X as each member gets it, by the member's name."""
        for_trees = by_rows(X)
        if self.scaling is not None:
            scaled = self.scaling.apply(spread_nominal(X, schema))
        if self.columns is not None:
            scaled = self.columns.transform(for_trees)
        if self.components is not None:
            found = self.components.apply(scaled[:, : _count_numeric(schema)])
            for_trees = np.hstack([X, found.astype(X.dtype, copy=False)])
        return {
            BOOSTING: for_trees,
            EXTRA_TREES: for_trees,
            SMALL_LEAVES: for_trees,
            NEIGHBOURS: scaled,
            LINEAR: scaled,
        }

    def widths(self, schema: FeatureSchema) -> dict[str, int]:
        """Return the number of columns that each member gets."""
        n_trees = n_others = schema.n_variables
        if self.components is not None:
            n_trees += self.components.axes.shape[1]
        if self.scaling is not None:
            n_others = len(self.scaling.mean)
        if self.columns is not None:
            n_others = self.columns.n_columns
        return {BOOSTING: n_trees, EXTRA_TREES: n_trees, NEIGHBOURS: n_others, LINEAR: n_others}

    def spread(self, values: NDArray[np.float64], schema: FeatureSchema) -> NDArray[np.float64]:
        """Return importances for trees as importances of the variables of X."""
        own = np.array(values[: schema.n_variables])
        if self.components is not None:
            numeric = np.flatnonzero(schema.n_categories == 0)
            own[numeric] += self.components.spread(values[schema.n_variables :])
        return own

    def equals(self, other: MemberInputs) -> bool:
        """Return whether members with other inputs get the same columns."""
        return all(map(np.array_equal, self._arrays(), other._arrays()))

    def _arrays(self) -> tuple[Any, ...]:
        scaling, components, columns = self.scaling, self.components, self.columns
        return (
            None if scaling is None else scaling.mean,
            None if scaling is None else scaling.scale,
            None if components is None else components.axes,
            None if columns is None else np.append(columns.mean, columns.word_scale),
            None if columns is None else columns.scale,
            None if columns is None else columns.n_categories,
        )

    def check(self, schema: FeatureSchema) -> None:
        """Raise an error if the inputs, from a file, do not fit the features."""
        n_numeric = _count_numeric(schema)
        n_columns = n_numeric + int(schema.n_categories.sum())
        if (self.scaling is None) == (self.columns is None) or (
            self.columns is not None
            and not np.array_equal(self.columns.n_categories, schema.n_categories)
        ):
            raise SchemaError("inputs_ and schema_ do not fit together")
        if self.scaling is not None and len(self.scaling.mean) != n_columns:
            raise SchemaError("inputs_ and schema_ do not fit together")
        if self.components is not None and (
            self.scaling is None or self.components.axes.shape[0] != n_numeric
        ):
            raise SchemaError("inputs_ and schema_ do not fit together")


def _count_numeric(schema: FeatureSchema) -> int:
    return int((schema.n_categories == 0).sum())


# ---- the members ----------------------------------------------------------------------------


@dataclass
class Members:
    """Classifiers, not fitted, by name, and why others are left out."""

    estimators: dict[str, Any]
    left_out: dict[str, str] = field(default_factory=dict)

    def leave_out(self, name: str, reason: str) -> None:
        """Remove a member."""
        self.estimators.pop(name)
        self.left_out[name] = reason


def make_members(
    X: Any,
    schema: FeatureSchema,
    inputs: MemberInputs,
    *,
    is_path: bool,
    weighted: bool,
    n_jobs: int | None,
    random_state: Any,
) -> Members:
    """Return the members that suit X and the labels; boosting is still to be told when to stop."""
    n_trees = inputs.widths(schema)[BOOSTING]
    nominal = np.zeros(n_trees, dtype=bool)
    nominal[: schema.n_variables] = schema.n_categories > 0
    trees = {
        "categorical_features": nominal if nominal.any() else None,
        "n_jobs": n_jobs,
        "random_state": random_state,
    }
    members = Members(
        {
            BOOSTING: PCTGradientBoostingClassifier(max_iter=2_000, **trees),
            EXTRA_TREES: PCTExtraTreesClassifier(min_samples_leaf=3, w0=1.0, **trees),
            SMALL_LEAVES: PCTExtraTreesClassifier(w0=1.0, **trees),
            NEIGHBOURS: MLkNN(metric="cosine", n_jobs=n_jobs),
            LINEAR: LinearClassifier(n_jobs=n_jobs),
        }
    )
    if weighted:
        members.leave_out(NEIGHBOURS, "it does not take sample weights")
    elif X.shape[0] > _MOST_NEIGHBOURS:
        members.leave_out(NEIGHBOURS, f"there are more than {_MOST_NEIGHBOURS:,} rows")
    if not (is_path or sparse.issparse(X)):
        members.leave_out(LINEAR, "rows have label sets and X is dense")
    return members


class BlendMember(HierarchicalClassifier):
    """A member of a blend: it makes of X the columns that its estimator learns from."""

    estimator_: HierarchicalClassifier
    inputs_: MemberInputs

    _saved_parameters: ClassVar[Schema] = {"name": Text(NAMES)}
    _saved_schema: ClassVar[Schema] = {
        "estimator_": Fitted(n_labels="n_labels"),
        "inputs_": Part(MemberInputs, n_variables="n_variables"),
    }

    def __init__(self, estimator: Any, *, name: str, hierarchy: Hierarchy | None = None) -> None:
        self.estimator = estimator
        self.name = name
        self.hierarchy = hierarchy

    @classmethod
    def of(
        cls, blend: HierarchicalClassifier, name: str, fitted: Any, inputs: MemberInputs
    ) -> BlendMember:
        """Return a fitted member of a blend."""
        member = cls(clone(fitted), name=name)
        copy_input_attributes(blend, member)
        member.estimator_, member.inputs_ = fitted, inputs
        return member

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> BlendMember:
        """Fit the member alone.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Training rows.
        y : array-like
            Labels of the n rows, in any format accepted by `ramify.labels.read_labels`.
        sample_weight : array-like of shape (n,), optional
            Sample weights.

        Returns
        -------
        BlendMember
            The fitted classifier.
        """
        self.categorical_features = None
        X, encoded, weights = self._read_training(X, y, sample_weight)
        self.inputs_ = MemberInputs.learn(X, self.schema_, weights)
        weighted = {} if sample_weight is None else {"sample_weight": weights}
        self.estimator_ = (
            clone(self.estimator)
            .set_params(hierarchy=encoded.hierarchy)
            .fit(self._tree_rows(X), encoded.format.write(encoded.Y), **weighted)
        )
        return self

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The importances of the features of X, to which those of components are added."""
        own = self.estimator_.feature_importances_
        return self.schema_.sum_by_feature(self.inputs_.spread(own, self.schema_))

    def _predict_scores(self, X: Any) -> NDArray[np.float64]:
        return self.estimator_._predict_scores(self._tree_rows(X))

    def _tree_rows(self, X: Any) -> Any:
        return self.inputs_.read(X, self.schema_)[self.name]

    def _as_trees(self) -> TreeModel | None:
        found = self.estimator_._as_trees()
        if found is None:
            return None
        n_made = self.inputs_.widths(self.schema_)[self.name] - self.schema_.n_variables
        return replace(
            found,
            predict=lambda X: found.predict(self._tree_rows(X)),
            made_features=tuple(f"component {k + 1}" for k in range(n_made)),
        )

    def _set_saved_state(self, state: Mapping[str, Any]) -> None:
        super()._set_saved_state(state)
        if "format_" not in state:
            return
        self.inputs_.check(self.schema_)
        fitted = self.estimator_
        if (
            not isinstance(fitted, HierarchicalClassifier)
            or fitted.hierarchy_ != self.hierarchy_
            or fitted.n_features_in_ != self.inputs_.widths(self.schema_)[self.name]
            or fitted.schema_.is_read
        ):
            raise SchemaError("estimator_ must fit hierarchy_ and inputs_")


# ---- a limit of time ------------------------------------------------------------------------


def fit_within(
    members: Members, seconds: float, n_fits: int, n_rows: int, time_fit: Callable[..., float]
) -> None:
    """Leave out members, or make them smaller, until fitting all takes about some seconds.

    `time_fit(name, estimator, n_rows)` fits a member to some of the rows and returns the seconds.
    """
    costs: dict[str, float] = {}
    for name, (settings, factor) in _TRIALS.items():
        if name in members.estimators:
            part = n_rows if settings else max(2, n_rows // 4)
            trial = clone(members.estimators[name]).set_params(**settings)
            costs[name] = n_fits * factor * time_fit(name, trial, part)
    if sum(costs.values()) <= seconds:
        return
    for name in (NEIGHBOURS, LINEAR):
        if costs.get(name, 0.0) > seconds / 4:
            members.leave_out(name, f"it would take about {costs.pop(name):.0f} s")
    left = seconds - sum(costs.get(name, 0.0) for name in (NEIGHBOURS, LINEAR))
    trees = (BOOSTING, EXTRA_TREES, SMALL_LEAVES)
    share = min(1.0, left / max(sum(costs[name] for name in trees), 1e-9))
    _shrink(members.estimators[BOOSTING], "max_iter", share, _LEAST_ROUNDS)
    for name in (EXTRA_TREES, SMALL_LEAVES):
        _shrink(members.estimators[name], "n_estimators", share, _LEAST_TREES)


_TRIALS: Mapping[str, tuple[dict[str, int], float]] = {
    BOOSTING: ({"max_iter": 25}, 2_000 / 25),
    EXTRA_TREES: ({"n_estimators": 5}, 100 / 5),
    SMALL_LEAVES: ({"n_estimators": 5}, 100 / 5),
    NEIGHBOURS: ({}, 16.0),  # on a quarter of the rows; the time grows with their square
    LINEAR: ({}, 4.0),
}
"""A small fit of each member, and how many times as long a fit takes."""


def _shrink(estimator: Any, parameter: str, share: float, least: int) -> None:
    full = getattr(estimator, parameter)
    estimator.set_params(**{parameter: max(least, int(share * full))})
