"""The slow reference tree is compared with CLUS, scikit-learn and results computed by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from tests.reference import trees as reference
from tests.reference.criteria import CLUS_TABLE, critical_value
from tests.reference.trees import Column, Node, Settings, grow, predict, walk
from tests.support.budget import budget
from tests.support.clus_cases import Case, printed_form, single_tree_cases
from tests.support.clus_oracle import (
    TREES,
    read_hierarchy,
    read_measures,
    read_models,
    read_predictions,
    read_results,
    read_summary,
    read_tree_file,
    requires_oracle,
)
from tests.support.clus_trees import differences, parse_tree

quickly = budget(30)
on_every_tiny_tree = pytest.mark.parametrize("case", single_tree_cases(), ids=str)


def grow_case(case: Case) -> reference.Node:
    return grow(
        case.train.columns(),
        case.train.Y,
        case.reference_settings(),
        sample_weight=case.train.sample_weight,
        label_weights=case.label_weights,
        targets=case.label_groups,
    )


@requires_oracle
@on_every_tiny_tree
def test_reference_grows_the_trees_of_clus(case: Case) -> None:
    (expected,) = read_models(case.path(".out"))["Original"]
    assert differences(expected, printed_form(grow_case(case), case)) == []


@requires_oracle
@on_every_tiny_tree
@pytest.mark.parametrize("part", ["train", "test"])
def test_reference_predicts_like_clus(case: Case, part: str) -> None:
    ending = {"train": ".train.1.pred.arff", "test": ".test.pred.arff"}[part]
    expected = read_predictions(case.path(ending), "Original")
    data = getattr(case, part)
    scores = predict(grow_case(case), data.columns(), case.reference_settings())
    assert list(expected.labels) == case.labels
    np.testing.assert_array_equal(expected.truth, data.Y)
    np.testing.assert_allclose(scores, expected.scores, rtol=0, atol=1e-15)


@requires_oracle
@pytest.mark.parametrize("case", [c for c in single_tree_cases() if c.is_hierarchical], ids=str)
def test_labels_are_numbered_like_clus(case: Case) -> None:
    is_tree = case.separator is not None
    counts = read_hierarchy(case.path(".hierarchy"), is_tree=is_tree)
    assert [label.replace(case.separator or "/", "/") for label in case.labels] == list(counts)
    measures = read_measures(case.path(".out"))
    assert set(measures["test"]["Original"]) == {
        "auroc",
        "auprc",
        "auprc_weighted",
        "auprc_pooled",
    }


@requires_oracle
def test_printed_trees_have_the_size_clus_reports() -> None:
    for record in read_results():
        if "tree_file" in record:
            trees = read_tree_file(TREES.parent / record["tree_file"])
            nodes = [node for tree in trees for node in tree.walk()]
            assert len(nodes) == record["nodes"], record["tree_file"]
            assert sum(node.is_leaf for node in nodes) == record["leaves"], record["tree_file"]
    for case in single_tree_cases():
        (tree,) = read_models(case.path(".out"))["Original"]
        assert len(list(tree.walk())) == read_summary(case.path(".out"))["nodes"], case


def test_differences_name_the_node() -> None:
    text = (
        "x > 0.5\n"
        "+--yes: [1,0]: 2\n"
        "+--no:  y in {a,b}\n"
        "       +--yes: [1]: 2\n"
        "       +--no:  [0]: 1\n"
    )
    tree = parse_tree(text)
    assert differences(tree, parse_tree(text)) == []
    (found,) = differences(tree, parse_tree(text.replace("[0]: 1", "[0]: 3")))
    assert found == "root.1.1: weight[0] is 3.0, expected 1.0"
    (found,) = differences(tree, parse_tree(text.replace("0.5", "0.6")))
    assert found.startswith("root: expected TreeTest")
    with pytest.raises(ValueError, match="not a branch of a printed tree"):
        parse_tree("x > 0.5\n nonsense")


def random_problem(seed: int, n: int = 60, d: int = 4, n_labels: int = 5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    Y = (rng.random((n, n_labels)) < rng.random(n_labels)).astype(float)
    Y[:, 0] = X[:, 0] > 0.2
    return rng, X, Y


def columns_of(X: np.ndarray) -> list[Column]:
    return [Column(x) for x in X.T]


def assert_as_good(peer: Any, X: np.ndarray, grow_on: Callable[[np.ndarray], Node]) -> None:
    """Compare root tests by the impurity they remove; scikit-learn breaks ties at random."""
    mass = peer.impurity * peer.weighted_n_node_samples * peer.n_outputs
    removed = mass[0] - mass[1:].sum()
    assert grow_on(X).score == pytest.approx(removed)
    assert grow_on(X[:, peer.feature[:1]]).score == pytest.approx(removed)


@quickly
@given(seed=st.integers(0, 10_000))
def test_variance_is_that_of_a_regression_tree(seed: int) -> None:
    rng, X, Y = random_problem(seed)
    weights, w = rng.integers(1, 4, len(Y)).astype(float), rng.random(Y.shape[1])
    peer = DecisionTreeRegressor(max_depth=1).fit(X, np.sqrt(w) * Y, weights).tree_
    stump = partial(
        grow, Y=Y, settings=Settings(max_depth=1), sample_weight=weights, label_weights=w
    )
    assert_as_good(peer, X, lambda X: stump(columns_of(X)))


@quickly
@given(seed=st.integers(0, 10_000), criterion=st.sampled_from(["gini", "entropy"]))
def test_exclusive_targets_are_those_of_a_classification_tree(seed: int, criterion: str) -> None:
    rng, X, _ = random_problem(seed)
    y = rng.integers(0, 4, len(X))
    peer = DecisionTreeClassifier(criterion=criterion, max_depth=1).fit(X, y).tree_
    stump = partial(
        grow, Y=np.eye(4)[y], settings=Settings(criterion, max_depth=1), targets=[range(4)]
    )
    assert_as_good(peer, X, lambda X: stump(columns_of(X)))


@quickly
@given(seed=st.integers(0, 10_000))
def test_whole_weights_are_repeated_rows(seed: int) -> None:
    rng, X, Y = random_problem(seed, n=30)
    X[rng.random(X.shape) < 0.2] = np.nan
    weights = rng.integers(0, 4, len(Y))
    # Evidence that missing values tell something comes from rows, whatever their weights.
    limits = Settings(min_weight=3.0, f_test=0.3, missing="branch")
    once = grow(columns_of(X), Y, limits, sample_weight=weights)
    repeated = np.repeat(np.arange(len(Y)), weights)
    many = grow(columns_of(X[repeated]), Y[repeated], limits)
    pairs = list(zip(walk(once), walk(many), strict=True))
    assert all(a.test == b.test or a.is_leaf == b.is_leaf for a, b in pairs)
    np.testing.assert_allclose(
        predict(once, columns_of(X)), predict(many, columns_of(X)), atol=1e-9
    )


def test_a_missing_value_goes_both_ways() -> None:
    x = np.array([1.0, 2.0, 3.0, 4.0, np.nan])
    Y = np.array([[1], [0], [0], [0], [1]])
    tree = grow([Column(x)], Y, Settings(missing="divide"))
    assert (tree.test.threshold, tree.shares) == (1.5, (0.75, 0.25))
    assert [child.weight for child in tree.children] == [3.75, 1.25]
    # The entry of weight 0.75 has a missing value and cannot be split off.
    assert tree.children[0].value == pytest.approx([0.75 / 3.75])
    missing = predict(tree, [Column(np.array([np.nan]))])
    assert missing == pytest.approx(0.75 * tree.children[0].value[0] + 0.25 * 1.0)


def branching(columns: list[Column], y: list[int], **settings: Any) -> Node:
    return grow(columns, np.array(y)[:, None], Settings(missing="branch", **settings))


def test_missing_values_take_the_better_branch() -> None:
    x = [Column(np.array([1.0, 2.0, 3.0, 4.0, np.nan]))]
    tree = branching(x, [1, 0, 0, 0, 1])
    assert (tree.test.threshold, tree.test.missing) == (1.5, 1)
    assert [child.value.tolist() for child in tree.children] == [[0.0], [1.0]]
    tree = branching(x, [0, 0, 0, 0, 1])
    assert (tree.test.threshold, tree.test.missing) == (-np.inf, 1)
    # In training, no value was missing: the larger branch.
    tree = branching([Column(np.array([1.0, 2.0, 3.0, 4.0]))], [1, 0, 0, 0])
    assert (tree.test.threshold, tree.shares) == (1.5, (1.0, 0.0))
    assert predict(tree, [Column(np.array([np.nan]))]) == 0.0


def test_missing_values_are_one_more_category() -> None:
    column = [Column(np.array([0, 0, 1, 1, 2, np.nan, np.nan]), n_values=3)]
    y = [0, 0, 1, 1, 0, 1, 1]
    for settings, values, missing in (
        ({}, (0, 2), 1),
        ({"subsets": False}, (0,), 1),
        ({"nary": True}, (0, 1, 2), 3),
    ):
        tree = branching(column, y, **settings)
        assert (tree.test.values, tree.test.missing) == (values, missing)
    tree = branching(column, [0, 0, 0, 0, 0, 1, 1])
    assert (tree.test.values, tree.test.missing) == ((), 0)
    both = [Column(np.array([0, 0, 1, 1, np.nan, 0, 1]), n_values=2)]
    tree = branching(both, [0, 0, 1, 1, 0, 0, 1], nary=True, min_samples_leaf=2)
    assert (tree.test.values, tree.test.missing) == ((0, 1), 0)


def test_missing_values_are_learnt_where_they_tell_something() -> None:
    rng = np.random.default_rng(0)
    x, chance = rng.normal(size=(2, 100))
    y = (x > 0).astype(int)
    by_chance = np.where(chance > 0.5, np.nan, x)
    by_class = np.where((chance > 0.5) & (y == 1), np.nan, x)
    assert grow([Column(by_chance)], y[:, None]).test.missing is None
    assert grow([Column(by_class)], y[:, None]).test.missing == 0
    # Below a test that divided rows, those with a missing value differ by selection alone.
    deep = grow([Column(by_chance)], y[:, None])
    assert all(node.test.missing is None for node in walk(deep) if not node.is_leaf)


def test_nominal_tests() -> None:
    codes = np.array([0, 0, 1, 1, 2, 2, 3, 3, np.nan])
    Y = np.array([1, 1, 0, 0, 1, 1, 0, 0, 0])[:, None]
    columns = [Column(codes, n_values=5)]
    divide = Settings(missing="divide")
    subset = grow(columns, Y, divide)
    assert (subset.test.kind, subset.test.values) == ("subset", (0, 2))
    single = grow(columns, Y, replace(divide, subsets=False, max_depth=1))
    assert single.test.values == (0,)
    nary = grow(columns, Y, replace(divide, nary=True))
    assert (nary.test.kind, nary.test.values) == ("nary", (0, 1, 2, 3))
    assert nary.shares == (0.25, 0.25, 0.25, 0.25)
    never_seen = predict(nary, [Column(np.array([4.0]), 5)])
    missing = predict(nary, [Column(np.array([np.nan]), 5)])
    np.testing.assert_array_equal(never_seen, missing)
    assert predict(subset, [Column(np.array([4.0]), 5)]) == subset.children[1].value


def test_the_middle_never_reaches_the_upper_value() -> None:
    low = 1.0
    high = np.nextafter(low, 2.0)
    tree = grow([Column(np.array([low, high]))], np.array([[0], [1]]))
    assert tree.test.threshold == low
    tree = grow([Column(np.array([-1e308, 1e308]))], np.array([[0], [1]]))
    assert tree.test.threshold == -1e308
    observed = grow(
        [Column(np.array([1.0, 2.0]))], np.array([[0], [1]]), Settings(thresholds="observed")
    )
    assert observed.test.threshold == 1.0


def test_pure_nodes_are_leaves_whatever_the_rounding() -> None:
    rng = np.random.default_rng(0)
    Y = np.repeat([[1.0, 0.0, 1.0]], 50, axis=0)
    for criterion in ("variance", "gini", "entropy", "gain_ratio"):
        tree = grow(
            columns_of(rng.normal(size=(50, 3))),
            Y,
            Settings(criterion),
            sample_weight=rng.random(50),
            label_weights=rng.random(3),
        )
        assert tree.is_leaf, criterion


def test_limits_on_size() -> None:
    _, X, Y = random_problem(1)
    limited = {
        "max_depth": (2, lambda tree: all(len(list(walk(c))) <= 3 for c in tree.children)),
        "min_samples_leaf": (7, lambda tree: min(node.n for node in walk(tree)) >= 7),
        "min_weight": (9.0, lambda tree: min(node.weight for node in walk(tree)) >= 9.0),
        "min_samples_split": (
            20,
            lambda tree: all(node.n >= 20 for node in walk(tree) if not node.is_leaf),
        ),
        "min_impurity_decrease": (
            0.02,
            lambda tree: all(n.score >= 0.02 * 60 for n in walk(tree) if not n.is_leaf),
        ),
    }
    for name, (limit, holds) in limited.items():
        assert holds(grow(columns_of(X), Y, Settings(**{name: limit}))), name
        assert not holds(grow(columns_of(X), Y)), name


def test_f_test_keeps_significant_splits_only() -> None:
    x = np.arange(12.0)
    Y = np.zeros((12, 1))
    Y[6:] = 1
    Y[3] = 1  # one error on the best side
    columns = [Column(x)]
    best = grow(columns, Y, Settings(max_depth=1))
    before, after = 12 * 7 / 12 * 5 / 12, 6 * (1 / 6) * (5 / 6)
    p_value = scipy.stats.f.sf(10 * (before - after) / after, 1, 10)
    assert best.score == pytest.approx(before - after)
    assert not grow(columns, Y, Settings(f_test=p_value * 1.01)).is_leaf
    assert grow(columns, Y, Settings(f_test=p_value * 0.99)).is_leaf


def test_table_of_critical_values_is_near_the_quantiles() -> None:
    for level in CLUS_TABLE:
        for df in [*range(1, 31), 35, 50, 100, 1000]:
            exact = critical_value(level, df)
            assert critical_value(level, df, "hierarchical") == pytest.approx(exact, rel=0.03)
    assert critical_value(0.02, 2, "hierarchical") == 0.0
    assert critical_value(0.02, 7, "hierarchical") == pytest.approx(critical_value(0.02, 7))
    assert critical_value(0.02, 5000, "hierarchical") == pytest.approx(
        critical_value(0.02, 100_000)
    )
