"""Predict the rows of a file with a saved model and write the result to a file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from ramify import load
from ramify._validation import did_you_mean, import_extra, shorten
from ramify.hierarchy.hierarchy import Hierarchy
from ramify.io import write_arff
from ramify.io.any_file import read_data
from ramify.io.files import replacing, writing_text
from ramify.io.settings import DataOptions, ReadingSettings
from ramify.io.table import Table
from ramify.labels.encoding import read_labels
from ramify.saving import ModelFileError
from ramify.saving.model import load_settings

__all__ = [
    "date_columns",
    "features_for",
    "label_cells",
    "label_sets",
    "load_classifier",
    "nominal_columns",
    "probability_table",
    "read_for",
    "remembered_settings",
    "write_predictions",
]


def features_for(model: Any, data: Table) -> Any:
    """Select the columns that a model was trained on, by name and in its order.

    Parameters
    ----------
    model : estimator
        A fitted model.
    data : Table
        Data with at least these columns.

    Returns
    -------
    data frame or matrix
        The features for `predict`.
    """
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
    """Load a fitted classifier of ramify.

    Parameters
    ----------
    path : Path
        A model file.

    Returns
    -------
    estimator
        With a hierarchy. Other estimators, such as pipelines, are refused.
    """
    model = load(path)
    if not hasattr(model, "hierarchy_"):
        check_is_fitted(model)
        raise ValueError(
            f"{path} must contain a classifier of ramify, got a {type(model).__name__}. Pass a "
            "model written by ramify train, or use ramify.load in Python."
        )
    return model


def remembered_settings(path: Path) -> ReadingSettings:
    """Return how the training data of a model were read.

    Parameters
    ----------
    path : Path
        A model file.

    Returns
    -------
    ReadingSettings
        What the user said in ``ramify train``; nothing for models saved in Python.
    """
    values = load_settings(path)
    try:
        return ReadingSettings.from_dict(values)
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
    """Read a data file with the columns of a model.

    Parameters
    ----------
    model : estimator
        A fitted model.
    path : Path
        The data.
    options : DataOptions
        How the file is to be read.
    hierarchy : Hierarchy, optional
        The labels that can occur.
    labelled : bool
        As in `read_data`.

    Returns
    -------
    Table
        Nominal features of the model are text. Text in its numeric features is an error, and so
        is anything but dates in its dates.
    """
    nominal, dates = nominal_columns(model), date_columns(model)
    # Without a schema, as in a vote, it is not known which features are numeric.
    names = getattr(model, "feature_names_in_", ()) if hasattr(model, "schema_") else ()
    numeric = [str(name) for name in names if name not in (*nominal, *dates)]
    return read_data(
        path,
        hierarchy,
        options,
        labelled=labelled,
        texts=nominal,
        numbers=numeric,
        dates=dates,
    )


def nominal_columns(model: Any) -> list[str]:
    """Return the names of the nominal columns of a model.

    Parameters
    ----------
    model : estimator
        A fitted model.

    Returns
    -------
    list of str
        Empty if the model does not have this information.
    """
    schema = getattr(model, "schema_", None)
    return [] if schema is None else _names_of(model, schema.categories)


def date_columns(model: Any) -> list[str]:
    """Return the names of the columns of a model that are dates.

    Parameters
    ----------
    model : estimator
        A fitted model.

    Returns
    -------
    list of str
        Empty if the model does not have this information.
    """
    schema = getattr(model, "schema_", None)
    if schema is None:
        return []
    return _names_of(model, (j for j, kind in schema.times.items() if kind.startswith("date")))


def _names_of(model: Any, columns: Iterable[int]) -> list[str]:
    """Return the names of some columns of a model, none if its columns have no names."""
    names = getattr(model, "feature_names_in_", None)
    return [] if names is None else [str(names[j]) for j in columns]


def label_sets(model: Any, X: Any, threshold: float | None) -> sparse.csr_array[np.int32]:
    """Return the label sets predicted by a model.

    Parameters
    ----------
    model : estimator
        A fitted model.
    X : data frame or matrix
        The result of `features_for`.
    threshold : float or None
        Predict labels with at least this probability. If None, use the model's `predict`.

    Returns
    -------
    csr_array of shape (n, n_labels)
        Label sets, including ancestors.
    """
    if threshold is None:
        return read_labels(model.predict(X), model.hierarchy_).Y
    return sparse.csr_array((model.predict_proba(X) >= threshold).astype(np.int32))


def label_cells(model: Any, Y: Any, separator: str = ";") -> list[str]:
    """Format label sets as text: the most specific labels of each row.

    Parameters
    ----------
    model : estimator
        A fitted model, whose hierarchy names the labels.
    Y : label matrix
        The label sets.
    separator : str
        Separator of the labels.

    Returns
    -------
    list of str
        One cell per row.
    """
    rows = model.hierarchy_.decode(Y)
    return [separator.join(str(label) for label in labels) for labels in rows]


def probability_table(
    model: Any, scores: NDArray[np.float64], least: float
) -> tuple[NDArray[np.intp], list[str], NDArray[np.float64]]:
    """List the probabilities of at least `least`.

    Parameters
    ----------
    model : estimator
        A fitted model, whose hierarchy names the labels.
    scores : ndarray of shape (n, n_labels)
        Probabilities.
    least : float
        Smaller probabilities are left out.

    Returns
    -------
    rows : ndarray of int
        Row numbers from 0, increasing.
    labels : list of str
        The labels, the most probable of each row first.
    probabilities : ndarray of float
        The probabilities of these labels.
    """
    rows, columns = np.nonzero(scores >= least)
    found = scores[rows, columns]
    order = np.lexsort((columns, -found, rows))
    names = [str(label) for label in model.hierarchy_.labels]
    return rows[order], [names[c] for c in columns[order]], found[order]


def write_predictions(
    path: Path,
    model: Any,
    data: Table,
    *,
    threshold: float | None = None,
    least: float | None = None,
    id_column: str | None = None,
    label_separator: str = ";",
) -> int:
    """Predict and write the result to a file atomically.

    Parameters
    ----------
    path : Path
        ``.csv``, ``.csv.gz``, ``.tsv`` or ``.parquet``: row and labels, or row, label and
        probability, with the identifiers of the rows if the data have any. ``.arff``: the data
        with the predicted labels, or sparse rows of probabilities, one attribute per label.
    model : estimator
        A fitted model.
    data : Table
        The data.
    threshold : float, optional
        Predict labels with at least this probability. If None, use the model's `predict`.
    least : float, optional
        Write probabilities of at least this value instead of label sets.
    id_column : str, optional
        The column of identifiers. By default, the first text column or else the first column that
        is not a feature and whose values are distinct.
    label_separator : str
        Separator of the labels of a row.

    Returns
    -------
    int
        Number of lines written.
    """
    known = (".csv", ".tsv", ".parquet", ".pq", ".arff")
    if not any(suffix in known for suffix in path.suffixes):
        raise ValueError(f"--out must end in one of {', '.join(known)}, got {path}.")
    X = features_for(model, data)
    names = _row_names(model, data, id_column)
    if least is not None and ".arff" in path.suffixes:
        scores = model.predict_proba(X)
        kept = sparse.csr_array(np.where(scores >= least, scores, 0.0))
        labels = [str(label) for label in model.hierarchy_.labels]
        write_arff(path, kept, feature_names=labels, relation="probabilities")
        return int(kept.shape[0])
    if least is not None:
        rows, labels, found = probability_table(model, model.predict_proba(X), least)
        frame = _frame({"row": rows, "label": labels, "probability": np.round(found, 6)})
        return _write_frame(path, frame, names)
    Y = label_sets(model, X, threshold)
    if ".arff" in path.suffixes:
        # A data frame defines its categories; an array does not.
        categories = None if hasattr(X, "columns") else data.categories
        write_arff(path, X, Y, model.hierarchy_, categories=categories)
        return int(Y.shape[0])
    frame = _frame(
        {"row": np.arange(Y.shape[0]), "labels": label_cells(model, Y, label_separator)}
    )
    return _write_frame(path, frame, names)


def _frame(columns: dict[str, Any]) -> Any:
    return import_extra("pandas", "tables").DataFrame(columns)


def _write_frame(path: Path, frame: Any, names: Any) -> int:
    if names is not None:
        frame.insert(1, names.name, np.asarray(names)[frame["row"]])
    if path.suffix in (".parquet", ".pq"):
        import_extra("pyarrow", "tables")
        with replacing(path) as temporary:
            frame.to_parquet(temporary, index=False)
    else:
        cells = "\t" if ".tsv" in path.suffixes else ","
        with writing_text(path) as file:
            frame.to_csv(file, index=False, sep=cells, lineterminator="\n")
    return len(frame)


def _row_names(model: Any, data: Table, id_column: str | None) -> Any:
    """Return the identifiers of the rows as a named column, or None."""
    pandas = import_extra("pandas", "tables")
    frame = data.X if hasattr(data.X, "columns") else pandas.DataFrame()
    texts = {name: pandas.Series(cells, name=name) for name, cells in data.strings.items()}
    if id_column is not None:
        if id_column not in frame.columns and id_column not in texts:
            raise ValueError(
                f"{data.name} has no column {id_column!r}."
                f"{did_you_mean(id_column, [*frame.columns, *texts])} Pass the column of "
                "identifiers with --id."
            )
        return frame[id_column] if id_column in frame.columns else texts[id_column]
    features = getattr(model, "feature_names_in_", None)
    taken = {"row", "label", "labels", "probability", *(() if features is None else features)}
    others = [] if features is None else [frame[name] for name in frame.columns]
    found = [c for c in (*texts.values(), *others) if c.name not in taken and c.is_unique]
    named = [column for column in found if not _is_numeric(column)]
    return next(iter(named or found), None)


def _is_numeric(column: Any) -> bool:
    return not hasattr(column, "cat") and column.dtype.kind in "biufM"
