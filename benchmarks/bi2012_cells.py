"""One fold of one data set in the study of Bi and Kwok (2012): data, models and figures."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import KFold

from ramify import (
    FlatClassifier,
    Hierarchy,
    LevelPowerset,
    MandatoryLeafClassifier,
    MetaLabeler,
    PCTClassifier,
    SiblingLassoClassifier,
    fetch,
)
from ramify.decision import leaf_weights, mandatory_leaves, nested_approximation
from ramify.metrics import hierarchical_precision_recall_f1, label_imbalance, symmetric_loss
from ramify.studies.data import ending_in_leaves

METHODS = ("MAS", "MASR", "HMC-LP", "HBR", "CLUS-HMC", "BR")
ALPHAS = (*(1 / k for k in range(10, 1, -1)), *range(1, 11))
MOST_PROGRAMS = 20
"""On a DAG every row and k takes an integer program: so many rows are checked for nested sets."""


@dataclass(frozen=True)
class Problem:
    """A data set as the paper takes it."""

    name: str
    X: Any
    Y: sparse.csr_array
    hierarchy: Hierarchy

    @property
    def leaves(self) -> np.ndarray:
        """The columns of the leaves."""
        return self.hierarchy.indices(self.hierarchy.leaves)

    def rows(self, which: np.ndarray) -> Any:
        """Return some rows of X."""
        return self.X.iloc[which] if hasattr(self.X, "iloc") else self.X[which]


def load(name: str, min_count: int) -> Problem:
    """Drop rows with partial paths, then labels with few rows, then rows without a leaf.

    What a row still has ends in leaves, whatever it has lost. Of GO sets the rows for training
    and validation are taken, which is how many rows the paper has.
    """
    data = fetch(name)
    Y, hierarchy = sparse.csr_array(data.y), data.hierarchy
    rows = np.arange(Y.shape[0])
    if name.endswith("_GO"):
        rows = np.sort(np.concatenate([data.splits["train"], data.splits["valid"]]))
    own = ending_in_leaves(Y[rows], hierarchy)
    whole = np.diff(own.indptr) == np.diff(Y[rows].indptr)
    rows = rows[whole & (np.diff(own.indptr) > 0)]
    smaller = hierarchy.prune(Y[rows], min_count=min_count)
    kept = ending_in_leaves(Y[rows][:, hierarchy.indices(smaller.labels)], smaller)
    has = np.flatnonzero(np.diff(kept.indptr) > 0)
    X = data.X.iloc[rows[has]] if hasattr(data.X, "iloc") else data.X[rows[has]]
    return Problem(name, X, sparse.csr_array(kept[has]), smaller)


class Fold:
    """The models of one fold; what methods share is fitted once."""

    def __init__(self, problem: Problem, number: int) -> None:
        folds = KFold(5, shuffle=True, random_state=0).split(np.empty((problem.Y.shape[0], 1)))
        train, test = list(folds)[number]
        self.hierarchy = problem.hierarchy
        self.X, self.Y = problem.rows(train), problem.Y[train]
        self.X_test, self.Y_test = problem.rows(test), problem.Y[test]
        self.alpha = label_imbalance(self.Y)
        self._leaves = problem.leaves

    @cached_property
    def lasso(self) -> Any:
        """The probabilities of MAS, MASR and HBR."""
        return FrozenEstimator(
            SiblingLassoClassifier(self.hierarchy, random_state=0).fit(self.X, self.Y)
        )

    @cached_property
    def counter(self) -> Any:
        """The MetaLabeler's number of leaves."""
        counts = np.asarray(self.Y[:, self._leaves].sum(axis=1)).ravel()
        return FrozenEstimator(SiblingLassoClassifier(random_state=0).fit(self.X, counts))

    def fit(self, method: str) -> Any:
        """Return the method's fitted classifier."""
        return self._makers()[method]().fit(self.X, self.Y)

    def _makers(self) -> dict[str, Callable[[], Any]]:
        each = FlatClassifier(estimator=SiblingLassoClassifier(random_state=0))
        tree = PCTClassifier(self.hierarchy, min_samples_leaf=5, random_state=0)
        # Cross-validation for each of hundreds of sets would take most of the time.
        chooser = SiblingLassoClassifier(alpha=0.3)
        return {
            "MAS": lambda: MandatoryLeafClassifier(self.lasso),
            "MASR": lambda: MandatoryLeafClassifier(self.lasso, objective="risk"),
            "HMC-LP": lambda: LevelPowerset(chooser, hierarchy=self.hierarchy),
            "HBR": lambda: MetaLabeler(self.lasso, counter=self.counter),
            "CLUS-HMC": lambda: MetaLabeler(tree, counter=self.counter),
            "BR": lambda: MetaLabeler(
                each, hierarchy=self.hierarchy, counter=self.counter, leaves_only=True
            ),
        }

    def figures(self, method: str) -> dict[str, Any]:
        """Fit a method, and return what it is worth and the CPU seconds that it took."""
        start = time.process_time()
        model = self.fit(method)
        predicted = model.predict(self.X_test)
        seconds = time.process_time() - start
        truth = {"hierarchy": self.hierarchy}
        by_alpha = []
        for alpha in ALPHAS:
            if method == "MASR":
                model.alpha_ = float(alpha)
                sets = model.predict(self.X_test)
            else:
                sets = predicted
            by_alpha.append(symmetric_loss(self.Y_test, sets, alpha=alpha, **truth))
        found = {
            "seconds": seconds,
            "hf": float(hierarchical_precision_recall_f1(self.Y_test, predicted, **truth)[2]),
            "loss": symmetric_loss(self.Y_test, predicted, alpha=self.alpha, **truth),
            "loss_by_alpha": by_alpha,
            "leaves": float(predicted[:, self._leaves].sum() / predicted.shape[0]),
        }
        if method != "MAS":
            return found
        counted = model.predict(self.X_test, k=self.counter.predict(self.X_test).astype(int))
        counted_hf = hierarchical_precision_recall_f1(self.Y_test, counted, **truth)[2]
        return found | {"hf_counted": float(counted_hf)} | self._nested()

    def _nested(self) -> dict[str, Any]:
        """Return how often best sets are nested, and how often the greedy set is the best."""
        scores = self.lasso.estimator.predict_conditional_proba(self.X_test)
        if not self.hierarchy.is_tree:
            scores = scores[:MOST_PROGRAMS]
        found = nested_approximation(scores, self.hierarchy, conditional=True)
        weights = leaf_weights(scores, self.hierarchy, conditional=True)
        values = []
        for solver in ("greedy", "exact"):
            sets = mandatory_leaves(scores, self.hierarchy, solver=solver, conditional=True)
            values.append(np.asarray(sets.multiply(weights).sum(axis=1)).ravel())
        return {
            "nested_k": found.k.tolist(),
            "nested": found.share.tolist(),
            "greedy_is_best": float(np.mean(values[0] >= values[1] - 1e-5)),
        }


@dataclass(frozen=True)
class Store:
    """Finished figures: one file for each data set and fold, replaced whole or not at all."""

    folder: Path

    def read(self, name: str, fold: int) -> dict[str, Any]:
        """Return the figures by method."""
        path = self.folder / f"{name}-{fold}.json"
        return dict(json.loads(path.read_text())) if path.exists() else {}

    def write(self, name: str, fold: int, figures: dict[str, Any]) -> None:
        """Keep the figures."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"{name}-{fold}.json"
        new = path.with_suffix(".new")
        new.write_text(json.dumps(figures))
        new.replace(path)
