"""How good forests are: ramify's beside CLUS's, on the same training and test rows.

``python -m benchmarks.forest_quality`` prints the pooled AUPRC and the sizes of both. With
`clus_compat` the forests are equal but for ties between categories that CLUS's roundings break.
By default they are grown with other random numbers, so they are compared over five seeds on each
side, and where a node's drawn features make no test, ours goes on drawing and CLUS's stops. That
shows in sets with many nearly constant features, where CLUS's random forests stay small: better
for it on pheno, far worse on medical.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean, stdev
from typing import Any

from benchmarks.clus import run_clus
from benchmarks.problems import Problem, load_parts
from benchmarks.trees import print_table
from ramify import PCTBaggingClassifier, PCTForestClassifier
from ramify.metrics import pooled_auprc

SETS = ("pheno_FUN", "church_FUN", "cellcycle_FUN", "eisen_FUN", "pheno_GO", "medical")
SEEDS = range(5)
N_TREES = 50
MIN_LEAF = 5


@dataclass(frozen=True)
class Kind:
    """An ensemble as both programs know it."""

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


def score(kind: Kind, train: Problem, test: Problem, seed: int, compat: bool) -> tuple[float, int]:
    """Return the pooled AUPRC and the nodes of our ensemble."""
    nominal = {"categorical_features": sorted(train.categories)} if train.categories else {}
    model = kind.model(
        train.hierarchy,
        n_estimators=N_TREES,
        random_state=seed,
        clus_compat=compat,
        n_jobs=1,
        min_weight=MIN_LEAF,  # rows drawn twice count twice, as in CLUS
        **nominal,
        **kind.options,
    ).fit(train.X, train.Y)
    scores = model.predict_proba(test.X)
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
        f"{mean(quality.clus):.4f} ± {stdev(quality.clus):.4f}",
        f"{mean(quality.default):.4f} ± {stdev(quality.default):.4f}",
        "within noise" if quality.within_noise else "different",
        *(f"{n:,}" for n in (quality.clus_nodes, quality.compat_nodes, quality.default_nodes)),
    ]


HEADINGS = (
    *("ensemble of 50", "set", "CLUS, seed 0", "compat", "farthest"),
    *("CLUS, 5 seeds", "default, 5 seeds", "", "nodes: CLUS", "compat", "default"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
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
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
