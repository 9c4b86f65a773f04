"""Gradient boosting on the GPU: margins of all rows, and one more tree per round."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify import _core
from ramify.boosting.cuda.device import (
    check_memory,
    copy_struct,
    load_cupy,
    load_kernels,
)
from ramify.boosting.cuda.growing import TreeGrower
from ramify.boosting.cuda.histograms import GrownTree, split_into_parts

_NO_MARGIN = -1e30  # of places without an output, as in the core
_ROWS_PER_PART = 64  # of the sums of gradients in a leaf, as in the core
_THREADS = 128
_UPLOAD_BYTES = 2**28


class CudaBooster:
    """Learns boosted trees on a GPU, one per round: the same trees as `_core.GradientBooster`."""

    def __init__(self, plan: _core.BoostingPlan, start: NDArray[np.float64]) -> None:
        cupy = load_cupy()
        self._cupy, self._kernels, self._plan = cupy, load_kernels(), plan
        check_memory(cupy, _count_bytes(plan))
        self._round = int(plan.options.first_round)
        self._order = cupy.asarray(plan.order())
        n_rows, stride = plan.n_rows, plan.stride
        self._margins = cupy.full((n_rows, stride), _NO_MARGIN, dtype=np.float32)
        self._margins[:, : plan.n_outputs] = cupy.asarray(start.astype(np.float32))[self._order]
        bits = np.empty((n_rows, -(-stride // 32)), dtype=np.uint32)
        plan.copy_bits(bits)
        self._bits = cupy.asarray(bits)
        self._weight = cupy.asarray(plan.weights())
        self._bins = _copy_bins(cupy, plan)
        self._sketch = cupy.empty((n_rows, plan.sketch_width), dtype=np.float32)
        is_softmax = plan.options.loss == "softmax"
        self._normaliser = cupy.empty((n_rows if is_softmax else 1, 2), dtype=np.float32)
        self._struct = copy_struct(
            cupy,
            margins=self._margins,
            normaliser=self._normaliser,
            bits=self._bits,
            weight=self._weight,
            stride=stride,
            n_words=bits.shape[1],
            softmax=int(is_softmax),
        )
        self._is_softmax = is_softmax
        self._grower = TreeGrower(cupy, self._kernels, plan, self._bins, self._weight)

    def learn(self, model: _core.BoostedTrees) -> None:
        """Append one tree to the model."""
        sample: Any = self._plan.draw(self._round)
        rows = self._cupy.asarray(sample["rows"])
        self._sketch_rows(rows, sample["factor"], sample["shift"])
        tree = self._grower.grow(sample["features"], rows, self._sketch)
        arrays = tree.arrays()
        values = self._find_values(tree)
        self._plan.append_grown(model, **arrays, values=values.get())
        self._update_margins(arrays, values)
        self._round += 1

    def _normalise(self, rows: Any) -> None:
        if self._is_softmax:
            self._kernels.run_each(
                "normalise_rows",
                len(rows),
                (
                    self._margins,
                    np.int32(self._plan.stride),
                    rows,
                    np.uint32(len(rows)),
                    self._normaliser,
                ),
                threads_of_each=16,
            )

    def _sketch_rows(
        self, rows: Any, factor: NDArray[np.float32], shift: NDArray[np.int32]
    ) -> None:
        self._normalise(rows)
        n_shared = self._plan.n_shared
        self._kernels.run_each(
            "sketch_rows",
            len(rows),
            (
                self._struct,
                rows,
                np.uint32(len(rows)),
                self._cupy.asarray(factor),
                self._cupy.asarray(shift),
                np.int32(len(shift)),
                np.int32(self._plan.sketch_width - n_shared),
                np.int32(n_shared),
                self._sketch,
            ),
            threads_of_each=32,
        )

    def _find_values(self, tree: GrownTree) -> Any:
        """Return the values of the leaves: one Newton step per output."""
        cupy, plan = self._cupy, self._plan
        leaves = [tree.nodes[i] for i in tree.leaves]
        ranges = [(node.begin, node.end) for node in leaves]
        begin, end, first_part = split_into_parts(ranges, _ROWS_PER_PART)
        gradients = cupy.empty((len(begin), plan.stride), dtype=np.float32)
        curvatures = cupy.empty_like(gradients)
        n_blocks = -(-plan.stride // _THREADS)
        self._kernels.run(
            "sum_gradients",
            (len(begin), n_blocks),
            (
                self._struct,
                tree.rows,
                cupy.asarray(begin),
                cupy.asarray(end),
                gradients,
                curvatures,
            ),
            n_threads=_THREADS,
        )
        values = cupy.empty((len(leaves), plan.stride), dtype=np.float32)
        self._kernels.run(
            "find_values",
            (len(leaves), n_blocks),
            (
                gradients,
                curvatures,
                cupy.asarray(first_part),
                np.int32(plan.stride),
                np.int32(plan.n_outputs),
                np.float64(plan.options.l2_regularization),
                np.float64(plan.options.learning_rate),
                values,
            ),
            n_threads=_THREADS,
        )
        return values

    def _update_margins(self, arrays: dict[str, NDArray[Any]], values: Any) -> None:
        cupy, n_rows = self._cupy, self._plan.n_rows
        nodes = [cupy.asarray(arrays[name]) for name in ("feature", "yes", "no", "leaf")]
        sets = cupy.asarray(arrays["sets"].astype("<u8").view("<u4"))
        leaf = cupy.empty(n_rows, dtype=np.int32)
        self._kernels.run_each(
            "find_leaves",
            n_rows,
            (self._bins, np.uint64(n_rows), nodes[0], sets, *nodes[1:], leaf),
        )
        self._kernels.run(
            "add_values", n_rows, (leaf, values, np.int32(self._plan.stride), self._margins)
        )

    def loss(self, held_out: bool) -> float:
        """Return the mean loss of the training rows or of the held-out rows."""
        cupy = self._cupy
        rows = cupy.asarray(self._plan.rows(held_out))
        losses = cupy.empty(len(rows), dtype=np.float64)
        self._normalise(rows)
        self._kernels.run_each(
            "find_losses",
            len(rows),
            (self._struct, rows, np.uint32(len(rows)), np.int32(self._plan.n_outputs), losses),
            threads_of_each=32,
        )
        weights = self._weight[rows].get().astype(np.float64)
        total = float(weights.sum())
        return float(weights @ losses.get()) / total if total > 0 else 0.0

    def copy_margins(self, rows: NDArray[np.int64], out: NDArray[np.float32]) -> None:
        """Copy margins of rows into `out`."""
        by_place = self._margins[self._cupy.asarray(rows), : self._plan.n_outputs]
        out[:, self._order.get()] = by_place.get()

    def add_margins(self, margins: NDArray[np.float32]) -> None:
        """Add to the margins, to continue learning from other trees."""
        self._margins[:, : self._plan.n_outputs] += self._cupy.asarray(margins)[:, self._order]


def _count_bytes(plan: _core.BoostingPlan) -> int:
    """Return the number of bytes that learning needs, excluding histograms."""
    of_row = 4 * plan.stride + plan.n_features + 4 * plan.sketch_width + plan.stride // 8 + 32
    return plan.n_rows * (of_row + 8 * plan.stride // _ROWS_PER_PART)


def _copy_bins(cupy: Any, plan: _core.BoostingPlan) -> Any:
    """Return the bins of all features on the GPU, some features at a time."""
    n_rows, n_features = plan.n_rows, plan.n_features
    bins = cupy.empty((n_features, n_rows), dtype=np.uint8)
    n_at_once = max(1, _UPLOAD_BYTES // n_rows)
    for first in range(0, n_features, n_at_once):
        some = np.empty((min(n_at_once, n_features - first), n_rows), dtype=np.uint8)
        plan.copy_bins(first, some)
        bins[first : first + len(some)] = cupy.asarray(some)
    return bins
