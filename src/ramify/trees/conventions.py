"""The conventions of ramify for drawing rows, growing and voting; clus.py has those of CLUS."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy import sparse, special
from sklearn.utils import check_random_state

from ramify import _core
from ramify.data.rows import as_rows
from ramify.labels.hierarchy import Hierarchy
from ramify.trees.criteria import (
    Criterion,
    balanced_factors,
    find_label_weights,
    weight_of_children,
)
from ramify.trees.sampling import Sampling
from ramify.trees.targets import weigh_numbers
from ramify.trees.views import predict_tree

__all__ = [
    "MOST_FREEDOM",
    "OURS",
    "Conventions",
    "Targets",
    "critical_values",
]


# Beyond this many degrees of freedom, the critical value is constant to four digits.
MOST_FREEDOM = 10_000


def critical_values(level: float, weight: float) -> NDArray[np.float64]:
    """Return the critical values that F(1, df) exceeds with probability `level`.

    Returns: empty for level 1.

    Examples
    --------
    >>> print(critical_values(0.05, 12)[10].round(3))
    4.965
    """
    if level >= 1:
        return np.empty(0)
    largest = int(min(max(weight, 2), MOST_FREEDOM))
    # Round the length up to let thousands of small trees share one cached table.
    return _table(level, 1 << largest.bit_length())[: largest + 1]


@lru_cache(maxsize=64)
def _table(level: float, length: int) -> NDArray[np.float64]:
    """Return the critical values for fewer than `length` degrees of freedom."""
    freedom = np.arange(1, length)
    # The square of Student's t with df degrees of freedom has this F distribution.
    exact = special.stdtrit(freedom, 1 - level / 2) ** 2
    values = np.concatenate([[np.inf], exact])
    values.flags.writeable = False
    return values


# ---- conventions ----------------------------------------------------------------------------


Known = NDArray[np.bool_]
Weights = NDArray[np.float64]


class Targets(Protocol):
    """What trees learn to predict; see `ramify.trees.tree_data`."""

    @property
    def n_columns(self) -> int:
        """The number of values that a leaf may store."""

    @property
    def known(self) -> Known:
        """Which rows have a label or a known target."""

    def learnt_weights(self, weights: Weights) -> Weights:
        """Return sample weights; 0 for rows from which there is nothing to learn."""


class Conventions:
    """What ramify and CLUS do differently; this class is how ramify does it."""

    clus: ClassVar[bool] = False  # whether to compute in the order of CLUS
    threshold_at: ClassVar[str] = "midpoint"  # meant by threshold_at=None
    missing: ClassVar[str] = "learn"  # meant by missing=None
    smooths_sums: ClassVar[bool] = False  # whether leaves store sums if they are smoothed
    # Whether the prediction of a forest is the plain mean of its trees, as the core computes it.
    votes_are_means: ClassVar[bool] = True

    @property
    def keeps_unknown(self) -> bool:
        """Whether rows from which there is nothing to learn are kept, for their thresholds."""
        return False

    def check(self, tree: Any) -> None:
        """Raise an error if a parameter of a tree or ensemble is not supported."""

    def check_known(self, known: Known, weights: Weights) -> None:
        """Raise an error if there is no row to learn from."""

    def for_local(self) -> Conventions:
        """Return the conventions for local problems, whose negative rows have no labels."""
        return self

    def weigh_labels(
        self, tree: Any, hierarchy: Hierarchy, Y: sparse.csr_array[np.int32], weights: Weights
    ) -> Weights:
        """Return the weight of each label in the criterion."""
        factors = tree.label_weight
        if isinstance(factors, str):
            factors = balanced_factors(Y, weights)
        return find_label_weights(hierarchy, weight_of_children(tree), tree.weighting, factors)

    def weigh_numbers(
        self, values: NDArray[np.float64], weights: Weights
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the weight of each numeric target, and the origin of its sums."""
        return weigh_numbers(values, weights)

    def learnt_weights(self, targets: Targets, weights: Weights) -> Weights:
        """Return sample weights; 0 for rows from which there is nothing to learn."""
        return targets.learnt_weights(weights)

    def critical_values(self, level: float, total: float) -> NDArray[np.float64]:
        """Return the critical values of the F-test, given the total weight of the rows."""
        return critical_values(level, total)

    def core_options(self, criterion: Criterion, targets: Targets) -> dict[str, Any]:
        """Return the options of the core that are not as in ramify."""
        return {}

    def sampling(self, n_draws: int | None, known: Known) -> Sampling:
        """Return how to draw the rows of an ensemble."""
        return Sampling(len(known), n_draws)

    def read_seed(self, random_state: Any) -> int:
        """Return the seed from which the seeds of the trees are drawn."""
        return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))

    def folds(self, n_rows: int, n_folds: int, random: RandomState) -> list[NDArray[np.int64]]:
        """Return the rows of each fold of a cross-validation, in increasing order."""
        from sklearn.model_selection import KFold  # noqa: PLC0415 (slow, seldom used)

        drawn = KFold(n_folds, shuffle=True, random_state=random).split(np.empty((n_rows, 1)))
        return [test for _, test in drawn]

    def predict(self, tree: _core.Tree, X: Any, out: NDArray[np.float64]) -> None:
        """Write the prediction of a tree to `out`, which has zeros."""
        predict_tree(tree, X, out, clus=self.clus)

    def vote(
        self,
        trees: list[_core.Tree],
        X: Any,
        out: NDArray[np.float64],
        n_threads: int,
        voters: NDArray[np.uint8] | None = None,
    ) -> None:
        """Write the mean prediction to `out`; a tree is left out for rows with 0 in `voters`."""
        _core.vote(trees, as_rows(X), out, self.clus, n_threads, voters)


OURS = Conventions()
"""The conventions of ramify."""
