"""Trees for one label: the counting engine equals the general engine and the reference."""

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
from ramify.trees.views import predict_tree
from tests.reference.trees import Settings
from tests.support.budget import budget
from tests.support.tree_problems import (
    Problem,
    assert_equal_trees,
    assert_same,
    counted_growth,
    expected_tree,
    growth,
    is_eligible,
    make_columns,
    plan_of,
    problems,
)


def of_one_label(problem: Problem) -> Problem:
    return replace(problem, Y=problem.Y[:, :1], label_weights=problem.label_weights[:1])


@budget(75)
@given(problem=problems(), wanted=growth)
def test_trees_equal_the_reference(problem: Problem, wanted: Settings) -> None:
    problem = of_one_label(problem)
    assert_same(problem.grow(plan_of(wanted)), expected_tree(problem, wanted), 1)


@budget(75)
@given(problem=problems(), wanted=counted_growth, n_jobs=st.sampled_from([1, 3]))
def test_each_engine_equals_the_reference(problem: Problem, wanted: Settings, n_jobs: int) -> None:
    problem = of_one_label(problem)
    expected = expected_tree(problem, wanted)
    plan = plan_of(wanted, n_jobs=n_jobs)
    assert_same(problem.grow(replace(plan, engine="general")), expected, 1)
    # The counting engine does not support columns that are mostly zeros.
    counting = replace(plan, engine="counting")
    assume(is_eligible(lambda: problem.grow(counting)))
    assert_same(problem.grow(counting), expected, 1)


def make_problem(
    n_values: int, missing: float, weighted: bool, n: int = 700, n_columns: int = 6
) -> Problem:
    """Make rows with one label that depends on three features; the last feature is nominal."""
    rng = np.random.default_rng(n_values)
    X = make_columns(rng, n, n_values, n_columns)
    y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n) * X[:, 0].std() > 1).astype(int)
    X[rng.random(X.shape) < missing] = np.nan
    X = np.column_stack([X, rng.integers(0, 5, size=(n, 1)).astype(float)])
    kinds = np.array([0] * n_columns + [5], dtype=np.int32)
    weights = rng.choice([0.5, 1.0, 3.0], n) if weighted else np.ones(n)
    return Problem(X, kinds, y[:, None].astype(float), np.ones(1), weights)


# Few values, many values, and more values than rows: three ways to sum rows by value.
@pytest.mark.parametrize("n_values", [5, 200, 10_000])
@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("settings", [{}, {"min_samples_leaf": 4}, {"f_test": 0.05}], ids=str)
def test_counting_equals_the_general_engine(
    n_values: int, missing: float, weighted: bool, settings: dict[str, Any]
) -> None:
    problem = make_problem(n_values, missing, weighted)
    plan = TreeOptions(n_jobs=1, **settings)
    counted = problem.grow(replace(plan, engine="counting"))
    general = problem.grow(replace(plan, engine="general"))
    np.testing.assert_array_equal(counted.feature, general.feature)
    np.testing.assert_array_equal(counted.threshold, general.threshold)
    np.testing.assert_array_equal(counted.category_branch, general.category_branch)
    for name in ("weight", "impurity", "gain", "share"):
        ours, theirs = getattr(counted, name), getattr(general, name)
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9, err_msg=name)
    scores, others = np.zeros(problem.Y.shape), np.zeros(problem.Y.shape)
    predict_tree(counted, problem.X, scores)
    predict_tree(general, problem.X, others)
    np.testing.assert_allclose(scores, others, rtol=0, atol=1e-12)
    # The fastest eligible engine is the default.
    assert_equal_trees(counted, problem.grow(plan))


# Large enough for threads to share a node and to grow separate subtrees.
@pytest.mark.parametrize("n_values", [5, 100, 10_000])
@pytest.mark.parametrize(("missing", "weighted"), [(0.0, False), (0.1, False), (0.1, True)])
def test_number_of_threads_does_not_change_the_tree(
    n_values: int, missing: float, weighted: bool
) -> None:
    problem = make_problem(n_values, missing, weighted, n=6000, n_columns=70)
    plan = TreeOptions(engine="counting", n_jobs=1)
    alone = problem.grow(plan)
    assert (alone.feature >= 0).sum() > 50
    for n_jobs in (2, 5):
        assert_equal_trees(alone, problem.grow(replace(plan, n_jobs=n_jobs)))


def test_values_are_not_counted_in_sparse_columns_or_if_there_are_many() -> None:
    rng = np.random.default_rng(0)
    X = sparse.csc_array(rng.random((300, 50)) * (rng.random((300, 50)) < 0.05))
    y = (np.asarray(X.sum(axis=1)).ravel() > 1.2).astype(float)
    empty = Problem(X, np.zeros(50, np.int32), y[:, None], np.ones(1), np.ones(300))
    n = 70_000  # more values than two bytes can represent
    X = rng.permutation(n).astype(float)[:, None]
    y = (X[:, 0] > 1234).astype(float)
    long = Problem(X, np.zeros(1, np.int32), y[:, None], np.ones(1), np.ones(n))
    plan = TreeOptions(n_jobs=1)
    for problem in (empty, long):
        with pytest.raises(ValueError, match=r"counting does not support .* few enough values"):
            problem.grow(replace(plan, engine="counting"))
        assert_equal_trees(problem.grow(plan), problem.grow(replace(plan, engine="few_labels")))
    assert long.grow(plan).threshold[0] == 1234.5


def test_rows_of_a_shared_data_set_are_counted_separately() -> None:
    rng = np.random.default_rng(1)
    X = rng.integers(0, 9, size=(200, 3)).astype(float)
    y = (X[:, 0] > 4).astype(np.int32)
    rows = np.flatnonzero(X[:, 1] > 3)
    schema = FeatureSchema.numeric(3)
    options = TreeOptions(n_jobs=1, engine="counting")
    Y = sparse.csr_array(y[:, None])
    shared = grow(TreeData(X, schema, LabelTargets(Y), np.ones(200)), options, rows)
    part = TreeData(X[rows], schema, LabelTargets(Y[rows]), np.ones(len(rows)))
    alone = grow(part, options)
    np.testing.assert_array_equal(shared.feature, alone.feature)
    np.testing.assert_array_equal(shared.weight, alone.weight)


@pytest.mark.parametrize("weights", [[1e20, 1e20, 1.0, 1.0], [1.0, 1.0, 1e20, 1e20]])
def test_very_small_and_very_large_weights(weights: list[float]) -> None:
    X = np.array([[4.0], [3.0], [2.0], [1.0]])
    one = LabelTargets(sparse.csr_array(np.array([[1], [0], [1], [0]], dtype=np.int32)))
    data = TreeData(X, FeatureSchema.numeric(1), one, np.array(weights))
    tree = grow(data, TreeOptions(engine="counting"))
    assert set(tree.threshold[tree.feature >= 0]) <= {1.5, 2.5, 3.5}
