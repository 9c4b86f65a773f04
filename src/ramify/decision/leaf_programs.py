"""Exact mandatory leaf prediction on DAGs by integer programming."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import numpy as np
from joblib import delayed, effective_n_jobs
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from ramify._parallel import in_parallel
from ramify.hierarchy.hierarchy import Hierarchy

__all__ = ["solve_programs"]


def solve_programs(
    weights: NDArray[np.float64],
    hierarchy: Hierarchy,
    counts: NDArray[np.int32],
    n_jobs: int | None = None,
) -> sparse.csr_array[np.int32]:
    """Return the label sets of maximum weight whose paths all end in leaves.

    Parameters
    ----------
    weights : ndarray of shape (n, n_labels)
        Weight of each label.
    hierarchy : Hierarchy
        The label hierarchy.
    counts : ndarray of shape (n,)
        Number of leaves of each row, 0 for any number.
    n_jobs : int, optional
        Number of processes.

    Returns
    -------
    csr_array of shape (n, n_labels)
        Label matrix with ancestors. Weights are maximal up to 1e-6, the tolerance of the solver.
    """
    program = LeafProgram(hierarchy)
    n_bundles = min(len(weights), 4 * effective_n_jobs(n_jobs))
    bundles = [np.arange(k, len(weights), n_bundles) for k in range(n_bundles)]
    tasks = (delayed(_solve_bundle)(program, weights[rows], counts[rows]) for rows in bundles)
    running = in_parallel(tasks, n_jobs=n_jobs, prefer="processes", shared=[program])
    leaves = np.zeros((len(weights), len(program.leaves)), dtype=bool)
    with closing(running) as found:
        for rows, chosen in zip(bundles, found, strict=True):
            leaves[rows] = chosen
    row, place = np.nonzero(leaves)
    ones = np.ones(len(row), dtype=np.int32)
    shape = (len(weights), hierarchy.n_labels)
    return hierarchy.close(sparse.csr_array((ones, (row, program.leaves[place])), shape=shape))


def _solve_bundle(
    program: LeafProgram, weights: NDArray[np.float64], counts: NDArray[np.int32]
) -> NDArray[np.bool_]:
    pairs = zip(weights, counts.tolist(), strict=True)
    return np.stack([program.solve(row, k) for row, k in pairs])


class LeafProgram:
    """The constraints: every label with its parents, every inner label with a child.

    Only leaves are integer variables. An inner label is at least as large as any leaf below it and
    at most the sum of its children, so it is 0 if all leaves below it are 0.

    Parameters
    ----------
    hierarchy : Hierarchy
        The label hierarchy.
    """

    def __init__(self, hierarchy: Hierarchy) -> None:
        n_labels = hierarchy.n_labels
        indptr, parents = hierarchy.parent_rows
        children = np.repeat(np.arange(n_labels), np.diff(indptr))
        edges = np.arange(len(parents))
        ones = np.ones(len(parents))
        above_parent = sparse.csr_array(
            (np.r_[ones, -ones], (np.r_[edges, edges], np.r_[children, parents])),
            shape=(len(parents), n_labels),
        )
        inner = np.flatnonzero(np.diff(hierarchy.child_rows[0]))
        below: Any = sparse.csr_array((ones, (parents, children)), shape=(n_labels, n_labels))
        above_children = (sparse.eye_array(n_labels, format="csr") - below)[inner]
        self.leaves = np.flatnonzero(np.diff(hierarchy.child_rows[0]) == 0)
        is_leaf = np.zeros(n_labels, dtype=np.int32)
        is_leaf[self.leaves] = 1
        self._is_leaf = is_leaf
        self._matrix = sparse.csc_array(
            sparse.vstack([above_parent, above_children, sparse.csr_array(is_leaf[None])])
        )
        # `milp` in scipy 1.13 accepts no other indices.
        self._matrix.indices = self._matrix.indices.astype(np.int32)
        self._matrix.indptr = self._matrix.indptr.astype(np.int32)

    def solve(self, weights: NDArray[np.float64], k: int) -> NDArray[np.bool_]:
        """Return which leaves are in the best set of k leaves, or of at least one if k is 0."""
        lower = np.full(self._matrix.shape[0], -np.inf)
        upper = np.zeros(self._matrix.shape[0])
        lower[-1], upper[-1] = (k, k) if k else (1, np.inf)
        answer = milp(
            -weights,
            integrality=self._is_leaf,
            bounds=Bounds(0, 1),
            constraints=LinearConstraint(self._matrix, lower, upper),
            options={"mip_rel_gap": 0},
        )
        if answer.x is None:
            raise RuntimeError(f"the integer program could not be solved: {answer.message}")
        return np.asarray(answer.x[self.leaves] > 0.5)
