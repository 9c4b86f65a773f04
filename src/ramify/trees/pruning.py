"""Reduced-error pruning: replace branches that do not help on validation rows with leaves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

import ramify.metrics as measures
from ramify import _core
from ramify._base.measuring import measure_scores, read_measure, takes_weights
from ramify.data.rows import by_columns
from ramify.labels.hierarchy import Hierarchy

Loss = Callable[[NDArray[np.float64]], float]
Rows = NDArray[np.int64]
Values = NDArray[np.float64]


def make_loss(
    measure: Any,
    truth: sparse.csr_array[np.int32],
    hierarchy: Hierarchy,
    decide: Callable[[NDArray[np.float64]], Any],
    weights: NDArray[np.float64] | None = None,
) -> Loss:
    """Return the loss that pruning minimises."""
    function = read_measure(measure, "pruning_measure")
    if weights is not None and not takes_weights(function):
        raise ValueError(
            f"pruning_measure must take sample_weight if sample_weight_val is passed to fit, got "
            f"{measure!r}. Omit sample_weight_val, or use another measure, such as 'hamming_loss'."
        )
    name = getattr(function, "__name__", "")
    is_ours = name in measures.__all__ and getattr(measures, name) is function
    is_loss = not is_ours or name.endswith("_loss") or name == "s_min"

    def loss(scores: NDArray[np.float64]) -> float:
        capped = np.minimum(scores, 1.0)
        value = measure_scores(function, truth, capped, hierarchy, decide, sample_weight=weights)
        return float(value) if is_loss else -float(value)

    return loss


def prune_by_error(tree: _core.Tree, X: Any, n_labels: int, loss: Loss) -> _core.Tree:
    """Replace inner nodes with leaves, bottom-up, if this does not increase the loss."""
    reached = find_rows(tree, X)
    is_leaf = tree.feature < 0
    below: dict[int, Values] = {}
    scores = np.zeros((X.shape[0], n_labels))
    for node in np.flatnonzero(is_leaf).tolist():
        rows, parts = reached[node]
        below[node] = parts[:, None] * _value(tree, node, n_labels)
        scores[rows] += below[node]
    least = loss(scores)
    # Children have larger indices than their parents.
    for node in np.flatnonzero(~is_leaf).tolist()[::-1]:
        rows, parts = reached[node]
        children = tree.child[tree.child_indptr[node] : tree.child_indptr[node + 1]].tolist()
        current = np.zeros((len(rows), n_labels))
        for child in children:
            current[np.searchsorted(rows, reached[child][0])] += below.pop(child)
        own = parts[:, None] * _value(tree, node, n_labels)
        before = scores[rows]
        # A row that reaches only this node has no other leaves: assign without rounding error.
        scores[rows] = np.where(parts[:, None] == 1, own, before - current + own)
        found = loss(scores) if len(rows) else least
        if found <= least + 1e-12 * abs(least):
            is_leaf[node] = True
            least, below[node] = min(found, least), own
        else:
            scores[rows], below[node] = before, current
    return tree.cut(is_leaf)


def find_rows(tree: _core.Tree, X: Any) -> list[tuple[Rows, Values]]:
    """Return the rows that reach each node, and the fraction of each row that does."""
    columns = by_columns(X)
    start = np.arange(X.shape[0])
    reached: list[tuple[Rows, Values]] = [(start, np.ones(len(start)))]
    reached *= len(tree.feature)
    for node in np.flatnonzero(tree.feature >= 0).tolist():
        rows, parts = reached[node]
        branch = _branches(tree, node, _cells(columns, int(tree.feature[node]), rows))
        edges = range(int(tree.child_indptr[node]), int(tree.child_indptr[node + 1]))
        for b, edge in enumerate(edges):
            part = parts * np.where(branch < 0, tree.share[edge], branch == b)
            reached[int(tree.child[edge])] = rows[part > 0], part[part > 0]
    return reached


def _cells(columns: Any, feature: int, rows: Rows) -> NDArray[np.float64]:
    if sparse.issparse(columns):
        column = cast("Any", columns)[:, [feature]].toarray().ravel()
        return np.asarray(column[rows], dtype=np.float64)
    return np.asarray(columns[rows, feature], dtype=np.float64)


def _branches(tree: _core.Tree, node: int, cells: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the branch of each value, or -1 if the value is missing."""
    missing = np.isnan(cells)
    of_category = tree.category_branch[tree.category_indptr[node] : tree.category_indptr[node + 1]]
    if len(of_category) == 0:
        return np.where(missing, -1, np.where(cells > tree.threshold[node], 0, 1))
    missing |= ~((cells >= 0) & (cells < len(of_category)))
    codes = np.where(missing, 0, cells).astype(np.int64)
    return np.where(missing, -1, of_category[codes])


def _value(tree: _core.Tree, node: int, n_labels: int) -> NDArray[np.float64]:
    fractions = np.zeros(n_labels)
    span = slice(int(tree.value_indptr[node]), int(tree.value_indptr[node + 1]))
    fractions[tree.value_label[span]] = tree.value[span]
    return fractions
