"""The rows of a partition in the common form, and counts over them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from operator import add
from sys import getsizeof
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core
from ramify.boosting.outputs import has_one_path
from ramify.boosting.partitions.describing import (
    Part,
    Reading,
    ValueCounts,
    count_rows,
    read_weights,
)
from ramify.boosting.partitions.shards import (
    Message,
    Partition,
    Request,
    Shard,
    ShardPlan,
    add_messages,
)
from ramify.data.features import FeatureSchema, read_features
from ramify.decision.best_sets import count_ends
from ramify.decision.paths import find_ends
from ramify.labels.encoding import read_labels
from ramify.trees.criteria import number_sets

_MAX_INTERVALS = 8192  # of the values of a feature, from which bins are made


def _read_rows(part: Part, reading: Reading) -> tuple[Any, Any, NDArray[np.float32]]:
    """Return X, labels and weights of the rows with positive weights."""
    n_labels = reading.hierarchy.n_labels
    if count_rows(part.X) == 0:
        nothing = sparse.csr_array((0, n_labels), dtype=np.int32)
        return np.zeros((0, reading.estimator.n_features_in_)), nothing, np.zeros(0, np.float32)
    X = read_features(reading.estimator, part.X, reading.schema)
    Y = read_labels(part.y, reading.hierarchy).Y
    weights = read_weights(part, X.shape[0])
    rows = np.flatnonzero(weights > 0)
    if len(rows) < len(weights):
        X, Y, weights = X[rows], Y[rows], weights[rows]
    return X, Y, weights.astype(np.float32)


def _hold_out(part: Part, reading: Reading, n_rows: int) -> NDArray[np.uint8]:
    if reading.held_out_share == 0:
        return np.zeros(n_rows, dtype=np.uint8)
    first = reading.first_rows[part.number]
    return _core.draw_rows(first, n_rows, reading.seed, reading.held_out_share)


def read_partition(part: Part, reading: Reading) -> Partition:
    """Return the rows of a partition with their outputs."""
    X, Y, weights = _read_rows(part, reading)
    held_out = _hold_out(part, reading, len(weights))
    outputs = _outputs_of(Y, reading)
    return Partition(X, outputs, weights, held_out, reading.first_rows[part.number])


def _outputs_of(Y: Any, reading: Reading) -> sparse.csr_array[np.int32]:
    if reading.label_sets is None:
        return sparse.csr_array(Y)
    sets = sparse.csr_array(sparse.vstack([reading.label_sets, Y], format="csr"))
    n_sets = reading.label_sets.shape[0]
    of_row = number_sets(sets)[0][n_sets:].astype(np.int32)
    n_rows = len(of_row)
    ones = np.ones(n_rows, dtype=np.int32)
    return sparse.csr_array((ones, of_row, np.arange(n_rows + 1)), shape=(n_rows, n_sets))


@dataclass(frozen=True)
class LabelSets:
    """The distinct label sets of some partitions, in order of appearance."""

    # None if a row has no most specific label or several of them.
    sets: sparse.csr_array[np.int32] | None

    def __add__(self, other: LabelSets) -> LabelSets:
        if self.sets is None or other.sets is None:
            return LabelSets(None)
        both = sparse.csr_array(sparse.vstack([self.sets, other.sets], format="csr"))
        return LabelSets(sparse.csr_array(both[number_sets(both)[1]]))


def find_label_sets(part: Part, reading: Reading, always: bool) -> LabelSets:
    """Return the distinct label sets of a partition, if they are needed."""
    _, Y, _ = _read_rows(part, reading)
    if not always and not has_one_path(Y, reading.hierarchy):
        return LabelSets(None)
    return LabelSets(sparse.csr_array(Y[number_sets(Y)[1]]))


@dataclass(frozen=True)
class Counts:
    """Counts over the rows to learn from, which can be added up."""

    # For each feature, the weights of its values, or of its codes and missing values, in fixed
    # point.
    values: tuple[Any, ...]
    outputs: NDArray[np.int64]  # number of rows with each output
    output_weights: NDArray[np.int64]  # their weights, in fixed point
    label_weights: NDArray[np.int64]  # weights of the rows with each label, in fixed point
    ends: NDArray[np.int64]  # number of partitions in which a row ends at the label
    # Weights of the rows with one path, of those without labels, and of all rows.
    kinds: NDArray[np.float64]
    # The rows to learn from, their weight in fixed point, and the held-out rows.
    rows: NDArray[np.int64]

    def __sizeof__(self) -> int:
        arrays = (
            self.outputs,
            self.output_weights,
            self.label_weights,
            self.ends,
            self.kinds,
        )
        sizes = [array.nbytes for array in arrays]
        return object.__sizeof__(self) + sum([*map(getsizeof, self.values), *sizes])

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            tuple(one + two for one, two in zip(self.values, other.values, strict=True)),
            self.outputs + other.outputs,
            self.output_weights + other.output_weights,
            self.label_weights + other.label_weights,
            self.ends + other.ends,
            self.kinds + other.kinds,
            self.rows + other.rows,
        )


def count_partition(part: Part, reading: Reading) -> Counts:
    """Count the values, outputs and labels of a partition."""
    X, Y, weights = _read_rows(part, reading)
    held_out = _hold_out(part, reading, len(weights))
    n_labels = reading.hierarchy.n_labels
    ends = np.zeros(n_labels, dtype=np.int64)
    kinds = np.zeros(3)
    if len(weights):
        ends += find_ends(Y, reading.hierarchy)
        n_ends = count_ends(Y, reading.hierarchy)
        kinds += [weights[n_ends == 1].sum(), weights[n_ends == 0].sum(), weights.sum()]
    learning = np.flatnonzero(held_out == 0)
    if len(learning) < len(weights):
        X, Y, weights = X[learning], Y[learning], weights[learning]
    outputs = _outputs_of(Y, reading)
    whole = np.rint(np.ldexp(weights.astype(np.float64), reading.weight_bits))
    return Counts(
        tuple(_weigh_values(X, reading.schema, whole.astype(np.int64))),
        np.bincount(outputs.indices, minlength=outputs.shape[1]).astype(np.int64),
        _sum_weights(outputs, whole),
        _sum_weights(Y, whole),
        ends,
        kinds,
        np.array([len(learning), int(whole.sum()), len(held_out) - len(learning)], np.int64),
    )


def _sum_weights(Y: Any, whole: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the sum of the weights of each column; doubles hold these whole numbers exactly."""
    of_cell = np.repeat(whole, np.diff(Y.indptr))
    return np.bincount(Y.indices, of_cell, minlength=Y.shape[1]).astype(np.int64)


def _weigh_values(X: Any, schema: FeatureSchema, whole: NDArray[np.int64]) -> list[Any]:
    columns = cast("Any", X).tocsc() if sparse.issparse(X) else None
    found: list[Any] = []
    for j, n_categories in enumerate(schema.n_categories.tolist()):
        if columns is None:
            values, weights, zeros = X[:, j], whole, 0
        else:
            stored = slice(*columns.indptr[j : j + 2])
            values, weights = columns.data[stored], whole[columns.indices[stored]]
            zeros = int(whole.sum() - weights.sum())
        if not n_categories:
            found.append(ValueCounts.of(values, _MAX_INTERVALS, zeros, weights))
            continue
        codes = np.where((values >= 0) & (values < n_categories), values, n_categories)
        sums = np.zeros(n_categories + 1, dtype=np.int64)
        np.add.at(sums, codes.astype(np.int64), weights)
        sums[0] += zeros
        found.append(sums)
    return found


# ---- partitions in this process -------------------------------------------------------------


class LocalPartitions:
    """Partitions that are lists of arrays, for tests and as the simplest form of `Partitions`."""

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
