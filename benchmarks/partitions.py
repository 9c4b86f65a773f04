"""Boosting on a dask cluster whose workers hold a partition each: bytes, times, a killed worker.

``python -m benchmarks.partitions`` starts four processes with a partition each, fits the same
model three times (in this process, on the cluster, and on the cluster while a worker is killed)
and prints how much the workers have sent, as counted by dask, and whether the models are equal.
"""

from __future__ import annotations

import argparse
import os
import pickle
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import dask.array as da
import numpy as np
import scipy.sparse as sp
from dask.distributed import Client, LocalCluster, wait

from benchmarks.clus import describe_machine
from benchmarks.problems import Problem, generate, load
from benchmarks.trees import print_table
from ramify import PCTGradientBoostingClassifier
from ramify.boosting.partitions.counting import LocalPartitions
from ramify.boosting.partitions.dask_cluster import DaskPartitions
from ramify.boosting.partitions.fitting import fit_partitions

N_WORKERS = 4


def arrays_of(model: PCTGradientBoostingClassifier) -> bytes:
    """Return all arrays of the trees, to compare models bit for bit."""
    trees: list[Any] = [model.trees_.arrays(t) for t in range(len(model.trees_))]
    cells = [tree[name].tobytes() for tree in trees for name in sorted(tree)]
    return b"".join([model.baseline_.tobytes(), *cells])


def sent_by_workers(client: Client) -> int:
    """Return how many bytes the workers have sent so far, to each other and to the client."""
    counted = client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total)
    return sum(counted.values())


class Meter(DaskPartitions):
    """Counts what is sent, and kills a worker in the middle if asked to."""

    kill_in = -1

    def build(self, reading: Any, plan: Any) -> None:
        """Make the shards, and note what was sent until then."""
        super().build(reading, plan)
        self.owners = len(set(self._owners.values()))
        self.once = sent_by_workers(self._client)
        self.from_client = self.to_client = 0

    def ask(self, request: Any) -> Any:
        """Add up sums, and count the request and the result."""
        if request.kind == "histograms" and request.round == self.kill_in:
            self.kill_in = -1
            owner = self._owners[N_WORKERS - 1]
            os.kill(self._client.run(os.getpid)[owner], signal.SIGKILL)
        message = super().ask(request)
        self.from_client += len(self._numbers) * len(pickle.dumps(request))
        self.to_client += message.numbers.nbytes
        return message

    def add_tree(self, record: Any) -> None:
        """Count the tree."""
        super().add_tree(record)
        self.from_client += len(pickle.dumps(record))


@contextmanager
def cluster() -> Iterator[Client]:
    """Start processes."""
    with (
        LocalCluster(
            n_workers=N_WORKERS, threads_per_worker=1, dashboard_address=":0", memory_limit=0
        ) as processes,
        Client(processes) as client,
    ):
        yield client


def fit_cluster(
    model: PCTGradientBoostingClassifier, problem: Problem, kill_in: int
) -> tuple[Meter, int, float]:
    """Fit a model on a cluster; return the counts, the bytes that workers sent, and seconds."""
    size = -(-problem.X.shape[0] // N_WORKERS)
    dense = problem.X.toarray() if sp.issparse(problem.X) else problem.X
    # Blocks of labels are sent as sparse matrices, and X as it is used: one partition per worker.
    X = da.from_array(dense, chunks=(size, -1))
    if sp.issparse(problem.X):
        X = X.map_blocks(sp.csr_array)
    Y = da.from_array(problem.Y.toarray().astype(np.int8), chunks=(size, -1))
    Y = Y.map_blocks(sp.csr_array)
    with cluster() as client:
        X, Y = client.persist([X, Y])
        wait([X, Y])
        before = sent_by_workers(client)
        columns = [list(data.to_delayed().ravel()) for data in (X, Y)]
        meter = Meter(client, columns)
        meter.kill_in = kill_in
        start = meter.start = time.perf_counter()
        fit_partitions(model, meter)
        seconds = time.perf_counter() - start
        # The counts of a worker that was killed are lost with it.
        total = 0 if kill_in >= 0 else sent_by_workers(client) - meter.once
        meter.once -= before
        meter.close()
    return meter, total, seconds


def measure(problem: Problem, n_rounds: int) -> None:
    """Fit a model in three ways and print what they took."""

    def model() -> PCTGradientBoostingClassifier:
        made = PCTGradientBoostingClassifier(
            problem.hierarchy, max_iter=n_rounds, early_stopping=False, random_state=0
        )
        made._seed = 0
        return made

    n_rows, n_features = problem.X.shape
    Y = problem.Y
    print(
        f"{problem.name}: {n_rows:,} rows, {n_features:,} features, {Y.shape[1]:,} labels, "
        f"{n_rounds} rounds; {describe_machine()}"
    )
    alone = model()
    start = time.perf_counter()
    fit_partitions(alone, LocalPartitions([(problem.X, Y)]))
    rows = [["", "s", "partitions lost", "equal model"]]
    rows.append(["one partition, this process", f"{time.perf_counter() - start:.1f}", "", ""])
    for name, kill_in in (("four workers", -1), ("four workers, one killed", n_rounds // 2)):
        found = model()
        meter, total, seconds = fit_cluster(found, problem, kill_in)
        equal = arrays_of(found) == arrays_of(alone)
        lost = sum(meter.n_restored.values())
        rows.append([name, f"{seconds:.1f}", str(lost), "yes" if equal else "NO"])
        if kill_in < 0:
            counts = [
                ["sent", "MB"],
                ["by workers, once, for bins and labels", f"{meter.once / 1e6:.3f}"],
                ["by workers, per round", f"{total / n_rounds / 1e6:.3f}"],
                ["   of which to the client", f"{meter.to_client / n_rounds / 1e6:.3f}"],
                ["by the client, per round", f"{meter.from_client / n_rounds / 1e6:.3f}"],
                ["X, for comparison", f"{_size(problem.X) / 1e6:.3f}"],
            ]
            owners = meter.owners
    print_table(rows)
    print(f"{owners} workers had a partition each")
    print_table(counts)
    print(flush=True)


def _size(X: Any) -> int:
    return int(X.data.nbytes + X.indices.nbytes) if sp.issparse(X) else int(X.nbytes)


def main() -> None:
    """Measure public and generated data."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("names", nargs="*", default=["cellcycle_FUN", "delicious"])
    parser.add_argument("--rows", type=int, nargs="*", default=[10_000, 40_000])
    options = parser.parse_args()
    for name in options.names:
        measure(load(name), options.rounds)
    for n_rows in options.rows:
        measure(generate(n_rows, 100, 1_000, 5), options.rounds)


if __name__ == "__main__":
    main()
