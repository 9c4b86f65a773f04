"""Label-based measures of label sets: micro and macro averages."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ramify.labels.hierarchy import Hierarchy
from ramify.metrics.inputs import LabelChoice, read_sets
from ramify.metrics.sets import mean_defined, precision_recall_f1


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
