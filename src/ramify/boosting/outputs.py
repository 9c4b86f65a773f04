"""What boosted trees predict: labels, or the label sets of the training rows."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core
from ramify.decision.best_sets import count_ends
from ramify.labels.hierarchy import Hierarchy
from ramify.labels.unknown import UnknownLabels
from ramify.trees.criteria import number_sets

Matrix: TypeAlias = "sparse.csr_array[np.int32]"

# With fewer rows per label set on average, it is better to learn the labels that sets share one by
# one.
_MIN_ROWS_PER_SET = 3


def choose_loss(loss: str, Y: Matrix, hierarchy: Hierarchy, *, single_label: bool) -> str:
    """Return the loss that "auto" stands for, or `loss` itself."""
    if loss != "auto":
        return loss
    sets = None
    if not single_label and has_one_path(Y, hierarchy):
        sets = Y[number_sets(Y)[1]]
    return loss_of_sets(loss, sets, Y.shape[0], single_label=single_label)


def loss_of_sets(loss: str, sets: Matrix | None, n_rows: int, *, single_label: bool) -> str:
    """Return the loss that "auto" stands for, or `loss` itself."""
    if loss != "auto":
        return loss
    if single_label:
        return "softmax"
    enough = sets is not None and n_rows >= _MIN_ROWS_PER_SET * sets.shape[0]
    return "softmax" if enough else "logistic"


def has_one_path(Y: Matrix, hierarchy: Hierarchy) -> bool:
    """Return whether every row has exactly one most specific label and its ancestors."""
    return bool((count_ends(Y, hierarchy) == 1).all())


def find_outputs(loss: str, Y: Matrix) -> tuple[Matrix, Matrix | None]:
    """Return the outputs of each row, and for softmax the label sets that they stand for."""
    if loss == "logistic":
        return Y, None
    of_row, first = number_sets(Y)
    n_rows = Y.shape[0]
    ones = np.ones(n_rows, dtype=np.int32)
    outputs = sparse.csr_array(
        (ones, of_row.astype(np.int32), np.arange(n_rows + 1)), shape=(n_rows, len(first))
    )
    return outputs, sparse.csr_array(Y[first])


def find_start(
    loss: str,
    outputs: Matrix,
    weights: NDArray[np.float64],
    unknown: UnknownLabels | None = None,
) -> NDArray[np.float32]:
    """Return the margins before the first round, one per output."""
    sums = np.asarray(outputs.T @ weights, dtype=np.float64).ravel()
    total: Any = float(weights.sum())
    if unknown is not None:
        total = np.maximum(total - unknown.weights(weights), np.finfo(float).tiny)
    return start_from_sums(loss, sums, total, len(weights))


def start_from_sums(
    loss: str, sums: NDArray[np.float64], total: Any, n_rows: int
) -> NDArray[np.float32]:
    """Return the margins before the first round; `total` may differ between outputs."""
    half_row = 0.5 / n_rows
    shares = sums / total
    if loss == "softmax":
        return np.asarray(np.log(np.maximum(shares, half_row)), dtype=np.float32)
    shares = np.clip(shares, half_row, 1 - half_row)
    return np.asarray(np.log(shares / (1 - shares)), dtype=np.float32)


def weigh_outputs(
    label_weights: NDArray[np.float64], label_sets: Matrix | None
) -> NDArray[np.float64]:
    """Return the weight of each output in the search for tests: the mean over a label set."""
    if label_sets is None:
        return label_weights
    sizes = np.diff(label_sets.indptr)
    totals = np.asarray(label_sets @ label_weights, dtype=np.float64).ravel()
    means = totals / np.maximum(sizes, 1)
    return np.where(sizes > 0, means, label_weights.mean())


def to_probabilities(
    loss: str, margins: NDArray[np.float32], n_threads: int
) -> NDArray[np.float64]:
    """Convert margins to probabilities of the outputs, both of shape (n, n_outputs)."""
    probabilities = np.empty(margins.shape)
    _core.margins_to_probabilities(loss, margins, n_threads, probabilities)
    return probabilities


def label_probabilities(
    probabilities: NDArray[np.float64], label_sets: Matrix
) -> NDArray[np.float64]:
    """Return the probability of each label: the sum over the label sets that contain it.

    Coherent: the sum of a parent has all terms of those of its children, in the same order.
    """
    sets_of_label: Any = label_sets.T.tocsr().astype(np.float64)
    sets_of_label.sort_indices()
    sums = np.asarray(sets_of_label @ probabilities.T).T
    return np.ascontiguousarray(np.minimum(sums, 1.0))
