"""Base class of classifiers that wrap one or several others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _num_samples, check_is_fitted

from ramify._base.classifier import HierarchicalClassifier
from ramify._base.foreign import copy_input_tags
from ramify._savable import set_fitted
from ramify._schema import Fitted, IfPresent, Schema, Whole
from ramify._validation import (
    check_choice,
    check_classifier,
    check_same_length,
    check_sample_weight,
)
from ramify.decision import make_coherent
from ramify.labels.encoding import EncodedLabels, LabelFormat, read_labels
from ramify.meta.wrapping import check_rows, fit_wrapped, known_hierarchy, label_scores

__all__ = ["WrappingClassifier"]


class WrappingClassifier(HierarchicalClassifier):
    """Base class of classifiers that use the predictions of another classifier.

    Subclasses have the parameters `estimator`, `hierarchy` and `coherence`. A class around several
    classifiers overrides `_wrapped` and `_fitted_models`.

    Attributes
    ----------
    estimator_ : classifier
        The classifier fitted on all rows.
    """

    estimator: Any
    coherence: str
    estimator_: Any

    _saved_schema: ClassVar[Schema] = {
        "estimator_": Fitted("n_features_in_", "n_labels"),
        "schema_": None,
        "n_features_in_": IfPresent(Whole(1)),
    }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        copy_input_tags(tags, *self._wrapped())
        return tags

    def _wrapped(self) -> list[Any]:
        """Return the classifiers to fit."""
        return [self.estimator]

    def _fitted_models(self) -> list[Any]:
        """Return the fitted classifiers."""
        return [self.estimator_]

    def _read_wrapped(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Any, EncodedLabels, NDArray[np.float64]]:
        """Validate all arguments before fitting, and set the label attributes."""
        check_choice("coherence", self.coherence, ("isotonic", "max", "min"))
        self._check_parameters()
        hierarchy = self.hierarchy
        for estimator in self._wrapped():
            check_classifier(estimator)
            hierarchy = known_hierarchy(estimator, hierarchy)
        X = check_rows(X)
        encoded = read_labels(y, hierarchy)
        check_same_length(_num_samples(X), encoded.Y.shape[0])
        weights = check_sample_weight(sample_weight, encoded.Y.shape[0])
        self._describe_labels(encoded, weights)
        self._name_targets(y)
        return X, encoded, weights

    def _fit_estimator(
        self, X: Any, encoded: EncodedLabels, given: NDArray[np.float64] | None
    ) -> None:
        """Fit the classifier on all rows; `given` is None if no sample weights were passed."""
        self._keep_fitted(fit_wrapped(self.estimator, X, encoded, given))

    def _keep_fitted(self, fitted: Any) -> None:
        """Set `estimator_` and copy its feature attributes."""
        self.estimator_ = fitted
        self._copy_feature_attributes()

    def _copy_feature_attributes(self) -> None:
        """Copy the feature attributes of the first fitted classifier that has them."""
        for name in ("n_features_in_", "feature_names_in_"):
            for fitted in self._fitted_models():
                if hasattr(fitted, name):
                    setattr(self, name, getattr(fitted, name))
                    break

    def _predict_scores(self, X: Any) -> NDArray[np.float64]:
        return self._coherent(label_scores(self.estimator_, X, self.format_))

    def _read_rows(self, X: Any) -> tuple[Any, Any]:
        check_is_fitted(self)
        return X, X

    def _coherent(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return make_coherent(scores, self.hierarchy_, self.coherence)

    def _set_saved_state(self, state: Mapping[str, Any]) -> None:
        set_fitted(self, state)
        if "format_" not in state:
            return
        if (
            not isinstance(self.format_, LabelFormat)
            or self.format_.hierarchy != self.hierarchy_
            or self.format_.single_label != ("ends_" in state)
            or not all(hasattr(model, "predict_proba") for model in self._fitted_models())
        ):
            raise ValueError(
                "hierarchy_, format_, ends_ and the fitted classifiers do not fit together"
            )
        self.classes_ = self.format_.classes
