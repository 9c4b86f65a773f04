"""The weighted mean of the probabilities of several classifiers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, ClassVar

import numpy as np
from joblib import delayed
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils import Bunch
from sklearn.utils.metaestimators import _BaseComposition

from ramify._base.classifier import HierarchicalClassifier
from ramify._parallel import count_threads, in_parallel
from ramify._progress import track
from ramify._schema import (
    Array,
    Fitted,
    IfPresent,
    ListOf,
    NamedEstimators,
    Number,
    Schema,
    SchemaError,
)
from ramify._validation import has_validation
from ramify.labels.encoding import EncodedLabels, write_labels
from ramify.labels.hierarchy import Hierarchy
from ramify.meta.base import WrappingClassifier, fit_wrapped, label_scores
from ramify.meta.thresholds import fit_and_score, make_splits, read_validation
from ramify.metrics.scorers import HierarchicalScorer, get_scorer

ROUNDING = 1e-9
"""Distance from 1 that the sum of the weights in a file may have."""


class HierarchicalVotingClassifier(WrappingClassifier, _BaseComposition):  # type: ignore[misc]
    """The mean of the probabilities of several classifiers.

    All members are fitted on the same rows and labels. The probability of a label is the weighted
    mean of the probabilities predicted by the members. A mean of coherent probabilities is
    coherent: no label is more probable than any of its parents.

    Parameters
    ----------
    estimators : list of (str, classifier)
        Names and classifiers: classifiers of ramify, pipelines with one, or any classifiers with
        `predict_proba` that accept label matrices. A fitted classifier in scikit-learn's
        FrozenEstimator is not fitted again. A member is left out if its classifier is "drop", e.g.
        after ``set_params(forest="drop")``.
    hierarchy : Hierarchy, optional
        The label hierarchy. If None, the hierarchy of the members is used, or one is inferred from
        y.
    weights : array-like of shape (n_estimators,) or "cv", optional
        The weights of the members, which need not sum to 1. If None, all members have equal
        weights. "cv" chooses the weights by cross-validation and then fits the members on all
        rows.
    scoring : str or scorer
        The measure to maximise if `weights` is "cv": a name in `ramify.metrics.get_scorer_names`
        or a scorer returned by `ramify.metrics.get_scorer`.
    cv : int, splitter or iterable of (train, test)
        Number of random folds, or how to split the rows. Used if `weights` is "cv".
    coherence : {"isotonic", "max", "min"}
        How to repair the scores of a member that are inconsistent with the hierarchy; see
        `ramify.decision.make_coherent`. The classifiers of ramify need no repair.
    n_jobs : int, optional
        Number of members to fit or predict with in parallel; -1 means all cores. The members have
        their own `n_jobs`. The result does not depend on it.
    random_state : int, RandomState instance or None
        Controls the folds if `cv` is an integer. The members have their own `random_state`.
    verbose : bool
        Whether to show a progress bar (requires rich).

    Attributes
    ----------
    estimators_ : list of classifiers
        The fitted members, without those that are left out.
    named_estimators_ : Bunch
        The fitted members by name.
    weights_ : ndarray
        The weights of `estimators_`, which sum to 1.
    best_score_ : float
        The score of the weights on held-out rows, if `weights` is "cv". NaN if the measure is
        undefined on these rows; the weights are then equal.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The weighted mean of the feature importances of the members, if all members have them.
    hierarchy_ : Hierarchy
        The label hierarchy, as passed or as inferred from y.
    classes_ : ndarray of shape (n_labels,)
        The labels, in the order of the columns of `predict_proba`.
    n_features_in_ : int
        Number of features, if a member has this attribute.
    feature_names_in_ : ndarray of str
        Names of the features, if a member has this attribute.

    See Also
    --------
    HierarchicalBaggingClassifier : The mean of clones fitted on bootstrap samples.
    ramify.model_selection.choose_model : Compares models and their vote.

    Notes
    -----
    With ``weights="cv"``, the weights are multiples of 1 / (5 n_estimators). The search starts
    from equal weights or from a single member, whichever is best, and moves weight from one member
    to another as long as the score on held-out rows improves.

    Examples
    --------
    >>> from ramify import HierarchicalVotingClassifier, PCTExtraTreesClassifier, load_animals
    >>> from ramify import PCTForestClassifier
    >>> from ramify.metrics import pooled_auprc
    >>> data = load_animals()
    >>> X, y, X_test, y_test = data.X[::2], data.y[::2], data.X[1::2], data.y[1::2]
    >>> members = [
    ...     ("forest", PCTForestClassifier(random_state=0)),
    ...     ("extra trees", PCTExtraTreesClassifier(random_state=0)),
    ... ]
    >>> vote = HierarchicalVotingClassifier(members, hierarchy=data.hierarchy).fit(X, y)
    >>> for model in (*vote.estimators_, vote):
    ...     print(round(pooled_auprc(y_test, model.predict_proba(X_test)), 3))
    0.843
    0.842
    0.849
    """

    estimators_: list[Any]
    weights_: NDArray[np.float64]
    best_score_: float

    _saved_parameters: ClassVar[Schema] = {"estimators": NamedEstimators()}
    _saved_schema: ClassVar[Schema] = {
        "estimator_": None,
        "estimators_": ListOf(Fitted("n_features_in_", "n_labels"), "n_estimators"),
        "weights_": Array(("n_estimators",), low=0.0),
        "best_score_": IfPresent(Number(finite=False)),
    }

    def __init__(
        self,
        estimators: Any,
        *,
        hierarchy: Hierarchy | None = None,
        weights: Any = None,
        scoring: Any = "pooled_auprc",
        cv: Any = 5,
        coherence: str = "isotonic",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.estimators = estimators
        self.hierarchy = hierarchy
        self.weights = weights
        self.scoring = scoring
        self.cv = cv
        self.coherence = coherence
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    # ---- parameters ------------------------------------------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; with `deep`, also the members by name and their parameters.

        Parameters
        ----------
        deep : bool
            Whether to include the members and their parameters.

        Returns
        -------
        dict of str to object
            Values by name.
        """
        found: dict[str, Any] = self._get_params("estimators", deep=deep)
        return found

    def set_params(self, **params: Any) -> HierarchicalVotingClassifier:
        """Set parameters, members by their names, or parameters of members.

        Parameters
        ----------
        **params
            For example ``weights="cv"``, ``forest=PCTForestClassifier()`` or
            ``forest__n_estimators=50``.

        Returns
        -------
        HierarchicalVotingClassifier
            This classifier.
        """
        self._set_params("estimators", **params)
        return self

    def _check_parameters(self) -> None:
        self._check_estimators()
        self._read_weights()
        read_scorer(self.scoring)

    def _check_estimators(self) -> None:
        given = self.estimators
        if isinstance(given, Hierarchy):
            raise TypeError(
                "estimators must be a list of (name, classifier), got a Hierarchy. Pass it as "
                "hierarchy=..."
            )
        if not isinstance(given, list | tuple) or not all(map(_is_pair, given)):
            raise TypeError(
                f"estimators must be a list of (name, classifier), got {given!r}. Write, for "
                'example, [("forest", PCTForestClassifier()), ("tree", PCTClassifier())].'
            )
        if not self._members():
            raise ValueError(
                f"estimators must have at least one member that is not 'drop', got {given!r}."
            )
        self._validate_names([name for name, _ in given])

    def _members(self) -> dict[str, Any]:
        """Return the members by name, without those that are left out."""
        return {name: member for name, member in self.estimators if not _is_dropped(member)}

    def _read_weights(self) -> NDArray[np.float64] | None:
        """Return the given weights of the members, with sum 1; None if they have to be chosen."""
        if isinstance(self.weights, str):
            if self.weights == "cv":
                return None
            raise ValueError(
                f"weights must be None, 'cv' or one number per member, got {self.weights!r}."
            )
        n_given = len(self.estimators)
        weights = np.asarray(
            np.ones(n_given) if self.weights is None else self.weights, dtype=np.float64
        )
        if weights.shape != (n_given,):
            raise ValueError(
                f"weights must have one number per member, {n_given}, got {self.weights!r}."
            )
        weights = weights[[not _is_dropped(member) for _, member in self.estimators]]
        if not np.isfinite(weights).all() or (weights < 0).any() or weights.sum() <= 0:
            raise ValueError(
                "weights must be finite numbers >= 0 with a positive sum over the members, got "
                f"{self.weights!r}."
            )
        return np.asarray(weights / weights.sum(), dtype=np.float64)

    def __sklearn_tags__(self) -> Any:
        pairs = self.estimators if isinstance(self.estimators, Sequence) else ()
        if pairs and all(map(_is_pair, pairs)) and self._members():
            return super().__sklearn_tags__()
        return super(WrappingClassifier, self).__sklearn_tags__()

    def _wrapped(self) -> list[Any]:
        return list(self._members().values())

    def _fitted_models(self) -> list[Any]:
        return self.estimators_

    @property
    def named_estimators_(self) -> Bunch:
        """The fitted members by name."""
        return Bunch(**dict(zip(self._members(), self.estimators_, strict=True)))

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The weighted mean of the feature importances of the members."""
        parts = [member.feature_importances_ for member in self.estimators_]
        return np.asarray(self.weights_ @ np.array(parts), dtype=np.float64)

    # ---- learning --------------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> HierarchicalVotingClassifier:
        """Fit the members, and choose their weights if `weights` is "cv".

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Training rows in a form that the members accept.
        y : array-like
            Labels of the n rows, in any format accepted by `ramify.labels.read_labels`.
        sample_weight : array-like of shape (n,), optional
            Sample weights, also passed to `fit` of the members.
        X_val : like X, optional
            If `weights` is "cv": validation rows to choose the weights on instead of
            cross-validation. The members are not fitted on them.
        y_val : array-like, optional
            Labels of the validation rows.
        sample_weight_val : array-like, optional
            Weights of the validation rows.

        Returns
        -------
        HierarchicalVotingClassifier
            The fitted classifier.
        """
        X, encoded, row_weights = self._read_wrapped(X, y, sample_weight)
        weights = self._read_weights()
        given = None if sample_weight is None else row_weights
        validated = has_validation(X_val, y_val, sample_weight_val)
        if weights is not None and validated:
            raise ValueError(
                f"X_val must be None unless weights is 'cv', got rows with "
                f"weights={self.weights!r}. Pass weights='cv', or omit X_val."
            )
        splits = []
        if weights is None and not validated:
            splits = make_splits(self.cv, X, y, encoded.Y.shape[0], self.random_state)
        scores, self.estimators_ = self._fit_members(X, encoded, given, splits)
        self._copy_feature_attributes()
        if weights is None:
            if validated:
                weights = self._validate(X_val, y_val, sample_weight_val)
            else:
                rows = np.concatenate([test for _, test in splits])
                weights = self._choose(encoded.take(rows), scores, row_weights[rows])
        self.weights_ = weights
        return self

    def _why_not_unknown(self) -> str | None:
        return self._why_foreign_not_unknown()

    def _fit_members(
        self,
        X: Any,
        encoded: EncodedLabels,
        given: NDArray[np.float64] | None,
        splits: list[tuple[NDArray[np.intp], NDArray[np.intp]]],
    ) -> tuple[list[NDArray[np.float64]], list[Any]]:
        """Return the scores of each member on the test rows, and members fitted on all rows."""
        members = self._wrapped()
        tasks = [
            delayed(fit_and_score)(member, X, encoded, given, split)
            for member in members
            for split in splits
        ]
        tasks += [delayed(fit_wrapped)(member, X, encoded, given) for member in members]
        running = in_parallel(
            iter(tasks), n_jobs=self.n_jobs, prefer="threads", shared=[X, encoded]
        )
        with closing(running) as found:
            done = list(track(found, len(tasks), "Fitting members", shown=bool(self.verbose)))
        n_splits = len(splits)
        parts = [
            done[k * n_splits : (k + 1) * n_splits] for k in range(len(members) if splits else 0)
        ]
        scores = [self._coherent(np.concatenate(part)) for part in parts]
        return scores, done[len(members) * n_splits :]

    def _validate(self, X: Any, y: Any, sample_weight: Any) -> NDArray[np.float64]:
        """Choose the weights on given rows."""
        labels, row_weights = read_validation(X, y, sample_weight, self.hierarchy_)
        return self._choose(labels, list(self._member_scores(X)), row_weights)

    def _choose(
        self,
        labels: EncodedLabels,
        scores: list[NDArray[np.float64]],
        row_weights: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Choose the weights that maximise the measure on held-out rows."""
        truth = labels.Y if labels.unknown is None else write_labels(labels)
        weights, self.best_score_ = choose_weights(self, truth, scores, row_weights)
        return weights

    # ---- predicting ------------------------------------------------------------------------

    def _predict_scores(self, X: Any) -> NDArray[np.float64]:
        return weighted_mean(self._member_scores(X), self.weights_)

    def _member_scores(self, X: Any) -> list[NDArray[np.float64]]:
        tasks = (delayed(label_scores)(member, X, self.format_) for member in self.estimators_)
        n_threads = count_threads(self.n_jobs)
        with closing(in_parallel(tasks, n_jobs=n_threads, require="sharedmem")) as found:
            return [self._coherent(scores) for scores in found]

    def _set_saved_state(self, state: Mapping[str, Any]) -> None:
        super()._set_saved_state(state)
        if "format_" not in state:
            return
        if abs(self.weights_.sum() - 1) > ROUNDING:
            raise SchemaError(f"weights_ must sum to 1, got {self.weights_.sum()}")
        if len(self.estimators_) != len(self._members()):
            raise SchemaError(
                f"estimators_ must have {len(self._members())} members as estimators has, got "
                f"{len(self.estimators_)}"
            )


