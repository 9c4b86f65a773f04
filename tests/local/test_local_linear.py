"""Linear models without a second validation: the numbers and errors of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.svm import LinearSVC

from ramify import PerNodeClassifier, PerParentClassifier
from ramify.local.linear import linear_predictions, logistic_probabilities


class Renamed(SGDClassifier):
    """A subclass, whose predict_proba may differ."""


def problem(n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(n_classes)
    return random.normal(size=(60, 5)), random.integers(n_classes, size=60)


def probabilities_of_scikit_learn(model: SGDClassifier, rows: Any) -> np.ndarray:
    """Probabilities that are equal if all scores are far below 0: scikit-learn 1.6 returns NaN."""
    with np.errstate(invalid="ignore"):
        found = model.predict_proba(rows)
    return np.where(np.isnan(found), 1 / len(model.classes_), found)


@pytest.mark.parametrize("n_classes", [2, 3, 7])
@pytest.mark.parametrize("make", [np.asarray, np.asfortranarray, sparse.csr_array])
@pytest.mark.parametrize("scale", [1.0, 1e6])
def test_probabilities_equal_those_of_scikit_learn(n_classes, make, scale):
    X, y = problem(n_classes)
    model = SGDClassifier(loss="log_loss", random_state=0).fit(X, y)
    queries = make(X * scale)
    for rows in (queries, queries[:1]):
        found = logistic_probabilities(model, rows)
        np.testing.assert_array_equal(found, probabilities_of_scikit_learn(model, rows))


@pytest.mark.parametrize("n_classes", [2, 3, 7])
@pytest.mark.parametrize("make", [np.asarray, np.asfortranarray, sparse.csr_array])
@pytest.mark.parametrize("scale", [1.0, 1e6])
def test_probabilities_of_logistic_regression(n_classes, make, scale):
    X, y = problem(n_classes)
    model = LogisticRegression().fit(X, y)
    queries = make(X * scale)
    for rows in (queries, queries[:1]):
        expected = model.predict_proba(rows)
        np.testing.assert_array_equal(logistic_probabilities(model, rows), expected)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("estimator", [SGDClassifier(random_state=0), LinearSVC()], ids=str)
def test_classes_of_models_without_probabilities(n_classes, estimator):
    X, y = problem(n_classes)
    model = clone(estimator).fit(X, np.array(["red", "blue", "green"])[y])
    np.testing.assert_array_equal(linear_predictions(model, X), model.predict(X))
    assert linear_predictions(LogisticRegression().fit(X, y), X) is None


@pytest.mark.parametrize("n_rows", [0, 1, 3])
def test_rows_with_few_cells(n_rows):
    random = np.random.default_rng(0)
    X = sparse.csr_array(random.random((80, 300)) * (random.random((80, 300)) < 0.02))
    y = np.arange(80) % 3
    model = SGDClassifier(loss="log_loss", random_state=0).fit(X, y)
    rows = sparse.csr_array(X[:n_rows])
    found = logistic_probabilities(model, rows)
    expected = model.predict_proba(rows) if n_rows else np.empty((0, 3))
    np.testing.assert_array_equal(found, expected)


def test_all_scores_far_below_zero():
    X, y = problem(3)
    model = SGDClassifier(loss="log_loss", random_state=0).fit(X, y)
    model.coef_[:] = -1e4
    rows = np.abs(X)
    expected = probabilities_of_scikit_learn(model, rows)
    np.testing.assert_array_equal(logistic_probabilities(model, rows), expected)


def test_other_models_and_rows_are_left_to_scikit_learn():
    X, y = problem(3)
    model = SGDClassifier(loss="log_loss", random_state=0).fit(X, y)
    frame = pd.DataFrame(X)
    missing = X.copy()
    missing[0, 0] = np.nan
    for rows in (frame, missing, X[:, :4], X.astype(np.float32), sparse.csc_array(X), X.tolist()):
        assert logistic_probabilities(model, rows) is None
    others = [SGDClassifier(loss="modified_huber"), Renamed(loss="log_loss"), SGDClassifier()]
    for other in others:
        assert logistic_probabilities(other.fit(X, y), X) is None
    assert logistic_probabilities(model.sparsify(), X) is None


@pytest.mark.parametrize("cls", [PerParentClassifier, PerNodeClassifier])
@pytest.mark.parametrize(
    "estimator",
    [
        SGDClassifier(loss="log_loss", random_state=0),
        SGDClassifier(random_state=0),
        LogisticRegression(),
    ],
    ids=str,
)
def test_local_models_give_the_same_answers(cls, estimator, monkeypatch):
    X, classes = problem(6)
    y = np.array(["a/b", "a/c", "a/d", "e/f", "e/g", "h"])[classes]
    model = cls(estimator).fit(X, y)
    scores, answers = model.predict_proba(X), model.predict(X)
    for fast in ("logistic_probabilities", "linear_predictions"):
        monkeypatch.setattr(f"ramify.local.learning.{fast}", lambda *_: None)
    np.testing.assert_array_equal(scores, model.predict_proba(X))
    np.testing.assert_array_equal(answers, model.predict(X))
    missing = X.copy()
    missing[0, 0] = np.nan
    with pytest.raises(ValueError, match="contains NaN"):
        model.predict(missing)
