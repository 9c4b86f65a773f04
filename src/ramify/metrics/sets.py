"""Measures of label sets: averages over rows, over cells and over labels."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ramify.labels.hierarchy import Hierarchy
from ramify.metrics.inputs import LabelChoice, read_sets


def hamming_loss(
    y_true: Any,
    y_pred: Any,
    *,
    hierarchy: Hierarchy | None = None,
    labels: LabelChoice = "all",
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Fraction of (row, label) cells that are predicted wrongly.

    .. math:: \frac{1}{n C} \sum_i |Y_i \,\triangle\, \hat Y_i|

    Labels without positive rows and rows without labels are included.

    Parameters
    ----------
    y_true, y_pred : label matrices or labels in any format
        True and predicted label sets, one per row. Cells of y_true that are unknown are left out
        of both.
    hierarchy : Hierarchy, optional
        Names the columns; required to select labels by name, level or "leaves".
    labels : {"all", "leaves"}, int or sequence of labels
        The labels to evaluate; an int is a level, counted from 1 at the top.
    sample_weight : array-like of shape (n,), optional
        Sample weights.

    Returns
    -------
    float
        0 is best, 1 is worst.

    Examples
    --------
    >>> from ramify.metrics import hamming_loss
    >>> hamming_loss([[1, 1, 0], [1, 0, 0]], [[1, 0, 0], [1, 0, 0]])
    0.16666666666666666
    """
    sets = read_sets(y_true, y_pred, hierarchy, labels, sample_weight)
    true, predicted, shared = sets.row_sizes()
    wrong = true + predicted - 2 * shared
    if (sets.n_known == sets.n_known[0]).all():
        return sets.mean(wrong / sets.n_known[0]) if sets.n_known[0] else np.nan
    return float(sets.weight @ wrong / (sets.weight @ sets.n_known))


