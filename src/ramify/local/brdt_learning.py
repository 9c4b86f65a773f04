"""Learn and extend the label-graph trees of BR-DT."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.utils import check_random_state

from ramify import _core
from ramify._progress import track
from ramify.data.features import FeatureSchema
from ramify.data.rows import as_rows
from ramify.labels.balancing import draw_counts
from ramify.labels.hierarchy import Hierarchy
from ramify.local.label_features import LabelledLearner
from ramify.local.learning import Learner, LocalModel, learn_all
from ramify.local.problems import LabelRows, LocalProblem, label_problems
from ramify.local.trees import make_learner
from ramify.trees.classifier import PCTClassifier
from ramify.trees.tree_data import TreeData


@dataclass(frozen=True)
class LearningPlan:
    """Settings of BR-DT."""

    # The trees that predict labels from other labels, and those that predict labels from X.
    relations: PCTClassifier
    tree: PCTClassifier
    balancing: bool  # whether to grow the trees of each label on a balanced sample
    # Whether labels that no rule reaches are set by the most accurate of their trees.
    next_tree: bool
    held_out: float | None  # fraction of the rows to hold out for choosing the trees
    seed: int  # seed for the balanced samples and held-out rows
    n_jobs: int | None  # number of workers
    verbose: bool  # whether to show a progress bar (requires rich)


@dataclass(frozen=True)
class Learnt:
    """Results of learning."""

    graph: sparse.csr_array[np.int32]  # adjacency matrix of related labels
    components: list[tuple[int, ...]]  # groups of related labels, sorted by their first label
    relations: list[LocalModel]  # the trees that predict labels from other labels
    accuracies: NDArray[np.float64]  # the accuracy of each of these trees on the training rows
    losses: NDArray[np.float64]  # hamming loss of each extended tree
    # The model chosen for each component, by the label for which it was grown.
    models: dict[int, LocalModel]


def learn_trees(plan: LearningPlan, data: TreeData, hierarchy: Hierarchy) -> Learnt:
    """Find related labels, extend the trees and choose one for each group."""
    random = check_random_state(plan.seed)
    Y, weights = data.Y, data.weights
    choosing = _hold_out(weights, plan.held_out, random)
    growing = np.where(choosing, 0.0, weights) if plan.held_out is not None else weights
    problems = _label_problems(Y, hierarchy, growing, random if plan.balancing else None)
    data = data.with_weights(growing)
    no_features = data.with_features(sparse.csr_array((Y.shape[0], 0)), FeatureSchema.numeric(0))
    over_labels = LabelledLearner(plan.relations, no_features, hierarchy)
    relations = _learn(over_labels, problems, plan)
    trees = _learn(make_learner(plan.tree, data, hierarchy), problems, plan)
    label_trees = [
        LabelTree(model.estimator, Y, label, growing) for label, model in enumerate(relations)
    ]
    graph, components = find_components(label_trees)
    extender = Extender(Y.toarray(), label_trees, growing, next_tree=plan.next_tree)
    extension = _Extension(data, weights * choosing, extender)
    losses, models = extension.choose(trees, components, verbose=plan.verbose)
    accuracies = np.array([tree.accuracy for tree in label_trees])
    return Learnt(graph, components, relations, accuracies, losses, models)


def find_components(
    trees: list[LabelTree],
) -> tuple[sparse.csr_array[np.int32], list[tuple[int, ...]]]:
    """Return the graph that links labels to those that their trees test, and its components."""
    pairs = [(label, other) for label, tree in enumerate(trees) for other in tree.tested]
    rows = np.array([pair[0] for pair in pairs], dtype=np.int32)
    columns = np.array([pair[1] for pair in pairs], dtype=np.int32)
    ones = np.ones(2 * len(pairs), dtype=np.int32)
    both = (np.concatenate([rows, columns]), np.concatenate([columns, rows]))
    graph: Any = sparse.csr_array((ones, both), shape=(len(trees), len(trees)))
    graph.sum_duplicates()
    graph.data[:] = 1
    n_components, number = connected_components(graph, directed=False)
    members: list[list[int]] = [[] for _ in range(n_components)]
    for label, component in enumerate(number.tolist()):
        members[component].append(label)
    return graph, sorted(map(tuple, members))


def _hold_out(
    weights: NDArray[np.float64], share: float | None, random: np.random.RandomState
) -> NDArray[np.bool_]:
    """Return a mask of the rows on which trees are chosen: all, or a held-out fraction."""
    if share is None:
        return np.ones(len(weights), dtype=bool)
    counted = np.flatnonzero(weights > 0)
    if len(counted) < 2:
        raise ValueError(
            "validation_fraction requires at least 2 rows of positive weight, got "
            f"{len(counted)}. Pass more rows, or set validation_fraction=None."
        )
    n_chosen = min(max(1, round(share * len(counted))), len(counted) - 1)
    chosen = np.zeros(len(weights), dtype=bool)
    chosen[random.permutation(counted)[:n_chosen]] = True
    return chosen


def _label_problems(
    Y: sparse.csr_array[np.int32],
    hierarchy: Hierarchy,
    weights: NDArray[np.float64],
    random: np.random.RandomState | None,
) -> list[LocalProblem]:
    """Return a problem for each label, on a balanced sample if `random` is not None."""
    rows = LabelRows(Y, hierarchy, weights)
    problems = label_problems(rows, range(hierarchy.n_labels))
    if random is None:
        return problems
    balanced = []
    for problem in problems:
        has = np.isin(rows.all, problem.positives[0])
        balanced.append(replace(problem, counts=draw_counts(has, random)))
    return balanced


def _learn(learner: Learner, problems: list[LocalProblem], plan: LearningPlan) -> list[LocalModel]:
    models = learn_all(
        learner, problems, random_state=None, n_jobs=plan.n_jobs, verbose=plan.verbose
    )
    pairs = zip(models, problems, strict=True)
    return [_as_tree(model, len(problem.rows)) for model, problem in pairs]


def _as_tree(model: LocalModel, n_rows: int) -> LocalModel:
    """Return the model of a label on which all rows agree as a tree with one leaf."""
    if model.tree is not None:
        return model
    (share,) = model.shares
    return LocalModel(bare_leaf(share == 1.0, n_rows), model.labels, (None,))


def bare_leaf(value: bool, n_rows: int) -> _core.Tree:
    """Return a tree of one label with one leaf."""
    empty, none = np.zeros(0), np.zeros(2, dtype=np.int64)
    return _core.Tree(
        {
            "feature": np.array([-1], dtype=np.int32),
            **{name: np.zeros(1) for name in ("threshold", "impurity", "gain")},
            "weight": np.array([float(n_rows)]),
            "n_samples": np.array([n_rows], dtype=np.int64),
            "child_indptr": none,
            "category_indptr": none,
            **{name: empty.astype(np.int32) for name in ("child", "category_branch")},
            "share": empty,
            "value_indptr": np.array([0, value], dtype=np.int64),
            "value_label": np.zeros(int(value), dtype=np.int32),
            "value": np.ones(int(value)),
        }
    )


class _Extension:
    """Extends the trees of all labels and chooses one for each component."""

    def __init__(self, data: TreeData, choosing: NDArray[np.float64], extender: Extender) -> None:
        self.rows = as_rows(data.by_rows)
        self.Y = data.Y.toarray().astype(np.int8)
        self.growing = data.weights
        self.choosing = choosing / choosing.max()  # so that sums do not overflow
        self.extender = extender

    def choose(
        self,
        trees: list[LocalModel],
        components: list[tuple[int, ...]],
        *,
        verbose: bool,
    ) -> tuple[NDArray[np.float64], dict[int, LocalModel]]:
        """Return the loss of every label's tree, and the model chosen for each component."""
        losses = np.zeros(len(trees))
        models: dict[int, LocalModel] = {}
        for part in track(components, len(components), "Extending trees", shown=verbose):
            chosen, truth = part[0], self.Y[:, list(part)]
            for label in part:
                extended, values = self._extend(trees[label], label, part)
                losses[label] = self._loss(truth, values)
                if label == part[0] or losses[label] < losses[chosen]:
                    chosen, best = label, extended
            models[chosen] = best
        return losses, models

    def _extend(
        self, model: LocalModel, label: int, part: tuple[int, ...]
    ) -> tuple[LocalModel, NDArray[Any]]:
        """Return a label's model extended to its group, and the predictions for all rows."""
        tree = model.estimator
        leaf_of_row = tree.apply(self.rows)
        leaves = np.flatnonzero(tree.feature < 0)
        number = np.searchsorted(leaves, leaf_of_row)
        grown = np.flatnonzero(self.growing > 0)
        grown = grown[np.argsort(number[grown], kind="stable")]
        bounds = np.searchsorted(number[grown], np.arange(len(leaves) + 1))
        values = self.extender.extend(grown, bounds, label, leaf_decisions(tree), part)
        learnt = (None,) * len(part)
        return LocalModel(_with_values(tree, leaves, values), part, learnt), values[number]

    def _loss(self, truth: NDArray[np.int8], predicted: NDArray[Any]) -> float:
        """Return the weighted Hamming loss on the labels of a group, the same on every machine."""
        wrong = (truth != predicted).sum(axis=1)
        total = truth.shape[1] * math.fsum(self.choosing)
        return float(math.fsum(wrong * self.choosing) / total)


