"""Answers for many labels: the best labels and sparse probabilities, beside dense blocks.

``python -m benchmarks.many_labels`` fits a forest of 20 trees to generated rows with 20,000 labels
in a hierarchy and predicts 100,000 other rows: the ten best leaves of every row, all probabilities
as a sparse matrix, those of at least 0.05, measures of them, and ``ramify predict --top 10`` of a
CSV file. Every step runs in a process of its own on all cores; it prints the time and the peak
memory, before the step (the model, the rows and Python) and with it. For comparison, the same best
labels are chosen from blocks of the dense probabilities with numpy, which as one array would take
16 GB. In 200 rows drawn at random, the answers are compared with those of ``predict_proba``.

``--rows`` and ``--labels`` set other sizes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy import sparse

import ramify
from benchmarks.clus import describe_machine
from benchmarks.gradient_boosting_learners import peak_memory
from benchmarks.trees import print_table
from ramify import metrics

K = 10
LEAST = 0.05
N_TRAINING = 10_000
N_FEATURES = 100
N_SAMPLE = 200


def prepare(folder: Path, n_rows: int, n_labels: int) -> str:
    """Write the model and the rows to predict; return a description."""
    data = ramify.make_hierarchical_classification(
        N_TRAINING + n_rows,
        N_FEATURES,
        n_labels=n_labels,
        depth=5,
        labels_per_row=3,
        random_state=0,
        as_frame=False,
    )
    X, y = data.X, sparse.csr_array(data.y)
    names = [f"x{j}" for j in range(N_FEATURES)]
    pandas = ramify._validation.import_extra("pandas", "tables")
    frame = pandas.DataFrame(X, columns=names)
    model = ramify.PCTForestClassifier(
        data.hierarchy, n_estimators=20, min_samples_leaf=5, n_jobs=-1, random_state=0
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
        f"{n_rows:,} rows, {data.hierarchy.n_labels:,} labels, {y.nnz / y.shape[0]:.1f} a row; "
        f"forest of {len(model.trees_)} trees with {leaves:,} leaves, {size:.0f} MiB, from "
        f"{N_TRAINING:,} rows in {seconds:.1f} s"
    )


def top(model: Any, X: Any, folder: Path) -> str:
    """Predict the best labels."""
    labels, scores = model.predict_top(X, K)
    np.savez(folder / "top.npz", labels=labels, scores=scores)
    return f"{labels.shape[0]:,} × {labels.shape[1]} labels"


def top_of_blocks(model: Any, X: Any, folder: Path) -> str:
    """Choose the best labels from blocks of dense probabilities with numpy."""
    leaves = np.sort(model.hierarchy_.indices(model.hierarchy_.leaves))
    found = []
    for block in model.iter_predict_proba(X):
        part = block[:, leaves]
        best = np.argpartition(-part, K, axis=1)[:, :K]
        order = np.argsort(-np.take_along_axis(part, best, axis=1), axis=1)
        found.append(leaves[np.take_along_axis(best, order, axis=1)])
    return f"{sum(map(len, found)):,} × {K} labels"


def as_sparse(model: Any, X: Any, folder: Path, least: float) -> str:
    """Predict sparse probabilities."""
    scores = model.predict_proba_sparse(X, min_proba=least, dtype=np.float32)
    sparse.save_npz(folder / f"sparse-{least}.npz", scores, compressed=False)
    parts = (scores.data, scores.indices, scores.indptr)
    size = sum(part.nbytes for part in parts) / 2**20
    return f"{scores.nnz / scores.shape[0]:,.0f} a row, {size:,.0f} MiB"


def measures(model: Any, X: Any, folder: Path, least: float) -> str:
    """Compute measures of sparse probabilities."""
    truth = sparse.load_npz(folder / "y.npz")
    scores = sparse.load_npz(folder / f"sparse-{least}.npz")
    found = [
        f"{name} {measure(truth, scores, hierarchy=model.hierarchy_):.4f}"
        for name, measure in (
            ("pooled", metrics.pooled_auprc),
            ("mean", metrics.mean_auprc),
            ("F-max", metrics.f_max),
            ("top-k", metrics.top_k_accuracy),
        )
    ]
    return ", ".join(found)


def command(model: Any, X: Any, folder: Path) -> str:
    """Predict a CSV file on the command line."""
    from ramify.cli import app  # noqa: PLC0415 (the other steps do without it)

    arguments = ["predict", str(folder / "model.ramify"), str(folder / "rows.csv")]
    arguments += ["--top", str(K), "-o", str(folder / "top.csv")]
    app(arguments, standalone_mode=False)
    size = (folder / "rows.csv").stat().st_size / 2**20
    return f"CSV of {size:,.0f} MiB"


STEPS: dict[str, Callable[[Any, Any, Path], str]] = {
    "predict_top(X, 10)": top,
    "the same with numpy from dense blocks": top_of_blocks,
    "predict_proba_sparse(X), float32": lambda m, X, f: as_sparse(m, X, f, 0.0),
    "the same, min_proba=0.05": lambda m, X, f: as_sparse(m, X, f, LEAST),
    "measures of all probabilities": lambda m, X, f: measures(m, X, f, 0.0),
    "measures of those of at least 0.05": lambda m, X, f: measures(m, X, f, LEAST),
    "ramify predict --top 10": command,
}


def run_step(name: str, folder: Path) -> dict[str, Any]:
    """Run a step in this process."""
    is_command = name.startswith("ramify")
    X = None if is_command else np.load(folder / "X.npy")
    model = None if is_command else ramify.load(folder / "model.ramify")
    if model is not None:
        del model.feature_names_in_  # X is an array
        model.n_jobs = -1
    before, start, busy = peak_memory(), time.perf_counter(), time.process_time()
    result = STEPS[name](model, X, folder)
    return {
        "seconds": time.perf_counter() - start,
        "cpu": time.process_time() - busy,
        "before": before,
        "peak": peak_memory(),
        "result": result,
    }


def compare(folder: Path) -> str:
    """Compare answers of some rows with those of predict_proba."""
    model = ramify.load(folder / "model.ramify")
    del model.feature_names_in_
    X = np.load(folder / "X.npy", mmap_mode="r")
    rows = np.sort(np.random.default_rng(1).choice(len(X), min(N_SAMPLE, len(X)), replace=False))
    dense = model.predict_proba(X[rows])
    leaves = np.sort(model.hierarchy_.indices(model.hierarchy_.leaves))
    order = leaves[np.argsort(-dense[:, leaves], axis=1, kind="stable")[:, :K]]
    found = np.load(folder / "top.npz")
    same = np.array_equal(found["labels"][rows], model.classes_[order])
    same &= np.array_equal(found["scores"][rows], np.take_along_axis(dense, order, axis=1))
    stored = sparse.load_npz(folder / "sparse-0.0.npz")[rows].toarray()
    same &= np.array_equal(stored, dense.astype(np.float32))
    cut = sparse.load_npz(folder / f"sparse-{LEAST}.npz")[rows].toarray()
    same &= np.array_equal(cut, np.where(dense >= LEAST, dense, 0).astype(np.float32))
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
