"""X of any layout as what the core reads: numbers and category codes, NaN where unknown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import validate_data

from ramify import _core
from ramify._savable import savable
from ramify._validation import shorten

__all__ = [
    "FeatureSchema",
    "csr_parts",
    "given_features",
    "make_dataset",
    "read_features",
    "read_training_features",
]

# Codes are written in a float matrix and counted in int32; more values than this are no nominal
# feature but an identifier.
_MAX_CATEGORIES = 2**16
_COLUMNS_AT_ONCE = 64  # nominal columns that are checked together: few calls, little memory


@savable
@dataclass(frozen=True)
class FeatureSchema:
    """Which columns are nominal, and what their codes stand for.

    Attributes
    ----------
    n_categories : ndarray of int32, shape (n_features,)
        The number of categories of a nominal column, 0 for a numeric one.
    categories : dict of int to tuple
        For columns that came from a data frame: the categories in the order of their codes.
        Nominal columns of an array have codes only.
    """

    n_categories: NDArray[np.int32]
    categories: dict[int, tuple[Any, ...]]

    @classmethod
    def numeric(cls, n_features: int) -> FeatureSchema:
        """Return the schema of columns that are all numeric."""
        return cls(np.zeros(n_features, dtype=np.int32), {})

    @property
    def has_nominal(self) -> bool:
        """Whether any column is nominal."""
        return bool(self.n_categories.any())

    def with_numeric(self, n_features: int) -> FeatureSchema:
        """Return the schema with numeric columns added at the end."""
        added = np.zeros(n_features, dtype=np.int32)
        return FeatureSchema(np.append(self.n_categories, added), self.categories)


def read_training_features(
    estimator: Any, X: Any, categorical_features: Any = None, *, clus_order: bool = False
) -> tuple[Any, FeatureSchema]:
    """Check X for `fit`, set the estimator's n_features_in_ and feature_names_in_.

    Parameters
    ----------
    estimator : estimator
        Receives the attributes and gives the error messages their name.
    X : array-like, sparse matrix or data frame of shape (n, n_features)
        Text and categorical columns of a data frame are nominal.
    categorical_features : array-like of bool, int or str, optional
        Nominal columns as a mask, positions or names. In an array their cells are codes
        0, 1, …; in a data frame any values.
    clus_order : bool
        Whether categories of a data frame are put into CLUS's order: sorted as strings, but "1"
        before "0" where these two are all.

    Returns
    -------
    X : ndarray (float32 or float64) or csc_array
        Codes in place of categories.
    schema : FeatureSchema
        What prediction needs to read X the same way.
    """
    if _is_frame(X):
        chosen = _chosen_columns(categorical_features, list(X.columns), len(X.columns))
        columns = {
            j: _categories_of(X[name], j in chosen, clus_order)
            for j, name in enumerate(X.columns)
            if j in chosen or _is_nominal(X[name])
        }
        n_categories = np.zeros(len(X.columns), dtype=np.int32)
        for j, categories in columns.items():
            n_categories[j] = max(1, len(categories))
        schema = FeatureSchema(n_categories, columns)
        return _read_frame(estimator, X, schema, reset=True), schema
    X = _read_array(estimator, X, reset=True)
    chosen = _chosen_columns(categorical_features, None, X.shape[1])
    n_categories = np.zeros(X.shape[1], dtype=np.int32)
    nominal = np.array(sorted(chosen), dtype=np.intp)
    for start in range(0, len(nominal), _COLUMNS_AT_ONCE):
        some = nominal[start : start + _COLUMNS_AT_ONCE]
        n_categories[some] = _count_codes(X, some)
    return X, FeatureSchema(n_categories, {})


def read_features(estimator: Any, X: Any, schema: FeatureSchema) -> Any:
    """Check X for prediction; categories that `fit` did not see become unknown values.

    Parameters
    ----------
    estimator : estimator
        A fitted estimator.
    X : array-like, sparse matrix or data frame
        Rows with the columns of `fit`.
    schema : FeatureSchema
        What `read_training_features` returned.

    Returns
    -------
    ndarray or csr_array
        Numbers, codes and NaN.
    """
    if _is_frame(X):
        return _read_frame(estimator, X, schema, reset=False)
    if schema.categories:
        raise ValueError(
            "X is an array, but the model was fitted on a data frame with nominal columns "
            f"{shorten(schema.categories)}. Give a data frame with the same columns."
        )
    return _read_array(estimator, X, reset=False)


def given_features(given: Any, X: Any) -> Any:
    """Return what classifiers of other libraries get: a data frame as it came, or numbers.

    Parameters
    ----------
    given : array-like, sparse matrix or data frame
        X as the user passed it.
    X : ndarray or sparse matrix
        The same rows as `read_training_features` or `read_features` returned them.

    Returns
    -------
    ndarray, csr_array or data frame
        Rows can be picked from it.
    """
    if hasattr(given, "columns") and not sparse.issparse(given):
        return given
    return cast("Any", X).tocsr() if sparse.issparse(X) else X


def make_dataset(X: Any, schema: FeatureSchema, *, clus: bool = False) -> _core.Dataset:
    """Prepare X for growing trees: ranks and codes, computed once and shared by all trees.

    Parameters
    ----------
    X : ndarray or sparse matrix
        What `read_training_features` returned.
    schema : FeatureSchema
        The same.
    clus : bool
        Whether sums along a column must run as CLUS's do, past every zero.

    Returns
    -------
    Dataset
        The core's columns.
    """
    if not sparse.issparse(X):
        return _core.Dataset.from_dense(X, schema.n_categories, clus)
    columns = _canonical(cast("Any", X).tocsc())
    return _core.Dataset.from_csc(
        columns.indptr.astype(np.int64),
        columns.indices.astype(np.int32),
        columns.data.astype(np.float64),
        columns.shape[0],
        schema.n_categories,
        clus,
    )


def csr_parts(X: Any) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64], int]:
    """Return the arrays of a sparse matrix by rows, in the types of the core, and its width."""
    rows: Any = _canonical(X.tocsr())
    return (
        rows.indptr.astype(np.int64),
        rows.indices.astype(np.int32),
        rows.data.astype(np.float64),
        rows.shape[1],
    )


def _canonical(X: Any) -> Any:
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def _read_array(estimator: Any, X: Any, *, reset: bool) -> Any:
    return validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse=["csc" if reset else "csr"],
        dtype=[np.float64, np.float32],
        ensure_all_finite="allow-nan",
    )


def _is_frame(X: Any) -> bool:
    return hasattr(X, "columns") and hasattr(X, "dtypes") and not sparse.issparse(X)


def _is_nominal(column: Any) -> bool:
    """Tell whether a data frame's column holds categories or text."""
    name = str(column.dtype).lower()
    return name.startswith(("category", "categorical", "enum", "str", "string", "object"))


