"""The best tests of nodes, found from their histograms on the GPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify import _core
from ramify.boosting.cuda.device import WARP
from ramify.boosting.cuda.histograms import Histograms, Layout, Node, Split, Totals, TreeRows

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
