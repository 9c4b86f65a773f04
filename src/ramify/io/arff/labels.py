"""Read the hierarchical attribute of CLUS's ARFF files: the hierarchy and the row labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify._messages import did_you_mean
from ramify._validation import unknown_labels_error
from ramify.data.rows import indicator_of_cells
from ramify.io.arff.columns import ArffFile, LabelSets, NamedPlace
from ramify.io.errors import FormatError, UnknownLabelError
from ramify.io.limits import ReadLimits
from ramify.labels.hierarchy import Hierarchy

ROOT = "root"
"""Name of the virtual root in the parent/child pairs of a DAG, as in CLUS."""
MISSING = "?"
"""Marks a missing value, and a row without labels."""
NO_LABELS = "n"
"""The other mark of CLUS for a row without labels."""


@dataclass(frozen=True)
class LabelReader:
    """Reads the label names of a file according to the options of `read_arff`."""

    path: str
    separator: str
    hierarchy_type: str | None
    zero_ends_path: bool
    limits: ReadLimits

    def error(self, place: NamedPlace, expected: str, more: str = "") -> FormatError:
        """Build the error for an unexpected label."""
        name, line, column = place
        return FormatError(
            f"{self.path}, line {line}, column {column}: expected {expected}, found {name!r}{more}"
        )

    def segments(self, place: NamedPlace) -> tuple[str, ...]:
        """Split a path into segments; with `zero_ends_path`, up to the first segment 0."""
        segments = place[0].split(self.separator)
        if not all(segments):
            raise self.error(place, "a label without empty segments")
        if not self.zero_ends_path or "0" not in segments:
            return tuple(segments)
        end = segments.index("0")
        if any(segment != "0" for segment in segments[end:]):
            raise self.error(place, "only segments 0 after the first 0")
        return tuple(segments[:end])

    def is_dag(self, places: Iterable[NamedPlace]) -> bool:
        """Return whether the declared labels are parent/child pairs; guess if not specified."""
        if self.hierarchy_type is not None:
            return self.hierarchy_type == "dag"
        items = [name.split(self.separator) for name, _, _ in places]
        return all(len(item) == 2 for item in items) and any(item[0] == ROOT for item in items)

    def declared_hierarchy(self, places: list[NamedPlace]) -> Hierarchy:
        """Build the hierarchy declared in the header."""
        if not self.is_dag(places):
            return self.tree(self.segments(place) for place in places)
        pairs = [tuple(place[0].split(self.separator)) for place in places]
        for pair, place in zip(pairs, places, strict=True):
            if len(pair) != 2 or not all(pair):
                raise self.error(place, f"a pair parent{self.separator}child")
        return self.dag(pairs)

    def used_hierarchy(self, places: list[NamedPlace]) -> Hierarchy:
        """Build a hierarchy from the labels of the rows, for the type `classes`."""
        used = [place for place in places if place[0] not in (MISSING, NO_LABELS)]
        paths = [self.segments(place) for place in used]
        if self.hierarchy_type != "dag":
            return self.tree(paths)
        return self.dag(pair for path in paths for pair in pairwise((ROOT, *path)))

    def tree(self, paths: Iterable[tuple[str, ...]]) -> Hierarchy:
        """Build a tree from paths; a path whose first segment is 0 is not a label."""
        named = self.limits.checked_paths(filter(None, paths), self.separator, self.path)
        return self.checked(lambda: Hierarchy.from_paths(named, self.separator))

    def dag(self, edges: Iterable[tuple[str, ...]]) -> Hierarchy:
        """Build a hierarchy from parent/child pairs, which may be repeated in a file."""
        distinct = list(dict.fromkeys(edges))
        n_labels = len({child for _, child in distinct})
        self.limits.check("max_labels", n_labels, "the number of labels", self.path)
        return self.checked(lambda: Hierarchy.from_edges(distinct, root=ROOT))

    def checked(self, build: Callable[[], Hierarchy]) -> Hierarchy:
        """Build a hierarchy; add the name of the file to errors."""
        try:
            return build()
        except FormatError:
            raise
        except ValueError as error:
            raise FormatError(f"{self.path}: {error}") from None

    def position(self, place: NamedPlace, hierarchy: Hierarchy, is_dag: bool) -> int:
        """Return the position of a label in the hierarchy, or -1 if it stands for no label."""
        name = place[0]
        if name in hierarchy and not self.zero_ends_path:
            return hierarchy.index(name)
        if name in (MISSING, NO_LABELS):
            return -1
        path = self.segments(place)
        label = path[-1] if is_dag and path else self.separator.join(path)
        if label in hierarchy:
            return hierarchy.index(label)
        if not path or (is_dag and label == ROOT):
            return -1
        error = self.error(
            place,
            f"one of the {hierarchy.n_labels} labels of the hierarchy",
            "." + did_you_mean(label, hierarchy.labels),
        )
        raise UnknownLabelError(str(error))


def read_labels(
    file: ArffFile, reader: LabelReader, hierarchy: Hierarchy | None
) -> tuple[sparse.csr_array[np.int32], Hierarchy]:
    """Return the label matrix of a file, including ancestors, and its hierarchy."""
    sets = file.label_sets
    is_dag = reader.is_dag(file.declared_labels or ())
    if hierarchy is not None:
        is_dag = is_dag or not hierarchy.is_tree
    elif file.declared_labels is None:
        hierarchy = reader.used_hierarchy(sets.names)
    else:
        hierarchy = reader.declared_hierarchy(file.declared_labels)
    positions = [reader.position(place, hierarchy, is_dag) for place in sets.names]
    rows = _label_rows(sets, np.array(positions, dtype=np.int64), hierarchy)
    return hierarchy.close(rows), hierarchy


def _label_rows(
    sets: LabelSets, positions: NDArray[np.int64], hierarchy: Hierarchy
) -> sparse.csr_array[np.int32]:
    names = [name for name, _, _ in sets.names]
    row = np.repeat(np.arange(len(sets.indptr) - 1), np.diff(sets.indptr))
    column = positions[sets.numbers]
    keep = column >= 0
    if MISSING in names and MISSING not in hierarchy:
        # As in CLUS, a single ? makes the whole label set missing.
        missing_rows = row[sets.numbers == names.index(MISSING)]
        keep &= ~np.isin(row, missing_rows)
    shape = (len(sets.indptr) - 1, hierarchy.n_labels)
    rows = indicator_of_cells(row[keep], column[keep], shape)
    rows.data[:] = 1  # a label listed twice in a row counts once
    return rows


# ---- flat targets of ARFF files: attributes with the values 0 and 1, one per label


_YES = ("1", "true", "yes")
_NO = ("0", "false", "no")


def target_positions(file: ArffFile, target: Any) -> list[int]:
    """Return the positions of the attributes named by `target`."""
    if target is None:
        return [] if file.label_attribute is None else [file.label_attribute]
    n_attributes = len(file.names)
    if isinstance(target, int | np.integer) and not isinstance(target, bool):
        if not 0 <= target <= n_attributes:
            raise ValueError(
                f"target must be from 0 to {n_attributes}, the number of attributes of "
                f"{file.path}, got {target}. Pass the number of labels at the end of the "
                "attributes, or their names."
            )
        return list(range(n_attributes - int(target), n_attributes))
    names = [target] if isinstance(target, str) else list(target)
    place = {name: at for at, name in enumerate(file.names)}
    for name in names:
        if name not in place:
            raise ValueError(
                f"target must name attributes of {file.path}, got {name!r}."
                f"{did_you_mean(name, file.names)}"
            )
    return [place[name] for name in names]


def read_targets(
    file: ArffFile, positions: Sequence[int], hierarchy: Hierarchy | None
) -> tuple[sparse.csr_array[np.int32], Hierarchy]:
    """Return the label matrix of flat targets, with ancestors, and its hierarchy."""
    _check_cells(file, positions)
    if _is_one_nominal(file, positions):
        return _read_nominal(file, positions[0], hierarchy)
    labels = [file.names[at] for at in positions]
    if hierarchy is None:
        hierarchy = Hierarchy.from_labels(labels)
    rows = _sparse_targets if file.is_sparse else _dense_targets
    row, column = rows(file, positions)
    return _close(file, row, _indices(file, labels, hierarchy)[column], hierarchy)


def _check_cells(file: ArffFile, positions: Sequence[int]) -> None:
    for at in positions:
        if file.kinds[at] not in ("numeric", "nominal"):
            raise ValueError(
                f"target must name one hierarchical attribute or attributes with the values 0 and "
                f"1, got {file.names[at]!r}, a {file.kinds[at]} attribute of {file.path}."
            )


def _is_one_nominal(file: ArffFile, positions: Sequence[int]) -> bool:
    if len(positions) != 1 or positions[0] not in file.values:
        return False
    return any(value.lower() not in _YES + _NO for value in file.values[positions[0]])


def _read_nominal(
    file: ArffFile, position: int, hierarchy: Hierarchy | None
) -> tuple[sparse.csr_array[np.int32], Hierarchy]:
    """Read one nominal target with values other than 0 and 1: each value is a label."""
    values = file.values[position]
    if hierarchy is None:
        hierarchy = Hierarchy.from_labels(values)
    codes = _column(file, position)
    row = np.flatnonzero(~np.isnan(codes))
    column = _indices(file, values, hierarchy)[codes[row].astype(np.int64)]
    return _close(file, row, column, hierarchy)


def _indices(file: ArffFile, labels: Sequence[str], hierarchy: Hierarchy) -> NDArray[np.int64]:
    """Return the positions of labels in a hierarchy."""
    if all(label in hierarchy or label in hierarchy.aliases for label in labels):
        return np.asarray(hierarchy.indices(labels), dtype=np.int64)
    unknown = [label for label in labels if label not in hierarchy]
    raise UnknownLabelError(f"{file.path}: {unknown_labels_error(unknown, hierarchy.labels)}")


def _column(file: ArffFile, position: int) -> NDArray[np.float64]:
    if file.is_sparse:
        return file.sparse_columns([position]).toarray()[:, 0]
    return file.dense_column(position)


def _dense_targets(
    file: ArffFile, positions: Sequence[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    rows = [np.flatnonzero(_is_yes(file, at, file.dense_column(at))) for at in positions]
    return np.concatenate(rows), np.repeat(np.arange(len(rows)), list(map(len, rows)))


def _sparse_targets(
    file: ArffFile, positions: Sequence[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    columns: Any = file.sparse_columns(positions).tocsc()
    rows: list[NDArray[Any]] = []
    for i, at in enumerate(positions):
        listed = slice(columns.indptr[i], columns.indptr[i + 1])
        if _is_yes(file, at, np.zeros(1))[0]:  # 0 is the value of cells that are not listed
            dense = columns[:, [i]].toarray()[:, 0]
            rows.append(np.flatnonzero(_is_yes(file, at, dense)))
        else:
            rows.append(columns.indices[listed][_is_yes(file, at, columns.data[listed])])
    return np.concatenate(rows), np.repeat(np.arange(len(rows)), list(map(len, rows)))


def _is_yes(file: ArffFile, position: int, cells: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which cells of a target mean that the row has the label."""
    name = file.names[position]
    if position in file.values:
        values = [value.lower() for value in file.values[position]]
        known = len(values) == 2 and all(value in _YES + _NO for value in values)
        yes = [code for code, value in enumerate(values) if value in _YES]
        if not known or len(yes) != 1:
            raise FormatError(
                f"{file.path}: expected the values {{0,1}} for target {name!r}, found "
                f"{{{','.join(file.values[position])}}}; remove it from target."
            )
        positive, allowed = yes[0], (0, 1)
    else:
        positive, allowed = 1, (0, 1)
    bad = np.flatnonzero(~np.isin(cells, allowed))
    if len(bad):
        found = "a missing value" if np.isnan(cells[bad[0]]) else f"{cells[bad[0]]:g}"
        raise FormatError(
            f"{file.path}: expected 0 or 1 for target {name!r}, found {found}; read the file with "
            "target=[] and compute the labels from X, for example X[:, j] > 0."
        )
    return np.equal(cells, positive)


def _close(
    file: ArffFile, row: NDArray[Any], column: NDArray[Any], hierarchy: Hierarchy
) -> tuple[sparse.csr_array[np.int32], Hierarchy]:
    shape = (file.n_rows, hierarchy.n_labels)
    return hierarchy.close(indicator_of_cells(row, column, shape)), hierarchy
