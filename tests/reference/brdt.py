"""A slow, readable version of the leaf extension of BR-DT, with loops over rows and rules."""

from __future__ import annotations

from typing import Any

import numpy as np

from ramify import PCTClassifier


def read_rules(tree: PCTClassifier) -> list[tuple[dict[int, int], int]]:
    """Return the premise and the conclusion of every leaf of a tree over labels."""
    arrays, found = tree.tree_, []

    def walk(node: int, premise: dict[int, int]) -> None:
        if arrays.feature[node] < 0:
            span = slice(arrays.value_indptr[node], arrays.value_indptr[node + 1])
            found.append((premise, int(sum(arrays.value[span]) >= 0.5)))
            return
        first = arrays.child_indptr[node]
        for branch, value in ((0, 1), (1, 0)):
            literal = {int(arrays.feature[node]): value}
            walk(int(arrays.child[first + branch]), premise | literal)

    walk(0, {})
    return found


def holds(row: Any, literals: dict[int, int]) -> bool:
    """Return whether a row has the given values of labels."""
    return all(row[label] == value for label, value in literals.items())


def accuracy(rules: Any, Y: np.ndarray, label: int, weights: Any = None) -> float:
    """Return the share of rows for which a tree over labels is correct."""
    correct = [
        row[label] == next(value for premise, value in rules if holds(row, premise)) for row in Y
    ]
    return float(np.average(correct, weights=weights))


def extend(
    Y: np.ndarray,
    rules: dict[int, Any],
    leaf_rows: Any,
    label: int,
    *,
    value: int,
    group: Any,
    weights: Any = None,
) -> dict[int, int]:
    """Return the values of all labels of a group in a leaf of the tree of `label`."""
    weights = np.ones(len(Y)) if weights is None else weights
    given, used, source = {label: value}, set(), label
    accuracies = {c: accuracy(rules[c], Y, c, weights) for c in group if c in rules}
    while source is not None and len(given) < len(group):
        used.add(source)
        best, best_score = None, None
        for premise, conclusion in rules.get(source, []):
            if conclusion == given[source]:
                n = sum(
                    weights[r] for r in leaf_rows if holds(Y[r], given) and holds(Y[r], premise)
                )
                anywhere = sum(
                    weight
                    for row, weight in zip(Y, weights, strict=True)
                    if holds(row, premise) and row[source] == conclusion
                )
                score = ((n + 1) / (sum(weights[r] for r in leaf_rows) + 2), anywhere)
                if best is None or score > best_score:
                    best, best_score = premise, score
        for other, literal in (best or {}).items():
            given.setdefault(other, literal)
        left = sorted(c for c in given if c not in used)
        source = max(left, key=lambda c: accuracies.get(c, 0.0)) if left else None
    rows = leaf_rows if len(leaf_rows) else np.arange(len(Y))
    for other in group:
        share = np.average(Y[rows, other], weights=weights[rows])
        given.setdefault(other, int(share >= 0.5))
    return given
