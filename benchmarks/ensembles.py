"""Ensembles: ramify against CLUS and scikit-learn, in the same run.

``python -m benchmarks.ensembles`` prints the results with the requirements, then the accuracy of
the forests next to that of CLUS (`benchmarks.forest_quality`), and writes them to
``build/benchmarks/ensembles.json``. Random forests are timed in wall-clock seconds, those of CLUS
by its own "Induction Time", which excludes reading, starting and writing; each program has one
core. Bagging is timed in CPU seconds of both programs. ``--large`` grows the forest of 100 trees
on 100,000 × 1,000 cells with 10,000 labels.
"""

from __future__ import annotations

import argparse
import math
import pickle
import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import geometric_mean
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestRegressor
from threadpoolctl import threadpool_limits

from benchmarks import forest_quality, local
from benchmarks.clus import ClusRun, describe_machine, one_core, run_clus, write_report
from benchmarks.problems import Problem, generate, load
from benchmarks.trees import FUNCAT, GO, Check, once, print_table
from ramify import PCTBaggingClassifier, PCTForestClassifier

N_TREES = 50
MIN_LEAF = 5
CLUS_LIMIT_S = 1200.0
QUICK_FUNCAT = ("church_FUN", "pheno_FUN", "cellcycle_FUN")
BAGGED = ("church_FUN", "pheno_FUN", "cellcycle_FUN")
BAGGED_GO = ("pheno_GO", "church_GO", "cellcycle_GO")
FOREST_SETTINGS = {"EnsembleMethod": "RForest", "SelectRandomSubspaces": "LOG"}
BAGGING_SETTINGS = {"EnsembleMethod": "Bagging"}


@dataclass
class Figure:
    """One line of the table: seconds of ramify and of a peer for the same work."""

    work: str
    name: str
    peer: str
    ramify_s: float
    peer_s: float
    note: str = ""

    @property
    def times(self) -> float:
        """Return how many times as long the peer took."""
        return self.peer_s / self.ramify_s


def log2_features(problem: Problem) -> int:
    """Return how many features a node looks at, as CLUS's LOG has it."""
    return math.ceil(math.log2(problem.X.shape[1]))


def make_forest(problem: Problem, **options: Any) -> PCTForestClassifier:
    """Return our forest, one thread unless told otherwise."""
    nominal = {"categorical_features": sorted(problem.categories)} if problem.categories else {}
    return PCTForestClassifier(
        problem.hierarchy,
        **{
            "n_estimators": N_TREES,
            "min_weight": MIN_LEAF,  # rows drawn twice count twice, as in CLUS
            "max_features": log2_features(problem),
            "n_jobs": 1,
            "random_state": 0,
            **nominal,
            **options,
        },
    )


def best_of(action: Callable[[], Any], clock: Callable[[], float], least_s: float = 2.0) -> float:
    """Return the shortest time of at least three repetitions."""
    times: list[float] = []
    while len(times) < 3 or sum(times) < least_s:
        start = clock()
        action()
        times.append(clock() - start)
    return min(times)


def ask_clus(problem: Problem, settings: dict[str, str], n_trees: int, cached: bool) -> ClusRun:
    """Grow CLUS's ensemble on one thread."""
    extra = {"Ensemble": {**settings, "Iterations": str(n_trees)}, "Tree": {"FTest": "1.0"}}
    run = run_clus(
        problem,
        min_weight=MIN_LEAF,
        extra=extra,
        switches=("-forest",),
        timeout_s=CLUS_LIMIT_S,
        cached=cached,
    )
    if run.status == "failed":
        raise RuntimeError(f"CLUS failed on {problem.name}: {run.message}")
    return run


def clus_note(run: ClusRun) -> str:
    """Return a note on CLUS's figure: unfinished, or how old."""
    if run.status == "timeout":
        return f"CLUS did not finish in {CLUS_LIMIT_S / 60:.0f} minutes"
    return f"CLUS: {(time.time() - run.finished) / 3600:.1f} h old" if run.recalled else ""


