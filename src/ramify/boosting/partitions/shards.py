"""The partitions of the rows: what each computes, and exact sums over all."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core
from ramify.data.rows import as_columns, as_label_rows


@dataclass(frozen=True)
class Partition:
    """Some of the rows, all with positive weights."""

    X: Any  # numbers and codes
    outputs: sparse.csr_array[np.int32]  # the outputs of each row
    weights: NDArray[np.float32]  # sample weights
    held_out: NDArray[np.uint8]  # 1 for rows that are used to score rounds, not to learn
    first_row: int  # number of the first row among the rows of all partitions


@dataclass(frozen=True)
class ShardPlan:
    """What all partitions must know before the first round."""

    edges: _core.BinEdges  # the bins of all features
    # Margins before the first round, and weights in the search for tests.
    start: NDArray[np.float64]
    output_weights: NDArray[np.float64]
    order: NDArray[np.int32]  # outputs by decreasing size of their gradients
    bits: tuple[int, int, int]  # the bits after the point of sketches, weights and sums in leaves
    sampled_share: float  # the fraction of rows that each tree draws
    options: dict[str, Any]  # options of the core

    def in_core(self) -> _core.ShardPlan:
        """Return the plan as an object of the core, without the bins."""
        options = _core.GradientBoostingOptions()
        for name, value in self.options.items():
            setattr(options, name, value)
        return _core.ShardPlan(
            self.start, self.output_weights, self.order, self.bits, self.sampled_share, options
        )


@dataclass(frozen=True)
class Request:
    """What a partition is asked for; a request can be repeated."""

    kind: str  # the sums to return
    round: int  # the number of trees before this one
    # All tests of the tree so far.
    divisions: dict[str, NDArray[Any]] = field(default_factory=dict)
    # The nodes to sum over.
    nodes: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    # The features of the histograms.
    features: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, dtype=np.int32))


class Shard:
    """A partition in bins with its margins, which follow from the partition and the trees."""

    def __init__(self, partition: Partition, plan: ShardPlan) -> None:
        outputs = partition.outputs
        self._core = _core.BoosterShard(
            as_columns(partition.X),
            plan.edges,
            as_label_rows(outputs),
            partition.weights,
            partition.held_out,
            partition.first_row,
            plan.in_core(),
        )
        self._n_outputs = outputs.shape[1]
        self._n_bins = plan.edges.n_bins() + 1
        self.n_trees = 0
        self._started = -1
        self._n_divided = 0
        self._lock = threading.Lock()

    def add_tree(self, record: dict[str, NDArray[Any]]) -> None:
        """Add the values of the next tree to the margins."""
        self._core.add_tree(**record)
        self.n_trees += 1

    def answer(
        self, request: Request, latest: dict[str, NDArray[Any]] | None
    ) -> NDArray[np.int64] | None:
        """Return the sums of a request, or None if trees are missing."""
        with self._lock:
            if self.n_trees + 1 == request.round and latest is not None:
                self.add_tree(latest)
            if self.n_trees != request.round:
                return None
            if request.kind == "loss":
                return np.array(self._core.loss(True), dtype=np.int64)
            self._divide(request)
            if request.kind == "leaves":
                sums = np.zeros((len(request.nodes), 2, self._n_outputs + 1), dtype=np.int64)
                self._core.add_leaf_sums(request.nodes, sums)
                return sums
            n_bins = int(self._n_bins[request.features].sum())
            shape = (len(request.nodes), n_bins, self._core.width + 2)
            histograms = np.zeros(shape, dtype=np.int64)
            self._core.add_histograms(request.nodes, request.features, histograms)
            return histograms

    def send(self, request: Request, latest: dict[str, NDArray[Any]] | None) -> Message | None:
        """Return the answer as a message."""
        sums = self.answer(request, latest)
        return None if sums is None else Message.of(sums)

    def _divide(self, request: Request) -> None:
        if self._started != request.round:
            self._core.start_tree(request.round)
            self._started, self._n_divided = request.round, 0
        new = {name: array[self._n_divided :] for name, array in request.divisions.items()}
        if new and len(new["node"]):
            self._core.divide(**new)
            self._n_divided += len(new["node"])


# ---- sums of whole numbers ------------------------------------------------------------------


_TYPES = (np.int8, np.int16, np.int32)


@dataclass(frozen=True)
class Message:
    """A sum over partitions, in the smallest integer type that holds it."""

    numbers: NDArray[Any]  # the sums
    n_bytes: int  # the total size of this message and of all messages that were added up in it

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.numbers.nbytes  # dask asks before it moves results

    @classmethod
    def of(cls, numbers: NDArray[np.int64], n_bytes: int = 0) -> Message:
        """Return a message."""
        low, high = (int(numbers.min()), int(numbers.max())) if numbers.size else (0, 0)
        for dtype in _TYPES:
            limits = np.iinfo(dtype)
            if limits.min <= low and high <= limits.max:
                small = numbers.astype(dtype)
                return cls(small, n_bytes + small.nbytes)
        return cls(numbers, n_bytes + numbers.nbytes)


def add_messages(one: Message, other: Message) -> Message:
    """Add up the numbers of two messages of the same shape."""
    total = one.numbers.astype(np.int64)
    total += other.numbers
    return Message.of(total, one.n_bytes + other.n_bytes)
