"""Models in onnxruntime and in ramify: differences of probabilities, file sizes and latencies.

    python -m benchmarks.onnx_models [--trees 50] [--rounds 50] [--threads 1] [DATA SET ...]

prints a table in Markdown. Training and test rows are those of the data sets, in float32.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from scipy import sparse

import ramify
from ramify.export import to_onnx

DATA_SETS = ("cellcycle_FUN", "church_FUN", "pheno_FUN", "imclef07a", "enron_hmc", "cellcycle_GO")
BATCH = 100


def read(name: str) -> tuple[ramify.Hierarchy, np.ndarray, Any, np.ndarray, list[int]]:
    """Return hierarchy, training rows and labels, test rows and the nominal features."""
    data = ramify.fetch(name, as_frame=False)
    parts = []
    for split in ("train", "test"):
        X = data.X[data.splits[split]]
        parts.append(np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float32))
    names = list(data.feature_names)
    nominal = [names.index(feature) for feature in data.categories]
    return data.hierarchy, parts[0], data.y[data.splits["train"]], parts[1], nominal


def models(n_trees: int, n_rounds: int) -> Iterator[tuple[str, Any, list[dict[str, str]]]]:
    """Yield names, classes with parameters, and the ways to export them."""
    trees = [{"missing": "divide"}, {"missing": "nan"}]
    yield "tree", ramify.PCTClassifier(min_samples_leaf=5), trees
    yield "forest", ramify.PCTForestClassifier(n_estimators=n_trees), trees
    yield "extra trees", ramify.PCTExtraTreesClassifier(n_estimators=n_trees), trees
    yield "boosting", ramify.PCTGradientBoostingClassifier(max_iter=n_rounds), [{}]


def seconds(call: Callable[[], object], budget: float = 1.0) -> float:
    """Return the median time of a call."""
    call()
    times: list[float] = []
    end = time.perf_counter() + budget
    while len(times) < 5 or (time.perf_counter() < end and len(times) < 500):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def compare(model: Any, export: dict[str, str], X: np.ndarray, n_threads: int) -> list[str]:
    """Return largest difference, sizes and latencies as cells."""
    content = to_onnx(model, **export).SerializeToString()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = n_threads
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    found = np.concatenate(
        [session.run(None, {"X": X[k : k + BATCH]})[0] for k in range(0, len(X), BATCH)]
    )
    difference = np.abs(found - model.predict_proba(X))
    n_nan = int(np.isnan(found).any(axis=1).sum())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.ramify"
        ramify.save(model, path)
        size = path.stat().st_size
    one, some = X[:1], X[:BATCH]
    times = (
        1e3 * seconds(lambda: model.predict_proba(one)),
        1e3 * seconds(lambda: session.run(None, {"X": one})),
        1e3 * seconds(lambda: model.predict_proba(some)) / len(some),
        1e3 * seconds(lambda: session.run(None, {"X": some})) / len(some),
    )
    largest = f"{np.nanmax(difference):.1e}" if n_nan < len(X) else "-"
    sizes = [f"{n / 1e6:.2f}" for n in (size, len(content))]
    return [largest, str(n_nan), *sizes, *(f"{t:.3f}" for t in times)]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=DATA_SETS, metavar="DATA SET")
    parser.add_argument("--trees", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    head = ["data set", "labels", "test rows", "model", "missing", "largest difference"]
    head += ["rows with NaN", "MB ramify", "MB ONNX"]
    head += ["ms a row: ramify", "onnxruntime", f"ms a row of {BATCH}: ramify", "onnxruntime"]
    print("|", " | ".join(head), "|\n|" + " --- |" * len(head))
    for name in given.names:
        hierarchy, X, y, rows, nominal = read(name)
        for kind, model, exports in models(given.trees, given.rounds):
            model.set_params(
                hierarchy=hierarchy, categorical_features=nominal, random_state=0, n_jobs=1
            )
            model.fit(X, y)
            for export in exports:
                about = [name, str(hierarchy.n_labels), str(len(rows)), kind]
                about.append(export.get("missing", "branch"))
                cells = compare(model, export, rows, given.threads)
                print("|", " | ".join(about + cells), "|", flush=True)


if __name__ == "__main__":
    main()
