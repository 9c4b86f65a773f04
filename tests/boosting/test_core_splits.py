"""Splits and leaf values of boosted trees equal those of the slow, readable reference."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference import gradient_boosting as reference
from tests.reference.trees import Column
from tests.support.boosting_problems import Problem, depths, margins_of, problems, trees_of
from tests.support.budget import budget

quickly = budget(30)
# Sums of single precision numbers, as a share of the sum of their absolute values.
ROUNDING = 4e-6


def rounds(problem: Problem, n_rounds: int):
    """Yield the gradients before each round and the tree of the round."""
    booster, model = problem.booster(), problem.empty_model()
    for _ in range(n_rounds):
        margins = margins_of(booster, problem)
        booster.learn(model)
        G, H = reference.gradients(problem.settings.loss, margins, problem.Y, problem.weights)
        yield G, H, trees_of(model)[-1]


def rows_of_nodes(problem: Problem, arrays) -> list[np.ndarray]:
    """Return the learning rows that reach each node."""
    return [problem.learning[r] for r in reference.reached(arrays, problem.X[problem.learning])]


def check_splits(problem: Problem, G: np.ndarray, arrays) -> None:
    """The gain of every node is right, and no test that is allowed has a larger one."""
    sums, weights = G * np.sqrt(problem.output_weight), problem.weights
    depth, wanted = depths(arrays), problem.settings
    surely_found = 6 if problem.n_outputs == 1 and wanted.min_samples_leaf == 1 else 2
    lengths = np.linalg.norm(sums, axis=1)
    for node, rows in enumerate(rows_of_nodes(problem, arrays)):
        # Histograms of large nodes are subtracted from those of their parents.
        noise = lengths[rows if len(problem.X) < 256 else problem.learning].sum()
        noise = ROUNDING * noise**2
        gain, own = arrays["gain"][node], 0.0
        if arrays["feature"][node] >= 0:
            test = reference.read_test(arrays, node)
            side = test.takes_yes(problem.X[rows, test.column])
            exact, inverse = reference.gain_of(
                side[None], sums[rows], weights[rows], wanted.l2_regularization
            )
            own = noise * inverse[0]
            assert gain == pytest.approx(exact[0], abs=own, rel=1e-5)
        if depth[node] == wanted.max_depth:
            continue
        best, inverse = reference.best_gain(
            problem.columns,
            problem.learning,
            rows,
            sums,
            weights,
            settings=wanted,
            max_categories=surely_found,
        )
        assert best <= gain * (1 + 1e-5) + noise * inverse + own


@quickly
@given(problems())
def test_every_split_is_the_best_one(problem):
    problem = problem.with_options(max_leaf_nodes=0, sketch_size=100)
    for G, _, arrays in rounds(problem, 2):
        check_splits(problem, G, arrays)


@budget(15)
@given(problems(), st.integers(0, 2**32 - 1))
def test_every_split_is_the_best_one_with_many_rows(problem, seed):
    """Histograms of nodes with many rows come from those of their parent and sibling."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, len(problem.X), 1500)
    X = problem.X[rows]
    numeric = problem.n_categories == 0
    noise = rng.normal(scale=1e-3, size=(1500, numeric.sum())) * (X[:, numeric] != 0)
    X[:, numeric] += noise
    problem = replace(
        problem,
        X=X,
        Y=problem.Y[rows],
        weights=problem.weights[rows],
        held_out=np.zeros(0, dtype=np.int64),
    ).with_options(max_leaf_nodes=0, sketch_size=100)
    for G, _, arrays in rounds(problem, 2):
        check_splits(problem, G, arrays)


