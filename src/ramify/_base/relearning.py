"""What a fitted classifier learns again after its taxonomy was changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify._cached import cached_property
from ramify.data.rows import indicator, indicator_of_cells
from ramify.labels.hierarchy import Hierarchy
from ramify.taxonomies.probabilities import ProbabilityCarrier

RELEARN = ("changed", "all")
"""What rows with new labels are used for: labels that have changed, or all."""


@dataclass(frozen=True)
class Relearning:
    """Rows with labels of the new taxonomy, and which labels are learnt from them."""

    carrier: ProbabilityCarrier
    hierarchy: Hierarchy  # the new taxonomy
    X: Any  # the features, as returned by `read_features`
    given: Any  # the features as the user passed them
    Y: sparse.csr_array[np.int32]  # labels, including all ancestors
    weights: NDArray[np.float64]
    weighted: bool  # whether the user passed sample weights
    changed: NDArray[np.bool_]  # the labels to learn
    statuses: NDArray[np.str_]  # of all labels before

    def statuses_after(
        self, learnt: NDArray[np.bool_], *, forgets: bool = False
    ) -> NDArray[np.str_]:
        """Return the statuses after some labels have been learnt.

        `forgets`: whether what was known about them is lost, so that they need rows.
        """
        has_rows = np.bincount(
            self.Y[np.flatnonzero(self.weights > 0)].indices, minlength=len(learnt)
        )
        without = "unknown" if forgets else self.statuses
        return np.where(learnt, np.where(has_rows > 0, "relearnt", without), self.statuses)

    @property
    def copied(self) -> NDArray[np.int64]:
        """For each new label, the old one that stands for it; -1 if it is learnt from the rows."""
        return np.where(self.changed, -1, self.carrier.copied)

    @cached_property
    def with_parents(self) -> sparse.csr_array[np.int32]:
        """Which rows have all parents of each label; all rows have those of top-level labels."""
        above = indicator(self.hierarchy.parent_rows, self.hierarchy.n_labels)
        n_parents = np.diff(above.indptr)
        counts: Any = sparse.coo_array(self.Y @ above.T)
        full = counts.data == n_parents[counts.col]
        top = np.flatnonzero(n_parents == 0)
        rows = np.concatenate([counts.row[full], np.repeat(np.arange(self.Y.shape[0]), len(top))])
        columns = np.concatenate([counts.col[full], np.tile(top, self.Y.shape[0])])
        return indicator_of_cells(rows, columns, self.Y.shape)
