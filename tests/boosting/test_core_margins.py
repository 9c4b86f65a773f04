"""Margins and losses kept while learning; the same model on any path to it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from ramify import _core
from ramify.data.rows import as_rows
from tests.reference import gradient_boosting as reference
from tests.support.boosting_problems import (
    Problem,
    bytes_of,
    margins_of,
    problems,
    trees_of,
)
from tests.support.budget import budget

quickly = budget(30)


def large_problem(loss: str = "logistic", *, n_outputs: int = 60, **options) -> Problem:
    """Return a problem with enough rows, features and outputs that all stages use threads."""
    rng = np.random.default_rng(7)
    n, n_dense, n_sparse = 2500, 20, 300
    X = np.hstack(
        [
            rng.normal(size=(n, n_dense)),
            rng.normal(size=(n, n_sparse)) * (rng.random((n, n_sparse)) < 0.1),
            rng.integers(0, 9, (n, 2)),
        ]
    )
    X[rng.random(X.shape) < 0.02] = np.nan
    scores = np.nan_to_num(X[:, :n_dense]) @ rng.normal(size=(n_dense, n_outputs))
    Y = np.eye(n_outputs)[scores.argmax(axis=1)] if loss == "softmax" else scores > 3
    problem = Problem.of(X, Y, {"seed": 3, **options}, loss=loss, max_depth=4, max_bins=64)
    n_categories = np.zeros(X.shape[1], dtype=np.int32)
    n_categories[-2:] = 9
    held_out = np.flatnonzero(rng.random(n) < 0.2)
    return replace(problem, n_categories=n_categories, weights=rng.random(n), held_out=held_out)


@quickly
@given(problems())
def test_margins_of_learning_equal_those_of_prediction(problem):
    """Bit for bit, for learning and held-out rows: bins and thresholds agree."""
    booster, model = problem.booster(), problem.empty_model()
    for _ in range(4):
        booster.learn(model)
        kept = margins_of(booster, problem)
        assert kept.tobytes() == problem.predict(model).tobytes()
    assert kept.tobytes() == reference.predict(trees_of(model), problem.X, problem.start).tobytes()


@quickly
@given(problems())
def test_prediction_does_not_depend_on_the_layout(problem):
    model = problem.train(3)
    X, expected = problem.X, problem.predict(model)
    for given_X in (np.asfortranarray(X), sparse.csr_array(X), sparse.csc_matrix(X)):
        assert problem.predict(model, given_X).tobytes() == expected.tobytes()
    with np.errstate(over="ignore"):
        single = X.astype(np.float32)
    assert (
        problem.predict(model, single).tobytes()
        == problem.predict(model, single.astype(float)).tobytes()
    )


@quickly
@given(problems())
def test_leaves_are_those_that_rows_reach(problem):
    model = problem.train(2)
    for number, arrays in enumerate(trees_of(model)):
        leaves = model.leaves(number, as_rows(problem.X))
        for node, rows in enumerate(reference.reached(arrays, problem.X)):
            if arrays["feature"][node] < 0:
                assert (leaves[rows] == node).all()


@quickly
@given(problems())
def test_model_does_not_depend_on_the_layout(problem):
    X = problem.X
    expected = bytes_of(problem.train(3))
    for given_X in (np.asfortranarray(X), sparse.csr_array(X), sparse.csc_matrix(X)):
        assert bytes_of(problem.train(3, given_X)) == expected
    with np.errstate(over="ignore"):
        single = np.nan_to_num(X.astype(np.float32), nan=np.nan, posinf=1e38, neginf=-1e38)
    assert bytes_of(problem.train(3, single)) == bytes_of(problem.train(3, single.astype(float)))


@pytest.mark.parametrize("loss", ["logistic", "softmax"])
@pytest.mark.parametrize("sketch_size", [16, 64])
@pytest.mark.parametrize("max_leaf_nodes", [0, 9])
def test_model_does_not_depend_on_threads(loss, sketch_size, max_leaf_nodes):
    found = []
    for n_threads in (1, 2, 5):
        problem = large_problem(
            loss,
            sketch_size=sketch_size,
            max_leaf_nodes=max_leaf_nodes,
            n_threads=n_threads,
            n_sampled_rows=1500,
            n_sampled_features=200,
        )
        booster, model = problem.booster(), problem.empty_model()
        for _ in range(3):
            booster.learn(model)
        margins = problem.predict(model, n_threads=n_threads)
        assert margins.tobytes() == margins_of(booster, problem).tobytes()
        found.append((bytes_of(model), margins.tobytes(), booster.loss(False), booster.loss(True)))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("max_leaf_nodes", [0, 6])
def test_threads_that_share_the_rows_of_a_node_change_nothing(max_leaf_nodes):
    """Enough rows that threads share binning, sums and divisions, and leaves of several parts."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(70_000, 15)).astype(np.float32)
    X[:, 3] *= rng.random(len(X)) < 0.1  # a sparse column
    X[rng.random(X.shape) < 0.01] = np.nan
    Y = np.stack([X[:, 0] > 0.3, X[:, 3] > 0, np.nan_to_num(X[:, 1]) > X[:, 2]], axis=1)
    options = {"max_leaf_nodes": max_leaf_nodes}
    problem = replace(Problem.of(X, Y, options, max_depth=4), weights=rng.random(len(X)))
    expected = bytes_of(problem.train(2))
    for n_threads in (2, 5):
        assert bytes_of(problem.with_options(n_threads=n_threads).train(2, X)) == expected
    ranked = problem.with_options(n_threads=3).train(2, sparse.csr_array(X))
    assert bytes_of(ranked) == expected


