"""Texts as features: their terms, and every way to pass them."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import ramify
from ramify.data.texts import Terms
from tests.reference.texts import learn_terms, weigh_terms
from tests.support.estimators import make, public_estimators

WORDS = ["pan", "Pan", "pfanne", "2-in-1", "é", "e\u0301te", "हिन्दी", "机桌", "🍕", "ab", "x" * 70]
TEXT = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
TEXTS = st.lists(st.one_of(st.none(), TEXT, st.text(max_size=12)), min_size=1, max_size=8)


def names_and_weights(terms, row):
    """Return the weights of words and pairs, and of parts, by term."""
    names = terms.names
    found = ({}, {})
    for j, value in zip(row.indices.tolist(), row.data.tolist(), strict=True):
        found[int(j >= terms.n_words)][names[j]] = value
    return found


def is_plain(text):
    """Return whether the reference splits a text as the regular expression does."""
    return text is None or all(ord(c) < 0x300 or c in "".join(WORDS) for c in text)


@given(TEXTS, TEXTS)
@example(["pan pan", "pan"], ["pan pan pan"])
@example(["a " * 40] * 3, ["a"])
def test_weights_are_those_of_the_reference(training, texts):
    training = [text for text in training if is_plain(text)]
    texts = [text for text in texts if is_plain(text)]
    terms = Terms.learn(training, weighted=True)
    words, parts = learn_terms(training)
    assert terms.names == [*words, *parts]
    assert terms.n_words == len(words)
    found = terms.weigh(texts)
    for row, expected in zip(found, weigh_terms(texts, training), strict=True):
        parts = names_and_weights(terms, sparse.csr_array(row.reshape(1, -1)))
        for own, reference in zip(parts, expected, strict=True):
            assert own.keys() == reference.keys()
            np.testing.assert_allclose(list(own.values()), [reference[t] for t in own], rtol=1e-12)


@given(TEXTS)
def test_a_row_does_not_depend_on_the_others(texts):
    for weighted in (True, False):
        terms = Terms.learn(texts, weighted=weighted)
        found = terms.weigh(texts)
        for i, text in enumerate(texts):
            one = terms.weigh([text])
            np.testing.assert_array_equal(one.toarray()[0], found[[i]].toarray()[0])
        ones = Terms.learn(texts, weighted=False).weigh(texts)
        assert set(ones.data.tolist()) <= {1.0}
        np.testing.assert_array_equal(ones.toarray() > 0, found.toarray() > 0)
        terms.check()


@pytest.mark.parametrize(
    "text",
    ["", " ", "!?", "\0", "\ud800", "pan\0pan", "🍕🍕", "a" * 10**6, "ab " * 300_000, "ﬁne", "\n"],
    ids=range(11),
)
def test_unusual_texts_are_read(text):
    texts = [text, "red pan", None, "red pans", text]
    terms = Terms.learn(texts, weighted=True)
    assert terms.weigh(texts).shape == (5, len(terms))
    assert max(map(len, terms.names)) <= 64
    assert terms.weigh([None]).nnz == 0


def test_spellings_of_a_letter_are_one():
    terms = Terms.learn(["café au lait", "cafe\u0301 noir", "CAFÉ"], weighted=True)
    assert "café" in terms.names
    assert terms.weigh(["café"]).nnz == terms.weigh(["CAFE\u0301"]).nnz > 0


def test_no_more_terms_than_the_limit_are_kept(monkeypatch):
    monkeypatch.setattr("ramify.data.texts._MAX_TERMS", 3)
    terms = Terms.learn(["a b", "a c", "a b d"], weighted=True)
    assert terms.names[: terms.n_words] == ["a", "a b", "b"]  # of two texts or more


def test_parts_of_words_are_terms_only_of_short_texts():
    short = Terms.learn(["one pan", "two pans"], weighted=True)
    long = Terms.learn(["one pan " * 40, "two pans " * 40], weighted=True)
    assert short.n_words < len(short)
    assert long.n_words == len(long)


# ---- estimators -----------------------------------------------------------------------------

RANDOM = np.random.default_rng(0)
N = 60
KINDS = RANDOM.integers(0, 4, N)
THINGS = ["red pan", "blue pan", "oak table", "pine table"]
LABELS = [("kitchen/" if k < 2 else "room/") + THINGS[k] for k in KINDS]
TITLES = [f"Nice {THINGS[k]} for our home, number {j}" for j, k in enumerate(KINDS)]
FRAME = pd.DataFrame(
    {
        "price": np.where(RANDOM.random(N) < 0.1, np.nan, KINDS * 5.0 + RANDOM.random(N)),
        "title": TITLES,
        "brand": RANDOM.choice(["acme", "zorg"], N),
        "day": pd.to_datetime("2024-01-01") + pd.to_timedelta(KINDS, "D"),
        "embedding": list(RANDOM.normal(size=(N, 3))),
    }
)
FRAME.loc[5, "title"] = None
NO_NAN = ("MLkNN", "SiblingLassoClassifier")  # fail on NaN, or do not converge on so few rows


def estimators():
    for cls in public_estimators():
        if cls not in (ramify.PCTRegressor, ramify.PCTForestRegressor, ramify.HierarchyBinarizer):
            yield make(cls)


@pytest.mark.parametrize("estimator", list(estimators()), ids=lambda e: type(e).__name__)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_estimator_reads_texts(estimator, tmp_path):
    name = type(estimator).__name__
    frame = FRAME.drop(columns=["price"]) if name in NO_NAN else FRAME
    for X in (TITLES, frame):
        model = clone(estimator).fit(X, LABELS)
        assert model.n_features_in_ == (1 if X is TITLES else frame.shape[1])
        ask = model.predict_proba if hasattr(model, "predict_proba") else model.predict
        answers = ask(X)
        one = TITLES[7:8] if X is TITLES else X.iloc[7:8]
        np.testing.assert_array_equal(ask(one), answers[7:8])
        ramify.save(model, tmp_path / "model")
        for again in (ramify.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
            other = again.predict_proba if hasattr(again, "predict_proba") else again.predict
            np.testing.assert_array_equal(other(X), answers)
    assert list(model.feature_names_in_) == list(frame.columns)
    if hasattr(model, "feature_importances_"):
        assert model.feature_importances_.shape == (frame.shape[1],)


def layouts():
    polars = pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    yield "list", TITLES
    yield "array", np.array(TITLES)
    yield "objects", np.array(TITLES, dtype=object)
    yield "series", pd.Series(TITLES)
    yield "string series", pd.Series(TITLES, dtype="string")
    yield "polars", polars.Series(TITLES)
    yield "pyarrow", pyarrow.array(TITLES)
    yield "chunks", pyarrow.chunked_array([TITLES[:20], TITLES[20:]])


@pytest.mark.parametrize(
    "model",
    [
        ramify.PCTClassifier(),
        ramify.PerParentClassifier(LogisticRegression()),
        ramify.PerParentClassifier(make_pipeline(TfidfVectorizer(), LogisticRegression())),
    ],
    ids=["tree", "linear", "pipeline"],
)
def test_texts_of_all_layouts_give_the_same_answers(model):
    answers = []
    for _, X in layouts():
        fitted = clone(model).fit(X, LABELS)
        answers += [fitted.predict_proba(other) for _, other in layouts()]
    for found in answers:
        np.testing.assert_array_equal(found, answers[0])


def test_frames_of_all_libraries_give_the_same_answers():
    polars = pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    model = ramify.PCTForestClassifier(n_estimators=3, random_state=0).fit(FRAME, LABELS)
    expected = model.predict_proba(FRAME)
    frames = [polars.from_pandas(FRAME), pyarrow.Table.from_pandas(FRAME)]
    for frame in frames:
        np.testing.assert_array_equal(model.predict_proba(frame), expected)
        again = clone(model).fit(frame, LABELS)
        np.testing.assert_array_equal(again.predict_proba(FRAME), expected)


def test_an_estimator_that_reads_texts_gets_them():
    words = make_column_transformer((TfidfVectorizer(), "title"), (StandardScaler(), ["day"]))
    frame = FRAME[["title", "day"]].assign(day=KINDS, title=TITLES)
    model = ramify.PerParentClassifier(make_pipeline(words, LogisticRegression()))
    assert model.fit(frame, LABELS).score(frame, LABELS) == 1
    assert model.schema_.n_variables == 1  # no terms are learnt in vain


def test_scalers_and_linear_models_get_numbers():
    scaled = make_pipeline(StandardScaler(with_mean=False), LogisticRegression())
    frame = FRAME[["title", "day"]].assign(day=KINDS, title=TITLES)
    for estimator in (LogisticRegression(), scaled, LinearSVC(), SGDClassifier(random_state=0)):
        model = ramify.PerParentClassifier(estimator).fit(frame, LABELS)
        assert model.score(frame, LABELS) == 1
        assert model.predict(frame[:1]).tolist() == LABELS[:1]


def test_sample_weights_and_outputs_of_frames():
    model = ramify.PCTClassifier(min_samples_leaf=1).set_output(predict_proba="pandas")
    found = model.fit(FRAME, LABELS, sample_weight=np.ones(N)).predict_proba(FRAME)
    assert list(found.columns) == list(model.classes_)


def test_categorical_features_win_over_texts():
    model = ramify.PCTClassifier(categorical_features=["title"]).fit(FRAME, LABELS)
    assert 1 in model.schema_.categories
    assert not model.schema_.texts
    declared = FRAME.assign(title=FRAME["title"].astype("category"))
    assert not ramify.PCTClassifier().fit(declared, LABELS).schema_.texts


def test_warm_start_keeps_the_terms_and_refuses_others():
    model = ramify.PCTForestClassifier(n_estimators=2, warm_start=True, random_state=0)
    model.fit(TITLES, LABELS).set_params(n_estimators=4).fit(TITLES, LABELS)
    assert len(model.trees_) == 4
    model.set_params(n_estimators=6)
    with pytest.raises(ValueError, match="same features"):
        model.fit([title.replace("Nice", "Lovely") for title in TITLES], LABELS)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (FRAME.drop(columns="title"), "feature names"),
        (FRAME.rename(columns={"title": "name"}), "feature names"),
        (FRAME[FRAME.columns[::-1]], "feature names"),
        (FRAME.assign(title=1.5), "column 'title' of X must be text, as in fit, got 1.5"),
        (FRAME.assign(title=[["a"]] * N), r"column 'title' of X must be text.*\['a'\]"),
        (FRAME.assign(embedding=[[1.0, 2.0]] * N), "vectors of length 3, as in fit, got a list"),
        (FRAME.assign(embedding=[["a", "b", "c"]] * N), "must have vectors of numbers"),
        (FRAME.assign(embedding=[[1.0, 2.0, np.inf]] * N), "contains infinity"),
        (FRAME.assign(embedding=1.0), "vectors of length 3, as in fit, got a float"),
        (TITLES, "must be a table with the 5 features of fit, got a list of texts"),
        (np.zeros((3, 5)), "X must be a data frame, got an array"),
    ],
    ids=range(11),
)
def test_other_columns_than_in_fit_are_refused(X, message):
    model = ramify.PCTClassifier().fit(FRAME, LABELS)
    with pytest.raises(ValueError, match=message):
        model.predict(X)


def test_cells_that_are_numbers_are_texts_in_a_column_of_texts():
    model = ramify.PCTClassifier().fit(FRAME, LABELS)
    mixed = FRAME.assign(title=["1984", *TITLES[1:]])
    other = FRAME.assign(title=pd.Series([1984, *TITLES[1:]], dtype=object))
    np.testing.assert_array_equal(model.predict_proba(other), model.predict_proba(mixed))


@pytest.mark.parametrize("texts", [[""] * 4, ["?"] * 4, ["!", "", "…", "?"]])
def test_texts_without_words_are_refused(texts):
    with pytest.raises(ValueError, match="X must have texts with words"):
        ramify.PCTClassifier().fit(texts, ["a", "b", "a", "b"])


def test_equal_texts_are_learnt():
    model = ramify.PCTClassifier().fit(["the same"] * 4, ["a", "b", "a", "b"])
    assert model.predict_proba(["the same", None, "other"]).tolist() == [[0.5, 0.5]] * 3


def test_texts_given_to_a_model_of_numbers_are_refused():
    model = ramify.PCTClassifier().fit([[1.0], [2.0]], ["a", "b"])
    with pytest.raises(
        ValueError, match=r"must be a table with the 1 feature.* got a list of text"
    ):
        model.predict(["a text"])
    model = ramify.PCTClassifier().fit(["one", "two"], ["a", "b"])
    with pytest.raises(ValueError, match="X must contain texts, as in fit, got an array"):
        model.predict([[1.0]])
    with pytest.raises(ValueError, match="categorical_features must be None if X is a list"):
        ramify.PCTClassifier(categorical_features=[0]).fit(["one", "two"], ["a", "b"])


def test_vectors_of_different_lengths_are_refused():
    frame = pd.DataFrame({"v": [[1.0], [1.0, 2.0]]})
    with pytest.raises(ValueError, match=r"column 'v' of X must have vectors of the same length"):
        ramify.PCTClassifier().fit(frame, ["a", "b"])


def test_vectors_are_the_numbers_of_an_array():
    vectors = RANDOM.normal(size=(N, 3)) + KINDS[:, None]
    frame = pd.DataFrame({"v": list(vectors), "w": KINDS * 1.0})
    array = np.column_stack([vectors, KINDS])
    for model in (ramify.PCTForestClassifier(n_estimators=3, random_state=0), make(ramify.MLkNN)):
        expected = clone(model).fit(array, LABELS).predict_proba(array)
        found = clone(model).fit(frame, LABELS).predict_proba(frame)
        np.testing.assert_array_equal(found, expected)
    missing = frame.assign(v=[None, *list(vectors)[1:]])
    model = ramify.PCTClassifier().fit(missing, LABELS)
    unknown = np.vstack([np.full(3, np.nan), vectors[1:]])
    same = ramify.PCTClassifier().fit(np.column_stack([unknown, KINDS]), LABELS)
    np.testing.assert_array_equal(
        model.predict_proba(missing), same.predict_proba(np.column_stack([unknown, KINDS]))
    )


def test_collections_of_partitions_with_texts_are_refused():
    dask = pytest.importorskip("dask.dataframe")
    pytest.importorskip("distributed")
    frame = pd.DataFrame({"title": TITLES, "n": KINDS * 1.0})
    X = dask.from_pandas(frame, npartitions=2)
    y = dask.from_pandas(pd.Series(LABELS), npartitions=2)
    from distributed import Client

    message = "if it is a dask collection, got texts or vectors in 'title'"
    cluster = Client(processes=False, n_workers=1, dashboard_address=None)
    with cluster, pytest.raises(ValueError, match=message):
        ramify.PCTGradientBoostingClassifier(max_iter=2).fit(X, y)
