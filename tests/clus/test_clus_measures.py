"""Errors of multi-label targets, which may be partly unknown."""

from __future__ import annotations

import numpy as np
import pytest

from ramify.apps.clus.measures import LabelErrors


@pytest.mark.parametrize("seed", range(20))
def test_errors_of_known_labels_are_the_same_by_either_way(seed: int) -> None:
    random = np.random.default_rng(seed)
    truth = random.random((12, 4)) < 0.4
    truth[:, 0] |= ~truth.any(axis=1)
    scores = random.integers(0, 6, truth.shape) / 5
    known = np.ones_like(truth)
    ours = LabelErrors(truth, scores, (len(truth),), ranking=scores, known=known).values
    expected = LabelErrors(truth, scores, (len(truth),)).values
    for name, value in ours.items():
        np.testing.assert_allclose(value, expected[name], rtol=1e-12, err_msg=name)


@pytest.mark.parametrize("seed", range(20))
def test_unknown_labels_count_nowhere(seed: int) -> None:
    random = np.random.default_rng(seed)
    truth, known = random.random((2, 12, 4)) < 0.6
    scores = random.integers(0, 6, truth.shape) / 5
    errors = LabelErrors(truth & known, scores, (len(truth),), ranking=scores, known=known)
    changed = np.where(known, scores, random.random(truth.shape))
    other = LabelErrors(truth & known, changed, (len(truth),), ranking=changed, known=known)
    assert errors.values == pytest.approx(other.values, nan_ok=True)
    for name, values in errors.macro.items():
        np.testing.assert_array_equal(values, other.macro[name])
