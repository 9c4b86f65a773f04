"""Slow, readable versions of the mandatory-leaf decoders, which try every set."""

from __future__ import annotations

from itertools import combinations

import numpy as np


def closed(leaves, hierarchy):
    """Return the positions of the leaves and of all their ancestors."""
    chosen = set(leaves)
    for leaf in leaves:
        chosen |= set(hierarchy.indices(hierarchy.ancestors(hierarchy.labels[leaf])).tolist())
    return chosen


def value(labels, weights):
    return float(sum(weights[label] for label in labels))


def all_sets(hierarchy, k=None):
    """Yield every closed label set whose paths all end in leaves."""
    leaves = hierarchy.indices(hierarchy.leaves).tolist()
    for size in range(1, len(leaves) + 1) if k is None else [k]:
        for chosen in combinations(leaves, size):
            yield closed(chosen, hierarchy)


def brute_force(weights, hierarchy, k=None):
    """Return the largest value of such a label set."""
    return max(value(labels, weights) for labels in all_sets(hierarchy, k))


def greedy_sets(weights, hierarchy):
    """Return the label set of Algorithm 1 of Bi and Kwok (2012) after each step."""
    left = hierarchy.indices(hierarchy.leaves).tolist()
    chosen: set[int] = set()
    found = []
    while left:
        values = [value(closed([leaf], hierarchy) | chosen, weights) for leaf in left]
        best = left.pop(int(np.argmax(values)))
        chosen = chosen | closed([best], hierarchy)
        found.append(chosen)
    return found


def greedy(weights, hierarchy, k=None):
    """Return the greedy set of k leaves, or the best greedy set of any size."""
    sets = greedy_sets(weights, hierarchy)
    if k is not None:
        return sets[k - 1]
    return sets[int(np.argmax([value(labels, weights) for labels in sets]))]


def edges(hierarchy):
    """Return all edges as (child, parent) in label order; the parent is None for the root."""
    listed = []
    for child, label in enumerate(hierarchy.labels):
        parents = hierarchy.indices(hierarchy.parents(label)).tolist()
        listed += [(child, parent) for parent in parents or [None]]
    return listed


def conditionals(row, hierarchy):
    """Return P(child | parent) of all edges, given the probabilities of the labels."""
    above = [1.0 if parent is None else row[parent] for _, parent in edges(hierarchy)]
    below = [row[child] for child, _ in edges(hierarchy)]
    pairs = zip(below, above, strict=True)
    return np.array([b / a if a > 0 else float(b > 0) for b, a in pairs])


def log_posterior(labels, conditional, hierarchy):
    """Return the logarithm of the (composite) probability that exactly these labels are true."""
    total = 0.0
    for p, (child, parent) in zip(
        np.clip(conditional, 1e-9, 1 - 1e-9), edges(hierarchy), strict=True
    ):
        if parent is None or parent in labels:
            total += np.log(p) if child in labels else np.log1p(-p)
    return total


def expected_loss(labels, row, costs, alpha):
    """Return the expected symmetric loss of a label set."""
    wrong = sum(costs[c] * 2 / (1 + alpha) * (1 - row[c]) for c in labels)
    missed = sum(
        costs[c] * 2 * alpha / (1 + alpha) * row[c] for c in range(len(row)) if c not in labels
    )
    return wrong + missed


def exact_probability(chosen, scores, hierarchy):
    """Return the probability of exactly this set if labels depend on their parents only."""
    found = 1.0
    for label, name in enumerate(hierarchy.labels):
        above = hierarchy.indices(hierarchy.parents(name)).tolist()
        if not set(above) <= set(chosen):
            continue
        least = min((scores[p] for p in above), default=1.0)
        given = min(scores[label] / least, 1 - 1e-9) if least > 0 else 0.0
        found *= given if label in chosen else 1 - given
    return found


def expected_f1(chosen, scores):
    return 2 * sum(scores[label] for label in chosen) / (len(chosen) + sum(scores))


def value_of_set(chosen, scores, hierarchy):
    """Return what `best_label_sets` maximises."""
    exact = exact_probability(chosen, scores, hierarchy)
    if not chosen:
        return 2 * exact
    return expected_f1(chosen, scores) + exact


def value_of_path(end, scores, hierarchy):
    """Return what `best_paths` maximises."""
    path = closed([end], hierarchy)
    below = hierarchy.indices(hierarchy.children(hierarchy.labels[end])).tolist()
    ending = max(0.0, scores[end] - sum(scores[label] for label in below))
    together = len(path) + sum(scores)
    return 2 * sum(scores[label] for label in path) / together + ending


def likeliest_sets(scores, allow_empty):
    """Yield the sets of the most probable labels, of each size."""
    order = [k for k in sorted(range(len(scores)), key=lambda k: (-scores[k], k)) if scores[k] > 0]
    for size in range(0 if allow_empty or not order else 1, len(order) + 1):
        yield order[:size]
