"""Bins of boosting: a row counts as often as its weight says."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from ramify import PCTGradientBoostingClassifier
from ramify.boosting.partitions.describing import ValueCounts
from tests.support.partition_cases import divide, everything, fit_in_parts

OPTIONS: dict[str, Any] = {
    "max_iter": 20,
    "max_bins": 4,
    "max_features": None,
    "min_samples_leaf": 1,
    "early_stopping": False,
    "random_state": 0,
}


def rows_of(kind: str) -> tuple[Any, np.ndarray, np.ndarray]:
    """Return rows, labels and whole weights, of which some are 0."""
    rng = np.random.default_rng(3)
    n = 120
    X: Any = rng.exponential(size=(n, 3))
    y = np.array(["a/x", "a/y", "b"])[(X[:, 0] > 1).astype(int) + (X[:, 1] > 1)]
    if kind == "missing":
        X[rng.random(X.shape) < 0.2] = np.nan
    if kind == "sparse":
        X = sparse.csr_array(np.where(rng.random(X.shape) < 0.6, 0.0, X - 0.5))
    if kind == "nominal":
        codes = rng.integers(9, size=(n, 2))
        X = pd.DataFrame(codes).astype("category")
    return X, y, rng.integers(0, 6, n) * (1 + 3 * (np.arange(n) < 20))


@pytest.mark.parametrize("kind", ["dense", "missing", "sparse", "nominal"])
def test_whole_weights_are_repetitions(kind):
    """All rows have different weights in every bin, so that bins of rows would differ."""
    X, y, weights = rows_of(kind)
    model = PCTGradientBoostingClassifier(**OPTIONS)
    times = np.repeat(np.arange(len(y)), weights)
    repeated = X.iloc[times] if kind == "nominal" else X[times]
    one = model.fit(X, y, sample_weight=weights).predict_proba(repeated)
    two = model.fit(repeated, y[times]).predict_proba(repeated)
    np.testing.assert_allclose(one, two, atol=2e-3)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_equal_weights_leave_bins_as_they_are(kind):
    """Sums of tenths are not exact, but equal weights are counted."""
    X, y, _ = rows_of(kind)
    model = PCTGradientBoostingClassifier(
        **{**OPTIONS, "l2_regularization": 0, "max_iter": 1, "max_depth": 1}
    )
    plain = model.fit(X, y).predict_proba(X)
    scaled = model.fit(X, y, sample_weight=np.full(len(y), 0.1)).predict_proba(X)
    np.testing.assert_allclose(plain, scaled, atol=1e-6)


@pytest.mark.parametrize("kind", ["dense", "missing", "sparse", "nominal"])
def test_partitions_weigh_their_rows(kind):
    X, y, weights = rows_of(kind)
    weights = weights * 0.37
    model = PCTGradientBoostingClassifier(**OPTIONS)
    one = fit_in_parts(model, X, y, divide(len(y), 1), weights)
    three = fit_in_parts(model, X, y, divide(len(y), 3), weights)
    assert everything(one) == everything(three)
    whole = model.fit(X, y, sample_weight=weights)
    seen = X[weights > 0]
    np.testing.assert_allclose(one.predict_proba(seen), whole.predict_proba(seen), atol=2e-3)


def test_values_count_as_often_as_they_weigh():
    values = ValueCounts.of([2.0, np.nan, -1.0, 2.0], 10, weights=np.array([3, 4, 0, 5]))
    assert values.intervals()[0].tolist() == [-1.0, 2.0]
    assert values.counts.tolist() == [0, 8]
    assert values.n_missing == 4
