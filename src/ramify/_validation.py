"""Checks of the front door: arguments in, canonical arrays or a readable error out."""

from __future__ import annotations

import difflib
import importlib
import math
from collections.abc import Collection, Iterable, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Label: TypeAlias = str | int | float
"""What names a class: a string, or a number in flat hierarchies."""

_SHOWN = 5


def import_extra(module: str, extra: str) -> Any:
    """Import an optional dependency, or say how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"this needs {module}, which is not installed. Run: pip install 'ramify[{extra}]'"
        ) from error


def shorten(values: Iterable[object], shown: int = _SHOWN) -> str:
    """Write the first few values of a list, and say how many were left out."""
    listed = list(values)
    text = ", ".join(repr(value) for value in listed[:shown])
    hidden = len(listed) - shown
    return f"{text} and {hidden} more" if hidden > 0 else text


def did_you_mean(label: object, labels: Iterable[object]) -> str:
    """Suggest the known label nearest to a misspelt one; empty when none is near.

    Examples
    --------
    >>> did_you_mean("mamal", ["mammal", "bird"])
    " Did you mean 'mammal'?"
    """
    known = {str(candidate): candidate for candidate in labels}
    near = difflib.get_close_matches(str(label), known, n=1)
    return f" Did you mean {known[near[0]]!r}?" if near else ""


def unknown_labels_error(unknown: Iterable[Label], labels: Collection[Label]) -> ValueError:
    """Build the error for labels that the hierarchy does not have."""
    missing = list(dict.fromkeys(unknown))
    noun = "label" if len(missing) == 1 else "labels"
    return ValueError(
        f"unknown {noun} {shorten(missing)}: the hierarchy has {len(labels)} labels and not "
        f"{'this one' if len(missing) == 1 else 'these'}."
        f"{did_you_mean(missing[0], labels)} Correct the spelling, or build the hierarchy from "
        "all labels that may occur."
    )


def is_missing(value: object) -> bool:
    """Tell whether a value stands for "not known": None, NaN, NaT or pandas.NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def check_label_name(label: object, where: str, kinds: tuple[type, ...] = (str, int)) -> Label:
    """Return a label as a plain Python value, or say why it cannot name a class."""
    if isinstance(label, np.generic):
        label = label.item()
    if is_missing(label):
        raise ValueError(
            f"{where} is {label!r}, which is a missing value and no label. Drop it, or give the "
            "class a name."
        )
    if not isinstance(label, kinds):
        names = " or ".join(kind.__name__ for kind in kinds)
        raise TypeError(
            f"{where} is {label!r} of type {type(label).__name__}, but a label must be {names}."
        )
    if label == "":
        raise ValueError(f"{where} is an empty string, but a label must have a name.")
    assert isinstance(label, str | int | float)  # noqa: S101 (the kinds above, for the checker)
    return label


def check_label_matrix(
    Y: Any, labels: Sequence[Label] | int, name: str = "Y"
) -> sparse.csr_array[np.int32]:
    """Return an indicator matrix as a clean csr_array of int32 zeros and ones.

    Parameters
    ----------
    Y : array-like or sparse matrix of shape (n, n_labels)
        Only 0 and 1 (or False and True) may occur.
    labels : sequence of labels, or int
        The labels of the columns, or how many there are.
    name : str
        What the error messages call the matrix.

    Returns
    -------
    csr_array of shape (n, n_labels)
        Sorted indices, no stored zeros, no repeats.

    Examples
    --------
    >>> check_label_matrix([[1, 0], [1, 1]], 2).indices.tolist()
    [0, 0, 1]
    >>> check_label_matrix([[1, 0, 1]], 2)
    Traceback (most recent call last):
        ...
    ValueError: Y has 3 columns, but the hierarchy has 2 labels. Give one column per label, ...
    """
    n_labels = labels if isinstance(labels, int) else len(labels)
    matrix: Any = Y if sparse.issparse(Y) else _dense_matrix(Y, name)
    if matrix.ndim != 2:
        raise ValueError(
            f"{name} has {matrix.ndim} dimension(s), but a label matrix has 2: one row per "
            "example and one column per label."
        )
    if matrix.shape[1] != n_labels:
        raise ValueError(
            f"{name} has {matrix.shape[1]} columns, but the hierarchy has {n_labels} labels. "
            "Give one column per label, in the order of hierarchy.labels."
        )
    rows = sparse.csr_array(matrix)
    bad = np.flatnonzero((rows.data != 0) & (rows.data != 1))
    if bad.size:
        row = int(np.searchsorted(rows.indptr, bad[0], side="right")) - 1
        column = int(rows.indices[bad[0]])
        label = "" if isinstance(labels, int) else f" (label {labels[column]!r})"
        raise ValueError(
            f"{name} holds {rows.data[bad[0]]} in row {row}, column {column}{label}, but a label "
            "matrix holds only 0 and 1. Threshold scores first; fill missing values with 0."
        )
    return _canonical(rows, name)


