"""Models learnt from partitions: the same for any partitions, and close to those of one array."""

from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from ramify import (
    Hierarchy,
    PCTGradientBoostingClassifier,
    load,
    load_animals,
    make_hierarchical_classification,
    save,
)
from ramify.data.features import read_features
from tests.support.boosting_problems import column, outputs, trees_of
from tests.support.budget import budget
from tests.support.partition_cases import divide, everything, fit_all, fit_in_parts

HIERARCHY = Hierarchy.from_paths(["a/b/c", "a/b/d", "a/e", "f/g", "f/h"])


def boosting(hierarchy=None, **parameters):
    parameters = {"max_iter": 4, "random_state": 0, **parameters}
    return PCTGradientBoostingClassifier(hierarchy, **parameters)


@pytest.fixture(scope="module")
def data():
    return make_hierarchical_classification(700, 12, n_labels=40, random_state=0)


parameters = st.fixed_dictionaries(
    {},
    optional={
        "loss": st.sampled_from(["auto", "logistic", "softmax"]),
        "subsample": st.sampled_from([0.3, 0.7]),
        "max_features": st.sampled_from([None, 0.5]),
        "max_leaf_nodes": st.sampled_from([2, 4]),
        "max_bins": st.sampled_from([2, 5, 64]),
        "min_samples_leaf": st.sampled_from([1, 0.1]),
        "sketch_size": st.sampled_from([1, 16]),
        "label_weight": st.just("balanced"),
        "random_state": st.integers(0, 1000),
    },
)


@budget(30)
@given(parameters, st.integers(0, 2**32 - 1), st.data())
def test_the_model_does_not_depend_on_the_partitions(parameters, seed, drawn):
    rng = np.random.default_rng(seed)
    n = drawn.draw(st.integers(5, 60))
    kinds = ["normal", "ties", "sparse", "constant", "nominal", "many categories"]
    chosen = drawn.draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=4))
    columns = [column(rng, n, kind) for kind in chosen]
    X = np.column_stack([x for x, _ in columns])
    nominal = [j for j, (_, n_codes) in enumerate(columns) if n_codes]
    X[rng.random(X.shape) < drawn.draw(st.sampled_from([0, 0.2]))] = np.nan
    y = sparse.csr_array(outputs(rng, n, HIERARCHY).astype(np.int32))
    weights = drawn.draw(st.sampled_from([None, rng.choice([0.0, 0.1, 1.0, 50.0], n) + 1e-3]))
    if drawn.draw(st.booleans()):
        X = sparse.csr_array(X)
    model = boosting(HIERARCHY, categorical_features=nominal, **parameters)
    whole = fit_in_parts(model, X, y, [slice(0, n)], weights)
    # Partitions of any size, also without rows.
    bounds = [0, *sorted(drawn.draw(st.lists(st.integers(0, n), max_size=5))), n]
    slices = [slice(a, b) for a, b in pairwise(bounds)]
    assert everything(fit_in_parts(model, X, y, slices, weights)) == everything(whole)


TEST = ("feature", "threshold", "missing_yes", "yes", "no", "category_indptr", "category_yes")


def count_equal_trees(one, other):
    """Return how many trees have the same tests, and check that their values are close.

    The first test that differs must be a near tie: the search uses single precision.
    """
    pairs = zip(trees_of(one.trees_), trees_of(other.trees_), strict=True)
    for number, (first, second) in enumerate(pairs):
        if not all(np.array_equal(first[name], second[name]) for name in TEST):
            n = min(len(first["gain"]), len(second["gain"]))
            differ = [first[name][:n] != second[name][:n] for name in ("feature", "threshold")]
            node = np.flatnonzero(differ[0] | differ[1])[0]
            assert first["gain"][node] == pytest.approx(second["gain"][node], rel=1e-6)
            return number
        np.testing.assert_allclose(first["weight"], second["weight"], rtol=1e-6)
        np.testing.assert_allclose(first["gain"], second["gain"], rtol=1e-3, atol=1e-3)
        np.testing.assert_allclose(first["value"], second["value"], atol=1e-5)
    return len(one.trees_)


