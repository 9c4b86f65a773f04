"""Local models: learning one, and asking it for the probabilities of its labels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state

from ramify import _core
from ramify._base.features import csr_parts
from ramify._savable import savable
from ramify.hierarchy.hierarchy import Hierarchy
from ramify.local.features import SharedFeatures
from ramify.local.problems import LocalProblem

__all__ = ["ConstantClassifier", "Learner", "LocalModel", "Queries", "set_random_state"]

LEARNT = 0.5
"""In place of a label's share of the training rows: neither none nor all, so there is a model."""

NO_CLASS = ""
"""The class of rows that have none of a problem's labels; no label has an empty name."""


@savable
class ConstantClassifier(BaseEstimator):  # type: ignore[misc]
    """Stands where all training rows agree, so that there is nothing to learn.

    Parameters
    ----------
    probabilities : tuple of float
        One for each label of the local problem, 0 or 1.

    Examples
    --------
    >>> ConstantClassifier((1.0,)).predict_proba([[3.2], [1.1]])
    array([[1.],
           [1.]])
    """

    def __init__(self, probabilities: tuple[float, ...] = (0.0,)) -> None:
        self.probabilities = probabilities

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the same probabilities for every row.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n, n_labels)
            A column for each label of the local problem.
        """
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        return np.tile(np.asarray(self.probabilities, dtype=np.float64), (n_rows, 1))


@savable
@dataclass(frozen=True)
class LocalModel:
    """A fitted local model, with what is needed to read its answers.

    Attributes
    ----------
    estimator : estimator or Tree
        The model; of a PCTClassifier the tree alone.
    labels : tuple of int
        Positions of the labels of the local problem.
    shares : tuple of float
        For each label 0 or 1 if all training rows agree, so that it is not asked; LEARNT for
        those that the model has learnt.
    answer : str
        How the model answers: "columns", one per learnt label, as our own do; "positive", by
        the probability of class 1; "indicator", as scikit-learn's multi-label classifiers do;
        "classes", by the probabilities of classes whose names are the labels'.
    """

    estimator: Any
    labels: tuple[int, ...]
    shares: tuple[float, ...]
    answer: str = "columns"

    def check(self, n_labels: int) -> None:
        """Refuse a model, e.g. of a file, that cannot speak of a hierarchy's labels."""
        if (
            not all(type(label) is int and 0 <= label < n_labels for label in self.labels)
            or not all(isinstance(share, float) for share in self.shares)
            or len(self.shares) != len(self.labels)
            or self.answer not in ("columns", "positive", "indicator", "classes")
            or not isinstance(self.estimator, BaseEstimator | _core.Tree)
        ):
            raise ValueError(f"a local model does not fit {n_labels} labels")


def set_random_state(estimator: Any, seed: int) -> None:
    """Seed an estimator and the estimators within it, each with its own number."""
    random = check_random_state(seed)
    seeds = {
        name: int(random.randint(np.iinfo(np.int32).max))
        for name in sorted(estimator.get_params(deep=True))
        if name == "random_state" or name.endswith("__random_state")
    }
    if seeds:
        estimator.set_params(**seeds)


