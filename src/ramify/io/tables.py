"""Read and write CSV and parquet tables with label columns, based on pandas."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from io import BytesIO, TextIOWrapper
from os import fspath
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramify._validation import did_you_mean, import_extra
from ramify.hierarchy.hierarchy import Hierarchy
from ramify.io.errors import names_file
from ramify.io.features import Features, read_features
from ramify.io.files import FilePath, FormatError, read_utf8, replacing, writing_text
from ramify.io.frames import array_of_columns, frame_of_columns
from ramify.io.limits import ReadLimits
from ramify.io.table import Table
from ramify.io.table_labels import read_label_columns
from ramify.labels.encoding import read_labels

MISSING_WORDS = ("", "?", "NA", "N/A", "NaN", "nan", "null", "None")
"""The texts that mark a missing feature value in a CSV file."""


@names_file
def read_table(
    path: FilePath,
    *,
    target: str | Sequence[str] | None = "labels",
    hierarchy: Hierarchy | None = None,
    separator: str = "/",
    label_separator: str = ";",
    sample_weight: str | None = None,
    categories: Mapping[str, Sequence[str]] | None = None,
    texts: Sequence[str] = (),
    delimiter: str | None = None,
    decimal: str = ".",
    as_frame: bool | None = None,
    encoding: str = "utf-8",
    limits: ReadLimits | None = None,
) -> Table:
    r"""Read a CSV or parquet file.

    Columns of numbers become numeric features, columns of text nominal features.

    Parameters
    ----------
    path : path
        The file. A name that ends in .parquet or .pq is a parquet file, any other name a CSV file
        (plain or gzip).
    target : str, sequence of str or None
        The column of labels, with cells such as "animal/cat;pet"; an empty cell means no labels.
        Several columns are one label each if all their cells are 0 or 1; otherwise they are the
        levels of one path per row, from the top. If None, no labels are read.
    hierarchy : Hierarchy, optional
        The labels that can occur. If None, they are inferred from the column; paths give a tree.
    separator : str
        Separator of the segments of a path.
    label_separator : str
        Separator of the labels of a row.
    sample_weight : str, optional
        The column of sample weights.
    categories : mapping of str to sequence of str, optional
        Values of nominal features, for example those of the training file when reading a test
        file. A value that is not listed raises an error. Columns of numbers listed here become
        nominal. By default, the values are those that occur, sorted.
    texts : sequence of str
        Columns of a CSV file that are always nominal, such as codes that look like numbers.
    delimiter : str, optional
        Delimiter of the cells of a CSV file. By default, a tab in .tsv files and a comma
        otherwise.
    decimal : str
        Decimal point of a CSV file. Many spreadsheets use ",".
    as_frame : bool, optional
        As in `read_arff`.
    encoding : str
        Encoding of a CSV file.
    limits : ReadLimits, optional
        Limits on the size of the file and its hierarchy.

    Returns
    -------
    Table
        Features, labels and hierarchy.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "pets.csv")
    ...     _ = path.write_text("size,colour,labels\n3.5,brown,mammal/dog;pet\n0.2,?,bird\n")
    ...     pets = read_table(path, as_frame=False)
    >>> pets.X
    array([[3.5, 0. ],
           [0.2, nan]])
    >>> pets.hierarchy.decode(pets.y)
    [('mammal/dog', 'pet'), ('bird',)]
    """
    targets = [] if target is None else [target] if isinstance(target, str) else list(target)
    as_text = [*targets, *(categories or {}), *texts]
    limits = limits or ReadLimits()
    if _is_parquet(path):
        frame = _read_parquet(path, limits)
    else:
        marks = csv_marks(path, delimiter, decimal)
        frame = _read_csv(path, as_text, targets, encoding, marks, limits=limits)
    for name in [*as_text, *([] if sample_weight is None else [sample_weight])]:
        _check_column(name, frame, path)
    y, hierarchy = None, (hierarchy if targets else None)
    if targets:
        y, hierarchy = read_label_columns(
            fspath(path), frame[targets], isinstance(target, str), hierarchy,
            (separator, label_separator), limits=limits,
        )  # fmt: skip
    weights = None if sample_weight is None else _weights(frame[sample_weight], path)
    named = {*targets, sample_weight}
    columns = [name for name in frame.columns if name not in named]
    features = read_features(_with_categories(frame[columns], categories or {}, path))
    for name, values in features.categories.items():
        what = f"the number of values of column {name!r}"
        limits.check("max_categories", len(values), what, fspath(path))
    return Table(
        X=_matrix(features, as_frame),
        y=y,
        hierarchy=hierarchy,
        feature_names=features.names,
        categories=features.categories,
        sample_weight=weights,
        name=Path(path).name.split(".", 1)[0],
    )


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
        The file to write. A name that ends in .parquet or .pq gives a parquet file, .gz a gzip
        CSV file, .tsv a tab-separated file.
    X : array-like, sparse matrix or pandas.DataFrame of shape (n, n_features)
        The features; nominal features are written as the names of their values.
    y : array-like, optional
        The labels in any format of `ramify.labels.read_labels`. Rows list their most specific
        labels.
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
    is_parquet = _is_parquet(path)
    if not is_parquet:
        _check_words(features)
    frame = _matrix(features, as_frame=True)
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
            frame.to_csv(file, index=False, sep=_delimiter(path, None), lineterminator="\n")


def _is_parquet(path: FilePath) -> bool:
    return Path(path).suffix.lower() in (".parquet", ".pq")


def _delimiter(path: FilePath, given: str | None) -> str:
    if given is not None:
        return given
    return "\t" if ".tsv" in Path(path).suffixes else ","


def csv_marks(path: FilePath, delimiter: str | None, decimal: str) -> dict[str, str]:
    """Return the delimiter and the decimal point as options of pandas."""
    found = {"sep": _delimiter(path, delimiter), "decimal": decimal}
    for name, mark in zip(("delimiter", "decimal"), found.values(), strict=True):
        if len(mark) != 1 or mark.isalnum() or mark in '"+-\r\n':
            raise ValueError(
                f"{name} must be a single punctuation character, got {mark!r}. Pass, for example, "
                "';'."
            )
    if found["sep"] == decimal:
        raise ValueError(
            f"decimal must differ from the delimiter, got {decimal!r} for both. Pass the "
            "delimiter of the file, for example delimiter=';'."
        )
    return found


def _read_parquet(path: FilePath, limits: ReadLimits) -> Any:
    pandas = import_extra("pandas", "tables")
    pyarrow = import_extra("pyarrow", "tables")
    try:
        from pyarrow import parquet  # noqa: PLC0415 (optional)

        facts = parquet.read_metadata(path)
        n_bytes = sum(facts.row_group(i).total_byte_size for i in range(facts.num_row_groups))
        limits.check_bytes(n_bytes, None, fspath(path))
        _check_size(facts.num_rows, facts.num_columns, limits, path)
        return pandas.read_parquet(path)
    except (pyarrow.ArrowException, OSError) as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise FormatError(f"{fspath(path)}: expected a parquet file: {error}") from None


def _check_size(n_rows: int, n_columns: int, limits: ReadLimits, path: FilePath) -> None:
    limits.check("max_columns", n_columns, "the number of columns", fspath(path))
    what = "the number of rows times the number of columns"
    limits.check("max_cells", n_rows * n_columns, what, fspath(path))


def _read_csv(
    path: FilePath,
    texts: list[str],
    targets: list[str],
    encoding: str,
    given: dict[str, str],
    *,
    limits: ReadLimits,
) -> Any:
    """Read labels and given categories as text, so that 01 stays 01; infer other columns."""
    pandas = import_extra("pandas", "tables")
    content = read_utf8(path, encoding, limits)
    options: dict[str, Any] = {**given, "keep_default_na": False, "low_memory": False}
    if tuple(map(int, pandas.__version__.split(".")[:2])) < (3, 1):
        options["float_precision"] = "round_trip"  # the default in later versions is exact
    names = _header(path, content, given["sep"])
    _check_size(content.count(b"\n"), len(names), limits, path)
    missing = {name: list(MISSING_WORDS) for name in names if name not in targets}
    try:
        frame = pandas.read_csv(
            BytesIO(content), na_values=missing, dtype=dict.fromkeys(texts, str), **options
        )
    except (pandas.errors.ParserError, pandas.errors.EmptyDataError) as error:
        raise FormatError(f"{fspath(path)}: expected a CSV file: {error}") from None
    if not isinstance(frame.index, pandas.RangeIndex):
        raise FormatError(
            f"{fspath(path)}: expected {len(names)} cells in every row, as in line 1, found a row "
            "with more."
        )
    return frame


def _header(path: FilePath, content: bytes, delimiter: str) -> list[str]:
    """Read the column names, which pandas would rename if they are repeated."""
    text = TextIOWrapper(BytesIO(content), encoding="utf-8", newline="")
    rows = csv.reader(text, delimiter=delimiter)
    try:
        names = next((row for row in rows if len(row) > 1 or "".join(row).strip()), [])
    except csv.Error as error:
        raise FormatError(
            f"{fspath(path)}, line {rows.line_num}: cannot read the column names: {error}."
        ) from None
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise FormatError(
            f"{fspath(path)}, line 1: expected unique column names, found {repeated[0]!r} more "
            "than once."
        )
    return names


def _check_column(name: str, frame: Any, path: FilePath) -> None:
    if name not in frame.columns:
        raise ValueError(
            f"{fspath(path)} has no column {name!r}.{did_you_mean(name, frame.columns)} Pass the "
            "column of labels as target, or target=None to read no labels."
        )


def _weights(column: Any, path: FilePath) -> NDArray[np.float64]:
    weights = np.asarray(column, dtype=np.float64) if column.dtype.kind in "iuf" else None
    if weights is None or not (np.isfinite(weights) & (weights >= 0)).all():
        raise FormatError(
            f"{fspath(path)}: expected finite, non-negative numbers in the weight column "
            f"{column.name!r}."
        )
    return weights


def _with_categories(frame: Any, categories: Mapping[str, Sequence[str]], path: FilePath) -> Any:
    pandas = import_extra("pandas", "tables")
    changed = {}
    for name, values in categories.items():
        column = frame[name]
        present = column[column.notna()].astype(str)
        unknown = present[~present.isin(list(values))]
        if len(unknown):
            raise FormatError(
                f"{fspath(path)}: expected one of {{{','.join(values)}}} in column {name!r}, "
                f"found {unknown.iloc[0]!r} in row {unknown.index[0]}."
            )
        words = column.astype(object).where(column.isna(), column.astype(str))
        changed[name] = pandas.Categorical(words, categories=list(values))
    return frame.assign(**changed)


def _matrix(features: Features, as_frame: bool | None) -> Any:
    columns = features.columns(0, features.n_rows)
    named = list(zip(features.names, columns, strict=True))
    nominal = [j for j, (name, _) in enumerate(named) if name in features.categories]
    numeric = [column for name, column in named if name not in features.categories]
    numbers = np.column_stack(numeric) if numeric else np.empty((features.n_rows, 0))
    codes = {j: np.nan_to_num(columns[j], nan=-1).astype(np.int32) for j in nominal}
    if as_frame or (as_frame is None and codes):
        return frame_of_columns(features.names, numbers, codes, features.categories)
    return array_of_columns(len(columns), numbers, codes)


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
