"""Base class of classifiers that wrap one or several others."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from ramify import _core
from ramify._base.classifier import HierarchicalClassifier, kinds_fit
from ramify._base.foreign import Question, check_takes_weights, copy_input_tags
from ramify._savable import set_fitted
from ramify._schema import Fitted, IfPresent, Schema, Whole
from ramify._validation import (
    check_choice,
    check_classifier,
    check_same_length,
    check_sample_weight,
)
from ramify.data.frames import in_memory
from ramify.data.rows import indicator
from ramify.decision import make_coherent
from ramify.decision.coherence import check_scores
from ramify.labels.encoding import (
    EncodedLabels,
    LabelFormat,
    read_labels,
    unknown_not_allowed,
    write_labels,
)
from ramify.labels.hierarchy import Hierarchy


class WrappingClassifier(HierarchicalClassifier):
    """Base class of classifiers that use the predictions of another classifier.

    Subclasses have the parameters `estimator`, `hierarchy` and `coherence`. A class around several
    classifiers overrides `_wrapped` and `_fitted_models`.
    """

    estimator: Any
    coherence: str
    estimator_: Any  # the classifier fitted on all rows

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
        encoded = self._read_wrapped_labels(y, hierarchy)
        check_same_length(_num_samples(X), encoded.Y.shape[0])
        weights = check_sample_weight(sample_weight, encoded.Y.shape[0])
        self._describe_labels(encoded, weights)
        self._name_targets(y)
        return X, encoded, weights

    def _read_wrapped_labels(self, y: Any, hierarchy: Hierarchy | None) -> EncodedLabels:
        """Read labels; raise an error if some are unknown and nothing learns from the others."""
        encoded = read_labels(y, hierarchy, allow_unknown=True)
        if encoded.unknown is None:
            return encoded
        why = self._why_not_unknown()
        if why is not None:
            raise unknown_not_allowed(encoded.unknown, encoded.hierarchy, why)
        if encoded.unknown.nothing_known.all():
            raise ValueError("y must have a known label in some row, got none. Pass labels.")
        return encoded

    def _why_foreign_not_unknown(self) -> str | None:
        """Return why a wrapped classifier cannot learn from partly unknown labels, or None."""
        foreign = (one for one in self._wrapped() if not knows_hierarchy(one))
        names = [type(one).__name__ for one in foreign]
        return f"{names[0]} requires all labels. Use PCTForestClassifier" if names else None

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
        self._check_fitted()
        return X, X

    def _coherent(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        values = check_scores(scores, self.hierarchy_)
        if _core.first_incoherent_row(values, self.hierarchy_._parents) < 0:
            return values
        return make_coherent(values, self.hierarchy_, self.coherence)

    def _set_saved_state(self, state: Mapping[str, Any]) -> None:
        set_fitted(self, state)
        if "format_" not in state:
            return
        if (
            not isinstance(self.format_, LabelFormat)
            or self.format_.hierarchy != self.hierarchy_
            or not kinds_fit(self.format_, state)
            or not all(hasattr(model, "predict_proba") for model in self._fitted_models())
        ):
            raise ValueError(
                "hierarchy_, format_, row_kind_, ends_ and the fitted classifiers do not fit "
                "together"
            )
        self.classes_ = self.format_.classes


# ---- the wrapped classifier -----------------------------------------------------------------


def known_hierarchy(estimator: Any, hierarchy: Hierarchy | None) -> Hierarchy | None:
    """Return the hierarchy of a meta-estimator or of the classifier that it wraps."""
    found = [value for value in _hierarchies(estimator).values() if value is not None]
    for other in found:
        if hierarchy is not None and other != hierarchy:
            raise ValueError(
                f"hierarchy must equal the hierarchy of estimator, got {hierarchy!r} and "
                f"{other!r}. Pass the hierarchy in one place only."
            )
    return found[0] if found else hierarchy


def knows_hierarchy(estimator: Any) -> bool:
    """Return whether a classifier, or one inside it, is given the hierarchy."""
    return bool(_hierarchies(estimator))


def _hierarchies(estimator: Any) -> dict[str, Hierarchy | None]:
    """Return the hierarchies of a classifier and the estimators inside it, by parameter name."""
    if isinstance(estimator, FrozenEstimator):
        fitted = getattr(estimator, "hierarchy_", None)
        return {} if fitted is None else {"hierarchy": fitted}
    return {
        name: value
        for name, value in estimator.get_params(deep=True).items()
        if name == "hierarchy" or name.endswith("__hierarchy")
    }


def _outermost(names: Collection[str]) -> list[str]:
    """Drop parameters of estimators nested in one with a hierarchy, which passes it on."""
    owners = {name.removesuffix("hierarchy") for name in names}
    return [
        name
        for name in names
        if not any(name.startswith(owner) for owner in owners - {name.removesuffix("hierarchy")})
    ]


def check_rows(X: Any) -> Any:
    """Return X in a layout whose rows can be indexed; the estimator checks everything else."""
    if sparse.issparse(X):
        matrix: Any = X
        return matrix.tocsr()
    X = in_memory(X, "X")
    rows = X if hasattr(X, "shape") else np.asarray(X)
    if np.iscomplexobj(rows):
        raise ValueError(
            f"Complex data not supported: X must be real, got {rows.dtype}. Pass real numbers."
        )
    return rows


def fit_wrapped(
    estimator: Any,
    X: Any,
    encoded: EncodedLabels,
    weights: NDArray[np.float64] | None,
    rows: NDArray[np.intp] | None = None,
) -> Any:
    """Fit a copy of a classifier.

    A classifier of ramify, or a pipeline or search around one, gets labels in their original
    format, and the hierarchy if it has none. Any other classifier gets a dense label matrix, or
    one class per row if the format has one label per row.
    """
    model = clone(estimator)
    names = _hierarchies(model)
    unset = {name: encoded.hierarchy for name in _outermost(names) if names[name] is None}
    if unset:
        model.set_params(**unset)
    labels = encoded if rows is None else encoded.take(rows)
    y = write_labels(labels) if names else _write_plain(labels.Y, encoded.format)
    options = {}
    if weights is not None:
        check_takes_weights(model)
        options["sample_weight"] = weights if rows is None else weights[rows]
    model.fit(X if rows is None else _safe_indexing(X, rows), y, **options)
    if not hasattr(model, "predict_proba"):
        raise TypeError(
            f"estimator must have predict_proba, got {type(estimator).__name__}. Pass a "
            "classifier that predicts probabilities."
        )
    return model


def _question(format: LabelFormat) -> Question:
    """Return how labels in a format are passed to classifiers without a hierarchy."""
    return Question.about(range(format.hierarchy.n_labels), exclusive=format.single_label)


def _write_plain(Y: sparse.csr_array[np.int32], format: LabelFormat) -> NDArray[Any]:
    """Return labels as scikit-learn's classifiers accept them; classes are label positions."""
    question = _question(format)
    if question.answer != "classes":
        return question.write(Y)
    return format.hierarchy.indices([row[0] for row in format.hierarchy.decode(Y)])


