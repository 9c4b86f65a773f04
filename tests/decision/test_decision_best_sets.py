"""Decisions about all labels of a row at once: label sets and paths."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

import ramify
from ramify import Hierarchy, PCTForestClassifier, PerParentClassifier
from ramify.decision import best_label_sets, best_paths, make_coherent, most_probable_path
from ramify.decision.best_sets import Answers
from ramify.metrics import example_f1, micro_f1, subset_accuracy
from tests.reference import decoding as reference
from tests.support.budget import budget
from tests.support.estimators import make, public_classifiers
from tests.support.label_graphs import graphs_and_scores

TREE = Hierarchy.from_paths(["animal/cat", "animal/dog", "plant"])
DAG = Hierarchy.from_edges([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")])
every_classifier = pytest.mark.parametrize(
    "cls", list(public_classifiers()), ids=lambda c: c.__name__
)
OWN_RULE = (
    ramify.LabelPowerset,
    ramify.LevelPowerset,
    ramify.MetaLabeler,
    ramify.SelectiveClassifier,
    ramify.MandatoryLeafClassifier,
    ramify.TunedThresholdClassifierCV,
)


def chosen_rows(Y):
    return [Y.indices[Y.indptr[r] : Y.indptr[r + 1]].tolist() for r in range(Y.shape[0])]


@budget(200)
@given(graphs_and_scores(), st.booleans(), st.sampled_from(["max", "min", "isotonic"]))
def test_no_set_of_most_probable_labels_is_better(case, allow_empty, method):
    hierarchy, scores = case
    scores = make_coherent(scores, hierarchy, method)
    found = best_label_sets(scores, hierarchy, allow_empty=allow_empty)
    assert (hierarchy.close(found) != found).nnz == 0
    for row, chosen in zip(scores.tolist(), chosen_rows(found), strict=True):
        sets = list(reference.likeliest_sets(row, allow_empty))
        values = [reference.value_of_set(one, row, hierarchy) for one in sets]
        own = reference.value_of_set(chosen, row, hierarchy)
        assert sorted(chosen) in [sorted(one) for one in sets]
        assert own == pytest.approx(max(values), abs=1e-7)


@budget(200)
@given(graphs_and_scores(), st.data())
def test_no_path_to_a_candidate_is_better(case, data):
    hierarchy, scores = case
    scores = make_coherent(scores, hierarchy, "max")
    ends = np.array(
        data.draw(
            st.lists(st.booleans(), min_size=hierarchy.n_labels, max_size=hierarchy.n_labels)
        )
    )
    ends[data.draw(st.integers(0, hierarchy.n_labels - 1))] = True
    found = best_paths(scores, hierarchy, ends)
    for row, path in zip(scores.tolist(), chosen_rows(found), strict=True):
        values = {
            end: reference.value_of_path(end, row, hierarchy) for end in np.flatnonzero(ends)
        }
        (last,) = [e for e in values if reference.closed([e], hierarchy) == set(path)][:1]
        assert values[last] == pytest.approx(max(values.values()), abs=1e-9)


@budget(30)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_threads_and_batches_do_not_change_decisions(seed, n_threads):
    random = np.random.default_rng(seed)
    hierarchy = random.choice(np.array([TREE, DAG], dtype=object))
    scores = make_coherent(random.random((150, 4)).round(int(seed % 3) + 1), hierarchy, "min")
    for decide in (best_label_sets, best_paths):
        whole = decide(scores, hierarchy, n_jobs=n_threads).toarray()
        alone = [decide(scores[[r]], hierarchy).toarray()[0] for r in range(0, 150, 10)]
        np.testing.assert_array_equal(whole[::10], alone)


def test_ties_and_rows_of_zeros():
    zeros = np.zeros((1, 4))
    assert TREE.decode(best_label_sets(zeros, TREE)) == [()]
    assert TREE.decode(best_label_sets(zeros, TREE, allow_empty=True)) == [()]
    assert TREE.decode(best_paths(zeros, TREE)) == [("animal",)]
    flat = Hierarchy.from_labels(["a", "b", "c"])
    assert flat.decode(best_label_sets([[0.3, 0.3, 0.3]], flat)) == [("a", "b", "c")]
    assert flat.decode(best_label_sets([[0.1, 0.6, 0.6]], flat)) == [("b", "c")]
    assert flat.decode(best_paths([[0.2, 0.4, 0.4]], flat)) == [("b",)]
    assert best_label_sets(np.zeros((0, 4)), TREE).shape == (0, 4)


def test_scores_that_are_no_coherent_probabilities_are_refused():
    with pytest.raises(ValueError, match=r"between 0 and 1, got 1.5 in row 0 for label 'animal'"):
        best_label_sets([[1.5, 0.5, 0.5, 0.5]], TREE)
    with pytest.raises(ValueError, match="make_coherent"):
        best_paths([[0.2, 0.5, 0.1, 0.5]], TREE)
    with pytest.raises(ValueError, match="at least one label"):
        best_paths([[0.5, 0.2, 0.1, 0.5]], TREE, np.zeros(4, bool))


# ---- classifiers ----------------------------------------------------------------------------


def rare_labels(n_rows=300, seed=0):
    """Return rows whose labels are likely, but seldom more likely than not."""
    random = np.random.default_rng(seed)
    hierarchy = Hierarchy.from_paths([f"{i}/{j}" for i in "abcdefgh" for j in "uvw"])
    leaves = hierarchy.indices(hierarchy.leaves)
    which = random.integers(0, 24, (n_rows, 2))
    X = 2 * random.normal(size=(n_rows, 8))
    X += random.normal(size=(24, 8))[which].sum(axis=1)
    Y = np.zeros((n_rows, hierarchy.n_labels), np.int32)
    np.put_along_axis(Y, leaves[which], 1, axis=1)
    return X, hierarchy.close(ramify.read_labels(Y, hierarchy).Y).toarray(), hierarchy


def test_rows_with_improbable_labels_get_labels():
    X, Y, hierarchy = rare_labels()
    model = PCTForestClassifier(hierarchy, random_state=0).fit(X[:200], Y[:200])
    together, apart = model.predict(X[200:]), model.predict(X[200:], decide="separately")
    assert model.row_kind_ == "labels"
    assert (apart.sum(axis=1) == 0).mean() > 0.2
    assert not (together.sum(axis=1) == 0).any()
    for measure in (micro_f1, example_f1, subset_accuracy):
        better, worse = (measure(Y[200:], found) for found in (together, apart))
        assert better >= worse


def kind_of(Y, weights):
    return Answers.like(Y, TREE, weights, is_path=False).kind


def test_the_kind_of_the_training_rows_decides_what_is_predicted():
    weights = np.ones(40)
    one = TREE.encode([["animal/cat"]] * 20 + [["plant"]] * 20)
    assert kind_of(one, weights) == "path"
    two = TREE.encode([["animal/cat", "plant"]] * 3 + [["plant"]] * 37)
    assert kind_of(two, weights) == "labels"
    assert kind_of(two, np.r_[np.zeros(3), np.ones(37)]) == "path"
    none = TREE.encode([[]] * 3 + [["animal/dog", "plant"]] * 37)
    assert kind_of(none, weights) == "labels or none"
    assert kind_of(none, np.r_[np.ones(3) / 2, np.ones(37)]) == "labels"
    repeated = np.repeat(np.arange(40), np.r_[np.full(3, 5), np.ones(37, int)])
    assert kind_of(two[repeated], np.ones(52)) == kind_of(two, np.r_[np.full(3, 5.0), np.ones(37)])


def test_a_matrix_with_one_path_per_row_gives_paths():
    X, Y, hierarchy = rare_labels()
    first = Y * 0
    leaves = hierarchy.indices(hierarchy.leaves)
    first[np.arange(len(Y)), leaves[Y[:, leaves].argmax(axis=1)]] = 1
    paths = hierarchy.close(ramify.read_labels(first, hierarchy).Y).toarray()
    model = PCTForestClassifier(hierarchy, random_state=0).fit(X[:200], paths[:200])
    assert model.row_kind_ == "path"
    assert set(model.predict(X[200:]).sum(axis=1).tolist()) == {2}
    assert (model.predict(X[200:], threshold=0.5).sum(axis=1) == 0).any()


@budget(100)
@given(graphs_and_scores(), st.sampled_from(["path", "labels", "labels or none"]), st.data())
def test_sparse_probabilities_give_the_same_answers(case, kind, data):
    hierarchy, scores = case
    zeros = np.array(data.draw(st.lists(st.booleans(), min_size=1, max_size=9)))
    scores = np.where(np.resize(zeros, scores.shape), 0.0, scores)
    scores = make_coherent(scores, hierarchy, "min")
    ends = np.arange(hierarchy.n_labels) % 3 != 1
    answers = Answers(kind, ends if kind == "path" else None)
    dense = answers.decide_jointly(scores, hierarchy)
    thin = answers.decide_jointly(sparse.csr_array(scores), hierarchy)
    np.testing.assert_array_equal(thin.toarray(), dense.toarray())


@pytest.mark.parametrize("path", [False, True])
def test_forests_decide_on_many_cells_as_on_their_probabilities(path):
    rng = np.random.default_rng(0)
    hierarchy = Hierarchy.from_paths([f"{k % 30}/{k % 7}/{k}" for k in range(600)])
    X = rng.normal(size=(500, 4))
    leaves = hierarchy.indices(hierarchy.leaves)
    drawn = leaves[(7 * np.abs(X[:, :2])).astype(int) * 31 % len(leaves)]
    Y = np.zeros((500, hierarchy.n_labels), dtype=np.int32)
    for column in (0,) if path else (0, 1):
        Y[np.arange(500), drawn[:, column]] = 1
    Y = hierarchy.close(sparse.csr_array(Y)).toarray()
    model = PCTForestClassifier(hierarchy, n_estimators=5, random_state=0).fit(X, Y)
    assert (model.row_kind_ == "path") == path
    scores = model.predict_proba(X)
    expected = Answers(model.row_kind_, model.ends_ if path else None).decide_jointly(
        scores, hierarchy
    )
    np.testing.assert_array_equal(model.predict(X), expected.toarray())
    few = [model.predict(X[k : k + 50]) for k in range(0, 500, 50)]
    np.testing.assert_array_equal(model.predict(X), np.vstack(few))


@every_classifier
def test_decide_separately_is_the_threshold_of_a_half(cls):
    X, Y, hierarchy = rare_labels(80)
    model = make(cls, hierarchy=hierarchy).fit(X, Y)
    with pytest.raises(ValueError, match=r"decide must be .*'jointly'.*, got 'together'"):
        model.predict(X, decide="together")
    if cls in OWN_RULE:
        apart = model.predict(X, decide="separately")
        np.testing.assert_array_equal(model.predict(X), apart)
        return
    half = model.predict(X, threshold=0.5)
    np.testing.assert_array_equal(model.predict(X, decide="separately"), half)
    scores = np.asarray(model.predict_proba(X))
    np.testing.assert_array_equal(model.predict(X), best_label_sets(scores, hierarchy).toarray())


def test_clus_compat_keeps_the_threshold_of_clus():
    X, Y, hierarchy = rare_labels(80)
    model = PCTForestClassifier(hierarchy, clus_compat=True, n_estimators=5, random_state=0)
    model.fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), model.predict(X, threshold=0.5))


def test_paths_may_be_followed_down_instead():
    X, Y, hierarchy = rare_labels()
    last = [labels[0] for labels in hierarchy.decode(ramify.read_labels(Y, hierarchy).Y)]
    for model in (PCTForestClassifier(random_state=0, n_estimators=10), PerParentClassifier()):
        fitted = clone(model).fit(X[:200], last[:200])
        scores = fitted.predict_proba(X[200:])
        apart = fitted.predict(X[200:], decide="separately")
        down = most_probable_path(scores, fitted.hierarchy_, fitted.ends_)
        assert [(label,) for label in apart] == fitted.hierarchy_.decode(down)
        best = best_paths(scores, fitted.hierarchy_, fitted.ends_)
        assert [(label,) for label in fitted.predict(X[200:])] == fitted.hierarchy_.decode(best)