def measure_forest(work: str, name: str, cached: bool, n_trees: int = N_TREES) -> Figure:
    """Time a random forest of ours and of CLUS's by the clock."""
    problem = load(name)
    model = make_forest(problem, n_estimators=n_trees)
    with threadpool_limits(1):
        ours = best_of(lambda: model.fit(problem.X, problem.Y), time.perf_counter)
    run = ask_clus(problem, FOREST_SETTINGS, n_trees, cached)
    return Figure(work, name, "CLUS", ours, run.induction_s, clus_note(run))


def measure_bagging(work: str, name: str, cached: bool, n_trees: int = N_TREES) -> Figure:
    """Time bagging of ours and of CLUS's in CPU seconds."""
    problem = load(name)
    nominal = {"categorical_features": sorted(problem.categories)} if problem.categories else {}
    model = PCTBaggingClassifier(
        problem.hierarchy,
        n_estimators=n_trees,
        min_weight=MIN_LEAF,
        n_jobs=1,
        random_state=0,
        **nominal,
    )
    with threadpool_limits(1):
        ours = best_of(lambda: model.fit(problem.X, problem.Y), time.process_time)
    run = ask_clus(problem, BAGGING_SETTINGS, n_trees, cached)
    peer_s = run.induction_s if run.status == "timeout" else run.cpu_s
    return Figure(work, name, "CLUS", ours, peer_s, clus_note(run))


def measure_sklearn(name: str) -> tuple[Figure, float]:
    """Time both random forests and return how many times as large scikit-learn's pickle is."""
    problem = load(name)
    target = problem.Y.toarray() * np.sqrt(problem.hierarchy.weights())
    # scikit-learn counts rows, however often they were drawn.
    ours = make_forest(problem, min_weight=0, min_samples_leaf=MIN_LEAF)
    theirs = RandomForestRegressor(
        n_estimators=N_TREES,
        min_samples_leaf=MIN_LEAF,
        max_features=log2_features(problem),
        n_jobs=1,
        random_state=0,
    )
    with threadpool_limits(1):
        ramify_s = best_of(lambda: ours.fit(problem.X, problem.Y), time.perf_counter)
        sklearn_s = once(lambda: theirs.fit(problem.X, target))
    sizes = [len(pickle.dumps(model)) for model in (ours, theirs)]
    note = f"pickles of {sizes[0] / 2**20:.1f} and {sizes[1] / 2**20:.0f} MiB"
    figure = Figure("random forest", name, "scikit-learn", ramify_s, sklearn_s, note)
    return figure, sizes[1] / sizes[0]


def measure_threads(name: str) -> Figure:
    """Time one thread against two, alternately."""
    problem = load(name)
    one, two = (make_forest(problem, n_jobs=n, n_estimators=100) for n in (1, 2))
    one.fit(problem.X, problem.Y)
    pairs = [[once(lambda m=m: m.fit(problem.X, problem.Y)) for m in (one, two)] for _ in range(5)]
    alone, shared = (min(times) for times in zip(*pairs, strict=True))
    return Figure("2 threads, forest of 100", name, "1 thread", shared, alone)


def measure_large() -> list[str]:
    """Grow the large forest and print its time and memory."""
    problem = generate(100_000, 1_000, 10_000, positives=30, shifted=True)
    problem = replace(problem, X=problem.X.astype(np.float32))
    model = make_forest(problem, n_estimators=100, n_jobs=2, verbose=True)
    cpu_before = time.process_time()
    took = once(lambda: model.fit(problem.X, problem.Y))
    cpu_s = time.process_time() - cpu_before
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    leaves = sum(int((tree.feature < 0).sum()) for tree in model.trees_)
    return [
        f"100,000 × 1,000 cells, 10,000 labels, 30 a row, 100 trees, 2 threads: {took:.0f} s "
        f"({cpu_s:.0f} CPU seconds), peak {peak:.1f} GiB with the data, {leaves:,} leaves",
    ]


