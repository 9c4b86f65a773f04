"""Local architectures: many small classifiers along a hierarchy, one coherent answer."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify._validation import check_choice
from ramify.decision import make_coherent
from ramify.hierarchy.hierarchy import Hierarchy
from ramify.local.base import LocalArchitecture
from ramify.local.combining import multiply_down
from ramify.local.problems import (
    POLICIES,
    ROOT,
    LabelRows,
    LocalProblem,
    check_exclusive,
    edge_problems,
    label_problems,
    level_problems,
    node_problems,
    parent_problems,
    parents_of,
)

__all__ = [
    "FlatClassifier",
    "PerEdgeClassifier",
    "PerLevelClassifier",
    "PerNodeClassifier",
    "PerParentClassifier",
]


class PerEdgeClassifier(LocalArchitecture):
    """One classifier for every edge from a parent to a child (HSC).

    The model of an edge learns from the rows that have the parent whether they have the child: it
    estimates P(child | parent). The probability of a label is the product along its path; of a
    label with several parents, the smallest of P(child | parent) P(parent) over its parents.

    Parameters
    ----------
    estimator : estimator, optional
        The model of an edge. Any classifier of scikit-learn's kind, or
        one of ours; None: `PCTClassifier`. One without ``predict_proba`` counts with its
        predictions, 0 or 1.
    hierarchy : Hierarchy, optional
        The labels. None infers a tree from path labels, and takes other labels as flat.
    categorical_features : array-like of bool, int or str, optional
        Nominal columns as a mask, positions or names, for our own estimators; as for
        `PCTClassifier`.
    n_jobs : int, optional
        How many local models are fitted, or asked, at the same time, -1 for as many as there
        are cores. Nothing depends on it but the time.
    random_state : int, RandomState instance or None
        Draws a seed for every local model. None leaves the estimator's own random_state.
    verbose : bool
        Whether to show a progress bar.

    Attributes
    ----------
    named_estimators_ : dict of (parent, child) to estimator
        The fitted models; the parent of top-level labels is None. Where all training rows agree
        there is a `ConstantClassifier`.
    estimators_ : list
        The same models without their names.
    hierarchy_ : Hierarchy
        The hierarchy given or inferred.
    classes_ : ndarray of shape (n_labels,)
        The labels, in the order of the columns of `predict_proba`.

    See Also
    --------
    PerParentClassifier : One model for all children of a parent.
    PCTClassifier : One tree for all labels.

    Notes
    -----
    CLUS divides the smallest product by the number of parents, so that its figures for labels
    with several parents are smaller.

    Examples
    --------
    >>> from ramify import PerEdgeClassifier
    >>> X = [[1.0, 0.0], [2.0, 0.0], [3.0, 1.0], [4.0, 1.0]]
    >>> y = ["animal/cat", "animal/cat", "animal/dog", "plant"]
    >>> model = PerEdgeClassifier().fit(X, y)
    >>> model.predict([[1.5, 0.0], [4.0, 1.0]])
    array(['animal/cat', 'plant'], dtype='<U10')
    >>> list(model.named_estimators_)
    [(None, 'animal'), ('animal', 'animal/cat'), ('animal', 'animal/dog'), (None, 'plant')]

    Any classifier will do:

    >>> from sklearn.linear_model import LogisticRegression
    >>> model = PerEdgeClassifier(LogisticRegression()).fit(X, y)
    >>> model.predict_proba([[1.5, 0.0]]).round(1)
    array([[0.9, 0.7, 0.2, 0.1]])
    """

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

    def _problems(self, rows: LabelRows) -> list[LocalProblem]:
        return edge_problems(rows)

    def _combine(self, answers: list[NDArray[np.float64]]) -> NDArray[np.float64]:
        edges = [
            (ROOT if parent is None else self.hierarchy_.index(parent), model.labels[0])
            for (parent, _), model in self.local_models_.items()
        ]
        return multiply_down(np.concatenate(answers), edges, self.hierarchy_)


class PerNodeClassifier(LocalArchitecture):
    """One binary classifier for every label, with a policy for its negative rows.

    Parameters
    ----------
    estimator : estimator, optional
        The model of a label. Any classifier of scikit-learn's kind, or
        one of ours; None: `PCTClassifier`. One without ``predict_proba`` counts with its
        predictions, 0 or 1.
    hierarchy : Hierarchy, optional
        The labels. None infers a tree from path labels, and takes other labels as flat.
    policy : {"siblings", "all", "less_inclusive", "inclusive", "exclusive", "less_exclusive", \
            "exclusive_siblings"}
        Which rows a label's model learns from; see Notes.
    categorical_features : array-like of bool, int or str, optional
        Nominal columns as a mask, positions or names, for our own estimators; as for
        `PCTClassifier`.
    n_jobs : int, optional
        How many local models are fitted, or asked, at the same time, -1 for as many as there
        are cores. Nothing depends on it but the time.
    random_state : int, RandomState instance or None
        Draws a seed for every local model. None leaves the estimator's own random_state.
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

    Notes
    -----
    A row *ends* at a label that it has while it has none of the label's children.

    ==================== ======================= ==========================================
    policy               positive                negative
    ==================== ======================= ==========================================
    "siblings"           has the label           has a sibling, not the label
    "all"                has the label           all others
    "less_inclusive"     the same as "all"
    "inclusive"          has the label           all others that end at no ancestor
    "exclusive"          ends at the label       all others
    "less_exclusive"     ends at the label       has not the label
    "exclusive_siblings" ends at the label       ends at a sibling, has not the label
    ==================== ======================= ==========================================

    For "exclusive_siblings", rows that have a label count as ending there if no row does.

    How the answers make coherent probabilities follows from the question that they answer. The
    policies of siblings ask which child, given the parent: probabilities multiply from the top
    (the smallest product over the parents). "all" and "inclusive" ask whether a row has the label:
    no label exceeds its parents. "exclusive" and "less_exclusive" ask whether a row ends at the
    label: a label is at least as probable as each of its children.

    Examples
    --------
    >>> from ramify import PerNodeClassifier
    >>> X = [[1.0, 0.0], [2.0, 0.0], [3.0, 1.0], [4.0, 1.0]]
    >>> y = ["animal/cat", "animal/cat", "animal/dog", "plant"]
    >>> model = PerNodeClassifier(policy="siblings").fit(X, y)
    >>> model.predict([[1.5, 0.0], [4.0, 1.0]])
    array(['animal/cat', 'plant'], dtype='<U10')
    >>> model.named_estimators_["animal/cat"].get_n_leaves()
    2
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        hierarchy: Hierarchy | None = None,
        policy: str = "siblings",
        categorical_features: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.estimator = estimator
        self.hierarchy = hierarchy
        self.policy = policy
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        check_choice("policy", self.policy, POLICIES)

    def _problems(self, rows: LabelRows) -> list[LocalProblem]:
        return node_problems(rows, self.policy)

    def _combine(self, answers: list[NDArray[np.float64]]) -> NDArray[np.float64]:
        scores = np.concatenate(answers)
        if self.policy in ("exclusive", "less_exclusive"):
            return make_coherent(scores.T, self.hierarchy_, "max")
        if self.policy in ("siblings", "exclusive_siblings"):
            edges = [
                (parent, label)
                for label in range(self.hierarchy_.n_labels)
                for parent in parents_of(self.hierarchy_, label)
            ]
            conditional = scores[[label for _, label in edges]]
            return multiply_down(conditional, edges, self.hierarchy_)
        return make_coherent(scores.T, self.hierarchy_, "min")


