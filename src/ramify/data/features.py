"""Convert X of any layout to numbers and category codes, with NaN for missing values."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import validate_data

from ramify import _core
from ramify._messages import shorten
from ramify._parallel import count_threads
from ramify._savable import savable
from ramify._schema import Anything, Array, MapOf, Part, Schema, Text, TupleOf, Whole
from ramify._validation import is_missing
from ramify.data.columns import TEXT, TIMES, VECTOR, kind_of_column, numbers_of, seconds_of
from ramify.data.frames import check_column_names, in_memory, is_frame
from ramify.data.rows import as_columns, by_rows, compact, dense
from ramify.data.texts import Terms, are_texts, texts_of
from ramify.data.vectors import length_of_vectors, vectors_of

__all__ = [
    "MAX_CATEGORIES",
    "FeatureSchema",
    "categories_of",
    "chosen_columns",
    "columns_of",
    "given_features",
    "learn_columns",
    "make_dataset",
    "read_features",
    "read_training_features",
]


MAX_CATEGORIES = 2**16
"""A column with more distinct values than this is an identifier rather than a nominal feature."""

_POLARS = ("Int", "UInt", "Float", "Boolean")  # numeric types of polars
_MIN_SHARED_CELLS = 1_000_000  # cells of X below which threads are not worth starting
TEXT_FORMS = ("presence", "weights", "passed")
"""What estimators get of texts: which terms occur; their TF-IDF; nothing, since an estimator of
another library gets them as they are, and so it does vectors."""

_READY = (np.dtype(np.float64), np.dtype(np.float32))  # types of X that are used as they are
_FEW_CELLS = 2**16  # of a data frame, whose validation takes as long as reading its cells
_COLUMNS_AT_ONCE = 64  # nominal columns checked per call, to limit both calls and memory


@savable
@dataclass(frozen=True)
class FeatureSchema:
    """How features become variables, the columns of numbers and codes that models learn from.

    One variable each, but for texts (one for each term) and vectors (one for each number).
    """

    # The number of categories of each nominal variable, 0 for a numeric variable.
    n_categories: NDArray[np.int32]
    # The categories of each nominal column of a data frame, in the order of their codes. Nominal
    # columns of an array have no entry: their values are already codes.
    categories: dict[int, tuple[Any, ...]]
    # The kind of each numeric feature that is a date, duration or time of day; see
    # `ramify.data.columns.TIMES`. Their values are seconds.
    times: dict[int, str] = field(default_factory=dict)
    # The terms of each text, and the length of each vector.
    texts: dict[int, Terms] = field(default_factory=dict, metadata={"saved_if_any": True})
    vectors: dict[int, int] = field(default_factory=dict, metadata={"saved_if_any": True})

    _saved_schema: ClassVar[Schema] = {
        "n_categories": Array(("n_variables",), "i4", low=0, high=MAX_CATEGORIES),
        "categories": MapOf(Whole(0, "n_features"), TupleOf(Anything())),
        "times": MapOf(Whole(0, "n_features"), Text(TIMES)),
        "texts": MapOf(Whole(0, "n_features"), Part(Terms)),
        "vectors": MapOf(Whole(0, "n_features"), Whole(0, "n_variables+1")),
    }

    @classmethod
    def numeric(cls, n_features: int) -> FeatureSchema:
        """Return the schema of numeric features only."""
        return cls(np.zeros(n_features, dtype=np.int32), {})

    @property
    def has_nominal(self) -> bool:
        """Whether any feature is nominal."""
        return bool(self.n_categories.any())

    @property
    def is_read(self) -> bool:
        """Whether a feature is not the number or code that models learn from."""
        return bool(self.categories or self.times or self.texts or self.vectors)

    @property
    def n_variables(self) -> int:
        """The number of variables."""
        return len(self.n_categories)

    @property
    def n_features(self) -> int:
        """The number of features."""
        widths = self._wide_features().values()
        return self.n_variables - sum(widths) + len(widths)

    @property
    def variables(self) -> tuple[Any, ...]:
        """What the variables stand for; models that are continued must have the same."""
        terms = [(feature, one.letters.tobytes()) for feature, one in self.texts.items()]
        return self.n_features, self.n_variables, terms

    def is_wide(self, feature: int) -> bool:
        """Return whether a feature is a text or vector, which may have many variables."""
        return feature in self.texts or feature in self.vectors

    def starts(self) -> NDArray[np.intp]:
        """Return the first variable of each feature, and the number of variables at the end."""
        widths = np.ones(self.n_features, dtype=np.intp)
        for feature, width in self._wide_features().items():
            widths[feature] = width
        return np.concatenate([[0], np.cumsum(widths)])

    def text_slices(self) -> tuple[tuple[int, int], ...]:
        """Return where the variables of each text begin and end."""
        if not self.texts:
            return ()
        starts = self.starts().tolist()
        return tuple((starts[j], starts[j + 1]) for j in sorted(self.texts))

    def number_vectors(self, names: Sequence[str]) -> list[str]:
        """Return the names of features, those of vectors once for each number: embedding[0], …."""
        parts = (
            [f"{name}[{k}]" for k in range(self.vectors[j])] if j in self.vectors else [name]
            for j, name in enumerate(names)
        )
        return list(chain.from_iterable(parts))

    def features(self) -> NDArray[np.intp]:
        """Return the feature of each variable."""
        return np.repeat(np.arange(self.n_features), np.diff(self.starts()))

    def sum_by_feature(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Add up values of variables, such as importances, for each feature."""
        if not self._wide_features():
            return values
        return np.asarray(np.bincount(self.features(), values, self.n_features), np.float64)

    def _wide_features(self) -> dict[int, int]:
        """Return the number of variables of the features that may have more or less than one."""
        return {feature: len(terms) for feature, terms in self.texts.items()} | self.vectors

    def with_numeric(self, n_features: int) -> FeatureSchema:
        """Return the schema with numeric features appended."""
        added = np.zeros(n_features, dtype=np.int32)
        return replace(self, n_categories=np.append(self.n_categories, added))

    def check(self, n_features: int) -> None:
        """Raise an error if the schema, e.g. from a file, does not fit the number of features."""
        kinds = (self.categories, self.times, self.texts, self.vectors)
        features = [feature for kind in kinds for feature in kind]
        if len(set(features)) < len(features) or self.n_features != n_features:
            raise ValueError("schema_ and n_features_in_ do not fit together")
        starts = self.starts()
        for feature in self._wide_features():
            if self.n_categories[starts[feature] : starts[feature + 1]].any():
                raise ValueError("terms and numbers of vectors must not be nominal")
        for terms in self.texts.values():
            terms.check()


