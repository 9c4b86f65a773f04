"""The nodes of a tree that is grown on the GPU."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify.boosting.cuda.device import WARP, Kernels


@dataclass(frozen=True)
class Split:
    """A test: rows whose bin of a feature is in a set take the first branch."""

    feature: int
    gain: float
    cut: int  # numeric features: the last bin of the first branch
    bins: NDArray[np.uint64]  # the set, as four words


@dataclass
class Node:
    """A node, and the range of its rows."""

    begin: int
    end: int
    depth: int
    weight: float = 0.0
    split: Split | None = None  # the best one, also for leaves that are not split
    yes: int = -1  # children; -1 in leaves
    no: int = -1

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.end - self.begin

    @property
    def gain(self) -> float:
        """The gain of the best test; 0 if there is none."""
        return self.split.gain if self.split else 0.0


@dataclass
class GrownTree:
    """The nodes of a tree, children after their parents, and its rows, leaf by leaf."""

    nodes: list[Node]
    rows: Any

    @property
    def leaves(self) -> list[int]:
        """The numbers of the leaves."""
        return [i for i, node in enumerate(self.nodes) if node.yes < 0]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the parts of the nodes as arrays, as `BoostingPlan.append_grown` expects them."""
        nodes = self.nodes
        leaf = np.full(len(nodes), -1, dtype=np.int32)
        leaf[self.leaves] = np.arange(len(self.leaves))
        splits = [node.split if node.yes >= 0 else None for node in nodes]
        no_bins = np.zeros(4, dtype=np.uint64)
        return {
            "feature": np.array([s.feature if s else -1 for s in splits], dtype=np.int32),
            "gain": np.array([s.gain if s else 0.0 for s in splits]),
            "cut": np.array([s.cut if s else 0 for s in splits], dtype=np.int32),
            "sets": np.array([s.bins if s else no_bins for s in splits]),
            "yes": np.array([node.yes for node in nodes], dtype=np.int32),
            "no": np.array([node.no for node in nodes], dtype=np.int32),
            "weight": np.array([node.weight for node in nodes]),
            "leaf": leaf,
        }


# ---- histograms -----------------------------------------------------------------------------


# Number of rows that are summed at once, as in the core; otherwise, the last bits would differ.
_ROWS_OF_HISTOGRAM_PART = 8192
_ROWS_OF_TOTAL_PART = 1024

_MAX_BLOCKS = 65535  # in the second dimension
_MAX_SCRATCH_BYTES = 2**30
_CHUNK = np.dtype(
    [("sums", "u8"), ("counts", "u8"), ("weights", "u8"), ("begin", "u4"), ("end", "u4")]
)


