"""Write small data sets and settings files, and the files that CLUS writes for them.

Run with ``python -m tests.golden.clus.make_results CLUS.JAR [RUN ...]``; it needs Java. Dates and
times are replaced by ``-``.
"""

import random
import re
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
TIMES = re.compile(r"^(Date|(?:Induction|Pruning|Preprocessing) [Tt]ime): .*", re.MULTILINE)
OPENED = (
    "java.util java.lang java.math java.net java.util.regex java.util.concurrent"
    " java.util.concurrent.atomic java.io java.text"
)
FILES = "[Data]\nFile = train.arff\nTestSet = test.arff\n"
TREE = "[Hierarchical]\nType = Tree\nWType = ExpAvgParentWeight\nHSeparator = /\n"
GAIN = "[Tree]\nHeuristic = Gain\n"
RATIO = "[Tree]\nHeuristic = GainRatio\nPruningMethod = None\n"
BOTH = "[Output]\nWritePredictions = [Train,Test]\n"
PER_TREE = "[Ensemble]\nIterations = 3\nPrintAllModels = Yes\nOOBestimate = Yes\nEnsembleMethod = "
RANKED = "[Ensemble]\nIterations = [2,4]\nFeatureRanking = [Symbolic]\n"
ALL_RANKED = (
    "[Ensemble]\nEnsembleMethod = RForest\nIterations = [2,4]\nFeatureRankingPerTarget = Yes\n"
    "FeatureRanking = [Genie3,Symbolic,RForest]\n"
)
# CLUS ends with an exception if a leaf knows nothing of a target.
LARGE = "[Model]\nMinimalWeight = 8\n"
SHARES = "[Output]\nUnknownFrequency = Yes\nBranchFrequency = Yes\n"
SSL = (
    "[Attributes]\nDescriptive = 1-3\nClustering = 1-4\nTarget = 4\n"
    "[SemiSupervised]\nSemiSupervisedMethod = PCT\n"
)
# Subtrees replace the nodes above them.
RAISED = "[Data]\nFile = train.arff\nXVal = 5\n[Tree]\n"
# Some weights of rows with missing values are no binary fractions.
UNEVEN = "[Ensemble]\nIterations = 4\nFeatureRanking = [Genie3]\nPrintAllModels = Yes\n"
LEVELS = (
    "[Data]\nFile = train.arff\nTestSet = 0.3\nPruneSet = test.arff\n"
    "[Tree]\nHeuristic = VarianceReduction\nFTest = [0.01,0.5]\n"
)
# Settings by data set and run; the names of forests and cross-validations start with the switch.
RUNS = {
    "hierarchical": {
        "tree": FILES + TREE + BOTH + "WriteCurves = Yes\n",
        "fractions": "[Data]\nFile = train.arff\nTestSet = 0.25\nPruneSet = 0.2\n" + TREE + BOTH,
        "levels": FILES + "[Tree]\nFTest = [0.01,0.1,0.5]\n" + TREE,
        "thresholds": FILES + TREE + "ClassificationThreshold = [30,50]\nRecallValues = [0.5]\n",
        "smoothed": FILES + TREE + "MEstimate = Yes\n" + BOTH,
        "xval": "[Data]\nFile = train.arff\nXVal = 4\n" + TREE + BOTH,
        "forest": FILES
        + TREE
        + "[Ensemble]\nIterations = [2,5]\nEnsembleMethod = RForest\nOOBestimate = Yes\n"
        + "FeatureRanking = [Symbolic]\n"
        + BOTH,
        "forest-subspaces": FILES + TREE + PER_TREE + "RSubspaces\n" + BOTH,
        "forest-smoothed": FILES + TREE + "MEstimate = Yes\n" + PER_TREE + "Bagging\n" + BOTH,
        "forest-bags": FILES + TREE + PER_TREE + "BagSubspaces\n" + BOTH,
        "single": FILES + TREE + "SingleLabel = Yes\n[Output]\nWritePredictions = [Test]\n",
        "sections": FILES
        + TREE
        + "[Rules]\n[Exhaustive]\n[Multilabel]\n[Ensemble]\nBagSize = 9\n",
        "forest-weights": FILES + TREE + RANKED + "SymbolicWeight = [0.5,0.3]\n",
        "forest-dynamic": FILES + TREE + RANKED + "SymbolicWeight = Dynamic\n",
        "forest-selection": FILES + TREE + PER_TREE + "RFeatSelection\n",
        "forest-ranked": FILES + TREE + "[Tree]\nFTest = [0.001,0.1]\n" + ALL_RANKED,
        "forest-half-percent": "[Data]\nFile = train.arff\n[Constraints]\nMaxDepth = 2\n"
        + TREE.replace("WType = ExpAvgParentWeight\n", "")
        + "ClassificationThreshold = [30]\n[Ensemble]\nIterations = 4\n",
        "no-list": FILES + TREE + "ClassificationThreshold = 30\nRecallValues = 0.5\n",
        "xval-thresholds": "[Data]\nFile = train.arff\nXVal = 3\n"
        + TREE
        + "ClassificationThreshold = [20,50]\n",
        "quiet": FILES + TREE + "[Output]\nWritePredictions = [Train,Test]\nTrainErrors = No\n",
        "shares": FILES + TREE + "ClassificationThreshold = [40]\n" + SHARES,
        "unpruned": FILES
        + TREE
        + "ClassificationThreshold = [30]\n[Tree]\nPruningMethod = None\n",
        "xval-middle": "[Data]\nFile = train.arff\nXVal = 3\n"
        + TREE
        + "RecallValues = [0.25,0.5]\n[Tree]\nSplitPosition = Middle\nFTest = [0.05,0.5]\n",
    },
    "partly_labelled": {
        "ssl-half": FILES + TREE + SSL + "PossibleWeights = [0.5]\n" + BOTH,
        "ssl-most": "[Data]\nFile = train.arff\n" + TREE + SSL + "PossibleWeights = [0.9]\n",
    },
    "zeros": {
        "tree": FILES + TREE,
        "forest": FILES + TREE + PER_TREE + "Bagging\n",
        "xval-empty": "[Data]\nFile = test.arff\nXVal = 43\n" + TREE,
    },
    "multilabel": {
        "tree": "[Attributes]\nTarget = 4-6\n" + FILES + BOTH,
        "forest": "[Attributes]\nTarget = 4-6\n"
        + FILES
        + "[Ensemble]\nIterations = 3\nEnsembleMethod = Bagging\n",
        "xval-rows": "[Attributes]\nTarget = 4-6\n[Data]\nFile = test.arff\nXVal = LOO\n"
        + "[Tree]\nPruningMethod = None\n",
        "forest-majority": "[Attributes]\nTarget = 4-6\n"
        + FILES
        + BOTH
        + "[Ensemble]\nIterations = 3\nVotingType = Majority\nOOBestimate = Yes\n",
        "forest-shares": "[Attributes]\nTarget = 4-6\n"
        + FILES
        + "[Ensemble]\nIterations = 3\nEnsembleMethod = RForest\nOOBestimate = Yes\n",
        "xval": "[Attributes]\nTarget = 4-6\n[Data]\nFile = train.arff\nXVal = 3\n",
        "forest-ranked": "[Attributes]\nTarget = 4-6\n" + FILES + ALL_RANKED,
        "xval-raised": "[Attributes]\nTarget = 4-6\n" + RAISED + "Heuristic = GainRatio\n" + BOTH,
        "one-label": "[Attributes]\nTarget = 4\nDisable = 5-6\n" + FILES,
        "levels": "[Attributes]\nTarget = 4-6\n" + LEVELS,
    },
    "classes": {
        "tree": "[Attributes]\nTarget = 3-4\n" + FILES + BOTH,
        "forest-ranked": "[Attributes]\nTarget = 3-4\n"
        + FILES
        + ALL_RANKED.replace("Genie3,", ""),
        "levels": "[Attributes]\nTarget = 3-4\n" + LEVELS,
        "xval-raised": "[Attributes]\nTarget = 3-4\n" + RAISED,
    },
    "multilabel_missing": {
        "xval-raised": "[Attributes]\nTarget = 5-7\n" + RAISED,
        "shares": "[Attributes]\nTarget = 5-7\n" + FILES + SHARES,
        "forest-trees": "[Attributes]\nTarget = 5-7\n"
        + FILES
        + SHARES
        + "[Ensemble]\nIterations = 2\nPrintAllModels = Yes\n",
        "gain": "[Attributes]\nTarget = 5-7\n" + FILES + GAIN + BOTH,
        "ratio": "[Attributes]\nTarget = 5-7\n" + FILES + RATIO + BOTH,
        "forest-uneven": "[Attributes]\nTarget = 5-7\n" + FILES + UNEVEN + BOTH,
    },
    "classes_missing": {
        "gain": "[Attributes]\nTarget = 5-6\n" + FILES + GAIN + BOTH,
        "ratio": "[Attributes]\nTarget = 5-6\n" + FILES + RATIO + BOTH,
        "forest-uneven": "[Attributes]\nTarget = 5-6\n" + FILES + UNEVEN + BOTH,
    },
    "multilabel_unknown": {
        "tree": "[Attributes]\nTarget = 4-6\n" + FILES + LARGE + BOTH,
        "forest-shares": "[Attributes]\nTarget = 4-6\n"
        + FILES
        + LARGE
        + BOTH
        + "[Ensemble]\nIterations = 3\nEnsembleMethod = RForest\n",
    },
    "classes_unknown": {"tree": "[Attributes]\nTarget = 3-4\n" + FILES + LARGE + BOTH},
    "regression": {
        "tree": "[Attributes]\nTarget = 3-4\n" + FILES + BOTH,
        "xval": "[Attributes]\nTarget = 3-4\n[Data]\nFile = train.arff\nXVal = 3\n",
        "forest-bags": "[Attributes]\nTarget = 3-4\n" + FILES + PER_TREE + "BagSubspaces\n",
        "forest-quiet": "[Attributes]\nTarget = 3-4\n"
        + FILES
        + PER_TREE
        + "Bagging\nFeatureRankingPerTarget = Yes\n[Output]\nTrainErrors = No\n",
        "forest-ranked": "[Attributes]\nTarget = 3-4\n" + FILES + ALL_RANKED,
        "levels": "[Attributes]\nTarget = 3-4\n" + LEVELS,
    },
}


