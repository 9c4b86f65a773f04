"""The path of one row through a tree, test by test."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ramify import _core
from ramify._base.tree_models import ModelTree
from ramify.inspection.node_tests import NodeTest
from ramify.inspection.summary import TreeSummary

__all__ = [
    "Step",
    "TreePath",
    "add_moves",
    "follow_row",
    "training_errors",
]


@dataclass(frozen=True)
class Step:
    """One test on a row's path.

    Attributes
    ----------
    node : int
        The node.
    test : NodeTest
        Its test.
    value : float
        The row's value; NaN if missing.
    branch : int
        The branch taken; -1 if the value is missing and the row is split over all branches.
    part : float
        Fraction of the row that reaches the node; less than 1 below a test of a missing value.
    n_samples : int
        Number of training rows that took the same branch.
    change : ndarray of shape (n_labels,)
        Change in the probabilities from the node to the branch.
    probability : ndarray of shape (n_labels,)
        Probabilities after the test.
    """

    node: int
    test: NodeTest
    value: float
    branch: int
    part: float
    n_samples: int
    change: NDArray[np.float64]
    probability: NDArray[np.float64]


@dataclass(frozen=True)
class TreePath:
    """The path of a row through one tree.

    Attributes
    ----------
    tree : str
        The name of the tree.
    n_samples : int
        Number of training rows of the tree.
    steps : tuple of Step
        From the root down; where a value is missing, one branch after the other.
    leaves : tuple of (int, float)
        The leaves that the row reaches, with the fraction of the row that reaches each.
    """

    tree: str
    n_samples: int
    steps: tuple[Step, ...]
    leaves: tuple[tuple[int, float], ...]


def follow_row(tree: TreeSummary, row: NDArray[np.float64]) -> TreePath:
    """Return the path of a row from the root to its leaf, or to several if values are missing."""
    steps = []
    leaves = []
    stack = [(0, 1.0)]
    while stack:
        number, part = stack.pop()
        node = tree.nodes[number]
        if node.test is None:
            leaves.append((number, part))
            continue
        value = float(row[node.test.feature])
        branch = node.test.branch(value)
        before = tree.value(number)
        if branch < 0:
            ways = zip(node.children, node.shares, strict=True)
            stack.extend((child, part * share) for child, share in reversed(list(ways)))
            after, n_samples = before, node.n_samples
        else:
            child = node.children[branch]
            stack.append((child, part))
            after, n_samples = tree.value(child), tree.nodes[child].n_samples
        steps.append(
            Step(number, node.test, value, branch, part, n_samples, after - before, after)
        )
    return TreePath(tree.name, tree.nodes[0].n_samples, tuple(steps), tuple(leaves))


# ---- moves of margins along the path of a row through boosted trees


def add_moves(
    trees: Sequence[ModelTree],
    row: NDArray[np.float64],
    baseline: NDArray[np.float64],
    contributions: NDArray[np.float64],
) -> None:
    """Add the values at the roots to the baseline, and the moves by tests to the contributions.

    A test moves the mean value of the leaves below its node to that of the leaves below the branch
    that the row takes. The sum of the moves and the values at the roots is the margin.
    """
    for one in trees:
        values = _mean_values(one.tree, len(baseline))
        baseline += values[0]
        for feature, node, child in _branches(one, row):
            contributions[feature] += values[child] - values[node]


def _mean_values(tree: _core.Tree, n_outputs: int) -> NDArray[np.float64]:
    """Return the values of leaves, and the weighted means of those below other nodes.

    The leaves of boosted trees have values for all outputs, and their tests two branches.
    """
    is_leaf = tree.feature < 0
    values = np.empty((len(is_leaf), n_outputs))
    values[is_leaf] = tree.value.reshape(-1, n_outputs)
    tests = np.flatnonzero(~is_leaf).tolist()
    branches = zip(
        tests, tree.child.reshape(-1, 2).tolist(), tree.share.reshape(-1, 2).tolist(), strict=True
    )
    for node, (first, second), (part, rest) in reversed(list(branches)):  # children come later
        values[node] = part * values[first] + rest * values[second]
    return values


def _branches(one: ModelTree, row: NDArray[np.float64]) -> Iterator[tuple[int, int, int]]:
    """Yield the feature, the node and the child of every test on the path of a row."""
    tree, missing = one.tree, one.missing_branch
    assert missing is not None  # noqa: S101 (for the type checker)
    features, starts, node = tree.feature, tree.category_indptr, 0
    while features[node] >= 0:
        feature, branch = int(features[node]), int(missing[node])
        value, codes = float(row[feature]), tree.category_branch[starts[node] : starts[node + 1]]
        if len(codes):
            branch = int(codes[int(value)]) if 0 <= value < len(codes) else branch
        elif not np.isnan(value):
            branch = 0 if value > tree.threshold[node] else 1
        child = int(tree.child[tree.child_indptr[node] + branch])
        yield feature, node, child
        node = child


# ---- training errors, from the shares in leaves ---------------------------------------------


def training_errors(tree: TreeSummary) -> dict[str, tuple[float, float]]:
    """Return the training error of a tree, together with that of a tree without tests."""
    if tree.unit != "probability":
        raise ValueError(
            "tree must store label frequencies, got a boosted tree, which has margins."
        )
    leaves = [node.number for node in tree.leaves]
    weights = np.array([tree.nodes[number].weight for number in leaves])
    shares = tree.values[leaves][:, tree.labels].toarray()
    whole = (weights @ shares / weights.sum())[np.newaxis]
    found = _errors(weights, shares)
    default = _errors(weights.sum(keepdims=True), whole)
    return {name: (found[name], default[name]) for name in found}


def _errors(weights: NDArray[np.float64], shares: NDArray[np.float64]) -> dict[str, float]:
    cells = weights.sum() * shares.shape[1]
    predicted = shares >= 0.5
    hits = float((weights @ (shares * predicted)).sum())
    n_pairs = float((weights @ predicted).sum() + (weights @ shares).sum())
    return {
        "hamming_loss": float((weights @ np.minimum(shares, 1 - shares)).sum() / cells),
        "squared_error": float((weights @ (shares * (1 - shares))).sum() / cells),
        "micro_f1": 2 * hits / n_pairs if n_pairs else 0.0,
    }
