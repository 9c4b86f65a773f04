"""All commands measure and write the label sets that the model predicts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold

import ramify
from ramify import PCTClassifier, PCTForestClassifier
from ramify.metrics import evaluate, hierarchical_f1
from tests.support.cli_runs import run


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a training and a test table with one to two paths per row."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 4)).round(3)
    names = np.array(["a/x", "a/y", "b/u", "b/v", "c"])
    chosen = (np.abs(X[:, :2]) * [3, 2]).astype(int) % len(names)
    frame = pd.DataFrame(X, columns=list("pqrs"))
    frame["labels"] = [";".join(sorted(set(names[row]))) for row in chosen]
    folder = tmp_path_factory.mktemp("decision")
    frame[:100].to_csv(folder / "train.csv", index=False)
    frame[100:].to_csv(folder / "test.csv", index=False)
    return folder


def _forest() -> Any:
    return PCTForestClassifier(n_estimators=5, random_state=0)


MODELS: dict[str, Callable[[], Any]] = {
    "forest": _forest,
    "leaves": lambda: ramify.MandatoryLeafClassifier(_forest(), k=1),
    "thresholds": lambda: ramify.TunedThresholdClassifierCV(_forest()),
    "numbers": lambda: ramify.MetaLabeler(_forest(), counter=PCTClassifier(random_state=0)),
}


@pytest.mark.parametrize("threshold", [None, 0.3])
@pytest.mark.parametrize("name", MODELS)
def test_measures_are_those_of_the_written_label_sets(
    name: str, threshold: float | None, tables: Path
) -> None:
    train, test = pd.read_csv(tables / "train.csv"), pd.read_csv(tables / "test.csv")
    fitted = MODELS[name]().fit(train[list("pqrs")], train["labels"].str.split(";").tolist())
    model, out = tables / f"{name}.ramify", tables / f"{name}.csv"
    ramify.save(fitted, model)
    options = () if threshold is None else ("--threshold", threshold)
    assert run("predict", model, tables / "test.csv", "-o", out, *options).exit_code == 0
    folder = tables / f"{name}-{threshold}"
    result = run("evaluate", model, tables / "test.csv", "--json", "-o", folder, *options)
    assert result.exit_code == 0, result.output
    facts = json.loads(result.output)
    written = pd.read_csv(out, keep_default_na=False)["labels"]
    sets = [cell.split(";") if cell else [] for cell in written]
    expected = evaluate(
        test["labels"].str.split(";").tolist(),
        fitted.predict_proba(test[list("pqrs")]),
        fitted.hierarchy_,
        y_pred=sets,
    )
    for row in facts["measures"]:
        assert row["value"] == pytest.approx(expected[row["measure"], row["labels"]], nan_ok=True)
    assert facts["threshold"] == threshold
    per_label = pd.read_csv(folder / "labels.csv").set_index("label")["predicted"]
    counted = fitted.hierarchy_.encode(sets).sum(axis=0)
    assert per_label.tolist() == counted.tolist()


def test_cross_validation_measures_the_decision_of_the_model(tables: Path) -> None:
    result = run(
        "train", tables / "train.csv", "-o", tables / "mas.ramify", "-m", "mandatory-leaf",
        "--set", "alpha=1", "--folds", "2", "--json",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    train = pd.read_csv(tables / "train.csv")
    X, model = train[list("pqrs")], ramify.load(tables / "mas.ramify")
    Y = model.hierarchy_.encode(train["labels"].str.split(";").tolist())
    expected = []
    for fit, test in KFold(2, shuffle=True, random_state=0).split(X):
        part = ramify.MandatoryLeafClassifier(**model.get_params(deep=False)).fit(
            X.iloc[fit], Y[fit]
        )
        predicted = part.predict(X.iloc[test])
        expected.append(hierarchical_f1(Y[test], predicted, hierarchy=model.hierarchy_))
    assert json.loads(result.output)["scores"]["hierarchical_f1"] == pytest.approx(expected)


def test_the_decision_is_named(tables: Path) -> None:
    model = tables / "named.ramify"
    assert (
        run("train", tables / "train.csv", "-o", model, "-m", "tree", "--folds", "0").exit_code
        == 0
    )
    shown = run("evaluate", model, tables / "test.csv").output
    assert "label sets: chosen by the model, as in ramify predict" in shown
    shown = run("evaluate", model, tables / "test.csv", "--threshold", "0.25").output
    assert "label sets: labels with a probability of at least 0.25" in shown


def test_rows_without_labels_are_counted(tmp_path: Path) -> None:
    rows = [f"{k % 5},{'abcdefghij'[(k * 7) % 10]}" for k in range(100)]
    path = tmp_path / "d.csv"
    path.write_text("\n".join(["x,kinds", *(f"{row};{row[-1]}" for row in rows)]), "utf-8")
    out, written = tmp_path / "m.ramify", tmp_path / "p.csv"
    shallow = ("-m", "tree", "--set", "max_depth=0", "--folds", 0)
    assert run("train", path, "-t", "kinds", "-o", out, *shallow).exit_code == 0
    told = " ".join(run("predict", out, path, "-o", written, "--threshold", 0.5).output.split())
    assert "100 of 100 rows have no label" in told
    assert "--top 1" in told
    assert "no label" not in run("predict", out, path, "-o", written, "--threshold", 0.05).output


def test_a_model_no_better_than_its_baseline_is_named(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    labels = rng.choice(list("abc"), 90, p=[0.8, 0.1, 0.1])
    rows = [f"{x:.6f},{label}" for x, label in zip(rng.random(90), labels, strict=True)]
    path = tmp_path / "d.csv"
    path.write_text("\n".join(["x,labels", *rows]), "utf-8")
    out = tmp_path / "m.ramify"
    shown = " ".join(run("train", path, "-o", out, "-m", "tree").output.split())
    assert "The model is no better than the frequencies of the labels." in shown
    assert "--set f_test=0.01" in shown
    good = tmp_path / "good.csv"
    good.write_text("\n".join(["x,labels", *(f"{k},{'abc'[k // 30]}" for k in range(90))]))
    assert "no better" not in run("train", good, "-o", out, "-m", "tree").output
