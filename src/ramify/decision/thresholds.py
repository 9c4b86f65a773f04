"""Prediction of labels whose score reaches a threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from ramify import _core
from ramify._validation import check_choice, check_sample_weight
from ramify.data.rows import indicator
from ramify.decision.coherence import (
    check_coherent,
    check_scores,
    check_sparse_scores,
    incoherent_error,
)
from ramify.decision.goals import Counts, Goal, make_goal
from ramify.decision.ordered import Order, count_steps, widen_margins
from ramify.labels.encoding import EncodedLabels, read_labels
from ramify.labels.hierarchy import Hierarchy


def check_threshold(threshold: Any, hierarchy: Hierarchy) -> NDArray[np.float64]:
    """Check thresholds and return one per label, infinite for labels never predicted.

    If no label has a smaller one than any of its ancestors, coherent probabilities give label sets
    that contain all ancestors of their labels.
    """
    if isinstance(threshold, dict):
        values = np.full(hierarchy.n_labels, 0.5)
        for label, value in threshold.items():
            values[hierarchy.index(label)] = value
    else:
        values = np.asarray(threshold, dtype=np.float64)
        if values.ndim == 0 and not np.isnan(values):
            return np.full(hierarchy.n_labels, float(values))
        if values.ndim == 0:
            values = np.full(hierarchy.n_labels, float(values))
    if values.shape != (hierarchy.n_labels,):
        raise ValueError(
            f"threshold must be a number or have shape ({hierarchy.n_labels},), got "
            f"{values.shape}. Pass one number, or one per label."
        )
    if np.isnan(values).any():
        label = hierarchy.labels[int(np.flatnonzero(np.isnan(values))[0])]
        raise ValueError(
            f"threshold must not be NaN, got NaN for label {label!r}. Use infinity for labels "
            "that are never to be predicted."
        )
    indptr, parents = hierarchy.parent_rows
    children = np.repeat(np.arange(hierarchy.n_labels), np.diff(indptr))
    broken = np.flatnonzero(values[children] < values[parents])
    if broken.size:
        child, parent = children[broken[0]], parents[broken[0]]
        raise ValueError(
            f"threshold of a label must not be below that of its parent, got {values[child]:g} "
            f"for {hierarchy.labels[child]!r} and {values[parent]:g} for "
            f"{hierarchy.labels[parent]!r}. Raise the former or lower the latter."
        )
    return values


def apply_threshold(
    scores: Any, threshold: Any, hierarchy: Hierarchy
) -> sparse.csr_array[np.int32]:
    """Predict the labels whose score reaches their threshold.

    Parameters
    ----------
    scores : array-like or sparse matrix of shape (n, n_labels)
        Coherent scores: no label exceeds its parents. Apply `make_coherent` to other scores first.
        Scores that a sparse matrix does not store are 0; with those of `predict_proba_sparse`, the
        label sets are the same as with all scores unless a threshold is below `min_proba`.
    threshold : float, array-like or dict
        One threshold for all labels, one per label, or a dict; labels missing from a dict have the
        threshold 0.5. No label may have a smaller threshold than one of its ancestors. For sparse
        scores, thresholds must be positive.
    hierarchy : Hierarchy
        The label hierarchy.

    Returns
    -------
    csr_array of shape (n, n_labels)
        Label matrix with ancestors.

    Examples
    --------
    >>> import numpy as np
    >>> from ramify import Hierarchy
    >>> hierarchy = Hierarchy.from_paths(["animal/cat", "plant"])
    >>> apply_threshold(np.array([[0.9, 0.4, 0.1]]), 0.3, hierarchy).toarray()
    array([[1, 1, 0]], dtype=int32)
    """
    if sparse.issparse(scores):
        return _apply_to_sparse(scores, check_threshold(threshold, hierarchy), hierarchy)
    values = check_scores(scores, hierarchy)
    chosen = values >= check_threshold(threshold, hierarchy)
    rows = chosen_labels(chosen)
    is_coherent = _core.first_incoherent_row(values, hierarchy._parents) < 0
    if not is_coherent and hierarchy.close(rows).nnz > rows.nnz:
        raise incoherent_error(values, hierarchy)
    return rows


def _apply_to_sparse(
    scores: Any, thresholds: NDArray[np.float64], hierarchy: Hierarchy
) -> sparse.csr_array[np.int32]:
    if not (thresholds > 0).all():
        label = int(np.flatnonzero(~(thresholds > 0))[0])
        raise ValueError(
            f"threshold must be positive for sparse scores, got {thresholds[label]:g} for "
            f"{hierarchy.labels[label]!r}. Pass dense scores to predict labels with a score of 0."
        )
    values: Any = check_sparse_scores(scores, hierarchy)
    chosen = (values.data >= thresholds[values.indices]).astype(np.int32)
    rows: sparse.csr_array[np.int32] = sparse.csr_array(
        (chosen, values.indices, values.indptr), shape=values.shape, copy=True
    )
    rows.eliminate_zeros()
    added = np.diff(hierarchy.close(rows).indptr) - np.diff(rows.indptr)
    if added.any():
        first = int(np.flatnonzero(added)[0])
        raise incoherent_error(values[[first]].toarray(), hierarchy, first)
    return rows


def chosen_labels(chosen: NDArray[np.bool_]) -> sparse.csr_array[np.int32]:
    """Convert an indicator matrix; for few rows, this is faster than scipy's conversion."""
    labels = np.nonzero(chosen)[1]
    # scipy would look through wider numbers to see whether they fit into 32 bits.
    kind = np.int32 if len(labels) <= np.iinfo(np.int32).max else np.int64
    starts = np.zeros(len(chosen) + 1, dtype=kind)
    np.cumsum(np.count_nonzero(chosen, axis=1), out=starts[1:])
    return indicator((starts, labels.astype(kind)), chosen.shape[1])


