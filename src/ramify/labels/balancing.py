"""Weights that balance groups of labels, and hierarchies without some of their levels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state

from ramify._validation import check_number
from ramify.labels.encoding import read_labels
from ramify.labels.hierarchy import Hierarchy


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
    >>> from ramify.labels import balance_score
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
    >>> from ramify.labels import balance_weights
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
    """Draw a sample of n rows in which half have the label, and count each row."""
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


# ---- one level as flat labels ---------------------------------------------------------------


class FlatLevel(NamedTuple):
    """The labels of one level, without the hierarchy."""

    # Label matrix; rows whose labels are all above the level have none.
    Y: sparse.csr_array[np.int32]
    hierarchy: Hierarchy  # the labels of the columns, as a flat hierarchy


def flatten_level(
    y: Any, hierarchy: Hierarchy | None = None, level: int = 1, *, keep_unused: bool = False
) -> FlatLevel:
    """Convert one level of a hierarchy to flat multi-label data.

    Parameters
    ----------
    y : array-like
        n label sets in any format accepted by `ramify.labels.read_labels`.
    hierarchy : Hierarchy, optional
        The label hierarchy. If None, it is inferred from `y`.
    level : int
        The level, 1 at the top. In a DAG, the level of a label is the length of its longest path.
    keep_unused : bool
        Whether to keep labels without rows as columns.

    Returns
    -------
    FlatLevel
        ``Y`` and a flat ``hierarchy``, ready for any classifier.

    Examples
    --------
    >>> from ramify.labels import flatten_level
    >>> y = ["animal/cat", "animal/dog", "plant"]
    >>> Y, labels = flatten_level(y, level=2)
    >>> labels.labels
    ('animal/cat', 'animal/dog')
    >>> Y.toarray()
    array([[1, 0],
           [0, 1],
           [0, 0]], dtype=int32)
    """
    encoded = read_labels(y, hierarchy)
    check_number("level", level, 1, encoded.hierarchy.depth, whole=True)
    names = np.array(encoded.hierarchy.levels[level - 1], dtype=object)
    columns: Any = encoded.Y.tocsc()[:, encoded.hierarchy.indices(names.tolist())]
    used = np.flatnonzero(np.diff(columns.indptr))
    if not keep_unused:
        if used.size == 0:
            raise ValueError(
                f"level must be a level at which rows have labels, got {level}. Choose a smaller "
                "level or use keep_unused=True."
            )
        columns, names = columns[:, used], names[used]
    Y: sparse.csr_array[np.int32] = columns.tocsr()
    Y.sort_indices()
    return FlatLevel(Y, Hierarchy.from_labels(names.tolist()))
