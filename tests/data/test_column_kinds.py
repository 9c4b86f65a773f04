"""Columns of strings are texts, categories or identifiers by what they contain."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from ramify.data.columns import kind_and_reason, kind_of_column, tell_texts

BRANDS = ("Bosch", "Makita", "Einhell", "Metabo", "Dewalt")
TOOLS = ("Akkuschrauber", "Stichsäge", "Bohrhammer", "Winkelschleifer", "Handkreissäge")
GENERA = ("Quercus", "Fagus", "Betula", "Pinus")
EPITHETS = ("alba", "robur", "rubra", "nigra", "pendula", "sylvatica", "grandis", "montana")


def products(n):
    pairs = itertools.cycle(itertools.product(BRANDS, TOOLS))
    return [f"{b} {t} GSR {k}V" for k, (b, t) in zip(range(n), pairs, strict=False)]


def sentences(n):
    return [
        f"The {b.lower()} saw number {k} cuts wood quickly"
        for k, b in zip(range(n), itertools.cycle(BRANDS), strict=False)
    ]


RANDOM = np.random.default_rng(0)
SPECIES = [f"{genus} {epithet}" for genus in GENERA for epithet in EPITHETS] * 6

TEXTS = {
    "product names": products(300),
    "sentences": sentences(30),
    "sold products": products(1_500) * 20,
    "few long texts": [f"a long text of {k} words on {w}" for k, w in enumerate(TOOLS)],
    "texts that repeat": sentences(100) * 8,
    "two words": [f"{a}{b} {c}" for a, b, c in itertools.product(GENERA, EPITHETS, TOOLS)],
    "Japanese": [f"{k}本の木製の机と青い椅子" for k in range(50)],
    "Thai": [f"เก้าอี้ไม้ {k}" for k in range(150)],
    "Arabic": [f"كرسي خشبي أزرق {k}" for k in range(50)],
    "a title that is a number": [*sentences(40), 1984, 2001.0],
    "proteins": ["".join(row) for row in RANDOM.choice(list("ACDEFGHIKLMNPQRSTVWY"), (40, 80))],
    "half missing": [*sentences(40), *[None] * 20, *[np.nan] * 20],
}  # fmt: skip

OTHERS = {
    "species": SPECIES,
    "forty names": SPECIES[:40],
    "article numbers": [f"A-{k}" for k in range(1000, 1400)],
    "codes with letters": [f"GSR-{k}V-XL" for k in range(400)],
    "uuids": [f"{k:08x}-e29b-41d4-a716-{k * 7919:012x}" for k in range(300)],
    "hashes": [f"{k * 2654435761**6:064x}" for k in range(1, 300)],
    "surnames": [f"{a}{b}" for a, b in itertools.product(GENERA, EPITHETS)] * 2,
    "colours": ["dark red", "light blue", "very light green"] * 50,
    "dates": [f"{k % 28 + 1:02d}.{k % 12 + 1:02d}.2024" for k in range(300)],
    "phone numbers": [f"+49 170 {k:07d}" for k in range(300)],
    "decimal commas": [f"{k},5" for k in range(300)],
    "one repeated text": ["the same long text in each of the rows"] * 200,
    "nothing": [None] * 30,
    "empty strings": [""] * 30,
    "mostly numbers": [*range(100), *sentences(20)],
    "a few rows": ["dark red", "light blue", "very light green"],
}


@pytest.mark.parametrize("case", TEXTS)
def test_texts_are_told(case):
    column = pd.Series(TEXTS[case], dtype=object)
    assert kind_of_column(column) == "text", tell_texts(TEXTS[case])


@pytest.mark.parametrize("case", OTHERS)
def test_categories_and_identifiers_are_no_texts(case):
    column = pd.Series(OTHERS[case], dtype=object)
    assert kind_of_column(column) == "category", tell_texts(OTHERS[case])


def test_the_name_of_a_column_does_not_matter():
    kinds = {kind_of_column(pd.Series(OTHERS["colours"], name=n)) for n in ("title", "x", "text")}
    assert kinds == {"category"}


def test_declared_categories_are_categories():
    kind, reason = kind_and_reason(pd.Series(TEXTS["sentences"]).astype("category"))
    assert (kind, reason) == ("category", "the data type of the column is category")


@pytest.mark.parametrize("dtype", ["object", "string", "string[pyarrow]"])
def test_all_strings_of_pandas_are_read(dtype):
    assert kind_of_column(pd.Series(TEXTS["half missing"]).astype(dtype)) == "text"


def test_strings_of_polars_are_read():
    polars = pytest.importorskip("polars")
    assert kind_of_column(polars.Series(TEXTS["sentences"])) == "text"
    assert kind_of_column(polars.Series(SPECIES)) == "category"


def test_reasons_are_given_in_words():
    reason = tell_texts(["the red pan", "the blue pan", None, "the red pan"])[1]
    assert reason == "2 of 3 values differ, 3.0 words each on average"
    assert kind_and_reason(pd.Series([1.5, 2]))[1] == "the data type of the column is float64"
    assert tell_texts([1, 2, "x"])[1] == "3 distinct values"
