"""Validation rows are passed to every fit in the same way, and weigh as much as they are told."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from ramify import (
    BlendClassifier,
    CalibratedHierarchicalClassifier,
    HierarchicalVotingClassifier,
    PCTClassifier,
    PCTForestClassifier,
    PCTGradientBoostingClassifier,
    SelectiveClassifier,
    TunedThresholdClassifierCV,
    make_hierarchical_classification,
)
from tests.support.estimators import public_estimators

DATA = make_hierarchical_classification(150, 5, n_labels=8, random_state=0, as_frame=False)
X, Y = DATA.X, DATA.y.toarray()
N = 90  # rows to learn from

TREE = PCTClassifier(DATA.hierarchy, min_samples_leaf=4, random_state=0)
FOREST = PCTForestClassifier(DATA.hierarchy, n_estimators=5, random_state=0)
MODELS = {
    "level of the F-test": PCTClassifier(DATA.hierarchy, f_test=[0.001, 0.05, 1.0]),
    "pruning": PCTClassifier(DATA.hierarchy, pruning="reduced_error"),
    "thresholds": TunedThresholdClassifierCV(TREE, per="label"),
    "calibration": CalibratedHierarchicalClassifier(TREE),
    "votes": HierarchicalVotingClassifier([("tree", TREE), ("forest", FOREST)], weights="cv"),
    "boosting": PCTGradientBoostingClassifier(
        DATA.hierarchy, max_iter=30, n_iter_no_change=30, random_state=0
    ),
    "blend": BlendClassifier(DATA.hierarchy, random_state=0),
}
each_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


def test_every_fit_has_the_parameters_of_scikit_learn():
    names = ["X_val", "y_val", "sample_weight_val"]
    found = set()
    for cls in public_estimators():
        parameters = inspect.signature(cls.fit).parameters
        assert "validation" not in parameters
        if "X_val" in parameters:
            assert list(parameters)[-3:] == names
            assert {parameters[name].kind for name in names} == {inspect.Parameter.KEYWORD_ONLY}
            found.add(cls)
    # Its weights say how rows shift, so that more of them are not more rows.
    assert found - {SelectiveClassifier} == {type(model) for model in MODELS.values()}


@each_model
def test_a_weight_of_2_is_a_row_that_occurs_twice(model):
    weights = 1 + np.arange(len(X) - N) % 3
    model.fit(X[:N], Y[:N], X_val=X[N:], y_val=Y[N:], sample_weight_val=weights)
    found = model.predict_proba(X), model.predict(X)
    X_val, y_val = np.repeat(X[N:], weights, axis=0), np.repeat(Y[N:], weights, axis=0)
    model.fit(X[:N], Y[:N], X_val=X_val, y_val=y_val)
    np.testing.assert_allclose(found[0], model.predict_proba(X), atol=1e-9)
    np.testing.assert_array_equal(found[1], model.predict(X))


@each_model
def test_incomplete_validation_rows_raise_errors(model):
    with pytest.raises(ValueError, match="y_val must be given with X_val, got None"):
        model.fit(X[:N], Y[:N], X_val=X[N:])
    with pytest.raises(ValueError, match="X_val must be given with y_val and sample_weight_val"):
        model.fit(X[:N], Y[:N], y_val=Y[N:])
    with pytest.raises(ValueError, match="X_val has 60 rows, but y_val has 59"):
        model.fit(X[:N], Y[:N], X_val=X[N:], y_val=Y[N + 1 :])
    with pytest.raises(ValueError, match=r"sample_weight_val must have shape \(60,\), got \(2,\)"):
        model.fit(X[:N], Y[:N], X_val=X[N:], y_val=Y[N:], sample_weight_val=[1, 2])


def test_a_measure_without_weights_is_refused_only_if_there_are_weights():
    tree = PCTClassifier(pruning="reduced_error", pruning_measure=lambda truth, scores: 0.0)
    tree.fit(X[:N], Y[:N], X_val=X[N:], y_val=Y[N:])
    with pytest.raises(ValueError, match="pruning_measure must take sample_weight if sample_wei"):
        tree.fit(X[:N], Y[:N], X_val=X[N:], y_val=Y[N:], sample_weight_val=np.ones(60))


@each_model
def test_a_pipeline_can_transform_validation_rows(model):
    scaler = StandardScaler().fit(X[:N])
    expected = clone(model).fit(
        scaler.transform(X[:N]), Y[:N], X_val=scaler.transform(X[N:]), y_val=Y[N:]
    )
    with sklearn.config_context(enable_metadata_routing=True):
        asking = clone(model).set_fit_request(X_val=True, y_val=True)
        pipeline = Pipeline(
            [("scale", StandardScaler()), ("model", asking)], transform_input=["X_val"]
        ).fit(X[:N], Y[:N], X_val=X[N:], y_val=Y[N:])
    found = pipeline.predict_proba(X)
    np.testing.assert_array_equal(found, expected.predict_proba(scaler.transform(X)))
