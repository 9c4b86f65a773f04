"""Local models and their predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing

from ramify import _core
from ramify._base.features import csr_parts
from ramify._base.foreign import ANSWERS, Question
from ramify._savable import savable
from ramify._schema import AnyOf, Fitted, Maybe, Number, Schema, Text, TreeOf, TupleOf, Whole
from ramify.hierarchy.hierarchy import Hierarchy
from ramify.local.linear import logistic_probabilities

__all__ = ["ConstantClassifier", "LocalModel", "Queries"]


@savable
class ConstantClassifier(BaseEstimator):  # type: ignore[misc]
    """Classifier that predicts constants, used if all training rows agree.

    Parameters
    ----------
    probabilities : tuple of float
        The probability of each label of the local problem, 0 or 1.

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
            Input rows.

        Returns
        -------
        ndarray of shape (n, n_labels)
            One column per label of the local problem.
        """
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        return np.tile(np.asarray(self.probabilities, dtype=np.float64), (n_rows, 1))


@savable
@dataclass(frozen=True)
class LocalModel:
    """A fitted local model and the labels that it predicts.

    Attributes
    ----------
    estimator : estimator or Tree
        The model; only the tree of a PCTClassifier.
    labels : tuple of int
        Positions of the labels of the local problem.
    shares : tuple of float or None
        For each label, 0 or 1 if all training rows agree, in which case the model is not used;
        None if the model has learnt the label.
    answer : str
        Form of the predictions: "columns" for one column per learnt label, as classifiers of
        ramify return them, or a form of `ramify._base.foreign.Question`.
    """

    estimator: Any
    labels: tuple[int, ...]
    shares: tuple[float | None, ...]
    answer: str = "columns"

    _saved_schema: ClassVar[Schema] = {
        "labels": TupleOf(Whole(0, "n_labels"), "n_own"),
        "shares": TupleOf(Maybe(Number(0, 1)), "n_own"),
        "estimator": AnyOf(TreeOf("n_features", "n_own"), Fitted("n_features", method=None)),
        "answer": Text(("columns", *ANSWERS)),
    }

    @property
    def learnt(self) -> list[int]:
        """The labels that the model has learnt."""
        pairs = zip(self.labels, self.shares, strict=True)
        return [label for label, share in pairs if share is None]

    def check(self, n_labels: int) -> None:
        """Raise an error if a model, e.g. from a file, does not fit the labels of a hierarchy."""
        if (
            not all(type(label) is int and 0 <= label < n_labels for label in self.labels)
            or not all(share is None or isinstance(share, float) for share in self.shares)
            or len(self.shares) != len(self.labels)
            or self.answer not in ("columns", *ANSWERS)
            or not isinstance(self.estimator, BaseEstimator | _core.Tree)
            or (self.answer != "columns" and isinstance(self.estimator, _core.Tree))
            or (
                isinstance(self.estimator, _core.Tree)
                and self.estimator.value_label.max(initial=-1) >= len(self.learnt)
            )
        ):
            raise ValueError(f"a local model does not fit {n_labels} labels")


class Queries:
    """Rows for which many local models predict.

    Parameters
    ----------
    X : ndarray or csr_array
        The rows as returned by `read_features`, for classifiers of ramify.
    given : ndarray, csr_array or data frame
        The rows for classifiers of other libraries.
    hierarchy : Hierarchy
        The labels of the models.
    clus : bool
        Whether trees combine branches in CLUS's order of operations.
    """

    def __init__(self, X: Any, given: Any, hierarchy: Hierarchy, *, clus: bool = False) -> None:
        self.X = X
        self.given = given
        self.hierarchy = hierarchy
        self.clus = clus
        self._parts = csr_parts(X) if sparse.issparse(X) else None

    def take(self, rows: NDArray[np.intp]) -> Queries:
        """Return some of the rows, given in increasing order."""
        if len(rows) == self.X.shape[0]:
            return self
        X = self.X[rows]
        given = X if self.given is self.X else _safe_indexing(self.given, rows)
        return Queries(X, given, self.hierarchy, clus=self.clus)

    def predict(self, model: LocalModel) -> NDArray[np.float64]:
        """Return the probabilities of a model's labels, of shape (labels of the model, n)."""
        found = np.empty((len(model.labels), self.X.shape[0]))
        learnt = [k for k, share in enumerate(model.shares) if share is None]
        for row, share in zip(found, model.shares, strict=True):
            if share is not None:
                row[:] = share
        if learnt:
            found[learnt] = np.clip(self._predict_learnt(model), 0.0, 1.0).T
        return found

    def _predict_learnt(self, model: LocalModel) -> NDArray[np.float64]:
        """Return the predictions for the learnt labels, of shape (n, n_learnt)."""
        if model.answer == "columns":
            return self._predict_own(model.estimator, len(model.learnt))
        names = [self.hierarchy.labels[label] for label in model.learnt]
        question = Question(model.answer, names)
        found = logistic_probabilities(model.estimator, self.given)
        if found is None:
            return question.read(model.estimator, self.given)
        return question.read_probabilities(model.estimator, found)

    def _predict_own(self, model: Any, n_labels: int) -> NDArray[np.float64]:
        if not isinstance(model, _core.Tree):
            return np.asarray(model._predict_scores(self.X), dtype=np.float64)
        scores = np.zeros((self.X.shape[0], n_labels))
        if self._parts is None:
            model.predict(self.X, scores, 1.0, self.clus)
        else:
            model.predict_csr(*self._parts, scores, 1.0, self.clus)
        return scores
