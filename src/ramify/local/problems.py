"""What each local model learns: its labels, its training rows and which of them are positive."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify._validation import shorten
from ramify.hierarchy.hierarchy import Hierarchy

__all__ = [
    "POLICIES",
    "ROOT",
    "LabelRows",
    "LocalProblem",
    "check_exclusive",
    "children_of",
    "edge_problems",
    "label_problems",
    "level_problems",
    "node_problems",
    "parent_problems",
    "parents_of",
]

ROOT = -1
"""Stands for the root, which is no label, where a label's position is expected."""

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class LocalProblem:
    """One local model to learn.

    Attributes
    ----------
    key : label, tuple or int
        Its name in ``named_estimators_``.
    labels : tuple of int
        Positions of the labels it predicts.
    rows : ndarray of int64
        The training rows, increasing.
    positives : tuple of ndarray of int64
        For each label, those of `rows` that have it, increasing.
    exclusive : bool
        Whether no row has two of the labels: a problem of classes instead of labels.
    complete : bool
        Whether, besides, every row has one of them, so that they are one class variable.
    counts : ndarray of int32, optional
        How often each of `rows` counts, once by default; trees of ours heed it.
    hidden : int, optional
        A feature that the model must not test; trees of ours heed it.
    """

    key: Any
    labels: tuple[int, ...]
    rows: Rows
    positives: tuple[Rows, ...]
    exclusive: bool = False
    complete: bool = False
    counts: NDArray[np.int32] | None = None
    hidden: int | None = None


class LabelRows:
    """The training rows by label.

    Parameters
    ----------
    Y : csr_array of shape (n, n_labels)
        Labels, closed upwards.
    hierarchy : Hierarchy
        The labels of its columns.
    weights : ndarray of shape (n,)
        Rows that weigh nothing do not count.
    """

    def __init__(
        self, Y: sparse.csr_array[np.int32], hierarchy: Hierarchy, weights: NDArray[np.float64]
    ) -> None:
        columns: Any = Y.tocsc()
        columns.sort_indices()
        self.hierarchy = hierarchy
        self.all: Rows = np.flatnonzero(weights > 0)
        self._weights = weights
        self.n_rows = Y.shape[0]
        self._ending: dict[int, Rows] = {}
        rows = columns.indices.astype(np.int64)
        self._by_label = np.split(rows, columns.indptr[1:-1])
        if len(self.all) < self.n_rows:
            self._by_label = [part[weights[part] > 0] for part in self._by_label]

    def of(self, label: int) -> Rows:
        """Return the rows that have a label; all rows have the root."""
        return self.all if label == ROOT else self._by_label[label]

    def shares(self) -> NDArray[np.float64]:
        """Return the share of every label among the rows, by weight."""
        found = np.array([self._weights[part].sum() for part in self._by_label])
        whole = float(self._weights.sum())
        return found / whole if whole > 0 else found

    def mask(self, labels: Iterable[int]) -> NDArray[np.bool_]:
        """Return which rows have any of some labels."""
        found = np.zeros(self.n_rows, dtype=bool)
        for label in labels:
            found[self.of(label)] = True
        return found

    def ending_at(self, label: int) -> Rows:
        """Return the rows for which a label is among the most specific."""
        if label not in self._ending:
            below = self.mask(children_of(self.hierarchy, label))
            having = self.of(label)
            self._ending[label] = having[~below[having]]
        return self._ending[label]


def _row(rows: tuple[NDArray[np.int64], NDArray[np.int32]], label: int) -> list[int]:
    indptr, indices = rows
    found: list[int] = indices[indptr[label] : indptr[label + 1]].tolist()
    return found


def parents_of(hierarchy: Hierarchy, label: int) -> list[int]:
    """Return the positions of a label's parents, the root for a label at the top."""
    return _row(hierarchy.parent_rows, label) or [ROOT]


def children_of(hierarchy: Hierarchy, label: int) -> list[int]:
    """Return the positions of a label's children; the root's are the labels at the top."""
    if label == ROOT:
        top: list[int] = np.flatnonzero(np.diff(hierarchy.parent_rows[0]) == 0).tolist()
        return top
    return _row(hierarchy.child_rows, label)


