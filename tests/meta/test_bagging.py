"""Tests of HierarchicalBaggingClassifier with estimators of all kinds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from ramify import (
    HierarchicalBaggingClassifier,
    MetaLabeler,
    MLkNN,
    PCTBaggingClassifier,
    PCTClassifier,
    PerEdgeClassifier,
    PerParentClassifier,
    load,
    save,
)
from ramify.metrics import pooled_auprc
from tests.support.local_cases import is_coherent, make_data, one_path_per_row


def drawn_weights(members: Any) -> list[float]:
    """Return the number of rows drawn by each member: the root weight of its first tree."""
    return [
        next(iter(member.named_estimators_.values())).tree_.weight[0]
        for member in members.estimators_
    ]


def test_members_learn_from_bootstrap_samples_and_are_averaged() -> None:
    data = make_data()
    model = HierarchicalBaggingClassifier(hierarchy=data.hierarchy, n_estimators=4, random_state=0)
    scores = model.fit(data.X, data.y).predict_proba(data.X)
    assert [type(member) for member in model.estimators_] == [PerEdgeClassifier] * 4
    assert drawn_weights(model) == [80.0] * 4
    parts = [member.predict_proba(data.X) for member in model.estimators_]
    assert not np.array_equal(parts[0], parts[1])
    np.testing.assert_allclose(scores, np.mean(parts, axis=0), rtol=0, atol=1e-15)
    assert is_coherent(scores, data.hierarchy)


def test_max_samples_is_a_number_or_a_share() -> None:
    data = make_data()
    for max_samples, drawn in ((30, 30.0), (0.25, 20.0)):
        model = HierarchicalBaggingClassifier(
            hierarchy=data.hierarchy, n_estimators=2, max_samples=max_samples, random_state=0
        ).fit(data.X, data.y)
        assert drawn_weights(model) == [drawn] * 2


@pytest.mark.parametrize(
    "estimator",
    [
        PerEdgeClassifier(PCTClassifier()),
        PerEdgeClassifier(estimator=KNeighborsClassifier(3)),  # without sample_weight
        PerParentClassifier(estimator=LogisticRegression()),
        PerEdgeClassifier(estimator=PerEdgeClassifier(estimator=KNeighborsClassifier(3))),
        PCTClassifier(max_depth=3),
        MLkNN(n_neighbors=3),
    ],
    ids=str,
)
def test_any_classifier_of_ramify_can_be_bagged(estimator: Any) -> None:
    X, y = one_path_per_row()
    model = HierarchicalBaggingClassifier(estimator=estimator, n_estimators=3, random_state=0)
    scores = model.fit(X, y).predict_proba(X)
    assert is_coherent(scores, model.hierarchy_)
    assert set(model.predict(X)) <= set(model.classes_)
    twin = clone(model).set_params(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(twin.predict_proba(X), scores)


def test_rows_are_repeated_if_sample_weights_are_not_supported() -> None:
    X, y = one_path_per_row(40)
    knn = PerEdgeClassifier(estimator=KNeighborsClassifier(1))
    model = HierarchicalBaggingClassifier(estimator=knn, n_estimators=1, random_state=0).fit(X, y)
    learnt = model.estimators_[0].named_estimators_[None, "a"]
    assert learnt.n_samples_fit_ == 40
    assert len(np.unique(learnt._fit_X, axis=0)) < 40


def test_members_without_sample_weights_are_fitted_on_the_drawn_rows() -> None:
    data = make_data()
    model = HierarchicalBaggingClassifier(
        hierarchy=data.hierarchy, estimator=MLkNN(n_neighbors=3), n_estimators=3, random_state=0
    ).fit(data.X, data.y)
    for member in model.estimators_:
        assert member.X_.shape == data.X.shape
        assert len(np.unique(member.X_, axis=0)) < len(data.X)
    parts = [member.predict_proba(data.X) for member in model.estimators_]
    found = model.predict_proba(data.X)
    np.testing.assert_allclose(found, np.mean(parts, axis=0), rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    ("estimator", "name"),
    [
        (MLkNN(), "MLkNN"),
        (PerEdgeClassifier(estimator=KNeighborsClassifier()), "KNeighborsClassifier"),
        (PerEdgeClassifier(estimator=PerEdgeClassifier(estimator=MLkNN())), "MLkNN"),
        (MetaLabeler(PCTClassifier(), counter=KNeighborsClassifier()), "KNeighborsClassifier"),
    ],
)
def test_sample_weights_are_rejected_if_a_member_does_not_support_them(
    estimator: Any, name: str
) -> None:
    data = make_data()
    model = HierarchicalBaggingClassifier(
        hierarchy=data.hierarchy, estimator=estimator, n_estimators=2
    )
    with pytest.raises(TypeError, match=rf"sample_weight is given, but {name}\.fit takes none"):
        model.fit(data.X, data.y, sample_weight=np.ones(80))


def test_members_get_data_frames_unchanged() -> None:
    data = make_data(n_nominal=2, as_frame=True)
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), list(data.categories)), remainder="passthrough"
    )
    for estimator in (None, make_pipeline(encode, GaussianNB())):
        model = HierarchicalBaggingClassifier(
            hierarchy=data.hierarchy,
            estimator=PerEdgeClassifier(estimator=estimator),
            n_estimators=2,
        ).fit(data.X, data.y)
        assert is_coherent(model.predict_proba(data.X), data.hierarchy)


def test_sample_weights_are_multiplied_by_the_counts_of_drawn_rows() -> None:
    data = make_data()
    weights = np.zeros(80)
    weights[:40] = 2.0
    model = HierarchicalBaggingClassifier(hierarchy=data.hierarchy, n_estimators=3, random_state=0)
    model.fit(data.X, data.y, sample_weight=weights)
    for member in model.estimators_:
        root = member.named_estimators_[None, data.hierarchy.labels[0]].tree_
        assert root.n_samples[0] <= 40
        assert root.weight[0] % 2 == 0


def test_ensembles_of_architectures_and_at_edges_beat_single_trees() -> None:
    data = make_data(n_samples=400, n_features=12, noise=1.0)
    train, test = slice(0, 200), slice(200, 400)
    quality = {}
    for name, model in {
        "trees": PerEdgeClassifier(PCTClassifier()),
        "at edges": PerEdgeClassifier(estimator=PCTBaggingClassifier(n_estimators=15)),
        "of architectures": HierarchicalBaggingClassifier(n_estimators=15),
    }.items():
        model.set_params(hierarchy=data.hierarchy, random_state=0)
        scores = model.fit(data.X[train], data.y[train]).predict_proba(data.X[test])
        quality[name] = pooled_auprc(data.y[test], scores)
    assert quality["at edges"] > quality["trees"]
    assert quality["of architectures"] > quality["trees"]


def test_loaded_models_predict_the_same(tmp_path: Any) -> None:
    data = make_data(n_labels=5)
    model = HierarchicalBaggingClassifier(hierarchy=data.hierarchy, n_estimators=2).fit(
        data.X, data.y
    )
    save(model, tmp_path / "bag.ramify")
    loaded = load(tmp_path / "bag.ramify")
    np.testing.assert_array_equal(loaded.predict_proba(data.X), model.predict_proba(data.X))


def test_estimators_of_other_libraries_are_rejected() -> None:
    message = r"estimator must be a classifier of ramify, got LogisticRegression\(\)\. Wrap it in"
    with pytest.raises(TypeError, match=message):
        HierarchicalBaggingClassifier(estimator=LogisticRegression()).fit([[1.0]], ["a"])
