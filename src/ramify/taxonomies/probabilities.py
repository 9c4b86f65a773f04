"""Probabilities carried to a changed taxonomy, and what becomes of its labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify._savable import savable
from ramify._schema import Schema, Text, Whole
from ramify.data.rows import indicator_of_cells
from ramify.labels.graph import row_of
from ramify.taxonomies.mapping import LabelMapping

STATUSES = ("kept", "remapped", "relearnt", "unknown")
"""What may become of a label of the new taxonomy in a model that is carried to it."""


@savable
@dataclass(frozen=True)
class Revision:
    """One change of the taxonomy of a model.

    Attributes
    ----------
    old_version, new_version : str
        The versions of the taxonomies; empty if their files name none.
    n_old : int
        The number of labels before.
    kept, remapped, relearnt, unknown : int
        The number of labels of the new taxonomy with each status; see `with_hierarchy`.
    """

    old_version: str
    new_version: str
    n_old: int
    kept: int
    remapped: int
    relearnt: int
    unknown: int

    _saved_schema: ClassVar[Schema] = {
        "old_version": Text(),
        "new_version": Text(),
        "n_old": Whole(1),
        **{name: Whole() for name in STATUSES},
    }

    @classmethod
    def of(cls, mapping: LabelMapping, statuses: NDArray[Any]) -> Revision:
        """Count the labels of the new taxonomy by their status."""
        counts = {name: int((statuses == name).sum()) for name in STATUSES}
        return cls(mapping.old.version, mapping.new.version, mapping.old.n_labels, **counts)


class ProbabilityCarrier:
    r"""Carries the probabilities of all labels of an old taxonomy to a new one.

    With the image I(k) of an old label k, i.e. the new labels that rows ending at k get, k counts
    for the new labels that are in I(k) and in no image of its parents, and against those of which
    it is the other way round. If every row has one path in a tree, the ends of paths exclude each
    other, and

    .. math:: P(t) = \sum_k P(k) \, ([t \in I(k)] - [t \in I(parent(k))])

    is exact. Otherwise, P(t) is the largest P(k) that counts for t, times the probability
    1 - P(k) / P(t) that a label which counts against it is missing, for all of these.

    `copied`: for each new label, the old one whose probability it has, unchanged; -1 for others.
    """

    def __init__(self, mapping: LabelMapping, *, exclusive: bool) -> None:
        self._exclusive = exclusive
        self.n_old = mapping.old.n_labels
        self._gained, self._lost = mapping._differences
        alone = (np.diff(self._gained.indptr) == 1) & (np.diff(self._lost.indptr) == 0)
        self.copied = np.full(mapping.new.n_labels, -1, dtype=np.int64)
        self.copied[alone] = self._gained[alone].indices
        self._changed = np.flatnonzero(~alone & self.is_known)

    @property
    def is_known(self) -> NDArray[np.bool_]:
        """Which new labels an old one became, or is below."""
        return np.asarray(np.diff(self._gained.indptr) > 0)

    def carry(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return probabilities of the new labels; they need not be coherent yet."""
        carried = np.zeros((len(scores), len(self.copied)))
        same = np.flatnonzero(self.copied >= 0)
        carried[:, same] = scores[:, self.copied[same]]
        if self._exclusive:
            terms: Any = (self._gained - self._lost)[self._changed]
            # A dense product by BLAS would make the last digits of a row depend on other rows.
            sums = sparse.csr_array(terms, dtype=np.float64) @ np.ascontiguousarray(scores.T)
            carried[:, self._changed] = np.clip(sums.T, 0.0, 1.0)
            return carried
        columns = dict(enumerate(scores.T))
        for t in self._changed.tolist():
            carried[:, t] = self._combine(columns, t)
        return carried

    def carry_sparse(self, scores: Any) -> Any:
        """Do the same with sparse matrices."""
        shape = (self.n_old, len(self.copied))
        if self._exclusive:
            terms: Any = sparse.csr_array(self._gained - self._lost, dtype=np.float64)
            carried = sparse.csr_array(scores @ terms.T)
            carried.data = np.clip(carried.data, 0.0, 1.0)
            return carried
        same, changed = np.flatnonzero(self.copied >= 0), self._changed
        images = indicator_of_cells(self.copied[same], same, shape, np.float64)
        carried = sparse.csr_array(scores @ images)
        if not changed.size:
            return carried
        parts = [matrix[changed].indices for matrix in (self._gained, self._lost)]
        needed = np.unique(np.concatenate(parts))
        dense = np.asfortranarray(scores[:, needed].toarray())
        column = {int(k): dense[:, place] for place, k in enumerate(needed)}
        found = np.stack([self._combine(column, t) for t in changed.tolist()], axis=1)
        cells = sparse.coo_array(found)
        placed = (cells.data, (cells.row, changed[cells.col]))
        return carried + sparse.csr_array(placed, shape=carried.shape)

    def _combine(self, columns: Mapping[int, NDArray[np.float64]], t: int) -> NDArray[np.float64]:
        """Return the probability of a new label, given those of the old ones by position."""
        gained = row_of((self._gained.indptr, self._gained.indices), t)
        largest = np.maximum.reduce([columns[k] for k in gained])
        found = np.array(largest)
        above = np.where(largest > 0, largest, 1.0)
        for k in row_of((self._lost.indptr, self._lost.indices), t):
            found *= 1.0 - np.minimum(columns[k] / above, 1.0)
        return found


def label_statuses(mapping: LabelMapping, copied: NDArray[np.int64]) -> NDArray[np.str_]:
    """Return what becomes of every label of the new taxonomy, without new rows."""
    old, new = mapping.old.labels, mapping.new.labels
    is_known = np.bincount(mapping._images.indices, minlength=len(new)) > 0
    statuses = np.where(is_known, "remapped", "unknown")
    same = [k >= 0 and old[k] == new[t] for t, k in enumerate(copied.tolist())]
    statuses[same] = "kept"
    return statuses
