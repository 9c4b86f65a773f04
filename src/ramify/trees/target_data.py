"""Training data of trees for several targets, their weights, and how such trees are grown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ramify import _core
from ramify._messages import did_you_mean
from ramify.data.features import FeatureSchema, make_dataset
from ramify.trees.plan import GrowthPlan
from ramify.trees.training_data import count_rows_drawn

__all__ = [
    "TargetData",
    "TargetPlan",
    "check_target_weight",
    "read_target_weight",
    "weigh_classes",
    "weigh_numbers",
]


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
    """Validated training data of trees and forests for several targets."""

    X: Any  # the features, as returned by `read_training_features`
    schema: FeatureSchema  # the schema of the features
    values: NDArray[np.float64]  # numbers, or codes of classes; NaN marks missing values
    weights: NDArray[np.float64]  # sample weights
    target_weights: NDArray[np.float64]  # the weight of each target in the criterion
    origin: NDArray[np.float64] | None = None  # the origin of each numeric target
    n_classes: NDArray[np.int32] | None = None  # the number of classes of each nominal target
    clus: bool = False  # whether trees follow the conventions of CLUS
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
        """Grow a tree."""
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


# ---- weights of targets ---------------------------------------------------------------------


# A standard deviation below this fraction of the mean is the rounding error of a constant.
_CONSTANT = 1e-13


def check_target_weight(target_weight: Any) -> None:
    """Raise an error unless `target_weight` is None, numbers or a mapping of names to numbers."""
    if target_weight is None:
        return
    values = target_weight.values() if isinstance(target_weight, Mapping) else target_weight
    try:
        weights = np.array(list(values), dtype=np.float64)
    except (TypeError, ValueError):
        weights = np.array([np.nan])
    if weights.ndim != 1 or not ((weights >= 0) & (weights < np.inf)).all():
        raise ValueError(
            "target_weight must be None, one number >= 0 per target, or a dict of target names to "
            f"numbers, got {target_weight!r}."
        )
    if len(weights) and not isinstance(target_weight, Mapping) and not weights.any():
        raise ValueError(
            f"target_weight must not be zero for all targets, got {target_weight!r}. Give at "
            "least one target a positive weight."
        )


def read_target_weight(
    target_weight: Any, n_targets: int, names: NDArray[Any] | None
) -> NDArray[np.float64]:
    """Return one factor per target.

    Examples
    --------
    >>> read_target_weight({"height": 2.0}, 2, np.array(["height", "width"]))
    array([2., 1.])
    """
    if target_weight is None:
        return np.ones(n_targets)
    if not isinstance(target_weight, Mapping):
        factors = np.array(list(target_weight), dtype=np.float64)
        if len(factors) != n_targets:
            raise ValueError(
                f"target_weight must have one number per target, got {len(factors)} numbers for "
                f"{n_targets} targets."
            )
        return factors
    known = [] if names is None else [str(name) for name in names]
    factors = np.ones(n_targets)
    for name, factor in target_weight.items():
        if str(name) not in known:
            where = "y has no column names" if names is None else "not a column of y"
            raise ValueError(
                f"target_weight has the unknown target {name!r}: {where}."
                f"{did_you_mean(name, known)} Pass a data frame as y, or a list of numbers."
            )
        factors[known.index(str(name))] = float(factor)
    if not factors.any():
        raise ValueError(
            f"target_weight must not be zero for all targets, got {target_weight!r}. Give at "
            "least one target a positive weight."
        )
    return factors


def weigh_numbers(
    values: NDArray[np.float64], sample_weight: NDArray[np.float64], *, clus: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the reciprocal of the variance of each target, and the origin of its sums.

    `values`: numbers, with NaN for missing values.
    `clus`: whether to compute as CLUS does: one row after the other, relative to 0, and with
    the number of all rows instead of those with a known value.
    """
    known = ~np.isnan(values)
    weight = np.where(known, sample_weight[:, None], 0.0)
    filled = np.where(known, values, 0.0)
    n_known = weight.cumsum(axis=0)[-1]
    n_known = np.where(n_known > 0, n_known, 1.0)
    total = (weight * filled).cumsum(axis=0)[-1]
    if clus:
        squares = (weight * filled * filled).cumsum(axis=0)[-1]
        spread = squares - total * total / n_known
        return _divide(1.0, spread / sample_weight.cumsum()[-1]), np.zeros(values.shape[1])
    origin = total / n_known
    spread = (weight * (filled - origin) ** 2).sum(axis=0)
    scale = np.abs(filled).max(axis=0)
    spread = np.where(spread <= n_known * (_CONSTANT * scale) ** 2, 0.0, spread)
    return _divide(n_known, spread), origin


def weigh_classes(
    codes: NDArray[np.float64], sample_weight: NDArray[np.float64], n_classes: list[int]
) -> NDArray[np.float64]:
    """Return the reciprocal of the Gini index of each target, 1 for constant targets."""
    gini = np.empty(len(n_classes))
    for i, n in enumerate(n_classes):
        known = ~np.isnan(codes[:, i])
        counts = np.bincount(
            codes[known, i].astype(np.int64), weights=sample_weight[known], minlength=n
        )
        share = counts / max(counts.sum(), np.finfo(float).tiny)
        gini[i] = 1.0 - float(np.sum(share * share))
    return _divide(1.0, np.where(gini > _CONSTANT, gini, 0.0))


def _divide(numerator: Any, denominator: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return quotients; 1 where the denominator is not positive."""
    positive = denominator > 0
    quotient = numerator / np.where(positive, denominator, 1.0)
    return np.where(positive, quotient, 1.0)
