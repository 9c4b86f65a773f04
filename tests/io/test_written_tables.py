"""A clean table, written in any way, is read as the clean one; what has two meanings is not."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramify.data.dates import read_dates
from ramify.io import FormatError, read_table
from ramify.io.tables.numbers import NumberForm, forms_of, is_number, written
from tests.support.budget import budget

NAMES = ["Größe", "mass", "day", "colour", "labels"]
COLOURS = ["red", "blue", "grün", "ocker gelb", "–x"]
LABELS = ["a/b", "a/c", "d", "e/f/g"]
DATES = {
    "iso": "%Y-%m-%d",
    "german": "%d.%m.%Y",
    "us": "%m/%d/%Y",
    "british": "%d/%m/%Y",
    "dashes": "%d-%m-%Y",
    "years": "%Y/%m/%d",
    "names": "%d %B %Y",
    "short": "%b %d, %Y",
}


@dataclass
class Manner:
    delimiter: str
    decimal: str
    thousands: str
    encoding: str
    dates: str
    ending: str
    blank: str
    unit: str
    prose: list[str]


@st.composite
def manners(draw: st.DrawFn) -> Manner:
    delimiter = draw(st.sampled_from([",", ";", "\t", "|"]))
    decimal = draw(st.sampled_from([".", ","]))
    groups = {".": ["", "", ",", "'"], ",": ["", "", ".", " "]}[decimal]
    return Manner(
        delimiter,
        decimal,
        draw(st.sampled_from(groups)),
        draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"])),
        draw(st.sampled_from(list(DATES))),
        draw(st.sampled_from(["\n", "\r\n", "\r"])),
        draw(st.sampled_from(["", " "])),
        draw(st.sampled_from(["", "", " kg", "kg", " %"])),
        draw(st.sampled_from([[], [], ["Export of today"], ["Title", ""]])),
    )


@st.composite
def clean_tables(draw: st.DrawFn) -> pd.DataFrame:
    n_rows = draw(st.integers(8, 14))

    def column(values: Any) -> Any:
        return draw(st.lists(values, min_size=n_rows, max_size=n_rows))

    hundredths = column(st.integers(-999_999, 9_999_999))
    grams = column(st.integers(0, 99_999))
    # One number shows the decimal mark, one day the order of day and month.
    hundredths[0], grams[0] = 1_234_567, 1_25
    days = column(st.dates(date(1990, 1, 1), date(2035, 12, 31)))
    days[0] = date(2024, 12, 31)
    return pd.DataFrame(
        {
            "Größe": np.array(hundredths) / 100,
            "mass": np.array(grams) / 100,
            "day": pd.to_datetime(days),
            "colour": column(st.sampled_from(COLOURS)),
            "labels": column(st.sampled_from(LABELS)),
        }
    )


def number(value: float, manner: Manner, unit: str = "") -> str:
    text = f"{value:,.2f}".replace(",", "\0").replace(".", manner.decimal)
    return text.replace("\0", manner.thousands) + unit


def write(path: Path, frame: pd.DataFrame, manner: Manner) -> None:
    rows = [
        [
            number(row["Größe"], manner),
            number(row["mass"], manner, manner.unit),
            row["day"].strftime(DATES[manner.dates]),
            row["colour"],
            row["labels"],
        ]
        for row in frame.to_dict("records")
    ]
    lines = [
        manner.delimiter.join(
            f'"{cell}"' if manner.delimiter in cell else cell + manner.blank for cell in cells
        )
        for cells in [NAMES, *rows]
    ]
    text = manner.ending.join([*manner.prose, *lines]) + manner.ending
    path.write_bytes(text.encode(manner.encoding))


@budget(60)
@given(frame=clean_tables(), manner=manners())
def test_a_table_is_read_as_it_was_before_it_was_written(
    tmp_path_factory: Any, frame: pd.DataFrame, manner: Manner
) -> None:
    path = tmp_path_factory.mktemp("written") / "t.csv"
    write(path, frame, manner)
    table = read_table(path, keep=["day", "colour"])
    np.testing.assert_array_equal(table.X["Größe"], frame["Größe"])
    np.testing.assert_array_equal(table.X["mass"], frame["mass"])
    assert table.X["day"].tolist() == frame["day"].tolist()
    assert table.X["colour"].tolist() == frame["colour"].tolist()
    sets = [labels[0] for labels in table.hierarchy.decode(table.y)]
    assert sets == frame["labels"].tolist()
    again = read_table(path, **table.settings, keep=["day", "colour"])
    pd.testing.assert_frame_equal(again.X, table.X)


@budget(60)
@given(
    numbers=st.lists(st.tuples(st.integers(1, 999), st.integers(0, 999)), min_size=2),
    mark=st.sampled_from(".,"),
)
def test_numbers_with_two_meanings_are_never_guessed(
    tmp_path_factory: Any, numbers: list[tuple[int, int]], mark: str
) -> None:
    path = tmp_path_factory.mktemp("open") / "t.csv"
    cells = [f"{high}{mark}{low:03d}" for high, low in numbers]
    path.write_text("\n".join(["x;labels", *(f"{cell};a" for cell in cells)]) + "\n")
    with pytest.raises(FormatError, match="can be"):
        read_table(path, as_frame=True, keep=["x"])


@budget(100)
@given(st.text("0123456789.,'- eE+%kg<~€", max_size=12))
def test_odd_texts_are_numbers_or_not(text: str) -> None:
    found = written(text)
    if found is not None:
        forms = forms_of([found.body])
        assert forms
        assert all(np.isfinite(values).all() or "e" in text.lower() for values in forms.values())
    if is_number(text):
        assert forms_of([text])


@budget(100)
@given(
    value=st.integers(-(10**12), 10**12).map(lambda cents: cents / 100),
    form=st.sampled_from([NumberForm(".", ","), NumberForm(",", "."), NumberForm(".", "'")]),
)
def test_numbers_keep_their_value_in_every_form(value: float, form: NumberForm) -> None:
    text = f"{value:,.2f}".replace(",", "\0").replace(".", form.decimal)
    text = text.replace("\0", form.thousands or "")
    assert forms_of([text], form.decimal) in ({form: [value]}, {NumberForm(form.decimal): [value]})


@budget(100)
@given(
    st.dates(date(1000, 1, 1)),
    st.sampled_from(["%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y"]),
)
def test_dates_are_read_in_the_order_they_have(day: Any, form: str) -> None:
    text = f"{day:{form}}"
    order = "mdy" if form.startswith("%m") else "dmy"
    found = read_dates([text], order)
    assert found is not None
    assert found.moments[text].date() == day
