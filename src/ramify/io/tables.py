"""Read and write tables with label columns: CSV, parquet, spreadsheets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import fspath
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify._messages import counted, did_you_mean, import_extra, shorten
from ramify.data.dates import with_dates
from ramify.io.csv_files import MISSING_WORDS, check_size, read_csv
from ramify.io.errors import FormatError, names_file
from ramify.io.features import Features, array_of_columns, frame_of_columns, read_features
from ramify.io.files import FilePath, replacing, writing_text
from ramify.io.formats import TextForm, format_of, usual_delimiter
from ramify.io.limits import ReadLimits
from ramify.io.table_labels import LabelForm, read_label_columns
from ramify.labels.encoding import read_labels
from ramify.labels.hierarchy import Hierarchy


@names_file
def read_table(
    path: FilePath,
    *,
    target: str | Sequence[str] | None = "labels",
    hierarchy: Hierarchy | None = None,
    separator: str | None = None,
    label_separator: str = ";",
    gaps: str = "skip",
    sample_weight: str | None = None,
    id_column: str | None = None,
    categories: Mapping[str, Sequence[str]] | None = None,
    texts: Sequence[str] = (),
    drop: Sequence[str] = (),
    delimiter: str | None = None,
    decimal: str = ".",
    thousands: str | None = None,
    missing: Sequence[str] = (),
    duplicate_names: str = "error",
    empty_rows: str = "keep",
    as_frame: bool | None = None,
    encoding: str = "utf-8",
    limits: ReadLimits | None = None,
) -> Table:
    r"""Read a CSV or parquet file, or the first sheet of a spreadsheet.

    Columns of numbers become numeric features, columns of text become nominal features, and
    columns whose cells are all dates, such as 2024-01-31 or 2024-01-31T09:30:00Z, become dates.

    Parameters
    ----------
    path : path
        The file. A name that ends in .parquet or .pq means a parquet file, one that ends in .xlsx
        or .xlsm a spreadsheet (requires ``ramify[excel]``), and any other name a CSV file (plain
        or gzip).
    target : str, sequence of str or None
        The column of labels, with cells such as "animal/cat;pet"; an empty cell means no labels.
        In a parquet file, cells may also be lists of labels, or of paths, each a list of names;
        they are read as by `fit`.
        Several columns are one label each if all their cells are 0 or 1; otherwise, they are the
        levels of one path per row, from the top. If None, no labels are read.
    hierarchy : Hierarchy, optional
        The labels that can occur. If None, they are inferred from the column; paths give a tree.
    separator : str, optional
        Separator of the names of a path. By default, it is found: a mark such as "/" or " > "
        separates names if several labels then begin with the same name.
    label_separator : str
        Separator of the labels of a row.
    gaps : {"refuse", "skip", "end"}
        What to do with a row whose levels have an empty cell, or a dash, above others: raise an
        error, leave the level out of the path, or end the path above it. ``notes`` says how often
        this was done.
    sample_weight : str, optional
        The column of sample weights.
    id_column : str, optional
        The column of identifiers, which is not a feature. Its cells are kept in ``ids`` as they
        are in the file: 007 stays 007, and NA is an identifier.
    categories : mapping of str to sequence of str, optional
        Values of nominal features, for example those of the training file when reading a test
        file. A value that is not listed raises an error. Columns of numbers listed here become
        nominal. By default, the values are those that occur, sorted.
    texts : sequence of str
        Columns that are always nominal, such as codes of a CSV file that look like numbers, or
        dates.
    drop : sequence of str
        Columns to leave out. Lists in a parquet file can be labels, but not features.
    delimiter : str, optional
        Delimiter of the cells of a CSV file. By default, the delimiter declared by a first line
        such as ``sep=;``, or else a tab in .tsv files and a comma otherwise.
    decimal : str
        Decimal point of a CSV file. Many spreadsheets use ",".
    thousands : str, optional
        Mark between groups of three digits in a CSV file, such as "." in 1.000,5. A column is
        numeric if all its cells are numbers with or without this mark.
    missing : sequence of str
        Texts of a CSV file that mark a missing value, in addition to an empty cell, ?, NA, N/A,
        NaN, nan, null and None.
    duplicate_names : {"error", "rename"}
        How to handle a column with the name of an earlier column. "rename" appends -1, -2, ...
    empty_rows : {"keep", "drop"}
        What to do with rows without any value, such as ``;;;;``. A row with features but without
        labels is not empty.
    as_frame : bool, optional
        Whether X is a data frame. By default, it is one if there are nominal features or dates;
        an array contains codes and seconds.
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
    _check_choices(duplicate_names, empty_rows)
    targets = [] if target is None else [target] if isinstance(target, str) else list(target)
    kept = [] if id_column is None else [id_column]
    as_text = [*targets, *(categories or {}), *texts]
    limits = limits or ReadLimits()
    notes: list[str] = []
    if format_of(path) == "parquet":
        frame = _read_parquet(path, limits, kept, targets, drop)
    else:
        form = TextForm(delimiter, decimal, encoding, thousands, tuple(missing))
        frame, notes = read_csv(
            path, form, [*as_text, *kept], [*targets, *kept],
            rename=duplicate_names == "rename", limits=limits,
        )  # fmt: skip
    for name in [*as_text, *kept, *([] if sample_weight is None else [sample_weight])]:
        _check_column(name, frame, path)
    if len(frame) == 0:
        raise FormatError(f"{fspath(path)} has column names, but no rows below them.")
    if empty_rows == "drop":
        frame, dropped = _without_empty_rows(frame, [*targets, *kept])
        notes += dropped
    y, hierarchy = None, (hierarchy if targets else None)
    if targets:
        y, hierarchy, told = read_label_columns(
            fspath(path), frame[targets], isinstance(target, str), hierarchy,
            LabelForm(separator, label_separator, gaps), limits=limits,
        )  # fmt: skip
        notes += told
    weights = None if sample_weight is None else _weights(frame[sample_weight], path)
    named = {*targets, sample_weight, id_column, *drop}
    frame, dated = with_dates(frame, {*as_text, *named})
    notes += dated
    columns = [name for name in frame.columns if name not in named]
    features = read_features(_with_categories(frame[columns], categories or {}, path))
    for name, values in features.categories.items():
        what = f"the number of values of column {name!r}"
        limits.check("max_categories", len(values), what, fspath(path))
    return Table(
        X=matrix_of(features, as_frame),
        y=y,
        hierarchy=hierarchy,
        feature_names=features.names,
        categories=features.categories,
        sample_weight=weights,
        ids=None if id_column is None else _identifiers(frame[id_column]),
        name=Path(path).name.split(".", 1)[0],
        notes=tuple(notes),
    )


