"""Readers for each format of y, which return the label matrix and the format."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite

from ramify._validation import (
    Label,
    UnknownLabelsError,
    check_choice,
    check_label_matrix,
    check_label_name,
    is_missing,
    missing_label_error,
    unknown_labels_error,
)
from ramify.data.frames import in_memory
from ramify.labels.formats import (
    EMPTY_SET,
    IndicatorFormat,
    JoinedFormat,
    LabelFormat,
    LabelSetFormat,
    LevelFormat,
    OneLabelFormat,
    PathSetFormat,
    label_array,
    names_by_level,
)
from ramify.labels.hierarchy import Hierarchy
from ramify.labels.texts import (
    SET_MARK,
    are_joined,
    find_separator,
    free_separator,
    normalize_path,
    similar_labels_note,
)
from ramify.labels.unknown import UnknownLabels


class EncodedLabels(NamedTuple):
    """Labels as a matrix, with their hierarchy and format.

    Attributes
    ----------
    Y : csr_array of int32, shape (n, n_labels)
        Label matrix with ancestors; columns are ``hierarchy.labels``.
    hierarchy : Hierarchy
        The hierarchy given or inferred.
    format : LabelFormat
        ``format.write(Y)`` converts a label matrix to the format of y.
    unknown : UnknownLabels or None
        The labels that are not known, which are 0 in `Y`; None if there are none.
    """

    Y: sparse.csr_array[np.int32]
    hierarchy: Hierarchy
    format: LabelFormat
    unknown: UnknownLabels | None = None

    def take(self, rows: Any) -> EncodedLabels:
        """Return the labels of some rows, given as indices, a mask or a slice."""
        unknown = None if self.unknown is None else self.unknown.take(rows)
        return self._replace(Y=self.Y[rows], unknown=unknown)


def read_matrix(
    y: Any, hierarchy: Hierarchy | None, columns: Sequence[Label] | None = None
) -> EncodedLabels:
    """Read a 2-D array or sparse matrix of numbers: indicators, or one column of classes."""
    zeros_and_ones = sparse.issparse(y) or bool(np.isin(y, (0, 1)).all())
    one_label = hierarchy is not None and hierarchy.n_labels == 1
    if not sparse.issparse(y) and y.shape[1] == 1 and not (one_label and zeros_and_ones):
        warn_of_column_vector()
        return read_numbers(y.ravel(), hierarchy)
    if hierarchy is None:
        _check_zeros_and_ones(y, zeros_and_ones)
        if y.shape[1] == 0:
            raise ValueError("y has no columns. Pass one column per label.")
        hierarchy = hierarchy_of_columns(range(y.shape[1]) if columns is None else columns)
    if columns is not None:
        y = order_columns(y, columns, hierarchy, "y")
    Y = hierarchy.close(check_label_matrix(y, hierarchy.labels, "y"))
    matrix = sparse.issparse(y) and not isinstance(y, sparse.sparray)
    container = "csr_matrix" if matrix else "csr_array" if sparse.issparse(y) else "dense"
    return EncodedLabels(Y, hierarchy, IndicatorFormat(hierarchy, y.dtype.str, container))


def warn_of_column_vector() -> None:
    """Warn, as scikit-learn does, if y has one column of classes."""
    message = "A column-vector y was passed when a 1d array was expected. Use y.ravel()."
    warnings.warn(message, DataConversionWarning, stacklevel=5)


def _check_zeros_and_ones(y: Any, zeros_and_ones: bool) -> None:
    if not zeros_and_ones:
        row, column = np.argwhere(~np.isin(y, (0, 1)))[0]
        raise ValueError(
            f"y must contain only 0 and 1 if it is a 2-D array of numbers, got {y[row, column]} "
            f"at row {row}, column {column}. If the columns are levels of a hierarchy, pass names "
            "instead of numbers, e.g. y.astype(str)."
        )


def hierarchy_of_columns(columns: Sequence[Label]) -> Hierarchy:
    """Build the hierarchy of column names: a tree if they are paths, otherwise flat."""
    repeated = len(set(columns)) < len(columns)
    if not repeated and any(isinstance(name, str) and "/" in name for name in columns):
        return infer_hierarchy(columns)
    return Hierarchy.from_labels(columns)


def order_columns(
    y: Any, columns: Sequence[Label], hierarchy: Hierarchy, name: str
) -> NDArray[Any]:
    """Return the columns of a data frame in the order of the labels."""
    values = np.asarray(y)
    if tuple(columns) in (hierarchy.labels, tuple(range(hierarchy.n_labels))):
        return values
    unknown = [column for column in columns if column not in hierarchy]
    if unknown and len(columns) == hierarchy.n_labels:
        raise unknown_labels_error(unknown, hierarchy.labels)
    inner = set(hierarchy.labels) - set(columns)
    if unknown or len(set(columns)) < len(columns) or inner & set(hierarchy.leaves):
        raise ValueError(
            f"{name} has {len(columns)} columns, but the hierarchy has {hierarchy.n_labels} "
            "labels. Pass one column per label."
        )
    ordered = np.zeros((len(values), hierarchy.n_labels), dtype=values.dtype)
    ordered[:, hierarchy.indices(columns)] = values
    return ordered


def read_numbers(y: NDArray[Any], hierarchy: Hierarchy | None) -> EncodedLabels:
    """Read one class per row, given as numbers, like scikit-learn."""
    missing = np.flatnonzero(y != y)  # noqa: PLR0124 (only NaN differs from itself)
    if missing.size:
        raise missing_label_error(missing[0], float(y[missing[0]]))
    assert_all_finite(y, input_name="y")
    check_classification_targets(y)
    labels = hierarchy or Hierarchy.from_labels(np.unique(y).tolist())
    try:
        Y = labels.encode(y.tolist())
    except UnknownLabelsError as error:
        if not all(isinstance(label, str) for label in labels.labels):
            raise
        raise UnknownLabelsError(
            f"{error} (scikit-learn's cross_val_predict replaces labels with numbers if it "
            "computes probabilities; use ramify.model_selection.cross_val_predict.)",
            error.labels,
        ) from None
    dtype = y.dtype
    if hierarchy is not None:
        # Other labels of the hierarchy need not fit into the dtype of this y.
        dtype = np.result_type(dtype, label_array(hierarchy.labels).dtype)
    return EncodedLabels(Y, labels, OneLabelFormat(labels, dtype.str))


def read_strings(y: Sequence[str], hierarchy: Hierarchy | None, dtype: str) -> EncodedLabels:
    """Read one string per row: a class, a path, or labels joined by "@"."""
    distinct = list(dict.fromkeys(y))
    joined = any(SET_MARK in value for value in distinct) and (
        hierarchy is not None or are_joined(distinct)
    )
    texts = [part for value in distinct for part in (value.split(SET_MARK) if joined else [value])]
    separator = None if hierarchy is not None else find_separator(texts)
    plain = hierarchy is None and separator is None and not joined
    if plain and "" in y:
        raise ValueError(
            f"y must not contain empty strings, got one in row {list(y).index('')}. Drop the row, "
            "or pass a hierarchy or label sets if rows may have no label."
        )
    parts: dict[str, tuple[Label, ...]] = {
        value: _split(value, hierarchy, joined, plain) for value in distinct
    }
    if hierarchy is None:
        hierarchy = infer_hierarchy(label for row in parts.values() for label in row)
    parts = {value: tuple(labels_meant(row, hierarchy)) for value, row in parts.items()}
    try:
        once = hierarchy.encode(parts.values())
    except (TypeError, ValueError):
        hierarchy.encode([parts[value] for value in y])  # names the row
        raise
    place = {value: k for k, value in enumerate(parts)}
    Y = once[np.fromiter(map(place.__getitem__, y), np.intp, count=len(y))]
    if all(len(row) == 1 for row in parts.values()):
        return EncodedLabels(Y, hierarchy, OneLabelFormat(hierarchy, dtype))
    return EncodedLabels(Y, hierarchy, JoinedFormat(hierarchy, dtype))


def _split(
    value: str, hierarchy: Hierarchy | None, joined: bool, plain: bool
) -> tuple[Label, ...]:
    """Split at "@" what joins labels, unless the whole string is a label."""
    if plain or (hierarchy is not None and value in hierarchy):
        return (value,)
    if value in EMPTY_SET:
        return ()
    return tuple(value.split(SET_MARK)) if joined else (value,)


def labels_meant(row: Iterable[Label], hierarchy: Hierarchy) -> list[Label]:
    """Return the labels of a hierarchy that are meant by a row."""
    return [_label_meant(label, hierarchy) for label in row]


def sets_meant(rows: Sequence[Iterable[Label]], hierarchy: Hierarchy) -> list[list[Label]]:
    """Return the labels of a hierarchy that are meant by many rows, each label looked up once."""
    distinct = list(dict.fromkeys(chain.from_iterable(rows)))
    meaning = dict(zip(distinct, labels_meant(distinct, hierarchy), strict=True))
    return [[meaning[label] for label in row] for row in rows]


def _label_meant(label: Label, hierarchy: Hierarchy) -> Label:
    """Accept other blanks, and a path such as "mammal/dog" for a label whose name is "dog"."""
    if not isinstance(label, str) or label in hierarchy or label in hierarchy.aliases:
        return label
    path = normalize_path(label, hierarchy.separator)
    if path in hierarchy:
        return path
    *above, last = path.split(hierarchy.separator)
    fits = last in hierarchy and set(above) <= set(hierarchy.ancestors(last))
    return last if fits else label


def infer_hierarchy(labels: Iterable[Any]) -> Hierarchy:
    """Build the hierarchy of labels: from paths if they look like paths, otherwise flat."""
    distinct = dict.fromkeys(labels)
    for label in distinct:
        check_label_name(label, "a label of y", (str, int, float))
    if not distinct:
        raise ValueError("y contains no labels. Pass labels or a hierarchy.")
    texts = [label for label in distinct if isinstance(label, str)]
    separator = find_separator(texts)
    if separator is None:
        found = Hierarchy.from_labels(sorted(distinct, key=lambda x: (isinstance(x, str), x)))
    else:
        paths = (normalize_path(x, separator) if isinstance(x, str) else x for x in distinct)
        found = Hierarchy.from_paths(paths, separator)
    note = similar_labels_note(found.labels, separator)
    if note is not None:
        warnings.warn(note, UserWarning, stacklevel=6)
    return found


def read_label_sets(
    y: Sequence[Any], hierarchy: Hierarchy | None, as_array: bool
) -> EncodedLabels:
    """Read one collection of labels per row."""
    rows = [list(labels) for labels in y]
    if hierarchy is None:
        hierarchy = infer_hierarchy(label for row in rows for label in row)
        rows = [labels_meant(row, hierarchy) for row in rows]
    first = next((row for row in y), ())
    Y = hierarchy.encode(rows)
    return EncodedLabels(Y, hierarchy, LabelSetFormat(hierarchy, _row_type(first), as_array))


def _row_type(row: Any) -> str:
    name = type(row).__name__
    return name if name in ("list", "tuple", "set", "frozenset") else "list"


def read_levels(y: NDArray[Any], hierarchy: Hierarchy | None) -> EncodedLabels:
    """Read one path per row, one column per level, padded with "", None or NaN."""
    paths = _paths_of_levels(y.tolist())
    hierarchy, labels = _labels_of_paths(paths, hierarchy)
    Y = hierarchy.encode([[labels[path]] if path else [] for path in paths])
    dtype = "U" if y.dtype.kind == "U" else "O"
    return EncodedLabels(Y, hierarchy, LevelFormat(hierarchy, dtype, y.shape[1]))


def read_path_sets(y: Any, hierarchy: Hierarchy | None) -> EncodedLabels:
    """Read several paths per row, each a sequence of names, padded as in `read_levels`."""
    is_array = isinstance(y, np.ndarray) and y.ndim == 3
    rows = y.tolist() if isinstance(y, np.ndarray) else y
    paths = [_paths_of_levels(row, i) for i, row in enumerate(rows)]
    hierarchy, labels = _labels_of_paths([path for row in paths for path in row], hierarchy)
    Y = hierarchy.encode([[labels[path] for path in row if path] for row in paths])
    first = next((row for row in rows if len(row)), [()])
    row_type = "array" if is_array else _row_type(first)
    path_type = "list" if isinstance(next(iter(first)), list) else "tuple"
    return EncodedLabels(Y, hierarchy, PathSetFormat(hierarchy, row_type, path_type))


def _labels_of_paths(
    paths: Sequence[tuple[str, ...]], hierarchy: Hierarchy | None
) -> tuple[Hierarchy, dict[tuple[str, ...], Label]]:
    """Return the hierarchy, built from paths if it is None, and the label of every path."""
    if hierarchy is None:
        occurring = [path for path in dict.fromkeys(paths) if path]
        hierarchy = (
            Hierarchy.from_paths(
                occurring, free_separator({name for path in occurring for name in path})
            )
            if occurring
            else infer_hierarchy([])
        )
    labels = dict(zip(names_by_level(hierarchy), hierarchy.labels, strict=True))
    unknown = [path for path in paths if path and path not in labels]
    if unknown:
        joined = [hierarchy.separator.join(path) for path in labels]
        raise unknown_labels_error((hierarchy.separator.join(path) for path in unknown), joined)
    return hierarchy, labels


def _paths_of_levels(rows: Sequence[Any], number: int | None = None) -> list[tuple[str, ...]]:
    """Return the paths of rows, or of one row with a number, without their padding."""
    paths = [_names_of_levels(row, i if number is None else number) for i, row in enumerate(rows)]
    refuse_gaps(paths, number)
    return [tuple(without_gap(path, "end")) for path in paths]


def _names_of_levels(row: Any, number: int) -> tuple[str, ...]:
    if isinstance(row, str) or not isinstance(row, Sequence | np.ndarray):
        raise TypeError(
            f"y must have paths in every row, as in the first one, got {row!r} in row {number}. "
            "Pass every path as a list of names."
        )
    names = ["" if is_missing(name) else name for name in row]
    for level, name in enumerate(names):
        if not isinstance(name, str):
            raise TypeError(
                f"y must contain strings if its columns are levels, got {name!r} in row {number}, "
                f"level {level}. Use y.astype(str)."
            )
    return tuple(names)


# ---- nested lists: label sets or levels -----------------------------------------------------


_AMBIGUOUS = (
    "y is a nested list whose columns look like the levels of a hierarchy, but its rows are read "
    "as label sets. Pass ramify.as_levels(y) for one path per row and one column per level, or "
    "ramify.as_sets(y) for label sets."
)


def as_levels(y: Any, *, gaps: str = "refuse") -> NDArray[np.object_]:
    """Mark nested lists as levels: one path per row, one column per level, as in HiClass.

    Nested lists of names are read as label sets. The result of this function, an array, is read as
    levels wherever ramify accepts labels.

    Parameters
    ----------
    y : sequence of sequences of str or numbers, 2-D array, or data frame
        The names on the path to the label of each row, from the top. Rows may have different
        lengths. Numbers become strings; "", None and NaN mean that a path has ended.
    gaps : {"refuse", "skip", "end"}
        What to do with an empty level above others that are not: raise an error, leave the level
        out of the path, or end the path above it.

    Returns
    -------
    ndarray of object, shape (n, n_levels)
        Strings, with "" after the end of a path.

    See Also
    --------
    as_sets : The other interpretation of nested lists.
    read_labels : The formats of y.

    Examples
    --------
    >>> from ramify import as_levels, read_labels
    >>> y = [["animal", "mammal"], ["animal", "bird"], ["plant"]]
    >>> as_levels(y)
    array([['animal', 'mammal'],
           ['animal', 'bird'],
           ['plant', '']], dtype=object)
    >>> read_labels(as_levels(y)).hierarchy.labels
    ('animal', 'animal/bird', 'animal/mammal', 'plant')
    >>> as_levels([["animal", "", "cat"]], gaps="skip")
    array([['animal', 'cat']], dtype=object)
    """
    check_choice("gaps", gaps, ("refuse", "skip", "end"))
    rows = [["" if is_missing(name) else str(name) for name in row] for row in _rows(y)]
    if gaps == "refuse":
        refuse_gaps(rows)
    rows = [without_gap(row, gaps) for row in rows]
    width = max((len(row) for row in rows), default=0)
    levels = np.full((len(rows), width), "", dtype=object)
    for i, row in enumerate(rows):
        levels[i, : len(row)] = row
    return levels


def without_gap(names: Sequence[str], gaps: str) -> list[str]:
    """Return the names of a path without empty levels, or only those above the first one."""
    if gaps == "end" and "" in names:
        return list(names[: list(names).index("")])
    return [name for name in names if name]


def has_gap(names: Sequence[str]) -> bool:
    """Return whether an empty level is above one that is not."""
    return "" in names and any(names[list(names).index("") :])


def refuse_gaps(rows: Iterable[Sequence[str]], number: int | None = None) -> None:
    """Raise an error that names the rows with an empty level above others that are not."""
    found = [(i, list(names)) for i, names in enumerate(rows) if has_gap(names)]
    if found:
        first, names = found[0]
        others = f" and in {len(found) - 1} other row(s)" if len(found) > 1 else ""
        raise ValueError(
            "y must be padded only at the end of a path, got a gap in row "
            f"{first if number is None else number}, {names}{others}. Fill the level, or pass "
            "ramify.as_levels(y, gaps='skip') to leave it out, or gaps='end' to end the path "
            "above it."
        )


def as_sets(y: Any) -> list[set[Any]]:
    """Mark nested lists as label sets: any number of labels per row, without an order.

    Nested lists whose columns look like the levels of a hierarchy are read as label sets with a
    warning. The result of this function is read as label sets without a warning.

    Parameters
    ----------
    y : sequence of sequences of labels, 2-D array, or data frame
        The labels of each row; "", None and NaN are left out.

    Returns
    -------
    list of set
        One set of labels per row.

    See Also
    --------
    as_levels : The other interpretation of nested lists.
    read_labels : The formats of y.

    Examples
    --------
    >>> from ramify import as_sets, read_labels
    >>> y = [["red", "small"], ["red", "large"], ["blue", "small"]]
    >>> read_labels(as_sets(y)).hierarchy.labels
    ('blue', 'large', 'red', 'small')
    """
    return [{name for name in row if not _is_padding(name)} for row in _rows(y)]


def _rows(y: Any) -> Iterator[Sequence[Any]]:
    y = in_memory(y, "y")
    rows = y.to_numpy().tolist() if hasattr(y, "to_numpy") else y
    for number, row in enumerate(rows):
        if isinstance(row, str) or not hasattr(row, "__iter__"):
            raise TypeError(
                f"y must have a list of names in every row, got {row!r} in row {number}. Pass "
                "paths such as 'animal/bird' as they are."
            )
        yield row


def are_levels(rows: Sequence[Any], hierarchy: Hierarchy | None) -> bool:
    """Return whether nested lists can only be levels: they are padded, or only fit as levels.

    That is, a name is no label, but the path to it is; or without a hierarchy, rows of the same
    length that look like levels end in "", None or NaN.
    """
    if hierarchy is None:
        return _are_padded(rows) and _look_like_levels(rows)
    if hierarchy.depth == 1 or not hierarchy.is_tree:
        return False
    known: set[tuple[str, ...]] | None = None
    for row in rows:
        for k, name in enumerate(row):
            if k and isinstance(name, str) and name and name not in hierarchy:
                known = set(names_by_level(hierarchy)) if known is None else known
                if tuple(row[: k + 1]) in known:
                    return True
    return False


def warn_of_levels(rows: Sequence[Any], stacklevel: int) -> None:
    """Warn if label sets look like paths, one name per level."""
    if _look_like_levels(rows):
        warnings.warn(_AMBIGUOUS, UserWarning, stacklevel=stacklevel)


def _look_like_levels(rows: Sequence[Any]) -> bool:
    """Return whether rows look like paths from the top.

    In paths, names are followed by different names, or by none, in different rows; unless rows are
    padded, there are few first names. In addition, paths have two of three properties that label
    sets lose within a few rows: all rows have the same length; no name occurs at two positions;
    and a name at a position always follows the same names, as in a tree.
    """
    paths = [tuple(name for name in row if not _is_padding(name)) for row in rows]
    if max(map(len, paths), default=0) < 2 or not all(_is_name(x) for path in paths for x in path):
        return False
    prefixes = {path[:k] for path in paths for k in range(1, len(path) + 1)}
    places = {(len(prefix), prefix[-1]) for prefix in prefixes}
    same_length = len(set(map(len, rows))) == 1
    one_place = len({name for _, name in places}) == len(places)
    is_tree = len(places) == len(prefixes)
    if _extend_each_other(paths):
        return True
    ends = set(paths)
    n_children = Counter(prefix[:-1] for prefix in prefixes if len(prefix) > 1)
    n_forks = sum(n > 1 for n in n_children.values())
    n_stops = sum(n == 1 and prefix in ends for prefix, n in n_children.items())
    n_tops = len({path[0] for path in paths if path})
    few_tops = 3 * n_tops <= 2 * len(paths) or _are_padded(rows)
    if one_place and (same_length or is_tree):
        return few_tops and (n_forks > 0 or (is_tree and n_stops > 1))
    return same_length and is_tree and n_forks > 1 and 2 * n_tops <= len(paths)


def _extend_each_other(paths: Sequence[Sequence[Any]]) -> bool:
    """Return whether each name begins with the one before it, as in 2, 2.1, 2.1.3."""
    pairs = [pair for path in paths for pair in pairwise(map(str, path))]
    return len(pairs) > 1 and all(len(a) < len(b) and b.startswith(a) for a, b in pairs)


def _are_padded(rows: Sequence[Any]) -> bool:
    same_length = len(set(map(len, rows))) == 1
    return same_length and any(_is_padding(row[-1]) for row in rows if len(row))


def _is_name(value: Any) -> bool:
    """Return whether a value may be the name of one level: not a path, and not a real number."""
    return "/" not in value if isinstance(value, str) else isinstance(value, int | np.integer)


def _is_padding(name: Any) -> bool:
    return is_missing(name) or (isinstance(name, str) and not name)
