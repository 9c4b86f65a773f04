"""What the partitions together say of the rows, and how to read all of them in the same way."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import validate_data

from ramify._messages import import_extra, shorten
from ramify._validation import check_same_length, check_sample_weight
from ramify.data.columns import TEXT, VECTOR, kind_of_column
from ramify.data.features import (
    MAX_CATEGORIES,
    FeatureSchema,
    categories_of,
    chosen_columns,
    columns_of,
    learn_columns,
    read_training_features,
)
from ramify.data.frames import in_memory, is_frame, names_of
from ramify.labels.encoding import LabelFormat, read_labels
from ramify.labels.formats import IndicatorFormat
from ramify.labels.hierarchy import Hierarchy

_MAGNITUDE = np.int64(2**63 - 1)  # all bits but the sign


def _flip(bits: NDArray[np.int64]) -> NDArray[np.int64]:
    """Convert the bits of floats to integers in the same order, and back."""
    return np.asarray(bits ^ ((bits >> np.int64(63)) & _MAGNITUDE), dtype=np.int64)


@dataclass(frozen=True)
class ValueCounts:
    """How often each value of a numeric column occurs, or each interval of values.

    Read as integers, the bits of floats have the same order. An interval has the integers that
    agree in all but the last `level` bits, the fewest that leave at most `limit` intervals: adding
    up partitions gives the same counts in any order and for any division of the rows.
    """

    keys: NDArray[np.int64]  # the intervals with rows, in increasing order
    counts: NDArray[np.int64]  # the number of rows in each interval
    level: int  # number of bits that are dropped from the keys
    n_missing: int  # number of rows whose value is missing
    limit: int  # maximum number of intervals

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.keys.nbytes + self.counts.nbytes

    @classmethod
    def of(
        cls, values: Any, limit: int, n_zeros: int = 0, weights: NDArray[np.int64] | None = None
    ) -> ValueCounts:
        """Count values, NaN where missing; rows may count several times."""
        cells = np.asarray(values, dtype=np.float64)
        times = np.ones(len(cells), dtype=np.int64) if weights is None else weights
        missing = np.isnan(cells)
        present = cells[~missing] + 0.0  # -0.0 becomes 0.0
        keys, place = np.unique(_flip(present.view(np.int64)), return_inverse=True)
        counts = np.zeros(len(keys), dtype=np.int64)
        np.add.at(counts, place, times[~missing])
        counted = cls(keys, counts, 0, int(times[missing].sum()), limit)
        if n_zeros:
            zero = cls(np.zeros(1, np.int64), np.array([n_zeros], np.int64), 0, 0, limit)
            return counted + zero
        return counted._within_limit()

    def __add__(self, other: ValueCounts) -> ValueCounts:
        level = max(self.level, other.level)
        keys = np.concatenate(
            [part.keys >> np.int64(level - part.level) for part in (self, other)]
        )
        merged, place = np.unique(keys, return_inverse=True)
        counts = np.zeros(len(merged), dtype=np.int64)
        np.add.at(counts, place, np.concatenate([self.counts, other.counts]))
        n_missing = self.n_missing + other.n_missing
        return ValueCounts(merged, counts, level, n_missing, self.limit)._within_limit()

    def _within_limit(self) -> ValueCounts:
        if len(self.keys) <= self.limit:
            return self
        # Neighbours stay distinct as long as a bit in which they differ is left.
        differ = (self.keys[1:] ^ self.keys[:-1]).view(np.uint64)
        shift = 0
        while np.count_nonzero(differ >> np.uint64(shift)) >= self.limit:
            shift += 1
        keys = self.keys >> np.int64(shift)
        first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
        counts = np.add.reduceat(self.counts, first)
        return ValueCounts(keys[first], counts, self.level + shift, self.n_missing, self.limit)

    def intervals(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the smallest and the largest number of each interval, in increasing order."""
        low = self.keys << np.int64(self.level)
        high = low | np.int64((1 << self.level) - 1)
        high[high == -1] = -2  # -0.0, which is equal to the next key, does not occur
        return _flip(low).view(np.float64), _flip(high).view(np.float64)


# ---- what must be known before all are read in the same way ---------------------------------


@dataclass(frozen=True)
class Part:
    """A partition as the user passed it: X, y and weights of the same rows."""

    number: int
    X: Any
    y: Any
    sample_weight: Any = None


@dataclass(frozen=True)
class Values:
    """What the values of a column are, for a decision about all partitions together."""

    # A column: the distinct values that are not missing, in order of appearance; only the first
    # of numbers, dates and times, unless partitions differ.
    distinct: Any
    counts: NDArray[np.int64]  # how often each occurs
    is_whole: bool  # whether all are there

    @classmethod
    def of(cls, column: Any, *, is_nominal: bool, is_whole: bool) -> Values:
        """Return the values of a column; with `is_whole`, also those of numbers."""
        kind = "category" if is_nominal else kind_of_column(column)
        if kind == VECTOR:
            raise _wide([column.name])
        if kind not in ("category", TEXT) and not is_whole:
            first = column[column.notna()].iloc[:1]
            return cls(first, np.ones(len(first), dtype=np.int64), is_whole=False)
        if kind == "category":
            categories_of(column, clus_order=False)  # which may raise an error
        pandas = import_extra("pandas", "tables")
        codes, distinct = pandas.factorize(column)
        if len(distinct) > MAX_CATEGORIES:
            raise _wide([column.name])
        values = pandas.Series(distinct, name=column.name)
        return cls(values, np.bincount(codes[codes >= 0], minlength=len(values)), is_whole=True)


