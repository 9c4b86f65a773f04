"""Look at a table as the applications read it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ramify.apps.reading.any_file import read_data
from ramify.apps.reading.settings import DataOptions
from ramify.inspection.tables.look import summarise_table
from ramify.inspection.tables.summary import TableSummary
from ramify.io.formats import format_of
from ramify.io.tables.table import Table

__all__ = ["look_at", "summary_of"]


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
