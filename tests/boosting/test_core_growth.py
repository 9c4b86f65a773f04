"""Limits of growth, and random draws of rows and features."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference import gradient_boosting as reference
from tests.support.boosting_problems import (
    Problem,
    bytes_of,
    depths,
    margins_of,
    n_leaves,
    problems,
    trees_of,
)
from tests.support.budget import budget

quickly = budget(30)


@quickly
@given(problems())
def test_limits_are_respected(problem):
    wanted, limit = problem.settings, problem.options.get("max_leaf_nodes", 0)
    for arrays in trees_of(problem.train(3)):
        assert depths(arrays).max() <= wanted.max_depth
        assert n_leaves(arrays) <= (limit or np.inf)
        rows = reference.reached(arrays, problem.X[problem.learning])
        if len(rows) > 1:
            assert min(map(len, rows)) >= wanted.min_samples_leaf
        assert (arrays["gain"][arrays["feature"] >= 0] > 0).all()


@quickly
@given(problems(), st.integers(0, 3))
def test_best_first_growth_without_a_binding_limit_equals_growth_by_levels(problem, more):
    by_levels = problem.with_options(max_leaf_nodes=0).train(3)
    limit = max(n_leaves(arrays) for arrays in trees_of(by_levels)) + more
    best_first = problem.with_options(max_leaf_nodes=limit).train(3)
    assert bytes_of(best_first) == bytes_of(by_levels)


@quickly
@given(problems(), st.integers(1, 6))
def test_best_first_growth_splits_the_nodes_with_the_largest_gain(problem, limit):
    """The tests are those of the whole tree that are reached by always taking the largest gain."""
    problem = problem.with_options(max_leaf_nodes=0)
    whole = trees_of(problem.train(1))[0]
    part = trees_of(problem.with_options(max_leaf_nodes=limit).train(1))[0]
    gains, open_nodes = [], [0]
    while len(gains) + 1 < limit:
        node = max(open_nodes, key=lambda n: whole["gain"][n])
        if whole["feature"][node] < 0:
            break
        gains.append(whole["gain"][node])
        open_nodes.remove(node)
        open_nodes += [whole["yes"][node], whole["no"][node]]
    assert sorted(part["gain"][part["feature"] >= 0]) == sorted(gains)


def test_nodes_are_in_depth_first_order():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    tree = trees_of(Problem.of(X, X > 0, max_depth=4).train(1))[0]
    inner = np.flatnonzero(tree["feature"] >= 0)
    assert len(inner) > 5
    assert (tree["yes"][inner] == inner + 1).all()
    assert tree["leaf"][tree["feature"] < 0].tolist() == list(range(len(inner) + 1))


def test_depth_zero_is_a_leaf_for_all_rows():
    Y = np.arange(30)[:, None] % 3 == 0
    problem = Problem.of(np.arange(30)[:, None], Y, max_depth=0, learning_rate=0.5)
    tree = trees_of(problem.train(1))[0]
    assert tree["feature"].tolist() == [-1]
    assert tree["value"] == pytest.approx([-0.5 * (15 - 10) / (7.5 + 1)])


@pytest.mark.parametrize(
    "X",
    [
        np.zeros((20, 0)),
        np.ones((20, 2)),
        np.full((20, 2), np.nan),
        np.column_stack([np.full(20, np.nan), np.full(20, -7.0)]),
    ],
)
def test_columns_without_a_test(X):
    problem = Problem.of(X, np.arange(20)[:, None] < 5, min_samples_leaf=1)
    for arrays in trees_of(problem.train(2)):
        assert arrays["feature"].tolist() == [-1]


@pytest.mark.parametrize("loss", ["logistic", "softmax"])
def test_one_row(loss):
    problem = Problem.of([[1.0, 2.0]], [[0, 1, 0]], loss=loss, min_samples_leaf=1)
    booster, model = problem.booster(), problem.empty_model()
    before = booster.loss(False)
    booster.learn(model)
    assert booster.loss(False) < before
    assert problem.predict(model).argmax() == 1


# ---- draws ---------------------------------------------------------------------------------


def drawn_rows(n: int, n_sampled: int, seed: int, n_rounds: int) -> np.ndarray:
    """Return which rows each tree has used: row i is the only one with output i.

    A tree without a test has the value -G / (H + 1) for all rows. G is half the number of rows
    drawn, less 1 for outputs of rows that were drawn.
    """
    problem = Problem.of(np.zeros((n, 1)), np.eye(n), max_depth=0, learning_rate=1e-6)
    problem = problem.with_options(n_sampled_rows=n_sampled, seed=seed)
    values = np.array([arrays["value"] for arrays in trees_of(problem.train(n_rounds))])
    return values * 1e6 * (n_sampled / 4 + 1) + n_sampled / 2 > 0.5


@pytest.mark.parametrize("n_sampled", [1, 7, 19, 20])
def test_rows_are_drawn_without_replacement_and_evenly(n_sampled):
    drawn = np.vstack([drawn_rows(20, n_sampled, seed, 50) for seed in range(20)])
    assert (drawn.sum(axis=1) == n_sampled).all()
    share = n_sampled / 20
    deviation = np.sqrt(share * (1 - share) / len(drawn))
    np.testing.assert_allclose(drawn.mean(axis=0), share, atol=4.5 * deviation + 1e-12)
    if n_sampled == 7:  # pairs are drawn together as often as they should
        together = (drawn[:, :, None] & drawn[:, None, :]).mean(axis=0)
        pairs = together[~np.eye(20, dtype=bool)]
        expected = 7 * 6 / (20 * 19)
        assert np.abs(pairs - expected).max() < 5 * np.sqrt(expected / len(drawn))
        assert len(np.unique(drawn, axis=0)) > 900


@pytest.mark.parametrize("n_sampled", [1, 3])
def test_features_are_drawn_for_each_tree(n_sampled):
    rng = np.random.default_rng(5)
    X = np.hstack(
        [rng.normal(size=(300, 4)), rng.normal(size=(300, 6)).clip(1.5), np.ones((300, 1))]
    )
    X[:, 4:10] -= 1.5  # sparse
    problem = Problem.of(X, X[:, :5] > 0, max_depth=6, min_samples_leaf=1, learning_rate=0.01)
    problem = problem.with_options(n_sampled_features=n_sampled, seed=1)
    used = [set(arrays["feature"].tolist()) - {-1} for arrays in trees_of(problem.train(60))]
    assert max(map(len, used)) == n_sampled
    assert set().union(*used) == set(range(10))  # the constant feature is never drawn
    if n_sampled == 1:
        assert min(map(len, used)) == 1


@quickly
@given(problems(), st.integers(1, 30), st.integers(1, 3))
def test_sampling_is_reproducible(problem, n_rows, n_features):
    problem = problem.with_options(n_sampled_rows=n_rows, n_sampled_features=n_features)
    booster, model = problem.booster(), problem.empty_model()
    for _ in range(3):
        booster.learn(model)
    assert bytes_of(problem.train(3)) == bytes_of(model)
    assert margins_of(booster, problem).tobytes() == problem.predict(model).tobytes()
    ones = replace(problem, weights=np.ones(len(problem.X)))
    for arrays in trees_of(ones.train(3)):
        assert arrays["weight"][0] == min(n_rows, len(problem.learning))
        leaves = arrays["feature"] < 0
        assert arrays["weight"][leaves].sum() == arrays["weight"][0]
        if len(leaves) > 1:
            assert arrays["weight"][leaves].min() >= problem.settings.min_samples_leaf


@pytest.mark.parametrize(
    "sampling", [{"n_sampled_rows": 100}, {"n_sampled_features": 3}, {"sketch_size": 16}]
)
def test_other_seeds_give_other_models(sampling):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 8))
    problem = Problem.of(X, (X @ rng.normal(size=(8, 50))) > 1, max_depth=3)
    problem = problem.with_options(**sampling)
    models = [bytes_of(problem.with_options(seed=seed).train(3)) for seed in range(5)]
    assert len(set(models)) == 5
    trees = trees_of(problem.with_options(seed=0).train(3))
    assert len({tree["feature"].tobytes() + tree["threshold"].tobytes() for tree in trees}) == 3


def test_seeds_do_not_matter_without_a_draw():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 8))
    problem = Problem.of(X, (X @ rng.normal(size=(8, 50))) > 1, max_depth=3)
    models = [bytes_of(problem.with_options(seed=seed).train(3)) for seed in (0, 1, 2**64 - 1)]
    assert len(set(models)) == 1
