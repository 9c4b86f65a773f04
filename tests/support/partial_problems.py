"""Small problems with labels that are known for some rows only, and comparison of their trees."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import strategies as st
from scipy import sparse

from ramify import Hierarchy
from ramify.data.features import FeatureSchema
from ramify.labels.unknown import close_unknown
from ramify.trees.tree_data import LabelTargets, TreeData
from tests.reference import unknown as reference
from tests.reference.trees import Node
from tests.support.engine_trees import branches, category_branches, value
from tests.support.label_graphs import build, label_graphs
from tests.support.tree_problems import Problem, problems


@dataclass
class PartialProblem:
    """A problem with a hierarchy and labels that are 1, 0 or NaN."""

    problem: Problem
    hierarchy: Hierarchy
    y: np.ndarray

    @property
    def targets(self) -> LabelTargets:
        Y = sparse.csr_array((self.y == 1).astype(np.int32))
        unknown = close_unknown(self.hierarchy, Y, np.isnan(self.y))
        return LabelTargets(
            Y, self.problem.label_weights, unknown=unknown, hierarchy=self.hierarchy
        )

    def data(self, targets: LabelTargets) -> TreeData:
        schema = FeatureSchema(self.problem.n_categories, {})
        return TreeData(self.problem.X, schema, targets, self.problem.sample_weight)


@st.composite
def partial_problems(draw: st.DrawFn) -> PartialProblem:
    """Draw labels of a tree or DAG that are hidden at random, by subtree or by row."""
    problem = draw(problems())
    hierarchy = build(draw(label_graphs()))
    n, n_labels = len(problem.Y), hierarchy.n_labels
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    y = (rng.random((n, n_labels)) < 0.4).astype(float)
    if draw(st.booleans()):
        y[:, 0] = np.nan_to_num(problem.X[:, 0]) > 0
    Y = hierarchy.close(y.astype(int)).toarray().astype(float)
    rate = draw(st.sampled_from([0.1, 0.5, 0.9]))
    hidden = rng.random(y.shape) < rate
    if draw(st.booleans()):  # whole subtrees
        for label in hierarchy.labels:
            below = hierarchy.indices(hierarchy.descendants(label))
            hidden[:, below] |= hidden[:, [hierarchy.index(label)]]
    if draw(st.booleans()):
        hidden[rng.random(n) < 0.3] = True
    Y[hidden] = np.nan
    problem.label_weights = rng.random(n_labels) + 0.1
    return PartialProblem(problem, hierarchy, reference.closed(hierarchy, Y))


def assert_same(tree, i: int, expected: Node, rows: reference.Rows, above=None) -> None:
    """Compare the nodes of a tree with those of the reference, and what leaves predict."""
    shares = rows.shares(expected, above)
    assert tree.weight[i] == pytest.approx(expected.weight)
    if expected.is_leaf:
        assert tree.feature[i] == -1
        found = value(tree, i, rows.y.shape[1])
        np.testing.assert_allclose(found, shares, atol=1e-9)
        indptr, parents = rows.hierarchy.parent_rows
        children = np.repeat(np.arange(rows.y.shape[1]), np.diff(indptr))
        assert (found[children] <= found[parents] + 1e-12).all()
        return
    assert tree.feature[i] == expected.test.column
    assert tree.gain[i] == pytest.approx(expected.score)
    if expected.test.kind == "numeric":
        assert tree.threshold[i] == expected.test.threshold
    else:
        taken = category_branches(tree, i)
        kept = (lambda b: b == 0) if expected.test.kind == "subset" else (lambda b: b >= 0)
        assert tuple(v for v, b in enumerate(taken) if kept(b)) == expected.test.values
    for child, node in zip(branches(tree, i), expected.children, strict=True):
        assert_same(tree, child, node, rows, shares)
