"""Compare pairs of methods: Wilcoxon's test and the correction for multiple tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats as scipy_stats

from ramify.stats.scores import Matrix, Missing, rank_rows, read_table


@dataclass(frozen=True)
class WilcoxonResult:
    """Result of Wilcoxon's signed-rank test of two methods over data sets.

    Attributes
    ----------
    statistic : float
        The smaller of the two sums of signed ranks.
    p_value : float
        The two-sided p-value.
    wins, ties, losses : int
        Number of data sets on which the first method is better, equal or worse.
    """

    statistic: float
    p_value: float
    wins: int
    ties: int
    losses: int

    def __str__(self) -> str:
        return (
            f"Wilcoxon T = {self.statistic:g}, p = {self.p_value:.4g} "
            f"({self.wins} wins, {self.ties} ties, {self.losses} losses)"
        )


def wilcoxon(
    first: ArrayLike, second: ArrayLike, *, higher_is_better: bool = True
) -> WilcoxonResult:
    """Compare two methods over several data sets by Wilcoxon's signed-rank test.

    The ranks of equal scores are split evenly between the two sums, as in Demšar (2006). Pairs
    with a missing score are dropped.

    Parameters
    ----------
    first, second : array-like of shape (n,)
        Scores of the two methods on the same data sets.
    higher_is_better : bool
        Whether higher scores are better. The p-value does not depend on it.

    Returns
    -------
    WilcoxonResult
        The p-value is exact for up to 50 data sets, and uses a normal approximation for more. It
        is 1 if all scores are equal.

    Examples
    --------
    >>> from ramify.stats import wilcoxon
    >>> print(wilcoxon([0.8, 0.7, 0.9, 0.6, 0.8], [0.7, 0.5, 0.6, 0.2, 0.3]))
    Wilcoxon T = 0, p = 0.0625 (5 wins, 0 ties, 0 losses)
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.ndim != 1 or a.shape != b.shape:
        raise ValueError(
            "first and second must be 1-D and have the same length, got the shapes "
            f"{a.shape} and {b.shape}. Pass one score of each method per data set."
        )
    known = ~(np.isnan(a) | np.isnan(b))
    a, b = a[known], b[known]
    # Two infinite scores (methods ranked last) are equal, but their difference would be NaN.
    difference = np.subtract(a, b, out=np.zeros(len(a)), where=a != b)
    difference *= 1 if higher_is_better else -1
    if difference.size == 0:
        raise ValueError(
            "first and second have no data set for which both have a score. Pass at least one "
            "pair without NaN."
        )
    counts = [int((difference > 0).sum()), int((difference == 0).sum())]
    counts.append(difference.size - sum(counts))
    if not difference.any():
        return WilcoxonResult(difference.size * (difference.size + 1) / 4, 1.0, *counts)
    # Rounded, so differences that are equal up to rounding errors tie.
    statistic, p_value = _signed_ranks(difference.round(12))
    return WilcoxonResult(statistic, p_value, *counts)


def _signed_ranks(difference: Matrix) -> tuple[float, float]:
    """Return Wilcoxon's T and its p-value, the same with all versions of scipy."""
    if difference.size > 50:
        result = scipy_stats.wilcoxon(difference, zero_method="zsplit")
        return float(result.statistic), float(result.pvalue)
    # Twice the ranks, which are integers even where ranks are tied.
    ranks = np.rint(2 * scipy_stats.rankdata(np.abs(difference))).astype(np.int64)
    smaller = min(ranks[difference > 0].sum(), ranks[difference < 0].sum())
    moving = ranks[difference != 0]
    ways = np.zeros(moving.sum() + 1)  # to choose the signs such that this is the sum of one side
    ways[0] = 1
    for rank in moving:
        ways[rank:] = ways[rank:] + ways[:-rank]
    tail = ways[: smaller + 1].sum() / 2.0**moving.size
    return float(smaller + ranks[difference == 0].sum() / 2) / 2, float(min(1.0, 2 * tail))


@dataclass(frozen=True)
class AdjustedPValues:
    """P-values corrected for multiple testing.

    Attributes
    ----------
    p_values, adjusted : ndarray
        The given and the corrected p-values. A hypothesis is rejected if `adjusted` <= alpha.
    rejected : ndarray of bool
        Whether the hypothesis is rejected.
    alpha : float
        The false discovery rate.
    """

    p_values: Matrix
    adjusted: Matrix
    rejected: NDArray[np.bool_]
    alpha: float

    def __str__(self) -> str:
        lines = [
            f"{p:<10.4g} {q:<10.4g} {'rejected' if r else ''}".rstrip()
            for p, q, r in zip(self.p_values, self.adjusted, self.rejected, strict=True)
        ]
        return "\n".join([f"{'p':<10} {'adjusted':<10} at {self.alpha:g}", *lines])


