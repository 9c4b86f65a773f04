"""The code that ``ramify clus --explain`` prints runs, and learns the models of CLUS."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ramify
from ramify.apps.clus.explaining import explain
from ramify.apps.clus.learning import learn
from ramify.apps.clus.problem import check_run, read_problem
from ramify.clus import SettingsError, Switches, UnsupportedOptionError, read_settings
from tests.support.clus_cases import Case, all_cases
from tests.support.clus_oracle import read_measures, read_models, requires_oracle
from tests.support.clus_trees import differences
from tests.support.engine_trees import as_printed

MULTI_TARGET = [case for case in all_cases() if case.folder[:3] in ("t13", "t14")]
CASES = [case for case in all_cases() if case not in MULTI_TARGET]
requires_multi_target = pytest.mark.skipif(
    not hasattr(ramify, "PCTRegressor"), reason="no trees for several targets"
)
DATA = """@relation pets
@attribute id key
@attribute size numeric
@attribute colour {white,brown}
@attribute weight numeric
@attribute class hierarchical bird,bird/owl,mammal,mammal/cat,mammal/cat/lion
@data
a,1,white,3,bird/owl
b,2,white,4,bird/owl
c,3,brown,5,bird
d,7,brown,2,mammal/cat
e,8,white,4,mammal/cat/lion
f,9,brown,1,mammal
g,9,white,1,mammal
"""


@pytest.fixture
def pets(tmp_path: Path):
    def written(text: str = "", data: str = DATA) -> Path:
        (tmp_path / "pets.arff").write_text(data)
        (tmp_path / "run.s").write_text(f"[Data]\nFile = pets.arff\n{text}")
        return tmp_path / "run.s"

    return written


def explained(path: Path, **switches: Any) -> str:
    chosen = Switches(**switches)
    return explain(read_settings(path).supported(chosen), chosen)


def executed(code: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(code, names)
    return names


@requires_oracle
@pytest.mark.filterwarnings("ignore:.*were drawn by every tree")
@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_code_learns_the_models_of_clus(case: Case) -> None:
    is_forest = "Ensemble" in case.settings
    made = executed(explained(case.path(".s"), forest=is_forest))
    model = made["model"]
    trees = model.trees_ if is_forest else [model.tree_]
    printed = read_models(case.path(".out"))
    pruned = "Pruned" in printed and getattr(model, "pruning", None) is not None
    (name,) = (
        (name for name in printed if name.startswith("Forest"))
        if is_forest
        else (("Pruned",) if pruned else ("Original",))
    )
    for expected, tree in zip(printed[name], trees, strict=True):
        grown = as_printed(
            tree,
            [a.name for a in case.train.attributes],
            [a.values for a in case.train.attributes],
            [model.hierarchy_.index(label) for label in case.labels],
            multilabel=not case.is_hierarchical,
            nary=model.nominal_tests == "nary",
        )
        assert differences(expected, grown) == []


@requires_oracle
@pytest.mark.parametrize("run", ["run", "run_recall"])
def test_the_code_prints_the_measures_of_clus(run: str, capsys) -> None:
    case = Case("t01_tree_numeric", run)
    executed(explained(case.path(".s")))
    printed = dict(re.findall(r"^(\w+ \w+) (\S+)$", capsys.readouterr().out, flags=re.MULTILINE))
    names = {"auroc": "mean_auroc", "auprc": "mean_auprc", "auprc_pooled": "pooled_auprc"}
    for part, models in read_measures(case.path(".out")).items():
        for ours, theirs in names.items():
            expected = models["Original"][ours]
            assert float(printed[f"{part} {theirs}"]) == pytest.approx(expected, abs=1e-12)


@requires_oracle
@requires_multi_target
@pytest.mark.parametrize("case", MULTI_TARGET, ids=str)
def test_the_code_for_several_targets_predicts_as_clus(case: Case) -> None:
    made = executed(explained(case.path(".s")))
    model, test, columns, targets = (made[n] for n in ("model", "test", "columns", "targets"))
    name = "Original" if case.option("Tree", "PruningMethod") == "None" else "Pruned"
    expected = predicted_columns(case.path(".test.pred.arff"), name)
    found = model.predict(test.X.iloc[:, columns])
    for i, target in enumerate(test.X.columns[targets]):
        if case.is_nominal:
            assert found[:, i].tolist() == expected[target]
        else:
            np.testing.assert_allclose(found[:, i], np.array(expected[target], float), rtol=1e-12)


def predicted_columns(path: Path, model: str) -> dict[str, list[str]]:
    """Read the predictions of a model for every target from a .pred.arff file."""
    header, _, rows = path.read_text().partition("@DATA\n")
    names = re.findall(r"^@ATTRIBUTE (\S+)", header, flags=re.MULTILINE)
    cells = zip(*(row.split(",") for row in rows.splitlines() if row), strict=True)
    table = dict(zip(names, cells, strict=True))
    start = f"{model}-p-"
    return {n.removeprefix(start): list(c) for n, c in table.items() if n.startswith(start)}


# ---- the code and the run do the same -------------------------------------------------------

FLAT = """@relation flowers
@attribute size numeric
@attribute colour {red,blue,white}
@attribute width numeric
@attribute first FIRST
@attribute second SECOND
@data
"""
KINDS = {
    "hierarchical": ("@attribute class hierarchical a,a/b,a/c,d,d/e", ("a/b", "a/c", "d/e", "d")),
    "multilabel": ("{0,1}", ("1", "0")),
    "nominal": ("{p,q,r}", ("p", "q", "r")),
    "numeric": ("numeric", ("0.5", "2", "7.25")),
}
HSEPARATOR = "[Hierarchical]\nHSeparator = /\nType = Tree\n"


def flowers(kind: str) -> str:
    """Return a data file of 60 rows with targets of a kind."""
    random = np.random.default_rng(3)
    declared, values = KINDS[kind]
    header = FLAT.replace("FIRST", declared).replace("SECOND", declared)
    if kind == "hierarchical":
        header = f"{FLAT.partition('@attribute first')[0]}{declared}\n@data\n"
    rows = []
    for size, width in random.integers(0, 9, (60, 2)):
        colour = ("red", "blue", "white")[random.integers(3)]
        found = [
            values[int(size + width + random.integers(2)) % len(values)],
            values[int(size > 4 or colour == "red") % len(values)],
        ]
        rows.append(",".join([str(size), colour, str(width), *found[: 1 + (kind[0] != "h")]]))
    return header + "\n".join(rows) + "\n"


SHARED = [
    "",
    "[Model]\nMinimalWeight = 5\n[Constraints]\nMaxDepth = 3\n",
    "[Tree]\nSplitPosition = Middle\nBinarySplit = No\n",
    "[Model]\nNominalSubsetTests = No\n",
]
F_TEST = ["[Tree]\nFTest = 0.05\n", "[Tree]\nHeuristic = VarianceReduction\nFTest = 0.1\n"]
WEIGHTED = "[Attributes]\nTarget = 4,5\nWeights = [1,3]\nClusteringWeights = [2,1]\n"
TREES = {
    "hierarchical": [
        *(*SHARED, *F_TEST, "[Tree]\nFTest = [0.5,0.05,0.001]\n"),
        *("[Hierarchical]\nWParam = 0.5\nWType = ExpMinParentWeight\nMEstimate = Yes\n",),
        *("[Hierarchical]\nWType = NoWeight\n", "[Model]\nMinimalNumberExamples = 2\n"),
    ],
    "multilabel": [*SHARED, *F_TEST, "[Tree]\nHeuristic = GainRatio\n"],
    "nominal": [*SHARED, *F_TEST, "[Tree]\nPruningMethod = None\n", WEIGHTED],
    "numeric": [*SHARED, *F_TEST, "[Tree]\nM5PruningMult = 0.5\n", WEIGHTED],
}
FORESTS = [
    "[Ensemble]\nIterations = 3\nBagSize = 40\n[General]\nRandomSeed = 5\n",
    "[Ensemble]\nIterations = [2,3]\nEnsembleMethod = RForest\nSelectRandomSubspaces = LOG\n",
    "[Ensemble]\nIterations = 3\nEnsembleMethod = RForest\nSelectRandomSubspaces = 0.4\n"
    "[Tree]\nHeuristic = VarianceReduction\nFTest = 0.2\n",
]
RUNS = [(kind, text, False) for kind, texts in TREES.items() for text in texts]
RUNS += [(kind, text, True) for kind in TREES for text in FORESTS]


@pytest.mark.filterwarnings("ignore:.*were drawn by every tree")
@pytest.mark.parametrize(("kind", "text", "forest"), RUNS)
def test_the_code_learns_what_the_run_learns(pets, kind, text, forest):
    targets = "" if kind == "hierarchical" or "Target" in text else "[Attributes]\nTarget = 4,5\n"
    before = HSEPARATOR if kind == "hierarchical" else targets
    path = pets(f"{before}{text}", flowers(kind))
    switches = Switches(forest=forest)
    settings = read_settings(path).supported(switches)
    problem = read_problem(settings, switches)
    check_run(problem)
    expected = learn(problem, problem.train, problem.prune).models[-1].trees
    model = executed(explain(settings, switches))["model"]
    found = model.trees_ if forest else [model.tree_]
    for one, other in zip(expected, found, strict=True):
        for name in ("feature", "threshold", "child", "weight", "category_branch"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)


def test_every_option_is_explained_with_its_line(pets):
    text = explained(pets("[Tree]\nFTest = 0.05\n[General]\nVerbose = 0\n"))
    assert "# [Data] File = pets.arff (line 2): ARFF file of the training rows." in text
    assert "# [Tree] FTest = 0.05 (line 4): Significance level" in text
    assert "(line 6): Amount of log output. No effect:" in text
    assert "    f_test=0.05,\n" in text


def test_switches_are_explained(pets):
    path = pets("[Hierarchical]\nHSeparator = /\n[Ensemble]\nIterations = 3\n")
    text = explained(path, forest=True, xval=True, disable="2")
    assert "# -forest: learn an ensemble" in text
    assert "# -disable 2: leave out" in text
    assert "# The cross-validation of -xval is left out" in text
    assert "PCTBaggingClassifier" in text


@pytest.mark.parametrize(
    ("options", "used"),
    [
        ("", ["size", "colour", "weight"]),
        ("Disable = 2\n", ["colour", "weight"]),
        ("Descriptive = 2,4\n", ["size", "weight"]),
        ("Key = 4\nTarget = 5\n", ["size", "colour"]),
    ],
)
def test_the_code_uses_the_features_of_the_settings(pets, options, used):
    path = pets(f"[Attributes]\n{options}[Hierarchical]\nType = Tree\nHSeparator = /\n")
    model = executed(explained(path))["model"]
    assert list(model.feature_names_in_) == used


def test_thresholds_are_percentages(pets):
    path = pets(
        "[Hierarchical]\nType = Tree\nHSeparator = /\nClassificationThreshold = [0.5,60]\n"
    )
    made = executed(explained(path))
    assert list(made["label_sets"]) == [0.005, 0.6]


def test_an_unset_type_is_guessed_as_clus_does(pets):
    deep = executed(explained(pets("[Hierarchical]\nHSeparator = /\n")))
    assert deep["train"].hierarchy.is_tree
    assert deep["train"].hierarchy.n_labels == 5
    flat = DATA.replace("cat,mammal/cat/lion", "cat").replace("cat/lion", "cat")
    # Pairs of a DAG: "bird" alone is not one.
    with pytest.raises(ValueError, match="expected a pair parent/child, found 'bird'"):
        executed(explained(pets("[Hierarchical]\nHSeparator = /\n", flat)))


def test_a_definition_file(pets, tmp_path):
    (tmp_path / "dag.txt").write_text("root/bird,bird/owl,root/mammal\nmammal/cat,cat/lion\n")
    data = re.sub(r"\w+/", "", DATA.replace("mammal/cat/lion", "lion"))
    data = data.replace("hierarchical bird,owl,mammal,cat,lion", "classes")
    path = pets("[Hierarchical]\nType = DAG\nHSeparator = /\nDefinitionFile = dag.txt\n", data)
    hierarchy = executed(explained(path))["train"].hierarchy
    assert set(hierarchy.labels) == {"bird", "owl", "mammal", "cat", "lion"}
    assert hierarchy.parents("lion") == ("cat",)


def test_what_the_code_leaves_out_is_said(pets):
    path = pets("[Hierarchical]\nType = Tree\nHSeparator = /\nRecallValues = 0.5\n")
    assert "# [Hierarchical] RecallValues is left out" in explained(path)


def test_missing_data(pets, tmp_path):
    path = pets("TestSet = none.arff\n")
    expected = r"line 3: \[Data\] TestSet must name an existing file, got 'none\.arff'\.$"
    with pytest.raises(SettingsError, match=expected):
        explained(path)
    (tmp_path / "pets.arff").unlink()
    with pytest.raises(SettingsError, match=r"line 2: \[Data\] File must name an existing file"):
        explained(path)


def test_targets_without_code(pets):
    path = pets("[Attributes]\nTarget = 2,3\n")
    with pytest.raises(UnsupportedOptionError, match=r"Target must hold .*, got 'size, colour'"):
        explained(path)


def test_predictions_equal_with_a_name_that_needs_quotes(pets, tmp_path):
    (tmp_path / 'my "pets".arff').write_text(DATA)
    path = pets()
    path.write_text('[Data]\nFile = my "pets".arff\n[Hierarchical]\nType = Tree\nHSeparator = /\n')
    made = executed(explained(path))
    assert made["scores"].shape == (7, 5)
    assert np.isfinite(made["scores"]).all()
