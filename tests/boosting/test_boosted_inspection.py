"""Views of boosted trees: text, pictures, rules, and contributions to margins."""

import json
import re

import numpy as np
import pytest
from scipy import sparse

from ramify import Hierarchy, PCTGradientBoostingClassifier, load_animals
from ramify.inspection import (
    explain,
    explore,
    export_graphviz,
    export_svg,
    export_text,
    importances,
    rules,
    summarise,
)


@pytest.fixture(scope="module")
def rows():
    """Numeric and nominal features, with missing values."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    X[:, 2] = rng.integers(0, 4, 150)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X


@pytest.fixture(scope="module")
def label_sets(rows):
    known = np.nan_to_num(rows)
    return [
        [n for n, yes in (("a", x > -1), ("a/b", x > 0), ("c", z > 1)) if yes] for x, _, z in known
    ]


def boosted(**settings):
    return PCTGradientBoostingClassifier(
        **{"max_iter": 12, "max_depth": 3, "random_state": 0, "categorical_features": [2]}
        | settings
    )


@pytest.mark.parametrize("loss", ["logistic", "softmax"])
def test_contributions_sum_to_the_margin(rows, label_sets, loss):
    hierarchy = Hierarchy.from_paths(["a/b", "c"])
    model = boosted(hierarchy=hierarchy, loss=loss).fit(rows, label_sets)
    for row in (rows[0], rows[17], np.full(3, np.nan), np.array([0.5, 0.1, 9.0])):
        found = explain(model, row)
        assert found.unit == "margin"
        total = found.baseline + found.contributions.sum(axis=0)
        np.testing.assert_allclose(total, found.prediction, atol=1e-4)
        odds = np.exp(found.prediction)
        scores = model.set_params(coherence="max").predict_proba(row.reshape(1, -1))[0]
        if loss == "softmax":
            expected = (odds / odds.sum()) @ model.label_sets_.toarray()
        else:
            expected = odds / (1 + odds)
            expected[0] = max(expected[0], expected[1])  # "a" is the parent of "a/b"
        np.testing.assert_allclose(scores, expected, atol=1e-5)


def test_the_feature_that_decides_contributes_most():
    X = np.random.default_rng(0).normal(size=(200, 4))
    model = boosted(categorical_features=None, max_features=None)
    model.fit(sparse.csr_matrix(X), [["a"] if x > 0 else [] for x in X[:, 2]])
    found = explain(model, [0.1, 0.1, 2.0, 0.1], feature_names=list("pqrs"))
    assert next(iter(found.for_label("a"))) == "r"
    assert found.to_text().startswith("sums of margins\na  ")


def test_text_shows_the_labels_that_move_most(rows, label_sets):
    model = boosted(hierarchy=Hierarchy.from_paths(["a/b", "c"]), max_depth=1, max_iter=1)
    model.fit(rows, label_sets)
    text = export_text(model, feature_names=["x", "y", "z"])
    values = model.trees_.arrays(0)["value"].reshape(2, 3)
    assert f"{values[0, 1]:+.2f}" in text
    assert f"{values[1, 2]:+.2f}" in text
    assert "b" not in export_text(model, labels=["c"])
    (tree,) = summarise(model).trees
    assert tree.unit == "margin"
    assert tree.nodes[0].n_samples == 150


def test_label_sets_are_named_after_their_most_specific_labels(rows, label_sets):
    model = boosted(hierarchy=Hierarchy.from_paths(["a/b", "c"]), loss="softmax")
    names = summarise(model.fit(rows, label_sets)).hierarchy.labels
    assert set(names) <= {"a", "a/b", "c", "a + c", "a/b + c", "no label"}
    assert len(names) == model.label_sets_.shape[0]


def test_a_test_for_missing_values_is_named():
    X = np.array([[np.nan], [1.0]] * 20)
    model = boosted(categorical_features=None, max_iter=1).fit(X, [["a"], ["b"]] * 20)
    text = export_text(model, feature_names=["x"])
    assert text.startswith("# tree 1\nx is not missing?  40 rows")
    found = rules(model, X, [["a"], ["b"]] * 20, feature_names=["x"])
    assert {rule.to_text() for rule in found} == {"x is missing", "x is not missing"}
    assert [rule.support for rule in found] == [20, 20]
    assert found.for_label("a")[0].precision == 1


def test_rules_partition_the_rows_of_each_tree(rows, label_sets):
    model = boosted(hierarchy=Hierarchy.from_paths(["a/b", "c"])).fit(rows, label_sets)
    found = rules(model, rows, label_sets)
    support = {}
    for rule in found:
        support[rule.tree] = support.get(rule.tree, 0) + rule.support
        assert ((rule.probability >= 0) & (rule.probability <= 1)).all()
    assert set(support.values()) == {150}
    only = rules(model, rows, label_sets, labels=["c"])
    assert {tuple(rule.labels) for rule in only} == {(2,)}


def test_pictures_are_drawn(tmp_path):
    animals = load_animals()
    model = boosted(hierarchy=animals.hierarchy, categorical_features=None, max_iter=2)
    model.fit(animals.X, animals.y)
    assert "… " in export_text(model, max_labels=2)
    svg = export_svg(model, path=tmp_path / "tree.svg")
    assert "+0." in svg
    assert "nan" not in svg
    assert "label" in export_graphviz(model)


@pytest.mark.parametrize("loss", ["logistic", "softmax"])
def test_the_page_has_moves_of_margins_and_learnt_branches(tmp_path, rows, label_sets, loss):
    model = boosted(hierarchy=Hierarchy.from_paths(["a/b", "c"]), loss=loss).fit(rows, label_sets)
    page = explore(model, rows, label_sets, tmp_path / "page.html", max_trees=2)
    text = page.read_text(encoding="utf-8")
    data = json.loads(re.search(r'<script[^>]*id="data"[^>]*>(.*?)</script>', text, re.S)[1])
    assert data["unit"] == "margin"
    assert len(data["trees"]) == 2
    first = model.trees_.arrays(0)
    assert data["trees"][0]["value"] == np.round(first["value"].astype(float), 4).tolist()
    assert data["trees"][0]["missingBranch"] == (1 - first["missing_yes"]).tolist()
    np.testing.assert_allclose(data["importances"], model.feature_importances_, atol=1e-6)
    assert ("curves" in data) == (loss == "logistic")  # label sets have no curves


def test_views_of_probabilities_refuse_margins_with_a_remedy(rows, label_sets):
    model = boosted(hierarchy=Hierarchy.from_paths(["a/b", "c"])).fit(rows, label_sets)
    with pytest.raises(TypeError, match="Use its feature_importances_"):
        importances(model)
    with pytest.raises(ValueError, match="X and y must be given for a PCTGradientBoosting"):
        rules(model)
    with pytest.raises(ValueError, match="is not a mean over its trees"):
        rules(model, rows, label_sets).predict_proba(rows)
