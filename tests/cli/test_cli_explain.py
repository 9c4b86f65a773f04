"""``ramify explain``: the prediction for one row, named as people name rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli_runs import run
from tests.support.inspection_cases import data_of


@pytest.fixture
def table(tmp_path: Path) -> Path:
    kinds = ("fish/eel", "fish/carp", "bird/owl")
    rows = [f"P{k},{k // 10},{'red' if k % 2 else 'blue'},{kinds[k // 10]}" for k in range(30)]
    path = tmp_path / "species.csv"
    path.write_text("\n".join(["site,width,colour,taxon", *rows]) + "\n", "utf-8")
    return path


@pytest.fixture
def model(table: Path) -> Path:
    path = table.with_name("m.ramify")
    train = ("train", table, "-t", "taxon", "-m", "tree", "--folds", 0, "-o", path)
    assert run(*train).exit_code == 0
    return path


@pytest.mark.parametrize("row", ["P25", "25"])
def test_a_row_is_found_by_its_identifier_or_number(row: str, model: Path, table: Path) -> None:
    result = run("explain", model, table, "--row", row)
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    title = row if row == "P25" else "25, counted from 0 (site P25)"
    assert lines[:3] == [f"row {title}: bird/owl", "  1.000  bird", "  1.000  bird/owl"]
    assert "width > 1.5?  yes: width = 2  → 10 rows" in lines


def test_a_row_that_is_not_there_is_refused(model: Path, table: Path) -> None:
    result = run("explain", model, table, "--row", "P255")
    assert result.exit_code == 2
    assert "a number below 30, got 'P255'. Did you mean 'P25'?" in " ".join(result.output.split())
    told = run("explain", model, table, "--row", "blue", "--id", "colour")
    assert told.exit_code == 2
    assert "'blue', which 15 rows have" in " ".join(told.output.split())


def test_models_without_trees_say_what_to_do(table: Path) -> None:
    path = table.with_name("nb.ramify")
    run("train", table, "-t", "taxon", "-m", "naive-bayes", "--folds", 0, "-o", path)
    result = run("explain", path, table, "--row", "P3")
    assert result.exit_code == 2
    assert "Traceback" not in result.output


def test_a_label_is_named_by_the_end_of_its_path(model: Path, table: Path) -> None:
    shown = run("explain", model, table, "--row", "P25", "--label", "Owl")
    assert shown.exit_code == 0, shown.output
    assert shown.output.splitlines()[-1].split()[0] == "bird/owl"
    assert "bird/owl   ·  1.00" in run("tree", model, "--label", "owl").output
    assert run("rules", model, "--label", "owl").output.startswith("bird/owl: precision")
    told = run("explain", model, table, "--row", "P25", "--label", "howl")
    assert told.output.startswith("ramify: unknown label")
    unknown = run("tree", model, "--label", "howl")
    assert unknown.exit_code == 2
    assert "unknown label 'howl'" in unknown.output


def test_a_table_in_the_place_of_the_model_is_recognised(model: Path, table: Path) -> None:
    for command in ("explain", "explore", "evaluate", "predict"):
        told = run(command, table, model)
        assert told.exit_code == 2
        assert "is a table, not a model" in " ".join(told.output.split())


def test_the_page_begins_with_a_label(model: Path, table: Path) -> None:
    page = table.with_name("p.html")
    assert run("explore", model, table, "-o", page, "--label", "Owl").exit_code == 0
    data = data_of(page)
    assert data["labels"][data["start"]] == "bird/owl"
    told = run("explore", model, "-o", page, "--label", "howl")
    assert told.exit_code == 2
