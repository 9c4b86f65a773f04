"""Read the rows of a file for a saved model and predict their labels."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from ramify._messages import counted, shorten
from ramify.apps.reading.any_file import read_data
from ramify.apps.reading.settings import DataOptions, ReadingSettings
from ramify.data.columns import TIMES
from ramify.inspection.page.performance import Performance
from ramify.inspection.tables.summary import TableSummary
from ramify.io.formats import DATA
from ramify.io.tables.roles import as_identifiers
from ramify.io.tables.table import Table
from ramify.io.vectors import VECTORS
from ramify.labels.encoding import read_labels
from ramify.labels.formats import names_by_level
from ramify.labels.hierarchy import Hierarchy
from ramify.saving import ModelFileError, load
from ramify.saving.model import load_performance, load_settings, load_table

__all__ = [
    "UnfamiliarRows",
    "features_for",
    "keep_promise",
    "kinds_of_columns",
    "label_cells",
    "label_sets",
    "level_cells",
    "load_classifier",
    "read_for",
    "remembered_notes",
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
            + " Pass the file of vectors with --vectors."
            * (missing == [VECTORS])
        )
    return data.X[list(names)]


def load_classifier(path: Path) -> Any:
    """Load a fitted classifier of ramify."""
    if path.suffix.lower() in DATA and path.is_file():
        raise ValueError(
            f"{path} is a table, not a model. Pass the model file that ramify train has written "
            "first, then the table."
        )
    model = load(path)
    if not hasattr(model, "hierarchy_"):
        check_is_fitted(model)
        raise ValueError(
            f"{path} must contain a classifier of ramify, got a {type(model).__name__}. Pass a "
            "model written by ramify train, or use ramify.load in Python."
        )
    return model


def keep_promise(model: Any, max_error: float | None, threshold: float | None = None) -> Any:
    """Return the model with another promise about its errors; unchanged if None."""
    if max_error is None:
        return model
    if threshold is not None:
        raise ValueError(
            f"--max-error {max_error:g} chooses the thresholds that --threshold {threshold:g} "
            "replaces. Pass one of them."
        )
    if not hasattr(model, "with_max_error"):
        raise ValueError(
            f"--max-error requires a model that was calibrated, got a {type(model).__name__}. "
            "Train it with --max-error."
        )
    return model.with_max_error(max_error)


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


def remembered_notes(path: Path) -> list[str]:
    """Return what was said of the training data of a model; empty if it is not known."""
    return remembered_table(path).notes if load_table(path) else []


def read_for(
    model: Any,
    path: Path,
    options: DataOptions,
    hierarchy: Hierarchy | None = None,
    *,
    labelled: bool = True,
) -> Table:
    """Read a data file with the columns of a model."""
    schema, names = schema_of(model), list(getattr(model, "feature_names_in_", ()))
    vectors = [str(names[j]) for j in schema.vectors] if schema is not None and names else []
    id_column = options.id_column
    is_feature = id_column in getattr(model, "feature_names_in_", ())
    table = read_data(
        path,
        hierarchy,
        replace(options, id_column=None) if is_feature else options,
        labelled=labelled,
        kinds=kinds_of_columns(model),
        vectors=vectors,
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


def kinds_of_columns(model: Any) -> dict[str, str] | None:
    """Return what the columns of a model are; None if it does not have this information."""
    schema, names = schema_of(model), getattr(model, "feature_names_in_", None)
    if schema is None or names is None:
        return None
    named = {"category": schema.categories, "text": schema.texts}
    dates = [j for j, kind in schema.times.items() if kind.startswith("date")]
    kinds = {j: kind for kind, columns in named.items() for j in columns}
    kinds |= dict.fromkeys(dates, "date")
    kinds |= {j: "time" for j, kind in schema.times.items() if kind == TIMES[3]}
    others = {*schema.vectors, *schema.times}
    return {
        str(name): kinds.get(j, "number")
        for j, name in enumerate(names)
        if j in kinds or j not in others
    }


_ROWS_COMPARED = 10_000  # with the rows of the calibration, which takes a prediction


class UnfamiliarRows:
    """How rows differ from those that a model knows.

    Cells of nominal columns may have values that were not seen in training. A promise may not hold
    if the model is more, or less, sure of the rows than of those that it was calibrated on.
    """

    def __init__(self, model: Any) -> None:
        schema, names = schema_of(model), getattr(model, "feature_names_in_", ())
        known = schema.categories if schema is not None and len(names) else {}
        self._known = {str(names[j]): set(values) for j, values in known.items()}
        self._counts: dict[str, Counter[str]] = {name: Counter() for name in self._known}
        self._calibrated: Any = model if hasattr(model, "shift_of") else None
        self._scores: list[NDArray[np.float64]] = []

    def count(self, X: Any) -> None:
        """Count the cells of some rows."""
        if self._calibrated is not None and sum(map(len, self._scores)) < _ROWS_COMPARED:
            self._scores.append(self._calibrated.confidences(X[:_ROWS_COMPARED]))
        for name, known in self._known.items() if hasattr(X, "columns") else ():
            values = X[name].value_counts()
            found = {str(v): int(n) for v, n in values.items() if n and v not in known}
            self._counts[name].update(found)

    def notes(self) -> list[str]:
        """Return a sentence for each column with such cells, and one if a promise may not hold."""
        shift = self._calibrated.shift_of(np.concatenate(self._scores)) if self._scores else None
        found = [str(shift)] if shift is not None and shift.is_likely else []
        return found + [
            f"column {name!r}: {counted(counts.total(), 'cell')} with values that the model has "
            f"not seen in training, such as {shorten(dict(counts.most_common(3)))}; they count as "
            "missing"
            for name, counts in self._counts.items()
            if counts
        ]


def label_sets(
    model: Any, X: Any, threshold: float | None = None, decide: str | None = None
) -> sparse.csr_array[np.int32]:
    """Return the label sets, including ancestors, predicted by a model."""
    if threshold is None:
        if decide is not None:
            return read_labels(model.predict(X, decide=decide), model.hierarchy_).Y
        return sparse.csr_array(model._predict_sets(X))  # not in the format of y, to be read again
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


def level_cells(model: Any, Y: Any, n_levels: int, separator: str = ";") -> list[list[str]]:
    """Format label sets as one column of names per level, empty below the end of a path.

    The names of several paths are joined by the separator.
    """
    names = names_by_level(model.hierarchy_)
    rows = [
        [[names[j][level] for j in found if len(names[j]) > level] for level in range(n_levels)]
        for found in (model.hierarchy_.indices(row) for row in model.hierarchy_.decode(Y))
    ]
    return [
        [separator.join(dict.fromkeys(levels[level])) for levels in rows]
        for level in range(n_levels)
    ]
