"""One tree: ramify against CLUS and scikit-learn, in the same run, one core each.

``python -m benchmarks.trees`` prints the results with the requirements and writes them to
``build/benchmarks/trees.json``. ramify and scikit-learn are timed over the whole ``fit``; CLUS by
its own "Induction Time", which excludes reading, starting and writing.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from statistics import geometric_mean, median
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeRegressor
from threadpoolctl import threadpool_limits

from benchmarks.clus import ClusRun, describe_machine, one_core, run_clus, write_report
from benchmarks.problems import Problem, generate, load
from ramify import PCTClassifier

# All public FunCat sets except hom and struc, whose files are too large to be quick.
FUNCAT = (
    "cellcycle",
    "church",
    "derisi",
    "eisen",
    "expr",
    "gasch1",
    "gasch2",
    "pheno",
    "seq",
    "spo",
)
GO = ("cellcycle", "church", "derisi", "eisen", "gasch2", "pheno", "spo")
QUICK = ("cellcycle_FUN", "church_FUN", "pheno_FUN")
CLUS_LIMIT_S = 1200.0


@dataclass(frozen=True)
class Work:
    """A requirement: the task, the peer, and the required speed-up."""

    title: str
    min_leaf: int = 5
    clus_mean: float = 0.0  # 0: not compared
    clus_least: float = 0.0
    sklearn_mean: float = 0.0


FUNCAT_TREES = Work("one tree, min 5 a leaf, FunCat", 5, 50.0, 25.0, 10.0)
GO_TREES = Work("one tree, min 5 a leaf, GO", 5, 150.0, 0.0, 40.0)
FULL_TREE = Work("full tree, min 1 a leaf", 1, sklearn_mean=10.0)
SPARSE_TREE = Work("one tree, min 5 a leaf, sparse columns", 5, clus_mean=30.0)


@dataclass
class Figure:
    """One data set: seconds of each learner; None where one was not run."""

    work: str
    name: str
    n_rows: int
    n_features: int
    n_labels: int
    leaves: int
    ramify_s: float
    sklearn_s: float | None = None
    clus: ClusRun | None = None

    @property
    def times_clus(self) -> float:
        """Return how many times as long CLUS took."""
        return self.clus.induction_s / self.ramify_s if self.clus else math.nan

    @property
    def times_sklearn(self) -> float:
        """Return how many times as long scikit-learn took."""
        return self.sklearn_s / self.ramify_s if self.sklearn_s else math.nan


def once(action: Callable[[], Any]) -> float:
    """Return how many seconds an action takes."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def seconds(action: Callable[[], Any], at_least: int, budget_s: float = 4.0) -> float:
    """Return the median time of repetitions: `at_least`, and up to 25 while the budget lasts.

    A slow action is not repeated for ever: five budgets are the end.
    """
    times = [once(action)]
    while (len(times) < at_least and sum(times) < 5 * budget_s) or (
        len(times) < 25 and sum(times) < budget_s
    ):
        times.append(once(action))
    return median(times)


def make_ramify(problem: Problem, min_leaf: int) -> PCTClassifier:
    """Return our estimator, on one thread."""
    nominal = {"categorical_features": sorted(problem.categories)} if problem.categories else {}
    return PCTClassifier(
        hierarchy=problem.hierarchy, min_samples_leaf=min_leaf, n_jobs=1, **nominal
    )


def time_sklearn(problem: Problem, min_leaf: int) -> float:
    """Time the regression tree that minimises the same weighted variance.

    It knows no nominal columns and takes their codes as numbers.
    """
    target = problem.Y.toarray() * np.sqrt(problem.hierarchy.weights())
    peer = DecisionTreeRegressor(min_samples_leaf=min_leaf, random_state=0)
    return seconds(lambda: peer.fit(problem.X, target), at_least=2)


