"""Commands that look at trees, with a vote and other models made of models."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.support.cli_runs import run
from tests.support.inspection_cases import data_of


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    kinds = ("fish/eel", "fish/carp", "bird/owl")
    rows = [
        f"P{k},{k % 3 + rng.normal() / 4:.2f},{'red' if k % 2 else 'blue'},"
        f"2024-01-{1 + k % 28:02d},"
        f"{kinds[k % 3]}"
        for k in range(60)
    ]
    path = tmp_path_factory.mktemp("members") / "species.csv"
    path.write_text("\n".join(["site,width,colour,day,taxon", *rows]) + "\n", "utf-8")
    return path


@pytest.fixture(scope="module")
def vote(table: Path) -> Path:
    path = table.with_name("vote.ramify")
    members = 'estimators=["gradient-boosting", "forest", "naive-bayes"]'
    train = ("train", table, "-t", "taxon", "-m", "vote", "--set", members, "--folds", 2)
    result = run(*train, "-o", path)
    assert result.exit_code == 0, result.output
    return path


@pytest.mark.parametrize("command", ["tree", "rules", "explain", "explore"])
def test_a_vote_is_shown_by_a_member(
    command: str, vote: Path, table: Path, tmp_path: Path
) -> None:
    more = {"explain": [table, "--row", "P3"], "explore": [table, "-o", tmp_path / "p.html"]}
    result = run(command, vote, *more.get(command, ()))
    assert result.exit_code == 0, result.output
    told = " ".join(result.stderr.split())
    assert "the model has 3 members and is shown by the member forest, which has 33% of" in told
    assert "choose with --member: gradient-boosting, forest, naive-bayes" in told
    if command != "rules":  # which need rows for boosted trees
        chosen = run(command, vote, *more.get(command, ()), "--member", "gradient-boosting")
        assert chosen.exit_code == 0, chosen.output
        assert "by the member gradient-boosting" in " ".join(chosen.stderr.split())


def test_the_page_of_a_vote_has_the_scores_of_the_vote(
    vote: Path, table: Path, tmp_path: Path
) -> None:
    out = tmp_path / "p.html"
    assert run("explore", vote, table, "-o", out).exit_code == 0
    page = data_of(out)
    assert page["note"].startswith("The trees are those of the member forest")
    (answer,) = page["answers"]
    assert answer["about"] == "2-fold cross-validation on 60 rows"


def test_a_vote_reads_dates_and_categories_as_in_training(vote: Path, table: Path) -> None:
    later = table.with_name("later.csv")
    later.write_text("site,width,colour,day\nQ1,1.1,red,2024-02-03\nQ2,0.1,,\n", "utf-8")
    shown = run("predict", vote, later)
    assert shown.exit_code == 0, shown.output
    assert len(shown.stdout.splitlines()) == 2


def test_other_names_are_refused(vote: Path, table: Path) -> None:
    told = run("tree", vote, "--member", "forst")
    assert told.exit_code == 2
    assert (
        "one of gradient-boosting, forest, naive-bayes, got 'forst'. Did you mean" in told.output
    )
    bayes = run("tree", vote, "--member", "naive-bayes")
    assert bayes.exit_code == 2
    assert "must be a tree or a set of trees" in bayes.output
    single = table.with_name("tree.ramify")
    run("train", table, "-t", "taxon", "-m", "tree", "--folds", 0, "-o", single)
    told = run("tree", single, "--member", "forest")
    assert "--member is for models made of others" in " ".join(told.output.split())


def test_export_asks_for_the_member(vote: Path, tmp_path: Path) -> None:
    told = run("export", vote, "-o", tmp_path / "v.onnx")
    assert told.exit_code == 2
    assert "Pass --member forest to export one of them" in " ".join(told.output.split())
