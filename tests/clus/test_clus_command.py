"""``ramify clus`` takes the switches of CLUS, and refuses wrong files in one line."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from ramify.clus import Settings, Switches
from tests.support.cli_runs import run

SETTINGS = "[Data]\nFile = data.arff\n[Tree]\nFTest = 0.01\n"


@pytest.fixture
def runs(monkeypatch) -> list[tuple[Settings, Switches]]:
    """Record what the command asks to run instead of running it."""
    found: list[tuple[Settings, Switches]] = []

    def record(settings: Settings, switches: Switches) -> list[Path]:
        found.append((settings, switches))
        return [settings.application.with_suffix(".out")]

    monkeypatch.setattr(import_module("ramify.apps.clus.running"), "run", record)
    return found


@pytest.fixture
def settings_file(tmp_path) -> Path:
    path = tmp_path / "run.s"
    path.write_text(SETTINGS)
    return path


def test_switches_are_those_of_clus(runs, settings_file):
    done = run(
        *["clus", "-forest", "-xval", "-fold", 2, "-target", "2-5,8", "-disable", "1", "-silent"],
        settings_file,
    )
    assert done.exit_code == 0, done.output
    assert done.output == ""
    ((settings, switches),) = runs
    assert switches == Switches(True, True, 2, "2-5,8", "1", True)
    assert settings.numbers("Tree", "FTest") == (0.01,)
    assert settings.text("General", "Verbose") == "0"


def test_switches_are_off_by_default_and_may_follow_the_file(runs, settings_file):
    assert run("clus", settings_file).exit_code == 0
    assert run("clus", settings_file, "-forest").exit_code == 0
    assert [switches for _, switches in runs] == [Switches(), Switches(forest=True)]


def test_the_ending_may_be_left_out(runs, settings_file):
    done = run("clus", settings_file.with_suffix(""))
    assert done.exit_code == 0
    assert f"Wrote {settings_file.with_suffix('.out')}" in done.output
    assert runs[0][0].path == settings_file


def test_unsupported_options_stop_the_run_unless_ignored(runs, settings_file):
    settings_file.write_text(f"{SETTINGS}ConvertToRules = Leaves\n")
    done = run("clus", settings_file)
    assert done.exit_code == 2
    assert "line 5: [Tree] ConvertToRules = 'Leaves' is not supported" in done.output
    assert not runs
    done = run("clus", "--ignore-unsupported", settings_file)
    assert done.exit_code == 0
    assert "line 5: [Tree] ConvertToRules = 'Leaves'" in done.output
    ((settings, _),) = runs
    assert not settings.given("Tree", "ConvertToRules")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["-rules"], "-rules is not supported"),
        (["-forrest"], "There is no option -forrest. Did you mean '-forest'?"),
        (["-fold", "2"], "-fold 2 requires -xval"),
        (["-xval", "-fold", "11"], "-fold must be at most XVal, 10, got 11."),
        (["-xval", "-fold", "0"], "-fold"),
        (["-xval", "-fold", "x"], "-fold"),
        (["-target"], "-target"),
    ],
)
def test_wrong_switches(runs, settings_file, arguments, expected):
    done = run("clus", settings_file, *arguments)
    assert done.exit_code == 2
    assert expected in " ".join(done.output.split())
    assert not runs


def test_explain_runs_nothing(runs, settings_file):
    settings_file.with_name("data.arff").write_text(
        "@relation r\n@attribute x numeric\n@attribute class hierarchical a/b/c\n@data\n1,a/b\n"
    )
    done = run("clus", "--explain", settings_file)
    assert done.exit_code == 0, done.output
    assert "from ramify import PCTClassifier" in done.output
    assert not runs


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "the file has no section such as [Data]"),
        (b"[Tree]\nFTst = 1\n", "line 2: [Tree] has no option 'FTst'. Did you mean 'FTest'?"),
        (b"[Trees]\n", "line 1: unknown section [Trees]. Did you mean 'Tree'?"),
        (b"[Attributes]\nTarget = 8-2\n", "line 2: [Attributes] Target must be a range"),
        (b"\x7fELF\x00\x01\x02", "expected a settings file, got binary data"),
        (b"[" * 5000, "line 1: expected a section such as [Data]"),
        (b"[Tree]\nFTest = " + b"[" * 5000, "the list of 'FTest' has no end"),
    ],
)
def test_wrong_files_are_refused_in_one_line(runs, tmp_path, content, expected):
    path = tmp_path / "wrong.s"
    path.write_bytes(content)
    done = run("clus", path)
    assert done.exit_code == 2
    assert expected in done.output
    assert len(done.output.splitlines()) == 1
    assert not runs
    assert list(tmp_path.iterdir()) == [path]
