"""Data and settings of the small cases of the CLUS results.

The ARFF reader in this module is independent of ramify.io on purpose.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, cmp_to_key
from pathlib import Path

import numpy as np

from tests.reference import trees as reference
from tests.support import clus_oracle
from tests.support.clus_trees import TreeNode, TreeTest

# Parents of each label; () for top-level labels.
Parents = dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class Attribute:
    name: str
    values: tuple[str, ...] = ()  # nominal attributes: the values in CLUS's order
    paths: tuple[str, ...] = ()  # hierarchical attributes: the paths in the order of the header


@dataclass(frozen=True)
class Table:
    """An ARFF file: cells as text (None is missing) and the weights of the rows."""

    attributes: tuple[Attribute, ...]
    rows: list[list[str | None]]
    weights: np.ndarray


def clus_values(declared: Iterable[str]) -> tuple[str, ...]:
    """Order nominal values as CLUS does: sorted, except that {0,1} becomes (1, 0).

    >>> clus_values(["w", "n", "?", "s"]), clus_values(["0", "1"])
    (('n', 's', 'w'), ('1', '0'))
    """
    values = sorted(value for value in declared if value != "?")
    return ("1", "0") if values == ["0", "1"] else tuple(values)


def read_table(path: Path) -> Table:
    header, data = re.split(r"^@data *\n", path.read_text(), flags=re.MULTILINE | re.IGNORECASE)
    attributes = []
    for name, kind in re.findall(r"(?im)^@attribute +(\S+) +(.*\S)", header):
        if kind.startswith("{"):
            values = clus_values(v.strip() for v in kind.strip("{}").split(","))
            attributes.append(Attribute(name, values=values))
        elif kind.lower().startswith("hierarchical"):
            attributes.append(Attribute(name, paths=tuple(kind.split(None, 1)[1].split(","))))
        else:
            attributes.append(Attribute(name))
    lines = [line for line in data.splitlines() if line.strip()]
    weights = [re.search(r",\{([^}]*)\}$", line) for line in lines]
    rows = [_read_row(re.sub(r",\{[^}]*\}$", "", line), len(attributes)) for line in lines]
    return Table(tuple(attributes), rows, np.array([float(w[1]) if w else 1.0 for w in weights]))


def _read_row(line: str, n_attributes: int) -> list[str | None]:
    if line.startswith("{"):
        cells = ["0"] * n_attributes
        for pair in line.strip("{}").split(","):
            number, value = pair.split(" ", 1)
            cells[int(number) - 1] = value
    else:
        cells = line.split(",")
    return [None if cell == "?" else cell for cell in cells]


def tree_parents(paths: Iterable[str], separator: str) -> Parents:
    """Return the labels of a tree, all prefixes of all paths, with parents; "0" ends a path."""
    parents: Parents = {}
    for path in paths:
        steps = tree_label(path, separator).split(separator)
        for depth in range(1, len(steps) + 1):
            above = separator.join(steps[: depth - 1])
            parents[separator.join(steps[:depth])] = (above,) if above else ()
    return parents


def tree_label(path: str, separator: str) -> str:
    steps = path.split(separator)
    return separator.join(steps[: steps.index("0")] if "0" in steps else steps)


def dag_parents(pairs: Iterable[str]) -> Parents:
    """Return the labels of a DAG with their parents, from parent/child pairs of the header."""
    parents: Parents = {}
    for pair in pairs:
        above, below = pair.split("/")
        parents.setdefault(above, ())
        parents[below] = (*parents.get(below, ()), above)
    parents.pop("root", None)
    return {label: tuple(p for p in above if p != "root") for label, above in parents.items()}


def clus_order(parents: Mapping[str, Sequence[str]], separator: str | None = None) -> list[str]:
    """Order labels as CLUS does: depth first, each label at its first occurrence.

    Siblings are compared by name; with a `separator`, by the last step of their path.

    >>> clus_order({"b": (), "a": (), "y": ("b",), "x": ("b", "a")})
    ['a', 'x', 'b', 'y']
    >>> clus_order({"10": (), "9": (), "9/2": ("9",)}, separator="/")
    ['9', '9/2', '10']
    """

    def compare(a: str, b: str) -> int:
        x, y = (label.split(separator)[-1] if separator else label for label in (a, b))
        if x.isdigit() and y.isdigit():
            return int(x) - int(y)
        return (x > y) - (x < y)

    children: dict[str | None, list[str]] = {}
    for label, above in parents.items():
        for parent in above or (None,):
            children.setdefault(parent, []).append(label)
    for siblings in children.values():
        siblings.sort(key=cmp_to_key(compare))
    order: dict[str, None] = {}
    stack = list(reversed(children.get(None, [])))
    while stack:
        label = stack.pop()
        if label not in order:
            order[label] = None
            stack.extend(reversed(children.get(label, [])))
    return list(order)


def clus_weights(order: Sequence[str], parents: Parents, kind: str, w0: float) -> np.ndarray:
    """Return the label weights of CLUS; top-level labels have weight 1."""
    combine = {
        "ExpSumParentWeight": sum,
        "ExpAvgParentWeight": lambda weights: sum(weights) / len(weights),
        "ExpMinParentWeight": min,
        "ExpMaxParentWeight": max,
    }.get(kind)
    if combine is None:  # NoWeight
        return np.ones(len(order))
    known: dict[str, float] = {}

    def weight(label: str) -> float:
        if label not in known:
            above = [weight(p) for p in parents[label]]
            known[label] = w0 * combine(above) if above else 1.0
        return known[label]

    return np.array([weight(label) for label in order])


@dataclass(frozen=True)
class Data:
    """Rows for a learner; X has codes of nominal attributes in CLUS's order, NaN is missing."""

    attributes: tuple[Attribute, ...]
    X: np.ndarray
    Y: np.ndarray
    sample_weight: np.ndarray

    def columns(self) -> list[reference.Column]:
        values = zip(self.attributes, self.X.T, strict=True)
        return [reference.Column(x, len(attribute.values)) for attribute, x in values]

    def __add__(self, other: Data) -> Data:
        return Data(
            self.attributes,
            np.concatenate([self.X, other.X]),
            np.concatenate([self.Y, other.Y]),
            np.concatenate([self.sample_weight, other.sample_weight]),
        )


