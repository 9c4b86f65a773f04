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
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.gradient_boosting_learners import peak_memory
from benchmarks.made_up_ontology import NAMESPACES, SHARES, draw_parents, draw_terms
from benchmarks.trees import print_table
from ramify import Hierarchy, PCTForestClassifier, PCTGradientBoostingClassifier
from ramify.metrics import f_max

N_PROTEINS, N_FEATURES, N_TERMS, N_TEST = 142_246, 1_280, 31_000, 10_000
SHARED = {"max_depth": 6, "learning_rate": 0.05, "min_samples_leaf": 10}


class Proteins(NamedTuple):
    """Rows with their closed label matrix."""

    X: NDArray[np.float32]
    Y: sparse.csr_array


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


def make_proteins(hierarchy: Hierarchy, names: list[list[str]], n: int, seed: int) -> Proteins:
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
    return Proteins(X, hierarchy.encode(sets))


def fit_forest(train: Proteins, hierarchy: Hierarchy, rounds: int, n_jobs: int) -> Any:
    """Fit a forest on the processor; `rounds` has no effect."""
    forest = PCTForestClassifier(
        hierarchy, n_estimators=100, min_samples_leaf=5, n_jobs=n_jobs, random_state=0
    )
    return forest.fit(train.X, train.Y)


def fit_boosting(
    train: Proteins, hierarchy: Hierarchy, rounds: int, n_jobs: int, device: str = "cpu"
) -> Any:
    """Fit gradient boosting with all rows and features in every tree."""
    model = PCTGradientBoostingClassifier(
        hierarchy,
        loss="logistic",
        max_iter=rounds,
        max_bins=255,
        max_features=None,
        subsample=1.0,
        early_stopping=False,
        device=device,
        n_jobs=n_jobs,
        random_state=0,
        **SHARED,
    )
    return model.fit(train.X, train.Y)


def fit_boosting_gpu(train: Proteins, hierarchy: Hierarchy, rounds: int, n_jobs: int) -> Any:
    """Fit the same on a GPU."""
    return fit_boosting(train, hierarchy, rounds, n_jobs, "cuda")


class Sketch:
    """SketchBoost with random projections to five outputs, its labels a dense matrix."""

    def __init__(self, rounds: int) -> None:
        from py_boost import SketchBoost  # noqa: PLC0415 (optional)

        self.model = SketchBoost(
            "bce",
            ntrees=rounds,
            lr=SHARED["learning_rate"],
            max_depth=SHARED["max_depth"],
            min_data_in_leaf=SHARED["min_samples_leaf"],
            lambda_l2=1,
            max_bin=256,
            sketch_method="proj",
            sketch_outputs=5,
            verbose=10**9,
            seed=0,
        )

    def fit(self, train: Proteins) -> Sketch:
        """Fit the model."""
        self.model.fit(train.X, train.Y.toarray().astype(np.float32))
        return self

    def predict_proba(self, X: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return probabilities."""
        return np.asarray(self.model.predict(X))


def fit_sketchboost(train: Proteins, hierarchy: Hierarchy, rounds: int, n_jobs: int) -> Any:
    """Fit SketchBoost on a GPU."""
    return Sketch(rounds).fit(train)


PARTS: dict[str, Callable[[Proteins, Hierarchy, int, int], Any]] = {
    "forest": fit_forest,
    "boosting": fit_boosting,
    "boosting-gpu": fit_boosting_gpu,
    "sketchboost": fit_sketchboost,
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
    few = Proteins(train.X[:500], train.Y[:500])
    columns = ("model", "fit, s", "CPU s", "predict, s", "GiB", "GPU, GiB", "F-max")
    rows = [columns]
    for part in arguments.parts:
        if part in ("boosting-gpu", "sketchboost"):
            PARTS[part](few, hierarchy, 2, arguments.jobs)  # compiles kernels
        start, cpu = time.perf_counter(), time.process_time()
        model = PARTS[part](train, hierarchy, arguments.rounds, arguments.jobs)
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
