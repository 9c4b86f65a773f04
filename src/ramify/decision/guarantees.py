"""Thresholds that keep a promise: how much may go wrong on calibration rows, and where it does.

A loss of a row is a share between 0 and 1: an answer that is wrong, or the share of its labels
that were missed. It changes with a threshold in steps, so a row is a list of *events*, each a
threshold and the change of the loss there. `tolerated` says how large the sum of all losses may
be, and the functions after it find the threshold at which the sum is just that large.

With a confidence, a promise holds for all future rows with that probability over the calibration
rows (exact binomial bounds for losses of 0 and 1, otherwise those of Hoeffding and Bentkus; Bates
et al., 2021). Without, it holds on average over calibration rows and new rows (conformal risk
control; Angelopoulos et al., 2024).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse, special

from ramify import _core
from ramify.data.rows import indicator
from ramify.labels.graph import row_of
from ramify.labels.hierarchy import Hierarchy
from ramify.labels.unknown import UnknownLabels

_ROUNDING = 1e-9  # sums of losses are rounded; a promise is rather too strict by this much
_HALVINGS = 40
_TIES = 1e-6  # weight of what orders rows with equal scores; forests of few trees have many
_GRID = 1000  # thresholds 1, 0.999, …, which do not depend on the rows, as multiple tests need


# ---- how much may go wrong ------------------------------------------------------------------


@lru_cache(maxsize=1024)
def tolerated(
    n: int, share: float, confidence: float | None = None, *, is_binary: bool = True
) -> float:
    """Return how large the sum of the losses of n calibration rows may be; negative: not even 0.

    `share`: the promised mean loss of new rows, kept with probability `confidence`; None promises
    the mean over calibration rows, too.

    >>> tolerated(99, 0.05), tolerated(99, 0.05, confidence=0.9), tolerated(10, 0.05)
    (4.0, 1.0, -1.0)
    """
    if confidence is None:
        most = share * (n + 1) - 1 + _ROUNDING
        return float(math.floor(most)) if is_binary else most - 2 * _ROUNDING
    risk = 1 - confidence
    if is_binary:
        # Counts that are so unlikely if the share of errors is `share`, up to rounding.
        chances = special.bdtr(np.arange(n + 1), n, share)
        return float(np.searchsorted(chances, risk + 1e-12, side="right")) - 1
    if _p_value(0.0, n, share) > risk:
        return -1.0
    low, high = 0.0, share
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _p_value(middle, n, share) <= risk else (low, middle)
    return low * n - _ROUNDING


def _p_value(mean: float, n: int, share: float) -> float:
    """Return a bound on the probability of such a small mean of n losses if it were `share`."""
    if n == 0 or mean >= share:
        return 1.0
    divergence = (1 - mean) * math.log((1 - mean) / (1 - share)) if share < 1 else math.inf
    if mean > 0:
        divergence += mean * math.log(mean / share)
    bentkus = math.e * float(special.bdtr(math.ceil(n * mean - _ROUNDING), n, share))
    return min(1.0, math.exp(-n * divergence), bentkus)


# ---- where it goes wrong --------------------------------------------------------------------


@dataclass(frozen=True)
class Events:
    """The thresholds at which the losses of calibration rows change, and by how much."""

    at: NDArray[np.float64]
    change: NDArray[np.float64]


def above(events: Events, most: ArrayLike) -> NDArray[np.float64]:
    """Return the smallest thresholds at which the losses sum to at most `most`.

    An event takes place while the threshold does not exceed it. If `most` is negative, no
    threshold will do: infinity. If all events may take place: minus infinity.
    """
    order = np.argsort(-events.at, kind="stable")
    sums = np.cumsum(events.change[order])
    allowed = np.atleast_1d(np.asarray(most, dtype=np.float64))
    first = np.searchsorted(np.maximum.accumulate(sums), allowed, side="right")
    at = np.append(np.nextafter(events.at[order], np.inf), -np.inf)
    return np.where(allowed < 0, np.inf, at[first])


def below(events: Events, most: ArrayLike) -> NDArray[np.float64]:
    """Return the largest thresholds at which the losses sum to at most `most`.

    An event takes place when the threshold exceeds it: the higher the threshold, the more is lost.
    """
    order = np.argsort(events.at, kind="stable")
    sums = np.cumsum(events.change[order])
    allowed = np.atleast_1d(np.asarray(most, dtype=np.float64))
    first = np.searchsorted(np.maximum.accumulate(sums), allowed, side="right")
    return np.where(allowed < 0, -np.inf, np.append(events.at[order], np.inf)[first])


def lowest_safe(events: Events, most: ArrayLike) -> NDArray[np.float64]:
    """Return the lowest thresholds down to which the losses sum to at most `most` everywhere.

    The thresholds 1, 0.999, … are tested in this order until one fails, so that the level of a
    test needs no correction for their number (Learn then Test; Angelopoulos et al., 2025).
    """
    grid = np.arange(_GRID, 0, -1) / _GRID
    order = np.argsort(-events.at, kind="stable")
    sums = np.concatenate([[0.0], np.cumsum(events.change[order])])
    lost = np.maximum.accumulate(sums[np.searchsorted(-events.at[order], -grid, side="right")])
    allowed = np.atleast_1d(np.asarray(most, dtype=np.float64))
    n_passed = np.searchsorted(lost, allowed, side="right")
    return np.append(np.inf, grid)[np.where(allowed < 0, 0, n_passed)]


# ---- one path a row: climbing ---------------------------------------------------------------


@dataclass(frozen=True)
class Chains:
    """The labels from the end of each row's path up to the top, and their scores."""

    labels: NDArray[np.int64]  # of shape (n, levels); -1 after the top
    # Never decreasing upwards; infinity after the top. Of rows with equal scores, those whose end
    # is more probable are slightly above the others, so that a threshold can divide them.
    scores: NDArray[np.float64]

    @property
    def tops(self) -> NDArray[np.intp]:
        """The top-level label of each chain."""
        rows = np.arange(len(self.labels))
        return np.asarray(self.labels[rows, (self.labels >= 0).sum(axis=1) - 1])

    def answers(self, threshold: ArrayLike) -> NDArray[np.intp]:
        """Return the first label of each chain that reaches the threshold; -1 for none."""
        reached = self.scores >= np.asarray(threshold, dtype=np.float64).reshape(-1, 1)
        at = reached.argmax(axis=1)
        rows = np.arange(len(at))
        return np.where(reached[rows, at], self.labels[rows, at], -1)


