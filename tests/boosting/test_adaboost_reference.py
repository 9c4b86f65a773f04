"""Boosting equals the slow, readable reference in every round."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse

from ramify import HierarchicalAdaBoostMHClassifier, Hierarchy
from tests.reference import adaboost as reference
from tests.reference.adaboost import Settings
from tests.reference.trees import Column
from tests.reference.unknown import closed, rows_that_tell
from tests.support.budget import budget

TREE = Hierarchy.from_paths(["a/b/c", "a/b/d", "a/e", "f/g", "f/h"])
DAG = Hierarchy.from_edges(
    [("a", "b"), ("a", "c"), ("d", "c"), ("c", "e"), ("b", "e"), ("d", "f")]
)
FLAT = Hierarchy.from_labels(["a", "b", "c"])
WIDE = Hierarchy.from_labels([f"label{k:02}" for k in range(19)])  # more than one block

quickly = budget(25)


@dataclass
class Problem:
    """Rows, nominal columns, labels closed upwards and weights."""

    hierarchy: Hierarchy
    X: np.ndarray
    n_categories: list[int]
    Y: np.ndarray
    weights: np.ndarray

    @property
    def columns(self) -> list[Column]:
        return [Column(x, k) for x, k in zip(self.X.T, self.n_categories, strict=True)]

    @property
    def nominal(self) -> list[int]:
        return [j for j, k in enumerate(self.n_categories) if k]


def column(rng: np.random.Generator, n: int, kind: str) -> tuple[np.ndarray, int]:
    if kind == "normal":
        return rng.normal(size=n), 0
    if kind == "ties":
        return rng.integers(-2, 3, n).astype(float), 0
    if kind == "sparse":
        return rng.normal(size=n).round(1) * (rng.random(n) < 0.3), 0
    if kind == "constant":
        return np.full(n, 1.5), 0
    codes = rng.integers(0, 4, n).astype(float)
    codes[0] = 3.0  # ensures four categories, one of which may have no rows
    codes[codes == 1] = 0.0
    return codes, 4


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """Draw problems: trees and DAGs, missing values, nominal features, sparse X, weights, ties."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    hierarchy = draw(st.sampled_from([TREE, TREE, TREE, DAG, DAG, DAG, FLAT, WIDE]))
    n = draw(st.integers(2, 14))
    kinds = st.sampled_from(["normal", "ties", "sparse", "constant", "nominal"])
    parts = [column(rng, n, kind) for kind in draw(st.lists(kinds, min_size=1, max_size=3))]
    X = np.column_stack([x for x, _ in parts])
    known = X[0].copy()
    X[rng.random(X.shape) < draw(st.sampled_from([0.0, 0.0, 0.2]))] = np.nan
    X[0] = known
    leaves = rng.random((n, hierarchy.n_labels)) < 0.25
    leaves[:, -1] |= np.nan_to_num(X[:, 0]) > 0
    Y = hierarchy.close(sparse.csr_array(leaves.astype(np.int32))).toarray()
    weights = rng.choice([0.5, 1.0, 2.0, 3.7], n) if draw(st.booleans()) else np.ones(n)
    return Problem(hierarchy, X, [k for _, k in parts], Y, weights)


switches = st.builds(
    Settings,
    n_rounds=st.just(4),
    depth=st.sampled_from([1, 1, 2]),
    shared=st.sampled_from([False, False, True]),
    n_steps=st.sampled_from([None, None, 3, 10]),
    top_down=st.sampled_from(["best", "best", True, False]),
    inherit_mistakes=st.booleans(),
    relax=st.booleans(),
)


def complete(wanted: Settings, problem: Problem, weighted: bool) -> Settings:
    hierarchy = problem.hierarchy
    parents = [hierarchy.indices(hierarchy.parents(label)).tolist() for label in hierarchy.labels]
    return replace(wanted, parents=parents, costs=hierarchy.costs() if weighted else None)


def make(problem: Problem, wanted: Settings, **changes) -> HierarchicalAdaBoostMHClassifier:
    model = HierarchicalAdaBoostMHClassifier(
        problem.hierarchy,
        costs="uniform" if wanted.costs is None else "shared",
        top_down=wanted.top_down,
        inherit_mistakes=wanted.inherit_mistakes,
        at_chance="relax" if wanted.relax else "stop",
        n_estimators=wanted.n_rounds,
        max_depth=wanted.depth,
        shared_test=wanted.shared,
        max_bins=wanted.n_steps,
        categorical_features=problem.nominal,
    )
    return model.set_params(**changes)


