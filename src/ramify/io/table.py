"""The result of all readers: features, labels and their hierarchy."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify.hierarchy.hierarchy import Hierarchy


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """A data set read from a file.

    Attributes
    ----------
    X : ndarray, csr_array or pandas.DataFrame, shape (n, n_features)
        The features. Nominal features are categorical columns of a data frame. In an array, they
        are codes, the positions of the values in `categories`; missing values are NaN.
    y : csr_array of int32, shape (n, n_labels), or None
        The labels, including ancestors; None if the file has no labels.
    hierarchy : Hierarchy or None
        The hierarchy of the labels, in the order of the columns of `y`.
    feature_names : tuple of str
        The names of the columns of `X`.
    categories : dict of str to tuple of str
        The declared values of every nominal feature, in the declared order.
    sample_weight : ndarray of shape (n,) or None
        Sample weights, if the file contains any.
    name : str
        Name of the data set.
    strings : dict of str to tuple
        String and key attributes, which are not features: one str or None per row.
    ids : pandas.Series or None
        The column of identifiers, if one was named: the cells as they are in the file, None if
        missing. It is not a feature.
    notes : tuple of str
        What the reader changed, such as columns that it renamed.
    """

    X: Any
    y: sparse.csr_array[np.int32] | None
    hierarchy: Hierarchy | None
    feature_names: tuple[str, ...]
    categories: dict[str, tuple[str, ...]] = field(default_factory=dict)
    sample_weight: NDArray[np.float64] | None = None
    name: str = ""
    strings: dict[str, tuple[str | None, ...]] = field(default_factory=dict)
    ids: Any = None
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        n_nominal = len(self.categories)
        n_numeric = len(self.feature_names) - n_nominal
        kinds = ", ".join(
            f"{count} {kind}"
            for count, kind in ((n_numeric, "numeric"), (n_nominal, "nominal"))
            if count
        )
        parts = [
            f"{self.X.shape[0]} rows",
            f"{len(self.feature_names)} features" + (f" ({kinds})" if kinds else ""),
            _describe_layout(self.X),
            _describe_labels(self.hierarchy),
        ]
        if self.sample_weight is not None:
            parts.append("weighted")
        name = self.name if len(self.name) <= 40 else f"{self.name[:39]}…"
        return f"Table({name!r}: {', '.join(parts)})"


def _describe_layout(X: Any) -> str:
    if sparse.issparse(X):
        return "sparse"
    return "array" if isinstance(X, np.ndarray) else "frame"


def _describe_labels(hierarchy: Hierarchy | None) -> str:
    if hierarchy is None:
        return "no labels"
    if hierarchy.depth <= 1:
        return f"{hierarchy.n_labels} flat labels"
    kind = "tree" if hierarchy.is_tree else "DAG"
    return f"{hierarchy.n_labels} labels in a {kind} of {hierarchy.depth} levels"
