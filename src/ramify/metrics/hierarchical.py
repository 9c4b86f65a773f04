"""Hierarchical precision, recall and F1, accuracy per level and top-k accuracy."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ramify import _core
from ramify.data.rows import as_rows, indicator
from ramify.labels.hierarchy import Hierarchy
from ramify.metrics.inputs import (
    LabelChoice,
    LabelSets,
    Ranking,
    read_label_matrices,
    read_ranking,
    read_sets,
)
from ramify.metrics.sets import mean_defined, precision_recall_f1


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

    where T are the true and P the predicted labels of a row, including all their ancestors
    except the root.

    Parameters
    ----------
    y_true, y_pred : label matrices or labels in any format
        True and predicted label sets, one per row; ancestors are added.
    hierarchy : Hierarchy, optional
        If None, the labels have no ancestors.
    labels : {"all", "leaves"}, int or sequence of labels
        The labels to evaluate, after the ancestors are added.
    average : {"micro", "samples"}
        "micro" sums over all rows; "samples" computes the values of each row and averages them.
    sample_weight : array-like of shape (n,), optional
        Sample weights.
    zero_division : float
        Value of 0/0: precision without predictions, recall without labels. With
        ``average="samples"``, NaN leaves such rows out of the mean.

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
        raise ValueError(f"average must be 'micro' or 'samples', got {average!r}.")
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
    """Fraction of rows, for each level, whose labels on that level are all correct.

    A row is correct on a level if its predicted labels on that level are exactly the true ones.
    Rows with neither a true nor a predicted label on the level are left out; otherwise, deep
    levels, which few rows reach, would look easy.

    Parameters
    ----------
    y_true, y_pred : label matrices or labels in any format
        True and predicted label sets, one per row.
    hierarchy : Hierarchy
        Determines the level of each label.
    sample_weight : array-like of shape (n,), optional
        Sample weights.
    zero_division : float
        Value of a level on which no row has a true or a predicted label.

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
    pair = read_label_matrices(y_true, y_pred, hierarchy)
    truth = pair.truth if pair.partial is None else pair.partial
    levels = range(1, hierarchy.depth + 1)
    parts = (read_sets(truth, pair.predicted, hierarchy, k, sample_weight) for k in levels)
    return np.array([_accuracy_where_any(sets, zero_division) for sets in parts])


def _accuracy_where_any(sets: LabelSets, zero_division: float) -> float:
    true, predicted, shared = sets.row_sizes()
    right = np.where((true == shared) & (predicted == shared), 1.0, 0.0)
    right[true + predicted == 0] = np.nan
    accuracy = mean_defined(right, sets.weight)
    return zero_division if np.isnan(accuracy) else accuracy


def top_k_accuracy(
    y_true: Any,
    y_score: Any,
    *,
    hierarchy: Hierarchy | None = None,
    labels: LabelChoice = "all",
    k: int | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Fraction of true labels among the k labels with the highest scores.

    .. math:: \frac{1}{n} \sum_i \frac{|Y_i \cap top_k(s_i)|}{k}

    A row with fewer than k labels cannot reach 1, and a row without labels gives 0.

    Parameters
    ----------
    y_true : label matrix or labels in any format
        True labels, one label set per row.
    y_score : array-like or sparse matrix of shape (n, n_labels)
        Scores, as returned by `predict_proba` or `predict_proba_sparse`; scores that a sparse
        matrix does not store are 0.
    hierarchy : Hierarchy, optional
        Names the columns and determines the default value of `k`.
    labels : {"all", "leaves"}, int or sequence of labels
        The labels to rank; an int is a level, counted from 1 at the top.
    k : int, optional
        Number of labels to consider. By default, the depth of the hierarchy.
    sample_weight : array-like of shape (n,), optional
        Sample weights.

    Returns
    -------
    float
        1 is best.

    Notes
    -----
    Ties are broken by the order of the labels, so a label comes before its descendants. If small
    scores are left out, the result changes only because of rows with fewer than k scores.

    Examples
    --------
    >>> from ramify.metrics import top_k_accuracy
    >>> top_k_accuracy([[1, 0, 1], [0, 1, 0]], [[0.9, 0.8, 0.1], [0.2, 0.7, 0.6]], k=2)
    0.5
    """
    ranking, _ = read_ranking(
        y_true, y_score, hierarchy, labels, sample_weight
    ).with_unknown_last()
    n_chosen = len(ranking.labels)
    if k is None:
        if hierarchy is None:
            raise ValueError("k has no default without a hierarchy. Pass k or hierarchy.")
        k = min(hierarchy.depth, n_chosen)
    if not 1 <= k <= n_chosen:
        raise ValueError(f"k must be from 1 to the number of labels, {n_chosen}, got {k!r}.")
    labels_found = _best_labels(ranking, k)
    indptr = np.arange(len(labels_found) + 1) * k
    chosen = indicator((indptr, labels_found.ravel()), ranking.truth.shape[1])
    hits = np.asarray(ranking.truth.multiply(chosen).sum(axis=1), dtype=np.float64)
    if ranking.unknown is None:
        return float(np.average(hits / k, weights=ranking.weight))
    n_known = n_chosen - ranking.unknown[:, ranking.labels].sum(axis=1)
    values = np.where(n_known > 0, hits / np.clip(n_known, 1, k), np.nan)
    return mean_defined(values, ranking.row_weights)


def _best_labels(ranking: Ranking, k: int) -> NDArray[np.int32]:
    """Return the k labels with the highest scores of each row; ties by the order of the labels."""
    shape = (ranking.truth.shape[0], k)
    labels, scores = np.empty(shape, dtype=np.int32), np.empty(shape)
    _core.best_labels(as_rows(ranking.scores), ranking.labels, 1, labels, scores)
    return labels
