"""BR-DT's second step: the tree of one label is extended to the labels that are related to it."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core
from ramify._features import csr_parts

__all__ = ["Extender", "LabelTree", "laplace"]

Given = dict[int, int]


def laplace(n_right: float, n_covered: float) -> float:
    """Return the Laplace precision of a rule: (n(B ∧ E) + 1) / (n(B) + 2).

    Examples
    --------
    >>> laplace(8, 10)
    0.75
    """
    return (n_right + 1) / (n_covered + 2)


@dataclass(frozen=True)
class Rule:
    """A leaf of a label's tree over the other labels: if they have these values, so has it."""

    premise: Given
    conclusion: int


class LabelTree:
    """The tree that predicts one label from the others, as rules.

    Parameters
    ----------
    tree : Tree or None
        Features are labels; None for a label on which all rows agree.
    Y : csr_array of shape (n, n_labels)
        The labels of the training rows.
    label : int
        Which it predicts.
    weights : ndarray of shape (n,)
        What the rows count.
    """

    def __init__(
        self,
        tree: _core.Tree | None,
        Y: sparse.csr_array[np.int32],
        label: int,
        weights: NDArray[np.float64],
    ) -> None:
        self.rules: list[Rule] = []
        self.rule_of_row = np.zeros(Y.shape[0], dtype=np.int64)
        self.accuracy = 0.0
        self.tested: tuple[int, ...] = ()
        self.preferred: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        if tree is None:
            return
        numbers = _leaf_numbers(tree)
        self.rule_of_row = numbers[tree.apply_csr(*csr_parts(Y))]
        premises = _premises(tree)
        values = _leaf_values(tree)
        for leaf in np.flatnonzero(tree.feature < 0).tolist():
            self.rules.append(Rule(premises[leaf], int(values[leaf] >= 0.5)))
        self.tested = tuple(np.unique(tree.feature[tree.feature >= 0]).tolist())
        truth = np.zeros(Y.shape[0], dtype=np.int64)
        truth[np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))[Y.indices == label]] = 1
        predicted = np.array([rule.conclusion for rule in self.rules])[self.rule_of_row]
        self.accuracy = float(np.average(predicted == truth, weights=weights))
        right = np.bincount(self.rule_of_row, weights * (predicted == truth), len(self.rules))
        # Among rules that are equally good in a leaf, the one that holds for more rows elsewhere.
        self.preferred = np.argsort(-right, kind="stable")

    def preferred_for(self, value: int) -> NDArray[np.int64]:
        """Return the numbers of the rules that conclude a value, the preferred ones first."""
        conclusions = np.array([rule.conclusion for rule in self.rules], dtype=np.int64)
        chosen: NDArray[np.int64] = self.preferred[conclusions[self.preferred] == value]
        return chosen


class Extender:
    """Extends leaves by the rules of the trees over labels.

    Parameters
    ----------
    Y : ndarray of shape (n, n_labels)
        The labels of the training rows, 0 and 1.
    trees : list of LabelTree
        One for each label.
    weights : ndarray of shape (n,)
        What the rows count.
    """

    def __init__(
        self, Y: NDArray[np.int8], trees: list[LabelTree], weights: NDArray[np.float64]
    ) -> None:
        self.Y = Y
        self.trees = trees
        self.weights = weights
        self._preferred = [(tree.preferred_for(0), tree.preferred_for(1)) for tree in trees]

    def extend(
        self, rows: NDArray[np.int64], label: int, value: int, component: frozenset[int]
    ) -> Given:
        """Return a value for every label of a component, for a leaf that predicts one of them.

        Parameters
        ----------
        rows : ndarray of int
            The training rows of the leaf.
        label : int
            The label that the leaf predicts.
        value : int
            What it predicts, 0 or 1.
        component : frozenset of int
            The labels to give values.

        Returns
        -------
        dict of int to int
            0 or 1 for each of them.
        """
        given: Given = {label: value}
        # Rows that have all that is given: those for which the rule so far is right.
        right = rows[self.Y[rows, label] == value]
        # Next comes the most accurate tree, the first of several by the order of the labels.
        sources = [(0.0, label)]
        while sources and len(given) < len(component):
            source = heappop(sources)[1]
            premise = self._best_premise(source, given[source], right)
            for other, literal in premise.items():
                if other not in given:
                    given[other] = literal
                    heappush(sources, (-self.trees[other].accuracy, other))
                    if right.size:
                        right = right[self.Y[right, other] == literal]
        for other in component - given.keys():
            given[other] = self._majority(rows, other)
        return given

    def _best_premise(self, source: int, value: int, right: NDArray[np.int64]) -> Given:
        """Return the premise for a label's value that makes the best rule of the leaf."""
        tree = self.trees[source]
        order = self._preferred[source][value]
        if order.size == 0:
            return {}
        best = order[0]
        if right.size and order.size > 1:
            # n(B) is the same for all, so that the largest count has the best Laplace precision.
            counts = np.bincount(
                tree.rule_of_row[right], self.weights[right], minlength=len(tree.rules)
            )
            best = order[counts[order].argmax()]
        return tree.rules[int(best)].premise

    def _majority(self, rows: NDArray[np.int64], label: int) -> int:
        """Return the commoner value of a label in a leaf; of all rows if the leaf has none."""
        weights = self.weights[rows]
        if weights.sum() == 0:
            rows, weights = np.arange(len(self.Y)), self.weights
        return int(np.average(self.Y[rows, label], weights=weights) >= 0.5)


def _leaf_numbers(tree: _core.Tree) -> NDArray[np.int64]:
    """Return each leaf's place among the leaves."""
    return np.cumsum(tree.feature < 0) - 1


def _leaf_values(tree: _core.Tree) -> NDArray[np.float64]:
    """Return the share of a tree's only label, per node."""
    values = np.zeros(len(tree.feature))
    has = np.diff(tree.value_indptr) > 0
    values[has] = tree.value[tree.value_indptr[:-1][has]]
    return values


def _premises(tree: _core.Tree) -> list[Given]:
    """Return what each node's tests ask of its rows: labels that are 0 or 1."""
    found: list[Given] = [{} for _ in tree.feature]
    for node in np.flatnonzero(tree.feature >= 0).tolist():
        start = int(tree.child_indptr[node])
        for branch in (0, 1):  # branch 0 is "above the threshold": the row has the label
            child = int(tree.child[start + branch])
            found[child] = {**found[node], int(tree.feature[node]): 1 - branch}
    return found
