"""Conversion of labels in any format to a label matrix, and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ramify import _core
from ramify._fitting import all_or_nothing
from ramify._savable import savable
from ramify._schema import Array, Instance, Schema
from ramify._validation import (
    Label,
    UnknownLabelsError,
    check_choice,
    is_missing,
    missing_label_error,
)
from ramify.data.frames import in_memory
from ramify.data.rows import as_label_rows, indicator, indicator_of_lists
from ramify.labels.building import path_segments, rows_from_lists
from ramify.labels.formats import LabelFormat, format_from_settings
from ramify.labels.graph import row_of
from ramify.labels.hierarchy import Hierarchy
from ramify.labels.readers import (
    EncodedLabels,
    are_levels,
    as_levels,
    order_columns,
    read_label_sets,
    read_levels,
    read_matrix,
    read_numbers,
    read_path_sets,
    read_strings,
    warn_of_column_vector,
    warn_of_levels,
)
from ramify.labels.unknown import (
    ENDS,
    UnknownLabels,
    close_unknown,
    first_unknown,
    missing_rows,
    split_matrix,
)

__all__ = [
    "EncodedLabels",
    "HierarchyBinarizer",
    "LabelFormat",
    "PartialLabels",
    "extend_hierarchy",
    "format_from_settings",
    "read_labels",
    "read_more_labels",
]


_SETS = (list, tuple, set, frozenset, np.ndarray)


def read_labels(
    y: Any, hierarchy: Hierarchy | None = None, *, allow_unknown: bool = False
) -> EncodedLabels:
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
        - a pandas, polars or pyarrow column of any of these, or a data frame with one such column;
        - `PartialLabels`, with labels that are not known.
    hierarchy : Hierarchy, optional
        The labels that may occur. If None, it is inferred from `y`: a tree if there are levels or
        paths, otherwise flat with sorted labels. The columns of a label matrix are then
        named 0, 1, …, or as in the data frame.
    allow_unknown : bool
        Whether labels may be unknown: `PartialLabels`; NaN, None, ``pandas.NA`` or -1 in a label
        matrix or in a data frame of 0 and 1; None or NaN in place of the labels of a row. If
        False, they raise an error.

    Returns
    -------
    EncodedLabels
        ``Y`` (csr_array), ``hierarchy``, ``format`` and ``unknown``; ``format.write(Y)`` converts
        back, to numpy arrays if `y` is a pandas or polars column. ``unknown`` is None if all
        labels are known.

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
    if isinstance(y, PartialLabels):
        return _read_partial(y, hierarchy, allow_unknown)
    if allow_unknown:
        found = _read_gaps(y, hierarchy)
        if found is not None:
            return found
    return _read_known(y, hierarchy)


def _read_known(y: Any, hierarchy: Hierarchy | None) -> EncodedLabels:
    """Read labels that are all known."""
    if sparse.issparse(y):
        return read_matrix(y, hierarchy)
    values, columns = _unpacked(y)
    if isinstance(values, np.ndarray) and values.ndim == 3:
        return read_path_sets(values, hierarchy)
    if isinstance(values, np.ndarray) and values.ndim == 2:
        return _read_two_dimensions(values, hierarchy, columns)
    is_plain = isinstance(values, np.ndarray) and values.dtype.kind in "biufU"
    if not is_plain and any(issubclass(kind, _SETS) for kind in set(map(type, values))):
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
    missing = np.flatnonzero(missing_rows(rows))
    if missing.size:
        raise missing_label_error(int(missing[0]), rows[missing[0]])
    strings = all(issubclass(kind, str) for kind in set(map(type, rows)))
    odd = [] if strings else [value for value in rows if not isinstance(value, str)]
    numbers = _as_numbers(rows) if odd else None
    if numbers is not None:
        return read_numbers(numbers, hierarchy)
    if odd:
        raise TypeError(
            f"y must contain either strings or numbers, got {odd[0]!r} among other values. Use "
            "y.astype(str), or label sets if rows have several labels."
        )
    dtype = "U" if not is_array or values.dtype.kind == "U" else "O"
    return read_strings(rows, hierarchy, dtype)


# ---- unknown labels -------------------------------------------------------------------------


def read_partial(y: Any, hierarchy: Hierarchy | None) -> PartialLabels | None:
    """Read y if some labels are unknown; None if all are known, or y cannot be read this way."""
    if isinstance(y, PartialLabels):
        return PartialLabels._of(_read_partial(y, hierarchy, True))
    try:
        found = _read_gaps(y, hierarchy)
    except (TypeError, ValueError):  # the caller reads it again, and explains
        return None
    return None if found is None or found.unknown is None else PartialLabels._of(found)


def _read_gaps(y: Any, hierarchy: Hierarchy | None) -> EncodedLabels | None:
    """Read y if entries of a label matrix, or the labels of whole rows, are missing."""
    values: Any = y
    columns = None
    if not sparse.issparse(y):
        values, columns = _unpacked(y)
    is_matrix = sparse.issparse(values) or (isinstance(values, np.ndarray) and values.ndim == 2)
    if is_matrix:
        return _read_gaps_of_matrix(values, columns, hierarchy)
    is_plain = isinstance(values, np.ndarray) and (values.ndim != 1 or values.dtype.kind in "biuU")
    if is_plain or len(values) == 0:
        return None
    if isinstance(values, list) and all(isinstance(row, list | tuple) for row in values):
        cells = np.empty((len(values), len(values[0])), dtype=object)
        if cells.shape[1] > 1 and all(len(row) == cells.shape[1] for row in values):
            cells[:] = values
            fits = hierarchy is None or cells.shape[1] == hierarchy.n_labels
            return _read_gaps_of_matrix(cells, None, hierarchy) if fits else None
        return None
    missing = missing_rows(values)
    if not missing.any() or missing.all():
        return None
    rows = np.flatnonzero(~missing)
    known = values[rows] if isinstance(values, np.ndarray) else [values[i] for i in rows.tolist()]
    encoded = read_labels(known, hierarchy)
    place = np.zeros(len(missing) + 1, dtype=encoded.Y.indptr.dtype)
    np.cumsum(np.where(missing, 0, 1), out=place[1:])
    parts = (encoded.Y.data, encoded.Y.indices, encoded.Y.indptr[place])
    Y = sparse.csr_array(parts, shape=(len(missing), encoded.Y.shape[1]))
    marked = np.repeat(missing[:, None], encoded.Y.shape[1], axis=1)
    unknown = close_unknown(encoded.hierarchy, Y, marked)
    return encoded._replace(Y=Y, unknown=unknown)


def _read_gaps_of_matrix(
    values: Any, columns: Sequence[Any] | None, hierarchy: Hierarchy | None
) -> EncodedLabels | None:
    one_column = values.shape[1] == 1 and not (hierarchy is not None and hierarchy.n_labels == 1)
    split = None if one_column else split_matrix(values)
    if split is None:
        return None
    known, marked = split
    encoded = read_matrix(known, hierarchy, columns)
    if columns is not None:
        marked = order_columns(marked, columns, encoded.hierarchy, "y")
        # A label without a column has those of its children that are known.
        inner = encoded.hierarchy.indices(set(encoded.hierarchy.labels) - set(columns))
        if tuple(columns) != tuple(range(encoded.hierarchy.n_labels)):
            for label in inner.tolist():
                below = encoded.hierarchy.descendants(encoded.hierarchy.labels[label])
                marked[:, label] = marked[:, encoded.hierarchy.indices(below)].any(axis=1)
    return encoded._replace(unknown=close_unknown(encoded.hierarchy, encoded.Y, marked))


class PartialLabels:
    """Labels of rows that are only partly known.

    An entry of the label matrix is 1, 0 or unknown. Labels are made consistent with the hierarchy:
    the ancestors of a label that a row has are known, and so are the descendants of a label that
    it is known not to have.

    Parameters
    ----------
    y : array-like
        Labels in any format accepted by `read_labels`. In a label matrix or a data frame of 0 and
        1, NaN, None, ``pandas.NA`` and -1 mark unknown entries; sparse matrices store them. None
        or NaN in place of the labels of a row means that nothing is known about it.
    hierarchy : Hierarchy, optional
        The labels that may occur. If None, it is inferred from `y`.
    unknown : sequence of collections of labels, optional
        For each row the labels that are unknown, with all their descendants; None or an empty
        collection if there are none.
    ends : {"known", "unknown_below"}
        What is known below the most specific labels of a row. "known": the row has none of their
        children. "unknown_below": nothing; a row without labels is then unknown altogether.
    negative : sequence of collections of labels, optional
        For each row the labels that it is known not to have, whatever `ends` and `unknown` say;
        None or an empty collection if there are none.

    Attributes
    ----------
    Y : csr_array of int32, shape (n, n_labels)
        Label matrix with ancestors, 0 where a label is unknown.
    hierarchy : Hierarchy
        The hierarchy given or inferred.
    format : LabelFormat
        The format of `y`.
    unknown : UnknownLabels or None
        The unknown labels; ``unknown.mask()`` returns them as an array.

    See Also
    --------
    read_labels : The formats of y.

    Examples
    --------
    >>> from ramify import PartialLabels
    >>> y = PartialLabels(["animal/cat", "animal", "plant"], ends="unknown_below")
    >>> y.hierarchy.labels
    ('animal', 'animal/cat', 'plant')
    >>> y.to_array()
    array([[ 1.,  1.,  0.],
           [ 1., nan,  0.],
           [ 0.,  0.,  1.]])
    """

    def __init__(
        self,
        y: Any,
        hierarchy: Hierarchy | None = None,
        *,
        unknown: Sequence[Any] | None = None,
        ends: str = "known",
        negative: Sequence[Any] | None = None,
    ) -> None:
        check_choice("ends", ends, ENDS)
        encoded = read_labels(y, hierarchy, allow_unknown=True)
        self.Y, self.hierarchy, self.format = encoded.Y, encoded.hierarchy, encoded.format
        self.unknown = encoded.unknown
        if ends == "unknown_below":
            self._mark(_below_ends(self.Y, self.hierarchy))
        if unknown is not None:
            self._mark(_read_sets("unknown", unknown, self.Y, self.hierarchy))
        if negative is not None:
            listed = _read_sets("negative", negative, self.Y, self.hierarchy)
            if self.unknown is not None:
                marked = self.unknown.as_rows()
                self.unknown = close_unknown(self.hierarchy, self.Y, marked, negative=listed)

    def _mark(self, marked: Any) -> None:
        """Add unknown labels with their descendants."""
        if self.unknown is not None:
            marked = marked + self.unknown.as_rows()
        self.unknown = close_unknown(self.hierarchy, self.Y, marked, below=True)

    @classmethod
    def of(
        cls,
        Y: sparse.csr_array[np.int32],
        hierarchy: Hierarchy,
        unknown: UnknownLabels | None,
    ) -> PartialLabels:
        """Return labels from a label matrix with ancestors and the labels that are unknown.

        Parameters
        ----------
        Y : csr_array of shape (n, n_labels)
            Label matrix with ancestors.
        hierarchy : Hierarchy
            The labels of its columns.
        unknown : UnknownLabels or None
            The labels that are unknown, which are 0 in Y.

        Returns
        -------
        PartialLabels
            The same labels.
        """
        return cls._of(EncodedLabels(Y, hierarchy, read_labels(Y, hierarchy).format, unknown))

    @classmethod
    def _of(cls, encoded: EncodedLabels) -> PartialLabels:
        found = cls.__new__(cls)
        found.Y, found.hierarchy, found.format, found.unknown = encoded
        return found

    @property
    def shape(self) -> tuple[int]:
        """The number of rows, as a tuple."""
        return (int(self.Y.shape[0]),)

    def __len__(self) -> int:
        """Return the number of rows."""
        return int(self.Y.shape[0])

    def __getitem__(self, rows: Any) -> PartialLabels:
        """Return the labels of some rows, given as indices, a mask or a slice."""
        rows = np.atleast_1d(np.arange(len(self))[rows])
        encoded = EncodedLabels(self.Y, self.hierarchy, self.format, self.unknown)
        return self._of(encoded.take(rows))

    def to_array(self) -> NDArray[np.float64]:
        """Return the label matrix with NaN where a label is unknown.

        Returns
        -------
        ndarray of shape (n, n_labels)
            0, 1 and NaN.
        """
        found: NDArray[np.float64] = self.Y.toarray().astype(np.float64)
        if self.unknown is not None:
            found[self.unknown.mask()] = np.nan
        return found

    def __repr__(self) -> str:
        n_unknown = 0 if self.unknown is None else int(self.unknown.n_unknown.sum())
        share = n_unknown / max(1, self.Y.shape[0] * self.Y.shape[1])
        return (
            f"PartialLabels({self.Y.shape[0]} rows, {self.Y.shape[1]} labels, {share:.1%} unknown)"
        )


def _read_partial(
    y: PartialLabels, hierarchy: Hierarchy | None, allow_unknown: bool
) -> EncodedLabels:
    encoded = EncodedLabels(y.Y, y.hierarchy, y.format, y.unknown)
    if hierarchy is not None and hierarchy.labels != y.hierarchy.labels:
        raise ValueError(
            f"y must have the labels of hierarchy, {hierarchy.n_labels}, got PartialLabels with "
            f"{y.hierarchy.n_labels} labels. Pass the hierarchy to PartialLabels, too."
        )
    if y.unknown is not None and not allow_unknown:
        raise unknown_not_allowed(y.unknown, y.hierarchy, "it is not supported here")
    return encoded


def write_labels(encoded: EncodedLabels) -> Any:
    """Return labels in their original format, or as PartialLabels if some are unknown."""
    if encoded.unknown is not None:
        return PartialLabels._of(encoded)
    return encoded.format.write(encoded.Y)


def unknown_not_allowed(unknown: UnknownLabels, hierarchy: Hierarchy, why: str) -> ValueError:
    """Build the error for unknown labels that cannot be used."""
    return ValueError(
        f"y must not have unknown labels, got {first_unknown(unknown, hierarchy)}: {why}. Drop "
        "these rows, or replace unknown labels with 0 if they are negative."
    )


def _below_ends(Y: sparse.csr_array[np.int32], hierarchy: Hierarchy) -> sparse.csr_array[np.int32]:
    """Mark the children of the most specific labels of rows; without labels, the top."""
    n_labels = hierarchy.n_labels
    ends = indicator(_core.most_specific(as_label_rows(Y), hierarchy._parents), n_labels)
    down = indicator(hierarchy.child_rows, n_labels)
    top = sparse.csr_array((np.diff(hierarchy.parent_rows[0]) == 0).astype(np.int32)[None])
    empty = sparse.csr_array((np.diff(Y.indptr) == 0).astype(np.int32)[:, None])
    return sparse.csr_array(ends @ down + empty @ top)


def _read_sets(
    name: str, given: Sequence[Any], Y: sparse.csr_array[np.int32], hierarchy: Hierarchy
) -> sparse.csr_array[np.int32]:
    """Read `unknown` or `negative` of PartialLabels: labels as listed, one row per row of y."""
    if isinstance(given, str) or len(given) != Y.shape[0]:
        raise ValueError(
            f"{name} must have one collection of labels per row of y, {Y.shape[0]}, got "
            f"{given if isinstance(given, str) else len(given)}. Use None for rows without "
            f"{name} labels."
        )
    rows = [() if is_missing(row) else row for row in given]
    for number, row in enumerate(rows):
        if isinstance(row, str) or not isinstance(row, Iterable):
            raise TypeError(
                f"{name} must have a collection of labels in every row, got {row!r} in row "
                f"{number}. Pass a list of labels."
            )
    indices = [hierarchy.indices(list(row)) for row in rows]
    marked = indicator_of_lists(indices, hierarchy.n_labels)
    both = sparse.coo_array(marked.multiply(Y))
    if both.nnz:
        row, column = int(both.coords[0][0]), int(both.coords[1][0])
        raise ValueError(
            f"{name} must not contain labels that y has, got {hierarchy.labels[column]!r} in row "
            f"{row}. Leave it out, or list those of its descendants that are {name}."
        )
    return marked


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


def read_more_labels(
    y: Any, hierarchy: Hierarchy, *, allow_unknown: bool = False
) -> EncodedLabels:
    """Read labels like `read_labels`, and append those that the hierarchy lacks to it."""
    try:
        return read_labels(y, hierarchy, allow_unknown=allow_unknown)
    except UnknownLabelsError as error:
        names = all(isinstance(label, str) for label in hierarchy.labels)
        if any(isinstance(label, str) != names for label in error.labels):
            raise  # numbers in place of strings, or the other way round
        more = extend_hierarchy(hierarchy, error.labels)
        return read_labels(y, more, allow_unknown=allow_unknown)


def extend_hierarchy(hierarchy: Hierarchy, labels: Iterable[Label]) -> Hierarchy:
    """Append labels to a hierarchy; paths are added below the labels that they start with.

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
