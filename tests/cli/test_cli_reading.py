"""How the command line reads files: what it notes, and what a model remembers."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ramify import PCTClassifier, load, save
from ramify.apps.reading.any_file import read_data
from ramify.io import read_arff
from ramify.saving.model import save_with_settings
from tests.support.cli_runs import run

TREE = ("-m", "tree", "--folds", 0)


def words(*arguments: object, code: int = 0) -> str:
    result = run(*arguments)
    assert result.exit_code == code, result.output
    return " ".join(result.output.split())


def write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


@pytest.fixture
def german(tmp_path: Path) -> Path:
    rows = [f"P{k};{k % 9},5;{'A.B' if k % 2 else 'A.C'}|D;{1 + k % 2};x" for k in range(30)]
    return write(tmp_path / "german.csv", "probe;size;klasse;w;rest", *rows)


GERMAN = (
    *("-t", "klasse", "--delimiter", ";", "--decimal", ",", "--separator", "."),
    *("--label-separator", "|", "--weight", "w", "--drop", "rest", "--id", "probe"),
)


def test_a_model_remembers_how_its_data_were_read(german: Path, tmp_path: Path) -> None:
    out, written = tmp_path / "m.ramify", tmp_path / "p.csv"
    assert "rest (--drop)" in words("train", german, "-o", out, *TREE, *GERMAN)
    assert load(out).feature_names_in_.tolist() == ["size"]
    words("predict", out, german, "-o", written)
    frame = pd.read_csv(written)
    assert list(frame) == ["row", "probe", "klasse"]
    assert frame["probe"].tolist() == [f"P{k}" for k in range(30)]
    assert all(cell.endswith("|D") for cell in frame["klasse"])  # as in the training file
    assert run("predict", out, german).output.splitlines() == frame["klasse"].tolist()
    facts = json.loads(run("evaluate", out, german, "--json").stdout)
    assert (facts["data"]["rows"], facts["data"]["labels"]) == (30, 4)
    words("explore", out, german, "-o", tmp_path / "page.html")
    # An option that is given again takes precedence over the one that was given in training.
    comma = tmp_path / "comma.csv"
    comma.write_text(german.read_text().replace(",5", ".5").replace(";", ","), "utf-8")
    words("predict", out, comma, code=2)
    again = run("predict", out, comma, "--delimiter", ",", "--decimal", ".")
    assert again.output.splitlines() == frame["klasse"].tolist()


def test_settings_of_a_model_file_are_checked(german: Path, tmp_path: Path) -> None:
    tree = PCTClassifier().fit([[1.0], [2.0]], ["a", "b"])
    path = tmp_path / "m.ramify"
    bad = (
        {"delimiter": 5},
        {"target": "x" * 20_000},
        {"target": [["x"]]},
        {"index_base": 7},
        {"index_base": True},
        {"command": "x"},
    )
    for settings in bad:
        save_with_settings(tree, path, settings)
        message = words("predict", path, german, code=2)
        assert "m.ramify is not a valid ramify model file" in message
        assert next(iter(settings)) in message
        assert load(path).predict([[1.0]]).tolist() == ["a"]  # load does not read them
    save(tree, path)
    with zipfile.ZipFile(path) as archive:
        assert "reading.json" not in archive.namelist()


def test_empty_rows_are_left_out_and_rows_without_labels_kept(tmp_path: Path) -> None:
    rows = [f"{k % 7};{'ab'[k % 2]};{'A' if k % 3 else ''}" for k in range(24)]
    path = write(tmp_path / "d.csv", "x;c;labels", *rows, ";;", "; ;", ";;", "", "")
    out = tmp_path / "m.ramify"
    train = ("train", path, "-o", out, *TREE, "--delimiter", ";")
    shown = words(*train)
    assert "Note: 3 empty rows were left out" in shown  # "; ;" has a cell with a blank
    assert "24 rows" in shown
    assert "8 rows without labels" in shown
    printed = run(*train, "--json").output  # the note, on stderr, and JSON
    assert json.loads(printed[printed.index("{") :])["data"]["rows"] == 24
    # Predictions keep one line per row.
    assert len(run("predict", out, path).output.splitlines()) == 27


def test_columns_that_say_nothing_are_left_out(tmp_path: Path) -> None:
    rows = [f"{k + 1},{k % 4},,{k + 5},{'AB'[k % 2]}" for k in range(40)]
    path = write(tmp_path / "d.csv", "no,x,empty,year,labels", *rows)
    out, written = tmp_path / "m.ramify", tmp_path / "p.csv"
    shown = words("train", path, "-o", out, *TREE)
    assert "left out: no (consecutive numbers), empty (no values)" in shown
    assert load(out).feature_names_in_.tolist() == ["x", "year"]
    words("predict", out, path, "-o", written)
    assert pd.read_csv(written)["no"].tolist() == list(range(1, 41))
    words("train", path, "-o", out, *TREE, "--keep", "no")
    assert load(out).feature_names_in_.tolist() == ["no", "x", "year"]
    assert "--keep must name columns" in words("train", path, "-o", out, "--keep", "n", code=2)
    alone = write(tmp_path / "one.csv", "x,labels", *(f"{k},{'AB'[k > 20]}" for k in range(40)))
    words("train", alone, "-o", out, *TREE)  # the only feature is kept
    assert load(out).feature_names_in_.tolist() == ["x"]


def test_repeated_columns_are_renamed_with_a_note(tmp_path: Path) -> None:
    rows = [f"{k % 7},{k % 3},{k % 5},{'AB'[k % 2]}" for k in range(20)]
    path = write(tmp_path / "d.csv", "x,x,x-1,labels", *rows)
    out = tmp_path / "m.ramify"
    assert "column 2 was renamed to 'x-2': 'x' occurs more" in words(
        "train", path, "-o", out, *TREE
    )
    assert load(out).feature_names_in_.tolist() == ["x", "x-2", "x-1"]
    assert run("predict", out, path).exit_code == 0


@pytest.mark.parametrize("first", ["sep=;", '"sep=;"', "\ufeffsep=;"])
def test_a_first_line_that_declares_the_delimiter(tmp_path: Path, first: str) -> None:
    rows = [f"{k % 7};{'A' if k % 2 else 'B'}" for k in range(20)]
    path = write(tmp_path / "d.csv", first, "x;labels", *rows)
    out = tmp_path / "m.ramify"
    form = ("--decimal", ",")  # a comma is not the delimiter
    assert "20 rows, 1 feature" in words("train", path, "-o", out, *TREE, *form)
    assert len(run("predict", out, path).output.splitlines()) == 20


def test_unknown_labels_name_the_option_to_ignore_them(german: Path, tmp_path: Path) -> None:
    out = tmp_path / "m.ramify"
    words("train", german, "-o", out, *TREE, *GERMAN)
    new = write(
        tmp_path / "new.csv", "probe;size;klasse;w;rest", "P1;1,5;A.X;1;x", "P2;2,5;A.B;1;x"
    )
    message = words("evaluate", out, new, code=2)
    assert "unknown label 'A.X'" in message
    assert "pass --ignore-unknown" in message
    assert "ignored: 1" in words("evaluate", out, new, "--ignore-unknown")


ARFF = (
    "@relation plants\n@attribute name string\n@attribute x numeric\n@attribute w numeric\n"
    "@attribute kind {a,b}\n@data\n"
)


def test_arff_honours_target_and_weight(tmp_path: Path) -> None:
    rows = [f"n{k},{k % 7},{1 if k < 30 else 0},{'ab'[k % 7 > 3]}" for k in range(60)]
    # Rows without weight contradict the others.
    rows += [f"m{k},{k % 7},0,{'ab'[k % 7 <= 3]}" for k in range(90)]
    path = tmp_path / "plants.arff"
    path.write_text(ARFF + "\n".join(rows), "utf-8")
    out, written = tmp_path / "m.ramify", tmp_path / "p.csv"
    train = ("train", path, "-o", out, *TREE, "-t", "kind")
    words(*train, "--weight", "w")
    assert load(out).feature_names_in_.tolist() == ["x"]
    words("predict", out, path, "-o", written)
    frame = pd.read_csv(written)
    assert frame["kind"].tolist()[:30] == ["ab"[k % 7 > 3] for k in range(30)]
    assert frame["name"].tolist()[:2] == ["n0", "n1"]
    facts = json.loads(run("evaluate", out, path, "--json").stdout)
    assert facts["data"]["labels"] == 2
    assert "--weight must be a numeric attribute" in words(*train, "--weight", "kind", code=2)
    assert "got 'kin'. Did you mean 'kind'?" in words("train", path, "-t", "kin", code=2)


def test_unknown_values_of_an_arff_target(tmp_path: Path) -> None:
    path, other, out = tmp_path / "a.arff", tmp_path / "b.arff", tmp_path / "m.ramify"
    rows = "\n".join(f"n{k},{k % 7},1,{'ab'[k % 2]}" for k in range(20))
    path.write_text(ARFF + rows, "utf-8")
    other.write_text((ARFF + rows).replace("{a,b}", "{a,b,c}"), "utf-8")
    words("train", path, "-o", out, *TREE, "-t", "kind")
    message = words("evaluate", out, other, code=2)
    assert "b.arff: unknown label 'c'" in message
    assert "pass --ignore-unknown" in message
    assert "ignored: 1" in words("evaluate", out, other, "--ignore-unknown")


def test_arff_honours_the_separator(tmp_path: Path) -> None:
    rows = "\n".join(f"{k % 7},{'A.B' if k % 2 else 'A.C'}" for k in range(24))
    path = tmp_path / "dots.arff"
    path.write_text(
        f"@relation d\n@attribute x numeric\n@attribute c hierarchical A.B,A.C\n@data\n{rows}\n"
    )
    out = tmp_path / "m.ramify"
    assert "3 labels on 2 levels" in words("train", path, "-o", out, *TREE, "--separator", ".")
    facts = json.loads(run("evaluate", out, path, "--json").stdout)
    assert facts["data"]["labels"] == 3


@pytest.mark.parametrize("base", [0, 1])
def test_sparse_arff_files_of_weka_and_clus(tmp_path: Path, base: int) -> None:
    rows = [
        f"{{{base + k % 2} {k + 1}, {2 + base} {'A/B' if k % 2 else 'A/C'}}}" for k in range(24)
    ]
    path = tmp_path / "sparse.arff"
    header = "@attribute x numeric\n@attribute z numeric\n@attribute c hierarchical A/B,A/C\n"
    path.write_text(f"@relation s\n{header}@data\n" + "\n".join(rows))
    out = tmp_path / "m.ramify"
    if base:
        assert "--index-base 1" in words("train", path, "-o", out, *TREE, code=2)
    words("train", path, "-o", out, *TREE, "--index-base", base)
    answers = run("predict", out, path).output.split()
    assert answers == ["A/C", "A/B"] * 12


def test_columns_of_sparse_arff_files_can_be_left_out(tmp_path: Path) -> None:
    rows = [f"{{0 {k % 5 + 1}, 1 {k % 2 + 1}, 2 {k % 2}}}" for k in range(24)]
    header = "@attribute x numeric\n@attribute z numeric\n@attribute l {0,1}\n"
    path = tmp_path / "sparse.arff"
    path.write_text(f"@relation s\n{header}@data\n" + "\n".join(rows))
    out = tmp_path / "m.ramify"
    words("train", path, "-o", out, *TREE, "-t", "l", "--drop", "x")
    assert load(out).n_features_in_ == 1
    assert run("predict", out, path).output.split("\n")[:2] == ["", "l"]


def test_probabilities_as_arff(german: Path, tmp_path: Path) -> None:
    out, written = tmp_path / "m.ramify", tmp_path / "p.arff"
    words("train", german, "-o", out, *TREE, *GERMAN)
    words("predict", out, german, "-o", written, "--probabilities", 0.3)
    table = read_arff(written)
    fitted = load(out)
    assert table.feature_names == tuple(fitted.hierarchy_.labels)
    frame = pd.read_csv(german, sep=";", decimal=",")[["size"]]
    scores = fitted.predict_proba(frame)
    assert table.X.toarray() == pytest.approx(np.where(scores >= 0.3, scores, 0))


def test_studies_take_the_same_settings(german: Path, tmp_path: Path) -> None:
    text = (
        'name = "mine"\n[protocol]\nfolds = 2\n[measures.pooled_auprc]\n[[datasets]]\n'
        'name = "german"\nfile = "german.csv"\ntarget = "klasse"\n'
        'reading = { delimiter = ";", decimal = ",", separator = ".", label_separator = "|" }\n'
        '[[models]]\nname = "tree"\nmodel = "tree"\n'
    )
    path = write(tmp_path / "mine.toml", text)
    facts = json.loads(run("study", path, "-o", tmp_path / "out", "--json").output)
    assert not facts.get("failures")
    wrong = write(tmp_path / "wrong.toml", text.replace("delimiter", "delimeter"))
    message = words("study", wrong, "-o", tmp_path / "out2", code=2)
    assert "reading of data set 'german'" in message
    assert "Did you mean 'delimiter'" in message


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    days = pd.date_range("2024-01-01", periods=60).strftime("%Y-%m-%d").tolist()
    days[7] = ""
    rows = [
        f"{day},{'winter/january' if k < 31 else 'winter/march'}" for k, day in enumerate(days)
    ]
    return write(tmp_path / "visits.csv", "day,labels", *rows)


def test_dates_are_features(visits: Path, tmp_path: Path) -> None:
    out, written = tmp_path / "m.ramify", tmp_path / "p.csv"
    trained = words("train", visits, "-o", out, *TREE)
    assert "Note: column 'day': read as dates" in trained
    assert "left out" not in trained
    assert load(out).schema_.times == {0: "date"}
    assert "day > 2024-01-31 12:00" in words("tree", out)
    assert "day > 2024-01-31 12:00" in words("rules", out)
    words("evaluate", out, visits)
    new = write(tmp_path / "new.csv", "day", "2024-01-02T09:30:00", "2031-05-01", "NA")
    words("predict", out, new, "-o", written)
    assert pd.read_csv(written)["labels"].tolist()[:2] == ["winter/january", "winter/march"]
    words("predict", out, new, "-o", tmp_path / "p.arff")
    assert "@attribute day numeric" in (tmp_path / "p.arff").read_text()


def test_a_model_of_dates_names_other_cells(visits: Path, tmp_path: Path) -> None:
    out = tmp_path / "m.ramify"
    words("train", visits, "-o", out, *TREE)
    for cell in ("tomorrow", "19753"):
        new = write(tmp_path / "new.csv", "day", cell)
        assert (
            f"column 'day', row 1 below the column names: '{cell}' is not a date such as "
            "2024-01-31, although the model was trained on dates"
        ) in words("predict", out, new, code=2)
    empty = write(tmp_path / "new.csv", "day", "?")
    assert words("predict", out, empty)


def test_a_model_of_numbers_refuses_dates(tmp_path: Path) -> None:
    out = tmp_path / "m.ramify"
    path = write(tmp_path / "d.csv", "x,labels", *(f"{k * k},{'ab'[k % 2]}" for k in range(9)))
    words("train", path, "-o", out, *TREE)
    new = write(tmp_path / "new.csv", "x", "2024-01-31")
    assert "although the model was trained on numbers" in words("predict", out, new, code=2)


DOTS = ("@relation d", "@attribute x numeric", "@attribute class hierarchical 1,1.1,1.2,2,2.1")


def test_flat_labels_that_look_like_paths_are_noted(tmp_path: Path) -> None:
    out = tmp_path / "m.ramify"
    path = write(tmp_path / "dots.arff", *DOTS, "@data", "1,1.1", "2,1.2", "3,2.1", "4,1.1")
    note = "Note: labels such as '1.1' were read as flat labels; if they are paths, pass"
    assert f"{note} --separator '.'" in words("train", path, "-o", out, *TREE)
    assert "Note" not in words("train", path, "-o", out, *TREE, "--separator", ".")
    assert load(out).hierarchy_.depth == 2
    assert "flat labels" not in words("evaluate", out, path)


@pytest.mark.parametrize(
    ("labels", "noted"),
    [
        (("bird.owl", "bird.duck", "fish.cod"), True),
        (("1.0", "1.3", "2.0", "2.3"), False),  # grades
        (("St. John", "Mt. Etna", "K2"), False),
        (("a/b", "a/c.d", "a/c.e"), False),
    ],
)
def test_labels_with_dots_in_tables(labels: tuple[str, ...], noted: bool, tmp_path: Path) -> None:
    rows = [f"{k * k},{labels[k % len(labels)]}" for k in range(12)]
    path = write(tmp_path / "d.csv", "x,labels", *rows)
    assert ("--separator" in words("train", path, "-o", tmp_path / "m.ramify", *TREE)) is noted


def test_a_row_with_too_many_cells_is_named(tmp_path: Path) -> None:
    lines = ["x,labels", "1,a", "2,3,b"]
    for first in ((), ("sep=,",)):
        path = write(tmp_path / "d.csv", *first, *lines)
        shown = words("train", path, "-o", tmp_path / "m.ramify", *TREE, code=2)
        assert f"d.csv, line {3 + len(first)}: expected 2 cells, as many as there are" in shown
        assert "found 3. Write cells that contain the delimiter in quotes." in shown
        assert "C error" not in shown


def test_a_table_without_rows_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "d.csv", "x,labels")
    shown = words("train", path, "-o", tmp_path / "m.ramify", *TREE, code=2)
    assert "d.csv has column names, but no rows below them." in shown


def test_names_of_levels_must_not_contain_the_separator(tmp_path: Path) -> None:
    out = tmp_path / "m.ramify"
    path = write(tmp_path / "d.csv", "x,g,s", "1,n/a,b", "2,c,d", "3,c,e")
    levels = ("-t", "g", "-t", "s")
    shown = words("train", path, "-o", out, *TREE, *levels, "--separator", "/", code=2)
    assert "column 'g': the name 'n/a' of a level contains the separator of paths, '/'" in shown
    words("train", path, "-o", out, *TREE, *levels)  # another separator is used
    assert load(out).hierarchy_.labels == ("c", "c|d", "c|e", "n/a", "n/a|b")


SHOP = ("Home > Pans", "Home >Pots", "Home> Pans ", "Garden > Tools", "Garden > Seeds", "Home")


def test_the_separator_of_paths_is_found_and_named(tmp_path: Path) -> None:
    out = tmp_path / "m.ramify"
    rows = [f"{k},{SHOP[k % len(SHOP)]}" for k in range(30)]
    path = write(tmp_path / "d.csv", "price,category", *rows)
    shown = words("train", path, "-o", out, *TREE, "-t", "category")
    assert "the labels are paths, whose names are separated by ' > '" in shown
    expected = ("Garden", "Garden > Seeds", "Garden > Tools", "Home", "Home > Pans", "Home > Pots")
    assert load(out).hierarchy_.labels == expected
    told = write(tmp_path / "t.csv", "price,category", "3,Garden>Tools")
    assert "1 row," in words("evaluate", out, told)
    words("train", path, "-o", out, *TREE, "-t", "category", "--separator", ">")
    assert load(out).hierarchy_.n_labels == 6


def test_labels_that_differ_in_writing_are_named(tmp_path: Path) -> None:
    rows = [f"{k},{('Frying Pan', 'frying-pan', 'Pot')[k % 3]}" for k in range(9)]
    path = write(tmp_path / "d.csv", "price,category", *rows)
    shown = words("train", path, "-o", tmp_path / "m.ramify", *TREE, "-t", "category")
    assert "1 group(s) of labels differ only in case, blanks or punctuation: 'Frying Pan'" in shown


def test_labels_below_the_ends_of_paths_may_be_unknown(tmp_path: Path) -> None:
    paths = ["bird,owls", "bird,hawks", "bird,", "mammal,cats", ","]
    lines = [f"{k % 5},{k % 7},{paths[k % 5]}" for k in range(60)]
    path = write(tmp_path / "pets.csv", "size,age,class,order", *lines)
    out = tmp_path / "m.ramify"
    levels = ("-t", "class", "-t", "order")
    told = words("train", path, "-o", out, *levels, "--folds", 2, "--ends", "unknown_below")
    assert "some labels of 24 of 60 rows are not known" in told
    model = load(out)
    orders = model.hierarchy_.indices(["bird/owls", "bird/hawks"])
    bird = model.predict_proba(pd.DataFrame({"size": [2.0], "age": [2.0]}))[0]
    assert bird[orders].sum() > 0.5  # rows that end at bird do not lack these labels
    facts = json.loads(run("evaluate", out, path, "-o", tmp_path / "e", "--json").stdout)
    figures = {(row["measure"], row["labels"]): row["value"] for row in facts["measures"]}
    assert figures["pooled_auprc", "all"] == pytest.approx(1.0)  # of the labels that are known
    assert words("evaluate", out, path, "--ignore-unknown")
    refused = words("explore", out, path, "-o", tmp_path / "p.html", code=2)
    assert "must not have unknown labels" in refused
    for wrong in (("--ends", "open"), ("--ends", "unknown_below", "--model", "auto")):
        assert "--ends" in words("train", path, "-o", out, *levels, *wrong, code=2)


@pytest.mark.parametrize(
    ("gaps", "labels", "told"),
    [
        (None, ("I", "I/A00", "I/gut", "I/gut/A01", "II"), "it is left out of the path"),
        ("end", ("I", "I/gut", "I/gut/A01", "II"), "the path ends above it"),
    ],
)
def test_gaps_in_levels_are_counted(
    gaps: str | None, labels: tuple[str, ...], told: str, tmp_path: Path
) -> None:
    out = tmp_path / "m.ramify"
    rows = ("1,I,–,A00", "2,I,gut,A01", "3,II,,", "4,I,,A00")
    path = write(tmp_path / "d.csv", "x,chapter,group,code", *rows)
    levels = [part for name in ("chapter", "group", "code") for part in ("-t", name)]
    option = () if gaps is None else ("--gaps", gaps)
    shown = words("train", path, "-o", out, *TREE, *levels, *option)
    assert "2 row(s) have an empty level above others, such as ['I', '', 'A00'] in data row 1" in (
        shown
    )
    assert told in shown
    assert load(out).hierarchy_.labels == labels
    assert "4 rows" in words("evaluate", out, path)
    refused = words("train", path, "-o", out, *TREE, *levels, "--gaps", "refuse", code=2)
    assert "2 row(s) have an empty level above others" in refused
    wrong = words("train", path, "-o", out, *TREE, *levels, "--gaps", "fill", code=2)
    assert "gaps must be one of 'refuse', 'skip', 'end', got 'fill'" in wrong


def test_evaluate_counts_the_features_of_the_model(tmp_path: Path) -> None:
    out = tmp_path / "m.ramify"
    rows = [f"s{k},{k * k},{'ab'[k % 2]}" for k in range(30)]
    path = write(tmp_path / "d.csv", "name,x,labels", *rows)
    assert "30 rows, 1 feature" in words("train", path, "-o", out, *TREE)
    assert "30 rows, 1 feature" in words("evaluate", out, path)


def test_probabilities_need_a_number(tmp_path: Path) -> None:
    path = write(tmp_path / "d.csv", "x,labels", *(f"{k},{'ab'[k % 2]}" for k in range(9)))
    out = tmp_path / "m.ramify"
    words("train", path, "-o", out, *TREE)
    for text in ("-o", "2", "nan"):
        shown = words("predict", out, path, "--probabilities", text, code=2).replace("│ ", "")
        assert "it must be followed by a number from 0 to 1, got" in shown
        assert "--probabilities 0.1" in shown
    words("predict", out, path, "--probabilities", 0, "-o", tmp_path / "p.csv")
    assert len(pd.read_csv(tmp_path / "p.csv")) == 18


@pytest.mark.parametrize(
    "options",
    [("--decimal", ",", "--thousands", ","), ("--weight", "nope"), ("--thousands", ";;")],
)
def test_messages_do_not_give_advice_for_python(options: tuple[str, ...], tmp_path: Path) -> None:
    path = write(tmp_path / "d.csv", "x,labels", "1,a", "2,b")
    shown = words("train", path, "-o", tmp_path / "m.ramify", *TREE, *options, code=2)
    assert "=" not in shown
    assert "target" not in shown


def test_suffixes_in_capitals_mean_the_same(tmp_path: Path) -> None:
    table = write(tmp_path / "ROWS.TSV", "size\tlabels", *(f"{k}\ta/b" for k in range(6)))
    edges = write(tmp_path / "EDGES.CSV", "parent,child", ",a", "a,a/b")
    words("train", table, *TREE, "--hierarchy", edges, "-o", tmp_path / "m.ramify")
    words("predict", tmp_path / "m.ramify", table, "-o", tmp_path / "OUT.ARFF")
    assert read_arff(tmp_path / "OUT.ARFF").hierarchy.labels == ("a", "a/b")
    found = read_data(tmp_path / "OUT.ARFF")
    assert found.y.shape == (6, 2)


def test_the_last_known_suffix_counts(tmp_path: Path) -> None:
    table = write(tmp_path / "rows.arff.csv.bak", "size,labels", *(f"{k},a" for k in range(6)))
    assert read_data(table).feature_names == ("size",)


def repeated_visits(path: Path) -> Path:
    """Three visits of each of 20 sites; rows of a site have the same features and label."""
    rows = [f"{site * 7 % 20},s{site},{'abc'[site % 3]}" for site in range(20) for _ in range(3)]
    return write(path, "height,site,labels", *rows)


def test_repeated_rows_are_counted_and_groups_keep_them_together(tmp_path: Path) -> None:
    out = tmp_path / "m.ramify"
    path = repeated_visits(tmp_path / "visits.csv")
    model = ("-m", "tree", "--json")
    optimistic = run("train", path, "-o", out, *model, "--drop", "site")
    assert "60 of 60 rows have the same features as another row" in " ".join(
        optimistic.stderr.split()
    )
    honest = run("train", path, "-o", out, *model, "--groups", "site")
    assert "have the same features" not in honest.stderr
    best, worse = (
        np.mean(json.loads(told.stdout)["scores"]["hierarchical_f1"])
        for told in (optimistic, honest)
    )
    assert best == 1 > worse
    assert load(out).n_features_in_ == 1
    assert "60 rows, 1 feature" in words("evaluate", out, path)


def test_groups_must_be_a_full_column(tmp_path: Path) -> None:
    path = repeated_visits(tmp_path / "visits.csv")
    arguments = ("train", path, "-o", tmp_path / "m.ramify", "-m", "tree")
    shown = words(*arguments, "--groups", "sit", code=2)
    assert "--groups must be a column of visits, got 'sit'. Did you mean 'site'?" in shown
    few = words(*arguments, "--groups", "site", "--folds", 30, code=2)
    assert "got cv=30 and 20 group(s)" in few
    path.write_text(path.read_text().replace("s7,", ","))
    shown = words(*arguments, "--groups", "site", code=2)
    assert "the column 'site' is empty in 3 row(s), such as row 22" in shown


def test_one_target_may_list_the_columns_of_levels(tmp_path: Path) -> None:
    out = tmp_path / "m.ramify"
    path = write(tmp_path / "d.csv", "x,class,order", "1,bird,owl", "2,bird,duck", "3,fish,eel")
    words("train", path, "-o", out, *TREE, "-t", "class, order")
    assert load(out).hierarchy_.labels == ("bird", "bird/duck", "bird/owl", "fish", "fish/eel")
    assert "3 rows, 1 feature" in words("evaluate", out, path)
    assert run("predict", out, path).output.splitlines() == ["bird/owl", "bird/duck", "fish/eel"]
    for listed in (("-t", "class", "order", *TREE), (*TREE, "--target", "class", "order")):
        words("train", path, "-o", out, *listed)
        assert load(out).hierarchy_.n_labels == 5
    words("train", "--target", "class", path, "-o", out, *TREE)  # the file after the option
    assert load(out).hierarchy_.n_labels == 2
    shown = words("train", path, "-o", out, *TREE, "-t", "class,family", code=2)
    assert "has no column 'class,family'" in shown


def test_totals_and_other_columns_do_not_disturb_a_model(tmp_path: Path) -> None:
    rows = [f"{k:03d},{k % 7},{'a' if k % 7 < 4 else 'b'}" for k in range(40)]
    table = write(tmp_path / "d.csv", "no,size,kind", *rows, "Total: 40,,")
    out = tmp_path / "m.ramify"
    assert "1 row was left out below the data" in words(
        "train", table, "-t", "kind", "-o", out, *TREE
    )
    for command in (("explain", "--row", "003"), ("explore", "-o", tmp_path / "p.html")):
        words(command[0], out, table, *command[1:])
    # One line per row of the file, and nothing is asked of columns that are no features.
    shown = run("predict", out, table)
    assert shown.exit_code == 0, shown.output
    assert len(shown.stdout.splitlines()) == 41


def test_files_that_are_written_in_another_way_than_the_training_data(tmp_path: Path) -> None:
    """Each file is read by its own marks, and by those of the training data if it has none."""
    out = tmp_path / "m.ramify"
    rows = [f"{k},5;{k},25 kg;{1 + k % 28:02d}.03.2024;{'ab'[k > 20]}" for k in range(40)]
    words("train", write(tmp_path / "de.csv", "x;mass;day;labels", *rows), "-o", out, *TREE)
    lines = {
        "english.csv": ("x,mass,day", '"1,030.5",2.25 kg,2024-03-05', "3.5,2.25,2024-03-06"),
        "german.csv": ("x;mass;day", "1.030;2,25 kg;5.3.2024", "3,5;2,25;6.3.2024"),
        "open.csv": ("x;mass;day", "1.030;2;05.03.2024", "3;2;06.03.2024"),  # 1030, as in training
    }
    for name, content in lines.items():
        found = run("predict", out, write(tmp_path / name, *content))
        assert found.exit_code == 0, found.output
        assert found.stdout.split() == ["b", "a"], name
    grams = write(tmp_path / "g.csv", "x;mass;day", "3,5;225 g;05.03.2024")
    assert "column 'mass' has numbers in g, but the model was trained on numbers in kg" in words(
        "predict", out, grams, code=2
    )


def test_a_damaged_summary_of_the_training_data_is_refused(german: Path, tmp_path: Path) -> None:
    tree = PCTClassifier().fit([[1.0], [2.0]], ["a", "b"])
    path = tmp_path / "m.ramify"
    for table in ({"name": "x"}, {"n_rows": "many"}, {"columns": [[[]]]}):
        save_with_settings(tree, path, {}, table=table)
        assert "m.ramify is not a valid ramify model file" in words("look", path, code=2)
        assert load(path).predict([[1.0]]).tolist() == ["a"]  # load does not read it
