"""Conditions on tests in C4.5, computed by hand; the reference implements them too."""

from __future__ import annotations

import numpy as np
import pytest

from ramify import PCTClassifier


def fit(X, y, sample_weight=None, **settings):
    tree = PCTClassifier(
        criterion="gain_ratio", min_samples_leaf=2, nominal_tests="nary", **settings
    )
    return tree.fit(X, y, sample_weight=sample_weight).tree_


def test_two_large_branches_are_sufficient():
    # Category 2 has only one row, but the test is allowed, as in C4.5.
    X = np.array([0] * 5 + [1] * 5 + [2])[:, None]
    y = np.array(["a"] * 5 + ["b"] * 5 + ["a"])
    tree = fit(X, y, categorical_features=[0])
    assert tree.n_samples.tolist() == [11, 5, 5, 1]
    # With other criteria, every branch must be large enough.
    other = PCTClassifier(min_samples_leaf=2, nominal_tests="nary", categorical_features=[0])
    assert len(other.fit(X, y).tree_.feature) == 1


def test_one_large_branch_is_not_sufficient():
    X = np.array([0] * 9 + [1, 2])[:, None]
    y = np.array(["a"] * 9 + ["b", "b"])
    assert len(fit(X, y, categorical_features=[0]).feature) == 1


@pytest.mark.parametrize(("n_rows", "least"), [(100, 5), (300, 15), (1000, 25)])
def test_branches_of_numeric_tests_have_a_tenth_of_the_mean_class_size(n_rows, least):
    # If the best test splits off only `least - 1` rows, the nearest valid test is used.
    X = np.arange(float(n_rows))[:, None]
    for n_split, n_found in ((least, least), (least - 1, least)):
        y = np.where(np.arange(n_rows) < n_split, "a", "b")
        tree = fit(X, y, max_depth=1)
        assert sorted(tree.n_samples.tolist()) == [n_found, n_rows - n_found, n_rows]


def test_gain_of_numeric_tests_is_penalised():
    # The best thresholds gain 8 - 3 · H(1/3) - 5 · H(2/5) = 0.39 bits. There are 5 thresholds
    # with two rows on either side, so the penalty is log2 5 = 2.32 bits.
    y = np.array(["a", "b"] * 4)
    assert len(fit(np.arange(8.0)[:, None], y).feature) == 1
    # There is no penalty for features with two values: 8 - 2 · 4 · H(1/4) = 1.51 bits suffice.
    two = np.array([1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0])[:, None]
    assert len(fit(two, y).feature) == 3


def test_penalty_counts_all_thresholds():
    # A split after the twelfth row gains 40 · H(2/40) - 12 · H(2/12) = 3.66 bits. Only the ends
    # of runs of one class can be best, but all 37 thresholds count: the penalty is log2 37 = 5.21
    # bits.
    y = np.array(["b"] * 10 + ["a"] * 2 + ["b"] * 28)
    for weight in (1.0, 1.2):
        leaf = fit(np.arange(40.0)[:, None], y, max_depth=1, sample_weight=np.full(40, weight))
        assert len(leaf.feature) == 1
    # With five values there are four thresholds, and the penalty is 2 bits.
    values = np.repeat(np.arange(5.0), [10, 2, 9, 10, 9])[:, None]
    assert fit(values, y, max_depth=1).n_samples.tolist() == [40, 28, 12]


def test_features_with_two_values_are_treated_as_nominal():
    # Too few rows for a branch of a numeric feature with many values, but enough with two values.
    X = np.zeros((1000, 1))
    X[:3] = 1
    y = np.where(np.arange(1000) < 3, "a", "b")
    assert fit(X, y).n_samples.tolist() == [1000, 3, 997]
