"""Convert trees of the engine to the forms in which trees are compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify._core import Tree
from tests.support.clus_trees import TreeNode, TreeTest

PLAIN = (
    *("feature", "threshold", "weight", "n_samples", "impurity", "gain", "child_indptr", "child"),
    *("share", "category_indptr", "category_branch", "value_indptr", "value_label", "value"),
)


def plain_arrays(tree: Tree) -> dict[str, NDArray[Any]]:
    """Return copies of a tree's arrays, as stored in files before trees were packed."""
    return {name: getattr(tree, name).copy() for name in PLAIN}


def branches(tree: Tree, node: int) -> list[int]:
    return tree.child[tree.child_indptr[node] : tree.child_indptr[node + 1]].tolist()


def value(tree: Tree, node: int, n_labels: int) -> np.ndarray:
    """Return the label shares of a leaf."""
    shares = np.zeros(n_labels)
    span = slice(tree.value_indptr[node], tree.value_indptr[node + 1])
    shares[tree.value_label[span]] = tree.value[span]
    return shares


def category_branches(tree: Tree, node: int) -> list[int]:
    return tree.category_branch[
        tree.category_indptr[node] : tree.category_indptr[node + 1]
    ].tolist()


def tree_test(
    tree: Tree, node: int, names: Sequence[str], categories: Sequence[Sequence[str]], nary: bool
) -> TreeTest:
    feature = int(tree.feature[node])
    taken = category_branches(tree, node)
    if not taken:
        return TreeTest(names[feature], "numeric", float(tree.threshold[node]))
    if nary:
        values = ("yes", "no") if len(taken) == 2 else tuple(categories[feature])
        return TreeTest(names[feature], "nary", values=values)
    values = tuple(v for v, branch in zip(categories[feature], taken, strict=True) if branch == 0)
    return TreeTest(names[feature], "subset", values=values)


def as_printed(
    tree: Tree,
    names: Sequence[str],
    categories: Sequence[Sequence[str]],
    order: Sequence[int],
    *,
    multilabel: bool = False,
    nary: bool = False,
) -> TreeNode:
    """Convert a tree to the form of parsed CLUS trees; `order` has our labels in CLUS's order."""
    nodes = []
    for i in range(len(tree.feature)):
        if tree.feature[i] >= 0:
            nodes.append(TreeNode(tree_test(tree, i, names, categories, nary)))
            continue
        shares = value(tree, i, len(order))[list(order)]
        weight = float(tree.weight[i])
        if multilabel:
            predicted = tuple("1" if share >= 0.5 else "0" for share in shares)
            counts = tuple(weight * max(share, 1 - share) for share in shares)
            nodes.append(TreeNode(predicted=predicted, counts=counts, weight=weight))
        else:
            nodes.append(TreeNode(value=tuple(shares), weight=weight))
    for i, node in enumerate(nodes):
        node.branches.extend(nodes[child] for child in branches(tree, i))
    return nodes[0]
