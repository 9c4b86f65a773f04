"""The data generator: the effect of each parameter, for any seed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.neighbors import KNeighborsClassifier

from ramify.datasets import make_hierarchical_classification
from tests.support.budget import budget

seeds = st.integers(0, 2**32 - 1)
quick = budget(25)


def make(**knobs):
    return make_hierarchical_classification(**{"as_frame": False, "random_state": 0, **knobs})


def same(a, b):
    if sparse.issparse(a):
        return (a != b).nnz == 0
    return np.array_equal(a, b, equal_nan=True)


@given(seeds, st.integers(1, 40), st.integers(1, 12))
@quick
def test_shape_and_seed(seed, n_samples, n_features):
    knobs = {
        "n_samples": n_samples,
        "n_features": n_features,
        "missing_share": 0.1,
        "random_state": seed,
    }
    data, again = make(**knobs), make(**knobs)
    assert data.X.shape == (n_samples, n_features)
    assert data.y.shape == (n_samples, 30)
    assert len(data.feature_names) == n_features
    assert same(data.X, again.X)
    assert same(data.y, again.y)
    assert data.hierarchy == again.hierarchy


def test_seeds_differ():
    assert not same(make(random_state=1).X, make(random_state=2).X)


@given(seeds, st.integers(1, 6), st.integers(0, 60), st.sampled_from([0.0, 0.5, 1.0]))
@quick
def test_hierarchy_has_the_wanted_labels_and_depth(seed, depth, more, dag_share):
    hierarchy = make(
        n_samples=2,
        n_labels=depth + more,
        depth=depth,
        dag_share=dag_share,
        labels_per_row=1,
        random_state=seed,
    ).hierarchy
    assert hierarchy.n_labels == depth + more
    assert hierarchy.depth == depth
    assert hierarchy.is_tree or dag_share > 0


@given(seeds, st.integers(2, 8))
@quick
def test_no_label_has_more_children_than_branching(seed, branching):
    hierarchy = make(n_labels=14, depth=3, branching=branching, random_state=seed).hierarchy
    assert len(hierarchy.levels[0]) <= branching
    assert max(len(hierarchy.children(label)) for label in hierarchy.labels) <= branching


def test_default_branching_is_the_smallest():
    hierarchy = make(n_labels=14, depth=3).hierarchy
    assert [len(level) for level in hierarchy.levels] == [2, 4, 8]


def test_dag_share_counts_second_parents():
    hierarchy = make(n_labels=84, depth=3, dag_share=0.25).hierarchy
    several = [label for label in hierarchy.labels if len(hierarchy.parents(label)) > 1]
    assert len(several) == 0.25 * 80
    assert all(len(hierarchy.parents(label)) <= 2 for label in hierarchy.labels)


@given(seeds)
@quick
def test_one_label_per_row_is_one_path(seed):
    data = make(labels_per_row=1, random_state=seed)
    assert {len(labels) for labels in data.hierarchy.decode(data.y)} == {1}


@pytest.mark.parametrize("mean", [1.2, 2, 4.5])
def test_mean_of_labels_per_row(mean):
    data = make(n_samples=4000, labels_per_row=mean)
    counts = [len(labels) for labels in data.hierarchy.decode(data.y)]
    assert min(counts) >= 1
    assert np.mean(counts) == pytest.approx(mean, abs=0.06)


def test_labels_are_closed_leaves():
    data = make(dag_share=0.3)
    assert (data.hierarchy.close(data.y) != data.y).nnz == 0
    leaves = set(data.hierarchy.leaves)
    assert all(leaves.issuperset(labels) for labels in data.hierarchy.decode(data.y))


def top_label_accuracy(**knobs):
    data = make(n_samples=400, labels_per_row=1, **knobs)
    top = [data.hierarchy.index(label) for label in data.hierarchy.levels[0]]
    y = data.y[:, top].toarray().argmax(axis=1)
    chance = np.bincount(y).max() / y.size
    return KNeighborsClassifier(3).fit(data.X[:200], y[:200]).score(data.X[200:], y[200:]), chance


def test_signal_is_learnable_and_noise_hides_it():
    clean, chance = top_label_accuracy(noise=0.0)
    noisy, _ = top_label_accuracy(noise=20.0)
    assert clean > 0.95
    assert noisy < chance + 0.1


def test_noise_is_relative_to_a_unit_signal():
    clean, noisy = make(n_samples=3000, noise=0), make(n_samples=3000, noise=2)
    np.testing.assert_allclose(clean.X.std(axis=0), 1)
    assert np.std(noisy.X - clean.X) == pytest.approx(2, rel=0.05)


def test_rows_with_a_common_ancestor_are_closer():
    data = make(n_samples=300, n_features=40, n_labels=42, depth=2, labels_per_row=1)
    X, Y = data.X, data.y.toarray()
    distance = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    shared = Y @ Y.T  # 2: same leaf; 1: same parent only; 0: nothing in common
    means = [distance[(shared == k) & ~np.eye(300, dtype=bool)].mean() for k in (2, 1, 0)]
    assert means == sorted(means)


@given(seeds, st.sampled_from([0.2, 0.5, 0.9]))
@quick
def test_sparsity_is_the_share_of_zeros(seed, share):
    X = make(sparsity=share, random_state=seed).X
    assert sparse.issparse(X)
    assert X.format == "csr"
    assert 1 - X.nnz / np.prod(X.shape) == pytest.approx(share, abs=0.001)


@given(seeds, st.sampled_from([0.1, 0.4]), st.booleans())
@quick
def test_missing_share(seed, share, is_sparse):
    X = make(missing_share=share, sparsity=0.5 if is_sparse else 0, random_state=seed).X
    dense = X.toarray() if is_sparse else X
    assert np.isnan(dense).mean() == pytest.approx(share)


def test_nominal_features_are_categories():
    data = make(n_nominal=3, as_frame=None, missing_share=0.1)
    assert list(data.categories) == ["x17", "x18", "x19"]
    assert [str(dtype) for dtype in data.X.dtypes[-4:]] == ["float64"] + ["category"] * 3
    codes = make(n_nominal=3, missing_share=0.1)
    np.testing.assert_array_equal(data.X["x18"].cat.codes == -1, np.isnan(codes.X[:, 18]))
    assert set(np.unique(codes.X[:, 18][~np.isnan(codes.X[:, 18])])) == {0, 1, 2, 3}


def test_numeric_features_are_an_array_unless_a_frame_is_wanted():
    assert isinstance(make(as_frame=None).X, np.ndarray)
    assert list(make(as_frame=True).X.columns[:2]) == ["x0", "x1"]


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"n_samples": 0}, "n_samples must be an integer >= 1, got 0"),
        ({"n_labels": 2}, "n_labels must be at least depth=3, .*, got 2"),
        ({"branching": 2}, "branching=2 allows at most 14 labels"),
        ({"branching": 0}, "branching=0 allows at most 0 labels"),
        ({"dag_share": 1.5}, "dag_share must be at least 0 and less than 1, got 1.5"),
        ({"missing_share": 1}, "missing_share must be at least 0 and less than 1, got 1"),
        ({"sparsity": -0.1}, "sparsity must be at least 0 and less than 1, got -0.1"),
        ({"noise": -1}, "noise must be a number >= 0, got -1"),
        ({"noise": float("nan")}, "noise must be a number >= 0, got nan"),
        ({"n_nominal": 21}, "n_nominal must be from 0 to n_features=20, got 21"),
        ({"n_nominal": 1, "sparsity": 0.5}, "sparsity must be 0 .*, got 0.5 with n_nominal=1"),
        ({"sparsity": 0.5, "as_frame": True}, "as_frame must not be True .*, got sparsity=0.5"),
        ({"labels_per_row": 0.5}, "labels_per_row must be from 1 to .*, got 0.5"),
        ({"labels_per_row": 99}, "labels_per_row must be from 1 to .*, got 99"),
    ],
)
def test_errors_name_argument_value_and_remedy(knobs, message):
    with pytest.raises(ValueError, match=message):
        make(**knobs)
