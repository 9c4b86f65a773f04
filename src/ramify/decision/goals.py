"""Goals for the choice of thresholds: the gain of every threshold, and the score."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify._messages import shorten
from ramify._validation import check_choice, check_number
from ramify.decision.ordered import Order, Steps, best_thresholds, pool
from ramify.labels.graph import row_of
from ramify.labels.hierarchy import Hierarchy

GOALS = ("micro_f1", "macro_f1", "hierarchical_f1", "precision", "cost")
"""The names of the goals."""

_MAX_ITERATIONS = 50


@dataclass(frozen=True)
class Counts:
    """Counts of true positives and predicted rows for every label and threshold."""

    steps: list[Steps]  # the result of `count_steps`, one per label
    positives: NDArray[np.float64]  # weight of the rows that have the label
    n_rows: float  # weight of all rows

    def pooled(self, groups: Sequence[NDArray[np.int32]]) -> list[Steps]:
        """Return the counts of groups of labels that share a threshold."""
        return [pool([self.steps[label] for label in group]) for group in groups]

    def each(self, figures: list[NDArray[np.float64]]) -> list[Steps]:
        """Return one value per label and threshold as step functions."""
        return [
            Steps(steps.score, figure[:, None])
            for steps, figure in zip(self.steps, figures, strict=True)
        ]


class Goal(ABC):
    """A measure to optimise by choosing thresholds."""

    @abstractmethod
    def search(
        self,
        counts: Counts,
        groups: Sequence[NDArray[np.int32]],
        order: Order,
        start: NDArray[np.float64] | None,
    ) -> NDArray[np.float64]:
        """Return the best thresholds of the groups of labels."""

    @abstractmethod
    def score(self, counts: Counts, thresholds: NDArray[np.float64]) -> float:
        """Return the score of one threshold per label; larger is better."""


@dataclass(frozen=True)
class MicroF1(Goal):
    """F1 over all labels: 2 TP / (predicted + positive), a ratio of sums over the labels.

    Dinkelbach's method maximises a ratio by repeatedly maximising 2 TP - f (predicted + positive),
    a sum over the labels, where f is the best ratio so far. It converges in a few iterations.
    """

    def search(
        self,
        counts: Counts,
        groups: Sequence[NDArray[np.int32]],
        order: Order,
        start: NDArray[np.float64] | None,
    ) -> NDArray[np.float64]:
        """Return the best thresholds of the groups of labels."""
        pooled = counts.pooled(groups)
        positives = counts.positives.sum()
        reached = 0.0
        thresholds = np.full(len(groups), np.inf) if start is None else start
        if start is not None:
            reached = _f1_of(pooled, thresholds, positives)
        for _ in range(_MAX_ITERATIONS):
            gains = [
                Steps(steps.score, steps.value @ np.array([[2.0], [-reached]])) for steps in pooled
            ]
            found = best_thresholds(gains, order, thresholds)
            f1 = _f1_of(pooled, found, positives)
            if f1 <= reached:
                break
            reached, thresholds = f1, found
        return thresholds

    def score(self, counts: Counts, thresholds: NDArray[np.float64]) -> float:
        """Return the F1 over all labels."""
        return _f1_of(counts.steps, thresholds, counts.positives.sum())


def _f1_of(steps: list[Steps], thresholds: NDArray[np.float64], positives: float) -> float:
    shared, predicted = _sums(steps, thresholds)
    return 2 * shared / (predicted + positives) if predicted + positives > 0 else 0.0


def _sums(steps: list[Steps], thresholds: NDArray[np.float64]) -> tuple[float, float]:
    """Return the total weight of true positives and of predictions."""
    figures = np.array([own.at(t) for own, t in zip(steps, thresholds, strict=True)])
    return float(figures[:, 0].sum()), float(figures[:, 1].sum())


class SummedGoal(Goal):
    """A goal that is a sum over the labels."""

    @abstractmethod
    def figures(self, counts: Counts) -> list[NDArray[np.float64]]:
        """Return the term of every label at every threshold."""

    def search(
        self,
        counts: Counts,
        groups: Sequence[NDArray[np.int32]],
        order: Order,
        start: NDArray[np.float64] | None,
    ) -> NDArray[np.float64]:
        """Return the best thresholds of the groups of labels."""
        parts = counts.each(self.figures(counts))
        gains = [pool([parts[label] for label in group]) for group in groups]
        return self._settle(best_thresholds(gains, order, start), gains, order)

    def _settle(
        self, thresholds: NDArray[np.float64], gains: list[Steps], order: Order
    ) -> NDArray[np.float64]:
        """Choose among thresholds that are equally good."""
        return thresholds

    def _total(self, counts: Counts, thresholds: NDArray[np.float64]) -> float:
        parts = counts.each(self.figures(counts))
        return sum(float(own.at(t)[0]) for own, t in zip(parts, thresholds, strict=True))


@dataclass(frozen=True)
class MacroF1(SummedGoal):
    """Mean F1 of the labels; 0 for a label without true and predicted rows."""

    def figures(self, counts: Counts) -> list[NDArray[np.float64]]:
        """Return F1 by label and threshold."""
        found = []
        for steps, positives in zip(counts.steps, counts.positives, strict=True):
            sizes = steps.value[:, 1] + positives
            f1 = np.zeros(len(sizes))
            np.divide(2 * steps.value[:, 0], sizes, out=f1, where=sizes > 0)
            found.append(f1)
        return found

    def _settle(
        self, thresholds: NDArray[np.float64], gains: list[Steps], order: Order
    ) -> NDArray[np.float64]:
        """Set groups without true positives, whose F1 is 0, to the threshold of their parents."""
        for group, steps in enumerate(gains):
            if not steps.value.any() and len(row_of(order.parents, group)):
                thresholds[group] = order.floor(thresholds, group)
        return thresholds

    def score(self, counts: Counts, thresholds: NDArray[np.float64]) -> float:
        """Return the mean F1."""
        return self._total(counts, thresholds) / len(counts.steps)


@dataclass(frozen=True)
class Cost(SummedGoal):
    """Negative expected cost of a row due to false negatives and false positives."""

    missed: NDArray[np.float64]
    wrong: NDArray[np.float64]

    def figures(self, counts: Counts) -> list[NDArray[np.float64]]:
        """Return the cost saved compared with predicting nothing, by label and threshold."""
        return [
            steps.value @ np.array([missed + wrong, -wrong])
            for steps, missed, wrong in zip(counts.steps, self.missed, self.wrong, strict=True)
        ]

    def score(self, counts: Counts, thresholds: NDArray[np.float64]) -> float:
        """Return the negative mean cost of a row."""
        saved = self._total(counts, thresholds)
        return float(saved - self.missed @ counts.positives) / counts.n_rows


@dataclass(frozen=True)
class PrecisionAtLeast(Goal):
    """Recall subject to a minimum precision for each threshold."""

    min_precision: float

    def search(
        self,
        counts: Counts,
        groups: Sequence[NDArray[np.int32]],
        order: Order,
        start: NDArray[np.float64] | None,
    ) -> NDArray[np.float64]:
        """Return the best thresholds of the groups of labels."""
        # Lower than any sum of true positives; never chosen because infinity is always allowed.
        forbidden = -1.0 - counts.positives.sum()
        gains = []
        for steps in counts.pooled(groups):
            shared, predicted = steps.value.T
            precise = shared >= self.min_precision * predicted * (1 - 1e-12)
            gains.append(Steps(steps.score, np.where(precise, shared, forbidden)[:, None]))
        return best_thresholds(gains, order, start)

    def score(self, counts: Counts, thresholds: NDArray[np.float64]) -> float:
        """Return the recall over all labels."""
        positives = counts.positives.sum()
        return _sums(counts.steps, thresholds)[0] / positives if positives > 0 else 0.0


def make_goal(
    name: str,
    hierarchy: Hierarchy,
    *,
    min_precision: float,
    alpha: float,
    beta: float,
    costs: Any,
) -> Goal:
    """Build a goal from the parameters of `choose_thresholds`."""
    check_choice("goal", name, GOALS)
    if name == "precision":
        check_number("min_precision", min_precision, 0, 1)
        return PrecisionAtLeast(float(min_precision))
    if name == "cost":
        check_number("alpha", alpha, 0)
        check_number("beta", beta, 0)
        each = label_costs(costs, hierarchy)
        return Cost(alpha * each, beta * each)
    return MacroF1() if name == "macro_f1" else MicroF1()


def label_costs(costs: Any, hierarchy: Hierarchy) -> NDArray[np.float64]:
    """Return one non-negative cost per label: `Hierarchy.costs`, ones, or those given."""
    if isinstance(costs, str):
        check_choice("costs", costs, ("shared", "uniform"))
        shared = costs == "shared"
        return np.asarray(hierarchy.costs() if shared else np.ones(hierarchy.n_labels))
    values = np.asarray(costs, dtype=np.float64)
    if values.shape != (hierarchy.n_labels,) or not (np.isfinite(values) & (values >= 0)).all():
        raise ValueError(
            f"costs must be 'shared', 'uniform' or {hierarchy.n_labels} finite non-negative "
            f"numbers, one per label, got {shorten(values.ravel().tolist())}."
        )
    return values
