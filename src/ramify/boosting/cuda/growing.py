"""Grows the structure of a tree on the GPU, as core/gradient_boosting/growing.cpp does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify import _core
from ramify.boosting.cuda.device import WARP, Kernels
from ramify.boosting.cuda.histograms import (
    GrownTree,
    Histograms,
    Layout,
    Node,
    Split,
    Totals,
    TreeRows,
    fill_histograms,
)

# The same limits as in the core: with others, histograms would be counted instead of subtracted.
_MAX_KEPT_BYTES = 2**28
_MIN_KEPT_ROWS = 256

_MAX_FAMILIES = 30_000
_MAX_FAMILY_BYTES = 2**32


@dataclass
class OpenNode:
    """A node that may be split."""

    number: int  # in the tree
    node: Node
    total: int = 0  # its place in the totals
    histograms: Histograms | None = None  # of the dense features, if kept


@dataclass
class Family:
    """Two children, the one with fewer rows first, or the root alone."""

    members: list[OpenNode]
    parent: Histograms | None = None  # becomes that of the last member
    wanted: list[bool] = field(default_factory=list)  # per member: whether it may be split


class TreeGrower:
    """Grows trees from sketched gradients."""

    def __init__(
        self, cupy: Any, kernels: Kernels, plan: _core.BoostingPlan, bins: Any, weight: Any
    ) -> None:
        self._cupy, self._kernels, self._plan = cupy, kernels, plan
        self._bins, self._weight = bins, weight  # of all rows: features × rows, and rows
        self._options = plan.options
        self._described = plan.features()

    def grow(self, features: NDArray[np.int32], rows: Any, sketch: Any) -> GrownTree:
        """Grow a tree from some rows and features, both in increasing order."""
        self._layout = Layout(self._cupy, self._described, features)
        self._rows = TreeRows(self._cupy, self._kernels, self._bins, self._weight, sketch, rows)
        self._kept_bytes = self._layout.n_dense_bins * self._rows.width * 4
        self._bytes_in_use = 0
        root = Node(0, len(rows), 0)
        self._nodes = [root]
        families = [Family([OpenNode(0, root)])]
        n_leaves = 1
        waiting: list[OpenNode] = []  # nodes with a test that are not split yet
        while families:
            self._evaluate(families)
            for member in [member for family in families for member in family.members]:
                if member.node.split is not None:
                    waiting.append(member)
                elif member.histograms is not None:
                    self._bytes_in_use -= self._kept_bytes
            if self._options.max_leaf_nodes == 0:
                families, waiting = self._divide(waiting), []
                continue
            if not waiting or n_leaves >= self._options.max_leaf_nodes:
                break
            best = min(waiting, key=lambda member: (-member.node.gain, member.number))
            waiting.remove(best)
            families = self._divide([best])
            n_leaves += 1
        return GrownTree(self._nodes, self._rows.order)

    # ---- finding tests ---------------------------------------------------------------------

    def _evaluate(self, families: list[Family]) -> None:
        """Find the best test of all members, of some families at a time."""
        keeps = self._prepare(families)
        chosen = [family for family in families if any(family.wanted)]
        bytes_of_family = 2 * 4 * self._layout.n_all_bins * self._rows.width
        n_at_once = min(_MAX_FAMILIES, max(1, _MAX_FAMILY_BYTES // max(1, bytes_of_family)))
        for first in range(0, len(chosen), n_at_once):
            some = chosen[first : first + n_at_once]
            self._search(some, keeps)
            self._trim(some)
        for family in families:
            if family.parent is None:
                continue
            if family.wanted[1]:
                family.members[1].histograms = family.parent
            else:
                self._bytes_in_use -= self._kept_bytes

    def _prepare(self, families: list[Family]) -> set[int]:
        """Sum up the rows of all members; return the nodes whose histograms are kept."""
        members = [member for family in families for member in family.members]
        self._totals = Totals(self._rows, [member.node for member in members])
        weights = self._totals.weights.get().tolist()
        for place, (member, weight) in enumerate(zip(members, weights, strict=True)):
            member.total, member.node.weight = place, weight
        keeps = set()
        for family in families:
            for place, member in enumerate(family.members):
                family.wanted.append(self._may_split(member.node))
                by_subtraction = place > 0 and family.parent is not None
                if (
                    family.wanted[place]
                    and member.node.depth + 1 < self._options.max_depth
                    and member.node.n_rows >= _MIN_KEPT_ROWS
                    and not by_subtraction
                    and self._bytes_in_use + self._kept_bytes <= _MAX_KEPT_BYTES
                ):
                    keeps.add(member.number)
                    self._bytes_in_use += self._kept_bytes
        return keeps

    def _may_split(self, node: Node) -> bool:
        return (
            len(self._layout) > 0
            and node.depth < self._options.max_depth
            and node.n_rows >= 2 * self._options.min_samples_leaf
        )

    def _search(self, families: list[Family], keeps: set[int]) -> None:
        """Fill the histograms of families, and find the best tests of their members."""
        layout, n_bins = self._layout, self._layout.n_all_bins
        counted: list[tuple[Node, Histograms]] = []
        subtracted: list[tuple[Histograms, Histograms]] = []
        searched: list[tuple[Node, int, Histograms]] = []
        for family in families:
            for place, member in enumerate(family.members):
                if not family.wanted[place] and (place > 0 or family.parent is None):
                    continue
                if place > 0 and family.parent is not None:
                    family.parent = histograms = self._resize(family.parent, n_bins)
                    subtracted.append((histograms, counted[-1][1]))
                else:
                    histograms = Histograms(self._cupy, n_bins, self._rows.width)
                    counted.append((member.node, histograms))
                if family.wanted[place]:
                    searched.append((member.node, member.total, histograms))
                if member.number in keeps:
                    member.histograms = histograms
        fill_histograms(self._rows, layout, counted, 0, layout.n_dense)
        for whole, part in subtracted:
            whole.subtract(part, layout.n_dense_bins)
        to_search = [(node, histograms) for node, _, histograms in searched]
        fill_histograms(self._rows, layout, to_search, layout.n_dense, len(layout))
        find_splits(self._plan, self._rows, layout, self._totals, searched)

    def _trim(self, families: list[Family]) -> None:
        """Keep only the histograms of dense features, which are used again."""
        n_bins = self._layout.n_dense_bins
        for family in families:
            if family.parent is not None:
                family.parent = self._resize(family.parent, n_bins)
            for member in family.members:
                if member.histograms is not None:
                    member.histograms = self._resize(member.histograms, n_bins)

    def _resize(self, histograms: Histograms, n_bins: int) -> Histograms:
        """Return histograms with room for those of sparse features, or without."""
        if len(histograms.counts) == n_bins:
            return histograms
        resized = Histograms(self._cupy, n_bins, self._rows.width)
        resized.copy_from(histograms, self._layout.n_dense_bins)
        return resized

    # ---- dividing --------------------------------------------------------------------------

    def _divide(self, waiting: list[OpenNode]) -> list[Family]:
        """Divide the rows of nodes between their children."""
        if not waiting:
            return []
        cupy, rows = self._cupy, self._rows.order
        n_rows = np.uint32(len(rows))
        in_order = sorted(waiting, key=lambda member: member.node.begin)
        splits = [member.node.split for member in in_order]
        begin = np.array([member.node.begin for member in in_order], dtype=np.uint32)
        end = np.array([member.node.end for member in in_order], dtype=np.uint32)
        feature = np.array([s.feature for s in splits if s], dtype=np.int32)
        sets = np.array([s.bins for s in splits if s], dtype="<u8").view("<u4")
        limits = cupy.asarray(begin), cupy.asarray(end)
        n_segments = np.int32(len(in_order))
        is_yes = cupy.empty_like(rows)
        tests = cupy.asarray(feature), cupy.asarray(sets), n_segments
        bins = self._bins, np.uint64(self._bins.shape[1])
        self._kernels.run_each(
            "test_rows", len(rows), (rows, n_rows, *bins, *limits, *tests, is_yes)
        )
        n_yes = cupy.cumsum(is_yes, dtype=np.uint32)
        divided = cupy.empty_like(rows)
        self._kernels.run_each(
            "divide_rows",
            len(rows),
            (rows, n_rows, is_yes, n_yes, *limits, n_segments, divided),
        )
        self._rows.order = divided
        first, last = limits[0], limits[1] - 1
        n_first = (n_yes[last] - n_yes[first] + is_yes[first]).get().astype(np.int64)
        middle = {m.number: int(b) for m, b in zip(in_order, begin + n_first, strict=True)}
        return [self._add_children(member, middle[member.number]) for member in waiting]

    def _add_children(self, parent: OpenNode, middle: int) -> Family:
        node = parent.node
        members = []
        for begin, end in ((node.begin, middle), (middle, node.end)):
            child = Node(begin, end, node.depth + 1)
            members.append(OpenNode(len(self._nodes), child))
            self._nodes.append(child)
        node.yes, node.no = members[0].number, members[1].number
        if members[1].node.n_rows < members[0].node.n_rows:
            members.reverse()
        return Family(members, parent.histograms)


# ---- the best test of each node -------------------------------------------------------------


_FOUND = np.dtype(
    [("gain", "f8"), ("feature", "i4"), ("cut", "i4"), ("missing_yes", "i4"), ("", "i4")]
)


def find_splits(
    plan: _core.BoostingPlan,
    rows: TreeRows,
    layout: Layout,
    totals: Totals,
    searched: Sequence[tuple[Node, int, Histograms]],
) -> None:
    """Find the best test of nodes whose histograms are filled."""
    cupy, kernels, width = rows.cupy, rows.kernels, np.int32(rows.width)
    n_nodes, n_features = len(searched), len(layout)
    pointers = [[array.data.ptr for array in found.arrays] for _, _, found in searched]
    places = cupy.asarray(np.array([place for _, place, _ in searched]))
    n_rows = np.array([node.n_rows for node, _, _ in searched], dtype=np.uint32)
    nodes = (
        cupy.asarray(np.array(pointers, dtype=np.uint64)),
        totals.sums[places],
        cupy.asarray(n_rows),
        totals.weights[places],
    )
    kernels.run(
        "find_zero_bins",
        (n_features - layout.n_dense, n_nodes),
        (*nodes, layout.first_bin_there[layout.n_dense :], layout.zero_bin_there, width),
        n_threads=rows.threads,
    )
    found = cupy.empty(n_nodes * n_features * _FOUND.itemsize, dtype=np.uint8)
    best = cupy.empty(n_nodes * _FOUND.itemsize, dtype=np.uint8)
    options = plan.options
    rules = np.uint32(options.min_samples_leaf), np.float64(options.l2_regularization)
    kernels.run(
        "search_cuts",
        (n_features, n_nodes),
        (*nodes, layout.first_bin_there, layout.is_nominal_there, width, *rules, found),
        n_threads=WARP,
        shared_bytes=2 * rows.width * 4,
    )
    kernels.run(
        "choose_features", n_nodes, (found, layout.features_there, np.int32(n_features), best)
    )
    for (node, place, histograms), cut in zip(searched, best.get().view(_FOUND), strict=True):
        if cut["gain"] > 0:
            node.split = _describe(layout, cut)
        for nominal in layout.nominal.tolist():
            bins = layout.bins_of(nominal, nominal + 1)
            histogram = tuple(array[bins].get() for array in histograms.arrays)
            total = totals.sums[place].get()
            _search_nominal(plan, int(layout.features[nominal]), node, histogram, total)


def _describe(layout: Layout, found: Any) -> Split:
    place = found["feature"]
    in_set = np.zeros(256, dtype=np.uint8)
    in_set[: found["cut"] + 1] = 1
    in_set[layout.n_bins[place] - 1] = found["missing_yes"]
    bins = np.packbits(in_set, bitorder="little").view("<u8").astype(np.uint64)
    return Split(int(layout.features[place]), float(found["gain"]), int(found["cut"]), bins)


def _search_nominal(
    plan: _core.BoostingPlan,
    feature: int,
    node: Node,
    histogram: tuple[NDArray[Any], ...],
    total: NDArray[np.float32],
) -> None:
    """Search a nominal feature in the core, which orders its categories first."""
    sums, counts, weights = histogram
    n_rows, weight = node.n_rows, node.weight
    gain, cut, words = plan.search(feature, sums, counts, weights, total, n_rows, weight)
    is_earlier = node.split is not None and feature < node.split.feature
    if gain > node.gain or (gain == node.gain and is_earlier):
        node.split = Split(feature, gain, cut, np.asarray(words))
