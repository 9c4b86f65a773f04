"""Predictions after each round, for classifiers that learn in rounds."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify._base.classifier import HierarchicalClassifier

__all__ = ["StagedClassifier"]


class StagedClassifier(HierarchicalClassifier):
    """Base class of classifiers whose rounds add to the scores of the previous ones."""

    @abstractmethod
    def _staged_scores(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Check X and yield the probabilities after each round."""

    def staged_predict_proba(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Yield the probabilities after each round.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows with the same features as in `fit`.

        Yields
        ------
        ndarray of shape (n, n_labels)
            The result of `predict_proba` after each round.
        """
        yield from self._staged_scores(X)

    def staged_predict(self, X: Any) -> Iterator[Any]:
        """Yield the predictions after each round.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Rows with the same features as in `fit`.

        Yields
        ------
        array or list
            The result of `predict` after each round.
        """
        for scores in self._staged_scores(X):
            yield self.format_.write(self._decide(scores, None))
