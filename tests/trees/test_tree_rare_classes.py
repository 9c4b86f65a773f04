"""Trees for rare classes: their engine equals the general engine and the reference."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse

from ramify import _core
from ramify.data.features import FeatureSchema
from ramify.trees.growing import grow
from ramify.trees.options import TreeOptions
from ramify.trees.tree_data import LabelTargets, TreeData
from tests.reference.trees import Settings
from tests.support.budget import budget
from tests.support.tree_problems import (
    Problem,
    assert_equal_trees,
    assert_same,
    counted_growth,
    expected_tree,
    is_eligible,
    make_columns,
    plan_of,
    problems,
)


@st.composite
def rare_problems(draw: st.DrawFn) -> Problem:
    """Draw problems with one class per row and at least half of the rows in the same class."""
    problem = draw(problems())
    n, n_labels = problem.Y.shape
    classes = np.argmax(problem.Y, axis=1)
    classes[: (n + 1) // 2] = draw(st.integers(0, n_labels - 1))
    Y = np.eye(n_labels)[classes] if n_labels > 1 else problem.Y * (np.arange(n) >= n / 2)[:, None]
    return Problem(
        np.nan_to_num(problem.X),
        np.zeros_like(problem.n_categories),
        Y,
        np.full(n_labels, problem.label_weights[0]),
        np.ones(n),
    )


rare_growth = counted_growth.map(
    lambda wanted: replace(wanted, min_samples_leaf=1, min_weight=0.0, f_test=None)
)


@budget(75)
@given(problem=rare_problems(), wanted=rare_growth, n_jobs=st.sampled_from([1, 3]))
def test_each_engine_equals_the_reference(problem: Problem, wanted: Settings, n_jobs: int) -> None:
    expected = expected_tree(problem, wanted)
    plan = plan_of(wanted, n_jobs=n_jobs)
    n_labels = problem.Y.shape[1]
    assert_same(problem.grow(replace(plan, engine="general")), expected, n_labels)
    # The rare-class engine does not support columns that are mostly zeros.
    assume(is_eligible(lambda: problem.grow(replace(plan, engine="rare_class"))))
    assert_same(problem.grow(replace(plan, engine="rare_class")), expected, n_labels)
    if n_labels == 1:
        assert_same(problem.grow(replace(plan, engine="counting")), expected, 1)


def make_problem(n_values: int, n_classes: int, n: int = 500, n_columns: int = 6) -> TreeData:
    """Make rows of which 70% have the first class; a single label stands for the second class."""
    rng = np.random.default_rng(n_values + n_classes)
    X = make_columns(rng, n, n_values, n_columns)
    signal = X[:, 0] / X[:, 0].std() + rng.normal(size=n)
    classes = np.where(signal > 0.5, rng.integers(1, n_classes, n), 0)
    classes[0] = n_classes - 1
    Y = np.eye(n_classes, dtype=np.int32)[classes]
    labels = LabelTargets(sparse.csr_array(Y[:, 1:] if n_classes == 2 else Y))
    return TreeData(X, FeatureSchema.numeric(X.shape[1]), labels, np.ones(n))


def assert_alike(rare: _core.Tree, other: _core.Tree) -> None:
    exact = ("feature", "threshold", "child", "value_label", "value_indptr", "n_samples", "weight")
    for name in exact:
        np.testing.assert_array_equal(getattr(rare, name), getattr(other, name), err_msg=name)
    np.testing.assert_allclose(rare.gain, other.gain, rtol=1e-9, atol=1e-9)
    for name in ("value", "share", "impurity"):
        ours, theirs = getattr(rare, name), getattr(other, name)
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12, err_msg=name)


# Many rows with equal values, few, and none.
@pytest.mark.parametrize("n_values", [4, 100, 10_000])
@pytest.mark.parametrize("n_classes", [2, 3, 8])
@pytest.mark.parametrize("settings", [{}, {"max_depth": 3}, {"min_samples_split": 20}], ids=str)
def test_rare_class_engine_equals_the_general_engine(n_values, n_classes, settings):
    problem = make_problem(n_values, n_classes)
    plan = TreeOptions(n_jobs=1, **settings)
    rare = grow(problem, replace(plan, engine="rare_class"))
    assert (rare.feature >= 0).sum() > 3
    assert_alike(rare, grow(problem, replace(plan, engine="general")))
    if n_classes == 2:
        assert_alike(rare, grow(problem, replace(plan, engine="counting")))
    # The fastest eligible engine is the default.
    assert_equal_trees(rare, grow(problem, plan))


# Large enough for threads to share a node and to grow separate subtrees.
@pytest.mark.parametrize("n_values", [100, 10_000])
@pytest.mark.parametrize("n_classes", [2, 8])
def test_number_of_threads_does_not_change_the_tree(n_values, n_classes):
    problem = make_problem(n_values, n_classes, n=6000, n_columns=70)
    plan = TreeOptions(engine="rare_class", n_jobs=1)
    alone = grow(problem, plan)
    assert (alone.feature >= 0).sum() > 50
    for n_jobs in (2, 5):
        assert_equal_trees(alone, grow(problem, replace(plan, n_jobs=n_jobs)))


def test_rows_of_a_shared_data_set_and_a_hidden_feature():
    problem = make_problem(100, 5)
    rows = np.arange(0, 500, 3)
    plan = TreeOptions(n_jobs=1, hidden_feature=0)
    rare = grow(problem, replace(plan, engine="rare_class"), rows)
    assert 0 not in rare.feature
    assert rare.n_samples[0] == len(rows)
    assert_alike(rare, grow(problem, replace(plan, engine="general"), rows))
