"""The elements of a drawn tree: boxes with lines of text, and edges between them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from textwrap import wrap

import numpy as np
from numpy.typing import NDArray

from ramify._messages import counted
from ramify.inspection.outline import LabelChoice, make_outline, outline_moves
from ramify.inspection.summary import NodeSummary, TreeSummary
from ramify.inspection.text import count_tests, rows_of

FONT_SIZE = 10.0
LINE_HEIGHT = 14.0
CHAR_WIDTH = 6.0  # average character width at this font size
PADDING = 7.0
_WRAP = 26
_MAX_NAME = 34


@dataclass(frozen=True)
class BoxLine:
    """A line of text in a box."""

    text: str  # the text on the left
    kind: str  # A test, a note in small grey type, or a label of the hierarchy
    # Probability of a label, shown on the right and as a bar behind the text.
    probability: float | None = None


@dataclass(frozen=True)
class Box:
    """A node of the picture, centred at (x, y); y increases downwards."""

    node: int  # number of the node
    lines: tuple[BoxLine, ...]  # lines of text
    # From 0 (as mixed as the root) to 1 (all rows have the same labels). 0 in boosted trees.
    purity: float
    is_leaf: bool  # whether the node is a leaf
    is_cut: bool  # whether there are tests below the node that are not drawn
    hint: str  # the conditions on the path to the node, shown as a tooltip
    width: float
    height: float
    x: float = 0.0  # position and size in points
    y: float = 0.0


@dataclass(frozen=True)
class Edge:
    """A branch: the boxes it connects (positions in the list), the answer and its share."""

    above: int
    below: int
    answer: str
    share: float


@dataclass(frozen=True)
class Picture:
    """One tree as boxes and edges."""

    titles: tuple[tuple[str, float, float], ...]  # names of trees and the positions of their text
    boxes: tuple[Box, ...]  # the nodes, parents before their children
    edges: tuple[Edge, ...]  # the branches
    width: float = 0.0  # size of the picture in points
    height: float = 0.0
    sideways: bool = False  # whether the root is on the left instead of at the top


def draw_boxes(tree: TreeSummary, choice: LabelChoice, max_depth: int | None) -> Picture:
    """Return the boxes of a tree, without positions."""
    choice = choice.for_tree(tree.labels)
    spread = 0.0 if tree.unit == "margin" else _spread(tree.value(0))
    boxes: list[Box] = []
    edges: list[Edge] = []
    stack = [(0, -1)]
    while stack:
        number, above = stack.pop()
        node = tree.nodes[number]
        cut = not node.is_leaf and max_depth is not None and node.depth >= max_depth
        if above >= 0:
            parent = tree.nodes[node.parent]
            answer = parent.test.answer(node.branch) if parent.test else ""
            edges.append(Edge(above, len(boxes), _shorten(answer), parent.shares[node.branch]))
        if not node.is_leaf and not cut:
            stack.extend((child, len(boxes)) for child in reversed(node.children))
        boxes.append(_box(tree, node, choice, cut, spread))
    titles = ((tree.name, 0.0, 0.0),) if tree.name else ()
    return Picture(titles, tuple(boxes), tuple(edges))


def _spread(value: NDArray[np.float64]) -> float:
    """Return the sum of the variances of the labels."""
    return float((value * (1 - value)).sum())


def _box(
    tree: TreeSummary, node: NodeSummary, choice: LabelChoice, cut: bool, spread: float
) -> Box:
    ends = node.is_leaf or cut
    lines = tuple(_leaf_lines(tree, node, choice, cut) if ends else _test_lines(node))
    value = tree.value(node.number)
    purity = 1 - _spread(value) / spread if spread > 0 else float(tree.unit != "margin")
    return Box(
        node=node.number,
        lines=lines,
        purity=float(np.clip(purity, 0, 1)),
        is_leaf=node.is_leaf,
        is_cut=cut,
        hint=_hint(tree, node),
        width=max(_line_width(line) for line in lines) + 2 * PADDING,
        height=len(lines) * LINE_HEIGHT + 2 * PADDING - 4,
    )


def _hint(tree: TreeSummary, node: NodeSummary) -> str:
    conditions = [
        above.test.condition(below.branch)
        for above, below in pairwise(tree.path(node.number))
        if above.test
    ]
    return f"node {node.number}: " + (" and ".join(conditions) or "all rows")


def _line_width(line: BoxLine) -> float:
    figures = 5 if line.probability is not None else 0
    scale = 0.9 if line.kind == "note" else 1.0
    return (len(line.text) + figures) * CHAR_WIDTH * scale


def _test_lines(node: NodeSummary) -> Iterator[BoxLine]:
    if node.test is None:
        return
    for part in wrap(node.test.question, _WRAP) or [""]:
        yield BoxLine(part, "question")
    yield BoxLine(rows_of(node), "note")
    if node.n_unknown:
        ways = ""
        if len(node.children) == 2:
            ways = f": {node.shares[0]:.0%} yes, {node.shares[1]:.0%} no"
        yield BoxLine(f"{node.n_unknown} missing{ways}".replace("%", " %"), "note")


def _leaf_lines(
    tree: TreeSummary, node: NodeSummary, choice: LabelChoice, cut: bool
) -> Iterator[BoxLine]:
    is_margin = tree.unit == "margin"
    if is_margin:
        outline = outline_moves(tree.hierarchy, tree.value(node.number), choice)
    else:
        outline = make_outline(tree.hierarchy, tree.value(node.number), tree.value(0), choice)
    for line in outline.lines:
        text = f"{'  ' * line.level}{_shorten(line.name)}"
        if is_margin:  # bars show probabilities only
            yield BoxLine(f"{text}  {line.probability:+.2f}", "label")
        else:
            yield BoxLine(text, "label", line.probability)
    if not outline.lines and not is_margin:
        yield BoxLine(f"no label with probability ≥ {choice.threshold:g}", "note")
    more = f", {counted(outline.n_hidden, 'more label')}" if outline.n_hidden else ""
    yield BoxLine(f"{rows_of(node)}{more}", "note")
    if cut:
        yield BoxLine(f"… {count_tests(tree, node)}", "note")


def _shorten(name: str) -> str:
    """Truncate a long name at the start; names usually differ at the end."""
    return name if len(name) <= _MAX_NAME else f"…{name[1 - _MAX_NAME :]}"
