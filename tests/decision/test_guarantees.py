"""Thresholds that keep a promise, against their definitions and by simulation."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from ramify import Hierarchy
from ramify.decision.guarantees import (
    Cover,
    Events,
    above,
    below,
    climb,
    critical_scores,
    false_events,
    lowest_safe,
    missed_events,
    pooled,
    set_scores,
    tolerated,
)
from tests.reference import guarantees as reference

TREE = Hierarchy.from_paths(["a/p/x", "a/p/y", "a/q", "b/r", "b/s", "c"])
DAG = Hierarchy.from_edges(
    [("a", "p"), ("b", "p"), ("a", "q"), ("p", "s"), ("q", "s"), ("b", "t")]
)
hierarchies = st.sampled_from([TREE, DAG, Hierarchy.from_labels(["a", "b", "c"])])
shares = st.integers(1, 99).map(lambda k: Fraction(k, 100))


@st.composite
def scored_rows(draw: st.DrawFn) -> tuple[Hierarchy, np.ndarray, Any]:
    """Coherent scores with many ties, and one true path for each row."""
    hierarchy = draw(hierarchies)
    n = draw(st.integers(1, 8))
    raw = draw(
        st.lists(
            st.lists(st.integers(0, 4), min_size=hierarchy.n_labels, max_size=hierarchy.n_labels),
            min_size=n,
            max_size=n,
        )
    )
    scores = np.array(raw, dtype=float) / 4
    for label in np.argsort(hierarchy.label_levels, kind="stable"):
        for parent in hierarchy.indices(hierarchy.parents(hierarchy.labels[label])):
            scores[:, label] = np.minimum(scores[:, label], scores[:, parent])
    true = draw(st.lists(st.sampled_from(hierarchy.labels), min_size=n, max_size=n))
    return hierarchy, scores, hierarchy.encode([[label] for label in true])


def parents_of(hierarchy: Hierarchy) -> list[list[int]]:
    return [hierarchy.indices(hierarchy.parents(label)).tolist() for label in hierarchy.labels]


def children_of(hierarchy: Hierarchy) -> list[list[int]]:
    return [hierarchy.indices(hierarchy.children(label)).tolist() for label in hierarchy.labels]


@given(st.integers(0, 60), shares, st.none() | shares)
def test_as_many_errors_are_tolerated_as_the_bound_allows(
    n: int, share: Fraction, confidence: Fraction | None
) -> None:
    given = None if confidence is None else float(confidence)
    assert tolerated(n, float(share), given) == reference.most_errors(n, share, confidence)


@given(st.integers(1, 200), shares, shares)
def test_losses_between_0_and_1_are_never_judged_more_kindly_than_errors(
    n: int, share: Fraction, confidence: Fraction
) -> None:
    exact = tolerated(n, float(share), float(confidence))
    assert tolerated(n, float(share), float(confidence), is_binary=False) <= exact + 1


@given(
    scored_rows(),
    st.lists(st.booleans(), min_size=9, max_size=9),
    st.sampled_from([-1.0, 0.0, 0.25, 0.3, 0.5, 0.75, 1.0, np.inf]),
)
def test_answers_and_their_errors_are_those_of_climbing_step_by_step(
    rows: tuple[Hierarchy, np.ndarray, Any], may_end: list[bool], threshold: float
) -> None:
    hierarchy, scores, Y = rows
    candidates = np.array(may_end[: hierarchy.n_labels])
    candidates[-1] |= not candidates.any()
    chains = climb(scores, candidates, hierarchy)
    critical = critical_scores(chains, Y)
    answers = chains.answers(threshold)
    for k, row in enumerate(scores):
        end = reference.likeliest_end(row, candidates, children_of(hierarchy))
        expected = reference.climb(row, end, parents_of(hierarchy), threshold)
        assert answers[k] == (-1 if expected is None else expected)
        is_wrong = expected is not None and Y[k, expected] == 0
        assert is_wrong == (threshold <= critical[k])
        above_it = hierarchy.labels[chains.tops[k]]
        assert above_it in hierarchy.levels[0]


@given(scored_rows(), st.integers(1, 3))
def test_sets_grow_and_miss_the_truth_up_to_their_critical_score(
    rows: tuple[Hierarchy, np.ndarray, Any], size: int
) -> None:
    hierarchy, scores, Y = rows
    cover = Cover(hierarchy)
    ends = set_scores(scores, np.ones(hierarchy.n_labels, dtype=bool), hierarchy)
    for k, row in enumerate(zip(ends, scores, strict=True)):
        covered: set[Any] = set()
        totals = [-1.0]
        for total, chosen in cover.grow(*row, size):
            labels = [hierarchy.labels[j] for j in chosen]
            now = set(labels).union(*map(hierarchy.descendants, labels))
            assert covered <= (now or set(hierarchy.labels))
            assert len(chosen) <= size
            assert total >= totals[-1]
            covered = now
            totals.append(total)
        truth = set(Y[[k]].indices.tolist())
        critical = cover.critical(*row, size, truth)
        for threshold in {*totals, 0.3, 5.0}:
            found = cover.at(*row, size, threshold)
            assert (bool(found) and truth.isdisjoint(found)) == (threshold <= critical)


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=12),
    st.floats(-1, 8),
)
def test_thresholds_are_those_found_by_trying_all(
    pairs: list[tuple[int, int]], most: float
) -> None:
    at, change = np.array(pairs, dtype=float).T
    events = Events(at, change)
    tried = sorted({*at.tolist(), *np.nextafter(at, np.inf).tolist()})

    def lost(threshold: float, *, rising: bool) -> list[float]:
        happens = at < threshold if rising else at >= threshold
        return change[happens].tolist()

    low = above(events, most)[0]
    high = below(events, most)[0]
    if most < 0:
        assert (low, high) == (np.inf, -np.inf)
        return
    assert sum(lost(low, rising=False)) <= most
    assert sum(lost(high, rising=True)) <= most
    assert all(sum(lost(t, rising=False)) > most for t in tried if t < low)
    assert all(sum(lost(t, rising=True)) > most for t in tried if t > high)


@given(scored_rows(), st.sampled_from([-1.0, 0.0, 0.25, 0.5, 1.0]))
def test_events_sum_to_the_losses_of_label_sets(
    rows: tuple[Hierarchy, np.ndarray, Any], threshold: float
) -> None:
    hierarchy, scores, Y = rows
    columns = np.arange(hierarchy.n_labels)
    costs = np.arange(1.0, hierarchy.n_labels + 1)
    predicted, true = scores >= threshold, Y.toarray() > 0
    missed = missed_events(scores, Y, costs, columns)
    false = false_events(scores, Y, columns, monotone=False)
    for k in range(len(scores)):
        lost = costs[true[k] & ~predicted[k]].sum() / costs[true[k]].sum()
        assert missed[k].change[missed[k].at < threshold].sum() == pytest.approx(lost)
        wrong = (predicted[k] & ~true[k]).sum() / max(1, predicted[k].sum())
        assert false[k].change[false[k].at >= threshold].sum() == pytest.approx(wrong)


def test_false_labels_that_count_for_good_never_count_less() -> None:
    scores = np.array([[0.9, 0.8, 0.7, 0.6]])
    Y = sparse.csr_array(np.array([[0, 1, 1, 0]], dtype=np.int32))
    (kept,) = false_events(scores, Y, np.arange(4), monotone=True)
    assert np.cumsum(kept.change).tolist() == [1.0, 1.0, 1.0, 1.0]


def test_without_enough_rows_nothing_is_promised() -> None:
    assert tolerated(5, 0.1) == -1
    assert tolerated(20, 0.1, 0.95) == -1
    assert tolerated(29, 0.1, 0.95) == 0


def test_thresholds_are_tested_from_the_highest_until_one_fails() -> None:
    events = Events(np.array([0.8, 0.6, 0.4]), np.array([1.0, 2.0, -3.0]))
    found = lowest_safe(events, [-1, 0.5, 1, 2.9, 3])
    assert found.tolist() == [np.inf, 0.801, 0.601, 0.601, 0.001]


@pytest.mark.parametrize("confidence", [None, 0.9])
@pytest.mark.parametrize("n", [20, 50, 200])
def test_promises_hold_over_many_draws_of_calibration_rows(
    n: int, confidence: float | None
) -> None:
    """The error over all rows follows from the distribution, so only calibration is random."""
    rng = np.random.default_rng(n)
    share, n_draws = 0.1, 2000
    errors = np.empty(n_draws)
    for draw in range(n_draws):
        # A row is wrong while the threshold does not exceed a uniform score: the share of errors
        # at a threshold t is 1 - t, and 0 for infinity. Scores are rounded to have ties.
        scores = rng.integers(1, 401, n) / 400
        events = Events(scores, np.ones(n))
        (threshold,) = above(events, tolerated(n, share, confidence))
        reached = np.ceil(min(threshold, 2.0) * 400 - 1e-6) / 400
        errors[draw] = max(0.0, 1 - (reached - 1 / 400))
    if confidence is None:
        assert errors.mean() <= share + 3 * errors.std() / np.sqrt(n_draws)
        assert errors.mean() >= share - 1.5 / n - 3 * errors.std() / np.sqrt(n_draws)
    else:
        chance = 3 * np.sqrt(0.1 * 0.9 / n_draws)
        assert (errors > share).mean() <= 1 - confidence + chance


def test_weights_and_groups_are_sums_of_shares() -> None:
    events = [
        Events(np.array([0.2, 0.4]), np.array([0.5, 0.5])),
        Events(np.array([0.3]), np.ones(1)),
    ]
    together = pooled(events, np.array([2.0, 1.0]))
    assert together.at.tolist() == [0.2, 0.4, 0.3]
    assert together.change.tolist() == [1.0, 1.0, 1.0]
