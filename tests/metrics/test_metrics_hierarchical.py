"""Hierarchical measures: reference implementations, identities, cases computed by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import UndefinedMetricWarning

from ramify import Hierarchy, metrics
from tests.reference import measures as twins
from tests.support.metrics_cases import Problem, problems

ANIMALS = Hierarchy.from_paths(["bird", "mammal/cat", "mammal/dog"])  # 4 labels, 2 levels


def _sets(problem: Problem) -> tuple[list[set[int]], list[set[int]]]:
    labels = range(problem.hierarchy.n_labels)
    return (
        twins.label_sets(problem.truth, labels),
        twins.label_sets(problem.predicted, labels),
    )


@given(problems(), st.floats(0, 2), st.floats(0, 2))
def test_losses_equal_their_twins(problem: Problem, alpha: float, beta: float):
    hierarchy = problem.hierarchy
    true, predicted = _sets(problem)
    cost = hierarchy.costs().tolist()
    above = twins.ancestors(hierarchy)
    given_ = {"hierarchy": hierarchy}
    y = (problem.truth, problem.predicted)
    ours = metrics.hmc_loss(*y, alpha=alpha, beta=beta, **given_)
    assert ours == pytest.approx(twins.hmc_loss(true, predicted, cost, alpha, beta))
    assert metrics.h_loss(*y, **given_) == pytest.approx(
        twins.h_loss(true, predicted, cost, above)
    )
    assert metrics.hierarchical_hamming_loss(*y, **given_) == pytest.approx(
        twins.hierarchical_hamming_loss(true, predicted, above)
    )


@given(problems())
def test_losses_are_ordered_and_related(problem: Problem):
    y, given_ = (problem.truth, problem.predicted), {"hierarchy": problem.hierarchy}
    n_labels = problem.hierarchy.n_labels
    wrong = metrics.hamming_loss(*y)
    assert metrics.hierarchical_hamming_loss(*y, **given_) >= wrong - 1e-12
    assert metrics.hmc_loss(*y, costs="uniform", **given_) == pytest.approx(wrong * n_labels)
    assert metrics.symmetric_loss(*y, **given_) == pytest.approx(metrics.hmc_loss(*y, **given_))
    assert metrics.h_loss(*y, **given_) <= metrics.hmc_loss(*y, **given_) + 1e-12


def test_losses_counted_by_hand():
    # True: mammal, cat. Predicted: bird. Costs: bird 1/2, mammal 1/2, cat 1/4, dog 1/4.
    y = ([["mammal/cat"]], [["bird"]])
    assert metrics.hmc_loss(*y, hierarchy=ANIMALS) == 0.5 + 0.5 + 0.25
    assert metrics.hmc_loss(*y, hierarchy=ANIMALS, alpha=1.5, beta=0.5) == 1.5 * 0.75 + 0.25
    # Only errors at the top count: cat is below mammal, which is already wrong.
    assert metrics.h_loss(*y, hierarchy=ANIMALS) == 1.0
    # bird, mammal and cat are wrong, and dog inherits the error of mammal.
    assert metrics.hierarchical_hamming_loss(*y, hierarchy=ANIMALS) == 1.0
    # alpha = 4: a missed label costs 8/5, an added one 2/5.
    loss = metrics.symmetric_loss(*y, hierarchy=ANIMALS, alpha=4)
    assert loss == pytest.approx(8 / 5 * 0.75 + 2 / 5 * 0.5)
    assert metrics.hmc_loss(*y, hierarchy=ANIMALS, labels="leaves") == 0.5 + 0.25
    assert metrics.hmc_loss(*y, hierarchy=ANIMALS, costs=[0, 0, 7, 0]) == 7.0


def test_rows_are_read_in_parts(monkeypatch: pytest.MonkeyPatch):
    rng = np.random.default_rng(0)
    truth, predicted = (ANIMALS.close(rng.integers(0, 2, (50, 4))) for _ in range(2))
    whole = metrics.h_loss(truth, predicted, hierarchy=ANIMALS)
    monkeypatch.setattr("ramify.metrics.losses._CELLS_AT_A_TIME", 12)
    assert metrics.h_loss(truth, predicted, hierarchy=ANIMALS) == whole


@given(problems())
def test_hierarchical_f1_is_micro_f1_of_closed_sets(problem: Problem):
    y = (problem.truth, problem.predicted)
    figures = metrics.hierarchical_precision_recall_f1(*y, hierarchy=problem.hierarchy)
    assert figures == pytest.approx(metrics.micro_precision_recall_f1(*y))
    assert metrics.hierarchical_f1(*y, hierarchy=problem.hierarchy) == figures[2]


def test_hierarchical_figures_add_the_ancestors():
    leaves_only = ([[0, 0, 1, 0], [1, 0, 0, 0]], [[0, 0, 0, 1], [0, 0, 0, 1]])
    # Closed: {mammal, cat} against {mammal, dog}; {bird} against {mammal, dog}.
    figures = metrics.hierarchical_precision_recall_f1(*leaves_only, hierarchy=ANIMALS)
    assert figures == pytest.approx((1 / 4, 1 / 3, 2 / 7))
    by_row = metrics.hierarchical_precision_recall_f1(
        *leaves_only, hierarchy=ANIMALS, average="samples"
    )
    assert by_row == pytest.approx((1 / 4, 1 / 4, 1 / 4))
    with pytest.raises(ValueError, match="average must be 'micro' or 'samples', got 'macro'"):
        metrics.hierarchical_f1(*leaves_only, average="macro")


def test_level_accuracy_counts_rows_with_labels_on_the_level():
    true = [["mammal/cat"], ["bird"], ["mammal"], ["mammal/dog"]]
    predicted = [["mammal/cat"], ["bird"], ["mammal/dog"], ["bird"]]
    found = metrics.level_accuracy(true, predicted, hierarchy=ANIMALS)
    # Level 2: cat is correct, an extra dog and a missed dog are wrong, bird is left out.
    assert found == pytest.approx([3 / 4, 1 / 3])
    none_below = metrics.level_accuracy([["bird"]], [["bird"]], hierarchy=ANIMALS)
    assert none_below == pytest.approx([1.0, np.nan], nan_ok=True)
    filled = metrics.level_accuracy([["bird"]], [["bird"]], hierarchy=ANIMALS, zero_division=0.0)
    assert filled.tolist() == [1.0, 0.0]


@given(problems(), st.data())
def test_top_k_accuracy_equals_its_twin(problem: Problem, data: st.DataObject):
    k = data.draw(st.integers(1, problem.hierarchy.n_labels))
    expected = twins.top_k_accuracy(problem.truth, twins.as_lists(problem.scores), k)
    assert metrics.top_k_accuracy(problem.truth, problem.scores, k=k) == pytest.approx(expected)


def test_top_k_looks_at_as_many_labels_as_there_are_levels():
    truth, scores = [[0, 1, 1, 0]], [[0.3, 0.9, 0.2, 0.3]]
    assert metrics.top_k_accuracy(truth, scores, hierarchy=ANIMALS) == 0.5
    with pytest.raises(ValueError, match="k has no default without a hierarchy"):
        metrics.top_k_accuracy(truth, scores)
    with pytest.raises(ValueError, match="k must be from 1 to the number of labels, 4, got 5"):
        metrics.top_k_accuracy(truth, scores, k=5)


@given(problems())
def test_protein_measures_equal_their_twins(problem: Problem):
    if not problem.truth.any():
        with pytest.warns(UndefinedMetricWarning):
            assert np.isnan(metrics.f_max(problem.truth, problem.scores))
        return
    bits = twins.information_content(problem.truth, problem.hierarchy)
    ours = metrics.information_content(problem.truth, hierarchy=problem.hierarchy)
    assert ours == pytest.approx(bits)
    grid = [0.1, 0.25, 0.3, 0.75]
    expected = twins.protein_figures(problem.truth, problem.scores, grid, bits)
    options = {"hierarchy": problem.hierarchy, "thresholds": grid}
    assert metrics.f_max(problem.truth, problem.scores, **options) == pytest.approx(expected[0])
    assert metrics.s_min(problem.truth, problem.scores, **options) == pytest.approx(expected[1])


def test_information_content_of_a_label_with_two_parents():
    pets = Hierarchy.from_edges([("mammal", "dog"), ("pet", "dog")])
    y = pets.encode([["dog"], ["mammal"], ["pet"], ["mammal", "pet"]])
    bits = dict(zip(pets.labels, metrics.information_content(y, hierarchy=pets), strict=True))
    # Two rows have both parents; one of them is a dog.
    assert bits == pytest.approx({"mammal": -np.log2(3 / 4), "pet": -np.log2(3 / 4), "dog": 1.0})
    smoothed = metrics.information_content(y, hierarchy=pets, smoothing=1.0)
    assert smoothed[pets.index("dog")] == pytest.approx(-np.log2(2 / 3))


def test_protein_measures_choose_labels_and_weigh_rows():
    truth = np.array([[0, 1, 1, 0], [1, 0, 0, 0], [0, 0, 0, 0]])
    scores = np.array([[0.1, 0.9, 0.6, 0.4], [0.7, 0.3, 0.2, 0.1], [0.9, 0.9, 0.9, 0.9]])
    # The row without labels does not count.
    assert metrics.f_max(truth, scores) == metrics.f_max(truth[:2], scores[:2]) == 1.0
    leaves = metrics.f_max(truth, scores, hierarchy=ANIMALS, labels="leaves")
    assert leaves == metrics.f_max(truth[:2, [0, 2, 3]], scores[:2][:, [0, 2, 3]])
    doubled = metrics.protein_curve(truth, scores, sample_weight=[2, 1, 1])
    repeated = metrics.protein_curve(truth[[0, 0, 1]], scores[[0, 0, 1]])
    bits = metrics.information_content(truth)
    repeated_bits = metrics.protein_curve(truth[[0, 0, 1]], scores[[0, 0, 1]], information=bits)
    assert doubled.precision == pytest.approx(repeated.precision, nan_ok=True)
    assert doubled.misinformation == pytest.approx(repeated_bits.misinformation)
    with pytest.raises(
        ValueError, match=r"information must have shape \(4,\), one value per label, got \(2,\)"
    ):
        metrics.s_min(truth, scores, information=[1.0, 2.0])


def test_label_imbalance():
    assert metrics.label_imbalance([[1, 0, 0, 0], [1, 1, 0, 0]]) == pytest.approx(5 / 3)
    assert metrics.label_imbalance([["bird"], ["mammal/cat"]], hierarchy=ANIMALS) == 5 / 3
    assert metrics.label_imbalance([[0, 0]]) == np.inf


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: metrics.hmc_loss([[1]], [[0]]), "costs='shared' requires a hierarchy"),
        (lambda: metrics.hmc_loss([[1]], [[0]], costs="equal"), "costs must be .*, got 'equal'"),
        (lambda: metrics.hmc_loss([[1]], [[0]], costs=[1, 2]), r"costs must .*, got \(2,\)"),
        (
            lambda: metrics.symmetric_loss([[1]], [[0]], alpha=-1, costs="uniform"),
            "alpha must be a number >= 0, got -1",
        ),
        (lambda: metrics.information_content([[1]], smoothing=-1), "smoothing must be .*, got -1"),
    ],
)
def test_mistakes_are_explained(call, message):
    with pytest.raises(ValueError, match=message):
        call()
