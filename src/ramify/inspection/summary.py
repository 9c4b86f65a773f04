"""Summarise a model as trees with feature names and labels, for all other views."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from ramify import _core
from ramify.boosting.classifier import PCTGradientBoostingClassifier
from ramify.inspection.boosted import boosted_trees, output_names
from ramify.inspection.node_tests import FeatureNames, NodeTest, read_feature_names, read_tests
from ramify.labels.hierarchy import Hierarchy
from ramify.local.base import LocalClassifier
from ramify.trees.classifier import PCTClassifier
from ramify.trees.ensemble import PCTEnsemble

__all__ = ["ModelSummary", "NodeSummary", "TreeSummary", "summarise"]


@dataclass(frozen=True)
class NodeSummary:
    """One node of a tree.

    Attributes
    ----------
    number : int
        Number of the node. The root is 0, and children have larger numbers than their parent.
    parent, branch : int
        The parent and the branch that leads to the node; -1 for the root.
    depth : int
        Number of tests above the node.
    n_samples : int
        Number of training rows that reached the node, completely or in part.
    weight : float
        Total weight of these rows.
    n_unknown : int
        Number of these rows whose value for the test is missing. They are divided among all
        branches.
    impurity, gain : float
        Impurity of the labels, and the reduction of the impurity by the test.
    test : NodeTest or None
        The test of the node; None for a leaf.
    children : tuple of int
        The child nodes, one per branch.
    shares : tuple of float
        The fraction of the weight in each branch. A row with a missing value is divided in the
        same proportions.
    """

    number: int
    parent: int
    branch: int
    depth: int
    n_samples: int
    weight: float
    n_unknown: int
    impurity: float
    gain: float
    test: NodeTest | None
    children: tuple[int, ...]
    shares: tuple[float, ...]

    @property
    def is_leaf(self) -> bool:
        """Whether the node is a leaf."""
        return self.test is None


@dataclass(frozen=True)
class TreeSummary:
    """One tree with the names of its features and labels.

    Attributes
    ----------
    name : str
        Name of the tree; empty if the model has only one tree.
    tree : ramify._core.Tree
        The flat arrays.
    labels : ndarray of int
        Positions in the hierarchy of the labels that the tree predicts.
    hierarchy : Hierarchy
        All labels of the model.
    features : FeatureNames
        Names of features and categories.
    missing_branch : ndarray of int, optional
        The branch that missing values take in each node. None if they are divided among all
        branches.
    unit : {"probability", "margin", "value"}
        What the values of the leaves are. Boosted trees add their values to the margins of the
        labels; the values of regression trees are means of targets.
    """

    name: str
    tree: _core.Tree
    labels: NDArray[np.int64]
    hierarchy: Hierarchy
    features: FeatureNames
    missing_branch: NDArray[np.int64] | None = None
    unit: str = "probability"

    @cached_property
    def nodes(self) -> tuple[NodeSummary, ...]:
        """The nodes by number."""
        return tuple(_read_nodes(self.tree, self.features, self.missing_branch))

    @property
    def leaves(self) -> Iterator[NodeSummary]:
        """The leaves from left to right."""
        stack = [0]
        while stack:
            node = self.nodes[stack.pop()]
            if node.is_leaf:
                yield node
            stack.extend(reversed(node.children))

    @cached_property
    def values(self) -> sparse.csr_array[np.float64]:
        """The value of every label of the hierarchy in every node, of shape (n_nodes, n_labels).

        Values are probabilities, or moves of margins if that is the `unit`. Those of an inner node
        are the prediction for a row that reaches the node and whose other values are missing: the
        mean of the branches, weighted by their shares. (In a boosted tree, missing values take one
        branch; there, the values of an inner node are the mean of its training rows.)
        """
        tree = self.tree
        n_nodes = len(tree.feature)
        columns = self.labels[tree.value_label]
        shape = (n_nodes, self.hierarchy.n_labels)
        leaves: Any = sparse.csr_array((tree.value, columns, tree.value_indptr), shape=shape)
        return _weighted_rows(_leaf_shares(tree), leaves)

    def value(self, node: int) -> NDArray[np.float64]:
        """Return the probabilities of all labels of the hierarchy in a node."""
        found = np.zeros(self.hierarchy.n_labels)
        begin, end = self.values.indptr[node], self.values.indptr[node + 1]
        found[self.values.indices[begin:end]] = self.values.data[begin:end]
        return found

    def path(self, node: int) -> list[NodeSummary]:
        """Return the nodes from the root to a node, inclusive."""
        found = [self.nodes[node]]
        while found[-1].parent >= 0:
            found.append(self.nodes[found[-1].parent])
        return found[::-1]


@dataclass(frozen=True)
class ModelSummary:
    """A model as trees.

    Attributes
    ----------
    kind : str
        Name of the class of the model.
    trees : tuple of TreeSummary
        The trees.
    hierarchy : Hierarchy
        The label hierarchy.
    features : FeatureNames
        Names of features and categories.
    combination : {"mean", "sum", None}
        How the trees are combined into the prediction of the model: "mean", "sum" for the sum of
        margins of gradient boosting, or None for any other way.
    """

    kind: str
    trees: tuple[TreeSummary, ...]
    hierarchy: Hierarchy
    features: FeatureNames
    combination: str | None


def summarise(
    model: Any,
    *,
    feature_names: Sequence[Any] | None = None,
    categories: Mapping[Any, Sequence[Any]] | None = None,
) -> ModelSummary:
    """Summarise a fitted model as trees with feature names and labels.

    Parameters
    ----------
    model : PCTClassifier, ensemble of PCTs, gradient boosting, or local architecture
        A fitted model. The leaves of boosted trees hold margins; those of the loss "softmax" are
        the margins of label sets, which take the place of labels.
    feature_names : sequence of str, optional
        One name per feature. By default, the columns of the data frame passed to `fit`, or x0,
        x1, ….
    categories : mapping of feature name to sequence, optional
        Names of the categories of nominal features. By default, those of the data frame passed
        to `fit`.

    Returns
    -------
    ModelSummary
        The trees of the model.

    Examples
    --------
    >>> from ramify import PCTClassifier
    >>> tree = PCTClassifier().fit([[1.0], [2.0], [3.0]], ["a/x", "a/y", "b"])
    >>> summary = summarise(tree, feature_names=["size"])
    >>> [node.test.question for node in summary.trees[0].nodes if node.test]
    ['size > 2.5', 'size > 1.5']
    """
    if isinstance(model, type) or not hasattr(model, "fit"):
        raise TypeError(
            f"model must be a fitted estimator, got {model!r}. Pass a fitted estimator."
        )
    check_is_fitted(model)
    if isinstance(model, PCTGradientBoostingClassifier):
        return _summarise_boosted(model, read_feature_names(model, feature_names, categories))
    named = list(_named_trees(model))
    features = read_feature_names(model, feature_names, categories)
    local = isinstance(model, LocalClassifier)
    hierarchy = model._readable_targets() if local else model.hierarchy_
    trees = tuple(
        TreeSummary(name, tree, np.asarray(labels, dtype=np.int64), hierarchy, features)
        for name, labels, tree in named
    )
    return ModelSummary(type(model).__name__, trees, hierarchy, features, _combination(model))


def _summarise_boosted(
    model: PCTGradientBoostingClassifier, features: FeatureNames
) -> ModelSummary:
    hierarchy = output_names(model)
    labels = np.arange(hierarchy.n_labels)
    trees = tuple(
        TreeSummary(f"tree {k}", tree, labels, hierarchy, features, missing_branch, "margin")
        for k, (tree, missing_branch) in enumerate(boosted_trees(model), start=1)
    )
    return ModelSummary(type(model).__name__, trees, hierarchy, features, "sum")


def _combination(model: Any) -> str | None:
    if isinstance(model, LocalClassifier):
        return None
    clus_votes = getattr(model, "clus_compat", False) and hasattr(model, "trees_")
    if clus_votes and model.criterion != "variance":
        return None  # CLUS's multi-label forests count votes
    return "mean"


def _named_trees(model: Any) -> Iterator[tuple[str, Sequence[int], _core.Tree]]:
    """Yield the name, labels and arrays of each tree of a model."""
    if isinstance(model, PCTClassifier):
        yield "", range(model.hierarchy_.n_labels), model.tree_
    elif isinstance(model, PCTEnsemble):
        for k, tree in enumerate(model.trees_, start=1):
            yield f"tree {k}", range(model.hierarchy_.n_labels), tree
    elif isinstance(model, LocalClassifier):
        yield from _local_trees(model)
    else:
        held = () if hasattr(model, "trees_") else ("estimator_", "estimators_")
        inside = next((name for name in held if hasattr(model, name)), None)
        remedy = f" Pass its {inside} if they are trees of ramify." if inside else ""
        raise TypeError(
            f"model must be a tree or a set of trees of ramify, got {type(model).__name__}."
            f"{remedy}"
        )


def _local_trees(model: LocalClassifier) -> Iterator[tuple[str, Sequence[int], _core.Tree]]:
    found = False
    for key, local in model.local_models_.items():
        labels = local.learnt
        parts = key if isinstance(key, tuple) else (key,)
        name = " → ".join(str(part) for part in parts if part is not None) or "root"
        if isinstance(local.estimator, _core.Tree):
            found = True
            yield name, labels, local.estimator
        elif isinstance(local.estimator, PCTEnsemble):
            found = True
            for k, tree in enumerate(local.estimator.trees_, start=1):
                yield f"{name}, tree {k}", labels, tree
    if not found:
        raise TypeError(
            f"model must contain trees or forests of ramify, got {type(model).__name__} with "
            "estimators of other libraries. Inspect its named_estimators_ with the tools of these "
            "libraries."
        )


def _leaf_shares(tree: _core.Tree) -> sparse.csr_array[np.float64]:
    """Return the fraction of a row in a node that ends in each leaf, nodes × nodes."""
    n_nodes = len(tree.feature)
    rows: list[int] = []
    columns: list[int] = []
    parts: list[float] = []
    parent = np.full(n_nodes, -1, dtype=np.int64)
    share = np.ones(n_nodes)
    parent[tree.child] = np.repeat(np.arange(n_nodes), np.diff(tree.child_indptr))
    share[tree.child] = tree.share
    for leaf in np.flatnonzero(tree.feature < 0).tolist():
        node, part = leaf, 1.0
        while node >= 0:
            rows.append(node)
            columns.append(leaf)
            parts.append(part)
            part *= float(share[node])
            node = int(parent[node])
    return sparse.csr_array((parts, (rows, columns)), shape=(n_nodes, n_nodes))


def _weighted_rows(
    weights: sparse.csr_array[np.float64], rows: sparse.csr_array[np.float64]
) -> sparse.csr_array[np.float64]:
    """Return `weights @ rows` with the same bits on every platform.

    Processors with fused multiply-add round each product of scipy's loop and its sum at once,
    others twice. Here, numpy rounds the products, and the loop only adds them.
    """
    products: Any = rows[weights.indices]
    products.data *= np.repeat(weights.data, np.diff(products.indptr))
    n_products = len(weights.data)
    adding: Any = sparse.csr_array(
        (np.ones(n_products), np.arange(n_products), weights.indptr),
        shape=(weights.shape[0], n_products),
    )
    sums: sparse.csr_array[np.float64] = (adding @ products).tocsr()
    sums.sort_indices()
    return sums


def _read_nodes(
    tree: _core.Tree, features: FeatureNames, missing_branch: NDArray[np.int64] | None
) -> Iterator[NodeSummary]:
    tests = read_tests(tree, features, missing_branch)
    parent, branch, depth = ([-1] * len(tests), [-1] * len(tests), [0] * len(tests))
    n_samples = tree.n_samples.tolist()
    indptr = tree.child_indptr.tolist()
    for number, test in enumerate(tests):
        children = tuple(tree.child[indptr[number] : indptr[number + 1]].tolist())
        for b, child in enumerate(children):
            parent[child], branch[child], depth[child] = number, b, depth[number] + 1
        n_unknown = 0
        if len(children) > 1 and missing_branch is None:
            # A row with a missing value is counted in every branch.
            surplus = sum(n_samples[child] for child in children) - n_samples[number]
            n_unknown = max(0, surplus // (len(children) - 1))
        yield NodeSummary(
            number=number,
            parent=parent[number],
            branch=branch[number],
            depth=depth[number],
            n_samples=n_samples[number],
            weight=float(tree.weight[number]),
            n_unknown=n_unknown,
            impurity=float(tree.impurity[number]),
            gain=float(tree.gain[number]),
            test=test,
            children=children,
            shares=tuple(tree.share[indptr[number] : indptr[number + 1]].tolist()),
        )
