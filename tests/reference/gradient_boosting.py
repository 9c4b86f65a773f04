"""Gradient boosting of trees with a vector in each leaf, in plain numpy.

An executable specification of core/gradient_boosting, one function per stage. The code is written
for clarity, not speed: splits are found by trying all of them, without histograms.

>>> X = np.array([[1.0], [2.0], [3.0], [4.0]])
>>> Y = np.array([[0.0], [0.0], [1.0], [1.0]])
>>> settings = Settings(min_samples_leaf=1, max_depth=1, learning_rate=1.0)
>>> tree, margins = one_round([Column(X[:, 0])], np.zeros((4, 1)), Y, np.ones(4), settings)
>>> tree.test.threshold, margins.ravel().round(3).tolist()
(2.5, [-0.667, -0.667, 0.667, 0.667])
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from tests.reference.trees import Column

__all__ = [
    "Settings",
    "Test",
    "best_gain",
    "category_bins",
    "gain_of",
    "gradients",
    "leaf_value",
    "loss",
    "one_round",
    "predict",
    "probabilities",
    "reached",
    "read_test",
    "sketch",
    "thresholds_of",
]

LARGEST_MARGIN = 40.0  # of logistic loss; margins beyond it count as this
SMALLEST_SHARE = -80.0  # of softmax: the logarithm of a share of the largest one
SMALLEST_CURVATURE = 1e-12
SMALLEST_SIDE = 1e-6  # a side of a split counts as at least this share of the node's weight


@dataclass(frozen=True)
class Settings:
    """The parameters of boosting that the reference knows."""

    loss: str = "logistic"
    learning_rate: float = 0.1
    max_depth: int = 6
    min_samples_leaf: int = 5
    l2_regularization: float = 1.0
    max_bins: int = 255


# ---- bins ----------------------------------------------------------------------------------


def thresholds_of(
    values: np.ndarray, max_bins: int, weights: np.ndarray | None = None
) -> list[float]:
    """Return the thresholds between the bins of a numeric column, largest first.

    Each value has its own bin if there are few of them. Otherwise bins hold about equal weights
    of rows: a bin ends when it has its part of the weight left, or when the next value alone has.
    """
    weights = times_of(weights, len(values))
    seen = ~np.isnan(values) & (weights > 0)
    distinct, place = np.unique(values[seen], return_inverse=True)
    counts = np.bincount(place, weights[seen], minlength=len(distinct))
    distinct, counts = distinct[::-1].tolist(), counts[::-1].tolist()
    ends = list(range(len(distinct) - 1))
    if len(distinct) > max_bins:
        ends, left, inside = [], sum(counts), 0
        for i, (count, following) in enumerate(pairwise(counts)):
            inside += count
            bins_left = max_bins - len(ends)
            if bins_left == 1:
                break
            full = inside * bins_left >= left
            next_full = following * (bins_left - 1) >= left - inside and following > inside
            if full or next_full:
                ends.append(i)
                left, inside = left - inside, 0
    return [between(distinct[i], distinct[i + 1]) for i in ends]


def between(upper: float, lower: float) -> float:
    """Return the middle of two values, or the lower one if there is no number between them."""
    with np.errstate(over="ignore"):
        middle = float(lower + (np.float64(upper) - lower) / 2)
    return middle if math.isfinite(middle) and middle < upper else lower


def times_of(weights: np.ndarray | None, n_rows: int) -> np.ndarray:
    """Return how often rows count in bins; once if all have the same weight."""
    if weights is None or n_rows == 0 or (weights == weights[0]).all():
        return np.ones(n_rows)
    return weights.astype(np.float32).astype(np.float64)  # as in the core


def category_bins(
    codes: np.ndarray, n_categories: int, max_bins: int, weights: np.ndarray | None = None
) -> np.ndarray:
    """Return the bin of each category: rare ones share the last bin; -1 if it has no row."""
    seen = ~np.isnan(codes)
    times = times_of(weights, len(codes))[seen]
    counts = np.bincount(codes[seen].astype(int), times, minlength=n_categories)
    order = sorted(range(n_categories), key=lambda c: (-counts[c], c))
    bins = np.full(n_categories, -1)
    for place, c in enumerate(order):
        if counts[c] > 0:
            bins[c] = min(place, max_bins - 1)
    return bins


# ---- probabilities, gradients, loss --------------------------------------------------------


def probabilities(kind: str, margins: np.ndarray) -> np.ndarray:
    """Return the probability of each output."""
    margins = margins.astype(np.float64)
    if kind == "logistic":
        return 1 / (1 + np.exp(-np.clip(margins, -LARGEST_MARGIN, LARGEST_MARGIN)))
    shares = np.exp(np.maximum(margins - margins.max(axis=1, keepdims=True), SMALLEST_SHARE))
    return shares / shares.sum(axis=1, keepdims=True)


def gradients(
    kind: str, margins: np.ndarray, Y: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the first and second derivative of the loss with respect to each margin."""
    p = probabilities(kind, margins)
    w = weights[:, None]
    return w * (p - Y), w * p * (1 - p)


