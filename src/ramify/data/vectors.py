"""Read columns whose cells are vectors of numbers, such as embeddings."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify._validation import is_missing
from ramify.data.columns import VECTOR, kind_of_values


def is_vector(column: Any) -> bool:
    """Return whether a column of a pandas frame has vectors, judged by its first known cell."""
    if column.dtype != object:
        return False
    first = column.first_valid_index()
    if first is None:
        return False
    cell = column.loc[first]
    return isinstance(cell, list | np.ndarray) and kind_of_values([cell], column.name) == VECTOR


def without_vectors(frame: Any) -> Any:
    """Return a frame whose vectors are bytes, which can be compared and counted."""
    vectors = [name for name in frame.columns if is_vector(frame[name])]
    if not vectors:
        return frame
    return frame.assign(
        **{
            name: frame[name].map(
                lambda cell: np.asarray(cell, dtype=np.float64).tobytes(), na_action="ignore"
            )
            for name in vectors
        }
    )


def length_of_vectors(column: Any, name: Any) -> int:
    """Return the length of the vectors of a column, which must all be equally long."""
    lengths = {len(cell) for cell in _cells(column) if not is_missing(cell)}
    if len(lengths) != 1 or 0 in lengths:
        raise ValueError(
            f"column {name!r} of X must have vectors of the same length, got lengths "
            f"{sorted(lengths)[:5]}. Pad or drop the vectors."
        )
    return lengths.pop()


def vectors_of(column: Any, name: Any, length: int) -> NDArray[np.float64]:
    """Return the vectors of a column as rows; NaN for missing vectors and numbers."""
    if not length:  # read by other estimators
        return np.zeros((len(column), 0))
    cells = _cells(column)
    found = np.full((len(cells), length), np.nan)
    for row, cell in zip(found, cells, strict=True):
        if is_missing(cell):
            continue
        if not isinstance(cell, list | tuple | np.ndarray) or len(cell) != length:
            size = f" of length {len(cell)}" if isinstance(cell, list | np.ndarray) else ""
            raise ValueError(
                f"column {name!r} of X must have vectors of length {length}, as in fit, got a "
                f"{type(cell).__name__}{size}. Pass vectors of the same model as in fit."
            )
        try:
            row[:] = cell
        except (TypeError, ValueError):
            raise ValueError(
                f"column {name!r} of X must have vectors of numbers, got "
                f"{np.asarray(cell, dtype=object).ravel()[:3].tolist()}. Use NaN for missing "
                "numbers."
            ) from None
    if np.isinf(found).any():
        raise ValueError(
            f"column {name!r} of X contains infinity. Replace it with a finite number, or with "
            "NaN for a missing value."
        )
    return found


def _cells(column: Any) -> list[Any]:
    """Return the cells as lists or arrays; None if missing."""
    cells: list[Any] = column.to_list() if hasattr(column, "to_list") else list(column)
    return cells
