"""How often the best set of k leaves contains that of k - 1, which makes greedy search exact."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify._messages import import_extra
from ramify._validation import check_number
from ramify.decision.leaves import leaf_weights, mandatory_leaves
from ramify.hierarchy.hierarchy import Hierarchy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["NestedApproximation", "nested_approximation"]

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
        ones = np.ones(len(self._leaves), dtype=np.int32)
        cells = (ones, (np.arange(len(self._leaves)), self._leaves))
        shape = (len(self._leaves), hierarchy.n_labels)
        self._paths = hierarchy.close(sparse.csr_array(cells, shape=shape)).astype(np.float64)

    def share(self, small: Any, large: Any) -> float:
        """Return the fraction of rows; the sets in `large` have one more leaf than in `small`."""
        chosen = small.toarray() > 0
        added = np.asarray(self._paths @ np.where(chosen, 0.0, self._weights).T).T
        added[chosen[:, self._leaves]] = -np.inf
        values = [np.asarray(sets.multiply(self._weights).sum(axis=1)).ravel()
                  for sets in (small, large)]  # fmt: skip
        return float(np.mean(values[0] + added.max(axis=1) >= values[1] - _EQUAL))
