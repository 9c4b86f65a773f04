"""Construction of a hierarchy from paths or edges; labels in topological order."""

from __future__ import annotations

import unicodedata
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cmp_to_key
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify._messages import did_you_mean, shorten
from ramify._validation import Label, check_label_name

Rows = tuple[NDArray[np.int64], NDArray[np.int32]]
"""Sparse rows without values: (indptr, indices)."""


@dataclass(frozen=True)
class OrderedGraph:
    """Labels in topological order and, for each, the positions of its parents."""

    labels: tuple[Label, ...]
    parent_rows: Rows


def rows_from_lists(lists: Iterable[Iterable[int]]) -> Rows:
    """Pack lists of positions into sparse rows, each sorted."""
    packed = [sorted(row) for row in lists]
    indptr = np.zeros(len(packed) + 1, dtype=np.int64)
    np.cumsum([len(row) for row in packed], out=indptr[1:])
    indices = np.fromiter((i for row in packed for i in row), np.int32, count=int(indptr[-1]))
    return indptr, indices


def edges_of_paths(paths: Iterable[Any], separator: str) -> dict[Label, list[Label]]:
    """Map every prefix of every path to a list of its parent, empty at the top level."""
    if not isinstance(separator, str) or not separator:
        raise ValueError(
            f"separator must be a non-empty string, got {separator!r}. Pass e.g. separator='/'."
        )
    if isinstance(paths, str):
        raise TypeError(
            f"paths must be a list of paths, got the string {paths!r}. Pass [{paths!r}]."
        )
    parents: dict[Label, list[Label]] = {}
    for path in paths:
        segments = path_segments(path, separator)
        name = separator.join(segments)
        while name not in parents:
            above = name.rpartition(separator)[0]
            parents[name] = [above] if above else []
            name = above or name
    return parents


def path_segments(path: Any, separator: str) -> tuple[str, ...]:
    """Split a path string, or check a path given as a sequence of names.

    >>> path_segments("animal/bird", "/")
    ('animal', 'bird')
    >>> path_segments("animal//bird", "/")
    Traceback (most recent call last):
        ...
    ValueError: path 'animal//bird' has an empty segment. Remove leading, trailing and doubled '/'.
    """
    if isinstance(path, str):
        segments = tuple(path.split(separator))
    elif isinstance(path, Sequence) and all(isinstance(segment, str) for segment in path):
        segments = tuple(path)
        inside = [segment for segment in segments if separator in segment]
        if inside:
            raise ValueError(
                f"path {path!r} has the separator {separator!r} in the name {inside[0]!r}. Choose "
                "a separator that occurs in no name."
            )
    else:
        raise TypeError(
            f"a path must be a string or a sequence of strings, got {path!r}. Pass e.g. "
            f"'animal{separator}bird' or ('animal', 'bird')."
        )
    if not all(segments) or not segments:
        raise ValueError(
            f"path {path!r} has an empty segment. Remove leading, trailing and doubled "
            f"{separator!r}."
        )
    return segments


def parents_of_edges(
    edges: Iterable[Any], root: Hashable = None, tree: bool = False
) -> dict[Label, list[Label]]:
    """Map every label to its parents, in order of appearance, without `root`."""
    parents: dict[Label, list[Label]] = {}
    seen: set[tuple[Label, Label]] = set()
    repeated: dict[tuple[Label, Label], None] = {}
    for position, edge in enumerate(edges):
        parent, child = _checked_edge(edge, position)
        if (parent, child) in seen:
            repeated[parent, child] = None
        seen.add((parent, child))
        if root is not None and child == root:
            raise ValueError(
                f"root must not have a parent, but edge {position} makes {root!r} a child of "
                f"{parent!r}. Reverse the edge or choose another root."
            )
        parents.setdefault(child, [])
        if root is None or parent != root:
            parents.setdefault(parent, [])
            parents[child].append(parent)
    if repeated:
        raise ValueError(
            f"edges must be distinct, got {shorten(repeated)} more than once. Drop duplicates, "
            "e.g. with set(edges)."
        )
    if tree:
        check_tree(parents)
    return parents


def without_root(
    parents: Mapping[Label, Sequence[Label]], root: Hashable
) -> dict[Label, list[Label]]:
    """Remove the virtual root, as a label and as a parent."""
    if root is not None and root not in parents:
        raise ValueError(
            f"root must be one of the labels, got {root!r}.{did_you_mean(root, parents)} Correct "
            "the name or omit root."
        )
    return {
        label: [parent for parent in above if parent != root]
        for label, above in parents.items()
        if label != root
    }


