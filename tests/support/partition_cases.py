"""Boosting from several partitions in this process."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from ramify import PCTGradientBoostingClassifier
from ramify.boosting.partitions.counting import LocalPartitions
from ramify.boosting.partitions.fitting import fit_partitions
from tests.support.boosting_problems import bytes_of


def divide(n_rows: int, n_parts: int) -> list[slice]:
    """Return the rows of partitions of about the same size."""
    bounds = np.linspace(0, n_rows, n_parts + 1).astype(int).tolist()
    return [slice(*ends) for ends in pairwise(bounds)]


def take(data: Any, rows: slice) -> Any:
    return data.iloc[rows] if hasattr(data, "iloc") else data[rows]


def fit_in_parts(
    model: PCTGradientBoostingClassifier, X: Any, y: Any, slices: list[slice], weights: Any = None
) -> PCTGradientBoostingClassifier:
    """Fit a copy of a model to some rows at a time."""
    columns = [X, y] if weights is None else [X, y, weights]
    return fit_all(model, [tuple(take(column, rows) for column in columns) for rows in slices])


def fit_all(
    model: PCTGradientBoostingClassifier, parts: list[tuple[Any, ...]]
) -> PCTGradientBoostingClassifier:
    """Fit a copy of a model, with an integer random_state, to partitions."""
    learner = clone(model)
    learner._check_parameters()
    random = np.random.RandomState(model.random_state)
    learner._seed = int(random.randint(np.iinfo(np.int32).max))
    fit_partitions(learner, LocalPartitions(parts))
    return learner


def everything(model: PCTGradientBoostingClassifier) -> tuple[Any, ...]:
    """Return all that makes a model, to compare models bit for bit."""
    sets = getattr(model, "label_sets_", None)
    return (
        bytes_of(model.trees_),
        model.baseline_.tobytes(),
        model.validation_score_.tobytes(),
        model.loss_,
        model.hierarchy_,
        model.format_,
        model.schema_.n_categories.tobytes(),
        model.schema_.categories,
        None if sets is None else sparse.csr_array(sets).toarray().tobytes(),
        getattr(model, "ends_", np.zeros(0)).tobytes(),
    )
