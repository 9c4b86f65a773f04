"""Mandatory leaf prediction (MAS, MASR): label sets whose paths all end in leaves."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core
from ramify._parallel import count_threads
from ramify._validation import check_choice, check_number
from ramify.decision.goals import label_costs
from ramify.decision.leaf_programs import solve_programs
from ramify.decision.scores import check_scores
from ramify.hierarchy.hierarchy import Hierarchy

__all__ = ["OBJECTIVES", "SOLVERS", "check_leaf_counts", "leaf_weights", "mandatory_leaves"]

OBJECTIVES = ("map", "risk")
"""The objectives of `mandatory_leaves`."""

SOLVERS = ("greedy", "exact")
"""The solvers of `mandatory_leaves`."""


def mandatory_leaves(
    scores: Any,
    hierarchy: Hierarchy,
    *,
    objective: str = "map",
    solver: str = "greedy",
    k: Any = None,
    alpha: float = 1.0,
    costs: Any = "shared",
    conditional: bool = False,
    n_jobs: int | None = None,
) -> sparse.csr_array[np.int32]:
    r"""Predict the best label set whose paths all end in leaves, for every row.

    Parameters
    ----------
    scores : array-like of shape (n, n_labels), or (n, n_edges) if `conditional`
        Probabilities of the labels, e.g. from `predict_proba`.
    hierarchy : Hierarchy
        A tree or DAG of labels.
    objective : {"map", "risk"}
        "map" maximises the joint probability of all labels (MAS), "risk" minimises the expected
        `ramify.metrics.symmetric_loss` (MASR).
    solver : {"greedy", "exact"}
        "greedy" adds one leaf with its ancestors at a time, always the one with the largest gain.
        It finds the best set if the best sets of k leaves are contained in those of k + 1 leaves.
        "exact" always finds the best set: on trees in linear time, or by dynamic programming if
        `k` is given; on DAGs by an integer program per row, which takes from milliseconds to
        seconds.
    k : int or array-like of shape (n,), optional
        Number of leaves, for all rows or for each row. If None, the best number is chosen.
    alpha : float
        For "risk": weight of false negatives relative to false positives.
    costs : {"shared", "uniform"} or array-like of shape (n_labels,)
        For "risk": costs of the labels, as in `ramify.metrics.hmc_loss`.
    conditional : bool
        For "map": whether `scores` are P(label | parent), one column per edge, sorted by label and
        then by parent, with one edge from the root for each top-level label. In a tree there is
        one edge per label. If False, P(label | parent) is estimated as P(label) / P(parent).
    n_jobs : int, optional
        Number of threads, or of processes for integer programs; -1 means all cores. The result
        does not depend on it.

    Returns
    -------
    csr_array of shape (n, n_labels)
        Label matrix with ancestors. Every path ends in a leaf; every row has at least one leaf.

    Notes
    -----
    Both objectives choose the set with the maximum sum of weights. With
    :math:`p_{ij} = P(i \mid \text{parent } j)`, clipped to [1e-9, 1 - 1e-9], the weights are

    .. math:: w_i = \sum_{j \in Pa(i)} \log \frac{p_{ij}}{1 - p_{ij}} +
              \sum_{l \in child(i)} \log(1 - p_{li})

    for "map", and :math:`w_i = 2 c_i P(i) - 2 c_i / (1 + \alpha)` for "risk" (Bi and
    Kwok, 2012, Eq. 6, Propositions 3 and 4).

    The greedy search takes O(leaves × ancestors) in total. It stops when the sum of all remaining
    positive weights could not compensate for the loss from the last leaves.

    Examples
    --------
    >>> from ramify import Hierarchy
    >>> from ramify.decision import mandatory_leaves
    >>> hierarchy = Hierarchy.from_paths(["animal/cat", "animal/dog", "plant"])
    >>> scores = [[0.8, 0.3, 0.4, 0.3], [0.9, 0.7, 0.6, 0.2]]
    >>> hierarchy.decode(mandatory_leaves(scores, hierarchy))
    [('animal/dog',), ('animal/cat', 'animal/dog')]
    >>> hierarchy.decode(mandatory_leaves(scores, hierarchy, k=1))
    [('animal/dog',), ('animal/cat',)]
    >>> hierarchy.decode(mandatory_leaves(scores, hierarchy, objective="risk", alpha=4))
    [('animal/cat', 'animal/dog', 'plant'), ('animal/cat', 'animal/dog')]
    """
    check_choice("solver", solver, SOLVERS)
    rows = _read_values(scores, hierarchy, conditional)
    values = _values(objective, hierarchy, alpha, costs, conditional)
    counts = check_leaf_counts(k, len(rows), hierarchy)
    if solver == "exact" and not hierarchy.is_tree:
        weights = _weigh(rows, hierarchy, values)
        return solve_programs(weights, hierarchy, counts, n_jobs)
    indptr, indices = _core.decode_leaves(
        rows,
        *hierarchy.parent_rows,
        values=values.kind,
        slope=values.slope,
        offset=values.offset,
        k=counts,
        exact=solver == "exact",
        n_threads=count_threads(n_jobs),
    )
    ones = np.ones(len(indices), dtype=np.int32)
    return sparse.csr_array((ones, indices, indptr), shape=(len(rows), hierarchy.n_labels))


def leaf_weights(
    scores: Any,
    hierarchy: Hierarchy,
    *,
    objective: str = "map",
    alpha: float = 1.0,
    costs: Any = "shared",
    conditional: bool = False,
) -> NDArray[np.float64]:
    """Return the weight of each label in the objective of `mandatory_leaves`.

    Parameters
    ----------
    scores, hierarchy, objective, alpha, costs, conditional
        As in `mandatory_leaves`.

    Returns
    -------
    ndarray of shape (n, n_labels)
        Weights. The sum over a label set is the logarithm of its probability for "map", and its
        negative expected loss for "risk", both up to a constant per row.

    Examples
    --------
    >>> from ramify import Hierarchy
    >>> from ramify.decision import leaf_weights
    >>> hierarchy = Hierarchy.from_paths(["animal/cat", "plant"])
    >>> leaf_weights([[0.8, 0.4, 0.5]], hierarchy).round(3)
    array([[0.693, 0.   , 0.   ]])
    >>> leaf_weights([[0.8, 0.4, 0.5]], hierarchy, objective="risk").round(3)
    array([[ 0.3, -0.1,  0. ]])
    """
    rows = _read_values(scores, hierarchy, conditional)
    return _weigh(rows, hierarchy, _values(objective, hierarchy, alpha, costs, conditional))


class _Values(NamedTuple):
    """The kind of scores for the core, and the slope and offset of the weights for "risk"."""

    kind: str
    slope: NDArray[np.float64] = np.empty(0)
    offset: NDArray[np.float64] = np.empty(0)


def _values(
    objective: str, hierarchy: Hierarchy, alpha: float, costs: Any, conditional: bool
) -> _Values:
    check_choice("objective", objective, OBJECTIVES)
    if objective == "map":
        return _Values("conditionals" if conditional else "marginals")
    if conditional:
        raise ValueError(
            "conditional must be False for objective='risk', which requires the probability of "
            "every label. Pass the result of predict_proba."
        )
    check_number("alpha", alpha, 0, 1e9)
    each = label_costs(costs, hierarchy)
    return _Values("risk", 2 * each, -2 * each / (1 + alpha))


def _weigh(
    rows: NDArray[np.float64], hierarchy: Hierarchy, values: _Values
) -> NDArray[np.float64]:
    weights = np.empty((len(rows), hierarchy.n_labels))
    _core.decoding_weights(
        rows,
        *hierarchy.parent_rows,
        values=values.kind,
        slope=values.slope,
        offset=values.offset,
        out=weights,
    )
    return weights


def _read_values(scores: Any, hierarchy: Hierarchy, conditional: bool) -> NDArray[np.float64]:
    """Return probabilities as a C-ordered matrix, one column per label or edge."""
    values = (
        _read_edges(scores, hierarchy)
        if conditional and not hierarchy.is_tree
        else check_scores(scores, hierarchy)
    )
    bad = (values < 0) | (values > 1)
    if bad.any():
        row, column = np.argwhere(bad)[0].tolist()
        raise ValueError(
            f"scores must be between 0 and 1, got {values[row, column]:.6g} in row {row}, column "
            f"{column}. Pass the result of predict_proba."
        )
    return values


def _read_edges(scores: Any, hierarchy: Hierarchy) -> NDArray[np.float64]:
    values = np.ascontiguousarray(scores, dtype=np.float64)
    n_edges = int(np.maximum(1, np.diff(hierarchy.parent_rows[0])).sum())
    if values.ndim != 2 or values.shape[1] != n_edges or not np.isfinite(values).all():
        raise ValueError(
            f"scores must be finite and have shape (n, {n_edges}) if conditional=True, got shape "
            f"{values.shape}. Pass one column per edge, sorted by label and then by parent, with "
            "one edge from the root for each top-level label."
        )
    return values


def check_leaf_counts(k: Any, n_rows: int, hierarchy: Hierarchy) -> NDArray[np.int32]:
    """Check the parameter `k` and return the number of leaves of every row.

    Parameters
    ----------
    k : int, array-like of shape (n_rows,) or None
        The parameter.
    n_rows : int
        Number of rows.
    hierarchy : Hierarchy
        The label hierarchy.

    Returns
    -------
    ndarray of int32, shape (n_rows,)
        Between 1 and the number of leaves, or all 0 if `k` is None.

    Examples
    --------
    >>> check_leaf_counts(3, 2, Hierarchy.from_labels(["a", "b"]))
    Traceback (most recent call last):
        ...
    ValueError: k must be an integer from 1 to 2, the number of leaves, or 2 of them, one per row,
    got 3.
    """
    if k is None:
        return np.zeros(n_rows, dtype=np.int32)
    given = np.asarray(k)
    n_leaves = len(hierarchy.leaves)
    whole = given.dtype.kind in "iu" and given.shape in ((), (n_rows,))
    if not whole or (given < 1).any() or (given > n_leaves).any():
        raise ValueError(
            f"k must be an integer from 1 to {n_leaves}, the number of leaves, or {n_rows} of "
            f"them, one per row, got {k!r}."
        )
    return np.ascontiguousarray(np.broadcast_to(given, (n_rows,)), dtype=np.int32)