def _canonical(rows: Any, name: str) -> sparse.csr_array[np.int32]:
    """Sort indices and drop stored zeros, on a copy where something has to change."""
    clean = rows.astype(np.int32, copy=False)
    if not (clean.has_canonical_format and clean.data.all()):
        clean = clean.copy()
        clean.eliminate_zeros()
        clean.sum_duplicates()
    if clean.data.size and clean.data.max() > 1:
        raise ValueError(f"{name} stores an entry twice. Store every entry once.")
    return cast("sparse.csr_array[np.int32]", clean)


def _dense_matrix(Y: Any, name: str) -> NDArray[Any]:
    try:
        matrix = np.asarray(Y)
    except ValueError:
        raise ValueError(
            f"{name} has rows of different length, but a label matrix has one column per label. "
            "For label sets use hierarchy.encode."
        ) from None
    if matrix.dtype.kind not in "biuf":
        raise ValueError(
            f"{name} has values of type {matrix.dtype}, but a label matrix holds only 0 and 1. "
            "For label names use hierarchy.encode."
        )
    return matrix


def missing_label_error(row: int, value: object) -> ValueError:
    """Build the error for a row of y whose label is not known."""
    return ValueError(
        f"Input y contains NaN: y[{row}] is {value!r}. Drop rows without a label, or give label "
        "sets, which may be empty."
    )


def check_same_length(n_rows: int, n_label_rows: int) -> None:
    """Refuse X and y that do not have the same number of rows.

    Examples
    --------
    >>> check_same_length(3, 2)
    Traceback (most recent call last):
        ...
    ValueError: X has 3 rows, but y has 2. Give one label set per row of X.
    """
    if n_rows != n_label_rows:
        raise ValueError(
            f"X has {n_rows} rows, but y has {n_label_rows}. Give one label set per row of X."
        )


def check_sample_weight(sample_weight: Any, n_rows: int) -> NDArray[np.float64]:
    """Return one finite, non-negative weight per row, not all zero.

    Parameters
    ----------
    sample_weight : array-like, number or None
        None and a number give every row the same weight, None 1.
    n_rows : int
        How many rows X has.

    Returns
    -------
    ndarray of float64, shape (n_rows,)
        The weights.

    Examples
    --------
    >>> check_sample_weight([1, 2], 2)
    array([1., 2.])
    >>> check_sample_weight([1, -2], 2)
    Traceback (most recent call last):
        ...
    ValueError: sample_weight[1] is -2.0, but a weight must be a number of 0 or more.
    """
    given = 1.0 if sample_weight is None else sample_weight
    try:
        weights = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"sample_weight of type {type(given).__name__} does not convert to numbers. Give one "
            "number per row of X."
        ) from None
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.ndim != 1 or len(weights) != n_rows:
        raise ValueError(
            f"sample_weight has shape {weights.shape}, but X has {n_rows} rows. Give one weight "
            f"per row: shape ({n_rows},)."
        )
    bad = np.flatnonzero(~((weights >= 0) & (weights < np.inf)))
    if bad.size:
        raise ValueError(
            f"sample_weight[{bad[0]}] is {weights[bad[0]]}, but a weight must be a number of 0 or "
            "more."
        )
    if n_rows and not weights.any():
        raise ValueError("sample_weight is zero for every row. Give some row a weight above 0.")
    return weights


def check_choice(name: str, value: Any, choices: tuple[str | None, ...]) -> None:
    """Refuse a value that is not among the choices of a parameter."""
    if value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} is {value!r}, but it must be one of {listed}.")


def check_number(
    name: str, value: Any, low: float, high: float = math.inf, *, whole: bool = False
) -> None:
    """Refuse a value that is no number of [low, high]."""
    kinds = (int, np.integer) if whole else (int, float, np.integer, np.floating)
    is_number = isinstance(value, kinds) and not isinstance(value, bool)
    if not is_number or not low <= value <= high:
        kind = "a whole number" if whole else "a number"
        bounds = f"of {low:g} or more" if high == math.inf else f"from {low:g} to {high:g}"
        raise ValueError(f"{name} is {value!r}, but it must be {kind} {bounds}.")


def check_classifier(estimator: Any) -> None:
    """Refuse what is no classifier of scikit-learn's kind.

    Parameters
    ----------
    estimator : object
        The parameter of this name.
    """
    if not hasattr(estimator, "fit") or not hasattr(estimator, "get_params"):
        raise TypeError(
            f"estimator is {estimator!r}, but it must be a classifier with fit and predict_proba, "
            "of ramify or of scikit-learn's kind."
        )
