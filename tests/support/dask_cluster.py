"""Clusters of dask on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

PROCESSES = pytest.param("processes", marks=pytest.mark.process)
"""The parameter of a fixture that starts processes."""


@contextmanager
def cluster(n_workers: int, *, processes: bool, work_stealing: bool = True) -> Iterator[Any]:
    """Start workers with one thread each, and yield their client.

    The workers are processes, or threads of this process. With `work_stealing`, the scheduler may
    move tasks and their rows from busy workers to idle ones.
    """
    dask = pytest.importorskip("dask")
    distributed = pytest.importorskip("dask.distributed")
    with (
        dask.config.set({"distributed.scheduler.work-stealing": work_stealing}),
        distributed.LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=processes,
            dashboard_address=":0",
            memory_limit=0,
        ) as workers,
        distributed.Client(workers) as client,
    ):
        yield client
