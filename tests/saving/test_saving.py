"""Saving and loading: all values are restored, and files have the documented format."""

import copy
import io
import json
import os
import pickle
import socket
import zipfile

import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, RandomizedSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import ramify
from ramify import (
    FlatClassifier,
    HierarchicalStratifiedKFold,
    Hierarchy,
    HierarchyBinarizer,
    ModelFileError,
    PCTClassifier,
    PCTForestClassifier,
    PerEdgeClassifier,
    PerLevelClassifier,
    PerNodeClassifier,
    PerParentClassifier,
)
from ramify._savable import savable
from ramify.metrics import get_scorer, get_scorers, pooled_auprc
from tests.support.budget import budget


@savable
class Holder(BaseEstimator):
    """An estimator that stores any value, for tests of single values."""

    def __init__(self, content=None):
        self.content = content


def round_trip(model, path):
    ramify.save(model, path)
    return ramify.load(path)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.ramify"


@pytest.fixture
def tree():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    X[rng.random(X.shape) < 0.1] = np.nan
    y = [["a/b", "c"] if row[0] > 0 else ["a"] if row[1] > 0 else [] for row in X]
    return PCTClassifier(random_state=0).fit(X, y)


# ---- scikit-learn's tools around classifiers of ramify --------------------------------------

FLAT = ["a/b", "c", "a/d", "c"] * 10
NUMBERS = np.random.default_rng(1).normal(size=(40, 3))


@pytest.mark.parametrize(
    "search",
    [
        GridSearchCV(PCTClassifier(), {"max_depth": [1, 2]}, cv=3),
        GridSearchCV(PCTClassifier(), [{"max_depth": [1]}, {"w0": [0.5]}], scoring="accuracy"),
        GridSearchCV(
            PCTClassifier(),
            {"max_depth": [1, None]},
            scoring=get_scorer("micro_f1", labels="leaves"),
            cv=KFold(3, shuffle=True, random_state=0),
        ),
        GridSearchCV(
            make_pipeline(StandardScaler(), PCTClassifier()),
            {"pctclassifier__hierarchy": [None, Hierarchy.from_paths(FLAT)]},
            scoring=get_scorers(["micro_f1", "neg_hmc_loss"]),
            refit="micro_f1",
            cv=HierarchicalStratifiedKFold(3, random_state=0),
        ),
        GridSearchCV(
            PCTClassifier(), {"max_depth": [1]}, scoring=["accuracy", "f1_macro"], refit="accuracy"
        ),
        RandomizedSearchCV(PCTClassifier(), {"w0": [0.5, 0.7, 0.9]}, n_iter=2, random_state=0),
        make_pipeline(StandardScaler(), GridSearchCV(PCTClassifier(), {"max_depth": [1]}, cv=2)),
    ],
    ids=lambda search: type(search).__name__,
)
def test_searches_are_restored(search, path):
    assert repr(round_trip(search, path)) == repr(search)
    search = clone(search).fit(NUMBERS, FLAT)
    found = round_trip(search, path)
    np.testing.assert_array_equal(found.predict_proba(NUMBERS), search.predict_proba(NUMBERS))
    assert found.score(NUMBERS, FLAT) == search.score(NUMBERS, FLAT)
    for one, other in zip(
        *([model, getattr(model, "steps", [[0, None]])[-1][1]] for model in (found, search)),
        strict=True,
    ):
        if hasattr(other, "cv_results_"):
            assert one.best_params_ == other.best_params_
            assert one.best_score_ == other.best_score_
            assert set(one.cv_results_) == set(other.cv_results_)
            mean = next(name for name in other.cv_results_ if name.startswith("mean_test"))
            np.testing.assert_array_equal(one.cv_results_[mean], other.cv_results_[mean])
    clone(found).fit(NUMBERS, FLAT)


def test_what_a_search_cannot_save_is_named(path):
    search = GridSearchCV(PCTClassifier(), {"max_depth": [1]}, scoring=lambda *data: 0.0)
    with pytest.raises(TypeError, match=r"cannot save GridSearchCV.scoring of type"):
        ramify.save(search, path)


