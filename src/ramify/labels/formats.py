"""Formats of y, in which predictions are returned."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core
from ramify._cached import cached_property
from ramify._schema import Flag, Schema, SchemaError, Sizes, Text, TypeName, Whole, check_state
from ramify._validation import Label, check_label_matrix
from ramify.data.rows import as_label_rows
from ramify.labels.building import Rows
from ramify.labels.graph import row_of
from ramify.labels.hierarchy import Hierarchy

EMPTY_SET = ("", "n", "?")
"""Strings that stand for an empty label set, as in CLUS files."""


_FIXED_BYTES = 1 << 26  # of an array of texts, which takes 4 bytes for each of the longest


def label_array(labels: tuple[Label, ...], dtype: str = "") -> NDArray[Any]:
    """Return labels as a numpy array; the dtype is inferred if not given.

    Texts are those of `labels`, as objects, if copies of a fixed width would take much memory.
    """
    longest = max((len(label) for label in labels if isinstance(label, str)), default=0)
    if 4 * len(labels) * longest > _FIXED_BYTES:
        return np.array(labels, dtype=object)
    if dtype:
        return np.array(labels, dtype=dtype)
    kinds = {type(label) for label in labels}
    return np.array(labels, dtype=None if len(kinds) == 1 else object)


def names_by_level(hierarchy: Hierarchy) -> list[tuple[str, ...]]:
    """Return the names on the path to every label of a tree, without the prefix of its parent."""
    if not hierarchy.is_tree:
        raise ValueError(
            "y must not be an array of levels if a label may have several parents, because paths "
            "are not unique. Pass label sets or a label matrix."
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
    """The format of y, in which predictions are returned."""

    hierarchy: Hierarchy
    single_label: ClassVar[bool] = False

    @abstractmethod
    def write(self, Y: Any) -> Any:
        """Convert a label matrix with ancestors to the format of y."""

    @cached_property
    def classes(self) -> NDArray[Any]:
        """The labels as an array, for an estimator's ``classes_``."""
        return label_array(self.hierarchy.labels)

    def settings(self) -> dict[str, Any]:
        """Return all attributes except the hierarchy as a dict of strings and numbers."""
        names = [field.name for field in fields(self) if field.name != "hierarchy"]
        return {"kind": type(self).__name__, **{name: getattr(self, name) for name in names}}

    def _most_specific(self, Y: Any) -> Rows:
        matrix = check_label_matrix(Y, self.hierarchy.labels)
        return _core.most_specific(as_label_rows(matrix), self.hierarchy._parents)


class SingleLabelFormat(LabelFormat):
    """One most specific label per row."""

    single_label: ClassVar[bool] = True

    def write(self, Y: Any) -> NDArray[Any]:
        """Convert a label matrix to the format of y."""
        return self.write_ends(self._one_label(Y))

    @abstractmethod
    def write_ends(self, ends: NDArray[Any]) -> NDArray[Any]:
        """Convert the most specific label of every row, as a position, to the format of y."""

    def _one_label(self, Y: Any) -> NDArray[np.int32]:
        """Return the one most specific label of every row."""
        indptr, indices = self._most_specific(Y)
        wrong = np.flatnonzero(np.diff(indptr) != 1)
        if wrong.size:
            row = indices[indptr[wrong[0]] : indptr[wrong[0] + 1]]
            names = [self.hierarchy.labels[i] for i in row.tolist()]
            raise ValueError(
                f"Y must have one most specific label per row for this format of y, got {names} "
                f"in row {wrong[0]}. Choose one path per row first, e.g. with "
                "ramify.decision.most_probable_path."
            )
        return indices


@dataclass(frozen=True)
class IndicatorFormat(LabelFormat):
    """A label matrix: dense, csr_array or csr_matrix."""

    dtype: str
    container: str

    _saved_schema: ClassVar[Schema] = {
        "dtype": TypeName("biuf"),
        "container": Text(("dense", "csr_matrix", "csr_array")),
    }

    def write(self, Y: Any) -> Any:
        """Return a dense array, csr_array or csr_matrix with the dtype of y."""
        given = check_label_matrix(Y, self.hierarchy.labels)
        if self.container == "dense":
            return given.toarray().astype(self.dtype)
        matrix = given.astype(self.dtype, copy=False)
        return sparse.csr_matrix(matrix) if self.container == "csr_matrix" else matrix


