"""A model file says how well the model predicts, as measured when it was trained."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from ramify import PCTClassifier, load
from ramify.apps.predicting import remembered_performance
from ramify.inspection.page.performance import LabelCounts, Performance
from ramify.saving import ModelFileError
from ramify.saving.model import save_with_settings
from tests.support.cli_runs import run

GOOD = {
    "rows": 9,
    "folds": 3,
    "values": {"mean_auprc": 0.5, "pooled_auprc": None},
    "baseline": {"mean_auprc": 0.25, "pooled_auprc": 0},
    "label_rows": [7, 2],
    "counts": {"rows": [7, 2], "predicted": [8, 0], "right": [6, 0]},
}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    kinds = ("a/x", "a/y", "b")
    rows = [f"{k % 3 + rng.normal() / 2:.2f},{kinds[k % 3]}" for k in range(60)]
    path = tmp_path / "d.csv"
    path.write_text("\n".join(["size,kind", *rows]) + "\n", "utf-8")
    return path


def test_training_stores_the_scores_that_it_prints(table: Path) -> None:
    out = table.with_name("m.ramify")
    result = run("train", table, "-t", "kind", "-m", "tree", "--folds", 3, "-o", out, "--json")
    facts = json.loads(result.stdout)
    found = remembered_performance(out, load(out).hierarchy_)
    assert found is not None
    assert (found.n_rows, found.n_folds) == (60, 3)
    assert found.baseline == facts["baseline"]
    assert found.values["pooled_auprc"] == np.mean(facts["scores"]["pooled_auprc"])
    assert found.label_rows.tolist() == [40, 20, 20, 20]
    assert found.counts is not None
    assert found.counts.rows.tolist() == [40, 20, 20, 20]
    assert (found.counts.right <= found.counts.predicted).all()
    assert 30 < found.counts.right[0] <= 40


def test_without_test_rows_only_the_labels_are_counted(table: Path) -> None:
    out = table.with_name("m.ramify")
    assert run("train", table, "-t", "kind", "--folds", 0, "-o", out).exit_code == 0
    found = remembered_performance(out, load(out).hierarchy_)
    assert found is not None
    assert (found.n_folds, dict(found.values), found.counts) == (0, {}, None)
    assert found.label_rows.tolist() == [40, 20, 20, 20]


def test_labels_are_counted() -> None:
    truth = sparse.csr_array(np.array([[1, 0], [1, 1], [0, 0]], dtype=np.int32))
    chosen = sparse.csr_array(np.array([[1, 1], [0, 1], [0, 0]], dtype=np.int32))
    found = LabelCounts.of(truth, chosen) + LabelCounts.of(truth, truth)
    assert found.rows.tolist() == [4, 2]
    assert found.predicted.tolist() == [3, 3]
    assert found.right.tolist() == [3, 2]


def test_what_is_written_is_read() -> None:
    assert Performance.from_dict(GOOD, 2).to_dict() == GOOD


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rows": "9"}, "rows must be whole numbers"),
        ({"rows": True}, "rows must be whole numbers"),
        ({"folds": 10}, "folds must be whole numbers from 0 to 9"),
        ({"values": {"accuracy": 1}}, "values must have values of pooled_auprc"),
        ({"values": {"mean_auprc": 1.5}}, "values must be numbers from 0 to 1"),
        ({"values": {"mean_auprc": float("nan")}}, "values must be numbers from 0 to 1"),
        ({"values": {}}, "must have the same measures"),
        ({"label_rows": [7]}, "label_rows must be whole numbers"),
        ({"label_rows": [7, 10]}, "label_rows must be whole numbers from 0 to 9"),
        ({"counts": {"rows": [7, 2]}}, "counts must have rows, predicted, right"),
        (
            {"counts": {"rows": [7, 2], "predicted": [8, 0], "right": [6, 1]}},
            "right must not exceed",
        ),
        ({"more": 1}, "performance must have rows, folds"),
    ],
)
def test_other_content_is_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Performance.from_dict({**GOOD, **changes}, 2)


def test_a_model_file_with_other_content_is_refused(tmp_path: Path) -> None:
    tree = PCTClassifier().fit([[1.0], [2.0]], ["a", "b"])
    path = tmp_path / "m.ramify"
    save_with_settings(tree, path, {}, {**GOOD, "rows": -1})
    with pytest.raises(ModelFileError, match=r"m.ramify is not a valid ramify model file: rows"):
        remembered_performance(path, tree.hierarchy_)
    save_with_settings(tree, path, {})
    assert remembered_performance(path, tree.hierarchy_) is None


def test_evaluate_recognises_the_training_rows(table: Path) -> None:
    out = table.with_name("m.ramify")
    assert run("train", table, "-t", "kind", "--folds", 3, "-o", out).exit_code == 0
    told = run("evaluate", out, table, "--json")
    assert json.loads(told.stdout)["of_training"] is True
    words = " ".join(told.stderr.split())
    assert "these are the rows that the model was trained on" in words
    assert "In 3-fold cross-validation: pooled AU(PRC) 0." in words
    part = table.with_name("part.csv")
    part.write_text("\n".join(table.read_text("utf-8").splitlines()[:-1]), "utf-8")
    told = run("evaluate", out, part, "--json")
    assert json.loads(told.stdout)["of_training"] is False
    assert "trained on" not in told.stderr


def test_labels_that_differ_from_the_training_rows_are_named(table: Path) -> None:
    out, other = table.with_name("m.ramify"), table.with_name("new.csv")
    assert run("train", table, "-t", "kind", "-m", "tree", "--folds", 3, "-o", out).exit_code == 0
    other.write_text("size,kind\n" + "2,b\n" * 50 + "1,a/y\n" * 10, "utf-8")
    folder = table.with_name("results")
    result = run("evaluate", out, other, "-t", "kind", "-o", folder)
    assert "Labels that differ from the training rows: 3" in result.output
    assert "b      frequency  0.333     0.833" in result.output
    assert (folder / "drift.csv").read_text("utf-8").startswith("label,measure,before,after,")
    facts = json.loads(run("evaluate", out, other, "-t", "kind", "--json").stdout)
    assert {row["label"] for row in facts["drift"]} == {"a", "a/x", "b"}
    strict = ("evaluate", out, other, "-t", "kind", "--threshold", 0.99, "--json")
    assert {row["measure"] for row in json.loads(run(*strict).stdout)["drift"]} == {"frequency"}
    assert "differ from the training" not in run("evaluate", out, table, "-t", "kind").output
