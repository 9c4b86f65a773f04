"""Methods that users of scikit-learn expect: log-probabilities, and forests as sequences."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from ramify import (
    PCTClassifier,
    PCTForestRegressor,
    PCTMultiTargetClassifier,
    PCTMultiTargetForestClassifier,
    PCTRegressor,
    load,
    make_hierarchical_classification,
    save,
)
from tests.support.estimators import make, public_classifiers, public_estimators

DATA = make_hierarchical_classification(60, 4, n_labels=6, random_state=0, as_frame=False)
ENSEMBLES = [  # classes with __len__
    cls for cls in public_estimators() if hasattr(cls, "__len__")
]
NUMBERS = np.column_stack([DATA.X[:, 0], DATA.X[:, 1] * DATA.X[:, 2]])


def fitted(cls):
    y = DATA.y if cls in public_classifiers() else NUMBERS.round()
    return make(cls).fit(DATA.X, y)


@pytest.mark.parametrize("cls", public_classifiers(), ids=lambda c: c.__name__)
def test_predict_log_proba_is_the_logarithm_of_predict_proba(cls):
    model = fitted(cls)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = model.predict_log_proba(DATA.X)
    np.testing.assert_allclose(np.exp(found), model.predict_proba(DATA.X), atol=1e-15)


def test_predict_log_proba_of_several_targets_is_a_list():
    model = PCTMultiTargetClassifier().fit(DATA.X, NUMBERS.round())
    for log, share in zip(
        model.predict_log_proba(DATA.X), model.predict_proba(DATA.X), strict=True
    ):
        np.testing.assert_array_equal(np.exp(log), share)
    model.fit(DATA.X, NUMBERS[:, 0].round())
    assert isinstance(model.predict_log_proba(DATA.X), np.ndarray)


def test_set_output_of_probabilities_is_that_of_their_logarithms():
    model = PCTClassifier().fit(DATA.X, DATA.y).set_output(predict_proba="pandas")
    found = model.predict_log_proba(DATA.X)
    assert isinstance(found, pd.DataFrame)
    assert list(found.columns) == model.classes_.tolist()


@pytest.mark.parametrize("cls", ENSEMBLES, ids=lambda c: c.__name__)
def test_ensembles_are_sequences_of_fitted_estimators(cls):
    model = fitted(cls)
    assert len(model) == len(model.estimators_) == 3
    expected = model.estimators_[1].predict(DATA.X)
    for member in (model[1], model[-2], list(model)[1], model[1:][0]):
        assert type(member) is type(model.estimators_[1])
        np.testing.assert_array_equal(_dense(member.predict(DATA.X)), _dense(expected))
    with pytest.raises(IndexError):
        model[3]
    for ask in (len, iter, lambda unfitted: unfitted[0]):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            ask(make(cls))


def _dense(found):
    return found.toarray() if hasattr(found, "toarray") else found


def test_forests_and_bagging_are_sequences():
    assert len(ENSEMBLES) == 6


@pytest.mark.parametrize("clus_compat", [False, True])
def test_trees_of_a_regression_forest_are_regressors_whose_mean_it_is(clus_compat, tmp_path):
    X = pd.DataFrame(DATA.X, columns=list("abcd"))
    y = pd.DataFrame(NUMBERS, columns=["first", "second"])
    forest = PCTForestRegressor(
        n_estimators=5, max_depth=3, random_state=0, clus_compat=clus_compat
    ).fit(X, y)
    assert {type(tree) for tree in forest.estimators_} == {PCTRegressor}
    mean = np.mean([tree.predict(X) for tree in forest.estimators_], axis=0)
    np.testing.assert_allclose(forest.predict(X), mean, rtol=1e-12)
    tree = forest[0]
    assert (tree.max_depth, tree.clus_compat) == (3, clus_compat)
    assert tree.target_names_.tolist() == ["first", "second"]
    assert tree.feature_names_in_.tolist() == list("abcd")
    save(tree, tmp_path / "tree.ramify")
    again = load(tmp_path / "tree.ramify")
    np.testing.assert_array_equal(again.predict(X), tree.predict(X))


def test_trees_of_a_forest_for_classes_are_classifiers():
    y = np.column_stack([np.sign(DATA.X[:, 0]), NUMBERS[:, 1].round()])
    forest = PCTMultiTargetForestClassifier(n_estimators=5, criterion="entropy", random_state=0)
    forest.fit(DATA.X, y)
    assert {type(tree) for tree in forest.estimators_} == {PCTMultiTargetClassifier}
    for target, share in enumerate(forest.predict_proba(DATA.X)):
        mean = np.mean([t.predict_proba(DATA.X)[target] for t in forest], axis=0)
        np.testing.assert_allclose(share, mean, rtol=1e-12)
    assert forest[0].criterion == "entropy"
    one = PCTMultiTargetForestClassifier(n_estimators=2, random_state=0).fit(DATA.X, y[:, 0])
    assert one[0].predict(DATA.X).shape == (60,)
    assert one[0].classes_.tolist() == one.classes_.tolist()
