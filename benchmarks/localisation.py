"""The BR-DT study with the label "subcellular localisation", which the public FunCat sets lack.

``python -m benchmarks.localisation --out results/brdt2015-localisation`` rebuilds the label from
the Gene Ontology twin of each data set and runs level 1 of the study with it. A row has the label
if its twin is annotated with an organelle, the cytoplasm or a membrane. This is a reconstruction:
the paper's FunCat is not available, and its share of rows with the label is unknown.

The two files of a data set list the same genes in the same order, except for a few genes that only
one of them has. Genes have no names, so rows are matched by their features, in order.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.funcat_files import read_lines
from ramify import fetch
from ramify.apps.studies.plan import DataSpec
from ramify.studies import Study, load_study, run_study, write_reports

COMPARTMENTS = ("GO0043226", "GO0005737", "GO0016020")  # organelle, cytoplasm, membrane
LABEL = "98"  # not a class of FunCat
SPLITS = ("train", "valid", "test")


def row_keys(X: Any) -> list[bytes]:
    """Return a key of each row of features."""
    dense = X.toarray() if hasattr(X, "toarray") else np.asarray(X, dtype=np.float64)
    return [row.tobytes() for row in np.nan_to_num(dense, nan=-9e9)]


def has_label(name: str) -> np.ndarray:
    """Return whether each row of a FunCat set has the label, by its Gene Ontology twin."""
    rows, twin = fetch(f"{name}_FUN", as_frame=False), fetch(f"{name}_GO", as_frame=False)
    columns = twin.hierarchy.indices(COMPARTMENTS)
    located = np.asarray(twin.y[:, columns].sum(axis=1)).ravel() > 0
    found = np.zeros(rows.X.shape[0], dtype=bool)
    for split in SPLITS:  # a gene is in the same split of both
        ours, theirs = rows.splits[split], twin.splits[split]
        keys = row_keys(rows.X[ours]), row_keys(twin.X[theirs])
        for a, b, n in SequenceMatcher(None, *keys, autojunk=False).get_matching_blocks():
            found[ours[a : a + n]] = located[theirs[b : b + n]]
    return found


def write_data(name: str, path: Path) -> float:
    """Write the rows of a FunCat set with the label as one ARFF file; return its share of rows."""
    has = has_label(name)
    head, rows = read_lines(name)
    if len(rows) != len(has):
        raise ValueError(f"{name}_FUN must have {len(has)} rows in its files, got {len(rows)}.")
    lines = [f"{line},{LABEL}" if "hierarchical" in line else line for line in head]
    lines.append("@DATA")
    lines.extend(
        f"{row}@{LABEL}" if positive else row for row, positive in zip(rows, has, strict=True)
    )
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return float(has.mean())


def make_study(folder: Path, names: Sequence[str]) -> Study:
    """Return level 1 of the study on the data with the label."""
    study = load_study("brdt2015").on(["level 1"])
    data = []
    for one in study.data:
        name = one.name.removesuffix("-1")
        if names and name not in names:
            continue
        path = folder / f"{name}.arff"
        share = write_data(name, path)
        print(f"{name}: {share:.1%} of the rows have the label", flush=True)
        title = f"{one.title}, with subcellular localisation"
        data.append(
            DataSpec(one.name, title, file=str(path), target="class", level=1, family=one.family)
        )
    return replace(study, name="brdt2015-localisation", data=tuple(data))


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the data, run the study and write its reports."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.localisation", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("results/brdt2015-localisation"))
    parser.add_argument("--datasets", nargs="*", default=[], help="such as pheno; default: all")
    options = parser.parse_args(arguments)
    folder = options.out / "data"
    folder.mkdir(parents=True, exist_ok=True)
    run_study(make_study(folder, options.datasets), options.out)
    for path in write_reports(options.out):
        print(path)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
