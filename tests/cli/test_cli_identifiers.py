"""The column of identifiers is no feature, and identifiers are written as they are in the file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ramify import load
from ramify.io import read_arff, read_table
from tests.support.cli_runs import QUICK, run

Write = Callable[[pd.DataFrame, Path], object]
FORMATS: dict[str, Write] = {
    "table.csv": lambda frame, path: frame.to_csv(path, index=False),
    "table.csv.gz": lambda frame, path: frame.to_csv(path, index=False),
    "table.tsv": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
    "table.xlsx": lambda frame, path: frame.to_excel(path, index=False),
    "table.parquet": lambda frame, path: frame.to_parquet(path),
    "index.parquet": lambda frame, path: frame.set_index("patient").to_parquet(path),
}
IDENTIFIERS: dict[str, list[Any]] = {
    "zeros": [f"{7 * k:05d}" for k in range(40)],
    "integers": [100900 + 13 * k for k in range(40)],
    "missing": [None if k == 3 else 100900 + 13 * k for k in range(40)],
    "words": ["NA", "null", "None", *(f"ward {k}, bed 1" for k in range(37))],
    "repeated": [1000 + k // 2 for k in range(40)],
}


def _frame(identifiers: list[Any]) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(40, 2)).round(3), columns=["mass", "length"])
    frame.insert(0, "patient", identifiers)
    if any(isinstance(value, int) for value in identifiers):
        frame["patient"] = frame["patient"].astype("Int64")
    frame["labels"] = np.where(frame["mass"] > 0, "a/x", "b")
    return frame


@pytest.mark.parametrize("name", IDENTIFIERS)
@pytest.mark.parametrize("file", FORMATS)
def test_identifiers_are_no_feature_and_come_back(file: str, name: str, tmp_path: Path) -> None:
    pytest.importorskip("openpyxl" if file.endswith("xlsx") else "pyarrow")
    values = IDENTIFIERS[name]
    data, model = tmp_path / file, tmp_path / "m.ramify"
    FORMATS[file](_frame(values), data)
    trained = run("train", data, "--id", "patient", "-o", model, *QUICK)
    assert trained.exit_code == 0, trained.output
    assert "left out: patient (--id)" in trained.output
    assert load(model).feature_names_in_.tolist() == ["mass", "length"]
    expected = ["" if value is None else str(value) for value in values]
    for out in ("p.csv", "p.tsv"):
        assert run("predict", model, data, "-o", tmp_path / out).exit_code == 0
        separator = "\t" if out.endswith("tsv") else ","
        written = pd.read_csv(tmp_path / out, dtype=str, keep_default_na=False, sep=separator)
        assert written["patient"].tolist() == expected
    assert run("predict", model, data, "-o", tmp_path / "p.parquet").exit_code == 0
    written = pd.read_parquet(tmp_path / "p.parquet")["patient"]
    kept = [value for value in values if value is not None]
    assert [type(kept[0])(value) for value in written.dropna()] == kept
    assert run("evaluate", model, data).exit_code == 0


def test_no_cell_is_a_formula_in_a_spreadsheet(tmp_path: Path) -> None:
    link = '=HYPERLINK("http://example.org")'
    frame = _frame([link, "+1-2", "@x", "-7", "+1.5e3", "\ttab", *(f"r{k}" for k in range(34))])
    frame["labels"] = np.where(frame["mass"] > 0, "=a/x", "-b")
    frame = frame.rename(columns={"patient": "=id"})
    data, model, out = tmp_path / "t.parquet", tmp_path / "m.ramify", tmp_path / "p.csv"
    frame.to_parquet(data)
    assert run("train", data, "--id", "=id", "-o", model, *QUICK).exit_code == 0
    for more in ([], ["--top", "2"], ["--probabilities", "0"]):
        told = run("predict", model, data, "-o", out, *more)
        assert told.exit_code == 0, told.output
        assert "would be a formula in a spreadsheet" in told.output
        written = pd.read_csv(out, dtype=str, keep_default_na=False)
        assert written.columns[1] == "'=id"
        ids = written.drop_duplicates("row")["'=id"].tolist()[:6]
        assert ids == [f"'{link}", "'+1-2", "'@x", "-7", "+1.5e3", "'\ttab"]
        cells = written["label" if more else "labels"]
        assert cells.str.match("'=a|'-b").all()
    kept = tmp_path / "p.parquet"
    assert "spreadsheet" not in run("predict", model, data, "-o", kept).output
    assert pd.read_parquet(kept)["=id"][0] == link


def test_numbers_that_are_no_feature_are_written_as_they_are(tmp_path: Path) -> None:
    frame = _frame(IDENTIFIERS["zeros"])
    frame.drop(columns="patient").to_csv(tmp_path / "train.csv", index=False)
    frame.to_csv(tmp_path / "new.csv", index=False)
    model, out = tmp_path / "m.ramify", tmp_path / "p.csv"
    assert run("train", tmp_path / "train.csv", "-o", model, *QUICK).exit_code == 0
    assert run("predict", model, tmp_path / "new.csv", "-o", out).exit_code == 0
    assert pd.read_csv(out, dtype=str)["patient"].tolist() == IDENTIFIERS["zeros"]


def test_a_feature_can_name_the_rows(tmp_path: Path) -> None:
    _frame(IDENTIFIERS["integers"]).to_csv(tmp_path / "train.csv", index=False)
    model, out = tmp_path / "m.ramify", tmp_path / "p.csv"
    assert run("train", tmp_path / "train.csv", "-o", model, *QUICK).exit_code == 0
    assert "patient" in load(model).feature_names_in_
    predict = ("predict", model, tmp_path / "train.csv", "-o", out)
    assert run(*predict, "--id", "patient").exit_code == 0
    assert pd.read_csv(out, dtype=str)["patient"].tolist() == [
        str(value) for value in IDENTIFIERS["integers"]
    ]


def test_large_files_are_read_in_the_same_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, model = tmp_path / "t.csv", tmp_path / "m.ramify"
    _frame(IDENTIFIERS["words"]).to_csv(data, index=False)
    assert run("train", data, "--id", "patient", "-o", model, *QUICK).exit_code == 0
    assert run("predict", model, data, "-o", tmp_path / "whole.csv").exit_code == 0
    monkeypatch.setattr("ramify.apps.cli.prediction_files._STREAMED_BYTES", 0)
    assert run("predict", model, data, "-o", tmp_path / "blocks.csv").exit_code == 0
    assert (tmp_path / "blocks.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()


def test_a_missing_column_of_identifiers_is_told(tmp_path: Path) -> None:
    data, other, model = tmp_path / "t.csv", tmp_path / "other.csv", tmp_path / "m.ramify"
    frame = _frame(IDENTIFIERS["zeros"])
    frame.to_csv(data, index=False)
    frame.drop(columns="patient").to_csv(other, index=False)
    result = run("train", data, "--id", "patent", "-o", model)
    assert result.exit_code == 2
    assert "--id must be a column of t, got 'patent'. Did you mean 'patient'?" in result.output
    assert run("train", data, "--id", "patient", "-o", model, *QUICK).exit_code == 0
    remembered = run("predict", model, other, "-o", tmp_path / "p.csv")
    assert remembered.exit_code == 0
    assert "other has no column 'patient' of identifiers" in remembered.output
    assert run("predict", model, other, "--id", "patient").exit_code == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--id", "patient", "--id", "mass"), "--id must be given once, got 'patient' and 'mass'"),
        (("--id", "labels"), "--id must not be a label column, got 'labels'"),
        (("--id", "patient", "--keep", "patient"), "--keep patient cannot be combined with --id"),
    ],
)
def test_contradictory_options_are_refused(
    options: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    data = tmp_path / "t.csv"
    _frame(IDENTIFIERS["zeros"]).to_csv(data, index=False)
    result = run("train", data, *options, "-o", tmp_path / "m.ramify")
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())


def test_evaluate_and_predict_refuse_what_train_refuses(tmp_path: Path) -> None:
    data, model = tmp_path / "t.csv", tmp_path / "m.ramify"
    _frame(IDENTIFIERS["zeros"]).to_csv(data, index=False)
    assert run("train", data, "--id", "patient", "-o", model, *QUICK).exit_code == 0
    assert run("evaluate", model, data, "--id", "patient").exit_code == 0
    result = run("evaluate", model, data, "--id", "nope")
    assert result.exit_code == 2
    assert "--id must be a column of t, got 'nope'" in result.output
    twice = ("--id", "patient", "--id", "mass")
    for command in ("evaluate", "predict"):
        result = run(command, model, data, *twice)
        assert "--id must be given once" in " ".join(result.output.split())


def test_identifiers_of_arff_files_are_whole_numbers(tmp_path: Path) -> None:
    text = "@relation r\n@attribute nr numeric\n@attribute x numeric\n@attribute c {a,b}\n@data\n"
    rows = [f"{100900 + 7 * k},{k / 3:.2f},{'ab'[k % 2]}" for k in range(30)]
    data, model = tmp_path / "t.arff", tmp_path / "m.ramify"
    data.write_text(text + "\n".join(rows) + "\n")
    trained = run("train", data, "-t", "c", "--id", "nr", "-o", model, *QUICK)
    assert trained.exit_code == 0, trained.output
    assert load(model).feature_names_in_.tolist() == ["x"]
    assert run("predict", model, data, "-o", tmp_path / "p.csv").exit_code == 0
    assert pd.read_csv(tmp_path / "p.csv", dtype=str)["nr"][0] == "100900"
    assert read_arff(data, target="c").ids is None


def test_read_table_keeps_identifiers_apart(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("nr,x,labels\n007,1.5,a\n,2.5,b\nNA,3.5,\n")
    table = read_table(tmp_path / "t.csv", id_column="nr")
    assert table.ids.tolist() == ["007", None, "NA"]
    assert table.feature_names == ("x",)


def test_predictions_have_the_level_columns_of_the_training_data(tmp_path: Path) -> None:
    frame = _frame(IDENTIFIERS["integers"]).drop(columns="labels")
    frame["top"] = ["a", "b"] * (len(frame) // 2) + ["a"] * (len(frame) % 2)
    frame["below"] = ["x" if top == "a" else "" for top in frame["top"]]
    frame["size"] = [float(top == "a") for top in frame["top"]]
    data, model, out = tmp_path / "t.csv", tmp_path / "m.ramify", tmp_path / "p.csv"
    frame.to_csv(data, index=False)
    target = ("--target", "top,below", "--id", "patient")
    assert run("train", data, *target, "-o", model, *QUICK).exit_code == 0
    assert run("predict", model, data, "-o", out).exit_code == 0
    written = pd.read_csv(out, keep_default_na=False)
    assert written.columns.tolist() == ["row", "patient", "top", "below"]
    assert written[["top", "below"]].equals(frame[["top", "below"]])
