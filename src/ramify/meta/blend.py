"""The best model in one line: a blend of boosting, extra trees, neighbours and linear models."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import Bunch, check_random_state

from ramify._base.classifier import HierarchicalClassifier
from ramify._progress import track
from ramify._schema import (
    Array,
    Fitted,
    Label,
    ListOf,
    MapOf,
    Number,
    Schema,
    SchemaError,
    Text,
)
from ramify._validation import (
    check_folds,
    check_number,
    check_same_length,
    check_sample_weight,
    has_validation,
)
from ramify.data.features import read_features
from ramify.data.rows import take_rows
from ramify.labels.encoding import EncodedLabels, read_labels
from ramify.labels.hierarchy import Hierarchy
from ramify.meta.members import (
    BOOSTING,
    EXTRA_TREES,
    SMALL_LEAVES,
    BlendMember,
    MemberInputs,
    Members,
    fit_within,
    make_members,
)
from ramify.meta.thresholds import make_splits
from ramify.meta.voting import (
    ROUNDING,
    choose_weights,
    rate_scores,
    read_scorer,
    weighted_mean,
)

_FEW_ROWS = 2_000  # with fewer, all rows are held out once, in five folds
_HELD_OUT = 0.2  # of many rows
_MOST_CELLS = 50_000_000  # rows times labels that are held out, to limit memory
_STEP, _PATIENCE = 50, 200  # rounds from one score to the next, and without a better one

Split = tuple[NDArray[np.intp], NDArray[np.intp]]


class BlendClassifier(HierarchicalClassifier):
    """The weighted mean of models of different kinds, for the best accuracy without settings.

    The members are gradient boosting, extra trees and nearest neighbours, and a linear model if X
    is sparse or a column of texts, or if every row has one path. They get X with its texts, dates,
    categories and missing values, and the trees also its first principal components. Rows that
    the members have not seen tell how many rounds boosting needs and how much weight each member
    gets. All members are then fitted to all rows.

    This is usually more accurate than any of the members and takes several times as long; see
    :doc:`/choosing-a-model`.

    Parameters
    ----------
    hierarchy : Hierarchy, optional
        The label hierarchy. If None, a tree is inferred from path labels; all other labels are
        treated as flat.
    time_limit : float, optional
        Limit in seconds for `fit`; None means no limit. Members whose time would exceed it, by
        extrapolation from fits of a part, are left out or get fewer rounds or trees. The result
        then depends on the speed of the machine.
    scoring : str or scorer
        The measure to maximise: a name in `ramify.metrics.get_scorer_names` or a scorer returned
        by `ramify.metrics.get_scorer`.
    cv : int, splitter or iterable of (train, test), optional
        Number of random folds, or how to split the rows. If None, 5 folds for fewer than 2,000
        rows; otherwise, a random fifth of the rows is held out.
    categorical_features : array-like of bool, int or str, optional
        The nominal features, as a boolean mask, indices or column names; see `PCTClassifier`.
    n_jobs : int, optional
        Number of threads; -1 means all cores. The result does not depend on it.
    random_state : int, RandomState instance or None
        Controls the members and the rows that are held out. Pass an int for reproducible results.
    verbose : bool
        Whether to show a progress bar (requires rich).

    Attributes
    ----------
    estimators_ : list of classifiers
        The fitted members.
    named_estimators_ : Bunch
        The fitted members by name.
    weights_ : ndarray
        The weights of the members, which sum to 1.
    member_scores_ : dict of str to float
        The score of each member on held-out rows.
    best_score_ : float
        The score of the blend on held-out rows; NaN if the measure is undefined on them. The
        weights are then equal.
    left_out_ : dict of str to str
        The members that are left out, and why.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The weighted mean of the feature importances of boosting and extra trees. Those of
        principal components are divided among the features by their squared loadings.
    hierarchy_ : Hierarchy
        The label hierarchy, as passed or as inferred from y.
    classes_ : ndarray of shape (n_labels,)
        The labels, in the order of the columns of `predict_proba`.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features seen during `fit`. Defined only if X was a data frame with string
        column names.

    See Also
    --------
    HierarchicalVotingClassifier : The weighted mean of classifiers of your choice.
    ramify.model_selection.choose_model : Compares models, including this one.

    Notes
    -----
    Extra trees have leaves of at least three rows, or of one if that is better on held-out rows.
    Nearest neighbours are left out if there are sample weights, or more than 20,000 rows.

    Examples
    --------
    >>> from ramify import BlendClassifier, load_animals
    >>> from ramify.metrics import pooled_auprc
    >>> data = load_animals()
    >>> model = BlendClassifier(data.hierarchy, random_state=0)
    >>> model = model.fit(data.X[::2], data.y[::2])
    >>> for name, weight in zip(model.named_estimators_, model.weights_):
    ...     print(f"{name:12} {weight:.2f}")
    boosting     0.40
    extra trees  0.40
    neighbours   0.20
    >>> round(pooled_auprc(data.y[1::2], model.predict_proba(data.X[1::2])), 2)
    0.83
    """

    estimators_: list[BlendMember]
    weights_: NDArray[np.float64]
    member_scores_: dict[str, float]
    best_score_: float
    left_out_: dict[str, str]

    _saved_schema: ClassVar[Schema] = {
        "estimators_": ListOf(Fitted("n_features_in_", "n_labels"), "n_estimators"),
        "weights_": Array(("n_estimators",), low=0.0),
        "member_scores_": MapOf(Label(), Number(finite=False), "n_estimators"),
        "best_score_": Number(finite=False),
        "left_out_": MapOf(Label(), Text()),
    }

    def __init__(
        self,
        hierarchy: Hierarchy | None = None,
        *,
        time_limit: float | None = None,
        scoring: Any = "pooled_auprc",
        cv: Any = None,
        categorical_features: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.hierarchy = hierarchy
        self.time_limit = time_limit
        self.scoring = scoring
        self.cv = cv
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        if self.time_limit is not None:
            check_number("time_limit", self.time_limit, 0)
        read_scorer(self.scoring)
        if self.cv is not None:
            check_folds(self.cv, "cv")

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
    ) -> BlendClassifier:
        """Fit the members and choose their weights.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Training rows, or texts. NaN marks missing values; string and categorical columns of a
            data frame are nominal, unless they are texts.
        y : array-like
            Labels of the n rows, in any format accepted by `ramify.labels.read_labels`.
        sample_weight : array-like of shape (n,), optional
            Sample weights.
        X_val : like X, optional
            Validation rows to use instead of held-out rows of X. The members are not fitted to
            them.
        y_val : array-like, optional
            Labels of the validation rows.
        sample_weight_val : array-like, optional
            Weights of the validation rows.

        Returns
        -------
        BlendClassifier
            The fitted classifier.
        """
        start = time.perf_counter()
        X, encoded, weights = self._read_training(X, y, sample_weight)
        validation = None
        if has_validation(X_val, y_val, sample_weight_val):
            validation = self._read_validation(X_val, y_val, sample_weight_val)
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        used = np.flatnonzero(weights > 0)
        splits = [] if validation is not None else self._splits(encoded, used, seed)
        if len(used) < len(weights):
            X, weights = take_rows(X, used), weights[used]
            encoded = encoded._replace(Y=encoded.Y[used])
        is_weighted = bool((weights != weights[0]).any())
        inputs = MemberInputs.learn(X, self.schema_, weights)
        rows = _Rows(inputs.read(X, self.schema_), encoded, weights, is_weighted)
        members = make_members(
            X,
            self.schema_,
            inputs,
            is_path=self.row_kind_ == "path",
            weighted=is_weighted,
            n_jobs=self.n_jobs,
            random_state=seed,
        )
        n_fits = 1 if validation is not None else len(splits) + 1
        if self.time_limit is not None:
            spent = time.perf_counter() - start
            seconds = max(0.0, self.time_limit - spent)
            fit_within(members, seconds, n_fits, rows.n_rows, rows.time_fit)
        if validation is not None:
            validation = replace(validation, X=inputs.read(validation.X[""], self.schema_))
        blending = _Blending(self, rows, members, splits, validation)
        for _ in track(blending.run(), blending.n_steps, "Blending", shown=bool(self.verbose)):
            pass
        self.estimators_ = [
            BlendMember.of(self, name, blending.fitted[name], inputs)
            for name in members.estimators
        ]
        self.left_out_ = members.left_out
        self._weigh(blending)
        return self

    def _read_validation(self, X: Any, y: Any, sample_weight: Any) -> _Rows:
        X = read_features(self, X, self.schema_)
        encoded = read_labels(y, self.hierarchy_)
        check_same_length(X.shape[0], encoded.Y.shape[0], "_val")
        weights = check_sample_weight(sample_weight, X.shape[0], "_val")
        encoded = encoded._replace(format=self.format_)
        return _Rows({"": X}, encoded, weights, is_weighted=True)

    def _splits(self, encoded: EncodedLabels, used: NDArray[np.intp], seed: int) -> list[Split]:
        """Return which of the used rows to learn from and to hold out; nothing for one row."""
        n_rows = len(used)
        if n_rows < 2:
            return []
        if self.cv is not None and not isinstance(self.cv, int | np.integer):
            return self._given_splits(encoded, used, seed)
        if self.cv is not None or n_rows < _FEW_ROWS:
            n_folds = min(5, n_rows) if self.cv is None else self.cv
            return make_splits(n_folds, None, None, n_rows, seed)
        most = max(_FEW_ROWS // 2, _MOST_CELLS // self.hierarchy_.n_labels)
        n_held = min(most, round(_HELD_OUT * n_rows))
        drawn = np.random.RandomState(seed).permutation(n_rows)
        return [(np.sort(drawn[n_held:]), np.sort(drawn[:n_held]))]

    def _given_splits(
        self, encoded: EncodedLabels, used: NDArray[np.intp], seed: int
    ) -> list[Split]:
        """Return the splits of a splitter, which splits all rows, among those that are used."""
        n_given = encoded.Y.shape[0]
        place = np.full(n_given, -1, dtype=np.intp)
        place[used] = np.arange(len(used))
        given = make_splits(self.cv, np.empty((n_given, 1)), encoded.Y.toarray(), n_given, seed)
        splits = [tuple(place[part][place[part] >= 0] for part in split) for split in given]
        return [(learning, test) for learning, test in splits if len(learning) and len(test)]

    def _weigh(self, blending: _Blending) -> None:
        """Choose the weights of the members by their scores on held-out rows."""
        names, held = [member.name for member in self.estimators_], blending.held_out
        if held is None:
            self.weights_ = np.full(len(names), 1 / len(names))
            self.member_scores_, self.best_score_ = dict.fromkeys(names, math.nan), math.nan
            return
        scores = [blending.scores_of(name) for name in names]
        Y, weights = held.encoded.Y, held.weights
        self.member_scores_ = {
            name: rate_scores(self, Y, part, weights)
            for name, part in zip(names, scores, strict=True)
        }
        self.weights_, self.best_score_ = choose_weights(self, Y, scores, weights)

    # ---- predicting ------------------------------------------------------------------------

    @property
    def named_estimators_(self) -> Bunch:
        """The fitted members by name."""
        self._check_fitted()
        return Bunch(**{member.name: member for member in self.estimators_})

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The weighted mean of the feature importances of boosting and extra trees."""
        self._check_fitted()
        are_trees = [member.name in (BOOSTING, EXTRA_TREES) for member in self.estimators_]
        weights = np.where(are_trees, self.weights_, 0.0)
        weights = weights / weights.sum() if weights.any() else np.array(are_trees) / 2
        total = np.zeros(self.n_features_in_)
        for weight, member in zip(weights.tolist(), self.estimators_, strict=True):
            if weight > 0:
                total += weight * member.feature_importances_
        return total

    def _predict_scores(self, X: Any) -> NDArray[np.float64]:
        given = self.estimators_[0].inputs_.read(X, self.schema_)
        scores = [
            member.estimator_.predict_proba(given[member.name]) for member in self.estimators_
        ]
        return weighted_mean(scores, self.weights_)

    def _set_saved_state(self, state: Mapping[str, Any]) -> None:
        super()._set_saved_state(state)
        if "format_" not in state:
            return
        if abs(self.weights_.sum() - 1) > ROUNDING:
            raise SchemaError(f"weights_ must sum to 1, got {self.weights_.sum()}")
        members = self.estimators_
        if not all(isinstance(member, BlendMember) for member in members):
            raise SchemaError("estimators_ must be members of a blend")
        names = [member.name for member in members]
        if len(set(names)) < len(names) or not {BOOSTING, EXTRA_TREES} <= set(names):
            raise SchemaError("names of estimators_ must differ, and include those of trees")
        for member in members:
            if (
                member.hierarchy_ != self.hierarchy_
                or member.schema_.variables != self.schema_.variables
                or not np.array_equal(member.schema_.n_categories, self.schema_.n_categories)
                or not member.inputs_.equals(members[0].inputs_)
            ):
                raise SchemaError("estimators_ must fit hierarchy_, schema_ and each other")


