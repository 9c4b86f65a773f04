"""Predict the rows of a file with a saved model and write the result to a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from ramify import load
from ramify._validation import import_extra, shorten
from ramify.io import write_arff
from ramify.io.files import replacing, writing_text
from ramify.io.table import Table
from ramify.labels.encoding import read_labels

__all__ = [
    "features_for",
    "label_cells",
    "label_sets",
    "load_classifier",
    "nominal_columns",
    "probability_table",
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
    names = getattr(model, "feature_names_in_", None)
    schema = getattr(model, "schema_", None)
    return [] if names is None or schema is None else [str(names[j]) for j in schema.categories]


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
) -> int:
    """Predict and write the result to a file atomically.

    Parameters
    ----------
    path : Path
        ``.csv``, ``.csv.gz``, ``.tsv`` or ``.parquet``: row and labels, or row, label and
        probability, with the identifier column of the data if there is one. ``.arff``: the data
        with the predicted labels.
    model : estimator
        A fitted model.
    data : Table
        The data.
    threshold : float, optional
        Predict labels with at least this probability. If None, use the model's `predict`.
    least : float, optional
        Write probabilities of at least this value instead of label sets.

    Returns
    -------
    int
        Number of lines written.
    """
    known = (".csv", ".tsv", ".parquet", ".pq", ".arff")
    if not any(suffix in known for suffix in path.suffixes):
        raise ValueError(f"--out must end in one of {', '.join(known)}, got {path}.")
    if ".arff" in path.suffixes and least is not None:
        raise ValueError(
            f"probabilities cannot be written to the ARFF file {path}. Use .csv or .parquet."
        )
    X = features_for(model, data)
    if least is not None:
        rows, labels, found = probability_table(model, model.predict_proba(X), least)
        frame = _frame({"row": rows, "label": labels, "probability": np.round(found, 6)})
        return _write_frame(path, frame, _row_names(model, data))
    Y = label_sets(model, X, threshold)
    if ".arff" in path.suffixes:
        # A data frame defines its categories; an array does not.
        categories = None if hasattr(X, "columns") else data.categories
        write_arff(path, X, Y, model.hierarchy_, categories=categories)
        return int(Y.shape[0])
    frame = _frame({"row": np.arange(Y.shape[0]), "labels": label_cells(model, Y)})
    return _write_frame(path, frame, _row_names(model, data))


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


def _row_names(model: Any, data: Table) -> Any:
    """Return the first column that is not a feature and has unique values, or None."""
    features = set(getattr(model, "feature_names_in_", ()))
    for name in data.X.columns if features and hasattr(data.X, "columns") else ():
        column = data.X[name]
        if name not in features | {"row", "label", "labels", "probability"} and column.is_unique:
            return column
    return None
