"""Lay out trees, with parents centred above their children, and the graph of related labels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sklearn.utils.validation import check_is_fitted

from ramify._validation import check_number
from ramify.inspection.drawing.picture import CHAR_WIDTH, FONT_SIZE, Box, Edge, Picture, draw_boxes
from ramify.inspection.outline import LabelChoice
from ramify.inspection.summary import TreeSummary
from ramify.local.brdt import BRDTClassifier

_GAP = 14.0  # between neighbours
_TITLE = 2.2 * FONT_SIZE
_MARGIN = 10.0
_MANY_LEAVES = 6


def make_picture(
    trees: Sequence[TreeSummary],
    choice: LabelChoice,
    *,
    max_depth: int | None,
    sideways: bool | None,
) -> Picture:
    """Lay out trees in one picture."""
    choice.check()
    if max_depth is not None:
        check_number("max_depth", max_depth, 0, whole=True)
    drawn = [draw_boxes(tree, choice, max_depth) for tree in trees]
    if sideways is None:
        most = max(sum(b.lines[0].kind != "question" for b in p.boxes) for p in drawn)
        sideways = most > _MANY_LEAVES
    return arrange([place_boxes(picture, sideways=sideways) for picture in drawn])


def place_boxes(picture: Picture, *, sideways: bool) -> Picture:
    """Compute the positions of the boxes of a tree."""
    boxes = picture.boxes
    children = _children(len(boxes), picture.edges)
    breadth = [box.height if sideways else box.width for box in boxes]
    along = [box.width if sideways else box.height for box in boxes]
    depth = _depths(len(boxes), picture.edges)
    longest = max((len(edge.answer) for edge in picture.edges), default=0)
    rank_gap = (62.0 if sideways else 40.0) + (3.0 * longest if sideways else 0.0)
    starts = _rank_starts(depth, along, rank_gap)
    needed = _needed(children, breadth)
    middle = _middles(children, breadth, needed)
    placed = []
    for k, box in enumerate(boxes):
        # Sideways boxes of the same depth are left-aligned, so texts form columns.
        rank = starts[depth[k]] + along[k] / 2
        x, y = (rank, middle[k]) if sideways else (middle[k], rank)
        placed.append(replace(box, x=x, y=y))
    title = _TITLE if picture.titles else 0.0
    placed = [replace(box, x=box.x + _MARGIN, y=box.y + _MARGIN + title) for box in placed]
    titles = tuple((text, _MARGIN, _MARGIN + FONT_SIZE) for text, _, _ in picture.titles)
    widest = max((len(text) * CHAR_WIDTH * 1.2 for text, _, _ in titles), default=0.0)
    right = max(box.x + box.width / 2 for box in placed)
    return replace(
        picture,
        titles=titles,
        boxes=tuple(placed),
        width=max(right, _MARGIN + widest) + _MARGIN,
        height=max(box.y + box.height / 2 for box in placed) + _MARGIN,
        sideways=sideways,
    )


def _children(n_boxes: int, edges: Sequence[Edge]) -> list[list[int]]:
    children: list[list[int]] = [[] for _ in range(n_boxes)]
    for edge in edges:
        children[edge.above].append(edge.below)
    return children


def _depths(n_boxes: int, edges: Sequence[Edge]) -> list[int]:
    depth = [0] * n_boxes
    for edge in edges:  # parents come first
        depth[edge.below] = depth[edge.above] + 1
    return depth


def _rank_starts(depth: list[int], along: list[float], gap: float) -> list[float]:
    starts = [0.0]
    for rank in range(max(depth)):
        largest = max(size for size, d in zip(along, depth, strict=True) if d == rank)
        starts.append(starts[-1] + largest + gap)
    return starts


def _needed(children: list[list[int]], breadth: list[float]) -> list[float]:
    """Return the breadth of each subtree."""
    needed = list(breadth)
    for k in reversed(range(len(children))):
        if children[k]:
            below = sum(needed[c] for c in children[k]) + _GAP * (len(children[k]) - 1)
            needed[k] = max(breadth[k], below)
    return needed


def _middles(children: list[list[int]], breadth: list[float], needed: list[float]) -> list[float]:
    """Return the centre of each box perpendicular to the direction of growth."""
    start = [0.0] * len(children)
    middle = [0.0] * len(children)
    for k, below in enumerate(children):
        if not below:
            middle[k] = start[k] + needed[k] / 2
            continue
        total = sum(needed[c] for c in below) + _GAP * (len(below) - 1)
        at = start[k] + (needed[k] - total) / 2
        for c in below:
            start[c] = at
            at += needed[c] + _GAP
    for k in reversed(range(len(children))):
        if children[k]:
            ends = (middle[children[k][0]], middle[children[k][-1]])
            low, high = start[k] + breadth[k] / 2, start[k] + needed[k] - breadth[k] / 2
            middle[k] = min(max(sum(ends) / 2, low), high)
    return middle


def arrange(pictures: Sequence[Picture], max_width: float = 1100.0) -> Picture:
    """Arrange several trees in one picture, row by row."""
    x = y = row_height = width = 0.0
    boxes: list[Box] = []
    edges: list[Edge] = []
    titles: list[tuple[str, float, float]] = []
    for picture in pictures:
        if x and x + picture.width > max_width:
            x, y, row_height = 0.0, y + row_height, 0.0
        first = len(boxes)
        boxes.extend(replace(b, x=b.x + x, y=b.y + y) for b in picture.boxes)
        edges.extend(
            replace(e, above=e.above + first, below=e.below + first) for e in picture.edges
        )
        titles.extend((text, left + x, top + y) for text, left, top in picture.titles)
        x += picture.width
        row_height, width = max(row_height, picture.height), max(width, x)
    return Picture(
        tuple(titles),
        tuple(boxes),
        tuple(edges),
        width,
        y + row_height,
        sideways=pictures[0].sideways,
    )


# ---- the graph of related labels ------------------------------------------------------------


_SPACE = 0.3  # between labels that are related to no other


@dataclass(frozen=True)
class RelatedLabel:
    """A label of the graph: its number, share of rows, group (-1 if alone) and place."""

    number: int
    name: Any
    share: float
    group: int
    x: float
    y: float


@dataclass(frozen=True)
class RelatedLabels:
    """The most frequent labels, and the accuracies of the rules between pairs of them."""

    labels: list[RelatedLabel]
    edges: list[tuple[int, int, float]]  # positions in `labels`; the least accurate first
    n_groups: int
    n_left_out: int


def relate_labels(model: BRDTClassifier, max_labels: int) -> RelatedLabels:
    """Summarise which labels of a fitted BR-DT are related."""
    check_is_fitted(model)
    names, shares = model.hierarchy_.labels, model.shares_.tolist()
    order = sorted(range(len(names)), key=lambda j: -shares[j])[:max_labels]
    groups = [part for part in model.components_ if len(part) > 1]
    group_of = {label: k for k, part in enumerate(groups) for label in part}
    places = _place_labels([names[j] for j in order], groups)
    labels = [
        RelatedLabel(j, names[j], shares[j], group_of.get(names[j], -1), *places[names[j]])
        for j in order
    ]
    position = {j: k for k, j in enumerate(order)}
    edges = [
        (position[one], position[other], accuracy)
        for (one, other), accuracy in model.relations().items()
        if one in position and other in position
    ]
    edges.sort(key=lambda edge: edge[2])
    return RelatedLabels(labels, edges, len(model.components_), len(names) - len(order))


def _place_labels(shown: list[Any], groups: list[Any]) -> dict[Any, tuple[float, float]]:
    places: dict[Any, tuple[float, float]] = {}
    left = 0.0
    for group in groups:
        part = [label for label in shown if label in group]
        radius = max(0.35, 0.09 * len(part))
        for k, label in enumerate(part):
            angle = math.pi / 2 - 2 * math.pi * k / len(part)
            places[label] = (left + radius * (1 + math.cos(angle)), radius * math.sin(angle))
        left += 2 * radius + 0.5
    bottom = min((y for _, y in places.values()), default=0.0)
    alone = [label for label in shown if label not in places]
    n_across = max(8, int(left / _SPACE))
    for k, label in enumerate(alone):
        places[label] = (_SPACE * (k % n_across), bottom - 0.4 - _SPACE * (k // n_across))
    return places