def benjamini_hochberg(p_values: ArrayLike, *, alpha: float = 0.05) -> AdjustedPValues:
    """Correct p-values by controlling the false discovery rate at alpha.

    Parameters
    ----------
    p_values : array-like of shape (n,)
        The p-values. NaN marks hypotheses that were not tested, which are ignored.
    alpha : float
        The false discovery rate.

    Returns
    -------
    AdjustedPValues
        The corrected p-values, in the given order.

    Examples
    --------
    >>> from ramify.stats import benjamini_hochberg
    >>> benjamini_hochberg([0.01, 0.04, 0.03, 0.2]).adjusted.round(4)
    array([0.04  , 0.0533, 0.0533, 0.2   ])
    """
    given = np.asarray(p_values, dtype=np.float64)
    tested = ~np.isnan(given)
    if given.ndim != 1 or ((given[tested] < 0) | (given[tested] > 1)).any():
        raise ValueError(
            "p_values must be a list of numbers from 0 to 1, got "
            f"{np.array2string(given, threshold=10)}. Use NaN for hypotheses that were not tested."
        )
    adjusted = np.full(given.shape, np.nan)
    if tested.any():
        adjusted[tested] = scipy_stats.false_discovery_control(given[tested], method="bh")
    return AdjustedPValues(given, adjusted, tested & (adjusted <= alpha), alpha)


@dataclass(frozen=True)
class PairwiseResult:
    """Comparison of all pairs of methods, with corrected p-values.

    Attributes
    ----------
    pairs : tuple of (str, str)
        The methods compared.
    p_values : AdjustedPValues
        In the order of `pairs`.
    """

    pairs: tuple[tuple[str, str], ...]
    p_values: AdjustedPValues

    def __str__(self) -> str:
        names = [f"{a} - {b}" for a, b in self.pairs]
        width = max(map(len, names))
        header, *lines = str(self.p_values).splitlines()
        rows = [f"{name:<{width}}  {line}" for name, line in zip(names, lines, strict=True)]
        return "\n".join([f"{'':<{width}}  {header}", *rows])


def pairwise(
    scores: Any,
    names: Sequence[str] | None = None,
    *,
    test: Literal["ranks", "wilcoxon"] = "ranks",
    alpha: float = 0.05,
    higher_is_better: bool = True,
    missing: Missing = "drop",
) -> PairwiseResult:
    r"""Compare all pairs of methods, with Benjamini and Hochberg's correction.

    Parameters
    ----------
    scores, names, higher_is_better, missing
        As in `friedman`.
    test : {"ranks", "wilcoxon"}
        "ranks" compares average ranks by :math:`z = (R_i - R_j) / \sqrt{k(k+1)/(6N)}`, the
        post-hoc test of Friedman's test; "wilcoxon" uses only the scores of the two methods.
    alpha : float
        The false discovery rate.

    Returns
    -------
    PairwiseResult
        One entry per pair.

    Examples
    --------
    >>> from ramify.stats import pairwise
    >>> print(pairwise({"a": [9, 8, 9, 7], "b": [5, 6, 4, 5], "c": [1, 2, 3, 4]}))
           p          adjusted   at 0.05
    a - b  0.1573     0.1573
    a - c  0.004678   0.01403    rejected
    b - c  0.1573     0.1573
    """
    table = read_table(scores, names, higher_is_better, missing)
    if test not in ("ranks", "wilcoxon"):
        raise ValueError(f"test must be 'ranks' or 'wilcoxon', got {test!r}.")
    pairs = list(combinations(range(table.n_methods), 2))
    if test == "wilcoxon":
        values = table.values
        p_values = [wilcoxon(values[:, i], values[:, j]).p_value for i, j in pairs]
    else:
        k = table.n_methods
        average = rank_rows(table.values).mean(axis=0)
        error = np.sqrt(k * (k + 1) / (6 * table.n_blocks))
        z = [abs(average[i] - average[j]) / error for i, j in pairs]
        p_values = [2 * float(scipy_stats.norm.sf(value)) for value in z]
    named = tuple((table.names[i], table.names[j]) for i, j in pairs)
    return PairwiseResult(named, benjamini_hochberg(p_values, alpha=alpha))
