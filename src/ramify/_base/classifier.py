"""What all classifiers of labels in a hierarchy share: fit = encode + learn, predict = decide."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ramify._base.features import FeatureSchema, read_features, read_training_features
from ramify._savable import get_fitted, savable, set_fitted
from ramify._validation import check_same_length, check_sample_weight
from ramify.decision import apply_threshold, most_probable_path
from ramify.hierarchy.hierarchy import Hierarchy
from ramify.labels.encoding import EncodedLabels, LabelFormat, read_labels

__all__ = ["ArrayClassifier", "HierarchicalClassifier", "copy_input_attributes"]

_INPUT_ATTRIBUTES = (
    "hierarchy_",
    "format_",
    "classes_",
    "schema_",
    "n_features_in_",
    "feature_names_in_",
)
"""What every classifier learns about X and y before it learns anything else."""


class HierarchicalClassifier(ClassifierMixin, BaseEstimator, metaclass=ABCMeta):  # type: ignore[misc]
    """Base of the classifiers that learn from X of any layout and labels of any format.

    A subclass stores its parameters in ``__init__`` (`hierarchy` and `categorical_features`
    among them), learns in `fit` and scores in `_predict_scores`.

    Attributes
    ----------
    hierarchy_ : Hierarchy
        The hierarchy given, or inferred from y.
    classes_ : ndarray of shape (n_labels,)
        The labels, one for each column of `predict_proba`.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of str
        Their names, if X was a data frame with string names.
    """

    hierarchy: Hierarchy | None
    categorical_features: Any
    hierarchy_: Hierarchy
    schema_: FeatureSchema
    format_: LabelFormat
    classes_: NDArray[Any]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        savable(cls)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.classifier_tags.multi_label = True
        return tags

    @abstractmethod
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> HierarchicalClassifier:
        """Learn from rows and their labels."""

    def _read_training(
        self, X: Any, y: Any, sample_weight: Any, *, clus_order: bool = False
    ) -> tuple[Any, EncodedLabels, NDArray[np.float64]]:
        """Check everything before any long work, and set what predictions need."""
        self._check_parameters()
        X, self.schema_ = read_training_features(
            self, X, self.categorical_features, clus_order=clus_order
        )
        encoded = read_labels(y, self.hierarchy)
        check_same_length(X.shape[0], encoded.Y.shape[0])
        weights = check_sample_weight(sample_weight, X.shape[0])
        self.hierarchy_ = encoded.hierarchy
        self.format_ = encoded.format
        self.classes_ = encoded.format.classes
        return X, encoded, weights

    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense, before any work."""

    @abstractmethod
    def _predict_scores(self, X: Any) -> NDArray[np.float64]:
        """Return coherent probabilities, n × n_labels, for X as `read_features` gives it."""

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of every label.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        ndarray of shape (n, n_labels)
            Columns in the order of `classes_`. No label is more probable than its parents, and a
            row's answer does not depend on the other rows.
        """
        check_is_fitted(self)
        return self._score_given(X, read_features(self, X, self.schema_))

    def _score_given(self, given: Any, X: Any) -> NDArray[np.float64]:
        """Score X; `given` is what it was read from, which wrapped classifiers may want."""
        return self._predict_scores(X)

    def predict(self, X: Any, threshold: Any = None) -> Any:
        """Return label sets in the format that `fit` was given.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows with the columns of `fit`.
        threshold : float, array-like of shape (n_labels,) or dict of label to float, optional
            Labels are predicted from this probability on, 0.5 by default; one for all labels, or
            one per label with no label's below its parents'. If y had one label or path per row,
            the answer has one too, found from the top down, and `threshold` must be None.

        Returns
        -------
        array or list
            n label sets, paths or classes, as y came to `fit`.
        """
        check_is_fitted(self)
        if self.format_.single_label and threshold is not None:
            raise ValueError(
                f"threshold is {threshold!r}, but y had one label per row in fit, and so has the "
                "prediction. Leave threshold out, or fit with label sets."
            )
        return self.format_.write(self._predict_sets(X, threshold))

    def _predict_sets(self, X: Any, threshold: Any = None) -> sparse.csr_array[np.int32]:
        """Return label sets, closed upwards, by default from the probabilities alone."""
        return self._decide(self.predict_proba(X), threshold)

    def _decide(self, scores: NDArray[np.float64], threshold: Any) -> sparse.csr_array[np.int32]:
        if self.format_.single_label:
            return most_probable_path(scores, self.hierarchy_)
        return apply_threshold(scores, 0.5 if threshold is None else threshold, self.hierarchy_)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the subset accuracy: the share of rows whose label set is predicted exactly.

        This is scikit-learn's accuracy, `ramify.metrics.subset_accuracy` by its name here. It is
        strict for many labels; ``ramify.metrics.get_scorer`` makes scorers of other measures.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows with the columns of `fit`.
        y : array-like
            Their labels, in any format.
        sample_weight : array-like of shape (n,), optional
            The weights of the rows.

        Returns
        -------
        float
            Between 0 and 1.
        """
        predicted = self._predict_sets(X)
        truth = read_labels(y, self.hierarchy_).Y
        check_same_length(predicted.shape[0], truth.shape[0])
        weights = check_sample_weight(sample_weight, predicted.shape[0])
        differences = abs(predicted - truth).sum(axis=1)
        return float(np.average(np.asarray(differences).ravel() == 0, weights=weights))

    def _get_saved_state(self) -> dict[str, Any]:
        """Return what `ramify.save` keeps beside the parameters: fitted attributes by name.

        Values may be anything that JSON has, tuples, sets, dicts, arrays, sparse matrices, trees,
        hierarchies, estimators and classes marked with `savable`.
        """
        state = get_fitted(self)
        state.pop("classes_", None)  # follows from the format
        return state

    def _set_saved_state(self, state: Mapping[str, Any]) -> None:
        """Take back what `_get_saved_state` gave; a file may hold anything, so check it."""
        set_fitted(self, state)
        if "format_" not in state:
            return
        format_, schema = state["format_"], state["schema_"]
        if (
            not isinstance(format_, LabelFormat)
            or format_.hierarchy != self.hierarchy_
            or not isinstance(schema, FeatureSchema)
            or schema.n_categories.shape != (self.n_features_in_,)
            or len(state.get("feature_names_in_", schema.n_categories)) != self.n_features_in_
        ):
            raise ValueError("the labels, their format and the features do not fit together")
        self.classes_ = format_.classes


def copy_input_attributes(source: HierarchicalClassifier, target: HierarchicalClassifier) -> None:
    """Set what `fit` learns about X and y alone, from a classifier fitted on the same."""
    for name in _INPUT_ATTRIBUTES:
        if hasattr(source, name):
            setattr(target, name, getattr(source, name))


class ArrayClassifier(HierarchicalClassifier):
    """Base of those that learn from checked arrays alone, in `_learn`."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> HierarchicalClassifier:
        """Learn from rows and their labels.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Numbers, NaN where unknown; categorical and text columns of a data frame are nominal.
        y : array-like
            n label sets in any format of `ramify.labels.read_labels`.
        sample_weight : array-like of shape (n,), optional
            The weights of the rows.

        Returns
        -------
        HierarchicalClassifier
            Itself.
        """
        X, encoded, weights = self._read_training(X, y, sample_weight)
        self._learn(X, encoded.Y, weights)
        return self

    @abstractmethod
    def _learn(self, X: Any, Y: sparse.csr_array[np.int32], weights: NDArray[np.float64]) -> None:
        """Learn from checked arrays: X as `read_training_features` gives it, Y closed upwards."""
