"""Labels that are not known for some rows, in plain numpy: closing, impurity, shares of nodes.

Trees are grown by the reference for labels, with further sums over rows: of each label the weight
that knows it, and of each pair of a label and a parent the weight of the rows that know the label
and have the parent, or do not know the parent.

>>> hierarchy = Hierarchy.from_paths(["a/b", "c"])
>>> closed(hierarchy, np.array([[1.0, np.nan, 0.0], [0.0, np.nan, np.nan]]))
array([[ 1., nan,  0.],
       [ 0.,  0., nan]])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ramify import Hierarchy
from tests.reference.criteria import Criterion, Part, Settings
from tests.reference.trees import Column, Node, Training, grow_node

LITTLE = 1e-9


def closed(hierarchy: Hierarchy, y: np.ndarray) -> np.ndarray:
    """Return a label matrix with NaN where the hierarchy does not say what is not known."""
    y = y.copy()
    parents = [hierarchy.indices(hierarchy.parents(label)) for label in hierarchy.labels]
    for row in y:
        for label in reversed(range(len(row))):
            if row[label] == 1:
                row[parents[label]] = 1
        for label in range(len(row)):
            if np.isnan(row[label]) and (row[parents[label]] == 0).any():
                row[label] = 0
    return y


@dataclass(frozen=True)
class KnownVariance(Criterion):
    """The sum over labels of their weight times S - S^2 / W, both of the rows that know them."""

    def squares(self, part: Part) -> float:
        return self.mass(part)

    def mass(self, part: Part) -> float:
        n_labels = len(self.label_weights)
        sums, known = part.sums[:n_labels], part.sums[n_labels : 2 * n_labels]
        some = known > LITTLE * max(part.weight, 1)
        spread = sums[some] - sums[some] ** 2 / known[some]
        return float(self.label_weights[some] @ spread)


@dataclass(frozen=True)
class Rows:
    """Training rows: labels, 1, 0 or NaN, and the sums over them that trees need."""

    y: np.ndarray
    hierarchy: Hierarchy

    @property
    def edges(self) -> list[tuple[int, int]]:
        """The pairs of a parent and a child."""
        h = self.hierarchy
        return [(h.index(p), c) for c, label in enumerate(h.labels) for p in h.parents(label)]

    def moments(self) -> np.ndarray:
        known = ~np.isnan(self.y)
        parts = [np.where(known, self.y, 0.0), known]
        parts += [(known[:, c] & (self.y[:, p] == 1))[:, None] for p, c in self.edges]
        parts += [(known[:, c] & np.isnan(self.y[:, p]))[:, None] for p, c in self.edges]
        return np.hstack(parts).astype(float)

    def shares(self, node: Node, above: np.ndarray | None) -> np.ndarray:
        """Return what a node predicts; `above` is what the node above it does."""
        n_labels, edges = self.y.shape[1], self.edges
        sums, known = node.sums[:n_labels], node.sums[n_labels : 2 * n_labels]
        with_parent, not_known = node.sums[2 * n_labels :][: 2 * len(edges)].reshape(2, -1)
        little = LITTLE * node.weight
        found = np.zeros(n_labels)
        for c in range(n_labels):
            pairs = [k for k, (_, child) in enumerate(edges) if child == c]
            if not pairs:
                share = sums[c] / known[c] if known[c] > little else inherit(above, c, None)
                found[c] = share
                continue
            informed, fallback = [], []
            for k in pairs:
                p = edges[k][0]
                weight = with_parent[k] + found[p] * not_known[k]
                if weight > little:
                    informed.append(found[p] * min(1.0, sums[c] / weight))
                ratio = inherit(above, c, p)
                fallback.append(found[p] * ratio)
            found[c] = min(informed) if informed else min(fallback)
        return found


def inherit(above: np.ndarray | None, label: int, parent: int | None) -> float:
    """Return the share of a label in the node above, or its ratio to that of a parent."""
    if above is None:
        return 0.0
    if parent is None:
        return float(above[label])
    return min(1.0, float(above[label] / above[parent])) if above[parent] > 0 else 0.0


def grow(
    columns: Sequence[Column],
    rows: Rows,
    settings: Settings,
    *,
    label_weights: np.ndarray,
    sample_weight: np.ndarray,
) -> Node:
    """Grow a tree on labels that are not known for some rows."""
    groups = tuple((c,) for c in range(rows.y.shape[1]))
    criterion = KnownVariance(replace(settings, criterion="variance"), label_weights, groups)
    moments = rows.moments()
    index = np.flatnonzero(sample_weight > 0)
    counts = np.ones(len(moments), dtype=bool)
    total = float(sample_weight.sum())
    training = Training(columns, moments, sample_weight, counts, criterion, total)
    return grow_node(training, index, sample_weight[index], 0, frozenset())


def rows_that_tell(y: np.ndarray) -> np.ndarray:
    """Return which rows know a label that some rows have and others do not.

    All rows that know a label, if some label would then be known by no row.
    """
    known = ~np.isnan(y)
    differs = (y == 1).any(axis=0) & (y == 0).any(axis=0)
    found = (known & differs).any(axis=1)
    forgotten = known.any(axis=0) & ~known[found].any(axis=0)
    return known.any(axis=1) if forgotten.any() else found
