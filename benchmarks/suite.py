"""All comparisons with other packages in one run: ``make bench``, or ``make bench QUICK=1``.

``python -m benchmarks.suite`` compares ramify with every peer that is installed: scikit-learn,
CLUS (Java), XGBoost, CatBoost, scikit-multilearn-ng and HiClass, on generated rows and on the data
sets in the folder RAMIFY_DATA. It prints a table and writes ``results.csv``, ``results.svg`` and
``machine.csv`` to a folder. What cannot be measured is listed with the reason. All figures are CPU
seconds of one thread, or of two threads for boosting.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import average_precision_score
from sklearn.tree import DecisionTreeRegressor
from threadpoolctl import threadpool_limits

from benchmarks import ensembles, gradient_boosting, local, text_categories, transformations, trees
from benchmarks.clus import ClusRun, find_jar, one_core
from benchmarks.gradient_boosting_learners import OURS, PEERS, Task, is_available, measure
from benchmarks.problems import Problem, generate, load
from benchmarks.suite_report import ROOT, Line, describe_setting, write_report
from ramify.metrics import pooled_auprc


class LeftOutError(Exception):
    """A part cannot be measured here; the message says why."""


@dataclass(frozen=True)
class Scale:
    """How much is measured."""

    quick: bool
    cached: bool

    @property
    def sets(self) -> tuple[str, ...]:
        """The data sets of single trees."""
        return ("church_FUN",) if self.quick else ("cellcycle_FUN", "cellcycle_GO")

    @property
    def bagged(self) -> tuple[str, ...]:
        """The data sets of bagging, whose trees search all features."""
        return ("church_FUN",) if self.quick else ("cellcycle_FUN", "pheno_GO")

    @property
    def n_trees(self) -> int:
        """The number of trees of an ensemble."""
        return 5 if self.quick else 20


def require_data() -> None:
    """Raise LeftOutError unless the data sets are here."""
    folder = os.environ.get("RAMIFY_DATA", "")
    if not folder or not Path(folder).is_dir():
        raise LeftOutError("RAMIFY_DATA does not name a folder of data sets")


def require_clus() -> None:
    """Raise LeftOutError unless CLUS can be run on the data sets."""
    require_data()
    try:
        find_jar()
    except (RuntimeError, subprocess.CalledProcessError) as error:
        raise LeftOutError(str(error)) from None


def require_module(name: str) -> None:
    """Raise LeftOutError unless a module is installed."""
    if not find_spec(name):
        raise LeftOutError(f"{name} is not installed")


def cpu_seconds(action: Callable[[], Any]) -> float:
    """Return the CPU seconds of an action on one thread, the shortest of a few repeats."""
    with threadpool_limits(1):
        return ensembles.best_of(action, time.process_time, least_s=1.0)


def beside_clus(work: str, name: str, ours: float, run: ClusRun) -> Line:
    """Compare with the induction time that CLUS prints, or the CPU seconds of its process if less.

    It measures the induction by the clock, which depends on the other load of the machine; the
    CPU seconds include its start and the reading of the rows.
    """
    if run.status != "ok":
        raise LeftOutError(f"CLUS: {run.status} {run.message}")
    if run.induction_s <= run.cpu_s:
        return Line(work, name, "CLUS", ours, run.induction_s, ensembles.clus_note(run))
    return Line(work, name, "CLUS", ours, run.cpu_s, "whole program; the machine was busy")


# ---- parts ---------------------------------------------------------------------------------


def time_trees(problem: Problem) -> tuple[float, float]:
    """Time a tree of ours and scikit-learn's that minimises the same weighted variance."""
    model = trees.make_ramify(problem, 5)
    target = problem.Y.toarray() * np.sqrt(problem.hierarchy.weights())
    peer = DecisionTreeRegressor(min_samples_leaf=5, random_state=0)
    ours = cpu_seconds(lambda: model.fit(problem.X, problem.Y))
    return ours, cpu_seconds(lambda: peer.fit(problem.X, target))