def read_training_features(
    estimator: Any, X: Any, categorical_features: Any = None, *, clus_order: bool = False
) -> tuple[Any, FeatureSchema]:
    """Validate X for `fit`, set its attributes of the estimator, and return numbers and codes.

    The categories of an array must be integer codes 0, 1, …. In the order of CLUS, those of a data
    frame are sorted as strings, except that "1" precedes "0" if these are the only two.
    """
    X = in_memory(X, "X")
    form = getattr(estimator, "_text_form", lambda: "presence")()
    if are_texts(X):
        return _learn_texts(estimator, X, categorical_features, form)
    if is_frame(X):
        chosen = chosen_columns(categorical_features, list(X.columns), len(X.columns))
        weighed: dict[int, Any] = {}
        columns = columns_of(X)
        schema = learn_columns(columns, chosen, clus_order=clus_order, form=form, weighed=weighed)
        coded = _read_frame(estimator, X, schema, reset=True, weighed=weighed)
        _check_any_variable(schema, form)
        return coded, schema
    kind = _times_of_array(X)
    X = _read_array(estimator, X, reset=True)
    chosen = chosen_columns(categorical_features, None, X.shape[1])
    n_categories = np.zeros(X.shape[1], dtype=np.int32)
    nominal = np.array(sorted(chosen), dtype=np.intp)
    for start in range(0, len(nominal), _COLUMNS_AT_ONCE):
        some = nominal[start : start + _COLUMNS_AT_ONCE]
        n_categories[some] = _count_codes(X, some)
    times = dict.fromkeys(range(X.shape[1] if kind else 0), kind)
    return X, FeatureSchema(n_categories, {}, times)