def loss_of(model, data):
    proba = np.clip(model.predict_proba(data.X), 1e-6, 1 - 1e-6)
    Y = data.y.toarray()
    return -(Y * np.log(proba) + (1 - Y) * np.log(1 - proba)).sum(axis=1).mean()


@pytest.mark.parametrize(
    ("parameters", "n_equal"),
    [
        ({}, 15),
        ({"max_leaf_nodes": 9, "max_depth": None}, 15),
        ({"loss": "softmax", "max_features": 0.5}, 5),
        ({"w0": 0.75, "l2_regularization": 0.0, "sketch_size": 20}, 2),
        ({"label_weight": "balanced", "min_samples_leaf": 0.02}, 15),
    ],
    ids=str,
)
def test_models_equal_those_of_one_array_up_to_rounding(data, parameters, n_equal):
    model = boosting(data.hierarchy, max_iter=15, **parameters)
    alone = model.fit(data.X, data.y)
    parts = fit_in_parts(model, data.X, data.y, divide(700, 3))
    assert parts.loss_ == alone.loss_
    assert count_equal_trees(parts, alone) >= n_equal
    assert loss_of(parts, data) == pytest.approx(loss_of(alone, data), rel=0.01)


def test_weights_are_those_of_one_array_up_to_rounding(data):
    weights = np.random.default_rng(0).uniform(0.2, 3.0, 700)
    weights[::10] = 0
    model = boosting(data.hierarchy, max_iter=10)
    parts = fit_in_parts(model, data.X, data.y, divide(700, 3), weights)
    assert count_equal_trees(parts, model.fit(data.X, data.y, weights)) == 10


def test_nominal_columns_and_missing_values_of_data_frames():
    """Categories that one partition lacks, and columns that are empty in one."""
    animals = load_animals()
    X = animals.X.copy()
    X.loc[X.index[:70], "legs" if "legs" in X else X.columns[-1]] = None
    model = boosting(animals.hierarchy, max_iter=10, max_features=None)
    alone = model.fit(X, animals.y)
    parts = fit_in_parts(model, X, animals.y, divide(len(X), 4))
    assert parts.schema_.categories == alone.schema_.categories
    assert parts.feature_names_in_.tolist() == alone.feature_names_in_.tolist()
    np.testing.assert_allclose(parts.predict_proba(X), alone.predict_proba(X), atol=1e-5)


