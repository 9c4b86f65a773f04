"""Trees equal those of the slow, readable reference."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from ramify.trees.views import predict_tree
from tests.reference import trees as reference
from tests.reference.trees import Settings
from tests.support.budget import budget
from tests.support.tree_problems import (
    Problem,
    assert_equal_trees,
    assert_same,
    expected_tree,
    growth,
    plan_of,
    problems,
)

quickly = budget(30)


@budget(150)
@given(problem=problems(), wanted=growth)
def test_trees_equal_the_reference(problem: Problem, wanted: Settings) -> None:
    tree = problem.grow(plan_of(wanted))
    expected = expected_tree(problem, wanted)
    assert_same(tree, expected, problem.Y.shape[1])
    scores = np.zeros(problem.Y.shape)
    predict_tree(tree, problem.X, scores)
    by_reference = reference.predict(expected, problem.columns, wanted)
    np.testing.assert_allclose(scores, by_reference, atol=1e-12)


@budget(100)
@given(problem=problems(), wanted=growth, seed=st.integers(0, 99))
def test_forest_members_equal_trees_grown_on_their_samples(
    problem: Problem, wanted: Settings, seed: int
) -> None:
    drawn = np.random.default_rng(seed).integers(0, 3, len(problem.Y))
    drawn[seed % len(drawn)] = 1
    problem.sample_weight = problem.sample_weight * drawn
    kept = problem.sample_weight > 0
    if not kept.any():
        return
    alone = Problem(
        problem.X[kept],
        problem.n_categories,
        problem.Y[kept],
        problem.label_weights,
        problem.sample_weight[kept],
    )
    tree = problem.grow(plan_of(wanted), many=True)
    assert_same(tree, expected_tree(alone, wanted), problem.Y.shape[1])


@quickly
@given(problem=problems(), wanted=growth)
def test_sparse_and_dense_features_give_the_same_tree(problem: Problem, wanted: Settings) -> None:
    stored = sparse.csc_array(np.nan_to_num(problem.X) != 0) + sparse.csc_array(
        np.isnan(problem.X)
    )
    rows, columns = stored.nonzero()
    X = sparse.csc_array((problem.X[rows, columns], (rows, columns)), shape=problem.X.shape)
    dense, by_columns = problem.grow(plan_of(wanted)), problem.grow(plan_of(wanted), X)
    assert_equal_trees(dense, by_columns)
    one, other = np.zeros(problem.Y.shape), np.zeros(problem.Y.shape)
    predict_tree(dense, problem.X, one)
    predict_tree(by_columns, X.tocsr(), other)
    np.testing.assert_array_equal(one, other)


@quickly
@given(problem=problems(), wanted=growth, seed=st.integers(0, 99))
def test_number_of_threads_does_not_change_the_tree(
    problem: Problem, wanted: Settings, seed: int
) -> None:
    for changes in ({}, {"splitter": "random"}, {"max_features": 1}):
        plan = plan_of(wanted, seed=seed, **changes)
        one = problem.grow(plan)
        assert_equal_trees(one, problem.grow(replace(plan, n_jobs=3)))
        assert_equal_trees(one, problem.grow(plan))


@quickly
@given(problem=problems(), wanted=growth)
def test_exclusive_classes_use_the_entropy_of_the_class_variable(
    problem: Problem, wanted: Settings
) -> None:
    classes = np.argmax(problem.Y, axis=1)
    problem.Y = np.eye(problem.Y.shape[1])[classes]
    problem.label_weights = np.ones(problem.Y.shape[1])
    tree = problem.grow(plan_of(wanted), exclusive=True)
    targets = [list(range(problem.Y.shape[1]))]
    expected = expected_tree(problem, wanted, targets=targets)
    assert_same(tree, expected, problem.Y.shape[1])


@quickly
@given(problem=problems(), wanted=growth)
def test_integer_weights_equal_repeated_rows(problem: Problem, wanted: Settings) -> None:
    counts = np.random.default_rng(0).integers(0, 3, len(problem.Y))
    counts[0] = 1
    # min_samples_leaf counts a row once whatever its weight, so only min_weight may be used; so do
    # the limits of C4.5 and the evidence that missing values tell something.
    wanted = replace(wanted, min_samples_leaf=0, min_samples_split=0, f_test=None)
    if wanted.criterion == "gain_ratio":
        wanted = replace(wanted, criterion="entropy")
    if wanted.missing == "learn":
        wanted = replace(wanted, missing="branch")
    weighted = replace(problem, sample_weight=counts.astype(float))
    repeated = Problem(
        np.repeat(problem.X, counts, axis=0),
        problem.n_categories,
        np.repeat(problem.Y, counts, axis=0),
        problem.label_weights,
        np.ones(counts.sum()),
    )
    a, b = weighted.grow(plan_of(wanted)), repeated.grow(plan_of(wanted))
    np.testing.assert_array_equal(a.feature, b.feature)
    np.testing.assert_array_equal(a.threshold, b.threshold)
    np.testing.assert_allclose(a.value, b.value, atol=1e-12)
