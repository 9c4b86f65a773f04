"""Label powersets by level: the labels of a row on each level are one class (HMC-LP)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from ramify._base.classifier import USUAL, Asked
from ramify._schema import Fitted, Schema, Sparse
from ramify.data.rows import indicator_of_lists
from ramify.labels.encoding import EncodedLabels
from ramify.labels.hierarchy import Hierarchy
from ramify.local.classifiers import PerParentClassifier
from ramify.meta.base import WrappingClassifier


class LevelPowerset(WrappingClassifier):
    """Label powerset per level, predicted from the top down (HMC-LP).

    The set of labels that a row has on a level is treated as one class. These sets form a tree, in
    which each row is a path, and a classifier at each node predicts the set on the next level
    (Cerri, de Carvalho and Freitas, 2011). If the probabilities of the classifier sum to 1,
    predicted label sets are label sets of training rows; otherwise they may contain only the upper
    levels of one.

    Parameters
    ----------
    estimator : classifier
        The classifier to fit at each node: any scikit-learn compatible multiclass classifier or
        one of ramify.
    hierarchy : Hierarchy, optional
        The label hierarchy. If None, a tree is inferred from path labels; all other labels are
        treated as flat. In a DAG, the level of a label is the length of its longest path from the
        root.
    coherence : {"isotonic", "max", "min"}
        How to repair rounding errors in probabilities; see `ramify.decision.make_coherent`.
    n_jobs : int, optional
        Number of classifiers to fit or predict with in parallel; -1 means all cores. The
        result does not depend on it.
    random_state : int, RandomState instance or None
        Controls the seeds of the classifiers. If None, the `random_state` of `estimator` is kept.
        Pass an int for reproducible results.

    Attributes
    ----------
    estimator_ : PerParentClassifier
        The classifiers fitted on the tree of label sets.
    sets_ : csr_array of shape (n_sets, n_labels)
        The label set of each node of the tree, including the labels of all levels above.
    hierarchy_ : Hierarchy
        The label hierarchy, as passed or as inferred from y.
    classes_ : ndarray of shape (n_labels,)
        The labels, in the order of the columns of `predict_proba`.

    Notes
    -----
    `predict` follows the most probable sets from the top down. With a threshold, it returns all
    labels with at least that probability instead.

    Examples
    --------
    >>> from ramify import LevelPowerset, PCTClassifier
    >>> X = [[1.0], [2.0], [3.0], [4.0]] * 3
    >>> y = [["animal/cat"], ["animal/cat", "plant"], ["animal/dog", "plant"], ["plant"]] * 3
    >>> model = LevelPowerset(PCTClassifier(random_state=0)).fit(X, y)
    >>> model.predict([[2.0], [4.0]])
    [['animal/cat', 'plant'], ['plant']]
    """

    sets_: Any

    _saved_schema: ClassVar[Schema] = {
        "sets_": Sparse(("n_sets", "n_labels"), "i4 i8", low=1, high=1),
        "estimator_": Fitted("n_features_in_", "n_sets"),
    }

    def __init__(
        self,
        estimator: Any,
        *,
        hierarchy: Hierarchy | None = None,
        coherence: str = "min",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.hierarchy = hierarchy
        self.coherence = coherence
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LevelPowerset:
        """Find the label sets of all levels and fit the classifiers.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Training rows in a form that the estimator accepts.
        y : array-like
            Labels of the n rows, in any format accepted by `ramify.labels.read_labels`.
        sample_weight : array-like of shape (n,), optional
            Sample weights.

        Returns
        -------
        LevelPowerset
            The fitted classifier.
        """
        X, encoded, weights = self._read_wrapped(X, y, sample_weight)
        names, tree = self._find_sets(encoded)
        model = PerParentClassifier(
            self.estimator, hierarchy=tree, n_jobs=self.n_jobs, random_state=self.random_state
        )
        given = None if sample_weight is None else weights
        self._keep_fitted(model.fit(X, names, sample_weight=given))
        return self

    def _find_sets(self, encoded: EncodedLabels) -> tuple[list[str], Hierarchy]:
        """Set `sets_`; return the node of each row and the tree of sets."""
        levels = encoded.hierarchy.label_levels
        nodes: dict[tuple[int, ...], str] = {}
        edges: list[tuple[str, str]] = []
        ends = []
        for start, stop in zip(encoded.Y.indptr[:-1], encoded.Y.indptr[1:], strict=True):
            labels = encoded.Y.indices[start:stop]
            above = "root"
            for level in range(1, max(1, levels[labels].max(initial=1)) + 1):
                key = tuple(labels[levels[labels] <= level].tolist())
                if key not in nodes:
                    nodes[key] = f"{len(nodes)}"
                    edges.append((above, nodes[key]))
                above = nodes[key]
            ends.append(above)
        tree = Hierarchy.from_edges(edges, root="root")
        keys = {name: key for key, name in nodes.items()}
        rows = [keys[str(name)] for name in tree.labels]
        self.sets_ = indicator_of_lists(rows, encoded.hierarchy.n_labels)
        return ends, tree

    def _predict_scores(self, X: Any) -> NDArray[np.float64]:
        """Sum, for each label, the probabilities of the sets on its level that contain it."""
        answers = np.asarray(self.estimator_.predict_proba(X))
        tree = self.estimator_.hierarchy_
        of_label = np.repeat(tree.label_levels, np.diff(self.sets_.indptr))
        own_level = of_label == self.hierarchy_.label_levels[self.sets_.indices]
        cells = sparse.csr_array(
            (own_level.astype(np.float64), self.sets_.indices, self.sets_.indptr),
            shape=self.sets_.shape,
        )
        sums = np.asarray(sparse.csr_array(cells.T) @ answers.T).T
        return self._coherent(np.ascontiguousarray(np.minimum(sums, 1.0)))

    def _predict_sets(self, X: Any, asked: Asked = USUAL) -> sparse.csr_array[np.int32]:
        if asked.threshold is not None:
            return super()._predict_sets(X, asked)
        check_is_fitted(self)
        names = self.estimator_.predict(X, decide=asked.decide)
        chosen = sparse.csr_array(self.sets_[self.estimator_.hierarchy_.indices(names)])
        empty = np.diff(chosen.indptr) == 0
        if self.format_.single_label and empty.any():  # predict one path per row nonetheless
            paths = self._decide(np.asarray(self.predict_proba(X)), asked)
            n_rows = np.arange(len(empty))
            both: Any = sparse.vstack([chosen, paths], format="csr")
            chosen = sparse.csr_array(both[np.where(empty, n_rows + len(empty), n_rows)])
        return chosen
