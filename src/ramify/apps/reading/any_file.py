"""Read data and hierarchies from files of any supported format."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ramify._messages import did_you_mean, import_extra, shorten
from ramify._validation import is_missing
from ramify.apps.reading.cell_checks import (
    check_date_features,
    check_numeric_features,
    check_suspicious_columns,
    foreign_date_notes,
    has_texts,
    names_rows,
)
from ramify.apps.reading.settings import DataOptions, ReadingSettings
from ramify.data.dates import is_time
from ramify.io import read_arff, read_mulan, read_obo, read_table
from ramify.io.csv_files import csv_marks, declared_delimiter, sheet_as_csv, unique_names
from ramify.io.errors import FormatError, check_exists, names_file
from ramify.io.files import read_chunks, read_utf8
from ramify.io.formats import HIERARCHIES, format_of, usual_delimiter
from ramify.io.limits import ReadLimits
from ramify.io.tables import Table, nested_columns
from ramify.labels.hierarchy import Hierarchy
from ramify.labels.texts import look_like_paths

__all__ = [
    "as_identifiers",
    "check_has_ids",
    "read_data",
    "read_hierarchy",
    "split_identifiers",
    "with_listed_targets",
]


_LABELS = "labels"
_FEW = 20  # rows among which consecutive numbers may be chance


def read_data(
    path: Path,
    hierarchy: Path | Hierarchy | None = None,
    options: DataOptions | None = None,
    *,
    labelled: bool = True,
    texts: Sequence[str] = (),
    numbers: Sequence[str] | None = None,
    dates: Sequence[str] = (),
) -> Table:
    """Read an ARFF, CSV, parquet or spreadsheet file.

    `labelled`: whether the file must have labels.
    """
    options = options or DataOptions()
    check_exists(path)
    if options.id_column in ((_LABELS,) if options.target is None else options.target):
        raise ValueError(
            f"--id must not be a label column, got {options.id_column!r}. Pass the label columns "
            "with --target, and a column that names the rows with --id."
        )
    is_arff = format_of(path) == "arff"
    if is_arff:
        table = _read_arff(path, hierarchy, options)
    else:
        if isinstance(hierarchy, Path):
            hierarchy = read_hierarchy(hierarchy, options.limits)
        # The features of a model are known: other columns may be anything.
        ignored = () if numbers is None else nested_columns(path)
        options = replace(options, ignore=(*options.ignore, *ignored))
        table = _read_table(path, hierarchy, options, labelled=labelled, texts=texts)
    table = _grouped(table, options.groups)
    table = _without_columns(table, options, nested_columns(path))
    if hierarchy is None:
        is_hierarchical = is_arff and options.target is None
        table = replace(
            table, notes=(*table.notes, *_separator_notes(table, options, is_hierarchical))
        )
    if hasattr(table.X, "columns") and not is_arff:
        if numbers is None:
            check_suspicious_columns(path, table.X, options.form, texts)
            return replace(table, notes=(*table.notes, *foreign_date_notes(table.X)))
        check_numeric_features(path, table.X, options.form, numbers)
        check_date_features(path, table.X, dates)
    return table


def _separator_notes(table: Table, options: DataOptions, is_hierarchical: bool) -> list[str]:
    """Return a note on flat labels that look like paths with another separator.

    Numbers are not paths unless the file declares the labels as hierarchical.
    """
    hierarchy = table.hierarchy
    if hierarchy is None or hierarchy.depth != 1:
        return []
    labels = [str(label) for label in hierarchy.labels]
    for mark in (mark for mark in "./" if mark != options.separator):
        paths = [label for label in labels if mark in label]
        are_numbers = all(map(_is_number, paths))
        if look_like_paths(labels, mark) and (is_hierarchical or not are_numbers):
            return [
                f"labels such as {paths[0]!r} were read as flat labels; if they are paths, pass "
                f"--separator {mark}"
            ]
    return []


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _read_arff(path: Path, hierarchy: Path | Hierarchy | None, options: DataOptions) -> Table:
    form: dict[str, Any] = {
        "duplicate_names": "rename",
        "encoding": options.form.encoding,
        "limits": options.limits,
    }
    if isinstance(hierarchy, Path) and format_of(hierarchy, HIERARCHIES) == "mulan":
        table = _named(read_mulan(path, hierarchy, **form))
        return _identified(_weighted(table, options.sample_weight), options.id_column)
    if isinstance(hierarchy, Path):
        hierarchy = read_hierarchy(hierarchy, options.limits)
    target: Any = options.target
    if target is not None and len(target) == 1:
        target = target[0]
    table = read_arff(
        path,
        target=target,
        hierarchy=hierarchy,
        separator=options.separator or "/",
        index_base=options.index_base,
        **form,
    )
    return _identified(_weighted(_named(table), options.sample_weight), options.id_column)


def _read_table(
    path: Path,
    hierarchy: Hierarchy | None,
    options: DataOptions,
    *,
    labelled: bool,
    texts: Sequence[str],
) -> Table:
    columns = _column_names(path, options)
    if not columns:
        raise ValueError(
            f"{path} is not a table: its first line is empty. Put the column names in the first "
            "line."
        )
    targets = (_LABELS,) if options.target is None else options.target
    missing = [name for name in targets if name not in columns]
    if missing and labelled:
        raise ValueError(
            f"{path} has no column {missing[0]!r}.{did_you_mean(missing[0], columns)} Pass the "
            f"label column with --target; the columns are {shorten(columns)}."
        )
    target: Any = targets[0] if len(targets) == 1 else list(targets)
    if missing or not targets:
        target = None
    form = options.form
    return read_table(
        path,
        target=target,
        texts=[name for name in texts if name in columns],
        drop=[name for name in nested_columns(path) if name in {*options.drop, *options.ignore}],
        hierarchy=hierarchy,
        separator=options.separator,
        label_separator=options.label_separator,
        gaps=options.gaps,
        sample_weight=options.sample_weight,
        id_column=options.id_column if options.id_column in columns else None,
        delimiter=form.delimiter,
        decimal=form.decimal,
        thousands=form.thousands,
        missing=form.missing,
        encoding=form.encoding,
        duplicate_names="rename",
        empty_rows="drop" if labelled else "keep",
        as_frame=True,
        limits=options.limits,
    )


def _weighted(table: Table, name: str | None) -> Table:
    """Use a numeric attribute of an ARFF file as sample weights."""
    if name is None:
        return table
    if name not in table.feature_names or name in table.categories:
        raise ValueError(
            f"--weight must be a numeric attribute of {table.name}, got {name!r}."
            f"{did_you_mean(name, table.feature_names)}"
        )
    if table.sample_weight is not None:
        raise ValueError(
            f"--weight {name} cannot be used with {table.name}, whose rows have weights in the "
            "file. Leave it out."
        )
    is_frame = hasattr(table.X, "columns")
    weights = np.asarray(table.X[name] if is_frame else _dense_column(table, name), np.float64)
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise FormatError(
            f"{table.name}: expected finite, non-negative numbers in the weight column {name!r}."
        )
    return replace(_selected(table, {name}), sample_weight=weights)


def _identified(table: Table, name: str | None) -> Table:
    """Use an attribute of an ARFF file as identifiers, which are not a feature."""
    if name in table.strings:
        return replace(table, ids=as_identifiers(table.strings[name], name))
    if name not in table.feature_names:
        return table
    column = table.X[name] if hasattr(table.X, "columns") else _dense_column(table, name)
    return replace(_selected(table, {name}), ids=as_identifiers(column, name))


def with_listed_targets(path: Path, settings: ReadingSettings) -> ReadingSettings:
    """Return settings in which one target, such as "class,order", may name several columns."""
    target = settings.target or ()
    if len(target) != 1 or "," not in target[0] or format_of(path) == "arff":
        return settings
    columns = _column_names(path, settings.options())
    parts = tuple(part.strip() for part in target[0].split(","))
    listed = target[0] not in columns and all(part in columns for part in parts)
    return replace(settings, target=parts) if listed else settings


def _grouped(table: Table, name: str | None) -> Table:
    """Use a column as groups of rows, which are not a feature."""
    if name is None:
        return table
    if name not in table.feature_names and name not in table.strings:
        raise ValueError(
            f"--groups must be a column of {table.name}, got {name!r}."
            f"{did_you_mean(name, table.feature_names)}"
        )
    if name in table.strings:
        cells: Any = table.strings[name]
    else:
        cells = table.X[name] if hasattr(table.X, "columns") else _dense_column(table, name)
    groups = np.array([None if is_missing(cell) else str(cell) for cell in cells], dtype=object)
    without = np.flatnonzero(groups == None)  # noqa: E711 (cell by cell)
    if without.size:
        raise FormatError(
            f"{table.name}: every row must have a group, but the column {name!r} is empty in "
            f"{without.size} row(s), such as row {without[0] + 1}."
        )
    return replace(_selected(table, {name}), groups=groups)


def as_identifiers(cells: Any, name: str) -> Any:
    """Return cells as a column of identifiers: whole numbers without a point, None if missing."""
    pandas = import_extra("pandas", "tables")
    column = pandas.Series(cells, name=name)
    whole = column.dtype.kind == "f" and (column.dropna() % 1 == 0).all()
    known = column.notna()
    values = column[known].astype("int64" if whole else object)
    return values.astype(object).reindex(column.index).where(known, None)


def _dense_column(table: Table, name: str) -> Any:
    column = table.X[:, [table.feature_names.index(name)]]
    dense = column.toarray() if hasattr(column, "toarray") else np.asarray(column)
    return dense.astype(np.float64).ravel()


def check_has_ids(table: Table, name: str | None) -> None:
    """Raise an error if a table lacks the column of identifiers that the user named."""
    if name is not None and table.ids is None:
        raise ValueError(
            f"--id must be a column of {table.name}, got {name!r}."
            f"{did_you_mean(name, table.feature_names)}"
        )


def _without_columns(table: Table, options: DataOptions, nested: Sequence[str]) -> Table:
    """Leave out the columns that the options name; those of lists have not been read."""
    known = {*table.feature_names, options.id_column, *nested}
    unknown = [name for name in options.drop if name not in known]
    if unknown:
        raise ValueError(
            f"--drop must name columns of the table, got {shorten(unknown)}. The columns are "
            f"{shorten(table.feature_names)}."
        )
    left_out = {*options.drop, *options.ignore} & set(table.feature_names)
    return _selected(table, left_out) if left_out else table


def _selected(table: Table, left_out: set[str]) -> Table:
    """Return a table without some of its features."""
    places = [k for k, name in enumerate(table.feature_names) if name not in left_out]
    kept = tuple(table.feature_names[k] for k in places)
    return replace(
        table,
        X=table.X[list(kept)] if hasattr(table.X, "columns") else table.X[:, places],
        feature_names=kept,
        categories={name: v for name, v in table.categories.items() if name not in left_out},
    )


def _named(table: Table) -> Table:
    """Return a table whose dense columns have names, by which a model can match them."""
    if hasattr(table.X, "columns") or sparse.issparse(table.X) or not find_spec("pandas"):
        return table
    pandas = import_extra("pandas", "tables")
    return replace(table, X=pandas.DataFrame(table.X, columns=list(table.feature_names)))


def _column_names(path: Path, options: DataOptions) -> list[str]:
    """Read only the header."""
    if format_of(path) == "parquet":
        from pyarrow import parquet  # noqa: PLC0415 (optional)

        return list(parquet.read_schema(path).names)
    form = options.form
    if format_of(path) == "sheet":
        chunks = [sheet_as_csv(path, options.limits or ReadLimits(), most_rows=1)[0]]
    else:
        chunks = []
        for chunk in read_chunks(path, form.encoding, options.limits):
            chunks.append(chunk)
            if chunk.count(b"\n") > 1:
                break
    content = b"".join(chunks)
    declared, start = declared_delimiter(content)
    try:
        first = (content[start:].splitlines() or [b""])[0].decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path} is not a table in UTF-8: its first line has byte "
            f"0x{error.object[error.start]:02X} at offset {error.start}. Save it as CSV in UTF-8, "
            "or pass its encoding, for example --encoding latin-1."
        ) from None
    try:
        names = next(csv.reader([first], delimiter=csv_marks(path, form, declared)["sep"]), [])
    except csv.Error as error:
        raise ValueError(f"{path}, line 1: cannot read the column names: {error}.") from None
    marks = [mark for mark in ";\t|," if len(names) == 1 and mark in names[0]]
    if marks and form.delimiter is None:
        raise ValueError(
            f"{path} has a single column, {shorten(names)}. If its cells are separated by "
            f"{marks[0]!r}, pass --delimiter {marks[0]!r}. If its numbers look like 3,5, also "
            "pass --decimal ','."
        )
    return unique_names(names)[0]


@names_file
def read_hierarchy(path: Path, limits: ReadLimits | None = None) -> Hierarchy:
    """Read a hierarchy; the suffix of the file determines its format.

    `path`: ``.csv`` and ``.tsv``: edges, one parent and child per line; the parent of a
    top-level label is "root" or empty.
    """
    check_exists(path)
    limits = limits or ReadLimits()
    readers: dict[str | None, Callable[[Path, ReadLimits], Hierarchy]] = {
        "ontology": lambda file, limits: read_obo(file, limits=limits),
        "json": lambda file, limits: Hierarchy.from_json(_text(file, limits)),
        "edges": _read_edges,
        "lines": _read_lines,
    }
    form = format_of(path, HIERARCHIES)
    if form not in readers:
        listed = ", ".join(suffix for suffix, form in HIERARCHIES.items() if form in readers)
        raise ValueError(
            f"a hierarchy file must end in one of {listed}, got {path}. Pass an "
            "ontology (.obo), edges (.csv, .tsv: parent,child), an outline or paths (.txt)."
        )
    try:
        hierarchy = readers[form](path, limits)
        limits.check("max_labels", hierarchy.n_labels, "the number of labels", str(path))
        return hierarchy
    except ValueError as error:
        reason = " ".join(str(error).split())
        if str(path) in reason:
            raise
        raise ValueError(f"cannot read the hierarchy {path}: {reason}") from error


def _text(path: Path, limits: ReadLimits) -> str:
    return read_utf8(path, limits=limits).decode("utf-8")


def _read_edges(path: Path, limits: ReadLimits) -> Hierarchy:
    edges = []
    child_first = False
    for number, row in enumerate(_csv_rows(path, limits), 1):
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


def _csv_rows(path: Path, limits: ReadLimits) -> Iterator[list[str]]:
    rows = csv.reader(_text(path, limits).splitlines(), delimiter=usual_delimiter(path))
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


def split_identifiers(table: Table, keep: Sequence[str] = ()) -> tuple[Table, dict[str, str]]:
    """Drop columns that do not describe the rows."""
    unknown = [name for name in keep if name not in table.feature_names]
    if unknown:
        raise ValueError(
            f"--keep must name columns of the table, got {shorten(unknown)}. The columns are "
            f"{shorten(table.feature_names)}."
        )
    if not hasattr(table.X, "columns"):
        return table, {}
    reasons = {
        name: reason
        for name in table.feature_names
        if name not in keep and (reason := _reason_to_drop(table.X[name]))
    }
    if len(reasons) == len(table.feature_names):
        # Consecutive numbers are better than no feature at all.
        reasons = {name: why for name, why in reasons.items() if why != _RUNNING}
    if len(reasons) == len(table.feature_names):
        raise _no_features_error(table, reasons)
    return _selected(table, set(reasons)), reasons


_RUNNING = "consecutive numbers"
_TEXTS = "texts"


def _no_features_error(table: Table, reasons: dict[str, str]) -> ValueError:
    # Text attributes of an ARFF file are not read as features in the first place.
    texts = [name for name in table.strings if name != getattr(table.ids, "name", None)]
    may_keep = " --keep uses a column nevertheless." * bool(reasons)
    reasons = {**dict.fromkeys(texts, _TEXTS), **reasons}
    listed = ", ".join(f"{name} ({reason})" for name, reason in reasons.items())
    if not reasons:
        return ValueError(
            f"{table.name} has no features: it has no columns besides labels, weights and "
            "identifiers. Add columns of numbers, categories or dates."
        )
    texts = [name for name, reason in reasons.items() if reason == _TEXTS]
    advice = (
        f"Texts cannot be features: convert column {texts[0]!r} to numbers, for example with "
        "scikit-learn's TfidfVectorizer in Python, or add columns of numbers or categories."
        if texts
        else "Add columns of numbers, categories or dates."
    )
    return ValueError(
        f"{table.name} has no features, because all columns were left out: {listed}. "
        f"{advice}{may_keep}"
    )


def _reason_to_drop(column: Any) -> str:
    if bool(column.isna().all()) and len(column):
        return "no values"
    if names_rows(column):
        return _TEXTS if has_texts(column) else "identifiers"
    if hasattr(column, "cat") or is_time(column) or len(column) <= _FEW:
        return ""
    values = np.asarray(column, dtype=np.float64)
    counted = np.arange(len(values)) + values[0]
    return _RUNNING if values[0] in (0, 1) and np.array_equal(values, counted) else ""
