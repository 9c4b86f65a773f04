"""Models that learn in part again after their taxonomy was changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import ramify
from ramify import (
    FlatClassifier,
    GlobalNaiveBayes,
    Hierarchy,
    LabelMapping,
    LinearClassifier,
    PCTClassifier,
    PCTForestClassifier,
    PCTGradientBoostingClassifier,
    PerEdgeClassifier,
    PerLevelClassifier,
    PerNodeClassifier,
    PerParentClassifier,
)
from ramify.local.problems import POLICIES
from ramify.trees.views import find_parents
from tests.reference.carrying import RowsOfNodes, relearnt_leaf

NEW = Hierarchy.from_paths(["a/x", "a/y", "b/u/1", "b/u/2", "b/v", "c/w"])
OLD = Hierarchy.from_paths(["a/x", "a/y", "b/u", "b/v", "c/z"])
MAPPING = LabelMapping(OLD, NEW, [("c/z", "c/w")])
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(160, 4))
ENDS = ["a/x", "a/y", "b/u/1", "b/u/2", "b/v", "c/w"]
PATHS = np.array([ENDS[k] for k in (3 * (X[:, 0] > 0) + (X[:, 1] > 0) + (X[:, 2] > 1))])
BACK = LabelMapping(NEW, OLD, [("c/w", "c/z"), ("b/u/1", "b/u"), ("b/u/2", "b/u")])
PATHS_BEFORE = BACK.apply(PATHS).y
SETS = [[one, other] for one, other in zip(PATHS, np.roll(PATHS, 3), strict=True)]
SETS_BEFORE = BACK.apply(SETS).y


def shape_of(tree: Any) -> list[Any]:
    return [tree.feature.tolist(), tree.threshold.tolist(), tree.child.tolist()]


@pytest.mark.parametrize("relearn", ["changed", "all"])
def test_leaves_hold_what_their_rows_and_the_old_leaves_say(relearn: str) -> None:
    old = PCTClassifier(OLD, min_samples_leaf=8, random_state=0).fit(X[:120], SETS_BEFORE[:120])
    rows, y = X[60:], SETS[60:]
    model: Any = old.with_hierarchy(NEW, MAPPING, X=rows, y=y, relearn=relearn)
    assert shape_of(model.tree_) == shape_of(old.tree_)
    carried = old.with_hierarchy(NEW, MAPPING)
    new = {"b/u/1", "b/u/2"}
    learnt = set(NEW.labels) if relearn == "all" else new
    reached = old.decision_path(rows).tolil().rows
    closed = [{x for own in labels for x in (own, *NEW.ancestors(own))} for labels in y]
    rows_at: Any = {node: [] for node in range(len(old.tree_.feature))}
    for nodes, labels in zip(reached, closed, strict=True):
        for node in nodes:
            rows_at[node].append(labels)
    parents = find_parents(old.tree_)
    for x, leaf in zip(X[:40], old.apply(X[:40]), strict=True):
        before = dict(zip(NEW.labels, carried.predict_proba([x])[0], strict=True))
        own = {label: value for label, value in before.items() if label not in new}
        node = RowsOfNodes(old.tree_, leaf, parents, rows_at)
        expected = relearnt_leaf(node, own, NEW, learnt)
        np.testing.assert_allclose(model.predict_proba([x])[0], list(expected.values()))


def test_forests_keep_what_did_not_change_and_learn_the_rest(tmp_path: Path) -> None:
    old = PCTForestClassifier(OLD, n_estimators=5, random_state=0).fit(X, PATHS_BEFORE)
    model: Any = old.with_hierarchy(NEW, MAPPING, X=X, y=PATHS)
    statuses = dict(zip(NEW.labels, model.label_status_, strict=True))
    assert {x for x, status in statuses.items() if status == "relearnt"} == {"b/u/1", "b/u/2"}
    assert (statuses["a/x"], statuses["c/w"]) == ("kept", "remapped")
    same, own = NEW.indices(["a", "a/x", "b/v"]), OLD.indices(["a", "a/x", "b/v"])
    before = old.predict_proba(X)
    np.testing.assert_array_equal(model.predict_proba(X)[:, same], before[:, own])
    assert list(map(shape_of, model.trees_)) == list(map(shape_of, old.trees_))
    assert (model.predict(X) == PATHS).mean() > 0.9
    assert model.history_[-1].relearnt == 2
    ramify.save(model, tmp_path / "model.ramify")
    loaded = ramify.load(tmp_path / "model.ramify")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded.label_status_.tolist() == model.label_status_.tolist()
    assert loaded.history_ == model.history_
    assert not hasattr(model.fit(X, PATHS), "history_")


def test_labels_without_rows_stay_unknown() -> None:
    old = PCTForestClassifier(OLD, n_estimators=3, random_state=0).fit(X, PATHS_BEFORE)
    few = PATHS != "b/u/2"
    model: Any = old.with_hierarchy(NEW, MAPPING, X=X[few], y=PATHS[few])
    assert model.label_status_[NEW.index("b/u/2")] == "unknown"
    assert not model.predict_proba(X)[:, NEW.index("b/u/2")].any()


@pytest.mark.parametrize("loss", ["logistic", "softmax"])
def test_boosting_learns_the_same_leaves_from_the_same_rows(loss: str) -> None:
    model = PCTGradientBoostingClassifier(OLD, loss=loss, max_iter=20, random_state=0)
    old = model.fit(X, PATHS_BEFORE)
    weights = np.ones(len(X))
    again: Any = old.with_hierarchy(OLD, X=X, y=PATHS_BEFORE, sample_weight=weights, relearn="all")
    np.testing.assert_allclose(again.predict_proba(X), old.predict_proba(X), atol=2e-4)
    assert set(again.label_status_) == {"relearnt"}


@pytest.mark.parametrize("class_weight", ["balanced", {"a/x": 9.0, "c/z": 0.5}])
def test_classes_have_their_weights(class_weight: Any) -> None:
    model = PCTGradientBoostingClassifier(
        OLD, loss="logistic", class_weight=class_weight, max_iter=20, random_state=0
    )
    old = model.fit(X, PATHS_BEFORE)
    again: Any = old.with_hierarchy(OLD, X=X, y=PATHS_BEFORE, relearn="all")
    np.testing.assert_allclose(again.predict_proba(X), old.predict_proba(X), atol=2e-4)
    new: Any = old.with_hierarchy(NEW, MAPPING, X=X, y=PATHS)
    renamed = class_weight if class_weight == "balanced" else {"a/x": 9.0, "c/w": 0.5}
    assert new.class_weight == renamed
    new.fit(X, PATHS)


def test_boosting_keeps_the_leaves_of_labels_that_did_not_change() -> None:
    model = PCTGradientBoostingClassifier(OLD, loss="logistic", max_iter=20, random_state=0)
    old = model.fit(X, SETS_BEFORE)
    new: Any = old.with_hierarchy(NEW, MAPPING, X=X, y=SETS)
    assert set(new.classes_[new.label_status_ == "relearnt"]) == {"b/u/1", "b/u/2"}
    labels = ["a/x", "a/y", "b/v"]
    found = new.predict_proba(X)[:, NEW.indices(labels)]
    np.testing.assert_array_equal(found, old.predict_proba(X)[:, OLD.indices(labels)])
    has_it = NEW.encode(SETS).toarray()[:, NEW.index("b/u/1")] > 0
    scores = new.predict_proba(X)[:, NEW.index("b/u/1")]
    assert scores[has_it].mean() > 1.5 * scores[~has_it].mean()


TREE = PCTClassifier(random_state=0)
LOCAL = [
    PerEdgeClassifier(TREE),
    PerParentClassifier(TREE),
    PerParentClassifier(PCTForestClassifier(n_estimators=2, random_state=0)),
    PerParentClassifier(LogisticRegression()),
    PerParentClassifier(LinearClassifier()),
    PerLevelClassifier(TREE),
    FlatClassifier(TREE),
    FlatClassifier(TREE, labels="leaves"),
    *(PerNodeClassifier(TREE, policy=policy) for policy in POLICIES),
]


@pytest.mark.parametrize("model", LOCAL, ids=repr)
def test_local_architectures_become_those_of_the_new_taxonomy(model: Any) -> None:
    old = model.fit(X, PATHS_BEFORE)
    carried: Any = old.with_hierarchy(NEW, MAPPING, X=X, y=PATHS)
    fresh = type(model)(**{**model.get_params(deep=False), "hierarchy": NEW}).fit(X, PATHS)
    np.testing.assert_allclose(carried.predict_proba(X), fresh.predict_proba(X), atol=1e-6)
    np.testing.assert_array_equal(carried.predict(X), fresh.predict(X))


def test_only_parents_that_changed_get_a_new_model() -> None:
    old = PerParentClassifier(LogisticRegression(), hierarchy=OLD).fit(X, PATHS_BEFORE)
    new: Any = old.with_hierarchy(NEW, MAPPING, X=X, y=PATHS)
    before, after = old.named_estimators_, new.named_estimators_
    assert after["a"] is before["a"]
    assert after["b"] is before["b"]
    assert after[None] is before[None]
    assert set(after) == {None, "a", "b", "b/u", "c"}
    assert new.label_status_[NEW.index("a/x")] == "kept"
    assert new.label_status_[NEW.index("b/u/1")] == "relearnt"


def test_mistakes() -> None:
    bayes = GlobalNaiveBayes(OLD).fit(X, PATHS_BEFORE)
    with pytest.raises(TypeError, match=r"X must be None for GlobalNaiveBayes"):
        bayes.with_hierarchy(NEW, MAPPING, X=X, y=PATHS)
    with pytest.raises(ValueError, match="X and y must be given together"):
        bayes.with_hierarchy(NEW, MAPPING, X=X)
    with pytest.raises(ValueError, match="relearn must be one of"):
        bayes.with_hierarchy(NEW, MAPPING, X=X, y=PATHS, relearn="some")
    clus = PCTForestClassifier(OLD, n_estimators=2, clus_compat=True).fit(X, PATHS_BEFORE)
    with pytest.raises(ValueError, match="X must be None with clus_compat=True"):
        clus.with_hierarchy(NEW, MAPPING, X=X, y=PATHS)
    with pytest.raises(ValueError, match="160"):
        clus.with_hierarchy(NEW, MAPPING, X=X, y=PATHS[:5])
    paths = PCTForestClassifier(OLD, n_estimators=2, random_state=0).fit(X, PATHS_BEFORE)
    with pytest.raises(ValueError, match="y must have one path per row, as in fit"):
        paths.with_hierarchy(NEW, MAPPING, X=X, y=SETS)
