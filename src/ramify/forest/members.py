"""Growing the members of an ensemble: their rows, their seeds, and the threads that grow them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from joblib import delayed
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core
from ramify._base.features import FeatureSchema, make_dataset
from ramify._parallel import in_parallel
from ramify._progress import track
from ramify.tree.java_random import JavaRandom
from ramify.tree.plan import GrowthPlan, prepare_labels

__all__ = ["ClusSampling", "Sampling", "TrainingSet", "grow_members"]


@dataclass
class TrainingSet:
    """Checked training data; what all trees can share is computed once.

    A copy that travels to another process computes its own there.

    Attributes
    ----------
    X : ndarray or sparse matrix
        What `read_training_features` returned, with its `schema`.
    schema : FeatureSchema
        Which columns are nominal.
    Y : csr_array of shape (n, n_labels)
        Labels, closed upwards.
    label_weights : ndarray of shape (n_labels,)
        What each label's impurity counts.
    weights : ndarray of shape (n,)
        What each row counts.
    clus : bool
        Whether trees obey CLUS's conventions.
    stop : StopFlag
        Ends all trees that grow on this data.
    """

    X: Any
    schema: FeatureSchema
    Y: sparse.csr_array[np.int32]
    label_weights: NDArray[np.float64]
    weights: NDArray[np.float64]
    clus: bool = False
    stop: _core.StopFlag = field(default_factory=_core.StopFlag)

    @cached_property
    def dataset(self) -> _core.Dataset:
        """The columns of X as the core takes them."""
        return make_dataset(self.X, self.schema, clus=self.clus)

    @cached_property
    def labels(self) -> _core.Labels:
        """The labels as the core takes them."""
        return prepare_labels(self.Y, self.label_weights, many=True)

    def __getstate__(self) -> dict[str, Any]:
        left_here = ("dataset", "labels", "stop")
        return {k: v for k, v in self.__dict__.items() if k not in left_here}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, stop=_core.StopFlag())


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


def grow_members(
    training: TrainingSet,
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
    training : TrainingSet
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
    _ = training.dataset, training.labels  # here, once, rather than in every thread
    tasks = (delayed(_grow_member)(training, plan, sampling, seed) for seed in seeds)
    grown = in_parallel(tasks, n_jobs=n_jobs, prefer="threads", shared=[training])
    try:
        return list(track(grown, len(seeds), "Growing trees", shown=verbose))
    except BaseException:
        # Ctrl-C reaches the main thread only.
        training.stop.set()
        raise


def _grow_member(
    training: TrainingSet, plan: GrowthPlan, sampling: Sampling, seed: int
) -> _core.Tree:
    counts, seed = sampling.draw(seed)
    plan = plan.for_member(seed)
    rows, weights = None, training.weights
    if counts is not None:
        rows = np.flatnonzero(counts)
        weights = weights * counts
    return plan.grow(
        training.dataset,
        training.Y,
        training.label_weights,
        weights,
        rows,
        labels=training.labels,
        stop=training.stop,
    )
