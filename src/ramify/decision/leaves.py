"""Mandatory leaf prediction: the best label sets whose paths all end in leaves (MAS, MASR)."""

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
    r"""Return for every row the best label set whose paths all end in leaves.

    Parameters
    ----------
    scores : array-like of shape (n, n_labels), or (n, n_edges) if `conditional`
        Probabilities of the labels, as `predict_proba` gives them.
    hierarchy : Hierarchy
        A tree or DAG of labels.
    objective : {"map", "risk"}
        What is best: the largest joint probability of all labels (MAS), or the smallest expected
        `ramify.metrics.symmetric_loss` (MASR).
    solver : {"greedy", "exact"}
        "greedy" takes one leaf with its ancestors at a time, always the one that adds most; it
        finds the best set wherever the best sets of k leaves are nested in those of k + 1. "exact"
        finds the best set always: in linear time on trees, by dynamic programming for a given
        number of leaves; on DAGs by an integer program for each row, which takes from
        milliseconds to seconds.
    k : int or array-like of shape (n,), optional
        How many leaves to choose, for all rows or for each. None: as many as are best.
    alpha : float
        For "risk": how much more a missed label weighs than a wrongly predicted one.
    costs : {"shared", "uniform"} or array-like of shape (n_labels,)
        For "risk": what labels weigh, as in `ramify.metrics.hmc_loss`.
    conditional : bool
        For "map": whether `scores` are P(label | parent), a column per edge: labels in order, a
        label's parents in order, one edge from the root for a label at the top. In a tree these
        are the columns of the labels. Otherwise quotients of probabilities take their place.
    n_jobs : int, optional
        The number of threads, -1 for all cores; of processes, for integer programs. The answer
        does not depend on it.

    Returns
    -------
    csr_array of shape (n, n_labels)
        Label sets, closed upwards, no path ends at an inner label, one leaf at least.

    Notes
    -----
    Both objectives choose the set with the largest sum of weights. With
    :math:`p_{ij} = P(i \mid \text{parent } j)`, kept between 1e-9 and 1 - 1e-9, weights are

    .. math:: w_i = \sum_{j \in Pa(i)} \log \frac{p_{ij}}{1 - p_{ij}} +
              \sum_{l \in child(i)} \log(1 - p_{li})

    for "map", and :math:`w_i = 2 c_i P(i) - 2 c_i / (1 + \alpha)` for "risk" (Bi and Kwok, 2012).

    The greedy search takes O(leaves × ancestors) for all steps together. It stops where not even
    all positive weights that are left could make up for what the last leaves cost.

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
    """Return what each label adds to the value of a set that `mandatory_leaves` chooses.

    Parameters
    ----------
    scores, hierarchy, objective, alpha, costs, conditional
        As in `mandatory_leaves`.

    Returns
    -------
    ndarray of shape (n, n_labels)
        Weights. For "map" the sum over a set is the logarithm of its probability, for "risk" minus
        its expected loss, both up to a number that is the same for all sets of a row.

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
    """What the rows are for the core, and the slope and offset of the weights of "risk"."""

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
            "conditional is True, but the objective 'risk' needs the probability of every label. "
            "Give the scores of predict_proba and leave conditional out."
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
    """Return probabilities as a C-ordered matrix, a column per label or per edge."""
    values = (
        _read_edges(scores, hierarchy)
        if conditional and not hierarchy.is_tree
        else check_scores(scores, hierarchy)
    )
    bad = (values < 0) | (values > 1)
    if bad.any():
        row, column = np.argwhere(bad)[0].tolist()
        raise ValueError(
            f"scores holds {values[row, column]:.6g} in row {row}, column {column}, but "
            "probabilities lie between 0 and 1. Give the result of predict_proba."
        )
    return values


def _read_edges(scores: Any, hierarchy: Hierarchy) -> NDArray[np.float64]:
    values = np.ascontiguousarray(scores, dtype=np.float64)
    n_edges = int(np.maximum(1, np.diff(hierarchy.parent_rows[0])).sum())
    if values.ndim != 2 or values.shape[1] != n_edges or not np.isfinite(values).all():
        raise ValueError(
            f"scores has shape {values.shape} or a value that is not finite, but conditional is "
            f"True and there are {n_edges} edges. Give a column per edge: labels in order, one "
            "edge from each parent, one from the root for labels at the top."
        )
    return values


def check_leaf_counts(k: Any, n_rows: int, hierarchy: Hierarchy) -> NDArray[np.int32]:
    """Return the number of leaves of every row; 0 where it is not given.

    Parameters
    ----------
    k : int, array-like of shape (n_rows,) or None
        What the caller gave.
    n_rows : int
        The number of rows.
    hierarchy : Hierarchy
        The labels.

    Returns
    -------
    ndarray of int32, shape (n_rows,)
        Between 1 and the number of leaves, or all 0.

    Examples
    --------
    >>> check_leaf_counts(3, 2, Hierarchy.from_labels(["a", "b"]))
    Traceback (most recent call last):
        ...
    ValueError: k is 3, but it must be a whole number from 1 to 2, the number of leaves, or one
    for each of the 2 rows.
    """
    if k is None:
        return np.zeros(n_rows, dtype=np.int32)
    given = np.asarray(k)
    n_leaves = len(hierarchy.leaves)
    whole = given.dtype.kind in "iu" and given.shape in ((), (n_rows,))
    if not whole or (given < 1).any() or (given > n_leaves).any():
        raise ValueError(
            f"k is {k!r}, but it must be a whole number from 1 to {n_leaves}, the number of "
            f"leaves, or one for each of the {n_rows} rows."
        )
    return np.ascontiguousarray(np.broadcast_to(given, (n_rows,)), dtype=np.int32)
