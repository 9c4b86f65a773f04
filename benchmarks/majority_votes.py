"""Ensembles for classes of levatic2015 whose trees vote by majority instead of by shares.

``python -m benchmarks.majority_votes enron --folds 10`` fits the single- and multi-label ensembles
of the study and scores them twice: as they are, by the mean of the shares that the trees predict,
and by the share of the trees in whose leaf at least half of the rows have the label. The paper
says that the former was used; that its figures are those of the latter is our reading. Scores are
means over folds; overfit scores are in brackets.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.tree_sizes import QUICK, published
from ramify._core import Tree
from ramify.apps.studies.data import load_data, split_rows
from ramify.apps.studies.models import build, take
from ramify.apps.studies.plan import Cell
from ramify.metrics import overfit_score, pooled_auprc
from ramify.studies import Study, load_study
from ramify.trees.views import change_tree

MODELS = ("slc-forest", "mlc-forest", "slc-bagging", "mlc-bagging")
GRID = np.linspace(0.0, 1.0, 51)


def round_leaves(tree: Tree) -> Tree:
    """Return a tree whose leaves predict 1 for the labels of at least half of their rows."""
    kept = tree.value >= 0.5
    before = np.concatenate([[0], np.cumsum(kept)]).astype(tree.value_indptr.dtype)
    return change_tree(
        tree,
        value=np.ones(int(kept.sum())),
        value_label=tree.value_label[kept],
        value_indptr=before[tree.value_indptr],
    )


def predict_leaves(model: Any, X: Any, *, majority: bool) -> NDArray[np.float64]:
    """Return the scores of the leaves of the hierarchy, without changing the model."""
    if hasattr(model, "named_estimators_"):  # one ensemble, or a constant, for each leaf
        members = model.named_estimators_.values()
        return np.column_stack([vote(one, X, majority=majority)[:, -1] for one in members])
    return vote(model.estimator_, X, majority=majority)


def vote(ensemble: Any, X: Any, *, majority: bool) -> NDArray[np.float64]:
    """Return the scores of an ensemble or of a constant classifier."""
    if not majority or not hasattr(ensemble, "trees_"):
        return np.asarray(ensemble.predict_proba(X))
    kept = ensemble.trees_
    ensemble.trees_ = [round_leaves(tree) for tree in kept]
    try:
        return np.asarray(ensemble.predict_proba(X))
    finally:
        ensemble.trees_ = kept


def run(study: Study, cell: Cell) -> list[tuple[float, float]]:
    """Fit one model on one fold; return its scores and overfit scores, then those by majority."""
    data = load_data(cell.data)
    protocol = study.protocol_of(cell.data)
    train, test = split_rows(data, protocol, cell.repeat, cell.fold, study.seed)
    model = build(cell.model, data, cell.seed).fit(take(data.X, train), data.y[train])
    leaves = data.hierarchy.indices(data.hierarchy.leaves)
    found = []
    for majority in (False, True):
        seen, unseen = (
            pooled_auprc(
                data.y[rows][:, leaves],
                predict_leaves(model, take(data.X, rows), majority=majority),
                thresholds=GRID,
                interpolation="linear",
            )
            for rows in (train, test)
        )
        found.append((unseen, overfit_score(seen, unseen)))
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the mean scores of each model on each data set."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.majority_votes", description=__doc__
    )
    parser.add_argument("datasets", nargs="*", default=QUICK)
    parser.add_argument("--folds", type=int, default=10, help="how many of the ten folds to run")
    parser.add_argument("--models", nargs="*", choices=MODELS, default=MODELS)
    options = parser.parse_args(arguments)
    study = load_study("levatic2015").on(options.datasets)
    score_of, overfit_of = published("auprc"), published("overfit:auprc")
    print(f"{'data set':18} {'model':21} {'shares':>13} {'majority':>13}     published")
    for data in study.data:
        for name in options.models:
            cells = [
                cell
                for cell in study.cells(data)
                if cell.model.name == name and cell.fold < options.folds
            ]
            means = np.mean([run(study, cell) for cell in cells], axis=0)
            shown = [f"{score:.3f} ({overfit:.3f})" for score, overfit in means]
            key = data.name, name
            print(
                f"{data.title:18} {cells[0].model.title:21} {shown[0]} {shown[1]} "
                f"{score_of[key]:.3f} ({overfit_of[key]:.3f})",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
