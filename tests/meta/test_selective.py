"""Answers that keep a promise."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.frozen import FrozenEstimator

import ramify
from ramify import Hierarchy, PCTForestClassifier, SelectiveClassifier

TREE = Hierarchy.from_paths(["a/p", "a/q", "b/r", "b/s", "c"])


def paths(n_rows, seed, *, noise=0.8, **options):
    data = ramify.make_hierarchical_classification(
        n_rows, 8, n_labels=20, labels_per_row=1, noise=noise, random_state=seed, **options
    )
    return data, np.array([labels[0] for labels in data.hierarchy.decode(data.y)])


def forest(hierarchy):
    return PCTForestClassifier(hierarchy, n_estimators=10, random_state=0)


@pytest.fixture(scope="module")
def problem():
    return paths(3000, 0)


@pytest.fixture(scope="module")
def careful(problem):
    data, y = problem
    model = SelectiveClassifier(forest(data.hierarchy), max_error=0.1, random_state=0)
    return model.fit(data.X[:2000], y[:2000])


def wrong(hierarchy, truth, answers):
    given = np.flatnonzero(np.asarray(answers) != "")
    at = hierarchy.indices(np.asarray(answers)[given])
    found = np.zeros(len(answers), dtype=bool)
    found[given] = np.asarray(truth[given, at]).ravel() == 0
    return found


def test_answers_are_labels_of_the_path_that_are_rarely_wrong(problem, careful):
    data, _ = problem
    X, truth = data.X[2000:], data.y[2000:]
    for max_error in (0.02, 0.1, 0.3):
        answers = careful.predict(X, max_error=max_error)
        assert wrong(data.hierarchy, truth, answers).mean() <= max_error + 0.03
    plain = careful.estimator_.predict(X)
    for answer, label in zip(careful.predict(X), plain, strict=True):
        assert answer in ("", label, *data.hierarchy.ancestors(label))


def test_stricter_promises_never_give_deeper_answers(problem, careful):
    data, _ = problem
    depths = careful.answer_depths(data.X[2000:], [0.01, 0.05, 0.1, 0.3])
    assert (np.diff(depths, axis=0) >= 0).all()
    assert (np.diff(depths, axis=1) <= 0).all()
    strict, loose = (careful.predict_sets(data.X[2000:2050], max_error=e) for e in (0.02, 0.4))
    hierarchy = data.hierarchy
    for small, large in zip(loose, strict, strict=True):
        above = {label for one in small for label in (one, *hierarchy.ancestors(one))}
        assert not large or above & set(large) or len(small) == 0


def test_sets_have_few_labels_and_contain_the_truth(problem, careful):
    data, _ = problem
    sets = careful.predict_sets(data.X[2000:])
    missed = 0
    for row, labels in zip(data.y[2000:].toarray(), sets, strict=True):
        assert len(labels) <= 3
        missed += bool(labels) and not row[data.hierarchy.indices(labels)].any()
    assert missed / len(sets) <= 0.13


@pytest.mark.parametrize("errors", ["missed", "false"])
@pytest.mark.parametrize("per", ["all", "branch"])
@pytest.mark.parametrize("confidence", [None, 0.9])
def test_label_sets_keep_the_promise(errors, per, confidence):
    data = ramify.make_hierarchical_classification(2000, 8, n_labels=20, random_state=1)
    model = SelectiveClassifier(
        forest(data.hierarchy),
        max_error=0.2,
        errors=errors,
        per=per,
        confidence=confidence,
        random_state=0,
    ).fit(data.X[:1200], data.y[:1200])
    found = model.predict(data.X[1200:]).toarray() > 0
    true = data.y[1200:].toarray() > 0
    levels = data.hierarchy.levels[0]
    parts = [[label, *data.hierarchy.descendants(label)] for label in levels]
    for part in parts if per == "branch" else [data.hierarchy.labels]:
        columns = data.hierarchy.indices(part)
        hits = (found & true)[:, columns].sum(axis=1)
        of = (true if errors == "missed" else found)[:, columns].sum(axis=1)
        share = 1 - hits[of > 0] / of[of > 0]
        mean = share.mean() if errors == "missed" else share.sum() / len(of)
        assert mean <= 0.2 + 0.04


def test_every_branch_has_a_threshold_of_its_own_if_it_has_rows(problem):
    data, y = problem
    model = SelectiveClassifier(
        forest(data.hierarchy), max_error=0.02, per="branch", random_state=0
    )
    with pytest.warns(UserWarning, match=r"top-level labels have too few .* share a threshold"):
        model.fit(data.X[:400], y[:400])
    shared = model.shared_branches_
    assert 0 < len(shared) <= len(data.hierarchy.levels[0])
    loose = model.set_params(max_error=0.3)
    assert loose.shared_branches_ == ()


def test_a_fitted_classifier_is_calibrated_on_rows_that_it_has_not_seen(problem):
    data, y = problem
    fitted = forest(data.hierarchy).fit(data.X[:1000], y[:1000])
    model = SelectiveClassifier(FrozenEstimator(fitted), max_error=0.1)
    model.fit(data.X[:1000], y[:1000], X_val=data.X[1000:2000], y_val=y[1000:2000])
    answers = model.predict(data.X[2000:])
    assert wrong(data.hierarchy, data.y[2000:], answers).mean() <= 0.13


def test_groups_are_not_divided_and_count_like_rows(problem):
    data, y = problem
    X, groups = np.repeat(data.X[:300], 4, axis=0), np.repeat(np.arange(300), 4)
    labels = np.repeat(y[:300], 4)
    model = SelectiveClassifier(forest(data.hierarchy), max_error=0.2, random_state=0)
    grouped = model.fit(X, labels, groups=groups)
    assert grouped.promise_.n_units == 75
    assert wrong(data.hierarchy, data.y[300:], grouped.predict(data.X[300:])).mean() <= 0.25
    confident = model.set_params(confidence=0.9).fit(X, labels, groups=groups)
    assert (confident.thresholds_ >= grouped.thresholds_).all()


def test_rows_that_become_more_frequent_weigh_more(problem):
    data, y = problem
    fitted = FrozenEstimator(forest(data.hierarchy).fit(data.X[:1000], y[:1000]))
    hard = data.hierarchy.index(data.hierarchy.levels[0][0])
    weights = 1.0 + 4 * data.y[1000:, [hard]].toarray().ravel()
    model = SelectiveClassifier(fitted, max_error=0.1)
    model.fit(
        data.X[:1000],
        y[:1000],
        X_val=data.X[1000:2000],
        y_val=y[1000:2000],
        sample_weight_val=weights[:1000],
    )
    X, new = data.X[2000:], weights[1000:]
    mistakes = wrong(data.hierarchy, data.y[2000:], model.predict(X, shift_weight=new))
    assert np.average(mistakes, weights=new) <= 0.13
    # Without weights of the new rows, the largest is assumed.
    largest = np.full(len(new), 5.0)
    assert (model.predict(X) == model.predict(X, shift_weight=largest)).all()
    for weight in (np.inf, np.nan, -1.0):
        with pytest.raises(ValueError, match=f"finite and non-negative, got {weight}. Replace"):
            model.predict(X[:2], shift_weight=[1, weight])
    with pytest.raises(ValueError, match=r"one weight per row, got shape \(1,\) for 2 rows"):
        model.predict(X[:2], shift_weight=[1])


def test_rows_unlike_the_calibration_rows_are_noticed(problem, careful):
    data, _ = problem
    assert "no sign" in str(careful.check_shift(data.X[2000:]))
    shifted = careful.check_shift(3 * data.X[2000:])
    assert shifted.is_likely
    assert "the promise may not hold" in str(shifted)


@pytest.mark.parametrize(
    "y", [["x/a", "x/b"] * 30, [1, 2] * 30, ramify.as_levels([["x", "a"], ["x", "b"]] * 30)]
)
def test_answers_are_empty_if_there_are_too_few_rows(y):
    X = np.arange(60.0)[:, None]
    model = SelectiveClassifier(ramify.PCTClassifier(random_state=0), max_error=0.01)
    with pytest.warns(UserWarning, match="every answer is empty. Pass more rows"):
        model.fit(X, y)
    expected = {str: [""], int: [None]}.get(type(y[0]), ["", ""])
    assert np.asarray(model.predict(X[:1])).ravel().tolist() == expected
    assert model.predict_sets(X[:2]) == [(), ()]


def test_a_matrix_with_one_path_per_row_is_climbed_too(problem, careful):
    data, _ = problem
    model = SelectiveClassifier(forest(data.hierarchy), max_error=0.1, random_state=0)
    found = model.fit(data.X[:2000], data.y[:2000]).predict(data.X[2000:])
    labels = [row[0] if row else "" for row in data.hierarchy.decode(found)]
    assert labels == careful.predict(data.X[2000:]).tolist()
    sets = model.set_params(errors="missed").fit(data.X[:2000], data.y[:2000])
    assert sets.predict(data.X[2000:]).nnz > found.nnz


def test_all_labels_are_predicted_if_there_are_too_few_rows():
    data = ramify.make_hierarchical_classification(40, 5, n_labels=6, random_state=0)
    model = SelectiveClassifier(ramify.PCTClassifier(data.hierarchy), max_error=0.01)
    with pytest.warns(UserWarning, match="every answer contains all labels"):
        model.fit(data.X, data.y)
    assert model.predict(data.X[:1]).nnz == data.hierarchy.n_labels


@pytest.mark.parametrize("calibration", [0.5, 3])
def test_saved_models_keep_the_promise(problem, calibration, tmp_path):
    data, y = problem
    for labels in (y[:300], data.y[:300]):
        model = SelectiveClassifier(
            forest(data.hierarchy), calibration=calibration, random_state=0
        ).fit(data.X[:300], labels)
        ramify.save(model, tmp_path / "m.ramify")
        loaded = ramify.load(tmp_path / "m.ramify")
        one, other = (m.predict(data.X[:50], max_error=0.25) for m in (model, loaded))
        assert (one != other).nnz == 0 if sparse.issparse(one) else (one == other).all()


@pytest.mark.parametrize(
    "changed",
    [
        lambda promise: {"level_scores": promise.level_scores[:, 1:]},
        lambda promise: {"level_scores": promise.level_scores * np.nan},
        lambda promise: {"critical": promise.critical * np.nan},
        lambda promise: {"shares": promise.shares * 0},
        lambda promise: {"shares": promise.shares * 1e308, "is_weighted": 1},
        lambda promise: {"n_units": 10**9, "shares": promise.shares / 2},
        lambda promise: {"candidates": promise.candidates & False},
        lambda promise: {
            name: getattr(promise, name)[:0]
            for name in ("critical", "set_critical", "shares", "level_scores", "branches")
        },
    ],
)
def test_files_whose_promise_cannot_be_that_of_rows_are_refused(careful, changed, tmp_path):
    forged = copy(careful)
    forged.promise_ = replace(careful.promise_, **changed(careful.promise_))
    ramify.save(forged, tmp_path / "m.ramify")
    with pytest.raises(ramify.ModelFileError, match="promise_ do not fit"):
        ramify.load(tmp_path / "m.ramify")
    forged = copy(careful)
    forged.confidences_ = forged.confidences_[:0]
    ramify.save(forged, tmp_path / "m.ramify")
    with pytest.raises(ramify.ModelFileError, match="confidences_ must not be empty"):
        ramify.load(tmp_path / "m.ramify")


@pytest.mark.parametrize(
    ("settings", "options", "message"),
    [
        ({"max_error": 0}, {}, "max_error must be a number between 0 and 1, got 0"),
        ({"max_error": 1.5}, {}, "max_error must be a number from 0 to 1, got 1.5"),
        ({"confidence": 1.0}, {}, "confidence must be a number between 0 and 1"),
        ({"calibration": 1.0}, {}, "calibration must be a number between 0 and 1"),
        ({"calibration": 1}, {}, "calibration must be an integer >= 2, got 1"),
        ({"calibration": "half"}, {}, "calibration must be an integer >= 2, a splitter"),
        ({"calibration": 70}, {}, "calibration must not exceed the number of rows"),
        ({"calibration": 0.999}, {}, r"calibration must leave .* got 0.999 of 60 samples"),
        ({}, {"groups": np.zeros(60)}, r"calibration must leave .* got 0.25 of 1 group\."),
        ({}, {"groups": np.full(60, np.nan)}, "groups must not have missing values, got nan for"),
        ({}, {"groups": [None, "a"] * 30}, "groups must not have missing values, got None for 30"),
        ({"errors": "all"}, {}, "errors must be"),
        ({"errors": "false"}, {}, "errors must be 'wrong' if y has one label or path per row"),
        ({"max_labels": 0}, {}, "max_labels must be an integer >= 1"),
        ({}, {"groups": [1, 2]}, "groups must have one entry per row"),
        ({"per": "branch"}, {"groups": np.arange(60)}, 'per must be "all" if groups are given'),
        ({}, {"sample_weight": np.zeros(60)}, "positive"),
    ],
)
def test_wrong_settings_are_refused(settings, options, message):
    model = SelectiveClassifier(ramify.PCTClassifier(TREE), **settings)
    with pytest.raises(ValueError, match=message):
        model.fit(np.zeros((60, 1)), ["a/p", "b/r"] * 30, **options)


def test_calibration_without_rows_is_refused(problem):
    data, y = problem
    rows = np.arange(60)
    model = SelectiveClassifier(forest(data.hierarchy), calibration=[(rows[:40], rows[40:])])
    with pytest.raises(ValueError, match=r"calibration must leave at least one row .* got none"):
        model.fit(data.X[:60], y[:60], sample_weight=rows < 40)
    with pytest.raises(ValueError, match="sample_weight_val is zero for every row"):
        model.fit(
            data.X[:60], y[:60], X_val=data.X[:9], y_val=y[:9], sample_weight_val=np.zeros(9)
        )
    for labels in (y[:0], data.y[:0]):
        with pytest.raises(ValueError, match=r"0 sample|no rows"):
            model.fit(data.X[:60], y[:60], X_val=data.X[:0], y_val=labels)


def test_wrong_requests_are_refused(problem, careful):
    data, _ = problem
    X = data.X[:3]
    with pytest.raises(ValueError, match=r"threshold must be None .* Pass max_error"):
        careful.predict(X, 0.5)
    with pytest.raises(ValueError, match="max_error must be"):
        careful.predict(X, max_error=2)
    with pytest.raises(ValueError, match="shift_weight must be None if fit got no"):
        careful.predict(X, shift_weight=[1, 1, 1])
    for confidences in ([], [0.5, np.nan]):
        with pytest.raises(ValueError, match="confidences must be a list of finite numbers"):
            careful.shift_of(confidences)
    sets = SelectiveClassifier(forest(data.hierarchy), errors="missed", random_state=0)
    sets.fit(data.X[:99], data.y[:99])
    with pytest.raises(ValueError, match="predict_sets requires one label or path per row"):
        sets.predict_sets(X)
    with pytest.raises(ValueError, match=r"max_error must be a number from 0.01 to 0.5"):
        sets.predict(X, max_error=0.001)
    with pytest.raises(ValueError, match="max_error must be None if threshold is given"):
        sets.predict(X, 0.5, max_error=0.1)
    dag = Hierarchy.from_edges([("a", "c"), ("b", "c")])
    with pytest.raises(ValueError, match="'c' is below 'a', 'b'"):
        SelectiveClassifier(ramify.PCTClassifier(dag), per="branch").fit(
            np.zeros((4, 1)), [["a", "b"], ["b"], ["c"], ["a"]]
        )
    with pytest.raises(ValueError, match=r"errors must not be 'wrong' .* got 2 most specific"):
        SelectiveClassifier(ramify.PCTClassifier(dag), errors="wrong").fit(
            np.zeros((4, 1)), [["a", "b"], ["b"], ["c"], ["a"]]
        )
