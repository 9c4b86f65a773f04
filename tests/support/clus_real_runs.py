"""Settings files for the runs on real data that are recorded in results.json, and their figures.

A recorded run is repeated by writing its data and its settings file (`prepare`), running
``ramify clus`` on it, and comparing the result file with the record (`compare`).
"""

from __future__ import annotations

import gzip
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from tests.support.clus_data import HIERARCHICAL, RealData, header_and_rows, load, read_split
from tests.support.clus_measures import Run
from tests.support.clus_oracle import ORACLE, read_measures

Record = dict[str, Any]

_FILES = "[General]\nRandomSeed = 0\n[Data]\nFile = train.arff\nTestSet = test.arff\n"
_FOREST = "VotingType = ProbabilityDistribution\nSelectRandomSubspaces = LOG\n"


@dataclass
class Comparison:
    """What was compared with a record, and the differences that were found."""

    n_figures: int = 0
    n_tree_lines: int = 0
    differences: list[str] = field(default_factory=list)

    def check(self, name: str, expected: Any, found: Any) -> None:
        """Compare a figure; NaN is recorded as None."""
        self.n_figures += 1
        wanted = math.nan if expected is None else float(expected)
        if not (wanted == found or (math.isnan(wanted) and math.isnan(found))):
            self.differences.append(f"{name}: expected {expected}, got {found}")


def is_forest(record: Record) -> bool:
    """Whether a record is a run with ``-forest``."""
    return "trees" in record


def prepare(record: Record, folder: Path) -> Path:
    """Write the data and the settings file of a record; return the settings file."""
    name = record["dataset"]
    if name.endswith(("_flat", "_mlc")):
        _write_flat(load(name), folder, as_targets=name.endswith("_mlc"))
    else:
        _write_hierarchical(name, folder)
    path = folder / "run.s"
    path.write_text(settings_text(record))
    return path


def settings_text(record: Record) -> str:
    """Return the settings of a record, as described beside the recorded results."""
    config = record["config"]
    text = _FILES + "[Model]\nMinimalWeight = 5.0\n"
    if config.startswith("mlc"):
        first, last = record["n_features"] + 1, record["n_features"] + record["n_classes"]
        heuristic = "Gain" if config.endswith("_gain") else "VarianceReduction"
        text += f"[Attributes]\nTarget = {first}-{last}\n"
        text += f"[Tree]\nHeuristic = {heuristic}\nPruningMethod = None\n"
    else:
        kind = "DAG" if record["hierarchy"].lower() == "dag" else "Tree"
        weighting = "Sum" if config.endswith("_sum") else "Avg"
        text += f"[Tree]\nFTest = {0.01 if '_f01' in config else 1.0}\n"
        text += f"[Hierarchical]\nType = {kind}\nWType = Exp{weighting}ParentWeight\n"
        text += f"WParam = {1.0 if config.endswith('_w1') else 0.75}\nHSeparator = /\n"
    if is_forest(record):
        method = "Bagging" if config.startswith("bag") else "RForest"
        text += f"[Ensemble]\nIterations = {record['trees']}\nEnsembleMethod = {method}\n"
        text += f"{_FOREST}NumberOfThreads = {record['threads']}\n"
        text += f"PrintAllModels = {'Yes' if record.get('tree_file') else 'No'}\n"
    return text + "[Output]\nTrainErrors = Yes\nTestErrors = Yes\n"


def compare(record: Record, out: Path) -> Comparison:
    """Compare a result file with a record: sizes, measures and printed trees."""
    found = Comparison()
    for name, value in _sizes(out.read_text()).items():
        found.check(name, record[name], value)
    model = f"Forest with {record['trees']} trees" if is_forest(record) else "Original"
    if record["config"].startswith("mlc"):
        _compare_flat(record, out, model, found)
    else:
        _compare_hierarchical(record, out, model, found)
    if record.get("tree_file"):
        _compare_trees(record, out, model, found)
    return found