def _learn_texts(
    estimator: Any, X: Any, categorical_features: Any, form: str
) -> tuple[Any, FeatureSchema]:
    """Read a list or column of texts, which is one feature without a name."""
    if categorical_features is not None and np.size(categorical_features):
        raise ValueError(
            f"categorical_features must be None if X is a list of texts, got "
            f"{shorten(np.atleast_1d(categorical_features).tolist())}. Pass a data frame."
        )
    texts = texts_of(X, 0)
    weighed: dict[int, Any] = {}
    terms = _learn_terms(texts, form, weighed, 0)
    schema = FeatureSchema(np.zeros(len(terms), dtype=np.int32), {}, texts={0: terms})
    _check_any_variable(schema, form)
    estimator.n_features_in_ = 1
    if hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    X = weighed[0] if weighed else terms.weigh(texts)
    return X.tocsc(), schema


def columns_of(X: Any) -> dict[Any, Any]:
    """Return the columns of a data frame by name."""
    check_column_names(X.columns, "X")
    return {name: X[name] for name in X.columns}


def learn_columns(
    columns: Mapping[Any, Any],
    chosen: Collection[int],
    *,
    clus_order: bool = False,
    form: str = "presence",
    weighed: dict[int, Any] | None = None,
) -> FeatureSchema:
    """Return how the columns of a data frame become variables.

    `weighed` receives the variables of columns of texts, which are found on the way.
    """
    kinds = _kinds_of(columns, chosen)
    categories, texts, vectors = {}, {}, {}
    sizes: list[list[int]] = []  # the number of categories of each variable of each column
    for j, (name, column) in enumerate(columns.items()):
        sizes.append([0])
        if kinds.get(j) == "category":
            categories[j] = categories_of(column, clus_order)
            sizes[j] = [max(1, len(categories[j]))]
        elif kinds.get(j) == TEXT:
            texts[j] = _learn_terms(texts_of(column, name), form, weighed, j)
            sizes[j] = [0] * len(texts[j])
        elif kinds.get(j) == VECTOR:
            vectors[j] = 0 if form == "passed" else length_of_vectors(column, name)
            sizes[j] = [0] * vectors[j]
    n_categories = np.fromiter(chain.from_iterable(sizes), np.int32)
    times = {j: kind for j, kind in kinds.items() if kind in TIMES}
    return FeatureSchema(n_categories, categories, times, texts, vectors)


def _learn_terms(
    texts: Sequence[str | None], form: str, weighed: dict[int, Any] | None, column: int
) -> Terms:
    """Choose the terms of a text in the form that an estimator needs; see `TEXT_FORMS`."""
    if form == "passed":
        return Terms.none()
    weighted = form == "weights"
    if weighed is None:
        return Terms.learn(texts, weighted=weighted)
    terms, weighed[column] = Terms.learn_and_weigh(texts, weighted=weighted)
    return terms


def _check_any_variable(schema: FeatureSchema, form: str) -> None:
    """Raise an error if X has only texts, none of which has a word."""
    if not schema.n_variables and form != "passed":
        raise ValueError(
            "X must have texts with words, got only empty cells and punctuation. Check that the "
            "column of texts was read, or add other columns."
        )


def read_features(estimator: Any, X: Any, schema: FeatureSchema) -> Any:
    """Validate X for prediction; categories not seen in `fit` become missing values.

    Returns: numbers, codes and NaN.
    """
    if _is_ready(estimator, X, schema):
        return X
    cells = _ready_cells(estimator, X, schema)
    if cells is not None:
        return cells
    X = in_memory(X, "X")
    if are_texts(X):
        return _weigh_texts(X, schema)
    if is_frame(X):
        check_column_names(X.columns, "X")
        return _read_frame(estimator, X, schema, reset=False)
    _check_array_fits(X, schema)
    return _read_array(estimator, X, reset=False)


def _weigh_texts(X: Any, schema: FeatureSchema) -> Any:
    """Read texts for a model that has learnt from texts only."""
    if list(schema.texts) != [0] or schema.n_features != 1:
        first = next(str(text) for text in X if not is_missing(text))
        raise ValueError(
            f"X must be a table with the {schema.n_features} features of fit, got a list of texts "
            f"such as {shorten([first])}. Pass the same columns as in fit."
        )
    return schema.texts[0].weigh(texts_of(X, 0))


