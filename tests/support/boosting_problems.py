"""Small problems for the core of gradient boosting."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from hypothesis import strategies as st
from scipy import sparse

from ramify import Hierarchy, _core
from ramify.data.rows import as_columns, as_label_rows, as_rows
from tests.reference.gradient_boosting import Settings
from tests.reference.trees import Column

TREE = Hierarchy.from_paths(["a/b/c", "a/b/d", "a/e", "f/g", "f/h"])
DAG = Hierarchy.from_edges([("a", "b"), ("a", "c"), ("d", "c"), ("c", "e"), ("b", "e")])
ONE = Hierarchy.from_labels(["a"])
WIDE = Hierarchy.from_labels([f"label{k:02}" for k in range(70)])


@dataclass(frozen=True)
class Problem:
    """Features, outputs, weights and options of boosting."""

    X: np.ndarray
    Y: np.ndarray
    n_categories: np.ndarray
    weights: np.ndarray
    start: np.ndarray
    output_weight: np.ndarray
    held_out: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    settings: Settings = field(default_factory=Settings)
    options: dict[str, Any] = field(default_factory=dict)  # that the reference does not know

    @staticmethod
    def of(X: Any, Y: Any, options: dict[str, Any] | None = None, **settings: Any) -> Problem:
        """Return a problem of numeric features, without weights, that starts at margin 0."""
        n_outputs = np.shape(Y)[1]
        return Problem(
            np.asarray(X, dtype=float),
            np.asarray(Y, dtype=float),
            np.zeros(np.shape(X)[1], dtype=np.int32),
            np.ones(len(X)),
            np.zeros(n_outputs),
            np.ones(n_outputs),
            settings=Settings(**settings),
            options=options or {},
        )

    @property
    def n_outputs(self) -> int:
        return self.Y.shape[1]

    @property
    def columns(self) -> list[Column]:
        return [Column(x, int(k)) for x, k in zip(self.X.T, self.n_categories, strict=True)]

    @cached_property
    def learning(self) -> np.ndarray:
        return np.setdiff1d(np.arange(len(self.X)), self.held_out)

    @property
    def is_exact(self) -> bool:
        """Whether splits are found from all outputs, not from random sums of them."""
        return self.n_outputs <= self.options.get("sketch_size", 64)

    def with_options(self, **changes: Any) -> Problem:
        return replace(self, options={**self.options, **changes})

    def with_settings(self, **changes: Any) -> Problem:
        return replace(self, settings=replace(self.settings, **changes))

    def booster(self, X: Any = None) -> _core.GradientBooster:
        return _core.GradientBooster(self.plan(X), self.start)

    def plan(self, X: Any = None) -> _core.BoostingPlan:
        options = _core.GradientBoostingOptions()
        for name in ("loss", "learning_rate", "max_depth", "min_samples_leaf"):
            setattr(options, name, getattr(self.settings, name))
        options.l2_regularization = self.settings.l2_regularization
        for name, value in self.options.items():
            setattr(options, name, value)
        X = self.X if X is None else X
        Y = sparse.csr_array(self.Y)
        return _core.BoostingPlan(
            as_columns(X),
            self.n_categories,
            as_label_rows(Y),
            self.learning.astype(np.int64),
            self.held_out.astype(np.int64),
            self.weights,
            self.output_weight,
            self.settings.max_bins,
            options,
        )

    def empty_model(self) -> _core.BoostedTrees:
        return _core.BoostedTrees(self.n_outputs, self.X.shape[1])

    def train(self, n_rounds: int, X: Any = None) -> _core.BoostedTrees:
        booster, model = self.booster(X), self.empty_model()
        for _ in range(n_rounds):
            booster.learn(model)
        return model

    def predict(self, model: _core.BoostedTrees, X: Any = None, n_threads: int = 1) -> np.ndarray:
        X = self.X if X is None else X
        out = np.tile(self.start.astype(np.float32), (X.shape[0], 1))
        model.add_margins(as_rows(X), 0, len(model), n_threads, out)
        return out


def margins_of(booster: _core.GradientBooster, problem: Problem) -> np.ndarray:
    """Return the margins that the booster keeps of all rows."""
    rows = np.arange(len(problem.X), dtype=np.int64)
    out = np.empty(problem.Y.shape, dtype=np.float32)
    booster.copy_margins(rows, out)
    return out


def trees_of(model: _core.BoostedTrees) -> list[dict[str, np.ndarray]]:
    return [model.arrays(t) for t in range(len(model))]


def bytes_of(model: _core.BoostedTrees) -> bytes:
    """Return all arrays of a model, to compare models bit for bit."""
    return b"".join(
        name.encode() + array.tobytes()
        for tree in trees_of(model)
        for name, array in sorted(tree.items())
    )


def n_leaves(arrays: dict[str, np.ndarray]) -> int:
    return int((arrays["feature"] < 0).sum())


def depths(arrays: dict[str, np.ndarray]) -> np.ndarray:
    depth = np.zeros(len(arrays["feature"]), dtype=int)
    for node in np.flatnonzero(arrays["feature"] >= 0):
        depth[arrays["yes"][node]] = depth[arrays["no"][node]] = depth[node] + 1
    return depth


def column(rng: np.random.Generator, n: int, kind: str) -> tuple[np.ndarray, int]:
    if kind == "normal":
        return rng.normal(size=n), 0
    if kind == "ties":
        return rng.integers(-2, 3, n).astype(float), 0
    if kind == "sparse":
        return rng.normal(size=n).round(1) * (rng.random(n) < 0.15), 0
    if kind == "constant":
        return np.full(n, rng.normal()), 0
    if kind == "huge":
        return rng.choice([-1e308, -1e-308, 0.0, 1e-308, 5e-324, 1e308], n), 0
    n_values = int(rng.integers(1, 5)) if kind == "nominal" else 12
    codes = np.minimum(rng.integers(0, n_values, n), rng.integers(0, n_values, n)).astype(float)
    return codes, n_values


def outputs(rng: np.random.Generator, n: int, hierarchy: Hierarchy) -> np.ndarray:
    """Draw label sets that are closed upwards; some are empty."""
    labels = rng.random((n, hierarchy.n_labels)) < min(0.25, 3 / hierarchy.n_labels)
    labels[rng.random(n) < 0.2] = False
    return hierarchy.close(sparse.csr_array(labels.astype(np.int32))).toarray().astype(float)


options = st.fixed_dictionaries(
    {},
    optional={
        "max_leaf_nodes": st.sampled_from([1, 2, 3, 5, 100]),
        "sketch_size": st.sampled_from([1, 16, 17, 64, 100]),
        "seed": st.integers(0, 2**64 - 1),
    },
)
growth = st.builds(
    Settings,
    learning_rate=st.sampled_from([0.05, 0.3, 1.0]),
    max_depth=st.sampled_from([0, 1, 3, 6]),
    min_samples_leaf=st.sampled_from([1, 2, 5]),
    l2_regularization=st.sampled_from([0.0, 0.5, 1.0, 10.0]),
    max_bins=st.sampled_from([2, 3, 10, 255]),
)


@st.composite
def problems(draw: st.DrawFn, *, missing: bool = True) -> Problem:
    """Draw problems: dense, sparse, missing, nominal; weights, also 0; held-out rows."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, 40))
    kinds = ["normal", "ties", "sparse", "constant", "huge", "nominal", "many categories"]
    chosen = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=5))
    parts = [column(rng, n, kind) for kind in chosen]
    X = np.column_stack([x for x, _ in parts])
    settings = replace(draw(growth), loss=draw(st.sampled_from(["logistic", "softmax"])))
    Y = outputs(rng, n, draw(st.sampled_from([TREE, DAG, ONE, WIDE])))
    Y[:, 0] = np.maximum(Y[:, 0], np.nan_to_num(X[:, 0]) > 0)  # depends on the features
    if settings.loss == "softmax":
        Y = np.eye(Y.shape[1])[Y.argmax(axis=1)]
    if missing:
        X[rng.random(X.shape) < draw(st.sampled_from([0.0, 0.1, 0.5]))] = np.nan
    if draw(st.booleans()) and n > 1:  # duplicate rows
        X[n // 2 :], Y[n // 2 :] = X[: n - n // 2], Y[: n - n // 2]
    weights = np.ones(n)
    if draw(st.booleans()):
        weights = rng.choice([0.0, 1e-3, 0.5, 1.0, 3.7, 100.0], n)
    held_out = np.flatnonzero(rng.random(n) < 0.3) if draw(st.booleans()) else np.zeros(0, int)
    return Problem(
        X,
        Y,
        np.array([k for _, k in parts], dtype=np.int32),
        weights,
        rng.normal(size=Y.shape[1]) if draw(st.booleans()) else np.zeros(Y.shape[1]),
        rng.random(Y.shape[1]) if draw(st.booleans()) else np.ones(Y.shape[1]),
        held_out if len(held_out) < n else held_out[1:],
        settings,
        draw(options),
    )
