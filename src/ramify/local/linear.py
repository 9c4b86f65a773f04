"""Linear models: the columns that they learn from, their weights and their probabilities."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit

from ramify import _core
from ramify._cached import cached_property
from ramify._savable import savable
from ramify._schema import Array, Flag, Increasing, Number, Schema, TupleOf, Whole
from ramify.data.features import FeatureSchema
from ramify.data.rows import by_columns, compact, dense

__all__ = [
    "LinearColumns",
    "LinearModel",
    "is_logistic",
    "linear_predictions",
    "logistic_probabilities",
    "stack_weights",
]


@savable
@dataclass(frozen=True)
class LinearColumns:
    """Features as the columns of linear models: three blocks that weigh the same.

    Each is scaled so that the mean squared length of a row is 1: words keep their weights, and
    neither a hundred numbers nor a price in cents drowns them. Numbers are standardised first; a
    missing one counts as the mean. Categories become columns of 0 and 1.
    """

    n_categories: NDArray[np.int32]  # number of categories of each feature; 0 if it is numeric
    word_scale: float  # factor on the features of a sparse matrix, which are not centred
    mean: NDArray[np.float64]  # of each numeric feature; 0 for those of a sparse matrix
    scale: NDArray[np.float64]  # factor on each numeric feature, after centring
    is_sparse: bool  # whether X was a sparse matrix, whose cells are all taken for words
    # Where the terms of texts begin and end among other features.
    texts: tuple[tuple[int, int], ...] = field(default=(), metadata={"saved_if_any": True})

    _saved_schema: ClassVar[Schema] = {
        "n_categories": Array(("n_features",), "i4", low=0, high=2**16),
        "word_scale": Number(0),
        "mean": Array(("n_features",)),
        "scale": Array(("n_features",), low=0),
        "is_sparse": Flag(),
        "texts": TupleOf(TupleOf(Whole(0, "n_features+1"), 2)),
    }

    @property
    def numbers(self) -> NDArray[np.intp]:
        """The columns of numeric features that vary."""
        is_word = _are_words(len(self.n_categories), self.texts)
        return np.flatnonzero((self.scale > 0) & ~is_word & (not self.is_sparse))

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
        texts = schema.text_slices()
        is_word = _are_words(n_features, texts)
        if sparse.issparse(X) and not texts and not schema.has_nominal:
            is_word[:] = True
        if is_word.any():
            cells: Any = sparse.csr_array(X if is_word.all() else by_columns(X)[:, is_word])
            squares = np.nan_to_num(cells.data.astype(np.float64)) ** 2
            lengths = np.bincount(
                np.repeat(np.arange(cells.shape[0]), np.diff(cells.indptr)),
                weights=squares,
                minlength=cells.shape[0],
            )
            length = float(share @ lengths)
            word_scale = 1 / np.sqrt(length) if length > 0 else 1.0
        if not is_word.all():
            others = np.flatnonzero(~is_word)
            numeric = schema.n_categories[others] == 0
            # Sums depend on the layout of memory.
            given = X if len(others) == n_features else by_columns(X)[:, others]
            values = np.ascontiguousarray(dense(given), dtype=np.float64)
            known = ~np.isnan(values) & (weights > 0)[:, None]
            total = share @ known
            total[total == 0] = 1.0
            center = (share @ np.where(known, values, 0.0)) / total
            moved = np.where(known, values - center, 0.0)
            largest = np.abs(moved[weights > 0]).max(axis=0, initial=0.0)
            varies = numeric & (largest > 1e-12 * np.abs(center))
            # Squares of numbers from -1 to 1 do not overflow.
            moved = np.where(varies, moved, 0.0) / np.where(varies, largest, 1.0)
            spread = np.sqrt((share @ moved**2) / total)
            scale = np.where(is_word, 1.0, 0.0)
            places = others[varies]
            scale[places] = 1 / (largest[varies] * spread[varies] * np.sqrt(varies.sum()))
            mean[places] = center[varies]
        return cls(
            schema.n_categories, word_scale, mean, scale, bool(is_word.all()) and not texts, texts
        )

    def transform(self, X: Any) -> Any:
        """Return the columns of some rows as a csr_array."""
        if self.is_sparse or sum(end - start for start, end in self.texts) == X.shape[1]:
            rows: Any = sparse.csr_array(X)
            data = rows.data * self.word_scale
            if np.isnan(data).any():
                data = np.nan_to_num(data)
            cells = (data, rows.indices, rows.indptr)
            return sparse.csr_array(cells, shape=(rows.shape[0], self.n_columns))
        if self.texts:
            return self._transform_mixed(X)
        values = np.asarray(dense(X), dtype=np.float64)
        numbers = np.nan_to_num((values - self.mean) * self.scale)
        nominal = np.flatnonzero(self.n_categories)
        if not nominal.size:
            return sparse.csr_array(numbers)
        parts: list[Any] = [numbers, self._mark(values[:, nominal])]
        return sparse.csr_array(sparse.hstack(parts))

    def _transform_mixed(self, X: Any) -> Any:
        """Return the columns of rows with texts; only their other features are made dense."""
        is_word = _are_words(len(self.n_categories), self.texts)
        others = np.flatnonzero(~is_word)
        rows: Any = sparse.csr_array(X)
        words: Any = rows.copy()  # whose indices change below
        words.data = np.where(is_word[rows.indices], rows.data * self.word_scale, 0.0)
        words.eliminate_zeros()
        values = np.asarray(dense(rows[:, others]), dtype=np.float64)
        numbers = np.nan_to_num((values - self.mean[others]) * self.scale[others])
        at, places = np.nonzero(numbers)
        cells = (numbers[at, places], (at, others[places]))
        both = compact(words + sparse.csr_array(cells, shape=rows.shape))
        if not self.n_categories.any():
            return both
        marks = self._mark(values[:, self.n_categories[others] > 0])
        return compact(sparse.hstack([both, marks], format="csr"))

    def _mark(self, codes: NDArray[np.float64]) -> Any:
        """Return a column for each category, 0 if the value is missing."""
        counts = self.n_categories[self.n_categories > 0]
        starts = np.concatenate([[0], np.cumsum(counts)])
        rows, places = np.nonzero(codes < counts)  # NaN is not below
        columns = starts[places] + codes[rows, places].astype(np.int64)
        cells = np.full(len(rows), 1 / np.sqrt(len(counts)))
        return sparse.csr_array((cells, (rows, columns)), shape=(len(codes), int(starts[-1])))


def _are_words(n_features: int, texts: tuple[tuple[int, int], ...]) -> NDArray[np.bool_]:
    """Return which features are terms of texts."""
    found = np.zeros(n_features, dtype=bool)
    for start, end in texts:
        found[start:end] = True
    return found


@dataclass(frozen=True)
class Rotation:
    """Turns numbers to their principal axes while a linear model learns.

    The model is the same, since its penalty and its products are. But the core estimates the
    margins of rows that are left out as if columns were not correlated, which makes rare classes
    hopeless where hundreds of numbers tell the same.
    """

    places: NDArray[np.intp]
    axes: NDArray[np.float64]

    @classmethod
    def learn(
        cls, rows: Any, places: NDArray[np.intp], weights: NDArray[np.float64]
    ) -> Rotation | None:
        """Return the axes of weighted rows; None if there is one number, or very many."""
        if not 2 <= len(places) <= _MOST_ROTATED:
            return None
        numbers = rows[:, places].toarray()
        moments = (numbers * weights[:, None]).T @ numbers
        return cls(places, np.linalg.eigh(moments)[1])

    def apply(self, rows: Any) -> Any:
        """Return rows with their numbers turned."""
        return self._replace(rows, rows[:, self.places].toarray() @ self.axes)

    def undo(self, weights: Any) -> Any:
        """Return the weights, by columns of turned rows and outputs, of rows as they were."""
        turned = self.axes @ weights[self.places].toarray().astype(np.float64)
        return sparse.csr_array(self._replace(weights.T, turned.T).T)

    def _replace(self, rows: Any, numbers: NDArray[np.float64]) -> Any:
        """Return rows with other numbers."""
        n_rows, n_columns = rows.shape
        others = np.ones(n_columns)
        others[self.places] = 0.0
        rest: Any = sparse.csr_array(rows @ sparse.diags_array(others))
        rest.eliminate_zeros()
        indptr = len(self.places) * np.arange(n_rows + 1)
        cells = (numbers.ravel(), np.tile(self.places, n_rows), indptr)
        return compact(rest + sparse.csr_array(cells, shape=rows.shape))


_MOST_ROTATED = 1000
"""Numbers beyond which finding their axes would take longer than learning."""


@savable
@dataclass(frozen=True)
class LinearModel:
    """The weights of the outputs of a linear model, by column, without zeros.

    The probability of a label is 1 / (1 + exp(-scale * margin - offset)); those of classes are
    proportional to exp(scale * margin), with the same scale.
    """

    columns: NDArray[np.int32]  # those with a weight, increasing
    indptr: NDArray[np.int64]  # where the weights of each of them begin
    outputs: NDArray[np.int32]  # the output of each weight
    weights: NDArray[np.float32]
    intercepts: NDArray[np.float32]  # one per output
    scales: NDArray[np.float64]
    offsets: NDArray[np.float64]
    exclusive: bool  # whether the outputs are classes, of which a row has exactly one
    pair: bool = False  # whether the only output tells the first of two classes from the second

    _saved_schema: ClassVar[Schema] = {
        "columns": Increasing("n_used", "i4", strictly=True),
        "indptr": Array(("?",), "i8", low=0),
        "outputs": Array(("n_weights",), "i4", low=0),
        "weights": Array(("n_weights",), "f4"),
        "intercepts": Array(("n_margins",), "f4"),
        "scales": Array(("n_margins",), low=0),
        "offsets": Array(("n_margins",)),
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
            self.scales,
            self.offsets,
            np.array([0, len(self.intercepts)], dtype=np.int64),
            np.array([self.exclusive], dtype=np.uint8),
        )

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k != "_weights"}

    def predict(self, rows: _core.Rows, n_rows: int, n_learnt: int) -> NDArray[np.float64]:
        """Return probabilities of shape (n_rows, n_learnt) for rows of `LinearColumns`."""
        found = np.empty((n_rows, len(self.intercepts)))
        self._weights.predict(rows, 1, found)
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


def stack_weights(models: Sequence[LinearModel]) -> _core.LinearWeights:
    """Return the weights of several models as those of one, with one list of weights per word."""
    starts = np.cumsum([0, *(len(model.intercepts) for model in models)])
    outputs = [model.outputs + start for model, start in zip(models, starts, strict=False)]
    columns = [np.repeat(model.columns, np.diff(model.indptr)) for model in models]
    weights = np.concatenate([model.weights for model in models])
    column = np.concatenate(columns)
    shape = (int(column.max(initial=0)) + 1, int(starts[-1]) + 1)
    by_column: Any = sparse.csr_array((weights, (column, np.concatenate(outputs))), shape=shape)
    used = np.flatnonzero(np.diff(by_column.indptr))
    return _core.LinearWeights(
        used.astype(np.int32),
        np.append(0, by_column.indptr[used + 1]).astype(np.int64),
        by_column.indices.astype(np.int32, copy=False),
        by_column.data,
        np.concatenate([model.intercepts for model in models]),
        np.concatenate([model.scales for model in models]),
        np.concatenate([model.offsets for model in models]),
        starts.astype(np.int64),
        np.array([model.exclusive for model in models], dtype=np.uint8),
    )


def logistic_probabilities(model: Any, X: Any) -> NDArray[np.float64] | None:
    """Return the probabilities of a logistic model of scikit-learn, or None if it is another.

    For few rows, its `predict_proba` spends most of its time validating X once more.
    """
    link = _link_of(model)
    if link is None or not _is_valid(model, X):
        return None
    scores = _multiply(X, model.coef_) + model.intercept_
    if link == "softmax":
        found: NDArray[np.float64] = np.exp(scores - scores.max(axis=1, keepdims=True))
        found /= found.sum(axis=1, keepdims=True)
        return found
    found = expit(scores, out=scores)
    if found.shape[1] == 1:
        return np.hstack([1 - found, found])
    total = found.sum(axis=1, keepdims=True)
    if not total.all():  # all scores of a row are far below 0
        found[total[:, 0] == 0] = 1
        total[total == 0] = found.shape[1]
    found /= total
    return found


def is_logistic(model: Any) -> bool:
    """Return whether `logistic_probabilities` knows a model."""
    return _link_of(model) is not None


def linear_predictions(model: Any, X: Any) -> NDArray[Any] | None:
    """Return the classes that a linear classifier without probabilities predicts, or None.

    Like `logistic_probabilities`, without validating X once more.
    """
    if hasattr(model, "predict_proba") or not _is_of(model, "SGDClassifier", "LinearSVC"):
        return None
    if not _is_valid(model, X):
        return None
    scores = _multiply(X, model.coef_) + model.intercept_
    best = scores[:, 0] > 0 if scores.shape[1] == 1 else scores.argmax(axis=1)
    return np.asarray(model.classes_[best.astype(np.intp)])


def _link_of(model: Any) -> str | None:
    """Return what turns scores of a model into probabilities: "logistic", "softmax" or None."""
    if _is_of(model, "SGDClassifier"):
        return "logistic" if model.loss == "log_loss" else None
    if not _is_of(model, "LogisticRegression"):
        return None
    # Versions of scikit-learn before 1.8 have the parameter.
    if getattr(model, "multi_class", "auto") not in ("auto", "deprecated"):
        return None
    if len(model.classes_) <= 2:
        return "logistic"
    return None if model.solver == "liblinear" else "softmax"


def _is_of(model: Any, *names: str) -> bool:
    """Return whether a model is of one of scikit-learn's linear classes, not of a subclass."""
    # A model of a class has imported it.
    modules = [sys.modules.get(f"sklearn.{name}") for name in ("linear_model", "svm")]
    return any(type(model) is getattr(at, name, None) for at in modules for name in names)


def _multiply(X: Any, coef: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return X times the transposed coefficients, copying only the columns that few cells need."""
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
