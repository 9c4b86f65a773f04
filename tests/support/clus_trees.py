"""Parse decision trees printed by CLUS into a neutral form, and compare trees in this form."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class TreeTest:
    """A test: `attribute > threshold`, `attribute in values`, or one branch per value."""

    attribute: str
    kind: str  # "numeric", "subset", "nary"
    threshold: float | None = None
    values: tuple[str, ...] = ()  # "nary": one per branch, in the order of the branches


@dataclass
class TreeNode:
    """A node of a tree in the neutral form.

    A leaf has a weight and either `value`, the vector of label proportions or of means (NaN if
    unknown), or `predicted` with the weight of each predicted value in `counts`.
    """

    test: TreeTest | None = None
    branches: list[TreeNode] = field(default_factory=list)
    value: tuple[float, ...] = ()
    predicted: tuple[str, ...] = ()
    counts: tuple[float, ...] = ()
    weight: float = math.nan

    @property
    def is_leaf(self) -> bool:
        return self.test is None

    def walk(self) -> Iterator[TreeNode]:
        """Yield the nodes depth first, without recursion because trees can be deep."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.branches))


_BRANCH = re.compile(r"^([| ]*)\+--(.+?): +(\S.*)$")
_LEAF = re.compile(r"^\[([^\]]*)\](?: \[([^\]]*)\])?: (\S+)$")
_LABEL_SET_LEAF = re.compile(r"^(.*) \[(\S+)\]$")


def parse_tree(text: str) -> TreeNode:
    """Parse a printed tree.

    >>> tree = parse_tree("x > 0.5\\n+--yes: [1,0]: 2\\n+--no:  [0,2.500000E-1]: 4")
    >>> tree.test.attribute, tree.test.threshold, tree.branches[1].value
    ('x', 0.5, (0.0, 0.25))
    """
    first, *lines = (line for line in text.splitlines() if line.strip())
    root = latest = _parse_content(first)
    names: dict[int, list[str]] = {}
    open_nodes: list[tuple[int, TreeNode]] = []  # (column in which the branches start, node)
    for line in lines:
        match = _BRANCH.match(line)
        if match is None:
            raise ValueError(f"not a branch of a printed tree: {line[:80]!r}")
        column = len(match[1])
        while open_nodes and open_nodes[-1][0] > column:
            open_nodes.pop()
        if not open_nodes or open_nodes[-1][0] < column:
            open_nodes.append((column, latest))
        parent = open_nodes[-1][1]
        latest = _parse_content(match[3])
        parent.branches.append(latest)
        names.setdefault(id(parent), []).append(match[2])
    for node in root.walk():
        _settle(node, names.get(id(node), []))
    return root


def _settle(node: TreeNode, branch_names: list[str]) -> None:
    """Set the values of an n-ary test, and raise an error if a test has no branches."""
    if node.test is not None and node.test.kind == "nary":
        node.test = TreeTest(node.test.attribute, "nary", values=tuple(branch_names))
    if node.test is not None and len(node.branches) < 2:
        raise ValueError(f"printed test without branches: {node.test}")


def _parse_content(content: str) -> TreeNode:
    return _parse_leaf(content) or TreeNode(_parse_test(content))


def _parse_leaf(content: str) -> TreeNode | None:
    if match := _LEAF.match(content):
        weight = float(match[3])
        entries = tuple(match[1].split(","))
        if match[2] is None:
            values = (math.nan if entry == "?" else float(entry) for entry in entries)
            return TreeNode(value=tuple(values), weight=weight)
        counts = tuple(map(float, match[2].split(",")))
        return TreeNode(predicted=entries, counts=counts, weight=weight)
    if match := _LABEL_SET_LEAF.match(content):
        return TreeNode(predicted=tuple(match[1].split(",")), weight=float(match[2]))
    return None


def _parse_test(content: str) -> TreeTest:
    if match := re.match(r"^(.*) > (\S+)$", content):
        return TreeTest(match[1], "numeric", threshold=float(match[2]))
    if match := re.match(r"^(.*) in \{(.*)\}$", content):
        return TreeTest(match[1], "subset", values=tuple(match[2].split(",")))
    if match := re.match(r"^(.*) = (\S+)$", content):
        return TreeTest(match[1], "subset", values=(match[2],))
    return TreeTest(content.strip(), "nary")


def parse_models(text: str) -> list[TreeNode]:
    """Parse one printed tree, or all trees of a forest, each with the heading `Model i:`."""
    pieces = re.split(r"^Model \d+: *$", text, flags=re.MULTILINE)
    return [parse_tree(piece) for piece in pieces if piece.strip()]


# CLUS prints six decimals of the mantissa: the largest relative rounding error.
PRINTED = 5.1e-7


def differences(expected: TreeNode, actual: TreeNode, where: str = "root") -> list[str]:
    """List the differences of two trees in tests, leaf vectors and weights, up to rounding."""
    found = []
    stack = [(where, expected, actual)]
    while stack:
        path, a, b = stack.pop()
        if a.test != b.test:
            found.append(f"{path}: expected {a.test or 'a leaf'}, got {b.test or 'a leaf'}")
        elif a.is_leaf:
            found.extend(f"{path}: {problem}" for problem in _leaf_differences(a, b))
        else:
            pairs = zip(a.branches, b.branches, strict=True)
            stack.extend((f"{path}.{i}", x, y) for i, (x, y) in enumerate(pairs))
    return found


def _leaf_differences(a: TreeNode, b: TreeNode) -> Iterator[str]:
    if a.predicted != b.predicted:
        yield f"expected {a.predicted}, got {b.predicted}"
    for name in ("value", "counts", "weight"):
        x, y = np.atleast_1d(getattr(a, name)), np.atleast_1d(getattr(b, name))
        if x.shape != y.shape:
            yield f"expected {len(x)} entries of {name}, got {len(y)}"
        elif not np.allclose(x, y, rtol=PRINTED, atol=1e-12, equal_nan=True):
            worst = int(np.argmax(np.nan_to_num(abs(x - y), nan=np.inf)))
            yield f"{name}[{worst}] is {y[worst]}, expected {x[worst]}"
