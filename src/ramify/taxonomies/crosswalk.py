"""Crosswalks: how labels of one taxonomy correspond to those of another, learnt from rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.stats import norm

from ramify._messages import counted
from ramify._validation import check_number
from ramify.labels.encoding import read_labels
from ramify.labels.hierarchy import Hierarchy
from ramify.metrics.reports import Report
from ramify.taxonomies.mapping import LabelMapping, MappingLine


@dataclass(frozen=True, eq=False, repr=False)
class Crosswalk:
    """How often rows with a label of one taxonomy have each label of another one.

    Attributes
    ----------
    first, second : Hierarchy
        The taxonomies.
    rows, rows_second : ndarray
        The numbers of rows with each label of the first and of the second taxonomy.
    together : csr_array of shape (n_labels of first, n_labels of second)
        The number of rows with both labels.
    confidence : float
        The confidence of the intervals.

    Examples
    --------
    >>> from ramify.taxonomies import Crosswalk
    >>> ours = ["toys/dolls"] * 8 + ["toys/cars"] * 6 + ["books"] * 9
    >>> theirs = ["play/figures"] * 7 + ["play/vehicles"] * 7 + ["media/print"] * 9
    >>> crosswalk = Crosswalk.learn(ours, theirs)
    >>> crosswalk
    Crosswalk(4 → 5 labels, 10 pairs)
    >>> print(crosswalk.report(0.5))
    first       second         rows  both   share     low    high  overlap
    books       media             9     9  1.0000  0.7009  1.0000   1.0000
    books       media/print       9     9  1.0000  0.7009  1.0000   1.0000
    toys        play             14    14  1.0000  0.7847  1.0000   1.0000
    toys        play/figures     14     7  0.5000  0.2680  0.7320   0.5000
    toys        play/vehicles    14     7  0.5000  0.2680  0.7320   0.5000
    toys/cars   play              6     6  1.0000  0.6097  1.0000   0.4286
    toys/cars   play/vehicles     6     6  1.0000  0.6097  1.0000   0.8571
    toys/dolls  play              8     8  1.0000  0.6756  1.0000   0.5714
    toys/dolls  play/figures      8     7  0.8750  0.5291  0.9776   0.8750
    >>> crosswalk.mapping().successors("toys/dolls")
    ('play/figures',)
    """

    first: Hierarchy
    second: Hierarchy
    rows: NDArray[np.int64]
    rows_second: NDArray[np.int64]
    together: sparse.csr_array[np.int64]
    confidence: float

    def __repr__(self) -> str:
        sizes = f"{self.first.n_labels:,} → {self.second.n_labels:,} labels"
        return f"Crosswalk({sizes}, {counted(self.together.nnz, 'pair')})"

    @classmethod
    def learn(
        cls,
        y_first: Any,
        y_second: Any,
        first: Hierarchy | None = None,
        second: Hierarchy | None = None,
        *,
        confidence: float = 0.95,
    ) -> Crosswalk:
        """Count which labels occur together.

        Parameters
        ----------
        y_first, y_second : array-like
            Labels of the same rows in both taxonomies, in any format. Rows without a label in one
            of them do not count.
        first, second : Hierarchy, optional
            The taxonomies; by default those of the labels.
        confidence : float
            The confidence of the intervals of the shares, which are those of Wilson; below 1.

        Returns
        -------
        Crosswalk
            The counts.
        """
        check_number("confidence", confidence, 0, 1)
        if confidence == 1:
            raise ValueError("confidence must be less than 1, got 1. Pass e.g. 0.99.")
        sides = [read_labels(y, known) for y, known in ((y_first, first), (y_second, second))]
        matrices = [side.Y.astype(np.int64) for side in sides]
        if matrices[0].shape[0] != matrices[1].shape[0]:
            raise ValueError(
                f"y_second must have {matrices[0].shape[0]} rows, as y_first, got "
                f"{matrices[1].shape[0]}. Pass both for the same rows."
            )
        both = np.logical_and(*(np.diff(Y.indptr) > 0 for Y in matrices))
        if not both.any():
            raise ValueError("y_second must have labels of rows with labels in y_first, got none.")
        Y, Z = (matrix[np.flatnonzero(both)] for matrix in matrices)
        together: Any = sparse.csr_array(Y.T @ Z)
        together.sort_indices()
        rows = [np.bincount(part.indices, minlength=part.shape[1]) for part in (Y, Z)]
        hierarchies = sides[0].hierarchy, sides[1].hierarchy
        return cls(*hierarchies, rows[0], rows[1], together, confidence)

    def report(self, min_share: float = 0.0) -> Report:
        """Report the labels that occur together.

        Parameters
        ----------
        min_share : float
            The smallest share to report.

        Returns
        -------
        Report
            Columns first, second, rows (with the first label), both, share (of these rows that
            have the second label), low and high, the limits of the share, and overlap, the share
            of the rows with either label that have both.
        """
        check_number("min_share", min_share, 0, 1)
        at, other = self._pairs()
        both, rows = self.together.data, self.rows[at]
        low, high = _wilson(both, rows, self.confidence)
        keep = np.flatnonzero(both >= min_share * rows)
        keep = keep[np.lexsort((other[keep], -(both / rows)[keep], at[keep]))]
        names = {"first": (self.first, at), "second": (self.second, other)}
        columns: dict[str, list[Any]] = {
            name: [side.labels[k] for k in places[keep]] for name, (side, places) in names.items()
        }
        numbers = {"rows": rows, "both": both, "share": both / rows, "low": low, "high": high}
        numbers["overlap"] = self._overlap()
        return Report(columns | {name: values[keep].tolist() for name, values in numbers.items()})

    def mapping(self, min_share: float = 0.5) -> LabelMapping:
        """Make a mapping: of the labels that most rows with a label have, that of most overlap.

        Parameters
        ----------
        min_share : float
            The share of the rows with a label that must have its counterpart, with the confidence
            of the crosswalk: the lower limit of the interval counts, which is less than 1.

        Returns
        -------
        LabelMapping
            Has a line for each label of the first taxonomy that occurs; those without a
            counterpart get that of their parent, by `LabelMapping.apply`.
        """
        check_number("min_share", min_share, 0, 1)
        at, other = self._pairs()
        low, high = _wilson(self.together.data, self.rows[at], self.confidence)
        share, overlap = self.together.data / self.rows[at], self._overlap()
        level = self.second.label_levels[other]
        possible = np.flatnonzero(low >= min_share)
        ranked = possible[np.lexsort((-other[possible], level[possible], overlap[possible]))]
        best = {int(at[pair]): pair for pair in ranked.tolist()}  # the last one stays
        lines = []
        for k in np.flatnonzero(self.rows).tolist():
            label = self.first.labels[k]
            if k not in best:
                reason = f"no counterpart of {counted(int(self.rows[k]), 'row')}"
                lines.append(MappingLine(label, None, "", 1.0, reason))
                continue
            pair = best[k]
            reason = f"{self.together.data[pair]} of {counted(int(self.rows[k]), 'row')}"
            reason += f", {low[pair]:.2f} to {high[pair]:.2f}"
            target = self.second.labels[other[pair]]
            lines.append(MappingLine(label, target, "", round(float(share[pair]), 3), reason))
        return LabelMapping(self.first, self.second, lines)

    def _overlap(self) -> NDArray[np.float64]:
        """Return for all stored counts the share of the rows with either label that have both."""
        (at, other), both = self._pairs(), self.together.data
        return np.asarray(both / (self.rows[at] + self.rows_second[other] - both))

    def _pairs(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the labels of all stored counts."""
        at = np.repeat(np.arange(len(self.rows)), np.diff(self.together.indptr))
        return at, np.asarray(self.together.indices, dtype=np.intp)


def _wilson(
    part: NDArray[np.int64], whole: NDArray[np.int64], confidence: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the limits of shares."""
    z = norm.ppf((1 + confidence) / 2)
    share = part / whole
    middle = share + z * z / (2 * whole)
    half = z * np.sqrt(share * (1 - share) / whole + z * z / (4 * whole * whole))
    scale = 1 + z * z / whole
    return np.maximum((middle - half) / scale, 0.0), np.minimum((middle + half) / scale, 1.0)
