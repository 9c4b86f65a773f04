"""Margins of new rows on the GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify import _core
from ramify.boosting.cuda.device import copy_struct, load_cupy, load_kernels

_THREADS = 128
_BYTES_AT_ONCE = 2**31


def add_margins(trees: _core.BoostedTrees, X: NDArray[Any], out: NDArray[np.float32]) -> None:
    """Add the values of the leaves that rows reach to their margins, as the core does."""
    if not len(trees) or not len(X):
        return
    cupy, kernels = load_cupy(), load_kernels()
    arrays = [trees.arrays(i) for i in range(len(trees))]
    parts = _join(arrays)
    values = cupy.asarray(parts.pop("value").reshape(-1, out.shape[1]))
    there = {name: cupy.asarray(array) for name, array in parts.items()}
    struct = copy_struct(cupy, **there)
    n_trees, n_outputs = len(trees), out.shape[1]
    bytes_of_row = 4 * n_outputs + 4 * n_trees + X.itemsize * X.shape[1]
    n_at_once = max(1, _BYTES_AT_ONCE // bytes_of_row)
    for first in range(0, len(X), n_at_once):
        rows = slice(first, first + n_at_once)
        some = cupy.asarray(np.ascontiguousarray(X[rows]))
        margins = cupy.asarray(out[rows])
        n = len(some)
        leaf = cupy.empty((n, n_trees), dtype=np.uint32)
        kernels.run(
            "reach_leaves",
            (-(-n // _THREADS), n_trees),
            (
                struct,
                some,
                np.int32(X.dtype == np.float64),
                np.uint32(n),
                np.int32(X.shape[1]),
                leaf,
            ),
            n_threads=_THREADS,
        )
        kernels.run(
            "add_leaves",
            (n, -(-n_outputs // _THREADS)),
            (leaf, np.int32(n_trees), values, np.int32(n_outputs), margins),
            n_threads=_THREADS,
        )
        out[rows] = margins.get()


def _join(trees: list[Any]) -> dict[str, NDArray[Any]]:
    """Return the arrays of all trees, one after the other, in the order of the kernel's struct."""
    n_nodes = [len(tree["feature"]) for tree in trees]
    n_leaves = [int((tree["feature"] < 0).sum()) for tree in trees]
    n_codes = [len(tree["category_yes"]) for tree in trees]
    first_leaf = np.cumsum([0, *n_leaves])
    first_code = np.cumsum([0, *n_codes])

    def join(name: str, dtype: Any) -> NDArray[Any]:
        return np.concatenate([tree[name] for tree in trees]).astype(dtype)

    indptr = [tree["category_indptr"][:-1] + first_code[i] for i, tree in enumerate(trees)]
    leaf = [np.maximum(tree["leaf"], 0) + first_leaf[i] for i, tree in enumerate(trees)]
    return {
        "first_node": np.cumsum([0, *n_nodes[:-1]]).astype(np.uint32),
        "feature": join("feature", np.int32),
        "threshold": join("threshold", np.float64),
        "missing_yes": join("missing_yes", np.uint8),
        "yes": join("yes", np.int32),
        "no": join("no", np.int32),
        "category_indptr": np.concatenate([*indptr, first_code[-1:]]).astype(np.uint64),
        "category_yes": np.append(join("category_yes", np.uint8), np.uint8(0)),
        "leaf": np.concatenate(leaf).astype(np.uint32),
        "value": join("value", np.float32),
    }