@dataclass(frozen=True)
class Case:
    """One settings file of the CLUS results, e.g. ``Case("t01_tree_numeric", "run_minw5")``."""

    folder: str
    run: str

    def __str__(self) -> str:
        return f"{self.folder}/{self.run}"

    def path(self, ending: str) -> Path:
        return clus_oracle.TINY / self.folder / f"{self.run}{ending}"

    @cached_property
    def settings(self) -> clus_oracle.Settings:
        return clus_oracle.read_settings(self.path(".s"))

    def option(self, section: str, name: str, default: str = "") -> str:
        return self.settings.get(section, {}).get(name, default)

    @cached_property
    def table(self) -> Table:
        return read_table(self.path(".s").parent / self.option("Data", "File"))

    @cached_property
    def targets(self) -> tuple[int, ...]:
        """Positions of the target attributes."""
        if span := self.option("Attributes", "Target"):
            first, last = map(int, span.split("-"))
            return tuple(range(first - 1, last))
        return (len(self.table.attributes) - 1,)

    @property
    def is_hierarchical(self) -> bool:
        return bool(self.table.attributes[self.targets[0]].paths)

    @property
    def is_nominal(self) -> bool:
        return bool(self.table.attributes[self.targets[0]].values)

    @property
    def separator(self) -> str | None:
        if self.option("Hierarchical", "Type") == "DAG":
            return None
        return self.option("Hierarchical", "HSeparator", ".")

    @cached_property
    def parents(self) -> Parents:
        paths = self.table.attributes[self.targets[0]].paths
        return tree_parents(paths, self.separator) if self.separator else dag_parents(paths)

    @cached_property
    def labels(self) -> list[str]:
        """Labels in CLUS's order; for nominal targets, "y" if binary, otherwise "y=value"."""
        if self.is_hierarchical:
            return clus_order(self.parents, self.separator)
        labels = []
        for target in (self.table.attributes[i] for i in self.targets):
            if target.values == ("1", "0"):
                labels.append(target.name)
            else:
                labels.extend(f"{target.name}={value}" for value in target.values)
        return labels

    @property
    def label_groups(self) -> list[list[int]]:
        """Columns of Y of each target."""
        names = [label.split("=")[0] for label in self.labels]
        return [[i for i, n in enumerate(names) if n == name] for name in dict.fromkeys(names)]

    @property
    def label_weights(self) -> np.ndarray:
        if not self.is_hierarchical:
            return np.ones(len(self.labels))
        kind = self.option("Hierarchical", "WType", "ExpSumParentWeight")
        w0 = float(self.option("Hierarchical", "WParam", "0.75"))
        return clus_weights(self.labels, self.parents, kind, w0)

    @cached_property
    def train(self) -> Data:
        """The rows that the final tree is grown on: the training set and the prune set, if any."""
        data = self.encode(self.table)
        if self.option("Data", "PruneSet"):
            return data + self.encode(read_table(self.path(".s").with_name("valid.arff")))
        return data

    @cached_property
    def test(self) -> Data:
        return self.encode(read_table(self.path(".s").with_name(self.option("Data", "TestSet"))))

    def encode(self, table: Table) -> Data:
        places = [i for i in range(len(table.attributes)) if i not in self.targets]
        attributes = tuple(self.table.attributes[i] for i in places)
        X = [[_number(row[i], self.table.attributes[i]) for i in places] for row in table.rows]
        Y = np.array([self._label_row(row) for row in table.rows], dtype=float)
        return Data(attributes, np.array(X, dtype=float), Y, table.weights)

    def _label_row(self, row: list[str | None]) -> list[bool]:
        if self.is_hierarchical:
            held = self._closed(row[self.targets[0]])
        else:
            held = set()
            for i in self.targets:
                name = self.table.attributes[i].name
                held |= {f"{name}={row[i]}"} | ({name} if row[i] == "1" else set())
        return [label in held for label in self.labels]

    def _closed(self, cell: str | None) -> set[str]:
        """Return a label set with all ancestors; "?" and "n" stand for the empty set."""
        waiting = [] if cell in (None, "n") else str(cell).split("@")
        if self.separator:
            waiting = [tree_label(path, self.separator) for path in waiting]
        held: set[str] = set()
        while waiting:
            label = waiting.pop()
            if label not in held:
                held.add(label)
                waiting.extend(self.parents[label])
        return held

    def reference_settings(self) -> reference.Settings:
        """Return the settings file as settings of `reference.grow`."""
        f_test = clus_oracle.read_summary(self.path(".out"))["f_test"]  # the chosen one of a list
        heuristic = self.option("Tree", "Heuristic", "Default")
        nominal = {"GainRatio": "gain_ratio", "VarianceReduction": "gini"}.get(
            heuristic, "entropy"
        )
        depth = self.option("Constraints", "MaxDepth")
        middle = self.option("Tree", "SplitPosition") == "Middle"
        return reference.Settings(
            criterion=nominal if self.is_nominal else "variance",
            thresholds="midpoint" if middle else "observed",
            nary=self.option("Tree", "BinarySplit") == "No",
            subsets=self.option("Model", "NominalSubsetTests") != "No",
            max_depth=int(depth) if depth else None,
            min_weight=float(self.option("Model", "MinimalWeight", "2.0")),
            f_test=f_test,
            clus="nominal" if self.is_nominal else "hierarchical",
        )


