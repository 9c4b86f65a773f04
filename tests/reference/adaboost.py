"""AdaBoost.MH and H-Ada.MH in plain numpy: an executable specification of the C++ kernel.

The code is written for clarity, not speed. Tests compare it with the kernel round by round.

>>> X = np.array([[1.0], [2.0], [3.0], [4.0]])
>>> Y = np.array([[-1], [-1], [1], [1]])
>>> rounds = boost([Column(X[:, 0])], Y, Settings(n_rounds=3))
>>> [r.trees[0].tests[0].threshold for r in rounds], rounds[0].edge
([2.5], 1.0)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from tests.reference.trees import Column

__all__ = ["Round", "Settings", "Test", "Tree", "boost", "margins"]

TOLERANCE = 1e-9  # scores that differ by less than this share of the weight are ties
ROUNDING = 1e-10  # edges this close to 0 or 1 are 0 or 1


@dataclass(frozen=True)
class Settings:
    """The parameters of both methods; the defaults are those of AdaBoost.MH."""

    n_rounds: int = 10
    depth: int = 1
    shared: bool = False
    n_steps: int | None = None
    costs: Sequence[float] | None = None
    top_down: bool | str = False
    inherit_mistakes: bool = False
    relax: bool = False
    any_parent: bool = False  # one positive parent suffices for a positive vote
    parents: Sequence[Sequence[int]] = ()


@dataclass(frozen=True)
class Test:
    """A test: x > threshold, or a category in `right`, goes right; column -1 sends all left."""

    __test__ = False  # prevents pytest from collecting the class

    column: int = -1
    threshold: float = math.nan
    right: tuple[int, ...] | None = None
    default_right: bool = False

    def goes_right(self, columns: Sequence[Column]) -> np.ndarray:
        n = len(columns[0].values)
        if self.column < 0:
            return np.zeros(n, dtype=bool)
        values = columns[self.column].values
        side = values > self.threshold if self.right is None else np.isin(values, self.right)
        return np.where(np.isnan(values), self.default_right, side)


@dataclass
class Tree:
    """The tests, level by level, and the votes of the leaves for the labels of the tree."""

    tests: list[Test] = field(default_factory=list)
    signs: np.ndarray | None = None

    def leaf(self, columns: Sequence[Column], depth: int) -> np.ndarray:
        node = np.zeros(len(columns[0].values), dtype=int)
        for level in range(depth):
            sides = np.array(
                [self.tests[2**level - 1 + k].goes_right(columns) for k in range(2**level)]
            )
            node = 2 * node + sides[node, np.arange(len(node))]
        return node


@dataclass
class Round:
    """A weak hypothesis: its trees, its edge r, its weight, and the weights it was trained on.

    `top_down` says for each label whether its vote is negative where that for a parent is.
    """

    trees: list[Tree]
    edge: float
    alpha: float
    weights: np.ndarray
    top_down: np.ndarray


# ---- one test ------------------------------------------------------------------------------


def edge(right: np.ndarray, cells: np.ndarray) -> float:
    """Return |R| + |L|, summed over labels; each side votes for a label by the sign of its sum."""
    return float(np.abs(cells[right].sum(axis=0)).sum() + np.abs(cells[~right].sum(axis=0)).sum())


def thresholds_of(values: np.ndarray, n_steps: int | None) -> list[float]:
    """Return the candidate thresholds, largest first, one for each split of the values."""
    distinct = np.unique(values[~np.isnan(values)])[::-1]
    if distinct.size < 2:
        return []
    if n_steps is None:
        pairs = [(high, low, low + (high - low) / 2) for high, low in pairwise(distinct.tolist())]
        return [
            middle if math.isfinite(middle) and middle < high else low
            for high, low, middle in pairs
        ]
    step = distinct[0] / n_steps - distinct[-1] / n_steps
    found, seen = [], {0, len(distinct)}
    for j in reversed(range(n_steps)):
        threshold = distinct[-1] + j * step
        above = int((distinct > threshold).sum())
        if above not in seen:
            found.append(threshold)
            seen.add(above)
    return found


def candidates(column: Column, position: int, cells: np.ndarray, settings: Settings) -> list[Test]:
    """Return the tests of a column, without the side of missing values."""
    values = column.values
    if not column.is_nominal:
        return [Test(position, t) for t in thresholds_of(values, settings.n_steps)]
    if settings.shared:
        return [Test(position, right=(c,)) for c in range(column.n_values)]
    tolerance = TOLERANCE * np.abs(cells).sum()
    sums = [cells[values == c].sum() for c in range(column.n_values)]
    return [Test(position, right=tuple(c for c, s in enumerate(sums) if s > tolerance))]


def with_default(test: Test, columns: Sequence[Column], cells: np.ndarray) -> tuple[float, Test]:
    """Return the edge of a test, and the test with a side for missing values.

    Missing values go to the side where they add more to the edge, or, if there are none, to the
    heavier side. A category without rows is treated as a missing value.
    """
    column = columns[test.column]
    sides = [Test(test.column, test.threshold, test.right, side) for side in (False, True)]
    left, right = (edge(side.goes_right(columns), cells) for side in sides)
    if np.isnan(column.values).any():
        goes_right = right > left + TOLERANCE * np.abs(cells).sum()
    else:
        weights = np.abs(cells).sum(axis=1)
        balance = (
            weights[test.goes_right(columns)].sum() - weights[~test.goes_right(columns)].sum()
        )
        goes_right = balance > TOLERANCE * weights.sum()
    chosen = sides[int(goes_right)]
    if column.is_nominal and goes_right:
        empty = [c for c in range(column.n_values) if not (column.values == c).any()]
        chosen = Test(test.column, math.nan, tuple(sorted({*test.right, *empty})), True)
    elif column.is_nominal:
        chosen = Test(
            test.column, math.nan, tuple(c for c in test.right if (column.values == c).any())
        )
    return max(left, right), chosen


def best_test(columns: Sequence[Column], cells: np.ndarray, settings: Settings) -> Test:
    """Return the test with the largest edge, the first of ties, or no test if none helps."""
    tolerance = TOLERANCE * np.abs(cells).sum()
    best, limit = Test(), np.abs(cells.sum(axis=0)).sum() + tolerance
    for position, column in enumerate(columns):
        own, own_limit, own_edge = None, -1.0, -1.0
        for test in candidates(column, position, cells, settings):
            found, complete = with_default(test, columns, cells)
            if found > own_limit:
                own, own_edge, own_limit = complete, found, found + tolerance
        if own is not None and own_edge > limit:
            best, limit = own, own_edge + tolerance
    return best


# ---- a round -------------------------------------------------------------------------------


def learn_tree(columns: Sequence[Column], cells: np.ndarray, settings: Settings) -> Tree:
    """Split one node after the other; rows of other nodes have weight 0."""
    tree = Tree()
    node = np.zeros(len(cells), dtype=int)
    for level in range(settings.depth):
        following = node.copy()
        for k in range(2**level):
            inside = node == k
            test = best_test(columns, np.where(inside[:, None], cells, 0.0), settings)
            tree.tests.append(test)
            following[inside] = 2 * k + test.goes_right(columns)[inside]
        node = following
    sums = np.array([cells[node == leaf].sum(axis=0) for leaf in range(2**settings.depth)])
    tree.signs = np.where(sums > TOLERANCE * np.abs(cells).sum(axis=0), 1, -1)
    return tree


def votes_of(
    trees: list[Tree],
    columns: Sequence[Column],
    settings: Settings,
    top_down: np.ndarray | None = None,
) -> np.ndarray:
    """Return the votes of a round for all rows and labels."""
    votes = np.hstack([tree.signs[tree.leaf(columns, settings.depth)] for tree in trees])
    if top_down is None:
        return votes
    return below(votes, settings.parents, top_down, any_parent=settings.any_parent)


def below(
    marks: np.ndarray,
    parents: Sequence[Sequence[int]],
    labels: np.ndarray | None = None,
    *,
    any_parent: bool = False,
) -> np.ndarray:
    """Set marks (+1 or -1) of some labels to -1 wherever a parent has -1; parents come first.

    With `any_parent`, only where all parents have -1.
    """
    marks = marks.copy()
    for label, above in enumerate(parents):
        if above and (labels is None or labels[label]):
            negative = marks[:, above] < 0
            marks[negative.all(axis=1) if any_parent else negative.any(axis=1), label] = -1
    return marks


def learn_trees(
    columns: Sequence[Column], cells: np.ndarray, settings: Settings
) -> tuple[list[Tree], np.ndarray]:
    """Return one tree per label, or one for all labels, and which labels follow their parents."""
    top_down = np.zeros(cells.shape[1], dtype=bool)
    if settings.shared:
        trees = [learn_tree(columns, cells, settings)]
    else:
        trees = [learn_tree(columns, column[:, None], settings) for column in cells.T]
    if settings.top_down == "best":
        for label, above in enumerate(settings.parents):
            if above:
                improve_below_parents(trees, top_down, label, columns, cells, settings)
    return trees, top_down


def improve_below_parents(  # noqa: PLR0917
    trees: list[Tree],
    top_down: np.ndarray,
    label: int,
    columns: Sequence[Column],
    cells: np.ndarray,
    settings: Settings,
) -> None:
    """Replace the tree of a label by one for the rows where all parents vote +1, if it is better.

    That tree is learnt with weight 0 for all other rows, for which the vote is -1. If all labels
    share a tree, only its votes for the label are replaced.
    """
    votes = votes_of(trees, columns, settings, top_down)
    positive = votes[:, settings.parents[label]] > 0
    allowed = positive.any(axis=1) if settings.any_parent else positive.all(axis=1)
    inside = np.where(allowed, cells[:, label], 0.0)[:, None]
    if settings.shared:
        leaf = trees[0].leaf(columns, settings.depth)
        sums = np.array([inside[leaf == k].sum() for k in range(2**settings.depth)])
        signs = np.where(sums > TOLERANCE * np.abs(inside).sum(), 1, -1)
        other = signs[leaf]
    else:
        tree = learn_tree(columns, inside, settings)
        other = tree.signs[tree.leaf(columns, settings.depth), 0]
    other = np.where(allowed, other, -1)
    gained = cells[:, label] @ (other - votes[:, label])
    if gained > TOLERANCE * np.abs(cells[:, label]).sum():
        top_down[label] = True
        if settings.shared:
            trees[0].signs[:, label] = signs
        else:
            trees[label] = tree


def mark_correct(
    votes: np.ndarray, Y: np.ndarray, weights: np.ndarray, settings: Settings, *, corrected: bool
) -> tuple[np.ndarray, float]:
    """Return whether votes are correct (+1) or wrong (-1), and the edge r."""
    if corrected and settings.top_down is True:
        votes = below(votes, settings.parents, any_parent=settings.any_parent)
    correct = np.where(votes == Y, 1, -1)
    if corrected and settings.inherit_mistakes:
        correct = below(correct, settings.parents)
    return correct, float((weights * correct).sum() / weights.sum())


def boost(
    columns: Sequence[Column],
    Y: np.ndarray,
    settings: Settings,
    sample_weight: np.ndarray | None = None,
    *,
    known: np.ndarray | None = None,
) -> list[Round]:
    """Return the rounds of AdaBoost.MH with the given settings; Y contains +1 and -1.

    `known`: mask of the entries of Y that are known; all by default.
    """
    n, n_labels = Y.shape
    rows = np.ones(n) if sample_weight is None else sample_weight
    costs = np.ones(n_labels) if settings.costs is None else np.asarray(settings.costs)
    weights = np.outer(rows / rows.sum(), costs / costs.sum())
    if known is not None:
        weights = np.where(known, weights, 0.0) / weights[known].sum()
    rounds: list[Round] = []
    while len(rounds) < settings.n_rounds:
        trees, top_down = learn_trees(columns, weights * Y, settings)
        votes = votes_of(trees, columns, settings, top_down)
        corrected = True
        correct, r = mark_correct(votes, Y, weights, settings, corrected=True)
        if r <= ROUNDING and settings.relax:
            corrected = False
            correct, r = mark_correct(votes, Y, weights, settings, corrected=False)
        if r <= ROUNDING:
            break
        capped = min(r, 1 - ROUNDING)
        alpha = 0.5 * math.log((1 + capped) / (1 - capped))
        if settings.top_down is True:
            top_down[:] = corrected
        rounds.append(Round(trees, r, alpha, weights, top_down))
        if r >= 1 - ROUNDING:
            break
        weights = weights * np.exp(-alpha * correct)
        weights = weights / weights.sum()
    return rounds


def margins(rounds: list[Round], columns: Sequence[Column], settings: Settings) -> np.ndarray:
    """Return the sum of the weighted votes after each round."""
    total, stages = 0.0, []
    for one in rounds:
        total = total + one.alpha * votes_of(one.trees, columns, settings, one.top_down)
        stages.append(total)
    return np.array(stages)
