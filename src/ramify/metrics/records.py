"""Overfitting, model size and training time, recorded by studies alongside accuracy."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np


def overfit_score(train_score: float, test_score: float) -> float:
    r"""Relative decrease of a score from the training data to unseen data.

    .. math:: OS = \frac{s_{train} - s_{test}}{s_{train}}

    Parameters
    ----------
    train_score, test_score : float
        The same measure on the training data and on unseen data; higher is better.

    Returns
    -------
    float
        0 means no overfitting, 1 a test score of 0. NaN if the training score is 0.

    Examples
    --------
    >>> from ramify.metrics import overfit_score
    >>> overfit_score(0.8, 0.6)
    0.25000000000000006
    """
    if train_score == 0:
        return np.nan
    return float((train_score - test_score) / train_score)


def model_complexity(model: Any) -> int:
    """Count the nodes of all trees of a fitted model.

    Parameters
    ----------
    model : estimator
        A tree, an ensemble, a local architecture or a pipeline of these, from ramify or
        scikit-learn: any estimator with trees in ``tree_``, ``estimators_``, ``estimator_``,
        ``best_estimator_`` or ``steps``.

    Returns
    -------
    int
        Number of inner nodes and leaves.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from ramify.metrics import model_complexity
    >>> model_complexity(DecisionTreeClassifier().fit([[0], [1]], [0, 1]))
    3
    """
    sizes = list(_tree_sizes(model))
    if not sizes:
        raise ValueError(
            f"model must contain fitted trees, got {type(model).__name__} without any. Fit the "
            "model first; the complexity of models without trees is not defined."
        )
    return sum(sizes)


def _tree_sizes(model: Any) -> Iterator[int]:
    tree = getattr(model, "tree_", model)
    if hasattr(tree, "feature") and hasattr(tree, "threshold"):
        yield len(tree.feature)
        return
    # Use the bare trees if the model has them: creating an estimator for each is slower.
    for name in ("local_models_", "trees_"):
        if getattr(model, name, None):
            for part in _parts(getattr(model, name)):
                yield from _tree_sizes(getattr(part, "estimator", part))
            return
    for name in ("estimators_", "estimator_", "best_estimator_", "steps"):
        for part in _parts(getattr(model, name, None)):
            yield from _tree_sizes(part)


def _parts(held: Any) -> Iterator[Any]:
    """Yield the models inside lists, arrays, dictionaries and (name, model) pairs."""
    if held is None or isinstance(held, str):
        return
    if isinstance(held, Mapping):
        held = list(held.values())
    if isinstance(held, np.ndarray):
        held = held.ravel().tolist()
    if isinstance(held, list | tuple):
        for part in held:
            yield from _parts(part)
    else:
        yield held


@dataclass(frozen=True)
class FitRecord:
    """A fitted model, its training time and its size.

    Attributes
    ----------
    model : estimator
        The fitted model.
    learning_time : float
        Wall-clock time in seconds.
    complexity : int or None
        Number of nodes of all trees; None if the model has no trees.
    """

    model: Any
    learning_time: float
    complexity: int | None

    def __str__(self) -> str:
        nodes = "no trees" if self.complexity is None else f"{self.complexity} nodes"
        return f"{type(self.model).__name__}: {self.learning_time:.3g} s, {nodes}"


def record_fit(model: Any, X: Any, y: Any, **fit_params: Any) -> FitRecord:
    """Fit a model and record the training time and the number of nodes.

    Parameters
    ----------
    model : estimator
        Fitted in place.
    X, y : array-like
        Training data.
    **fit_params
        Passed to ``fit``.

    Returns
    -------
    FitRecord
        The fitted model, its training time and its number of nodes.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from ramify.metrics import record_fit
    >>> record_fit(DecisionTreeClassifier(), [[0], [1]], [0, 1]).complexity
    3
    """
    begin = time.perf_counter()
    fitted = model.fit(X, y, **fit_params)
    seconds = time.perf_counter() - begin
    sizes = list(_tree_sizes(fitted))
    return FitRecord(fitted, seconds, sum(sizes) if sizes else None)
