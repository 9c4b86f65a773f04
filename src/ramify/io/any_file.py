"""Read data and hierarchies from files of any supported format."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ramify._validation import did_you_mean, import_extra, shorten
from ramify.hierarchy.hierarchy import Hierarchy
from ramify.io import read_arff, read_mulan, read_obo, read_table
from ramify.io.errors import names_file
from ramify.io.files import read_chunks, read_utf8
from ramify.io.limits import ReadLimits
from ramify.io.table import Table
from ramify.io.tables import csv_marks

__all__ = ["DataOptions", "TextForm", "read_data", "read_hierarchy", "split_identifiers"]

_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")


@dataclass(frozen=True)
class TextForm:
    """Options for reading text files.

    Attributes
    ----------
    delimiter : str or None
        Delimiter of the cells of a CSV file. None means a tab in .tsv files and a comma
        otherwise.
    decimal : str
        Decimal point of a CSV file.
    encoding : str
        Encoding of a CSV or ARFF file.
    """

    delimiter: str | None = None
    decimal: str = "."
    encoding: str = "utf-8"


@dataclass(frozen=True)
class DataOptions:
    """Options for reading a data file; options that do not apply to its format are ignored.

    Attributes
    ----------
    target : tuple of str
        The label columns of a CSV or parquet file.
    separator : str
        Separator of the segments of a path.
    label_separator : str
        Separator of the labels of a row.
    sample_weight : str or None
        The column of sample weights.
    form : TextForm
        Options for text files.
    limits : ReadLimits or None
        Limits on the size of files.
    """

    target: tuple[str, ...] = ("labels",)
    separator: str = "/"
    label_separator: str = ";"
    sample_weight: str | None = None
    form: TextForm = TextForm()
    limits: ReadLimits | None = None


def read_data(
    path: Path,
    hierarchy: Path | Hierarchy | None = None,
    options: DataOptions | None = None,
    *,
    labelled: bool = True,
    texts: Sequence[str] = (),
) -> Table:
    """Read an ARFF, CSV or parquet file.

    Parameters
    ----------
    path : Path
        The data. A name that contains ".arff" is an ARFF file, any other name a CSV or parquet
        file.
    hierarchy : Path or Hierarchy, optional
        The labels, or a file that defines them (see `read_hierarchy`), which can also be the XML
        file of a Mulan data set.
    options : DataOptions, optional
        Options for CSV and parquet files.
    labelled : bool
        Whether the file must have labels. If False and a label column is missing, no labels are
        read.
    texts : sequence of str
        Columns of a CSV file that are always read as text: those that are nominal for a model
        although they may contain only numbers here.

    Returns
    -------
    Table
        Features (a data frame unless the file is sparse), labels and hierarchy.
    """
    options = options or DataOptions()
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist.{_nearby(path)}")
    is_arff = ".arff" in path.suffixes
    form: dict[str, Any] = {"encoding": options.form.encoding, "limits": options.limits}
    if is_arff and isinstance(hierarchy, Path) and hierarchy.suffix == ".xml":
        return _named(read_mulan(path, hierarchy, duplicate_names="rename", **form))
    if isinstance(hierarchy, Path):
        hierarchy = read_hierarchy(hierarchy, options.limits)
    if is_arff:
        return _named(read_arff(path, hierarchy=hierarchy, duplicate_names="rename", **form))
    target: Any = options.target[0] if len(options.target) == 1 else list(options.target)
    columns = _column_names(path, options)
    if not columns:
        raise ValueError(
            f"{path} is not a table: its first line is empty. Put the column names in the first "
            "line."
        )
    missing = [name for name in options.target if name not in columns]
    if missing and labelled:
        raise ValueError(
            f"{path} has no column {missing[0]!r}.{did_you_mean(missing[0], columns)} Pass the "
            f"label column with --target; the columns are {shorten(columns)}."
        )
    if missing or not options.target:
        target = None
    return read_table(
        path,
        target=target,
        texts=[name for name in texts if name in columns],
        hierarchy=hierarchy,
        separator=options.separator,
        label_separator=options.label_separator,
        sample_weight=options.sample_weight,
        delimiter=options.form.delimiter,
        decimal=options.form.decimal,
        as_frame=True,
        **form,
    )


def _named(table: Table) -> Table:
    """Return a table whose dense columns have names, so that a model can match them."""
    if hasattr(table.X, "columns") or sparse.issparse(table.X) or not find_spec("pandas"):
        return table
    pandas = import_extra("pandas", "tables")
    return replace(table, X=pandas.DataFrame(table.X, columns=list(table.feature_names)))


def _nearby(path: Path) -> str:
    names = [other.name for other in path.parent.iterdir()] if path.parent.is_dir() else []
    return did_you_mean(path.name, names)


def _column_names(path: Path, options: DataOptions) -> list[str]:
    """Read only the header."""
    if path.suffix in (".parquet", ".pq"):
        from pyarrow import parquet  # noqa: PLC0415 (optional)

        return list(parquet.read_schema(path).names)
    form = options.form
    delimiter = csv_marks(path, form.delimiter, form.decimal)["sep"]
    chunks = []
    for chunk in read_chunks(path, form.encoding, options.limits):
        chunks.append(chunk)
        if b"\n" in chunk:
            break
    try:
        first = (b"".join(chunks).splitlines() or [b""])[0].decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path} is not a table in UTF-8: its first line has byte "
            f"0x{error.object[error.start]:02X} at offset {error.start}. Save it as CSV in UTF-8, "
            "or pass its encoding, for example --encoding latin-1."
        ) from None
    try:
        names = next(csv.reader([first], delimiter=delimiter), [])
    except csv.Error as error:
        raise ValueError(f"{path}, line 1: cannot read the column names: {error}.") from None
    marks = [mark for mark in ";\t|," if len(names) == 1 and mark in names[0]]
    if marks and form.delimiter is None:
        raise ValueError(
            f"{path} has a single column, {shorten(names)}. If its cells are separated by "
            f"{marks[0]!r}, pass --delimiter {marks[0]!r}. If its numbers look like 3,5, also "
            "pass --decimal ','."
        )
    return names


@names_file
def read_hierarchy(path: Path, limits: ReadLimits | None = None) -> Hierarchy:
    """Read a hierarchy; the suffix of the file determines its format.

    Parameters
    ----------
    path : Path
        ``.obo``: an ontology. ``.json``: the output of `Hierarchy.to_json`. ``.csv`` and
        ``.tsv``: edges, one parent and child per line; the parent of a top-level label is "root"
        or empty. ``.txt``: an indented outline, or one path per line.
    limits : ReadLimits, optional
        Limits on the size of the file and the hierarchy.

    Returns
    -------
    Hierarchy
        The hierarchy.
    """
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist.{_nearby(path)}")
    limits = limits or ReadLimits()
    readers: dict[str, Callable[[Path, ReadLimits], Hierarchy]] = {
        ".obo": lambda file, limits: read_obo(file, limits=limits),
        ".json": lambda file, limits: Hierarchy.from_json(_text(file, limits)),
        ".csv": lambda file, limits: _read_edges(file, ",", limits),
        ".tsv": lambda file, limits: _read_edges(file, "\t", limits),
        ".txt": _read_lines,
    }
    suffixes = [suffix for suffix in path.suffixes if suffix in readers]
    if not suffixes:
        raise ValueError(
            f"a hierarchy file must end in one of {', '.join(readers)}, got {path}. Pass an "
            "ontology (.obo), edges (.csv, .tsv: parent,child), an outline or paths (.txt)."
        )
    try:
        hierarchy = readers[suffixes[-1]](path, limits)
        limits.check("max_labels", hierarchy.n_labels, "the number of labels", str(path))
        return hierarchy
    except ValueError as error:
        reason = " ".join(str(error).split())
        if str(path) in reason:
            raise
        raise ValueError(f"cannot read the hierarchy {path}: {reason}") from error


def _text(path: Path, limits: ReadLimits) -> str:
    return read_utf8(path, limits=limits).decode("utf-8")


def _read_edges(path: Path, delimiter: str, limits: ReadLimits) -> Hierarchy:
    edges = []
    child_first = False
    for number, row in enumerate(_csv_rows(path, delimiter, limits), 1):
        cells = [cell.strip() for cell in row]
        if not any(cells):
            continue
        if number == 1 and _is_header(cells):
            child_first = "child" in cells[0].lower()
            continue
        if child_first:
            cells.reverse()
        if len(cells) != 2 or not cells[1]:
            raise ValueError(
                f"{path}, line {number}: expected a parent and a child, found {len(cells)} "
                f"cell(s): {shorten(cells)}."
            )
        edges.append((cells[0] or "root", cells[1]))
    return Hierarchy.from_edges(edges, root="root")


def _csv_rows(path: Path, delimiter: str, limits: ReadLimits) -> Iterator[list[str]]:
    rows = csv.reader(_text(path, limits).splitlines(), delimiter=delimiter)
    try:
        yield from rows
    except csv.Error as error:
        raise ValueError(
            f"{path}, line {rows.line_num}: cannot read the cells: {error}."
        ) from None


def _is_header(cells: list[str]) -> bool:
    """Return whether two cells are column names, such as "Parent taxon" and "child"."""
    words = [cell.lower() for cell in cells]
    return len(words) == 2 and (
        ("parent" in words[0] and "child" in words[1])
        or ("child" in words[0] and "parent" in words[1])
    )


def _read_lines(path: Path, limits: ReadLimits) -> Hierarchy:
    text = _text(path, limits)
    lines = text.splitlines()
    if any(line[:1].isspace() and line.strip() for line in lines):
        return Hierarchy.from_text(text)
    paths = (tuple(line.strip().split("/")) for line in lines if line.strip())
    return Hierarchy.from_paths(limits.checked_paths(paths, "/", str(path)))


def split_identifiers(table: Table, drop: Sequence[str] = ()) -> tuple[Table, list[str]]:
    """Drop columns that identify rows rather than describe them.

    Parameters
    ----------
    table : Table
        The result of `read_data`.
    drop : sequence of str
        Columns to drop in any case.

    Returns
    -------
    table : Table
        The table without these columns and without identifier columns: text columns with more
        distinct values than half the number of cells that are not missing.
    dropped : list of str
        The names of the dropped columns.
    """
    unknown = [name for name in drop if name not in table.feature_names]
    if unknown:
        raise ValueError(
            f"--drop must name columns of the table, got {shorten(unknown)}. The columns are "
            f"{shorten(table.feature_names)}."
        )
    if not hasattr(table.X, "columns"):
        if drop:
            raise ValueError(
                f"--drop is not supported for sparse files such as {table.name}, got "
                f"{shorten(drop)}. Remove the columns from the file."
            )
        return table, []
    for name in table.feature_names:
        if name not in drop:
            _check_numbers(name, table.X[name])
    dropped = [name for name in table.feature_names if name in drop or _names_rows(table.X[name])]
    left_out = set(dropped)
    kept = [name for name in table.feature_names if name not in left_out]
    categories = {
        name: values for name, values in table.categories.items() if name not in left_out
    }
    return (
        replace(table, X=table.X[kept], feature_names=tuple(kept), categories=categories),
        dropped,
    )


def _check_numbers(name: str, column: Any) -> None:
    """Raise an error for text columns that were probably meant to be numeric."""
    if not hasattr(column, "cat"):
        return
    values = [str(value) for value in column.cat.categories]
    commas = [value for value in values if _DECIMAL_COMMA.fullmatch(value)]
    if 2 * len(commas) > len(values):
        raise ValueError(
            f"column {name!r} was read as text, but contains numbers such as {commas[0]!r}. Pass "
            f"--decimal ',', or leave the column out with --drop {name!r}."
        )
    others = [value for value in values if not _is_number(value)]
    if others and 2 * len(others) < len(values) and _names_rows(column):
        raise ValueError(
            f"column {name!r} was read as text because it contains {others[0]!r}, although most "
            "of its values are numbers. Use NA for missing numbers, or leave the column out with "
            f"--drop {name!r}."
        )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _names_rows(column: Any) -> bool:
    if not hasattr(column, "cat"):
        return False
    codes = np.asarray(column.cat.codes)
    known = codes[codes >= 0]
    return len(known) > 20 and 2 * len(np.unique(known)) > len(known)