@dataclass(frozen=True)
class _Rows:
    """Rows with labels, as each member gets them."""

    X: dict[str, Any]
    encoded: EncodedLabels
    weights: NDArray[np.float64]
    is_weighted: bool

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.weights)

    def take(self, rows: NDArray[np.intp]) -> _Rows:
        """Return some of the rows."""
        copies: dict[int, Any] = {}  # members share X
        for X in self.X.values():
            copies.setdefault(id(X), take_rows(X, rows))
        parts = {name: copies[id(X)] for name, X in self.X.items()}
        encoded = self.encoded._replace(Y=self.encoded.Y[rows])
        return _Rows(parts, encoded, self.weights[rows], self.is_weighted)

    def fit(self, name: str, estimator: Any, **validation: Any) -> Any:
        """Fit a copy of a member."""
        model = clone(estimator).set_params(hierarchy=self.encoded.hierarchy)
        weighted = {"sample_weight": self.weights} if self.is_weighted else {}
        return model.fit(self.X[name], self.labels(), **weighted, **validation)

    def time_fit(self, name: str, estimator: Any, n_rows: int) -> float:
        """Return the seconds of a fit to some of the rows."""
        rows = self
        if n_rows < self.n_rows:
            rows = self.take(np.linspace(0, self.n_rows - 1, n_rows).astype(np.intp))
        start = time.perf_counter()
        rows.fit(name, estimator)
        return time.perf_counter() - start

    def labels(self) -> Any:
        """Return the labels in their original format."""
        return self.encoded.format.write(self.encoded.Y)