def test_model_of_many_rows_does_not_depend_on_the_layout():
    problem = large_problem()
    expected = bytes_of(problem.train(3))
    assert bytes_of(problem.train(3, sparse.csr_array(problem.X))) == expected
    assert bytes_of(problem.train(3, np.asfortranarray(problem.X))) == expected


@quickly
@given(problems(), st.floats(-60, 60))
def test_loss_equals_that_of_the_reference(problem, shift):
    problem = replace(problem, start=problem.start * 4 + shift)
    booster, model = problem.booster(), problem.empty_model()
    for _ in range(3):
        margins = margins_of(booster, problem)
        for held_out, rows in ((False, problem.learning), (True, problem.held_out)):
            expected = reference.loss(
                problem.settings.loss, margins[rows], problem.Y[rows], problem.weights[rows]
            )
            noise = 1e-6 * problem.n_outputs
            assert booster.loss(held_out) == pytest.approx(expected, rel=1e-5, abs=noise)
        booster.learn(model)


@quickly
@given(problems())
def test_training_loss_does_not_increase(problem):
    """Small steps along the gradient of every leaf; all rows, all outputs."""
    problem = problem.with_settings(learning_rate=0.05).with_options(max_leaf_nodes=0)
    booster, model = problem.booster(), problem.empty_model()
    last = booster.loss(False)
    for _ in range(5):
        booster.learn(model)
        now = booster.loss(False)
        assert now <= last * (1 + 1e-6) + 1e-6
        last = now


@quickly
@given(problems())
def test_learning_goes_on_from_given_margins(problem):
    """Another booster that is given the margins of the first trees learns the same next tree."""
    problem = problem.with_options(sketch_size=100)
    booster, model = problem.booster(), problem.empty_model()
    booster.learn(model)
    before = margins_of(booster, problem)
    booster.learn(model)
    other = replace(problem, start=np.zeros_like(problem.start)).booster()
    other.add_margins(before)
    assert margins_of(other, problem).tobytes() == (before + np.float32(0)).tobytes()
    continued = problem.empty_model()
    other.learn(continued)
    first, second = trees_of(continued)[0], trees_of(model)[1]
    for name, array in first.items():
        np.testing.assert_array_equal(array, second[name], err_msg=name)


@quickly
@given(problems(), st.integers(0, 2**32 - 1))
def test_held_out_rows_do_not_influence_the_model(problem, seed):
    rng = np.random.default_rng(seed)
    Y, X = problem.Y.copy(), problem.X.copy()
    Y[problem.held_out] = Y[rng.permutation(len(Y))[: len(problem.held_out)]]
    X[problem.held_out] = X[rng.permutation(len(X))[: len(problem.held_out)]]
    other = replace(problem, Y=Y)
    assert bytes_of(other.train(3)) == bytes_of(problem.train(3))
    # Zeros of sparse columns are counted by subtraction, which rounds differently.
    if not ((X == 0).mean(axis=0) > 0.4).any():
        assert bytes_of(replace(other, X=X).train(3)) == bytes_of(problem.train(3))


def test_held_out_labels_do_not_decide_which_outputs_are_looked_at():
    """Outputs with large gradients have their own place in the sketch: by learning rows only."""
    problem = large_problem(n_outputs=80, sketch_size=32)
    Y = problem.Y.copy()
    Y[problem.held_out] = False
    Y[problem.held_out, -30:] = True
    assert bytes_of(replace(problem, Y=Y).train(3)) == bytes_of(problem.train(3))


@quickly
@given(problems(), st.integers(0, 4), st.integers(0, 4))
def test_ranges_of_trees_add_up(problem, first, last):
    first, last = sorted((first, last))
    model = problem.train(4)
    margins = np.zeros(problem.Y.shape, dtype=np.float32)
    model.add_margins(as_rows(problem.X), first, last, 1, margins)
    part = problem.empty_model()
    for arrays in trees_of(model)[first:last]:
        part.append(arrays)
    start = replace(problem, start=np.zeros(problem.n_outputs))
    assert start.predict(part).tobytes() == margins.tobytes()
    model.truncate(first)
    assert len(model) == first


def test_duplicated_rows_equal_weights():
    rng = np.random.default_rng(0)
    X, counts = rng.normal(size=(50, 3)), rng.integers(1, 4, 50)
    Y = (X @ rng.normal(size=(3, 4))) > 0
    weighted = replace(
        Problem.of(X, Y, min_samples_leaf=1, max_depth=3), weights=counts.astype(float)
    )
    repeated = Problem.of(
        np.repeat(X, counts, axis=0), np.repeat(Y, counts, axis=0), min_samples_leaf=1, max_depth=3
    )
    np.testing.assert_allclose(
        weighted.predict(weighted.train(5)), repeated.predict(repeated.train(5), X), atol=1e-5
    )


def test_margins_are_copied_for_any_rows():
    problem = large_problem()
    booster = problem.booster()
    rows = np.array([0, 5, 2499])
    out = np.empty((3, problem.n_outputs), dtype=np.float32)
    booster.copy_margins(rows, out)
    assert (out == 0).all()
    for wrong in ([5, 0, 1], [0, 0, 1], [-1, 0, 1], [0, 1, 2500]):
        with pytest.raises(ValueError, match="rows must"):
            booster.copy_margins(np.array(wrong), out)


def test_a_model_of_another_shape_is_refused_before_learning():
    problem = large_problem()
    booster = problem.booster()
    before = margins_of(booster, problem)
    for shape in ((59, 322), (60, 321), (61, 322)):
        with pytest.raises(ValueError, match="the model must have"):
            booster.learn(_core.BoostedTrees(*shape))
    assert margins_of(booster, problem).tobytes() == before.tobytes()