def _number(cell: str | None, attribute: Attribute) -> float:
    if cell is None:
        return np.nan
    return attribute.values.index(cell) if attribute.values else float(cell)


def all_cases() -> list[Case]:
    """Return all cases; empty if the results are not available."""
    files = sorted(clus_oracle.TINY.glob("*/run*.s"))
    return [Case(file.parent.name, file.stem) for file in files]


def single_tree_cases() -> list[Case]:
    """Return the cases that grow a single classification tree."""
    return [
        case
        for case in all_cases()
        if "Ensemble" not in case.settings and not case.folder.startswith("t14")
    ]


def printed_form(node: reference.Node, case: Case) -> TreeNode:
    """Convert a tree of the reference implementation to the form of parsed CLUS trees."""
    if node.is_leaf:
        return _printed_leaf(node, case)
    attribute = case.train.attributes[node.test.column]
    threshold = node.test.threshold if node.test.kind == "numeric" else None
    values = tuple(attribute.values[v] for v in node.test.values)
    if node.test.kind == "nary" and len(attribute.values) == 2:
        values = ("yes", "no")
    test = TreeTest(attribute.name, node.test.kind, threshold, values)
    return TreeNode(test, [printed_form(child, case) for child in node.children])


def _printed_leaf(node: reference.Node, case: Case) -> TreeNode:
    if case.is_hierarchical:
        return TreeNode(value=tuple(node.value), weight=node.weight)
    predicted, counts = [], []
    for group in case.label_groups:
        values = [case.labels[i].split("=")[-1] for i in group]
        weights = list(node.sums[group])
        if len(group) == 1:
            values, weights = ["1", "0"], [weights[0], node.weight - weights[0]]
        predicted.append(values[int(np.argmax(weights))])
        counts.append(max(weights))
    return TreeNode(predicted=tuple(predicted), counts=tuple(counts), weight=node.weight)
