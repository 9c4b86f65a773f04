"""A small fitted model of every public estimator, for fuzzing its file."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.model_selection import GridSearchCV, KFold

import ramify
from tests.support.estimators import make, public_classifiers

HIERARCHY = ramify.Hierarchy.from_edges([("a", "b"), ("a", "c"), ("d", "c"), ("d", "e")])
_SETS = [["b"], ["c"], ["e"], ["a", "e"], ["a"], []]


def rows() -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return rows of two numeric features and a nominal one, some values missing."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(24, 3))
    X[:, 2] = rng.integers(0, 3, 24)
    X[rng.random(X.shape) < 0.08] = np.nan
    return X


def _label_sets() -> list[list[str]]:
    return [_SETS[int(2 * abs(a) + 2 * abs(b)) % len(_SETS)] for a, b, _ in np.nan_to_num(rows())]


def _paths() -> list[str]:
    return [("p/q", "p/r", "s")[int(2 * abs(a)) % 3] for a, _, _ in np.nan_to_num(rows())]


def _settings(cls: type) -> dict[str, Any]:
    names = inspect.signature(cls).parameters
    wanted: dict[str, Any] = {"categorical_features": [2], "n_estimators": 2, "n_neighbors": 3}
    return {name: value for name, value in wanted.items() if name in names}


def fuzz_models() -> dict[str, Any]:
    """Return fitted models by name: every classifier on label sets in a DAG, and on paths."""
    found: dict[str, Any] = {}
    X = rows()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for cls in public_classifiers():
            dag = make(cls, **_settings(cls)).set_params(hierarchy=HIERARCHY)
            found[f"{cls.__name__}, sets"] = dag.fit(X, _label_sets())
            flat = make(cls, **{**_settings(cls), **_unless_nominal(cls)})
            found[f"{cls.__name__}, paths"] = flat.fit(np.nan_to_num(X), _paths())
        knn = ramify.MLkNN(n_neighbors=3)
        search = GridSearchCV(
            ramify.PCTClassifier(),
            {"max_depth": [1, None], "hierarchy": [None, HIERARCHY]},
            scoring=ramify.metrics.get_scorer("micro_f1", labels="leaves"),
            cv=KFold(2),
        )
        found["GridSearchCV"] = search.fit(X, _label_sets())
        found["sets of paths"] = ramify.PCTClassifier().fit(X, [[p.split("/")] for p in _paths()])
        found["MLkNN, sparse"] = knn.fit(sparse.csr_matrix(np.nan_to_num(X)), _label_sets())
    return found


def _unless_nominal(cls: type) -> dict[str, Any]:
    has = "categorical_features" in inspect.signature(cls).parameters
    return {"categorical_features": None} if has else {}
