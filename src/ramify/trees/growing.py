"""Grow trees: one on some rows, or the members of an ensemble in parallel."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import numpy as np
from joblib import delayed
from numpy.typing import NDArray

from ramify import _core
from ramify._parallel import in_parallel
from ramify._progress import track
from ramify.trees.options import TreeOptions
from ramify.trees.sampling import Sampling
from ramify.trees.tree_data import LabelTargets, TreeData
from ramify.trees.views import smooth_leaves


def grow(
    data: TreeData,
    options: TreeOptions,
    rows: NDArray[np.int64] | None = None,
    counts: NDArray[np.int32] | None = None,
) -> _core.Tree:
    """Grow a tree.

    `rows`: indices of the rows to learn from, in increasing order, instead of `data.rows`.
    `counts`: how many times each of these rows is used.
    """
    own, targets = options.conventions, data.targets
    rows = data.rows if rows is None else rows
    rows = np.arange(data.n_rows, dtype=np.int64) if rows is None else rows
    weights = own.learnt_weights(targets, data.weights)
    if counts is not None:
        drawn, drawn_weights = count_rows_drawn(rows, weights, counts)
        if drawn_weights[drawn].any():  # unless all rows drawn have nothing to learn from
            rows, weights = drawn, drawn_weights
    if not own.keeps_unknown:
        rows = rows[weights[rows] > 0]
    weights = np.ascontiguousarray(weights[rows])
    total = float(weights.sum())
    tree = _core.grow(
        data.dataset, targets.core, rows, weights, options.for_core(data, len(rows), total)
    )
    if options.smoothing > 0 and isinstance(targets, LabelTargets):
        prior = weights @ targets.Y[rows] / total
        tree = smooth_leaves(tree, prior, options.smoothing, sums=own.smooths_sums)
    return tree


def count_rows_drawn(
    rows: NDArray[np.int64], weights: NDArray[np.float64], counts: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the rows that were drawn, and the weights of all rows times their counts.

    Examples
    --------
    >>> count_rows_drawn(np.array([0, 2]), np.array([1.0, 1.0, 0.5]), np.array([0, 3]))
    (array([2]), array([0. , 0. , 1.5]))
    """
    drawn = np.zeros_like(weights)
    drawn[rows] = weights[rows] * counts
    return rows[counts > 0], drawn


def grow_member(data: TreeData, options: TreeOptions, sampling: Sampling, seed: int) -> _core.Tree:
    """Grow one tree of an ensemble, with one thread."""
    counts, seed = sampling.draw(seed)
    return grow(data, replace(options, seed=seed, n_jobs=1), counts=counts)


def grow_members(
    data: TreeData,
    options: TreeOptions,
    sampling: Sampling,
    seeds: list[int],
    *,
    n_jobs: int | None = None,
    verbose: bool = False,
    note: str = "",
) -> list[_core.Tree]:
    """Grow one tree per seed, in parallel; the trees do not depend on `n_jobs`."""
    data.prepare()  # once here, not in every thread
    tasks = (delayed(grow_member)(data, options, sampling, seed) for seed in seeds)
    with closing(in_parallel(tasks, n_jobs=n_jobs, prefer="threads", shared=[data])) as grown:
        return list(track(grown, len(seeds), f"Growing trees{note}", shown=verbose))
