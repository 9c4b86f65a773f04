"""Describe the tests of a tree with the names of features and categories."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify import _core
from ramify.data.features import FeatureSchema
from ramify.data.rows import by_columns

__all__ = [
    "FeatureNames",
    "NodeTest",
    "join_categories",
    "name_variables",
    "read_feature_names",
    "threshold_texts",
    "time_text",
]

_FEW_DIGITS = 6  # thresholds with at most this many digits are written in full
_MIN_DIGITS = 4


@dataclass(frozen=True)
class FeatureNames:
    """Names of features and categories, and of the terms and numbers of vectors tested."""

    names: tuple[str, ...]  # one name per feature, e.g. "size", "title contains 'pan'"
    categories: Mapping[int, tuple[str, ...]]  # category names of nominal features, if known
    # The kind of each feature that is a date, duration or time of day; see
    # `ramify.data.columns.TIMES`.
    times: Mapping[int, str] = field(default_factory=dict)
    # The names of terms where texts lack them, e.g. "title lacks 'pan'".
    lacks: Mapping[int, str] = field(default_factory=dict)
    # Where each feature is among the variables of the model; None if there are no others.
    variables: NDArray[np.intp] | None = None
    # The names of the columns of X, and the column that each feature is from; None if each is one.
    columns: tuple[str, ...] | None = None
    sources: NDArray[np.intp] | None = None

    def select(self, rows: Any) -> Any:
        """Return the columns of rows that the features are."""
        if self.variables is None:
            return rows
        return by_columns(rows)[:, self.variables]

    def sum_names(self) -> FeatureNames:
        """Return the names of the columns, to which `sum_columns` adds up features."""
        return self if self.columns is None else FeatureNames(self.columns, {})

    def sum_columns(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Add up values, one row per feature, of the features that are from the same column."""
        if self.columns is None or self.sources is None:
            return values
        found = np.zeros((len(self.columns), *values.shape[1:]))
        np.add.at(found, self.sources, values)
        return found

    def value_text(self, feature: int, value: float) -> str:
        """Return a value as text: a number, a date, the name of a category, or "missing"."""
        if math.isnan(value):
            return "missing"
        if feature in self.times:
            return time_text(value, self.times[feature])
        if feature in self.categories:
            return self.category(feature, int(value))
        return f"{value:.6g}"

    def cell_text(self, feature: int, value: float) -> str:
        """Return the value of a feature of a row with its name, e.g. "size = 3.2"."""
        if feature in self.lacks:
            return self.names[feature] if value > 0 else self.lacks[feature]
        return f"{self.names[feature]} = {self.value_text(feature, value)}"

    def category(self, feature: int, code: int) -> str:
        """Return the name of a category, or its code if the name is not known."""
        known = self.categories.get(feature, ())
        return known[code] if code < len(known) else str(code)


def read_feature_names(
    model: Any,
    feature_names: Sequence[Any] | None = None,
    categories: Mapping[Any, Sequence[Any]] | None = None,
) -> FeatureNames:
    """Return the given names of the columns of X, or those that the model saw in `fit`."""
    n_features = int(model.n_features_in_)
    if feature_names is None:
        own = ["text"] if list(model.schema_.texts) == [0] and n_features == 1 else None
        own = own or [f"x{j}" for j in range(n_features)]
        feature_names = getattr(model, "feature_names_in_", own)
    names = tuple(str(name) for name in feature_names)
    if len(names) != n_features:
        raise ValueError(
            f"feature_names has {len(names)} names, but the model has {n_features} features. "
            "Pass one name per column of X."
        )
    known: dict[int, tuple[str, ...]] = {
        j: tuple(map(str, values)) for j, values in model.schema_.categories.items()
    }
    for name, values in (categories or {}).items():
        if str(name) not in names:
            raise ValueError(
                f"categories must be keyed by feature names, got {name!r}, which is not in "
                "feature_names."
            )
        known[names.index(str(name))] = tuple(map(str, values))
    return FeatureNames(names, known, model.schema_.times)


