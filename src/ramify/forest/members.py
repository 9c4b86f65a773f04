"""Growing the members of an ensemble: their rows, their seeds, and the threads that grow them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import delayed
from numpy.typing import NDArray

from ramify import _core
from ramify._parallel import in_parallel
from ramify._progress import track
from ramify._validation import check_number
from ramify.tree.java_random import JavaRandom
from ramify.tree.plan import GrowthPlan
from ramify.tree.training_data import TrainingData

__all__ = [
    "ClusSampling",
    "Sampling",
    "check_max_samples",
    "count_draws",
    "grow_member",
    "grow_members",
]


@dataclass(frozen=True)
class Sampling:
    """Which rows each member learns from, and how the rest of its draws are seeded.

    Attributes
    ----------
    n_rows : int
        The number of training rows.
    n_draws : int or None
        Draws with replacement per member; None: every member learns from all rows.
    """

    n_rows: int
    n_draws: int | None

    def seeds(self, random_seed: int, n_members: int) -> list[int]:
        """Return one seed per member; a longer list starts with the shorter one.

        Parameters
        ----------
        random_seed : int
            The seed of the ensemble.
        n_members : int
            How many seeds.

        Returns
        -------
        list of int
            The seeds.
        """
        words = np.random.SeedSequence(random_seed).generate_state(n_members, np.uint64)
        return [int(word) for word in words]

    def draw(self, seed: int) -> tuple[NDArray[np.int32] | None, int]:
        """Draw a member's rows.

        Parameters
        ----------
        seed : int
            One of `seeds`.

        Returns
        -------
        counts : ndarray of shape (n_rows,) or None
            How often each row was drawn; None stands for once each.
        seed : int
            What seeds the member's further draws.
        """
        if self.n_draws is None:
            return None, seed
        return _core.bootstrap(seed, self.n_rows, self.n_draws), seed

    def left_out(self, seeds: list[int]) -> NDArray[np.uint8]:
        """Return which rows each member did not draw, 1 for those, a row per member."""
        mask = np.zeros((len(seeds), self.n_rows), dtype=np.uint8)
        for member, seed in zip(mask, seeds, strict=True):
            counts, _ = self.draw(seed)
            if counts is not None:
                member[counts == 0] = 1
        return mask


@dataclass(frozen=True)
class ClusSampling(Sampling):
    """The same with CLUS's random numbers.

    Every member has five generators. The fourth draws the bootstrap sample and goes on with the
    features of the nodes. If some rows have no labels, the second generator draws the sample
    instead: first from the rows with labels as many as there are, then from the others, which it
    numbers from the last to the first.

    Attributes
    ----------
    labelled : ndarray of bool, shape (n_rows,)
        Which rows have labels.
    """

    labelled: NDArray[np.bool_]

    def seeds(self, random_seed: int, n_members: int) -> list[int]:
        """Return the seed of each member's generators."""
        random = JavaRandom(random_seed)
        return [random.next_int() for _ in range(n_members)]

    def draw(self, seed: int) -> tuple[NDArray[np.int32] | None, int]:
        """Draw a member's rows; the second answer is the state of the fourth generator."""
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
    """Refuse a `max_samples` that is no number of rows, no share of them and not None."""
    if max_samples is None:
        return
    if isinstance(max_samples, int | np.integer):
        check_number("max_samples", max_samples, 1)
    else:
        check_number("max_samples", max_samples, 0, 1)


def count_draws(max_samples: float | None, n_rows: int) -> int:
    """Return how many rows are drawn for a member.

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
    data: TrainingData,
    plan: GrowthPlan,
    sampling: Sampling,
    seeds: list[int],
    *,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> list[_core.Tree]:
    """Grow one tree per seed, in parallel; the trees do not depend on `n_jobs`.

    Parameters
    ----------
    data : TrainingData
        What all trees learn from.
    plan : GrowthPlan
        How a tree grows, but for its seed.
    sampling : Sampling
        Which rows each tree gets.
    seeds : list of int
        Some of ``sampling.seeds``.
    n_jobs : int, optional
        Threads, or workers of whatever backend ``joblib.parallel_config`` chose.
    verbose : bool
        Whether to show a progress bar.

    Returns
    -------
    list of Tree
        In the order of the seeds.
    """
    _ = data.dataset, data.labels  # here, once, rather than in every thread
    tasks = (delayed(grow_member)(data, plan, sampling, seed) for seed in seeds)
    grown = in_parallel(tasks, n_jobs=n_jobs, prefer="threads", shared=[data])
    try:
        return list(track(grown, len(seeds), "Growing trees", shown=verbose))
    except BaseException:
        # Ctrl-C reaches the main thread only.
        data.stop.set()
        raise


def grow_member(data: TrainingData, plan: GrowthPlan, sampling: Sampling, seed: int) -> _core.Tree:
    """Grow one tree of an ensemble.

    Parameters
    ----------
    data : TrainingData
        What all trees learn from.
    plan : GrowthPlan
        How a tree grows, but for its seed.
    sampling : Sampling
        Draws the tree's rows.
    seed : int
        One of ``sampling.seeds``.

    Returns
    -------
    Tree
        The grown tree.
    """
    counts, seed = sampling.draw(seed)
    return data.grow(plan.for_member(seed), counts=counts)