@pytest.mark.parametrize(
    "transformer",
    [
        OneHotEncoder(),
        SimpleImputer(strategy="most_frequent"),
        make_column_transformer((OneHotEncoder(), ["w"]), (SimpleImputer(), ["x"])),
        make_column_transformer(
            (
                make_pipeline(SimpleImputer(), SelectKBest(f_classif, k=1)),
                make_column_selector(dtype_include="number"),
            ),
            (OneHotEncoder(), make_column_selector(dtype_exclude="number")),
        ),
    ],
    ids=["one hot", "imputer", "columns", "selected columns"],
)
def test_pipelines_with_common_transformers_need_no_trust(transformer, path):
    X = pd.DataFrame({"w": ["u", "v", "w", "v"] * 10, "x": np.arange(40.0)})
    model = make_pipeline(transformer, PCTClassifier())
    if isinstance(transformer, SimpleImputer):
        X = X[["x"]]
    model.fit(X, FLAT)
    np.testing.assert_array_equal(round_trip(model, path).predict(X), model.predict(X))


plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
values = st.recursive(
    plain,
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text() | st.integers(), inner)
    ),
    max_leaves=10,
)


@given(value=values)
@budget(30)
def test_values_are_restored(value, tmp_path_factory):
    path = tmp_path_factory.mktemp("values") / "model.ramify"
    found = round_trip(Holder(value), path).content
    assert repr(found) == repr(value)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3),
        np.asfortranarray(np.arange(6, dtype=np.int32).reshape(2, 3)),
        np.arange(12)[::3],
        np.zeros((0, 3)),
        np.array(5, dtype=np.uint8),
        np.array([True, False]),
        np.array(["ä", "", "long one"]),
        np.array([], dtype="U0"),
        np.array([b"x", b"yy"]),
        np.arange(3, dtype=">f8"),
        np.array([np.nan, np.inf, -0.0], dtype=np.float32),
        np.array([1, "two", None, (3, 4)], dtype=object),
    ],
    ids=lambda array: f"{array.dtype}{array.shape}",
)
def test_arrays_are_restored(array, path):
    found = round_trip(Holder([array]), path).content[0]
    assert found.shape == array.shape
    assert found.dtype.kind == array.dtype.kind
    assert found.dtype.isnative
    np.testing.assert_array_equal(found, array)
    if array.ndim == 2 and array.size:
        assert found.flags.f_contiguous == array.flags.f_contiguous
    assert found.flags.writeable


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_matrix])
def test_sparse_matrices_are_restored(kind, path):
    matrix = kind(np.array([[0.0, 1.5], [2.0, 0.0]]))
    found = round_trip(Holder(matrix), path).content
    assert type(found) is kind
    assert (found != matrix).nnz == 0


def test_shared_objects_stay_shared(path):
    array = np.arange(3)
    first, second = round_trip(Holder([array, array]), path).content
    assert first is second


def test_scalars_sets_measures_and_random_states_are_restored(path):
    random = np.random.RandomState(3)
    random.normal()
    content = [np.float32(1.5), {"b", "a"}, frozenset({1}), pooled_auprc, random]
    found = round_trip(Holder(content), path).content
    assert type(found[0]) is np.float32
    assert found[:4] == content[:4]
    np.testing.assert_array_equal(found[4].normal(size=700), random.normal(size=700))


def test_hierarchies_are_restored(path):
    dag = Hierarchy.from_edges([("a", "c"), ("b", "c"), ("c", "ü")])
    assert round_trip(Holder(dag), path).content == dag


