"""Extract rules from trees, simplify and merge them, and evaluate them on other rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify._validation import Label
from ramify.data.rows import indicator_of_cells
from ramify.inspection.node_tests import NodeTest, join_categories
from ramify.inspection.summary import ModelSummary, NodeSummary, TreeSummary

__all__ = [
    "Columns",
    "Condition",
    "LabelRule",
    "Rule",
    "match_rows",
    "measure_rules",
    "merge_equal",
    "merge_tests",
    "read_rules",
    "root_prior",
]


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
        shape = (values.shape[1], values.shape[1])
        keep = indicator_of_cells(wanted, wanted, shape, np.float64)
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


# ---- conditions: the tests of a path on one feature, merged ---------------------------------


@dataclass(frozen=True)
class Condition:
    """A condition of a rule on one feature."""

    feature: int  # position of the feature
    name: str  # name of the feature
    above: float  # numeric features: above < value ≤ up_to; infinite if there is no bound
    up_to: float
    bound_texts: tuple[str, str]  # the bounds as text, with as many digits as necessary
    # Nominal features: the fraction of a row that meets the condition, for each category. It is 1
    # or 0, or in between if a test has not seen the category in training.
    code_parts: tuple[float, ...]
    categories: tuple[str, ...]  # nominal features: names of the categories
    unknown_part: float  # the fraction of a row with a missing value that meets the condition
    lacks: str = ""  # the name of a term where a text lacks it
    names_missing: bool = False  # whether the text says that missing values meet the condition

    @property
    def key(self) -> tuple[Any, ...]:
        """A key that is equal for equivalent conditions."""
        return (self.feature, self.above, self.up_to, self.code_parts)

    def match(self, column: NDArray[Any]) -> NDArray[np.float64]:
        """Return the fraction of each row that meets the condition, given a column."""
        values = np.asarray(column, dtype=np.float64)
        missing = np.isnan(values)
        if self.code_parts:
            missing |= (values < 0) | (values >= len(self.code_parts))
            codes = np.where(missing, 0, values).astype(np.int64)
            parts = np.asarray(self.code_parts)[codes]
        else:
            parts = ((values > self.above) & (values <= self.up_to)).astype(np.float64)
        return np.where(missing, self.unknown_part, parts)

    def to_text(self) -> str:
        """Return the condition as text."""
        if self.code_parts:
            pairs = zip(self.categories, self.code_parts, strict=True)
            members = [name for name, part in pairs if part == 1]
            if not members or len(members) == len(self.categories):
                return f"{self.name} is {'not missing' if members else 'missing'}"
            text = f"{self.name} {join_categories(members, self.categories)}"
        elif self.lacks:
            return self.lacks if math.isinf(self.above) else self.name
        elif math.isinf(self.above) and math.isinf(self.up_to):
            return f"{self.name} is {'missing' if self.up_to < 0 else 'not missing'}"
        else:
            text = self._interval()
        takes_missing = self.names_missing and self.unknown_part == 1
        return f"{text} or missing" if takes_missing else text

    def _interval(self) -> str:
        low, high = self.bound_texts
        if math.isinf(self.above):
            return f"{self.name} ≤ {high}"
        if math.isinf(self.up_to):
            return f"{self.name} > {low}"
        return f"{low} < {self.name} ≤ {high}"

    def to_dict(self) -> dict[str, Any]:
        """Return the condition as a dict for JSON, with exact bounds; None means no bound."""
        if self.code_parts:
            pairs = zip(self.categories, self.code_parts, strict=True)
            return {
                "feature": self.name,
                "in": [name for name, part in pairs if part == 1],
                "unknown_part": self.unknown_part,
            }
        return {
            "feature": self.name,
            "above": None if math.isinf(self.above) else self.above,
            "up_to": None if math.isinf(self.up_to) else self.up_to,
            "unknown_part": self.unknown_part,
        }


def merge_tests(path: Iterable[tuple[NodeTest, int, float]]) -> tuple[Condition, ...]:
    """Return one condition per feature of a path."""
    merged: dict[int, Condition] = {}
    for test, branch, share in path:
        new = _condition(test, branch, share)
        old = merged.get(test.feature)
        merged[test.feature] = new if old is None else _both(old, new)
    return tuple(merged.values())


def _condition(test: NodeTest, branch: int, share: float) -> Condition:
    above, up_to = -math.inf, math.inf
    texts = ("", "")
    parts: tuple[float, ...] = ()
    if test.threshold is None:
        parts = tuple(share if found < 0 else float(found == branch) for found in test.branch_of)
    elif branch == 0:
        above, texts = test.threshold, (test.threshold_text, "")
    else:
        up_to, texts = test.threshold, ("", test.threshold_text)
    return Condition(
        test.feature,
        test.name,
        above,
        up_to,
        texts,
        parts,
        test.categories,
        share,
        test.lacks,
        test.names_missing,
    )


def _both(one: Condition, other: Condition) -> Condition:
    lower = one if one.above >= other.above else other
    upper = one if one.up_to <= other.up_to else other
    return Condition(
        feature=one.feature,
        name=one.name,
        above=lower.above,
        up_to=upper.up_to,
        bound_texts=(lower.bound_texts[0], upper.bound_texts[1]),
        code_parts=tuple(a * b for a, b in zip(one.code_parts, other.code_parts, strict=True)),
        categories=one.categories,
        unknown_part=one.unknown_part * other.unknown_part,
        lacks=one.lacks,
        names_missing=one.names_missing,
    )


# ---- rules ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rule:
    """A rule: if all conditions hold, the labels have the given probabilities.

    Attributes
    ----------
    conditions : tuple of Condition
        One condition per feature. A rule without conditions always holds.
    labels : ndarray of int
        Positions in the hierarchy of the labels with a probability above 0.
    probability : ndarray of float
        Predicted probabilities of these labels.
    precision : ndarray of float
        Fraction of the covered rows that have each of these labels.
    support : float
        Number of rows covered; rows with missing values count fractionally.
    coverage : float
        Fraction of all rows covered.
    tree : str
        Name of the tree, or of the first of several trees.
    n_trees : int
        Number of trees of a forest that contain the rule.
    """

    conditions: tuple[Condition, ...]
    labels: NDArray[np.int64]
    probability: NDArray[np.float64]
    precision: NDArray[np.float64]
    support: float
    coverage: float
    tree: str = ""
    n_trees: int = 1

    def to_text(self) -> str:
        """Return the conditions as text."""
        return " and ".join(c.to_text() for c in self.conditions) or "always"


@dataclass(frozen=True)
class LabelRule:
    """The prediction of a rule for one label.

    Attributes
    ----------
    rule : Rule
        The rule.
    label : str or int
        The label.
    precision : float
        Fraction of the covered rows that have the label.
    lift : float
        Precision divided by the fraction of all rows that have the label.
    score : float
        Coverage × lift: the fraction of the rows of the label that the rule covers.
    """

    rule: Rule
    label: Label
    precision: float
    lift: float
    score: float
