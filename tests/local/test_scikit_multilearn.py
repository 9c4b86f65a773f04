"""Comparison with scikit-multilearn-ng, if it is installed.

Differences on purpose: its ML-kNN counts a training row among its own neighbours, or else skips
the nearest neighbour of every new row; its RAkEL fits one model more than requested, does not
predict labels with exactly half of the votes, and has no probabilities.
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from ramify import BinaryRelevance, LabelPowerset, MLkNN, RAkEL
from tests.support.flat_labels import make_flat

pytest.importorskip("skmultilearn", reason="needs scikit-multilearn-ng")

BAYES = GaussianNB(var_smoothing=1e-2)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("base", [BAYES, DecisionTreeClassifier(random_state=0)], ids=str)
def test_binary_relevance(seed, base):
    from skmultilearn.problem_transform import BinaryRelevance as Theirs

    X, Y, rows = make_flat(seed)
    theirs = Theirs(base, require_dense=[True, True]).fit(X, Y)
    ours = BinaryRelevance(estimator=base).fit(X, Y)
    np.testing.assert_allclose(ours.predict_proba(rows), theirs.predict_proba(rows).toarray())
    predicted = ours.predict(rows, decide="separately")
    np.testing.assert_array_equal(predicted, theirs.predict(rows).toarray())


@pytest.mark.parametrize("seed", range(3))
def test_label_powerset(seed):
    from skmultilearn.problem_transform import LabelPowerset as Theirs

    X, Y, rows = make_flat(seed)
    theirs = Theirs(BAYES, require_dense=[True, True]).fit(X, Y)
    ours = LabelPowerset(estimator=BAYES).fit(X, Y)
    np.testing.assert_allclose(
        ours.predict_proba(rows), theirs.predict_proba(rows).toarray(), atol=1e-12
    )
    np.testing.assert_array_equal(ours.predict(rows), theirs.predict(rows).toarray())


@pytest.mark.parametrize("seed", range(3))
def test_rakel_with_the_same_groups(seed, monkeypatch):
    from skmultilearn.ensemble import RakelO

    X, Y, rows = make_flat(seed)
    theirs = RakelO(BAYES, 8, 3, base_classifier_require_dense=[True, True]).fit(X, Y)
    groups = [np.array(sorted(group)) for group in theirs.partition_]
    monkeypatch.setattr("ramify.local.label_powerset._draw_groups", lambda *_: groups)
    ours = RAkEL(estimator=BAYES).fit(X, Y)
    np.testing.assert_array_equal(
        ours.predict_proba(rows) > 0.5, theirs.predict(rows).toarray().astype(bool)
    )


@pytest.mark.parametrize("seed", range(3))
def test_ml_knn_if_rows_are_not_their_own_neighbours(seed):
    from skmultilearn.adapt import MLkNN as Theirs

    X, Y, rows = make_flat(seed)
    theirs = Theirs(k=5, s=1.0, ignore_first_neighbours=1).fit(X, Y)
    theirs.ignore_first_neighbours = 0  # new rows are not among their neighbours
    ours = MLkNN(n_neighbors=5).fit(X, Y)
    np.testing.assert_allclose(ours.predict_proba(rows), theirs.predict_proba(rows).toarray())
