"""Data and models for the tests of local architectures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ramify import (
    FlatClassifier,
    Hierarchy,
    PCTClassifier,
    PerEdgeClassifier,
    PerLevelClassifier,
    PerNodeClassifier,
    PerParentClassifier,
    make_hierarchical_classification,
)
from ramify.local.problems import POLICIES

ARCHITECTURES = [
    PerEdgeClassifier(PCTClassifier()),
    *(PerNodeClassifier(PCTClassifier(), policy=policy) for policy in POLICIES),
    PerParentClassifier(PCTClassifier()),
    PerLevelClassifier(PCTClassifier()),
    FlatClassifier(PCTClassifier()),
    FlatClassifier(PCTClassifier(), labels="all"),
]
every_architecture = pytest.mark.parametrize("model", ARCHITECTURES, ids=str)


def make_data(**settings: Any) -> Any:
    wanted = {"n_samples": 80, "n_features": 5, "n_labels": 12, "random_state": 0} | settings
    return make_hierarchical_classification(**wanted)


def is_coherent(scores: np.ndarray, hierarchy: Hierarchy) -> bool:
    indptr, parents = hierarchy.parent_rows
    children = np.repeat(np.arange(hierarchy.n_labels), np.diff(indptr))
    return bool((scores[:, children] <= scores[:, parents]).all()) and bool(
        ((scores >= 0) & (scores <= 1)).all()
    )


def one_path_per_row(n_rows: int = 90) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    y = random.choice(["a/x", "a/y", "a", "b", "b/z"], size=n_rows)
    X = random.normal(size=(n_rows, 4)) + np.array([[len(c), c > "a/x", 0, 0] for c in y])
    return X, y
