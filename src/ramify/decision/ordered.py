"""Counts of true positives and predictions as step functions of the threshold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify.labels.building import Rows
from ramify.labels.graph import row_of
from ramify.labels.unknown import UnknownLabels


@dataclass(frozen=True)
class Steps:
    """Step functions of a threshold, which change only at the scores."""

    # Distinct scores in decreasing order; the first is infinity, where nothing is predicted.
    score: NDArray[np.float64]
    # M values for thresholds from the score down to the next one, exclusive.
    value: NDArray[np.float64]

    def place(self, threshold: float) -> int:
        """Return the row of `value` for a threshold."""
        return int(np.searchsorted(-self.score, -threshold, side="right")) - 1

    def at(self, threshold: float) -> NDArray[np.float64]:
        """Return the values at a threshold."""
        return np.asarray(self.value[self.place(threshold)])


def count_steps(
    truth: sparse.csr_array[np.int32],
    scores: NDArray[np.float64],
    weight: NDArray[np.float64],
    unknown: UnknownLabels | None = None,
) -> list[Steps]:
    """Count true positives and predicted rows for every label and threshold.

    The threshold 0 is left out if no score is negative: it would predict every label. Rows that
    do not know a label do not count for it.
    """
    columns = sparse.csc_array(truth)
    only_positive = scores.min(initial=0.0) >= 0
    found = []
    for label in range(scores.shape[1]):
        rows = columns.indices[columns.indptr[label] : columns.indptr[label + 1]]
        gain = np.zeros((len(scores), 2))
        gain[:, 1] = weight
        gain[rows, 0] = weight[rows]
        column = scores[:, label]
        counted = column > 0 if only_positive else np.full(len(column), True)
        if unknown is not None:
            counted &= ~unknown.rows_of(label)
        found.append(_accumulate(column[counted], gain[counted], np.zeros(2)))
    return found


def pool(parts: Sequence[Steps]) -> Steps:
    """Add the step functions of labels that share one threshold.

    >>> first = Steps(np.array([np.inf, 0.7]), np.array([[0.0], [2.0]]))
    >>> second = Steps(np.array([np.inf, 0.9, 0.7]), np.array([[1.0], [5.0], [3.0]]))
    >>> pooled = pool([first, second])
    >>> pooled.score, pooled.value.ravel()
    (array([inf, 0.9, 0.7]), array([1., 5., 5.]))
    """
    if len(parts) == 1:
        return parts[0]
    scores = np.concatenate([part.score[1:] for part in parts])
    gains = np.concatenate([np.diff(part.value, axis=0) for part in parts])
    start = np.sum([part.value[0] for part in parts], axis=0)
    return _accumulate(scores, gains, start)


def _accumulate(
    scores: NDArray[np.float64], gains: NDArray[np.float64], start: NDArray[np.float64]
) -> Steps:
    """Add gains in order of decreasing scores, with one step for equal scores."""
    order = np.argsort(-scores, kind="stable")
    falling = scores[order]
    totals = start + np.cumsum(gains[order], axis=0)
    last = np.append(falling[1:] != falling[:-1], True)[: len(falling)]
    score = np.concatenate([[np.inf], falling[last]])
    return Steps(score, np.concatenate([start[None], totals[last]]))


# ---- no threshold below those of the parents ------------------------------------------------


_MAX_SWEEPS = 20


@dataclass(frozen=True)
class Order:
    """The partial order of thresholds."""

    # For every threshold, the positions of those that must not exceed it, which come before it.
    parents: Rows
    children: Rows  # the reverse relation

    @classmethod
    def chain(cls, n_groups: int) -> Order:
        """Return a linear order of groups, the first at the top."""
        above = np.maximum(np.arange(-1, n_groups, dtype=np.int64), 0)
        below = np.minimum(np.arange(n_groups + 1, dtype=np.int64), n_groups - 1)
        groups = np.arange(n_groups, dtype=np.int32)
        return cls((above, groups[:-1]), (below, groups[1:]))

    @property
    def n_groups(self) -> int:
        """Number of thresholds."""
        return len(self.parents[0]) - 1

    @property
    def is_forest(self) -> bool:
        """Whether every threshold has at most one parent."""
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
    """Maximise a sum of step functions, one per threshold; no threshold is below its parents'.

    Exact if every group has at most one parent: sums go from the bottom up, thresholds from the
    top down. In a DAG, the sum of a group is divided among its parents, a heuristic; the result
    and `start` are then improved one threshold at a time, and the better one counts.

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
    """Return the best sum over each group and those below by lower bound on its threshold."""
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
    """Keep the steps that exceed all steps at larger thresholds."""
    totals = steps.value[:, 0]
    # Rounded, to make sums of the same gains in a different order equal.
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
    """Improve one threshold at a time, between those of its parents and its children."""
    for _ in range(_MAX_SWEEPS):
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
    """Move thresholds halfway between two scores without changing the predictions.

    The largest score below a threshold, or of those of its ancestors, and the smallest that
    reaches it, or of those of its descendants, obey the order, and so does their middle.
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