def climb(
    scores: NDArray[np.float64], candidates: NDArray[np.bool_], hierarchy: Hierarchy
) -> Chains:
    """Return the chain from the most probable end of each row to the top, by likeliest parents.

    The probability of an end is its score minus those of its children, but at least 0.
    """
    rows = np.ascontiguousarray(scores, dtype=np.float64)
    labels, values = _core.climb(rows, hierarchy._parents, candidates.view(np.uint8))
    shape = (len(rows), hierarchy.depth)
    values = values.reshape(shape)
    return Chains(labels.reshape(shape), values + _TIES * values[:, :1])


def critical_scores(chains: Chains, Y: Any) -> NDArray[np.float64]:
    """Return the largest score of a wrong label of each chain; minus infinity if there is none.

    The answer of a row is wrong exactly if the threshold does not exceed it.
    """
    n, length = chains.labels.shape
    rows = np.repeat(np.arange(n), length)
    known = chains.labels.ravel() >= 0
    is_true = np.zeros(n * length, dtype=bool)
    picked = sparse.csr_array(Y)[rows[known], chains.labels.ravel()[known]]
    is_true[known] = np.asarray(picked).ravel() > 0
    is_wrong = known.reshape(n, length) & ~is_true.reshape(n, length)
    return np.asarray(np.where(is_wrong, chains.scores, -np.inf).max(axis=1))


# ---- one path a row: sets of labels ---------------------------------------------------------


def set_scores(
    scores: NDArray[np.float64], ends: NDArray[np.bool_], hierarchy: Hierarchy
) -> NDArray[np.float64]:
    """Return the probability that a path ends at a label; -1 for labels that are no ends."""
    sums: Any = indicator(hierarchy.child_rows, hierarchy.n_labels, np.float64) @ scores.T
    rest: NDArray[np.float64] = np.where(ends, np.maximum(scores - sums.T, 0.0), -1.0)
    return rest


