"""Exported models compute predict_proba: random small models in onnxruntime."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ramify
from ramify import (
    FlatClassifier,
    PCTBaggingClassifier,
    PCTClassifier,
    PCTExtraTreesClassifier,
    PCTForestClassifier,
    PCTGradientBoostingClassifier,
    load_animals,
)
from ramify.export import to_onnx
from tests.support.budget import budget
from tests.support.cli_runs import run
from tests.support.label_graphs import build, label_graphs

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")
TOLERANCE = 1e-6


def predict(proto: Any, X: np.ndarray) -> np.ndarray:
    onnx.checker.check_model(proto, full_check=True)
    session = runtime.InferenceSession(
        proto.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    (probabilities,) = session.run(["probabilities"], {"X": X})
    assert probabilities.dtype == np.float32
    return np.asarray(probabilities)


@st.composite
def problems(draw: st.DrawFn, dtype: Any) -> tuple[Any, np.ndarray, np.ndarray, Any, list[int]]:
    """Draw a hierarchy, training rows, other rows, label sets and the nominal features."""
    hierarchy = build(draw(label_graphs()))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_train, n_test, n_features = draw(st.integers(2, 40)), 30, draw(st.integers(1, 4))
    nominal = [j for j in range(n_features) if draw(st.booleans())]
    missing = draw(st.sampled_from([0.0, 0.3]))

    def rows(n: int, first: int, last: int) -> np.ndarray:
        X = rng.normal(size=(n, n_features)).round(draw(st.sampled_from([1, 9])))
        X[:, nominal] = rng.integers(first, last, (n, len(nominal)))
        X[rng.random(X.shape) < missing] = np.nan
        return X.astype(dtype)

    sets = [rng.choice(hierarchy.labels, rng.integers(0, 3)).tolist() for _ in range(n_train)]
    return hierarchy, rows(n_train, 0, 6), rows(n_test, -1, 9), hierarchy.encode(sets), nominal


dtypes = st.sampled_from(["float32", "float64"])


@budget(30)  # every example creates four sessions
@given(st.data(), dtypes, st.sampled_from(["subset", "single", "nary"]), st.integers(1, 4))
def test_trees_and_forests(data: st.DataObject, dtype: str, tests: str, n_trees: int) -> None:
    hierarchy, X, rows, Y, nominal = data.draw(problems(dtype))
    shared = {"categorical_features": nominal, "nominal_tests": tests, "random_state": 0}
    shared["missing"] = data.draw(st.sampled_from(["learn", "branch", "divide"]))
    for model in (
        PCTClassifier(hierarchy, **shared),
        PCTForestClassifier(hierarchy, n_estimators=n_trees, **shared),
    ):
        model.fit(X, Y)
        expected = model.predict_proba(rows)
        divided = predict(to_onnx(model, dtype=dtype), rows)
        np.testing.assert_allclose(divided, expected, rtol=0, atol=TOLERANCE)
        found = predict(to_onnx(model, missing="nan", dtype=dtype), rows)
        is_nan = np.isnan(found)
        np.testing.assert_array_equal(is_nan.any(axis=1), is_nan.all(axis=1))
        np.testing.assert_allclose(found[~is_nan], expected[~is_nan], rtol=0, atol=TOLERANCE)
        if not nominal:  # a node may not know a category that other rows of the data have
            assert not is_nan[~np.isnan(rows).any(axis=1)].any()


@budget(50)
@given(
    st.data(),
    dtypes,
    st.sampled_from(["logistic", "softmax"]),
    st.sampled_from(["max", "min"]),
    st.integers(1, 8),
)
def test_gradient_boosting(
    data: st.DataObject, dtype: str, loss: str, coherence: str, n_rounds: int
) -> None:
    hierarchy, X, rows, Y, nominal = data.draw(problems(dtype))
    model = PCTGradientBoostingClassifier(
        hierarchy,
        loss=loss,
        coherence=coherence,
        max_iter=n_rounds,
        learning_rate=0.5,
        min_samples_leaf=1,
        max_features=None,
        categorical_features=nominal,
        random_state=0,
    ).fit(X, Y)
    found = predict(to_onnx(model, dtype=dtype), rows)
    np.testing.assert_allclose(found, model.predict_proba(rows), rtol=0, atol=TOLERANCE)


def test_codes_between_categories_count_as_the_lower_one() -> None:
    X = np.repeat(np.arange(4.0), 5)[:, None]
    y = np.repeat(["a", "b", "a", "c"], 5)
    rows = np.array([[0.5], [1.0], [2.99], [3.5], [4.0], [-0.1]], dtype=np.float32)
    for model in (
        PCTClassifier(categorical_features=[0]).fit(X, y),
        PCTGradientBoostingClassifier(
            categorical_features=[0], max_iter=3, min_samples_leaf=1
        ).fit(X, y),
    ):
        found = predict(to_onnx(model), rows)
        np.testing.assert_allclose(found, model.predict_proba(rows), atol=TOLERANCE)
    tree = PCTClassifier(categorical_features=[0]).fit(X, y)
    is_nan = np.isnan(predict(to_onnx(tree, missing="nan"), rows)).any(axis=1)
    assert is_nan.tolist() == [False] * 4 + [True] * 2


@pytest.mark.parametrize("cls", [PCTBaggingClassifier, PCTExtraTreesClassifier])
def test_other_ensembles(cls: Any) -> None:
    animals = load_animals()
    codes = encode(animals.X)
    nominal = np.flatnonzero(animals.X.dtypes == "category")
    Y = animals.hierarchy.encode(animals.hierarchy.decode(animals.y))
    model = cls(animals.hierarchy, n_estimators=5, categorical_features=nominal, random_state=0)
    model.fit(codes, Y)
    found = predict(to_onnx(model), codes)
    np.testing.assert_allclose(found, model.predict_proba(codes), rtol=0, atol=TOLERANCE)


def encode(frame: Any) -> np.ndarray:
    """Return the codes and numbers of a data frame."""
    columns = [
        column.cat.codes.where(column.notna()) if hasattr(column, "cat") else column.astype(float)
        for _, column in frame.items()
    ]
    return np.column_stack([np.asarray(column, dtype=np.float32) for column in columns])


def test_models_of_data_frames_describe_their_columns() -> None:
    animals = load_animals()
    model = PCTForestClassifier(animals.hierarchy, n_estimators=3, random_state=0)
    model.fit(animals.X, animals.y)
    proto = to_onnx(model)
    found = predict(proto, encode(animals.X))
    np.testing.assert_allclose(found, model.predict_proba(animals.X), rtol=0, atol=TOLERANCE)
    facts = {entry.key: json.loads(entry.value) for entry in proto.metadata_props}
    assert facts["labels"] == list(animals.hierarchy.labels)
    assert facts["features"] == list(animals.X.columns)
    for feature, categories in facts["categories"].items():
        assert categories == animals.X.iloc[:, int(feature)].cat.categories.tolist()


def test_dates_in_float64() -> None:
    days = np.arange(20.0)[:, None] * 60 + 1.8e9  # minutes, in seconds since 1970
    y = ["a", "b"] * 10
    tree = PCTClassifier().fit(days, y)
    found = predict(to_onnx(tree, dtype="float64"), days)
    np.testing.assert_array_equal(found, tree.predict_proba(days))


def test_what_cannot_be_exported_is_refused() -> None:
    X, y = [[1.0], [2.0], [3.0], [4.0]], ["a/x", "a/y", "b", "b"]
    with pytest.raises(TypeError, match=r"got FlatClassifier. Save other models with ramify.save"):
        to_onnx(FlatClassifier(PCTClassifier()).fit(X, y))
    boosted = PCTGradientBoostingClassifier(
        loss="logistic", coherence="isotonic", max_iter=2, min_samples_leaf=1
    ).fit(X, y)
    with pytest.raises(ValueError, match=r"got 'isotonic': .* Set model.coherence = 'max'"):
        to_onnx(boosted)
    votes = PCTForestClassifier(criterion="gini", clus_compat=True, n_estimators=2).fit(X, y)
    with pytest.raises(ValueError, match=r"clus_compat must be False .* criterion='gini'"):
        to_onnx(votes)
    tree = PCTClassifier().fit(X, y)
    with pytest.raises(ValueError, match=r"missing must be .* got 'drop'"):
        to_onnx(tree, missing="drop")
    with pytest.raises(ValueError, match=r"dtype must be .* got 'int32'"):
        to_onnx(tree, dtype="int32")


def test_without_onnx_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = PCTClassifier().fit([[1.0], [2.0]], ["a", "b"])
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"pip install 'ramify\[onnx\]'"):
        to_onnx(tree)


def test_the_command_writes_the_same_model(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)
    tree = PCTClassifier().fit(X, np.where(X[:, 0] > 0, "a", "b"))
    model, out = tmp_path / "m.ramify", tmp_path / "m.onnx"
    ramify.save(tree, model)
    result = run("export", model)
    assert result.exit_code == 0, result.output
    np.testing.assert_allclose(
        predict(onnx.load(out), X), tree.predict_proba(X), rtol=0, atol=TOLERANCE
    )
    before = out.read_bytes()
    assert run("export", model, "--missing", "drop").exit_code == 2
    assert out.read_bytes() == before
    assert run("export", model, "-o", tmp_path / "n.onnx", "--missing", "nan").exit_code == 0
    assert predict(onnx.load(tmp_path / "n.onnx"), X).shape == (40, 2)