def row_of(kind: str, number: int, draw: random.Random) -> str:
    """Return a row of a data set."""
    x = [round(draw.random() * 3, 1) for _ in range(3)]
    gaps = 0.2 if kind.endswith("missing") else 0.05
    cells = ["?" if draw.random() < gaps else str(value) for value in x]
    noise = draw.random() < 0.2
    if kind == "hierarchical":
        labels = {draw.choice(["1", "1/1", "1/2"])} if x[0] > 1.5 else {"10/1"}
        if x[1] > 1:
            labels.add(draw.choice(["2/1", "2/2"]))
        colour = draw.choice(["red", "green", "blue"])
        if noise or colour == "red":
            labels.add("3")
        return ",".join([f"r{number}", *cells, colour, "@".join(sorted(labels))])
    if kind == "partly_labelled":
        label = f"{1 + int(x[0] > 1.5)}/{1 + int((x[1] > 1) != noise)}"
        cells = [*map(str, x), label if number < 20 else "?"]  # all test rows have one
    elif kind == "zeros":
        signs = [draw.choice(["-1.0", "-0.0", "0.0", "1.0"]) for _ in x]
        label = "a" if (float(signs[0]) > 0) != noise else f"b/{int(float(signs[1]) > 0)}"
        cells = [*signs, label]
    elif kind in ("multilabel", "multilabel_unknown"):
        values = [str(int((v > 1.5) != noise)) for v in x]
        cells = [*map(str, x), *forget(kind, values, draw)]
    else:
        cells = table_cells(kind, x, cells, draw, noise=noise)
    return ",".join(cells)


