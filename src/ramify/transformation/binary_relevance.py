"""Binary relevance: a classifier for each label, on its own or told about the other labels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify import _core
from ramify._base.classifier import copy_input_attributes
from ramify._base.features import given_features
from ramify.decision import apply_threshold, make_coherent
from ramify.hierarchy.hierarchy import Hierarchy
from ramify.local.base import LocalArchitecture
from ramify.local.classifiers import FlatClassifier
from ramify.local.label_features import LabelledLearner, join_labels
from ramify.local.learning import Learner
from ramify.local.models import LocalModel, Queries
from ramify.local.problems import LabelRows, LocalProblem, label_problems
from ramify.tree.training_data import TrainingData

__all__ = ["BinaryRelevance", "BinaryRelevancePlus"]


class BinaryRelevance(FlatClassifier):
    """One binary classifier for every label, each on all rows (BR).

    This is ``FlatClassifier(labels="all")``, and ``PerNodeClassifier(policy="all")``, under the
    name that multi-label classification has for it.

    Parameters
    ----------
    estimator : estimator, optional
        The model of a label. Any classifier of scikit-learn's kind, or
        one of ours; None: `PCTClassifier`. One without ``predict_proba`` counts with its
        predictions, 0 or 1.
    hierarchy : Hierarchy, optional
        The labels. None infers a tree from path labels, and takes other labels as flat.
    categorical_features : array-like of bool, int or str, optional
        Nominal columns as a mask, positions or names, for our own estimators; as for
        `PCTClassifier`.
    n_jobs : int, optional
        How many models are fitted, or asked, at the same time, -1 for as many as there are cores.
        Nothing depends on it but the time.
    random_state : int, RandomState instance or None
        Draws a seed for every model. None leaves the estimator's own random_state.
    verbose : bool
        Whether to show a progress bar.

    Attributes
    ----------
    named_estimators_ : dict of label to estimator
        The fitted models. Where all training rows agree there is a `ConstantClassifier`.
    estimators_ : list
        The same models without their names.
    hierarchy_ : Hierarchy
        The hierarchy given or inferred.
    classes_ : ndarray of shape (n_labels,)
        The labels, in the order of the columns of `predict_proba`.

    See Also
    --------
    BinaryRelevancePlus : Models that are told about the other labels.
    FlatClassifier : Models for the leaves only.
    PerNodeClassifier : Other choices of the negative rows in a hierarchy.

    Notes
    -----
    In a hierarchy a label's probability is cut, from the top, to those of its parents.

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

    def __init__(
        self,
        estimator: Any = None,
        *,
        hierarchy: Hierarchy | None = None,
        categorical_features: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.estimator = estimator
        self.hierarchy = hierarchy
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose


class BinaryRelevancePlus(LocalArchitecture):
    """One binary classifier for every label, told which other labels a row has (BR+).

    In training the models see the true labels. To predict, a `BinaryRelevance` comes first, and
    the models see what it has predicted.

    Parameters
    ----------
    estimator : estimator, optional
        The model of a label. Any classifier of scikit-learn's kind, or
        one of ours; None: `PCTClassifier`. One without ``predict_proba`` counts with its
        predictions, 0 or 1.
    hierarchy : Hierarchy, optional
        The labels. None infers a tree from path labels, and takes other labels as flat.
    categorical_features : array-like of bool, int or str, optional
        Nominal columns as a mask, positions or names, for our own estimators; as for
        `PCTClassifier`.
    n_jobs : int, optional
        How many models are fitted, or asked, at the same time, -1 for as many as there are cores.
        Nothing depends on it but the time.
    random_state : int, RandomState instance or None
        Draws a seed for every model. None leaves the estimator's own random_state.
    verbose : bool
        Whether to show a progress bar.

    Attributes
    ----------
    first_ : BinaryRelevance
        Predicts the labels that the models are told.
    named_estimators_ : dict of label to estimator
        The fitted models; after the columns of X they have one for every label, that of their own
        being 0. Where all training rows agree there is a `ConstantClassifier`.
    estimators_ : list
        The same models without their names.
    hierarchy_ : Hierarchy
        The hierarchy given or inferred.
    classes_ : ndarray of shape (n_labels,)
        The labels, in the order of the columns of `predict_proba`.

    See Also
    --------
    BinaryRelevance : Every label on its own.

    Notes
    -----
    The labels that the first stage predicts are used as they are, without updates by the second
    (BR+ "NU"). Estimators of other libraries get arrays, also for data frames: numbers and
    the codes of nominal columns, then the labels.

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

    def __init__(
        self,
        estimator: Any = None,
        *,
        hierarchy: Hierarchy | None = None,
        categorical_features: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.estimator = estimator
        self.hierarchy = hierarchy
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _learn_local(self, data: TrainingData) -> None:
        data = replace(data, given=given_features(data.X, data.X))  # arrays, also for data frames
        self.first_ = self._make_first()
        self.first_._learn_local(data)
        super()._learn_local(data)

    def _make_first(self) -> BinaryRelevance:
        """Return the first stage, which knows of X and y what this classifier has read."""
        first = BinaryRelevance(**self.get_params(deep=False))
        copy_input_attributes(self, first)
        return first

    def _make_learner(self, data: TrainingData) -> Learner:
        return LabelledLearner(self._local_estimator(), data, self.hierarchy_)

    def _problems(self, rows: LabelRows) -> list[LocalProblem]:
        return label_problems(rows, range(rows.hierarchy.n_labels))

    def _ask(self, X: Any, given: Any) -> list[NDArray[np.float64]]:
        scores = self.first_._score(X, given_features(X, X))
        Y = apply_threshold(scores, 0.5, self.hierarchy_)
        clus = bool(getattr(self._local_estimator(), "clus_compat", False))

        def ask(model: LocalModel, hidden: int | None) -> NDArray[np.float64]:
            joined = join_labels(X, Y, hidden)
            return Queries(joined, given_features(joined, joined), self.hierarchy_, clus=clus).ask(
                model
            )

        # Our own trees and forests do not look at the column of their own label.
        ours = Queries(join_labels(X, Y, None), None, self.hierarchy_, clus=clus)
        return [
            ours.ask(model) if isinstance(model.estimator, _core.Tree) else ask(model, label)
            for label, model in enumerate(self.local_models_.values())
        ]

    def _combine(self, answers: list[NDArray[np.float64]]) -> NDArray[np.float64]:
        return make_coherent(np.concatenate(answers).T, self.hierarchy_, "min")

    def _as_estimator(self, model: LocalModel) -> Any:
        fitted = super()._as_estimator(model)
        if isinstance(model.estimator, _core.Tree):
            n_labels = self.hierarchy_.n_labels
            own = getattr(self, "feature_names_in_", None)
            names = [f"x{j}" for j in range(self.n_features_in_)] if own is None else list(own)
            fitted.schema_ = self.schema_.with_numeric(n_labels)
            fitted.n_features_in_ = self.n_features_in_ + n_labels
            fitted.feature_names_in_ = np.array(
                [*names, *map(str, self.hierarchy_.labels)], dtype=object
            )
        return fitted
