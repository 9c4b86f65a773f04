"""The core compared with gradient boosting of scikit-learn.

Both use bins of the same values, Newton steps in the leaves and the same shrinkage. They differ in
the score of a split: |S|² / (H + l2) with the curvature H there, |S|² / (n + 4 l2) here, which is
the same to a factor of 4 as long as p (1 - p) = 1/4, that is, in the first round of a balanced
problem. Later the trees may differ, and the losses stay close.
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import log_loss
from threadpoolctl import threadpool_limits

from tests.support.boosting_problems import Problem, trees_of

N_ROUNDS = 15


def peer_losses(X: np.ndarray, y: np.ndarray, depth: int) -> np.ndarray:
    peer = HistGradientBoostingClassifier(
        max_iter=N_ROUNDS,
        max_depth=depth,
        max_leaf_nodes=None,
        learning_rate=0.1,
        l2_regularization=1.0,
        min_samples_leaf=5,
        early_stopping=False,
    )
    with threadpool_limits(1):
        peer.fit(X, y)
        return np.array([log_loss(y, p) for p in peer.staged_predict_proba(X)])


def own_losses(problem: Problem) -> np.ndarray:
    booster, model = problem.booster(), problem.empty_model()
    losses = []
    for _ in range(N_ROUNDS):
        booster.learn(model)
        losses.append(booster.loss(False))
    return np.array(losses)


def few_values(X: np.ndarray) -> np.ndarray:
    """Round X to at most 200 values a column, so that both use all thresholds."""
    low, high = X.min(axis=0), X.max(axis=0)
    return np.round((X - low) / np.maximum(high - low, 1e-9) * 200)


@pytest.mark.parametrize("depth", [1, 3, 5])
def test_one_label_learns_as_fast_as_in_scikit_learn(depth):
    X, y = load_breast_cancer(return_X_y=True)
    X = few_values(X)
    problem = Problem.of(X, y[:, None], max_depth=depth, learning_rate=0.1)
    problem.start[:] = np.log(y.mean() / (1 - y.mean()))
    ours, theirs = own_losses(problem), peer_losses(X, y, depth)
    np.testing.assert_allclose(ours, theirs, rtol=0.02)


def test_first_tree_of_a_balanced_label_equals_that_of_scikit_learn():
    """p = 1/2: both scores are the same, so are the trees."""
    X, y = load_breast_cancer(return_X_y=True)
    rows = np.concatenate([np.flatnonzero(y == c)[:200] for c in (0, 1)])
    X, y = few_values(X[rows]), y[rows]
    problem = Problem.of(X, y[:, None], max_depth=3, learning_rate=0.1)
    model = problem.train(1)
    peer = HistGradientBoostingClassifier(
        max_iter=1, max_depth=3, l2_regularization=1.0, min_samples_leaf=5, early_stopping=False
    )
    with threadpool_limits(1):
        peer.fit(X, y)
        expected = peer.decision_function(X)
    np.testing.assert_allclose(problem.predict(model).ravel(), expected, rtol=1e-5)
    assert trees_of(model)[0]["weight"][0] == 400


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_softmax_learns_as_fast_as_in_scikit_learn(load):
    """Scikit-learn grows a tree for each class; one tree for all needs to be deeper."""
    X, y = load(return_X_y=True)
    X, Y = few_values(X), np.eye(y.max() + 1)[y]
    problem = Problem.of(X, Y, loss="softmax", max_depth=6, learning_rate=0.1)
    problem.start[:] = np.log(Y.mean(axis=0))
    ours, theirs = own_losses(problem), peer_losses(X, y, 3)
    assert ours[0] == pytest.approx(theirs[0], rel=0.03)
    np.testing.assert_allclose(ours, theirs, rtol=0.15)
