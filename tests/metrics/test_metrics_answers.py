"""Measures of answers that may be short, against their definitions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify import Hierarchy, metrics
from ramify.decision import make_coherent
from tests.reference import guarantees as reference
from tests.support.budget import budget

TREE = Hierarchy.from_paths(["a/p/x", "a/p/y", "a/q", "b/r", "b/s", "c"])
DAG = Hierarchy.from_edges(
    [("a", "p"), ("b", "p"), ("a", "q"), ("p", "s"), ("q", "s"), ("b", "t"), ("c", "u")]
)


@st.composite
def answered_rows(draw: st.DrawFn) -> tuple[Hierarchy, list[str], list[str | None], np.ndarray]:
    hierarchy = draw(st.sampled_from([TREE, DAG]))
    n = draw(st.integers(1, 8))
    labels = st.sampled_from(hierarchy.labels)
    true = draw(st.lists(labels, min_size=n, max_size=n))
    answers = draw(st.lists(st.none() | labels, min_size=n, max_size=n))
    raw = draw(st.lists(st.integers(0, 5), min_size=9 * n, max_size=9 * n))
    scores = np.array(raw, dtype=float).reshape(n, 9)[:, : hierarchy.n_labels] / 5
    for label in np.argsort(hierarchy.label_levels, kind="stable"):
        for parent in hierarchy.indices(hierarchy.parents(hierarchy.labels[label])):
            scores[:, label] = np.minimum(scores[:, label], scores[:, parent])
    return hierarchy, true, answers, scores


def closed(hierarchy: Hierarchy, label: str | None) -> set[Any]:
    return set() if label is None else {label, *hierarchy.ancestors(label)}


def information(hierarchy: Hierarchy, answer: set[Any]) -> float:
    possible = [leaf for leaf in hierarchy.leaves if answer <= closed(hierarchy, leaf)]
    return 1 - math.log(len(possible)) / math.log(len(hierarchy.leaves))


def depth(hierarchy: Hierarchy, answer: set[Any]) -> int:
    return max([int(hierarchy.label_levels[hierarchy.index(k)]) for k in answer], default=0)


def sets_of(hierarchy: Hierarchy, labels: list[str | None]) -> Any:
    return hierarchy.encode([[] if label is None else [label] for label in labels])


@given(answered_rows())
def test_measures_are_means_over_rows(rows: Any) -> None:
    hierarchy, true, answers, _ = rows
    pairs = [
        (closed(hierarchy, t), closed(hierarchy, a)) for t, a in zip(true, answers, strict=True)
    ]
    expected = {
        "hierarchical_risk": np.mean([not a <= t for t, a in pairs]),
        "hierarchical_coverage": np.mean([information(hierarchy, a) for _, a in pairs]),
        "mean_depth": np.mean([depth(hierarchy, a) for _, a in pairs]),
        "lca_distance": np.mean([len(a ^ t) for t, a in pairs]),
    }
    for name, value in expected.items():
        found = getattr(metrics, name)(
            sets_of(hierarchy, true), sets_of(hierarchy, answers), hierarchy=hierarchy
        )
        assert found == pytest.approx(value, abs=1e-12), name


@given(answered_rows())
def test_the_report_counts_the_answers_that_end_on_each_level(rows: Any) -> None:
    hierarchy, true, answers, _ = rows
    report = metrics.answer_report(
        sets_of(hierarchy, true), sets_of(hierarchy, answers), hierarchy
    )
    depths = [depth(hierarchy, closed(hierarchy, a)) for a in answers]
    for row in report.rows():
        here = [k for k, d in enumerate(depths) if d == row["level"]]
        wrong = [not closed(hierarchy, answers[k]) <= closed(hierarchy, true[k]) for k in here]
        assert row["ends"] == pytest.approx(len(here) / len(depths))
        assert row["reached"] == pytest.approx(np.mean([d >= row["level"] for d in depths]))
        assert (
            np.isnan(row["wrong"]) if not here else row["wrong"] == pytest.approx(np.mean(wrong))
        )


@budget(50)
@given(answered_rows())
def test_a_curve_has_the_measures_of_the_answers_at_every_threshold(rows: Any) -> None:
    hierarchy, true, _, scores = rows
    curve = metrics.answer_curve(sets_of(hierarchy, true), scores, hierarchy)
    candidates = [label in true for label in hierarchy.labels]
    children, parents = (
        [hierarchy.indices(near(label)).tolist() for label in hierarchy.labels]
        for near in (hierarchy.children, hierarchy.parents)
    )
    ends = [reference.likeliest_end(row, candidates, children) for row in scores]
    for threshold in [np.inf, *np.unique(scores)]:
        found = [
            reference.climb(row, end, parents, threshold)
            for row, end in zip(scores, ends, strict=True)
        ]
        answers = sets_of(
            hierarchy, [None if label is None else hierarchy.labels[label] for label in found]
        )
        # The last point whose threshold is not below; ties are divided by less than 1e-5.
        at = np.flatnonzero(curve.threshold >= threshold)[-1]
        given_measures = (
            metrics.hierarchical_risk(sets_of(hierarchy, true), answers, hierarchy=hierarchy),
            metrics.hierarchical_coverage(sets_of(hierarchy, true), answers, hierarchy=hierarchy),
        )
        assert (curve.risk[at], curve.coverage[at]) == pytest.approx(given_measures, abs=1e-9)
        reached = metrics.answer_report(sets_of(hierarchy, true), answers, hierarchy).columns[
            "reached"
        ]
        assert curve.reached[at] == pytest.approx(reached[1:], abs=1e-9)
    assert (np.diff(curve.threshold) < 0).all()
    assert (np.diff(curve.reached, axis=0) >= -1e-9).all()


def test_the_table_is_that_of_the_lowest_threshold_with_so_few_errors() -> None:
    rng = np.random.default_rng(0)
    scores = rng.random((200, 1)) * [1, 1, 0.5, 0.2, 0.1, 0.1, 0.1, 0.1, 0.1]
    scores = np.sort(scores)[:, ::-1][:, : TREE.n_labels]
    scores = np.minimum(scores, scores[:, [0]])
    true = [[label] for label in rng.choice(TREE.labels, 200)]

    curve = metrics.answer_curve(true, make_coherent(scores, TREE, "min"), TREE)
    table = curve.at_errors([0.05, 0.2, 1])
    for row in table.rows():
        fits = np.flatnonzero(np.maximum.accumulate(curve.risk) <= row["errors"])[-1]
        assert row["threshold"] == curve.threshold[fits]
        assert row["level 1"] == curve.reached[fits, 0]
    assert table.columns["coverage"] == sorted(table.columns["coverage"])
    assert 0 <= curve.aurc <= 1


def test_weights_count_rows_several_times() -> None:
    true, answers = [["a/p/x"], ["b/r"]], [["a/q"], ["b"]]
    twice = {"hierarchy": TREE, "sample_weight": [2, 1]}
    for name in ("hierarchical_risk", "hierarchical_coverage", "mean_depth", "lca_distance"):
        measure = getattr(metrics, name)
        expected = measure([true[0], *true], [answers[0], *answers], hierarchy=TREE)
        assert measure(true, answers, **twice) == pytest.approx(expected)
    scores = np.linspace(1, 0.1, TREE.n_labels) * np.array([[1.0], [0.5]])

    scores = make_coherent(scores, TREE)
    one = metrics.answer_curve(true, scores, TREE, sample_weight=[2, 1])
    other = metrics.answer_curve([true[0], *true], scores[[0, 0, 1]], TREE)
    assert one.risk == pytest.approx(other.risk)
    assert one.reached == pytest.approx(other.reached)

    tables = [
        metrics.level_calibration(true, scores, TREE, sample_weight=[2, 1]),
        metrics.level_calibration([true[0], *true], scores[[0, 0, 1]], TREE),
    ]
    assert np.array(list(tables[0].columns.values())) == pytest.approx(
        np.array(list(tables[1].columns.values()))
    )


def test_ancestors_of_true_labels_are_added() -> None:
    names = [["a/p/x"], ["b"]]
    scores = np.linspace(1, 0.1, TREE.n_labels) * np.array([[1.0], [0.5]])
    matrix = np.array([[label in row for label in TREE.labels] for row in names]).astype(int)
    curves = [metrics.answer_curve(y, make_coherent(scores, TREE), TREE) for y in (names, matrix)]
    assert curves[0].risk.tolist() == curves[1].risk.tolist()
    tables = [metrics.level_calibration(y, scores, TREE).columns for y in (names, matrix)]
    assert tables[0] == tables[1]


def test_curves_without_a_right_answer_print_their_infinite_threshold() -> None:
    scores = np.full((1, TREE.n_labels), 0.6)
    table = metrics.answer_curve([["c"]], scores, TREE, candidates=TREE.label_levels == 3)
    assert "0.1000        inf" in str(table.at_errors([0.1]))


def test_wrong_shares_and_scores_are_refused() -> None:
    scores = np.full((1, TREE.n_labels), 0.6)
    curve = metrics.answer_curve([["c"]], scores, TREE)
    for share in (-0.1, 1.5, np.nan):
        with pytest.raises(ValueError, match=f"shares must be a number from 0 to 1, got {share}"):
            curve.at_errors([share])
    for margin in (-2.0, 3.0):
        with pytest.raises(ValueError, match=f"probabilities from 0 to 1, got {margin:g}. Pass"):
            metrics.level_calibration([["c"]], scores * 0 + margin, TREE)


def test_evaluate_has_them_if_rows_have_one_path() -> None:
    scores = np.full((2, TREE.n_labels), 0.6)
    one = metrics.evaluate([["a/q"], ["b"]], scores, TREE, y_pred=[["a"], ["b/r"]])
    assert one["hierarchical_risk"] == 0.5
    assert one["mean_depth"] == 1.5
    many = metrics.evaluate([["a/q", "b"], ["b"]], scores, TREE)
    with pytest.raises(KeyError):
        many["hierarchical_risk"]


def test_curves_are_drawn() -> None:
    pytest.importorskip("matplotlib")
    scores = np.full((2, TREE.n_labels), 0.6)
    curve = metrics.answer_curve([["a/q"], ["b"]], scores, TREE)
    ax = metrics.plot_answer_curves(curve)
    assert [line.get_label() for line in ax.lines] == ["level 1", "level 2", "level 3"]
    both = metrics.plot_answer_curves({"one": curve, "other": curve}, kind="coverage")
    assert [line.get_label().split()[0] for line in both.lines] == ["one", "other"]
    one = metrics.plot_level_calibration([["a/q"], ["b"]], scores, hierarchy=TREE)
    # The best of level 1 is "a", of level 2 "a/p", of level 3 "a/p/x".
    errors = [line.get_label() for line in one.lines[1:]]
    assert errors == ["level 1 (0.100)", "level 2 (0.600)", "level 3 (0.600)"]
    weighted = metrics.plot_level_calibration(
        [["a/q"], ["b"]], scores, hierarchy=TREE, sample_weight=[1, 0]
    )
    assert weighted.lines[1].get_label() == "level 1 (0.400)"
    with pytest.raises(ValueError, match="kind must be"):
        metrics.plot_answer_curves(curve, kind="depth")


@given(answered_rows(), st.integers(1, 6))
def test_calibration_is_that_of_the_most_probable_label_of_each_level(
    rows: Any, n_bins: int
) -> None:
    hierarchy, true, _, scores = rows
    found = metrics.level_calibration(sets_of(hierarchy, true), scores, hierarchy, n_bins=n_bins)
    expected: dict[tuple[int, int], list[tuple[float, bool]]] = {}
    for row, label in zip(scores, true, strict=True):
        for level, names in enumerate(hierarchy.levels, start=1):
            best = max(
                names, key=lambda name: (row[hierarchy.index(name)], -hierarchy.index(name))
            )
            p = row[hierarchy.index(best)]
            place = (level, min(int(p * n_bins), n_bins - 1))
            expected.setdefault(place, []).append((p, best in closed(hierarchy, label)))
    assert len(found) == len(expected)
    for row, (level, inside) in zip(
        found.rows(), ((k[0], v) for k, v in sorted(expected.items())), strict=True
    ):
        means = np.mean(np.array(inside, dtype=float), axis=0)
        assert row["level"] == level
        assert row["rows"] == pytest.approx(len(inside) / len(true))
        assert (row["probability"], row["right"]) == pytest.approx(tuple(means))
