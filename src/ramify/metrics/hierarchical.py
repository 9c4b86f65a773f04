"""Accuracy along the hierarchy: extended sets, levels, the best k labels."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ramify.hierarchy.hierarchy import Hierarchy
from ramify.metrics.inputs import (
    LabelChoice,
    LabelSets,
    read_label_matrices,
    read_ranking,
    read_sets,
)
from ramify.metrics.ratios import mean_defined, precision_recall_f1


def hierarchical_precision_recall_f1(
    y_true: Any,
    y_pred: Any,
    *,
    hierarchy: Hierarchy | None = None,
    labels: LabelChoice = "all",
    average: Literal["micro", "samples"] = "micro",
    sample_weight: ArrayLike | None = None,
    zero_division: float = 0.0,
) -> tuple[float, float, float]:
    r"""Precision, recall and F1 of label sets extended by all their ancestors.

    .. math:: hP = \frac{\sum_i |T_i \cap P_i|}{\sum_i |P_i|}, \quad
              hR = \frac{\sum_i |T_i \cap P_i|}{\sum_i |T_i|}, \quad
              hF = \frac{2\,hP\,hR}{hP + hR}

    with T the true and P the predicted labels of an example and all their ancestors, the root
    left out.

    Parameters
    ----------
    y_true, y_pred : label matrices or labels in any format
        True and predicted label sets, one row per example; ancestors are added.
    hierarchy : Hierarchy, optional
        Without one the labels have no ancestors.
    labels : {"all", "leaves"}, int or sequence of labels
        The labels that count, after the ancestors were added.
    average : {"micro", "samples"}
        Sums over all examples, or the mean of every example's own figures.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.
    zero_division : float
        What 0/0 is: precision without predictions, recall without labels. With
        ``average="samples"`` NaN leaves out such rows.

    Returns
    -------
    precision, recall, f1 : float
        1 is best.

    Examples
    --------
    >>> from ramify import Hierarchy
    >>> from ramify.metrics import hierarchical_precision_recall_f1
    >>> animals = Hierarchy.from_paths(["bird", "mammal/cat", "mammal/dog"])
    >>> y_true, y_pred = [[0, 0, 1, 0], [1, 0, 0, 0]], [[0, 0, 0, 1], [1, 0, 0, 0]]
    >>> hierarchical_precision_recall_f1(y_true, y_pred, hierarchy=animals)
    (0.6666666666666666, 0.6666666666666666, 0.6666666666666666)
    """
    sets = read_sets(y_true, y_pred, hierarchy, labels, sample_weight, closed=True)
    sizes = sets.row_sizes()
    if average == "micro":
        totals = [np.array([size @ sets.weight]) for size in sizes]
        figures = precision_recall_f1(totals[0], totals[1], totals[2], zero_division)
        return float(figures[0][0]), float(figures[1][0]), float(figures[2][0])
    if average != "samples":
        raise ValueError(f"average is {average!r}, but it must be 'micro' or 'samples'.")
    means = [mean_defined(v, sets.weight) for v in precision_recall_f1(*sizes, zero_division)]
    return means[0], means[1], means[2]


def hierarchical_f1(
    y_true: Any,
    y_pred: Any,
    *,
    hierarchy: Hierarchy | None = None,
    labels: LabelChoice = "all",
    average: Literal["micro", "samples"] = "micro",
    sample_weight: ArrayLike | None = None,
    zero_division: float = 0.0,
) -> float:
    """Hierarchical F1; see `hierarchical_precision_recall_f1`.

    Parameters
    ----------
    y_true, y_pred, hierarchy, labels, average, sample_weight, zero_division
        As in `hierarchical_precision_recall_f1`.

    Returns
    -------
    float
        1 is best.

    Examples
    --------
    >>> from ramify import Hierarchy
    >>> from ramify.metrics import hierarchical_f1
    >>> animals = Hierarchy.from_paths(["bird", "mammal/cat", "mammal/dog"])
    >>> hierarchical_f1([[0, 1, 1, 0]], [[0, 1, 0, 1]], hierarchy=animals)
    0.5
    """
    return hierarchical_precision_recall_f1(
        y_true,
        y_pred,
        hierarchy=hierarchy,
        labels=labels,
        average=average,
        sample_weight=sample_weight,
        zero_division=zero_division,
    )[2]


def level_accuracy(
    y_true: Any,
    y_pred: Any,
    *,
    hierarchy: Hierarchy,
    sample_weight: ArrayLike | None = None,
    zero_division: float = np.nan,
) -> NDArray[np.float64]:
    """Share of the examples, level by level, whose labels on that level are all right.

    Of the rows with a true or a predicted label on the level, those whose predicted labels on
    the level are exactly the true ones. Rows without either do not count: otherwise deep levels
    that few examples reach would look easy.

    Parameters
    ----------
    y_true, y_pred : label matrices or labels in any format
        True and predicted label sets, one row per example.
    hierarchy : Hierarchy
        Says which label is on which level.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.
    zero_division : float
        The figure of a level where no row has or gets a label.

    Returns
    -------
    ndarray of shape (hierarchy.depth,)
        From the top down; 1 is best.

    Examples
    --------
    >>> from ramify import Hierarchy
    >>> from ramify.metrics import level_accuracy
    >>> animals = Hierarchy.from_paths(["bird", "mammal/cat", "mammal/dog"])
    >>> y_true, y_pred = [[0, 1, 1, 0], [1, 0, 0, 0]], [[0, 1, 0, 1], [1, 0, 0, 0]]
    >>> level_accuracy(y_true, y_pred, hierarchy=animals)
    array([1., 0.])
    """
    truth, predicted = read_label_matrices(y_true, y_pred, hierarchy)
    levels = range(1, hierarchy.depth + 1)
    parts = (read_sets(truth, predicted, hierarchy, level, sample_weight) for level in levels)
    return np.array([_accuracy_where_any(sets, zero_division) for sets in parts])


def _accuracy_where_any(sets: LabelSets, zero_division: float) -> float:
    true, predicted, shared = sets.row_sizes()
    right = np.where((true == shared) & (predicted == shared), 1.0, 0.0)
    right[true + predicted == 0] = np.nan
    accuracy = mean_defined(right, sets.weight)
    return zero_division if np.isnan(accuracy) else accuracy


_CELLS_AT_A_TIME = 4_000_000


def top_k_accuracy(
    y_true: Any,
    y_score: Any,
    *,
    hierarchy: Hierarchy | None = None,
    labels: LabelChoice = "all",
    k: int | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Share of true labels among the k labels with the largest scores.

    .. math:: \frac{1}{n} \sum_i \frac{|Y_i \cap top_k(s_i)|}{k}

    An example with fewer than k labels cannot reach 1, one without labels gives 0.

    Parameters
    ----------
    y_true : label matrix or labels in any format
        True labels, one row per example.
    y_score : array-like of shape (n, n_labels)
        Scores, as `predict_proba` gives them.
    hierarchy : Hierarchy, optional
        Names the columns and gives the default of `k`.
    labels : {"all", "leaves"}, int or sequence of labels
        The labels that are ranked; an int is a level, counted from 1 at the top.
    k : int, optional
        How many labels to look at; by default the depth of the hierarchy.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.

    Returns
    -------
    float
        1 is best.

    Notes
    -----
    Of equal scores the one that comes first in the order of the labels is taken first, so a
    label goes before its descendants.

    Examples
    --------
    >>> from ramify.metrics import top_k_accuracy
    >>> top_k_accuracy([[1, 0, 1], [0, 1, 0]], [[0.9, 0.8, 0.1], [0.2, 0.7, 0.6]], k=2)
    0.5
    """
    ranking = read_ranking(y_true, y_score, hierarchy, labels, sample_weight)
    n_chosen = len(ranking.labels)
    if k is None:
        if hierarchy is None:
            raise ValueError("k is not given, and without a hierarchy it has no default. Give k=.")
        k = min(hierarchy.depth, n_chosen)
    if not 1 <= k <= n_chosen:
        raise ValueError(f"k is {k!r}, but it must lie between 1 and {n_chosen}, the labels.")
    step = max(1, _CELLS_AT_A_TIME // n_chosen)
    hits = [
        _hits(ranking.truth[rows], ranking.scores[rows], ranking.labels, k)
        for rows in (slice(s, s + step) for s in range(0, ranking.truth.shape[0], step))
    ]
    return float(np.average(np.concatenate(hits) / k, weights=ranking.weight))


def _hits(
    truth: Any, scores: NDArray[np.float64], labels: NDArray[np.int32], k: int
) -> NDArray[np.float64]:
    """Count the true labels among the first k of every row, ties by the order of the labels."""
    scores = scores[:, labels]
    kth = np.partition(scores, -k, axis=1)[:, -k, None]
    above = scores > kth
    tied = scores == kth
    missing = k - above.sum(axis=1, keepdims=True)
    chosen = above | (tied & (np.cumsum(tied, axis=1) <= missing))
    return np.asarray(truth[:, labels].multiply(chosen).sum(axis=1), dtype=np.float64)
