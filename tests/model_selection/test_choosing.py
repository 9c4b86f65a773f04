"""Tests of choose_model: comparison, choice and time limits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, cross_val_score

from ramify import (
    HierarchicalStratifiedKFold,
    HierarchicalVotingClassifier,
    Hierarchy,
    MLkNN,
    PCTClassifier,
    PCTExtraTreesClassifier,
    PCTForestClassifier,
    load_animals,
)
from ramify.metrics import get_scorer
from ramify.model_selection import candidates, choose_model
from tests.support.budget import budget
from tests.support.local_cases import is_coherent, make_data, one_path_per_row

FOREST = PCTForestClassifier(n_estimators=5)
EXTRA = PCTExtraTreesClassifier(n_estimators=5)
SMALL = [
    ("tree", PCTClassifier(max_depth=3)),
    ("shares", PCTClassifier(max_depth=0)),
    ("forest", FOREST),
    ("extra", EXTRA),
    ("vote", ("forest", "extra")),
]


def choose(X: Any, y: Any, **options: Any) -> Any:
    defaults = {"candidates": SMALL, "cv": 3, "time_limit": None, "random_state": 0}
    return choose_model(X, y, **{**defaults, **options})


# ---- comparison ----------------------------------------------------------------------------


def test_scores_are_those_of_scikit_learn_and_the_best_model_is_fitted_on_all_rows():
    data = make_data(as_frame=False, noise=0.7)
    y = data.y.toarray()
    measures = ("pooled_auprc", "hierarchical_f1", "neg_hamming_loss")
    choice = choose(data.X, y, hierarchy=data.hierarchy, scoring=measures)
    folds = KFold(3, shuffle=True, random_state=0)
    vote = HierarchicalVotingClassifier([("forest", FOREST), ("extra", EXTRA)])
    vote.set_params(forest__random_state=0, extra__random_state=0)
    for name, estimator in [*SMALL[:4], ("vote", vote)]:
        model = clone(estimator).set_params(hierarchy=data.hierarchy, random_state=0)
        for measure in measures:
            expected = cross_val_score(model, data.X, y, cv=folds, scoring=get_scorer(measure))
            found = choice.trial(name).scores[measure]
            np.testing.assert_allclose(found, expected, rtol=1e-12)
    means = [trial.mean("pooled_auprc") for trial in choice.trials]
    assert means == sorted(means, reverse=True)
    assert choice.name == choice.trials[0].name
    assert choice.n_folds == 3
    best = choice.trials[0].estimator
    expected = clone(best).set_params(hierarchy=data.hierarchy).fit(data.X, y)
    assert_array_equal(choice.model.predict_proba(data.X), expected.predict_proba(data.X))
    text = f"{choice.name} has the highest pooled_auprc over 3 folds, {means[0]:.4f}; "
    assert choice.reason.startswith(text + f"{choice.trials[1].name} is next")


def test_the_first_of_equal_candidates_is_chosen():
    data = make_data(as_frame=False)
    same = [("one", PCTClassifier()), ("two", PCTClassifier())]
    assert choose(data.X, data.y, candidates=same).name == "one"
    assert choose(data.X, data.y, candidates=same[::-1]).name == "two"


def test_the_default_candidates_include_a_baseline_and_a_blend():
    data = load_animals()
    choice = choose_model(
        data.X, data.y, hierarchy=data.hierarchy, cv=2, time_limit=None, random_state=0
    )
    names = [trial.name for trial in choice.trials]
    assert {"label shares", "tree", "forest", "extra trees", "blend"} <= set(names)
    assert names[-1] == "label shares"
    assert "linear" not in names  # which is for texts and paths
    shares = choice.trial("label shares").estimator.set_params(hierarchy=data.hierarchy)
    expected = np.asarray(data.y.mean(axis=0)).ravel()
    found = shares.fit(data.X, data.y).predict_proba(data.X)
    np.testing.assert_allclose(found, np.tile(expected, (len(found), 1)), atol=1e-12)


def test_linear_models_of_texts_are_candidates_by_default():
    things = ["a red pan", "an oak table", "a hat of wool"] * 12
    texts = [f"{thing} for our home, {n}" for n, thing in enumerate(things)]
    y = ["kitchen/pans", "home/tables", "clothes/hats"] * 12
    frame = pd.DataFrame({"title": texts, "price": range(36)})
    names = {one.name for one in choose_model(frame, y, cv=2, time_limit=9.0).trials}
    assert {"linear", "linear per parent"} <= names


def test_linear_models_of_paths_are_candidates_by_default():
    random = np.random.default_rng(0)
    kinds = random.integers(0, 3, 60)
    X = random.normal(size=(60, 8)) + random.normal(size=(3, 8))[kinds]
    y = np.array(["a/b", "a/c", "d"])[kinds]
    names = {one.name for one in choose_model(X, y, cv=2, time_limit=9.0).trials}
    assert "linear" in names
    assert "linear per parent" not in names


def test_sample_weights_count_in_fits_and_measures():
    data = make_data(as_frame=False)
    weights = np.r_[np.ones(60), np.zeros(20)]
    folds = [(np.arange(40), np.arange(40, 80))]
    weighted = choose(data.X, data.y, sample_weight=weights, cv=folds)
    without = choose(data.X[:60], data.y[:60], cv=[(np.arange(40), np.arange(40, 60))])
    for name in ("tree", "shares"):
        first, second = weighted.trial(name), without.trial(name)
        assert first.mean("pooled_auprc") == pytest.approx(second.mean("pooled_auprc"))
        assert math.isnan(first.sd("pooled_auprc"))
    assert weighted.n_folds == 1
    assert " on one fold, " in weighted.reason


@pytest.mark.parametrize("seed", [3, np.random.RandomState(3)])
def test_threads_and_folds_by_any_seed(seed):
    data = make_data(as_frame=False)
    choice = choose(data.X, data.y, random_state=seed, n_jobs=2)
    assert choice.trial("forest").estimator.n_jobs == 2
    splitter = HierarchicalStratifiedKFold(2, hierarchy=data.hierarchy, random_state=0)
    assert choose(data.X, data.y, hierarchy=data.hierarchy, cv=splitter).n_folds == 2


# ---- labels of every kind ------------------------------------------------------------------

DAG = Hierarchy.from_edges([("a", "b"), ("a", "c"), ("d", "c"), ("d", "e")])


@given(
    n_rows=st.integers(1, 12),
    seed=st.integers(0, 99),
    form=st.sampled_from(["sets", "matrix", "paths", "levels", "joined"]),
)
@budget(40)
def test_tiny_data_with_labels_of_every_format(n_rows, seed, form):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 2))
    sets = [[["b"], ["c"], ["e"], [], ["a", "e"]][k] for k in rng.integers(0, 5, n_rows)]
    paths = rng.choice(["p/q", "p/r", "s", "p"], n_rows)
    y, hierarchy = {
        "sets": (sets, DAG),
        "matrix": (DAG.encode(sets), DAG),
        "paths": (paths, None),
        "levels": (np.array([(*path.split("/"), "")[:2] for path in paths]), None),
        "joined": ([f"{path}@s" for path in paths], None),
    }[form]
    choice = choose(X, y, hierarchy=hierarchy, cv=5)
    assert choice.n_folds == (min(5, n_rows) if n_rows > 1 else 0)
    assert is_coherent(choice.model.predict_proba(X), choice.model.hierarchy_)
    alone = PCTClassifier(hierarchy).fit(X, y)
    assert type(choice.model.predict(X)) is type(alone.predict(X))
    assert choice.name in [name for name, _ in SMALL]


def test_undefined_scores_give_the_first_candidate():
    X = np.zeros((6, 1))
    choice = choose(X, [[]] * 6, hierarchy=DAG)
    assert choice.reason == "tree is the first candidate; pooled_auprc is undefined in all folds."
    assert choice.model.predict(X) == [[]] * 6


def test_other_classifiers_can_be_candidates():
    X, y = one_path_per_row()
    choice = choose(X, y, candidates=[("linear", LogisticRegression()), ("tree", PCTClassifier())])
    assert choice.name == "linear"
    assert choice.trial("linear").mean("pooled_auprc") > choice.trial("tree").mean("pooled_auprc")


def test_a_candidate_that_fails_is_left_out_unless_it_is_the_first():
    data = make_data(as_frame=False)
    pairs = [("tree", PCTClassifier()), ("knn", MLkNN()), ("both", ["tree", "knn"])]
    choice = choose(data.X, data.y, candidates=pairs, sample_weight=np.ones(80))
    assert choice.name == "tree"
    assert choice.trial("knn").note.startswith("failed: sample_weight is given, but MLkNN.fit")
    assert choice.trial("both").note == "not tried: it needs knn"
    with pytest.raises(TypeError, match=r"MLkNN\.fit takes none"):
        choose(data.X, data.y, candidates=pairs[1::-1], sample_weight=np.ones(80))


# ---- time limits ---------------------------------------------------------------------------


class Clock:
    """A clock that only advances when a model of these tests is fitted."""

    now = 0.0
    fits: list[tuple[str, int]]


class Slow(ClassifierMixin, BaseEstimator):
    """A tree whose fit takes a given time for each row, on the clock of the tests."""

    def __init__(
        self,
        name="",
        per_row=0.0,
        *,
        depth=3,
        power=1.0,
        max_features=None,
        seed=0,
        hierarchy=None,
    ):
        self.name = name
        self.per_row = per_row
        self.depth = depth
        self.power = power
        self.max_features = max_features
        self.seed = seed
        self.hierarchy = hierarchy

    def fit(self, X, y):
        Clock.now += self.per_row * len(X) ** self.power
        Clock.fits.append((self.name, len(X)))
        self.tree_ = PCTClassifier(
            self.hierarchy,
            max_depth=self.depth,
            max_features=self.max_features,
            random_state=self.seed,
        ).fit(X, y)
        self.hierarchy_ = self.tree_.hierarchy_
        return self

    def predict_proba(self, X):
        return self.tree_.predict_proba(X)


@pytest.fixture
def clock(monkeypatch):
    monkeypatch.setattr(candidates, "perf_counter", lambda: Clock.now)
    Clock.now, Clock.fits = 0.0, []
    return Clock


def slow(**seconds: float) -> list[tuple[str, Any]]:
    """Return candidates by the seconds that they take for 1,000 rows; later ones are better."""
    return [
        (name, Slow(name, value / 1000, depth=1 + 2 * k))
        for k, (name, value) in enumerate(seconds.items())
    ]


def limited(limit: float, candidates: list[tuple[str, Any]], n_rows: int = 1000) -> Any:
    data = make_data(n_samples=n_rows, as_frame=False, noise=0.2)
    return choose(
        data.X, data.y, hierarchy=data.hierarchy, candidates=candidates, cv=5, time_limit=limit
    )


def test_all_folds_are_used_if_there_is_time(clock):
    choice = limited(100, slow(quick=1, better=2))
    assert (choice.name, choice.n_folds) == ("better", 5)
    assert choice.seconds == clock.now < 100
    assert choice.fit_seconds == pytest.approx(2)
    assert choice.trial("better").seconds == pytest.approx(1.6)


def test_fewer_folds_are_used_if_there_is_less_time(clock):
    choice = limited(12, slow(quick=1, better=2))
    assert choice.name == "better"
    assert 1 <= choice.n_folds < 5
    assert {len(trial.scores["pooled_auprc"]) for trial in choice.trials} == {choice.n_folds}
    assert clock.now <= 12


def test_a_candidate_that_would_not_finish_is_not_started(clock):
    choice = limited(60, slow(quick=1, slow=1000, better=2))
    assert choice.name == "better"
    assert max(n for name, n in clock.fits if name == "slow") < 100
    note = choice.trial("slow").note
    assert note.startswith("not tried: it may take about ")
    assert note.endswith(" were left")
    assert choice.trials[-1].name == "slow"
    assert clock.now <= 60


def test_the_first_candidate_is_fitted_even_without_time_to_compare(clock):
    for limit in (0, 1):
        choice = limited(limit, slow(only=50, better=1))
        assert (choice.name, choice.n_folds) == ("only", 0)
        assert choice.reason == (
            "only is the first candidate; there was no time to compare models."
        )
        assert choice.model.hierarchy_.n_labels == 12
    assert "better" not in {name for name, _ in clock.fits}


def test_a_vote_that_cannot_be_fitted_in_time_is_not_chosen(clock):
    one, two = (
        (name, Slow(name, 0.01, depth=9, max_features=2, seed=k))
        for k, name in enumerate(("one", "two"))
    )
    pairs = [*slow(quick=1), one, two, ("vote", ["one", "two"])]
    enough = limited(1000, pairs)
    assert enough.name == "vote"
    assert enough.trial("vote").seconds == pytest.approx(2 * enough.trial("one").seconds)
    clock.now = 0.0
    choice = limited(38, pairs)
    assert choice.n_folds == 1
    assert choice.trials[0].note.startswith("not chosen: fitting it on all rows would take about")
    assert choice.name in ("one", "two")
    assert "of the models that can be fitted in the time left" in choice.reason
    assert clock.now <= 38


def test_a_vote_goes_on_without_a_member_that_was_not_tried(clock):
    pairs = [
        *slow(one=1, slow=1000, two=2),
        ("three", ["one", "slow", "two"]),
        ("both", ["slow", "two"]),
    ]
    choice = limited(60, pairs)
    assert choice.trial("three").note == "without slow"
    assert [name for name, _ in choice.trial("three").estimator.estimators] == ["one", "two"]
    assert choice.trial("both").note == "not tried: it needs slow"
    assert choice.trial("both").scores == {}


def test_a_cost_that_grows_faster_than_expected_costs_folds_not_the_result(clock):
    quadratic = ("quadratic", Slow("quadratic", 1e-5, depth=9, power=2.0))
    choice = limited(25, [*slow(quick=1), quadratic])
    assert choice.n_folds < 5
    assert choice.name in ("quick", "quadratic")


@given(
    limit=st.floats(0, 50),
    seconds=st.lists(st.floats(0.001, 30), min_size=1, max_size=4),
)
@budget(25)
def test_the_limit_holds_whatever_the_candidates_cost(limit, seconds):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(candidates, "perf_counter", lambda: Clock.now)
        Clock.now, Clock.fits = 0.0, []
        choice = limited(limit, slow(**{f"m{k}": s for k, s in enumerate(seconds)}), 300)
        # Fits on the first 10 rows, and the first candidate, may exceed the limit.
        smallest = sum(2 * 10 / 1000 * s for s in seconds)
        assert Clock.now <= limit + smallest + 300 / 1000 * seconds[0]
        assert choice.model is not None
        assert len(choice.trials) == len(seconds)


# ---- interrupts and errors -----------------------------------------------------------------


class Interrupted(Slow):
    """A model that is interrupted in its second fit."""

    def fit(self, X, y):
        if Clock.fits:
            raise KeyboardInterrupt
        return super().fit(X, y)


def test_an_interrupt_ends_the_comparison(clock):
    with pytest.raises(KeyboardInterrupt):
        limited(100, [("model", Interrupted("model"))])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"candidates": PCTClassifier()}, TypeError, "candidates must be a list of .name, class"),
        ({"candidates": []}, ValueError, "candidates must have at least one classifier"),
        ({"candidates": SMALL[4:]}, ValueError, "candidates must have at least one classifier"),
        ({"candidates": SMALL * 2}, ValueError, "candidates must have different names"),
        ({"candidates": [*SMALL[:3], SMALL[4]]}, ValueError, "classifiers, got 'extra'"),
        ({"candidates": [("a", 3)]}, TypeError, "estimator must be a classifier"),
        ({"scoring": "auprc"}, ValueError, "scoring: .*got 'auprc'"),
        ({"scoring": []}, ValueError, "scoring must name at least one measure"),
        ({"time_limit": -1}, ValueError, "time_limit must be a number >= 0, got -1"),
        ({"cv": 1}, ValueError, "cv must be an integer >= 2, got 1"),
        ({"sample_weight": [1.0]}, ValueError, "sample_weight"),
    ],
)
def test_errors_name_the_argument_and_its_value(options, error, message):
    data = make_data(as_frame=False)
    with pytest.raises(error, match=message):
        choose(data.X, data.y, **options)


# ---- simple models are preferred ------------------------------------------------------------


def test_a_simpler_model_within_one_standard_error_is_preferred():
    data = make_data(as_frame=False, noise=1.0)
    models = [("small", PCTForestClassifier(n_estimators=24)), ("larger", FOREST)]
    models += [("largest", PCTForestClassifier(n_estimators=25))]
    choice = choose(data.X, data.y, hierarchy=data.hierarchy, candidates=models, cv=5)
    small, largest = (choice.trial(name).scores["pooled_auprc"] for name in ("small", "largest"))
    gains = np.subtract(largest, small)
    assert 0 < gains.mean() <= gains.std(ddof=1) / math.sqrt(5)
    assert choice.name == "small"
    assert choice.reason.startswith("small is simpler than largest, whose pooled_auprc over 5")
    weak = [("tree", PCTClassifier(max_depth=1)), *models[1:]]
    choice = choose(data.X, data.y, hierarchy=data.hierarchy, candidates=weak, cv=5)
    assert choice.name != "tree"
