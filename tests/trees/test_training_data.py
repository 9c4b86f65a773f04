"""Training data: converted once, shared between labels, and sent to other processes."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from ramify.data.features import FeatureSchema
from ramify.trees.plan import GrowthPlan
from ramify.trees.training_data import TrainingData, ValidationRows
from tests.support.tree_problems import assert_equal_trees


def make_data(layout: Any = np.asarray, **settings: Any) -> TrainingData:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(60, 5)).astype(float)
    Y = sparse.csr_array((X[:, :2] + rng.integers(0, 2, size=(60, 2)) > 2).astype(np.int32))
    weights = rng.integers(1, 4, size=60).astype(float)
    return TrainingData(layout(X), FeatureSchema.numeric(5), Y, weights, **settings)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csc_array])
def test_copies_with_other_labels_share_the_converted_features(layout: Any) -> None:
    data = make_data(layout)
    views = [data.with_labels(data.Y[:, [k]], np.ones(1)) for k in range(2)]
    assert views[0].dataset is views[1].dataset is data.dataset
    assert views[0].by_rows is data.by_rows
    assert views[0].labels is not views[1].labels
    for k, view in enumerate(views):
        alone = make_data(layout)
        alone = alone.with_labels(alone.Y[:, [k]], np.ones(1))
        assert_equal_trees(view.grow(GrowthPlan()), alone.grow(GrowthPlan()))


def test_other_features_are_converted_separately() -> None:
    data = make_data()
    fewer = data.with_features(data.X[:, :3], FeatureSchema.numeric(3))
    assert fewer.dataset is not data.dataset
    assert fewer.grow(GrowthPlan()).feature.max() <= 2
    assert data.grow(GrowthPlan(), counts=None).feature.max() >= 0


def test_copies_in_other_processes_convert_the_features_again() -> None:
    data = make_data(many=True)
    tree = data.grow(GrowthPlan())
    copy = pickle.loads(pickle.dumps(data))
    assert copy.dataset is not data.dataset
    assert_equal_trees(copy.grow(GrowthPlan()), tree)


def test_counts_multiply_the_weights_of_the_rows() -> None:
    data = make_data()
    rows = np.arange(10, 50)
    counts = np.random.default_rng(1).integers(0, 3, size=40).astype(np.int32)
    view = data.with_labels(data.Y, np.ones(2), rows)
    weights = np.zeros(60)
    weights[rows] = data.weights[rows] * counts
    expected = data.with_weights(weights).grow(GrowthPlan())
    assert_equal_trees(view.grow(GrowthPlan(), counts=counts), expected)


def test_appended_rows_have_weight_1() -> None:
    data = make_data()
    more = data.with_rows(ValidationRows(data.X[:10], data.Y[:10], None))
    assert more.n_rows == 70
    assert more.grow(GrowthPlan()).weight[0] == data.weights.sum() + 10


def test_labels_have_equal_weights_by_default() -> None:
    data = make_data()
    alike = data.with_labels(data.Y, np.ones(2))
    assert_equal_trees(data.grow(GrowthPlan()), alike.grow(GrowthPlan()))
    assert data.find_sets(GrowthPlan(prototype="medoid")).sets is not None
