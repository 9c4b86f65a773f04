"""Split feature matrices of any layout into columns of numbers or codes, and build them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from numbers import Real
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify._messages import import_extra
from ramify.data.columns import seconds_of
from ramify.data.dates import is_clock, is_time, seconds_of_times


@dataclass(frozen=True)
class Features:
    """The columns of a feature matrix."""

    names: tuple[str, ...]  # names of the columns
    categories: dict[str, tuple[str, ...]]  # values of the nominal columns
    # The cells as a sparse matrix, or one array per column: numbers or codes; missing cells are
    # NaN.
    matrix: Any
    n_rows: int  # number of rows
    # The columns of dates, durations and times of day, which are seconds in `matrix`.
    times: dict[str, Any] = field(default_factory=dict)

    @property
    def is_sparse(self) -> bool:
        """Whether `matrix` is a sparse matrix."""
        return bool(sparse.issparse(self.matrix))

    def columns(self, start: int, stop: int) -> list[NDArray[np.float64]]:
        """Return some rows, one array per column."""
        if isinstance(self.matrix, list):
            return [column[start:stop] for column in self.matrix]
        return list(self.matrix[start:stop].toarray().T)

    def sparse_rows(self, start: int, stop: int) -> sparse.csr_array[np.float64]:
        """Return some rows without their zeros."""
        if not isinstance(self.matrix, list):
            return sparse.csr_array(self.matrix[start:stop])
        columns = self.columns(start, stop)
        shape = (min(stop, self.n_rows) - start, len(columns))
        return sparse.csr_array(np.column_stack(columns) if columns else np.empty(shape))


def read_features(
    X: Any,
    feature_names: Sequence[str] | None = None,
    categories: Mapping[str, Sequence[str]] | None = None,
) -> Features:
    """Split a feature matrix into columns."""
    if hasattr(X, "to_pandas"):  # polars
        X = X.to_pandas()
    if hasattr(X, "iloc"):
        return _of_frame(X, feature_names, categories)
    is_sparse = sparse.issparse(X)
    if not is_sparse:
        X = np.asarray(X, dtype=np.float64)
    if X.ndim != 2:
        raise ValueError(f"X must be 2-D, with rows and features, got {X.ndim} dimension(s).")
    names = _checked_names(feature_names, X.shape[1])
    values = {name: tuple(listed) for name, listed in (categories or {}).items()}
    _check_known(values, names)
    if is_sparse:
        matrix: Any = sparse.csr_array(X).astype(np.float64)
        matrix.sum_duplicates()
        columns = matrix.tocsc()
        nominal = {j: columns[:, [j]].data for j, name in enumerate(names) if name in values}
    else:
        matrix = list(X.T)
        nominal = {j: matrix[j] for j, name in enumerate(names) if name in values}
    for j, codes in nominal.items():
        _check_codes(codes, names[j], len(values[names[j]]))
    return Features(names, values, matrix, X.shape[0])


def _of_frame(
    frame: Any, feature_names: Sequence[str] | None, categories: Mapping[str, Any] | None
) -> Features:
    if categories:
        raise ValueError(
            "categories must be None if X is a data frame, which defines the categories of its "
            "columns. Remove the argument."
        )
    given = [str(name) for name in frame.columns] if feature_names is None else feature_names
    names = _checked_names(given, frame.shape[1])
    values: dict[str, tuple[str, ...]] = {}
    numeric = [j for j, dtype in enumerate(frame.dtypes) if dtype.kind in "biuf"]
    numbers = frame.iloc[:, numeric].to_numpy(dtype=np.float64, na_value=np.nan)
    columns = dict(zip(numeric, numbers.T, strict=True))
    times = {}
    for j in sorted(set(range(len(names))) - set(numeric)):
        series = frame.iloc[:, j]
        if is_time(series):
            times[names[j]] = series
            columns[j] = seconds_of_times(series)
        elif is_clock(series):
            times[names[j]] = series
            columns[j] = seconds_of(series, names[j])
        elif _are_numbers(series):
            columns[j] = _as_floats(series, names[j])
        else:
            columns[j], values[names[j]] = _nominal_column(series, names[j])
    return Features(names, values, [columns[j] for j in range(len(names))], len(frame), times)


def _are_numbers(series: Any) -> bool:
    """Return whether a column of objects has numbers only, such as decimals, or truth values."""
    known = series[series.notna()] if series.dtype == object else ()
    return len(known) > 0 and all(isinstance(value, Real | Decimal | np.bool_) for value in known)


def _as_floats(series: Any, name: str) -> NDArray[np.float64]:
    """Convert a column of Python numbers, of which some may be too large."""
    try:
        return cast("NDArray[np.float64]", series.to_numpy(dtype=np.float64, na_value=np.nan))
    except OverflowError:
        raise ValueError(
            f"column {name!r} must have numbers below 1.8e308, got a larger one. Correct it, or "
            "leave the cell empty."
        ) from None


def _nominal_column(series: Any, name: str) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    kind = str(series.dtype)
    if kind != "category":
        if kind not in ("object", "str", "string"):
            raise ValueError(
                "columns of X must be numeric, text, categorical or dates, got column "
                f"{name!r} of type {kind}. Convert it first."
            )
        series = series.astype("category")
    listed = tuple(str(value) for value in series.cat.categories)
    if len(set(listed)) < len(listed):
        raise ValueError(
            f"categories of X must differ as text, but some of column {name!r} do not. Rename "
            "them."
        )
    codes = series.cat.codes.to_numpy().astype(np.float64)
    codes[codes < 0] = np.nan
    return codes, listed


def _checked_names(names: Sequence[str] | None, n_columns: int) -> tuple[str, ...]:
    if names is None:
        return tuple(f"x{j}" for j in range(n_columns))
    listed = tuple(names)
    if len(listed) != n_columns:
        raise ValueError(
            f"feature_names has {len(listed)} names, but X has {n_columns} columns. Pass one name "
            "per column."
        )
    if len(set(listed)) < len(listed):
        repeated = next(name for name, count in Counter(listed).items() if count > 1)
        raise ValueError(
            f"feature_names must be unique, got {repeated!r} more than once. Rename one of them."
        )
    return listed


def _check_known(values: Mapping[str, Any], names: Sequence[str]) -> None:
    known = set(names)
    for name in values:
        if name not in known:
            raise ValueError(f"categories must be keyed by feature names, got {name!r}.")


def _check_codes(codes: NDArray[np.float64], name: str, n_values: int) -> None:
    known = codes[~np.isnan(codes)]
    bad = known[(known < 0) | (known >= n_values) | (known != np.floor(known))]
    if len(bad):
        raise ValueError(
            f"nominal column {name!r} of X must contain integers from 0 to {n_values - 1}, the "
            f"positions in categories[{name!r}], or NaN, got {bad[0]:g}."
        )


# ---- matrices from columns of numbers and codes: arrays and data frames ---------------------


def import_pandas(instead: str = "") -> Any:
    """Import pandas, or raise an error that says how to install it or do without it."""
    try:
        return import_extra("pandas", "tables")
    except ImportError as error:
        raise ImportError(f"{error}{instead}") from None


def frame_of_columns(
    names: Sequence[str],
    numbers: NDArray[np.float64],
    codes: Mapping[int, NDArray[Any]],
    categories: Mapping[str, tuple[str, ...]],
) -> Any:
    """Build a data frame with categorical columns from arrays, mostly without copies."""
    pandas = import_pandas(", or pass as_frame=False for an array of codes")
    # Columns with the same values share one dtype: creating it costs more than the column.
    dtypes = {values: pandas.CategoricalDtype(values) for values in set(categories.values())}
    nominal = {
        names[at]: pandas.Categorical.from_codes(
            column, dtype=dtypes[categories[names[at]]], validate=False
        )
        for at, column in codes.items()
    }
    numeric_names = [name for name in names if name not in nominal]
    if not numeric_names:
        return pandas.DataFrame(nominal, index=pandas.RangeIndex(len(numbers)), copy=False)
    # One block for all numbers: a thousand blocks of one column slow down every later step.
    frame = pandas.DataFrame(numbers, columns=numeric_names, copy=False)
    if not nominal:
        return frame
    both = pandas.concat([frame, pandas.DataFrame(nominal, copy=False)], axis=1)
    return both[list(names)]


def array_of_columns(
    n_columns: int, numbers: NDArray[np.float64], codes: Mapping[int, NDArray[Any]]
) -> NDArray[np.float64]:
    """Build one float array; nominal cells are codes, missing cells NaN."""
    if not codes:
        return numbers
    array = np.empty((len(numbers), n_columns))
    numeric = np.ones(n_columns, dtype=bool)
    numeric[list(codes)] = False
    array[:, numeric] = numbers
    for at, column in codes.items():
        array[:, at] = column
        array[column < 0, at] = np.nan
    return array
