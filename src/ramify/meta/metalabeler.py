"""MetaLabeler: predict the most probable leaves; a second classifier predicts how many."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples, check_is_fitted

from ramify._base.classifier import USUAL, Asked
from ramify._base.foreign import check_takes_weights
from ramify._schema import Fitted, Maybe, Schema, Whole
from ramify.data.rows import indicator_of_lists
from ramify.decision import make_coherent
from ramify.labels.encoding import EncodedLabels, read_labels
from ramify.labels.hierarchy import Hierarchy
from ramify.local.sibling_lasso import SiblingLassoClassifier
from ramify.meta.base import WrappingClassifier, label_scores


class MetaLabeler(WrappingClassifier):
    """Predict the number of leaves of each row, and then that many of the most probable leaves.

    One classifier predicts the probabilities of labels; another one predicts the number of leaves
    of a row as a class (Tang, Rajan and Narayanan, 2009). The predicted label set contains the
    most probable leaves and their ancestors.

    Parameters
    ----------
    estimator : classifier
        A classifier of ramify, a pipeline that ends in one, or any classifier with `predict_proba`
        that accepts label matrices. A fitted classifier in scikit-learn's FrozenEstimator is not
        fitted again.
    hierarchy : Hierarchy, optional
        The label hierarchy. If None, the hierarchy of `estimator` is used, or one is inferred from
        y.
    counter : classifier, optional
        Multiclass classifier that predicts the number of leaves. If None, `SiblingLassoClassifier`
        is used.
    leaves_only : bool
        Whether to fit the estimator on the leaves only, as labels without a hierarchy. With one
        model per label, this is flat binary relevance.
    coherence : {"isotonic", "max", "min"}
        How to repair scores that are inconsistent with the hierarchy; see
        `ramify.decision.make_coherent`.

    Attributes
    ----------
    counter_ : classifier or None
        The fitted classifier of the number of leaves; None if all training rows have the same
        number.
    n_leaves_ : int
        Largest number of leaves of a training row.
    estimator_ : classifier
        The fitted classifier of labels.
    hierarchy_ : Hierarchy
        The label hierarchy, as passed or as inferred from y.
    classes_ : ndarray of shape (n_labels,)
        The labels, in the order of the columns of `predict_proba`.

    Notes
    -----
    Rows without a leaf are treated as rows with one leaf. If y has one label or path per row, so
    do the predictions: the number of leaves is 1 and is not learnt. With a threshold, `predict`
    returns all labels with at least that probability instead.

    Examples
    --------
    >>> from ramify import MetaLabeler, PCTClassifier
    >>> X = [[1.0], [2.0], [3.0], [4.0]] * 3
    >>> y = [["animal/cat"], ["animal/cat", "plant"], ["animal/dog", "plant"], ["plant"]] * 3
    >>> model = MetaLabeler(PCTClassifier(random_state=0), counter=PCTClassifier(random_state=0))
    >>> model.fit(X, y).predict([[2.0], [4.0]])
    [['animal/cat', 'plant'], ['plant']]
    """

    counter_: Any
    n_leaves_: int

    _saved_schema: ClassVar[Schema] = {
        "estimator_": Fitted("n_features_in_"),
        "counter_": Maybe(Fitted("n_features_in_", method="predict")),
        "n_leaves_": Whole(1),
    }

    def __init__(
        self,
        estimator: Any,
        *,
        hierarchy: Hierarchy | None = None,
        counter: Any = None,
        leaves_only: bool = False,
        coherence: str = "isotonic",
    ) -> None:
        self.estimator = estimator
        self.hierarchy = hierarchy
        self.counter = counter
        self.leaves_only = leaves_only
        self.coherence = coherence

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MetaLabeler:
        """Fit the classifier of labels and the classifier of the number of leaves.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Training rows in a form that both classifiers accept.
        y : array-like
            Labels of the n rows, in any format accepted by `ramify.labels.read_labels`.
        sample_weight : array-like of shape (n,), optional
            Sample weights for both classifiers.

        Returns
        -------
        MetaLabeler
            The fitted classifier.
        """
        X, encoded, weights = self._read_wrapped(X, y, sample_weight)
        given = None if sample_weight is None else weights
        if given is not None and self.counter is not None:
            check_takes_weights(self.counter)
        self._fit_estimator(X, self._taught(encoded), given)
        self.counter_, self.n_leaves_ = None, 1
        if not self.format_.single_label:
            kept = np.flatnonzero(weights > 0)
            n_leaves = np.asarray(encoded.Y[:, self._leaves].sum(axis=1)).ravel()[kept]
            counts = np.maximum(1, n_leaves)
            self.n_leaves_ = int(counts.max())
            if (counts < self.n_leaves_).any():
                counter = SiblingLassoClassifier() if self.counter is None else clone(self.counter)
                options = {} if given is None else {"sample_weight": given[kept]}
                self.counter_ = counter.fit(_safe_indexing(X, kept), counts, **options)
        return self

    @property
    def _leaves(self) -> NDArray[np.int32]:
        return np.sort(self.hierarchy_.indices(self.hierarchy_.leaves))

    def _taught(self, encoded: EncodedLabels) -> EncodedLabels:
        """Return the labels that the estimator is fitted on: all, or the leaves as flat labels."""
        if not self.leaves_only or self.format_.single_label:
            return encoded
        flat = Hierarchy.from_labels([self.hierarchy_.labels[leaf] for leaf in self._leaves])
        return read_labels(encoded.Y[:, self._leaves], flat)

    def _predict_scores(self, X: Any) -> NDArray[np.float64]:
        if not self.leaves_only or self.format_.single_label:
            return super()._predict_scores(X)
        flat = Hierarchy.from_labels([self.hierarchy_.labels[leaf] for leaf in self._leaves])
        format_ = read_labels(np.ones((1, flat.n_labels)), flat).format
        own = label_scores(self.estimator_, X, format_)
        scores = np.full((len(own), self.hierarchy_.n_labels), own.min(initial=0.0))
        scores[:, self._leaves] = own
        return make_coherent(scores, self.hierarchy_, "max")

    def predict_count(self, X: Any) -> NDArray[np.int64]:
        """Predict the number of leaves of each row.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows with the same features as in `fit`.

        Returns
        -------
        ndarray of int, shape (n,)
            The numbers of leaves, from 1 to `n_leaves_`.
        """
        check_is_fitted(self)
        if self.counter_ is None:
            return np.full(_num_samples(X), self.n_leaves_, dtype=np.int64)
        return np.asarray(self.counter_.predict(X)).astype(np.int64)

    def _predict_sets(self, X: Any, asked: Asked = USUAL) -> sparse.csr_array[np.int32]:
        if asked.threshold is not None:
            return super()._predict_sets(X, asked)
        scores = np.asarray(self.predict_proba(X))
        counts = self.predict_count(X)
        leaves = self._leaves
        order = np.argsort(-scores[:, leaves], axis=1, kind="stable")
        chosen = [np.sort(leaves[row[:k]]) for row, k in zip(order, counts, strict=True)]
        return self.hierarchy_.close(indicator_of_lists(chosen, self.hierarchy_.n_labels))
