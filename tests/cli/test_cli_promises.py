"""Promises about errors on the command line."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

import ramify
from tests.support.cli_runs import run

pandas = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = ramify.make_hierarchical_classification(
        1000, 5, n_labels=12, labels_per_row=1, noise=0.8, random_state=0
    )
    frame = pandas.DataFrame(data.X, columns=[f"x{k}" for k in range(5)])
    frame["kind"] = [labels[0] for labels in data.hierarchy.decode(data.y)]
    frame["site"] = [k // 3 for k in range(len(frame))]
    path = tmp_path_factory.mktemp("promises") / "kinds.csv"
    frame[:600].to_csv(path, index=False)
    frame[600:].to_csv(path.with_name("new.csv"), index=False)
    return path


@pytest.fixture(scope="module")
def model(table: Path) -> Path:
    path = table.with_name("careful.ramify")
    done = run(
        "train",
        table,
        "--target",
        "kind",
        "--max-error",
        0.1,
        "--drop",
        "site",
        "--folds",
        2,
        "-o",
        path,
    )
    assert done.exit_code == 0, done.output
    text = " ".join(done.output.split())
    assert "Promise: at most 0.1 of the answers are wrong, on average, by 150 rows that" in text
    assert "0.05 rows with an answer down to level 1" in text
    assert "SelectiveClassifier, fitted on the other rows" in text
    return path


def answers(model: Path, table: Path, *options: object) -> list[str]:
    out = table.with_name("answers.csv")
    done = run("predict", model, table, "-o", out, *options)
    assert done.exit_code == 0, done.output
    found = pandas.read_csv(out, keep_default_na=False)["kind"].tolist()
    if "" in found:
        assert "Pass a larger --max-error" in " ".join(done.output.split())
    return [str(one) for one in found]


def test_answers_keep_the_promise_of_the_model_or_another(model: Path, table: Path) -> None:
    careful = ramify.load(model)
    X = pandas.read_csv(table)[[f"x{k}" for k in range(5)]]
    decode = careful.hierarchy_.decode
    for share in (0.1, 0.02, 0.4):
        options = () if share == 0.1 else ("--max-error", share)
        expected = [row[0] if row else "" for row in decode(careful.predict(X, max_error=share))]
        assert answers(model, table, *options) == expected
    strict = answers(model, table, "--max-error", 0.02)
    assert strict.count("") > answers(model, table, "--max-error", 0.4).count("")


def test_other_commands_take_the_promise(model: Path, table: Path) -> None:
    assert run("evaluate", model, table, "--max-error", 0.3).exit_code == 0
    assert "tree 1" in run("tree", model).output


def test_evaluate_prints_how_specific_answers_are(model: Path, table: Path) -> None:
    done = run("evaluate", model, table, "--json")
    found = {row["promise"]: row for row in json.loads(done.stdout)["answers"]}
    careful = ramify.load(model)
    X = pandas.read_csv(table)[[f"x{k}" for k in range(5)]]
    for share in (0.01, 0.05, 0.1):
        depths = careful.answer_depths(X, [share])[0]
        assert [found[share][f"level {k}"] for k in (1, 2, 3)] == pytest.approx(depths[:3])
    assert found[0.01]["wrong"] <= found[0.1]["wrong"] <= 0.1
    folder = table.with_name("evaluated")
    text = run("evaluate", model, table, "-o", folder).output
    if importlib.util.find_spec("matplotlib"):
        assert {"answers.png", "calibration.png"} <= {file.name for file in folder.iterdir()}
    assert "by the promise of the model" in " ".join(text.split())


def test_evaluate_describes_answers_of_models_without_a_promise(table: Path) -> None:
    path = table.with_name("unpromised.ramify")
    run("train", table, "--target", "kind", "--drop", "site", "--folds", 0, "-o", path)
    found = json.loads(run("evaluate", path, table, "--json").stdout)["answers"]
    assert [row["errors"] for row in found] == [0.01, 0.05, 0.1]
    assert "train a model with --max-error" in run("evaluate", path, table).output


def test_evaluate_scores_rows_once_for_all_promises(
    model: Path, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scored = []
    score = ramify.SelectiveClassifier._predict_scores

    def counted(self: ramify.SelectiveClassifier, X: Any) -> Any:
        scored.append(len(X))
        return score(self, X)

    monkeypatch.setattr(ramify.SelectiveClassifier, "_predict_scores", counted)
    assert run("evaluate", model, table, "--json").exit_code == 0
    assert scored == [600, 600]  # probabilities, and the label sets of `predict`


def test_evaluate_writes_valid_json_if_the_surest_answer_is_wrong(table: Path) -> None:
    path, one = table.with_name("unpromised.ramify"), table.with_name("one.csv")
    run("train", table, "--target", "kind", "--drop", "site", "--folds", 0, "-o", path)
    rows = pandas.read_csv(table)
    found = ramify.load(path).predict_proba(rows[[f"x{k}" for k in range(5)]][:1])[0]
    classes = ramify.load(path).classes_
    other = min(
        (str(label) for label in classes if "/" not in label),
        key=lambda label: found[list(classes).index(label)],
    )
    rows[:1].assign(kind=other).to_csv(one, index=False)

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    done = run("evaluate", path, one, "--json")
    facts = json.loads(done.stdout, parse_constant=refuse)
    assert [row["threshold"] for row in facts["answers"]] == [None, None, None]


def test_rows_unlike_those_of_the_calibration_are_named(model: Path, table: Path) -> None:
    new = table.with_name("new.csv")
    frame = pandas.read_csv(new)
    frame[[f"x{k}" for k in range(5)]] *= 20
    other = table.with_name("other.csv")
    frame.to_csv(other, index=False)
    out = table.with_name("shifted.csv")
    for arguments in (("predict", model, other, "-o", out), ("evaluate", model, other)):
        text = " ".join(run(*arguments).output.split())
        assert "so the promise may not hold" in text
    alike = run("predict", model, new, "-o", out).output
    assert "may not hold" not in alike


def test_answers_are_not_compared_with_those_of_smaller_calibrations(
    model: Path, table: Path
) -> None:
    frame = pandas.read_csv(table.with_name("new.csv"))
    frame["kind"] = frame["kind"].to_numpy()[::-1]  # so that most answers are wrong
    other = table.with_name("wrong.csv")
    frame[frame["kind"] != frame["kind"][0]].to_csv(other, index=False)
    facts = json.loads(run("evaluate", model, other, "--json").stdout)
    assert {row["measure"] for row in facts["drift"]} == {"frequency"}


def test_groups_are_kept_together(table: Path) -> None:
    path = table.with_name("grouped.ramify")
    done = run(
        "train",
        table,
        "--target",
        "kind",
        "--max-error",
        0.2,
        "--groups",
        "site",
        "--folds",
        0,
        "-o",
        path,
    )
    assert done.exit_code == 0, done.output
    assert ramify.load(path).promise_.n_units == 50


def test_a_promise_and_a_threshold_are_refused_together(model: Path, table: Path) -> None:
    out = table.with_name("thresholds.csv")
    both = ("--max-error", 0.1, "--threshold", 0.5)
    for arguments in (("predict", model, table, "-o", out), ("evaluate", model, table)):
        done = run(*arguments, *both)
        text = " ".join(done.output.split())
        assert "--max-error 0.1 chooses the thresholds that --threshold 0.5 replaces" in text
    assert not out.exists()
    high = run("predict", model, table, "-o", out, "--threshold", 1)
    assert "Pass a larger --max-error" not in " ".join(high.output.split())


def test_models_without_a_promise_are_named(table: Path) -> None:
    path = table.with_name("plain.ramify")
    made = run("train", table, "--target", "kind", "-m", "forest", "--folds", 0, "-o", path)
    assert made.exit_code == 0
    done = run("predict", path, table, "--max-error", 0.1)
    assert done.exit_code == 2
    text = " ".join(done.output.split())
    assert "--max-error requires a model that was calibrated, got a PCTForestClassifier" in text
    auto = run("train", table, "--target", "kind", "--model", "auto", "--max-error", 0.1)
    assert "cannot be combined with --model auto" in " ".join(auto.output.split())
