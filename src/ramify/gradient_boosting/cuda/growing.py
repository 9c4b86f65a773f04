"""Grows the structure of a tree on the GPU, as core/gradient_boosting/growing.cpp does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify import _core
from ramify.gradient_boosting.cuda.device import Kernels

__all__ = ["GrownTree", "TreeGrower", "split_into_parts"]

# Limits that the core has too: with others, sums would be added in another order.
_MAX_KEPT_BYTES = 2**28
_MIN_KEPT_ROWS = 256
_ROWS_PER_CHUNK = 8192
_ROWS_PER_PART = 1024

_WARP = 32
_MAX_BLOCKS = 65535  # in the second dimension
_MAX_SCRATCH_BYTES = 2**30
_MAX_LEVEL_BYTES = 2**32
_FOUND = np.dtype(
    [("gain", "f8"), ("feature", "i4"), ("cut", "i4"), ("missing_yes", "i4"), ("", "i4")]
)
_CHUNK = np.dtype(
    [("sums", "u8"), ("counts", "u8"), ("weights", "u8"), ("begin", "u4"), ("end", "u4")]
)


@dataclass(frozen=True)
class Split:
    """A test: rows whose bin is in the set of the feature's bins take the first branch."""

    feature: int
    gain: float
    cut: int
    bins: NDArray[np.uint64]  # four words


@dataclass
class Node:
    """A node of a tree, and the range of its rows."""

    begin: int
    end: int
    depth: int
    weight: float = 0.0
    split: Split | None = None
    yes: int = -1
    no: int = -1

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.end - self.begin


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
        """Return the parts of the nodes as arrays."""
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


class Histograms:
    """The histograms of all features of a tree in one node."""

    def __init__(self, cupy: Any, n_bins: int, width: int) -> None:
        self.sums = cupy.empty((n_bins, width), dtype=np.float32)
        self.counts = cupy.empty(n_bins, dtype=np.uint32)
        self.weights = cupy.empty(n_bins, dtype=np.float64)

    def copy_from(self, other: Histograms, n_bins: int) -> Histograms:
        """Copy the first bins of another node; return self."""
        self.sums[:n_bins] = other.sums[:n_bins]
        self.counts[:n_bins] = other.counts[:n_bins]
        self.weights[:n_bins] = other.weights[:n_bins]
        return self

    def subtract(self, other: Histograms, n_bins: int) -> None:
        """Subtract the first bins of another node."""
        self.sums[:n_bins] -= other.sums[:n_bins]
        self.counts[:n_bins] -= other.counts[:n_bins]
        self.weights[:n_bins] -= other.weights[:n_bins]


@dataclass
class OpenNode:
    """A node that may be split."""

    number: int
    node: Node
    total: int = 0  # its row in the array of totals
    histograms: Histograms | None = None

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.node.n_rows


@dataclass
class Family:
    """Two children, the one with fewer rows first, or the root alone."""

    members: list[OpenNode]
    parent: Histograms | None = None  # becomes that of the last member
    wanted: list[bool] = field(default_factory=list)  # per member: whether it may be split