@dataclass(frozen=True)
class LabelSetFormat(LabelFormat):
    """One set of labels per row."""

    row_type: str
    as_array: bool

    _saved_schema: ClassVar[Schema] = {
        "row_type": Text(("list", "tuple", "set", "frozenset")),
        "as_array": Flag(),
    }

    def write(self, Y: Any) -> list[Any] | NDArray[np.object_]:
        """Return the most specific labels of every row as a list or array of sets."""
        make = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}[self.row_type]
        rows = [make(row) for row in self.hierarchy.decode(Y)]
        if not self.as_array:
            return rows
        array = np.empty(len(rows), dtype=object)
        array[:] = rows
        return array


@dataclass(frozen=True)
class OneLabelFormat(SingleLabelFormat):
    """One label per row: classes as in scikit-learn, or paths."""

    dtype: str

    _saved_schema: ClassVar[Schema] = {"dtype": TypeName("biufUO")}

    def write_ends(self, ends: NDArray[Any]) -> NDArray[Any]:
        """Return the label of every row, with the dtype of y."""
        return np.asarray(self.classes[ends])

    @cached_property
    def classes(self) -> NDArray[Any]:
        """The labels as an array with the dtype of y."""
        return label_array(self.hierarchy.labels, self.dtype)


@dataclass(frozen=True)
class JoinedFormat(LabelFormat):
    """Labels of a row joined by "@", as in CLUS files."""

    dtype: str

    _saved_schema: ClassVar[Schema] = {"dtype": TypeName("UO")}

    def write(self, Y: Any) -> NDArray[Any]:
        """Return the most specific labels of every row, joined; "" for none."""
        rows = ["@".join(map(str, row)) for row in self.hierarchy.decode(Y)]
        return np.array(rows, dtype=self.dtype)


@dataclass(frozen=True)
class LevelFormat(SingleLabelFormat):
    """One path per row, one column per level; shorter paths are padded with ""."""

    dtype: str
    n_levels: int

    _saved_schema: ClassVar[Schema] = {"dtype": TypeName("UO"), "n_levels": Whole(1, 1000)}

    def write_ends(self, ends: NDArray[Any]) -> NDArray[Any]:
        """Return the path of every row, one name per column."""
        return np.asarray(self._paths[ends])

    @cached_property
    def _paths(self) -> NDArray[Any]:
        """The path to every label, one name per column."""
        width = max(self.n_levels, self.hierarchy.depth)
        padded = [path + ("",) * (width - len(path)) for path in names_by_level(self.hierarchy)]
        return np.array(padded, dtype=self.dtype)


@dataclass(frozen=True)
class PathSetFormat(LabelFormat):
    """One collection of paths per row, each path a list or tuple of names, or a 3-D array."""

    row_type: str
    path_type: str

    _saved_schema: ClassVar[Schema] = {
        "row_type": Text(("list", "tuple", "set", "frozenset", "array")),
        "path_type": Text(("list", "tuple")),
    }

    def write(self, Y: Any) -> list[Any] | NDArray[Any]:
        """Return the paths to the most specific labels of every row."""
        paths = names_by_level(self.hierarchy)
        indptr, indices = self._most_specific(Y)
        positions = indices.tolist()
        rows = [[paths[i] for i in positions[a:b]] for a, b in pairwise(indptr.tolist())]
        if self.row_type == "array":
            return self._padded(rows)
        make = list if self.path_type == "list" else tuple
        collect = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}
        return [collect[self.row_type](make(path) for path in row) for row in rows]

    def _padded(self, rows: list[list[tuple[str, ...]]]) -> NDArray[Any]:
        width = max((len(row) for row in rows), default=0)
        shape = (len(rows), max(1, width), self.hierarchy.depth)
        cells = np.full(shape, "", dtype=object)
        for i, row in enumerate(rows):
            for k, path in enumerate(row):
                cells[i, k, : len(path)] = path
        return cells.astype(str)


_KINDS: dict[str, type[LabelFormat]] = {
    kind.__name__: kind
    for kind in (
        IndicatorFormat,
        LabelSetFormat,
        OneLabelFormat,
        JoinedFormat,
        LevelFormat,
        PathSetFormat,
    )
}


def format_from_settings(hierarchy: Hierarchy, settings: dict[str, Any]) -> LabelFormat:
    """Rebuild a format from the result of `LabelFormat.settings`."""
    options = {name: value for name, value in settings.items() if name != "kind"}
    if settings["kind"] not in _KINDS:
        raise SchemaError(f"there is no format of labels {settings['kind']!r}")
    kind = _KINDS[settings["kind"]]
    check_state(kind, options, kind.__name__, Sizes())
    return kind(hierarchy, **options)
