"""Measures of label sets: reference implementations, scikit-learn, layouts, 0/0."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sklearn_metrics

from ramify import Hierarchy, metrics
from tests.reference import measures as twins
from tests.support.metrics_cases import LAYOUTS, Problem, problems, quickly

EXAMPLE_BASED = [*twins.EXAMPLE_MEASURES, "hamming_loss"]
LABEL_BASED = ["micro_f1", "macro_f1"]


@given(problems())
def test_example_measures_equal_their_twins(problem: Problem):
    labels = range(problem.hierarchy.n_labels)
    true = twins.label_sets(problem.truth, labels)
    predicted = twins.label_sets(problem.predicted, labels)
    for name, twin in twins.EXAMPLE_MEASURES.items():
        expected = twins.mean(twin(t, p) for t, p in zip(true, predicted, strict=True))
        ours = getattr(metrics, name)(problem.truth, problem.predicted)
        assert ours == pytest.approx(expected), name
    wrong = twins.mean(len(t ^ p) / len(labels) for t, p in zip(true, predicted, strict=True))
    assert metrics.hamming_loss(problem.truth, problem.predicted) == pytest.approx(wrong)


@given(problems(), st.sampled_from([0.0, 1.0]))
def test_figures_equal_those_of_scikit_learn(problem: Problem, zero_division: float):
    truth, predicted = problem.truth, problem.predicted
    for average, ours in (
        ("micro", metrics.micro_precision_recall_f1),
        ("macro", metrics.macro_precision_recall_f1),
    ):
        theirs = sklearn_metrics.precision_recall_fscore_support(
            truth, predicted, average=average, zero_division=zero_division
        )
        found = ours(truth, predicted, zero_division=zero_division)
        assert found == pytest.approx(theirs[:3]), average
    theirs = sklearn_metrics.precision_recall_fscore_support(
        truth, predicted, average="samples", zero_division=zero_division
    )
    for name, value in zip(("precision", "recall", "f1"), theirs, strict=False):
        measure = getattr(metrics, f"example_{name}")
        assert measure(truth, predicted, zero_division=zero_division) == pytest.approx(value)
    assert metrics.hamming_loss(truth, predicted) == pytest.approx(
        sklearn_metrics.hamming_loss(truth, predicted)
    )
    assert metrics.subset_accuracy(truth, predicted) == pytest.approx(
        sklearn_metrics.accuracy_score(truth, predicted)
    )
    assert metrics.jaccard_accuracy(truth, predicted, zero_division=0.0) == pytest.approx(
        sklearn_metrics.jaccard_score(truth, predicted, average="samples", zero_division=0.0)
    )


@quickly
@given(problems(), st.sampled_from(list(LAYOUTS)), st.sampled_from(list(LAYOUTS)))
def test_layouts_do_not_matter(problem: Problem, of_truth: str, of_predicted: str):
    truth = LAYOUTS[of_truth](problem.truth)
    predicted = LAYOUTS[of_predicted](problem.predicted)
    for name in (*EXAMPLE_BASED, *LABEL_BASED):
        measure = getattr(metrics, name)
        plain = measure(problem.truth, problem.predicted)
        assert measure(truth, predicted) == pytest.approx(plain), name


@quickly
@given(problems(), st.data())
def test_a_weight_counts_as_that_many_rows(problem: Problem, data: st.DataObject):
    n_rows = len(problem.truth)
    weights = data.draw(st.lists(st.integers(0, 3), min_size=n_rows, max_size=n_rows))
    if not any(weights):
        weights[0] = 1
    rows = np.repeat(np.arange(n_rows), weights)
    for name in (*EXAMPLE_BASED, *LABEL_BASED):
        measure = getattr(metrics, name)
        weighted = measure(problem.truth, problem.predicted, sample_weight=weights)
        assert weighted == pytest.approx(measure(problem.truth[rows], problem.predicted[rows])), (
            name
        )


@given(problems())
def test_chosen_labels_equal_a_smaller_matrix(problem: Problem):
    hierarchy = problem.hierarchy
    leaves = np.sort(hierarchy.indices(hierarchy.leaves))
    for name in (*EXAMPLE_BASED, *LABEL_BASED):
        measure = getattr(metrics, name)
        chosen = measure(problem.truth, problem.predicted, hierarchy=hierarchy, labels="leaves")
        cut = measure(problem.truth[:, leaves], problem.predicted[:, leaves])
        assert chosen == pytest.approx(cut), name


def test_zero_division():
    # Rows: nothing at all; a label but no prediction; a prediction but no label.
    truth, predicted = [[0, 0], [1, 0], [0, 0]], [[0, 0], [0, 0], [0, 1]]
    assert metrics.example_precision(truth, predicted) == pytest.approx((1 + 0 + 0) / 3)
    assert metrics.example_recall(truth, predicted) == pytest.approx((1 + 0 + 0) / 3)
    assert metrics.example_f1(truth, predicted) == pytest.approx((1 + 0 + 0) / 3)
    left_out = metrics.example_precision(truth, predicted, zero_division=np.nan)
    assert left_out == 0.0
    assert metrics.example_precision(truth, predicted, zero_division=1.0) == pytest.approx(2 / 3)
    assert np.isnan(metrics.example_f1([[0, 0]], [[0, 0]], zero_division=np.nan))
    with pytest.raises(ValueError, match="zero_division must be 'agree' or a number, got 'skip'"):
        metrics.example_f1(truth, predicted, zero_division="skip")


def test_labels_that_never_occur():
    truth, predicted = [[1, 0, 0], [1, 0, 0]], [[1, 0, 0], [1, 1, 0]]
    # The second label is only predicted, the third neither occurs nor is predicted.
    assert metrics.macro_f1(truth, predicted) == pytest.approx(1 / 3)
    assert metrics.macro_f1(truth, predicted, zero_division=np.nan) == pytest.approx(1 / 2)
    assert metrics.micro_f1(truth, predicted) == pytest.approx(4 / 5)
    assert metrics.micro_f1([[0]], [[0]]) == 0.0


def test_labels_of_other_formats():
    true, predicted = ["a/x", "b", "a/y"], ["a/x", "a/y", "a/y"]
    hierarchy = Hierarchy.from_paths([*true, *predicted])
    by_matrix = metrics.micro_f1(
        hierarchy.encode([[t] for t in true]), hierarchy.encode([[p] for p in predicted])
    )
    assert metrics.micro_f1(true, predicted) == by_matrix
    assert metrics.micro_f1(true, predicted, hierarchy=hierarchy) == by_matrix
    assert metrics.micro_f1([{"a/x"}, set(), {"b"}], [["a/x"], [], []]) == pytest.approx(4 / 5)
    assert metrics.subset_accuracy([1, 2, 3], [1, 2, 2]) == pytest.approx(2 / 3)


def test_different_shapes_are_refused():
    with pytest.raises(ValueError, match="y_true has 2 columns"):
        metrics.micro_f1([[1, 0]], [[1, 0, 0]])
    with pytest.raises(ValueError, match="y_true has 1 rows, but y_pred has 2"):
        metrics.micro_f1([[1, 0]], [[1, 0], [1, 0]])
    with pytest.raises(
        ValueError, match=r"y_pred must .* got 0\.5 at row 0.*Threshold scores first"
    ):
        metrics.micro_f1([[1, 0]], [[0.5, 0.2]])