def name_variables(
    columns: FeatureNames, schema: FeatureSchema, trees: Sequence[_core.Tree]
) -> FeatureNames:
    """Return the names of the variables of a model: columns, and terms if they are tested."""
    if not (schema.texts or schema.vectors):
        return columns
    shown = np.zeros(schema.n_variables, dtype=bool)
    starts = schema.starts().tolist()
    shown[[starts[j] for j in range(schema.n_features) if not schema.is_wide(j)]] = True
    for tree in trees:
        tested = tree.feature[(tree.feature >= 0) & (tree.feature < schema.n_variables)]
        shown[tested] = True
    variables = np.flatnonzero(shown)
    names, lacks = [], {}
    sources = schema.features()[variables]
    for place, (variable, j) in enumerate(zip(variables.tolist(), sources.tolist(), strict=True)):
        name = columns.names[j]
        if j in schema.texts:
            term = schema.texts[j].describe(variable - starts[j])
            lacks[place] = f"{name} lacks {term}"
            name = f"{name} contains {term}"
        elif j in schema.vectors:
            name = f"{name}[{variable - starts[j]}]"
        names.append(name)
    places = {j: place for place, j in enumerate(sources.tolist())}
    return FeatureNames(
        tuple(names),
        {places[j]: known for j, known in columns.categories.items()},
        {places[j]: kind for j, kind in columns.times.items()},
        lacks,
        variables,
        columns.names,
        sources,
    )


@dataclass(frozen=True)
class NodeTest:
    """The test of an inner node."""

    feature: int  # the feature tested
    name: str  # name of the feature
    # Numeric tests: values above the threshold go to branch 0. None for nominal tests.
    threshold: float | None
    # The threshold as text, with as many digits as necessary; a date if the feature is one.
    threshold_text: str
    # Nominal tests: the branch of each code, -1 for codes that the node did not see in training.
    branch_of: tuple[int, ...]
    categories: tuple[str, ...]  # nominal tests: names of the codes
    n_branches: int  # number of branches
    # The branch of missing values and of codes that the node did not see; -1 if rows are divided
    # among all branches.
    missing_branch: int = -1
    lacks: str = ""  # tests of terms: the name where a text lacks the term
    # Whether conditions say where missing values go. Those of boosted trees do not: all of their
    # tests send them somewhere, whether there are any or not.
    names_missing: bool = False

    @property
    def question(self) -> str:
        """The test as text; the answers of two-way tests are yes (branch 0) and no."""
        if self.threshold is None and self.n_branches != 2:
            return self.name
        return self.condition(0)

    def answer(self, branch: int) -> str:
        """Return the answer of a branch: yes, no, or the categories of a multiway test."""
        if self.threshold is None and self.n_branches != 2:
            missing = ["missing"] if self._names_missing_at(branch) else []
            return ", ".join(self._members(branch) + missing)
        return ("yes", "no")[branch]

    def condition(self, branch: int) -> str:
        """Return the condition that holds for the values of a branch."""
        if self.threshold == -math.inf:
            return f"{self.name} is {('not missing', 'missing')[branch]}"
        if self.lacks:
            return (self.name, self.lacks)[branch]
        if self.threshold is None and not self._members(0):
            return f"{self.name} is {('missing', 'not missing')[branch]}"
        missing = " or missing" if self._names_missing_at(branch) else ""
        if self.threshold is not None:
            return f"{self.name} {'>≤'[branch]} {self.threshold_text}{missing}"
        return f"{self.name} {join_categories(self._members(branch), self.categories)}{missing}"

    def branch(self, value: float) -> int:
        """Return the branch of a value, or -1 if the row is divided among all branches."""
        if math.isnan(value):
            return self.missing_branch
        if self.threshold is not None:
            return 0 if value > self.threshold else 1
        found = self.branch_of[int(value)] if 0 <= value < len(self.branch_of) else -1
        return found if found >= 0 else self.missing_branch

    def _names_missing_at(self, branch: int) -> bool:
        return self.names_missing and self.missing_branch == branch

    def _members(self, branch: int) -> list[str]:
        pairs = zip(self.categories, self.branch_of, strict=True)
        return [name for name, found in pairs if found == branch]


