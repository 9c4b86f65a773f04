"""Trees as text and as plain data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

import ramify
from ramify import (
    Hierarchy,
    LabelPowerset,
    PCTClassifier,
    PerEdgeClassifier,
    PerNodeClassifier,
    RAkEL,
)
from ramify.inspection import export_text, rules, summarise
from ramify.inspection.node_tests import threshold_texts
from ramify.inspection.outline import LabelChoice, make_outline
from tests.support.budget import budget
from tests.support.inspection_cases import DAG, animal_forest, animal_tree, problems

GOLDEN = Path(__file__).parents[1] / "golden"


def golden_texts() -> dict[str, str]:
    """Return the content of the golden files; running this module writes them."""
    found = rules(animal_tree())
    return {
        "animals_tree.txt": export_text(animal_tree()),
        "animals_rules.txt": found.to_text(),
        "animals_rules.json": found.to_json(min_precision=0.5) + "\n",
    }


@pytest.mark.parametrize("name", ["animals_tree.txt", "animals_rules.txt", "animals_rules.json"])
def test_text_and_rules_of_the_animals_do_not_change(name):
    assert golden_texts()[name] == (GOLDEN / name).read_text(encoding="utf-8")


@given(problems())
@budget(30)
def test_inner_nodes_are_the_means_of_their_rows(problem):
    params, X, Y, _ = problem
    divided = PCTClassifier(**params, missing="divide").fit(X, Y)
    nothing = np.full((1, X.shape[1]), np.nan)
    root = summarise(divided).trees[0].value(0)
    np.testing.assert_allclose(root, divided.predict_proba(nothing)[0], atol=1e-12)
    tree = summarise(PCTClassifier(**params).fit(X, Y)).trees[0]
    np.testing.assert_allclose(tree.value(0), Y.toarray().mean(axis=0), atol=1e-12)
    for node in tree.nodes:
        if not node.is_leaf:
            mean = sum(s * tree.value(c) for s, c in zip(node.shares, node.children, strict=True))
            np.testing.assert_allclose(tree.value(node.number), mean, atol=1e-12)
            assert sum(node.shares) == pytest.approx(1)


def test_rows_with_missing_values_are_counted():
    X = [[1.0], [2.0], [3.0], [4.0], [np.nan]]
    tree = PCTClassifier(max_depth=1).fit(X, ["a", "a", "b", "b", "b"])
    node = summarise(tree).trees[0].nodes[0]
    assert (node.n_samples, node.n_unknown) == (5, 1)
    assert "x0 > 2.5?  5 rows, 1 missing" in export_text(tree)


def test_the_branch_of_missing_values_is_named():
    x = np.arange(12.0)
    X = np.column_stack([np.where(x < 4, np.nan, x), x % 3])
    X[4, 1] = np.nan
    tree = PCTClassifier(max_depth=1).fit(X, ["a" if i < 8 else "b" for i in range(12)])
    assert "x0 > 7.5?  12 rows\n" in export_text(tree)
    assert {rule.to_text() for rule in rules(tree)} == {"x0 > 7.5", "x0 ≤ 7.5 or missing"}
    tree.fit(X, ["a" if i < 8 else "b" for i in range(12)][::-1])
    assert "x0 > 7.5 or missing?" in export_text(tree) or "x0 is not missing?" in export_text(tree)
    tree.fit(X, ["a" if i < 4 else "b" for i in range(12)])
    assert "x0 is not missing?  12 rows\n" in export_text(tree)
    assert {rule.to_text() for rule in rules(tree)} == {"x0 is not missing", "x0 is missing"}
    colours = np.where(np.isnan(X[:, :1]), np.nan, x[:, None] % 2)
    tree = PCTClassifier(max_depth=1, categorical_features=[0])
    tree.fit(colours, ["a" if i < 4 else "b" for i in range(12)])
    assert "x0 is missing?  12 rows\n" in export_text(tree)
    assert {rule.to_text() for rule in rules(tree)} == {"x0 is missing", "x0 is not missing"}
    tree.fit(colours, ["a" if i < 4 or i % 2 else "b" for i in range(12)])
    assert "x0 is 0?" in export_text(tree)
    assert {rule.to_text() for rule in rules(tree)} == {"x0 is 0", "x0 is 1 or missing"}


def test_depth_limit_counts_hidden_tests():
    text = export_text(animal_tree(), max_depth=1)
    assert text.count("rows") == 3
    assert "tests below" in text
    assert len(text.splitlines()) < len(export_text(animal_tree()).splitlines())


def test_many_way_tests_name_their_categories():
    X = np.repeat([[0.0], [1.0], [2.0]], 3, axis=0)
    tree = PCTClassifier(categorical_features=[0], nominal_tests="nary")
    tree.fit(X, ["a"] * 3 + ["b"] * 3 + ["c"] * 3)
    text = export_text(
        tree, feature_names=["colour"], categories={"colour": ["red", "green", "x"]}
    )
    assert text.startswith("colour?  9 rows\n├─ red: 3 rows\n")


def test_small_trees_of_local_models_have_titles():
    hierarchy = Hierarchy.from_paths(["a/x", "a/y", "b"])
    X = np.arange(12.0)[:, np.newaxis]
    y = [["a/x"]] * 4 + [["a/y"]] * 4 + [["b"]] * 4
    text = export_text(PerEdgeClassifier(PCTClassifier(), hierarchy=hierarchy).fit(X, y))
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        "# a",
        "# a → a/x",
        "# a → a/y",
        "# b",
    ]
    assert export_text(
        PerNodeClassifier(PCTClassifier(), hierarchy=hierarchy).fit(X, y), max_trees=1
    ).endswith("… 3 more trees\n")


def test_forest_shows_ten_trees():
    text = export_text(animal_forest(), max_depth=1, max_trees=2)
    assert "# tree 1\n" in text
    assert text.endswith("… 8 more trees\n")


def test_other_models_are_refused_with_a_remedy():
    tuned = ramify.TunedThresholdClassifierCV(PCTClassifier(), cv=2)
    tuned.fit([[0.0], [1.0], [2.0], [3.0]], [["a"], ["b"], ["a"], ["b"]])
    with pytest.raises(TypeError, match=r"a set of trees of ramify, got .*\. Pass its estimator_"):
        export_text(tuned)
    with pytest.raises(TypeError, match="model must be a fitted estimator"):
        export_text("model.ramify")
    with pytest.raises(ValueError, match="feature_names has 1 names, but the model has 13"):
        export_text(animal_tree(), feature_names=["x"])
    with pytest.raises(ValueError, match="categories must be keyed by feature names, got 'size'"):
        export_text(animal_tree(), categories={"size": ["s", "m"]})
    with pytest.raises(ValueError, match="threshold must be a number from 0 to 1, got 2"):
        export_text(animal_tree(), threshold=2)
    with pytest.raises(ValueError, match=r"max_depth must be .*, got -1"):
        export_text(animal_tree(), max_depth=-1)


def test_thresholds_have_the_digits_they_need():
    feature = np.zeros(4, dtype=int)
    close = np.array([0.12345678, 0.12345699, 5.0, 1e-7])
    texts = threshold_texts(feature, close)
    assert len(set(texts)) == 4
    assert [float(text) for text in texts] == pytest.approx(close, rel=1e-6)
    assert threshold_texts(np.array([0]), np.array([1234567.5])) == ["1.235e+06"]


def test_outline_of_a_dag_shows_each_label_once_below_its_deepest_parent():
    ones = np.ones(DAG.n_labels)
    lines = make_outline(DAG, ones * np.array([1, 1, 0.9, 0.8, 0.7, 0.6]), 0 * ones, LabelChoice())
    names = [line.name for line in lines.lines]
    assert sorted(names) == sorted(set(names))
    assert len(names) == DAG.n_labels


if __name__ == "__main__":
    for name, text in golden_texts().items():
        (GOLDEN / name).write_text(text, encoding="utf-8")


def test_trees_of_label_powersets_show_label_sets():
    X = [[1.0], [2.0], [3.0], [4.0]]
    y = [["cat", "black"], ["cat", "black"], ["dog"], []]
    text = export_text(LabelPowerset().fit(X, y))
    assert "{black, cat}" in text
    assert "{dog}" in text
    assert "{}" in text
    several = export_text(RAkEL(group_size=2, random_state=0).fit(X, y))
    assert "{cat} of {cat, dog}" in several
    assert "{black, cat} of {black, cat}" in several


def test_leaves_of_divided_rows_show_their_weight() -> None:
    X = [[0.0, 1.0], [1.0, np.nan], [np.nan, 2.0], [np.nan, 3.0], [4.0, 1.0], [5.0, 2.0]]
    tree = PCTClassifier(max_depth=1).fit(X, ["a", "a", "a", "b", "b", "b"])
    lines = export_text(tree).splitlines()
    assert lines[0] == "x0 > 2.5?  6 rows, 2 missing"
    assert [line for line in lines if "weight" in line] == [
        "├─ yes: 4 rows, weight 3",
        "└─ no: 4 rows, weight 3",
    ]