def split_into_parts(
    ranges: Sequence[tuple[int, int]], size: int
) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]:
    """Divide ranges of rows into parts of limited size.

    Parameters
    ----------
    ranges : sequence of (begin, end)
        Ranges of rows.
    size : int
        The largest number of rows of a part.

    Returns
    -------
    begin, end : ndarrays of uint32
        The parts.
    first_part : ndarray of uint32
        The first part of each range, and the number of all parts.

    Examples
    --------
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


class TreeGrower:
    """Grows trees from sketched gradients.

    Parameters
    ----------
    cupy : module
        CuPy.
    kernels : Kernels
        The kernels.
    plan : BoostingPlan
        The rows and options.
    bins : ndarray of CuPy, shape (n_features, n_rows)
        The bins of all rows.
    weight : ndarray of CuPy, shape (n_rows,)
        The weights of all rows.
    """

    def __init__(
        self, cupy: Any, kernels: Kernels, plan: _core.BoostingPlan, bins: Any, weight: Any
    ) -> None:
        self._cupy, self._kernels, self._plan = cupy, kernels, plan
        self._bins, self._weight = bins, weight
        self._options = plan.options
        self._width = plan.sketch_width
        described: Any = plan.features()
        self._n_bins = described["n_bins"].astype(np.int64) + 1  # with that of missing values
        self._is_nominal = described["is_nominal"].astype(bool)
        self._zero_bin = described["zero_bin"]

    def grow(self, features: NDArray[np.int32], rows: Any, sketch: Any) -> GrownTree:
        """Grow a tree.

        Parameters
        ----------
        features : ndarray of int32
            The features it may test, increasing.
        rows : ndarray of CuPy
            The rows it is learnt from, increasing.
        sketch : ndarray of CuPy, shape (n_rows, width)
            The sketched gradients of all rows.

        Returns
        -------
        GrownTree
            The tree.
        """
        self._choose(features)
        self._rows, self._sketch, self._bytes_in_use = rows, sketch, 0
        root = Node(0, len(rows), 0)
        self._nodes = [root]
        families = [Family([OpenNode(0, root)])]
        best_first = self._options.max_leaf_nodes > 0
        n_leaves = 1
        waiting: list[OpenNode] = []  # nodes with a test that are not split yet
        while families:
            self._evaluate(families)
            for member in [member for family in families for member in family.members]:
                if member.node.split is not None:
                    waiting.append(member)
                elif member.histograms is not None:
                    self._release()
            if not waiting:
                break
            if not best_first:
                families, waiting = self._divide(waiting), []
                continue
            if n_leaves >= self._options.max_leaf_nodes:
                break
            best = min(waiting, key=lambda member: (-_gain(member), member.number))
            waiting.remove(best)
            families = self._divide([best])
            n_leaves += 1
        return GrownTree(self._nodes, self._rows)

    def _choose(self, features: NDArray[np.int32]) -> None:
        """Lay out the histograms of a tree, those of sparse features last."""
        is_sparse = self._zero_bin[features] >= 0
        features = np.concatenate([features[~is_sparse], features[is_sparse]])
        self._features = features
        self._n_dense = int((~is_sparse).sum())
        first_bin = np.concatenate([[0], np.cumsum(self._n_bins[features])])
        self._first_bin = first_bin.astype(np.uint32)
        self._nominal = np.flatnonzero(self._is_nominal[features])
        cupy = self._cupy
        self._features_there = cupy.asarray(features)
        self._first_bin_there = cupy.asarray(self._first_bin)
        self._is_nominal_there = cupy.asarray(self._is_nominal[features].astype(np.uint8))
        self._zero_bin_there = cupy.asarray(self._zero_bin[features[self._n_dense :]])
        # Those of sparse features are not kept.
        self._n_dense_bins = int(first_bin[self._n_dense])
        self._kept_bytes = self._n_dense_bins * self._width * 4
        self._n_bins_of_tree = int(first_bin[-1])

    def _release(self) -> None:
        self._bytes_in_use -= self._kept_bytes

    # ---- finding tests ---------------------------------------------------------------------

    def _evaluate(self, families: list[Family]) -> None:
        """Find the best test of all members."""
        keeps = self._prepare(families)
        bytes_of_family = 2 * 4 * self._n_bins_of_tree * self._width
        n_at_once = max(1, _MAX_LEVEL_BYTES // max(1, bytes_of_family))
        for first in range(0, len(families), n_at_once):
            chosen = families[first : first + n_at_once]
            chosen = [family for family in chosen if any(family.wanted)]
            if chosen:
                self._search(chosen, keeps)
        for family in families:
            if family.parent is None:
                continue
            if family.wanted[1]:
                family.members[1].histograms = family.parent
            else:
                self._release()

    def _prepare(self, families: list[Family]) -> set[int]:
        """Sum up the rows of all members; return the numbers of nodes to keep histograms of."""
        members = [member for family in families for member in family.members]
        self._find_totals(members)
        options = self._options
        keeps = set()
        for family in families:
            for place, member in enumerate(family.members):
                wanted = (
                    len(self._features) > 0
                    and member.node.depth < options.max_depth
                    and member.n_rows >= 2 * options.min_samples_leaf
                )
                family.wanted.append(wanted)
                by_subtraction = place > 0 and family.parent is not None
                if (
                    wanted
                    and member.node.depth + 1 < options.max_depth
                    and member.n_rows >= _MIN_KEPT_ROWS
                    and not by_subtraction
                    and self._bytes_in_use + self._kept_bytes <= _MAX_KEPT_BYTES
                ):
                    keeps.add(member.number)
                    self._bytes_in_use += self._kept_bytes
        return keeps

    def _find_totals(self, members: list[OpenNode]) -> None:
        cupy, width = self._cupy, np.int32(self._width)
        ranges = [(member.node.begin, member.node.end) for member in members]
        begin, end, first_part = split_into_parts(ranges, _ROWS_PER_PART)
        sums = cupy.empty((len(begin), self._width), dtype=np.float32)
        weights = cupy.empty(len(begin), dtype=np.float64)
        limits = cupy.asarray(begin), cupy.asarray(end)
        self._kernels.run(
            "sum_parts",
            len(begin),
            (self._sketch, self._weight, self._rows, *limits, width, sums, weights),
            n_threads=_threads_for(self._width),
        )
        self._totals = cupy.empty((len(members), self._width), dtype=np.float32)
        self._total_weights = cupy.empty(len(members), dtype=np.float64)
        self._kernels.run(
            "sum_nodes",
            len(members),
            (sums, weights, cupy.asarray(first_part), width, self._totals, self._total_weights),
            n_threads=_threads_for(self._width),
        )
        for i, (member, weight) in enumerate(
            zip(members, self._total_weights.get().tolist(), strict=True)
        ):
            member.total, member.node.weight = i, weight

    def _search(self, families: list[Family], keeps: set[int]) -> None:
        """Fill the histograms of families, and find the best tests of their members."""
        counted: list[tuple[Node, Histograms]] = []
        searched: list[tuple[OpenNode, Histograms]] = []
        subtracted: list[tuple[Histograms, Histograms]] = []
        for family in families:
            for place, member in enumerate(family.members):
                if not family.wanted[place] and (place > 0 or family.parent is None):
                    continue
                if place > 0 and family.parent is not None:
                    family.parent = histograms = self._resize(family.parent, self._n_bins_of_tree)
                    subtracted.append((histograms, counted[-1][1]))
                else:
                    histograms = Histograms(self._cupy, self._n_bins_of_tree, self._width)
                    counted.append((member.node, histograms))
                if family.wanted[place]:
                    searched.append((member, histograms))
                if member.number in keeps:
                    member.histograms = histograms
        self._fill(counted, 0, self._n_dense)
        for whole, part in subtracted:
            whole.subtract(part, self._n_dense_bins)
        to_search = [(member.node, histograms) for member, histograms in searched]
        self._fill(to_search, self._n_dense, len(self._features))
        self._find_cuts(searched)
        for family in families:
            if family.parent is not None:
                family.parent = self._resize(family.parent, self._n_dense_bins)
            for member in family.members:
                if member.histograms is not None:
                    member.histograms = self._resize(member.histograms, self._n_dense_bins)

    def _resize(self, histograms: Histograms, n_bins: int) -> Histograms:
        """Return histograms with room for sparse features, or without."""
        if len(histograms.counts) == n_bins:
            return histograms
        resized = Histograms(self._cupy, n_bins, self._width)
        return resized.copy_from(histograms, self._n_dense_bins)

    def _fill(self, counted: list[tuple[Node, Histograms]], first: int, end: int) -> None:
        """Fill histograms of some features, a few at a time if there are many rows."""
        ranges = [(node.begin, node.end) for node, _ in counted]
        parts = split_into_parts(ranges, _ROWS_PER_CHUNK)
        n_parts = np.diff(parts[2].astype(np.int64))
        bytes_of_bin = (self._width * 4 + 12) * int(n_parts[n_parts > 1].sum())
        while first < end:
            last = min(end, first + _MAX_BLOCKS)
            if bytes_of_bin:
                room = int(self._first_bin[first]) + _MAX_SCRATCH_BYTES // bytes_of_bin
                fits = int(np.searchsorted(self._first_bin, room, side="right")) - 1
                last = min(last, max(first + 1, fits))
            self._fill_features(counted, parts, first, last)
            first = last

    def _fill_features(
        self,
        counted: list[tuple[Node, Histograms]],
        parts: tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]],
        first: int,
        last: int,
    ) -> None:
        """Fill the histograms of features `first` to `last` - 1 of the tree."""
        cupy, width = self._cupy, self._width
        begin, end, first_part = parts
        bins = slice(int(self._first_bin[first]), int(self._first_bin[last]))
        n_bins = bins.stop - bins.start
        chunks = np.zeros(len(begin), dtype=_CHUNK)
        chunks["begin"], chunks["end"] = begin, end
        to_add = []
        for i, (_, histograms) in enumerate(counted):
            own = slice(int(first_part[i]), int(first_part[i + 1]))
            n_own = own.stop - own.start
            out = (histograms.sums[bins], histograms.counts[bins], histograms.weights[bins])
            to = out
            if n_own > 1:
                to = (
                    cupy.empty((n_own, n_bins, width), dtype=np.float32),
                    cupy.empty((n_own, n_bins), dtype=np.uint32),
                    cupy.empty((n_own, n_bins), dtype=np.float64),
                )
                to_add.append((np.int32(n_own), to, out))
            for name, array in zip(("sums", "counts", "weights"), to, strict=True):
                step = array.strides[0] if n_own > 1 else 0
                chunks[name][own] = array.data.ptr + step * np.arange(n_own, dtype=np.uint64)
        most_bins = int(np.diff(self._first_bin[first : last + 1]).max())
        self._kernels.run(
            "fill_histograms",
            (len(begin), last - first, -(-width // _WARP)),
            (
                self._bins,
                np.uint64(self._bins.shape[1]),
                self._rows,
                self._sketch,
                self._weight,
                np.int32(width),
                self._features_there[first:],
                self._first_bin_there[first:],
                cupy.asarray(chunks.view(np.uint8)),
            ),
            n_threads=_WARP,
            shared_bytes=most_bins * (4 * _WARP + 12),
        )
        for n_own, (sums, counts, weights), out in to_add:
            n = np.uint64(n_bins * width)
            self._kernels.run_each("add_float_parts", int(n), (sums, n, n_own, out[0]))
            self._kernels.run_each(
                "add_count_parts",
                n_bins,
                (counts, weights, np.uint64(n_bins), n_own, out[1], out[2]),
            )

    def _find_cuts(self, searched: list[tuple[OpenNode, Histograms]]) -> None:
        """Find the best test of nodes whose histograms are filled."""
        cupy, options = self._cupy, self._options
        n_features = len(self._features)
        pointers = np.array(
            [[h.sums.data.ptr, h.counts.data.ptr, h.weights.data.ptr] for _, h in searched],
            dtype=np.uint64,
        )
        places = cupy.asarray(np.array([member.total for member, _ in searched]))
        n_rows = np.array([member.n_rows for member, _ in searched], dtype=np.uint32)
        nodes = (
            cupy.asarray(pointers),
            self._totals[places],
            cupy.asarray(n_rows),
            self._total_weights[places],
        )
        width = np.int32(self._width)
        self._kernels.run(
            "find_zero_bins",
            (n_features - self._n_dense, len(searched)),
            (*nodes, self._first_bin_there[self._n_dense :], self._zero_bin_there, width),
            n_threads=_threads_for(self._width),
        )
        found = cupy.empty(len(searched) * n_features * _FOUND.itemsize, dtype=np.uint8)
        best = cupy.empty(len(searched) * _FOUND.itemsize, dtype=np.uint8)
        self._kernels.run(
            "search_cuts",
            (n_features, len(searched)),
            (
                *nodes,
                self._first_bin_there,
                self._is_nominal_there,
                width,
                np.uint32(options.min_samples_leaf),
                np.float64(options.l2_regularization),
                found,
            ),
            n_threads=_WARP,
            shared_bytes=2 * self._width * 4,
        )
        self._kernels.run(
            "choose_features",
            len(searched),
            (found, self._features_there, np.int32(n_features), best),
        )
        for (member, histograms), cut in zip(searched, best.get().view(_FOUND), strict=True):
            if cut["gain"] > 0:
                member.node.split = self._describe(cut)
            for place in self._nominal:
                self._search_nominal(member, histograms, int(place))

    def _describe(self, found: Any) -> Split:
        feature = int(self._features[found["feature"]])
        words = np.zeros(256, dtype=np.uint8)
        words[: found["cut"] + 1] = 1
        words[self._n_bins[feature] - 1] = found["missing_yes"]
        bins = np.packbits(words, bitorder="little").view("<u8").astype(np.uint64)
        return Split(feature, float(found["gain"]), int(found["cut"]), bins)

    def _search_nominal(self, member: OpenNode, histograms: Histograms, place: int) -> None:
        """Search a nominal feature in the core, which orders its categories first."""
        bins = slice(int(self._first_bin[place]), int(self._first_bin[place + 1]))
        feature = int(self._features[place])
        gain, cut, words = self._plan.search(
            feature,
            histograms.sums[bins].get(),
            histograms.counts[bins].get(),
            histograms.weights[bins].get(),
            self._totals[member.total].get(),
            member.n_rows,
            member.node.weight,
        )
        best = member.node.split
        if gain > _gain(member) or (
            best is not None and gain == best.gain and feature < best.feature
        ):
            member.node.split = Split(feature, gain, cut, np.asarray(words))

    # ---- dividing --------------------------------------------------------------------------

    def _divide(self, waiting: list[OpenNode]) -> list[Family]:
        """Divide the rows of nodes between their children."""
        cupy = self._cupy
        n_rows = len(self._rows)
        order = sorted(waiting, key=lambda member: member.node.begin)
        splits = [member.node.split for member in order]
        begin = np.array([member.node.begin for member in order], dtype=np.uint32)
        end = np.array([member.node.end for member in order], dtype=np.uint32)
        feature = np.array([s.feature for s in splits if s], dtype=np.int32)
        sets = np.array([s.bins for s in splits if s], dtype="<u8").view("<u4")
        limits = cupy.asarray(begin), cupy.asarray(end)
        n_segments = np.int32(len(order))
        is_yes = cupy.empty(n_rows, dtype=np.uint32)
        self._kernels.run_each(
            "test_rows",
            n_rows,
            (
                self._rows,
                np.uint32(n_rows),
                self._bins,
                np.uint64(self._bins.shape[1]),
                *limits,
                cupy.asarray(feature),
                cupy.asarray(sets),
                n_segments,
                is_yes,
            ),
        )
        n_yes = cupy.cumsum(is_yes, dtype=np.uint32)
        divided = cupy.empty_like(self._rows)
        self._kernels.run_each(
            "divide_rows",
            n_rows,
            (self._rows, np.uint32(n_rows), is_yes, n_yes, *limits, n_segments, divided),
        )
        self._rows = divided
        ends = cupy.concatenate([n_yes[limits[1] - 1], n_yes[limits[0]] - is_yes[limits[0]]])
        after, before = ends.get().astype(np.int64).reshape(2, -1)
        middle = dict(zip((m.number for m in order), begin + after - before, strict=True))
        return [self._add_children(member, int(middle[member.number])) for member in waiting]

    def _add_children(self, parent: OpenNode, middle: int) -> Family:
        node = parent.node
        members = []
        for begin, end in ((node.begin, middle), (middle, node.end)):
            child = Node(begin, end, node.depth + 1)
            members.append(OpenNode(len(self._nodes), child))
            self._nodes.append(child)
        node.yes, node.no = members[0].number, members[1].number
        if members[1].n_rows < members[0].n_rows:
            members.reverse()
        return Family(members, parent.histograms)


def _gain(member: OpenNode) -> float:
    return member.node.split.gain if member.node.split else 0.0


def _threads_for(width: int) -> int:
    return min(256, -(-width // _WARP) * _WARP)
