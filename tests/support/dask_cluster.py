"""A cluster of local processes for tests with dask."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest


@contextmanager
def cluster(n_workers: int, work_stealing: bool = True) -> Iterator[Any]:
    """Start workers with one thread each, and yield their client.

    With `work_stealing`, the scheduler may move tasks and their rows from busy workers to idle
    ones.
    """
    dask = pytest.importorskip("dask")
    distributed = pytest.importorskip("dask.distributed")
    with (
        dask.config.set({"distributed.scheduler.work-stealing": work_stealing}),
        distributed.LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            memory_limit=0,
        ) as processes,
        distributed.Client(processes) as client,
    ):
        yield client
