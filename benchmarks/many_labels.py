"""Predictions for many labels: the best labels and sparse probabilities, against dense blocks.

``python -m benchmarks.many_labels`` fits a forest of 20 trees to generated rows with 20,000 labels
in a hierarchy and predicts 100,000 other rows: the ten best leaves of every row, all probabilities
as a sparse matrix, those of at least 0.05, measures of them, and ``ramify predict --top 10`` of a
CSV file. Every step runs in a separate process on all cores; it prints the time and the peak
memory, before the step (the model, the rows and Python) and with it. For comparison, the same best
labels are chosen with numpy from blocks of the dense probabilities, which would take 16 GB as one
array. In 200 rows drawn at random, the results are compared with those of ``predict_proba``.

``--rows`` and ``--labels`` set other sizes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

import ramify
from benchmarks.clus import describe_machine
from benchmarks.gradient_boosting_learners import peak_memory
from benchmarks.trees import print_table
from ramify import metrics
from ramify.apps.cli import app

K = 10
LEAST = 0.05
N_TRAINING = 10_000
N_FEATURES = 100
N_SAMPLE = 200


def make_hierarchy(n_labels: int, rng: np.random.Generator) -> ramify.Hierarchy:
    """Return a random tree of labels with 20 labels at the top and at most six levels."""
    level = np.ones(n_labels, dtype=int)
    edges = [("root", k) for k in range(min(20, n_labels))]
    for label in range(20, n_labels):
        parent = int(rng.integers(0, label))
        while level[parent] == 6:
            parent = int(rng.integers(0, label))
        level[label] = level[parent] + 1
        edges.append((parent, label))
    names = {"root": "root"} | {k: f"label {k}" for k in range(n_labels)}
    return ramify.Hierarchy.from_edges([(names[p], names[c]) for p, c in edges], root="root")


def make_rows(
    hierarchy: ramify.Hierarchy, n_rows: int, rng: np.random.Generator
) -> tuple[Any, sparse.csr_array]:
    """Return rows in 64 groups, given by the signs of six features, with three leaves each.

    The rows of a group draw from 300 leaves, one row in ten from those of another group.
    """
    X = rng.normal(size=(n_rows, N_FEATURES))
    group = (X[:, :6] > 0) @ (2 ** np.arange(6))
    group = np.where(rng.random(n_rows) < 0.1, rng.integers(0, 64, n_rows), group)
    leaves = hierarchy.indices(hierarchy.leaves)
    pools = rng.choice(leaves, size=(64, min(300, len(leaves))))
    chosen = pools[group[:, None], rng.integers(0, pools.shape[1], (n_rows, 3))]
    cells = (np.ones(chosen.size, np.int32), (np.repeat(np.arange(n_rows), 3), chosen.ravel()))
    drawn = sparse.coo_array(cells, shape=(n_rows, hierarchy.n_labels)).tocsr()
    drawn.data[:] = 1
    return X, hierarchy.close(drawn)


def prepare(folder: Path, n_rows: int, n_labels: int) -> str:
    """Write the model and the rows to predict; return a description."""
    rng = np.random.default_rng(0)
    hierarchy = make_hierarchy(n_labels, rng)
    X, y = make_rows(hierarchy, N_TRAINING + n_rows, rng)
    names = [f"x{j}" for j in range(N_FEATURES)]
    frame = pd.DataFrame(X, columns=names)
    model = ramify.PCTForestClassifier(
        hierarchy, n_estimators=20, min_samples_leaf=5, n_jobs=-1, random_state=0
    )
    start = time.perf_counter()
    model.fit(frame[:N_TRAINING], y[:N_TRAINING])
    seconds = time.perf_counter() - start
    ramify.save(model, folder / "model.ramify")
    frame[N_TRAINING:].round(6).to_csv(folder / "rows.csv", index=False)
    np.save(folder / "X.npy", X[N_TRAINING:])
    sparse.save_npz(folder / "y.npz", y[N_TRAINING:])
    leaves = sum(int((tree.feature < 0).sum()) for tree in model.trees_)
    size = (folder / "model.ramify").stat().st_size / 2**20
    return (
        f"{n_rows:,} rows, {hierarchy.n_labels:,} labels, {y.nnz / y.shape[0]:.1f} a row; "
        f"forest of {len(model.trees_)} trees with {leaves:,} leaves, {size:.0f} MiB, from "
        f"{N_TRAINING:,} rows in {seconds:.1f} s"
    )


@dataclass(frozen=True)
class Step:
    """What is read before the clock starts, what is measured, and what is kept and said of it."""

    load: Callable[[Path], tuple[Any, ...]]
    work: Callable[..., Any]
    keep: Callable[[Path, Any], str]


def load_rows(folder: Path) -> tuple[Any, Any]:
    """Return the model and the rows."""
    model = ramify.load(folder / "model.ramify")
    del model.feature_names_in_  # X is an array
    model.n_jobs = -1
    return model, np.load(folder / "X.npy")


def load_scores(folder: Path, least: float) -> tuple[Any, ...]:
    """Return true labels, sparse probabilities and the hierarchy."""
    truth = sparse.load_npz(folder / "y.npz")
    scores = sparse.load_npz(folder / f"sparse-{least}.npz")
    return truth, scores, ramify.load(folder / "model.ramify").hierarchy_


def top_of_blocks(model: Any, X: Any) -> tuple[Any, Any]:
    """Choose the best labels from blocks of dense probabilities with numpy."""
    leaves = np.sort(model.hierarchy_.indices(model.hierarchy_.leaves))
    labels, scores = [], []
    for block in model.iter_predict_proba(X):
        part = block[:, leaves]
        best = np.argpartition(-part, K, axis=1)[:, :K]
        values = np.take_along_axis(part, best, axis=1)
        order = np.argsort(-values, axis=1)
        labels.append(model.classes_[leaves[np.take_along_axis(best, order, axis=1)]])
        scores.append(np.take_along_axis(values, order, axis=1))
    return np.concatenate(labels), np.concatenate(scores)


def keep_top(folder: Path, found: Any, name: str = "top.npz") -> str:
    """Write the best labels."""
    labels, scores = found
    np.savez(folder / name, labels=labels, scores=scores)
    return f"{labels.shape[0]:,} × {labels.shape[1]} labels"


def keep_sparse(folder: Path, scores: Any, least: float) -> str:
    """Write sparse probabilities."""
    sparse.save_npz(folder / f"sparse-{least}.npz", scores, compressed=False)
    size = sum(part.nbytes for part in (scores.data, scores.indices, scores.indptr)) / 2**20
    return f"{scores.nnz / scores.shape[0]:,.0f} a row, {size:,.0f} MiB"


def measures(truth: Any, scores: Any, hierarchy: ramify.Hierarchy) -> str:
    """Compute measures of sparse probabilities."""
    found = [
        f"{name} {measure(truth, scores, hierarchy=hierarchy):.4f}"
        for name, measure in (
            ("pooled AUPRC", metrics.pooled_auprc),
            ("mean AUPRC", metrics.mean_auprc),
            ("F-max", metrics.f_max),
            ("top-k", metrics.top_k_accuracy),
        )
    ]
    return ", ".join(found)


def command(folder: Path) -> str:
    """Predict a CSV file on the command line."""
    arguments = ["predict", str(folder / "model.ramify"), str(folder / "rows.csv")]
    arguments += ["--top", str(K), "-o", str(folder / "top.csv")]
    app(arguments, standalone_mode=False)
    return f"CSV of {(folder / 'rows.csv').stat().st_size / 2**20:,.0f} MiB"


def sparse_step(least: float) -> Step:
    """Return the step that predicts sparse probabilities."""
    return Step(
        load_rows,
        lambda m, X: m.predict_proba_sparse(X, min_proba=least, dtype=np.float32),
        lambda folder, scores: keep_sparse(folder, scores, least),
    )


def measuring_step(least: float) -> Step:
    """Return the step that computes measures of sparse probabilities."""
    return Step(lambda folder: load_scores(folder, least), measures, lambda _, found: found)


STEPS = {
    "predict_top(X, 10)": Step(load_rows, lambda m, X: m.predict_top(X, K), keep_top),
    "the same with numpy from dense blocks": Step(
        load_rows, top_of_blocks, lambda folder, found: keep_top(folder, found, "numpy.npz")
    ),
    "predict_proba_sparse(X), float32": sparse_step(0.0),
    "the same, min_proba=0.05": sparse_step(LEAST),
    "measures of all probabilities": measuring_step(0.0),
    "measures of those of at least 0.05": measuring_step(LEAST),
    "ramify predict --top 10": Step(lambda folder: (folder,), command, lambda _, found: found),
}


def run_step(name: str, folder: Path) -> dict[str, Any]:
    """Run a step in this process."""
    step = STEPS[name]
    inputs = step.load(folder)
    before, start, busy = peak_memory(), time.perf_counter(), time.process_time()
    found = step.work(*inputs)
    figures = {
        "seconds": time.perf_counter() - start,
        "cpu": time.process_time() - busy,
        "before": before,
        "peak": peak_memory(),
    }
    return figures | {"result": step.keep(folder, found)}


def compare(folder: Path) -> str:
    """Compare answers of some rows with those of predict_proba."""
    model, X = load_rows(folder)
    rows = np.sort(np.random.default_rng(1).choice(len(X), min(N_SAMPLE, len(X)), replace=False))
    dense = model.predict_proba(X[rows])
    leaves = np.sort(model.hierarchy_.indices(model.hierarchy_.leaves))
    order = leaves[np.argsort(-dense[:, leaves], axis=1, kind="stable")[:, :K]]
    found = np.load(folder / "top.npz")
    same = np.array_equal(found["labels"][rows], model.classes_[order])
    same &= np.array_equal(found["scores"], np.load(folder / "numpy.npz")["scores"])
    same &= np.array_equal(found["scores"][rows], np.take_along_axis(dense, order, axis=1))
    stored = sparse.load_npz(folder / "sparse-0.0.npz")[rows].toarray()
    same &= np.array_equal(stored, dense.astype(np.float32))
    cut = sparse.load_npz(folder / f"sparse-{LEAST}.npz")[rows].toarray()
    same &= np.array_equal(cut, np.where(dense >= LEAST, dense, 0).astype(np.float32))
    written = pd.read_csv(folder / "top.csv")
    same &= np.array_equal(written["row"], np.repeat(np.arange(len(X)), K))
    same &= np.allclose(written["probability"], found["scores"].ravel(), atol=1e-4)
    return f"{len(rows)} rows compared with predict_proba: {'equal' if same else 'DIFFERENT'}"


def main() -> int:
    """Print the table, or run one step of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--labels", type=int, default=20_000)
    parser.add_argument("--step", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        print(json.dumps(run_step(options.step[0], Path(options.step[1]))))
        return 0
    print(describe_machine())
    table = [["step", "s", "CPU s", "GiB before", "peak GiB", "result"]]
    with TemporaryDirectory() as name:
        folder = Path(name)
        print(prepare(folder, options.rows, options.labels), flush=True)
        for step in STEPS:
            arguments = [sys.executable, "-m", "benchmarks.many_labels", "--step", step, name]
            done = subprocess.run(arguments, check=True, stdout=subprocess.PIPE, text=True)
            found = json.loads(done.stdout.splitlines()[-1])
            figures = [f"{found[k]:.1f}" for k in ("seconds", "cpu")]
            figures += [f"{found[k]:.2f}" for k in ("before", "peak")]
            table.append([step, *figures, found["result"]])
        print_table(table)
        verdict = compare(folder)
        print(verdict)
    return 0 if verdict.endswith("equal") else 1


if __name__ == "__main__":
    raise SystemExit(main())
