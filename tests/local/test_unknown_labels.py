"""Local models, ML-kNN and naive Bayes learn from labels that are known for some rows only."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import ramify
from ramify import (
    BinaryRelevance,
    FlatClassifier,
    GlobalNaiveBayes,
    Hierarchy,
    LinearClassifier,
    MLkNN,
    PartialLabels,
    PCTClassifier,
    PerEdgeClassifier,
    PerLevelClassifier,
    PerNodeClassifier,
    PerParentClassifier,
)
from ramify.labels.encoding import read_labels
from ramify.labels.unknown import known_shares
from tests.reference import transformations
from tests.reference import unknown as reference
from tests.support.budget import budget
from tests.support.label_graphs import build, label_graphs

TREE = Hierarchy.from_paths(["a/b", "a/c", "d/e", "d/f"])
NAN = np.nan


def problem(rate: float = 0.4, hierarchy: Hierarchy = TREE) -> tuple[np.ndarray, np.ndarray]:
    """Return X and closed labels, NaN where they are not known."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = (X @ rng.normal(size=(3, hierarchy.n_labels)) > 0.5).astype(int)
    y = hierarchy.close(y).toarray().astype(float)
    y[rng.random(y.shape) < rate] = NAN
    return X, reference.closed(hierarchy, y)


def positive(model, X: np.ndarray) -> np.ndarray:
    return model.predict_proba(X)[:, list(model.classes_).index(1)]


@pytest.mark.parametrize(
    ("architecture", "below_parent"),
    [
        (PerEdgeClassifier, True),
        (PerNodeClassifier, None),
        (BinaryRelevance, False),
    ],
)
def test_binary_models_learn_from_the_rows_that_know_the_label(
    architecture, below_parent: bool | None
) -> None:
    X, y = problem()
    model = architecture(DecisionTreeClassifier(random_state=0), hierarchy=TREE).fit(X, y)
    for (key, own), c in zip(model.named_estimators_.items(), range(6), strict=True):
        label = key[1] if isinstance(key, tuple) else key
        assert label == TREE.labels[c]
        rows = ~np.isnan(y[:, c])
        siblings = [k for k in range(6) if TREE.parents(TREE.labels[k]) == TREE.parents(label)]
        if below_parent is None:
            rows &= (y[:, siblings] == 1).any(axis=1)
        elif below_parent:
            for parent in TREE.parents(label):
                rows &= y[:, TREE.index(parent)] == 1
        expected = DecisionTreeClassifier(random_state=0).fit(X[rows], y[rows, c].astype(int))
        np.testing.assert_array_equal(positive(own, X), positive(expected, X))


def test_joint_models_of_others_learn_from_the_rows_that_know_all_labels() -> None:
    X, y = problem()
    model = PerParentClassifier(KNeighborsClassifier(3), hierarchy=TREE).fit(X, y)
    children = TREE.indices(["a/b", "a/c"])
    rows = (y[:, TREE.index("a")] == 1) & ~np.isnan(y[:, children]).any(axis=1)
    expected = KNeighborsClassifier(3).fit(X[rows], y[rows][:, children].astype(int))
    found = model.named_estimators_["a"].predict(X)
    np.testing.assert_array_equal(found, expected.predict(X))


@pytest.mark.parametrize("architecture", [PerParentClassifier, PerLevelClassifier])
def test_joint_trees_learn_from_the_rows_that_know_some_labels(architecture) -> None:
    X, y = problem()
    model = architecture(PCTClassifier(min_samples_leaf=5), hierarchy=TREE).fit(X, y)
    key, names, rows = (
        ("a", ["a/b", "a/c"], y[:, TREE.index("a")] == 1)
        if architecture is PerParentClassifier
        else (1, list(TREE.levels[1]), np.ones(len(X), bool))
    )
    own = PCTClassifier(Hierarchy.from_labels(names), min_samples_leaf=5)
    own.fit(X[rows], y[rows][:, TREE.indices(names)])
    found = model.named_estimators_[key].predict_proba(X)
    np.testing.assert_allclose(found, own.predict_proba(X), rtol=1e-12)


