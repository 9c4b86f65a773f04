"""Prediction of labels whose score reaches a threshold."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core
from ramify.decision.scores import check_scores, check_sparse_scores, incoherent_error
from ramify.hierarchy.hierarchy import Hierarchy

__all__ = ["apply_threshold", "check_threshold"]


def check_threshold(threshold: Any, hierarchy: Hierarchy) -> NDArray[np.float64]:
    """Check thresholds and return one per label.

    A label is predicted if its probability reaches its threshold. If no label has a smaller
    threshold than any of its ancestors, coherent probabilities give label sets that contain all
    ancestors of their labels.

    Parameters
    ----------
    threshold : float, array-like of shape (n_labels,) or dict of label to float
        One threshold for all labels, one per label, or a dict; labels missing from a dict have the
        threshold 0.5. A label with threshold infinity is never predicted.
    hierarchy : Hierarchy
        The label hierarchy.

    Returns
    -------
    ndarray of shape (n_labels,)
        The thresholds.

    Examples
    --------
    >>> from ramify import Hierarchy
    >>> hierarchy = Hierarchy.from_paths(["animal/cat"])
    >>> check_threshold(0.3, hierarchy)
    array([0.3, 0.3])
    >>> check_threshold({"animal": 0.9}, hierarchy)
    Traceback (most recent call last):
        ...
    ValueError: threshold of a label must not be below that of its parent, got 0.5 for
    'animal/cat' and 0.9 for 'animal'. Raise the former or lower the latter.
    """
    if isinstance(threshold, dict):
        values = np.full(hierarchy.n_labels, 0.5)
        for label, value in threshold.items():
            values[hierarchy.index(label)] = value
    else:
        values = np.asarray(threshold, dtype=np.float64)
        if values.ndim == 0 and not np.isnan(values):
            return np.full(hierarchy.n_labels, float(values))
        if values.ndim == 0:
            values = np.full(hierarchy.n_labels, float(values))
    if values.shape != (hierarchy.n_labels,):
        raise ValueError(
            f"threshold must be a number or have shape ({hierarchy.n_labels},), got "
            f"{values.shape}. Pass one number, or one per label."
        )
    if np.isnan(values).any():
        label = hierarchy.labels[int(np.flatnonzero(np.isnan(values))[0])]
        raise ValueError(
            f"threshold must not be NaN, got NaN for label {label!r}. Use infinity for labels "
            "that are never to be predicted."
        )
    indptr, parents = hierarchy.parent_rows
    children = np.repeat(np.arange(hierarchy.n_labels), np.diff(indptr))
    broken = np.flatnonzero(values[children] < values[parents])
    if broken.size:
        child, parent = children[broken[0]], parents[broken[0]]
        raise ValueError(
            f"threshold of a label must not be below that of its parent, got {values[child]:g} "
            f"for {hierarchy.labels[child]!r} and {values[parent]:g} for "
            f"{hierarchy.labels[parent]!r}. Raise the former or lower the latter."
        )
    return values


def apply_threshold(
    scores: Any, threshold: Any, hierarchy: Hierarchy
) -> sparse.csr_array[np.int32]:
    """Predict the labels whose score reaches their threshold.

    Parameters
    ----------
    scores : array-like or sparse matrix of shape (n, n_labels)
        Coherent scores: no label exceeds its parents. Apply `make_coherent` to other scores first.
        Scores that a sparse matrix does not store are 0; with those of `predict_proba_sparse`, the
        label sets are the same as with all scores unless a threshold is below `min_proba`.
    threshold : float, array-like or dict
        One threshold for all labels, one per label, or a dict; labels missing from a dict have the
        threshold 0.5. No label may have a smaller threshold than one of its ancestors. For sparse
        scores, thresholds must be positive.
    hierarchy : Hierarchy
        The label hierarchy.

    Returns
    -------
    csr_array of shape (n, n_labels)
        Label matrix with ancestors.

    Examples
    --------
    >>> import numpy as np
    >>> from ramify import Hierarchy
    >>> hierarchy = Hierarchy.from_paths(["animal/cat", "plant"])
    >>> apply_threshold(np.array([[0.9, 0.4, 0.1]]), 0.3, hierarchy).toarray()
    array([[1, 1, 0]], dtype=int32)
    """
    if sparse.issparse(scores):
        return _apply_to_sparse(scores, check_threshold(threshold, hierarchy), hierarchy)
    values = check_scores(scores, hierarchy)
    chosen = values >= check_threshold(threshold, hierarchy)
    rows = _to_sparse(chosen)
    is_coherent = _core.first_incoherent_row(values, *hierarchy.parent_rows) < 0
    if not is_coherent and hierarchy.close(rows).nnz > rows.nnz:
        raise incoherent_error(values, hierarchy)
    return rows


def _apply_to_sparse(
    scores: Any, thresholds: NDArray[np.float64], hierarchy: Hierarchy
) -> sparse.csr_array[np.int32]:
    if not (thresholds > 0).all():
        label = int(np.flatnonzero(~(thresholds > 0))[0])
        raise ValueError(
            f"threshold must be positive for sparse scores, got {thresholds[label]:g} for "
            f"{hierarchy.labels[label]!r}. Pass dense scores to predict labels with a score of 0."
        )
    values: Any = check_sparse_scores(scores, hierarchy)
    chosen = (values.data >= thresholds[values.indices]).astype(np.int32)
    rows: sparse.csr_array[np.int32] = sparse.csr_array(
        (chosen, values.indices, values.indptr), shape=values.shape, copy=True
    )
    rows.eliminate_zeros()
    added = np.diff(hierarchy.close(rows).indptr) - np.diff(rows.indptr)
    if added.any():
        first = int(np.flatnonzero(added)[0])
        raise incoherent_error(values[[first]].toarray(), hierarchy, first)
    return rows


def _to_sparse(chosen: NDArray[np.bool_]) -> sparse.csr_array[np.int32]:
    """Convert an indicator matrix; for few rows, this is faster than scipy's conversion."""
    labels = np.nonzero(chosen)[1]
    starts = np.zeros(len(chosen) + 1, dtype=np.int64)
    np.cumsum(np.count_nonzero(chosen, axis=1), out=starts[1:])
    ones = np.ones(len(labels), dtype=np.int32)
    return sparse.csr_array((ones, labels, starts), shape=chosen.shape)
