"""Distances between label sets as criteria, and leaves that predict a medoid."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import ramify
from ramify import (
    PCTClassifier,
    PCTForestClassifier,
    PerParentClassifier,
)
from ramify.trees import distinct_label_sets
from ramify.trees.criteria import Distance, LabelSets
from ramify.trees.views import predict_tree
from tests.reference import trees as reference
from tests.reference.trees import Node, Settings
from tests.support.budget import budget
from tests.support.clus_data import requires_data
from tests.support.engine_trees import value
from tests.support.tree_problems import (
    Problem,
    assert_equal_trees,
    assert_same,
    plan_of,
    problems,
)

quickly = budget(30)

Sets = list[frozenset[int]]


def size(labels: frozenset[int], weights: np.ndarray) -> float:
    return float(sum(weights[c] for c in sorted(labels)))


# The definitions; `w` are the label weights.
DISTANCE: dict[str, Callable[[frozenset[int], frozenset[int], np.ndarray], float]] = {
    "hamming": lambda a, b, w: size(a | b, w) - size(a & b, w),
    "jaccard": lambda a, b, w: size(a ^ b, w) / size(a | b, w) if size(a | b, w) else 0.0,
    "matching": lambda a, b, w: max(size(a, w), size(b, w)) - size(a & b, w),
}


def averaged(distance: Distance, a: frozenset[int], b: frozenset[int], w: np.ndarray) -> float:
    """Return the distance to its power, of which the impurity is half the mean."""
    if distance.measure == "euclidean":  # the square root of the Hamming distance
        return float(size(a ^ b, w) ** (distance.power / 2))
    return float(DISTANCE[distance.measure](a, b, w) ** distance.power)


def label_sets(Y: np.ndarray) -> Sets:
    return [frozenset(np.flatnonzero(row).tolist()) for row in Y]


def distinct(sets: Sets) -> Sets:
    return list(dict.fromkeys(sets))


def matrix(distance: Distance, sets: Sets, weights: np.ndarray) -> np.ndarray:
    return np.array([[averaged(distance, a, b, weights) for b in sets] for a in sets])


def expected_tree(problem: Problem, distance: Distance, wanted: Settings) -> Node:
    """Grow the reference on set indices; its leaves then contain fractions of sets."""
    sets = label_sets(problem.Y)
    known = distinct(sets)
    Y = np.eye(len(known))[[known.index(labels) for labels in sets]]
    return reference.grow(
        problem.columns,
        Y,
        wanted,
        sample_weight=problem.sample_weight,
        targets=[range(len(known))],
        squared=matrix(distance, known, problem.label_weights),
    )


def with_labels(tree: Node, known: np.ndarray) -> Node:
    """Convert weights of sets to weights of labels."""
    for node in reference.walk(tree):
        node.sums = node.sums @ known
    return tree


def grow_by(
    problem: Problem, distance: Distance, wanted: Settings, X: Any = None, **changes: Any
) -> Any:
    return problem.grow(plan_of(wanted, criterion="distance", **changes), X, distance=distance)


growth = st.builds(
    Settings,
    thresholds=st.sampled_from(["midpoint", "observed"]),
    nary=st.booleans(),
    subsets=st.booleans(),
    missing=st.sampled_from(["learn", "branch", "divide"]),
    max_depth=st.sampled_from([None, 3]),
    min_samples_leaf=st.sampled_from([1, 2, 5]),
    min_weight=st.sampled_from([0.0, 1.5]),
    f_test=st.sampled_from([None, 0.05, 0.2]),
)
distances = st.builds(
    Distance, st.sampled_from([*DISTANCE, "euclidean"]), power=st.sampled_from([1, 2])
)


@budget(100)
@given(problem=problems(), distance=distances, wanted=growth)
def test_trees_equal_the_reference(problem: Problem, distance: Distance, wanted: Settings) -> None:
    tree = grow_by(problem, distance, wanted)
    known = np.array(
        [problem.Y[label_sets(problem.Y).index(s)] for s in distinct(label_sets(problem.Y))]
    )
    expected = with_labels(expected_tree(problem, distance, wanted), known)
    assert_same(tree, expected, problem.Y.shape[1])
    scores = np.zeros(problem.Y.shape)
    predict_tree(tree, problem.X, scores)
    by_reference = reference.predict(expected, problem.columns, wanted)
    np.testing.assert_allclose(scores, by_reference, atol=1e-12)


@quickly
@given(problem=problems(), distance=distances)
def test_impurity_is_half_the_mean_distance_to_its_power(
    problem: Problem, distance: Distance
) -> None:
    tree = grow_by(problem, distance, Settings(max_depth=0))
    sets, v = label_sets(problem.Y), problem.sample_weight
    total = sum(
        v[i] * v[j] * averaged(distance, sets[i], sets[j], problem.label_weights)
        for i, j in itertools.product(range(len(sets)), repeat=2)
    )
    assert tree.impurity[0] == pytest.approx(total / (2 * v.sum() ** 2), abs=1e-12)


@quickly
@given(problem=problems(), wanted=growth)
def test_euclidean_distance_is_equivalent_to_variance(problem: Problem, wanted: Settings) -> None:
    by_pairs = grow_by(problem, Distance("euclidean"), wanted)
    by_labels = problem.grow(plan_of(wanted))
    np.testing.assert_array_equal(by_pairs.feature, by_labels.feature)
    np.testing.assert_array_equal(by_pairs.threshold, by_labels.threshold)
    for array in ("value", "impurity", "gain", "weight"):
        np.testing.assert_allclose(
            getattr(by_pairs, array), getattr(by_labels, array), atol=1e-9, err_msg=array
        )


@quickly
@given(problem=problems(), distance=distances, wanted=growth, seed=st.integers(0, 99))
def test_threads_and_layouts_do_not_change_the_tree(
    problem: Problem, distance: Distance, wanted: Settings, seed: int
) -> None:
    for changes in ({}, {"splitter": "random"}, {"max_features": 1}):
        one = grow_by(problem, distance, wanted, seed=seed, **changes)
        threaded = grow_by(problem, distance, wanted, seed=seed, n_jobs=3, **changes)
        assert_equal_trees(one, threaded)
    # NaN is stored, zeros are not.
    by_columns = grow_by(problem, distance, wanted, sparse.csc_array(problem.X))
    assert_equal_trees(grow_by(problem, distance, wanted), by_columns)


# ---- medoids -------------------------------------------------------------------------------


def leaf_rows(
    node: Node, problem: Problem, rows: np.ndarray, weights: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the rows of each leaf in the order of the engine's nodes, with their weights."""
    if node.is_leaf:
        yield rows, weights
        return
    answers = [node.test.branch(x) for x in problem.columns[node.test.column].values[rows]]
    for b, (child, share) in enumerate(zip(node.children, node.shares, strict=True)):
        part = np.array([share if a is None else float(a == b) for a in answers])
        yield from leaf_rows(child, problem, rows[part > 0], (weights * part)[part > 0])


