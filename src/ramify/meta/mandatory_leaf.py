"""Mandatory leaf prediction: label sets whose paths all end in leaves."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from ramify._base.classifier import CANDIDATES, USUAL, Asked
from ramify._schema import Number, Schema
from ramify._validation import check_choice, check_number
from ramify.decision import mandatory_leaves
from ramify.decision.best_sets import DECISIONS
from ramify.decision.leaves import OBJECTIVES, SOLVERS, check_leaf_counts
from ramify.labels.hierarchy import Hierarchy
from ramify.local.classifiers import FlatClassifier
from ramify.local.sibling_lasso import SiblingLassoClassifier
from ramify.meta.base import WrappingClassifier
from ramify.meta.level_powerset import LevelPowerset
from ramify.meta.metalabeler import MetaLabeler
from ramify.metrics import label_imbalance
from ramify.trees.classifier import PCTClassifier


class MandatoryLeafClassifier(WrappingClassifier):
    """Mandatory leaf prediction with the probabilities of any classifier (MAS and MASR).

    All paths of a predicted label set end in leaves. Of all such sets, the one with the largest
    joint probability or the smallest expected loss is predicted.

    Parameters
    ----------
    estimator : classifier
        A classifier of ramify, a pipeline that ends in one, or any classifier with `predict_proba`
        that accepts label matrices. A fitted classifier in scikit-learn's FrozenEstimator is not
        fitted again. If it has `predict_conditional_proba`, like `SiblingLassoClassifier`, the
        objective "map" uses these probabilities of labels given their parents.
    hierarchy : Hierarchy, optional
        The label hierarchy. If None, the hierarchy of `estimator` is used, or one is inferred from
        y.
    objective : {"map", "risk"}
        "map" maximises the joint probability of all labels (MAS), "risk" minimises the expected
        `ramify.metrics.symmetric_loss` (MASR).
    solver : {"greedy", "exact"}
        How to search for the best set; see `ramify.decision.mandatory_leaves`.
    alpha : "balanced" or float
        For "risk": weight of false negatives relative to false positives. "balanced" uses
        `ramify.metrics.label_imbalance` of the training labels.
    k : int, optional
        Number of leaves in each prediction. If None, the best number is chosen for each row.
    costs : {"shared", "uniform"} or array-like of shape (n_labels,)
        For "risk": costs of the labels, as in `ramify.metrics.hmc_loss`.
    coherence : {"isotonic", "max", "min"}
        How to repair scores that are inconsistent with the hierarchy; see
        `ramify.decision.make_coherent`.
    n_jobs : int, optional
        Number of threads for the search, or of processes for integer programs; -1 means all cores.
        The result does not depend on it.

    Attributes
    ----------
    alpha_ : float
        Weight of false negatives relative to false positives.
    estimator_ : classifier
        The fitted classifier.
    hierarchy_ : Hierarchy
        The label hierarchy, as passed or as inferred from y.
    classes_ : ndarray of shape (n_labels,)
        The labels, in the order of the columns of `predict_proba`.
    n_features_in_ : int
        Number of features, if `estimator_` has this attribute.
    feature_names_in_ : ndarray of str
        Names of the features, if `estimator_` has this attribute.

    See Also
    --------
    ramify.decision.mandatory_leaves : The same decision rule for given scores.

    Notes
    -----
    If y has one label or path per row, so do the predictions: k is 1.

    Examples
    --------
    >>> from ramify import MandatoryLeafClassifier, PCTClassifier, load_animals
    >>> data = load_animals()
    >>> X, y, X_test, y_test = data.X[::2], data.y[::2], data.X[1::2], data.y[1::2]
    >>> tree = PCTClassifier(data.hierarchy, random_state=0)
    >>> model = MandatoryLeafClassifier(tree, k=2).fit(X, y)
    >>> data.hierarchy.decode(model.predict(X_test[:2]))
    [('habitat/land/forest', 'taxonomy/amphibian/caudata/salamandridae'),
     ('habitat/land/rainforest', 'taxonomy/amphibian/anura/dendrobatidae')]
    """

    alpha_: float

    _saved_schema: ClassVar[Schema] = {
        "alpha_": Number(0),
    }

    def __init__(
        self,
        estimator: Any,
        *,
        hierarchy: Hierarchy | None = None,
        objective: str = "map",
        solver: str = "greedy",
        alpha: Any = "balanced",
        k: int | None = None,
        costs: Any = "shared",
        coherence: str = "isotonic",
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.hierarchy = hierarchy
        self.objective = objective
        self.solver = solver
        self.alpha = alpha
        self.k = k
        self.costs = costs
        self.coherence = coherence
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        check_choice("objective", self.objective, OBJECTIVES)
        check_choice("solver", self.solver, SOLVERS)
        if isinstance(self.alpha, str):
            check_choice("alpha", self.alpha, ("balanced",))
        else:
            check_number("alpha", self.alpha, 0, 1e9)
        if self.k is not None:
            check_number("k", self.k, 1, whole=True)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MandatoryLeafClassifier:
        """Fit the classifier and set `alpha_`.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Training rows in a form that the estimator accepts.
        y : array-like
            Labels of the n rows, in any format accepted by `ramify.labels.read_labels`.
        sample_weight : array-like of shape (n,), optional
            Sample weights for the estimator's `fit`. Rows of weight 0 are also ignored in
            `alpha_`.

        Returns
        -------
        MandatoryLeafClassifier
            The fitted classifier.
        """
        X, encoded, weights = self._read_wrapped(X, y, sample_weight)
        check_leaf_counts(self.k, 1, self.hierarchy_)
        self.alpha_ = self._weight_of_missed(encoded.Y[weights > 0])
        self._fit_estimator(X, encoded, None if sample_weight is None else weights)
        return self

    def _weight_of_missed(self, Y: sparse.csr_array[np.int32]) -> float:
        if self.alpha != "balanced":
            return float(self.alpha)
        return min(label_imbalance(Y), 1e9)  # infinite if no row has a label

    def predict(
        self,
        X: Any,
        threshold: Any = None,
        *,
        candidates: str = "specific",
        decide: str = "jointly",
        k: Any = None,
    ) -> Any:
        """Predict label sets whose paths end in leaves, in the format of y in `fit`.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows with the same features as in `fit`.
        threshold : None
            Must be None, because label sets above a threshold need not end in leaves.
        candidates : {"specific", "all"}
            Has no effect, because all paths end in leaves.
        decide : {"jointly", "separately"}
            Has no effect, because `objective` decides.
        k : int or array-like of shape (n,), optional
            Number of leaves to predict, for all rows or per row; overrides the parameter `k`. Must
            be None if y had one label per row in `fit`.

        Returns
        -------
        array or list
            n label sets, paths or classes, in the format of y in `fit`.
        """
        check_is_fitted(self)
        check_choice("candidates", candidates, CANDIDATES)
        check_choice("decide", decide, DECISIONS)
        if threshold is not None:
            raise ValueError(
                f"threshold must be None, got {threshold!r}. Pass k=... for a number of leaves, "
                "or apply the threshold to predict_proba with ramify.decision.apply_threshold."
            )
        if self.format_.single_label and k is not None:
            raise ValueError(
                f"k must be None if y had one label per row in fit, got {k!r}. Omit k, or fit "
                "with label sets."
            )
        return self.format_.write(self._leaf_sets(X, self.k if k is None else k))

    def _predict_sets(self, X: Any, asked: Asked = USUAL) -> sparse.csr_array[np.int32]:
        check_is_fitted(self)
        return self._leaf_sets(X, self.k)

    def _leaf_sets(self, X: Any, k: Any) -> sparse.csr_array[np.int32]:
        scores, conditional = self._decision_scores(X)
        return mandatory_leaves(
            scores,
            self.hierarchy_,
            objective=self.objective,
            solver=self.solver,
            k=1 if self.format_.single_label else k,
            alpha=self.alpha_,
            costs=self.costs,
            conditional=conditional,
            n_jobs=self.n_jobs,
        )

    def _decision_scores(self, X: Any) -> tuple[NDArray[np.float64], bool]:
        if self.objective == "map" and hasattr(self.estimator_, "predict_conditional_proba"):
            return self.estimator_.predict_conditional_proba(X), True
        return np.clip(np.asarray(self.predict_proba(X)), 0.0, 1.0), False


# ---- the methods of Bi and Kwok (2012) ------------------------------------------------------


LEAF_METHODS = ("mas", "masr", "hmc_lp", "hbr", "clus_hmc", "br")
"""The names of the methods."""


def make_leaf_classifier(
    method: str,
    hierarchy: Hierarchy | None = None,
    *,
    alpha: Any = "cv",
    n_jobs: int | None = None,
    random_state: Any = None,
) -> Any:
    """Return the classifier for mandatory leaf prediction with the given name.

    These are the methods that Bi and Kwok (2012) compare.

    Parameters
    ----------
    method : {"mas", "masr", "hmc_lp", "hbr", "clus_hmc", "br"}
        "mas" and "masr" are `MandatoryLeafClassifier` with the objectives "map" and "risk" around
        `SiblingLassoClassifier`. "hmc_lp" is `LevelPowerset` around the same linear model, for
        trees only. "hbr", "clus_hmc" and "br" are `MetaLabeler` around a
        `SiblingLassoClassifier`, a `PCTClassifier`, and one linear model per leaf.
    hierarchy : Hierarchy, optional
        The label hierarchy. If None, a tree is inferred from path labels; all other labels are
        treated as flat.
    alpha : "cv" or float
        Parameter `alpha` of the linear models; see `SiblingLassoClassifier`.
    n_jobs : int, optional
        Number of models to fit in parallel; -1 means all cores. The result does not
        depend on it.
    random_state : int, RandomState instance or None
        The `random_state` of all models.

    Returns
    -------
    classifier
        The unfitted classifier.

    Examples
    --------
    >>> from ramify.meta import make_leaf_classifier
    >>> make_leaf_classifier("mas", alpha=0.1)
    MandatoryLeafClassifier(estimator=SiblingLassoClassifier(alpha=0.1))
    """
    check_choice("method", method, LEAF_METHODS)
    lasso = SiblingLassoClassifier(alpha=alpha, random_state=random_state)
    if method in ("mas", "masr"):
        objective = "map" if method == "mas" else "risk"
        lasso.set_params(n_jobs=n_jobs)
        return MandatoryLeafClassifier(
            lasso, hierarchy=hierarchy, objective=objective, n_jobs=n_jobs
        )
    if method == "hmc_lp":
        return LevelPowerset(lasso, hierarchy=hierarchy, n_jobs=n_jobs, random_state=random_state)
    if method == "br":
        each = FlatClassifier(estimator=lasso, n_jobs=n_jobs, random_state=random_state)
        return MetaLabeler(each, hierarchy=hierarchy, counter=lasso, leaves_only=True)
    if method == "hbr":
        inner = SiblingLassoClassifier(alpha=alpha, n_jobs=n_jobs, random_state=random_state)
        return MetaLabeler(inner, hierarchy=hierarchy, counter=lasso)
    tree = PCTClassifier(min_samples_leaf=5, random_state=random_state)
    return MetaLabeler(tree, hierarchy=hierarchy, counter=lasso)
