"""The one door for X: every table in, the same numbers out."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

import ramify
from ramify import PCTClassifier, PerNodeClassifier, TunedThresholdClassifierCV
from ramify.data.columns import seconds_of
from ramify.data.features import read_features, read_training_features

EPOCH = dt.datetime(1970, 1, 1)
VIENNA = dt.timezone(dt.timedelta(hours=2))
WORDS = ["red", "green", None, "blue"]
LABELS = ["a/b", "c", "a/d", "c"]


def read(X, **options):
    return read_training_features(PCTClassifier(), X, **options)


# ---- dates and times -----------------------------------------------------------------------


@given(st.lists(st.datetimes() | st.none(), min_size=1), st.sampled_from(["us", "ns", "ms", "s"]))
def test_dates_are_seconds_whatever_their_resolution(moments, unit):
    moments = [
        m and m.replace(microsecond=0, year=1700 + m.year % 500, day=m.day % 28 + 1)
        for m in moments
    ]
    expected = [np.nan if m is None else (m - EPOCH).total_seconds() for m in moments]
    exact = np.array(moments, dtype="datetime64[us]")
    forms = {
        "numpy": exact.astype(f"datetime64[{unit}]")[:, None],
        "objects": np.array([[m] for m in moments], dtype=object),
        "pandas": pd.DataFrame({"d": pd.Series(exact.astype(f"datetime64[{unit}]"))}),
        "pandas objects": pd.DataFrame({"d": pd.Series(moments, dtype=object)}),
        "UTC": pd.DataFrame({"d": pd.Series(exact).dt.tz_localize("UTC")}),
        "pyarrow": pa.table({"d": pa.array(exact)}),
    }
    if unit != "s":
        forms["polars"] = pl.DataFrame({"d": exact}).cast(pl.Datetime(unit))
        forms["polars UTC"] = pl.DataFrame({"d": exact}).cast(pl.Datetime(unit, "UTC"))
    for name, X in forms.items():
        if "objects" in name and not any(moments):
            continue  # a column without values has no kind
        np.testing.assert_array_equal(read(X)[0][:, 0], expected, err_msg=name)


@given(st.integers(-(2**52), 2**52), st.sampled_from(["us", "ns", "ps"]))
def test_fractions_of_seconds_do_not_depend_on_the_unit(microseconds, unit):
    small = microseconds % 10**12  # picoseconds overflow after 106 days
    exact = np.array([np.timedelta64(small, "us")])
    assert seconds_of(exact.astype(f"timedelta64[{unit}]"), "d") == seconds_of(exact, "d")
    assert seconds_of(exact, "d")[0] == pytest.approx(small / 10**6, rel=1e-15)
    delta = dt.timedelta(microseconds=microseconds)
    as_object = np.array([delta], dtype=object)
    assert seconds_of(as_object, "d") == seconds_of(np.array([delta], "timedelta64[us]"), "d")


@pytest.mark.parametrize(
    "X",
    [
        np.array([["1970-01-02"], ["NaT"]], dtype="datetime64[D]"),
        np.array([["1970-01-02"], ["NaT"]], dtype="datetime64[h]"),
        np.array([[1], ["NaT"]], dtype="timedelta64[D]"),
        np.array([[8640], ["NaT"]], dtype="timedelta64[10s]"),
        pd.DataFrame({"d": pd.to_timedelta(["1D", None])}),
        pd.DataFrame({"d": [dt.date(1970, 1, 2), None]}),
        pd.DataFrame({"d": [dt.timedelta(days=1), None]}, dtype=object),
        pd.DataFrame({"d": [dt.datetime(1970, 1, 2, 2, tzinfo=VIENNA), None]}, dtype=object),
        pd.DataFrame({"d": pd.to_datetime(["1970-01-02 02:00+02:00", None])}),
        pd.DataFrame({"d": pd.array([dt.date(1970, 1, 2), None], pd.ArrowDtype(pa.date32()))}),
        pd.DataFrame({"d": pd.array([dt.timedelta(1), None], pd.ArrowDtype(pa.duration("ms")))}),
        pl.DataFrame({"d": [dt.date(1970, 1, 2), None]}),
        pl.DataFrame({"d": [dt.timedelta(days=1), None]}),
    ],
    ids=lambda X: str(getattr(X, "dtype", None) or f"{type(X).__module__} {list(X.dtypes)}"),
)
def test_one_day_is_86400_seconds_and_nat_is_missing(X):
    np.testing.assert_array_equal(read(X)[0][:, 0], [86_400, np.nan])


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_times_of_day_are_seconds(frame):
    X = frame({"t": [dt.time(1, 0, 1, 500_000), None], "x": [1.0, 2.0]})
    np.testing.assert_array_equal(read(X)[0], [[3601.5, 1], [np.nan, 2]])


def test_predictions_do_not_depend_on_the_resolution_of_dates():
    days = np.arange("2024-01", "2025-01", dtype="datetime64[D]")
    y = np.where(days < np.datetime64("2024-05-01"), "a/x", "b")
    X = pd.DataFrame({"day": days.astype("datetime64[us]"), "c": ["u", "v"] * (len(days) // 2)})
    model = PCTClassifier().fit(X, y)
    expected = model.predict_proba(X)
    for unit in ("s", "ms", "ns"):
        again = X.assign(day=X["day"].astype(f"datetime64[{unit}]"))
        np.testing.assert_array_equal(model.predict_proba(again), expected)
    assert model.score(pl.from_pandas(X), y) == 1
    missing = model.predict_proba(X.assign(day=pd.NaT))
    assert missing[0, 0] == pytest.approx((y == "a/x").mean())


def test_dates_survive_saving(tmp_path):
    X = pd.DataFrame({"day": pd.date_range("2024", periods=4), "x": range(4)})
    model = PCTClassifier().fit(X, LABELS)
    ramify.save(model, tmp_path / "model")
    loaded = ramify.load(tmp_path / "model")
    assert loaded.schema_.times == {0: "date"}
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([1, 2], r"column 'd' of X must be a date, as in fit, got 1"),
        (pd.to_timedelta([1, 2]), r"column 'd' of X must be a date, as in fit, got Timedelta"),
        (
            pd.to_datetime(["2024", "2025"]).tz_localize("UTC"),
            r"column 'd' of X must be a date, as in fit, got Timestamp",
        ),
        (["2024-01-01", "x"], r"must be a date, as in fit, got '2024-01-01'.*pandas.to_datetime"),
    ],
)
def test_other_columns_in_place_of_dates(given, message):
    X = pd.DataFrame({"d": pd.to_datetime(["2024", "2025"]), "x": [1, 2]})
    model = PCTClassifier().fit(X, ["a", "b"])
    with pytest.raises(ValueError, match=message):
        model.predict(X.assign(d=given))
    model.predict(X.assign(d=[None, None]))
    with pytest.raises(ValueError, match=r"X must contain a date, as in fit, got an array"):
        model.predict(np.ones((2, 2)))
    with pytest.raises(ValueError, match=r"column 'x' of X must be numeric, as in fit"):
        model.predict(X.assign(x=X["d"]))


def test_numbers_in_place_of_an_array_of_dates():
    X = np.array([["2024-01-01"], ["2025-01-01"]], dtype="datetime64[D]")
    model = PCTClassifier().fit(X, ["a", "b"])
    assert model.predict(X.astype("datetime64[ns]")).tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="X must contain a date, as in fit"):
        model.predict(X.astype(float))


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.array([[1]], dtype="timedelta64[Y]"), "must have times in weeks.*got the unit 'Y'"),
        (
            pd.DataFrame({"d": [dt.date(2024, 1, 1), "soon"]}, dtype=object),
            r"must contain values of one kind, got \['category', 'date'\]",
        ),
        (
            pd.DataFrame(
                {"d": [dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 1, tzinfo=VIENNA)]},
                dtype=object,
            ),
            "with or without a time zone",
        ),
        (pd.DataFrame({"d": [["a"], ["b"]]}), "column 'd' of X must contain numbers.*type list"),
        (pd.DataFrame({"d": [1j]}), "column 'd' of X must contain numbers.*type complex"),
        (
            pd.DataFrame({"d": pd.period_range("2024", periods=2, freq="D")}),
            "column 'd' of X must contain numbers, dates, strings or vectors of.*type Period",
        ),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "must be unique, got 'a' more than once"),
        (pa.table([[1], [2]], names=["a", "a"]), "must be unique, got 'a' more than once"),
    ],
)
def test_columns_that_cannot_be_read(X, message):
    with pytest.raises(ValueError, match=message):
        read(X)


# ---- numbers and words ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame({"p": [Decimal("1.5"), None, Decimal("-2"), Decimal("NaN")]}),
        pd.DataFrame({"p": [1.5, None, -2, float("nan")]}, dtype=object),
        pd.DataFrame({"p": pd.array([1.5, None, -2, None], dtype="Float64")}),
        pd.DataFrame({"p": pd.array([1.5, None, -2, None], dtype="float64[pyarrow]")}),
        pd.DataFrame(
            {"p": pd.array([Decimal("1.5"), None, -2, None], pd.ArrowDtype(pa.decimal128(5, 2)))}
        ),
        pl.DataFrame({"p": [Decimal("1.5"), None, Decimal("-2"), None]}),
        pl.DataFrame({"p": [1.5, None, -2, None]}, strict=False),
        pa.table({"p": [1.5, None, -2, None]}),
        np.array([[1.5], [None], [-2], [pd.NA]], dtype=object),
    ],
    ids=lambda X: str(getattr(X, "dtype", None) or type(X)),
)
@pytest.mark.parametrize("with_words", [False, True])
def test_numbers_of_every_type(X, with_words):
    if with_words and isinstance(X, pd.DataFrame):
        X = X.assign(w=WORDS)
    cells, schema = read(X)
    np.testing.assert_array_equal(cells[:, 0], [1.5, np.nan, -2, np.nan])
    assert schema.n_categories[0] == 0


def test_booleans_with_missing_values_are_numbers():
    for values in (
        pd.array([True, None, False], dtype="boolean"),
        pd.array([True, None, False], dtype="bool[pyarrow]"),
        pd.array([True, None, False], dtype=object),
    ):
        cells, _ = read(pd.DataFrame({"b": values, "w": ["u", "v", None]}))
        np.testing.assert_array_equal(cells, [[1, 0], [np.nan, 1], [0, np.nan]])


def frames_of_words():
    numbers = [1.0, 2.0, None, 4.0]
    plain = pd.DataFrame({"w": pd.Series(WORDS, dtype=object), "x": numbers})
    dictionary = pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))
    return {
        "object": plain,
        "inferred": pd.DataFrame({"w": WORDS, "x": numbers}),
        "string": plain.astype({"w": "string"}),
        "string[pyarrow]": plain.astype({"w": "string[pyarrow]"}),
        "category": plain.astype({"w": "category"}),
        "convert_dtypes": plain.convert_dtypes(),
        "pyarrow": plain.convert_dtypes(dtype_backend="pyarrow"),
        "dictionary": plain.assign(w=pd.array(WORDS, dtype=dictionary)),
        "Table": pa.table({"w": WORDS, "x": numbers}),
        "RecordBatch": pa.RecordBatch.from_pydict({"w": WORDS, "x": numbers}),
        "polars": pl.DataFrame({"w": WORDS, "x": numbers}),
        "polars Categorical": pl.DataFrame(
            {"w": pl.Series(WORDS).cast(pl.Categorical), "x": numbers}
        ),
    }


@pytest.mark.parametrize("name", frames_of_words())
def test_words_with_missing_values(name):
    X = frames_of_words()[name]
    cells, schema = read(X)
    np.testing.assert_array_equal(cells, [[2, 1], [1, 2], [np.nan, np.nan], [0, 4]])
    assert schema.categories == {0: ("blue", "green", "red")}
    model = PCTClassifier().fit(frames_of_words()["object"], LABELS)
    np.testing.assert_array_equal(read_features(model, X, model.schema_), cells)


def test_categories_of_polars_do_not_depend_on_other_columns_of_the_process():
    for others in (["never"], ["ever"]):
        pl.Series(others).cast(pl.Categorical)
        _, schema = read(pl.DataFrame({"w": pl.Series(WORDS).cast(pl.Categorical)}))
        assert schema.categories == {0: ("blue", "green", "red")}
    colours = pl.Series(WORDS).cast(pl.Enum(["red", "green", "blue", "white"]))
    _, schema = read(pl.DataFrame({"w": colours}))
    assert schema.categories == {0: ("red", "green", "blue", "white")}


@pytest.mark.parametrize(
    "model",
    [PerNodeClassifier(LogisticRegression()), TunedThresholdClassifierCV(PCTClassifier(), cv=2)],
    ids=lambda model: type(model).__name__,
)
def test_tables_of_pyarrow_reach_wrapped_classifiers(model):
    X = pa.table({"x": [1.0, 2.0, 3.0, 4.0] * 5, "z": [0.0, 1.0] * 10})
    model.fit(X, LABELS * 5)
    expected = model.predict_proba(X.to_pandas())
    np.testing.assert_array_equal(model.predict_proba(X), expected)


def test_lazy_frames_are_refused_with_the_remedy():
    lazy = pl.DataFrame({"w": WORDS}).lazy()
    for model in (PCTClassifier(), TunedThresholdClassifierCV(PCTClassifier())):
        with pytest.raises(TypeError, match=r"got a LazyFrame. Pass X.collect\(\)"):
            model.fit(lazy, LABELS)
    with pytest.raises(TypeError, match=r"got a LazyFrame. Pass y.collect\(\)"):
        PCTClassifier().fit([[1], [2], [3], [4]], pl.DataFrame({"y": LABELS}).lazy())


def test_masked_values_are_missing_values():
    X = np.arange(40.0).reshape(20, 2)
    masked = np.ma.masked_array(X, mask=X % 7 == 0)
    holes = np.where(X % 7 == 0, np.nan, X)
    y = ["a", "b"] * 10
    model = PCTClassifier(random_state=0).fit(masked, y)
    np.testing.assert_array_equal(
        model.predict_proba(masked),
        PCTClassifier(random_state=0).fit(holes, y).predict_proba(holes),
    )
    objects = np.ma.masked_array(X.astype(object), mask=X % 7 == 0)
    np.testing.assert_array_equal(model.predict_proba(objects), model.predict_proba(masked))
    whole = np.ma.masked_array(X.astype(int), mask=False)
    np.testing.assert_array_equal(model.predict(whole), model.predict(X))
    with pytest.raises(ValueError, match=r"y must not have masked values, got 1\. Select"):
        PCTClassifier().fit(X, np.ma.masked_array(y, mask=[True] + [False] * 19))
