"""Promises of all modes over many draws of calibration rows, and what must not change them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse, stats

from ramify import Hierarchy
from ramify.decision.guarantees import false_events, missed_events
from ramify.meta.promises import STORED, CalibrationRows, PathPromise, SetPromise
from tests.support.budget import budget

TREE = Hierarchy.from_paths(
    ["a/p/x", "a/p/y", "a/q/x", "a/q/y", "b/r/x", "b/r/y", "b/s", "c/t", "c/u"]
)
DAG = Hierarchy.from_edges(
    [
        ("a", "p"),
        ("b", "p"),
        ("a", "q"),
        ("p", "s"),
        ("q", "s"),
        ("b", "t"),
        ("c", "t"),
        ("c", "u"),
    ]
)
CHAIN = Hierarchy.from_paths(["a/b/c/d/e/f/g", "a/b/c/d/h"])
SHARE, CONFIDENCE, N_POPULATION = 0.2, 0.9, 400


@cache
def population(hierarchy: Hierarchy, *, decimals: int = 6, many: bool = False) -> CalibrationRows:
    """Rows whose scores say how probable each label is, but too often too surely."""
    rng = np.random.default_rng(0)
    ends = hierarchy.indices(hierarchy.leaves)
    probable = rng.dirichlet(np.full(len(ends), 0.4), N_POPULATION)
    n_true = rng.integers(1, 4, N_POPULATION) if many else np.ones(N_POPULATION, dtype=int)
    labels = [
        [hierarchy.labels[ends[k]] for k in rng.choice(len(ends), n, p=p * 0.9 + 0.1 / len(ends))]
        for p, n in zip(probable, n_true, strict=True)
    ]
    below = hierarchy.close(
        sparse.csr_array(
            (np.ones(len(ends), dtype=np.int32), ends, np.arange(len(ends) + 1)),
            shape=(len(ends), hierarchy.n_labels),
        )
    )
    scores = np.round(np.minimum(1, probable @ below.toarray()), decimals)
    return CalibrationRows(scores, hierarchy.encode(labels), np.ones(N_POPULATION), None)


def learn(rows: CalibrationRows, hierarchy: Hierarchy, **changed: Any) -> PathPromise:
    candidates = np.zeros(hierarchy.n_labels, dtype=bool)
    candidates[hierarchy.indices(hierarchy.leaves)] = True
    options = {"confidence": None, "max_labels": 2, "per_branch": False} | changed
    return PathPromise.learn(rows, hierarchy, candidates=candidates, **options)


def at_rows(rows: CalibrationRows, chosen: Any) -> CalibrationRows:
    groups = None if rows.groups is None else rows.groups[chosen]
    Y = sparse.csr_array(rows.Y[chosen])
    return CalibrationRows(rows.scores[chosen], Y, rows.weights[chosen], groups)


def check_kept(draw: Callable[[Any], float], confidence: float | None, n_draws: int) -> None:
    rng = np.random.default_rng(1)
    errors = np.array([draw(rng) for _ in range(n_draws)])
    if confidence is None:
        assert errors.mean() <= SHARE + 3 * errors.std() / np.sqrt(n_draws)
        return
    n_above = int((errors > SHARE + 1e-9).sum())
    low = stats.binomtest(n_above, n_draws).proportion_ci(0.999).low
    assert low <= 1 - confidence


@pytest.mark.parametrize("confidence", [None, CONFIDENCE])
@pytest.mark.parametrize("for_sets", [False, True])
@pytest.mark.parametrize(
    ("hierarchy", "n", "decimals"),
    [(TREE, 60, 6), (DAG, 60, 6), (CHAIN, 60, 6), (TREE, 15, 6), (TREE, 60, 1)],
    ids=["tree", "DAG", "chain", "few rows", "ties"],
)
def test_answers_keep_the_promise_over_draws_of_calibration_rows(
    hierarchy: Hierarchy, n: int, decimals: int, for_sets: bool, confidence: float | None
) -> None:
    rows = population(hierarchy, decimals=decimals)
    everything = learn(rows, hierarchy)
    critical = everything.set_critical if for_sets else everything.critical

    def draw(rng: Any) -> float:
        # What happens to a row at a threshold does not depend on other rows.
        chosen = rng.integers(0, N_POPULATION, n)
        names = ("critical", "set_critical", "shares", "level_scores", "branches")
        some: dict[str, Any] = {name: getattr(everything, name)[chosen] for name in names}
        promise = replace(everything, confidence=confidence, n_units=n, **some)
        (limit,) = promise.thresholds(np.array([-1]), SHARE, for_sets=for_sets)
        return float((critical >= limit).mean())

    check_kept(draw, confidence, 1000)


@pytest.mark.parametrize("confidence", [None, CONFIDENCE])
@pytest.mark.parametrize("errors", ["missed", "false"])
@pytest.mark.parametrize("hierarchy", [TREE, DAG])
def test_label_sets_keep_the_promise_over_draws_of_calibration_rows(
    hierarchy: Hierarchy, errors: str, confidence: float | None
) -> None:
    rows = population(hierarchy, many=True)
    costs = np.ones(hierarchy.n_labels) if errors == "missed" else None
    roots = np.zeros(hierarchy.n_labels, dtype=np.intp)
    true = rows.Y.toarray() > 0

    def draw(rng: Any) -> float:
        some = at_rows(rows, rng.integers(0, N_POPULATION, 40))
        promise = SetPromise.learn(some, roots, share=SHARE, costs=costs, confidence=confidence)
        found = rows.scores >= promise.thresholds
        wrong = (true & ~found if errors == "missed" else found & ~true).sum(axis=1)
        of = (true if errors == "missed" else found).sum(axis=1)
        return float((wrong / np.maximum(1, of)).mean())

    check_kept(draw, confidence, 150)


def test_groups_keep_the_promise_over_draws_of_groups() -> None:
    rows = population(TREE)
    everything = learn(rows, TREE)
    # Rows of a group go wrong at similar thresholds.
    groups = np.array_split(np.argsort(everything.critical, kind="stable"), 90)

    def draw(rng: Any) -> float:
        chosen = [groups[k] for k in rng.integers(0, len(groups), 30)]
        names = np.repeat(np.arange(30), [len(group) for group in chosen])
        some = replace(at_rows(rows, np.concatenate(chosen)), groups=names)
        (limit,) = learn(some, TREE).thresholds(np.array([-1]), SHARE)
        return float(np.mean([(everything.critical[g] >= limit).mean() for g in groups]))

    check_kept(draw, None, 200)


def test_weights_keep_the_promise_where_some_rows_become_more_frequent() -> None:
    rows = population(TREE)
    critical = learn(rows, TREE).critical
    weights = np.where(critical > np.median(critical), 3.0, 1.0)  # rows that go wrong
    rows = replace(rows, weights=weights)

    def draw(rng: Any) -> float:
        promise = learn(at_rows(rows, rng.integers(0, N_POPULATION, 60)), TREE)
        limits = promise.thresholds(np.full(N_POPULATION, -1), SHARE, weights)
        return float(np.average(critical >= limits, weights=weights))

    check_kept(draw, None, 150)


chosen_rows = st.lists(st.integers(0, N_POPULATION - 1), min_size=1, max_size=40)
confidences = st.sampled_from([None, 0.5, 0.9])


@budget(25)
@given(chosen_rows, confidences, st.randoms(use_true_random=False))
def test_the_order_of_rows_has_no_effect(
    chosen: list[int], confidence: float | None, random: Any
) -> None:
    rows = population(TREE, decimals=1)
    shuffled = random.sample(chosen, len(chosen))
    for for_sets in (False, True):
        one, other = (
            learn(at_rows(rows, np.array(each)), TREE, confidence=confidence).thresholds(
                np.array([-1]), SHARE, for_sets=for_sets
            )
            for each in (chosen, shuffled)
        )
        assert one == other
    roots = np.zeros(TREE.n_labels, dtype=np.intp)
    for costs in (None, np.ones(TREE.n_labels)):
        first, second = (
            SetPromise.learn(
                at_rows(rows, np.array(each)),
                roots,
                share=SHARE,
                costs=costs,
                confidence=confidence,
            ).stored
            for each in (chosen, shuffled)
        )
        # Losses are summed in another order.
        assert (first != second).mean() <= 0.05


@budget(25)
@given(chosen_rows, st.floats(0.02, 0.9))
def test_rows_twice_do_not_make_answers_less_specific(chosen: list[int], share: float) -> None:
    rows = population(TREE, decimals=1)
    once, twice = (
        learn(at_rows(rows, np.array(each)), TREE).thresholds(np.array([-1]), share)
        for each in (chosen, chosen * 2)
    )
    assert twice <= once


@budget(25)
@given(chosen_rows, confidences)
def test_a_larger_share_of_errors_never_makes_answers_less_specific(
    chosen: list[int], confidence: float | None
) -> None:
    rows = at_rows(population(TREE), np.array(chosen))
    promise = learn(rows, TREE, confidence=confidence)
    for for_sets in (False, True):
        limits = [promise.thresholds(np.array([-1]), s, for_sets=for_sets)[0] for s in STORED]
        assert limits == sorted(limits, reverse=True)
    roots = np.zeros(TREE.n_labels, dtype=np.intp)
    for costs, sign in ((np.ones(TREE.n_labels), 1), (None, -1)):
        found = SetPromise.learn(rows, roots, share=SHARE, costs=costs, confidence=confidence)
        at = found.stored[:, 0]
        assert (sign * at[1:] >= sign * at[:-1]).all()
        predicted = population(TREE).scores >= found.thresholds
        parents = [TREE.indices(TREE.parents(label)) for label in TREE.labels]
        for label, above in enumerate(parents):
            assert (predicted[:, above] >= predicted[:, [label]]).all()


def test_rows_with_equal_scores_are_divided() -> None:
    # The top level has a score of 1 everywhere, but the model is less sure of some ends.
    hierarchy = Hierarchy.from_paths(["a/x", "a/y", "b"])
    sure = np.linspace(0.5, 1, 100)
    scores = np.column_stack([np.ones(100), sure, 1 - sure, np.zeros(100)])
    labels = ["b"] * 10 + ["a/x"] * 90  # wrong where the model is least sure
    rows = CalibrationRows(scores, hierarchy.encode([[x] for x in labels]), np.ones(100), None)
    promise = learn(rows, hierarchy)
    (limit,) = promise.thresholds(np.array([-1]), 0.05)
    answered = (promise.level_scores[:, 0] >= limit).sum()
    assert 90 <= answered < 100


def test_without_rows_no_label_is_called_false_and_none_is_missed() -> None:
    none = at_rows(population(TREE, many=True), np.array([], dtype=int))
    roots = np.zeros(TREE.n_labels, dtype=np.intp)
    assert missed_events(none.scores, none.Y, np.ones(TREE.n_labels), np.arange(3)) == []
    assert false_events(none.scores, none.Y, np.arange(3), monotone=True) == []
    for costs, limit in ((None, np.inf), (np.ones(TREE.n_labels), -np.inf)):
        learnt = SetPromise.learn(none, roots, share=SHARE, costs=costs, confidence=None)
        assert (learnt.thresholds == limit).all()
