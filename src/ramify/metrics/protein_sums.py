"""Sums over rows and labels at every threshold, without rows × labels matrices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify.metrics.inputs import Truth

Vector: TypeAlias = NDArray[np.float64]

_CELLS_AT_A_TIME = 2_000_000


@dataclass(frozen=True)
class ThresholdSums:
    """Weighted sums over the rows, one entry per threshold.

    Attributes
    ----------
    n : ndarray
        The rows with a prediction.
    predicted, shared : ndarray
        The weights of the predicted and of the correctly predicted labels.
    precision, recall : ndarray
        The precision and recall of the rows.
    true : ndarray
        The weights of the true labels, the same at every threshold.
    """

    n: Vector
    predicted: Vector
    shared: Vector
    precision: Vector
    recall: Vector
    true: Vector


@dataclass(frozen=True)
class Cells:
    """Cells of some rows: their row, counted from 0, and column."""

    row: NDArray[np.int64]
    column: NDArray[np.int32]

    def only(self, keep: NDArray[np.bool_]) -> Cells:
        """Return some of the cells."""
        return Cells(self.row[keep], self.column[keep])


def threshold_sums(
    truth: Truth,
    scores: Any,
    grid: Vector,
    row_weight: Vector,
    label_weights: tuple[Vector, ...],
    *,
    known: Truth | None = None,
) -> list[ThresholdSums]:
    """Sum over blocks of rows, once for every vector of label weights.

    Parameters
    ----------
    truth : csr_array of shape (n, n_labels)
        The true labels.
    scores : csr_array or ndarray of shape (n, n_labels)
        A label is predicted if its score is at least the threshold; scores that are not stored
        are below all thresholds.
    grid : ndarray
        Increasing thresholds.
    row_weight : ndarray of shape (n,)
        The weights of the rows; rows of weight 0 are skipped.
    label_weights : tuple of ndarrays of shape (n_labels,)
        The weights of the labels.
    known : csr_array of shape (n, n_labels), optional
        Cells that are left out.

    Returns
    -------
    list of ThresholdSums
        One for each of `label_weights`.
    """
    totals = [[np.zeros(len(grid)) for _ in range(6)] for _ in label_weights]
    for rows in _blocks(truth.shape[1], len(grid), row_weight):
        block = _Block(rows, truth, scores, grid, known)
        weight = row_weight[rows]
        for sums, label_weight in zip(totals, label_weights, strict=True):
            for total, part in zip(sums, block.sums(label_weight, weight), strict=True):
                np.add(total, part, out=total)
    return [ThresholdSums(*sums) for sums in totals]


def _blocks(n_labels: int, n_thresholds: int, row_weight: Vector) -> Iterator[NDArray[np.intp]]:
    rows = np.flatnonzero(row_weight)
    step = max(1, _CELLS_AT_A_TIME // max(n_labels, 4 * n_thresholds))
    for start in range(0, len(rows), step):
        yield rows[start : start + step]


class _Block:
    """The true and the predicted cells of some rows."""

    def __init__(
        self, rows: NDArray[np.intp], truth: Truth, scores: Any, grid: Vector, known: Truth | None
    ) -> None:
        self.shape = (len(rows), len(grid))
        true = _cells(truth[rows])
        predicted, score = _scored_cells(scores[rows], float(grid[0]))
        kind = np.zeros((len(rows), truth.shape[1]), dtype=np.int8)
        kind[true.row, true.column] = 1
        if known is not None:
            out = _cells(known[rows])
            kind[out.row, out.column] = 2
            true = true.only(kind[true.row, true.column] == 1)
            keep = kind[predicted.row, predicted.column] != 2
            predicted, score = predicted.only(keep), score[keep]
        self.true = true
        self.predicted = predicted
        # A cell is counted at the last threshold that it reaches.
        last = np.searchsorted(grid, score, side="right") - 1
        self.places = predicted.row * self.shape[1] + last
        self.is_true = kind[predicted.row, predicted.column] == 1

    def sums(self, label_weight: Vector, weight: Vector) -> Iterator[Vector]:
        """Yield the weighted sums over the rows, in the order of `ThresholdSums`."""
        cell_weight = label_weight[self.predicted.column]
        predicted = self._from_right(self.places, cell_weight)
        shared = self._from_right(self.places[self.is_true], cell_weight[self.is_true])
        sizes = np.bincount(
            self.true.row, weights=label_weight[self.true.column], minlength=self.shape[0]
        )
        yield weight @ (predicted > 0)
        yield weight @ predicted
        yield weight @ shared
        yield weight @ _share(shared, predicted)
        yield weight @ _share(shared, np.broadcast_to(sizes[:, None], self.shape))
        yield np.full(self.shape[1], weight @ sizes)

    def _from_right(self, places: NDArray[np.int64], weights: Vector) -> Vector:
        """Sum over the cells that reach a threshold, for every row and threshold."""
        flat = np.bincount(places, weights=weights, minlength=self.shape[0] * self.shape[1])
        table: Vector = flat.astype(np.float64, copy=False).reshape(self.shape)
        return np.cumsum(table[:, ::-1], axis=1)[:, ::-1]


def _share(part: Vector, whole: Vector) -> Vector:
    return np.divide(part, whole, out=np.zeros(part.shape), where=whole > 0)


def _cells(matrix: Truth) -> Cells:
    counts = np.diff(matrix.indptr)
    return Cells(np.repeat(np.arange(len(counts), dtype=np.int64), counts), matrix.indices)


def _scored_cells(scores: Any, least: float) -> tuple[Cells, Vector]:
    """Return the cells whose score is at least `least`, and their scores."""
    if sparse.issparse(scores):
        rows: Any = scores
        keep = rows.data >= least
        return _cells(rows).only(keep), rows.data[keep]
    row, column = np.nonzero(scores >= least)
    return Cells(row.astype(np.int64), column.astype(np.int32)), scores[row, column]
