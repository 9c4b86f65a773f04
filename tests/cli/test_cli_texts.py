"""Columns of texts are left out with the reason, and a table of nothing else is refused."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from tests.support.cli_runs import QUICK, run

TEXTS = [f"a {'red' if k % 2 else 'blue'} pan, number {k}" for k in range(40)]
FRAME = pd.DataFrame({"title": TEXTS, "labels": ["red", "blue"] * 20})


@pytest.mark.parametrize("model", ["forest", "auto"])
@pytest.mark.parametrize(
    ("added", "listed"),
    [
        ({}, "title (texts)"),
        ({"code": [f"K{k}" for k in range(40)]}, "title (texts), code (identifiers)"),
        ({"empty": [None] * 40}, "title (texts), empty (no values)"),
    ],
    ids=["text", "code", "empty"],
)
def test_a_table_of_texts_is_refused_before_training(
    added: dict[str, list[object]],
    listed: str,
    model: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise AssertionError("the table was used for training")

    monkeypatch.setattr("ramify.apps.cli.training.train", fail)
    monkeypatch.setattr("ramify.apps.cli.training.train_best", fail)
    FRAME.assign(**added).to_csv(tmp_path / "t.csv", index=False)
    result = run("train", tmp_path / "t.csv", "-o", tmp_path / "m.ramify", "-m", model)
    assert result.exit_code == 2
    shown = " ".join(result.output.split())
    assert f"t has no features, because all columns were left out: {listed}" in shown
    assert "convert column 'title' to numbers" in shown


def test_a_text_attribute_of_an_arff_file_is_named(tmp_path: Path) -> None:
    rows = "\n".join(f"'{text}',{label}" for text, label in FRAME.to_numpy())
    head = "@relation r\n@attribute title string\n@attribute c {red,blue}\n@data\n"
    (tmp_path / "t.arff").write_text(f"{head}{rows}\n")
    train = ("train", tmp_path / "t.arff", "-t", "c", "-o", tmp_path / "m.ramify")
    result = run(*train)
    assert result.exit_code == 2
    shown = " ".join(result.output.split())
    assert "because all columns were left out: title (texts)" in shown
    assert "convert column 'title' to numbers" in shown
    assert "--keep" not in shown
    assert "it has no columns besides labels" in " ".join(
        run(*train, "--id", "title").output.split()
    )


def test_texts_beside_other_columns_are_left_out_with_the_reason(tmp_path: Path) -> None:
    FRAME.assign(x=range(5, 45)).to_csv(tmp_path / "t.csv", index=False)
    result = run("train", tmp_path / "t.csv", "-o", tmp_path / "m.ramify", *QUICK)
    assert "left out: title (texts)" in result.output


def test_a_table_of_labels_only_is_refused(tmp_path: Path) -> None:
    FRAME[["labels"]].to_csv(tmp_path / "t.csv", index=False)
    result = run("train", tmp_path / "t.csv", "-o", tmp_path / "m.ramify")
    assert result.exit_code == 2
    assert "t has no features" in result.output
