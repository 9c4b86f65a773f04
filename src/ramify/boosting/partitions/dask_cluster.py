"""Partitions of dask collections, which stay on the workers of a cluster."""

from __future__ import annotations

import pickle
import threading
import uuid
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify._messages import import_extra
from ramify.boosting.partitions.counting import read_partition
from ramify.boosting.partitions.describing import Part, Reading
from ramify.boosting.partitions.shards import Message, Request, Shard, ShardPlan, add_messages

_MAX_RESTORED = 20
"""How often a partition may be lost. Workers that die of it, for lack of memory, do so again."""

_PORTION_BYTES = 2**26
"""About how many bytes of trees are sent at a time to a partition that is made again."""

_SECONDS = 1.0
"""How often to look whether the workers are still there while waiting for them."""

# ---- on the workers ------------------------------------------------------------------------

# Shards are not results of tasks: dask would copy them, or write them to disk. If a worker dies,
# they are made again from the partition and the trees.
_shards: dict[tuple[str, int], Shard] = {}
_lock = threading.Lock()


@dataclass(frozen=True)
class _Lost:
    """The numbers of partitions without an up-to-date shard on their worker."""

    numbers: tuple[int, ...]


def _address() -> str:
    worker: Any = import_extra("dask.distributed", "dask").get_worker()
    return str(worker.address)


def _apply(function: Callable[..., Any], cells: Sequence[Any], shared: Sequence[Any]) -> Any:
    return function(Part(*cells), *shared)


def _build(
    part: Part, key: str, reading: Reading, plan: ShardPlan, *portions: Sequence[dict[str, Any]]
) -> str:
    """Make a shard, and add the trees so far to it."""
    shard = Shard(read_partition(part, reading), plan)
    for records in portions:
        for record in records:
            shard.add_tree(record)
    with _lock:
        _shards[key, part.number] = shard
    return _address()


def _answer(key: str, number: int, request: Request, latest: Any) -> Message | _Lost:
    shard = _shards.get((key, number))
    message = None if shard is None else shard.send(request, latest)
    return _Lost((number,)) if message is None else message


def _add(one: Message | _Lost, other: Message | _Lost) -> Message | _Lost:
    if isinstance(one, Message) and isinstance(other, Message):
        return add_messages(one, other)
    lost = [part.numbers for part in (one, other) if isinstance(part, _Lost)]
    return _Lost(sum(lost, ()))


def _forget(key: str) -> None:
    with _lock:
        for name in [name for name in _shards if name[0] == key]:
            del _shards[name]


# ---- on the client -------------------------------------------------------------------------


