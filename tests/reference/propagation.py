"""Propagation of scores to ancestors, label by label."""

from __future__ import annotations

from ramify import Hierarchy


def propagate(hierarchy: Hierarchy, row: list[float], how: str) -> list[float]:
    """Return the scores of one row."""
    result = dict(zip(hierarchy.labels, row, strict=True))
    for label in reversed(hierarchy.labels):
        below = [result[child] for child in hierarchy.children(label)]
        if how == "max" or not result[label]:
            result[label] = max([result[label], *below])
    return [result[label] for label in hierarchy.labels]
