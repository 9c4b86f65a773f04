"""Binary relevance: one classifier per label, with or without the other labels as features."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify._base.classifier import copy_input_attributes
from ramify._base.tree_models import TreeModel
from ramify._schema import Anything, Fitted, MapOf, Part, Schema
from ramify.data.features import given_features
from ramify.decision import apply_threshold, make_coherent
from ramify.local.base import LocalArchitecture
from ramify.local.classifiers import ArchitectureOfLabels
from ramify.local.label_features import LabelledLearner, join_labels
from ramify.local.learning import Learner, LocalModel
from ramify.local.problems import LabelRows, LocalProblem, label_problems
from ramify.trees.classifier import PCTClassifier
from ramify.trees.tree_data import TreeData


class BinaryRelevance(ArchitectureOfLabels):
    """One binary classifier per label, fitted on all rows (BR).

    This is equivalent to ``FlatClassifier(labels="all")`` and ``PerNodeClassifier(policy="all")``,
    under the name used in multi-label classification.

    Parameters
    ----------
    estimator : estimator, optional
        The classifier to fit for each label: any scikit-learn compatible classifier or one of
        ramify. If None, `LinearClassifier` is used for sparse X, such as texts, and otherwise a
        `PCTForestClassifier` of 50 trees. If it has no ``predict_proba``, its predictions are used
        as probabilities of 0 or 1.
    hierarchy, categorical_features, n_jobs, random_state, verbose
        As in `PerEdgeClassifier`.

    Attributes
    ----------
    named_estimators_ : dict of label to estimator
        The fitted models by label. If all training rows of a label agree, its model is a
        `ConstantClassifier`.
    estimators_, hierarchy_, classes_
        As in `PerEdgeClassifier`.

    See Also
    --------
    BinaryRelevancePlus : The other labels are features of each classifier.
    FlatClassifier : Classifiers for the leaves only.
    PerNodeClassifier : Other policies for the choice of training rows.

    Notes
    -----
    In a hierarchy, the probability of a label is limited, from the top down, to the probabilities
    of its parents.

    Examples
    --------
    >>> from ramify import BinaryRelevance
    >>> X = [[1.0], [2.0], [3.0], [4.0]]
    >>> y = [["cat", "black"], ["cat"], ["dog"], []]
    >>> model = BinaryRelevance().fit(X, y)
    >>> model.predict([[1.2], [3.1], [4.2]])
    [['black', 'cat'], ['dog'], []]
    >>> list(model.named_estimators_)
    ['black', 'cat', 'dog']
    """

    labels = "all"


class BinaryRelevancePlus(LocalArchitecture):
    """One binary classifier per label, with the other labels as features (BR+).

    The models are fitted with the true labels as features. To predict, these labels are first
    predicted by a `BinaryRelevance` classifier.

    Parameters
    ----------
    estimator : estimator, optional
        The classifier to fit for each label: any scikit-learn compatible classifier or one of
        ramify. If None, `PCTClassifier` is used. If it has no ``predict_proba``, its predictions
        are used as probabilities of 0 or 1.
    hierarchy, categorical_features, n_jobs, random_state, verbose
        As in `PerEdgeClassifier`.

    Attributes
    ----------
    first_ : BinaryRelevance
        The fitted first stage, which predicts the labels that are used as features.
    named_estimators_ : dict of label to estimator
        The fitted models by label. Their features are those of X, followed by all labels; the
        feature of their own label is 0. If all training rows of a label agree, its model is a
        `ConstantClassifier`.
    estimators_, hierarchy_, classes_
        As in `PerEdgeClassifier`.

    See Also
    --------
    BinaryRelevance : One classifier per label, without the other labels as features.

    Notes
    -----
    The labels predicted by the first stage are not updated by the second (strategy "NU" of BR+).
    Estimators of other libraries get arrays even if X is a data frame: the numeric features and
    the codes of nominal features, followed by the labels.

    Examples
    --------
    >>> from ramify import BinaryRelevancePlus
    >>> X = [[1.0], [2.0], [3.0], [4.0]]
    >>> y = [["cat", "pet"], ["cat", "pet"], ["dog", "pet"], []]
    >>> model = BinaryRelevancePlus().fit(X, y)
    >>> model.predict([[1.2], [3.1], [4.2]])
    [['cat', 'pet'], ['dog', 'pet'], []]
    """

    first_: BinaryRelevance

    _saved_schema: ClassVar[Schema] = {
        "first_": Fitted("n_features_in_", "n_labels"),
        "local_models_": MapOf(
            Anything(),
            Part(
                LocalModel,
                n_features="n_features_in_+n_labels",
                n_variables="n_variables+n_labels",
                n_labels="n_labels",
            ),
            "n_labels",
        ),
    }

    def _why_not_unknown(self) -> str | None:
        return "BinaryRelevancePlus learns from all other labels. Use BinaryRelevance"

    def _default_estimator(self, *, is_linear: bool) -> Any:
        return PCTClassifier()

    def _learn_local(self, data: TreeData) -> None:
        data = replace(data, given=given_features(data.X, data.X))  # arrays even for data frames
        self.first_ = self._make_first()
        self.first_._learn_local(data)
        super()._learn_local(data)

    def _text_form(self) -> str:
        form = super()._text_form()
        return "weights" if form == "passed" else form

    def _make_first(self) -> BinaryRelevance:
        """Return the unfitted first stage with the input attributes of this classifier."""
        settings = self.get_params(deep=False) | {"estimator": self._local_estimator()}
        first = BinaryRelevance(**settings)
        copy_input_attributes(self, first)
        return first

    def _make_learner(self, data: TreeData) -> Learner:
        return LabelledLearner(self._local_estimator(), data, self.hierarchy_)

    def _problems(self, rows: LabelRows) -> list[LocalProblem]:
        return label_problems(rows, range(rows.hierarchy.n_labels))

    def _predict_first(self, X: Any) -> sparse.csr_array[np.int32]:
        """Predict the labels that are features of the second stage."""
        scores = self.first_._score(X, given_features(X, X))
        return apply_threshold(scores, 0.5, self.hierarchy_)

    def _as_trees(self) -> TreeModel:
        return replace(super()._as_trees(), made_features=tuple(map(str, self.hierarchy_.labels)))

    def _tree_rows(self, X: Any) -> Any:
        return join_labels(X, self._predict_first(X), None)

    def _predict_local(self, X: Any, given: Any) -> NDArray[np.float64]:
        Y = self._predict_first(X)

        def predict(model: LocalModel, hidden: int | None) -> NDArray[np.float64]:
            joined = join_labels(X, Y, hidden)
            return self._queries(joined, given_features(joined, joined)).predict(model)

        # Trees do not test the feature of their own label, so it need not be hidden from them.
        queries = self._queries(join_labels(X, Y, None), None)
        answers = [
            queries.predict(model) if model.tree is not None else predict(model, label)
            for label, model in enumerate(self.local_models_.values())
        ]
        return np.concatenate(answers)

    def _combine(self, answers: NDArray[np.float64]) -> NDArray[np.float64]:
        return make_coherent(answers.T, self.hierarchy_, "min")

    def _as_estimator(self, model: LocalModel) -> Any:
        fitted = super()._as_estimator(model)
        if model.tree is not None:
            n_labels = self.hierarchy_.n_labels
            own = getattr(self, "feature_names_in_", None)
            names = [f"x{j}" for j in range(self.n_features_in_)] if own is None else list(own)
            fitted.schema_ = self.schema_.with_numeric(n_labels)
            fitted.n_features_in_ = self.n_features_in_ + n_labels
            fitted.feature_names_in_ = np.array(
                [*names, *map(str, self.hierarchy_.labels)], dtype=object
            )
        return fitted