class PerParentClassifier(LocalArchitecture):
    """One classifier for every parent, which tells its children apart.

    The model of a parent learns from the rows that have it which children they have; the root
    counts as a parent of the labels at the top. Probabilities multiply from the top as in
    `PerEdgeClassifier`.

    Parameters
    ----------
    estimator : estimator, optional
        The model of a parent. Any classifier of scikit-learn's kind, or
        one of ours; None: `PCTClassifier`. One without ``predict_proba`` counts with its
        predictions, 0 or 1.
    hierarchy : Hierarchy, optional
        The labels. None infers a tree from path labels, and takes other labels as flat.
    multilabel : bool, optional
        Whether a row may have several children of a parent. If so, the estimator must take a
        matrix of 0 and 1 as y; if not, it learns classes named by the children, and "" for rows
        that end at the parent. None: by y, which has one label per row or label sets. Our own
        estimators take either.
    categorical_features : array-like of bool, int or str, optional
        Nominal columns as a mask, positions or names, for our own estimators; as for
        `PCTClassifier`.
    n_jobs : int, optional
        How many local models are fitted, or asked, at the same time, -1 for as many as there
        are cores. Nothing depends on it but the time.
    random_state : int, RandomState instance or None
        Draws a seed for every local model. None leaves the estimator's own random_state.
    verbose : bool
        Whether to show a progress bar.

    Attributes
    ----------
    named_estimators_ : dict of label to estimator
        The fitted models by parent, None for the root. Where all training rows agree there is a
        `ConstantClassifier`.
    estimators_ : list
        The same models without their names.
    hierarchy_ : Hierarchy
        The hierarchy given or inferred.
    classes_ : ndarray of shape (n_labels,)
        The labels, in the order of the columns of `predict_proba`.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from ramify import PerParentClassifier
    >>> X = [[1.0, 0.0], [2.0, 0.0], [3.0, 1.0], [4.0, 1.0]]
    >>> y = ["animal/cat", "animal/cat", "animal/dog", "plant"]
    >>> model = PerParentClassifier(KNeighborsClassifier(1)).fit(X, y)
    >>> model.predict([[1.5, 0.0], [4.0, 1.0]])
    array(['animal/cat', 'plant'], dtype='<U10')
    >>> model.named_estimators_["animal"].classes_
    array(['animal/cat', 'animal/dog'], dtype='<U10')
    """

    _joint = True

    def __init__(
        self,
        estimator: Any = None,
        *,
        hierarchy: Hierarchy | None = None,
        multilabel: bool | None = None,
        categorical_features: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.estimator = estimator
        self.hierarchy = hierarchy
        self.multilabel = multilabel
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _problems(self, rows: LabelRows) -> list[LocalProblem]:
        exclusive = self.format_.single_label if self.multilabel is None else not self.multilabel
        return check_exclusive(parent_problems(rows, exclusive), rows)

    def _combine(self, answers: list[NDArray[np.float64]]) -> NDArray[np.float64]:
        edges = [
            (ROOT if parent is None else self.hierarchy_.index(parent), child)
            for parent, model in self.local_models_.items()
            for child in model.labels
        ]
        return multiply_down(np.concatenate(answers), edges, self.hierarchy_)


class PerLevelClassifier(LocalArchitecture):
    """One classifier for every level of the hierarchy.

    The model of a level learns from all rows which of the level's labels they have. A label's
    probability is cut, from the top, to those of its parents. In a DAG a label's level is its
    longest path.

    Parameters
    ----------
    estimator : estimator, optional
        The model of a level. Any classifier of scikit-learn's kind, or
        one of ours; None: `PCTClassifier`. One without ``predict_proba`` counts with its
        predictions, 0 or 1.
    hierarchy : Hierarchy, optional
        The labels. None infers a tree from path labels, and takes other labels as flat.
    multilabel : bool, optional
        Whether a row may have several labels of a level. If so, the estimator must take a matrix
        of 0 and 1 as y; if not, it learns classes named by the labels, and "" for rows that end
        above the level. None: by y, which has one label per row or label sets. Our own
        estimators take either.
    categorical_features : array-like of bool, int or str, optional
        Nominal columns as a mask, positions or names, for our own estimators; as for
        `PCTClassifier`.
    n_jobs : int, optional
        How many local models are fitted, or asked, at the same time, -1 for as many as there
        are cores. Nothing depends on it but the time.
    random_state : int, RandomState instance or None
        Draws a seed for every local model. None leaves the estimator's own random_state.
    verbose : bool
        Whether to show a progress bar.

    Attributes
    ----------
    named_estimators_ : dict of int to estimator
        The fitted models by level, 0 at the top. Where all training rows agree there is a
        `ConstantClassifier`.
    estimators_ : list
        The same models without their names.
    hierarchy_ : Hierarchy
        The hierarchy given or inferred.
    classes_ : ndarray of shape (n_labels,)
        The labels, in the order of the columns of `predict_proba`.

    Examples
    --------
    >>> from ramify import PerLevelClassifier
    >>> X = [[1.0, 0.0], [2.0, 0.0], [3.0, 1.0], [4.0, 1.0]]
    >>> y = ["animal/cat", "animal/cat", "animal/dog", "plant"]
    >>> model = PerLevelClassifier().fit(X, y)
    >>> model.predict([[1.5, 0.0], [4.0, 1.0]])
    array(['animal/cat', 'plant'], dtype='<U10')
    >>> model.named_estimators_[1].classes_
    array(['animal/cat', 'animal/dog'], dtype='<U10')
    """

    _joint = True

    def __init__(
        self,
        estimator: Any = None,
        *,
        hierarchy: Hierarchy | None = None,
        multilabel: bool | None = None,
        categorical_features: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.estimator = estimator
        self.hierarchy = hierarchy
        self.multilabel = multilabel
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _problems(self, rows: LabelRows) -> list[LocalProblem]:
        exclusive = self.format_.single_label if self.multilabel is None else not self.multilabel
        return check_exclusive(level_problems(rows, exclusive), rows)

    def _combine(self, answers: list[NDArray[np.float64]]) -> NDArray[np.float64]:
        labels = [c for model in self.local_models_.values() for c in model.labels]
        scores = np.concatenate(answers)[np.argsort(labels)]
        return make_coherent(scores.T, self.hierarchy_, "min")


class FlatClassifier(LocalArchitecture):
    """One binary classifier per label, on all rows, without regard to the hierarchy.

    With models for the leaves only (SLC), an inner label is as probable as the most probable leaf
    below it; rows that end at an inner label then count as having no label. With models for all
    labels, a label's probability is cut, from the top, to those of its parents.

    Parameters
    ----------
    estimator : estimator, optional
        The model of a label. Any classifier of scikit-learn's kind, or
        one of ours; None: `PCTClassifier`. One without ``predict_proba`` counts with its
        predictions, 0 or 1.
    hierarchy : Hierarchy, optional
        The labels. None infers a tree from path labels, and takes other labels as flat.
    labels : {"leaves", "all"}
        Which labels have models. "all" is `BinaryRelevance` and
        ``PerNodeClassifier(policy="all")``.
    categorical_features : array-like of bool, int or str, optional
        Nominal columns as a mask, positions or names, for our own estimators; as for
        `PCTClassifier`.
    n_jobs : int, optional
        How many local models are fitted, or asked, at the same time, -1 for as many as there
        are cores. Nothing depends on it but the time.
    random_state : int, RandomState instance or None
        Draws a seed for every local model. None leaves the estimator's own random_state.
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

    Examples
    --------
    >>> from ramify import FlatClassifier
    >>> X = [[1.0, 0.0], [2.0, 0.0], [3.0, 1.0], [4.0, 1.0]]
    >>> y = ["animal/cat", "animal/cat", "animal/dog", "plant"]
    >>> model = FlatClassifier().fit(X, y)
    >>> model.predict([[1.5, 0.0], [4.0, 1.0]])
    array(['animal/cat', 'plant'], dtype='<U10')
    >>> list(model.named_estimators_)
    ['animal/cat', 'animal/dog', 'plant']
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        hierarchy: Hierarchy | None = None,
        labels: str = "leaves",
        categorical_features: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.estimator = estimator
        self.hierarchy = hierarchy
        self.labels = labels
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        check_choice("labels", self.labels, ("leaves", "all"))

    def _problems(self, rows: LabelRows) -> list[LocalProblem]:
        hierarchy = rows.hierarchy
        if self.labels == "all":
            return label_problems(rows, range(hierarchy.n_labels))
        return label_problems(rows, hierarchy.indices(hierarchy.leaves).tolist())

    def _combine(self, answers: list[NDArray[np.float64]]) -> NDArray[np.float64]:
        if self.labels == "all":
            return make_coherent(np.concatenate(answers).T, self.hierarchy_, "min")
        scores = np.zeros((self.hierarchy_.n_labels, answers[0].shape[1]))
        for model, answer in zip(self.local_models_.values(), answers, strict=True):
            scores[model.labels[0]] = answer[0]
        return make_coherent(scores.T, self.hierarchy_, "max")
