"""The command line on real-world files: delimiters, missing cells, codes, line endings."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ramify import Hierarchy, load, load_animals
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

    def mistake(*given: str) -> str:
        result = run("train", path, "-o", out, *labels, *QUICK, *given)
        assert result.exit_code == 2
        assert not out.exists()
        return result.output

    assert "for example --encoding latin-1" in mistake(*form[:4])
    assert "pass --delimiter ';'" in mistake(*form[4:])
    assert "got ';;'" in mistake("--delimiter", ";;", *form[4:])
    trained = run("train", path, "-o", out, *labels, *form, *QUICK)
    assert trained.exit_code == 0, trained.output
    assert "Größe" in load(out).feature_names_in_
    predicted = run("predict", out, path, *form)
    assert len(predicted.output.splitlines()) == len(frame)
    evaluated = run("evaluate", out, path, *labels, *form, "--json")
    assert json.loads(evaluated.output)["data"]["rows"] == len(frame)
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
    ("cells", "given", "row", "remedy"),
    [
        (["3,5", "4,25", "5,0"], (), 1, ("--decimal", ",")),
        ([f"{k}.5" for k in range(30)] + ["n.d."], (), 31, ("--missing", "n.d.")),
        (["1", "2", "3", "#NV", "2"] * 6, (), 4, ("--missing", "#NV")),
        (["1,5", "2,5", "k.A."] * 10, ("--decimal", ","), 3, ("--missing", "k.A.")),
        (["3,5", "1.000,5"] * 5, ("--decimal", ","), 2, ("--thousands", ".")),
        (["1.5", "2.5", "1,000.5"] * 5, (), 3, ("--thousands", ",")),
    ],
)
def test_text_among_numbers_names_the_cell_and_the_remedy(
    tmp_path: Path, cells: list[str], given: tuple[str, ...], row: int, remedy: tuple[str, str]
) -> None:
    path, out = tmp_path / "d.csv", tmp_path / "m.ramify"
    rows = [f"{cell};{k % 3};{'AB'[k % 2]}" for k, cell in enumerate(cells)]
    path.write_text("\n".join(["size;other;labels", *rows]), "utf-8")
    train = ("train", path, "-o", out, "-m", "tree", "--folds", 0, "--delimiter", ";", *given)
    mistake = run(*train)
    assert mistake.exit_code == 2
    shown = " ".join(mistake.output.split())
    cell = repr(cells[row - 1])
    assert f"{path}, column 'size', row {row} below the column names: {cell} is not a" in shown
    assert f"{remedy[0]} {remedy[1]!r}" in shown
    assert "--drop 'size'" in shown
    assert not out.exists()
    trained = run(*train, *remedy)
    assert trained.exit_code == 0, trained.output
    assert len(load(out).feature_names_in_) == 2
    assert not load(out).schema_.categories
    assert run("predict", out, path).exit_code == 0  # the options are remembered
    assert run(*train, "--drop", "size").exit_code == 0


def test_text_in_a_numeric_feature_is_named_by_predict(tmp_path: Path) -> None:
    train, test, out = tmp_path / "train.csv", tmp_path / "test.csv", tmp_path / "m.ramify"
    rows = [f"r{k},{k % 7},{'AB'[k % 2]}" for k in range(30)]
    train.write_text("\n".join(["name,x,labels", *rows]), "utf-8")
    assert run("train", train, "-o", out, "-m", "tree", "--folds", 0).exit_code == 0
    test.write_text("name,x\na,1\nb,-\n", "utf-8")
    mistake = run("predict", out, test)
    assert mistake.exit_code == 2
    shown = " ".join(mistake.output.split())
    assert "column 'x', row 2 below the column names: '-' is not a number" in shown
    assert "the model was trained on numbers" in shown
    assert run("predict", out, test, "--missing", "-").exit_code == 0


def test_dates_are_no_numbers_with_thousands(tmp_path: Path) -> None:
    path, out = tmp_path / "d.csv", tmp_path / "m.ramify"
    rows = [f"1.{k:03d},5;0{1 + k % 3}.02.2020;{'AB'[k % 2]}" for k in range(12)]
    path.write_text("\n".join(["size;day;labels", *rows]), "utf-8")
    form = ("--delimiter", ";", "--decimal", ",", "--thousands", ".")
    trained = run("train", path, "-o", out, "-m", "tree", "--folds", 0, *form)
    assert trained.exit_code == 0, trained.output
    categories = load(out).schema_.categories
    assert [list(values) for values in categories.values()] == [
        ["01.02.2020", "02.02.2020", "03.02.2020"]
    ]


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
