"""Conversion of labels in any format to a label matrix, and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ramify._fitting import all_or_nothing
from ramify._savable import savable
from ramify._schema import Array, Instance, Schema
from ramify._validation import Label, UnknownLabelsError, is_missing, missing_label_error
from ramify.data.frames import in_memory
from ramify.labels.building import path_segments, rows_from_lists
from ramify.labels.formats import LabelFormat, format_from_settings
from ramify.labels.graph import row_of
from ramify.labels.hierarchy import Hierarchy
from ramify.labels.readers import (
    EncodedLabels,
    are_levels,
    as_levels,
    read_label_sets,
    read_levels,
    read_matrix,
    read_numbers,
    read_path_sets,
    read_strings,
    warn_of_column_vector,
    warn_of_levels,
)

__all__ = [
    "EncodedLabels",
    "HierarchyBinarizer",
    "LabelFormat",
    "extend_hierarchy",
    "format_from_settings",
    "read_labels",
    "read_more_labels",
]


_SETS = (list, tuple, set, frozenset, np.ndarray)


def read_labels(y: Any, hierarchy: Hierarchy | None = None) -> EncodedLabels:
    """Convert labels in any format to a label matrix, with ancestors added.

    Parameters
    ----------
    y : array-like
        One of

        - a label matrix of 0 and 1, dense or sparse, with columns in the order of
          ``hierarchy.labels``; a nested list is a label matrix if its rows have the same length
          and contain only 0 and 1;
        - a data frame of 0 and 1, with columns named by labels in any order; if `hierarchy` is
          None, columns such as "animal" and "animal/bird" form a tree;
        - a sequence of label sets (lists, tuples, sets), possibly empty; if nested lists look like
          levels, a warning points to `as_levels` and `as_sets`, which make the interpretation
          explicit;
        - a sequence of sets of paths, each path a list or tuple of names, or a 3-D array of them;
        - a sequence of classes as in scikit-learn: strings or numbers;
        - a sequence of paths such as "animal/bird" or "animal > bird"; the separator is found if
          several paths begin with the same name;
        - a sequence of CLUS strings, i.e. labels joined by "@"; "", "n" and "?" mean no label
          (unless the hierarchy has a label "n" or "?", or `hierarchy` is None and the strings are
          single names); without a hierarchy, names such as "ann@example.org" are not split;
        - a 2-D array or data frame of strings with one column per level; short paths are padded
          with "", None or NaN;
        - a pandas, polars or pyarrow column of any of these, or a data frame with one such column.
    hierarchy : Hierarchy, optional
        The labels that may occur. If None, it is inferred from `y`: a tree if there are levels or
        paths, otherwise flat with sorted labels. The columns of a label matrix are then
        named 0, 1, …, or as in the data frame.

    Returns
    -------
    EncodedLabels
        ``Y`` (csr_array), ``hierarchy`` and ``format``; ``format.write(Y)`` converts back, to
        numpy arrays if `y` is a pandas or polars column.

    Examples
    --------
    >>> from ramify.labels import read_labels
    >>> encoded = read_labels(["animal/cat", "plant", "animal"])
    >>> encoded.hierarchy.labels
    ('animal', 'animal/cat', 'plant')
    >>> encoded.Y.toarray()
    array([[1, 1, 0],
           [0, 0, 1],
           [1, 0, 0]], dtype=int32)
    >>> encoded.format.write([[1, 1, 0], [0, 0, 1]])
    array(['animal/cat', 'plant'], dtype='<U10')
    """
    if hierarchy is not None and not isinstance(hierarchy, Hierarchy):
        raise TypeError(
            f"hierarchy must be a ramify.Hierarchy or None, got {type(hierarchy).__name__}. Build "
            "one with Hierarchy.from_paths or Hierarchy.from_edges."
        )
    if sparse.issparse(y):
        return read_matrix(y, hierarchy)
    values, columns = _unpacked(y)
    if isinstance(values, np.ndarray) and values.ndim == 3:
        return read_path_sets(values, hierarchy)
    if isinstance(values, np.ndarray) and values.ndim == 2:
        return _read_two_dimensions(values, hierarchy, columns)
    is_plain = isinstance(values, np.ndarray) and values.dtype.kind in "biufU"
    if not is_plain and any(isinstance(row, _SETS) for row in values):
        return _read_rows(values, hierarchy)
    return _read_scalars(values, hierarchy)


def _unpacked(y: Any) -> tuple[Any, Sequence[Any] | None]:
    """Return an array or a list of rows, and the column names of a data frame."""
    if y is None:
        raise ValueError("this requires y to be passed, but the target y is None. Pass labels.")
    if isinstance(y, list | tuple):
        return list(y), None
    y = in_memory(y, "y")
    if hasattr(y, "to_pylist"):  # an array of pyarrow
        return y.to_pylist(), None
    is_single = isinstance(y, str | bytes | set | frozenset | dict) or np.isscalar(y)
    if is_single or isinstance(y, Iterator):
        raise TypeError(
            f"y must have one entry per row, got {type(y).__name__}. Pass a list, an array, a "
            "data frame or a column of one."
        )
    columns = list(y.columns) if hasattr(y, "columns") else None
    values = y.to_numpy() if hasattr(y, "to_numpy") else np.asarray(y)
    if values.ndim not in (1, 2) and (values.ndim != 3 or values.dtype.kind not in "OU"):
        raise ValueError(
            f"y should be a 1d array with one entry per row or a 2-D array, got {values.ndim} "
            "dimensions."
        )
    return values, columns


def _read_two_dimensions(
    values: Any, hierarchy: Hierarchy | None, columns: Sequence[Any] | None
) -> EncodedLabels:
    if values.dtype.kind == "O":
        numbers = _as_numbers(values.ravel().tolist())
        if numbers is not None:
            values = numbers.reshape(values.shape)
    if values.dtype.kind in "biuf":
        return read_matrix(values, hierarchy, columns)
    if values.shape[1] == 1 and (columns is not None or _are_whole(values, hierarchy)):
        warn_of_column_vector()
        return read_labels(values.ravel(), hierarchy)
    return read_levels(values, hierarchy)


def _are_whole(values: Any, hierarchy: Hierarchy | None) -> bool:
    """Return whether the cells of one column cannot be names of one level."""
    separator = "/" if hierarchy is None else hierarchy.separator
    return any(not isinstance(cell, str) or separator in cell for cell in values.ravel().tolist())


def _as_numbers(values: list[Any]) -> Any:
    """Return an array if all values are numbers, else None."""
    numeric = all(isinstance(value, bool | int | float | np.number | np.bool_) for value in values)
    return np.asarray(values) if numeric and values else None


def _read_rows(values: Any, hierarchy: Hierarchy | None) -> EncodedLabels:
    """Read rows that are collections: label sets, or the rows of a label matrix."""
    for row, labels in enumerate(values):
        if isinstance(labels, str) or not isinstance(labels, Iterable):
            raise TypeError(
                f"y must have a label set in every row, got {labels!r} in row {row}. Pass a list "
                "of labels for every row, empty for no label."
            )
    lists = all(isinstance(row, list | tuple | np.ndarray) for row in values)
    widths = {len(row) for row in values} if lists else set()
    if len(widths) == 1 and widths != {1}:
        cells = _as_numbers([cell for row in values for cell in row])
        fits = hierarchy is None or widths == {hierarchy.n_labels}
        if cells is not None and fits and np.isin(cells, (0, 1)).all():
            return read_matrix(cells.reshape(len(values), -1), hierarchy)
    if any(isinstance(item, list | tuple | np.ndarray) for row in values for item in row):
        return read_path_sets(values, hierarchy)
    if lists and are_levels(values, hierarchy):
        return read_levels(as_levels(values), hierarchy)
    if lists and hierarchy is None:
        warn_of_levels(values, stacklevel=4)
    return read_label_sets(values, hierarchy, as_array=isinstance(values, np.ndarray))


def _read_scalars(values: Any, hierarchy: Hierarchy | None) -> EncodedLabels:
    """Read one string or number per row."""
    is_array = isinstance(values, np.ndarray)
    if is_array and values.dtype.kind in "biuf":
        return read_numbers(values, hierarchy)
    rows = values.tolist() if is_array else values
    if len(rows) == 0:
        raise ValueError("y has no rows. Pass at least one row.")
    for row, value in enumerate(rows):
        if is_missing(value):
            raise missing_label_error(row, value)
    numbers = _as_numbers(rows)
    if numbers is not None:
        return read_numbers(numbers, hierarchy)
    odd = [value for value in rows if not isinstance(value, str)]
    if odd:
        raise TypeError(
            f"y must contain either strings or numbers, got {odd[0]!r} among other values. Use "
            "y.astype(str), or label sets if rows have several labels."
        )
    dtype = "U" if not is_array or values.dtype.kind == "U" else "O"
    return read_strings(rows, hierarchy, dtype)


@savable
class HierarchyBinarizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Convert labels in any format to a label matrix, with ancestors added, and back.

    Parameters
    ----------
    hierarchy : Hierarchy, optional
        The labels that may occur. If None, it is inferred in `fit`.
    sparse_output : bool
        Whether `transform` returns a csr_array instead of a dense array.

    Attributes
    ----------
    hierarchy_ : Hierarchy
        The hierarchy given or inferred.
    classes_ : ndarray
        The labels, one per column.
    format_ : LabelFormat
        The format of the labels passed to `fit`, used by `inverse_transform`.

    See Also
    --------
    read_labels : The formats of y.

    Examples
    --------
    >>> from ramify import HierarchyBinarizer
    >>> binarizer = HierarchyBinarizer(sparse_output=False)
    >>> binarizer.fit_transform([["a/b"], ["c", "a"]])
    array([[1, 1, 0],
           [1, 0, 1]], dtype=int32)
    >>> binarizer.inverse_transform([[1, 1, 1]])
    [['a/b', 'c']]
    """

    _saved_schema: ClassVar[Schema] = {
        "hierarchy_": Instance(Hierarchy, binds={"n_labels": "n_labels"}),
        "format_": Instance(LabelFormat),
        "classes_": Array(("n_labels",), "O U i4 i8 f4 f8 b1"),
    }

    def __init__(self, hierarchy: Hierarchy | None = None, *, sparse_output: bool = True) -> None:
        self.hierarchy = hierarchy
        self.sparse_output = sparse_output

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.target_tags.one_d_labels = True
        return tags

    @all_or_nothing
    def fit(self, y: Any) -> HierarchyBinarizer:
        """Learn the labels and their format.

        Parameters
        ----------
        y : array-like
            Labels in any format accepted by `read_labels`.

        Returns
        -------
        HierarchyBinarizer
            The fitted transformer.
        """
        encoded = read_labels(y, self.hierarchy)
        self.hierarchy_ = encoded.hierarchy
        self.format_ = encoded.format
        self.classes_ = encoded.format.classes
        return self

    def transform(self, y: Any) -> Any:
        """Convert labels in any format to a label matrix.

        Parameters
        ----------
        y : array-like
            Labels of `hierarchy_`, in any format accepted by `read_labels`.

        Returns
        -------
        csr_array or ndarray of shape (n, n_labels)
            1 if the row has the label or a descendant of it.
        """
        check_is_fitted(self)
        Y = read_labels(y, self.hierarchy_).Y
        return Y if self.sparse_output else Y.toarray()

    def fit_transform(self, y: Any) -> Any:
        """Fit to labels, then transform them.

        Parameters
        ----------
        y : array-like
            Labels in any format accepted by `read_labels`.

        Returns
        -------
        csr_array or ndarray of shape (n, n_labels)
            The label matrix of `y`.
        """
        return self.fit(y).transform(y)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the labels as strings: the names of the columns of `transform`.

        Parameters
        ----------
        input_features : object
            Ignored.

        Returns
        -------
        ndarray of object, shape (n_labels,)
            The names.
        """
        check_is_fitted(self)
        return np.array([str(label) for label in self.hierarchy_.labels], dtype=object)

    def inverse_transform(self, Y: Any) -> Any:
        """Convert a label matrix to the format of the labels passed to `fit`.

        Parameters
        ----------
        Y : array-like or sparse matrix of shape (n, n_labels)
            Label matrix. Formats with one label per row require exactly one most specific label
            in every row.

        Returns
        -------
        object
            n rows of labels.
        """
        check_is_fitted(self)
        return self.format_.write(Y)


# ---- labels that a hierarchy lacks ----------------------------------------------------------


def read_more_labels(y: Any, hierarchy: Hierarchy) -> EncodedLabels:
    """Read labels like `read_labels`, and append those that the hierarchy lacks to it."""
    try:
        return read_labels(y, hierarchy)
    except UnknownLabelsError as error:
        names = all(isinstance(label, str) for label in hierarchy.labels)
        if any(isinstance(label, str) != names for label in error.labels):
            raise  # numbers in place of strings, or the other way round
        return read_labels(y, extend_hierarchy(hierarchy, error.labels))


def extend_hierarchy(hierarchy: Hierarchy, labels: Iterable[Label]) -> Hierarchy:
    """Append labels to a hierarchy; paths are added below the labels that they start with.

    Examples
    --------
    >>> animals = Hierarchy.from_paths(["bird", "mammal/cat"])
    >>> extend_hierarchy(animals, ["mammal/dog", "fish/pike"]).labels
    ('bird', 'mammal', 'mammal/cat', 'mammal/dog', 'fish', 'fish/pike')
    """
    position = {label: i for i, label in enumerate(hierarchy.labels)}
    parents = [list(row_of(hierarchy.parent_rows, i)) for i in range(hierarchy.n_labels)]
    for label in labels:
        names = [label]
        if isinstance(label, str):
            segments = path_segments(label, hierarchy.separator)
            names = [hierarchy.separator.join(segments[: k + 1]) for k in range(len(segments))]
        above: list[int] = []
        for name in names:
            if name not in position:
                position[name] = len(position)
                parents.append(above)
            above = [position[name]]
    rows = rows_from_lists(parents)
    return Hierarchy(position, rows, hierarchy.separator, hierarchy.aliases, hierarchy.version)
