"""Code shared by nominal and numeric targets, which have one column of the data per target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ramify.apps.clus.models import Model
from ramify.apps.clus.settings import Settings
from ramify.apps.clus.values import numbers

__all__ = [
    "TableTarget",
    "error_line",
    "in_order",
    "weights_text",
]


_MOST_WEIGHTS = 10  # CLUS lists 6 weights, but not 14

Table = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class TableTarget:
    """One or several targets in columns of the file."""

    names: tuple[str, ...]  # the target attributes
    positions: tuple[int, ...]  # their positions in the file
    factors: Table  # their weights in the heuristic
    normalize: bool  # whether to divide by their variances or Gini indices
    # The weights of the training rows, for the errors; set when the rows are described.
    scale: list[Table] = field(default_factory=list, repr=False)

    thresholds: ClassVar[tuple[float, ...]] = ()
    usual_pruning: ClassVar[str]

    @property
    def section(self) -> str:
        """The section of the settings about this kind of target."""
        return ""

    def is_known(self, y: Table) -> NDArray[np.bool_]:
        """Return which rows have a known target."""
        return np.asarray(~np.isnan(y).all(axis=1))

    def pruning(self, problem: Any, *, after: bool = True) -> str:
        """Return the pruning method as CLUS prints it."""
        chosen = str(problem.settings.text("Tree", "PruningMethod"))
        unused = problem.switches.forest or not after
        return self.usual_pruning if chosen == "Default" and not unused else chosen

    def effective(self, settings: Settings) -> dict[tuple[str, str], str | None]:
        """Return the options that depend on the kind of target."""
        return {}

    def statistics(self, models: Sequence[Model]) -> list[str]:
        """Return further lines about the models."""
        return []

    def calculates_errors(self, settings: Settings) -> bool:
        """Return whether to evaluate the models."""
        return True

    def weigh(self, scale: Table) -> Table:
        """Return the weights of the targets, and remember them for the errors."""
        self.scale[:] = [self.factors * scale if self.normalize else self.factors]
        return self.scale[0]

    def truth(self, y: Table) -> Table:
        """Return the targets of rows."""
        return y


def error_line(name: str, text: str) -> str:
    """Return the line of a model in an error section."""
    return f"   {name:<14} : {text}"


def weights_text(weights: Table) -> str:
    """Return the weights of the targets, or only their number if there are many."""
    return numbers(weights, 3) if len(weights) <= _MOST_WEIGHTS else f"({len(weights)})"


def in_order(values: Table) -> Table:
    """Sum columns from the first row to the last, as a loop does."""
    return np.asarray(np.cumsum(values, axis=0)[-1])
