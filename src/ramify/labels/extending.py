"""Labels that a hierarchy inferred from other rows does not contain."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ramify._validation import Label, UnknownLabelsError
from ramify.hierarchy.building import path_segments, rows_from_lists
from ramify.hierarchy.graph import row_of
from ramify.hierarchy.hierarchy import Hierarchy
from ramify.labels.encoding import read_labels
from ramify.labels.readers import EncodedLabels

__all__ = ["extend_hierarchy", "read_more_labels"]


def read_more_labels(y: Any, hierarchy: Hierarchy) -> EncodedLabels:
    """Read labels like `read_labels`, and append those that the hierarchy lacks to it.

    Parameters
    ----------
    y : array-like
        Labels in any format accepted by `read_labels`.
    hierarchy : Hierarchy
        A hierarchy inferred from other rows.

    Returns
    -------
    EncodedLabels
        The first labels of its hierarchy are those of `hierarchy`.
    """
    try:
        return read_labels(y, hierarchy)
    except UnknownLabelsError as error:
        names = all(isinstance(label, str) for label in hierarchy.labels)
        if any(isinstance(label, str) != names for label in error.labels):
            raise  # numbers in place of strings, or the other way round
        return read_labels(y, extend_hierarchy(hierarchy, error.labels))


def extend_hierarchy(hierarchy: Hierarchy, labels: Iterable[Label]) -> Hierarchy:
    """Append labels to a hierarchy; paths are added below the labels that they start with.

    Parameters
    ----------
    hierarchy : Hierarchy
        The hierarchy, which is not changed.
    labels : iterable of labels
        The labels to add, unless the hierarchy already has them.

    Returns
    -------
    Hierarchy
        A hierarchy that begins with the labels of the given one.

    Examples
    --------
    >>> animals = Hierarchy.from_paths(["bird", "mammal/cat"])
    >>> extend_hierarchy(animals, ["mammal/dog", "fish/pike"]).labels
    ('bird', 'mammal', 'mammal/cat', 'mammal/dog', 'fish', 'fish/pike')
    """
    position = {label: i for i, label in enumerate(hierarchy.labels)}
    parents = [list(row_of(hierarchy.parent_rows, i)) for i in range(hierarchy.n_labels)]
    for label in labels:
        names = [label]
        if isinstance(label, str):
            segments = path_segments(label, hierarchy.separator)
            names = [hierarchy.separator.join(segments[: k + 1]) for k in range(len(segments))]
        above: list[int] = []
        for name in names:
            if name not in position:
                position[name] = len(position)
                parents.append(above)
            above = [position[name]]
    rows = rows_from_lists(parents)
    return Hierarchy(position, rows, hierarchy.separator, hierarchy.aliases)
