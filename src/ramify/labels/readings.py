"""Nested lists of names: label sets or levels, and how to mark them as either."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
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

    Nested lists of names are read as label sets. The result of this function, an array, is read as
    levels wherever ramify accepts labels.

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
    as_sets : The other interpretation of nested lists.
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
    warning. The result of this function is read as label sets without a warning.

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
    as_levels : The other interpretation of nested lists.
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
    """Return whether nested lists can only be levels: they are padded, or only fit as levels.

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
        return _are_padded(rows) and _look_like_levels(rows)
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
    """Warn if label sets look like paths, one name per level.

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

    In paths, names are followed by different names, or by none, in different rows; unless rows are
    padded, there are few first names. In addition, paths have two of three properties that label
    sets in any order lose within a few rows: all rows have the same length; no name occurs at two
    positions; and wherever a name occurs at a position, it follows the same names, as in a tree.
    """
    paths = [tuple(name for name in row if not _is_padding(name)) for row in rows]
    if max(map(len, paths), default=0) < 2 or not all(_is_name(x) for path in paths for x in path):
        return False
    prefixes = {path[:k] for path in paths for k in range(1, len(path) + 1)}
    places = {(len(prefix), prefix[-1]) for prefix in prefixes}
    same_length = len(set(map(len, rows))) == 1
    one_place = len({name for _, name in places}) == len(places)
    is_tree = len(places) == len(prefixes)
    ends = set(paths)
    n_children = Counter(prefix[:-1] for prefix in prefixes if len(prefix) > 1)
    n_forks = sum(n > 1 for n in n_children.values())
    n_stops = sum(n == 1 and prefix in ends for prefix, n in n_children.items())
    n_tops = len({path[0] for path in paths if path})
    few_tops = 3 * n_tops <= 2 * len(paths) or _are_padded(rows)
    if one_place and (same_length or is_tree):
        return few_tops and (n_forks > 0 or (is_tree and n_stops > 1))
    return same_length and is_tree and n_forks > 1 and 2 * n_tops <= len(paths)


def _are_padded(rows: Sequence[Any]) -> bool:
    same_length = len(set(map(len, rows))) == 1
    return same_length and any(_is_padding(row[-1]) for row in rows if len(row))


def _is_name(value: Any) -> bool:
    """Return whether a value may be the name of one level: not a path, and not a real number."""
    return "/" not in value if isinstance(value, str) else isinstance(value, int | np.integer)


def _is_padding(name: Any) -> bool:
    return is_missing(name) or (isinstance(name, str) and not name)