def medoid(
    sets: Sets, weights: np.ndarray, distance: Distance, label_weights: np.ndarray
) -> frozenset[int]:
    """Return the set with the smallest sum, then the most frequent, then the first."""
    known = distinct(sets)
    averages = matrix(distance, known, label_weights)
    total = np.array([weights[[s == k for s in sets]].sum() for k in known])
    cost = averages @ total
    near = cost <= cost.min() + 1e-9 * cost.max()
    return known[int(np.argmax(np.round(np.where(near, total, -1.0), 9)))]


@budget(50)
@given(problem=problems(), distance=distances, wanted=growth, by_label=st.booleans())
def test_a_medoid_has_the_smallest_sum_of_distances(
    problem: Problem, distance: Distance, wanted: Settings, by_label: bool
) -> None:
    if by_label:  # medoids are Euclidean if the criterion is not a distance
        distance = Distance("euclidean")
        options = plan_of(wanted, prototype="medoid")
        tree = problem.grow(options, medoids=True)
    else:
        tree = grow_by(problem, distance, wanted, prototype="medoid")
    rows = np.flatnonzero(problem.sample_weight > 0)
    expected = expected_tree(problem, distance, wanted)
    leaves = np.flatnonzero(tree.feature < 0)
    found = list(leaf_rows(expected, problem, rows, problem.sample_weight[rows]))
    for leaf, (of_leaf, weights) in zip(leaves, found, strict=True):
        shares = value(tree, leaf, problem.Y.shape[1])
        assert set(shares) <= {0.0, 1.0}
        sets = label_sets(problem.Y[of_leaf])
        assert frozenset(np.flatnonzero(shares).tolist()) == medoid(
            sets, weights, distance, problem.label_weights
        )


