"""What every decision starts from: a checked matrix of scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify import _core
from ramify.hierarchy.hierarchy import Hierarchy

__all__ = ["check_coherent", "check_scores", "incoherent_error"]


def check_scores(scores: Any, hierarchy: Hierarchy) -> NDArray[np.float64]:
    """Return scores as a C-ordered matrix of finite numbers with a column per label.

    Parameters
    ----------
    scores : array-like of shape (n, n_labels)
        Columns in the order of ``hierarchy.labels``.
    hierarchy : Hierarchy
        The labels.

    Returns
    -------
    ndarray of float64, shape (n, n_labels)
        The same array where it is one already.

    Examples
    --------
    >>> check_scores([[0.5, 0.25]], Hierarchy.from_labels(["a", "b", "c"]))
    Traceback (most recent call last):
        ...
    ValueError: scores has shape (1, 2), but there are 3 labels. Give one row per example and one
    column per label, in the order of hierarchy.labels.
    """
    values = np.asarray(scores)
    if values.dtype.kind not in "biuf":
        raise TypeError(
            f"scores holds values of type {values.dtype}, but scores are numbers. Give the result "
            "of predict_proba."
        )
    if values.ndim != 2 or values.shape[1] != hierarchy.n_labels:
        raise ValueError(
            f"scores has shape {values.shape}, but there are {hierarchy.n_labels} labels. Give "
            "one row per example and one column per label, in the order of hierarchy.labels."
        )
    values = np.ascontiguousarray(values, dtype=np.float64)
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0].tolist()
        raise ValueError(
            f"scores holds {values[row, column]} in row {row} for {hierarchy.labels[column]!r}, "
            "but scores must be finite. Replace NaN and infinity."
        )
    return values


def check_coherent(scores: NDArray[np.float64], hierarchy: Hierarchy) -> None:
    """Refuse scores in which a label is above one of its parents."""
    if _core.first_incoherent_row(scores, *hierarchy.parent_rows) >= 0:
        raise incoherent_error(scores, hierarchy)


def incoherent_error(scores: NDArray[np.float64], hierarchy: Hierarchy) -> ValueError:
    """Build the error for scores in which a label is above one of its parents."""
    row = _core.first_incoherent_row(scores, *hierarchy.parent_rows)
    indptr, parents = hierarchy.parent_rows
    children = np.repeat(np.arange(hierarchy.n_labels), np.diff(indptr))
    edge = np.flatnonzero(scores[row, children] > scores[row, parents])[0]
    child, parent = children[edge], parents[edge]
    return ValueError(
        f"scores of row {row} give {hierarchy.labels[child]!r} {scores[row, child]:.6g}, above "
        f"{scores[row, parent]:.6g} of its parent {hierarchy.labels[parent]!r}. Repair them with "
        "ramify.decision.make_coherent."
    )