def _check_choices(duplicate_names: Any, empty_rows: Any) -> None:
    choices = (
        ("duplicate_names", duplicate_names, ("error", "rename")),
        ("empty_rows", empty_rows, ("keep", "drop")),
    )
    for name, value, allowed in choices:
        if value not in allowed:
            raise ValueError(f"{name} must be one of {list(allowed)}, got {value!r}.")


def _without_empty_rows(frame: Any, targets: Sequence[str]) -> tuple[Any, list[str]]:
    """Drop rows without any value; a label cell is empty if it has no label."""
    empty = frame.isna()
    for name in targets:
        empty[name] |= frame[name].astype(str).str.strip().isin(["", "[]"])
    kept = ~empty.all(axis=1)
    n_empty = int((~kept).sum())
    if not n_empty:
        return frame, []
    rows = "1 empty row was" if n_empty == 1 else f"{n_empty:,} empty rows were"
    return frame[kept].reset_index(drop=True), [f"{rows} left out"]


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


def _read_parquet(
    path: FilePath,
    limits: ReadLimits,
    kept: Sequence[str],
    targets: Sequence[str],
    drop: Sequence[str],
) -> Any:
    """Return the columns of a file; those in `kept` as Python values, so 7 stays 7."""
    pandas = import_extra("pandas", "tables")
    pyarrow = import_extra("pyarrow", "tables")
    try:
        from pyarrow import parquet  # noqa: PLC0415 (optional)

        facts = parquet.read_metadata(path)
        n_bytes = sum(facts.row_group(i).total_byte_size for i in range(facts.num_row_groups))
        limits.check_bytes(n_bytes, None, fspath(path))
        check_size(facts.num_rows, facts.num_columns, limits, path)
        schema = facts.schema.to_arrow_schema()
        lists = _check_nested(schema, targets, drop, path)
        needed = [name for name in schema.names if name not in drop or name in (*kept, *targets)]
        table = parquet.read_table(path, columns=needed)
        frame = table.to_pandas()
        if not isinstance(frame.index, pandas.RangeIndex):
            # The index of a data frame is a column of the file, but only of use if it is named.
            index = frame.index.names
            frame = frame.reset_index()[[*(n for n in index if n in kept), *frame.columns]]
        values = {
            name: pandas.Series(table[name].to_pylist(), dtype=object)
            for name in (*kept, *lists)
            if name in table.column_names
        }
        return frame.assign(**values) if values else frame
    except (pyarrow.ArrowException, OSError) as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise FormatError(f"{fspath(path)}: expected a parquet file: {error}") from None