def test_one_path_per_row() -> None:
    ends = ["a/b", "a/c", "a", "d/e"]
    y = PartialLabels(ends * 20, TREE, ends="unknown_below")
    X = np.array([[0.0, 0.0], [0.0, 1.0], [0.0, 1.0], [1.0, 0.0]] * 20)
    for model in (
        PerParentClassifier(LinearClassifier(), hierarchy=TREE),
        PerEdgeClassifier(DecisionTreeClassifier(), hierarchy=TREE),
        PerLevelClassifier(DecisionTreeClassifier(), hierarchy=TREE),
        GlobalNaiveBayes(TREE, var_smoothing=0.1),
    ):
        model.fit(X, y)
        assert model.predict([[0.0, 1.0], [1.0, 0.0]]).tolist() == ["a/c", "d/e"]


def test_a_label_that_no_row_knows_has_probability_zero() -> None:
    X, y = problem()
    y[:, [TREE.index("d/e"), TREE.index("d/f")]] = NAN
    for model in (
        PerEdgeClassifier(PCTClassifier(), hierarchy=TREE),
        PerParentClassifier(PCTClassifier(), hierarchy=TREE),
        GlobalNaiveBayes(TREE),
    ):
        found = model.fit(X, y).predict_proba(X)
        assert (found[:, TREE.index("d/e")] == 0).all()
        assert (found[:, TREE.index("a")] > 0).any()


def test_ml_knn_equals_the_reference(tmp_path) -> None:
    flat = Hierarchy.from_labels(list("abc"))
    X, y = problem(0.5, flat)
    rows = ~np.isnan(y).all(axis=1)
    model = MLkNN(flat, n_neighbors=4).fit(X, y)
    expected = transformations.ml_knn(X[rows], y[rows], X[:20], k=4, s=1.0)
    np.testing.assert_allclose(model.predict_proba(X[:20]), expected, rtol=1e-12)
    ramify.save(model, tmp_path / "model.ramify")
    loaded = ramify.load(tmp_path / "model.ramify")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


@budget(60)
@given(parents=label_graphs(), seed=st.integers(0, 2**32 - 1))
def test_shares_equal_the_reference(parents: dict, seed: int) -> None:
    hierarchy = build(parents)
    rng = np.random.default_rng(seed)
    y = hierarchy.close((rng.random((9, hierarchy.n_labels)) < 0.4).astype(int)).toarray()
    hidden = rng.random(y.shape) < rng.choice([0.2, 0.5])
    rows = reference.Rows(
        reference.closed(hierarchy, np.where(hidden, NAN, y.astype(float))), hierarchy
    )
    encoded = read_labels(PartialLabels(rows.y, hierarchy), allow_unknown=True)
    if encoded.unknown is None:
        return
    weights = rng.choice([0.5, 1.0, 2.0], 9)
    node = SimpleNamespace(sums=weights @ rows.moments(), weight=weights.sum())
    found = known_shares(hierarchy, encoded.Y, encoded.unknown, weights)
    np.testing.assert_allclose(found, rows.shares(node, None), rtol=1e-9, atol=1e-12)


def test_naive_bayes_does_not_take_unknown_labels_for_ends() -> None:
    y = PartialLabels(["a", "a/b", "d/e", None], TREE, ends="unknown_below")
    model = GlobalNaiveBayes(TREE).fit([[0.0], [0.1], [1.0], [2.0]], y)
    shares = dict(zip(TREE.labels, np.exp(model.log_prior_), strict=True))
    # Two of three rows are "a", all of which that know it are "a/b".
    expected = {"a": 0, "a/b": 2 / 3, "a/c": 0, "d": 0, "d/e": 1 / 3, "d/f": 0}
    assert shares == pytest.approx(expected)
    assert model.log_prior_none_ == -np.inf


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PerNodeClassifier(policy="exclusive"), "policy='exclusive' asks at which"),
        (ramify.BinaryRelevancePlus, "Use BinaryRelevance"),
        (ramify.LabelPowerset, "LabelPowerset learns whole label sets"),
        (ramify.BRDTClassifier, "BRDTClassifier requires all labels"),
        (ramify.SiblingLassoClassifier, "SiblingLassoClassifier requires all labels"),
    ],
)
def test_what_requires_all_labels_says_so(make, message: str) -> None:
    X, y = problem()
    with pytest.raises(ValueError, match=message):
        make().set_params(hierarchy=TREE).fit(X, y)


def test_flat_models_of_leaves() -> None:
    X, y = problem()
    found = FlatClassifier(PCTClassifier(), hierarchy=TREE).fit(X, y).predict_proba(X)
    assert np.isfinite(found).all()
