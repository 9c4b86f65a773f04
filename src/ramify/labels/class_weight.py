"""Weights of rows by their class, as `class_weight` of scikit-learn's classifiers sets them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify import _core
from ramify.data.rows import as_label_rows
from ramify.labels.formats import LabelFormat
from ramify.labels.hierarchy import Hierarchy


def check_class_weight(class_weight: Any) -> None:
    """Raise an error unless class weights are None, "balanced" or a dict."""
    named = isinstance(class_weight, str) and class_weight == "balanced"
    if class_weight is not None and not named and not isinstance(class_weight, dict):
        raise ValueError(
            f"class_weight must be 'balanced', a dict of label to float or None, got "
            f"{class_weight!r}. Pass weights of rows as sample_weight."
        )


def class_factors(
    class_weight: Any,
    Y: sparse.csr_array[np.int32],
    format_: LabelFormat,
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the weight of the class of each row.

    The class of a row is its most specific label; with a single column of labels, whether it has
    the label.
    """
    if not format_.single_label and format_.hierarchy.n_labels > 1:
        raise several_classes_error(class_weight)
    return find_factors(class_weight, Y, format_.hierarchy, weights)


def several_classes_error(class_weight: Any) -> ValueError:
    """Return an error about rows that may have several labels."""
    return ValueError(
        f"class_weight must be None if rows may have several labels, got {class_weight!r}: they "
        "have no class then. To predict rare labels, choose thresholds with "
        "TunedThresholdClassifierCV(per='label'); to weigh labels in the choice of tests, pass "
        "label_weight. Or pass y with one label or path per row."
    )


def find_factors(
    class_weight: Any,
    Y: sparse.csr_array[np.int32],
    hierarchy: Hierarchy,
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the weight of the class of each row, which has at most one most specific label."""
    if isinstance(class_weight, dict):
        by_label = np.ones(hierarchy.n_labels)
        for label, factor in class_weight.items():
            by_label[hierarchy.index(label)] = _checked(label, factor)
        factors = np.ones(Y.shape[0])
        row = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
        np.multiply.at(factors, row, by_label[Y.indices])
    else:
        classes = _find_classes(Y, hierarchy)
        totals = np.bincount(classes, weights=weights).astype(np.float64)
        mean = totals.sum() / np.count_nonzero(totals)
        factors = (mean / np.where(totals > 0, totals, mean))[classes]
    if not (weights * factors).any():
        raise ValueError(
            f"class_weight must be positive for a label of y, got {class_weight!r}, which gives "
            "all rows weight 0."
        )
    return factors


def _find_classes(Y: sparse.csr_array[np.int32], hierarchy: Hierarchy) -> NDArray[np.int64]:
    """Return 1 + the most specific label of each row, or 0 if it has none."""
    indptr, labels = _core.most_specific(as_label_rows(Y), hierarchy._parents)
    classes = np.zeros(Y.shape[0], dtype=np.int64)
    classes[np.diff(indptr) > 0] = labels + 1
    return classes


def _checked(label: Any, factor: Any) -> float:
    try:
        weight = float(factor)
    except (TypeError, ValueError):
        weight = np.nan
    if not 0 <= weight < np.inf:
        raise ValueError(
            f"class_weight must be finite and non-negative numbers, got {factor!r} for label "
            f"{label!r}."
        )
    return weight
