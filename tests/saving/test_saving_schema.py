"""Every class in a model file has a schema, and files that do not fit it are refused."""

import dataclasses
import json
import re
import tracemalloc
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.linear_model import SGDClassifier
from sklearn.svm import SVC

import ramify
from ramify import Hierarchy, MLkNN, ModelFileError, PCTClassifier
from ramify._savable import _CLASSES
from ramify._schema import SchemaError, check_sparse, schema_of
from ramify.saving import LoadLimits
from ramify.saving.container import LimitError
from ramify.saving.hierarchies import cut_labels, whole_content
from ramify.saving.wrapped import dump_wrapped, load_wrapped
from tests.support.fuzz_models import NAMES, fuzz_model, rows
from tests.support.model_file_damage import forge, unpack
from tests.support.model_file_fields import put_together, take_apart


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.ramify"


def refit(model, path, change):
    """Save a model, change its parts, and write them with valid checksums."""
    ramify.save(model, path)
    parts = take_apart(path.read_bytes())
    change(parts)
    path.write_bytes(put_together(parts))


def root(parts):
    return parts.document["objects"][parts.document["root"]["$ref"]]


@pytest.mark.parametrize("name", [name for name in NAMES if name != "GridSearchCV"])
def test_every_fitted_attribute_is_declared_and_comes_back(name, path):
    model = fuzz_model(name)
    schema = schema_of(type(model))
    state = model._get_saved_state()
    assert set(state) <= set(schema)
    assert {key for key, kind in schema.items() if kind.required} <= set(state)
    ramify.save(model, path)
    loaded = ramify.load(path)
    X = np.nan_to_num(rows())
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    expected, found = model.predict(X), loaded.predict(X)
    assert list(found) == list(expected)


def test_every_savable_class_declares_its_attributes():
    ours = [cls for cls in _CLASSES.values() if cls.__module__.startswith("ramify.")]
    for cls in ours:
        if dataclasses.is_dataclass(cls):
            assert set(schema_of(cls)) == {field.name for field in dataclasses.fields(cls)}, cls
        elif issubclass(cls, BaseEstimator) and cls.__name__ != "ConstantClassifier":
            assert schema_of(cls), cls


@pytest.mark.parametrize(
    "model",
    [
        PCTClassifier(f_test=[0.01, 0.1], random_state=0),
        ramify.PCTForestClassifier(n_estimators=30, oob_score=True, random_state=0),
        ramify.AdaBoostMHClassifier(n_estimators=5, early_stopping=True, random_state=0),
        ramify.CalibratedHierarchicalClassifier(PCTClassifier(), method="sigmoid"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_attributes_of_other_settings_come_back(model, path):
    X = np.random.default_rng(0).normal(size=(80, 3))
    y = np.array(["a/b", "a/c", "d"])[(abs(X[:, 0]) * 2).astype(int) % 3]
    model.fit(X, y)
    ramify.save(model, path)
    loaded = ramify.load(path)
    assert set(vars(loaded)) == set(vars(model))
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


# ---- sparse matrices -----------------------------------------------------------------------


@pytest.mark.parametrize("last", [0, -1, 20, 2**40])
def test_a_sparse_matrix_that_leads_astray_is_refused(last, path):
    X = np.random.default_rng(0).normal(size=(20, 3))

    def change(parts):
        [matrix] = [entry for entry in parts.document["objects"] if entry["kind"] == "sparse"]
        _, indices, indptr = (part["$ref"] for part in matrix["parts"])
        parts.arrays[indices, ""] = np.zeros(20, "i8")
        parts.arrays[indptr, ""] = np.r_[0, np.full(19, 2**40), last].astype("i8")

    refit(MLkNN(n_neighbors=3).fit(X, [["a"], ["b"]] * 10), path, change)
    with pytest.raises(ModelFileError, match="indptr must increase from 0 to 20"):
        ramify.load(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"indices": [0, 5]}, "indices must be from 0 to 2"),
        ({"indices": [-1, 1]}, "indices must be from 0 to 2"),
        ({"indptr": [0, 2, 1]}, "indptr must increase from 0 to 2"),
        ({"indptr": [1, 1, 2]}, "indptr must increase from 0 to 2"),
        ({"indptr": [0, 2]}, "differ in length"),
        ({"data": [1.0]}, "differ in length"),
        ({"indices": [0.0, 1.0]}, "must be int32 or int64"),
        ({"indptr": [0, 2, 2], "indices": [1, 0]}, "sorted and distinct"),
        ({"indptr": [0, 2, 2], "indices": [1, 1]}, "sorted and distinct"),
    ],
)
def test_sparse_matrices_are_checked(change, message):
    matrix = sparse.csr_array(np.array([[1.0, 0, 0], [0, 1.0, 0]]))
    check_sparse(matrix, "Y_", canonical=True)
    for name, values in change.items():
        setattr(matrix, name, np.array(values))
    with pytest.raises(SchemaError, match=message):
        check_sparse(matrix, "Y_", canonical=True)


