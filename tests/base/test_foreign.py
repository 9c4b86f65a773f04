"""Adapter for classifiers of other libraries: encoding of y, scores and sample weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from ramify import (
    HierarchicalBaggingClassifier,
    MetaLabeler,
    MLkNN,
    PCTClassifier,
    PerEdgeClassifier,
    TunedThresholdClassifierCV,
)
from ramify._base.foreign import Question, check_takes_weights, clone_seeded, takes_weights

X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]])
Y = sparse.csr_array(np.array([[1, 0], [1, 0], [0, 1], [0, 1], [0, 0], [0, 0]], dtype=np.int32))


def test_exclusive_labels_are_encoded_as_classes() -> None:
    question = Question.about(["cat", "dog"], exclusive=True)
    y = question.write(Y)
    assert y.tolist() == ["cat", "cat", "dog", "dog", "", ""]
    assert question.write(Y[:4]).tolist() == ["cat", "cat", "dog", "dog"]
    model = DecisionTreeClassifier().fit(X, y)
    np.testing.assert_array_equal(question.read(model, X), Y.toarray())


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(),
        KNeighborsClassifier(1),
        RandomForestClassifier(20, random_state=0),
    ],
    ids=str,
)
def test_one_array_per_label_becomes_columns(model: Any) -> None:
    question = Question.about(["cat", "dog"], exclusive=False)
    model.fit(X, question.write(Y))
    expected = np.stack([part[:, 1] for part in model.predict_proba(X)], axis=1)
    np.testing.assert_array_equal(question.read(model, X), expected)


def test_a_single_matrix_is_returned_unchanged() -> None:
    question = Question.about(["cat", "dog"], exclusive=False)
    model = OneVsRestClassifier(LogisticRegression()).fit(X, question.write(Y))
    np.testing.assert_array_equal(question.read(model, X), model.predict_proba(X))


def test_score_of_a_single_label_is_the_probability_of_class_1() -> None:
    question = Question.about(["cat"], exclusive=False)
    model = LogisticRegression().fit(X, question.write(Y[:, [0]]))
    np.testing.assert_array_equal(question.read(model, X)[:, 0], model.predict_proba(X)[:, 1])


def test_classes_not_seen_in_training_have_probability_0() -> None:
    few = sparse.csr_array(np.array([[0, 1], [0, 1]], dtype=np.int32))
    for exclusive in (False, True):
        question = Question.about(["cat", "dog"], exclusive=exclusive)
        model = DecisionTreeClassifier().fit(X[:2], question.write(few))
        assert question.read(model, X[:1]).tolist() == [[0.0, 1.0]]
    question = Question.about(["cat"], exclusive=False)
    model = DummyClassifier().fit(X[:2], question.write(few[:, [0]]))
    assert question.read(model, X[:1]).tolist() == [[0.0]]


@pytest.mark.parametrize("exclusive", [False, True])
def test_predictions_are_used_without_predict_proba(exclusive: bool) -> None:
    question = Question.about(["cat", "dog"], exclusive=exclusive)
    model = RidgeClassifier().fit(X, question.write(Y))
    predicted = model.predict(X)
    if exclusive:
        predicted = np.stack([predicted == "cat", predicted == "dog"], axis=1)
    np.testing.assert_array_equal(question.read(model, X), predicted)


@pytest.mark.parametrize(
    ("estimator", "culprit"),
    [
        (LogisticRegression(), None),
        (KNeighborsClassifier(), "KNeighborsClassifier"),
        (PCTClassifier(), None),
        (MLkNN(), "MLkNN"),
        (PerEdgeClassifier(PCTClassifier()), None),
        (PerEdgeClassifier(estimator=LogisticRegression()), None),
        (PerEdgeClassifier(estimator=KNeighborsClassifier()), "KNeighborsClassifier"),
        (HierarchicalBaggingClassifier(estimator=PerEdgeClassifier(estimator=MLkNN())), "MLkNN"),
        (TunedThresholdClassifierCV(MLkNN()), "MLkNN"),
        (MetaLabeler(PCTClassifier(), counter=KNeighborsClassifier()), "KNeighborsClassifier"),
        (make_pipeline(StandardScaler(), LogisticRegression()), "Pipeline"),
        (FrozenEstimator(MLkNN()), None),
    ],
    ids=str,
)
def test_estimators_without_sample_weight_are_found(estimator: Any, culprit: str | None) -> None:
    assert takes_weights(estimator) == (culprit is None)
    if culprit is not None:
        with pytest.raises(TypeError, match=rf"sample_weight is given, but {culprit}\.fit takes"):
            check_takes_weights(estimator)


def test_pipelines_route_sample_weights() -> None:
    with sklearn.config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        asking = LogisticRegression().set_fit_request(sample_weight=True)
        refusing = LogisticRegression().set_fit_request(sample_weight=False)
        assert takes_weights(make_pipeline(scaler, asking))
        assert not takes_weights(make_pipeline(scaler, refusing))


def test_each_nested_estimator_gets_its_own_seed() -> None:
    nested = PerEdgeClassifier(estimator=PCTClassifier())
    seeded = clone_seeded(nested, 3)
    assert seeded.random_state != seeded.estimator.random_state
    assert clone_seeded(nested, 3).get_params()["estimator__random_state"] == (
        seeded.estimator.random_state
    )
    assert nested.random_state is None
    assert clone_seeded(nested, None).random_state is None
