"""Run CLUS and ``ramify clus`` on the same settings files and compare all files they write.

``python -m benchmarks.clus_side_by_side [CASE ...]`` prints a table with the number of files, the
number of lines that differ apart from dates and times, and the wall-clock and CPU seconds of both
programs from start to end. It needs Java and the data sets in RAMIFY_DATA; data and results are
kept in temporary folders.
"""

from __future__ import annotations

import difflib
import re
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.clus_files import run_clus, run_ramify
from tests.support.clus_data import header_and_rows, read_split

TIMES = re.compile(r"^(Date|(?:Induction|Pruning|Preprocessing) [Tt]ime): .*", re.MULTILINE)
OUTPUT = "[Output]\nWritePredictions = [Train,Test]\n"
TREE = "[Hierarchical]\nType = Tree\nWType = ExpAvgParentWeight\nHSeparator = /\n"
DAG = TREE.replace("Tree\nW", "DAG\nW")
FILES = "[Data]\nFile = train.arff\nTestSet = test.arff\n"
MODEL = "[Model]\nMinimalWeight = 5.0\n"
LEVELS = "[Tree]\nFTest = [0.001,0.005,0.01,0.05,0.1,0.125]\n"


@dataclass(frozen=True)
class Case:
    """A settings file and the data that it runs on."""

    name: str
    prepare: Callable[[Path], None]
    settings: str
    switches: tuple[str, ...] = ()


def write(path: Path, lines: Iterable[str]) -> None:
    """Write lines."""
    path.write_text("\n".join(lines) + "\n")


def hierarchical(name: str, *, weights: bool = False) -> Callable[[Path], None]:
    """Return a function that writes train.arff, valid.arff and test.arff."""

    def prepare(folder: Path) -> None:
        for split in ("train", "valid", "test"):
            header, rows = header_and_rows(read_split(name, split))
            if weights and split != "test":
                rows = [f"{row},{{{0.5 + (i % 4) / 2}}}" for i, row in enumerate(rows)]
            write(folder / f"{split}.arff", [*header, *rows])

    return prepare


def sparse_rows(name: str) -> Callable[[Path], None]:
    """Return a function that writes numeric features as sparse rows, counted from 1."""

    def prepare(folder: Path) -> None:
        for split, ending in (("train", "trainvalid"), ("test", "test")):
            header, rows = header_and_rows(read_split(name, ending))
            kept = []
            for row in rows:
                *cells, labels = row.split(",")
                known = [(j, cell) for j, cell in enumerate(cells) if cell not in ("0", "?")]
                listed = [f"{j + 1} {cell}" for j, cell in known if float(cell) != 0]
                kept.append("{" + ",".join([*listed, f"{len(cells) + 1} {labels}"]) + "}")
            write(folder / f"{split}.arff", [*header, *kept])

    return prepare


def emotions(folder: Path) -> None:
    """Write a multi-label data set."""
    for split in ("train", "test"):
        write(folder / f"{split}.arff", read_split("emotions", split))


def water_quality(folder: Path) -> None:
    """Write a data set with 14 numeric targets; every third row is a test row."""
    header, rows = header_and_rows(read_split("water_quality"))
    write(folder / "train.arff", [*header, *(r for i, r in enumerate(rows) if i % 3 != 2)])
    write(folder / "test.arff", [*header, *(r for i, r in enumerate(rows) if i % 3 == 2)])


FOREST = "[Ensemble]\nIterations = {}\nEnsembleMethod = {}\n"
RANKING = "FeatureRanking = [Genie3,Symbolic]\n"
CASES = [
    Case("tree", hierarchical("cellcycle_FUN"), FILES + MODEL + TREE + OUTPUT),
    Case(
        "F-test list, validation",
        hierarchical("pheno_FUN"),
        FILES + "PruneSet = valid.arff\n" + MODEL + LEVELS + TREE + OUTPUT,
    ),
    Case(
        "forest, ranking",
        hierarchical("pheno_FUN"),
        FILES
        + MODEL
        + TREE
        + FOREST.format(10, "RForest")
        + "FeatureRanking = [Genie3,Symbolic]\n",
        ("forest",),
    ),
    Case(
        "bagging, OOB",
        hierarchical("church_FUN"),
        FILES + MODEL + TREE + FOREST.format("[5,10]", "Bagging") + "OOBestimate = Yes\n",
        ("forest",),
    ),
    Case(
        "cross-validation",
        hierarchical("pheno_FUN"),
        "[Data]\nFile = train.arff\nXVal = 3\n" + MODEL + TREE + OUTPUT,
        ("xval",),
    ),
    Case("multi-label", emotions, "[Attributes]\nTarget = 73-78\n" + FILES + MODEL + OUTPUT),
    Case("regression", water_quality, "[Attributes]\nTarget = 17-30\n" + FILES + MODEL + OUTPUT),
    Case(
        "sparse rows",
        sparse_rows("enron_hmc"),
        FILES + MODEL + TREE + "[Tree]\nFTest = 0.01\n" + OUTPUT,
    ),
    Case("DAG", hierarchical("pheno_GO"), FILES + MODEL + DAG + "[Tree]\nFTest = 0.01\n" + OUTPUT),
    Case("weights", hierarchical("pheno_FUN", weights=True), FILES + MODEL + TREE + OUTPUT),
]


def results(folder: Path, data: set[str]) -> dict[str, list[str]]:
    """Return the lines of all results, without dates and times."""
    return {
        path.name: TIMES.sub(r"\1: -", path.read_text()).splitlines()
        for path in sorted(folder.iterdir())
        if path.name not in data
    }


def count_differences(one: list[str], other: list[str]) -> int:
    """Return the number of lines that differ."""
    if len(one) == len(other):
        return sum(a != b for a, b in zip(one, other, strict=True))
    return sum(line[0] in "+-" for line in difflib.unified_diff(one, other, n=0)) - 2


def compare(case: Case, folder: Path) -> str:
    """Run a case with both programs; return a row of the table."""
    theirs, ours = folder / "clus", folder / "ramify"
    for place in (theirs, ours):
        place.mkdir()
        case.prepare(place)
        (place / "run.s").write_text(case.settings)
    data = {path.name for path in theirs.iterdir()}
    seconds = run_clus(theirs, case.switches), run_ramify(ours, case.switches)
    expected, found = results(theirs, data), results(ours, data)
    missing = sorted(set(expected) ^ set(found))
    differ = {
        name: count_differences(lines, found[name])
        for name, lines in expected.items()
        if name in found and lines != found[name]
    }
    n_lines = sum(map(len, expected.values()))
    notes = [f"{name}: {count}" for name, count in differ.items()] + [f"{m}?" for m in missing]
    return (
        f"{case.name:<24} {len(expected):>5} {n_lines:>8} {sum(differ.values()):>8} "
        f"{seconds[0]} {seconds[1]}  {', '.join(notes)}"
    )


def main(names: list[str]) -> None:
    """Compare all cases, or those whose names contain one of `names`."""
    print(f"{'case':<24} files    lines   differ   CLUS s   (cpu) ramify s   (cpu)", flush=True)
    for case in CASES:
        if not names or any(name in case.name for name in names):
            with tempfile.TemporaryDirectory(prefix="clus-side-by-side-") as folder:
                print(compare(case, Path(folder)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
