"""Hierarchy files: the labels with their numbers of rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ramify.clus.numbers import number
from ramify.clus.targets.hierarchy import ClusHierarchy

__all__ = ["hierarchy_lines"]


def hierarchy_lines(
    labels: ClusHierarchy, counts: NDArray[np.float64], *, weighted: bool
) -> Iterator[str]:
    """Yield the lines of a hierarchy file.

    Parameters
    ----------
    labels : ClusHierarchy
        The hierarchy.
    counts : ndarray
        The number of rows of each label, in the order of CLUS.
    weighted : bool
        Whether labels have weights; if not, CLUS lists an empty level.
    """
    levels = Counter(depth for depth, _, _ in labels.walk())
    sizes = [1, *(levels[depth] for depth in sorted(levels)), *([] if weighted else [0])]
    yield f"Hier #nodes: {len(labels.labels)}"
    yield f"Hier classes by level: {sizes}"
    for depth, parent, at in labels.walk():
        others = [labels.labels[p] for p in labels.parents[at] if p != parent]
        note = f" (p: {','.join(others)})" if others else ""
        yield f"{' ' * 6 * depth}{labels.last_name(at)}{note}: {number(float(counts[at]), 4)}"
