"""Every public data set, read from its files, has the statistics that its manifest gives.

Set RAMIFY_DATA to the folder of the data sets; without it these tests are skipped.
"""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from ramify import Hierarchy
from ramify.io import Table, read_arff, read_mulan

FOLDER = os.environ.get("RAMIFY_DATA")
MANIFEST = json.loads(Path(FOLDER, "MANIFEST.json").read_text()) if FOLDER else {}
DATASETS = sorted(MANIFEST.get("datasets", {}))

# The list in the header ends with a comma; the manifest counts an empty label after it.
EMPTY_LABELS = {"slovenian_rivers": 1}
# Abundances from 0 to 5; a species that occurs is a label.
ABUNDANCES = {"water_quality": 14}

pytestmark = pytest.mark.skipif(not FOLDER, reason="RAMIFY_DATA names no folder of data sets")


def read_files(name):
    """Return the tables of a data set by path in the manifest."""
    paths = [file["path"] for file in MANIFEST["files"] if file["dataset"] == name]
    xml = [path for path in paths if path.endswith(".xml")]
    tables = {}
    for path in paths:
        if path.endswith(".arff.gz") and xml:
            tables[path] = read_mulan(Path(FOLDER, path), Path(FOLDER, xml[0]))
        elif path.endswith(".arff.gz"):
            tables[path] = read_arff(Path(FOLDER, path), duplicate_names="rename")
    return tables


def with_abundances(table, n_targets):
    """Turn the last attributes into labels: those above 0."""
    names = table.feature_names
    return Table(
        X=table.X[:, :-n_targets],
        y=sparse.csr_array((table.X[:, -n_targets:] > 0).astype(np.int32)),
        hierarchy=Hierarchy.from_labels(names[-n_targets:]),
        feature_names=names[:-n_targets],
    )


def n_missing(X):
    if sparse.issparse(X):
        return int(np.isnan(X.data).sum())
    if isinstance(X, np.ndarray):
        return int(np.isnan(X).sum())
    columns = (column.array for _, column in X.items())
    # Series.isna is slow on the 47,034 columns of hom_FUN.
    return sum(
        int((c.codes < 0).sum() if hasattr(c, "codes") else c.isna().sum()) for c in columns
    )


def feature_statistics(table):
    return {
        "examples": table.X.shape[0],
        "numeric_attributes": len(table.feature_names) - len(table.categories),
        "nominal_attributes": len(table.categories),
        "missing_cells": n_missing(table.X),
        "sparse": sparse.issparse(table.X),
    }


def label_statistics(hierarchy, Y):
    occurs = np.asarray(Y.sum(axis=0)).ravel() > 0
    is_leaf = np.isin(np.arange(hierarchy.n_labels), hierarchy.indices(hierarchy.leaves))
    per_row = {
        "leaf_labels_per_example": Y[:, np.flatnonzero(is_leaf)].sum(),
        "most_specific_labels_per_example": sum(map(len, hierarchy.decode(Y))),
        "labels_per_example_with_ancestors": Y.sum(),
    }
    kind = "none" if hierarchy.depth == 1 else "tree" if hierarchy.is_tree else "DAG"
    return {
        "hierarchy": kind,
        "nodes": hierarchy.n_labels,
        "nodes_occurring": int(occurs.sum()),
        "leaves": len(hierarchy.leaves),
        "leaves_occurring": len(hierarchy.subset(np.array(hierarchy.labels)[occurs]).leaves),
        "depth": hierarchy.depth,
        "nodes_per_level": [len(level) for level in hierarchy.levels],
        "nodes_with_several_parents": int((np.diff(hierarchy.parent_rows[0]) > 1).sum()),
        **{name: round(total / Y.shape[0], 3) for name, total in per_row.items()},
    }


@pytest.mark.parametrize("name", DATASETS)
def test_statistics(name):
    tables = read_files(name)
    if name in ABUNDANCES:
        tables = {path: with_abundances(t, ABUNDANCES[name]) for path, t in tables.items()}
    for file in MANIFEST["files"]:
        if file["path"] in tables:
            table = tables[file["path"]]
            expected = dict(file["statistics"])
            unlabelled = expected.pop("examples_without_label", None)
            assert feature_statistics(table) == expected
            if unlabelled is not None:
                assert int((np.diff(table.y.indptr) == 0).sum()) == unlabelled
    entry = MANIFEST["datasets"][name]
    first, *others = tables.values()
    assert sum(table.X.shape[0] for table in tables.values()) == entry["examples"]
    if "labels" not in entry:
        assert first.y is None
        return
    assert all(other.hierarchy == first.hierarchy for other in others)
    found = label_statistics(
        first.hierarchy, sparse.vstack([t.y for t in tables.values()], format="csr")
    )
    for statistic in ("nodes", "leaves"):
        found[statistic] += EMPTY_LABELS.get(name, 0)
    found["nodes_per_level"][0] += EMPTY_LABELS.get(name, 0)
    assert found == entry["labels"]


@pytest.mark.parametrize(
    ("name", "n_labels"), [("imclef07a", 79), ("imclef07d", 29), ("diatoms", 397)]
)
def test_zero_ends_path_as_in_clus(name, n_labels):
    path = Path(FOLDER, name, f"{name}.train.arff.gz")
    assert read_arff(path, zero_ends_path=True).hierarchy.n_labels == n_labels
