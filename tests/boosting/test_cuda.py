"""Gradient boosting on a GPU: the same trees and predictions as on the processor."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from ramify import PCTGradientBoostingClassifier, _core, load, save
from ramify.boosting import rounds
from ramify.boosting.cuda import predicting
from ramify.boosting.cuda.booster import CudaBooster
from ramify.boosting.cuda.device import has_gpu
from tests.support.boosting_problems import Problem, bytes_of, margins_of, problems, trees_of
from tests.support.budget import budget

with_gpu = pytest.mark.skipif(not has_gpu(), reason="needs CuPy and a GPU")


def train(make, problem, n_rounds):
    booster, model = make(problem.plan(), problem.start), problem.empty_model()
    for _ in range(n_rounds):
        booster.learn(model)
    return booster, model


def assert_same(problem, n_rounds=3):
    core, expected = train(_core.GradientBooster, problem, n_rounds)
    cuda, model = train(CudaBooster, problem, n_rounds)
    assert bytes_of(model) == bytes_of(expected)
    np.testing.assert_array_equal(margins_of(cuda, problem), margins_of(core, problem))
    for held_out in (False, True):
        assert cuda.loss(held_out) == pytest.approx(core.loss(held_out), rel=1e-12)


def random_problem(n_rows, n_features, n_outputs, *, missing=0.0, seed=0, **options):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_rows, n_features))
    X[random.random(X.shape) < missing] = np.nan
    signal = np.nan_to_num(X) @ random.normal(size=(n_features, n_outputs))
    Y = signal > np.quantile(signal, 0.9, axis=0)
    return Problem.of(X, Y, options, max_depth=5, min_samples_leaf=3)


@with_gpu
@budget(100)
@given(problems())
def test_trees_equal_those_of_the_processor(problem):
    assert_same(problem)


@with_gpu
@pytest.mark.parametrize("missing", [0.0, 0.05])
@pytest.mark.parametrize("n_rows", [300, 20_000])
@pytest.mark.parametrize("is_sparse", [lambda j: j % 2 == 1, lambda j: j >= 0])
def test_sparse_columns_give_the_same_trees(n_rows, missing, is_sparse):
    problem = random_problem(n_rows, 20, 40, missing=missing)
    zeros = (np.abs(problem.X) < 1.5) & is_sparse(np.arange(20))
    assert_same(replace(problem, X=np.where(zeros, 0, problem.X)))


@with_gpu
@pytest.mark.parametrize("n_outputs", [1, 16, 70, 300])
@pytest.mark.parametrize("n_rows", [40, 3000, 20_000])
def test_many_rows_and_outputs_give_the_same_trees(n_rows, n_outputs):
    assert_same(random_problem(n_rows, 7, n_outputs, missing=0.1))


@with_gpu
@pytest.mark.parametrize(
    "options",
    [
        {"max_leaf_nodes": 6},
        {"n_sampled_rows": 2500, "n_sampled_features": 3},
        {"sketch_size": 200},
        {"sketch_size": 17},
        {"first_round": 7},
    ],
)
def test_options_give_the_same_trees(options):
    assert_same(random_problem(5000, 9, 250, **options))


@with_gpu
def test_histograms_that_do_not_fit_are_counted_again():
    """More features than the limit on kept histograms allows, and on those of one level."""
    problem = random_problem(3000, 2500, 40, missing=0.01)
    assert_same(problem.with_settings(max_bins=255), 1)


@with_gpu
def test_weighted_rows_give_the_same_trees():
    problem = random_problem(20_000, 5, 30)
    weights = np.random.default_rng(1).random(20_000).astype(np.float32).astype(float)
    assert_same(replace(problem, weights=weights))


@with_gpu
@budget(40)
@given(problems(), st.sampled_from([np.float32, np.float64]))
def test_predictions_equal_those_of_the_processor(problem, dtype):
    model = problem.train(4)
    with np.errstate(over="ignore"):
        X = np.ascontiguousarray(problem.X, dtype=dtype)
    out = np.tile(problem.start.astype(np.float32), (len(X), 1))
    predicting.add_margins(model, X, out)
    np.testing.assert_array_equal(out, problem.predict(model, X))


def tree_labels(n_rows, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_rows, 6))
    y = [["a/b", "c"] if x > 0.5 else ["a"] if x > -0.5 else ["c/d"] for x in X[:, 0] + X[:, 1]]
    return X, y


@with_gpu
@pytest.mark.parametrize("loss", ["logistic", "softmax"])
@pytest.mark.parametrize("of_X", [np.asarray, sparse.csr_array])
def test_the_classifier_gives_the_same_answers(loss, of_X):
    X, y = tree_labels(600)
    X = of_X(np.where(X > -1, X, 0))
    models = [
        PCTGradientBoostingClassifier(
            loss=loss, max_iter=12, early_stopping=True, device=device, random_state=0
        ).fit(X, y)
        for device in ("cpu", "cuda")
    ]
    assert models[0].n_iter_ == models[1].n_iter_
    np.testing.assert_array_equal(*(model.predict_proba(X) for model in models))
    np.testing.assert_allclose(*(model.validation_score_ for model in models), rtol=1e-10)


@with_gpu
def test_a_warm_start_continues_on_the_gpu():
    X, y = tree_labels(300)
    whole = PCTGradientBoostingClassifier(max_iter=8, device="cuda", random_state=0).fit(X, y)
    parts = PCTGradientBoostingClassifier(
        max_iter=3, device="cuda", warm_start=True, random_state=0
    ).fit(X, y)
    parts.set_params(max_iter=8).fit(X, y)
    for a, b in zip(trees_of(whole.trees_), trees_of(parts.trees_), strict=True):
        np.testing.assert_array_equal(a["value"], b["value"])


@pytest.mark.skipif(has_gpu(), reason="there is a GPU")
def test_a_missing_gpu_is_named_before_any_work():
    X, y = tree_labels(30)
    model = PCTGradientBoostingClassifier(max_iter=2, device="cuda")
    with pytest.raises((ImportError, RuntimeError), match=r"device='cuda' needs .* device='cpu'"):
        model.fit(X, y)
    assert not hasattr(model, "trees_")


def test_a_model_for_the_gpu_predicts_without_one(tmp_path, monkeypatch):
    X, y = tree_labels(60)
    model = PCTGradientBoostingClassifier(max_iter=3, random_state=0).fit(X, y)
    expected = model.predict_proba(X)
    model.set_params(device="cuda")
    save(model, tmp_path / "model.ramify")
    monkeypatch.setattr(rounds, "has_gpu", lambda: False)
    np.testing.assert_array_equal(load(tmp_path / "model.ramify").predict_proba(X), expected)


@pytest.mark.parametrize("device", ["gpu", None, 0])
def test_unknown_devices_are_refused(device):
    X, y = tree_labels(30)
    with pytest.raises(ValueError, match="device must be"):
        PCTGradientBoostingClassifier(device=device).fit(X, y)
