"""Models of an old taxonomy that predict the labels of a new one."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import _num_samples

from ramify._base.classifier import copy_input_attributes
from ramify._base.relearning import Relearning
from ramify._schema import Array, Fitted, Instance, ListOf, Part, Schema
from ramify._validation import check_same_length, check_sample_weight
from ramify.data.features import read_features
from ramify.decision.best_sets import Answers
from ramify.labels.class_weight import class_factors
from ramify.labels.encoding import read_labels
from ramify.labels.hierarchy import Hierarchy
from ramify.meta.base import WrappingClassifier, label_scores
from ramify.taxonomies.mapping import LabelMapping, renewed_format
from ramify.taxonomies.probabilities import ProbabilityCarrier, Revision, label_statuses

if TYPE_CHECKING:
    from ramify._base.classifier import HierarchicalClassifier


class CarriedClassifier(WrappingClassifier):
    """Predicts the labels of a new taxonomy with a classifier of an old one; `with_hierarchy`.

    Before it is used in `fit`, `estimator` may be any classifier that can be wrapped, such as a
    pipeline; the labels of `fit` are those of the old taxonomy.
    """

    coherence = "max"  # a label is at least as probable as those below it

    mapping_: LabelMapping

    _saved_schema: ClassVar[Schema] = {
        "mapping_": Instance(LabelMapping),
        "estimator_": Fitted("n_features_in_"),
        "label_status_": Array(("n_labels",), "U"),
        "history_": ListOf(Part(Revision)),
    }
    _saved_parameters: ClassVar[Schema] = {"mapping": Instance(LabelMapping)}

    def __init__(
        self, estimator: Any, *, mapping: LabelMapping, hierarchy: Hierarchy | None = None
    ) -> None:
        self.estimator = estimator
        self.mapping = mapping
        self.hierarchy = hierarchy

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> CarriedClassifier:
        """Fit the classifier on labels of the old taxonomy.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Training rows in a form that the estimator accepts.
        y : array-like
            Labels of the n rows in the old taxonomy, in any format accepted by
            `ramify.labels.read_labels`.
        sample_weight : array-like of shape (n,), optional
            Sample weights.

        Returns
        -------
        CarriedClassifier
            The fitted classifier.
        """
        if self.hierarchy is not None and self.hierarchy != self.mapping.old:
            raise ValueError(
                f"hierarchy must equal mapping.old, got {self.hierarchy!r} and "
                f"{self.mapping.old!r}. Omit hierarchy."
            )
        old = copy(self)  # with the labels of y, not those of the predictions
        old.hierarchy = self.mapping.old
        X, encoded, weights = old._read_wrapped(X, y, sample_weight)
        old._fit_estimator(X, encoded, None if sample_weight is None else weights)
        self._carry(old, old.estimator_)
        return self

    @classmethod
    def of(cls, model: HierarchicalClassifier, mapping: LabelMapping) -> CarriedClassifier:
        """Carry a fitted classifier over; see `HierarchicalClassifier.with_hierarchy`."""
        carried = cls(model, mapping=mapping)
        carried._carry(model, model)
        return carried

    def _carry(self, old: HierarchicalClassifier, fitted: Any) -> None:
        """Set the fitted attributes, given those that describe the old labels."""
        self.mapping_ = mapping = self.mapping
        self.hierarchy_ = mapping.new
        self.format_ = renewed_format(old.format_, mapping.new)
        self.classes_ = self.format_.classes
        is_path = old.row_kind_ == "path"
        self._keep_answers(
            Answers(old.row_kind_, mapping._carried_ends(old.ends_) if is_path else None)
        )
        n_levels = old.format_.settings().get("n_levels")
        if hasattr(old, "target_names_") and n_levels in (
            None,
            self.format_.settings().get("n_levels"),
        ):
            self.target_names_ = old.target_names_  # unless there are more levels than names
        self._keep_fitted(fitted)
        self.label_status_ = label_statuses(mapping, self._carrier.copied)
        before = getattr(fitted, "history_", [])
        self.history_ = [*before, Revision.of(mapping, self.label_status_)]

    def relearn(
        self, X: Any, y: Any, sample_weight: Any, *, everything: bool
    ) -> HierarchicalClassifier:
        """Return a classifier of the old class, learnt in part from rows with new labels."""
        old, hierarchy = self.estimator_, self.hierarchy_
        encoded = read_labels(y, hierarchy)
        rows = read_features(old, X, old.schema_) if hasattr(old, "schema_") else X
        check_same_length(_num_samples(rows), encoded.Y.shape[0])
        weights = check_sample_weight(sample_weight, encoded.Y.shape[0])
        is_path = encoded.format.single_label
        like = Answers.like(encoded.Y, hierarchy, weights, is_path=is_path)
        if self.row_kind_ == "path" and like.kind != "path":
            raise ValueError(
                "y must have one path per row, as in fit, got label sets. Pass rows with one path "
                "each, or fit a new model."
            )
        model: HierarchicalClassifier = clone(old)
        if getattr(old, "hierarchy", None) is not None:
            model.set_params(hierarchy=hierarchy)
        class_weight = getattr(old, "class_weight", None)
        if isinstance(class_weight, dict):
            class_weight = self._carried_classes(class_weight)
        if class_weight is not None:
            model.set_params(class_weight=class_weight)
            weights = weights * class_factors(class_weight, encoded.Y, encoded.format, weights)
        copy_input_attributes(old, model)
        copy_input_attributes(self, model)
        if like.ends is not None and self.row_kind_ == "path":
            model.ends_ = self.ends_ | like.ends
        task = Relearning(
            self._carrier,
            hierarchy,
            rows,
            X,
            encoded.Y,
            weights,
            weighted=sample_weight is not None or class_weight is not None,
            changed=(self._carrier.copied < 0) | everything,
            statuses=self.label_status_,
        )
        model.label_status_ = model._relearn(old, task)
        revision = Revision.of(self.mapping_, model.label_status_)
        model.history_ = [*self.history_[:-1], revision]
        return model

    def _carried_classes(self, class_weight: Mapping[Any, float]) -> dict[Any, float]:
        """Return the weights of classes by their new labels."""
        old = self.mapping_.old
        return {
            successor: weight
            for label, weight in class_weight.items()
            for successor in (self.mapping_.successors(label) if label in old else (label,))
        }

    @property
    def _carrier(self) -> ProbabilityCarrier:
        exclusive = self.row_kind_ == "path" and self.mapping_.old.is_tree
        return ProbabilityCarrier(self.mapping_, exclusive=exclusive)

    def _predict_scores(self, X: Any) -> NDArray[np.float64]:
        old_format = renewed_format(self.format_, self.mapping_.old)
        scores = label_scores(self.estimator_, X, old_format)
        return self._coherent(self._carrier.carry(scores))

    def _set_saved_state(self, state: Mapping[str, Any]) -> None:
        super()._set_saved_state(state)
        if "mapping_" not in state:
            return
        known = getattr(self.estimator_, "hierarchy_", self.mapping_.old)
        if (known, self.hierarchy_) != (self.mapping_.old, self.mapping_.new):
            raise ValueError("mapping_, estimator_ and hierarchy_ do not fit together")
