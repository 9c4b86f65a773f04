"""Slow, readable versions of the multi-label transformations, with loops over rows and labels."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
from sklearn.base import clone


def positive(model: Any, X: np.ndarray) -> np.ndarray:
    """Return the probability of class 1."""
    return model.predict_proba(X)[:, list(model.classes_).index(1)]


def fit_label(estimator: Any, X: np.ndarray, y: np.ndarray) -> Any:
    """Return a function from rows to the probability of a label."""
    if y.min() == y.max():
        return lambda rows: np.full(len(rows), float(y[0]))
    model = clone(estimator).fit(X, y)
    return lambda rows: positive(model, rows)


def binary_relevance(estimator: Any, X: np.ndarray, Y: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the probabilities of BR."""
    return np.stack([fit_label(estimator, X, y)(rows) for y in Y.T], axis=1)


def binary_relevance_plus(
    estimator: Any, X: np.ndarray, Y: np.ndarray, rows: np.ndarray
) -> np.ndarray:
    """Return the probabilities of BR+, whose second stage uses the predictions of the first."""
    first = (binary_relevance(estimator, X, Y, rows) >= 0.5).astype(float)
    columns = []
    for label in range(Y.shape[1]):
        seen, told = Y.astype(float), first.copy()
        seen[:, label] = told[:, label] = 0
        model = fit_label(estimator, np.hstack([X, seen]), Y[:, label])
        columns.append(model(np.hstack([rows, told])))
    return np.stack(columns, axis=1)


def label_powerset(
    estimator: Any, X: np.ndarray, Y: np.ndarray, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the probabilities of the labels, and the most probable label set of every row."""
    sets = sorted({tuple(row) for row in Y.tolist()}, key=lambda s: s[::-1])
    classes = np.array([sets.index(tuple(row)) for row in Y.tolist()])
    if len(sets) == 1:
        shares = np.ones((len(rows), 1))
    else:
        shares = clone(estimator).fit(X, classes).predict_proba(rows)
    scores = np.zeros((len(rows), Y.shape[1]))
    for number, labels in enumerate(sets):
        for label, has in enumerate(labels):
            scores[:, label] += has * shares[:, number]
    return scores, np.array(sets)[shares.argmax(axis=1)]


def rakel(
    estimator: Any, X: np.ndarray, Y: np.ndarray, rows: np.ndarray, *, groups: Any, voting: str
) -> np.ndarray:
    """Return the mean votes of label powersets over groups of labels."""
    votes, n_voters = np.zeros((len(rows), Y.shape[1])), np.zeros(Y.shape[1])
    for group in groups:
        columns = list(group)
        scores, sets = label_powerset(estimator, X, Y[:, columns], rows)
        votes[:, columns] += sets if voting == "hard" else scores
        n_voters[columns] += 1
    return np.where(n_voters > 0, votes / np.maximum(n_voters, 1), Y.mean(axis=0))


def distance(one: np.ndarray, other: np.ndarray, nominal: Collection[int]) -> float:
    """Return the squared distance over features known in both rows, scaled to all features."""
    squares = []
    for j, (a, b) in enumerate(zip(one.tolist(), other.tolist(), strict=True)):
        if not np.isnan(a) and not np.isnan(b):
            squares.append(float(a != b) if j in nominal else (a - b) ** 2)
    return sum(squares) * len(one) / len(squares) if squares else np.inf


def nearest_by(metric: str, X: np.ndarray, row: np.ndarray, k: int, but: int | None) -> list[int]:
    """Return the k rows nearest to a row, excluding row `but`, by sums from left to right."""
    order = np.argsort([measure(metric, x, row) for x in X], kind="stable").tolist()
    return [i for i in order if i != but][:k]


def measure(metric: str, one: np.ndarray, other: np.ndarray) -> float:
    """Return a squared Euclidean distance over cells present in both rows, or another one."""
    if metric == "cosine":
        return 1 - add(a * b for a, b in zip(unit(one), unit(other), strict=True))
    apart = [a - b for a, b in zip(one.tolist(), other.tolist(), strict=True)]
    if metric == "cityblock":
        return add(abs(difference) for difference in apart)
    present = [difference for difference in apart if not np.isnan(difference)]
    scale = len(apart) / len(present) if present else np.inf
    return add(d * d for d in present) * scale if present else np.inf


def unit(row: np.ndarray) -> list[float]:
    """Scale a row to length 1, unless it is zero."""
    length = np.sqrt(add(a * a for a in row.tolist()))
    return [a * (1 / length) if length else a for a in row.tolist()]


def add(terms: Iterable[float]) -> float:
    """Add terms one after the other; `sum` compensates for rounding in some versions."""
    total = 0.0
    for term in terms:
        total += term
    return total


def nearest(
    X: np.ndarray, row: np.ndarray, k: int, but: int | None, nominal: Collection[int]
) -> list[int]:
    """Return the k rows nearest to a row, excluding row `but`."""
    order = np.argsort([distance(x, row, nominal) for x in X], kind="stable").tolist()
    return [i for i in order if i != but][:k]


def ml_knn(
    X: np.ndarray,
    Y: np.ndarray,
    rows: np.ndarray,
    *,
    k: int,
    s: float,
    nominal: Collection[int] = (),
) -> np.ndarray:
    """Return the probabilities of ML-kNN as defined by Zhang and Zhou.

    NaN in Y is unknown: such rows count for neither value, and those neighbours that know a label
    stand for all.
    """
    scores = np.zeros((len(rows), Y.shape[1]))
    for label in range(Y.shape[1]):
        y = Y[:, label]
        known = y[~np.isnan(y)]

        def count(near: list[int], y: np.ndarray = y, known: np.ndarray = known) -> int:
            among = y[near][~np.isnan(y[near])]
            return round(k * float(np.mean(among if len(among) else known)))

        prior = (s + known.sum()) / (2 * s + len(known))
        table = np.zeros((2, k + 1))
        for i in np.flatnonzero(~np.isnan(y)).tolist():
            table[int(y[i]), count(nearest(X, X[i], k, i, nominal))] += 1
        for i, row in enumerate(rows):
            j = count(nearest(X, row, k, None, nominal))
            likely = [(s + table[v, j]) / (s * (k + 1) + table[v].sum()) for v in (0, 1)]
            yes, no = prior * likely[1], (1 - prior) * likely[0]
            scores[i, label] = yes / (yes + no)
    return scores
