"""Global-model naive Bayes: a single model for the labels of all levels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special
from sklearn.utils.validation import check_is_fitted

from ramify._base.classifier import ArrayClassifier
from ramify._base.features import read_features
from ramify._schema import Array, Number, Part, Schema
from ramify._validation import check_choice, check_number
from ramify.decision import make_coherent
from ramify.hierarchy.hierarchy import Hierarchy
from ramify.naive_bayes.features import CategoryTables, Gaussians

__all__ = ["GlobalNaiveBayes"]


class GlobalNaiveBayes(ArrayClassifier):
    r"""Global-model naive Bayes classifier for labels that form a hierarchy.

    A single model covers the labels of all levels, which compete to be the label at which the
    path of a row ends. The prior of a label, and the distributions of the features given the
    label, are estimated from the rows with the label, which include the rows of its descendants.
    The path of a row ends at label c with probability

    .. math:: q_c \propto P(c) \prod_f P(x_f \mid c)

    over all candidates. The probability of a label is the sum of q over the label and its
    descendants.

    Parameters
    ----------
    hierarchy : Hierarchy, optional
        The label hierarchy. If None, a tree is inferred from path labels; all other labels are
        treated as flat.
    candidates : {"all", "specific"}
        The labels at which paths can end. "specific": only labels that are the most specific
        label of some training row. "all": every label, as in Silla and Freitas (2009); an inner
        label then competes with its descendants and, with many features, often outweighs all of
        them.
    smoothing : float
        Additive smoothing: added to the count of every category of a nominal feature.
    var_smoothing : float
        Fraction of the largest variance of all features that is added to all variances.
    categorical_features : array-like of bool, int or str, optional
        The nominal features, as a boolean mask, indices or column names. String and categorical
        columns of a data frame are always nominal. Nominal columns of an array must contain
        integer codes 0, 1, ….

    Attributes
    ----------
    log_prior_ : ndarray of shape (n_labels,)
        Logarithm of the prior probability of each label, -inf for labels that are not candidates.
    log_prior_none_ : float
        Logarithm of the prior probability of having no label.
    gaussians_ : Gaussians
        Means and variances of the numeric features: one row per label, and a last row for the
        training rows without labels.
    tables_ : CategoryTables
        Log frequencies of the categories of nominal features, with the same rows.
    hierarchy_ : Hierarchy
        The label hierarchy, as passed or as inferred from y.
    classes_ : ndarray of shape (n_labels,)
        The labels, in the order of the columns of `predict_proba`.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features seen during `fit`. Defined only if X was a data frame with string
        column names.

    Notes
    -----
    The model assumes that every row has a single path. If rows have several paths, `fit` uses all
    of them, but the probabilities of the ends of the paths still sum to 1; lower thresholds are
    then required.

    Missing values are ignored, both in `fit` and in `predict_proba`, and so are categories that
    did not occur in `fit`. On flat labels with one label per row, the model is equivalent to
    GaussianNB and CategoricalNB of scikit-learn combined.

    References
    ----------
    C. N. Silla Jr and A. A. Freitas. A global-model naive Bayes approach to the hierarchical
    prediction of protein functions. IEEE International Conference on Data Mining, 2009.

    Examples
    --------
    >>> from ramify import GlobalNaiveBayes
    >>> X = [[1.0], [1.2], [2.0], [2.2], [8.0], [8.3]]
    >>> y = ["animal/cat", "animal/cat", "animal/dog", "animal/dog", "plant", "plant"]
    >>> GlobalNaiveBayes().fit(X, y).predict([[1.1], [8.1]])
    array(['animal/cat', 'plant'], dtype='<U10')
    """

    log_prior_: NDArray[np.float64]
    log_prior_none_: float
    gaussians_: Gaussians
    tables_: CategoryTables

    _saved_schema: ClassVar[Schema] = {
        "log_prior_": Array(("n_labels",), high=0, finite=False),
        "log_prior_none_": Number(finite=False),
        "gaussians_": Part(Gaussians, n_groups="n_labels+1", n_features="n_features_in_"),
        "tables_": Part(CategoryTables, n_groups="n_labels+1", n_features="n_features_in_"),
    }

    def __init__(
        self,
        hierarchy: Hierarchy | None = None,
        *,
        candidates: str = "specific",
        smoothing: float = 1.0,
        var_smoothing: float = 1e-9,
        categorical_features: Any = None,
    ) -> None:
        self.hierarchy = hierarchy
        self.candidates = candidates
        self.smoothing = smoothing
        self.var_smoothing = var_smoothing
        self.categorical_features = categorical_features

    def _check_parameters(self) -> None:
        check_choice("candidates", self.candidates, ("all", "specific"))
        check_number("smoothing", self.smoothing, 0)
        check_number("var_smoothing", self.var_smoothing, 0)

    def _learn(self, X: Any, Y: sparse.csr_array[np.int32], weights: NDArray[np.float64]) -> None:
        if not (weights > 0).all():
            rows = np.flatnonzero(weights > 0)
            X = cast("Any", X).tocsr() if sparse.issparse(X) else X
            X, Y, weights = X[rows], Y[rows], weights[rows]
        without = sparse.csr_array((np.diff(Y.indptr) == 0).astype(np.float64)[:, None])
        # The weight of each row of X: one row per label, and a last row for rows without labels.
        shares: Any = sparse.csr_array(sparse.hstack([Y, without])).T.multiply(weights).tocsr()
        prior = np.asarray(shares.sum(axis=1), dtype=np.float64)
        prior[:-1][~self._is_candidate(Y)] = 0.0
        with np.errstate(divide="ignore"):
            log_prior = np.log(prior / prior.sum())
        self.log_prior_, self.log_prior_none_ = log_prior[:-1], float(log_prior[-1])
        n_categories = self.schema_.n_categories
        self.gaussians_ = Gaussians.learn(X, shares, n_categories == 0, float(self.var_smoothing))
        self.tables_ = CategoryTables.learn(X, shares, n_categories, float(self.smoothing))

    def _is_candidate(self, Y: sparse.csr_array[np.int32]) -> NDArray[np.bool_]:
        if self.candidates == "all":
            return np.ones(Y.shape[1], dtype=bool)
        # The path of a row ends at a label if the row has none of the label's children.
        indptr, indices = self.hierarchy_.parent_rows
        ones = np.ones(len(indices), dtype=np.int32)
        above = sparse.csr_array((ones, indices, indptr), shape=(Y.shape[1], Y.shape[1]))
        has_child_of = Y @ above
        has_child_of.data[:] = 1
        ends = Y - Y.multiply(has_child_of)
        return np.asarray(ends.sum(axis=0) > 0)

    def predict_joint_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return log P(c) plus the sum of log P(x_f | c) for every label c.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows with the same features as in `fit`.

        Returns
        -------
        ndarray of shape (n, n_labels)
            Joint log probabilities, -inf for labels at which no path ends.
        """
        check_is_fitted(self)
        return self._joint(read_features(self, X, self.schema_))[:, :-1]

    def _joint(self, X: Any) -> NDArray[np.float64]:
        joint = np.tile([*self.log_prior_, self.log_prior_none_], (X.shape[0], 1))
        self.gaussians_.add_log_densities(X, joint)
        self.tables_.add_log_frequencies(X, joint)
        return joint

    def _predict_scores(self, X: Any) -> NDArray[np.float64]:
        ends = special.softmax(self._joint(X), axis=1)[:, :-1]
        indptr, indices = self.hierarchy_.ancestor_rows
        n_labels = self.hierarchy_.n_labels
        ones = np.ones(len(indices))
        above = sparse.csr_array((ones, indices, indptr), shape=(n_labels, n_labels))
        # With a sparse product, the result for a row does not depend on the other rows.
        scores = ends + np.asarray((above.T @ ends.T).T)
        return make_coherent(np.minimum(scores, 1.0), self.hierarchy_, "max")

    def _set_saved_state(self, state: Mapping[str, Any]) -> None:
        super()._set_saved_state(state)
        if "gaussians_" not in state:
            return
        n_labels = self.hierarchy_.n_labels
        if (
            not isinstance(self.gaussians_, Gaussians)
            or not isinstance(self.tables_, CategoryTables)
            or np.shape(self.log_prior_) != (n_labels,)
        ):
            raise ValueError("log_prior_, gaussians_ and tables_ do not fit together")
        self.gaussians_.check(n_labels + 1, self.n_features_in_)
        self.tables_.check(n_labels + 1, self.schema_.n_categories)
