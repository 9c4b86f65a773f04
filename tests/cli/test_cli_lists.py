"""Labels in lists of parquet files are read as `fit` reads them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ramify import load
from ramify.io import FormatError, read_table
from ramify.labels import read_labels
from tests.support.cli_runs import QUICK, run

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

NAMES = ["animal/cat", "animal/dog", "plant/oak", "stone"]
TEXT, LARGE = pa.string(), pa.large_string()


def _sets(n: int = 60) -> list[list[str]]:
    X = np.abs(np.random.default_rng(0).normal(size=(n, 2)))
    return [sorted({NAMES[int(3 * a) % 4], NAMES[int(2 * b) % 4]}) for a, b in X]


def _paths() -> list[list[list[str]]]:
    return [[label.split("/") for label in row] for row in _sets()]


def _write(path: Path, labels: list[Any], kind: Any, **columns: Any) -> Path:
    X = np.random.default_rng(0).normal(size=(len(labels), 2))
    features = {"x": pa.array(X[:, 0]), "y": pa.array(X[:, 1])}
    pq.write_table(pa.table({**features, **columns, "labels": pa.array(labels, kind)}), path)
    return path


COLUMNS: dict[str, tuple[list[Any], Any]] = {
    "sets": (_sets(), pa.list_(TEXT)),
    "large": (_sets(), pa.large_list(LARGE)),
    "flat": ([[label.replace("/", " ") for label in row] for row in _sets()], pa.list_(TEXT)),
    "fixed": ([[row[0], row[-1]] for row in _sets()], pa.list_(TEXT, 2)),
    "empty": ([[] if i % 7 == 0 else row for i, row in enumerate(_sets())], pa.list_(TEXT)),
    "paths": (_paths(), pa.list_(pa.list_(TEXT))),
    "large paths": (_paths(), pa.large_list(pa.large_list(LARGE))),
    "slashes": ([[["w/o lid", path[-1]] for path in row] for row in _paths()],
                pa.list_(pa.list_(TEXT))),
    "indicators": ([[int(name in row) for name in NAMES] for row in _sets()], pa.list_(pa.int8())),
}  # fmt: skip


@pytest.mark.parametrize("name", COLUMNS)
def test_lists_are_read_as_fit_reads_them(name: str, tmp_path: Path) -> None:
    labels, kind = COLUMNS[name]
    data, model = _write(tmp_path / "t.parquet", labels, kind), tmp_path / "m.ramify"
    expected = read_labels(labels)
    table = read_table(data, as_frame=True)
    assert table.hierarchy == expected.hierarchy
    assert (table.y != expected.Y).nnz == 0
    trained = run("train", data, "-o", model, *QUICK, "--json")
    assert trained.exit_code == 0, trained.output
    assert json.loads(trained.output)["data"]["labels"] == expected.hierarchy.n_labels
    fitted = load(model)
    assert fitted.hierarchy_ == expected.hierarchy
    assert run("evaluate", model, data).exit_code == 0
    assert run("evaluate", model, data, "--ignore-unknown").exit_code == 0
    sets = fitted.hierarchy_.decode(read_labels(fitted.predict(table.X), fitted.hierarchy_).Y)
    cells = [";".join(map(str, row)) for row in sets]
    for out in (tmp_path / "p.csv", tmp_path / "p.parquet"):
        result = run("predict", model, data, "-o", out)
        assert result.exit_code == 0, result.output
        frame = pd.read_csv(out) if out.suffix == ".csv" else pd.read_parquet(out)
        assert frame["labels"].fillna("").astype(str).tolist() == cells


def test_missing_lists_are_rows_without_labels(tmp_path: Path) -> None:
    rows = [None, [], ["a/b"], ["c"]]
    table = read_table(_write(tmp_path / "t.parquet", rows, pa.list_(TEXT)))
    assert table.hierarchy.decode(table.y) == [(), (), ("a/b",), ("c",)]


@pytest.mark.parametrize("wanted", [(), ("--ignore-unknown",)])
def test_numbers_of_a_model_are_labels_in_every_file(wanted: Any, tmp_path: Path) -> None:
    """Rows of 0 and 1 of one length are a matrix only if the model was trained on one."""
    numbers = pa.list_(pa.int64())
    data = _write(tmp_path / "t.parquet", [[0], [1], [0, 1]] * 20, numbers)
    other = _write(tmp_path / "o.parquet", [[0, 1], [1, 0], [0, 1], [1, 0]], numbers)
    model = tmp_path / "m.ramify"
    assert run("train", data, "-o", model, *QUICK).exit_code == 0
    labels = load(model).hierarchy_
    assert labels.labels == ("0", "1")
    assert read_table(other, hierarchy=labels).y.toarray().tolist() == [[1, 1]] * 4
    result = run("evaluate", model, other, *wanted, "--json", "-o", tmp_path / "e")
    assert result.exit_code == 0, result.output
    report = pd.read_csv(tmp_path / "e" / "labels.csv")
    assert report["support"].tolist() == [4, 4]

    matrix = _write(tmp_path / "matrix.parquet", [[0, 1], [1, 1], [0, 0]] * 20, numbers)
    assert run("train", matrix, "-o", model, *QUICK).exit_code == 0
    labels = load(model).hierarchy_
    assert labels.labels == (0, 1)
    assert read_table(other, hierarchy=labels).y.toarray().tolist() == [[0, 1], [1, 0]] * 2


def test_missing_labels_in_lists_are_refused_as_in_fit(tmp_path: Path) -> None:
    kinds = {float: pa.list_(pa.float64()), str: pa.list_(TEXT)}
    for rows, kind in (([[0.0, np.nan], [1.0]], float), ([["a", None], ["b"]], str)):
        data = _write(tmp_path / "t.parquet", rows, kinds[kind])
        with pytest.raises(FormatError, match="a label of y must not be missing"):
            read_table(data)
    paths = [[["a", "b", None]], [["c", None, None]]]
    data = _write(tmp_path / "t.parquet", paths, pa.list_(pa.list_(TEXT)))
    assert read_table(data).hierarchy.labels == ("a", "a/b", "c")


def test_another_separator_applies_to_lists(tmp_path: Path) -> None:
    data = _write(tmp_path / "t.parquet", [["a.b", "c"], ["a.d"]], pa.list_(TEXT))
    assert read_table(data, separator=".").hierarchy.labels == ("a", "a.b", "a.d", "c")


def test_lists_that_look_like_paths_are_noted(tmp_path: Path) -> None:
    rows = [row[0] for row in _paths()]
    data = _write(tmp_path / "t.parquet", rows, pa.list_(TEXT))
    result = run("train", data, "-o", tmp_path / "m.ramify", *QUICK)
    assert "look like paths, one name per level" in " ".join(result.output.split())


@pytest.mark.parametrize(
    ("labels", "kind", "found"),
    [
        ([[{"name": "a"}], []], pa.list_(pa.struct([("name", TEXT)])), "struct<name: string>"),
        ([[[["a"]]], []], pa.list_(pa.list_(pa.list_(TEXT))), "list<"),
        ([{"a": 1}, {"a": 0}], pa.struct([("a", pa.int8())]), "struct<a: int8>"),
        ([[b"a"], []], pa.list_(pa.binary()), "binary"),
    ],
)
def test_other_nested_labels_are_refused(
    labels: list[Any], kind: Any, found: str, tmp_path: Path
) -> None:
    data = _write(tmp_path / "t.parquet", labels, kind)
    with pytest.raises(FormatError, match=f"column 'labels': expected texts, lists.*{found}"):
        read_table(data)


def test_lists_are_refused_beside_other_label_columns(tmp_path: Path) -> None:
    data = _write(tmp_path / "t.parquet", [["a"], ["b"]], pa.list_(TEXT), top=["a", "b"])
    with pytest.raises(FormatError, match="must be the only label column"):
        read_table(data, target=["top", "labels"])


def test_unknown_labels_in_lists_are_told(tmp_path: Path) -> None:
    data = _write(tmp_path / "t.parquet", _paths(), pa.list_(pa.list_(TEXT)))
    model = tmp_path / "m.ramify"
    assert run("train", data, "-o", model, *QUICK).exit_code == 0
    rows = [[["animal", "cat"]], [["animal", "yeti"]]]
    other = _write(tmp_path / "o.parquet", rows, pa.list_(pa.list_(TEXT)))
    result = run("evaluate", model, other)
    assert result.exit_code == 2
    assert "animal/yeti" in result.output
    assert "--ignore-unknown" in result.output
    assert "ignored: 1" in run("evaluate", model, other, "--ignore-unknown").output


def test_lists_of_numbers_are_features_and_others_are_not(tmp_path: Path) -> None:
    extra = {"emb": pa.array([[0.5, 1.5]] * 60), "tags": pa.array([["a"]] * 60)}
    data = _write(tmp_path / "t.parquet", _sets(), pa.list_(TEXT), **extra)
    train = ("train", data, "-o", tmp_path / "m.ramify", *QUICK)
    result = run(*train)
    assert result.exit_code == 2
    shown = " ".join(result.output.split())
    assert "lists or the like in 'tags' (list<element: string>)" in shown
    assert "--drop 'tags'" in shown
    for dropped, features in (
        (("--drop", "tags"), ["x", "y", "emb"]),
        (("--drop", "emb", "--drop", "tags"), ["x", "y"]),
    ):
        kept = run(*train, *dropped)
        assert kept.exit_code == 0, kept.output
        assert load(tmp_path / "m.ramify").feature_names_in_.tolist() == features
        for command in ("predict", "evaluate"):
            assert run(command, tmp_path / "m.ramify", data).exit_code == 0