@pytest.mark.parametrize(
    "y",
    [
        np.array([0, 1, 1, 2]),
        np.array([1.0, 2.0, 2.0, 1.0]),
        ["a/b", "a/c", "d", "d"],
        ["a/b@d", "a/c", "d", ""],
        [{"a"}, {"b"}, set(), {"a", "b"}],
        [["a", "b"], ["a"], [], ["d"]],
        np.array([["a", "b"], ["a", "c"], ["d", ""], ["d", ""]], dtype=object),
        np.array([[1, 0], [1, 1], [0, 0], [1, 1]]),
        sparse.csr_matrix([[1, 0], [1, 1], [0, 0], [1, 1]]),
    ],
    ids=["ints", "floats", "paths", "joined", "sets", "lists", "levels", "matrix", "sparse"],
)
def test_predictions_keep_the_format_of_y(y, path):
    X = np.arange(4.0)[:, None]
    model = PCTClassifier().fit(X, y)
    loaded = round_trip(model, path)
    expected, found = model.predict(X), loaded.predict(X)
    assert type(found) is type(expected)
    if sparse.issparse(expected):
        expected, found = expected.toarray(), found.toarray()
    if isinstance(expected, list):
        assert found == expected
    else:
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(loaded.classes_, model.classes_)
    assert loaded.classes_.dtype == model.classes_.dtype
    assert loaded.hierarchy_ == model.hierarchy_


@pytest.mark.parametrize(
    "keep",
    [
        round_trip,
        lambda model, path: pickle.loads(pickle.dumps(model)),
        lambda model, path: (joblib.dump(model, path), joblib.load(path))[1],
        lambda model, path: copy.deepcopy(model),
    ],
    ids=["save", "pickle", "joblib", "deepcopy"],
)
def test_all_serializations_give_the_same_model(keep, tree, path):
    kept = keep(tree, path)
    X = np.random.default_rng(1).normal(size=(200, 4))
    np.testing.assert_array_equal(kept.predict_proba(X), tree.predict_proba(X))
    assert kept.get_params() == tree.get_params()
    assert set(vars(kept)) == set(vars(tree))
    refitted = clone(kept).fit(X, tree.predict(X))
    expected = clone(tree).fit(X, tree.predict(X))
    np.testing.assert_array_equal(refitted.predict_proba(X), expected.predict_proba(X))


def test_nominal_columns_are_restored(path):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "colour": list("rgrg")})
    model = PCTClassifier().fit(X, ["a", "b", "a", "c"])
    loaded = round_trip(model, path)
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(loaded.feature_names_in_, model.feature_names_in_)
    with pytest.raises(ValueError, match="feature names should match"):
        loaded.predict(X.rename(columns={"size": "weight"}))


def test_an_unfitted_model_stays_unfitted(path):
    loaded = round_trip(PCTClassifier(max_depth=3), path)
    assert loaded.max_depth == 3
    assert not hasattr(loaded, "tree_")


def test_a_transformer_is_restored(path):
    binarizer = HierarchyBinarizer(sparse_output=False).fit([["a/b"], ["c"]])
    loaded = round_trip(binarizer, path)
    np.testing.assert_array_equal(loaded.transform([["a/b"]]), [[1, 1, 0]])


def test_a_pipeline_with_wrapped_steps_is_restored(tree, path):
    pytest.importorskip("skops")
    X = np.random.default_rng(1).normal(size=(40, 4))
    model = make_pipeline(StandardScaler(), PCTClassifier()).fit(X, X[:, 0] > 0)
    loaded = round_trip(model, path)
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize(
    "model",
    [
        PerNodeClassifier(estimator=LogisticRegression()),
        PerEdgeClassifier(estimator=PCTForestClassifier(n_estimators=3, random_state=0)),
        PerParentClassifier(estimator=make_pipeline(StandardScaler(), GaussianNB())),
        FlatClassifier(estimator=PerLevelClassifier()),
    ],
    ids=lambda model: type(model.estimator).__name__,
)
def test_local_architectures_and_their_estimators_are_restored(model, path):
    pytest.importorskip("skops")
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 4))
    y = np.array(["a/b", "a/c", "d"])[(abs(X[:, 0]) * 2).astype(int) % 3]
    model = clone(model).fit(X, y)
    loaded = round_trip(model, path)
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert list(loaded.named_estimators_) == list(model.named_estimators_)


