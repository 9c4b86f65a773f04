"""Accuracy of ramify's and CLUS's forests on the same training and test rows.

``python -m benchmarks.forest_quality`` prints the pooled AUPRC and the sizes of both, and whether
each set meets the requirement. With `clus_compat` the forests must be equal. By default, they are
grown with other random numbers, so five seeds on each side are compared: the means may differ by
two standard errors.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean, stdev
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from benchmarks.clus import run_clus, value_name
from benchmarks.problems import Problem, load_parts
from benchmarks.trees import print_table
from ramify import PCTBaggingClassifier, PCTForestClassifier
from ramify.metrics import pooled_auprc

SETS = (
    *("pheno_FUN", "church_FUN", "cellcycle_FUN", "derisi_FUN", "eisen_FUN", "spo_FUN"),
    *("pheno_GO", "medical", "emotions"),
)
SEEDS = range(5)
N_TREES = 50
MIN_LEAF = 5
EQUAL = 1e-9  # areas that differ by the rounding of sums alone


@dataclass(frozen=True)
class Kind:
    """An ensemble that both programs support."""

    title: str
    model: type
    settings: dict[str, str]
    options: dict[str, Any]


FOREST = Kind(
    "random forest",
    PCTForestClassifier,
    {"EnsembleMethod": "RForest", "SelectRandomSubspaces": "LOG"},
    {"max_features": "log2"},
)
BAGGING = Kind("bagging", PCTBaggingClassifier, {"EnsembleMethod": "Bagging"}, {})


@dataclass(frozen=True)
class Quality:
    """Pooled AUPRC on the test rows of one set, one figure per seed."""

    title: str
    name: str
    clus: list[float]
    compat: list[float]
    default: list[float]
    clus_nodes: int  # of all trees, with the first seed
    compat_nodes: int
    default_nodes: int

    @property
    def farthest(self) -> float:
        """Return the largest difference between CLUS and compat mode over the seeds."""
        return max(abs(a - b) for a, b in zip(self.clus, self.compat, strict=True))

    @property
    def equal(self) -> bool:
        """Whether compat mode has CLUS's figures, for every seed."""
        return self.farthest <= EQUAL

    @property
    def within_noise(self) -> bool:
        """Whether the means of the two differ by less than two standard errors."""
        spread = (stdev(self.clus) ** 2 + stdev(self.default) ** 2) / len(self.clus)
        return bool(abs(mean(self.clus) - mean(self.default)) <= 2 * spread**0.5)


def ask_clus(kind: Kind, train: Problem, test: Problem, seed: int) -> tuple[float, int]:
    """Return the pooled AUPRC and the nodes of CLUS's ensemble."""
    run = run_clus(
        train,
        min_weight=MIN_LEAF,
        test=test,
        extra={
            "General": {"RandomSeed": str(seed), "Verbose": "0"},
            "Ensemble": {"Iterations": str(N_TREES), **kind.settings},
        },
        switches=("-forest",),
        cached=True,  # the same rows and seed give the same forest
    )
    if run.status != "ok":
        raise RuntimeError(f"CLUS on {train.name}: {run.status} {run.message}")
    return run.measures["auprc_pooled"], run.nodes


def as_frame(problem: Problem) -> pd.DataFrame:
    """Return X with all declared categories, also those without training rows."""
    X = problem.X.toarray() if sp.issparse(problem.X) else problem.X
    columns = dict(enumerate(np.asarray(X, dtype=float).T))
    for j, values in problem.categories.items():
        codes = np.where(np.isnan(columns[j]), -1, columns[j]).astype(int)
        names = [value_name(code) for code in range(len(values))]
        columns[j] = pd.Categorical.from_codes(codes, categories=names)
    return pd.DataFrame({f"x{j}": column for j, column in columns.items()})


def score(kind: Kind, train: Problem, test: Problem, seed: int, compat: bool) -> tuple[float, int]:
    """Return the pooled AUPRC and the nodes of our ensemble."""
    model = kind.model(
        train.hierarchy,
        n_estimators=N_TREES,
        random_state=seed,
        clus_compat=compat,
        n_jobs=1,
        min_weight=MIN_LEAF,  # rows drawn twice count twice, as in CLUS
        **kind.options,
    ).fit(as_frame(train), train.Y)
    scores = model.predict_proba(as_frame(test))
    return float(pooled_auprc(test.Y, scores)), sum(len(tree.feature) for tree in model.trees_)


def compare(kind: Kind, name: str) -> Quality:
    """Score both on one set, for every seed."""
    train, test = load_parts(name)
    assert test is not None, f"{name} has no test part"
    runs = (
        [ask_clus(kind, train, test, seed) for seed in SEEDS],
        [score(kind, train, test, seed, compat=True) for seed in SEEDS],
        [score(kind, train, test, seed, compat=False) for seed in SEEDS],
    )
    scores = ([auprc for auprc, _ in run] for run in runs)
    return Quality(kind.title, name, *scores, *(run[0][1] for run in runs))


def cells(quality: Quality) -> list[str]:
    """Return a row of the printed table."""
    return [
        quality.title,
        quality.name,
        f"{quality.clus[0]:.6f}",
        f"{quality.compat[0]:.6f}",
        f"{quality.farthest:.1g}",
        "pass" if quality.equal else "MISS",
        f"{mean(quality.clus):.4f} ± {stdev(quality.clus):.4f}",
        f"{mean(quality.default):.4f} ± {stdev(quality.default):.4f}",
        "pass" if quality.within_noise else "MISS",
        *(f"{n:,}" for n in (quality.clus_nodes, quality.compat_nodes, quality.default_nodes)),
    ]


HEADINGS = (
    *("ensemble of 50", "set", "CLUS, seed 0", "compat", "farthest", "equal"),
    *("CLUS, 5 seeds", "default, 5 seeds", "in noise", "nodes: CLUS", "compat", "default"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table and return the number of requirements missed."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.forest_quality", description=__doc__
    )
    parser.add_argument("--quick", action="store_true", help="the smallest set alone")
    options = parser.parse_args(arguments)
    names = SETS[:1] if options.quick else SETS
    found = [compare(FOREST, name) for name in names]
    found.append(compare(BAGGING, SETS[0]))
    print("pooled AUPRC on the test rows")
    print_table([list(HEADINGS), *map(cells, found)])
    unequal, noisy = (sum(not q.equal for q in found), sum(not q.within_noise for q in found))
    print(f"compat mode equal: {len(found) - unequal} of {len(found)}")
    print(
        f"default mode within noise over {len(SEEDS)} seeds: {len(found) - noisy} of {len(found)}"
    )
    return unequal + noisy


if __name__ == "__main__":
    raise SystemExit(main())
