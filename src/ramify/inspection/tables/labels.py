"""Describe the labels of a table: counts, rare ends, labels with one child, similar ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ramify.inspection.tables.facts import LabelFacts, LabelLine
from ramify.labels.hierarchy import Hierarchy
from ramify.labels.texts import similar_labels

__all__ = ["describe_labels"]

_MOST_LINES = 2_000
_MOST_NAMED = 50
RARE = 5
"""A leaf with fewer rows is rare: cross-validation in five folds cannot test it in each."""


def describe_labels(Y: Any, hierarchy: Hierarchy) -> LabelFacts:
    """Return what the labels of the rows are; `Y` includes ancestors."""
    rows = np.asarray(Y.sum(axis=0)).ravel().astype(int)
    indptr, parents = hierarchy.parent_rows
    ends = _ends(Y, hierarchy)
    leaves = hierarchy.indices(hierarchy.leaves)
    rare = sorted((int(rows[j]), str(hierarchy.labels[j])) for j in leaves if rows[j] < RARE)
    children = np.bincount(parents, minlength=hierarchy.n_labels)
    single = [
        str(hierarchy.labels[j])
        for j in range(hierarchy.n_labels)
        if any(
            children[above] == 1 and rows[above] == rows[j]
            for above in parents[indptr[j] : indptr[j + 1]]
        )
    ]
    separator = hierarchy.separator if hierarchy.depth > 1 else None
    kind = "flat" if hierarchy.depth <= 1 else "tree" if hierarchy.is_tree else "DAG"
    return LabelFacts(
        kind=kind,
        n_labels=hierarchy.n_labels,
        n_leaves=len(leaves),
        levels=[len(level) for level in hierarchy.levels],
        per_row=round(float(rows.sum()) / max(1, Y.shape[0]), 2),
        n_unlabelled=int((np.diff(Y.indptr) == 0).sum()),
        lines=_lines(hierarchy, rows, ends),
        n_rare=len(rare),
        rare=[(name, count) for count, name in rare[:_MOST_NAMED]],
        only_children=single[:_MOST_NAMED],
        similar=[group[:4] for group in similar_labels(hierarchy.labels, separator)[:_MOST_NAMED]],
    )


def _ends(Y: Any, hierarchy: Hierarchy) -> Any:
    """Return the number of rows for which each label is a most specific one."""
    indptr, parents = hierarchy.parent_rows
    n_labels = hierarchy.n_labels
    above = sparse.csr_array((np.ones(len(parents), int), parents, indptr), (n_labels, n_labels))
    covered = sparse.csr_array(Y.astype(int) @ above)
    covered.data[:] = 1
    return np.asarray(Y.sum(axis=0)).ravel() - np.asarray(covered.sum(axis=0)).ravel()


def _lines(hierarchy: Hierarchy, rows: Any, ends: Any) -> list[LabelLine]:
    """Return the outline of the labels with the most rows, each below its first parent."""
    kept = np.argsort(-rows, kind="stable")[:_MOST_LINES]
    chosen = set(kept.tolist())
    below: dict[int, list[int]] = {}
    for j in sorted(chosen, key=lambda j: (-rows[j], str(hierarchy.labels[j]))):
        above = hierarchy.parents(hierarchy.labels[j])
        place = hierarchy.index(above[0]) if above else -1
        below.setdefault(place if place in chosen else -1, []).append(j)
    lines: list[LabelLine] = []
    waiting = [(j, 0) for j in reversed(below.get(-1, []))]
    while waiting:
        j, depth = waiting.pop()
        text = str(hierarchy.labels[j])
        name = text.rsplit(hierarchy.separator, 1)[-1].strip() if depth else text
        lines.append(LabelLine(name or text, depth, int(rows[j]), int(ends[j])))
        waiting += [(child, depth + 1) for child in reversed(below.get(j, []))]
    return lines
