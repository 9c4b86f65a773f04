"""Labels and probabilities carried to another taxonomy, row by row and label by label."""

from __future__ import annotations

from typing import Any


def with_ancestors(hierarchy: Any, label: Any) -> set[Any]:
    return {label, *hierarchy.ancestors(label)}


def image(mapping: Any, label: Any) -> set[Any]:
    """What the successors of a label have in common, or what its parents became."""
    found = [with_ancestors(mapping.new, x) for x in mapping.successors(label)]
    common = set.intersection(*found) if found else set()
    if common:
        return common
    return set().union(*(image(mapping, parent) for parent in mapping.old.parents(label)))


def carry_row(mapping: Any, labels: Any) -> set[Any]:
    """Return the new labels of a row with some old labels."""
    below = {x for label in labels for x in mapping.old.ancestors(label)}
    return set().union(*(image(mapping, label) for label in set(labels) - below))


def carry_paths(mapping: Any, ends: Any) -> list[float]:
    """Return the probabilities of the new labels, given how probable it is to end at old ones."""
    found = dict.fromkeys(mapping.new.labels, 0.0)
    for label, probability in zip(mapping.old.labels, ends, strict=True):
        for new in image(mapping, label):
            found[new] += probability
    return list(found.values())