def loss(kind: str, margins: np.ndarray, Y: np.ndarray, weights: np.ndarray) -> float:
    """Return the weighted mean of the rows' losses, summed over outputs; 0 without weight."""
    margins = margins.astype(np.float64)
    if kind == "logistic":
        m = np.clip(margins, -LARGEST_MARGIN, LARGEST_MARGIN)
        rows = (np.logaddexp(0, m) - Y * m).sum(axis=1)
    else:
        rows = (Y * (np.logaddexp.reduce(margins, axis=1, keepdims=True) - margins)).sum(axis=1)
    return float(rows @ weights / weights.sum()) if weights.sum() > 0 else 0.0


# ---- sketch --------------------------------------------------------------------------------


def sketch(
    G: np.ndarray, factors: np.ndarray, shifts: np.ndarray, n_single: int, n_shared: int
) -> np.ndarray:
    """Return a summary of each row of G: n_single + n_shared numbers.

    The first n_single outputs keep their own dimension. The others are divided into blocks of
    n_shared; block b is rotated by shifts[b], and blocks are added up. `factors` has a factor for
    each output, with a random sign if it is not among the first.
    """
    summary = np.zeros((len(G), n_single + n_shared))
    for j, column in enumerate((G * factors).T):
        block, place = divmod(j - n_single, n_shared) if j >= n_single else (0, 0)
        target = j if j < n_single else n_single + (shifts[block] + place) % n_shared
        summary[:, target] += column
    return summary


# ---- tests and their gains -----------------------------------------------------------------


@dataclass(frozen=True)
class Test:
    """The test of a node: x > threshold, or the category of x in `codes`, takes "yes"."""

    __test__ = False  # prevents pytest from collecting the class

    column: int
    threshold: float = math.nan
    codes: tuple[int, ...] | None = None  # nominal
    n_codes: int = 0
    missing_yes: bool = False

    def takes_yes(self, x: np.ndarray) -> np.ndarray:
        if self.codes is None:
            known, yes = ~np.isnan(x), x > self.threshold
        else:
            known, yes = (x >= 0) & (x < self.n_codes), np.isin(np.floor(x), self.codes)
        return np.where(known, yes, self.missing_yes)


