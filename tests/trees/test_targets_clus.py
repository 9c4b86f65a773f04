"""Trees and forests for several targets equal those of CLUS."""

import re

import numpy as np
import pytest

from ramify import PCTMultiTargetClassifier, PCTRegressor
from tests.support.clus_oracle import TINY, read_models, requires_oracle
from tests.support.clus_trees import differences
from tests.support.target_problems import as_printed

pytestmark = requires_oracle


def read_cells(path):
    """Return the rows of a data file as text."""
    _, data = re.split(r"^@DATA\n", path.read_text(), flags=re.MULTILINE)
    return np.array([line.split(",") for line in data.splitlines() if line.strip()], dtype=object)


def predictions(path, model, n_targets):
    """Return the predicted numbers of a .pred.arff file."""
    header, data = re.split(r"^@DATA\n", path.read_text(), flags=re.MULTILINE)
    names = re.findall(r"^@ATTRIBUTE (.*?)  +\S+$", header, flags=re.MULTILINE)
    first = next(i for i, name in enumerate(names) if name.startswith(f"{model}-p-"))
    rows = [line.split(",") for line in data.splitlines() if line.strip()]
    return np.array([row[first : first + n_targets] for row in rows], dtype=float)


@pytest.mark.parametrize(
    ("run", "model", "pruning"),
    [("run_noprune", "Original", None), ("run", "Original", None), ("run", "Pruned", "m5")],
)
def test_regression_trees_equal_those_of_clus(run, model, pruning):
    folder = TINY / "t14_mtr"
    train, test = (read_cells(folder / f"{name}.arff").astype(float) for name in ("train", "test"))
    tree = PCTRegressor(min_weight=2, pruning=pruning, clus_compat=True)
    tree.fit(train[:, :2], train[:, 2:])
    (expected,) = read_models(folder / f"{run}.out")[model]
    printed = as_printed(tree.tree_, ["x1", "x2"], [(), ()], 2)
    assert differences(expected, printed) == []
    for name, rows in (("train.1", train), ("test", test)):
        wanted = predictions(folder / f"{run}.{name}.pred.arff", model, 2)
        np.testing.assert_array_equal(tree.predict(rows[:, :2]), wanted)


@pytest.mark.parametrize(
    ("run", "criterion"),
    [("Default", "entropy"), ("GainRatio", "gain_ratio"), ("VarianceReduction", "gini")],
)
def test_classification_trees_equal_those_of_clus(run, criterion):
    folder = TINY / "t13_mtc"
    train, test = (read_cells(folder / f"{name}.arff") for name in ("train", "test"))
    tree = PCTMultiTargetClassifier(criterion=criterion, min_weight=2, clus_compat=True)
    tree.fit(train[:, :2].astype(float), train[:, 2:])
    (expected,) = read_models(folder / f"run_{run}.out")["Original"]
    printed = as_printed(tree.tree_, ["x1", "x2"], [(), ()], 5, tree.target_classes_)
    assert differences(expected, printed) == []
    lines = (folder / f"run_{run}.test.pred.arff").read_text().split("@DATA\n")[1].splitlines()
    wanted = np.array([line.split(",")[2:4] for line in lines if line.strip()])
    np.testing.assert_array_equal(tree.predict(test[:, :2].astype(float)), wanted)
