"""Global-model naive Bayes equals scikit-learn on flat labels and a reference on hierarchies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.naive_bayes import CategoricalNB, GaussianNB

import ramify
from ramify import GlobalNaiveBayes, Hierarchy
from tests.support.budget import budget

TREE = Hierarchy.from_paths(["a/b", "a/c", "d"])
DAG = Hierarchy.from_edges([("a", "b"), ("a", "c"), ("d", "c"), ("c", "e")])


def test_flat_labels_equal_gaussian_naive_bayes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4)) * [1, 10, 0.1, 3] + [0, 100, 0, 5]
    y = rng.integers(0, 3, 80)
    X[:, 0] += y
    weights = rng.random(80) + 0.1
    ours = GlobalNaiveBayes().fit(X, y, sample_weight=weights)
    theirs = GaussianNB().fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-7)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_flat_labels_equal_categorical_naive_bayes():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 4, (60, 3)).astype(float)
    y = (X[:, 0] + rng.integers(0, 2, 60) > 2).astype(int)
    ours = GlobalNaiveBayes(categorical_features=[0, 1, 2], smoothing=0.5).fit(X, y)
    theirs = CategoricalNB(alpha=0.5).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-9)


# ---- the reference -------------------------------------------------------------------------


def posterior(X, Y, row, *, n_categories, hierarchy, candidates):
    """Compute the probability of every label for one row from the definition."""
    variances = [
        np.nanvar(X[:, f]) if n_categories[f] == 0 and (~np.isnan(X[:, f])).any() else 0.0
        for f in range(X.shape[1])
    ]
    smoothing = 1.0
    added = max(1e-9 * max(variances), 1e-300)
    groups = [np.flatnonzero(column) for column in Y.T] + [np.flatnonzero(~Y.any(axis=1))]
    children = [hierarchy.indices(hierarchy.children(label)) for label in hierarchy.labels]
    joint = []
    for label, rows in enumerate(groups):
        is_candidate = len(rows) > 0
        if label < Y.shape[1] and candidates == "specific":
            is_candidate = any(not Y[i, children[label]].any() for i in rows)
        if not is_candidate:
            joint.append(-np.inf)
            continue
        total = np.log(len(rows))
        for f, x in enumerate(row):
            values = X[rows, f][~np.isnan(X[rows, f])]
            if np.isnan(x):
                continue
            if n_categories[f]:
                count = (values == x).sum() + smoothing
                total += np.log(count / (len(values) + smoothing * n_categories[f]))
            elif len(values):
                width = values.var() + added
                total += -0.5 * (np.log(2 * np.pi * width) + (x - values.mean()) ** 2 / width)
        joint.append(total)
    ends = np.exp(np.array(joint) - max(joint))
    ends /= ends.sum()
    return np.array(
        [
            sum(ends[c] for c in [j, *hierarchy.indices(hierarchy.descendants(label))])
            for j, label in enumerate(hierarchy.labels)
        ]
    )


@budget(25)
@given(
    seed=st.integers(0, 2**32 - 1),
    hierarchy=st.sampled_from([TREE, DAG]),
    candidates=st.sampled_from(["all", "specific"]),
    missing=st.sampled_from([0.0, 0.2]),
)
def test_probabilities_equal_the_reference(seed, hierarchy, candidates, missing):
    rng = np.random.default_rng(seed)
    n_categories = [0, 3, 0]
    X = np.column_stack([rng.normal(size=15), rng.integers(0, 3, 15), rng.integers(0, 4, 15)])
    X = X.astype(float)
    X[0, 1] = 2.0
    X[1:][rng.random((14, 3)) < missing] = np.nan
    leaves = sparse.csr_array((rng.random((15, hierarchy.n_labels)) < 0.3).astype(np.int32))
    Y = hierarchy.close(leaves)
    model = GlobalNaiveBayes(hierarchy, candidates=candidates, categorical_features=[1]).fit(X, Y)
    expected = [
        posterior(
            X,
            Y.toarray() > 0,
            row,
            n_categories=n_categories,
            hierarchy=hierarchy,
            candidates=candidates,
        )
        for row in X
    ]
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-6, atol=1e-9)


# ---- layouts and errors --------------------------------------------------------------------


def thin_rows(seed, n_rows=50, n_features=8):
    """Return mostly zeros, some missing values, and features that are not thin."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)).round(1) * (rng.random((n_rows, n_features)) < 0.3)
    X[rng.random(X.shape) < 0.05] = np.nan
    X[:, 1] = rng.normal(size=n_rows) + 1e3
    X[:, 4] = 0.0
    return X, rng.choice(["a/b", "a/c", "d"], n_rows)


