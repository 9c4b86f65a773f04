"""Paths predicted from the top down equal those from the probabilities of all labels."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from ramify import BinaryRelevance, Hierarchy, PerEdgeClassifier, PerParentClassifier
from ramify.decision import best_paths, most_probable_path
from ramify.local import walking
from tests.support.local_cases import ARCHITECTURES

DAG = Hierarchy.from_edges(
    [
        ("a", "c"),
        ("b", "c"),
        ("a", "d"),
        ("b", "e"),
        ("c", "f"),
        ("d", "f"),
        ("c", "g"),
        ("e", "g"),
    ]
)
TREE = Hierarchy.from_paths([f"{i}/{j}/{k}" for i in "abc" for j in "abc" for k in "abc"])
MODELS = [*ARCHITECTURES, BinaryRelevance()]


def rows_of(hierarchy, labels, n_rows=150):
    random = np.random.default_rng(1)
    y = random.choice(np.array(labels), n_rows)
    centres = dict(zip(hierarchy.labels, random.normal(size=(hierarchy.n_labels, 4)), strict=True))
    X = random.normal(size=(n_rows, 4)) + np.array([centres[label] for label in y])
    return np.where(np.abs(X) < 0.3, 0.0, X), y


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize(
    "estimator", [None, LogisticRegression(solver="liblinear"), DecisionTreeClassifier()], ids=str
)
@pytest.mark.parametrize("hierarchy", [TREE, DAG], ids=["tree", "DAG"])
def test_paths_are_those_of_the_probabilities(model, estimator, hierarchy):
    joint = hasattr(model, "multilabel") and not hierarchy.is_tree
    if joint and isinstance(estimator, LogisticRegression):
        pytest.skip("rows have several children of one parent")
    if hasattr(model, "multilabel") and isinstance(estimator, LogisticRegression):
        estimator = LogisticRegression()  # liblinear is faster, but for two classes only
    labels = hierarchy.labels if estimator is None else hierarchy.leaves
    X, y = rows_of(hierarchy, labels)
    model = clone(model).set_params(estimator=estimator, hierarchy=hierarchy, random_state=0)
    model.set_params(**({"multilabel": True} if joint else {}))
    X_test = rows_of(hierarchy, labels, 60)[0] + 0.1
    for given, rows in ((X, X_test), (sparse.csr_array(X), sparse.csr_array(X_test))):
        fitted = clone(model).fit(given, y)
        scores = fitted.predict_proba(rows)
        for candidates, ends in (("specific", np.isin(hierarchy.labels, y)), ("all", None)):
            for how, rule in (("jointly", best_paths), ("separately", most_probable_path)):
                expected = hierarchy.decode(rule(scores, hierarchy, ends))
                options = {"candidates": candidates, "decide": how}
                found = fitted.predict(rows, **options)
                assert found.tolist() == [end for (end,) in expected]
                alone = [fitted.predict(rows[[k]], **options)[0] for k in range(5)]
                assert alone == found[:5].tolist()


def test_blocks_of_rows_and_threads_do_not_change_paths(monkeypatch):
    X, y = rows_of(TREE, TREE.labels)
    model = PerEdgeClassifier(random_state=0).fit(X, y)
    expected = model.predict(X)
    threaded = model.set_params(n_jobs=2)
    np.testing.assert_array_equal(threaded.predict(X), expected)
    monkeypatch.setattr(walking, "_CELLS_AT_A_TIME", 7 * TREE.n_labels)
    np.testing.assert_array_equal(threaded.predict(X), expected)


def test_one_row_asks_only_the_models_on_its_path():
    asked = []

    class Watched(DecisionTreeClassifier):
        def predict_proba(self, X, check_input=True):
            asked.append(X.shape[0])
            return super().predict_proba(X, check_input)

    X, y = rows_of(TREE, TREE.leaves)
    model = PerParentClassifier(Watched()).fit(X, y)
    model.predict(X[:1])
    assert asked == [1, 1, 1]  # the root, one label of the first level, one of the second
    asked.clear()
    model.predict(X)
    assert sum(asked) == 3 * len(X)


def test_data_frames_reach_the_models_that_are_asked():
    pandas = pytest.importorskip("pandas")
    X, y = rows_of(TREE, TREE.leaves)
    frame = pandas.DataFrame(X, columns=list("pqrs"))
    model = PerParentClassifier(LogisticRegression()).fit(frame, y)
    expected = PerParentClassifier(LogisticRegression()).fit(X, y).predict(X)
    np.testing.assert_array_equal(model.predict(frame), expected)
