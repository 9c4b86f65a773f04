"""Fitting the classifier inside another one, and its scores: one column per label."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import _safe_indexing

from ramify._base.foreign import Question, check_takes_weights
from ramify.hierarchy.hierarchy import Hierarchy
from ramify.labels.encoding import EncodedLabels, LabelFormat

__all__ = ["check_rows", "fit_wrapped", "known_hierarchy", "label_scores"]


def known_hierarchy(estimator: Any, hierarchy: Hierarchy | None) -> Hierarchy | None:
    """Return the hierarchy given, or the one that a classifier has been given.

    Parameters
    ----------
    estimator : classifier
        The classifier to wrap, possibly inside a pipeline or a search.
    hierarchy : Hierarchy or None
        What the wrapping classifier was given.

    Returns
    -------
    Hierarchy or None
        None if nobody knows.
    """
    found = [value for value in _hierarchies(estimator).values() if value is not None]
    for other in found:
        if hierarchy is not None and other != hierarchy:
            raise ValueError(
                f"hierarchy is {hierarchy!r}, but the estimator has {other!r}. Give the hierarchy "
                "in one place only."
            )
    return found[0] if found else hierarchy


def _hierarchies(estimator: Any) -> dict[str, Hierarchy | None]:
    """Return the hierarchies of a classifier and of what is inside it, by parameter."""
    if isinstance(estimator, FrozenEstimator):
        fitted = getattr(estimator, "hierarchy_", None)
        return {} if fitted is None else {"hierarchy": fitted}
    return {
        name: value
        for name, value in estimator.get_params(deep=True).items()
        if name == "hierarchy" or name.endswith("__hierarchy")
    }


def _outermost(names: Collection[str]) -> list[str]:
    """Leave out the parameters of estimators inside one that has a hierarchy: it tells them."""
    owners = {name.removesuffix("hierarchy") for name in names}
    return [
        name
        for name in names
        if not any(name.startswith(owner) for owner in owners - {name.removesuffix("hierarchy")})
    ]


def check_rows(X: Any) -> Any:
    """Return X in a layout whose rows can be picked; the estimator checks the rest."""
    if sparse.issparse(X):
        matrix: Any = X
        return matrix.tocsr()
    rows = X if hasattr(X, "shape") else np.asarray(X)
    if np.iscomplexobj(rows):
        raise ValueError("Complex data not supported: X holds complex numbers. Give real ones.")
    return rows


def fit_wrapped(
    estimator: Any,
    X: Any,
    encoded: EncodedLabels,
    weights: NDArray[np.float64] | None,
    rows: NDArray[np.intp] | None = None,
) -> Any:
    """Fit a copy of a classifier.

    One of ours, or a pipeline or search around one of ours, gets labels in the format in which
    they came, and the hierarchy where it has none. Any other gets a dense label matrix, or, for
    labels in a format with one label per row, one class per row.

    Parameters
    ----------
    estimator : classifier
        With `predict_proba`. A FrozenEstimator is not fitted again.
    X : array-like, sparse matrix or data frame
        What the classifier takes.
    encoded : EncodedLabels
        The labels of all rows of X.
    weights : ndarray of shape (n,), optional
        Row weights for its `fit`.
    rows : ndarray of int, optional
        Take these rows only.

    Returns
    -------
    classifier
        The fitted copy.
    """
    model = clone(estimator)
    names = _hierarchies(model)
    unset = {name: encoded.hierarchy for name in _outermost(names) if names[name] is None}
    if unset:
        model.set_params(**unset)
    Y = encoded.Y if rows is None else encoded.Y[rows]
    y = encoded.format.write(Y) if names else _write_plain(Y, encoded.format)
    options = {}
    if weights is not None:
        check_takes_weights(model)
        options["sample_weight"] = weights if rows is None else weights[rows]
    model.fit(X if rows is None else _safe_indexing(X, rows), y, **options)
    if not hasattr(model, "predict_proba"):
        raise TypeError(
            f"estimator is {type(estimator).__name__}, which has no predict_proba. Give a "
            "classifier that predicts probabilities."
        )
    return model


def _question(format: LabelFormat) -> Question:
    """Return how labels in a format are put to classifiers that know of no hierarchy."""
    return Question.about(range(format.hierarchy.n_labels), exclusive=format.single_label)


def _write_plain(Y: sparse.csr_array[np.int32], format: LabelFormat) -> NDArray[Any]:
    """Return labels as scikit-learn's own classifiers take them; classes are label positions."""
    question = _question(format)
    if question.answer != "classes":
        return question.write(Y)
    return format.hierarchy.indices([row[0] for row in format.hierarchy.decode(Y)])


def label_scores(model: Any, X: Any, format: LabelFormat) -> NDArray[np.float64]:
    """Return the probabilities of a classifier that `fit_wrapped` fitted, a column per label.

    Parameters
    ----------
    model : fitted classifier
        Ours or any other.
    X : array-like, sparse matrix or data frame
        What it predicts on.
    format : LabelFormat
        The format of the labels it was fitted on.

    Returns
    -------
    ndarray of shape (n, n_labels)
        Not coherent, unless the classifier's answer is.
    """
    n_labels = format.hierarchy.n_labels
    if _hierarchies(model):
        scores = np.asarray(model.predict_proba(X), dtype=np.float64)
    else:
        question = _question(format)
        scores = question.read(model, X)
        if question.answer == "classes":
            scores = _summed_upwards(scores, format.hierarchy)
    if scores.ndim != 2 or scores.shape[1] != n_labels:
        raise ValueError(
            f"estimator {type(model).__name__} predicts probabilities of shape {scores.shape}, "
            f"but there are {n_labels} labels. Give a classifier with a column per label."
        )
    return scores


def _summed_upwards(answer: NDArray[np.float64], hierarchy: Hierarchy) -> NDArray[np.float64]:
    """Return what labels have with all below them, from the probabilities of exclusive classes."""
    indptr, indices = hierarchy.ancestor_rows
    n_labels = hierarchy.n_labels
    ones = np.ones(len(indices))
    above = sparse.csr_array((ones, indices, indptr), shape=(n_labels, n_labels))
    counts: Any = above + sparse.eye_array(n_labels, format="csr")
    # Not a dense product: that of BLAS would let a row depend on the others in its last digits.
    sums = sparse.csr_array(counts.T) @ answer.T
    return np.minimum(np.ascontiguousarray(sums.T, dtype=np.float64), 1.0)
