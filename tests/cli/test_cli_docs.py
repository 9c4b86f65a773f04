"""The commands of the README, of the tutorial and of docs/command-line.md run as written."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.support.cli_runs import run

ROOT = Path(__file__).parents[2]


def commands(page: str) -> list[str]:
    lines = (ROOT / page).read_text("utf-8").splitlines()
    found = [line[2:].strip() for line in lines if line.startswith(("    ramify ", "$ ramify "))]
    return [line for line in found if not line.startswith("ramify study")]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write the files that the pages name."""
    taxa = ("bird/owl", "bird/duck", "mammal/cat;pet")
    rows = [f"s{k},{k % 7 + k % 3},{k % 5},{taxa[k % 3]}" for k in range(30)]
    for name in ("species", "new", "test"):
        (tmp_path / f"{name}.csv").write_text("\n".join(["name,size,mass,taxon", *rows]), "utf-8")
    rows = [
        f"P{k};{'k.A.' if k == 4 else f'1.00{k % 7},5'};{'A.B' if k % 2 else 'A.C'}|D"
        for k in range(30)
    ]
    (tmp_path / "german.csv").write_text("\n".join(["probe;size;klasse", *rows]), "utf-8")
    products = [
        f"{k},{'pans' if k % 2 else 'pots'},{'51/10' if k % 2 else '51/20'}" for k in range(20)
    ]
    (tmp_path / "products.csv").write_text("\n".join(["price,category,gpc", *products]), "utf-8")
    arff = "@relation r\n@attribute x numeric\n{}\n@data\n{}\n"
    plants = [f"{k % 7},{1 + k % 2},{'ab'[k % 2]}" for k in range(20)]
    dots = [f"{k % 7},{'A.B' if k % 2 else 'A.C'}" for k in range(20)]
    sparse = [f"{{1 {k % 7 + 1}, 2 {'A/B' if k % 2 else 'A/C'}}}" for k in range(20)]
    for name, attributes, lines in (
        ("plants", "@attribute w numeric\n@attribute kind {a,b}", plants),
        ("dots", "@attribute c hierarchical A.B,A.C", dots),
        ("sparse", "@attribute c hierarchical A/B,A/C", sparse),
    ):
        text = arff.format(attributes, "\n".join(lines))
        (tmp_path / f"{name}.arff").write_text(text, "utf-8")
    taxa_2024 = "bird\n  owl\n  duck\nmammal\n  cat\npet\n"
    (tmp_path / "taxa-2024.txt").write_text(taxa_2024, "utf-8")
    (tmp_path / "taxa-2025.txt").write_text(taxa_2024.replace("duck", "goose"), "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("page", "least"), [("README.md", 5), ("docs/command-line.md", 5), ("docs/tutorial.md", 3)]
)
def test_commands_run_as_written(folder: Path, page: str, least: int) -> None:
    listed = commands(page)
    assert len(listed) >= least
    for line in listed:
        words = shlex.split(line, comments=True)[1:]
        # Small models are enough.
        small = ("--set", "n_estimators=3", "--folds", "0") if words[0] == "train" else ()
        result = run(*words, *small)
        assert result.exit_code == 0, f"{line}\n{result.output}"
