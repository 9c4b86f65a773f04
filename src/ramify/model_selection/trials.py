"""What is known about the candidates of a choice, and its result."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

__all__ = ["ModelChoice", "Trial"]


@dataclass(eq=False)
class Trial:
    """What was found about one candidate.

    Attributes
    ----------
    name : str
        Name of the candidate.
    estimator : classifier
        The candidate, not fitted.
    scores : dict of str to list of float
        The values of each measure per fold; larger is better. Empty if it was not tried.
    fold_seconds : list of float
        The time of each fold: to fit, to predict the test rows and to measure.
    note : str
        Why the candidate was not tried or could not be chosen, or which members a vote lacks;
        otherwise empty.
    """

    name: str
    estimator: Any
    scores: dict[str, list[float]] = field(default_factory=dict)
    fold_seconds: list[float] = field(default_factory=list)
    note: str = ""

    @property
    def seconds(self) -> float:
        """The mean time of a fold; NaN if the candidate was not tried."""
        return float(np.mean(self.fold_seconds)) if self.fold_seconds else math.nan

    def leave_out(self, note: str) -> None:
        """Forget the scores of a candidate that cannot be compared on all folds."""
        self.note, self.scores, self.fold_seconds = note, {}, []

    def mean(self, measure: str) -> float:
        """Return the mean of a measure over the folds in which it is defined, or NaN."""
        known = [value for value in self.scores.get(measure, ()) if not math.isnan(value)]
        return float(np.mean(known)) if known else math.nan

    def sd(self, measure: str) -> float:
        """Return the standard deviation of a measure over the folds; NaN for fewer than two."""
        known = [value for value in self.scores.get(measure, ()) if not math.isnan(value)]
        return float(np.std(known, ddof=1)) if len(known) > 1 else math.nan


@dataclass(frozen=True, eq=False)
class ModelChoice:
    """The chosen model and how it was found.

    Attributes
    ----------
    name : str
        Name of the chosen candidate.
    model : classifier
        The chosen candidate, fitted on all rows.
    reason : str
        Why it was chosen, as a sentence.
    scoring : str
        The measure that decided.
    trials : list of Trial
        All candidates, best first; those that were not tried come last.
    n_folds : int
        Number of folds that were used.
    fit_seconds : float
        Time to fit the chosen model on all rows.
    seconds : float
        Total time.
    """

    name: str
    model: Any
    reason: str
    scoring: str
    trials: list[Trial]
    n_folds: int
    fit_seconds: float
    seconds: float

    def trial(self, name: str) -> Trial:
        """Return the trial of a candidate."""
        return next(trial for trial in self.trials if trial.name == name)
