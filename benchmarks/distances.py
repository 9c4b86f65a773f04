"""Training time of trees grown by distances between label sets, relative to criterion "variance".

``python -m benchmarks.distances`` grows the same kind of tree by every criterion, in turns and on
one thread, on Enron's training rows and on generated rows of the size of mediana (5,318 × 79, five
labels), and prints CPU times as ratios to "variance". Hamming must take at most 20 times as long.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from statistics import median
from typing import Any

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from benchmarks.problems import Problem, load
from benchmarks.trees import print_table
from ramify import Hierarchy, PCTClassifier
from ramify.trees import distinct_label_sets

CRITERIA = ("variance", "euclidean", "hamming", "jaccard", "matching")
MOST_TIMES = 20.0


def mediana_sized(seed: int = 0) -> Problem:
    """Make rows of mediana's size: five labels, 1.2 to a row, that follow from the features."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(5318, 79))
    strength = X[:, :10] @ rng.normal(size=(10, 5)) + 2 * rng.normal(size=(5318, 5))
    # The 24 % of largest strengths make 1.2 labels a row.
    Y = (strength > np.quantile(strength, 0.76)).astype(np.int32)
    hierarchy = Hierarchy.from_labels([f"label{c}" for c in range(5)])
    return Problem("mediana-sized", X, sp.csr_array(Y), hierarchy)


def make_tree(problem: Problem, criterion: str, min_leaf: int) -> PCTClassifier:
    """Return a tree of one criterion, on one thread."""
    nominal = {"categorical_features": sorted(problem.categories)} if problem.categories else {}
    return PCTClassifier(
        problem.hierarchy,
        criterion=criterion,
        min_samples_leaf=min_leaf,
        n_jobs=1,
        random_state=0,
        **nominal,
    )


def measure(problem: Problem, options: argparse.Namespace) -> dict[str, tuple[float, int]]:
    """Return each criterion's time as a ratio to variance's in the same round, and its leaves."""
    trees = {name: make_tree(problem, name, options.min_leaf) for name in CRITERIA}
    rounds: list[dict[str, float]] = []
    with threadpool_limits(1):
        for _ in range(options.rounds):
            took: dict[str, float] = {}
            for name, tree in trees.items():
                start = time.process_time()
                tree.fit(problem.X, problem.Y)
                took[name] = time.process_time() - start
            rounds.append(took)
    return {
        name: (
            median(took[name] / took["variance"] for took in rounds),
            trees[name].get_n_leaves(),
        )
        for name in CRITERIA
    }


def parse_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.distances", description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="fits of each criterion")
    parser.add_argument("--min-leaf", type=int, default=5, help="least rows of a leaf")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the ratios and return the number of requirements missed."""
    options = parse_options(arguments)
    missed = 0
    rows: list[list[Any]] = [["set", "rows", "columns", "labels", "sets", *CRITERIA]]
    leaves: list[list[Any]] = [["leaves", *CRITERIA]]
    for problem in (load("enron_mulan"), mediana_sized()):
        n_sets = len(distinct_label_sets(problem.Y, problem.hierarchy))
        found = measure(problem, options)
        sizes = [*problem.X.shape, problem.Y.shape[1], n_sets]
        ratios = [f"× {found[name][0]:.2f}" for name in CRITERIA]
        rows.append([problem.name, *map(str, sizes), *ratios])
        leaves.append([problem.name, *(str(found[name][1]) for name in CRITERIA)])
        missed += found["hamming"][0] > MOST_TIMES
    print("CPU time of a whole fit, relative to criterion 'variance' in the same round (median)\n")
    print_table(rows)
    print()
    print_table(leaves)
    print(f"\nHamming within × {MOST_TIMES:g}: {'FAIL' if missed else 'pass'}")
    return missed


if __name__ == "__main__":
    raise SystemExit(main())
