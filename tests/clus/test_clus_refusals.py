"""Settings that cannot be run are refused in one line, and nothing is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli_runs import run

pytest.importorskip("ramify.clus.running")

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
        ("BagSize = -4", "BagSize"),
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


def test_a_folder_in_the_place_of_a_result(pets):
    (pets / "run.out").mkdir()
    told = refused(pets, f"[Data]\nFile = pets.arff\n{HIERARCHICAL}")
    assert "run.out must be a file, got a folder" in told
