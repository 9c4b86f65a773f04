"""Balancing labels: how uneven they are, and weights that make each label even."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from ramify.hierarchy.hierarchy import Hierarchy
from ramify.labels.encoding import read_labels

__all__ = ["balance_score", "balance_weights", "draw_counts"]


def balance_score(y: Any, hierarchy: Hierarchy | None = None) -> float:
    """Return how balanced labels are: the mean of 4 n₀ n₁ / n², 1 if all have half of the rows.

    Parameters
    ----------
    y : array-like
        n label sets in any format of `ramify.labels.read_labels`.
    hierarchy : Hierarchy, optional
        The labels; None infers them as classifiers do.

    Returns
    -------
    float
        From 0, all rows agree on every label, to 1.

    Notes
    -----
    The measure printed with BR-DT, the sum of n₀ n₁ / (n c) over c labels, grows with n; this one
    is the same for any number of rows.

    Examples
    --------
    >>> from ramify import balance_score
    >>> balance_score([["a", "b"], ["b"], ["a"], ["b"]])
    0.875
    """
    Y = read_labels(y, hierarchy).Y
    if Y.shape[0] == 0:
        raise ValueError("y has no rows, whose balance is not known; give at least one.")
    share = np.bincount(Y.indices, minlength=Y.shape[1]) / Y.shape[0]
    return float(np.mean(4 * share * (1 - share)))


def balance_weights(
    y: Any, hierarchy: Hierarchy | None = None, *, random_state: Any = None
) -> NDArray[np.int32]:
    """Return for every label how often each row counts, such that half of the rows have it.

    The side with more rows is sampled without replacement, the other repeated: for each label on
    its own. No row is copied; give a column as `sample_weight`.

    Parameters
    ----------
    y : array-like
        n label sets in any format of `ramify.labels.read_labels`.
    hierarchy : Hierarchy, optional
        The labels; None infers them as classifiers do.
    random_state : int, RandomState instance or None
        Decides which rows.

    Returns
    -------
    ndarray of int32, shape (n, n_labels)
        Every column sums to n; ones where all rows agree on the label.

    Examples
    --------
    >>> from ramify import balance_weights
    >>> weights = balance_weights([["a"], [], [], []], random_state=0)
    >>> weights[0].tolist(), weights[1:].sum().tolist()
    ([2], 2)
    """
    Y: Any = read_labels(y, hierarchy).Y.tocsc()
    random = check_random_state(random_state)
    columns = []
    for label in range(Y.shape[1]):
        has = np.zeros(Y.shape[0], dtype=bool)
        has[Y.indices[Y.indptr[label] : Y.indptr[label + 1]]] = True
        columns.append(draw_counts(has, random))
    return np.stack(columns, axis=1)


def draw_counts(has: NDArray[np.bool_], random: np.random.RandomState) -> NDArray[np.int32]:
    """Return how often each row counts in a sample, of as many rows, that is half with the label.

    Parameters
    ----------
    has : ndarray of bool, shape (n,)
        Which rows have the label.
    random : RandomState
        Draws rows.

    Returns
    -------
    ndarray of int32, shape (n,)
        Counts that sum to n; the rarer side has the smaller half of them. Ones if a side is empty.
    """
    counts = np.ones(len(has), dtype=np.int32)
    sides = sorted([np.flatnonzero(has), np.flatnonzero(~has)], key=len)
    if len(sides[0]) == 0:
        return counts
    half = len(has) // 2
    for rows, wanted in zip(sides, (half, len(has) - half), strict=True):
        each, more = divmod(wanted, len(rows))
        counts[rows] = each
        counts[random.choice(rows, more, replace=False)] += 1
    return counts
