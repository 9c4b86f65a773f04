"""Export trees as text: tests with their branches, leaves with part of the hierarchy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify._messages import counted
from ramify._validation import check_number
from ramify.inspection.outline import LabelChoice, make_outline, outline_moves, read_choice
from ramify.inspection.summary import NodeSummary, TreeSummary, summarise

_MOST_OF_ROWS = 0.9  # with more, the number of rows says enough


_MIN_GAP = 2
_DOTS = " ·"


def export_text(
    model: Any,
    *,
    feature_names: Sequence[Any] | None = None,
    categories: Mapping[Any, Sequence[Any]] | None = None,
    threshold: float = 0.5,
    min_change: float | None = 0.35,
    max_labels: int | None = None,
    labels: Sequence[Any] | None = None,
    max_depth: int | None = None,
    max_trees: int | None = 10,
) -> str:
    """Build a text report of a tree or of a set of trees.

    Every test is shown as a question, followed by its branches. A leaf shows its number of
    training rows and its relevant labels as an indented part of the hierarchy, each with its
    probability and the difference from the probability at the root. A leaf of a boosted tree shows
    the labels whose margin it moves most, up or down; a leaf of a regression tree, the mean of
    every target.

    Parameters
    ----------
    model : PCTClassifier, PCTRegressor, ensemble, local architecture, or other set of trees
        A fitted model; see `summarise`.
    feature_names : sequence of str, optional
        One name per feature. By default, the columns of the data frame passed to `fit`, or x0,
        x1, ….
    categories : mapping of feature name to sequence, optional
        Names of the categories of nominal features. By default, those of the data frame passed
        to `fit`.
    threshold : float
        Show labels with at least this probability. Ignored for boosted trees.
    min_change : float or None
        Also show labels whose probability differs from that at the root by at least this much.
        None disables this. Ignored for boosted trees.
    max_labels : int, optional
        Maximum number of labels per leaf; those that differ most from the root are shown. At most
        6 in boosted trees by default.
    labels : sequence of labels, optional
        Show exactly these labels in every leaf instead.
    max_depth : int, optional
        Maximum depth to show. Deeper parts of the tree are cut off.
    max_trees : int, optional
        Maximum number of trees to show.

    Returns
    -------
    str
        The report. Thresholds have as many digits as necessary. ", 3 missing" is the number of
        training rows whose value was missing and which were divided among all branches.

    Examples
    --------
    >>> from ramify import PCTClassifier, load_animals
    >>> animals = load_animals()
    >>> tree = PCTClassifier(animals.hierarchy, max_depth=2).fit(animals.X, animals.y)
    >>> print(export_text(tree, max_labels=4))
    moves in {attached, crawls, drifts, swims}?  189 rows
    ├─ yes: diet in {blood, insects, mixed}?  60 rows
    │  ├─ yes: 9 rows
    │  │     habitat/freshwater   0.89 +0.71
    │  │       lake  · · · · · ·  0.67 +0.56
    │  │       pond  · · · · · ·  0.56 +0.48
    │  │       river   · · · · ·  0.56 +0.45
    │  │     … 3 more
    │  └─ no: 51 rows
    ...
    """
    for name, value in (("max_depth", max_depth), ("max_trees", max_trees)):
        if value is not None:
            check_number(name, value, 0 if name == "max_depth" else 1, whole=True)
    summary = summarise(model, feature_names=feature_names, categories=categories)
    choice = read_choice(summary.hierarchy, threshold, min_change, max_labels, labels)
    shown = summary.trees[:max_trees]
    parts = [write_tree(tree, choice, max_depth) for tree in shown]
    hidden = len(summary.trees) - len(shown)
    if hidden:
        parts.append(f"… {counted(hidden, 'more tree')}\n")
    return "\n".join(parts)


def rows_of(node: NodeSummary) -> str:
    """Format the rows of a node, and their weight if it is lower because of parts of rows."""
    rows = counted(node.n_samples, "row")
    lower = node.has_parts and node.weight < _MOST_OF_ROWS * node.n_samples
    return f"{rows}, weight {node.weight:.3g}" if lower else rows


@dataclass(frozen=True)
class _Line:
    """A line of the report: text on the left, numbers in columns on the right."""

    left: str
    right: tuple[str, ...] = ()


def write_tree(tree: TreeSummary, choice: LabelChoice, max_depth: int | None) -> str:
    """Format one tree as in `export_text`."""
    lines = list(_Writer(tree, choice.for_tree(tree.labels), max_depth).write(0, "", ""))
    title = [f"# {tree.name}"] if tree.name else []
    return "\n".join([*title, *_align(lines)]) + "\n"


@dataclass(frozen=True)
class _Writer:
    tree: TreeSummary
    choice: LabelChoice
    max_depth: int | None

    def write(self, number: int, lead: str, below: str) -> Iterator[_Line]:
        """Yield the lines of a subtree; `lead` precedes the first line, `below` the others."""
        node = self.tree.nodes[number]
        cut = self.max_depth is not None and node.depth >= self.max_depth
        if node.test is None or cut:
            more = "" if node.test is None else f", {count_tests(self.tree, node)}"
            yield _Line(f"{lead}{rows_of(node)}{more}")
            yield from _leaf_lines(self.tree, node, below, self.choice)
            return
        missing = f", {node.n_unknown:,} missing" if node.n_unknown else ""
        yield _Line(f"{lead}{node.test.question}?  {rows_of(node)}{missing}")
        for branch, child in enumerate(node.children):
            last = branch == len(node.children) - 1
            answer = node.test.answer(branch)
            yield from self.write(
                child,
                f"{below}{'└─' if last else '├─'} {answer}: ",
                f"{below}{'   ' if last else '│  '}",
            )


def count_tests(tree: TreeSummary, node: NodeSummary) -> str:
    """Format the number of tests in the subtree of a node."""
    stack, n_tests = [node.number], 0
    while stack:
        inner = tree.nodes[stack.pop()]
        n_tests += not inner.is_leaf
        stack.extend(inner.children)
    return f"{n_tests} test{'' if n_tests == 1 else 's'} below"


def _leaf_lines(
    tree: TreeSummary, node: NodeSummary, below: str, choice: LabelChoice
) -> Iterator[_Line]:
    if tree.unit == "margin":
        yield from _move_lines(tree, node, below, choice)
        return
    if tree.unit == "value":
        yield from _value_lines(tree, node, below)
        return
    root: NDArray[np.float64] = tree.value(0)
    outline = make_outline(tree.hierarchy, tree.value(node.number), root, choice)
    for line in outline.lines:
        change = "" if abs(line.change) < 0.005 else f"{line.change:+.2f}"
        figures = (f"{line.probability:.2f}", change)
        yield _Line(f"{below}   {'  ' * line.level}{line.name}", figures)
    if outline.n_hidden:
        yield _Line(f"{below}   … {outline.n_hidden} more")
    if not outline.lines:
        yield _Line(f"{below}   no label with probability ≥ {choice.threshold:g}")


def _move_lines(
    tree: TreeSummary, node: NodeSummary, below: str, choice: LabelChoice
) -> Iterator[_Line]:
    outline = outline_moves(tree.hierarchy, tree.value(node.number), choice)
    for line in outline.lines:
        figures = (f"{line.probability:+.2f}", "")
        yield _Line(f"{below}   {'  ' * line.level}{line.name}", figures)
    if outline.n_hidden:
        yield _Line(f"{below}   … {outline.n_hidden} more")
    if not outline.lines:
        yield _Line(f"{below}   no margin moves by 0.005 or more")


def _value_lines(tree: TreeSummary, node: NodeSummary, below: str) -> Iterator[_Line]:
    """Yield the value of every target, in the order of the targets."""
    values: NDArray[np.float64] = tree.value(node.number)
    for label in tree.labels.tolist():
        yield _Line(f"{below}   {tree.hierarchy.labels[label]}", (f"{values[label]:.4g}", ""))


def _align(lines: list[_Line]) -> list[str]:
    """Align the numbers of all lines."""
    width = max((len(line.left) for line in lines if line.right), default=0) + _MIN_GAP
    aligned = []
    for line in lines:
        if not line.right:
            aligned.append(line.left)
            continue
        # Dots are placed in even columns to align those of adjacent lines.
        gap = width - len(line.left)
        dots = "".join(_DOTS[k % 2] for k in range(len(line.left), width))
        leader = f"  {dots[2:]}" if gap > 3 else " " * gap
        probability, change = line.right
        aligned.append(f"{line.left}{leader} {probability} {change:>5}".rstrip())
    return aligned