def table_cells(
    kind: str, x: list[float], cells: list[str], draw: random.Random, *, noise: bool
) -> list[str]:
    """Return a row with nominal or numeric targets and missing feature values."""
    if kind.endswith("missing"):
        cells.insert(0, draw.choice(["red", "green", "blue", "?"]))
    if kind == "multilabel_missing":
        noises = [draw.random() < 0.2 for _ in x]
        values = [str(int((v > 1.5) != n)) for v, n in zip(x, noises, strict=True)]
        return [*cells, *values]
    if kind.startswith("classes"):
        level = ["low", "middle", "high", "high"][int(x[0])]
        values = forget(kind, [level, "yes" if (x[1] > 1) != noise else "no"], draw)
        return [*(cells if kind.endswith("missing") else cells[:2]), *values]
    values = f"{2 * x[0] - x[1] + draw.gauss(0, 0.3):.2f}", f"{x[1] ** 2 + draw.gauss(0, 1):.2f}"
    return [*cells[:2], *values]


def forget(kind: str, values: list[str], draw: random.Random) -> list[str]:
    """Return the targets of a row, one of which is unknown in most rows of some data sets."""
    if kind.endswith("unknown"):
        at = draw.randrange(len(values) + 1)
        return [value if i != at else "?" for i, value in enumerate(values)]
    return values


