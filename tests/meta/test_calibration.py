"""Tests of calibration: the curves of single labels and CalibratedHierarchicalClassifier."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeClassifier

from ramify import (
    CalibratedHierarchicalClassifier,
    Hierarchy,
    PCTClassifier,
    PCTForestClassifier,
    load,
    load_animals,
    save,
)
from ramify.decision import make_coherent
from ramify.meta.calibration import fit_isotonic, fit_sigmoid

BINARY = Hierarchy.from_labels(["yes"])


@st.composite
def calibration_rows(draw):
    n = draw(st.integers(2, 30))
    scores = draw(hnp.arrays(float, n, elements=st.floats(0, 1)))
    truth = draw(hnp.arrays(float, n, elements=st.sampled_from([0.0, 1.0])))
    weights = draw(hnp.arrays(int, n, elements=st.integers(1, 3)))
    return scores, truth, weights


@given(calibration_rows(), st.sampled_from([fit_isotonic, fit_sigmoid]))
def test_curves_are_non_decreasing_and_within_0_and_1(rows, fit):
    curve = fit(*rows)
    if curve is None:
        return
    answers = curve(np.linspace(-0.5, 1.5, 50))
    assert (np.diff(answers) >= 0).all()
    assert answers.min() >= 0
    assert answers.max() <= 1


@given(calibration_rows(), st.sampled_from([fit_isotonic, fit_sigmoid]))
def test_weighted_rows_are_equivalent_to_repeated_rows(rows, fit):
    scores, truth, weights = rows
    repeated = np.repeat(np.arange(len(scores)), weights)
    weighted = fit(scores, truth, weights.astype(float))
    counted = fit(scores[repeated], truth[repeated], np.ones(len(repeated)))
    grid = np.linspace(0, 1, 20)
    if weighted is None or counted is None:
        assert weighted is counted is None
        return
    np.testing.assert_allclose(weighted(grid), counted(grid), atol=1e-5)


@given(calibration_rows())
def test_the_sigmoid_maximises_the_likelihood(rows):
    """At the optimum, targets and probabilities have the same sum and the same first moment."""
    scores, truth, weights = rows
    curve = fit_sigmoid(scores, truth, weights.astype(float))
    if curve is None:
        return
    positive, negative = weights @ truth, weights @ (1 - truth)
    targets = np.where(truth > 0, (positive + 1) / (positive + 2), 1 / (negative + 2))
    errors = weights * (curve(scores) - targets)
    assert abs(errors.sum()) < 1e-4
    assert abs(errors @ scores) < 1e-4


def test_uninformative_scores_give_no_sigmoid():
    truth = np.array([0.0, 1.0, 1.0, 0.0])
    assert fit_sigmoid(np.full(4, 0.625), truth, np.ones(4)) is None
    assert fit_sigmoid(np.array([0.1, 0.1, 0.3, 0.3]), truth, np.ones(4)) is None
    # The scale of the scores does not matter.
    scores = np.array([0.1, 0.2, 0.15, 0.12])
    near = fit_sigmoid(0.5 + 1e-6 * scores, truth, np.ones(4))
    wide = fit_sigmoid(scores, truth, np.ones(4))
    np.testing.assert_allclose(near(0.5 + 1e-6 * scores), wide(scores), atol=1e-6)


@pytest.fixture(scope="module")
def binary():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    return X, (X[:, 0] + rng.normal(size=400) > 0.5).astype(int)


@pytest.mark.parametrize("method", ["isotonic", "sigmoid"])
def test_one_label_is_calibrated_as_by_scikit_learn(binary, method):
    X, y = binary
    folds = list(KFold(4, shuffle=True, random_state=0).split(X))
    forest = RandomForestClassifier(20, min_samples_leaf=3, random_state=0)
    theirs = CalibratedClassifierCV(forest, method=method, cv=folds, ensemble=False).fit(X, y)
    ours = CalibratedHierarchicalClassifier(forest, hierarchy=BINARY, method=method, cv=folds)
    scores = ours.fit(X, y[:, None]).predict_proba(X)
    expected = theirs.predict_proba(X)[:, 1]
    np.testing.assert_allclose(scores[:, 0], expected, atol=1e-4 if method == "sigmoid" else 1e-12)


def test_labels_with_few_rows_keep_their_scores():
    data = load_animals()
    tree = PCTClassifier(data.hierarchy, min_samples_leaf=3, random_state=0)
    calibrated = CalibratedHierarchicalClassifier(tree, min_positives=20, random_state=0)
    calibrated.fit(data.X, data.y)
    counts = np.asarray(data.y.sum(axis=0))
    enough = (counts >= 20) & (len(data.names) - counts >= 20)
    expected = [label for label, many in zip(data.hierarchy.labels, enough, strict=True) if many]
    assert list(calibrated.calibrated_labels_) == expected
    assert 0 < len(expected) < data.hierarchy.n_labels
    none = CalibratedHierarchicalClassifier(tree, min_positives=10**6, random_state=0)
    none.fit(data.X, data.y)
    assert none.calibrated_labels_ == ()
    plain = tree.fit(data.X, data.y).predict_proba(data.X)
    np.testing.assert_array_equal(none.predict_proba(data.X), plain)


def test_scores_are_calibrated_and_then_made_coherent():
    data = load_animals()
    forest = PCTForestClassifier(data.hierarchy, n_estimators=10, random_state=0)
    calibrated = CalibratedHierarchicalClassifier(forest, random_state=0, coherence="max")
    calibrated.fit(data.X, data.y)
    raw = calibrated.estimator_.predict_proba(data.X)
    for label, curve in enumerate(calibrated.calibrators_):
        if curve is not None:
            raw[:, label] = curve(raw[:, label])
    expected = make_coherent(raw, data.hierarchy, "max")
    np.testing.assert_array_equal(calibrated.predict_proba(data.X), expected)
    assert (expected != raw).any()


@pytest.mark.parametrize("method", ["isotonic", "sigmoid"])
def test_calibration_reduces_the_error_of_overconfident_trees(method):
    data = load_animals()
    test = np.arange(len(data.names)) % 2 == 0
    truth = data.y[test].toarray()
    tree = PCTClassifier(data.hierarchy, random_state=0)
    calibrated = CalibratedHierarchicalClassifier(tree, method=method, random_state=0)
    calibrated.fit(data.X[~test], data.y[~test])
    before = ((calibrated.estimator_.predict_proba(data.X[test]) - truth) ** 2).mean()
    after = ((calibrated.predict_proba(data.X[test]) - truth) ** 2).mean()
    assert after < 0.95 * before


def test_with_one_path_per_row_top_level_probabilities_sum_to_one():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3))
    y = np.array(["a/b", "a/c", "d", "e"])[(X > 0).sum(axis=1)]
    for estimator in (PCTClassifier(random_state=0), DecisionTreeClassifier(random_state=0)):
        calibrated = CalibratedHierarchicalClassifier(estimator, method="sigmoid", random_state=0)
        scores = calibrated.fit(X, y).predict_proba(X)
        top = [list(calibrated.classes_).index(label) for label in ("a", "d", "e")]
        np.testing.assert_allclose(scores[:, top].sum(axis=1), 1)
        assert np.mean(calibrated.predict(X) == y) > 0.9


def test_top_level_probabilities_sum_to_one_even_if_all_curves_give_zero():
    X = np.repeat([[0.0], [1.0], [2.0]], 30, axis=0)
    y = np.repeat(["a", "b", "c"], 30)
    weights = np.ones(90)
    calibrated = CalibratedHierarchicalClassifier(PCTClassifier(random_state=0), random_state=0)
    calibrated.fit(X, y, sample_weight=weights)
    scores = calibrated.predict_proba(X)
    np.testing.assert_allclose(scores.sum(axis=1), 1)


def test_validation_rows(binary):
    X, y = binary
    tree = PCTClassifier(hierarchy=BINARY, random_state=0)
    calibrated = CalibratedHierarchicalClassifier(tree)
    calibrated.fit(X[:200], y[:200, None], X_val=X[200:], y_val=y[200:, None])
    raw = tree.fit(X[:200], y[:200, None]).predict_proba(X[200:])
    expected = fit_isotonic(raw[:, 0], y[200:].astype(float), np.ones(200))
    np.testing.assert_array_equal(calibrated.calibrators_[0].score, expected.score)


def test_loaded_models_predict_the_same(tmp_path):
    data = load_animals()
    for method in ("isotonic", "sigmoid"):
        tree = PCTClassifier(data.hierarchy, random_state=0)
        model = CalibratedHierarchicalClassifier(tree, method=method, random_state=0)
        model.fit(data.X, data.y)
        save(model, tmp_path / "model.ramify")
        kept = load(tmp_path / "model.ramify")
        np.testing.assert_array_equal(kept.predict_proba(data.X), model.predict_proba(data.X))
        assert kept.calibrated_labels_ == model.calibrated_labels_


def test_errors_name_the_parameter_and_its_value(binary):
    X, y = binary
    tree = PCTClassifier(random_state=0)
    with pytest.raises(ValueError, match=r"method must be one of 'isotonic'.*got 'platt'"):
        CalibratedHierarchicalClassifier(tree, method="platt").fit(X, y)
    with pytest.raises(ValueError, match="min_positives must be an integer >= 1, got 0"):
        CalibratedHierarchicalClassifier(tree, min_positives=0).fit(X, y)
