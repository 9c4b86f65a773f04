"""Smoothed leaves against m-estimates computed from the rows of each leaf."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify import Hierarchy, PCTClassifier, PCTForestClassifier, PerNodeClassifier
from tests.support.budget import budget

HIERARCHY = Hierarchy.from_paths(["a/b", "a/c", "d"])


def draw_rows(seed: int, n_rows: int = 40):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(n_rows, 3)).astype(float)
    ends = rng.random((n_rows, HIERARCHY.n_labels)) < 0.3
    ends[X[:, 0] > 2, -1] = True
    Y = HIERARCHY.close(ends.astype(np.int32)).toarray()
    return X, Y, rng.integers(0, 3, n_rows).astype(float)


def estimate(tree: PCTClassifier, X, Y, weights, strength: float):
    """Return the m-estimates of each training row, from the rows in its leaf."""
    prior = weights @ Y / weights.sum()
    leaf = tree.apply(X)
    expected = np.empty(Y.shape)
    for number in np.unique(leaf):
        here = leaf == number
        total = weights[here] @ Y[here]
        expected[here] = (total + strength * prior) / (weights[here].sum() + strength)
    return expected


@budget(30)
@given(
    seed=st.integers(0, 10**6),
    strength=st.sampled_from([1e-6, 0.5, 1.0, 3.0, 1e6]),
    criterion=st.sampled_from(["variance", "entropy", "gini", "hamming"]),
    max_depth=st.sampled_from([0, 1, 3, None]),
)
def test_leaves_predict_m_estimates(seed, strength, criterion, max_depth):
    X, Y, weights = draw_rows(seed)
    if not weights.any():
        weights[:] = 1.0
    plain = PCTClassifier(HIERARCHY, criterion=criterion, max_depth=max_depth)
    tree = PCTClassifier(
        HIERARCHY, criterion=criterion, max_depth=max_depth, smoothing=strength
    ).fit(X, Y, sample_weight=weights)
    plain.fit(X, Y, sample_weight=weights)
    np.testing.assert_array_equal(tree.apply(X), plain.apply(X))
    drawn = weights > 0
    expected = estimate(plain, X[drawn], Y[drawn], weights[drawn], strength)
    found = tree.predict_proba(X[drawn])
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    parent = HIERARCHY.index("a")
    for child in HIERARCHY.indices(["a/b", "a/c"]):
        assert (found[:, child] <= found[:, parent]).all()


def test_rows_with_missing_values_are_smoothed():
    X, Y, _ = draw_rows(1)
    X[::5, 1] = np.nan
    plain = PCTClassifier(HIERARCHY).fit(X, Y).tree_
    smooth = PCTClassifier(HIERARCHY, smoothing=2.0).fit(X, Y).tree_
    prior = Y.mean(axis=0)
    for node in np.flatnonzero(plain.feature < 0):
        share = np.zeros(Y.shape[1])
        begin, end = plain.value_indptr[node : node + 2]
        share[plain.value_label[begin:end]] = plain.value[begin:end]
        begin, end = smooth.value_indptr[node : node + 2]
        expected = (share * plain.weight[node] + 2 * prior) / (plain.weight[node] + 2)
        np.testing.assert_allclose(smooth.value[begin:end], expected[prior > 0], rtol=1e-12)


@pytest.mark.parametrize("pruning", ["pessimistic", "reduced_error"])
def test_pruned_trees_are_smoothed(pruning):
    X, Y, _ = draw_rows(2, 60)
    validation = {"X_val": X[40:], "y_val": Y[40:]} if pruning == "reduced_error" else {}
    tree = PCTClassifier(HIERARCHY, pruning=pruning, smoothing=1.0)
    tree.fit(X[:40], Y[:40], **validation)
    ones = np.ones(40)
    expected = estimate(tree, X[:40], Y[:40], ones, 1.0)
    np.testing.assert_allclose(tree.predict_proba(X[:40]), expected, rtol=1e-12)


def test_classes_still_sum_to_one():
    X, _, _ = draw_rows(3)
    y = np.array(["x", "y", "z", "z"])[X[:, 0].astype(int)]
    found = PCTClassifier(smoothing=1.0, max_depth=2).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert ((found > 0) & (found < 1)).all()


def test_trees_of_a_forest_are_smoothed_towards_their_samples():
    X, Y, _ = draw_rows(4)
    options = {"n_estimators": 5, "random_state": 0}
    smooth = PCTForestClassifier(HIERARCHY, smoothing=1e12, **options).fit(X, Y)
    roots = PCTForestClassifier(HIERARCHY, max_depth=0, **options).fit(X, Y)
    np.testing.assert_allclose(smooth.predict_proba(X), roots.predict_proba(X), rtol=1e-9)
    assert not np.allclose(roots.predict_proba(X[:1]), Y.mean(axis=0), rtol=1e-9)


def test_local_trees_are_smoothed():
    X, Y, _ = draw_rows(5)
    model = PerNodeClassifier(PCTClassifier(smoothing=1e12), hierarchy=HIERARCHY).fit(X, Y)
    top = HIERARCHY.index("d")
    share = Y[Y.any(axis=1), top].mean()  # of the rows with the label or a sibling
    np.testing.assert_allclose(model.predict_proba(X)[:, top], share, rtol=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"smoothing": -1.0}, "smoothing must be"),
        ({"smoothing": "yes"}, "smoothing must be"),
        ({"smoothing": float("inf")}, "smoothing must be"),
        ({"smoothing": 1.0, "prototype": "medoid"}, "smoothing must be 0 with prototype='medoid'"),
        ({"smoothing": 0.5, "clus_compat": True}, "or 1 with criterion='variance'"),
        (
            {"smoothing": 1.0, "clus_compat": True, "criterion": "entropy"},
            "smoothing must be 0 with clus_compat=True",
        ),
    ],
)
def test_invalid_strengths_are_refused(options, message):
    X, Y, _ = draw_rows(6)
    with pytest.raises(ValueError, match=message):
        PCTClassifier(HIERARCHY, **options).fit(X, Y)
