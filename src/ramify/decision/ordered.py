"""The best thresholds under the order that the hierarchy demands: no label below its parents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ramify.decision.steps import Steps, pool
from ramify.hierarchy.building import Rows
from ramify.hierarchy.graph import row_of

__all__ = ["Order", "best_thresholds", "widen_margins"]

_SWEEPS = 20


@dataclass(frozen=True)
class Order:
    """Which thresholds must not be above which.

    Attributes
    ----------
    parents : (indptr, indices)
        For every threshold those that must not be above it, all of a smaller number.
    children : (indptr, indices)
        The same, turned round.
    """

    parents: Rows
    children: Rows

    @classmethod
    def chain(cls, n_groups: int) -> Order:
        """Order groups one after the other, the first at the top."""
        above = np.maximum(np.arange(-1, n_groups, dtype=np.int64), 0)
        below = np.minimum(np.arange(n_groups + 1, dtype=np.int64), n_groups - 1)
        groups = np.arange(n_groups, dtype=np.int32)
        return cls((above, groups[:-1]), (below, groups[1:]))

    @property
    def n_groups(self) -> int:
        """The number of thresholds."""
        return len(self.parents[0]) - 1

    @property
    def is_forest(self) -> bool:
        """Whether every threshold has one parent at most."""
        return bool((np.diff(self.parents[0]) <= 1).all())

    def floor(self, thresholds: NDArray[np.float64], group: int) -> float:
        """Return the largest threshold of the parents."""
        return float(max((thresholds[p] for p in row_of(self.parents, group)), default=-np.inf))

    def ceiling(self, thresholds: NDArray[np.float64], group: int) -> float:
        """Return the smallest threshold of the children."""
        return float(min((thresholds[c] for c in row_of(self.children, group)), default=np.inf))


def best_thresholds(
    gains: list[Steps], order: Order, start: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Maximise a sum of step functions, one per threshold, with no threshold below its parents'.

    Bottom-up every group learns the best sum of itself and all below it for every lower bound on
    its threshold; top-down the thresholds follow. That is exact where every group has one parent
    at most. In a DAG a group shares its sum equally among its parents, which makes the bounds a
    guess: the thresholds found, and `start` too, are then improved one by one, each between its
    parents' and its children's, until nothing gains, and the better ones are returned.

    Parameters
    ----------
    gains : list of Steps
        One figure each: what a group gains at every threshold.
    order : Order
        The parents of every group.
    start : ndarray, optional
        Thresholds in this order, to be improved upon in a DAG.

    Returns
    -------
    ndarray of shape (n_groups,)
        Scores, or infinity. Of equally good thresholds the largest.

    Examples
    --------
    >>> from ramify import Hierarchy
    >>> hierarchy = Hierarchy.from_paths(["a/b"])
    >>> a = Steps(np.array([np.inf, 0.9, 0.8]), np.array([[0.0], [2.0], [1.0]]))
    >>> b = Steps(np.array([np.inf, 0.7, 0.6]), np.array([[0.0], [0.0], [3.0]]))
    >>> best_thresholds([a, b], Order(hierarchy.parent_rows, hierarchy.child_rows))
    array([0.6, 0.6])
    """
    found = _top_down(_bottom_up(gains, order), order)
    if order.is_forest:
        return found
    candidates = [found] if start is None else [found, start.copy()]
    polished = [_polish(candidate, gains, order) for candidate in candidates]
    totals = [_total(candidate, gains) for candidate in polished]
    return polished[int(np.argmax(totals))]


def _bottom_up(gains: list[Steps], order: Order) -> list[Steps]:
    """Return for each group the best sum of it and all below, by a lower bound on its threshold.

    A step stands at the threshold that reaches the sum.
    """
    n_parents = np.diff(order.parents[0])
    records: list[Steps] = [gains[0]] * order.n_groups
    for group in reversed(range(order.n_groups)):
        parts = [gains[group]]
        for child in row_of(order.children, group):
            below = records[child]
            parts.append(Steps(below.score, below.value / n_parents[child]))
        records[group] = _records(pool(parts))
    return records


def _records(steps: Steps) -> Steps:
    """Keep the steps that exceed all before them, that is, at larger thresholds."""
    totals = steps.value[:, 0]
    # Sums of the same gains in another order must not count as a record.
    grain = 1e-12 * max(1.0, float(np.abs(totals).max()))
    rounded = np.round(totals / grain)
    before = np.concatenate([[-np.inf], np.maximum.accumulate(rounded)[:-1]])
    is_record = rounded > before
    return Steps(steps.score[is_record], steps.value[is_record])


def _top_down(records: list[Steps], order: Order) -> NDArray[np.float64]:
    thresholds = np.empty(order.n_groups)
    for group, record in enumerate(records):
        thresholds[group] = record.score[record.place(order.floor(thresholds, group))]
    return thresholds


def _polish(
    thresholds: NDArray[np.float64], gains: list[Steps], order: Order
) -> NDArray[np.float64]:
    """Improve one threshold after the other between those of its parents and its children."""
    for _ in range(_SWEEPS):
        improved = False
        for group, steps in enumerate(gains):
            ceiling = order.ceiling(thresholds, group)
            first = steps.place(ceiling)
            last = steps.place(order.floor(thresholds, group))
            best = first + int(np.argmax(steps.value[first : last + 1, 0]))
            gain = steps.value[best, 0] - steps.at(thresholds[group])[0]
            if gain > 1e-12:
                thresholds[group] = min(steps.score[best], ceiling)
                improved = True
        if not improved:
            break
    return thresholds


def _total(thresholds: NDArray[np.float64], gains: list[Steps]) -> float:
    return sum(float(steps.at(t)[0]) for steps, t in zip(gains, thresholds, strict=True))


def widen_margins(
    thresholds: NDArray[np.float64], steps: list[Steps], order: Order, lowest: float
) -> NDArray[np.float64]:
    """Move thresholds away from the scores, without a change of what they predict.

    A threshold may lie anywhere between the largest score that it leaves out and the smallest
    that it takes. The smallest of these upper ends among a group and all below it, and the
    largest of the lower ends among it and all above it, obey the order, and so do their middles.

    Parameters
    ----------
    thresholds : ndarray of shape (n_groups,)
        Thresholds in the order.
    steps : list of Steps
        With the scores of every group.
    order : Order
        The parents of every group.
    lowest : float
        The lower end where no score is left out; not above any score.

    Returns
    -------
    ndarray of shape (n_groups,)
        Middles; infinity where nothing is predicted.
    """
    upper, lower = np.empty(order.n_groups), np.empty(order.n_groups)
    for group, (own, threshold) in enumerate(zip(steps, thresholds, strict=True)):
        place = own.place(threshold)
        upper[group] = own.score[place] if place else threshold
        lower[group] = own.score[place + 1] if place + 1 < len(own.score) else lowest
    for group in range(order.n_groups):
        lower[group] = max(lower[group], order.floor(lower, group))
    for group in reversed(range(order.n_groups)):
        upper[group] = min(upper[group], order.ceiling(upper, group))
    middle = lower + (upper - lower) / 2
    return np.where(middle > lower, middle, upper)
