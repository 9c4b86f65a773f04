"""Which estimators of scikit-learn load without trust, and what is checked of their content."""

from __future__ import annotations

import ast
import io
import json

import numpy as np
import pytest
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer, FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

import ramify
from ramify import ModelFileError, PCTForestClassifier, PerParentClassifier
from ramify._schema import SchemaError
from ramify.saving import LoadLimits
from ramify.saving.wrapped import dump_wrapped, load_wrapped
from tests.support.model_file_damage import pack, unpack
from tests.support.model_file_fields import put_together, take_apart
from tests.support.wrapped_models import labels, rows, texts

pytest.importorskip("skops")


def _saved(estimator, path):
    model = PerParentClassifier(estimator=estimator).fit(rows(), labels())
    ramify.save(model, path)
    return model


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.ramify"


@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(),
        SGDClassifier(loss="log_loss", random_state=0),
        LinearSVC(),
        GaussianNB(),
        MultinomialNB(),
        DummyClassifier(strategy="stratified", random_state=np.random.RandomState(3)),
        KNeighborsClassifier(3, algorithm="brute", metric="manhattan"),
        KNeighborsClassifier(3, algorithm="brute", p=3),
        DecisionTreeClassifier(random_state=0),
        RandomForestClassifier(n_estimators=3, random_state=np.random.RandomState(3)),
        ExtraTreesClassifier(n_estimators=3, random_state=0),
        CalibratedClassifierCV(LinearSVC(), cv=2),
        make_pipeline(StandardScaler(), LogisticRegression()),
        make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression()),
    ],
    ids=lambda one: type(one).__name__,
)
def test_common_estimators_need_no_trust(estimator, path):
    model = _saved(estimator, path)
    loaded = ramify.load(path)
    if not isinstance(estimator, DummyClassifier):  # draws at random
        np.testing.assert_array_equal(loaded.predict_proba(rows()), model.predict_proba(rows()))
    assert loaded.predict(rows()).shape == (len(rows()),)


@pytest.mark.parametrize(
    "estimator",
    [
        SVC(),
        GradientBoostingClassifier(n_estimators=2),
        HistGradientBoostingClassifier(max_iter=2),
        KNeighborsClassifier(3, algorithm="kd_tree"),
        KNeighborsClassifier(3, algorithm="brute", metric="canberra"),
        VotingClassifier([("a", GaussianNB()), ("b", LogisticRegression())]),
        make_pipeline(Binarizer(), OneHotEncoder(drop="if_binary"), LogisticRegression()),
        make_pipeline(
            FunctionTransformer(np.negative, kw_args={"casting": "same_kind"}), GaussianNB()
        ),
    ],
    ids=lambda one: type(one).__name__,
)
def test_others_load_if_the_types_of_the_message_are_trusted(estimator, path):
    model = _saved(estimator, path)
    with pytest.raises(ModelFileError, match="If you trust the source of the file") as raised:
        ramify.load(path)
    trusted = ast.literal_eval(str(raised.value).rpartition("trusted=")[2].rstrip("."))
    loaded = ramify.load(path, trusted=trusted)
    np.testing.assert_array_equal(loaded.predict(rows()), model.predict(rows()))


@pytest.mark.parametrize("categories", [[2.0, 0.0, 1.0], [np.nan, 0.0], ["b", "a"], ["a", 1, "b"]])
def test_categories_that_a_binary_search_would_miss_need_trust(categories):
    encoder = OneHotEncoder().fit(rows()[:, 2:])
    encoder.categories_ = [np.array(categories, dtype=object if "b" in categories else float)]
    encoder._n_features_outs = [len(categories)]
    with pytest.raises(ModelFileError, match="whose categories are not sorted"):
        load_wrapped(dump_wrapped([encoder]), (), LoadLimits())


@pytest.mark.parametrize("categories", [[0.0, 1.0, np.nan], ["a", "b", None]])
def test_missing_categories_are_last(categories):
    encoder = OneHotEncoder().fit(rows()[:, 2:])
    encoder.categories_ = [np.array(categories, dtype=object if "b" in categories else float)]
    (found,) = load_wrapped(dump_wrapped([encoder]), (), LoadLimits())
    np.testing.assert_array_equal(found.categories_[0], encoder.categories_[0])


def test_a_pipeline_that_would_read_pickles_when_fitted_again_needs_trust(tmp_path):
    pipeline = make_pipeline(StandardScaler(), GaussianNB(), memory=str(tmp_path))
    with pytest.raises(ModelFileError, match="a Pipeline with memory"):
        load_wrapped(dump_wrapped([pipeline]), (), LoadLimits())


def test_generators_of_random_numbers_need_trust():
    tree = LogisticRegression(random_state=np.random.default_rng(0))
    with pytest.raises(ModelFileError, match=r"not known to be safe: .*Generator"):
        load_wrapped(dump_wrapped([tree]), (), LoadLimits())


# ---- files that a hostile author has written -----------------------------------------------


