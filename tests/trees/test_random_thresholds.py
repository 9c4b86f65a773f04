"""Trees with random tests equal those of the slow reference, which draws the same numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse

from ramify.data.features import FeatureSchema
from ramify.trees.growing import grow
from ramify.trees.options import TreeOptions
from ramify.trees.tree_data import LabelTargets, TreeData
from tests.reference.trees import Settings
from tests.support.budget import budget
from tests.support.tree_problems import (
    Problem,
    assert_equal_trees,
    assert_same,
    expected_tree,
    growth,
    is_eligible,
    plan_of,
    problems,
)

random_growth = st.builds(
    lambda wanted, seed: replace(wanted, seed=seed),
    growth.filter(lambda wanted: wanted.criterion != "gain_ratio"),
    st.integers(0, 2**63),
)


def random_plan(wanted: Settings, **changes: Any) -> TreeOptions:
    return plan_of(wanted, splitter="random", seed=wanted.seed, **changes)


def stored(problem: Problem) -> sparse.csc_array:
    """Return X with only those of its cells that are not zero."""
    X = sparse.csc_array((np.nan_to_num(problem.X) != 0) | np.isnan(problem.X))
    rows, columns = X.nonzero()
    return sparse.csc_array((problem.X[rows, columns], (rows, columns)), shape=X.shape)


@budget(100)
@given(problem=problems(), wanted=random_growth)
def test_trees_equal_the_reference(problem: Problem, wanted: Settings) -> None:
    tree = problem.grow(random_plan(wanted))
    assert_same(tree, expected_tree(problem, wanted), problem.Y.shape[1])
    assert_equal_trees(tree, problem.grow(random_plan(wanted, n_jobs=3)))
    assert_equal_trees(tree, problem.grow(random_plan(wanted), stored(problem)))


@budget(100)
@given(problem=problems(), wanted=random_growth, width=st.integers(1, 4))
def test_trees_for_few_labels_equal_the_reference(
    problem: Problem, wanted: Settings, width: int
) -> None:
    problem.Y = few_of_each_row(problem.Y, width)
    plan = random_plan(wanted)
    assume(is_eligible(lambda: problem.grow(replace(plan, engine="few_labels"))))
    expected = expected_tree(problem, wanted)
    for engine in ("few_labels", "general"):
        assert_same(problem.grow(replace(plan, engine=engine)), expected, problem.Y.shape[1])


@budget(100)
@given(problem=problems(), wanted=growth, width=st.integers(1, 4))
def test_the_best_trees_for_few_labels_equal_the_reference(
    problem: Problem, wanted: Settings, width: int
) -> None:
    problem.Y = few_of_each_row(problem.Y, width)
    plan = plan_of(wanted)
    assume(is_eligible(lambda: problem.grow(replace(plan, engine="few_labels"))))
    expected = expected_tree(problem, wanted)
    for engine in ("few_labels", "general"):
        assert_same(problem.grow(replace(plan, engine=engine)), expected, problem.Y.shape[1])


def few_of_each_row(Y: np.ndarray, width: int) -> np.ndarray:
    """Keep the first labels of each row."""
    return Y * (Y.cumsum(axis=1) <= width)


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_labels", [1, 3, 40])
def test_large_trees_for_few_labels_equal_the_general_ones(
    n_labels: int, weighted: bool, missing: float
) -> None:
    rng = np.random.default_rng(n_labels)
    X = rng.normal(size=(2_000, 6))
    X[:, 3] *= rng.random(len(X)) < 0.3
    classes = np.digitize(X[:, 0] + 0.3 * rng.normal(size=len(X)), np.linspace(-2, 2, n_labels))
    Y = np.eye(n_labels + 1)[classes][:, 1:]
    Y[:, 0] = Y[:, : n_labels // 2 + 1].any(axis=1)
    X[rng.random(X.shape) < missing] = np.nan
    weights = rng.choice([0.5, 1.0, 2.0], len(X)) if weighted else np.ones(len(X))
    for X_of_kind in (X, sparse.csc_array(X)):
        data = TreeData(
            X_of_kind,
            FeatureSchema(np.zeros(6, np.int32), {}),
            LabelTargets(sparse.csr_array(Y.astype(np.int32))),
            weights,
        )
        for changes in ({}, {"splitter": "random"}, {"splitter": "random", "max_features": 2}):
            plan = TreeOptions(n_jobs=1, min_samples_leaf=2, seed=4, **changes)
            few, general = (
                grow(data, replace(plan, engine=name)) for name in ("few_labels", "general")
            )
            np.testing.assert_array_equal(few.feature, general.feature)
            np.testing.assert_array_equal(few.threshold, general.threshold)
            np.testing.assert_allclose(few.value, general.value, atol=1e-9)
            np.testing.assert_allclose(few.gain, general.gain, rtol=1e-6, atol=1e-6)


def test_the_engine_for_few_labels_says_what_it_does_not_support() -> None:
    X = np.arange(8.0)[:, None]
    Y = np.ones((8, 5))
    problem = Problem(X, np.zeros(1, np.int32), Y, np.ones(5), np.ones(8))
    with pytest.raises(ValueError, match="at most four of each row"):
        problem.grow(TreeOptions(engine="few_labels"))
    problem.Y[:, 0] = 0
    with pytest.raises(ValueError, match="criterion must be variance"):
        problem.grow(TreeOptions(engine="few_labels", criterion="entropy"))
