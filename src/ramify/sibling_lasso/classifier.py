"""Logistic models of sibling labels that share their features."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from joblib import delayed
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ramify._base.classifier import ArrayClassifier
from ramify._base.features import read_features
from ramify._parallel import in_parallel
from ramify._progress import track
from ramify._savable import renamed_attribute
from ramify._validation import check_choice, check_folds, check_number
from ramify.hierarchy.hierarchy import Hierarchy
from ramify.local.combining import multiply_down
from ramify.local.problems import ROOT
from ramify.sibling_lasso.features import LinearFeatures, learn_features
from ramify.sibling_lasso.groups import (
    Group,
    GroupFit,
    PenaltyRule,
    edge_list,
    find_groups,
    fit_group,
)

__all__ = ["SiblingLassoClassifier"]


class SiblingLassoClassifier(ArrayClassifier):
    """A sparse logistic model for every group of siblings: the multitask lasso.

    The children of a label are learnt together, from the rows that have the label: logistic
    regressions whose penalty, the sum of the lengths of the features' coefficient vectors (L2,1),
    drops a feature for all siblings or for none. They estimate P(child | parent); the
    probability of a label is the product along its path, the smallest one over its parents.

    Parameters
    ----------
    hierarchy : Hierarchy, optional
        The labels. None infers a tree from path labels, and takes other labels as flat.
    alpha : "cv" or float
        The strength of the penalty, from 0 to 1, relative to the smallest one that drops all
        features of a group. "cv" chooses it for each group by cross-validation.
    n_alphas : int
        The number of values that "cv" tries, in equal ratios from 1 down to `alpha_min`.
    alpha_min : float
        The smallest value that "cv" tries.
    cv : int, splitter or iterable of (train, test)
        The folds of that cross-validation: their number in each group, or how to split all rows.
    categorical_features : array-like of bool, int or str, optional
        Nominal columns as a mask, positions or names; as for `PCTClassifier`. They become
        columns of 0 and 1, and unknown numbers the column's mean.
    tol : float
        Steps end when the duality gap, which bounds the distance from the minimum, is at most
        this share of the loss without any feature.
    max_iter : int
        The most steps for one penalty. A ConvergenceWarning tells if they did not do.
    n_jobs : int, optional
        How many groups are learnt at a time, -1 for as many as there are cores. Nothing depends
        on it but the time.
    random_state : int, RandomState instance or None
        Draws the folds.
    verbose : bool
        Whether to show a progress bar.

    Attributes
    ----------
    coef_ : csc_array of shape (n_columns, n_edges)
        Coefficients for columns of one scale: X itself, or its numbers, then its categories.
    intercept_ : ndarray of shape (n_edges,)
        Intercepts. Where all rows of a parent agree on a child they are ±50.
    edges_ : list of (parent, child)
        The edges, labels in order; the parent of top-level labels is None.
    alphas_ : dict of label to float
        The `alpha` of each parent's group, None for the top level.
    n_iter_ : int
        The most steps that a penalty has taken.
    hierarchy_ : Hierarchy
        The hierarchy given or inferred.
    classes_ : ndarray of shape (n_labels,)
        The labels, in the order of the columns of `predict_proba`.

    See Also
    --------
    MandatoryLeafClassifier : Decides by these probabilities (MAS of Bi and Kwok, 2012).

    Notes
    -----
    Solutions are found by accelerated proximal gradient steps, for falling penalties, each from
    the solution before. Steps go over the features in use and those whose gradient asks for it;
    the duality gap of all features decides whether that was enough. Columns are brought to
    variance 1, dense ones also to mean 0.

    Examples
    --------
    >>> from ramify import SiblingLassoClassifier
    >>> X = [[1.0, 0.0], [2.0, 0.0], [3.0, 1.0], [4.0, 1.0]]
    >>> y = ["animal/cat", "animal/cat", "animal/dog", "plant"]
    >>> model = SiblingLassoClassifier(alpha=0.1).fit(X, y)
    >>> model.predict([[1.5, 0.0], [4.0, 1.0]])
    array(['animal/cat', 'plant'], dtype='<U10')
    >>> model.edges_
    [(None, 'animal'), ('animal', 'animal/cat'), ('animal', 'animal/dog'), (None, 'plant')]
    """

    features_: LinearFeatures
    coef_: Any
    intercept_: NDArray[np.float64]
    alphas_: dict[Any, float]
    n_iter_: int

    _renamed: ClassVar[dict[str, str]] = {
        "penalty": "alpha",
        "n_penalties": "n_alphas",
        "min_penalty": "alpha_min",
        "n_folds": "cv",
        "penalties_": "alphas_",
    }

    def __init__(
        self,
        hierarchy: Hierarchy | None = None,
        *,
        alpha: Any = "cv",
        n_alphas: int = 6,
        alpha_min: float = 0.03,
        cv: Any = 3,
        categorical_features: Any = None,
        tol: float = 1e-3,
        max_iter: int = 2000,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.hierarchy = hierarchy
        self.alpha = alpha
        self.n_alphas = n_alphas
        self.alpha_min = alpha_min
        self.cv = cv
        self.categorical_features = categorical_features
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        if isinstance(self.alpha, str):
            check_choice("alpha", self.alpha, ("cv",))
        else:
            check_number("alpha", self.alpha, 1e-6, 1)
        check_number("n_alphas", self.n_alphas, 2, whole=True)
        check_number("alpha_min", self.alpha_min, 1e-6, 0.99)
        check_folds(self.cv)
        check_number("tol", self.tol, 0)
        check_number("max_iter", self.max_iter, 1, whole=True)

    def _learn(self, X: Any, Y: sparse.csr_array[np.int32], weights: NDArray[np.float64]) -> None:
        self.features_ = learn_features(X, self.schema_, weights)
        columns = self.features_.transform(X)
        groups = find_groups(Y, weights, self.hierarchy_)
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        given = None if self.alpha == "cv" else float(self.alpha)
        n_folds, splits = self.cv, None
        if given is None and not isinstance(self.cv, int | np.integer):
            n_folds, splits = 0, tuple(check_cv(self.cv).split(X, Y))
        rule = PenaltyRule(given, self.n_alphas, self.alpha_min, n_folds, seed, splits)
        tasks = (
            delayed(fit_group)(columns, weights, group, rule, tol=self.tol, max_iter=self.max_iter)
            for group in groups
        )
        learnt = in_parallel(tasks, n_jobs=self.n_jobs, prefer="threads")
        shown = bool(self.verbose)
        fits = list(track(learnt, len(groups), "Fitting sibling groups", shown=shown))
        self._keep(groups, fits, columns.shape[1])
        self._warn_of(groups, fits)

    def _warn_of(self, groups: list[Group], fits: list[GroupFit]) -> None:
        failed = [g.parent for g, fit in zip(groups, fits, strict=True) if not fit.converged]
        if failed:
            names = [None if p == ROOT else self.hierarchy_.labels[p] for p in failed[:3]]
            more = ", ..." if len(failed) > 3 else ""
            warnings.warn(
                f"{len(failed)} of {len(groups)} groups of siblings did not converge: the children"
                f" of {', '.join(map(repr, names))}{more}. Raise max_iter (it is {self.max_iter}),"
                f" tol (it is {self.tol}) or the smallest penalty.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _keep(self, groups: list[Group], fits: list[GroupFit], n_columns: int) -> None:
        n_edges = len(edge_list(self.hierarchy_))
        self.intercept_ = np.empty(n_edges)
        rows, edges, values = [], [], []
        for group, fit in zip(groups, fits, strict=True):
            self.intercept_[group.edges] = fit.intercept
            place, column = np.nonzero(fit.coef)
            rows.append(fit.used[place])
            edges.append(group.edges[fit.learnt][column])
            values.append(fit.coef[place, column])
        cells = (np.concatenate(values), (np.concatenate(rows), np.concatenate(edges)))
        self.coef_ = sparse.csc_array(cells, shape=(n_columns, n_edges))
        names = [None if g.parent == ROOT else self.hierarchy_.labels[g.parent] for g in groups]
        self.n_iter_ = max(fit.n_iter for fit in fits)
        self.alphas_ = {name: fit.penalty for name, fit in zip(names, fits, strict=True)}

    @property
    def penalties_(self) -> dict[Any, float]:
        """Deprecated name of `alphas_`."""
        found: dict[Any, float] = renamed_attribute(self, "penalties_")
        return found

    @property
    def edges_(self) -> list[tuple[Any, Any]]:
        """The edges (parent, child), in the order of the columns of the coefficients."""
        labels = self.hierarchy_.labels
        return [
            (None if parent == ROOT else labels[parent], labels[child])
            for parent, child in edge_list(self.hierarchy_)
        ]

    def predict_conditional_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of every label given its parents, one by one.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        ndarray of shape (n, n_edges)
            P(child | parent), columns in the order of `edges_`; in a tree that of `classes_`.
        """
        check_is_fitted(self)
        return self._conditional(read_features(self, X, self.schema_))

    def _conditional(self, X: Any) -> NDArray[np.float64]:
        columns = self.features_.transform(X)
        # Not a dense product: that of BLAS would let a row depend on the others.
        z: Any = sparse.csr_array(self.coef_.T) @ columns.T
        is_sparse = sparse.issparse(z)
        dense = z.toarray() if is_sparse else np.asarray(z)
        return np.ascontiguousarray(expit(dense.T + self.intercept_))

    def _predict_scores(self, X: Any) -> NDArray[np.float64]:
        conditional = self._conditional(X)
        edges = edge_list(self.hierarchy_)
        return np.ascontiguousarray(multiply_down(conditional.T, edges, self.hierarchy_))

    def _set_saved_state(self, state: Mapping[str, Any]) -> None:
        super()._set_saved_state(state)
        if "coef_" not in state:
            return
        n_edges = len(edge_list(self.hierarchy_))
        if (
            not isinstance(self.features_, LinearFeatures)
            or self.intercept_.shape != (n_edges,)
            or self.coef_.shape != (len(self.features_.scale), n_edges)
        ):
            raise ValueError("the coefficients do not fit the features and the labels")
