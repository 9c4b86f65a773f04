"""Settings that cannot be run are refused in one line, and nothing is written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.cli_runs import run

pytest.importorskip("ramify.apps.clus.running")

DATA = """@relation pets
@attribute id key
@attribute size numeric
@attribute colour {white,brown}
@attribute class hierarchical bird,bird/owl,mammal,mammal/cat,mammal/cat/lion
@data
a,1,white,bird/owl
b,2,white,bird/owl
c,3,brown,bird
d,7,brown,mammal/cat
e,8,white,mammal/cat/lion
f,9,brown,mammal
"""
HIERARCHICAL = "[Hierarchical]\nType = Tree\nHSeparator = /\n"


@pytest.fixture
def pets(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pets.arff").write_text(DATA)
    (tmp_path / "folder").mkdir()
    (tmp_path / "binary").write_bytes(bytes(range(256)))
    return tmp_path


def refused(folder: Path, text: str, *switches: str) -> str:
    """Run settings that must be refused; return the message."""
    (folder / "run.s").write_text(text)
    before = sorted(folder.iterdir())
    done = run("clus", *switches, "run.s")
    assert done.exit_code == 2, done.output
    assert len(done.output.strip().splitlines()) == 1, done.output
    assert sorted(folder.iterdir()) == before
    return done.output


@pytest.mark.parametrize("option", ["File", "TestSet", "PruneSet"])
@pytest.mark.parametrize("name", ["none.arff", "folder", "x" * 300, "folder/../none"])
def test_data_that_are_no_file(pets, option, name):
    line = 3 if option != "File" else 2
    first = "File = pets.arff\n" if option != "File" else ""
    told = refused(pets, f"[Data]\n{first}{option} = {name}\n{HIERARCHICAL}")
    assert f"run.s, line {line}: [Data] {option} must name a" in told


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[Data]\nFile = binary\n", "binary"),
        ("[Data]\nFile = pets.arff\n[Attributes]\nTarget = 9\n", "columns from 1 to 4, got '9'"),
        ("[Data]\nFile = pets.arff\n[Attributes]\nDisable = 1-4\n", "no column is left"),
        ("[Data]\nFile = pets.arff\n[Attributes]\nDisable = 1-3\n", "no column is left"),
        ("[Data]\nFile = pets.arff\n[Model]\nMinimalWeight = -3\n", "MinimalWeight"),
        ("[Data]\nFile = pets.arff\n[Tree]\nFTest = 2\n", "FTest"),
        ("[Data]\nFile = pets.arff\n[Tree]\nFTest = []\n", "FTest"),
        ("[Data]\nFile = pets.arff\nTestSet = 5\n", "TestSet"),
        ("[Data]\nFile = pets.arff\nTestSet = -0.1\n", "TestSet"),
        ("[Data]\nFile = pets.arff\n[Hierarchical]\nWParam = -2\n", "WParam"),
        ("[Data]\nFile = pets.arff\n[Hierarchical]\nEvalClasses = folder\n", "EvalClasses"),
        ("[Data]\nFile = pets.arff\n[Hierarchical]\nEvalClasses = binary\n", "binary"),
        ("[Data]\nFile = pets.arff\n[Hierarchical]\nDefinitionFile = folder\n", "DefinitionFile"),
        ("[Data]\nFile = pets.arff\n[Hierarchical]\nWParam = 0\n", "WParam must be from"),
        ("[Data]\nFile = pets.arff\n[Hierarchical]\nWParam = Infinity\n", "WParam must be from"),
        ("[Data]\nFile = pets.arff\nTestSet = 0.01\n", "TestSet = 0.01 draws 0 of 6 rows"),
        ("[Data]\nFile = pets.arff\nPruneSet = 0.99\n", "PruneSet = 0.99 draws 6 of 6 rows"),
        (
            "[Data]\nFile = pets.arff\nPruneSet = 0.5\nPruneSetMax = 0\n",
            "PruneSet = 0.5 draws 0 of 6 rows",
        ),
        (
            "[Data]\nFile = pets.arff\n[Attributes]\nTarget = 2,3\n",
            "Target must hold one hierarchical column",
        ),
    ],
)
def test_wrong_values(pets, text, expected):
    assert expected in refused(pets, text + HIERARCHICAL)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("Iterations = -5", "Iterations"),
        ("SelectRandomSubspaces = many", "SelectRandomSubspaces"),
        ("EnsembleMethod = RForest\nSelectRandomSubspaces = 9", "SelectRandomSubspaces"),
        ("Iterations = [0,5]", "Iterations must be different numbers of trees, each at least 1"),
        ("Iterations = [5,5]", "Iterations must be different numbers of trees, each at least 1"),
        ("BagSize = -4", "BagSize"),
        ("BagSize = 2000000000", "BagSize must be from 0 to 1e+08"),
        ("NumberOfThreads = -4", "NumberOfThreads"),
    ],
)
def test_wrong_ensembles(pets, options, expected):
    text = f"[Data]\nFile = pets.arff\n{HIERARCHICAL}[Ensemble]\n{options}\n"
    assert expected in refused(pets, text, "-forest")


def test_a_fold_too_many(pets):
    text = f"[Data]\nFile = pets.arff\nXVal = 3\n{HIERARCHICAL}"
    assert "-fold" in refused(pets, text, "-xval", "-fold", "4")


@pytest.mark.parametrize("folds", ["0", "1", "many"])
def test_wrong_numbers_of_folds(pets, folds):
    text = f"[Data]\nFile = pets.arff\nXVal = {folds}\n{HIERARCHICAL}"
    assert "XVal" in refused(pets, text, "-xval")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("owl\n", "labels.txt: expected labels of the hierarchy, one per line, found 'owl'."),
        ("\n", "labels.txt: expected labels of the hierarchy, one per line, found none."),
    ],
)
def test_labels_to_evaluate_that_do_not_exist(pets, text, expected):
    (pets / "labels.txt").write_text(text)
    told = refused(pets, f"[Data]\nFile = pets.arff\n{HIERARCHICAL}EvalClasses = labels.txt\n")
    assert expected in told


def test_a_hierarchy_file_with_a_wrong_line(pets):
    (pets / "edges.txt").write_text("root/bird,\nbird/owl, mammal\n")
    text = "[Data]\nFile = pets.arff\n[Hierarchical]\nType = DAG\nDefinitionFile = edges.txt\n"
    told = refused(pets, text)
    assert "edges.txt, line 2, column 11: expected a pair parent/child, found 'mammal'" in told


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (DATA.partition("@data")[0] + "@data\n", "expected at least one row after @data"),
        (DATA.replace("size numeric", "size {1,2,3,7,8,9}"), "'size' to be numeric as in the"),
        (
            DATA.replace("{white,brown}", "{white,brown,red}").replace("brown,bird", "red,bird"),
            "expected the values {brown,white} of attribute 'colour'",
        ),
    ],
)
def test_test_rows_that_do_not_match(pets, content, expected):
    (pets / "test.arff").write_text(content)
    told = refused(pets, f"[Data]\nFile = pets.arff\nTestSet = test.arff\n{HIERARCHICAL}")
    assert "test.arff: " in told
    assert expected in told


def test_rows_without_any_label(pets):
    rows = "a,1,white,n\nb,2,brown,n\n"
    (pets / "empty.arff").write_text(DATA.partition("@data\n")[0] + "@data\n" + rows)
    told = refused(pets, f"[Data]\nFile = empty.arff\n{HIERARCHICAL}")
    assert "empty.arff: no row has a value of the target" in told


def test_errors_of_folds_without_rows(pets):
    text = f"[Data]\nFile = pets.arff\nXVal = 7\n{HIERARCHICAL}[Output]\nAllFoldErrors = Yes\n"
    assert "XVal must be at most the number of rows, 6, with" in refused(pets, text, "-xval")


def test_a_folder_in_the_place_of_a_result(pets, monkeypatch):
    monkeypatch.setattr(
        "ramify.apps.clus.running.learn", None
    )  # refused before anything is learned
    (pets / "run.out").mkdir()
    told = refused(pets, f"[Data]\nFile = pets.arff\n{HIERARCHICAL}")
    assert "run.out must be a file, got a folder" in told


def test_a_folder_that_is_not_writable(pets, monkeypatch):
    monkeypatch.setattr("ramify.apps.clus.running.learn", None)
    monkeypatch.setattr("os.access", lambda path, mode: mode != os.W_OK)
    told = refused(pets, f"[Data]\nFile = pets.arff\n{HIERARCHICAL}")
    assert "the folder of the settings file must be writable" in told
