"""The facts about a table that are shown and stored: columns, labels, rows."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["ColumnFacts", "LabelFacts", "LabelLine", "Proposal", "TableFacts"]


@dataclass(frozen=True)
class ColumnFacts:
    """What a column has and what it is taken for."""

    name: str
    kind: str  # "number", "category", "text", "date", "time", "vector", "constant", "empty"
    role: str  # "feature", "label", "id", "group", "weight" or "left out"
    reason: str  # why it is taken for this
    n_missing: int
    n_distinct: int
    # The most frequent values of categories, or the first texts, and how often they occur.
    values: list[tuple[str, int]] = field(default_factory=list)
    # Of numbers and dates: the least, the median and the largest as text, and counts between.
    low: str = ""
    middle: str = ""
    high: str = ""
    bins: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class LabelLine:
    """A label, the number of its rows, and of those that have none below it."""

    name: str  # without the names above it
    depth: int  # from 0
    rows: int
    ends: int


@dataclass(frozen=True)
class LabelFacts:
    """The labels of a table."""

    kind: str  # "tree", "DAG" or "flat"
    n_labels: int
    n_leaves: int
    levels: list[int]  # number of labels per level
    per_row: float  # including ancestors
    n_unlabelled: int
    lines: list[
        LabelLine
    ]  # of the outline, from the top; of a large one, the most frequent labels
    n_rare: int  # leaves with few rows
    rare: list[tuple[str, int]]
    only_children: list[str]  # labels that all rows of their parent have, which has no other
    similar: list[list[str]]  # groups of labels that differ only in writing


@dataclass(frozen=True)
class Proposal:
    """Columns that may be the labels, and why."""

    columns: list[str]
    reason: str


@dataclass(frozen=True)
class TableFacts:
    """What a table has, as it is read for training."""

    name: str
    n_rows: int
    columns: list[ColumnFacts]
    labels: LabelFacts | None = None
    proposals: list[Proposal] = field(default_factory=list)
    leaks: list[str] = field(default_factory=list)
    n_repeated: int = 0
    n_contradicting: int = 0
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    command: str = ""
    python: str = ""
