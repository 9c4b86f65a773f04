"""Draw the rows and seeds of the trees of an ensemble."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify import _core
from ramify._validation import check_number


@dataclass(frozen=True)
class Sampling:
    """How to draw the rows and seeds of the trees."""

    n_rows: int  # number of training rows
    # Number of rows to draw with replacement for each tree. None means that every tree is grown on
    # all rows.
    n_draws: int | None
    # How often rows are drawn, relative to each other; equally often by default.
    chances: NDArray[np.float64] | None = field(default=None, kw_only=True)
    # Rows that are drawn apart from the others, so that every tree gets as many of them.
    apart: NDArray[np.bool_] | None = field(default=None, kw_only=True)

    def seeds(self, random_seed: int, n_members: int) -> list[int]:
        """Return one seed per tree; the first seeds do not depend on `n_members`."""
        words = np.random.SeedSequence(random_seed).generate_state(n_members, np.uint64)
        return [int(word) for word in words]

    def draw(self, seed: int) -> tuple[NDArray[np.int32] | None, int]:
        """Draw the rows of a tree; also return the seed with which to grow it."""
        if self.n_draws is None:
            return None, seed
        if self.chances is not None:
            return _draw(seed, self.chances, self.n_draws), seed
        if self.apart is not None:
            return _draw_apart(seed, self.apart, self.n_draws), seed
        return _core.bootstrap(seed, self.n_rows, self.n_draws), seed

    def left_out(self, seeds: list[int]) -> NDArray[np.uint8]:
        """Return an indicator matrix of the rows not drawn, with one row per tree."""
        mask = np.zeros((len(seeds), self.n_rows), dtype=np.uint8)
        for member, seed in zip(mask, seeds, strict=True):
            counts, _ = self.draw(seed)
            if counts is not None:
                member[counts == 0] = 1
        return mask


def _draw(seed: int, chances: NDArray[np.float64], n_draws: int) -> NDArray[np.int32]:
    """Draw rows with replacement, each with a chance of its own; return their counts."""
    # The numbers of a RandomState, unlike those of a Generator, are the same in every numpy.
    numbers = np.random.RandomState(np.random.MT19937(seed)).random_sample(n_draws)
    upto = np.cumsum(chances)
    drawn = np.searchsorted(upto, numbers * upto[-1], side="right")
    last = np.flatnonzero(chances)[-1]  # the product may be rounded up to the sum
    counts = np.bincount(np.minimum(drawn, last), minlength=len(chances))
    return counts.astype(np.int32)


def _draw_apart(seed: int, apart: NDArray[np.bool_], n_draws: int) -> NDArray[np.int32]:
    """Draw from some rows and then from the others, as often as there are such rows."""
    counts = np.zeros(len(apart), dtype=np.int32)
    n_apart = int(np.count_nonzero(apart))
    wanted = max(1, round(n_draws * n_apart / len(apart)))
    counts[apart] = _core.bootstrap(seed, n_apart, wanted)
    if n_draws > wanted:
        next_seed = (seed + 1) % 2**64
        counts[~apart] = _core.bootstrap(next_seed, len(apart) - n_apart, n_draws - wanted)
    return counts


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
