"""Local problems: the labels, training rows and positive rows of each local model."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify._messages import shorten
from ramify.labels.graph import row_of
from ramify.labels.hierarchy import Hierarchy
from ramify.labels.unknown import UnknownLabels

ROOT = -1
"""Position that stands for the root, which is not a label."""

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class LocalProblem:
    """The learning problem of one local model."""

    key: Any  # key of the model in ``named_estimators_``
    labels: tuple[int, ...]  # positions of the labels to predict
    rows: Rows  # training rows in increasing order
    # For each label, the training rows that have it, in increasing order.
    positives: tuple[Rows, ...]
    # Whether each row has at most one of the labels, which makes the problem multiclass.
    exclusive: bool = False
    complete: bool = False  # whether, in addition, every row has one of the labels
    # Multiplicity of each training row, 1 by default. Only used by trees of ramify.
    counts: NDArray[np.int32] | None = None
    # A feature that the model must not test. Only used by trees of ramify.
    hidden: int | None = None
    # For each label, the training rows that do not know it; None if all do.
    unknown: tuple[Rows, ...] | None = None

    def without_unknown(self) -> LocalProblem:
        """Return the problem on the rows that know all labels."""
        if self.unknown is None:
            return self
        rows = np.setdiff1d(self.rows, np.concatenate(self.unknown))
        positives = tuple(np.intersect1d(part, rows) for part in self.positives)
        return replace(self, rows=rows, positives=positives, unknown=None)


class LabelRows:
    """The training rows by label; those of weight 0 are ignored, and unknown labels are 0 in Y."""

    def __init__(
        self,
        Y: sparse.csr_array[np.int32],
        hierarchy: Hierarchy,
        weights: NDArray[np.float64],
        unknown: UnknownLabels | None = None,
    ) -> None:
        columns: Any = Y.tocsc()
        columns.sort_indices()
        self.hierarchy = hierarchy
        self.all: Rows = np.flatnonzero(weights > 0)
        self._weights = weights
        self._unknown = unknown
        self.n_rows = Y.shape[0]
        self._ending: dict[int, Rows] = {}
        rows = columns.indices.astype(np.int64)
        self._by_label = np.split(rows, columns.indptr[1:-1])
        if len(self.all) < self.n_rows:
            self._by_label = [part[weights[part] > 0] for part in self._by_label]

    def of(self, label: int) -> Rows:
        """Return the rows that have a label; all rows have the root."""
        return self.all if label == ROOT else self._by_label[label]

    def knowing(self, label: int, rows: Rows) -> Rows:
        """Return those of some rows that know whether they have a label."""
        return rows if self._unknown is None else rows[~self._unknown.rows_of(label)[rows]]

    def joint_problem(
        self, key: Any, labels: tuple[int, ...], rows: Rows, *, exclusive: bool
    ) -> LocalProblem:
        """Return the problem of several labels on some rows, which know at least one of them."""
        positives = tuple(self.of(c) for c in labels)
        if self._unknown is None:
            return LocalProblem(key, labels, rows, positives, exclusive)
        marks = [self._unknown.rows_of(c) for c in labels]
        rows = rows[~np.logical_and.reduce(marks)[rows]]
        unknown = tuple(rows[mark[rows]] for mark in marks)
        found = LocalProblem(key, labels, rows, positives, exclusive, unknown=unknown)
        # Classes are known altogether or not at all.
        return found.without_unknown() if exclusive or len(labels) == 1 else found

    def shares(self) -> NDArray[np.float64]:
        """Return, for each label, the weighted fraction of rows that have it."""
        found = np.array([self._weights[part].sum() for part in self._by_label])
        whole = float(self._weights.sum())
        return found / whole if whole > 0 else found

    def mask(self, labels: Iterable[int]) -> NDArray[np.bool_]:
        """Return a mask of the rows that have at least one of the labels."""
        found = np.zeros(self.n_rows, dtype=bool)
        for label in labels:
            found[self.of(label)] = True
        return found

    def ending_at(self, label: int) -> Rows:
        """Return the rows that have a label and none of its children."""
        if label not in self._ending:
            below = self.mask(children_of(self.hierarchy, label))
            having = self.of(label)
            self._ending[label] = having[~below[having]]
        return self._ending[label]


def parents_of(hierarchy: Hierarchy, label: int) -> list[int]:
    """Return the positions of a label's parents; the parent of top-level labels is the root."""
    return row_of(hierarchy.parent_rows, label) or [ROOT]