def join_categories(members: Sequence[str], all_categories: Sequence[str]) -> str:
    """Format the condition that a value is among some categories in the shorter of two ways.

    >>> join_categories(["red"], ["blue", "green", "red"])
    'is red'
    >>> join_categories(["blue", "red"], ["blue", "green", "red"])
    'is not green'
    >>> join_categories(["a", "b"], list("abcdef"))
    'in {a, b}'
    """
    others = [name for name in all_categories if name not in members]
    if len(members) == 1:
        return f"is {members[0]}"
    if len(others) == 1:
        return f"is not {others[0]}"
    if len(others) < len(members) and others:
        return f"not in {{{', '.join(others)}}}"
    return f"in {{{', '.join(members)}}}"


def time_text(seconds: float, kind: str) -> str:
    """Format a date, duration or time of day, with as many parts as necessary."""
    try:
        part = timedelta(seconds=seconds)
        if kind == "duration":
            return str(part)
        moment = datetime(1970, 1, 1) + part
    except OverflowError:
        return f"{seconds:.12g}"
    time = moment.time().isoformat("auto" if moment.second or moment.microsecond else "minutes")
    if kind == "time of day":
        return time
    day = moment.date().isoformat()
    return (day if time == "00:00" else f"{day} {time}") + "Z" * kind.endswith("zone")


def threshold_texts(feature: NDArray[np.int32], threshold: NDArray[np.float64]) -> list[str]:
    """Format each threshold with as many digits as necessary.

    Up to six digits are written in full, without floating-point noise; others are rounded to the
    fewest digits, but at least four, that distinguish the thresholds of a feature.
    """
    texts = [""] * len(threshold)
    for j in np.unique(feature).tolist():
        nodes = np.flatnonzero(feature == j)
        # Thresholds that differ only by floating-point noise get the same text.
        plain = {node: f"{threshold[node]:.12g}" for node in nodes.tolist()}
        distinct = sorted(set(plain.values()), key=float)
        written = dict(zip(distinct, _distinct_texts(distinct), strict=True))
        for node, text in plain.items():
            texts[node] = written[text]
    return texts


def _distinct_texts(wholes: list[str]) -> list[str]:
    """Shorten numbers of up to twelve digits as long as they stay distinct."""
    for digits in range(_MIN_DIGITS, 12):
        texts = [_rounded(whole, digits) for whole in wholes]
        if len(set(texts)) == len(texts):
            return texts
    return wholes


def _rounded(whole: str, digits: int) -> str:
    n_digits = len(whole.lstrip("-0.").replace(".", "").partition("e")[0])
    return whole if n_digits <= max(_FEW_DIGITS, digits) else f"{float(whole):.{digits}g}"


def read_tests(
    tree: _core.Tree,
    features: FeatureNames,
    missing_branch: NDArray[np.int64] | None = None,
    *,
    names_missing: bool = False,
) -> list[NodeTest | None]:
    """Return the test of each node, None for leaves."""
    inner = tree.feature >= 0
    texts = threshold_texts(tree.feature[inner], tree.threshold[inner])
    written = iter(texts)
    tests: list[NodeTest | None] = []
    for node, feature in enumerate(tree.feature.tolist()):
        if feature < 0:
            tests.append(None)
            continue
        codes = tree.category_branch[tree.category_indptr[node] : tree.category_indptr[node + 1]]
        nominal = len(codes) > 0
        text = next(written)
        if feature in features.times:
            text = time_text(float(tree.threshold[node]), features.times[feature])
        tests.append(
            NodeTest(
                feature=feature,
                name=features.names[feature],
                threshold=None if nominal else float(tree.threshold[node]),
                threshold_text="" if nominal else text,
                branch_of=tuple(codes.tolist()),
                categories=tuple(features.category(feature, c) for c in range(len(codes))),
                n_branches=int(tree.child_indptr[node + 1] - tree.child_indptr[node]),
                missing_branch=-1 if missing_branch is None else int(missing_branch[node]),
                lacks=features.lacks.get(feature, ""),
                names_missing=names_missing,
            )
        )
    return tests
