"""Labels that nobody knows: entries of a label matrix that are neither 0 nor 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify._cached import cached_property
from ramify._validation import is_missing
from ramify.data.rows import indicator_of_lists
from ramify.labels.graph import row_of
from ramify.labels.hierarchy import Hierarchy

_CELLS_AT_ONCE = 1 << 24
_LITTLE = 1e-9
"""A smaller part of the weight of all rows is as good as none."""

ENDS = ("known", "unknown_below")
"""What is known below the most specific labels of a row: that it has none, or nothing."""


@dataclass(frozen=True)
class UnknownLabels:
    """The labels of each row that are not known, as patterns that rows share, one of them empty.

    A label that a row has is known, and so are its ancestors; of a label that it is known not to
    have, the descendants are known.
    """

    of_row: NDArray[np.uint32]  # the pattern of each row
    patterns: sparse.csr_array[np.int32]  # the labels of each pattern

    @property
    def n_unknown(self) -> NDArray[np.int64]:
        """The number of unknown labels of each row."""
        return np.diff(self.patterns.indptr).astype(np.int64)[self.of_row]

    @property
    def nothing_known(self) -> NDArray[np.bool_]:
        """Which rows know no label."""
        return np.asarray(self.n_unknown == self.patterns.shape[1])

    def informative(
        self, Y: sparse.csr_array[np.int32], weights: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        """Return which rows know a label that some rows have and others do not.

        A gene that is known to have some process tells no more than a row without labels. If a
        label were then known by no row, all rows that know any label count.
        """
        counted = (weights > 0).astype(np.float64)
        n_known = counted.sum() - self.weights(counted)
        n_positive = np.asarray(Y.T @ counted)
        differs = ((n_positive > 0) & (n_positive < n_known)).astype(np.float64)
        n_differing = differs.sum() - np.asarray(self.patterns @ differs)
        found = np.asarray(n_differing > 0)[self.of_row]
        still_known = (counted * found).sum() - self.weights(counted * found)
        return ~self.nothing_known if ((n_known > 0) & (still_known == 0)).any() else found

    @property
    def all_known(self) -> NDArray[np.bool_]:
        """Which rows know all labels."""
        return np.asarray(self.n_unknown == 0)

    def take(self, rows: Any) -> UnknownLabels | None:
        """Return those of some rows, given as indices, a mask or a slice; None if all is known."""
        used, of_row = np.unique(self.of_row[rows], return_inverse=True)
        patterns = self.patterns[used]
        return UnknownLabels(of_row.astype(np.uint32), patterns) if patterns.nnz else None

    def with_known_rows(self, n_rows: int) -> UnknownLabels:
        """Return those of these rows and of `n_rows` further ones that know all labels."""
        n_patterns, n_labels = self.patterns.shape
        indptr = np.append(self.patterns.indptr, self.patterns.nnz)
        parts = (self.patterns.data, self.patterns.indices, indptr)
        patterns = sparse.csr_array(parts, shape=(n_patterns + 1, n_labels))
        added = np.full(n_rows, n_patterns, dtype=np.uint32)
        return UnknownLabels(np.concatenate([self.of_row, added]), patterns)

    def weights(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return, for each label, the sum of the weights of the rows that do not know it."""
        totals = np.bincount(self.of_row, weights, minlength=self.patterns.shape[0])
        return np.asarray(totals @ self.patterns, dtype=np.float64)

    def rows_of(self, label: int) -> NDArray[np.bool_]:
        """Return which rows do not know a label."""
        columns = self._columns
        found = np.zeros(self.patterns.shape[0], dtype=bool)
        found[columns.indices[columns.indptr[label] : columns.indptr[label + 1]]] = True
        return found[self.of_row]

    def standing_in(
        self,
        label: int,
        columns: sparse.csc_array[np.int32],
        hierarchy: Hierarchy,
        weights: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Return weights of rows with which the known entries of a label stand for all.

        Rows that do not know the label have weight 0. Rows that have all its parents and know it
        stand for those that have them and do not; others lack the label and always know it.
        `columns` is the label matrix by labels.
        """
        known = ~self.rows_of(label)
        above = row_of(hierarchy.parent_rows, label)
        n_parents = np.zeros(len(weights), dtype=np.int64)
        for parent in above:
            n_parents[columns.indices[columns.indptr[parent] : columns.indptr[parent + 1]]] += 1
        has_parents = n_parents == len(above)
        standing = float(weights[has_parents & known].sum())
        found: NDArray[np.float64] = np.where(known, weights, 0.0)
        if above and standing > 0:
            found[has_parents] *= float(weights[has_parents].sum()) / standing
        return found

    @cached_property
    def _columns(self) -> Any:
        return self.patterns.tocsc()

    def as_rows(self) -> sparse.csr_array[np.int32]:
        """Return an indicator matrix of the unknown labels of all rows."""
        found: sparse.csr_array[np.int32] = self.patterns[self.of_row]
        return found

    def mask(self) -> NDArray[np.bool_]:
        """Return the same as an array."""
        return np.asarray(self.as_rows().toarray() != 0)


def close_unknown(
    hierarchy: Hierarchy,
    Y: sparse.csr_array[np.int32],
    marked: Any,
    *,
    below: bool = False,
    negative: Any = None,
) -> UnknownLabels | None:
    """Return the labels that are unknown if some are marked (and if `below`, those below them).

    A label that a row has is known even if it is marked, and so are those below a `negative` one.
    """
    levels = _parents_by_level(hierarchy)
    marked = sparse.csr_array(marked)
    n_rows, n_labels = Y.shape
    keys: dict[bytes, int] = {b"": 0}
    patterns = [np.empty(0, dtype=np.int32)]
    of_row = np.zeros(n_rows, dtype=np.uint32)
    rows = np.flatnonzero(np.diff(marked.indptr))
    step = max(1, _CELLS_AT_ONCE // max(1, n_labels))
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        has = Y[part].toarray() != 0
        unknown = marked[part].toarray() != 0
        if below:
            for labels, parents in levels:
                unknown[:, labels] |= unknown[:, parents]
        unknown &= ~has
        if negative is not None:
            unknown &= negative[part].toarray() == 0
        for labels, parents in levels:
            unknown[:, labels] &= has[:, parents] | unknown[:, parents]
        for row, found in zip(part.tolist(), unknown, strict=True):
            key = np.packbits(found).tobytes() if found.any() else b""
            if key not in keys:
                keys[key] = len(patterns)
                patterns.append(np.flatnonzero(found).astype(np.int32))
            of_row[row] = keys[key]
    if len(patterns) == 1:
        return None
    return UnknownLabels(of_row, indicator_of_lists(patterns, n_labels))


def _parents_by_level(hierarchy: Hierarchy) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return pairs of labels and parents, top down; every label is in a pair with each parent."""
    indptr, indices = hierarchy.parent_rows
    counts = np.diff(indptr)
    children = np.repeat(np.arange(hierarchy.n_labels), counts)
    place = np.arange(len(indices)) - np.repeat(indptr[:-1], counts)
    levels = np.asarray([0] * hierarchy.n_labels)
    for label in range(hierarchy.n_labels):
        above = row_of(hierarchy.parent_rows, label)
        levels[label] = 1 + max((levels[p] for p in above), default=-1)
    found = []
    for level, k in sorted(set(zip(levels[children].tolist(), place.tolist(), strict=True))):
        pick = (levels[children] == level) & (place == k)
        found.append((children[pick], np.asarray(indices)[pick]))
    return found


def known_shares(
    hierarchy: Hierarchy,
    Y: sparse.csr_array[np.int32],
    unknown: UnknownLabels,
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the share of each label among rows, as leaves of trees estimate it.

    This is the product, along the path, of the shares among the rows that have the parent and
    know the label. Those that do not know the parent count with its share; see decision 31.
    """
    total = float(weights.sum())
    sums, not_known = np.asarray(Y.T @ weights, dtype=np.float64), unknown.weights(weights)
    indptr, parents = hierarchy.parent_rows
    children = np.repeat(np.arange(hierarchy.n_labels), np.diff(indptr))
    columns: Any = unknown.patterns.tocsc()
    of_pattern = np.bincount(unknown.of_row, weights, minlength=unknown.patterns.shape[0])
    neither = of_pattern @ columns[:, parents].multiply(columns[:, children])
    shares = np.zeros(hierarchy.n_labels)
    for c in range(hierarchy.n_labels):
        edges = range(indptr[c], indptr[c + 1])
        if not edges:
            known = total - not_known[c]
            shares[c] = sums[c] / known if known > _LITTLE * total else 0
            continue
        found = []
        for k in edges:
            p = int(parents[k])
            known = sums[p] - (not_known[c] - neither[k])
            known += shares[p] * (not_known[p] - neither[k])
            if known > _LITTLE * total:
                found.append(shares[p] * min(1.0, sums[c] / known))
        shares[c] = min(found, default=0.0)
    return shares


# ---- finding unknown entries in y -----------------------------------------------------------


def split_matrix(values: Any) -> tuple[Any, Any] | None:
    """Split a matrix with unknown entries into one of 0 and 1 and one that marks them.

    Returns None if no entry is NaN, None, pandas.NA or -1, or others are not 0 and 1.
    """
    if sparse.issparse(values):
        unknown = np.isnan(values.data) | (values.data == -1)  # type: ignore[attr-defined]
        if not unknown.any():
            return None
        marked = values.tocsr(copy=True)  # type: ignore[attr-defined]
        known = marked.copy()
        unknown = np.isnan(marked.data) | (marked.data == -1)
        known.data[unknown] = 0
        marked.data = unknown.astype(np.int8)
        marked.eliminate_zeros()
        return known, marked
    if values.dtype.kind in "fi":
        unknown = (values != values) | (values == -1)  # noqa: PLR0124 (only NaN differs)
        found = values
    elif values.dtype.kind == "O":
        cells = values.ravel().tolist()
        missing = np.array([is_missing(cell) for cell in cells], dtype=bool)
        numbers = (bool, int, float, np.number, np.bool_)
        if missing.all() or not all(
            gap or isinstance(cell, numbers) for cell, gap in zip(cells, missing, strict=True)
        ):
            return None
        plain = [np.nan if gap else cell for cell, gap in zip(cells, missing, strict=True)]
        found = np.array(plain, dtype=np.float64).reshape(values.shape)
        unknown = np.isnan(found) | (found == -1)
    else:
        return None
    if not unknown.any():
        return None
    known = np.where(unknown, 0, found).astype(found.dtype)
    return (known, unknown) if np.isin(known, (0, 1)).all() else None


def missing_rows(values: Sequence[Any]) -> NDArray[np.bool_]:
    """Return which rows are None, NaN or pandas.NA in place of labels."""
    if set(map(type, values)) <= _NEVER_MISSING:
        return np.zeros(len(values), dtype=bool)
    return np.array([is_missing(value) for value in values], dtype=bool)


_NEVER_MISSING = {str, np.str_, int, bool, list, tuple, set, frozenset}


def first_unknown(unknown: UnknownLabels, hierarchy: Hierarchy) -> str:
    """Describe the first unknown label, for messages."""
    row = int(np.flatnonzero(unknown.of_row)[0])
    pattern = int(unknown.of_row[row])
    label = int(unknown.patterns.indices[unknown.patterns.indptr[pattern]])
    return f"label {hierarchy.labels[label]!r} of row {row}"
