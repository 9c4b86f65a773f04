"""How fits, predictions and decisions scale with the number of threads.

``python -m benchmarks.threads`` measures the wall-clock time with 1, 2, 4, ... threads up to all
cores, on a small and on a large generated problem, and prints the speedup over one thread. The
result does not depend on the number of threads; the tests check that.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from benchmarks.clus import describe_machine
from benchmarks.decoding import made_hierarchy, probabilities
from benchmarks.problems import Problem, generate
from benchmarks.trees import print_table
from ramify import (
    PCTClassifier,
    PCTForestClassifier,
    PCTGradientBoostingClassifier,
    PerEdgeClassifier,
    make_hierarchical_classification,
)
from ramify.decision import mandatory_leaves

REPEATS = 3


def fits(
    problem: Problem, n_trees: int, n_rounds: int
) -> Iterator[tuple[str, Callable[[int], Any]]]:
    """Yield names and functions of the number of threads."""
    X, Y, hierarchy = problem.X, problem.Y, problem.hierarchy

    def tree(n_jobs: int) -> Any:
        return PCTClassifier(hierarchy, min_samples_leaf=5, n_jobs=n_jobs).fit(X, Y)

    def one_label(n_jobs: int) -> Any:
        return PCTClassifier(min_samples_leaf=5, n_jobs=n_jobs).fit(X, Y[:, [0]].toarray().ravel())

    def forest(n_jobs: int) -> Any:
        model = PCTForestClassifier(hierarchy, n_estimators=n_trees, n_jobs=n_jobs, random_state=0)
        return model.fit(X, Y)

    def boosting(n_jobs: int) -> Any:
        return PCTGradientBoostingClassifier(
            hierarchy, max_iter=n_rounds, early_stopping=False, n_jobs=n_jobs, random_state=0
        ).fit(X, Y)

    yield "tree", tree
    yield "tree, one label", one_label
    yield f"forest of {n_trees}", forest
    yield f"boosting, {n_rounds} rounds", boosting
    fitted = forest(-1)

    def predict(n_jobs: int) -> Any:
        return fitted.set_params(n_jobs=n_jobs).predict_proba(X)

    yield "probabilities by the forest", predict


def edges(n_rows: int, n_labels: int) -> tuple[str, Callable[[int], Any]]:
    """Return a tree for every edge of a hierarchy."""
    data = make_hierarchical_classification(n_rows, 50, n_labels=n_labels, random_state=0)

    def per_edge(n_jobs: int) -> Any:
        return PerEdgeClassifier(
            PCTClassifier(min_samples_leaf=5), hierarchy=data.hierarchy, n_jobs=n_jobs
        ).fit(data.X, data.y)

    return "a tree per edge", per_edge


def decoding(n_rows: int, n_labels: int) -> tuple[str, Callable[[int], Any]]:
    """Return decisions that end in leaves."""
    hierarchy = made_hierarchy(n_labels, 6, extra_parents=0.0)
    scores = probabilities(hierarchy, "forest", n_rows)
    return "mandatory leaves", lambda n_jobs: mandatory_leaves(scores, hierarchy, n_jobs=n_jobs)


def works(quick: bool) -> Iterator[tuple[str, str, Callable[[int], Any]]]:
    """Yield the size of the problem, the name of the work and the work."""
    small = generate(2_500, 77, 500, 8)
    yield from (("small", *work) for work in fits(small, 100, 50))
    yield "small", *edges(2_500, 100)
    yield "small", *decoding(1_000, 500)
    if quick:
        return
    large = generate(100_000, 200, 500, 10)
    yield from (("large", *work) for work in fits(large, 16, 10))
    yield "large", *edges(50_000, 200)
    yield "large", *decoding(50_000, 2_000)


def seconds(
    work: Callable[[int], Any], n_jobs: int, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Return the shortest time of a few repeats; one, if it takes long."""
    times: list[float] = []
    while len(times) < REPEATS and sum(times) < 10:
        start = clock()
        work(n_jobs)
        times.append(clock() - start)
    return min(times)


def powers_of_two() -> list[int]:
    """Return 1, 2, 4, ... up to the number of cores that this process may use."""
    n_cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    return [2**k for k in range(n_cores.bit_length()) if 2**k <= n_cores]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.threads", description=__doc__)
    parser.add_argument("--threads", type=int, nargs="+", help="numbers of threads")
    parser.add_argument("--quick", action="store_true", help="only the small problem")
    options = parser.parse_args(arguments)
    threads = options.threads or powers_of_two()
    print(describe_machine())
    rows = [["problem", "work", "s, 1 thread", *(f"× with {n}" for n in threads)]]
    for size, name, work in works(options.quick):
        alone = seconds(work, 1)
        shares = [alone / (alone if n == 1 else seconds(work, n)) for n in threads]
        rows.append([size, name, f"{alone:.3f}", *(f"{share:.2f}" for share in shares)])
        print(f"{size}: {name} {rows[-1][2:]}", flush=True)
    print_table(rows)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
