"""Extract rules from trees, simplify and merge them, and evaluate them on other rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify.inspection.rulesets.conditions import Condition, merge_tests
from ramify.inspection.rulesets.rule import Rule
from ramify.inspection.summary import ModelSummary, NodeSummary, TreeSummary

__all__ = ["Columns", "match_rows", "measure_rules", "merge_equal", "read_rules", "root_prior"]


def root_prior(summary: ModelSummary) -> NDArray[np.float64]:
    """Return the mean frequency of each label at the roots of the trees that predict it."""
    total = np.zeros(summary.hierarchy.n_labels)
    counts = np.zeros(summary.hierarchy.n_labels)
    for tree in summary.trees:
        total += tree.value(0)
        counts[tree.labels] += 1
    return total / np.maximum(counts, 1)


def read_rules(tree: TreeSummary, wanted: NDArray[Any] | None) -> Iterator[Rule]:
    """Yield the rules of a tree from left to right."""
    values = tree.values
    if wanted is not None:
        keep = sparse.csr_array(
            (np.ones(len(wanted)), (wanted, wanted)), shape=(values.shape[1],) * 2
        )
        values = (values @ keep).tocsr()
        values.sort_indices()
    ends = _find_ends(tree, values)
    total = tree.nodes[0].weight
    stack = [0]
    while stack:
        node = tree.nodes[stack.pop()]
        if not ends[node.number]:
            stack.extend(reversed(node.children))
            continue
        path = tree.path(node.number)
        steps = [
            (above.test, below.branch, _unknown_part(above, below.branch))
            for above, below in pairwise(path)
            if above.test is not None
        ]
        begin, end = values.indptr[node.number], values.indptr[node.number + 1]
        shares = values.data[begin:end]
        if tree.unit == "probability":
            shares = np.minimum(shares, 1.0)  # a sum of shares may be rounded up
        yield Rule(
            conditions=merge_tests(steps),
            labels=values.indices[begin:end].astype(np.int64),
            probability=shares,
            precision=shares,
            support=node.weight,
            coverage=node.weight / total if total else 0.0,
            tree=tree.name,
        )


def _unknown_part(node: NodeSummary, branch: int) -> float:
    """Return the fraction of a row with a missing value that takes a branch."""
    if node.test is not None and node.test.missing_branch >= 0:
        return float(node.test.missing_branch == branch)
    return node.shares[branch]


def _find_ends(tree: TreeSummary, values: sparse.csr_array[np.float64]) -> list[bool]:
    """Return which nodes end a rule: leaves, and nodes whose leaves all predict the same."""
    signatures: list[bytes | None] = [None] * len(tree.nodes)
    for node in reversed(tree.nodes):
        if node.is_leaf:
            begin, end = values.indptr[node.number], values.indptr[node.number + 1]
            shown = values.data[begin:end].tobytes() + values.indices[begin:end].tobytes()
            signatures[node.number] = shown
            continue
        below = {signatures[child] for child in node.children}
        signatures[node.number] = below.pop() if len(below) == 1 else None
    return [signature is not None for signature in signatures]


def merge_equal(found: list[Rule], *, by_tree: bool) -> list[Rule]:
    """Merge rules with the same conditions; with `by_tree`, only those of the same tree."""
    groups: dict[Any, list[Rule]] = {}
    for rule in found:
        key = frozenset(condition.key for condition in rule.conditions)
        groups.setdefault((rule.tree if by_tree else "", key), []).append(rule)
    return [group[0] if len(group) == 1 else _mean_rule(group) for group in groups.values()]


def _mean_rule(group: list[Rule]) -> Rule:
    n_trees = sum(rule.n_trees for rule in group)
    labels = np.unique(np.concatenate([rule.labels for rule in group]))
    probability = np.zeros(len(labels))
    for rule in group:
        probability[np.searchsorted(labels, rule.labels)] += rule.probability / n_trees
    np.minimum(probability, 1.0, out=probability)
    missing = {
        c.feature: float(
            np.mean(
                [o.unknown_part for r in group for o in r.conditions if o.feature == c.feature]
            )
        )
        for c in group[0].conditions
    }
    return Rule(
        conditions=tuple(replace(c, unknown_part=missing[c.feature]) for c in group[0].conditions),
        labels=labels,
        probability=probability,
        precision=probability,
        support=float(np.mean([rule.support for rule in group])),
        coverage=float(np.mean([rule.coverage for rule in group])),
        tree=group[0].tree,
        n_trees=n_trees,
    )


def measure_rules(found: Iterable[Rule], X: Any, Y: sparse.csr_array[np.int32]) -> Iterator[Rule]:
    """Compute support and precision of rules on the given rows."""
    columns = Columns(X)
    transposed = Y.T.tocsr()
    for rule in found:
        parts = match_rows(rule.conditions, columns)
        support = float(parts.sum())
        positives = np.asarray(transposed[rule.labels] @ parts).ravel()
        yield replace(
            rule,
            support=support,
            coverage=support / len(parts),
            precision=positives / support if support else np.zeros(len(rule.labels)),
        )


class Columns:
    """Access to single columns of a dense or sparse X."""

    def __init__(self, X: Any) -> None:
        self.n_rows = X.shape[0]
        self._sparse = sparse.issparse(X)
        self._X: Any = X.tocsc() if self._sparse else X
        self._dense: dict[int, NDArray[Any]] = {}

    def __getitem__(self, feature: int) -> NDArray[Any]:
        if not self._sparse:
            return np.asarray(self._X[:, feature])
        if feature not in self._dense:
            self._dense[feature] = self._X[:, [feature]].toarray().ravel()
        return self._dense[feature]


def match_rows(conditions: Sequence[Condition], columns: Columns) -> NDArray[np.float64]:
    """Return the fraction of each row that meets all conditions."""
    parts = np.ones(columns.n_rows)
    for condition in conditions:
        parts *= condition.match(columns[condition.feature])
    return parts
