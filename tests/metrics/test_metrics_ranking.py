"""Areas under curves: reference implementations, scikit-learn, layouts, weights, small cases."""

from __future__ import annotations

import tracemalloc
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn import metrics as sklearn_metrics
from sklearn.exceptions import UndefinedMetricWarning

from ramify import Hierarchy, metrics
from tests.reference import measures as twins
from tests.support.metrics_cases import LAYOUTS, Problem, problems, quickly


def _quiet(measure, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        return measure(*arguments, **options)


@given(problems())
def test_areas_equal_their_twins(problem: Problem):
    truth, scores = twins.as_lists(problem.truth), twins.as_lists(problem.scores)
    labels = twins.present(truth, range(problem.hierarchy.n_labels))
    if not labels:
        with pytest.warns(UndefinedMetricWarning, match="no chosen label has a positive row"):
            assert np.isnan(metrics.pooled_auprc(problem.truth, problem.scores))
        return
    areas = [twins.precision_recall_area(twins.cells(truth, scores, [c])) for c in labels]
    rocs = [twins.roc_area(twins.cells(truth, scores, [c])) for c in labels]
    frequency = [sum(row[c] for row in truth) for c in labels]
    pooled = twins.cells(truth, scores, labels)
    expected = {
        "pooled_auprc": twins.precision_recall_area(pooled),
        "pooled_auroc": twins.roc_area(pooled),
        "mean_auprc": twins.mean(areas),
        "mean_auroc": twins.mean(rocs),
        "weighted_auprc": np.average(areas, weights=frequency),
    }
    for name, value in expected.items():
        ours = getattr(metrics, name)(problem.truth, problem.scores)
        assert ours == pytest.approx(value, abs=1e-12), name


@quickly
@given(problems(), st.sampled_from(list(LAYOUTS)), st.sampled_from(["C", "F", "strided"]))
def test_layouts_do_not_matter(problem: Problem, of_truth: str, of_scores: str):
    truth, scores = LAYOUTS[of_truth](problem.truth), LAYOUTS[of_scores](problem.scores)
    for measure in (metrics.pooled_auprc, metrics.mean_auprc, metrics.mean_auroc):
        plain = _quiet(measure, problem.truth, problem.scores)
        assert _quiet(measure, truth, scores) == pytest.approx(plain, nan_ok=True)


@quickly
@given(problems(), st.data())
def test_a_weight_counts_as_that_many_rows(problem: Problem, data: st.DataObject):
    n_rows = len(problem.truth)
    weights = data.draw(st.lists(st.integers(0, 3), min_size=n_rows, max_size=n_rows))
    if not any(weights):
        weights[0] = 1
    rows = np.repeat(np.arange(n_rows), weights)
    for name in ("pooled_auprc", "mean_auprc", "weighted_auprc", "mean_auroc", "pooled_auroc"):
        measure = getattr(metrics, name)
        weighted = _quiet(measure, problem.truth, problem.scores, sample_weight=weights)
        repeated = _quiet(measure, problem.truth[rows], problem.scores[rows])
        assert weighted == pytest.approx(repeated, abs=1e-12, nan_ok=True), name


@given(problems())
def test_step_interpolation_is_average_precision(problem: Problem):
    keep = problem.truth.any(axis=0)
    if not keep.any():
        return
    truth, scores = problem.truth[:, keep], problem.scores[:, keep]
    for ours, average in ((metrics.pooled_auprc, "micro"), (metrics.mean_auprc, "macro")):
        theirs = sklearn_metrics.average_precision_score(truth, scores, average=average)
        value = ours(problem.truth, problem.scores, interpolation="step")
        assert value == pytest.approx(theirs, abs=1e-12)


@given(problems())
def test_roc_areas_equal_those_of_scikit_learn(problem: Problem):
    mixed = problem.truth.any(axis=0) & ~problem.truth.all(axis=0)
    if not mixed.any():
        return
    truth, scores = problem.truth[:, mixed], problem.scores[:, mixed]
    columns = np.flatnonzero(mixed)
    theirs = sklearn_metrics.roc_auc_score(truth, scores, average="macro")
    assert metrics.mean_auroc(problem.truth, problem.scores, labels=columns) == pytest.approx(
        theirs
    )
    theirs = sklearn_metrics.roc_auc_score(truth, scores, average="micro")
    ours = metrics.pooled_auroc(problem.truth, problem.scores, labels=columns)
    assert ours == pytest.approx(theirs)


def test_interpolations_of_a_case_counted_by_hand():
    # Scores fall as + - - (+ +): the points (TP, FP) are (1, 0), (1, 2), (3, 2).
    truth = [[1], [0], [0], [1], [1]]
    scores = [[0.9], [0.8], [0.7], [0.2], [0.2]]
    # Between TP = 1 and 3: precision 1/3, at TP = 2 interpolated 2/4, at TP = 3 3/5.
    by_points = (1 + (1 / 3 + 1 / 2) / 2 + (1 / 2 + 3 / 5) / 2) / 3
    assert metrics.pooled_auprc(truth, scores) == pytest.approx(by_points)
    linear = (1 + 2 * (1 / 3 + 3 / 5) / 2) / 3
    assert metrics.pooled_auprc(truth, scores, interpolation="linear") == pytest.approx(linear)
    step = (1 + 2 * 3 / 5) / 3
    assert metrics.pooled_auprc(truth, scores, interpolation="step") == pytest.approx(step)
    # Integral of t / (t + 2) from 1 to 3: 2 - 2 log(5 / 3).
    smooth = (1 + 2 - 2 * np.log(5 / 3)) / 3
    ours = metrics.pooled_auprc(truth, scores, interpolation="continuous")
    assert ours == pytest.approx(smooth)


def test_constant_scores_give_the_frequency():
    truth = np.array([[1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 0, 0]])
    scores = np.full(truth.shape, 0.3)
    assert metrics.mean_auprc(truth, scores) == pytest.approx((2 / 4 + 1 / 4) / 2)
    assert metrics.mean_auroc(truth, scores) == 0.5


def test_wrong_first_points_start_at_precision_zero():
    # Two negatives on top: interpolation runs from (0, 2) to (1, 2).
    assert metrics.pooled_auprc([[0], [0], [1]], [[3], [2], [1]]) == pytest.approx((0 + 1 / 3) / 2)


def test_labels_without_positives():
    truth = np.array([[1, 0], [0, 0]])
    scores = np.array([[0.5, 0.9], [0.1, 0.8]])
    assert metrics.pooled_auprc(truth, scores) == 1.0
    # Kept, their two cells come first: from (0, 2) to (1, 2).
    kept = metrics.pooled_auprc(truth, scores, absent_labels="keep")
    assert kept == pytest.approx(1 / 6)
    assert metrics.mean_auprc(truth, scores, absent_labels="keep") == 0.5
    assert metrics.mean_auroc(truth, scores, absent_labels="keep") == 0.75
    with pytest.warns(UndefinedMetricWarning, match="mean_auprc is undefined"):
        assert np.isnan(metrics.mean_auprc(truth, scores, labels=[1]))


def test_threshold_grid_joins_scores_between_two_thresholds():
    truth = [[1], [0], [1], [0]]
    scores = [[0.95], [0.91], [0.55], [0.10]]
    coarse = metrics.pooled_auprc(truth, scores, thresholds=[0.0, 0.5, 0.9])
    # At 0.9: (1, 1). At 0.5: (2, 1). At 0: (2, 2).
    assert coarse == pytest.approx((1 / 2 + (1 / 2 + 2 / 3) / 2) / 2)
    for grid in ([0.5], [0.5, 2.0]):  # no score reaches 2
        assert metrics.pooled_auprc(truth, scores, thresholds=grid) == pytest.approx(2 / 3)
    fine = metrics.pooled_auprc(truth, scores, thresholds=np.unique(scores))
    assert fine == pytest.approx(metrics.pooled_auprc(truth, scores))


def test_a_score_equal_to_a_threshold_reaches_it():
    grid = np.arange(51) / 50
    scores = grid[:, None].repeat(2, axis=1)
    truth = np.zeros((51, 2), dtype=int)
    truth[::3] = 1
    on_grid = metrics.pooled_auprc(truth, scores, thresholds=grid)
    assert on_grid == pytest.approx(metrics.pooled_auprc(truth, scores))


def test_labels_can_be_chosen():
    hierarchy = Hierarchy.from_paths(["a/x", "a/y", "b"])
    rng = np.random.default_rng(0)
    truth = hierarchy.close(rng.integers(0, 2, (20, 4)))
    scores = rng.random((20, 4))

    def area(labels):
        return metrics.mean_auprc(truth, scores, hierarchy=hierarchy, labels=labels)

    of = {label: area([label]) for label in hierarchy.labels}
    assert area("leaves") == pytest.approx(np.mean([of["a/x"], of["a/y"], of["b"]]))
    assert area(1) == pytest.approx(np.mean([of["a"], of["b"]]))
    assert area(2) == pytest.approx(np.mean([of["a/x"], of["a/y"]]))
    assert area(("b", "a/x", "b")) == pytest.approx(np.mean([of["a/x"], of["b"]]))


def test_large_gaps_and_tiny_scores_are_ranked_exactly():
    scores = np.array([[1e-300], [1e300], [-1e300], [5e-324], [0.0], [-0.0]])
    truth = np.array([[1], [0], [1], [0], [1], [0]])
    pairs = twins.cells(truth.tolist(), scores.tolist(), [0])
    assert metrics.pooled_auprc(truth, scores) == pytest.approx(twins.precision_recall_area(pairs))


def test_many_scores_equal_their_twin():
    rng = np.random.default_rng(1)
    truth = (rng.random((60, 5)) < 0.2).astype(int)
    scores = rng.random((60, 5)) ** 9
    pairs = twins.cells(truth.tolist(), scores.tolist(), range(5))
    assert metrics.pooled_auprc(truth, scores) == pytest.approx(twins.precision_recall_area(pairs))


def test_heavy_weights_approach_the_continuous_curve():
    truth, scores = [[1], [0], [1], [0]], [[0.9], [0.8], [0.3], [0.3]]
    heavy = metrics.pooled_auprc(truth, scores, sample_weight=np.full(4, 1e9))
    smooth = metrics.pooled_auprc(truth, scores, interpolation="continuous")
    assert heavy == pytest.approx(smooth, abs=1e-9)


def test_label_formats():
    hierarchy = Hierarchy.from_paths(["a/x", "a/y", "b"])
    scores = [[0.9, 0.8, 0.1, 0.2], [0.1, 0.0, 0.1, 0.6]]
    expected = metrics.pooled_auprc([[1, 1, 0, 0], [0, 0, 0, 1]], scores)
    for y in (["a/x", "b"], [["a/x"], ["b"]], [["a", "x"], ["b", ""]]):
        array = np.array(y) if isinstance(y[0], list) and len(y[0]) == 2 else y
        assert metrics.pooled_auprc(array, scores, hierarchy=hierarchy) == expected


GOOD = {"y_true": [[1, 0], [0, 1]], "y_score": [[0.5, 0.1], [0.2, 0.3]]}


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (
            {"y_score": [[0.5, np.nan], [0.2, 0.3]]},
            ValueError,
            "y_score must be finite, got nan at row 0, column 1",
        ),
        ({"y_score": [0.5, 0.1]}, ValueError, r"y_score must be .*, got 1 dimension\(s\)"),
        ({"y_score": [["a", "b"], ["c", "d"]]}, TypeError, "y_score must be numeric"),
        ({"y_score": [[0.5, 0.1]]}, ValueError, "y_true has 2 rows, but y_score has 1"),
        ({"y_true": [[2, 0], [0, 1]]}, ValueError, "y_true must .*, got 2 at row 0, column 0"),
        ({"y_true": [[1], [0]]}, ValueError, "y_true has 1 columns"),
        (
            {"y_true": ["a", "b"]},
            ValueError,
            "y_true must be a label matrix .*, got a list. Pass hierarchy",
        ),
        (
            {"sample_weight": [1.0]},
            ValueError,
            r"sample_weight must have shape \(2,\), got \(1,\)",
        ),
        (
            {"sample_weight": [1.0, -1.0]},
            ValueError,
            "sample_weight must be finite and non-negative",
        ),
        ({"sample_weight": [0, 0]}, ValueError, "sample_weight is zero for every row"),
        ({"labels": "leafs"}, ValueError, "labels must be 'all', .*, got 'leafs'"),
        ({"labels": 2}, ValueError, "labels must be a level from 1 to 1, got 2"),
        (
            {"labels": ["a"]},
            ValueError,
            "labels must be column numbers .*, got 'a'. Pass hierarchy",
        ),
        ({"labels": [5]}, ValueError, "labels must be column numbers from 0 to 1, got 5"),
        ({"labels": []}, ValueError, "labels is empty"),
        ({"interpolation": "cubic"}, ValueError, "interpolation must be .*, got 'cubic'"),
        ({"absent_labels": "zero"}, ValueError, "absent_labels must be .*, got 'zero'"),
        ({"thresholds": []}, ValueError, "thresholds must be a non-empty list of finite numbers"),
        ({"thresholds": 51}, ValueError, "thresholds must be a non-empty list .* got 51"),
        (
            {"hierarchy": Hierarchy.from_labels(["a", "b", "c"])},
            ValueError,
            "hierarchy has 3 labels",
        ),
    ],
)
def test_mistakes_are_explained(change, error, message):
    with pytest.raises(error, match=message):
        metrics.pooled_auprc(**{**GOOD, **change})