def _categories_of(column: Any, chosen: bool, clus_order: bool) -> tuple[Any, ...]:
    """Return the categories of a column in the order of their codes."""
    if hasattr(column.dtype, "categories") and hasattr(column, "cat"):
        declared = getattr(column.dtype, "categories", None)
        categories = list(declared) if declared is not None else []
    else:
        categories = []
    if not categories:
        seen = {value for value in column.to_list() if not _is_unknown(value)}
        categories = sorted(seen, key=lambda value: (str(type(value)), value))
    if len(categories) > _MAX_CATEGORIES:
        raise ValueError(
            f"column {getattr(column, 'name', '')!r} has {len(categories)} categories, but a "
            f"nominal feature may have {_MAX_CATEGORIES}. Drop identifiers, or convert numbers "
            "with astype(float)."
        )
    if clus_order:
        categories = sorted(categories, key=str)
        if [str(value) for value in categories] == ["0", "1"]:
            categories.reverse()
    return tuple(categories)


def _is_unknown(value: Any) -> bool:
    return value is None or value != value or type(value).__name__ == "NAType"  # noqa: PLR0124


def _read_frame(estimator: Any, X: Any, schema: FeatureSchema, *, reset: bool) -> Any:
    """Return a float matrix of a data frame with codes in place of categories."""
    if not schema.categories:
        return _read_array(estimator, X, reset=reset)
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    if len(X) == 0:
        raise ValueError("X has 0 rows. Give at least one.")
    cells = np.empty((len(X), len(X.columns)), dtype=np.float64, order="F")
    for j, name in enumerate(X.columns):
        if j in schema.categories:
            cells[:, j] = _codes(X[name], schema.categories[j])
        else:
            cells[:, j] = _numbers(X[name], name)
    return cells