def assert_same_tests(model, rounds, wanted: Settings, n_labels: int) -> None:
    n_trees = 1 if wanted.shared else n_labels
    feature = model.rounds_.feature.reshape(len(rounds), -1, n_trees)
    threshold = model.rounds_.threshold.reshape(feature.shape)
    default = model.rounds_.default_right.reshape(feature.shape)
    signs = model.rounds_.sign.reshape(len(rounds), -1, n_labels)
    for t, one in enumerate(rounds):
        for j, tree in enumerate(one.trees):
            for k, test in enumerate(tree.tests):
                assert feature[t, k, j] == test.column
                if test.column >= 0:
                    assert bool(default[t, k, j]) == test.default_right
                if test.column >= 0 and test.right is None:
                    assert threshold[t, k, j] == test.threshold
        np.testing.assert_array_equal(signs[t], np.hstack([tree.signs for tree in one.trees]))


@quickly
@given(problem=problems(), wanted=switches, weighted=st.booleans())
def test_rounds_equal_the_reference(problem, wanted, weighted):
    wanted = complete(wanted, problem, weighted)
    Y = np.where(problem.Y > 0, 1, -1)
    expected = reference.boost(problem.columns, Y, wanted, problem.weights)
    model = make(problem, wanted).fit(problem.X, problem.Y, sample_weight=problem.weights)
    assert model.n_rounds_ == len(expected)
    np.testing.assert_allclose(
        model.edges_, [min(one.edge, 1 - 1e-10) for one in expected], rtol=1e-9, atol=1e-12
    )
    np.testing.assert_allclose(model.alphas_, [one.alpha for one in expected], rtol=1e-6)
    follows = model.rounds_.top_down.reshape(-1, problem.hierarchy.n_labels)
    np.testing.assert_array_equal(follows, [one.top_down for one in expected] or follows)
    if expected:
        assert_same_tests(model, expected, wanted, problem.hierarchy.n_labels)
    stages = reference.margins(expected, problem.columns, wanted)
    found = list(model.staged_decision_function(problem.X))
    np.testing.assert_allclose(found, stages if expected else [], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_rounds_of_many_rows_equal_the_reference(seed):
    """Columns are first compared in single precision, some hundred rows at a time."""
    rng = np.random.default_rng(seed)
    n, hierarchy = 270, (FLAT, DAG, TREE, FLAT)[seed]
    kinds = ("normal", "normal", "ties", "sparse", "nominal")
    parts = [column(rng, n, kind) for kind in kinds]
    X = np.column_stack([x for x, _ in parts])
    X[:, 1] = -X[:, 0]  # tests as good as those of the first column
    X[rng.random(n) < 0.1, 2] = np.nan
    if seed > 1:
        X[rng.random((n, 5)) < 0.05] = np.nan
    score = np.nan_to_num(X[:, :1] + rng.normal(size=(n, hierarchy.n_labels)))
    Y = hierarchy.close(sparse.csr_array((score > 1.5).astype(np.int32))).toarray()
    weights = 10.0 ** rng.integers(-12, 3, n)
    problem = Problem(hierarchy, X, [k for _, k in parts], Y, weights)
    wanted = complete(Settings(n_rounds=2, depth=1 + seed % 2, top_down="best"), problem, True)
    expected = reference.boost(problem.columns, np.where(Y > 0, 1, -1), wanted, weights)
    model = make(problem, wanted).fit(X, Y, sample_weight=weights)
    np.testing.assert_allclose(model.edges_, [one.edge for one in expected], rtol=1e-9)
    assert_same_tests(model, expected, wanted, hierarchy.n_labels)


@quickly
@given(problem=problems(), wanted=switches, seed=st.integers(0, 2**32 - 1))
def test_labels_that_are_not_known_have_no_weight(problem, wanted, seed):
    wanted = replace(complete(wanted, problem, True), inherit_mistakes=False, top_down=False)
    rng = np.random.default_rng(seed)
    hidden = rng.random(problem.Y.shape) < rng.choice([0.1, 0.5])
    y = closed(problem.hierarchy, np.where(hidden, np.nan, problem.Y))
    rows = rows_that_tell(y)
    assume(rows.any())
    columns = [replace(one, values=one.values[rows]) for one in problem.columns]
    Y, weights = np.where(problem.Y > 0, 1, -1)[rows], problem.weights[rows]
    expected = reference.boost(columns, Y, wanted, weights, known=~np.isnan(y[rows]))
    model = make(problem, wanted).fit(problem.X, y, sample_weight=problem.weights)
    edges = [min(one.edge, 1 - 1e-10) for one in expected]
    np.testing.assert_allclose(model.edges_, edges, rtol=1e-9, atol=1e-12)
    stages = reference.margins(expected, columns, wanted)
    for found, stage in zip(model.staged_decision_function(problem.X[rows]), stages, strict=True):
        # Several tests may be as good, which differ in rows that do not know the label.
        known = ~np.isnan(y[rows])
        np.testing.assert_allclose(found[known], stage[known], rtol=1e-6, atol=1e-9)


@quickly
@given(problem=problems(), wanted=switches)
def test_weights_equal_the_reference(problem, wanted):
    wanted = complete(wanted, problem, True)
    Y = np.where(problem.Y > 0, 1, -1)
    expected = reference.boost(problem.columns, Y, wanted, problem.weights)
    model = make(problem, wanted)
    X, encoded, weights = model._read_training(problem.X, problem.Y, problem.weights)
    booster = model._make_booster(X, encoded.Y, weights)
    for one in expected:
        found = booster.weights().reshape(Y.shape)
        np.testing.assert_allclose(found, one.weights, rtol=1e-8, atol=1e-14)
        booster.learn()
        assert booster.edge() == pytest.approx(one.edge, rel=1e-9, abs=1e-12)
        if one.edge < 1 - 1e-10:
            booster.reweigh()


@quickly
@given(problem=problems(), wanted=switches)
def test_the_best_of_two_searches_has_at_least_the_edge_of_adaboost_mh(problem, wanted):
    """For the same weights, in every round; so that it stops only where AdaBoost.MH would."""
    wanted = complete(replace(wanted, top_down="best", inherit_mistakes=False), problem, True)
    Y = np.where(problem.Y > 0, 1, -1)
    model = make(problem, wanted)
    X, encoded, weights = model._read_training(problem.X, problem.Y, problem.weights)
    booster = model._make_booster(X, encoded.Y, weights)
    for _ in range(wanted.n_rounds):
        now = booster.weights().reshape(Y.shape)
        free, _ = reference.learn_trees(problem.columns, now * Y, replace(wanted, top_down=False))
        votes = reference.votes_of(free, problem.columns, wanted)
        booster.learn()
        assert booster.edge() >= (now * Y * votes).sum() / now.sum() - 1e-12
        if not 1e-10 < booster.edge() < 1 - 1e-10:
            break
        booster.reweigh()


@quickly
@given(problem=problems(), wanted=switches)
def test_margins_of_unseen_rows_equal_the_reference(problem, wanted):
    """Rows with values, missing values and categories that do not occur in training."""
    wanted = complete(wanted, problem, True)
    Y = np.where(problem.Y > 0, 1, -1)
    expected = reference.boost(problem.columns, Y, wanted, problem.weights)
    model = make(problem, wanted).fit(problem.X, problem.Y, sample_weight=problem.weights)
    rng = np.random.default_rng(0)
    rows = rng.permuted(np.vstack([problem.X, problem.X + 0.25]), axis=0)
    rows[:, problem.nominal] = rng.integers(0, 4, (len(rows), len(problem.nominal)))
    rows[rng.random(rows.shape) < 0.2] = np.nan
    columns = [Column(x, k) for x, k in zip(rows.T, problem.n_categories, strict=True)]
    stages = reference.margins(expected, columns, wanted)
    total = stages[-1] if expected else np.zeros((len(rows), Y.shape[1]))
    np.testing.assert_allclose(model.decision_function(rows), total, rtol=1e-6, atol=1e-9)


@quickly
@given(problem=problems(), wanted=switches)
def test_sparse_and_dense_matrices_give_the_same_model(problem, wanted):
    wanted = complete(wanted, problem, True)
    X = np.where(np.isnan(problem.X), 0.0, problem.X)
    dense = make(problem, wanted).fit(X, problem.Y, sample_weight=problem.weights)
    thin = sparse.csr_array(X)
    model = make(problem, wanted).fit(thin, problem.Y, sample_weight=problem.weights)
    np.testing.assert_array_equal(model.rounds_.feature, dense.rounds_.feature)
    np.testing.assert_array_equal(model.rounds_.threshold, dense.rounds_.threshold)
    np.testing.assert_allclose(
        model.decision_function(thin), dense.decision_function(X), rtol=1e-6, atol=1e-9
    )
