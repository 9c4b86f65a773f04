"""Counts of true positives and predictions as step functions of the threshold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["Steps", "count_steps", "pool"]


@dataclass(frozen=True)
class Steps:
    """Step functions of a threshold, which change only at the scores.

    Attributes
    ----------
    score : ndarray of shape (k,)
        Distinct scores in decreasing order; the first is infinity, where nothing is predicted.
    value : ndarray of shape (k, m)
        m values for thresholds from the score down to the next one, exclusive.
    """

    score: NDArray[np.float64]
    value: NDArray[np.float64]

    def place(self, threshold: float) -> int:
        """Return the row of `value` for a threshold."""
        return int(np.searchsorted(-self.score, -threshold, side="right")) - 1

    def at(self, threshold: float) -> NDArray[np.float64]:
        """Return the values at a threshold."""
        return np.asarray(self.value[self.place(threshold)])


def count_steps(
    truth: sparse.csr_array[np.int32], scores: NDArray[np.float64], weight: NDArray[np.float64]
) -> list[Steps]:
    """Count true positives and predicted rows for every label and threshold.

    If no score is negative, the threshold 0 is left out: it would predict every label for every
    row, which maximises the F1 of labels with uninformative scores.

    Parameters
    ----------
    truth : csr_array of shape (n, n_labels)
        True labels.
    scores : ndarray of shape (n, n_labels)
        Predicted scores.
    weight : ndarray of shape (n,)
        Sample weights.

    Returns
    -------
    list of Steps
        One per label, with two values: the weight of the true positives and of all predicted rows.

    Examples
    --------
    >>> truth = sparse.csr_array(np.array([[1], [0], [1]], dtype=np.int32))
    >>> steps = count_steps(truth, np.array([[0.9], [0.5], [0.5]]), np.ones(3))[0]
    >>> steps.score, steps.value.tolist()
    (array([inf, 0.9, 0.5]), [[0.0, 0.0], [1.0, 1.0], [2.0, 3.0]])
    """
    columns = sparse.csc_array(truth)
    only_positive = scores.min(initial=0.0) >= 0
    found = []
    for label in range(scores.shape[1]):
        rows = columns.indices[columns.indptr[label] : columns.indptr[label + 1]]
        gain = np.zeros((len(scores), 2))
        gain[:, 1] = weight
        gain[rows, 0] = weight[rows]
        column = scores[:, label]
        counted = column > 0 if only_positive else np.full(len(column), True)
        found.append(_accumulate(column[counted], gain[counted], np.zeros(2)))
    return found


def pool(parts: Sequence[Steps]) -> Steps:
    """Add the step functions of labels that share one threshold.

    Parameters
    ----------
    parts : sequence of Steps
        Step functions with the same number of values.

    Returns
    -------
    Steps
        Their sum.

    Examples
    --------
    >>> first = Steps(np.array([np.inf, 0.7]), np.array([[0.0], [2.0]]))
    >>> second = Steps(np.array([np.inf, 0.9, 0.7]), np.array([[1.0], [5.0], [3.0]]))
    >>> pooled = pool([first, second])
    >>> pooled.score, pooled.value.ravel()
    (array([inf, 0.9, 0.7]), array([1., 5., 5.]))
    """
    if len(parts) == 1:
        return parts[0]
    scores = np.concatenate([part.score[1:] for part in parts])
    gains = np.concatenate([np.diff(part.value, axis=0) for part in parts])
    start = np.sum([part.value[0] for part in parts], axis=0)
    return _accumulate(scores, gains, start)


def _accumulate(
    scores: NDArray[np.float64], gains: NDArray[np.float64], start: NDArray[np.float64]
) -> Steps:
    """Add gains in order of decreasing scores, with one step for equal scores."""
    order = np.argsort(-scores, kind="stable")
    falling = scores[order]
    totals = start + np.cumsum(gains[order], axis=0)
    last = np.append(falling[1:] != falling[:-1], True)[: len(falling)]
    score = np.concatenate([[np.inf], falling[last]])
    return Steps(score, np.concatenate([start[None], totals[last]]))
