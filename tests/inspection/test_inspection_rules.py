"""Rules predict the same as their trees, and their statistics are correct."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from scipy import sparse

from ramify import PCTClassifier, PCTForestClassifier, PerEdgeClassifier
from ramify.inspection import rules
from tests.support.budget import budget
from tests.support.inspection_cases import (
    TREE,
    animal_forest,
    animal_tree,
    animals,
    problems,
    rows,
)


@given(problems())
@budget(30)
def test_rules_of_a_tree_reproduce_its_predictions(problem):
    params, X, Y, _ = problem
    model = PCTClassifier(**params).fit(X, Y)
    found = rules(model)
    fresh = rows(np.random.default_rng(1), 50, 0.1)
    fresh[0, 3] = 17  # a code that fit has not seen
    for rows_ in (X, fresh):
        predicted, expected = found.predict_proba(rows_), model.predict_proba(rows_)
        known = ~np.isnan(rows_).any(axis=1) & (rows_[:, 3] < 4)
        if params["nominal_tests"] != "nary":  # whose branches a node may not have seen
            np.testing.assert_array_equal(predicted[known], expected[known])
        np.testing.assert_allclose(predicted, expected, atol=1e-12)
    assert sum(rule.coverage for rule in found) == pytest.approx(1)


@given(problems())
@budget(20)
def test_rules_of_a_forest_reproduce_its_predictions(problem):
    params, X, Y, _ = problem
    model = PCTForestClassifier(n_estimators=8, max_depth=2, **params).fit(X, Y)
    whole, merged = rules(model, deduplicate=False), rules(model)
    np.testing.assert_allclose(whole.predict_proba(X), model.predict_proba(X), atol=1e-12)
    known = np.nan_to_num(X)
    np.testing.assert_allclose(merged.predict_proba(known), model.predict_proba(known), atol=1e-12)
    keys = [frozenset(c.key for c in rule.conditions) for rule in merged]
    assert len(keys) == len(set(keys))
    assert sum(rule.n_trees for rule in merged) == len(whole)


def test_rules_of_the_animals_reproduce_the_tree():
    X = animals().X
    tree, found = animal_tree(), rules(animal_tree())
    np.testing.assert_allclose(found.predict_proba(X), tree.predict_proba(X), atol=1e-15)
    known = ~X.isna().any(axis=1)
    np.testing.assert_array_equal(found.predict_proba(X[known]), tree.predict_proba(X[known]))


def test_sparse_and_dense_rows_give_the_same_rules():
    rng = np.random.default_rng(0)
    X = rng.random((40, 5)) * (rng.random((40, 5)) < 0.4)
    Y = TREE.close((rng.random((40, TREE.n_labels)) < 0.4).astype(int))
    model = PCTClassifier(TREE).fit(X, Y)
    np.testing.assert_array_equal(
        rules(model).predict_proba(sparse.csr_array(X)), model.predict_proba(X)
    )


def test_tests_that_change_nothing_are_left_out():
    """Both branches of x1 predict the same for label a, so its rules do not test x1."""
    X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]] * 3
    y = [["a", "b"], ["a"], ["b"], []] * 3
    model = PCTClassifier(TREE.from_labels(["a", "b"])).fit(X, y)
    assert {rule.to_text() for rule in rules(model, labels=["a"])} == {"x0 > 0.5", "x0 ≤ 0.5"}
    np.testing.assert_array_equal(
        rules(model, labels=["a"]).predict_proba(X)[:, 0], model.predict_proba(X)[:, 0]
    )


def test_figures_of_a_rule():
    X = [[1.0], [2.0], [3.0], [4.0], [5.0]]
    y = [["a/x/p"], ["a/x/p"], ["a/x/q"], ["b/z"], ["b/z"]]
    model = PCTClassifier(TREE, max_depth=1).fit(X, y)
    best = rules(model).for_label("a/x/p")
    assert len(best) == 1
    assert best[0].precision == pytest.approx(2 / 3)
    assert best[0].lift == pytest.approx(2 / 3 / 0.4)
    assert best[0].score == pytest.approx(1)  # it covers every row of the label
    assert best[0].rule.support == 3
    assert best[0].rule.coverage == pytest.approx(0.6)


def test_figures_measured_on_other_rows():
    model = PCTClassifier(max_depth=1).fit([[1.0], [2.0]], [["a"], ["b"]])
    found = rules(model, [[1.0], [1.0], [1.0], [2.0]], [["a"], ["b"], ["a"], ["b"]])
    rule = found.for_label("a")[0]
    assert rule.rule.support == 3
    assert rule.precision == pytest.approx(2 / 3)
    assert rule.lift == pytest.approx(4 / 3)
    np.testing.assert_array_equal(found.predict_proba([[1.0]]), [[1, 0]])
    with pytest.raises(ValueError, match="X was passed without y"):
        rules(model, [[1.0]])


def test_ranking_within_a_label():
    for label in ("taxonomy/bird", "habitat/sea"):
        scores = [entry.score for entry in rules(animal_forest()).for_label(label)]
        assert scores == sorted(scores, reverse=True)
        assert 0 < scores[0] <= 1 + 1e-9


def test_frame_and_json_agree():
    pytest.importorskip("pandas")
    found = rules(animal_tree())
    frame = found.to_frame(min_precision=0.6)
    content = json.loads(found.to_json(min_precision=0.6))
    assert len(frame) == sum(len(rule["then"]) for rule in content)
    first = frame[frame["rule"] == 0]
    assert set(first["label"]) == {said["label"] for said in content[0]["then"]}
    assert (frame["precision"] >= 0.6).all()
    assert content[0]["if"][0]["feature"] in animals().X.columns


def test_local_architectures_have_rules_but_no_sum():
    data = animals()
    model = PerEdgeClassifier(hierarchy=data.hierarchy, estimator=PCTClassifier(max_depth=2))
    model.fit(data.X, data.y)
    found = rules(model)
    assert found.for_label("taxonomy/bird")[0].precision == pytest.approx(1)
    with pytest.raises(ValueError, match="is not a mean over its trees"):
        found.predict_proba(data.X)
