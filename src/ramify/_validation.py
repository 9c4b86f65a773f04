"""Input validation: check arguments, convert them to canonical arrays, raise clear errors."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify._messages import did_you_mean, shorten

Label: TypeAlias = str | int | float
"""Name of a label: a string, or a number in flat hierarchies."""


class UnknownLabelsError(ValueError):
    """Labels that are not in the hierarchy, kept in `labels`."""

    def __init__(self, message: str, labels: Sequence[Label] = ()) -> None:
        super().__init__(message, labels)
        self.labels = tuple(labels)

    def __str__(self) -> str:
        return str(self.args[0])


def unknown_labels_error(
    unknown: Iterable[Label], labels: Collection[Label]
) -> UnknownLabelsError:
    """Build the error for labels that are not in the hierarchy."""
    missing = list(dict.fromkeys(unknown))
    noun = "label" if len(missing) == 1 else "labels"
    return UnknownLabelsError(
        f"unknown {noun} {shorten(missing)}: not among the {len(labels)} labels of the hierarchy."
        f"{did_you_mean(missing[0], labels)} Correct the spelling, or build the hierarchy from "
        "all labels that can occur.",
        missing,
    )


def is_missing(value: object) -> bool:
    """Return whether a value is missing: None, NaN, NaT or pandas.NA."""
    if isinstance(value, str):  # the usual case
        return False
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, Decimal):
        return value.is_nan()
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def check_label_name(label: object, where: str, kinds: tuple[type, ...] = (str, int)) -> Label:
    """Return a label as a plain Python value, or raise an error if it is not a valid name."""
    if isinstance(label, np.generic):
        label = label.item()
    if is_missing(label):
        raise ValueError(
            f"{where} must not be missing, got {label!r}. Drop it, or replace it with a label."
        )
    if not isinstance(label, kinds):
        names = " or ".join(kind.__name__ for kind in kinds)
        raise TypeError(
            f"{where} must be of type {names}, got {label!r} of type {type(label).__name__}. "
            "Convert labels to strings."
        )
    if label == "":
        raise ValueError(f"{where} must not be an empty string. Name the label or drop it.")
    assert isinstance(label, str | int | float)  # noqa: S101 (the kinds above, for the checker)
    return label


def check_label_matrix(
    Y: Any, labels: Sequence[Label] | int, name: str = "Y"
) -> sparse.csr_array[np.int32]:
    """Return an indicator matrix as a canonical csr_array of int32 ones without stored zeros."""
    n_labels = labels if isinstance(labels, int) else len(labels)
    matrix: Any = Y if sparse.issparse(Y) else _dense_matrix(Y, name)
    if matrix.ndim != 2:
        raise ValueError(
            f"{name} must be a 2-D label matrix with one column per label, got {matrix.ndim} "
            "dimension(s). Use hierarchy.encode for label sets."
        )
    if matrix.shape[1] != n_labels:
        raise ValueError(
            f"{name} has {matrix.shape[1]} columns, but the hierarchy has {n_labels} labels. "
            "Pass one column per label, in the order of hierarchy.labels."
        )
    rows = matrix if type(matrix) is sparse.csr_array else sparse.csr_array(matrix)
    bad = np.flatnonzero((rows.data != 0) & (rows.data != 1))
    if bad.size:
        row = int(np.searchsorted(rows.indptr, bad[0], side="right")) - 1
        column = int(rows.indices[bad[0]])
        label = "" if isinstance(labels, int) else f" (label {labels[column]!r})"
        raise ValueError(
            f"{name} must contain only 0 and 1, got {rows.data[bad[0]]} at row {row}, column "
            f"{column}{label}. Threshold scores first; set missing values to 0."
        )
    return _canonical(rows, name)


def _canonical(rows: Any, name: str) -> sparse.csr_array[np.int32]:
    """Sort indices and drop stored zeros, on a copy if anything has to change."""
    clean = rows.astype(np.int32, copy=False)
    if not (clean.has_canonical_format and clean.data.all()):
        clean = clean.copy()
        clean.eliminate_zeros()
        clean.sum_duplicates()
    if clean.data.size and clean.data.max() > 1:
        raise ValueError(f"{name} must not contain duplicate entries. Store each entry once.")
    return cast("sparse.csr_array[np.int32]", clean)


def _dense_matrix(Y: Any, name: str) -> NDArray[Any]:
    try:
        matrix = np.asarray(Y)
    except ValueError:
        raise ValueError(
            f"{name} must have one column per label, got rows of different lengths. Use "
            "hierarchy.encode for label sets."
        ) from None
    if matrix.dtype.kind not in "biuf":
        raise ValueError(
            f"{name} must contain only 0 and 1, got values of type {matrix.dtype}. Use "
            "hierarchy.encode for label names."
        )
    return matrix


def canonical_scores(
    scores: Any,
) -> tuple[sparse.csr_array[np.float64], tuple[int, int, float] | None]:
    """Return sparse scores with sorted columns, and (row, column, value) of a cell not finite."""
    rows: Any = sparse.csr_array(scores).astype(np.float64, copy=False)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    bad = np.flatnonzero(~np.isfinite(rows.data))
    if not len(bad):
        return rows, None
    row = int(np.searchsorted(rows.indptr, bad[0], side="right")) - 1
    return rows, (row, int(rows.indices[bad[0]]), float(rows.data[bad[0]]))


def missing_label_error(row: int, value: object) -> ValueError:
    """Build the error for a row of y whose label is missing."""
    return ValueError(
        f"Input y contains NaN: y[{row}] is {value!r}. Drop rows without a label, or pass label "
        "sets, which may be empty."
    )


def check_same_length(n_rows: int, n_label_rows: int, suffix: str = "") -> None:
    """Raise an error if X and y, or X_val and y_val, have different numbers of rows."""
    if n_rows != n_label_rows:
        raise ValueError(
            f"X{suffix} has {n_rows} rows, but y{suffix} has {n_label_rows}. Pass one label set "
            f"per row of X{suffix}."
        )


def has_validation(X_val: Any, y_val: Any, sample_weight_val: Any) -> bool:
    """Return whether `fit` has got validation rows; raise an error if they are incomplete."""
    if X_val is None and (y_val is not None or sample_weight_val is not None):
        raise ValueError("X_val must be given with y_val and sample_weight_val, got None.")
    if X_val is not None and y_val is None:
        raise ValueError("y_val must be given with X_val, got None.")
    return X_val is not None


def check_sample_weight(sample_weight: Any, n_rows: int, suffix: str = "") -> NDArray[np.float64]:
    """Return one finite, non-negative weight per row, not all of them zero."""
    given = 1.0 if sample_weight is None else sample_weight
    name = f"sample_weight{suffix}"
    if np.ma.is_masked(given):
        raise ValueError(f"{name} must not have masked values. Use 0 for rows to leave out.")
    try:
        weights = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} must be numeric, got a {type(given).__name__} that cannot be converted to "
            f"numbers. Pass one number per row of X{suffix}."
        ) from None
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.ndim != 1 or len(weights) != n_rows:
        raise ValueError(
            f"{name} must have shape ({n_rows},), got {weights.shape}. Pass one weight per row of "
            f"X{suffix}."
        )
    bad = np.flatnonzero(~((weights >= 0) & (weights < np.inf)))
    if bad.size:
        raise ValueError(
            f"{name}[{bad[0]}] must be finite and non-negative, got {weights[bad[0]]}. Use "
            "0 for rows to leave out."
        )
    if n_rows and not weights.any():
        raise ValueError(
            f"{name} is zero for every row. Pass a positive weight for at least one row."
        )
    return weights


def check_choice(name: str, value: Any, choices: tuple[str | None, ...]) -> None:
    """Raise an error if a value is not among the choices of a parameter."""
    if value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {listed}, got {value!r}.")


def check_number(
    name: str, value: Any, low: float, high: float = math.inf, *, whole: bool = False
) -> None:
    """Raise an error if a value is not a number in [low, high]."""
    kinds = (int, np.integer) if whole else (int, float, np.integer, np.floating)
    is_number = isinstance(value, kinds) and not isinstance(value, bool)
    if not is_number or not low <= value <= high:
        kind = "an integer" if whole else "a number"
        bounds = f">= {low:g}" if high == math.inf else f"from {low:g} to {high:g}"
        raise ValueError(f"{name} must be {kind} {bounds}, got {value!r}.")


def check_folds(cv: Any, name: str = "cv") -> None:
    """Raise an error if `cv` is neither a number of folds nor a way to split rows."""
    if isinstance(cv, int | np.integer):
        check_number(name, cv, 2, whole=True)
    elif isinstance(cv, str) or not (hasattr(cv, "split") or isinstance(cv, Iterable)):
        raise ValueError(
            f"{name} must be an integer >= 2, a splitter or an iterable of (train, test), got "
            f"{cv!r}."
        )


def check_classifier(estimator: Any) -> None:
    """Raise an error if `estimator` does not follow scikit-learn's classifier API."""
    if type(estimator).__name__ == "Hierarchy":
        raise TypeError(
            "estimator must be a classifier, got a Hierarchy. Pass it as hierarchy=..."
        )
    if not hasattr(estimator, "fit") or not hasattr(estimator, "get_params"):
        raise TypeError(
            f"estimator must be a classifier with fit and predict_proba, got {estimator!r}. Pass "
            "a classifier of ramify or one that follows scikit-learn's API."
        )
