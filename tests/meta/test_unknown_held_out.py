"""Thresholds, calibration, promises and votes from held-out rows whose labels are partly known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from ramify import (
    CalibratedHierarchicalClassifier,
    HierarchicalVotingClassifier,
    Hierarchy,
    PartialLabels,
    PCTClassifier,
    PCTForestClassifier,
    SelectiveClassifier,
    TunedThresholdClassifierCV,
)
from ramify.decision import choose_thresholds
from ramify.decision.guarantees import false_events
from ramify.labels.unknown import close_unknown
from ramify.metrics import micro_f1

TREE = Hierarchy.from_paths(["bird/hawk", "bird/owl", "mammal/cat"])


def draw_rows(seed: int, n: int):
    """Return numeric rows, their paths, and the paths with the ends of half of the birds cut."""
    rng = np.random.default_rng(seed)
    kinds = rng.integers(0, 3, n)
    X = np.eye(3)[kinds] + rng.normal(scale=0.7, size=(n, 3))
    paths = np.array(["bird/hawk", "bird/owl", "mammal/cat"])[kinds]
    cut = np.where((kinds < 2) & (rng.random(n) < 0.5), "bird", paths)
    return X, paths, cut


@pytest.fixture(scope="module")
def model():
    X, paths, _ = draw_rows(0, 300)
    return PCTForestClassifier(TREE, n_estimators=20, min_samples_leaf=5, random_state=0).fit(
        X, TREE.encode([[path] for path in paths]).toarray()
    )


def hidden(Y, seed: int, rate: float) -> PartialLabels:
    """Hide entries of a label matrix at random."""
    marked = np.random.default_rng(seed).random(Y.shape) < rate
    return PartialLabels(np.where(marked, np.nan, Y), TREE)


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.1, 0.5, 0.9]))
def test_thresholds_are_the_best_on_known_labels(seed, rate):
    rng = np.random.default_rng(seed)
    scores = np.sort(rng.random((8, 1)).round(1) * [1, 1, 1, 1, 1] * rng.random((8, 5)).round(1))
    scores = scores[:, [4, 3, 2, 4, 1]]  # no label above its parent
    Y = TREE.close((rng.random((8, 5)) < 0.4).astype(int)).toarray()
    truth = hidden(Y, seed, rate)
    known = ~np.isnan(truth.to_array())

    def f1(threshold: float) -> float:
        predicted = (scores >= threshold) & known
        shared = (predicted & (Y == 1)).sum()
        return 2 * shared / max(1, predicted.sum() + (known & (Y == 1)).sum())

    (chosen,) = set(choose_thresholds(truth, scores, TREE))
    candidates = [np.inf, *np.unique(scores[scores > 0])]
    assert f1(chosen) == pytest.approx(max(f1(threshold) for threshold in candidates))


def test_fully_known_labels_give_the_same_model(model):
    X, paths, _ = draw_rows(1, 80)
    tree = PCTClassifier(TREE, min_samples_leaf=5, random_state=0)
    for wrapped in (
        TunedThresholdClassifierCV(tree, per="label", random_state=0),
        CalibratedHierarchicalClassifier(tree, random_state=0),
        SelectiveClassifier(tree, max_error=0.3, random_state=0),
        HierarchicalVotingClassifier(
            [("a", tree), ("b", PCTClassifier(TREE, max_depth=1))], weights="cv", random_state=0
        ),
    ):
        plain = wrapped.fit(X, paths).predict_proba(X)
        partial = wrapped.fit(X, PartialLabels(paths, TREE)).predict_proba(X)
        np.testing.assert_array_equal(partial, plain)


def test_rows_without_labels_change_no_threshold(model):
    X, paths, _ = draw_rows(2, 60)
    Y = TREE.encode([[path] for path in paths]).toarray().astype(float)
    more = np.vstack([Y, np.full((20, 5), np.nan)])
    X_more = np.vstack([X, X[:20] + 1])
    frozen = FrozenEstimator(model)
    for wrapped in (
        TunedThresholdClassifierCV(frozen, per="label"),
        SelectiveClassifier(frozen, max_error=0.2),
        SelectiveClassifier(frozen, max_error=0.2, errors="missed"),
    ):
        few = wrapped.fit(X, Y, X_val=X, y_val=Y).thresholds_
        many = wrapped.fit(X, Y, X_val=X_more, y_val=PartialLabels(more, TREE)).thresholds_
        np.testing.assert_array_equal(many, few)


def test_thresholds_are_tuned_while_labels_are_learnt_partly():
    X, _, cut = draw_rows(3, 400)
    y = PartialLabels(cut, TREE, ends="unknown_below")
    forest = PCTForestClassifier(TREE, n_estimators=10, min_samples_leaf=5, random_state=0)
    tuned = TunedThresholdClassifierCV(forest, per="label", random_state=0).fit(X, y)
    X_test, truth, _ = draw_rows(4, 400)
    assert micro_f1(truth, tuned.predict(X_test), hierarchy=TREE) > 0.75


@pytest.mark.parametrize("method", ["isotonic", "sigmoid"])
def test_known_rows_stand_for_those_that_do_not_know(model, method):
    X, paths, cut = draw_rows(5, 4000)
    truth = TREE.encode([[path] for path in paths]).toarray()
    partial = PartialLabels(cut, TREE, ends="unknown_below")
    calibrated = CalibratedHierarchicalClassifier(FrozenEstimator(model), method=method)
    scores = calibrated.fit(X, truth, X_val=X, y_val=partial).predict_proba(X)
    np.testing.assert_allclose(scores.mean(axis=0), truth.mean(axis=0), atol=0.02)
    known = ~np.isnan(partial.to_array())
    shares = [truth[known[:, k], k].mean() for k in range(truth.shape[1])]
    hawk = TREE.index("bird/hawk")
    assert shares[hawk] < truth[:, hawk].mean() - 0.05  # what those that know would say


def test_labels_that_too_few_rows_know_are_not_calibrated(model):
    X, paths, _ = draw_rows(6, 60)
    Y = TREE.encode([[path] for path in paths]).toarray().astype(float)
    Y[9:, TREE.index("bird/owl")] = np.nan
    calibrated = CalibratedHierarchicalClassifier(FrozenEstimator(model)).fit(
        X, Y, X_val=X, y_val=PartialLabels(Y, TREE)
    )
    assert "bird" in calibrated.calibrated_labels_
    assert "bird/owl" not in calibrated.calibrated_labels_


def test_an_end_that_is_not_known_counts_as_wrong(model):
    X, paths, cut = draw_rows(7, 500)
    selective = SelectiveClassifier(FrozenEstimator(model), max_error=0.2)
    partial = PartialLabels(cut, TREE, ends="unknown_below")
    found = selective.fit(X, paths, X_val=X, y_val=partial)
    answers = found.predict(X)
    is_known = np.char.startswith(cut, answers) & (answers != "")
    wrong = (answers != "") & ~is_known
    assert 0.1 < wrong.mean() <= 0.2
    full = SelectiveClassifier(FrozenEstimator(model), max_error=0.2)
    assert full.fit(X, paths, X_val=X, y_val=paths).thresholds_[0] < found.thresholds_[0]


def test_false_labels_are_counted_among_known_ones():
    scores = np.array([[0.9, 0.8, 0.7, 0.6, 0.5]])
    Y = TREE.encode([["bird/hawk"]])
    marked = np.zeros((1, 5), dtype=int)
    marked[0, TREE.index("mammal/cat")] = marked[0, TREE.index("mammal")] = 1
    unknown = close_unknown(TREE, Y, marked)
    columns = np.arange(5)
    (found,) = false_events(scores, Y, columns, monotone=False, unknown=unknown)
    (expected,) = false_events(scores[:, :3], Y[:, :3], columns[:3], monotone=False)
    np.testing.assert_array_equal(found.at, expected.at)
    np.testing.assert_array_equal(found.change, expected.change)


@pytest.mark.parametrize(
    "make",
    [
        lambda one: TunedThresholdClassifierCV(one, hierarchy=TREE),
        lambda one: CalibratedHierarchicalClassifier(one, hierarchy=TREE),
        lambda one: SelectiveClassifier(one, hierarchy=TREE),
        lambda one: HierarchicalVotingClassifier([("one", one)], hierarchy=TREE),
    ],
)
def test_classifiers_of_other_libraries_require_all_labels(make):
    X, _, cut = draw_rows(8, 30)
    y = PartialLabels(cut, TREE, ends="unknown_below")
    with pytest.raises(ValueError, match="LogisticRegression requires all labels"):
        make(LogisticRegression()).fit(X, y)


def test_some_label_must_be_known(model):
    X, _, _ = draw_rows(9, 4)
    nothing = PartialLabels(np.full((4, TREE.n_labels), np.nan), TREE)
    with pytest.raises(ValueError, match="y must have a known label in some row"):
        TunedThresholdClassifierCV(PCTClassifier(TREE)).fit(X, nothing)
    y = TREE.encode([["bird"]] * 4)
    with pytest.raises(ValueError, match="calibration must leave at least one row"):
        SelectiveClassifier(FrozenEstimator(model)).fit(X, y, X_val=X, y_val=nothing)
