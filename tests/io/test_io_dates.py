"""Dates in tables: read as data frames are, in seconds, with missing ones."""

from __future__ import annotations

from datetime import date, datetime, timezone
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify import PCTClassifier
from ramify.apps.reading.any_file import read_data, split_identifiers
from ramify.data.dates import is_date, read_dates, with_dates
from ramify.io import FormatError, read_table, write_table


def write(folder: Path, *lines: str) -> Path:
    path = folder / "d.csv"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def test_columns_of_dates_are_dates(tmp_path: Path) -> None:
    lines = ["day,seen,utc,x,labels", "2024-01-31,2024-01-31 09:30,2024-01-31T09:30:00Z,1,a"]
    lines += ["?,2024-01-31T09:30:15.25,2024-01-31T09:30:00.5+02:00,2,b", "2024-02-01,,NA,3,a"]
    path = write(tmp_path, *lines)
    table = read_table(path)
    assert table.notes == ("columns 'day', 'seen', 'utc': read as dates",)
    assert table.categories == {}
    assert table.X["day"].isna().tolist() == [False, True, False]
    seconds = read_table(path, as_frame=False).X
    first = pd.Timestamp("2024-01-31").timestamp()
    expected = [
        [first, first + 9.5 * 3600, first + 9.5 * 3600, 1],
        [np.nan, first + 9.5 * 3600 + 15.25, first + 7.5 * 3600 + 0.5, 2],
        [first + 86400, np.nan, np.nan, 3],
    ]
    np.testing.assert_array_equal(seconds, expected)
    fitted = PCTClassifier().fit(table.X, table.y)
    assert fitted.schema_.times == {0: "date", 1: "date", 2: "date with time zone"}
    assert set(read_table(path, kinds={"day": "category"}).categories) == {"day"}


@pytest.mark.parametrize(
    "cells",
    [
        ["2024-01-31", "2024-01-31T09:30Z"],  # with and without a time zone
        ["2024-01-31", "2024-02-30"],
        ["20240131", "2024-01"],
        ["31.01.2024", "01.02.2024"],
        ["2024-01-31", "later"],
        [None, None],
        [True, None],
    ],
)
def test_other_columns_are_left_alone(cells: list[object]) -> None:
    frame = pd.DataFrame({"day": pd.Series(cells, dtype=object)})
    found, notes = with_dates(frame, ())
    pd.testing.assert_frame_equal(found, frame)
    assert notes == []


@given(st.lists(st.datetimes(timezones=st.none() | st.just(timezone.utc)), min_size=1))
def test_dates_equal_those_of_python(moments: list[datetime]) -> None:
    zones = {moment.tzinfo is None for moment in moments}
    frame = pd.DataFrame({"t": pd.Series([m.isoformat() for m in moments], dtype=object)})
    found = with_dates(frame, ())[0]["t"]
    if len(zones) > 1:
        assert found.tolist() == frame["t"].tolist()
        return
    plain = found if True in zones else found.dt.tz_localize(None)
    assert plain.to_numpy().tolist() == [m.replace(tzinfo=None) for m in moments]


def test_dates_are_written_and_read_again(tmp_path: Path) -> None:
    days = pd.to_datetime(["2024-01-31", None, "1066-10-14"], format="ISO8601", errors="coerce")
    frame = pd.DataFrame({"day": days.astype("datetime64[s]"), "x": [1.0, 2.0, 3.0]})
    frame.loc[2, "day"] = pd.Timestamp("1066-10-14").as_unit("s")
    for name in ("d.csv", "d.parquet"):
        write_table(tmp_path / name, frame, ["a", "b", "a"])
        again = read_table(tmp_path / name).X
        assert again["day"].astype("datetime64[s]").equals(frame["day"])


def test_dates_of_parquet_files(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "t": pd.to_datetime(["2020-01-01", None]),
            "zone": pd.to_datetime(["2020-01-01T01:00Z", None]).tz_convert("Europe/Paris"),
            "long": pd.to_timedelta([90, None], unit="s"),
            "day": [date(2020, 1, 2), None],
            "labels": ["a", "b"],
        }
    )
    frame.to_parquet(tmp_path / "t.parquet")
    X = read_table(tmp_path / "t.parquet", as_frame=False).X
    new_year = pd.Timestamp("2020-01-01").timestamp()
    np.testing.assert_array_equal(X[0], [new_year, new_year + 3600, 90, new_year + 86400])
    assert np.isnan(X[1]).all()
    assert read_table(tmp_path / "t.parquet").X["t"].dtype.kind == "M"


def test_distinct_dates_are_no_identifiers(tmp_path: Path) -> None:
    days = pd.date_range("2024-01-01", periods=40).strftime("%Y-%m-%d")
    path = write(tmp_path, "day,labels", *(f"{day},{'ab'[k % 2]}" for k, day in enumerate(days)))
    table, left_out = split_identifiers(read_data(path))
    assert table.feature_names == ("day",)
    assert left_out == {}


@pytest.mark.parametrize(
    "months",
    [
        "janv. févr. mars avr. mai juin juil. août sept. oct. nov. déc.",
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        "gen feb mar apr mag giu lug ago set ott nov dic",
        "jan. feb. mrt. apr. mei juni juli aug. sep. okt. nov. dec.",
    ],
)
def test_months_of_other_languages(months: str) -> None:
    texts = [f"{2 + k} {name} 2024" for k, name in enumerate(months.split())]
    dates = read_dates(texts)
    assert dates is not None
    assert [dates.moments[text].month for text in texts] == list(range(1, 13))
    assert read_dates(["3 de mayo de 2024"]) is not None
    assert read_dates(["3 jui 2024"]) is None  # June or July


def test_a_cell_among_dates_is_named(tmp_path: Path) -> None:
    days = pd.date_range("2024-01-01", periods=9).strftime("%Y-%m-%d").tolist()
    days[4] = "soon"
    path = write(tmp_path, "day,labels", *(f"{day},a" for day in days))
    expected = (
        "column 'day', row 5 below the column names: 'soon' is not a date such as 2024-01-31, "
        "although most cells of the column are. If it means that the value is missing, pass "
        "missing=['soon']. To leave the column out, pass drop=['day'], and to read its cells as "
        "names, kinds={'day': 'category'}."
    )
    with pytest.raises(FormatError) as caught:
        read_data(path)
    assert expected in str(caught.value)


def test_dates_of_other_notations_are_read_with_a_note(tmp_path: Path) -> None:
    path = write(tmp_path, "day,labels", "31.01.2024,a", "01.02.2024,b")
    table = read_data(path)
    assert table.X["day"].tolist() == [pd.Timestamp("2024-01-31"), pd.Timestamp("2024-02-01")]
    assert table.notes == (
        "column 'day': read as dates, '31.01.2024' as 2024-01-31 (kinds={'day': 'category'})",
    )


@pytest.mark.parametrize(
    "text", ["2024-01-31T25:00", "2024-1-31", "x2024-01-31", "", "0000-01-01"]
)
def test_texts_that_are_no_dates(text: str) -> None:
    assert not is_date(text)