def _load_changed(change, objects=(), trusted=()):
    """Load an archive of skops after a change of its schema and other members."""
    members = unpack(data := dump_wrapped(objects))
    schema = json.loads(members["schema.json"])
    change(schema, members)
    members["schema.json"] = json.dumps(schema).encode()
    return load_wrapped(pack(members, data), trusted, LoadLimits())


def _named(loader, name, content="null", **more):
    module, _, last = name.rpartition(".")
    node = {"__loader__": loader, "__module__": module, "__class__": last, "content": content}
    return {**node, **more}


def _items(*nodes):
    def change(schema, _):
        schema["content"] = list(nodes)

    return change


@pytest.mark.parametrize("protocol", [0, 1, True, 2.0, None, "2"])
def test_other_versions_of_the_format_of_skops_are_refused(protocol):
    """The first one calls what its content names, and checks another name."""
    called = {"module_path": "os", "function": "system"}
    node = _named("FunctionNode", "numpy.add", called)
    with pytest.raises(ValueError, match=r"are in version .* of the format of skops"):
        _load_changed(lambda schema, _: schema.update(protocol=protocol, content=[node]))


@pytest.mark.parametrize(
    ("loader", "name"),
    [
        ("FunctionNode", "os.system"),
        ("FunctionNode", "numpy.f2py.__main__.add"),  # importing it runs a program
        ("FunctionNode", "numpy.ma.core.add"),
        ("FunctionNode", "numpy.load"),
        ("TypeNode", "os.system"),
        ("TypeNode", "builtins.map"),
        ("TypeNode", "numpy.memmap"),
        ("ObjectNode", "subprocess.Popen"),
        ("ObjectNode", "sklearn.linear_model.tests.test_logistic.LogisticRegression"),
        ("ObjectNode", "sklearn.tree._tree.Tree"),
        ("ConstructorFromReduceNode", "sklearn.svm._classes.LinearSVC"),
        ("LossNode", "sklearn.linear_model._sgd_fast._plain_sgd64"),
        ("LossNode", "sklearn.linear_model._sgd_fast.get_type"),
        ("LossNode", "sklearn._loss._loss.__pyx_unpickle_CyHalfMultinomialLoss"),
        ("MethodNode", "sklearn.svm._classes.LinearSVC"),
        ("OperatorFuncNode", "operator.methodcaller"),
        ("PartialNode", "functools.partial"),
        ("DictNode", "builtins.list"),
        ("ListNode", "builtins.dict"),
        ("SetNode", "builtins.list"),
        ("TupleNode", "builtins.set"),
        ("DefaultDictNode", "collections.defaultdict"),
        ("NdArrayNode", "numpy.memmap"),
        ("MaskedArrayNode", "numpy.ma.MaskedArray"),
        ("DTypeNode", "numpy.float64"),
        ("RandomStateNode", "numpy.random.seed"),
        ("RandomGeneratorNode", "numpy.random._generator.Generator"),
        ("SparseMatrixNode", "scipy.sparse._csr.load_npz"),
        ("TreeNode", "sklearn.tree._tree.DepthFirstTreeBuilder"),
        ("QuantileForestNode", "quantile_forest._quantile_forest_fast.QuantileForest"),
        ("BytesNode", "builtins.bytes"),
        ("NewNode", "builtins.int"),
    ],
)
def test_only_listed_pairs_of_kind_and_name_need_no_trust(loader, name):
    """A name on a node of JSON, which skops does not check, does not make it trusted."""
    json_node = _named("JsonNode", name)
    with pytest.raises(ModelFileError, match=rf"not known to be safe: \['{name}'\]"):
        _load_changed(_items(json_node, _named(loader, name)))


def test_no_name_of_a_file_is_passed_to_skops_as_trusted(monkeypatch):
    import skops.io

    passed = []
    loads = skops.io.loads

    def spy(data, trusted):
        passed.extend(trusted)
        return loads(data, trusted=trusted)

    monkeypatch.setattr(skops.io, "loads", spy)
    nodes = [_named("JsonNode", "os.system"), _named("JsonNode", "my.own")]
    assert _load_changed(_items(*nodes), trusted=("my.model",)) == [None, None]
    assert "my.model" in passed
    assert not {"os.system", "my.own"} & set(passed)


def test_what_skops_does_not_trust_is_refused_even_if_all_nodes_are_known(monkeypatch):
    import skops.io

    monkeypatch.setattr(skops.io, "get_untrusted_types", lambda data: ["os.system"])
    with pytest.raises(ModelFileError, match=r"not known to be safe: \['os.system'\]"):
        load_wrapped(dump_wrapped([1]), (), LoadLimits())


def _bad_matrix():
    matrix = sparse.csr_array(np.eye(2))
    matrix.indptr[1] = 2**30
    return matrix


def test_sparse_matrices_are_checked_before_skops_iterates_over_them():
    """The types of the keys of a dict may be given by any object."""

    def change(schema, _):
        (node,) = schema["content"]
        values = dict.fromkeys("ab", _named("JsonNode", "builtins.str"))
        schema["content"] = [_named("DictNode", "builtins.dict", values, key_types=node)]

    with pytest.raises(SchemaError, match="a sparse matrix"):
        _load_changed(change, [_bad_matrix()])


