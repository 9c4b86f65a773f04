"""Arrays that need no conversion are used as they are; all others are validated as before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from ramify import PCTClassifier
from ramify.data.features import read_features

X = np.array([[1.0, 0.0], [2.0, 0.0], [3.0, 1.0], [4.0, 1.0]])
Y = ["a/x", "a/y", "b", "b"]


@pytest.fixture(scope="module")
def tree() -> PCTClassifier:
    return PCTClassifier().fit(X, Y)


@pytest.mark.parametrize(
    "rows",
    [
        X,
        X.astype(np.float32),
        np.asfortranarray(X),
        X[::-1],
        np.array([[np.nan, 1.0]]),
        X.tolist(),
        X.astype(int),
        X.astype(">f8"),
        X.astype(np.float16),
    ],
    ids=str,
)
def test_every_layout_gives_the_same_probabilities(tree: PCTClassifier, rows: Any) -> None:
    plain = np.array(np.asarray(rows), dtype=np.float64, order="C")
    np.testing.assert_array_equal(tree.predict_proba(rows), tree.predict_proba(plain))


def test_a_matrix_of_floats_is_not_copied(tree: PCTClassifier) -> None:
    assert read_features(tree, X, tree.schema_) is X


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (np.array([[np.inf, 1.0]]), "contains infinity"),
        (np.array([[-np.inf, 1.0]], dtype=np.float32), "contains infinity"),
        (np.ones((2, 3)), "3 features, but PCTClassifier is expecting 2"),
        (np.ones((0, 2)), "0 sample"),
        (np.ones(2), "Expected 2D array"),
        (np.ones((1, 2, 1)), "dim 3"),
        (np.array([["a", "b"]]), "could not convert"),
    ],
)
def test_what_is_wrong_is_refused(tree: PCTClassifier, rows: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tree.predict_proba(rows)


def test_an_array_for_a_model_of_a_data_frame_warns() -> None:
    pandas = pytest.importorskip("pandas")
    tree = PCTClassifier().fit(pandas.DataFrame(X, columns=["u", "v"]), Y)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        tree.predict_proba(X)


def test_a_model_that_is_not_fitted_says_so() -> None:
    for method in ("predict", "predict_proba"):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            getattr(PCTClassifier(), method)(X)
