"""Mandatory leaf prediction (MAS, MASR): label sets whose paths all end in leaves."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from joblib import delayed, effective_n_jobs
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from ramify import _core
from ramify._messages import import_extra
from ramify._parallel import count_threads, in_parallel
from ramify._validation import check_choice, check_number
from ramify.data.rows import indicator, indicator_of_cells
from ramify.decision.coherence import check_scores
from ramify.decision.goals import label_costs
from ramify.labels.hierarchy import Hierarchy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
    found = _core.decode_leaves(
        rows,
        hierarchy._parents,
        values=values.kind,
        slope=values.slope,
        offset=values.offset,
        k=counts,
        exact=solver == "exact",
        n_threads=count_threads(n_jobs),
    )
    return indicator(found, hierarchy.n_labels)


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
        hierarchy._parents,
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


# ---- exact answers on DAGs, by integer programming ------------------------------------------


def solve_programs(
    weights: NDArray[np.float64],
    hierarchy: Hierarchy,
    counts: NDArray[np.int32],
    n_jobs: int | None = None,
) -> sparse.csr_array[np.int32]:
    """Return the label sets, with ancestors, of maximum weight whose paths all end in leaves."""
    program = LeafProgram(hierarchy)
    n_bundles = min(len(weights), 4 * effective_n_jobs(n_jobs))
    bundles = [np.arange(k, len(weights), n_bundles) for k in range(n_bundles)]
    tasks = (delayed(_solve_bundle)(program, weights[rows], counts[rows]) for rows in bundles)
    running = in_parallel(tasks, n_jobs=n_jobs, prefer="processes", shared=[program])
    leaves = np.zeros((len(weights), len(program.leaves)), dtype=bool)
    with closing(running) as found:
        for rows, chosen in zip(bundles, found, strict=True):
            leaves[rows] = chosen
    row, place = np.nonzero(leaves)
    shape = (len(weights), hierarchy.n_labels)
    return hierarchy.close(indicator_of_cells(row, program.leaves[place], shape))


def _solve_bundle(
    program: LeafProgram, weights: NDArray[np.float64], counts: NDArray[np.int32]
) -> NDArray[np.bool_]:
    pairs = zip(weights, counts.tolist(), strict=True)
    return np.stack([program.solve(row, k) for row, k in pairs])


class LeafProgram:
    """The constraints: every label with its parents, every inner label with a child.

    Only leaves are integers: an inner label is at least as large as any leaf below it and at most
    the sum of its children.
    """

    def __init__(self, hierarchy: Hierarchy) -> None:
        n_labels = hierarchy.n_labels
        indptr, parents = hierarchy.parent_rows
        children = np.repeat(np.arange(n_labels), np.diff(indptr))
        edges = np.arange(len(parents))
        ones = np.ones(len(parents))
        above_parent = sparse.csr_array(
            (np.r_[ones, -ones], (np.r_[edges, edges], np.r_[children, parents])),
            shape=(len(parents), n_labels),
        )
        inner = np.flatnonzero(np.diff(hierarchy.child_rows[0]))
        below: Any = sparse.csr_array((ones, (parents, children)), shape=(n_labels, n_labels))
        above_children = (sparse.eye_array(n_labels, format="csr") - below)[inner]
        self.leaves = np.flatnonzero(np.diff(hierarchy.child_rows[0]) == 0)
        is_leaf = np.zeros(n_labels, dtype=np.int32)
        is_leaf[self.leaves] = 1
        self._is_leaf = is_leaf
        self._matrix = sparse.csc_array(
            sparse.vstack([above_parent, above_children, sparse.csr_array(is_leaf[None])])
        )
        # `milp` in scipy 1.13 accepts no other indices.
        self._matrix.indices = self._matrix.indices.astype(np.int32)
        self._matrix.indptr = self._matrix.indptr.astype(np.int32)

    def solve(self, weights: NDArray[np.float64], k: int) -> NDArray[np.bool_]:
        """Return which leaves are in the best set of k leaves, or of at least one if k is 0."""
        lower = np.full(self._matrix.shape[0], -np.inf)
        upper = np.zeros(self._matrix.shape[0])
        lower[-1], upper[-1] = (k, k) if k else (1, np.inf)
        answer = milp(
            -weights,
            integrality=self._is_leaf,
            bounds=Bounds(0, 1),
            constraints=LinearConstraint(self._matrix, lower, upper),
            options={"mip_rel_gap": 0},
        )
        if answer.x is None:
            raise RuntimeError(f"the integer program could not be solved: {answer.message}")
        return np.asarray(answer.x[self.leaves] > 0.5)


# ---- nested best sets, for which greedy search is exact -------------------------------------


_EQUAL = 1e-5
"""Tolerance for equally good sets; larger than that of integer programs."""


@dataclass(frozen=True)
class NestedApproximation:
    """How often best sets are nested.

    Attributes
    ----------
    k : ndarray of int
        Numbers of leaves.
    share : ndarray of float
        For each k, the fraction of rows whose best set of k leaves contains that of k - 1.
    n_rows : int
        Number of rows.
    """

    k: NDArray[np.int64]
    share: NDArray[np.float64]
    n_rows: int

    def plot(self, ax: Axes | None = None, **line_kw: Any) -> Axes:
        """Plot the percentage of rows against k.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            The axes; a new figure by default.
        **line_kw
            Passed to ``ax.plot``.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.
        """
        if ax is None:
            _, ax = import_extra("matplotlib.pyplot", "plot").subplots()
        assert ax is not None  # noqa: S101 (for the checker)
        ax.plot(self.k, 100 * self.share, **{"marker": "o", "clip_on": False, **line_kw})
        ax.set(xlabel="number of leaves k", ylabel="rows with nested best sets (%)")
        ax.set_ylim(0, 100)
        ax.set_xticks(self.k)
        return ax


def nested_approximation(
    scores: Any, hierarchy: Hierarchy, ks: Iterable[int] = range(2, 11), **options: Any
) -> NestedApproximation:
    """Count how often the best set of k leaves contains that of k - 1 (nested approximation).

    If it does for all k, the greedy solver of `mandatory_leaves` finds the best sets.

    Parameters
    ----------
    scores : array-like of shape (n, n_labels)
        Probabilities of the labels.
    hierarchy : Hierarchy
        A tree or DAG of labels. On a DAG, an integer program is solved for every row and k.
    ks : iterable of int
        Numbers of leaves, at least 2; values above the number of leaves are ignored.
    **options
        Passed to `mandatory_leaves`: objective, alpha, costs, conditional, n_jobs.

    Returns
    -------
    NestedApproximation
        The fraction of rows for each k, with a method ``plot``.

    Notes
    -----
    Sets whose values differ by less than 1e-5 are considered equally good, and it suffices that
    one of the best sets of k leaves contains the best set of k - 1 found by the solver. The
    property often fails: an inner label with several probable children may lower the value with
    one of them but raise it with two. If `k` is not given to `mandatory_leaves`, only values up
    to the best k matter.

    Examples
    --------
    >>> from ramify import Hierarchy
    >>> from ramify.decision import nested_approximation
    >>> hierarchy = Hierarchy.from_paths(["animal/cat", "animal/dog", "plant"])
    >>> scores = [[0.8, 0.3, 0.4, 0.3], [0.5, 0.4, 0.4, 0.45]]
    >>> nested_approximation(scores, hierarchy).share
    array([0.5, 1. ])
    """
    n_leaves = len(hierarchy.leaves)
    wanted = []
    for k in ks:
        check_number("ks", k, 2, whole=True)
        if k <= n_leaves:
            wanted.append(int(k))
    sets = {
        k: mandatory_leaves(scores, hierarchy, **options, solver="exact", k=k)
        for k in sorted({*wanted, *(k - 1 for k in wanted)})
    }
    how = {name: value for name, value in options.items() if name != "n_jobs"}
    growing = _Growing(leaf_weights(scores, hierarchy, **how), hierarchy)
    shares = [growing.share(sets[k - 1], sets[k]) for k in wanted]
    return NestedApproximation(np.array(wanted, dtype=np.int64), np.array(shares), len(scores))


class _Growing:
    """Checks whether a set with one more leaf is as good as the best set of that size."""

    def __init__(self, weights: NDArray[np.float64], hierarchy: Hierarchy) -> None:
        self._weights = weights
        self._leaves = hierarchy.indices(hierarchy.leaves)
        ends = indicator((np.arange(len(self._leaves) + 1), self._leaves), hierarchy.n_labels)
        self._paths = hierarchy.close(ends).astype(np.float64)

    def share(self, small: Any, large: Any) -> float:
        """Return the fraction of rows; the sets in `large` have one more leaf than in `small`."""
        chosen = small.toarray() > 0
        added = np.asarray(self._paths @ np.where(chosen, 0.0, self._weights).T).T
        added[chosen[:, self._leaves]] = -np.inf
        values = [np.asarray(sets.multiply(self._weights).sum(axis=1)).ravel()
                  for sets in (small, large)]  # fmt: skip
        return float(np.mean(values[0] + added.max(axis=1) >= values[1] - _EQUAL))
