"""Options of the measures of protein function prediction, and their plots."""

from __future__ import annotations

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from ramify import Hierarchy, metrics
from tests.reference import measures as twins
from tests.support.metrics_cases import Problem, problems

mpl.use("Agg")
ANIMALS = Hierarchy.from_paths(["bird", "mammal/cat", "mammal/dog"])
TRUTH = np.array([[0, 1, 1, 0], [1, 0, 0, 0], [0, 1, 0, 0]])
SCORES = np.array([[0.1, 0.9, 0.6, 0.4], [0.7, 0.3, 0.2, 0.1], [0, 0.9, 0.9, 0]])


@given(problems(), st.booleans())
def test_sparse_scores_give_the_same_figures(problem: Problem, weigh: bool) -> None:
    if not problem.truth.any():
        return
    scores = np.clip(problem.scores, 0, 1)
    weight = np.arange(1, len(scores) + 1) / 3 if weigh else None
    options = {"hierarchy": problem.hierarchy, "sample_weight": weight, "thresholds": 0.05}
    dense = metrics.protein_curve(problem.truth, scores, **options).table()
    found = metrics.protein_curve(problem.truth, sparse.coo_array(scores), **options).table()
    assert found.columns == dense.columns


@given(problems(), st.data())
def test_known_labels_count_neither_as_true_nor_as_predicted(
    problem: Problem, data: st.DataObject
) -> None:
    shape = problem.truth.shape
    drawn = data.draw(
        st.lists(st.booleans(), min_size=problem.truth.size, max_size=problem.truth.size)
    )
    known = problem.hierarchy.close(np.array(drawn, dtype=int).reshape(shape)).toarray()
    rest = problem.truth * (1 - known)
    if not rest.any():
        return
    bits = [1.0 + c for c in range(shape[1])]
    grid = [0.1, 0.25, 0.3, 0.75]
    options = {"hierarchy": problem.hierarchy, "information": bits, "thresholds": grid}
    curve = metrics.protein_curve(problem.truth, problem.scores, known=known, **options)
    unseen = np.where(known, -1.0, problem.scores)
    expected = twins.protein_figures(rest, unseen, grid, bits)
    assert (curve.f_max(), curve.s_min()) == pytest.approx(expected)


def test_weighted_and_micro_averages_by_hand() -> None:
    bits = [1.0, 0.0, 2.0, 4.0]
    curve = metrics.protein_curve(TRUTH, SCORES, information=bits, thresholds=[0.5])
    # Predicted: mammal, cat; bird; mammal, cat. The third row has no information to recall.
    assert curve.precision == pytest.approx((1 + 1 + 1 / 2) / 3)
    assert curve.recall == pytest.approx(1)
    assert curve.weighted.precision == pytest.approx((1 + 1 + 0) / 3)
    assert curve.weighted.recall == pytest.approx((1 + 1 + 0) / 3)
    assert curve.weighted.n == 3
    assert curve.plain.micro_precision == pytest.approx(4 / 5)
    assert curve.plain.micro_recall == pytest.approx(1)
    assert curve.f_max(average="micro") == pytest.approx(8 / 9)
    assert curve.f_max(weighted=True, average="micro") == pytest.approx(2 * 3 / (5 + 3))
    assert (curve.remaining_uncertainty, curve.misinformation) == (0, pytest.approx(2 / 3))
    assert curve.s_min() == pytest.approx(2 / 3)
    assert metrics.f_max(TRUTH, SCORES, information=bits, weighted=True) > 0
    assert curve.best_threshold() == 0.5


def test_a_row_that_has_only_a_root_stays_without_roots() -> None:
    curve = metrics.protein_curve(TRUTH, SCORES, hierarchy=ANIMALS, roots=False, thresholds=[0.5])
    assert curve.coverage == pytest.approx(2 / 3)
    assert curve.precision == pytest.approx((1 + 0) / 2)
    assert curve.recall == pytest.approx((1 + 0 + 0) / 3)


def test_default_thresholds_are_those_of_cafa() -> None:
    curve = metrics.protein_curve(TRUTH, SCORES)
    np.testing.assert_array_equal(curve.thresholds, np.arange(0.01, 1, 0.01))
    table = curve.table()
    assert len(table) == 90  # nothing is predicted above 0.9
    assert list(table.columns)[:4] == ["tau", "n", "tp", "fp"]
    np.testing.assert_array_equal(table.columns["s"], curve.averages().distance[:90])


def test_nothing_is_predicted() -> None:
    nothing = sparse.csr_array((3, 4))
    curve = metrics.protein_curve(TRUTH, nothing, information=[1.0, 1.0, 1.0, 1.0])
    assert curve.f_max() == 0
    assert curve.s_min() == pytest.approx(4 / 3)
    assert len(curve.table()) == 0
    assert np.isnan(curve.precision).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"normalization": "all"}, "normalization must be one of 'cafa', 'gt', 'pred', got 'all'"),
        ({"propagation": "max"}, "propagation='max' requires a hierarchy"),
        ({"propagation": "min", "hierarchy": ANIMALS}, "how must be one of 'max', 'fill', got"),
        ({"roots": False}, "roots=False requires a hierarchy"),
        ({"thresholds": 0}, "thresholds must be a step from 1e-06 to below 1, or an array, got"),
        ({"thresholds": []}, "thresholds must be finite numbers, got"),
        (
            {"information": [1, 2, np.nan, 4]},
            "information must be finite and non-negative, got nan",
        ),
        ({"information": [1, 2, -3, 4]}, "information must be finite and non-negative, got -3"),
        ({"known": TRUTH[:2]}, "y_true has 3 rows, but known has 2"),
    ],
)
def test_mistakes_are_explained(options, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        metrics.protein_curve(TRUTH, SCORES, **options)


def test_mistakes_of_sparse_scores_and_averages_are_explained() -> None:
    with pytest.raises(ValueError, match="thresholds must be positive for sparse scores, got 0"):
        metrics.protein_curve(TRUTH, sparse.csr_array(SCORES), thresholds=[0.0, 0.5])
    with pytest.raises(ValueError, match="y_score must be finite, got nan at row 0, column 0"):
        metrics.protein_curve(TRUTH, sparse.csr_array(SCORES * np.nan))
    with pytest.raises(ValueError, match="average must be 'samples' or 'micro', got 'macro'"):
        metrics.f_max(TRUTH, SCORES, average="macro")


@pytest.mark.parametrize("weighted", [False, True])
def test_plots_show_every_curve_and_its_best_point(weighted: bool) -> None:
    curve = metrics.protein_curve(TRUTH, SCORES, hierarchy=ANIMALS)
    left, right = metrics.plot_protein_curves({"model": curve}, weighted=weighted)
    assert left.get_xlabel() == ("Weighted recall" if weighted else "Recall")
    dot = left.lines[-1].get_xydata()[0]
    averages = curve.averages(weighted=weighted)
    best = int(np.argmax(averages.f1))
    assert dot == pytest.approx([averages.recall[best], averages.precision[best]])
    best = int(np.argmin(curve.semantic_distance[:90]))
    expected = [curve.remaining_uncertainty[best], curve.misinformation[best]]
    assert right.lines[-1].get_xydata()[0] == pytest.approx(expected)
    texts = [text.get_text() for text in right.get_legend().get_texts()]
    assert texts == [f"model (S-min {curve.s_min():.2f})"]
    axes = plt.figure().subplots(1, 2)
    assert tuple(metrics.plot_protein_curves({"a": curve, "b": curve}, axes=axes)) == tuple(axes)
    plt.close("all")