# ---- thresholds that optimise a measure -----------------------------------------------------


SHARING = ("all", "level", "label")
"""Units with separate thresholds: one for all labels, per level or per label."""

Groups = list[NDArray[np.int32]]


@dataclass(frozen=True)
class ThresholdChoice:
    """Thresholds and their score on the rows they were chosen on."""

    thresholds: NDArray[np.float64]  # one per label
    score: float  # score of the goal; larger is better


def choose_thresholds(
    y_true: Any,
    scores: Any,
    hierarchy: Hierarchy,
    *,
    goal: str = "micro_f1",
    per: str = "all",
    min_precision: float = 0.9,
    alpha: float = 1.0,
    beta: float = 1.0,
    costs: Any = "shared",
    sample_weight: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """Choose the thresholds that optimise a measure on labelled rows.

    No label gets a smaller threshold than its parents, so coherent scores give label sets that are
    consistent with the hierarchy. Use rows that the model was not fitted on.

    Parameters
    ----------
    y_true : label matrix or labels in any format
        True labels; ancestors are added. Labels that are not known do not count.
    scores : array-like of shape (n, n_labels)
        Coherent scores, e.g. from `predict_proba`. Apply `make_coherent` to other scores first.
    hierarchy : Hierarchy
        The label hierarchy.
    goal : {"micro_f1", "macro_f1", "hierarchical_f1", "precision", "cost"}
        The measure to optimise: F1 over all pairs of row and label; mean F1 of the labels; F1 of
        label sets with ancestors, which equals "micro_f1" here because the sets contain all
        ancestors; recall with a precision of at least `min_precision`; or expected cost,
        `ramify.metrics.hmc_loss`, which is minimised.
    per : {"all", "level", "label"}
        Whether all labels share one threshold, or each level or label has its own.
    min_precision : float
        For the goal "precision": minimum precision over the labels that share a threshold. If no
        threshold reaches it, the threshold is infinity.
    alpha, beta : float
        For the goal "cost": weights of false negatives and of false positives.
    costs : {"shared", "uniform"} or array-like of shape (n_labels,)
        For the goal "cost": costs of the labels, as in `ramify.metrics.hmc_loss`.
    sample_weight : array-like of shape (n,), optional
        Sample weights.

    Returns
    -------
    ndarray of shape (n_labels,)
        Thresholds for `apply_threshold` or a classifier's ``predict``. They lie halfway between
        two scores, and above 0 if no score is negative. A label that should never be predicted has
        the threshold infinity.

    Notes
    -----
    The result is optimal subject to the order of the thresholds if labels share a threshold or
    form a tree; it is found by dynamic programming over all scores. With a threshold per label in
    a DAG, the search is heuristic: thresholds are improved one at a time until no single change
    helps. The result is at least as good as with one threshold per level.

    Among equally good thresholds, the largest is chosen. With "macro_f1", labels whose F1 is 0 at
    every threshold have the threshold of their parents instead of infinity.

    Examples
    --------
    >>> from ramify import Hierarchy
    >>> from ramify.decision import choose_thresholds
    >>> hierarchy = Hierarchy.from_paths(["animal/cat", "plant"])
    >>> y_true = [["animal/cat"], ["animal"], ["plant"], ["animal/cat"]]
    >>> scores = [[0.9, 0.4, 0.3], [0.8, 0.2, 0.4], [0.5, 0.1, 0.6], [0.9, 0.6, 0.4]]
    >>> choose_thresholds(y_true, scores, hierarchy, goal="macro_f1", per="label")
    array([0.2, 0.3, 0.5])
    """
    labels = read_labels(y_true, hierarchy, allow_unknown=True)
    wanted = make_goal(
        goal, hierarchy, min_precision=min_precision, alpha=alpha, beta=beta, costs=costs
    )
    return search_thresholds(
        labels, scores, hierarchy, goal=wanted, per=per, sample_weight=sample_weight
    ).thresholds


def search_thresholds(
    labels: EncodedLabels,
    scores: Any,
    hierarchy: Hierarchy,
    *,
    goal: Goal,
    per: str,
    sample_weight: Any = None,
) -> ThresholdChoice:
    """Choose thresholds on the known labels of rows; see `choose_thresholds`."""
    Y = labels.Y
    check_choice("per", per, SHARING)
    values = check_scores(scores, hierarchy)
    if len(values) != Y.shape[0] or not len(values):
        raise ValueError(
            "y_true and scores must have the same positive number of rows, got "
            f"{Y.shape[0]} and {len(values)}."
        )
    check_coherent(values, hierarchy)
    weight = check_sample_weight(sample_weight, len(values))
    steps = count_steps(Y, values, weight, labels.unknown)
    counts = Counts(steps, np.asarray(Y.T @ weight, dtype=np.float64), float(weight.sum()))
    groups, order = _groups(per, hierarchy)
    start = None
    if not order.is_forest:
        levels, chain = _groups("level", hierarchy)
        start = _spread(levels, goal.search(counts, levels, chain, None))
    chosen = goal.search(counts, groups, order, start)
    lowest = min(0.0, float(values.min()))
    thresholds = _spread(groups, widen_margins(chosen, counts.pooled(groups), order, lowest))
    return ThresholdChoice(thresholds, goal.score(counts, thresholds))


def _groups(per: str, hierarchy: Hierarchy) -> tuple[Groups, Order]:
    """Return the labels that share a threshold, and the order of the thresholds."""
    if per == "label":
        groups = [np.array([label], dtype=np.int32) for label in range(hierarchy.n_labels)]
        return groups, Order(hierarchy.parent_rows, hierarchy.child_rows)
    if per == "level":
        # The level of a label is the length of its longest path, so its parents are on smaller
        # levels.
        groups = [hierarchy.indices(level) for level in hierarchy.levels]
    else:
        groups = [np.arange(hierarchy.n_labels, dtype=np.int32)]
    return groups, Order.chain(len(groups))


def _spread(groups: Groups, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return, for every label, the value of its group."""
    spread = np.empty(sum(len(group) for group in groups))
    for group, value in zip(groups, values, strict=True):
        spread[group] = value
    return spread
