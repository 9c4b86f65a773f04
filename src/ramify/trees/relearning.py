"""New leaves for the trees of an old taxonomy: the tests are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core
from ramify._base.relearning import Relearning
from ramify.labels.hierarchy import Hierarchy
from ramify.trees.views import change_tree, find_parents, find_paths

_DENSE_CELLS = 4_000_000


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
    parents that reach the leaf, together with what the old leaf says about the label, if anything,
    which counts like its old rows. If there is neither, the nearest node above it with such rows
    has the share.
    """
    nodes = np.flatnonzero((tree.feature < 0) | (np.diff(tree.value_indptr) > 0))
    parts = tree.value, tree.value_label, tree.value_indptr
    old: Any = sparse.csr_array(parts, shape=(len(tree.feature), task.carrier.n_old))
    carried = task.carrier.carry_sparse(sparse.csr_array(old[nodes]))
    learnt = np.flatnonzero(task.changed)
    same = np.flatnonzero(~task.changed)
    values = Cells.of(carried[:, same], same)
    if learnt.size:
        shares = _Shares(tree, task, learnt)
        before = _conditional(carried, task.hierarchy)
        for level in range(1, task.hierarchy.depth + 1):
            labels = learnt[task.hierarchy.label_levels[learnt] == level]
            if labels.size:
                pairs = _possible(values, labels, task.hierarchy, len(nodes))
                share, n_rows = shares.at(nodes, pairs)
                known = task.carrier.is_known[pairs.labels]
                n_before = np.where(known, tree.weight[nodes[pairs.rows]] * pairs.values, 0.0)
                mixed, total = share * n_rows + before.get(pairs) * n_before, n_rows + n_before
                found = np.divide(mixed, total, out=share, where=total > 0)
                values = values.with_more(Cells(pairs.rows, pairs.labels, found * pairs.values))
    new = task.hierarchy.propagate(values.matrix(len(nodes), task.hierarchy.n_labels))
    sizes = np.zeros(len(tree.feature), dtype=np.int64)
    sizes[nodes] = np.diff(new.indptr)
    return change_tree(
        tree,
        value=new.data,
        value_label=new.indices.astype(tree.value_label.dtype),
        value_indptr=np.concatenate([[0], np.cumsum(sizes)]).astype(tree.value_indptr.dtype),
    )


@dataclass(frozen=True)
class Cells:
    """The cells of a sparse matrix of rows and labels."""

    rows: NDArray[np.int64]
    labels: NDArray[np.int64]
    values: NDArray[np.float64]

    @classmethod
    def of(cls, matrix: Any, labels: NDArray[Any]) -> Cells:
        """Return the cells of a matrix with the columns of some labels."""
        cells = sparse.coo_array(matrix)
        return cls(cells.row.astype(np.int64), labels[cells.col], cells.data)

    def with_more(self, other: Cells) -> Cells:
        """Return all cells of both that are not 0."""
        kept = other.values > 0
        return Cells(
            np.concatenate([self.rows, other.rows[kept]]),
            np.concatenate([self.labels, other.labels[kept]]),
            np.concatenate([self.values, other.values[kept]]),
        )

    def matrix(self, n_rows: int, n_labels: int) -> Any:
        """Return the matrix."""
        return sparse.csr_array((self.values, (self.rows, self.labels)), shape=(n_rows, n_labels))