def test_arrays_are_in_members_that_were_checked():
    def rename(schema, members):
        (node,) = schema["content"]
        members["other.bin"] = members.pop(node["file"])
        node["file"] = "other.bin"

    for value in (np.zeros(3), sparse.csr_array(np.eye(2))):
        with pytest.raises(ValueError, match=r"must be in a member \*\.np[yz], got 'other.bin'"):
            _load_changed(rename, [value])

    def rename_part(schema, members):
        name = schema["content"][0]["file"]
        parts = unpack(members[name])
        parts["data"] = parts.pop("data.npy")
        members[name] = pack(parts, members[name])

    with pytest.raises(ValueError, match="unknown part 'data'"):
        _load_changed(rename_part, [sparse.csr_array(np.eye(2))])


def test_arrays_of_objects_are_refused():
    def pickle(schema, members):
        stream = io.BytesIO()
        np.save(stream, np.array([{}], dtype=object), allow_pickle=True)
        members[schema["content"][0]["file"]] = stream.getvalue()

    with pytest.raises(ValueError, match="an array declares 8 bytes"):
        _load_changed(pickle, [np.zeros(1)])


# ---- what would make native code read or write out of bounds, or use up the memory ---------


def _fitted(estimator):
    return estimator.fit(rows(), labels())


def _neighbours():
    return _fitted(KNeighborsClassifier(3, algorithm="brute", metric="manhattan"))


def _far_random_state():
    random = np.random.RandomState(0)
    state = random.get_state(legacy=False)
    state["state"]["pos"] = 2**30
    random.set_state(state)
    return random


def _set(name, value):
    return lambda model: setattr(model, name, value)


def _set_code(model):
    model._y[4] = 2**40


def _set_node(field, value):
    def change(model):
        tree = getattr(model, "estimators_", [model])[-1].tree_
        state = tree.__getstate__()
        state["nodes"] = state["nodes"].copy()
        state["nodes"][field][0] = value
        tree.__setstate__(state)

    return change


def _set_depth(model):
    state = model.tree_.__getstate__()
    model.tree_.__setstate__({**state, "max_depth": 2**40})


TREE = "nodes of a tree"
CHANGES = [
    (_neighbours, _set_code, "codes of classes"),
    (_neighbours, _set("_y", np.zeros(2, np.intp)), "codes of classes"),
    (_neighbours, _set("n_neighbors", 2**40), "n_neighbors must be from 1"),
    (_neighbours, _set("n_features_in_", 2), "must have 3 features"),
    (_neighbours, _set("classes_", np.array(["p/q"])), "codes of classes"),
    (_neighbours, _set("n_jobs", 2**30), "n_jobs must be at most 1024"),
    (lambda: _fitted(DummyClassifier(random_state=_far_random_state())), lambda _: None,
     "a random state"),
    (lambda: _fitted(DummyClassifier()), _set("n_classes_", 2**40), "number of classes"),
    (lambda: _fitted(DummyClassifier()), _set("predict", 0), "predict must be a method"),
    (lambda: _fitted(DecisionTreeClassifier()), _set_node("feature", 2**40), "features of a tree"),
    (lambda: _fitted(DecisionTreeClassifier()), _set_node("left_child", 2**40), TREE),
    (lambda: _fitted(DecisionTreeClassifier()), _set_node("left_child", 0), TREE),
    (lambda: _fitted(DecisionTreeClassifier()), _set_node("right_child", -1), TREE),
    (lambda: _fitted(DecisionTreeClassifier()), _set("n_features_in_", 2), "must have 3 features"),
    (lambda: _fitted(DecisionTreeClassifier()), lambda m: vars(m).pop("n_features_in_"),
     "must have 3 features"),
    (lambda: _fitted(DecisionTreeClassifier()), _set_depth, "depth of a tree"),
    (lambda: _fitted(RandomForestClassifier(2)), _set_node("right_child", 2**31), TREE),
    (lambda: _fitted(RandomForestClassifier(2)), _set("n_features_in_", 2),
     "must have 3 features"),
    (lambda: TfidfVectorizer().fit(texts()), lambda m: m.vocabulary_.update(red=2**40),
     "must number its words"),
    (lambda: OneHotEncoder().fit(rows()[:, 2:]), _set("_n_features_outs", [1]),
     "columns of OneHotEncoder"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "change", "message"), CHANGES)
def test_content_that_native_code_follows_is_checked(make, change, message):
    fitted = make()
    change(fitted)
    with pytest.raises(SchemaError, match=message):
        load_wrapped(dump_wrapped([fitted]), (), LoadLimits())


def test_random_states_of_our_own_estimators_are_checked(path):
    ramify.save(PCTForestClassifier(random_state=np.random.RandomState(0)), path)
    parts = take_apart(path.read_bytes())
    (state,) = [one for one in parts.document["objects"] if one["kind"] == "random state"]
    state["position"] = 2**30
    path.write_bytes(put_together(parts))
    with pytest.raises(ModelFileError, match="the position of a random state"):
        ramify.load(path)
