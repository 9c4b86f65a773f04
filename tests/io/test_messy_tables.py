"""Tables as people write them are read right, and what was done is said."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ramify
from ramify import load
from ramify.io import FormatError, read_table
from tests.support.cli_runs import run
from tests.support.messy_tables import TABLES, Messy

pytest.importorskip("openpyxl")


@pytest.fixture(params=TABLES.values(), ids=list(TABLES))
def messy(request: pytest.FixtureRequest, tmp_path: Path) -> Messy:
    return request.param(tmp_path)


def shown(column: Any) -> list[Any]:
    if column.dtype.kind == "M":
        return [None if value is pd.NaT else f"{value:%Y-%m-%d}" for value in column]
    return [None if pd.isna(value) else value for value in column.astype(object)]


def test_values_are_found_without_any_option(messy: Messy) -> None:
    table = read_table(messy.path, target=messy.target)
    assert table.X.shape[0] == messy.n_rows
    frame = (
        table.X
        if hasattr(table.X, "columns")
        else pd.DataFrame(table.X, columns=list(table.feature_names))
    )
    assert list(frame.columns) == list(messy.features)
    for name, expected in messy.features.items():
        assert shown(frame[name]) == expected, name
    if messy.labels:
        assert table.hierarchy.labels == messy.labels
    for part in messy.said:
        assert part in "\n".join(table.notes)
    assert {name: table.settings.get(name) for name in messy.settings} == messy.settings


def test_settings_read_the_table_again(messy: Messy) -> None:
    table = read_table(messy.path, target=messy.target, as_frame=True)
    again = read_table(messy.path, **table.settings, as_frame=True)
    pd.testing.assert_frame_equal(again.X, table.X)
    assert again.hierarchy == table.hierarchy
    assert (again.y != table.y).nnz == 0
    assert again.settings == table.settings


def test_a_model_reads_its_tables_in_the_same_way(messy: Messy, tmp_path: Path) -> None:
    out, page = tmp_path / "m.ramify", tmp_path / "look.html"
    targets = [messy.target] if isinstance(messy.target, str) else messy.target
    target = [part for name in targets for part in ("-t", name)]
    trained = run("train", messy.path, *target, "-o", out, "-m", "tree", "--folds", 0)
    assert trained.exit_code == 0, trained.output
    assert "kinds=" not in trained.output  # advice names options
    frame = read_table(messy.path, target=messy.target, as_frame=True).X
    model = load(out)
    expected = model.predict_proba(frame[list(model.feature_names_in_)])
    written = tmp_path / "p.csv"
    predicted = run("predict", out, messy.path, "-o", written, "--probabilities", 0)
    assert predicted.exit_code == 0, predicted.output
    rows = pd.read_csv(written).pivot(index="row", columns="label", values="probability")
    labels = [str(label) for label in model.hierarchy_.labels]
    # Rows below the data are predicted, too: a file of rows to predict is not cut.
    np.testing.assert_allclose(rows[labels].to_numpy()[: len(frame)], expected, atol=1e-6)
    assert run("evaluate", out, messy.path).exit_code == 0
    looked = run("look", messy.path, *target, "-o", page)
    assert looked.exit_code == 0, looked.output
    assert "<!doctype html>" in page.read_text("utf-8")
    facts = json.loads(run("look", messy.path, *target, "--json").output)
    assert facts["n_rows"] == messy.n_rows
    assert not facts["problems"]
    # The command that look prints trains the same model.
    command = re.search(r"^  (ramify train .*)$", looked.output, re.MULTILINE)
    assert command is not None


def test_look_proposes_the_labels(messy: Messy) -> None:
    summary = ramify.look(messy.path)
    proposed = [proposal.columns for proposal in summary.proposals]
    wanted = [messy.target] if isinstance(messy.target, str) else messy.target
    assert any(set(columns) & set(wanted) for columns in proposed[:2]), proposed


# ---- what is not clear is refused or said ---------------------------------------------------


def read(folder: Path, *lines: str, **options: Any) -> Any:
    path = folder / "t.csv"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return read_table(path, as_frame=True, **options)


def refused(folder: Path, *lines: str, **options: Any) -> str:
    with pytest.raises(FormatError) as caught:
        read(folder, *lines, **options)
    return str(caught.value)


@pytest.mark.parametrize("delimiter", [";", "|"])
def test_groups_of_digits_or_decimals(tmp_path: Path, delimiter: str) -> None:
    lines = [line.replace(";", delimiter) for line in ("x;labels", "1.234;a", "5.678;b")]
    assert "'1.234' can be 1.234 or 1234" in refused(tmp_path, *lines)
    assert read(tmp_path, *lines, decimal=".").X["x"].tolist() == [1.234, 5.678]
    assert read(tmp_path, *lines, decimal=",").X["x"].tolist() == [1234, 5678]
    assert read(tmp_path, *lines, thousands=".").X["x"].tolist() == [1234, 5678]


def test_another_column_shows_the_decimal_mark(tmp_path: Path) -> None:
    lines = ["x;y;labels", "1.234;0,5;a", "5.678;1,25;b"]
    assert read(tmp_path, *lines).X["x"].tolist() == [1234, 5678]
    lines = ["x;y;labels", "1.234;0.5;a", "5.678;1.25;b"]
    assert read(tmp_path, *lines).X["x"].tolist() == [1.234, 5.678]


def test_quoted_numbers_with_commas(tmp_path: Path) -> None:
    lines = ["x,labels", '"1,234",a', '"5,678",b']
    assert "can be 1.234 or 1234" in refused(tmp_path, *lines)
    assert read(tmp_path, *lines, '"980",a').X["x"].tolist() == [1234, 5678, 980]
    assert read(tmp_path, *lines, '"0,5",a').X["x"].tolist() == [1.234, 5.678, 0.5]
    assert read(tmp_path, *lines, '"1,234,567",a').X["x"].tolist() == [1234, 5678, 1234567]


def test_days_and_months(tmp_path: Path) -> None:
    lines = ["day,labels", "03/04/2024,a", "05/06/2024,b"]
    table = read(tmp_path, *lines)
    assert table.X["day"].tolist() == ["03/04/2024", "05/06/2024"]
    assert "can begin with the day or the month" in table.notes[0]
    for order, month in (("dmy", 4), ("mdy", 3)):
        assert read(tmp_path, *lines, dates=order).X["day"][0].month == month
    assert read(tmp_path, *lines, "13/06/2024,a").X["day"][0].month == 4
    assert read(tmp_path, *lines, "06/13/2024,a").X["day"][0].month == 3
    both = refused(tmp_path, *lines, "13/06/2024,a", "06/13/2024,a")
    assert "column 'day' has dates in several notations" in both


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1.2.3", "1.2.10", "2.0.1"], "category"),  # versions
        (["10.0.0.1", "10.0.0.2", "10.0.0.9"], "category"),  # addresses
        (["12a", "13a", "14a"], "category"),  # houses
        (["1p36", "2q11", "3p21"], "category"),  # chromosomes
        (["<18", "18-65", ">65"], "category"),  # classes
        (["<18", ">65", "<18"], "category"),
        (["A12", "A13", "B12"], "category"),
        (["5-10", "10-20", "20-30"], "category"),
        (["16:9", "4:3", "21:9"], "category"),  # ratios
        (["+", "-", "+"], "category"),  # a result, not a missing value
        (["none", "some", "none"], "category"),
        (["1e-5", "2.5e3", "7"], "number"),
        (["−3", "-4", "5"], "number"),  # a minus sign
        (["12 500", "3 000", "1 250 000"], "number"),
        (["1'250.5", "980", "3'000"], "number"),
        (["5 %", "6 %", "7%"], "number"),
        (["00123", "10045", "20000"], "category"),
    ],
)
def test_cells_with_another_meaning(tmp_path: Path, cells: list[str], kind: str) -> None:
    rows = [f"{cell};{'ab'[k % 2]}" for k, cell in enumerate(cells * 4)]
    table = read(tmp_path, "x;labels", *rows)
    if kind == "category":
        assert table.X["x"].tolist() == cells * 4
    else:
        assert table.X["x"].dtype.kind == "f"


def test_marks_of_missing_names(tmp_path: Path) -> None:
    rows = [f"{cell},a" for cell in ("red", "-", "k.A.", "#N/A", "unknown", "blue")]
    table = read(tmp_path, "colour,labels", *rows)
    assert shown(table.X["colour"]) == ["red", "-", None, None, "unknown", "blue"]
    assert "'k.A.', '#N/A' read as missing in 2 cells" in table.notes[0]
    kept = read(tmp_path, "colour,labels", *rows, kinds={"colour": "category"})
    assert shown(kept.X["colour"])[2] == "k.A."


def test_units_that_differ_are_refused(tmp_path: Path) -> None:
    rows = [f"{k + 1} {'g' if k % 3 else 'kg'},a" for k in range(30)]
    told = refused(tmp_path, "mass,labels", *rows)
    assert "numbers in several units: kg in 10 cells, g in 20 cells" in told
    rows = [f"{k + 1}{' %' if k % 2 else ''},a" for k in range(30)]
    assert "with % in 15 cells, without in 15" in refused(tmp_path, "share,labels", *rows)


def test_labels_that_look_missing_are_said(tmp_path: Path) -> None:
    table = read(tmp_path, "x,labels", "1,a", "2,-", "3,b")
    assert "column 'labels': '-' is read as a label of 1 rows" in table.notes[0]
    assert read(tmp_path, "x,labels", "1,a", "2,-", "3,b", missing=["-"]).y.sum() == 2


def test_names_with_commas_are_no_label_sets(tmp_path: Path) -> None:
    rows = [f'{k},"{name}"' for k, name in enumerate(("Smith, John", "Smith, Ann", "Lee, Ann"))]
    assert read(tmp_path, "x,labels", *rows).hierarchy.n_labels == 3


def test_totals_and_footnotes_are_only_cut_at_the_end(tmp_path: Path) -> None:
    lines = ["name,x,labels", "Total,1,a", "ann,2,b", "Total,3,"]
    assert read(tmp_path, *lines).X.shape[0] == 3  # the word occurs above
    lines = ["name,x,labels", "bob,1,a", "ann,2,b", "Total,3,"]
    assert read(tmp_path, *lines).X.shape[0] == 2
    assert read(tmp_path, *lines, footer="keep").X.shape[0] == 3
    assert read(tmp_path, *lines[:-1], "Total,3,b").X.shape[0] == 3  # it has a label


def test_given_lines_of_names(tmp_path: Path) -> None:
    lines = ["a title", "x,labels", "1,a", "2,b"]
    assert read(tmp_path, *lines).feature_names == ("x",)
    assert read(tmp_path, *lines, header=2).feature_names == ("x",)
    for header in ("0", "x", "3-2", "2-2"):
        with pytest.raises(ValueError, match="header must be a line, counted from 1"):
            read(tmp_path, *lines, header=header)
    with pytest.raises(FormatError, match="line 9: expected column names"):
        read(tmp_path, *lines, header=9)


def test_data_frames_are_read_like_files(tmp_path: Path) -> None:
    frame = pd.DataFrame({"mass": ["1,5 kg", "2,25 kg"], "day": ["31.12.2024", "1.1.2025"]})
    table = read_table(frame.assign(kind=["a/b", "a/c"]), target="kind")
    assert table.X["mass"].tolist() == [1.5, 2.25]
    assert table.X["day"][0] == pd.Timestamp("2024-12-31")
    assert table.hierarchy.labels == ("a", "a/b", "a/c")
    assert frame["mass"][0] == "1,5 kg"  # the frame is not changed


def test_svmlight_files(tmp_path: Path) -> None:
    path = tmp_path / "t.svm"
    path.write_text("1,3 1:0.5 4:1\n2 2:2.5\n")
    table = read_table(path)
    assert table.X.shape[0] == 2
    assert table.hierarchy.labels == ("1", "2", "3")


def test_encodings_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("größe,labels\n1,süß\n".encode("cp850"))
    with pytest.raises(FormatError, match="Pass the encoding of the file"):
        read_table(path)
    assert read_table(path, encoding="cp850").feature_names == ("größe",)


@pytest.mark.parametrize(
    ("cells", "note"),
    [
        ([("x", ""), ("", "x"), ("x", "x")], "are marked with 'x'"),
        ([("Yes", "No"), ("no", "yes"), ("YES", "Yes")], ""),
        ([("3", "0"), ("0", "1"), ("2", "7"), ("0", "0"), ("0", "0")], "numbers above 0"),
        ([("1", "0"), ("0", "1"), ("1", "1"), ("", "")], "2 empty cells"),
    ],
)
def test_columns_of_labels_that_are_marked(tmp_path: Path, cells: Any, note: str) -> None:
    lines = ["moss,fern,x", *(f"{moss},{fern},0.{k}" for k, (moss, fern) in enumerate(cells))]
    table = read(tmp_path, *lines, target=["moss", "fern"])
    assert table.hierarchy.labels == ("moss", "fern")
    first = [("moss",), ("fern",), ("moss", "fern")]
    assert table.hierarchy.decode(table.y)[:3] == first
    assert any(note in told for told in table.notes) == bool(note)
    # A model knows the labels, so that any marks are read.
    more = read(
        tmp_path, "moss,fern,x", "x,-,1", target=["moss", "fern"], hierarchy=table.hierarchy
    )
    assert more.hierarchy.decode(more.y) == [("moss",)]


def test_levels_of_one_name_or_of_numbers_are_paths(tmp_path: Path) -> None:
    table = read(tmp_path, "a,b,x", "1,11,0", "1,12,1", "2,21,2", target=["a", "b"])
    assert table.hierarchy.labels == ("1", "1/11", "1/12", "2", "2/21")
    row = read(tmp_path, "a,b,x", "1,,0", target=["a", "b"], hierarchy=table.hierarchy)
    assert row.hierarchy.decode(row.y) == [("1",)]


def test_labels_that_are_written_once_for_several_rows(tmp_path: Path) -> None:
    names = {0: "north,n1", 9: ",n2", 15: "south,s1", 23: ",s2"}
    lines = ["region,part,x", *(f"{names.get(k, ',')},{k / 7}" for k in range(30))]
    table = read(tmp_path, *lines, target=["region", "part"])
    found = [row[-1] for row in table.hierarchy.decode(table.y)]
    expected = ["north/n1"] * 9 + ["north/n2"] * 6 + ["south/s1"] * 8 + ["south/s2"] * 7
    assert found == expected
    assert any("26 rows without labels got those of the row above" in note for note in table.notes)
    kept = read(tmp_path, *lines, target=["region", "part"], gaps="end")
    assert kept.y.toarray().sum() == table.y.toarray().sum()
    lines[20] = "north,n1,5"  # labels that occur twice are those of their rows only
    assert read(tmp_path, *lines, target=["region", "part"]).y.toarray().sum(axis=1)[1] == 0


def test_levels_that_are_not_determined(tmp_path: Path) -> None:
    lines = ["family,species,x", "A,a1,1", "A,sp.,2", "B,indet.,3", "B,b1,4"]
    table = read(tmp_path, *lines, target=["family", "species"])
    assert "A/sp." in table.hierarchy.labels
    told = "column 'species': 'sp.', 'indet.' in 2 rows is read as a label like others"
    assert any(told in note and "missing=['sp.', 'indet.']" in note for note in table.notes)
    ended = read(tmp_path, *lines, target=["family", "species"], missing=["sp.", "indet."])
    assert ended.hierarchy.decode(ended.y)[1] == ("A",)


def test_latitudes_and_longitudes(tmp_path: Path) -> None:
    lines = ["lat,lon,power,labels", "50.125N,7.250° E,60 W,a", "7.500S,9.125° W,40 W,b"]
    table = read(tmp_path, *lines)
    assert table.X["lat"].tolist() == [50.125, -7.5]
    assert table.X["lon"].tolist() == [7.25, -9.125]
    assert table.X["power"].tolist() == [60, 40]


def test_the_times_of_forms(tmp_path: Path) -> None:
    lines = ["when,labels", "2024/03/29 3:24:28 PM GMT+1,a", "2024/04/02 11:05:00 AM GMT+2,b"]
    days = read(tmp_path, *lines).X["when"]
    assert days.tolist() == [pd.Timestamp("2024-03-29 15:24:28"), pd.Timestamp("2024-04-02 11:05")]
