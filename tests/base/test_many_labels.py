"""The best labels, sparse probabilities and probabilities of some rows at a time."""

import inspect

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import NotFittedError

from ramify import (
    Hierarchy,
    PCTClassifier,
    PCTForestClassifier,
    PerNodeClassifier,
    _core,
    make_hierarchical_classification,
)
from ramify._base import streaming
from ramify.data.rows import as_rows
from tests.reference import many_labels as reference
from tests.support.estimators import make, public_classifiers
from tests.support.label_graphs import build, label_graphs
from tests.support.metrics_cases import quickly

every_classifier = pytest.mark.parametrize(
    "cls", public_classifiers(), ids=lambda cls: cls.__name__
)


@pytest.fixture(scope="module")
def problem():
    data = make_hierarchical_classification(60, 4, n_labels=9, random_state=0, as_frame=False)
    return data.X, data.y, data.hierarchy


def expected_top(model, scores, columns, k):
    rows = [reference.best_labels(row, columns, k) for row in scores.tolist()]
    labels = [[model.classes_[column] for column, _ in row] for row in rows]
    return np.array(labels), np.array([[score for _, score in row] for row in rows])


def assert_answers(model, X, scores, batch_size=None):
    """Compare all answers with the readable versions, given those of predict_proba."""
    hierarchy = model.hierarchy_
    for labels, columns in (
        ("leaves", hierarchy.indices(hierarchy.leaves)),
        ("all", range(hierarchy.n_labels)),
        (1, hierarchy.indices(hierarchy.levels[0])),
        (hierarchy.labels[-1:], [hierarchy.n_labels - 1]),
    ):
        for k in {1, len(columns)}:
            found, best = model.predict_top(X, k, labels=labels, batch_size=batch_size)
            wanted, values = expected_top(model, scores, sorted(columns), k)
            assert np.array_equal(found, wanted)
            assert np.array_equal(best, values)
    for least in (0.0, 0.3):
        found = model.predict_proba_sparse(X, min_proba=least, batch_size=batch_size)
        wanted = [reference.stored_scores(row, least) for row in scores.tolist()]
        assert isinstance(found, sparse.csr_array)
        assert found.shape == scores.shape
        assert found.has_canonical_format
        for r, row in enumerate(wanted):
            part = found[[r]]
            assert dict(zip(part.indices.tolist(), part.data.tolist(), strict=True)) == row
    blocks = list(model.iter_predict_proba(X, batch_size=batch_size))
    assert np.array_equal(np.concatenate(blocks), scores)


@every_classifier
def test_all_answers_of_all_classifiers_agree_with_predict_proba(cls, problem):
    X, y, _ = problem
    model = make(cls).fit(X, y)
    for batch_size in (None, 7):
        assert_answers(model, X, model.predict_proba(X), batch_size)


@every_classifier
def test_predictions_in_blocks_are_the_same(cls, problem, monkeypatch):
    X, y, _ = problem
    for labels in (y, np.arange(60) % 3):  # label sets, and one class per row
        model = make(cls).fit(X, labels)
        whole = model.predict(X)
        with monkeypatch.context() as patch:
            patch.setattr(streaming, "_CELLS_AT_A_TIME", 50)
            blocks = model.predict(X)
        assert sparse.issparse(whole) == sparse.issparse(blocks)
        assert np.array_equal(
            whole.toarray() if sparse.issparse(whole) else whole,
            blocks.toarray() if sparse.issparse(blocks) else blocks,
        )


@st.composite
def tree_problems(draw):
    """Draw a hierarchy, rows with missing values in any layout, label sets and weights."""
    hierarchy = build(draw(label_graphs()))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows = draw(st.integers(1, 40))
    X = rng.integers(0, 4, size=(n_rows, 3)).astype(float)
    X[rng.random(X.shape) < draw(st.sampled_from([0.0, 0.2]))] = np.nan
    Y = hierarchy.close(rng.random((n_rows, hierarchy.n_labels)) < rng.choice([0.0, 0.1, 0.4]))
    weights = draw(st.sampled_from([None, rng.integers(0, 3, n_rows) + 0.5]))
    layout = draw(st.sampled_from([np.asarray, np.float32, sparse.csr_array, sparse.coo_array]))
    return hierarchy, layout(X), Y, weights


@quickly
@given(tree_problems(), st.booleans(), st.sampled_from([None, 1, 3]), st.sampled_from([1, 2]))
def test_answers_of_trees_equal_the_dense_ones(problem, clus, batch_size, n_jobs):
    hierarchy, X, Y, weights = problem
    assume(Y.nnz or not clus)  # CLUS learns from rows with labels only
    models = (
        PCTClassifier(hierarchy, clus_compat=clus, n_jobs=n_jobs),
        PCTForestClassifier(hierarchy, n_estimators=3, clus_compat=clus, n_jobs=n_jobs,
                            random_state=0),
    )  # fmt: skip
    for model in models:
        model.fit(X, Y, sample_weight=weights)
        assert_answers(model, X, model.predict_proba(X), batch_size)