def label_scores(model: Any, X: Any, format: LabelFormat) -> NDArray[np.float64]:
    """Return the probabilities of a classifier fitted by `fit_wrapped`, one column per label."""
    n_labels = format.hierarchy.n_labels
    # Reading the parameters takes longer than predicting a row.
    if isinstance(model, HierarchicalClassifier) or _hierarchies(model):
        scores = np.asarray(model.predict_proba(X), dtype=np.float64)
    else:
        question = _question(format)
        scores = question.read(model, X)
        if question.answer == "classes":
            scores = _summed_upwards(scores, format.hierarchy)
    if scores.ndim != 2 or scores.shape[1] != n_labels:
        raise ValueError(
            f"predict_proba of estimator must have shape (n, {n_labels}), got {scores.shape} from "
            f"{type(model).__name__}. Pass a classifier that predicts one column per label."
        )
    return scores


def _summed_upwards(answer: NDArray[np.float64], hierarchy: Hierarchy) -> NDArray[np.float64]:
    """Add the probabilities of exclusive classes to all their ancestors."""
    n_labels = hierarchy.n_labels
    above = indicator(hierarchy.ancestor_rows, n_labels, np.float64)
    counts: Any = above + sparse.eye_array(n_labels, format="csr")
    # A dense product by BLAS would make the last digits of a row depend on the other rows.
    sums = sparse.csr_array(counts.T) @ answer.T
    return np.minimum(np.ascontiguousarray(sums.T, dtype=np.float64), 1.0)
