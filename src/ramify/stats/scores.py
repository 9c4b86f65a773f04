"""Validate tables of scores (rows: data sets or folds, columns: methods) and rank methods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import stats as scipy_stats

Missing: TypeAlias = Literal["drop", "worst", "raise"]
Matrix: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class ScoreTable:
    """Complete scores (higher is better), and the number of rows dropped."""

    names: tuple[str, ...]
    values: Matrix
    n_dropped: int

    @property
    def n_blocks(self) -> int:
        """Number of rows: data sets, or folds."""
        return len(self.values)

    @property
    def n_methods(self) -> int:
        """Number of columns."""
        return len(self.names)


def read_table(
    scores: Any,
    names: Sequence[str] | None,
    higher_is_better: bool,
    missing: Missing,
) -> ScoreTable:
    """Validate a table of scores and handle its missing cells."""
    values, found = _values_and_names(scores)
    if values.ndim != 2 or values.shape[1] < 2:
        raise ValueError(
            f"scores must have one row per data set and at least two columns, one per method, "
            f"got shape {values.shape}."
        )
    columns = tuple(str(name) for name in (names if names is not None else found))
    if len(columns) != values.shape[1]:
        raise ValueError(
            f"names has {len(columns)} entries, but scores has {values.shape[1]} columns. Pass "
            "one name per column."
        )
    oriented = values if higher_is_better else -values
    settled = _settle_missing(oriented, missing)
    if len(settled) == 0:
        raise ValueError(
            "scores has no row without missing cells. Fill them, drop a method, or use "
            "missing='worst'."
        )
    return ScoreTable(columns, settled, len(values) - len(settled))


def _values_and_names(scores: Any) -> tuple[Matrix, Sequence[Any]]:
    if isinstance(scores, Mapping):
        return np.column_stack([np.asarray(c, dtype=float) for c in scores.values()]), list(scores)
    values = np.asarray(scores, dtype=np.float64)
    names = getattr(scores, "columns", None)
    width = values.shape[1] if values.ndim == 2 else 0
    return values, [f"method {j + 1}" for j in range(width)] if names is None else list(names)


def _settle_missing(values: Matrix, missing: Missing) -> Matrix:
    gaps = np.isnan(values)
    if missing == "drop":
        return values[~gaps.any(axis=1)]
    if missing == "worst":
        return np.where(gaps, -np.inf, values)
    if missing != "raise":
        raise ValueError(f"missing must be 'drop', 'worst' or 'raise', got {missing!r}.")
    if gaps.any():
        row, column = np.argwhere(gaps)[0].tolist()
        raise ValueError(
            f"scores has a missing cell in row {row}, column {column}. Use missing='drop' to drop "
            "such rows, or missing='worst' to rank the method last in them."
        )
    return values


def rank_rows(values: Matrix) -> Matrix:
    """Rank every row, 1 for the largest value; ties get the mean of their ranks."""
    return np.asarray(scipy_stats.rankdata(-values, axis=1), dtype=np.float64)


@dataclass(frozen=True)
class AverageRanks:
    """Average rank of every method; 1 is best.

    Attributes
    ----------
    names : tuple of str
        The methods, in the order of the table.
    ranks : ndarray of shape (n_methods,)
        Their average ranks.
    n_blocks : int
        Number of data sets (or folds) ranked.
    n_dropped : int
        Number of rows dropped because of missing cells.
    """

    names: tuple[str, ...]
    ranks: Matrix
    n_blocks: int
    n_dropped: int = 0

    def ordered(self) -> Iterator[tuple[str, float]]:
        """Yield methods and ranks, best first."""
        for j in np.argsort(self.ranks, kind="stable"):
            yield self.names[j], float(self.ranks[j])

    def __str__(self) -> str:
        width = max(map(len, self.names))
        lines = [f"{name:<{width}}  {rank:.3f}" for name, rank in self.ordered()]
        return "\n".join([f"Average ranks over {self.n_blocks} data sets", *lines])


def average_ranks(
    scores: Any,
    names: Sequence[str] | None = None,
    *,
    higher_is_better: bool = True,
    missing: Missing = "drop",
) -> AverageRanks:
    """Rank the methods on every data set and average the ranks.

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

    Returns
    -------
    AverageRanks
        The average ranks; 1 is best. Equal scores get the mean of their ranks.

    Examples
    --------
    >>> from ramify.stats import average_ranks
    >>> print(average_ranks({"tree": [0.7, 0.6, 0.8], "forest": [0.8, 0.9, 0.8]}))
    Average ranks over 3 data sets
    forest  1.167
    tree    1.833
    """
    table = read_table(scores, names, higher_is_better, missing)
    return AverageRanks(
        table.names, rank_rows(table.values).mean(axis=0), table.n_blocks, table.n_dropped
    )


@dataclass(frozen=True)
class WinsTiesLosses:
    """Number of wins, ties and losses of each method (row) against each other (column).

    Attributes
    ----------
    names : tuple of str
        The methods.
    wins, ties, losses : ndarray of shape (n_methods, n_methods)
        Counts over the data sets for which both methods have a score; the diagonal is 0.
    """

    names: tuple[str, ...]
    wins: NDArray[np.int64]
    ties: NDArray[np.int64]
    losses: NDArray[np.int64]

    def __str__(self) -> str:
        cells = [
            [
                "-" if i == j else f"{self.wins[i, j]}/{self.ties[i, j]}/{self.losses[i, j]}"
                for j in range(len(self.names))
            ]
            for i in range(len(self.names))
        ]
        first = max(map(len, self.names))
        widths = [max(len(n), *(len(row[j]) for row in cells)) for j, n in enumerate(self.names)]
        header = "  ".join(f"{n:>{w}}" for n, w in zip(self.names, widths, strict=True))
        lines = [
            f"{name:<{first}}  " + "  ".join(f"{c:>{w}}" for c, w in zip(row, widths, strict=True))
            for name, row in zip(self.names, cells, strict=True)
        ]
        return "\n".join([f"{'wins/ties/losses':<{first}}", f"{'':<{first}}  {header}", *lines])


def wins_ties_losses(
    scores: Any,
    names: Sequence[str] | None = None,
    *,
    higher_is_better: bool = True,
    tolerance: float = 0.0,
) -> WinsTiesLosses:
    """Count the wins, ties and losses of every pair of methods over the data sets.

    Parameters
    ----------
    scores, names, higher_is_better
        As in `average_ranks`. A data set counts for a pair if both methods have a score.
    tolerance : float
        Differences of at most `tolerance` are ties.

    Returns
    -------
    WinsTiesLosses
        The counts of every pair.

    Examples
    --------
    >>> from ramify.stats import wins_ties_losses
    >>> table = wins_ties_losses({"tree": [0.7, 0.6, 0.8], "forest": [0.8, 0.9, 0.8]})
    >>> print(table.wins[1, 0], table.ties[1, 0], table.losses[1, 0])
    2 1 0
    """
    values, found = _values_and_names(scores)
    columns = tuple(str(name) for name in (names if names is not None else found))
    oriented = values if higher_is_better else -values
    difference = oriented[:, :, None] - oriented[:, None, :]
    wins = (difference > tolerance).sum(axis=0)
    losses = (difference < -tolerance).sum(axis=0)
    ties = (np.abs(difference) <= tolerance).sum(axis=0)
    np.fill_diagonal(ties, 0)
    return WinsTiesLosses(columns, wins, ties, losses)