def _check_array_fits(X: Any, schema: FeatureSchema) -> None:
    """Raise an error if a model for other features than numbers gets an array."""
    if schema.texts and schema.n_features == 1:
        raise ValueError(
            "X must contain texts, as in fit, got an array without. Pass a list of strings."
        )
    for what, features in (
        ("nominal columns", schema.categories),
        ("columns of texts", schema.texts),
        ("columns of vectors", schema.vectors),
    ):
        if features:
            raise ValueError(
                "X must be a data frame, got an array: the model was fitted on a data frame with "
                f"{what} {shorten(features)}. Pass a data frame with these columns."
            )
    kinds = set(schema.times.values())
    if kinds and kinds != {_times_of_array(X)}:
        raise ValueError(
            f"X must contain a {' and a '.join(sorted(kinds))}, as in fit, got an array without. "
            f"Pass the same types of columns as in fit; these are columns {shorten(schema.times)}."
        )


def _is_ready(estimator: Any, X: Any, schema: FeatureSchema) -> bool:
    """Return whether X is a matrix that needs no conversion, and raises no error or warning.

    This takes microseconds, whereas scikit-learn's validation takes longer than predicting a row.
    """
    cells = X.data if isinstance(X, sparse.csr_array | sparse.csr_matrix) else X
    return (
        type(cells) is np.ndarray
        and cells.dtype in _READY
        and X.ndim == 2
        and X.shape[0] > 0
        and X.shape[1] == estimator.n_features_in_
        and not (schema.is_read or hasattr(estimator, "feature_names_in_"))
        and not np.count_nonzero(np.isinf(cells))  # much faster than any() for a row
    )


def _ready_cells(estimator: Any, X: Any, schema: FeatureSchema) -> Any:
    """Return the cells of a few rows of numbers with the columns of `fit`; None for other X.

    scikit-learn's validation, to which all else is left, takes longer than predicting the rows.
    """
    if schema.is_read or not is_frame(X) or not 0 < X.shape[0] * X.shape[1] <= _FEW_CELLS:
        return None
    return _finite_numbers(X) if _has_names_of_fit(estimator, X) else None


def _has_names_of_fit(estimator: Any, X: Any) -> bool:
    """Return whether the columns of a data frame are those of `fit`, in the same order."""
    names = getattr(estimator, "feature_names_in_", None)
    return (
        names is not None
        and len(names) == len(X.columns)
        and bool((np.asarray(X.columns, dtype=object) == names).all())
    )


def given_features(given: Any, X: Any) -> Any:
    """Return X for classifiers of other libraries: frames and texts unchanged, or numbers."""
    given = in_memory(given, "X")
    if are_texts(given):
        return np.array(texts_of(given, 0), dtype=object)
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
            f"X must be numbers if it is an array: {error}. Pass categories and texts as a data "
            "frame, or texts as a list of strings."
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


def _kinds_of(columns: Mapping[Any, Any], chosen: Collection[int]) -> dict[int, str]:
    """Return the kind of every column whose values are not plain numbers."""
    kinds = {}
    for j, column in enumerate(columns.values()):
        if j in chosen:
            kinds[j] = "category"
        elif not _is_plain(column.dtype):
            kinds[j] = kind_of_column(column)
    return kinds


def _is_plain(dtype: Any) -> bool:
    """Return whether a column of a data type is read as scikit-learn does."""
    kind = getattr(dtype, "kind", None)
    return kind in ("b", "i", "u", "f") or (kind is None and str(dtype).startswith(_POLARS))


def categories_of(column: Any, clus_order: bool) -> tuple[Any, ...]:
    """Return the categories of a column in the order of their codes."""
    declared = getattr(column.dtype, "categories", None)
    # A Categorical of polars declares the categories of all columns of the process.
    if declared is None or str(column.dtype).startswith("Categorical"):
        declared = []
    categories = list(declared)
    if not categories:
        try:
            seen = {value for value in column.to_list() if not is_missing(value)}
        except TypeError as error:
            raise ValueError(
                f"column {getattr(column, 'name', '')!r} of X is in categorical_features and must "
                f"contain strings or numbers, got an {error}. Remove it from categorical_features."
            ) from None
        categories = sorted(seen, key=lambda value: (str(type(value)), value))
    if len(categories) > MAX_CATEGORIES:
        raise ValueError(
            f"column {getattr(column, 'name', '')!r} of X must have at most {MAX_CATEGORIES} "
            f"categories, got {len(categories)}. Drop identifiers, or convert numbers with "
            "astype(float)."
        )
    if clus_order:
        categories = sorted(categories, key=str)
        if [str(value) for value in categories] == ["0", "1"]:
            categories.reverse()
    return tuple(categories)


