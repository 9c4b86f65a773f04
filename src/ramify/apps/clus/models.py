"""The models of a settings file, what was learned with them, and what they predict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify import _core
from ramify.apps.clus.data import Rows
from ramify.apps.clus.trees import TreeSize, measure_tree

# CLUS draws no targets for RSubspaces, but reports on them.
_NO_TARGETS = (
    "\t\tTarget coverage: null",
    "\t\tTarget coverage normalized: null",
    "\t\tAverage number of targets used per tree: 0.0 | "
    "Average percentage of targets used per tree: 0.0%",
)


@dataclass(frozen=True)
class Model:
    """A model of a run."""

    name: str  # default, Original, Pruned, ``T(30.0)`` or ``Forest with 50 trees``
    trees: list[_core.Tree] = field(repr=False)  # its trees
    is_forest: bool = False  # whether it is an ensemble
    threshold: float | None = None  # threshold in percent of a model that predicts label sets
    # Whether CLUS reports the number and the sizes of the trees of a forest. It reports 0 trees
    # for the methods RSubspaces and RFeatSelection.
    is_counted: bool = True
    in_subspaces: bool = False  # whether the method is RSubspaces
    # With UnknownFrequency, the share of missing values, by weight, at the nodes of each tree.
    unknown: list[NDArray[np.float64]] = field(default_factory=list, repr=False)

    @property
    def n_reported(self) -> int:
        """The number of trees that CLUS reports."""
        return len(self.trees) if self.is_counted else 0

    @property
    def sizes(self) -> list[TreeSize]:
        """The sizes of its trees."""
        return [measure_tree(tree) for tree in self.trees]


def describe(model: Model, *, members: bool) -> list[str]:
    """Return the lines about the size of a model."""
    sizes = model.sizes
    if not model.is_forest:
        return [f"     {model.name}: {sizes[0]}"]
    sizes = sizes[: model.n_reported]
    nodes, leaves = sum(s.nodes for s in sizes), sum(s.leaves for s in sizes)
    depth = _mean_depth([s.depth for s in sizes])
    lines = [
        f"     {model.name}: FOREST with {len(sizes)} models (Total nodes: {nodes}; "
        f"leaves: {leaves}; average tree depth: {depth})"
    ]
    if members:
        lines += [f"\t\tModel {at}: {size}" for at, size in enumerate(sizes, 1)]
    return lines + (list(_NO_TARGETS) if model.in_subspaces else [])


def _mean_depth(depths: list[int]) -> str:
    """Return the mean with one decimal, halves rounded up as in Java.

    >>> _mean_depth([6, 6, 6, 7]), _mean_depth([])
    ('6.3', 'NaN')
    """
    if not depths:
        return "NaN"
    mean = Decimal(sum(depths) / len(depths))
    return str(mean.quantize(Decimal("0.1"), rounding=ROUND_HALF_UP))


# ---- what a run has learned -----------------------------------------------------------------


@dataclass(frozen=True)
class Learned:
    """The models of one run."""

    models: list[Model]  # the models, in the order in which they are reported
    shown: list[Model]  # those that are printed
    train: Rows  # the rows that the models were grown on
    prune: Rows | None  # validation rows that the models were not grown on
    f_test: float  # level of the F-test
    seconds: float  # times of growing and pruning
    pruning_seconds: float = 0.0
    left_out: NDArray[np.uint8] | None = None  # for a forest, which rows each tree did not draw
    # For a ranked forest, the sums of squares of each tree: nodes by targets.
    squares: list[NDArray[np.float64]] | None = None
    # With the ranking RForest, the losses of each tree: features by measures.
    losses: list[NDArray[np.float64]] | None = None


# ---- predictions of the models for some rows ------------------------------------------------


@dataclass(frozen=True)
class Evaluation:
    """Predictions of models for some rows."""

    models: tuple[Model, ...]  # the models
    truth: Any  # the true values of the rows, in the form of the target kind
    predicted: dict[str, NDArray[np.float64]]  # the predictions of each model, by name
    # Numbers of rows of the folds of a cross-validation; one number for a single set of rows.
    folds: tuple[int, ...]
    # A model of label sets whose measures CLUS reports as if there were no rows: the third one of
    # a cross-validation, which it takes for the pruned tree.
    unmeasured: str = ""

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(self.folds)

    def lines(self, title: str, target: Any, *, errors: bool = True) -> list[str]:
        """Return an error section of a result file."""
        lines = [title, "-" * len(title), "", f"Number of examples: {self.n_rows}"]
        if errors:
            known = {
                model.name: self.predicted[model.name][: None if model.threshold is None else 0]
                for model in self.models
                if model.threshold is None or model.name == self.unmeasured
            }
            lines += target.errors(self.truth, known, self.folds)
        if any(model.threshold is not None for model in self.models):
            sets = {
                model.name: (self.predicted[model.name], model.threshold)
                for model in self.models
                if model.is_forest or model.threshold is not None
            }
            lines += target.set_errors(self.truth, sets)
        return [*lines, ""]

    def by_place(self) -> Evaluation:
        """Return the same predictions with the names of models in a summary, which go by place."""
        if any(model.threshold is None for model in self.models[3:]):
            return self
        places = ["Default", "Original", "Pruned"]
        places += [f"M{at}" for at in range(len(places) + 1, len(self.models) + 1)]
        new = {model.name: name for model, name in zip(self.models, places, strict=False)}
        return replace(
            self,
            models=tuple(replace(model, name=new[model.name]) for model in self.models),
            predicted={new[name]: found for name, found in self.predicted.items()},
            unmeasured=new.get(self.unmeasured, ""),
        )


def evaluate(target: Any, models: Sequence[Model], rows: Rows) -> Evaluation:
    """Predict rows with all models."""
    known: dict[tuple[bool, int], NDArray[np.float64]] = {}
    predicted = {}
    for model in models:
        # Forests are the first trees of the largest one.
        same = model.is_forest, len(model.trees) if model.is_forest else id(model.trees[0])
        if same not in known:
            known[same] = target.predict(model.trees, rows.X, is_forest=model.is_forest)
        predicted[model.name] = known[same]
    return Evaluation(tuple(models), target.truth(rows.y), predicted, (len(rows),))


def join(parts: Sequence[Evaluation]) -> Evaluation:
    """Join the evaluations of the folds of a cross-validation."""
    names = [model.name for model in parts[0].models]
    third = [model.name for model in parts[0].models[2:3] if model.threshold is not None]
    return Evaluation(
        parts[0].models,
        np.concatenate([part.truth for part in parts]),
        {name: _stack([part.predicted[name] for part in parts]) for name in names},
        tuple(size for part in parts for size in part.folds),
        "".join(third),
    )


def _stack(parts: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Append predictions; those of some folds may lack the last columns, which are 0."""
    width = max(part.shape[1] for part in parts)
    return np.concatenate([np.pad(part, ((0, 0), (0, width - part.shape[1]))) for part in parts])
