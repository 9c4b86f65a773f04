"""Choice of a model by cross-validation within a time limit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples

from ramify._progress import track
from ramify._validation import check_number, check_same_length, check_sample_weight
from ramify.labels.encoding import read_labels
from ramify.labels.hierarchy import Hierarchy
from ramify.meta.base import check_rows, known_hierarchy
from ramify.meta.thresholds import make_splits
from ramify.metrics.scorers import HierarchicalScorer, get_scorer
from ramify.model_selection.candidates import ModelChoice, Stopwatch, read_candidates
from ramify.model_selection.comparing import Comparison, LabelledRows, Split


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
        X has texts or is sparse, also linear models, alone and per parent. Simple candidates come
        first: one that is
        worse than the best by at most one standard error of the difference between their scores is
        preferred to it. The first candidate is chosen if there is no time to compare.
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
    compared = read_candidates(candidates, X, n_jobs, seed)
    for estimator in compared.classifiers.values():
        hierarchy = known_hierarchy(estimator, hierarchy)
    encoded = read_labels(y, hierarchy)
    n_rows = encoded.Y.shape[0]
    check_same_length(_num_samples(X), n_rows)
    weights = check_sample_weight(sample_weight, n_rows)
    given = None if sample_weight is None else weights
    splits = _make_splits(cv, X, y, n_rows, seed, groups=groups)
    comparison = Comparison(LabelledRows(X, encoded, given), compared, scorers, splits, watch)
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
