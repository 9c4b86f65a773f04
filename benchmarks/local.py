"""Local architectures: a tree per edge, ramify against a loop over scikit-learn's, in one run.

``python -m benchmarks.local`` prints the results with the requirements and writes them to
``build/benchmarks/local.json``. Both learn the same problems on one thread: for every edge of the
hierarchy the rows that have the parent, unless all or none of them have the child. Times are CPU
seconds of all the work: one ``fit`` for ramify, and for scikit-learn the loop, with the rows of
each problem selected from X in its preferred layout. The two are timed alternately.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from statistics import geometric_mean, median
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from benchmarks.clus import describe_machine, write_report
from benchmarks.problems import Problem, load
from benchmarks.trees import print_table
from ramify import PCTClassifier, PerEdgeClassifier

SETS = ("imclef07a", "cellcycle_FUN")
NEEDED = 10.0


@dataclass(frozen=True)
class Figure:
    """One data set: median CPU seconds of both, and the number of nodes of all their trees."""

    name: str
    n_rows: int
    n_features: int
    n_edges: int
    min_leaf: int
    ramify_s: float
    sklearn_s: float
    ramify_nodes: int
    sklearn_nodes: int

    @property
    def times(self) -> float:
        """Return how many times as long scikit-learn took."""
        return self.sklearn_s / self.ramify_s


def cpu_seconds(action: Callable[[], Any]) -> tuple[float, Any]:
    """Return the CPU seconds that an action takes, and its result."""
    start = time.process_time()
    result = action()
    return time.process_time() - start, result


def edge_problems(problem: Problem) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return rows and classes of every edge whose rows do not all agree."""
    Y = problem.Y.toarray()
    labels = problem.hierarchy.labels
    found = []
    for child, label in enumerate(labels):
        for parent in problem.hierarchy.parents(label) or (None,):
            above = np.ones(len(Y), bool) if parent is None else Y[:, labels.index(parent)] > 0
            rows = np.flatnonzero(above)
            if len(np.unique(Y[rows, child])) == 2:
                found.append((rows, Y[rows, child]))
    return found


def fit_ramify(problem: Problem, min_leaf: int) -> PerEdgeClassifier:
    """Fit our trees, one per edge."""
    nominal = {"categorical_features": sorted(problem.categories)} if problem.categories else {}
    tree = PCTClassifier(min_samples_leaf=min_leaf)
    return PerEdgeClassifier(hierarchy=problem.hierarchy, estimator=tree, n_jobs=1, **nominal).fit(
        problem.X, problem.Y
    )


def fit_sklearn(
    X: np.ndarray, problems: Sequence[tuple[np.ndarray, np.ndarray]], min_leaf: int
) -> list[DecisionTreeClassifier]:
    """Fit scikit-learn's trees, one per edge; nominal codes count as numbers."""
    tree = DecisionTreeClassifier(min_samples_leaf=min_leaf, random_state=0)
    return [clone(tree).fit(X[rows], y) for rows, y in problems]


def measure(name: str, min_leaf: int, repeats: int) -> Figure:
    """Time both on one data set, alternately."""
    problem = load(name)
    X = np.ascontiguousarray(problem.X, dtype=np.float32)
    problems = edge_problems(problem)
    ours, theirs = [], []
    for _ in range(repeats):
        with threadpool_limits(1):
            took, model = cpu_seconds(lambda: fit_ramify(problem, min_leaf))
            ours.append(took)
            took, trees = cpu_seconds(lambda: fit_sklearn(X, problems, min_leaf))
            theirs.append(took)
    grown = [m for m in model.named_estimators_.values() if isinstance(m, PCTClassifier)]
    assert len(grown) == len(trees) == len(problems)
    return Figure(
        name,
        *problem.X.shape,
        len(model.named_estimators_),
        min_leaf,
        median(ours),
        median(theirs),
        sum(len(local.tree_.feature) for local in grown),
        sum(tree.tree_.node_count for tree in trees),
    )


HEADINGS = (
    *("set", "rows", "columns", "edges", "min leaf"),
    *("ramify s", "nodes", "sklearn s", "nodes", "× sklearn"),
)


def cells(figure: Figure) -> list[str]:
    """Return a figure as a row of the printed table."""
    sizes = (figure.n_rows, figure.n_features, figure.n_edges, figure.min_leaf)
    return [
        figure.name,
        *map(str, sizes),
        f"{figure.ramify_s:.3f}",
        str(figure.ramify_nodes),
        f"{figure.sklearn_s:.2f}",
        str(figure.sklearn_nodes),
        f"{figure.times:.1f}",
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table and return the number of requirements missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.local", description=__doc__)
    parser.add_argument("--sets", nargs="+", default=SETS, help="data sets")
    parser.add_argument("--repeats", type=int, default=5, help="times that both take turns")
    options = parser.parse_args(arguments)
    print(f"CPU seconds of one thread each; {describe_machine()}\n")
    figures = [measure(name, 5, options.repeats) for name in options.sets]
    figures += [measure(name, 1, options.repeats) for name in options.sets]
    print_table([HEADINGS, *map(cells, figures)])
    mean = geometric_mean(figure.times for figure in figures)
    least = min(figure.times for figure in figures)
    passed = least >= NEEDED
    print(
        f"\nmean {mean:.1f} ×, least {least:.1f} ×, needed {NEEDED:g} ×: "
        f"{'pass' if passed else 'FAIL'}"
    )
    report = {
        "figures": [asdict(figure) | {"times": figure.times} for figure in figures],
        "needed": NEEDED,
        "passed": passed,
    }
    write_report(report, "local.json")
    return int(not passed)


if __name__ == "__main__":
    raise SystemExit(main())
