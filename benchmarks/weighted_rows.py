"""Trees on weighted rows: the cost of a node does not depend on weights, but the tree does.

``python -m benchmarks.weighted_rows`` grows trees on generated rows with 10 labels each, without
weights and with the weights of a bootstrap, for growing numbers of labels. It prints the CPU time,
the depth, the number of rows in all nodes together, and the time per row, node and feature, which
is what a scan costs.
"""

from __future__ import annotations

import time

import numpy as np

from benchmarks.clus import describe_machine
from benchmarks.problems import generate
from benchmarks.trees import print_table
from ramify import PCTClassifier

LABELS = (1_000, 2_000, 3_000, 5_000, 10_000, 20_000)
REPEATS = 3


def measure(n_labels: int, weighted: bool) -> list[str]:
    """Return a row of the table."""
    problem = generate(3_000, 60, n_labels, 10)
    draws = np.random.default_rng(1).poisson(1, problem.X.shape[0]).astype(float)
    times = []
    for _ in range(REPEATS):
        model = PCTClassifier(problem.hierarchy, min_samples_leaf=5)
        start = time.process_time()
        model.fit(problem.X, problem.Y, sample_weight=draws if weighted else None)
        times.append(time.process_time() - start)
    visits = int(model.tree_.n_samples.sum())
    per_visit = 1e9 * min(times) / (visits * problem.X.shape[1])
    return [
        f"{n_labels:,}",
        "bootstrap" if weighted else "none",
        f"{min(times):.3f}",
        f"{model.get_depth()}",
        f"{visits:,}",
        f"{per_visit:.1f}",
    ]


def main() -> int:
    """Print the table."""
    print(describe_machine())
    heads = ["labels", "weights", "CPU s", "depth", "rows in nodes", "ns a row, node and feature"]
    print_table([heads, *(measure(n, weighted) for n in LABELS for weighted in (False, True))])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
