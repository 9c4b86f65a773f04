"""Importances from trees and by permutation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from scipy import sparse

from ramify import PCTClassifier, PerEdgeClassifier
from ramify.inspection import importances, permutation_importances
from tests.support.budget import budget
from tests.support.inspection_cases import TREE, animal_forest, animal_tree, animals, problems


@given(problems())
@budget(25)
def test_importances_are_those_of_the_tree_itself(problem):
    params, X, Y, missing = problem
    model = PCTClassifier(**params).fit(X, Y)
    found = importances(model)
    if missing == 0 and found.overall.sum() > 0:
        shares = found.overall / found.overall.sum()
        np.testing.assert_allclose(shares, model.feature_importances_, atol=1e-9)
    assert (found.overall >= -1e-12).all()
    assert np.nansum(found.by_label, axis=0).max() <= 1 + 1e-9


def test_share_of_variance_explained_is_that_of_the_predictions():
    """Without missing values the fractions of a label sum to 1 - Σ(y - p)² / Σ(y - ȳ)²."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    Y = TREE.close((rng.random((80, TREE.n_labels)) < 0.4).astype(int))
    model = PCTClassifier(TREE, min_samples_leaf=5).fit(X, Y)
    dense = Y.toarray()
    left = ((dense - model.predict_proba(X)) ** 2).sum(axis=0)
    total = ((dense - dense.mean(axis=0)) ** 2).sum(axis=0)
    np.testing.assert_allclose(importances(model).by_label.sum(axis=0), 1 - left / total)


def test_importances_of_a_subtree_are_means():
    found = importances(animal_forest())
    inside = animals().hierarchy.indices(
        ["taxonomy/bird", *animals().hierarchy.descendants("taxonomy/bird")]
    )
    known = inside[~np.isnan(found.by_label[0, inside])]
    expected = np.average(found.by_label[:, known], axis=1, weights=found.label_weight[known])
    np.testing.assert_allclose(found.for_subtree("taxonomy/bird"), expected)
    assert (found.overall_spread > 0).any()


def test_frames_and_plots():
    pytest.importorskip("matplotlib").use("Agg")
    pyplot = pytest.importorskip("matplotlib.pyplot")
    found = importances(animal_forest())
    frame = found.to_frame()
    assert frame["importance"].is_monotonic_decreasing
    assert found.to_frame(by_label=True).shape == (13, 203)
    assert len(found.plot(max_features=4).patches) == 4
    ax = found.plot(labels=["taxonomy/bird", "habitat/sea"])
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["taxonomy/bird", "habitat/sea"]
    pyplot.close("all")


def test_local_architectures_sum_their_trees():
    data = animals()
    model = PerEdgeClassifier(hierarchy=data.hierarchy, estimator=PCTClassifier(max_depth=1))
    found = importances(model.fit(data.X, data.y))
    assert 0 < found.overall.sum() <= 1
    assert found.for_label("taxonomy/bird").argmax() == list(data.X.columns).index("cover")


def test_shuffling_an_important_feature_lowers_the_score():
    data = animals()
    tree = animal_tree()
    found = permutation_importances(tree, data.X, data.y, n_repeats=3, random_state=0)
    unused = np.setdiff1d(np.arange(13), tree.tree_.feature)
    assert (found.overall[unused] == 0).all()
    assert (found.by_label[unused][:, found.label_weight > 0] == 0).all()
    assert found.overall.argmax() == list(data.X.columns).index("moves")
    assert found.overall_spread.max() > 0
    assert found.unit == "drop in pooled_auprc"
    again = permutation_importances(tree, data.X, data.y, n_repeats=3, random_state=0)
    np.testing.assert_array_equal(found.overall, again.overall)
    with pytest.raises(ValueError, match=r"n_repeats must be .*, got 0"):
        permutation_importances(tree, data.X, data.y, n_repeats=0)


def test_sparse_and_dense_rows_agree():
    rng = np.random.default_rng(0)
    X = rng.random((50, 3)) * (rng.random((50, 3)) < 0.5)
    Y = TREE.close((rng.random((50, TREE.n_labels)) < 0.4).astype(int))
    model = PCTClassifier(TREE, min_samples_leaf=4).fit(X, Y)
    dense = permutation_importances(model, X, Y, n_repeats=2, random_state=1)
    thin = permutation_importances(model, sparse.csr_array(X), Y, n_repeats=2, random_state=1)
    np.testing.assert_allclose(dense.by_label, thin.by_label)
