"""The demo writes its report to the given path."""

import re

import pytest

from ramify.apps.cli.showing import write_demo


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("demo")


def test_demo_prints_and_writes_one_report(folder, capsys):
    path = folder / "new" / "demo.md"
    write_demo(path)
    printed = capsys.readouterr().out
    text = path.read_text(encoding="utf-8")
    assert f"Report: {path}" in printed
    assert text.splitlines()[0] in printed
    assert "forest ranks first" in text
    assert sorted(p.name for p in path.parent.iterdir()) == ["animals", "demo.md"]
    assert (path.parent / "animals" / "report.html").is_file()
    # One baseline, and examples of the model that won.
    assert len(re.findall(r"^\| .*(?:shares|baseline)", text, re.MULTILINE)) == 1
    assert "## What the best model, forest, predicts" in text
    assert text.count("- predicted: ") == 4
    assert "A single tree is weaker, but people can read it" in text
