"""Linear classifiers: against liblinear, alone and as local models, saved and loaded."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.svm import LinearSVC

import ramify
from ramify import (
    BinaryRelevancePlus,
    FlatClassifier,
    Hierarchy,
    LinearClassifier,
    PerEdgeClassifier,
    PerLevelClassifier,
    PerNodeClassifier,
    PerParentClassifier,
    _core,
)
from ramify.data.features import read_features
from ramify.data.rows import as_rows
from ramify.labels import read_labels
from tests.support.local_cases import is_coherent

ARCHITECTURES = (
    PerParentClassifier,
    PerNodeClassifier,
    PerEdgeClassifier,
    PerLevelClassifier,
    FlatClassifier,
)
PATHS = np.array(["a/x", "a/y", "a/z", "b/u", "b/v", "c"])


def words(n_rows: int, seed: int = 0, n_words: int = 80) -> tuple[sparse.csr_array, np.ndarray]:
    """Bags of words of unit length, with paths that depend on some of the words."""
    random = np.random.default_rng(seed)
    path = random.integers(len(PATHS), size=n_rows)
    own = np.random.default_rng(7).choice(n_words, (len(PATHS), 8))
    X = (random.random((n_rows, n_words)) < 0.05).astype(float)
    for row, place in enumerate(path):
        X[row, random.choice(own[place], 3)] = 1.0
    X[:, 0] = 0.1  # no row is empty
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return sparse.csr_array(X), PATHS[path]


def train(X, positives, *, exclusive=False, weights=None, tolerance=1e-9, n_threads=1):
    """Return the result of the core for the given positive rows of each output."""
    n_rows = X.shape[0]
    return _core.train_linear(
        as_rows(X),
        np.arange(n_rows),
        np.cumsum([0, *map(len, positives)], dtype=np.int64),
        np.concatenate(positives).astype(np.int32),
        np.ones(n_rows) if weights is None else weights,
        exclusive,
        1.0,
        tolerance,
        10_000,
        0.0,
        0,
        n_threads,
    )


def dense_weights(found, n_features):
    weights = np.zeros((n_features, len(found["intercepts"])))
    used = np.repeat(found["features"], np.diff(found["indptr"]))
    weights[used, found["outputs"]] = found["weights"]
    return weights


# ---- the optimum, and probabilities ----------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_weights_equal_those_of_liblinear(weighted):
    X, y = words(300)
    weights = np.random.default_rng(1).integers(1, 4, 300).astype(float) if weighted else None
    found = train(X, [np.flatnonzero(y == path) for path in PATHS], weights=weights)
    theirs = LinearSVC(tol=1e-10, max_iter=100_000).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(dense_weights(found, 80), theirs.coef_.T, atol=1e-5)
    np.testing.assert_allclose(found["intercepts"], theirs.intercept_, atol=1e-5)


def test_a_row_that_shares_no_feature_is_judged_by_the_others_alone():
    # Without the row, its own feature has no weight: only the intercept is left.
    X = sparse.csr_array(np.eye(40) * 30)
    y = np.repeat([1, 0], [20, 20])
    found = train(X, [np.flatnonzero(y)])
    assert found["scales"][0] < 10  # although the training rows are all on the right side


def test_probabilities_are_calibrated():
    X, y = words(1500)
    noisy = np.where(np.random.default_rng(2).random(1500) < 0.15, np.roll(y, 1), y)
    model = LinearClassifier().fit(X[:1000], noisy[:1000])
    places = {path: place for place, path in enumerate(model.classes_)}
    own = np.array([places[path] for path in noisy[1000:]])
    found = -np.log(model.predict_proba(X[1000:])[np.arange(500), own]).mean()
    peer = LogisticRegression(C=10).fit(X[:1000], noisy[:1000])
    theirs = peer.predict_proba(X[1000:])[
        np.arange(500), np.searchsorted(peer.classes_, noisy[1000:])
    ]
    assert found < -np.log(theirs).mean() + 0.05


@pytest.mark.parametrize("n_classes", [4, 40])
def test_probabilities_from_few_rows_of_many_words_are_as_high_as_the_accuracy(n_classes):
    rng = np.random.default_rng(5)
    shares = rng.lognormal(0, 0.7, (n_classes, 1500)) / np.arange(1, 1501)
    y = rng.integers(0, n_classes, 2000)
    X = np.stack([rng.multinomial(40, shares[k] / shares[k].sum()) for k in y]).astype(float)
    model = LinearClassifier().fit(sparse.csr_array(X[:600]), y[:600].astype(str))
    scores = model.predict_proba(sparse.csr_array(X[600:]))
    right = scores.argmax(axis=1) == np.searchsorted(model.classes_, y[600:].astype(str))
    assert abs(scores.max(axis=1).mean() - right.mean()) < 0.06


def test_rare_classes_are_as_probable_as_frequent():
    rng = np.random.default_rng(6)
    shares = np.array([0.6, 0.2, 0.1, 0.06, 0.04])
    y = rng.choice(5, 3000, p=shares)
    X = rng.normal(size=(5, 8))[y] + rng.normal(size=(3000, 8))
    scores = LinearClassifier().fit(X[:1500], y[:1500]).predict_proba(X[1500:])
    found = np.bincount(y[1500:], minlength=5) / 1500
    np.testing.assert_allclose(scores.mean(axis=0), found, atol=0.006)


@pytest.mark.parametrize("cls", ARCHITECTURES)
def test_as_good_as_flat_liblinear_on_words(cls):
    X, y = words(1200)
    flat = LinearSVC().fit(X[:800], y[:800]).score(X[800:], y[800:])
    found = cls(LinearClassifier()).fit(X[:800], y[:800]).score(X[800:], y[800:])
    assert found >= flat - 0.02


def test_integer_weights_stand_for_repeated_rows():
    X, y = words(200)
    weights = np.random.default_rng(3).integers(0, 4, 200)
    repeated = np.repeat(np.arange(200), weights)
    weighted = LinearClassifier().fit(X, y, sample_weight=weights).predict_proba(X)
    expected = LinearClassifier().fit(X[repeated], y[repeated]).predict_proba(X)
    np.testing.assert_allclose(weighted, expected, atol=0.05)


def test_class_weight_moves_predictions_to_the_heavy_class():
    X, y = words(600)
    noisy = np.where(np.random.default_rng(4).random(600) < 0.4, np.roll(y, 1), y)
    for make in (
        LinearClassifier,
        lambda **more: PerParentClassifier(LinearClassifier(**more)),
    ):
        plain = (make().fit(X, noisy).predict(X) == "c").mean()
        heavy = (make(class_weight={"c": 20.0}).fit(X, noisy).predict(X) == "c").mean()
        assert heavy > plain + 0.1


# ---- X and y of all kinds --------------------------------------------------------------------


def test_the_scale_of_x_does_not_matter():
    X, y = words(200)
    one = LinearClassifier().fit(X, y).predict_proba(X)
    np.testing.assert_allclose(LinearClassifier().fit(X * 1e4, y).predict_proba(X * 1e4), one)
    D = np.random.default_rng(0).normal(size=(200, 5))
    D[:, 0] += np.char.startswith(y, "a")
    one = LinearClassifier().fit(D, y).predict_proba(D)
    moved = D * [1e4, 1, 1, 1e-4, 1] + [7, 0, 0, 0, 1e3]
    np.testing.assert_allclose(
        LinearClassifier().fit(moved, y).predict_proba(moved), one, atol=1e-6
    )


def test_categories_and_missing_numbers():
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"size": random.normal(size=120), "color": random.choice(list("rgb"), 120)}
    )
    y = frame["color"].map({"r": "a/x", "g": "a/y", "b": "b"}).to_numpy(object)
    frame.loc[::7, "size"] = np.nan
    frame.loc[::11, "color"] = None
    known = frame["color"].notna().to_numpy()
    model = LinearClassifier().fit(frame, y)
    assert (model.predict(frame)[known] == y[known]).all()
    unseen = frame[:3].assign(color="violet", size=[np.nan, 1e9, -1.0])
    assert np.isfinite(model.predict_proba(unseen)).all()


def test_paths_that_end_at_inner_labels():
    X, y = words(400)
    y = np.where(y == "a/z", "a", y)
    for model in (LinearClassifier(), PerParentClassifier(LinearClassifier())):
        found = model.fit(X, y).predict(X)
        assert (found == y).mean() > 0.9
        assert (found == "a").any()
        scores = model.predict_proba(X)
        for path in ("a/x", "a/y"):
            columns = [list(model.classes_).index(name) for name in (path, "a")]
            assert (scores[:, columns[0]] <= scores[:, columns[1]]).all()


def test_label_sets_in_a_dag():
    X, y = words(300)
    dag = Hierarchy.from_edges([("p", "x"), ("q", "x"), ("p", "y"), ("q", "z")])
    sets = [[name for name in "xyz" if name in path] or ["q"] for path in y]
    for cls in (PerNodeClassifier, PerParentClassifier, PerEdgeClassifier, FlatClassifier):
        scores = cls(LinearClassifier(), hierarchy=dag).fit(X, sets).predict_proba(X)
        x, p, q = dag.indices(["x", "p", "q"])
        assert (scores[:, x] <= np.minimum(scores[:, p], scores[:, q])).all()
    found = LinearClassifier(dag).fit(X, sets).predict(X)
    own = [[set("xyz") & set(names) for names in part] for part in (found, sets)]
    assert np.mean([a == b for a, b in zip(*own, strict=True)]) > 0.9


def test_two_classes_and_one_class():
    X, y = words(100)
    two = np.where(np.char.startswith(y, "a"), "a", "b")
    for model in (LinearClassifier(), PerParentClassifier(LinearClassifier())):
        scores = model.fit(X, two).predict_proba(X)
        np.testing.assert_allclose(scores.sum(axis=1), 1)
        assert (model.predict(X) == two).mean() > 0.95
    one = np.full(100, "a")
    assert (LinearClassifier().fit(X, one).predict(X) == one).all()


def test_columns_of_a_constant_and_an_empty_matrix():
    y = np.repeat(["a", "b"], 10)
    for X in (np.ones((20, 3)), sparse.csr_array((20, 3)), np.full((20, 1), 1e300)):
        scores = LinearClassifier().fit(X, y).predict_proba(X)
        np.testing.assert_allclose(scores, 0.5, atol=0.01)


def ends_of(model, X, names):
    """Return the probability of ending at each of some labels of a tree."""
    scores = model.predict_proba(X)
    columns = {label: scores[:, k] for k, label in enumerate(model.classes_)}
    hierarchy = model.hierarchy_
    found = [columns[n] - sum(columns[c] for c in hierarchy.children(n)) for n in names]
    return np.clip(np.column_stack(found), 0, None)


@pytest.mark.parametrize("as_matrix", [False, True])
def test_classes_are_separated_at_once_and_among_siblings(as_matrix):
    X, y = words(300)
    y = np.where(y == "a/z", "a", y)  # some paths end at an inner label
    hierarchy = Hierarchy.from_paths(list(y))
    names = sorted(set(y))
    flat = LinearClassifier(Hierarchy.from_labels(names)).fit(X[:200], y[:200])
    local = PerParentClassifier(LinearClassifier(), hierarchy=hierarchy).fit(X[:200], y[:200])
    expected = np.sqrt(ends_of(flat, X, names) * ends_of(local, X, names))
    expected /= expected.sum(axis=1, keepdims=True)
    given = hierarchy.encode([[path] for path in y[:200]]) if as_matrix else y[:200]
    model = LinearClassifier(hierarchy).fit(X[:200], given)
    np.testing.assert_allclose(ends_of(model, X, names), expected, atol=1e-6)


def test_many_classes_are_separated_among_siblings_only():
    X, y = words(200)
    local = PerParentClassifier(LinearClassifier()).fit(X, y).predict_proba(X)
    both, one = (LinearClassifier(max_classes=n).fit(X, y).predict_proba(X) for n in (6, 5))
    np.testing.assert_allclose(one, local)
    assert not np.allclose(both, local)
    flat = np.char.replace(y, "/", " ")
    few, many = (LinearClassifier(max_classes=n).fit(X, flat).predict_proba(X) for n in (1, 300))
    np.testing.assert_array_equal(few, many)


def test_a_second_fit_forgets_the_models_of_siblings():
    X, y = words(100)
    model = LinearClassifier(max_classes=1).fit(X, y)
    flat = np.char.replace(y, "/", " ")
    np.testing.assert_array_equal(
        model.fit(X, flat).predict_proba(X), LinearClassifier().fit(X, flat).predict_proba(X)
    )


def test_a_path_that_all_rows_share():
    X, y = words(60)
    for given, path in ((np.full(60, "a/b/c"), "a/b/c"), (np.char.add("all/", y), None)):
        model = LinearClassifier().fit(X, given)
        assert (model.predict(X) == (path or given)).mean() > 0.9
        assert model.predict_proba(X)[:, 0] == pytest.approx(1)


# ---- threads, workers, files -----------------------------------------------------------------


def test_the_number_of_threads_does_not_matter():
    X, y = words(300)
    positives = [np.flatnonzero(y == path) for path in PATHS]
    one, four = (train(X, positives, n_threads=n, tolerance=0.1) for n in (1, 4))
    for name, value in one.items():
        np.testing.assert_array_equal(value, four[name])
    models = [PerNodeClassifier(LinearClassifier(), n_jobs=n).fit(X, y) for n in (1, 3)]
    np.testing.assert_array_equal(models[0].predict_proba(X), models[1].predict_proba(X))


def test_rows_do_not_depend_on_each_other():
    X, y = words(120)
    for model in (LinearClassifier(), PerParentClassifier(LinearClassifier())):
        scores = model.fit(X, y).predict_proba(X)
        alone = np.vstack([model.predict_proba(X[[row]]) for row in range(20)])
        np.testing.assert_array_equal(scores[:20], alone)
        np.testing.assert_array_equal(model.predict_proba(X.toarray()), scores)


def test_in_workers_of_other_processes():
    X, y = words(90)
    alone = cross_val_predict(LinearClassifier(), X, y, cv=2, method="predict_proba")
    shared = cross_val_predict(LinearClassifier(), X, y, cv=2, method="predict_proba", n_jobs=2)
    np.testing.assert_array_equal(alone, shared)


@pytest.mark.parametrize("cls", ARCHITECTURES)
def test_local_models_are_linear_classifiers(cls):
    X, y = words(200)
    model = cls(LinearClassifier(C=2.0)).fit(X, y)
    inner = next(one for one in model.estimators_ if isinstance(one, LinearClassifier))
    assert inner.C == 2.0
    assert inner.predict_proba(X).shape == (200, len(inner.classes_))


@pytest.mark.parametrize("cls", ARCHITECTURES)
@pytest.mark.parametrize("form", ["paths", "sets", "pairs"])
def test_answers_at_once_are_those_of_each_model(cls, form):
    X, y = words(150)
    sets = [[path, *(["c"] if n % 3 == 0 else [])] for n, path in enumerate(y)]
    y = {"paths": y, "sets": sets, "pairs": np.where(y == "c", "c/only", "d/other")}[form]
    model = cls(LinearClassifier(), n_jobs=2).fit(X, y)
    assert model.local_models_.stack is not None
    together = model.predict_proba(X)
    one = model.predict_proba(X[:1])
    model.local_models_.__dict__["stack"] = None
    np.testing.assert_array_equal(model.predict_proba(X), together)
    np.testing.assert_array_equal(one, together[:1])
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict_proba(X), together)


def test_models_that_are_not_linear_have_no_answers_at_once():
    X, y = words(100)
    model = PerParentClassifier(LogisticRegression()).fit(X, y)
    assert model.local_models_.stack is None
    constant = PerParentClassifier(LinearClassifier()).fit(X, np.full(100, "a/b"))
    assert constant.local_models_.stack is None
    assert constant.predict(X[:2]).tolist() == ["a/b", "a/b"]


def test_models_with_labels_as_features():
    X, y = words(200)
    sets = [path.split("/") for path in y]
    sets = ramify.as_sets(sets)
    model = BinaryRelevancePlus(LinearClassifier()).fit(X, sets)
    assert model.score(X, sets) > 0.9


@pytest.mark.parametrize("n_classes", [2, 6])
def test_saved_models_predict_the_same(tmp_path, n_classes):
    X, y = words(200)
    y = y if n_classes == 6 else np.where(y == "c", "c", "d")
    for model in (LinearClassifier(), PerParentClassifier(LinearClassifier())):
        scores = model.fit(X, y).predict_proba(X)
        ramify.save(model, tmp_path / "model.ramify")
        loaded = ramify.load(tmp_path / "model.ramify")
        np.testing.assert_array_equal(loaded.predict_proba(X), scores)


@pytest.mark.parametrize(
    "changes",
    [
        {"columns": np.array([3, 2], dtype=np.int32)},
        {"columns": np.array([1, 900], dtype=np.int32)},
        {"indptr": np.array([0, 1, 9], dtype=np.int64)},
        {"outputs": np.array([0, 9], dtype=np.int32)},
        {"intercepts": np.zeros(9, dtype=np.float32)},
        {"intercepts": np.zeros(0, dtype=np.float32)},
        {"pair": True},
    ],
)
def test_models_from_damaged_files_are_refused(changes):
    X, y = words(60)
    model = LinearClassifier().fit(X, y)
    small = replace(
        model.model_,
        columns=np.array([1, 2], dtype=np.int32),
        indptr=np.array([0, 1, 2], dtype=np.int64),
        outputs=np.array([0, 1], dtype=np.int32),
        weights=np.ones(2, dtype=np.float32),
    )
    state = model._get_saved_state()
    LinearClassifier()._set_saved_state({**state, "model_": small})
    with pytest.raises(ValueError, match=r"increase|within|start at 0|does not fit|output"):
        LinearClassifier()._set_saved_state({**state, "model_": replace(small, **changes)})


@pytest.mark.parametrize("damage", ["missing", "moved", "other labels", "no models", "no ends"])
def test_models_of_siblings_from_damaged_files_are_refused(damage):
    X, y = words(60)
    state = LinearClassifier().fit(X, y)._get_saved_state()
    LinearClassifier()._set_saved_state(dict(state))
    siblings = dict(state["siblings_"])
    if damage == "missing":
        del state["siblings_"]
    elif damage == "moved":
        siblings["a"] = replace(siblings["a"], labels=(1, 2, 99))
    elif damage == "other labels":
        del siblings["a"]
    elif damage == "no models":
        del state["siblings_"], state["model_"]
    else:
        del state["ends_"]
    if "siblings_" in state:
        state["siblings_"] = siblings
    with pytest.raises(ValueError, match=r"do not fit|does not fit"):
        LinearClassifier()._set_saved_state(state)


@pytest.mark.parametrize("max_classes", [0, 2.5, True])
def test_max_classes_must_be_a_positive_integer(max_classes):
    X, y = words(30)
    with pytest.raises(ValueError, match=r"^max_classes must be an integer >= 1, got"):
        LinearClassifier(max_classes=max_classes).fit(X, y)


@pytest.mark.parametrize("C", [0, -1.0, "1", np.inf])
def test_c_must_be_a_positive_number(C):
    X, y = words(30)
    for model in (LinearClassifier(C=C), PerParentClassifier(LinearClassifier(C=C))):
        with pytest.raises(ValueError, match=r"^C must be a number from 1e-09 to 1e\+09"):
            model.fit(X, y)


def test_texts_stand_beside_numbers_and_categories():
    random = np.random.default_rng(0)
    kinds = random.integers(0, 4, 200)
    things = ["red pan", "blue pan", "oak table", "pine table"]
    frame = pd.DataFrame(
        {
            "price": np.where(random.random(200) < 0.1, np.nan, 1000.0 * (kinds % 2)),
            "title": [f"A {things[k]} for our home, {i}" for i, k in enumerate(kinds)],
            "brand": random.choice(["acme", "zorg"], 200),
            "body": [f"made of {things[k][:3]}, {i}" for i, k in enumerate(kinds)],
        }
    )
    frame.loc[::2, "body"] = None
    y = [f"{'home' if k > 1 else 'kitchen'}/{things[k]}" for k in kinds]
    for model in (LinearClassifier(), PerParentClassifier()):
        columns = model.fit(frame, y).columns_
        assert model.score(frame, y) == 1
        assert len(columns.texts) == 2
        coded = columns.transform(read_features(model, frame, model.schema_))
        body = slice(*columns.texts[1])
        # A row weighs 1 in each block: texts, the price, the brand.
        squares = np.asarray(coded.multiply(coded).sum(axis=1)).ravel()
        assert squares.mean() == pytest.approx(3, abs=0.2)  # a tenth of the prices are missing
        assert coded[:, body].nnz
        price = coded[:, [0]].toarray().ravel()
        assert price[frame["price"].isna()].tolist() == [0.0] * int(frame["price"].isna().sum())
        one = model.predict_proba(frame.iloc[5:6])
        np.testing.assert_array_equal(model.predict_proba(frame)[5:6], one)


def test_models_with_texts_are_saved(tmp_path):
    texts = ["red pan", "blue pan", "oak table", "pine table"] * 5
    y = ["kitchen/pan", "kitchen/pan", "home/oak", "home/pine"] * 5
    for model in (
        PerParentClassifier(),
        LinearClassifier(),
        BinaryRelevancePlus(LinearClassifier()),
    ):
        model.fit(texts, y)
        ramify.save(model, tmp_path / "model")
        found = ramify.load(tmp_path / "model").predict_proba(texts)
        np.testing.assert_array_equal(found, model.predict_proba(texts))


def test_only_children_need_no_weights():
    X = np.array([[0.0], [1.0], [2.0]])
    for estimator in (LinearClassifier(), PerParentClassifier(LinearClassifier())):
        model = estimator.fit(X, ["b/c", "a/c", "b/c"])
        assert is_coherent(model.predict_proba(X), model.hierarchy_)
        assert list(model.predict(X)) == ["b/c"] * 3


def correlated(n_classes: int, n_rows: int, seed: int = 0):
    """Return 60 numbers that tell five, and classes of which most have one or two rows."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(n_classes, 5))
    y = np.minimum(rng.geometric(0.03, n_rows) - 1, n_classes - 1)
    X = (centres[y] + rng.normal(scale=0.3, size=(n_rows, 5))) @ rng.normal(size=(5, 60))
    return X + rng.normal(scale=0.01, size=X.shape), np.array([f"{k % 7}/{k}" for k in y])