def test_a_changed_model_is_not_saved(path):
    model = MLkNN(n_neighbors=3).fit(np.nan_to_num(rows()), [["a"], ["b"]] * 12)
    model.Y_.indptr[-1] = 0
    with pytest.raises(ValueError, match=r"cannot save MLkNN: MLkNN\.Y_: indptr must increase"):
        ramify.save(model, path)
    assert not path.exists()


# ---- parameters and limits -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("n_jobs", 40_000, "n_jobs must be at least 1 and below 1025, got 40000"),
        ("n_jobs", "x", "n_jobs must be an integer, got 'x'"),
        ("hierarchy", 3, "hierarchy must be a Hierarchy, got 3"),
        ("min_samples_leaf", -3, "min_samples_leaf"),
    ],
)
def test_parameters_are_checked(name, value, message, path):
    with pytest.raises(ModelFileError, match=message):
        refit_and_load(fuzz_model("PCTClassifier, sets"), path, {name: value})


@pytest.mark.parametrize(
    ("estimators", "message"),
    [
        ("forest", "estimators must be a list of names and estimators, got 'forest'"),
        ([["forest"]], r"estimators\[0\] must be a name and an estimator"),
        ([["forest", 3]], r"estimators\[0\] must be an estimator, got 3"),
        ([["forest", "tree"]], r"estimators\[0\] must be an estimator, got 'tree'"),
    ],
)
def test_members_of_a_vote_are_checked(estimators, message, path):
    with pytest.raises(ModelFileError, match=message):
        refit_and_load(
            fuzz_model("HierarchicalVotingClassifier, sets"), path, {"estimators": estimators}
        )


def refit_and_load(model, path, given):
    refit(model, path, lambda parts: root(parts)["given"].update(given))
    return ramify.load(path)


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"max_labels": 4}, "the number of labels must be at most 4, got 5"),
        ({"max_label_characters": 4}, "length of all labels together must be at most 4, got 5"),
        ({"max_objects": 2}, "the number of objects must be at most 2, got 3"),
        ({"max_bytes": 1000}, "the size of its members must be at most 1000"),
        ({"max_json_bytes": 100}, "the size of manifest.json must be at most 100"),
        ({"max_depth": 0}, "the nesting of values must be at most 0, got 1"),
    ],
)
def test_limits_are_adjustable(limits, message, path):
    ramify.save(fuzz_model("PCTClassifier, sets"), path)
    ramify.load(path, limits=LoadLimits())
    with pytest.raises(ModelFileError, match=f"{message}.*If you trust the file") as raised:
        ramify.load(path, limits=LoadLimits(**limits))
    (name,) = limits
    larger = re.search(rf"LoadLimits\({name}=(\d+)\)", str(raised.value))
    assert larger is not None


def test_saving_says_which_limits_loading_needs(path, monkeypatch):
    small = partial(LoadLimits, max_labels=4, max_label_characters=4, max_objects=2)
    monkeypatch.setattr("ramify.saving.model.LoadLimits", small)
    with pytest.warns(UserWarning, match="is beyond the usual limits") as told:
        ramify.save(fuzz_model("PCTClassifier, sets"), path)
    needed = re.search(r"Load it with limits=.*LoadLimits\((.*)\)", str(told[0].message))
    sizes = {name: int(size) for name, size in re.findall(r"(\w+)=(\d+)", needed[1])}
    assert sizes == {
        "max_labels": 5,
        "max_label_characters": 5,
        "max_objects": sizes["max_objects"],
    }
    ramify.load(path, limits=LoadLimits(**sizes))
    with pytest.raises(ModelFileError, match="must be at most"):
        ramify.load(path)


def test_paths_are_stored_as_segments(path):
    hierarchy = Hierarchy.from_paths(["/".join(["segment"] * 600)])
    binarizer = ramify.HierarchyBinarizer(hierarchy).fit([[hierarchy.labels[-1]], []])
    ramify.save(binarizer, path)
    document = unpack(path.read_bytes())["model.json"]
    assert len(document) < 600 * 40 < len(hierarchy.to_json()) / 50
    assert ramify.load(path).hierarchy_.labels == hierarchy.labels


_SEGMENTS = st.text("ab/.>", max_size=3)
_SOME_LABELS = st.one_of(st.integers(-2, 2), _SEGMENTS, st.lists(_SEGMENTS).map("/".join))


@given(
    labels=st.lists(_SOME_LABELS, min_size=1, unique_by=lambda label: (label, type(label))),
    separator=st.sampled_from(["/", ".", ">", "//"]),
    chance=st.randoms(use_true_random=False),
)
def test_any_labels_are_restored(labels, separator, chance):
    parents = [sorted(chance.sample(range(k), chance.randint(0, min(k, 2))))
               for k in range(len(labels))]  # fmt: skip
    content = {"labels": labels, "parents": parents, "separator": separator}
    stored = json.loads(json.dumps({**content, "labels": cut_labels(content)}))
    assert whole_content(stored, LoadLimits()) == content


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([["a"], "b"], "label 0 must continue the path of its first parent"),
        ([3, ["b"]], "label 1 must continue the path"),
        (["a", ["b", "c"]], "label 1 must continue the path"),
        (["a", [7]], "label 1 must continue the path"),
        (["a", {}], "label 1 must be a text or a number"),
        ([None, "b"], "label 0 must be a text or a number"),
    ],
)
def test_labels_that_cannot_be_continued_are_refused(labels, message):
    content = {"labels": labels, "parents": [[], [0]], "separator": "/"}
    with pytest.raises(SchemaError, match=message):
        whole_content(content, LoadLimits())


