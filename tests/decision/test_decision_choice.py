"""Thresholds chosen by a goal: the best ones under the hierarchy's order, against all others."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ramify import Hierarchy, PCTClassifier, load_animals
from ramify.decision import apply_threshold, choose_thresholds, make_coherent
from ramify.decision.ordered import count_steps
from ramify.decision.thresholds import check_threshold
from ramify.metrics import (
    hierarchical_f1,
    hmc_loss,
    macro_f1,
    micro_f1,
    micro_precision_recall_f1,
)
from tests.support.budget import budget
from tests.support.label_graphs import build, edges, label_graphs

PATHS = Hierarchy.from_paths(["a/b", "c"])
GOALS = ("micro_f1", "macro_f1", "cost", "precision")


def reached(goal, Y, predicted, hierarchy, weight=None):
    """What a goal is about, by the public measures; larger is better."""
    if goal == "micro_f1":
        return micro_f1(Y, predicted, sample_weight=weight)
    if goal == "macro_f1":
        return macro_f1(Y, predicted, sample_weight=weight)
    if goal == "cost":
        options = {"hierarchy": hierarchy, "alpha": 2.0, "beta": 0.5, "sample_weight": weight}
        return -hmc_loss(Y, predicted, **options)
    return micro_precision_recall_f1(Y, predicted, sample_weight=weight)[1]


def all_thresholds(scores, hierarchy, per):
    """Every choice of thresholds in the order of the hierarchy that could make a difference."""
    candidates = [*np.unique(scores[scores > 0]), np.inf]
    levels = hierarchy.label_levels
    n_groups = {"all": 1, "level": hierarchy.depth, "label": hierarchy.n_labels}[per]
    for values in product(candidates, repeat=n_groups):
        by_label = {"all": lambda v: np.full(hierarchy.n_labels, v[0]), "label": np.array}
        if per == "level":
            if list(values) != sorted(values):
                continue
            thresholds = np.array(values)[levels - levels.min()]
        else:
            thresholds = by_label[per](values)
        try:
            yield check_threshold(thresholds, hierarchy)
        except ValueError:
            continue


def is_precise(Y, predicted, hierarchy, per, least):
    """Whether the cells that share a threshold have the precision wanted."""
    wrong, right = (predicted > Y).toarray(), predicted.multiply(Y).toarray()
    groups = {
        "all": [hierarchy.labels],
        "level": hierarchy.levels,
        "label": [[label] for label in hierarchy.labels],
    }[per]
    columns = [hierarchy.indices(group) for group in groups]
    return all(
        right[:, c].sum() >= least * (right[:, c].sum() + wrong[:, c].sum()) - 1e-9
        for c in columns
    )


@st.composite
def small_cases(draw, max_labels=3, trees_only=False):
    hierarchy = build(draw(label_graphs(max_labels=max_labels)))
    assume(hierarchy.is_tree or not trees_only)
    shape = (draw(st.integers(1, 4)), hierarchy.n_labels)
    cells = st.integers(0, 4).map(lambda k: k / 4)
    scores = make_coherent(draw(hnp.arrays(float, shape, elements=cells)), hierarchy, "max")
    Y = hierarchy.close(draw(hnp.arrays(int, shape, elements=st.integers(0, 1))))
    return hierarchy, Y, scores


def choose(Y, scores, hierarchy, goal, per, **options):
    return choose_thresholds(
        Y, scores, hierarchy, goal=goal, per=per, alpha=2.0, beta=0.5, min_precision=0.7, **options
    )


@pytest.mark.parametrize("per", ["all", "level", "label"])
@pytest.mark.parametrize("goal", GOALS)
@given(case=small_cases(trees_only=True))
@budget(40)
def test_no_other_thresholds_are_better_on_a_tree(goal, per, case):
    hierarchy, Y, scores = case
    thresholds = choose(Y, scores, hierarchy, goal, per)
    predicted = apply_threshold(scores, thresholds, hierarchy)
    found = reached(goal, Y, predicted, hierarchy)
    if goal == "precision":
        assert is_precise(Y, predicted, hierarchy, per, 0.7)
    for others in all_thresholds(scores, hierarchy, per):
        rivals = apply_threshold(scores, others, hierarchy)
        if goal == "precision" and not is_precise(Y, rivals, hierarchy, per, 0.7):
            continue
        assert found >= reached(goal, Y, rivals, hierarchy) - 1e-9


def test_most_choices_are_the_best_in_a_dag_too():
    rng = np.random.default_rng(1)
    best = []
    while len(best) < 40:
        parents = [rng.choice(child, min(child, rng.integers(1, 3)), False) for child in range(5)]
        hierarchy = build({f"n{c}": [f"n{p}" for p in above] for c, above in enumerate(parents)})
        if hierarchy.is_tree:
            continue
        scores = make_coherent(rng.integers(1, 6, (12, 5)) / 6, hierarchy, "max")
        Y = hierarchy.close((rng.random((12, 5)) < 0.35 * scores).astype(int))
        chosen = apply_threshold(
            scores, choose_thresholds(Y, scores, hierarchy, per="label"), hierarchy
        )
        rivals = np.array(list(product([*np.unique(scores), np.inf], repeat=5)))
        children, above = edges(hierarchy)
        rivals = rivals[(rivals[:, children] >= rivals[:, above]).all(axis=1)]
        predicted = scores >= rivals[:, None]
        shared = (predicted & Y.toarray().astype(bool)).sum(axis=(1, 2))
        f1 = 2 * shared / (predicted.sum(axis=(1, 2)) + Y.nnz)
        best.append(micro_f1(Y, chosen) >= f1.max() - 1e-12)
    assert np.mean(best) >= 0.95


@pytest.mark.parametrize("goal", GOALS)
@given(case=small_cases(max_labels=8))
def test_finer_thresholds_are_never_worse(goal, case):
    hierarchy, Y, scores = case
    found = []
    for per in ("all", "level", "label"):
        thresholds = choose(Y, scores, hierarchy, goal, per)
        predicted = apply_threshold(scores, thresholds, hierarchy)
        found.append(reached(goal, Y, predicted, hierarchy))
    if goal == "precision":  # finer thresholds must be precise in every group
        return
    assert found[0] <= found[1] + 1e-9
    assert found[1] <= found[2] + 1e-9


@pytest.mark.parametrize("goal", GOALS)
@given(case=small_cases(), weights=st.lists(st.integers(0, 3), min_size=4, max_size=4))
@budget(40)
def test_a_weight_counts_like_repeated_rows(goal, case, weights):
    hierarchy, Y, scores = case
    weights = np.array(weights[: len(scores)])
    assume(weights.any())
    repeated = np.repeat(np.arange(len(scores)), weights)
    np.testing.assert_array_equal(
        choose(Y[weights > 0], scores[weights > 0], hierarchy, goal, "label",
               sample_weight=weights[weights > 0]),
        choose(Y[repeated], scores[repeated], hierarchy, goal, "label"),
    )  # fmt: skip


def test_hand_computed_threshold_for_all():
    # Falling scores 0.9 T, 0.8 T, 0.6 F, 0.5 T, 0.2 F F: F1 is 0.8, then 6/7 at 0.5, 0.75 at 0.2.
    flat = Hierarchy.from_labels(["a", "b"])
    Y = [[1, 1], [0, 1], [0, 0]]
    scores = [[0.9, 0.8], [0.6, 0.5], [0.2, 0.2]]
    thresholds = choose_thresholds(Y, scores, flat)
    np.testing.assert_allclose(thresholds, [0.35, 0.35])


def test_hand_computed_threshold_per_label_keeps_the_order():
    # Alone, a would start at 0.8 and b at 0.4. In order, a gives way: 6/7 + 1 beats 1 + 2/3.
    Y = [["a/b"], ["a"], ["c"], ["a/b"]]
    scores = [[0.9, 0.4, 0.3], [0.8, 0.2, 0.4], [0.5, 0.1, 0.6], [0.9, 0.6, 0.4]]
    thresholds = choose_thresholds(Y, scores, PATHS, goal="macro_f1", per="label")
    np.testing.assert_allclose(thresholds, [0.2, 0.3, 0.5])


def test_hand_computed_precision():
    flat = Hierarchy.from_labels(["a"])
    Y, scores = np.array([[1], [1], [0], [1], [0]]), [[0.9], [0.8], [0.7], [0.6], [0.1]]
    for least, expected in [(1.0, 0.75), (0.75, 0.35), (0.6, 0.35)]:
        options = {"goal": "precision", "min_precision": least}
        assert choose_thresholds(Y, scores, flat, **options)[0] == pytest.approx(expected)


def test_precision_out_of_reach_keeps_the_label_and_all_below_it_silent():
    Y = [[0, 0, 1], [1, 1, 1], [1, 1, 0]]
    scores = [[0.9, 0.1, 0.6], [0.8, 0.7, 0.5], [0.2, 0.1, 0.1]]
    options = {"goal": "precision", "min_precision": 0.9, "per": "label"}
    thresholds = choose_thresholds(Y, scores, PATHS, **options)
    assert thresholds.tolist() == pytest.approx([np.inf, np.inf, 0.3])


def test_costs_move_the_threshold():
    flat = Hierarchy.from_labels(["a"])
    Y, scores = np.array([[1], [0], [1], [0]]), [[0.8], [0.6], [0.4], [0.2]]
    misses_matter = choose_thresholds(Y, scores, flat, goal="cost", alpha=5, beta=1)
    alarms_matter = choose_thresholds(Y, scores, flat, goal="cost", alpha=1, beta=5)
    assert misses_matter.tolist() == pytest.approx([0.3])
    assert alarms_matter.tolist() == pytest.approx([0.7])
    free = choose_thresholds(Y, scores, flat, goal="cost", costs=[0.0])
    assert free.tolist() == [np.inf]


def test_a_label_without_rows_is_never_predicted():
    thresholds = choose_thresholds([[1, 0, 0], [1, 0, 0]], np.ones((2, 3)), PATHS, per="label")
    assert thresholds.tolist() == [0.5, np.inf, np.inf]


def test_macro_f1_gives_labels_without_rows_their_parents_threshold():
    Y, scores = [[1, 0, 0], [0, 0, 0]], [[0.6, 0.5, 0.3], [0.2, 0.1, 0.3]]
    thresholds = choose_thresholds(Y, scores, PATHS, goal="macro_f1", per="label")
    np.testing.assert_allclose(thresholds, [0.4, 0.55, np.inf])


def test_labels_of_probability_zero_are_never_predicted():
    # Without that rule b would get its best F1, 0.4, by being predicted everywhere.
    Y = np.array([[1, 0], [0, 1], [0, 0], [0, 0]])
    scores = np.array([[0.6, 0.2], [0.2, 0.0], [0.2, 0.0], [0.2, 0.0]])
    flat = Hierarchy.from_labels(["a", "b"])
    thresholds = choose_thresholds(Y, scores, flat, goal="macro_f1", per="label")
    np.testing.assert_allclose(thresholds, [0.4, np.inf])
    # Scores below 0 are no probabilities: there 0 means nothing.
    thresholds = choose_thresholds(Y, scores - 1, flat, goal="macro_f1", per="label")
    np.testing.assert_allclose(thresholds, [-0.6, -1.0])


def test_hierarchical_and_micro_f1_are_one_goal_on_closed_sets():
    data = load_animals()
    scores = make_coherent(np.random.default_rng(0).random(data.y.shape), data.hierarchy)
    options = {"per": "level"}
    hierarchical, micro = (
        choose_thresholds(data.y, scores, data.hierarchy, goal=goal, **options)
        for goal in ("hierarchical_f1", "micro_f1")
    )
    np.testing.assert_array_equal(hierarchical, micro)
    predicted = apply_threshold(scores, micro, data.hierarchy)
    assert hierarchical_f1(data.y, predicted, hierarchy=data.hierarchy) == pytest.approx(
        micro_f1(data.y, predicted)
    )


@given(small_cases(max_labels=6))
def test_counts_of_steps_are_those_of_the_thresholds(case):
    _, Y, scores = case
    for label, steps in enumerate(count_steps(Y, scores, np.ones(len(scores)))):
        for threshold in (*scores[:, label], 0.3, np.inf, -1.0):
            predicted = (scores[:, label] >= threshold) & (scores[:, label] > 0)
            truth = Y.toarray()[:, label]
            assert steps.at(threshold).tolist() == [(predicted * truth).sum(), predicted.sum()]


def test_animals_better_than_one_half():
    data = load_animals()
    tree = PCTClassifier(data.hierarchy, min_samples_leaf=5)
    test = np.arange(len(data.names)) % 3 == 0
    scores = tree.fit(data.X[~test], data.y[~test]).predict_proba(data.X[test])
    halves = micro_f1(data.y[test], apply_threshold(scores, 0.5, data.hierarchy))
    for per in ("all", "level", "label"):
        thresholds = choose_thresholds(data.y[test], scores, data.hierarchy, per=per)
        found = micro_f1(data.y[test], apply_threshold(scores, thresholds, data.hierarchy))
        assert found >= halves
        halves = found
    assert halves > 0.69


def test_mistakes_are_named():
    scores = [[0.5, 0.4, 0.3]]
    Y = [["a"]]
    with pytest.raises(ValueError, match=r"goal must be one of 'micro_f1'.*got 'recall'"):
        choose_thresholds(Y, scores, PATHS, goal="recall")
    with pytest.raises(ValueError, match=r"per must be one of 'all', 'level'.*got 'leaf'"):
        choose_thresholds(Y, scores, PATHS, per="leaf")
    with pytest.raises(ValueError, match=r"min_precision must be a number from 0.*got 2"):
        choose_thresholds(Y, scores, PATHS, goal="precision", min_precision=2)
    with pytest.raises(ValueError, match=r"costs must be .* 3 finite non-negative numbers"):
        choose_thresholds(Y, scores, PATHS, goal="cost", costs=[1, 1])
    with pytest.raises(ValueError, match="same positive number of rows, got 2 and 1"):
        choose_thresholds([["a"], ["a"]], scores, PATHS)
    with pytest.raises(ValueError, match=r"got 0.9 for 'a/b' and 0.5 for its parent 'a'"):
        choose_thresholds(Y, [[0.5, 0.9, 0.3]], PATHS)
