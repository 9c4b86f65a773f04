"""Predictions for every row by a model that was fitted without it."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import numpy as np
from joblib import delayed
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from ramify._parallel import in_parallel
from ramify._validation import (
    check_choice,
    check_classifier,
    check_same_length,
    check_sample_weight,
)
from ramify.decision import make_coherent
from ramify.decision.best_sets import Answers
from ramify.labels.encoding import EncodedLabels, read_labels
from ramify.labels.hierarchy import Hierarchy
from ramify.meta.base import (
    check_rows,
    fit_wrapped,
    known_hierarchy,
    knows_hierarchy,
    label_scores,
)
from ramify.meta.thresholds import make_splits

Split = tuple[NDArray[np.intp], NDArray[np.intp]]


def cross_val_predict(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    hierarchy: Hierarchy | None = None,
    groups: Any = None,
    cv: Any = 5,
    method: str = "predict",
    sample_weight: Any = None,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> Any:
    """Predict each row with a model that was fitted without the fold of the row.

    All models are fitted with the hierarchy of all rows. Every fold therefore has the same
    columns, including those of labels that do not occur among its training rows. scikit-learn's
    function of the same name replaces labels with numbers before computing probabilities, which
    loses the hierarchy.

    Parameters
    ----------
    estimator : classifier
        A classifier of ramify, or any classifier with `predict_proba`; it may be inside a
        pipeline.
    X : array-like, sparse matrix or data frame of shape (n, n_features)
        Features.
    y : array-like
        Labels of the n rows, in any format accepted by `ramify.labels.read_labels`.
    hierarchy : Hierarchy, optional
        The label hierarchy. If None, that of `estimator`, or the one inferred from `y`.
    groups : array-like of shape (n,), optional
        Groups of the rows, such as the site or person that they come from. If `cv` is a number,
        all rows of a group are in the same fold.
    cv : int, splitter or iterable of (train, test)
        Number of random folds, or how to split the rows. Every row must be in one test fold.
    method : {"predict", "predict_proba"}
        What to predict.
    sample_weight : array-like of shape (n,), optional
        Sample weights for fitting.
    n_jobs : int, optional
        Number of folds to process in parallel.
    random_state : int, RandomState instance or None
        Controls the folds if `cv` is an integer.

    Returns
    -------
    ndarray of shape (n, n_labels), or labels
        For "predict_proba", coherent probabilities with columns in the order of the labels of the
        hierarchy (``read_labels(y).hierarchy.labels`` if it is inferred). For "predict", labels in
        the format of `y`.

    Examples
    --------
    >>> from ramify import PCTClassifier, read_labels
    >>> from ramify.model_selection import cross_val_predict
    >>> X = [[1], [2], [3], [4], [5], [6]]
    >>> y = ["pet/cat", "pet/cat", "pet/dog", "pet/dog", "plant", "plant"]
    >>> proba = cross_val_predict(PCTClassifier(), X, y, cv=3, method="predict_proba",
    ...                           random_state=0)
    >>> proba.shape, read_labels(y).hierarchy.labels
    ((6, 4), ('pet', 'pet/cat', 'pet/dog', 'plant'))
    """
    check_choice("method", method, ("predict", "predict_proba"))
    check_classifier(estimator)
    X = check_rows(X)
    encoded = read_labels(y, known_hierarchy(estimator, hierarchy))
    n_rows = encoded.Y.shape[0]
    check_same_length(_num_samples(X), n_rows)
    weights = None if sample_weight is None else check_sample_weight(sample_weight, n_rows)
    splits = make_splits(cv, X, y, n_rows, random_state, groups=groups)
    rows = np.concatenate([test for _, test in splits])
    if not np.array_equal(np.sort(rows), np.arange(n_rows)):
        raise ValueError(
            f"cv must put every row into exactly one test fold, got {len(rows)} test rows for "
            f"{n_rows} rows. Use KFold or another splitter that partitions the rows."
        )
    task = _scores if method == "predict_proba" else _label_sets
    tasks = (delayed(task)(estimator, X, encoded, weights, split) for split in splits)
    with closing(in_parallel(tasks, n_jobs=n_jobs)) as found:
        parts = list(found)
    order = np.argsort(rows)
    if method == "predict_proba":
        return np.concatenate(parts)[order]
    return encoded.format.write(sparse.csr_array(sparse.vstack(parts, format="csr"))[order])


def _scores(
    estimator: Any, X: Any, encoded: EncodedLabels, weights: Any, split: Split
) -> NDArray[np.float64]:
    """Return the probabilities of the test rows of a split."""
    train, test = split
    model = fit_wrapped(estimator, X, encoded, weights, train)
    scores = label_scores(model, _safe_indexing(X, test), encoded.format)
    return make_coherent(scores, encoded.hierarchy)


def _label_sets(
    estimator: Any, X: Any, encoded: EncodedLabels, weights: Any, split: Split
) -> sparse.csr_array[np.int32]:
    """Return the label sets of the test rows of a split, as the model decides them."""
    train, test = split
    model = fit_wrapped(estimator, X, encoded, weights, train)
    rows = _safe_indexing(X, test)
    if knows_hierarchy(model):
        return read_labels(model.predict(rows), encoded.hierarchy).Y
    scores = make_coherent(label_scores(model, rows, encoded.format), encoded.hierarchy)
    train_weights = np.ones(len(train)) if weights is None else weights[train]
    is_path = encoded.format.single_label
    answers = Answers.like(encoded.Y[train], encoded.hierarchy, train_weights, is_path=is_path)
    return answers.decide(scores, encoded.hierarchy, is_path=is_path)
