"""Labels whose frequency, precision or recall differs between two sets of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import hypergeom

from ramify._validation import Label, check_number
from ramify.labels.hierarchy import Hierarchy
from ramify.metrics.inputs import (
    read_label_matrices,
    read_truth,
    unknown_cells,
    width,
    without_cells,
)
from ramify.metrics.reports import Report
from ramify.stats import benjamini_hochberg

Counts = NDArray[np.int64]
_PARTS = {"frequency": ("rows", "known"), "precision": ("right", "predicted")}
_PARTS["recall"] = ("right", "rows")


@dataclass(frozen=True)
class DriftCounts:
    """Numbers of rows for every label; predictions are None if there are none."""

    known: Counts  # rows of which it is known whether they have the label
    rows: Counts  # rows with the label
    predicted: Counts | None = None  # rows for which it is predicted
    right: Counts | None = None  # rows with the label for which it is predicted


def label_drift(
    y_before: Any,
    y_after: Any,
    hierarchy: Hierarchy | None = None,
    *,
    pred_before: Any = None,
    pred_after: Any = None,
    false_discoveries: float = 0.05,
) -> Report:
    """Find the labels that are more or less frequent, or predicted worse or better, than before.

    The shares of each label among two sets of rows are compared by an exact test of the
    hypergeometric distribution. P-values are corrected over all labels by the method of Benjamini
    and Hochberg.

    Parameters
    ----------
    y_before, y_after : label matrices or labels in any format
        True labels of two sets of rows, such as those of last year and of this year.
    hierarchy : Hierarchy, optional
        Names the labels. If None, both must be label matrices, whose columns are numbered.
    pred_before, pred_after : label matrices or labels in any format, optional
        Predicted labels of the same rows, by one model, which was trained on neither. If given,
        precision and recall are compared, too.
    false_discoveries : float
        The expected share of labels without a difference among those reported, at most.

    Returns
    -------
    Report
        The values that differ, the least likely by chance first. Columns label, measure
        ("frequency", "precision" or "recall"), before, after, rows_before and rows_after, the
        numbers of rows that the shares are of, and p, corrected.

    Notes
    -----
    The test requires rows that are independent of each other.

    Examples
    --------
    >>> from ramify import Hierarchy
    >>> from ramify.metrics import label_drift
    >>> animals = Hierarchy.from_paths(["bird", "mammal/cat", "mammal/dog"])
    >>> last_year = ["bird"] * 40 + ["mammal/cat"] * 40 + ["mammal/dog"] * 20
    >>> this_year = ["bird"] * 40 + ["mammal/cat"] * 15 + ["mammal/dog"] * 45
    >>> print(label_drift(last_year, this_year, animals))
    label       measure    before   after  rows_before  rows_after       p
    mammal/cat  frequency  0.4000  0.1500          100         100  0.0005
    mammal/dog  frequency  0.2000  0.4500          100         100  0.0005
    """
    if (pred_before is None) != (pred_after is None):
        missing = "pred_before" if pred_before is None else "pred_after"
        raise ValueError(
            f"{missing} is required to compare predictions. Pass the predictions of both sets of "
            "rows, or of neither."
        )
    before = _count(y_before, pred_before, hierarchy, "before")
    after = _count(y_after, pred_after, hierarchy, "after")
    n_labels = len(before.rows)
    if len(after.rows) != n_labels:
        raise ValueError(
            f"y_after must have the labels of y_before, got {len(after.rows)} columns for "
            f"{n_labels}. Pass hierarchy to name the labels."
        )
    labels = range(n_labels) if hierarchy is None else hierarchy.labels
    return compare_counts(before, after, tuple(labels), false_discoveries)


def compare_counts(
    before: DriftCounts, after: DriftCounts, labels: tuple[Label, ...], false_discoveries: float
) -> Report:
    """Report the labels whose counts differ, as `label_drift` does."""
    check_number("false_discoveries", false_discoveries, 0, 1)
    found: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
    p_values, measures = [], []
    for measure, (part, whole) in _PARTS.items():
        sides = [(getattr(side, part), getattr(side, whole)) for side in (before, after)]
        if any(part is None or whole is None for part, whole in sides):
            continue
        p_values.append(_exact_test(*sides[0], *sides[1]))
        measures.append((measure, *sides))
    tested = benjamini_hochberg(np.concatenate(p_values), alpha=false_discoveries)
    adjusted = tested.adjusted.reshape(len(measures), len(labels))
    reported = tested.rejected.reshape(adjusted.shape)
    raw = np.stack(p_values)
    for m, k in sorted(zip(*np.nonzero(reported), strict=True), key=lambda at: (raw[at], at[1])):
        measure, *sides = measures[m]
        (a, n), (b, o) = ((part[k], whole[k]) for part, whole in sides)
        values = (labels[k], measure, a / n, b / o, int(n), int(o), float(adjusted[m, k]))
        for name, value in zip(_COLUMNS, values, strict=True):
            found[name].append(value)
    return Report(found)


_COLUMNS = ("label", "measure", "before", "after", "rows_before", "rows_after", "p")


def _count(y: Any, predicted: Any, hierarchy: Hierarchy | None, when: str) -> DriftCounts:
    """Count the known, true, predicted and rightly predicted rows of each label."""
    if predicted is None:
        truth, partial = read_truth(y, hierarchy, width(y, hierarchy), f"y_{when}")
    else:
        pair = read_label_matrices(y, predicted, hierarchy)
        truth, partial = pair.truth, pair.partial
    unknown = unknown_cells(partial)
    rows = np.bincount(truth.indices, minlength=truth.shape[1])
    known = np.full(truth.shape[1], truth.shape[0])
    if unknown is not None:
        known = known - np.bincount(unknown.indices, minlength=truth.shape[1])
    if predicted is None:
        return DriftCounts(known, rows)
    chosen = without_cells(pair.predicted, unknown)
    counts = [np.asarray(each.sum(axis=0)).ravel() for each in (chosen, chosen.multiply(truth))]
    return DriftCounts(known, rows, *counts)


def _exact_test(
    before: Counts, n_before: Counts, after: Counts, n_after: Counts
) -> NDArray[np.float64]:
    """Return for pairs of shares how probable such a difference is; NaN without rows.

    Given the numbers of both sets together, those of one set are hypergeometric. The p-value is
    twice the tail of the smaller share; the other is at least 1/2, as the median is near the mean.

    >>> _exact_test(*(np.array([k]) for k in (3, 4, 0, 4))).round(4)
    array([0.1429])
    """
    # The distribution takes 1 ms each for thousands of rows, and rare labels have few tables.
    tables = np.stack([before, n_before, after, n_after])
    tables, place = np.unique(tables, axis=1, return_inverse=True)
    before, n_before, after, n_after = tables
    both, rows = before + after, n_before + n_after
    is_fewer = after * (1.0 * n_before) < before * (1.0 * n_after)
    least, n_least = np.where(is_fewer, (after, n_after), (before, n_before))
    p = np.minimum(1.0, 2 * hypergeom.cdf(least, rows, both, n_least))
    return np.where((n_before > 0) & (n_after > 0) & (both > 0), p, np.nan)[place.ravel()]