HEADERS = {
    "hierarchical": "name key\nx1 numeric\nx2 numeric\nx3 numeric\ncolour {red,green,blue}\n"
    "class hierarchical 1/1,1/2,2/1,2/2,3,10/1",
    "partly_labelled": "x1 numeric\nx2 numeric\nx3 numeric\nclass hierarchical 1/1,1/2,2/1,2/2",
    "zeros": "x1 numeric\nx2 numeric\nx3 numeric\nclass hierarchical a,b,b/0,b/1",
    "multilabel": "x1 numeric\nx2 numeric\nx3 numeric\ny1 {0,1}\ny2 {0,1}\ny3 {0,1}",
    "classes": "x1 numeric\nx2 numeric\ny1 {low,middle,high}\ny2 {yes,no}",
    "multilabel_missing": "colour {red,green,blue}\nx1 numeric\nx2 numeric\nx3 numeric\n"
    "y1 {0,1}\ny2 {0,1}\ny3 {0,1}",
    "classes_missing": "colour {red,green,blue}\nx1 numeric\nx2 numeric\nx3 numeric\n"
    "y1 {low,middle,high}\ny2 {yes,no}",
    "regression": "x1 numeric\nx2 numeric\ny1 numeric\ny2 numeric",
}


HEADERS |= {f"{kind}_unknown": HEADERS[kind] for kind in ("multilabel", "classes")}


def write_data(kind: str, folder: Path) -> None:
    """Write the training and the test rows of a data set."""
    draw = random.Random(kind)
    header = [f"@attribute {line}" for line in HEADERS[kind].split("\n")]
    n_train = 100 if kind.endswith("missing") else 50
    for name, n_rows in (("train", n_train), ("test", 20)):
        rows = [row_of(kind, i, draw) for i in range(n_rows)]
        lines = [f"@relation {kind}", "", *header, "", "@data", *rows]
        (folder / f"{name}.arff").write_text("\n".join(lines) + "\n")


def main(jar: str, *names: str) -> None:
    """Write the data, the settings and the results of all runs, or of those with some names."""
    opens = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED.split()]
    for kind, runs in RUNS.items():
        folder = FOLDER / kind
        folder.mkdir(exist_ok=True)
        write_data(kind, folder)
        for run, settings in runs.items():
            if names and run not in names:
                continue
            (folder / f"{run}.s").write_text(settings)
            switch = run.partition("-")[0]
            switches = [f"-{switch}"] if switch in ("forest", "xval", "ssl") else []
            command = ["java", *opens, "-jar", str(Path(jar).resolve()), *switches, f"{run}.s"]
            subprocess.run(command, cwd=folder, check=True, capture_output=True)
        for path in folder.iterdir():
            path.write_text(TIMES.sub(r"\1: -", path.read_text()))


if __name__ == "__main__":
    main(*sys.argv[1:])
