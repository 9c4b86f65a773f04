"""Labels of a level that have the same name as one class, and models of such classes.

A class may then have several parents, and a row that has the class has only one of them: label
sets are not closed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import available_if

from ramify._base.classifier import StagedClassifier
from ramify.boosting import HierarchicalAdaBoostMHClassifier
from ramify.labels.hierarchy import Hierarchy

Matrix = NDArray[np.int32]


def merge_labels(
    y: sparse.csr_array[np.int32], hierarchy: Hierarchy, rows: NDArray[np.intp]
) -> tuple[sparse.csr_array[np.int32], Hierarchy]:
    """Merge labels of a level with the same last segment; keep those that some rows have.

    >>> tree = Hierarchy.from_paths(["a/x", "b/x", "b/y"])
    >>> y = tree.encode([["a/x"], ["b/x"], ["b/y"]])
    >>> merged, classes = merge_labels(y, tree, np.arange(2))
    >>> classes.labels, classes.parents("2:x")
    (('1:a', '1:b', '2:x'), ('1:a', '1:b'))
    >>> merged.toarray()
    array([[1, 0, 1],
           [0, 1, 1],
           [0, 1, 0]], dtype=int32)
    """
    used = np.flatnonzero(np.asarray(y[rows].sum(axis=0)).ravel())
    labels = [hierarchy.labels[label] for label in used.tolist()]
    level_of = {one: number for number, own in enumerate(hierarchy.levels, 1) for one in own}
    name_of = {
        label: f"{level_of[label]}:{str(label).rpartition(hierarchy.separator)[2]}"
        for label in hierarchy.labels
    }
    edges = {
        (name_of[parent], name_of[label])
        for label in labels
        for parent in hierarchy.parents(label)
    }
    roots = {name_of[label] for label in labels if not hierarchy.parents(label)}
    merged = Hierarchy.from_edges(sorted({*edges, *(("root", one) for one in roots)}), root="root")
    column = {label: number for number, label in enumerate(merged.labels)}
    places = np.array([column.get(name_of[label], -1) for label in hierarchy.labels])
    cells = sparse.coo_array(y)
    kept = (cells.data != 0) & (places[cells.col] >= 0)
    ones = np.ones(int(kept.sum()), dtype=np.int32)
    shape = (y.shape[0], merged.n_labels)
    found = sparse.csr_array((ones, (cells.row[kept], places[cells.col[kept]])), shape=shape)
    return found, merged


class BoostingAlong(HierarchicalAdaBoostMHClassifier):
    """Boosting of flat labels whose costs and votes follow a hierarchy.

    A label may have a positive vote if one of its parents has one (`any_parent`), or all of them.
    """

    _above: Hierarchy
    _any_parent: bool

    @classmethod
    def like(cls, estimator: Any, hierarchy: Hierarchy, *, any_parent: bool) -> BoostingAlong:
        """Return an unfitted one with the parameters of another boosting."""
        made = cls(**estimator.get_params(deep=False))
        made._above, made._any_parent = hierarchy, any_parent
        return made

    @property
    def _graph(self) -> Hierarchy:
        return self._above

    def _options(self) -> Any:
        options = super()._options()
        options.any_parent = self._any_parent
        return options


class ModelPerLevel:
    """A classifier for each level, which predicts one of its labels.

    Rows without a label on a level are not used there; a label is predicted for all rows.
    """

    def __init__(self, hierarchy: Hierarchy, make: Callable[[], Any]) -> None:
        self.hierarchy = hierarchy
        self._make = make

    def fit(self, X: Any, y: Any) -> ModelPerLevel:
        """Fit a classifier for each level."""
        self.models_ = []
        for level in self.hierarchy.levels:
            columns = self.hierarchy.indices(level)
            here = sparse.coo_array(y[:, columns])
            found = np.full(y.shape[0], -1)
            found[here.row] = here.col
            rows = np.flatnonzero(found >= 0)
            model = self._make().fit(_safe_indexing(X, rows), found[rows])
            self.models_.append((columns, model))
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probabilities of the labels of all levels."""
        scores = np.zeros((X.shape[0], self.hierarchy.n_labels))
        for columns, model in self.models_:
            scores[:, columns[model.classes_]] = model.predict_proba(X)
        return scores

    def predict(self, X: Any) -> Matrix:
        """Return the predicted label of each level, as a binary matrix."""
        return best_of_levels(self.predict_proba(X), self.hierarchy)


class BestOfLevels:
    """A model of flat labels that predicts the label with the highest score of each level."""

    def __init__(self, hierarchy: Hierarchy, estimator: Any) -> None:
        self.hierarchy = hierarchy
        self.estimator_ = estimator

    def fit(self, X: Any, y: Any) -> BestOfLevels:
        """Fit the estimator."""
        self.estimator_.fit(X, y)
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the scores of the estimator."""
        return np.asarray(self.estimator_.predict_proba(X))

    def predict(self, X: Any) -> Matrix:
        """Return the label with the highest score of each level, as a binary matrix."""
        return best_of_levels(self.predict_proba(X), self.hierarchy)

    @available_if(lambda model: isinstance(model.estimator_, StagedClassifier))  # type: ignore[untyped-decorator]
    def staged_predict(self, X: Any) -> Iterator[Matrix]:
        """Yield the same after each round of a boosted model."""
        for scores in self.estimator_.staged_predict_proba(X):
            yield best_of_levels(scores, self.hierarchy)


def best_of_levels(scores: NDArray[np.float64], hierarchy: Hierarchy) -> Matrix:
    """Return a binary matrix with the label with the highest score of each level.

    >>> tree = Hierarchy.from_paths(["a/x", "b/x"])
    >>> tree.labels
    ('a', 'a/x', 'b', 'b/x')
    >>> best_of_levels(np.array([[0.6, 0.1, 0.4, 0.3]]), tree)
    array([[1, 0, 0, 1]], dtype=int32)
    """
    found = np.zeros(scores.shape, dtype=np.int32)
    for level in hierarchy.levels:
        columns = hierarchy.indices(level)
        best = columns[scores[:, columns].argmax(axis=1)]
        found[np.arange(len(scores)), best] = 1
    return found
