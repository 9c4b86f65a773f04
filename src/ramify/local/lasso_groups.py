"""The groups of siblings of the sparse models, and their features as a matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import KFold

from ramify._savable import savable
from ramify._schema import Array, Flag, Schema
from ramify.data.features import FeatureSchema
from ramify.data.rows import dense, indicator_of_cells
from ramify.labels.hierarchy import Hierarchy
from ramify.local.lasso import LassoFit, LassoProblem, deviance
from ramify.local.problems import ROOT, edges_of

_PATIENCE = 2
"""Number of smaller penalties to try without improvement."""

_CERTAIN = 50.0
"""Absolute intercept of a label on which all rows agree: expit(50) is 1."""


@dataclass(frozen=True)
class Group:
    """The children of one parent."""

    parent: int  # position of the parent; ROOT for the top level
    edges: NDArray[np.intp]  # positions of the edges to its children in `edges_of`
    rows: NDArray[np.intp]  # rows of positive weight that have the parent
    Y: NDArray[np.float64]  # label matrix of these rows and the children


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


def find_groups(
    Y: sparse.csr_array[np.int32], weights: NDArray[np.float64], hierarchy: Hierarchy
) -> list[Group]:
    """Return the groups of siblings, the top level first."""
    edges: dict[int, list[int]] = {}
    children: dict[int, list[int]] = {}
    for number, (parent, child) in enumerate(np.stack(edges_of(hierarchy), axis=1).tolist()):
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
    """Fit the model of one group."""
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


# ---- features for linear models: missing values imputed, categories encoded, columns scaled


_MOST_CELLS = 20_000_000
"""Largest size of encoded nominal features that are stored as a dense matrix and centred."""


@savable
@dataclass(frozen=True)
class LinearFeatures:
    """Transformation of X to columns of the same scale."""

    n_categories: NDArray[np.int32]  # number of categories of each feature; 0 if it is numeric
    fill: NDArray[np.float64]  # replacement for missing numbers: the mean
    # A column x becomes (x - shift) / scale. Columns of a sparse matrix are not shifted.
    shift: NDArray[np.float64]
    scale: NDArray[np.float64]
    is_sparse: bool  # whether the columns are a sparse matrix

    _saved_schema: ClassVar[Schema] = {
        "n_categories": Array(("n_features",), "i4", low=0, high=2**16),
        "fill": Array(("n_features",)),
        "shift": Array(("n_columns",)),
        "scale": Array(("n_columns",), low=np.finfo(np.float64).tiny),
        "is_sparse": Flag(),
    }

    def transform(self, X: Any) -> Any:
        """Return an ndarray, or a csr_array if the columns are stored as a sparse matrix."""
        if not self.is_sparse or self.n_categories.any():
            X = dense(X)
        columns = _spread(X, self.n_categories, self.fill)
        if self.is_sparse:
            return sparse.csr_array(columns) @ sparse.diags_array(1 / self.scale)
        return np.ascontiguousarray((dense(columns) - self.shift) / self.scale)


def learn_features(X: Any, schema: FeatureSchema, weights: NDArray[np.float64]) -> LinearFeatures:
    """Compute means and standard deviations."""
    share = weights / weights.sum()
    n_categories = schema.n_categories
    fill: NDArray[np.float64]
    # Small sparse matrices are handled as dense ones, with the same results.
    is_large = X.shape[0] * X.shape[1] > _MOST_CELLS
    if sparse.issparse(X) and is_large and not n_categories.any():
        fill = _sparse_means(X, share)
    else:
        X = np.ascontiguousarray(dense(X), dtype=np.float64)  # sums depend on the memory layout
        present = ~np.isnan(X)
        total = share @ present
        sums = share @ np.where(present, X, 0.0)
        fill = np.asarray(sums / np.where(total > 0, total, 1.0))
    columns: Any = _spread(X, n_categories, fill)
    mean = np.asarray(share @ columns).ravel()
    is_large = len(mean) * len(weights) > _MOST_CELLS
    is_sparse = sparse.issparse(columns) and is_large
    columns = columns if is_sparse else dense(columns)
    squares = columns.multiply(columns) if is_sparse else columns**2
    mean_square = np.asarray(share @ squares).ravel()
    # Sparse columns are not centred. The intercepts, which are not penalised, make up for it.
    shift = np.zeros_like(mean) if is_sparse else mean
    spread = np.maximum(0, mean_square - mean**2)
    constant = spread <= 1e-12 * np.maximum(1e-300, mean_square)
    scale = np.where(constant, 1.0, np.sqrt(np.where(constant, 1.0, spread)))
    return LinearFeatures(n_categories, fill, shift, scale, is_sparse)


def _sparse_means(X: Any, share: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean of each column; missing values are ignored, cells not stored are 0."""
    rows = sparse.csr_array(X, dtype=np.float64)
    missing = np.isnan(rows.data)
    known = rows.copy()
    known.data[missing] = 0.0
    absent = rows.copy()
    absent.data = missing.astype(np.float64)
    total = share.sum() - np.asarray(share @ absent)
    return np.asarray(share @ known) / np.where(total > 0, total, 1.0)


def _spread(X: Any, n_categories: NDArray[np.int32], fill: NDArray[np.float64]) -> Any:
    """Return imputed numeric features, followed by 0/1 columns of the categories."""
    nominal = np.flatnonzero(n_categories)
    is_sparse = sparse.issparse(X)
    if is_sparse:
        rows = sparse.csr_array(X, dtype=np.float64)
        missing = np.isnan(rows.data)
        if missing.any():
            rows = rows.copy()
            rows.data[missing] = fill[rows.indices[missing]]
        return rows
    X = np.ascontiguousarray(X, dtype=np.float64)
    if not nominal.size:
        return np.where(np.isnan(X), fill, X)
    marks = _mark_categories(X[:, nominal], n_categories[nominal])
    if len(nominal) == X.shape[1]:
        return marks
    numeric = np.flatnonzero(n_categories == 0)
    numbers = np.where(np.isnan(X[:, numeric]), fill[numeric], X[:, numeric])
    return np.hstack([numbers, marks.toarray()])


def _mark_categories(codes: NDArray[np.float64], counts: NDArray[np.int32]) -> Any:
    """Return one 0/1 column per category, or one for a feature with two; all 0 if missing."""
    widths = np.where(counts == 2, 1, counts)
    starts = np.concatenate([[0], np.cumsum(widths)])
    # Only cells with a mark are listed: most features with two categories are mostly 0.
    rows, features = np.nonzero(np.where(counts == 2, codes == 1, codes < counts))
    values = codes[rows, features].astype(np.int64)
    columns = starts[features] + np.where(counts[features] == 2, 0, values)
    return indicator_of_cells(rows, columns, (len(codes), int(starts[-1])), np.float64)
