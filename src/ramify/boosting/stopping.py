"""Early stopping: score the held-out rows after every round, and find the best round."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify._messages import did_you_mean
from ramify.labels.hierarchy import Hierarchy
from ramify.metrics.scorers import get_scorer, get_scorer_names


def read_scoring(scoring: Any) -> Callable[..., float] | None:
    """Return the scorer that a parameter stands for, or None for the loss.

    Examples
    --------
    >>> read_scoring("pooled_auprc")
    HierarchicalScorer(pooled_auprc)
    """
    if isinstance(scoring, str):
        if scoring == "loss":
            return None
        names = get_scorer_names()
        if scoring in names:
            return get_scorer(scoring)
        raise ValueError(
            f"scoring must be 'loss', a scorer or a name in ramify.metrics.get_scorer_names(), "
            f"got {scoring!r}.{did_you_mean(scoring, ['loss', *names])}"
        )
    if not callable(scoring):
        raise ValueError(
            f"scoring must be 'loss', a scorer or a name in ramify.metrics.get_scorer_names(), "
            f"got {scoring!r}."
        )
    found: Callable[..., float] = scoring
    return found


@dataclass(frozen=True)
class HeldOutModel:
    """The model after some rounds, as a scorer sees it: it predicts the held-out rows only."""

    scores: NDArray[np.float64]
    hierarchy_: Hierarchy
    classes_: NDArray[Any]
    decide: Callable[[NDArray[np.float64]], sparse.csr_array[np.int32]]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probabilities of the held-out rows."""
        return self.scores

    def predict(self, X: Any) -> sparse.csr_array[np.int32]:
        """Return the label sets of the held-out rows."""
        return self.decide(self.scores)


@dataclass
class Course:
    """The scores of the held-out rows before the first round and after some or all rounds."""

    score: Callable[[], float]  # returns the score of the model learnt so far; larger is better
    n_iter_no_change: int  # number of rounds without improvement after which to stop
    tol: float  # the smallest improvement that counts
    every: int = 1  # number of rounds from one score to the next
    # The scores, NaN after rounds that are not scored.
    scores: list[float] = field(default_factory=list)
    _reference: float = -math.inf
    _n_stalled: int = 0

    def record(self) -> None:
        """Score the model if a score is due, and compare the score with earlier ones."""
        if len(self.scores) % self.every:
            self.scores.append(math.nan)
            self._n_stalled += 1
            return
        score = float(self.score())
        if math.isnan(score):
            raise ValueError(
                "scoring must be a number on the held-out rows, got nan. Hold out more rows, or "
                "use another scoring, such as 'loss'."
            )
        self.scores.append(score)
        if score > self._reference + self.tol:
            self._reference, self._n_stalled = score, 0
        else:
            self._n_stalled += 1

    @property
    def has_stalled(self) -> bool:
        """Whether the score has stopped improving."""
        is_scored = (len(self.scores) - 1) % self.every == 0
        return is_scored and self._n_stalled >= self.n_iter_no_change

    @property
    def best_round(self) -> int:
        """The number of rounds with the best score."""
        return int(np.nanargmax(self.scores))

    def write(self) -> str:
        """Return the latest and the best score, for the progress bar."""
        scored = self.scores[:: self.every]
        if not scored:
            return ""
        return f"validation score {scored[-1]:.4g}, best {max(scored):.4g}"
