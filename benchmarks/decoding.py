"""Mandatory-leaf decoding: rows per second on one core, ramify against the paper's algorithm.

``python -m benchmarks.decoding`` prints the results with the requirements and writes them to
``build/benchmarks/decoding.json``. Decoders start from probabilities, so weights are part of the
time. Rates are based on CPU seconds of one thread; the numpy twin runs on few rows. Generated
hierarchies have the size and the shape of FunCat and the Gene Ontology. ``--data`` uses the real
ones, and compares the sets that the solvers find for the probabilities of a tree trained on them:
exact sets with those of an integer program, and greedy sets with exact ones. Probabilities are
either like those of a forest, most of them near 0, or spread evenly. The latter is the worst case:
hundreds of labels are worth including, and the search continues to the last leaf.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.clus import BUILD, describe_machine
from benchmarks.trees import print_table
from ramify import Hierarchy, PCTClassifier, fetch
from ramify.decision import leaf_weights, mandatory_leaves
from ramify.decision.leaves import solve_programs

NEEDED = {
    ("DAG 4125", "greedy"): 2_000,
    ("cellcycle_GO", "greedy"): 2_000,
    ("tree 500", "exact"): 100_000,
    ("cellcycle_FUN", "exact"): 100_000,
}
REAL = ("cellcycle_FUN", "cellcycle_GO")


@dataclass(frozen=True)
class Figure:
    """Rows per second of one solver on one kind of rows."""

    hierarchy: str
    n_leaves: int
    probabilities: str
    solver: str
    k: int | None
    leaves_chosen: float
    rows_per_second: float
    twin_rows_per_second: float | None

    @property
    def needed(self) -> int | None:
        """Return the requirement, if there is one."""
        return NEEDED.get((self.hierarchy, self.solver)) if self.k is None else None


def made_hierarchy(n_labels: int, depth: int, *, extra_parents: float) -> Hierarchy:
    """Return a random hierarchy: labels hang below earlier ones, half of all are leaves."""
    rng = np.random.default_rng(0)
    inner = n_labels * 2 // 5
    level = np.zeros(inner, dtype=int)
    edges = {("root", f"{c}") for c in range(min(18, inner))}
    for child in range(18, n_labels):
        parent = int(rng.integers(min(child, inner)))
        while level[parent] >= depth - 1:
            parent = int(rng.integers(min(child, inner)))
        if child < inner:
            level[child] = level[parent] + 1
        edges.add((f"{parent}", f"{child}"))
        if rng.random() < extra_parents:
            edges.add((f"{int(rng.integers(min(child, inner)))}", f"{child}"))
    return Hierarchy.from_edges(edges, root="root")


def probabilities(hierarchy: Hierarchy, kind: str, n_rows: int) -> np.ndarray:
    """Return coherent probabilities whose conditionals are mostly small, or spread evenly."""
    rng = np.random.default_rng(1)
    shape = (n_rows, hierarchy.n_labels)
    scores = rng.beta(0.3, 1.5, shape) if kind == "forest" else rng.random(shape)
    indptr, parents = hierarchy.parent_rows
    for label in range(hierarchy.n_labels):
        above = parents[indptr[label] : indptr[label + 1]]
        if len(above):
            scores[:, label] *= scores[:, above].min(axis=1)
    return scores


class PaperGreedy:
    """Algorithm 1 as the paper writes it: after each leaf, all leaves are valued again."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        leaves = hierarchy.indices(hierarchy.leaves)
        self.paths = np.zeros((len(leaves), hierarchy.n_labels))
        indptr, indices = hierarchy.ancestor_rows
        for place, leaf in enumerate(leaves):
            self.paths[place, indices[indptr[leaf] : indptr[leaf + 1]]] = 1
            self.paths[place, leaf] = 1
        self.hierarchy = hierarchy

    def __call__(self, row: np.ndarray, k: int | None) -> np.ndarray:
        """Return the chosen labels of one row."""
        weights = leaf_weights(row[None], self.hierarchy)[0]
        left, chosen = np.ones(len(self.paths), dtype=bool), np.zeros(len(weights), dtype=bool)
        best, found = -np.inf, chosen
        for _ in range(k or len(self.paths)):
            values = np.where(left, self.paths @ (weights * ~chosen), -np.inf)
            leaf = int(values.argmax())
            left[leaf] = False
            chosen = chosen | (self.paths[leaf] > 0)
            value = weights[chosen].sum()
            if k or value > best:
                best, found = value, chosen
        return found


def rows_per_second(action: Callable[[], Any], n_rows: int, repeats: int) -> float:
    """Return the most of several runs, by CPU time."""
    best = np.inf
    for _ in range(repeats):
        start = time.process_time()
        action()
        best = min(best, time.process_time() - start)
    return n_rows / best


def cases(quick: bool, real: bool) -> Iterator[tuple[str, Hierarchy, int]]:
    """Yield hierarchies and how many rows to decode."""
    share = 10 if quick else 1
    if real:
        for name, n_rows in zip(REAL, (20_000, 2_000), strict=True):
            yield name, fetch(name).hierarchy, n_rows // share
        return
    yield "tree 500", made_hierarchy(500, 6, extra_parents=0), 20_000 // share
    yield "tree 4000", made_hierarchy(4000, 8, extra_parents=0), 4_000 // share
    yield "DAG 500", made_hierarchy(500, 8, extra_parents=0.3), 10_000 // share
    yield "DAG 4125", made_hierarchy(4125, 14, extra_parents=0.3), 2_000 // share