@dataclass
class TreeRows:
    """The rows of a tree: their bins, weights, sketched gradients and order."""

    cupy: Any
    kernels: Kernels
    bins: Any  # features × all rows
    weight: Any  # of all rows
    sketch: Any  # all rows × width
    order: Any  # the rows of the tree, node by node

    @property
    def width(self) -> int:
        """The number of values in the sketch of a row."""
        return int(self.sketch.shape[1])

    @property
    def threads(self) -> int:
        """Number of threads of a block, about one for each value of the sketch."""
        return min(256, -(-self.width // WARP) * WARP)


class Layout:
    """Where the histograms of the features of a tree are; those of sparse features come last."""

    def __init__(self, cupy: Any, described: Any, drawn: NDArray[np.int32]) -> None:
        # `described` is what `BoostingPlan.features` returns; `drawn` is in increasing order.
        zero_bin = described["zero_bin"]
        is_sparse = zero_bin[drawn] >= 0
        self.features = np.concatenate([drawn[~is_sparse], drawn[is_sparse]])
        self.n_dense = int((~is_sparse).sum())
        self.n_bins = described["n_bins"][self.features].astype(np.int64) + 1  # with missing
        self.first_bin = np.concatenate([[0], np.cumsum(self.n_bins)]).astype(np.uint32)
        is_nominal = described["is_nominal"][self.features]
        self.nominal = np.flatnonzero(is_nominal)
        self.features_there = cupy.asarray(self.features)
        self.first_bin_there = cupy.asarray(self.first_bin)
        self.is_nominal_there = cupy.asarray(is_nominal)
        self.zero_bin_there = cupy.asarray(zero_bin[self.features[self.n_dense :]])

    def __len__(self) -> int:
        return len(self.features)

    @property
    def n_dense_bins(self) -> int:
        """The number of bins of all dense features."""
        return int(self.first_bin[self.n_dense])

    @property
    def n_all_bins(self) -> int:
        """The bins of all features."""
        return int(self.first_bin[-1])

    def bins_of(self, first: int, last: int) -> slice:
        """Return the bins of the features at places `first` to `last` - 1."""
        return slice(int(self.first_bin[first]), int(self.first_bin[last]))


class Histograms:
    """Histograms of several features in one node, one after the other."""

    def __init__(self, cupy: Any, n_bins: int, width: int) -> None:
        self.sums = cupy.empty((n_bins, width), dtype=np.float32)
        self.counts = cupy.empty(n_bins, dtype=np.uint32)
        self.weights = cupy.empty(n_bins, dtype=np.float64)

    @property
    def arrays(self) -> tuple[Any, Any, Any]:
        """Sums, counts and weights."""
        return self.sums, self.counts, self.weights

    def copy_from(self, other: Histograms, n_bins: int) -> None:
        """Copy the first bins of other histograms."""
        for mine, others in zip(self.arrays, other.arrays, strict=True):
            mine[:n_bins] = others[:n_bins]

    def subtract(self, other: Histograms, n_bins: int) -> None:
        """Subtract the first bins of another node."""
        for mine, others in zip(self.arrays, other.arrays, strict=True):
            mine[:n_bins] -= others[:n_bins]


class Totals:
    """Sums over the rows of nodes."""

    def __init__(self, rows: TreeRows, nodes: Sequence[Node]) -> None:
        cupy, width = rows.cupy, rows.width
        ranges = [(node.begin, node.end) for node in nodes]
        begin, end, first_part = split_into_parts(ranges, _ROWS_OF_TOTAL_PART)
        part_sums = cupy.empty((len(begin), width), dtype=np.float32)
        part_weights = cupy.empty(len(begin), dtype=np.float64)
        limits = cupy.asarray(begin), cupy.asarray(end)
        parts = np.int32(width), part_sums, part_weights
        rows.kernels.run(
            "sum_parts",
            len(begin),
            (rows.sketch, rows.weight, rows.order, *limits, *parts),
            n_threads=rows.threads,
        )
        self.sums = cupy.empty((len(nodes), width), dtype=np.float32)
        self.weights = cupy.empty(len(nodes), dtype=np.float64)
        rows.kernels.run(
            "sum_nodes",
            len(nodes),
            (
                part_sums,
                part_weights,
                cupy.asarray(first_part),
                np.int32(width),
                self.sums,
                self.weights,
            ),
            n_threads=rows.threads,
        )


def split_into_parts(
    ranges: Sequence[tuple[int, int]], size: int
) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]:
    """Divide ranges of rows into parts of limited size.

    >>> begin, end, first_part = split_into_parts([(0, 5), (5, 7)], 3)
    >>> begin.tolist(), end.tolist(), first_part.tolist()
    ([0, 3, 5], [3, 5, 7], [0, 2, 3])
    """
    limits = np.asarray(ranges, dtype=np.int64).reshape(-1, 2)
    n_parts = -(-(limits[:, 1] - limits[:, 0]) // size)
    first_part = np.concatenate([[0], np.cumsum(n_parts)])
    owner = np.repeat(np.arange(len(limits)), n_parts)
    begin = limits[owner, 0] + size * (np.arange(len(owner)) - first_part[owner])
    end = np.minimum(begin + size, limits[owner, 1])
    return begin.astype(np.uint32), end.astype(np.uint32), first_part.astype(np.uint32)


def fill_histograms(
    rows: TreeRows,
    layout: Layout,
    counted: Sequence[tuple[Node, Histograms]],
    first: int,
    end: int,
) -> None:
    """Fill the histograms of some features, a few at a time if there are many rows."""
    parts = split_into_parts(
        [(node.begin, node.end) for node, _ in counted], _ROWS_OF_HISTOGRAM_PART
    )
    n_parts = np.diff(parts[2].astype(np.int64))
    bytes_of_bin = (rows.width * 4 + 12) * int(n_parts[n_parts > 1].sum())
    while first < end:
        last = min(end, first + _MAX_BLOCKS)
        if bytes_of_bin:
            room = int(layout.first_bin[first]) + _MAX_SCRATCH_BYTES // bytes_of_bin
            fits = int(np.searchsorted(layout.first_bin, room, side="right")) - 1
            last = min(last, max(first + 1, fits))
        places = slice(first, last)
        _fill_features(rows, layout, places, [found for _, found in counted], parts)
        first = last


def _fill_features(
    rows: TreeRows,
    layout: Layout,
    places: slice,
    histograms: Sequence[Histograms],
    parts: tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]],
) -> None:
    """Fill the histograms of the features at some places."""
    cupy, width = rows.cupy, rows.width
    first, last = places.start, places.stop
    begin, end, first_part = parts
    bins = layout.bins_of(first, last)
    n_bins = bins.stop - bins.start
    chunks = np.zeros(len(begin), dtype=_CHUNK)
    chunks["begin"], chunks["end"] = begin, end
    to_add = []
    for i, of_node in enumerate(histograms):
        own = slice(int(first_part[i]), int(first_part[i + 1]))
        n_own = own.stop - own.start
        out = to = tuple(array[bins] for array in of_node.arrays)
        if n_own > 1:
            to = tuple(cupy.empty((n_own, *array.shape), dtype=array.dtype) for array in out)
            to_add.append((np.int32(n_own), to, out))
        for name, array in zip(("sums", "counts", "weights"), to, strict=True):
            step = array.strides[0] if n_own > 1 else 0
            chunks[name][own] = array.data.ptr + step * np.arange(n_own, dtype=np.uint64)
    rows.kernels.run(
        "fill_histograms",
        (len(begin), last - first, -(-width // WARP)),
        (
            rows.bins,
            np.uint64(rows.bins.shape[1]),
            rows.order,
            rows.sketch,
            rows.weight,
            np.int32(width),
            layout.features_there[first:],
            layout.first_bin_there[first:],
            cupy.asarray(chunks.view(np.uint8)),
        ),
        n_threads=WARP,
        shared_bytes=int(layout.n_bins[first:last].max()) * (4 * WARP + 12),
    )
    for n_own, (sums, counts, weights), out in to_add:
        n = np.uint64(n_bins * width)
        rows.kernels.run_each("add_float_parts", int(n), (sums, n, n_own, out[0]))
        rows.kernels.run_each(
            "add_count_parts",
            n_bins,
            (counts, weights, np.uint64(n_bins), n_own, out[1], out[2]),
        )
