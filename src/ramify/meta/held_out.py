"""Base class of classifiers that learn from the scores of another one on held-out rows."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import delayed
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from ramify._parallel import in_parallel
from ramify._validation import check_folds, check_same_length
from ramify.labels.encoding import EncodedLabels, read_labels
from ramify.meta.base import WrappingClassifier
from ramify.meta.wrapping import fit_wrapped, label_scores

__all__ = ["HeldOut", "HeldOutClassifier", "fit_and_score", "make_splits"]


@dataclass(frozen=True)
class HeldOut:
    """Labels, scores and weights of rows that a classifier was not fitted on."""

    Y: sparse.csr_array[np.int32]
    scores: NDArray[np.float64]
    weights: NDArray[np.float64]


class HeldOutClassifier(WrappingClassifier):
    """Base class of classifiers that learn from the scores of another one on held-out rows.

    Subclasses have the parameters `estimator`, `hierarchy`, `cv`, `coherence`, `n_jobs` and
    `random_state`, and learn from the scores in `_learn_from`.
    """

    cv: Any
    n_jobs: int | None
    random_state: Any

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, validation: Any = None
    ) -> HeldOutClassifier:
        """Fit the classifier and learn from its scores on held-out rows.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Training rows in a form that the estimator accepts.
        y : array-like
            Labels of the n rows, in any format accepted by `ramify.labels.read_labels`.
        sample_weight : array-like of shape (n,), optional
            Sample weights, also passed to the estimator's `fit`.
        validation : tuple (X, y), optional
            Held-out rows to use instead of cross-validation. The estimator is not fitted on them.

        Returns
        -------
        HeldOutClassifier
            The fitted classifier.
        """
        X, encoded, weights = self._read_wrapped(X, y, sample_weight)
        given = None if sample_weight is None else weights
        if validation is None:
            held_out = self._cross_validate(X, y, encoded, weights, given)
        self._fit_estimator(X, encoded, given)
        if validation is not None:
            held_out = self._validate(*validation)
        self._learn_from(held_out)
        return self

    @abstractmethod
    def _learn_from(self, held_out: HeldOut) -> None:
        """Learn from scores on held-out rows."""

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
        """Return the scores of each row by a classifier that was fitted without its fold."""
        splits = make_splits(self.cv, X, y, encoded.Y.shape[0], self.random_state)
        tasks = (
            delayed(fit_and_score)(self.estimator, X, encoded, given, split) for split in splits
        )
        with closing(in_parallel(tasks, n_jobs=self.n_jobs)) as scored:
            parts = list(scored)
        rows = np.concatenate([test for _, test in splits])
        return HeldOut(encoded.Y[rows], self._coherent(np.concatenate(parts)), weights[rows])


def make_splits(
    cv: Any, X: Any, y: Any, n_rows: int, random_state: Any, *, groups: Any = None
) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Return the training and the test rows of every fold.

    Parameters
    ----------
    cv : int, splitter or iterable of (train, test)
        Number of random folds, or how to split the rows.
    X, y : array-like
        The data, for splitters.
    n_rows : int
        Number of rows.
    random_state : int, RandomState instance or None
        Controls the folds if `cv` is an integer.
    groups : array-like, optional
        Groups of the rows, for splitters.

    Returns
    -------
    list of (train, test)
        Row numbers.
    """
    from sklearn.model_selection import KFold, check_cv  # noqa: PLC0415 (slow, seldom used)

    check_folds(cv)
    if not isinstance(cv, int | np.integer):
        return list(check_cv(cv).split(X, y, groups))
    if n_rows < cv:
        raise ValueError(
            f"cv must not exceed the number of rows, got cv={cv} and n_samples={n_rows}. "
            "Use fewer folds, or pass validation rows to fit."
        )
    folds = KFold(int(cv), shuffle=True, random_state=random_state)
    return list(folds.split(np.empty((n_rows, 1))))


def fit_and_score(
    estimator: Any,
    X: Any,
    encoded: EncodedLabels,
    weights: NDArray[np.float64] | None,
    split: tuple[NDArray[np.intp], NDArray[np.intp]],
) -> NDArray[np.float64]:
    """Fit a copy of a classifier on the training rows of a split and score the test rows.

    Parameters
    ----------
    estimator, X, encoded, weights
        As in `ramify.meta.wrapping.fit_wrapped`.
    split : tuple (train, test)
        Row numbers.

    Returns
    -------
    ndarray of shape (n_test, n_labels)
        Probabilities; coherent only if those of the classifier are.
    """
    train, test = split
    model = fit_wrapped(estimator, X, encoded, weights, train)
    return label_scores(model, _safe_indexing(X, test), encoded.format)