def _write_hierarchical(name: str, folder: Path) -> None:
    source, *splits = HIERARCHICAL.get(name, (name, ["train", "valid"], ["test"]))
    for file, parts in zip(("train", "test"), splits, strict=True):
        tables = [header_and_rows(read_split(source, split)) for split in parts]
        lines = [*tables[0][0], *(row for _, rows in tables for row in rows)]
        (folder / f"{file}.arff").write_text("\n".join(lines) + "\n")


def _write_flat(data: RealData, folder: Path, *, as_targets: bool) -> None:
    labels = [str(label) for label in data.hierarchy.labels]
    header = ["@relation flat"]
    for name, column in data.X_train.items():
        kind = "{0,1}" if isinstance(column.dtype, pd.CategoricalDtype) else "numeric"
        header.append(f"@attribute {name} {kind}")
    if as_targets:
        header += [f"@attribute {label} {{0,1}}" for label in labels]
    else:
        header.append(f"@attribute class hierarchical {','.join(labels)}")
    for file, X, Y in (
        ("train", data.X_train, data.Y_train),
        ("test", data.X_test, data.Y_test),
    ):
        cells = [[str(cell) for cell in row] for row in X.itertuples(index=False)]
        targets = [
            ",".join(map(str, row)) if as_targets else _label_set(row, labels)
            for row in Y.toarray().astype(int).tolist()
        ]
        rows = [",".join([*row, end]) for row, end in zip(cells, targets, strict=True)]
        (folder / f"{file}.arff").write_text("\n".join([*header, "@data", *rows]) + "\n")


def _label_set(row: list[int], labels: list[str]) -> str:
    return "@".join(label for label, held in zip(labels, row, strict=True) if held) or "n"


def _sizes(text: str) -> dict[str, float]:
    """Return the size of a tree, or the sums and the mean depth of a forest."""
    patterns = (
        r"^ +Original: Nodes = (\d+); Leaves = (\d+); Depth = (\d+)$",
        r"^ +Forest .*Total nodes: (\d+); leaves: (\d+); average tree depth: (\S+)\)$",
    )
    for pattern in patterns:
        if match := re.search(pattern, text, re.MULTILINE):
            return dict(zip(("nodes", "leaves", "depth"), map(float, match.groups()), strict=True))
    raise ValueError("no size in the result file")


def _compare_hierarchical(record: Record, out: Path, model: str, found: Comparison) -> None:
    measures = read_measures(out)
    for field_name, part, name in (
        ("train", "train", model),
        ("test", "test", model),
        ("default_test", "test", "Default"),
    ):
        for measure, expected in record[field_name].items():
            found.check(f"{field_name} {measure}", expected, measures[part][name][measure])
    others = Run(out, "test").multilabel()
    for measure, expected in record["test_multilabel"].items():
        found.check(f"test {measure}", expected, others[measure])


def _compare_flat(record: Record, out: Path, model: str, found: Comparison) -> None:
    for field_name, part, name in (
        ("train", "train", model),
        ("test", "test", model),
        ("default_test", "test", "Default"),
    ):
        measures = Run(out, part).flat_multilabel(name)
        for measure, expected in record[field_name].items():
            found.check(f"{field_name} {measure}", expected, measures[measure])


def _compare_trees(record: Record, out: Path, model: str, found: Comparison) -> None:
    """Compare the printed trees line by line."""
    with gzip.open(ORACLE / record["tree_file"], "rt") as file:
        expected = list(_filled(file.read().splitlines()))
    text = out.read_text().partition(f"{model} Model\n")[2]
    ours = list(_filled(text.splitlines()[1:]))
    found.n_tree_lines = len(expected)
    if len(ours) != len(expected):
        found.differences.append(f"tree: expected {len(expected)} lines, got {len(ours)}")
    found.differences += [
        f"tree, line {at}: expected {a[:60]!r}, got {b[:60]!r}"
        for at, (a, b) in enumerate(zip(expected, ours, strict=False), 1)
        if a != b
    ]


def _filled(lines: list[str]) -> Iterator[str]:
    yield from (line.rstrip() for line in lines if line.strip())
