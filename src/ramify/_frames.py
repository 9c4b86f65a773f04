"""Data frames of pandas, polars and pyarrow: what they have in common."""

from __future__ import annotations

from typing import Any

from scipy import sparse

from ramify._validation import import_extra

__all__ = ["in_memory", "is_frame"]


def in_memory(data: Any, name: str) -> Any:
    """Convert a pyarrow table to a pandas data frame; return other data unchanged.

    Parameters
    ----------
    data : object
        X or y as the user passed it.
    name : str
        Name of the argument in error messages.

    Returns
    -------
    object
        The data. A polars LazyFrame raises an error, because its rows do not exist yet.
    """
    if type(data).__name__ == "LazyFrame":
        raise TypeError(
            f"{name} must be a data frame in memory, got a LazyFrame. Pass {name}.collect()."
        )
    is_arrow = type(data).__module__.partition(".")[0] == "pyarrow"
    if is_arrow and hasattr(data, "num_columns"):
        import_extra("pandas", "tables")
        return data.to_pandas()
    return data


def is_frame(data: Any) -> bool:
    """Return whether data is a pandas or polars data frame."""
    return hasattr(data, "columns") and hasattr(data, "dtypes") and not sparse.issparse(data)
