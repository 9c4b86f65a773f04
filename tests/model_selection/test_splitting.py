"""Stratified splits: label proportions, label formats, agreement with the package."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import cross_val_score

from ramify.datasets import load_animals, make_hierarchical_classification
from ramify.labels import Hierarchy
from ramify.model_selection import (
    HierarchicalStratifiedKFold,
    HierarchicalStratifiedShuffleSplit,
    predefined_split,
)
from ramify.model_selection.splitting import stratify
from tests.support.budget import budget

DATA = make_hierarchical_classification(
    n_samples=300, n_labels=40, labels_per_row=2, random_state=0
)


def folds_of(splitter, y, X=None):
    n = y.shape[0] if hasattr(y, "shape") else len(y)
    folds = np.full(n, -1)
    for k, (train, test) in enumerate(splitter.split(X, y)):
        np.testing.assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(n))
        assert (folds[test] == -1).all()
        folds[test] = k
    assert (folds >= 0).all()
    return folds


def test_folds_are_even_in_rows_and_in_every_label():
    folds = folds_of(HierarchicalStratifiedKFold(5, random_state=0), DATA.y, DATA.X)
    assert np.ptp(np.bincount(folds)) <= 6
    counts = np.array([DATA.y[folds == k].sum(axis=0) for k in range(5)])
    total = counts.sum(axis=0)
    assert np.abs(counts - total / 5).max() <= 6
    random = np.random.RandomState(0).permutation(folds)
    spread = np.array([DATA.y[random == k].sum(axis=0) for k in range(5)]).std(axis=0).mean()
    assert counts.std(axis=0).mean() < spread / 2


def test_rare_flat_labels_are_spread_over_the_folds():
    y = sparse.csr_array(np.eye(12, 4, dtype=int) + np.eye(12, 4, k=-4, dtype=int))
    folds = folds_of(HierarchicalStratifiedKFold(5, random_state=1), y)
    for label in range(4):
        rows = y.toarray()[:, label].nonzero()[0]
        assert len(set(folds[rows])) == rows.size == 2


def test_ancestors_stand_in_for_rare_labels():
    # One row per leaf: stratifying by leaves would leave the inner labels to chance.
    y = [f"{inner}/{leaf}" for leaf in range(10) for inner in "abc"]
    for seed in range(10):
        folds = folds_of(HierarchicalStratifiedKFold(5, random_state=seed), y)
        for inner in "abc":
            mine = folds[[label.startswith(inner) for label in y]]
            assert np.bincount(mine).tolist() == [2] * 5


def test_rows_without_labels_are_distributed_evenly():
    y = sparse.csr_array((23, 3), dtype=int)
    assert sorted(np.bincount(folds_of(HierarchicalStratifiedKFold(5), y))) == [4, 4, 5, 5, 5]


def test_every_format_gives_the_same_folds():
    h = Hierarchy.from_paths(["a/b", "a/c", "d"])
    sets = [("a/b", "d"), ("a",), (), ("a/c",), ("d",), ("a/b",), ("a/c", "d"), ("d",)]
    Y = h.encode(sets)
    splitter = HierarchicalStratifiedKFold(2, hierarchy=h, random_state=3)
    expected = folds_of(splitter, Y)
    formats = [Y.toarray(), [set(labels) for labels in sets], ["@".join(row) for row in sets]]
    for y in [*formats, pd.Series(formats[-1])]:
        np.testing.assert_array_equal(folds_of(splitter, y), expected)


def test_hierarchy_is_inferred_from_paths():
    y = ["a/b", "a/c", "a/d", "a/e", "f", "f", "f", "f"]
    folds = folds_of(HierarchicalStratifiedKFold(4, random_state=0), y)
    # Every label below "a" occurs once, so only their parent can be stratified.
    assert sorted(folds[:4]) == [0, 1, 2, 3]


def test_seeds():
    def folds(**knobs):
        return folds_of(HierarchicalStratifiedKFold(3, **knobs), DATA.y)

    np.testing.assert_array_equal(folds(random_state=5), folds(random_state=5))
    assert (folds(random_state=5) != folds(random_state=6)).any()
    np.testing.assert_array_equal(folds(shuffle=False), folds(shuffle=False))


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 40),
    st.integers(1, 12),
    st.sampled_from([[0.5, 0.5], [1 / 3] * 3, [0.2] * 5, [0.8, 0.2]]),
)
@budget(75)
def test_parts_are_those_of_the_package(seed, n, n_labels, shares):
    package = pytest.importorskip("iterstrat.ml_stratifiers")
    random = np.random.RandomState(seed)
    Y = sparse.csr_array((random.rand(n, n_labels) < random.rand()).astype(np.int32))
    shares = np.array(shares)
    parts = stratify(Y, shares, np.random.RandomState(seed))
    dense, wanted = Y.toarray().astype(bool), shares.copy()
    twin = package.IterativeStratification(dense, wanted, np.random.RandomState(seed))
    np.testing.assert_array_equal(parts, twin)


def test_thousands_of_labels():
    data = make_hierarchical_classification(
        n_samples=3000, n_labels=4000, depth=8, labels_per_row=4, n_features=1, random_state=0
    )
    folds = folds_of(HierarchicalStratifiedKFold(random_state=0), data.y)
    assert np.ptp(np.bincount(folds)) < 20


def test_works_in_scikit_learn():
    splitter = HierarchicalStratifiedKFold(4, random_state=0)
    y = DATA.y[:, [0]].toarray().ravel().astype(str)
    assert len(cross_val_score(DummyClassifier(), DATA.X, y, cv=splitter)) == 4
    assert splitter.get_n_splits() == 4
    assert "n_splits=4" in repr(splitter)
    assert clone(splitter, safe=False).n_splits == 4


def test_shuffle_split_shares():
    splitter = HierarchicalStratifiedShuffleSplit(3, test_size=0.3, random_state=0)
    parts = list(splitter.split(DATA.X, DATA.y))
    assert splitter.get_n_splits() == len(parts) == 3
    assert any(
        (parts[0][1].size != part[1].size) or (parts[0][1] != part[1]).any() for part in parts[1:]
    )
    for train, test in parts:
        np.testing.assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(300))
        assert abs(test.size - 90) <= 3
        share = DATA.y[test].sum(axis=0) / DATA.y.sum(axis=0)
        assert np.abs(share - 0.3).max() < 0.15
    _, test = next(
        HierarchicalStratifiedShuffleSplit(1, test_size=90, random_state=0).split(None, DATA.y)
    )
    np.testing.assert_array_equal(test, parts[0][1])


def test_animals_have_both_hierarchies_in_every_fold():
    data = load_animals(as_frame=False)
    splitter = HierarchicalStratifiedKFold(3, hierarchy=data.hierarchy, random_state=0)
    folds = folds_of(splitter, data.y, data.X)
    common = np.asarray(data.y.sum(axis=0)).ravel() >= 3
    for k in range(3):
        assert (data.y[folds == k].sum(axis=0)[common] > 0).mean() > 0.98
    mammals = data.y[:, [data.hierarchy.index("taxonomy/mammal")]].toarray().ravel()
    assert np.ptp(np.bincount(folds, weights=mammals)) <= 4


SPLITS = SimpleNamespace(splits={"train": np.arange(3), "valid": np.array([3]), "test": [4, 5]})


def test_predefined_split():
    ((train, test),) = predefined_split(SPLITS)
    assert (train.tolist(), test.tolist()) == ([0, 1, 2, 3], [4, 5])
    ((train, test),) = predefined_split(SPLITS, train=["valid", "train"], test=("test",))
    assert train.tolist() == [3, 0, 1, 2]
    ((train, test),) = predefined_split(SPLITS, "train", "valid")
    assert (train.tolist(), test.tolist()) == ([0, 1, 2], [3])
    scores = cross_val_score(
        DummyClassifier(), np.zeros((6, 1)), [0, 0, 1, 0, 0, 1], cv=predefined_split(SPLITS)
    )
    assert scores.tolist() == [0.5]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: predefined_split(SPLITS, test="tset"),
            "test must name splits of the data set, .*, got 'tset'. Did you mean 'test'\\?",
        ),
        (
            lambda: predefined_split(SPLITS, train="test"),
            "train and test must not share a split, got 'test' in both",
        ),
        (
            lambda: predefined_split(SimpleNamespace(splits={"all": [0]}), test="all"),
            "train must name at least one split.*Use HierarchicalStratifiedKFold",
        ),
        (
            lambda: next(HierarchicalStratifiedKFold(1).split(None, DATA.y)),
            "n_splits must be an integer from 2 to the number of rows, which is 300, got 1",
        ),
        (
            lambda: next(HierarchicalStratifiedKFold(301).split(None, DATA.y)),
            "n_splits must be .*, got 301",
        ),
        (
            lambda: next(HierarchicalStratifiedKFold(2.0).split(None, DATA.y)),
            "n_splits must be an integer .*, got 2.0",
        ),
        (
            lambda: next(HierarchicalStratifiedKFold().split(np.zeros((3, 1)), DATA.y)),
            "X has 3 rows, but y has 300",
        ),
        (
            lambda: next(HierarchicalStratifiedShuffleSplit(test_size=1.0).split(None, DATA.y)),
            "test_size must be a fraction strictly between 0 and 1, .*, got 1.0",
        ),
        (
            lambda: next(HierarchicalStratifiedShuffleSplit(test_size=300).split(None, DATA.y)),
            "test_size must be .* a number of rows from 1 to 299, got 300",
        ),
    ],
)
def test_errors_name_argument_value_and_remedy(call, message):
    with pytest.raises(ValueError, match=message):
        call()