def _name(hierarchy: Hierarchy, label: int) -> Any:
    return None if label == ROOT else hierarchy.labels[label]


def edge_problems(rows: LabelRows) -> list[LocalProblem]:
    """Return one problem per edge: which of the rows with the parent have the child."""
    names = rows.hierarchy.labels
    return [
        LocalProblem(
            (_name(rows.hierarchy, parent), names[child]),
            (child,),
            rows.of(parent),
            (rows.of(child),),
        )
        for child in range(len(names))
        for parent in parents_of(rows.hierarchy, child)
    ]


def label_problems(rows: LabelRows, labels: Iterable[int]) -> list[LocalProblem]:
    """Return one problem per label on all rows."""
    names = rows.hierarchy.labels
    return [LocalProblem(names[c], (c,), rows.all, (rows.of(c),)) for c in labels]


def parent_problems(rows: LabelRows, exclusive: bool) -> list[LocalProblem]:
    """Return one problem per parent: which children its rows have."""
    hierarchy = rows.hierarchy
    with_children = np.flatnonzero(np.diff(hierarchy.child_rows[0])).tolist()
    problems = []
    for parent in [ROOT, *with_children]:
        children = tuple(children_of(hierarchy, parent))
        positives = tuple(rows.of(c) for c in children)
        name = _name(hierarchy, parent)
        problems.append(LocalProblem(name, children, rows.of(parent), positives, exclusive))
    return problems


def level_problems(rows: LabelRows, exclusive: bool) -> list[LocalProblem]:
    """Return one problem per level, on all rows."""
    problems = []
    for level, names in enumerate(rows.hierarchy.levels):
        labels = tuple(rows.hierarchy.indices(names).tolist())
        positives = tuple(rows.of(c) for c in labels)
        problems.append(LocalProblem(level, labels, rows.all, positives, exclusive))
    return problems


def check_exclusive(problems: list[LocalProblem], rows: LabelRows) -> list[LocalProblem]:
    """Refuse rows with several labels of one problem where a problem is one of classes."""
    for problem in problems:
        if problem.exclusive:
            counts = np.zeros(rows.n_rows, dtype=np.int64)
            for positive in problem.positives:
                counts[positive] += 1
            several = np.flatnonzero(counts > 1)
            if several.size:
                names = [rows.hierarchy.labels[c] for c in problem.labels]
                raise ValueError(
                    f"multilabel is False, but row {several[0]} has {counts[several[0]]} of the "
                    f"labels {shorten(names)}, of which a row may have one. Set multilabel=True."
                )
    return problems


# ---- policies for negatives ----------------------------------------------------------------

# A policy returns masks of the positive and of the negative rows of a label.
Masks = tuple[NDArray[np.bool_], NDArray[np.bool_]]


def _ending_at(rows: LabelRows, labels: Iterable[int]) -> NDArray[np.bool_]:
    """Return the rows with any of some labels among the most specific."""
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
    above = _row(rows.hierarchy.ancestor_rows, label)
    return positive, ~positive & ~_ending_at(rows, above)


def _siblings(rows: LabelRows, label: int) -> Masks:
    positive = rows.mask([label])
    return positive, rows.mask(_siblings_of(rows.hierarchy, label)) & ~positive


def _exclusive_siblings(rows: LabelRows, label: int) -> Masks:
    negative = _ending_if_any(rows, _siblings_of(rows.hierarchy, label))
    return _ending_if_any(rows, [label]), negative & ~rows.mask([label])


def _ending_if_any(rows: LabelRows, labels: Iterable[int]) -> NDArray[np.bool_]:
    """Return the rows that end at some labels; of a label at which none does, all that have it."""
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


def node_problems(rows: LabelRows, policy: str) -> list[LocalProblem]:
    """Return one problem per label, with the rows that a policy chooses."""
    hierarchy = rows.hierarchy
    if policy in _ON_ALL_ROWS:
        return label_problems(rows, range(hierarchy.n_labels))
    counted = rows.mask([ROOT])
    problems = []
    for label, name in enumerate(hierarchy.labels):
        positive, negative = _MASKS[policy](rows, label)
        chosen = np.flatnonzero((positive | negative) & counted)
        found = np.flatnonzero(positive & counted)
        problems.append(LocalProblem(name, (label,), chosen, (found,)))
    return problems
