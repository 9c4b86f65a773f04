"""Trees as CLUS prints them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ramify import _core
from ramify.apps.clus.data import Attributes
from ramify.apps.clus.values import java_double

__all__ = [
    "TreeSize",
    "describe_test",
    "measure_tree",
    "print_tree",
]


LeafText = Callable[[_core.Tree, int], str]


@dataclass(frozen=True)
class TreeSize:
    """Numbers of nodes and leaves, and the number of nodes on the longest path."""

    nodes: int
    leaves: int
    depth: int

    def __str__(self) -> str:
        return f"Nodes = {self.nodes}; Leaves = {self.leaves}; Depth = {self.depth}"


def measure_tree(tree: _core.Tree) -> TreeSize:
    """Return the size of a tree."""
    is_leaf = tree.feature < 0
    level = np.ones(len(is_leaf), dtype=np.int64)
    for node in np.flatnonzero(~is_leaf).tolist():  # children have larger numbers
        level[_children(tree, node)] = level[node] + 1
    return TreeSize(len(is_leaf), int(is_leaf.sum()), int(level.max()))


def leaf_numbers(tree: _core.Tree) -> dict[int, int]:
    """Return the numbers of the leaves, from 1 in the order in which they are printed."""
    order: dict[int, int] = {}
    stack = [0]
    while stack:
        node = stack.pop()
        if tree.feature[node] < 0:
            order[node] = len(order) + 1
        else:
            stack.extend(reversed(_children(tree, node)))
    return order


def print_tree(
    tree: _core.Tree, attributes: Attributes, leaf: LeafText, *, nary: bool = False
) -> Iterator[str]:
    """Yield the lines of a tree."""
    stack = [(0, "", "")]
    while stack:
        node, first, indent = stack.pop()
        if tree.feature[node] < 0:
            yield first + leaf(tree, node)
            continue
        yield first + describe_test(tree, node, attributes, nary=nary)
        names = branch_names(tree, node, attributes)
        children = _children(tree, node)
        for at in reversed(range(len(children))):
            name, last = names[at], at == len(names) - 1
            if names == ["yes", "no"]:
                label, below = ("no:  ", "       ") if last else ("yes: ", "|      ")
            else:
                label = f"{name}: "
                below = (" " if last else "|") + " " * (len(label) + 2)
            stack.append((children[at], f"{indent}+--{label}", indent + below))


def _children(tree: _core.Tree, node: int) -> list[int]:
    return list(tree.child[tree.child_indptr[node] : tree.child_indptr[node + 1]].tolist())


def branch_names(tree: _core.Tree, node: int, attributes: Attributes) -> list[str]:
    """Return the names of the branches of a test."""
    n_branches = int(tree.child_indptr[node + 1] - tree.child_indptr[node])
    values = attributes.values.get(attributes.descriptive[tree.feature[node]], ())
    return ["yes", "no"] if n_branches == 2 else list(values)


def describe_test(tree: _core.Tree, node: int, attributes: Attributes, *, nary: bool) -> str:
    """Return the test of a node; with `nary`, nominal tests have one branch per value."""
    at = attributes.descriptive[tree.feature[node]]
    name = str(attributes.names[at])
    if at not in attributes.values:
        return f"{name} > {java_double(tree.threshold[node])}"
    values = attributes.values[at]
    n_branches = int(tree.child_indptr[node + 1] - tree.child_indptr[node])
    if n_branches > 2 or nary:
        return name
    branch = tree.category_branch[tree.category_indptr[node] : tree.category_indptr[node + 1]]
    inside = [str(value) for value, b in zip(values, branch.tolist(), strict=False) if b == 0]
    return f"{name} = {inside[0]}" if len(inside) == 1 else f"{name} in {{{','.join(inside)}}}"
