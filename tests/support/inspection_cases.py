"""Models for the tests of inspection: on random data and on the animals data set."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

from ramify import BRDTClassifier, Hierarchy, PCTClassifier, PCTForestClassifier, load_animals
from ramify.inspection import explore

DAG = Hierarchy.from_edges([("a", "c"), ("b", "c"), ("a", "d"), ("c", "e"), ("b", "f")])
TREE = Hierarchy.from_paths(["a/x/p", "a/x/q", "a/y", "b/z"])


@lru_cache(maxsize=1)
def animals() -> Any:
    return load_animals()


def animal_tree() -> PCTClassifier:
    data = animals()
    return PCTClassifier(data.hierarchy, min_samples_leaf=10).fit(data.X, data.y)


def animal_forest() -> PCTForestClassifier:
    data = animals()
    model = PCTForestClassifier(
        data.hierarchy, n_estimators=10, min_samples_leaf=3, random_state=0
    )
    return model.fit(data.X, data.y)


def related_labels() -> BRDTClassifier:
    """Return a model with two labels that always occur together."""
    X = np.arange(12.0)[:, np.newaxis]
    return BRDTClassifier().fit(X, [["cat", "purrs"]] * 4 + [["dog"]] * 7 + [[]])


def animal_pages(folder: Path) -> dict[str, Path]:
    """Write a page of the tree and one of the forest."""
    data = animals()
    return {
        "tree": explore(animal_tree(), data.X, data.y, folder / "tree.html", title="Animals <b>"),
        "forest": explore(animal_forest(), data.X, data.y, folder / "forest.html", max_trees=3),
    }


def data_of(page: Path) -> Any:
    """Return the data on a page."""
    text = page.read_text(encoding="utf-8")
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])


def rows(rng: np.random.Generator, n: int, missing: float) -> np.ndarray:
    """Return two numeric columns, one with few distinct values and one nominal column."""
    X = np.column_stack(
        [rng.normal(size=n), rng.integers(0, 3, n), rng.random(n), rng.integers(0, 4, n)]
    ).astype(float)
    X[rng.random(X.shape) < missing] = np.nan
    return X


@st.composite
def problems(draw: st.DrawFn) -> tuple[Any, np.ndarray, Any, float]:
    """Return parameters of a model, X, Y and the fraction of missing cells."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    missing = draw(st.sampled_from([0.0, 0.0, 0.2]))
    hierarchy = draw(st.sampled_from([DAG, TREE]))
    n = draw(st.integers(5, 60))
    X = rows(rng, n, missing)
    Y = hierarchy.close((rng.random((n, hierarchy.n_labels)) < 0.3).astype(int))
    params = {
        "hierarchy": hierarchy,
        "categorical_features": [3],
        "nominal_tests": draw(st.sampled_from(["subset", "single", "nary"])),
        "min_samples_leaf": draw(st.integers(1, 5)),
        "random_state": 0,
    }
    return params, X, Y, missing
