"""Arguments and arrays of trees that are not valid are refused, and never crash."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from ramify.data.rows import as_rows
from tests.support.boosting_problems import Problem, bytes_of, problems, trees_of
from tests.support.budget import budget


def small_problem() -> Problem:
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(size=60), rng.integers(0, 3, 60)])
    Y = np.column_stack([X[:, 1] == 1, X[:, 0] > 0])
    problem = Problem.of(X, Y, max_depth=2, min_samples_leaf=1)
    return replace(problem, n_categories=np.array([0, 3], dtype=np.int32))


def small_tree() -> dict[str, np.ndarray]:
    """Return a tree with tests of both kinds, two levels and four leaves."""
    tree = trees_of(small_problem().train(1))[0]
    assert tree["feature"].tolist() == [0, 1, -1, -1, 1, -1, -1]
    assert tree["category_indptr"].tolist() == [0, 0, 3, 3, 3, 6, 6, 6]
    return tree


@budget(40)
@given(problems())
def test_arrays_describe_the_whole_tree(problem):
    model, copy = problem.train(2), problem.empty_model()
    for arrays in trees_of(model):
        copy.append(arrays)
    assert bytes_of(copy) == bytes_of(model) == bytes_of(model.copy())


@pytest.mark.parametrize(
    ("name", "place", "value", "message"),
    [
        ("yes", 0, 0, "children"),
        ("yes", 1, 0, "children"),
        ("no", 0, 7, "children"),
        ("no", 0, -1, "children"),
        ("no", 4, 2**31 - 1, "children"),
        ("yes", 0, 2, "one parent"),
        ("no", 4, 5, "one parent"),
        ("feature", 0, 2, "feature that does not exist"),
        ("feature", 2, 0, "children"),
        ("feature", 4, -1, "leaves|one parent"),
        ("leaf", 2, 1, "leaves"),
        ("leaf", 6, 4, "leaves"),
        ("leaf", 3, -1, "leaves"),
        ("category_indptr", 0, 1, "category_indptr"),
        ("category_indptr", -1, 7, "category_indptr"),
        ("category_indptr", 2, 4, "category_indptr"),
        ("category_indptr", 2, -1, "category_indptr"),
        ("category_indptr", 1, 2**62, "category_indptr"),
    ],
)
def test_damaged_cells_are_refused(name, place, value, message):
    tree = small_tree()
    tree[name][place] = value
    with pytest.raises(ValueError, match=message):
        small_problem().empty_model().append(tree)


@pytest.mark.parametrize("name", sorted(small_tree()))
@pytest.mark.parametrize("change", ["shorter", "longer", "empty", "matrix", "type", "absent"])
def test_damaged_arrays_are_refused(name, change):
    tree = small_tree()
    array = tree[name]
    changed = {
        "shorter": array[:-1].copy(),
        "longer": np.append(array, array[-1:]),
        "empty": array[:0].copy(),
        "matrix": array[None].copy(),
        "type": array.astype(complex),
    }
    if change == "absent":
        del tree[name]
    else:
        tree[name] = changed[change]
    model = small_problem().empty_model()
    with pytest.raises((ValueError, TypeError, RuntimeError, KeyError)):
        model.append(tree)
    assert len(model) == 0


@budget(150)
@given(st.data())
def test_damaged_trees_are_refused_or_harmless(data):
    """Any numbers in the arrays: a tree that is accepted predicts without a crash."""
    tree = small_tree()
    for _ in range(data.draw(st.integers(1, 3))):
        name = data.draw(st.sampled_from(sorted(tree)))
        place = data.draw(st.integers(0, len(tree[name]) - 1))
        if tree[name].dtype.kind == "f":
            tree[name][place] = data.draw(st.floats(width=32))
        else:
            limits = np.iinfo(tree[name].dtype)
            values = st.integers(-2, 9) | st.integers(int(limits.min), int(limits.max))
            tree[name][place] = np.clip(data.draw(values), limits.min, limits.max)
    problem = small_problem()
    model = problem.empty_model()
    try:
        model.append(tree)
    except ValueError:
        assert len(model) == 0
    else:
        for X in (problem.X, sparse.csr_array(problem.X)):
            assert problem.predict(model, X).shape == problem.Y.shape
        assert (model.leaves(0, as_rows(problem.X)) < 7).all()


@pytest.mark.parametrize("code", [3.0, 1e300, -1.0, math.inf, -math.inf, math.nan])
def test_unknown_categories_follow_missing_values(code):
    problem = small_problem()
    model = problem.train(5)
    X = np.array([[0.5, code], [-0.5, code]])
    missing = np.array([[0.5, math.nan], [-0.5, math.nan]])
    np.testing.assert_array_equal(problem.predict(model, X), problem.predict(model, missing))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_threads": 0}, "n_threads must be positive"),
        ({"sketch_size": 0}, "sketch_size must be positive"),
        ({"min_samples_leaf": 0}, "min_samples_leaf must be positive"),
        ({"learning_rate": 0.0}, "learning_rate must be positive"),
        ({"learning_rate": math.inf}, "learning_rate must be positive"),
        ({"learning_rate": math.nan}, "learning_rate must be positive"),
        ({"l2_regularization": -1.0}, "l2_regularization must be"),
        ({"l2_regularization": math.nan}, "l2_regularization must be"),
        ({"loss": "hinge"}, "loss must be"),
    ],
)
def test_options_that_are_not_valid_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        small_problem().with_options(**change).booster()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"start": np.array([0.0, math.nan])}, "start must be finite"),
        ({"start": np.array([0.0, 1e300])}, "start must be finite"),
        ({"start": np.zeros(3)}, "start must have one number"),
        ({"output_weight": np.array([1.0, -1.0])}, "weights must be"),
        ({"output_weight": np.array([1.0, 1e38])}, "weights must not"),
        ({"weights": np.ones(59)}, "row_weight must have"),
        ({"weights": np.full(60, math.nan)}, "weights must be"),
        ({"weights": np.full(60, -1.0)}, "weights must be"),
        ({"weights": np.full(60, 1e20)}, "weights must not"),
        ({"weights": np.full(60, 1e300)}, "weights must not"),
        ({"held_out": np.arange(60)}, "a row to learn from"),
        ({"held_out": np.array([60])}, "rows must lie within X"),
        ({"held_out": np.array([3, 3])}, "rows must increase"),
        ({"Y": np.zeros((59, 2))}, "outputs and X"),
        ({"Y": np.ones((60, 3))}, "one weight per output"),
    ],
)
def test_data_that_are_not_valid_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        replace(small_problem(), **change).booster()


@pytest.mark.parametrize("max_bins", [0, 1, 256, 2**40])
def test_max_bins_must_fit_a_byte(max_bins):
    with pytest.raises(ValueError, match="max_bins must be from 2 to 255"):
        small_problem().with_settings(max_bins=max_bins).booster()


@pytest.mark.parametrize(
    "name",
    [
        "sketch_size",
        "min_samples_leaf",
        "max_depth",
        "max_leaf_nodes",
        "n_sampled_rows",
        "n_sampled_features",
    ],
)
@pytest.mark.parametrize("value", [2**31, 2**32, 2**63 - 1, 2**63, 2**64 - 1])
def test_the_largest_options_are_like_no_limit(name, value):
    problem = small_problem()
    expected = problem.train(2)
    if name == "min_samples_leaf":
        expected = problem.with_settings(min_samples_leaf=100).train(2)
    elif name == "max_depth":
        expected = problem.with_settings(max_depth=100).train(2)
    assert bytes_of(problem.with_options(**{name: value}).train(2)) == bytes_of(expected)


def test_prediction_checks_its_arguments():
    problem = small_problem()
    model = problem.train(2)
    out = np.zeros((60, 2), dtype=np.float32)
    for first, last in ((0, 3), (2, 1), (3, 3)):
        with pytest.raises(ValueError, match="range of trees"):
            model.add_margins(as_rows(problem.X), first, last, 1, out)
    with pytest.raises(ValueError, match="X must have a column"):
        model.add_margins(as_rows(problem.X[:, :1]), 0, 2, 1, out)
    with pytest.raises(ValueError, match="X must have a column"):
        model.leaves(0, as_rows(problem.X[:, :1]))
    with pytest.raises(ValueError, match="out must have"):
        model.add_margins(as_rows(problem.X), 0, 2, 1, out[:59])
    with pytest.raises(IndexError, match="no such tree"):
        model.arrays(2)
    with pytest.raises(IndexError, match="no such tree"):
        model.leaves(2, as_rows(problem.X))


def test_prediction_of_no_rows():
    problem = small_problem()
    model = problem.train(2)
    assert problem.predict(model, problem.X[:0]).shape == (0, 2)
    assert problem.predict(model, sparse.csr_array((0, 2))).shape == (0, 2)
    assert (problem.predict(problem.empty_model()) == 0).all()
