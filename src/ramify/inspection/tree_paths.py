"""The path of one row through a tree, test by test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ramify._base.tree_models import ModelTree
from ramify.inspection.node_tests import NodeTest
from ramify.inspection.summary import TreeSummary


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

    A test moves the mean value of the leaves below its node to that of those below the branch that
    the row takes. The sum is the margin.
    """
    nodes = _join_nodes(trees)
    values = _mean_values(nodes, len(baseline))
    for value in values[nodes.roots]:
        baseline += value
    steps: list[tuple[int, int]] = []
    reached = nodes.roots
    while (tests := reached[nodes.is_test[reached]]).size:
        reached = nodes.child[tests, _branches(nodes, tests, row)]
        steps += zip(tests.tolist(), reached.tolist(), strict=True)
    if steps:
        before, after = np.array(sorted(steps)).T  # tree by tree, from the root down
        np.add.at(contributions, nodes.feature[before], values[after] - values[before])


@dataclass(frozen=True)
class _BoostedNodes:
    """The nodes of all trees, numbered consecutively; children have larger numbers."""

    roots: NDArray[np.int64]
    is_test: NDArray[np.bool_]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    missing_branch: NDArray[np.int64]
    child: NDArray[np.int64]  # the two branches of tests; 0 in leaves
    share: NDArray[np.float64]  # the parts of the rows in these branches
    first_code: NDArray[np.int64]  # where the codes of a nominal test start in `code_branch`
    n_codes: NDArray[np.int64]  # 0: a numeric test or a leaf
    code_branch: NDArray[np.int32]
    value: NDArray[np.float64]  # all outputs of each leaf


def _join_nodes(models: Sequence[ModelTree]) -> _BoostedNodes:
    trees = [one.tree for one in models]
    feature = np.concatenate([tree.feature for tree in trees])
    is_test = feature >= 0
    sizes = np.array([len(tree.feature) for tree in trees])
    roots = np.cumsum(sizes) - sizes
    children = np.concatenate([tree.child for tree in trees]).reshape(-1, 2)
    child, share = np.zeros((len(feature), 2), dtype=np.int64), np.zeros((len(feature), 2))
    child[is_test] = children + np.repeat(roots, sizes)[is_test, None]
    share[is_test] = np.concatenate([tree.share for tree in trees]).reshape(-1, 2)
    n_codes = np.concatenate([np.diff(tree.category_indptr) for tree in trees])
    return _BoostedNodes(
        roots,
        is_test,
        feature,
        np.concatenate([tree.threshold for tree in trees]),
        np.concatenate([one.missing_branch for one in models if one.missing_branch is not None]),
        child,
        share,
        np.cumsum(n_codes) - n_codes,
        n_codes,
        np.concatenate([tree.category_branch for tree in trees]),
        np.concatenate([tree.value for tree in trees]),
    )


def _mean_values(nodes: _BoostedNodes, n_outputs: int) -> NDArray[np.float64]:
    """Return the values of leaves, and the weighted means of those below other nodes."""
    values = np.empty((len(nodes.feature), n_outputs))
    values[~nodes.is_test] = nodes.value.reshape(-1, n_outputs)
    levels = [nodes.roots]
    while levels[-1].size:
        tests = levels[-1] = levels[-1][nodes.is_test[levels[-1]]]
        levels.append(nodes.child[tests].ravel())
    for tests in reversed(levels):
        first, second = nodes.child[tests].T
        part, rest = nodes.share[tests].T[:, :, None]
        values[tests] = part * values[first] + rest * values[second]
    return values


def _branches(
    nodes: _BoostedNodes, tests: NDArray[np.int64], row: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Return the branches that a row takes at some tests."""
    value, n_codes = row[nodes.feature[tests]], nodes.n_codes[tests]
    branches = np.where(value > nodes.threshold[tests], 0, 1)
    with np.errstate(invalid="ignore"):
        known = np.where(n_codes > 0, (value >= 0) & (value < n_codes), ~np.isnan(value))
    nominal = known & (n_codes > 0)
    codes = nodes.first_code[tests[nominal]] + value[nominal].astype(np.int64)
    branches[nominal] = nodes.code_branch[codes]
    return np.where(known, branches, nodes.missing_branch[tests])


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