_DAYS = pd.to_datetime(["2024-01-01", "2024-02-01", "2024-03-01"])
_COLUMNS = {
    "whole": pd.Series([1, 2, 3]),
    "real": pd.Series([0.5, 2.0, np.nan]),
    "flags": pd.Series([True, False, True]),
    "missing": pd.Series([np.nan] * 3),
    "numbers of Python": pd.Series([1, 2.5, None], dtype=object),
    "empty": pd.Series([None] * 3, dtype=object),
    "names": pd.Series(["x", "2", None], dtype=object),
    "strings": pd.Series(["z", "y", None], dtype="string"),
    "mixed": pd.Series(["x", 2, None], dtype=object),
    "phrases": pd.Series(["one two three four five", "six five four three two", "a b c d e"]),
    "categories": pd.Series(["x", "y", "x"]).astype("category"),
    "other categories": pd.Series(["x", "q", None]).astype("category"),
    "dates": pd.Series(_DAYS),
    "dates with time zone": pd.Series(_DAYS.tz_localize("UTC")),
    "dates of Python": pd.Series(_DAYS.date, dtype=object),
    "vectors": pd.Series([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
}


@budget(40)
@given(st.lists(st.sampled_from(sorted(_COLUMNS)), min_size=2, max_size=4), st.booleans())
def test_partitions_agree_on_what_a_column_contains(kinds, declared):
    """They read it as `fit` reads the joined rows, or refuse it as `fit` does."""
    frames = [pd.DataFrame({"x": _COLUMNS[kind]}) for kind in kinds]
    with warnings.catch_warnings():  # of pandas, on joining columns without values
        warnings.simplefilter("ignore", FutureWarning)
        X = pd.concat(frames, ignore_index=True)
    if X["x"].isna().all():
        return  # either kind will do
    y = np.array(["a", "b", "a"] * len(kinds))
    model = boosting(max_iter=1, categorical_features=["x"] if declared else None)
    parts = [(frame, y[:3]) for frame in frames]

    found = _fitted_or_error(lambda: fit_all(model, parts))
    expected = _fitted_or_error(lambda: model.fit(X, y))
    if isinstance(expected, str) or expected.schema_.texts or expected.schema_.vectors:
        assert isinstance(found, str), (kinds, found)
        return
    assert not isinstance(found, str), (kinds, found)
    assert found.schema_.categories == expected.schema_.categories, kinds
    assert found.schema_.times == expected.schema_.times, kinds
    assert found.schema_.n_categories.tolist() == expected.schema_.n_categories.tolist(), kinds
    cells = [read_features(found, frame, found.schema_) for frame in frames]
    np.testing.assert_array_equal(np.vstack(cells), read_features(expected, X, expected.schema_))


def _fitted_or_error(fit):
    try:
        return fit()
    except ValueError as error:
        return str(error)


def test_a_column_may_have_numbers_in_one_partition_and_names_in_the_next():
    X = pd.DataFrame({"x": pd.Series([1, 2, 3] * 10 + ["a", "b", "c"] * 10, dtype=object)})
    y = np.where(X["x"].isin([1, "a"]), "yes", "no")
    model = boosting()
    parts = fit_all(model, [(X[:30].astype(int), y[:30]), (X[30:], y[30:])])
    assert list(parts.schema_.categories[0]) == [1, 2, 3, "a", "b", "c"]
    np.testing.assert_allclose(parts.predict_proba(X), model.fit(X, y).predict_proba(X), atol=1e-5)


def test_a_nominal_column_may_not_have_too_many_values_in_all_partitions(monkeypatch):
    for module in ("ramify.data.features", "ramify.boosting.partitions.describing"):
        monkeypatch.setattr(f"{module}.MAX_CATEGORIES", 5)
    X = pd.DataFrame({"x": ["a", "b", "c", "d", "e", "f", "g", "h"]})
    y = np.array(["yes", "no"] * 4)
    for n_parts in (1, 2):
        with pytest.raises(ValueError, match="'x' of X must have at most 5 categories, got 8"):
            fit_in_parts(boosting(), X, y, divide(8, n_parts))


@pytest.mark.parametrize(
    "y",
    [
        np.array(["a/b/c", "a/e", "f", "a/b/d"] * 30),
        np.array([3, 1, 1, 0] * 30),
        pd.Series(["x", "y", "x", "z"] * 30, name="kind"),
    ],
    ids=["paths", "numbers", "column"],
)
def test_classes_are_inferred_from_all_partitions(y):
    X = np.random.default_rng(0).normal(size=(120, 4))
    model = boosting(max_iter=5)
    # The last label of each group of four is missing in the first partition.
    parts = fit_in_parts(model, X, y, [slice(0, 3), slice(3, 60), slice(60, 120)])
    alone = model.fit(X, y)
    assert parts.loss_ == "softmax"
    assert parts.classes_.tolist() == alone.classes_.tolist()
    np.testing.assert_array_equal(parts.ends_, alone.ends_)
    assert getattr(parts, "target_names_", None) == getattr(alone, "target_names_", None)
    np.testing.assert_array_equal(parts.predict(X), alone.predict(X))


def test_label_sets_need_a_hierarchy():
    X = np.zeros((4, 1))
    y = pd.Series([["a"], ["b", "a"], ["b"], []])
    with pytest.raises(ValueError, match="hierarchy must be given if X and y are dask"):
        fit_in_parts(boosting(), X, y, divide(4, 2))
    model = boosting(Hierarchy.from_labels(["a", "b"]))
    model = fit_in_parts(model, X, y, divide(4, 2))
    np.testing.assert_allclose(model.predict_proba(X), 0.5)


def test_early_stopping_and_learning_again(data):
    X, y = data.X[:150], data.y[:150]
    learning = {"learning_rate": 0.8, "max_features": 2, "min_samples_leaf": 1}
    model = boosting(data.hierarchy, max_iter=80, early_stopping=True, refit=True, **learning)
    found = fit_in_parts(model, X, y, divide(150, 3))
    assert everything(fit_in_parts(model, X, y, divide(150, 1))) == everything(found)
    assert 0 < found.n_iter_ == found.validation_score_.argmax() < 80
    again = boosting(data.hierarchy, max_iter=found.n_iter_, **learning)
    again = fit_in_parts(again, X, y, divide(150, 2))
    np.testing.assert_array_equal(again.predict_proba(X), found.predict_proba(X))


def test_the_score_is_the_loss_of_the_held_out_rows(data):
    model = boosting(data.hierarchy, max_iter=5, early_stopping=True, validation_fraction=0.5)
    found = fit_in_parts(model, data.X, data.y, divide(700, 4))
    assert len(found.validation_score_) == 6
    start = found.baseline_.astype(float)
    Y = data.y.toarray()
    losses = (np.log1p(np.exp(start)) - Y * start).sum(axis=1)
    # The mean of about half of the rows.
    assert -found.validation_score_[0] == pytest.approx(losses.mean(), rel=0.1)
    assert found.validation_score_[-1] > found.validation_score_[0]


def test_models_are_ordinary_models(data, tmp_path):
    model = fit_in_parts(boosting(data.hierarchy), data.X, data.y, divide(700, 3))
    save(model, tmp_path / "model.ramify")
    again = load(tmp_path / "model.ramify")
    np.testing.assert_array_equal(again.predict_proba(data.X), model.predict_proba(data.X))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"warm_start": True}, "warm_start must be False if X is a dask collection, got True"),
        ({"scoring": "pooled_auprc"}, "scoring must be 'loss' if X is a dask collection, got"),
        (
            {"early_stopping": True, "validation_fraction": 1e-9},
            "validation_fraction must leave rows for both training and validation, got 1e-09",
        ),
    ],
)
def test_parameters_that_are_not_supported(data, parameters, message):
    with pytest.raises(ValueError, match=message):
        fit_in_parts(boosting(data.hierarchy, **parameters), data.X, data.y, divide(700, 2))