def _codes(column: Any, categories: tuple[Any, ...]) -> NDArray[np.float64]:
    code = {value: float(k) for k, value in enumerate(categories)}
    categorical = getattr(column, "cat", None)
    if categorical is not None and hasattr(categorical, "codes"):
        # Translate the few categories instead of the many cells; code -1 picks the last, NaN.
        own = [code.get(value, np.nan) for value in categorical.categories]
        translated = np.array([*own, np.nan])[np.asarray(categorical.codes)]
        return np.asarray(translated, dtype=np.float64)
    return np.array(
        [np.nan if _is_unknown(value) else code.get(value, np.nan) for value in column.to_list()],
        dtype=np.float64,
    )


def _numbers(column: Any, name: Any) -> NDArray[np.float64]:
    try:
        values = np.asarray(column.to_numpy(), dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"column {name!r} of X does not convert to numbers, as it did in fit. Give numbers "
            "and NaN."
        ) from None
    if np.isinf(values).any():
        raise ValueError(
            f"column {name!r} of X contains infinity. Replace it by a number, or by NaN for "
            "an unknown value."
        )
    return values


def _chosen_columns(
    categorical_features: Any, names: Sequence[Any] | None, n_features: int
) -> set[int]:
    """Return the positions of the columns that the caller declares nominal."""
    if categorical_features is None:
        return set()
    given = np.atleast_1d(np.asarray(categorical_features))
    if given.size == 0:
        return set()
    if given.dtype == bool:
        if given.shape != (n_features,):
            raise ValueError(
                f"categorical_features is a mask of shape {given.shape}, but X has {n_features} "
                f"columns. Give a mask of shape ({n_features},)."
            )
        return {int(j) for j in np.flatnonzero(given)}
    if given.dtype.kind in "iu":
        bad = given[(given < 0) | (given >= n_features)]
        if bad.size:
            raise ValueError(
                f"categorical_features names column {bad[0]}, but X has {n_features} columns, "
                f"0 to {n_features - 1}."
            )
        return {int(j) for j in given}
    if names is None:
        raise ValueError(
            f"categorical_features names {shorten(given.tolist())}, but X has no column names. "
            "Give positions or a mask, or X as a data frame."
        )
    missing = [name for name in given.tolist() if name not in names]
    if missing:
        raise ValueError(
            f"categorical_features names {shorten(missing)}, but X has the columns "
            f"{shorten(names)}."
        )
    return {list(names).index(name) for name in given.tolist()}


def _count_codes(X: Any, columns: NDArray[np.intp]) -> NDArray[np.int32]:
    """Return how many categories the codes of some columns of an array make."""
    part = cast("Any", X)[:, columns]
    codes = np.asarray(part.toarray() if sparse.issparse(X) else part, dtype=np.float64)
    unknown = np.isnan(codes)
    known = np.where(unknown, 0.0, codes)
    bad = np.argwhere((known < 0) | (known != np.floor(known)) | (known >= _MAX_CATEGORIES))
    if len(bad):
        row, k = bad[0]
        raise ValueError(
            f"column {columns[k]} of X is nominal by categorical_features, but holds "
            f"{codes[row, k]}. Codes are whole numbers from 0 to {_MAX_CATEGORIES - 1}; NaN is an "
            "unknown value."
        )
    return np.asarray(known.max(axis=0, initial=0.0) + 1, dtype=np.int32)
