"""A round that is stopped changes neither the margins nor the model; binning can be stopped."""

from __future__ import annotations

import numpy as np
import pytest

from ramify import _core
from tests.support.boosting_problems import Problem, bytes_of, margins_of


def learn_until_stopped(booster, model, problem: Problem) -> tuple[bytes, bytes]:
    """Return the margins and the model before the round that was stopped."""
    for _ in range(100):  # the flag is looked at every 50 ms
        before = margins_of(booster, problem).tobytes(), bytes_of(model)
        try:
            booster.learn(model)
        except RuntimeError as error:
            if str(error) == "stopped on request":
                return before
            raise
    raise AssertionError("no round was stopped")


@pytest.mark.parametrize("n_threads", [1, 3])
def test_a_stopped_round_leaves_no_trace(n_threads):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12_000, 40))
    Y = X @ rng.normal(size=(40, 200)) > 4
    options = {"n_threads": n_threads, "sketch_size": 200, "n_sampled_rows": 10_000}
    problem = Problem.of(X, Y, options, max_depth=5)
    booster, model = problem.booster(), problem.empty_model()
    booster.learn(model)
    _core.watch_flag(flag := _core.StopFlag(None))
    flag.set()
    try:
        before = learn_until_stopped(booster, model, problem)
    finally:
        _core.watch_flag(None)
    assert (margins_of(booster, problem).tobytes(), bytes_of(model)) == before
    booster.learn(model)
    assert bytes_of(problem.train(len(model))) == bytes_of(model)
    assert margins_of(booster, problem).tobytes() == problem.predict(model).tobytes()


@pytest.mark.parametrize("n_threads", [1, 3])
def test_binning_can_be_stopped(n_threads):
    X = np.random.default_rng(0).normal(size=(200_000, 30))  # takes far longer than 50 ms
    problem = Problem.of(X, X[:, :1] > 0, {"n_threads": n_threads})
    _core.watch_flag(flag := _core.StopFlag(None))
    flag.set()
    try:
        with pytest.raises(RuntimeError, match="stopped on request"):
            problem.booster()
    finally:
        _core.watch_flag(None)
    assert len(problem.train(1)) == 1  # no trace is left
