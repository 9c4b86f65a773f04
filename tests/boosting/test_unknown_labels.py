"""Gradient boosting learns from labels that are known for some rows only."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify import Hierarchy, PartialLabels, PCTGradientBoostingClassifier
from tests.reference import gradient_boosting as reference
from tests.reference.trees import Column
from tests.reference.unknown import rows_that_tell
from tests.support.budget import budget

FLAT = Hierarchy.from_labels(["a", "b", "c"])


def problem(seed: int, rate: float) -> tuple[np.ndarray, np.ndarray]:
    """Return X and labels of a flat hierarchy, NaN where they are not known."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 3))
    y = (X @ rng.normal(size=(3, 3)) > rng.normal(size=3)).astype(float)
    y[rng.random(y.shape) < rate] = np.nan
    return X, y


def make(**options) -> PCTGradientBoostingClassifier:
    return PCTGradientBoostingClassifier(
        FLAT, max_features=1.0, min_samples_leaf=2, random_state=0, **options
    )


@budget(20)
@given(seed=st.integers(0, 2**32 - 1), rate=st.sampled_from([0.1, 0.5, 0.9]))
def test_equals_the_reference_without_gradients_of_unknown_labels(seed: int, rate: float) -> None:
    X, y = problem(seed, rate)
    model = make(max_iter=3, max_depth=2).fit(X, y)
    rows = rows_that_tell(y)
    known, Y, weights = ~np.isnan(y[rows]), np.nan_to_num(y[rows]), np.ones(rows.sum())
    shares = Y.sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    shares = np.clip(shares, 0.5 / len(Y), 1 - 0.5 / len(Y))
    margins = np.tile(np.log(shares / (1 - shares)), (len(Y), 1))
    settings = reference.Settings(learning_rate=0.05, max_depth=2, min_samples_leaf=2, max_bins=64)
    columns = [Column(x) for x in X[rows].T]
    for _ in range(3):
        G, H = reference.gradients("logistic", margins, Y, weights)
        everything = np.arange(len(Y))
        tree = reference.grow(
            columns, everything, G * known, H * known, weights, settings=settings
        )
        margins = margins + reference.values_of(tree, columns, everything)
    expected = reference.probabilities("logistic", margins)
    np.testing.assert_allclose(model.predict_proba(X[rows]), expected, rtol=1e-3)


def test_held_out_rows_count_where_they_are_known() -> None:
    X, y = problem(0, 0.5)
    y[:, 2] = np.nan
    model = make(max_iter=20, early_stopping=True, n_iter_no_change=20).fit(X, y)
    probabilities = model.predict_proba(X)
    assert model.n_iter_ > 0
    assert -model.validation_score_[0] < 3 * np.log(2)
    assert (probabilities[:, 2] < 0.05).all()  # nobody knows a row that has it


def test_validation_rows_may_know_all_labels() -> None:
    X, y = problem(0, 0.5)
    y_val = problem(0, 0.0)[1][40:]
    model = make(max_iter=5).fit(X[:40], y[:40], X_val=X[40:], y_val=y_val)
    assert len(model.validation_score_) == 6


def test_more_rounds_continue_from_earlier_ones() -> None:
    X, y = problem(1, 0.5)
    model = make(max_iter=4, warm_start=True).fit(X, y)
    continued = model.set_params(max_iter=8).fit(X, y)
    whole = make(max_iter=8).fit(X, y)
    np.testing.assert_allclose(continued.predict_proba(X), whole.predict_proba(X), rtol=1e-4)


def test_paths_are_learnt_label_by_label() -> None:
    animals = Hierarchy.from_paths(["bird/hawk", "bird/owl", "mammal/cat"])
    ends = ["bird/hawk", "bird/owl", "bird", "mammal/cat"]
    y = PartialLabels(ends * 15, animals, ends="unknown_below")
    X = np.array([[0.0, 0.0], [0.0, 1.0], [0.0, 1.0], [1.0, 0.0]] * 15)
    model = PCTGradientBoostingClassifier(animals, max_features=1.0, random_state=0).fit(X, y)
    assert model.loss_ == "logistic"
    assert model.predict([[0.0, 1.0], [1.0, 0.0]]).tolist() == ["bird/owl", "mammal/cat"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": "softmax"}, "Use loss='logistic'"),
        ({"label_weight": "balanced"}, "Use label_weight=None"),
        ({"device": "cuda"}, "device='cuda'"),
        ({"scoring": "pooled_auprc"}, "Use scoring='loss'"),
    ],
)
def test_what_requires_all_labels_says_so(options: dict, message: str, monkeypatch) -> None:
    monkeypatch.setattr("ramify.boosting.classifier.load_cupy", lambda: None)
    X, y = problem(0, 0.5)
    with pytest.raises(ValueError, match=message):
        make(**options).fit(X, y)
