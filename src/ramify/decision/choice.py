"""Choosing thresholds that reach a goal on labelled rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ramify._validation import check_choice, check_sample_weight
from ramify.decision.goals import Counts, Goal, make_goal
from ramify.decision.ordered import Order, widen_margins
from ramify.decision.scores import check_coherent, check_scores
from ramify.decision.steps import count_steps
from ramify.hierarchy.hierarchy import Hierarchy
from ramify.labels.encoding import read_labels

__all__ = ["SHARING", "ThresholdChoice", "choose_thresholds", "search_thresholds"]

SHARING = ("all", "level", "label")
"""What may have a threshold of its own."""

Groups = list[NDArray[np.int32]]


@dataclass(frozen=True)
class ThresholdChoice:
    """Thresholds and what they reach on the rows they were chosen on.

    Attributes
    ----------
    thresholds : ndarray of shape (n_labels,)
        One per label.
    score : float
        Larger is better; the goal's docstring says of what.
    """

    thresholds: NDArray[np.float64]
    score: float


def choose_thresholds(
    y_true: Any,
    scores: Any,
    hierarchy: Hierarchy,
    *,
    goal: str = "micro_f1",
    per: str = "all",
    min_precision: float = 0.9,
    alpha: float = 1.0,
    beta: float = 1.0,
    costs: Any = "shared",
    sample_weight: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """Choose the thresholds that reach a goal best on labelled rows.

    No label gets a smaller threshold than its parents, so that coherent scores give label sets
    that obey the hierarchy. Take rows that the scores were not learnt on.

    Parameters
    ----------
    y_true : label matrix or labels in any format
        True labels, one row per example; ancestors are added.
    scores : array-like of shape (n, n_labels)
        Coherent scores, as `predict_proba` gives them. `make_coherent` repairs others.
    hierarchy : Hierarchy
        The labels.
    goal : {"micro_f1", "macro_f1", "hierarchical_f1", "precision", "cost"}
        What to reach: the largest F1 of all cells (example, label); the largest mean of the
        labels' F1; the largest F1 of sets with all ancestors, which for the closed sets here is
        the first again; the largest recall with a precision of `min_precision` or more; or the
        smallest expected cost, `ramify.metrics.hmc_loss`.
    per : {"all", "level", "label"}
        What has a threshold of its own.
    min_precision : float
        For the goal "precision": the least precision of the cells that share a threshold. Where
        none reaches it, the threshold is infinity.
    alpha, beta : float
        For the goal "cost": what a missed and what a wrongly predicted label weigh.
    costs : {"shared", "uniform"} or array-like of shape (n_labels,)
        For the goal "cost": what labels weigh, as in `ramify.metrics.hmc_loss`.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.

    Returns
    -------
    ndarray of shape (n_labels,)
        Thresholds for `apply_threshold` or a classifier's ``predict``. They lie halfway between
        two scores, and above 0 if no score is negative; infinity keeps a label that is best left
        alone from ever being predicted.

    Notes
    -----
    The choice is the best one under the order of the thresholds, found by dynamic programming
    over all scores, wherever labels share a threshold or form a tree. For a threshold per label
    in a DAG that problem is too large: a good choice is improved until no single threshold can
    be moved with a gain; it is at least as good as with one threshold per level.

    Of equally good thresholds the largest is taken. Only "macro_f1" gives labels whose F1 is 0 at
    every threshold that of their parents, in place of infinity.

    Examples
    --------
    >>> from ramify import Hierarchy
    >>> from ramify.decision import choose_thresholds
    >>> hierarchy = Hierarchy.from_paths(["animal/cat", "plant"])
    >>> y_true = [["animal/cat"], ["animal"], ["plant"], ["animal/cat"]]
    >>> scores = [[0.9, 0.4, 0.3], [0.8, 0.2, 0.4], [0.5, 0.1, 0.6], [0.9, 0.6, 0.4]]
    >>> choose_thresholds(y_true, scores, hierarchy, goal="macro_f1", per="label")
    array([0.2, 0.3, 0.5])
    """
    Y = read_labels(y_true, hierarchy).Y
    wanted = make_goal(
        goal, hierarchy, min_precision=min_precision, alpha=alpha, beta=beta, costs=costs
    )
    return search_thresholds(
        Y, scores, hierarchy, goal=wanted, per=per, sample_weight=sample_weight
    ).thresholds


def search_thresholds(
    Y: Any,
    scores: Any,
    hierarchy: Hierarchy,
    *,
    goal: Goal,
    per: str,
    sample_weight: Any = None,
) -> ThresholdChoice:
    """Choose thresholds on a label matrix that is closed upwards; see `choose_thresholds`."""
    check_choice("per", per, SHARING)
    values = check_scores(scores, hierarchy)
    if len(values) != Y.shape[0] or not len(values):
        raise ValueError(
            f"y_true has {Y.shape[0]} rows and scores has {len(values)}. Give both for the same "
            "examples, one at least."
        )
    check_coherent(values, hierarchy)
    weight = check_sample_weight(sample_weight, len(values))
    steps = count_steps(Y, values, weight)
    counts = Counts(steps, np.asarray(Y.T @ weight, dtype=np.float64), float(weight.sum()))
    groups, order = _groups(per, hierarchy)
    start = None
    if not order.is_forest:
        levels, chain = _groups("level", hierarchy)
        start = _spread(levels, goal.search(counts, levels, chain, None))
    chosen = goal.search(counts, groups, order, start)
    lowest = min(0.0, float(values.min()))
    thresholds = _spread(groups, widen_margins(chosen, counts.pooled(groups), order, lowest))
    return ThresholdChoice(thresholds, goal.score(counts, thresholds))


def _groups(per: str, hierarchy: Hierarchy) -> tuple[Groups, Order]:
    """Return the labels that share a threshold, and the order of the thresholds."""
    if per == "label":
        groups = [np.array([label], dtype=np.int32) for label in range(hierarchy.n_labels)]
        return groups, Order(hierarchy.parent_rows, hierarchy.child_rows)
    if per == "level":
        # A label's level is its longest path, so parents are always on a higher one.
        groups = [hierarchy.indices(level) for level in hierarchy.levels]
    else:
        groups = [np.arange(hierarchy.n_labels, dtype=np.int32)]
    return groups, Order.chain(len(groups))


def _spread(groups: Groups, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the value of every label's group."""
    spread = np.empty(sum(len(group) for group in groups))
    for group, value in zip(groups, values, strict=True):
        spread[group] = value
    return spread
