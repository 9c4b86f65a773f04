"""Readable versions of voting: the weighted mean, and the search for weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

Matrix = Sequence[Sequence[float]]


def weighted_mean(members: Sequence[Matrix], weights: Sequence[float]) -> list[list[float]]:
    """Return the weighted mean of the members' scores, computed with exact fractions."""
    exact = [Fraction(weight) for weight in weights]
    n_rows, n_labels = len(members[0]), len(members[0][0])
    return [
        [
            float(
                sum(w * Fraction(m[row][label]) for w, m in zip(exact, members, strict=True))
                / sum(exact)
            )
            for label in range(n_labels)
        ]
        for row in range(n_rows)
    ]


def grid(n_members: int, n_units: int) -> Iterator[tuple[int, ...]]:
    """Yield all ways to divide some units among members."""
    if n_members == 1:
        yield (n_units,)
        return
    for first in range(n_units + 1):
        for rest in grid(n_members - 1, n_units - first):
            yield (first, *rest)


def best_on_grid(score: Callable[[list[float]], float], n_members: int, n_units: int) -> float:
    """Return the largest score of all weights that are multiples of 1 / n_units."""
    return max(score([unit / n_units for unit in point]) for point in grid(n_members, n_units))
