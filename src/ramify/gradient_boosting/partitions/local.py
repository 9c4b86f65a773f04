"""Partitions in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from operator import add
from typing import Any

from numpy.typing import NDArray

from ramify.gradient_boosting.partitions.counting import read_partition
from ramify.gradient_boosting.partitions.describing import Part
from ramify.gradient_boosting.partitions.reading import Reading
from ramify.gradient_boosting.partitions.shards import Request, Shard, ShardPlan
from ramify.gradient_boosting.partitions.sums import Message, add_messages

__all__ = ["LocalPartitions"]


class LocalPartitions:
    """Partitions that are lists of arrays, for tests and as the simplest form of `Partitions`.

    Parameters
    ----------
    parts : iterable of tuple
        X, y and, optionally, the weights of each partition.
    """

    def __init__(self, parts: Iterable[tuple[Any, ...]]) -> None:
        self._parts = [Part(number, *part) for number, part in enumerate(parts)]
        self._shards: list[Shard] = []
        self._latest: dict[str, NDArray[Any]] | None = None

    def map(self, function: Callable[..., Any], *args: Any) -> list[Any]:
        """Return function(part, *args) for all partitions, in their order."""
        return [function(part, *args) for part in self._parts]

    def add_up(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return the sum of function(part, *args) over all partitions, added in their order."""
        return reduce(add, self.map(function, *args))

    def build(self, reading: Reading, plan: ShardPlan) -> None:
        """Make a shard of every partition."""
        self._latest = None
        self._shards = [Shard(read_partition(part, reading), plan) for part in self._parts]

    def ask(self, request: Request) -> Message:
        """Return the sum of the answers of all shards."""
        answers = [shard.send(request, self._latest) for shard in self._shards]
        return reduce(add_messages, [answer for answer in answers if answer is not None])

    def add_tree(self, record: dict[str, NDArray[Any]]) -> None:
        """Keep the latest tree for the next request."""
        self._latest = record
