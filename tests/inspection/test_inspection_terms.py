"""Texts and vectors in rules, explanations, importances, pages and exports."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import ramify
from ramify.export import to_onnx
from ramify.inspection import (
    explain,
    explore,
    export_text,
    importances,
    permutation_importances,
    rules,
    shap_values,
)
from tests.support.browser import browser, show  # noqa: F401  (fixtures)

RANDOM = np.random.default_rng(0)
N = 120
KINDS = RANDOM.integers(0, 4, N)
THINGS = ["red pan", "blue pan", "oak table", "pine table"]
LABELS = [("kitchen/" if k < 2 else "room/") + THINGS[k] for k in KINDS]
TITLES = [f"A {THINGS[k]} for our home {j}" for j, k in enumerate(KINDS)]
FRAME = pd.DataFrame(
    {
        "vector": list(RANDOM.normal(size=(N, 2)) + np.c_[KINDS > 1, KINDS % 2]),
        "brand": RANDOM.choice(["acme", "zorg"], N),
        "title": TITLES,
        "day": pd.to_datetime("2024-01-01") + pd.to_timedelta(RANDOM.integers(0, 9, N), "D"),
    }
)
SETTINGS = {"random_state": 0, "max_features": 0.5}
TREE = ramify.PCTClassifier(random_state=0)
FOREST = ramify.PCTForestClassifier(n_estimators=4, **SETTINGS)
BOOSTED = ramify.PCTGradientBoostingClassifier(max_iter=4, **SETTINGS)


@pytest.fixture(scope="module", params=[TREE, FOREST, BOOSTED], ids=["tree", "forest", "boosted"])
def model(request):
    return request.param.fit(FRAME, LABELS)


def test_tests_read_as_sentences():
    first = export_text(ramify.PCTClassifier().fit(TITLES, LABELS)).partition("?")[0]
    assert first in (
        f"text contains {term}" for term in ("'red pan'", "'pan'", "'pa…'", "'pan for'")
    )


def test_conditions_say_what_a_text_contains_or_lacks():
    frame = pd.DataFrame({"title": TITLES, "n": KINDS * 0.0})
    found = rules(ramify.PCTClassifier().fit(frame, LABELS))
    texts = " and ".join(rule.to_text() for rule in found).split(" and ")
    assert texts
    assert all(text.startswith(("title contains '", "title lacks '")) for text in texts)
    condition = next(iter(found)).conditions[0].to_dict()
    assert condition["feature"].startswith("title contains '")


def test_the_name_of_a_vector_has_the_place_of_its_number():
    frame = FRAME[["vector"]].assign(vector=[[k > 1.0, k % 2] for k in KINDS])
    tree = ramify.PCTClassifier().fit(frame, LABELS)
    assert "vector[0] > 0.5?" in export_text(tree)
    assert "vector[1] > 0.5?" in export_text(tree)
    assert "size[0] > 0.5?" in export_text(tree, feature_names=["size"])


def test_rules_answer_as_the_model():
    forest = FOREST.fit(FRAME, LABELS)
    np.testing.assert_allclose(rules(forest).predict_proba(FRAME), forest.predict_proba(FRAME))


def test_explanations_add_up_by_term_and_by_column(model):
    row = FRAME.iloc[[3]]
    found = explain(model, row)
    by_column = found.sum_columns()
    assert list(by_column) == list(FRAME.columns)
    total = found.baseline + sum(by_column.values())
    np.testing.assert_allclose(total, found.prediction, atol=1e-5)
    assert len(found.features.names) < model.schema_.n_variables
    assert "title contains '" in found.to_text() or "title lacks '" in found.to_text()


def test_a_text_is_explained():
    tree = ramify.PCTClassifier().fit(TITLES, LABELS)
    for x in ("A red pan", ["A red pan"], pd.Series(["A red pan"])):
        found = explain(tree, x)
        assert found.prediction.argmax() == tree.predict_proba(["A red pan"]).argmax()
        assert "text contains '" in found.to_text()


@pytest.mark.filterwarnings("ignore")
def test_shapley_values_add_up_by_column(model):
    pytest.importorskip("shap")
    values, baseline = shap_values(model, FRAME[:3], FRAME[:10])
    assert values.shape == (3, 4, len(model.classes_))
    np.testing.assert_allclose(
        baseline + values.sum(axis=1), model.predict_proba(FRAME[:3]), atol=1e-9
    )


@pytest.mark.filterwarnings("ignore")
def test_shapley_values_of_trees_are_summed_by_column():
    pytest.importorskip("shap")
    frame = FRAME[["vector", "title"]]
    forest = FOREST.fit(frame, LABELS)
    values, baseline = shap_values(forest, frame[:3])
    assert values.shape == (3, 2, len(forest.classes_))
    np.testing.assert_allclose(
        baseline + values.sum(axis=1), forest.predict_proba(frame[:3]), atol=1e-9
    )


def test_importances_are_those_of_terms_or_columns():
    forest = FOREST.fit(FRAME, LABELS)
    terms, columns = importances(forest), importances(forest, sum_terms=True)
    assert columns.features.names == tuple(FRAME.columns)
    assert terms.by_label.shape[0] == len(terms.features.names) < forest.schema_.n_variables
    np.testing.assert_allclose(columns.overall.sum(), terms.overall.sum())
    assert columns.to_frame().index[0] == "title"
    own = forest.feature_importances_
    assert own.shape == (4,)
    assert own.sum() == pytest.approx(1)


def test_columns_are_shuffled_as_a_whole():
    forest = FOREST.fit(FRAME, LABELS)
    found = permutation_importances(forest, FRAME, LABELS, n_repeats=2, random_state=0)
    assert found.features.names == tuple(FRAME.columns)
    assert found.overall.argmax() == 2


def test_texts_are_not_exported_and_vectors_are():
    with pytest.raises(ValueError, match=r"reads texts in 'title'.*ONNX has no operators"):
        to_onnx(TREE.fit(FRAME, LABELS))
    frame = FRAME.drop(columns="title")
    proto = to_onnx(TREE.fit(frame, LABELS))
    facts = {fact.key: json.loads(fact.value) for fact in proto.metadata_props}
    assert facts["features"] == ["vector[0]", "vector[1]", "brand", "day"]
    assert facts["categories"] == {"2": ["acme", "zorg"]}


def test_the_page_has_only_terms_that_are_tested(model, tmp_path):
    page = explore(model, FRAME, LABELS, tmp_path / "page.html")
    content = page.read_text(encoding="utf-8")
    assert "title contains '" in content
    assert page.stat().st_size < 1_000_000


@pytest.mark.process
def test_the_page_shows_terms(show, tmp_path):  # noqa: F811
    page = show(explore(TREE.fit(FRAME, LABELS), FRAME, LABELS, tmp_path / "page.html"))
    page.evaluate("app.chooseRow ? app.chooseRow(0) : null")
    assert "title contains '" in page.inner_text("body")
