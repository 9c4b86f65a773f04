"""Data sets of a study: reading, selection of rows and labels, and the rows of every fold."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files as package_files
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import GroupKFold, KFold
from sklearn.utils import _safe_indexing

from ramify.apps.reading.any_file import read_data, split_identifiers
from ramify.apps.studies.merging import merge_labels
from ramify.apps.studies.plan import DataSpec, Protocol
from ramify.data.rows import indicator_of_cells
from ramify.datasets import fetch, load_animals
from ramify.datasets.fetching import locate
from ramify.datasets.registry import find_entry
from ramify.labels.balancing import flatten_level
from ramify.labels.hierarchy import Hierarchy
from ramify.model_selection import HierarchicalStratifiedKFold

Rows = NDArray[np.intp]
COMMON_LABEL = "common label"


@dataclass(frozen=True)
class StudyData:
    """Features, labels and published splits of a data set."""

    X: Any  # the features
    y: Any  # the labels, including all ancestors
    hierarchy: Hierarchy  # names the columns of `y`
    nominal: list[bool] | None  # whether each column of an array is nominal; None for data frames
    splits: dict[str, Rows]  # rows of every published split
    groups: NDArray[Any] | None = None  # the group of each row, which folds keep together

    def facts(self) -> dict[str, Any]:
        """Return the sizes of the data for the report."""
        leaves = self.hierarchy.indices(self.hierarchy.leaves)
        n = max(1, self.y.shape[0])
        return {
            "rows": int(self.y.shape[0]),
            "features": int(self.X.shape[1]),
            "labels": self.hierarchy.n_labels,
            "leaves": len(leaves),
            "levels": self.hierarchy.depth,
            "leaf_labels_per_row": float(self.y[:, leaves].sum()) / n,
        }


def digest_data(data: DataSpec) -> str:
    """Return a checksum of the files of a data set."""
    digest = hashlib.sha256()
    if data.file is not None:
        for path in filter(None, (data.file, data.hierarchy)):
            digest.update(Path(path).read_bytes())
    elif data.fetch == "animals":
        digest.update(package_files("ramify.datasets").joinpath("animals.csv").read_bytes())
    else:
        for file in find_entry(data.fetch).needed:
            locate(file)
            digest.update(file.text_sha256.encode())
    return digest.hexdigest()


@lru_cache(maxsize=1)
def load_data(data: DataSpec) -> StudyData:
    """Read a data set; the last one is cached, since the next cell usually needs it."""
    if data.file is not None:
        found = _read_file(data)
    else:
        fetched = (
            load_animals(as_frame=False)
            if data.fetch == "animals"
            else fetch(data.fetch, as_frame=False)
        )
        nominal = [name in fetched.categories for name in fetched.feature_names]
        found = StudyData(fetched.X, fetched.y, fetched.hierarchy, nominal, fetched.splits)
    return _selected(found, data)


def _read_file(data: DataSpec) -> StudyData:
    hierarchy = None if data.hierarchy is None else Path(data.hierarchy)
    table, _ = split_identifiers(read_data(Path(str(data.file)), hierarchy, data.options()))
    if table.unknown is not None:
        raise ValueError(f"ends must be 'known' in a study: it requires all labels of {data.file}")
    if table.y is None or table.hierarchy is None:
        raise ValueError(f"{data.file} has no labels. Set target to the name of the label column.")
    nominal = None
    if not hasattr(table.X, "iloc"):
        nominal = [name in table.categories for name in table.feature_names]
    splits = {"all": np.arange(table.X.shape[0])}
    groups = None if table.groups is None else np.asarray(table.groups)
    return StudyData(table.X, table.y, table.hierarchy, nominal, splits, groups)


def _selected(found: StudyData, data: DataSpec) -> StudyData:
    """Select the rows and labels that the study uses."""
    if data.splits:
        found = _with_rows(found, np.sort(_published(found, data.splits, "splits")))
    if data.max_level is not None:
        # Label sets include ancestors, which therefore replace dropped labels.
        kept = [label for level in found.hierarchy.levels[: data.max_level] for label in level]
        found = _with_labels(found, found.hierarchy.subset(kept))
    if data.merged:
        rows = _published(found, data.merged, "merged")
        y, hierarchy = merge_labels(sparse.csr_array(found.y), found.hierarchy, rows)
        found = replace(found, y=y, hierarchy=hierarchy)
    if data.full_paths:
        found = _with_full_paths(found)
    if data.min_count is not None:
        found = _with_labels(found, found.hierarchy.prune(found.y, min_count=data.min_count))
        if data.full_paths:
            found = _with_a_leaf(found, trim=data.trim_paths)
    if data.level is not None:
        y, hierarchy = flatten_level(sparse.csr_array(found.y), found.hierarchy, data.level)
        found = replace(found, y=y, hierarchy=hierarchy)
    return found if data.common_label is None else _with_common_label(found, data.common_label)


def _with_common_label(data: StudyData, share: float) -> StudyData:
    """Add a top-level label to a random fraction of the rows, always the same rows."""
    old = data.hierarchy
    named = (f"{COMMON_LABEL} {number}" if number else COMMON_LABEL for number in count())
    name = next(one for one in named if one not in old.labels)
    indptr, parents = old.parent_rows
    parent_rows = np.append(indptr, indptr[-1]), parents
    hierarchy = Hierarchy((*old.labels, name), parent_rows, old.separator)
    has = np.random.default_rng(0).random(data.y.shape[0]) < share
    column = sparse.csr_array(has[:, None].astype(np.int32))
    y = sparse.csr_array(sparse.hstack([sparse.csr_array(data.y), column], format="csr"))
    return replace(data, y=y, hierarchy=hierarchy)


def _with_labels(data: StudyData, hierarchy: Hierarchy) -> StudyData:
    y = data.y[:, data.hierarchy.indices(hierarchy.labels)]
    return replace(data, y=y, hierarchy=hierarchy)


def _with_rows(data: StudyData, rows: Rows) -> StudyData:
    X = _safe_indexing(data.X, rows)
    places = np.full(data.y.shape[0], -1)
    places[rows] = np.arange(len(rows))
    splits = {name: places[own][places[own] >= 0] for name, own in data.splits.items()}
    groups = None if data.groups is None else data.groups[rows]
    return replace(data, X=X, y=data.y[rows], splits=splits, groups=groups)


def _with_full_paths(data: StudyData) -> StudyData:
    y = sparse.csr_array(data.y)
    ending = ending_in_leaves(y, data.hierarchy)
    n_ending, n_given = np.diff(ending.indptr), np.diff(y.indptr)
    return _with_rows(data, np.flatnonzero((n_ending == n_given) & (n_given > 0)))


def _with_a_leaf(data: StudyData, *, trim: bool) -> StudyData:
    """Keep the rows that still have a leaf: with all their labels, or trimmed to full paths."""
    ending = ending_in_leaves(data.y, data.hierarchy)
    kept = replace(data, y=ending) if trim else data
    return _with_rows(kept, np.flatnonzero(np.diff(ending.indptr)))


def ending_in_leaves(Y: Any, hierarchy: Hierarchy) -> Any:
    """Return the leaves of every row with their ancestors, without paths that end above a leaf.

    >>> hierarchy = Hierarchy.from_paths(["a/b", "c"])
    >>> ending_in_leaves(hierarchy.encode([["a"], ["a/b"], ["a", "c"]]), hierarchy).toarray()
    array([[0, 0, 0],
           [1, 1, 0],
           [0, 0, 1]], dtype=int32)
    """
    is_leaf = np.zeros(hierarchy.n_labels, dtype=bool)
    is_leaf[hierarchy.indices(hierarchy.leaves)] = True
    cells = sparse.coo_array(Y)
    kept = is_leaf[cells.col] & (cells.data != 0)
    return hierarchy.close(indicator_of_cells(cells.row[kept], cells.col[kept], Y.shape))


def split_rows(
    data: StudyData, protocol: Protocol, repeat: int, fold: int, seed: int
) -> tuple[Rows, Rows]:
    """Return the training and test rows of one fold of one repeat."""
    if protocol.test:
        parts = [
            _published(data, names, "[protocol]") for names in (protocol.train, protocol.test)
        ]
        return _some(parts[0], protocol.rows, seed), _some(parts[1], protocol.rows, seed)
    rows = _some(np.arange(data.y.shape[0]), protocol.rows, seed)
    groups = None if data.groups is None else data.groups[rows]
    if protocol.test_rows is not None:
        if groups is not None:
            return _drawn_groups(rows, groups, protocol.test_rows, seed + repeat)
        return _drawn(rows, protocol.test_rows, seed + repeat)
    if groups is not None:
        n_groups = len(np.unique(groups))
        if n_groups < protocol.folds:
            raise ValueError(
                f"folds must not exceed the number of groups, {n_groups}, got {protocol.folds}."
            )
        splitter: Any = GroupKFold(protocol.folds, shuffle=True, random_state=seed + repeat)
    elif protocol.stratify:
        splitter = HierarchicalStratifiedKFold(
            protocol.folds, hierarchy=data.hierarchy, random_state=seed + repeat
        )
    else:
        splitter = KFold(protocol.folds, shuffle=True, random_state=seed + repeat)
    splits = list(splitter.split(np.zeros(len(rows)), data.y[rows], groups))
    train, test = splits[fold]
    return rows[train], rows[test]


def _some(rows: Rows, most: int | None, seed: int) -> Rows:
    """Return the rows, or a random sample of the maximum size."""
    if most is None or most >= len(rows):
        return rows
    return np.sort(np.random.default_rng(seed).choice(rows, most, replace=False))


def _drawn(rows: Rows, n_test: int, seed: int) -> tuple[Rows, Rows]:
    """Split rows at random; if there are too few, a third of them are test rows."""
    n_test = n_test if n_test < len(rows) else max(1, len(rows) // 3)
    order = np.random.default_rng(seed).permutation(rows)
    return np.sort(order[n_test:]), np.sort(order[:n_test])


def _drawn_groups(rows: Rows, groups: NDArray[Any], n_test: int, seed: int) -> tuple[Rows, Rows]:
    """Split whole groups at random, so that at least `n_test` rows are test rows if it can be."""
    _, group = np.unique(groups, return_inverse=True)
    sizes = np.bincount(group)
    order = np.random.default_rng(seed).permutation(len(sizes))
    wanted = n_test if n_test < len(rows) else max(1, len(rows) // 3)
    n_drawn = int(np.searchsorted(np.cumsum(sizes[order]), wanted)) + 1
    is_test = np.isin(group, order[: max(1, min(n_drawn, len(sizes) - 1))])
    return rows[~is_test], rows[is_test]


def _published(data: StudyData, names: tuple[str, ...], where: str) -> Rows:
    for name in names:
        if name not in data.splits:
            raise ValueError(
                f"{where} names the split {name!r}, but the data set has {', '.join(data.splits)}."
            )
    return np.concatenate([data.splits[name] for name in names])
