"""What CLUS does differently, for each of its modes: numbers, tolerances, merging, voting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy import sparse, special

from ramify import _core
from ramify.data.rows import by_rows
from ramify.labels.hierarchy import Hierarchy
from ramify.trees.conventions import MOST_FREEDOM, OURS, Conventions, Known, Targets, Weights
from ramify.trees.criteria import Criterion, find_criterion
from ramify.trees.parameters import mixes_features
from ramify.trees.sampling import Sampling
from ramify.trees.targets import divide
from ramify.trees.views import change_tree, find_leaves, predict_tree

__all__ = [
    "ClusHierarchical",
    "ClusMultilabel",
    "ClusNominal",
    "ClusNumeric",
    "ClusSampling",
    "JavaRandom",
    "clus_folds",
    "label_conventions",
]


class JavaRandom:
    """The linear congruential generator java.util.Random.

    Parameters
    ----------
    seed : int
        The seed.

    Examples
    --------
    >>> random = JavaRandom(0)
    >>> [random.next_int(10) for _ in range(5)]
    [0, 8, 9, 7, 5]
    """

    _MASK = (1 << 48) - 1

    def __init__(self, seed: int) -> None:
        self._state = (seed ^ 0x5DEECE66D) & self._MASK

    @classmethod
    def from_state(cls, state: int) -> JavaRandom:
        """Return a generator that continues from a state."""
        random = cls(0)
        random._state = state
        return random

    @property
    def state(self) -> int:
        """The 48-bit state, which determines all further numbers."""
        return self._state

    def _next(self, bits: int) -> int:
        self._state = (self._state * 0x5DEECE66D + 0xB) & self._MASK
        value = self._state >> (48 - bits)
        return value - (1 << bits) if value >> (bits - 1) and bits == 32 else value

    def next_int(self, bound: int | None = None) -> int:
        """Return an integer in [0, bound), or any signed 32-bit integer if `bound` is None."""
        if bound is None:
            return self._next(32)
        if bound & -bound == bound:
            return (bound * self._next(31)) >> 31
        while True:
            bits = self._next(31)
            value = bits % bound
            # Java detects an overflow of this sum, to reject draws that would not be uniform.
            if bits - value + (bound - 1) < 1 << 31:
                return value


# ---- modes ----------------------------------------------------------------------------------


def label_conventions(tree: Any) -> Conventions:
    """Return the conventions of a tree or ensemble for labels."""
    if not getattr(tree, "clus_compat", False):
        return OURS
    hierarchical = isinstance(tree.criterion, str) and tree.criterion == "variance"
    if not hierarchical:
        return ClusMultilabel()
    return ClusHierarchical(learns_from_all=mixes_features(tree))


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
    missing: ClassVar[str] = "divide"
    merging: ClassVar[str] = "equal"  # when leaves are merged; see core/growing/options.hpp

    def check(self, tree: Any) -> None:
        """Raise an error if CLUS has no counterpart of a parameter."""
        missing = getattr(tree, "missing", None)
        if missing not in (None, self.missing):
            raise ValueError(
                f"missing must be None or 'divide' with clus_compat=True, got {missing!r}: CLUS "
                "divides rows among all branches. Use missing='divide', or clus_compat=False."
            )
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

    # Whether rows without labels are learnt from. CLUS does so with -ssl, and local problems need
    # them.
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

    def weigh_numbers(
        self, values: NDArray[np.float64], weights: Weights
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the weight of each target, and the origin of its sums, 0.

        CLUS adds one row after the other, and divides by the number of all rows instead of those
        with a known value.
        """
        weight = np.where(np.isnan(values), 0.0, weights[:, None])
        filled = np.where(np.isnan(values), 0.0, values)
        n_known = weight.cumsum(axis=0)[-1]
        n_known = np.where(n_known > 0, n_known, 1.0)
        total = (weight * filled).cumsum(axis=0)[-1]
        squares = (weight * filled * filled).cumsum(axis=0)[-1]
        spread = squares - total * total / n_known
        return divide(1.0, spread / weights.cumsum()[-1]), np.zeros(values.shape[1])

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
            some = by_rows(X)[rows]
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


# ---- critical values and folds --------------------------------------------------------------