# ---- the estimators ------------------------------------------------------------------------

X = np.random.default_rng(0).normal(size=(120, 5))
Y = (X[:, :4] + np.random.default_rng(1).normal(size=(120, 4)) > 0.4).astype(int)


def hamming(a: frozenset[int], b: frozenset[int]) -> float:
    return float(len(a ^ b))


def test_custom_distances_are_functions_or_matrices():
    calls = []

    def counted(a: frozenset[int], b: frozenset[int]) -> float:
        calls.append((a, b))
        return hamming(a, b)

    levels = [0.01, 0.05]
    known = distinct_label_sets(Y)
    squared = [[hamming(a, b) ** 2 for b in known] for a in known]
    trees = [
        PCTClassifier(criterion=criterion, f_test=levels, random_state=0).fit(X, Y)
        for criterion in ("hamming", counted, squared, np.array(squared))
    ]
    for tree in trees[1:]:
        assert_equal_trees(trees[0].tree_, tree.tree_)
    assert len(calls) == len(known) * (len(known) - 1) / 2


def test_plain_distances_by_name_function_or_matrix():
    known = distinct_label_sets(Y)
    plain = [[hamming(a, b) for b in known] for a in known]
    settings = {"squared_distances": False, "prototype": "medoid", "min_samples_leaf": 3}
    trees = [
        PCTClassifier(criterion=criterion, **settings).fit(X, Y)
        for criterion in ("hamming", hamming, plain)
    ]
    for tree in trees[1:]:
        assert_equal_trees(trees[0].tree_, tree.tree_)
    # The Hamming distance is the square of the Euclidean one.
    euclidean = PCTClassifier(criterion="euclidean", prototype="medoid", min_samples_leaf=3)
    assert_equal_trees(trees[0].tree_, euclidean.fit(X, Y).tree_)
    squared = PCTClassifier(criterion="hamming", prototype="medoid", min_samples_leaf=3)
    assert squared.fit(X, Y).tree_.impurity[0] > trees[0].tree_.impurity[0]


def test_local_trees_use_plain_distances():
    settings = {"criterion": "matching", "min_samples_leaf": 20}
    trees = [
        PerParentClassifier(PCTClassifier(squared_distances=squared, **settings), multilabel=True)
        for squared in (True, False)
    ]
    squared, plain = [tree.fit(X, Y).predict_proba(X) for tree in trees]
    whole = PCTClassifier(squared_distances=False, **settings).fit(X, Y).predict_proba(X)
    np.testing.assert_array_equal(plain, whole)
    assert (squared != plain).any()


def test_a_function_is_called_with_label_names_including_ancestors():
    seen = set()

    def remember(a, b):
        seen.update([a, b])
        return hamming(a, b)

    y = ["animal/cat", "plant", "animal/cat", "animal"]
    PCTClassifier(criterion=remember).fit([[0], [1], [2], [3]], y)
    assert seen == {
        frozenset(["animal", "animal/cat"]),
        frozenset(["plant"]),
        frozenset(["animal"]),
    }
    assert seen == set(distinct_label_sets(y))


def test_label_sets_include_those_of_validation_rows():
    tree = PCTClassifier(criterion="jaccard", f_test=[0.01, 0.1])
    tree.fit(X[:60], Y[:60], X_val=X[60:], y_val=Y[60:])
    whole = PCTClassifier(criterion="jaccard", f_test=tree.f_test_).fit(X, Y)
    assert_equal_trees(tree.tree_, whole.tree_)


