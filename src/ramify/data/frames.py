"""Data frames of pandas, polars and pyarrow: what they have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from ramify._messages import import_extra, shorten
from ramify.data.rows import dense

OUTPUTS = ("default", "pandas", "polars")
"""Values of `set_output`, as in scikit-learn."""


def in_memory(data: Any, name: str) -> Any:
    """Convert a pyarrow table to a pandas data frame, and masked values of X to missing ones."""
    if isinstance(data, np.ma.MaskedArray):
        return _without_mask(data, name)
    if type(data).__name__ == "LazyFrame":
        raise TypeError(
            f"{name} must be a data frame in memory, got a LazyFrame. Pass {name}.collect()."
        )
    is_arrow = type(data).__module__.partition(".")[0] == "pyarrow"
    if is_arrow and hasattr(data, "num_columns"):
        import_extra("pandas", "tables")
        check_column_names(data.schema.names, name)
        return data.to_pandas()
    return data


def _without_mask(data: Any, name: str) -> Any:
    n_masked = int(np.ma.getmaskarray(data).sum())
    if n_masked == 0:
        return data.data
    if name != "X":
        raise ValueError(
            f"{name} must not have masked values, got {n_masked}. Select the other rows, or pass "
            f"{name}.filled(value)."
        )
    if data.dtype.kind in "biuf":
        return data.astype(np.float64).filled(np.nan)
    return np.where(np.ma.getmaskarray(data), None, data.data)  # filled(None) would fill in "?"


def check_column_names(names: Iterable[Any], name: str) -> None:
    """Raise an error if two columns of a data frame have the same name."""
    repeated = [column for column, count in Counter(names).items() if count > 1]
    if repeated:
        raise ValueError(
            f"column names of {name} must be unique, got {shorten(repeated)} more than once. "
            "Rename or drop columns."
        )


def is_frame(data: Any) -> bool:
    """Return whether data is a pandas or polars data frame."""
    # pandas computes `dtypes`, which takes longer than all else here: its class has it, too.
    return hasattr(data, "columns") and hasattr(type(data), "dtypes") and not sparse.issparse(data)


def names_of(y: Any) -> tuple[str, ...]:
    """Return the names of the columns of a data frame, or the name of a column; empty if none."""
    names: list[Any] = list(y.columns) if is_frame(y) else [getattr(y, "name", None)]
    return tuple(names) if all(isinstance(name, str) and name for name in names) else ()


def make_frame(
    found: Any, library: str, columns: Sequence[Any], given: Any, own: Sequence[str] = ()
) -> Any:
    """Convert predictions to a data frame or a column."""
    frames = import_extra(library, "tables" if library == "pandas" else "polars")
    if isinstance(found, frames.DataFrame | frames.Series):
        return found
    values = dense(found)
    is_matrix = getattr(values, "ndim", 1) == 2
    names = list(columns) if is_matrix else []
    if is_matrix and len(names) != values.shape[1]:
        width = values.shape[1]
        names = [*map(str, own), *(f"level_{k + 1}" for k in range(len(own), width))][:width]
    rows = values if is_matrix else list(values)
    if library == "polars":
        if is_matrix:
            return frames.DataFrame(rows, schema=[str(name) for name in names], orient="row")
        return frames.Series(name=str(own[0]) if own else None, values=rows)
    index = getattr(given, "index", None) if isinstance(given, frames.DataFrame) else None
    if is_matrix:
        return frames.DataFrame(rows, columns=names, index=index)
    return frames.Series(rows, index=index, name=str(own[0]) if own else None)
