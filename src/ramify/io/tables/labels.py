"""Read label columns of tables: label sets, indicators, or the levels of a path."""

from __future__ import annotations

import ast
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ramify._messages import counted, shorten
from ramify._validation import UnknownLabelsError, check_choice, is_missing
from ramify.io.errors import FormatError, UnknownLabelError
from ramify.io.limits import ReadLimits
from ramify.io.tables.numbers import is_marker
from ramify.labels.encoding import read_labels
from ramify.labels.hierarchy import Hierarchy
from ramify.labels.readers import has_gap, hierarchy_of_columns, sets_meant, without_gap
from ramify.labels.texts import (
    are_joined,
    find_chain_separator,
    find_separator,
    free_separator,
    normalize_path,
    similar_labels_note,
    without_empty_ranks,
)

_DASHES = ("-", "–", "—")  # an empty level
_NO = frozenset(("", "0", "0.0", "false", "no", "n", "nein", "non", "absent", *_DASHES))
_YES = frozenset(("1", "1.0", "true", "yes", "y", "ja", "oui", "present", "x", "+", "✓", "✔"))
_UNDETERMINED = frozenset(
    (
        *("sp", "spp", "spec", "indet", "undet", "unidentified", "undetermined", "unclassified"),
        *("unassigned", "unspecified", "unbestimmt", "indéterminé", "not determined", "tbd"),
    )
)
_COUNT = re.compile(r"\d+(?:[.,]\d+)?")
_FEW = 20  # rows among which a label per run of rows may be chance


@dataclass(frozen=True)
class LabelForm:
    """How labels are written in tables."""

    separator: str | None = None  # of the names of a path; None: found from the labels
    label_separator: str | None = ";"  # of the labels of a row; None: found from the labels
    gaps: str = "skip"  # an empty level above others: "refuse", "skip" or "end"


def read_label_columns(
    path: str,
    columns: Any,
    is_one: bool,
    hierarchy: Hierarchy | None,
    form: LabelForm,
    *,
    limits: ReadLimits,
) -> tuple[sparse.csr_array[np.int32], Hierarchy, list[str], LabelForm]:
    """Return the label matrix of some columns of a table, its hierarchy, notes and the form."""
    check_choice("gaps", form.gaps, ("refuse", "skip", "end"))
    lists = [str(name) for name in columns.columns if _has_lists(columns[name])]
    if lists and len(columns.columns) > 1:
        raise FormatError(
            f"{path}, column {lists[0]!r}: lists of labels must be the only label column, got "
            f"{[str(name) for name in columns.columns]}."
        )
    if lists:
        return *_read_lists(path, columns[lists[0]], hierarchy, form.separator, limits), form
    words = [[_word(cell) for cell in columns[name].tolist()] for name in columns.columns]
    written = _written_lists(words[0]) if is_one else None
    if written is not None:
        listed = columns[columns.columns[0]].copy().astype(object)
        listed[:] = written
        found = _read_lists(path, listed, hierarchy, form.separator, limits)
        example = next(cell for cell in words[0] if cell)
        told = f"each cell of the label column is read as a list of labels, such as {example[:60]}"
        return found[0], found[1], [*found[2], told], form
    notes: list[str] = []
    words = _filled_down(words, form.gaps, notes)
    separator = form.separator if hierarchy is None else hierarchy.separator
    names = [str(name) for name in columns.columns]
    if is_one:
        sets, form, separator = _read_cells(words[0], form, separator, hierarchy, notes)
        notes += _missing_notes(words[0], str(columns.columns[0]))
    elif (marks := _marks(words, names, hierarchy, notes)) is not None:
        hierarchy = hierarchy or _hierarchy_of_names(names, separator)
        sets = [[names[j] for j in np.flatnonzero(row)] for row in marks]
    else:
        for cells, name in zip(words, names, strict=True):
            notes += _undetermined_notes(cells, name)
        separator = separator or free_separator({cell for column in words for cell in column})
        _check_names(path, columns.columns, words, separator)
        paths = _paths(path, words, form.gaps, notes)
        sets = [[separator.join(names)] if names else [] for names in paths]
    try:
        if hierarchy is None:
            _check_any(path, names, sets)
            hierarchy = _hierarchy_of(path, sets, separator or "/", limits)
            notes += filter(None, [similar_labels_note(hierarchy.labels, separator)])
        return hierarchy.encode(sets_meant(sets, hierarchy)), hierarchy, notes, form
    except FormatError:
        raise
    except ValueError as error:
        listed = [str(name) for name in columns.columns]
        known = hierarchy is not None and all(
            label in hierarchy or label in hierarchy.aliases for row in sets for label in row
        )
        kind = FormatError if known or hierarchy is None else UnknownLabelError
        raise kind(f"{path}: cannot read the labels of column {listed}: {error}") from None


