"""Probabilities of margins, over the whole range of single precision."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, softmax

from ramify import _core
from tests.reference import gradient_boosting as reference
from tests.support.budget import budget


def probabilities(loss: str, margins: np.ndarray, n_threads: int = 1) -> np.ndarray:
    out = np.empty(margins.shape)
    _core.margins_to_probabilities(loss, margins, n_threads, out)
    return out


def test_logistic_over_the_whole_range():
    margins = np.linspace(-39.9, 39.9, 400_001).astype(np.float32)[:, None]
    found, expected = probabilities("logistic", margins), expit(margins.astype(float))
    # For negative margins this is the relative error of the exponential function.
    assert np.abs(found / expected - 1).max() < 4e-7
    assert (np.diff(found.ravel()) >= -1.5e-7 * found[1:].ravel()).all()


def test_softmax_over_the_whole_range():
    """The share of the second output is exp(margin) / (1 + exp(margin))."""
    second = np.linspace(-79.9, 0, 400_001).astype(np.float32)
    margins = np.column_stack([np.zeros_like(second), second])
    found, expected = probabilities("softmax", margins), softmax(margins.astype(float), axis=1)
    assert np.abs(found / expected - 1).max() < 6e-7


@pytest.mark.parametrize("largest", [0.0, 1e-30, -1e4, 1e30, -1e29, 3e38])
def test_softmax_of_margins_far_from_zero(largest):
    margins = np.full((1, 20), largest, dtype=np.float32)
    np.testing.assert_allclose(probabilities("softmax", margins), 0.05, rtol=1e-6)


@pytest.mark.parametrize("margin", [-3e38, -1e4, -88.0, -40.0, 40.0, 88.0, 1e4, 3e38])
def test_logistic_of_extreme_margins(margin):
    """Margins beyond 40 count as 40: no overflow, and a probability that is not 0."""
    found = probabilities("logistic", np.full((2, 3), margin, dtype=np.float32))
    np.testing.assert_allclose(found, expit(np.clip(margin, -40, 40)), rtol=1e-6)


@budget(30)
@given(
    st.sampled_from(["logistic", "softmax"]),
    st.integers(0, 80),
    st.integers(1, 70),
    st.sampled_from([0.1, 3.0, 50.0]),
    st.integers(0, 2**32 - 1),
)
def test_probabilities_equal_those_of_the_reference(loss, n, n_outputs, scale, seed):
    rng = np.random.default_rng(seed)
    margins = (scale * rng.normal(size=(n, n_outputs))).astype(np.float32)
    found = probabilities(loss, margins)
    if n:
        expected = reference.probabilities(loss, margins)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-30)
    if loss == "softmax":
        np.testing.assert_allclose(found.sum(axis=1), 1, rtol=2e-6)
    assert found.tobytes() == probabilities(loss, margins, 5).tobytes()
    for i in range(min(n, 3)):  # rows do not influence each other
        assert found[i].tobytes() == probabilities(loss, margins[i : i + 1]).tobytes()


def test_arguments_are_checked():
    margins = np.zeros((3, 2), dtype=np.float32)
    with pytest.raises(ValueError, match="loss must be 'logistic' or 'softmax'"):
        probabilities("hinge", margins)
    with pytest.raises(ValueError, match="out must have the shape"):
        _core.margins_to_probabilities("logistic", margins, 1, np.zeros((2, 3)))
    assert probabilities("softmax", margins[:, :0]).shape == (3, 0)