def time_clus(problem: Problem, min_leaf: int, cached: bool) -> ClusRun:
    """Run CLUS, up to three times if it is quick, and keep the median run."""
    runs = [run_clus(problem, min_weight=min_leaf, timeout_s=CLUS_LIMIT_S, cached=cached)]
    while not cached and len(runs) < 3 and sum(run.wall_s for run in runs) < 20:
        runs.append(run_clus(problem, min_weight=min_leaf, timeout_s=CLUS_LIMIT_S))
    if any(run.status == "failed" for run in runs):
        raise RuntimeError(f"CLUS failed on {problem.name}: {runs[0].message}")
    return sorted(runs, key=lambda run: run.induction_s)[len(runs) // 2]


def measure(work: Work, problem: Problem, options: argparse.Namespace) -> Figure:
    """Time every learner that the work compares on one data set."""
    ours = make_ramify(problem, work.min_leaf)
    with threadpool_limits(1):
        ramify_s = seconds(lambda: ours.fit(problem.X, problem.Y), at_least=3)
        compare = work.sklearn_mean and "sklearn" not in options.without
        sklearn_s = time_sklearn(problem, work.min_leaf) if compare else None
    leaves = ours.get_n_leaves()
    figure = Figure(
        work.title, problem.name, *problem.X.shape, problem.Y.shape[1], leaves, ramify_s, sklearn_s
    )
    if work.clus_mean and "clus" not in options.without:
        figure.clus = time_clus(problem, work.min_leaf, options.cached)
    return figure


HEADINGS = (
    *("set", "rows", "columns", "labels", "leaves"),
    *("ramify s", "CLUS s", "× CLUS", "sklearn s", "× sklearn", "note"),
)


def cells(figure: Figure) -> list[str]:
    """Return a figure as a row of the printed table."""
    clus = figure.clus
    more = "> " if clus and clus.status == "timeout" else ""
    return [
        figure.name,
        *map(str, (figure.n_rows, figure.n_features, figure.n_labels, figure.leaves)),
        f"{figure.ramify_s:.4f}",
        f"{more}{clus.induction_s:.3f}" if clus else "",
        f"{more}{figure.times_clus:.1f}" if clus else "",
        f"{figure.sklearn_s:.3f}" if figure.sklearn_s else "",
        f"{figure.times_sklearn:.1f}" if figure.sklearn_s else "",
        note(clus) if clus else "",
    ]


def note(clus: ClusRun) -> str:
    """Return a note on a peer's figure: unfinished, or how old."""
    if clus.status == "timeout":
        return f"CLUS did not finish in {CLUS_LIMIT_S / 60:.0f} minutes"
    age_h = (time.time() - clus.finished) / 3600
    return f"CLUS figure is {age_h:.1f} h old" if clus.recalled else ""


def print_table(rows: Sequence[Sequence[str]]) -> None:
    """Print rows of cells in columns, the first one to the left."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    for row in rows:
        first, *others = row
        padded = [first.ljust(widths[0])]
        padded += [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        print("  ".join(padded).rstrip())


@dataclass(frozen=True)
class Check:
    """A requirement and the measured value."""

    what: str
    found: float
    needed: float
    at_most: bool = False

    @property
    def passed(self) -> bool:
        """Whether the requirement is met."""
        return self.found <= self.needed if self.at_most else self.found >= self.needed

    def cells(self) -> list[str]:
        """Return the check as a row of the printed table."""
        sign = "≤" if self.at_most else "≥"
        verdict = "pass" if self.passed else "FAIL"
        return [self.what, f"{self.found:.2f}", f"{sign} {self.needed:g}", verdict]


def judge(work: Work, figures: Sequence[Figure]) -> list[Check]:
    """Compare the figures of a task with its requirements."""
    checks = []
    for peer, needed, ratios in (
        ("CLUS", work.clus_mean, [f.times_clus for f in figures]),
        ("scikit-learn", work.sklearn_mean, [f.times_sklearn for f in figures]),
    ):
        known = [ratio for ratio in ratios if not math.isnan(ratio)]
        if needed and known:
            checks.append(Check(f"{work.title}: × {peer}, mean", geometric_mean(known), needed))
        if peer == "CLUS" and work.clus_least and known:
            checks.append(Check(f"{work.title}: × CLUS, least", min(known), work.clus_least))
    return checks


def times_as_long(small: Problem, large: Problem, repeats: int) -> float:
    """Return the ratio of the times of a larger and a smaller problem, timed alternately."""
    models = [(make_ramify(problem, 5), problem) for problem in (small, large)]
    pairs = [[once(lambda m=m, p=p: m.fit(p.X, p.Y)) for m, p in models] for _ in range(repeats)]
    return median(larger / smaller for smaller, larger in pairs)


def measure_growth(quick: bool) -> list[Check]:
    """Time how the cost grows with labels and with rows, for several sizes.

    Sorting and the depth of a tree alone make twice the rows cost about 2.2 times as much.
    """
    repeats = 3 if quick else 9
    rows = (1_000, 2_000) if quick else (1_000, 2_000, 4_000, 8_000, 16_000)
    problems = [generate(n, 50, 500, positives=9) for n in rows]
    more_labels = generate(rows[-2], 50, 5_000, positives=9)
    labels = times_as_long(problems[-2], more_labels, repeats)
    doublings = [times_as_long(*pair, repeats) for pair in pairwise(problems)]
    each = ", ".join(f"{ratio:.2f}" for ratio in doublings)
    return [
        Check("labels × 10, same positives a row: × the time", labels, 1.15, at_most=True),
        Check(
            f"rows × 2, from {rows[0]:,} to {rows[-1]:,} ({each}): × the time, mean",
            geometric_mean(doublings),
            2.3,
            at_most=True,
        ),
    ]


def plan(options: argparse.Namespace) -> list[tuple[Work, list[str]]]:
    """Choose the data sets of each work."""
    sets = [f"{name}_FUN" for name in FUNCAT] + [f"{name}_GO" for name in GO]
    sets += ["cellcycle_FUN full", "reuters"]
    if options.quick:
        sets = [*QUICK, "cellcycle_FUN full"]
    if options.sets:
        sets = options.sets
    chosen = {
        FUNCAT_TREES: [name for name in sets if name.endswith("_FUN")],
        GO_TREES: [name for name in sets if name.endswith("_GO")],
        FULL_TREE: [name.removesuffix(" full") for name in sets if name.endswith(" full")],
        SPARSE_TREE: [name for name in sets if name == "reuters"],
    }
    return [(work, names) for work, names in chosen.items() if names]


def parse_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trees", description=__doc__)
    parser.add_argument(
        "--sets", nargs="+", help="data sets; 'NAME full' grows a full tree of NAME_FUN"
    )
    parser.add_argument("--quick", action="store_true", help="three small sets, few repetitions")
    parser.add_argument(
        "--cached",
        action="store_true",
        help="take CLUS's figures of an earlier run, with their age",
    )
    parser.add_argument("--fresh", dest="cached", action="store_false", help="run CLUS (default)")
    parser.add_argument(
        "--without", nargs="+", default=[], choices=("clus", "sklearn", "growth"), help="leave out"
    )
    parser.add_argument(
        "--all-cores",
        action="store_true",
        help="leave CLUS's compiler and garbage collector a core of their own",
    )
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table and return the number of requirements missed."""
    options = parse_options(arguments)
    each = "thread" if options.all_cores else "core"
    print(f"one {each} each; {describe_machine()}\n")
    figures: list[Figure] = []
    checks: list[Check] = []
    for work, names in plan(options):
        print(work.title)
        with one_core(not options.all_cores):
            found = [measure(work, load(name), options) for name in names]
        print_table([HEADINGS, *map(cells, found)])
        print()
        figures += found
        checks += judge(work, found)
    if "growth" not in options.without:
        checks += measure_growth(options.quick)
    print_table([["requirement", "found", "needed", ""], *(check.cells() for check in checks)])
    write_json(figures, checks)
    return sum(not check.passed for check in checks)


def write_json(figures: Sequence[Figure], checks: Sequence[Check]) -> None:
    """Write the figures as JSON; null means not measured."""
    report = {
        "figures": [asdict(figure) for figure in figures],
        "requirements": [asdict(check) | {"passed": check.passed} for check in checks],
    }
    write_report(report, "trees.json")


if __name__ == "__main__":
    raise SystemExit(main())