class _Lookup:
    """Finds cells of a sparse matrix by row and label; others are 0."""

    def __init__(self, matrix: Any) -> None:
        rows = sparse.csr_array(matrix, dtype=np.float64)
        self._dense = rows.toarray() if np.prod(rows.shape) <= _DENSE_CELLS else None
        if self._dense is None:
            rows.sort_indices()
            self._n = np.int64(rows.shape[1])
            row = np.repeat(np.arange(rows.shape[0], dtype=np.int64), np.diff(rows.indptr))
            self._keys = np.append(row * self._n + rows.indices, np.int64(2**62))
            self._values = np.append(rows.data, 0.0)

    def get(self, rows: NDArray[np.int64], labels: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return one cell for each pair of a row and a label."""
        if self._dense is not None:
            return np.asarray(self._dense[rows, labels])
        keys = rows * self._n + labels
        place = np.searchsorted(self._keys, keys)
        return np.where(self._keys[place] == keys, self._values[place], 0.0)


def _possible(values: Cells, labels: NDArray[np.int64], hierarchy: Hierarchy, n: int) -> Cells:
    """Return the cells of labels whose parents are all possible, with P(parents)."""
    indptr, parents = hierarchy.parent_rows
    top = labels[indptr[labels] == indptr[labels + 1]]
    rows = [np.repeat(np.arange(n), len(top))]
    found, least = [np.tile(top, n)], [np.ones(n * len(top))]
    by_label = sparse.csc_array(values.matrix(n, hierarchy.n_labels))
    for t in np.setdiff1d(labels, top).tolist():
        above = parents[indptr[t] : indptr[t + 1]].tolist()
        part = [slice(by_label.indptr[p], by_label.indptr[p + 1]) for p in above]
        own, smallest = by_label.indices[part[0]], by_label.data[part[0]]
        for more in part[1:]:
            own, mine, its = np.intersect1d(own, by_label.indices[more], return_indices=True)
            smallest = np.minimum(smallest[mine], by_label.data[more][its])
        rows.append(own.astype(np.int64))
        found.append(np.full(len(own), t))
        least.append(smallest)
    return Cells(np.concatenate(rows), np.concatenate(found), np.concatenate(least))


@dataclass(frozen=True)
class _Conditional:
    """What leaves say about labels, given their parents."""

    values: _Lookup
    parents: tuple[Any, Any]

    def get(self, pairs: Cells) -> NDArray[np.float64]:
        """Return P(label | parents); 0 if it is not known."""
        indptr, parents = self.parents
        least = np.ones(len(pairs.rows))
        n_parents = np.diff(indptr)[pairs.labels]
        for k in range(int(n_parents.max(initial=0))):
            has = np.flatnonzero(n_parents > k)
            above = parents[indptr[pairs.labels[has]] + k]
            least[has] = np.minimum(least[has], self.values.get(pairs.rows[has], above))
        own = self.values.get(pairs.rows, pairs.labels)
        return np.minimum(np.divide(own, least, out=np.zeros_like(own), where=least > 0), 1.0)


def _conditional(carried: Any, hierarchy: Hierarchy) -> _Conditional:
    return _Conditional(_Lookup(carried), hierarchy.parent_rows)


class _Shares:
    """P(label | parents) among the rows that reach the nodes of a tree."""

    def __init__(self, tree: _core.Tree, task: Relearning, labels: NDArray[np.int64]) -> None:
        paths: Any = find_paths(tree, task.X)
        reached = sparse.csr_array(paths.T, dtype=np.float64) * task.weights
        only = np.zeros(task.hierarchy.n_labels, dtype=np.float64)
        only[labels] = 1.0
        self._having = _Lookup(reached @ (task.Y * only))
        self._possible = _Lookup(reached @ (task.with_parents * only))
        self._parent = find_parents(tree)

    def at(self, nodes: NDArray[np.int64], pairs: Cells) -> tuple[Any, Any]:
        """Return the shares in nodes that rows with the parents reach, or the nearest above.

        Also returns the number of these rows in the nodes themselves.
        """
        node = nodes[pairs.rows]
        n_rows = self._possible.get(node, pairs.labels)
        own, shares = n_rows.copy(), np.zeros_like(n_rows)
        waiting = np.flatnonzero((n_rows == 0) & (node > 0))
        while waiting.size:
            node[waiting] = self._parent[node[waiting]]
            n_rows[waiting] = self._possible.get(node[waiting], pairs.labels[waiting])
            waiting = waiting[(n_rows[waiting] == 0) & (node[waiting] > 0)]
        having = self._having.get(node, pairs.labels)
        np.divide(having, n_rows, out=shares, where=n_rows > 0)
        return shares, own
