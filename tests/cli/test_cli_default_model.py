"""The model that `train` fits if none is named."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import ramify
from ramify.boosting import PCTGradientBoostingClassifier
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
    assert (
        "the model is forest: 'firm' contains texts, but on 240 rows, its hierarchical F1 is"
        in told
    )


def table_of(kind: str) -> pd.DataFrame:
    """Rows of two levels of classes: around near or far centres, or by sums of curves."""
    random = np.random.default_rng(0)
    n_rows = 300
    if kind == "curves":
        X = random.uniform(-2, 2, size=(n_rows, 6))
        sums = np.cos(2 * X).reshape(n_rows, 2, 3).sum(axis=2) > 0.5
        kinds = 2 * sums[:, 0] + sums[:, 1]
    else:
        kinds = random.integers(0, 4, n_rows)
        X = random.normal(size=(n_rows, 12))
        X += (20 if kind == "far" else 0.6) * random.normal(size=(4, 12))[kinds]
    frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])])
    return frame.assign(kind=np.array(["a/b", "a/c", "d/e", "d/f"])[kinds])


@pytest.mark.parametrize(
    ("table", "expected", "told"),
    [
        ("near", LinearClassifier, "the model is linear: on 300 rows, its hierarchical F1 is"),
        ("curves", PCTGradientBoostingClassifier, "the model is gradient-boosting: on 300 rows"),
        ("far", PCTForestClassifier, ""),
    ],
)
def test_the_model_of_numbers_is_the_best_on_some_rows(tmp_path, table, expected, told):
    path, model = tmp_path / "t.csv", tmp_path / "model.ramify"
    table_of(table).to_csv(path, index=False)
    result = run("train", path, "--target", "kind", "-o", model, "--folds", "0")
    assert type(ramify.load(model)) is expected, result.output
    said = " ".join(result.output.split())
    assert told in said
    assert ("the model is" in said) == bool(told)


def test_rows_with_weights_and_groups_are_compared(tmp_path):
    path, model = tmp_path / "t.csv", tmp_path / "model.ramify"
    frame = table_of("near")
    frame["site"] = np.arange(len(frame)) // 10
    frame["w"] = 1 + np.arange(len(frame)) % 3
    frame.to_csv(path, index=False)
    given = ("--groups", "site", "--weight", "w")
    result = run("train", path, "--target", "kind", "-o", model, "--folds", "0", *given)
    assert type(ramify.load(model)) is LinearClassifier, result.output


def test_few_rows_have_a_forest(tmp_path):
    path, model = tmp_path / "t.csv", tmp_path / "model.ramify"
    table_of("near").head(40).to_csv(path, index=False)
    run("train", path, "--target", "kind", "-o", model, "--folds", "0")
    assert type(ramify.load(model)) is PCTForestClassifier
