"""Early stopping: score the held-out rows after every round, and find the best round."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin

from ramify._messages import counted, did_you_mean
from ramify.labels.encoding import LabelFormat
from ramify.labels.hierarchy import Hierarchy
from ramify.metrics.scorers import (
    HierarchicalScorer,
    get_scorer,
    get_scorer_names,
    name_in_scikit_learn,
)


def read_scoring(scoring: Any) -> Callable[..., float] | None:
    """Return the scorer that a parameter stands for, or None for the loss.

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
            f"got {scoring!r}."
            f"{name_in_scikit_learn(scoring) or did_you_mean(scoring, ['loss', *names])}"
        )
    if not callable(scoring):
        raise ValueError(
            f"scoring must be 'loss', a scorer or a name in ramify.metrics.get_scorer_names(), "
            f"got {scoring!r}."
        )
    found: Callable[..., float] = scoring
    return found


@dataclass(frozen=True, eq=False)
class HeldOutModel(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The model after some rounds, as a scorer sees it: it predicts the held-out rows only."""

    scores: NDArray[np.float64]
    hierarchy_: Hierarchy
    classes_: NDArray[Any]
    decide: Callable[[NDArray[np.float64]], sparse.csr_array[np.int32]]
    write: Callable[[sparse.csr_array[np.int32]], Any]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probabilities of the held-out rows."""
        return self.scores

    def predict(self, X: Any) -> Any:
        """Return the labels of the held-out rows."""
        return self.write(self.decide(self.scores))


def labels_for(scorer: Any, format_: LabelFormat) -> Callable[[sparse.csr_array[np.int32]], Any]:
    """Return how to write label sets for a scorer; scikit-learn's know classes and arrays."""
    if isinstance(scorer, HierarchicalScorer):
        return lambda Y: Y
    if format_.single_label:
        return format_.write
    return lambda Y: np.asarray(Y.toarray())


def score_held_out(scorer: Callable[..., float], *args: Any, **weighted: Any) -> float:
    """Call a scorer; explain errors of one of another library."""
    try:
        return float(scorer(*args, **weighted))
    except (ValueError, TypeError) as error:
        if isinstance(scorer, HierarchicalScorer):
            raise
        raise ValueError(
            f"scoring {scorer!r} cannot score labels of this form: {error} Pass a name in "
            "ramify.metrics.get_scorer_names(), such as 'pooled_auprc' or 'subset_accuracy'."
        ) from error


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

    def rounds_to_keep(self) -> int:
        """Return the number of rounds with the best score; warn if there are none."""
        best = self.best_round
        if best == 0 and len(self.scores) > 1:
            warnings.warn(
                f"no rounds are kept: in {counted(len(self.scores) - 1, 'round')}, scoring was "
                f"never better than for the label shares, {self.scores[0]:.4g}. Use a larger "
                "n_iter_no_change, or another scoring, such as 'loss' or 'pooled_auprc'.",
                UserWarning,
                stacklevel=5,
            )
        return best

    def write(self) -> str:
        """Return the latest and the best score, for the progress bar."""
        scored = self.scores[:: self.every]
        if not scored:
            return ""
        return f"validation score {scored[-1]:.4g}, best {max(scored):.4g}"
