"""Trees for one label, grown by counting, are those of the other ways to grow them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from scipy import sparse

from ramify import _core
from ramify._base.features import FeatureSchema, make_dataset
from ramify.tree.plan import GrowthPlan, predict_tree
from tests.reference.trees import Settings
from tests.support.tree_problems import (
    Problem,
    assert_same,
    expected_tree,
    growth,
    make_columns,
    plan_of,
    problems,
)


def of_one_label(problem: Problem) -> Problem:
    return replace(problem, Y=problem.Y[:, :1], label_weights=problem.label_weights[:1])


@settings(deadline=None, max_examples=150)
@given(problem=problems(), wanted=growth)
def test_the_reference_grows_the_same(problem: Problem, wanted: Settings) -> None:
    problem = of_one_label(problem)
    assert_same(problem.grow(plan_of(wanted)), expected_tree(problem, wanted), 1)


def grow_both_ways(
    dataset: _core.Dataset, y: np.ndarray, weights: np.ndarray, plan: GrowthPlan
) -> tuple[_core.Tree, _core.Tree]:
    """Grow by counting, and by orders: a second label that weighs nothing rules counting out."""
    one = sparse.csr_array(y[:, None].astype(np.int32))
    two = sparse.csr_array(np.column_stack([y, 1 - y]).astype(np.int32))
    return (
        plan.grow(dataset, one, np.ones(1), weights),
        plan.grow(dataset, two, np.array([1.0, 0.0]), weights),
    )


# Few, many and more values than rows: the three ways to add rows up by value.
@pytest.mark.parametrize("n_values", [5, 200, 10_000])
@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("settings", [{}, {"min_samples_leaf": 4}, {"f_test": 0.05}], ids=str)
def test_orders_give_the_same_tree(
    n_values: int, missing: float, weighted: bool, settings: dict[str, Any]
) -> None:
    rng = np.random.default_rng(n_values)
    n = 700
    X = make_columns(rng, n, n_values)
    y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n) * X[:, 0].std() > 1).astype(int)
    X[rng.random(X.shape) < missing] = np.nan
    codes = rng.integers(0, 5, size=(n, 1)).astype(float)
    X = np.column_stack([X, codes])
    kinds = np.array([0] * 6 + [5], dtype=np.int32)
    dataset = make_dataset(X, FeatureSchema(kinds, {}))
    weights = rng.choice([0.5, 1.0, 3.0], n) if weighted else np.ones(n)
    counted, ordered = grow_both_ways(dataset, y, weights, GrowthPlan(n_jobs=1, **settings))
    np.testing.assert_array_equal(counted.feature, ordered.feature)
    np.testing.assert_array_equal(counted.threshold, ordered.threshold)
    np.testing.assert_array_equal(counted.category_branch, ordered.category_branch)
    for name in ("weight", "impurity", "gain", "share"):
        ours, theirs = getattr(counted, name), getattr(ordered, name)
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9, err_msg=name)
    scores, others = np.zeros((n, 1)), np.zeros((n, 2))
    predict_tree(counted, X, scores)
    predict_tree(ordered, X, others)
    np.testing.assert_allclose(scores[:, 0], others[:, 0], rtol=0, atol=1e-12)


def test_mostly_empty_columns_and_many_values_are_left_to_orders() -> None:
    rng = np.random.default_rng(0)
    X = sparse.random_array((300, 50), density=0.05, rng=rng, format="csc")
    y = (np.asarray(X.sum(axis=1)).ravel() > 1.2).astype(int)
    plain = make_dataset(X, FeatureSchema(np.zeros(50, np.int32), {}))
    full = make_dataset(X.toarray(), FeatureSchema(np.zeros(50, np.int32), {}))
    for dataset in (plain, full):
        counted, ordered = grow_both_ways(dataset, y, np.ones(300), GrowthPlan(n_jobs=1))
        np.testing.assert_array_equal(counted.feature, ordered.feature)
    n = 70_000  # more values than two bytes can number
    X = rng.permutation(n).astype(float)[:, None]
    dataset = make_dataset(X, FeatureSchema(np.zeros(1, np.int32), {}))
    y = (X[:, 0] > 1234).astype(int)
    counted, ordered = grow_both_ways(dataset, y, np.ones(n), GrowthPlan(n_jobs=1))
    assert counted.threshold[0] == ordered.threshold[0] == 1234.5


def test_rows_of_a_shared_data_set_are_counted_alone() -> None:
    rng = np.random.default_rng(1)
    X = rng.integers(0, 9, size=(200, 3)).astype(float)
    y = (X[:, 0] > 4).astype(np.int32)
    rows = np.flatnonzero(X[:, 1] > 3)
    schema = FeatureSchema(np.zeros(3, np.int32), {})
    plan = GrowthPlan(n_jobs=1)
    Y = sparse.csr_array(y[:, None])
    shared = plan.grow(make_dataset(X, schema), Y, np.ones(1), np.ones(200), rows)
    alone = plan.grow(make_dataset(X[rows], schema), Y[rows], np.ones(1), np.ones(len(rows)))
    np.testing.assert_array_equal(shared.feature, alone.feature)
    np.testing.assert_array_equal(shared.weight, alone.weight)


@pytest.mark.parametrize("weights", [[1e20, 1e20, 1.0, 1.0], [1.0, 1.0, 1e20, 1e20]])
def test_tiny_weights_beside_huge_ones(weights: list[float]) -> None:
    X = np.array([[4.0], [3.0], [2.0], [1.0]])
    dataset = make_dataset(X, FeatureSchema(np.zeros(1, np.int32), {}))
    one = sparse.csr_array(np.array([[1], [0], [1], [0]], dtype=np.int32))
    tree = GrowthPlan().grow(dataset, one, np.ones(1), np.array(weights))
    assert set(tree.threshold[tree.feature >= 0]) <= {1.5, 2.5, 3.5}
