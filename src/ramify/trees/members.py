"""The members of an ensemble: rows drawn for each, grown in parallel, and how they vote."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from joblib import delayed
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from ramify import _core
from ramify._parallel import in_parallel
from ramify._progress import track
from ramify._validation import check_number
from ramify.trees.java_random import JavaRandom
from ramify.trees.plan import GrowthPlan, predict_tree
from ramify.trees.views import find_leaves

__all__ = [
    "ClusSampling",
    "Growable",
    "Sampling",
    "check_max_samples",
    "count_draws",
    "grow_member",
    "grow_members",
    "keep_trees",
    "multilabel_votes",
    "read_seed",
]


class Growable(Protocol):
    """Training data of trees."""

    def prepare(self) -> None:
        """Do the work that all trees share."""

    def grow(self, plan: GrowthPlan, *, counts: NDArray[np.int32] | None = None) -> _core.Tree:
        """Grow a tree on rows that are used `counts` times each."""


@dataclass(frozen=True)
class Sampling:
    """How to draw the rows and seeds of the trees."""

    n_rows: int  # number of training rows
    # Number of rows to draw with replacement for each tree. None means that every tree is grown on
    # all rows.
    n_draws: int | None

    def seeds(self, random_seed: int, n_members: int) -> list[int]:
        """Return one seed per tree; the first seeds do not depend on `n_members`."""
        words = np.random.SeedSequence(random_seed).generate_state(n_members, np.uint64)
        return [int(word) for word in words]

    def draw(self, seed: int) -> tuple[NDArray[np.int32] | None, int]:
        """Draw the rows of a tree."""
        if self.n_draws is None:
            return None, seed
        return _core.bootstrap(seed, self.n_rows, self.n_draws), seed

    def left_out(self, seeds: list[int]) -> NDArray[np.uint8]:
        """Return an indicator matrix of the rows not drawn, with one row per tree."""
        mask = np.zeros((len(seeds), self.n_rows), dtype=np.uint8)
        for member, seed in zip(mask, seeds, strict=True):
            counts, _ = self.draw(seed)
            if counts is not None:
                member[counts == 0] = 1
        return mask


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


def check_max_samples(max_samples: Any) -> None:
    """Raise an error unless `max_samples` is a number of rows, a fraction or None."""
    if max_samples is None:
        return
    if isinstance(max_samples, int | np.integer):
        check_number("max_samples", max_samples, 1)
    else:
        check_number("max_samples", max_samples, 0, 1)


def count_draws(max_samples: float | None, n_rows: int) -> int:
    """Return the number of rows to draw for a tree.

    Examples
    --------
    >>> count_draws(None, 80), count_draws(10, 80), count_draws(0.25, 80)
    (80, 10, 20)
    """
    if max_samples is None:
        return n_rows
    if isinstance(max_samples, int | np.integer):
        return int(max_samples)
    return max(1, round(max_samples * n_rows))


def grow_members(
    data: Growable,
    plan: GrowthPlan,
    sampling: Sampling,
    seeds: list[int],
    *,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> list[_core.Tree]:
    """Grow one tree per seed, in parallel; the trees do not depend on `n_jobs`."""
    data.prepare()  # once here, not in every thread
    tasks = (delayed(grow_member)(data, plan, sampling, seed) for seed in seeds)
    with closing(in_parallel(tasks, n_jobs=n_jobs, prefer="threads", shared=[data])) as grown:
        return list(track(grown, len(seeds), "Growing trees", shown=verbose))


def grow_member(data: Growable, plan: GrowthPlan, sampling: Sampling, seed: int) -> _core.Tree:
    """Grow one tree of an ensemble."""
    counts, seed = sampling.draw(seed)
    return data.grow(plan.for_member(seed), counts=counts)


def keep_trees(ensemble: Any) -> list[_core.Tree]:
    """Return the trees of the previous fit that a fit with `warm_start` keeps.

    Returns: the trees; empty if the ensemble is not fitted or `warm_start` is False.
    """
    if not ensemble.warm_start or not hasattr(ensemble, "trees_"):
        return []
    trees: list[_core.Tree] = ensemble.trees_
    if ensemble.n_estimators < len(trees):
        raise ValueError(
            f"n_estimators must be at least {len(trees)} with warm_start=True, the number of "
            f"trees in the previous fit, got {ensemble.n_estimators}. Increase n_estimators, or "
            "set warm_start=False."
        )
    return trees


def read_seed(random_state: Any, *, clus: bool) -> int:
    """Return the seed from which the seeds of the trees are drawn."""
    if not clus:
        return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    if random_state is None:
        return 0
    if not isinstance(random_state, int | np.integer):
        raise ValueError(
            "random_state must be an integer or None with clus_compat=True, got "
            f"{random_state!r}. Pass the RandomSeed of CLUS; None means 0."
        )
    return int(random_state)


# ---- votes in the forests of CLUS on flat labels --------------------------------------------


def multilabel_votes(trees: list[_core.Tree], X: Any, n_labels: int) -> NDArray[np.float64]:
    """Return the votes of the multi-label mode of CLUS, equal to the last digit.

    The votes equal the mean prediction of the trees, except for rounding, which determines which
    scores are tied and therefore affects areas under curves. CLUS sums c / W and (W - c) / W over
    the trees, where c of the W rows in a leaf have the label, and divides the first sum by the
    total of both.
    """
    votes_for = np.zeros((X.shape[0], n_labels))
    votes_against = np.zeros_like(votes_for)
    for tree, leaf in zip(trees, find_leaves(trees, X).T, strict=True):
        share = np.zeros_like(votes_for)
        predict_tree(tree, X, share, clus=True)
        total = tree.weight[leaf][:, None]
        count = share * total
        # Counts are integers if all rows have weight 1; undo the rounding error of the product.
        whole = np.rint(count)
        count = np.where(np.isclose(count, whole, rtol=1e-12, atol=1e-12), whole, count)
        votes_for += share
        votes_against += (total - count) / total
    return np.asarray(votes_for / (votes_for + votes_against))
