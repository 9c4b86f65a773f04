"""The options of a tree: the parameters of its estimator, and what the core makes of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from scipy import special

from ramify import _core
from ramify._parallel import count_threads
from ramify._validation import check_choice, check_number
from ramify.trees.conventions import OURS, Conventions
from ramify.trees.criteria import find_criterion
from ramify.trees.tree_data import TreeData

__all__ = [
    "TreeOptions",
    "count_features",
    "count_rows",
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


# Options that the core takes as they are; None means its default.
_AS_GIVEN = (
    *("max_depth", "min_samples_split", "min_samples_leaf", "min_weight", "prototype"),
    *("nominal_tests", "seed", "hidden_feature", "engine"),
)


@dataclass(frozen=True)
class TreeOptions:
    """The parameters that determine how a tree is grown, under the names in all estimators.

    Fractions of rows refer to the rows that a tree is grown on, unless `for_rows` has converted
    them.
    """

    criterion: Any = "variance"
    prototype: str = "mean"
    smoothing: float = 0.0
    splitter: str = "best"
    max_depth: int | None = None
    min_samples_split: float = 2
    min_samples_leaf: float = 1
    min_weight: float = 0.0
    min_impurity_decrease: float = 0.0
    max_features: Any = None
    redraw: bool = False
    f_test: Any = None  # one level; a list has to be replaced with the level chosen from it
    pruning: str | None = None
    pruning_confidence: float = 0.25
    threshold_at: str | None = None
    nominal_tests: str = "subset"
    missing: str | None = None
    n_jobs: int | None = None
    # Not parameters of estimators:
    conventions: Conventions = OURS
    seed: int = 0  # under the conventions of CLUS, the state of java.util.Random
    hidden_feature: int | None = None  # a feature that is never tested
    engine: str = "auto"  # forces one of the implementations, all of which grow the same tree

    @classmethod
    def of(cls, estimator: Any, **others: Any) -> TreeOptions:
        """Return the options of an estimator, which may lack parameters, and others."""
        names = [field.name for field in fields(cls) if hasattr(estimator, field.name)]
        given = {name: getattr(estimator, name) for name in names}
        return cls(**{**given, "conventions": estimator._conventions, **others})

    def for_rows(self, n_rows: int) -> TreeOptions:
        """Return the same options with fractions of rows converted to numbers of rows."""
        return replace(
            self,
            min_samples_split=count_rows(self.min_samples_split, n_rows, 2),
            min_samples_leaf=count_rows(self.min_samples_leaf, n_rows, 1),
        )

    def for_core(self, data: TreeData, n_rows: int, total: float) -> _core.GrowOptions:
        """Return the options of the core for a tree on `n_rows` rows of weight `total`."""
        own, targets = self.conventions, data.targets
        own_rows = self.for_rows(n_rows)
        given = {name: getattr(own_rows, name) for name in _AS_GIVEN}
        criterion = find_criterion(self.criterion)
        wanted = count_features(self.max_features, data.n_features, clus=own.clus)
        found = {
            **{name: value for name, value in given.items() if value is not None},
            **targets.core_options(criterion),
            "redraw": bool(self.redraw),
            "min_gain": self.min_impurity_decrease * total,
            "max_features": 0 if wanted == data.n_features else wanted,
            "random_thresholds": self.splitter == "random",
            "midpoint": (self.threshold_at or own.threshold_at) == "midpoint",
            "missing": self.missing or own.missing,
            # Pruning after growing needs the predictions of all nodes.
            "inner_values": self.pruning in ("reduced_error", "m5"),
            "sums": own.smooths_sums and self.smoothing > 0,
            "n_threads": count_threads(self.n_jobs),
        }
        if self.pruning == "pessimistic":
            found["confidence"] = self.pruning_confidence
            found["z"] = float(special.ndtri(1 - self.pruning_confidence))
        if self.f_test is not None and not criterion.is_entropy:
            found["f_critical"] = own.critical_values(self.f_test, total).tolist()
        found |= own.core_options(criterion, targets)
        return _core.GrowOptions(**found)
