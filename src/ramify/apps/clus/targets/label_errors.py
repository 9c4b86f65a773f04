"""The multi-label errors of CLUS, which it also computes for hierarchical targets."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ramify.apps.clus.values import number
from ramify.metrics import clus_multilabel_measures

__all__ = [
    "LabelErrors",
]


# The order in which CLUS lists the errors of hierarchical targets.
_HIERARCHICAL = (
    "HammingLoss",
    "AveragePrecision",
    "Coverage",
    "MacroFOne",
    "MacroPrecision",
    "MacroRecall",
    "MicroFOne",
    "MicroPrecision",
    "MicroRecall",
    "MLAccuracy",
    "MLFOneMeasure",
    "MLPrecision",
    "MLRecall",
    "OneError",
    "RankingLoss",
    "SubsetAccuracy",
    "averageAUPRC",
    "averageAUROC",
    "pooledAUPRC",
    "weightedAUPRC",
)


@dataclass(frozen=True)
class LabelErrors:
    """The multi-label errors of one model."""

    truth: NDArray[np.bool_]  # true labels
    scores: NDArray[np.float64]  # predictions
    # Numbers of rows of the folds of a cross-validation; one number for a single set of rows.
    folds: Sequence[int]
    threshold: float = 0.5  # A label is predicted if its score is at least the threshold

    @cached_property
    def values(self) -> dict[str, float]:
        """All errors by name."""
        with warnings.catch_warnings():
            # CLUS also reports NaN for undefined measures.
            warnings.simplefilter("ignore")
            found = clus_multilabel_measures(
                self.truth.astype(np.int32), self.scores, threshold=self.threshold
            )
        # CLUS divides the correct rows of all folds by the number of rows of the last one.
        last = self.folds[-1]
        found["SubsetAccuracy"] *= len(self.truth) / last if last else np.nan
        return found

    @cached_property
    def macro(self) -> dict[str, NDArray[np.float64]]:
        """The errors of each label."""
        chosen = self.scores >= self.threshold
        hits = (self.truth & chosen).sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            precision = hits / chosen.sum(axis=0)
            recall = hits / self.truth.sum(axis=0)
            f1 = 2 * precision * recall / (precision + recall)
        return {"MacroPrecision": precision, "MacroRecall": recall, "MacroFOne": f1}

    def text(self, name: str, digits: int) -> str:
        """Return an error as text; those of each label in brackets, followed by the mean."""
        if name in self.macro:
            values = self.macro[name]
            shown = ", ".join(number(float(value), digits) for value in values)
            return f"[{shown}]: {number(float(np.mean(values)), digits)}"
        return number(self.values[name], digits)

    def hierarchical_lines(self) -> list[str]:
        """Return the lines of a model of a hierarchical target."""
        return [f"      {name + ':':<26}{self.text(name, 6)}" for name in _HIERARCHICAL]
