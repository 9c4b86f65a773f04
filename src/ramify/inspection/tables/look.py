"""Look at a table before a model is trained on it."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from ramify._messages import import_extra
from ramify.data.rows import indicator
from ramify.data.vectors import without_vectors
from ramify.inspection.tables.columns import describe_column, find_leaks, propose_labels
from ramify.inspection.tables.facts import ColumnFacts, LabelFacts, LabelLine
from ramify.inspection.tables.summary import TableSummary
from ramify.io.formats import TextForm
from ramify.io.limits import ReadLimits
from ramify.io.tables.labels import LabelForm
from ramify.io.tables.reading import Manner, format_of_data, read
from ramify.io.tables.roles import LABELS, Columns, reasons_to_drop
from ramify.io.tables.table import Table
from ramify.labels.hierarchy import Hierarchy
from ramify.labels.texts import similar_labels

__all__ = [
    "count_repeated",
    "describe_labels",
    "look",
    "summarise_table",
]


_SPARSE = "a sparse matrix"
# The options of the command line whose names are not those of the arguments.
_OPTIONS = {"sample_weight": "weight", "id_column": "id", "kinds": "kind"}


def look(
    data: Any,
    *,
    target: str | Sequence[str] | None = None,
    hierarchy: Hierarchy | None = None,
    separator: str | None = None,
    label_separator: str | None = None,
    gaps: str = "skip",
    sample_weight: str | None = None,
    groups: str | None = None,
    id_column: str | None = None,
    kinds: Mapping[str, str] | None = None,
    drop: Sequence[str] = (),
    delimiter: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    dates: str | None = None,
    header: int | str | None = None,
    sheet: str | None = None,
    footer: str = "drop",
    missing: Sequence[str] = (),
    encoding: str | None = None,
    limits: ReadLimits | None = None,
) -> TableSummary:
    """Look at a table as it would be read for training: its columns, labels and rows.

    The summary says what each column is taken for and why, how often cells are missing, what is
    rare, repeated or nearly the same, and which features name the labels. It is shown as text, in
    a notebook, and as an HTML page.

    Parameters
    ----------
    data : path, data frame or Table
        A file of any format of `read_table`, a data frame, or a table that has been read.
    target : str or sequence of str, optional
        The label columns. By default, the column "labels" or the hierarchical attribute of an
        ARFF file; without one, columns that may be the labels are proposed.
    hierarchy, separator, label_separator, gaps, sample_weight, groups, id_column, kinds, drop
        As in `read_table`.
    delimiter, decimal, thousands, dates, header, sheet, footer, missing, encoding, limits
        As in `read_table`.

    Returns
    -------
    TableSummary
        The summary. Columns that `read_table` refuses are listed in its ``problems``.

    See Also
    --------
    read_table : Read the table.

    Examples
    --------
    >>> import pandas as pd
    >>> import ramify
    >>> sizes = ["3,5 kg", "ca. 4 kg", "9 kg"]
    >>> pets = pd.DataFrame({"size": sizes, "kind": ["cat", "cat", "dog"]})
    >>> summary = ramify.look(pets, target="kind")
    >>> summary.columns[1].kind, summary.columns[1].reason
    ('number', "numbers in kg, 'ca. 4 kg' as 4 (about; 1 cell)")
    >>> summary.labels.n_labels
    2
    """
    if isinstance(data, Table):
        return summarise_table(data, problems=())
    named = (target,) if isinstance(target, str) else None if target is None else tuple(target)
    columns = Columns(
        named, sample_weight, groups, id_column, tuple(drop),
        kinds=kinds or {}, labelled=named is not None,
    )  # fmt: skip
    form = TextForm(
        delimiter, decimal, encoding, thousands, tuple(missing),
        None if header is None else str(header), dates, sheet, footer,
    )  # fmt: skip
    manner = Manner(
        columns,
        form,
        LabelForm(separator, label_separator, gaps),
        limits or ReadLimits(),
        strict=False,
    )
    table = read(data, hierarchy, manner)
    where = "data" if format_of_data(data) == "frame" else str(data)
    given = "HIERARCHY" if hierarchy is not None else None
    return summarise_table(table, where=where, problems=table.problems, hierarchy=given)


def summarise_table(
    table: Table,
    *,
    where: str = "data",
    problems: Sequence[str] = (),
    keep: Sequence[str] = (),
    hierarchy: str | None = None,
) -> TableSummary:
    """Return what a table has; columns in `keep` are features in any case."""
    if hasattr(table.X, "columns"):
        table = replace(table, X=without_vectors(table.X))
    X, Y = table.X, table.y
    reasons = reasons_to_drop(table, keep)
    columns = [*_label_columns(table), *_role_columns(table)]
    if hasattr(X, "columns"):
        columns += [
            describe_column(table, name, X[name], reasons.get(name, ""))
            for name in table.feature_names
        ]
    else:
        columns += _matrix_columns(X, table.feature_names)
    columns += [
        ColumnFacts(name, "", "left out", reason.rstrip("="), 0, 0)
        for name, reason in table.left_out.items()
        if name not in table.feature_names
    ]
    kept = [name for name in table.feature_names if name not in reasons]
    repeated, contradicting, leaks = 0, 0, []
    if hasattr(X, "columns") and kept:
        repeated, contradicting = _repeats(X[kept], Y)
        if Y is not None and table.hierarchy is not None:
            leaks = find_leaks(X, sparse.csr_array(Y), kept, table.hierarchy.labels)
    elif not hasattr(X, "columns"):
        repeated = count_repeated(X)
    labels = None
    if Y is not None and table.hierarchy is not None:
        labels = describe_labels(sparse.csr_array(Y), table.hierarchy)
    known = set(problems)
    proposals = propose_labels(table) if Y is None and hasattr(X, "columns") else []
    settings = {**table.settings, "keep": list(keep), "hierarchy": hierarchy}
    command, python = reproducing(where, settings, proposals[0].columns if proposals else [])
    return TableSummary(
        name=table.name,
        n_rows=int(X.shape[0]),
        columns=columns,
        labels=labels,
        proposals=proposals,
        leaks=leaks,
        n_repeated=repeated,
        n_contradicting=contradicting,
        notes=[note for note in table.notes if note not in known],
        problems=list(problems),
        command=command,
        python=python,
    )


def _label_columns(table: Table) -> list[ColumnFacts]:
    """Return the label columns; their labels are described elsewhere."""
    if table.y is None or table.hierarchy is None:
        return []
    target = table.settings.get("target", LABELS)
    names = [target] if isinstance(target, str) else list(target)
    missing = int((np.diff(sparse.csr_array(table.y).indptr) == 0).sum())
    one_each = len(names) > 1 and set(names) <= set(map(str, table.hierarchy.labels))
    told = (
        "the label column" if len(names) == 1 else "a label" if one_each else "a level of labels"
    )
    sizes = [len(level) for level in table.hierarchy.levels]
    if one_each:
        sizes = [2] * len(names)
    elif len(sizes) != len(names):
        sizes = [table.hierarchy.n_labels] * len(names)
    return [
        ColumnFacts(str(name), "category", "label", told, missing, size)
        for name, size in zip(names, sizes, strict=True)
    ]


def _role_columns(table: Table) -> list[ColumnFacts]:
    pandas = import_extra("pandas", "tables")
    found = []
    named = (("id", table.ids, "id_column"), ("group", table.groups, "groups"),
             ("weight", table.sample_weight, "sample_weight"))  # fmt: skip
    for role, cells, argument in named:
        if cells is not None:
            column = pandas.Series(cells)
            known = column[column.notna()]
            name = str(table.settings.get(argument, getattr(cells, "name", None) or role))
            values = [(str(value)[:80], 1) for value in known.head(3)]
            counts = int(column.isna().sum()), int(known.nunique())
            kind = "number" if role == "weight" else "category"
            found.append(ColumnFacts(name, kind, role, f"named as {role}", *counts, values))
    return found


def _matrix_columns(X: Any, names: Sequence[str]) -> list[ColumnFacts]:
    """Return one line for all columns of a matrix, which may be many."""
    matrix: Any = X
    cells = np.asarray(matrix.data if sparse.issparse(X) else matrix)
    n_missing = int(np.isnan(cells).sum())
    filled = f"{cells.size / max(1, X.shape[0] * X.shape[1]):.1%} of the cells are not 0"
    told = f"{_SPARSE}: {filled}" if sparse.issparse(X) else "an array"
    name = names[0] if len(names) == 1 else f"{names[0]} … {names[-1]}" if names else ""
    return [ColumnFacts(name, "number", "feature", told, n_missing, len(names))]


def _repeats(X: Any, Y: Any) -> tuple[int, int]:
    """Count rows with the features of another row, and those with other labels than that row."""
    pandas = import_extra("pandas", "tables")
    repeated = X.duplicated(keep=False).to_numpy()
    n_repeated = int(repeated.sum())
    if Y is None or not n_repeated:
        return n_repeated, 0
    Y = sparse.csr_array(Y)
    places = np.flatnonzero(repeated)
    groups = X.iloc[places].groupby(list(X.columns), dropna=False, observed=True, sort=False)
    number = groups.ngroup().to_numpy()
    sets = [tuple(Y.indices[Y.indptr[i] : Y.indptr[i + 1]]) for i in places]
    frame = pandas.DataFrame(
        {"group": number, "labels": pandas.factorize(np.array([*map(hash, sets)]))[0]}
    )
    differing = frame.groupby("group")["labels"].transform("nunique") > 1
    return n_repeated, int(differing.sum())


def count_repeated(X: Any) -> int:
    """Return the number of rows whose features are those of another row."""
    if hasattr(X, "duplicated"):
        return int(X.duplicated(keep=False).sum())
    rows = sparse.csr_array(X)
    rows.sort_indices()
    places = zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
    counts = Counter((rows.indices[a:b].tobytes(), rows.data[a:b].tobytes()) for a, b in places)
    return sum(count for count in counts.values() if count > 1)


def reproducing(
    where: str, settings: Mapping[str, Any], proposed: Sequence[str]
) -> tuple[str, str]:
    """Return the command line and the Python that read a table again and train a model."""
    given = {name: value for name, value in settings.items() if value not in (None, [])}
    if proposed and "target" not in given:
        given = {"target": proposed[0] if len(proposed) == 1 else list(proposed), **given}
    words = ["ramify", "train", where]
    usual = {("encoding", "utf-8"), ("delimiter", ","), ("decimal", ".")}
    for name, value in given.items():
        if (name, str(value)) in usual:
            continue
        option = f"--{_OPTIONS.get(name, name).replace('_', '-')}"
        values = value if isinstance(value, list) else [value]
        if isinstance(value, dict):
            values = [f"{column}={kind}" for column, kind in value.items()]
        words += [part for one in values for part in (option, "\\t" if one == "\t" else str(one))]
    # In Python, a hierarchy is an object instead of a file.
    written = {name: name if name == "hierarchy" else repr(value) for name, value in given.items()}
    arguments = "".join(f",\n    {name}={value}" for name, value in written.items())
    source = "data" if where == "data" else repr(where)
    python = (
        f"import ramify\n\ntable = ramify.read_table(\n    {source}{arguments},\n)\n"
        "model = ramify.PCTForestClassifier(table.hierarchy).fit(table.X, table.y)"
    )
    return shlex.join(words), python


# ---- the labels -----------------------------------------------------------------------------


_MOST_LINES = 2_000
_MOST_NAMED = 50
RARE = 5
"""A leaf with fewer rows is rare: cross-validation in five folds cannot test it in each."""


def describe_labels(Y: Any, hierarchy: Hierarchy) -> LabelFacts:
    """Return what the labels of the rows are; `Y` includes ancestors."""
    rows = np.asarray(Y.sum(axis=0)).ravel().astype(int)
    indptr, parents = hierarchy.parent_rows
    ends = _ends(Y, hierarchy)
    leaves = hierarchy.indices(hierarchy.leaves)
    rare = sorted((int(rows[j]), str(hierarchy.labels[j])) for j in leaves if rows[j] < RARE)
    children = np.bincount(parents, minlength=hierarchy.n_labels)
    single = [
        str(hierarchy.labels[j])
        for j in range(hierarchy.n_labels)
        if any(
            children[above] == 1 and rows[above] == rows[j]
            for above in parents[indptr[j] : indptr[j + 1]]
        )
    ]
    separator = hierarchy.separator if hierarchy.depth > 1 else None
    kind = "flat" if hierarchy.depth <= 1 else "tree" if hierarchy.is_tree else "DAG"
    return LabelFacts(
        kind=kind,
        n_labels=hierarchy.n_labels,
        n_leaves=len(leaves),
        levels=[len(level) for level in hierarchy.levels],
        per_row=round(float(rows.sum()) / max(1, Y.shape[0]), 2),
        n_unlabelled=int((np.diff(Y.indptr) == 0).sum()),
        lines=_lines(hierarchy, rows, ends),
        n_rare=len(rare),
        rare=[(name, count) for count, name in rare[:_MOST_NAMED]],
        only_children=single[:_MOST_NAMED],
        similar=[group[:4] for group in similar_labels(hierarchy.labels, separator)[:_MOST_NAMED]],
    )


def _ends(Y: Any, hierarchy: Hierarchy) -> Any:
    """Return the number of rows for which each label is a most specific one."""
    above = indicator(hierarchy.parent_rows, hierarchy.n_labels, int)
    covered = sparse.csr_array(Y.astype(int) @ above)
    covered.data[:] = 1
    return np.asarray(Y.sum(axis=0)).ravel() - np.asarray(covered.sum(axis=0)).ravel()


def _lines(hierarchy: Hierarchy, rows: Any, ends: Any) -> list[LabelLine]:
    """Return the outline of the labels with the most rows, each below its first parent."""
    kept = np.argsort(-rows, kind="stable")[:_MOST_LINES]
    chosen = set(kept.tolist())
    below: dict[int, list[int]] = {}
    for j in sorted(chosen, key=lambda j: (-rows[j], str(hierarchy.labels[j]))):
        above = hierarchy.parents(hierarchy.labels[j])
        place = hierarchy.index(above[0]) if above else -1
        below.setdefault(place if place in chosen else -1, []).append(j)
    lines: list[LabelLine] = []
    waiting = [(j, 0) for j in reversed(below.get(-1, []))]
    while waiting:
        j, depth = waiting.pop()
        text = str(hierarchy.labels[j])
        name = text.rsplit(hierarchy.separator, 1)[-1].strip() if depth else text
        lines.append(LabelLine(name or text, depth, int(rows[j]), int(ends[j])))
        waiting += [(child, depth + 1) for child in reversed(below.get(j, []))]
    return lines
