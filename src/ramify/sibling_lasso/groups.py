"""Groups of siblings; fitting one group and choosing its penalty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import KFold

from ramify.hierarchy.hierarchy import Hierarchy
from ramify.local.problems import ROOT, parents_of
from ramify.sibling_lasso.lasso import LassoFit, LassoProblem, deviance

__all__ = ["Group", "GroupFit", "PenaltyRule", "edge_list", "find_groups", "fit_group"]

_PATIENCE = 2
"""Number of smaller penalties to try without improvement."""

_CERTAIN = 50.0
"""Absolute intercept of a label on which all rows agree: expit(50) is 1."""


@dataclass(frozen=True)
class Group:
    """The children of one parent.

    Attributes
    ----------
    parent : int
        Position of the parent; ROOT for the top level.
    edges : ndarray of int
        Positions of the edges to its children in `edge_list`.
    rows : ndarray of int
        Rows of positive weight that have the parent.
    Y : ndarray of shape (n_rows, n_children)
        Label matrix of these rows and the children.
    """

    parent: int
    edges: NDArray[np.intp]
    rows: NDArray[np.intp]
    Y: NDArray[np.float64]


@dataclass(frozen=True)
class PenaltyRule:
    """How to choose the penalty of a group: a fixed value, or by cross-validation."""

    given: float | None
    n_penalties: int
    smallest: float
    n_folds: int
    seed: int
    splits: tuple[tuple[Any, Any], ...] | None = None  # splits of all rows, instead of folds

    def shares(self) -> NDArray[np.float64]:
        """Return decreasing penalties as fractions of the largest one."""
        if self.given is None:
            return np.geomspace(1.0, self.smallest, self.n_penalties)
        # A path to the given penalty: every solution starts from a close one.
        steps = max(2, int(np.ceil(-2 * np.log10(self.given))) + 1)
        return np.geomspace(1.0, self.given, steps)

    def split(self, rows: NDArray[np.intp]) -> list[tuple[Any, Any]]:
        """Return training and test positions in `rows` for each fold in which both exist."""
        if self.splits is None:
            n_folds = min(self.n_folds, len(rows))
            folds = KFold(n_folds, shuffle=True, random_state=self.seed) if n_folds > 1 else None
            return [] if folds is None else list(folds.split(rows))
        found = [
            (np.flatnonzero(np.isin(rows, train)), np.flatnonzero(np.isin(rows, test)))
            for train, test in self.splits
        ]
        return [(train, test) for train, test in found if len(train) and len(test)]


@dataclass(frozen=True)
class GroupFit:
    """The model of a group; `learnt` contains the children on which not all rows agree.

    `converged` tells whether the solver reached its tolerance; see `LassoProblem`.
    """

    used: NDArray[np.intp]
    coef: NDArray[np.float64]
    learnt: NDArray[np.intp]
    intercept: NDArray[np.float64]
    penalty: float
    n_iter: int
    converged: bool


def edge_list(hierarchy: Hierarchy) -> list[tuple[int, int]]:
    """Return all edges (parent, child) as positions of labels, sorted by child."""
    return [
        (parent, child)
        for child in range(hierarchy.n_labels)
        for parent in parents_of(hierarchy, child)
    ]


def find_groups(
    Y: sparse.csr_array[np.int32], weights: NDArray[np.float64], hierarchy: Hierarchy
) -> list[Group]:
    """Return the groups of siblings, the top level first.

    Parameters
    ----------
    Y : csr_array of shape (n, n_labels)
        Label matrix with ancestors.
    weights : ndarray of shape (n,)
        Sample weights; rows of weight 0 are ignored.
    hierarchy : Hierarchy
        The label hierarchy.

    Returns
    -------
    list of Group
        One group for the top level, and one for each label with children.
    """
    edges: dict[int, list[int]] = {}
    children: dict[int, list[int]] = {}
    for number, (parent, child) in enumerate(edge_list(hierarchy)):
        edges.setdefault(parent, []).append(number)
        children.setdefault(parent, []).append(child)
    columns = Y.tocsc()
    counted = weights > 0
    groups = []
    for parent in sorted(edges):
        has = counted.copy()
        if parent != ROOT:
            mine = np.zeros(len(has), dtype=bool)
            mine[columns.indices[columns.indptr[parent] : columns.indptr[parent + 1]]] = True
            has &= mine
        rows = np.flatnonzero(has)
        labels = columns[:, children[parent]].tocsr()[rows].toarray().astype(np.float64)
        groups.append(Group(parent, np.array(edges[parent], dtype=np.intp), rows, labels))
    return groups


def fit_group(
    columns: Any,
    weights: NDArray[np.float64],
    group: Group,
    rule: PenaltyRule,
    *,
    tol: float,
    max_iter: int,
) -> GroupFit:
    """Fit the model of one group.

    Parameters
    ----------
    columns : ndarray or csr_array of shape (n, n_columns)
        Scaled features of all rows.
    weights : ndarray of shape (n,)
        Sample weights.
    group : Group
        The group.
    rule : PenaltyRule
        How to choose the penalty.
    tol : float
        See `LassoProblem`.
    max_iter : int
        See `LassoProblem`.

    Returns
    -------
    GroupFit
        The fitted model, without coefficients if there is nothing to learn.
    """
    means = group.Y.mean(axis=0) if len(group.rows) else np.zeros(group.Y.shape[1])
    learnt = np.flatnonzero((means > 0) & (means < 1))
    intercept = np.where(means > 0, _CERTAIN, -_CERTAIN)
    none = np.empty((0, len(learnt)))
    if not learnt.size:
        return GroupFit(np.empty(0, dtype=np.intp), none, learnt, intercept, 1.0, 1, True)
    X, Y, own = columns[group.rows], group.Y[:, learnt], weights[group.rows]
    problem = LassoProblem(X, Y, own, tol=tol, max_iter=max_iter)
    shares = rule.shares()
    penalties = shares * problem.largest_penalty
    last = len(shares) - 1
    if rule.given is None:
        splits = rule.split(group.rows)
        last = _best_penalty(X, Y, own, penalties, splits, tol=tol, max_iter=max_iter)
    *_, fit = problem.path(penalties[: last + 1].tolist())
    intercept[learnt] = fit.intercept
    return GroupFit(
        fit.used,
        fit.coef,
        learnt,
        intercept,
        float(shares[last]),
        problem.n_iter,
        problem.converged,
    )


def _best_penalty(
    X: Any,
    Y: NDArray[np.float64],
    weights: NDArray[np.float64],
    penalties: NDArray[np.float64],
    splits: list[tuple[Any, Any]],
    *,
    tol: float,
    max_iter: int,
) -> int:
    """Return the position of the penalty with the smallest loss on held-out rows."""
    if not splits:
        return 0
    problems = [
        LassoProblem(X[train], Y[train], weights[train], tol=tol, max_iter=max_iter)
        for train, _ in splits
    ]
    paths = [problem.path(penalties.tolist()) for problem in problems]
    held_out = [(X[test], Y[test], weights[test]) for _, test in splits]
    losses: list[float] = []
    for fits in zip(*paths, strict=True):
        pairs = zip(fits, held_out, strict=True)
        losses.append(sum(_loss(fit, *rows) for fit, rows in pairs))
        if len(losses) - int(np.argmin(losses)) > _PATIENCE:
            break  # the loss is assumed to have one minimum, and small penalties take the longest
    return int(np.argmin(losses))


def _loss(fit: LassoFit, X: Any, Y: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    mass = float(weights.sum())
    return mass * deviance(fit.decide(X), Y, weights) if mass else 0.0