@quickly
@given(problems())
def test_leaf_values_are_newton_steps(problem):
    wanted = problem.settings
    for G, H, arrays in rounds(problem, 3):
        values = arrays["value"].reshape(-1, problem.n_outputs)
        for node, rows in enumerate(rows_of_nodes(problem, arrays)):
            if arrays["feature"][node] >= 0:
                continue
            expected = reference.leaf_value(G[rows], H[rows], wanted)
            curvature = np.maximum(H[rows].sum(axis=0) + wanted.l2_regularization, 1e-12)
            noise = ROUNDING * problem.weights[rows].sum() / curvature
            error = np.abs(values[arrays["leaf"][node]] - expected)
            step = np.abs(expected) / wanted.learning_rate
            assert (error <= wanted.learning_rate * noise * (1 + step) + 1e-6 * step).all()


@quickly
@given(problems())
def test_nodes_have_the_weight_of_their_rows(problem):
    for _, _, arrays in rounds(problem, 2):
        weights = [problem.weights[rows].sum() for rows in rows_of_nodes(problem, arrays)]
        np.testing.assert_allclose(arrays["weight"], weights, rtol=1e-6)


@budget(30)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(["logistic", "softmax"]),
    st.integers(1, 20),
    st.sampled_from([0.0, 1.0]),
)
def test_rounds_equal_those_of_the_reference(seed, loss, n_outputs, l2):
    """Columns without ties have one best split: margins stay close for several rounds."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 3))
    n_outputs = max(n_outputs, 2 if loss == "softmax" else 1)
    scores = X @ rng.normal(size=(3, n_outputs)) + rng.normal(size=(60, n_outputs))
    Y = np.eye(n_outputs)[scores.argmax(axis=1)] if loss == "softmax" else scores > 0
    problem = Problem.of(
        X, Y, loss=loss, max_depth=3, learning_rate=0.3, max_bins=20, l2_regularization=l2
    )
    problem = replace(problem, weights=rng.random(60) + 0.5)
    booster, model = problem.booster(), problem.empty_model()
    margins = np.zeros(problem.Y.shape)
    for _ in range(3):
        _, margins = reference.one_round(
            problem.columns, margins, problem.Y, problem.weights, problem.settings
        )
        booster.learn(model)
    np.testing.assert_allclose(margins_of(booster, problem), margins, atol=1e-4, rtol=1e-4)


@quickly
@given(problems())
def test_thresholds_lie_between_bins(problem):
    rows, max_bins = problem.learning, problem.settings.max_bins
    thresholds = [
        {*reference.thresholds_of(c.values[rows], max_bins, problem.weights[rows]), -np.inf}
        for c in problem.columns
    ]
    for _, _, arrays in rounds(problem, 2):
        for node in np.flatnonzero(arrays["feature"] >= 0):
            test = reference.read_test(arrays, node)
            assert test.codes is not None or test.threshold in thresholds[test.column]


@quickly
@given(problems())
def test_categories_of_a_bin_stay_together(problem):
    """Rare categories share a bin; those without a learning row follow missing values."""
    for _, _, arrays in rounds(problem, 2):
        for node in np.flatnonzero(np.diff(arrays["category_indptr"])):
            test = reference.read_test(arrays, node)
            column = problem.columns[test.column]
            assert test.n_codes == column.n_values
            bins = reference.category_bins(
                column.values[problem.learning],
                column.n_values,
                problem.settings.max_bins,
                problem.weights[problem.learning],
            )
            takes_yes = test.takes_yes(np.arange(column.n_values, dtype=float))
            for b in range(bins.max() + 1):
                assert len(set(takes_yes[bins == b].tolist())) == 1
            assert (takes_yes[bins < 0] == test.missing_yes).all()


@pytest.mark.parametrize("missing", [np.nan, 0.0])
def test_missing_values_learn_their_side(missing):
    x = np.array([1.0, 2.0, 3.0, 4.0] * 5)
    x[::4] = missing
    Y = (x > 2.5) | (x == missing) | np.isnan(x)
    problem = Problem.of(x[:, None], Y[:, None], max_depth=1, min_samples_leaf=1)
    tree = trees_of(problem.train(1))[0]
    if np.isnan(missing):
        assert tree["missing_yes"][0] == 1
        assert tree["threshold"][0] == 2.5
    else:
        assert tree["threshold"][0] == 2.5  # three of four rows; zeros are numbers


def test_missing_values_alone_are_a_side():
    x = np.where(np.arange(20) < 8, np.nan, 7.0)
    problem = Problem.of(x[:, None], np.isnan(x)[:, None], max_depth=1, min_samples_leaf=1)
    tree = trees_of(problem.train(1))[0]
    assert tree["threshold"][0] == -np.inf
    assert tree["missing_yes"][0] == 0
    low, high = problem.predict(problem.train(1), np.array([[-1e308], [np.nan]])).ravel()
    assert low < 0 < high


@pytest.mark.parametrize(("n_yes", "side"), [(12, 1), (8, 0)])
def test_missing_values_that_did_not_occur_follow_most_rows(n_yes, side):
    x = np.arange(20)[::-1].astype(float)
    Y = np.arange(20) < n_yes
    problem = Problem.of(x[:, None], Y[:, None], max_depth=1, min_samples_leaf=1)
    tree = trees_of(problem.train(1))[0]
    assert tree["threshold"][0] == 19.5 - n_yes
    assert tree["missing_yes"][0] == side


@budget(30)
@given(st.integers(0, 2**32 - 1), st.sampled_from([2, 3, 16, 255]))
def test_bins_hold_about_equal_numbers_of_rows(seed, max_bins):
    """Thresholds of a deep tree: no bin has much more than its part of distinct values."""
    rng = np.random.default_rng(seed)
    x = rng.exponential(size=600)
    thresholds = reference.thresholds_of(x, max_bins)
    assert len(thresholds) == max_bins - 1
    edges = np.concatenate([[-np.inf], thresholds[::-1], [np.inf]])
    assert np.histogram(x, edges)[0].max() <= 600 // max_bins + 1
    # The finest tree that the core can grow tests the same thresholds.
    problem = Problem.of(
        x[:, None],
        rng.random((600, 1)) < 0.5,
        min_samples_leaf=1,
        max_depth=600,
        max_bins=max_bins,
    )
    tree = trees_of(problem.with_settings(l2_regularization=1e-6).train(1))[0]
    assert set(tree["threshold"][tree["feature"] >= 0]) <= set(thresholds)


def test_many_rows_in_one_bin_do_not_lose_precision():
    """A sum of many equal numbers, one by one in single precision, would be off by 0.2 %."""
    n = 600_000
    x = np.zeros(n)
    x[:1000] = 1.0
    x[1000 : n // 2] = 2.0
    Y = np.zeros((n, 1))
    Y[: n // 10 : 2] = 1
    problem = Problem.of(x[:, None], Y, max_depth=1, min_samples_leaf=1)
    problem = replace(problem, start=np.array([-2.94]))
    (G, _, arrays), *_ = rounds(problem, 1)
    columns = [Column(x)]
    best, _ = reference.best_gain(
        columns, problem.learning, problem.learning, G, problem.weights, settings=problem.settings
    )
    assert arrays["gain"][0] == pytest.approx(best, rel=1e-3)


@pytest.mark.parametrize("nominal", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_rows_without_weight_do_not_attract_splits(nominal, seed):
    """A side without weight has no gain, also where rounding errors leave it some gradient."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6 if nominal else 40, (1000, 3)).astype(float)
    Y = rng.random((1000, 1)) < 0.2 + 0.1 * (X[:, :1] == 2)
    problem = Problem.of(X, Y, max_depth=5, min_samples_leaf=1, l2_regularization=0.0)
    weights = rng.random(1000)
    weights[(X[:, 1] == 1) | (X[:, 2] < 3)] = 0.0
    problem = replace(
        problem, weights=weights, n_categories=np.full(3, 6 * nominal, dtype=np.int32)
    )
    for G, _, arrays in rounds(problem, 2):
        assert (arrays["gain"] < 100).all()
        check_splits(problem, G, arrays)
