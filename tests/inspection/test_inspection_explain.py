"""Contributions sum to the prediction; Shapley values too."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from scipy import sparse

from ramify import BRDTClassifier, PCTClassifier, PCTForestClassifier, PerEdgeClassifier
from ramify.inspection import explain, shap_values
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
@budget(25)
def test_contributions_sum_to_the_prediction(problem):
    params, X, Y, _ = problem
    fresh = rows(np.random.default_rng(2), 3, 0.3)
    for model in (PCTClassifier(**params), PCTForestClassifier(n_estimators=4, **params)):
        model.fit(X, Y)
        expected = model.predict_proba(fresh)
        for row, prediction in zip(fresh, expected, strict=True):
            found = explain(model, row)
            total = found.baseline + found.contributions.sum(axis=0)
            np.testing.assert_allclose(total, prediction, atol=1e-9)
            for path in found.paths:
                assert sum(part for _, part in path.leaves) == pytest.approx(1)


@pytest.mark.parametrize("grow", [animal_tree, animal_forest])
def test_contributions_sum_to_the_prediction_for_the_animals(grow):
    model, X = grow(), animals().X
    expected = model.predict_proba(X)
    for i in range(0, len(X), 7):
        found = explain(model, X.iloc[[i]])
        total = found.baseline + found.contributions.sum(axis=0)
        np.testing.assert_allclose(total, expected[i], atol=1e-9)


def test_the_labels_shown_are_those_that_the_model_predicts():
    data, forest = animals(), animal_forest()
    for k in range(0, len(data.X), 30):
        row = data.X[k : k + 1] if not hasattr(data.X, "iloc") else data.X.iloc[[k]]
        found = explain(forest, row)
        (predicted,) = data.hierarchy.decode(forest.predict(row))
        assert set(found.predicted) == set(predicted)
        shown = found.to_text(max_labels=99)
        assert all(f"{label}  " in shown for label in predicted)


def test_a_missing_value_changes_nothing_and_divides_the_row():
    X = [[1.0, 0.0], [2.0, 0.0], [3.0, 1.0], [4.0, 1.0]]
    model = PCTClassifier().fit(X, ["a", "a", "b", "c"])
    found = explain(model, [np.nan, np.nan])
    assert not found.contributions.any()
    assert len(found.paths[0].leaves) == 3
    assert "x0 = missing: divided among all branches" in found.to_text()
    assert "50 % of the row:" in found.to_text()


def test_rows_of_any_kind_are_read():
    X = animals().X
    by_frame, by_series = explain(animal_tree(), X.iloc[[5]]), explain(animal_tree(), X.iloc[5])
    np.testing.assert_array_equal(by_frame.contributions, by_series.contributions)
    model = PCTClassifier(TREE).fit(
        [[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]], [["a/y"], ["b/z"], ["b/z"]]
    )
    by_sparse = explain(model, sparse.csr_array([[0.0, 1.0]]))
    np.testing.assert_array_equal(
        by_sparse.contributions, explain(model, (0.0, 1.0)).contributions
    )
    with pytest.raises(ValueError, match="x must be a single row, got 189 rows"):
        explain(animal_tree(), X)


def test_text_of_tree_and_forest():
    lion = animals().X.loc[["lion"]]
    text = explain(animal_tree(), lion).to_text(labels=["taxonomy/mammal"])
    assert "birth in {live-birth, pouch}?  yes: birth = live-birth" in text
    assert "taxonomy/mammal  0.36 → " in text
    text = explain(animal_forest(), lion).to_text()
    assert text.startswith("mean of 10 trees\n")
    assert "other features" in text
    frame = explain(animal_forest(), lion).to_frame()
    assert frame.shape == (13, 203)
    leaf = PCTClassifier(max_depth=0).fit([[0.0], [1.0]], ["a", "b"])
    assert "single leaf" in explain(leaf, [0.0]).to_text()


def test_local_architectures_are_explained_model_by_model():
    X = [[0.0], [1.0], [2.0]]
    model = PerEdgeClassifier(PCTClassifier(), hierarchy=TREE).fit(
        X, [["a/x/p"], ["a/x/q"], ["b/z"]]
    )
    with pytest.raises(
        ValueError, match=r"sum or mean of its trees, got PerEdgeClassifier\. Explain one"
    ):
        explain(model, [0.0])
    key = next(iter(model.named_estimators_))
    assert explain(model.named_estimators_[key], [0.0]).prediction.shape == (1,)


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # of shap's own import
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_shapley_values_sum_to_the_prediction(monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")  # compiling takes longer than the few sums here
    pytest.importorskip("shap")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    Y = TREE.close(np.column_stack([X > 0, X < 0.5, X[:, :1] > 1]).astype(int)[:, : TREE.n_labels])
    for model in (PCTClassifier(TREE, max_depth=3), PCTForestClassifier(TREE, n_estimators=5)):
        model.fit(X, Y)
        values, baseline = shap_values(model, X[:10])
        assert values.shape == (10, 3, TREE.n_labels)
        total = values.sum(axis=1) + baseline
        np.testing.assert_allclose(total, model.predict_proba(X[:10]), atol=1e-9)
    data = animals()
    with pytest.raises(ValueError, match="Pass background=X_train"):
        shap_values(animal_tree(), data.X[:1])
    values, baseline = shap_values(animal_tree(), data.X[:1], data.X[::20])
    total = values.sum(axis=1) + baseline
    np.testing.assert_allclose(total, animal_tree().predict_proba(data.X[:1]), atol=1e-9)


def test_trees_of_brdt_add_up():
    X = np.arange(24.0).reshape(12, 2)
    y = [["cat", "purrs"]] * 6 + [["dog"]] * 3 + [["dog", "old"]] * 3
    model = BRDTClassifier().fit(X, y)
    for x in X[::3]:
        found = explain(model, x)
        assert len(found.paths) == len(model.components_)
        np.testing.assert_allclose(
            found.baseline + found.contributions.sum(axis=0), model.predict_proba(x[None])[0]
        )
    below = BRDTClassifier().fit(X, ["a/b"] * 6 + ["a/c"] * 6)
    with pytest.raises(ValueError, match="must predict a sum or mean of its trees"):
        explain(below, X[0])
