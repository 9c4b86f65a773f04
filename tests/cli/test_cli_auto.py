"""``ramify train --model auto``: the comparison, its report and its limits."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ramify import load, load_animals
from ramify.metrics import pooled_auprc
from tests.support.cli_runs import run


@pytest.fixture(scope="module")
def animals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = load_animals(as_frame=True)
    frame = data.X.copy()
    frame["taxon"] = [";".join(labels) for labels in data.hierarchy.decode(data.y)]
    path = tmp_path_factory.mktemp("auto") / "animals.csv"
    frame.to_csv(path, index=False)
    return path


def test_the_comparison_is_printed_and_the_winner_saved(animals: Path, tmp_path: Path) -> None:
    out = tmp_path / "m.ramify"
    command = ("train", animals, "-t", "taxon", "-o", out, "-m", "auto", "--folds", 2)
    printed = run(*command)
    assert printed.exit_code == 0, printed.output
    assert "Models compared on 2 folds" in printed.output
    for name in ("label shares", "tree", "extra trees", "forest", "blend"):
        assert f"│ {name} " in printed.output
    facts = json.loads(run(*command, "--json").output)
    assert facts["reason"].startswith(f"{facts['chosen']} has the highest pooled_auprc over 2")
    means = [trial["pooled_auprc"] for trial in facts["compared"]]
    assert means == sorted(means, reverse=True)
    assert facts["compared"][0]["name"] == facts["chosen"]
    assert np.mean(facts["scores"]["pooled_auprc"]) == pytest.approx(means[0])
    (shares,) = (one for one in facts["compared"] if one["name"] == "label shares")
    assert facts["baseline"]["pooled_auprc"] == pytest.approx(shares["pooled_auprc"])
    model = load(out)
    assert type(model).__name__ == facts["model"]
    data = load_animals()
    assert pooled_auprc(data.y, model.predict_proba(data.X)) > means[0]
    assert run("predict", out, animals).exit_code == 0


def test_scores_are_those_of_training_the_same_model(animals: Path, tmp_path: Path) -> None:
    command = ("train", animals, "-t", "taxon", "-o", tmp_path / "m", "--folds", 2, "--json")
    facts = json.loads(run(*command, "-m", "auto").output)
    (found,) = (one for one in facts["compared"] if one["name"] == "forest")
    forest = json.loads(run(*command, "-m", "forest").output)
    assert found["pooled_auprc"] == pytest.approx(np.mean(forest["scores"]["pooled_auprc"]))
    for measure, value in forest["baseline"].items():
        assert facts["baseline"][measure] == pytest.approx(value)


def test_without_time_the_tree_is_saved(animals: Path, tmp_path: Path) -> None:
    out = tmp_path / "m"
    result = run("train", animals, "-t", "taxon", "-o", out, "-m", "auto", "--time-limit", 0)
    assert result.exit_code == 0, result.output
    assert "chosen: tree is the first candidate; there was no time" in result.output
    assert type(load(out)).__name__ == "PCTClassifier"
    facts = json.loads(
        run(
            *("train", animals, "-t", "taxon", "-o", out, "-m", "auto", "--time-limit", 0),
            "--json",
        ).output
    )
    assert facts["scores"] == {}
    notes = {one["name"]: one["note"] for one in facts["compared"]}
    assert notes.pop("tree") == ""
    assert set(notes.values()) == {"not tried: there was no time to compare models"}


def test_an_interrupt_saves_nothing(
    animals: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "m"
    out.write_text("old")

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ramify.model_selection.choosing.fit_wrapped", interrupt)
    result = run("train", animals, "-t", "taxon", "-o", out, "-m", "auto", "--time-limit", 0)
    assert result.exit_code == 130
    assert out.read_text() == "old"
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.parametrize("n_rows", [1, 3, 8])
def test_tiny_tables_levels_empty_labels_and_dags(tmp_path: Path, n_rows: int) -> None:
    rows = range(n_rows)
    levels = pd.DataFrame(
        {"x": rows, "top": ["a" if k % 2 else "b" for k in rows], "low": ["c"] * n_rows}
    )
    levels.to_csv(tmp_path / "levels.csv", index=False)
    (tmp_path / "dag.csv").write_text("parent,child\n,a\n,b\na,c\nb,c\n")
    labels = [["c", "a;b", "", "b"][k % 4] for k in rows]
    pd.DataFrame({"x": rows, "y": labels}).to_csv(tmp_path / "sets.csv", index=False)
    for arguments in (
        (tmp_path / "levels.csv", "-t", "top", "-t", "low"),
        (tmp_path / "sets.csv", "-t", "y", "-H", tmp_path / "dag.csv"),
    ):
        out = tmp_path / "m"
        result = run("train", *arguments, "-o", out, "-m", "auto")
        assert result.exit_code == 0, result.output
        assert run("predict", out, arguments[0]).exit_code == 0
        out.unlink()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-m", "auto", "-s", "max_depth=3"], "--set max_depth=3 cannot be combined"),
        (["-m", "auto", "--folds", 0], "--folds must be at least 2 with --model auto, got 0"),
        (["-m", "tree", "--time-limit", 5], "--time-limit 5 requires --model auto, got tree"),
    ],
)
def test_options_without_effect_are_refused(
    animals: Path, tmp_path: Path, arguments: list[object], message: str
) -> None:
    result = run("train", animals, "-t", "taxon", "-o", tmp_path / "m", *arguments)
    assert result.exit_code == 2
    assert message in result.output
    assert not (tmp_path / "m").exists()
