"""Balanced samples by weights, and the measure of balance."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ramify import balance_score, balance_weights


@given(st.integers(2, 60), st.integers(0, 60), st.integers(0, 100))
@settings(max_examples=40, deadline=None)
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


def test_the_score_of_balance():
    assert balance_score([[1, 0], [0, 1]]) == 1.0
    assert balance_score([[1, 0], [1, 0]]) == 0.0
    Y = np.zeros((100, 2), dtype=int)
    Y[:10, 0] = Y[:50, 1] = 1
    assert balance_score(Y) == pytest.approx((4 * 0.1 * 0.9 + 1) / 2)
    assert balance_score(np.repeat(Y, 3, axis=0)) == pytest.approx(balance_score(Y))