def test_partitions_that_do_not_fit_together():
    X, y = np.zeros((6, 2)), np.eye(2, dtype=int)[[0, 1] * 3]
    with pytest.raises(ValueError, match="X has 3 rows, but y has 2"):
        fit_in_parts(boosting(), X, y[:5], [slice(0, 3), slice(3, 6)])
    with pytest.raises(ValueError, match="X has 0 rows"):
        fit_in_parts(boosting(), X[:0], y[:0], [slice(0, 0)])
    with pytest.raises(ValueError, match="sample_weight is zero for every row"):
        fit_in_parts(boosting(), X, y, divide(6, 2), np.zeros(6))
    with pytest.raises(ValueError, match=r"must be finite and non-negative, got -1\.0"):
        fit_in_parts(boosting(), X, y, divide(6, 2), -np.ones(6))


def test_a_partition_may_have_no_weight(data):
    weights = np.ones(700)
    weights[:300] = 0
    model = boosting(data.hierarchy)
    found = fit_in_parts(model, data.X, data.y, [slice(0, 200), slice(200, 700)], weights)
    alone = fit_in_parts(model, data.X, data.y, [slice(300, 700)])
    assert everything(found) == everything(alone)


def test_dask_collections_need_a_client(data):
    arrays = pytest.importorskip("dask.array")
    X = arrays.from_array(data.X, chunks=(100, -1))
    y = arrays.from_array(data.y.toarray(), chunks=(100, -1))
    with pytest.raises(ValueError, match="there is no dask client"):
        boosting(data.hierarchy).fit(X, y)
