"""Build feature matrices from numeric columns and codes: arrays and data frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify._messages import import_extra


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
    """Build a data frame with categorical columns from arrays, mostly without copies.

    Parameters
    ----------
    names : sequence of str
        The names of all columns, in order.
    numbers : ndarray of shape (n, n_numeric)
        The numeric columns, in order.
    codes : mapping of position to ndarray of shape (n,)
        The codes of the nominal columns by position among `names`; -1 is missing.
    categories : mapping of str to tuple of str
        The values of the nominal columns.

    Returns
    -------
    pandas.DataFrame
        Categories are listed in the declared order; the columns are unordered categoricals.
    """
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
