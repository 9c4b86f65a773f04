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


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("kind", ["float64", "float32", "int64", "bool", "mixed", "object"])
def test_rows_of_a_data_frame_are_read_as_the_array(library: str, kind: str) -> None:
    frames = pytest.importorskip(library)
    tree = PCTClassifier().fit(frames.DataFrame({"u": X[:, 0], "v": X[:, 1]}), Y)
    columns: dict[str, Any] = {"u": X[:, 0] > 2, "v": X[:, 1] > 0}
    if kind == "mixed":
        columns = {"u": X[:, 0].astype(int), "v": X[:, 1].astype(np.float32)}
    elif kind == "object":
        columns = {"u": [1, None, 3, 4], "v": [0.0, 0.0, None, 1.0]}
    elif kind != "bool":
        columns = {"u": X[:, 0].astype(kind), "v": X[:, 1].astype(kind)}
    cells = [[np.nan if x is None else float(x) for x in columns[name]] for name in "uv"]
    expected = PCTClassifier().fit(X, Y).predict_proba(np.array(cells).T)
    np.testing.assert_array_equal(tree.predict_proba(frames.DataFrame(columns)), expected)


def test_what_is_wrong_with_a_row_of_a_data_frame_is_refused() -> None:
    pandas = pytest.importorskip("pandas")
    tree = PCTClassifier().fit(pandas.DataFrame(X, columns=["u", "v"]), Y)
    row = pandas.DataFrame({"u": [1.0], "v": [0.0]})
    with pytest.raises(ValueError, match="contains infinity"):
        tree.predict_proba(row.replace(0.0, np.inf))
    with pytest.raises(ValueError, match="same order"):
        tree.predict_proba(row[["v", "u"]])
    with pytest.raises(ValueError, match="unseen at fit time"):
        tree.predict_proba(row.rename(columns={"v": "w"}))
    with pytest.raises(ValueError, match="missing"):
        tree.predict_proba(row[["u"]])
    with pytest.raises(ValueError, match="0 sample"):
        tree.predict_proba(row.iloc[:0])


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_numbers_between_categories_are_read_as_when_they_stand_alone(library: str) -> None:
    frames = pytest.importorskip(library)
    columns = {"u": X[:, 0], "c": ["p", "q", "p", "q"], "v": X[:, 1], "w": [1, 2, 3, 4]}
    tree = PCTClassifier().fit(frames.DataFrame(columns), Y)
    apart = {**columns, "w": [1, None, 3, 4]}  # an integer column with a missing value
    found = read_features(tree, frames.DataFrame(apart), tree.schema_)
    np.testing.assert_array_equal(found[:, 0], X[:, 0])
    np.testing.assert_array_equal(found[:, 1], [0, 1, 0, 1])
    np.testing.assert_array_equal(found[:, 2], X[:, 1])
    np.testing.assert_array_equal(found[:, 3], [1, np.nan, 3, 4])
    with pytest.raises(ValueError, match="column 'v' of X contains infinity"):
        tree.predict(frames.DataFrame({**columns, "v": [0.0, np.inf, 0.0, 0.0]}))


def test_an_array_for_a_model_of_a_data_frame_warns() -> None:
    pandas = pytest.importorskip("pandas")
    tree = PCTClassifier().fit(pandas.DataFrame(X, columns=["u", "v"]), Y)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        tree.predict_proba(X)


def test_a_model_that_is_not_fitted_says_so() -> None:
    for method in ("predict", "predict_proba"):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            getattr(PCTClassifier(), method)(X)