def edges_of(hierarchy: Hierarchy) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the parents and the children of all edges, sorted by child, as positions."""
    indptr, parents = hierarchy.parent_rows
    counts = np.diff(indptr)
    children = np.repeat(np.arange(len(counts)), np.maximum(counts, 1))
    found = np.full(len(children), ROOT, dtype=np.int64)
    found[np.repeat(counts > 0, np.maximum(counts, 1))] = parents
    return found, children


def children_of(hierarchy: Hierarchy, label: int) -> list[int]:
    """Return the positions of a label's children; those of the root are the top-level labels."""
    if label == ROOT:
        top: list[int] = np.flatnonzero(np.diff(hierarchy.parent_rows[0]) == 0).tolist()
        return top
    return row_of(hierarchy.child_rows, label)


def _name(hierarchy: Hierarchy, label: int) -> Any:
    return None if label == ROOT else hierarchy.labels[label]


def position_of(hierarchy: Hierarchy, name: Any) -> int:
    """Return the position of a label in the keys of problems; None stands for the root."""
    return ROOT if name is None else hierarchy.index(name)


def edge_problems(rows: LabelRows) -> list[LocalProblem]:
    """Return one problem per edge: which of the rows with the parent have the child."""
    names = rows.hierarchy.labels
    return [
        LocalProblem(
            (_name(rows.hierarchy, parent), names[child]),
            (child,),
            rows.knowing(child, rows.of(parent)),
            (rows.of(child),),
        )
        for child in range(len(names))
        for parent in parents_of(rows.hierarchy, child)
    ]


def label_problems(rows: LabelRows, labels: Iterable[int]) -> list[LocalProblem]:
    """Return one problem per label on all rows."""
    names = rows.hierarchy.labels
    return [LocalProblem(names[c], (c,), rows.knowing(c, rows.all), (rows.of(c),)) for c in labels]


def parent_problems(rows: LabelRows, exclusive: bool) -> list[LocalProblem]:
    """Return one problem per parent: which children its rows have."""
    hierarchy = rows.hierarchy
    with_children = np.flatnonzero(np.diff(hierarchy.child_rows[0])).tolist()
    problems = []
    for parent in [ROOT, *with_children]:
        children = tuple(children_of(hierarchy, parent))
        name = _name(hierarchy, parent)
        problems.append(rows.joint_problem(name, children, rows.of(parent), exclusive=exclusive))
    return problems


def level_problems(rows: LabelRows, exclusive: bool) -> list[LocalProblem]:
    """Return one problem per level, on all rows."""
    problems = []
    for level, names in enumerate(rows.hierarchy.levels):
        labels = tuple(rows.hierarchy.indices(names).tolist())
        problems.append(rows.joint_problem(level, labels, rows.all, exclusive=exclusive))
    return problems


def check_exclusive(problems: list[LocalProblem], rows: LabelRows) -> list[LocalProblem]:
    """Raise an error if a row has several labels of a multiclass problem."""
    for problem in problems:
        if problem.exclusive:
            counts = np.zeros(rows.n_rows, dtype=np.int64)
            for positive in problem.positives:
                counts[positive] += 1
            several = np.flatnonzero(counts > 1)
            if several.size:
                names = [rows.hierarchy.labels[c] for c in problem.labels]
                raise ValueError(
                    "with multilabel=False, each row must have at most one of the labels "
                    f"{shorten(names)}, got {counts[several[0]]} for row {several[0]}. Set "
                    "multilabel=True."
                )
    return problems


