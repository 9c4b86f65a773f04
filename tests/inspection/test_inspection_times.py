"""Dates, durations and times of day in printed trees, rules and explanations."""

from __future__ import annotations

from datetime import datetime, timedelta

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from ramify import PCTClassifier, load, save
from ramify.inspection import explain, export_text, rules
from ramify.inspection.node_tests import time_text


def test_thresholds_are_printed_as_dates(tmp_path):
    X = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=60, tz="Europe/Paris")})
    model = PCTClassifier().fit(X, ["a"] * 31 + ["b"] * 29)
    assert export_text(model).startswith("day > 2024-01-31 11:00Z?")
    save(model, tmp_path / "m.ramify")
    assert "day ≤ 2024-01-31 11:00Z" in rules(load(tmp_path / "m.ramify")).to_text()
    assert "2023-12-31 23:00Z" in explain(model, X[:1]).to_text()


def test_durations_are_printed():
    X = pd.DataFrame({"age": pd.to_timedelta(range(10), unit="h")})
    model = PCTClassifier().fit(X, ["a"] * 5 + ["b"] * 5)
    assert export_text(model).startswith("age > 4:30:00?")


@given(st.datetimes())
def test_texts_of_dates_are_read_back(moment):
    seconds = (moment - datetime(1970, 1, 1)) / timedelta(seconds=1)
    again = datetime.fromisoformat(time_text(seconds, "date"))
    assert abs(again - moment) <= timedelta(microseconds=100)  # the precision of the number
    assert time_text(1e300, "date") == "1e+300"
