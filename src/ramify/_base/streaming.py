"""Predictions for many labels: the best labels, sparse probabilities, or some rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from ramify import _core
from ramify._parallel import count_threads
from ramify._validation import check_number
from ramify.data.frames import in_memory
from ramify.data.rows import as_rows, by_rows
from ramify.labels.hierarchy import Hierarchy
from ramify.metrics.inputs import LabelChoice, choose_labels

_CELLS_AT_A_TIME = 2**23  # of a dense block of probabilities, 64 MiB
_MANY_CELLS = 2**18  # from which it takes less time to write only positive probabilities
_ROWS_AT_A_TIME = 2**13  # of blocks without a dense matrix


@dataclass(frozen=True)
class VotingTrees:
    """Trees whose mean is the probability of a label, for answers without a dense matrix."""

    trees: list[_core.Tree]  # the trees
    n_labels: int  # number of labels
    by_node: bool  # whether to combine the branches of a missing value in the order of CLUS
    n_threads: int  # number of threads

    def sparse_scores(self, X: Any, least: float) -> sparse.csr_array[np.float64]:
        """Return the positive scores of at least `least`."""
        options: Any = (self.n_labels, self.by_node, least, self.n_threads)
        return _csr(*_core.sparse_votes(self.trees, as_rows(X), *options), self.n_labels)

    def write_top(
        self,
        X: Any,
        candidates: NDArray[np.int32],
        labels: NDArray[np.int32],
        scores: NDArray[np.float64],
    ) -> None:
        """Write the best candidates of every row and their scores."""
        options: Any = (self.n_labels, self.by_node, candidates, self.n_threads, labels, scores)
        _core.top_votes(self.trees, as_rows(X), *options)


@dataclass(frozen=True)
class Rows:
    """Rows to predict, as the user passed them and as a classifier reads them."""

    given: Any
    X: Any
    n_rows: int

    @classmethod
    def of(cls, given: Any, X: Any) -> Rows:
        """Return rows that can be cut into blocks."""
        same = given is X
        given = by_rows(in_memory(given, "X"))
        return cls(given, given if same else X, _num_samples(X))

    def blocks(self, n_rows: int) -> Iterator[tuple[slice, Any, Any]]:
        """Yield the place of each block of rows, and both forms of the block."""
        for start in range(0, self.n_rows, n_rows):
            rows = slice(start, min(start + n_rows, self.n_rows))
            if n_rows >= self.n_rows:
                yield rows, self.given, self.X
            elif self.given is self.X:
                block = _safe_indexing(self.X, rows)
                yield rows, block, block
            else:
                yield rows, _safe_indexing(self.given, rows), self.X[rows]


class ManyLabelsMixin:
    """Methods of classifiers for answers that would not fit into a dense array.

    A classifier reads X in `_read_rows` and computes probabilities in `_score_given`. If they are
    the mean of trees, `_voting_trees` returns the trees, and no dense matrix is computed.
    """

    hierarchy_: Hierarchy
    classes_: NDArray[Any]

    def _read_rows(self, X: Any) -> tuple[Any, Any]:
        raise NotImplementedError

    def _score_given(self, given: Any, X: Any) -> NDArray[np.float64]:
        raise NotImplementedError

    def _voting_trees(self) -> VotingTrees | None:
        """Return the trees whose mean `predict_proba` returns, or None."""
        return None

    def predict_top(
        self,
        X: Any,
        k: int = 5,
        *,
        labels: LabelChoice = "leaves",
        dtype: DTypeLike = np.float64,
        batch_size: int | None = None,
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Predict the k most probable labels of every row.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows with the same features as in `fit`.
        k : int
            Number of labels per row, at most the number of labels to choose from.
        labels : {"leaves", "all"}, int or sequence of labels
            The labels to choose from; an int is a level, counted from 1 at the top. A label is
            never more probable than its ancestors, so "all" mostly returns the labels at the top.
        dtype : {float64, float32}
            Data type of the probabilities.
        batch_size : int, optional
            Number of rows to predict at a time, which limits the required memory. By default, a
            dense block of probabilities takes 64 MiB. The result does not depend on it.

        Returns
        -------
        labels : ndarray of shape (n, k)
            The labels, the most probable first. Equally probable labels are in the order of
            `classes_`.
        scores : ndarray of shape (n, k)
            Their probabilities, as in `predict_proba`.

        Examples
        --------
        >>> from ramify import PCTClassifier
        >>> X = [[1.0], [2.0], [3.0], [4.0]]
        >>> y = [["animal/cat"], ["animal/cat"], ["animal/dog", "plant"], ["plant"]]
        >>> tree = PCTClassifier(min_samples_leaf=2).fit(X, y)
        >>> labels, scores = tree.predict_top([[3.5]], 2)
        >>> labels, scores
        (array([['plant', 'animal/dog']], dtype='<U10'), array([[1. , 0.5]]))
        """
        kind = _float_type(dtype)
        rows = Rows.of(*self._read_rows(X))
        candidates = choose_labels(labels, self.hierarchy_, self.hierarchy_.n_labels)
        check_number("k", k, 1, len(candidates), whole=True)
        trees = self._voting_trees()
        step = self._rows_per_block(batch_size, dense=trees is None)
        found = np.empty((rows.n_rows, k), dtype=np.int32)
        scores = np.empty((rows.n_rows, k))
        for block, given, part in rows.blocks(step):
            if trees is not None:
                trees.write_top(part, candidates, found[block], scores[block])
            else:
                dense = as_rows(self._score_given(given, part))
                n_threads = count_threads(getattr(self, "n_jobs", None))
                _core.best_labels(dense, candidates, n_threads, found[block], scores[block])
        return self.classes_[found], scores.astype(kind, copy=False)

    def predict_proba_sparse(
        self,
        X: Any,
        *,
        min_proba: float = 0.0,
        dtype: DTypeLike = np.float64,
        batch_size: int | None = None,
    ) -> sparse.csr_array[Any]:
        """Predict probabilities as a sparse matrix, without small ones.

        The measures of `ramify.metrics` that take scores accept the result.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows with the same features as in `fit`.
        min_proba : float
            Smaller probabilities are not stored, and neither are zeros. If 0, the result is equal
            to that of `predict_proba`; trees and forests give most labels a probability of 0,
            whereas other classifiers, such as boosted trees, give no label a probability of 0.
        dtype : {float64, float32}
            Data type of the probabilities. They are compared with `min_proba` before they are
            converted.
        batch_size : int, optional
            Number of rows to predict at a time, which limits the required memory. By default, a
            dense block of probabilities takes 64 MiB. The result does not depend on it.

        Returns
        -------
        csr_array of shape (n, n_labels)
            Probabilities, with columns in the order of `classes_`.

        Examples
        --------
        >>> from ramify import PCTClassifier
        >>> X = [[1.0], [2.0], [3.0], [4.0]]
        >>> y = [["animal/cat"], ["animal/cat"], ["animal/dog", "plant"], ["plant"]]
        >>> tree = PCTClassifier(min_samples_leaf=2).fit(X, y)
        >>> scores = tree.predict_proba_sparse(X, min_proba=0.6)
        >>> scores.nnz, scores.toarray()[-1]
        (6, array([0., 0., 0., 1.]))
        """
        check_number("min_proba", min_proba, 0, 1)
        kind = _float_type(dtype)
        blocks = self._sparse_blocks(X, min_proba, kind, batch_size)
        return _stacked(list(blocks), self.hierarchy_.n_labels)

    def iter_predict_proba(
        self, X: Any, *, dtype: DTypeLike = np.float64, batch_size: int | None = None
    ) -> Iterator[NDArray[Any]]:
        """Predict the probability of every label for some rows at a time.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows with the same features as in `fit`. They are checked before the first block is
            predicted.
        dtype : {float64, float32}
            Data type of the probabilities.
        batch_size : int, optional
            Number of rows in a block. By default, a block takes 64 MiB.

        Returns
        -------
        iterator of ndarrays of shape (batch_size, n_labels)
            The rows of `predict_proba`, in order; the last block may have fewer. They are arrays
            even if `set_output` asks for data frames.

        Examples
        --------
        >>> from ramify import PCTClassifier
        >>> X = [[1.0], [2.0], [3.0], [4.0]]
        >>> y = [["animal/cat"], ["animal/cat"], ["animal/dog", "plant"], ["plant"]]
        >>> tree = PCTClassifier(min_samples_leaf=2).fit(X, y)
        >>> [block.shape for block in tree.iter_predict_proba(X, batch_size=3)]
        [(3, 4), (1, 4)]
        """
        kind = _float_type(dtype)
        rows = Rows.of(*self._read_rows(X))
        step = self._rows_per_block(batch_size)
        return (
            np.asarray(self._score_given(given, part)).astype(kind, copy=False)
            for _, given, part in rows.blocks(step)
        )

    def _scores_to_decide(self, X: Any, *, may_be_sparse: bool) -> Iterator[Any]:
        """Yield probabilities of some rows at a time: sparse if trees vote on many cells."""
        rows = Rows.of(*self._read_rows(X))
        many = rows.n_rows * self.hierarchy_.n_labels >= _MANY_CELLS
        trees = self._voting_trees() if may_be_sparse and many else None
        for _, given, part in rows.blocks(self._rows_per_block(None, dense=trees is None)):
            if trees is not None:
                yield trees.sparse_scores(part, 0.0)
            else:
                yield np.asarray(self._score_given(given, part), dtype=np.float64)

    def _sparse_blocks(
        self, X: Any, min_proba: float, kind: np.dtype[Any], batch_size: int | None
    ) -> Iterator[sparse.csr_array[Any]]:
        """Yield sparse probabilities of some rows at a time."""
        rows = Rows.of(*self._read_rows(X))
        trees = self._voting_trees()
        for _, given, part in rows.blocks(self._rows_per_block(batch_size, dense=trees is None)):
            if trees is not None:
                yield trees.sparse_scores(part, min_proba).astype(kind, copy=False)
            else:
                yield _to_sparse(np.asarray(self._score_given(given, part)), min_proba, kind)

    def _rows_per_block(self, batch_size: int | None, *, dense: bool = True) -> int:
        if batch_size is not None:
            check_number("batch_size", batch_size, 1, whole=True)
            return batch_size
        return max(1, _CELLS_AT_A_TIME // self.hierarchy_.n_labels) if dense else _ROWS_AT_A_TIME


def _float_type(dtype: DTypeLike) -> np.dtype[Any]:
    kind = np.dtype(dtype)
    if kind not in (np.dtype(np.float64), np.dtype(np.float32)):
        raise ValueError(f"dtype must be float64 or float32, got {kind}.")
    return kind


def _to_sparse(
    scores: NDArray[np.float64], min_proba: float, kind: np.dtype[Any]
) -> sparse.csr_array[Any]:
    rows, columns = np.nonzero((scores >= min_proba) & (scores > 0))
    indptr = np.searchsorted(rows, np.arange(len(scores) + 1))
    data = scores[rows, columns].astype(kind, copy=False)
    return _csr(indptr, columns, data, scores.shape[1])


def _csr(
    indptr: NDArray[Any], indices: NDArray[Any], data: NDArray[Any], n_labels: int
) -> sparse.csr_array[Any]:
    """Build a matrix with the small type of indices, unless it has too many cells."""
    kind = np.int32 if len(data) < 2**31 else np.int64
    parts = (data, indices.astype(kind, copy=False), indptr.astype(kind, copy=False))
    return sparse.csr_array(parts, shape=(len(indptr) - 1, n_labels))


def _stacked(blocks: list[sparse.csr_array[Any]], n_labels: int) -> sparse.csr_array[Any]:
    """Stack blocks of rows; each array of the blocks is freed as soon as it is copied."""
    if len(blocks) == 1:
        return blocks[0]
    counts = np.concatenate([np.diff(block.indptr) for block in blocks])
    indptr = np.append(0, np.cumsum(counts, dtype=np.int64))
    data = [block.data for block in blocks]
    indices = [block.indices for block in blocks]
    blocks.clear()
    return _csr(indptr, _joined(indices), _joined(data), n_labels)


def _joined(parts: list[NDArray[Any]]) -> NDArray[Any]:
    whole = np.empty(sum(map(len, parts)), dtype=parts[0].dtype)
    end = len(whole)
    while parts:
        part = parts.pop()
        whole[end - len(part) : end] = part
        end -= len(part)
    return whole
