"""Read y with one column per target, numbers or classes that may be missing, and its weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify._messages import did_you_mean, shorten
from ramify._validation import is_missing

_MAX_CLASSES = 2**16
_LARGEST = 1e100  # of numeric targets, whose squares are summed


@dataclass(frozen=True)
class Columns:
    """The columns of y."""

    columns: list[NDArray[Any]]  # one array per target
    names: NDArray[Any] | None  # the names of the targets, if y was a data frame
    is_flat: bool  # whether y was one-dimensional

    def name(self, target: int) -> str:
        """Return how a message refers to a target."""
        if self.names is not None:
            return repr(str(self.names[target]))
        return "y" if self.is_flat else f"column {target} of y"


def read_columns(y: Any) -> Columns:
    """Split y into its columns."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None.")
    if sparse.issparse(y):
        raise ValueError(
            "y must be dense, got a sparse matrix. Pass y.toarray(), or use PCTClassifier for "
            "labels."
        )
    if hasattr(y, "columns"):
        names = np.array([str(name) for name in y.columns], dtype=object)
        if not len(names):
            raise ValueError("y must have a column for each target, got a data frame without any.")
        return Columns([np.asarray(y[name]) for name in y.columns], names, is_flat=False)
    if isinstance(y, np.ma.MaskedArray):  # masked values are missing values
        mask = np.ma.getmaskarray(y)
        missing: Any = None
        y = np.where(mask, missing, y.data) if mask.any() else y.data
    table = np.asarray(y)
    if np.iscomplexobj(table):
        raise ValueError("Complex data not supported: y must be real, got complex numbers.")
    if table.ndim not in (1, 2) or (table.ndim == 2 and table.shape[1] == 0):
        raise ValueError(
            f"y must have shape (n,) or (n, n_targets), got shape {table.shape}. Pass one column "
            "per target."
        )
    if table.ndim == 1:
        return Columns([table], None, is_flat=True)
    return Columns(list(table.T), None, is_flat=False)


def read_numbers(columns: Columns) -> NDArray[np.float64]:
    """Return numeric targets as an array of shape (n, n_targets), with NaN for missing values."""
    found = []
    for i, column in enumerate(columns.columns):
        try:
            numbers = np.array(
                [np.nan if is_missing(v) else v for v in column.tolist()]
                if column.dtype.kind == "O"
                else column,
                dtype=np.float64,
            )
        except (TypeError, ValueError):
            raise ValueError(
                f"y must be numeric, got {shorten(column.tolist(), 2)} in {columns.name(i)}. Pass "
                "numbers, or use PCTMultiTargetClassifier for classes."
            ) from None
        if np.isinf(numbers).any():
            raise ValueError(
                f"Input y contains infinity or a value too large in {columns.name(i)}. Use NaN "
                "for missing values."
            )
        largest = np.nanmax(np.abs(numbers), initial=0.0)
        if largest > _LARGEST:
            raise ValueError(
                f"y must be between {-_LARGEST:g} and {_LARGEST:g}, got a value of size "
                f"{largest:g} in {columns.name(i)}. Divide the target by a constant."
            )
        if np.isnan(numbers).all():
            raise ValueError(
                f"Input y contains NaN only in {columns.name(i)}. Leave this target out."
            )
        found.append(numbers)
    return np.ascontiguousarray(np.stack(found, axis=1))


def read_classes(
    columns: Columns, *, clus_order: bool = False
) -> tuple[NDArray[np.float64], list[NDArray[Any]]]:
    """Return nominal targets as codes, and the classes that the codes of each target stand for.

    `clus_order`: whether the classes are in the order of CLUS: sorted as strings, except that
    "1" precedes "0" if these are the only two classes.
    Returns: numbers from 0, with NaN for missing values.
    """
    codes, classes = [], []
    for i, column in enumerate(columns.columns):
        _check_classes(column, columns.name(i))
        values = column.tolist()
        known = np.array([not is_missing(value) for value in values], dtype=bool)
        if not known.any():
            raise ValueError(
                f"Input y contains no class in {columns.name(i)}, all values are missing. Leave "
                "this target out."
            )
        distinct = _sorted_classes(column[known], clus_order)
        number = {value: code for code, value in enumerate(distinct.tolist())}
        found = [number[value] if k else np.nan for value, k in zip(values, known, strict=True)]
        codes.append(np.array(found, dtype=np.float64))
        classes.append(distinct)
    return np.ascontiguousarray(np.stack(codes, axis=1)), classes


def _check_classes(column: NDArray[Any], name: str) -> None:
    if column.dtype.kind == "f":
        if np.isinf(column).any():
            raise ValueError(f"Input y contains infinity or a value too large in {name}.")
        known = column[~np.isnan(column)]
        if (known != np.floor(known)).any():
            raise ValueError(
                f"Unknown label type: continuous. {name} must have classes, got the numbers "
                f"{shorten(known.tolist(), 2)}. Use PCTRegressor for numeric targets."
            )