def test_sizes_of_sets_are_sums_of_label_weights():
    sets = sparse.csr_array(np.array([[1, 0, 1], [1, 1, 0]], dtype=np.int32))
    weights = np.array([1.0, 2.0, 0.5])
    for name, expected in {
        "euclidean": 2.5,
        "hamming": 2.5**2,
        "jaccard": (2.5 / 3.5) ** 2,
        "matching": 2.0**2,
    }.items():
        assert LabelSets.of(sets, weights, Distance(name)).distances[0, 1] == pytest.approx(
            expected
        )


def test_medoids_are_coherent_and_occur_in_training():
    animals = ramify.load_animals()
    tree = PCTClassifier(animals.hierarchy, prototype="medoid", min_samples_leaf=4)
    complete = animals.X[animals.X.notna().all(axis=1)]  # rows with missing values combine leaves
    scores = tree.fit(animals.X, animals.y).predict_proba(complete)
    assert set(np.unique(scores)) == {0.0, 1.0}
    given = {tuple(row) for row in sparse.csr_array(animals.y).toarray().tolist()}
    assert {tuple(row) for row in scores.tolist()} <= given


def test_forests_support_distances():
    forest = PCTForestClassifier(criterion="jaccard", n_estimators=4, random_state=0)
    scores = forest.fit(X, Y).predict_proba(X)
    again = PCTForestClassifier(criterion="jaccard", n_estimators=4, random_state=0, n_jobs=2)
    np.testing.assert_array_equal(scores, again.fit(X, Y).predict_proba(X))
    assert forest.score(X, Y) > 0.5


def test_a_matrix_of_distances_is_saved(tmp_path):
    known = distinct_label_sets(Y)
    squared = np.array([[hamming(a, b) for b in known] for a in known])
    tree = PCTClassifier(criterion=squared, prototype="medoid", min_samples_leaf=3).fit(X, Y)
    ramify.save(tree, tmp_path / "tree.ramify")
    loaded = ramify.load(tmp_path / "tree.ramify")
    np.testing.assert_array_equal(loaded.criterion, squared)
    np.testing.assert_array_equal(loaded.predict_proba(X), tree.predict_proba(X))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"criterion": "cosine"}, "criterion must be one of .*'jaccard'.*got 'cosine'"),
        ({"criterion": np.ones((2, 3))}, r"must be a square matrix .* got shape \(2, 3\)"),
        ({"criterion": -np.eye(2)}, "must be a matrix of finite, non-negative numbers, got -1.0"),
        ({"criterion": np.eye(2)}, "symmetric matrix with zeros on the diagonal"),
        ({"criterion": np.triu(np.ones((2, 2)), 1)}, "must be a symmetric matrix"),
        ({"criterion": np.zeros((2, 2))}, r"must be a matrix of shape .*, got \(2, 2\): y has"),
        (
            {"criterion": lambda a, b: -1.0},
            "must return a finite, non-negative distance, got -1.0 for",
        ),
        (
            {"squared_distances": False},
            "squared_distances must be True with criterion='variance', got False",
        ),
        ({"criterion": "hamming", "clus_compat": True}, "with clus_compat=True, got 'hamming'"),
        ({"prototype": "mode"}, "prototype must be one of 'mean', 'medoid'.*got 'mode'"),
        (
            {"prototype": "medoid", "clus_compat": True},
            "prototype must be 'mean' with clus_compat",
        ),
    ],
)
def test_invalid_parameters_raise_errors(settings, message):
    with pytest.raises(ValueError, match=message):
        PCTClassifier(**settings).fit(X, Y)


@requires_data
@pytest.mark.parametrize("name", ["emotions", "enron_mulan", "church_FUN"])
def test_euclidean_and_variance_agree_on_real_data(name):
    data = ramify.fetch(name, as_frame=False)
    features = list(data.feature_names)
    X, y = data.rows("train")
    trees = [
        PCTClassifier(
            data.hierarchy,
            criterion=criterion,
            min_samples_leaf=5,
            categorical_features=[features.index(f) for f in data.categories] or None,
        )
        .fit(X, y)
        .tree_
        for criterion in ("variance", "euclidean")
    ]
    np.testing.assert_array_equal(trees[0].feature, trees[1].feature)
    np.testing.assert_array_equal(trees[0].threshold, trees[1].threshold)
    np.testing.assert_allclose(trees[0].value, trees[1].value, atol=1e-12)
