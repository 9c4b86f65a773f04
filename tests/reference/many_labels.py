"""Readable versions of the predictions for many labels: the best labels, and sparse scores."""

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


def tail_bounds(
    truth: Sequence[bool], scores: Sequence[float], least: float
) -> tuple[float, float]:
    """Return the most that AUPRC and AUROC can change if scores below the least one are set to 0.

    The curves are unchanged up to the recall at that score. Beyond, the precision is at most that
    of all positives with the negatives that come before, and the ROC curve runs from there to the
    corner, straight if all scores are equal.
    """
    n_positive = sum(truth)
    n_negative = len(truth) - n_positive
    kept = [t for t, s in zip(truth, scores, strict=True) if s >= least]
    recall = sum(kept) / n_positive
    n_false = len(kept) - sum(kept)
    false_rate = n_false / n_negative if n_negative else 0.0
    return (
        (1 - recall) * n_positive / (n_positive + n_false),
        (1 - recall) * (1 - false_rate) / 2,
    )
