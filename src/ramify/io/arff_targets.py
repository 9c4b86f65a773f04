"""Flat targets of ARFF files: attributes with the values 0 and 1, one per label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify._messages import did_you_mean
from ramify._validation import unknown_labels_error
from ramify.hierarchy.hierarchy import Hierarchy
from ramify.io.arff_columns import ArffFile
from ramify.io.errors import FormatError, UnknownLabelError

_YES = ("1", "true", "yes")
_NO = ("0", "false", "no")


def target_positions(file: ArffFile, target: Any) -> list[int]:
    """Return the positions of the attributes named by `target`.

    Parameters
    ----------
    file : ArffFile
        The file.
    target : None, str, int or sequence of str
        None means the hierarchical attribute, if any; an int means that many attributes at the
        end.

    Returns
    -------
    list of int
        In the order of `target`.
    """
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
    """Return the label matrix of flat targets and its hierarchy.

    Parameters
    ----------
    file : ArffFile
        The file.
    positions : sequence of int
        Positions of the target attributes, whose names are the labels.
    hierarchy : Hierarchy, optional
        A hierarchy of these labels. If None, they are flat, in the given order.

    Returns
    -------
    Y : csr_array of int32, shape (n, n_labels)
        The label matrix, including ancestors.
    hierarchy : Hierarchy
        The labels of its columns.
    """
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
    ones = np.ones(len(row), dtype=np.int32)
    return hierarchy.close(sparse.csr_array((ones, (row, column)), shape=shape)), hierarchy