def test_a_loaded_forest_can_grow_more_trees(path):
    X = np.random.default_rng(1).normal(size=(60, 4))
    y = X[:, 0] > 0
    whole = PCTForestClassifier(n_estimators=6, random_state=5).fit(X, y)
    half = PCTForestClassifier(n_estimators=3, random_state=5, warm_start=True).fit(X, y)
    grown = round_trip(half, path).set_params(n_estimators=6).fit(X, y)
    np.testing.assert_array_equal(grown.predict_proba(X), whole.predict_proba(X))


def test_wrapped_estimators_of_unknown_types_require_trust(path):
    pytest.importorskip("skops")
    ramify.save(Holder(LogisticRegression(C=Stranger(2.0))), path)
    with pytest.raises(ModelFileError, match=r"not known to be safe.*Stranger") as raised:
        ramify.load(path)
    assert "trusted=" in str(raised.value)
    name = f"{Stranger.__module__}.{Stranger.__qualname__}"
    assert ramify.load(path, trusted=[name]).content.C.value == 2.0


class Stranger:
    """A type that skops does not consider safe."""

    def __init__(self, value):
        self.value = value


def test_wrapped_estimators_are_written_once(path):
    pytest.importorskip("skops")
    shared = LogisticRegression()
    first, second = round_trip(Holder([shared, shared]), path).content
    assert first is second


def test_unsupported_objects_are_named(tree, path):
    with pytest.raises(TypeError, match=r"cannot save .*Holder.content\[1\].*of type .*function"):
        ramify.save(Holder([1, lambda: 0]), path)
    assert not path.exists()
    with pytest.raises(
        TypeError, match="model must be an estimator of ramify or a pipeline, got dict"
    ):
        ramify.save({}, path)


def test_an_object_that_contains_itself_is_refused(path):
    holder = Holder()
    holder.content = holder
    with pytest.raises(ValueError, match="contains itself"):
        ramify.save(holder, path)


def test_a_failed_save_leaves_the_old_file(tree, path):
    ramify.save(tree, path)
    before = path.read_bytes()
    with pytest.raises(TypeError, match="cannot save"):
        ramify.save(Holder(object()), path)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_saving_removes_what_a_killed_process_has_left(tree, path):
    host, dead, alive = socket.gethostname().replace(".", "_")[:40], 2**22 + 1, os.getpid()
    left = path.with_name(f".{path.name}.{host}-{dead}-01234567.part")
    kept = [
        path.with_name(f".other.{host}-{dead}-01234567.part"),
        path.with_name(f".{path.name}.{host}-{alive}-01234567.part"),
        path.with_name(f".{path.name}.elsewhere-{dead}-01234567.part"),
    ]
    for part in (left, *kept):
        part.touch()
    ramify.save(tree, path)
    assert not left.exists()
    assert all(part.exists() for part in kept)


def test_the_same_model_gives_the_same_bytes(tree, path, tmp_path):
    ramify.save(tree, path)
    ramify.save(copy.deepcopy(tree), tmp_path / "again")
    assert path.read_bytes() == (tmp_path / "again").read_bytes()


def test_the_file_is_a_zip_of_json_and_arrays(tree, path):
    ramify.save(tree, path)
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        manifest = json.loads(archive.read("manifest.json"))
        thresholds = np.load(io.BytesIO(archive.read("trees/threshold.npy")), allow_pickle=False)
    assert manifest["format"] == "ramify.model"
    assert all(name.endswith((".json", ".npy")) for name in names)
    is_test = tree.tree_.feature >= 0
    np.testing.assert_array_equal(thresholds, tree.tree_.threshold[is_test])


def test_data_that_compress_too_well_are_stored(path, monkeypatch):
    zeros = np.zeros(100_000)
    ramify.save(Holder(zeros), path)
    assert path.stat().st_size < zeros.nbytes / 100
    monkeypatch.setattr("ramify.saving.container._FREE_TOTAL", 1 << 16)
    with pytest.raises(ModelFileError, match="its members declare 80"):
        ramify.load(path)
    assert (round_trip(Holder(zeros), path).content == 0).all()
    assert path.stat().st_size > zeros.nbytes


def test_missing_files_raise_file_not_found(path):
    with pytest.raises(FileNotFoundError):
        ramify.load(path)