def test_a_short_file_cannot_have_long_labels(path):
    n = 3000
    content = {
        "labels": ["a" * 1000, *[["b" * 1000]] * n],
        "parents": [[], *[[k] for k in range(n)]],
        "separator": "/",
    }
    tracemalloc.start()
    with pytest.raises(LimitError, match="max_label_characters=45"):
        whole_content(content, LoadLimits())
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()


def test_a_long_chain_of_labels_takes_little_memory(path, monkeypatch):
    monkeypatch.setattr("ramify.labels.graph._MAX_ANCESTORS", 1_000_000)
    chain = Hierarchy.from_edges([(i, i + 1) for i in range(25_000)])
    ramify.save(PCTClassifier(chain), path)
    loaded = ramify.load(path).hierarchy
    assert loaded == chain
    with pytest.raises(MemoryError, match="more than 1000000 ancestors together"):
        loaded.ancestor_rows  # noqa: B018


@pytest.mark.parametrize("depth", [100, 900, 200_000])
def test_deep_nesting_is_refused(depth, path):
    ramify.save(PCTClassifier(), path)
    data = path.read_bytes()
    members = unpack(data)
    document = json.loads(members["model.json"])
    document["objects"][-1]["given"]["w0"] = "DEEP"
    text = json.dumps(document).replace('"DEEP"', "[" * depth + "]" * depth)
    path.write_bytes(forge({**members, "model.json": text.encode()}, data))
    with pytest.raises(ModelFileError, match="nest"):
        ramify.load(path)


def test_a_lack_of_memory_is_told(path, monkeypatch):
    ramify.save(PCTClassifier(), path)

    def fail(text):
        raise MemoryError

    monkeypatch.setattr("ramify.saving.model.json.loads", fail)
    with pytest.raises(ModelFileError, match="needs more memory than is available"):
        ramify.load(path)


@pytest.mark.parametrize("n_categories", [2**31 - 1, 2**16 + 1, -1])
def test_numbers_of_categories_are_limited(n_categories, path):
    def change(parts):
        wanted = root(parts)["fitted"]["schema_"]["$ref"]
        schema = parts.document["objects"][wanted]
        key = schema["given"]["n_categories"]["$ref"], ""
        parts.arrays[key] = np.array([0, 0, n_categories], dtype=np.int32)

    refit(fuzz_model("GlobalNaiveBayes, sets"), path, change)
    with pytest.raises(ModelFileError, match="n_categories: elements must be at"):
        ramify.load(path)


# ---- estimators of other libraries ---------------------------------------------------------


def test_support_vector_machines_need_trust(path):
    pytest.importorskip("skops")
    X = np.nan_to_num(rows())
    model = ramify.PerNodeClassifier(SVC()).fit(X, [["a"], ["b"]] * 12)
    ramify.save(model, path)
    with pytest.raises(ModelFileError, match=r"not known to be safe: .*svm._classes.SVC"):
        ramify.load(path)
    loaded = ramify.load(path, trusted=["sklearn.svm._classes.SVC"])
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_sparse_matrices_in_wrapped_estimators_are_checked():
    pytest.importorskip("skops")
    fitted = SGDClassifier(random_state=0).fit([[0.0], [1.0], [2.0]], [0, 1, 2]).sparsify()
    data = dump_wrapped([fitted])
    trusted = [f"scipy.sparse._csr.{type(fitted.coef_).__name__}"]
    assert (load_wrapped(data, trusted, LoadLimits())[0].coef_ != fitted.coef_).nnz == 0
    fitted.coef_.indptr[1] = 2**30
    with pytest.raises(SchemaError, match="indptr must increase from 0 to 3"):
        load_wrapped(dump_wrapped([fitted]), trusted, LoadLimits())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda search: search["given"].update(refit=False), "a GridSearchCV lacks fitted"),
        (lambda search: search["fitted"].pop("cv_results_"), "a GridSearchCV lacks fitted"),
        (lambda search: search["given"].update(pre_dispatch="2*n_jobs"), "no attribute 'pre_disp"),
        (lambda search: search["given"].update(n_jobs=10**6), "GridSearchCV.n_jobs must be"),
        (lambda search: search["given"].update(estimator="x"), "must be an estimator, got 'x'"),
        (lambda search: search["fitted"].update(best_index_=-1), "best_index_ must be at least 0"),
        (lambda search: search.update({"class": "HalvingGridSearchCV"}), "unknown class 'Halving"),
    ],
)
def test_changed_searches_are_refused(change, message, path):
    refit(fuzz_model("GridSearchCV"), path, lambda parts: change(root(parts)))
    with pytest.raises(ramify.ModelFileError, match=message):
        ramify.load(path)
