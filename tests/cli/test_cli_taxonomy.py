"""The command `ramify taxonomy diff`."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from ramify import Hierarchy, LabelMapping, load
from tests.support.cli_runs import run

OLD = "shop\n  audio\n    radios\n    speakers\n  phones\ngarden\n"
NEW = "parent,child\nroot,shop\nshop,sound\nsound,radios\nsound,speakers\nroot,phones\n"
OBO = "format-version: 1.2\ndata-version: {}\n\n[Term]\nid: P:1\nname: {}\n"


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    old, new = tmp_path / "old.txt", tmp_path / "new.csv"
    old.write_text(OLD)
    new.write_text(NEW)
    return old, new


def test_changes_are_printed_and_written(files: tuple[Path, Path], tmp_path: Path) -> None:
    old, new = files
    out, plot = tmp_path / "mapping.csv", tmp_path / "changes.png"
    result = run("taxonomy", "diff", old, new, "-o", out, "--plot", plot)
    assert result.exit_code == 0, result.output
    assert "old.txt: 6 labels" in result.output
    assert "  audio → sound  (proposed: children" in result.output
    assert "moved (1)\n  phones: from shop to the top" in result.output
    assert "removed (1)\n  garden" in result.output
    assert "Check the mapping" in result.output
    before, after = Hierarchy.from_text(OLD), Hierarchy.from_edges(
        [line.split(",") for line in NEW.splitlines()[1:]], root="root"
    )  # fmt: skip
    mapping = LabelMapping.read(out, before, after)
    assert mapping.successors("audio") == ("sound",)
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_rows_of_a_table_are_counted(files: tuple[Path, Path], tmp_path: Path) -> None:
    table = tmp_path / "rows.csv"
    table.write_text("x,labels\n1,radios\n2,radios\n3,garden\n")
    result = run("taxonomy", "diff", *files, "--rows", table, "--json")
    assert result.exit_code == 0, result.output
    facts = json.loads(result.output)
    counts = {tuple(c["old"]): c["n_rows"] for c in facts["changes"]}
    assert counts[("audio",)] == 2
    assert counts[("garden",)] == 1
    assert facts["counts"]["removed"] == 1


def test_ontologies_have_names_and_versions(tmp_path: Path) -> None:
    paths = [tmp_path / "v1.obo", tmp_path / "v2.obo"]
    for path, name in zip(paths, ("cat", "house cat"), strict=True):
        path.write_text(OBO.format(path.stem, name))
    result = run("taxonomy", "diff", *paths)
    assert result.exit_code == 0, result.output
    assert "v1.obo (v1): 1 label" in result.output
    assert "P:1 cat: now house cat" in result.output


def test_a_model_is_carried_over(files: tuple[Path, Path], tmp_path: Path) -> None:
    rows, model, mapping = tmp_path / "rows.csv", tmp_path / "old.ramify", tmp_path / "m.csv"
    rows.write_text("x,labels\n" + "".join(f"{k},{x}\n" for k, x in enumerate(
        ["radios", "radios", "speakers", "speakers", "garden", "garden", "phones", "phones"]
    )))  # fmt: skip
    old, new = files
    run("train", rows, "--hierarchy", old, "--model", "tree", "--folds", 0, "-o", model)
    run("taxonomy", "diff", old, new, "-o", mapping)
    result = run("taxonomy", "carry", model, new, "-m", mapping, "-o", tmp_path / "new.ramify")
    assert result.exit_code == 0, result.output
    assert "remapped: 2 labels ('shop', 'sound')" in " ".join(result.output.split())
    carried = load(tmp_path / "new.ramify")
    labels = carried.hierarchy_.decode(carried.predict(pd.DataFrame({"x": [0.0, 7.0]})))
    assert labels == [("radios",), ("phones",)]
    result = run("taxonomy", "carry", model, new, "-o", tmp_path / "plain.ramify", "--json")
    assert json.loads(result.output)["labels"]["sound"] == "remapped"
    assert run("predict", tmp_path / "new.ramify", rows).exit_code == 0
    rows.write_text(rows.read_text().replace("garden", "sound"))
    arguments = ("-m", mapping, "--rows", rows, "--relearn", "all", "--json")
    result = run("taxonomy", "carry", model, new, *arguments, "-o", tmp_path / "again.ramify")
    assert result.exit_code == 0, result.output
    assert set(json.loads(result.output)["labels"].values()) == {"relearnt"}
    for arguments, message in (
        (("--rows", rows, "--relearn", "some"), "--relearn must be one of 'changed', 'all'"),
        (("--relearn", "all"), "--relearn all requires --rows"),
    ):
        result = run("taxonomy", "carry", model, new, *arguments, "-o", tmp_path / "no.ramify")
        assert (result.exit_code, message in " ".join(result.output.split())) == (2, True)
    rows.write_text(rows.read_text().replace("speakers", "speeches"))
    result = run("taxonomy", "carry", model, new, "--rows", rows, "-o", tmp_path / "no.ramify")
    assert "unknown label 'speeches'" in " ".join(result.output.split())
    assert "--ignore-unknown" not in result.output  # which is not an option of carry


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("old.txt", "none.csv"), "does not exist"),
        (("old.txt", "new.csv", "-o", "old.txt"), "--out must not be an input file"),
        (("old.txt", "new.csv", "-o", "missing/map.csv"), "must be in an existing folder"),
        (("old.txt", "bad.csv"), "expected a parent and a child"),
        (("old.txt", "new.csv", "--plot", "old.txt"), "--plot must not be an input file"),
        (("old.txt", "new.csv", "-o", "m.csv", "--plot", "p.xyz"), "--plot must end in .png"),
        (("old.txt", "new.csv", "-o", "p.png", "--plot", "p.png"), "another file than --out"),
    ],
)
def test_mistakes(
    arguments: tuple[str, ...], message: str, files: object, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    Path("bad.csv").write_text("a,b,c\n")
    result = run("taxonomy", "diff", *arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())
    assert not {path.name for path in tmp_path.iterdir()} - {"old.txt", "new.csv", "bad.csv"}


def test_a_crosswalk_is_learnt_from_rows_with_labels_of_two_taxonomies(tmp_path: Path) -> None:
    table, out = tmp_path / "rows.csv", tmp_path / "mapping.csv"
    rows = ["1,Toys > Dolls,play/figures"] * 9 + ["2,Toys > Cars,play/vehicles"] * 8 + ["3,Books,"]
    table.write_text("\n".join(["price,ours,theirs", *rows]) + "\n")
    command = ("taxonomy", "crosswalk", table, "--from", "ours", "--to", "theirs")
    result = run(*command, "-o", out)
    assert result.exit_code == 0, result.output
    assert "17 rows with labels of both" in result.output
    old = Hierarchy.from_paths(["Toys > Dolls", "Toys > Cars", "Books"], " > ")
    new = Hierarchy.from_paths(["play/figures", "play/vehicles"])
    mapping = LabelMapping.read(out, old, new)
    assert mapping.successors("Toys > Dolls") == ("play/figures",)
    assert mapping.successors("Toys") == ("play",)
    facts = json.loads(run(*command, "--json").stdout)
    assert facts["mapping"][0]["old"] == "Toys"
    assert {row["rows"] for row in facts["pairs"]} == {8, 9, 17}
