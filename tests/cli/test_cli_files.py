"""The command line on real-world files: delimiters, missing cells, codes, line endings."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ramify import Hierarchy, load, load_animals, read_table
from ramify.apps.reading.any_file import read_hierarchy
from tests.support.cli_runs import QUICK, run


def test_a_spreadsheet_with_semicolons_and_decimal_commas(tmp_path: Path) -> None:
    data = load_animals(as_frame=True)
    frame = data.X.assign(Größe=np.linspace(0.5, 9.5, len(data.X)))
    frame["taxon"] = [",".join(labels) for labels in data.hierarchy.decode(data.y)]
    path, out = tmp_path / "tabelle.csv", tmp_path / "m.ramify"
    frame.to_csv(path, index=False, sep=";", decimal=",", encoding="latin-1")
    form = ("--delimiter", ";", "--decimal", ",", "--encoding", "latin-1")
    labels = ("-t", "taxon", "--label-separator", ",")

    refused = run("train", path, "-o", out, *labels, *QUICK, "--delimiter", ";;")
    assert refused.exit_code == 2
    assert "got ';;'" in refused.output
    answers = []
    for given in ((), form, form[:4], form[4:]):  # what is not given is found
        trained = run("train", path, "-o", out, *labels, *given, *QUICK)
        assert trained.exit_code == 0, trained.output
        noted = " ".join(trained.output.split())
        assert ("cells are separated by ';' (--delimiter ';')" in noted) is (given[:1] != form[:1])
        assert ("encoded in cp1252, as in 'Größe'" in noted) is ("--encoding" not in given)
        assert "Größe" in load(out).feature_names_in_
        assert not load(out).schema_.categories.get(list(frame).index("Größe"))
        answers.append(run("predict", out, path, *given).output)
    assert len(set(answers)) == 1
    predicted = run("predict", out, path, *form)
    assert len(predicted.output.splitlines()) == len(frame)
    evaluated = run("evaluate", out, path, *labels, *form, "--json")
    assert json.loads(evaluated.stdout)["data"]["rows"] == len(frame)
    page = run("explore", out, path, "-o", tmp_path / "page.html", *labels, *form)
    assert page.exit_code == 0, page.output


def test_codes_that_look_like_numbers_stay_codes(tmp_path: Path) -> None:
    codes = ["1", "2", "3", "4b"] * 10
    rows = [f"{code},{'A' if code in ('1', '4b') else 'B'}" for code in codes]
    train, test = tmp_path / "train.csv", tmp_path / "test.csv"
    train.write_text("\n".join(["plot,labels", *rows]), "utf-8")
    test.write_text("\n".join(["plot", "3", "1", "2"]), "utf-8")  # numbers alone
    out = tmp_path / "m.ramify"
    assert run("train", train, "-o", out, "-m", "tree", "--folds", 0).exit_code == 0
    assert run("predict", out, test).output.split() == ["B", "A", "B"]


def test_booleans_with_and_without_missing_cells(tmp_path: Path) -> None:
    train, test = tmp_path / "train.csv", tmp_path / "test.csv"
    cells = [("TRUE", "A"), ("FALSE", "B"), ("", "B")] * 10
    train.write_text("\n".join(["winged,labels", *(f"{c},{y}" for c, y in cells)]), "utf-8")
    test.write_text("winged\nTRUE\nFALSE\n", "utf-8")
    out = tmp_path / "m.ramify"
    assert run("train", train, "-o", out, "-m", "tree", "--folds", 0).exit_code == 0
    assert run("predict", out, test).output.split() == ["A", "B"]


def test_columns_of_arff_files_are_known_by_name(tmp_path: Path) -> None:
    arff = "@relation r\n{}\n@attribute class hierarchical A,B\n@data\n{}\n"
    columns = ["@attribute length numeric", "@attribute mass numeric"]
    rows = [(k, 100 - k, "A" if k < 10 else "B") for k in range(20)]
    train, turned = tmp_path / "train.arff", tmp_path / "turned.arff"
    train.write_text(
        arff.format("\n".join(columns), "\n".join(f"{a},{b},{y}" for a, b, y in rows))
    )
    turned.write_text(
        arff.format("\n".join(columns[::-1]), "\n".join(f"{b},{a},{y}" for a, b, y in rows))
    )
    out = tmp_path / "m.ramify"
    assert run("train", train, "-o", out, "-m", "tree", "--folds", 0).exit_code == 0
    assert run("predict", out, turned).output == run("predict", out, train).output
    dropped = run("train", train, "-o", out, "-m", "tree", "--folds", 0, "--drop", "mass")
    assert "left out: mass" in dropped.output
    assert load(out).feature_names_in_.tolist() == ["length"]


@pytest.mark.parametrize(
    ("cells", "values", "noted"),
    [
        (["3,5", "4,25", "5,0"], [3.5, 4.25, 5], None),
        ([f"{k}.5" for k in range(30)] + ["n.d."], [0.5, 1.5], "'n.d.' as missing (1 cell)"),
        (["1", "2", "3", "#NV", "2"] * 6, [1, 2, 3, np.nan], "'#NV' as missing (6 cells)"),
        (["1,5", "2,5", "k.A."] * 10, [1.5, 2.5, np.nan], "'k.A.' as missing (10 cells)"),
        (["3,5", "1.000,5"] * 5, [3.5, 1000.5], "'1.000,5' as 1000.5"),
        (["1.5", "2.5", "1,000.5"] * 5, [1.5, 2.5, 1000.5], "'1,000.5' as 1000.5"),
        (["12 kg", "ca. 3 kg", "<5 kg"] * 5, [12, 3, 5], "numbers in kg, 'ca. 3 kg' as 3"),
        (["12,5 %", "3 %"] * 5, [12.5, 3], "numbers in %"),
        (["€ 1.250,00", "€ 3,50"] * 5, [1250, 3.5], "numbers in €"),
    ],
)
def test_numbers_are_read_as_people_write_them(
    tmp_path: Path, cells: list[str], values: list[float], noted: str | None
) -> None:
    path, out = tmp_path / "d.csv", tmp_path / "m.ramify"
    rows = [f"{cell};{k % 3};{'AB'[k % 2]}" for k, cell in enumerate(cells)]
    path.write_text("\n".join(["size;other;labels", *rows]), "utf-8")
    train = ("train", path, "-o", out, "-m", "tree", "--folds", 0)
    trained = run(*train)
    assert trained.exit_code == 0, trained.output
    shown = " ".join(trained.output.split())
    assert noted is None or (noted in shown and "--kind 'size=category'" in shown)
    assert not load(out).schema_.categories
    found = read_table(path).X
    column = found["size"] if hasattr(found, "columns") else found[:, 0]
    np.testing.assert_array_equal(np.asarray(column)[: len(values)], values)
    assert run("predict", out, path).exit_code == 0  # read in the same way
    kept = run(*train, "--kind", "size=category", "--keep", "size")
    assert kept.exit_code == 0, kept.output
    assert load(out).schema_.categories


def test_all_problems_of_a_table_are_told_at_once(tmp_path: Path) -> None:
    path, out = tmp_path / "d.csv", tmp_path / "m.ramify"
    rows = [f"{k}.{100 + k};{'much' if k == 7 else k};{'ab'[k % 2]}" for k in range(1, 31)]
    path.write_text("\n".join(["size;mass;labels", *rows]), "utf-8")
    train = ("train", path, "-o", out, "-m", "tree", "--folds", 0)
    mistake = run(*train)
    assert mistake.exit_code == 2
    shown = " ".join(mistake.output.split())
    assert "d.csv has 2 columns that cannot be read as they are" in shown
    assert "column 'size': '1.101' can be 1.101 or 1101. If it is the former, pass --decimal" in (
        shown
    )
    assert (
        "column 'mass', row 7 below the column names: 'much' is not a number, although most "
        "cells of the column are. If it means that the value is missing, pass --missing 'much'. "
        "To leave the column out, pass --drop 'mass', and to read its cells as names, --kind "
        "'mass=category'"
    ) in shown
    assert not out.exists()
    assert run(*train, "--thousands", ".", "--missing", "much").exit_code == 0
    assert run(*train, "--decimal", ".", "--drop", "mass").exit_code == 0


def test_text_in_a_numeric_feature_is_named_by_predict(tmp_path: Path) -> None:
    train, test, out = tmp_path / "train.csv", tmp_path / "test.csv", tmp_path / "m.ramify"
    rows = [f"r{k},{k % 7},{'AB'[k % 2]}" for k in range(30)]
    train.write_text("\n".join(["name,x,labels", *rows]), "utf-8")
    assert run("train", train, "-o", out, "-m", "tree", "--folds", 0).exit_code == 0
    test.write_text("name,x\na,1\nb,many\n", "utf-8")
    mistake = run("predict", out, test)
    assert mistake.exit_code == 2
    shown = " ".join(mistake.output.split())
    assert "column 'x', row 2 below the column names: 'many' is not a number" in shown
    assert "the model was trained on numbers" in shown
    assert run("predict", out, test, "--missing", "many").exit_code == 0


def test_dates_are_no_numbers_with_thousands(tmp_path: Path) -> None:
    path, out = tmp_path / "d.csv", tmp_path / "m.ramify"
    rows = [f"1.{k:03d},5;0{1 + k % 3}.02.2020;{'AB'[k % 2]}" for k in range(12)]
    path.write_text("\n".join(["size;day;labels", *rows]), "utf-8")
    form = ("--delimiter", ";", "--decimal", ",", "--thousands", ".")
    for given in ((), form):
        trained = run("train", path, "-o", out, "-m", "tree", "--folds", 0, *given)
        assert trained.exit_code == 0, trained.output
        assert load(out).schema_.times == {1: "date"}


def test_predict_is_used_without_a_threshold(tmp_path: Path) -> None:
    path, out = tmp_path / "d.csv", tmp_path / "m.ramify"
    path.write_text("\n".join(["x,labels", *(f"1,{label}" for label in "AAABBBBCCC")]), "utf-8")
    settings = ("-m", "label-powerset", "--folds", 0)
    assert run("train", path, "-o", out, *settings).exit_code == 0
    assert run("predict", out, path).output.splitlines() == ["B"] * 10  # the commonest set
    assert run("predict", out, path, "--threshold", 0.5).output.splitlines() == [""] * 10
    written = tmp_path / "p.csv"
    assert run("predict", out, path, "-o", written).exit_code == 0
    assert pd.read_csv(written)["labels"].tolist() == ["B"] * 10


def test_rows_to_predict_may_have_an_empty_column_of_labels(tmp_path: Path) -> None:
    train, test = tmp_path / "train.csv", tmp_path / "test.csv"
    train.write_text("\n".join(["x,labels", *(f"{k},{'AB'[k > 9]}" for k in range(20))]), "utf-8")
    test.write_text("x,labels\n3,\n15,\n", "utf-8")
    out = tmp_path / "m.ramify"
    assert run("train", train, "-o", out, "-m", "tree", "--folds", 0).exit_code == 0
    assert run("predict", out, test).output.split() == ["A", "B"]
    alone = run("predict", out, test, "--probabilities", 0.5)
    assert alone.exit_code == 2
    assert "--probabilities 0.5 requires --out" in alone.output
    once = run("train", train, "-o", out, "--folds", 1)
    assert once.exit_code == 2
    assert "--folds must be 0 or at least 2, got 1" in once.output


def test_rows_without_labels_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text("\n".join(["x,labels", *(f"{k},{'A' if k > 4 else ''}" for k in range(20))]))
    trained = run("train", path, "-o", tmp_path / "m", "-m", "tree", "--folds", 0)
    assert "5 rows without labels" in " ".join(trained.output.split())


@pytest.mark.parametrize(
    "text",
    ["parent,child\n,A\nA,B\n", "Child taxon,Parent taxon\nA,\nB,A\n", ",A\nA,B\n"],
)
def test_edges_of_a_hierarchy_with_and_without_a_header(tmp_path: Path, text: str) -> None:
    path = tmp_path / "h.csv"
    path.write_text(text, "utf-8")
    assert read_hierarchy(path) == Hierarchy.from_edges([("root", "A"), ("A", "B")], root="root")


def test_classic_mac_line_endings(tmp_path: Path) -> None:
    path = tmp_path / "mac.csv"
    path.write_bytes(b"\r".join([b"x,labels"] + [b"%d,A" % k for k in range(5)]))
    trained = run("train", path, "-o", tmp_path / "m", "-m", "tree", "--folds", 0)
    assert "Traceback" not in trained.output
    assert trained.exit_code == 0, trained.output
