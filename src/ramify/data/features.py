"""Convert X of any layout to numbers and category codes, with NaN for missing values."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import validate_data

from ramify import _core
from ramify._messages import shorten
from ramify._parallel import count_threads
from ramify._savable import savable
from ramify._schema import Anything, Array, MapOf, Schema, Text, TupleOf, Whole
from ramify._validation import is_missing
from ramify.data.columns import TEXT, TIMES, kind_of_column, numbers_of, seconds_of
from ramify.data.frames import check_column_names, in_memory, is_frame
from ramify.data.rows import as_columns, by_rows, dense

__all__ = [
    "FeatureSchema",
    "given_features",
    "make_dataset",
    "read_features",
    "read_training_features",
]


# A column with more distinct values than this is an identifier rather than a nominal feature.
_MAX_CATEGORIES = 2**16
_POLARS = ("Int", "UInt", "Float", "Boolean")  # numeric types of polars
_MIN_SHARED_CELLS = 1_000_000  # cells of X below which threads are not worth starting
_TEXT_ADVICE = (
    "Convert texts with scikit-learn's TfidfVectorizer or CountVectorizer, for example "
    "make_pipeline(TfidfVectorizer(), model)."
)
_READY = (np.dtype(np.float64), np.dtype(np.float32))  # types of X that are used as they are
_COLUMNS_AT_ONCE = 64  # nominal columns checked per call, to limit both calls and memory


@savable
@dataclass(frozen=True)
class FeatureSchema:
    """Which features are nominal or times, and which category each code stands for."""

    # The number of categories of each nominal feature, 0 for a numeric feature.
    n_categories: NDArray[np.int32]
    # The categories of each nominal column of a data frame, in the order of their codes. Nominal
    # columns of an array have no entry: their values are already codes.
    categories: dict[int, tuple[Any, ...]]
    # The kind of each numeric feature that is a date, duration or time of day; see
    # `ramify.data.columns.TIMES`. Their values are seconds.
    times: dict[int, str] = field(default_factory=dict)

    _saved_schema: ClassVar[Schema] = {
        "n_categories": Array(("n_features",), "i4", low=0, high=_MAX_CATEGORIES),
        "categories": MapOf(Whole(0, "n_features"), TupleOf(Anything())),
        "times": MapOf(Whole(0, "n_features"), Text(TIMES)),
    }

    @classmethod
    def numeric(cls, n_features: int) -> FeatureSchema:
        """Return the schema of numeric features only."""
        return cls(np.zeros(n_features, dtype=np.int32), {})

    @property
    def has_nominal(self) -> bool:
        """Whether any feature is nominal."""
        return bool(self.n_categories.any())

    def with_numeric(self, n_features: int) -> FeatureSchema:
        """Return the schema with numeric features appended."""
        added = np.zeros(n_features, dtype=np.int32)
        return FeatureSchema(np.append(self.n_categories, added), self.categories, self.times)


def read_training_features(
    estimator: Any, X: Any, categorical_features: Any = None, *, clus_order: bool = False
) -> tuple[Any, FeatureSchema]:
    """Validate X for `fit`, and set n_features_in_ and feature_names_in_ of the estimator.

    `estimator`: receives the attributes and is named in error messages.
    `categorical_features`: in an array, they must contain integer codes 0, 1, …; in a data
    frame, they may contain any values.
    `clus_order`: whether to use the order of CLUS for the categories of a data frame: sorted
    as strings, except that "1" precedes "0" if these are the only two categories.
    Returns: numbers, with codes in place of categories.
    """
    X = in_memory(X, "X")
    if is_frame(X):
        check_column_names(X.columns, "X")
        chosen = _chosen_columns(categorical_features, list(X.columns), len(X.columns))
        kinds = _kinds_of(X, chosen)
        columns = {
            j: _categories_of(X[name], clus_order)
            for j, name in enumerate(X.columns)
            if kinds.get(j) in ("category", TEXT)
        }
        # Another estimator may read texts, and one of ramify checks them itself.
        wrapped = (getattr(estimator, name, None) for name in ("estimator", "estimators"))
        if not chosen and all(inner is None for inner in wrapped):
            _check_not_only_texts(X, kinds)
        n_categories = np.zeros(len(X.columns), dtype=np.int32)
        for j, categories in columns.items():
            n_categories[j] = max(1, len(categories))
        times = {j: kind for j, kind in kinds.items() if kind in TIMES}
        schema = FeatureSchema(n_categories, columns, times)
        return _read_frame(estimator, X, schema, reset=True), schema
    _check_no_texts(X)
    kind = _times_of_array(X)
    X = _read_array(estimator, X, reset=True)
    chosen = _chosen_columns(categorical_features, None, X.shape[1])
    n_categories = np.zeros(X.shape[1], dtype=np.int32)
    nominal = np.array(sorted(chosen), dtype=np.intp)
    for start in range(0, len(nominal), _COLUMNS_AT_ONCE):
        some = nominal[start : start + _COLUMNS_AT_ONCE]
        n_categories[some] = _count_codes(X, some)
    times = dict.fromkeys(range(X.shape[1] if kind else 0), kind)
    return X, FeatureSchema(n_categories, {}, times)


def read_features(estimator: Any, X: Any, schema: FeatureSchema) -> Any:
    """Validate X for prediction; categories not seen in `fit` become missing values.

    Returns: numbers, codes and NaN.
    """
    if _is_ready(estimator, X, schema):
        return X
    X = in_memory(X, "X")
    if is_frame(X):
        check_column_names(X.columns, "X")
        return _read_frame(estimator, X, schema, reset=False)
    _check_no_texts(X)
    if schema.categories:
        raise ValueError(
            "X must be a data frame, got an array: the model was fitted on a data frame with "
            f"nominal columns {shorten(schema.categories)}. Pass a data frame with these columns."
        )
    kinds = set(schema.times.values())
    if kinds and kinds != {_times_of_array(X)}:
        raise ValueError(
            f"X must contain a {' and a '.join(sorted(kinds))}, as in fit, got an array without. "
            f"Pass the same types of columns as in fit; these are columns {shorten(schema.times)}."
        )
    return _read_array(estimator, X, reset=False)


def _check_no_texts(X: Any) -> None:
    """Raise an error if X, not a data frame, has texts: strings instead of rows or cells."""
    if sparse.issparse(X) or not hasattr(X, "__len__") or len(X) == 0:
        return
    first = X.iloc[0] if hasattr(X, "iloc") else X[0] if hasattr(X, "__getitem__") else None
    if isinstance(first, str):
        raise ValueError(
            f"X must have rows of numbers, got the text {shorten([str(first)])}. {_TEXT_ADVICE}"
        )


def _check_not_only_texts(X: Any, kinds: dict[int, str]) -> None:
    """Raise an error if all columns of a data frame are texts."""
    texts = [name for j, name in enumerate(X.columns) if kinds.get(j) == TEXT]
    if texts and len(texts) == len(X.columns):
        raise ValueError(
            f"X must have columns of numbers, categories or dates, got only texts, in "
            f"{shorten(texts)}. {_TEXT_ADVICE}"
        )


def _is_ready(estimator: Any, X: Any, schema: FeatureSchema) -> bool:
    """Return whether X is a matrix that needs no conversion and raises no error or warning.

    This takes microseconds, whereas scikit-learn's validation takes longer than predicting a row
    with a tree.
    """
    return (
        type(X) is np.ndarray
        and X.dtype in _READY
        and X.ndim == 2
        and len(X) > 0
        and X.shape[1] == estimator.n_features_in_
        and not (schema.categories or schema.times or hasattr(estimator, "feature_names_in_"))
        and not np.count_nonzero(np.isinf(X))  # much faster than any() for a row
    )


def given_features(given: Any, X: Any) -> Any:
    """Return X for classifiers of other libraries: a data frame unchanged, otherwise numbers."""
    given = in_memory(given, "X")
    if hasattr(given, "columns") and not sparse.issparse(given):
        return given
    return by_rows(X)


def make_dataset(
    X: Any, schema: FeatureSchema, *, clus: bool = False, n_jobs: int | None = None
) -> _core.Dataset:
    """Convert X to the data set of the core, whose ranks and codes all trees share."""
    n_threads = count_threads(n_jobs) if X.shape[0] * X.shape[1] >= _MIN_SHARED_CELLS else 1
    return _core.Dataset(as_columns(X), schema.n_categories, clus, n_threads)


def _read_array(estimator: Any, X: Any, *, reset: bool) -> Any:
    try:
        return validate_data(
            estimator,
            _without_times(X),
            reset=reset,
            accept_sparse=["csc" if reset else "csr"],
            dtype=[np.float64, np.float32],
            ensure_all_finite="allow-nan",
        )
    except ValueError as error:
        if "could not convert string to float" not in str(error):
            raise
        raise ValueError(
            f"X must be numbers if it is an array: {error}. Pass categories as a data frame. "
            f"{_TEXT_ADVICE}"
        ) from None


def _without_times(X: Any) -> Any:
    """Convert the dates and missing values of an array; scikit-learn checks everything else."""
    if sparse.issparse(X) or is_frame(X):
        return X
    try:
        array = np.asarray(X)
    except ValueError:  # rows of different lengths
        return X
    if array.dtype.kind in "mM":
        return seconds_of(array, 0)
    if array.dtype.kind != "O" or array.ndim != 2:
        return X
    return np.array(
        [[_plain_cell(cell, j) for j, cell in enumerate(row)] for row in array.tolist()],
        dtype=object,
    ).reshape(array.shape)


def _times_of_array(X: Any) -> str:
    """Return the kind of times that an array has; "" if it has another data type."""
    kind = getattr(getattr(X, "dtype", None), "kind", "")
    return {"M": TIMES[0], "m": TIMES[2]}.get(kind, "")


def _plain_cell(cell: Any, column: int) -> Any:
    if is_missing(cell):
        return np.nan
    is_time = isinstance(cell, dt.date | dt.time | dt.timedelta | np.datetime64 | np.timedelta64)
    return float(seconds_of(np.array([cell], dtype=object), column)[0]) if is_time else cell


def _kinds_of(X: Any, chosen: set[int]) -> dict[int, str]:
    """Return the kind of every column whose values are not plain numbers."""
    kinds = {}
    for j, (name, dtype) in enumerate(zip(X.columns, X.dtypes, strict=True)):
        if j in chosen:
            kinds[j] = "category"
        elif not _is_plain(dtype):
            kinds[j] = kind_of_column(X[name])
    return kinds


def _is_plain(dtype: Any) -> bool:
    """Return whether a column of a data type is read as scikit-learn does."""
    kind = getattr(dtype, "kind", None)
    return kind in ("b", "i", "u", "f") or (kind is None and str(dtype).startswith(_POLARS))


def _categories_of(column: Any, clus_order: bool) -> tuple[Any, ...]:
    """Return the categories of a column in the order of their codes."""
    declared = getattr(column.dtype, "categories", None)
    # A Categorical of polars declares the categories of all columns of the process.
    if declared is None or str(column.dtype).startswith("Categorical"):
        declared = []
    categories = list(declared)
    if not categories:
        seen = {value for value in column.to_list() if not is_missing(value)}
        categories = sorted(seen, key=lambda value: (str(type(value)), value))
    if len(categories) > _MAX_CATEGORIES:
        raise ValueError(
            f"column {getattr(column, 'name', '')!r} of X must have at most {_MAX_CATEGORIES} "
            f"categories, got {len(categories)}. Drop identifiers, or convert numbers with "
            "astype(float)."
        )
    if clus_order:
        categories = sorted(categories, key=str)
        if [str(value) for value in categories] == ["0", "1"]:
            categories.reverse()
    return tuple(categories)


def _read_frame(estimator: Any, X: Any, schema: FeatureSchema, *, reset: bool) -> Any:
    """Convert a data frame to a float matrix, with codes in place of categories."""
    if not (schema.categories or schema.times) and all(map(_is_plain, X.dtypes)):
        return _read_array(estimator, X, reset=reset)
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    if len(X) == 0:
        raise ValueError("X has 0 rows. Pass at least one row.")
    cells = np.empty((len(X), len(X.columns)), dtype=np.float64, order="F")
    for j, name in enumerate(X.columns):
        if j in schema.categories:
            cells[:, j] = _codes(X[name], schema.categories[j])
        elif j in schema.times:
            cells[:, j] = _times(X[name], name, schema.times[j])
        else:
            cells[:, j] = numbers_of(X[name], name)
    return cells


def _times(column: Any, name: Any, kind: str) -> NDArray[np.float64]:
    found = kind_of_column(column)
    if found == kind:
        return seconds_of(column, name)
    values = [value for value in column.to_list() if not is_missing(value)]
    if values:
        raise ValueError(
            f"column {name!r} of X must be a {kind}, as in fit, got {values[0]!r}. Convert it to "
            "the type of the column in fit, e.g. with pandas.to_datetime."
        )
    return np.full(len(column), np.nan)


def _codes(column: Any, categories: tuple[Any, ...]) -> NDArray[np.float64]:
    code = {value: float(k) for k, value in enumerate(categories)}
    categorical = getattr(column, "cat", None)
    if categorical is not None and hasattr(categorical, "codes"):
        # Look up each category once instead of each cell; code -1 selects the last entry, NaN.
        own = [code.get(value, np.nan) for value in categorical.categories]
        translated = np.array([*own, np.nan])[np.asarray(categorical.codes)]
        return np.asarray(translated, dtype=np.float64)
    return np.array(
        [np.nan if is_missing(value) else code.get(value, np.nan) for value in column.to_list()],
        dtype=np.float64,
    )


def _chosen_columns(
    categorical_features: Any, names: Sequence[Any] | None, n_features: int
) -> set[int]:
    """Return the indices of the columns listed in `categorical_features`."""
    if categorical_features is None:
        return set()
    given = np.atleast_1d(np.asarray(categorical_features))
    if given.size == 0:
        return set()
    if given.dtype == bool:
        if given.shape != (n_features,):
            raise ValueError(
                f"categorical_features must be a mask of shape ({n_features},), got shape "
                f"{given.shape}. Pass one value per column of X."
            )
        return {int(j) for j in np.flatnonzero(given)}
    if given.dtype.kind in "iu":
        bad = given[(given < 0) | (given >= n_features)]
        if bad.size:
            raise ValueError(
                f"categorical_features must contain indices from 0 to {n_features - 1}, got "
                f"{bad[0]}: X has {n_features} columns."
            )
        return {int(j) for j in given}
    if names is None:
        raise ValueError(
            f"categorical_features must be indices or a mask if X has no column names, got "
            f"{shorten(given.tolist())}. Pass X as a data frame to use names."
        )
    missing = [name for name in given.tolist() if name not in names]
    if missing:
        raise ValueError(
            f"categorical_features must contain columns of X, got {shorten(missing)}. The columns "
            f"are {shorten(names)}."
        )
    return {list(names).index(name) for name in given.tolist()}


def _count_codes(X: Any, columns: NDArray[np.intp]) -> NDArray[np.int32]:
    """Return the number of categories of some columns of an array: the largest code plus 1."""
    part = cast("Any", X)[:, columns]
    codes = np.asarray(dense(part), dtype=np.float64)
    filled = np.where(np.isnan(codes), 0.0, codes)
    bad = np.argwhere((filled < 0) | (filled != np.floor(filled)) | (filled >= _MAX_CATEGORIES))
    if len(bad):
        row, k = bad[0]
        raise ValueError(
            f"column {columns[k]} of X is in categorical_features and must contain integer codes "
            f"from 0 to {_MAX_CATEGORIES - 1}, got {codes[row, k]}. Use NaN for missing values."
        )
    return np.asarray(filled.max(axis=0, initial=0.0) + 1, dtype=np.int32)