# ---- policies for negatives ----------------------------------------------------------------

# A policy returns masks of the positive and the negative rows of a label.
Masks = tuple[NDArray[np.bool_], NDArray[np.bool_]]


def _ending_at(rows: LabelRows, labels: Iterable[int]) -> NDArray[np.bool_]:
    """Return a mask of the rows that end at one of the labels."""
    found = rows.mask([])
    for label in labels:
        found[rows.ending_at(label)] = True
    return found


def _siblings_of(hierarchy: Hierarchy, label: int) -> list[int]:
    families = [children_of(hierarchy, p) for p in parents_of(hierarchy, label)]
    return sorted({child for family in families for child in family} - {label})


def _exclusive(rows: LabelRows, label: int) -> Masks:
    positive = _ending_at(rows, [label])
    return positive, ~positive


def _less_exclusive(rows: LabelRows, label: int) -> Masks:
    return _ending_at(rows, [label]), ~rows.mask([label])


def _inclusive(rows: LabelRows, label: int) -> Masks:
    positive = rows.mask([label])
    hierarchy = rows.hierarchy
    above = hierarchy.indices(hierarchy.ancestors(hierarchy.labels[label])).tolist()
    return positive, ~positive & ~_ending_at(rows, above)


def _siblings(rows: LabelRows, label: int) -> Masks:
    positive = rows.mask([label])
    return positive, rows.mask(_siblings_of(rows.hierarchy, label)) & ~positive


def _exclusive_siblings(rows: LabelRows, label: int) -> Masks:
    negative = _ending_if_any(rows, _siblings_of(rows.hierarchy, label))
    return _ending_if_any(rows, [label]), negative & ~rows.mask([label])


def _ending_if_any(rows: LabelRows, labels: Iterable[int]) -> NDArray[np.bool_]:
    """Return a mask of the rows that end at the labels, or have a label at which no row ends."""
    found = rows.mask([])
    for label in labels:
        ending = rows.ending_at(label)
        found[ending if ending.size else rows.of(label)] = True
    return found


_MASKS: dict[str, Callable[[LabelRows, int], Masks]] = {
    "siblings": _siblings,
    "inclusive": _inclusive,
    "exclusive": _exclusive,
    "less_exclusive": _less_exclusive,
    "exclusive_siblings": _exclusive_siblings,
}
_ON_ALL_ROWS = ("all", "less_inclusive")
POLICIES = (*_MASKS, *_ON_ALL_ROWS)
"""The names of the policies."""

POLICIES_OF_UNKNOWN = ("siblings", *_ON_ALL_ROWS)
"""Those that do not ask where rows end, which is not known if labels are not."""


def node_problems(rows: LabelRows, policy: str) -> list[LocalProblem]:
    """Return one problem per label, with the rows chosen by a policy."""
    hierarchy = rows.hierarchy
    if policy in _ON_ALL_ROWS:
        return label_problems(rows, range(hierarchy.n_labels))
    counted = rows.mask([ROOT])
    problems = []
    for label, name in enumerate(hierarchy.labels):
        positive, negative = _MASKS[policy](rows, label)
        chosen = rows.knowing(label, np.flatnonzero((positive | negative) & counted))
        found = np.flatnonzero(positive & counted)
        problems.append(LocalProblem(name, (label,), chosen, (found,)))
    return problems


def policy_scope(hierarchy: Hierarchy, label: int, policy: str) -> set[int]:
    """Return the labels that decide which rows a policy chooses for a label."""
    if policy in _ON_ALL_ROWS:
        return {label}
    found = {label, *parents_of(hierarchy, label), *children_of(hierarchy, label)}
    if policy == "inclusive":
        above = hierarchy.ancestors(hierarchy.labels[label])
        found.update(hierarchy.indices(above).tolist())
    siblings = _siblings_of(hierarchy, label)
    found.update(siblings)
    if policy == "exclusive_siblings":  # rows that end at a sibling
        found.update(child for one in siblings for child in children_of(hierarchy, one))
    return found
