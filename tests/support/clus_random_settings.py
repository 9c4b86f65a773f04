"""Settings files that combine options of CLUS at random, over the data sets of the golden runs."""

from __future__ import annotations

import random
import shutil
from dataclasses import dataclass
from pathlib import Path

GOLDEN = Path(__file__).parents[1] / "golden" / "clus"
_TARGETS = {
    "hierarchical": "",
    "multilabel": "4-6",
    "multilabel_missing": "5-7",
    "classes": "3-4",
    "classes_missing": "5-6",
    "regression": "3-4",
}
_HIERARCHY = {
    "WType": ["ExpAvgParentWeight", "ExpSumParentWeight", "NoWeight", "ExpMinParentWeight"],
    "WParam": ["0.75", "0.5"],
    "MEstimate": ["Yes", "No"],
    "ClassificationThreshold": ["[20,50]", "[30.0]"],
    "RecallValues": ["[0.25,0.5]"],
    "CalculateErrors": ["Yes", "No"],
    "OptimizeErrorMeasure": ["AverageAUPRC", "AverageAUROC", "WeightedAverageAUPRC"],
}
_COMMON = {
    "General": {"RandomSeed": ["0", "7", "-3"], "Verbose": ["0", "1"]},
    "Data": {
        "TestSet": ["test.arff", "0.3", "None"],
        "RemoveMissingTarget": ["Yes", "No"],
    },
    "Model": {
        "MinimalWeight": ["1.0", "3", "5.0"],
        "NominalSubsetTests": ["Yes", "No"],
        "ParamTuneNumberFolds": ["2", "5"],
    },
    "Constraints": {"MaxDepth": ["2", "4", "Infinity"]},
    "Relief": {"Neighbours": ["[10, 15]", "5"], "Iterations": ["[0.2,0.5,1]"]},
    "Tree": {
        "FTest": ["0.05", "1.0", "[0.01,0.1]", "[0.001,0.05,0.5]"],
        "SplitPosition": ["Exact", "Middle"],
        "PruningMethod": ["Default", "None"],
        "ConvertToRules": ["No"],
    },
    "Output": {
        "WritePredictions": ["[Train,Test]", "[Test]"],
        "TrainErrors": ["Yes", "No"],
        "ShowModels": ["[Default,Pruned,Others]", "[Original]"],
        "GzipOutput": ["Yes"],
        "AllFoldErrors": ["Yes"],
        "WriteCurves": ["No"],
    },
}
_HEURISTICS = {
    "multilabel": ["Default", "Gain", "GainRatio", "VarianceReduction"],
    "classes": ["Default", "Gain", "VarianceReduction"],
    "regression": ["Default", "VarianceReduction"],
}
_WEIGHTS = {"regression": {"Weights": ["Normalize", "1.0", "[2,0.5]"]}}
_ENSEMBLE = {
    "EnsembleMethod": ["Bagging", "RForest", "RSubspaces", "BagSubspaces"],
    "Iterations": ["3", "[2,5]"],
    "SelectRandomSubspaces": ["2", "SQRT", "0.5"],
    "OOBestimate": ["Yes", "No"],
    "FeatureRanking": ["[Genie3]", "[Symbolic,RForest]", "[Symbolic]"],
    "FeatureRankingPerTarget": ["Yes"],
    "SortRankingByRelevance": ["No"],
    "PrintAllModels": ["Yes"],
    "PrintAllModelInfo": ["Yes"],
    "BagSize": ["20"],
}


@dataclass(frozen=True)
class RandomRun:
    """A settings file, the data set that it runs on and the switches."""

    data: str
    settings: str
    switches: tuple[str, ...]

    def prepare(self, folder: Path) -> Path:
        """Write the settings and the data to a folder; return the settings file."""
        for name in ("train.arff", "test.arff"):
            shutil.copy(GOLDEN / self.data / name, folder)
        path = folder / "run.s"
        path.write_text(self.settings)
        return path


def random_run(seed: int) -> RandomRun:
    """Return the run of a seed: any data set, any switch, each option in one of three files."""
    draw = random.Random(seed)
    data = draw.choice(list(_TARGETS))
    switches = draw.choice([(), (), ("forest",), ("forest",), ("xval",)])
    sections = {"Data": {"File": "train.arff"}}

    def fill(section: str, options: dict[str, list[str]], share: float = 0.3) -> None:
        for name, values in options.items():
            if draw.random() < share:
                sections.setdefault(section, {})[name] = draw.choice(values)

    for section, options in _COMMON.items():
        fill(section, options)
    kind = data.partition("_")[0]
    if _TARGETS[data]:
        sections["Attributes"] = {"Target": _TARGETS[data]}
        fill("Attributes", _WEIGHTS.get(data, {}))
        fill("Tree", {"Heuristic": _HEURISTICS[kind]})
    else:
        sections["Hierarchical"] = {"Type": "Tree", "HSeparator": "/"}
        fill("Hierarchical", _HIERARCHY)
    if "forest" in switches:
        sections["Ensemble"] = {"Iterations": "4"}
        fill("Ensemble", _ENSEMBLE, 0.4)
    if "xval" in switches:
        sections["Data"] = {"File": "train.arff", "XVal": draw.choice(["3", "5"])}
    lines = [
        line
        for section, options in sections.items()
        for line in (f"[{section}]", *(f"{name} = {value}" for name, value in options.items()))
    ]
    return RandomRun(data, "\n".join(lines) + "\n", switches)
