"""Errors of the command line: messages for mistakes, a traceback only for bugs."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ramify import PCTClassifier, save
from ramify.apps.cli import main
from tests.support.cli_runs import run


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.csv"
    rows = [f"{i},{'A/B' if i % 2 else 'A/C'}" for i in range(20)]
    path.write_text("\n".join(["a,labels", *rows]), "utf-8")
    return path


def mistake(*arguments: object) -> str:
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output
    return " ".join(result.output.split())


def test_folds_without_labels_are_undefined(tmp_path: Path) -> None:
    path, out = tmp_path / "y.csv", tmp_path / "y.ramify"
    rows = [f"{i},{'A/B' if i == 3 else ''}" for i in range(20)]
    path.write_text("\n".join(["a,labels", *rows]), "utf-8")
    options = ("--folds", 2, "-m", "tree", "-o", out)
    result = run("train", path, *options)
    assert result.exit_code == 0, result.output
    assert "undefined in 1 of 2 folds" in " ".join(result.output.split())
    scores = json.loads(run("train", path, *options, "--json").output)["scores"]
    assert scores["pooled_auprc"].count(None) == 1


@pytest.mark.parametrize("command", ["predict", "evaluate", "explore"])
def test_a_pipeline_is_refused_by_name(command: str, tmp_path: Path, data: Path) -> None:
    X = np.arange(20.0)[:, np.newaxis]
    pipeline = make_pipeline(StandardScaler(), PCTClassifier()).fit(X, [["A"], ["B"]] * 10)
    save(pipeline, tmp_path / "pipe.ramify")
    message = mistake(command, tmp_path / "pipe.ramify", data, "-o", tmp_path / "out.csv")
    assert "must contain a classifier of ramify, got a Pipeline" in message


@pytest.mark.parametrize("command", ["predict", "evaluate", "explore"])
def test_an_unfitted_model_is_refused(command: str, tmp_path: Path, data: Path) -> None:
    save(PCTClassifier(), tmp_path / "new.ramify")
    message = mistake(command, tmp_path / "new.ramify", data, "-o", tmp_path / "out.csv")
    assert "PCTClassifier instance is not fitted yet" in message


def test_a_very_long_column_name(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_text("a" * 200_000 + ",labels\n1,A\n2,B\n", "utf-8")
    assert "line 1: cannot read the column names" in mistake("train", path)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("edges.csv", "root,A\nroot," + "B" * 200_000, "line 2: cannot read the cells"),
        ("deep.json", "[" * 200_000 + "]" * 200_000, "nested too deeply"),
        ("terms.obo", "ontology: x\n\n[Term]\nname: y\n", "a term has no 'id'"),
    ],
)
def test_damaged_hierarchies(
    name: str, content: str, message: str, tmp_path: Path, data: Path
) -> None:
    path = tmp_path / name
    path.write_text(content, "utf-8")
    output = mistake("train", data, "-H", path, "-o", tmp_path / "m.ramify")
    assert message in output
    assert name in output


@pytest.mark.parametrize("encoding", ["klingon", "big5"])
def test_unknown_encodings_of_xml(encoding: str, tmp_path: Path) -> None:
    arff, xml = tmp_path / "m.arff", tmp_path / "m.xml"
    arff.write_text(
        "@relation r\n@attribute a numeric\n@attribute l {0,1}\n@data\n1,0\n2,1\n", "utf-8"
    )
    start = f'<?xml version="1.0" encoding="{encoding}"?>'
    xml.write_text(f'{start}<labels><label name="l"/></labels>', "utf-8")
    assert "the declared encoding cannot be read" in mistake("train", arff, "-H", xml)


def test_a_bug_asks_for_a_report(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise AttributeError("no such thing")

    monkeypatch.setattr("ramify.datasets.registry.list_datasets", fail)
    result = run("datasets")
    assert result.exit_code == 70
    assert "AttributeError: no such thing" in result.output
    assert "please report it" in " ".join(result.output.split())


def test_too_little_memory_is_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise MemoryError

    monkeypatch.setattr("ramify.datasets.registry.list_datasets", fail)
    assert "not enough memory" in mistake("datasets")


def test_compressed_predictions_are_reproducible(tmp_path: Path, data: Path) -> None:
    model = tmp_path / "m.ramify"
    assert run("train", data, "-o", model, "-m", "tree", "--folds", 0).exit_code == 0
    written = []
    for _ in range(2):
        assert run("predict", model, data, "-o", tmp_path / "p.csv.gz").exit_code == 0
        written.append((tmp_path / "p.csv.gz").read_bytes())
    assert written[0] == written[1]
    assert gzip.decompress(written[0]).startswith(b"row,labels\n0,A/C\n1,A/B\n")


@pytest.mark.process
@pytest.mark.skipif(find_spec("typer._click") is None, reason="this typer requires click")
def test_the_command_line_does_not_need_click() -> None:
    code = "import sys; sys.modules['click'] = None; import ramify.apps.cli"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_explore_can_leave_out_labels_of_other_data(data: Path, tmp_path: Path) -> None:
    model, other, page = tmp_path / "m.ramify", tmp_path / "other.csv", tmp_path / "page.html"
    assert run("train", data, "-m", "tree", "--folds", 0, "-o", model).exit_code == 0
    other.write_text("a,labels\n3,A/B\n4,A/new\n", "utf-8")
    assert "pass --ignore-unknown" in mistake("explore", model, other, "-o", page)
    result = run("explore", model, other, "-o", page, "--ignore-unknown")
    assert result.exit_code == 0, result.output
    assert "ignored: 1" in result.output
    assert page.is_file()


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="no signals of closed pipes")
def test_a_closed_pipe_ends_quietly(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    X, y = random.normal(size=(8000, 2)), random.integers(0, 9, 8000)  # more than a pipe holds
    model = tmp_path / "m.ramify"
    save(PCTClassifier().fit(X, y), model)
    command = [sys.executable, "-c", "from ramify.apps.cli import app; app()", "tree", str(model)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.readline()
        running.stdout.close()
        assert running.stderr.read() == b""
    assert running.returncode == 141


def test_advice_names_commands_and_options(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("x,kind\n1,a\n2,b\n", "utf-8")
    assert "Pass the label column with --target." in mistake("train", tmp_path / "d.csv")
    assert "Use ramify datasets to list all" in mistake("datasets", "enronx")


def test_an_interrupt_while_modules_are_imported_ends_quietly(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "ramify.apps.cli.commands"

    class Interrupted:
        def find_spec(self, wanted: str, *_: object) -> None:
            if wanted == name:
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(sys, "meta_path", [Interrupted(), *sys.meta_path])
    with pytest.raises(SystemExit) as ended:
        main()
    assert (ended.value.code, capsys.readouterr().err) == (130, "interrupted\n")


def test_a_folder_that_may_not_be_written_is_named(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, *_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    out = tmp_path / "results"
    monkeypatch.setattr(Path, "mkdir", refuse)
    told = mistake("study", "animals", "--quick", "--out", out)
    assert f"ramify: {out}" in told
    assert "permission denied. Choose another file or folder." in told
