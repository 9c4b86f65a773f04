"""One reader for tables of every format: a file or a data frame becomes what `fit` takes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import fspath
from pathlib import Path
from typing import Any

import numpy as np

from ramify._messages import did_you_mean, import_extra, shorten
from ramify.data.columns import TEXT, tell_texts
from ramify.data.dates import with_dates
from ramify.data.frames import in_memory, is_frame
from ramify.data.vectors import is_vector
from ramify.io.arff.reader import read_arff
from ramify.io.errors import FormatError, names_file
from ramify.io.features import read_features
from ramify.io.files import FilePath
from ramify.io.formats import TextForm, format_of
from ramify.io.limits import ReadLimits
from ramify.io.tables.cells import CellReading, read_cells
from ramify.io.tables.csv_files import CsvCells, read_csv
from ramify.io.tables.labels import LabelForm, read_label_columns
from ramify.io.tables.layout import without_footer
from ramify.io.tables.parquet_files import nested_columns, read_parquet
from ramify.io.tables.records import read_records
from ramify.io.tables.roles import (
    LABELS,
    Columns,
    as_identifiers,
    groups_of,
    identifiers,
    left_out_columns,
    selected,
    weights_of,
    with_roles,
)
from ramify.io.tables.svmlight import read_svmlight
from ramify.io.tables.table import Table, matrix_of
from ramify.labels.hierarchy import Hierarchy
from ramify.labels.texts import similar_labels

__all__ = ["Manner", "format_of_data", "read", "read_table"]


@dataclass(frozen=True)
class Manner:
    """How a table is read, as far as a user has said."""

    columns: Columns = field(default_factory=Columns)
    form: TextForm = field(default_factory=TextForm)
    labels: LabelForm = field(default_factory=LabelForm)
    limits: ReadLimits = field(default_factory=ReadLimits)
    duplicate_names: str = "rename"
    empty_rows: str = "drop"
    as_frame: bool | None = True
    index_base: int = 0
    strict: bool = True  # whether columns that cannot be read for certain are errors, else notes


@names_file
def read_table(
    path: Any,
    *,
    target: str | Sequence[str] | None = LABELS,
    hierarchy: Hierarchy | None = None,
    separator: str | None = None,
    label_separator: str | None = None,
    gaps: str = "skip",
    sample_weight: str | None = None,
    groups: str | None = None,
    id_column: str | None = None,
    kinds: Mapping[str, str] | None = None,
    categories: Mapping[str, Sequence[str]] | None = None,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    delimiter: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    dates: str | None = None,
    header: int | str | None = None,
    sheet: str | None = None,
    footer: str = "drop",
    missing: Sequence[str] = (),
    encoding: str | None = None,
    index_base: int = 0,
    duplicate_names: str = "rename",
    empty_rows: str = "drop",
    as_frame: bool | None = None,
    limits: ReadLimits | None = None,
) -> Table:
    r"""Read a table of any format: its features, labels and hierarchy, as `fit` takes them.

    How the file is written is found: the delimiter, the decimal mark, groups of digits, the
    encoding, the lines with the column names, the notation of dates, units, marks of missing
    values, totals below the rows. ``notes`` says what was found, with the argument that changes
    it, and ``settings`` has what reads the file again in the same way. A column is read as numbers
    or dates only if all of its cells agree; where they have two meanings, an error lists all such
    columns and the argument for each.

    Parameters
    ----------
    path : path or data frame
        The file. The end of its name tells the format: .arff, .parquet or .pq, .xlsx or .xlsm
        (one sheet; requires ``ramify[excel]``), .svm or .libsvm, .json or .jsonl (a list of
        objects, or one per line); any other name means a CSV file, plain or compressed. Or a data
        frame of pandas, polars or pyarrow.
    target : str, sequence of str or None
        The column of labels, with cells such as "animal/cat;pet"; an empty cell means no labels.
        In a parquet file, cells may also be lists of labels, or of paths, each a list of names;
        they are read as by `fit`.
        Several columns are one label each if their cells are 0 and 1, yes and no, a single mark
        such as x, or counts, which are mostly 0; otherwise, they are the levels of one path per
        row, from the top. Where most rows are empty and no label is written twice, as in reports
        that group rows, the labels hold for the rows below. If None, no labels are read.
    hierarchy : Hierarchy, optional
        The labels that can occur. If None, they are inferred from the column; paths give a tree.
    separator : str, optional
        Separator of the names of a path. By default, it is found: a mark such as "/" or " > "
        separates names if several labels then begin with the same name.
    label_separator : str, optional
        Separator of the labels of a row. By default ";", or else "," or "|" if the labels that it
        joins also occur in other places.
    gaps : {"refuse", "skip", "end"}
        What to do with a row whose levels have an empty cell, or a dash, above others: raise an
        error, leave the level out of the path, or end the path above it. ``notes`` says how often
        this was done.
    sample_weight : str, optional
        The column of sample weights.
    groups : str, optional
        The column of groups of rows, such as sites or persons, for cross-validation.
    id_column : str, optional
        The column of identifiers, which is not a feature. Its cells are kept in ``ids`` as they
        are in the file: 007 stays 007, and NA is an identifier.
    kinds : mapping of str to str, optional
        What columns are: "number", "category", "date" or "time", in place of what is found from
        their cells. Categories are kept as they are written, so 007 stays 007.
    categories : mapping of str to sequence of str, optional
        Values of nominal features, for example those of the training file when reading a test
        file. A value that is not listed raises an error. Columns of numbers listed here become
        nominal. By default, the values are those that occur, sorted.
    drop : sequence of str
        Columns to leave out. Lists in a parquet file can be labels, but not features.
    keep : sequence of str
        Columns to use as features although they look like identifiers or are empty. The others
        are listed in ``left_out``.
    delimiter : str, optional
        Delimiter of the cells of a CSV file; a blank means runs of blanks.
    decimal : str, optional
        Decimal mark of a CSV file.
    thousands : str, optional
        Mark between groups of three digits in a CSV file, such as "." in 1.000,5.
    dates : {"dmy", "mdy"}, optional
        The order of dates such as 03/04/2024.
    header : int or str, optional
        The line with the column names, counted from 1, or two lines, such as "3-4", whose names
        are joined.
    sheet : str, optional
        The sheet of a spreadsheet. By default, the first that has a table, with the label columns
        if they are named.
    footer : {"drop", "keep"}
        What to do with totals and footnotes below the rows.
    missing : sequence of str
        Texts that mark a missing value, in addition to an empty cell, ?, NA, N/A, NaN, nan, null
        and None.
    encoding : str, optional
        Encoding of a text file. By default, a byte order mark tells it, or else it is UTF-8 or,
        if the text is none, Windows-1252.
    index_base : {0, 1}
        First index of the rows of a sparse ARFF file, as in `read_arff`.
    duplicate_names : {"error", "rename"}
        How to handle a column with the name of an earlier column. "rename" appends -1, -2, ...
    empty_rows : {"keep", "drop"}
        What to do with rows without any value, such as ``;;;;``. A row with features but without
        labels is not empty.
    as_frame : bool, optional
        Whether X is a data frame. By default, it is one if there are nominal features, texts or
        dates; an array contains codes and seconds.
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
    ...     _ = path.write_text("size;colour;labels\n3,5 cm;brown;mammal/dog\nca. 2 cm;?;bird\n")
    ...     pets = read_table(path)
    >>> pets.X["size"].tolist()
    [3.5, 2.0]
    >>> pets.hierarchy.decode(pets.y)
    [('mammal/dog',), ('bird',)]
    >>> pets.settings
    {'delimiter': ';', 'decimal': ',', 'encoding': 'utf-8'}
    """
    _check_choices(duplicate_names, empty_rows, footer)
    named = (target,) if isinstance(target, str) else () if target is None else tuple(target)
    # Files that declare their labels need no column of this name.
    is_usual = target == LABELS and (format_of_data(path) in ("arff", "svmlight"))
    form = TextForm(
        delimiter, decimal, encoding, thousands, tuple(missing),
        None if header is None else str(header), dates, sheet, footer,
    )  # fmt: skip
    columns = Columns(
        None if is_usual else named, sample_weight, groups, id_column, tuple(drop),
        kinds=kinds or {}, categories=categories or {},
    )  # fmt: skip
    manner = Manner(
        columns,
        form,
        LabelForm(separator, label_separator, gaps),
        limits or ReadLimits(),
        duplicate_names=duplicate_names,
        empty_rows=empty_rows,
        as_frame=as_frame,
        index_base=index_base,
    )
    table = read(path, hierarchy, manner)
    shown = table
    is_table = format_of_data(path) not in ("arff", "svmlight")
    if as_frame is None and is_table and isinstance(table.X, np.ndarray):
        frames = import_extra("pandas", "tables")
        shown = replace(table, X=frames.DataFrame(table.X, columns=list(table.feature_names)))
    reasons = left_out_columns(shown, keep)
    return replace(selected(table, set(reasons)), left_out={**table.left_out, **reasons})


def _check_choices(duplicate_names: Any, empty_rows: Any, footer: Any) -> None:
    choices = (
        ("duplicate_names", duplicate_names, ("error", "rename")),
        ("empty_rows", empty_rows, ("keep", "drop")),
        ("footer", footer, ("drop", "keep")),
    )
    for name, value, allowed in choices:
        if value not in allowed:
            raise ValueError(f"{name} must be one of {list(allowed)}, got {value!r}.")


def format_of_data(path: Any) -> str | None:
    """Return the format of a file; "frame" for a data frame."""
    return "frame" if is_frame(path) or hasattr(path, "num_columns") else format_of(path)


def read(path: Any, hierarchy: Hierarchy | None, manner: Manner) -> Table:
    """Read a table with all its columns, also those that say nothing about other rows."""
    manner.columns.check()
    kind = format_of_data(path)
    if kind == "arff":
        return with_roles(_read_arff(path, hierarchy, manner), manner.columns)
    if kind == "svmlight":
        return with_roles(read_svmlight(path, hierarchy, manner.limits), manner.columns)
    return _read_columns(path, hierarchy, manner)


# ---- tables of columns: CSV, parquet, spreadsheets, data frames -----------------------------


def _read_columns(path: Any, hierarchy: Hierarchy | None, manner: Manner) -> Table:
    columns, form, labels, limits = manner.columns, manner.form, manner.labels, manner.limits
    where = "the data frame" if is_frame(path) or hasattr(path, "num_columns") else fspath(path)
    wanted = (LABELS,) if columns.target is None else columns.target
    kept = [name for name in (columns.id_column, columns.groups) if name is not None]
    names = {name for name, what in columns.kinds.items() if what in ("category", "text")}
    as_text = [*wanted, *columns.categories, *names]
    file, frame, notes = _cells(path, manner, as_text, kept)
    meant = _by_last_names(columns, frame.columns)
    if meant is not None:
        table = _read_columns(path, hierarchy, replace(manner, columns=meant[0]))
        return replace(table, notes=(*table.notes, *meant[1]))
    targets = _present_targets(frame, wanted, columns, where)
    _check_roles(columns, frame, where)
    kept = [name for name in kept if name in frame.columns]
    if form.footer == "drop" and targets:
        frame, dropped = without_footer(frame, targets)
        notes += dropped
    roles = {*targets, *kept, columns.sample_weight, *columns.drop, *columns.ignore}
    # Lists of labels are no vectors.
    vectors = [name for name in frame.columns if name not in roles and is_vector(frame[name])]
    frame, found = _read_values(frame, manner, file, {*roles, *vectors})
    if found.problems and manner.strict:
        raise _problems_error(where, found.problems)
    if manner.empty_rows == "drop":
        frame, dropped = _without_empty_rows(frame, [*targets, *kept])
        notes += dropped
    notes += found.notes
    y, hierarchy = None, (hierarchy if targets else None)
    if targets:
        y, hierarchy, told, labels = read_label_columns(
            where, frame[list(targets)], len(targets) == 1, hierarchy, labels, limits=limits
        )
        notes += told
    frame, dated = with_dates(frame, {*as_text, *roles, *vectors}, found.plain_dates)
    notes += dated
    _check_dropped(columns, frame, path)
    features = frame[[name for name in frame.columns if name not in roles]]
    features = _with_categories(features, columns, where)
    X, categories = _matrix(features, manner, where)
    if not columns.trained:
        notes += _doubts(features, columns, categories)
    return Table(
        X=X,
        y=y,
        hierarchy=hierarchy,
        feature_names=tuple(map(str, features.columns)),
        categories=categories,
        **_roles_of_rows(frame, columns, where),
        name=_name(where),
        notes=tuple(notes),
        settings=_settings(replace(columns, target=targets), form, file, found, labels),
        reasons=found.reasons,
        units=found.units,
        problems=tuple(found.problems),
        left_out=dict.fromkeys(columns.drop, "drop="),
    )


def _check_roles(columns: Columns, frame: Any, where: str) -> None:
    """Raise an error if a table lacks a column that the user named, or has no rows."""
    for role, name in (
        *(("categories", name) for name in columns.categories),
        ("sample_weight", columns.sample_weight),
        ("groups", columns.groups),
        ("id_column", columns.id_column if columns.labelled else None),
    ):
        _check_column(role, name, frame, where)
    if len(frame) == 0:
        raise FormatError(f"{where} has column names, but no rows below them.")


def _read_values(
    frame: Any, manner: Manner, file: CsvCells | None, as_they_are: set[str | None]
) -> tuple[Any, CellReading]:
    """Read the cells of all columns but some, whose sample weights are read nonetheless."""
    columns, form = manner.columns, manner.form
    exempt = {*as_they_are, *columns.categories} - {columns.sample_weight}
    if columns.trained:  # the model does not read other columns, which may have anything
        exempt |= set(frame.columns) - set(columns.kinds)
    hint = form.hint.decimal if form.hint else None
    decimal = file.layout.decimal if file is not None else None
    return read_cells(frame, form, columns.kinds, exempt, decimal or hint, trained=columns.trained)


def _roles_of_rows(frame: Any, columns: Columns, where: str) -> dict[str, Any]:
    """Return the weights, identifiers and groups of rows, None for those without a column."""
    weights, ids, groups = columns.sample_weight, columns.id_column, columns.groups
    return {
        "sample_weight": None if weights is None else weights_of(frame[weights], where),
        "ids": identifiers(frame[ids]) if ids in frame.columns else None,
        "groups": groups_of(frame[groups], groups, where)
        if groups is not None and groups in frame.columns
        else None,
    }


def _cells(
    path: Any, manner: Manner, as_text: Sequence[str], kept: Sequence[str]
) -> tuple[CsvCells | None, Any, list[str]]:
    """Return the cells of a table, some columns as they are written, and notes."""
    columns, form, limits = manner.columns, manner.form, manner.limits
    targets = (LABELS,) if columns.target is None else columns.target
    kind = format_of_data(path)
    if kind == "frame":
        return None, _plain_frame(path, as_text, kept), []
    if kind == "parquet":
        frame = read_parquet(path, limits, kept, targets, (*columns.drop, *columns.ignore))
        return None, _plain_frame(frame, as_text, kept), []
    if kind == "records":
        left_out = (*columns.drop, *columns.ignore)
        frame = read_records(path, form.encoding, limits, targets, left_out)
        return None, _plain_frame(frame, as_text, kept), []
    whole = [*targets, *kept]
    rename = manner.duplicate_names == "rename"
    file = read_csv(path, form, [*as_text, *kept], whole, rename=rename, limits=limits)
    return file, file.frame, file.notes


def _plain_frame(data: Any, as_text: Sequence[str], kept: Sequence[str]) -> Any:
    """Return a data frame of pandas with a plain index."""
    frame = in_memory(data, "path")
    frame = frame.to_pandas() if hasattr(frame, "to_pandas") else frame
    frame = frame.reset_index(drop=True)
    frame.columns = [str(name) for name in frame.columns]
    texts = {
        name: as_identifiers(frame[name], name).map(str, na_action="ignore")
        for name in as_text
        if name in frame.columns and getattr(frame[name].dtype, "kind", "O") in "iuf"
    }
    return frame.assign(**texts) if texts else frame


def _by_last_names(columns: Columns, names: Sequence[Any]) -> tuple[Columns, list[str]] | None:
    """Return what columns are for, with the names that were meant, and notes; None if unclear.

    A name that no column has may be the last words of one, as in the second of two header lines;
    one target such as "class,order" may list several.
    """
    listed = [str(name) for name in names]

    def meant(name: str | None) -> str | None:
        found = [one for one in listed if name is not None and one.endswith(f" {name}")]
        return found[0] if name not in listed and len(found) == 1 else name

    target = typed = columns.target or ()
    if len(typed) == 1 and typed[0] not in listed and "," in typed[0]:
        parts = tuple(part.strip() for part in typed[0].split(","))
        typed = parts if all(meant(part) in listed for part in parts) else typed
    if columns.labelled:
        target = tuple(str(meant(name)) for name in typed)
    found = replace(
        columns,
        target=target if columns.target else columns.target,
        id_column=meant(columns.id_column),
        groups=meant(columns.groups),
        sample_weight=meant(columns.sample_weight),
        drop=tuple(str(meant(name)) for name in columns.drop),
    )
    if found == columns:
        return None
    is_new = columns.labelled and target != typed
    return found, [f"the label columns are {', '.join(map(repr, target))}"] * is_new


def _present_targets(
    frame: Any, wanted: Sequence[str], columns: Columns, where: str
) -> tuple[str, ...]:
    """Return the label columns; none if they are missing and may be."""
    missing = [name for name in wanted if name not in frame.columns]
    if not missing:
        return tuple(wanted)
    if not columns.labelled:
        return ()
    raise ValueError(
        f"{where} has no column {missing[0]!r}.{did_you_mean(missing[0], frame.columns)} The "
        f"columns are {shorten(frame.columns)}. Pass the label column with target=."
    )


def _problems_error(where: str, problems: Sequence[str]) -> FormatError:
    if len(problems) == 1:
        return FormatError(f"{where}, {problems[0]}.")
    listed = "".join(f"\n- {problem}." for problem in problems)
    return FormatError(
        f"{where} has {len(problems)} columns that cannot be read as they are:{listed}"
    )


def _check_column(role: str, name: str | None, frame: Any, where: str) -> None:
    if name is not None and name not in frame.columns:
        raise ValueError(
            f"{role} must be a column of {_name(where)}, got {name!r}."
            f"{did_you_mean(name, frame.columns)} The columns are {shorten(frame.columns)}."
        )


def _name(where: str) -> str:
    """Return the name of a data set: that of its file without the suffix."""
    return Path(where).name.split(".", 1)[0]


def _check_dropped(columns: Columns, frame: Any, path: Any) -> None:
    nested = [] if format_of_data(path) == "frame" else nested_columns(path)
    known = {*map(str, frame.columns), *nested}
    unknown = [name for name in columns.drop if name not in known]
    if unknown:
        raise ValueError(
            f"drop must name columns of the table, got {shorten(unknown)}."
            f"{did_you_mean(unknown[0], frame.columns)} The columns are {shorten(frame.columns)}."
        )


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


def _doubts(
    features: Any, columns: Columns, categories: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    """Yield notes on features that may be weights, and on categories that may be the same."""
    weights = [str(name) for name in features.columns if _WEIGHT.fullmatch(str(name))]
    if weights and columns.sample_weight is None:
        yield (
            f"column {weights[0]!r} is read as a feature; if it has the weights of the rows, pass "
            f"sample_weight={weights[0]!r}"
        )
    for name, values in categories.items():
        repeats = 2 * len(values) <= features[name].count()
        if repeats and (groups := similar_labels(values)):
            listed = " and ".join(map(repr, groups[0][:3]))
            yield (
                f"column {name!r}: {listed} are read as different categories, but differ only in "
                "case, blanks or punctuation; if they mean the same, write them in the same way"
            )


_WEIGHT = re.compile(
    r"(?:sample|case|row|instance|survey|sampling|design)[\s_.-]?weights?", re.IGNORECASE
)


def _with_categories(frame: Any, columns: Columns, where: str) -> Any:
    pandas = import_extra("pandas", "tables")
    changed = {}
    for name, values in columns.categories.items():
        column = frame[name]
        present = column[column.notna()].astype(str)
        unknown = present[~present.isin(list(values))]
        if len(unknown):
            raise FormatError(
                f"{where}: expected one of {{{','.join(values)}}} in column {name!r}, "
                f"found {unknown.iloc[0]!r} in row {unknown.index[0]}."
            )
        words = column.astype(object).where(column.isna(), column.astype(str))
        changed[name] = pandas.Categorical(words, categories=list(values))
    return frame.assign(**changed) if changed else frame


def _matrix(frame: Any, manner: Manner, where: str) -> tuple[Any, dict[str, tuple[str, ...]]]:
    """Return the features as `fit` takes them, and the values of nominal ones."""
    vectors = [name for name in frame.columns if is_vector(frame[name])]
    texts = [] if manner.as_frame is False else _texts(frame, manner.columns.kinds)
    try:
        features = read_features(frame.drop(columns=[*texts, *vectors]))
    except ValueError as error:
        raise FormatError(f"{where}: {error}") from None
    for name, values in features.categories.items():
        manner.limits.check(
            "max_categories", len(values), f"the number of values of column {name!r}", where
        )
    kept = [*texts, *vectors]
    X = matrix_of(features, True if kept else manner.as_frame)
    if kept:
        plain = {name: frame[name].reset_index(drop=True) for name in kept}
        X = X.assign(**plain)[[str(name) for name in frame.columns]]
    return X, features.categories


def _texts(frame: Any, kinds: Mapping[str, str]) -> list[str]:
    """Return the columns of texts, which stay as they are."""
    return [
        name
        for name in frame.columns
        if kinds.get(name) != "category"
        and not is_vector(frame[name])
        and str(frame[name].dtype) in ("object", "str", "string")
        and (kinds.get(name) == TEXT or _has_texts(frame[name]))
    ]


def _has_texts(column: Any) -> bool:
    """Return whether the values of a column are texts; few values in many rows are none."""
    n_few = 40
    if column.count() > 2 * n_few and column.nunique() <= n_few:
        return False
    return tell_texts(column.tolist())[0]


def _settings(
    columns: Columns, form: TextForm, file: CsvCells | None, found: CellReading, labels: LabelForm
) -> dict[str, Any]:
    """Return the arguments of `read_table` that read the table again in the same way."""
    target: Any = columns.target
    if target is not None and len(target) == 1:
        target = None if target == (LABELS,) else target[0]
    settings: dict[str, Any] = {
        "target": list(target) if isinstance(target, tuple) else target,
        "separator": labels.separator,
        "label_separator": labels.label_separator if labels.label_separator != ";" else None,
        "gaps": labels.gaps if labels.gaps != "skip" else None,
        "sample_weight": columns.sample_weight,
        "groups": columns.groups,
        "id_column": columns.id_column,
        "kinds": dict(columns.kinds),
        "drop": list(columns.drop),
        "delimiter": form.delimiter,
        "decimal": form.decimal,
        "thousands": form.thousands,
        "dates": form.dates or found.dates,
        "header": form.header,
        "sheet": form.sheet,
        "footer": form.footer if form.footer != "drop" else None,
        "missing": [*form.missing, *(word for word in found.missing if word not in form.missing)],
        "encoding": form.encoding,
    }
    if file is not None:
        layout = file.layout
        line = layout.n_lines
        lines = f"{line - 1}-{line}" if layout.n_names == 2 else str(line)
        settings["delimiter"] = settings["delimiter"] or (
            layout.delimiter if file.encoding else None
        )
        settings["decimal"] = settings["decimal"] or found.decimal
        settings["header"] = settings["header"] or (lines if lines != "1" else None)
        settings["encoding"] = settings["encoding"] or file.encoding
    else:
        settings["decimal"] = settings["decimal"] or found.decimal
    return {name: value for name, value in settings.items() if value not in (None, [], {})}


# ---- ARFF and svmlight files, whose attributes are declared ---------------------------------


def _read_arff(path: FilePath, hierarchy: Hierarchy | None, manner: Manner) -> Table:
    target, separator = manner.columns.target, manner.labels.separator
    named: Any = target
    if target is not None and len(target) == 1:
        named = target[0]
    table = read_arff(
        path,
        target=named,
        hierarchy=hierarchy,
        separator=separator or "/",
        index_base=manner.index_base,
        duplicate_names=manner.duplicate_names,
        encoding=manner.form.encoding or "utf-8",
        as_frame=None if manner.as_frame else manner.as_frame,
        limits=manner.limits,
    )
    settings = {"target": named, "separator": separator, "encoding": manner.form.encoding}
    settings["index_base"] = manner.index_base or None
    given = {name: value for name, value in settings.items() if value not in (None, ())}
    return replace(table, settings=given)
