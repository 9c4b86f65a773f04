"""Balanced samples by weights, and the measure of balance."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify import Hierarchy
from ramify.labels import balance_score, balance_weights
from tests.support.budget import budget


@given(st.integers(2, 60), st.integers(0, 60), st.integers(0, 100))
@budget(40)
def test_half_of_the_weight_has_the_label(n_rows, n_with, seed):
    n_with = min(n_with, n_rows)
    Y = np.zeros((n_rows, 2), dtype=int)
    Y[:n_with] = 1
    weights = balance_weights(Y, random_state=seed)
    assert weights.shape == (n_rows, 2)
    assert (weights.sum(axis=0) == n_rows).all()
    if 0 < n_with < n_rows:
        having = weights[:n_with, 0].sum()
        assert abs(2 * having - n_rows) <= 1
        for side in (weights[:n_with, 0], weights[n_with:, 0]):
            assert side.max() - side.min() <= 1, "rows of a side are drawn as evenly as possible"
    else:
        assert (weights == 1).all()
    np.testing.assert_array_equal(weights, balance_weights(Y, random_state=seed))


def test_every_label_is_balanced_by_its_own_rows():
    Y = np.zeros((12, 2), dtype=int)
    Y[:2, 0] = Y[4:, 1] = 1
    weights = balance_weights(Y, random_state=0)
    # Half of 12 rows: 2 rows thrice, and 4 rows once or twice.
    assert weights[:2, 0].tolist() == [3, 3]
    assert weights[2:, 0].sum() == weights[:4, 1].sum() == weights[4:, 1].sum() == 6
    assert sorted(weights[:4, 1].tolist()) == [1, 1, 2, 2]


def test_labels_of_a_given_hierarchy_are_balanced():
    tree = Hierarchy.from_paths(["a/x", "a/y", "b"])
    y = ["a/x", "a/x", "a/x", "b"]
    weights = balance_weights(y, tree, random_state=0)
    assert tree.labels == ("a", "a/x", "a/y", "b")
    assert weights[3].tolist() == [2, 2, 1, 2]


def test_the_rows_of_the_larger_side_are_drawn_at_random():
    y = [["a"]] * 4 + [[]] * 36
    drawn = np.hstack([balance_weights(y, random_state=seed) for seed in range(20)])
    # 20 of the 36 others each time: a row misses 20 samples with probability (16/36)^20 < 1e-7.
    assert (drawn[4:].sum(axis=0) == 20).all()
    assert len(np.unique(drawn, axis=1).T) == 20
    assert (drawn[4:].max(axis=1) == 1).all()
    assert (drawn[4:].min(axis=1) == 0).all()


def test_the_score_of_balance():
    assert balance_score([[1, 0], [0, 1]]) == 1.0
    assert balance_score([[1, 0], [1, 0]]) == 0.0
    Y = np.zeros((100, 2), dtype=int)
    Y[:10, 0] = Y[:50, 1] = 1
    assert balance_score(Y) == pytest.approx((4 * 0.1 * 0.9 + 1) / 2)
    assert balance_score(np.repeat(Y, 3, axis=0)) == pytest.approx(balance_score(Y))
