"""Readable versions of the answers for many labels: the best labels, and sparse scores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def best_labels(
    scores: Sequence[float], candidates: Iterable[int], k: int
) -> list[tuple[int, float]]:
    """Return the k candidates with the largest scores; of equal ones, the first labels."""
    ranked = sorted(candidates, key=lambda label: (-scores[label], label))
    return [(label, scores[label]) for label in ranked[:k]]


def stored_scores(scores: Sequence[float], least: float) -> dict[int, float]:
    """Return the positive scores of a row that are not below the least one, by label."""
    return {label: s for label, s in enumerate(scores) if s > 0 and s >= least}


def tail_bound(truth: Sequence[bool], scores: Sequence[float], least: float) -> float:
    """Return the most that an area can change if all scores below the least one are set to 0.

    The curve is unchanged up to the recall at that score, and its height is at most 1.
    """
    n_positive = sum(truth)
    n_kept = sum(t and s >= least for t, s in zip(truth, scores, strict=True))
    return 1 - n_kept / n_positive
