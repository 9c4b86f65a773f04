"""Boosting for hierarchical multi-label classification: AdaBoost.MH and H-Ada.MH."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ramify import _core
from ramify._base.classifier import ArrayClassifier, StagedClassifier
from ramify._parallel import count_threads
from ramify._progress import track
from ramify._savable import savable
from ramify._schema import Array, Flag, Increasing, Part, Schema, Text, Whole
from ramify._validation import check_choice, check_number
from ramify.data.features import make_dataset, read_features
from ramify.data.rows import as_label_rows, as_rows, by_rows
from ramify.decision import apply_threshold, make_coherent
from ramify.labels.encoding import EncodedLabels
from ramify.labels.hierarchy import Hierarchy
from ramify.metrics import hamming_loss, hierarchical_hamming_loss

_TESTS = ("feature", "threshold", "default_right")


@savable
@dataclass(frozen=True)
class Rounds:
    """The weak hypotheses of all rounds: each a complete tree per label, or one for all labels.

    The nodes of a tree are stored level by level; the children of node k of a level are nodes 2k
    and 2k + 1 of the next one. Arrays are ordered by round, then by node, then by label.
    """

    depth: int  # number of tests on every path
    shared: bool  # whether all labels share one tree
    feature: NDArray[np.int32]  # the feature of each test; -1 sends all rows to the left
    threshold: NDArray[np.float64]  # the threshold of each test; larger values go to the right
    default_right: NDArray[np.uint8]  # whether missing values go to the right
    # The range of categories of each test, which is empty for numeric features, and whether each
    # category goes to the right.
    category_indptr: NDArray[np.int64]
    category_right: NDArray[np.uint8]
    sign: NDArray[np.int8]  # the votes of the leaves for each label, +1 or -1
    alpha: NDArray[np.float64]  # the weight of each round
    # For each round and label: 1 if the vote is negative where that for a parent is, 2 if it is
    # negative where those for all parents are, 0 if it does not depend on them.
    top_down: NDArray[np.uint8]

    _saved_schema: ClassVar[Schema] = {
        "depth": Whole(1, 64),
        "shared": Flag(),
        "feature": Array(("n_tests",), "i4", low=-1, below="n_features"),
        "threshold": Array(("n_tests",), finite=False),
        "default_right": Array(("n_tests",), "u1", high=1),
        "category_right": Array(("n_codes",), "u1", high=1),
        "category_indptr": Increasing("n_tests+1", "i8", first=0, last="n_codes"),
        "sign": Array(("n_signs",), "i1", low=-1, high=1),
        "alpha": Array(("n_rounds",)),
        "top_down": Array(("n_votes",), "u1", high=2),
    }

    @classmethod
    def join(
        cls,
        learnt: Sequence[Mapping[str, NDArray[Any]]],
        alphas: Sequence[float],
        *,
        depth: int,
        shared: bool,
    ) -> Rounds:
        """Concatenate rounds."""
        parts: dict[str, Any] = {}
        kinds = (np.int32, np.float64, np.uint8, np.uint8, np.int8, np.uint8)
        names = (*_TESTS, "category_right", "sign", "top_down")
        for name, kind in zip(names, kinds, strict=True):
            parts[name] = np.concatenate([np.zeros(0, kind), *(part[name] for part in learnt)])
        sizes = [np.diff(part["category_indptr"]) for part in learnt]
        indptr = np.concatenate([np.zeros(1, np.int64), *sizes])
        return cls(
            depth=depth,
            shared=shared,
            category_indptr=np.cumsum(indptr, dtype=np.int64),
            alpha=np.array(alphas, dtype=np.float64),
            **parts,
        )

    @property
    def n_rounds(self) -> int:
        """The number of rounds."""
        return len(self.alpha)

    def first(self, n_rounds: int) -> Rounds:
        """Return the first rounds only."""
        n_tests = len(self.feature) // max(1, self.n_rounds) * n_rounds
        n_signs = len(self.sign) // max(1, self.n_rounds) * n_rounds
        n_votes = len(self.top_down) // max(1, self.n_rounds) * n_rounds
        indptr = self.category_indptr[: n_tests + 1].copy()
        return Rounds(
            depth=self.depth,
            shared=self.shared,
            category_indptr=indptr,
            category_right=self.category_right[: indptr[-1]].copy(),
            sign=self.sign[:n_signs].copy(),
            alpha=self.alpha[:n_rounds].copy(),
            top_down=self.top_down[:n_votes].copy(),
            **{name: getattr(self, name)[:n_tests].copy() for name in _TESTS},
        )

    def add_margins(
        self,
        X: Any,
        out: NDArray[np.float64],
        hierarchy: Hierarchy,
        *,
        first: int = 0,
        last: int | None = None,
        n_threads: int = 1,
    ) -> None:
        """Add the weighted votes of some rounds to `out`."""
        arrays = {name: getattr(self, name) for name in self.__dataclass_fields__}
        last = self.n_rounds if last is None else last
        _core.add_margins(arrays, as_rows(X), first, last, hierarchy._parents, n_threads, out)


# ---- the boosting loop, stopping and prediction ---------------------------------------------


# Edges this close to 0 or 1 differ from 0 or 1 only by rounding errors. The weight of a perfect
# round is computed from the edge 1 - _ROUNDING.
_ROUNDING = 1e-10
_MAX_DEPTH = 8
_TOP_DOWN = {True: "always", False: "never"}


@dataclass
class _Course:
    """Records of all rounds."""

    learnt: list[Any] = field(default_factory=list)
    alphas: list[float] = field(default_factory=list)
    edges: list[float] = field(default_factory=list)
    relaxed: list[bool] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    reason: str = "rounds"

    def add(self, learnt: Any, edge: float, relaxed: bool) -> None:
        """Record a round."""
        self.relaxed.append(relaxed)
        self.edges.append(edge)
        self.learnt.append(learnt)
        self.alphas.append(0.5 * math.log((1 + edge) / (1 - edge)))

    def best_round(self) -> int:
        """Return the number of rounds with the smallest validation loss."""
        return int(np.argmin(self.losses)) + 1 if self.losses else len(self.alphas)


@dataclass
class _Validation:
    """Held-out rows for early stopping, and their margins after the rounds so far."""

    X: Any
    Y: sparse.csr_array[np.int32]
    weights: NDArray[np.float64]
    margins: NDArray[np.float64]


class BoostedClassifier(StagedClassifier, ArrayClassifier):
    """Base class of AdaBoost.MH and H-Ada.MH.

    They differ in the values of `costs`, `top_down`, `inherit_mistakes` and `at_chance`.
    """

    costs: Any
    top_down: bool | str
    inherit_mistakes: bool
    at_chance: str
    rounds_: Rounds
    edges_: NDArray[np.float64]
    relaxed_: NDArray[np.bool_]
    validation_losses_: NDArray[np.float64]
    stop_reason_: str

    _saved_schema: ClassVar[Schema] = {
        "rounds_": Part(Rounds, n_features="n_variables", n_labels="n_labels"),
        "edges_": Array(("n_rounds",), finite=False),
        "relaxed_": Array(("n_rounds",), "b1"),
        "validation_losses_": Array(("n_losses",), finite=False),
        "stop_reason_": Text(),
    }

    def __init__(
        self,
        hierarchy: Hierarchy | None = None,
        *,
        n_estimators: int = 200,
        max_depth: int = 1,
        shared_test: bool = False,
        max_bins: int | None = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        categorical_features: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.hierarchy = hierarchy
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.shared_test = shared_test
        self.max_bins = max_bins
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        check_number("n_estimators", self.n_estimators, 1, whole=True)
        check_number("max_depth", self.max_depth, 1, _MAX_DEPTH, whole=True)
        if self.max_bins is not None:
            check_number("max_bins", self.max_bins, 1, whole=True)
        if self.early_stopping:
            check_number("validation_fraction", self.validation_fraction, 0, 1)
            check_number("n_iter_no_change", self.n_iter_no_change, 1, whole=True)
        check_choice("at_chance", self.at_chance, ("relax", "stop"))
        if not isinstance(self.top_down, bool | np.bool_) and self.top_down != "best":
            raise ValueError(f"top_down must be 'best', True or False, got {self.top_down!r}.")
        if isinstance(self.costs, str):
            check_choice("costs", self.costs, ("shared", "uniform"))

    def _why_not_unknown(self) -> str | None:
        if self.early_stopping:
            return "early_stopping requires all labels. Use early_stopping=False"
        if self.inherit_mistakes:
            return "inherit_mistakes requires all labels. Use inherit_mistakes=False"
        return None

    # ---- learning --------------------------------------------------------------------------

    def _learn(self, X: Any, encoded: EncodedLabels, weights: NDArray[np.float64]) -> None:
        Y, unknown = encoded.Y, encoded.unknown
        rows = np.flatnonzero(weights > 0)  # rows of weight 0 must not affect thresholds
        X = by_rows(X)
        validation = None
        if self.early_stopping:
            rows, kept = self._split(rows)
            validation = _Validation(
                X[kept], Y[kept], weights[kept], np.zeros((len(kept), Y.shape[1]))
            )
        if len(rows) < X.shape[0]:
            X, Y, weights = X[rows], Y[rows], weights[rows]
            unknown = None if unknown is None else unknown.take(rows)
        booster = self._make_booster(X, Y, weights)
        if unknown is not None:
            booster.hide(unknown.of_row, as_label_rows(unknown.patterns))
        course = self._boost(booster, validation)
        rounds = self._join(course)
        n_kept = course.best_round()
        self.rounds_ = rounds.first(n_kept) if n_kept < rounds.n_rounds else rounds
        self.edges_ = np.array(course.edges[:n_kept])
        self.relaxed_ = np.array(course.relaxed[:n_kept], dtype=bool)
        self.validation_losses_ = np.array(course.losses)
        self.stop_reason_ = course.reason

    def _split(self, rows: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Draw the rows to learn from, and the held-out rows for early stopping."""
        n_kept = round(self.validation_fraction * len(rows))
        if not 0 < n_kept < len(rows):
            raise ValueError(
                "validation_fraction must leave rows for both training and validation, got "
                f"{self.validation_fraction!r}, which selects {n_kept} of {len(rows)} rows. Pass "
                "another fraction, or set early_stopping=False."
            )
        drawn = check_random_state(self.random_state).permutation(rows)
        return np.sort(drawn[n_kept:]), np.sort(drawn[:n_kept])

    def _make_booster(
        self, X: Any, Y: sparse.csr_array[np.int32], weights: NDArray[np.float64]
    ) -> _core.Booster:
        return _core.Booster(
            make_dataset(X, self.schema_, n_jobs=self.n_jobs),
            as_label_rows(Y),
            self._graph._parents,
            np.ascontiguousarray(weights),
            self._label_costs(),
            self._options(),
        )

    def _options(self) -> _core.BoostingOptions:
        options = _core.BoostingOptions()
        options.depth = int(self.max_depth)
        options.max_bins = 0 if self.max_bins is None else int(self.max_bins)
        options.shared = bool(self.shared_test)
        options.top_down = _core.TopDown[
            "best" if self.top_down == "best" else _TOP_DOWN[bool(self.top_down)]
        ]
        options.inherit_mistakes = bool(self.inherit_mistakes)
        options.relax = self.at_chance == "relax"
        options.n_threads = count_threads(self.n_jobs)
        return options

    @property
    def _graph(self) -> Hierarchy:
        """The hierarchy that costs and votes follow."""
        return self.hierarchy_

    def _label_costs(self) -> NDArray[np.float64]:
        n_labels = self.hierarchy_.n_labels
        if isinstance(self.costs, str):
            return self._graph.costs() if self.costs == "shared" else np.ones(n_labels)
        costs = np.asarray(self.costs, dtype=np.float64)
        if costs.shape != (n_labels,):
            raise ValueError(
                f"costs must be 'shared', 'uniform' or an array of shape ({n_labels},), got shape "
                f"{costs.shape}. Pass one cost per label."
            )
        bad = costs[~(np.isfinite(costs) & (costs > 0))]
        if bad.size:
            raise ValueError(f"costs must be finite and positive, got {bad[0]}.")
        return np.ascontiguousarray(costs)

    def _boost(self, booster: _core.Booster, validation: _Validation | None) -> _Course:
        course = _Course()
        numbers = track(
            range(self.n_estimators), self.n_estimators, "Boosting", shown=self.verbose
        )
        for _ in numbers:
            if not self._add_round(booster, course):
                break
            if validation is not None and self._has_stalled(course, validation):
                course.reason = "validation"
                break
        return course

    def _add_round(self, booster: _core.Booster, course: _Course) -> bool:
        """Learn a round and update the weights; return False if boosting has to end."""
        learnt = booster.learn()
        edge = booster.edge()
        if edge <= _ROUNDING:
            course.reason = "chance"  # the round is not recorded
            return False
        is_perfect = edge >= 1 - _ROUNDING
        edge = min(edge, 1 - _ROUNDING)
        course.add(learnt, edge, not booster.corrected())
        if is_perfect:
            course.reason = "perfect"
            return False
        booster.reweigh()
        return True

    def _has_stalled(self, course: _Course, validation: _Validation) -> bool:
        """Compute the validation loss, and return whether it has stopped decreasing."""
        latest = self._join(course, -1)
        latest.add_margins(validation.X, validation.margins, self._graph)
        predicted = apply_threshold(self._link(validation.margins), 0.5, self.hierarchy_)
        hierarchical = self.top_down or self.inherit_mistakes
        loss = hierarchical_hamming_loss if hierarchical else hamming_loss
        course.losses.append(
            loss(
                validation.Y,
                predicted,
                hierarchy=self.hierarchy_,
                sample_weight=validation.weights,
            )
        )
        return len(course.losses) - course.best_round() >= self.n_iter_no_change

    def _join(self, course: _Course, first: int = 0) -> Rounds:
        return Rounds.join(
            course.learnt[first:],
            course.alphas[first:],
            depth=int(self.max_depth),
            shared=bool(self.shared_test),
        )

    # ---- predicting ------------------------------------------------------------------------

    @property
    def n_rounds_(self) -> int:
        """The number of rounds."""
        check_is_fitted(self)
        return self.rounds_.n_rounds

    @property
    def alphas_(self) -> NDArray[np.float64]:
        """The weight of each round."""
        check_is_fitted(self)
        return self.rounds_.alpha

    def _link(self, margins: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return 1 / (1 + exp(-2 margin)), limited to the probabilities of the parents."""
        scores = make_coherent(special.expit(2 * margins), self.hierarchy_, "min")
        if self.format_.single_label:
            # One path per row: the probabilities of the top-level labels sum to 1.
            top = np.diff(self.hierarchy_.parent_rows[0]) == 0
            scores /= np.maximum(scores[:, top].sum(axis=1, keepdims=True), np.finfo(float).tiny)
            np.minimum(scores, 1.0, out=scores)
        return scores

    def _margins(self, X: Any) -> NDArray[np.float64]:
        margins = np.zeros((X.shape[0], self.hierarchy_.n_labels))
        self.rounds_.add_margins(
            X,
            margins,
            self._graph,
            n_threads=count_threads(self.n_jobs),
        )
        return margins

    def _predict_scores(self, X: Any) -> NDArray[np.float64]:
        return self._link(self._margins(X))

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the margin of every label: the sum of the weighted votes of all rounds.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows with the same features as in `fit`.

        Returns
        -------
        ndarray of shape (n, n_labels) or (n,)
            Margins; positive if the votes are in favour of the label. For two exclusive classes,
            the margin of the second class minus that of the first, as in scikit-learn.
        """
        check_is_fitted(self)
        return self._as_decision(self._margins(read_features(self, X, self.schema_)))

    def _as_decision(self, margins: NDArray[np.float64]) -> NDArray[np.float64]:
        is_flat = self.hierarchy_.labels == self.hierarchy_.leaves
        if self.format_.single_label and is_flat and margins.shape[1] == 2:
            return np.asarray(margins[:, 1] - margins[:, 0])
        return margins

    def _text_form(self) -> str:
        return "presence"

    def _staged_margins(self, X: Any) -> Iterator[NDArray[np.float64]]:
        check_is_fitted(self)
        X = read_features(self, X, self.schema_)
        margins = np.zeros((X.shape[0], self.hierarchy_.n_labels))
        for first in range(self.n_rounds_):
            self.rounds_.add_margins(
                X,
                margins,
                self._graph,
                first=first,
                last=first + 1,
                n_threads=count_threads(self.n_jobs),
            )
            yield margins.copy()

    def staged_decision_function(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Yield the margins after each round.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows with the same features as in `fit`.

        Yields
        ------
        ndarray
            The result of `decision_function` after each round.
        """
        for margins in self._staged_margins(X):
            yield self._as_decision(margins)

    def _staged_scores(self, X: Any) -> Iterator[NDArray[np.float64]]:
        for margins in self._staged_margins(X):
            yield self._link(margins)

    def _set_saved_state(self, state: Mapping[str, Any]) -> None:
        super()._set_saved_state(state)
        if "rounds_" not in state:
            return
        if not isinstance(self.rounds_, Rounds):
            raise ValueError(f"rounds_ must be of type Rounds, got {type(self.rounds_).__name__}")
        # The core validates all arrays, even without rows.
        self._margins(np.zeros((0, self.schema_.n_variables)))


# ---- the classifiers ------------------------------------------------------------------------


class AdaBoostMHClassifier(BoostedClassifier):
    r"""AdaBoost.MH: boosted decision stumps or small trees for multi-label classification.

    Every pair of a row and a label has a weight; initially, all weights are equal. In each round,
    the decision stump with the smallest weighted error is found for every label. The votes h of
    all these stumps share one weight

    .. math:: \alpha = \tfrac12 \ln \frac{1 + r}{1 - r}, \quad r = \sum_{i,j} w_{ij} y_{ij} h_{ij}

    with y and h in {-1, +1}. Then the weights of wrong votes are increased and those of correct
    votes decreased. The hierarchy is not used for learning; predictions are made coherent
    afterwards.

    Parameters
    ----------
    hierarchy : Hierarchy, optional
        The label hierarchy. If None, a tree is inferred from path labels; all other labels are
        treated as flat.
    n_estimators : int
        Maximum number of rounds.
    max_depth : int
        Depth of the trees, from 1 (decision stumps) to 8. Each test is the one that most reduces
        the weighted error.
    shared_test : bool
        Whether all labels share the tests of a round and differ only in their votes.
    max_bins : int, optional
        Number of bins of equal width per feature; only their lower bounds are considered as
        thresholds. None considers every midpoint between two neighbouring values.
    early_stopping : bool
        Whether to hold out validation rows, and to stop when the loss on them has not decreased
        for `n_iter_no_change` rounds. The model keeps the rounds up to the smallest loss.
    validation_fraction : float
        Fraction of the rows to hold out for early stopping.
    n_iter_no_change : int
        Number of rounds without a smaller loss after which to stop.
    categorical_features : array-like of bool, int or str, optional
        The nominal features, as a boolean mask, indices or column names. String and categorical
        columns of a data frame are always nominal. Nominal columns of an array must contain
        integer codes 0, 1, ….
    n_jobs : int, optional
        Number of threads; -1 means all cores. The result does not depend on it.
    random_state : int, RandomState instance or None
        Controls which rows are held out for early stopping; nothing else is random. Pass an int
        for reproducible results.
    verbose : bool
        Whether to show a progress bar (requires rich).

    Attributes
    ----------
    rounds_ : Rounds
        The weak hypotheses as flat arrays.
    n_rounds_ : int
        Number of rounds.
    alphas_ : ndarray of shape (n_rounds_,)
        The weight α of each round.
    edges_ : ndarray of shape (n_rounds_,)
        The edge r of each round.
    relaxed_ : ndarray of bool, shape (n_rounds_,)
        Whether a round uses votes without corrections; see `HierarchicalAdaBoostMHClassifier`.
    validation_losses_ : ndarray
        With `early_stopping`, the Hamming loss on the held-out rows after each round.
    stop_reason_ : {"rounds", "chance", "perfect", "validation"}
        Why boosting ended. "rounds": all rounds were completed. "chance": the next hypothesis was
        no better than chance. "perfect": the last hypothesis made no errors. "validation": the
        loss on the held-out rows stopped decreasing.
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
    HierarchicalAdaBoostMHClassifier : Boosting that uses the hierarchy for learning.
    CalibratedHierarchicalClassifier : Calibrates the probabilities of a classifier.

    Notes
    -----
    A test sends missing values to the side where they reduce the error more, and each category of
    a nominal feature to the side of its own majority. The probability of a label is the logistic
    function of twice its margin, as implied by the exponential loss, or that of an ancestor if
    this is smaller. A probability of at least 0.5 therefore means that the votes are in favour of
    the label and of all its ancestors.

    References
    ----------
    R. E. Schapire and Y. Singer. Improved boosting algorithms using confidence-rated predictions.
    Machine Learning 37, 1999.

    Examples
    --------
    >>> from ramify import AdaBoostMHClassifier, load_animals
    >>> animals = load_animals()
    >>> boosted = AdaBoostMHClassifier(animals.hierarchy, n_estimators=20)
    >>> boosted = boosted.fit(animals.X, animals.y)
    >>> boosted.predict_proba(animals.X).shape == animals.y.shape
    True
    """

    costs = "uniform"
    top_down = False
    inherit_mistakes = False
    at_chance = "stop"


class HierarchicalAdaBoostMHClassifier(BoostedClassifier):
    r"""AdaBoost.MH that uses the hierarchy for learning; H-Ada.MH is one of its forms.

    It differs from `AdaBoostMHClassifier` in up to three ways, each with its own parameter:

    - Labels near the top have larger initial weights (`costs`).
    - In a round, the vote for a label may depend on the votes for its parents (`top_down`).
    - A vote may count as wrong if the vote for an ancestor is wrong (`inherit_mistakes`).

    By default, the tree for each label and round is the better of two: the best tree, and the best
    among those that vote against the label wherever the vote for a parent is negative. This form
    is not from the literature. Algorithm 1 of H-Ada.MH is ``top_down=True``.

    Parameters
    ----------
    hierarchy : Hierarchy, optional
        The label hierarchy. If None, a tree is inferred from path labels; all other labels are
        treated as flat.
    costs : {"shared", "uniform"} or array-like of shape (n_labels,)
        The initial weights of the labels. "shared": the weight of a label is divided among its
        children (see `Hierarchy.costs`). "uniform": all weights are equal.
    top_down : {"best", True, False}
        Whether the vote for a label is negative where the vote for a parent (in a DAG, for any
        parent) is negative. True: always, after the trees have been found. False: never. "best":
        for each label and round, a second tree is searched for only on the rows for which all
        parents get positive votes, and is used, with negative votes for all other rows, if its
        edge is larger. With `shared_test`, only the votes of the leaves differ.
    inherit_mistakes : bool
        Whether a vote counts as wrong if the vote for an ancestor is wrong, both for the weight
        of the round and for the weights of the next round.
    at_chance : {"stop", "relax"}
        What to do in a round whose votes are no better than chance after the corrections by
        ``top_down=True`` and `inherit_mistakes`. "stop": end boosting. "relax": use the votes
        without these corrections for this round.
    n_estimators, max_depth, shared_test, max_bins
        As in `AdaBoostMHClassifier`.
    early_stopping, validation_fraction, n_iter_no_change
        As in `AdaBoostMHClassifier`. The loss is the hierarchy-aware Hamming loss, unless both
        `top_down` and `inherit_mistakes` are False.
    categorical_features, n_jobs, random_state, verbose
        As in `AdaBoostMHClassifier`.

    Attributes
    ----------
    rounds_, n_rounds_, alphas_, edges_, relaxed_, validation_losses_, stop_reason_
        As in `AdaBoostMHClassifier`.
    hierarchy_, classes_, n_features_in_, feature_names_in_
        As in `AdaBoostMHClassifier`.

    See Also
    --------
    AdaBoostMHClassifier : Boosting that does not use the hierarchy for learning.

    Notes
    -----
    Algorithm 1 of the paper has two changes: the initial weights (Eq. 5 and 6), and votes that are
    negative below a negative vote (Eq. 7). The stump for a label is found without regard to the
    second change, and after some rounds the corrections cancel what a round gains: r (Eq. 9) is 0
    or less. The paper does not discuss this case; taken literally, such rounds get an alpha of 0
    or less (Eq. 8), and boosting stalls. Inherited mistakes are part of the paper's loss (Eq. 2
    and 3), but not of Algorithm 1 or of Eq. 8 to 11.

    With ``top_down="best"``, the edge of a round is at least that of AdaBoost.MH for the same
    weights. Boosting therefore continues as long as any tree is better than chance. A round takes
    about twice as long.

    The depth of the trees matters more than the form; see the user guide on boosting.

    References
    ----------
    C. Chelmis and W. Qi. Hierarchical multiclass AdaBoost. IEEE Big Data, 2021.

    Examples
    --------
    >>> from ramify import HierarchicalAdaBoostMHClassifier, load_animals
    >>> animals = load_animals()
    >>> boosted = HierarchicalAdaBoostMHClassifier(animals.hierarchy, n_estimators=20)
    >>> boosted = boosted.fit(animals.X, animals.y)
    >>> boosted.predict_proba(animals.X).shape == animals.y.shape
    True

    Algorithm 1 of the paper:

    >>> algorithm1 = HierarchicalAdaBoostMHClassifier(animals.hierarchy, top_down=True)
    """

    def __init__(
        self,
        hierarchy: Hierarchy | None = None,
        *,
        costs: Any = "shared",
        top_down: bool | str = "best",
        inherit_mistakes: bool = False,
        at_chance: str = "stop",
        n_estimators: int = 200,
        max_depth: int = 1,
        shared_test: bool = False,
        max_bins: int | None = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        categorical_features: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(
            hierarchy,
            n_estimators=n_estimators,
            max_depth=max_depth,
            shared_test=shared_test,
            max_bins=max_bins,
            early_stopping=early_stopping,
            validation_fraction=validation_fraction,
            n_iter_no_change=n_iter_no_change,
            categorical_features=categorical_features,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.costs = costs
        self.top_down = top_down
        self.inherit_mistakes = inherit_mistakes
        self.at_chance = at_chance
