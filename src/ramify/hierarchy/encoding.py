"""Labels as numbers: matrices closed upwards, and the weight and cost of every label."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core
from ramify._validation import (
    Label,
    check_label_matrix,
    check_label_name,
    unknown_labels_error,
)
from ramify.hierarchy.building import Rows
from ramify.hierarchy.graph import LabelGraph

# How to reduce the weights of several parents; the average is their sum, divided later.
_COMBINE = {"avg": np.add, "sum": np.add, "min": np.minimum, "max": np.maximum}


class EncodedGraph(LabelGraph):
    """A label graph that turns label sets into matrices and back."""

    def encode(self, label_sets: Iterable[Any]) -> sparse.csr_array[np.int32]:
        """Turn label sets into a label matrix that is closed upwards.

        Parameters
        ----------
        label_sets : iterable of iterables of labels
            One set per row, possibly empty. A string or number in place of a set is a set of
            one label.

        Returns
        -------
        csr_array of int32, shape (n, n_labels)
            1 where the row has the label or a descendant of it; sorted indices.

        Examples
        --------
        >>> from ramify import Hierarchy
        >>> Hierarchy.from_paths(["a/b", "c"]).encode([["a/b"], [], "c"]).toarray()
        array([[1, 1, 0],
               [0, 0, 0],
               [0, 0, 1]], dtype=int32)
        """
        if isinstance(label_sets, str):
            raise TypeError(
                f"label_sets is the single string {label_sets!r}. Give one set per row: "
                f"[[{label_sets!r}]]."
            )
        rows = [(row,) if np.isscalar(row) or row is None else tuple(row) for row in label_sets]
        indptr = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum(np.fromiter(map(len, rows), np.int64, count=len(rows)), out=indptr[1:])
        lookup = self._lookup.__getitem__
        try:
            indices = np.fromiter(
                map(lookup, chain.from_iterable(rows)), np.int32, count=int(indptr[-1])
            )
        except (KeyError, TypeError):
            raise self._encoding_error(rows) from None
        return self._closed(indptr, indices)

    def _encoding_error(self, rows: Sequence[tuple[Any, ...]]) -> Exception:
        """Find out, slowly, what was wrong with label sets."""
        unknown = []
        for i, row in enumerate(rows):
            for label in row:
                try:
                    check_label_name(label, f"a label of row {i}", (str, int, float))
                except (TypeError, ValueError) as error:
                    return error
                if label not in self._lookup:
                    unknown.append(label)
        return unknown_labels_error(unknown, self.labels)

    def close(self, Y: Any) -> sparse.csr_array[np.int32]:
        """Add to every row of a label matrix the ancestors of its labels.

        Parameters
        ----------
        Y : array-like or sparse matrix of shape (n, n_labels)
            Zeros and ones, columns in the order of `labels`.

        Returns
        -------
        csr_array of int32, shape (n, n_labels)
            The closed matrix.

        Examples
        --------
        >>> from ramify import Hierarchy
        >>> Hierarchy.from_paths(["a/b", "c"]).close([[0, 1, 0]]).toarray()
        array([[1, 1, 0]], dtype=int32)
        """
        matrix = check_label_matrix(Y, self.labels)
        return self._closed(*_kernel_rows(matrix))

    def _closed(
        self, indptr: NDArray[np.int64], indices: NDArray[np.int32]
    ) -> sparse.csr_array[np.int32]:
        indptr, indices = _core.close_upwards(indptr, indices, *self.ancestor_rows)
        shape = (len(indptr) - 1, self.n_labels)
        # scipy widens both index arrays to the wider type; half the memory where 32 bits do.
        if len(indices) <= np.iinfo(np.int32).max:
            indptr = indptr.astype(np.int32)
        return sparse.csr_array((np.ones(len(indices), np.int32), indices, indptr), shape=shape)

    def decode(self, Y: Any, most_specific: bool = True) -> list[tuple[Label, ...]]:
        """Turn a label matrix into label sets.

        Parameters
        ----------
        Y : array-like or sparse matrix of shape (n, n_labels)
            Zeros and ones, columns in the order of `labels`.
        most_specific : bool
            Leave out labels that a descendant in the same row implies.

        Returns
        -------
        list of tuples of labels
            One tuple per row, in the order of `labels`.

        Examples
        --------
        >>> from ramify import Hierarchy
        >>> hierarchy = Hierarchy.from_paths(["a/b", "c"])
        >>> hierarchy.decode([[1, 1, 0], [1, 0, 1]])
        [('a/b',), ('a', 'c')]
        >>> hierarchy.decode([[1, 1, 0]], most_specific=False)
        [('a', 'a/b')]
        """
        indptr, indices = _kernel_rows(check_label_matrix(Y, self.labels))
        if most_specific:
            indptr, indices = _core.most_specific(indptr, indices, *self.ancestor_rows)
        labels = self.labels
        names = [labels[i] for i in indices.tolist()]
        bounds = indptr.tolist()
        return [tuple(names[a:b]) for a, b in pairwise(bounds)]

    def weights(self, w0: float = 0.75, combine: str = "avg") -> NDArray[np.float64]:
        """Return the weight of every label: w0 times that of its parents; the root has 1.

        Parameters
        ----------
        w0 : float
            The factor from a level to the next; 1 gives all labels the same weight.
        combine : {"avg", "sum", "min", "max"}
            How the weights of several parents become one. All are equal in a tree.

        Returns
        -------
        ndarray of shape (n_labels,)
            w0 for top-level labels, w0² below them, and so on in a tree.

        Examples
        --------
        >>> from ramify import Hierarchy
        >>> Hierarchy.from_paths(["a/b"]).weights(w0=0.5)
        array([0.5 , 0.25])
        """
        if not np.isscalar(w0) or isinstance(w0, str) or not 0 < w0 < np.inf:
            raise ValueError(f"w0 is {w0!r}, but it must be a positive number, e.g. 0.75.")
        if combine not in _COMBINE:
            raise ValueError(f"combine is {combine!r}, but it must be one of {list(_COMBINE)}.")
        indptr, indices = self.parent_rows
        children = np.flatnonzero(np.diff(indptr))
        weights = np.full(self.n_labels, float(w0))
        # A label is right once its parents are: after as many rounds as there are levels.
        for _ in range(self.depth - 1):
            above = _COMBINE[combine].reduceat(weights[indices], indptr[children])
            if combine == "avg":
                above /= np.diff(indptr)[children]
            weights[children] = w0 * above
        return weights

    def costs(self) -> NDArray[np.float64]:
        """Return the cost of every label: its parent's, shared among the siblings.

        The root has cost 1; a label of a DAG sums what each of its parents hands down.

        Returns
        -------
        ndarray of shape (n_labels,)
            The costs; in a tree those of a parent's children sum to the parent's.

        Examples
        --------
        >>> from ramify import Hierarchy
        >>> Hierarchy.from_paths(["a/b", "a/c", "d"]).costs()
        array([0.5 , 0.25, 0.25, 0.5 ])
        """
        indptr, indices = (rows.tolist() for rows in self.parent_rows)
        n_children = np.diff(self.child_rows[0]).tolist()
        n_top = sum(start == stop for start, stop in pairwise(indptr))
        costs: list[float] = []
        for start, stop in pairwise(indptr):
            shares = [costs[p] / n_children[p] for p in indices[start:stop]]
            costs.append(sum(shares) if shares else 1.0 / n_top)
        return np.array(costs, dtype=np.float64)


def _kernel_rows(matrix: sparse.csr_array[np.int32]) -> Rows:
    """Give the core the index types it reads; scipy chooses its own."""
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
