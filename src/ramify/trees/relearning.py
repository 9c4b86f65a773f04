"""New leaves for the trees of an old taxonomy: the tests are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core
from ramify._base.relearning import Relearning
from ramify.decision import make_coherent
from ramify.trees.views import change_tree, find_leaves, find_parents

_PRIOR = 1.0  # rows: how much the parent of a node counts in the estimates of the node
_CELLS_AT_A_TIME = 8_000_000


def check_relearns(model: Any) -> None:
    """Raise an error unless the leaves of a model store the shares of their rows."""
    for name, plain in (("clus_compat", False), ("prototype", "mean")):
        value = getattr(model, name, plain)
        if value != plain:
            raise ValueError(
                f"X must be None with {name}={value!r}: leaves are learnt again only if they "
                "store the shares of their rows. Omit X and y, or fit a new model."
            )


def relearn_leaves(tree: _core.Tree, task: Relearning) -> _core.Tree:
    """Return a tree with the same tests and leaves for the labels of the new taxonomy.

    Labels that are not learnt get the carried probabilities of the old leaf. For the others, a
    leaf stores P(label | parents) P(parents). P(label | parents) is the share of the rows with the
    parents that reach the leaf, together with the estimate of the parent of the leaf, which counts
    like one row, and with what the old leaf says about the label, if anything, which counts like
    its old rows.
    """
    chosen = np.flatnonzero(task.changed)
    estimates = _estimate(tree, task, chosen)
    indptr = tree.value_indptr
    has_values = (tree.feature < 0) | (np.diff(indptr) > 0)
    nodes = np.flatnonzero(has_values)
    parts = tree.value, tree.value_label, indptr
    old: Any = sparse.csr_array(parts, shape=(len(tree.feature), task.carrier.n_old))
    step = max(1, _CELLS_AT_A_TIME // task.hierarchy.n_labels)
    found = []
    for first in range(0, len(nodes), step):
        here = nodes[first : first + step]
        carried = task.carrier.carry(old[here].toarray())
        values = estimates.at(here).apply(carried, tree.weight[here], task)
        found.append(sparse.csr_array(make_coherent(values, task.hierarchy, "max")))
    new: Any = sparse.csr_array(sparse.vstack(found))
    sizes = np.zeros(len(tree.feature), dtype=np.int64)
    sizes[nodes] = np.diff(new.indptr)
    return change_tree(
        tree,
        value=new.data,
        value_label=new.indices.astype(tree.value_label.dtype),
        value_indptr=np.concatenate([[0], np.cumsum(sizes)]).astype(indptr.dtype),
    )


@dataclass(frozen=True)
class _Estimates:
    """P(label | parents) of the labels that are learnt, and the rows behind it, for some nodes."""

    labels: NDArray[np.intp]
    shares: NDArray[np.float64]
    n_rows: NDArray[np.float64]

    def at(self, nodes: NDArray[np.intp]) -> _Estimates:
        """Return those of some of the nodes."""
        return _Estimates(self.labels, self.shares[nodes], self.n_rows[nodes])

    def apply(
        self, carried: NDArray[np.float64], weight: NDArray[np.float64], task: Relearning
    ) -> NDArray[np.float64]:
        """Return carried values with those of the labels that are learnt in their place.

        `weight`: the rows behind the carried values.
        """
        values = carried.copy()
        indptr, parents = task.hierarchy.parent_rows
        for k, t in enumerate(self.labels.tolist()):  # parents come before their children
            above = parents[indptr[t] : indptr[t + 1]]
            share = self.shares[:, k]
            if task.carrier.is_known[t]:
                most = np.asarray(carried[:, above].min(axis=1, initial=1.0))
                before = np.divide(carried[:, t], most, out=np.zeros_like(most), where=most > 0)
                n_before, n = weight * most, self.n_rows[:, k] + _PRIOR
                share = (share * n + np.minimum(before, 1.0) * n_before) / (n + n_before)
            values[:, t] = share * values[:, above].min(axis=1, initial=1.0)
        return np.asarray(values)


def _estimate(tree: _core.Tree, task: Relearning, chosen: NDArray[np.intp]) -> _Estimates:
    """Combine the share among the rows of each node with the estimate of its parent."""
    leaves = find_leaves([tree], task.X)[:, 0]
    n_nodes, n = len(tree.feature), len(leaves)
    reached = sparse.csr_array((task.weights, (leaves, np.arange(n))), shape=(n_nodes, n))
    having = _dense(reached @ task.Y[:, chosen])
    possible = _dense(reached @ task.with_parents[:, chosen])
    parent = find_parents(tree)
    for node in range(n_nodes - 1, 0, -1):  # parents come before their children
        having[parent[node]] += having[node]
        possible[parent[node]] += possible[node]
    shares = np.zeros_like(having)
    np.divide(having[0], possible[0], out=shares[0], where=possible[0] > 0)
    for node in range(1, n_nodes):
        shares[node] = (having[node] + _PRIOR * shares[parent[node]]) / (possible[node] + _PRIOR)
    return _Estimates(chosen, shares, possible)


def _dense(matrix: Any) -> NDArray[np.float64]:
    return np.asarray(matrix.toarray(), dtype=np.float64)
