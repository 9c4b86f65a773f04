"""Distributions of features given a label: normal for numeric, tables for nominal features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special
from sklearn.utils.validation import check_is_fitted

from ramify._base.classifier import ArrayClassifier
from ramify._savable import savable
from ramify._schema import Array, MapOf, Number, Part, Schema, Whole
from ramify._validation import check_choice, check_number
from ramify.data.features import read_features
from ramify.data.rows import by_columns, by_rows, indicator
from ramify.decision import make_coherent
from ramify.labels.encoding import EncodedLabels
from ramify.labels.hierarchy import Hierarchy
from ramify.labels.unknown import UnknownLabels, known_shares

Matrix = NDArray[np.float64]

_CELLS_AT_A_TIME = 4_000_000


def _column(X: Any, feature: int) -> Matrix:
    if sparse.issparse(X):
        return np.asarray(cast("Any", X)[:, [feature]].toarray(), dtype=np.float64)[:, 0]
    return np.asarray(X[:, feature], dtype=np.float64)


def _cells(X: Any, features: NDArray[np.int64]) -> Any:
    """Return some columns as a csr_array without zeros; cells of a row are in increasing order."""
    whole = len(features) == X.shape[1]
    if sparse.issparse(X):
        rows: Any = sparse.csr_array(
            cast("Any", X) if whole else cast("Any", X).tocsc()[:, features]
        )
        rows = rows.astype(np.float64)  # a copy: what follows changes it
        rows.sum_duplicates()
        rows.eliminate_zeros()
        return rows
    return sparse.csr_array(np.asarray(X if whole else X[:, features], dtype=np.float64))


def _is_thin(X: Any, features: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which columns are 0 in more than half of the rows, however X is stored."""
    if sparse.issparse(X):
        columns: Any = sparse.csc_array(cast("Any", X))
        stored = np.add.reduceat(
            np.append(columns.data != 0, False), columns.indptr[:-1], dtype=np.int64
        )
        n_cells = np.where(np.diff(columns.indptr) > 0, stored, 0)[features]
    else:
        n_cells = np.count_nonzero(np.asarray(X)[:, features], axis=0)
    return np.asarray(n_cells < X.shape[0] / 2)


@savable
@dataclass(frozen=True)
class Gaussians:
    """Mean and variance of each numeric feature in each group of rows.

    Thin features, 0 in most training rows, are only computed where they are not 0, for sparse and
    dense X alike, and therefore give the same bits.
    """

    features: NDArray[np.int64]  # indices of the numeric features
    # Means and variances. A variance of 0 means that the feature is missing in all rows of the
    # group; it is then ignored.
    mean: Matrix
    variance: Matrix
    thin: NDArray[np.bool_]  # which features are thin
    # The log density of a row of zeros in each group, summed over the thin features.
    at_zero: Matrix

    _saved_schema: ClassVar[Schema] = {
        "features": Array(("n_numeric",), "i8", low=0, below="n_features"),
        "mean": Array(("n_groups", "n_numeric")),
        "variance": Array(("n_groups", "n_numeric"), low=0),
        "thin": Array(("n_numeric",), "b1"),
        "at_zero": Array(("n_groups",)),
    }

    @classmethod
    def learn(
        cls, X: Any, shares: Any, is_numeric: NDArray[np.bool_], var_smoothing: float
    ) -> Gaussians:
        """Estimate the means and variances."""
        features = np.flatnonzero(is_numeric)
        thin = _is_thin(X, features)
        mean = np.zeros((shares.shape[0], len(features)))
        variance = np.zeros_like(mean)
        # The groups overlap, so the variance over all rows counts every row once.
        once = sparse.csr_array((shares.sum(axis=0)[None, :] > 0).astype(np.float64))
        largest = _learn_thin(X, shares, once, features=features, thin=thin, out=(mean, variance))
        columns = by_columns(X)
        for k in np.flatnonzero(~thin):
            values = _column(columns, int(features[k]))
            mean[:, k], variance[:, k] = _moments(values, shares)
            largest = max(largest, float(_moments(values, once)[1][0]))
        # Avoid a variance of 0, with which the density would be infinite.
        added = var_smoothing * largest if var_smoothing * largest > 0 else 1e-300
        at_zero = np.zeros(len(mean))
        for part in _parts(variance):
            known = variance[part] >= 0
            mean[part] = np.where(known, mean[part], 0.0)
            variance[part] = np.where(known, variance[part] + added, 0.0)
            densities = _log_density_at_zero(mean[part][:, thin], variance[part][:, thin])
            at_zero[part] = densities.sum(axis=1)
        return cls(features, mean, variance, thin, at_zero)

    def add_log_densities(self, X: Any, out: Matrix) -> None:
        """Add log P(x_f | group) for all numeric features to `out`."""
        if self.thin.any():
            self._add_thin(_cells(X, self.features[self.thin]), np.flatnonzero(self.thin), out)
        columns = X if self.thin.all() else by_columns(X)
        for k in np.flatnonzero(~self.thin).tolist():
            values = _column(columns, int(self.features[k]))
            known = ~np.isnan(values)
            out += np.where(known[:, None], self._density(np.where(known, values, 0.0), k), 0.0)

    def _density(self, values: Matrix, k: int) -> Matrix:
        """Return log P(value | group), 0 if the feature is missing in all rows of the group."""
        mean, variance = self.mean[:, k], self.variance[:, k]
        width = np.where(variance > 0, variance, 1.0)
        density = -0.5 * (np.log(2 * np.pi * width) + (values[:, None] - mean) ** 2 / width)
        return np.asarray(np.where(variance > 0, density, 0.0))

    def _add_thin(self, cells: Any, places: NDArray[np.intp], out: Matrix) -> None:
        """Add the log densities of a row of zeros, and the differences where x is not 0.

        log P(x) - log P(0) = x mean / variance - x² / (2 variance).
        """
        out += self.at_zero
        missing = np.isnan(cells.data)
        values = np.where(missing, 0.0, cells.data)
        used, columns = np.unique(cells.indices, return_inverse=True)
        shape = (cells.shape[0], len(used))

        def rows(data: Matrix) -> Any:
            return sparse.csr_array((data, columns, cells.indptr), shape=shape)

        linear, square = rows(values), rows(values * values)
        for part in _parts(self.mean):
            # Sums run over the cells of a row in order, so a row has the same result in any batch.
            mean, variance = (a[part][:, places[used]].T for a in (self.mean, self.variance))
            with np.errstate(divide="ignore"):
                inverse = np.where(variance > 0, 1.0 / variance, 0.0)
            out[:, part] += linear @ (mean * inverse)
            out[:, part] -= square @ (0.5 * inverse)
            if missing.any():
                at_zero = _log_density_at_zero(mean, variance)
                out[:, part] -= rows(missing.astype(np.float64)) @ at_zero

    def check(self, n_groups: int, n_features: int) -> None:
        """Raise an error if loaded arrays are inconsistent."""
        shape = (n_groups, len(self.features))
        within = (self.features >= 0) & (self.features < n_features)
        if (
            self.mean.shape != shape
            or self.variance.shape != shape
            or self.thin.shape != shape[1:]
            or self.at_zero.shape != shape[:1]
            or not within.all()
        ):
            raise ValueError("mean, variance, thin and features do not fit together")


