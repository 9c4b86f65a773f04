"""Curves as data and as plots."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from scipy.integrate import trapezoid
from sklearn import metrics as sklearn_metrics
from sklearn.neighbors import KNeighborsClassifier

from ramify import Hierarchy, metrics
from tests.support.clus_oracle import TINY, read_predictions, requires_oracle
from tests.support.metrics_cases import Problem, problems

mpl.use("Agg")
import matplotlib.pyplot as plt

WRITTEN_CURVES = [
    (run, part)
    for run in ("t01_tree_numeric/run", "t02_dag/run_ExpAvgParentWeight")
    for part in ("train", "test")
]
ENDINGS = {"train": "train.1.pred.arff", "test": "test.pred.arff"}


def _clus_points(path: Path) -> dict[str, list[tuple[float, float]]]:
    points: dict[str, list[tuple[float, float]]] = {}
    with path.open() as file:
        for name, x, y in list(csv.reader(file))[1:]:
            points.setdefault(name, []).append((float(x), float(y)))
    return points


@requires_oracle
@pytest.mark.parametrize(("run", "part"), WRITTEN_CURVES)
def test_every_point_that_clus_writes_is_on_our_curve(run: str, part: str):
    found = read_predictions(TINY / f"{run}.{ENDINGS[part]}")
    ours = metrics.precision_recall_curves(found.truth, found.scores, by="label")
    curves = {found.labels[int(curve.name)]: curve for curve in ours}
    (curves["ALL"],) = metrics.precision_recall_curves(found.truth, found.scores)
    written = _clus_points(TINY / f"{run}.{part}.pr.csv")
    assert written.keys() == curves.keys()
    for name, points in written.items():
        curve = curves[name]
        for recall, precision in points:
            distance = np.hypot(curve.recall - recall, curve.precision - precision)
            assert distance.min() < 1e-12, (name, recall, precision)


@requires_oracle
@pytest.mark.parametrize(("run", "part"), WRITTEN_CURVES)
def test_roc_points_that_clus_writes_lie_on_our_curve(run: str, part: str):
    found = read_predictions(TINY / f"{run}.{ENDINGS[part]}")
    ours = metrics.roc_curves(found.truth, found.scores, by="label")
    curves = {found.labels[int(curve.name)]: curve for curve in ours}
    (curves["ALL"],) = metrics.roc_curves(found.truth, found.scores)
    for name, points in _clus_points(TINY / f"{run}.{part}.roc.csv").items():
        line = np.column_stack([curves[name].false_positive_rate, curves[name].true_positive_rate])
        for point in points:
            assert _distance(line, np.array(point)) < 1e-12, (name, point)


def _distance(line: np.ndarray, point: np.ndarray) -> float:
    """Distance of a point from a line of many segments."""
    begin, along = line[:-1], np.diff(line, axis=0)
    share = ((point - begin) * along).sum(axis=1) / (along**2).sum(axis=1)
    nearest = begin + np.clip(share, 0, 1)[:, None] * along
    return float(np.hypot(*(point - nearest).T).min())


@requires_oracle
@pytest.mark.parametrize("part", ["train", "test"])
def test_precision_at_recall_equals_that_of_clus(part: str):
    run = TINY / "t01_tree_numeric" / "run_recall"
    found = read_predictions(run.with_name(f"{run.name}.{ENDINGS[part]}"))
    chosen = (run.parent / "evalclasses.txt").read_text().split()
    labels = [found.labels.index(name) for name in chosen]
    text = run.with_suffix(".out").read_text()
    begin = text.index("Training error" if part == "train" else "Testing error")
    model = text.index("   Original: ", begin)
    for percent in (10, 50, 90):
        match = re.search(rf"P{percent}R: (\S+)", text[model:])
        assert match is not None
        ours = metrics.precision_at_recall(found.truth, found.scores, percent / 100, labels=labels)
        assert 100 * ours == pytest.approx(float(match[1]), abs=1e-10)


@given(problems())
def test_the_area_is_that_of_the_polygon(problem: Problem):
    options = {"hierarchy": problem.hierarchy}
    for by in ("pooled", "label", "level"):
        curves = metrics.precision_recall_curves(problem.truth, problem.scores, by=by, **options)
        for curve in curves:
            assert trapezoid(curve.precision, curve.recall) == pytest.approx(curve.area)
            assert (curve.recall[0], curve.recall[-1]) == (0.0, 1.0)
            assert curve.precision[-1] == pytest.approx(curve.prevalence)
        for roc in metrics.roc_curves(problem.truth, problem.scores, by=by, **options):
            height, width = roc.true_positive_rate, roc.false_positive_rate
            assert (height[0], width[0], height[-1], width[-1]) == (0.0, 0.0, 1.0, 1.0)
            if roc.area != 0.5:
                assert trapezoid(height, width) == pytest.approx(roc.area)


@given(problems())
def test_points_at_scores_equal_those_of_scikit_learn(problem: Problem):
    if not problem.truth.any():
        return
    keep = problem.truth.any(axis=0)
    (curve,) = metrics.precision_recall_curves(problem.truth, problem.scores)
    theirs = sklearn_metrics.precision_recall_curve(
        problem.truth[:, keep].ravel(), problem.scores[:, keep].ravel()
    )
    at = {score: (p, r) for p, r, score in zip(*theirs, strict=False)}
    for p, r, score in zip(curve.precision, curve.recall, curve.thresholds, strict=True):
        if not np.isnan(score):
            assert (p, r) == pytest.approx(at[score])


def test_curves_by_level_pool_the_labels_of_the_level():
    hierarchy = Hierarchy.from_paths(["a/x", "a/y", "b"])
    rng = np.random.default_rng(0)
    truth, scores = hierarchy.close(rng.integers(0, 2, (30, 4))), rng.random((30, 4))
    curves = metrics.precision_recall_curves(truth, scores, hierarchy=hierarchy, by="level")
    assert [curve.name for curve in curves] == ["level 1", "level 2"]
    for level, curve in enumerate(curves, start=1):
        area = metrics.pooled_auprc(truth, scores, hierarchy=hierarchy, labels=level)
        assert curve.area == pytest.approx(area)
    named = metrics.roc_curves(truth, scores, hierarchy=hierarchy, by="label", labels="leaves")
    assert [curve.name for curve in named] == ["a/x", "a/y", "b"]
    with pytest.raises(ValueError, match="by must be 'pooled', 'label' or 'level', got 'depth'"):
        metrics.roc_curves(truth, scores, by="depth")


def test_precision_at_takes_the_best_where_the_curve_drops():
    (curve,) = metrics.precision_recall_curves([[1], [0], [1]], [[0.9], [0.5], [0.4]])
    assert curve.precision_at(0.5) == 1.0
    assert curve.precision_at(0.75) == pytest.approx((1 / 2 + 2 / 3) / 2)
    with pytest.raises(ValueError, match=r"recall must be a number from 0 to 1, got 1\.5"):
        curve.precision_at(1.5)


@pytest.mark.parametrize("display", [metrics.PrecisionRecallDisplay, metrics.RocDisplay])
def test_displays_draw_every_curve(display):
    hierarchy = Hierarchy.from_paths(["a/x", "a/y", "b"])
    rng = np.random.default_rng(0)
    X = rng.random((40, 3))
    y = hierarchy.close(rng.integers(0, 2, (40, 4))).toarray()
    model = KNeighborsClassifier(3).fit(X, y)
    _, given = plt.subplots()
    drawn = display.from_estimator(
        model, X, y, hierarchy=hierarchy, by="level", ax=given, linewidth=3
    )
    assert drawn.ax_ is given
    assert [line.get_label().split(" (")[0] for line in drawn.lines_] == ["level 1", "level 2"]
    assert drawn.lines_[0].get_linewidth() == 3
    assert drawn.figure_ is drawn.ax_.figure
    again = drawn.plot(drawn.ax_)
    assert again is drawn
    _, ax = plt.subplots()
    pooled = display.from_predictions(y, rng.random((40, 4)), ax=ax)
    assert pooled.ax_ is ax
    assert len(pooled.lines_) == 1
    plt.close("all")


def test_a_single_precision_recall_curve_has_a_line_at_the_share_of_positives():
    truth, scores = [[1, 0], [1, 1], [0, 0], [0, 0]], np.eye(4, 2)
    drawn = metrics.PrecisionRecallDisplay.from_predictions(truth, scores)
    curve, share = drawn.ax_.lines
    assert curve is drawn.lines_[0]
    assert share.get_ydata() == [3 / 8, 3 / 8]
    plt.close("all")
