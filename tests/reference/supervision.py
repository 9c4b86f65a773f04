"""Trees whose impurity is that of labels and features, in plain numpy.

The impurity of labels is the sum over labels of their weight times S - S^2 / W, of the rows that
know them, and that of a feature its sum of squares about the mean, or its Gini index times weight,
of the rows that have a value. Both are divided by what they are for all rows; features count for
their mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tests.reference.criteria import TOLERANCE, Criterion, Part, Settings
from tests.reference.trees import Column, Node, Training, grow_node
from tests.reference.unknown import LITTLE, KnownVariance, Rows


@dataclass(frozen=True)
class Feature:
    """Where the sums of a feature are: of x or of categories, of squares, and the known weight."""

    sums: slice
    square: int
    known: int

    def spread(self, part: Part) -> float:
        known = part.sums[self.known]
        if known <= LITTLE * max(part.weight, 1):
            return 0.0
        return float(part.sums[self.square] - (part.sums[self.sums] ** 2).sum() / known)


@dataclass(frozen=True)
class Mixed(Criterion):
    """The parts of labels and features, each 1 per weight at the root."""

    labels: KnownVariance | None = None
    features: tuple[Feature, ...] = ()
    n_labelled: int = 0  # where the number of rows with labels is
    factors_of: tuple[float, ...] = ()  # of the labels, then of every feature

    def mass(self, part: Part) -> float:
        spreads = [self.labels.mass(part), *(one.spread(part) for one in self.features)]
        return float(np.dot(self.factors_of, spreads))

    def squares(self, part: Part) -> float:
        return self.mass(part)

    def scale(self, node: Part) -> float:
        # Nothing counts as an improvement where too few rows have labels, or they do not differ.
        sums = node.sums[: len(self.label_weights)]
        settings = self.settings
        least = max(settings.min_samples_split, 2 * settings.min_samples_leaf)
        if node.sums[self.n_labelled] < least * (1 - TOLERANCE):
            return np.inf
        pure = self.labels.mass(node) <= LITTLE * float(self.label_weights @ sums)
        return np.inf if pure else self.mass(node)


def moments(columns: Sequence[Column], first: int) -> tuple[np.ndarray, tuple[Feature, ...]]:
    """Return the sums over rows that features need, which follow `first` others."""
    parts, places = [], []
    for column in columns:
        known = ~np.isnan(column.values)
        x = np.where(known, column.values, 0.0)
        if column.is_nominal:
            numbers = (x[:, None] == np.arange(column.n_values)) & known[:, None]
        else:
            x = x / max(np.abs(x).max(), 1e-300)
            numbers = (x - x[known].mean() if known.any() else x)[:, None] * known[:, None]
        squares = (numbers.astype(float) ** 2).sum(axis=1)
        parts.append(np.column_stack([numbers, squares, known]).astype(float))
        end = first + numbers.shape[1]
        places.append(Feature(slice(first, end), end, end + 1))
        first = end + 2
    return np.hstack(parts), tuple(places)


def grow(
    columns: Sequence[Column],
    rows: Rows,
    settings: Settings,
    supervision: float,
    *,
    label_weights: np.ndarray,
    sample_weight: np.ndarray,
) -> Node:
    """Grow a tree on labels and features, of which the labels count for `supervision`."""
    groups = tuple((c,) for c in range(rows.y.shape[1]))
    settings = replace(settings, criterion="variance")
    labels = KnownVariance(settings, label_weights, groups)
    of_labels = rows.moments()
    of_features, places = moments(columns, of_labels.shape[1])
    labelled = ~np.isnan(rows.y).all(axis=1)
    of_row = labelled / np.where(sample_weight > 0, sample_weight, 1)
    everything = np.hstack([of_labels, of_features, of_row[:, None]])
    index = np.flatnonzero(sample_weight > 0)
    counts = np.ones(len(everything), dtype=bool)
    total = float(sample_weight.sum())
    plain = Training(columns, everything, sample_weight, counts, labels, total)
    root = plain.part(index, sample_weight[index])
    varying = [one for one in places if one.spread(root) > 1e-12 * root.sums[one.square]]
    of_all = labels.mass(root)
    factors = [supervision * total / of_all if of_all > 1e-12 * total else 1.0]
    factors += [(1 - supervision) * total / len(varying) / one.spread(root) for one in varying]
    mixed = Mixed(
        settings,
        label_weights,
        groups,
        labels=labels,
        features=tuple(varying),
        n_labelled=everything.shape[1] - 1,
        factors_of=tuple(factors),
    )
    training = replace(plain, criterion=mixed)
    return grow_node(training, index, sample_weight[index], 0, frozenset())
