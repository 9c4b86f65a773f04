"""Candidates of a comparison, their trials and their times."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from ramify._messages import did_you_mean
from ramify._validation import check_classifier
from ramify.boosting.classifier import PCTGradientBoostingClassifier
from ramify.data.columns import text_columns
from ramify.data.texts import are_texts
from ramify.decision.best_sets import count_ends
from ramify.labels.encoding import EncodedLabels
from ramify.local.classifiers import PerParentClassifier
from ramify.local.linear_classifier import LinearClassifier
from ramify.meta.blend import BlendClassifier
from ramify.meta.voting import HierarchicalVotingClassifier
from ramify.trees.classifier import PCTClassifier
from ramify.trees.forests import PCTExtraTreesClassifier, PCTForestClassifier

BASELINE = "label shares"
"""Name of the baseline: a tree without tests predicts the share of every label."""


def default_candidates(X: Any, encoded: EncodedLabels) -> list[tuple[str, Any]]:
    """Return the default candidates, simple ones first: linear ones for words and paths."""
    has_words = sparse.issparse(X) or are_texts(X) or text_columns(X)
    linear: list[tuple[str, Any]] = []
    if has_words or not (count_ends(encoded.Y, encoded.hierarchy) != 1).any():
        linear.append(("linear", LinearClassifier()))
    if has_words:
        linear.append(("linear per parent", PerParentClassifier(LinearClassifier())))
    return [
        *linear,
        ("tree", PCTClassifier(f_test=0.01)),
        (BASELINE, PCTClassifier(max_depth=0)),
        ("extra trees", PCTExtraTreesClassifier()),
        ("forest", PCTForestClassifier()),
        ("boosting", PCTGradientBoostingClassifier()),
        ("vote", ("boosting", "extra trees")),
        ("blend", BlendClassifier()),
    ]


@dataclass(frozen=True)
class Candidates:
    """The models to compare."""

    names: list[str]  # all names in the given order
    classifiers: dict[str, Any]  # the classifiers, not fitted
    votes: dict[str, tuple[str, ...]]  # the members of each vote

    def make(self, name: str) -> Any:
        """Return an unfitted candidate."""
        if name in self.classifiers:
            return self.classifiers[name]
        return self.make_vote(self.votes[name])

    def make_vote(self, members: Sequence[str]) -> Any:
        """Return the unfitted vote of some classifiers, with equal weights."""
        return HierarchicalVotingClassifier([(name, self.classifiers[name]) for name in members])


def read_candidates(pairs: Any, n_jobs: int | None, random_state: Any) -> Candidates:
    """Check candidates, and set their threads and seeds."""
    if not isinstance(pairs, list | tuple) or not all(map(_is_pair, pairs)):
        raise TypeError(
            f"candidates must be a list of (name, classifier), got {pairs!r}. Write, for example, "
            '[("tree", PCTClassifier()), ("forest", PCTForestClassifier())].'
        )
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        raise ValueError(f"candidates must have different names, got {names}. Rename some.")
    votes = {name: tuple(one) for name, one in pairs if isinstance(one, list | tuple)}
    classifiers = {name: one for name, one in pairs if name not in votes}
    if not classifiers:
        raise ValueError(f"candidates must have at least one classifier, got {pairs!r}.")
    for estimator in classifiers.values():
        check_classifier(estimator)
    for name, members in votes.items():
        _check_members(name, members, classifiers)
    prepared = {name: _prepared(one, n_jobs, random_state) for name, one in classifiers.items()}
    return Candidates(names, prepared, votes)


def _is_pair(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2 and isinstance(value[0], str)


def _check_members(name: str, members: tuple[str, ...], classifiers: Mapping[str, Any]) -> None:
    for member in members:
        if member not in classifiers:
            raise ValueError(
                f"the vote {name!r} must name candidates that are classifiers, got {member!r}."
                f"{did_you_mean(member, classifiers)}"
            )


def _prepared(estimator: Any, n_jobs: int | None, random_state: Any) -> Any:
    copy = clone(estimator)
    known = copy.get_params(deep=False)
    if n_jobs is not None and "n_jobs" in known:
        copy.set_params(n_jobs=n_jobs)
    if "random_state" in known and known["random_state"] is None:
        copy.set_params(random_state=random_state)
    return copy


# ---- what is known about the candidates of a choice, and its result -------------------------


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


# ---- time limits: how long a fit will take, and whether it will end in time -----------------


class Stopwatch:
    """The seconds left until a limit, counted from now; None for no limit."""

    def __init__(self, limit: float | None) -> None:
        self.limit = math.inf if limit is None else float(limit)
        self._started = perf_counter()

    @property
    def seconds(self) -> float:
        """The seconds since the start."""
        return perf_counter() - self._started

    @property
    def left(self) -> float:
        """The seconds until the limit; negative after it."""
        return self.limit - self.seconds


def extrapolate(seconds: float, n_measured: int, n_rows: int) -> float:
    """Estimate the time to fit a model from that on fewer rows, as n log n like growing trees.

    >>> round(extrapolate(1.0, 100, 10_000))
    200
    """
    return seconds * (n_rows * math.log(n_rows + 1)) / (n_measured * math.log(n_measured + 1))
