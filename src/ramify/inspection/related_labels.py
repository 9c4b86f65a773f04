"""The graph of related labels of BR-DT, laid out for plots and pages."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from sklearn.utils.validation import check_is_fitted

from ramify.local.brdt import BRDTClassifier

_GAP = 0.3  # between labels that are related to no other


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
    places = _place([names[j] for j in order], groups)
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


def _place(shown: list[Any], groups: list[Any]) -> dict[Any, tuple[float, float]]:
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
    n_across = max(8, int(left / _GAP))
    for k, label in enumerate(alone):
        places[label] = (_GAP * (k % n_across), bottom - 0.4 - _GAP * (k // n_across))
    return places