def measure(name: str, hierarchy: Hierarchy, n_rows: int) -> Iterator[Figure]:
    """Yield the figures of one hierarchy."""
    twin = PaperGreedy(hierarchy)
    for kind in ("forest", "even"):
        scores = probabilities(hierarchy, kind, n_rows)
        for k in (None, 5):
            slow = None
            if k is not None or hierarchy.n_labels <= 500:  # the twin takes minutes for more
                few = scores[: 2 if k is None else 10]
                slow = rows_per_second(lambda s=few, k=k: [twin(row, k) for row in s], len(few), 1)
            for solver in ("greedy", "exact"):
                exact_dag = solver == "exact" and not hierarchy.is_tree
                if exact_dag and name in REAL:
                    continue  # made-up probabilities of the Gene Ontology take many minutes a row
                rows = scores[: 2 if exact_dag else n_rows]
                decode = partial(mandatory_leaves, rows, hierarchy, solver=solver, k=k)
                sets: list[Any] = []
                speed = rows_per_second(
                    lambda s=sets, d=decode: s.append(d()), len(rows), 1 if exact_dag else 3
                )
                chosen = sets[0][:, hierarchy.indices(hierarchy.leaves)].sum() / len(rows)
                peer = slow if solver == "greedy" else None
                yield Figure(
                    name, len(hierarchy.leaves), kind, solver, k, float(chosen), speed, peer
                )


def agree(name: str, n_rows: int, ks: tuple[int, ...] = (2, 5)) -> bool:
    """Compare the solvers on a real data set, print the results, and return whether they agree."""
    data = fetch(name)
    hierarchy = data.hierarchy
    tree = PCTClassifier(hierarchy, min_samples_leaf=20, random_state=0)
    scores = tree.fit(data.X_train, data.y_train).predict_proba(data.X_test[:n_rows])
    weights = leaf_weights(scores, hierarchy)
    best = [
        mandatory_leaves(scores, hierarchy, solver="exact", k=k) for k in range(1, max(ks) + 1)
    ]
    inside = [missing(*pair) == 0 for pair in pairwise(best)]
    well = True
    for k in (None, *ks):
        nested = np.all(inside[: (k or 1) - 1], axis=0) & np.ones(n_rows, dtype=bool)
        exact = best[k - 1] if k else mandatory_leaves(scores, hierarchy, solver="exact")
        counts = np.full(n_rows, k or 0, dtype=np.int32)
        program = values(solve_programs(weights, hierarchy, counts), weights)
        found = values(exact, weights)
        below = found - values(mandatory_leaves(scores, hierarchy, k=k), weights)
        alike = below[nested] if k else below
        well &= abs(found - program).max() < 1e-5 and below.min() > -1e-5
        well &= k is None or abs(alike).max(initial=0.0) < 1e-5
        print(f"{name}, k {k or 'best'}: {n_rows} rows, exact and integer program differ by at "
              f"most {abs(found - program).max():.1e}; greedy below exact by {below.min():.1e} to "
              f"{below.max():.2g}, equal in {np.sum(abs(below) < 1e-5)} rows"
              + (f", in {np.sum(abs(alike) < 1e-5)} of {nested.sum()} with nested sets"
                 if k else ""), flush=True)  # fmt: skip
    return bool(well)


def values(sets: Any, weights: np.ndarray) -> np.ndarray:
    """Return the value of the set of every row."""
    return np.asarray(sets.multiply(weights).sum(axis=1)).ravel()


def missing(small: Any, large: Any) -> np.ndarray:
    """Return how many labels of the one set the other lacks, by row."""
    return np.asarray((small - small.multiply(large)).sum(axis=1)).ravel()


def line(figure: Figure) -> list[str]:
    """Return a line of the table."""
    twin = figure.twin_rows_per_second
    needed = figure.needed
    verdict = ""
    if needed:
        verdict = "ok" if figure.rows_per_second >= needed else "TOO SLOW"
    return [
        figure.hierarchy,
        f"{figure.n_leaves}",
        figure.probabilities,
        figure.solver,
        "best" if figure.k is None else f"{figure.k}",
        f"{figure.leaves_chosen:.1f}",
        f"{figure.rows_per_second:,.0f}",
        f"{figure.rows_per_second / twin:,.0f}" if twin else "",
        f"≥ {needed:,}" if needed else "",
        verdict,
    ]


def main() -> int:
    """Measure, print and store the figures; return 1 if something is too slow or wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    parser.add_argument("--data", action="store_true", help="real hierarchies of RAMIFY_DATA")
    options = parser.parse_args()
    figures: list[Figure] = []
    for case in cases(options.quick, options.data):
        print(f"{case[0]} ...", flush=True)  # integer programs take minutes
        figures += measure(*case)
    header = ["hierarchy", "leaves", "probabilities", "solver", "k", "chosen", "rows/s", "× numpy",
              "needed", ""]  # fmt: skip
    print(describe_machine())
    print_table([header, *map(line, figures)])
    BUILD.mkdir(parents=True, exist_ok=True)
    (BUILD / "decoding.json").write_text(json.dumps([asdict(f) for f in figures], indent=1))
    well = not options.data or all([agree("cellcycle_FUN", 10), agree("pheno_GO", 3, (2,))])
    return int(not well or any(f.needed and f.rows_per_second < f.needed for f in figures))


if __name__ == "__main__":
    raise SystemExit(main())
