"""Compare all methods at once: Friedman's test and Nemenyi's post-hoc test."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats as scipy_stats

from ramify.stats.scores import AverageRanks, Matrix, Missing, rank_rows, read_table


@dataclass(frozen=True)
class FriedmanResult:
    """Result of Friedman's test and of Iman and Davenport's less conservative version.

    Attributes
    ----------
    chi2, p_chi2 : float
        Friedman's statistic, with `n_methods` − 1 degrees of freedom, and its p-value.
    f, p_value : float
        Iman and Davenport's statistic and its p-value, which should be reported.
    df : tuple of int
        Degrees of freedom of `f`.
    ranks : AverageRanks
        The average ranks that the test compares.
    """

    chi2: float
    p_chi2: float
    f: float
    p_value: float
    df: tuple[int, int]
    ranks: AverageRanks

    def __str__(self) -> str:
        return (
            f"Friedman chi2({self.df[0]}) = {self.chi2:.3f}, p = {self.p_chi2:.4g}; "
            f"Iman-Davenport F({self.df[0]}, {self.df[1]}) = {self.f:.3f}, "
            f"p = {self.p_value:.4g}\n{self.ranks}"
        )


def friedman(
    scores: Any,
    names: Sequence[str] | None = None,
    *,
    higher_is_better: bool = True,
    missing: Missing = "drop",
    tie_correction: bool = True,
) -> FriedmanResult:
    r"""Test whether methods differ, based on their ranks on several data sets.

    .. math:: \chi_F^2 = \frac{12 N}{k (k+1)} \Big( \sum_j R_j^2 - \frac{k (k+1)^2}{4} \Big),
        \quad F_F = \frac{(N-1)\,\chi_F^2}{N (k-1) - \chi_F^2}

    for k methods with average ranks R over N data sets; F is Iman and Davenport's correction.

    Parameters
    ----------
    scores : array-like, data frame or mapping of method to column
        Scores, with one row per data set (or fold) and one column per method.
    names : sequence of str, optional
        Names of the methods. By default, the column names, or "method 1", "method 2", ….
    higher_is_better : bool
        Whether higher scores are better.
    missing : {"drop", "worst", "raise"}
        How to handle NaN: drop the row, rank the method last in that row, or raise an error.
    tie_correction : bool
        Whether to correct for ties, as scipy does; Demšar (2006) does not. Without ties, it makes
        no difference.

    Returns
    -------
    FriedmanResult
        Statistics, p-values and average ranks.

    Notes
    -----
    With two methods, the test is equivalent to a sign test; `wilcoxon` is more powerful. If all
    rows rank the methods in the same order, F is infinite, and the p-value is the probability that
    all rows have the order of the first row by chance.

    Examples
    --------
    >>> from ramify.stats import friedman
    >>> result = friedman([[0.7, 0.8, 0.9], [0.6, 0.7, 0.8], [0.5, 0.4, 0.6], [0.3, 0.4, 0.5]])
    >>> round(result.chi2, 3), round(result.f, 3), round(result.p_value, 4)
    (6.5, 13.0, 0.0066)
    """
    table = read_table(scores, names, higher_is_better, missing)
    n, k = table.n_blocks, table.n_methods
    ranks = rank_rows(table.values)
    average = ranks.mean(axis=0)
    chi2 = 12 * n / (k * (k + 1)) * float(((average - (k + 1) / 2) ** 2).sum())
    if tie_correction:
        left = _variance_left(ranks)
        chi2 = chi2 / left if left > 0 else 0.0
    spread = n * (k - 1) - chi2
    # F is infinite if all data sets rank the methods in the same order.
    f = (n - 1) * chi2 / spread if spread > 1e-12 * n * k else np.inf
    df = (k - 1, (k - 1) * (n - 1))
    return FriedmanResult(
        chi2=chi2,
        p_chi2=float(scipy_stats.chi2.sf(chi2, k - 1)),
        f=f,
        p_value=_p_value(f, df, ranks) if n > 1 else np.nan,
        df=df,
        ranks=AverageRanks(table.names, average, n, table.n_dropped),
    )


def _p_value(f: float, df: tuple[int, int], ranks: Matrix) -> float:
    """Return the p-value of F; if F is infinite, compute it by counting orders."""
    if np.isfinite(f):
        return float(scipy_stats.f.sf(f, *df))
    ties = np.unique(ranks[0], return_counts=True)[1].tolist()
    n_orders = math.factorial(ranks.shape[1]) // math.prod(map(math.factorial, ties))
    return float(n_orders) ** -(len(ranks) - 1)


def _variance_left(ranks: Matrix) -> float:
    """Return the variance of the ranks relative to the variance without ties."""
    n, k = ranks.shape
    tied = [np.unique(row, return_counts=True)[1] for row in ranks]
    lost = sum(float((counts**3 - counts).sum()) for counts in tied)
    return float(1.0 - lost / (n * k * (k * k - 1)))


@dataclass(frozen=True)
class NemenyiResult:
    """Result of Nemenyi's test.

    Two methods differ significantly if their average ranks differ by at least the critical
    difference.

    Attributes
    ----------
    ranks : AverageRanks
        The average ranks compared.
    critical_difference : float
        The smallest significant difference between average ranks.
    alpha : float
        Significance level.
    p_values : ndarray of shape (n_methods, n_methods)
        One p-value per pair; 1 on the diagonal.
    groups : tuple of tuples of str
        Maximal sets of methods without significant differences, best first.
    """

    ranks: AverageRanks
    critical_difference: float
    alpha: float
    p_values: Matrix
    groups: tuple[tuple[str, ...], ...]

    def __str__(self) -> str:
        groups = "; ".join(", ".join(group) for group in self.groups) or "none"
        return (
            f"{self.ranks}\nCritical difference at {self.alpha:g}: "
            f"{self.critical_difference:.3f}\nNot significantly different: {groups}"
        )


def nemenyi(
    scores: Any,
    names: Sequence[str] | None = None,
    *,
    alpha: float = 0.05,
    higher_is_better: bool = True,
    missing: Missing = "drop",
) -> NemenyiResult:
    r"""Compare all methods with each other by Nemenyi's post-hoc test.

    .. math:: CD = q_\alpha \sqrt{\frac{k (k+1)}{6 N}}

    where q is the quantile of the studentized range for k methods, divided by √2.

    Parameters
    ----------
    scores, names, higher_is_better, missing
        As in `friedman`. Run `friedman` first: if it finds no significant difference, those found
        here are not meaningful.
    alpha : float
        Significance level.

    Returns
    -------
    NemenyiResult
        Critical difference, p-values and groups.

    Examples
    --------
    >>> from ramify.stats import nemenyi
    >>> scores = {"a": [9, 8, 9, 7, 9, 8], "b": [5, 6, 4, 5, 3, 4], "c": [1, 2, 3, 4, 2, 1]}
    >>> result = nemenyi(scores)
    >>> round(result.critical_difference, 3), result.groups
    (1.353, (('a', 'b'), ('b', 'c')))
    """
    table = read_table(scores, names, higher_is_better, missing)
    average = rank_rows(table.values).mean(axis=0)
    return nemenyi_of_ranks(
        AverageRanks(table.names, average, table.n_blocks, table.n_dropped), alpha
    )


def nemenyi_of_ranks(ranks: AverageRanks, alpha: float) -> NemenyiResult:
    """Compare methods given only their average ranks."""
    if not 0 < alpha < 1:
        raise ValueError(
            f"alpha must be strictly between 0 and 1, got {alpha!r}. Pass, for example, 0.05."
        )
    k = len(ranks.names)
    error = np.sqrt(k * (k + 1) / (6 * ranks.n_blocks))
    quantile = scipy_stats.studentized_range.ppf(1 - alpha, k, np.inf) / np.sqrt(2)
    difference = np.abs(ranks.ranks[:, None] - ranks.ranks[None, :])
    p_values = scipy_stats.studentized_range.sf(difference / error * np.sqrt(2), k, np.inf)
    p_values = np.asarray(p_values, dtype=np.float64)
    np.fill_diagonal(p_values, 1.0)
    critical = float(quantile * error)
    return NemenyiResult(ranks, critical, alpha, p_values, _groups(ranks, critical))


def _groups(ranks: AverageRanks, critical_difference: float) -> tuple[tuple[str, ...], ...]:
    """Find the longest runs in rank order that are narrower than the critical difference."""
    ordered = list(ranks.ordered())
    found: list[tuple[int, int]] = []
    for start, (_, best) in enumerate(ordered):
        near = [i for i, (_, rank) in enumerate(ordered) if rank - best < critical_difference]
        stop = max(near)
        if stop > start and (not found or stop > found[-1][1]):
            found.append((start, stop))
    return tuple(tuple(n for n, _ in ordered[a : b + 1]) for a, b in found)
