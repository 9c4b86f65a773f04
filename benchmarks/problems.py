"""Training sets for benchmarks: real ones by name, generated ones by size."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from ramify.datasets import fetch
from ramify.labels import Hierarchy


@dataclass(frozen=True)
class Problem:
    """Training rows in the form that benchmarks pass to every learner.

    X is dense (NaN is missing, nominal columns hold codes) or a csr_array; Y is a closed 0/1
    csr_array whose columns are `hierarchy.labels`; `categories` maps the position of a nominal
    column to its values.
    """

    name: str
    X: Any
    Y: sp.csr_array
    hierarchy: Hierarchy
    categories: dict[int, tuple[str, ...]] = field(default_factory=dict)

    @property
    def mean_positives(self) -> float:
        """Return the mean number of labels of a row, ancestors included."""
        return float(self.Y.nnz) / self.Y.shape[0]


def load(name: str) -> Problem:
    """Return a public data set's training rows: train and valid together, where it has both."""
    return load_parts(name)[0]


def load_parts(name: str) -> tuple[Problem, Problem | None]:
    """Return a public data set's training rows and its test rows, if it has any."""
    data = fetch(name, as_frame=False)
    names = list(data.feature_names)
    categories = {names.index(feature): values for feature, values in data.categories.items()}

    def take(*wanted: str) -> Problem | None:
        parts = [part for part in wanted if part in data.splits]
        if not parts:
            return None
        X, y = data.rows(*parts)
        return Problem(name, X, sp.csr_array(y), data.hierarchy, categories)

    # reuters is published in two equal parts.
    train = take("train", "valid", "part1")
    assert train is not None, f"{name} has no training part"
    return train, take("test", "part2")


def generate(
    n_rows: int, n_features: int, n_labels: int, positives: int, *, shifted: bool = False
) -> Problem:
    """Make rows with a given number of labels each, so that sizes can be varied one at a time.

    Six features split the rows into 64 groups; a group's rows draw their labels from the same
    eighth of all labels, one row in ten from another group's. The other features are noise or,
    if `shifted`, have a mean of their own in every group.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    group = (X[:, :6] > 0) @ (2 ** np.arange(6))
    if shifted:
        X[:, 6:] += rng.normal(size=(64, n_features - 6))[group]
    group = np.where(rng.random(n_rows) < 0.1, rng.integers(0, 64, n_rows), group)
    pools = np.stack([rng.permutation(n_labels)[: n_labels // 8] for _ in range(64)])
    chosen = np.stack([rng.choice(pools[g], positives, replace=False) for g in group])
    Y = sp.csr_array(
        (np.ones(chosen.size, dtype=np.int32), chosen.ravel(), positives * np.arange(n_rows + 1)),
        shape=(n_rows, n_labels),
    )
    Y.sort_indices()
    hierarchy = Hierarchy.from_labels([f"label{c}" for c in range(n_labels)])
    return Problem(f"{n_rows} rows, {n_labels} labels", X, Y, hierarchy)