def _with_values(
    tree: _core.Tree, leaves: NDArray[np.int64], values: NDArray[np.uint8]
) -> _core.Tree:
    """Return a copy of a tree whose leaves predict the labels of the group with value 1."""
    leaf, label = np.nonzero(values)
    n_ones = np.zeros(len(tree.feature) + 1, dtype=np.int64)
    np.add.at(n_ones, leaves[leaf] + 1, 1)
    names = (
        *("feature", "threshold", "weight", "n_samples", "impurity", "gain", "child_indptr"),
        *("child", "share", "category_indptr", "category_branch"),
    )
    arrays: dict[str, Any] = {name: getattr(tree, name) for name in names}
    arrays["value_indptr"] = np.cumsum(n_ones)
    arrays["value_label"] = label.astype(np.int32)
    arrays["value"] = np.ones(len(label))
    return _core.Tree(arrays)


# ---- trees extended to related labels -------------------------------------------------------


Given = dict[int, int]

_TIE = 1e-9  # shares that differ by less are considered equal


@dataclass(frozen=True)
class Rule:
    """A leaf of a tree that predicts a label from other labels: their values imply its value."""

    premise: Given
    conclusion: int


class LabelTree:
    """Rules of the tree that predicts one label from the others, which are its features."""

    def __init__(
        self,
        tree: _core.Tree,
        Y: sparse.csr_array[np.int32],
        label: int,
        weights: NDArray[np.float64],
    ) -> None:
        self.rule_of_row = _leaf_numbers(tree)[tree.apply(as_rows(Y))]
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

    Labels that no rule reaches are set by the most accurate of their trees if `next_tree`, and
    otherwise get the more frequent value in the leaf.
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
        """Return the values of all labels of a component in each leaf of a tree."""
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
    """Return the value that each leaf predicts for a tree's only label."""
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