def _read_cells(
    cells: Sequence[str],
    form: LabelForm,
    separator: str | None,
    hierarchy: Hierarchy | None,
    notes: list[str],
) -> tuple[list[list[str]], LabelForm, str]:
    """Return the label sets of one column, and the marks by which they were read."""
    joined = form.label_separator
    if joined is None:
        cells = _on_one_line(cells, hierarchy, notes)
    if separator is None and joined is None:
        distinct = map(str.strip, dict.fromkeys(cells))
        separator = find_chain_separator(filter(None, distinct))
        notes += [] if separator is None else [_told_separator(separator)]
    if separator is None or separator.strip() != (joined or ";"):
        joined = joined or _found_label_separator(cells, hierarchy, notes)
    parts = {cell: _split(cell, joined) for cell in dict.fromkeys(cells)}
    sets = [parts[cell] for cell in cells]
    if separator is None:
        separator = _found_separator({label for row in sets for label in row}, notes)
    if any("__" in cell for cell in cells):
        sets = [[without_empty_ranks(label, separator) for label in row] for row in sets]
    return sets, replace(form, label_separator=joined), separator


def _on_one_line(
    cells: Sequence[str], hierarchy: Hierarchy | None, notes: list[str]
) -> Sequence[str]:
    """Put ";" between the lines of a cell if they are labels of other cells, too."""
    texts = list(dict.fromkeys(map(str.strip, dict.fromkeys(cells))))
    several = [text for text in texts if "\n" in text]
    names = {line.strip() for text in several for line in text.split("\n")}
    is_known = hierarchy is not None and all(name in hierarchy for name in names)
    if not several or not (is_known or (hierarchy is None and are_joined(texts, "\n"))):
        return cells
    notes.append(
        f"each line of a label cell is a label, as in {several[0][:60]!r} (label_separator=';' "
        "reads each cell as one label)"
    )
    return [";".join(cell.strip().split("\n")) for cell in cells]


def _check_any(path: str, names: Sequence[str], sets: Sequence[Sequence[str]]) -> None:
    if not any(sets):
        raise FormatError(
            f"{path} has no labels: all cells of {shorten(names)} are empty. Pass another column "
            "with target=."
        )


def _filled_down(words: list[list[str]], gaps: str, notes: list[str]) -> list[list[str]]:
    """Repeat the labels of the row above where a table has each of them in its first row only.

    So do reports that group rows. Any table may have rows without labels, so that this is done
    only if most rows are empty, no label is written twice, and the first row has its labels.
    """
    rows = [[cell.strip() for cell in levels] for levels in zip(*words, strict=True)]
    filled = [row for row in rows if any(row)]
    if gaps == "refuse" or len(rows) <= _FEW or 2 * len(filled) > len(rows) or not all(rows[0]):
        return words
    found, above = [], rows[0]
    for row in rows:
        start = next((k for k, cell in enumerate(row) if cell), len(row))
        above = above[:start] + row[start:]
        found.append(above)
    starts = [path for row, path in zip(rows, found, strict=True) if any(row)]
    if len(starts) < 2 or len(set(map(tuple, starts))) < len(starts):
        return words
    notes.append(
        f"{len(rows) - len(filled):,} rows without labels got those of the row above, since no "
        f"label is written twice, such as {'/'.join(starts[1])!r} (gaps='refuse': left empty)"
    )
    return [list(cells) for cells in zip(*found, strict=True)]


