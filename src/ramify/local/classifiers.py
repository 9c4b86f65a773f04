"""Local architectures: one classifier per edge, label, parent or level of a hierarchy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify._validation import check_choice
from ramify.decision import make_coherent
from ramify.labels.hierarchy import Hierarchy
from ramify.local.base import LocalArchitecture
from ramify.local.learning import multiply_down
from ramify.local.problems import (
    POLICIES,
    POLICIES_OF_UNKNOWN,
    LabelRows,
    LocalProblem,
    check_exclusive,
    edge_problems,
    edges_of,
    label_problems,
    level_problems,
    node_problems,
    parent_problems,
    policy_scope,
    position_of,
)
from ramify.local.walking import StepsDown


class PerEdgeClassifier(LocalArchitecture):
    """One binary classifier per edge from a parent to a child (HSC).

    The model of an edge is fitted on the rows that have the parent and predicts whether they have
    the child, i.e. it estimates P(child | parent). The probability of a label is the product
    along its path; for a label with several parents, it is the minimum of
    P(child | parent) P(parent) over its parents.

    Parameters
    ----------
    estimator : estimator, optional
        The classifier to fit for each edge: any scikit-learn compatible classifier or one of
        ramify. If None, `LinearClassifier` is used for sparse X, such as texts, and otherwise a
        `PCTForestClassifier` of 50 trees. If it has no ``predict_proba``, its predictions are used
        as probabilities of 0 or 1. A list has one of these, or None, for each level of the
        hierarchy, from the top.
    hierarchy : Hierarchy, optional
        The label hierarchy. If None, a tree is inferred from path labels; all other labels are
        treated as flat.
    categorical_features : array-like of bool, int or str, optional
        The nominal features, as a boolean mask, indices or column names; see `PCTClassifier`. Only
        used by classifiers of ramify.
    n_jobs : int, optional
        Number of local models to fit or predict with in parallel; -1 means all cores. The
        result does not depend on it.
    random_state : int, RandomState instance or None
        Controls the seeds of the local models. If None, the `random_state` of `estimator` is
        kept. Pass an int for reproducible results.
    verbose : bool
        Whether to show a progress bar (requires rich).

    Attributes
    ----------
    named_estimators_ : dict of (parent, child) to estimator
        The fitted models by edge; the parent of top-level labels is None. If all training rows of
        an edge agree, its model is a `ConstantClassifier`.
    estimators_ : list
        The values of `named_estimators_` as a list.
    hierarchy_ : Hierarchy
        The label hierarchy, as passed or as inferred from y.
    classes_ : ndarray of shape (n_labels,)
        The labels, in the order of the columns of `predict_proba`.

    See Also
    --------
    PerParentClassifier : One classifier for all children of a parent.
    PCTClassifier : One tree for all labels.

    Notes
    -----
    CLUS divides the minimum by the number of parents, so its probabilities of labels with several
    parents are smaller.

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

    Any scikit-learn compatible classifier can be used:

    >>> from sklearn.linear_model import LogisticRegression
    >>> model = PerEdgeClassifier(LogisticRegression()).fit(X, y)
    >>> model.predict_proba([[1.5, 0.0]]).round(1)
    array([[0.9, 0.7, 0.2, 0.1]])
    """

    _by_level = True

    def _problems(self, rows: LabelRows) -> list[LocalProblem]:
        return edge_problems(rows)

    def _scope(self, hierarchy: Hierarchy, key: Any, labels: tuple[int, ...]) -> set[int]:
        return {position_of(hierarchy, key[0]), *labels}

    def _combine(self, answers: NDArray[np.float64]) -> NDArray[np.float64]:
        parents = [self._position(parent) for parent, _ in self.local_models_]
        return multiply_down(answers, parents, self.local_models_.labels, self.hierarchy_)

    def _steps_down(self) -> StepsDown:
        return StepsDown(lambda parent, label: (self._key(parent), self._key(label)), np.multiply)


class PerNodeClassifier(LocalArchitecture):
    """One binary classifier per label, with a policy for the choice of training rows.

    The model of a label predicts whether a row has the label. The policy determines which rows
    are positive, negative or left out when the model is fitted.

    Parameters
    ----------
    estimator : estimator, optional
        The classifier to fit for each label: any scikit-learn compatible classifier or one of
        ramify. If None, `LinearClassifier` is used for sparse X, such as texts, and otherwise a
        `PCTForestClassifier` of 50 trees. If it has no ``predict_proba``, its predictions are used
        as probabilities of 0 or 1. A list has one of these, or None, for each level of the
        hierarchy, from the top.
    hierarchy : Hierarchy, optional
        The label hierarchy. If None, a tree is inferred from path labels; all other labels are
        treated as flat.
    policy : {"siblings", "all", "less_inclusive", "inclusive", "exclusive", "less_exclusive", \
            "exclusive_siblings"}
        How to choose the positive and negative training rows of a label; see Notes.
    categorical_features, n_jobs, random_state, verbose
        As in `PerEdgeClassifier`.

    Attributes
    ----------
    named_estimators_ : dict of label to estimator
        The fitted models by label. If all training rows of a label agree, its model is a
        `ConstantClassifier`.
    estimators_, hierarchy_, classes_
        As in `PerEdgeClassifier`.

    Notes
    -----
    A row *ends* at a label if it has the label and none of the label's children.

    ==================== ======================= ==========================================
    policy               positive                negative
    ==================== ======================= ==========================================
    "siblings"           has the label           has a sibling, not the label
    "all"                has the label           all others
    "less_inclusive"     the same as "all"
    "inclusive"          has the label           all others, unless they end at an ancestor
    "exclusive"          ends at the label       all others
    "less_exclusive"     ends at the label       does not have the label
    "exclusive_siblings" ends at the label       ends at a sibling, does not have the label
    ==================== ======================= ==========================================

    With "exclusive_siblings", if no row ends at a label, all rows that have it are used instead.

    How the predictions are combined into coherent probabilities depends on what the policy
    estimates. With "siblings" and "exclusive_siblings", models estimate P(label | parent), and
    probabilities are multiplied from the top down as in `PerEdgeClassifier`. With "all",
    "less_inclusive" and "inclusive", models estimate the probability of the label, which is
    limited to the probabilities of its parents. With "exclusive" and "less_exclusive", models
    estimate the probability that a row ends at the label, and the probability of a label is raised
    to the largest one among its descendants.

    Examples
    --------
    >>> from ramify import PCTClassifier, PerNodeClassifier
    >>> X = [[1.0, 0.0], [2.0, 0.0], [3.0, 1.0], [4.0, 1.0]]
    >>> y = ["animal/cat", "animal/cat", "animal/dog", "plant"]
    >>> model = PerNodeClassifier(PCTClassifier(), policy="siblings").fit(X, y)
    >>> model.predict([[1.5, 0.0], [4.0, 1.0]])
    array(['animal/cat', 'plant'], dtype='<U10')
    >>> model.named_estimators_["animal/cat"].get_n_leaves()
    2
    """

    _by_level = True

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

    def _why_not_unknown(self) -> str | None:
        if self.policy in POLICIES_OF_UNKNOWN:
            return None
        return f"policy={self.policy!r} asks at which labels rows end. Use policy='siblings'"

    def _problems(self, rows: LabelRows) -> list[LocalProblem]:
        return node_problems(rows, self.policy)

    def _scope(self, hierarchy: Hierarchy, key: Any, labels: tuple[int, ...]) -> set[int]:
        return policy_scope(hierarchy, labels[0], self.policy)

    def _combine(self, answers: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.policy in ("exclusive", "less_exclusive"):
            return make_coherent(answers.T, self.hierarchy_, "max")
        if self.policy in ("siblings", "exclusive_siblings"):
            parents, children = edges_of(self.hierarchy_)
            return multiply_down(answers[children], parents, children, self.hierarchy_)
        return make_coherent(answers.T, self.hierarchy_, "min")

    def _steps_down(self) -> StepsDown | None:
        if self.policy in ("exclusive", "less_exclusive"):
            return None
        given_parent = self.policy in ("siblings", "exclusive_siblings")
        combine = np.multiply if given_parent else np.minimum
        return StepsDown(lambda _, label: self._key(label), combine)


class _JointArchitecture(LocalArchitecture):
    """Base class of architectures whose models predict several labels."""

    _joint = True
    _by_level = True

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

    def _exclusive(self) -> bool:
        """Return whether a row has at most one label of a model."""
        return self.format_.single_label if self.multilabel is None else not self.multilabel


class PerParentClassifier(_JointArchitecture):
    """One classifier per parent, which predicts its children.

    The model of a parent is fitted on the rows that have the parent and predicts which of its
    children they have; the root is the parent of top-level labels. Probabilities are multiplied
    from the top down as in `PerEdgeClassifier`.

    Parameters
    ----------
    estimator : estimator, optional
        The classifier to fit for each parent: any scikit-learn compatible classifier or one of
        ramify. If None, `LinearClassifier` is used for sparse X, such as texts, and otherwise a
        `PCTForestClassifier` of 50 trees. If it has no ``predict_proba``, its predictions are used
        as probabilities of 0 or 1. A list has one of these, or None, for each level of the
        hierarchy, from the top.
    hierarchy : Hierarchy, optional
        The label hierarchy. If None, a tree is inferred from path labels; all other labels are
        treated as flat.
    multilabel : bool, optional
        Whether a row may have several children of a parent. If True, the estimator must accept a
        label matrix as y. If False, it is fitted on one class per row: the name of the child, or
        "" for rows that end at the parent. If None, it is False if `y` has one label per row and
        True if `y` has label sets. Classifiers of ramify support both.
    categorical_features, n_jobs, random_state, verbose
        As in `PerEdgeClassifier`.

    Attributes
    ----------
    named_estimators_ : dict of label to estimator
        The fitted models by parent; the key of the root is None. If all training rows of a parent
        agree, its model is a `ConstantClassifier`.
    estimators_, hierarchy_, classes_
        As in `PerEdgeClassifier`.

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

    def _problems(self, rows: LabelRows) -> list[LocalProblem]:
        return check_exclusive(parent_problems(rows, self._exclusive()), rows)

    def _scope(self, hierarchy: Hierarchy, key: Any, labels: tuple[int, ...]) -> set[int]:
        return {position_of(hierarchy, key), *labels}

    def _combine(self, answers: NDArray[np.float64]) -> NDArray[np.float64]:
        parents = [self._position(parent) for parent in self.local_models_]
        repeated = np.repeat(parents, [len(model.labels) for model in self.local_models_.values()])
        return multiply_down(answers, repeated, self.local_models_.labels, self.hierarchy_)

    def _steps_down(self) -> StepsDown:
        return StepsDown(lambda parent, _: self._key(parent), np.multiply)


