"""Nodes of the single- and multi-label trees of levatic2015 on all rows, next to the paper's.

Run as ``python -m benchmarks.tree_sizes imclef07d enron``; without names, it uses all sets except
Reuters and ExprYeast, which take minutes. "Original" and "Pruned" are the trees of CLUS's defaults
for nominal targets: splits by entropy, at least two rows in a leaf, and, if pruned, pruned as in
C4.5. HSC trees choose the levels of their F-tests, without and with smoothed leaves.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Iterator
from importlib.resources import files

import numpy as np
from scipy import sparse
from sklearn.utils import _safe_indexing

from ramify import FlatClassifier, PCTClassifier, PerEdgeClassifier
from ramify.apps.studies.data import StudyData, load_data
from ramify.studies import load_study

QUICK = ("rivers", "imclef07a", "imclef07d", "enron")
LEVELS = (0.125, 0.1, 0.05, 0.01, 0.005, 0.001)


def published(quantity: str) -> dict[tuple[str, str], float]:
    """Read a column of the paper's tables by data set and model."""
    text = files("ramify.apps.studies").joinpath("papers/levatic2015.csv").read_text("utf-8")
    rows = csv.DictReader(text.splitlines())
    return {
        (row["dataset"], row["model"]): float(row["value"])
        for row in rows
        if row["quantity"] == quantity
    }


def count_nodes(model: FlatClassifier | PerEdgeClassifier) -> int:
    """Return the nodes of all local trees; a constant counts as a leaf."""
    trees = model.named_estimators_.values()
    return sum(len(one.tree_.feature) if isinstance(one, PCTClassifier) else 1 for one in trees)


def sizes(data: StudyData, *, hsc: bool) -> Iterator[tuple[str, str, int]]:
    """Yield the model of the study, the settings of its trees, and the number of nodes."""
    X = _safe_indexing(data.X, np.arange(data.y.shape[0]))
    leaves = sparse.csr_array(data.y)[:, data.hierarchy.indices(data.hierarchy.leaves)]
    nominal = np.array(data.nominal or [])
    common = {"min_weight": 2.0, "categorical_features": nominal if nominal.any() else None}
    for pruning, name in ((None, "Original"), ("pessimistic", "Pruned")):
        tree = PCTClassifier(criterion="entropy", pruning=pruning, clus_compat=True, **common)
        flat = FlatClassifier(tree, hierarchy=data.hierarchy).fit(X, data.y)
        yield "slc-tree", name, count_nodes(flat)
        yield "mlc-tree", name, len(tree.fit(X, leaves).tree_.feature)
    for smoothing, name in ((0.0, "plain"), (1.0, "smoothed")) if hsc else ():
        tree = PCTClassifier(f_test=list(LEVELS), smoothing=smoothing, random_state=0, **common)
        edges = PerEdgeClassifier(tree, hierarchy=data.hierarchy).fit(X, data.y)
        yield "hsc-tree", name, count_nodes(edges)


def main() -> None:
    """Print a table for each data set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="*", default=QUICK)
    parser.add_argument("--hsc", action="store_true", help="also HSC trees, which take longer")
    options = parser.parse_args()
    theirs = published("complexity")
    for data in load_study("levatic2015").on(options.datasets).data:
        for model, settings, ours in sizes(load_data(data), hsc=options.hsc):
            paper = theirs[data.name, model]
            same = " =" if ours == paper else ""
            print(
                f"{data.title:18} {model:9} {settings:13} {ours:7,} {paper:9,.0f}{same}"
                f"   {time.process_time():6.0f} s CPU",
                flush=True,
            )


if __name__ == "__main__":
    main()
