"""Formats of y: how predictions are written the way the labels came."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core
from ramify._validation import Label, check_label_matrix
from ramify.hierarchy.building import Rows
from ramify.hierarchy.graph import row_of
from ramify.hierarchy.hierarchy import Hierarchy

EMPTY_SET = ("", "n", "?")
"""Strings that stand for an empty label set, as in CLUS files."""


def label_array(labels: tuple[Label, ...], dtype: str = "") -> NDArray[Any]:
    """Return labels as a numpy array; without `dtype`, strings or numbers as they are."""
    if dtype:
        return np.array(labels, dtype=dtype)
    kinds = {type(label) for label in labels}
    return np.array(labels, dtype=None if len(kinds) == 1 else object)


def names_by_level(hierarchy: Hierarchy) -> list[tuple[str, ...]]:
    """Return for every label of a tree the names on its path, its own last.

    A name that starts with its parent's name and the separator is a path: the rest is its own.
    """
    if not hierarchy.is_tree:
        raise ValueError(
            "y has one path per row, but in this hierarchy a label may have several parents, so "
            "that paths are not unique. Give y as label sets or as a label matrix."
        )
    paths: list[tuple[str, ...]] = []
    for position, label in enumerate(hierarchy.labels):
        parents = row_of(hierarchy.parent_rows, position)
        above = paths[parents[0]] if parents else ()
        prefix = f"{hierarchy.labels[parents[0]]}{hierarchy.separator}" if parents else ""
        paths.append((*above, str(label).removeprefix(prefix)))
    return paths


@dataclass(frozen=True)
class LabelFormat(ABC):
    """How y came: enough to write predictions in the same way.

    Attributes
    ----------
    hierarchy : Hierarchy
        The labels of the columns that `write` takes.
    single_label : bool
        Whether every row must have exactly one most specific label.
    classes : ndarray
        The labels as an array, for an estimator's ``classes_``.
    """

    hierarchy: Hierarchy
    single_label: ClassVar[bool] = False

    @abstractmethod
    def write(self, Y: Any) -> Any:
        """Write a label matrix in the format in which y came.

        Parameters
        ----------
        Y : array-like or sparse matrix of shape (n, n_labels)
            Label matrix, closed upwards. Where `single_label` is true every row must have
            exactly one most specific label.

        Returns
        -------
        object
            n rows in the format of y.
        """

    @property
    def classes(self) -> NDArray[Any]:
        """The labels as an array, for an estimator's ``classes_``."""
        return label_array(self.hierarchy.labels)

    def settings(self) -> dict[str, Any]:
        """Return all but the hierarchy as a dict of strings and numbers, e.g. for JSON."""
        names = [field.name for field in fields(self) if field.name != "hierarchy"]
        return {"kind": type(self).__name__, **{name: getattr(self, name) for name in names}}

    def _most_specific(self, Y: Any) -> Rows:
        matrix = check_label_matrix(Y, self.hierarchy.labels)
        indptr, indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
        rows: Rows = _core.most_specific(indptr, indices, *self.hierarchy.ancestor_rows)
        return rows

    def _one_label(self, Y: Any) -> NDArray[np.int32]:
        """Return the one most specific label of every row."""
        indptr, indices = self._most_specific(Y)
        wrong = np.flatnonzero(np.diff(indptr) != 1)
        if wrong.size:
            row = indices[indptr[wrong[0]] : indptr[wrong[0] + 1]]
            names = [self.hierarchy.labels[i] for i in row.tolist()]
            raise ValueError(
                f"row {wrong[0]} of Y has {len(names)} most specific labels, {names}, but "
                "this format of y holds one label per row. Decode to one path per row first."
            )
        return indices


@dataclass(frozen=True)
class IndicatorFormat(LabelFormat):
    """A matrix of zeros and ones: dense, or sparse of the kind that came."""

    dtype: str
    container: str

    def write(self, Y: Any) -> Any:
        """Return a dense array, a csr_array or a csr_matrix of the dtype that came."""
        matrix = check_label_matrix(Y, self.hierarchy.labels).astype(self.dtype)
        if self.container == "dense":
            return matrix.toarray()
        return sparse.csr_matrix(matrix) if self.container == "csr_matrix" else matrix


@dataclass(frozen=True)
class LabelSetFormat(LabelFormat):
    """One set of labels per row."""

    row_type: str
    as_array: bool

    def write(self, Y: Any) -> list[Any] | NDArray[np.object_]:
        """Return the most specific labels of every row: a list of sets, or an array of them."""
        make = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}[self.row_type]
        rows = [make(row) for row in self.hierarchy.decode(Y)]
        if not self.as_array:
            return rows
        array = np.empty(len(rows), dtype=object)
        array[:] = rows
        return array


@dataclass(frozen=True)
class OneLabelFormat(LabelFormat):
    """One label per row: classes as scikit-learn knows them, or paths."""

    dtype: str
    single_label: ClassVar[bool] = True

    def write(self, Y: Any) -> NDArray[Any]:
        """Return the label of every row, in the dtype that came."""
        return self.classes[self._one_label(Y)]

    @property
    def classes(self) -> NDArray[Any]:
        """The labels as an array of the dtype that came."""
        return label_array(self.hierarchy.labels, self.dtype)


@dataclass(frozen=True)
class JoinedFormat(LabelFormat):
    """Labels of a row joined by "@", as in CLUS files."""

    dtype: str

    def write(self, Y: Any) -> NDArray[Any]:
        """Return the most specific labels of every row, joined; "" for none."""
        rows = ["@".join(map(str, row)) for row in self.hierarchy.decode(Y)]
        return np.array(rows, dtype=self.dtype)


@dataclass(frozen=True)
class LevelFormat(LabelFormat):
    """One path per row, one column per level, shorter paths padded with ""."""

    dtype: str
    n_levels: int
    single_label: ClassVar[bool] = True

    def write(self, Y: Any) -> NDArray[Any]:
        """Return the path of every row, a name per column."""
        width = max(self.n_levels, self.hierarchy.depth)
        padded = [path + ("",) * (width - len(path)) for path in names_by_level(self.hierarchy)]
        table = np.array(padded, dtype=self.dtype)
        return table[self._one_label(Y)]


_KINDS: dict[str, type[LabelFormat]] = {
    kind.__name__: kind
    for kind in (IndicatorFormat, LabelSetFormat, OneLabelFormat, JoinedFormat, LevelFormat)
}


def format_from_settings(hierarchy: Hierarchy, settings: dict[str, Any]) -> LabelFormat:
    """Rebuild a format from what `LabelFormat.settings` returned.

    Examples
    --------
    >>> hierarchy = Hierarchy.from_labels([1, 2])
    >>> kept = OneLabelFormat(hierarchy, "<i8").settings()
    >>> format_from_settings(hierarchy, kept).write([[0, 1]])
    array([2])
    """
    options = {name: value for name, value in settings.items() if name != "kind"}
    return _KINDS[settings["kind"]](hierarchy, **options)
