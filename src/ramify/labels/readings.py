"""Nested lists of names: label sets or levels, and how to say which."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify._frames import in_memory
from ramify._validation import is_missing
from ramify.hierarchy.hierarchy import Hierarchy
from ramify.labels.formats import names_by_level

__all__ = ["are_levels", "as_levels", "as_sets", "warn_of_levels"]

_AMBIGUOUS = (
    "y is a nested list whose columns look like the levels of a hierarchy, but its rows are read "
    "as label sets. Pass ramify.as_levels(y) for one path per row and one column per level, or "
    "ramify.as_sets(y) for label sets."
)


def as_levels(y: Any) -> NDArray[np.object_]:
    """Mark nested lists as levels: one path per row, one column per level, as in HiClass.

    Nested lists of names are read as label sets. The result of this function, an array, is read
    as levels wherever ramify takes labels.

    Parameters
    ----------
    y : sequence of sequences of str or numbers, 2-D array, or data frame
        The names on the path to the label of each row, from the top. Rows may have different
        lengths. Numbers become strings; "", None and NaN mean that a path has ended.

    Returns
    -------
    ndarray of object, shape (n, n_levels)
        Strings, with "" after the end of a path.

    See Also
    --------
    as_sets : The other reading of nested lists.
    read_labels : The formats of y.

    Examples
    --------
    >>> from ramify import as_levels, read_labels
    >>> y = [["animal", "mammal"], ["animal", "bird"], ["plant"]]
    >>> as_levels(y)
    array([['animal', 'mammal'],
           ['animal', 'bird'],
           ['plant', '']], dtype=object)
    >>> read_labels(as_levels(y)).hierarchy.labels
    ('animal', 'animal/bird', 'animal/mammal', 'plant')
    """
    rows = [["" if is_missing(name) else str(name) for name in row] for row in _rows(y)]
    width = max((len(row) for row in rows), default=0)
    levels = np.full((len(rows), width), "", dtype=object)
    for i, row in enumerate(rows):
        levels[i, : len(row)] = row
    return levels


def as_sets(y: Any) -> list[set[Any]]:
    """Mark nested lists as label sets: any number of labels per row, without an order.

    Nested lists whose columns look like the levels of a hierarchy are read as label sets with a
    warning. The result of this function is read as label sets without one.

    Parameters
    ----------
    y : sequence of sequences of labels, 2-D array, or data frame
        The labels of each row; "", None and NaN are left out.

    Returns
    -------
    list of set
        One set of labels per row.

    See Also
    --------
    as_levels : The other reading of nested lists.
    read_labels : The formats of y.

    Examples
    --------
    >>> from ramify import as_sets, read_labels
    >>> y = [["red", "small"], ["red", "large"], ["blue", "small"]]
    >>> read_labels(as_sets(y)).hierarchy.labels
    ('blue', 'large', 'red', 'small')
    """
    return [{name for name in row if not _is_padding(name)} for row in _rows(y)]


def _rows(y: Any) -> Iterator[Sequence[Any]]:
    y = in_memory(y, "y")
    rows = y.to_numpy().tolist() if hasattr(y, "to_numpy") else y
    for number, row in enumerate(rows):
        if isinstance(row, str) or not hasattr(row, "__iter__"):
            raise TypeError(
                f"y must have a list of names in every row, got {row!r} in row {number}. Pass "
                "paths such as 'animal/bird' as they are."
            )
        yield row


def are_levels(rows: Sequence[Any], hierarchy: Hierarchy | None) -> bool:
    """Return whether nested lists can only be levels: they are padded, or fit the hierarchy so.

    Parameters
    ----------
    rows : sequence of lists, tuples or arrays
        One or more names per row.
    hierarchy : Hierarchy or None
        The labels, if known.

    Returns
    -------
    bool
        True if a name is not a label, but the path to it is one, or if there is no hierarchy and
        rows of the same length that look like levels end in "", None or NaN.
    """
    if hierarchy is None:
        padded = any(_is_padding(row[-1]) for row in rows if len(row))
        same_width = len({len(row) for row in rows}) == 1
        return padded and same_width and _look_like_levels(rows)
    if hierarchy.depth == 1 or not hierarchy.is_tree:
        return False
    known: set[tuple[str, ...]] | None = None
    for row in rows:
        for k, name in enumerate(row):
            if k and isinstance(name, str) and name and name not in hierarchy:
                known = set(names_by_level(hierarchy)) if known is None else known
                if tuple(row[: k + 1]) in known:
                    return True
    return False


def warn_of_levels(rows: Sequence[Any], stacklevel: int) -> None:
    """Warn if label sets look like levels: every name in one column, and parents with children.

    Parameters
    ----------
    rows : sequence of lists, tuples or arrays
        The label sets.
    stacklevel : int
        As in `warnings.warn`.
    """
    if _look_like_levels(rows):
        warnings.warn(_AMBIGUOUS, UserWarning, stacklevel=stacklevel)


def _look_like_levels(rows: Sequence[Any]) -> bool:
    """Return whether rows look like paths from the top.

    No name occurs at two positions, and a name is followed by different ones in different rows.
    If rows have different lengths, a name must also follow the same name wherever it occurs.
    """
    paths = [[name for name in row if not _is_padding(name)] for row in rows]
    width = max(map(len, paths), default=0)
    plain = (str, int, np.integer)
    if width < 2 or not all(isinstance(name, plain) for path in paths for name in path):
        return False
    columns = [{path[k] for path in paths if len(path) > k} for k in range(width)]
    if sum(map(len, columns)) > len(set().union(*columns)):
        return False
    steps = {step for path in paths for step in pairwise(path)}
    branching = len({above for above, _ in steps}) < len(steps)
    is_forest = len({below for _, below in steps}) == len(steps)
    return branching and (is_forest or len(set(map(len, rows))) == 1)


def _is_padding(name: Any) -> bool:
    return is_missing(name) or (isinstance(name, str) and not name)
