"""Trees as CLUS prints them, and the rows that reach their nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core
from ramify.apps.clus.data import Attributes
from ramify.apps.clus.values import java_double
from ramify.trees.views import change_tree

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
        level[children_of(tree, node)] = level[node] + 1
    return TreeSize(len(is_leaf), int(is_leaf.sum()), int(level.max()))


def node_values(tree: _core.Tree, node: int, n_columns: int) -> NDArray[np.float64]:
    """Return the values of a node, one per column."""
    values = np.zeros(n_columns)
    part = slice(tree.value_indptr[node], tree.value_indptr[node + 1])
    values[tree.value_label[part]] = tree.value[part]
    return values


def leaf_numbers(tree: _core.Tree) -> dict[int, int]:
    """Return the numbers of the leaves, from 1 in the order in which they are printed."""
    order: dict[int, int] = {}
    stack = [0]
    while stack:
        node = stack.pop()
        if tree.feature[node] < 0:
            order[node] = len(order) + 1
        else:
            stack.extend(reversed(children_of(tree, node)))
    return order


def print_tree(
    tree: _core.Tree,
    attributes: Attributes,
    leaf: LeafText,
    *,
    nary: bool = False,
    note: Callable[[int], str] = lambda node: "",
) -> Iterator[str]:
    """Yield the lines of a tree, with a note after the test of each node."""
    stack = [(0, "", "")]
    while stack:
        node, first, indent = stack.pop()
        if tree.feature[node] < 0:
            yield first + leaf(tree, node)
            continue
        yield first + describe_test(tree, node, attributes, nary=nary) + note(node)
        names = branch_names(tree, node, attributes)
        children = children_of(tree, node)
        for at in reversed(range(len(children))):
            name, last = names[at], at == len(names) - 1
            if names == ["yes", "no"]:
                label, below = ("no:  ", "       ") if last else ("yes: ", "|      ")
            else:
                label = f"{name}: "
                below = (" " if last else "|") + " " * (len(label) + 2)
            stack.append((children[at], f"{indent}+--{label}", indent + below))


def children_of(tree: _core.Tree, node: int) -> list[int]:
    """Return the nodes that the branches of a test lead to; none for a leaf."""
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


def tests_in_order(tree: _core.Tree) -> Iterator[int]:
    """Yield the inner nodes, a node before its branches and the last branch first, as in CLUS."""
    stack = [0]
    while stack:
        node = stack.pop()
        if tree.feature[node] >= 0:
            yield node
            stack.extend(children_of(tree, node))


def grown_as(pruned: _core.Tree, tree: _core.Tree) -> tuple[dict[int, int], dict[int, int]]:
    """Return what the leaves of a pruned tree were, and where its tests were, as CLUS prunes it.

    Both are nodes of the tree by those of the pruned tree. A node stays if one of its branches
    replaces it: it takes the test and branches of that one.
    """
    leaves, tests = {}, {}
    stack = [(0, 0)]
    while stack:
        node, place = stack.pop()
        if pruned.feature[node] < 0:
            leaves[node] = place
            continue
        tests[node] = source = _first_with_test(tree, place, pruned, node)
        stack.extend(zip(children_of(pruned, node), children_of(tree, source), strict=True))
    return leaves, tests


def _first_with_test(tree: _core.Tree, root: int, pruned: _core.Tree, node: int) -> int:
    """Return the highest node of a subtree that has the test of a node."""
    level = [root]
    while level:
        for at in level:
            if _same_test(pruned, node, tree, at):
                return at
        level = [child for at in level for child in children_of(tree, at)]
    raise ValueError("the pruned tree has a test that the tree has not")


def _same_test(one: _core.Tree, node: int, other: _core.Tree, at: int) -> bool:
    if one.feature[node] != other.feature[at] or one.threshold[node] != other.threshold[at]:
        return False
    first, second = (
        tree.category_branch[tree.category_indptr[i] : tree.category_indptr[i + 1]]
        for tree, i in ((one, node), (other, at))
    )
    return bool(np.array_equal(first, second))


# ---- the rows and weights of every node -----------------------------------------------------


def node_rows(
    tree: _core.Tree, X: Any, weights: NDArray[np.float64], rows: NDArray[np.int64] | None = None
) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.float64]]]:
    """Yield (node, rows, weights) for every node, a node before its branches.

    A row without the value that a test needs goes to all branches, with its weight multiplied by
    the share of the branch. Rows keep their order, as in CLUS.
    """
    as_columns: Any = X
    columns = as_columns.tocsc() if sparse.issparse(X) else None
    every = np.arange(X.shape[0], dtype=np.int64) if rows is None else rows
    stack = [(0, every, weights)]
    while stack:
        node, inside, weight = stack.pop()
        yield node, inside, weight
        feature = int(tree.feature[node])
        if feature < 0:
            continue
        column = X[:, feature] if columns is None else columns[:, [feature]].toarray()[:, 0]
        branch = branches(tree, node, column[inside])
        first, last = tree.child_indptr[node], tree.child_indptr[node + 1]
        for at in reversed(range(int(last - first))):
            taken = (branch == at) | (branch < 0)
            share = float(tree.share[first + at])
            below = np.where(branch[taken] < 0, weight[taken] * share, weight[taken])
            stack.append((int(tree.child[first + at]), inside[taken], below))


def unknown_shares(tree: _core.Tree, X: Any, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of the weight of each inner node whose value is missing at its test."""
    found = np.zeros(len(tree.feature))
    inside = np.flatnonzero(weights > 0)
    for node, rows, weight in node_rows(tree, X, weights[inside], inside):
        if tree.feature[node] >= 0:
            column = X[rows][:, [int(tree.feature[node])]]
            values = column.toarray()[:, 0] if sparse.issparse(X) else column[:, 0]
            total = np.cumsum(weight)[-1]
            missing = np.cumsum(np.where(np.isnan(values), weight, 0.0))[-1]
            found[node] = (total - (total - missing)) / total
    return found


