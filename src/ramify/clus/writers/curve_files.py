"""Curve files: the points of precision-recall and ROC curves."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ramify.clus.curves import Counts
from ramify.clus.numbers import java_double
from ramify.clus.targets.hierarchical import HierarchicalErrors

__all__ = ["precision_recall_lines", "roc_lines"]


def precision_recall_lines(errors: HierarchicalErrors, names: tuple[str, ...]) -> Iterator[str]:
    """Yield the lines of a file of precision-recall curves."""
    yield "Class,Recall,Precision"
    for title, counts in _curves(errors, names):
        yield from _points(title, *counts.precision_recall())


def roc_lines(errors: HierarchicalErrors, names: tuple[str, ...]) -> Iterator[str]:
    """Yield the lines of a file of ROC curves."""
    yield "Class,FP,TP"
    for title, counts in _curves(errors, names):
        yield from _points(title, *counts.roc())


def _curves(errors: HierarchicalErrors, names: tuple[str, ...]) -> Iterator[tuple[str, Counts]]:
    for at, counts in zip(errors.chosen, errors.counts, strict=True):
        yield f'"{names[at]}"', counts
    yield "ALL", errors.pooled


def _points(title: str, x: NDArray[np.float64], y: NDArray[np.float64]) -> Iterator[str]:
    for a, b in zip(x.tolist(), y.tolist(), strict=True):
        yield f"{title},{java_double(a)},{java_double(b)}"
