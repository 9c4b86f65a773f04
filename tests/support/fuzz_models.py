"""A small fitted model of every public estimator, for fuzzing its file."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from functools import cache, partial
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


def _sets(cls: type) -> Any:
    model = make(cls, **_settings(cls)).set_params(hierarchy=HIERARCHY)
    return model.fit(rows(), _label_sets())


def _flat(cls: type) -> Any:
    model = make(cls, **{**_settings(cls), **_unless_nominal(cls)})
    return model.fit(np.nan_to_num(rows()), _paths())


def _search() -> Any:
    search = GridSearchCV(
        ramify.PCTClassifier(),
        {"max_depth": [1, None], "hierarchy": [None, HIERARCHY]},
        scoring=ramify.metrics.get_scorer("micro_f1", labels="leaves"),
        cv=KFold(2),
    )
    return search.fit(rows(), _label_sets())


def _sets_of_paths() -> Any:
    return ramify.PCTClassifier().fit(rows(), [[path.split("/")] for path in _paths()])


def _sparse() -> Any:
    X = sparse.csr_matrix(np.nan_to_num(rows()))
    return ramify.MLkNN(n_neighbors=3).fit(X, _label_sets())


def _carried(**more: Any) -> Any:
    old = ramify.PCTClassifier(HIERARCHY).fit(np.nan_to_num(rows()), _label_sets())
    new = ramify.Hierarchy.from_edges([("a", "b"), ("a", "f"), ("d", "e")])
    return old.with_hierarchy(new, ramify.LabelMapping(HIERARCHY, new, [("c", "f")]), **more)


def _relearnt() -> Any:
    y = [[{"c": "f"}.get(label, label) for label in labels] for labels in _label_sets()]
    return _carried(X=np.nan_to_num(rows()), y=y)


_LEARNT: dict[str, Callable[[], Any]] = {
    **{f"{cls.__name__}, sets": partial(_sets, cls) for cls in public_classifiers()},
    **{f"{cls.__name__}, paths": partial(_flat, cls) for cls in public_classifiers()},
    "GridSearchCV": _search,
    "sets of paths": _sets_of_paths,
    "MLkNN, sparse": _sparse,
    "carried": _carried,
    "relearnt": _relearnt,
}
NAMES = list(_LEARNT)
"""Every classifier on label sets in a DAG, and on paths; and some other models."""


@cache
def fuzz_model(name: str) -> Any:
    """Return a fitted model, which is shared, by its name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _LEARNT[name]()


def _unless_nominal(cls: type) -> dict[str, Any]:
    has = "categorical_features" in inspect.signature(cls).parameters
    return {"categorical_features": None} if has else {}
