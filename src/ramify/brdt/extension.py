"""Second step of BR-DT: extend the tree of a label to the labels related to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core
from ramify._base.features import csr_parts

__all__ = ["Extender", "LabelTree", "leaf_decisions"]

Given = dict[int, int]

_TIE = 1e-9  # shares that differ by less are considered equal


@dataclass(frozen=True)
class Rule:
    """A leaf of a tree that predicts a label from other labels: their values imply its value."""

    premise: Given
    conclusion: int


class LabelTree:
    """Rules of the tree that predicts one label from the others.

    Parameters
    ----------
    tree : Tree
        The tree, whose features are labels.
    Y : csr_array of shape (n, n_labels)
        Label matrix of the training rows.
    label : int
        Position of the predicted label.
    weights : ndarray of shape (n,)
        Sample weights.
    """

    def __init__(
        self,
        tree: _core.Tree,
        Y: sparse.csr_array[np.int32],
        label: int,
        weights: NDArray[np.float64],
    ) -> None:
        self.rule_of_row = _leaf_numbers(tree)[tree.apply_csr(*csr_parts(Y))]
        premises = _premises(tree)
        leaves = np.flatnonzero(tree.feature < 0).tolist()
        pairs = zip(leaves, leaf_decisions(tree).tolist(), strict=True)
        self.rules = [Rule(premises[leaf], value) for leaf, value in pairs]
        self.tested = tuple(np.unique(tree.feature[tree.feature >= 0]).tolist())
        truth = np.zeros(Y.shape[0], dtype=np.int64)
        truth[np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))[Y.indices == label]] = 1
        predicted = np.array([rule.conclusion for rule in self.rules])[self.rule_of_row]
        self.accuracy = float(np.average(predicted == truth, weights=weights))
        right = np.bincount(self.rule_of_row, weights * (predicted == truth), len(self.rules))
        # Ties between rules are broken by the weight of all rows for which a rule is correct.
        self.preferred = np.argsort(-right, kind="stable")


class Extender:
    """Extends leaves using the rules of trees that predict labels from other labels.

    Parameters
    ----------
    Y : ndarray of shape (n, n_labels)
        Label matrix of the training rows.
    trees : list of LabelTree
        One tree per label.
    weights : ndarray of shape (n,)
        Sample weights.
    next_tree : bool
        Whether labels that no rule reaches are set by the most accurate of their trees. If not,
        they get the more frequent value in the leaf.
    """

    def __init__(
        self,
        Y: NDArray[Any],
        trees: list[LabelTree],
        weights: NDArray[np.float64],
        *,
        next_tree: bool = True,
    ) -> None:
        arrays = _rule_arrays(Y, trees, weights)
        self._extension = _core.LeafExtension({**arrays, "next_tree": next_tree})

    def extend(
        self,
        rows: NDArray[np.int64],
        bounds: NDArray[np.int64],
        label: int,
        values: NDArray[Any],
        component: Sequence[int],
    ) -> NDArray[np.uint8]:
        """Return the values of all labels of a component in each leaf of a tree.

        Parameters
        ----------
        rows : ndarray of int
            The training rows, grouped by leaf.
        bounds : ndarray of shape (n_leaves + 1,)
            Leaf k has ``rows[bounds[k]:bounds[k + 1]]``.
        label : int
            The label that the tree predicts.
        values : ndarray of shape (n_leaves,)
            Predictions of the leaves, 0 or 1.
        component : sequence of int
            The labels of the component.

        Returns
        -------
        ndarray of shape (n_leaves, n_component)
            The values, 0 or 1.
        """
        found: NDArray[np.uint8] = self._extension.extend(
            bounds.astype(np.int64),
            rows.astype(np.int64),
            label,
            values.astype(np.uint8),
            np.array(component, dtype=np.int32),
        )
        return found.reshape(len(values), len(component))


def _rule_arrays(
    Y: NDArray[Any], trees: list[LabelTree], weights: NDArray[np.float64]
) -> dict[str, Any]:
    """Return the rules of all trees as flat arrays, grouped by label."""
    starts = np.cumsum([0, *(len(tree.rules) for tree in trees)])
    rules = [rule for tree in trees for rule in tree.rules]
    of_row = [
        tree.rule_of_row + start if tree.rules else np.full(len(Y), -1)
        for tree, start in zip(trees, starts[:-1].tolist(), strict=True)
    ]
    preferred = [
        tree.preferred + start for tree, start in zip(trees, starts[:-1].tolist(), strict=True)
    ]
    literals = [literal for rule in rules for literal in rule.premise.items()]
    return {
        "weight": weights.astype(np.float64),
        "has": Y.T.astype(np.uint8).ravel(),
        "rule_of_row": np.concatenate(of_row).astype(np.int32),
        "accuracy": np.array([tree.accuracy for tree in trees]),
        "rule_indptr": starts.astype(np.int64),
        "preferred": np.concatenate(preferred).astype(np.int32),
        "conclusion": np.array([rule.conclusion for rule in rules], dtype=np.uint8),
        "premise_indptr": np.cumsum([0, *(len(rule.premise) for rule in rules)], dtype=np.int64),
        "premise_label": np.array([label for label, _ in literals], dtype=np.int32),
        "premise_value": np.array([value for _, value in literals], dtype=np.uint8),
    }


def _leaf_numbers(tree: _core.Tree) -> NDArray[np.int64]:
    """Return the number of each leaf, counting leaves only."""
    return np.cumsum(tree.feature < 0) - 1


def leaf_decisions(tree: _core.Tree) -> NDArray[np.uint8]:
    """Return the value that each leaf predicts for a tree's only label.

    Parameters
    ----------
    tree : Tree
        A tree of one label.

    Returns
    -------
    ndarray of shape (n_leaves,)
        1 if more than half of the leaf's weight has the label, else 0. J48 also predicts 0 where
        both values are equally frequent, which is the case in every bare leaf grown on a balanced
        sample of an even number of rows.
    """
    shares = np.zeros(len(tree.feature))
    has = np.diff(tree.value_indptr) > 0
    shares[has] = tree.value[tree.value_indptr[:-1][has]]
    return (shares[tree.feature < 0] > 0.5 + _TIE).astype(np.uint8)


def _premises(tree: _core.Tree) -> list[Given]:
    """Return, for each node, the label values that its rows must have."""
    found: list[Given] = [{} for _ in tree.feature]
    for node in np.flatnonzero(tree.feature >= 0).tolist():
        start = int(tree.child_indptr[node])
        for branch in (0, 1):  # branch 0 is "above the threshold": the row has the label
            child = int(tree.child[start + branch])
            found[child] = {**found[node], int(tree.feature[node]): 1 - branch}
    return found
