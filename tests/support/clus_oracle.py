"""Read the output files of CLUS: settings, printed trees, predictions, hierarchies and measures.

The files are in ``shared/reference/clus-oracle`` beside the repository, or in the folder given by
the environment variable RAMIFY_CLUS_ORACLE. Tests that need them have the mark `requires_oracle`.
This module does not import ramify, so that its results are independent of the code under test.
"""

from __future__ import annotations

import gzip
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.clus_trees import TreeNode, parse_models

_BESIDE = Path(__file__).resolve().parents[3] / "shared" / "reference" / "clus-oracle"
ORACLE = Path(os.environ.get("RAMIFY_CLUS_ORACLE", _BESIDE))
TINY = ORACLE / "tiny"
TREES = ORACLE / "trees"

requires_oracle = pytest.mark.skipif(not ORACLE.is_dir(), reason="CLUS results not found")

Settings = dict[str, dict[str, str]]


def read_settings(path: Path) -> Settings:
    """Read a settings file as strings by section and option."""
    settings: Settings = {}
    section: dict[str, str] = {}
    for line in path.read_text().splitlines():
        content = line.split("%")[0].strip()
        if content.startswith("["):
            section = settings.setdefault(content.strip("[]"), {})
        elif content:
            name, value = content.split("=", 1)
            section[name.strip()] = value.strip()
    return settings


def read_tree_file(path: Path) -> list[TreeNode]:
    with gzip.open(path, "rt") as file:
        return parse_models(file.read())


def read_models(path: Path) -> dict[str, list[TreeNode]]:
    """Read the models of an .out file by name: "Default", "Original", "Forest with 3 trees"."""
    sections = re.split(r"^(.+) Model\n\*+\n", path.read_text(), flags=re.MULTILINE)[1:]
    return {
        name: parse_models(body) for name, body in zip(sections[::2], sections[1::2], strict=True)
    }


_MEASURES = {
    "Average AUROC": "auroc",
    "Average AUPRC": "auprc",
    "Average AUPRC (weighted)": "auprc_weighted",
    "Pooled AUPRC": "auprc_pooled",
}


def read_measures(path: Path) -> dict[str, dict[str, dict[str, float]]]:
    """Read the hierarchical measures of an .out file by part ("train", "test") and model."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    part, model = "", ""
    listed = False
    for line in path.read_text().splitlines():
        if line in ("Training error", "Testing error"):
            part, listed = ("train" if line.startswith("Train") else "test"), False
        elif not line.startswith(" "):
            listed = line == "Hierarchical error measures"
        elif listed and (match := re.match(r"^   (\S.*): *$", line)):
            model = match[1]
        elif listed and (match := re.match(r"^ +(\S.*): +(\S+)$", line)) and match[1] in _MEASURES:
            figures = found.setdefault(part, {}).setdefault(model, {})
            figures[_MEASURES[match[1]]] = float(match[2])
    return found


def read_summary(path: Path) -> dict[str, float]:
    """Read the statistics of an .out file: level of the F-test, seconds, size of the tree."""
    text = path.read_text()
    found: dict[str, float] = {}
    for name, pattern in {
        "f_test": r"^FTValue \(FTest\): (\S+)$",
        "induction_time_s": r"^Induction Time: ([0-9.E-]*[0-9]) sec",
        "nodes": r"^ +Original: Nodes = (\d+)",
        "leaves": r"^ +Original: .*Leaves = (\d+)",
        "depth": r"^ +Original: .*Depth = (\d+)",
    }.items():
        if match := re.search(pattern, text, flags=re.MULTILINE):
            found[name] = float(match[1])
    return found


@dataclass(frozen=True)
class Predictions:
    """The rows of a .pred.arff file: true labels and scores, one column per label."""

    labels: tuple[str, ...]
    truth: np.ndarray
    scores: np.ndarray
    leaves: tuple[str, ...]


def read_predictions(path: Path, model: str | None = None) -> Predictions:
    """Read the predictions of a model, by default of the first one in the file.

    Labels are those of the hierarchy; for nominal targets, "y" if binary, otherwise "y=value".
    """
    header, data = re.split(r"^@DATA\n", path.read_text(), flags=re.MULTILINE)
    attributes = dict(re.findall(r"^@ATTRIBUTE (.*?)  +(\S+)$", header, flags=re.MULTILINE))
    cells = zip(*(line.split(",") for line in data.splitlines() if line.strip()), strict=True)
    table = dict(zip(attributes, map(np.array, cells), strict=True))
    if model is None:
        model = next(name for name in table if "-p-" in name).split("-p-")[0]
    truth: dict[str, np.ndarray] = {}
    scores: dict[str, np.ndarray] = {}
    for name, kind in attributes.items():
        if name.startswith("class-a-"):
            label = name.removeprefix("class-a-")
            truth[label] = table[name].astype(int)
            scores[label] = table[f"{model}-p-{label}"].astype(float)
        elif kind.startswith("{") and "-p-" not in name:
            values = kind.strip("{}").split(",")
            counts = {v: table[f"{model}-p-{name}-{v}"].astype(float) for v in values}
            for value in ["1"] if values == ["1", "0"] else values:
                label = name if values == ["1", "0"] else f"{name}={value}"
                truth[label] = (table[name] == value).astype(int)
                scores[label] = counts[value] / sum(counts.values())
    leaves = tuple(leaf.strip('"') for leaf in table[f"{model}-models"].tolist())
    columns = np.stack(list(truth.values()), axis=1), np.stack(list(scores.values()), axis=1)
    return Predictions(tuple(truth), *columns, leaves)


def read_hierarchy(path: Path, *, is_tree: bool) -> dict[str, float]:
    """Read the labels of a .hierarchy file in CLUS's order, with their training counts.

    Labels are named by their path in a tree, and by their name in a DAG.
    """
    counts: dict[str, float] = {}
    path_names: list[str] = []
    for line in path.read_text().splitlines()[2:]:
        match = re.match(r"^( *)(.*?)(?: \(p: .*\))?: (\S+)$", line)
        if match is None:
            raise ValueError(f"not a line of a .hierarchy file: {line!r}")
        del path_names[len(match[1]) // 6 :]
        path_names.append(match[2])
        counts.setdefault("/".join(path_names) if is_tree else match[2], float(match[3]))
    return counts


def read_results() -> list[dict[str, Any]]:
    """Read the records of results.json; empty if the results are not available."""
    if not ORACLE.is_dir():
        return []
    records: list[dict[str, Any]] = json.loads((ORACLE / "results.json").read_text())
    return records
