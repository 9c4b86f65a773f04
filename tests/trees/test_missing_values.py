"""Missing values in trees: down the better branch, divided, or either, as the rows tell."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier

import ramify
from ramify import (
    PCTClassifier,
    PCTExtraTreesClassifier,
    PCTForestClassifier,
    PCTForestRegressor,
    PCTMultiTargetClassifier,
    PCTRegressor,
)
from ramify.trees.options import TreeOptions
from tests.reference.trees import Settings
from tests.support.budget import budget
from tests.support.tree_problems import (
    Problem,
    assert_equal_trees,
    counted_growth,
    is_eligible,
    plan_of,
    problems,
)

quickly = budget(30)


def numbers(seed: int, n: int, n_columns: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, n_columns))


def by_chance(X: np.ndarray, share: float, seed: int = 0) -> np.ndarray:
    return np.where(np.random.default_rng(seed).random(X.shape) < share, np.nan, X)


def sides(tree: ramify._core.Tree, X: np.ndarray) -> list[np.ndarray]:
    """Return the rows in each node."""
    reached = [np.arange(len(X))] + [np.empty(0, dtype=int)] * (len(tree.feature) - 1)
    for node in np.flatnonzero(tree.feature >= 0).tolist():
        rows = reached[node]
        x = X[rows, tree.feature[node]]
        first = tree.child_indptr[node]
        to_yes = np.where(np.isnan(x), tree.share[first] == 1, x > tree.threshold[node])
        for b, taken in enumerate((to_yes, ~to_yes)):
            reached[tree.child[first + b]] = rows[taken]
    return reached


@quickly
@given(seed=st.integers(0, 10_000), share=st.sampled_from([0.1, 0.4]), n=st.integers(5, 80))
def test_tests_are_as_good_as_those_of_scikit_learn(seed: int, share: float, n: int) -> None:
    X = by_chance(numbers(seed, n), share, seed)
    y = np.random.default_rng(seed + 1).integers(0, 3, n)
    ours = PCTClassifier(criterion="gini", missing="branch", max_depth=1).fit(X, y).tree_
    peer = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, y).tree_

    def impurity_below(children: np.ndarray, impurity: np.ndarray, weight: np.ndarray) -> float:
        return float((impurity[children] * weight[children]).sum())

    if peer.node_count == 1:
        assert len(ours.feature) == 1
        return
    below = np.array([peer.children_left[0], peer.children_right[0]])
    found = impurity_below(below, peer.impurity, peer.weighted_n_node_samples)
    by_ours = impurity_below(ours.child, ours.impurity, ours.weight)
    assert by_ours <= found + 1e-9


@quickly
@given(seed=st.integers(0, 10_000), share=st.sampled_from([0.0, 0.1, 0.4]))
def test_whole_trees_fit_as_those_of_scikit_learn(seed: int, share: float) -> None:
    X = by_chance(numbers(seed, 60, 1), share, seed)
    y = np.where(np.isnan(X[:, 0]), 1, np.nan_to_num(X[:, 0]) > 0.3).astype(int)
    flipped = np.random.default_rng(seed).random(60) < 0.1
    y = np.where(flipped, 1 - y, y)
    ours = PCTClassifier(criterion="gini", missing="branch", max_depth=2).fit(X, y)
    peer = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    tests = np.flatnonzero(ours.tree_.feature >= 0)
    if len(tests) and np.isfinite(ours.tree_.threshold[0]):
        assert ours.tree_.threshold[0] == pytest.approx(peer.tree_.threshold[0])
    reached = sides(ours.tree_, X)
    for node in np.flatnonzero(ours.tree_.feature < 0):
        share_of_ones = ours.predict_proba(X[reached[node]])[:, -1]
        np.testing.assert_allclose(share_of_ones, y[reached[node]].mean())


@quickly
@given(problem=problems(), wanted=counted_growth, seed=st.integers(0, 99))
def test_engines_grow_the_same_tree(problem: Problem, wanted: Settings, seed: int) -> None:
    problem.Y = problem.Y[:, :1]
    problem.label_weights = problem.label_weights[:1]
    for missing in ("learn", "branch"):
        plan = plan_of(wanted, missing=missing, seed=seed)
        if is_eligible(lambda plan=plan: problem.grow(_by(plan, "counting"))):
            one, other = (problem.grow(_by(plan, name)) for name in ("counting", "general"))
            np.testing.assert_array_equal(one.feature, other.feature)
            np.testing.assert_array_equal(one.threshold, other.threshold)
            np.testing.assert_allclose(one.share, other.share, atol=1e-9)


def _by(plan: TreeOptions, engine: str) -> TreeOptions:
    return replace(plan, engine=engine)


@quickly
@given(problem=problems(), seed=st.integers(0, 99))
def test_random_tests_send_missing_values_to_one_side(problem: Problem, seed: int) -> None:
    plan = plan_of(Settings(missing="branch"), splitter="random", seed=seed)
    tree = problem.grow(plan)
    assert set(tree.share.tolist()) <= {0.0, 1.0}
    rows = sparse.csc_array(problem.X)  # NaN is stored, zeros are not
    assert_equal_trees(tree, problem.grow(plan, rows))
    leaves = tree.feature < 0
    assert tree.weight[leaves].sum() == pytest.approx(tree.weight[0])


@pytest.mark.parametrize("missing", ["learn", "branch"])
def test_random_tests_find_what_missing_values_tell(missing: str) -> None:
    X = numbers(0, 60, 2)
    hidden = np.random.default_rng(1).random(60) < 0.5
    X[hidden, 1] = np.nan
    y = np.where(hidden, "a/b", "c")
    tree = PCTClassifier(splitter="random", missing=missing, random_state=0).fit(X, y).tree_
    assert tree.feature.tolist() == [1, -1, -1]
    assert tree.threshold[0] == -np.inf


@pytest.mark.parametrize("missing", ["learn", "branch", "divide"])
def test_columns_and_rows_without_values(missing: str) -> None:
    X = by_chance(numbers(0, 40), 0.3)
    X[:, 1] = np.nan
    X[7] = np.nan
    y = (np.nan_to_num(X[:, 0]) > 0).astype(int)
    for model in (
        PCTClassifier(missing=missing),
        PCTForestClassifier(n_estimators=3, missing=missing, random_state=0),
        PCTExtraTreesClassifier(n_estimators=3, missing=missing, random_state=0),
        PCTMultiTargetClassifier(missing=missing),
    ):
        found = model.fit(X, y).predict_proba(X)
        assert np.isfinite(found).all()
        assert not any((tree.feature == 1).any() for tree in getattr(model, "trees_", []))
    for model in (
        PCTRegressor(missing=missing),
        PCTForestRegressor(n_estimators=3, missing=missing, random_state=0),
    ):
        assert np.isfinite(model.fit(X, X[:, [0]] * 0 + y[:, None]).predict(X)).all()
    one_row = PCTClassifier(missing=missing).fit(np.array([[np.nan, 1.0]]), ["a"])
    assert one_row.predict([[np.nan, np.nan]]).tolist() == ["a"]


def test_values_missing_for_a_reason_are_learnt() -> None:
    X = numbers(1, 300, 8)
    y = (X[:, 0] > 0).astype(int)
    hidden = np.where(X > 0.5, np.nan, X)
    rows, others = slice(0, 150), slice(150, 300)
    accuracy = {}
    for missing in ("learn", "branch", "divide"):
        model = PCTClassifier(missing=missing, max_depth=3).fit(hidden[rows], y[rows])
        accuracy[missing] = (model.predict(hidden[others]) == y[others]).mean()
    assert min(accuracy["learn"], accuracy["branch"]) > 0.95
    assert accuracy["divide"] < 0.9


def test_values_missing_by_chance_are_divided() -> None:
    X = by_chance(numbers(2, 400, 6), 0.3)
    y = np.random.default_rng(3).integers(0, 4, 400)
    learnt = PCTClassifier(missing="learn", min_samples_leaf=20).fit(X, y).tree_
    divided = PCTClassifier(missing="divide", min_samples_leaf=20).fit(X, y).tree_
    assert (learnt.share == 1).sum() <= 0.1 * (divided.feature >= 0).sum()


@quickly
@given(problem=problems(), wanted=counted_growth)
def test_without_missing_values_the_rule_makes_no_difference(
    problem: Problem, wanted: Settings
) -> None:
    problem.X = np.nan_to_num(problem.X)
    learn, divide = (problem.grow(plan_of(wanted, missing=name)) for name in ("learn", "divide"))
    assert_equal_trees(learn, divide)


@pytest.mark.parametrize("missing", ["learn", "branch"])
def test_everything_follows_the_branch_of_missing_values(missing: str, tmp_path: Path) -> None:
    X = numbers(4, 200, 4)
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)
    X[:, :2] = np.where(X[:, :2] > 0.6, np.nan, X[:, :2])
    X = np.where(np.random.default_rng(5).random(X.shape) < 0.1, np.nan, X)
    model = PCTClassifier(missing=missing, min_samples_leaf=5).fit(X, y)
    found = model.predict_proba(X)
    paths = model.decision_path(X)
    tree = model.tree_
    leaves = np.flatnonzero(tree.feature < 0)
    reached = np.asarray(paths[:, leaves].sum(axis=1)).ravel()
    if missing == "branch":
        assert (reached == 1).all()
        assert paths[np.arange(len(X)), model.apply(X)].all()
    assert 1 in tree.share
    ramify.save(model, tmp_path / "model.ramify")
    loaded = ramify.load(tmp_path / "model.ramify")
    np.testing.assert_array_equal(loaded.predict_proba(X), found)
    np.testing.assert_allclose(ramify.inspection.rules(model).predict_proba(X), found, atol=1e-12)
    explained = ramify.inspection.explain(model, X[:1])
    assert explained is not None


def test_clus_divides_rows() -> None:
    X, y = by_chance(numbers(6, 30), 0.2), ["a", "b", "c"] * 10
    clus = PCTClassifier(clus_compat=True).fit(X, y)
    same = PCTClassifier(clus_compat=True, missing="divide").fit(X, y)
    assert_equal_trees(clus.tree_, same.tree_)
    for missing in ("learn", "branch"):
        with pytest.raises(ValueError, match="missing must be None or 'divide' with clus_compat"):
            PCTClassifier(clus_compat=True, missing=missing).fit(X, y)
    with pytest.raises(ValueError, match="missing must be"):
        PCTClassifier(missing="nan").fit(X, y)
