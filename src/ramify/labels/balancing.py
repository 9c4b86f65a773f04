"""Label imbalance: a score, and sample weights that balance each label."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from ramify.hierarchy.hierarchy import Hierarchy
from ramify.labels.encoding import read_labels

__all__ = ["balance_score", "balance_weights", "draw_counts"]


def balance_score(y: Any, hierarchy: Hierarchy | None = None) -> float:
    """Score the balance of labels: the mean of 4 n₀ n₁ / n², where n₁ of n rows have the label.

    Parameters
    ----------
    y : array-like
        n label sets in any format accepted by `ramify.labels.read_labels`.
    hierarchy : Hierarchy, optional
        The label hierarchy. If None, it is inferred from `y`.

    Returns
    -------
    float
        Between 0, if all rows agree on every label, and 1, if half of the rows have each label.

    Notes
    -----
    The measure in the paper on BR-DT (Tanaka et al., 2015, Eq. 2), the sum of n₀ n₁ / (n c) over
    c labels, grows with n; this one does not depend on the number of rows.

    Examples
    --------
    >>> from ramify import balance_score
    >>> balance_score([["a", "b"], ["b"], ["a"], ["b"]])
    0.875
    """
    Y = read_labels(y, hierarchy).Y
    if Y.shape[0] == 0:
        raise ValueError("y has no rows. Pass at least one row.")
    share = np.bincount(Y.indices, minlength=Y.shape[1]) / Y.shape[0]
    return float(np.mean(4 * share * (1 - share)))


def balance_weights(
    y: Any, hierarchy: Hierarchy | None = None, *, random_state: Any = None
) -> NDArray[np.int32]:
    """Return sample weights for each label that balance the rows with and without the label.

    For each label separately, rows of the majority are sampled without replacement and rows of
    the minority are repeated. Pass a column as `sample_weight`.

    Parameters
    ----------
    y : array-like
        n label sets in any format accepted by `ramify.labels.read_labels`.
    hierarchy : Hierarchy, optional
        The label hierarchy. If None, it is inferred from `y`.
    random_state : int, RandomState instance or None
        Seed for the sampling.

    Returns
    -------
    ndarray of int32, shape (n, n_labels)
        Integer weights that sum to n in every column; ones if all rows agree on the label.

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
    """Draw a sample of n rows in which half have the label, and count each row.

    Parameters
    ----------
    has : ndarray of bool, shape (n,)
        Whether each row has the label.
    random : RandomState
        Source of randomness.

    Returns
    -------
    ndarray of int32, shape (n,)
        Counts that sum to n; those of the minority sum to n // 2. Ones if all rows agree.
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
