"""Curves of a study: their points, and how reports show them."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ramify import HierarchicalAdaBoostMHClassifier
from ramify.apps.studies.cell import run_cell
from ramify.apps.studies.data import load_data, split_rows
from ramify.apps.studies.findings import drawn_curves
from ramify.apps.studies.models import build
from ramify.apps.studies.reports.figures import lines_svg
from ramify.decision import nested_approximation
from ramify.metrics import hierarchical_f1, level_accuracy, symmetric_loss
from ramify.studies import make_study, run_study, write_reports
from tests.support.studies_cases import tables

BOOSTING = {"name": "boosting", "model": "boosting", "parameters": {"n_estimators": 6}}
TREE = {"name": "tree", "model": "tree", "parameters": {"max_depth": 3}}
OF_F1 = {"over": "stages", "measure": "hierarchical_f1", "values": [1, 3]}


def run(model: dict[str, Any], curve: dict[str, Any]) -> tuple[Any, Any, dict[str, Any]]:
    """Return the first cell's study, cell and record."""
    study = make_study(tables(models=[model], curves={"c": curve}))
    cell = next(study.cells(study.data[0]))
    record = run_cell(study, cell, "k")
    assert record["status"] == "done", record
    return study, cell, record


def fitted(study: Any, cell: Any) -> tuple[Any, Any, Any]:
    """Fit the model of a cell anew, and return it with the test rows."""
    data = load_data(cell.data)
    train, test = split_rows(data, study.protocol, 0, 0, study.seed)
    model = build(cell.model, data, cell.seed).fit(data.X[train], data.y[train])
    return model, data, test


def test_stages_are_those_of_the_model_and_always_the_last() -> None:
    study, cell, record = run(BOOSTING, OF_F1)
    model, data, test = fitted(study, cell)
    assert isinstance(model, HierarchicalAdaBoostMHClassifier)
    staged = list(model.staged_predict(data.X[test], decide="separately"))
    expected = {
        stage: hierarchical_f1(data.y[test], staged[stage - 1], hierarchy=data.hierarchy)
        for stage in (1, 3, model.n_rounds_)
    }
    points = record["curves"]["c"]
    assert dict(zip(points["x"], points["y"], strict=True)) == pytest.approx(expected)


def test_models_without_stages_have_no_such_curve() -> None:
    assert "curves" not in run(TREE, OF_F1)[2]


def test_levels() -> None:
    study, cell, record = run(TREE, {"over": "levels"})
    model, data, test = fitted(study, cell)
    predicted = model.predict(data.X[test], decide="separately")
    found = level_accuracy(data.y[test], predicted, hierarchy=data.hierarchy)
    assert record["curves"]["c"] == {"x": [1, 2, 3, 4][: len(found)], "y": pytest.approx(found)}


BY_ALPHA = {
    "over": "option",
    "measure": "symmetric_loss",
    "option": "alpha",
    "values": [0.1, 1.0, 10.0],
}


def test_an_option_of_the_measure() -> None:
    study, cell, record = run(TREE, BY_ALPHA)
    model, data, test = fitted(study, cell)
    predicted = model.predict(data.X[test], decide="separately")
    expected = [
        symmetric_loss(data.y[test], predicted, hierarchy=data.hierarchy, alpha=alpha)
        for alpha in (0.1, 1.0, 10.0)
    ]
    assert record["curves"]["c"]["y"] == pytest.approx(expected)


