"""The demo writes its report to the given path."""

from ramify.apps.cli.showing import write_demo


def test_demo_prints_and_writes_one_report(tmp_path, capsys):
    path = tmp_path / "new" / "demo.md"
    write_demo(path)
    printed = capsys.readouterr().out
    text = path.read_text(encoding="utf-8")
    assert f"Report: {path}" in printed
    assert "| predictive clustering tree |" in text
    assert text.splitlines()[0] in printed
    assert "forest ranks first" in text
    assert sorted(p.name for p in path.parent.iterdir()) == ["animals", "demo.md"]
    assert (path.parent / "animals" / "report.html").is_file()