class Cover:
    """The labels of a hierarchy as sets of labels below them."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        rows = hierarchy.ancestor_rows
        self._above = [{k, *row_of(rows, k)} for k in range(hierarchy.n_labels)]
        self._sizes = np.bincount(rows[1], minlength=hierarchy.n_labels)

    def grow(
        self, ends: NDArray[np.float64], scores: NDArray[np.float64], size: int
    ) -> Iterator[tuple[float, tuple[int, ...]]]:
        """Yield growing sets of labels that cover the likeliest ends of a row, with their scores.

        Ends are added one by one, from the likeliest. Two labels of a set larger than `size` are
        replaced by the common ancestor with the fewest labels below it, so every set covers those
        before it. The last is empty, for all labels. Of equal sums, those of likelier ends are
        slightly higher.
        """
        order = np.argsort(-ends, kind="stable")
        first = _TIES * float(ends[order[0]])
        chosen: list[int] = []
        most = 0.0
        for end in order[ends[order] >= 0].tolist():
            if not self._above[end].isdisjoint(chosen):
                continue
            chosen = [label for label in chosen if end not in self._above[label]] + [end]
            while chosen and len(chosen) > size:
                chosen = self._merge(chosen)
            if not chosen:
                break
            most = max(most, float(scores[chosen].sum()))
            yield most + first, tuple(sorted(chosen))
        yield np.inf, ()

    def _merge(self, chosen: list[int]) -> list[int]:
        """Replace two labels by a common ancestor; return no labels if no two have any."""
        shared = [
            (self._sizes[label], label)
            for one, other in combinations(chosen, 2)
            for label in self._above[one] & self._above[other]
        ]
        if not shared:
            return []
        merged = min(shared)[1]
        return [label for label in chosen if merged not in self._above[label]] + [merged]

    def critical(
        self,
        ends: NDArray[np.float64],
        scores: NDArray[np.float64],
        size: int,
        truth: set[int],
    ) -> float:
        """Return the largest sum of scores of the sets of a row without its true label.

        The set of a row is wrong exactly if the threshold does not exceed it.
        """
        before = -np.inf
        for total, chosen in self.grow(ends, scores, size):
            if not chosen or not truth.isdisjoint(chosen):
                break
            before = total
        return before

    def at(
        self, ends: NDArray[np.float64], scores: NDArray[np.float64], size: int, threshold: float
    ) -> tuple[int, ...]:
        """Return the first set of a row whose scores sum to a threshold; empty for all labels."""
        sets = self.grow(ends, scores, size)
        return next((chosen for total, chosen in sets if total >= threshold), ())


# ---- label sets -----------------------------------------------------------------------------


def missed_events(
    scores: NDArray[np.float64], Y: Any, costs: NDArray[np.float64], columns: NDArray[np.intp]
) -> list[Events]:
    """Return at which thresholds each row loses true labels, weighed by their costs."""
    truth = sparse.csr_array(Y)[:, columns]
    found = []
    for k, (start, end) in enumerate(pairwise(truth.indptr)):
        labels = columns[truth.indices[start:end]]
        total = costs[labels].sum()
        change = costs[labels] / total if total > 0 else np.zeros(len(labels))
        found.append(Events(scores[k, labels], change))
    return found


def false_events(
    scores: NDArray[np.float64],
    Y: Any,
    columns: NDArray[np.intp],
    *,
    monotone: bool,
    unknown: UnknownLabels | None = None,
) -> list[Events]:
    """Return at which thresholds false labels join the set of each row, and their shares of it.

    If `monotone`, the loss never falls, as if the largest so far were kept. Labels that a row does
    not know do not count.
    """
    truth = sparse.csr_array(Y)[:, columns]
    hidden = None if unknown is None else unknown.as_rows()[:, columns]
    found = []
    for k, (start, end) in enumerate(pairwise(truth.indptr)):
        values = scores[k, columns]
        is_true = np.zeros(len(columns), dtype=bool)
        is_true[truth.indices[start:end]] = True
        if hidden is not None:
            known = np.ones(len(columns), dtype=bool)
            known[row_of((hidden.indptr, hidden.indices), k)] = False
            values, is_true = values[known], is_true[known]
        order = np.argsort(-values, kind="stable")
        values, n_false = values[order], np.cumsum(~is_true[order])
        last = np.append(values[1:] != values[:-1], True)  # of equal scores
        share = (n_false / np.arange(1, len(values) + 1))[last]
        if monotone:
            share = np.maximum.accumulate(share)
        found.append(Events(values[last], np.diff(share, prepend=0.0)))
    return found


def pooled(events: Sequence[Events], weights: NDArray[np.float64]) -> Events:
    """Return the weighted events of all rows."""
    return Events(
        np.concatenate([row.at for row in events]),
        np.concatenate([weight * row.change for row, weight in zip(events, weights, strict=True)]),
    )
