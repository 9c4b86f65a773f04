"""Trees that are large enough for threads are those of one thread."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from ramify import PCTClassifier
from tests.support.tree_problems import assert_equal_trees


@pytest.mark.parametrize("layout", [np.asarray, sparse.csc_array])
@pytest.mark.parametrize("nominal_tests", ["subset", "nary"])
def test_large_trees_do_not_depend_on_threads(layout, nominal_tests):
    rng = np.random.default_rng(0)
    n, d = 12_000, 90  # enough cells for threads in the conversion and in several nodes
    X = rng.normal(size=(n, d)).round(1)
    X[:, 20:40] *= rng.random((n, 20)) < 0.2  # mostly zero
    X[:, 40:50] = rng.integers(0, 5, (n, 10))
    X[rng.random((n, d)) < 0.02] = np.nan
    X[:, 3] = 1.0
    y = np.column_stack([X[:, :4] + X[:, 44:48] > 1, X[:, 45:49] == 2]).astype(int)
    options = {"categorical_features": list(range(40, 50)), "max_depth": 6}
    one, many = (
        PCTClassifier(n_jobs=k, nominal_tests=nominal_tests, **options).fit(layout(X), y).tree_
        for k in (1, 3)
    )
    assert_equal_trees(one, many)