def test_no_rows_are_refused():
    with pytest.raises(ValueError, match="y_true has no rows"):
        metrics.pooled_auprc(np.zeros((0, 2), int), np.zeros((0, 2)))


def test_kernel_checks_its_arguments():
    from ramify import _core
    from ramify.data.rows import as_rows

    scores = as_rows(np.array([[0.5, 0.1], [0.2, 0.3]]))
    indptr, indices = np.array([0, 1, 2]), np.array([0, 1], dtype=np.int32)
    labels = np.array([0, 1], dtype=np.int32)

    def truth(indptr, indices):
        return _core.LabelRows(indptr, indices, 2)

    with pytest.raises(ValueError, match="truth must have the shape"):
        _core.curve_steps(scores, truth(indptr[:2], indices[:1]), labels)
    with pytest.raises(ValueError, match="indices must lie in"):
        truth(indptr, indices + 1)
    with pytest.raises(ValueError, match="indptr must not decrease"):
        truth(np.array([0, 3, 2]), indices)
    with pytest.raises(ValueError, match="labels must increase"):
        _core.label_areas(scores, truth(indptr, indices), labels[::-1].copy())
    with pytest.raises(ValueError, match="scores must be finite"):
        _core.label_areas(as_rows(np.full((2, 2), np.inf)), truth(indptr, indices), labels)
    with pytest.raises(ValueError, match="interpolation must be"):
        _core.label_areas(scores, truth(indptr, indices), labels, None, "cubic")


def test_neither_truth_nor_scores_are_copied():
    rng = np.random.default_rng(0)
    shape = (200, 20_000)
    truth = sparse.csr_array(rng.random(shape) < 0.001, dtype=np.float64)
    scores = rng.random(shape)
    tracemalloc.start()
    metrics.pooled_auprc(truth, scores)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # A dense truth would take 16 MB, the scores take 32; their finite mask takes 4.
    assert peak < 8e6


def test_a_label_of_all_rows_has_no_negatives_whatever_the_weights():
    weights = np.linspace(0.1, 1.7, 7)
    scores = np.array([[0.5], [0.75], [0.75], [0.25], [0.0], [0.5], [0.1]])
    for rows in (scores, sparse.csr_array(scores)):
        assert metrics.mean_auroc(np.ones((7, 1)), rows, sample_weight=weights) == 0.5
