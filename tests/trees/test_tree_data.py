"""Training data: converted once, shared between labels, and sent to other processes."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from ramify.data.features import FeatureSchema
from ramify.trees.growing import grow
from ramify.trees.options import TreeOptions
from ramify.trees.tree_data import LabelTargets, TreeData, ValidationRows
from tests.support.tree_problems import assert_equal_trees


def make_data(layout: Any = np.asarray, **settings: Any) -> TreeData:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(60, 5)).astype(float)
    Y = sparse.csr_array((X[:, :2] + rng.integers(0, 2, size=(60, 2)) > 2).astype(np.int32))
    weights = rng.integers(1, 4, size=60).astype(float)
    targets = LabelTargets(Y, **settings)
    return TreeData(layout(X), FeatureSchema.numeric(5), targets, weights)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csc_array])
def test_copies_with_other_labels_share_the_converted_features(layout: Any) -> None:
    data = make_data(layout)
    views = [data.with_targets(LabelTargets(data.Y[:, [k]])) for k in range(2)]
    assert views[0].dataset is views[1].dataset is data.dataset
    assert views[0].by_rows is data.by_rows
    assert views[0].targets.core is not views[1].targets.core
    for k, view in enumerate(views):
        alone = make_data(layout)
        alone = alone.with_targets(LabelTargets(alone.Y[:, [k]]))
        assert_equal_trees(grow(view, TreeOptions()), grow(alone, TreeOptions()))


def test_other_features_are_converted_separately() -> None:
    data = make_data()
    fewer = data.with_features(data.X[:, :3], FeatureSchema.numeric(3))
    assert fewer.dataset is not data.dataset
    assert grow(fewer, TreeOptions()).feature.max() <= 2
    assert grow(data, TreeOptions(), counts=None).feature.max() >= 0


def test_copies_in_other_processes_convert_the_features_again() -> None:
    data = make_data(many=True)
    tree = grow(data, TreeOptions())
    copy = pickle.loads(pickle.dumps(data))
    assert copy.dataset is not data.dataset
    assert_equal_trees(grow(copy, TreeOptions()), tree)


def test_counts_multiply_the_weights_of_the_rows() -> None:
    data = make_data()
    rows = np.arange(10, 50)
    counts = np.random.default_rng(1).integers(0, 3, size=40).astype(np.int32)
    view = data.with_targets(data.targets, rows)
    weights = np.zeros(60)
    weights[rows] = data.weights[rows] * counts
    expected = grow(data.with_weights(weights), TreeOptions())
    assert_equal_trees(grow(view, TreeOptions(), counts=counts), expected)


def test_appended_rows_have_weight_1() -> None:
    data = make_data()
    more = data.with_rows(ValidationRows(data.X[:10], data.Y[:10], None))
    assert more.n_rows == 70
    assert grow(more, TreeOptions()).weight[0] == data.weights.sum() + 10


def test_labels_have_equal_weights_by_default() -> None:
    data = make_data()
    alike = data.with_targets(LabelTargets(data.Y, np.ones(2)))
    assert_equal_trees(grow(data, TreeOptions()), grow(alike, TreeOptions()))
