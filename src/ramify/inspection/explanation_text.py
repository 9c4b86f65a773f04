"""Explanations as text: a path test by test, or the largest contributions of many trees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ramify._validation import Label
from ramify.hierarchy.graph import row_of
from ramify.hierarchy.hierarchy import Hierarchy
from ramify.inspection.text import count_rows

if TYPE_CHECKING:
    from ramify.inspection.explanation import Explanation, Step

__all__ = ["text_of_explanation"]

_LEAST = 0.005  # smaller changes look like none in two digits


def text_of_explanation(
    found: Explanation, labels: Sequence[Label] | None, max_labels: int, max_features: int
) -> str:
    """Write an explanation; see `Explanation.to_text`."""
    wanted = None if labels is None else found.hierarchy.indices(labels).astype(np.int64)
    if len(found.paths) == 1:
        lines = list(_path_lines(found, wanted, max_labels))
    else:
        if wanted is None:
            wanted = _predicted(found.hierarchy, found.prediction)
        shown = wanted[:max_labels] if labels is None else wanted
        lines = [f"mean of {len(found.paths)} trees"]
        for label in shown.tolist():
            lines.extend(_contribution_lines(found, label, max_features))
    return "\n".join(lines) + "\n"


def _path_lines(
    found: Explanation, wanted: NDArray[np.int64] | None, max_labels: int
) -> Iterator[str]:
    path = found.paths[0]
    if not path.steps:
        yield "the tree is a single leaf: it predicts the same for all rows"
        return
    yield f"of {count_rows(path.n_samples)}"
    for step in path.steps:
        yield _step_line(found, step)
        if step.branch >= 0:
            yield from _changes(found.hierarchy, step, wanted, max_labels)


def _step_line(found: Explanation, step: Step) -> str:
    part = f"{step.part:.0%} of the row: ".replace("%", " %") if step.part < 1 else ""
    name = found.features.names[step.test.feature]
    value = found.features.value_text(step.test.feature, step.value)
    if step.branch < 0:
        return f"{part}{step.test.question}?  {name} = {value}: all branches, in parts"
    answer = step.test.answer(step.branch)
    return (
        f"{part}{step.test.question}?  {answer}: {name} = {value}  → {count_rows(step.n_samples)}"
    )


def _changes(
    hierarchy: Hierarchy, step: Step, wanted: NDArray[np.int64] | None, max_labels: int
) -> Iterator[str]:
    """Yield the labels that a test moves most."""
    candidates = np.arange(hierarchy.n_labels) if wanted is None else wanted
    moved = np.abs(step.change[candidates])
    order = np.argsort(-np.round(moved, 10), kind="stable")
    shown = [int(candidates[k]) for k in order.tolist() if moved[k] >= _LEAST]
    if wanted is None:
        shown = shown[:max_labels]
    names = [str(hierarchy.labels[label]) for label in shown]
    width = max(map(len, names), default=0)
    for label, name in zip(shown, names, strict=True):
        after, change = step.probability[label], step.change[label]
        yield f"   {name:<{width}}  {after - change:.2f} → {after:.2f}  {change:+.2f}"


def _predicted(hierarchy: Hierarchy, prediction: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the most specific labels from 0.5 on, or the most probable label."""
    likely = prediction >= 0.5
    if not likely.any():
        return np.array([int(prediction.argmax())])
    found = [
        label
        for label in np.flatnonzero(likely).tolist()
        if not likely[row_of(hierarchy.child_rows, label)].any()
    ]
    return np.array(sorted(found, key=lambda label: -prediction[label]))


def _contribution_lines(found: Explanation, label: int, max_features: int) -> Iterator[str]:
    before, after = found.baseline[label], found.prediction[label]
    yield f"{found.hierarchy.labels[label]}  {before:.2f} → {after:.2f}"
    column = found.contributions[:, label]
    order = np.argsort(-np.abs(column), kind="stable")
    order = order[np.abs(column[order]) > 0]
    names = [
        f"{found.features.names[j]} = {found.features.value_text(j, float(found.row[j]))}"
        for j in order[:max_features].tolist()
    ]
    width = max(map(len, names), default=0)
    for j, name in zip(order.tolist(), names, strict=False):
        yield f"   {name:<{width}}  {column[j]:+.2f}"
    rest = order[max_features:]
    if len(rest):
        text = f"{len(rest)} other features"
        yield f"   {text:<{width}}  {column[rest].sum():+.2f}"
