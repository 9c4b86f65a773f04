"""What local architectures fit without an estimator."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import ramify
from ramify import (
    BinaryRelevance,
    FlatClassifier,
    LinearClassifier,
    PCTForestClassifier,
    PerEdgeClassifier,
    PerLevelClassifier,
    PerNodeClassifier,
    PerParentClassifier,
)
from tests.support.local_cases import one_path_per_row

KINDS = (
    BinaryRelevance,
    FlatClassifier,
    PerEdgeClassifier,
    PerLevelClassifier,
    PerNodeClassifier,
    PerParentClassifier,
)


@pytest.mark.parametrize("cls", KINDS)
@pytest.mark.parametrize(
    ("make", "inner"), [(np.asarray, PCTForestClassifier), (sparse.csr_array, LinearClassifier)]
)
def test_the_default_equals_the_estimator_that_is_documented(tmp_path, cls, make, inner):
    X, y = one_path_per_row(40)
    settings = {"n_estimators": 50, "random_state": 0} if inner is PCTForestClassifier else {}
    model = cls().fit(make(X), y)
    scores = model.predict_proba(make(X))
    np.testing.assert_array_equal(
        cls(inner(**settings)).fit(make(X), y).predict_proba(make(X)), scores
    )
    assert any(type(one) is inner for one in model.estimators_)
    ramify.save(model, tmp_path / "model.ramify")
    np.testing.assert_array_equal(
        ramify.load(tmp_path / "model.ramify").predict_proba(make(X)), scores
    )


def test_fitting_again_on_other_rows_chooses_again():
    X, y = one_path_per_row(40)
    model = PerParentClassifier().fit(sparse.csr_array(X), y).fit(X, y)
    assert any(isinstance(one, PCTForestClassifier) for one in model.estimators_)
