"""Trees and forests learn from labels that are known for some rows only."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from scipy import sparse

from ramify import (
    Hierarchy,
    PartialLabels,
    PCTBaggingClassifier,
    PCTClassifier,
    PCTExtraTreesClassifier,
    PCTForestClassifier,
)
from ramify.data.features import FeatureSchema
from ramify.labels.unknown import UnknownLabels, close_unknown
from ramify.trees.growing import grow
from ramify.trees.tree_data import LabelTargets, TreeData
from tests.reference import unknown as reference
from tests.reference.trees import Settings
from tests.support.budget import budget
from tests.support.partial_problems import PartialProblem, assert_same, partial_problems
from tests.support.tree_problems import Problem, assert_equal_trees, growth, plan_of, problems

ENSEMBLES = [PCTForestClassifier, PCTBaggingClassifier, PCTExtraTreesClassifier]


@budget(150)
@given(partial=partial_problems(), wanted=growth)
def test_trees_equal_the_reference(partial: PartialProblem, wanted: Settings) -> None:
    wanted = replace(wanted, criterion="variance")
    problem, targets = partial.problem, partial.targets
    if targets.unknown is None:
        return
    tree = grow(partial.data(targets), plan_of(wanted))
    rows = reference.Rows(partial.y, partial.hierarchy)
    expected = reference.grow(
        problem.columns,
        rows,
        wanted,
        label_weights=problem.label_weights,
        sample_weight=problem.sample_weight,
    )
    assert_same(tree, 0, expected, rows)


@budget(60)
@given(problem=problems(), wanted=growth)
def test_the_general_criterion_agrees_where_all_is_known(
    problem: Problem, wanted: Settings
) -> None:
    """Labels of which one row does not know a label of no weight give the usual tree."""
    wanted = replace(wanted, criterion="variance")
    n, n_labels = problem.Y.shape
    names = [f"n{c}" for c in range(n_labels)]
    flat = Hierarchy.from_labels([*names, "other"])
    Y = sparse.csr_array(np.column_stack([problem.Y, np.zeros(n)]).astype(np.int32))
    marked = np.zeros((n, n_labels + 1), dtype=bool)
    marked[0, -1] = True
    weights = np.append(problem.label_weights, 0.0)
    unknown = close_unknown(flat, Y, marked)
    schema = FeatureSchema(problem.n_categories, {})
    one, other = (
        grow(TreeData(problem.X, schema, targets, problem.sample_weight), plan_of(wanted))
        for targets in (
            LabelTargets(Y, weights),
            LabelTargets(Y, weights, unknown=unknown, hierarchy=flat),
        )
    )
    for name in ("feature", "threshold", "child", "value_label"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    np.testing.assert_allclose(one.value, other.value, atol=1e-12)


# ---- estimators -----------------------------------------------------------------------------


def animals(n: int = 60, seed: int = 0):
    """Return X, a hierarchy and its labels as a matrix."""
    rng = np.random.default_rng(seed)
    hierarchy = Hierarchy.from_paths(["bird/hawk", "bird/owl", "mammal/cat", "mammal/dog"])
    X = rng.normal(size=(n, 4))
    leaf = 2 * (X[:, 0] > 0) + (X[:, 1] > 0)
    names = ["bird/hawk", "bird/owl", "mammal/cat", "mammal/dog"]
    return X, hierarchy, hierarchy.encode([[names[k]] for k in leaf]).toarray()


@pytest.mark.parametrize("cls", [PCTClassifier, *ENSEMBLES])
def test_rows_that_know_nothing_are_left_out(cls: type) -> None:
    X, hierarchy, Y = animals()
    y = Y.astype(float)
    y[::3] = np.nan
    kept = np.arange(len(X)) % 3 > 0
    model = cls(hierarchy, random_state=0)
    if cls is not PCTClassifier:
        model.set_params(n_estimators=5)
    with_gaps = model.fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(with_gaps, model.fit(X[kept], Y[kept]).predict_proba(X))


@pytest.mark.parametrize("cls", [PCTClassifier, *ENSEMBLES])
def test_rows_that_know_only_what_all_rows_have_are_left_out(cls: type) -> None:
    X, _, below = animals()
    leaves = ["animal/bird/hawk", "animal/bird/owl", "animal/mammal/cat", "animal/mammal/dog"]
    hierarchy = Hierarchy.from_paths(leaves)
    y = np.column_stack([np.ones(len(X)), below])
    y[::3, 1:] = np.nan
    kept = np.arange(len(X)) % 3 > 0
    model = cls(hierarchy, random_state=0)
    if cls is not PCTClassifier:
        model.set_params(n_estimators=5)
    with_gaps = model.fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(with_gaps, model.fit(X[kept], y[kept]).predict_proba(X))


def test_no_label_is_forgotten_with_rows_that_tell_little() -> None:
    hierarchy = Hierarchy.from_labels(["cat", "dog"])
    y = np.array([[1, np.nan], [1, np.nan], [np.nan, 0], [np.nan, 1]])
    model = PCTClassifier(hierarchy).fit(np.zeros((4, 1)), y)
    np.testing.assert_allclose(model.predict_proba(np.zeros((1, 1))), [[1.0, 0.5]])


@pytest.mark.parametrize("cls", [PCTClassifier, *ENSEMBLES])
def test_a_label_unknown_everywhere_is_never_predicted(cls: type) -> None:
    X, hierarchy, Y = animals()
    y = Y.astype(float)
    owl = hierarchy.index("bird/owl")
    y[:, owl] = np.nan
    known = [c for c in range(hierarchy.n_labels) if c != owl]
    model = cls(hierarchy, random_state=0)
    if cls is not PCTClassifier:
        model.set_params(n_estimators=5)
    scores = model.fit(X, y).predict_proba(X)
    assert (scores[:, owl] == 0).all()
    # The other labels are learnt as without it.
    others = Hierarchy.from_paths(["bird/hawk", "mammal/cat", "mammal/dog"])
    model.set_params(hierarchy=others)
    np.testing.assert_allclose(
        scores[:, known], model.fit(X, Y[:, known]).predict_proba(X), atol=1e-12
    )


def test_partial_paths_do_not_lower_the_labels_below() -> None:
    """Half of the birds end at "bird": P(hawk | bird) is that of the other half."""
    hierarchy = Hierarchy.from_paths(["bird/hawk", "bird/owl", "mammal"])
    y = ["bird"] * 6 + ["bird/hawk"] * 3 + ["bird/owl"] * 3 + ["mammal"] * 4
    X = np.zeros((len(y), 1))
    scores = {}
    for ends in ("known", "unknown_below"):
        model = PCTClassifier(hierarchy).fit(X, PartialLabels(y, hierarchy, ends=ends))
        scores[ends] = model.predict_proba(X[:1])[0, hierarchy.index("bird/hawk")]
    assert scores["known"] == pytest.approx(3 / 16)
    assert scores["unknown_below"] == pytest.approx(12 / 16 / 2)


def test_leaves_that_know_nothing_of_a_label_follow_the_node_above() -> None:
    hierarchy = Hierarchy.from_paths(["bird/hawk", "bird/owl", "mammal"])
    X = np.array([[0.0]] * 4 + [[1.0]] * 4 + [[2.0]] * 4)
    y = ["bird/hawk"] * 3 + ["bird/owl"] + ["bird"] * 4 + ["mammal"] * 4
    model = PCTClassifier(hierarchy).fit(X, PartialLabels(y, hierarchy, ends="unknown_below"))
    hawk, owl = hierarchy.indices(["bird/hawk", "bird/owl"])
    scores = model.predict_proba([[1.0]])[0]
    assert scores[[hawk, owl]].tolist() == pytest.approx([0.75, 0.25])


def test_the_answers_are_paths_if_rows_that_know_all_labels_have_paths() -> None:
    X, hierarchy, Y = animals()
    y = Y.astype(float)
    y[::2, 2:] = np.where(y[::2, 2:] == 1, np.nan, y[::2, 2:])
    model = PCTForestClassifier(hierarchy, n_estimators=5, random_state=0).fit(X, y)
    assert model.row_kind_ == "path"
    assert (model.predict(X).sum(axis=1) == 2).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"criterion": "entropy"}, "criterion='entropy' requires all labels"),
        ({"smoothing": 1.0}, "smoothing requires all labels"),
        ({"oob_score": True}, "oob_score requires all labels"),
        ({"label_weight": "balanced"}, "label_weight='balanced' requires all labels"),
        ({"clus_compat": True}, "CLUS does not support it"),
    ],
)
def test_parameters_that_require_all_labels(parameters: dict, message: str) -> None:
    X, hierarchy, Y = animals()
    y = np.where(np.arange(len(X))[:, None] == 3, np.nan, Y)
    with pytest.raises(ValueError, match=rf"y must not have unknown labels, got .*: {message}"):
        PCTForestClassifier(hierarchy, n_estimators=2, **parameters).fit(X, y)


@pytest.mark.parametrize("pruning", ["pessimistic"])
def test_a_tree_that_is_pruned_requires_all_labels(pruning: str) -> None:
    X, hierarchy, Y = animals()
    with pytest.raises(ValueError, match="pruning='pessimistic' requires all labels"):
        PCTClassifier(hierarchy, pruning=pruning).fit(X, np.where(X[:, :1] > 1, np.nan, Y))


def test_threads_do_not_matter() -> None:
    X, hierarchy, Y = animals(400)
    y = np.where(np.random.default_rng(0).random(Y.shape) < 0.3, np.nan, Y)
    one, four = (PCTClassifier(hierarchy, n_jobs=k).fit(X, y).tree_ for k in (1, 4))
    assert_equal_trees(one, four)


def test_cross_validation_with_partial_labels() -> None:
    from sklearn.base import clone

    X, hierarchy, Y = animals()
    y = PartialLabels(np.where(X[:, 1:2] > 1, np.nan, Y), hierarchy)
    model = PCTForestClassifier(hierarchy, n_estimators=3, random_state=0)
    rows = np.arange(0, len(X), 2)
    whole = clone(model).fit(X[rows], y[rows]).predict_proba(X)
    array = clone(model).fit(X[rows], y.to_array()[rows]).predict_proba(X)
    np.testing.assert_array_equal(whole, array)
    assert isinstance(y.unknown, UnknownLabels)
