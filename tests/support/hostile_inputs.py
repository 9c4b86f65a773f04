"""Feature matrices, labels, targets and weights that are valid, unusual or wrong."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

_NUMBERS = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e308, -1e308, 5e-324, 1e160, 2.0**53, -1.0, 0.5]


def hostile_features(rng: random.Random, n: int) -> Any:
    """Return n rows, or a few more or less, in any layout and with any values."""
    chance = np.random.default_rng(rng.randrange(2**32))
    if rng.random() < 0.05:
        n = max(0, n + rng.choice([-1, 1]))
    X: Any = chance.normal(size=(n, 3 if rng.random() < 0.9 else rng.choice([0, 1, 7])))
    kind = rng.randrange(12)
    if kind == 0:
        X = chance.integers(-2, 4, X.shape).astype(rng.choice(["i1", "u8", "f4", "f8", "?", "O"]))
    elif kind == 1 and X.size:
        for _ in range(rng.choice([1, 3, X.size])):
            X[rng.randrange(n), rng.randrange(X.shape[1])] = rng.choice(_NUMBERS)
    elif kind == 2:
        X = X * rng.choice([1e-300, 1e300, 0.0])
    return _laid_out(rng, X)


def _frame(rng: random.Random, X: Any) -> Any:
    return pd.DataFrame(X, columns=[rng.choice("abc") + str(j) for j in range(X.shape[1])])


def _frame_with_words(rng: random.Random, X: Any) -> Any:
    frame = pd.DataFrame(X)
    frame.insert(0, "word", [rng.choice(["x", "y", None, "", "é"]) for _ in range(len(X))])
    return frame


def _other_dimensions(rng: random.Random, X: Any) -> Any:
    return X[:, :1].ravel() if rng.random() < 0.5 else X[None]


def _laid_out(rng: random.Random, X: Any) -> Any:
    layouts = [
        *[lambda _, X: X] * 12,
        lambda _, X: np.asfortranarray(X)[:, ::-1],
        lambda _, X: X.tolist(),
        _frame,
        _frame_with_words,
        _other_dimensions,
        *([_sparse] * 2 if X.dtype != object else [lambda _, X: X.astype(str)]),
    ]
    return rng.choice(layouts)(rng, X)


def _sparse(rng: random.Random, X: Any) -> Any:
    rows = sparse.csr_array(X * (np.abs(X) > 0.5))
    kind = rng.randrange(4)
    if kind == 0:
        return rows.tocsc()
    if kind == 1:
        return rows.tocoo()
    if kind == 2 and rows.nnz > 1:  # unsorted and repeated indices
        rows.indices = rows.indices[::-1].copy()
        rows.has_sorted_indices = False
    return rows


_LABELS: list[Callable[[random.Random], Any]] = [
    lambda rng: rng.choice(["a", "b/c", "b/d", "b"]),
    lambda rng: [rng.choice(["a", "b/c", "b"]) for _ in range(rng.randrange(4))],
    lambda rng: rng.choice([0, 1, 2, -5, 10**9]),
    lambda _: "same",
    lambda _: [],
    lambda rng: rng.choice(["a", None, 3, 2.5, ("x", "y"), ["z"], np.nan, "", "/"]),
    lambda rng: f"r{rng.random()}",
    lambda rng: ["a/" * rng.choice([0, 3, 60]) + "z"],
]
"""Labels of one row, in any format."""


def hostile_labels(rng: random.Random, n: int) -> Any:
    """Return n label sets, paths, classes or indicators, some of them wrong."""
    if rng.random() < 0.3:
        values = rng.choice([[0, 1], [0, 1], [0, 1], [0, 1, 2, -1, np.nan]])
        Y = np.array([[rng.choice(values) for _ in range(3)] for _ in range(n)])
        return sparse.csr_array(Y) if rng.random() < 0.3 else Y
    one = rng.choice(_LABELS) if rng.random() < 0.5 else _LABELS[rng.randrange(2)]
    y = [one(rng) for _ in range(n)]
    return pd.Series(y) if rng.random() < 0.1 else y


def hostile_targets(rng: random.Random, n: int) -> Any:
    """Return n rows of numeric or nominal targets, some of them missing or wrong."""
    n_targets = rng.choice([0, 1, 1, 2, 2, 3])
    values: list[Any] = rng.choice(
        [
            [0.0, 1.5, -2.0],
            [0, 1, 2],
            ["a", "b", "c"],
            [0.0, 1e308, -1e308, 5e-324, 1e160],
            [0.0, np.nan, 1.0],
            [0.0, np.inf, 1.0],
            ["a", None, 3, 2.5, {}, ""],
            [True, False],
            [10**30, 1],
            ["a"],
        ]
    )
    rows = [[rng.choice(values) for _ in range(n_targets)] for _ in range(n)]
    if rng.random() < 0.05:
        rows = rows[:-1]
    kind = rng.randrange(6)
    if kind == 0 and n_targets:
        return [row[0] for row in rows]
    if kind == 1:
        return pd.DataFrame(rows)
    is_plain = len({isinstance(value, str) for value in values}) == 1 and None not in values
    return rows if kind == 2 else np.array(rows, dtype=None if is_plain and kind > 3 else object)


def hostile_weights(rng: random.Random, n: int) -> Any:
    """Return no weights, or n of them that may be wrong."""
    kind = rng.randrange(20)
    if kind > 9 or kind < 6:
        return None
    weights = [rng.choice([0.0, 1.0, 2.5]) for _ in range(n)]
    if kind == 6:
        weights = [rng.choice([1e300, 1e-300, 1.0]) for _ in range(n)]
    elif kind == 7:
        weights = [rng.choice([-1.0, np.nan, np.inf, 1.0]) for _ in range(n)]
    elif kind == 8:
        weights = [0.0] * n
    return weights if rng.random() < 0.8 else weights[:-1]
