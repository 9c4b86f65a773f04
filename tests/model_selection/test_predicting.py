"""cross_val_predict: held-out predictions that keep the hierarchy; labels unseen in training."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn import model_selection
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ramify import Hierarchy, PCTClassifier, as_levels, read_labels
from ramify.metrics import get_scorer, get_scorer_names
from ramify.model_selection import cross_val_predict
from tests.support.local_cases import is_coherent

PATHS = np.array(["a/b", "a/c", "d/e/f", "d/e/g", "h", "i"])
FOLDS = KFold(3)


@pytest.fixture(scope="module")
def problem():
    X = np.random.default_rng(3).normal(size=(90, 4))
    return X, PATHS[(abs(X[:, 0] + X[:, 1]) * 2).astype(int) % len(PATHS)]


def forms(y):
    encoded = read_labels(y)
    frame = pd.DataFrame(encoded.Y.toarray(), columns=list(encoded.hierarchy.labels))
    return {
        "paths": y,
        "sets": [{path} for path in y],
        "levels": as_levels([path.split("/") for path in y]),
        "dense": encoded.Y.toarray(),
        "sparse": encoded.Y,
        "frame": frame,
    }


@pytest.mark.parametrize("form", ["paths", "sets", "levels", "dense", "sparse", "frame"])
@pytest.mark.parametrize("method", ["predict", "predict_proba"])
def test_every_row_is_predicted_by_the_model_of_its_fold(problem, form, method):
    X, y = problem
    hierarchy = read_labels(y).hierarchy
    labels = forms(y)[form]
    found = cross_val_predict(PCTClassifier(hierarchy), X, labels, cv=FOLDS, method=method)
    if form == "frame":
        labels = labels.to_numpy()
    elif form == "sets":
        labels = np.array(labels, dtype=object)
    for train, test in FOLDS.split(X):
        model = PCTClassifier(hierarchy).fit(X[train], labels[train])
        expected = getattr(model, method)(X[test])
        part = [found[i] for i in test] if isinstance(found, list) else found[test]
        if sparse.issparse(part):
            assert (part != expected).nnz == 0
        else:
            assert_array_equal(part, expected)


def test_columns_are_the_labels_of_all_rows(problem):
    X, y = problem
    y = y.astype("U9")
    y[0] = "rare/one"
    found = cross_val_predict(PCTClassifier(), X, y, cv=FOLDS, method="predict_proba")
    hierarchy = read_labels(y).hierarchy
    assert found.shape == (90, hierarchy.n_labels)
    assert found[0, hierarchy.index("rare")] == 0
    assert is_coherent(found, hierarchy)


def test_other_classifiers_and_pipelines(problem):
    X, y = problem
    hierarchy = read_labels(y).hierarchy
    for model in (
        LogisticRegression(),
        make_pipeline(StandardScaler(), PCTClassifier()),
        make_pipeline(StandardScaler(), LogisticRegression()),
    ):
        found = cross_val_predict(model, X, y, cv=3, method="predict_proba", random_state=0)
        assert found.shape == (90, 9)
        assert is_coherent(found, hierarchy)
        predicted = cross_val_predict(model, X, y, cv=3, random_state=0)
        assert set(predicted) <= set(hierarchy.labels)


def test_weights_groups_and_jobs(problem):
    X, y = problem
    groups = np.arange(90) % 5
    weights = np.where(X[:, 0] > 0, 1.0, 4.0)
    options = {"groups": groups, "cv": GroupKFold(5), "sample_weight": weights}
    found = cross_val_predict(PCTClassifier(), X, y, **options, method="predict_proba")
    with parallel_config("threading"):
        again = cross_val_predict(
            PCTClassifier(), X, y, **options, method="predict_proba", n_jobs=2
        )
    assert_array_equal(found, again)
    train = groups != 0
    model = PCTClassifier(read_labels(y).hierarchy).fit(X[train], y[train], weights[train])
    assert_array_equal(found[~train], model.predict_proba(X[~train]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cv": ShuffleSplit(2, random_state=0)}, "cv must put every row into exactly one test"),
        ({"cv": 1}, "cv must be an integer >= 2, got 1"),
        ({"method": "decision_function"}, "method must be one of 'predict', 'predict_proba'"),
    ],
)
def test_bad_arguments(problem, options, message):
    with pytest.raises(ValueError, match=message):
        cross_val_predict(PCTClassifier(), *problem, **options)


def test_scikit_learns_function_is_refused_if_the_hierarchy_is_given(problem):
    X, y = problem
    model = PCTClassifier(read_labels(y).hierarchy)
    with pytest.raises(ValueError, match=r"use ramify.model_selection.cross_val_predict"):
        model_selection.cross_val_predict(model, X, y, cv=FOLDS, method="predict_proba")
    assert set(model_selection.cross_val_predict(model, X, y, cv=FOLDS)) <= set(PATHS)


# ---- labels that do not occur in training --------------------------------------------------


@pytest.mark.parametrize("form", ["paths", "sets", "levels"])
@pytest.mark.parametrize("scoring", [None, *get_scorer_names()])
def test_labels_unseen_in_training_are_missed(problem, form, scoring):
    X, y = problem
    y = y.astype("U9")
    y[0] = "rare/one"
    labels = forms(y)[form]
    scorer = None if scoring is None else get_scorer(scoring)
    with pytest.warns(UserWarning, match="labels that did not occur in fit: 'rare', 'rare/one'"):
        found = cross_val_score(PCTClassifier(), X, labels, cv=FOLDS, scoring=scorer)
    assert np.isfinite(found).all()
    # With all labels known in advance, the models are the same and so are the scores.
    model = PCTClassifier(read_labels(y).hierarchy)
    expected = cross_val_score(model, X, labels, cv=FOLDS, scoring=scorer)
    assert found[0] == pytest.approx(expected[0])


def test_a_row_with_an_unseen_label_is_wrong():
    X, y = [[0.0], [1.0], [2.0]], ["a/b", "c", "a/b"]
    model = PCTClassifier().fit(X, y)
    assert model.score(X, y) == 1
    with pytest.warns(UserWarning, match="did not occur in fit: 'a/x'"):
        assert model.score(X, ["a/b", "a/x", "a/b"]) == pytest.approx(2 / 3)
    with pytest.warns(UserWarning, match="did not occur in fit"):
        found = get_scorer("micro_f1")(model, X, ["a/b", "a/x", "a/b"])
    assert found == pytest.approx(2 * 4 / (5 + 6))
    numbers = PCTClassifier().fit(X, [1, 2, 1])
    with pytest.warns(UserWarning, match="did not occur in fit: 3"):
        assert numbers.score(X, [1, 3, 1]) == pytest.approx(2 / 3)


def test_unknown_labels_are_errors_if_the_hierarchy_is_given():
    X, y = [[0.0], [1.0]], ["a/b", "c"]
    model = PCTClassifier(Hierarchy.from_paths(y)).fit(X, y)
    for score in (model.score, lambda *data: get_scorer("micro_f1")(model, *data)):
        with pytest.raises(ValueError, match="unknown label 'a/x'"):
            score(X, ["a/x", "c"])