class PerLevelClassifier(_JointArchitecture):
    """One classifier per level of the hierarchy.

    The model of a level is fitted on all rows and predicts which labels of the level they have.
    From the top down, the probability of a label is limited to the probabilities of its parents.
    In a DAG, the level of a label is the length of its longest path from the root.

    Parameters
    ----------
    estimator : estimator, optional
        The classifier to fit for each level: any scikit-learn compatible classifier or one of
        ramify. If None, `LinearClassifier` is used for sparse X, such as texts, and otherwise a
        `PCTForestClassifier` of 50 trees. If it has no ``predict_proba``, its predictions are used
        as probabilities of 0 or 1. A list has one of these, or None, for each level of the
        hierarchy, from the top.
    hierarchy : Hierarchy, optional
        The label hierarchy. If None, a tree is inferred from path labels; all other labels are
        treated as flat.
    multilabel : bool, optional
        Whether a row may have several labels of a level. If True, the estimator must accept a
        label matrix as y. If False, it is fitted on one class per row: the name of the label, or
        "" for rows that end above the level. If None, it is False if `y` has one label per row
        and True if `y` has label sets. Classifiers of ramify support both.
    categorical_features, n_jobs, random_state, verbose
        As in `PerEdgeClassifier`.

    Attributes
    ----------
    named_estimators_ : dict of int to estimator
        The fitted models by level; the top level is 0. If all training rows of a level agree, its
        model is a `ConstantClassifier`.
    estimators_, hierarchy_, classes_
        As in `PerEdgeClassifier`.

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

    Each level may have an estimator of its own:

    >>> from ramify import LinearClassifier, PCTClassifier
    >>> model = PerLevelClassifier([LinearClassifier(), PCTClassifier()]).fit(X, y)
    >>> [type(one).__name__ for one in model.estimators_]
    ['LinearClassifier', 'PCTClassifier']
    """

    def _problems(self, rows: LabelRows) -> list[LocalProblem]:
        return check_exclusive(level_problems(rows, self._exclusive()), rows)

    def _scope(self, hierarchy: Hierarchy, key: Any, labels: tuple[int, ...]) -> set[int]:
        return set(labels)

    def _combine(self, answers: NDArray[np.float64]) -> NDArray[np.float64]:
        scores = answers[np.argsort(self.local_models_.labels)]
        return make_coherent(scores.T, self.hierarchy_, "min")

    def _steps_down(self) -> StepsDown:
        levels = self.hierarchy_.label_levels
        return StepsDown(lambda _, label: int(levels[label]) - 1, np.minimum)


