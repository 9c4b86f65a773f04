"""Columns of texts are features; names of the rows are left out, with the reason."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from ramify import load
from ramify.io import read_table
from tests.support.cli_runs import QUICK, run

TEXTS = [f"a {'red' if k % 2 else 'blue'} pan, number {k}" for k in range(40)]
FRAME = pd.DataFrame({"title": TEXTS, "labels": ["blue", "red"] * 20})


@pytest.mark.parametrize("added", ["nothing", "number", "code"])
def test_texts_are_features_alone_and_beside_others(added: str, tmp_path: Path) -> None:
    more = {
        "nothing": {},
        "number": {"x": range(5, 45)},
        "code": {"code": [f"K{k}" for k in range(40)]},
    }
    path, out = tmp_path / "t.csv", tmp_path / "m.ramify"
    FRAME.assign(**more[added]).to_csv(path, index=False)
    trained = run("train", path, "-o", out, *QUICK)
    assert trained.exit_code == 0, trained.output
    assert ("left out: code (identifiers)" in trained.output) is (added == "code")
    model = load(out)
    assert list(model.schema_.texts) == [0]
    new = tmp_path / "new.csv"
    FRAME.assign(**more[added]).drop(columns="labels").head(4).to_csv(new, index=False)
    predicted = run("predict", out, new)
    assert predicted.stdout.split() == ["blue", "red", "blue", "red"]
    written = tmp_path / "p.csv"
    assert run("predict", out, new, "-o", written).exit_code == 0
    assert pd.read_csv(written)["labels"].tolist() == ["blue", "red", "blue", "red"]


def test_large_files_of_texts_are_read_in_the_same_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, out = tmp_path / "t.csv", tmp_path / "m.ramify"
    FRAME.assign(x=range(5, 45)).to_csv(path, index=False)
    assert run("train", path, "-o", out, *QUICK).exit_code == 0
    assert run("predict", out, path, "-o", tmp_path / "whole.csv").exit_code == 0
    monkeypatch.setattr("ramify.apps.cli.prediction_files._STREAMED_BYTES", 0)
    assert run("predict", out, path, "-o", tmp_path / "blocks.csv").exit_code == 0
    assert (tmp_path / "blocks.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()


def test_text_attributes_of_arff_files_are_features(tmp_path: Path) -> None:
    rows = "\n".join(f"'{text}',n{k},{label}" for k, (text, label) in enumerate(FRAME.to_numpy()))
    head = "@relation r\n@attribute title string\n@attribute nr string\n@attribute c {red,blue}\n"
    path, out = tmp_path / "t.arff", tmp_path / "m.ramify"
    path.write_text(f"{head}@data\n{rows}\n")
    trained = run("train", path, "-t", "c", "-o", out, *QUICK)
    assert trained.exit_code == 0, trained.output
    assert load(out).feature_names_in_.tolist() == ["title"]
    assert run("predict", out, path, "-o", tmp_path / "p.csv").exit_code == 0
    assert pd.read_csv(tmp_path / "p.csv")["nr"][0] == "n0"


def test_a_text_can_be_read_as_names(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    FRAME.assign(x=range(5, 45)).to_csv(path, index=False)
    assert read_table(path).feature_names == ("title", "x")
    kept = read_table(path, kinds={"title": "category"})
    assert kept.left_out == {"title": "identifiers"}


@pytest.mark.parametrize("model", ["forest", "auto"])
def test_a_table_without_features_is_refused_before_training(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise AssertionError("the table was used for training")

    monkeypatch.setattr("ramify.apps.cli.training.train", fail)
    monkeypatch.setattr("ramify.apps.cli.training.train_best", fail)
    frame = pd.DataFrame({"code": [f"K{k}" for k in range(40)], "empty": [None] * 40})
    frame.assign(labels=FRAME["labels"]).to_csv(tmp_path / "t.csv", index=False)
    result = run("train", tmp_path / "t.csv", "-o", tmp_path / "m.ramify", "-m", model)
    assert result.exit_code == 2
    shown = " ".join(result.output.split())
    assert (
        "t has no features, because all columns were left out: code (identifiers), empty (no "
        "values). Add columns of numbers, categories, texts or dates. --keep uses a column"
    ) in shown


def test_a_table_of_labels_only_is_refused(tmp_path: Path) -> None:
    FRAME[["labels"]].to_csv(tmp_path / "t.csv", index=False)
    result = run("train", tmp_path / "t.csv", "-o", tmp_path / "m.ramify")
    assert result.exit_code == 2
    assert "t has no features" in result.output


def test_categories_that_the_model_has_not_seen_are_told(tmp_path: Path) -> None:
    path, out, new = tmp_path / "t.csv", tmp_path / "m.ramify", tmp_path / "new.csv"
    rows = [f"{('red', 'blue')[k % 2]},{k % 5},{'ab'[k % 2]}" for k in range(40)]
    path.write_text("\n".join(["colour,x,labels", *rows]))
    new.write_text("colour,x\npink,1\nred,2\npink,-\nmauve,k.A.\n")
    assert run("train", path, "-o", out, *QUICK).exit_code == 0
    told = "column 'colour': 3 cells with values that the model has not seen in training, such as "
    for more in ((), ("-o", tmp_path / "p.csv")):
        predicted = run("predict", out, new, *more)
        assert predicted.exit_code == 0, predicted.output
        shown = " ".join(predicted.stderr.split())
        assert f"Note: {told}'pink', 'mauve'; they count as missing" in shown
        assert "column 'x': read as numbers, '-' as missing (1 cell), 'k.A.' as missing" in shown
    assert run("predict", out, path).stderr == ""
