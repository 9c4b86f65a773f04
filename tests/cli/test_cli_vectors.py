"""Vectors of rows: files beside a table, and columns of lists in parquet files."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import ramify
from tests.support.cli_runs import QUICK, run

N = 60
KINDS = np.random.default_rng(0).integers(0, 3, N)
VECTORS = np.eye(3)[KINDS] + np.random.default_rng(1).normal(scale=0.1, size=(N, 3))
FRAME = pd.DataFrame(
    {"key": [f"r{k}" for k in range(N)], "size": np.arange(N) % 7, "labels": list("abc" * 20)}
).assign(labels=[f"top/{'abc'[k]}" for k in KINDS])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    FRAME.to_csv(tmp_path / "t.csv", index=False)
    np.save(tmp_path / "v.npy", VECTORS.astype(np.float32))
    order = np.random.default_rng(2).permutation(N)
    np.savez(tmp_path / "v.npz", vectors=VECTORS[order], ids=FRAME["key"].to_numpy(str)[order])
    np.savez(tmp_path / "plain.npz", VECTORS)
    keys = FRAME["key"].to_numpy()[order]
    numbers = pd.DataFrame(VECTORS[order], columns=["a", "b", "c"]).assign(key=keys)
    numbers.to_parquet(tmp_path / "numbers.parquet")
    lists = pd.DataFrame({"ids": keys, "v": list(VECTORS[order])})
    lists.to_parquet(tmp_path / "lists.parquet", index=False)
    pd.DataFrame(VECTORS, columns=["a", "b", "c"]).to_parquet(tmp_path / "plain.parquet")
    return tmp_path


JOINED = ["v.npz", "numbers.parquet", "lists.parquet"]


@pytest.mark.parametrize("file", ["v.npy", "plain.npz", "plain.parquet", *JOINED])
def test_vectors_are_joined_and_learnt(folder: Path, file: str) -> None:
    given = ("--vectors", folder / file, "--id", "key")
    result = run("train", folder / "t.csv", "-o", folder / "m.ramify", *given, *QUICK)
    assert result.exit_code == 0, result.output
    assert f"joined {'by identifier' if file in JOINED else 'in the order of the rows'}" in (
        " ".join(result.output.split())
    )
    model = ramify.load(folder / "m.ramify")
    assert list(model.feature_names_in_) == ["size", "embedding"]
    assert model.schema_.vectors == {1: 3}
    answers = run("predict", folder / "m.ramify", folder / "t.csv", *given[:2]).output
    found = [line.split(",")[-1] for line in answers.split("\n")[-N - 1 : -1]]
    assert np.mean(np.array(found) == FRAME["labels"].to_numpy()) > 0.9
    assert run("evaluate", folder / "m.ramify", folder / "t.csv", *given[:2]).exit_code == 0
    result = run("predict", folder / "m.ramify", folder / "t.csv")
    assert result.exit_code == 2
    assert "Pass the file of vectors with --vectors" in " ".join(result.output.split())


def save(folder: Path, **arrays: np.ndarray) -> Path:
    np.savez(folder / "other.npz", **arrays)
    return folder / "other.npz"


def save_frame(folder: Path, **columns: object) -> Path:
    pd.DataFrame(columns).to_parquet(folder / "other.parquet")
    return folder / "other.parquet"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda f: save(f, vectors=VECTORS[1:]), "has 59 vectors, but t has 60 rows"),
        (lambda f: save(f, a=VECTORS, b=VECTORS), "expected an array 'vectors', found 'a', 'b'"),
        (
            lambda f: save(f, vectors=VECTORS[1:], ids=FRAME["key"].to_numpy(str)[1:]),
            "no vectors of 1 of 60 rows, e.g. 'r0'",
        ),
        (lambda f: save(f, vectors=VECTORS, ids=np.array(["r1"] * N)), "must be distinct"),
        (lambda f: save(f, vectors=VECTORS, ids=np.array(["r1"])), "one identifier per vector"),
        (lambda f: save(f, vectors=VECTORS[:, 0]), "expected a matrix of numbers"),
        (lambda f: save(f, vectors=VECTORS.astype(str)), "expected a matrix of numbers"),
        (lambda f: save(f, vectors=np.full((N, 3), np.inf)), "contains infinity"),
        (
            lambda f: save(f, vectors=VECTORS, ids=FRAME["key"].to_numpy(object)),
            "Save identifiers as strings, e.g. numpy.asarray(ids, dtype=str)",
        ),
        (
            lambda f: save_frame(f, number=FRAME["key"], v=list(VECTORS)),
            "Name that of the identifiers like that of the table, or 'ids'",
        ),
        (
            lambda f: save_frame(f, key=FRAME["key"], v=[[1.0]] * (N - 1) + [[1.0, 2.0]]),
            "vectors of the same length, got lengths [1, 2]",
        ),
        (lambda f: save_frame(f, key=FRAME["key"]), "found nothing"),
    ],
    ids=range(12),
)
def test_files_that_do_not_fit_are_refused(folder: Path, make, message: str) -> None:  # type: ignore[no-untyped-def]
    given = ("--vectors", make(folder), "--id", "key")
    result = run("train", folder / "t.csv", "-o", folder / "m.ramify", *given, *QUICK)
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())


class Harmful:
    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (Path("harm"),)


@pytest.mark.parametrize("kind", ["objects", "pickle", "short", "huge"])
def test_no_file_of_vectors_runs_code_or_fills_memory(folder: Path, kind: str) -> None:
    path = folder / "bad.npy"
    if kind == "objects":
        np.save(path, np.array([[Harmful()]] * N, dtype=object), allow_pickle=True)
    elif kind == "pickle":
        path.write_bytes(pickle.dumps(Harmful()))
    else:
        content = (folder / "v.npy").read_bytes()
        size = b"(60000000000, 3)" if kind == "huge" else b"(61, 3)"
        content = content.replace(b"(60, 3)", size, 1) if kind == "short" else content[:60]
        path.write_bytes(content)
    result = run("train", folder / "t.csv", "-o", folder / "m", "--vectors", path, "--id", "key")
    assert result.exit_code == 2
    assert "expected a .npy, .npz or .parquet file" in " ".join(result.output.split())
    assert not Path("harm").exists()


def test_lists_of_numbers_in_parquet_files_are_vectors(tmp_path: Path) -> None:
    frame = FRAME.drop(columns="key").assign(v=list(VECTORS))
    frame.to_parquet(tmp_path / "t.parquet")
    table = ramify.read_table(tmp_path / "t.parquet")
    assert table.feature_names == ("size", "v")
    model = tmp_path / "m.ramify"
    result = run("train", tmp_path / "t.parquet", "-o", model, *QUICK)
    assert result.exit_code == 0, result.output
    assert ramify.load(model).schema_.vectors == {1: 3}
    answers = run("predict", model, tmp_path / "t.parquet").output.split()
    assert np.mean(np.array(answers[-N:]) == frame["labels"].to_numpy()) > 0.9
