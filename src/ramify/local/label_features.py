"""Labels as features: models of a label that use the other labels of a row as features."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from ramify.labels.hierarchy import Hierarchy
from ramify.local.learning import Learner, LocalModel
from ramify.local.linear_classifier import LinearLearner
from ramify.local.problems import LocalProblem
from ramify.local.trees import OwnLearner, TreeLearner, make_learner
from ramify.trees.tree_data import TreeData


def without_column(Y: sparse.csr_array[np.int32], column: int | None) -> Any:
    """Return a label matrix with one column set to zero, so nothing can be learnt from it.

    >>> without_column(sparse.csr_array([[1, 1], [0, 1]]), 1).toarray().tolist()
    [[1, 0], [0, 0]]
    """
    if column is None:
        return Y
    kept = Y.indices != column
    counts = np.concatenate([[0], np.cumsum(kept)])
    parts = (Y.data[kept], Y.indices[kept], counts[Y.indptr])
    return sparse.csr_array(parts, shape=Y.shape)


def join_labels(X: Any, Y: sparse.csr_array[np.int32], hidden: int | None) -> Any:
    """Append a column for each label to X, zeros for the hidden one; sparse if X is sparse."""
    labels = without_column(Y, hidden)
    if sparse.issparse(X):
        parts: list[Any] = [X, labels.astype(np.float64)]
        return sparse.csr_array(sparse.hstack(parts, format="csr"))
    return np.hstack([X, labels.toarray().astype(X.dtype)])


class LabelledLearner(Learner):
    """Learns the problem of each label from X and the other labels."""

    def __init__(self, estimator: Any, data: TreeData, hierarchy: Hierarchy) -> None:
        super().__init__(estimator, data, hierarchy)
        inner = self._make_inner(None)  # rejects unsuitable estimators before any work is done
        self.prefer = inner.prefer
        # Trees of ramify share one matrix for all labels; other classifiers need one per label.
        self._shared = inner if isinstance(inner, TreeLearner) else None

    def prepare(self) -> None:
        """Prepare features and labels once if the learner can hide one of them."""
        if self._shared is not None:
            self._shared.prepare()

    def learn(self, problem: LocalProblem, seed: int | None) -> LocalModel:
        """Learn one label; see `Learner`."""
        (label,) = problem.labels
        if self._shared is not None:
            hidden = self.data.n_features + label
            return self._shared.learn(replace(problem, hidden=hidden), seed)
        inner = self._make_inner(label)
        inner.prepare()
        return inner.learn(problem, seed)

    def _make_inner(self, hidden: int | None) -> Learner:
        data = self.data
        joined = data.with_features(
            join_labels(data.X, data.Y, hidden), data.schema.with_numeric(data.Y.shape[1])
        )
        found = make_learner(self.estimator, joined, self.hierarchy)
        if isinstance(found, LinearLearner):  # its columns would differ between labels
            found = OwnLearner(self.estimator, joined, self.hierarchy)
        return found
