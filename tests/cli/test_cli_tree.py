"""``ramify tree``: the tree, its size and its training error."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import f1_score, hamming_loss

from ramify import PCTClassifier, load, save
from ramify.inspection import summarise
from ramify.inspection.tree_paths import training_errors
from tests.support.cli_runs import run


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("tree") / "data.csv"
    rows = [
        f"{a:.3f},{b:.3f},{'A/B' if a + rng.normal() / 3 > 0 else 'A/C'};{'D' if b > 0 else 'E'}"
        for a, b in rng.normal(size=(60, 2))
    ]
    path.write_text("\n".join(["a,b,labels", *rows]), "utf-8")
    return path


@pytest.fixture(scope="module")
def model(data: Path) -> Path:
    out = data.with_name("tree.ramify")
    settings = ("-m", "tree", "--folds", 0, "-s", "max_depth=3")
    assert run("train", data, "-o", out, *settings).exit_code == 0
    return out


def test_tree_prints_the_tree_its_size_and_errors(model: Path) -> None:
    result = run("tree", model)
    assert result.exit_code == 0, result.output
    fitted = load(model)
    lines = result.output.splitlines()
    assert lines[0].endswith("?  60 rows")
    (size,) = (line for line in lines if line.startswith("PCTClassifier: "))
    assert f"{len(fitted.tree_.feature)} nodes" in size
    assert f"{fitted.get_n_leaves()} leaves, depth 3, 60 training rows" in size
    assert lines[-4].split() == ["tree", "default"]
    assert [line.split()[0] for line in lines[-3:]] == [
        "hamming_loss",
        "squared_error",
        "micro_f1",
    ]
    cut = run("tree", model, "--max-depth", 1).output
    assert "below" in cut
    assert cut.splitlines()[-3:] == lines[-3:]


def test_training_errors_equal_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 4))
    Y = (X @ rng.normal(size=(4, 5)) + rng.normal(size=(80, 5)) > 0.4).astype(int)
    tree = PCTClassifier(max_depth=3).fit(X, Y)
    errors = training_errors(summarise(tree).trees[0])
    scores = tree.predict_proba(X)
    default = np.tile(Y.mean(axis=0), (80, 1))
    for at, shares in enumerate((scores, default)):
        answers = (shares >= 0.5).astype(int)
        assert errors["hamming_loss"][at] == pytest.approx(hamming_loss(Y, answers))
        assert errors["squared_error"][at] == pytest.approx(((Y - shares) ** 2).mean())
        expected = f1_score(Y, answers, average="micro")
        assert errors["micro_f1"][at] == pytest.approx(expected)


def test_one_tree_of_a_forest(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "forest.ramify"
    settings = ("--folds", 0, "-s", "n_estimators=3")
    assert run("train", data, "-o", out, *settings).exit_code == 0
    facts = json.loads(run("tree", out, "-n", 2, "--json").output)
    assert (facts["number"], facts["trees"]) == (2, 3)
    assert facts["nodes"] == len(load(out).trees_[1].feature)
    assert facts["errors"]["hamming_loss"]["tree"] < facts["errors"]["hamming_loss"]["default"]
    beyond = run("tree", out, "-n", 4)
    assert beyond.exit_code == 2
    assert "--number must be at most 3, the number of trees of the model, got 4" in beyond.output


@pytest.mark.parametrize(
    "settings",
    [
        ("-m", "gradient-boosting", "-s", "max_iter=2"),
        ("-m", "tree", "-s", "prototype=medoid", "-s", "criterion=jaccard"),
    ],
)
def test_trees_without_frequencies_have_no_training_error(
    data: Path, tmp_path: Path, settings: tuple[str, ...]
) -> None:
    out = tmp_path / "m.ramify"
    trained = run("train", data, "-o", out, "--folds", 0, *settings)
    assert trained.exit_code == 0, trained.output
    shown = run("tree", out)
    assert shown.exit_code == 0, shown.output
    assert "training rows" in shown.output
    assert "hamming_loss" not in shown.output


def test_a_model_without_trees(tmp_path: Path) -> None:
    save(PCTClassifier(), tmp_path / "new.ramify")
    refused = run("tree", tmp_path / "new.ramify")
    assert refused.exit_code == 2
    assert "is not fitted yet" in refused.output