def _marks(
    words: Sequence[Sequence[str]],
    names: Sequence[str],
    hierarchy: Hierarchy | None,
    notes: list[str],
) -> NDArray[np.bool_] | None:
    """Return which rows have which labels if each column is a label; None if they are levels.

    Columns are labels if their cells are 0 and 1, yes and no, a single mark such as x, or counts.
    """
    folded = [[cell.strip().casefold() for cell in column] for column in words]
    cells = Counter(cell for column in folded for cell in column)
    known = {cell for cell in cells if cell not in ("", *_DASHES)}
    is_plain = known <= _YES | _NO and (not known <= _YES or cells.keys() <= _YES)
    is_known = hierarchy is not None and all(name in hierarchy for name in names)
    is_open = hierarchy is None or is_known  # few rows of levels may have a single name, too
    is_mark = is_open and len(known) == 1 and not known <= _NO
    are_counts = is_open and not (is_plain or is_mark) and _are_counts(folded, cells)
    if not (is_plain or is_mark or are_counts or is_known):
        return None
    if n_empty := cells[""] * (not is_mark):
        notes.append(f"{counted(n_empty, 'empty cell')} of the label columns: read as 0")
    if are_counts:
        notes.append("numbers above 0 in the label columns are read as 1")
    elif is_mark and not known <= {"1", "1.0", "true"}:
        mark = next(cell for column in words for cell in column if cell.strip())
        notes.append(f"each label column has the rows that are marked with {mark.strip()!r}")
    marks: NDArray[np.bool_] = np.array(
        [[cell not in _NO for cell in row] for row in zip(*folded, strict=True)]
    )
    return marks


def _are_counts(columns: Sequence[Sequence[str]], cells: Mapping[str, int]) -> bool:
    """Return whether cells are numbers of which at least half are 0, in every column some.

    Codes of levels are numbers, too, but are not mostly 0.
    """
    zeros = cells.get("0", 0) + cells.get("0.0", 0) + cells.get("", 0)
    return (
        2 * zeros >= sum(cells.values())
        and all(cell in _NO or _COUNT.fullmatch(cell) for cell in cells)
        and all("0" in column or "0.0" in column for column in columns)
    )


def _hierarchy_of_names(names: Sequence[str], separator: str | None) -> Hierarchy:
    """Return the hierarchy of labels that have a column each."""
    return Hierarchy.from_paths(names, separator) if separator else hierarchy_of_columns(names)


def _hierarchy_of(
    path: str, sets: Iterable[Iterable[str]], separator: str, limits: ReadLimits
) -> Hierarchy:
    """Return the hierarchy of labels that are paths, within the limits."""
    labels = dict.fromkeys(chain.from_iterable(sets))
    used = dict.fromkeys(normalize_path(label, separator) for label in labels)
    segments = (tuple(label.split(separator)) for label in used)
    return Hierarchy.from_paths(limits.checked_paths(segments, separator, path), separator)


def _found_separator(labels: set[str], notes: list[str]) -> str:
    """Return the separator of paths, and say which it is; one that occurs nowhere if none are."""
    found = find_separator(sorted(labels))
    if found is None:
        return free_separator(labels)
    if found != "/":
        notes.append(_told_separator(found))
    return found


def _told_separator(separator: str) -> str:
    return f"the labels are paths, whose names are separated by {separator!r}"


