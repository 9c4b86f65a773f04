"""Prediction files: the true values of the rows and the predictions of the models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ramify import _core
from ramify.apps.clus.data import Attributes, Rows
from ramify.apps.clus.hierarchical_target import HierarchicalErrors
from ramify.apps.clus.measures import Counts
from ramify.apps.clus.models import Evaluation, Model
from ramify.apps.clus.problem import Target
from ramify.apps.clus.trees import leaf_numbers, reached_leaves
from ramify.apps.clus.values import java_double


def prediction_lines(
    attributes: Attributes,
    target: Target,
    parts: Sequence[tuple[Rows, Evaluation]],
    *,
    folds: bool = False,
) -> Iterator[str]:
    """Yield the lines of a prediction file."""
    models = shown_models(parts[0][1].models)
    yield f"@RELATION '{attributes.relation}-predictions'"
    yield ""
    columns = [(attributes.names[at], "key") for at in attributes.key]
    columns += target.truth_columns()
    for model in models:
        columns += [*target.prediction_columns(model.name), (f"{model.name}-models", "string")]
    for name, kind in columns:
        yield f"@ATTRIBUTE {name:<64} {kind}"
    yield ""
    yield "@DATA"
    for at, (rows, found) in enumerate(parts):
        if folds:
            yield f"! Fold = {at}"
        yield from _data_lines(target, rows, found)


def shown_models(models: Sequence[Model]) -> list[Model]:
    """Return the models that prediction files contain."""
    return [model for model in models if model.name != "Default" and model.threshold is None]


def _data_lines(target: Target, rows: Rows, found: Evaluation) -> Iterator[str]:
    models = shown_models(found.models)
    cells = [target.prediction_cells(found.predicted[model.name]) for model in models]
    leaves = [leaf_cells(model, rows) for model in models]
    for at, truth in enumerate(target.truth_cells(rows.y)):
        line = [*rows.keys[at], *truth]
        for predicted, reached in zip(cells, leaves, strict=True):
            line += [*predicted[at], f'"{reached[at]}"']
        yield ",".join(line)


def leaf_cells(model: Model, rows: Rows) -> list[str]:
    """Return the leaves that rows reach; CLUS does not number the leaves of forests."""
    if not model.is_forest:
        numbers = leaf_numbers(model.trees[0])
        return [
            "+".join(str(numbers[node]) for node in nodes)
            for nodes in _ordered(model.trees[0], rows, numbers)
        ]
    texts = [""] * len(rows)
    for tree in model.trees:
        for at, nodes in enumerate(reached_leaves(tree, rows.X)):
            texts[at] += "+0" * len(nodes)
    return [text[1:] for text in texts]


def _ordered(tree: _core.Tree, rows: Rows, numbers: dict[int, int]) -> Iterator[list[int]]:
    for nodes in reached_leaves(tree, rows.X):
        yield sorted(nodes, key=lambda node: numbers[node])


# ---- points of curves -----------------------------------------------------------------------


def precision_recall_lines(errors: HierarchicalErrors, names: tuple[str, ...]) -> Iterator[str]:
    """Yield the lines of a file of precision-recall curves."""
    yield "Class,Recall,Precision"
    for title, counts in _curves(errors, names):
        yield from _points(title, *counts.precision_recall())


def roc_lines(errors: HierarchicalErrors, names: tuple[str, ...]) -> Iterator[str]:
    """Yield the lines of a file of ROC curves."""
    yield "Class,FP,TP"
    for title, counts in _curves(errors, names):
        yield from _points(title, *counts.roc())


def _curves(errors: HierarchicalErrors, names: tuple[str, ...]) -> Iterator[tuple[str, Counts]]:
    for at, counts in zip(errors.chosen, errors.counts, strict=True):
        yield f'"{names[at]}"', counts
    yield "ALL", errors.pooled


def _points(title: str, x: NDArray[np.float64], y: NDArray[np.float64]) -> Iterator[str]:
    for a, b in zip(x.tolist(), y.tolist(), strict=True):
        yield f"{title},{java_double(a)},{java_double(b)}"
