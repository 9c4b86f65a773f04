"""Tests of MandatoryLeafClassifier around classifiers of all kinds."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ramify import (
    Hierarchy,
    MandatoryLeafClassifier,
    PCTClassifier,
    PCTForestClassifier,
    PerEdgeClassifier,
    make_hierarchical_classification,
)
from ramify.decision import mandatory_leaves
from ramify.metrics import label_imbalance, symmetric_loss

DATA = make_hierarchical_classification(160, labels_per_row=2.0, random_state=0)
X, Y = DATA.X[::2], DATA.y[::2]
X_TEST, Y_TEST = DATA.X[1::2], DATA.y[1::2]
TREE = PCTClassifier(DATA.hierarchy, min_samples_leaf=5, random_state=0)


def leaf_counts(Y, hierarchy):
    """Return the number of leaves of each row; check that all paths end in leaves."""
    rows = hierarchy.decode(Y)
    assert all(set(row) <= set(hierarchy.leaves) for row in rows)
    assert (hierarchy.close(Y) != Y).nnz == 0
    return [len(row) for row in rows]


@pytest.mark.parametrize(
    "estimator",
    [
        TREE,
        PCTForestClassifier(n_estimators=3, random_state=0),
        PerEdgeClassifier(estimator=LogisticRegression()),
        make_pipeline(StandardScaler(), TREE),
        RandomForestClassifier(5, random_state=0),
        OneVsRestClassifier(LogisticRegression(max_iter=300)),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
@pytest.mark.filterwarnings("ignore:Label not .* is present:UserWarning")
def test_any_multilabel_classifier_can_be_wrapped(estimator):
    check_predictions(MandatoryLeafClassifier(estimator, hierarchy=DATA.hierarchy).fit(X, Y))


def test_a_fitted_classifier_can_be_wrapped():
    fitted = FrozenEstimator(PCTClassifier(DATA.hierarchy, random_state=0).fit(X, Y))
    check_predictions(MandatoryLeafClassifier(fitted).fit(X, Y))


def check_predictions(model):
    predicted = model.predict(X_TEST)
    assert min(leaf_counts(predicted, DATA.hierarchy)) >= 1
    three = model.predict(X_TEST, k=3)
    assert set(leaf_counts(three, DATA.hierarchy)) == {3}
    scores = model.predict_proba(X_TEST)
    same = mandatory_leaves(scores, DATA.hierarchy)
    assert (same != predicted).nnz == 0


@pytest.mark.parametrize("solver", ["greedy", "exact"])
def test_risk_has_a_smaller_loss_than_map(solver):
    losses = {}
    for objective in ("map", "risk"):
        model = MandatoryLeafClassifier(TREE, objective=objective, solver=solver).fit(X, Y)
        predicted = model.predict(X_TEST)
        losses[objective] = symmetric_loss(
            Y_TEST, predicted, hierarchy=DATA.hierarchy, alpha=model.alpha_
        )
    assert model.alpha_ == pytest.approx(label_imbalance(Y))
    assert losses["risk"] < losses["map"]


def test_alpha_and_costs_change_the_predictions():
    wide = MandatoryLeafClassifier(TREE, objective="risk", alpha=100.0).fit(X, Y)
    narrow = MandatoryLeafClassifier(TREE, objective="risk", alpha=0).fit(X, Y)
    assert wide.alpha_ == 100
    assert wide.predict(X_TEST).sum() > narrow.predict(X_TEST).sum()
    assert set(leaf_counts(narrow.predict(X_TEST), DATA.hierarchy)) == {1}
    even = MandatoryLeafClassifier(TREE, objective="risk", costs="uniform").fit(X, Y)
    assert min(leaf_counts(even.predict(X_TEST), DATA.hierarchy)) >= 1


def test_k_is_one_number_or_one_per_row():
    model = MandatoryLeafClassifier(TREE, k=2).fit(X, Y)
    assert set(leaf_counts(model.predict(X_TEST), DATA.hierarchy)) == {2}
    counts = np.arange(X_TEST.shape[0]) % 4 + 1
    assert leaf_counts(model.predict(X_TEST, k=counts), DATA.hierarchy) == counts.tolist()


def test_with_one_path_per_row_one_path_is_predicted():
    y = ["animal/cat", "animal/dog", "plant", "animal/cat"] * 5
    rows = np.array([[0.0], [1.0], [2.0], [0.1]] * 5)
    model = MandatoryLeafClassifier(PCTClassifier(random_state=0)).fit(rows, y)
    assert model.predict([[0.0], [1.0], [2.0]]).tolist() == ["animal/cat", "animal/dog", "plant"]
    assert model.score(rows, y) == 1.0
    with pytest.raises(ValueError, match=r"k must be None if y had one label per row .* got 2"):
        model.predict([[0.0]], k=2)


def test_score_is_the_share_of_exact_matches():
    model = MandatoryLeafClassifier(TREE).fit(X, Y)
    wrong = np.asarray(abs(model.predict(X_TEST) - Y_TEST).sum(axis=1)).ravel()
    weights = np.arange(len(wrong)) + 1.0
    expected = np.average(wrong == 0, weights=weights)
    assert model.score(X_TEST, Y_TEST, weights) == pytest.approx(expected)


def test_sample_weights_are_used_and_n_jobs_does_not_matter():
    weights = np.r_[np.ones(X.shape[0] // 2), np.zeros(X.shape[0] - X.shape[0] // 2)]
    weighted = MandatoryLeafClassifier(TREE).fit(X, Y, weights)
    half = MandatoryLeafClassifier(TREE).fit(X[weights > 0], Y[weights > 0])
    assert weighted.alpha_ == half.alpha_
    np.testing.assert_allclose(weighted.predict_proba(X_TEST), half.predict_proba(X_TEST))
    two = MandatoryLeafClassifier(TREE, n_jobs=2).fit(X, Y).predict(X_TEST)
    assert (two != MandatoryLeafClassifier(TREE).fit(X, Y).predict(X_TEST)).nnz == 0


def test_both_solvers_support_dags():
    data = make_hierarchical_classification(
        n_samples=80, n_labels=14, dag_share=0.5, random_state=0
    )
    tree = PCTClassifier(data.hierarchy, min_samples_leaf=8, random_state=0)
    for solver in ("greedy", "exact"):
        model = MandatoryLeafClassifier(tree, solver=solver).fit(data.X, data.y)
        predicted = data.hierarchy.encode(data.hierarchy.decode(model.predict(data.X[:6])))
        assert min(leaf_counts(predicted, data.hierarchy)) >= 1


def test_errors_name_the_parameter_and_its_value():
    for settings, message in (
        ({"objective": "mean"}, "objective must be one of 'map', 'risk'.*got 'mean'"),
        ({"solver": "fast"}, "solver must be one of 'greedy', 'exact'.*got 'fast'"),
        ({"alpha": "high"}, "alpha must be one of 'balanced'.*got 'high'"),
        ({"alpha": -1}, "alpha must be a number from 0.*got -1"),
        ({"k": 0}, "k must be an integer >= 1, got 0"),
        ({"k": 500}, "k must be an integer from 1 to"),
        ({"coherence": "mean"}, "coherence must be .*, got 'mean'"),
    ):
        with pytest.raises(ValueError, match=message):
            MandatoryLeafClassifier(TREE, **settings).fit(X, Y)
    other = Hierarchy.from_labels(["a"])
    with pytest.raises(ValueError, match="Pass the hierarchy in one place only"):
        MandatoryLeafClassifier(TREE, hierarchy=other).fit(X, Y)
