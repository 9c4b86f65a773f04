"""Answers that are as specific as a promised share of errors allows."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse, stats
from sklearn.utils import _safe_indexing

from ramify import _core
from ramify._base.classifier import USUAL, Asked
from ramify._messages import counted, shorten
from ramify._schema import AnyOf, Array, Increasing, Part, Schema
from ramify._validation import (
    Label,
    check_choice,
    check_folds,
    check_number,
    has_validation,
    is_missing,
)
from ramify.data.rows import as_label_rows, indicator
from ramify.decision.best_sets import DECISIONS
from ramify.decision.goals import label_costs
from ramify.decision.guarantees import Chains, Cover, climb, set_scores
from ramify.decision.paths import find_ends
from ramify.decision.thresholds import apply_threshold, check_threshold, chosen_labels
from ramify.labels.encoding import EncodedLabels
from ramify.labels.formats import SingleLabelFormat
from ramify.labels.hierarchy import Hierarchy
from ramify.meta.base import WrappingClassifier, fit_wrapped, label_scores
from ramify.meta.promises import (
    STORED,
    CalibrationRows,
    PathPromise,
    SetPromise,
    level_scores,
    root_of_each,
)
from ramify.meta.thresholds import make_splits, read_validation, score_folds

_LIKELY_SHIFT = 0.001  # probability below which a difference is not taken for chance


@dataclass(frozen=True)
class ShiftTest:
    """Whether rows look like those on which a promise was calibrated.

    Attributes
    ----------
    statistic : float
        The largest difference between the shares of rows, among the new and among the calibration
        rows, whose confidence is below some value (Kolmogorov and Smirnov).
    p_value : float
        How likely such a difference is by chance.
    """

    statistic: float
    p_value: float

    @property
    def is_likely(self) -> bool:
        """Whether the rows differ by more than chance explains (p below 0.001)."""
        return self.p_value < _LIKELY_SHIFT

    def __str__(self) -> str:
        if not self.is_likely:
            return (
                f"no sign that the rows differ from the calibration rows (p = {self.p_value:.2g})"
            )
        return (
            "the rows differ from the calibration rows in how sure the model is of them "
            f"(difference {self.statistic:.2f}, p = {self.p_value:.2g}), so the promise may not "
            "hold. Calibrate on rows like these"
        )


class SelectiveClassifier(WrappingClassifier):
    """Answer as specifically as a promised share of errors allows.

    If each row has one label or path, the hierarchy is climbed from the most probable end of a
    row's path until a label is probable enough. How probable is chosen on rows that the estimator
    was not fitted on, so that at most a share `max_error` of the answers is wrong. An answer is
    right if it is the true label or one of its ancestors: "beetle" is a right answer for any
    beetle. Where even the top level is too uncertain, the answer is empty; an empty answer is not
    wrong.

    If y has label sets, a label is predicted if its probability reaches a threshold, which is
    chosen in the same way, so that on average at most a share `max_error` of a row's labels is
    missed, or of its predicted labels false.

    Parameters
    ----------
    estimator, hierarchy
        As in `CalibratedHierarchicalClassifier`.
    max_error : float
        The promise: the largest share of wrong answers among new rows; of label sets, the largest
        mean share of labels that go wrong.
    errors : {"wrong", "missed", "false"}, optional
        What the promise is about. "wrong": answers of one label that are neither true nor above
        the true label; y must have one label or path per row. "missed" and "false": in label sets,
        true labels that are not predicted, or predicted labels that are not true. Ancestors count
        like all labels. Rows without labels are not counted for missed labels; an empty prediction
        has no false ones. None: "wrong" if each row has one label or path, "missed" otherwise.
    costs : {"uniform", "shared"} or array-like of shape (n_labels,)
        Weights of missed labels in label sets, as in `ramify.metrics.hmc_loss`.
    confidence : float, optional
        Probability, over the choice of the calibration rows, with which the promise is kept. If
        None, the share of errors is kept on average over calibration rows and new rows.
    max_labels : int
        Most labels of the sets that `predict_sets` returns for paths.
    per : {"all", "branch"}
        "branch": the promise is also about the rows whose predicted path starts at each top-level
        label; branches with too few calibration rows share a threshold. For label sets, it is
        about the labels below each top-level label, such as the namespaces of the Gene Ontology,
        which then have thresholds of their own.
    calibration : float, int, splitter or iterable of (train, test)
        Rows on which thresholds are chosen if `fit` gets no validation rows: a share of the rows,
        which the estimator is then not fitted on, or how to cross-validate. With cross-validation,
        the estimator is fitted on all rows, and the promise holds only approximately: it is that
        of the models of the folds.
    coherence : {"isotonic", "max", "min"}
        How to repair scores that are inconsistent with the hierarchy; see
        `ramify.decision.make_coherent`.
    n_jobs : int, optional
        Number of folds to fit in parallel; -1 means all cores. The result does not depend
        on it.
    random_state : int, RandomState instance or None
        Controls the choice of calibration rows. Pass an int for reproducible results.

    Attributes
    ----------
    errors_ : {"wrong", "missed", "false"}
        What the promise is about.
    promise_ : PathPromise or SetPromise
        What was learnt from the calibration rows.
    thresholds_ : ndarray of shape (n_labels,)
        The probability that an answer below each top-level label must reach; for label sets, that
        each label must reach. Infinity if no probability suffices.
    shared_branches_ : tuple
        The top-level labels of paths that share a threshold although ``per="branch"``.
    estimator_ : classifier
        The fitted classifier.
    hierarchy_, classes_, n_features_in_, feature_names_in_
        As in `CalibratedHierarchicalClassifier`.

    See Also
    --------
    TunedThresholdClassifierCV : Thresholds that optimise a measure, without a promise.
    ramify.decision.confident_path : Paths that end at a given probability.

    Notes
    -----
    A fitted classifier must be calibrated on rows that it has not seen: pass them as `X_val` and
    `y_val`.

    Examples
    --------
    >>> from ramify import PCTForestClassifier, SelectiveClassifier
    >>> from ramify import make_hierarchical_classification
    >>> data = make_hierarchical_classification(
    ...     2000, 10, n_labels=15, labels_per_row=1, noise=1.0, random_state=0
    ... )
    >>> y = [labels[0] for labels in data.hierarchy.decode(data.y)]
    >>> forest = PCTForestClassifier(data.hierarchy, n_estimators=20, random_state=0)
    >>> careful = SelectiveClassifier(forest, max_error=0.05, random_state=0)
    >>> careful = careful.fit(data.X[:1500], y[:1500])
    >>> careful.predict(data.X[1500:1505])
    array(['1/2/1', '1/1/1', '3/1/1', '', '1/3/3'], dtype='<U5')
    >>> careful.answer_depths(data.X[1500:], max_errors=[0.01, 0.05, 0.1]).round(2)
    array([[0.77, 0.49, 0.21],
           [0.94, 0.79, 0.49],
           [0.95, 0.87, 0.62]])
    >>> careful.predict_sets(data.X[1500:1505])
    [('1/2/1',), ('1/1/1',), ('3/1/1',), ('1', '3/1/1'), ('1/3/3',)]
    """

    promise_: PathPromise | SetPromise
    thresholds_: NDArray[np.float64]
    confidences_: NDArray[np.float64]

    _saved_schema: ClassVar[Schema] = {
        "promise_": AnyOf(
            Part(PathPromise, n_labels="n_labels"), Part(SetPromise, n_labels="n_labels")
        ),
        "thresholds_": Array(("n_labels",), low=-np.inf, finite=False),
        "confidences_": Increasing("?"),
    }

    def __init__(
        self,
        estimator: Any,
        *,
        hierarchy: Hierarchy | None = None,
        max_error: float = 0.1,
        errors: str | None = None,
        costs: Any = "uniform",
        confidence: float | None = None,
        max_labels: int = 3,
        per: str = "all",
        calibration: Any = 0.25,
        coherence: str = "isotonic",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.hierarchy = hierarchy
        self.max_error = max_error
        self.errors = errors
        self.costs = costs
        self.confidence = confidence
        self.max_labels = max_labels
        self.per = per
        self.calibration = calibration
        self.coherence = coherence
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> SelectiveClassifier:
        """Fit the classifier and choose thresholds on calibration rows.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Training rows in a form that the estimator accepts.
        y : array-like
            Labels of the n rows, in any format accepted by `ramify.labels.read_labels`.
        sample_weight : array-like of shape (n,), optional
            Sample weights, passed to the estimator's `fit`. Calibration rows with weight 0 are
            left out.
        groups : array-like of shape (n,) or of the validation rows, optional
            Groups of rows that belong together, such as those of a site or person, of the
            validation rows if there are any. Groups are not divided, and the promise is about the
            rows of a new group: the mean of a group counts like a row.
        X_val : like X, optional
            Calibration rows to use instead of some of X. The estimator is not fitted on them.
        y_val : array-like, optional
            Labels of the calibration rows.
        sample_weight_val : array-like, optional
            Weights of the calibration rows: how much more frequent rows like these are among new
            rows (covariate shift). Unequal weights require ``confidence=None``.

        Returns
        -------
        SelectiveClassifier
            The fitted classifier.
        """
        X, encoded, weights = self._read_wrapped(X, y, sample_weight)
        is_path = self._wanted_errors(encoded) == "wrong"
        ends = _ends_of(encoded, weights) if is_path else None
        given = None if sample_weight is None else weights
        if has_validation(X_val, y_val, sample_weight_val):
            labels, weights = read_validation(X_val, y_val, sample_weight_val, self.hierarchy_)
            groups = _read_groups(groups, labels.Y.shape[0])
            self._fit_estimator(X, encoded, given)
            scores = label_scores(self.estimator_, X_val, self.format_)
        else:
            groups = _read_groups(groups, encoded.Y.shape[0])
            scores, rows = self._hold_out(X, y, encoded, given, groups)
            labels, weights = encoded.take(rows), np.sign(weights[rows])
            groups = None if groups is None else groups[rows]
        kept = weights > 0
        if labels.unknown is not None:
            kept &= ~labels.unknown.nothing_known
        held_out = CalibrationRows(
            self._coherent(scores), labels.Y, weights, groups, labels.unknown
        ).where(kept)
        self._check_rows(held_out)
        self._calibrate(held_out, ends)
        return self

    def _hold_out(
        self,
        X: Any,
        y: Any,
        encoded: EncodedLabels,
        weights: NDArray[np.float64] | None,
        groups: NDArray[Any] | None,
    ) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Fit the estimator, and score rows that it, or the copy of their fold, has not seen.

        Returns: scores and the numbers of the rows.
        """
        n = encoded.Y.shape[0]
        if not isinstance(self.calibration, float):
            splits = make_splits(
                self.calibration, X, y, n, self.random_state, groups=groups, name="calibration"
            )
            found = score_folds(self.estimator, X, encoded, weights, splits, n_jobs=self.n_jobs)
            self._fit_estimator(X, encoded, weights)
            return found
        from sklearn.model_selection import (  # noqa: PLC0415 (slow, seldom used)
            GroupShuffleSplit,
            ShuffleSplit,
        )

        splitter = ShuffleSplit if groups is None else GroupShuffleSplit
        once = splitter(1, test_size=self.calibration, random_state=self.random_state)
        try:
            train, test = next(once.split(np.empty((n, 1)), groups=groups))
        except ValueError:
            # "1 sample" is what scikit-learn's checks look for.
            units = counted(n, "sample") if groups is None else counted(len(set(groups)), "group")
            raise ValueError(
                f"calibration must leave rows to fit the estimator on, got {self.calibration} of "
                f"{units}. Pass a smaller share, more rows, or X_val and y_val."
            ) from None
        self._keep_fitted(fit_wrapped(self.estimator, X, encoded, weights, train))
        return label_scores(self.estimator_, _safe_indexing(X, test), self.format_), test

    def _why_not_unknown(self) -> str | None:
        return self._why_foreign_not_unknown()

    def _check_parameters(self) -> None:
        check_share("max_error", self.max_error)
        if self.confidence is not None:
            check_share("confidence", self.confidence)
        check_choice("errors", self.errors, (None, "wrong", "missed", "false"))
        check_choice("per", self.per, ("all", "branch"))
        check_number("max_labels", self.max_labels, 1, whole=True)
        if isinstance(self.calibration, float):
            check_share("calibration", self.calibration)
        else:
            check_folds(self.calibration, "calibration")

    def _wanted_errors(self, encoded: EncodedLabels) -> str:
        """Return what the promise is about, or raise an error if y does not allow it."""
        indptr, _ = _core.most_specific(as_label_rows(encoded.Y), encoded.hierarchy._parents)
        unknown = encoded.unknown
        ignored = False if unknown is None else unknown.nothing_known
        several = np.flatnonzero((np.diff(indptr) != 1) & ~ignored)
        wanted = self.errors or ("missed" if several.size else "wrong")
        if wanted == "wrong" and several.size:
            raise ValueError(
                f"errors must not be 'wrong' if rows have label sets, got "
                f"{int(np.diff(indptr)[several[0]])} most specific labels in row {several[0]}. "
                "Pass 'missed' or 'false'."
            )
        if wanted != "wrong" and encoded.format.single_label:
            raise ValueError(
                f"errors must be 'wrong' if y has one label or path per row, got {wanted!r}. Omit "
                "it, or pass a label matrix."
            )
        if wanted != "wrong":
            label_costs(self.costs, encoded.hierarchy)
            if self.per == "branch":
                root_of_each(encoded.hierarchy)
        return wanted

    def _check_rows(self, rows: CalibrationRows) -> None:
        """Raise an error if there are no rows, or some that the promise cannot use."""
        if not len(rows.scores):
            raise ValueError(
                "calibration must leave at least one row with a positive weight, got none. Pass "
                "more rows, or X_val and y_val."
            )
        if rows.is_shifted and (self.confidence is not None or rows.groups is not None):
            raise ValueError(
                "sample_weight_val must be equal for all rows if confidence or groups are given. "
                "Pass confidence=None, or omit the weights."
            )
        if rows.groups is not None and self.per == "branch":
            raise ValueError('per must be "all" if groups are given, got "branch".')

    def _calibrate(self, rows: CalibrationRows, candidates: NDArray[np.bool_] | None) -> None:
        """Learn what the promise asks for."""
        hierarchy = self.hierarchy_
        if candidates is not None:
            promise = PathPromise.learn(
                rows,
                hierarchy,
                candidates=candidates,
                confidence=self.confidence,
                max_labels=self.max_labels,
                per_branch=self.per == "branch",
            )
            self.promise_ = promise
            self.thresholds_ = promise.thresholds(_first_tops(hierarchy), self.max_error)
            is_useless = np.isinf(promise.thresholds(promise.branches, self.max_error)).all()
        else:
            costs = label_costs(self.costs, hierarchy) if self.errors != "false" else None
            roots = (
                root_of_each(hierarchy)
                if self.per == "branch"
                else np.zeros(hierarchy.n_labels, dtype=np.intp)
            )
            self.promise_ = SetPromise.learn(
                rows, roots, share=self.max_error, costs=costs, confidence=self.confidence
            )
            self.thresholds_ = self.promise_.thresholds
            is_useless = np.isinf(self.thresholds_).all()
        self.confidences_ = np.sort(self._confidence_of(rows.scores))
        if is_useless:
            found = "is empty" if self.thresholds_[0] > 0 else "contains all labels"
            warnings.warn(
                f"no threshold keeps max_error={self.max_error:g} with {rows.n_units} calibration "
                f"rows, so every answer {found}. Pass more rows, a larger max_error, or "
                "confidence=None.",
                stacklevel=3,
            )
        elif self.shared_branches_:
            n_shared, n_tops = len(self.shared_branches_), len(hierarchy.levels[0])
            warnings.warn(
                f"{n_shared} of {n_tops} top-level labels have too few calibration rows for "
                f"max_error={self.max_error:g}, such as {shorten(self.shared_branches_)}. The "
                "promise is about them together: they share a threshold. Pass more rows or a "
                "larger max_error.",
                stacklevel=3,
            )

    def check_shift(self, X: Any) -> ShiftTest:
        """Compare how sure the classifier is of new rows and of the calibration rows.

        A promise is about rows like the calibration rows, and depends on X through the scores
        alone. A difference in X that does not change them does no harm, and one that matters shows
        in the confidence first.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            New rows.

        Returns
        -------
        ShiftTest
            The result of a two-sample test of Kolmogorov and Smirnov. It assumes rows that do not
            depend on each other; groups of similar rows make p too small.
        """
        return self.shift_of(self.confidences(X))

    def confidences(self, X: Any) -> NDArray[np.float64]:
        """Compute how sure the classifier is of each row.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows with the same features as in `fit`.

        Returns
        -------
        ndarray of shape (n,)
            For paths, the probability of the end of the path; for label sets, the sum of the
            probabilities of all labels.
        """
        self._check_fitted()
        return self._confidence_of(self.predict_proba(X))

    def shift_of(self, confidences: ArrayLike) -> ShiftTest:
        """Compare confidences of new rows with those of the calibration rows.

        Parameters
        ----------
        confidences : array-like of shape (n,)
            Collected from `confidences`, such as those of several batches of rows.

        Returns
        -------
        ShiftTest
            The result of `check_shift` for all these rows.
        """
        self._check_fitted()
        values = np.asarray(confidences, dtype=np.float64)
        if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
            raise ValueError(
                "confidences must be a list of finite numbers, one per row and at least one, got "
                f"{values}. Pass the result of confidences."
            )
        found = stats.ks_2samp(values, self.confidences_)
        return ShiftTest(float(found.statistic), float(found.pvalue))

    def _confidence_of(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how sure the estimator is of each row."""
        if isinstance(self.promise_, PathPromise):
            return self._chains(scores).scores[:, 0]
        return np.asarray(scores.sum(axis=1))

    def _chains(self, scores: NDArray[np.float64]) -> Chains:
        promise: Any = self.promise_
        return climb(scores, promise.candidates, self.hierarchy_)

    @property
    def errors_(self) -> str:
        """What the promise is about: "wrong", "missed" or "false"."""
        self._check_fitted()
        return "wrong" if isinstance(self.promise_, PathPromise) else self.errors or "missed"

    @property
    def shared_branches_(self) -> tuple[Label, ...]:
        """The top-level labels of paths that share a threshold although ``per="branch"``."""
        self._check_fitted()
        if self.per == "all" or isinstance(self.promise_, SetPromise):
            return ()
        own = set(self.promise_.own_branches(self.max_error).tolist())
        tops = self.hierarchy_.levels[0]
        return tuple(label for label in tops if self.hierarchy_.index(label) not in own)

    def predict(
        self,
        X: Any,
        threshold: Any = None,
        *,
        candidates: str = "specific",
        decide: str = "jointly",
        max_error: float | None = None,
        shift_weight: Any = None,
    ) -> Any:
        """Predict labels that keep the promise, in the format of y in `fit`.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows with the same features as in `fit`.
        threshold : float, array-like of shape (n_labels,) or dict of label to float, optional
            Thresholds for label sets to use instead, which promise nothing. Must be None for
            paths.
        candidates : {"specific", "all"}
            Has no effect: paths are climbed from a label at which a training row ends.
        decide : {"jointly", "separately"}
            Has no effect, because the promise decides.
        max_error : float, optional
            Another promise than that of the constructor, on the same calibration rows. For label
            sets, from 0.01 to 0.5; shares between hundredths are rounded down.
        shift_weight : array-like of shape (n,), optional
            For paths: how much more frequent rows like these are among new rows than among the
            calibration rows, if `fit` got such weights for these; by default the largest of them.

        Returns
        -------
        array or list
            n labels, paths or label sets. An empty answer for a path is "" or, if labels are not
            strings, None.
        """
        self._check_fitted()
        check_choice("candidates", candidates, ("specific", "all"))
        check_choice("decide", decide, DECISIONS)
        promise = self.promise_
        if isinstance(promise, SetPromise):
            if shift_weight is not None:
                raise ValueError("shift_weight must be None for label sets. Omit it.")
            if max_error is not None:
                if threshold is not None:
                    raise ValueError(
                        f"max_error must be None if threshold is given, got {max_error!r}: "
                        "thresholds follow from the promise. Pass one of them."
                    )
                threshold = self._stored_thresholds(max_error)
            return self.format_.write(self._predict_sets(X, Asked(threshold)))
        if threshold is not None:
            raise ValueError(
                f"threshold must be None if rows had one label each in fit, got {threshold!r}: it "
                "follows from the promise. Pass max_error."
            )
        return self._write(self._answers(self._score(X), max_error, shift_weight))

    def _score(self, X: Any) -> NDArray[np.float64]:
        return self._score_given(*self._read_rows(X))

    def _answers(
        self, scores: NDArray[np.float64], max_error: float | None, shift_weight: Any = None
    ) -> NDArray[np.intp]:
        """Return the answer for each row, -1 for none."""
        promise: Any = self.promise_
        chains = self._chains(scores)
        if max_error is None and shift_weight is None:
            return chains.answers(self.thresholds_[chains.tops])
        share, weight = self._read_promise(max_error, shift_weight, len(scores))
        return chains.answers(promise.thresholds(chains.tops, share, weight))

    def _answers_for(
        self, scores: NDArray[np.float64], shares: Iterable[float]
    ) -> Iterator[NDArray[np.intp]]:
        """Yield the answer for each row, -1 for none, for several promises."""
        promise: Any = self.promise_
        chains = self._chains(scores)
        for share in shares:
            yield chains.answers(promise.thresholds(chains.tops, share))

    def _decide(
        self, scores: NDArray[np.float64], asked: Asked = USUAL
    ) -> sparse.csr_array[np.int32]:
        if isinstance(self.promise_, PathPromise):
            return self._closed(self._answers(scores, None))
        if asked.threshold is not None:
            return apply_threshold(scores, asked.threshold, self.hierarchy_)
        return chosen_labels(scores >= self.thresholds_)

    def _closed(self, answers: NDArray[np.intp]) -> sparse.csr_array[np.int32]:
        """Return label sets from answers, -1 for none."""
        given = answers[answers >= 0]
        ends = np.concatenate([[0], np.cumsum(answers >= 0)])
        return self.hierarchy_.close(indicator((ends, given), self.hierarchy_.n_labels))

    def _write(self, answers: NDArray[np.intp]) -> Any:
        """Return answers in the format of y."""
        if not isinstance(self.format_, SingleLabelFormat):
            return self.format_.write(self._closed(answers))
        written = self.format_.write_ends(answers[answers >= 0])
        if (answers >= 0).all():
            return written
        is_text = written.dtype.kind in "UO"
        found = np.full(
            (len(answers), *written.shape[1:]),
            "" if is_text else None,
            dtype=written.dtype if is_text else object,
        )
        found[answers >= 0] = written
        return found

    def _read_promise(
        self, max_error: float | None, shift_weight: Any, n: int
    ) -> tuple[float, NDArray[np.float64] | None]:
        """Return the share of errors, and the weights of new rows."""
        promise: Any = self.promise_
        if max_error is not None:
            check_share("max_error", max_error)
        share = self.max_error if max_error is None else max_error
        if shift_weight is None:
            return share, None
        if not promise.is_weighted:
            raise ValueError(
                "shift_weight must be None if fit got no sample_weight_val. Omit it, or pass "
                "weights of the calibration rows to fit."
            )
        weights = np.asarray(shift_weight, dtype=np.float64)
        if weights.shape != (n,):
            raise ValueError(
                f"shift_weight must have one weight per row, got shape {weights.shape} for {n} "
                "rows."
            )
        wrong = weights[~((weights >= 0) & np.isfinite(weights))]
        if wrong.size:
            raise ValueError(
                f"shift_weight must be finite and non-negative, got {wrong[0]}. Replace it."
            )
        return share, weights

    def with_max_error(self, max_error: float) -> SelectiveClassifier:
        """Return a copy that keeps another promise, by the same calibration rows.

        Parameters
        ----------
        max_error : float
            The promise of the copy; for label sets, from 0.01 to 0.5.

        Returns
        -------
        SelectiveClassifier
            A fitted classifier.
        """
        self._check_fitted()
        check_share("max_error", max_error)
        other = copy(self)
        other.max_error = max_error
        if isinstance(self.promise_, SetPromise):
            other.thresholds_ = self._stored_thresholds(max_error)
        else:
            tops = _first_tops(self.hierarchy_)
            other.thresholds_ = self.promise_.thresholds(tops, max_error)
        return other

    def _stored_thresholds(self, max_error: float) -> NDArray[np.float64]:
        """Return the thresholds of label sets for another promise."""
        check_number("max_error", max_error, float(STORED[0]), float(STORED[-1]))
        promise: Any = self.promise_
        return np.asarray(promise.at(max_error))

    def _path_promise(self, method: str) -> PathPromise:
        self._check_fitted()
        if isinstance(self.promise_, SetPromise):
            raise ValueError(
                f"{method} requires one label or path per row in fit, got label sets. Use predict."
            )
        return self.promise_

    def predict_sets(
        self, X: Any, *, max_error: float | None = None, shift_weight: Any = None
    ) -> list[tuple[Label, ...]]:
        """Predict small sets of labels, one of which is the true label or one of its ancestors.

        Ends of paths are added from the most probable one, and two labels too many are replaced by
        their closest common ancestor, until the probabilities of the set sum to a threshold that
        keeps the promise.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows with the same features as in `fit`.
        max_error : float, optional
            Another share of rows without the true label than that of the constructor.
        shift_weight : array-like of shape (n,), optional
            As in `predict`.

        Returns
        -------
        list of tuple
            At most `max_labels` labels for each row; an empty tuple if nothing can be said.
        """
        promise = self._path_promise("predict_sets")
        scores = self._score(X)
        share, weight = self._read_promise(max_error, shift_weight, len(scores))
        tops = self._chains(scores).tops
        limits = promise.thresholds(tops, share, weight, for_sets=True)
        cover, labels = Cover(self.hierarchy_), self.hierarchy_.labels
        ends = set_scores(scores, promise.candidates, self.hierarchy_)
        return [
            tuple(labels[k] for k in cover.at(end, row, promise.max_labels, limit))
            for end, row, limit in zip(ends, scores, limits, strict=True)
        ]

    def answer_depths(
        self, X: Any = None, max_errors: Any = (0.01, 0.05, 0.1)
    ) -> NDArray[np.float64]:
        """Compute how specific the answers for paths would be for several promises.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features), optional
            Rows with the same features as in `fit`; by default the calibration rows.
        max_errors : sequence of float
            The promises.

        Returns
        -------
        ndarray of shape (n_promises, depth)
            The share of rows whose answer is at least as deep as each level of the hierarchy.
        """
        promise = self._path_promise("answer_depths")
        scores, tops = promise.level_scores, promise.branches
        if X is not None:
            chains = self._chains(self._score(X))
            scores, tops = level_scores(chains, self.hierarchy_), chains.tops
        table = []
        for share in max_errors:
            check_share("max_errors", share)
            limits = promise.thresholds(tops, share)
            table.append((scores >= limits[:, None]).mean(axis=0))
        return np.array(table)

    def _set_saved_state(self, state: Mapping[str, Any]) -> None:
        super()._set_saved_state(state)
        if "promise_" not in state:
            return
        promise = self.promise_
        if isinstance(promise, SetPromise) and self.format_.single_label:
            raise ValueError("promise_ and format_ do not fit together")
        if np.isnan(self.thresholds_).any():
            raise ValueError("thresholds_ must not be NaN")
        if not len(self.confidences_):
            raise ValueError("confidences_ must not be empty")
        if isinstance(promise, SetPromise):
            for thresholds in (self.thresholds_, *promise.stored):
                check_threshold(thresholds, self.hierarchy_)
        elif not promise.fits(self.hierarchy_):
            raise ValueError("the scores of promise_ do not fit the hierarchy or each other")


def _ends_of(encoded: EncodedLabels, weights: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return the labels at which paths end, if possible of rows all of whose labels are known."""
    counted = weights > 0
    if encoded.unknown is not None and (encoded.unknown.all_known & counted).any():
        counted &= encoded.unknown.all_known
    return find_ends(encoded.Y[counted], encoded.hierarchy)


def check_share(name: str, value: Any) -> None:
    """Raise an error if a value is not a number between 0 and 1."""
    check_number(name, value, 0, 1)
    if value in (0, 1):
        raise ValueError(f"{name} must be a number between 0 and 1, got {value!r}.")


def _read_groups(groups: Any, n: int) -> NDArray[Any] | None:
    if groups is None:
        return None
    found = np.asarray(groups)
    if found.shape != (n,):
        raise ValueError(
            f"groups must have one entry per row, got shape {found.shape} for {n} rows."
        )
    missing = [value for value in found.tolist() if is_missing(value)]
    if missing:
        raise ValueError(
            f"groups must not have missing values, got {missing[0]} for "
            f"{counted(len(missing), 'row')}. Name their groups, or leave them out."
        )
    return found


def _first_tops(hierarchy: Hierarchy) -> NDArray[np.intp]:
    """Return a top-level label above each label, itself for top-level labels."""
    indptr, parents = hierarchy.parent_rows
    tops = np.arange(hierarchy.n_labels)
    for label in np.argsort(hierarchy.label_levels, kind="stable"):
        if indptr[label] < indptr[label + 1]:
            tops[label] = tops[parents[indptr[label]]]
    return tops
