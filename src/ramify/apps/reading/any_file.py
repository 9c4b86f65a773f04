"""Read and summarise data, and read hierarchies, from files of any supported format."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ramify._messages import did_you_mean, shorten
from ramify.apps.reading.settings import DataOptions
from ramify.data.columns import TEXT
from ramify.inspection.tables.look import summarise_table
from ramify.inspection.tables.summary import TableSummary
from ramify.io import read_mulan, read_obo
from ramify.io.errors import check_exists, names_file
from ramify.io.files import read_utf8
from ramify.io.formats import HIERARCHIES, format_of, usual_delimiter
from ramify.io.limits import ReadLimits
from ramify.io.tables.parquet_files import nested_columns
from ramify.io.tables.reading import Manner, read
from ramify.io.tables.roles import left_out_columns, selected, with_roles
from ramify.io.tables.table import Table
from ramify.io.vectors import with_embeddings, with_vectors
from ramify.labels.encoding import PartialLabels
from ramify.labels.hierarchy import Hierarchy
from ramify.labels.texts import look_like_paths

__all__ = [
    "check_has_ids",
    "look_at",
    "read_data",
    "read_hierarchy",
    "split_identifiers",
    "summary_of",
]


def read_data(
    path: Path,
    hierarchy: Path | Hierarchy | None = None,
    options: DataOptions | None = None,
    *,
    labelled: bool = True,
    kinds: Mapping[str, str] | None = None,
    vectors: Sequence[str] = (),
    strict: bool = True,
) -> Table:
    """Read a table with all its columns.

    `labelled`: whether the file must have labels.
    `strict`: whether columns that cannot be read for certain are an error, as for training.
    `kinds`: what the features of a model are, if the table is read for one.
    `vectors`: the features of a model that are vectors.
    """
    options = options or DataOptions()
    check_exists(path)
    if kinds is not None:  # other columns may be anything
        nested = (name for name in nested_columns(path) if name not in vectors)
        options = replace(options, ignore=(*options.ignore, *nested))
    columns = options.columns(labelled=labelled, kinds=kinds or {}, trained=bool(kinds))
    manner = Manner(
        columns,
        options.form,
        options.labels(),
        options.limits or ReadLimits(),
        # Rows to predict are all kept, whatever they have.
        empty_rows="drop" if labelled or not strict else "keep",
        index_base=options.index_base,
        strict=strict,
    )
    table = _read_labelled(path, hierarchy, options, manner)
    if options.ends != "known":
        table = _with_ends(table, options.ends)
    if options.embed is not None:
        texts = [name for name, kind in (kinds or {}).items() if kind == TEXT]
        table = with_embeddings(table, options.embed, None if kinds is None else texts)
    if options.vectors is not None:
        table = with_vectors(table, options.vectors, manner.limits, options.id_column)
    return table


def _read_labelled(
    path: Path, hierarchy: Path | Hierarchy | None, options: DataOptions, manner: Manner
) -> Table:
    """Read a table with the labels of a hierarchy, which may be a file, or with its own."""
    is_arff = format_of(path) == "arff"
    if isinstance(hierarchy, Path):
        if format_of(hierarchy, HIERARCHIES) == "mulan" and is_arff:
            encoding = options.form.encoding or "utf-8"
            table = read_mulan(
                path, hierarchy, duplicate_names="rename", encoding=encoding, limits=manner.limits
            )
            return with_roles(table, manner.columns)
        return read(path, read_hierarchy(hierarchy, options.limits), manner)
    table = read(path, hierarchy, manner)
    if hierarchy is not None:
        return table
    notes = _separator_notes(table, options, is_arff and options.target is None)
    return replace(table, notes=(*table.notes, *notes))


def _with_ends(table: Table, ends: str) -> Table:
    """Return a table with the labels that are not known below the ends of paths."""
    if table.y is None:
        return table
    unknown = PartialLabels(table.y, table.hierarchy, ends=ends).unknown
    n_rows = 0 if unknown is None else int((unknown.n_unknown > 0).sum())
    note = f"some labels of {n_rows} of {table.y.shape[0]} rows are not known: {ends}"
    return replace(table, unknown=unknown, notes=(*table.notes, note))


def _separator_notes(table: Table, options: DataOptions, is_hierarchical: bool) -> list[str]:
    """Return a note on flat labels that look like paths with another separator.

    Numbers are not paths unless the file declares the labels as hierarchical.
    """
    hierarchy = table.hierarchy
    if hierarchy is None or hierarchy.depth != 1:
        return []
    labels = [str(label) for label in hierarchy.labels]
    for mark in (mark for mark in _OTHER_MARKS if mark != options.separator):
        paths = [label for label in labels if mark in label]
        are_numbers = all(map(_is_number, paths))
        if look_like_paths(labels, mark) and (is_hierarchical or not are_numbers):
            return [
                f"labels such as {paths[0]!r} were read as flat labels; if they are paths, pass "
                f"separator={mark!r}"
            ]
    return []


_OTHER_MARKS = (".", "/", " - ", " – ", ": ")  # as common within names as between them
_CODE = re.compile(r"0\d")  # 01.11 is a code


def _is_number(text: str) -> bool:
    if _CODE.match(text):
        return False
    try:
        float(text)
    except ValueError:
        return False
    return True


def check_has_ids(table: Table, name: str | None) -> None:
    """Raise an error if a table lacks the column of identifiers that the user named."""
    if name is not None and table.ids is None:
        raise ValueError(
            f"id_column must be a column of {table.name}, got {name!r}."
            f"{did_you_mean(name, table.feature_names)}"
        )


def split_identifiers(table: Table, keep: Sequence[str] = ()) -> tuple[Table, dict[str, str]]:
    """Leave out the columns that do not describe the rows; return them with the reasons."""
    reasons = left_out_columns(table, keep)
    return selected(table, set(reasons)), reasons


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


# ---- summaries ------------------------------------------------------------------------------


def look_at(
    path: Path, hierarchy: Path | None, options: DataOptions, keep: Sequence[str] = ()
) -> TableSummary:
    """Read a table as ``ramify train`` does and summarise it; labels may be missing."""
    is_labelled = options.target is not None or format_of(path) in ("arff", "svmlight")
    table = read_data(path, hierarchy, options, labelled=is_labelled, strict=False)
    return summary_of(path, table, keep, hierarchy)


def summary_of(
    path: Path, table: Table, keep: Sequence[str] = (), hierarchy: Path | None = None
) -> TableSummary:
    """Summarise a table with all its columns, which was read with the file of a hierarchy."""
    file = None if hierarchy is None else str(hierarchy)
    summary = summarise_table(
        table, where=str(path), problems=table.problems, keep=keep, hierarchy=file
    )
    return replace(summary, name=path.name)
