"""The comparison of BR-DT with other multi-label methods on yeast data, done again.

``python -m benchmarks.brdt2015`` takes levels 1 to 4 of the ten FunCat sets as flat labels, ten
folds each, and prints micro-F, average ranks, Friedman's test and Benjamini and Hochberg's
procedure for every level; ``--quick`` does a small part of it, ``--trees`` prints the trees of
pheno and seq at level 1. Finished folds are kept in ``build/benchmarks/brdt2015.json`` and not
done again, so that the work may be interrupted.

The public sets follow a later FunCat than the paper's, with 18, 80, 178 and 142 labels at the four
levels instead of 16, 102, 89 and 42, so that figures cannot be equal; findings can. Trees are
C4.5-like (gain ratio, two rows a leaf, confidence 0.25) as in the paper. For CLUS stand our PCTs
for all labels at once, two rows a leaf, "pruned" by an F-test at 0.01.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline

from benchmarks.clus import BUILD
from benchmarks.trees import print_table
from ramify import (
    BinaryRelevance,
    BRDTClassifier,
    LabelPowerset,
    MLkNN,
    PCTClassifier,
    RAkEL,
    fetch,
    flatten_level,
)
from ramify.inspection import export_text
from ramify.metrics import hamming_loss, micro_f1
from ramify.stats import friedman, pairwise

SETS = (
    "seq",
    "pheno",
    "cellcycle",
    "church",
    "derisi",
    "expr",
    "eisen",
    "gasch1",
    "gasch2",
    "spo",
)
QUICK_SETS = ("pheno", "church", "derisi")
STORE = BUILD / "benchmarks" / "brdt2015.json"

Table = dict[str, dict[str, float]]


def make_methods(nominal: list[int]) -> dict[str, Callable[[], Any]]:
    """Return how each method is made, by its name in the paper."""
    tree = PCTClassifier(
        criterion="gain_ratio", min_samples_leaf=2, nominal_tests="nary", pruning="pessimistic"
    )
    columns = {"categorical_features": nominal or None}
    clus = {"min_samples_leaf": 2, "nominal_tests": "nary", **columns}
    return {
        "BR-DT Pru": lambda: BRDTClassifier(random_state=0, **columns),
        "BR-DT Unpr-Pr(1)": lambda: BRDTClassifier(variant="balanced", random_state=0, **columns),
        "BR": lambda: BinaryRelevance(estimator=tree, **columns),
        "LP": lambda: LabelPowerset(estimator=tree, **columns),
        "RAkEL": lambda: RAkEL(estimator=tree, random_state=0, **columns),
        "MLkNN": lambda: make_pipeline(Scaler(nominal), MLkNN(**columns)),
        "Clus Pru": lambda: PCTClassifier(f_test=0.01, **clus),
        "Clus Unpr": lambda: PCTClassifier(**clus),
    }


class Scaler(TransformerMixin, BaseEstimator):
    """Brings numeric columns to [0, 1], as the paper's software does; nominal ones stay."""

    def __init__(self, nominal: Sequence[int] = ()) -> None:
        self.nominal = nominal

    def fit(self, X: Any, y: Any = None) -> Scaler:
        """Learn each column's range."""
        self.low_, self.width_ = np.zeros(X.shape[1]), np.ones(X.shape[1])
        for column in set(range(X.shape[1])) - set(self.nominal):
            known = X[~np.isnan(X[:, column]), column]
            if known.size and known.min() < known.max():
                self.low_[column], self.width_[column] = known.min(), np.ptp(known)
        return self

    def transform(self, X: Any) -> Any:
        """Return the scaled rows."""
        return (X - self.low_) / self.width_


def load_level(name: str, level: int) -> tuple[Any, Any, Any, list[int]]:
    """Return X of all rows, flat labels, their hierarchy and the nominal columns."""
    data = fetch(f"{name}_FUN", as_frame=False)
    X, y = data.rows(*data.splits)
    Y, hierarchy = flatten_level(sparse.csr_array(y), data.hierarchy, level)
    names = list(data.feature_names)
    return X, Y, hierarchy, sorted(names.index(feature) for feature in data.categories)


def run_fold(name: str, level: int, fold: int, n_folds: int) -> Table:
    """Return micro-F, Hamming loss and seconds of every method on one fold."""
    X, Y, hierarchy, nominal = load_level(name, level)
    folds = list(KFold(n_folds, shuffle=True, random_state=0).split(X))
    train, test = folds[fold]
    found = {}
    for method, make in make_methods(nominal).items():
        start = time.process_time()
        model = make().fit(X[train], Y[train])
        predicted = model.predict(X[test])
        found[method] = {
            "micro_f1": float(micro_f1(Y[test], predicted, hierarchy=hierarchy)),
            "hamming_loss": float(hamming_loss(Y[test], predicted, hierarchy=hierarchy)),
            "cpu_s": time.process_time() - start,
        }
    return found


def run(options: argparse.Namespace) -> dict[str, Table]:
    """Do the folds that are not in the store yet."""
    STORE.parent.mkdir(parents=True, exist_ok=True)
    store: dict[str, Table] = json.loads(STORE.read_text()) if STORE.exists() else {}
    for level in options.levels:
        for name in options.sets:
            for fold in range(options.folds):
                key = f"{name} {level} {fold}/{options.folds}"
                if key not in store:
                    store[key] = run_fold(name, level, fold, options.folds)
                    STORE.write_text(json.dumps(store, indent=1))
                    seconds = sum(figure["cpu_s"] for figure in store[key].values())
                    print(f"{key}: {seconds:.0f} CPU s", flush=True)
    return store


def report(store: dict[str, Table], level: int, options: argparse.Namespace) -> None:
    """Print one level's table and its tests."""
    methods = list(make_methods([]))
    scores = np.array(
        [
            np.mean(
                [
                    [store[f"{name} {level} {k}/{options.folds}"][m]["micro_f1"] for m in methods]
                    for k in range(options.folds)
                ],
                axis=0,
            )
            for name in options.sets
        ]
    )
    print(f"\nLevel {level}: micro-F in %, {options.folds} folds\n")
    rows = [
        [name, *(f"{100 * cell:.2f}" for cell in row)]
        for name, row in zip(options.sets, scores, strict=True)
    ]
    print_table([["set", *methods], *rows])
    if len(scores) > 1:
        print(f"\n{friedman(scores, methods)}\n\n{pairwise(scores, methods)}")


def print_trees() -> None:
    """Print the trees of pheno and seq at level 1, grown on all rows."""
    for name in ("pheno", "seq"):
        data = fetch(f"{name}_FUN")
        X, y = data.rows(*data.splits)
        Y, hierarchy = flatten_level(sparse.csr_array(y), data.hierarchy, 1)
        model = BRDTClassifier(hierarchy, random_state=0).fit(X, Y)
        print(f"\n{name}, level 1: {len(model.components_)} groups\n\n{export_text(model)}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the study."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.brdt2015", description=__doc__)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    parser.add_argument("--levels", nargs="+", type=int, default=(1, 2, 3, 4))
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--quick", action="store_true", help="three sets, level 1, three folds")
    parser.add_argument("--trees", action="store_true", help="only print trees")
    options = parser.parse_args(arguments)
    if options.trees:
        print_trees()
        return 0
    if options.quick:
        options.sets, options.levels, options.folds = QUICK_SETS, (1,), 3
    store = run(options)
    for level in options.levels:
        report(store, level, options)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
