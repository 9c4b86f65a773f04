"""Feature rankings of forests: Genie3 and Symbolic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ramify import _core
from ramify.apps.clus.data import Attributes
from ramify.apps.clus.values import java_double

__all__ = [
    "genie3",
    "ranking_lines",
    "symbolic",
]


def genie3(
    trees: Sequence[_core.Tree],
    squares: Sequence[NDArray[np.float64]],
    n_features: int,
    n_trees: int,
) -> NDArray[np.float64]:
    """Return the mean over trees of the reduction of the sum of squares by each feature."""
    total = np.zeros(n_features)
    for tree, own in zip(trees, squares, strict=True):
        found = np.zeros(n_features)
        for node in _preorder(tree):
            branches = tree.child[tree.child_indptr[node] : tree.child_indptr[node + 1]]
            found[tree.feature[node]] += own[node] - sum(own[branches].tolist())
        total += found
    return total / n_trees


def symbolic(
    trees: Sequence[_core.Tree], weight: float | None, n_features: int, n_trees: int
) -> NDArray[np.float64]:
    """Return the mean over trees of the weights of the tests of each feature."""
    total = np.zeros(n_features)
    for tree in trees:
        found = np.zeros(n_features)
        level = np.zeros(len(tree.feature), dtype=np.int64)
        for node in _preorder(tree):
            own = tree.weight[node] / tree.weight[0] if weight is None else weight ** level[node]
            found[tree.feature[node]] += own
            level[tree.child[tree.child_indptr[node] : tree.child_indptr[node + 1]]] = (
                level[node] + 1
            )
        total += found
    return total / n_trees


def _preorder(tree: _core.Tree) -> Iterator[int]:
    """Yield the inner nodes, a node before its branches and the last branch first, as in CLUS."""
    stack = [0]
    while stack:
        node = stack.pop()
        if tree.feature[node] >= 0:
            yield node
            part = tree.child[tree.child_indptr[node] : tree.child_indptr[node + 1]]
            stack.extend(part.tolist())


def ranking_lines(
    attributes: Attributes,
    method: str,
    ranking: str,
    n_trees: int,
    columns: dict[str, NDArray[np.float64]],
    *,
    by_relevance: bool,
) -> list[str]:
    """Return the lines of a ranking file."""
    values = np.column_stack(list(columns.values()))
    first = values[:, 0]
    hashed = _hash_order([attributes.names[at] for at in attributes.descriptive])
    order = hashed[np.argsort(-first[hashed], kind="stable")]
    ranks = 1 + (values[:, None, :] < values).sum(axis=1)
    titles = ", ".join(f"{title}Rank" for title in columns), ", ".join(columns)
    title = f"attributeDatasetIndex\tattributeName\t[{titles[0]}]\t[{titles[1]}]"
    lines = [
        f"Ensemble method: {method}",
        f"Ranking method: {ranking}",
        f"Ensemble size: {n_trees}",
        title,
        "-" * len(title),
    ]
    for j in order.tolist() if by_relevance else range(len(values)):
        at = attributes.descriptive[j]
        own = ", ".join(map(str, ranks[j])), ", ".join(map(java_double, values[j]))
        lines.append(f"{at + 1}\t{attributes.names[at]}\t[{own[0]}]\t[{own[1]}]")
    return lines


def _hash_order(names: Sequence[str]) -> NDArray[np.int64]:
    """Return the order in which java.util.HashMap lists names; it determines the order of ties."""
    capacity = 16
    while len(names) > 0.75 * capacity:
        capacity *= 2
    return np.argsort([_java_hash(name) & (capacity - 1) for name in names], kind="stable")


def _java_hash(text: str) -> int:
    """Return the hash code of a string, mixed as in java.util.HashMap.

    Examples
    --------
    >>> _java_hash("x1")
    3769
    """
    code = 0
    data = text.encode("utf-16-be")
    for high, low in zip(data[::2], data[1::2], strict=True):
        code = (31 * code + 256 * high + low) & 0xFFFFFFFF
    return code ^ (code >> 16)