class ArchitectureOfLabels(LocalArchitecture):
    """Base class of architectures with one model per label, fitted on all rows."""

    labels: str  # which labels have a model: "leaves" or "all"

    def _problems(self, rows: LabelRows) -> list[LocalProblem]:
        hierarchy = rows.hierarchy
        if self.labels == "all":
            return label_problems(rows, range(hierarchy.n_labels))
        return label_problems(rows, hierarchy.indices(hierarchy.leaves).tolist())

    def _scope(self, hierarchy: Hierarchy, key: Any, labels: tuple[int, ...]) -> set[int]:
        return set(labels)

    def _combine(self, answers: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.labels == "all":
            return make_coherent(answers.T, self.hierarchy_, "min")
        scores = np.zeros((self.hierarchy_.n_labels, answers.shape[1]))
        scores[self.local_models_.labels] = answers
        return make_coherent(scores.T, self.hierarchy_, "max")

    def _steps_down(self) -> StepsDown | None:
        if self.labels == "leaves":
            return None
        return StepsDown(lambda _, label: self._key(label), np.minimum)


class FlatClassifier(ArchitectureOfLabels):
    """One binary classifier per label, fitted on all rows, independent of the hierarchy.

    With models for leaves only (SLC), the probability of an inner label is the largest one among
    the leaves below it; rows without a leaf label are negative for all models. With models for all
    labels, the probability of a label is limited, from the top down, to the probabilities of its
    parents.

    Parameters
    ----------
    estimator : estimator, optional
        The classifier to fit for each label: any scikit-learn compatible classifier or one of
        ramify. If None, `LinearClassifier` is used for sparse X, such as texts, and otherwise a
        `PCTForestClassifier` of 50 trees. If it has no ``predict_proba``, its predictions are used
        as probabilities of 0 or 1.
    hierarchy : Hierarchy, optional
        The label hierarchy. If None, a tree is inferred from path labels; all other labels are
        treated as flat.
    labels : {"leaves", "all"}
        The labels to fit models for. With "all", the classifier is equivalent to
        `BinaryRelevance` and ``PerNodeClassifier(policy="all")``.
    categorical_features, n_jobs, random_state, verbose
        As in `PerEdgeClassifier`.

    Attributes
    ----------
    named_estimators_ : dict of label to estimator
        The fitted models by label. If all training rows of a label agree, its model is a
        `ConstantClassifier`.
    estimators_, hierarchy_, classes_
        As in `PerEdgeClassifier`.

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
