"""Trees of few outputs, which are grown from packed records, equal those from sketches."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.boosting_problems import Problem, bytes_of, margins_of, problems, trees_of
from tests.support.budget import budget

MANY = 17  # outputs, which no longer fit into records


def with_silent_outputs(problem: Problem) -> Problem:
    """Add outputs of weight 0 that no row has: splits do not depend on them."""
    n_more = MANY - problem.n_outputs
    return replace(
        problem,
        Y=np.hstack([problem.Y, np.zeros((len(problem.Y), n_more))]),
        start=np.concatenate([problem.start, np.full(n_more, -3.0)]),
        output_weight=np.concatenate([problem.output_weight, np.zeros(n_more)]),
    ).with_options(sketch_size=64)


def parts(model, n_outputs: int) -> list[dict[str, bytes]]:
    """Return the trees, with the values of the first outputs only."""
    found = []
    for tree in trees_of(model):
        values = tree["value"].reshape(-1, model.n_outputs)[:, :n_outputs]
        found.append({name: array.tobytes() for name, array in tree.items()})
        found[-1]["value"] = values.tobytes()
    return found


@budget(100)
@given(problems(), st.sampled_from([1, 4]))
def test_trees_equal_those_of_more_outputs(problem, n_threads):
    """With logistic loss, the outputs do not depend on each other."""
    n_outputs = problem.n_outputs
    if n_outputs >= MANY or problem.settings.loss != "logistic":
        problem = problem.with_settings(loss="logistic")
        problem = replace(problem, Y=problem.Y[:, :5], start=problem.start[:5])
        problem = replace(problem, output_weight=problem.output_weight[:5])
        n_outputs = problem.n_outputs
    few = problem.with_options(n_threads=n_threads).train(3)
    many = with_silent_outputs(problem).train(3)
    assert parts(few, n_outputs) == parts(many, n_outputs)


def large_problem(n_outputs: int, *, weighted: bool, loss: str = "logistic") -> Problem:
    """Return rows for several parts of sums, with missing values."""
    rng = np.random.default_rng(n_outputs)
    X = rng.normal(size=(20_000, 6)).round(1)
    X[rng.random(X.shape) < 0.1] = np.nan
    if loss == "softmax":
        classes = np.digitize(np.nan_to_num(X[:, 0]), np.linspace(-1, 1, n_outputs - 1))
        Y = np.eye(n_outputs)[classes]
    else:
        Y = np.nan_to_num(X[:, :1]) + rng.normal(size=(len(X), n_outputs)) > 0
    problem = Problem.of(X, Y, max_depth=5, loss=loss)
    return replace(problem, weights=rng.random(len(X))) if weighted else problem


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_outputs", [1, 3, 4, 7, 8, 11, 12, 16])
def test_many_rows_are_summed_as_with_more_outputs(n_outputs, weighted):
    problem = large_problem(n_outputs, weighted=weighted)
    few, many = problem.train(2), with_silent_outputs(problem).train(2)
    assert parts(few, n_outputs) == parts(many, n_outputs)


@pytest.mark.parametrize("loss", ["logistic", "softmax"])
@pytest.mark.parametrize("max_leaf_nodes", [0, 9])
def test_trees_do_not_depend_on_the_number_of_threads(loss, max_leaf_nodes):
    problem = large_problem(6, weighted=True, loss=loss)
    problem = problem.with_options(max_leaf_nodes=max_leaf_nodes, n_sampled_rows=15_000)
    one = problem.train(2)
    assert bytes_of(problem.with_options(n_threads=3).train(2)) == bytes_of(one)


@budget(50)
@given(problems())
def test_margins_of_all_rows_are_those_that_the_trees_predict(problem):
    problem = problem.with_options(n_sampled_rows=max(1, len(problem.learning) // 2))
    booster, model = problem.booster(), problem.empty_model()
    for _ in range(3):
        booster.learn(model)
    assert margins_of(booster, problem).tobytes() == problem.predict(model).tobytes()