def _parts(matrix: Matrix) -> list[slice]:
    """Return slices of rows that bound the size of temporary arrays."""
    step = max(1, _CELLS_AT_A_TIME // max(1, matrix.shape[1]))
    return [slice(first, first + step) for first in range(0, len(matrix), step)]


def _log_density_at_zero(mean: Matrix, variance: Matrix) -> Matrix:
    width = np.where(variance > 0, variance, 1.0)
    density = -0.5 * (np.log(2 * np.pi * width) + mean * mean / width)
    return np.asarray(np.where(variance > 0, density, 0.0))


def _learn_thin(
    X: Any,
    shares: Any,
    once: Any,
    *,
    features: NDArray[np.int64],
    thin: NDArray[np.bool_],
    out: tuple[Matrix, Matrix],
) -> float:
    """Set the mean and variance of thin features; return their largest variance over all rows."""
    if not thin.any():
        return 0.0
    cells = _cells(X, features[thin])
    missing = sparse.csr_array(
        (np.isnan(cells.data).astype(np.float64), cells.indices, cells.indptr), shape=cells.shape
    )
    cells.data[np.isnan(cells.data)] = 0.0
    square = cells.multiply(cells).tocsr()

    def moments(shares: Any) -> tuple[Matrix, Matrix]:
        # Sums are computed in the order of the rows: the sums over all rows and over the missing
        # ones are equal if all values are missing.
        weight = (shares @ np.ones(shares.shape[1]))[:, None] - (shares @ missing).toarray()
        width = np.where(weight > 0, weight, 1.0)
        mean = (shares @ cells).toarray() / width
        variance = np.maximum((shares @ square).toarray() / width - mean**2, 0.0)
        return mean, np.where(weight > 0, variance, -1.0)

    for part in _parts(out[0]):
        out[0][part, thin], out[1][part, thin] = moments(shares[part])
    return float(moments(once)[1].max(initial=0.0))


def _moments(values: Matrix, shares: Any) -> tuple[Matrix, Matrix]:
    """Return the mean and variance in each group; variance -1 if all values are missing."""
    known = ~np.isnan(values)
    centre = float(values[known].mean()) if known.any() else 0.0
    centred = np.where(known, values - centre, 0.0)
    weight = shares @ known.astype(np.float64)
    width = np.where(weight > 0, weight, 1.0)
    mean = (shares @ centred) / width
    # Differences from the mean of each group would require one pass per group. With differences
    # from the common mean, little precision is lost.
    variance = np.maximum((shares @ centred**2) / width - mean**2, 0.0)
    return mean + centre, np.where(weight > 0, variance, -1.0)


@savable
@dataclass(frozen=True)
class CategoryTables:
    """Log frequencies of the categories of nominal features in each group of rows."""

    tables: dict[int, Matrix]  # log frequencies, by the index of the feature

    _saved_schema: ClassVar[Schema] = {
        "tables": MapOf(Whole(0, "n_features"), Array(("n_groups", "?"))),
    }

    @classmethod
    def learn(
        cls, X: Any, shares: Any, n_categories: NDArray[np.int32], smoothing: float
    ) -> CategoryTables:
        """Estimate the log frequencies."""
        X = by_columns(X)
        tables = {}
        for feature in np.flatnonzero(n_categories):
            values = _column(X, int(feature))
            size = int(n_categories[feature])
            one_hot = (values[:, None] == np.arange(size)).astype(np.float64)
            counts = np.asarray(shares @ one_hot) + max(smoothing, 1e-300)
            tables[int(feature)] = np.log(counts / counts.sum(axis=1, keepdims=True))
        return cls(tables)

    def add_log_frequencies(self, X: Any, out: Matrix) -> None:
        """Add log P(x_f | group) for all nominal features to `out`."""
        for feature, table in self.tables.items():
            values = _column(X, feature)
            known = (values >= 0) & (values < table.shape[1])  # False for NaN
            codes = np.where(known, values, 0.0).astype(np.intp)
            out += np.where(known[:, None], table[:, codes].T, 0.0)

    def check(self, n_groups: int, n_categories: NDArray[np.int32]) -> None:
        """Raise an error if loaded tables do not match the features."""
        expected = {int(f): (n_groups, int(n_categories[f])) for f in np.flatnonzero(n_categories)}
        if {feature: table.shape for feature, table in self.tables.items()} != expected:
            raise ValueError("tables and n_categories do not fit together")


# ---- the classifier -------------------------------------------------------------------------


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
        "gaussians_": Part(Gaussians, n_groups="n_labels+1", n_features="n_variables"),
        "tables_": Part(CategoryTables, n_groups="n_labels+1", n_features="n_variables"),
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

    def _learn(self, X: Any, encoded: EncodedLabels, weights: NDArray[np.float64]) -> None:
        Y, unknown = encoded.Y, encoded.unknown
        if not (weights > 0).all():
            rows = np.flatnonzero(weights > 0)
            X = by_rows(X)
            X, Y, weights = X[rows], Y[rows], weights[rows]
            unknown = None if unknown is None else unknown.take(rows)
        has_none = np.diff(Y.indptr) == 0
        if unknown is not None:
            has_none &= ~self._knows_no_path(unknown)
        without = sparse.csr_array(has_none.astype(np.float64)[:, None])
        # The weight of each row of X: one row per label, and a last row for rows without labels.
        shares: Any = sparse.csr_array(sparse.hstack([Y, without])).T.multiply(weights).tocsr()
        prior = np.asarray(shares.sum(axis=1), dtype=np.float64)
        if unknown is not None:
            prior[:-1] = known_shares(self.hierarchy_, Y, unknown, weights)
            knowing = weights[~self._knows_no_path(unknown)].sum()
            prior[-1] = prior[-1] / knowing if knowing > 0 else 0.0
        prior[:-1][~self._is_candidate(Y, unknown)] = 0.0
        with np.errstate(divide="ignore"):
            log_prior = np.log(prior / prior.sum())
        self.log_prior_, self.log_prior_none_ = log_prior[:-1], float(log_prior[-1])
        n_categories = self.schema_.n_categories
        self.gaussians_ = Gaussians.learn(X, shares, n_categories == 0, float(self.var_smoothing))
        self.tables_ = CategoryTables.learn(X, shares, n_categories, float(self.smoothing))

    def _why_not_unknown(self) -> str | None:
        return None

    def _knows_no_path(self, unknown: UnknownLabels) -> NDArray[np.bool_]:
        """Return which rows do not know a label of the top level."""
        is_top = (np.diff(self.hierarchy_.parent_rows[0]) == 0).astype(np.int32)
        return np.asarray((unknown.patterns @ is_top) > 0)[unknown.of_row]

    def _is_candidate(
        self, Y: sparse.csr_array[np.int32], unknown: UnknownLabels | None
    ) -> NDArray[np.bool_]:
        if self.candidates == "all":
            return np.ones(Y.shape[1], dtype=bool)
        # The path of a row ends at a label if the row has none of the label's children.
        above = indicator(self.hierarchy_.parent_rows, Y.shape[1])
        has_child_of: Any = Y @ above
        if unknown is not None:  # nor if nobody knows whether it has them
            has_child_of = has_child_of + unknown.as_rows() @ above
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
        above = indicator(self.hierarchy_.ancestor_rows, self.hierarchy_.n_labels, np.float64)
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
        self.gaussians_.check(n_labels + 1, self.schema_.n_variables)
        self.tables_.check(n_labels + 1, self.schema_.n_categories)
