"""The report of a study as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ramify.apps.studies.comparing import compare_folds, compare_overall
from ramify.apps.studies.findings import (
    Table,
    TableCell,
    curve_table,
    data_notes,
    data_table,
    drawn_curves,
    facts_of_run,
    headlines,
    left_out,
    score_table,
)
from ramify.apps.studies.reports.reference import (
    FAR,
    reference_details,
    reference_overviews,
    time_words,
)
from ramify.apps.studies.results import StudyResults
from ramify.apps.studies.verdicts import check_claims, count_findings

FOLDS_NOTE = (
    "Folds share most of their training rows, so that p-values over folds are too optimistic; "
    "ranks over data sets are not."
)

REFERENCE_NOTE = (
    "Our mean, and in brackets the published figure and by how much ours is above it; † if they "
    f"differ by more than {FAR:g}. Ranks are averages over the data sets that are finished."
)

QUICK_NOTE = (
    "This is the quick form of the study, on a small part of the data: it shows what the study "
    "does, not what it would find."
)


def to_markdown(results: StudyResults) -> str:
    """Write the report of a study as Markdown."""
    lines = [
        _heading(results.study["title"], "#"),
        "",
        *(line for part in results.study["text"].split("\n\n") for line in _paragraphs(part)),
        *_found(results),
        *_scores(results),
        *_tests(results),
        *_reference(results),
        *_curves(results),
        *_costs(results),
        *_data(results),
        *_failures(results),
        "## How it was run",
        "",
        *(_item(text, name) for name, text in facts_of_run(results)),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _paragraphs(text: str) -> list[str]:
    return [_plain(text), ""] if text else []


def _found(results: StudyResults) -> Iterator[str]:
    yield from ("## What was found", "")
    if results.study["quick"]:
        yield from (QUICK_NOTE, "")
    lines = headlines(results) or ["No cell has a result yet."]
    yield from map(_item, lines)
    verdicts = check_claims(results)
    for verdict in verdicts:
        yield _item(f"{verdict.text} {verdict.explanation}", verdict.outcome, mark="*")
    if counts := count_findings(verdicts):
        yield from ("", counts)
    yield ""


def _scores(results: StudyResults) -> Iterator[str]:
    if results.cells:
        yield from (
            "## Scores",
            "",
            f"Mean ± standard deviation; {results.study['protocol']}.",
            "",
        )
        for quantity in results.measures:
            arrow = "higher" if quantity.higher_is_better else "lower"
            for part in results.parts():
                table = score_table(part, quantity)
                yield from (_heading(f"{table.title} ({arrow} is better)"), "")
                yield from (*table_lines(table), "")


def _tests(results: StudyResults) -> Iterator[str]:
    if not results.cells:
        return
    quantity = results.measures[0]
    yield from ("## Tests", "", f"By {quantity.title}. {FOLDS_NOTE}", "")
    for comparison in compare_overall(results, quantity):
        yield _item(comparison.words, comparison.group)
    for data in results.datasets:
        for comparison in compare_folds(results, quantity, data["name"]):
            yield _item(comparison.words, f"{data['title']}, {comparison.group}")
    yield ""


def _reference(results: StudyResults) -> Iterator[str]:
    overviews = reference_overviews(results)
    if not overviews:
        return
    yield from (
        _heading(f"Beside {results.study['reference_name']}", "##"),
        "",
        REFERENCE_NOTE,
        "",
    )
    for table, words in overviews:
        yield from (_heading(f"{table.title} beside the published"), "", *table_lines(table), "")
        yield from _paragraphs(words)
    yield from _paragraphs(time_words(results))
    for table in reference_details(results):
        yield from (_heading(f"{table.title} in detail"), "", *table_lines(table), "")


def _curves(results: StudyResults) -> Iterator[str]:
    tables = [curve_table(curve) for curve in drawn_curves(results)]
    if tables:
        yield from ("## Curves", "", "Means over folds.", "")
    for table in tables:
        yield from (_heading(table.title), "", *table_lines(table), "")


def _costs(results: StudyResults) -> Iterator[str]:
    if results.cells:
        yield from ("## Time, size and overfitting", "")
        for quantity in results.costs:
            for part in results.parts():
                table = score_table(part, quantity)
                yield from (_heading(table.title), "", *table_lines(table), "")


def _data(results: StudyResults) -> Iterator[str]:
    yield from ("## Data", "")
    if results.cells:
        yield from (*table_lines(data_table(results)), "")
    notes = [_item(f"{title}: {text}") for title, text in data_notes(results)]
    notes += [_item(f"{one['title']}: {one['missing']}", "missing") for one in results.missing]
    notes += [_item(line, "left out") for line in left_out(results)]
    if notes:
        yield from (*notes, "")


def _failures(results: StudyResults) -> Iterator[str]:
    if results.failures:
        yield from ("## Failures", "", "The next run tries these cells again.", "")
        titles = {model["name"]: model["title"] for model in results.models}
        for cell in results.failures:
            place = f"{titles[cell['model']]} on {cell['dataset']}, fold {cell['fold'] + 1}"
            yield _item(f"{place}: {cell['error'].splitlines()[0]}")
        yield ""


# Marks of Markdown and HTML that a text may have by chance: a tag, an entity, the URL of a link.
_MARKS = re.compile(r"[\\`*<|]|&(?=#?\w+;)|(?<=])\(")


def _plain(text: str) -> str:
    """Return Markdown, on one line, that shows a text as it is."""
    return _MARKS.sub(lambda mark: f"\\{mark[0]}", " ".join(text.split()))


def _heading(text: str, mark: str = "###") -> str:
    return f"{mark} {_plain(text)}"


def _item(text: str, name: str = "", mark: str = "**") -> str:
    """Return an item of a list, after a name in bold if there is one."""
    return f"- {mark}{_plain(name)}{mark}: {_plain(text)}" if name else f"- {_plain(text)}"


def table_lines(table: Table) -> list[str]:
    """Write a table as aligned Markdown, with the best values in bold."""
    table = table.upright()
    rows = [[_plain(name), *(_cell(cell) for cell in cells)] for name, cells in table.rows]
    header = list(map(_plain, table.header))
    columns = list(zip(header, *rows, strict=True))
    widths = [max(3, *map(len, column)) for column in columns]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return [_line(row, widths) for row in (header, rule, *rows)]


def _line(cells: list[str], widths: list[int]) -> str:
    texts = [f"{cells[0]:<{widths[0]}}"]
    texts += [f"{cell:>{width}}" for cell, width in zip(cells[1:], widths[1:], strict=True)]
    return f"| {' | '.join(texts)} |"


def _cell(cell: TableCell) -> str:
    text = f"**{_plain(cell.text)}**" if cell.best else _plain(cell.text)
    return f"{text} †" if cell.marked else text
