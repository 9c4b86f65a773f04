"""Splits found from a sketch of the gradients: right on average, and good."""

from __future__ import annotations

import numpy as np
import pytest

from tests.reference import gradient_boosting as reference
from tests.support.boosting_problems import Problem, margins_of, trees_of

N_SEEDS = 400


def one_split_problem(n_outputs: int, sketch_size: int) -> tuple[Problem, np.ndarray]:
    """Return a problem with one possible split, and the sides of the rows."""
    rng = np.random.default_rng(n_outputs)
    side = np.arange(40) < 15
    rates = np.where(side[:, None], rng.random(n_outputs), rng.random(n_outputs)) ** 2
    problem = Problem.of(side[:, None], rng.random((40, n_outputs)) < rates, max_depth=1)
    return problem.with_options(sketch_size=sketch_size), side


def exact_gain(problem: Problem, side: np.ndarray) -> float:
    G, _ = reference.gradients("logistic", np.zeros(problem.Y.shape), problem.Y, problem.weights)
    return float(reference.gain_of(side[None], G, problem.weights, 1.0)[0][0])


def gains_of_reference(problem: Problem, side: np.ndarray, n_single: int, n_shared: int):
    """Return the gain of the split for many random sketches of the reference."""
    rng = np.random.default_rng(0)
    G, _ = reference.gradients("logistic", np.zeros(problem.Y.shape), problem.Y, problem.weights)
    counts = problem.Y.sum(axis=0)
    G = G[:, np.argsort(-counts * (len(G) - counts), kind="stable")]
    for _ in range(N_SEEDS):
        factors = np.where(np.arange(G.shape[1]) < n_single, 1, rng.choice([-1, 1], G.shape[1]))
        shifts = rng.integers(0, n_shared, -(-(G.shape[1] - n_single) // n_shared))
        short = reference.sketch(G, factors, shifts, n_single, n_shared)
        yield reference.gain_of(side[None], short, problem.weights, 1.0)[0][0]


@pytest.mark.parametrize(
    ("n_outputs", "sketch_size", "n_single", "n_shared"),
    [(17, 16, 0, 16), (200, 16, 0, 16), (200, 32, 16, 16), (200, 64, 32, 32), (70, 48, 16, 32)],
)
def test_the_gain_of_a_sketch_is_right_on_average(n_outputs, sketch_size, n_single, n_shared):
    """Squared lengths and inner products of a random projection have the right expectation."""
    problem, side = one_split_problem(n_outputs, sketch_size)
    expected = exact_gain(problem, side)
    gains = np.array(
        [trees_of(problem.with_options(seed=s).train(1))[0]["gain"][0] for s in range(N_SEEDS)]
    )
    error = gains.std() / np.sqrt(N_SEEDS)
    assert abs(gains.mean() - expected) < 4 * error
    assert gains.std() > 0.01 * expected
    # Gains spread as those of the reference do, which places and signs outputs in the same way.
    of_reference = np.array(list(gains_of_reference(problem, side, n_single, n_shared)))
    assert abs(of_reference.mean() - expected) < 4 * error
    assert gains.std() == pytest.approx(of_reference.std(), rel=0.2)


@pytest.mark.parametrize(("n_outputs", "sketch_size"), [(1, 1), (16, 1), (16, 16), (60, 60)])
def test_few_outputs_need_no_sketch(n_outputs, sketch_size):
    problem, side = one_split_problem(n_outputs, sketch_size)
    gains = {trees_of(problem.with_options(seed=seed).train(1))[0]["gain"][0] for seed in range(5)}
    assert len(gains) == 1
    assert gains.pop() == pytest.approx(exact_gain(problem, side), rel=1e-5)


def test_gains_do_not_depend_on_the_order_of_outputs():
    problem, _ = one_split_problem(60, 64)
    order = np.random.default_rng(0).permutation(60)
    shuffled = Problem.of(problem.X, problem.Y[:, order], max_depth=1)
    first, second = trees_of(problem.train(1))[0], trees_of(shuffled.train(1))[0]
    assert first["gain"][0] == pytest.approx(second["gain"][0], rel=1e-6)
    np.testing.assert_array_equal(
        first["value"].reshape(2, 60)[:, order], second["value"].reshape(2, 60)
    )


def test_weights_of_outputs_count_in_the_search_only():
    """Output 0 depends on the first feature, output 1 on the second: the weight decides."""
    rng = np.random.default_rng(0)
    X = rng.random((100, 2))
    Y = X > 0.5
    for weights, feature in (([1.0, 0.0], 0), ([0.0, 1.0], 1), ([1.0, 4.0], 1), ([4.0, 1.0], 0)):
        problem = Problem.of(X, Y, max_depth=1)
        problem.output_weight[:] = weights
        tree = trees_of(problem.train(1))[0]
        assert tree["feature"][0] == feature
        assert (tree["value"] != 0).all()


def test_splits_of_a_sketch_reduce_the_loss_nearly_as_much():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 6))
    Y = X @ rng.normal(size=(6, 300)) + rng.normal(size=(400, 300)) > 2
    losses = {}
    for size in (16, 64, 300):
        problem = Problem.of(X, Y, {"sketch_size": size}, max_depth=4, learning_rate=0.3)
        booster, model = problem.booster(), problem.empty_model()
        for _ in range(10):
            booster.learn(model)
        margins = margins_of(booster, problem)
        losses[size] = reference.loss("logistic", margins, Y, problem.weights)
    start = 300 * np.log(2)
    assert losses[300] < 0.5 * start
    assert losses[64] < losses[300] * 1.05
    assert losses[16] < losses[300] * 1.1
