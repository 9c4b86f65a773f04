"""Select the relevant labels of a node and show them as an indented part of the hierarchy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ramify._validation import Label, check_number
from ramify.labels.graph import row_of
from ramify.labels.hierarchy import Hierarchy

_FEW_LABELS = 3
_FEW_MOVES = 6  # labels of a leaf of a boosted tree
_SAME = 0.005  # smaller differences are not visible in two digits


@dataclass(frozen=True)
class LabelChoice:
    """Which labels of a node to show."""

    threshold: float = 0.5  # show labels with at least this probability
    # Also show labels whose probability differs from that at the root by at least this much. None
    # disables this.
    min_change: float | None = 0.35
    # Maximum number of labels; those that differ most from the root are shown. None means no
    # limit.
    max_labels: int | None = None
    labels: tuple[int, ...] | None = None  # positions of the labels to show instead

    def for_tree(self, labels: NDArray[np.int64]) -> LabelChoice:
        """Adapt the choice to a tree: a tree with very few labels shows all of them."""
        if self.labels is not None or len(labels) > _FEW_LABELS:
            return self
        return replace(self, labels=tuple(sorted(labels.tolist())))

    def check(self) -> None:
        """Raise an error for invalid values."""
        check_number("threshold", self.threshold, 0, 1)
        if self.min_change is not None:
            check_number("min_change", self.min_change, 0, 1)
        if self.max_labels is not None:
            check_number("max_labels", self.max_labels, 1, whole=True)

    def choose(
        self, probability: NDArray[np.float64], reference: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """Return the positions of the labels to show."""
        if self.labels is not None:
            return np.array(sorted(self.labels), dtype=np.int64)
        # Tolerance: the mean of leaves with probability 1 may be slightly below 1.
        chosen = (probability >= self.threshold - 1e-10) & (probability > 0)
        if self.min_change is not None:
            moved = np.abs(probability - reference)
            chosen |= (moved >= self.min_change - 1e-10) & (moved > 1e-10)
        return np.flatnonzero(chosen)


def read_choice(
    hierarchy: Hierarchy,
    threshold: float,
    min_change: float | None,
    max_labels: int | None,
    labels: Sequence[Label] | None,
) -> LabelChoice:
    """Return a validated choice of labels from the arguments of a caller."""
    positions = (
        None if labels is None else tuple(hierarchy.indices(map(hierarchy.find, labels)).tolist())
    )
    choice = LabelChoice(threshold, min_change, max_labels, positions)
    choice.check()
    return choice


@dataclass(frozen=True)
class OutlineLine:
    """A label of an outline."""

    label: int  # position of the label in the hierarchy
    level: int  # level of indentation
    # Name relative to the line above; several names are joined if the labels between them are not
    # shown.
    name: str
    probability: float  # probability of the label in the node
    change: float  # difference from the probability at the root


@dataclass(frozen=True)
class Outline:
    """The labels shown for a node and the number of labels not shown."""

    lines: tuple[OutlineLine, ...]
    n_hidden: int


def make_outline(
    hierarchy: Hierarchy,
    probability: NDArray[np.float64],
    reference: NDArray[np.float64],
    choice: LabelChoice,
) -> Outline:
    """Choose labels and nest them.

    A label with the same probability as the only label shown below it is joined with that one.
    """
    chosen = choice.choose(probability, reference)
    kept = chosen
    fixed = choice.labels is not None
    if not fixed and choice.max_labels is not None and len(chosen) > choice.max_labels:
        telling = np.abs(probability - reference)[chosen] + 1e-3 * probability[chosen]
        best = np.argsort(-telling, kind="stable")[: choice.max_labels]
        kept = np.sort(chosen[best])
    folded = set() if fixed else _folded(hierarchy, kept, probability)
    shown = [int(label) for label in kept if label not in folded]
    lines = tuple(_nest(hierarchy, shown, probability, reference))
    return Outline(lines, len(chosen) - len(kept))


def outline_moves(
    hierarchy: Hierarchy, margin: NDArray[np.float64], choice: LabelChoice
) -> Outline:
    """Choose the labels whose margin a leaf of a boosted tree moves most, up or down.

    >>> pets = Hierarchy.from_paths(["pet/cat", "pet/dog", "wild/wolf"])
    >>> moves = np.array([0.1, 0.3, -0.2, 0.0, 0.01])
    >>> found = outline_moves(pets, moves, LabelChoice(max_labels=2))
    >>> [(line.name, line.probability) for line in found.lines], found.n_hidden
    ([('pet/cat', 0.3), ('pet/dog', -0.2)], 2)
    """
    moved = np.flatnonzero(np.abs(margin) >= _SAME)
    if choice.labels is not None:
        kept = np.array(sorted(choice.labels), dtype=np.int64)
        moved = kept
    else:
        largest = np.argsort(-np.abs(margin[moved]), kind="stable")
        kept = np.sort(moved[largest[: choice.max_labels or _FEW_MOVES]])
    lines = tuple(_nest(hierarchy, kept.tolist(), margin, np.zeros_like(margin)))
    return Outline(lines, len(moved) - len(kept))


@lru_cache(maxsize=32)
def outline_parents(hierarchy: Hierarchy) -> NDArray[np.int64]:
    """Return the deepest parent of each label, -1 for none; outlines show a label only once."""
    levels = hierarchy.label_levels
    parents = np.full(hierarchy.n_labels, -1, dtype=np.int64)
    for label in range(hierarchy.n_labels):
        above = row_of(hierarchy.parent_rows, label)
        if above:
            parents[label] = max(above, key=lambda p: (levels[p], -p))
    return parents


def short_name(hierarchy: Hierarchy, label: int) -> str:
    """Return the name of a label without the prefix that repeats the name of its parent.

    >>> short_name(Hierarchy.from_paths(["diptera/diptera_chironomus"]), 1)
    'chironomus'
    """
    parent = int(outline_parents(hierarchy)[label])
    name = str(hierarchy.labels[label])
    if parent < 0:
        return name
    above = str(hierarchy.labels[parent])
    name = name.removeprefix(f"{above}{hierarchy.separator}")
    own = above.rpartition(hierarchy.separator)[2]
    return name.removeprefix(f"{own}_") or name


def _folded(
    hierarchy: Hierarchy, kept: NDArray[np.int64], probability: NDArray[np.float64]
) -> set[int]:
    """Return the labels with the same probability as the only label shown below them."""
    parents = outline_parents(hierarchy)
    below: dict[int, list[int]] = {}
    shown = set(kept.tolist())
    for label in kept.tolist():
        if int(parents[label]) in shown:
            below.setdefault(int(parents[label]), []).append(label)
    return {
        label
        for label, children in below.items()
        if len(children) == 1 and abs(probability[label] - probability[children[0]]) < _SAME
    }


def _nest(
    hierarchy: Hierarchy,
    shown: list[int],
    probability: NDArray[np.float64],
    reference: NDArray[np.float64],
) -> Iterator[OutlineLine]:
    parents = outline_parents(hierarchy)
    level_of: dict[int, int] = {}
    for label in _depth_first(hierarchy, shown):
        names = [short_name(hierarchy, label)]
        above = int(parents[label])
        while above >= 0 and above not in level_of:
            names.append(short_name(hierarchy, above))
            above = int(parents[above])
        level_of[label] = level_of[above] + 1 if above >= 0 else 0
        yield OutlineLine(
            label=label,
            level=level_of[label],
            name=hierarchy.separator.join(reversed(names)),
            probability=float(probability[label]),
            change=float(probability[label] - reference[label]),
        )


def _depth_first(hierarchy: Hierarchy, shown: list[int]) -> list[int]:
    """Order labels such that each follows its parent in the outline."""
    if hierarchy.is_tree:
        return shown
    parents = outline_parents(hierarchy)

    def way(label: int) -> tuple[int, ...]:
        found = [label]
        while parents[found[-1]] >= 0:
            found.append(int(parents[found[-1]]))
        return tuple(found[::-1])

    return sorted(shown, key=way)
