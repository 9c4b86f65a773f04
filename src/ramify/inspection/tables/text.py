"""Write the summary of a table as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ramify._messages import counted
from ramify.inspection.tables.facts import ColumnFacts, LabelFacts, LabelLine, TableFacts

__all__ = ["findings", "label_facts", "summarised", "write_summary"]

_MOST_COLUMNS = 40
_MOST_LINES = 25
_WIDEST = 28
_STEPS = "▁▂▃▄▅▆▇█"
_PLAIN = str


def write_summary(summary: TableFacts, wording: Callable[[str], str] = _PLAIN) -> str:
    """Return a summary as text."""
    parts = [f"{summary.name or 'data'}: {summarised(summary)}"]
    for title, lines in (
        ("Cannot be read for certain", summary.problems),
        ("Found when reading", summary.notes),
        ("Check before training", findings(summary)),
    ):
        if lines:
            parts.append("\n".join([title, *(f"  - {wording(line)}" for line in lines)]))
    parts.append("\n".join(["Columns", *_column_lines(summary.columns)]))
    if summary.labels is not None:
        parts.append("\n".join(["Labels", *_label_lines(summary.labels)]))
    if summary.proposals:
        listed = [f"  {', '.join(one.columns)}: {one.reason}" for one in summary.proposals]
        parts.append("\n".join(["No label column was named. These may be the labels", *listed]))
    if summary.command:
        parts.append(f"Train with this reading\n  {summary.command}")
    return "\n\n".join(parts) + "\n"


def summarised(summary: TableFacts) -> str:
    """Return the size of a table in a line."""
    roles = [column.role for column in summary.columns]
    counts = [counted(summary.n_rows, "row"), counted(roles.count("feature"), "feature")]
    left_out = roles.count("left out")
    counts += [f"{counted(left_out, 'column')} left out"] if left_out else []
    if summary.labels is not None:
        counts.append(label_facts(summary.labels))
    return ", ".join(counts)


def label_facts(labels: LabelFacts) -> str:
    """Return the size of a hierarchy in words."""
    if labels.kind == "flat":
        return counted(labels.n_labels, "flat label")
    return (
        f"{counted(labels.n_labels, 'label')} in a {labels.kind} of "
        f"{counted(len(labels.levels), 'level')}"
    )


def findings(summary: TableFacts) -> list[str]:
    """Return what a user should check before training, in sentences."""
    found = list(summary.leaks)
    labels = summary.labels
    if summary.n_repeated:
        told = (
            f"{counted(summary.n_repeated, 'row')} of {summary.n_rows:,} have the same features "
        )
        told += "as another row"
        if summary.n_contradicting:
            told += f"; the labels of {summary.n_contradicting:,} of them differ"
            if 2 * summary.n_contradicting > summary.n_rows:
                told += " (if each row has one label of several, join the rows of each object)"
        found.append(f"{told}. Pass groups= to keep rows that belong together in one fold")
    constant = [column.name for column in summary.columns if column.kind == "constant"]
    if constant:
        listed = ", ".join(map(repr, constant[:5]))
        found.append(f"{counted(len(constant), 'column')} with one value only: {listed}")
    if labels is None:
        return found
    if labels.n_unlabelled:
        found.append(
            f"{counted(labels.n_unlabelled, 'row')} without labels: they count as rows that have "
            "none of the labels; remove them if theirs are unknown"
        )
    if labels.n_rare:
        listed = ", ".join(f"{name} ({count})" for name, count in labels.rare[:5])
        are = "is" if labels.n_rare == 1 else "are"
        found.append(
            f"{counted(labels.n_rare, 'label')} of {labels.n_leaves:,} at the ends of the tree "
            f"{are} in fewer than 5 rows, too few to be learnt or tested: {listed}"
        )
    if labels.only_children:
        listed = ", ".join(map(repr, labels.only_children[:5]))
        number = counted(len(labels.only_children), "label")
        say = "says" if len(labels.only_children) == 1 else "say"
        found.append(f"{number} without a sibling {say} no more than the label above: {listed}")
    groups = [", ".join(map(repr, group)) for group in labels.similar[:3]]
    return [*found, *(f"labels that differ only in writing: {group}" for group in groups)]


def _column_lines(columns: Sequence[ColumnFacts]) -> list[str]:
    rows = [["column", "kind", "role", "missing", "distinct", "values"]]
    for column in columns[:_MOST_COLUMNS]:
        missing = f"{column.n_missing:,}" if column.n_missing else ""
        distinct = f"{column.n_distinct:,}" if column.n_distinct else ""
        name = _clipped(column.name, _WIDEST)
        rows.append([name, column.kind, column.role, missing, distinct, _values(column)])
    widths = [max(len(row[j]) for row in rows) for j in range(5)]
    lines = []
    for k, row in enumerate(rows):
        cells = [
            row[j].rjust(widths[j]) if j in (3, 4) else row[j].ljust(widths[j]) for j in range(5)
        ]
        lines.append(f"  {'  '.join(cells)}  {row[5]}".rstrip())
        if k and columns[k - 1].reason:
            lines.append(f"    {columns[k - 1].reason}")
    hidden = len(columns) - _MOST_COLUMNS
    return [*lines, f"  … and {hidden:,} more columns"] if hidden > 0 else lines


def _values(column: ColumnFacts) -> str:
    if column.bins:
        most = max(column.bins)
        bars = "".join(_STEPS[round(7 * count / most)] if count else " " for count in column.bins)
        return f"{column.low} {bars} {column.high}, median {column.middle}"
    is_list = column.role in ("id", "group", "weight") or column.kind == "text"
    if is_list or all(count == 1 for _, count in column.values):
        return ", ".join(_clipped(value, 30) for value, _ in column.values[:3])
    return ", ".join(f"{_clipped(value, 20)} {count:,}" for value, count in column.values[:4])


def _clipped(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _label_lines(labels: LabelFacts) -> list[str]:
    levels = ", ".join(f"{n:,} on level {k}" for k, n in enumerate(labels.levels, 1))
    lines = [
        f"  {label_facts(labels)}"
        + (f" ({levels})" if len(labels.levels) > 1 else "")
        + f"; {labels.per_row:g} per row"
        + (" including ancestors" if len(labels.levels) > 1 else "")
    ]
    shown = _shown_lines(labels)
    width = max((2 * line.depth + len(_clipped(line.name, 50)) for line in shown), default=0)
    for line in shown:
        name = f"{'  ' * line.depth}{_clipped(line.name, 50)}"
        ends = f", {line.ends:,} end here" if 0 < line.ends < line.rows else ""
        lines.append(f"    {name:<{width}}  {line.rows:,}{ends}")
    hidden = labels.n_labels - len(shown)
    return (
        [*lines, f"    … and {counted(hidden, 'more label', 'more labels')}"] if hidden else lines
    )


def _shown_lines(labels: LabelFacts) -> list[LabelLine]:
    """Return the lines of the upper levels that fit."""
    for depth in range(len(labels.levels), 0, -1):
        shown = [line for line in labels.lines if line.depth < depth]
        if len(shown) <= _MOST_LINES:
            return shown
    return [line for line in labels.lines if line.depth == 0][:_MOST_LINES]
