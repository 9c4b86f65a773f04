"""The hierarchy of a CLUS run: labels in the order of CLUS, and the label sets of rows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, cmp_to_key
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify.clus.lines import read_small_text
from ramify.hierarchy.hierarchy import Hierarchy
from ramify.io.arff_columns import ArffFile, LabelSets, NamedPlace
from ramify.io.arff_labels import NO_LABELS, LabelReader, read_labels
from ramify.io.limits import ReadLimits

__all__ = ["ClusHierarchy", "LabelFormat", "clus_order"]

Labels = sparse.csr_array


@dataclass(frozen=True)
class LabelFormat:
    """How labels are written: the options of the section Hierarchical.

    Attributes
    ----------
    kind : str or None
        "tree", "dag", or None to guess as CLUS does.
    separator : str
        Separator of paths.
    empty : str
        Marks a row without labels.
    definition : Path or None
        File with the edges of a DAG, separated by commas.
    """

    kind: str | None
    separator: str
    empty: str
    definition: Path | None = None


@dataclass(frozen=True)
class ClusHierarchy:
    """A hierarchy whose labels are in the order of CLUS.

    Attributes
    ----------
    hierarchy : Hierarchy
        The hierarchy in the order of ramify, which learners use.
    order : ndarray of int
        Positions of the labels in `hierarchy`, in the order of CLUS.
    is_dag : bool
        Whether CLUS treats it as a DAG.
    format : LabelFormat
        How labels are written.
    declared : dict of str to list of str
        The parents of each label, both in the order of the header.
    """

    hierarchy: Hierarchy
    order: NDArray[np.int64]
    is_dag: bool
    format: LabelFormat
    declared: dict[str, list[str]]

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The labels in the order of CLUS."""
        names = self.hierarchy.labels
        return tuple(str(names[at]) for at in self.order.tolist())

    @cached_property
    def parents(self) -> list[list[int]]:
        """The parents of each label as positions in the order of CLUS."""
        place = {label: at for at, label in enumerate(self.labels)}
        return [[place[parent] for parent in self.declared[label]] for label in self.labels]

    @cached_property
    def children(self) -> dict[int, list[int]]:
        """The children of each label, and those of the root, which is -1."""
        place = {label: at for at, label in enumerate(self.labels)} | {"": -1}
        found: dict[int, list[int]] = {at: [] for at in place.values()}
        found |= {
            place[parent]: [place[child] for child in children]
            for parent, children in _sorted_children(self.declared, self.separator).items()
        }
        return found

    @cached_property
    def leaves(self) -> list[int]:
        """The labels without children."""
        return [at for at in range(len(self.labels)) if not self.children[at]]

    @property
    def separator(self) -> str | None:
        """Separator of the paths of a tree; None for a DAG."""
        return None if self.is_dag else self.format.separator

    def clus_columns(self, Y: Labels[np.int32]) -> Labels[np.int32]:
        """Return a label matrix with its columns in the order of CLUS."""
        if (self.order == np.arange(len(self.order))).all():
            return Y
        return sparse.csr_array(Y[:, self.order])

    def read(self, file: ArffFile) -> Labels[np.int32]:
        """Return the label matrix of a file, with ancestors, in the order of `hierarchy`."""
        Y, _ = read_labels(_plain(file, self.format), _reader(file, self), self.hierarchy)
        return Y

    def specific(self, members: list[int]) -> list[int]:
        """Return the most specific labels of a set with ancestors, in the order of CLUS."""
        above = {parent for at in members for parent in self.parents[at]}
        return [at for at in sorted(members) if at not in above]

    def label_of(self, name: str) -> str:
        """Return the label that a name means: the end of a path in a DAG, a path without zeros."""
        if self.is_dag:
            return name.rsplit("/", maxsplit=1)[-1]
        segments = name.split(self.format.separator)
        while len(segments) > 1 and segments[-1] == "0":
            segments.pop()
        return self.format.separator.join(segments)

    def last_name(self, at: int) -> str:
        """Return the last segment of a path, or the label of a DAG."""
        label = self.labels[at]
        return label if self.is_dag else label.split(self.format.separator)[-1]

    def walk(self) -> Iterator[tuple[int, int, int]]:
        """Yield (depth, parent, label) from the top; in a DAG, a label below each parent."""
        stack = [(0, -1, at) for at in reversed(self.children[-1])]
        while stack:
            depth, parent, at = stack.pop()
            yield depth, parent, at
            stack.extend((depth + 1, at, child) for child in reversed(self.children[at]))

    @classmethod
    def of_file(cls, file: ArffFile, wanted: LabelFormat) -> ClusHierarchy:
        """Build the hierarchy that the header of the training file declares."""
        declared, source = file.declared_labels or [], file.path
        if wanted.definition is not None:
            declared, source = _read_definition(wanted.definition), str(wanted.definition)
        kind = wanted.kind or _guess(declared or file.label_sets.names, wanted.separator)
        is_dag = kind == "dag"
        wanted = replace(wanted, kind=kind)
        reader = LabelReader(
            source, "/" if is_dag else wanted.separator, kind, not is_dag, ReadLimits()
        )
        if declared:
            hierarchy = reader.declared_hierarchy(declared)
        else:
            hierarchy = reader.used_hierarchy(_plain(file, wanted).label_sets.names)
        names = [name for name, _, _ in declared] or [str(label) for label in hierarchy.labels]
        parents = _declared_parents(hierarchy, names, None if is_dag else wanted.separator)
        order = clus_order(parents, None if is_dag else wanted.separator)
        at = np.array(hierarchy.indices(order), dtype=np.int64)
        return cls(hierarchy, at, is_dag, wanted, parents)


