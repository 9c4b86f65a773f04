"""Trees for rare classes, grown from the rows of these classes, are those of the other ways."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from ramify import _core
from ramify._base.features import FeatureSchema, make_dataset
from ramify.tree.plan import GrowthPlan
from tests.support.tree_problems import make_columns


def make_problem(n_values: int, n_classes: int) -> tuple[_core.Dataset, sparse.csr_array]:
    """Make rows of which seven in ten have the first class; one label is the second class."""
    rng = np.random.default_rng(n_values + n_classes)
    n = 500
    X = make_columns(rng, n, n_values)
    signal = X[:, 0] / X[:, 0].std() + rng.normal(size=n)
    classes = np.where(signal > 0.5, rng.integers(1, n_classes, n), 0)
    classes[0] = n_classes - 1
    Y = np.eye(n_classes, dtype=np.int32)[classes]
    labels = sparse.csr_array(Y[:, 1:] if n_classes == 2 else Y)
    return make_dataset(X, FeatureSchema(np.zeros(X.shape[1], np.int32), {})), labels


def assert_alike(marked: _core.Tree, other: _core.Tree, factor: float) -> None:
    for name in ("feature", "threshold", "child", "value_label", "value_indptr", "n_samples"):
        np.testing.assert_array_equal(getattr(marked, name), getattr(other, name), err_msg=name)
    np.testing.assert_array_equal(factor * marked.weight, other.weight)
    np.testing.assert_allclose(factor * marked.gain, other.gain, rtol=1e-9, atol=1e-9)
    for name in ("value", "share", "impurity"):
        ours, theirs = getattr(marked, name), getattr(other, name)
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12, err_msg=name)


# Many rows of one value, a few, and none.
@pytest.mark.parametrize("n_values", [4, 100, 10_000])
@pytest.mark.parametrize("n_classes", [2, 3, 8])
@pytest.mark.parametrize("settings", [{}, {"max_depth": 3}, {"min_samples_split": 20}], ids=str)
def test_orders_give_the_same_tree(n_values, n_classes, settings):
    dataset, Y = make_problem(n_values, n_classes)
    plan = GrowthPlan(n_jobs=1, **settings)
    ones = np.ones(Y.shape[1])
    marked = plan.grow(dataset, Y, ones, np.ones(500), unlabelled_count=True)
    # Rows that weigh two are left to the other ways.
    other = plan.grow(dataset, Y, ones, np.full(500, 2.0), unlabelled_count=True)
    assert (marked.feature >= 0).sum() > 3
    assert_alike(marked, other, 2.0)


def test_rows_of_a_shared_data_set_and_a_hidden_feature():
    dataset, Y = make_problem(100, 5)
    rows = np.arange(0, 500, 3)
    plan = GrowthPlan(n_jobs=1, hidden=0)
    ones = np.ones(Y.shape[1])
    marked = plan.grow(dataset, Y, ones, np.ones(500), rows, unlabelled_count=True)
    other = plan.grow(dataset, Y, ones, np.full(500, 2.0), rows, unlabelled_count=True)
    assert 0 not in marked.feature
    assert marked.n_samples[0] == len(rows)
    assert_alike(marked, other, 2.0)
