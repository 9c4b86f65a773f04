"""Forests whose trees count a row once, however often it was drawn, against the default.

``python -m benchmarks.repeated_rows`` fits forests where a row drawn v times has weight v (the
default, and what CLUS does), weight 1, or the square root of v, to made-up rows with 10 of 10,000
labels each, to made-up rows with 5,000 labels in a tree, and to data sets. It prints CPU seconds
of one thread, levels and nodes of a tree, and AU(PRC), pooled and weighted by frequency, each
as mean and standard deviation over the seeds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.clus import describe_machine
from benchmarks.many_labels import make_hierarchy, make_rows
from benchmarks.trees import print_table
from ramify import Hierarchy, PCTForestClassifier, fetch, metrics
from ramify.trees import growing

SETS = ("cellcycle_FUN", "enron_hmc", "imclef07a", "cellcycle_GO")
WAYS: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "v": lambda drawn: drawn,
    "1": np.ones_like,
    "√v": np.sqrt,
}


@dataclass(frozen=True)
class Problem:
    """Training and test rows."""

    name: str
    hierarchy: Hierarchy
    X: Any
    y: Any
    X_test: Any
    y_test: Any
    n_trees: int

    @classmethod
    def of_set(cls, name: str, n_trees: int) -> Problem:
        """Read a data set."""
        data = fetch(name)
        rows = data.X_train, data.y_train, data.X_test, data.y_test
        return cls(name, data.hierarchy, *rows, n_trees)

    @classmethod
    def make(cls, name: str, hierarchy: Hierarchy, X: Any, y: Any, n_trees: int) -> Problem:
        """Divide made-up rows: two thirds are for training."""
        n = 2 * len(X) // 3
        return cls(name, hierarchy, X[:n], y[:n], X[n:], y[n:], n_trees)


def made_up(n_trees: int) -> list[Problem]:
    """Return rows that share few labels, and rows of 5,000 labels in a tree."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4_500, 20))
    labels = rng.integers(0, 10_000, (len(X), 10))
    cells = np.ones(labels.size), (np.repeat(np.arange(len(X)), 10), labels.ravel())
    y = (sparse.coo_array(cells, shape=(len(X), 10_000)).tocsr() > 0).astype(np.int32)
    flat = Hierarchy.from_labels([f"label {k}" for k in range(10_000)])
    tree = make_hierarchy(5_000, rng)
    return [
        Problem.make("10 of 10,000 labels", flat, X, y, n_trees),
        Problem.make("5,000 labels", tree, *make_rows(tree, 6_000, rng), n_trees),
    ]


def counting(way: str) -> Callable[..., Any]:
    """Return `growing.count_rows_drawn` with other weights of rows."""
    count = growing.count_rows_drawn

    def count_as(
        rows: NDArray[np.int64], weights: NDArray[np.float64], counts: NDArray[np.int32]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        drawn, _ = count(rows, weights, counts)
        counted = np.zeros_like(weights)
        counted[rows] = weights[rows] * WAYS[way](counts.astype(float)) * (counts > 0)
        return drawn, counted

    return count_as


def count_levels(tree: Any) -> int:
    """Return the number of tests on the longest path."""
    depth = np.zeros(len(tree.feature), dtype=int)
    for node in range(len(depth)):
        depth[tree.child[tree.child_indptr[node] : tree.child_indptr[node + 1]]] = depth[node] + 1
    return int(depth.max())


def measure(problem: Problem, way: str, seeds: int) -> list[str]:
    """Fit a forest per seed and return a row of the table."""
    found = []
    for seed in range(seeds):
        model = PCTForestClassifier(
            problem.hierarchy, n_estimators=problem.n_trees, n_jobs=1, random_state=seed
        )
        start = time.process_time()
        with patch.object(growing, "count_rows_drawn", counting(way)):
            model.fit(problem.X, problem.y)
        cpu_s = time.process_time() - start
        scores = model.predict_proba(problem.X_test)
        pooled, weighted = (
            measure(problem.y_test, scores, hierarchy=model.hierarchy_)
            for measure in (metrics.pooled_auprc, metrics.weighted_auprc)
        )
        levels = np.mean([count_levels(tree) for tree in model.trees_])
        nodes = np.mean([len(tree.feature) for tree in model.trees_])
        found.append((cpu_s, levels, nodes, pooled, weighted))
    mean, spread = np.mean(found, axis=0), np.std(found, axis=0)
    return [
        *(problem.name, way, f"{np.min(found, axis=0)[0]:.2f}", f"{mean[1]:.0f}"),
        *(f"{mean[2]:.0f}", *(f"{mean[k]:.4f} ± {spread[k]:.4f}" for k in (3, 4))),
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.repeated_rows", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--datasets", nargs="*", default=SETS)
    parser.add_argument("--trees", type=int, default=50, help="on data sets (default 50)")
    parser.add_argument("--made-up-trees", type=int, default=5, help="default 5")
    parser.add_argument("--seeds", type=int, default=3, help="forests per way (default 3)")
    options = parser.parse_args(arguments)
    print(f"one thread; {describe_machine()}\n", flush=True)
    problems = made_up(options.made_up_trees)
    problems += [Problem.of_set(name, options.trees) for name in options.datasets]
    table = [["set", "weight", "fit CPU s", "levels", "nodes", "pooled", "weighted"]]
    for problem in problems:
        found = [measure(problem, way, options.seeds) for way in WAYS]
        print_table([table[0], *found])
        print(flush=True)


if __name__ == "__main__":
    main()
