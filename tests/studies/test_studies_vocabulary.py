"""What a study's file can say: protocols, parameters and claims of its own, models, measures."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import ANY

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from ramify import HierarchicalAdaBoostMHClassifier, load_animals
from ramify.apps.studies.cell import run_cell
from ramify.apps.studies.data import load_data, split_rows
from ramify.apps.studies.models import build
from ramify.apps.studies.plan import Protocol
from ramify.apps.studies.reports.html_page import to_html
from ramify.apps.studies.reports.markdown import to_markdown
from ramify.apps.studies.reports.reference import (
    reference_details,
    reference_overviews,
    time_words,
)
from ramify.apps.studies.store import cell_key
from ramify.apps.studies.verdicts import check_claims
from ramify.metrics import label_imbalance, symmetric_loss
from ramify.studies import StudyResults, list_studies, load_study, make_study, run_study
from tests.support.studies_cases import MODELS, small, tables

DRAWN = {"test_rows": 50, "repeats": 2}


def animals(**settings: Any) -> list[dict[str, Any]]:
    return [{"name": "animals", "title": "Animals", **settings}]


def test_a_data_set_may_have_its_own_protocol(tmp_path: Path) -> None:
    study = small(datasets=[*animals(protocol=DRAWN), {"name": "again", "fetch": "animals"}])
    cells = [list(study.cells(data)) for data in study.data]
    assert [len(part) for part in cells] == [2 * 3, 3 * 3]
    results = run_study(study, tmp_path)
    n_test = {cell["n_test"] for cell in results.cells if cell["dataset"] == "animals"}
    assert n_test == {50}
    words = "Tested on 50 rows drawn at random, trained on the others, 2 times."
    assert f"- Animals: {words}" in to_markdown(results)
    assert f"Animals: {words}" in to_html(results)


def test_drawn_test_rows_differ_by_repeat_and_leave_the_others_for_training() -> None:
    data = load_data(small().data[0])
    n = data.y.shape[0]
    first, second = (split_rows(data, Protocol(test_rows=50), k, 0, 0) for k in (0, 1))
    for train, test in (first, second):
        assert len(test) == 50
        assert sorted([*train, *test]) == list(range(n))
    assert set(first[1]) != set(second[1])
    train, test = split_rows(data, Protocol(test_rows=50, rows=30), 0, 0, 0)
    assert (len(train), len(test)) == (20, 10)  # too few for 50: a third


def test_a_data_set_may_have_its_own_parameters() -> None:
    deeper = {"tree": {"max_depth": 9, "criterion": "gini"}}
    study = small(datasets=animals(parameters=deeper), quick={"parameters": {"max_depth": 1}})
    models = {cell.model.name: cell.model for cell in study.cells(study.data[0])}
    assert models["tree"].parameters == {"max_depth": 9}  # what it sets itself, no more
    assert models["edges"].inside.parameters == {"max_depth": 2}
    plain = small()
    keys = [
        {cell.model.name: cell_key(one, cell, "data") for cell in one.cells(one.data[0])}
        for one in (study, plain)
    ]
    assert keys[0]["tree"] != keys[1]["tree"]
    assert keys[0]["edges"] == keys[1]["edges"]
    short = make_study(
        tables(datasets=animals(parameters=deeper), quick={"parameters": {"max_depth": 1}}),
        quick=True,
    )
    assert (
        next(c for c in short.cells(short.data[0]) if c.model.name == "tree").model.parameters[
            "max_depth"
        ]
        == 1
    )


def test_label_sets_are_decided_label_by_label() -> None:
    study = small(
        models=[{"name": "boosted", "model": "boosting", "parameters": {"n_estimators": 5}}],
        measures={"loss": {"measure": "symmetric_loss", "alpha": "imbalance", "train": True}},
    )
    cell = next(study.cells(study.data[0]))
    record = run_cell(study, cell, "key")
    data = load_animals(as_frame=False)
    train, test = split_rows(load_data(cell.data), study.protocol, 0, 0, 0)
    model = build(cell.model, load_data(cell.data), cell.seed)
    assert isinstance(model, HierarchicalAdaBoostMHClassifier)
    model.fit(data.X[train], data.y[train])
    alpha = label_imbalance(data.y[train])
    for rows, found in ((test, record["scores"]), (train, record["train_scores"])):
        predicted = model.predict(data.X[rows], decide="separately")
        expected = symmetric_loss(data.y[rows], predicted, hierarchy=data.hierarchy, alpha=alpha)
        assert found["loss"] == pytest.approx(expected)


def test_a_classifier_of_scikit_learns_inside() -> None:
    inside = {
        "model": "sklearn.ensemble.RandomForestClassifier",
        "parameters": {"n_estimators": 7},
    }
    study = small(models=[{"name": "levels", "model": "per-level", "inside": inside}])
    cell = next(study.cells(study.data[0]))
    forest = build(cell.model, load_data(cell.data), 4).estimator
    assert isinstance(forest, RandomForestClassifier)
    assert (forest.n_estimators, forest.random_state) == (7, 4)
    assert run_cell(study, cell, "key")["status"] == "done"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"datasets": animals(protocol={"fold": 3})}, "protocol of data set 'animals' has no"),
        ({"protocol": {"test_rows": 9, "train": ["a"], "test": ["b"]}}, "test and test_rows"),
        ({"datasets": animals(parameters={"tre": {}})}, "names the model 'tre'.* Did you mean"),
        (
            {"claims": [{"text": "?", "kind": "last", "measure": "los", "models": ["tree"]}]},
            "names the measure 'los'.* Did you mean",
        ),
        (
            {"models": [{**MODELS[2], "inside": {"model": "sklearn.tree.Oak"}}]},
            "estimator must be .* scikit-learn classifier.* got 'sklearn.tree.Oak'",
        ),
        (
            {"models": [{"name": "x", "model": "br-dt", "parameters": {"n_job": 2}}]},
            "has no parameter 'n_job'. Did you mean 'n_jobs'",
        ),
        (
            {"models": [{"name": "x", "model": "sklearn.tree.ExtraTreeClassifier"}]},
            "no.* kind|kind",
        ),
    ],
)
def test_mistakes_are_found_before_anything_runs(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        small(**change)


def test_claims_of_a_place_by_a_measure(tmp_path: Path) -> None:
    names = ["shares", "tree", "edges"]
    claims = [
        {"text": "Last.", "kind": "last", "measure": "loss", "models": names},
        {"text": "First.", "kind": "first", "measure": "loss", "models": names},
        {"text": "Alike.", "kind": "first", "models": ["tree", "twin"]},
    ]
    twin = {**MODELS[1], "name": "twin", "title": "a twin"}
    results = run_study(small(models=[*MODELS, twin], claims=claims), tmp_path)
    assert [one.outcome for one in check_claims(results)] == [
        "confirmed",
        "not confirmed",
        "partly",
    ]


@pytest.mark.parametrize("name", list_studies())
def test_published_numbers_are_of_models_data_and_quantities_of_the_study(name: str) -> None:
    study = load_study(name)
    models = {model.name for model in study.models}
    data = {one.name for one in study.data}
    costs = {"fit_cpu_seconds", "complexity"}
    measures = {one.name for one in study.measures}
    quantities = measures | {f"overfit:{one}" for one in measures} | costs
    sizes = {"rows", "leaves", "leaf_labels_per_row"}  # of a data set, without a model
    for row in study.reference:
        assert row["model"] in models | {""}
        assert row["dataset"] in data
        assert row["quantity"] in (quantities if row["model"] else sizes)
        assert np.isfinite(row["value"])
    assert load_study(name, quick=True).quick


def with_reference(results: StudyResults, *, quick: bool = False) -> StudyResults:
    """Give results published numbers: every mean 0.05 lower, ten times as slow."""
    results.study["quick"] = quick
    results.study["reference"] = [
        {"dataset": data["name"], "model": model["name"], "quantity": name, "value": value}
        for data in results.datasets
        for model in results.models
        for name, value in (
            ("auprc", results.mean("auprc", data["name"], model["name"]) - 0.05),
            (
                "fit_cpu_seconds",
                10 * results.mean("fit_cpu_seconds", data["name"], model["name"]),
            ),
        )
    ]
    return results


def test_numbers_stand_beside_the_published_ones(tmp_path: Path) -> None:
    groups = {"trees": ["tree", "edges"]}
    results = with_reference(run_study(small(tests={"groups": groups}), tmp_path))
    ((table, words),) = reference_overviews(results)
    assert table.header == ["model", "Animals", "rank", "published rank"]
    assert all(", +0.050)" in cells[0].text and cells[0].marked for _, cells in table.rows)
    ranks = {name: [cell.text for cell in cells[1:]] for name, cells in table.rows}
    assert ranks["label shares"] == ["–", "–"]  # in no group
    assert sorted(ranks.values()) == [["1.00", "1.00"], ["2.00", "2.00"], ["–", "–"]]
    assert "0 of 3 within 0.02, the largest difference 0.050" in words
    assert "ρ 1.00" in words
    assert time_words(results).endswith("10 times as long.")
    (detail,) = reference_details(results)
    assert detail.header[1:] == ["pooled AU(PRC)", "published", ANY, "published"]


def test_the_quick_form_judges_no_difference(tmp_path: Path) -> None:
    results = with_reference(run_study(small(), tmp_path), quick=True)
    ((table, words),) = reference_overviews(results)
    assert not any(cell.marked for _, cells in table.rows for cell in cells)
    assert words == time_words(results) == ""


def test_unfinished_models_have_no_rank(tmp_path: Path) -> None:
    results = with_reference(run_study(small(), tmp_path))
    left = [cell for cell in results.cells if (cell["model"], cell["fold"]) != ("tree", 0)]
    results = StudyResults(results.study, left, [])
    ((table, _),) = reference_overviews(results)
    assert table.header == ["model", "Animals"]
    assert dict(table.rows)["one tree"][0].text.endswith(", 2 folds")
