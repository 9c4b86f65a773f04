"""Write the summary of a table as one HTML page without scripts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files

from ramify._messages import counted
from ramify.inspection.tables.facts import ColumnFacts, LabelFacts, LabelLine, TableFacts
from ramify.inspection.tables.text import findings, label_facts, summarised

__all__ = ["embedded_page", "write_page"]

_OPEN = 40  # labels below which the outline is shown in full


def write_page(summary: TableFacts) -> str:
    """Return a self-contained page, which loads nothing and runs nothing."""
    title = summary.name or "data"
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f'<title>{escape(title)}</title>\n<link rel="icon" href="data:,">\n'
        f'<style>\n{_style()}\n</style>\n</head>\n<body class="look">\n{_content(summary)}\n'
        "</body>\n</html>\n"
    )


def embedded_page(summary: TableFacts) -> str:
    """Return the page for a notebook, which shows it in a frame of its own."""
    height = min(900, 320 + 46 * len(summary.columns))
    return (
        f'<iframe srcdoc="{escape(write_page(summary))}" sandbox title="{escape(summary.name)}" '
        f'style="width:100%;height:{height}px;border:1px solid #d3dde1;border-radius:6px">'
        "</iframe>"
    )


def _style() -> str:
    folder = files("ramify.inspection")
    shared = folder.joinpath("page/template/style.css").read_text(encoding="utf-8")
    return shared + folder.joinpath("tables/look.css").read_text(encoding="utf-8")


def _content(summary: TableFacts) -> str:
    head = f"<header><h1>{escape(summary.name or 'data')}</h1>"
    head += f'<p id="facts">{escape(summarised(summary))}</p></header>'
    sections = [
        _list("Cannot be read for certain", summary.problems, "problem"),
        _list("Check before training", findings(summary), "check"),
        _list("Found when reading", summary.notes),
        _proposals(summary),
        _columns(summary.columns, summary.n_rows),
        _labels(summary.labels, summary.n_rows) if summary.labels else "",
        _commands(summary),
    ]
    return f"{head}\n<main>\n{''.join(sections)}</main>"


def _section(title: str, content: str, kind: str = "") -> str:
    return f'<section class="{kind}"><h2>{escape(title)}</h2>{content}</section>\n'


def _list(title: str, lines: Sequence[str], kind: str = "") -> str:
    if not lines:
        return ""
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return _section(title, f"<ul>{items}</ul>", kind)


def _proposals(summary: TableFacts) -> str:
    if not summary.proposals:
        return ""
    items = "".join(
        f"<li><b>{escape(', '.join(one.columns))}</b>: {escape(one.reason)}</li>"
        for one in summary.proposals
    )
    return _section("No label column was named. These may be the labels", f"<ul>{items}</ul>")


# ---- columns --------------------------------------------------------------------------------


def _columns(columns: Sequence[ColumnFacts], n_rows: int) -> str:
    cards = "".join(_card(column, n_rows) for column in columns)
    return _section(f"Columns ({len(columns):,})", f'<div class="cards">{cards}</div>')


def _card(column: ColumnFacts, n_rows: int) -> str:
    share = column.n_missing / max(1, n_rows)
    missing = (
        f'<span class="gap" style="--share:{share:.3f}">{column.n_missing:,} missing '
        f"({share:.0%})</span>"
        if column.n_missing
        else '<span class="muted">none missing</span>'
    )
    distinct = f"<span>{column.n_distinct:,} distinct</span>" if column.n_distinct else ""
    role = "" if column.role == "feature" else f'<span class="role">{escape(column.role)}</span>'
    kind = f'<span class="kind">{escape(column.kind)}</span>' if column.kind else ""
    away = " away" if column.role == "left out" else ""
    return (
        f'<article class="card{away}"><h3>{escape(column.name)}</h3>'
        f'<p class="badges">{kind}{role}</p>'
        f'<p class="why">{escape(column.reason)}</p>'
        f'<p class="counts">{missing}{distinct}</p>{_distribution(column)}</article>'
    )


def _distribution(column: ColumnFacts) -> str:
    if column.bins:
        return _histogram(column)
    if not column.values:
        return ""
    most = max(count for _, count in column.values)
    if most == 1 or column.kind == "text" or column.role in ("id", "group", "weight"):
        items = "".join(f"<li>{escape(value)}</li>" for value, _ in column.values[:3])
        return f'<ul class="texts">{items}</ul>'
    rows = "".join(
        f'<span class="word">{escape(value)}</span>'
        f'<span class="track"><span class="fill" style="width:{100 * count / most:.1f}%"></span>'
        f'</span><span class="number">{count:,}</span>'
        for value, count in column.values
    )
    hidden = column.n_distinct - len(column.values)
    more = f'<p class="muted">and {counted(hidden, "more value")}</p>' if hidden > 0 else ""
    return f'<div class="words">{rows}</div>{more}'


def _histogram(column: ColumnFacts) -> str:
    most, n_bins = max(column.bins), len(column.bins)
    bars = "".join(
        f'<rect x="{k * 100 / n_bins:.2f}" y="{38 - 36 * count / most:.2f}" '
        f'width="{100 / n_bins - 0.8:.2f}" height="{36 * count / most:.2f}">'
        f"<title>{count:,} cells</title></rect>"
        for k, count in enumerate(column.bins)
    )
    label = f"from {column.low} to {column.high}, median {column.middle}"
    return (
        f'<svg class="histogram" viewBox="0 0 100 38" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(label)}">{bars}</svg>'
        f'<p class="range"><span>{escape(column.low)}</span>'
        f'<span class="muted">median {escape(column.middle)}</span>'
        f"<span>{escape(column.high)}</span></p>"
    )


# ---- labels ---------------------------------------------------------------------------------


def _labels(labels: LabelFacts, n_rows: int) -> str:
    levels = ", ".join(f"{n:,} on level {k}" for k, n in enumerate(labels.levels, 1))
    told = label_facts(labels) + (f": {levels}" if len(labels.levels) > 1 else "")
    told += f"; {labels.per_row:g} per row" + " including ancestors" * (len(labels.levels) > 1)
    facts = f"<p>{escape(told)}.</p>"
    outline = f'<div class="tree" role="tree">{_outline(labels.lines, n_rows)}</div>'
    hidden = labels.n_labels - len(labels.lines)
    more = (
        f'<p class="muted">and {hidden:,} more labels, with fewer rows</p>' if hidden > 0 else ""
    )
    return _section("Labels", facts + outline + more)


def _outline(lines: Sequence[LabelLine], n_rows: int) -> str:
    """Return the labels as nested parts that open and close."""
    is_open = " open" if len(lines) <= _OPEN else ""
    parts: list[str] = []
    depth = 0
    for k, line in enumerate(lines):
        while depth > line.depth:
            parts.append("</div></details>")
            depth -= 1
        has_children = k + 1 < len(lines) and lines[k + 1].depth > line.depth
        shown = _line(line, n_rows)
        if has_children:
            opened = " open" if line.depth == 0 and len(lines) <= 4 * _OPEN else is_open
            parts.append(f'<details{opened}><summary>{shown}</summary><div class="below">')
            depth += 1
        else:
            parts.append(f'<p class="end">{shown}</p>')
    parts.extend(["</div></details>"] * depth)
    return "".join(parts)


def _line(line: LabelLine, n_rows: int) -> str:
    share = line.rows / max(1, n_rows)
    ends = f'<small class="muted">{line.ends:,} end here</small>' * (0 < line.ends < line.rows)
    rare = " rare" if line.rows < 5 else ""
    return (
        f'<span class="label{rare}" style="--share:{share:.3f}"><span>{escape(line.name)} {ends}'
        f'</span><span class="number">{line.rows:,}</span></span>'
    )


def _commands(summary: TableFacts) -> str:
    blocks = _pairs((("On the command line", summary.command), ("In Python", summary.python)))
    return _section("Train with this reading", blocks) if blocks else ""


def _pairs(pairs: Iterable[tuple[str, str]]) -> str:
    return "".join(
        f"<h3>{escape(title)}</h3><pre>{escape(text)}</pre>" for title, text in pairs if text
    )