def branches(tree: _core.Tree, node: int, values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the branch that each value takes at a node; -1 if it is missing."""
    missing = np.isnan(values)
    start, end = tree.category_indptr[node], tree.category_indptr[node + 1]
    if end > start:
        codes = np.where(missing, 0, values).astype(np.int64)
        table = tree.category_branch[start:end].astype(np.int64)
        found = table[np.minimum(codes, len(table) - 1)]
    else:
        found = np.where(values > tree.threshold[node], 0, 1)
    return np.where(missing, -1, found)


def reached_leaves(tree: _core.Tree, X: Any) -> list[list[int]]:
    """Return the leaves that each row reaches."""
    found: list[list[int]] = [[] for _ in range(X.shape[0])]
    for node, rows, _ in node_rows(tree, X, np.ones(X.shape[0])):
        if tree.feature[node] < 0:
            for row in rows.tolist():
                found[row].append(node)
    return found


def sign_zeros(
    trees: list[_core.Tree], X: Any, rows_of: Callable[[int], NDArray[np.int64]] | None = None
) -> list[_core.Tree]:
    """Return trees whose thresholds of 0 have the sign that CLUS prints.

    Among rows with the values 0.0 and -0.0, which are equal, CLUS takes the threshold from those
    with 0.0 if there are any. If a feature is not negative and mostly zero, CLUS does not sort the
    rows with zeros, and takes the first of them.
    """
    if sparse.issparse(X) or not ((X == 0) & np.signbit(X)).any():
        return trees
    return [
        _sign_zeros(tree, X, None if rows_of is None else rows_of(at))
        for at, tree in enumerate(trees)
    ]


def _sign_zeros(tree: _core.Tree, X: Any, rows: NDArray[np.int64] | None) -> _core.Tree:
    is_numeric = (tree.feature >= 0) & (np.diff(tree.category_indptr) == 0)
    wanted = set(np.flatnonzero(is_numeric & (tree.threshold == 0)).tolist())
    threshold = tree.threshold.copy()
    n_rows = X.shape[0] if rows is None else len(rows)
    for node, inside, _ in node_rows(tree, X, np.ones(n_rows), rows) if wanted else ():
        if node in wanted:
            column = X[:, tree.feature[node]]
            signs = np.signbit(column[inside][column[inside] == 0])
            if len(signs):  # none if the threshold is the middle of two values
                is_negative = signs[0] if _is_unsorted(column) else signs.all()
                threshold[node] = -0.0 if is_negative else 0.0
    if not np.signbit(threshold[list(wanted)]).any():
        return tree
    return change_tree(tree, threshold=threshold)


def _is_unsorted(column: NDArray[np.float64]) -> bool:
    """Whether CLUS sorts only the rows of a feature that are not zero."""
    n_zero = np.count_nonzero((column == 0) | np.isnan(column))
    return not (column < 0).any() and 2 * n_zero > len(column)