def _sorted_classes(known: NDArray[Any], clus_order: bool) -> NDArray[Any]:
    """Return the distinct classes in order."""
    values = list(dict.fromkeys(known.tolist()))
    if len(values) > _MAX_CLASSES:
        raise ValueError(
            f"y must have at most {_MAX_CLASSES} classes per target, got {len(values)}. Use "
            "PCTRegressor for numeric targets."
        )
    if clus_order:
        values.sort(key=str)
        if [str(value) for value in values] == ["0", "1"]:
            values.reverse()
    else:
        try:
            values.sort()
        except TypeError:
            values.sort(key=lambda value: (type(value).__name__, str(value)))
    if known.dtype.kind != "O":
        return np.array(values, dtype=known.dtype)
    ours = np.empty(len(values), dtype=object)
    ours[:] = values
    return ours


# ---- weights of targets ---------------------------------------------------------------------


# A standard deviation below this fraction of the mean is the rounding error of a constant.
_CONSTANT = 1e-13


def check_target_weight(target_weight: Any) -> None:
    """Raise an error unless `target_weight` is None, numbers or a mapping of names to numbers."""
    if target_weight is None:
        return
    values = target_weight.values() if isinstance(target_weight, Mapping) else target_weight
    try:
        weights = np.array(list(values), dtype=np.float64)
    except (TypeError, ValueError):
        weights = np.array([np.nan])
    if weights.ndim != 1 or not ((weights >= 0) & (weights < np.inf)).all():
        raise ValueError(
            "target_weight must be None, one number >= 0 per target, or a dict of target names to "
            f"numbers, got {target_weight!r}."
        )
    if len(weights) and not isinstance(target_weight, Mapping) and not weights.any():
        raise ValueError(
            f"target_weight must not be zero for all targets, got {target_weight!r}. Give at "
            "least one target a positive weight."
        )


def read_target_weight(
    target_weight: Any, n_targets: int, names: NDArray[Any] | None
) -> NDArray[np.float64]:
    """Return one factor per target.

    Examples
    --------
    >>> read_target_weight({"height": 2.0}, 2, np.array(["height", "width"]))
    array([2., 1.])
    """
    if target_weight is None:
        return np.ones(n_targets)
    if not isinstance(target_weight, Mapping):
        factors = np.array(list(target_weight), dtype=np.float64)
        if len(factors) != n_targets:
            raise ValueError(
                f"target_weight must have one number per target, got {len(factors)} numbers for "
                f"{n_targets} targets."
            )
        return factors
    known = [] if names is None else [str(name) for name in names]
    factors = np.ones(n_targets)
    for name, factor in target_weight.items():
        if str(name) not in known:
            where = "y has no column names" if names is None else "not a column of y"
            raise ValueError(
                f"target_weight has the unknown target {name!r}: {where}."
                f"{did_you_mean(name, known)} Pass a data frame as y, or a list of numbers."
            )
        factors[known.index(str(name))] = float(factor)
    if not factors.any():
        raise ValueError(
            f"target_weight must not be zero for all targets, got {target_weight!r}. Give at "
            "least one target a positive weight."
        )
    return factors


def weigh_numbers(
    values: NDArray[np.float64], sample_weight: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the reciprocal of the variance of each target, and the origin of its sums.

    `values`: numbers, with NaN for missing values.
    """
    known = ~np.isnan(values)
    weight = np.where(known, sample_weight[:, None], 0.0)
    filled = np.where(known, values, 0.0)
    n_known = weight.cumsum(axis=0)[-1]
    n_known = np.where(n_known > 0, n_known, 1.0)
    origin = (weight * filled).cumsum(axis=0)[-1] / n_known
    spread = (weight * (filled - origin) ** 2).sum(axis=0)
    scale = np.abs(filled).max(axis=0)
    spread = np.where(spread <= n_known * (_CONSTANT * scale) ** 2, 0.0, spread)
    return divide(n_known, spread), origin


def weigh_classes(
    codes: NDArray[np.float64], sample_weight: NDArray[np.float64], n_classes: list[int]
) -> NDArray[np.float64]:
    """Return the reciprocal of the Gini index of each target, 1 for constant targets."""
    gini = np.empty(len(n_classes))
    for i, n in enumerate(n_classes):
        known = ~np.isnan(codes[:, i])
        counts = np.bincount(
            codes[known, i].astype(np.int64), weights=sample_weight[known], minlength=n
        )
        share = counts / max(counts.sum(), np.finfo(float).tiny)
        gini[i] = 1.0 - float(np.sum(share * share))
    return divide(1.0, np.where(gini > _CONSTANT, gini, 0.0))


def divide(numerator: Any, denominator: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return quotients; 1 where the denominator is not positive."""
    positive = denominator > 0
    quotient = numerator / np.where(positive, denominator, 1.0)
    return np.where(positive, quotient, 1.0)
