"""The engine for several targets grows the trees of the reference implementation."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from ramify import PCTMultiTargetClassifier, PCTRegressor
from ramify.trees.targets import weigh_classes, weigh_numbers
from tests.reference.criteria import Part, Settings
from tests.reference.targets import (
    NumericCriterion,
    class_shares,
    grow_nominal,
    grow_numeric,
    means,
    prune_m5,
)
from tests.support.budget import budget
from tests.support.target_problems import assert_same_tree, target_problems
from tests.support.tree_problems import assert_equal_trees

growth = st.builds(
    Settings,
    thresholds=st.sampled_from(["midpoint", "observed"]),
    nary=st.booleans(),
    subsets=st.booleans(),
    max_depth=st.sampled_from([None, 1, 3]),
    min_samples_split=st.sampled_from([2, 6]),
    min_samples_leaf=st.sampled_from([1, 2, 5]),
    min_weight=st.sampled_from([0.0, 1.5]),
    min_impurity_decrease=st.sampled_from([0.0, 0.05]),
    f_test=st.sampled_from([None, 0.05]),
)


def parameters(wanted, problem):
    return {
        "threshold_at": wanted.thresholds,
        "nominal_tests": "nary" if wanted.nary else "subset" if wanted.subsets else "single",
        "max_depth": wanted.max_depth,
        "min_samples_split": wanted.min_samples_split,
        "min_samples_leaf": wanted.min_samples_leaf,
        "min_weight": wanted.min_weight,
        "min_impurity_decrease": wanted.min_impurity_decrease,
        "categorical_features": problem.categorical,
    }


def known_weight(problem):
    """Rows without a known target are left out."""
    return np.where(np.isnan(problem.y).all(axis=1), 0.0, problem.sample_weight)


def expected_numeric(problem, wanted):
    scale, origin = weigh_numbers(problem.y, problem.sample_weight)
    return grow_numeric(
        problem.columns,
        problem.y,
        wanted,
        origin=origin,
        target_weights=scale,
        sample_weight=known_weight(problem),
    ), (scale, origin)


@given(target_problems(nominal=False), growth)
def test_regression_trees_equal_the_reference(problem, wanted):
    model = PCTRegressor(f_test=wanted.f_test, **parameters(wanted, problem))
    model.fit(problem.X, problem.y, problem.sample_weight)
    expected, (_, origin) = expected_numeric(problem, wanted)
    n_targets = problem.y.shape[1]
    assert_same_tree(
        model.tree_, expected, n_targets, lambda node: means(node, n_targets) + origin
    )


@given(target_problems(nominal=False), st.sampled_from([0.5, 2.0]))
def test_m5_pruning_equals_the_reference(problem, factor):
    wanted = Settings()
    model = PCTRegressor(
        pruning="m5", pruning_factor=factor, categorical_features=problem.categorical
    ).fit(problem.X, problem.y, problem.sample_weight)
    expected, (scale, origin) = expected_numeric(problem, wanted)
    groups = tuple((i,) for i in range(problem.y.shape[1]))
    criterion = NumericCriterion(replace(wanted, criterion="variance"), scale, groups)
    root = criterion.mass(Part(expected.sums, expected.weight, expected.n))
    prune_m5(expected, criterion, factor, 1e-5 * np.sqrt(root / expected.weight))
    n_targets = problem.y.shape[1]
    assert_same_tree(
        model.tree_, expected, n_targets, lambda node: means(node, n_targets) + origin
    )


@given(target_problems(nominal=True), growth, st.sampled_from(["gini", "entropy", "gain_ratio"]))
def test_classification_trees_equal_the_reference(problem, wanted, criterion):
    wanted = replace(wanted, criterion=criterion)
    if criterion != "gini":
        wanted = replace(wanted, f_test=None)
    model = PCTMultiTargetClassifier(
        criterion=criterion, f_test=wanted.f_test, **parameters(wanted, problem)
    ).fit(problem.X, problem.y, problem.sample_weight)
    assert tuple(map(len, model.target_classes_)) == problem.n_classes
    expected = grow_nominal(
        problem.columns,
        problem.y,
        problem.n_classes,
        wanted,
        target_weights=weigh_classes(problem.y, problem.sample_weight, list(problem.n_classes)),
        sample_weight=known_weight(problem),
    )
    assert_same_tree(
        model.tree_,
        expected,
        sum(problem.n_classes),
        lambda node: class_shares(node, problem.n_classes),
    )


@given(target_problems(nominal=False), st.booleans())
def test_sparse_and_dense_features_give_the_same_predictions(problem, random):
    splitter = "random" if random else "best"
    dense = PCTRegressor(splitter=splitter, random_state=0).fit(
        problem.X, problem.y, problem.sample_weight
    )
    X = sparse.csr_array(problem.X)
    tree = PCTRegressor(splitter=splitter, random_state=0).fit(X, problem.y, problem.sample_weight)
    np.testing.assert_allclose(tree.predict(X), dense.predict(problem.X), rtol=1e-9, atol=1e-9)


@budget(20)
@given(target_problems(nominal=False), st.integers(2, 4))
def test_trees_do_not_depend_on_the_number_of_threads(problem, n_jobs):
    X = np.tile(problem.X, (60, 1)) + np.repeat(np.arange(60) % 7, len(problem.X))[:, None] * 1e-3
    y = np.tile(problem.y, (60, 1))
    one = PCTRegressor(n_jobs=1).fit(X, y)
    many = PCTRegressor(n_jobs=n_jobs).fit(X, y)
    assert_equal_trees(one.tree_, many.tree_)