def gain_of(
    sides: np.ndarray, sums: np.ndarray, weights: np.ndarray, l2: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the gain of each division of the rows, and the sum of the inverse denominators.

    A side with sum of gradients S and weight w scores |S|² / (w + 4 l2); the gain is the score of
    both sides less that of the node. Rounding errors of S change it in proportion to the second
    result.
    """
    total = weights.sum()
    gains, inverses = -score(sums.sum(axis=0), total, l2), score(1.0, total, l2)
    for side in (sides, ~sides):
        weight = np.maximum(side @ weights, SMALLEST_SIDE * total)
        gains = gains + score(side @ sums, weight, l2)
        inverses = inverses + score(1.0, weight, l2)
    return gains, inverses


def score(sums: Any, weight: Any, l2: float) -> Any:
    squares = np.square(sums).sum(axis=-1) if np.ndim(sums) else sums**2
    return squares / np.maximum(weight + 4 * l2, 1e-300)


def column_sides(
    x: np.ndarray,
    column: Column,
    rows: np.ndarray,
    weights: np.ndarray,
    *,
    max_bins: int,
    max_categories: int,
) -> np.ndarray:
    """Return every division of x that a test can make; `column`, `rows` and `weights` define bins.

    Nominal columns with more than `max_categories` bins in x are left out.
    """
    known = ~np.isnan(x)
    if column.is_nominal:
        bins = category_bins(column.values[rows], column.n_values, max_bins, weights[rows])
        at = np.where(known, bins[np.where(known, x, 0).astype(int)], -1)
        known = at >= 0
        occurring = sorted(set(at[known].tolist()))
        if len(occurring) > max_categories:
            return np.zeros((0, len(x)), dtype=bool)
        subsets = [s for k in range(len(occurring)) for s in combinations(occurring, k + 1)]
        sides = [np.isin(at, s) for s in subsets]
    else:
        thresholds = thresholds_of(column.values[rows], max_bins, weights[rows])
        sides = [x > t for t in thresholds] + [known]
    both = [side & known for side in sides] + [side | ~known for side in sides]
    return np.array(both).reshape(len(both), len(x))


def best_gain(
    columns: Sequence[Column],
    rows: np.ndarray,
    node: np.ndarray,
    sums: np.ndarray,
    weights: np.ndarray,
    *,
    settings: Settings,
    max_categories: int = 6,
) -> tuple[float, float]:
    """Return the largest gain of a test in a node, and the inverse denominators of that test.

    `rows` define the bins, `node` lists the rows of the node. The gain of a test that is not
    allowed, or no better than none, is 0.
    """
    best = (0.0, 0.0)
    for column in columns:
        x = column.values[node]
        sides = column_sides(
            x, column, rows, weights, max_bins=settings.max_bins, max_categories=max_categories
        )
        yes = sides.sum(axis=1)
        smaller = np.minimum(yes, len(node) - yes)
        sides = sides[smaller >= max(1, settings.min_samples_leaf)]
        if len(sides):
            l2 = settings.l2_regularization
            gains, inverses = gain_of(sides, sums[node], weights[node], l2)
            k = int(np.argmax(gains))
            best = max(best, (float(gains[k]), float(inverses[k])))
    return best


# ---- a round -------------------------------------------------------------------------------


@dataclass
class Node:
    """A node: a leaf with a value, or a test and two branches."""

    value: np.ndarray
    test: Test | None = None
    yes: Node | None = None
    no: Node | None = None


def leaf_value(G: np.ndarray, H: np.ndarray, settings: Settings) -> np.ndarray:
    """Return one Newton step for the rows of a leaf, times the learning rate."""
    curvature = np.maximum(H.sum(axis=0) + settings.l2_regularization, SMALLEST_CURVATURE)
    return -settings.learning_rate * G.sum(axis=0) / curvature


def best_test(
    columns: Sequence[Column], node: np.ndarray, G: np.ndarray, w: np.ndarray, settings: Settings
) -> Test | None:
    """Return the best test of a numeric column that has no missing value."""
    best, most = None, 0.0
    for j, column in enumerate(columns):
        for threshold in thresholds_of(column.values, settings.max_bins, w):
            side = column.values[node] > threshold
            if min(side.sum(), (~side).sum()) < settings.min_samples_leaf:
                continue
            gains, _ = gain_of(side[None], G[node], w[node], settings.l2_regularization)
            if gains[0] > most:
                best, most = Test(j, threshold), float(gains[0])
    return best


def grow(
    columns: Sequence[Column],
    node: np.ndarray,
    G: np.ndarray,
    H: np.ndarray,
    w: np.ndarray,
    *,
    settings: Settings,
    depth: int = 0,
) -> Node:
    """Return the tree of the rows in `node`, whose columns are numeric without missing values."""
    made = Node(leaf_value(G[node], H[node], settings))
    if depth < settings.max_depth:
        made.test = best_test(columns, node, G, w, settings)
    if made.test is not None:
        side = made.test.takes_yes(columns[made.test.column].values[node])
        made.yes = grow(columns, node[side], G, H, w, settings=settings, depth=depth + 1)
        made.no = grow(columns, node[~side], G, H, w, settings=settings, depth=depth + 1)
    return made


def values_of(node: Node, columns: Sequence[Column], rows: np.ndarray) -> np.ndarray:
    """Return the value of the leaf that each row reaches."""
    if node.test is None:
        return np.tile(node.value, (len(rows), 1))
    side = node.test.takes_yes(columns[node.test.column].values[rows])
    out = np.empty((len(rows), len(node.value)))
    out[side] = values_of(node.yes, columns, rows[side])
    out[~side] = values_of(node.no, columns, rows[~side])
    return out


def one_round(
    columns: Sequence[Column],
    margins: np.ndarray,
    Y: np.ndarray,
    weights: np.ndarray,
    settings: Settings,
) -> tuple[Node, np.ndarray]:
    """Return the tree of one round, and the margins after it."""
    G, H = gradients(settings.loss, margins, Y, weights)
    rows = np.arange(len(Y))
    tree = grow(columns, rows, G, H, weights, settings=settings)
    return tree, margins + values_of(tree, columns, rows)


# ---- the trees of the core -----------------------------------------------------------------

Arrays = Mapping[str, np.ndarray]


def read_test(arrays: Arrays, node: int) -> Test:
    """Return the test of an inner node of a tree given as arrays."""
    first, last = arrays["category_indptr"][node : node + 2]
    codes = np.flatnonzero(arrays["category_yes"][first:last])
    return Test(
        int(arrays["feature"][node]),
        float(arrays["threshold"][node]),
        tuple(codes.tolist()) if last > first else None,
        int(last - first),
        bool(arrays["missing_yes"][node]),
    )


def reached(arrays: Arrays, X: np.ndarray) -> list[np.ndarray]:
    """Return for each node the rows of X that reach it."""
    rows: list[Any] = [None] * len(arrays["feature"])
    rows[0] = np.arange(len(X))
    for node in np.flatnonzero(arrays["feature"] >= 0).tolist():
        test = read_test(arrays, node)
        side = test.takes_yes(X[rows[node], test.column])
        rows[arrays["yes"][node]] = rows[node][side]
        rows[arrays["no"][node]] = rows[node][~side]
    return rows


def predict(trees: Sequence[Arrays], X: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Return the margins of X: single precision, the trees added in their order."""
    margins = np.tile(start.astype(np.float32), (len(X), 1))
    for arrays in trees:
        values = arrays["value"].reshape(-1, len(start))
        for node, rows in enumerate(reached(arrays, X)):
            if arrays["feature"][node] < 0:
                margins[rows] += values[arrays["leaf"][node]]
    return margins
