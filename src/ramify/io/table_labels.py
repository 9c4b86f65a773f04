"""Read label columns of tables: label sets, indicators, or the levels of a path."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from ramify._validation import is_missing
from ramify.hierarchy.hierarchy import Hierarchy
from ramify.io.errors import FormatError, UnknownLabelError
from ramify.io.limits import ReadLimits

_ZERO_ONE = {
    word: code for code, words in enumerate((("0", "0.0", "False"), ("1", "1.0", "True")))
    for word in words
}  # fmt: skip


def read_label_columns(
    path: str,
    columns: Any,
    is_one: bool,
    hierarchy: Hierarchy | None,
    separators: tuple[str, str],
    *,
    limits: ReadLimits,
) -> tuple[sparse.csr_array[np.int32], Hierarchy]:
    """Return the label matrix of some columns of a table and its hierarchy.

    Parameters
    ----------
    path : str
        The file, for error messages.
    columns : pandas.DataFrame
        The label columns.
    is_one : bool
        Whether the labels are a single column of label sets.
    hierarchy : Hierarchy, optional
        The labels that can occur.
    separators : (str, str)
        Separator of the segments of a path, and separator of the labels of a row.
    limits : ReadLimits
        Limits on the hierarchy.

    Returns
    -------
    Y : csr_array of int32, shape (n, n_labels)
        The label matrix, including ancestors.
    hierarchy : Hierarchy
        The labels of its columns.
    """
    separator, label_separator = separators
    words = [[_word(cell) for cell in columns[name]] for name in columns.columns]
    if is_one:
        sets = [_split(cell, label_separator) for cell in words[0]]
    elif all(cell in _ZERO_ONE for column in words for cell in column):
        names = [str(name) for name in columns.columns]
        hierarchy = hierarchy or Hierarchy.from_labels(names)
        rows = np.array([[_ZERO_ONE[cell] for cell in column] for column in words]).T
        sets = [[names[j] for j in np.flatnonzero(row)] for row in rows]
    else:
        _check_names(path, columns.columns, words, separator)
        sets = [_path(levels, separator) for levels in zip(*words, strict=True)]
    try:
        if hierarchy is None:
            used = dict.fromkeys(label for row in sets for label in row)
            segments = (tuple(label.split(separator)) for label in used)
            named = limits.checked_paths(segments, separator, path)
            hierarchy = Hierarchy.from_paths(named, separator)
        return hierarchy.encode(sets), hierarchy
    except FormatError:
        raise
    except ValueError as error:
        listed = [str(name) for name in columns.columns]
        known = hierarchy is not None and all(
            label in hierarchy or label in hierarchy.aliases for row in sets for label in row
        )
        kind = FormatError if known or hierarchy is None else UnknownLabelError
        raise kind(f"{path}: cannot read the labels of column {listed}: {error}") from None


def _word(cell: Any) -> str:
    return "" if is_missing(cell) else str(cell)


def _check_names(
    path: str, columns: Iterable[Any], words: Sequence[Sequence[str]], separator: str
) -> None:
    for name, cells in zip(columns, words, strict=True):
        found = next((cell for cell in cells if separator in cell), None)
        if found is not None:
            raise FormatError(
                f"{path}, column {str(name)!r}: the name {found!r} of a level contains the "
                f"separator of paths, {separator!r}. Pass a separator that occurs in no name, for "
                "example '|'."
            )


def _split(cell: str, label_separator: str) -> list[str]:
    return [label for part in cell.split(label_separator) if (label := part.strip())]


def _path(levels: tuple[str, ...], separator: str) -> list[str]:
    """Join the levels of a row from the top; an empty cell ends the path."""
    stripped = [level.strip() for level in levels]
    end = stripped.index("") if "" in stripped else len(stripped)
    return [separator.join(stripped[:end])] if end else []