def _found_label_separator(
    cells: Sequence[str], hierarchy: Hierarchy | None, notes: list[str]
) -> str:
    """Return what joins the labels of a row: ";", or another mark if its parts occur elsewhere.

    If there are as many parts as cells, a comma is as likely within names, and a note says so.
    """
    texts = list(dict.fromkeys(cell for cell in cells if cell))
    if any(";" in text for text in texts):
        return ";"
    for mark in (",", "|"):
        parts = [[part.strip() for part in text.split(mark)] for text in texts]
        names = {part for row in parts for part in row}
        if hierarchy is not None and not all(name in hierarchy for name in names):
            continue
        joined = [text for text in texts if mark in text]
        # Names with a comma, such as Smith, John, have parts that stand in one place only.
        if not joined or not all(map(all, parts)) or not are_joined(texts, mark):
            continue
        if len(names) < len(texts):
            notes.append(
                f"the labels of a row are joined by {mark!r}, as in {joined[0][:60]!r} "
                f"(label_separator={mark!r}; label_separator=';' reads each cell as one label)"
            )
            return mark
        notes.append(
            f"{joined[0][:60]!r} was read as one label; if it is several, pass "
            f"label_separator={mark!r}"
        )
    return ";"


def _missing_notes(cells: Sequence[str], name: str) -> list[str]:
    """Return a note on labels that are probably marks of missing labels."""
    counts = _count_stripped(cells)
    found = [text for text in counts if is_marker(text)]
    return [
        f"column {name!r}: {text!r} is read as a label of {counts[text]:,} rows; if these rows "
        f"have no label, pass missing=[{text!r}]"
        for text in found[:3]
    ]


def _count_stripped(cells: Sequence[str]) -> Counter[str]:
    """Count the cells of a column without the blanks around them."""
    counts: Counter[str] = Counter()
    for cell, n in Counter(cells).items():
        counts[cell.strip()] += n
    return counts


def _undetermined_notes(cells: Sequence[str], name: str) -> list[str]:
    """Return a note on names of a level that say that it is not known."""
    counts = _count_stripped(cells)
    found = [
        text
        for text in counts
        if text not in _DASHES
        and (text.casefold().rstrip(".") in _UNDETERMINED or is_marker(text))
    ]
    if not found:
        return []
    n_rows = sum(counts[text] for text in found)
    return [
        f"column {name!r}: {shorten(found)} in {counted(n_rows, 'row')} is read as a label like "
        f"others; if the level is not known there, pass missing={found[:4]}, which ends the path "
        "above it"
    ]


def _has_lists(column: Any) -> bool:
    return column.dtype == object and any(isinstance(cell, list) for cell in column)


def _written_lists(cells: Sequence[str]) -> list[list[Any]] | None:
    """Return the lists that all cells spell out, as Python or JSON prints them; None if not."""
    known = [cell.strip() for cell in cells if cell.strip()]
    if not known or not all(cell[0] == "[" and cell[-1] == "]" for cell in known):
        return None
    found: dict[str, list[Any]] = {"": []}
    for cell in set(known):
        try:
            found[cell] = ast.literal_eval(cell)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return None
        names = [name for one in found[cell] for name in (one if isinstance(one, list) else [one])]
        if not all(isinstance(name, str | int | float) for name in names):
            return None
    return [found[cell.strip()] for cell in cells]


def _read_lists(
    path: str, column: Any, hierarchy: Hierarchy | None, separator: str | None, limits: ReadLimits
) -> tuple[sparse.csr_array[np.int32], Hierarchy, list[str]]:
    """Read label sets or sets of paths as `fit` does; a missing list is an empty one."""
    rows: list[Any] = [[] if is_missing(cell) else cell for cell in column]
    if not _are_indicators(rows, hierarchy):
        rows = [_with_words(row) for row in rows]
    try:
        if hierarchy is None:
            hierarchy = _hierarchy_of_lists(path, rows, separator, limits)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = read_labels(rows, hierarchy)
    except FormatError:
        raise
    except (TypeError, ValueError) as error:
        kind = UnknownLabelError if isinstance(error, UnknownLabelsError) else FormatError
        raise kind(f"{path}: cannot read the labels of column {column.name!r}: {error}") from None
    limits.check("max_labels", found.hierarchy.n_labels, "the number of labels", path)
    note = (
        f"the lists of column {column.name!r} look like paths, one name per level, but were read "
        "as label sets; if they are paths, write each as a list in the list of its row, or as one "
        f"text such as {(separator or '/').join(['animal', 'cat'])!r}"
    )
    return found.Y, found.hierarchy, [note] * bool(caught)


