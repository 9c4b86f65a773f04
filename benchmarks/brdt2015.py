"""What ``ramify study brdt2015`` leaves open: the effect of a common label, and the paper's trees.

The public FunCat sets lack "Subcellular Localization", which the paper's trees predict most and
which was probably very common: here no label has half of the rows, and a pruned tree most often
predicts none. ``python -m benchmarks.brdt2015`` takes level 1 of the study's data sets as they are
and with one label more, which 58 % of the rows have by chance, and prints micro-F and the places
of all methods, to show what such a label alone changes. ``--trees FOLDER`` draws the trees of
pheno and seq at level 1 instead.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy import sparse

from benchmarks.trees import print_table
from ramify import BRDTClassifier, Hierarchy, fetch, flatten_level
from ramify.inspection import export_text, plot_tree
from ramify.metrics import micro_f1
from ramify.stats import friedman
from ramify.studies import load_study
from ramify.studies.data import StudyData, load_data, split_rows
from ramify.studies.models import build, label_sets, take
from ramify.studies.plan import Cell, DataSpec, Study

COMMON_SHARE = 0.58


def add_common_label(data: StudyData) -> StudyData:
    """Return the data with one more label, whatever else a row has."""
    n = data.y.shape[0]
    has = np.random.default_rng(0).random(n) < COMMON_SHARE
    column = sparse.csr_array(has[:, None].astype(np.int32))
    y = sparse.csr_array(sparse.hstack([data.y, column], format="csr"))
    return replace(data, y=y, hierarchy=Hierarchy.from_labels(range(y.shape[1])))


def score(study: Study, data: StudyData, cell: Cell) -> float:
    """Return the micro-F of one method on one fold."""
    train, test = split_rows(data, study.protocol, cell.repeat, cell.fold, study.seed)
    model = build(cell.model, data, cell.seed).fit(take(data.X, train), data.y[train])
    predicted = label_sets(model, take(data.X, test))
    return float(micro_f1(data.y[test], predicted, hierarchy=data.hierarchy))


def mean_scores(study: Study, spec: DataSpec, n_folds: int, common: bool) -> list[float]:
    """Return the mean micro-F of every method over the first folds."""
    data = add_common_label(load_data(spec)) if common else load_data(spec)
    cells = [cell for cell in study.cells(spec) if cell.fold < n_folds]
    found = np.array([score(study, data, cell) for cell in cells])
    return list(found.reshape(n_folds, len(study.models)).mean(axis=0))


def compare(study: Study, n_folds: int, common: bool) -> None:
    """Print micro-F of all methods on all data sets, and their places."""
    titles = [model.title for model in study.models]
    print(f"\nmicro-F in %, {n_folds} of {study.protocol.folds} folds", end="")
    print(f", with a label that {COMMON_SHARE:.0%} have by chance\n" if common else "\n")
    scores = []
    for spec in study.data:
        scores.append(mean_scores(study, spec, n_folds, common))
        print(spec.name, *(f"{100 * value:.2f}" for value in scores[-1]), flush=True)
    rows = [
        [spec.name, *(f"{100 * value:.2f}" for value in row)]
        for spec, row in zip(study.data, scores, strict=True)
    ]
    print()
    print_table([["set", *titles], *rows])
    if len(rows) > 1:
        print(f"\n{friedman(np.array(scores), titles)}")


def draw_trees(folder: Path) -> None:
    """Print and draw the trees of pheno and seq at level 1, grown on all rows."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("pheno", "seq"):
        data = fetch(f"{name}_FUN")
        X, y = data.rows(*data.splits)
        Y, hierarchy = flatten_level(sparse.csr_array(y), data.hierarchy, 1)
        for variant in ("pruned", "balanced"):
            model = BRDTClassifier(hierarchy, variant=variant, random_state=0).fit(X, Y)
            print(f"\n{name}, level 1, {variant}: {len(model.components_)} groups\n")
            print(export_text(model))
            for label, tree in model.named_estimators_.items():
                if tree.get_n_leaves() > 1:
                    axes = plot_tree(tree, max_depth=3)
                    axes.figure.savefig(folder / f"{name}-{variant}-{label}.png", dpi=120)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the comparison, or draw the trees."""
    study = load_study("brdt2015").on(["level 1"])
    names = [spec.name.removesuffix("-1") for spec in study.data]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.brdt2015", description=__doc__)
    parser.add_argument("--sets", nargs="+", choices=names, default=names)
    parser.add_argument("--folds", type=int, default=3, help="how many of the ten")
    parser.add_argument("--trees", type=Path, metavar="FOLDER", help="only draw trees")
    options = parser.parse_args(arguments)
    if options.trees:
        draw_trees(options.trees)
        return 0
    study = study.on([f"{name}-1" for name in options.sets])
    for common in (False, True):
        compare(study, options.folds, common)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
