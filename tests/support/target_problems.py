"""Small problems with several targets, and comparison of their trees with the reference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from ramify._core import Tree
from tests.reference.trees import Column, Node
from tests.support.clus_trees import TreeNode
from tests.support.engine_trees import branches, category_branches, tree_test
from tests.support.tree_problems import column


@dataclass
class TargetProblem:
    """Features, targets and weights; targets are numbers, or codes if there are classes."""

    X: np.ndarray
    n_categories: np.ndarray
    y: np.ndarray
    n_classes: tuple[int, ...]  # empty: numeric
    sample_weight: np.ndarray

    @property
    def columns(self) -> list[Column]:
        return [Column(x, int(k)) for x, k in zip(self.X.T, self.n_categories, strict=True)]

    @property
    def categorical(self) -> np.ndarray:
        return self.n_categories > 0


@st.composite
def target_problems(draw: st.DrawFn, *, nominal: bool) -> TargetProblem:
    """Draw problems with missing, nominal and sparse features, unknown targets and weights."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(2, 40))
    kinds = st.sampled_from(["normal", "ties", "sparse", "constant", "nominal"])
    parts = [column(rng, n, kind) for kind in draw(st.lists(kinds, min_size=1, max_size=4))]
    X = np.column_stack([x for x, _ in parts])
    for j, (_, k) in enumerate(parts):  # every declared category occurs
        X[: min(k, n), j] = np.arange(min(k, n)) if k else X[: min(k, n), j]
    used = zip(X.T, parts, strict=True)
    n_categories = np.array([int(x.max()) + 1 if k else 0 for x, (_, k) in used])
    missing = rng.random(X.shape) < draw(st.sampled_from([0.0, 0.0, 0.2]))
    missing[:6] = False
    X[missing] = np.nan
    n_targets = draw(st.integers(1, 4))
    if nominal:
        n_classes = tuple(int(k) for k in rng.integers(1, 4, n_targets))
        y = np.column_stack([rng.integers(0, k, n) for k in n_classes]).astype(float)
        y[: max(n_classes), :] = np.minimum(
            np.arange(max(n_classes))[: min(n, max(n_classes)), None], np.array(n_classes) - 1
        )
        n_classes = tuple(int(v.max()) + 1 for v in y.T)
    else:
        n_classes = ()
        y = rng.normal(size=(n, n_targets)) * 10.0 ** rng.integers(-3, 4, n_targets)
        if draw(st.booleans()):
            y = np.round(y)
        y[:, 0] += np.nan_to_num(X[:, 0])
    unknown = rng.random(y.shape) < draw(st.sampled_from([0.0, 0.0, 0.3]))
    unknown[:4] = False
    y[unknown] = np.nan
    weights = np.ones(n)
    if draw(st.booleans()):
        weights = rng.choice([0.0, 0.5, 1.0, 2.0, 3.7], n)
        weights[:4] = 1.0
    return TargetProblem(X, n_categories.astype(np.int32), y, n_classes, weights)


def assert_same_tree(
    tree: Tree, expected: Node, n_columns: int, values: Callable[[Node], np.ndarray]
) -> None:
    """Compare two trees; `values` gives what a leaf of the reference stores, NaN if unknown."""
    waiting = [(0, expected, values(expected))]
    while waiting:
        i, node, above = waiting.pop()
        here = np.where(np.isnan(values(node)), above, values(node))
        assert tree.weight[i] == pytest.approx(node.weight)
        if node.is_leaf:
            assert tree.feature[i] == -1
            np.testing.assert_allclose(stored(tree, i, n_columns), here, rtol=1e-9, atol=1e-9)
            continue
        assert tree.feature[i] == node.test.column
        if node.test.kind == "numeric":
            assert tree.threshold[i] == node.test.threshold
        else:
            wanted = 0 if node.test.kind == "subset" else None
            taken = category_branches(tree, i)
            chosen = [v for v, b in enumerate(taken) if (b == wanted if wanted == 0 else b >= 0)]
            assert tuple(chosen) == node.test.values
        pairs = zip(branches(tree, i), node.children, strict=True)
        waiting.extend((child, other, here) for child, other in pairs)


def stored(tree: Tree, node: int, n_columns: int, fill: float = 0.0) -> np.ndarray:
    """Return what a node stores, `fill` for columns without a value."""
    values = np.full(n_columns, fill)
    span = slice(tree.value_indptr[node], tree.value_indptr[node + 1])
    values[tree.value_label[span]] = tree.value[span]
    return values


def as_printed(
    tree: Tree,
    names: Sequence[str],
    categories: Sequence[Sequence[str]],
    n_columns: int,
    classes: Sequence[Any] = (),
) -> TreeNode:
    """Convert a tree of the compatible mode to the form of parsed CLUS trees."""
    nodes = []
    for i in range(len(tree.feature)):
        if tree.feature[i] >= 0:
            nodes.append(TreeNode(tree_test(tree, i, names, categories, nary=False)))
            continue
        weight = float(tree.weight[i])
        if not classes:
            values = stored(tree, i, n_columns, np.nan)
            nodes.append(TreeNode(value=tuple(values), weight=weight))
            continue
        counts = np.split(stored(tree, i, n_columns), np.cumsum([len(c) for c in classes])[:-1])
        predicted = tuple(str(c[k.argmax()]) for c, k in zip(classes, counts, strict=True))
        most = tuple(float(k.max()) for k in counts)
        nodes.append(TreeNode(predicted=predicted, counts=most, weight=weight))
    for i, node in enumerate(nodes):
        node.branches.extend(nodes[child] for child in branches(tree, i))
    return nodes[0]