class Learner(ABC):
    """Learns local problems with clones of one estimator; holds the data that they share.

    Parameters
    ----------
    estimator : estimator
        Unfitted.
    features : SharedFeatures
        X.
    weights : ndarray of shape (n,)
        The weights of the rows.
    hierarchy : Hierarchy
        The labels.
    """

    prefer: str | None = None
    """What kind of workers joblib should use."""

    def __init__(
        self,
        estimator: Any,
        features: SharedFeatures,
        weights: NDArray[np.float64],
        hierarchy: Hierarchy,
    ) -> None:
        self.estimator = estimator
        self.features = features
        self.weights = weights
        self.hierarchy = hierarchy

    def prepare(self) -> None:  # noqa: B027 (most have nothing to do)
        """Do what all problems share before they are handed to workers."""

    def learn(self, problem: LocalProblem, seed: int | None) -> LocalModel:
        """Learn one problem, or find that there is nothing to learn.

        Parameters
        ----------
        problem : LocalProblem
            What to learn.
        seed : int, optional
            Seeds the estimator.

        Returns
        -------
        LocalModel
            The fitted model.
        """
        n_rows = len(problem.rows)
        shares = tuple(
            LEARNT if 0 < len(positive) < n_rows else float(len(positive) > 0)
            for positive in problem.positives
        )
        if LEARNT not in shares:
            return LocalModel(ConstantClassifier(shares), problem.labels, shares)
        chosen = [k for k, share in enumerate(shares) if share == LEARNT]
        learnt = replace(
            problem,
            labels=tuple(problem.labels[k] for k in chosen),
            positives=tuple(problem.positives[k] for k in chosen),
        )
        model, answer = self._fit(learnt, seed)
        return LocalModel(model, problem.labels, shares, answer)

    def _make(self, seed: int | None) -> Any:
        """Return an unfitted estimator."""
        estimator = clone(self.estimator)
        if seed is not None:
            set_random_state(estimator, seed)
        return estimator

    @abstractmethod
    def _fit(self, problem: LocalProblem, seed: int | None) -> tuple[Any, str]:
        """Fit a model to a problem whose labels all vary; say how it answers."""


class Queries:
    """Rows to be judged by many local models.

    Parameters
    ----------
    X : ndarray or csr_array
        The rows as `read_features` returned them, for our own estimators.
    given : ndarray, csr_array or data frame
        The rows for those of other libraries.
    hierarchy : Hierarchy
        The labels.
    clus : bool
        Whether trees mix branches in CLUS's order of operations.
    """

    def __init__(self, X: Any, given: Any, hierarchy: Hierarchy, *, clus: bool = False) -> None:
        self.X = X
        self.given = given
        self.hierarchy = hierarchy
        self.clus = clus
        self._parts = csr_parts(X) if sparse.issparse(X) else None

    def ask(self, model: LocalModel) -> NDArray[np.float64]:
        """Return the probabilities of a local problem's labels, one row of numbers per label."""
        found = np.empty((len(model.labels), self.X.shape[0]))
        for row, share in zip(found, model.shares, strict=True):
            row[:] = share
        learnt = [k for k, share in enumerate(model.shares) if share == LEARNT]
        if not learnt:
            return found
        if model.answer == "columns":
            answers = self._ask_ours(model.estimator, len(learnt))
        else:
            names = [self.hierarchy.labels[model.labels[k]] for k in learnt]
            answers = _ask_other(model, self.given, names)
        found[learnt] = np.clip(answers, 0.0, 1.0).T
        return found

    def _ask_ours(self, model: Any, n_labels: int) -> NDArray[np.float64]:
        if not isinstance(model, _core.Tree):
            return np.asarray(model._predict_scores(self.X), dtype=np.float64)
        scores = np.zeros((self.X.shape[0], n_labels))
        if self._parts is None:
            model.predict(self.X, scores, 1.0, self.clus)
        else:
            model.predict_csr(*self._parts, scores, 1.0, self.clus)
        return scores


def _ask_other(model: LocalModel, X: Any, names: list[Any]) -> NDArray[np.float64]:
    """Return an array of shape (n, n_names) of what an estimator of another library answers."""
    estimator = model.estimator
    if not hasattr(estimator, "predict_proba"):
        return _hard_answers(model, X, names)
    answer = estimator.predict_proba(X)
    if model.answer == "indicator":
        if isinstance(answer, list):  # one array per label, one column for each of 0 and 1
            answer = np.stack([np.asarray(part)[:, -1] for part in answer], axis=1)
        return np.asarray(answer, dtype=np.float64)
    classes = list(estimator.classes_)
    wanted = [1] if model.answer == "positive" else names
    return np.asarray(answer, dtype=np.float64)[:, [classes.index(name) for name in wanted]]


def _hard_answers(model: LocalModel, X: Any, names: list[Any]) -> NDArray[np.float64]:
    """Return 0 and 1 for an estimator that predicts without probabilities."""
    predicted = np.asarray(model.estimator.predict(X))
    if model.answer == "classes":
        return np.stack([predicted == name for name in names], axis=1).astype(np.float64)
    return predicted.reshape(len(predicted), len(names)).astype(np.float64)
