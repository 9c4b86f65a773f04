"""Tests of binary relevance, label powersets and ML-kNN against reference implementations."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from ramify import (
    BinaryRelevance,
    BinaryRelevancePlus,
    LabelPowerset,
    LevelPowerset,
    MLkNN,
    PCTClassifier,
    PCTForestClassifier,
    RAkEL,
)
from tests.reference import transformations as twins
from tests.support.budget import budget
from tests.support.flat_labels import make_flat
from tests.support.local_cases import is_coherent, make_data

BASES = [
    DecisionTreeClassifier(random_state=0),
    GaussianNB(var_smoothing=1e-2),
    KNeighborsClassifier(3),
]
every_base = pytest.mark.parametrize("estimator", BASES, ids=lambda e: type(e).__name__)
every_kind = pytest.mark.parametrize(
    "model",
    [
        BinaryRelevance(PCTClassifier()),
        BinaryRelevancePlus(),
        LabelPowerset(),
        RAkEL(random_state=0),
        RAkEL(random_state=0, overlapping=False, voting="soft"),
    ],
    ids=str,
)


# ---- comparison with the reference implementations -----------------------------------------


@every_base
@given(st.integers(0, 1000))
@budget(6)
def test_binary_relevance_equals_the_reference(estimator, seed):
    X, Y, rows = make_flat(seed)
    found = BinaryRelevance(estimator=estimator).fit(X, Y).predict_proba(rows)
    np.testing.assert_array_equal(found, twins.binary_relevance(estimator, X, Y, rows))


@every_base
@given(st.integers(0, 1000))
@budget(6)
def test_binary_relevance_plus_equals_the_reference(estimator, seed):
    X, Y, rows = make_flat(seed)
    found = BinaryRelevancePlus(estimator=estimator).fit(X, Y).predict_proba(rows)
    np.testing.assert_array_equal(found, twins.binary_relevance_plus(estimator, X, Y, rows))


@every_base
@given(st.integers(0, 1000))
@budget(6)
def test_label_powerset_equals_the_reference(estimator, seed):
    X, Y, rows = make_flat(seed)
    model = LabelPowerset(estimator=estimator).fit(X, Y)
    scores, sets = twins.label_powerset(estimator, X, Y, rows)
    np.testing.assert_allclose(model.predict_proba(rows), scores, atol=1e-12)
    np.testing.assert_array_equal(model.predict(rows), sets)
    assert {tuple(row) for row in sets.tolist()} <= {tuple(row) for row in Y.tolist()}


@pytest.mark.parametrize("voting", ["hard", "soft"])
@pytest.mark.parametrize("overlapping", [True, False])
@given(st.integers(0, 1000), st.integers(1, 4))
@budget(6)
def test_rakel_equals_the_reference(voting, overlapping, seed, size):
    X, Y, rows = make_flat(seed)
    base = GaussianNB(var_smoothing=1e-2)
    model = RAkEL(
        estimator=base, group_size=size, overlapping=overlapping, voting=voting, random_state=seed
    ).fit(X, Y)
    expected = twins.rakel(base, X, Y, rows, groups=model.groups_, voting=voting)
    np.testing.assert_allclose(model.predict_proba(rows), expected, atol=1e-12)
    apart = model.predict(rows, decide="separately")
    np.testing.assert_array_equal(apart, model.predict_proba(rows) >= 0.5)


def test_label_powerset_supports_more_labels_than_an_integer_has_bits():
    random = np.random.default_rng(0)
    X = random.normal(size=(30, 3))
    Y = (random.random((30, 150)) < 0.3).astype(int)
    Y[20:] = Y[:10]
    base = GaussianNB(var_smoothing=1e-2)
    model = LabelPowerset(estimator=base).fit(X, Y)
    assert model.label_sets_.shape == (20, 150)
    found = {tuple(row) for row in model.label_sets_.toarray().tolist()}
    assert found == {tuple(row) for row in Y.tolist()}
    assert {tuple(row) for row in model.predict(X).tolist()} <= found


# ---- trees of ramify -----------------------------------------------------------------------


def test_trees_of_binary_relevance_are_trees_of_single_labels():
    X, Y, rows = make_flat(1)
    model = BinaryRelevance(PCTClassifier()).fit(X, Y)
    for label in range(Y.shape[1]):
        alone = PCTClassifier().fit(X, sparse.csr_array(Y[:, [label]])).predict_proba(rows)
        np.testing.assert_array_equal(model.predict_proba(rows)[:, [label]], alone)


@pytest.mark.parametrize("criterion", ["variance", "entropy", "gain_ratio"])
def test_the_tree_of_a_label_powerset_is_a_multiclass_tree(criterion):
    X, Y, rows = make_flat(2)
    tree = PCTClassifier(criterion=criterion)
    model = LabelPowerset(estimator=tree).fit(X, Y)
    names = np.array(["".join(map(str, row[::-1])) for row in Y.tolist()])
    alone = PCTClassifier(criterion=criterion).fit(X, names)
    expected = [[int(bit) for bit in name[::-1]] for name in alone.predict(rows)]
    np.testing.assert_array_equal(model.predict(rows), expected)
    np.testing.assert_allclose(
        model._predict_local(rows, rows).T, alone.predict_proba(rows), atol=1e-12, rtol=0
    )


def test_probabilities_of_label_sets_by_a_forest_sum_to_one():
    X, Y, rows = make_flat(3)
    forest = PCTForestClassifier(n_estimators=5, random_state=0, criterion="entropy")
    found = LabelPowerset(estimator=forest, random_state=1).fit(X, Y)._predict_local(rows, rows)
    np.testing.assert_allclose(found.sum(axis=0), 1)


def test_trees_of_binary_relevance_plus_do_not_test_their_own_label():
    X, Y, _ = make_flat(4)
    model = BinaryRelevancePlus().fit(X, Y)
    for label, tree in model.named_estimators_.items():
        assert X.shape[1] + label not in tree.tree_.feature
        assert tree.n_features_in_ == X.shape[1] + Y.shape[1]
    tested = np.concatenate([tree.tree_.feature for tree in model.named_estimators_.values()])
    assert (tested >= X.shape[1]).any(), "no tree tests a label"


# ---- estimators and formats ----------------------------------------------------------------


@every_kind
@pytest.mark.parametrize(
    "estimator",
    [
        make_pipeline(StandardScaler(), LogisticRegression()),
        RandomForestClassifier(5, random_state=0),
        PCTForestClassifier(n_estimators=3, random_state=0),
    ],
    ids=["pipeline", "forest", "pct_forest"],
)
def test_any_classifier_can_be_the_estimator(model, estimator):
    X, Y, rows = make_flat(5)
    fitted = clone(model).set_params(estimator=estimator).fit(X, Y)
    scores = fitted.predict_proba(rows)
    assert scores.shape == (15, 5)
    assert (fitted.predict(X) == Y).mean() > 0.7


@every_kind
def test_sparse_rows_and_sparse_labels_give_the_same(model):
    X, Y, rows = make_flat(6)
    X[abs(X) < 0.5] = 0
    dense = clone(model).fit(X, Y)
    thin = clone(model).fit(sparse.csr_array(X), sparse.csr_array(Y))
    expected = dense.predict_proba(rows)
    np.testing.assert_array_equal(thin.predict_proba(sparse.csr_array(rows)), expected)
    predicted = thin.predict(sparse.csc_array(rows))
    assert sparse.issparse(predicted)
    np.testing.assert_array_equal(predicted.toarray(), dense.predict(rows))


@every_kind
@pytest.mark.parametrize("base", [None, GaussianNB()], ids=["tree", "bayes"])
def test_predictions_are_consistent_with_the_hierarchy(model, base):
    data = make_data()
    fitted = clone(model).set_params(hierarchy=data.hierarchy, estimator=base)
    fitted.fit(data.X, data.y)
    assert is_coherent(fitted.predict_proba(data.X), data.hierarchy)
    predicted = sparse.csr_array(fitted.predict(data.X))
    assert (data.hierarchy.close(predicted) != predicted).nnz == 0


@every_kind
def test_predictions_in_blocks_are_the_same(model, monkeypatch):
    X, Y, rows = make_flat(7)
    fitted = clone(model).fit(X, Y)
    expected = fitted.predict_proba(rows)
    monkeypatch.setattr("ramify.local.label_powerset._BLOCK", 4)
    np.testing.assert_array_equal(fitted.predict_proba(rows), expected)


# ---- groups, weights and errors ------------------------------------------------------------


def test_groups_of_labels():
    X, Y, _ = make_flat(8, n_labels=7)
    drawn = RAkEL(random_state=0, group_size=3).fit(X, Y).groups_
    assert len(drawn) == len(set(drawn)) == 14
    assert {len(group) for group in drawn} == {3}
    dealt = RAkEL(random_state=0, group_size=3, overlapping=False).fit(X, Y).groups_
    assert sorted(label for group in dealt for label in group) == list(range(7))
    assert sorted(map(len, dealt)) == [1, 3, 3]
    few = RAkEL(random_state=0, group_size=9).fit(X, Y).groups_
    assert few == [tuple(range(7))]


def test_labels_in_no_group_get_their_share_of_training_rows():
    X, Y, rows = make_flat(9, n_labels=6)
    model = RAkEL(random_state=0, n_groups=1).fit(X, Y)
    alone = [label for label in range(6) if label not in model.groups_[0]]
    expected = np.tile(Y[:, alone].mean(axis=0), (len(rows), 1))
    np.testing.assert_allclose(model.predict_proba(rows)[:, alone], expected)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"group_size": 0}, "group_size must be an integer >= 1, got 0"),
        ({"voting": "loud"}, "voting must be one of 'hard', 'soft'.*got 'loud'"),
        ({"n_groups": 3, "overlapping": False}, "n_groups must be None .* got 3. Use group_size"),
    ],
)
def test_errors_of_rakel_name_the_parameter_and_its_value(settings, message):
    with pytest.raises(ValueError, match=message):
        RAkEL(**settings).fit([[0.0], [1.0]], [[0, 1], [1, 1]])


def test_weighted_rows_are_equivalent_to_repeated_rows():
    X, Y, rows = make_flat(10)
    weights = np.random.default_rng(0).integers(0, 3, len(X))
    again = np.repeat(np.arange(len(X)), weights)
    alone = RAkEL(random_state=0, n_groups=1)  # with labels in no group
    trees = BinaryRelevance(PCTClassifier())
    for model in (trees, BinaryRelevancePlus(), LabelPowerset(), alone):
        found = clone(model).fit(X, Y, sample_weight=weights).predict_proba(rows)
        expected = clone(model).fit(X[again], Y[again]).predict_proba(rows)
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_ml_knn_does_not_support_sample_weights():
    X, Y, rows = make_flat(4)
    model = BinaryRelevance(estimator=MLkNN(n_neighbors=4)).fit(X, Y)
    together = MLkNN(n_neighbors=4).fit(X, Y)  # labels are independent of each other
    np.testing.assert_allclose(model.predict_proba(rows), together.predict_proba(rows))
    with pytest.raises(TypeError, match=r"sample_weight is given, but MLkNN.fit takes none"):
        model.fit(X, Y, sample_weight=np.ones(len(X)))


@pytest.mark.parametrize("model", [LabelPowerset(), LevelPowerset(PCTClassifier())], ids=str)
def test_one_path_per_row_is_predicted_even_if_some_training_rows_had_none(model):
    X = np.arange(12.0)[:, None]
    y = np.array([["a", "b"]] * 4 + [["c", ""]] * 4 + [["", ""]] * 4)
    found = clone(model).fit(X, y).predict(X)
    assert found[:8].tolist() == y[:8].tolist()
    assert all(row[0] in ("a", "c") for row in found[8:].tolist())


def test_label_powerset_with_a_threshold():
    X = np.zeros((10, 1))
    y = [["a"]] * 3 + [["a", "b"]] * 3 + [["b", "c"]] * 4
    model = LabelPowerset().fit(X, y)
    assert model.predict(X[:1]) == [["b", "c"]]  # the most frequent set
    assert model.predict(X[:1], threshold=0.5) == [["a", "b"]]  # probabilities 0.6, 0.7 and 0.4


@pytest.mark.parametrize("estimator", [DecisionTreeClassifier(random_state=0), PCTClassifier()])
def test_models_of_binary_relevance_plus_get_codes_of_nominal_features(estimator):
    frame = pd.DataFrame({"x": np.arange(8.0), "c": pd.Categorical(["u", "v"] * 4)})
    y = [["a", "b"] if i % 2 else ["b"] for i in range(8)]
    assert BinaryRelevancePlus(estimator=clone(estimator)).fit(frame, y).predict(frame) == y


# ---- ML-kNN --------------------------------------------------------------------------------


@given(st.integers(0, 1000), st.integers(1, 6), st.sampled_from([0.5, 1.0, 2.0]))
@budget(15)
def test_ml_knn_equals_the_reference(seed, k, s):
    X, Y, rows = make_flat(seed)
    model = MLkNN(n_neighbors=k, smoothing=s).fit(X, Y)
    np.testing.assert_allclose(
        model.predict_proba(rows), twins.ml_knn(X, Y, rows, k=k, s=s), atol=1e-12
    )


def test_ml_knn_supports_missing_values_and_nominal_features():
    random = np.random.default_rng(0)
    codes = np.repeat([0, 1, 2], 10)
    X = np.column_stack([random.normal(scale=0.1, size=30), codes])
    X[::7, 0] = np.nan
    y = [["a"] if code == 2 else ["b"] for code in codes]
    model = MLkNN(n_neighbors=3, categorical_features=[1]).fit(X, y)
    assert model.X_.shape == (30, 4)
    # As numbers, category 1 would be as near to 2 as to 0.
    assert model.predict([[0.05, 0], [0.0, 1], [np.nan, 2]]) == [["b"], ["b"], ["a"]]
    with pytest.raises(
        ValueError, match=r"Input X contains NaN, .* got dense X and metric='cityblock'"
    ):
        MLkNN(n_neighbors=2, metric="cityblock").fit(X, y)


@given(st.integers(0, 1000), st.sampled_from([0.0, 0.1, 0.5]), st.integers(1, 5))
@budget(15)
def test_ml_knn_with_missing_values_equals_the_reference(seed, share, k):
    random = np.random.default_rng(seed)
    X, Y, rows = make_flat(seed, n_rows=30)
    for part, missing in ((X, share), (rows, 0.2)):
        part[:, 1] = random.integers(0, 6, len(part))
        part[random.random(part.shape) < missing] = np.nan
    model = MLkNN(n_neighbors=k, categorical_features=[1]).fit(X, Y)
    expected = twins.ml_knn(X, Y, rows, k=k, s=1.0, nominal=[1])
    np.testing.assert_allclose(model.predict_proba(rows), expected, atol=1e-12)


def test_ml_knn_predictions_do_not_depend_on_missing_values_of_other_rows():
    random = np.random.default_rng(11)
    X = random.integers(0, 3, size=(60, 2)).astype(float)  # many rows at the same distance
    model = MLkNN(n_neighbors=3).fit(X, random.integers(0, 2, size=(60, 2)))
    rows = X[:20]
    beside = np.vstack([rows, [[np.nan, 1.0]]])
    np.testing.assert_array_equal(model.predict_proba(beside)[:20], model.predict_proba(rows))


def test_ml_knn_fitted_with_missing_values_predicts_for_sparse_rows():
    X, Y, rows = make_flat(3)
    X[::5, 0] = np.nan
    model = MLkNN(n_neighbors=3).fit(X, Y)
    found = model.predict_proba(sparse.csr_array(rows))
    np.testing.assert_array_equal(found, model.predict_proba(rows))


def test_ml_knn_with_fewer_rows_than_neighbours():
    X, Y, rows = make_flat(0, n_rows=5)
    assert MLkNN().fit(X, Y).n_neighbors_ == 4
    one = MLkNN().fit(X[:1], Y[:1])
    np.testing.assert_allclose(one.predict_proba(rows), np.tile((1 + Y[0]) / 3, (15, 1)))


def test_ml_knn_supports_sparse_rows():
    X, Y, rows = make_flat(1)
    expected = MLkNN().fit(X, Y).predict_proba(rows)
    found = MLkNN().fit(sparse.csr_array(X), Y).predict_proba(sparse.csr_array(rows))
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors must be an integer >= 1, got 0"),
        ({"smoothing": 0.0}, "smoothing must be a number.*got 0.0"),
        ({"smoothing": np.inf}, "smoothing must be a number.*got inf"),
    ],
)
def test_errors_of_ml_knn_name_the_parameter_and_its_value(settings, message):
    with pytest.raises(ValueError, match=message):
        MLkNN(**settings).fit([[0.0], [1.0]], [[0, 1], [1, 1]])


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_neighbours_of_dense_and_sparse_rows_are_the_same(layout):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 5)).round(1) * (rng.random((40, 5)) < 0.5)
    y = np.where(X[:, 0] > 0, "a/b", "c")
    expected = MLkNN(n_neighbors=5).fit(X, y).predict_proba(X)
    model = MLkNN(n_neighbors=5).fit(layout(X), y)
    for other in (np.asarray, sparse.csr_array, sparse.csc_array):
        np.testing.assert_array_equal(model.predict_proba(other(X)), expected)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_numbers_whose_distances_overflow_are_refused(layout):
    X = np.random.default_rng(0).normal(size=(20, 3))
    y = np.where(X[:, 0] > 0, "a", "b")
    with pytest.raises(ValueError, match=r"numbers in X must be between .*1e\+150.*magnitude"):
        MLkNN().fit(layout(X * 1e200), y)
    model = MLkNN().fit(layout(X), y)
    with pytest.raises(ValueError, match=r"numbers in X must be between .*1e\+150.*magnitude"):
        model.predict(layout(X * 1e200))