def nested_columns(path: FilePath) -> list[str]:
    """Return the columns of a parquet file whose cells are lists or the like; else none."""
    if format_of(path) != "parquet":
        return []
    import_extra("pyarrow", "tables")
    from pyarrow import parquet, types  # noqa: PLC0415 (optional)

    schema = parquet.read_schema(path)
    return [field.name for field in schema if types.is_nested(field.type)]


def _check_nested(
    schema: Any, targets: Sequence[str], drop: Sequence[str], path: FilePath
) -> list[str]:
    """Return the label columns of lists; refuse other columns of lists, structures or maps."""
    from pyarrow import types  # noqa: PLC0415 (optional)

    nested = {field.name: field.type for field in schema if types.is_nested(field.type)}
    found = [name for name in nested if name in targets]
    for name in found:
        if _depth_of_lists(nested[name]) not in (1, 2):
            raise FormatError(
                f"{fspath(path)}, column {name!r}: expected texts, lists of labels, or lists of "
                f"paths that are lists of names, found {nested[name]}."
            )
    others = [name for name in nested if name not in (*found, *drop)]
    if others:
        columns = ", ".join(f"{name!r} ({nested[name]})" for name in others)
        raise FormatError(
            f"{fspath(path)}: features must be numbers, texts or dates, but the file has lists or "
            f"the like in {columns}. Write one column per value, or leave the columns out: "
            f"{' '.join(f'--drop {name}' for name in others)} (drop={others} in Python). If one "
            "holds the labels, pass it with --target."
        )
    return found


def _depth_of_lists(kind: Any) -> int:
    """Return how deeply plain values are nested in lists; 0 for other nested types."""
    from pyarrow import types  # noqa: PLC0415 (optional)

    depth = 0
    while types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        kind, depth = kind.value_type, depth + 1
    return 0 if types.is_nested(kind) or types.is_binary(kind) else depth


def _identifiers(column: Any) -> Any:
    """Return the cells of a column as Python values; None if they are missing or empty."""
    known = column.notna() & (column.astype(str) != "")
    return column.astype(object).where(known, None)


def _check_column(name: str, frame: Any, path: FilePath) -> None:
    if name not in frame.columns:
        raise ValueError(
            f"{fspath(path)} has no column {name!r}.{did_you_mean(name, frame.columns)} The "
            f"columns are {shorten(frame.columns)}."
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
        The group of each row, if a column of groups was named on the command line or in a study.
    notes : tuple of str
        What the reader changed, such as columns that it renamed.
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