@dataclass(frozen=True)
class Description:
    """What must be known about a partition before all are read in the same way."""

    n_rows: int  # number of rows with a positive weight
    max_weight: float = 0.0  # the largest weight
    has_weights: bool = False  # whether a weight differs from 1
    # The fitted attributes that describe the columns of X.
    names: dict[str, Any] = field(default_factory=dict)
    # The columns of X: of an array, and of a data frame by name.
    schema: FeatureSchema | None = None
    columns: dict[Any, Values] | None = None
    format: LabelFormat | None = None  # the format of y; None if it follows from `classes`
    # The distinct values of y, if there is no hierarchy and y has one value per row.
    classes: NDArray[Any] | None = None
    target_names: tuple[str, ...] = ()  # the names of y


def _wide(names: Iterable[Any]) -> ValueError:
    return ValueError(
        "X must have columns of numbers, categories or dates if it is a dask collection, got "
        f"texts or vectors in {shorten(names)}. Drop them, or pass X in the memory of one machine."
    )


def describe_partition(part: Part, estimator: Any, whole: Collection[Any] = ()) -> Description:
    """Describe one partition."""
    estimator = copy(estimator)  # a worker has one for all of its partitions
    n_rows = count_rows(part.X)
    check_same_length(n_rows, count_rows(part.y))
    if n_rows == 0:
        return Description(0)
    schema = columns = None
    X = in_memory(part.X, "X")
    if is_frame(X):
        given = columns_of(X)
        chosen = chosen_columns(estimator.categorical_features, list(given), len(given))
        columns = {
            name: Values.of(column, is_nominal=j in chosen, is_whole=name in whole)
            for j, (name, column) in enumerate(given.items())
        }
        validate_data(estimator, X, reset=True, skip_check_array=True)
    else:
        X, schema = read_training_features(estimator, X, estimator.categorical_features)
        if schema.texts:
            raise _wide([0])
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
        columns,
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


# ---- how to read all partitions in the same way ---------------------------------------------


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
    """Combine the descriptions of all partitions, in order, and set those of the estimator."""
    filled = _filled(descriptions)
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
        _merge_schemas(estimator, filled),
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

    >>> exponent_of(1.0), exponent_of(1.5), exponent_of(0.25)
    (0, 1, -2)
    """
    fraction, exponent = math.frexp(number)
    return exponent - 1 if fraction == 0.5 else exponent


def _check_same_columns(filled: Sequence[Description]) -> None:
    first = filled[0].names
    columns = list(filled[0].columns or ())
    for one in filled[1:]:
        same = one.names.keys() == first.keys() and all(
            np.array_equal(one.names[name], first[name]) for name in first
        )
        if not same or list(one.columns or ()) != columns:
            raise ValueError(
                "X must have the same columns in all partitions, got "
                f"{one.names} and {first}. Give the partitions the same columns."
            )


def _merge_schemas(estimator: Any, filled: Sequence[Description]) -> FeatureSchema:
    """Return the schema that the rows of all partitions have together."""
    schemas = [one.schema for one in filled if one.schema is not None]
    if not schemas:
        columns, nominal = _join_columns(estimator, filled)
        return learn_columns({name: values.distinct for name, values in columns.items()}, nominal)
    for one in schemas[1:]:
        if one.times != schemas[0].times:
            kinds = [*one.times.values(), *schemas[0].times.values()]
            raise ValueError(
                "X must have the same data type in all partitions, got a "
                f"{' and a '.join(sorted(set(kinds)))} in some of them only. Convert it."
            )
    n_categories = np.max([schema.n_categories for schema in schemas], axis=0)
    return FeatureSchema(n_categories.astype(np.int32), {}, schemas[0].times)


def _join_columns(
    estimator: Any, filled: Sequence[Description]
) -> tuple[dict[Any, Values], set[int]]:
    """Return the columns of all partitions together, and which of them are nominal."""
    found = [one.columns for one in filled if one.columns is not None]
    columns = {name: _join([one[name] for one in found]) for name in found[0]}
    nominal = chosen_columns(estimator.categorical_features, list(columns), len(columns))
    for j, (name, values) in enumerate(columns.items()):
        if j in nominal:
            continue
        kind = kind_of_column(values.distinct, values.counts.tolist())
        if kind == TEXT:
            raise _wide([name])
        if kind == "category":
            nominal.add(j)
    return columns, nominal


def columns_to_complete(estimator: Any, descriptions: Sequence[Description]) -> list[Any]:
    """Return nominal columns that are numbers or times in a partition; all values are needed."""
    filled = _filled(descriptions)
    if not filled or filled[0].columns is None:
        return []
    _check_same_columns(filled)
    columns, nominal = _join_columns(estimator, filled)
    names = list(columns)
    return [names[j] for j in sorted(nominal) if not columns[names[j]].is_whole]


def _filled(descriptions: Sequence[Description]) -> list[Description]:
    return [one for one in descriptions if one.schema is not None or one.columns is not None]


def _join(parts: Sequence[Values]) -> Values:
    """Join the values of a column in all partitions, as if the rows had been joined."""
    known = [part for part in parts if len(part.counts)] or parts[:1]
    distinct = known[0].distinct
    if len(known) > 1:
        concat = import_extra("pandas", "tables").concat
        distinct = concat([part.distinct for part in known], ignore_index=True)
    counts = np.concatenate([part.counts for part in known])
    return Values(distinct, counts, all(part.is_whole for part in known))


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