def _is_pair(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2 and isinstance(value[0], str)


def _is_dropped(member: Any) -> bool:
    return isinstance(member, str) and member == "drop"


def weighted_mean(
    scores: Sequence[NDArray[np.float64]], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the mean of coherent scores.

    Rounding preserves the order of sums over the same members, so no label exceeds a parent.
    """
    total = np.zeros_like(scores[0])
    for part, weight in zip(scores, weights, strict=True):
        total += weight * part
    return np.minimum(total, 1.0, out=total)


# ---- the weights of a mean ------------------------------------------------------------------


Weights = NDArray[np.float64]


def read_scorer(scoring: Any) -> HierarchicalScorer:
    """Return the scorer that a parameter stands for."""
    if isinstance(scoring, HierarchicalScorer):
        return scoring
    try:
        return get_scorer(scoring)
    except (ValueError, TypeError) as error:
        raise ValueError(f"scoring: {error}") from None


def rate_scores(
    model: HierarchicalClassifier,
    Y: Any,
    scores: NDArray[np.float64],
    row_weights: NDArray[np.float64],
) -> float:
    """Return a model's `scoring` of scores on some rows; NaN if the measure is undefined."""
    scorer = read_scorer(model.scoring)
    options = {"hierarchy": model.hierarchy_, **scorer.options}
    predicted = scores if scorer.of_scores else model._decide(scores)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        value = scorer.measure(Y, predicted, sample_weight=row_weights, **options)
    return scorer.sign * float(value)


def choose_weights(
    model: HierarchicalClassifier,
    Y: Any,
    scores: Sequence[NDArray[np.float64]],
    row_weights: NDArray[np.float64],
) -> tuple[Weights, float]:
    """Return the weights of members that maximise a model's measure on held-out rows, and it."""
    return search_weights(
        lambda weights: rate_scores(model, Y, weighted_mean(scores, weights), row_weights),
        len(scores),
    )


_UNITS = 5
"""Units of weight per member; a step of the search moves one unit."""


def search_weights(score: Callable[[Weights], float], n_members: int) -> tuple[Weights, float]:
    """Search for the weights of a weighted mean that maximise a score.

    The weights are multiples of 1 / (5 n_members). The search starts from equal weights or from a
    single member, whichever is best, and moves one unit of weight from one member to another as
    long as this improves the score, each time by the best move; of equal scores, the first counts.
    """
    total = _UNITS * n_members
    known: dict[tuple[int, ...], float] = {}

    def rate(units: tuple[int, ...]) -> float:
        if units not in known:
            known[units] = float(score(np.array(units) / total))
        return -np.inf if np.isnan(known[units]) else known[units]

    alone = [tuple(total * (i == k) for i in range(n_members)) for k in range(n_members)]
    best = max([(_UNITS,) * n_members, *alone], key=rate)  # the first of equal scores
    while True:
        found = max([best, *_moves(best)], key=rate)
        if found == best:
            return np.array(best) / total, known[best]
        best = found


def _moves(units: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield the weights after moving one unit from one member to another."""
    for source in range(len(units)):
        for target in range(len(units)):
            if source != target and units[source] > 0:
                moved = list(units)
                moved[source] -= 1
                moved[target] += 1
                yield tuple(moved)
