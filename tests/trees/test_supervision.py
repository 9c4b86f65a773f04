"""Trees and forests whose impurity is that of labels and features: rows without labels help."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

from ramify import (
    Hierarchy,
    PCTBaggingClassifier,
    PCTClassifier,
    PCTExtraTreesClassifier,
    PCTForestClassifier,
    PerEdgeClassifier,
)
from ramify.labels.unknown import UnknownLabels
from ramify.metrics import pooled_auprc
from ramify.saving import load, save
from ramify.trees.growing import grow
from ramify.trees.supervision import mix_features
from tests.reference import supervision as reference
from tests.reference.trees import Settings
from tests.reference.unknown import Rows
from tests.support.budget import budget
from tests.support.partial_problems import PartialProblem, assert_same, partial_problems
from tests.support.tree_problems import assert_equal_trees, growth, plan_of

ALL = [PCTClassifier, PCTForestClassifier, PCTBaggingClassifier, PCTExtraTreesClassifier]
# Not 0: where features differ by rounding only, nothing else would decide.
SHARES = st.sampled_from([0.05, 0.3, 0.8])


@budget(150)
@given(partial=partial_problems(), wanted=growth, share=SHARES)
def test_trees_equal_the_reference(
    partial: PartialProblem, wanted: Settings, share: float
) -> None:
    wanted = replace(wanted, criterion="variance")
    data = mix_features(partial.data(partial.targets), share)
    rows = Rows(partial.y, partial.hierarchy)
    expected = reference.grow(
        partial.problem.columns,
        rows,
        wanted,
        share,
        label_weights=partial.problem.label_weights,
        sample_weight=partial.problem.sample_weight,
    )
    assert_same(grow(data, plan_of(wanted)), 0, expected, rows)


@budget(40)
@given(partial=partial_problems(), wanted=growth, share=SHARES)
def test_sparse_features_give_the_same_tree(
    partial: PartialProblem, wanted: Settings, share: float
) -> None:
    wanted = replace(wanted, criterion="variance")
    dense = partial.data(partial.targets)
    stored = replace(dense, X=sparse.csc_array(dense.X), _prepared={})
    one, other = (grow(mix_features(data, share), plan_of(wanted)) for data in (dense, stored))
    assert_equal_trees(one, other)


@budget(40)
@given(partial=partial_problems(), wanted=growth)
def test_full_supervision_is_todays_tree(partial: PartialProblem, wanted: Settings) -> None:
    wanted = replace(wanted, criterion="variance")
    data = partial.data(partial.targets)
    assert mix_features(data, 1.0) is data
    # As the part of the features vanishes, so does its effect, unless tests are as good.
    labelled = ~np.isnan(partial.y).all(axis=1)
    data = replace(data, weights=np.where(labelled, data.weights, 0.0), _prepared={})
    if not data.weights.any():
        return
    unknown = data.targets.unknown
    if unknown is None:
        nothing = sparse.csr_array((1, partial.hierarchy.n_labels), dtype=np.int32)
        unknown = UnknownLabels(np.zeros(data.n_rows, dtype=np.uint32), nothing)
    known = data.with_targets(replace(data.targets, unknown=unknown))
    tree, mixed = (
        grow(known, plan_of(wanted)),
        grow(mix_features(data, 1 - 1e-14), plan_of(wanted)),
    )
    if wanted.min_impurity_decrease == 0:
        assert_equal_but_for_scale(tree, mixed)


def assert_equal_but_for_scale(one, other) -> None:
    for name in ("feature", "threshold", "child", "value_label"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    np.testing.assert_allclose(one.value, other.value, atol=1e-9)


# ---- estimators -----------------------------------------------------------------------------


def few_trees(model):
    """Return the same with five trees, if it has trees."""
    return model if isinstance(model, PCTClassifier) else model.set_params(n_estimators=5)


def clusters(n: int = 200, n_labelled: int = 12, seed: int = 0):
    """Return X in four far clusters among noise, a hierarchy, and labels of few rows."""
    rng = np.random.default_rng(seed)
    hierarchy = Hierarchy.from_paths(["bird/hawk", "bird/owl", "mammal/cat", "mammal/dog"])
    cluster = rng.integers(0, 4, n)
    X = np.hstack([4 * np.eye(4)[cluster] + rng.normal(size=(n, 4)), rng.normal(size=(n, 2))])
    names = ["bird/hawk", "bird/owl", "mammal/cat", "mammal/dog"]
    Y = hierarchy.encode([[names[k]] for k in cluster]).toarray()
    y = Y.astype(float)
    y[n_labelled:] = np.nan
    return X, hierarchy, Y, y


@pytest.mark.parametrize("cls", [PCTClassifier, PCTBaggingClassifier])
def test_rows_without_labels_help(cls: type) -> None:
    scores = []
    for supervision in (1.0, 0.5):
        found = []
        for seed in range(5):
            X, hierarchy, Y, y = clusters(seed=seed)
            model = few_trees(cls(hierarchy, supervision=supervision, random_state=seed)).fit(X, y)
            found.append(pooled_auprc(Y[12:], model.predict_proba(X[12:]), hierarchy=hierarchy))
        scores.append(np.mean(found))
    assert scores[1] > scores[0] + 0.02


@pytest.mark.parametrize("cls", ALL)
def test_the_value_is_chosen_from_a_list_and_1(cls: type) -> None:
    X, hierarchy, _, y = clusters()
    model = few_trees(cls(hierarchy, supervision=[0.2, 0.6], random_state=0)).fit(X, y)
    assert set(model.supervision_scores_) == {0.2, 0.6, 1.0}
    scores = model.supervision_scores_
    better = {part: one for part, one in scores.items() if one >= 1.01 * scores[1.0]}
    assert scores[model.supervision_] == max(better.values(), default=scores[1.0])
    again = clone(model).set_params(supervision=model.supervision_).fit(X, y)
    if cls is not PCTClassifier:
        np.testing.assert_array_equal(model.predict_proba(X), again.predict_proba(X))
    assert not hasattr(again, "supervision_")


@pytest.mark.parametrize("cls", ALL)
def test_where_1_is_chosen_the_model_is_that_of_the_rows_with_labels(
    cls: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, hierarchy, _, y = clusters()
    score = "ramify.trees.supervision.score_supervision"
    monkeypatch.setattr(score, lambda *_: {0.2: 0.5, 1.0: 0.5})
    model = few_trees(cls(hierarchy, supervision=[0.2], random_state=0)).fit(X, y)
    assert model.supervision_ == 1
    plain = clone(model).set_params(supervision=1).fit(X[:12], y[:12])
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))


@pytest.mark.parametrize("cls", ALL)
def test_features_may_count_where_all_labels_are_known(cls: type) -> None:
    X, hierarchy, Y, _ = clusters(60)
    model = few_trees(cls(hierarchy, supervision=0.3, w0=0.75, random_state=0)).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), Y)


def test_every_tree_of_a_forest_draws_rows_with_labels() -> None:
    X, hierarchy, _, y = clusters(500, 2)
    model = PCTForestClassifier(hierarchy, n_estimators=50, supervision=0.5, random_state=0)
    for tree in model.fit(X, y):
        assert tree.predict_proba(X[:1]).max() == 1


def test_a_column_without_values_or_of_one_value_does_not_matter() -> None:
    X, hierarchy, _, y = clusters()
    wide = np.column_stack([X, np.full(len(X), np.nan), np.ones(len(X))])
    model = PCTClassifier(hierarchy, supervision=0.4)
    expected = model.fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(model.fit(wide, y).predict_proba(wide), expected)


def test_units_of_numbers_do_not_matter() -> None:
    X, hierarchy, _, y = clusters()
    model = PCTClassifier(hierarchy, supervision=0.4)
    expected = model.fit(X, y).predict_proba(X)
    other = X * [1, 1e6, 1e-6, 1, 1024, 1] + [0, 1e6, 0, -3, 0, 0]
    np.testing.assert_array_equal(model.fit(other, y).predict_proba(other), expected)


def test_threads_do_not_matter() -> None:
    X, hierarchy, _, y = clusters(1000, 100)
    one, four = (PCTClassifier(hierarchy, supervision=0.5, n_jobs=k).fit(X, y) for k in (1, 4))
    assert_equal_trees(one.tree_, four.tree_)


def test_warm_start_keeps_the_choice() -> None:
    X, hierarchy, _, y = clusters()
    model = PCTForestClassifier(hierarchy, n_estimators=4, supervision=[0.5], random_state=0)
    whole = clone(model).set_params(n_estimators=8).fit(X, y).predict_proba(X)
    model.set_params(warm_start=True).fit(X, y)
    model.set_params(n_estimators=8).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), whole)


def test_saved_models_keep_the_choice(tmp_path) -> None:
    X, hierarchy, _, y = clusters()
    model = PCTForestClassifier(hierarchy, n_estimators=4, supervision=[0.5], random_state=0)
    save(model.fit(X, y), tmp_path / "model.ramify")
    loaded = load(tmp_path / "model.ramify")
    assert loaded.supervision_scores_ == model.supervision_scores_
    assert loaded.supervision_ == model.supervision_


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"supervision": 1.5}, r"supervision must be .* got 1.5"),
        ({"supervision": []}, "supervision must be a number or a non-empty list"),
        ({"supervision": [0.5, "no"]}, "supervision must be .* got 'no'"),
        ({"supervision": 0.5, "criterion": "entropy"}, "criterion='entropy' requires all labels"),
        ({"supervision": [0.5], "clus_compat": True}, "one number with clus_compat=True"),
        ({"supervision": 0.5, "clus_compat": True}, "must be 1 in ensembles with clus_compat"),
    ],
)
def test_errors_name_the_parameter(parameters: dict, message: str) -> None:
    X, hierarchy, _, y = clusters()
    with pytest.raises(ValueError, match=message):
        PCTForestClassifier(hierarchy, n_estimators=2, **parameters).fit(X, y)


def test_local_models_refuse_it() -> None:
    X, hierarchy, Y, _ = clusters()
    model = PerEdgeClassifier(PCTClassifier(supervision=0.5), hierarchy=hierarchy)
    with pytest.raises(ValueError, match=r"supervision of estimator must be 1, got 0\.5"):
        model.fit(X, Y)