def speed(options: argparse.Namespace) -> tuple[list[Figure], list[Check]]:
    """Time every kind of ensemble and compare it with the requirements."""
    funcat = QUICK_FUNCAT if options.quick else tuple(f"{name}_FUN" for name in FUNCAT)
    go = ("pheno_GO",) if options.quick else tuple(f"{name}_GO" for name in GO)
    bagged = BAGGED[:2] if options.quick else BAGGED
    bagged_go = () if options.quick else BAGGED_GO
    if options.sets:
        funcat, go, bagged, bagged_go = (
            tuple(name for name in names if name in options.sets)
            for names in (funcat, go, bagged, bagged_go)
        )
    given = (options.cached, options.trees)
    with one_core(not options.all_cores):
        works = [
            (40.0, [measure_forest("random forest, FunCat", name, *given) for name in funcat]),
            (35.0, [measure_bagging("bagging, FunCat", name, *given) for name in bagged]),
            (120.0, [measure_forest("random forest, GO", name, *given) for name in go]),
            (35.0, [measure_bagging("bagging, GO", name, *given) for name in bagged_go]),
        ]
        beside, smaller = measure_sklearn("cellcycle_FUN")
    works += [(10.0, [beside]), (1.8, [measure_threads("cellcycle_FUN")])]
    works = [(needed, some) for needed, some in works if some]
    figures = [figure for _, some in works for figure in some]
    checks = [
        Check(f"{some[0].work}: × {some[0].peer}", geometric_mean(f.times for f in some), needed)
        for needed, some in works
    ]
    checks.append(Check("random forest: pickle, × smaller than scikit-learn's", smaller, 20.0))
    edges = [local.measure(name, MIN_LEAF, repeats=3) for name in local.SETS]
    figures += [
        Figure("one tree per edge", edge.name, "scikit-learn", edge.ramify_s, edge.sklearn_s)
        for edge in edges
    ]
    least = min(edge.times for edge in edges)
    checks.append(Check("one tree per edge: × scikit-learn, least", least, local.NEEDED))
    return figures, checks


HEADINGS = ("work", "set", "ramify s", "peer", "its s", "times", "note")


def cells(figure: Figure) -> list[str]:
    """Return a figure as a row of the printed table."""
    seconds = (f"{figure.ramify_s:.3f}", figure.peer, f"{figure.peer_s:.2f}")
    return [figure.work, figure.name, *seconds, f"{figure.times:.1f}", figure.note]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables and return the number of requirements missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ensembles", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few small sets")
    parser.add_argument("--sets", nargs="+", help="only these of the sets compared with CLUS")
    parser.add_argument("--cached", action="store_true", help="take CLUS's figures of before")
    parser.add_argument("--trees", type=int, default=N_TREES, help="trees compared with CLUS")
    parser.add_argument("--large", action="store_true", help="grow the large forest, nothing else")
    parser.add_argument("--without-quality", action="store_true", help="leave the AUPRC out")
    parser.add_argument(
        "--all-cores",
        action="store_true",
        help="leave CLUS's compiler and garbage collector a core of their own",
    )
    options = parser.parse_args(arguments)
    print(f"{describe_machine()}\n")
    if options.large:
        print(*measure_large(), sep="\n")
        return 0
    figures, checks = speed(options)
    print_table([list(HEADINGS), *map(cells, figures)])
    print()
    print_table([["requirement", "found", "needed", ""], *(found.cells() for found in checks)])
    report = {
        "figures": [asdict(figure) | {"times": figure.times} for figure in figures],
        "requirements": [asdict(found) | {"passed": found.passed} for found in checks],
    }
    write_report(report, "ensembles.json")
    missed = sum(not found.passed for found in checks)
    if not options.without_quality:
        print()
        missed += forest_quality.main(["--quick"] if options.quick else [])
    return missed


if __name__ == "__main__":
    raise SystemExit(main())