class _Blending:
    """The fits of a blend: to rows that are learnt from, scored on others, and to all rows."""

    def __init__(
        self,
        blend: BlendClassifier,
        rows: _Rows,
        members: Members,
        splits: list[Split],
        validation: _Rows | None,
    ) -> None:
        self.blend = blend
        self.rows = rows
        self.members = members
        self.splits = splits
        self.validation = validation
        self.fitted: dict[str, Any] = {}
        self._scores: dict[str, list[NDArray[np.float64]]] = {}
        self._rounds: list[int] = []

    @property
    def held_out(self) -> _Rows | None:
        """The rows that tell which weights are best."""
        if self.validation is not None:
            return self.validation
        if not self.splits:
            return None
        return self.rows.take(np.concatenate([test for _, test in self.splits]))

    @property
    def n_steps(self) -> int:
        """The number of fits."""
        n_tried = len(self.members.estimators)
        if self.validation is not None:
            return n_tried
        return n_tried * len(self.splits) + n_tried - 1

    def scores_of(self, name: str) -> NDArray[np.float64]:
        """Return the scores of the held-out rows by a member."""
        return np.concatenate(self._scores[name])

    def run(self) -> Iterator[None]:
        """Fit all members, one at a time."""
        if self.validation is not None:
            yield from self._try(self.rows, self.validation, keep=True)
            self._choose_leaves()
            return
        for learning, test in self.splits:
            yield from self._try(self.rows.take(learning), self.rows.take(test), keep=False)
        self._choose_leaves()
        rounds = {}
        if self._rounds:
            rounds = {"max_iter": max(1, round(float(np.mean(self._rounds))))}
        for name, estimator in self.members.estimators.items():
            changes = rounds if name == BOOSTING else {}
            changes = {**changes, "early_stopping": False} if name == BOOSTING else changes
            self.fitted[name] = self.rows.fit(name, clone(estimator).set_params(**changes))
            yield

    def _try(self, rows: _Rows, held: _Rows, *, keep: bool) -> Iterator[None]:
        """Fit members to rows and score others."""
        for name, estimator in self.members.estimators.items():
            if name == BOOSTING:
                model = self._boost(rows, held)
                self._rounds.append(model.n_iter_)
            else:
                model = rows.fit(name, estimator)
            self._scores.setdefault(name, []).append(model.predict_proba(held.X[name]))
            if keep:
                self.fitted[name] = model
            yield

    def _choose_leaves(self) -> None:
        """Keep the extra trees that are better on held-out rows, as one member."""
        estimator = self.members.estimators.pop(SMALL_LEAVES)
        fitted = self.fitted.pop(SMALL_LEAVES, None)
        held = self.held_out
        if held is None:
            return
        large, small = (
            rate_scores(self.blend, held.encoded.Y, self.scores_of(name), held.weights)
            for name in (EXTRA_TREES, SMALL_LEAVES)
        )
        if small > large:
            self.members.estimators[EXTRA_TREES] = estimator
            self._scores[EXTRA_TREES] = self._scores[SMALL_LEAVES]
            if fitted is not None:
                self.fitted[EXTRA_TREES] = fitted

    def _boost(self, rows: _Rows, held: _Rows) -> Any:
        """Fit boosting until the scores of other rows get no better."""
        scorer = read_scorer(self.blend.scoring)
        shares: Any = np.tile(np.asarray(rows.encoded.Y.mean(axis=0)), (held.n_rows, 1))
        # Measures of label sets change in steps, and others are undefined without any label.
        is_smooth = scorer.of_scores and not math.isnan(
            rate_scores(self.blend, held.encoded.Y, shares, held.weights)
        )
        model = self.members.estimators[BOOSTING]
        stopping = clone(model).set_params(
            early_stopping=True,
            n_iter_no_change=_PATIENCE,
            score_every=_STEP,
            scoring=scorer if is_smooth else "loss",
        )
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "no rounds are kept")  # the weights will tell
            return rows.fit(
                BOOSTING,
                stopping,
                X_val=held.X[BOOSTING],
                y_val=held.labels(),
                sample_weight_val=held.weights,
            )
