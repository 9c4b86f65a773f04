"""Promises by their definitions: every threshold and every count is tried."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any


def most_errors(n: int, share: Fraction, confidence: Fraction | None) -> int:
    """Return how many of n calibration rows may be wrong, -1 if none may, exactly."""
    if confidence is None:
        return max([k for k in range(n + 1) if Fraction(k + 1, n + 1) <= share], default=-1)
    found = -1
    likely = Fraction(0)
    for k in range(n + 1):
        likely += math.comb(n, k) * share**k * (1 - share) ** (n - k)
        if likely <= 1 - confidence:
            found = k
    return found


def likeliest_end(scores: Any, candidates: Any, children: list[list[int]]) -> int:
    """Return the first candidate at which a path ends most probably."""
    found = [k for k in range(len(scores)) if candidates[k]]
    return max(found, key=lambda k: (max(0, scores[k] - sum(scores[children[k]])), -k))


def climb(scores: Any, end: int, parents: list[list[int]], threshold: float) -> int | None:
    """Climb from a label to the likeliest parents until a score reaches the threshold."""
    label: int | None = end
    while label is not None and scores[label] < threshold:
        above = parents[label]
        label = max(above, key=lambda k: (scores[k], -k)) if above else None
    return label


def largest_mean_loss(
    losses: Callable[[float], list[float]], candidates: list[float], n_allowed: float, *, up: bool
) -> float:
    """Return the last threshold, from the safe side, whose losses sum to at most a number."""
    best = math.inf if up else -math.inf
    for threshold in sorted(candidates, reverse=up):
        if sum(losses(threshold)) > n_allowed + 1e-9:
            break
        best = threshold
    return best
