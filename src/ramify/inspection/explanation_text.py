"""Parts of an explanation as text: a path test by test, and the largest contributions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ramify.hierarchy.graph import row_of
from ramify.hierarchy.hierarchy import Hierarchy
from ramify.inspection.node_tests import FeatureNames
from ramify.inspection.text import count_rows
from ramify.inspection.tree_paths import Step, TreePath

__all__ = ["contribution_lines", "path_lines", "predicted_labels"]

_MIN_CHANGE = 0.005  # smaller changes round to 0.00


def path_lines(
    path: TreePath,
    hierarchy: Hierarchy,
    features: FeatureNames,
    wanted: NDArray[np.int64] | None,
    max_labels: int,
) -> Iterator[str]:
    """Yield a line for each test and, below it, the labels whose probability it changes."""
    if not path.steps:
        yield "the tree is a single leaf: it predicts the same for all rows"
        return
    yield f"of {count_rows(path.n_samples)}"
    for step in path.steps:
        yield _step_line(step, features)
        if step.branch >= 0:
            yield from _changes(hierarchy, step, wanted, max_labels)


def _step_line(step: Step, features: FeatureNames) -> str:
    part = f"{step.part:.0%} of the row: ".replace("%", " %") if step.part < 1 else ""
    name = features.names[step.test.feature]
    value = features.value_text(step.test.feature, step.value)
    if step.branch < 0:
        return f"{part}{step.test.question}?  {name} = {value}: divided among all branches"
    answer = step.test.answer(step.branch)
    return (
        f"{part}{step.test.question}?  {answer}: {name} = {value}  → {count_rows(step.n_samples)}"
    )


def _changes(
    hierarchy: Hierarchy, step: Step, wanted: NDArray[np.int64] | None, max_labels: int
) -> Iterator[str]:
    """Yield the labels whose probability a test changes most."""
    candidates = np.arange(hierarchy.n_labels) if wanted is None else wanted
    moved = np.abs(step.change[candidates])
    order = np.argsort(-np.round(moved, 10), kind="stable")
    shown = [int(candidates[k]) for k in order.tolist() if moved[k] >= _MIN_CHANGE]
    if wanted is None:
        shown = shown[:max_labels]
    names = [str(hierarchy.labels[label]) for label in shown]
    width = max(map(len, names), default=0)
    for label, name in zip(shown, names, strict=True):
        after, change = step.probability[label], step.change[label]
        yield f"   {name:<{width}}  {after - change:.2f} → {after:.2f}  {change:+.2f}"


def predicted_labels(
    hierarchy: Hierarchy, prediction: NDArray[np.float64], least: float = 0.5
) -> NDArray[np.int64]:
    """Return the most specific labels of at least `least`, or the label with the largest value."""
    likely = prediction >= least
    if not likely.any():
        return np.array([int(prediction.argmax())])
    found = [
        label
        for label in np.flatnonzero(likely).tolist()
        if not likely[row_of(hierarchy.child_rows, label)].any()
    ]
    return np.array(sorted(found, key=lambda label: -prediction[label]))


def contribution_lines(
    column: NDArray[np.float64],
    row: NDArray[np.float64],
    features: FeatureNames,
    max_features: int,
) -> Iterator[str]:
    """Yield the largest contributions to one label, then the sum of the others."""
    order = np.argsort(-np.abs(column), kind="stable")
    order = order[np.abs(column[order]) > 0]
    names = [
        f"{features.names[j]} = {features.value_text(j, float(row[j]))}"
        for j in order[:max_features].tolist()
    ]
    width = max(map(len, names), default=0)
    for j, name in zip(order.tolist(), names, strict=False):
        yield f"   {name:<{width}}  {column[j]:+.2f}"
    rest = order[max_features:]
    if len(rest):
        text = f"{len(rest)} other features"
        yield f"   {text:<{width}}  {column[rest].sum():+.2f}"
