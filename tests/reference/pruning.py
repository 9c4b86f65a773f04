"""Pessimistic pruning of the reference trees, recursive and in plain Python."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.stats

from tests.reference.trees import Column, Node

SLACK = 0.1


def upper_errors(n: float, errors: float, confidence: float) -> float:
    """Return the errors at the upper limit of a one-sided interval around the observed rate."""
    none = n * (1 - confidence ** (1 / n))
    if errors < 1e-6:
        return none
    if errors < 1:
        return none + errors * (upper_errors(n, 1.0, confidence) - none)
    if errors + 0.5 >= n:
        return max(n, errors)
    z = scipy.stats.norm.isf(confidence)
    p = (errors + 0.5) / n
    middle = p + z * z / (2 * n)
    spread = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return n * (middle + spread) / (1 + z * z / n)


@dataclass(frozen=True)
class Pruning:
    columns: Sequence[Column]
    Y: np.ndarray
    confidence: float
    exclusive: bool = True  # one class per row; otherwise errors are means over the labels

    def leaf(self, rows: np.ndarray, weights: np.ndarray) -> Node:
        return Node(weights @ self.Y[rows], float(weights.sum()), len(rows))

    def as_leaf(self, rows: np.ndarray, weights: np.ndarray) -> float:
        sums, total = weights @ self.Y[rows], weights.sum()
        if self.exclusive and len(sums) > 1:
            return upper_errors(total, total - sums.max(), self.confidence)
        wrong = [min(one, total - one) for one in sums]
        return upper_errors(total, sum(wrong) / len(wrong), self.confidence)

    def forks(
        self, node: Node, rows: np.ndarray, weights: np.ndarray
    ) -> tuple[list[tuple[np.ndarray, np.ndarray]], tuple[float, ...]]:
        """Return the rows of each branch, and its share of the weight that is not divided."""
        answers = [node.test.branch(x) for x in self.columns[node.test.column].values[rows]]
        known = [
            sum(w for w, a in zip(weights, answers, strict=True) if a == b)
            for b in range(len(node.children))
        ]
        shares = tuple(k / sum(known) for k in known)
        branches = []
        for b, share in enumerate(shares):
            part = np.array([share if a is None else float(a == b) for a in answers])
            branches.append((rows[part > 0], (weights * part)[part > 0]))
        return branches, shares

    def expected(self, node: Node, rows: np.ndarray, weights: np.ndarray) -> float:
        if node.is_leaf:
            return self.as_leaf(rows, weights)
        branches, _ = self.forks(node, rows, weights)
        return sum(
            self.expected(child, *branch)
            for child, branch in zip(node.children, branches, strict=True)
        )

    def prune(self, node: Node, rows: np.ndarray, weights: np.ndarray) -> Node:
        """Return the pruned subtree for these rows."""
        if node.is_leaf:
            return self.leaf(rows, weights)
        branches, shares = self.forks(node, rows, weights)
        children = [
            self.prune(child, *branch)
            for child, branch in zip(node.children, branches, strict=True)
        ]
        whole = self.leaf(rows, weights)
        of_missing = shares if node.test.missing is None else node.shares
        kept = Node(whole.sums, whole.weight, whole.n, node.test, of_missing, children)
        largest = children[int(np.argmax(shares))]
        as_leaf = self.as_leaf(rows, weights)
        as_tree = self.expected(kept, rows, weights)
        as_branch = self.expected(largest, rows, weights)
        if as_leaf <= as_tree + SLACK and as_leaf <= as_branch + SLACK:
            return whole
        if as_branch <= as_tree + SLACK:
            return self.prune(largest, rows, weights)
        return kept
