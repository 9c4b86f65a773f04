"""Run joblib tasks locally, or on a cluster backend if one is active."""

from __future__ import annotations

import pickle
import threading
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from joblib import Parallel, cpu_count, effective_n_jobs
from joblib.parallel import BACKENDS, get_active_backend

from ramify import _core
from ramify._messages import import_extra

_LOCAL = ("loky", "multiprocessing", "sequential", "threading")

_MAX_PER_CORE = 8
"""More threads or processes than this per core are never started."""

_N_POOL_THREADS = 3
"""Threads that a pool of joblib starts in addition to its workers."""


def count_threads(n_jobs: int | None) -> int:
    """Return the number of threads of this process that `n_jobs` stands for.

    joblib resolves `n_jobs` for the active backend, and a cluster backend counts the cores of the
    whole cluster. Threads can only use the cores of this machine; there are at most 8 per core.
    """
    if n_jobs == 1:
        return 1
    backend, _ = get_active_backend()
    if _is_local(backend):
        return _limit(effective_n_jobs(n_jobs))
    if n_jobs is None or n_jobs == 0:
        return 1
    return _limit(n_jobs if n_jobs > 0 else max(1, cpu_count() + 1 + n_jobs))


def _is_local(backend: Any) -> bool:
    return type(backend) in [BACKENDS.get(name) for name in _LOCAL]


def _limit(n_jobs: int) -> int:
    # Counting the cores, of which there is at least one, takes longer than predicting a row.
    if n_jobs <= _MAX_PER_CORE:
        return max(1, n_jobs)
    return int(min(n_jobs, _MAX_PER_CORE * cpu_count()))


def in_parallel(
    tasks: Iterable[Any],
    *,
    n_jobs: int | None,
    prefer: str | None = None,
    require: str | None = None,
    shared: Sequence[Any] = (),
    ordered: bool = True,
) -> Generator[Any]:
    """Run tasks on the backend set by ``joblib.parallel_config``, or locally.

    Close the generator if it is not exhausted, for instance with `contextlib.closing`: this stops
    tasks in other threads and waits for them.
    """
    backend, default_jobs = get_active_backend(prefer=prefer, require=require)
    # Ray's backend does not support generators.
    streams = getattr(backend, "supports_return_generator", False)
    threads = getattr(backend, "supports_sharedmem", False)
    if _is_local(backend):
        n_jobs = _limit(backend.effective_n_jobs(default_jobs if n_jobs is None else n_jobs))
        if threads:
            n_jobs = _count_startable(n_jobs)
    parallel = Parallel(
        n_jobs=n_jobs,
        prefer=prefer,
        require=require,
        return_as=("generator" if ordered else "generator_unordered") if streams else "list",
    )
    if threads:
        with _StoppableTasks() as stoppable:
            yield from parallel(map(stoppable.wrap, tasks))
    else:
        with _kept_by_cluster(backend, shared):
            yield from parallel(tasks)


class _StoppableTasks:
    """Tasks in other threads, which Ctrl-C does not reach; stopped and awaited by a with block."""

    def __init__(self) -> None:
        self._parent = _core.watched_flag()
        self._stop = _core.StopFlag(self._parent)
        self._caller = threading.get_ident()
        self._changed = threading.Condition()
        self._n_running = 0

    def wrap(self, task: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the same task, made by `joblib.delayed`, as one that can be stopped."""
        return self._run, task, {}

    def _run(
        self, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Any:
        if threading.get_ident() == self._caller:
            return function(*args, **kwargs)
        with self._changed:
            if self._stop.is_set():
                raise RuntimeError("stopped on request")
            self._n_running += 1
        outer = _core.watched_flag()
        _core.watch_flag(self._stop)
        try:
            return function(*args, **kwargs)
        finally:
            _core.watch_flag(outer)
            with self._changed:
                self._n_running -= 1
                self._changed.notify_all()

    def __enter__(self) -> _StoppableTasks:
        return self

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        with self._changed:
            self._changed.wait_for(lambda: self._n_running == 0)


def _count_startable(n_threads: int) -> int:
    """Return how many threads can be started, at least 1: joblib fails if it gets fewer."""
    if n_threads <= 1:
        return 1
    done = threading.Event()
    started = []
    try:
        for _ in range(n_threads + _N_POOL_THREADS):
            thread = threading.Thread(target=done.wait, daemon=True)
            thread.start()
            started.append(thread)
    except (RuntimeError, MemoryError):  # the system allows no more
        pass
    finally:
        done.set()
    for thread in started:
        thread.join()
    return max(1, min(n_threads, len(started) - _N_POOL_THREADS))


@contextmanager
def _kept_by_cluster(backend: Any, objects: Sequence[Any]) -> Iterator[None]:
    known = getattr(backend, "data_futures", None)  # only dask's backend has this attribute
    if known is None or not objects:
        yield
        return
    # Do not use scatter: dask cannot recompute scattered data if the last worker holding them
    # dies, and it soon drops the copies of a broadcast. It can recompute the result of a task.
    # The objects are sent as bytes, which spares the scheduler from importing their classes.
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