@budget(20)
@given(seed=st.integers(0, 2**32 - 1))
def test_sparse_and_dense_rows_give_the_same_bits(seed):
    X, y = thin_rows(seed)
    rows = sparse.csr_array(X)
    dense, thin = GlobalNaiveBayes().fit(X, y), GlobalNaiveBayes().fit(rows, y)
    for name in ("mean", "variance", "thin"):
        expected = getattr(dense.gaussians_, name)
        np.testing.assert_array_equal(getattr(thin.gaussians_, name), expected)
    expected = dense.predict_joint_log_proba(X)
    for layout in (np.asfortranarray(X), rows, rows.tocsc(), sparse.csr_matrix(X)):
        np.testing.assert_array_equal(dense.predict_joint_log_proba(layout), expected)
        np.testing.assert_array_equal(thin.predict_joint_log_proba(layout), expected)
    for row in range(5):
        alone = thin.predict_joint_log_proba(rows[[row]])
        np.testing.assert_array_equal(alone, expected[[row]])


def test_thin_features_equal_gaussian_naive_bayes():
    X, y = thin_rows(3, 200)
    X = np.nan_to_num(X)
    ours, theirs = GlobalNaiveBayes().fit(X, y), GaussianNB().fit(X, [v[-1] for v in y])
    assert ours.gaussians_.thin.tolist() == [f != 1 for f in range(8)]
    leaves = ours.hierarchy_.indices(["a/b", "a/c", "d"])
    np.testing.assert_allclose(ours.gaussians_.mean[leaves], theirs.theta_, rtol=1e-10)
    np.testing.assert_allclose(ours.gaussians_.variance[leaves], theirs.var_, rtol=1e-6)
    joint = ours.predict_joint_log_proba(X)[:, leaves] - ours.log_prior_[leaves]
    expected = theirs.predict_joint_log_proba(X) - np.log(theirs.class_prior_)
    np.testing.assert_allclose(joint, expected, rtol=1e-6)


def test_a_model_can_be_saved_after_it_has_predicted(tmp_path):
    X, y = thin_rows(9)
    model = GlobalNaiveBayes().fit(X, y)
    expected = model.predict_proba(X)
    ramify.save(model, tmp_path / "model.ramify")
    loaded = ramify.load(tmp_path / "model.ramify")
    np.testing.assert_array_equal(loaded.predict_proba(sparse.csr_array(X)), expected)


def test_stored_zeros_and_unsorted_cells_do_not_matter():
    X, y = thin_rows(5)
    rows = sparse.csr_array(X)
    expected = GlobalNaiveBayes().fit(rows, y).predict_proba(rows)
    untidy = rows.copy()
    for i in range(rows.shape[0]):
        part = slice(rows.indptr[i], rows.indptr[i + 1])
        untidy.indices[part] = rows.indices[part][::-1]
        untidy.data[part] = rows.data[part][::-1]
    untidy.has_sorted_indices = False
    zeros = sparse.csr_array((np.zeros(10), (np.arange(10), np.full(10, 4))), shape=X.shape)
    stored = sparse.csr_array(untidy + zeros)
    for given_rows in (untidy, stored):
        found = GlobalNaiveBayes().fit(given_rows, y).predict_proba(given_rows)
        np.testing.assert_array_equal(found, expected)


def test_thin_features_predict_the_same_as_others():
    X, y = thin_rows(7)
    model = GlobalNaiveBayes().fit(X, y)
    thin = model.gaussians_
    assert thin.thin.any()
    model.gaussians_ = replace(
        thin, thin=np.zeros_like(thin.thin), at_zero=np.zeros_like(thin.at_zero)
    )
    expected = model.predict_proba(X)
    model.gaussians_ = thin
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-6, atol=1e-9)


def test_unseen_categories_and_missing_values_are_ignored():
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    model = GlobalNaiveBayes(categorical_features=[0]).fit(X, ["a", "a", "a", "b"])
    np.testing.assert_allclose(model.predict_proba([[7.0], [np.nan]]), [[0.75, 0.25]] * 2)


def test_labels_without_rows_are_never_predicted():
    model = GlobalNaiveBayes(TREE).fit([[0.0], [1.0]], [["a/b"], ["d"]])
    assert model.predict_proba([[0.5]])[0, TREE.index("a/c")] == 0
    assert model.predict_joint_log_proba([[0.5]])[0, TREE.index("a/c")] == -np.inf


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        ("candidates", "leaves", "candidates must be one of.*got 'leaves'"),
        ("smoothing", -1, "smoothing must be .*, got -1"),
        ("var_smoothing", -1, "var_smoothing must be .*, got -1"),
    ],
)
def test_invalid_parameters_raise_errors(parameter, value, message):
    with pytest.raises(ValueError, match=message):
        GlobalNaiveBayes(**{parameter: value}).fit([[0.0], [1.0]], ["a", "b"])


def test_damaged_models_are_rejected(tmp_path, monkeypatch):
    model = GlobalNaiveBayes().fit([[0.0], [1.0], [2.0]], ["a", "b", "b"])
    found = model.gaussians_
    model.gaussians_ = replace(found, features=found.features + 5)
    with monkeypatch.context() as patch:  # a file written by other means
        patch.setattr("ramify.saving.kinds._check_instance", lambda *_: None)
        ramify.save(model, tmp_path / "bad")
    with pytest.raises(ramify.ModelFileError):
        ramify.load(tmp_path / "bad")
