"""Local architectures that learn from one part of the rows after the other."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import MultinomialNB

import ramify
from ramify import (
    FlatClassifier,
    Hierarchy,
    PCTClassifier,
    PerEdgeClassifier,
    PerLevelClassifier,
    PerNodeClassifier,
    PerParentClassifier,
)

PATHS = ["a/x", "a/y", "b/u", "b/v", "c"]
BINARY = (PerNodeClassifier, PerEdgeClassifier)
ARCHITECTURES = (*BINARY, PerParentClassifier, PerLevelClassifier)


def data(n_rows: int = 200, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    kind = random.integers(0, 5, n_rows)
    X = random.normal(size=(n_rows, 5)) * 0.6 + np.eye(5)[kind] * 3
    return X, np.array(PATHS)[kind]


def linear() -> SGDClassifier:
    return SGDClassifier(loss="log_loss", random_state=0)


@pytest.mark.parametrize("cls", ARCHITECTURES)
def test_naive_bayes_learns_the_same_from_parts_as_from_all_rows(cls):
    X, y = data()
    X = np.abs(X)
    hierarchy = Hierarchy.from_paths(PATHS)
    whole = cls(MultinomialNB(), hierarchy=hierarchy).fit(X, y)
    parts = cls(MultinomialNB(), hierarchy=hierarchy)
    for part in np.array_split(np.arange(200), 4):
        parts.partial_fit(X[part], y[part])
    np.testing.assert_allclose(parts.predict_proba(X), whole.predict_proba(X), atol=1e-6)
    assert list(parts.predict(X)) == list(whole.predict(X))
    weights = np.arange(200) % 3 + 1.0
    whole.fit(X, y, sample_weight=weights)
    again = cls(MultinomialNB(), hierarchy=hierarchy)
    for part in np.array_split(np.arange(200), 3):
        again.partial_fit(X[part], y[part], sample_weight=weights[part])
    np.testing.assert_allclose(again.predict_proba(X), whole.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("cls", ARCHITECTURES)
def test_all_labels_may_be_told_in_advance(cls):
    X, y = data()
    first = np.flatnonzero(np.isin(y, ["a/x", "c"]))
    rest = np.flatnonzero(~np.isin(y, ["a/x", "c"]))
    model = cls(linear(), hierarchy=Hierarchy.from_paths(PATHS))
    model.partial_fit(X[first], y[first])
    assert set(model.predict(X[first])) <= {"a/x", "c"}
    for _ in range(3):
        model.partial_fit(X[rest], y[rest]).partial_fit(X[first], y[first])
    assert (model.predict(X) == y).mean() > 0.9


@pytest.mark.parametrize("cls", BINARY)
def test_labels_may_appear_later(cls):
    X, y = data()
    old = np.isin(y, ["a/x", "c"])
    model = cls(linear()).partial_fit(X[old], y[old])
    assert sorted(model.classes_) == ["a", "a/x", "c"]
    before = model.predict_proba(X)
    with_before = {label: before[:, k] for k, label in enumerate(model.classes_)}
    copy = cls(linear()).partial_fit(X[old], y[old])
    new = np.isin(y, ["b/u", "b/v"])
    copy.partial_fit(X[new][:1], y[new][:1])
    assert {"b", "a", "a/x", "c"} < set(copy.classes_)
    assert set(with_before) < set(copy.classes_)
    for _ in range(4):
        model.partial_fit(X, y)
    assert set(model.classes_) == {"a", "a/x", "a/y", "b", "b/u", "b/v", "c"}
    assert (model.predict(X) == y).mean() > 0.9
    assert model.predict_proba(X).shape == (200, 7)


def test_the_separator_of_paths_stays():
    X, y = data()
    paths = np.char.replace(y, "/", " > ")
    old = np.isin(y, ["a/x", "a/y", "c"])
    model = PerNodeClassifier(linear()).partial_fit(X[old], paths[old]).partial_fit(X, paths)
    assert model.hierarchy_.separator == " > "


def test_flat_classes_and_levels_may_appear_later():
    X, y = data()
    flat = np.char.replace(y, "/", " ")
    model = PerNodeClassifier(linear()).partial_fit(X[flat == "c"], flat[flat == "c"])
    for _ in range(4):
        model.partial_fit(X, flat)
    assert (model.predict(X) == flat).mean() > 0.9
    levels = np.array([(*path.split("/"), "")[:2] for path in y])
    model = PerNodeClassifier(linear()).partial_fit(X[:5], levels[:5])
    for _ in range(4):
        model.partial_fit(X, levels)
    assert (model.predict(X) == levels).all(axis=1).mean() > 0.9


def test_label_sets():
    X, y = data()
    sets = [[path, "c"] if k % 3 else [path] for k, path in enumerate(y)]
    hierarchy = Hierarchy.from_paths(PATHS)
    model = PerNodeClassifier(linear(), hierarchy=hierarchy)
    for part in np.array_split(np.arange(200), 3):
        model.partial_fit(X[part], [sets[k] for k in part])
    assert model.predict_proba(X).shape == (200, 7)
    with pytest.raises(ValueError, match="partial_fit requires one label or path per row"):
        PerParentClassifier(linear(), hierarchy=hierarchy).partial_fit(X, sets)
    with pytest.raises(ValueError, match="the same format in all calls of partial_fit"):
        model.partial_fit(X, y)


def test_hashed_texts_saved_models_and_levels_of_estimators(tmp_path):
    texts = ["red pan", "blue pan", "oak table", "pine table"] * 6
    y = ["kitchen/red", "kitchen/blue", "home/oak", "home/pine"] * 6
    X = HashingVectorizer(n_features=2**10, alternate_sign=False).transform(texts)
    model = PerEdgeClassifier([MultinomialNB(alpha=0.1), linear()], random_state=0, n_jobs=2)
    for start in range(0, 24, 6):
        model.partial_fit(X[start : start + 6], y[start : start + 6])
    assert list(model.predict(X)) == y
    ramify.save(model, tmp_path / "model.ramify")
    loaded = ramify.load(tmp_path / "model.ramify").partial_fit(X, y)
    model.partial_fit(X, y)
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_goes_on_after_fit_and_is_all_or_nothing():
    X, y = data()
    model = PerParentClassifier(linear()).fit(X, y)
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match=r"^y has labels that appeared after the first call, 'd'"):
        model.partial_fit(X[:2], ["a/x", "d"])
    with pytest.raises(ValueError, match="5 features"):
        model.partial_fit(X[:, :3], y)
    np.testing.assert_array_equal(model.predict_proba(X), before)
    other = model.partial_fit(X, y)
    assert other is model
    assert not np.array_equal(model.predict_proba(X), before)


def test_a_level_without_an_estimator():
    X, y = data()
    model = PerNodeClassifier([linear()]).partial_fit(X[y == "c"], y[y == "c"])
    with pytest.raises(ValueError, match="got 1 and labels on level 2"):
        model.partial_fit(X, y)


def test_only_with_estimators_that_have_it():
    for model in (
        PerNodeClassifier(),
        PerNodeClassifier(LogisticRegression()),
        PerNodeClassifier(PCTClassifier()),
        PerNodeClassifier([linear(), None]),
        FlatClassifier(linear()),
    ):
        assert not hasattr(model, "partial_fit")
    with pytest.raises(ValueError, match="Hash texts with HashingVectorizer"):
        PerNodeClassifier(linear()).partial_fit(["a red pan", "an oak table"], ["x", "y"])
    X, y = data(30)
    assert PerNodeClassifier(linear()).partial_fit(sparse.csr_array(X), y).n_features_in_ == 5
