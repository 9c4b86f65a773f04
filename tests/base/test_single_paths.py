"""One label or path per row: by default no answer ends where no training row ended."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, SGDClassifier

import ramify
from ramify import Hierarchy, PerLevelClassifier, PerNodeClassifier
from tests.support.estimators import make, public_classifiers

# Thresholds and promises are ways to end early on purpose.
CLASSIFIERS = [
    c
    for c in public_classifiers()
    if c not in (ramify.TunedThresholdClassifierCV, ramify.SelectiveClassifier)
]
every_classifier = pytest.mark.parametrize("cls", CLASSIFIERS, ids=lambda c: c.__name__)

TREE = Hierarchy.from_paths(["a/p", "a/q", "a/r", "b/p", "b/q", "c", "d/unseen"])
DAG = Hierarchy.from_edges(
    [("a", "p"), ("b", "p"), ("a", "q"), ("b", "r"), ("p", "s"), ("q", "s"), ("r", "unseen")]
)


def noise(labels, n_rows=80):
    """Return features that say little, so that probabilities of siblings are alike."""
    random = np.random.default_rng(0)
    y = random.choice(np.array(labels), n_rows)
    return random.normal(size=(n_rows, 3)) + 0.5 * (y == labels[0])[:, None], y


@every_classifier
@pytest.mark.parametrize(
    ("hierarchy", "labels"),
    [(TREE, ["a/p", "a/q", "a/r", "b/p", "b/q", "c"]), (DAG, ["q", "r", "s"])],
    ids=["tree", "DAG"],
)
def test_answers_end_where_training_rows_ended(cls, hierarchy, labels):
    X, y = noise(labels)
    model = make(cls, hierarchy=hierarchy)
    if "multilabel" in model.get_params() and not hierarchy.is_tree:
        model.set_params(multilabel=True)
    model.fit(X, y)
    rows = np.random.default_rng(1).normal(size=(200, 3))
    found = set(model.predict(rows).tolist())
    if cls is ramify.MandatoryLeafClassifier:  # ends in leaves, with training rows or without
        assert found <= set(hierarchy.leaves)
    else:
        assert found <= set(labels)
    assert model.ends_.tolist() == [label in labels for label in hierarchy.labels]


@pytest.mark.parametrize("cls", [PerLevelClassifier, PerNodeClassifier])
def test_answers_may_end_early_on_request(cls):
    X, y = noise(["a/p", "a/q", "a/r", "b/p", "b/q"])
    model = cls(SGDClassifier(loss="log_loss", random_state=0)).fit(X, y)
    everywhere = model.predict(X, candidates="all")
    assert {"a", "b"} & set(everywhere.tolist())
    assert not {"a", "b"} & set(model.predict(X).tolist())
    same = np.array([label.count("/") == 1 for label in everywhere])
    np.testing.assert_array_equal(everywhere[same], model.predict(X)[same])


@every_classifier
def test_candidates_are_checked(cls):
    X, y = noise(["a/p", "a/q", "b/p"], 40)
    model = make(cls).fit(X, y)
    with pytest.raises(ValueError, match=r"candidates must be .*'specific'.*, got 'leaves'"):
        model.predict(X, candidates="leaves")


def test_rows_without_weight_are_no_ends():
    X, y = noise(["a/p", "a/q", "b"], 60)
    y = np.where(np.arange(60) < 5, "a", y)
    weights = (np.arange(60) >= 5).astype(float)
    model = PerNodeClassifier(LogisticRegression()).fit(X, y, sample_weight=weights)
    assert dict(zip(model.classes_.tolist(), model.ends_.tolist(), strict=True))["a"] is False
    assert "a" not in model.predict(X)


def test_files_remember_the_ends(tmp_path):
    X, y = noise(["a/p", "a/q", "a/r", "b/p"])
    model = PerLevelClassifier().fit(X, y)
    ramify.save(model, tmp_path / "model.ramify")
    loaded = ramify.load(tmp_path / "model.ramify")
    np.testing.assert_array_equal(loaded.ends_, model.ends_)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
