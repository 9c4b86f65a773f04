"""Promises: how thresholds follow from calibration rows, for paths and for label sets."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify._messages import shorten
from ramify._savable import savable
from ramify._schema import Array, Maybe, Number, Schema, Whole
from ramify.decision.guarantees import (
    Chains,
    Cover,
    Events,
    above,
    below,
    climb,
    critical_scores,
    false_events,
    lowest_safe,
    missed_events,
    pooled,
    set_scores,
    tolerated,
)
from ramify.labels.hierarchy import Hierarchy
from ramify.labels.unknown import UnknownLabels

STORED = np.arange(1, 51) / 100
"""The shares of errors for which thresholds of label sets are stored."""


@dataclass(frozen=True)
class CalibrationRows:
    """Rows on which a promise is calibrated."""

    scores: NDArray[np.float64]
    Y: sparse.csr_array[np.int32]
    weights: NDArray[np.float64]
    groups: NDArray[Any] | None
    unknown: UnknownLabels | None = None  # 0 in Y: at an end that is not known, a path is wrong

    def where(self, kept: NDArray[np.bool_]) -> CalibrationRows:
        """Return some of the rows."""
        groups = None if self.groups is None else self.groups[kept]
        Y = sparse.csr_array(self.Y[kept])
        unknown = None if self.unknown is None else self.unknown.take(kept)
        return CalibrationRows(self.scores[kept], Y, self.weights[kept], groups, unknown)

    @property
    def is_shifted(self) -> bool:
        """Whether rows have unequal weights."""
        return len(np.unique(self.weights)) > 1

    @property
    def shares(self) -> NDArray[np.float64]:
        """The weight of each row; those of a group sum to 1."""
        if self.groups is None:
            return self.weights if self.is_shifted else np.ones(len(self.weights))
        _, group, counts = np.unique(self.groups, return_inverse=True, return_counts=True)
        return np.asarray(1.0 / counts[group])

    @property
    def n_units(self) -> int:
        """The number of rows or of groups."""
        return len(self.scores) if self.groups is None else len(np.unique(self.groups))


@savable
@dataclass(frozen=True)
class PathPromise:
    """How far the paths of rows are climbed, by the calibration rows of a promise."""

    confidence: float | None
    max_labels: int  # of the sets
    n_units: int  # calibration rows, or groups of them
    is_weighted: int  # whether calibration rows have the weights of a covariate shift
    candidates: NDArray[np.bool_]  # the labels at which a training row ends
    critical: NDArray[np.float64]  # an answer is wrong if the threshold does not exceed it
    set_critical: NDArray[np.float64]  # the same for sets
    shares: NDArray[np.float64]  # the weight of each calibration row; those of a group sum to 1
    # The score that an answer of each calibration row has on each level or below it.
    level_scores: NDArray[np.float64]
    branches: NDArray[np.int64]  # the top-level label of the path of each row; -1 if not used

    _saved_schema: ClassVar[Schema] = {
        "confidence": Maybe(Number(0, 1)),
        "max_labels": Whole(1),
        "n_units": Whole(1),
        "is_weighted": Whole(0, 2),
        "candidates": Array(("n_labels",), "b1"),
        "critical": Array(("n_rows",), finite=False),
        "set_critical": Array(("n_rows",), finite=False),
        "shares": Array(("n_rows",), low=0),
        "level_scores": Array(("n_rows", "?"), finite=False),
        "branches": Array(("n_rows",), "i8", low=-1, below="n_labels"),
    }

    @classmethod
    def learn(
        cls,
        rows: CalibrationRows,
        hierarchy: Hierarchy,
        *,
        candidates: NDArray[np.bool_],
        confidence: float | None,
        max_labels: int,
        per_branch: bool,
    ) -> PathPromise:
        """Find out at which thresholds each calibration row goes wrong."""
        chains = climb(rows.scores, candidates, hierarchy)
        cover = Cover(hierarchy)
        ends = set_scores(rows.scores, candidates, hierarchy)
        truth = [set(rows.Y.indices[a:b].tolist()) for a, b in pairwise(rows.Y.indptr)]
        every = zip(ends, rows.scores, truth, strict=True)
        return cls(
            confidence=confidence,
            max_labels=max_labels,
            n_units=rows.n_units,
            is_weighted=int(rows.is_shifted),
            candidates=candidates,
            critical=critical_scores(chains, rows.Y),
            set_critical=np.array([cover.critical(e, s, max_labels, t) for e, s, t in every]),
            shares=rows.shares,
            level_scores=level_scores(chains, hierarchy),
            branches=np.where(per_branch, chains.tops, -1).astype(np.int64),
        )

    def fits(self, hierarchy: Hierarchy) -> bool:
        """Whether the arrays of a file can be those of calibration rows."""
        with np.errstate(over="ignore"):
            total = self.shares.sum()
        scores = (self.critical, self.set_critical, self.level_scores)
        return bool(
            self.candidates.any()
            and self.level_scores.shape[1] == hierarchy.depth
            and not any(np.isnan(each).any() for each in scores)
            and 0 < total < np.inf
            and (self.is_weighted or np.isclose(total, self.n_units))
        )

    def own_branches(self, share: float) -> NDArray[np.int64]:
        """Return the top-level labels with enough calibration rows for own thresholds."""
        found = [
            branch
            for branch in np.unique(self.branches[self.branches >= 0])
            if self._tolerated(self.shares[self.branches == branch], share, None).min() >= 0
        ]
        return np.array(found, dtype=np.int64)

    def _tolerated(
        self, shares: NDArray[np.float64], share: float, new: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        """Return how large the sum of the losses of some calibration rows may be.

        `new`: the weights of new rows if calibration rows have weights; None for the largest.
        """
        if self.is_weighted:
            weight = np.array([self.shares.max()]) if new is None else new
            return np.asarray(share * (shares.sum() + weight) - weight)
        is_binary = bool((self.shares == 1).all())
        n = len(shares) if is_binary else self.n_units
        return np.array([tolerated(n, share, self.confidence, is_binary=is_binary)])

    def thresholds(
        self,
        tops: NDArray[Any],
        share: float,
        shift_weight: NDArray[np.float64] | None = None,
        *,
        for_sets: bool = False,
    ) -> NDArray[np.float64]:
        """Return the thresholds of rows whose paths start at some top-level labels."""
        own = self.own_branches(share)
        known = np.where(np.isin(self.branches, own), self.branches, -1)
        asked = np.where(np.isin(tops, own), tops, -1)
        critical = self.set_critical if for_sets else self.critical
        found = np.empty(len(tops))
        for branch in np.unique(asked):
            rows, those = known == branch, asked == branch
            new = None if shift_weight is None else shift_weight[those]
            most = self._tolerated(self.shares[rows], share, new)
            found[those] = above(Events(critical[rows], self.shares[rows]), most)
        return found


def level_scores(chains: Chains, hierarchy: Hierarchy) -> NDArray[np.float64]:
    """Return the largest threshold at which the answer of a row is on each level or below it."""
    levels = np.append(hierarchy.label_levels, 0)[chains.labels]
    found = [
        np.where(levels >= level, chains.scores, -np.inf).max(axis=1)
        for level in range(1, hierarchy.depth + 1)
    ]
    return np.stack(found, axis=1)


@savable
@dataclass(frozen=True)
class SetPromise:
    """The thresholds of labels for some shares of missed or of false labels."""

    thresholds: NDArray[np.float64]  # for the share of the constructor, one per label
    stored: NDArray[np.float64]  # for the shares in STORED

    _saved_schema: ClassVar[Schema] = {
        "thresholds": Array(("n_labels",), low=-np.inf, finite=False),
        "stored": Array((len(STORED), "n_labels"), low=-np.inf, finite=False),
    }

    @classmethod
    def learn(
        cls,
        rows: CalibrationRows,
        roots: NDArray[np.intp],
        *,
        share: float,
        costs: NDArray[np.float64] | None,
        confidence: float | None,
    ) -> SetPromise:
        """Choose thresholds for the labels below each root."""
        shares = np.append(STORED, share)
        found = np.empty((len(shares), len(roots)))
        for root in np.unique(roots):
            columns = np.flatnonzero(roots == root)
            found[:, columns] = _search(rows, columns, shares, costs, confidence)[:, None]
        return cls(found[-1], found[:-1])

    def at(self, share: float) -> NDArray[np.float64]:
        """Return the thresholds for the largest stored share that is not above another one."""
        row = np.searchsorted(STORED, share + 1e-12, side="right") - 1
        return np.asarray(self.stored[row])


def _search(
    rows: CalibrationRows,
    columns: NDArray[np.intp],
    shares: NDArray[np.float64],
    costs: NDArray[np.float64] | None,
    confidence: float | None,
) -> NDArray[np.float64]:
    """Return the threshold of some labels for each share of errors."""
    if costs is not None:
        # The share of the labels of a row is defined if it has any.
        rows = rows.where(np.diff(sparse.csr_array(rows.Y[:, columns]).indptr) > 0)
        by_row = missed_events(rows.scores, rows.Y, costs, columns)
    else:
        monotone = confidence is None
        by_row = false_events(
            rows.scores, rows.Y, columns, monotone=monotone, unknown=rows.unknown
        )
    return safe_thresholds(by_row, rows, shares, confidence, missed=costs is not None)


def safe_thresholds(
    by_row: list[Events],
    rows: CalibrationRows,
    shares: NDArray[np.float64],
    confidence: float | None,
    *,
    missed: bool,
) -> NDArray[np.float64]:
    """Return the threshold for each share of errors from the events of each calibration row."""
    n = rows.n_units
    if n == 0:
        return np.full(len(shares), -np.inf if missed else np.inf)
    events = pooled(by_row, rows.shares)
    if rows.is_shifted:
        weight = rows.weights.max()
        most = shares * (rows.weights.sum() + weight) - weight
    else:
        most = np.array([tolerated(n, s, confidence, is_binary=False) for s in shares])
    if missed:
        return below(events, most)
    return above(events, most) if confidence is None else lowest_safe(events, most)


def root_of_each(hierarchy: Hierarchy) -> NDArray[np.intp]:
    """Return the top-level label above each label, or raise an error if there are several."""
    indptr, above_them = hierarchy.ancestor_rows
    is_top = np.diff(hierarchy.parent_rows[0]) == 0
    roots = np.full(hierarchy.n_labels, -1, dtype=np.intp)
    for label in range(hierarchy.n_labels):
        lineage = np.append(above_them[indptr[label] : indptr[label + 1]], label)
        tops = lineage[is_top[lineage]]
        if len(tops) > 1:
            names = shorten(hierarchy.labels[k] for k in tops)
            raise ValueError(
                f'per must be "all" if a label is below several top-level labels, got "branch": '
                f"{hierarchy.labels[label]!r} is below {names}."
            )
        roots[label] = tops[0]
    return roots