def generated_trees(scale: Scale) -> Iterator[Line]:
    """Compare a tree on generated rows with scikit-learn's."""
    sizes = (1_000, 30, 100) if scale.quick else (2_500, 77, 500)
    problem = generate(*sizes, positives=8)
    yield Line("tree", problem.name, "scikit-learn", *time_trees(problem))


def real_trees(scale: Scale) -> Iterator[Line]:
    """Compare trees with those of scikit-learn."""
    require_data()
    name = scale.sets[0]  # scikit-learn's trees take minutes with thousands of labels
    yield Line("tree", name, "scikit-learn", *time_trees(load(name)))


def clus_trees(scale: Scale) -> Iterator[Line]:
    """Compare trees with those of CLUS."""
    require_clus()
    for name in scale.sets:
        problem = load(name)
        model = trees.make_ramify(problem, 5)
        ours = cpu_seconds(lambda m=model, p=problem: m.fit(p.X, p.Y))
        with one_core():
            run = trees.time_clus(problem, 5, scale.cached)
        yield beside_clus("tree", name, ours, run)


def clus_forests(scale: Scale) -> Iterator[Line]:
    """Compare forests and bagging with those of CLUS."""
    require_clus()
    options: dict[str, Any] = {"n_estimators": scale.n_trees}
    works = [
        (f"forest of {scale.n_trees}", name, options, ensembles.FOREST_SETTINGS)
        for name in scale.sets
    ] + [
        (
            f"bagging, {scale.n_trees} trees",
            name,
            {**options, "max_features": None},
            ensembles.BAGGING_SETTINGS,
        )
        for name in scale.bagged
    ]
    for work, name, given, settings in works:
        problem = load(name)
        model = ensembles.make_forest(problem, **given)
        ours = cpu_seconds(lambda m=model, p=problem: m.fit(p.X, p.Y))
        with one_core():
            run = ensembles.ask_clus(problem, settings, scale.n_trees, scale.cached)
        yield beside_clus(work, name, ours, run)


def forest_beside_sklearn(scale: Scale) -> Iterator[Line]:
    """Compare a forest with scikit-learn's."""
    require_data()
    name = "church_FUN" if scale.quick else "cellcycle_FUN"
    problem = load(name)
    options = {"n_estimators": scale.n_trees, "max_features": ensembles.log2_features(problem)}
    # scikit-learn counts rows, however often they were drawn.
    model = ensembles.make_forest(problem, min_weight=0, min_samples_leaf=5, **options)
    peer = RandomForestRegressor(min_samples_leaf=5, n_jobs=1, random_state=0, **options)
    target = problem.Y.toarray() * np.sqrt(problem.hierarchy.weights())
    ours = cpu_seconds(lambda: model.fit(problem.X, problem.Y))
    theirs = cpu_seconds(lambda: peer.fit(problem.X, target))
    yield Line(f"forest of {scale.n_trees}", name, "scikit-learn", ours, theirs)


def edges(scale: Scale) -> Iterator[Line]:
    """Compare a tree per edge with a loop over scikit-learn's trees."""
    require_data()
    name = "church_FUN" if scale.quick else "cellcycle_FUN"
    found = local.measure(name, 5, repeats=1 if scale.quick else 3)
    yield Line("a tree per edge", name, "scikit-learn", found.ramify_s, found.sklearn_s)


def boosting(scale: Scale) -> Iterator[Line]:
    """Compare boosting with peers whose leaves have vectors, or with a model per label."""
    shape = (1_000, 30, 80) if scale.quick else (2_500, 77, 100)
    rounds = 6 if scale.quick else 12
    data = f"{shape[0]} rows, {shape[2]} labels"
    few, many = (
        measure(Task(OURS, "generated", n, shape=shape), 600, 12)
        for n in (gradient_boosting.FEW, 50)
    )
    ours = (many.cpu_s - few.cpu_s) / (50 - gradient_boosting.FEW)
    for peer in (name for name in PEERS if is_available(name)):
        few, many = (
            measure(Task(peer, "generated", n, shape=shape), 600, 12)
            for n in (gradient_boosting.FEW, rounds)
        )
        if many.status != "ok" or few.status != "ok":
            print(f"  {peer}: {many.status}", flush=True)
            continue
        theirs = (many.cpu_s - few.cpu_s) / (rounds - gradient_boosting.FEW)
        yield Line("boosting, a round", data, peer, ours, theirs)


