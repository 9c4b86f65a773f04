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
            found.append((premise, int(sum(arrays.value[span]) > 0.5)))
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


def best_rule(
    Y: np.ndarray,
    rules: Any,
    leaf_rows: Any,
    source: int,
    *,
    given: dict[int, int],
    weights: np.ndarray,
) -> tuple[dict[int, int], int] | None:
    """Return the best rule for the given value of a label, or for either value if it has none.

    Rules are compared by their Laplace precision in the leaf, then by the weight of all rows for
    which they are correct.
    """
    best, best_score = None, None
    for premise, conclusion in rules:
        if given.get(source, conclusion) != conclusion:
            continue
        literals = {**premise, source: conclusion}
        n = sum(weights[r] for r in leaf_rows if holds(Y[r], given) and holds(Y[r], literals))
        anywhere = sum(weights[r] for r in range(len(Y)) if holds(Y[r], literals))
        score = ((n + 1) / (sum(weights[r] for r in leaf_rows) + 2), anywhere)
        if best is None or score > best_score:
            best, best_score = (premise, conclusion), score
    return best


def extend(
    Y: np.ndarray,
    rules: dict[int, Any],
    leaf_rows: Any,
    label: int,
    *,
    value: int,
    group: Any,
    weights: Any = None,
    next_tree: bool = True,
) -> dict[int, int]:
    """Return the values of all labels of a group in a leaf of the tree of `label`."""
    weights = np.ones(len(Y)) if weights is None else weights
    given, used = {label: value}, set()
    accuracies = {c: accuracy(rules[c], Y, c, weights) for c in group}
    while len(given) < len(group):
        waiting = [c for c in group if c in given and c not in used]
        if not waiting and next_tree:
            waiting = [c for c in group if c not in given]
        if not waiting:
            break
        source = max(sorted(waiting), key=lambda c: accuracies[c])
        used.add(source)
        found = best_rule(Y, rules[source], leaf_rows, source, given=given, weights=weights)
        if found is not None:
            premise, conclusion = found
            given.setdefault(source, conclusion)
            for other, literal in premise.items():
                given.setdefault(other, literal)
    rows = leaf_rows if len(leaf_rows) else np.arange(len(Y))
    for other in group:
        share = np.average(Y[rows, other], weights=weights[rows])
        given.setdefault(other, int(share > 0.5))
    return given
