"""Fitting a wrapped classifier and reading its scores, one column per label."""

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
from ramify._frames import in_memory
from ramify.hierarchy.hierarchy import Hierarchy
from ramify.labels.encoding import EncodedLabels, LabelFormat

__all__ = ["check_rows", "fit_wrapped", "known_hierarchy", "knows_hierarchy", "label_scores"]


def known_hierarchy(estimator: Any, hierarchy: Hierarchy | None) -> Hierarchy | None:
    """Return the hierarchy of a meta-estimator or of the classifier that it wraps.

    Parameters
    ----------
    estimator : classifier
        The wrapped classifier, possibly inside a pipeline or a search.
    hierarchy : Hierarchy or None
        The parameter `hierarchy` of the meta-estimator.

    Returns
    -------
    Hierarchy or None
        None if neither has one.
    """
    found = [value for value in _hierarchies(estimator).values() if value is not None]
    for other in found:
        if hierarchy is not None and other != hierarchy:
            raise ValueError(
                f"hierarchy must equal the hierarchy of estimator, got {hierarchy!r} and "
                f"{other!r}. Pass the hierarchy in one place only."
            )
    return found[0] if found else hierarchy


def knows_hierarchy(estimator: Any) -> bool:
    """Return whether a classifier, or one inside it, is given the hierarchy."""
    return bool(_hierarchies(estimator))


def _hierarchies(estimator: Any) -> dict[str, Hierarchy | None]:
    """Return the hierarchies of a classifier and the estimators inside it, by parameter name."""
    if isinstance(estimator, FrozenEstimator):
        fitted = getattr(estimator, "hierarchy_", None)
        return {} if fitted is None else {"hierarchy": fitted}
    return {
        name: value
        for name, value in estimator.get_params(deep=True).items()
        if name == "hierarchy" or name.endswith("__hierarchy")
    }


def _outermost(names: Collection[str]) -> list[str]:
    """Drop parameters of estimators nested in one with a hierarchy, which passes it on."""
    owners = {name.removesuffix("hierarchy") for name in names}
    return [
        name
        for name in names
        if not any(name.startswith(owner) for owner in owners - {name.removesuffix("hierarchy")})
    ]


def check_rows(X: Any) -> Any:
    """Return X in a layout whose rows can be indexed; the estimator checks everything else."""
    if sparse.issparse(X):
        matrix: Any = X
        return matrix.tocsr()
    X = in_memory(X, "X")
    rows = X if hasattr(X, "shape") else np.asarray(X)
    if np.iscomplexobj(rows):
        raise ValueError(
            f"Complex data not supported: X must be real, got {rows.dtype}. Pass real numbers."
        )
    return rows


def fit_wrapped(
    estimator: Any,
    X: Any,
    encoded: EncodedLabels,
    weights: NDArray[np.float64] | None,
    rows: NDArray[np.intp] | None = None,
) -> Any:
    """Fit a copy of a classifier.

    A classifier of ramify, or a pipeline or search around one, gets labels in their original
    format, and the hierarchy if it has none. Any other classifier gets a dense label matrix, or
    one class per row if the format has one label per row.

    Parameters
    ----------
    estimator : classifier
        A classifier with `predict_proba`. A FrozenEstimator is not fitted again.
    X : array-like, sparse matrix or data frame
        Training rows in a form that the classifier accepts.
    encoded : EncodedLabels
        The labels of all rows of X.
    weights : ndarray of shape (n,), optional
        Sample weights for the classifier's `fit`.
    rows : ndarray of int, optional
        Fit on these rows only.

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
            f"estimator must have predict_proba, got {type(estimator).__name__}. Pass a "
            "classifier that predicts probabilities."
        )
    return model


def _question(format: LabelFormat) -> Question:
    """Return how labels in a format are passed to classifiers without a hierarchy."""
    return Question.about(range(format.hierarchy.n_labels), exclusive=format.single_label)


def _write_plain(Y: sparse.csr_array[np.int32], format: LabelFormat) -> NDArray[Any]:
    """Return labels as scikit-learn's classifiers accept them; classes are label positions."""
    question = _question(format)
    if question.answer != "classes":
        return question.write(Y)
    return format.hierarchy.indices([row[0] for row in format.hierarchy.decode(Y)])


def label_scores(model: Any, X: Any, format: LabelFormat) -> NDArray[np.float64]:
    """Return the probabilities of a classifier fitted by `fit_wrapped`, one column per label.

    Parameters
    ----------
    model : fitted classifier
        A classifier of ramify or any other.
    X : array-like, sparse matrix or data frame
        Input rows.
    format : LabelFormat
        The format of the labels that the classifier was fitted on.

    Returns
    -------
    ndarray of shape (n, n_labels)
        Probabilities; coherent only if those of the classifier are.
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
            f"predict_proba of estimator must have shape (n, {n_labels}), got {scores.shape} from "
            f"{type(model).__name__}. Pass a classifier that predicts one column per label."
        )
    return scores


def _summed_upwards(answer: NDArray[np.float64], hierarchy: Hierarchy) -> NDArray[np.float64]:
    """Add the probabilities of exclusive classes to all their ancestors."""
    indptr, indices = hierarchy.ancestor_rows
    n_labels = hierarchy.n_labels
    ones = np.ones(len(indices))
    above = sparse.csr_array((ones, indices, indptr), shape=(n_labels, n_labels))
    counts: Any = above + sparse.eye_array(n_labels, format="csr")
    # A dense product by BLAS would make the last digits of a row depend on the other rows.
    sums = sparse.csr_array(counts.T) @ answer.T
    return np.minimum(np.ascontiguousarray(sums.T, dtype=np.float64), 1.0)
