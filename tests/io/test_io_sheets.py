"""Spreadsheets: the first sheet as a table, within limits."""

from __future__ import annotations

import zipfile
from contextlib import suppress
from datetime import datetime, time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from ramify.apps.reading.any_file import read_data
from ramify.io import FormatError, ReadLimits, read_table

openpyxl = pytest.importorskip("openpyxl")


def workbook(path: Path, *rows: list[Any], more: bool = False) -> Path:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    if more:
        book.create_sheet("notes").append(["see the first sheet"])
    book.save(path)
    return path


def rewritten(source: Path, path: Path, member: str, old: str, new: str) -> Path:
    """Copy a workbook with some text of one of its parts replaced."""
    with zipfile.ZipFile(source) as given, zipfile.ZipFile(path, "w") as changed:
        for name in given.namelist():
            text = given.read(name).decode()
            changed.writestr(name, text.replace(old, new) if name == member else text)
    return path


def test_a_sheet_equals_the_same_csv_file(tmp_path: Path) -> None:
    rows = [["x", "code", "flag", "labels"], [1.5, "01", True, "A/B;C"], [None, "02", False, None]]
    sheet = workbook(tmp_path / "d.xlsx", [], *rows, [], more=True)
    csv = tmp_path / "d.csv"
    csv.write_text("x,code,flag,labels\n1.5,01,TRUE,A/B;C\n,02,FALSE,\n", "utf-8")
    one, other = (
        read_table(path, kinds={"code": "category"}, as_frame=True) for path in (sheet, csv)
    )
    pd.testing.assert_frame_equal(one.X, other.X)
    assert (one.y != other.y).nnz == 0
    assert one.hierarchy == other.hierarchy
    assert one.notes == ("sheet 1 of 2 was read: 'Sheet' (sheet='notes' reads another)",)
    assert read_data(sheet).X.shape == (2, 3)


def test_spreadsheets_in_other_formats_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "d.xls"
    path.write_bytes(b"\xd0\xcf\x11\xe0")
    with pytest.raises(FormatError, match=r"in another format. Save it as .xlsx or .csv"):
        read_table(path)


def test_spreadsheets_with_the_name_of_a_text_are_told(tmp_path: Path) -> None:
    sheet = workbook(tmp_path / "d.xlsx", ["x", "labels"], [1, "a"])
    with pytest.raises(FormatError, match=r"is a spreadsheet\. Let its name end in \.xlsx"):
        read_table(sheet.rename(tmp_path / "d.csv"))


def test_the_sheet_with_the_label_columns_is_read(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["This workbook has the survey of 2023."])
    for title, label in (("codes", "name"), ("data", "habitat")):
        sheet = book.create_sheet(title)
        for row in (["x", label], [1, "a/b"], [2, "a/c"]):
            sheet.append(row)
    book.save(path := tmp_path / "d.xlsx")
    assert read_table(path, target="habitat").y.shape == (2, 3)
    table = read_table(path, target=None)
    assert table.feature_names == ("x", "name")
    assert "sheet 2 of 3 was read: 'codes' (sheet='data' reads another)" in table.notes
    table = read_table(path, target=None, sheet="data")
    assert table.feature_names == ("x", "habitat")
    assert table.settings["sheet"] == "data"
    with pytest.raises(FormatError, match=r"no sheet 'dat'. Did you mean 'data'\?"):
        read_table(path, target=None, sheet="dat")


def test_cells_of_other_types(tmp_path: Path) -> None:
    rows = [["day", "at", "n", "labels"]]
    rows += [[datetime(2020, 2, 1), time(9, 30), 123456789012345, "a"], [None, None, 1, "b"]]
    table = read_table(workbook(tmp_path / "d.xlsx", *rows), as_frame=True)
    assert table.X["day"][0] == datetime(2020, 2, 1)
    assert table.X["day"].isna()[1]
    assert table.X["at"][0] == time(9, 30)
    assert table.X["n"][0] == 123456789012345


def test_a_cell_far_away_is_refused_before_memory_is_used(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active["A1"] = "x"
    book.active["XFD1048576"] = 1
    path = tmp_path / "far.xlsx"
    book.save(path)
    with pytest.raises(FormatError, match="rows times the number of columns must be at most"):
        read_table(path, target=None)


def test_limits_on_content_and_columns(tmp_path: Path) -> None:
    path = workbook(tmp_path / "d.xlsx", ["x", "y"], [1, 2])
    with pytest.raises(FormatError, match="size of the content in bytes must be at most 100"):
        read_table(path, target=None, limits=ReadLimits(max_bytes=100))
    with pytest.raises(FormatError, match="number of columns must be at most 1"):
        read_table(path, target=None, limits=ReadLimits(max_columns=1))


def test_declared_dimensions_are_not_believed(tmp_path: Path) -> None:
    source = workbook(tmp_path / "d.xlsx", ["x", "y"], [1, 2])
    sheet = "xl/worksheets/sheet1.xml"
    path = rewritten(source, tmp_path / "e.xlsx", sheet, 'ref="A1:B2"', 'ref="A1:XFD1048576"')
    assert read_table(path, target=None, as_frame=True).X.shape == (1, 2)


def test_document_types_are_refused(tmp_path: Path) -> None:
    source = workbook(tmp_path / "d.xlsx", ["x"], [1])
    bomb = '<!DOCTYPE a [<!ENTITY b "cc">]><worksheet '
    sheet = "xl/worksheets/sheet1.xml"
    path = rewritten(source, tmp_path / "e.xlsx", sheet, "<worksheet ", bomb)
    with pytest.raises(FormatError, match="must not define a document type"):
        read_table(path, target=None)


@pytest.mark.parametrize("content", [b"", b"PK", b"no spreadsheet", b"x,labels\n1,a\n"])
def test_other_files_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "d.xlsx"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=r"d.xlsx: expected a spreadsheet \(.xlsx\)"):
        read_table(path)


def test_damaged_workbooks_raise_format_errors(tmp_path: Path) -> None:
    source = workbook(tmp_path / "d.xlsx", ["x", "labels"], [1, "a"])
    damage = {
        "xl/worksheets/sheet1.xml": ("<row", "<rwo"),
        "xl/workbook.xml": ("sheet", "shet"),
        "[Content_Types].xml": ("<", "&"),
        "xl/sharedStrings.xml": ("<si", "<"),
        "xl/styles.xml": ("<", ""),
    }
    for k, (member, (old, new)) in enumerate(damage.items()):
        path = rewritten(source, tmp_path / f"{k}.xlsx", member, old, new)
        with suppress(FormatError):  # openpyxl tolerates some of it
            read_table(path, target=None)
