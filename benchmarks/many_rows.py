"""Memory and time of fits on many rows that stay in a file.

``python -m benchmarks.many_rows`` writes a generated matrix of float32 and its labels to a
temporary folder, fits a forest and a boosted model to the memory-mapped matrix, each in a separate
process, and prints seconds, peak memory and bytes per cell. ``--quick`` has 20,000 rows.

Anonymous memory is what the fit allocates. Resident memory also includes the pages of the file,
which the system reclaims when it needs them.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.clus import describe_machine
from benchmarks.trees import print_table
from ramify import Hierarchy, PCTForestClassifier, PCTGradientBoostingClassifier
from ramify.metrics import pooled_auprc

ROWS_AT_ONCE = 20_000
LEAVES_PER_ROW = 3
N_TEST = 2_000
KIB, GIB = 2**10, 2**30


@dataclass(frozen=True)
class Sizes:
    """Sizes of the problem and of the models."""

    n_rows: int
    n_features: int
    n_labels: int
    n_trees: int
    n_rounds: int
    n_jobs: int

    @property
    def n_cells(self) -> int:
        """Return the number of cells of X."""
        return self.n_rows * self.n_features


# ---- data ----------------------------------------------------------------------------------


def make_hierarchy(n_labels: int) -> Hierarchy:
    """Return a tree of three levels: ten labels, ten below each, and the rest below those."""
    upper = [f"{a}/{b}" for a in range(10) for b in range(10)]
    n_leaves = max(1, n_labels - 110)
    return Hierarchy.from_paths([f"{upper[k % 100]}/{k // 100}" for k in range(n_leaves)])


def draw_labels(X: np.ndarray, hierarchy: Hierarchy, rng: np.random.Generator) -> sp.csr_array:
    """Return the labels of some rows: six features choose a part of the leaves, chance the rest.

    One row in ten has the labels of another part.
    """
    leaves = np.array(hierarchy.indices(hierarchy.leaves))
    group = (X[:, :6] > 0) @ (2 ** np.arange(6))
    group = np.where(rng.random(len(X)) < 0.1, rng.integers(0, 64, len(X)), group)
    size = max(LEAVES_PER_ROW, len(leaves) // 16)
    first = group * (len(leaves) // 64)
    places = rng.integers(0, size, (len(X), LEAVES_PER_ROW))
    chosen = leaves[(first[:, None] + places) % len(leaves)].astype(np.int32)
    indptr = np.arange(0, chosen.size + 1, LEAVES_PER_ROW)
    ones = np.ones(chosen.size, dtype=np.int32)
    Y = sp.csr_array((ones, chosen.ravel(), indptr), shape=(len(X), hierarchy.n_labels))
    Y.sum_duplicates()
    Y.data[:] = 1
    return sp.csr_array(hierarchy.close(Y))


def write_problem(sizes: Sizes, folder: Path) -> None:
    """Write the rows, some more to test models, and the labels of both."""
    hierarchy = make_hierarchy(sizes.n_labels)
    rng = np.random.default_rng(0)
    parts = {"train": sizes.n_rows, "test": N_TEST}
    for name, n_rows in parts.items():
        shape = (n_rows, sizes.n_features)
        labels = []
        with (folder / f"{name}.npy").open("wb") as file:
            header = {"descr": "<f4", "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(file, header)
            for first in range(0, n_rows, ROWS_AT_ONCE):
                size = (min(ROWS_AT_ONCE, n_rows - first), sizes.n_features)
                X = rng.standard_normal(size, dtype=np.float32)
                file.write(X.data)
                labels.append(draw_labels(X, hierarchy, rng))
        sp.save_npz(folder / f"{name}.npz", sp.csr_array(sp.vstack(labels)), compressed=False)
    (folder / "hierarchy.json").write_text(hierarchy.to_json())


# ---- measuring -----------------------------------------------------------------------------


def memory_of_process() -> dict[str, int]:
    """Return the bytes of this process by kind, as Linux counts them."""
    lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
    return {
        name: KIB * int(rest.split()[0])
        for name, rest in (line.split(":", 1) for line in lines)
        if name in ("RssAnon", "VmRSS", "VmHWM")
    }


class Watch:
    """Watches the anonymous memory of this process, and ends it above a limit."""

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.before = self.peak = memory_of_process()["RssAnon"]
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._done.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._done.wait(0.02):
            found = memory_of_process()
            self.peak = max(self.peak, found["RssAnon"])
            if found["RssAnon"] > self.limit:
                sys.stderr.write(f"more than {self.limit / GIB:.1f} GiB; stopped\n")
                os._exit(1)


def make_model(name: str, sizes: Sizes, hierarchy: Hierarchy) -> Any:
    """Return the model of a name."""
    shared = {"n_jobs": sizes.n_jobs, "random_state": 0}
    if name == "forest":
        return PCTForestClassifier(
            hierarchy, n_estimators=sizes.n_trees, min_samples_leaf=5, **shared
        )
    return PCTGradientBoostingClassifier(hierarchy, max_iter=sizes.n_rounds, **shared)


def fit_here(name: str, sizes: Sizes, folder: Path, limit: float) -> dict[str, Any]:
    """Fit a model in this process; return what was measured."""
    hierarchy = Hierarchy.from_json((folder / "hierarchy.json").read_text())
    X, Y = np.load(folder / "train.npy", mmap_mode="r"), sp.load_npz(folder / "train.npz")
    model = make_model(name, sizes, hierarchy)
    with Watch(limit) as watch:
        start, cpu_start = time.perf_counter(), time.process_time()
        model.fit(X, sp.csr_array(Y))
        seconds, cpu_s = time.perf_counter() - start, time.process_time() - cpu_start
        resident = memory_of_process()["VmHWM"]
    truth = sp.csr_array(sp.load_npz(folder / "test.npz"))
    scores = model.predict_proba(np.load(folder / "test.npy", mmap_mode="r"))
    return {
        "model": name,
        "seconds": seconds,
        "cpu_s": cpu_s,
        "anonymous_gib": watch.peak / GIB,
        "resident_gib": resident / GIB,
        "bytes_per_cell": (watch.peak - watch.before) / sizes.n_cells,
        "auprc": pooled_auprc(truth, scores),
    }


def fit_apart(name: str, sizes: Sizes, folder: Path, limit: float) -> dict[str, Any]:
    """Fit a model in a new process."""
    given = json.dumps([name, asdict(sizes), str(folder), limit])
    command = [sys.executable, "-m", "benchmarks.many_rows", "--fit", given]
    found = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    return dict(json.loads(found.splitlines()[-1]))


HEADINGS = ("model", "s", "CPU s", "GiB, anonymous", "GiB, resident", "bytes per cell", "AU(PRC)")


def cells(found: dict[str, Any]) -> list[str]:
    """Return a row of the table."""
    return [
        found["model"],
        f"{found['seconds']:.1f}",
        f"{found['cpu_s']:.1f}",
        f"{found['anonymous_gib']:.2f}",
        f"{found['resident_gib']:.2f}",
        f"{found['bytes_per_cell']:.1f}",
        f"{found['auprc']:.3f}",
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.many_rows", description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--features", type=int, default=100)
    parser.add_argument("--labels", type=int, default=2_000)
    parser.add_argument("--trees", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--models", nargs="*", default=["forest", "boosting"])
    parser.add_argument("--limit", type=float, default=16.0, help="anonymous memory, GiB")
    parser.add_argument("--quick", action="store_true", help="20,000 rows")
    parser.add_argument("--data", type=Path, help="folder of the rows, used again if it has any")
    parser.add_argument("--fit", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.fit:
        name, sizes, folder, limit = json.loads(given.fit)
        print(json.dumps(fit_here(name, Sizes(**sizes), Path(folder), limit)))
        return 0
    n_rows = 20_000 if given.quick else given.rows
    sizes = Sizes(n_rows, given.features, given.labels, given.trees, given.rounds, given.jobs)
    print(describe_machine())
    print(
        f"{sizes.n_rows:,} rows x {sizes.n_features} features (float32, memory-mapped) x "
        f"{sizes.n_labels:,} labels; {sizes.n_trees} trees, {sizes.n_rounds} rounds, "
        f"{sizes.n_jobs} threads"
    )
    with tempfile.TemporaryDirectory(prefix="ramify-many-rows-") as name:
        folder = given.data or Path(name)
        if not (folder / "hierarchy.json").exists():
            folder.mkdir(parents=True, exist_ok=True)
            write_problem(sizes, folder)
        rows = [
            cells(fit_apart(model, sizes, folder, given.limit * GIB)) for model in given.models
        ]
    print_table([HEADINGS, *rows])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
