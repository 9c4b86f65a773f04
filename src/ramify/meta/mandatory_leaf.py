"""A classifier whose label sets always end in leaves."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from ramify._validation import check_choice, check_number
from ramify.decision import mandatory_leaves
from ramify.decision.leaves import OBJECTIVES, SOLVERS, check_leaf_counts
from ramify.hierarchy.hierarchy import Hierarchy
from ramify.meta.base import WrappingClassifier
from ramify.metrics import label_imbalance

__all__ = ["MandatoryLeafClassifier"]


class MandatoryLeafClassifier(WrappingClassifier):
    """Predict label sets whose paths all end in leaves: MAS and MASR over any classifier.

    Of all such sets the prediction is the one with the largest joint probability, or with the
    smallest expected loss, by the probabilities of another classifier.

    Parameters
    ----------
    estimator : classifier
        One of ours, a pipeline with one of ours, or any other with `predict_proba` for label
        matrices. A fitted one in scikit-learn's FrozenEstimator is used as it is. If it has
        `predict_conditional_proba`, as `SiblingLassoClassifier`, these probabilities of labels
        given their parents decide for the objective "map".
    hierarchy : Hierarchy, optional
        The labels. None takes the estimator's, or infers them from y.
    objective : {"map", "risk"}
        "map": the largest joint probability of all labels (MAS). "risk": the smallest expected
        `ramify.metrics.symmetric_loss` (MASR).
    solver : {"greedy", "exact"}
        How the best set is searched for; see `ramify.decision.mandatory_leaves`.
    alpha : "balanced" or float
        For "risk": how much more a missed label weighs than a wrongly predicted one. "balanced":
        `ramify.metrics.label_imbalance` of the training labels.
    k : int, optional
        The number of leaves of every prediction. None: as many as are best.
    costs : {"shared", "uniform"} or array-like of shape (n_labels,)
        For "risk": what labels weigh, as in `ramify.metrics.hmc_loss`.
    coherence : {"isotonic", "max", "min"}
        How scores are repaired that break the hierarchy; see `ramify.decision.make_coherent`.
    n_jobs : int, optional
        The number of threads of the search, -1 for all cores.

    Attributes
    ----------
    alpha_ : float
        The weight of missed labels.
    estimator_ : classifier
        The fitted classifier.
    hierarchy_ : Hierarchy
        The hierarchy given or inferred.
    classes_ : ndarray of shape (n_labels,)
        The labels, in the order of the columns of `predict_proba`.
    n_features_in_ : int
        The number of features, if the estimator tells.
    feature_names_in_ : ndarray of str
        Their names, if the estimator knows them.

    See Also
    --------
    ramify.decision.mandatory_leaves : The decision itself, for scores that are there already.

    Notes
    -----
    If y has one label or path per row, the prediction has one, too: k is 1.

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
        """Fit the classifier, and weigh missed labels.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            What the estimator takes.
        y : array-like
            n label sets in any format of `ramify.labels.read_labels`.
        sample_weight : array-like of shape (n,), optional
            The weights of the rows, for the estimator's `fit`.

        Returns
        -------
        MandatoryLeafClassifier
            Itself.
        """
        X, encoded, weights = self._read_wrapped(X, y, sample_weight)
        check_leaf_counts(self.k, 1, self.hierarchy_)
        self.alpha_ = self._weight_of_missed(encoded.Y[weights > 0])
        self._fit_estimator(X, encoded, None if sample_weight is None else weights)
        return self

    def _weight_of_missed(self, Y: sparse.csr_array[np.int32]) -> float:
        if self.alpha != "balanced":
            return float(self.alpha)
        return min(label_imbalance(Y), 1e9)  # without any label it is infinite

    def predict(self, X: Any, threshold: Any = None, *, k: Any = None) -> Any:
        """Return label sets whose paths end in leaves, in the format that `fit` was given.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows with the columns of `fit`.
        threshold : None
            Must be None: labels from a threshold on need not end in leaves.
        k : int or array-like of shape (n,), optional
            How many leaves to predict, in place of the parameter of this name; not if y had one
            label per row.

        Returns
        -------
        array or list
            n label sets, paths or classes, as y came to `fit`.
        """
        check_is_fitted(self)
        if threshold is not None:
            raise ValueError(
                f"threshold must be None, got {threshold!r}: labels above a threshold need not "
                "end in leaves. Pass k=... for a number of leaves, or apply the threshold to "
                "predict_proba with ramify.decision.apply_threshold."
            )
        if self.format_.single_label and k is not None:
            raise ValueError(
                f"k is {k!r}, but y had one label per row in fit, and so has the prediction. "
                "Leave k out, or fit with label sets."
            )
        return self.format_.write(self._leaf_sets(X, self.k if k is None else k))

    def _predict_sets(self, X: Any, threshold: Any = None) -> sparse.csr_array[np.int32]:
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
        return np.clip(self.predict_proba(X), 0.0, 1.0), False
