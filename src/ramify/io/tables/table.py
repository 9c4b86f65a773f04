"""The tables that readers return, and how they are written: CSV, parquet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify._messages import counted, import_extra
from ramify.io.features import Features, array_of_columns, frame_of_columns, read_features
from ramify.io.files import FilePath, replacing, writing_text
from ramify.io.formats import format_of, usual_delimiter
from ramify.io.tables.csv_files import MISSING_WORDS
from ramify.labels.encoding import read_labels
from ramify.labels.hierarchy import Hierarchy
from ramify.labels.unknown import UnknownLabels


def write_table(
    path: FilePath,
    X: Any,
    y: Any = None,
    hierarchy: Hierarchy | None = None,
    *,
    feature_names: Sequence[str] | None = None,
    categories: Mapping[str, Sequence[str]] | None = None,
    sample_weight: Any = None,
    target: str = "labels",
    label_separator: str = ";",
) -> None:
    """Write a CSV or parquet file with a column of labels.

    The file is written atomically: a temporary file next to `path` replaces it at the end.

    Parameters
    ----------
    path : path
        The file to write. A name that ends in .parquet or .pq gives a parquet file, .gz a gzip CSV
        file, and .tsv a tab-separated file.
    X : array-like, sparse matrix or pandas.DataFrame of shape (n, n_features)
        The features; nominal features are written as the names of their values.
    y : array-like, optional
        The labels in any format accepted by `ramify.labels.read_labels`. Rows list their most
        specific labels.
    hierarchy : Hierarchy, optional
        The hierarchy of the labels. If None, it is inferred from `y`. It is not written: labels
        that are paths imply it; for other labels, pass it again to `read_table`.
    feature_names : sequence of str, optional
        Names of the columns. By default, those of the data frame, or x0, x1, ...
    categories : mapping of str to sequence of str, optional
        Values of the nominal columns of an array, whose cells are positions in these lists.
    sample_weight : array-like of shape (n,), optional
        Sample weights, written to the column sample_weight.
    target : str
        Name of the label column.
    label_separator : str
        Separator of the labels of a row.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "pets.csv")
    ...     write_table(path, [[3.5], [0.2]], [["mammal/dog", "pet"], ["bird"]])
    ...     print(path.read_text())
    x0,labels
    3.5,mammal/dog;pet
    0.2,bird
    """
    features = read_features(X, feature_names, categories)
    is_parquet = format_of(path) == "parquet"
    if not is_parquet:
        _check_words(features)
    frame = matrix_of(features, as_frame=True)
    if y is not None:
        frame[target] = _label_cells(y, hierarchy, label_separator, target, features)
    if sample_weight is not None:
        frame["sample_weight"] = np.asarray(sample_weight, dtype=np.float64)
    if is_parquet:
        import_extra("pyarrow", "tables")
        with replacing(path) as temporary:
            frame.to_parquet(temporary, index=False)
    else:
        with writing_text(path) as file:
            frame.to_csv(file, index=False, sep=usual_delimiter(path), lineterminator="\n")


def matrix_of(features: Features, as_frame: bool | None) -> Any:
    """Return columns as a data frame, or as an array of numbers and codes."""
    columns = features.columns(0, features.n_rows)
    named = list(zip(features.names, columns, strict=True))
    nominal = [j for j, (name, _) in enumerate(named) if name in features.categories]
    numeric = [column for name, column in named if name not in features.categories]
    numbers = np.column_stack(numeric) if numeric else np.empty((features.n_rows, 0))
    codes = {j: np.nan_to_num(columns[j], nan=-1).astype(np.int32) for j in nominal}
    if as_frame or (as_frame is None and (codes or features.times)):
        frame = frame_of_columns(features.names, numbers, codes, features.categories)
        return frame.assign(**_without_index(features.times)) if features.times else frame
    return array_of_columns(len(columns), numbers, codes)


def _without_index(columns: Mapping[str, Any]) -> dict[str, Any]:
    return {name: column.reset_index(drop=True) for name, column in columns.items()}


def _label_cells(
    y: Any, hierarchy: Hierarchy | None, label_separator: str, target: str, features: Features
) -> list[str]:
    encoded = read_labels(y, hierarchy)
    if target in features.names:
        raise ValueError(
            f"target must not be the name of a feature, got {target!r}. Pass another name."
        )
    for label in encoded.hierarchy.labels:
        if label_separator in str(label):
            raise ValueError(
                f"label_separator must not occur in labels, got {label_separator!r}, which is "
                f"part of the label {label!r}. Pass another separator."
            )
    if encoded.Y.shape[0] != features.n_rows:
        raise ValueError(
            f"X has {features.n_rows} rows, but y has {encoded.Y.shape[0]}. Pass one label set "
            "per row."
        )
    return [label_separator.join(map(str, row)) for row in encoded.hierarchy.decode(encoded.Y)]


def _check_words(features: Features) -> None:
    for name, values in features.categories.items():
        for word in MISSING_WORDS:
            if word in values:
                raise ValueError(
                    f"X must not contain the category {word!r} (column {name!r}), which would be "
                    "read back from a CSV file as missing. Rename it, or write a parquet file."
                )


# ---- the result of all readers: features, labels and their hierarchy ------------------------


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """A data set read from a file.

    Attributes
    ----------
    X : ndarray, csr_array or pandas.DataFrame, shape (n, n_features)
        The features. Nominal features are categorical columns of a data frame. In an array, they
        are codes, the positions of the values in `categories`; missing values are NaN.
    y : csr_array of int32, shape (n, n_labels), or None
        The labels, including ancestors; None if the file has no labels.
    hierarchy : Hierarchy or None
        The hierarchy of the labels, in the order of the columns of `y`.
    feature_names : tuple of str
        The names of the columns of `X`.
    categories : dict of str to tuple of str
        The declared values of every nominal feature, in the declared order.
    sample_weight : ndarray of shape (n,) or None
        Sample weights, if the file contains any.
    name : str
        Name of the data set.
    strings : dict of str to tuple
        String and key attributes, which are not features: one str or None per row.
    ids : pandas.Series or None
        The column of identifiers, if one was named: the cells as they are in the file, None if
        missing. It is not a feature.
    groups : ndarray of shape (n,) or None
        The group of each row, if a column of groups was named.
    notes : tuple of str
        What the reader found or changed, such as columns that it renamed, with the argument that
        reads the file in another way.
    settings : dict
        Arguments of `read_table` that read the file again in the same way.
    reasons : dict of str to str
        Why columns are read as they are, where their cells had to be converted.
    units : dict of str to str
        The units of columns whose numbers are written with one, such as "kg".
    problems : tuple of str
        Columns that could not be read for certain, if the reader was told to go on.
    left_out : dict of str to str
        Columns that are not features, such as identifiers, and why.
    unknown : UnknownLabels or None
        The labels that rows may have although `y` is 0, if the program that reads was told so.
    """

    X: Any
    y: sparse.csr_array[np.int32] | None
    hierarchy: Hierarchy | None
    feature_names: tuple[str, ...]
    categories: dict[str, tuple[str, ...]] = field(default_factory=dict)
    sample_weight: NDArray[np.float64] | None = None
    name: str = ""
    strings: dict[str, tuple[str | None, ...]] = field(default_factory=dict)
    ids: Any = None
    groups: Any = None
    notes: tuple[str, ...] = ()
    settings: dict[str, Any] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    left_out: dict[str, str] = field(default_factory=dict)
    unknown: UnknownLabels | None = None

    def __repr__(self) -> str:
        n_nominal = len(self.categories)
        n_numeric = len(self.feature_names) - n_nominal
        kinds = ", ".join(
            f"{count} {kind}"
            for count, kind in ((n_numeric, "numeric"), (n_nominal, "nominal"))
            if count
        )
        parts = [
            counted(self.X.shape[0], "row"),
            counted(len(self.feature_names), "feature") + (f" ({kinds})" if kinds else ""),
            _describe_layout(self.X),
            _describe_labels(self.hierarchy),
        ]
        if self.sample_weight is not None:
            parts.append("weighted")
        name = self.name if len(self.name) <= 40 else f"{self.name[:39]}…"
        return f"Table({name!r}: {', '.join(parts)})"


def _describe_layout(X: Any) -> str:
    if sparse.issparse(X):
        return "sparse"
    return "array" if isinstance(X, np.ndarray) else "frame"


def _describe_labels(hierarchy: Hierarchy | None) -> str:
    if hierarchy is None:
        return "no labels"
    if hierarchy.depth <= 1:
        return counted(hierarchy.n_labels, "flat label")
    kind = "tree" if hierarchy.is_tree else "DAG"
    labels, levels = counted(hierarchy.n_labels, "label"), counted(hierarchy.depth, "level")
    return f"{labels} in a {kind} of {levels}"
