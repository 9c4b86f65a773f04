"""The model that `train` fits if none is named."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import ramify
from ramify.local import LinearClassifier, PerParentClassifier
from ramify.trees import PCTForestClassifier
from tests.support.cli_runs import run

pytest.importorskip("typer")


def catalogue() -> pd.DataFrame:
    """Products with titels, prices with gaps and paths of two levels."""
    random = np.random.default_rng(0)
    things = {"Möbel/Tische": "Tisch Eiche Platte", "Möbel/Stühle": "Stuhl Polster Lehne"}
    things |= {"Kleidung/Hemden": "Hemd Baumwolle Kragen"}
    kinds = random.choice(list(things), 90)
    fill = ["rot", "blau", "groß", "klein", "neu", "leicht", "stabil"]
    titles = [
        " ".join([*random.choice(things[k].split(), 2), *random.choice(fill, 3)]) for k in kinds
    ]
    price = random.normal(size=90).round(2)
    price[::8] = np.nan
    return pd.DataFrame({"titel": titles, "preis": price, "kategorie": kinds})


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ((), LinearClassifier),
        (("--set", "n_estimators=3"), PCTForestClassifier),
        (("--drop", "titel"), PCTForestClassifier),
    ],
)
def test_tables_with_texts_have_linear_models_by_default(tmp_path, options, kind):
    path, model = tmp_path / "katalog.csv", tmp_path / "model.ramify"
    catalogue().to_csv(path, index=False)
    result = run("train", path, "--target", "kategorie", "-o", model, "--folds", "0", *options)
    assert type(ramify.load(model)) is kind
    noted = "the model is linear: 'titel' contains texts" in " ".join(result.output.split())
    assert noted == (kind is LinearClassifier)


def test_texts_with_label_sets_have_linear_models_per_parent(tmp_path):
    path, model = tmp_path / "katalog.csv", tmp_path / "model.ramify"
    frame = catalogue().drop(columns="preis")
    frame.loc[::3, "kategorie"] = "Möbel/Tische;Kleidung/Hemden"
    frame.to_csv(path, index=False)
    result = run("train", path, "--target", "kategorie", "-o", model, "--folds", "0")
    assert type(ramify.load(model)) is PerParentClassifier
    assert "and rows have label sets" in " ".join(result.output.split())


def test_names_beside_numbers_that_matter_have_a_forest(tmp_path):
    random = np.random.default_rng(0)
    size = random.random(240)
    kinds = np.array(["odd", "even"])[np.digitize(size, [0.2, 0.4, 0.6, 0.8]) % 2]
    names = [f"Firm {word} Ltd" for word in random.permutation(240)]
    path, model = tmp_path / "firms.csv", tmp_path / "model.ramify"
    frame = {"firm": names, "size": size, "staff": size * 900, "sales": size * 8e6, "kind": kinds}
    pd.DataFrame(frame).to_csv(path, index=False)
    result = run("train", path, "--target", "kind", "-o", model, "--folds", "0")
    assert type(ramify.load(model)) is PCTForestClassifier
    told = " ".join(result.output.split())
    assert "the model is forest: 'firm' contains texts, but on 240 rows, its AU(PRC) is" in told
