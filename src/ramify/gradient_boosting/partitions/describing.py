"""What must be known about each partition before all are read in the same way."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify._base.features import FeatureSchema, read_training_features
from ramify._frames import names_of
from ramify._validation import check_same_length, check_sample_weight
from ramify.hierarchy.hierarchy import Hierarchy
from ramify.labels.encoding import LabelFormat, read_labels
from ramify.labels.formats import IndicatorFormat

__all__ = ["Description", "Part", "count_rows", "describe_partition", "read_weights"]


@dataclass(frozen=True)
class Part:
    """A partition as the user passed it: X, y and weights of the same rows."""

    number: int
    X: Any
    y: Any
    sample_weight: Any = None


@dataclass(frozen=True)
class Description:
    """What must be known about a partition before all are read in the same way.

    Attributes
    ----------
    n_rows : int
        Number of rows with a positive weight.
    max_weight : float
        The largest weight.
    has_weights : bool
        Whether a weight differs from 1.
    names : dict of str to object
        The fitted attributes that describe the columns of X.
    schema : FeatureSchema, optional
        The nominal columns of X; None for partitions without rows.
    format : LabelFormat, optional
        The format of y; None if it follows from `classes`.
    classes : ndarray, optional
        The distinct values of y, if there is no hierarchy and y has one value per row.
    target_names : tuple of str
        The names of y.
    """

    n_rows: int
    max_weight: float = 0.0
    has_weights: bool = False
    names: dict[str, Any] = field(default_factory=dict)
    schema: FeatureSchema | None = None
    format: LabelFormat | None = None
    classes: NDArray[Any] | None = None
    target_names: tuple[str, ...] = ()


def describe_partition(part: Part, estimator: Any) -> Description:
    """Describe one partition.

    Parameters
    ----------
    part : Part
        The partition.
    estimator : estimator
        Provides the parameters.

    Returns
    -------
    Description
        The description.
    """
    estimator = copy(estimator)  # a worker has one for all of its partitions
    n_rows = count_rows(part.X)
    check_same_length(n_rows, count_rows(part.y))
    if n_rows == 0:
        return Description(0)
    X, schema = read_training_features(estimator, part.X, estimator.categorical_features)
    weights = read_weights(part, X.shape[0])
    kept = weights[weights > 0]
    y_format, classes = _describe_labels(part.y, estimator.hierarchy)
    return Description(
        len(kept),
        float(kept.max(initial=0.0)),
        bool((kept != 1).any()),
        {
            name: getattr(estimator, name)
            for name in ("n_features_in_", "feature_names_in_")
            if hasattr(estimator, name)
        },
        schema,
        y_format,
        classes,
        names_of(part.y),
    )


def read_weights(part: Part, n_rows: int) -> NDArray[np.float64]:
    """Return the weights of a partition, which may all be zero."""
    given = part.sample_weight
    if given is not None and np.shape(given) == (n_rows,):
        # A weight of 1 is added, because the check requires a positive one.
        return check_sample_weight(np.append(given, 1.0), n_rows + 1)[:-1]
    return check_sample_weight(given, n_rows)


def count_rows(data: Any) -> int:
    """Return the number of rows of X or y."""
    return int(data.shape[0]) if hasattr(data, "shape") else len(data)


def _describe_labels(
    y: Any, hierarchy: Hierarchy | None
) -> tuple[LabelFormat | None, NDArray[Any] | None]:
    if hierarchy is not None:
        return read_labels(y, hierarchy).format, None
    values = y if sparse.issparse(y) or not hasattr(y, "to_numpy") else y.to_numpy()
    if not sparse.issparse(values) and getattr(values, "ndim", 1) == 1:
        scalars = np.asarray(values)
        is_one_value = scalars.dtype.kind != "O" or all(
            isinstance(value, str | int | float) for value in scalars.tolist()
        )
        if scalars.ndim == 1 and is_one_value:
            if scalars.dtype.kind != "O":
                return None, np.unique(scalars)
            distinct = np.empty(len(found := sorted(set(scalars.tolist()), key=str)), object)
            distinct[:] = found
            return None, distinct
    found_format = read_labels(y, None).format
    if not isinstance(found_format, IndicatorFormat):
        raise ValueError(
            "hierarchy must be given if X and y are dask collections and y has label sets or "
            "levels, got None: the labels of one partition do not tell those of the others. Pass "
            "hierarchy, or a label matrix of 0 and 1."
        )
    return found_format, None
