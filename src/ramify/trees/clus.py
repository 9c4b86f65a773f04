"""What CLUS does differently, for each of its modes: numbers, tolerances, merging, voting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core
from ramify.labels.hierarchy import Hierarchy
from ramify.trees.conventions import OURS, Conventions, Known, Targets, Weights
from ramify.trees.criteria import Criterion, find_criterion
from ramify.trees.f_test import clus_critical_values
from ramify.trees.java_random import JavaRandom, clus_folds
from ramify.trees.sampling import Sampling
from ramify.trees.views import change_tree, find_leaves, predict_tree

__all__ = [
    "ClusHierarchical",
    "ClusMultilabel",
    "ClusNominal",
    "ClusNumeric",
    "ClusSampling",
    "label_conventions",
]


def label_conventions(tree: Any) -> Conventions:
    """Return the conventions of a tree or ensemble for labels."""
    if not getattr(tree, "clus_compat", False):
        return OURS
    hierarchical = isinstance(tree.criterion, str) and tree.criterion == "variance"
    return ClusHierarchical() if hierarchical else ClusMultilabel()


@dataclass(frozen=True)
class ClusSampling(Sampling):
    """How CLUS draws the rows and seeds of the trees.

    Every tree has five generators. The fourth one draws the bootstrap sample and then the features
    at the nodes. If some rows have no labels, the second generator draws the sample instead: first
    as many rows with labels as there are, then rows without labels, in reverse order.
    """

    labelled: NDArray[np.bool_]  # which rows have labels

    def seeds(self, random_seed: int, n_members: int) -> list[int]:
        """Return the seed for the generators of each tree."""
        random = JavaRandom(random_seed)
        return [random.next_int() for _ in range(n_members)]

    def draw(self, seed: int) -> tuple[NDArray[np.int32] | None, int]:
        """Draw the rows of a tree; the second result is the state of the fourth generator."""
        random = JavaRandom(seed)
        states = [JavaRandom(random.next_int()).state for _ in range(5)]
        if self.n_draws is None:
            return None, states[3]
        if self.labelled.all():
            return _core.java_bootstrap(states[3], self.n_rows, self.n_draws)
        counts = np.zeros(self.n_rows, dtype=np.int32)
        state = states[1]
        for part in (np.flatnonzero(self.labelled), np.flatnonzero(~self.labelled)[::-1]):
            n_draws = round(self.n_draws * len(part) / self.n_rows)
            counts[part], state = _core.java_bootstrap(state, len(part), n_draws)
        return counts, states[3]


# Parameters without a counterpart in CLUS: name, the value that CLUS implies, and the reason.
_NOT_IN_CLUS = (
    ("prototype", "mean", "trees of CLUS predict means"),
    ("redraw", False, "CLUS draws the features of a node only once"),
    ("splitter", "best", "CLUS draws random thresholds with a different generator"),
)


@dataclass(frozen=True)
class Clus(Conventions):
    """What all modes of CLUS have in common."""

    clus: ClassVar[bool] = True
    threshold_at: ClassVar[str] = "observed"
    merging: ClassVar[str] = "equal"  # when leaves are merged; see core/growing/options.hpp

    def check(self, tree: Any) -> None:
        """Raise an error if CLUS has no counterpart of a parameter."""
        for name, value, why in _NOT_IN_CLUS:
            found = getattr(tree, name, value)
            if found != value:
                raise ValueError(
                    f"{name} must be {value!r} with clus_compat=True, got {found!r}: {why}. Use "
                    f"{name}={value!r}, or clus_compat=False."
                )

    def learnt_weights(self, targets: Targets, weights: Weights) -> Weights:
        """Return all sample weights: rows without a known target count as well."""
        return weights

    def critical_values(self, level: float, total: float) -> NDArray[np.float64]:
        """Return the critical values in the table of CLUS."""
        return clus_critical_values(level)

    def core_options(self, criterion: Criterion, targets: Targets) -> dict[str, Any]:
        """Return the options of the core that are not as in ramify."""
        found = {
            "clus": True,
            "merging": self.merging,
            "min_samples_split": 0.0,
            "min_samples_leaf": 0.0,
            "redraw": False,
            "java_random": True,
            "score_factor": self.score_factor(targets),
        }
        if criterion.is_entropy:
            found |= {"score_factor": 1.0, "mean_score": True, "clus_floor": 1e-6}
            found |= {"c45": False, "gain_ratio": criterion.c45}
        return found

    def score_factor(self, targets: Targets) -> float:
        """Return the factor of all scores."""
        return 1.0

    def sampling(self, n_draws: int | None, known: Known) -> Sampling:
        """Return how to draw the rows; those without a known target are drawn separately."""
        return ClusSampling(len(known), n_draws, known)

    def read_seed(self, random_state: Any) -> int:
        """Return the seed of java.util.Random."""
        if random_state is None:
            return 0
        if not isinstance(random_state, int | np.integer):
            raise ValueError(
                "random_state must be an integer or None with clus_compat=True, got "
                f"{random_state!r}. Pass the RandomSeed of CLUS; None means 0."
            )
        return int(random_state)

    def folds(self, n_rows: int, n_folds: int, random: RandomState) -> list[NDArray[np.int64]]:
        """Return the rows of each fold of a cross-validation, in increasing order."""
        return clus_folds(n_rows, n_folds)


@dataclass(frozen=True)
class _ClusLabels(Clus):
    """What the two modes of CLUS for labels have in common."""

    prunings: ClassVar[tuple[str | None, ...]] = (None,)
    smoothings: ClassVar[tuple[int, ...]] = (0,)

    def score_factor(self, targets: Targets) -> float:
        """Return the factor of all scores, which are means over the labels."""
        return 1.0 / targets.n_columns

    def check(self, tree: Any) -> None:
        """Raise an error if CLUS has no counterpart of a parameter."""
        if find_criterion(tree.criterion).core == "distance":
            raise ValueError(
                "criterion must be 'variance', 'gini', 'entropy' or 'gain_ratio' with "
                f"clus_compat=True, got {tree.criterion!r}. Set clus_compat=False to use "
                "distances."
            )
        pruning = getattr(tree, "pruning", None)
        if pruning not in self.prunings:
            raise ValueError(
                f"pruning must be None with clus_compat=True, or 'pessimistic' with a criterion "
                f"other than 'variance', got {pruning!r} with criterion={tree.criterion!r}: CLUS "
                "does not prune trees for a hierarchy. Use pruning=None, or clus_compat=False."
            )
        if tree.smoothing not in self.smoothings:
            raise ValueError(
                f"smoothing must be 0 with clus_compat=True, or 1 with criterion='variance' "
                f"(MEstimate in CLUS), got {tree.smoothing!r} with criterion={tree.criterion!r}. "
                "Use smoothing=0, or clus_compat=False."
            )
        super().check(tree)


@dataclass(frozen=True)
class ClusHierarchical(_ClusLabels):
    """The hierarchical mode of CLUS."""

    # Whether rows without labels are learnt from. CLUS does not, but local problems need them.
    learns_from_all: bool = False

    smooths_sums: ClassVar[bool] = True
    smoothings: ClassVar[tuple[int, ...]] = (0, 1)  # MEstimate

    @property
    def keeps_unknown(self) -> bool:
        """In CLUS, rows without labels have no weight, but their values still give thresholds."""
        return not self.learns_from_all

    def check_known(self, known: Known, weights: Weights) -> None:
        """Raise an error if CLUS would have no row to learn from."""
        if not weights[known].any():
            raise ValueError(
                f"y must have a row with a label and a positive weight with clus_compat=True, got "
                f"none in {len(known)} row(s): CLUS ignores rows without labels. Use "
                "clus_compat=False to learn from them."
            )

    def for_local(self) -> Conventions:
        """Return the same conventions, except that rows without labels are learnt from."""
        return ClusHierarchical(learns_from_all=True)

    def learnt_weights(self, targets: Targets, weights: Weights) -> Weights:
        """Return sample weights, which are 0 for rows without labels."""
        return weights if self.learns_from_all else np.where(targets.known, weights, 0.0)


@dataclass(frozen=True)
class ClusMultilabel(_ClusLabels):
    """The multi-label mode of CLUS, in which rows without labels are negatives of all labels."""

    merging: ClassVar[str] = "same_labels"
    prunings: ClassVar[tuple[str | None, ...]] = (None, "pessimistic")
    votes_are_means: ClassVar[bool] = False

    def weigh_labels(
        self, tree: Any, hierarchy: Hierarchy, Y: sparse.csr_array[np.int32], weights: Weights
    ) -> Weights:
        """Return 2 divided by the Gini index of each label at the root; 1 for other criteria."""
        if tree.criterion != "gini":
            return np.ones(Y.shape[1])
        positive = np.asarray(Y.T @ weights).ravel() / weights.sum()
        gini = 2 * positive * (1 - positive)
        return 2 / np.where(gini > 0, gini, 1.0)

    def sampling(self, n_draws: int | None, known: Known) -> Sampling:
        """Return how to draw the rows, all of which are known."""
        return super().sampling(n_draws, np.ones_like(known))

    def vote(
        self,
        trees: list[_core.Tree],
        X: Any,
        out: NDArray[np.float64],
        n_threads: int,
        voters: NDArray[np.uint8] | None = None,
    ) -> None:
        """Write the votes to `out`, equal to those of CLUS to the last digit without `voters`.

        The votes equal the mean prediction of the trees, except for rounding, which determines
        which scores are tied and therefore affects areas under curves. CLUS sums c / W and
        (W - c) / W over the trees, where c of the W rows in a leaf have the label, and divides the
        first sum by the total of both.
        """
        if voters is not None:
            super().vote(trees, X, out, n_threads, voters)
            return
        votes_for = np.zeros_like(out)
        votes_against = np.zeros_like(out)
        for tree, leaf in zip(trees, find_leaves(trees, X).T, strict=True):
            share = np.zeros_like(votes_for)
            predict_tree(tree, X, share, clus=True)
            total = tree.weight[leaf][:, None]
            count = share * total
            # Counts are integers if all rows have weight 1; undo the rounding of the product.
            whole = np.rint(count)
            count = np.where(np.isclose(count, whole, rtol=1e-12, atol=1e-12), whole, count)
            votes_for += share
            votes_against += (total - count) / total
        out[:] = votes_for / (votes_for + votes_against)


@dataclass(frozen=True)
class ClusNumeric(Clus):
    """CLUS for numeric targets."""

    def vote(
        self,
        trees: list[_core.Tree],
        X: Any,
        out: NDArray[np.float64],
        n_threads: int,
        voters: NDArray[np.uint8] | None = None,
    ) -> None:
        """Write the mean prediction to `out`; NaN if a leaf has no known value of a target."""
        super().vote(trees, X, out, n_threads, voters)
        for i, tree in enumerate(trees):
            known = _known_part(tree, X, out.shape[1])
            if known is not None:
                lacks = known <= 0
                if voters is not None:
                    lacks &= voters[i][:, None] > 0
                out[lacks] = np.nan


def _known_part(tree: _core.Tree, X: Any, n_targets: int) -> NDArray[np.float64] | None:
    """Return the fraction of each row in leaves with a value of each target; None if all have."""
    n_values = np.diff(tree.value_indptr)[tree.feature < 0]
    if (n_values == n_targets).all():
        return None
    marked = change_tree(tree, value=np.ones_like(tree.value))
    known = np.zeros((X.shape[0], n_targets))
    predict_tree(marked, X, known, clus=True)
    return known


@dataclass(frozen=True)
class ClusNominal(Clus):
    """CLUS for nominal targets; leaves have weights of classes instead of fractions."""

    spans: tuple[slice, ...] = ()  # the columns of each target; not needed to grow trees

    merging: ClassVar[str] = "same_classes"

    def predict(self, tree: _core.Tree, X: Any, out: NDArray[np.float64]) -> None:
        """Write the fractions of classes to `out`, which has zeros."""
        super().predict(tree, X, out)
        self._to_shares(out)

    def vote(
        self,
        trees: list[_core.Tree],
        X: Any,
        out: NDArray[np.float64],
        n_threads: int,
        voters: NDArray[np.uint8] | None = None,
    ) -> None:
        """Write the mean of the fractions of classes in the leaves to `out`."""
        total = np.zeros_like(out)
        rows = np.ones(len(out), dtype=bool)
        for i, tree in enumerate(trees):
            if voters is not None:
                rows = voters[i] > 0
                if not rows.any():
                    continue
            some = cast("Any", X).tocsr()[rows] if sparse.issparse(X) else X[rows]
            columns = np.zeros((int(rows.sum()), out.shape[1]))
            self.predict(tree, some, columns)
            total[rows] += columns
        voted = rows if voters is None else voters.any(axis=0)
        out[voted] = self._to_shares(total[voted])

    def _to_shares(self, columns: NDArray[np.float64]) -> NDArray[np.float64]:
        """Divide the columns of every target by their sum, in place."""
        for span in self.spans:
            total = columns[:, span].sum(axis=1, keepdims=True)
            columns[:, span] /= np.where(total > 0, total, 1.0)
        return columns
