"""Feature matrices of any layout as columns to write: numbers, or codes of named values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


@dataclass(frozen=True)
class Features:
    """Columns to write.

    Attributes
    ----------
    names : tuple of str
        Their names.
    categories : dict of str to tuple of str
        The values of the nominal ones.
    matrix : csr_array, or list of ndarray
        The cells, or one array per column: numbers, or codes; NaN is missing.
    n_rows : int
        The length of the columns.
    """

    names: tuple[str, ...]
    categories: dict[str, tuple[str, ...]]
    matrix: Any
    n_rows: int

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
    """Take a feature matrix apart into columns.

    Parameters
    ----------
    X : array-like, sparse matrix or pandas.DataFrame
        Categorical and text columns of a frame are nominal.
    feature_names : sequence of str, optional
        Names of the columns; by default a frame's own, or x0, x1, ...
    categories : mapping of str to sequence of str, optional
        Values of the nominal columns of an array, whose cells are then places in this list.

    Returns
    -------
    Features
        The columns.
    """
    if hasattr(X, "to_pandas"):  # polars
        X = X.to_pandas()
    if hasattr(X, "iloc"):
        return _of_frame(X, feature_names, categories)
    is_sparse = sparse.issparse(X)
    if not is_sparse:
        X = np.asarray(X, dtype=np.float64)
    if X.ndim != 2:
        raise ValueError(f"X has {X.ndim} dimension(s), but it must have 2: rows and features.")
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
            "categories is given, but X is a data frame, whose categorical columns have values "
            "of their own; leave it out."
        )
    given = [str(name) for name in frame.columns] if feature_names is None else feature_names
    names = _checked_names(given, frame.shape[1])
    values: dict[str, tuple[str, ...]] = {}
    columns = []
    for name, (_, series) in zip(names, frame.items(), strict=True):
        if series.dtype.kind in "biuf" or _is_bool(series):
            columns.append(series.to_numpy(dtype=np.float64, na_value=np.nan))
        else:
            codes, values[name] = _nominal_column(series, name)
            columns.append(codes)
    return Features(names, values, columns, len(frame))


def _is_bool(series: Any) -> bool:
    """Tell whether a column is of booleans, some of them unknown."""
    known = series[series.notna()] if series.dtype == object else ()
    return len(known) > 0 and all(isinstance(value, bool | np.bool_) for value in known)


def _nominal_column(series: Any, name: str) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    kind = str(series.dtype)
    if kind != "category":
        if kind not in ("object", "str", "string"):
            raise ValueError(
                f"X has a column {name!r} of type {kind}, but columns must hold numbers, text "
                "or categories; convert it first."
            )
        series = series.astype("category")
    listed = tuple(str(value) for value in series.cat.categories)
    if len(set(listed)) < len(listed):
        raise ValueError(f"X has a column {name!r} with categories that are written alike.")
    codes = series.cat.codes.to_numpy().astype(np.float64)
    codes[codes < 0] = np.nan
    return codes, listed


def _checked_names(names: Sequence[str] | None, n_columns: int) -> tuple[str, ...]:
    if names is None:
        return tuple(f"x{j}" for j in range(n_columns))
    listed = tuple(names)
    if len(listed) != n_columns:
        raise ValueError(
            f"feature_names has {len(listed)} names, but X has {n_columns} columns; give one "
            "name per column."
        )
    if len(set(listed)) < len(listed):
        repeated = next(name for name in listed if listed.count(name) > 1)
        raise ValueError(f"feature_names has {repeated!r} more than once; give each once.")
    return listed


def _check_known(values: Mapping[str, Any], names: Sequence[str]) -> None:
    for name in values:
        if name not in names:
            raise ValueError(f"categories names {name!r}, which is none of the features.")


def _check_codes(codes: NDArray[np.float64], name: str, n_values: int) -> None:
    known = codes[~np.isnan(codes)]
    bad = known[(known < 0) | (known >= n_values) | (known != np.floor(known))]
    if len(bad):
        raise ValueError(
            f"X has {bad[0]:g} in the nominal column {name!r}, but its cells must be whole "
            f"numbers from 0 to {n_values - 1}, places in categories[{name!r}], or NaN."
        )
