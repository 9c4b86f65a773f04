"""The nodes that rows pass through: decision_path of trees and forests."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from ramify import (
    PCTClassifier,
    PCTForestClassifier,
    PCTForestRegressor,
    PCTMultiTargetForestClassifier,
    PCTRegressor,
)
from ramify.trees.pruning import find_rows

RNG = np.random.default_rng(0)
X = np.column_stack([RNG.normal(size=(150, 3)).round(1), RNG.integers(0, 5, 150)])
y = np.column_stack([X[:, 0] + X[:, 3], X[:, 1] * X[:, 2]]) + RNG.normal(size=(150, 2))
CLASSES = np.array(["a/b", "a/c", "d", "e"])[(X[:, 0] > 0) + 2 * (X[:, 3] % 2 > 0)]
GAPS = np.where(RNG.random(X.shape) < 0.15, np.nan, X)
UNKNOWN = np.column_stack([X[:, :3], np.where(np.arange(150) % 7 == 0, 9, X[:, 3])])


def expected_nodes(tree, rows):
    """Mark the nodes that reduced-error pruning finds for the rows, which it visits one by one."""
    marks = np.zeros((len(rows), len(tree.feature)), dtype=np.int8)
    for node, (reached, _) in enumerate(find_rows(tree, rows)):
        marks[reached, node] = 1
    return marks


@pytest.mark.parametrize("rows", [X, GAPS, UNKNOWN], ids=["complete", "missing", "unknown"])
@pytest.mark.parametrize("nominal_tests", ["subset", "single", "nary"])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array, sparse.csc_matrix])
def test_rows_pass_through_all_branches_of_missing_values(rows, nominal_tests, layout):
    tree = PCTClassifier(nominal_tests=nominal_tests, categorical_features=[3])
    tree.fit(GAPS, CLASSES)
    paths = tree.decision_path(layout(rows))
    assert isinstance(paths, sparse.csr_array)
    np.testing.assert_array_equal(paths.toarray(), expected_nodes(tree.tree_, rows))
    # The leaf of `apply` is one of them; a complete row passes through no other.
    leaves = tree.apply(rows)
    assert (np.asarray(paths[np.arange(150), leaves]) == 1).all()
    is_leaf = tree.tree_.feature < 0
    assert ((paths[:, is_leaf].sum(axis=1) > 1) <= (np.isnan(rows) | (rows == 9)).any(1)).all()


@pytest.mark.parametrize(
    "forest",
    [
        PCTForestClassifier(n_estimators=4, random_state=0),
        PCTForestRegressor(n_estimators=4, random_state=0),
        PCTMultiTargetForestClassifier(n_estimators=4, random_state=0),
    ],
    ids=lambda forest: type(forest).__name__,
)
def test_the_columns_of_a_tree_are_its_decision_path(forest):
    target = {"PCTForestClassifier": CLASSES, "PCTForestRegressor": y}.get(
        type(forest).__name__, np.column_stack([CLASSES, CLASSES == "d"])
    )
    forest.fit(X, target)
    paths, ends = forest.decision_path(GAPS)
    assert isinstance(paths, sparse.csr_array)
    assert (paths.shape, len(ends)) == ((150, ends[-1]), 5)
    for k, tree in enumerate(forest):
        found = paths[:, ends[k] : ends[k + 1]]
        np.testing.assert_array_equal(found.toarray(), tree.decision_path(GAPS).toarray())


def test_a_leaf_alone_is_the_path_of_every_row():
    tree = PCTRegressor(max_depth=0).fit(X, y)
    np.testing.assert_array_equal(tree.decision_path(X[:3]).toarray(), np.ones((3, 1)))
