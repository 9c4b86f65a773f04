"""The bundled animals data set: file, labels, both layouts, and a learnable signal."""

import copy
import csv
import pickle
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import KNeighborsClassifier

import ramify.datasets
from ramify.datasets import load_animals
from ramify.datasets.dataset import NOMINAL, NUMERIC

CSV = Path(ramify.datasets.__file__).parent / "animals.csv"


@pytest.fixture(scope="module")
def frame():
    return load_animals()


@pytest.fixture(scope="module")
def codes():
    return load_animals(as_frame=False)


def test_shapes_agree(frame, codes):
    n = len(frame.names)
    assert n >= 150
    assert frame.X.shape == codes.X.shape == (n, len(NUMERIC) + len(NOMINAL))
    assert frame.y.shape == (n, frame.hierarchy.n_labels)
    assert (frame.y != codes.y).nnz == 0
    assert list(frame.X.columns) == list(frame.feature_names)
    assert list(frame.X.index) == list(frame.names)


def test_codes_are_positions_in_categories(frame, codes):
    for j, name in enumerate(codes.feature_names):
        if name in codes.categories:
            values = [
                np.nan if np.isnan(code) else codes.categories[name][int(code)]
                for code in codes.X[:, j]
            ]
            assert frame.X[name].cat.categories.tolist() == list(codes.categories[name])
            assert pd.Series(values).equals(pd.Series(frame.X[name].tolist()))
        else:
            np.testing.assert_array_equal(frame.X[name], codes.X[:, j])


def test_labels_are_closed_and_on_both_hierarchies(frame):
    hierarchy = frame.hierarchy
    assert hierarchy.levels[0] == ("habitat", "taxonomy")
    assert hierarchy.is_tree
    assert hierarchy.depth == 4
    assert (hierarchy.close(frame.y) != frame.y).nnz == 0
    for labels in hierarchy.decode(frame.y):
        kinds = Counter(label.split("/")[0] for label in labels)
        assert kinds["taxonomy"] == 1
        assert kinds["habitat"] >= 1


def test_every_label_occurs_and_most_families_have_several_animals(frame):
    counts = np.asarray(frame.y.sum(axis=0)).ravel()
    assert counts.min() >= 1
    families = [
        count
        for label, count in zip(frame.hierarchy.labels, counts, strict=True)
        if label.startswith("taxonomy") and label.count("/") == 3
    ]
    assert np.mean(np.array(families) > 1) > 0.7


def test_known_facts(frame):
    X = frame.X
    mammals = frame.y[:, [frame.hierarchy.index("taxonomy/mammal")]].toarray().ravel() == 1
    assert set(X.loc[mammals, "blood"]) == {"warm"}
    assert set(X.loc[X["cover"] == "feathers", "legs"]) == {2}
    assert X["mass_kg"].idxmax() == "blue whale"
    assert X["speed_kmh"].idxmax() == "peregrine falcon"
    assert X.loc["platypus", "birth"] == "eggs"
    assert X.loc["desert locust", "legs"] == 6


def test_file_is_sorted_and_in_lower_case():
    rows = list(csv.DictReader(CSV.read_text(encoding="utf-8").splitlines()))
    assert rows == sorted(rows, key=lambda row: (row["taxonomy"], row["animal"]))
    assert len({row["animal"] for row in rows}) == len(rows)
    for row in rows:
        assert row["habitat"].split() == sorted(row["habitat"].split())
        assert all(value == value.strip().lower() for value in row.values())
    assert CSV.read_bytes().isascii()


def test_figures_are_positive(codes):
    numeric = codes.X[:, : len(NUMERIC)]
    assert np.nanmin(numeric) >= 0
    assert np.nanmin(numeric[:, :4]) > 0
    assert np.isnan(numeric).any()


def test_labels_are_learnable(frame):
    X = pd.get_dummies(frame.X[list(NOMINAL)]).to_numpy(float)
    classes = [label for label in frame.hierarchy.levels[1] if label.startswith("taxonomy")]
    y = frame.y[:, [frame.hierarchy.index(label) for label in classes]].toarray().argmax(axis=1)
    rows = np.random.RandomState(0).permutation(len(y))
    train, test = rows[:130], rows[130:]
    model = KNeighborsClassifier(3).fit(X[train], y[train])
    assert model.score(X[test], y[test]) > 0.7


def test_without_pandas_the_error_names_extra_and_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(
        ImportError, match=r"load_animals requires pandas.*ramify\[tables\].*as_frame=False"
    ):
        load_animals()
    assert load_animals(as_frame=False).X.dtype == np.float64


def test_description_names_every_feature(frame):
    assert all(name in frame.description for name in frame.feature_names)
    for name, values in frame.categories.items():
        assert all(value in frame.description for value in values), name


def test_pickle_and_copy(frame):
    for same in (pickle.loads(pickle.dumps(frame)), copy.deepcopy(frame)):
        assert same.X.equals(frame.X)
        assert same.hierarchy == frame.hierarchy
        assert repr(same) == repr(frame)


def test_rows_of_splits():
    codes = load_animals(as_frame=False)
    codes.splits = {"train": np.arange(100), "odd": np.array([5, 3])}
    X, _ = codes.rows("train")
    assert np.shares_memory(X, codes.X)
    X, y = codes.rows("odd", "train")
    assert X.shape[0] == y.shape[0] == 102
    np.testing.assert_array_equal(X[0], codes.X[5])
    with pytest.raises(ValueError, match=r"rows\(\) requires at least one split.*'train', 'odd'"):
        codes.rows()
