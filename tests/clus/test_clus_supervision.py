"""Trees from rows without labels equal those of CLUS with -ssl, test by test.

The golden file has trees that CLUS printed; this file, run as a program, writes it.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import numpy as np
import pytest

from ramify import Hierarchy, PCTClassifier
from tests.support.clus_program import requires_clus, run_clus
from tests.support.clus_trees import TreeNode, parse_tree
from tests.support.engine_trees import branches, category_branches, value

FILE = Path(__file__).parents[1] / "golden" / "clus_supervision.json"
CASES = [
    (seed, part, level) for seed in range(8) for part in (0.0, 0.4, 0.8) for level in (1, 0.05)
]
LABELS = ["1", "1/1", "1/2", "2"]
SETS = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 1], [1, 1, 0, 1]])

SETTINGS = """
[Data]
File = rows.arff
[Attributes]
Descriptive = 1-4
Clustering = 1-5
Target = 5
[Model]
MinimalWeight = 2.0
[Tree]
FTest = {level}
[Hierarchical]
Type = Tree
WType = ExpAvgParentWeight
WParam = 0.75
HSeparator = /
[SemiSupervised]
SemiSupervisedMethod = PCT
PossibleWeights = [{part}]
"""


def rows(seed: int, n: int = 60, n_labelled: int = 20) -> tuple[np.ndarray, np.ndarray]:
    """Return features, the last of them nominal or constant, and labels, most of them unknown."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round(2)
    X[:, 3] = rng.integers(0, 3, n) if seed % 2 else 1
    kind = (
        2 * (X[:, 0] > 0) + (X[:, 1] > 0.3) + rng.integers(0, 4, n) * (rng.random(n) < 0.3)
    ) % 4
    y = SETS[kind].astype(float)
    y[n_labelled:] = np.nan
    return X, y


def as_arff(X: np.ndarray, y: np.ndarray) -> str:
    names = "".join(f"@attribute a{j} numeric\n" for j in range(3))
    lines = [f"@relation rows\n{names}@attribute a3 {{0,1,2}}"]
    lines.append(f"@attribute class hierarchical {','.join(LABELS)}\n@data")
    for x, row in zip(X, y, strict=True):
        ends = [label for label, has in zip(LABELS, row, strict=True) if has == 1 and label != "1"]
        lines.append(",".join([*map(str, x[:3]), str(int(x[3])), "@".join(ends) or "?"]))
    return "\n".join(lines) + "\n"


def tree_of_clus(seed: int, part: float, level: float) -> str:
    """Run CLUS and return the tree that it prints."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder, "run.s")
        settings.write_text(SETTINGS.format(part=part, level=level))
        settings.with_name("rows.arff").write_text(as_arff(*rows(seed)))
        printed = run_clus(settings, "-ssl")
        found = settings.with_suffix(".out")
        assert found.is_file(), printed
        return found.read_text().rpartition("Original Model\n**************\n")[2].strip()


def assert_same(tree, i: int, expected: TreeNode) -> None:
    if expected.test is None:
        assert tree.feature[i] == -1
        if not np.isnan(expected.value).any():  # CLUS prints ? for a leaf without labels
            np.testing.assert_allclose(value(tree, i, 4), expected.value, atol=5e-7)
        return
    assert f"a{tree.feature[i]}" == expected.test.attribute
    children = branches(tree, i)
    if expected.test.kind == "numeric":
        assert tree.threshold[i] == pytest.approx(expected.test.threshold, abs=0.006)
    else:
        taken = category_branches(tree, i)
        values = tuple(str(code) for code, branch in enumerate(taken) if branch == 0)
        if values != expected.test.values:  # the same test with its branches exchanged
            children = children[::-1]
    for child, node in zip(children, expected.branches, strict=True):
        assert_same(tree, child, node)


def golden() -> dict[str, str]:
    found: dict[str, str] = json.loads(FILE.read_text())
    return found


@pytest.mark.parametrize("case", CASES, ids=str)
def test_trees_equal_those_of_clus(case: tuple[int, float, float]) -> None:
    seed, part, level = case
    X, y = rows(seed)
    model = PCTClassifier(
        Hierarchy.from_paths(["1/1", "1/2", "2"]),
        supervision=part,
        f_test=level,
        min_weight=2,
        categorical_features=[3],
        clus_compat=True,
    )
    assert_same(model.fit(X, y).tree_, 0, parse_tree(golden()[str(case)]))


@requires_clus
@pytest.mark.process
def test_the_golden_file_holds_what_clus_prints() -> None:
    some = CASES[::7]
    assert {str(case): tree_of_clus(*case) for case in some} == {
        str(case): golden()[str(case)] for case in some
    }


if __name__ == "__main__":
    FILE.write_text(
        json.dumps({str(case): tree_of_clus(*case) for case in CASES}, indent=1) + "\n"
    )