def _checked_edge(edge: Any, position: int) -> tuple[Label, Label]:
    # Any sequence of length 2 except a string: "ab" is not the pair ("a", "b").
    if type(edge) is not tuple and (isinstance(edge, str) or not isinstance(edge, Sequence)):
        raise _edge_error(edge, position)
    if len(edge) != 2:
        raise _edge_error(edge, position)
    parent, child = edge
    # Ontologies have many edges, so non-empty strings skip the full check.
    if type(parent) is not str or not parent:
        parent = check_label_name(parent, f"a label of edge {position}")
    if type(child) is not str or not child:
        child = check_label_name(child, f"a label of edge {position}")
    if parent == child:
        raise ValueError(f"edge {position} makes {child!r} its own parent. Remove it.")
    return parent, child


def _edge_error(edge: Any, position: int) -> ValueError:
    return ValueError(
        f"edge {position} must be a pair (parent, child), got {edge!r}. For path strings, use "
        "Hierarchy.from_paths."
    )


def check_tree(parents: Mapping[Label, Sequence[Label]]) -> None:
    """Raise an error if a label has several parents."""
    for label, above in parents.items():
        if len(above) > 1:
            raise ValueError(
                f"a label must have at most one parent if tree=True, but {label!r} has "
                f"{len(above)}: {shorten(above)}. Use tree=False for a directed acyclic graph, or "
                "use different names under different parents."
            )


def order_graph(
    parents: Mapping[Label, Sequence[Label]], separator: str | None = None
) -> OrderedGraph:
    """Sort labels depth first: siblings by the last segment, each label after its last parent."""
    if not parents:
        raise ValueError("the hierarchy is empty. Pass at least one label other than the root.")
    children: dict[Label, list[Label]] = {label: [] for label in parents}
    for label, above in parents.items():
        for parent in above:
            children[parent].append(label)
    waiting = {label: len(above) for label, above in parents.items()}
    top = [label for label, count in waiting.items() if count == 0]
    stack = sort_siblings(top, separator)[::-1]
    position: dict[Label, int] = {}
    while stack:
        label = stack.pop()
        position[label] = len(position)
        free = []
        for child in children[label]:
            waiting[child] -= 1
            if waiting[child] == 0:
                free.append(child)
        stack.extend(reversed(sort_siblings(free, separator)))
    if len(position) < len(parents):
        _raise_cycle(parents, position)
    rows = rows_from_lists([position[p] for p in parents[label]] for label in position)
    return OrderedGraph(tuple(position), rows)


def sort_siblings(siblings: Sequence[Label], separator: str | None = None) -> list[Label]:
    """Sort by integer value if both names consist of digits, otherwise as strings.

    >>> sort_siblings(["10", "9", "a"])
    ['9', '10', 'a']
    """
    if len(siblings) < 2:
        return list(siblings)
    names = {label: _own_name(label, separator) for label in siblings}
    by_name = sorted(siblings, key=lambda label: names[label])
    n_digits = sum(name.isdecimal() for name in names.values())
    if n_digits == len(names):
        by_name.sort(key=lambda label: _value(names[label]))
    elif n_digits:
        # The rule is not a total order ('9' < '10' < '1a' < '9'). Starting from string order, the
        # result depends only on the names, not on the order of the input.
        compare = cmp_to_key(_compare_names)
        by_name.sort(key=lambda label: compare(names[label]))
    return by_name


def _own_name(label: Label, separator: str | None) -> str:
    name = str(label)
    return name.rpartition(separator)[2] if separator else name


def _value(digits: str) -> tuple[int, str]:
    """Return a key that sorts by value; Python refuses to convert very long numbers."""
    if not digits.isascii():
        digits = "".join(str(unicodedata.decimal(digit)) for digit in digits)
    significant = digits.lstrip("0")
    return len(significant), significant


def _compare_names(a: str, b: str) -> int:
    if a.isdecimal() and b.isdecimal() and _value(a) != _value(b):
        return -1 if _value(a) < _value(b) else 1
    return (a > b) - (a < b)


def _raise_cycle(parents: Mapping[Label, Sequence[Label]], ordered: Mapping[Label, int]) -> None:
    """Find a cycle by following parents, since every remaining label has a remaining parent."""
    label = next(label for label in parents if label not in ordered)
    trail: dict[Label, int] = {}
    while label not in trail:
        trail[label] = len(trail)
        label = next(parent for parent in parents[label] if parent not in ordered)
    cycle = list(trail)[trail[label] :][::-1]
    first = cycle.index(min(cycle, key=str))
    cycle = cycle[first:] + cycle[:first]
    shown = " → ".join(repr(step) for step in [*cycle, cycle[0]])
    raise ValueError(
        f"the hierarchy has a cycle: {shown} (parent → child). Remove one of these edges."
    )