# The table of CLUS: values for 1, 2, ... degrees of freedom, then steps of (largest degrees of
# freedom, value), then the value for all larger degrees of freedom.
_CLUS_TABLE: dict[float, tuple[str, tuple[tuple[int, float], ...], float]] = {
    0.1: (
        "39.8161 8.5264 5.5225 4.5369 4.0804 3.7636 3.61 3.4596 3.3489 3.2761 3.24 3.1684 3.1329 "
        "3.0976 3.0625 3.0625 3.0276 2.9929 2.9929 2.9584",
        ((30, 2.9), (40, 2.86), (120, 2.79)),
        2.7,
    ),
    0.05: (
        "161.0 18.5 10.1 7.71 6.61 5.99 5.59 5.32 5.12 4.96 4.84 4.75 4.67 4.6 4.54 4.49 4.45 "
        "4.41 4.38 4.35 4.32 4.3 4.28 4.26 4.24 4.23 4.21 4.2 4.18 4.17",
        ((40, 4.08), (60, 4.00), (120, 3.92)),
        3.84,
    ),
    0.01: (
        "4052 98.5 34.1 21.2 16.3 13.7 12.2 11.3 10.6 10.0 9.65 9.33 9.07 8.86 8.68 8.53 8.40 "
        "8.29 8.18 8.1 8.02 7.95 7.88 7.82 7.77 7.72 7.68 7.64 7.6 7.56",
        ((40, 7.31), (60, 7.08), (120, 6.85)),
        6.63,
    ),
    0.005: (
        "15876 198.81 55.5025 31.36 22.7529 18.6624 16.2409 14.6689 13.6161 12.8164 12.25 11.7649 "
        "11.2896 11.0889 10.8241 10.5625 10.3684 10.24 10.0489 9.9225 9.8596 9.7344 9.61 9.5481 "
        "9.4864 9.4249 9.3636 9.3025 9.2416 9.1809",
        ((40, 8.82), (60, 8.47), (120, 8.18)),
        7.90,
    ),
    0.001: (
        "405769 998.56 166.41 74.1321 47.0596 35.5216 29.16 25.4016 22.8484 21.0681 19.7136 "
        "18.6624 17.8084 17.1396 16.5649 16.0801 15.6025 15.3664 15.0544 14.8225 14.5924 14.3641 "
        "14.2129 13.9876 13.8384 13.7641 13.6161 13.4689 13.3956 13.3225",
        ((40, 12.60), (60, 11.98), (120, 11.36)),
        10.82,
    ),
}


def clus_critical_values(level: float) -> NDArray[np.float64]:
    """Return the critical values used by CLUS.

    Examples
    --------
    >>> clus_critical_values(0.01)[[1, 35, -1]].tolist()
    [4052.0, 7.31, 6.63]
    """
    if abs(level - 1.0) < 0.01:
        return np.empty(0)
    for known, (listed, steps, beyond) in _CLUS_TABLE.items():
        if abs(level - known) / known < 0.01:
            values = [np.inf, *map(float, listed.split())]
            for largest, value in steps:
                values.extend([value] * (largest + 1 - len(values)))
            return np.array([*values, beyond])
    limit = float(special.stdtrit(1e5, 1 - level / 2) ** 2)
    quantiles = special.stdtrit(np.arange(3, MOST_FREEDOM), 1 - level / 2) ** 2
    close = int(np.argmax(quantiles <= 1.05 * limit)) + 1
    return np.concatenate([[np.inf, 0.0, 0.0], quantiles[:close], [limit]])


def clus_folds(n_rows: int, n_folds: int, seed: int = 0) -> list[NDArray[np.int64]]:
    """Return the rows of each fold of a cross-validation of CLUS.

    CLUS uses seed 0 to choose among levels of the F-test.

    A fold is drawn for each row; if it is full, the row goes to the next fold that is not. Once
    all folds have n_rows // n_folds rows, each may take one more of the remaining rows.

    Returns: the rows of each fold, in increasing order.

    Examples
    --------
    >>> [len(fold) for fold in clus_folds(10, 3)]
    [3, 3, 4]
    """
    random = JavaRandom(seed)
    folds: list[list[int]] = [[] for _ in range(n_folds)]
    room = n_rows // n_folds
    for row in range(n_rows):
        fold = random.next_int(n_folds)
        if room == n_rows // n_folds and all(len(rows) >= room for rows in folds):
            # The first row for which all folds are full uses up one extra draw.
            room += 1
            fold = random.next_int(n_folds)
        while len(folds[fold]) >= room:
            fold = (fold + 1) % n_folds
        folds[fold].append(row)
    return [np.array(rows, dtype=np.int64) for rows in folds]
