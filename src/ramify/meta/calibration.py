"""A classifier whose probabilities are calibrated label by label."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify._validation import Label, check_choice, check_number
from ramify.hierarchy.hierarchy import Hierarchy
from ramify.meta.calibrators import Calibrator, fit_isotonic, fit_sigmoid
from ramify.meta.held_out import HeldOut, HeldOutClassifier

__all__ = ["CalibratedHierarchicalClassifier"]


class CalibratedHierarchicalClassifier(HeldOutClassifier):
    """Turn the scores of a classifier into probabilities that are frequencies.

    Any classifier of label sets is fitted in cross-validation; for every label a rising curve
    from score to frequency is learnt on the rows left out; the classifier is fitted again on all
    rows. Its scores go through the curves of their labels and are then made coherent, so that no
    label is more probable than its parents.

    Parameters
    ----------
    estimator : classifier
        One of ours, a pipeline with one of ours, or any other with `predict_proba` for label
        matrices. A fitted one in scikit-learn's FrozenEstimator is used as it is.
    hierarchy : Hierarchy, optional
        The labels. None takes the estimator's, or infers them from y.
    method : {"isotonic", "sigmoid"}
        The curve: any rising steps, for labels with many rows, or Platt's sigmoid, for few.
    min_positives : int
        A label with fewer rows that have it, or fewer that do not, keeps its scores as they are.
        So does one whose sigmoid would fall.
    cv : int, splitter or iterable of (train, test)
        The number of folds, drawn at random, or how to split the rows.
    coherence : {"isotonic", "max", "min"}
        How calibrated scores are repaired that break the hierarchy; see
        `ramify.decision.make_coherent`.
    n_jobs : int, optional
        The number of folds to fit at a time, -1 for all cores.
    random_state : int, RandomState instance or None
        Draws the folds if `cv` is a number.

    Attributes
    ----------
    calibrators_ : tuple of n_labels calibrators
        The curves, None for labels that keep their scores; a call maps scores to probabilities.
    calibrated_labels_ : tuple of labels
        The labels that have one.
    estimator_ : classifier
        The classifier fitted on all rows.
    hierarchy_ : Hierarchy
        The hierarchy given or inferred.
    classes_ : ndarray of shape (n_labels,)
        The labels, in the order of the columns of `predict_proba`.
    n_features_in_ : int
        The number of features, if the estimator tells.
    feature_names_in_ : ndarray of str
        Their names, if the estimator knows them.

    Notes
    -----
    If y has one label or path per row in a tree, probabilities are divided by the sum of those at
    the top, which then add up to 1.

    Examples
    --------
    >>> from ramify import CalibratedHierarchicalClassifier, PCTClassifier, load_animals
    >>> data = load_animals()
    >>> X, y, X_test, y_test = data.X[::2], data.y[::2], data.X[1::2], data.y[1::2]
    >>> tree = PCTClassifier(data.hierarchy, random_state=0)
    >>> calibrated = CalibratedHierarchicalClassifier(tree, method="sigmoid", random_state=0)
    >>> scores = calibrated.fit(X, y).predict_proba(X_test)
    >>> errors = (calibrated.estimator_.predict_proba(X_test) - y_test) ** 2
    >>> bool(((scores - y_test) ** 2).mean() < errors.mean())
    True
    """

    calibrators_: tuple[Calibrator | None, ...]

    def __init__(
        self,
        estimator: Any,
        *,
        hierarchy: Hierarchy | None = None,
        method: str = "isotonic",
        min_positives: int = 10,
        cv: Any = 5,
        coherence: str = "isotonic",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.hierarchy = hierarchy
        self.method = method
        self.min_positives = min_positives
        self.cv = cv
        self.coherence = coherence
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_choice("method", self.method, ("isotonic", "sigmoid"))
        check_number("min_positives", self.min_positives, 1, whole=True)

    def _learn_from(self, held_out: HeldOut) -> None:
        counted = held_out.weights > 0
        Y, scores = held_out.Y[counted], held_out.scores[counted]
        weights = held_out.weights[counted]
        positives = np.bincount(Y.indices, minlength=Y.shape[1])
        columns = Y.tocsc()
        fit = fit_isotonic if self.method == "isotonic" else fit_sigmoid
        found: list[Calibrator | None] = []
        for label, n_positive in enumerate(positives):
            if min(n_positive, len(scores) - n_positive) < self.min_positives:
                found.append(None)
                continue
            truth = np.zeros(len(scores))
            truth[columns.indices[columns.indptr[label] : columns.indptr[label + 1]]] = 1.0
            found.append(fit(scores[:, label], truth, weights))
        self.calibrators_ = tuple(found)

    @property
    def calibrated_labels_(self) -> tuple[Label, ...]:
        """The labels that have a calibrator."""
        pairs = zip(self.hierarchy_.labels, self.calibrators_, strict=True)
        return tuple(label for label, calibrator in pairs if calibrator is not None)

    def _predict_scores(self, X: Any) -> NDArray[np.float64]:
        scores = super()._predict_scores(X)
        for label, calibrator in enumerate(self.calibrators_):
            if calibrator is not None:
                scores[:, label] = calibrator(scores[:, label])
        scores = self._coherent(scores)
        if self.format_.single_label and self.hierarchy_.is_tree:
            return _with_top_sum_one(scores, self.hierarchy_)
        return scores


def _with_top_sum_one(scores: NDArray[np.float64], hierarchy: Hierarchy) -> NDArray[np.float64]:
    """Divide every row by the sum over its top-level labels; where that is 0, they share 1."""
    top = hierarchy.indices(hierarchy.levels[0])
    sums = scores[:, top].sum(axis=1)
    empty = sums == 0
    divided = scores / np.where(empty, 1.0, sums)[:, None]
    divided[np.ix_(empty, top)] = 1 / len(top)
    return np.minimum(divided, 1.0)