def test_numbers_that_tell_the_same_do_not_flatten_probabilities():
    X, y = correlated(80, 600)
    model = LinearClassifier().fit(X[:400], y[:400])
    proba = model.predict_proba(X[400:])
    known = np.isin(y[400:], y[:400])
    at = model.hierarchy_.indices(y[400:][known])
    assert np.median(proba[known, at]) > 0.1


def test_turned_numbers_give_the_same_hyperplanes(monkeypatch):
    X, y = correlated(10, 200)
    X = np.column_stack([X, np.zeros(200)])  # a constant column
    turned = LinearClassifier(C=0.1).fit(X, y)
    monkeypatch.setattr("ramify.local.linear._MOST_ROTATED", 0)
    monkeypatch.setattr("ramify.local.linear_classifier._LEAST_WEIGHT", 0.0)
    monkeypatch.setattr("ramify.local.linear_classifier._TOLERANCE", 1e-6)
    plain = LinearClassifier(C=0.1).fit(X, y)
    ends = [name for name in turned.hierarchy_.leaves if name in set(y)]
    at = turned.hierarchy_.indices(ends)
    same = turned.predict_proba(X)[:, at].argmax(1) == plain.predict_proba(X)[:, at].argmax(1)
    assert same.mean() > 0.95


@pytest.mark.filterwarnings("ignore:invalid value encountered in reduce:RuntimeWarning")
def test_huge_numbers_of_rows_without_weight_change_nothing():
    X, y = correlated(5, 60)
    weights = np.ones(60)
    weights[-2:] = 0
    huge = X.copy()
    huge[-2:] = [[1e308], [-1e308]]
    model = LinearClassifier().fit(huge, y, sample_weight=weights)
    expected = LinearClassifier().fit(X[:-2], y[:-2]).predict_proba(X)
    at = [model.hierarchy_.index(label) for label in read_labels(y[:-2]).hierarchy.labels]
    np.testing.assert_allclose(model.predict_proba(X)[:, at], expected, atol=1e-12)
