"""Labels whose score reaches a threshold, under thresholds that cannot break the hierarchy."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify.decision.scores import check_scores, incoherent_error
from ramify.hierarchy.hierarchy import Hierarchy

__all__ = ["apply_threshold", "check_threshold"]


def check_threshold(threshold: Any, hierarchy: Hierarchy) -> NDArray[np.float64]:
    """Return one threshold per label that cannot break the hierarchy.

    A label is predicted when its probability reaches its threshold. If no label has a smaller
    threshold than one of its ancestors, coherent probabilities give label sets that are closed
    upwards.

    Parameters
    ----------
    threshold : float, array-like of shape (n_labels,) or dict of label to float
        One threshold for all labels, one per label, or those of some labels; a dict's other
        labels take 0.5. Infinity keeps a label from ever being predicted.
    hierarchy : Hierarchy
        The labels.

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
    ValueError: threshold of 'animal/cat' is 0.5, below 0.9 of its parent 'animal': the parent
    could be denied while the child is predicted. Raise the child's or lower the parent's.
    """
    if isinstance(threshold, dict):
        values = np.full(hierarchy.n_labels, 0.5)
        for label, value in threshold.items():
            values[hierarchy.index(label)] = value
    else:
        values = np.asarray(threshold, dtype=np.float64)
        if values.ndim == 0:
            values = np.full(hierarchy.n_labels, float(values))
    if values.shape != (hierarchy.n_labels,):
        raise ValueError(
            f"threshold has shape {values.shape}, but there are {hierarchy.n_labels} labels. Give "
            f"one number, or one per label: shape ({hierarchy.n_labels},)."
        )
    if np.isnan(values).any():
        label = hierarchy.labels[int(np.flatnonzero(np.isnan(values))[0])]
        raise ValueError(
            f"threshold of {label!r} is nan, but a threshold must be a number. Infinity keeps a "
            "label from ever being predicted."
        )
    indptr, parents = hierarchy.parent_rows
    children = np.repeat(np.arange(hierarchy.n_labels), np.diff(indptr))
    broken = np.flatnonzero(values[children] < values[parents])
    if broken.size:
        child, parent = children[broken[0]], parents[broken[0]]
        raise ValueError(
            f"threshold of {hierarchy.labels[child]!r} is {values[child]:g}, below "
            f"{values[parent]:g} of its parent {hierarchy.labels[parent]!r}: the parent could be "
            "denied while the child is predicted. Raise the child's or lower the parent's."
        )
    return values


def apply_threshold(
    scores: NDArray[np.float64], threshold: Any, hierarchy: Hierarchy
) -> sparse.csr_array[np.int32]:
    """Return the labels whose score reaches their threshold.

    Parameters
    ----------
    scores : ndarray of shape (n, n_labels)
        Coherent scores: no label above its parents. `make_coherent` repairs others.
    threshold : float, array-like or dict
        One threshold for all labels, one per label, or those of some labels; the other labels of
        a dict take 0.5. No label may have a smaller threshold than one of its ancestors.
    hierarchy : Hierarchy
        The labels.

    Returns
    -------
    csr_array of shape (n, n_labels)
        Label sets, closed upwards.

    Examples
    --------
    >>> import numpy as np
    >>> from ramify import Hierarchy
    >>> hierarchy = Hierarchy.from_paths(["animal/cat", "plant"])
    >>> apply_threshold(np.array([[0.9, 0.4, 0.1]]), 0.3, hierarchy).toarray()
    array([[1, 1, 0]], dtype=int32)
    """
    values = check_scores(scores, hierarchy)
    chosen: Any = values >= check_threshold(threshold, hierarchy)
    rows = cast("sparse.csr_array[np.int32]", sparse.csr_array(chosen).astype(np.int32))
    if hierarchy.close(rows).nnz > rows.nnz:
        raise incoherent_error(values, hierarchy)
    return rows
