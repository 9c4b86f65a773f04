"""Run joblib tasks locally, or on a cluster backend if one is active."""

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
    """Return the number of threads of this process that `n_jobs` stands for.

    joblib resolves `n_jobs` for the active backend, and a cluster backend counts the cores of the
    whole cluster. Threads can only use the cores of this machine.

    Parameters
    ----------
    n_jobs : int or None
        The parameter of an estimator. -1 means all cores; None means the setting of
        ``joblib.parallel_config``, or 1 without one.

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
    """Run tasks on the backend set by ``joblib.parallel_config``, or locally.

    Parameters
    ----------
    tasks : iterable
        Tasks created with `joblib.delayed`.
    n_jobs : int or None
        Number of tasks to run at a time. A cluster backend uses all of its workers.
    prefer : {"threads", "processes"} or None
        The local backend.
    shared : sequence of object
        Arguments shared by all tasks. They are sent to a dask cluster once, not with every task.
        Its workers copy them from each other, and they are computed again if the worker that
        holds them dies.

    Yields
    ------
    object
        The results in the order of the tasks, as soon as they are available.
    """
    backend, _ = get_active_backend(prefer=prefer)
    # Ray's backend does not support generators.
    streams = getattr(backend, "supports_return_generator", False)
    parallel = Parallel(n_jobs=n_jobs, prefer=prefer, return_as="generator" if streams else "list")
    with _kept_by_cluster(backend, shared):
        yield from parallel(tasks)


@contextmanager
def _kept_by_cluster(backend: Any, objects: Sequence[Any]) -> Iterator[None]:
    known = getattr(backend, "data_futures", None)  # only dask's backend has this attribute
    if known is None or not objects:
        yield
        return
    # Do not use scatter: dask cannot recompute scattered data if the last worker holding them
    # dies, and it soon drops the copies of a broadcast. It can recompute the result of a task.
    # The objects are sent as bytes so that the scheduler does not have to import their classes.
    cloudpickle = import_extra("cloudpickle", "dask")  # also pickles classes of __main__
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