def test_a_model_with_that_parameter_decides_again_at_every_value(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from ramify import MandatoryLeafClassifier, PCTClassifier
    from ramify.apps.studies import cell as cell_module

    def risk(_: Any, data: Any, seed: int) -> Any:
        tree = PCTClassifier(data.hierarchy, max_depth=3, random_state=seed)
        return MandatoryLeafClassifier(tree, objective="risk")

    monkeypatch.setattr(cell_module, "build", risk)
    study, cell, record = run(TREE, BY_ALPHA)
    data = load_data(cell.data)
    train, test = split_rows(data, study.protocol, 0, 0, study.seed)
    expected = []
    for alpha in (0.1, 1.0, 10.0):
        model = risk(None, data, cell.seed).set_params(alpha=alpha)
        predicted = model.fit(data.X[train], data.y[train]).predict(data.X[test])
        expected.append(
            symmetric_loss(data.y[test], predicted, hierarchy=data.hierarchy, alpha=alpha)
        )
    assert record["curves"]["c"]["y"] == pytest.approx(expected)


def test_nested_sets_are_shares_of_some_rows() -> None:
    _, _, record = run(TREE, {"over": "nested", "values": [2, 3], "rows": 4})
    points = record["curves"]["c"]
    assert points["x"] == [2, 3]
    assert all(4 * share == round(4 * share) for share in points["y"])


def test_nested_sets_are_those_of_the_objective(monkeypatch: pytest.MonkeyPatch) -> None:
    from ramify import MandatoryLeafClassifier, PCTClassifier
    from ramify.apps.studies import cell as cell_module

    def risk(_: Any, data: Any, seed: int) -> Any:
        tree = PCTClassifier(data.hierarchy, max_depth=2, random_state=seed)
        return MandatoryLeafClassifier(tree, objective="risk", alpha=2.0)

    monkeypatch.setattr(cell_module, "build", risk)
    study, cell, record = run(TREE, {"over": "nested", "values": [2, 3, 4]})
    data = load_data(cell.data)
    train, test = split_rows(data, study.protocol, 0, 0, study.seed)
    scores = risk(None, data, cell.seed).fit(data.X[train], data.y[train]).predict_proba
    found = nested_approximation(
        scores(data.X[test]), data.hierarchy, [2, 3, 4], objective="risk", alpha=2.0
    )
    assert record["curves"]["c"]["y"] == pytest.approx(found.share.tolist())


def test_a_curve_belongs_to_the_cells_of_its_models() -> None:
    curve = {**OF_F1, "models": ["boosting"]}
    plain = make_study(tables(models=[BOOSTING, TREE]))
    study = make_study(tables(models=[BOOSTING, TREE], curves={"c": curve}))
    before, after = (
        {cell.model.name: cell.model.settings() for cell in one.cells(one.data[0])}
        for one in (plain, study)
    )
    assert before["tree"] == after["tree"]
    assert before["boosting"] != after["boosting"]


def test_reports_show_curves_and_models(tmp_path: Path) -> None:
    curves = {
        "rounds": {**OF_F1, "title": "F by rounds"},
        "alpha": {**BY_ALPHA, "title": "loss by α", "log": True},
    }
    study = make_study(tables(models=[BOOSTING, {**TREE, "show": True}], curves=curves))
    results = run_study(study, tmp_path)
    files = {path.name: path.read_text("utf-8") for path in write_reports(tmp_path)}
    drawn = {curve.name: curve for curve in drawn_curves(results)}
    assert set(drawn["rounds"].lines) == {"boosting"}
    assert set(drawn["alpha"].lines) == {"boosting", "tree"}
    assert len(drawn["alpha"].lines["tree"][1.0]) == 3  # folds
    rows = list(csv.DictReader(files["curves.csv"].splitlines()))
    by_fold = drawn["alpha"].lines["tree"][1.0]
    (row,) = [r for r in rows if (r["curve"], r["model"], r["x"]) == ("alpha", "tree", "1.0")]
    assert float(row["mean"]) == pytest.approx(np.mean(by_fold))
    assert row["n_folds"] == "3"
    assert "## Curves" in files["report.md"]
    assert f"{np.mean(by_fold):.3f}" in files["report.md"]
    assert files["report.html"].count('class="line c') == 2 * 3
    text = next(cell["text"] for cell in results.cells if cell.get("text"))
    assert text.splitlines()[0] in files["report.html"].replace("&gt;", ">").replace("&lt;", "<")
    assert sum("text" in cell for cell in results.cells) == 1  # the first fold of one model


def test_lines_stay_in_their_frame() -> None:
    lines = {"a": [(0.1, 0.2), (1.0, 0.9), (10.0, 0.4)], "b": [(0.1, 0.3)]}
    svg = lines_svg(lines, "title", "α", log=True)
    width, height = map(float, re.search(r'viewBox="0 0 (\d+) (\d+)"', svg).groups())
    dots = [tuple(map(float, d)) for d in re.findall(r'cx="([\d.]+)" cy="([\d.]+)"', svg)]
    assert len(dots) == 4
    assert all(0 < x < width and 0 < y < height for x, y in dots)
    assert dots[1][0] - dots[0][0] == pytest.approx(dots[2][0] - dots[1][0])  # logarithmic
    assert min(y for _, y in dots) == dots[1][1]  # the highest value on top
    assert lines_svg({"one point": [(1.0, 0.5)]}, "", "", log=False).startswith("<svg")


@pytest.mark.parametrize(
    ("curve", "message"),
    [
        ({"over": "rounds"}, "over of curve 'c' must be one of stages, option"),
        ({"over": "stages", "values": [1]}, "curve 'c' over stages has no 'measure'"),
        ({"over": "nested"}, "curve 'c' over nested has no 'values'"),
        ({**OF_F1, "measure": "f2"}, "measure of curve 'c' must be a measure .* got 'f2'"),
        ({**OF_F1, "models": ["x"]}, "curve 'c' names the model 'x'"),
        ({"over": "levels", "style": 1}, "curve 'c' has no setting 'style'"),
    ],
)
def test_mistakes_in_curves(curve: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_study(tables(curves={"c": curve}))


def test_whole_numbers_have_whole_ticks():
    svg = lines_svg({"m": [(1.0, 0.5), (2.0, 0.4), (3.0, 0.3)]}, "title", "level", log=False)
    ticks = re.findall(r'<text class="tick"[^>]*text-anchor="middle">([^<]*)', svg)
    assert ticks == ["1", "2", "3"]
