"""Joint decisions: the label set or the path of every row with the best expected figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core
from ramify._parallel import count_threads
from ramify.data.rows import as_label_rows, as_rows, indicator
from ramify.decision.coherence import check_coherent, check_scores
from ramify.decision.paths import find_ends, most_probable_path, paths_to, read_candidates
from ramify.decision.thresholds import apply_threshold
from ramify.labels.hierarchy import Hierarchy

DECISIONS = ("jointly", "separately")
"""How `predict` decides: about the label set of a row as a whole, or label by label."""

ROW_KINDS = ("path", "labels", "labels or none")
"""What the label sets of the training rows are like."""

_ROUNDING = 1e-9  # by which means and sums may leave the range of probabilities

_RARE = 0.05
"""The share of the training rows, by weight, up to which an exception does not count."""


def best_label_sets(
    scores: Any, hierarchy: Hierarchy, *, allow_empty: bool = False, n_jobs: int | None = None
) -> sparse.csr_array[np.int32]:
    r"""Predict the label set of every row that is expected to agree best with the true one.

    Parameters
    ----------
    scores : array-like of shape (n, n_labels)
        Coherent probabilities: no label exceeds its parents. Apply `make_coherent` to other scores
        first.
    hierarchy : Hierarchy
        The label hierarchy.
    allow_empty : bool
        Whether a row may get no label. If False, only rows in which all probabilities are 0 do.
    n_jobs : int, optional
        Number of threads; -1 means all cores. The result does not depend on it.

    Returns
    -------
    csr_array of shape (n, n_labels)
        Label matrix with ancestors.

    Notes
    -----
    Among the sets of the k most probable labels of a row, the one with the largest F + P is
    chosen:

    .. math:: F = \frac{2 \sum_{c \in S} p_c}{|S| + \sum_c p_c}, \qquad
              P = \prod_{c \in S} q_c
                  \prod_{c \notin S, \, \mathrm{parents}(c) \subseteq S} (1 - q_c),

    where :math:`q_c` is :math:`p_c` divided by the smallest probability of its parents. F is an
    estimate of the expected F1 of the row, and P is the probability that the set is exactly right
    if labels depend on their parents only; P below 1e-9 counts as 0. For the empty set, both are
    the probability of no label. In ties, the smallest set is chosen; of equally probable labels,
    the first. Labels with a probability of 0 are never predicted.

    Examples
    --------
    >>> from ramify import Hierarchy
    >>> from ramify.decision import best_label_sets
    >>> hierarchy = Hierarchy.from_paths(["animal/cat", "animal/dog", "plant"])
    >>> scores = [[0.4, 0.3, 0.1, 0.1], [0.9, 0.6, 0.5, 0.2]]
    >>> hierarchy.decode(best_label_sets(scores, hierarchy))
    [('animal/cat',), ('animal/cat', 'animal/dog')]
    >>> hierarchy.decode(best_label_sets(scores, hierarchy, allow_empty=True))
    [(), ('animal/cat', 'animal/dog')]
    """
    return _find_sets(_read_probabilities(scores, hierarchy), hierarchy, allow_empty, n_jobs)


def _find_sets(
    values: Any, hierarchy: Hierarchy, allow_empty: bool, n_jobs: int | None
) -> sparse.csr_array[np.int32]:
    rows, n_threads = as_rows(values), count_threads(n_jobs)
    found = _core.best_label_sets(rows, hierarchy._parents, allow_empty, n_threads)
    return indicator(found, hierarchy.n_labels)


def best_paths(
    scores: Any, hierarchy: Hierarchy, candidates: Any = None, *, n_jobs: int | None = None
) -> sparse.csr_array[np.int32]:
    r"""Predict the path of every row that is expected to agree best with the true one.

    Parameters
    ----------
    scores : array-like of shape (n, n_labels)
        Coherent probabilities: no label exceeds its parents.
    hierarchy : Hierarchy
        The label hierarchy.
    candidates : array-like of bool, shape (n_labels,), optional
        The labels at which a path may end; None means all.
    n_jobs : int, optional
        Number of threads; -1 means all cores. The result does not depend on it.

    Returns
    -------
    csr_array of shape (n, n_labels)
        Label matrix with ancestors and one most specific label per row.

    Notes
    -----
    The path with the largest F + P is chosen. F estimates the expected F1 as in `best_label_sets`.
    P is the probability of ending at the last label: its probability minus the sum over its
    children, but at least 0. In ties, the path to the first label is chosen.

    Examples
    --------
    The most probable label at the top need not be that of the best path:

    >>> from ramify import Hierarchy
    >>> from ramify.decision import best_paths, most_probable_path
    >>> hierarchy = Hierarchy.from_paths(["animal/cat", "animal/dog", "plant"])
    >>> scores = [[0.55, 0.3, 0.25, 0.45]]
    >>> hierarchy.decode(best_paths(scores, hierarchy, [False, True, True, True]))
    [('plant',)]
    >>> hierarchy.decode(most_probable_path(scores, hierarchy, [False, True, True, True]))
    [('animal/cat',)]
    """
    ends = read_candidates(candidates, hierarchy)
    return _find_paths(_read_probabilities(scores, hierarchy), hierarchy, ends, n_jobs)


def _find_paths(
    values: Any,
    hierarchy: Hierarchy,
    ends: NDArray[np.bool_] | None,
    n_jobs: int | None,
) -> sparse.csr_array[np.int32]:
    allowed = np.ones(hierarchy.n_labels, bool) if ends is None else ends
    n_threads = count_threads(n_jobs)
    chosen = _core.best_ends(
        as_rows(values), hierarchy._parents, allowed.view(np.uint8), n_threads
    )
    return paths_to(chosen, hierarchy)


def _read_probabilities(scores: Any, hierarchy: Hierarchy) -> NDArray[np.float64]:
    values = check_scores(scores, hierarchy)
    check_coherent(values, hierarchy)
    if values.size and not -_ROUNDING <= values.min() <= values.max() <= 1 + _ROUNDING:
        row, column = np.argwhere((values < -_ROUNDING) | (values > 1 + _ROUNDING))[0].tolist()
        raise ValueError(
            f"scores must be between 0 and 1, got {values[row, column]:.6g} in row {row} for "
            f"label {hierarchy.labels[column]!r}. Pass the result of predict_proba."
        )
    return values


def count_ends(Y: Any, hierarchy: Hierarchy) -> NDArray[np.int64]:
    """Return the number of most specific labels of every row.

    >>> hierarchy = Hierarchy.from_paths(["animal/cat", "plant"])
    >>> count_ends(hierarchy.encode([["animal/cat"], ["animal", "plant"], []]), hierarchy)
    array([1, 2, 0], dtype=int64)
    """
    indptr, _ = _core.most_specific(as_label_rows(Y), hierarchy._parents)
    counts: NDArray[np.int64] = indptr[1:] - indptr[:-1]
    return counts


@dataclass(frozen=True)
class Answers:
    """What the answers for new rows are like, as far as the training rows show it."""

    kind: str  # one of ROW_KINDS
    ends: NDArray[np.bool_] | None = None  # labels at which a training row ends; only for "path"

    @classmethod
    def like(
        cls, Y: Any, hierarchy: Hierarchy, weights: NDArray[np.float64], *, is_path: bool
    ) -> Answers:
        """Describe training rows, given as a label matrix with ancestors."""
        counts = count_ends(Y, hierarchy)
        kind = cls.kind_of(
            float(weights[counts == 1].sum()),
            float(weights[counts == 0].sum()),
            float(weights.sum()),
        )
        kind = "path" if is_path else kind
        return cls(kind, find_ends(Y[weights > 0], hierarchy) if kind == "path" else None)

    @staticmethod
    def kind_of(with_one_path: float, without_labels: float, total: float) -> str:
        """Return the kind of rows, given the weights of those with one path and without labels."""
        if with_one_path > 0 and with_one_path >= (1 - _RARE) * total:
            return "path"
        return "labels or none" if without_labels > _RARE * total else "labels"

    def decide(
        self,
        scores: Any,
        hierarchy: Hierarchy,
        how: str = "jointly",
        *,
        is_path: bool,
        n_jobs: int | None = None,
    ) -> sparse.csr_array[np.int32]:
        """Predict label sets from coherent probabilities, which are not checked."""
        if how == "separately":
            if is_path:
                return most_probable_path(scores, hierarchy, self.ends)
            return apply_threshold(scores, 0.5, hierarchy)
        return self.decide_jointly(scores, hierarchy, n_jobs=n_jobs)

    def decide_jointly(
        self, scores: Any, hierarchy: Hierarchy, *, n_jobs: int | None = None
    ) -> sparse.csr_array[np.int32]:
        """Predict label sets from coherent probabilities: an array or a csr_array."""
        if not sparse.issparse(scores):
            scores = np.ascontiguousarray(scores, dtype=np.float64)
        if self.kind == "path":
            return _find_paths(scores, hierarchy, self.ends, n_jobs)
        return _find_sets(scores, hierarchy, self.kind == "labels or none", n_jobs)