def _read_frame(
    estimator: Any,
    X: Any,
    schema: FeatureSchema,
    *,
    reset: bool,
    weighed: Mapping[int, Any] | None = None,
) -> Any:
    """Convert a data frame to a float matrix, with codes in place of categories.

    `weighed`: the variables of columns of texts, if they are known.
    """
    if not schema.is_read and all(map(_is_plain, X.dtypes)):
        return _read_array(estimator, X, reset=reset)
    if reset or not _has_names_of_fit(estimator, X):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
    if len(X) == 0:
        raise ValueError("X has 0 rows. Pass at least one row.")
    starts = schema.starts().tolist()
    blocks: list[Any] = []
    first = 0
    # The columns between texts, whose variables are sparse, share a dense array.
    for end in (*sorted(schema.texts), len(X.columns)):
        width = starts[end] - starts[first]
        if width or not schema.texts:
            blocks.append(_dense_block(X, first, end, starts, schema))
        if end in schema.texts:
            name = X.columns[end]
            known = (weighed or {}).get(end)
            found = schema.texts[end].weigh(texts_of(X[name], name)) if known is None else known
            blocks.append(found)
        first = end + 1
    if not schema.texts:
        return blocks[0]
    joined = _joined(blocks)
    return joined.tocsc() if reset else joined


def _dense_block(
    X: Any, first: int, end: int, starts: list[int], schema: FeatureSchema
) -> NDArray[np.float64]:
    """Return the variables of neighbouring columns without texts; plain numbers all at once."""
    cells = np.empty((len(X), starts[end] - starts[first]), dtype=np.float64, order="F")
    read = schema.categories.keys() | schema.times.keys() | schema.vectors.keys()
    columns = list(enumerate(X.columns.tolist() if hasattr(X.columns, "tolist") else X.columns))
    numeric = [(j, name) for j, name in columns[first:end] if j not in read]
    together = _finite_numbers(X[[name for _, name in numeric]]) if len(numeric) > 1 else None
    if together is not None:
        cells[:, [starts[j] - starts[first] for j, _ in numeric]] = together
    for j, name in columns[first:end]:
        if together is None or j in read:
            at = slice(starts[j] - starts[first], starts[j + 1] - starts[first])
            cells[:, at] = _cells_of(X[name], name, j, schema)
    return cells


def _finite_numbers(X: Any) -> Any:
    """Return the cells of a data frame of finite numbers; None if columns must be read alone."""
    cells = np.asarray(X.to_numpy())
    if cells.dtype.kind in "biu":
        return cells.astype(np.float64)
    return cells if cells.dtype in _READY and not np.count_nonzero(np.isinf(cells)) else None


def _cells_of(column: Any, name: Any, j: int, schema: FeatureSchema) -> NDArray[np.float64]:
    """Return the variables of a column that is no text, one column each."""
    if j in schema.vectors:
        return vectors_of(column, name, schema.vectors[j])
    if j in schema.categories:
        return _codes(column, schema.categories[j])[:, None]
    if j in schema.times:
        return _times(column, name, schema.times[j])[:, None]
    return numbers_of(column, name)[:, None]


def _joined(blocks: Sequence[Any]) -> Any:
    """Join dense and sparse variables in one sparse matrix; missing values are stored."""
    matrices = [sparse.csr_array(block) for block in blocks]
    joined = sparse.hstack(matrices, format="csr") if len(matrices) > 1 else matrices[0]
    return compact(joined)


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


def chosen_columns(
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
    bad = np.argwhere((filled < 0) | (filled != np.floor(filled)) | (filled >= MAX_CATEGORIES))
    if len(bad):
        row, k = bad[0]
        raise ValueError(
            f"column {columns[k]} of X is in categorical_features and must contain integer codes "
            f"from 0 to {MAX_CATEGORIES - 1}, got {codes[row, k]}. Use NaN for missing values."
        )
    return np.asarray(filled.max(axis=0, initial=0.0) + 1, dtype=np.int32)
