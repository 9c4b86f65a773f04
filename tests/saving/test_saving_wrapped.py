"""Which estimators of scikit-learn load without trust, and what is checked of their content."""

from __future__ import annotations

import ast

import numpy as np
import pytest
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
from sklearn.preprocessing import Binarizer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

import ramify
from ramify import ModelFileError, PCTForestClassifier, PerParentClassifier
from ramify._schema import SchemaError
from ramify.saving import LoadLimits
from ramify.saving.wrapped import dump_wrapped, load_wrapped
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


def test_generators_of_random_numbers_need_trust():
    tree = LogisticRegression(random_state=np.random.default_rng(0))
    with pytest.raises(ModelFileError, match=r"not known to be safe: .*Generator"):
        load_wrapped(dump_wrapped([tree]), (), LoadLimits())


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