def nearest_neighbours(scale: Scale) -> Iterator[Line]:
    """Compare ML-kNN with that of scikit-multilearn-ng."""
    require_module("skmultilearn")
    n_rows, n_labels = (500, 100) if scale.quick else (2_000, 500)
    rows = transformations.make_rows(n_rows, n_labels)
    found = transformations.measure("MLkNN", rows, 120.0)
    if found.ramify_s is None or found.theirs_s is None:
        raise LeftOutError("not finished in time")
    data = f"{n_rows} rows, {n_labels} labels"
    yield Line("ML-kNN", data, "scikit-multilearn-ng", found.ramify_s, found.theirs_s)


def texts(scale: Scale) -> Iterator[Line]:
    """Compare linear models per parent with those of HiClass."""
    require_module("hiclass")
    sizes = (1_000, 5_000) if scale.quick else (20_000, 50_000)
    made = text_categories.make_texts(*sizes, (5, 5, 5) if scale.quick else (10, 10, 10))
    known = text_categories.learners(10)
    found = [
        text_categories.measure_apart(name, known[name], made, 900)
        for name in text_categories.PAIRS[0]
    ]
    if None in found:
        raise LeftOutError("not finished in time")
    seconds = [figure.fit_s for figure, _ in found if figure]
    yield Line("a linear model per parent", f"{sizes[0]} texts", "HiClass", *seconds)


def measures(scale: Scale) -> Iterator[Line]:
    """Compare the pooled area under the precision-recall curve with scikit-learn's."""
    n_rows, n_labels = (1_000, 100) if scale.quick else (3_000, 500)
    rng = np.random.default_rng(0)
    truth = (rng.random((n_rows, n_labels)) < 0.03).astype(int)
    scores = np.round(0.3 * truth + rng.random(truth.shape), 3)
    ours = cpu_seconds(lambda: pooled_auprc(truth, scores))
    theirs = cpu_seconds(lambda: average_precision_score(truth.ravel(), scores.ravel()))
    data = f"{n_rows} rows, {n_labels} labels"
    yield Line("area under the PR curve", data, "scikit-learn", ours, theirs)


PARTS: tuple[Callable[[Scale], Iterator[Line]], ...] = (
    *(generated_trees, real_trees, clus_trees, forest_beside_sklearn, clus_forests),
    *(edges, boosting, nearest_neighbours, texts, measures),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure all parts and write the report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.suite", description=__doc__)
    names = [part.__name__ for part in PARTS]
    parser.add_argument("--quick", action="store_true", help="small data, a few minutes")
    parser.add_argument("--cached", action="store_true", help="take CLUS's figures of before")
    parser.add_argument("--parts", nargs="+", choices=names, default=names)
    parser.add_argument(
        "--out", type=Path, help="folder (default: docs/benchmarks, quick: build/benchmarks/quick)"
    )
    given = parser.parse_args(arguments)
    scale = Scale(given.quick, given.cached)
    default = ROOT / ("build/benchmarks/quick" if given.quick else "docs/benchmarks")
    setting = describe_setting()
    for name, found in setting:
        print(f"{name}: {found}")
    lines: list[Line] = []
    for part in PARTS:
        if part.__name__ not in given.parts:
            continue
        try:
            for line in part(scale):
                lines.append(line)
                print("  ".join(line.cells()), flush=True)
        except LeftOutError as reason:
            print(f"{part.__name__}: left out, {reason}", file=sys.stderr, flush=True)
    write_report(lines, setting, given.out or default)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
