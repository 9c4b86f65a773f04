"""From scores to label sets that obey the hierarchy."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify.hierarchy import Hierarchy

__all__ = ["apply_threshold", "check_threshold", "most_probable_path"]


def check_threshold(threshold: Any, hierarchy: Hierarchy) -> NDArray[np.float64]:
    """Return one threshold per label that cannot break the hierarchy.

    A label is predicted when its probability reaches its threshold. If no label has a smaller
    threshold than one of its ancestors, coherent probabilities give label sets that are closed
    upwards.

    Parameters
    ----------
    threshold : float, array-like of shape (n_labels,) or dict of label to float
        One threshold for all labels, one per label, or those of some labels; a dict's other
        labels take 0.5.
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
    if not np.isfinite(values).all():
        raise ValueError(
            f"threshold holds {values[~np.isfinite(values)][0]}, but a threshold must be a number."
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
        Coherent scores: no label above its parents.
    threshold : float, array-like or dict
        As for `check_threshold`.
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
    chosen: Any = scores >= check_threshold(threshold, hierarchy)
    rows: Any = sparse.csr_array(chosen)
    return cast("sparse.csr_array[np.int32]", rows.astype(np.int32))


def most_probable_path(
    scores: NDArray[np.float64], hierarchy: Hierarchy
) -> sparse.csr_array[np.int32]:
    """Return one path per row: from the top, always to the most probable child.

    The walk ends where stopping is more probable than any child, with the share of a label that
    none of its children takes as the probability of stopping there. Every row gets at least one
    label.

    Parameters
    ----------
    scores : ndarray of shape (n, n_labels)
        Coherent probabilities.
    hierarchy : Hierarchy
        The labels.

    Returns
    -------
    csr_array of shape (n, n_labels)
        Label sets, closed upwards, with one most specific label each.

    Examples
    --------
    >>> import numpy as np
    >>> from ramify import Hierarchy
    >>> hierarchy = Hierarchy.from_paths(["animal/cat", "animal/dog", "plant"])
    >>> scores = np.array([[0.6, 0.5, 0.1, 0.4], [0.6, 0.1, 0.1, 0.4]])
    >>> hierarchy.decode(most_probable_path(scores, hierarchy))
    [('animal/cat',), ('animal',)]
    """
    top = np.flatnonzero(np.diff(hierarchy.parent_rows[0]) == 0)
    here = top[np.argmax(scores[:, top], axis=1)]
    child_indptr, child_indices = hierarchy.child_rows
    moving = np.arange(len(scores))
    while moving.size:
        moved = []
        for label in np.unique(here[moving]):
            children = child_indices[child_indptr[label] : child_indptr[label + 1]]
            if children.size == 0:
                continue
            rows = moving[here[moving] == label]
            part = scores[np.ix_(rows, children)]
            best = part.argmax(axis=1)
            stop = scores[rows, label] - part.sum(axis=1)
            onward = part[np.arange(len(rows)), best] >= stop
            here[rows[onward]] = children[best[onward]]
            moved.append(rows[onward])
        moving = np.concatenate(moved) if moved else moving[:0]
    chosen = sparse.csr_array(
        (np.ones(len(here), dtype=np.int32), here, np.arange(len(here) + 1)),
        shape=(len(here), hierarchy.n_labels),
    )
    return hierarchy.close(chosen)
