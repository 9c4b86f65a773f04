"""Linear models: the columns that they learn from, their weights and their probabilities."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit

from ramify import _core
from ramify._savable import savable
from ramify._schema import Array, Flag, Increasing, Number, Schema
from ramify.data.features import FeatureSchema
from ramify.data.rows import dense

__all__ = [
    "LinearColumns",
    "LinearModel",
    "logistic_probabilities",
]


@savable
@dataclass(frozen=True)
class LinearColumns:
    """Features as the columns of linear models: three blocks that weigh the same.

    The cells of a block are scaled together, so that the mean squared length of a row is 1 in
    each: words keep the weights that they were given, and neither a hundred numbers nor a price
    in cents drowns them. Numbers are standardised first; a missing one counts as the mean.
    Categories become columns of 0 and 1.
    """

    n_categories: NDArray[np.int32]  # number of categories of each feature; 0 if it is numeric
    word_scale: float  # factor on the features of a sparse matrix, which are not centred
    mean: NDArray[np.float64]  # of each numeric feature; 0 for those of a sparse matrix
    scale: NDArray[np.float64]  # factor on each numeric feature, after centring
    is_sparse: bool  # whether X was a sparse matrix

    _saved_schema: ClassVar[Schema] = {
        "n_categories": Array(("n_features",), "i4", low=0, high=2**16),
        "word_scale": Number(0),
        "mean": Array(("n_features",)),
        "scale": Array(("n_features",), low=0),
        "is_sparse": Flag(),
    }

    @property
    def n_columns(self) -> int:
        """The number of columns: those of X, followed by those of the categories."""
        return len(self.n_categories) + int(self.n_categories.sum())

    @classmethod
    def learn(cls, X: Any, schema: FeatureSchema, weights: NDArray[np.float64]) -> LinearColumns:
        """Measure means and scales."""
        share = weights / weights.sum()
        n_features = X.shape[1]
        mean, scale = np.zeros(n_features), np.ones(n_features)
        word_scale = 1.0
        is_sparse = bool(sparse.issparse(X)) and not schema.has_nominal
        if is_sparse:
            cells: Any = sparse.csr_array(X)
            squares = np.nan_to_num(cells.data.astype(np.float64)) ** 2
            lengths = np.bincount(
                np.repeat(np.arange(cells.shape[0]), np.diff(cells.indptr)),
                weights=squares,
                minlength=cells.shape[0],
            )
            length = float(share @ lengths)
            word_scale = 1 / np.sqrt(length) if length > 0 else 1.0
        else:
            numeric = schema.n_categories == 0
            # Sums depend on the layout of memory.
            values = np.ascontiguousarray(dense(X), dtype=np.float64)
            known = ~np.isnan(values)
            total = share @ known
            total[total == 0] = 1.0
            mean = (share @ np.where(known, values, 0.0)) / total
            moved = np.where(known, values - mean, 0.0)
            largest = np.abs(moved[weights > 0]).max(axis=0, initial=0.0)
            varies = numeric & (largest > 1e-12 * np.abs(mean))
            # Squares of numbers from -1 to 1 do not overflow.
            moved = np.where(varies, moved, 0.0) / np.where(varies, largest, 1.0)
            spread = np.sqrt((share @ moved**2) / total)
            scale = np.zeros(n_features)
            scale[varies] = 1 / (largest[varies] * spread[varies] * np.sqrt(varies.sum()))
            mean[~varies] = 0.0
        return cls(schema.n_categories, word_scale, mean, scale, is_sparse)

    def transform(self, X: Any) -> Any:
        """Return the columns of some rows as a csr_array."""
        if self.is_sparse:
            rows: Any = sparse.csr_array(X)
            data = rows.data * self.word_scale
            if np.isnan(data).any():
                data = np.nan_to_num(data)
            cells = (data, rows.indices, rows.indptr)
            return sparse.csr_array(cells, shape=(rows.shape[0], self.n_columns))
        values = np.asarray(dense(X), dtype=np.float64)
        numbers = np.nan_to_num((values - self.mean) * self.scale)
        nominal = np.flatnonzero(self.n_categories)
        if not nominal.size:
            return sparse.csr_array(numbers)
        parts: list[Any] = [numbers, self._mark(values[:, nominal])]
        return sparse.csr_array(sparse.hstack(parts))

    def _mark(self, codes: NDArray[np.float64]) -> Any:
        """Return a column for each category, 0 if the value is missing."""
        counts = self.n_categories[self.n_categories > 0]
        starts = np.concatenate([[0], np.cumsum(counts)])
        rows, places = np.nonzero(codes < counts)  # NaN is not below
        columns = starts[places] + codes[rows, places].astype(np.int64)
        cells = np.full(len(rows), 1 / np.sqrt(len(counts)))
        return sparse.csr_array((cells, (rows, columns)), shape=(len(codes), int(starts[-1])))


@savable
@dataclass(frozen=True)
class LinearModel:
    """The weights of the outputs of a linear model, by column, without zeros.

    The probabilities of classes are proportional to exp(scale * margin); that of a label is
    1 / (1 + exp(-scale * margin - offset)).
    """

    columns: NDArray[np.int32]  # those with a weight, increasing
    indptr: NDArray[np.int64]  # where the weights of each of them begin
    outputs: NDArray[np.int32]  # the output of each weight
    weights: NDArray[np.float32]
    intercepts: NDArray[np.float32]  # one per output
    scale: float
    offset: float
    exclusive: bool  # whether the outputs are classes, of which a row has exactly one
    pair: bool = False  # whether the only output tells the first of two classes from the second

    _saved_schema: ClassVar[Schema] = {
        "columns": Increasing("n_used", "i4", strictly=True),
        "indptr": Array(("?",), "i8", low=0),
        "outputs": Array(("n_weights",), "i4", low=0),
        "weights": Array(("n_weights",), "f4"),
        "intercepts": Array(("?",), "f4"),
        "scale": Number(0),
        "offset": Number(),
        "exclusive": Flag(),
        "pair": Flag(),
    }

    @cached_property
    def _weights(self) -> _core.LinearWeights:
        """The weights as the core takes them, which checks them against each other."""
        return _core.LinearWeights(
            self.columns,
            self.indptr,
            self.outputs,
            self.weights,
            self.intercepts,
            self.scale,
            self.offset,
            self.exclusive,
        )

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k != "_weights"}

    def predict(self, rows: _core.Rows, n_rows: int, n_learnt: int) -> NDArray[np.float64]:
        """Return probabilities of shape (n_rows, n_learnt) for rows of `LinearColumns`."""
        found = np.empty((n_rows, len(self.intercepts)))
        self._weights.predict(rows, found)
        if self.pair:
            return np.hstack([found, 1 - found])[:, :n_learnt]
        return found[:, :n_learnt]

    def check(self, n_columns: int, n_learnt: int) -> None:
        """Raise an error if a model, e.g. from a file, does not fit its rows and labels."""
        _ = self._weights
        n_outputs = len(self.intercepts) + self.pair
        if (
            self.columns.max(initial=-1) >= n_columns
            or not n_learnt <= n_outputs <= n_learnt + self.exclusive + self.pair
            or (self.pair and len(self.intercepts) != 1)
        ):
            raise ValueError(f"a linear model does not fit {n_columns} columns")


def logistic_probabilities(model: Any, X: Any) -> NDArray[np.float64] | None:
    """Return the probabilities of a fitted SGDClassifier with log loss, or None.

    For few rows, its `predict_proba` spends most of its time validating X, which the enclosing
    classifier has already done for all models. The result is the same.
    """
    loaded = sys.modules.get("sklearn.linear_model")  # a model of it has imported it
    if loaded is None or type(model) is not loaded.SGDClassifier:
        return None
    if model.loss != "log_loss" or not _is_valid(model, X):
        return None
    scores = _multiply(X, model.coef_) + model.intercept_
    found: NDArray[np.float64] = expit(scores, out=scores)
    if found.shape[1] == 1:
        return np.hstack([1 - found, found])
    total = found.sum(axis=1, keepdims=True)
    if not total.all():  # all scores of a row are far below 0
        found[total[:, 0] == 0] = 1
        total[total == 0] = found.shape[1]
    found /= total
    return found


def _multiply(X: Any, coef: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return X times the transposed coefficients, which scipy copies if X is sparse.

    If X has few cells, only the columns that have any are copied. The sums are the same.
    """
    rows: Any = X
    if not sparse.issparse(X) or 4 * len(rows.data) > coef.shape[1]:
        return np.asarray(rows @ coef.T)
    used, places = np.unique(np.asarray(rows.indices), return_inverse=True)
    cells: Any = sparse.csr_array(
        (rows.data, places, rows.indptr), shape=(len(rows.indptr) - 1, len(used))
    )
    return np.asarray(cells @ coef[:, used].T)


def _is_valid(model: Any, X: Any) -> bool:
    """Return whether X is an array of finite numbers and the model has dense coefficients."""
    is_sparse = sparse.issparse(X)
    if hasattr(model, "feature_names_in_") or not (is_sparse or type(X) is np.ndarray):
        return False
    cells = X.data if is_sparse else X
    shape = getattr(model.coef_, "shape", ())
    return (
        type(model.coef_) is np.ndarray
        and shape[1:] == X.shape[1:]
        and getattr(X, "format", "csr") == "csr"
        and cells.dtype == np.float64
        and bool(np.isfinite(cells).all())
    )
