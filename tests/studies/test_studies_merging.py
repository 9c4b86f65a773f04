"""Classes merged by level and last segment, and models of classes with several parents."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from ramify import HierarchicalAdaBoostMHClassifier, Hierarchy, fetch
from ramify.apps.studies.data import StudyData, load_data
from ramify.apps.studies.merging import BoostingAlong, merge_labels
from ramify.apps.studies.models import build, label_sets
from ramify.apps.studies.plan import ModelSpec
from ramify.studies import load_study, make_study
from tests.reference import adaboost as reference
from tests.reference.trees import Column
from tests.support.budget import budget
from tests.support.clus_data import requires_data
from tests.support.studies_cases import tables

quickly = budget(25)

CLASSES = Hierarchy.from_edges(
    [
        ("1:a", "2:x"),
        ("1:b", "2:x"),
        ("1:b", "2:y"),
        ("2:x", "3:u"),
        ("2:y", "3:u"),
        ("1:a", "3:u"),
    ]
)


def test_a_merged_row_has_one_class_per_level() -> None:
    tree = Hierarchy.from_paths(["a/x/u", "b/x", "b/y/u", "c/z"])
    y = tree.encode([["a/x/u"], ["b/x"], ["b/y/u"], ["c/z"]])
    merged, classes = merge_labels(sparse.csr_array(y), tree, np.arange(3))
    assert set(classes.labels) == {"1:a", "1:b", "2:x", "2:y", "3:u"}  # the last row has none
    assert classes.parents("3:u") == ("2:x", "2:y")
    assert [len(level) for level in classes.levels] == [2, 2, 1]
    names = np.array(classes.labels)
    rows = [sorted(names[row > 0]) for row in merged.toarray()]
    assert rows == [["1:a", "2:x", "3:u"], ["1:b", "2:x"], ["1:b", "2:y", "3:u"], []]


@requires_data
@pytest.mark.parametrize(
    ("name", "levels"),
    [("imclef07a", [8, 7, 11]), ("imclef07d", [4, 9, 9]), ("diatoms", [85, 258])],
)
def test_merged_classes_are_as_many_as_in_the_paper(name: str, levels: list[int]) -> None:
    study = load_study("chelmis2021", variant="merged")
    data = load_data(next(one for one in study.data if one.name == name))
    assert [len(level) for level in data.hierarchy.levels] == levels
    assert data.y.shape == (fetch(name).y.shape[0], sum(levels))
    assert data.y.sum(axis=1).max() <= len(levels)


@quickly
@given(
    seed=st.integers(0, 2**32 - 1),
    top_down=st.sampled_from(["best", True]),
    any_parent=st.booleans(),
    shared=st.booleans(),
)
def test_votes_that_follow_classes_equal_the_reference(
    seed: int, top_down: Any, any_parent: bool, shared: bool
) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (12, 3)).astype(float)
    Y = (rng.random((12, CLASSES.n_labels)) < 0.5).astype(np.int32)
    Y[0], Y[1] = 0, 1
    wanted = reference.Settings(
        n_rounds=4,
        shared=shared,
        costs=CLASSES.costs(),
        top_down=top_down,
        any_parent=any_parent,
        parents=[CLASSES.indices(CLASSES.parents(label)).tolist() for label in CLASSES.labels],
    )
    columns = [Column(values) for values in X.T]
    expected = reference.boost(columns, np.where(Y > 0, 1, -1), wanted)
    plain = HierarchicalAdaBoostMHClassifier(
        Hierarchy.from_labels(CLASSES.labels),
        n_estimators=4,
        top_down=top_down,
        shared_test=shared,
    )
    model = BoostingAlong.like(plain, CLASSES, any_parent=any_parent).fit(X, Y)
    np.testing.assert_allclose(
        model.edges_, [min(one.edge, 1 - 1e-10) for one in expected], rtol=1e-9, atol=1e-12
    )
    stages = reference.margins(expected, columns, wanted)
    found = list(model.staged_decision_function(X))
    np.testing.assert_allclose(found, stages if expected else [], rtol=1e-6, atol=1e-9)


def test_models_of_levels_predict_one_label_of_each() -> None:
    hierarchy = Hierarchy.from_edges([("1:a", "2:x"), ("1:b", "2:x"), ("1:b", "2:y")])
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 3, 90)
    X = np.eye(3)[kind] + rng.normal(0, 0.1, (90, 3))
    rows = [["1:a", "2:x"], ["1:b", "2:x"], ["1:b"]]  # the last have none on level 2
    Y = np.zeros((90, 4), np.int32)
    for row, number in enumerate(kind):
        Y[row, hierarchy.indices(rows[number])] = 1
    data = StudyData(X, sparse.csr_array(Y), hierarchy, None, {})
    inside = ModelSpec("", "", "sklearn.naive_bayes.GaussianNB")
    per_level = build(ModelSpec("", "", "per-level", inside=inside, labels="levels"), data, 0)
    best = build(ModelSpec("", "", "adaboost-mh", labels="best-of-levels"), data, 0)
    for model in (per_level, best):
        found = label_sets(model.fit(X, Y), X)
        assert (found.sum(axis=1) == 2).all()  # one on each level
        known = Y.sum(axis=1) == 2
        np.testing.assert_array_equal(found[known], Y[known])
        np.testing.assert_array_equal(found[:, :2], Y[:, :2])
    stages = list(best.staged_predict(X))
    np.testing.assert_array_equal(stages[-1], best.predict(X))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            {"model": "tree", "labels": "levels"},
            'must not be "levels" unless its kind is per-level',
        ),
        ({"model": "tree", "labels": "any-parent"}, "unless its kind is boosting"),
        ({"model": "per-level", "labels": "levels"}, "without inside. Add the model to fit"),
        ({"model": "tree", "labels": "level"}, "must be one of all, leaves, flat, paths"),
    ],
)
def test_labels_that_a_model_cannot_have(model: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_study(tables(models=[{"name": "one", **model}]))


def test_merged_classes_have_no_full_paths() -> None:
    data = {"name": "animals", "merged": ["all"], "full_paths": True}
    with pytest.raises(ValueError, match="has merged together with level or full_paths"):
        make_study(tables(datasets=[data]))
