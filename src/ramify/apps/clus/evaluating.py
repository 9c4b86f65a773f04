"""Evaluate the models of a run on training, validation and test rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify.apps.clus.data import Rows
from ramify.apps.clus.models import Model
from ramify.apps.clus.problem import Target
from ramify.apps.clus.targets.hierarchical import HierarchicalTarget

__all__ = [
    "Evaluation",
    "evaluate",
    "join",
]


@dataclass(frozen=True)
class Evaluation:
    """Predictions of models for some rows."""

    models: tuple[Model, ...]  # the models
    truth: Any  # the true values of the rows, in the form of the target kind
    predicted: dict[str, NDArray[np.float64]]  # the predictions of each model, by name
    # Numbers of rows of the folds of a cross-validation; one number for a single set of rows.
    folds: tuple[int, ...]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(self.folds)

    def lines(self, title: str, target: Target, *, errors: bool = True) -> list[str]:
        """Return an error section of a result file."""
        lines = [title, "-" * len(title), "", f"Number of examples: {self.n_rows}"]
        if errors:
            plain = [model for model in self.models if model.threshold is None]
            known = {model.name: self.predicted[model.name] for model in plain}
            lines += target.errors(self.truth, known, self.folds)
            sets = {m.name: self.predicted[m.name] for m in self.models if m.threshold is not None}
            if sets and isinstance(target, HierarchicalTarget):
                lines += target.set_errors(self.truth, sets)
        return [*lines, ""]

    def renamed(self, name: str) -> Evaluation:
        """Return the same predictions with another name for a single forest."""
        old = [model.name for model in self.models if model.is_forest]
        if len(old) != 1:
            return self
        models = tuple(replace(m, name=name) if m.name in old else m for m in self.models)
        predicted = {name if k in old else k: v for k, v in self.predicted.items()}
        return replace(self, models=models, predicted=predicted)


def evaluate(target: Target, models: Sequence[Model], rows: Rows) -> Evaluation:
    """Predict rows with all models."""
    known: dict[int, NDArray[np.float64]] = {}
    predicted = {}
    for model in models:
        same = id(model.trees[0]) if not model.is_forest else id(model)
        if same not in known:
            known[same] = target.predict(model.trees, rows.X, is_forest=model.is_forest)
        predicted[model.name] = known[same]
    return Evaluation(tuple(models), target.truth(rows.y), predicted, (len(rows),))


def join(parts: Sequence[Evaluation]) -> Evaluation:
    """Join the evaluations of the folds of a cross-validation."""
    names = [model.name for model in parts[0].models]
    return Evaluation(
        parts[0].models,
        np.concatenate([part.truth for part in parts]),
        {name: np.concatenate([part.predicted[name] for part in parts]) for name in names},
        tuple(size for part in parts for size in part.folds),
    )
