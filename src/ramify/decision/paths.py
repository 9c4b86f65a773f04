"""Prediction of one path, or of the k best labels, of every row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core
from ramify.data.rows import as_label_rows, indicator
from ramify.decision.coherence import check_coherent, check_scores
from ramify.decision.thresholds import check_threshold
from ramify.labels.hierarchy import Hierarchy

__all__ = [
    "ArrayScores",
    "Scores",
    "confident_path",
    "find_ends",
    "most_probable_path",
    "paths_to",
    "read_candidates",
    "top_k_labels",
    "walk_to_candidates",
]

_GoesOn = Callable[[NDArray[np.float64], NDArray[np.float64], NDArray[Any]], NDArray[np.bool_]]


class Scores(Protocol):
    """Scores for a walk from the top down, which reads only those it needs."""

    n_rows: int

    def prepare(self, steps: list[tuple[NDArray[np.intp], NDArray[Any]]]) -> None:
        """Compute what the next step reads, given as pairs of rows and labels."""

    def read(self, rows: NDArray[np.intp], labels: NDArray[Any]) -> NDArray[np.float64]:
        """Return the scores of some labels, of shape (rows, labels), in C order."""


class ArrayScores:
    """Scores of all labels."""

    def __init__(self, values: NDArray[np.float64]) -> None:
        self.n_rows = len(values)
        self._values = values

    def prepare(self, steps: list[tuple[NDArray[np.intp], NDArray[Any]]]) -> None:
        """Do nothing: all scores are known."""

    def read(self, rows: NDArray[np.intp], labels: NDArray[Any]) -> NDArray[np.float64]:
        """Return the scores of some labels, of shape (rows, labels), in C order."""
        found: NDArray[np.float64] = self._values[np.ix_(rows, labels)]
        return found


def most_probable_path(
    scores: Any, hierarchy: Hierarchy, candidates: Any = None
) -> sparse.csr_array[np.int32]:
    """Predict one path per row, always descending to the most probable child.

    The path ends at a label if ending there is more probable than any child. The probability of
    ending at a label is its probability minus the sum over its children. Every row gets at least
    one label.

    Parameters
    ----------
    scores : array-like of shape (n, n_labels)
        Coherent probabilities.
    hierarchy : Hierarchy
        The label hierarchy.
    candidates : array-like of bool, shape (n_labels,), optional
        The labels at which a path may end; None means all. A path continues to the most probable
        child from which a candidate can be reached.

    Returns
    -------
    csr_array of shape (n, n_labels)
        Label matrix with ancestors and one most specific label per row.

    Examples
    --------
    >>> from ramify import Hierarchy
    >>> hierarchy = Hierarchy.from_paths(["animal/cat", "animal/dog", "plant"])
    >>> scores = [[0.6, 0.5, 0.1, 0.4], [0.6, 0.1, 0.2, 0.4]]
    >>> hierarchy.decode(most_probable_path(scores, hierarchy))
    [('animal/cat',), ('animal',)]
    >>> hierarchy.decode(most_probable_path(scores, hierarchy, [False, True, True, True]))
    [('animal/cat',), ('animal/dog',)]
    """
    values = check_scores(scores, hierarchy)
    return walk_to_candidates(ArrayScores(values), hierarchy, candidates)


def walk_to_candidates(
    scores: Scores, hierarchy: Hierarchy, candidates: Any = None
) -> sparse.csr_array[np.int32]:
    """Predict one path per row as `most_probable_path` does, from scores computed on demand."""
    ends = read_candidates(candidates, hierarchy)

    def likelier_than_stopping(
        here: NDArray[np.float64], below: NDArray[np.float64], best: NDArray[Any]
    ) -> NDArray[np.bool_]:
        chosen = np.take_along_axis(below, best[:, None], axis=1)[:, 0]
        return np.asarray(chosen >= here - below.sum(axis=1))

    found = _walk_down(scores, hierarchy, likelier_than_stopping, ends=ends)
    return paths_to(found, hierarchy)


def paths_to(ends: NDArray[Any], hierarchy: Hierarchy) -> sparse.csr_array[np.int32]:
    """Return one label with its ancestors per row."""
    return _closed(ends, np.arange(len(ends) + 1), hierarchy)


def read_candidates(candidates: Any, hierarchy: Hierarchy) -> NDArray[np.bool_] | None:
    """Return the labels at which paths may end as a mask; None means all."""
    if candidates is None:
        return None
    ends = np.asarray(candidates)
    if ends.shape != (hierarchy.n_labels,) or ends.dtype != bool:
        raise ValueError(
            f"candidates must be a boolean array of shape ({hierarchy.n_labels},), got "
            f"{ends.dtype} of shape {ends.shape}. Pass one value per label, or None."
        )
    if not ends.any():
        raise ValueError(
            "candidates must contain at least one label, got none. Pass None for all."
        )
    return ends


def confident_path(
    scores: Any, hierarchy: Hierarchy, confidence: Any = 0.5, *, allow_empty: bool = True
) -> sparse.csr_array[np.int32]:
    """Predict one path per row that ends before the first label whose probability is too low.

    Parameters
    ----------
    scores : array-like of shape (n, n_labels)
        Coherent probabilities.
    hierarchy : Hierarchy
        The label hierarchy.
    confidence : float, array-like of shape (n_labels,) or dict of label to float
        Minimum probability of a label on the path. As for thresholds in `check_threshold`, the
        value of a label must not be below that of its parents.
    allow_empty : bool
        Whether a row gets no label if its most probable top-level label is not probable enough. If
        False, the row gets that label.

    Returns
    -------
    csr_array of shape (n, n_labels)
        Label matrix with ancestors and at most one most specific label per row.

    Examples
    --------
    >>> from ramify import Hierarchy
    >>> from ramify.decision import confident_path
    >>> hierarchy = Hierarchy.from_paths(["animal/cat", "animal/dog", "plant"])
    >>> scores = [[0.9, 0.7, 0.2, 0.1], [0.9, 0.5, 0.4, 0.1], [0.5, 0.3, 0.2, 0.5]]
    >>> hierarchy.decode(confident_path(scores, hierarchy, 0.6))
    [('animal/cat',), ('animal',), ()]
    """
    values = check_scores(scores, hierarchy)
    check_coherent(values, hierarchy)
    wanted = check_threshold(confidence, hierarchy)
    # The confidence of a parent is at most that of its child, so if a label falls short, its
    # descendants do too.
    reached = np.where(values >= wanted, values, -np.inf)

    def certain_enough(
        _: NDArray[np.float64], below: NDArray[np.float64], best: NDArray[Any]
    ) -> NDArray[np.bool_]:
        return np.asarray(np.take_along_axis(below, best[:, None], axis=1)[:, 0] > -np.inf)

    ends = _walk_down(ArrayScores(reached), hierarchy, certain_enough, top=ArrayScores(values))
    kept = reached[np.arange(len(ends)), ends] > -np.inf
    if not allow_empty:
        kept[:] = True
    indptr = np.concatenate([[0], np.cumsum(kept)])
    return _closed(ends[kept], indptr, hierarchy)


def top_k_labels(
    scores: Any, hierarchy: Hierarchy, k: int, *, labels: str | int = "leaves"
) -> sparse.csr_array[np.int32]:
    """Predict the k labels with the largest scores, and their ancestors, for every row.

    Ties are resolved in favour of the label that comes first in the hierarchy.

    Parameters
    ----------
    scores : array-like of shape (n, n_labels)
        Scores; they need not be coherent.
    hierarchy : Hierarchy
        The label hierarchy.
    k : int
        Number of labels to choose in every row.
    labels : {"leaves", "all"} or int
        The candidates: leaves, all labels, or the labels of a level, 1 at the top.

    Returns
    -------
    csr_array of shape (n, n_labels)
        Label matrix with ancestors.

    Examples
    --------
    >>> from ramify import Hierarchy
    >>> from ramify.decision import top_k_labels
    >>> hierarchy = Hierarchy.from_paths(["animal/cat", "animal/dog", "plant"])
    >>> scores = [[0.8, 0.6, 0.2, 0.3]]
    >>> hierarchy.decode(top_k_labels(scores, hierarchy, 1))
    [('animal/cat',)]
    >>> hierarchy.decode(top_k_labels(scores, hierarchy, 2))
    [('animal/cat', 'plant')]
    """
    values = check_scores(scores, hierarchy)
    columns = _columns(labels, hierarchy)
    is_whole = isinstance(k, int | np.integer) and not isinstance(k, bool)
    if not is_whole or not 1 <= k <= len(columns):
        raise ValueError(
            f"k must be an integer from 1 to {len(columns)}, the number of labels to choose from, "
            f"got {k!r}."
        )
    best = np.argsort(-values[:, columns], axis=1, kind="stable")[:, :k]
    chosen = np.sort(columns[best], axis=1).ravel()
    return _closed(chosen, np.arange(len(values) + 1) * k, hierarchy)


def _columns(labels: str | int, hierarchy: Hierarchy) -> NDArray[np.int32]:
    if labels == "all":
        return np.arange(hierarchy.n_labels, dtype=np.int32)
    if labels == "leaves":
        return np.sort(hierarchy.indices(hierarchy.leaves))
    if isinstance(labels, int | np.integer) and 1 <= labels <= hierarchy.depth:
        return np.sort(hierarchy.indices(hierarchy.levels[int(labels) - 1]))
    raise ValueError(
        f"labels must be 'leaves', 'all' or a level from 1 to {hierarchy.depth}, got {labels!r}."
    )


def _walk_down(
    scores: Scores,
    hierarchy: Hierarchy,
    goes_on: _GoesOn,
    *,
    top: Scores | None = None,
    ends: NDArray[np.bool_] | None = None,
) -> NDArray[Any]:
    """Return the last label of each row's path, which starts at its best top-level label.

    `goes_on` decides which rows continue to the best child. A path continues in any case above
    labels in `ends`, to a child that leads to one of them.
    """
    leads = np.ones(hierarchy.n_labels, bool) if ends is None else _leads_to(ends, hierarchy)
    first = np.flatnonzero(np.diff(hierarchy.parent_rows[0]) == 0)
    first = first[leads[first]]
    moving = np.arange(scores.n_rows)
    scores.prepare([(moving, first)])
    here: NDArray[Any] = first[np.argmax((top or scores).read(moving, first), axis=1)]
    child_indptr, child_indices = hierarchy.child_rows
    while moving.size:
        steps = []
        for label, rows in _by_label(here[moving], moving):
            children = child_indices[child_indptr[label] : child_indptr[label + 1]]
            if leads[children].any():
                steps.append((label, rows, children))
        scores.prepare([(rows, children) for _, rows, children in steps])
        moved = []
        for label, rows, children in steps:
            below = scores.read(rows, children)
            best = np.where(leads[children], below, -np.inf).argmax(axis=1)
            onward = np.ones(len(rows), bool)
            if ends is None or ends[label]:
                at_label = scores.read(rows, np.array([label]))[:, 0]
                onward = goes_on(at_label, below, best)
            here[rows[onward]] = children[best[onward]]
            moved.append(rows[onward])
        moving = np.concatenate(moved) if moved else moving[:0]
    return here


def find_ends(Y: Any, hierarchy: Hierarchy) -> NDArray[np.bool_]:
    """Return a mask of the labels that are a most specific label of some row.

    >>> hierarchy = Hierarchy.from_paths(["animal/cat", "plant"])
    >>> find_ends(hierarchy.encode(["animal/cat", "plant"]), hierarchy)
    array([False,  True,  True])
    """
    _, labels = _core.most_specific(as_label_rows(Y), hierarchy._parents)
    ends = np.zeros(hierarchy.n_labels, dtype=bool)
    ends[labels] = True
    return ends


def _leads_to(ends: NDArray[np.bool_], hierarchy: Hierarchy) -> NDArray[np.bool_]:
    """Return a mask of the labels from which one of the given labels can be reached."""
    indptr, parents = hierarchy.parent_rows
    children = np.repeat(np.arange(hierarchy.n_labels), np.diff(indptr))
    leads: NDArray[np.bool_] = ends.copy()
    n_leading = -1
    while n_leading != (n_leading := int(leads.sum())):  # at most once per level
        leads[parents[leads[children]]] = True
    return leads


def _by_label(labels: NDArray[Any], rows: NDArray[np.intp]) -> list[tuple[int, NDArray[np.intp]]]:
    """Return the rows of every label that occurs, both in increasing order."""
    if len(rows) == 1:
        return [(int(labels[0]), rows)]
    order = np.lexsort((rows, labels))
    found, starts = np.unique(labels[order], return_index=True)
    return list(zip(found.tolist(), np.split(rows[order], starts[1:]), strict=True))


def _closed(
    chosen: NDArray[Any], indptr: NDArray[Any], hierarchy: Hierarchy
) -> sparse.csr_array[np.int32]:
    return hierarchy.close(indicator((indptr, chosen), hierarchy.n_labels))
