"""All public data sets, compared with the statistics of the manifest."""

import os
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from ramify.datasets import fetch, list_datasets
from ramify.datasets.registry import find_entry

FOLDER = os.environ.get("RAMIFY_DATA")

pytestmark = pytest.mark.skipif(
    not FOLDER or not Path(FOLDER, "MANIFEST.json").is_file(),
    reason="RAMIFY_DATA names no folder of data sets",
)

# 19,628 columns: one split is enough to test that such a file can be read.
ONE_SPLIT = {"struc_FUN": "valid"}


def missing_cells(X):
    if sparse.issparse(X):
        return int(np.isnan(X.data).sum())
    return int(np.isnan(X).sum())


@pytest.mark.parametrize("name", [data.name for data in list_datasets()])
def test_figures_are_those_of_the_manifest(name):
    entry = find_entry(name)
    data = fetch(name, as_frame=False, split=ONE_SPLIT.get(name))
    assert {split: rows.size for split, rows in data.splits.items()} == {
        file.split: file.rows for file in entry.files if file.split in data.splits
    }
    assert sparse.issparse(data.X) == entry.sparse
    assert data.X.shape[1] == len(data.feature_names) == entry.numeric + entry.nominal
    assert len(data.categories) == entry.nominal
    check_hierarchy(data.hierarchy, entry.labels)
    if name not in ONE_SPLIT:
        assert data.X.shape[0] == entry.rows
        assert missing_cells(data.X) == entry.missing_cells
        check_labels(data, entry.labels)


def check_hierarchy(hierarchy, figures):
    assert hierarchy.n_labels == figures["nodes"]
    assert len(hierarchy.leaves) == figures["leaves"]
    assert hierarchy.depth == figures["depth"]
    assert [len(level) for level in hierarchy.levels] == figures["nodes_per_level"]
    several = sum(len(hierarchy.parents(label)) > 1 for label in hierarchy.labels)
    assert several == figures["nodes_with_several_parents"]
    assert hierarchy.is_tree == (figures["hierarchy"] != "DAG")


def check_labels(data, figures):
    n, hierarchy = data.y.shape[0], data.hierarchy
    assert (hierarchy.close(data.y) != data.y).nnz == 0
    counts = np.asarray(data.y.sum(axis=0)).ravel()
    leaves = [hierarchy.index(label) for label in hierarchy.leaves]
    assert (counts > 0).sum() == figures["nodes_occurring"]
    found = {label for label, count in zip(hierarchy.labels, counts, strict=True) if count}
    lowest = sum(found.isdisjoint(hierarchy.children(label)) for label in found)
    assert lowest == figures["leaves_occurring"]
    specific = sum(len(labels) for labels in hierarchy.decode(data.y))
    for total, key in (
        (counts.sum(), "labels_per_example_with_ancestors"),
        (counts[leaves].sum(), "leaf_labels_per_example"),
        (specific, "most_specific_labels_per_example"),
    ):
        assert total / n == pytest.approx(figures[key], abs=0.00051), key


def test_splits_are_views_of_all_rows():
    data = fetch("cellcycle_FUN")
    assert np.shares_memory(data.X_train, data.X)
    X, y = data.rows("train", "valid")
    assert np.shares_memory(X, data.X)
    assert X.shape[0] == y.shape[0] == 1628 + 848
    np.testing.assert_array_equal(X[1628:], data.X_valid)


def test_nominal_features_are_categories():
    data = fetch("church_FUN")
    (nominal,) = data.categories
    assert str(data.X[nominal].dtype) == "category"
    codes = fetch("church_FUN", as_frame=False)
    at = codes.feature_names.index(nominal)
    np.testing.assert_array_equal(data.X[nominal].cat.codes, np.nan_to_num(codes.X[:, at], nan=-1))
    numeric = [name for name in data.feature_names if name != nominal]
    np.testing.assert_array_equal(data.X[numeric], np.delete(codes.X, at, axis=1))
    assert data.X_test.equals(data.X.iloc[data.splits["test"]])


def test_flat_labels_and_abundances():
    data = fetch("water_quality")
    assert data.hierarchy.depth == 1
    assert data.hierarchy.labels[:2] == ("25400", "29600")
    assert data.y[:1].toarray().sum() > 0
    assert data.feature_names[-1] == "bod"
    assert "abundance" in data.description


def test_both_forms_of_reuters_agree():
    clus, mulan = fetch("reuters", split="part1"), fetch("rcv1v2_subset1", split="part1")
    assert (clus.X != mulan.X).nnz == 0
    names = [label.rsplit("/", 1)[-1] for label in clus.hierarchy.labels]
    order = [mulan.hierarchy.index(name) for name in names]
    assert (clus.y != mulan.y[:, order]).nnz == 0


def test_sparse_data_as_a_frame():
    data = fetch("medical", as_frame=True)
    assert data.X.shape == (978, 1449)
    assert (data.X.sparse.to_coo() != fetch("medical").X).nnz == 0
