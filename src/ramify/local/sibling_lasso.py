"""Logistic regressions of sibling labels with a joint selection of features."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import closing
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

from ramify._base.classifier import ArrayClassifier, share_classes
from ramify._parallel import in_parallel
from ramify._progress import track
from ramify._schema import Anything, Array, MapOf, Maybe, Number, Part, Schema, Sparse, Whole
from ramify._validation import check_choice, check_folds, check_number
from ramify.data.features import read_features
from ramify.labels.encoding import EncodedLabels
from ramify.labels.hierarchy import Hierarchy
from ramify.local.lasso_groups import (
    Group,
    GroupFit,
    LinearFeatures,
    PenaltyRule,
    find_groups,
    fit_group,
    learn_features,
)
from ramify.local.learning import multiply_down
from ramify.local.problems import ROOT, edges_of


class SiblingLassoClassifier(ArrayClassifier):
    """Logistic regression with a multitask lasso for each group of siblings.

    The children of a label are learnt jointly on the rows that have the label. The L2,1 penalty,
    the sum of the norms of the features' coefficient vectors, selects or drops each feature for
    all siblings at once. The models estimate P(child | parent). The probability of a label is the
    product along its path; for a label with several parents, it is the minimum of
    P(child | parent) P(parent) over its parents.

    Parameters
    ----------
    hierarchy : Hierarchy, optional
        The label hierarchy. If None, a tree is inferred from path labels; all other labels are
        treated as flat.
    alpha : "cv" or float
        Strength of the penalty, from 0 to 1, relative to the smallest penalty that drops all
        features of a group. "cv" chooses it for each group by cross-validation.
    n_alphas : int
        Number of values for "cv", spaced geometrically from 1 down to `alpha_min`.
    alpha_min : float
        Smallest value for "cv".
    cv : int, splitter or iterable of (train, test)
        Number of random folds in each group, or how to split all rows. Used if `alpha` is "cv".
    categorical_features : array-like of bool, int or str, optional
        The nominal features, as a boolean mask, indices or column names; see `PCTClassifier`.
        They are encoded as columns of 0 and 1; missing numbers are replaced with the mean of the
        feature.
    tol : float
        Tolerance: the solver stops when the duality gap, an upper bound on the distance of the
        objective from its minimum, is at most `tol` times the loss without any feature.
    max_iter : int
        Maximum number of steps for one penalty. A ConvergenceWarning is issued if `tol` is not
        reached.
    n_jobs : int, optional
        Number of groups to fit in parallel; -1 means all cores. The result does not
        depend on it.
    random_state : int, RandomState instance or None
        Controls the folds if `cv` is an integer. Pass an int for reproducible results.
    verbose : bool
        Whether to show a progress bar (requires rich).

    Attributes
    ----------
    coef_ : csc_array of shape (n_columns, n_edges)
        Coefficients of the standardised features: those of X, or its numeric features followed by
        the categories of its nominal features.
    intercept_ : ndarray of shape (n_edges,)
        Intercepts. If all rows of a parent agree on a child, the intercept is 50 or -50.
    edges_ : list of (parent, child)
        The edges in the order of their child in `classes_`; the parent of top-level labels is
        None.
    alphas_ : dict of label to float
        The `alpha` of each group by parent; the key of the top level is None.
    n_iter_ : int
        Largest number of steps for one penalty.
    hierarchy_ : Hierarchy
        The label hierarchy, as passed or as inferred from y.
    classes_ : ndarray of shape (n_labels,)
        The labels, in the order of the columns of `predict_proba`.

    See Also
    --------
    MandatoryLeafClassifier : Mandatory leaf prediction with these probabilities (MAS of Bi and
        Kwok, 2012).

    Notes
    -----
    The problem is solved by accelerated proximal gradient steps along a path of decreasing
    penalties, each starting from the previous solution. Steps use an active set: the selected
    features and those that violate the optimality conditions. Convergence is checked by the
    duality gap over all features. Dense features are scaled to mean 0 and variance 1, sparse
    features to mean square 1 without centring.

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

    _saved_schema: ClassVar[Schema] = {
        "features_": Part(LinearFeatures, n_features="n_variables"),
        "intercept_": Array(("n_edges",)),
        "coef_": Sparse(("n_columns", "n_edges"), "f8", "csc csr"),
        "n_iter_": Whole(),
        "alphas_": MapOf(Anything(), Maybe(Number(finite=False))),
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

    def _learn(self, X: Any, encoded: EncodedLabels, weights: NDArray[np.float64]) -> None:
        self.features_ = learn_features(X, self.schema_, weights)
        columns = self.features_.transform(X)
        groups = find_groups(encoded.Y, weights, self.hierarchy_)
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        given = None if self.alpha == "cv" else float(self.alpha)
        n_folds, splits = self.cv, None
        if given is None and not isinstance(self.cv, int | np.integer):
            n_folds, splits = 0, tuple(check_cv(self.cv).split(X, encoded.Y))
        rule = PenaltyRule(given, self.n_alphas, self.alpha_min, n_folds, seed, splits)
        tasks = (
            delayed(fit_group)(columns, weights, group, rule, tol=self.tol, max_iter=self.max_iter)
            for group in groups
        )
        shown = bool(self.verbose)
        with closing(in_parallel(tasks, n_jobs=self.n_jobs, prefer="threads")) as learnt:
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
                f" of {', '.join(map(repr, names))}{more}. Increase max_iter (currently "
                f"{self.max_iter}), tol (currently {self.tol}) or the smallest penalty.",
                ConvergenceWarning,
                stacklevel=5,
            )

    def _keep(self, groups: list[Group], fits: list[GroupFit], n_columns: int) -> None:
        n_edges = len(edges_of(self.hierarchy_)[0])
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
    def edges_(self) -> list[tuple[Any, Any]]:
        """The edges (parent, child), in the order of the columns of the coefficients."""
        labels = self.hierarchy_.labels
        return [
            (None if parent == ROOT else labels[parent], labels[child])
            for parent, child in np.stack(edges_of(self.hierarchy_), axis=1).tolist()
        ]

    def predict_conditional_proba(self, X: Any) -> NDArray[np.float64]:
        """Predict the probability of each label given each of its parents.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows with the same features as in `fit`.

        Returns
        -------
        ndarray of shape (n, n_edges)
            P(child | parent), with columns in the order of `edges_`. In a tree, this is the order
            of `classes_`.
        """
        check_is_fitted(self)
        return self._conditional(read_features(self, X, self.schema_))

    def _conditional(self, X: Any) -> NDArray[np.float64]:
        columns = self.features_.transform(X)
        # A dense product by BLAS would make the last digits of a row depend on the other rows.
        z: Any = sparse.csr_array(self.coef_.T) @ columns.T
        is_sparse = sparse.issparse(z)
        dense = z.toarray() if is_sparse else np.asarray(z)
        return np.ascontiguousarray(expit(dense.T + self.intercept_))

    def _predict_scores(self, X: Any) -> NDArray[np.float64]:
        conditional = self._conditional(X)
        found = multiply_down(conditional.T, *edges_of(self.hierarchy_), self.hierarchy_)
        scores = np.ascontiguousarray(found)
        return share_classes(scores, self.format_)

    def _set_saved_state(self, state: Mapping[str, Any]) -> None:
        super()._set_saved_state(state)
        if "coef_" not in state:
            return
        n_edges = len(edges_of(self.hierarchy_)[0])
        if (
            not np.array_equal(self.features_.n_categories, self.schema_.n_categories)
            or self.intercept_.shape != (n_edges,)
            or self.coef_.shape != (len(self.features_.scale), n_edges)
        ):
            raise ValueError("features_, coef_ and intercept_ do not fit together")
        counts = self.schema_.n_categories
        n_columns = int(np.where(counts == 0, 1, np.where(counts == 2, 1, counts)).sum())
        if not self.features_.is_sparse and len(self.features_.scale) != n_columns:
            raise ValueError("the coefficients do not fit the categories of the features")
