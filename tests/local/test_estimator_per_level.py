"""Local architectures with an estimator for each level."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

import ramify
from ramify import (
    BinaryRelevance,
    FlatClassifier,
    LinearClassifier,
    PCTClassifier,
    PCTForestClassifier,
    PerEdgeClassifier,
    PerLevelClassifier,
    PerNodeClassifier,
    PerParentClassifier,
)

ARCHITECTURES = (PerEdgeClassifier, PerNodeClassifier, PerParentClassifier, PerLevelClassifier)


def data() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    kind = random.integers(0, 5, 150)
    X = random.normal(size=(150, 4)) + np.eye(5, 4)[kind] * 3
    return X, np.array(["a/x", "a/y", "b/u/s", "b/u/t", "b/v"])[kind]


@pytest.mark.parametrize("cls", ARCHITECTURES)
def test_each_level_has_models_of_its_own_estimator(cls):
    X, y = data()
    levels = [GaussianNB(), LogisticRegression(), PCTClassifier(max_depth=2)]
    model = cls(levels).fit(X, y)
    probabilities = model.predict_proba(X)
    for level, estimator in enumerate(levels, start=1):
        own = cls(clone(estimator)).fit(X, y)
        for key, fitted in model.named_estimators_.items():
            labels = model.local_models_[key].labels
            if model.hierarchy_.label_levels[labels[0]] == level:
                assert type(fitted) is type(estimator)
                expected = own.named_estimators_[key].predict_proba(X)
                np.testing.assert_allclose(fitted.predict_proba(X), expected)
    # The first level depends on the first estimator alone.
    first = cls(GaussianNB()).fit(X, y)
    top = [list(model.classes_).index(name) for name in ("a", "b")]
    np.testing.assert_allclose(probabilities[:, top], first.predict_proba(X)[:, top])
    assert model.score(X, y) > 0.7


@pytest.mark.parametrize("cls", ARCHITECTURES)
def test_none_is_the_default_and_equal_levels_are_one_estimator(cls):
    X, y = data()
    same = cls([LinearClassifier()] * 3).fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(same, cls(LinearClassifier()).fit(X, y).predict_proba(X))
    model = cls([None, LinearClassifier(C=2.0), LinearClassifier(C=4.0)]).fit(X, y)
    kinds = {type(one) for one in model.estimators_}
    assert kinds == {PCTForestClassifier, LinearClassifier}
    assert {one.C for one in model.estimators_ if isinstance(one, LinearClassifier)} == {2.0, 4.0}


@pytest.mark.parametrize("cls", ARCHITECTURES)
def test_they_are_cloned_saved_and_fitted_by_threads(cls, tmp_path):
    X, y = data()
    levels = [LogisticRegression(), LinearClassifier(), PCTClassifier(max_depth=2)]
    model = clone(cls(levels, n_jobs=2, random_state=0)).fit(X, y)
    ramify.save(model, tmp_path / "model.ramify")
    loaded = ramify.load(tmp_path / "model.ramify")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    alone = cls(levels, random_state=0).fit(X, y)
    np.testing.assert_array_equal(alone.predict_proba(X), model.predict_proba(X))
    assert len(loaded.estimator) == 3


def test_texts():
    texts = ["red pan", "blue pan", "oak table", "pine table"] * 6
    y = ["kitchen/pan/red", "kitchen/pan/blue", "home/table/oak", "home/table/pine"] * 6
    own = make_pipeline(TfidfVectorizer(), LogisticRegression())
    for levels in (
        [own, own, own],
        [LinearClassifier(), None, PCTClassifier()],
        [LogisticRegression(), LinearClassifier(), None],
    ):
        assert PerParentClassifier(levels).fit(texts, y).score(texts, y) == 1
    with pytest.raises(ValueError, match=r"^estimator must be a list of classifiers that all"):
        PerParentClassifier([own, LinearClassifier(), own]).fit(texts, y)


def test_wrong_lists():
    X, y = data()
    with pytest.raises(ValueError, match=r"^estimator must be a classifier or a list of one per"):
        PerLevelClassifier([GaussianNB(), GaussianNB()]).fit(X, y)
    mixed = [PCTClassifier(clus_compat=True), PCTClassifier(), PCTClassifier()]
    with pytest.raises(ValueError, match="with the same clus_compat"):
        PerParentClassifier(mixed).fit(X, y)
    with pytest.raises(TypeError, match="estimator must be a classifier with fit"):
        PerParentClassifier([GaussianNB(), "tree", GaussianNB()]).fit(X, y)
    for cls in (FlatClassifier, BinaryRelevance):
        with pytest.raises(TypeError, match="estimator must be a classifier with fit"):
            cls([GaussianNB()] * 3).fit(X, y)
