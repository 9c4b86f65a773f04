"""Readable versions of the measures: plain loops over rows and labels that follow the formulas."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

import numpy as np

from ramify import Hierarchy

Matrix = Sequence[Sequence[float]]


def precision_recall_area(pairs: Iterable[tuple[bool, float]]) -> float:
    """Return the area under the curve of (is positive, score) pairs, as CLUS computes it."""
    points = _curve_points(list(pairs))
    n_positive = points[-1][0]
    if n_positive == 0:
        return math.nan
    filled = [points[0]]
    for (tp1, fp1), (tp2, fp2) in pairwise(points):
        between = range(tp1 + 1, tp2)
        filled += [(tp, fp1 + (fp2 - fp1) / (tp2 - tp1) * (tp - tp1)) for tp in between]
        filled.append((tp2, fp2))
    recall = [tp / n_positive for tp, _ in filled]
    precision = [tp / (tp + fp) for tp, fp in filled]
    area = recall[0] * precision[0]
    for k in range(1, len(filled)):
        area += (recall[k] - recall[k - 1]) * (precision[k] + precision[k - 1]) / 2
    return area


def _curve_points(pairs: list[tuple[bool, float]]) -> list[tuple[int, int]]:
    """Return (true positives, false positives) for every distinct score, from the largest down."""
    points = []
    for score in sorted({score for _, score in pairs}, reverse=True):
        tp = sum(positive and s >= score for positive, s in pairs)
        fp = sum(not positive and s >= score for positive, s in pairs)
        points.append((tp, fp))
    return points


def roc_area(pairs: Iterable[tuple[bool, float]]) -> float:
    listed = list(pairs)
    positives = [s for positive, s in listed if positive]
    negatives = [s for positive, s in listed if not positive]
    if not positives or not negatives:
        return 0.5
    won = sum((p > n) + 0.5 * (p == n) for p in positives for n in negatives)
    return won / (len(positives) * len(negatives))


def cells(truth: Matrix, scores: Matrix, labels: Iterable[int]) -> list[tuple[bool, float]]:
    chosen = list(labels)
    return [(bool(truth[i][c]), scores[i][c]) for i in range(len(truth)) for c in chosen]


def present(truth: Matrix, labels: Iterable[int]) -> list[int]:
    return [c for c in labels if any(row[c] for row in truth)]


def label_sets(matrix: Matrix, labels: Iterable[int]) -> list[set[int]]:
    chosen = list(labels)
    return [{c for c in chosen if row[c]} for row in matrix]


def mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed)


def agree(a: set[int], b: set[int], ratio: Callable[[], float], empty: bool) -> float:
    """Return a ratio, where 0/0 is 1 if both sets are empty and 0 otherwise."""
    return float(not a and not b) if empty else ratio()


EXAMPLE_MEASURES: dict[str, Callable[[set[int], set[int]], float]] = {
    "jaccard_accuracy": lambda t, p: agree(t, p, lambda: len(t & p) / len(t | p), not t | p),
    "example_precision": lambda t, p: agree(t, p, lambda: len(t & p) / len(p), not p),
    "example_recall": lambda t, p: agree(t, p, lambda: len(t & p) / len(t), not t),
    "example_f1": lambda t, p: agree(t, p, lambda: 2 * len(t & p) / (len(t) + len(p)), not t | p),
    "subset_accuracy": lambda t, p: float(t == p),
}


def hmc_loss(
    true: list[set[int]], predicted: list[set[int]], cost: Sequence[float], a: float, b: float
) -> float:
    return mean(
        a * sum(cost[c] for c in t - p) + b * sum(cost[c] for c in p - t)
        for t, p in zip(true, predicted, strict=True)
    )


def ancestors(hierarchy: Hierarchy) -> list[set[int]]:
    return [{hierarchy.index(a) for a in hierarchy.ancestors(label)} for label in hierarchy.labels]


def h_loss(
    true: list[set[int]],
    predicted: list[set[int]],
    cost: Sequence[float],
    above: list[set[int]],
) -> float:
    return mean(
        sum(cost[c] for c in t ^ p if not above[c] & (t ^ p))
        for t, p in zip(true, predicted, strict=True)
    )


def hierarchical_hamming_loss(
    true: list[set[int]], predicted: list[set[int]], above: list[set[int]]
) -> float:
    n_labels = len(above)
    return mean(
        sum(c in t ^ p or bool(above[c] & (t ^ p)) for c in range(n_labels)) / n_labels
        for t, p in zip(true, predicted, strict=True)
    )


def top_k_accuracy(truth: Matrix, scores: Matrix, k: int) -> float:
    found = []
    for row, row_scores in zip(truth, scores, strict=True):
        best = sorted(range(len(row)), key=lambda c: (-row_scores[c], c))[:k]
        found.append(sum(bool(row[c]) for c in best) / k)
    return mean(found)


def information_content(truth: Matrix, hierarchy: Hierarchy) -> list[float]:
    bits = []
    for c, label in enumerate(hierarchy.labels):
        parents = [hierarchy.index(p) for p in hierarchy.parents(label)]
        above = sum(all(row[p] for p in parents) for row in truth)
        count = sum(bool(row[c]) for row in truth)
        bits.append(-math.log2(count / above) if count else 0.0)
    return bits


def protein_figures(
    truth: Matrix, scores: Matrix, thresholds: Sequence[float], bits: Sequence[float]
) -> tuple[float, float]:
    """Return F-max and S-min; the latter over thresholds with a prediction, if there are any."""
    labels = range(len(truth[0]))
    f_values, s_values, nothing = [], [], []
    for threshold in thresholds:
        precision, recall, missed, wrong = [], [], [], []
        for row, row_scores in zip(truth, scores, strict=True):
            true = {c for c in labels if row[c]}
            predicted = {c for c in labels if row_scores[c] >= threshold}
            if not true:
                continue
            if predicted:
                precision.append(len(true & predicted) / len(predicted))
            recall.append(len(true & predicted) / len(true))
            missed.append(sum(bits[c] for c in true - predicted))
            wrong.append(sum(bits[c] for c in predicted - true))
        p = mean(precision) if precision else 0.0
        r = mean(recall)
        f_values.append(2 * p * r / (p + r) if p + r else 0.0)
        s = math.hypot(mean(missed), mean(wrong))
        (s_values if precision else nothing).append(s)
    return max(f_values), min(s_values or nothing)


def as_lists(matrix: np.ndarray) -> list[list[float]]:
    listed: list[list[float]] = matrix.tolist()
    return listed
