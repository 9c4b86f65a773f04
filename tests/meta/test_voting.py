"""Tests of HierarchicalVotingClassifier."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import ramify
from ramify import (
    HierarchicalVotingClassifier,
    Hierarchy,
    MLkNN,
    PCTClassifier,
    PCTExtraTreesClassifier,
    PCTForestClassifier,
    PerEdgeClassifier,
    TunedThresholdClassifierCV,
    load_animals,
)
from ramify._base.foreign import takes_weights
from ramify.decision import best_label_sets, make_coherent
from ramify.meta.voting import search_weights
from ramify.metrics import get_scorer, hmc_loss, micro_f1, pooled_auprc
from tests.reference import voting as reference
from tests.support.budget import budget
from tests.support.label_graphs import graphs_and_scores
from tests.support.local_cases import is_coherent, make_data, one_path_per_row


class Table(ClassifierMixin, BaseEstimator):
    """A classifier that predicts given scores; the only feature is the row number."""

    def __init__(self, scores: Any = None, hierarchy: Hierarchy | None = None) -> None:
        self.scores = scores
        self.hierarchy = hierarchy

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Table:
        self.hierarchy_ = self.hierarchy
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        return self.scores[np.asarray(X)[:, 0].astype(int)]


def tables(parts: list[np.ndarray]) -> list[tuple[str, Table]]:
    return [(f"m{k}", Table(part)) for k, part in enumerate(parts)]


def members() -> list[tuple[str, Any]]:
    return [
        ("tree", PCTClassifier(max_depth=3, random_state=0)),
        ("forest", PCTForestClassifier(n_estimators=5, random_state=0)),
    ]


# ---- the mean ------------------------------------------------------------------------------


@given(data=st.data(), drawn=graphs_and_scores(n_rows=4))
@budget(30)
def test_the_weighted_mean_is_coherent_and_equals_the_reference(data, drawn):
    hierarchy, scores = drawn
    n_members = data.draw(st.integers(1, 4))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    parts = [scores] + [rng.permuted(scores, axis=1) for _ in range(n_members - 1)]
    weight = st.one_of(st.just(0.0), st.floats(1e-3, 1e3))
    weights = data.draw(st.lists(weight, min_size=n_members, max_size=n_members))
    weights[0] += 0.5
    X = np.arange(4.0)[:, None]
    Y = np.zeros((4, hierarchy.n_labels), dtype=int)
    vote = HierarchicalVotingClassifier(tables(parts), hierarchy=hierarchy, weights=weights)
    found = vote.fit(X, Y).predict_proba(X)
    assert is_coherent(found, hierarchy)
    repaired = [make_coherent(part, hierarchy).tolist() for part in parts]
    assert_allclose(found, reference.weighted_mean(repaired, weights), rtol=0, atol=1e-14)
    assert vote.weights_.sum() == pytest.approx(1)


@pytest.mark.parametrize("dag_share", [0.0, 0.4], ids=["tree", "DAG"])
@pytest.mark.parametrize("form", ["dense", "sparse", "missing", "weighted"])
def test_real_members_stay_coherent(dag_share, form):
    data = make_data(dag_share=dag_share, as_frame=False)
    X = np.array(data.X)
    X[X < -0.5] = np.nan if form == "missing" else 0
    X = sparse.csr_array(X) if form == "sparse" else X
    options = {"sample_weight": np.arange(80) % 4} if form == "weighted" else {}
    vote = HierarchicalVotingClassifier(
        [*members(), ("edges", PerEdgeClassifier(PCTClassifier()))],
        hierarchy=data.hierarchy,
        weights=[1, 2, 4],
    ).fit(X, data.y, **options)
    scores = vote.predict_proba(X)
    assert is_coherent(scores, data.hierarchy)
    alone = [
        clone(member).set_params(hierarchy=data.hierarchy).fit(X, data.y, **options)
        for _, member in vote.estimators
    ]
    parts = [model.predict_proba(X) for model in alone]
    assert_allclose(scores, np.average(parts, axis=0, weights=[1, 2, 4]), rtol=0, atol=1e-15)
    assert_array_equal(vote.predict(X, threshold=0.5).toarray() > 0, scores >= 0.5)
    best = best_label_sets(scores, data.hierarchy)
    assert_array_equal(vote.predict(X).toarray(), best.toarray())


@pytest.mark.parametrize("weights", [None, [1, 3, 0.5]])
def test_flat_classes_give_what_scikit_learn_gives(weights):
    X, y = load_iris(return_X_y=True)
    pairs = [
        ("linear", LogisticRegression(max_iter=500)),
        ("bayes", GaussianNB()),
        ("forest", RandomForestClassifier(5, random_state=0)),
    ]
    expected = VotingClassifier(pairs, voting="soft", weights=weights).fit(X, y)
    vote = HierarchicalVotingClassifier(pairs, weights=weights).fit(X, y)
    assert_allclose(vote.predict_proba(X), expected.predict_proba(X), rtol=0, atol=1e-12)
    assert_array_equal(vote.predict(X), expected.predict(X))
    assert_array_equal(vote.classes_, expected.classes_)
    assert list(vote.named_estimators_) == list(expected.named_estimators_)
    missing = set(expected.get_params()) - set(vote.get_params())
    assert missing == {"voting", "flatten_transform"}


def test_scores_of_other_classifiers_are_made_coherent():
    data = make_data(as_frame=False)
    pairs = [
        ("forest", RandomForestClassifier(5, random_state=0)),
        ("knn", KNeighborsClassifier()),
    ]
    for coherence in ("isotonic", "max", "min"):
        vote = HierarchicalVotingClassifier(pairs, hierarchy=data.hierarchy, coherence=coherence)
        scores = vote.fit(data.X, data.y.toarray()).predict_proba(data.X)
        assert is_coherent(scores, data.hierarchy)


@pytest.mark.parametrize("y", ["paths", "levels", "sets", "joined"])
def test_predictions_have_the_format_of_y(y):
    X, paths = one_path_per_row()
    given = {
        "paths": paths,
        "levels": np.array([(*path.split("/"), "")[:2] for path in paths]),
        "sets": [{path} if len(path) > 1 else set() for path in paths],
        "joined": [f"{path}@b" for path in paths],
    }[y]
    vote = HierarchicalVotingClassifier(members()).fit(X, given)
    alone = PCTClassifier(random_state=0).fit(X, given)
    assert type(vote.predict(X)) is type(alone.predict(X))
    assert is_coherent(vote.predict_proba(X), vote.hierarchy_)
    assert vote.score(X, given) > 0.5


# ---- weights by cross-validation -----------------------------------------------------------


@given(
    target=st.lists(st.floats(0, 1), min_size=1, max_size=4),
    scale=st.lists(st.floats(0.1, 3), min_size=4, max_size=4),
)
@budget(30)
def test_the_search_finds_the_best_weights_of_the_grid(target, scale):
    # For separable concave functions, weights that no exchange improves are the best of all.
    def score(weights):
        terms = zip(weights, target, scale[: len(target)], strict=True)
        return -sum(s * (w - t) ** 2 for w, t, s in terms)

    weights, found = search_weights(score, len(target))
    assert weights.sum() == pytest.approx(1)
    assert found == score(weights)
    expected = reference.best_on_grid(score, len(target), 5 * len(target))
    assert found == pytest.approx(expected, abs=1e-12)


def test_equal_weights_win_ties_and_undefined_scores():
    for value in (0.5, np.nan):
        weights, _ = search_weights(lambda _, value=value: value, 3)
        assert_allclose(weights, 1 / 3)


@given(seed=st.integers(0, 500), n_members=st.integers(1, 4))
@budget(25)
def test_chosen_weights_are_no_worse_than_equal_ones_and_members_alone(seed, n_members):
    rng = np.random.default_rng(seed)
    hierarchy = Hierarchy.from_edges([("a", "b"), ("a", "c"), ("d", "c")])
    X = np.arange(30.0)[:, None]
    Y = hierarchy.encode([["b"], ["c"], ["d"], []][k] for k in rng.integers(0, 4, 30)).toarray()
    parts = [make_coherent(rng.random(Y.shape) / 2 + Y / 3, hierarchy) for _ in range(n_members)]
    vote = HierarchicalVotingClassifier(tables(parts), hierarchy=hierarchy, weights="cv", cv=3)
    vote.fit(X, Y)
    found = pooled_auprc(Y, np.average(parts, axis=0, weights=vote.weights_))
    assert vote.best_score_ == pytest.approx(found)
    for other in (np.ones(n_members), *np.eye(n_members)):
        assert found >= pooled_auprc(Y, np.average(parts, axis=0, weights=other)) - 1e-12
    assert vote.fit(X[:20], Y[:20], X_val=X[20:], y_val=Y[20:]).best_score_ == pytest.approx(
        pooled_auprc(Y[20:], np.average(parts, axis=0, weights=vote.weights_)[20:])
    )


def test_weights_are_chosen_on_rows_that_the_members_have_not_seen():
    data = make_data(n_samples=120, as_frame=False, noise=0.8)
    weights = np.arange(120) % 3
    vote = HierarchicalVotingClassifier(
        members(), hierarchy=data.hierarchy, weights="cv", cv=3, random_state=1
    ).fit(data.X, data.y, sample_weight=weights)
    order, parts = [], {name: [] for name, _ in members()}
    for train, test in KFold(3, shuffle=True, random_state=1).split(data.X):
        order.append(test)
        for name, member in members():
            model = clone(member).set_params(hierarchy=data.hierarchy)
            model.fit(data.X[train], data.y[train], sample_weight=weights[train])
            parts[name].append(model.predict_proba(data.X[test]))
    rows = np.concatenate(order)
    mean = np.average(
        [np.concatenate(part) for part in parts.values()], axis=0, weights=vote.weights_
    )
    expected = pooled_auprc(data.y[rows], mean, sample_weight=weights[rows])
    assert vote.best_score_ == pytest.approx(expected, abs=1e-12)
    assert vote.weights_[1] > vote.weights_[0]  # the forest is better than the tree
    # The members are fitted on all rows.
    fixed = clone(vote).set_params(weights=vote.weights_.tolist())
    fixed.fit(data.X, data.y, sample_weight=weights)
    assert_array_equal(vote.predict_proba(data.X), fixed.predict_proba(data.X))
    assert not hasattr(fixed, "best_score_")


@pytest.mark.parametrize(
    ("scoring", "measure"),
    [
        ("micro_f1", lambda data, sets: micro_f1(data.y, sets)),
        ("neg_hmc_loss", lambda data, sets: -hmc_loss(data.y, sets, hierarchy=data.hierarchy)),
        (get_scorer("micro_f1", labels="leaves"), None),
    ],
)
def test_any_scorer_can_be_maximised(scoring, measure):
    data = make_data(as_frame=False)
    vote = HierarchicalVotingClassifier(
        members(), hierarchy=data.hierarchy, weights="cv", scoring=scoring
    ).fit(data.X[:50], data.y[:50], X_val=data.X, y_val=data.y)
    sets = vote.predict(data.X)
    if measure is None:
        labels = data.hierarchy.leaves
        expected = micro_f1(data.y, sets, hierarchy=data.hierarchy, labels=labels)
    else:
        expected = measure(data, sets)
    assert vote.best_score_ == pytest.approx(expected)


# ---- parameters ----------------------------------------------------------------------------


def test_members_and_their_parameters_are_parameters():
    vote = HierarchicalVotingClassifier(members())
    vote.set_params(forest__n_estimators=3, tree=PCTClassifier(max_depth=1), weights=[1, 2])
    data = make_data(as_frame=False)
    vote.fit(data.X, data.y)
    assert len(vote.named_estimators_.forest.trees_) == 3
    assert vote.named_estimators_.tree.max_depth == 1
    assert members()[1][1].n_estimators == 5
    search = GridSearchCV(vote, {"tree__max_depth": [1, 4], "weights": [None, [0, 1]]}, cv=2)
    search.fit(data.X, data.y.toarray())
    assert set(search.best_params_) == {"tree__max_depth", "weights"}


def test_a_member_can_be_left_out():
    data = make_data(as_frame=False)
    vote = HierarchicalVotingClassifier(members(), weights=[3, 1]).set_params(tree="drop")
    vote.fit(data.X, data.y)
    assert list(vote.named_estimators_) == ["forest"]
    assert_array_equal(vote.weights_, [1.0])
    assert_array_equal(vote.predict_proba(data.X), vote.estimators_[0].predict_proba(data.X))


def test_a_fitted_member_is_not_fitted_again():
    data = make_data(as_frame=False)
    fitted = PCTForestClassifier(data.hierarchy, n_estimators=4, random_state=0)
    fitted.fit(data.X[:40], data.y[:40])
    vote = HierarchicalVotingClassifier(
        [("old", FrozenEstimator(fitted)), *members()], weights=[1, 0, 0]
    ).fit(data.X[40:], data.y[40:])
    assert_array_equal(vote.predict_proba(data.X), fitted.predict_proba(data.X))
    assert vote.hierarchy_ == data.hierarchy


def test_votes_can_be_nested_tuned_and_wrapped_in_pipelines():
    data = make_data(as_frame=False)
    inner = HierarchicalVotingClassifier(members())
    outer = HierarchicalVotingClassifier(
        [("inner", inner), ("pipe", make_pipeline(FunctionTransformer(), PCTClassifier()))],
        hierarchy=data.hierarchy,
    )
    assert is_coherent(outer.fit(data.X, data.y).predict_proba(data.X), data.hierarchy)
    tuned = TunedThresholdClassifierCV(inner, hierarchy=data.hierarchy, cv=2, random_state=0)
    assert micro_f1(data.y, tuned.fit(data.X, data.y).predict(data.X)) > 0.7


def test_feature_importances_are_averaged_if_all_members_have_them():
    data = make_data(as_frame=False)
    vote = HierarchicalVotingClassifier(members(), weights=[1, 3]).fit(data.X, data.y)
    parts = [member.feature_importances_ for member in vote.estimators_]
    assert_allclose(vote.feature_importances_, np.average(parts, axis=0, weights=[1, 3]))
    assert vote.feature_importances_.sum() == pytest.approx(1)
    vote.set_params(tree=MLkNN(n_neighbors=3)).fit(data.X, data.y)
    assert not hasattr(vote, "feature_importances_")


def test_data_frames_reach_the_members():
    data = load_animals()
    pairs = [
        ("forest", PCTForestClassifier(n_estimators=5, random_state=0)),
        ("extra", PCTExtraTreesClassifier(n_estimators=5, random_state=0)),
    ]
    vote = HierarchicalVotingClassifier(pairs, hierarchy=data.hierarchy, weights="cv", cv=2)
    scores = vote.fit(data.X, data.y).predict_proba(data.X)
    assert is_coherent(scores, data.hierarchy)
    assert list(vote.feature_names_in_) == list(data.X.columns)


# ---- weights of rows, threads, files -------------------------------------------------------


def test_sample_weights_need_members_that_accept_them():
    data = make_data(as_frame=False)
    vote = HierarchicalVotingClassifier([*members(), ("knn", MLkNN(n_neighbors=3))])
    assert takes_weights(HierarchicalVotingClassifier(members()))
    assert not takes_weights(vote)
    with pytest.raises(TypeError, match=r"MLkNN\.fit takes none"):
        vote.fit(data.X, data.y, sample_weight=np.ones(80))
    nested = PerEdgeClassifier(vote)
    assert not takes_weights(nested)


def test_sample_weights_are_routed_to_a_pipeline():
    data = make_data(as_frame=False)
    weights = np.arange(80) % 3
    asking = PCTClassifier(data.hierarchy, random_state=0)
    pipeline = make_pipeline(FunctionTransformer(), asking)
    vote = HierarchicalVotingClassifier([("pipe", pipeline)])
    with sklearn.config_context(enable_metadata_routing=True):
        asking.set_fit_request(sample_weight=True)
        vote.fit(data.X, data.y, sample_weight=weights)
    expected = clone(asking).fit(data.X, data.y, sample_weight=weights).predict_proba(data.X)
    assert_array_equal(vote.predict_proba(data.X), expected)


def test_the_number_of_jobs_changes_nothing():
    data = make_data(as_frame=False)
    vote = HierarchicalVotingClassifier(
        members(), hierarchy=data.hierarchy, weights="cv", cv=3, random_state=0
    )
    first = clone(vote).fit(data.X, data.y)
    second = clone(vote).set_params(n_jobs=2, forest__n_jobs=2).fit(data.X, data.y)
    assert_array_equal(first.weights_, second.weights_)
    assert_array_equal(first.predict_proba(data.X), second.predict_proba(data.X))


def test_a_progress_bar_counts_the_fits(capsys):
    pytest.importorskip("rich")
    data = make_data(as_frame=False)
    HierarchicalVotingClassifier(members(), verbose=True).fit(data.X, data.y)
    assert "Fitting members" in capsys.readouterr().err


def test_loaded_votes_predict_the_same(tmp_path):
    data = make_data(as_frame=False)
    vote = HierarchicalVotingClassifier(
        [*members(), ("left out", "drop")], hierarchy=data.hierarchy, weights="cv", cv=2
    ).fit(data.X, data.y)
    ramify.save(vote, tmp_path / "m.ramify")
    loaded = ramify.load(tmp_path / "m.ramify")
    assert_array_equal(loaded.predict_proba(data.X), vote.predict_proba(data.X))
    assert list(loaded.named_estimators_) == ["tree", "forest"]
    assert loaded.best_score_ == vote.best_score_
    vote.weights_ = np.array([0.5, 0.6])
    ramify.save(vote, tmp_path / "m.ramify")
    with pytest.raises(ramify.ModelFileError, match="weights_ must sum to 1"):
        ramify.load(tmp_path / "m.ramify")


# ---- errors --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"estimators": PCTClassifier()}, TypeError, "must be a list of .name, classifier."),
        ({"estimators": [PCTClassifier()]}, TypeError, "must be a list of .name, classifier."),
        ({"estimators": []}, ValueError, "estimators must have at least one member"),
        ({"estimators": [("a", "drop")]}, ValueError, "at least one member that is not 'drop'"),
        ({"estimators": [("a", 3)]}, TypeError, "must be a classifier with fit"),
        ({"estimators": [("a__b", PCTClassifier())]}, ValueError, "a__b"),
        ({"estimators": [("a", PCTClassifier())] * 2}, ValueError, "not unique"),
        ({"estimators": [("weights", PCTClassifier())]}, ValueError, "conflict"),
        ({"weights": "best"}, ValueError, "weights must be None, 'cv' or one number per member"),
        ({"weights": [1.0]}, ValueError, r"one number per member, 2, got \[1.0\]"),
        ({"weights": [1.0, -1.0]}, ValueError, "weights must be finite numbers >= 0"),
        ({"weights": [0, 0]}, ValueError, "with a positive sum"),
        ({"weights": [1, np.nan]}, ValueError, "weights must be finite"),
        ({"weights": "cv", "scoring": "auprc"}, ValueError, "scoring: .*got 'auprc'"),
        ({"weights": "cv", "cv": 1}, ValueError, "cv must be an integer >= 2, got 1"),
        ({"weights": "cv", "cv": 100}, ValueError, "cv must not exceed the number of rows"),
        ({"coherence": "mean"}, ValueError, "coherence must be one of"),
    ],
)
def test_errors_name_the_argument_and_its_value(change, error, message):
    data = make_data(as_frame=False)
    vote = HierarchicalVotingClassifier(members()).set_params(**change)
    with pytest.raises(error, match=message):
        vote.fit(data.X, data.y)


def test_members_must_share_one_hierarchy_and_validation_needs_weights_to_choose():
    data = make_data(as_frame=False)
    other = ("other", PCTClassifier(Hierarchy.from_labels(["z"])))
    mine = ("mine", PCTClassifier(data.hierarchy))
    with pytest.raises(ValueError, match="Pass the hierarchy in one place only"):
        HierarchicalVotingClassifier([mine, other]).fit(data.X, data.y)
    with pytest.raises(
        ValueError, match="X_val must be None unless weights is 'cv', got rows with weights=None"
    ):
        HierarchicalVotingClassifier(members()).fit(data.X, data.y, X_val=data.X, y_val=data.y)
