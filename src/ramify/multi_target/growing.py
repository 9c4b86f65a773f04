"""Training data and growth plans of trees for several targets."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ramify import _core
from ramify._base.features import FeatureSchema, make_dataset
from ramify.tree.plan import GrowthPlan
from ramify.tree.training_data import count_rows_drawn

__all__ = ["TargetData", "TargetPlan"]


@dataclass(frozen=True)
class TargetPlan(GrowthPlan):
    """All settings that determine the tree grown on several targets; see `GrowthPlan`.

    `clus` is "numeric" or "nominal" under the conventions of CLUS.
    """

    def grow_on_table(
        self,
        dataset: _core.Dataset,
        table: _core.TargetTable,
        sample_weight: NDArray[np.float64],
        rows: NDArray[np.int64],
    ) -> _core.Tree:
        """Grow a tree on some rows of a data set, in increasing order."""
        rows = rows[sample_weight[rows] > 0]
        weights = np.ascontiguousarray(sample_weight[rows])
        options = self.for_rows(len(rows))._options(table.n_columns, float(weights.sum()))
        return _core.grow_on_table(dataset, table, rows, weights, options)

    def _core_criterion(self) -> _core.Criterion:
        return _core.Criterion.entropy if self._by_entropy else _core.Criterion.variance

    def _set_rules(self, rules: _core.SplitRules, total: float) -> None:
        super()._set_rules(rules, total)
        rules.score_factor = 1.0

    def _follow_clus(self, options: _core.GrowOptions, n_labels: int) -> None:
        super()._follow_clus(options, n_labels)
        options.rules.score_factor = 1.0
        numeric = self.clus == "numeric"
        options.merging = _core.LeafMerging.equal if numeric else _core.LeafMerging.same_classes


@dataclass(frozen=True)
class TargetData:
    """Validated training data of trees and forests for several targets.

    Attributes
    ----------
    X : ndarray or sparse matrix
        The features, as returned by `read_training_features`.
    schema : FeatureSchema
        The schema of the features.
    values : ndarray of shape (n, n_targets)
        Numbers, or codes of classes; NaN marks missing values.
    weights : ndarray of shape (n,)
        Sample weights.
    target_weights : ndarray of shape (n_targets,)
        The weight of each target in the criterion.
    origin : ndarray of shape (n_targets,), optional
        The origin of each numeric target.
    n_classes : ndarray of int32, shape (n_targets,), optional
        The number of classes of each nominal target.
    clus : bool
        Whether trees follow the conventions of CLUS.
    """

    X: Any
    schema: FeatureSchema
    values: NDArray[np.float64]
    weights: NDArray[np.float64]
    target_weights: NDArray[np.float64]
    origin: NDArray[np.float64] | None = None
    n_classes: NDArray[np.int32] | None = None
    clus: bool = False
    _prepared: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """Which rows have at least one known target."""
        return np.asarray(~np.isnan(self.values).all(axis=1))

    @property
    def dataset(self) -> _core.Dataset:
        """X in the format of the core."""
        if "dataset" not in self._prepared:
            self._prepared["dataset"] = make_dataset(self.X, self.schema, clus=self.clus)
        return cast("_core.Dataset", self._prepared["dataset"])

    @property
    def table(self) -> _core.TargetTable:
        """The targets in the format of the core."""
        if "table" not in self._prepared:
            self._prepared["table"] = self._make_table()
        return cast("_core.TargetTable", self._prepared["table"])

    def _make_table(self) -> _core.TargetTable:
        if self.origin is not None:
            # CLUS predicts 0 in leaves without a known value.
            return _core.TargetTable.numeric(
                self.values, self.target_weights, self.origin, self.clus
            )
        if self.n_classes is None:
            raise ValueError("either origin or n_classes is required")
        # CLUS combines the branches of a missing value by their counts.
        return _core.TargetTable.nominal(
            self.values, self.target_weights, self.n_classes, self.clus
        )

    @cached_property
    def learnt_weights(self) -> NDArray[np.float64]:
        """Sample weights; 0 for rows without a known target, except in CLUS."""
        return self.weights if self.clus else np.where(self.labelled, self.weights, 0.0)

    def prepare(self) -> None:
        """Convert X and the targets for the core, if this has not been done."""
        _ = self.dataset, self.table

    def grow(self, plan: GrowthPlan, *, counts: NDArray[np.int32] | None = None) -> _core.Tree:
        """Grow a tree.

        Parameters
        ----------
        plan : TargetPlan
            How to grow the tree.
        counts : ndarray of int32, optional
            How many times each row is used, 1 by default.

        Returns
        -------
        Tree
            The grown tree.
        """
        rows = np.arange(len(self.weights), dtype=np.int64)
        weights = self.learnt_weights
        if counts is not None:
            rows, weights = count_rows_drawn(rows, weights, counts)
            if not (weights[rows] > 0).any():  # only rows without a target were drawn
                rows = np.arange(len(self.weights), dtype=np.int64)
                weights = self.learnt_weights
        return cast("TargetPlan", plan).grow_on_table(self.dataset, self.table, weights, rows)

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k != "_prepared"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _prepared={})
