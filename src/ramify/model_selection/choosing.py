"""Choice of a model by cross-validation within a time limit."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples

from ramify._cached import cached_property
from ramify._progress import track
from ramify._validation import check_number, check_same_length, check_sample_weight
from ramify.decision import make_coherent
from ramify.decision.best_sets import Answers
from ramify.labels.encoding import EncodedLabels, read_labels
from ramify.labels.hierarchy import Hierarchy
from ramify.meta.base import check_rows, fit_wrapped, known_hierarchy
from ramify.meta.thresholds import fit_and_score, make_splits
from ramify.metrics.scorers import HierarchicalScorer, get_scorer
from ramify.model_selection.candidates import (
    Candidates,
    ModelChoice,
    Stopwatch,
    Trial,
    default_candidates,
    extrapolate,
    read_candidates,
)


def choose_model(
    X: Any,
    y: Any,
    *,
    hierarchy: Hierarchy | None = None,
    groups: Any = None,
    candidates: Any = None,
    scoring: str | Sequence[str] = "pooled_auprc",
    cv: Any = 5,
    time_limit: float | None = 300.0,
    sample_weight: Any = None,
    n_jobs: int | None = None,
    random_state: Any = None,
    verbose: bool = False,
) -> ModelChoice:
    """Compare models by cross-validation and fit the best one on all rows.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n, n_features)
        Training rows.
    y : array-like
        Labels of the n rows, in any format accepted by `ramify.labels.read_labels`.
    hierarchy : Hierarchy, optional
        The label hierarchy. If None, a tree is inferred from path labels; all other labels are
        treated as flat.
    groups : array-like of shape (n,), optional
        Groups of the rows, such as the site or person that they come from. If `cv` is a number,
        all rows of a group are in the same fold.
    candidates : list of (str, classifier or sequence of str), optional
        Names and classifiers. A sequence of names instead of a classifier is the vote of these
        candidates: the mean of their probabilities, excluding candidates that are left out. If
        None, the candidates are a single tree, the label frequencies as a baseline, extra trees, a
        forest, gradient boosting, the vote of boosting and extra trees, and `BlendClassifier`; if
        X has texts or is sparse, also linear models, alone and per parent; if every row has one
        path, a linear model alone. Simple candidates come first: one that is worse than the best
        by at most one standard error of the difference between their scores is preferred to it.
        The first candidate is chosen if there is no time to compare.
    scoring : str or sequence of str
        Names of measures in `ramify.metrics.get_scorer_names`. The first one decides; the others
        are only computed.
    cv : int, splitter or iterable of (train, test)
        Number of random folds, at most one per row, or how to split the rows.
    time_limit : float, optional
        Limit in seconds for everything, including the fit on all rows; None means no limit. See
        Notes.
    sample_weight : array-like of shape (n,), optional
        Sample weights.
    n_jobs : int, optional
        Number of threads, set in all candidates with this parameter; -1 means all cores.
    random_state : int, RandomState instance or None
        Controls the folds, and the candidates whose `random_state` is None.
    verbose : bool
        Whether to show a progress bar (requires rich).

    Returns
    -------
    ModelChoice
        The fitted model, and the scores and times of all candidates.

    See Also
    --------
    ramify.BlendClassifier : Several models of different kinds as one.
    ramify.HierarchicalVotingClassifier : The vote as a classifier.

    Notes
    -----
    All candidates are compared on the same folds. With a time limit, each candidate is first
    fitted on few rows. It is left out if, by extrapolation from this time, one fold and the fit
    on all rows would exceed the limit. After every fold, another one is started only if there is
    time for it and for the fit on all rows; otherwise, the comparison uses fewer folds than `cv`.
    The members of a vote are not fitted again for its scores.

    The times are estimates: a fit that has started is not stopped. Without a time limit, the
    choice depends only on the data, the parameters and the seed.

    Examples
    --------
    >>> from ramify import load_animals
    >>> from ramify.model_selection import choose_model
    >>> data = load_animals()
    >>> choice = choose_model(
    ...     data.X, data.y, hierarchy=data.hierarchy, cv=3, time_limit=None, random_state=0
    ... )
    >>> for trial in choice.trials:
    ...     print(f"{trial.name:12} {trial.mean('pooled_auprc'):.3f}")
    vote         0.804
    boosting     0.799
    extra trees  0.799
    blend        0.798
    forest       0.795
    tree         0.632
    label shares 0.537
    >>> print(choice.reason)
    vote has the highest pooled_auprc over 3 folds, 0.8039; boosting is next with 0.7995, ...
    """
    watch = Stopwatch(_check_limit(time_limit))
    scorers = _read_scoring(scoring)
    seed = _read_seed(random_state)
    X = check_rows(X)
    given = None if candidates is None else read_candidates(candidates, n_jobs, seed)
    for estimator in [] if given is None else given.classifiers.values():
        hierarchy = known_hierarchy(estimator, hierarchy)
    encoded = read_labels(y, hierarchy)
    compared = given or read_candidates(default_candidates(X, encoded), n_jobs, seed)
    n_rows = encoded.Y.shape[0]
    check_same_length(_num_samples(X), n_rows)
    weights = check_sample_weight(sample_weight, n_rows)
    splits = _make_splits(cv, X, y, n_rows, seed, groups=groups)
    rows = LabelledRows(X, encoded, None if sample_weight is None else weights)
    comparison = Comparison(rows, compared, scorers, splits, watch)
    n_steps = len(splits) * len(compared.classifiers)
    for _ in track(comparison.run(), n_steps, "Comparing models", shown=bool(verbose)):
        pass
    return comparison.choose()


def _check_limit(time_limit: Any) -> float | None:
    if time_limit is not None:
        check_number("time_limit", time_limit, 0)
    return None if time_limit is None else float(time_limit)


def _read_scoring(scoring: str | Sequence[str]) -> dict[str, HierarchicalScorer]:
    names = [scoring] if isinstance(scoring, str) else list(scoring)
    if not names:
        raise ValueError("scoring must name at least one measure, got none.")
    try:
        return {name: get_scorer(name) for name in names}
    except (ValueError, TypeError) as error:
        raise ValueError(f"scoring: {error}") from None


def _read_seed(random_state: Any) -> Any:
    """Return a seed that can be used again; a RandomState would change with every use."""
    if random_state is None or isinstance(random_state, int | np.integer):
        return random_state
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def _make_splits(cv: Any, X: Any, y: Any, n_rows: int, seed: Any, *, groups: Any) -> list[Split]:
    """Return the folds; fewer if there are not enough rows, and none for a single row."""
    if isinstance(cv, int | np.integer) and 2 <= n_rows < cv:
        cv = n_rows
    return [] if n_rows < 2 else make_splits(cv, X, y, n_rows, seed, groups=groups)


# ---- the comparison -------------------------------------------------------------------------


_FAILURES = (ValueError, TypeError, MemoryError)
"""Errors of a candidate that do not end the comparison."""

_PROBE_ROWS = 10
"""The number of rows of the first fit that estimates the time of a model."""

_ENOUGH_ROWS = 0.1
"""The share of the training rows from which the time on all rows can be extrapolated."""

_PROBE_TIME = 0.1
"""The share of the time left that such a fit may take."""

Split = tuple[NDArray[np.intp], NDArray[np.intp]]


@dataclass(frozen=True)
class LabelledRows:
    """The training data; `weights` is None if no sample weights were passed."""

    X: Any
    encoded: EncodedLabels
    weights: NDArray[np.float64] | None

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self.encoded.Y.shape[0])

    @cached_property
    def _answers(self) -> Answers:
        weights = np.ones(self.n_rows) if self.weights is None else self.weights
        encoded = self.encoded
        is_path = encoded.format.single_label
        return Answers.like(encoded.Y, encoded.hierarchy, weights, is_path=is_path)

    def scores(self, estimator: Any, split: Split) -> NDArray[np.float64]:
        """Fit an estimator on the training rows of a split; return its scores on the others."""
        found = fit_and_score(estimator, self.X, self.encoded, self.weights, split)
        return make_coherent(found, self.encoded.hierarchy)

    def measure(
        self, scorer: HierarchicalScorer, scores: NDArray[np.float64], rows: NDArray[np.intp]
    ) -> float:
        """Return a measure of scores; NaN where it is undefined."""
        hierarchy = self.encoded.hierarchy
        predicted: Any = scores
        if not scorer.of_scores:
            is_path = self.encoded.format.single_label
            predicted = self._answers.decide(scores, hierarchy, is_path=is_path)
        weights = None if self.weights is None else self.weights[rows]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            value = scorer.measure(
                self.encoded.Y[rows], predicted, hierarchy=hierarchy, sample_weight=weights
            )
        return scorer.sign * float(value)


class Comparison:
    """The comparison of all candidates, fold by fold, and the choice by the first measure."""

    def __init__(
        self,
        data: LabelledRows,
        candidates: Candidates,
        scorers: Mapping[str, HierarchicalScorer],
        splits: list[Split],
        watch: Stopwatch,
    ) -> None:
        self.data, self.scorers, self.splits, self.watch = data, scorers, splits, watch
        self.candidates, self.votes = candidates, dict(candidates.votes)
        self.trials = {name: Trial(name, candidates.make(name)) for name in candidates.names}
        self.alive = list(candidates.classifiers)
        self.first = self.alive[0]
        self.n_folds = 0

    # ---- comparison ------------------------------------------------------------------------

    def run(self) -> Iterator[None]:
        """Try the candidates on one fold after the other, as long as there is time."""
        for split in self.splits:
            if self.n_folds and not self._has_time_for_a_fold():
                return
            found: dict[str, NDArray[np.float64]] = {}
            for name in list(self.alive):
                if self.n_folds or self._may_start(name, split):
                    self._try(name, split, found)
                elif name == self.first:  # the only one that is fitted in any case
                    for trial in self.trials.values():
                        trial.leave_out("not tried: there was no time to compare models")
                    return
                yield
            self._keep_votes(found, split)
            self.n_folds += 1

    def _may_start(self, name: str, split: Split) -> bool:
        """Whether a fold and the fit on all rows will end in time, estimated on fewer rows.

        Their number is doubled until the answer is clear: the estimate is far below the limit, or
        a tenth of the rows is enough to trust it, or more rows would take too long.
        """
        if math.isinf(self.watch.limit):
            return True
        n_train = len(split[0])
        n_few = min(_PROBE_ROWS, n_train)
        self._probe(name, split, n_few)  # the first fit also loads modules and starts threads
        while True:
            seconds = self._probe(name, split, n_few)
            for_fold = extrapolate(seconds, n_few, n_train)
            for_all = extrapolate(seconds, n_few, self.data.n_rows)
            reserved = max([for_all, *map(self._full_seconds, self._tried())])
            left = max(0.0, self.watch.left)
            is_reliable = n_few >= n_train * _ENOUGH_ROWS or for_fold + reserved <= left / 10
            if for_fold + reserved <= left and is_reliable:
                return True
            more = min(2 * n_few, n_train)
            if n_few == n_train or extrapolate(seconds, n_few, more) > left * _PROBE_TIME:
                break
            n_few = more
        needed = _shown(for_fold + for_all)
        self._drop(name, f"not tried: it may take about {needed}, and {_shown(left)} were left")
        return False

    def _probe(self, name: str, split: Split, n_rows: int) -> float:
        """Return the time to fit on some training rows and to score others."""
        train, test = split
        few = np.sort(check_random_state(0).permutation(train)[:n_rows])
        started = self.watch.seconds
        # A few rows may lack what a model needs, such as a second class. The fit on all rows will
        # show.
        with suppress(*_FAILURES):
            self.data.scores(self.trials[name].estimator, (few, test[: max(1, n_rows // 4)]))
        return self.watch.seconds - started

    def _try(self, name: str, split: Split, found: dict[str, NDArray[np.float64]]) -> None:
        """Compute the scores of a candidate on a fold; leave it out if it fails."""
        started = self.watch.seconds
        trial = self.trials[name]
        try:
            found[name] = self.data.scores(trial.estimator, split)
        except _FAILURES as error:
            if name == self.first:
                raise
            self._drop(name, f"failed: {error}")
            return
        self._keep(trial, found[name], split)
        trial.fold_seconds.append(self.watch.seconds - started)

    def _drop(self, name: str, note: str) -> None:
        self.alive.remove(name)
        self.trials[name].leave_out(note)

    def _keep(self, trial: Trial, scores: NDArray[np.float64], split: Split) -> None:
        for measure, scorer in self.scorers.items():
            value = self.data.measure(scorer, scores, split[1])
            trial.scores.setdefault(measure, []).append(value)

    def _keep_votes(self, found: Mapping[str, NDArray[np.float64]], split: Split) -> None:
        """Compute the scores of the votes, whose members have been fitted."""
        if self.n_folds == 0:
            self._drop_members()
        for name, members in list(self.votes.items()):
            trial = self.trials[name]
            failed = [member for member in members if member not in self.alive]
            if failed:
                trial.leave_out(f"not tried: {', '.join(failed)} failed")
                del self.votes[name]
                continue
            self._keep(trial, np.mean([found[member] for member in members], axis=0), split)
            trial.fold_seconds.append(sum(self.trials[one].fold_seconds[-1] for one in members))

    def _drop_members(self) -> None:
        """Remove from the votes the members that were not tried; a vote needs two."""
        for name, members in list(self.votes.items()):
            kept = tuple(member for member in members if member in self.alive)
            if kept == members:
                continue
            missing = ", ".join(member for member in members if member not in kept)
            if len(kept) < 2:
                self.trials[name].leave_out(f"not tried: it needs {missing}")
                del self.votes[name]
            else:
                self.votes[name] = kept
                estimator = self.candidates.make_vote(kept)
                self.trials[name] = Trial(name, estimator, note=f"without {missing}")

    # ---- time ------------------------------------------------------------------------------

    def _tried(self) -> list[str]:
        return [name for name, trial in self.trials.items() if trial.scores]

    def _full_seconds(self, name: str) -> float:
        """Estimate the time to fit a candidate that was tried on all rows."""
        n_train = len(self.splits[0][0])
        return extrapolate(self.trials[name].seconds, n_train, self.data.n_rows)

    def _has_time_for_a_fold(self) -> bool:
        fold = sum(self.trials[name].seconds for name in self.alive)
        return fold + max(map(self._full_seconds, self._tried())) <= self.watch.left

    # ---- choice ----------------------------------------------------------------------------

    def choose(self) -> ModelChoice:
        """Fit the best candidate on all rows."""
        measure = next(iter(self.scorers))
        ranked = self._ranked(measure)
        name, reason = self._best(ranked, measure)
        trial = self.trials[name]
        started = self.watch.seconds
        data = self.data
        model = fit_wrapped(trial.estimator, data.X, data.encoded, data.weights)
        rest = [one for one in self.trials.values() if one not in ranked]
        return ModelChoice(
            name=name,
            model=model,
            reason=reason,
            scoring=measure,
            trials=[*ranked, *rest],
            n_folds=self.n_folds,
            fit_seconds=self.watch.seconds - started,
            seconds=self.watch.seconds,
        )

    def _ranked(self, measure: str) -> list[Trial]:
        """Return the trials with defined scores, best first; in ties, simple ones come first."""
        found = [self.trials[name] for name in self._tried()]
        defined = [trial for trial in found if not math.isnan(trial.mean(measure))]
        return sorted(defined, key=lambda trial: -trial.mean(measure))

    def _simpler(self, best: Trial, ranked: list[Trial], measure: str) -> Trial | None:
        """Return the simplest candidate that is within one standard error of the best.

        The first candidates are simple. The error is that of the difference, on the same folds.
        """
        for trial in self.trials.values():
            if trial is best:
                return None
            if trial not in ranked or self._full_seconds(trial.name) > self.watch.left:
                continue
            gain, error = _difference(best, trial, measure)
            if 0 < gain <= error:
                return trial
        return None

    def _best(self, ranked: list[Trial], measure: str) -> tuple[str, str]:
        """Return the name of the best candidate that can be fitted in time, and the reason."""
        for trial in ranked:
            needed = self._full_seconds(trial.name)
            if needed <= self.watch.left:
                simpler = self._simpler(trial, ranked, measure)
                if simpler is not None:
                    return simpler.name, _simpler_reason(simpler, trial, measure, self.n_folds)
                return trial.name, _reason(trial, ranked, measure, self.n_folds)
            trial.note = (
                f"not chosen: fitting it on all rows would take about {_shown(needed)}, and "
                f"{_shown(max(0.0, self.watch.left))} were left"
            )
        if ranked:
            why = "no model could be fitted on all rows in the time left"
        elif self.n_folds:
            why = f"{measure} is undefined in all folds"
        elif self.splits:
            why = "there was no time to compare models"
        else:
            why = "a single row is not enough to compare models"
        self.trials[self.first].note = ""
        return self.first, f"{self.first} is the first candidate; {why}."


def _difference(best: Trial, other: Trial, measure: str) -> tuple[float, float]:
    """Return by how much a trial is ahead of another one on the same folds, and its error."""
    gains = np.subtract(best.scores[measure], other.scores[measure])
    gains = gains[~np.isnan(gains)]
    error = float(np.std(gains, ddof=1)) / math.sqrt(len(gains)) if len(gains) > 1 else 0.0
    return float(np.mean(gains)) if len(gains) else math.inf, error


def _simpler_reason(chosen: Trial, best: Trial, measure: str, n_folds: int) -> str:
    gain, error = _difference(best, chosen, measure)
    return (
        f"{chosen.name} is simpler than {best.name}, whose {measure} over {n_folds} folds, "
        f"{best.mean(measure):.4f}, is higher by {gain:.4f} only, within one standard error "
        f"({error:.4f})."
    )


def _reason(best: Trial, ranked: list[Trial], measure: str, n_folds: int) -> str:
    folds = f"over {n_folds} folds" if n_folds > 1 else "on one fold"
    text = f"{best.name} has the highest {measure} {folds}, {best.mean(measure):.4f}"
    if ranked[0] is not best:
        text = (
            f"{best.name} has the highest {measure} {folds} of the models that can be fitted in "
            f"the time left, {best.mean(measure):.4f}"
        )
    others = ranked[ranked.index(best) + 1 :]
    if not others:
        return f"{text}."
    second = others[0]
    pairs = zip(best.scores[measure], second.scores[measure], strict=True)
    wins = sum(one > other for one, other in pairs)
    return (
        f"{text}; {second.name} is next with {second.mean(measure):.4f}, and worse in {wins} of "
        f"{n_folds} folds."
    )


def _shown(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:,.0f} s"
