"""What the columns of a table are for, besides features: identifiers, groups, weights, nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify._messages import did_you_mean, import_extra, shorten
from ramify._validation import is_missing
from ramify.data.columns import TEXT, tell_texts
from ramify.io.errors import FormatError
from ramify.io.tables.table import Table

LABELS = "labels"
KINDS = ("number", "category", "date", "time")
_FEW = 20  # rows among which consecutive numbers and distinct names may be chance
_MANY = 300  # rows of consecutive numbers that are not years or the like, wherever they begin
_YEARS = 2200  # numbers up to here may be years, depths or the like


@dataclass(frozen=True)
class Columns:
    """What the columns of a table are for, as far as a user has said."""

    # The label columns. None means the column "labels", or the hierarchical attribute of an ARFF
    # file; they may be missing if `labelled` is false.
    target: tuple[str, ...] | None = None
    sample_weight: str | None = None
    groups: str | None = None
    id_column: str | None = None
    drop: tuple[str, ...] = ()  # columns to leave out, which must exist
    ignore: tuple[str, ...] = ()  # columns to leave out if they exist
    kinds: Mapping[str, str] = field(default_factory=dict)  # what columns are
    categories: Mapping[str, Sequence[str]] = field(default_factory=dict)
    labelled: bool = True
    trained: bool = False  # whether the kinds are those of a model

    def check(self) -> None:
        """Raise an error if a column is for two purposes, or its kind is unknown."""
        targets = (LABELS,) if self.target is None else self.target
        if self.id_column is not None and self.id_column in targets:
            raise ValueError(
                f"id_column must not be a label column, got {self.id_column!r}. Pass the label "
                "columns with target=, and a column that names the rows with id_column=."
            )
        for name, kind in self.kinds.items():
            if kind not in (*KINDS, TEXT):
                raise ValueError(
                    f"kinds must be one of {', '.join(KINDS)} for every column, got {kind!r} for "
                    f"{name!r}."
                )


def identifiers(column: Any) -> Any:
    """Return the cells of a column as Python values; None if they are missing or empty."""
    known = column.notna() & (column.astype(str) != "")
    return column.astype(object).where(known, None)


def as_identifiers(cells: Any, name: str) -> Any:
    """Return cells as a column of identifiers: whole numbers without a point, None if missing."""
    pandas = import_extra("pandas", "tables")
    column = pandas.Series(cells, name=name)
    whole = column.dtype.kind == "f" and (column.dropna() % 1 == 0).all()
    known = column.notna()
    values = column[known].astype("int64" if whole else object)
    return values.astype(object).reindex(column.index).where(known, None)


def groups_of(cells: Any, name: str, where: str) -> Any:
    """Return the group of every row."""
    groups = np.array(
        [None if is_missing(cell) or cell == "" else str(cell) for cell in cells], dtype=object
    )
    without = np.flatnonzero(groups == None)  # noqa: E711 (cell by cell)
    if without.size:
        raise FormatError(
            f"{where}: every row must have a group, but the column {name!r} is empty in "
            f"{without.size} row(s), such as row {without[0] + 1}."
        )
    return groups


def weights_of(column: Any, where: str) -> NDArray[np.float64]:
    """Return a column of sample weights, which must be numbers."""
    weights = np.asarray(column, dtype=np.float64) if column.dtype.kind in "iuf" else None
    if weights is None or not (np.isfinite(weights) & (weights >= 0)).all():
        raise FormatError(
            f"{where}: expected finite, non-negative numbers in the weight column {column.name!r}."
        )
    return weights


# ---- attributes of ARFF and svmlight files -------------------------------------------------


def with_roles(table: Table, columns: Columns) -> Table:
    """Take weights, groups, identifiers and columns to leave out from the attributes."""
    table = _weighted(named_columns(table), columns.sample_weight)
    name = columns.id_column
    if name is not None and (name in table.strings or name in table.feature_names):
        ids = as_identifiers(_column(table, name), name)
        table = replace(selected(table, {name}), ids=ids)
    if columns.groups is not None:
        name = columns.groups
        if name not in table.feature_names and name not in table.strings:
            raise ValueError(
                f"groups must be a column of {table.name}, got {name!r}."
                f"{did_you_mean(name, table.feature_names)}"
            )
        groups = groups_of(_column(table, name), name, table.name)
        table = replace(selected(table, {name}), groups=groups)
    table = _with_texts(table)
    known = {*table.feature_names, columns.id_column, columns.groups}
    unknown = [name for name in columns.drop if name not in known]
    if unknown:
        raise ValueError(
            f"drop must name columns of the table, got {shorten(unknown)}. The columns are "
            f"{shorten(table.feature_names)}."
        )
    left_out = {*columns.drop, *columns.ignore} & set(table.feature_names)
    return selected(table, left_out) if left_out else table


def _with_texts(table: Table) -> Table:
    """Make features of the string attributes of an ARFF file that are texts."""
    ids = getattr(table.ids, "name", None)
    texts = {
        name: list(cells)
        for name, cells in table.strings.items()
        if name != ids and tell_texts(cells)[0]
    }
    if not texts or not hasattr(table.X, "columns"):
        return table
    return replace(
        table,
        X=table.X.assign(**texts),
        feature_names=(*table.feature_names, *texts),
        strings={name: cells for name, cells in table.strings.items() if name not in texts},
    )


def named_columns(table: Table) -> Table:
    """Return a table whose dense columns have names, by which a model can match them."""
    if hasattr(table.X, "columns") or sparse.issparse(table.X):
        return table
    try:
        pandas = import_extra("pandas", "tables")
    except ImportError:
        return table
    return replace(table, X=pandas.DataFrame(table.X, columns=list(table.feature_names)))


def _column(table: Table, name: str) -> Any:
    if name in table.strings:
        return table.strings[name]
    if hasattr(table.X, "columns"):
        return table.X[name]
    column = table.X[:, [table.feature_names.index(name)]]
    dense = column.toarray() if hasattr(column, "toarray") else np.asarray(column)
    return dense.astype(np.float64).ravel()


def _weighted(table: Table, name: str | None) -> Table:
    """Use a numeric attribute as sample weights."""
    if name is None:
        return table
    if name not in table.feature_names or name in table.categories:
        raise ValueError(
            f"sample_weight must be a numeric attribute of {table.name}, got {name!r}."
            f"{did_you_mean(name, table.feature_names)}"
        )
    if table.sample_weight is not None:
        raise ValueError(
            f"sample_weight={name} cannot be used with {table.name}, whose rows have weights in "
            "the file. Leave it out."
        )
    weights = np.asarray(_column(table, name), np.float64)
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise FormatError(
            f"{table.name}: expected finite, non-negative numbers in the weight column {name!r}."
        )
    return replace(selected(table, {name}), sample_weight=weights)


# ---- columns that are no features -----------------------------------------------------------


def selected(table: Table, left_out: set[str]) -> Table:
    """Return a table without some of its features."""
    if not left_out & set(table.feature_names):
        return table
    places = [k for k, name in enumerate(table.feature_names) if name not in left_out]
    kept = tuple(table.feature_names[k] for k in places)
    return replace(
        table,
        X=table.X[list(kept)] if hasattr(table.X, "columns") else table.X[:, places],
        feature_names=kept,
        categories={name: v for name, v in table.categories.items() if name not in left_out},
    )


_RUNNING = "consecutive numbers"


def left_out_columns(table: Table, keep: Sequence[str] = ()) -> dict[str, str]:
    """Return the columns that do not describe other rows, with the reason; raise if all are."""
    unknown = [name for name in keep if name not in table.feature_names]
    if unknown:
        raise ValueError(
            f"keep must name columns of the table, got {shorten(unknown)}. The columns are "
            f"{shorten(table.feature_names)}."
        )
    reasons = reasons_to_drop(table, keep)
    if hasattr(table.X, "columns") and len(reasons) == len(table.feature_names):
        raise _no_features_error(table, reasons)
    return reasons


def reasons_to_drop(table: Table, keep: Sequence[str] = ()) -> dict[str, str]:
    """Return the columns that do not describe other rows, which may be all, with the reason."""
    if not hasattr(table.X, "columns"):
        return {}
    reasons = {
        name: reason
        for name in table.feature_names
        if name not in keep and (reason := reason_to_drop(table.X[name]))
    }
    if len(reasons) < len(table.feature_names):
        return reasons
    # Consecutive numbers are better than no feature at all.
    return {name: why for name, why in reasons.items() if why != _RUNNING}


def _no_features_error(table: Table, reasons: dict[str, str]) -> ValueError:
    if not reasons:
        return ValueError(
            f"{table.name} has no features: it has no columns besides labels, weights and "
            "identifiers. Add columns of numbers, categories, texts or dates."
        )
    listed = ", ".join(f"{name} ({reason})" for name, reason in reasons.items())
    return ValueError(
        f"{table.name} has no features, because all columns were left out: {listed}. Add columns "
        "of numbers, categories, texts or dates. keep= uses a column nevertheless."
    )


def reason_to_drop(column: Any) -> str:
    """Return why a column does not describe other rows; empty if it may."""
    if bool(column.isna().all()) and len(column):
        return "no values"
    if names_rows(column):
        return "identifiers" if is_nearly_distinct(column) else "hardly any value repeats"
    if column.dtype.kind not in "biuf" or len(column) <= _FEW:
        return ""
    values = np.asarray(column, dtype=np.float64)
    counts = values[0] in (0, 1) or values[0] > _YEARS or len(values) > _MANY
    return (
        _RUNNING if counts and np.array_equal(values, np.arange(len(values)) + values[0]) else ""
    )


def is_nearly_distinct(column: Any) -> bool:
    """Return whether nine of ten cells of a column, or more, have a value of their own."""
    return bool(10 * column.nunique() >= 9 * column.count())


def names_rows(column: Any) -> bool:
    """Return whether a text column names rows: most of its cells are distinct."""
    if not hasattr(column, "cat"):
        return False
    codes = np.asarray(column.cat.codes)
    known = codes[codes >= 0]
    return len(known) > _FEW and 2 * len(np.unique(known)) > len(known)
