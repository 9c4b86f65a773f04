"""Small problems for the engine and the reference implementation, and comparison of trees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from scipy import sparse

from ramify import _core
from ramify.data.features import FeatureSchema
from ramify.trees.growing import grow
from ramify.trees.options import TreeOptions
from ramify.trees.tree_data import LabelTargets, TreeData
from tests.reference import trees as reference
from tests.reference.trees import Column, Node, Settings
from tests.support.engine_trees import PLAIN, branches, category_branches, value


@dataclass
class Problem:
    """Features, labels and weights, small enough for the reference implementation."""

    X: np.ndarray
    n_categories: np.ndarray
    Y: np.ndarray
    label_weights: np.ndarray
    sample_weight: np.ndarray

    @property
    def columns(self) -> list[Column]:
        return [Column(x, int(k)) for x, k in zip(self.X.T, self.n_categories, strict=True)]

    def grow(self, options: TreeOptions, X: Any = None, **targets: Any) -> _core.Tree:
        Y = sparse.csr_array(self.Y.astype(np.int32))
        labels = LabelTargets(Y, self.label_weights, **targets)
        schema = FeatureSchema(self.n_categories, {})
        X = self.X if X is None else X
        return grow(TreeData(X, schema, labels, self.sample_weight), options)


def column(rng: np.random.Generator, n: int, kind: str) -> tuple[np.ndarray, int]:
    if kind == "normal":
        return rng.normal(size=n), 0
    if kind == "ties":
        return rng.integers(-2, 3, n).astype(float), 0
    if kind == "sparse":
        return rng.normal(size=n).round(1) * (rng.random(n) < 0.3), 0
    if kind == "constant":
        return np.full(n, rng.normal()), 0
    if kind == "huge":
        return rng.choice([-1e308, -1e-308, 0.0, 1e-308, 1e308], n), 0
    n_values = int(rng.integers(2, 6))
    return rng.integers(0, n_values, n).astype(float), n_values


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """Draw problems with missing, nominal and sparse features, weights and duplicate rows."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, 40))
    kinds = st.sampled_from(["normal", "ties", "sparse", "constant", "huge", "nominal"])
    parts = [column(rng, n, kind) for kind in draw(st.lists(kinds, min_size=1, max_size=5))]
    X = np.column_stack([x for x, _ in parts])
    X[rng.random(X.shape) < draw(st.sampled_from([0.0, 0.0, 0.2]))] = np.nan
    n_labels = draw(st.integers(1, 8))
    Y = rng.random((n, n_labels)) < rng.random(n_labels)
    if draw(st.booleans()):  # labels that depend on the features; the last is a child of the first
        Y[:, 0] |= np.nan_to_num(X[:, 0]) > 0
        Y[:, -1] &= Y[:, 0]
    if draw(st.booleans()) and n > 1:  # duplicate rows
        X[n // 2 :], Y[n // 2 :] = X[: n - n // 2], Y[: n - n // 2]
    weights = np.ones(n)
    if draw(st.booleans()):
        weights = rng.choice([0.0, 0.5, 1.0, 2.0, 3.7], n)
        weights[0] = 1.0
    label_weights = np.ones(n_labels) if draw(st.booleans()) else rng.random(n_labels) + 0.1
    n_categories = np.array([k for _, k in parts], dtype=np.int32)
    return Problem(X, n_categories, Y.astype(float), label_weights, weights)


growth = st.builds(
    Settings,
    criterion=st.sampled_from(["variance", "gini", "entropy", "gain_ratio"]),
    thresholds=st.sampled_from(["midpoint", "observed"]),
    nary=st.booleans(),
    subsets=st.booleans(),
    missing=st.sampled_from(["learn", "branch", "divide"]),
    max_depth=st.sampled_from([None, 0, 1, 3]),
    min_samples_split=st.sampled_from([2, 6]),
    min_samples_leaf=st.sampled_from([1, 2, 5]),
    min_weight=st.sampled_from([0.0, 1.5]),
    min_impurity_decrease=st.sampled_from([0.0, 0.05]),
    f_test=st.sampled_from([None, 0.05, 0.2]),
)


# Settings that the engine for one label supports.
counted_growth = growth.map(
    lambda wanted: replace(
        wanted, criterion="gini" if wanted.criterion == "gini" else "variance", nary=False
    )
)


def plan_of(wanted: Settings, **changes: Any) -> TreeOptions:
    by_entropy = wanted.criterion in ("entropy", "gain_ratio")
    options = TreeOptions(
        criterion=wanted.criterion,
        max_depth=wanted.max_depth,
        min_samples_split=wanted.min_samples_split,
        min_samples_leaf=wanted.min_samples_leaf,
        min_weight=wanted.min_weight,
        min_impurity_decrease=wanted.min_impurity_decrease,
        threshold_at=wanted.thresholds,
        nominal_tests="nary" if wanted.nary else "subset" if wanted.subsets else "single",
        missing=wanted.missing,
        f_test=None if by_entropy else wanted.f_test,
        n_jobs=1,
    )
    return replace(options, **changes)


def assert_same(tree: _core.Tree, expected: Node, n_labels: int) -> None:
    """Compare two trees node by node: tests, thresholds, shares, weights and leaf vectors."""
    waiting = [(0, expected)]
    while waiting:
        i, node = waiting.pop()
        assert tree.weight[i] == pytest.approx(node.weight)
        if node.is_leaf:
            assert tree.feature[i] == -1
            np.testing.assert_allclose(value(tree, i, n_labels), node.value, atol=1e-12)
            continue
        assert tree.feature[i] == node.test.column
        children = branches(tree, i)
        assert len(children) == len(node.children)
        if node.test.kind == "numeric":
            assert tree.threshold[i] == node.test.threshold
        elif node.test.kind == "subset":
            taken = category_branches(tree, i)
            assert tuple(v for v, b in enumerate(taken) if b == 0) == node.test.values
        else:
            taken = category_branches(tree, i)
            assert tuple(v for v, b in enumerate(taken) if b >= 0) == node.test.values
        shares = tree.share[tree.child_indptr[i] : tree.child_indptr[i + 1]]
        np.testing.assert_allclose(shares, node.shares, atol=1e-12)
        waiting.extend(zip(children, node.children, strict=True))


def expected_tree(problem: Problem, wanted: Settings, **targets: Any) -> Node:
    if wanted.criterion in ("entropy", "gain_ratio"):
        wanted = replace(wanted, f_test=None)
    return reference.grow(
        problem.columns,
        problem.Y,
        wanted,
        sample_weight=problem.sample_weight,
        label_weights=problem.label_weights,
        **targets,
    )


def assert_equal_trees(a: _core.Tree, b: _core.Tree) -> None:
    """Check that two trees are equal bit for bit."""
    for name in PLAIN:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


def is_eligible(grow: Callable[[], _core.Tree]) -> bool:
    """Return whether the engine that `grow` requests supports its options and data."""
    try:
        grow()
    except ValueError as error:
        if "does not support these options or data" in str(error):
            return False
        raise
    return True


def make_columns(
    rng: np.random.Generator, n: int, n_values: int, n_columns: int = 6
) -> np.ndarray:
    """Return columns with about `n_values` distinct values, one of them with many zeros."""
    X = rng.normal(size=(n, n_columns))
    X = np.round(X * n_values / 6) if n_values < n else X
    X[:, 3] *= rng.random(n) < 0.4
    X[:, 4] = 2.0
    return X