def _reader(file: ArffFile, found: ClusHierarchy) -> LabelReader:
    separator = "/" if found.is_dag else found.format.separator
    return LabelReader(file.path, separator, found.format.kind, not found.is_dag, ReadLimits())


def _plain(file: ArffFile, wanted: LabelFormat) -> ArffFile:
    """Return the file with the mark of rows without labels replaced with the usual one."""
    if wanted.empty == NO_LABELS:
        return file
    sets = file.label_sets
    names = [
        (NO_LABELS, line, column) if name == wanted.empty else (name, line, column)
        for name, line, column in sets.names
    ]
    file.label_sets = LabelSets(sets.indptr, sets.numbers, names)
    return file


def _guess(places: list[NamedPlace], separator: str) -> str:
    deep = any(name.count(separator) >= 2 for name, _, _ in places)
    return "tree" if deep else "dag"


def _read_definition(path: Path) -> list[NamedPlace]:
    lines = read_small_text(path, "a file with the edges of a hierarchy").splitlines()
    return [
        (match[0].strip(), number, match.start() + 1)
        for number, line in enumerate(lines, 1)
        for match in re.finditer(r"[^,\s][^,]*", line)
    ]


def _declared_parents(
    hierarchy: Hierarchy, names: list[str], separator: str | None
) -> dict[str, list[str]]:
    """Return the parents of each label, in the order in which the header names them."""
    found: dict[str, list[str]] = {}
    if separator is None:
        for parent, child in (name.split("/") for name in names if "/" in name):
            found.setdefault(parent, [])
            found.setdefault(child, []).append(parent)
    else:
        for name in names:
            segments = name.split(separator)
            for end in range(1, len(segments) + 1):
                label = separator.join(segments[:end])
                found.setdefault(label, [separator.join(segments[: end - 1])] if end > 1 else [])
    labels = {str(label) for label in hierarchy.labels}
    return {
        label: list(dict.fromkeys(parent for parent in parents if parent in labels))
        for label, parents in found.items()
        if label in labels
    }


def _sorted_children(parents: dict[str, list[str]], separator: str | None) -> dict[str, list[str]]:
    children: dict[str, list[str]] = {"": []}
    for label, above in parents.items():
        for parent in above or [""]:
            children.setdefault(parent, []).append(label)

    def compare(one: str, other: str) -> int:
        a, b = (name.split(separator)[-1] if separator else name for name in (one, other))
        if a.isdecimal() and b.isdecimal():
            return int(a) - int(b)
        return (a > b) - (a < b)

    # This is not a total order ('9' < '10' < '1a' < '9'); CLUS sorts from the order of the header.
    return {parent: sorted(labels, key=cmp_to_key(compare)) for parent, labels in children.items()}


def clus_order(parents: dict[str, list[str]], separator: str | None) -> list[str]:
    """Return the labels in the order of CLUS: depth first, from the top.

    Parameters
    ----------
    parents : dict of str to list of str
        The parents of each label, in the order of the header.
    separator : str or None
        Separator of the paths of a tree; None for a DAG.

    Returns
    -------
    list of str
        The labels.

    Examples
    --------
    >>> clus_order({"b": [], "a": [], "y": ["b"], "x": ["b", "a"]}, None)
    ['a', 'x', 'b', 'y']
    """
    children = _sorted_children(parents, separator)
    order: dict[str, None] = {}
    stack = children[""][::-1]
    while stack:
        label = stack.pop()
        if label not in order:
            order[label] = None
            stack.extend(reversed(children.get(label, [])))
    return list(order)