@quickly
@given(st.integers(1, 6), st.integers(1, 8), st.integers(0, 2**32 - 1), st.sampled_from([1, 2]))
def test_the_best_labels_of_a_matrix(n_rows, n_labels, seed, n_threads):
    rng = np.random.default_rng(seed)
    scores = rng.choice([0.0, 0.0, 0.5, 1.0, -1.0, rng.random()], size=(n_rows, n_labels))
    chosen = np.flatnonzero(rng.random(n_labels) < 0.7).astype(np.int32)
    chosen = chosen if len(chosen) else np.array([0], dtype=np.int32)
    k = int(rng.integers(1, len(chosen) + 1))
    for given_rows in (scores, np.asfortranarray(scores), sparse.csr_array(scores)):
        labels, best = np.empty((n_rows, k), np.int32), np.empty((n_rows, k))
        _core.best_labels(as_rows(given_rows), chosen, n_threads, labels, best)
        for r, row in enumerate(scores.tolist()):
            expected = reference.best_labels(row, chosen.tolist(), k)
            assert list(zip(labels[r].tolist(), best[r].tolist(), strict=True)) == expected


def test_single_precision_is_the_rounded_answer(problem):
    X, y, _ = problem
    model = PCTForestClassifier(n_estimators=7, random_state=0).fit(X, y)
    scores = model.predict_proba(X)
    rounded = scores.astype(np.float32)
    found = model.predict_proba_sparse(X, dtype=np.float32)
    assert found.dtype == np.float32
    assert np.array_equal(found.toarray(), rounded)
    (block,) = model.iter_predict_proba(X, dtype="float32")
    assert block.dtype == np.float32
    assert np.array_equal(block, rounded)
    labels, best = model.predict_top(X, 3, dtype=np.float32)
    assert best.dtype == np.float32
    assert np.array_equal(labels, model.predict_top(X, 3)[0])
    # 1/7 is larger in single precision: what is stored does not depend on the type.
    least = float(np.float32(1 / 7))
    kept = [model.predict_proba_sparse(X, min_proba=least, dtype=t).nnz for t in ("f4", "f8")]
    assert kept[0] == kept[1]


@pytest.mark.parametrize("cls", [PCTForestClassifier, PerNodeClassifier])
def test_rows_may_be_lists_and_data_frames(cls, problem):
    X, y, _ = problem
    rows = X.tolist()
    model = make(cls).fit(rows, y)
    assert_answers(model, rows, model.predict_proba(rows), 13)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(e=np.where(X[:, 0] > 0, "yes", "no"))
    model = make(cls).fit(frame, y)
    assert_answers(model, frame, model.predict_proba(frame), 13)
    model.set_output(predict_proba="pandas")
    assert_answers(model, frame, model.predict_proba(frame).to_numpy(), 13)


def test_one_label_and_one_row():
    hierarchy = Hierarchy.from_labels(["only"])
    model = PCTForestClassifier(hierarchy, n_estimators=2, random_state=0)
    model.fit([[0.0], [1.0]], [["only"], []])
    labels, scores = model.predict_top([[1.0]], 1)
    assert labels.tolist() == [["only"]]
    assert np.array_equal(scores, model.predict_proba([[1.0]]))
    assert model.predict_proba_sparse([[1.0]]).shape == (1, 1)


def test_the_default_is_the_best_leaves(problem):
    X, y, hierarchy = problem
    model = PCTForestClassifier(hierarchy, n_estimators=5, random_state=0).fit(X, y)
    labels, _ = model.predict_top(X, 2)
    assert set(labels.ravel()) <= set(hierarchy.leaves)
    top, _ = model.predict_top(X, 2, labels="all")
    assert not set(top.ravel()) <= set(hierarchy.leaves)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, r"k must be an integer from 1 to \d, got 0"),
        ({"k": 1.5}, r"k must be an integer from 1 to \d, got 1.5"),
        ({"k": 100}, r"k must be an integer from 1 to \d, got 100"),
        ({"labels": "roots"}, "labels must be 'all', 'leaves', a level"),
        ({"labels": ["no such label"]}, "no such label"),
        ({"batch_size": 0}, "batch_size must be an integer >= 1, got 0"),
        ({"dtype": int}, "dtype must be float64 or float32, got int64"),
    ],
)
def test_errors_of_predict_top(problem, options, message):
    X, y, hierarchy = problem
    model = PCTClassifier(hierarchy).fit(X, y)
    with pytest.raises(ValueError, match=message):
        model.predict_top(X, **options)


def test_errors_of_the_other_methods(problem):
    X, y, hierarchy = problem
    model = PCTClassifier(hierarchy).fit(X, y)
    with pytest.raises(ValueError, match=r"min_proba must be a number from 0 to 1, got 1.5"):
        model.predict_proba_sparse(X, min_proba=1.5)
    # Before the first block is asked for.
    with pytest.raises(ValueError, match="batch_size must be an integer >= 1, got -1"):
        model.iter_predict_proba(X, batch_size=-1)
    with pytest.raises(ValueError, match="X has 3 features"):
        model.iter_predict_proba(X[:, :3])
    with pytest.raises(NotFittedError):
        PCTClassifier().iter_predict_proba(X)
    with pytest.raises(NotFittedError):
        PCTClassifier().predict_top(X)


@every_classifier
def test_the_methods_have_the_same_signature_everywhere(cls):
    for name in ("predict_top", "predict_proba_sparse", "iter_predict_proba"):
        assert inspect.signature(getattr(cls, name)) == inspect.signature(
            getattr(streaming.ManyLabelsMixin, name)
        )
