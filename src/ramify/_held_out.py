"""What classifiers around another classifier share: learning from scores on held-out rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import KFold, check_cv
from sklearn.utils import get_tags
from sklearn.utils.validation import _num_samples, check_is_fitted

from ramify._base import HierarchicalClassifier
from ramify._savable import set_fitted
from ramify._validation import check_choice, check_number, check_same_length, check_sample_weight
from ramify._wrapping import check_rows, fit_wrapped, known_hierarchy, label_scores, rows_of
from ramify.decision import make_coherent
from ramify.labels import EncodedLabels, LabelFormat, read_labels

__all__ = ["HeldOut", "HeldOutClassifier"]


@dataclass(frozen=True)
class HeldOut:
    """Rows that a classifier has not learnt from: their labels, scores and weights."""

    Y: sparse.csr_array[np.int32]
    scores: NDArray[np.float64]
    weights: NDArray[np.float64]


class HeldOutClassifier(HierarchicalClassifier):
    """Base of the classifiers that improve another one by what it answers on held-out rows.

    A subclass stores `estimator`, `hierarchy`, `cv`, `coherence`, `n_jobs` and `random_state` and
    learns from the scores on held-out rows in `_learn_from`.

    Attributes
    ----------
    estimator_ : classifier
        The classifier fitted on all rows.
    """

    estimator: Any
    cv: Any
    coherence: str
    n_jobs: int | None
    random_state: Any
    estimator_: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        return tags

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, validation: Any = None
    ) -> HeldOutClassifier:
        """Fit the classifier, and learn from its scores on rows it has not seen.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            What the estimator takes.
        y : array-like
            n label sets in any format of `ramify.labels.read_labels`.
        sample_weight : array-like of shape (n,), optional
            The weights of the rows, in the estimator's `fit` and after it.
        validation : tuple (X, y), optional
            Rows to learn from in place of cross-validation; the estimator is not fitted on them.

        Returns
        -------
        HeldOutClassifier
            Itself.
        """
        check_choice("coherence", self.coherence, ("isotonic", "max", "min"))
        self._check_parameters()
        X = check_rows(X)
        encoded = read_labels(y, known_hierarchy(self.estimator, self.hierarchy))
        check_same_length(_num_samples(X), encoded.Y.shape[0])
        weights = check_sample_weight(sample_weight, encoded.Y.shape[0])
        given = None if sample_weight is None else weights
        self.hierarchy_ = encoded.hierarchy
        self.format_ = encoded.format
        self.classes_ = encoded.format.classes
        if validation is None:
            held_out = self._cross_validate(X, y, encoded, weights, given)
        self.estimator_ = fit_wrapped(self.estimator, X, encoded, given)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        if validation is not None:
            held_out = self._validate(*validation)
        self._learn_from(held_out)
        return self

    @abstractmethod
    def _learn_from(self, held_out: HeldOut) -> None:
        """Learn from scores on held-out rows."""

    def _learn(self, X: Any, Y: sparse.csr_array[np.int32], weights: NDArray[np.float64]) -> None:
        raise NotImplementedError("fit does without it")

    def _predict_scores(self, X: Any) -> NDArray[np.float64]:
        return self._coherent(label_scores(self.estimator_, X, self.format_))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of every label.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        ndarray of shape (n, n_labels)
            Columns in the order of `classes_`. No label is more probable than its parents.
        """
        check_is_fitted(self)
        return self._predict_scores(X)

    def _coherent(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return make_coherent(scores, self.hierarchy_, self.coherence)

    def _validate(self, X: Any, y: Any) -> HeldOut:
        Y = read_labels(y, self.hierarchy_).Y
        check_same_length(_num_samples(X), Y.shape[0])
        scores = self._coherent(label_scores(self.estimator_, X, self.format_))
        return HeldOut(Y, scores, np.ones(Y.shape[0]))

    def _cross_validate(
        self,
        X: Any,
        y: Any,
        encoded: EncodedLabels,
        weights: NDArray[np.float64],
        given: NDArray[np.float64] | None,
    ) -> HeldOut:
        """Score every row by a classifier fitted without its fold."""
        splits = self._splits(X, y, encoded.Y.shape[0])
        parts = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_and_score)(self.estimator, X, encoded, given, split) for split in splits
        )
        rows = np.concatenate([test for _, test in splits])
        return HeldOut(encoded.Y[rows], self._coherent(np.concatenate(parts)), weights[rows])

    def _splits(self, X: Any, y: Any, n_rows: int) -> list[tuple[Any, Any]]:
        if not isinstance(self.cv, int | np.integer):
            return list(check_cv(self.cv).split(X, y))
        check_number("cv", self.cv, 2, whole=True)
        if n_rows < self.cv:
            raise ValueError(
                f"cv is {self.cv}, but X has n_samples={n_rows}. Take fewer folds, or give "
                "validation rows to fit."
            )
        folds = KFold(int(self.cv), shuffle=True, random_state=self.random_state)
        return list(folds.split(np.empty((n_rows, 1))))

    def _set_saved_state(self, state: Mapping[str, Any]) -> None:
        set_fitted(self, state)
        if "format_" not in state:
            return
        if (
            not isinstance(self.format_, LabelFormat)
            or self.format_.hierarchy != self.hierarchy_
            or not hasattr(self.estimator_, "predict_proba")
        ):
            raise ValueError("the labels, their format and the classifier do not fit together")
        self.classes_ = self.format_.classes


def _fit_and_score(
    estimator: Any,
    X: Any,
    encoded: EncodedLabels,
    weights: NDArray[np.float64] | None,
    split: tuple[NDArray[np.intp], NDArray[np.intp]],
) -> NDArray[np.float64]:
    train, test = split
    model = fit_wrapped(estimator, X, encoded, weights, train)
    return label_scores(model, rows_of(X, test), encoded.format)
