"""Work on more than one machine: joblib's cluster backends are the door, this keeps it open."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from joblib import Parallel, cpu_count, effective_n_jobs
from joblib.parallel import BACKENDS, get_active_backend

from ramify._validation import import_extra

__all__ = ["count_threads", "in_parallel"]

_LOCAL = ("loky", "multiprocessing", "sequential", "threading")


def count_threads(n_jobs: int | None) -> int:
    """Return how many threads of this process `n_jobs` stands for.

    joblib answers for the backend that is active, and a cluster's backend counts the cores of the
    cluster; threads have only those of this machine.

    Parameters
    ----------
    n_jobs : int or None
        The parameter of an estimator: -1 for all cores, None for what
        ``joblib.parallel_config`` says, or 1.

    Returns
    -------
    int
        At least 1.

    Examples
    --------
    >>> count_threads(2), count_threads(None)
    (2, 1)
    """
    if n_jobs == 1:
        return 1
    backend, _ = get_active_backend()
    if type(backend) in [BACKENDS.get(name) for name in _LOCAL]:
        return int(effective_n_jobs(n_jobs))
    if n_jobs is None or n_jobs == 0:
        return 1
    return int(n_jobs if n_jobs > 0 else max(1, cpu_count() + 1 + n_jobs))


def in_parallel(
    tasks: Iterable[Any], *, n_jobs: int | None, prefer: str | None, shared: Sequence[Any] = ()
) -> Iterator[Any]:
    """Run tasks with the backend of ``joblib.parallel_config``, or locally.

    Parameters
    ----------
    tasks : iterable
        Made with `joblib.delayed`.
    n_jobs : int or None
        How many at a time; a cluster's backend uses all it has.
    prefer : {"threads", "processes"} or None
        The local backend.
    shared : sequence of object
        Arguments of all tasks. A dask cluster gets them once, not with every task; its workers
        pass them on to each other, and get them again if the worker that had them dies.

    Yields
    ------
    object
        The results in the order of the tasks, as soon as they are there.
    """
    backend, _ = get_active_backend(prefer=prefer)
    # Ray's has no generators.
    streams = getattr(backend, "supports_return_generator", False)
    parallel = Parallel(n_jobs=n_jobs, prefer=prefer, return_as="generator" if streams else "list")
    with _kept_by_cluster(backend, shared):
        yield from parallel(tasks)


@contextmanager
def _kept_by_cluster(backend: Any, objects: Sequence[Any]) -> Iterator[None]:
    known = getattr(backend, "data_futures", None)  # only dask's backend has them
    if known is None or not objects:
        yield
        return
    # Not with scatter: dask cannot make scattered data again if the last worker that has them
    # dies, and soon drops the copies of a broadcast. The result of a task it can. As bytes,
    # because the scheduler need not know our classes.
    cloudpickle = import_extra("cloudpickle", "dask")  # takes classes of __main__ along
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
        futures = [
            backend.client.submit(pickle.loads, cloudpickle.dumps(value), pure=False)
            for value in objects
        ]
    names = [id(value) for value in objects]
    known.update(zip(names, futures, strict=True))
    try:
        yield
    finally:
        for name in names:
            known.pop(name, None)
