"""Trees for several numeric or nominal targets in plain numpy, grown by the reference for labels.

Sums over rows take the place of label sums: for a numeric target, those of x, x² and whether it is
known; for a nominal target, those of its classes and whether it is known.

>>> columns = [Column(np.array([1.0, 2.0, 3.0, 4.0]))]
>>> root = grow_numeric(columns, np.array([[1.0], [1.0], [5.0], [7.0]]), Settings(max_depth=1))
>>> root.test.threshold, means(root.children[0], 1)
(2.5, array([6.]))
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tests.reference.criteria import Criterion, Part, Settings
from tests.reference.trees import Column, Node, Training, grow_node

NOISE = 1e-12
UNKNOWN = 1e-9


@dataclass(frozen=True)
class NumericCriterion(Criterion):
    """The mean over the targets of their weight times their variance, about an origin."""

    def squares(self, part: Part) -> float:
        return self.mass(part)

    def mass(self, part: Part) -> float:
        sums, squares, known = part.sums.reshape(3, -1)
        terms = []
        for s, q, k, weight in zip(sums, squares, known, self.label_weights, strict=True):
            if k <= UNKNOWN:
                continue
            spread = q - s * s / k
            terms.append(0.0 if spread <= NOISE * q else spread * weight)
        return sum(terms) / len(terms) if terms else 0.0


@dataclass(frozen=True)
class NominalCriterion(Criterion):
    """The mean of weighted Gini indices or the sum of entropies; `targets` has their columns."""

    def __post_init__(self) -> None:
        """Do nothing: weights are those of targets, not of labels."""

    def squares(self, part: Part) -> float:
        return replace(self, settings=replace(self.settings, criterion="gini")).mass(part)

    def mass(self, part: Part) -> float:
        terms = []
        n_targets = len(self.targets)
        for group, k, weight in zip(
            self.targets, part.sums[-n_targets:], self.label_weights, strict=True
        ):
            if k <= UNKNOWN:
                continue
            share = np.clip(part.sums[list(group)] / k, 0.0, 1.0)
            if self.is_information:
                terms.append(part.weight * -sum(p * math.log2(p) for p in share if p > 0))
            else:
                terms.append(float(1 - np.sum(share * share)) * k * weight)
        if self.is_information or not terms:
            return sum(terms)
        return sum(terms) / len(terms)


def grow_numeric(
    columns: Sequence[Column],
    values: np.ndarray,
    settings: Settings,
    *,
    origin: np.ndarray | None = None,
    target_weights: np.ndarray | None = None,
    sample_weight: np.ndarray | None = None,
) -> Node:
    """Grow a tree on numeric targets (n × n_targets, NaN if unknown), relative to an origin."""
    n_targets = values.shape[1]
    x = values - (0.0 if origin is None else origin)
    known = ~np.isnan(x)
    filled = np.where(known, x, 0.0)
    weights = np.ones(n_targets) if target_weights is None else target_weights
    groups = tuple((i,) for i in range(n_targets))
    criterion = NumericCriterion(replace(settings, criterion="variance"), weights, groups)
    moments = np.hstack([filled, filled * filled, known.astype(float)])
    return _grow(columns, moments, criterion, sample_weight)


def grow_nominal(
    columns: Sequence[Column],
    codes: np.ndarray,
    n_classes: Sequence[int],
    settings: Settings,
    *,
    target_weights: np.ndarray | None = None,
    sample_weight: np.ndarray | None = None,
) -> Node:
    """Grow a tree on nominal targets, given as codes (n × n_targets, NaN if unknown)."""
    known = ~np.isnan(codes)
    blocks, groups, first = [], [], 0
    for i, n in enumerate(n_classes):
        blocks.append((codes[:, [i]] == np.arange(n)).astype(float))
        groups.append(tuple(range(first, first + n)))
        first += n
    weights = np.ones(len(n_classes)) if target_weights is None else target_weights
    criterion = NominalCriterion(settings, weights, tuple(groups))
    return _grow(columns, np.hstack([*blocks, known.astype(float)]), criterion, sample_weight)


def _grow(
    columns: Sequence[Column],
    moments: np.ndarray,
    criterion: Criterion,
    sample_weight: np.ndarray | None,
) -> Node:
    weights = np.ones(len(moments)) if sample_weight is None else sample_weight
    rows = np.flatnonzero(weights > 0)
    counts = np.ones(len(moments), dtype=bool)
    total = float(weights.sum())
    training = Training(columns, moments, weights, counts, criterion, total)
    return grow_node(training, rows, weights[rows], 0, frozenset())


def means(node: Node, n_targets: int) -> np.ndarray:
    """Return the mean of each numeric target in a node, NaN if no value is known."""
    sums, _, known = node.sums.reshape(3, n_targets)
    return np.divide(sums, known, out=np.full(n_targets, np.nan), where=known > UNKNOWN)


def class_shares(node: Node, n_classes: Sequence[int]) -> np.ndarray:
    """Return the share of each class among the known values of its target, NaN if none is."""
    counts, known = node.sums[: sum(n_classes)], node.sums[sum(n_classes) :]
    known = np.repeat(known, n_classes)
    return np.divide(counts, known, out=np.full(len(counts), np.nan), where=known > UNKNOWN)


def prune_m5(node: Node, criterion: Criterion, factor: float, negligible: float) -> None:
    """Turn nodes into leaves, bottom-up, if this does not increase M5's estimate of the error."""
    for child in node.children:
        prune_m5(child, criterion, factor, negligible)
    if node.is_leaf:
        return
    as_leaf = estimate(node, mass_of_leaves(replace_by_leaf(node), criterion), 1, factor)
    as_tree = estimate(node, mass_of_leaves(node, criterion), count_nodes(node), factor)
    if as_tree > as_leaf or as_leaf < negligible:
        node.test, node.children, node.shares = None, [], ()


def estimate(node: Node, squares: float, n_nodes: int, factor: float) -> float:
    weight = node.weight
    penalty = 10.0 if weight <= n_nodes else (weight + factor * n_nodes) / (weight - n_nodes)
    return math.sqrt(max(squares, 0.0) / weight) * penalty


def mass_of_leaves(node: Node, criterion: Criterion) -> float:
    if node.is_leaf:
        return criterion.mass(Part(node.sums, node.weight, node.n))
    return sum(mass_of_leaves(child, criterion) for child in node.children)


def count_nodes(node: Node) -> int:
    return 1 + sum(map(count_nodes, node.children))


def replace_by_leaf(node: Node) -> Node:
    return Node(node.sums, node.weight, node.n)