def subset_accuracy(
    y_true: Any,
    y_pred: Any,
    *,
    hierarchy: Hierarchy | None = None,
    labels: LabelChoice = "all",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Fraction of rows whose predicted label set is exactly the true one.

    A row without labels is correct if nothing is predicted for it.

    Parameters
    ----------
    y_true, y_pred, hierarchy, labels, sample_weight
        As in `hamming_loss`.

    Returns
    -------
    float
        1 is best.

    Examples
    --------
    >>> from ramify.metrics import subset_accuracy
    >>> subset_accuracy([[1, 1, 0], [1, 0, 0]], [[1, 0, 0], [1, 0, 0]])
    0.5
    """
    sets = read_sets(y_true, y_pred, hierarchy, labels, sample_weight)
    true, predicted, shared = sets.row_sizes()
    return sets.mean(((true == shared) & (predicted == shared)).astype(np.float64))


def jaccard_accuracy(
    y_true: Any,
    y_pred: Any,
    *,
    hierarchy: Hierarchy | None = None,
    labels: LabelChoice = "all",
    sample_weight: ArrayLike | None = None,
    zero_division: ZeroDivision = "agree",
) -> float:
    r"""Mean Jaccard similarity of the true and the predicted label set over the rows.

    .. math:: \frac{1}{n} \sum_i \frac{|Y_i \cap \hat Y_i|}{|Y_i \cup \hat Y_i|}

    The multi-label literature calls this accuracy.

    Parameters
    ----------
    y_true, y_pred, hierarchy, labels, sample_weight
        As in `hamming_loss`.
    zero_division : "agree" or float
        Value of 0/0, for a row without labels and without predictions: 1 by default.

    Returns
    -------
    float
        1 is best.

    Examples
    --------
    >>> from ramify.metrics import jaccard_accuracy
    >>> jaccard_accuracy([[1, 1, 0], [0, 0, 0]], [[1, 0, 0], [0, 0, 0]])
    0.75
    """
    sets = read_sets(y_true, y_pred, hierarchy, labels, sample_weight)
    true, predicted, shared = sets.row_sizes()
    return mean_defined(
        ratio(shared, true + predicted - shared, true + predicted, zero_division), sets.weight
    )


def example_precision(
    y_true: Any,
    y_pred: Any,
    *,
    hierarchy: Hierarchy | None = None,
    labels: LabelChoice = "all",
    sample_weight: ArrayLike | None = None,
    zero_division: ZeroDivision = "agree",
) -> float:
    r"""Mean over the rows of the fraction of predicted labels that are true.

    .. math:: \frac{1}{n} \sum_i \frac{|Y_i \cap \hat Y_i|}{|\hat Y_i|}

    Parameters
    ----------
    y_true, y_pred, hierarchy, labels, sample_weight
        As in `hamming_loss`.
    zero_division : "agree" or float
        Value of 0/0, for a row without predictions. "agree" gives 1 if the row has no labels
        either and 0 otherwise; a number is used for all such rows, as in scikit-learn; NaN
        leaves them out.

    Returns
    -------
    float
        1 is best.

    Examples
    --------
    >>> from ramify.metrics import example_precision
    >>> example_precision([[1, 1, 0], [1, 0, 0]], [[1, 1, 1], [0, 0, 0]])
    0.3333333333333333
    """
    sets = read_sets(y_true, y_pred, hierarchy, labels, sample_weight)
    true, predicted, shared = sets.row_sizes()
    return mean_defined(ratio(shared, predicted, true, zero_division), sets.weight)


def example_recall(
    y_true: Any,
    y_pred: Any,
    *,
    hierarchy: Hierarchy | None = None,
    labels: LabelChoice = "all",
    sample_weight: ArrayLike | None = None,
    zero_division: ZeroDivision = "agree",
) -> float:
    r"""Mean over the rows of the fraction of true labels that are predicted.

    .. math:: \frac{1}{n} \sum_i \frac{|Y_i \cap \hat Y_i|}{|Y_i|}

    Parameters
    ----------
    y_true, y_pred, hierarchy, labels, sample_weight
        As in `hamming_loss`.
    zero_division : "agree" or float
        Value of 0/0, for a row without labels. "agree" gives 1 if nothing is predicted either
        and 0 otherwise; a number is used for all such rows, as in scikit-learn; NaN leaves
        them out.

    Returns
    -------
    float
        1 is best.

    Examples
    --------
    >>> from ramify.metrics import example_recall
    >>> example_recall([[1, 1, 0], [1, 0, 0]], [[1, 0, 1], [1, 0, 0]])
    0.75
    """
    sets = read_sets(y_true, y_pred, hierarchy, labels, sample_weight)
    true, predicted, shared = sets.row_sizes()
    return mean_defined(ratio(shared, true, predicted, zero_division), sets.weight)


def example_f1(
    y_true: Any,
    y_pred: Any,
    *,
    hierarchy: Hierarchy | None = None,
    labels: LabelChoice = "all",
    sample_weight: ArrayLike | None = None,
    zero_division: ZeroDivision = "agree",
) -> float:
    r"""Mean over the rows of the F1 score, the harmonic mean of precision and recall.

    .. math:: \frac{1}{n} \sum_i \frac{2\,|Y_i \cap \hat Y_i|}{|Y_i| + |\hat Y_i|}

    Parameters
    ----------
    y_true, y_pred, hierarchy, labels, sample_weight
        As in `hamming_loss`.
    zero_division : "agree" or float
        Value of 0/0, for a row without labels and without predictions: 1 by default.

    Returns
    -------
    float
        1 is best.

    Examples
    --------
    >>> from ramify.metrics import example_f1
    >>> example_f1([[1, 1, 0], [1, 0, 0]], [[1, 0, 0], [1, 0, 0]])
    0.8333333333333333
    """
    sets = read_sets(y_true, y_pred, hierarchy, labels, sample_weight)
    true, predicted, shared = sets.row_sizes()
    return mean_defined(
        ratio(2 * shared, true + predicted, true + predicted, zero_division), sets.weight
    )


# ---- ratios of counts, with a value for 0/0 -------------------------------------------------


ZeroDivision: TypeAlias = float | Literal["agree"]
Vector: TypeAlias = NDArray[np.float64]


def ratio(
    numerator: Vector, denominator: Vector, other: Vector, zero_division: ZeroDivision
) -> Vector:
    """Divide; if the denominator is 0, "agree" gives 1 if `other` is 0 as well and 0 otherwise."""
    filled: Vector
    if isinstance(zero_division, str):
        if zero_division != "agree":
            raise ValueError(f"zero_division must be 'agree' or a number, got {zero_division!r}.")
        filled = (other == 0).astype(np.float64)
    else:
        filled = np.full(len(numerator), float(zero_division))
    np.divide(numerator, denominator, out=filled, where=denominator > 0)
    return filled


def precision_recall_f1(
    true: Vector, predicted: Vector, shared: Vector, zero_division: float
) -> tuple[Vector, Vector, Vector]:
    """Precision, recall and F1 from the counts of true, predicted and shared labels."""
    return (
        ratio(shared, predicted, true, zero_division),
        ratio(shared, true, predicted, zero_division),
        ratio(2 * shared, true + predicted, true, zero_division),
    )


def mean_defined(values: Vector, weights: Vector | None = None) -> float:
    """Weighted mean of the values that are not NaN; NaN if there are none."""
    weights = np.ones(len(values)) if weights is None else weights
    defined = ~np.isnan(values) & (weights > 0)
    if not defined.any():
        return np.nan
    return float(np.average(values[defined], weights=weights[defined]))


# ---- micro and macro averages over labels ---------------------------------------------------


def micro_precision_recall_f1(
    y_true: Any,
    y_pred: Any,
    *,
    hierarchy: Hierarchy | None = None,
    labels: LabelChoice = "all",
    sample_weight: ArrayLike | None = None,
    zero_division: float = 0.0,
) -> tuple[float, float, float]:
    r"""Precision, recall and F1 of all (row, label) cells together.

    .. math:: P = \frac{\sum_c TP_c}{\sum_c TP_c + FP_c}, \quad
              R = \frac{\sum_c TP_c}{\sum_c TP_c + FN_c}, \quad F_1 = \frac{2PR}{P+R}

    False positives of labels without positive rows and of rows without labels are counted.

    Parameters
    ----------
    y_true, y_pred, hierarchy, labels, sample_weight
        As in `hamming_loss`.
    zero_division : float
        Value of 0/0: precision without any prediction, recall without any label.

    Returns
    -------
    precision, recall, f1 : float
        1 is best.

    Examples
    --------
    >>> from ramify.metrics import micro_precision_recall_f1
    >>> micro_precision_recall_f1([[1, 1, 0], [1, 0, 0]], [[1, 0, 1], [1, 0, 0]])
    (0.6666666666666666, 0.6666666666666666, 0.6666666666666666)
    """
    sets = read_sets(y_true, y_pred, hierarchy, labels, sample_weight)
    true, predicted, shared = (np.array([count.sum()]) for count in sets.label_counts())
    precision, recall, f1 = precision_recall_f1(true, predicted, shared, zero_division)
    return float(precision[0]), float(recall[0]), float(f1[0])


def micro_f1(
    y_true: Any,
    y_pred: Any,
    *,
    hierarchy: Hierarchy | None = None,
    labels: LabelChoice = "all",
    sample_weight: ArrayLike | None = None,
    zero_division: float = 0.0,
) -> float:
    """F1 of all (row, label) cells together; see `micro_precision_recall_f1`.

    Parameters
    ----------
    y_true, y_pred, hierarchy, labels, sample_weight, zero_division
        As in `micro_precision_recall_f1`.

    Returns
    -------
    float
        1 is best.

    Examples
    --------
    >>> from ramify.metrics import micro_f1
    >>> micro_f1([[1, 1, 0], [1, 0, 0]], [[1, 0, 0], [1, 0, 0]])
    0.8
    """
    return micro_precision_recall_f1(
        y_true,
        y_pred,
        hierarchy=hierarchy,
        labels=labels,
        sample_weight=sample_weight,
        zero_division=zero_division,
    )[2]


def macro_precision_recall_f1(
    y_true: Any,
    y_pred: Any,
    *,
    hierarchy: Hierarchy | None = None,
    labels: LabelChoice = "all",
    sample_weight: ArrayLike | None = None,
    zero_division: float = 0.0,
) -> tuple[float, float, float]:
    r"""Mean precision, recall and F1 of the labels.

    .. math:: F_1 = \frac{1}{C} \sum_c \frac{2\,TP_c}{2\,TP_c + FP_c + FN_c}

    Parameters
    ----------
    y_true, y_pred, hierarchy, labels, sample_weight
        As in `hamming_loss`.
    zero_division : float
        Value of 0/0 for a label: precision if it is never predicted, recall if it never occurs,
        F1 if both. NaN leaves such labels out of the mean, as in scikit-learn.

    Returns
    -------
    precision, recall, f1 : float
        1 is best; NaN if `zero_division` leaves out every label.

    Examples
    --------
    >>> from ramify.metrics import macro_precision_recall_f1
    >>> macro_precision_recall_f1([[1, 1, 0], [1, 0, 0]], [[1, 1, 1], [1, 0, 0]])
    (0.6666666666666666, 0.6666666666666666, 0.6666666666666666)
    """
    sets = read_sets(y_true, y_pred, hierarchy, labels, sample_weight)
    means = [
        mean_defined(values) for values in precision_recall_f1(*sets.label_counts(), zero_division)
    ]
    return means[0], means[1], means[2]


def macro_f1(
    y_true: Any,
    y_pred: Any,
    *,
    hierarchy: Hierarchy | None = None,
    labels: LabelChoice = "all",
    sample_weight: ArrayLike | None = None,
    zero_division: float = 0.0,
) -> float:
    """Mean F1 of the labels; see `macro_precision_recall_f1`.

    Parameters
    ----------
    y_true, y_pred, hierarchy, labels, sample_weight, zero_division
        As in `macro_precision_recall_f1`.

    Returns
    -------
    float
        1 is best; NaN if `zero_division` leaves out every label.

    Examples
    --------
    >>> from ramify.metrics import macro_f1
    >>> macro_f1([[1, 1, 0], [1, 0, 0]], [[1, 1, 0], [1, 0, 0]])
    0.6666666666666666
    >>> macro_f1([[1, 1, 0], [1, 0, 0]], [[1, 1, 0], [1, 0, 0]], zero_division=float("nan"))
    1.0
    """
    return macro_precision_recall_f1(
        y_true,
        y_pred,
        hierarchy=hierarchy,
        labels=labels,
        sample_weight=sample_weight,
        zero_division=zero_division,
    )[2]