class DaskPartitions:
    """Partitions on a cluster; see `Partitions`."""

    def __init__(self, client: Any, collections: Sequence[list[Any]]) -> None:
        self._client = client
        self._collections = collections
        self._numbers = list(range(len(collections[0])))
        self._key = uuid.uuid4().hex
        self._parts: list[Any] = []
        self._reading: Any = None
        self._plan: Any = None
        self._owners: dict[int, str] = {}
        self._history: list[dict[str, NDArray[Any]]] = []
        self._latest: Any = None
        self.n_restored = dict.fromkeys(self._numbers, 0)

    def _share(self, value: Any) -> Any:
        """Send an object to the cluster once; workers copy it from each other."""
        # A task instead of scatter: dask can run it again if the worker that has its result dies.
        cloudpickle = import_extra("cloudpickle", "dask")
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
            return self._client.submit(pickle.loads, cloudpickle.dumps(value), pure=False)

    def _compute_parts(self, numbers: Sequence[int]) -> list[list[Any]]:
        """Return the numbers of partitions and their futures, computed where dask has the data."""
        columns = [
            self._client.compute([parts[number] for number in numbers])
            for parts in self._collections
        ]
        return [list(cells) for cells in zip(numbers, *columns, strict=True)]

    def _submit(
        self, function: Callable[..., Any], parts: Sequence[Any], *shared: Any
    ) -> list[Any]:
        return [
            self._client.submit(_apply, function, cells, list(shared), pure=False)
            for cells in parts
        ]

    def _submit_all(self, function: Callable[..., Any], *args: Any) -> list[Any]:
        if not self._parts:
            self._parts = self._compute_parts(self._numbers)
        return self._submit(function, self._parts, *map(self._share, args))

    def _reduce(self, futures: list[Any], function: Callable[..., Any]) -> Any:
        """Add up neighbours on the workers until one result is left."""
        while len(futures) > 1:
            pairs = zip(futures[::2], futures[1::2], strict=False)
            odd = futures[-1:] if len(futures) % 2 else []
            futures = [self._client.submit(function, *pair, pure=False) for pair in pairs] + odd
        return futures[0]

    def map(self, function: Callable[..., Any], *args: Any) -> list[Any]:
        """Return function(part, *args) for all partitions, in their order."""
        return list(self._client.gather(self._submit_all(function, *args)))

    def add_up(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return the sum of function(part, *args) over all partitions, added in their order."""
        return self._reduce(self._submit_all(function, *args), add).result()

    def build(self, reading: Reading, plan: ShardPlan) -> None:
        """Make a shard of every partition."""
        self._reading, self._plan = self._share(reading), self._share(plan)
        self._history, self._latest = [], None
        if not self._parts:
            self._parts = self._compute_parts(self._numbers)
        self._build(self._numbers, self._parts)
        self._parts = []  # bins are enough from here on; partitions can be computed again

    def _build(self, numbers: Sequence[int], parts: Sequence[Any]) -> None:
        portions = [self._share(records) for records in _in_portions(self._history)]
        futures = self._submit(_build, parts, self._key, self._reading, self._plan, *portions)
        self._owners.update(zip(numbers, self._client.gather(futures), strict=True))

    def ask(self, request: Request) -> Message:
        """Return the sum of the answers of all shards; make lost shards again."""
        while True:
            futures = [
                self._client.submit(
                    _answer,
                    self._key,
                    number,
                    request,
                    self._latest,
                    workers=[self._owners[number]],
                    pure=False,
                )
                for number in self._numbers
            ]
            found = self._wait_for(self._reduce(futures, _add))
            if isinstance(found, Message):
                return found
            self._restore(found.numbers)

    def _wait_for(self, future: Any) -> Message | _Lost:
        """Return a sum, or the partitions whose workers have died.

        Tasks for a worker that has died wait forever: no other worker has the shard.
        """
        while not _is_done_soon(future):
            alive = self._client.nthreads()
            lost = [number for number, owner in self._owners.items() if owner not in alive]
            if lost:
                return _Lost(tuple(lost))
        found: Message | _Lost = future.result()
        return found

    def add_tree(self, record: dict[str, NDArray[Any]]) -> None:
        """Share the latest tree, which shards need for the next request."""
        self._history.append(record)
        self._latest = self._share(record)

    def _restore(self, numbers: Sequence[int]) -> None:
        """Make shards again: the partition in bins, then the trees so far."""
        for number in numbers:
            self.n_restored[number] += 1
            if self.n_restored[number] > _MAX_RESTORED:
                raise RuntimeError(
                    f"partition {number} of X was lost {self.n_restored[number]} times. Give "
                    "workers more memory, or divide X into more partitions."
                )
        self._build(numbers, self._compute_parts(numbers))

    def close(self) -> None:
        """Free the memory of the workers."""
        self._parts, self._latest = [], None
        with suppress(Exception):  # a cluster that is gone must not hide why the fit has failed
            self._client.run(_forget, self._key, on_error="ignore")


def _is_done_soon(future: Any) -> bool:
    distributed = import_extra("dask.distributed", "dask")
    try:
        distributed.wait(future, timeout=_SECONDS)
    except distributed.TimeoutError:
        return False
    return True


def _in_portions(
    records: list[dict[str, NDArray[Any]]],
) -> Iterator[list[dict[str, NDArray[Any]]]]:
    """Divide trees into portions of limited size."""
    portion: list[dict[str, NDArray[Any]]] = []
    n_bytes = 0
    for record in records:
        portion.append(record)
        n_bytes += sum(array.nbytes for array in record.values())
        if n_bytes >= _PORTION_BYTES:
            yield portion
            portion, n_bytes = [], 0
    if portion:
        yield portion


# ---- dask collections ----------------------------------------------------------------------


def is_partitioned(data: Any) -> bool:
    """Return whether data is a dask array, data frame or column.

    Examples
    --------
    >>> import dask.array
    >>> is_partitioned(dask.array.zeros((4, 2))), is_partitioned([[1, 2]])
    (True, False)
    """
    package = type(data).__module__.partition(".")[0]
    return package in ("dask", "dask_expr") and hasattr(data, "to_delayed")


@contextmanager
def find_partitions(X: Any, y: Any, sample_weight: Any) -> Iterator[DaskPartitions]:
    """Check dask collections, and yield their partitions on the cluster of the current client."""
    given = {"X": X, "y": y, "sample_weight": sample_weight}
    found = {name: data for name, data in given.items() if data is not None}
    for name, data in found.items():
        _check_collection(name, data)
    _check_same_partitions(found)
    distributed = import_extra("dask.distributed", "dask")
    try:
        client = distributed.get_client()
    except ValueError:
        raise ValueError(
            "X is a dask collection, but there is no dask client. Start one with "
            "dask.distributed.Client(), or pass X.compute() and y.compute()."
        ) from None
    partitions = DaskPartitions(client, [_delayed(data) for data in found.values()])
    try:
        yield partitions
    finally:
        partitions.close()


def _check_collection(name: str, data: Any) -> None:
    if not is_partitioned(data):
        raise TypeError(
            f"X, y and sample_weight must be dask collections if one of them is, got "
            f"{type(data).__name__} for {name}. Convert it with dask.array.from_array, with the "
            "chunks of the others."
        )
    n_blocks = getattr(data, "numblocks", None)
    if n_blocks is not None and any(n > 1 for n in n_blocks[1:]):
        raise ValueError(
            f"{name} must be divided by rows only, got {n_blocks[1]} chunks of columns. Call "
            f"{name}.rechunk({{1: -1}})."
        )


def _check_same_partitions(found: dict[str, Any]) -> None:
    n_partitions = {name: int(data.npartitions) for name, data in found.items()}
    if len(set(n_partitions.values())) > 1:
        raise ValueError(
            f"X, y and sample_weight must have the same partitions, got {n_partitions}. Call "
            "rechunk or repartition."
        )
    sizes = {
        name: tuple(data.chunks[0])
        for name, data in found.items()
        if hasattr(data, "chunks") and not np.isnan(data.chunks[0]).any()
    }
    if len(set(sizes.values())) > 1:
        raise ValueError(
            "X, y and sample_weight must have the same number of rows in every partition, got "
            f"chunks {sizes}. Call rechunk."
        )


def _delayed(data: Any) -> list[Any]:
    parts = data.to_delayed()
    return list(parts.ravel()) if hasattr(parts, "ravel") else list(parts)
