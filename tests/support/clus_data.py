"""The real data sets of the CLUS results, in the form in which CLUS used them."""

from __future__ import annotations

import gzip
import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from ramify import Hierarchy
from ramify.io import read_arff, read_mulan
from tests.support.clus_cases import clus_order

DATA = Path(os.environ["RAMIFY_DATA"]) if os.environ.get("RAMIFY_DATA") else None
requires_data = pytest.mark.skipif(DATA is None, reason="RAMIFY_DATA is not set")

# Name in the results: folder in RAMIFY_DATA, splits of the training set, splits of the test set.
HIERARCHICAL = {
    "Enron_corr": ("enron_hmc", ["trainvalid"], ["test"]),
    "ImCLEF07A": ("imclef07a", ["train"], ["test"]),
    "ImCLEF07D": ("imclef07d", ["train"], ["test"]),
    "Diatoms": ("diatoms", ["train"], ["test"]),
}
_FLAT = {"emotions": "emotions", "medical": "medical", "enron": "enron_mulan"}


@dataclass(frozen=True)
class RealData:
    """Training and test rows; `order` has the positions of our labels in CLUS's order."""

    X_train: Any
    Y_train: sparse.csr_array
    X_test: Any
    Y_test: sparse.csr_array
    hierarchy: Hierarchy
    order: list[int]

    @property
    def names(self) -> list[str]:
        return [str(name) for name in self.X_train.columns]


@lru_cache(maxsize=2)
def load(name: str) -> RealData:
    """Load a data set by its name in the results, e.g. "cellcycle_FUN" or "wq_flat"."""
    base, _, kind = name.rpartition("_")
    if kind in ("flat", "mlc"):
        return _flat(base, by_path=kind == "flat")
    folder, train, test = HIERARCHICAL.get(name, (name, ["train", "valid"], ["test"]))
    tables = []
    for split in [*train, *test]:
        tables.append(
            read_arff(
                DATA / folder / f"{folder}.{split}.arff.gz",
                hierarchy=tables[0].hierarchy if tables else None,
                zero_ends_path=True,
                duplicate_names="rename",
                as_frame=True,
            )
        )
    hierarchy = tables[0].hierarchy
    parents = {label: tuple(hierarchy.parents(label)) for label in hierarchy.labels}
    order = clus_order(parents, "/" if hierarchy.is_tree else None)
    fit, check = tables[: len(train)], tables[len(train) :]
    return RealData(
        pd.concat([table.X for table in fit], ignore_index=True),
        sparse.csr_array(sparse.vstack([table.y for table in fit])),
        check[0].X,
        check[0].y,
        hierarchy,
        [hierarchy.index(label) for label in order],
    )


def read_split(folder: str, split: str = "") -> list[str]:
    """Return the lines of a file of a data set that are not empty."""
    ending = f".{split}.arff.gz" if split else ".arff.gz"
    with gzip.open(DATA / folder / f"{folder}{ending}", "rt") as lines:
        return [line for line in lines.read().splitlines() if line.strip()]


def header_and_rows(lines: list[str]) -> tuple[list[str], list[str]]:
    """Split the lines of an ARFF file after ``@data``."""
    at = next(i for i, line in enumerate(lines) if line.strip().lower() == "@data")
    return lines[: at + 1], lines[at + 1 :]


def _flat(base: str, *, by_path: bool) -> RealData:
    """Load a flat data set, with features f1, f2, … and labels L1, L2, … as in the results."""
    if base == "wq":
        (X_train, Y_train), (X_test, Y_test) = _water_quality()
    else:
        (X_train, Y_train), (X_test, Y_test) = (
            _mulan(_FLAT[base], split) for split in ("train", "test")
        )
    labels = [f"L{k + 1}" for k in range(Y_train.shape[1])]
    order = sorted(labels) if by_path else labels
    return RealData(
        X_train,
        sparse.csr_array(Y_train),
        X_test,
        sparse.csr_array(Y_test),
        Hierarchy.from_labels(labels),
        [labels.index(label) for label in order],
    )


def _mulan(folder: str, split: str) -> tuple[pd.DataFrame, Any]:
    table = read_mulan(
        DATA / folder / f"{folder}.{split}.arff.gz", DATA / folder / f"{folder}.xml"
    )
    X = table.X.toarray() if sparse.issparse(table.X) else np.asarray(table.X)
    columns = {}
    for k, name in enumerate(table.feature_names):
        column = X[:, k]
        if name in table.categories:
            # Attributes declared as {0,1} are nominal in CLUS.
            column = pd.Categorical.from_codes(column.astype(int), categories=["0", "1"])
        columns[f"f{k + 1}"] = column
    return pd.DataFrame(columns), table.y[:, _file_order(folder, split, table.hierarchy)]


def _file_order(folder: str, split: str, hierarchy: Hierarchy) -> list[int]:
    """Return label positions in the order of the ARFF header, which differs from the XML file."""
    lines = read_split(folder, split)
    names = [line.split()[1] for line in lines if line.lower().startswith("@attribute")]
    return [hierarchy.index(name) for name in names if name in set(hierarchy.labels)]


def _water_quality() -> list[tuple[pd.DataFrame, Any]]:
    table = read_arff(DATA / "water_quality" / "water_quality.arff.gz", target=[])
    cells = np.asarray(table.X, dtype=float)
    X = pd.DataFrame(cells[:, :16], columns=[f"f{k + 1}" for k in range(16)])
    Y = (cells[:, 16:] > 0).astype(int)
    held_out = np.arange(len(X)) % 3 == 2
    return [(X[rows].reset_index(drop=True), Y[rows]) for rows in (~held_out, held_out)]
