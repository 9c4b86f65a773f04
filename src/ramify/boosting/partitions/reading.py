"""How to read all partitions in the same way, derived from the description of each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ramify.boosting.partitions.describing import Description
from ramify.data.features import FeatureSchema
from ramify.labels.encoding import LabelFormat, read_labels
from ramify.labels.hierarchy import Hierarchy


@dataclass(frozen=True)
class Reading:
    """How to read every partition."""

    estimator: Any  # provides the attributes that describe the columns of X
    schema: FeatureSchema  # the nominal columns
    hierarchy: Hierarchy  # the labels
    format: LabelFormat  # the format of y
    target_names: tuple[str, ...]
    # For each partition, the number of its first row among all rows with positive weights.
    first_rows: tuple[int, ...]
    n_rows: int  # number of all rows with positive weights
    max_weight: float  # the largest weight
    weight_bits: int  # the bits after the point of weights and of sums in leaves
    leaf_bits: int
    held_out_share: float = 0.0  # the fraction of rows to hold out
    seed: int = 0  # draws the held-out rows
    loss: str = "logistic"  # "logistic" or "softmax"
    label_sets: sparse.csr_array[np.int32] | None = None  # the outputs of softmax


def merge_descriptions(estimator: Any, descriptions: Sequence[Description]) -> Reading:
    """Combine the descriptions of all partitions, in their order.

    `estimator`: provides the parameters; receives the attributes that describe the columns of
    X.
    """
    filled = [one for one in descriptions if one.schema is not None]
    if not filled:
        raise ValueError("X has 0 rows. Pass at least one row.")
    _check_same_columns(filled)
    for name, value in filled[0].names.items():
        setattr(estimator, name, value)
    sizes = [one.n_rows for one in descriptions]
    n_rows = sum(sizes)
    if n_rows == 0:
        raise ValueError(
            "sample_weight is zero for every row. Pass a positive weight for at least one row."
        )
    max_weight = max(one.max_weight for one in filled)
    exponent = exponent_of(max_weight)
    has_weights = any(one.has_weights for one in filled)
    y_format = _merge_formats(filled)
    return Reading(
        estimator,
        _merge_schemas([one.schema for one in filled if one.schema is not None]),
        estimator.hierarchy or y_format.hierarchy,
        y_format,
        filled[0].target_names,
        tuple(np.cumsum([0, *sizes[:-1]]).tolist()),
        n_rows,
        max_weight,
        min(24, 52 - n_rows.bit_length()) - exponent if has_weights else 0,
        24 - exponent,
    )


def exponent_of(number: float) -> int:
    """Return the smallest integer e with 2 ** e >= number.

    Examples
    --------
    >>> exponent_of(1.0), exponent_of(1.5), exponent_of(0.25)
    (0, 1, -2)
    """
    fraction, exponent = math.frexp(number)
    return exponent - 1 if fraction == 0.5 else exponent


def _check_same_columns(filled: Sequence[Description]) -> None:
    first = filled[0].names
    for one in filled[1:]:
        same = one.names.keys() == first.keys() and all(
            np.array_equal(one.names[name], first[name]) for name in first
        )
        if not same:
            raise ValueError(
                "X must have the same columns in all partitions, got "
                f"{one.names} and {first}. Give the partitions the same columns."
            )


def _merge_schemas(schemas: Sequence[FeatureSchema]) -> FeatureSchema:
    """Return a schema with the categories of all partitions."""
    n_categories = np.max([schema.n_categories for schema in schemas], axis=0)
    times: dict[int, str] = {}
    for schema in schemas:
        for column, kind in schema.times.items():
            if times.setdefault(column, kind) != kind:
                raise ValueError(
                    f"column {column} of X must have the same type in all partitions, got a "
                    f"{kind} and a {times[column]}. Convert it."
                )
    categories: dict[int, tuple[Any, ...]] = {}
    for column in sorted({column for schema in schemas for column in schema.categories}):
        found = [schema.categories.get(column, ()) for schema in schemas]
        merged = found[0]
        if any(one != merged for one in found):  # not declared: sorted, as in one partition
            values = {value for one in found for value in one}
            merged = tuple(sorted(values, key=lambda value: (str(type(value)), value)))
        categories[column] = merged
        n_categories[column] = max(1, len(merged))
    return FeatureSchema(n_categories.astype(np.int32), categories, times)


def _merge_formats(filled: Sequence[Description]) -> LabelFormat:
    """Return the format of y: a format of label sets if any partition has label sets."""
    formats = [one.format for one in filled if one.format is not None]
    if not formats:
        classes = [one.classes for one in filled if one.classes is not None]
        return read_labels(np.concatenate(classes), None).format
    if len(formats) < len(filled) or len({one.hierarchy for one in formats}) > 1:
        raise ValueError(
            "y must have the same format and labels in all partitions. Pass hierarchy, or a "
            "label matrix of 0 and 1 with the same columns."
        )
    several = [one for one in formats if not one.single_label]
    return (several or formats)[0]
