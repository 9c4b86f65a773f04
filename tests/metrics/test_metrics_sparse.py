"""Measures of sparse scores equal those of dense ones; scores that are left out have a bound."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from ramify import Hierarchy, metrics
from ramify.decision import apply_threshold, make_coherent
from tests.reference.many_labels import tail_bounds
from tests.support.label_graphs import graphs_and_scores
from tests.support.metrics_cases import HIERARCHIES, Problem, problems, quickly

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")

LAYOUTS = [sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.coo_array]
AREAS = [
    metrics.pooled_auprc,
    metrics.mean_auprc,
    metrics.weighted_auprc,
    metrics.pooled_auroc,
    metrics.mean_auroc,
]
WEIGHTS = {
    "none": lambda n: None,
    "whole": lambda n: np.arange(n) % 3 + (n == 1),
    "fractional": lambda n: np.linspace(0.1, 1.7, n),
}


def same(a: float, b: float, weights: str) -> bool:
    """Return whether figures are equal, up to rounding if weights are fractional."""
    if np.isnan(a) or np.isnan(b):
        return bool(np.isnan(a) and np.isnan(b))
    return bool(np.isclose(a, b, rtol=1e-12, atol=1e-12)) if weights == "fractional" else a == b


def shuffled(scores: np.ndarray) -> Any:
    """Return a matrix that stores its cells in no order, some of them in two parts."""
    rows, columns = np.nonzero(scores)
    order = np.random.default_rng(0).permutation(len(rows))
    cells = scores[rows, columns][order] / 2
    place = (np.tile(rows[order], 2), np.tile(columns[order], 2))
    return sparse.coo_array((np.tile(cells, 2), place), shape=scores.shape).tocsr()


@quickly
@given(problems(), st.sampled_from([*LAYOUTS, shuffled]), st.sampled_from(sorted(WEIGHTS)))
def test_areas_equal_those_of_dense_scores(problem: Problem, layout: Any, weights: str) -> None:
    p = problem
    options = {"hierarchy": p.hierarchy, "sample_weight": WEIGHTS[weights](len(p.truth))}
    for labels in ("all", "leaves", 1, [p.hierarchy.labels[-1]]):
        for measure in AREAS:
            dense = measure(p.truth, p.scores, labels=labels, **options)
            found = measure(p.truth, layout(p.scores), labels=labels, **options)
            assert same(dense, found, weights)
    for measure in AREAS[:3]:
        for more in (
            {"interpolation": "continuous"},
            {"interpolation": "step", "thresholds": [0.2, 0.5]},
            {"thresholds": [-2.0, -0.5, 0.0, 0.3]},
        ):
            dense = measure(p.truth, p.scores, **more, **options)
            assert same(dense, measure(p.truth, layout(p.scores), **more, **options), weights)


@quickly
@given(problems())
def test_curves_equal_those_of_dense_scores(problem: Problem) -> None:
    p = problem
    for by in ("pooled", "label", "level"):
        for compute in (metrics.precision_recall_curves, metrics.roc_curves):
            dense = compute(p.truth, p.scores, hierarchy=p.hierarchy, by=by)
            found = compute(p.truth, sparse.csr_array(p.scores), hierarchy=p.hierarchy, by=by)
            assert len(found) == len(dense)
            for a, b in zip(found, dense, strict=True):
                for name, value in vars(a).items():
                    assert np.array_equal(value, getattr(b, name), equal_nan=name != "name")


@quickly
@given(problems(), st.integers(1, 3))
def test_measures_of_rows_equal_those_of_dense_scores(problem: Problem, k: int) -> None:
    p = problem
    rows = sparse.csr_array(p.scores)
    options: Any = {"hierarchy": p.hierarchy}
    assert metrics.top_k_accuracy(p.truth, rows, k=k, **options) == metrics.top_k_accuracy(
        p.truth, p.scores, k=k, **options
    )
    for measure in (metrics.f_max, metrics.s_min):
        assert same(measure(p.truth, rows, **options), measure(p.truth, p.scores, **options), "")
    for threshold in (0.1, 0.5):
        dense = metrics.evaluate(p.truth, p.scores, p.hierarchy, threshold=threshold)
        found = metrics.evaluate(p.truth, rows, p.hierarchy, threshold=threshold)
        assert found.columns["measure"] == dense.columns["measure"]
        values = (found.columns["value"], dense.columns["value"])
        assert np.array_equal(*values, equal_nan=True)
        reports = [
            metrics.per_label_report(p.truth, scores, p.hierarchy, threshold=threshold).columns
            for scores in (rows, p.scores)
        ]
        assert str(reports[0]) == str(reports[1])


@quickly
@given(graphs_and_scores(), st.sampled_from([0.1, 0.5, 0.9]))
def test_thresholded_sets_equal_those_of_dense_scores(case: Any, threshold: float) -> None:
    hierarchy, scores = case
    scores = make_coherent(scores, hierarchy)
    expected = apply_threshold(scores, threshold, hierarchy)
    for rows in (sparse.csr_array(scores), sparse.csc_array(np.where(scores < 0.1, 0, scores))):
        found = apply_threshold(rows, threshold, hierarchy)
        assert found.dtype == expected.dtype
        assert np.array_equal(found.toarray(), expected.toarray())


def test_mistakes_of_sparse_scores_are_explained() -> None:
    tree = Hierarchy.from_paths(["a/b", "c"])
    good = sparse.csr_array([[0.5, 0.2, 0.1], [0.6, 0.5, 0.0]])
    with pytest.raises(ValueError, match="threshold must be positive for sparse scores, got 0 fo"):
        apply_threshold(good, 0.0, tree)
    with pytest.raises(ValueError, match=r"got 0.9 for 'a/b' and 0.5 for its parent 'a' in row 1"):
        apply_threshold(sparse.csr_array([[0, 0, 1.0], [0.5, 0.9, 0.0]]), 0.7, tree)
    with pytest.raises(ValueError, match=r"scores must have shape \(n, 3\), got \(2, 2\)"):
        apply_threshold(good[:, :2], 0.5, tree)
    with pytest.raises(ValueError, match="scores must be finite, got nan in row 1 for label 'c'"):
        apply_threshold(sparse.csr_array([[0, 0, 1.0], [0, 0, np.nan]]), 0.5, tree)
    with pytest.raises(ValueError, match="y_score must be finite, got inf at row 1, column 2"):
        metrics.pooled_auprc([[1, 0, 1]] * 2, sparse.csr_array([[0, 0, 1.0], [0, 0, np.inf]]))
    with pytest.raises(ValueError, match="threshold must be positive for sparse scores, got 0"):
        metrics.evaluate([[1, 1, 0]] * 2, good, tree, threshold=0)


# ---- scores that are left out --------------------------------------------------------------


@st.composite
def cut_problems(draw: st.DrawFn) -> tuple[Hierarchy, np.ndarray, np.ndarray, float]:
    hierarchy = draw(st.sampled_from(HIERARCHIES))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = (draw(st.integers(2, 30)), hierarchy.n_labels)
    truth = hierarchy.close(rng.random(shape) < 0.3).toarray()
    scores = np.round(rng.random(shape) ** 2, draw(st.sampled_from([1, 9])))
    return hierarchy, truth, scores, draw(st.sampled_from([0.05, 0.3, 0.8]))


@quickly
@given(cut_problems())
def test_areas_change_by_no_more_than_their_bounds(case: Any) -> None:
    _, truth, scores, least = case
    cut = sparse.csr_array(np.where(scores >= least, scores, 0.0))
    present = np.flatnonzero(truth.any(axis=0))
    if not len(present):
        return
    bounds = tail_bounds(truth[:, present].ravel() > 0, scores[:, present].ravel(), least)
    labels = [tail_bounds(truth[:, c] > 0, scores[:, c], least) for c in present]
    for measure, bound in (
        (metrics.pooled_auprc, bounds[0]),
        (metrics.pooled_auroc, bounds[1]),
        (metrics.mean_auprc, np.mean([of_label[0] for of_label in labels])),
        (metrics.mean_auroc, np.mean([of_label[1] for of_label in labels])),
    ):
        assert abs(measure(truth, cut) - measure(truth, scores)) <= bound + 1e-12
    for how in ("step", "continuous", "linear"):
        areas = [metrics.pooled_auprc(truth, rows, interpolation=how) for rows in (cut, scores)]
        assert abs(areas[0] - areas[1]) <= bounds[0] + 1e-12


@quickly
@given(cut_problems())
def test_f_max_is_that_of_the_thresholds_above_the_cut(case: Any) -> None:
    hierarchy, truth, scores, least = case
    cut = sparse.csr_array(np.where(scores >= least, scores, 0.0))
    grid = np.arange(1, 100) / 100
    found = metrics.f_max(truth, cut, hierarchy=hierarchy, thresholds=grid)
    above = metrics.f_max(truth, scores, thresholds=[least, *grid[grid > least]])
    assert same(found, above, "fractional")
    assert not found > metrics.f_max(truth, scores, thresholds=grid) + 1e-12


@quickly
@given(cut_problems(), st.integers(1, 3))
def test_the_best_labels_change_only_in_rows_with_fewer_scores(case: Any, k: int) -> None:
    _, truth, scores, least = case
    enough = (scores >= least).sum(axis=1) >= k
    if not enough.any():
        return
    cut = sparse.csr_array(np.where(scores >= least, scores, 0.0))
    found = metrics.top_k_accuracy(truth[enough], cut[enough], k=k)
    assert found == metrics.top_k_accuracy(truth[enough], scores[enough], k=k)


# ---- size ----------------------------------------------------------------------------------


def test_labels_are_read_in_groups_if_there_are_many_scores() -> None:
    rng = np.random.default_rng(0)
    scores = np.round(rng.random((60_000, 80)), 2) + 0.01
    truth = sparse.csr_array(rng.random(scores.shape) < 0.01)
    dense = metrics.mean_auprc(truth, scores)
    assert metrics.mean_auprc(truth, sparse.csr_array(scores)) == dense


def test_sparse_scores_are_not_made_dense() -> None:
    # As dense arrays, these would take 32 GB.
    shape = (100_000, 40_000)
    rng = np.random.default_rng(0)
    rows, columns = (rng.integers(0, n, 200_000) for n in shape)
    scores = sparse.coo_array((rng.random(len(rows)), (rows, columns)), shape=shape).tocsr()
    truth = sparse.coo_array((np.ones(len(rows)), (rows, columns)), shape=shape).tocsr()
    truth.data[:] = 1
    assert metrics.pooled_auprc(truth, scores) == 1.0
    assert metrics.mean_auprc(truth, scores) == 1.0
    hits = np.minimum(np.diff(truth.indptr), 3)
    assert metrics.top_k_accuracy(truth, scores, k=3) == pytest.approx(hits.mean() / 3)
    tree = Hierarchy.from_labels(range(shape[1]))
    assert metrics.hamming_loss(truth, apply_threshold(scores, 0.5, tree)) > 0
