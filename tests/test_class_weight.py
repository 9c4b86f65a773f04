"""class_weight weighs rows by their class, in trees, forests, boosting and local models."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.utils.class_weight import compute_sample_weight

from ramify import (
    BinaryRelevance,
    Hierarchy,
    PCTBaggingClassifier,
    PCTClassifier,
    PCTExtraTreesClassifier,
    PCTForestClassifier,
    PCTGradientBoostingClassifier,
    PerNodeClassifier,
    PerParentClassifier,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 4)).round(1)
PLACE = np.digitize(X[:, 0] + RNG.normal(size=200), [-0.5, 1.0, 1.8])
CLASSES = np.array(["a", "b", "c", "d"])[PLACE]
PATHS = np.array(["a", "a/b", "a/c", "d"])[PLACE]
TREE = Hierarchy.from_paths(["a/b", "a/c", "d"])

# Classifiers in which a class weight is a sample weight.
MULTIPLY = [
    PCTClassifier(min_samples_leaf=4),
    PCTClassifier(min_samples_leaf=4, criterion="entropy", pruning="pessimistic"),
    PCTExtraTreesClassifier(n_estimators=4, random_state=0),
    PCTForestClassifier(n_estimators=4, bootstrap=False, random_state=0),
    PCTForestClassifier(n_estimators=4, clus_compat=True, random_state=0),
    PCTGradientBoostingClassifier(max_iter=5, random_state=0),
]
DRAW = [
    PCTForestClassifier(n_estimators=30, random_state=0),
    PCTBaggingClassifier(n_estimators=30, random_state=0),
    PCTExtraTreesClassifier(n_estimators=30, bootstrap=True, random_state=0),
]
weights_multiply = pytest.mark.parametrize("model", MULTIPLY, ids=repr)
weights_draw = pytest.mark.parametrize("model", DRAW, ids=repr)


def fitted(model, y, sample_weight=None, class_weight=None, **settings):
    settings = {"class_weight": class_weight, **settings}
    return clone(model).set_params(**settings).fit(X, y, sample_weight=sample_weight)


# ---- class weights as sample weights -------------------------------------------------------


@weights_multiply
@pytest.mark.parametrize("class_weight", ["balanced", {"a": 0.5, "d": 7}])
def test_class_weights_are_those_of_scikit_learn(model, class_weight):
    by_row = compute_sample_weight(class_weight, CLASSES)
    expected = fitted(model, CLASSES, by_row).predict_proba(X)
    plain = fitted(model, CLASSES).predict_proba(X)
    found = fitted(model, CLASSES, class_weight=class_weight).predict_proba(X)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert abs(found - plain).max() > 0.01


@weights_multiply
def test_the_factors_of_all_labels_on_a_path_are_multiplied(model):
    found = fitted(model, PATHS, class_weight={"a": 3.0, "a/b": 0.5, "d": 2.0})
    by_end = {"a": 3.0, "a/b": 1.5, "a/c": 3.0, "d": 2.0}
    expected = [by_end[path] for path in PATHS]
    scores = found.predict_proba(X)
    np.testing.assert_array_equal(scores, fitted(model, PATHS, expected).predict_proba(X))


@weights_multiply
def test_balanced_makes_the_ends_of_paths_equally_heavy(model):
    sample_weight = 1.0 + np.arange(200) % 3
    found = fitted(model, PATHS, sample_weight, class_weight="balanced").predict_proba(X)
    ends, code = np.unique(PATHS, return_inverse=True)
    total = np.bincount(code, weights=sample_weight)
    weights = sample_weight * (sample_weight.sum() / (len(ends) * total))[code]
    np.testing.assert_allclose(found, fitted(model, PATHS, weights).predict_proba(X), rtol=1e-6)


def test_one_column_of_labels_has_two_classes():
    column = (CLASSES == "d")[:, None].astype(int)
    tree = PCTClassifier(Hierarchy.from_labels(["d"]), min_samples_leaf=4)
    found = fitted(tree, column, class_weight="balanced").predict_proba(X)
    weights = compute_sample_weight("balanced", column[:, 0])
    np.testing.assert_allclose(found, fitted(tree, column, weights).predict_proba(X), rtol=1e-12)


def test_label_weights_and_class_weights_do_not_exclude_each_other():
    tree = PCTClassifier(label_weight={"b": 4.0}, min_samples_leaf=4)
    weights = compute_sample_weight("balanced", CLASSES)
    expected = fitted(tree, CLASSES, weights).predict_proba(X)
    found = fitted(tree, CLASSES, class_weight="balanced").predict_proba(X)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


# ---- class weights in samples of rows ------------------------------------------------------


@weights_draw
def test_balanced_forests_draw_all_classes_equally_often(model):
    forest = fitted(model, CLASSES, class_weight="balanced", max_depth=0)
    np.testing.assert_allclose(forest.predict_proba(X[:1]), 0.25, atol=0.02)
    ones = fitted(model, CLASSES, class_weight={"d": 0.0}, max_depth=0)
    assert ones.predict_proba(X[:1])[0, 3] == 0
    shares = np.bincount(PLACE[PLACE < 3]) / (PLACE < 3).sum()
    np.testing.assert_allclose(ones.predict_proba(X[:1])[0, :3], shares, atol=0.03)


@weights_draw
def test_rows_drawn_by_class_do_not_depend_on_threads_or_warm_starts(model):
    one = fitted(model, CLASSES, class_weight="balanced", n_jobs=1)
    expected = one.predict_proba(X)
    many = fitted(model, CLASSES, class_weight="balanced", n_jobs=3)
    np.testing.assert_array_equal(many.predict_proba(X), expected)
    grown = fitted(model, CLASSES, class_weight="balanced", n_estimators=10, warm_start=True)
    grown.set_params(n_estimators=30).fit(X, CLASSES)
    np.testing.assert_array_equal(grown.predict_proba(X), expected)


def test_out_of_bag_rows_are_those_that_were_not_drawn_by_class():
    forest = PCTForestClassifier(
        n_estimators=60, class_weight={"d": 3.0}, oob_score="subset_accuracy", random_state=0
    ).fit(X, CLASSES)
    assert forest.oob_decision_function_.shape == (200, 4)
    assert 0.3 < forest.oob_score_ < forest.score(X, CLASSES)


@pytest.mark.parametrize(
    "model",
    [
        PCTForestClassifier(n_estimators=30, min_samples_leaf=5, random_state=0),
        PCTExtraTreesClassifier(n_estimators=30, min_samples_leaf=5, random_state=0),
        PCTGradientBoostingClassifier(max_iter=50, early_stopping=False, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_more_rows_of_a_rare_class_are_found(model):
    rows, y = make_classification(
        4000, 20, n_informative=6, weights=[0.98], class_sep=0.8, flip_y=0, random_state=1
    )
    rare = y[2000:] == 1
    plain = model.set_params(class_weight=None).fit(rows[:2000], y[:2000]).predict(rows[2000:])
    model.set_params(class_weight="balanced").fit(rows[:2000], y[:2000])
    found = model.predict(rows[2000:])
    assert np.mean(found[rare]) > np.mean(plain[rare]) + 0.1


# ---- local models --------------------------------------------------------------------------


@pytest.mark.parametrize("f_test", [None, [0.05, 1.0]])
def test_local_trees_weigh_the_rows_with_and_without_their_label(f_test):
    tree = PCTClassifier(min_samples_leaf=4, f_test=f_test, random_state=0)
    labels = Hierarchy.from_labels(list("abcd"))
    local = BinaryRelevance(tree.set_params(class_weight="balanced"), hierarchy=labels)
    found = local.fit(X, [[label] for label in CLASSES]).predict_proba(X)
    for k, label in enumerate("abcd"):
        y = (label == CLASSES)[:, None].astype(int)
        alone = clone(tree).set_params(hierarchy=Hierarchy.from_labels([label]))
        expected = fitted(alone, y, class_weight="balanced").predict_proba(X)
        np.testing.assert_allclose(found[:, k], expected[:, 0], rtol=1e-9)


def test_local_models_of_siblings_weigh_their_labels():
    tree = PCTClassifier(class_weight={"a": 5.0, "d": 2.0}, min_samples_leaf=4)
    local = PerParentClassifier(tree).fit(X, CLASSES)
    expected = fitted(PCTClassifier(min_samples_leaf=4), CLASSES, class_weight={"a": 5, "d": 2})
    np.testing.assert_allclose(local.predict_proba(X), expected.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize("bootstrap", [True, False])
def test_local_forests_draw_the_rows_of_their_label(bootstrap):
    forest = PCTForestClassifier(
        n_estimators=40, max_depth=0, class_weight="balanced", bootstrap=bootstrap
    )
    local = PerNodeClassifier(forest, hierarchy=TREE, policy="all", random_state=0).fit(X, PATHS)
    for model in local.estimators_:
        np.testing.assert_allclose(model.predict_proba(X[:1]), 0.5, atol=0.03)


# ---- errors --------------------------------------------------------------------------------

SETS = [["a/b"], ["a/c", "d"]] * 100


@pytest.mark.parametrize(
    "model", [MULTIPLY[0], DRAW[0], MULTIPLY[-1]], ids=lambda model: type(model).__name__
)
@pytest.mark.parametrize("y", [SETS, TREE.encode(SETS)], ids=["sets", "matrix"])
def test_rows_with_several_labels_are_refused_with_what_works(model, y):
    message = (
        "class_weight must be None if rows may have several labels, got 'balanced'.*"
        "TunedThresholdClassifierCV.*label_weight.*one label or path per row"
    )
    with pytest.raises(ValueError, match=message):
        fitted(model, y, class_weight="balanced")


def test_local_models_of_several_labels_are_refused():
    local = PerParentClassifier(PCTClassifier(class_weight="balanced"), hierarchy=TREE)
    with pytest.raises(ValueError, match="class_weight must be None if rows may have several"):
        local.fit(X, [["a/b", "d"], ["a/c"]] * 100)


@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ("balanced_subsample", "class_weight must be 'balanced', a dict.*'balanced_subsample'"),
        ([1, 2], r"got \[1, 2\]. Pass weights of rows as sample_weight"),
        ({"a": -1.0}, "finite and non-negative numbers, got -1.0 for label 'a'"),
        ({"a": "x"}, "finite and non-negative numbers, got 'x' for label 'a'"),
        ({"z": 1.0}, "unknown label 'z'"),
        (dict.fromkeys("abcd", 0), "class_weight must be positive for a label of y"),
    ],
)
@pytest.mark.parametrize(
    "model", [MULTIPLY[0], DRAW[0], MULTIPLY[-1]], ids=lambda model: type(model).__name__
)
def test_invalid_class_weights_raise_errors(model, class_weight, message):
    with pytest.raises(ValueError, match=message):
        fitted(model, CLASSES, class_weight=class_weight)
