"""Predictions of large files: read, predicted and written some rows at a time."""

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ramify import load
from ramify.apps.cli import prediction_files
from tests.support.cli_runs import run

OPTIONS = {
    "labels": (),
    "threshold": ("--threshold", 0.3),
    "probabilities": ("--probabilities", 0.2),
    "all probabilities": ("--probabilities", 0),
    "top": ("--top", 2),
    "top of a level": ("--top", 1, "--among", 1),
    "top of all, with a minimum": ("--top", 3, "--among", "all", "--probabilities", 0.4),
    "identifiers": ("--id", "code"),
    "a feature as identifier": ("--id", "size"),
}


def frame(n_rows: int = 90) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    days = pd.date_range("2024-01-01", periods=n_rows).strftime("%Y-%m-%d")
    table = pd.DataFrame(
        {
            "name": [f'row "{k}", é' for k in range(n_rows)],
            "code": np.arange(n_rows) * 10,
            "size": np.where(rng.random(n_rows) < 0.2, np.nan, np.round(rng.random(n_rows), 3)),
            "count": rng.integers(0, 5, n_rows),
            "colour": rng.choice(["red", "green, dark", "01", None], n_rows),
            "day": np.where(rng.random(n_rows) < 0.1, None, days),
        }
    )
    is_big = table["size"].fillna(0) > 0.5
    kinds = np.where(table["colour"] == "red", "A/B", "A/C;D")
    return table.assign(labels=np.where(is_big, kinds, "D"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("streaming")
    table = frame()
    table.drop(columns=["name", "code"]).to_csv(folder / "train.csv", index=False)
    table.drop(columns="labels").to_csv(folder / "test.csv", index=False)
    model = folder / "m.ramify"
    arguments = ("--model", "forest", "--set", "n_estimators=5", "-o", model)
    trained = run("train", folder / "train.csv", *arguments)
    assert trained.exit_code == 0, trained.output
    return folder


@pytest.fixture
def streaming(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prediction_files, "_STREAMED_BYTES", 0)
    monkeypatch.setattr(prediction_files, "_READ_CELLS", 100)  # a few rows
    monkeypatch.setattr(prediction_files, "_CELLS_AT_A_TIME", 30)


def read_whole(*_: object, **__: object) -> None:
    raise AssertionError("the file was read as a whole")


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz"])
def test_streamed_files_are_the_same(
    folder: Path, options: tuple, suffix: str, monkeypatch: pytest.MonkeyPatch, streaming: None
) -> None:
    model, data = folder / "m.ramify", folder / "test.csv"
    streamed, whole = folder / f"streamed{suffix}", folder / f"whole{suffix}"
    with monkeypatch.context() as patch:
        patch.setattr("ramify.apps.cli.prediction_files.write_predictions", read_whole)
        answer = run("predict", model, data, *options, "-o", streamed)
    assert answer.exit_code == 0, answer.output
    with monkeypatch.context() as patch:
        patch.setattr(prediction_files, "_STREAMED_BYTES", 10**12)
        patch.setattr(prediction_files, "_CELLS_AT_A_TIME", 10**6)
        expected = run("predict", model, data, *options, "-o", whole)
    assert expected.exit_code == 0, expected.output
    assert streamed.read_bytes() == whole.read_bytes()
    assert answer.output.replace("streamed", "whole") == expected.output


@pytest.mark.parametrize("form", ["gzip", "declared", "latin-1", "byte order mark", "windows"])
def test_files_of_other_forms_are_streamed(
    folder: Path, form: str, monkeypatch: pytest.MonkeyPatch, streaming: None
) -> None:
    text = (folder / "test.csv").read_text(encoding="utf-8")
    path, options = folder / f"{form.replace(' ', '-')}.csv", ()
    if form == "gzip":
        path.write_bytes(gzip.compress(text.encode()))
    elif form == "declared":
        frame().drop(columns="labels").to_csv(path, index=False, sep=";")
        path.write_text("sep=;\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    elif form == "latin-1":
        path.write_text(text, encoding="latin-1")
        options = ("--encoding", "latin-1")
    elif form == "byte order mark":
        path.write_text(text, encoding="utf-8-sig")
    else:
        path.write_bytes(text.replace("\n", "\r\n").encode())
    model, out, plain = folder / "m.ramify", folder / "o.csv", folder / "plain.csv"
    monkeypatch.setattr("ramify.apps.cli.prediction_files.write_predictions", read_whole)
    for data, answer, more in ((path, out, options), (folder / "test.csv", plain, ())):
        found = run("predict", model, data, *more, "-o", answer)
        assert found.exit_code == 0, found.output
    assert out.read_bytes() == plain.read_bytes()


def test_errors_name_the_row_of_the_file(folder: Path, streaming: None, tmp_path: Path) -> None:
    table = frame().drop(columns="labels").astype({"count": object})
    table.loc[70, "count"] = "many"
    table.to_csv(tmp_path / "t.csv", index=False)
    found = run("predict", folder / "m.ramify", tmp_path / "t.csv", "-o", tmp_path / "p.csv")
    assert found.exit_code == 2
    assert "row 71 below the column names: 'many' is not a number" in " ".join(
        found.output.split()
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.csv"]
    table.drop(columns=["count", "size"]).to_csv(tmp_path / "t.csv", index=False)
    found = run("predict", folder / "m.ramify", tmp_path / "t.csv", "-o", tmp_path / "p.csv")
    assert found.exit_code == 2
    assert "Add the missing columns" in " ".join(found.output.split())


def test_columns_whose_type_depends_on_all_rows_are_read_as_a_whole(
    folder: Path, streaming: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    table = frame().drop(columns="labels").astype({"count": object})
    table.loc[:50, "count"] = True
    table.to_csv(tmp_path / "t.csv", index=False)
    answers = []
    for n_bytes in (0, 10**12):
        monkeypatch.setattr(prediction_files, "_STREAMED_BYTES", n_bytes)
        out = tmp_path / "p.csv"
        answers.append(run("predict", folder / "m.ramify", tmp_path / "t.csv", "-o", out).output)
    assert answers[0] == answers[1]
    assert "'True' is not a number" in " ".join(answers[0].split())


def test_the_best_labels_are_those_of_predict_top(folder: Path) -> None:
    model, out = folder / "m.ramify", folder / "top.csv"
    assert run("predict", model, folder / "test.csv", "--top", 2, "-o", out).exit_code == 0
    written = pd.read_csv(out)
    fitted = load(model)
    rows = pd.read_csv(
        folder / "test.csv", keep_default_na=False, na_values=[""], parse_dates=["day"]
    )
    labels, scores = fitted.predict_top(rows[list(fitted.feature_names_in_)], 2)
    assert written["label"].tolist() == labels.ravel().tolist()
    assert np.allclose(written["probability"], scores.ravel(), atol=1e-6)
    assert list(written.columns) == ["row", "name", "label", "probability"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--top", 2), "--top 2 requires --out"),
        (("--top", 2, "-o", "{out}.arff"), "--out must end in one of .csv, .tsv, .parquet, .pq"),
        (("--top", 2, "--threshold", 0.5, "-o", "{out}.csv"), "--threshold 0.5 chooses label"),
        (("--top", 99, "-o", "{out}.csv"), "k must be an integer from 1 to 3, got 99"),
        (("--top", 1, "--among", "roots", "-o", "{out}.csv"), "--among must be leaves, all or a"),
        (("--top", 1, "--among", 7, "-o", "{out}.csv"), "labels must be a level from 1 to 2"),
    ],
)
def test_mistakes_are_explained(folder: Path, options: tuple, message: str) -> None:
    arguments = [str(option).format(out=folder / "out") for option in options]
    found = run("predict", folder / "m.ramify", folder / "test.csv", *arguments)
    assert found.exit_code == 2
    assert message in " ".join(found.output.split())
