"""Trees as text: tests with their branches, leaves with a piece of the hierarchy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify._validation import check_number
from ramify.inspection.outline import LabelChoice, make_outline, read_choice
from ramify.inspection.summary import NodeSummary, TreeSummary, summarise

__all__ = ["count_rows", "count_tests", "export_text"]

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
    """Write a tree, or a set of trees, for people to read.

    Every test is a question, and below it stand its branches. A leaf shows how many training
    rows it has, and the labels worth knowing as an indented piece of the hierarchy, each with
    its probability and by how much that differs from the whole tree's.

    Parameters
    ----------
    model : PCTClassifier, ensemble, local architecture, or other set of trees
        Fitted; see `summarise`.
    feature_names : sequence of str, optional
        One per feature. None: the columns of `fit`'s data frame, or x0, x1, ….
    categories : mapping of feature name to sequence, optional
        What the codes of nominal features stand for; a data frame has told the model.
    threshold : float
        Labels from this probability on are shown.
    min_change : float or None
        So are labels that differ this much from the root of the tree; None: none of them.
    max_labels : int, optional
        At most so many labels a leaf, those that differ most from the root.
    labels : sequence of labels, optional
        Show exactly these in every leaf instead.
    max_depth : int, optional
        Below so many tests, the tree is cut and shown as if it ended there.
    max_trees : int, optional
        Of a set of trees, at most so many.

    Returns
    -------
    str
        The text. Thresholds have as many digits as it takes; "± unknown" counts training rows
        that had no value and went down all branches in parts.

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
    parts = [_write_tree(tree, choice, max_depth) for tree in shown]
    hidden = len(summary.trees) - len(shown)
    if hidden:
        parts.append(f"… {hidden} more trees\n")
    return "\n".join(parts)


def count_rows(n_rows: int) -> str:
    """Return a number of rows in words.

    Examples
    --------
    >>> count_rows(1), count_rows(1234)
    ('1 row', '1,234 rows')
    """
    return f"{n_rows:,} row{'' if n_rows == 1 else 's'}"


@dataclass(frozen=True)
class _Line:
    """Text at the left, figures in columns at the right."""

    left: str
    right: tuple[str, ...] = ()


def _write_tree(tree: TreeSummary, choice: LabelChoice, max_depth: int | None) -> str:
    lines = list(_Writer(tree, choice.for_tree(tree.labels), max_depth).write(0, "", ""))
    title = [f"# {tree.name}"] if tree.name else []
    return "\n".join([*title, *_align(lines)]) + "\n"


@dataclass(frozen=True)
class _Writer:
    tree: TreeSummary
    choice: LabelChoice
    max_depth: int | None

    def write(self, number: int, lead: str, below: str) -> Iterator[_Line]:
        """Write a node and all below it; `lead` precedes its first line, `below` the others."""
        node = self.tree.nodes[number]
        cut = self.max_depth is not None and node.depth >= self.max_depth
        if node.test is None or cut:
            more = "" if node.test is None else f", {count_tests(self.tree, node)}"
            yield _Line(f"{lead}{count_rows(node.n_samples)}{more}")
            yield from _leaf_lines(self.tree, node, below, self.choice)
            return
        unknown = f" ± {node.n_unknown} unknown" if node.n_unknown else ""
        yield _Line(f"{lead}{node.test.question}?  {count_rows(node.n_samples)}{unknown}")
        for branch, child in enumerate(node.children):
            last = branch == len(node.children) - 1
            answer = node.test.answer(branch)
            yield from self.write(
                child,
                f"{below}{'└─' if last else '├─'} {answer}: ",
                f"{below}{'   ' if last else '│  '}",
            )


def count_tests(tree: TreeSummary, node: NodeSummary) -> str:
    """Return how many tests a node and those below it have, in words."""
    stack, n_tests = [node.number], 0
    while stack:
        inner = tree.nodes[stack.pop()]
        n_tests += not inner.is_leaf
        stack.extend(inner.children)
    return f"{n_tests} test{'' if n_tests == 1 else 's'} below"


def _leaf_lines(
    tree: TreeSummary, node: NodeSummary, below: str, choice: LabelChoice
) -> Iterator[_Line]:
    root: NDArray[np.float64] = tree.value(0)
    outline = make_outline(tree.hierarchy, tree.value(node.number), root, choice)
    for line in outline.lines:
        change = "" if abs(line.change) < 0.005 else f"{line.change:+.2f}"
        figures = (f"{line.probability:.2f}", change)
        yield _Line(f"{below}   {'  ' * line.level}{line.name}", figures)
    if outline.n_hidden:
        yield _Line(f"{below}   … {outline.n_hidden} more")
    if not outline.lines:
        yield _Line(f"{below}   no label from {choice.threshold:g} on")


def _align(lines: list[_Line]) -> list[str]:
    """Put the figures of all lines below each other."""
    width = max((len(line.left) for line in lines if line.right), default=0) + _MIN_GAP
    aligned = []
    for line in lines:
        if not line.right:
            aligned.append(line.left)
            continue
        # Dots stand in even columns, so that those of neighbouring lines are in line.
        gap = width - len(line.left)
        dots = "".join(_DOTS[k % 2] for k in range(len(line.left), width))
        leader = f"  {dots[2:]}" if gap > 3 else " " * gap
        probability, change = line.right
        aligned.append(f"{line.left}{leader} {probability} {change:>5}".rstrip())
    return aligned