def _are_indicators(rows: list[list[Any]], hierarchy: Hierarchy | None) -> bool:
    """Return whether rows are those of a label matrix of 0 and 1, not labels of these names."""
    cells = [cell for row in rows for cell in row]
    return (
        len(set(map(len, rows))) == 1
        and len(rows[0]) > 1
        and all(isinstance(cell, bool | int | float) and cell in (0, 1) for cell in cells)
        and not (hierarchy and all(label in hierarchy for label in set(map(str, cells))))
    )


def _with_words(values: list[Any]) -> list[Any]:
    """Return labels as text, as in a CSV file; missing ones stay, since they end a path."""
    return [
        _with_words(one) if isinstance(one, list) else None if is_missing(one) else str(one)
        for one in values
    ]


def _hierarchy_of_lists(
    path: str, rows: list[list[Any]], separator: str | None, limits: ReadLimits
) -> Hierarchy | None:
    """Return the hierarchy of labels that are paths, within the limits; None for other lists."""
    items = [item for row in rows for item in row if item]
    if any(isinstance(item, list) for item in items):
        paths = dict.fromkeys(tuple(filter(None, item)) for item in items)
        for _ in limits.checked_paths(paths, "\x1f", path):
            pass
        return None
    used = dict.fromkeys(item for item in items if isinstance(item, str))
    separator = separator or find_separator(used)
    if separator is None or not any(separator in label for label in used):
        return None
    return _hierarchy_of(path, [used], separator, limits)


def _word(cell: Any) -> str:
    return "" if is_missing(cell) else str(cell)


def _check_names(
    path: str, columns: Iterable[Any], words: Sequence[Sequence[str]], separator: str
) -> None:
    for name, cells in zip(columns, words, strict=True):
        found = next((cell for cell in cells if separator in cell), None)
        if found is not None:
            raise FormatError(
                f"{path}, column {str(name)!r}: the name {found!r} of a level contains the "
                f"separator of paths, {separator!r}. Pass a separator that occurs in no name, for "
                "example '|'."
            )


def _split(cell: str, label_separator: str | None) -> list[str]:
    """Return the labels of a row; None: the cell is one label."""
    parts = [cell] if label_separator is None else cell.split(label_separator)
    return [label for part in parts if (label := part.strip())]


def _paths(
    path: str, words: Sequence[Sequence[str]], gaps: str, notes: list[str]
) -> list[list[str]]:
    """Return the names of each row from the top, and say what was done with gaps."""
    rows = [
        ["" if name in _DASHES else name for name in map(str.strip, levels)]
        for levels in zip(*words, strict=True)
    ]
    with_gaps = [i for i, names in enumerate(rows) if has_gap(names)]
    if with_gaps:
        told = f"{len(with_gaps)} row(s) have an empty level above others, such as "
        told += f"{rows[with_gaps[0]]} in data row {with_gaps[0] + 1}"
        if gaps == "refuse":
            raise FormatError(
                f"{path}: {told}. Fill the levels, or pass gaps='skip' to leave "
                "them out of the path, or gaps='end' to end the path above them."
            )
        done = "it is left out of the path" if gaps == "skip" else "the path ends above it"
        notes.append(f"{told}: {done} (gaps='refuse', 'skip' or 'end')")
    return [without_gap(names, gaps) for names in rows]
