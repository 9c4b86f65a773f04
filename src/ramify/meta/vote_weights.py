"""Search for the weights of a mean: the best convex combination according to a measure."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

__all__ = ["search_weights"]

_UNITS = 5
"""Units of weight per member; a step of the search moves one unit."""

Weights = NDArray[np.float64]


def search_weights(score: Callable[[Weights], float], n_members: int) -> tuple[Weights, float]:
    """Search for the weights of a weighted mean that maximise a score.

    The weights are multiples of 1 / (5 n_members). The search starts from equal weights or from a
    single member, whichever is best, and moves one unit of weight from one member to another as
    long as this improves the score. Each step takes the best move. The search is deterministic;
    among equal scores, the first one wins, and equal weights come first.

    Parameters
    ----------
    score : callable
        A function of the weights, which are not negative and sum to 1. Larger is better; NaN is
        never better.
    n_members : int
        Number of weights.

    Returns
    -------
    weights : ndarray of shape (n_members,)
        The best weights found.
    score : float
        Their score.

    Examples
    --------
    >>> weights, value = search_weights(lambda w: -abs(w[0] - 0.7), 2)
    >>> weights.tolist()
    [0.7, 0.3]
    """
    total = _UNITS * n_members
    known: dict[tuple[int, ...], float] = {}

    def rate(units: tuple[int, ...]) -> float:
        if units not in known:
            known[units] = float(score(np.array(units) / total))
        return -np.inf if np.isnan(known[units]) else known[units]

    alone = [tuple(total * (i == k) for i in range(n_members)) for k in range(n_members)]
    best = max([(_UNITS,) * n_members, *alone], key=rate)  # the first of equal scores
    while True:
        found = max([best, *_moves(best)], key=rate)
        if found == best:
            return np.array(best) / total, known[best]
        best = found


def _moves(units: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield the weights after moving one unit from one member to another."""
    for source in range(len(units)):
        for target in range(len(units)):
            if source != target and units[source] > 0:
                moved = list(units)
                moved[source] -= 1
                moved[target] += 1
                yield tuple(moved)
