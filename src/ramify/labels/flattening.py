"""Conversion of one level of a hierarchy to flat multi-label data."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ramify._validation import check_number
from ramify.hierarchy.hierarchy import Hierarchy
from ramify.labels.encoding import read_labels

__all__ = ["FlatLevel", "flatten_level"]


class FlatLevel(NamedTuple):
    """The labels of one level, without the hierarchy.

    Attributes
    ----------
    Y : csr_array of int32, shape (n, n_labels)
        Label matrix; rows whose labels are all above the level have none.
    hierarchy : Hierarchy
        The labels of the columns, as a flat hierarchy.
    """

    Y: sparse.csr_array[np.int32]
    hierarchy: Hierarchy


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
    >>> from ramify import flatten_level
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
