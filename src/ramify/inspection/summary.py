"""Summarise a model as trees with feature names and labels, for all other views."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from ramify import _core
from ramify._base.tree_models import TreeModel
from ramify._cached import cached_property
from ramify.data.features import FeatureSchema, read_features
from ramify.inspection.node_tests import (
    FeatureNames,
    NodeTest,
    name_variables,
    read_feature_names,
    read_tests,
)
from ramify.labels.hierarchy import Hierarchy
from ramify.trees.views import change_tree

__all__ = [
    "ModelSummary",
    "NodeSummary",
    "TreeSummary",
    "as_trees",
    "check_labels",
    "read_rows",
    "read_tree_rows",
    "summarise",
    "summarise_labels",
    "summarise_trees",
]


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
        Number of these rows whose value for the test is missing and that are divided among all
        branches.
    has_parts : bool
        Whether some of the rows may have reached the node only in part, so that their weight
        is less than that of whole rows.
    impurity, gain : float
        Impurity of the labels, and the reduction of the impurity by the test.
    test : NodeTest or None
        The test of the node; None for a leaf.
    children : tuple of int
        The child nodes, one per branch.
    shares : tuple of float
        The fraction of the weight in each branch. If the test divides rows with a missing value,
        it divides them in the same proportions.
    """

    number: int
    parent: int
    branch: int
    depth: int
    n_samples: int
    weight: float
    n_unknown: int
    has_parts: bool
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
        The branch that missing values take in each node, -1 if they are divided among all
        branches. None if they are divided in all nodes.
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
        names_missing = self.unit != "margin"
        tests = read_tests(
            self.tree, self.features, self.missing_branch, names_missing=names_missing
        )
        return tuple(_read_nodes(self.tree, tests, self.missing_branch))

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
        are the mean of its training rows: that of the branches, weighted by their shares.
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
    combination : {"mean", "sum", "votes", "groups", None}
        How the trees are combined into the prediction of the model: "mean", "sum" for the sum of
        margins of gradient boosting, "votes" for the votes that CLUS's multi-label forests count,
        "groups" if each label is predicted by one tree, or None for any other way.
    outputs : {"labels", "label sets", "targets"}
        What the labels of `hierarchy` stand for.
    """

    kind: str
    trees: tuple[TreeSummary, ...]
    hierarchy: Hierarchy
    features: FeatureNames
    combination: str | None
    outputs: str = "labels"


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
        the margins of label sets, which take the place of labels. So do the targets of
        `PCTRegressor` and of other trees for several targets. The trees of `BinaryRelevancePlus`
        test labels as well, whose names follow those of the features.
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
    return summarise_trees(as_trees(model), model, feature_names, categories)


def summarise_labels(
    model: Any,
    feature_names: Sequence[Any] | None = None,
    categories: Mapping[Any, Sequence[Any]] | None = None,
) -> ModelSummary:
    """Summarise a model of labels; see `summarise`."""
    summary = summarise(model, feature_names=feature_names, categories=categories)
    check_labels(model)
    return summary


def check_labels(model: Any) -> None:
    """Raise an error if a fitted model predicts other targets than labels."""
    if hasattr(model, "schema_") and not hasattr(model, "hierarchy_"):
        raise TypeError(
            f"model must predict labels, got {type(model).__name__}, which predicts other "
            "targets. Use export_text to show its trees, or its feature_importances_."
        )


def summarise_trees(
    found: TreeModel,
    model: Any,
    feature_names: Sequence[Any] | None,
    categories: Mapping[Any, Sequence[Any]] | None,
) -> ModelSummary:
    """Summarise the trees of a model."""
    columns = read_feature_names(model, feature_names, categories)
    features = name_variables(columns, model.schema_, [one.tree for one in found.trees])
    features = _with_made(features, found.made_features, model.schema_)
    trees = tuple(
        TreeSummary(
            one.name,
            _renumbered(one.tree, features),
            one.outputs,
            found.hierarchy,
            features,
            one.missing_branch,
            found.unit,
        )
        for one in found.trees
    )
    kind = type(model).__name__
    return ModelSummary(kind, trees, found.hierarchy, features, found.combination, found.outputs)


def _with_made(
    features: FeatureNames, made: tuple[str, ...], schema: FeatureSchema
) -> FeatureNames:
    """Append the features that a model adds to those of X."""
    names = (*features.names, *made)
    if features.variables is None or features.columns is None or features.sources is None:
        return replace(features, names=names)
    added = np.arange(len(made))
    return replace(
        features,
        names=names,
        variables=np.append(features.variables, schema.n_variables + added),
        columns=(*features.columns, *made),
        sources=np.append(features.sources, schema.n_features + added),
    )


def _renumbered(tree: _core.Tree, features: FeatureNames) -> _core.Tree:
    """Return a tree whose features are numbered as in `features`."""
    if features.variables is None:
        return tree
    places = np.searchsorted(features.variables, tree.feature)
    return change_tree(tree, feature=np.where(tree.feature < 0, -1, places).astype(np.int32))


def as_trees(model: Any) -> TreeModel:
    """Return the trees that a fitted model is made of, or raise an error if it has none."""
    if isinstance(model, type) or not hasattr(model, "fit"):
        raise TypeError(
            f"model must be a fitted estimator, got {model!r}. Pass a fitted estimator."
        )
    check_is_fitted(model)
    found: TreeModel | None = model._as_trees() if hasattr(model, "_as_trees") else None
    kind = type(model).__name__
    if found is None:
        inside = _inner_models(model)
        remedy = (
            f"Pass its {inside} if they are trees of ramify."
            if inside
            else "Use permutation_importances, or shap_values with a background, which need no "
            "trees, or fit a forest (ramify train --model forest)."
        )
        raise TypeError(f"model must be a tree or a set of trees of ramify, got {kind}. {remedy}")
    if not found.trees:
        raise TypeError(
            f"model must contain trees or forests of ramify, got {kind} with other estimators. "
            "Inspect its named_estimators_ with the tools of their libraries."
        )
    return found


def _inner_models(model: Any) -> str | None:
    """Return the attribute with the models that a model wraps."""
    return next((name for name in ("estimator_", "estimators_") if hasattr(model, name)), None)


def read_rows(model: Any, X: Any) -> Any:
    """Return X as numbers, codes and NaN, as a model of labels learnt from it."""
    check_is_fitted(model)
    check_labels(model)
    if not hasattr(model, "schema_"):
        inside = _inner_models(model)
        remedy = f"Pass its {inside}." if inside else "Pass a fitted estimator of ramify."
        raise TypeError(
            f"model must be a classifier that wraps no other, got {type(model).__name__}. {remedy}"
        )
    return read_features(model, X, model.schema_)


def read_tree_rows(model: Any, summary: ModelSummary, X: Any) -> Any:
    """Return the rows that the trees of the summary of a model test."""
    return summary.features.select(model._tree_rows(read_rows(model, X)))


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
    """Return `weights @ rows` with the same bits on every platform, also with fused multiply-add.

    Here, numpy rounds the products, and scipy's loop only adds them.
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
    tree: _core.Tree,
    tests: Sequence[NodeTest | None],
    missing_branch: NDArray[np.int64] | None,
) -> Iterator[NodeSummary]:
    parent, branch, depth = ([-1] * len(tests), [-1] * len(tests), [0] * len(tests))
    n_samples = tree.n_samples.tolist()
    has_parts = [False] * len(n_samples)
    indptr = tree.child_indptr.tolist()
    for number, test in enumerate(tests):
        children = tuple(tree.child[indptr[number] : indptr[number + 1]].tolist())
        for b, child in enumerate(children):
            parent[child], branch[child], depth[child] = number, b, depth[number] + 1
        n_unknown = 0
        if len(children) > 1 and (missing_branch is None or missing_branch[number] < 0):
            # A row with a missing value is counted in every branch.
            surplus = sum(n_samples[child] for child in children) - n_samples[number]
            n_unknown = max(0, surplus // (len(children) - 1))
        for child in children:
            has_parts[child] = has_parts[number] or n_unknown > 0
        yield NodeSummary(
            number=number,
            parent=parent[number],
            branch=branch[number],
            depth=depth[number],
            n_samples=n_samples[number],
            weight=float(tree.weight[number]),
            n_unknown=n_unknown,
            has_parts=has_parts[number],
            impurity=float(tree.impurity[number]),
            gain=float(tree.gain[number]),
            test=test,
            children=children,
            shares=tuple(tree.share[indptr[number] : indptr[number + 1]].tolist()),
        )
