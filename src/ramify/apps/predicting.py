"""Read the rows of a file for a saved model and predict their labels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from ramify._messages import shorten
from ramify.apps.reading.any_file import read_data
from ramify.apps.reading.settings import DataOptions, ReadingSettings
from ramify.inspection.page.performance import Performance
from ramify.inspection.tables.facts import TableSummary
from ramify.io.roles import as_identifiers
from ramify.io.tables import Table
from ramify.labels.encoding import read_labels
from ramify.labels.hierarchy import Hierarchy
from ramify.saving import ModelFileError, load
from ramify.saving.model import load_performance, load_settings, load_table

__all__ = [
    "date_columns",
    "features_for",
    "label_cells",
    "label_sets",
    "load_classifier",
    "nominal_columns",
    "read_for",
    "remembered_performance",
    "remembered_settings",
    "remembered_table",
    "schema_of",
]


def features_for(model: Any, data: Table) -> Any:
    """Select the columns that a model was trained on, by name and in its order."""
    names = getattr(model, "feature_names_in_", None)
    if names is None or not hasattr(data.X, "columns"):
        return data.X
    missing = [name for name in names if name not in data.X.columns]
    if missing:
        raise ValueError(
            f"{data.name} must have the {len(names)} columns that the model was trained on, got "
            f"{shorten(data.X.columns)}. Add the missing columns: {shorten(missing)}."
        )
    return data.X[list(names)]


def load_classifier(path: Path) -> Any:
    """Load a fitted classifier of ramify."""
    model = load(path)
    if not hasattr(model, "hierarchy_"):
        check_is_fitted(model)
        raise ValueError(
            f"{path} must contain a classifier of ramify, got a {type(model).__name__}. Pass a "
            "model written by ramify train, or use ramify.load in Python."
        )
    return model


def remembered_settings(path: Path) -> ReadingSettings:
    """Return how the training data of a model were read."""
    values = load_settings(path)
    try:
        return ReadingSettings.from_dict(values)
    except ValueError as error:
        raise ModelFileError(f"{path} is not a valid ramify model file: {error}") from None


def remembered_performance(path: Path, hierarchy: Hierarchy) -> Performance | None:
    """Return how well a model predicts, as measured when it was trained; None if it was not."""
    values = load_performance(path)
    try:
        return Performance.from_dict(values, hierarchy.n_labels) if values else None
    except ValueError as error:
        raise ModelFileError(f"{path} is not a valid ramify model file: {error}") from None


def remembered_table(path: Path) -> TableSummary:
    """Return the summary of the training data of a model."""
    values = load_table(path)
    if not values:
        raise ValueError(
            f"{path} has no summary of its training data. Only ramify train stores one; look at "
            "the table instead."
        )
    try:
        return TableSummary.from_dict(values)
    except ValueError as error:
        raise ModelFileError(f"{path} is not a valid ramify model file: {error}") from None


def read_for(
    model: Any,
    path: Path,
    options: DataOptions,
    hierarchy: Hierarchy | None = None,
    *,
    labelled: bool = True,
) -> Table:
    """Read a data file with the columns of a model."""
    nominal, dates = nominal_columns(model), date_columns(model)
    # Without a schema, it is not known which features are numeric.
    names = () if schema_of(model) is None else getattr(model, "feature_names_in_", ())
    numeric = [str(name) for name in names if name not in (*nominal, *dates)]
    id_column = options.id_column
    is_feature = id_column in getattr(model, "feature_names_in_", ())
    table = read_data(
        path,
        hierarchy,
        replace(options, id_column=None) if is_feature else options,
        labelled=labelled,
        texts=nominal,
        numbers=numeric,
        dates=dates,
    )
    if id_column is not None and is_feature and id_column in table.feature_names:
        return replace(table, ids=as_identifiers(table.X[id_column], id_column))
    return table


def schema_of(model: Any) -> Any:
    """Return what a model knows of its columns, or a member with all of them; None if nothing."""
    inside = (getattr(model, "estimator_", None), *(getattr(model, "estimators_", None) or ()))
    for one in (model, *inside):
        schema = getattr(one, "schema_", None)
        if schema is not None and _same_columns(one, model):
            return schema
    return None


def _same_columns(one: Any, model: Any) -> bool:
    names, own = (getattr(each, "feature_names_in_", ()) for each in (one, model))
    return np.array_equal(names, own)


def nominal_columns(model: Any) -> list[str]:
    """Return the names of the nominal columns of a model.

    Returns: empty if the model does not have this information.
    """
    schema = schema_of(model)
    return [] if schema is None else _names_of(model, schema.categories)


def date_columns(model: Any) -> list[str]:
    """Return the names of the columns of a model that are dates.

    Returns: empty if the model does not have this information.
    """
    schema = schema_of(model)
    if schema is None:
        return []
    return _names_of(model, (j for j, kind in schema.times.items() if kind.startswith("date")))


def _names_of(model: Any, columns: Iterable[int]) -> list[str]:
    """Return the names of some columns of a model, none if its columns have no names."""
    names = getattr(model, "feature_names_in_", None)
    return [] if names is None else [str(names[j]) for j in columns]


def label_sets(
    model: Any, X: Any, threshold: float | None = None, decide: str | None = None
) -> sparse.csr_array[np.int32]:
    """Return the label sets predicted by a model.

    Returns: label sets, including ancestors.
    """
    if threshold is None:
        how = {} if decide is None else {"decide": decide}
        return read_labels(model.predict(X, **how), model.hierarchy_).Y
    if decide is not None:
        raise ValueError(
            f"--decide {decide} chooses the rule that --threshold {threshold} replaces. Pass one "
            "of them."
        )
    blocks = (scores >= threshold for scores in model.iter_predict_proba(X))
    sets: list[Any] = [sparse.csr_array(chosen.astype(np.int32)) for chosen in blocks]
    return sparse.csr_array(sparse.vstack(sets))


def label_cells(model: Any, Y: Any, separator: str = ";") -> list[str]:
    """Format label sets as text: the most specific labels of each row."""
    rows = model.hierarchy_.decode(Y)
    return [separator.join(str(label) for label in labels) for labels in rows]
