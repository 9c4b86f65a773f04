"""Boosting and a forest at the size of CAFA 5: proteins, embeddings and Gene Ontology terms.

``python -m benchmarks.cafa_size`` makes up 142,246 proteins with 1,280 features and a DAG of
31,000 terms, to the proportions of the Gene Ontology (`benchmarks.made_up_ontology`), and prints
the times, the memory and the protein-centric F-max on 10,000 other proteins. ``--parts`` chooses
among a forest of 100 trees on the processor, boosting of 200 rounds on a GPU or on the processor,
and SketchBoost of Py-Boost, with the same rounds, depth, rate and bins. ``--share 0.1`` takes a
tenth of the proteins. Run each part in its own process: memory is the peak of the process.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.gpu import fit_ramify, fit_sketchboost
from benchmarks.gradient_boosting_learners import peak_memory
from benchmarks.made_up_ontology import NAMESPACES, SHARES, draw_parents, draw_terms
from benchmarks.problems import Problem
from benchmarks.trees import print_table
from ramify import Hierarchy, PCTForestClassifier
from ramify.metrics import f_max

N_PROTEINS, N_FEATURES, N_TERMS, N_TEST = 142_246, 1_280, 31_000, 10_000


def make_hierarchy(n_terms: int, seed: int = 0) -> tuple[Hierarchy, list[list[str]]]:
    """Return a DAG of terms, and the terms of each namespace."""
    rng = np.random.default_rng(seed)
    names, edges = [], []
    for name, share in zip(NAMESPACES, SHARES, strict=True):
        ids = [f"{name[0]}{k:06d}" for k in range(max(2, round(n_terms * share)))]
        names.append(ids)
        for position, term in enumerate(ids):
            above = draw_parents(position, rng)
            edges += [(ids[place], term) for place in above] or [("root", term)]
    return Hierarchy.from_edges(edges, root="root"), names


def make_proteins(hierarchy: Hierarchy, names: list[list[str]], n: int, seed: int) -> Problem:
    """Draw proteins whose terms and features depend on their group."""
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, 64, n)
    sets = [
        {term for ids in names for term in draw_terms(ids, group, rng)}
        for group in groups.tolist()
    ]
    means = np.random.default_rng(7).normal(size=(64, N_FEATURES)).astype(np.float32)
    X = rng.standard_normal((n, N_FEATURES), dtype=np.float32)
    X += means[groups]
    return Problem("proteins", X, hierarchy.encode(sets), hierarchy)


def fit_forest(train: Problem, rounds: int, n_jobs: int) -> Any:
    """Fit a forest on the processor; `rounds` has no effect."""
    forest = PCTForestClassifier(
        train.hierarchy, n_estimators=100, min_samples_leaf=5, n_jobs=n_jobs, random_state=0
    )
    return forest.fit(train.X, train.Y)


class Sketch:
    """SketchBoost with random projections to five outputs."""

    def __init__(self, train: Problem, rounds: int) -> None:
        self.model = fit_sketchboost(train, rounds, 5)

    def predict_proba(self, X: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return probabilities."""
        return np.asarray(self.model.predict(X))


PARTS: dict[str, Callable[[Problem, int, int], Any]] = {
    "forest": fit_forest,
    "boosting": lambda train, rounds, n_jobs: fit_ramify(train, rounds, "cpu", n_jobs=n_jobs),
    "boosting-gpu": lambda train, rounds, n_jobs: fit_ramify(train, rounds, "cuda", n_jobs=n_jobs),
    "sketchboost": lambda train, rounds, n_jobs: Sketch(train, rounds),
}


def gpu_memory() -> str:
    """Return the GiB that CuPy holds on the GPU, if it is used."""
    try:
        import cupy  # noqa: PLC0415 (optional)
    except ImportError:
        return "–"
    return f"{cupy.get_default_memory_pool().total_bytes() / 2**30:.1f}"


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=["forest", "boosting"])
    parser.add_argument("--share", type=float, default=1.0, help="share of the proteins")
    parser.add_argument("--terms", type=int, default=N_TERMS)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--test", type=int, default=N_TEST, help="proteins to predict")
    arguments = parser.parse_args()
    started = time.perf_counter()
    hierarchy, names = make_hierarchy(arguments.terms)
    n = round(N_PROTEINS * arguments.share)
    train = make_proteins(hierarchy, names, n, seed=1)
    test = make_proteins(hierarchy, names, arguments.test, seed=2)
    print(
        f"{n:,} proteins × {N_FEATURES:,} features × {hierarchy.n_labels:,} terms in "
        f"{hierarchy.depth} levels, {train.Y.nnz / n:.0f} terms a protein; made in "
        f"{time.perf_counter() - started:.0f} s, {peak_memory():.1f} GiB",
        flush=True,
    )
    few = replace(train, X=train.X[:500], Y=train.Y[:500])
    columns = ("model", "fit, s", "CPU s", "predict, s", "GiB", "GPU, GiB", "F-max")
    rows = [columns]
    for part in arguments.parts:
        if part in ("boosting-gpu", "sketchboost"):
            PARTS[part](few, 2, arguments.jobs)  # compiles kernels
        start, cpu = time.perf_counter(), time.process_time()
        model = PARTS[part](train, arguments.rounds, arguments.jobs)
        fitted, used = time.perf_counter() - start, time.process_time() - cpu
        start = time.perf_counter()
        scores = model.predict_proba(test.X)
        predicted = time.perf_counter() - start
        best = f_max(test.Y, scores, hierarchy=hierarchy)
        rows.append(
            (
                part,
                f"{fitted:.1f}",
                f"{used:.0f}",
                f"{predicted:.1f}",
                f"{peak_memory():.1f}",
                gpu_memory(),
                f"{best:.3f}",
            )
        )
        print_table([columns, rows[-1]])
    print_table(rows)


if __name__ == "__main__":
    main()
