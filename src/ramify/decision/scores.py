"""Validation of score matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core
from ramify._validation import canonical_scores
from ramify.hierarchy.hierarchy import Hierarchy

__all__ = ["check_coherent", "check_scores", "check_sparse_scores", "incoherent_error"]


def check_scores(scores: Any, hierarchy: Hierarchy) -> NDArray[np.float64]:
    """Return scores as a C-ordered matrix of finite numbers with one column per label.

    Parameters
    ----------
    scores : array-like of shape (n, n_labels)
        Columns in the order of ``hierarchy.labels``.
    hierarchy : Hierarchy
        The label hierarchy.

    Returns
    -------
    ndarray of float64, shape (n, n_labels)
        The input itself if it already has this form.

    Examples
    --------
    >>> check_scores([[0.5, 0.25]], Hierarchy.from_labels(["a", "b", "c"]))
    Traceback (most recent call last):
        ...
    ValueError: scores must have shape (n, 3), got (1, 2). Pass one column per label, in the order
    of hierarchy.labels.
    """
    values = np.asarray(scores)
    _check_form(values, hierarchy)
    values = np.ascontiguousarray(values, dtype=np.float64)
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0].tolist()
        raise _not_finite(values[row, column], row, hierarchy.labels[column])
    return values


def check_sparse_scores(scores: Any, hierarchy: Hierarchy) -> sparse.csr_array[np.float64]:
    """Return sparse scores as a csr_array of finite numbers with one column per label.

    Parameters
    ----------
    scores : sparse matrix of shape (n, n_labels)
        Columns in the order of ``hierarchy.labels``; scores that are not stored are 0.
    hierarchy : Hierarchy
        The label hierarchy.

    Returns
    -------
    csr_array of float64, shape (n, n_labels)
        With sorted columns in every row.
    """
    _check_form(scores, hierarchy)
    rows, bad = canonical_scores(scores)
    if bad is not None:
        row, column, value = bad
        raise _not_finite(value, row, hierarchy.labels[column])
    return rows


def _check_form(scores: Any, hierarchy: Hierarchy) -> None:
    if scores.dtype.kind not in "biuf":
        raise TypeError(
            f"scores must be numbers, got an array of type {scores.dtype}. Pass the result of "
            "predict_proba."
        )
    if scores.ndim != 2 or scores.shape[1] != hierarchy.n_labels:
        raise ValueError(
            f"scores must have shape (n, {hierarchy.n_labels}), got {scores.shape}. Pass one "
            "column per label, in the order of hierarchy.labels."
        )


def _not_finite(value: float, row: int, label: Any) -> ValueError:
    return ValueError(
        f"scores must be finite, got {value} in row {row} for label {label!r}. Replace NaN and "
        "infinity."
    )


def check_coherent(scores: NDArray[np.float64], hierarchy: Hierarchy) -> None:
    """Raise an error if the score of a label exceeds that of a parent."""
    if _core.first_incoherent_row(scores, *hierarchy.parent_rows) >= 0:
        raise incoherent_error(scores, hierarchy)


def incoherent_error(
    scores: NDArray[np.float64], hierarchy: Hierarchy, first_row: int = 0
) -> ValueError:
    """Build the error for scores in which a label exceeds one of its parents.

    `first_row` is the number of the first row of `scores`.
    """
    row = _core.first_incoherent_row(scores, *hierarchy.parent_rows)
    indptr, parents = hierarchy.parent_rows
    children = np.repeat(np.arange(hierarchy.n_labels), np.diff(indptr))
    edge = np.flatnonzero(scores[row, children] > scores[row, parents])[0]
    child, parent = children[edge], parents[edge]
    return ValueError(
        f"scores must not exceed those of the parents, got {scores[row, child]:.6g} for "
        f"{hierarchy.labels[child]!r} and {scores[row, parent]:.6g} for its parent "
        f"{hierarchy.labels[parent]!r} in row {first_row + row}. Use "
        "ramify.decision.make_coherent."
    )
